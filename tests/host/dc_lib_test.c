// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport with the data path of the library: each builder, and lists,
 * to a target of the adapter.  Other memory does not change.
 */
#include <stdlib.h>
#include <string.h>
#include "dc.h"
#include "tap.h"

#define MR_BYTES	65536u
#define BYTES		5000u
#define IMM		0x01020304

static struct session s;
static struct session_mr mr[2];
static struct session_qp dci, owner;	/* @owner: only for the CQ of the target */
static struct dc_srq srq;
static struct dc_target dct;
static struct xv_dc to;
static u8 expected[MR_BYTES];

/* ---- One request ------------------------------------------------------------------- */

static void fill(u8 *p, u32 n, u32 seed)
{
	while (n--) {
		seed = seed * 1103515245 + 12345;
		*p++ = seed >> 16;
	}
}

/* New data on both sides; the receiver's memory must become @expected. */
static void prepare(u32 seed)
{
	fill(mr[0].ptr, MR_BYTES, seed);
	fill(mr[1].ptr, MR_BYTES, seed + 1);
	memcpy(expected, mr[1].ptr, MR_BYTES);
}

static u32 status(void)
{
	struct xv_wc wc;
	int i;

	xv_commit_send(&dci.qp);
	for (i = 0; i < 200000; i++) {
		hca_fabric_poll(&s.fabric);
		if (xv_poll_cq(&dci.cq, 1, &wc))
			return wc.status;
	}
	return 255;
}

static void check(int built, const char *what)
{
	ok(!built && status() == XV_WC_SUCCESS && !memcmp(mr[1].ptr, expected, MR_BYTES), "%s",
	   what);
}

/* Returns the completion of the only message since the last call, or NULL. */
static const struct mlx5r_cqe *received(void)
{
	struct hca_cq *cq = hca_table_get(&s.hca[1]->cqs, owner.cqn);
	static u32 seen;

	if (cq->pi != seen + 1)
		return NULL;
	seen = cq->pi;
	return hca_buf_at(&cq->buf, ((cq->pi - 1) & owner.cq.mask) * 64ull);
}

static void check_received(u8 opcode, u32 bytes, const char *what)
{
	const struct mlx5r_cqe *cqe = received();

	ok(cqe && cqe->op_own >> 4 == opcode && be32_to_cpu(cqe->byte_cnt) == bytes &&
	   (be32_to_cpu(cqe->sop_drop_qpn) & 0xffffff) == dct.dctn, "%s: reception", what);
	if (cqe && (opcode == MLX5R_CQE_RESP_SEND_IMM || opcode == MLX5R_CQE_RESP_WR_IMM))
		tap_is(be32_to_cpu(cqe->imm_inval_pkey), IMM, what);
}

static void receive(u32 offset, u32 bytes)
{
	struct xv_sge sge = session_sge(&mr[1], offset, bytes);

	dc_receive(&s, &srq, &sge);
}

/* ---- Tests ------------------------------------------------------------------------- */

static void test_messages(void)
{
	struct xv_sge sge = session_sge(&mr[0], 100, BYTES);

	prepare(1);
	receive(300, BYTES);
	memcpy(expected + 300, mr[0].ptr + 100, BYTES);
	check(xv_wr_send_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, &to), "send");
	check_received(MLX5R_CQE_RESP_SEND, BYTES, "send");
	prepare(2);
	receive(400, BYTES);
	memcpy(expected + 400, mr[0].ptr + 100, BYTES);
	check(xv_wr_send_imm_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, xv_be32(IMM), &to),
	      "send with immediate");
	check_received(MLX5R_CQE_RESP_SEND_IMM, BYTES, "send with immediate");
	prepare(3);
	receive(500, BYTES);
	memcpy(expected + 500, mr[0].ptr, 77);
	check(xv_wr_send_inline_dc(&dci.qp, 1, XV_SEND_SIGNALED, mr[0].ptr, 77, &to),
	      "inline send");
	check_received(MLX5R_CQE_RESP_SEND, 77, "inline send");
	sge.length = 0;
	receive(0, 1);
	check(xv_wr_send_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, &to), "send without data");
	check_received(MLX5R_CQE_RESP_SEND, 0, "send without data");
}

static void test_rdma(void)
{
	struct xv_sge sge = session_sge(&mr[0], 200, BYTES);
	u64 remote = mr[1].addr + 1001;

	prepare(4);
	memcpy(expected + 1001, mr[0].ptr + 200, BYTES);
	check(xv_wr_write_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, remote, mr[1].key, &to), "write");
	prepare(5);
	receive(0, 1);
	memcpy(expected + 1001, mr[0].ptr + 200, BYTES);
	check(xv_wr_write_imm_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, remote, mr[1].key,
				 xv_be32(IMM), &to), "write with immediate");
	check_received(MLX5R_CQE_RESP_WR_IMM, BYTES, "write with immediate");
	prepare(6);
	memcpy(expected + 1001, mr[0].ptr, 100);
	check(xv_wr_write_inline_dc(&dci.qp, 1, XV_SEND_SIGNALED, mr[0].ptr, 100, remote,
				    mr[1].key, &to), "inline write");
	prepare(7);
	check(xv_wr_read_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, remote, mr[1].key, &to), "read");
	ok(!memcmp(mr[0].ptr + 200, mr[1].ptr + 1001, BYTES), "read: the data");
}

static void test_atomics(void)
{
	struct xv_sge sge = session_sge(&mr[0], 64, 8);
	u64 value = 0x1122334455667788, *result = (u64 *)(mr[0].ptr + 64);

	prepare(8);
	memcpy(mr[1].ptr + 128, &value, 8);
	memcpy(expected + 128, &(u64) { value + 5 }, 8);
	check(xv_wr_atomic_fa_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 128, mr[1].key,
				 5, &to), "fetch and add");
	ok(*result == value, "fetch and add: the old value");
	memcpy(expected + 128, &(u64) { 9 }, 8);
	check(xv_wr_atomic_cs_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 128, mr[1].key,
				 value + 5, 9, &to), "compare and swap");
	ok(*result == value + 5, "compare and swap: the old value");
}

/* A response in the completion: it is in memory only when the completion has been polled. */
static void check_in_cqe(int built, const void *to, const void *want, u32 bytes, const char *what)
{
	const struct mlx5r_cqe *cqe = xv_cq_at(&dci.cq, dci.cq.ci);
	u8 old[32];

	memcpy(old, to, sizeof(old));
	xv_commit_send(&dci.qp);
	session_settle(&s);
	ok(!built && xv_cqe_data(cqe) && !memcmp(xv_cqe_data(cqe), want, bytes) &&
	   !memcmp(to, old, sizeof(old)), "%s: the response is in the completion", what);
	ok(status() == XV_WC_SUCCESS && !memcmp(to, want, bytes) &&
	   !memcmp((u8 *)to + bytes, old + bytes, sizeof(old) - bytes),
	   "%s: polling copies it to memory", what);
}

/* The requests begin in each place of the ring. */
static void test_in_cqe(void)
{
	struct xv_sge sge = session_sge(&mr[0], 200, 24), word = session_sge(&mr[0], 600, 8);
	u64 value = 0x1122334455667788, i;

	hca_qp_get(s.hca[0], dci.qp.qp_num)->cs_req = 0x11;
	for (i = 0; i < 20; i++, value += 5) {
		prepare(20 + i);
		memcpy(mr[1].ptr + 128, &value, 8);
		check_in_cqe(xv_wr_read_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 100,
					   mr[1].key, &to), mr[0].ptr + 200, mr[1].ptr + 100, 24,
			     "read");
		check_in_cqe(xv_wr_atomic_fa_dc(&dci.qp, 1, XV_SEND_SIGNALED, &word,
						mr[1].addr + 128, mr[1].key, 5, &to),
			     mr[0].ptr + 600, &value, 8, "fetch and add");
	}
	hca_qp_get(s.hca[0], dci.qp.qp_num)->cs_req = 0;
}

/* The sum of two operands, posted in a list */
static void test_calc(void)
{
	struct xv_calc_operand *in = (void *)mr[0].ptr, sum = {};
	struct xv_sge sge[2] = { session_sge(&mr[0], 0, 16), session_sge(&mr[0], 16, 16) };
	struct xv_send_wr wr = {
		.opcode = XV_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 2, .dc = to,
		.send_flags = XV_SEND_SIGNALED | XV_SEND_WITH_CALC,
		.wr.rdma = { mr[1].addr + 256, mr[1].key },
		.op.calc = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT, XV_CALC_DATA_SIZE_64_BIT },
	};
	struct xv_send_wr *bad;

	dci.qp.sq.flags |= XV_QP_CROSS_CHANNEL;
	hca_qp_get(s.hca[0], dci.qp.qp_num)->cd_master = true;
	prepare(60);
	in[0] = (struct xv_calc_operand) { xv_be64(40), 0 };
	in[1] = (struct xv_calc_operand) { xv_be64(2), 0 };
	sum.value = xv_be64(42);
	memcpy(expected + 256, &sum, sizeof(sum));
	check(xv_post_send(&dci.qp, &wr, &bad), "write of a sum");
	tap_is(xv_wr_send_calc(&dci.qp, 1, 0, &wr.op.calc, sge, 2), -XV_EINVAL,
	       "calculation: a builder has no argument for the target");
	dci.qp.sq.flags &= ~(u32)XV_QP_CROSS_CHANNEL;
}

/* An initiator fills a key over two regions and uses it. */
static void test_umr(void)
{
	u32 key = session_umr_key(&s, 0, MLX5R_MKEY_MODE_KLM, 4);
	struct xv_mkey mkey = { .lkey = key, .rkey = key, .max_entries = 4 };
	struct xv_sge part[2] = { session_sge(&mr[0], 5000, 7), session_sge(&mr[0], 100, 50) };
	struct xv_umr umr = { .mkey = &mkey, .access = XV_ACCESS_LOCAL_WRITE, .num = 2,
			      .regions = part };
	struct xv_sge all = { 0, 57, key };
	struct xv_send_wr *bad, wr = { .opcode = XV_WR_UMR_FILL, .umr = &umr };

	hca_mkey_get(s.hca[0], key)->access = MLX5R_MKEY_ACCESS_LR;
	prepare(70);
	memcpy(expected + 300, mr[0].ptr + 5000, 7);
	memcpy(expected + 307, mr[0].ptr + 100, 50);
	ok(!xv_post_send(&dci.qp, &wr, &bad), "UMR: in a list");
	check(xv_wr_write_dc(&dci.qp, 1, XV_SEND_SIGNALED, &all, mr[1].addr + 300, mr[1].key, &to),
	      "UMR: a write gathers");
	prepare(71);
	check(xv_wr_umr_invalidate(&dci.qp, 1, XV_SEND_SIGNALED, &mkey), "UMR: invalidate");
	ok(hca_mkey_get(s.hca[0], key)->free, "UMR: the key is invalid");
}

/* Masked atomics of all sizes; the arguments begin in each place of the ring. */
static void test_masked(u32 log)
{
	u32 bytes = 1u << log, at = 256, i, bad = 0;
	u64 one[32] = {}, none[32] = {};
	struct xv_sge sge = session_sge(&mr[0], 512, bytes);
	struct xv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .dc = to,
		.send_flags = XV_SEND_SIGNALED | XV_SEND_EXT_ATOMIC_INLINE,
		.opcode = XV_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
		.wr.masked_atomics = { mr[1].addr + at, mr[1].key, log },
		.op.fetch_add = { .add_val = 1 },
	}, *failed;

	if (log > 3)
		wr.op.fetch_add = (struct xv_fetch_add) { (uintptr_t)one, (uintptr_t)none };
	prepare(log);
	for (i = 0; i < bytes / 8 || !i; i++) {
		one[i] = i + 1;
		memset(mr[1].ptr + at + 8 * i, 0, min(bytes, 8u));
	}
	memcpy(expected, mr[1].ptr, MR_BYTES);
	for (i = 1; i <= 7; i++) {
		u32 word;

		for (word = 0; word < bytes / 8 || !word; word++)
			expected[at + 8 * word] = i * (word + 1);
		bad += xv_post_send(&dci.qp, &wr, &failed) || status() != XV_WC_SUCCESS ||
		       memcmp(mr[1].ptr, expected, at + bytes) ||
		       xv_atomic_value(mr[0].ptr + 512, log, ~8ull, 0) != i - 1;
	}
	tap_is(bad, 0, "masked fetch and add of %u bytes", bytes);
}

/* Every operation as a list, in each place of the ring */
static void test_lists(void)
{
	struct xv_sge sge[2] = { session_sge(&mr[0], 0, 1000), session_sge(&mr[0], 1000, 2000) };
	struct xv_send_wr wr = {
		.sg_list = sge, .num_sge = 2, .send_flags = XV_SEND_SIGNALED, .dc = to,
		.wr.rdma = { mr[1].addr + 300, mr[1].key },
	}, *bad;
	u32 i, good = 0;

	for (i = 0; i < 40; i++) {
		prepare(i);
		wr.opcode = i % 2 ? XV_WR_SEND : XV_WR_RDMA_WRITE;
		if (i % 2)
			receive(300, 3000);
		memcpy(expected + 300, mr[0].ptr, 3000);
		good += !xv_post_send(&dci.qp, &wr, &bad) && status() == XV_WC_SUCCESS &&
			!memcmp(mr[1].ptr, expected, MR_BYTES);
	}
	tap_is(good, 40, "lists of two elements");
}

/* The keys of receives must be of the PD of the target, not of that of the queue. */
static void test_domain(void)
{
	struct xv_sge sge = session_sge(&mr[0], 0, BYTES);
	struct hca_srq *queue = hca_table_get(&s.hca[1]->srqs, srq.srqn);
	u32 pd = queue->pd;

	prepare(10);
	receive(0, BYTES);
	queue->pd = ~0u;
	memcpy(expected, mr[0].ptr, BYTES);
	check(xv_wr_send_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, &to), "queue of another domain");
	queue->pd = pd;
}

static void test_wrong_key(void)
{
	struct xv_dc wrong = to;
	struct xv_sge sge = session_sge(&mr[0], 0, BYTES);

	wrong.dct_access_key++;
	prepare(9);
	xv_wr_write_dc(&dci.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key, &wrong);
	xv_commit_send(&dci.qp);
	session_settle(&s);
	ok(!memcmp(mr[1].ptr, expected, MR_BYTES), "wrong key: nothing is written");
	ok(hca_dct_get(s.hca[1], dct.dctn)->dct.violations > 0, "wrong key: it is counted");
}

int main(void)
{
	u32 log;

	session_init(&s);
	mr[0] = session_mr(&s, 0, MR_BYTES, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, MR_BYTES, ALL_ACCESS);
	dc_initiator(&s, 0, 4, &dci);
	dci.qp.qp_type = XV_QPT_DCI;
	session_qp(&s, 1, MLX5_QP_ST_RC, 8, 4, &owner);
	srq = dc_srq(&s, 1);
	dct = dc_target(&s, 1, &srq, owner.cqn);
	to = (struct xv_dc) { &dct.ah, dct.key, dct.dctn };
	test_messages();
	test_rdma();
	test_atomics();
	test_in_cqe();
	test_calc();
	test_umr();
	dci.qp.sq.max_atomic_arg = MLX5R_ATOMIC_MAX;
	for (log = 2; log <= 8; log++)
		test_masked(log);
	test_lists();
	test_domain();
	test_wrong_key();
	session_free(&s);
	return tap_done();
}
