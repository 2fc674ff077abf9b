// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport: attributes of the device, states of initiators, attributes of
 * targets, and what is refused.
 */
#include "dc.h"

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

static struct xv_qp *new_dci(void)
{
	struct xv_qp_init_attr init = {
		.qp_type = XV_QPT_DCI, .send_cq = side[0].send_cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(side[0].s.pd, &init);

	need(qp);
	return qp;
}

/* The optional attributes of INIT to RTR */
static void test_init_to_rtr(void)
{
	struct xv_qp *qp = new_dci();
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

	need(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PORT | XV_QP_PKEY_INDEX | XV_QP_DC_KEY));
	a.qp_state = XV_QPS_RTR;
	a.pkey_index = 0xfff0;
	ok(refused(qp, &a, rtr, "pkey_index"), "RTR with a wrong P_Key index");
	a.pkey_index = 0;
	a.dct_key = ~DC_KEY;
	ok(!xv_modify_qp(qp, &a, rtr) && !xv_query_qp(qp, &got, 0, NULL) &&
	   got.qp_state == XV_QPS_RTR && got.dct_key == ~DC_KEY && got.pkey_index == 0 &&
	   got.ah_attr.port_num == 1 && got.ah_attr.grh.hop_limit == 64,
	   "INIT to RTR with another key, P_Key index and address");
	need(!xv_destroy_qp(qp));
}

/* Each request has an address, so that of the queue pair need not exist. */
static void test_empty_address(void)
{
	struct xv_qp *qp = new_dci();
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT, .port_num = 1, .path_mtu = XV_MTU_1024,
		.ah_attr = {
			.port_num = 1, .is_global = 1,
			.grh = { .hop_limit = 33, .sgid_index = (uint8_t)side[0].s.gid_index },
		},
	}, got;
	const unsigned int rtr = XV_QP_STATE | XV_QP_PATH_MTU | XV_QP_AV;

	need(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PORT | XV_QP_PKEY_INDEX | XV_QP_DC_KEY));
	a.qp_state = XV_QPS_RTR;
	a.ah_attr.grh.sgid_index = 255;
	ok(xv_modify_qp(qp, &a, rtr) == -ENOENT, "RTR with a GID index that does not exist");
	a.ah_attr.grh.sgid_index = (uint8_t)side[0].s.gid_index;
	if (!ok(!xv_modify_qp(qp, &a, rtr), "INIT to RTR with an empty address"))
		diag("%s", xv_last_error());
	ok(!xv_query_qp(qp, &got, 0, NULL) && got.qp_state == XV_QPS_RTR &&
	   got.ah_attr.is_global && got.ah_attr.grh.hop_limit == 33 &&
	   !memcmp(&got.ah_attr.grh.dgid, &a.ah_attr.grh.dgid, sizeof(a.ah_attr.grh.dgid)),
	   "its address is as it was set");
	need(!xv_destroy_qp(qp));
}

static void test_attributes(void)
{
	struct xv_dct_init_attr init = {
		.pd = side[1].s.pd, .cq = side[1].recv_cq, .srq = side[1].srq,
		.dc_key = DC_KEY, .access_flags = XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ,
		.flow_label = 0x12345, .mtu = XV_MTU_1024, .port = 1,
		.gid_index = (uint8_t)side[1].s.gid_index, .hop_limit = 17, .tclass = 0x28,
		.min_rnr_timer = 11, .sl = 5, .dct_context = &init,
	};
	struct xv_dct *dct = xv_create_dct(side[1].s.ctx, &init);
	struct xv_dct_attr a;

	need(dct);
	ok(dct->dct_context == &init && dct->pd == init.pd, "target: objects and context");
	ok(!xv_query_dct(dct, &a), "target: query");
	ok(a.dc_key == DC_KEY && a.access_flags == init.access_flags &&
	   a.flow_label == 0x12345 && a.mtu == XV_MTU_1024 && a.port == 1 &&
	   a.gid_index == init.gid_index && a.hop_limit == 17 && a.tclass == 0x28 &&
	   a.min_rnr_timer == 11 && a.sl == 5 && !a.pkey_index && !a.inline_size,
	   "target: attributes as created");
	ok(a.state == XV_DCT_STATE_ACTIVE && a.arm_state == XV_DCT_NOT_ARMED &&
	   !a.key_violations && a.pd == init.pd && a.cq == init.cq && a.srq == init.srq,
	   "target: state, counter, objects");
	ok(xv_destroy_srq(side[1].srq) == -EBUSY && xv_destroy_cq(side[1].recv_cq) == -EBUSY,
	   "target: its queues are in use");
	ok(!xv_destroy_dct(dct), "target: destroy");
}

/* Options of the vendor for connections (ECE): the software adapter grants version 1 or nothing. */
static void test_ece(void)
{
	static const struct { uint32_t wanted, granted; } cases[] = {
		{ 0, 0 }, { 5, 0 }, { 1u << 28, 1u << 28 }, { 1u << 28 | 5, 1u << 28 },
		{ ~0u, 1u << 28 },
	};
	struct xv_dct_init_attr init = {
		.pd = side[1].s.pd, .cq = side[1].recv_cq, .srq = side[1].srq, .mtu = XV_MTU_1024,
		.port = 1, .gid_index = (uint8_t)side[1].s.gid_index,
	};
	struct xv_dct_attr a;
	struct xv_dct *dct;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		init.ece = cases[i].wanted;
		dct = xv_create_dct(side[1].s.ctx, &init);
		need(dct);
		a.ece = ~cases[i].granted;
		ok(!xv_query_dct(dct, &a) && a.ece == cases[i].granted,
		   "target: of options 0x%x it has 0x%x", cases[i].wanted, a.ece);
		need(!xv_destroy_dct(dct));
	}
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
	REFUSE("unknown access", EOPNOTSUPP, access_flags, 1u << 31);
	REFUSE("flow_label", EINVAL, flow_label, 1 << 20);
	REFUSE("pkey_index", EINVAL, pkey_index, 0xffff);
	REFUSE("min_rnr_timer", EINVAL, min_rnr_timer, 32);
	REFUSE("sl", EINVAL, sl, 16);
	REFUSE("port", ENOENT, port, 200);
	REFUSE("GID", ENOENT, gid_index, 255);
	REFUSE("create_flags", EOPNOTSUPP, create_flags, 1);
	REFUSE("shared receive queue", ENOENT, srq, NULL);
	REFUSE("completion queue", ENOENT, cq, NULL);
	REFUSE("protection domain", ENOENT, pd, NULL);
#undef REFUSE
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	dc_open(4096);
	test_device();
	test_states();
	test_init_to_rtr();
	test_empty_address();
	test_attributes();
	test_ece();
	test_refusals();
	dc_close();
	return tap_done();
}
