// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes (section 3.8 and what programs of MLNX_OFED also use): device, port, GIDs, clock,
 * completion queues, queue pairs, memory, resource domains, and what is not supported.
 */
#include "rig.h"

static struct pair p;

/* ---- Device ------------------------------------------------------------------------------ */

#define SAME(member)	do {								\
	if ((uint64_t)a.member != (uint64_t)d.member) {					\
		diag(#member " differs from ibv_query_device()");			\
		bad++;									\
	}										\
} while (0)

/* The members that struct ibv_device_attr also has */
static void test_device(void)
{
	struct ibv_exp_device_attr a = { .comp_mask = 0 };
	struct ibv_device_attr d;
	int bad = 0;

	memset(&a, 0xff, sizeof(a));
	a.comp_mask = 0;
	ok(!ibv_exp_query_device(side[0].ctx, &a) && !ibv_query_device(side[0].ctx, &d),
	   "the device is queried");
	ok(!strcmp(a.fw_ver, d.fw_ver), "fw_ver %s", a.fw_ver);
	SAME(node_guid);
	SAME(sys_image_guid);
	SAME(max_mr_size);
	SAME(page_size_cap);
	SAME(vendor_id);
	SAME(vendor_part_id);
	SAME(hw_ver);
	SAME(max_qp);
	SAME(max_qp_wr);
	SAME(max_sge);
	SAME(max_sge_rd);
	SAME(max_cq);
	SAME(max_cqe);
	SAME(max_mr);
	SAME(max_pd);
	SAME(max_qp_rd_atom);
	SAME(max_ee_rd_atom);
	SAME(max_res_rd_atom);
	SAME(max_qp_init_rd_atom);
	SAME(max_ee_init_rd_atom);
	SAME(max_ee);
	SAME(max_rdd);
	SAME(max_mw);
	SAME(max_raw_ipv6_qp);
	SAME(max_raw_ethy_qp);
	SAME(max_mcast_grp);
	SAME(max_mcast_qp_attach);
	SAME(max_total_mcast_qp_attach);
	SAME(max_ah);
	SAME(max_fmr);
	SAME(max_map_per_fmr);
	SAME(max_srq);
	SAME(max_srq_wr);
	SAME(max_srq_sge);
	SAME(max_pkeys);
	SAME(local_ca_ack_delay);
	SAME(phys_port_cnt);
	tap_is(bad, 0, "each member of struct ibv_device_attr is the same");
	tap_is(a.exp_atomic_cap, d.atomic_cap, "exp_atomic_cap");
	tap_is(a.comp_mask, 0, "comp_mask 0 asks for nothing else");
}

static void test_device_flags(void)
{
	struct ibv_exp_device_attr a = attributes(side[0].ctx);
	struct ibv_device_attr_ex x;
	struct ibv_device_attr d;

	need(!ibv_query_device(side[0].ctx, &d) && !ibv_query_device_ex(side[0].ctx, NULL, &x),
	     "query");
	ok(!((a.exp_device_cap_flags ^ d.device_cap_flags) &
	     (IBV_EXP_DEVICE_XRC | IBV_EXP_DEVICE_RC_RNR_NAK_GEN | IBV_EXP_DEVICE_AUTO_PATH_MIG |
	      IBV_EXP_DEVICE_PORT_ACTIVE_EVENT | IBV_EXP_DEVICE_SYS_IMAGE_GUID)),
	   "flags with the same value in both headers");
	ok(!(a.exp_device_cap_flags & IBV_EXP_DEVICE_MEM_WINDOW) ==
	   !(d.device_cap_flags & IBV_DEVICE_MEM_WINDOW) &&
	   !(a.exp_device_cap_flags & IBV_EXP_DEVICE_MW_TYPE_2B) ==
	   !(d.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) &&
	   !(a.exp_device_cap_flags & IBV_EXP_DEVICE_MEM_MGT_EXTENSIONS) ==
	   !(d.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS), "flags with another value");
	ok(!(a.exp_device_cap_flags & (IBV_EXP_DEVICE_ODP | IBV_EXP_DEVICE_QPG |
				       IBV_EXP_DEVICE_UD_RSS | IBV_EXP_DEVICE_NOP |
				       IBV_EXP_DEVICE_MANAGED_FLOW_STEERING |
				       IBV_EXP_DEVICE_SHARED_MR)), "no flag of what is not there");
	ok(a.timestamp_mask == x.completion_timestamp_mask &&
	   a.hca_core_clock == x.hca_core_clock && a.hca_core_clock, "clock of %llu kHz",
	   (unsigned long long)a.hca_core_clock);
	ok(a.inline_recv_sz == 64 && !a.max_rss_tbl_sz && a.max_ctx_res_domain > 0 &&
	   !(a.odp_caps.general_odp_caps & IBV_EXP_ODP_SUPPORT) &&
	   !(a.ooo_caps.rc_caps & IBV_EXP_OOO_SUPPORT_RW_DATA_PLACEMENT), "the other members");
}

static void test_device_mask(void)
{
	const uint32_t asked = IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK | IBV_EXP_DEVICE_ATTR_ODP |
			       IBV_EXP_DEVICE_ATTR_RX_HASH | IBV_EXP_DEVICE_ATTR_OOO_CAPS;
	struct ibv_exp_device_attr a = { .comp_mask = asked };

	ok(!ibv_exp_query_device(side[0].ctx, &a) &&
	   a.comp_mask == IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK,
	   "comp_mask returns what was asked for and is there");
	memset(&a, 0xa5, sizeof(a));
	a.comp_mask = IBV_EXP_DEVICE_ATTR_OOO_CAPS - 1;
	ok(!ibv_exp_query_device(side[0].ctx, &a) && a.ooo_caps.rc_caps == 0xa5a5a5a5 &&
	   a.max_dct, "a member that older headers lack stays");
	a.comp_mask = IBV_EXP_DEVICE_ATTR_RESERVED;
	ok(ibv_exp_query_device(side[0].ctx, &a) == EINVAL && errno == EINVAL,
	   "device: an unknown bit of comp_mask");
}

static void test_values(void)
{
	struct ibv_exp_values v = { .comp_mask = 0 }, w = { .comp_mask = 0 };
	const int both = IBV_EXP_VALUES_HW_CLOCK | IBV_EXP_VALUES_HW_CLOCK_NS;
	struct ibv_exp_device_attr a = attributes(side[0].ctx);
	double ns;

	ok(!ibv_exp_query_values(side[0].ctx, both, &v) && (int)v.comp_mask == both,
	   "the clock is read");
	ok(!ibv_exp_query_values(side[0].ctx, both, &w) && w.hwclock > v.hwclock &&
	   w.hwclock_ns > v.hwclock_ns, "it advances");
	ns = (double)w.hwclock * 1e6 / (double)a.hca_core_clock;
	ok(ns / (double)w.hwclock_ns > 0.9999 && ns / (double)w.hwclock_ns < 1.0001,
	   "nanoseconds");
	ok(!ibv_exp_query_values(side[0].ctx, both | IBV_EXP_VALUES_RESERVED, &v) &&
	   (int)v.comp_mask == both, "values: an unknown bit is ignored");
	v.comp_mask = IBV_EXP_VALUES_RESERVED;
	ok(ibv_exp_query_values(side[0].ctx, both, &v) == EINVAL, "values: comp_mask");
}

static void test_port(void)
{
	struct ibv_exp_port_attr a = { .comp_mask = IBV_EXP_QUERY_PORT_ATTR_MASK1,
				       .mask1 = IBV_EXP_QUERY_PORT_MASK };
	struct ibv_port_attr d;

	ok(!ibv_exp_query_port(side[0].ctx, 1, &a) && !ibv_query_port(side[0].ctx, 1, &d),
	   "the port is queried");
	ok(a.state == d.state && a.max_mtu == d.max_mtu && a.active_mtu == d.active_mtu &&
	   a.gid_tbl_len == d.gid_tbl_len && a.port_cap_flags == d.port_cap_flags &&
	   a.max_msg_sz == d.max_msg_sz && a.pkey_tbl_len == d.pkey_tbl_len && a.lid == d.lid &&
	   a.sm_lid == d.sm_lid && a.lmc == d.lmc && a.active_width == d.active_width &&
	   a.active_speed == d.active_speed && a.phys_state == d.phys_state &&
	   a.link_layer == d.link_layer, "it has the attributes of ibv_query_port()");
	a.comp_mask = IBV_EXP_QUERY_PORT_ATTR_RESERVED;
	ok(ibv_exp_query_port(side[0].ctx, 1, &a) == EINVAL, "port: comp_mask");
	a.comp_mask = IBV_EXP_QUERY_PORT_ATTR_MASK1;
	a.mask1 = IBV_EXP_QUERY_PORT_MASK + 1;
	ok(ibv_exp_query_port(side[0].ctx, 1, &a) == EINVAL, "port: mask1");
	a.comp_mask = 0;
	ok(ibv_exp_query_port(side[0].ctx, 77, &a), "port 77 does not exist");
}

static void test_gid(void)
{
	struct ibv_exp_gid_attr a = {
		.comp_mask = IBV_EXP_QUERY_GID_ATTR_TYPE | IBV_EXP_QUERY_GID_ATTR_GID };
	bool roce = side[0].address.is_global;

	ok(!ibv_exp_query_gid_attr(side[0].ctx, 1, (unsigned int)side[0].gid_index, &a) &&
	   !memcmp(&a.gid, &side[0].address.grh.dgid, sizeof(a.gid)), "a GID");
	tap_is(a.type, roce ? IBV_EXP_ROCE_V2_GID_TYPE : IBV_EXP_IB_ROCE_V1_GID_TYPE, "its type");
	a.comp_mask = IBV_EXP_QUERY_GID_ATTR_RESERVED;
	ok(ibv_exp_query_gid_attr(side[0].ctx, 1, 0, &a) == EINVAL, "GID: comp_mask");
}

/* ---- Completion queues --------------------------------------------------------------------- */

static bool no_cq(uint32_t comp_mask, uint32_t flags, int err)
{
	struct ibv_exp_cq_init_attr a = { .comp_mask = comp_mask, .flags = flags };

	errno = 0;
	return !ibv_exp_create_cq(side[0].ctx, 4, NULL, NULL, 0, &a) && errno == err;
}

static void test_create_cq(void)
{
	struct ibv_exp_cq_init_attr a = { .comp_mask = 0, .flags = ~0u };
	struct ibv_comp_channel *channel = ibv_create_comp_channel(side[0].ctx);
	struct ibv_cq *cq = ibv_exp_create_cq(side[0].ctx, 20, &a, channel, 0, &a);

	ok(cq && cq->cqe >= 20 && cq->cq_context == &a && cq->channel == channel &&
	   cq->context == side[0].ctx, "a CQ with a channel; flags without their bit are ignored");
	need(!ibv_destroy_cq(cq) && !ibv_destroy_comp_channel(channel), "destroy");
	ok(no_cq(IBV_EXP_CQ_INIT_ATTR_RESERVED1, 0, EINVAL), "CQ: an unknown bit of comp_mask");
	ok(no_cq(IBV_EXP_CQ_INIT_ATTR_PEER_DIRECT, 0, EOPNOTSUPP), "CQ: peer direct");
	ok(no_cq(IBV_EXP_CQ_INIT_ATTR_FLAGS, 1 << 7, EINVAL), "CQ: an unknown flag");
	ok(no_cq(IBV_EXP_CQ_INIT_ATTR_FLAGS, IBV_EXP_CQ_COMPRESSED_CQE, EOPNOTSUPP),
	   "CQ: compressed completions");
	ok(!ibv_exp_create_cq(side[0].ctx, 0, NULL, NULL, 0, &a) && errno == EINVAL,
	   "CQ: no entries");
}

static void test_modify_cq(void)
{
	struct ibv_cq *cq = make_cq(0, IBV_EXP_CQ_CREATE_CROSS_CHANNEL);
	struct ibv_exp_cq_attr a = {
		.comp_mask = IBV_EXP_CQ_ATTR_MODERATION | IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS,
		.moderation = { .cq_count = 4, .cq_period = 10 },
		.cq_cap_flags = IBV_EXP_CQ_IGNORE_OVERRUN,
	};

	ok(!ibv_exp_modify_cq(cq, &a, IBV_EXP_CQ_MODERATION | IBV_EXP_CQ_CAP_FLAGS),
	   "both attributes of a CQ");
	ok(!ibv_exp_modify_cq(cq, &a, 0), "none");
	a.comp_mask = 0;
	ok(!ibv_exp_modify_cq(cq, &a, IBV_EXP_CQ_CAP_FLAGS), "one that comp_mask lacks");
	a.comp_mask = IBV_EXP_CQ_ATTR_RESERVED;
	ok(ibv_exp_modify_cq(cq, &a, 0) == EINVAL, "modify CQ: comp_mask");
	a.comp_mask = IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS;
	ok(ibv_exp_modify_cq(cq, &a, 4) == EINVAL, "modify CQ: mask");
	a.cq_cap_flags = 2;
	ok(ibv_exp_modify_cq(cq, &a, IBV_EXP_CQ_CAP_FLAGS) == EINVAL, "modify CQ: cq_cap_flags");
	need(!ibv_destroy_cq(cq), "destroy");
}

/* Several completions at once, of elements of another size */
#define QUEUES	((uint64_t)(IBV_EXP_WC_QP | IBV_EXP_WC_SRQ | IBV_EXP_WC_DCT))

static void test_poll(void)
{
	enum { N = 20 };
	struct longer {
		struct ibv_exp_wc wc;
		uint64_t own;
	} wc[N];
	struct ibv_sge sge = piece(0, 0, 64);
	struct ibv_exp_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .exp_opcode = IBV_EXP_WR_RDMA_WRITE,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.wr.rdma = { at(1, 0), side[1].mr->rkey },
	};
	double until = now() + 20;
	int i, got = 0, good = 0;

	for (i = 0; i < N; i++) {
		wc[i].own = 77;
		wr.wr_id = (uint64_t)i;
		need(!post(p.qp[0], &wr), "post");
	}
	while (got < N && now() < until)
		got += ibv_exp_poll_cq(p.cq[0], N - got, &wc[got].wc, sizeof(wc[0]));
	for (i = 0; i < got; i++)
		good += wc[i].wc.wr_id == (uint64_t)i && wc[i].wc.status == IBV_WC_SUCCESS &&
			wc[i].wc.exp_opcode == IBV_EXP_WC_RDMA_WRITE && wc[i].own == 77 &&
			wc[i].wc.qp_num == p.qp[0]->qp_num && wc[i].wc.qp == p.qp[0] &&
			!wc[i].wc.srq && !wc[i].wc.dct &&
			(wc[i].wc.exp_wc_flags & QUEUES) == IBV_EXP_WC_QP &&
			wc[i].wc.exp_wc_flags & IBV_EXP_WC_WITH_TIMESTAMP &&
			wc[i].wc.timestamp >= wc[i ? i - 1 : 0].wc.timestamp;
	tap_is(good, N, "completions of another size, with times that do not decrease");
	tap_is(ibv_exp_poll_cq(p.cq[0], 4, &wc[0].wc, sizeof(wc[0])), 0, "no more completions");
}

/* A receive names its queue pair, and the shared receive queue if it is from one. */
static void test_receive_queues(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(side[1].pd, &init);
	struct ibv_exp_qp_init_attr plain = { .comp_mask = 0 }, shared = { .srq = srq };
	struct ibv_cq *cq[2] = { make_cq(0, 0), make_cq(1, 0) };
	struct ibv_qp *qp[3] = { make_qp(0, cq[0], plain), make_qp(1, cq[1], shared),
				 make_qp(1, cq[1], plain) };
	struct ibv_sge sge = piece(0, 0, 64), to = piece(1, 4096, 64);
	struct ibv_exp_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .exp_opcode = IBV_EXP_WR_SEND,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
	};
	struct ibv_recv_wr recv = { .wr_id = 3, .sg_list = &to, .num_sge = 1 }, *bad;
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_exp_wc wc;

	need(srq && !ibv_post_srq_recv(srq, &recv, &bad), "a shared receive");
	connect(0, qp[0], 1, qp[1]);
	ok(!post(qp[0], &wr) && complete(cq[0], &wc) && !wc.status && wc.qp == qp[0] &&
	   (wc.exp_wc_flags & QUEUES) == IBV_EXP_WC_QP, "a send names its queue pair");
	ok(complete(cq[1], &wc) && !wc.status && wc.wr_id == 3 && wc.qp == qp[1] &&
	   wc.srq == srq && !wc.dct &&
	   (wc.exp_wc_flags & QUEUES) == (IBV_EXP_WC_QP | IBV_EXP_WC_SRQ),
	   "a receive of an SRQ names both");
	need(!ibv_modify_qp(qp[0], &reset, IBV_QP_STATE), "reset");
	connect(0, qp[0], 1, qp[2]);
	receive(qp[2], 1, 4096, 64);
	ok(!post(qp[0], &wr) && complete(cq[0], &wc) && complete(cq[1], &wc) && !wc.status &&
	   wc.qp == qp[2] && !wc.srq && !wc.dct &&
	   (wc.exp_wc_flags & QUEUES) == IBV_EXP_WC_QP, "another receive its queue pair");
	need(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]) && !ibv_destroy_qp(qp[2]) &&
	     !ibv_destroy_srq(srq) && !ibv_destroy_cq(cq[0]) && !ibv_destroy_cq(cq[1]),
	     "destroy");
}

/* ---- Queue pairs --------------------------------------------------------------------------- */

static struct ibv_exp_qp_init_attr qp_attr(uint32_t comp_mask)
{
	return (struct ibv_exp_qp_init_attr) {
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD | comp_mask, .pd = side[0].pd,
		.send_cq = p.cq[0], .recv_cq = p.cq[0], .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
}

static bool no_qp(struct ibv_exp_qp_init_attr a, int err)
{
	errno = 0;
	return !ibv_exp_create_qp(side[0].ctx, &a) && errno == err;
}

static void test_refused_qp(void)
{
	struct ibv_exp_qp_init_attr a = qp_attr(IBV_EXP_QP_INIT_ATTR_RESERVED1);

	ok(no_qp(a, EINVAL), "QP: an unknown bit of comp_mask");
	ok(no_qp(qp_attr(IBV_EXP_QP_INIT_ATTR_QPG), EOPNOTSUPP), "QP: group of queue pairs");
	ok(no_qp(qp_attr(IBV_EXP_QP_INIT_ATTR_RX_HASH), EOPNOTSUPP), "QP: receive hash");
	a = qp_attr(IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS);
	a.exp_create_flags = 1u << 30;
	ok(no_qp(a, EINVAL), "QP: an unknown flag");
	a.exp_create_flags = IBV_EXP_QP_CREATE_SCATTER_FCS;
	ok(no_qp(a, EOPNOTSUPP), "QP: a flag of Ethernet");
	a = qp_attr(0);
	a.comp_mask = 0;
	ok(no_qp(a, EINVAL), "QP: no PD");
	a = qp_attr(0);
	a.qp_type = (enum ibv_qp_type)77;
	ok(no_qp(a, EINVAL), "QP: an unknown type");
}

static void test_qp(void)
{
	struct ibv_exp_qp_init_attr a = qp_attr(IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS), init;
	struct ibv_exp_qp_attr q;
	struct ibv_qp *qp;

	a.exp_create_flags = IBV_EXP_QP_CREATE_CROSS_CHANNEL;
	a.qp_context = &a;
	qp = ibv_exp_create_qp(side[0].ctx, &a);
	ok(qp && qp->qp_num && qp->qp_type == IBV_QPT_RC && qp->pd == side[0].pd &&
	   qp->send_cq == p.cq[0] && qp->recv_cq == p.cq[0] && qp->qp_context == &a &&
	   qp->context == side[0].ctx && qp->state == IBV_QPS_RESET && a.cap.max_send_wr >= 4,
	   "members of the queue pair");
	ok(!ibv_exp_query_qp(qp, &q, IBV_EXP_QP_STATE, &init) && q.qp_state == IBV_QPS_RESET &&
	   init.exp_create_flags == IBV_EXP_QP_CREATE_CROSS_CHANNEL && init.qp_context == &a &&
	   init.send_cq == p.cq[0] && init.cap.max_send_wr == a.cap.max_send_wr &&
	   init.pd == side[0].pd, "ibv_exp_query_qp() returns them");
	need(!ibv_destroy_qp(qp), "destroy");
}

static void test_modify_qp(void)
{
	struct ibv_exp_qp_attr a = { .qp_state = IBV_QPS_RTS, .min_rnr_timer = 9 }, b;
	struct ibv_exp_qp_init_attr init;

	ok(!ibv_exp_modify_qp(p.qp[0], &a, IBV_EXP_QP_STATE | IBV_EXP_QP_MIN_RNR_TIMER) &&
	   !ibv_exp_query_qp(p.qp[0], &b, IBV_EXP_QP_MIN_RNR_TIMER, &init) &&
	   b.min_rnr_timer == 9 && b.dest_qp_num == p.qp[1]->qp_num && b.path_mtu == IBV_MTU_1024,
	   "an attribute of a queue pair");
	ok(ibv_exp_modify_qp(p.qp[0], &a, IBV_QP_DC_KEY) == EINVAL, "a DC key of an RC queue pair");
	ok(ibv_exp_modify_qp(p.qp[0], &a, IBV_EXP_QP_RATE_LIMIT) == EOPNOTSUPP, "a rate limit");
	ok(ibv_exp_modify_qp(p.qp[0], &a, IBV_EXP_QP_OOO_RW_DATA_PLACEMENT) == EOPNOTSUPP,
	   "data out of order");
	ok(ibv_exp_modify_qp(p.qp[0], &a, 1ull << 62) == EINVAL, "an unknown bit of the mask");
	a.comp_mask = IBV_EXP_QP_ATTR_FLOW_ENTROPY;
	ok(ibv_exp_modify_qp(p.qp[0], &a, IBV_EXP_QP_STATE) == EOPNOTSUPP, "flow entropy");
	a.comp_mask = IBV_EXP_QP_ATTR_RESERVED;
	ok(ibv_exp_modify_qp(p.qp[0], &a, IBV_EXP_QP_STATE) == EINVAL, "modify QP: comp_mask");
}

/* Short messages come in the completion; polling copies them. */
static void test_inline_receive(void)
{
	struct ibv_exp_qp_init_attr a = { .comp_mask = IBV_EXP_QP_INIT_ATTR_INL_RECV,
					  .max_inl_recv = 20 };
	struct ibv_exp_qp_init_attr plain = { .comp_mask = 0 }, init;
	struct ibv_cq *cq[2] = { make_cq(0, 0), make_cq(1, 0) };
	struct ibv_qp *qp[2] = { make_qp(0, cq[0], plain), make_qp(1, cq[1], a) };
	struct ibv_sge sge = piece(0, 0, 30);
	struct ibv_exp_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .exp_opcode = IBV_EXP_WR_SEND,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
	};
	struct ibv_exp_qp_attr q;
	struct ibv_exp_wc wc;
	int i, good = 0;

	connect(0, qp[0], 1, qp[1]);
	ok(!ibv_exp_query_qp(qp[1], &q, 0, &init) && init.max_inl_recv == 32,
	   "32 bytes are granted for 20");
	for (i = 0; i < 10; i++) {
		fill(side[0].mem, 30, (uint32_t)i);
		memset(side[1].mem + 4096, 0, 64);
		receive(qp[1], 1, 4096, 64);
		good += !post(qp[0], &wr) && complete(cq[0], &wc) && complete(cq[1], &wc) &&
			wc.byte_len == 30 && !memcmp(side[1].mem + 4096, side[0].mem, 30);
	}
	tap_is(good, 10, "messages in the completion");
	need(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]) && !ibv_destroy_cq(cq[0]) &&
	     !ibv_destroy_cq(cq[1]), "destroy");
}

/* ---- Resource domains --------------------------------------------------------------------- */

static void test_domain(void)
{
	struct ibv_exp_res_domain_init_attr a = {
		.comp_mask = IBV_EXP_RES_DOMAIN_THREAD_MODEL | IBV_EXP_RES_DOMAIN_MSG_MODEL,
		.thread_model = IBV_EXP_THREAD_SINGLE, .msg_model = IBV_EXP_MSG_LOW_LATENCY,
	};
	struct ibv_exp_res_domain *domain = ibv_exp_create_res_domain(side[0].ctx, &a);
	struct ibv_exp_cq_init_attr cq_attr = { .comp_mask = IBV_EXP_CQ_INIT_ATTR_RES_DOMAIN,
						.res_domain = domain };
	struct ibv_exp_qp_init_attr attr = qp_attr(IBV_EXP_QP_INIT_ATTR_RES_DOMAIN);
	struct ibv_cq *cq = ibv_exp_create_cq(side[0].ctx, 8, NULL, NULL, 0, &cq_attr);
	struct ibv_qp *qp;

	attr.res_domain = domain;
	attr.send_cq = attr.recv_cq = cq;
	qp = ibv_exp_create_qp(side[0].ctx, &attr);
	ok(domain && domain->context == side[0].ctx && cq && qp, "queues of a resource domain");
	ok(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) &&
	   !ibv_exp_destroy_res_domain(side[0].ctx, domain, NULL), "they are destroyed");
	a.comp_mask = IBV_EXP_RES_DOMAIN_RESERVED;
	ok(!ibv_exp_create_res_domain(side[0].ctx, &a) && errno == EINVAL,
	   "resource domain: comp_mask");
}

/* ---- Memory -------------------------------------------------------------------------------- */

static bool no_mr(uint64_t access, uint32_t comp_mask, uint32_t flags, int err)
{
	struct ibv_exp_reg_mr_in in = { .pd = side[0].pd, .addr = side[0].mem, .length = 4096,
		.exp_access = access, .comp_mask = comp_mask, .create_flags = flags };

	errno = 0;
	return !ibv_exp_reg_mr(&in) && errno == err;
}

static void test_regions(void)
{
	struct ibv_exp_reg_mr_in in = { .pd = side[0].pd, .addr = side[0].mem, .length = 8192,
		.exp_access = ACCESS | IBV_EXP_ACCESS_RELAXED };
	struct ibv_exp_rereg_mr_attr attr = { .comp_mask = 0 };
	struct ibv_mr *mr = ibv_exp_reg_mr(&in);

	ok(mr && mr->addr == side[0].mem && mr->length == 8192 && mr->pd == side[0].pd,
	   "a region");
	ok(!ibv_exp_rereg_mr(mr, IBV_EXP_REREG_MR_CHANGE_TRANSLATION, NULL, side[0].mem + 8192,
			     4096, 0, &attr) && mr->addr == side[0].mem + 8192 &&
	   mr->length == 4096, "it gets another place");
	attr.comp_mask = 1;
	ok(ibv_exp_rereg_mr(mr, 0, NULL, NULL, 0, 0, &attr) == EINVAL, "reregister: comp_mask");
	need(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	ok(no_mr(ACCESS, IBV_EXP_REG_MR_RESERVED, 0, EINVAL), "register: comp_mask");
	ok(no_mr(ACCESS, IBV_EXP_REG_MR_CREATE_FLAGS, IBV_EXP_REG_MR_CREATE_CONTIG, EOPNOTSUPP),
	   "register: contiguous pages");
	ok(no_mr(IBV_EXP_ACCESS_ON_DEMAND, 0, 0, EOPNOTSUPP), "register: paging on demand");
	ok(no_mr(IBV_EXP_ACCESS_RESERVED, 0, 0, EINVAL), "register: an unknown flag");
}

static int read_by_peer(uint32_t rkey)
{
	struct ibv_sge sge = piece(1, 0, 100);
	struct ibv_exp_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .exp_opcode = IBV_EXP_WR_RDMA_READ,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED, .wr.rdma = { at(0, 0), rkey },
	};

	memset(side[1].mem, 0, 100);
	return post(p.qp[1], &wr) ? -1 : status(p.cq[1]);
}

static void test_windows(void)
{
	struct ibv_exp_mw_bind bind = {
		.qp = p.qp[0], .exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.bind_info = { .addr = at(0, 0), .length = 4096,
			       .exp_mw_access_flags = IBV_EXP_ACCESS_REMOTE_READ },
	};
	struct ibv_mr *mr = ibv_reg_mr(side[0].pd, side[0].mem, 4096,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);

	fill(side[0].mem, 100, 4);
	bind.mw = ibv_alloc_mw(side[0].pd, IBV_MW_TYPE_1);
	bind.bind_info.mr = mr;
	need(mr && bind.mw, "a window");
	ok(!ibv_exp_bind_mw(&bind) && status(p.cq[0]) == IBV_WC_SUCCESS, "a window is bound");
	ok(read_by_peer(bind.mw->rkey) == IBV_WC_SUCCESS &&
	   !memcmp(side[1].mem, side[0].mem, 100), "the peer reads through it");
	bind.comp_mask = 1;
	ok(ibv_exp_bind_mw(&bind) == EINVAL, "bind: comp_mask");
	bind.comp_mask = 0;
	bind.bind_info.exp_mw_access_flags = IBV_EXP_ACCESS_ON_DEMAND;
	ok(ibv_exp_bind_mw(&bind) == EINVAL, "bind: access flags");
	need(!ibv_dealloc_mw(bind.mw) && !ibv_dereg_mr(mr), "destroy");
}

/* A window of type 2, bound by a request and invalidated by the peer and by a request */
static void test_window_requests(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(side[0].pd, IBV_MW_TYPE_2);
	struct ibv_mr *mr = ibv_reg_mr(side[0].pd, side[0].mem, 4096,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_exp_send_wr bind = {
		.exp_opcode = IBV_EXP_WR_BIND_MW, .exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.bind_mw = { mw, 0, { mr, at(0, 0), 4096, IBV_EXP_ACCESS_REMOTE_READ } },
	}, inv = {
		.exp_opcode = IBV_EXP_WR_SEND_WITH_INV, .exp_send_flags = IBV_EXP_SEND_SIGNALED,
	};
	struct ibv_exp_wc wc;

	need(mr && mw, "a window");
	bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	ok(!post(p.qp[0], &bind) && complete(p.cq[0], &wc) && wc.status == IBV_WC_SUCCESS &&
	   wc.exp_opcode == IBV_EXP_WC_BIND_MW, "a request binds a window");
	mw->rkey = bind.bind_mw.rkey;
	ok(read_by_peer(mw->rkey) == IBV_WC_SUCCESS, "the peer reads through it");
	receive(p.qp[0], 0, 8192, 64);
	inv.ex.invalidate_rkey = mw->rkey;
	ok(!post(p.qp[1], &inv) && status(p.cq[1]) == IBV_WC_SUCCESS && complete(p.cq[0], &wc) &&
	   wc.exp_wc_flags & IBV_EXP_WC_WITH_INV && wc.imm_data == mw->rkey,
	   "the peer invalidates it");
	bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	need(run(&p, &bind) == IBV_WC_SUCCESS, "bind again");
	mw->rkey = bind.bind_mw.rkey;
	inv.exp_opcode = IBV_EXP_WR_LOCAL_INV;
	inv.ex.invalidate_rkey = mw->rkey;
	ok(!post(p.qp[0], &inv) && complete(p.cq[0], &wc) && wc.status == IBV_WC_SUCCESS &&
	   wc.exp_opcode == IBV_EXP_WC_LOCAL_INV, "a request invalidates it");
	ok(read_by_peer(mw->rkey) == IBV_WC_REM_ACCESS_ERR, "then it gives no access");
	restart(&p);
	need(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr), "destroy");
}

/* ---- Requests that are refused, verbs that are not supported -------------------------------- */

static void test_refused_requests(void)
{
	struct ibv_sge sge = piece(0, 0, 64);
	struct ibv_exp_send_wr good = {
		.sg_list = &sge, .num_sge = 1, .exp_opcode = IBV_EXP_WR_RDMA_WRITE,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.wr.rdma = { at(1, 0), side[1].mr->rkey },
	}, wr = good, *bad = NULL;

	wr.exp_opcode = IBV_EXP_WR_NOP;
	ok(post(p.qp[0], &wr) == EINVAL, "request: an opcode that is not supported");
	wr.exp_opcode = (enum ibv_exp_wr_opcode)0x1234;
	ok(post(p.qp[0], &wr) == EINVAL, "request: an unknown opcode");
	wr = good;
	wr.num_sge = 99;
	good.next = &wr;
	ok(ibv_exp_post_send(p.qp[0], &good, &bad) == ENOMEM && bad == &wr &&
	   status(p.cq[0]) == IBV_WC_SUCCESS && quiet(p.cq[0]),
	   "the requests before a wrong one are posted");
}

static void test_not_supported(void)
{
	enum ibv_exp_query_intf_status intf;

	ok(ibv_exp_prefetch_mr(side[0].mr, NULL) == EOPNOTSUPP && errno == EOPNOTSUPP, "prefetch");
	ok(!ibv_exp_reg_shared_mr(NULL) && errno == EOPNOTSUPP, "a region of another process");
	ok(!ibv_exp_create_flow(p.qp[0], NULL) && errno == EOPNOTSUPP &&
	   ibv_exp_destroy_flow(NULL) == EOPNOTSUPP, "flow steering");
	ok(!ibv_exp_create_wq(side[0].ctx, NULL) && errno == EOPNOTSUPP &&
	   ibv_exp_modify_wq(NULL, NULL) == EOPNOTSUPP &&
	   ibv_exp_destroy_wq(NULL) == EOPNOTSUPP, "work queues");
	ok(!ibv_exp_create_rwq_ind_table(side[0].ctx, NULL) && errno == EOPNOTSUPP &&
	   ibv_exp_destroy_rwq_ind_table(NULL) == EOPNOTSUPP, "indirection tables");
	ok(!ibv_exp_query_intf(side[0].ctx, NULL, &intf) && errno == EOPNOTSUPP &&
	   intf == IBV_EXP_INTF_STAT_INTF_NOT_SUPPORTED &&
	   ibv_exp_release_intf(side[0].ctx, NULL, NULL) == EOPNOTSUPP, "interfaces");
	ok(ibv_exp_poll_dc_info(side[0].ctx, NULL, 0, 1) == -1 && errno == EOPNOTSUPP,
	   "DC information");
}

int main(int argc, char **argv)
{
	open_sides(argc, argv);
	p = make_pair((struct ibv_exp_qp_init_attr) { .comp_mask = 0 });
	test_device();
	test_device_flags();
	test_device_mask();
	test_values();
	test_port();
	test_gid();
	test_create_cq();
	test_modify_cq();
	test_poll();
	test_receive_queues();
	test_refused_qp();
	test_qp();
	test_modify_qp();
	test_inline_receive();
	test_domain();
	test_regions();
	test_windows();
	test_window_requests();
	test_refused_requests();
	test_not_supported();
	break_pair(&p);
	close_sides();
	return tap_done();
}
