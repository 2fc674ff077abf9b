// SPDX-License-Identifier: GPL-2.0
/*
 * Large messages across a wire that loses frames: WRITE and READ of 1 GiB, which is the largest
 * message, SEND and UC of 128 MiB, which take less time.
 */
#include "tap.h"
#include "peers.h"

enum { LARGEST = 1u << HCA_LOG_MAX_MSG, LARGE = LARGEST / 8 };

static u64 page[2];
static u32 key[2];

static u32 *data(u32 i)
{
	return session_ptr(peer[i].s, page[i]);
}

/* The memory of the first peer has a pattern, that of the second one is empty. */
static void begin(u8 st)
{
	struct peers_config c = { .wired = true, .st = st, .path.mtu = IB_MTU_4096 };
	u32 i;

	peers_open(&c);
	for (i = 0; i < 2; i++) {
		page[i] = session_repeated_page(peer[i].s);
		key[i] = session_repeated_key(peer[i].s, peer[i].func, page[i], LARGEST);
	}
	for (i = 0; i < SESSION_REPEATED / 4; i++)
		data(0)[i] = i * 2654435761u;
	w.per_mille[WIRE_LOSS] = st == MLX5_QP_ST_RC;
}

static void finish(const char *what, u32 bytes, u32 receiver)
{
	const struct peers_view *v = look(0);

	commit(0);
	peers_settle(100 * NSEC_PER_SEC);
	look(0);
	ok(v->nwcs == 1 && !v->wc[0].status, "%s of %u MiB is complete", what,
	   bytes >> 20);
	ok(!memcmp(data(receiver), data(!receiver), SESSION_REPEATED), "its data is right");
	ok(w.sent >= bytes / 4096, "%u frames were sent, %u lost", w.sent, w.lost);
	peers_close();
}

static void test_write(u8 st, const char *name, u32 bytes)
{
	struct xv_sge sge = { .length = bytes };

	begin(st);
	sge.lkey = key[0];
	xv_wr_write(&peer[0].q.qp, 1, XV_SEND_SIGNALED, &sge, 0, key[1]);
	finish(name, bytes, 1);
}

static void test_read(void)
{
	struct xv_sge sge = { .length = LARGEST };

	begin(MLX5_QP_ST_RC);
	memcpy(data(1), data(0), SESSION_REPEATED);
	memset(data(0), 0, SESSION_REPEATED);
	sge.lkey = key[0];
	xv_wr_read(&peer[0].q.qp, 1, XV_SEND_SIGNALED, &sge, 0, key[1]);
	finish("READ", LARGEST, 0);
}

static void test_send(void)
{
	struct xv_sge from = { .length = LARGE }, to = { .length = LARGE };

	begin(MLX5_QP_ST_RC);
	from.lkey = key[0];
	to.lkey = key[1];
	xv_wr_recv(&peer[1].q.qp, 2, &to);
	xv_commit_recv(&peer[1].q.qp);
	xv_wr_send(&peer[0].q.qp, 1, XV_SEND_SIGNALED, &from);
	commit(0);
	peers_settle(100 * NSEC_PER_SEC);
	tap_is(look(1)->wc[0].bytes, LARGE, "the receiver sees the length");
	finish("SEND", LARGE, 1);
}

int main(void)
{
	test_write(MLX5_QP_ST_RC, "WRITE", LARGEST);
	test_write(MLX5_QP_ST_UC, "WRITE on UC", LARGE);
	test_send();
	test_read();
	return tap_done();
}
