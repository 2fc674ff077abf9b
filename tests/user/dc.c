// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport with data checks: states of initiators, attributes of
 * targets, all operations, data in completions, keys, cross-channel, one initiator to 1,000
 * targets on two devices, 200 initiators to one target, targets that are destroyed in traffic.
 *
 * usage: dc [hold] [OPTION...]
 */
#include <unistd.h>
#include "dc.h"

enum { MANY_TARGETS = 1000, MANY_SOURCES = 200, MESSAGE = 512, LONG = 20000, HALF = 8 << 20 };

/* ---- Attributes ---------------------------------------------------------------- */

static void test_device(void)
{
	struct xv_device_attr a;

	need(!xv_query_device(side[0].s.ctx, &a));
	ok(a.exp_device_cap_flags & XV_EXP_DEVICE_DC_TRANSPORT && a.max_dct &&
	   a.max_dc_req_rd_atom && a.max_dc_res_rd_atom,
	   "device: %u targets, %u reads per initiator, %u per target", a.max_dct,
	   a.max_dc_req_rd_atom, a.max_dc_res_rd_atom);
}

static bool refused(struct xv_qp *qp, const struct xv_qp_attr *a, unsigned int mask,
		    const char *name)
{
	int err = xv_modify_qp(qp, a, mask);

	if (err == -EINVAL && strstr(xv_last_error(), name))
		return true;
	diag("mask 0x%x: %d, %s", mask, err, xv_last_error());
	return false;
}

/* The table of the manual, A.1.7 */
static void test_states(void)
{
	struct xv_qp_init_attr init = {
		.qp_type = XV_QPT_DCI, .send_cq = side[0].send_cq, .recv_cq = side[0].send_cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(side[0].s.pd, &init);
	struct xv_qp_attr a = {
		.port_num = 1, .path_mtu = XV_MTU_1024, .timeout = 12, .retry_cnt = 3,
		.rnr_retry = 5, .max_rd_atomic = 4, .min_rnr_timer = 9, .dct_key = DC_KEY,
	}, got;
	const unsigned int rts = XV_QP_STATE | XV_QP_TIMEOUT | XV_QP_RETRY_CNT |
				 XV_QP_RNR_RETRY | XV_QP_MAX_QP_RD_ATOMIC;

	need(qp);
	a.qp_state = XV_QPS_INIT;
	ok(refused(qp, &a, XV_QP_STATE | XV_QP_PORT, "pkey_index"), "INIT without P_Key");
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PORT | XV_QP_PKEY_INDEX | XV_QP_DC_KEY),
	   "RESET to INIT as in the manual");
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX), "INIT to INIT");
	a.qp_state = XV_QPS_RTR;
	ok(refused(qp, &a, XV_QP_STATE, "path_mtu"), "RTR without MTU");
	ok(refused(qp, &a, XV_QP_STATE | XV_QP_PATH_MTU | XV_QP_DEST_QPN, "dest_qp_num"),
	   "RTR with the number of a peer");
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PATH_MTU), "INIT to RTR");
	a.qp_state = XV_QPS_RTS;
	ok(refused(qp, &a, rts & ~(unsigned int)XV_QP_RETRY_CNT, "retry_cnt"),
	   "RTS without the number of retries");
	ok(refused(qp, &a, rts | XV_QP_ALT_PATH, "alt"), "RTS with an alternate path");
	ok(!xv_modify_qp(qp, &a, rts | XV_QP_SQ_PSN | XV_QP_MIN_RNR_TIMER), "RTR to RTS");
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_MIN_RNR_TIMER), "RTS to RTS");
	ok(!xv_query_qp(qp, &got, 0, NULL) && got.qp_state == XV_QPS_RTS &&
	   got.dct_key == DC_KEY && got.path_mtu == XV_MTU_1024 && got.timeout == 12 &&
	   got.retry_cnt == 3 && got.rnr_retry == 5 && got.max_rd_atomic == 4, "query");
	a.qp_state = XV_QPS_SQD;
	ok(refused(qp, &a, XV_QP_STATE, "no transition"), "no state SQD");
	a.qp_state = XV_QPS_ERR;
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE), "any state to ERR");
	a.qp_state = XV_QPS_RESET;
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE), "any state to RESET");
	ok(!xv_destroy_qp(qp), "destroy");
}

/* The optional attributes of INIT to RTR */
static void test_init_to_rtr(void)
{
	struct xv_qp_init_attr init = {
		.qp_type = XV_QPT_DCI, .send_cq = side[0].send_cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(side[0].s.pd, &init);
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT, .port_num = 1, .path_mtu = XV_MTU_1024,
		.dct_key = DC_KEY,
		.ah_attr = {
			.dlid = (uint16_t)side[1].s.attr.lid, .port_num = 1, .is_global = 1,
			.grh = { .dgid = side[1].s.gid, .hop_limit = 64,
				 .sgid_index = (uint8_t)side[0].s.gid_index },
		},
	}, got;
	const unsigned int rtr = XV_QP_STATE | XV_QP_PATH_MTU | XV_QP_PKEY_INDEX | XV_QP_DC_KEY |
				 XV_QP_AV;

	need(qp);
	need(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PORT | XV_QP_PKEY_INDEX | XV_QP_DC_KEY));
	a.qp_state = XV_QPS_RTR;
	a.pkey_index = 0xfff0;
	ok(refused(qp, &a, rtr, "pkey_index"), "RTR with a wrong P_Key index");
	a.pkey_index = 0;
	a.dct_key = ~DC_KEY;
	ok(!xv_modify_qp(qp, &a, rtr) && !xv_query_qp(qp, &got, 0, NULL) &&
	   got.qp_state == XV_QPS_RTR && got.dct_key == ~DC_KEY && got.pkey_index == 0 &&
	   got.ah_attr.port_num == 1,
	   "INIT to RTR with another key, P_Key index and address");
	need(!xv_destroy_qp(qp));
}

static void test_attributes(void)
{
	struct xv_dct_init_attr init = {
		.pd = side[1].s.pd, .cq = side[1].recv_cq, .srq = side[1].srq,
		.dc_key = DC_KEY, .access_flags = XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ,
		.flow_label = 0x12345, .mtu = XV_MTU_1024, .port = 1,
		.gid_index = (uint8_t)side[1].s.gid_index, .hop_limit = 17, .tclass = 0x28,
		.min_rnr_timer = 11, .dct_context = &init,
	};
	struct xv_dct *dct = xv_create_dct(side[1].s.ctx, &init);
	struct xv_dct_attr a;

	need(dct);
	ok(dct->dct_context == &init && dct->pd == init.pd, "target: objects and context");
	ok(!xv_query_dct(dct, &a), "target: query");
	ok(a.dc_key == DC_KEY && a.access_flags == init.access_flags &&
	   a.flow_label == 0x12345 && a.mtu == XV_MTU_1024 && a.port == 1 &&
	   a.gid_index == init.gid_index && a.hop_limit == 17 && a.tclass == 0x28 &&
	   a.min_rnr_timer == 11 && !a.pkey_index && !a.inline_size,
	   "target: attributes as created");
	ok(a.state == XV_DCT_STATE_ACTIVE && a.arm_state == XV_DCT_NOT_ARMED &&
	   !a.key_violations && a.pd == init.pd && a.cq == init.cq && a.srq == init.srq,
	   "target: state, counter, objects");
	ok(xv_destroy_srq(side[1].srq) == -EBUSY && xv_destroy_cq(side[1].recv_cq) == -EBUSY,
	   "target: its queues are in use");
	ok(!xv_destroy_dct(dct), "target: destroy");
}

static void refuse_target(const char *what, int err, struct xv_dct_init_attr init)
{
	struct xv_dct *dct = xv_create_dct(side[1].s.ctx, &init);

	if (!ok(!dct && errno == err && strstr(xv_last_error(), what), "target: wrong %s", what))
		diag("%s", dct ? "accepted" : xv_last_error());
}

static void test_refusals(void)
{
	const struct xv_dct_init_attr good = {
		.pd = side[1].s.pd, .cq = side[1].recv_cq, .srq = side[1].srq,
		.mtu = XV_MTU_1024, .port = 1, .gid_index = (uint8_t)side[1].s.gid_index,
	};
	struct xv_dct_init_attr a;

#define REFUSE(_what, _err, _member, _value) do {	\
		a = good;				\
		a._member = _value;			\
		refuse_target(_what, _err, a);		\
	} while (0)
	REFUSE("mtu", EINVAL, mtu, (enum xv_mtu)0);
	REFUSE("mtu", EINVAL, mtu, (enum xv_mtu)6);
	REFUSE("access", EINVAL, access_flags, XV_ACCESS_MW_BIND);
	REFUSE("flow_label", EINVAL, flow_label, 1 << 20);
	REFUSE("pkey_index", EINVAL, pkey_index, 0xffff);
	REFUSE("min_rnr_timer", EINVAL, min_rnr_timer, 32);
	REFUSE("port", ENOENT, port, 200);
	REFUSE("GID", ENOENT, gid_index, 255);
	REFUSE("create_flags", EOPNOTSUPP, create_flags, 1);
	REFUSE("shared receive queue", ENOENT, srq, NULL);
	REFUSE("completion queue", ENOENT, cq, NULL);
	REFUSE("protection domain", ENOENT, pd, NULL);
#undef REFUSE
}

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
		diag("the device has no masked atomics of 32 bytes");
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
		diag("the device has no indirect keys");
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
		diag("the device has no cross-channel queues");
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

/* ---- Many targets, many sources -------------------------------------------------- */

/* What has arrived; the immediate of a message is its number and the seed of its data. */
struct arrived {
	struct xv_dct **targets;	/* of the messages, or NULL: one target */
	uint32_t n, good;
	bool seen[MANY_TARGETS];
};

static bool is_good(struct dc_side *d, const struct xv_wc *wc, uint32_t length,
		    struct arrived *all)
{
	uint32_t number = xv_be32(wc->imm_data);

	if (wc->status || wc->byte_len != length || number >= MANY_TARGETS || all->seen[number])
		return false;
	all->seen[number] = true;
	return wc->qp_num == (all->targets ? all->targets[number] : dct)->dct_num &&
	       rig_check(d->buf + wc->wr_id, length, number);
}

static void drain_receives(struct dc_side *d, uint32_t n, uint32_t length, struct arrived *all)
{
	struct xv_wc wc;

	for (; n && rig_poll(d->recv_cq, 1, &wc) == 1; n--) {
		all->n++;
		all->good += is_good(d, &wc, length, all);
	}
}

static void test_many_targets(void)
{
	static struct xv_dct *targets[MANY_TARGETS];
	static struct arrived all = { .targets = targets };
	uint32_t i, n, sends = 0;
	struct xv_sge sge;
	struct xv_dc one;
	struct xv_wc wc;

	for (i = 0; i < MANY_TARGETS; i++) {
		targets[i] = dc_target(&side[i % 2], DC_KEY + i, DC_ACCESS);
		dc_recv(&side[i % 2], HALF + (size_t)i * MESSAGE, MESSAGE);
	}
	for (i = 0; i < MANY_TARGETS; i++)
		rig_fill(side[0].buf + (size_t)i * MESSAGE, MESSAGE, i);
	for (i = 0; i < MANY_TARGETS; i++) {
		sge = dc_sge(&side[0], (size_t)i * MESSAGE, MESSAGE);
		one = dc_to(0, i % 2, targets[i], DC_KEY + i);
		while (xv_wr_send_imm_dc(dci, i, XV_SEND_SIGNALED, &sge, xv_be32(i), &one)) {
			xv_commit_send(dci);
			n = (uint32_t)rig_poll(side[0].send_cq, 1, &wc);
			if (!n || wc.status)
				bail_out("send %u: %s", sends, xv_wc_status_str(wc.status));
			sends++;
		}
	}
	xv_commit_send(dci);
	while (sends < MANY_TARGETS && rig_poll(side[0].send_cq, 1, &wc) == 1 && !wc.status)
		sends++;
	ok(sends == MANY_TARGETS, "one initiator: %u sends to %u targets on two devices", sends,
	   MANY_TARGETS);
	drain_receives(&side[0], MANY_TARGETS / 2, MESSAGE, &all);
	drain_receives(&side[1], MANY_TARGETS / 2, MESSAGE, &all);
	ok(all.n == MANY_TARGETS && all.good == MANY_TARGETS,
	   "%u received, %u once, at the right target and with the right data", all.n, all.good);
	for (i = 0; i < MANY_TARGETS; i++)
		need(!xv_destroy_dct(targets[i]));
}

/* Each sends messages of many packets, so that many are inside a message at once. */
static void test_many_sources(void)
{
	enum { BYTES = 16384, ROUNDS = 4 };
	static struct xv_qp *sources[MANY_SOURCES];
	static struct arrived all;
	uint32_t i, n, round, sends = 0;
	struct xv_sge sge;
	struct xv_wc wc;

	for (i = 0; i < MANY_SOURCES; i++) {
		sources[i] = dc_initiator(&side[0], 4, NULL);
		rig_fill(side[0].buf + (size_t)i * BYTES, BYTES, i);
	}
	for (round = 0; round < ROUNDS; round++) {
		memset(side[1].buf + HALF, 0, (size_t)MANY_SOURCES * BYTES);
		for (i = 0; i < MANY_SOURCES; i++)
			dc_recv(&side[1], HALF + (size_t)i * BYTES, BYTES);
		for (i = 0; i < MANY_SOURCES; i++) {
			sge = dc_sge(&side[0], (size_t)i * BYTES, BYTES);
			if (xv_wr_send_imm_dc(sources[i], i, XV_SEND_SIGNALED, &sge, xv_be32(i),
					      &to))
				bail_out("source %u: queue full", i);
		}
		for (i = 0; i < MANY_SOURCES; i++)
			xv_commit_send(sources[i]);
		for (n = 0; n < MANY_SOURCES && rig_poll(side[0].send_cq, 1, &wc) == 1; n++)
			sends += !wc.status;
		memset(all.seen, 0, sizeof(all.seen));
		drain_receives(&side[1], MANY_SOURCES, BYTES, &all);
	}
	ok(sends == ROUNDS * MANY_SOURCES, "%u initiators: %u sends to one target", MANY_SOURCES,
	   sends);
	ok(all.n == sends && all.good == sends, "%u received, %u once and with the right data",
	   all.n, all.good);
	for (i = 0; i < MANY_SOURCES; i++)
		need(!xv_destroy_qp(sources[i]));
}

/* ---- Targets that are destroyed in traffic ---------------------------------------- */

static bool is_drain_status(enum xv_wc_status status)
{
	return !status || status == XV_WC_RETRY_EXC_ERR || status == XV_WC_WR_FLUSH_ERR;
}

/* A message arrives whole, or the initiator fails; nothing hangs. */
static void test_drain(void)
{
	static const struct xt_rc_opts quick = { .timeout = 8, .retry_cnt = 2 };
	enum { ROUNDS = 20, BYTES = 1 << 20, DEPTH = 8 };
	uint32_t round, i, n, whole = 0, failed = 0, wrong = 0;
	struct xv_wc wc[DEPTH];
	struct xv_dct *victim;
	struct xv_dc there;
	struct xv_sge sge;
	struct xv_qp *qp;

	rig_fill(side[0].buf, BYTES, 77);
	for (round = 0; round < ROUNDS; round++) {
		qp = dc_initiator(&side[0], DEPTH, &quick);
		victim = dc_target(&side[1], DC_KEY, DC_ACCESS);
		there = dc_to(0, 1, victim, DC_KEY);
		memset(side[1].buf, 0, BYTES);
		for (i = 0; i < DEPTH; i++) {
			sge = dc_sge(&side[0], 0, BYTES);
			xv_wr_write_dc(qp, i, XV_SEND_SIGNALED, &sge, (uintptr_t)side[1].buf,
				       side[1].mr->rkey, &there);
		}
		xv_commit_send(qp);
		if (round % 2)
			wrong += rig_poll(side[0].send_cq, 1, wc) != 1 || wc->status;
		if (xv_destroy_dct(victim))
			bail_out("%s", xv_last_error());
		n = (uint32_t)rig_poll(side[0].send_cq, DEPTH - (int)(round % 2), wc);
		for (i = 0; i < n; i++) {
			failed += wc[i].status == XV_WC_RETRY_EXC_ERR;
			wrong += !is_drain_status(wc[i].status);
		}
		if (n == DEPTH - round % 2 && (!wc[0].status || round % 2))
			whole += rig_check(side[1].buf, BYTES, 77);
		else
			whole += n == DEPTH - round % 2;
		need(!xv_destroy_qp(qp));
	}
	ok(whole == ROUNDS, "%u targets destroyed in traffic: all requests complete, %u failed",
	   ROUNDS, failed);
	tap_is(wrong, 0, "each is a success, without an answer or flushed");
}

/* Objects that are left are destroyed when the file is closed. */
static void test_close(void)
{
	struct dc_side *d = &side[1];
	struct xt_side other;
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct xv_cq_init_attr cq_attr = { .cqe = 10 };
	struct xv_cq *cq;
	struct xv_srq *srq;
	int i;

	need(!xt_side_open(&other, rig_device(1), 1, -1));
	need((cq = xv_create_cq(other.ctx, &cq_attr)) != NULL);
	need((srq = xv_create_srq(other.pd, &attr)) != NULL);
	for (i = 0; i < 10; i++)
		need(xt_dct_create(&other, cq, srq, i, d->mr ? DC_ACCESS : 0));
	ok(!xv_close(other.ctx), "close with ten targets");
}

/* Keeps targets until it is killed, for a test of what the kernel lists. */
static void hold(void)
{
	int i;

	for (i = 0; i < 3; i++)
		dc_target(&side[0], DC_KEY, DC_ACCESS);
	printf("holding\n");
	fflush(stdout);
	pause();
}

int main(int argc, char **argv)
{
	bool holds = argc > 1 && !strcmp(argv[1], "hold");

	rig_devices(argc - holds, argv + holds);
	dc_open(2 * HALF);
	if (holds)
		hold();
	test_device();
	test_states();
	test_init_to_rtr();
	test_attributes();
	test_refusals();
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
	test_many_targets();
	test_many_sources();
	need(!xv_destroy_qp(dci) && !xv_destroy_dct(dct));
	test_drain();
	test_close();
	dc_close();
	return tap_done();
}
