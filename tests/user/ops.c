// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of an RC queue pair, with data checks: sizes and alignments, lists,
 * inline data, immediates, atomics, fences, full queues.
 */
#include "rig.h"

static struct rig r;

static const uint32_t sizes[] = {
	0, 1, 3, 8, 63, 64, 65, 255, 1023, 1024, 1025, 4096, 4097, 65535, 65536, 1000003, 1 << 20,
};

enum { GUARD = 64, SRC = 4096, DST = 8192 + 5 };

/* Fills the source, and the target and its surroundings with another pattern. */
static void prepare(int from, int to, uint32_t n, uint32_t seed)
{
	rig_fill(r.buf[from] + SRC, n, seed);
	rig_fill(r.buf[to] + DST - GUARD, n + 2 * GUARD, ~seed);
}

static bool arrived(int to, uint32_t n, uint32_t seed)
{
	uint8_t guard[GUARD], *dst = r.buf[to] + DST;
	uint8_t *around = calloc(1, n + 2 * GUARD);
	bool good = rig_check(dst, n, seed);

	rig_fill(around, n + 2 * GUARD, ~seed);
	memcpy(guard, around + GUARD + n, GUARD);
	good = good && !memcmp(dst - GUARD, around, GUARD) && !memcmp(dst + n, guard, GUARD);
	free(around);
	return good;
}

static void test_write(void)
{
	uint32_t i, bad = 0;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct xv_sge sge = rig_sge(&r, 0, SRC, sizes[i]);

		prepare(0, 1, sizes[i], i);
		bad += !!xv_wr_write(r.qp[0], i, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, DST),
				     r.mr[1]->rkey);
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], i, XV_WC_SUCCESS) || !arrived(1, sizes[i], i);
	}
	ok(!bad, "RDMA write, %zu sizes from 0 to 1 MiB", ARRAY_SIZE(sizes));
}

static void test_read(void)
{
	uint32_t i, bad = 0;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct xv_sge sge = rig_sge(&r, 0, DST, sizes[i]);

		prepare(1, 0, sizes[i], i);
		bad += !!xv_wr_read(r.qp[0], i, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, SRC),
				    r.mr[1]->rkey);
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], i, XV_WC_SUCCESS) || !arrived(0, sizes[i], i);
	}
	ok(!bad, "RDMA read, same sizes");
}

static void test_send(void)
{
	struct xv_wc wc;
	uint32_t i, bad = 0;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct xv_sge from = rig_sge(&r, 0, SRC, sizes[i]);
		struct xv_sge to = rig_sge(&r, 1, DST, sizes[i] ? sizes[i] : 1);

		prepare(0, 1, sizes[i], i);
		bad += !!xv_wr_recv(r.qp[1], 1000 + i, &to);
		xv_commit_recv(r.qp[1]);
		bad += !!xv_wr_send(r.qp[0], i, XV_SEND_SIGNALED, &from);
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], i, XV_WC_SUCCESS);
		bad += rig_poll(r.cq[1], 1, &wc) != 1 || wc.status || wc.opcode != XV_WC_RECV ||
		       wc.wr_id != 1000 + i || wc.byte_len != sizes[i] || wc.wc_flags ||
		       wc.qp_num != r.qp[1]->qp_num;
		bad += !arrived(1, sizes[i], i);
	}
	ok(!bad, "send and receive, same sizes");
}

static void test_immediate(void)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 100), to = rig_sge(&r, 1, DST, 100);
	struct xv_wc wc[2];

	prepare(0, 1, 100, 7);
	xv_wr_recv(r.qp[1], 1, &to);
	xv_wr_recv(r.qp[1], 2, &to);
	xv_commit_recv(r.qp[1]);
	xv_wr_send_imm(r.qp[0], 3, XV_SEND_SIGNALED, &from, xv_be32(0x12345678));
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 3, XV_WC_SUCCESS) && rig_poll(r.cq[1], 1, wc) == 1 &&
	   wc[0].wr_id == 1 && wc[0].opcode == XV_WC_RECV && wc[0].wc_flags == XV_WC_WITH_IMM &&
	   wc[0].imm_data == xv_be32(0x12345678) && arrived(1, 100, 7), "send with immediate");
	prepare(0, 1, 100, 8);
	xv_wr_write_imm(r.qp[0], 4, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey,
			xv_be32(0x9abcdef0));
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 4, XV_WC_SUCCESS) && rig_poll(r.cq[1], 1, wc) == 1 &&
	   wc[0].wr_id == 2 && wc[0].opcode == XV_WC_RECV_RDMA_WITH_IMM &&
	   wc[0].imm_data == xv_be32(0x9abcdef0) && wc[0].byte_len == 100 &&
	   arrived(1, 100, 8), "write with immediate");
}

static void test_atomics(void)
{
	struct xv_sge result = rig_sge(&r, 0, 0, 8);
	volatile uint64_t *word = (uint64_t *)(r.buf[1] + 64), *old = (uint64_t *)r.buf[0];
	uint64_t at = rig_addr(&r, 1, 64);
	uint32_t i, bad = 0;

	*word = 0x1122334455667788;
	xv_wr_atomic_cs(r.qp[0], 1, XV_SEND_SIGNALED, &result, at, r.mr[1]->rkey,
			0x1122334455667788, 0xdeadbeefcafe0001);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_SUCCESS) && *old == 0x1122334455667788 &&
	   *word == 0xdeadbeefcafe0001, "compare and swap that matches");
	xv_wr_atomic_cs(r.qp[0], 2, XV_SEND_SIGNALED, &result, at, r.mr[1]->rkey, 5, 6);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 2, XV_WC_SUCCESS) && *old == 0xdeadbeefcafe0001 &&
	   *word == 0xdeadbeefcafe0001, "compare and swap that does not match");
	*word = 0xfffffffffffffff0;
	for (i = 0; i < 50; i++) {
		xv_wr_atomic_fa(r.qp[0], i, XV_SEND_SIGNALED, &result, at, r.mr[1]->rkey, 3);
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], i, XV_WC_SUCCESS) ||
		       *old != 0xfffffffffffffff0 + 3ull * i;
	}
	ok(!bad && *word == 0xfffffffffffffff0 + 150, "fetch and add, with overflow of 64 bits");
}

static void test_inline(void)
{
	uint32_t sizes_inline[] = { 1, 12, 28, 29, 44, 64 }, i, bad = 0;
	struct xv_sge to = rig_sge(&r, 1, DST, 64);
	uint8_t data[64];

	for (i = 0; i < ARRAY_SIZE(sizes_inline); i++) {
		uint32_t n = sizes_inline[i];

		prepare(0, 1, n, i);
		rig_fill(data, n, i);
		bad += !!xv_wr_write_inline(r.qp[0], i, XV_SEND_SIGNALED, data, n,
					    rig_addr(&r, 1, DST), r.mr[1]->rkey);
		memset(data, 0, sizeof(data));
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], i, XV_WC_SUCCESS) || !arrived(1, n, i);

		prepare(0, 1, n, i + 100);
		rig_fill(data, n, i + 100);
		xv_wr_recv(r.qp[1], i, &to);
		xv_commit_recv(r.qp[1]);
		bad += !!xv_wr_send_inline(r.qp[0], i, XV_SEND_SIGNALED, data, n);
		memset(data, 0, sizeof(data));
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], i, XV_WC_SUCCESS) ||
		       !rig_expect(r.cq[1], i, XV_WC_SUCCESS) || !arrived(1, n, i + 100);
	}
	ok(!bad, "inline writes and sends, data changed after the post");
}

static void test_lists(void)
{
	struct xv_sge from[4], to[4];
	struct xv_send_wr wr[3], *bad_wr;
	struct xv_recv_wr rwr = { .wr_id = 50, .sg_list = to, .num_sge = 4 }, *bad_rwr;
	struct xv_wc wc;
	int i;

	memset(wr, 0, sizeof(wr));
	prepare(0, 1, 1000, 3);
	for (i = 0; i < 4; i++) {
		from[i] = rig_sge(&r, 0, SRC + 250 * (size_t)i, 250);
		to[i] = rig_sge(&r, 1, DST + (i ? 100 + 300 * (size_t)(i - 1) : 0), i ? 300 : 100);
	}
	wr[0] = (struct xv_send_wr) { .wr_id = 1, .next = &wr[1], .sg_list = from, .num_sge = 4,
		.opcode = XV_WR_SEND };
	wr[1] = (struct xv_send_wr) { .wr_id = 2, .next = &wr[2], .sg_list = from, .num_sge = 4,
		.opcode = XV_WR_RDMA_WRITE,
		.wr.rdma = { rig_addr(&r, 1, 100000), r.mr[1]->rkey } };
	wr[2] = (struct xv_send_wr) { .wr_id = 3, .sg_list = to, .num_sge = 0,
		.opcode = XV_WR_RDMA_WRITE, .send_flags = XV_SEND_SIGNALED,
		.wr.rdma = { rig_addr(&r, 1, 100000), r.mr[1]->rkey } };
	ok(!xv_post_recv(r.qp[1], &rwr, &bad_rwr) && !xv_post_send(r.qp[0], wr, &bad_wr) &&
	   rig_expect(r.cq[0], 3, XV_WC_SUCCESS),
	   "list of three requests, the last one is signalled");
	ok(rig_poll(r.cq[1], 1, &wc) == 1 && wc.wr_id == 50 && wc.byte_len == 1000 &&
	   arrived(1, 1000, 3), "send gathers four elements, receive scatters to four others");
	ok(rig_check(r.buf[1] + 100000, 1000, 3), "write gathers four elements");

	for (i = 0; i < 4; i++)
		to[i] = rig_sge(&r, 0, DST + 250 * (size_t)i, 250);
	prepare(1, 0, 1000, 4);
	wr[0] = (struct xv_send_wr) { .wr_id = 4, .sg_list = to, .num_sge = 4,
		.opcode = XV_WR_RDMA_READ, .send_flags = XV_SEND_SIGNALED,
		.wr.rdma = { rig_addr(&r, 1, SRC), r.mr[1]->rkey } };
	ok(!xv_post_send(r.qp[0], wr, &bad_wr) && rig_expect(r.cq[0], 4, XV_WC_SUCCESS) &&
	   arrived(0, 1000, 4), "read scatters to four elements");
}

/* A fenced write must send the data that the read before it has fetched. */
static void test_fence(void)
{
	struct xv_sge mid = rig_sge(&r, 0, 0, 4096);
	uint32_t i, bad = 0;

	for (i = 0; i < 100; i++) {
		rig_fill(r.buf[1], 4096, i);
		memset(r.buf[0], 0, 4096);
		bad += !!xv_wr_read(r.qp[0], 1, 0, &mid, rig_addr(&r, 1, 0), r.mr[1]->rkey);
		bad += !!xv_wr_write(r.qp[0], 2, XV_SEND_SIGNALED | XV_SEND_FENCE, &mid,
				     rig_addr(&r, 1, 8192), r.mr[1]->rkey);
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], 2, XV_WC_SUCCESS) ||
		       !rig_check(r.buf[1] + 8192, 4096, i);
	}
	ok(!bad, "fenced write waits for the read before it");
}

/* Fields of the completions of a list */
static void test_completions(void)
{
	static const struct {
		enum xv_wr_opcode wr;
		enum xv_wc_opcode wc;
	} ops[] = {
		{ XV_WR_SEND, XV_WC_SEND }, { XV_WR_SEND_WITH_IMM, XV_WC_SEND },
		{ XV_WR_RDMA_WRITE, XV_WC_RDMA_WRITE },
		{ XV_WR_RDMA_WRITE_WITH_IMM, XV_WC_RDMA_WRITE },
		{ XV_WR_RDMA_READ, XV_WC_RDMA_READ },
		{ XV_WR_ATOMIC_CMP_AND_SWP, XV_WC_COMP_SWAP },
		{ XV_WR_ATOMIC_FETCH_AND_ADD, XV_WC_FETCH_ADD },
	};
	struct xv_sge sge = rig_sge(&r, 0, 0, 8), to = rig_sge(&r, 1, 64, 8);
	struct xv_send_wr wr, *bad;
	struct xv_wc wc;
	uint32_t i;

	for (i = 0; i < 3; i++)
		xv_wr_recv(r.qp[1], i, &to);
	xv_commit_recv(r.qp[1]);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		wr = (struct xv_send_wr) { .wr_id = i, .sg_list = &sge, .num_sge = 1,
			.opcode = ops[i].wr, .send_flags = XV_SEND_SIGNALED };
		if (ops[i].wc == XV_WC_COMP_SWAP || ops[i].wc == XV_WC_FETCH_ADD) {
			wr.wr.atomic.remote_addr = rig_addr(&r, 1, 0);
			wr.wr.atomic.rkey = r.mr[1]->rkey;
		} else {
			wr.wr.rdma.remote_addr = rig_addr(&r, 1, 0);
			wr.wr.rdma.rkey = r.mr[1]->rkey;
		}
		if (xv_post_send(r.qp[0], &wr, &bad) || rig_poll(r.cq[0], 1, &wc) != 1 ||
		    wc.status || wc.wr_id != i || wc.opcode != ops[i].wc || wc.wc_flags ||
		    wc.vendor_err || wc.qp_num != r.qp[0]->qp_num ||
		    (i > 3 && wc.byte_len != 8))
			break;
	}
	ok(i == ARRAY_SIZE(ops), "completions have wr_id, opcode, QP number and length");
	for (i = 0; i < 3 && rig_expect(r.cq[1], i, XV_WC_SUCCESS); i++)
		;
	ok(i == 3, "three receives were consumed");
}

/* Doorbells of two queue pairs with one flush for both */
static void test_relaxed(void)
{
	struct xv_sge sge[2] = { rig_sge(&r, 0, 0, 4096), rig_sge(&r, 1, 0, 4096) };
	uint32_t i, bad = 0;
	int side;

	for (i = 0; i < 100; i++) {
		for (side = 0; side < 2; side++) {
			rig_fill(r.buf[side], 4096, i + (uint32_t)side);
			bad += !!xv_wr_write(r.qp[side], i, XV_SEND_SIGNALED, &sge[side],
					     rig_addr(&r, !side, 8192), r.mr[!side]->rkey);
			xv_commit_send_relaxed(r.qp[side]);
		}
		xv_doorbell_flush();
		for (side = 0; side < 2; side++)
			bad += !rig_expect(r.cq[side], i, XV_WC_SUCCESS) ||
			       !rig_check(r.buf[!side] + 8192, 4096, i + (uint32_t)side);
	}
	ok(!bad, "xv_commit_send_relaxed() and one flush by the caller");
}

/* Many requests in flight in both directions; rings and CQs wrap many times */
static void test_deep(void)
{
	enum { N = 20000, LEN = 32 };
	uint32_t posted[2] = { 0 }, done[2] = { 0 }, bad = 0, side, i;
	struct xv_wc wc[32];
	double until = xt_now() + 60;

	for (side = 0; side < 2; side++)
		for (i = 0; i < 64; i++)
			rig_fill(r.buf[side] + i * LEN, LEN, i);
	while ((done[0] < N || done[1] < N) && xt_now() < until) {
		for (side = 0; side < 2; side++) {
			uint32_t before = posted[side];

			while (posted[side] < N) {
				uint32_t slot = posted[side] % 64;
				struct xv_sge sge = rig_sge(&r, (int)side, slot * LEN, LEN);

				if (xv_wr_write(r.qp[side], posted[side], XV_SEND_SIGNALED, &sge,
						rig_addr(&r, !side, 65536 + slot * LEN),
						r.mr[!side]->rkey))
					break;
				posted[side]++;
			}
			if (posted[side] != before)
				xv_commit_send(r.qp[side]);
			int got = xv_poll_cq(r.cq[side], 32, wc);

			for (int k = 0; k < got; k++)
				bad += wc[k].status || wc[k].wr_id != done[side]++;
		}
	}
	for (side = 0; side < 2; side++)
		for (i = 0; i < 64; i++)
			bad += !rig_check(r.buf[side] + 65536 + i * LEN, LEN, i);
	ok(!bad && done[0] == N && done[1] == N, "%d writes in each direction with full queues", N);
}

int main(int argc, char **argv)
{
	struct rig_opts opts[] = { { 0 }, { .cqe_size = 128 } };
	size_t i;

	rig_devices(argc, argv);
	for (i = 0; i < ARRAY_SIZE(opts); i++) {
		diag("CQEs of %u bytes", opts[i].cqe_size ? opts[i].cqe_size : 64);
		rig_open(&r, &opts[i]);
		test_write();
		test_read();
		test_send();
		test_immediate();
		test_atomics();
		test_inline();
		test_lists();
		test_fence();
		test_completions();
		test_relaxed();
		test_deep();
		rig_close(&r);
	}
	return tap_done();
}
