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

/* ---- Parts of a READ --------------------------------------------------------------------- */

static struct {
	u32 requests, longest;		/* longest: packets of a response */
	u32 early;			/* requests while a part was incomplete */
	u32 expected, most;		/* response packets that are missing, now and at most */
	u32 next;			/* PSN of the next response */
	u32 first[2];			/* PSN of each READ */
} parts;

static bool watch_parts(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;
	u32 n;

	(void)nth;
	if (hca_packet_read(&p, frame, bytes))
		return false;
	if (hca_packet_operation(p.opcode) != HCA_BTH_READ_REQUEST) {
		parts.next = p.psn + 1;
		parts.expected--;
		return false;
	}
	n = DIV_ROUND_UP(p.dma_length, 4096);
	parts.longest = max(parts.longest, n);
	parts.expected += n;
	parts.most = max(parts.most, parts.expected);
	parts.early += parts.requests && p.psn != parts.first[1] && p.psn != parts.next;
	parts.requests++;
	return false;
}

/* Two READs of 3 MiB: three requests each */
static void test_parts(void)
{
	struct xv_sge sge = { .length = 3 << 20 };
	const struct peers_view *v;
	u32 i;

	begin(MLX5_QP_ST_RC);
	memset(w.per_mille, 0, sizeof(w.per_mille));
	memcpy(data(1), data(0), SESSION_REPEATED);
	memset(data(0), 0, SESSION_REPEATED);
	wire_script(&w, watch_parts);
	parts.first[0] = hw(0)->sq_psn;
	parts.first[1] = (hw(0)->sq_psn + 3 * 256) & HCA_PSN_MASK;
	sge.lkey = key[0];
	for (i = 0; i < 2; i++)
		xv_wr_read(&peer[0].q.qp, i, XV_SEND_SIGNALED, &sge, 0, key[1]);
	commit(0);
	peers_settle(NSEC_PER_SEC);
	v = look(0);
	ok(v->nwcs == 2 && !v->wc[0].status && !v->wc[1].status, "two READs of 3 MiB are complete");
	ok(!memcmp(data(0), data(1), SESSION_REPEATED), "the data is right");
	tap_is(parts.requests, 6, "each asks three times");
	tap_is(parts.longest, 256, "for 1 MiB");
	tap_is(parts.early, 0, "for a part when the response to the one before is complete");
	tap_is(parts.most, 512, "at most 512 response packets are missing");
	tap_is(parts.expected, 0, "all have come once");
	peers_close();
}

int main(void)
{
	test_parts();
	test_write(MLX5_QP_ST_RC, "WRITE", LARGEST);
	test_write(MLX5_QP_ST_UC, "WRITE on UC", LARGE);
	test_send();
	test_read();
	return tap_done();
}
