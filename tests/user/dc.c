// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport with data checks: all operations, data in completions, keys,
 * cross-channel.
 */
#include <unistd.h>
#include "dc.h"

enum { LONG = 20000, HALF = 8 << 20 };

/* ---- Operations ---------------------------------------------------------------- */

static struct xv_qp *dci;
static struct xv_dct *dct;
static struct xv_dc to;

static bool sent(void)
{
	xv_commit_send(dci);
	return rig_expect(side[0].send_cq, 7, XV_WC_SUCCESS);
}

static bool received(struct xv_wc *wc, uint32_t length)
{
	if (rig_poll(side[1].recv_cq, 1, wc) != 1) {
		diag("nothing was received");
		return false;
	}
	if (wc->status || wc->qp_num != dct->dct_num || wc->byte_len != length) {
		diag("%s, target 0x%x, %u bytes", xv_wc_status_str(wc->status), wc->qp_num,
		     wc->byte_len);
		return false;
	}
	return true;
}

static void test_builders(void)
{
	struct xv_sge sge = dc_sge(&side[0], 0, LONG), word = dc_sge(&side[0], HALF, 8);
	uint64_t remote = (uintptr_t)side[1].buf, *cell = (uint64_t *)(void *)side[1].buf;
	uint32_t rkey = side[1].mr->rkey;
	struct xv_wc wc;

	rig_fill(side[0].buf, LONG, 1);
	dc_recv(&side[1], 0, LONG);
	ok(!xv_wr_send_dc(dci, 7, XV_SEND_SIGNALED, &sge, &to) && sent() && received(&wc, LONG) &&
	   rig_check(side[1].buf, LONG, 1), "send");
	dc_recv(&side[1], LONG, LONG);
	ok(!xv_wr_send_imm_dc(dci, 7, XV_SEND_SIGNALED, &sge, xv_be32(0xcafe), &to) && sent() &&
	   received(&wc, LONG) && wc.imm_data == xv_be32(0xcafe) && wc.wc_flags & XV_WC_WITH_IMM &&
	   rig_check(side[1].buf + LONG, LONG, 1), "send with immediate");
	rig_fill(side[0].buf, LONG, 2);
	ok(!xv_wr_write_dc(dci, 7, XV_SEND_SIGNALED, &sge, remote, rkey, &to) && sent() &&
	   rig_check(side[1].buf, LONG, 2), "write");
	rig_fill(side[0].buf, LONG, 3);
	dc_recv(&side[1], HALF, 1);
	ok(!xv_wr_write_imm_dc(dci, 7, XV_SEND_SIGNALED, &sge, remote, rkey, xv_be32(5), &to) &&
	   sent() && received(&wc, LONG) && wc.opcode == XV_WC_RECV_RDMA_WITH_IMM &&
	   wc.imm_data == xv_be32(5) && rig_check(side[1].buf, LONG, 3), "write with immediate");
	rig_fill(side[1].buf, LONG, 4);
	ok(!xv_wr_read_dc(dci, 7, XV_SEND_SIGNALED, &sge, remote, rkey, &to) && sent() &&
	   rig_check(side[0].buf, LONG, 4), "read");
	rig_fill(side[0].buf, 60, 5);
	ok(!xv_wr_write_inline_dc(dci, 7, XV_SEND_SIGNALED, side[0].buf, 60, remote, rkey, &to) &&
	   sent() && rig_check(side[1].buf, 60, 5), "inline write");
	dc_recv(&side[1], 0, 64);
	rig_fill(side[0].buf, 60, 6);
	ok(!xv_wr_send_inline_dc(dci, 7, XV_SEND_SIGNALED, side[0].buf, 60, &to) && sent() &&
	   received(&wc, 60) && rig_check(side[1].buf, 60, 6), "inline send");
	*cell = 100;
	ok(!xv_wr_atomic_fa_dc(dci, 7, XV_SEND_SIGNALED, &word, remote, rkey, 23, &to) && sent() &&
	   *cell == 123 && *(uint64_t *)(void *)(side[0].buf + HALF) == 100, "fetch and add");
	ok(!xv_wr_atomic_cs_dc(dci, 7, XV_SEND_SIGNALED, &word, remote, rkey, 123, 9, &to) &&
	   sent() && *cell == 9 && *(uint64_t *)(void *)(side[0].buf + HALF) == 123,
	   "compare and swap");
	sge.length = 0;
	dc_recv(&side[1], 0, 1);
	ok(!xv_wr_send_dc(dci, 7, XV_SEND_SIGNALED, &sge, &to) && sent() && received(&wc, 0),
	   "send without data");
}

/* The same with lists of requests, two elements each */
static void test_lists(void)
{
	static const struct {
		enum xv_wr_opcode opcode;
		bool receives;
	} ops[] = {
		{ XV_WR_SEND, true }, { XV_WR_SEND_WITH_IMM, true }, { XV_WR_RDMA_WRITE, false },
		{ XV_WR_RDMA_WRITE_WITH_IMM, true }, { XV_WR_RDMA_READ, false },
	};
	struct xv_sge list[2];
	struct xv_send_wr wr = {
		.wr_id = 7, .sg_list = list, .num_sge = 2, .send_flags = XV_SEND_SIGNALED,
		.dc = to, .wr.rdma = { (uintptr_t)side[1].buf, side[1].mr->rkey },
	}, *bad;
	struct xv_wc wc;
	bool good;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		list[0] = dc_sge(&side[0], 0, 1000);
		list[1] = dc_sge(&side[0], 1000, LONG - 1000);
		rig_fill(side[0].buf, LONG, 10 + (uint32_t)i);
		rig_fill(side[1].buf, LONG, 20 + (uint32_t)i);
		if (ops[i].receives)
			dc_recv(&side[1], 0, LONG);
		wr.opcode = ops[i].opcode;
		good = !xv_post_send(dci, &wr, &bad) &&
		       rig_expect(side[0].send_cq, 7, XV_WC_SUCCESS) &&
		       (!ops[i].receives || received(&wc, LONG));
		if (wr.opcode == XV_WR_RDMA_READ)
			good = good && rig_check(side[0].buf, LONG, 20 + (uint32_t)i);
		else
			good = good && rig_check(side[1].buf, LONG, 10 + (uint32_t)i);
		ok(good, "list: %s", xv_wc_opcode_str((enum xv_wc_opcode)wr.opcode));
	}
}

/* A masked swap of 32 bytes.  The arguments need their own size of the queue. */
static void test_masked(void)
{
	enum { LOG = 5, WORDS = 4 };
	static const uint64_t compare[WORDS] = { 1, 2, 3, 4 }, swap[WORDS] = { 5, 6, 7, 8 };
	static const uint64_t all[WORDS] = { ~0ull, ~0ull, ~0ull, ~0ull };
	static const uint64_t half[WORDS] = { ~0ull, 0, ~0ull, 0 }, want[WORDS] = { 5, 2, 7, 4 };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_DCI, .send_cq = side[0].send_cq,
		.cap = { .max_send_wr = 8, .max_send_sge = 1 }, .max_atomic_arg = 1 << LOG,
	};
	struct xv_sge sge = dc_sge(&side[0], HALF, 1 << LOG);
	struct xv_send_wr *bad, wr = {
		.wr_id = 7, .sg_list = &sge, .num_sge = 1, .dc = to,
		.opcode = XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP,
		.send_flags = XV_SEND_SIGNALED | XV_SEND_EXT_ATOMIC_INLINE,
		.wr.masked_atomics = { (uintptr_t)side[1].buf, side[1].mr->rkey, LOG },
		.op.cmp_swap = {
			.compare_mask = (uintptr_t)all, .compare_val = (uintptr_t)compare,
			.swap_mask = (uintptr_t)half, .swap_val = (uintptr_t)swap,
		},
	};
	struct xv_device_attr dev;
	struct xv_qp *qp;

	need(!xv_query_device(side[0].s.ctx, &dev));
	if (!(dev.ext_atom.atomic_arg_sizes & 1 << LOG)) {
		tap_skip("masked atomics", "the device has none of 32 bytes");
		return;
	}
	need((qp = xv_create_qp(side[0].s.pd, &attr)) && !xt_dci_start(qp, &side[0].s, NULL));
	memcpy(side[1].buf, compare, sizeof(compare));
	ok(!xv_post_send(qp, &wr, &bad) && rig_expect(side[0].send_cq, 7, XV_WC_SUCCESS) &&
	   !memcmp(side[1].buf, want, sizeof(want)) &&
	   xv_atomic_value(side[0].buf + HALF, LOG, dev.ext_atom.atomic_arg_sizes_be, 3) == 4,
	   "masked compare and swap of 32 bytes");
	need(!xv_destroy_qp(qp));
}

/* ---- Data in the completion ------------------------------------------------------ */

static struct xv_cq *sized_cq(struct dc_side *d, uint32_t cqe_size)
{
	struct xv_cq_init_attr attr = { .cqe = 16, .cqe_size = cqe_size };
	struct xv_cq *cq = xv_create_cq(d->s.ctx, &attr);

	need(cq);
	return cq;
}

/*
 * Polls a completion.  Up to @in_cqe bytes are in the completion until xv_poll_cq() copies them to
 * memory; more are in memory before that.
 */
static bool carried(struct xv_cq *cq, const uint8_t *at, uint32_t bytes, uint32_t in_cqe,
		    uint32_t seed)
{
	double until = xt_now() + 10;
	const struct mlx5r_cqe *cqe;
	const void *data;
	struct xv_wc wc;

	do
		cqe = xv_cq_next(cq);
	while (!cqe && xt_now() < until);
	if (!cqe)
		return false;
	data = xv_cqe_data(cqe);
	if (bytes > in_cqe ? data || !rig_check(at, bytes, seed) :
	    !data || !rig_check(data, bytes, seed) || at[0] != 0x5a)
		return false;
	return xv_poll_cq(cq, 1, &wc) == 1 && !wc.status && rig_check(at, bytes, seed) &&
	       at[bytes] == 0x5a;
}

static bool receive_carried(struct xv_qp *qp, struct xv_cq *cq, const struct xv_dct *target,
			    uint32_t bytes, uint32_t in_cqe)
{
	struct xv_dc there = dc_to(0, 1, target, DC_KEY);
	struct xv_sge sge = dc_sge(&side[0], 0, bytes);

	rig_fill(side[0].buf, bytes, bytes);
	memset(side[1].buf + HALF, 0x5a, 256);
	dc_recv(&side[1], HALF, 256);
	xv_wr_send_dc(qp, 4, XV_SEND_SIGNALED, &sge, &there);
	xv_commit_send(qp);
	return rig_expect(qp->send_cq, 4, XV_WC_SUCCESS) &&
	       carried(cq, side[1].buf + HALF, bytes, in_cqe, bytes);
}

static bool response_carried(struct xv_qp *qp, const struct xv_dct *target, uint32_t bytes,
			     uint32_t in_cqe)
{
	struct xv_dc there = dc_to(0, 1, target, DC_KEY);
	struct xv_sge sge = dc_sge(&side[0], HALF, bytes);

	rig_fill(side[1].buf, bytes, bytes);
	memset(side[0].buf + HALF, 0x5a, 256);
	xv_wr_read_dc(qp, 5, XV_SEND_SIGNALED, &sge, (uintptr_t)side[1].buf, side[1].mr->rkey,
		      &there);
	xv_commit_send(qp);
	return carried(qp->send_cq, side[0].buf + HALF, bytes, in_cqe, bytes);
}

static bool atomic_carried(struct xv_qp *qp, const struct xv_dct *target)
{
	uint64_t *cell = (uint64_t *)(void *)side[1].buf;
	struct xv_dc there = dc_to(0, 1, target, DC_KEY);
	struct xv_sge sge = dc_sge(&side[0], HALF, 8);

	rig_fill(side[1].buf, 8, 9);
	memset(side[0].buf + HALF, 0x5a, 256);
	xv_wr_atomic_cs_dc(qp, 6, XV_SEND_SIGNALED, &sge, (uintptr_t)cell, side[1].mr->rkey,
			   *cell, 17, &there);
	xv_commit_send(qp);
	return carried(qp->send_cq, side[0].buf + HALF, 8, 32, 9) && *cell == 17;
}

/* @recv, @resp: bytes of data in the completion of a receive, and of a read or atomic */
static void test_in_completion(uint32_t cqe_size, uint32_t recv, uint32_t resp)
{
	struct xv_cq *send_cq = sized_cq(&side[0], cqe_size), *cq = sized_cq(&side[1], cqe_size);
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_DCI, .send_cq = send_cq, .max_inl_recv = 64,
		.max_inl_resp = 64, .cap = { .max_send_wr = 4, .max_send_sge = 2 },
	};
	struct xv_dct_init_attr init = {
		.pd = side[1].s.pd, .cq = cq, .srq = side[1].srq, .dc_key = DC_KEY,
		.access_flags = DC_ACCESS, .mtu = (enum xv_mtu)side[1].s.attr.active_mtu,
		.port = 1, .gid_index = (uint8_t)side[1].s.gid_index, .hop_limit = 64,
		.inline_size = 64,
	};
	struct xv_dct *target = xv_create_dct(side[1].s.ctx, &init);
	struct xv_qp *qp = xv_create_qp(side[0].s.pd, &attr);
	uint32_t n, sends = 0, reads = 0;
	struct xv_dct_attr got;

	need(target && qp && !xt_dci_start(qp, &side[0].s, NULL));
	ok(!xv_query_dct(target, &got) && got.inline_size == recv && !attr.max_inl_recv &&
	   attr.max_inl_resp == resp, "completions of %u bytes: %u and %u of data", cqe_size, recv,
	   resp);
	for (n = 1; n < 80; n++) {
		sends += receive_carried(qp, cq, target, n, recv);
		reads += response_carried(qp, target, n, resp);
	}
	tap_is(sends, 79, "completions of %u bytes: receives of 1 to 79 bytes", cqe_size);
	tap_is(reads, 79, "completions of %u bytes: reads of 1 to 79 bytes", cqe_size);
	ok(atomic_carried(qp, target), "completions of %u bytes: compare and swap", cqe_size);
	need(!xv_destroy_qp(qp) && !xv_destroy_dct(target) && !xv_destroy_cq(cq) &&
	     !xv_destroy_cq(send_cq));
}

/* ---- Keys ------------------------------------------------------------------------ */

enum { REGION = 4096, PAYLOAD = 600 };

/* Posts the one request of an initiator that may fail. */
static bool one_request(struct xv_send_wr *wr, enum xv_wc_status status)
{
	static const struct xt_rc_opts quick = { .timeout = 8, .retry_cnt = 1 };
	struct xv_qp *qp = dc_initiator(&side[0], 4, &quick);
	struct xv_send_wr *bad;
	bool good;

	wr->send_flags = XV_SEND_SIGNALED;
	wr->dc = to;
	good = !xv_post_send(qp, wr, &bad) && rig_expect(side[0].send_cq, wr->wr_id, status);
	need(!xv_destroy_qp(qp));
	return good;
}

static bool write_at(uint64_t addr, uint32_t rkey, uint32_t seed, enum xv_wc_status status)
{
	struct xv_sge sge = dc_sge(&side[0], 0, PAYLOAD);
	struct xv_send_wr wr = {
		.wr_id = 8, .sg_list = &sge, .num_sge = 1, .opcode = XV_WR_RDMA_WRITE,
		.wr.rdma = { addr, rkey },
	};

	rig_fill(side[0].buf, PAYLOAD, seed);
	rig_fill(side[1].buf + REGION, PAYLOAD, ~seed);
	return one_request(&wr, status) &&
	       rig_check(side[1].buf + REGION, PAYLOAD, status ? ~seed : seed);
}

static bool write_through(uint32_t rkey, uint32_t seed, enum xv_wc_status status)
{
	return write_at(0, rkey, seed, status);
}

static bool umr_ends(struct xv_qp *umr, int posted)
{
	xv_commit_send(umr);
	return !posted && rig_expect(side[1].send_cq, 3, XV_WC_SUCCESS);
}

static void fill_key(struct xv_qp *umr, struct xv_mkey *mkey)
{
	struct xv_sge region = dc_sge(&side[1], REGION, PAYLOAD);
	struct xv_umr fill = { .mkey = mkey, .num = 1, .regions = &region,
			       .access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE };

	if (!umr_ends(umr, xv_wr_umr_fill(umr, 3, XV_SEND_SIGNALED, &fill)))
		bail_out("fill");
}

static void test_invalidates(struct xv_qp *umr, struct xv_mkey *mkey)
{
	struct xv_sge sge = dc_sge(&side[0], 0, PAYLOAD);
	struct xv_send_wr wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1,
				 .opcode = XV_WR_SEND_WITH_INV, .invalidate_rkey = mkey->rkey };
	struct xv_mkey_attr attr;
	struct xv_wc wc;

	fill_key(umr, mkey);
	ok(write_through(mkey->rkey, 40, XV_WC_SUCCESS), "invalidate: write through the key");
	rig_fill(side[0].buf, PAYLOAD, 41);
	dc_recv(&side[1], HALF, LONG);
	ok(!xv_wr_send_inv_dc(dci, 7, XV_SEND_SIGNALED, &sge, mkey->rkey, &to) && sent() &&
	   received(&wc, PAYLOAD) && wc.opcode == XV_WC_RECV && wc.wc_flags & XV_WC_WITH_INV &&
	   wc.invalidated_rkey == mkey->rkey && rig_check(side[1].buf + HALF, PAYLOAD, 41),
	   "invalidate: send with invalidate");
	ok(!xv_query_mkey(mkey, &attr) && !attr.filled &&
	   write_through(mkey->rkey, 42, XV_WC_REM_ACCESS_ERR),
	   "invalidate: the key gives no access");
	fill_key(umr, mkey);
	rig_fill(side[0].buf, PAYLOAD, 43);
	dc_recv(&side[1], HALF, LONG);
	ok(one_request(&wr, XV_WC_SUCCESS) && received(&wc, PAYLOAD) &&
	   wc.wc_flags & XV_WC_WITH_INV && wc.invalidated_rkey == mkey->rkey &&
	   rig_check(side[1].buf + HALF, PAYLOAD, 43) &&
	   write_through(mkey->rkey, 44, XV_WC_REM_ACCESS_ERR), "invalidate: in a list");
}

/* A key that a peer may not invalidate remains valid. */
static void test_keeps(struct xv_qp *umr, struct xv_mkey *mkey)
{
	struct xv_sge sge = dc_sge(&side[0], 0, PAYLOAD);
	struct xv_send_wr wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1,
				 .opcode = XV_WR_SEND_WITH_INV, .invalidate_rkey = mkey->rkey };
	struct xv_wc wc;

	fill_key(umr, mkey);
	dc_recv(&side[1], HALF, LONG);
	ok(one_request(&wr, XV_WC_REM_OP_ERR) && rig_poll(side[1].recv_cq, 1, &wc) == 1 &&
	   wc.status == XV_WC_LOC_QP_OP_ERR && wc.wr_id == HALF && wc.qp_num == dct->dct_num,
	   "invalidate: a key that does not permit it");
	ok(write_through(mkey->rkey, 45, XV_WC_SUCCESS), "invalidate: that key is still valid");
}

/* An initiator fills and invalidates a key, with requests of their own and in a list. */
static void test_umr(struct xv_qp *umr, struct xv_mkey *mkey)
{
	struct xv_sge region = dc_sge(&side[1], REGION, PAYLOAD);
	struct xv_umr fill = { .mkey = mkey, .num = 1, .regions = &region,
			       .access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE };
	struct xv_send_wr *bad, wr = { .wr_id = 3, .opcode = XV_WR_UMR_FILL, .umr = &fill,
				       .send_flags = XV_SEND_SIGNALED };

	fill_key(umr, mkey);
	ok(write_through(mkey->rkey, 50, XV_WC_SUCCESS), "UMR: an initiator fills a key");
	ok(umr_ends(umr, xv_wr_umr_invalidate(umr, 3, XV_SEND_SIGNALED, mkey)) &&
	   write_through(mkey->rkey, 51, XV_WC_REM_ACCESS_ERR), "UMR: it invalidates the key");
	ok(umr_ends(umr, xv_post_send(umr, &wr, &bad)) &&
	   write_through(mkey->rkey, 52, XV_WC_SUCCESS), "UMR: fill in a list");
	wr.opcode = XV_WR_UMR_INVALIDATE;
	ok(umr_ends(umr, xv_post_send(umr, &wr, &bad)) &&
	   write_through(mkey->rkey, 53, XV_WC_REM_ACCESS_ERR), "UMR: invalidate in a list");
}

/*
 * A message to a target may use a type 1 window of the target's PD, but not a type 2 window,
 * because only the queue pair that binds this may use it.
 */
static void test_window(struct xv_qp *umr, enum xv_mw_type type)
{
	struct xv_mw *mw = xv_alloc_mw(side[1].s.pd, type);
	uint64_t addr = (uintptr_t)side[1].buf + REGION;
	struct xv_mw_bind_info info = { side[1].mr, addr, PAYLOAD, XV_ACCESS_REMOTE_WRITE };
	uint32_t key;

	need(mw);
	key = xv_inc_rkey(mw->rkey);
	ok(umr_ends(umr, xv_wr_bind_mw(umr, 3, XV_SEND_SIGNALED, mw, key, &info)) &&
	   write_at(addr, key, 54, type == XV_MW_TYPE_1 ? XV_WC_SUCCESS : XV_WC_REM_ACCESS_ERR),
	   "window of type %d", type);
	need(!xv_dealloc_mw(mw));
}

static void test_keys(void)
{
	struct xv_mkey_init_attr attr = { .max_entries = 4,
					  .create_flags = XV_MKEY_REMOTE_INVALIDATE };
	struct xv_mkey *mkey, *fixed;
	struct xv_device_attr dev;
	struct xv_qp *umr;

	need(!xv_query_device(side[1].s.ctx, &dev));
	if (!dev.umr_caps.max_mkey_klm_list_size) {
		tap_skip("indirect keys", "the device has none");
		return;
	}
	umr = dc_initiator(&side[1], 16, NULL);
	need((mkey = xv_create_mkey(side[1].s.pd, &attr)));
	attr.create_flags = 0;
	need((fixed = xv_create_mkey(side[1].s.pd, &attr)));
	test_umr(umr, mkey);
	test_window(umr, XV_MW_TYPE_1);
	test_window(umr, XV_MW_TYPE_2);
	test_invalidates(umr, mkey);
	test_keeps(umr, fixed);
	need(!xv_destroy_qp(umr) && !xv_destroy_mkey(mkey) && !xv_destroy_mkey(fixed));
}

/* ---- Cross-channel ---------------------------------------------------------------- */

static struct xv_qp *chained(struct xv_cq *cq, uint32_t flags)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_DCI, .send_cq = cq, .flags = flags,
		.cap = { .max_send_wr = 8, .max_send_sge = 2 },
	};
	struct xv_qp *qp = xv_create_qp(side[0].s.pd, &attr);

	need(qp && !xt_dci_start(qp, &side[0].s, NULL));
	return qp;
}

/* One initiator enables a write of another, waits for it, and reads what it wrote. */
static void test_wait_and_enable(struct xv_qp *master, struct xv_qp *managed, bool list)
{
	struct xv_sge sge = dc_sge(&side[0], 0, LONG), back = dc_sge(&side[0], HALF, LONG);
	uint64_t remote = (uintptr_t)side[1].buf;
	uint32_t rkey = side[1].mr->rkey;
	struct xv_send_wr *bad, wr[3] = {
		{ .wr_id = 1, .opcode = XV_WR_SEND_ENABLE, .next = &wr[1],
		  .send_flags = XV_SEND_WAIT_EN_LAST, .wr.wqe_enable = { managed, 1 } },
		{ .wr_id = 2, .opcode = XV_WR_CQE_WAIT, .next = &wr[2],
		  .send_flags = XV_SEND_WAIT_EN_LAST, .wr.cqe_wait = { managed->send_cq, 1 } },
		{ .wr_id = 3, .opcode = XV_WR_RDMA_READ, .send_flags = XV_SEND_SIGNALED,
		  .sg_list = &back, .num_sge = 1, .wr.rdma = { remote, rkey }, .dc = to },
	};
	int err;

	rig_fill(side[0].buf, LONG, 60 + list);
	rig_fill(side[1].buf, LONG, 62);
	memset(side[0].buf + HALF, 0, LONG);
	need(!xv_wr_write_dc(managed, 5, XV_SEND_SIGNALED, &sge, remote, rkey, &to));
	xv_commit_send(managed);
	usleep(20000);
	ok(rig_check(side[1].buf, LONG, 62), "cross-channel: a managed initiator waits");
	if (list) {
		err = xv_post_send(master, wr, &bad);
	} else {
		err = xv_wr_send_enable(master, 1, XV_SEND_WAIT_EN_LAST, managed, 1) ||
		      xv_wr_cqe_wait(master, 2, XV_SEND_WAIT_EN_LAST, managed->send_cq, 1) ||
		      xv_wr_read_dc(master, 3, XV_SEND_SIGNALED, &back, remote, rkey, &to);
		xv_commit_send(master);
	}
	ok(!err && rig_expect(master->send_cq, 3, XV_WC_SUCCESS) &&
	   rig_check(side[0].buf + HALF, LONG, 60 + list) &&
	   rig_expect(managed->send_cq, 5, XV_WC_SUCCESS),
	   "cross-channel: enable, wait and read, %s", list ? "a list" : "builders");
}

/* Lists can calculate; the builders have no argument for the target. */
static void test_calc(struct xv_qp *master)
{
	const struct xv_calc add = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT,
				     XV_CALC_DATA_SIZE_64_BIT };
	struct xv_calc_operand *in = (void *)side[0].buf, *sum = (void *)side[1].buf;
	struct xv_sge sge[2] = { dc_sge(&side[0], 0, 16), dc_sge(&side[0], 16, 16) };
	struct xv_send_wr *bad, wr = {
		.wr_id = 4, .opcode = XV_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 2,
		.send_flags = XV_SEND_SIGNALED | XV_SEND_WITH_CALC, .dc = to,
		.wr.rdma = { (uintptr_t)sum, side[1].mr->rkey }, .op.calc = add,
	};

	in[0].value = xv_be64(40);
	in[1].value = xv_be64(2);
	sum->value = 0;
	ok(!xv_post_send(master, &wr, &bad) && rig_expect(master->send_cq, 4, XV_WC_SUCCESS) &&
	   sum->value == xv_be64(42), "cross-channel: write of a sum");
	tap_is(xv_wr_send_calc(master, 4, 0, &add, sge, 2), -XV_EINVAL,
	       "cross-channel: builders of calculations refuse initiators");
}

static void test_chain(void)
{
	struct xv_cq_init_attr attr = { .cqe = 16, .flags = XV_CQ_CROSS_CHANNEL };
	struct xv_cq *cq[2] = {
		xv_create_cq(side[0].s.ctx, &attr), xv_create_cq(side[0].s.ctx, &attr),
	};
	struct xv_device_attr dev;
	struct xv_qp *master, *managed;

	need(!xv_query_device(side[0].s.ctx, &dev));
	if (!(dev.exp_device_cap_flags & XV_EXP_DEVICE_CROSS_CHANNEL)) {
		tap_skip("a chain", "the device has no cross-channel queues");
		return;
	}
	need(cq[0] && cq[1]);
	master = chained(cq[0], XV_QP_CROSS_CHANNEL);
	managed = chained(cq[1], XV_QP_MANAGED_SEND);
	test_wait_and_enable(master, managed, false);
	test_wait_and_enable(master, managed, true);
	test_calc(master);
	need(!xv_destroy_qp(master) && !xv_destroy_qp(managed) && !xv_destroy_cq(cq[0]) &&
	     !xv_destroy_cq(cq[1]));
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	dc_open(2 * HALF);
	dci = dc_initiator(&side[0], 64, NULL);
	dct = dc_target(&side[1], DC_KEY, DC_ACCESS);
	to = dc_to(0, 1, dct, DC_KEY);
	test_builders();
	test_lists();
	test_masked();
	test_in_completion(64, 0, 32);
	test_in_completion(128, 64, 64);
	test_keys();
	test_chain();
	need(!xv_destroy_qp(dci) && !xv_destroy_dct(dct));
	dc_close();
	return tap_done();
}
