// SPDX-License-Identifier: GPL-2.0
/*
 * Transport rules: lost messages, retries, states. No byte of a refused message is copied.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define MR_BYTES	16384
#define NONE		(~0u)

static struct session s;
static struct session_mr mr[2];

static void connect(u8 st, struct session_qp *a, struct session_qp *b)
{
	session_qp(&s, 0, st, 4, 4, a);
	session_qp(&s, 1, st, 4, 4, b);
	session_connect(a, b);
}

static void disconnect(struct session_qp *a, struct session_qp *b)
{
	session_qp_destroy(a);
	session_qp_destroy(b);
}

static void send(struct session_qp *q, u64 wr_id)
{
	struct xv_sge sge = session_sge(&mr[0], 0, 64);

	xv_wr_send(&q->qp, wr_id, XV_SEND_SIGNALED, &sge);
	xv_commit_send(&q->qp);
}

static void receive(struct session_qp *q, u64 wr_id)
{
	struct xv_sge sge = session_sge(&mr[1], 0, 64);

	xv_wr_recv(&q->qp, wr_id, &sge);
	xv_commit_recv(&q->qp);
}

/* The next completion as status << 8 | wr_id; NONE: no completion, and no timer is set */
static u32 next(struct session_qp *q)
{
	struct xv_wc wc;
	int idle = 0;

	while (idle < 1000) {
		if (xv_poll_cq(&q->cq, 1, &wc))
			return wc.status << 8 | wc.wr_id;
		idle = hca_fabric_poll(&s.fabric) ||
		       hca_fabric_deadline(&s.fabric) != U64_MAX ? 0 : idle + 1;
	}
	return NONE;
}

static void test_uc(void)
{
	struct session_qp a, b;

	connect(MLX5_QP_ST_UC, &a, &b);
	send(&a, 1);
	tap_is(next(&a), XV_WC_SUCCESS << 8 | 1, "UC: no receive posted, the sender succeeds");
	receive(&b, 2);
	tap_is(next(&b), NONE, "UC: the message is lost");
	send(&a, 3);
	tap_is(next(&b), XV_WC_SUCCESS << 8 | 2, "UC: the next message arrives");
	tap_is(next(&a), XV_WC_SUCCESS << 8 | 3, "UC: its sender succeeds");
	session_qp_destroy(&b);
	send(&a, 4);
	tap_is(next(&a), XV_WC_SUCCESS << 8 | 4, "UC: the peer is destroyed, the sender succeeds");
	session_qp_destroy(&a);
}

static void test_rnr(void)
{
	struct session_qp a, b;

	connect(MLX5_QP_ST_RC, &a, &b);
	send(&a, 1);
	while (hca_fabric_deadline(&s.fabric) == U64_MAX)
		hca_fabric_poll(&s.fabric);
	receive(&b, 2);
	tap_is(next(&a), XV_WC_SUCCESS << 8 | 1,
	       "RC: a receive posted before the RNR retry is in time");
	tap_is(next(&b), XV_WC_SUCCESS << 8 | 2, "RC: it takes the message");
	disconnect(&a, &b);
}

/* An invalid receive counter is an error of the receiver. */
static void test_record(void)
{
	struct session_qp a, b;

	connect(MLX5_QP_ST_RC, &a, &b);
	b.qp.rq.dbrec[MLX5R_DBR_RCV] = cpu_to_be32(17);
	send(&a, 1);
	tap_is(next(&a), XV_WC_REM_OP_ERR << 8 | 1, "the counter says 17 requests in a ring of 16");
	disconnect(&a, &b);
}

static void test_order(void)
{
	struct session_qp a, b;
	u32 i, good = 0;

	connect(MLX5_QP_ST_RC, &a, &b);
	for (i = 0; i < 8; i++)
		receive(&b, 100 + i);
	for (i = 0; i < 8; i++)
		send(&a, i);
	for (i = 0; i < 8; i++)
		good += next(&a) == i && next(&b) == 100 + i;
	tap_is(good, 8, "completions are in the order of the requests");
	disconnect(&a, &b);
}

/* In SQD requests wait; they run in RTS. */
static void test_sqd(void)
{
	struct session_qp a, b;

	connect(MLX5_QP_ST_RC, &a, &b);
	receive(&b, 9);
	tap_is(session_qp_modify(&a, HCA_CMD_OP_RTS2SQD_QP, NULL), 0, "RTS to SQD");
	send(&a, 1);
	tap_is(next(&a), NONE, "in SQD a request waits");
	tap_is(session_qp_modify(&a, MLX5_CMD_OP_SQD_RTS_QP, &b), 0, "SQD to RTS");
	tap_is(next(&a), XV_WC_SUCCESS << 8 | 1, "in RTS the request runs");
	tap_is(next(&b), XV_WC_SUCCESS << 8 | 9, "its message arrives");
	disconnect(&a, &b);
}

/* A write with immediate and an invalid rkey: the receive request fails too. */
static void test_write_imm(void)
{
	struct xv_sge sge = session_sge(&mr[0], 0, 64);
	struct session_qp a, b;

	connect(MLX5_QP_ST_RC, &a, &b);
	receive(&b, 1);
	receive(&b, 2);
	xv_wr_write_imm(&a.qp, 3, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key ^ 1, 7);
	xv_commit_send(&a.qp);
	tap_is(next(&a), XV_WC_REM_ACCESS_ERR << 8 | 3,
	       "a write with immediate and an invalid rkey");
	tap_is(next(&b), XV_WC_LOC_ACCESS_ERR << 8 | 1, "the receiver has a local access error");
	tap_is(next(&b), XV_WC_WR_FLUSH_ERR << 8 | 2, "the next receive is flushed");
	disconnect(&a, &b);
}

/* The key allows the operation, but the queue pair of the receiver does not. */
static void test_rights(void)
{
	static const u8 ops[] = {
		MLX5R_OP_RDMA_WRITE, MLX5R_OP_RDMA_WRITE_IMM, MLX5R_OP_RDMA_READ,
		MLX5R_OP_ATOMIC_FA,
	};
	struct xv_sge sge = session_sge(&mr[0], 0, 8);
	struct session_qp a, b;
	struct hca_qp *dst;
	unsigned int i;

	for (i = 0; i < sizeof(ops); i++) {
		memset(mr[0].ptr, 0x11, 8);
		memset(mr[1].ptr, 0x55, 8);
		connect(MLX5_QP_ST_RC, &a, &b);
		dst = hca_qp_get(s.hca[1], b.qp.qp_num);
		dst->rwe = dst->rre = dst->rae = false;
		receive(&b, 2);
		if (ops[i] == MLX5R_OP_RDMA_WRITE)
			xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key);
		else if (ops[i] == MLX5R_OP_RDMA_WRITE_IMM)
			xv_wr_write_imm(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key, 7);
		else if (ops[i] == MLX5R_OP_RDMA_READ)
			xv_wr_read(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key);
		else
			xv_wr_atomic_fa(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key, 1);
		xv_commit_send(&a.qp);
		tap_is(next(&a), XV_WC_REM_INV_REQ_ERR << 8 | 1,
		       "opcode 0x%x without the right of the queue pair", ops[i]);
		tap_is(next(&b), XV_WC_WR_FLUSH_ERR << 8 | 2, "the receiver is in error");
		ok(mr[0].ptr[0] == 0x11 && mr[1].ptr[0] == 0x55, "no byte is copied");
		disconnect(&a, &b);
	}
}

#define LONG	(1u << 20)

/* The data of a UC message becomes unreadable after a receive request is taken. */
static void test_abort(void)
{
	struct session_mr from = session_mr(&s, 0, LONG, ALL_ACCESS);
	struct session_mr to = session_mr(&s, 1, LONG, ALL_ACCESS);
	struct xv_sge sge = session_sge(&to, 0, LONG);
	struct session_qp a, b, owner;
	const struct mlx5r_err_cqe *e;
	struct session_srq srq;
	struct hca_qp *dst;

	connect(MLX5_QP_ST_UC, &a, &b);
	session_qp(&s, 1, MLX5_QP_ST_XRC, 4, 4, &owner);
	srq = session_xrc_srq(&owner, NULL);
	session_srq_post(&s, &srq, &sge);
	session_srq_post(&s, &srq, &sge);
	dst = hca_qp_get(s.hca[1], b.qp.qp_num);
	dst->srq = hca_table_get(&s.hca[1]->srqs, srq.srqn);
	sge = session_sge(&from, 0, LONG);
	xv_wr_send(&a.qp, 1, XV_SEND_SIGNALED, &sge);
	xv_commit_send(&a.qp);
	while (!hca_qp_get(s.hca[0], a.qp.qp_num)->done)
		hca_fabric_poll(&s.fabric);
	session_key_destroy(&s, 0, from.key);
	tap_is(next(&a), XV_WC_LOC_PROT_ERR << 8 | 1, "UC: the sender fails during a message");
	tap_is(dst->srq->cq->pi, 0, "the receiver has no completion");
	session_qp_modify(&a, MLX5_CMD_OP_SQERR2RTS_QP, &b);
	send(&a, 2);
	tap_is(next(&a), XV_WC_SUCCESS << 8 | 2, "the next message is sent");
	e = hca_buf_at(&dst->srq->cq->buf, 0);
	ok(dst->srq->cq->pi == 2 && e->op_own >> 4 == MLX5R_CQE_RESP_ERR &&
	   e->syndrome == MLX5R_SYND_REMOTE_ABORTED,
	   "the receive request of the first message is aborted");
	tap_is(e[1].op_own >> 4, MLX5R_CQE_RESP_SEND,
	       "the next message takes another receive request");
	dst->srq = NULL;
	disconnect(&a, &b);
	session_qp_destroy(&owner);
}

/* In ERR all requests are flushed, those posted before and those posted later. */
static void test_error(void)
{
	struct session_qp a, b;

	connect(MLX5_QP_ST_RC, &a, &b);
	receive(&b, 1);
	session_qp_modify(&b, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(next(&b), XV_WC_WR_FLUSH_ERR << 8 | 1, "ERR: a receive posted before is flushed");
	receive(&b, 2);
	tap_is(next(&b), XV_WC_WR_FLUSH_ERR << 8 | 2, "ERR: a receive posted later is flushed");
	send(&b, 3);
	tap_is(next(&b), XV_WC_WR_FLUSH_ERR << 8 | 3, "ERR: a send posted later is flushed");
	send(&a, 4);
	tap_is(next(&a), XV_WC_RETRY_EXC_ERR << 8 | 4, "the peer: retries exceeded");
	disconnect(&a, &b);
}

/* If one segment of a message is invalid, no byte is copied. */
static void test_segments(void)
{
	static const struct {
		const char *what;
		bool read;
		u32 bad_key, off;
		int status;
	} t[] = {
		{ "two good segments", 0, 0, 0, XV_WC_SUCCESS },
		{ "write: the second key is invalid", 0, 0x100000, 0, XV_WC_LOC_PROT_ERR },
		{ "write: the second segment is too long", 0, 0, MR_BYTES - 32,
		  XV_WC_LOC_PROT_ERR },
		{ "read: the second key is invalid", 1, 0x100000, 0, XV_WC_LOC_PROT_ERR },
		{ "read: the second segment is too long", 1, 0, MR_BYTES - 32,
		  XV_WC_LOC_PROT_ERR },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		u8 *target = mr[!t[i].read].ptr;
		struct xv_sge sge[2] = {
			session_sge(&mr[0], 0, 64), session_sge(&mr[0], t[i].off, 64),
		};
		struct xv_send_wr *bad, wr = {
			.wr_id = i, .sg_list = sge, .num_sge = 2,
			.opcode = t[i].read ? XV_WR_RDMA_READ : XV_WR_RDMA_WRITE,
			.send_flags = XV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = mr[1].addr, .rkey = mr[1].key },
		};
		struct session_qp a, b;

		sge[1].lkey += t[i].bad_key;
		memset(mr[t[i].read].ptr, 0xaa, MR_BYTES);
		memset(target, 0x55, MR_BYTES);
		connect(MLX5_QP_ST_RC, &a, &b);
		a.qp.qp_type = XV_QPT_RC;
		xv_post_send(&a.qp, &wr, &bad);
		tap_is(next(&a), (u32)t[i].status << 8 | i, "%s", t[i].what);
		tap_is(target[0], t[i].status ? 0x55 : 0xaa, "%s",
		       t[i].status ? "no byte is copied" : "all bytes are copied");
		disconnect(&a, &b);
	}
}

/* If the paths of the two sides do not match, there is no answer. */
static void test_path(void)
{
	struct hca *there = s.hca[1];
	struct {
		const char *what;
		u8 *byte;
	} t[] = {
		{ "another P_Key", (u8 *)&there->port[0].pkey },
		{ "another GID", &there->gids[0].gid[15] },
		{ "another MAC", &there->gids[0].mac[5] },
		{ "the port is down", (u8 *)&there->port[0].up },
		{ "another GID at the sender", &s.hca[0]->gids[0].gid[15] },
	};
	struct session_qp a, b;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		connect(MLX5_QP_ST_RC, &a, &b);
		receive(&b, 1);
		*t[i].byte ^= 1;
		hca_route_changed(&s.fabric);
		send(&a, 2);
		tap_is(next(&a), XV_WC_RETRY_EXC_ERR << 8 | 2, "%s: retries exceeded", t[i].what);
		tap_is(next(&b), NONE, "the message does not arrive");
		*t[i].byte ^= 1;
		hca_route_changed(&s.fabric);
		disconnect(&a, &b);
	}
	connect(MLX5_QP_ST_RC, &a, &b);
	receive(&b, 1);
	hca_qp_get(s.hca[1], b.qp.qp_num)->rq_psn++;
	send(&a, 2);
	tap_is(next(&a), XV_WC_RETRY_EXC_ERR << 8 | 2, "another PSN: retries exceeded");
	disconnect(&a, &b);
}

/* An mkey is destroyed while a message uses it: the message fails. */
static void test_key_destroyed_during_message(const u64 *page)
{
	const u32 bytes = 1u << HCA_LOG_MAX_MSG;
	int i;

	for (i = 0; i < 2; i++) {
		u32 key[2] = {
			session_repeated_key(&s, 0, page[0], bytes),
			session_repeated_key(&s, 1, page[1], bytes),
		};
		struct xv_sge sge = { .length = bytes, .lkey = key[0] };
		u64 before = s.fabric.stat.bytes;
		struct session_qp a, b;

		connect(MLX5_QP_ST_RC, &a, &b);
		xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, 0, key[1]);
		xv_commit_send(&a.qp);
		while (s.fabric.stat.bytes - before < bytes / 4)
			hca_fabric_poll(&s.fabric);
		tap_is(session_key_destroy(&s, i, key[i]), 0, "DESTROY_MKEY");
		before = s.fabric.stat.bytes;
		tap_is(next(&a), (i ? XV_WC_REM_ACCESS_ERR : XV_WC_LOC_PROT_ERR) << 8 | 1,
		       "the %s key is destroyed", i ? "remote" : "local");
		tap_is(s.fabric.stat.bytes, before, "no byte is copied after that");
		disconnect(&a, &b);
	}
}

static void reconnect(struct session_qp *q, const struct session_qp *peer)
{
	session_qp_modify(q, MLX5_CMD_OP_2RST_QP, NULL);
	session_qp_modify(q, MLX5_CMD_OP_RST2INIT_QP, peer);
	session_qp_modify(q, MLX5_CMD_OP_INIT2RTR_QP, peer);
	session_qp_modify(q, MLX5_CMD_OP_RTR2RTS_QP, peer);
}

/*
 * The receiver is reset while a message arrives, and then expects the PSN with which that message
 * began.  RC sends all of it again.  UC drops the rest.  The record still counts one receive
 * request, so it is posted again.
 */
static void test_reset_during_message(u8 st)
{
	const u32 bytes = 1u << 20;
	struct session_mr from = session_mr(&s, 0, bytes, ALL_ACCESS);
	struct session_mr to = session_mr(&s, 1, bytes, ALL_ACCESS);
	struct xv_sge sge = session_sge(&from, 0, bytes), room = session_sge(&to, 0, bytes);
	u64 before = s.fabric.stat.bytes;
	struct session_qp a, b;
	u32 i;

	for (i = 0; i < bytes; i++)
		from.ptr[i] = i * 7 + i / 4096;
	connect(st, &a, &b);
	xv_wr_recv(&b.qp, 2, &room);
	xv_commit_recv(&b.qp);
	xv_wr_send(&a.qp, 1, XV_SEND_SIGNALED, &sge);
	xv_commit_send(&a.qp);
	while (s.fabric.stat.bytes - before < bytes / 4)
		hca_fabric_poll(&s.fabric);
	reconnect(&b, &a);
	memset(to.ptr, 0, bytes);
	tap_is(next(&a), XV_WC_SUCCESS << 8 | 1, "the receiver was reset, the sender succeeds");
	if (st == MLX5_QP_ST_UC) {
		tap_is(next(&b), NONE, "UC: the rest of the message is dropped");
	} else {
		tap_is(next(&b), XV_WC_SUCCESS << 8 | 2, "the message arrives");
		ok(!memcmp(to.ptr, from.ptr, bytes), "all of it is there");
	}
	disconnect(&a, &b);
}

static void test_largest(void)
{
	const u64 page_bytes = SESSION_REPEATED, largest = 1ull << HCA_LOG_MAX_MSG;
	u64 page[2], bytes;
	u32 key[2], i;
	struct session_qp a, b;

	for (i = 0; i < 2; i++) {
		page[i] = session_repeated_page(&s);
		key[i] = session_repeated_key(&s, i, page[i], 2 * largest);
	}
	memset(session_ptr(&s, page[0]), 0x77, page_bytes);
	for (bytes = largest; bytes <= largest + 1; bytes++) {
		struct xv_sge sge = { .length = bytes, .lkey = key[0] };
		u64 before = s.fabric.stat.bytes;

		connect(MLX5_QP_ST_RC, &a, &b);
		xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, 0, key[1]);
		xv_commit_send(&a.qp);
		tap_is(next(&a), (bytes > largest ? XV_WC_LOC_LEN_ERR : XV_WC_SUCCESS) << 8 | 1,
		       "a message of 1 GiB%s", bytes > largest ? " and 1 byte" : "");
		tap_is(s.fabric.stat.bytes - before, bytes > largest ? 0 : largest, "copied bytes");
		disconnect(&a, &b);
	}
	ok(!memcmp(session_ptr(&s, page[0]), session_ptr(&s, page[1]), page_bytes),
	   "the data is right");
	test_key_destroyed_during_message(page);
}

/* Makes a key of 64 bytes at address 0x1000 that maps to @addr of the key @inner. */
static u32 key_of_key(int func, u32 inner, u64 addr)
{
	u32 number = session_umr_key(&s, func, MLX5R_MKEY_MODE_KLM, 4);
	struct hca_mkey *key = hca_mkey_get(s.hca[func], number);
	struct mlx5r_klm klm = {
		cpu_to_be32(64), cpu_to_be32(inner), cpu_to_be64(addr),
	};

	key->free = false;
	key->access = ALL_ACCESS;
	key->start = 0x1000;
	key->len = 64;
	hca_mkey_set_klms(key, 0, 1, &klm, true);
	return number;
}

/* Atomics at an aligned address, which an indirect mkey maps to any address */
static void test_odd_atomic(void)
{
	struct xv_sge sge = session_sge(&mr[0], 0, 8);
	struct session_qp a, b;
	u32 odd;

	for (odd = 0; odd < 8; odd += 4) {
		memset(mr[1].ptr, 0x55, 64);
		connect(MLX5_QP_ST_RC, &a, &b);
		xv_wr_atomic_fa(&a.qp, 1, XV_SEND_SIGNALED, &sge, 0x1000,
				key_of_key(1, mr[1].key, mr[1].addr + odd), 1);
		xv_commit_send(&a.qp);
		tap_is(next(&a), (odd ? XV_WC_REM_ACCESS_ERR : XV_WC_SUCCESS) << 8 | 1,
		       "an atomic at offset %u of a word", odd);
		tap_is(mr[1].ptr[odd], odd ? 0x55 : 0x56,
		       "%s", odd ? "memory is unchanged" : "memory is changed");
		disconnect(&a, &b);
	}
}

static void send_datagram(struct session_qp *q, const struct session_qp *to, struct xv_sge sge)
{
	struct xv_ah ah = session_ah(&s, to->func);

	xv_wr_send_ud(&q->qp, 1, XV_SEND_SIGNALED, &sge, &ah, to->qp.qp_num, SESSION_QKEY);
	xv_commit_send(&q->qp);
}

/* A datagram with an invalid segment fails at its sender; the receiver is not affected. */
static void test_bad_datagram(void)
{
	struct xv_sge bad = { .addr = 0x1000, .length = 64,
		.lkey = key_of_key(0, mr[0].key ^ 0x100000, mr[0].addr) };
	struct xv_sge room = session_sge(&mr[1], 0, 256);
	struct session_qp a, b, c, d;

	connect(MLX5_QP_ST_UD, &a, &b);
	connect(MLX5_QP_ST_UD, &c, &d);
	xv_wr_recv(&b.qp, 2, &room);
	xv_commit_recv(&b.qp);
	memset(mr[0].ptr, 0x11, 64);
	memset(mr[1].ptr, 0x55, 256);
	send_datagram(&a, &b, bad);
	tap_is(next(&a), XV_WC_LOC_PROT_ERR << 8 | 1, "a datagram with an invalid segment");
	tap_is(next(&b), NONE, "it does not arrive");
	tap_is(mr[1].ptr[20], 0x55, "memory of the receiver is unchanged");
	send_datagram(&c, &b, session_sge(&mr[0], 0, 64));
	tap_is(next(&b), XV_WC_SUCCESS << 8 | 2, "the next datagram arrives");
	tap_is(mr[1].ptr[40], 0x11, "its data begins after the GRH");
	tap_is(next(&c), XV_WC_SUCCESS << 8 | 1, "its sender succeeds");
	disconnect(&a, &b);
	disconnect(&c, &d);
}

int main(void)
{
	session_init(&s);
	mr[0] = session_mr(&s, 0, MR_BYTES, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, MR_BYTES, ALL_ACCESS);
	test_uc();
	test_rnr();
	test_record();
	test_order();
	test_sqd();
	test_error();
	test_write_imm();
	test_rights();
	test_abort();
	test_segments();
	test_path();
	test_reset_during_message(MLX5_QP_ST_RC);
	test_reset_during_message(MLX5_QP_ST_UC);
	test_largest();
	test_odd_atomic();
	test_bad_datagram();
	session_free(&s);
	return tap_done();
}
