// SPDX-License-Identifier: GPL-2.0
/* Transitions of queue pairs and the values of their attributes */
#include <fcntl.h>
#include "compare.h"

#define COUNT(list)	(sizeof(list) / sizeof(*(list)))

static struct ibv_cq *cq;
static struct ibv_xrcd *xrcd;

/* Attributes of the transitions on the way to RTS, right for each type */
static struct ibv_qp_attr right(enum ibv_qp_state to)
{
	return (struct ibv_qp_attr) {
		.qp_state = to, .cur_qp_state = IBV_QPS_RESET, .path_mtu = IBV_MTU_1024,
		.qkey = 0x1234, .dest_qp_num = 0x77,
		.qp_access_flags = ACCESS, .ah_attr = path_to(&place, gid_index),
		.max_rd_atomic = 4, .max_dest_rd_atomic = 4, .min_rnr_timer = 12, .port_num = 1,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
	};
}

static int required(enum ibv_qp_type type, enum ibv_qp_state to)
{
	const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	const int path = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			 IBV_QP_RQ_PSN;
	const int acks = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			 IBV_QP_MAX_QP_RD_ATOMIC;
	bool ud = type == IBV_QPT_UD, uc = type == IBV_QPT_UC;

	switch (to) {
	case IBV_QPS_INIT:
		return init | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		return ud ? IBV_QP_STATE : uc ? path :
		       path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPS_RTS:
		return IBV_QP_STATE | IBV_QP_SQ_PSN | (ud || uc ? 0 : acks);
	default:
		return IBV_QP_STATE;
	}
}

static struct ibv_qp *make(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex a = { .qp_type = type, .xrcd = xrcd,
					 .comp_mask = IBV_QP_INIT_ATTR_XRCD };
	struct ibv_qp *qp;

	if (type == IBV_QPT_XRC_SEND)
		return new_qp(type, cq, &(struct ibv_qp_cap) { 4, 0, 2, 0, 32 });
	if (type != IBV_QPT_XRC_RECV)
		return new_qp(type, cq, NULL);
	qp = ibv_create_qp_ex(ctx, &a);
	need(qp != NULL, "ibv_create_qp_ex");
	return qp;
}

static int step(struct ibv_qp *qp, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr a = right(to);

	return ibv_modify_qp(qp, &a, mask);
}

/* From RESET to this state */
static void bring(struct ibv_qp *qp, enum ibv_qp_state to)
{
	enum ibv_qp_state s;

	step(qp, IBV_QPS_RESET, IBV_QP_STATE);
	if (to == IBV_QPS_ERR) {
		need(!step(qp, IBV_QPS_INIT, required(qp->qp_type, IBV_QPS_INIT)) &&
		     !step(qp, to, IBV_QP_STATE), "to ERR");
		return;
	}
	for (s = IBV_QPS_INIT; s <= to && s <= IBV_QPS_RTS; s++)
		need(!step(qp, s, required(qp->qp_type, s)), "a transition");
}

static void changed(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	int known = qp->state;

	if (!ibv_query_qp(qp, &a, IBV_QP_STATE, &init))
		attr("state %d %d", known, a.qp_state);
}

/* One line for a transition with its attributes, one with each of them left out or added */
static void transition(struct ibv_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to)
{
	int need_mask = required(qp->qp_type, to), bit, mask;

	if (from >= to && to != IBV_QPS_RTS)
		need_mask = IBV_QP_STATE;
	if (from >= IBV_QPS_RTS && to == IBV_QPS_RTS)
		need_mask = IBV_QP_STATE;
	bring(qp, from);
	INT(step(qp, to, need_mask), "ibv_modify_qp type %d %d to %d", qp->qp_type, from, to);
	changed(qp);
	for (bit = 0; bit <= 22; bit++) {
		mask = need_mask ^ 1 << bit;
		bring(qp, from);
		INT(step(qp, to, mask), "ibv_modify_qp type %d %d to %d %s bit %d", qp->qp_type,
		    from, to, need_mask >> bit & 1 ? "without" : "with", bit);
		changed(qp);
	}
}

static void transitions(enum ibv_qp_type type)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						    IBV_QPS_RTS, IBV_QPS_ERR };
	struct ibv_qp *qp = make(type);
	unsigned int f, t;

	for (f = 0; f < COUNT(states); f++) {
		for (t = 0; t < COUNT(states); t++)
			transition(qp, states[f], states[t]);
		bring(qp, states[f]);
		INT(step(qp, IBV_QPS_SQE, IBV_QP_STATE), "ibv_modify_qp type %d %d to SQE", type,
		    states[f]);
		bring(qp, states[f]);
		INT(step(qp, IBV_QPS_SQD, IBV_QP_STATE), "ibv_modify_qp type %d %d to SQD", type,
		    states[f]);
		bring(qp, states[f]);
		INT(step(qp, (enum ibv_qp_state)7, IBV_QP_STATE), "ibv_modify_qp type %d %d to 7",
		    type, states[f]);
		INT(step(qp, IBV_QPS_RESET, 0), "ibv_modify_qp type %d %d mask 0", type,
		    states[f]);
		INT(step(qp, IBV_QPS_RESET, 1 << 30), "ibv_modify_qp type %d %d mask 1 << 30",
		    type, states[f]);
	}
	INT(ibv_destroy_qp(qp), "ibv_destroy_qp type %d", type);
}

void compare_states(void)
{
	struct ibv_xrcd_init_attr init = { .comp_mask = 3, .fd = -1, .oflags = O_CREAT };

	cq = new_cq();
	xrcd = ibv_open_xrcd(ctx, &init);
	transitions(IBV_QPT_RC);
	transitions(IBV_QPT_UC);
	transitions(IBV_QPT_UD);
	transitions(IBV_QPT_XRC_SEND);
	transitions(IBV_QPT_XRC_RECV);
}

/* ---- Values ---------------------------------------------------------------------- */

static struct ibv_qp *rc;

/*
 * Not the rights, the P_Key index, numbers of reads, and members of the path that RoCE does not
 * have: libmlx5 reports what mlx5_ib made of them.
 */
static void all_attr(void)
{
	struct ibv_qp_init_attr i;
	struct ibv_qp_attr a;

	memset(&a, 0, sizeof(a));
	memset(&i, 0, sizeof(i));
	if (ibv_query_qp(rc, &a, IBV_QP_RATE_LIMIT - 1, &i))
		return;
	attr("state %d %d mig %d", a.qp_state, a.cur_qp_state, a.path_mig_state);
	if (a.qp_state < IBV_QPS_RTR || a.qp_state > IBV_QPS_RTS)
		return;
	attr("port %u mtu %d qkey %x psn %x dest %x timer %u alt %u %u", a.port_num, a.path_mtu,
	     a.qkey, a.rq_psn, a.dest_qp_num, a.min_rnr_timer, a.alt_port_num, a.alt_timeout);
	if (a.ah_attr.is_global)
		attr("gid %llx %llx flow %x sgid %u class %u hop %u",
		     (long long)a.ah_attr.grh.dgid.global.subnet_prefix,
		     (long long)a.ah_attr.grh.dgid.global.interface_id, a.ah_attr.grh.flow_label,
		     a.ah_attr.grh.sgid_index, a.ah_attr.grh.traffic_class,
		     a.ah_attr.grh.hop_limit);
	attr("global %u port %u", a.ah_attr.is_global, a.ah_attr.port_num);
	if (a.qp_state == IBV_QPS_RTS)
		attr("psn %x timeout %u retry %u rnr %u", a.sq_psn, a.timeout, a.retry_cnt,
		     a.rnr_retry);
}

/* A transition of an RC queue pair, with one value that differs from the right ones */
#define VALUE(to, extra, member, value) do {						\
	struct ibv_qp_attr a_ = right(to);						\
	bring(rc, (enum ibv_qp_state)((to) - 1));					\
	a_.member = value;								\
	if (!INT(ibv_modify_qp(rc, &a_, required(rc->qp_type, to) | (extra)),		\
		 "ibv_modify_qp %d " #member " %lld", to, (long long)(value)))		\
		all_attr();								\
} while (0)

static void init_values(void)
{
	static const unsigned int access[] = { 0, 1, 2, 4, 6, 8, 15, 16, 31, 32, 64, 1 << 8,
					       1 << 20, ~0u };
	unsigned int i;

	VALUE(IBV_QPS_INIT, 0, port_num, 0);
	VALUE(IBV_QPS_INIT, 0, port_num, 2);
	VALUE(IBV_QPS_INIT, 0, port_num, 3);
	VALUE(IBV_QPS_INIT, 0, port_num, 255);
	VALUE(IBV_QPS_INIT, 0, pkey_index, 1);
	VALUE(IBV_QPS_INIT, 0, pkey_index, port.pkey_tbl_len - 1);
	VALUE(IBV_QPS_INIT, 0, pkey_index, port.pkey_tbl_len);
	VALUE(IBV_QPS_INIT, 0, pkey_index, 65535);
	VALUE(IBV_QPS_INIT, IBV_QP_CUR_STATE, cur_qp_state, IBV_QPS_RESET);
	VALUE(IBV_QPS_INIT, IBV_QP_CUR_STATE, cur_qp_state, IBV_QPS_RTS);
	VALUE(IBV_QPS_INIT, IBV_QP_CUR_STATE, cur_qp_state, 77);
	for (i = 0; i < COUNT(access); i++)
		VALUE(IBV_QPS_INIT, 0, qp_access_flags, access[i]);
}

static void rtr_values(void)
{
	static const int numbers[] = { 0, 1, 15, 16, 17, 31, 32, 128, 255 };
	unsigned int i;

	for (i = 0; i < COUNT(numbers); i++) {
		VALUE(IBV_QPS_RTR, 0, path_mtu, (enum ibv_mtu)numbers[i]);
		VALUE(IBV_QPS_RTR, 0, max_dest_rd_atomic, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTR, 0, min_rnr_timer, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTR, 0, ah_attr.sl, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTR, 0, ah_attr.static_rate, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTR, 0, ah_attr.src_path_bits, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTR, 0, ah_attr.grh.hop_limit, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTR, 0, ah_attr.grh.traffic_class, (uint8_t)numbers[i]);
	}
	VALUE(IBV_QPS_RTR, 0, path_mtu, IBV_MTU_4096);
	VALUE(IBV_QPS_RTR, 0, path_mtu, (enum ibv_mtu)6);
	VALUE(IBV_QPS_RTR, 0, dest_qp_num, 0);
	VALUE(IBV_QPS_RTR, 0, dest_qp_num, 0xffffff);
	VALUE(IBV_QPS_RTR, 0, dest_qp_num, 0x1000077);
	VALUE(IBV_QPS_RTR, 0, rq_psn, 0xffffff);
	VALUE(IBV_QPS_RTR, 0, rq_psn, 0x1000055);
	VALUE(IBV_QPS_RTR, 0, ah_attr.port_num, 0);
	VALUE(IBV_QPS_RTR, 0, ah_attr.port_num, 2);
	VALUE(IBV_QPS_RTR, 0, ah_attr.port_num, 3);
	VALUE(IBV_QPS_RTR, 0, ah_attr.dlid, 0);
	VALUE(IBV_QPS_RTR, 0, ah_attr.dlid, 0xc000);
	VALUE(IBV_QPS_RTR, 0, ah_attr.dlid, 0xffff);
	VALUE(IBV_QPS_RTR, 0, ah_attr.is_global, 0);
	VALUE(IBV_QPS_RTR, 0, ah_attr.is_global, 2);
	VALUE(IBV_QPS_RTR, 0, ah_attr.grh.sgid_index, 255);
	VALUE(IBV_QPS_RTR, 0, ah_attr.grh.sgid_index, 200);
	VALUE(IBV_QPS_RTR, 0, ah_attr.grh.flow_label, 0xfffff);
	VALUE(IBV_QPS_RTR, 0, ah_attr.grh.flow_label, 0x100001);
	VALUE(IBV_QPS_RTR, 0, ah_attr.grh.dgid.raw[0], 0xff);
	VALUE(IBV_QPS_RTR, IBV_QP_PKEY_INDEX, pkey_index, 1);
	VALUE(IBV_QPS_RTR, IBV_QP_PKEY_INDEX, pkey_index, 65535);
	VALUE(IBV_QPS_RTR, IBV_QP_ACCESS_FLAGS, qp_access_flags, 2);
	VALUE(IBV_QPS_RTR, IBV_QP_ALT_PATH, alt_port_num, 1);
	VALUE(IBV_QPS_RTR, IBV_QP_ALT_PATH, alt_port_num, 3);
}

static void rts_values(void)
{
	static const int numbers[] = { 0, 1, 7, 8, 15, 16, 17, 31, 32, 255 };
	unsigned int i;

	for (i = 0; i < COUNT(numbers); i++) {
		VALUE(IBV_QPS_RTS, 0, timeout, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTS, 0, retry_cnt, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTS, 0, rnr_retry, (uint8_t)numbers[i]);
		VALUE(IBV_QPS_RTS, 0, max_rd_atomic, (uint8_t)numbers[i]);
	}
	VALUE(IBV_QPS_RTS, 0, sq_psn, 0xffffff);
	VALUE(IBV_QPS_RTS, 0, sq_psn, 0x1000055);
	VALUE(IBV_QPS_RTS, IBV_QP_CUR_STATE, cur_qp_state, IBV_QPS_RTR);
	VALUE(IBV_QPS_RTS, IBV_QP_CUR_STATE, cur_qp_state, IBV_QPS_RTS);
	VALUE(IBV_QPS_RTS, IBV_QP_PATH_MIG_STATE, path_mig_state, IBV_MIG_MIGRATED);
	VALUE(IBV_QPS_RTS, IBV_QP_PATH_MIG_STATE, path_mig_state, IBV_MIG_REARM);
	VALUE(IBV_QPS_RTS, IBV_QP_PATH_MIG_STATE, path_mig_state, IBV_MIG_ARMED);
	VALUE(IBV_QPS_RTS, IBV_QP_PATH_MIG_STATE, path_mig_state, (enum ibv_mig_state)7);
	VALUE(IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify, 1);
	VALUE(IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify, 7);
}

static void ece(void)
{
	static const struct ibv_ece sets[] = {
		{ 0, 0, 0 }, { 0x15b3, 0, 0 }, { 0x15b3, 1u << 28, 0 }, { 0x15b3, 0, 1 },
		{ 0x1234, 0, 0 }, { 0x1234, 0, 1 }, { 0, 0, 1 }, { 0, 5, 0 },
	};
	struct ibv_qp *qp = make(IBV_QPT_RC);
	struct ibv_ece e = { 1, 2, 3 };
	unsigned int i;

	INT(ibv_query_ece(qp, &e), "ibv_query_ece");
	attr("%x %x %x", e.vendor_id, e.options, e.comp_mask);
	for (i = 0; i < COUNT(sets); i++) {
		e = sets[i];
		INT(ibv_set_ece(qp, &e), "ibv_set_ece %x %x %x", sets[i].vendor_id,
		    sets[i].options, sets[i].comp_mask);
		memset(&e, 0xee, sizeof(e));
		INT(ibv_query_ece(qp, &e), "ibv_query_ece after it %u", i);
		attr("%x %x %x", e.vendor_id, e.options, e.comp_mask);
	}
	NUM(ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0), "ibv_query_qp_data_in_order");
	NUM(ibv_query_qp_data_in_order(qp, IBV_WR_SEND, 1), "ibv_query_qp_data_in_order flags 1");
	NUM(ibv_query_qp_data_in_order(qp, (enum ibv_wr_opcode)99, 0),
	    "ibv_query_qp_data_in_order opcode 99");
	bring(qp, IBV_QPS_RTS);
	NUM(ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0),
	    "ibv_query_qp_data_in_order in RTS");
	ibv_destroy_qp(qp);
}

/* What a query does not fill in stays as it was. */
static void query_masks(void)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						    IBV_QPS_RTS, IBV_QPS_ERR };
	unsigned int i;

	for (i = 0; i < COUNT(states); i++) {
		bring(rc, states[i]);
		call_name("ibv_query_qp in state %d", states[i]);
		all_attr();
	}
	rc->state = IBV_QPS_SQE;
	INT(ibv_query_qp(rc, &(struct ibv_qp_attr) { 0 }, 0, &(struct ibv_qp_init_attr) { 0 }),
	    "ibv_query_qp mask 0");
	attr("state %d", rc->state);
	INT(ibv_query_qp(rc, &(struct ibv_qp_attr) { 0 }, 1 << 30,
			 &(struct ibv_qp_init_attr) { 0 }), "ibv_query_qp mask 1 << 30");
	attr("state %d", rc->state);
	INT(ibv_query_qp(rc, &(struct ibv_qp_attr) { 0 }, IBV_QP_STATE,
			 &(struct ibv_qp_init_attr) { 0 }), "ibv_query_qp mask STATE");
	attr("state %d", rc->state);
}

void compare_values(void)
{
	cq = new_cq();
	rc = make(IBV_QPT_RC);
	init_values();
	rtr_values();
	rts_values();
	query_masks();
	ece();
}
