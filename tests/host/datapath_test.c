// SPDX-License-Identifier: GPL-2.0
/*
 * The data paths of the library and of the adapter in one process: data arrives, other memory
 * does not change, and each invalid request has the right status.
 */
#include <stdlib.h>
#include <string.h>
#include "session.h"
#include "tap.h"

#define MR_BYTES	(256 * 1024)
#define ODD_BYTES	5000u
#define IMM		0x01020304

static struct session s;
static struct session_mr mr[2];

static void fill(u8 *p, size_t n, unsigned int seed)
{
	while (n--) {
		seed = seed * 1103515245 + 12345;
		*p++ = seed >> 16;
	}
}

static void connect(struct session_qp *a, struct session_qp *b)
{
	session_qp(&s, 0, MLX5_QP_ST_RC, 6, 6, a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 6, 6, b);
	session_connect(a, b);
}

static void disconnect(struct session_qp *a, struct session_qp *b)
{
	ok(!session_qp_destroy(a) && !session_qp_destroy(b), "queue pairs destroyed");
}

/* Runs the adapter; returns the only completion of @q, or status 255. */
static struct xv_wc one(struct session_qp *q)
{
	struct xv_wc wc[2] = {};
	int i, n = 0;

	for (i = 0; i < 200000 && !n; i++) {
		hca_fabric_poll(&s.fabric);
		n = xv_poll_cq(&q->cq, 2, wc);
	}
	if (n != 1)
		wc[0].status = 255;
	return wc[0];
}

static struct xv_wc commit(struct session_qp *q)
{
	xv_commit_send(&q->qp);
	return one(q);
}

static void post_recv(struct session_qp *q, u64 wr_id, struct xv_sge sge)
{
	if (xv_wr_recv(&q->qp, wr_id, &sge))
		ok(0, "receive posted");
	xv_commit_recv(&q->qp);
}

static void test_write_read(void)
{
	static const u32 sizes[] = { 0, 1, 7, 8, 63, 64, 4095, 4096, 4097, 65536, 120000 };
	static u8 before[MR_BYTES];
	struct session_qp a, b;
	unsigned int i;

	connect(&a, &b);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 n = sizes[i], from = 100 + i, to = 8000 + 3 * i;
		struct xv_sge sge = session_sge(&mr[0], from, n);
		struct xv_wc wc;

		fill(mr[0].ptr, MR_BYTES, i);
		fill(mr[1].ptr, MR_BYTES, i + 77);
		memcpy(before, mr[1].ptr, MR_BYTES);
		memcpy(before + to, mr[0].ptr + from, n);
		xv_wr_write(&a.qp, 7, XV_SEND_SIGNALED, &sge, mr[1].addr + to, mr[1].key);
		wc = commit(&a);
		ok(wc.status == XV_WC_SUCCESS && wc.wr_id == 7 &&
		   !memcmp(before, mr[1].ptr, MR_BYTES), "write %u bytes", n);

		memcpy(before, mr[0].ptr, MR_BYTES);
		memcpy(before + from, mr[1].ptr + to + n, n);
		xv_wr_read(&a.qp, 8, XV_SEND_SIGNALED, &sge, mr[1].addr + to + n, mr[1].key);
		wc = commit(&a);
		ok(wc.status == XV_WC_SUCCESS && !memcmp(before, mr[0].ptr, MR_BYTES),
		   "read %u bytes", n);
	}
	disconnect(&a, &b);
}

static void test_send(void)
{
	struct session_qp a, b;
	struct xv_sge sge = session_sge(&mr[0], 500, 5000);
	struct xv_wc wc;

	connect(&a, &b);
	fill(mr[0].ptr, MR_BYTES, 1);
	post_recv(&b, 21, session_sge(&mr[1], 4000, 6000));
	xv_wr_send(&a.qp, 11, XV_SEND_SIGNALED, &sge);
	wc = commit(&a);
	ok(wc.status == XV_WC_SUCCESS && wc.opcode == XV_WC_SEND, "send");
	wc = one(&b);
	ok(wc.status == XV_WC_SUCCESS && wc.wr_id == 21 && wc.byte_len == 5000 &&
	   wc.opcode == XV_WC_RECV && !memcmp(mr[1].ptr + 4000, mr[0].ptr + 500, 5000),
	   "receive");

	post_recv(&b, 22, session_sge(&mr[1], 0, 100));
	xv_wr_send_imm(&a.qp, 12, XV_SEND_SIGNALED, &(struct xv_sge) {}, IMM);
	wc = commit(&a);
	tap_is(wc.status, XV_WC_SUCCESS, "empty send with immediate");
	wc = one(&b);
	ok(wc.status == XV_WC_SUCCESS && wc.byte_len == 0 && wc.imm_data == IMM &&
	   wc.wc_flags & XV_WC_WITH_IMM, "the receiver gets the immediate data");

	post_recv(&b, 23, session_sge(&mr[1], 0, 100));
	sge.length = 700;
	xv_wr_write_imm(&a.qp, 13, XV_SEND_SIGNALED, &sge, mr[1].addr + 9000, mr[1].key, IMM);
	wc = commit(&a);
	tap_is(wc.status, XV_WC_SUCCESS, "write with immediate");
	wc = one(&b);
	ok(wc.opcode == XV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 700 && wc.wr_id == 23 &&
	   !memcmp(mr[1].ptr + 9000, mr[0].ptr + 500, 700),
	   "write with immediate: data and receive completion");
	disconnect(&a, &b);
}

static void test_atomics(void)
{
	struct session_qp a, b;
	struct xv_sge sge = session_sge(&mr[0], 64, 8);
	u64 *mem = (u64 *)(mr[1].ptr + 16), *old = (u64 *)(mr[0].ptr + 64);
	struct xv_wc wc;

	connect(&a, &b);
	*mem = 40;
	xv_wr_atomic_fa(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 16, mr[1].key, 2);
	wc = commit(&a);
	ok(wc.status == XV_WC_SUCCESS && *mem == 42 && *old == 40, "fetch and add");
	xv_wr_atomic_cs(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 16, mr[1].key, 42, 99);
	wc = commit(&a);
	ok(wc.status == XV_WC_SUCCESS && *mem == 99 && *old == 42, "compare and swap: equal");
	xv_wr_atomic_cs(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 16, mr[1].key, 42, 7);
	wc = commit(&a);
	ok(wc.status == XV_WC_SUCCESS && *mem == 99 && *old == 99, "compare and swap: not equal");
	xv_wr_atomic_fa(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 20, mr[1].key, 2);
	wc = commit(&a);
	tap_is(wc.status, XV_WC_REM_INV_REQ_ERR, "misaligned atomic");
	disconnect(&a, &b);
}

/* Invalid keys and bounds: the requester gets an error, and no memory is written. */
static void test_protection(void)
{
	struct session_mr ro = session_mr(&s, 1, 4096, MLX5R_MKEY_ACCESS_LR |
					  MLX5R_MKEY_ACCESS_RR);
	struct session_mr wo = session_mr(&s, 1, 4096, MLX5R_MKEY_ACCESS_LR |
					  MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RW);
	struct session_mr local_ro = session_mr(&s, 0, 4096, MLX5R_MKEY_ACCESS_LR);
	/* mkeys that do not end at the end of a page */
	struct session_mr odd = session_mr(&s, 0, ODD_BYTES, ALL_ACCESS);
	struct session_mr far_odd = session_mr(&s, 1, ODD_BYTES, ALL_ACCESS);
	const struct {
		const char *what;
		bool read;
		u64 laddr;
		u32 len, lkey;
		u64 raddr;
		u32 rkey;
		int status;
	} t[] = {
		{ "unknown lkey", 0, mr[0].addr, 8, mr[0].key + 0x100000, mr[1].addr, mr[1].key,
		  XV_WC_LOC_PROT_ERR },
		{ "other variant of lkey", 0, mr[0].addr, 8, mr[0].key ^ 1, mr[1].addr,
		  mr[1].key, XV_WC_LOC_PROT_ERR },
		{ "one byte before lkey", 0, mr[0].addr - 1, 8, mr[0].key, mr[1].addr, mr[1].key,
		  XV_WC_LOC_PROT_ERR },
		{ "one byte behind lkey", 0, mr[0].addr + MR_BYTES - 7, 8, mr[0].key, mr[1].addr,
		  mr[1].key, XV_WC_LOC_PROT_ERR },
		{ "address that wraps", 0, ~0ull - 3, 8, mr[0].key, mr[1].addr, mr[1].key,
		  XV_WC_LOC_PROT_ERR },
		{ "read into read-only memory", 1, local_ro.addr, 8, local_ro.key, mr[1].addr,
		  mr[1].key, XV_WC_LOC_PROT_ERR },
		{ "unknown rkey", 0, mr[0].addr, 8, mr[0].key, mr[1].addr, mr[1].key + 0x100000,
		  XV_WC_REM_ACCESS_ERR },
		{ "other variant of rkey", 0, mr[0].addr, 8, mr[0].key, mr[1].addr,
		  mr[1].key ^ 1, XV_WC_REM_ACCESS_ERR },
		{ "one byte before rkey", 0, mr[0].addr, 8, mr[0].key, mr[1].addr - 1, mr[1].key,
		  XV_WC_REM_ACCESS_ERR },
		{ "one byte behind rkey", 0, mr[0].addr, 8, mr[0].key,
		  mr[1].addr + MR_BYTES - 7, mr[1].key, XV_WC_REM_ACCESS_ERR },
		{ "a page behind lkey", 0, mr[0].addr + MR_BYTES - 8192, 12288, mr[0].key,
		  mr[1].addr, mr[1].key, XV_WC_LOC_PROT_ERR },
		{ "a page behind rkey", 0, mr[0].addr, 12288, mr[0].key,
		  mr[1].addr + MR_BYTES - 8192, mr[1].key, XV_WC_REM_ACCESS_ERR },
		{ "a key that ends after several turns", 0, mr[0].addr, MR_BYTES + 4096, mr[0].key,
		  mr[1].addr, mr[1].key, XV_WC_LOC_PROT_ERR },
		{ "write to read-only rkey", 0, mr[0].addr, 8, mr[0].key, ro.addr, ro.key,
		  XV_WC_REM_ACCESS_ERR },
		{ "read from write-only rkey", 1, mr[0].addr, 8, mr[0].key, wo.addr, wo.key,
		  XV_WC_REM_ACCESS_ERR },
		{ "one byte behind lkey within its page", 0, odd.addr + ODD_BYTES - 7, 8, odd.key,
		  mr[1].addr, mr[1].key, XV_WC_LOC_PROT_ERR },
		{ "one byte behind rkey within its page", 0, mr[0].addr, 8, mr[0].key,
		  far_odd.addr + ODD_BYTES - 7, far_odd.key, XV_WC_REM_ACCESS_ERR },
		{ "one byte too long for both keys: not sent", 0, odd.addr, ODD_BYTES + 1,
		  odd.key, far_odd.addr, far_odd.key, XV_WC_LOC_PROT_ERR },
		{ "all bytes of keys that end within a page", 0, odd.addr, ODD_BYTES, odd.key,
		  far_odd.addr, far_odd.key, XV_WC_SUCCESS },
		{ "last bytes of both keys", 0, mr[0].addr + MR_BYTES - 8, 8, mr[0].key,
		  mr[1].addr + MR_BYTES - 8, mr[1].key, XV_WC_SUCCESS },
	};
	static u8 before[SESSION_BYTES];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct xv_sge sge = { .addr = t[i].laddr, .length = t[i].len, .lkey = t[i].lkey };
		struct session_qp a, b;
		struct xv_wc wc;

		connect(&a, &b);
		fill(mr[0].ptr, MR_BYTES, i);
		memcpy(before, mr[1].ptr, MR_BYTES);
		(t[i].read ? xv_wr_read : xv_wr_write)(&a.qp, 5, XV_SEND_SIGNALED, &sge,
						       t[i].raddr, t[i].rkey);
		wc = commit(&a);
		tap_is(wc.status, t[i].status, "%s", t[i].what);
		if (t[i].status)
			ok(!memcmp(before, mr[1].ptr, MR_BYTES), "no memory was written");
		session_qp_destroy(&a);
		session_qp_destroy(&b);
	}
}

/* The null mkey discards written data; a read of it returns zeros. */
static void test_null_key(void)
{
	struct xv_sge null = { .addr = 64, .length = 9000, .lkey = 8 << 8 };
	struct session_qp a, b;
	unsigned int i, zeros = 0;

	connect(&a, &b);
	fill(mr[1].ptr, MR_BYTES, 5);
	xv_wr_read(&a.qp, 1, XV_SEND_SIGNALED, &null, mr[1].addr, mr[1].key);
	tap_is(commit(&a).status, XV_WC_SUCCESS, "null mkey as target of a read");
	xv_wr_write(&a.qp, 2, XV_SEND_SIGNALED, &null, mr[1].addr, mr[1].key);
	tap_is(commit(&a).status, XV_WC_SUCCESS, "null mkey as source of a write");
	for (i = 0; i < 9000; i++)
		zeros += !mr[1].ptr[i];
	tap_is(zeros, 9000, "null mkey: zeros were written");
	null.length = 8;
	xv_wr_write(&a.qp, 3, XV_SEND_SIGNALED, &null, 64, 8 << 8);
	tap_is(commit(&a).status, XV_WC_REM_ACCESS_ERR, "null mkey as rkey");
	disconnect(&a, &b);
}

static void test_receive_errors(void)
{
	struct xv_sge sge = session_sge(&mr[0], 0, 200);
	struct session_qp a, b;
	struct xv_wc wc;

	connect(&a, &b);
	post_recv(&b, 1, session_sge(&mr[1], 0, 199));
	post_recv(&b, 2, session_sge(&mr[1], 0, 199));
	xv_wr_send(&a.qp, 3, 0, &sge);
	xv_wr_send(&a.qp, 4, 0, &sge);
	wc = commit(&a);
	session_settle(&s);
	ok(wc.status == 255 || wc.status == XV_WC_REM_INV_REQ_ERR,
	   "a message longer than the receive buffer fails at the sender");
	disconnect(&a, &b);

	connect(&a, &b);
	post_recv(&b, 1, session_sge(&mr[1], 0, 199));
	xv_wr_send(&a.qp, 3, 0, &sge);
	wc = commit(&a);
	tap_is(wc.status, XV_WC_REM_INV_REQ_ERR, "message one byte too long: sender");
	wc = one(&b);
	tap_is(wc.status, XV_WC_LOC_LEN_ERR, "message one byte too long: receiver");
	disconnect(&a, &b);

	connect(&a, &b);
	xv_wr_send(&a.qp, 3, 0, &sge);
	xv_wr_send(&a.qp, 4, 0, &sge);
	xv_commit_send(&a.qp);
	{
		struct xv_wc w2[4] = {};
		int i, n = 0;

		for (i = 0; i < 2000000 && n < 2; i++) {
			hca_fabric_poll(&s.fabric);
			n += xv_poll_cq(&a.cq, 4 - n, w2 + n);
		}
		ok(n == 2 && w2[0].status == XV_WC_RNR_RETRY_EXC_ERR && w2[0].wr_id == 3,
		   "no receive posted: RNR retries exceeded");
		ok(n == 2 && w2[1].status == XV_WC_WR_FLUSH_ERR && w2[1].wr_id == 4,
		   "the next request is flushed, although it is unsignalled");
	}
	disconnect(&a, &b);

	connect(&a, &b);
	session_qp_destroy(&b);
	xv_wr_send(&a.qp, 3, 0, &sge);
	wc = commit(&a);
	tap_is(wc.status, XV_WC_RETRY_EXC_ERR, "no peer: retries exceeded");
	session_qp_destroy(&a);
}

/* More requests than a 16-bit index counts, in batches of different sizes */
static void test_wrap(void)
{
	struct session_qp a, b;
	u32 sent = 0, done = 0, batch, bad = 0;

	connect(&a, &b);
	while (done < 140000) {
		struct xv_wc wc[64];
		int i, n;

		for (batch = 1 + sent % 63; batch; batch--) {
			u32 v = sent + 1;

			if (xv_wr_write_inline(&a.qp, sent, XV_SEND_SIGNALED, &v, sizeof(v),
					       mr[1].addr, mr[1].key))
				break;
			sent++;
		}
		xv_commit_send(&a.qp);
		hca_fabric_poll(&s.fabric);
		n = xv_poll_cq(&a.cq, 64, wc);
		for (i = 0; i < n; i++, done++)
			bad += wc[i].status || wc[i].wr_id != done;
		session_settle(&s);
		bad += *(u32 *)mr[1].ptr != sent;
	}
	tap_is(bad, 0, "140000 requests: indices wrap");
	disconnect(&a, &b);
}

/* A request with an invalid format fails. */
static void test_malformed(void)
{
	static const struct {
		const char *what;
		u32 off, value, mask;
	} t[] = {
		{ "unknown opcode", 0, 0x7f, 0xff },
		{ "wrong index", 0, 0x500, 0xffff00 },
		{ "wrong QP number", 4, 0xabc00, 0xffffff00 },
		{ "WQE size 0", 4, 0, 0x3f },
		{ "WQE size above what was posted", 4, 0x3f, 0x3f },
		{ "no room for the remote address", 4, 1, 0x3f },
		{ "inline data after the end of the WQE", 32, 0x80000100, 0xffffffff },
		{ "an atomic with missing operands", 0, 9u << 24 | MLX5R_OP_ATOMIC_MASKED_CS,
		  0xff0000ff },
		{ "an atomic with arguments in memory", 0, 15u << 24 | MLX5R_OP_ATOMIC_MASKED_FA,
		  0xff0000ff },
		{ "a UMR without its segments", 0, MLX5R_OP_UMR, 0xff },
	};
	struct xv_sge sge = session_sge(&mr[0], 0, 16);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct session_qp a, b;
		struct xv_wc wc;
		__be32 *dw;

		connect(&a, &b);
		xv_wr_write(&a.qp, 9, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key);
		dw = (__be32 *)(a.qp.sq.buf + t[i].off);
		*dw = cpu_to_be32((be32_to_cpu(*dw) & ~t[i].mask) | t[i].value);
		wc = commit(&a);
		tap_is(wc.status, XV_WC_LOC_QP_OP_ERR, "%s", t[i].what);
		disconnect(&a, &b);
	}
}

/* Two writes with the maximum number of segments, which have odd sizes */
static void test_gather(void)
{
	enum { N = 30 };
	struct xv_sge sge[N];
	struct xv_send_wr *bad, wr = {
		.wr_id = 1, .sg_list = sge, .num_sge = N, .opcode = XV_WR_RDMA_WRITE,
		.send_flags = XV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = mr[1].addr + 5, .rkey = mr[1].key },
	};
	static u8 want[N * 100];
	struct session_qp a, b;
	u32 i, off = 0;

	connect(&a, &b);
	a.qp.sq.max_sge = N;
	a.qp.qp_type = XV_QPT_RC;
	fill(mr[0].ptr, MR_BYTES, 30);
	for (i = 0; i < N; i++) {
		sge[i] = session_sge(&mr[0], 1000 * (N - i) + i, 1 + i * 3);
		memcpy(want + off, mr[0].ptr + 1000 * (N - i) + i, sge[i].length);
		off += sge[i].length;
	}
	for (i = 0; i < 2; i++) {
		memset(mr[1].ptr, 0, sizeof(want));
		ok(!xv_post_send(&a.qp, &wr, &bad) && one(&a).status == XV_WC_SUCCESS &&
		   !memcmp(mr[1].ptr + 5, want, off), "%u segments", N);
	}
	disconnect(&a, &b);
}

/* Doorbells of many queues use one register: each overwrites the one before. */
static void test_lost_doorbells(void)
{
	enum { N = 100 };
	static struct session_qp a[N], b[N];
	struct xv_sge sge = session_sge(&mr[0], 0, 16);
	unsigned int i, round, good = 0;

	for (i = 0; i < N; i++)
		connect(&a[i], &b[i]);
	for (round = 0; round < 3; round++) {
		/* Posts to all QPs, every second, or one; then writes a doorbell of another QP. */
		for (i = 0; i < N; i += round == 2 ? N : round + 1) {
			xv_wr_write(&a[i].qp, i, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key);
			xv_commit_send(&a[i].qp);
		}
		*(__be64 *)a[0].qp.sq.doorbell = cpu_to_be64((u64)a[N - 1].qp.qp_num << 8);
		session_settle(&s);
		for (i = 0; i < N; i++) {
			struct xv_wc wc;

			good += xv_poll_cq(&a[i].cq, 1, &wc) == 1 && !wc.status && wc.wr_id == i;
		}
	}
	tap_is(good, N + N / 2 + 1, "all requests are executed");

	*(__be64 *)a[0].qp.sq.doorbell = cpu_to_be64((u64)a[0].qp.qp_num << 8);
	hca_fabric_poll(&s.fabric);
	for (i = 0; i < N; i++) {
		good -= session_qp_destroy(&a[i]) || session_qp_destroy(&b[i]);
		session_cq_destroy(&a[i]);
		session_cq_destroy(&b[i]);
	}
	session_settle(&s);
	tap_is(good, N + N / 2 + 1, "queues are destroyed while the adapter reads their records");
}

static void post_nop(struct session_qp *q, u16 index, u8 flags, struct mlx5r_ctrl *ctrl)
{
	*ctrl = (struct mlx5r_ctrl) {
		.opmod_idx_opcode = cpu_to_be32(index << 8 | MLX5R_OP_NOP),
		.qpn_ds = cpu_to_be32(q->qp.qp_num << 8 | 1),
		.fm_ce_se = flags,
	};
	memcpy(q->qp.sq.buf + (index & q->qp.sq.mask) * MLX5R_WQEBB, ctrl, sizeof(*ctrl));
	q->qp.sq.dbrec[MLX5R_DBR_SND] = cpu_to_be32(index + 1);
}

/* The BlueFlame test of drivers: the flags of a WQE in the register are used. */
static void test_blueflame(void)
{
	struct session_qp a, b;
	struct mlx5r_ctrl ctrl, *reg;
	struct mlx5r_cqe *cqe;
	unsigned int i;

	connect(&a, &b);
	reg = (void *)a.qp.sq.doorbell;
	cqe = (void *)a.cq.buf;
	post_nop(&a, 0, 0, &ctrl);
	memcpy(reg, &ctrl, 8);
	session_settle(&s);
	tap_is(cqe[0].op_own >> 4, MLX5R_CQE_INVALID, "a NOP without the flag has no completion");

	/*
	 * Drivers use two buffers in turn. Only the last request has the flag in the ring
	 * too.
	 */
	for (i = 1; i < 6; i++) {
		post_nop(&a, i, i == 5 ? MLX5R_CE_ALWAYS : 0, &ctrl);
		ctrl.fm_ce_se = MLX5R_CE_ALWAYS;
		memcpy((u8 *)reg + (i & 1) * 0x100, &ctrl, sizeof(ctrl));
	}
	session_settle(&s);
	tap_is(be16_to_cpu(cqe[0].wqe_counter), 4,
	       "a NOP with the flag in the register only has a completion");
	tap_is(be16_to_cpu(cqe[1].wqe_counter), 5, "then a NOP with the flag in the ring");
	tap_is(cqe[2].op_own >> 4, MLX5R_CQE_INVALID,
	       "no other completion: the other WQEs were overwritten");

	post_nop(&a, 6, 0, &ctrl);
	memcpy(reg, &ctrl, 8);
	session_settle(&s);
	tap_is(cqe[2].op_own >> 4, MLX5R_CQE_INVALID,
	       "the flag in the register is used for one NOP only");
	post_nop(&a, 7, MLX5R_CE_ALWAYS, &ctrl);
	memcpy(reg, &ctrl, 8);
	session_settle(&s);
	tap_is(be16_to_cpu(cqe[2].wqe_counter), 7, "the flag in the ring is used");

	/* The last WQE is in the buffer that the adapter reads first. */
	for (i = 8; i < 13; i++) {
		post_nop(&a, i, i == 12 ? MLX5R_CE_ALWAYS : 0, &ctrl);
		ctrl.fm_ce_se = MLX5R_CE_ALWAYS;
		memcpy((u8 *)reg + (i & 1) * 0x100, &ctrl, sizeof(ctrl));
	}
	session_settle(&s);
	tap_is(be16_to_cpu(cqe[3].wqe_counter), 11,
	       "two WQEs in the register: the earlier one has a completion");
	tap_is(be16_to_cpu(cqe[4].wqe_counter), 12, "then the last one");

	ctrl.opmod_idx_opcode = cpu_to_be32(12 << 8 | MLX5R_OP_RDMA_WRITE);
	memcpy(reg, &ctrl, sizeof(ctrl));
	session_settle(&s);
	post_nop(&a, 13, 0, &ctrl);
	memcpy(reg, &ctrl, 8);
	session_settle(&s);
	tap_is(cqe[5].op_own >> 4, MLX5R_CQE_INVALID,
	       "the flag of another opcode in the register is not used");
	disconnect(&a, &b);
}

/* Checks the format of completion @n and returns its data. */
static const u8 *in_cqe(struct session_qp *q, u32 n, u32 cqe_bytes, u8 format)
{
	const u8 *entry = q->cq.buf + (n + 1) * cqe_bytes - sizeof(struct mlx5r_cqe);
	u8 op_own = entry[sizeof(struct mlx5r_cqe) - 1];

	ok(op_own >> 4 != MLX5R_CQE_INVALID && (op_own & MLX5R_CQE_FORMAT_MASK) == format,
	   "completion %u, format %u", n, format);
	return format == MLX5R_CQE_INLINE_64 ? entry - 64 : entry;
}

/* Sends messages of different sizes. The receiver gets completions 0, 1, ... */
static void test_scatter_send(u32 cqe_bytes, u8 cs)
{
	static const u32 sizes[] = { 1, 32, 33, 64, 65, 0 };
	struct session_qp a, b;
	struct hca_qp *to;
	unsigned int i;

	connect(&a, &b);
	to = hca_qp_get(s.hca[1], b.qp.qp_num);
	to->cs_res = cs;
	to->rcq->cqe_bytes = cqe_bytes;
	b.cq.log_stride = cqe_bytes == 64 ? 6 : 7;
	fill(mr[0].ptr, MR_BYTES, 5);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 n = sizes[i];
		struct xv_sge sge = session_sge(&mr[0], 3, n);
		u8 format = !cs || !n || n > cqe_bytes / 2 ? 0 :
			    n > 32 ? MLX5R_CQE_INLINE_64 : MLX5R_CQE_INLINE_32;
		const u8 *data;

		memset(mr[1].ptr, 0, 128);
		post_recv(&b, i, session_sge(&mr[1], 0, 128));
		xv_wr_send(&a.qp, i, XV_SEND_SIGNALED, &sge);
		tap_is(commit(&a).status, XV_WC_SUCCESS, "send %u bytes", n);
		in_cqe(&a, i, 64, 0);
		data = in_cqe(&b, i, cqe_bytes, format);
		ok(!memcmp(format ? data : mr[1].ptr, mr[0].ptr + 3, n) &&
		   (!format || !mr[1].ptr[0]), "data in %s", format ? "the CQE" : "memory");
		if (format)
			ok(n % 32 == 0 || !data[n], "the byte after the data is zero");
		data = mr[1].ptr;
		ok(one(&b).status == XV_WC_SUCCESS && !memcmp(data, mr[0].ptr + 3, n) &&
		   !data[n] && !data[127], "polling copies it to memory");
	}
	disconnect(&a, &b);
}

static void test_scatter_response(void)
{
	struct xv_sge sge = session_sge(&mr[0], 0, 32), word = session_sge(&mr[0], 64, 8);
	struct session_qp a, b;
	u64 seven = 7;

	connect(&a, &b);
	hca_qp_get(s.hca[0], a.qp.qp_num)->cs_req = 0x11;
	fill(mr[1].ptr, MR_BYTES, 6);
	memset(mr[0].ptr, 0, 128);
	xv_wr_read(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key);
	xv_commit_send(&a.qp);
	session_settle(&s);
	ok(!memcmp(in_cqe(&a, 0, 64, MLX5R_CQE_INLINE_32), mr[1].ptr, 32) && !mr[0].ptr[0],
	   "the data of a read is in the CQE");
	ok(one(&a).byte_len == 32 && !memcmp(mr[0].ptr, mr[1].ptr, 32),
	   "polling copies it to memory");
	memcpy(mr[1].ptr, &seven, 8);
	xv_wr_atomic_fa(&a.qp, 1, XV_SEND_SIGNALED, &word, mr[1].addr, mr[1].key, 2);
	xv_commit_send(&a.qp);
	session_settle(&s);
	ok(!memcmp(in_cqe(&a, 1, 64, MLX5R_CQE_INLINE_32), &seven, 8) && mr[1].ptr[0] == 9 &&
	   !mr[0].ptr[64], "the result of an atomic is in the CQE");
	ok(one(&a).byte_len == 8 && mr[0].ptr[64] == 7 && !mr[0].ptr[72],
	   "polling copies it to memory");
	xv_wr_read(&a.qp, 1, 0, &sge, mr[1].addr, mr[1].key);
	xv_commit_send(&a.qp);
	session_settle(&s);
	ok(!memcmp(mr[0].ptr, mr[1].ptr, 32), "unsignalled: the data is in memory");
	sge.lkey ^= 1;
	xv_wr_read(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key);
	tap_is(commit(&a).status, XV_WC_LOC_PROT_ERR,
	       "data in the CQE: an invalid key is an error");
	disconnect(&a, &b);
}

/* Reads into the CQE that cross a page, between writes of @size bytes; number of wrong ones */
static u32 wrong_reads(struct session_qp *a, u32 size)
{
	enum { PAIRS = 24 };
	struct xv_sge large = session_sge(&mr[0], 4096, size), sge = session_sge(&mr[0], 0, 32);
	u64 from = mr[1].addr + HCA_PAGE_SIZE - 16;
	struct xv_wc wc[PAIRS];
	u32 wrong = 0, n = 0, i;
	int got;

	for (i = 0; i < PAIRS; i++) {
		xv_wr_write(&a->qp, 0, 0, &large, mr[1].addr + 2 * HCA_PAGE_SIZE, mr[1].key);
		xv_wr_read(&a->qp, 0, XV_SEND_SIGNALED, &sge, from, mr[1].key);
	}
	xv_commit_send(&a->qp);
	session_settle(&s);
	for (i = 0; i < PAIRS; i++) {
		u32 entry = (a->cq.ci + i) & a->cq.mask;

		wrong += !!memcmp(a->cq.buf + entry * sizeof(struct mlx5r_cqe),
				  mr[1].ptr + HCA_PAGE_SIZE - 16, 32);
	}
	while ((got = xv_poll_cq(&a->cq, PAIRS, wc)) > 0)
		n += got;
	return wrong + (n != PAIRS);
}

/* A turn can end at any piece of a message. */
static void test_scatter_turns(void)
{
	struct session_qp a, b;
	u32 size, wrong = 0;

	connect(&a, &b);
	hca_qp_get(s.hca[0], a.qp.qp_num)->cs_req = 0x11;
	fill(mr[1].ptr, MR_BYTES, 7);
	for (size = 1500; size < 4000; size += 50)
		wrong += wrong_reads(&a, size);
	tap_is(wrong, 0, "reads into the CQE at the end of a turn have all their data");
	disconnect(&a, &b);
}

int main(void)
{
	session_init(&s);
	mr[0] = session_mr(&s, 0, MR_BYTES, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, MR_BYTES, ALL_ACCESS);
	test_write_read();
	test_send();
	test_atomics();
	test_protection();
	test_null_key();
	test_receive_errors();
	test_wrap();
	test_malformed();
	test_gather();
	test_lost_doorbells();
	test_blueflame();
	test_scatter_send(64, 0);
	test_scatter_send(64, 1);
	test_scatter_send(64, 2);
	test_scatter_send(128, 2);
	test_scatter_response();
	test_scatter_turns();
	session_free(&s);
	return tap_done();
}
