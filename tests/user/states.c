// SPDX-License-Identifier: GPL-2.0
/*
 * State machine of queue pairs of all types (Manual 3.5): each transition needs its
 * required attributes, accepts its optional ones, and no others; the error text names
 * the attribute; a query returns what was set.
 */
#include "rig.h"

#define RC	(1u << XV_QPT_RC)
#define UC	(1u << XV_QPT_UC)
#define UD	(1u << XV_QPT_UD)
#define XS	(1u << XV_QPT_XRC_SEND)
#define XR	(1u << XV_QPT_XRC_RECV)
#define CONN	(RC | UC | XS | XR)
#define ALL	(CONN | UD)

#define CUR	XV_QP_CUR_STATE
#define NOTIFY	XV_QP_EN_SQD_ASYNC_NOTIFY
#define ACC	XV_QP_ACCESS_FLAGS
#define PKEY	XV_QP_PKEY_INDEX
#define PORT	XV_QP_PORT
#define QKEY	XV_QP_QKEY
#define AV	XV_QP_AV
#define MTU	XV_QP_PATH_MTU
#define TMO	XV_QP_TIMEOUT
#define RETRY	XV_QP_RETRY_CNT
#define RNR	XV_QP_RNR_RETRY
#define RPSN	XV_QP_RQ_PSN
#define RDA	XV_QP_MAX_QP_RD_ATOMIC
#define ALT	XV_QP_ALT_PATH
#define TIMER	XV_QP_MIN_RNR_TIMER
#define SPSN	XV_QP_SQ_PSN
#define DRDA	XV_QP_MAX_DEST_RD_ATOMIC
#define MIG	XV_QP_PATH_MIG_STATE
#define DQPN	XV_QP_DEST_QPN

/* Attribute names of the manual */
static const struct rule {
	enum xv_qp_state from, to;
	uint32_t types;
	uint32_t required, optional;
} rules[] = {
	{ XV_QPS_RESET, XV_QPS_INIT, CONN, PKEY | PORT | ACC, 0 },
	{ XV_QPS_RESET, XV_QPS_INIT, UD, PKEY | PORT | QKEY, 0 },
	{ XV_QPS_INIT, XV_QPS_INIT, CONN, 0, PKEY | PORT | ACC },
	{ XV_QPS_INIT, XV_QPS_INIT, UD, 0, PKEY | PORT | QKEY },
	{ XV_QPS_INIT, XV_QPS_RTR, RC | XR, AV | MTU | DQPN | RPSN | DRDA | TIMER,
	  ACC | PKEY | ALT },
	{ XV_QPS_INIT, XV_QPS_RTR, UC | XS, AV | MTU | DQPN | RPSN, ACC | PKEY | ALT },
	{ XV_QPS_INIT, XV_QPS_RTR, UD, 0, PKEY | QKEY },
	{ XV_QPS_RTR, XV_QPS_RTS, RC | XS, TMO | RETRY | RNR | SPSN | RDA,
	  CUR | ACC | TIMER | MIG | ALT },
	{ XV_QPS_RTR, XV_QPS_RTS, XR, TMO | SPSN, CUR | ACC | TIMER | MIG | ALT },
	{ XV_QPS_RTR, XV_QPS_RTS, UC, SPSN, CUR | ACC | MIG | ALT },
	{ XV_QPS_RTR, XV_QPS_RTS, UD, SPSN, CUR | QKEY },
	{ XV_QPS_RTS, XV_QPS_RTS, RC | XS | XR, 0, CUR | ACC | TIMER | MIG | ALT },
	{ XV_QPS_RTS, XV_QPS_RTS, UC, 0, CUR | ACC | MIG | ALT },
	{ XV_QPS_RTS, XV_QPS_RTS, UD, 0, CUR | QKEY },
	{ XV_QPS_RTS, XV_QPS_SQD, ALL, 0, NOTIFY },
	{ XV_QPS_SQD, XV_QPS_RTS, RC | XS | XR, 0, CUR | ACC | TIMER | MIG | ALT },
	{ XV_QPS_SQD, XV_QPS_RTS, UC, 0, CUR | ACC | MIG | ALT },
	{ XV_QPS_SQD, XV_QPS_RTS, UD, 0, CUR | QKEY },
	{ XV_QPS_SQD, XV_QPS_SQD, RC | XS, 0, PORT | AV | TMO | RETRY | RNR | RDA | DRDA | ALT |
	  ACC | PKEY | TIMER | MIG },
	{ XV_QPS_SQD, XV_QPS_SQD, XR, 0, PORT | AV | TMO | DRDA | ALT | ACC | PKEY | TIMER | MIG },
	{ XV_QPS_SQD, XV_QPS_SQD, UC, 0, AV | ALT | ACC | PKEY | MIG },
	{ XV_QPS_SQD, XV_QPS_SQD, UD, 0, PKEY | QKEY },
};

static const struct {
	uint32_t bit;
	const char *name;
} names[] = {
	{ CUR, "cur_qp_state" }, { NOTIFY, "en_sqd_async_notify" }, { ACC, "qp_access_flags" },
	{ PKEY, "pkey_index" }, { PORT, "port_num" }, { QKEY, "qkey" }, { AV, "ah_attr" },
	{ MTU, "path_mtu" }, { TMO, "timeout" }, { RETRY, "retry_cnt" }, { RNR, "rnr_retry" },
	{ RPSN, "rq_psn" }, { RDA, "max_rd_atomic" }, { ALT, "alt_ah_attr" },
	{ TIMER, "min_rnr_timer" }, { SPSN, "sq_psn" }, { DRDA, "max_dest_rd_atomic" },
	{ MIG, "path_mig_state" }, { DQPN, "dest_qp_num" }, { XV_QP_CAP, "cap" },
};

static const char *const state_names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

static struct xt_side side;
static struct xv_cq *cq;
static struct xv_xrcd *xrcd;
static struct xv_qp *qp;
static enum xv_qp_type type;
static const char *type_name;
static struct xv_qp_attr good;

static const struct rule *rule(enum xv_qp_state from, enum xv_qp_state to)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].from == from && rules[i].to == to && rules[i].types & 1u << type)
			return &rules[i];
	return NULL;
}

static void good_values(void)
{
	good = (struct xv_qp_attr) {
		.path_mtu = XV_MTU_512,
		.path_mig_state = XV_MIG_MIGRATED,
		.qkey = 0x1234,
		.rq_psn = 0x111111,
		.sq_psn = 0x222222,
		.dest_qp_num = 0x4321,
		.qp_access_flags = XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ,
		.port_num = (uint8_t)side.port,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 8,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 6,
		.rnr_retry = 5,
		.ah_attr = {
			.dlid = side.attr.lid,
			.is_global = side.attr.link_layer == XV_LINK_LAYER_ETHERNET,
			.port_num = (uint8_t)side.port,
			.sl = 3,
			.grh = { .dgid = side.gid, .sgid_index = (uint8_t)side.gid_index,
				 .hop_limit = 64 },
		},
	};
	good.alt_ah_attr = good.ah_attr;
	good.alt_port_num = good.port_num;
}

static int modify(enum xv_qp_state from, enum xv_qp_state to, uint32_t mask)
{
	good.qp_state = to;
	good.cur_qp_state = from;
	return xv_modify_qp(qp, &good, (int)(mask | XV_QP_STATE));
}

static enum xv_qp_state queried(void)
{
	struct xv_qp_attr attr;

	if (xv_query_qp(qp, &attr, 0, NULL))
		bail_out("%s", xv_last_error());
	return attr.qp_state;
}

/* Goes to a state by the shortest path, with the required attributes. */
static void go(enum xv_qp_state state)
{
	static const enum xv_qp_state way[] = { XV_QPS_RESET, XV_QPS_INIT, XV_QPS_RTR, XV_QPS_RTS,
						XV_QPS_SQD };
	size_t i;

	if (modify(XV_QPS_ERR, XV_QPS_RESET, 0))
		bail_out("%s", xv_last_error());
	if (state == XV_QPS_ERR && modify(XV_QPS_RESET, XV_QPS_ERR, 0))
		bail_out("%s", xv_last_error());
	if (state == XV_QPS_ERR)
		return;
	for (i = 0; way[i] != state; i++)
		if (modify(way[i], way[i + 1], rule(way[i], way[i + 1])->required))
			bail_out("%s to %s: %s", state_names[way[i]], state_names[way[i + 1]],
				 xv_last_error());
}

/* True if the transition is refused and the error text names the attribute. */
static bool refused(const struct rule *r, uint32_t mask, const char *name)
{
	int err = modify(r->from, r->to, mask);

	if (err == -EINVAL && strstr(xv_last_error(), name))
		return true;
	diag("%s: %d, %s", name, err, err ? xv_last_error() : "");
	return false;
}

static void test_rule(const struct rule *r, uint32_t optional)
{
	bool lacking = true, surplus = true;
	size_t i;

	go(r->from);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].bit == CUR && !(r->required | r->optional))
			continue;
		if (r->required & names[i].bit)
			lacking &= refused(r, r->required & ~names[i].bit, names[i].name);
		else if (!(r->optional & names[i].bit) && names[i].bit != CUR)
			surplus &= refused(r, r->required | names[i].bit, names[i].name);
	}
	ok(lacking, "%s %s to %s: the error text names each missing attribute", type_name,
	   state_names[r->from], state_names[r->to]);
	ok(surplus, "%s %s to %s: other attributes are refused by name", type_name,
	   state_names[r->from], state_names[r->to]);
	ok(queried() == r->from, "%s: still in %s", type_name, state_names[r->from]);
	if (!ok(!modify(r->from, r->to, r->required), "%s %s to %s with the required attributes",
		type_name, state_names[r->from], state_names[r->to]))
		diag("%s", xv_last_error());
	ok(queried() == r->to, "%s: in %s", type_name, state_names[r->to]);
	go(r->from);
	if (!ok(!modify(r->from, r->to, r->required | (r->optional & optional)),
		"%s %s to %s with all optional attributes", type_name, state_names[r->from],
		state_names[r->to]))
		diag("%s", xv_last_error());
}

/* Transitions without attributes refuse every attribute by name. */
static void test_no_attributes(enum xv_qp_state from, enum xv_qp_state to)
{
	const struct rule bare = { from, to, ALL, 0, 0 };
	bool surplus = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].bit != CUR)
			surplus &= refused(&bare, names[i].bit, names[i].name);
	ok(surplus && queried() == from,
	   "%s %s to %s: all attributes are refused by name", type_name,
	   state_names[from], state_names[to]);
}

/* Only these transitions exist, except to RESET and ERR. */
static void test_invalid_transition(enum xv_qp_state from)
{
	bool none = true;
	int to;

	go(from);
	for (to = XV_QPS_RESET; to <= XV_QPS_ERR; to++) {
		if (to == XV_QPS_RESET || to == XV_QPS_ERR || rule(from, (enum xv_qp_state)to))
			continue;
		if (modify(from, (enum xv_qp_state)to, 0) != -EINVAL) {
			none = false;
			diag("%s to %s", state_names[from], state_names[to]);
		}
	}
	ok(none, "%s %s: no transition to other states", type_name, state_names[from]);
	test_no_attributes(from, XV_QPS_RESET);
	test_no_attributes(from, XV_QPS_ERR);
	ok(!modify(from, XV_QPS_ERR, 0) && queried() == XV_QPS_ERR, "%s %s to ERR", type_name,
	   state_names[from]);
	ok(!modify(XV_QPS_ERR, XV_QPS_RESET, 0) && queried() == XV_QPS_RESET,
	   "%s ERR to RESET", type_name);
}

static void test_query(void)
{
	struct xv_qp_attr a;

	go(XV_QPS_RTS);
	if (xv_query_qp(qp, &a, 0, NULL))
		bail_out("%s", xv_last_error());
	ok(a.qp_state == XV_QPS_RTS && a.cur_qp_state == XV_QPS_RTS, "query: state");
	ok(a.port_num == good.port_num && !a.pkey_index, "query: port and P_Key index");
	if (type == XV_QPT_UD) {
		ok(a.qkey == good.qkey, "query: Q_Key");
		return;
	}
	ok(a.path_mtu == good.path_mtu && a.dest_qp_num == good.dest_qp_num &&
	   a.qp_access_flags == good.qp_access_flags, "query: MTU, destination QP, access flags");
	ok(a.rq_psn == good.rq_psn, "query: RQ PSN");
	ok(type == XV_QPT_XRC_RECV || a.sq_psn == good.sq_psn, "query: SQ PSN");
	ok(!memcmp(&a.ah_attr.grh.dgid, &good.ah_attr.grh.dgid, 16) &&
	   a.ah_attr.sl == good.ah_attr.sl && a.ah_attr.dlid == good.ah_attr.dlid &&
	   a.ah_attr.is_global == good.ah_attr.is_global, "query: address vector");
	if (type != XV_QPT_RC)
		return;
	ok(a.timeout == 14 && a.retry_cnt == 6 && a.rnr_retry == 5 && a.min_rnr_timer == 12,
	   "query: timeout and retry counts");
	ok(a.max_rd_atomic == 4 && a.max_dest_rd_atomic == 8,
	   "query: number of outstanding reads and atomics");
	ok(a.cap.max_send_wr >= 8 && a.cap.max_recv_wr >= 8 && a.cap.max_send_sge >= 2,
	   "query: capacities");
}

/* A device without path migration refuses an alternate path. */
static void test_no_migration(uint32_t required)
{
	go(XV_QPS_RTR);
	ok(modify(XV_QPS_RTR, XV_QPS_RTS, required | ALT) == -EOPNOTSUPP &&
	   strstr(xv_last_error(), "path migration"), "alternate path: %s", xv_last_error());
	good.path_mig_state = XV_MIG_REARM;
	ok(modify(XV_QPS_RTR, XV_QPS_RTS, required | MIG) == -EOPNOTSUPP &&
	   strstr(xv_last_error(), "path migration"), "REARM: %s", xv_last_error());
	good.path_mig_state = XV_MIG_MIGRATED;
	ok(!modify(XV_QPS_RTR, XV_QPS_RTS, required | MIG), "the migration state is MIGRATED");
}

/* Values out of range */
static void test_ranges(void)
{
	struct xv_qp_attr a = good;
	int rtr = (int)(AV | MTU | DQPN | RPSN | DRDA | TIMER | XV_QP_STATE);

#define RANGE(_state, _mask, _member, _value)						\
	do {										\
		go(_state);								\
		a = good;								\
		a.qp_state = _state == XV_QPS_INIT ? XV_QPS_RTR : XV_QPS_INIT;		\
		a._member = _value;							\
		ok(xv_modify_qp(qp, &a, _mask) < 0 && strstr(xv_last_error(), #_member),	\
		   "range: " #_member " " #_value);					\
	} while (0)
	RANGE(XV_QPS_INIT, rtr, path_mtu, (enum xv_mtu)6);
	RANGE(XV_QPS_INIT, rtr, rq_psn, 1u << 24);
	RANGE(XV_QPS_INIT, rtr, dest_qp_num, 1u << 24);
	RANGE(XV_QPS_INIT, rtr, min_rnr_timer, 32);
	RANGE(XV_QPS_INIT, rtr, max_dest_rd_atomic, 129);
	RANGE(XV_QPS_RESET, (int)(PKEY | PORT | ACC | XV_QP_STATE), qp_access_flags, 1u << 9);
	RANGE(XV_QPS_RESET, (int)(PKEY | PORT | ACC | XV_QP_STATE), pkey_index, 60000);
#undef RANGE
	go(XV_QPS_RESET);
	a = good;
	a.qp_state = XV_QPS_INIT;
	a.qp_access_flags = 1u << 31;
	ok(xv_modify_qp(qp, &a, (int)(PKEY | PORT | ACC | XV_QP_STATE)) == -EOPNOTSUPP,
	   "range: an unknown access flag");
	ok(xv_modify_qp(qp, &a, (int)(PKEY | PORT | XV_QP_STATE | 1u << 31)) == -EOPNOTSUPP,
	   "range: an unknown attribute");
	a = good;
	a.qp_state = XV_QPS_INIT;
	a.port_num = 9;
	ok(xv_modify_qp(qp, &a, (int)(PKEY | PORT | ACC | XV_QP_STATE)) == -ENOENT,
	   "range: port 9");
}

static void make_qp(void)
{
	struct xv_qp_init_attr init = { .qp_type = type };

	if (type != XV_QPT_XRC_RECV) {
		init.send_cq = cq;
		init.cap.max_send_wr = 8;
		init.cap.max_send_sge = 2;
	} else {
		init.xrcd = xrcd;
	}
	if (type == XV_QPT_RC || type == XV_QPT_UC || type == XV_QPT_UD) {
		init.recv_cq = cq;
		init.cap.max_recv_wr = 8;
		init.cap.max_recv_sge = 1;
	}
	qp = xv_create_qp(side.pd, &init);
	if (!qp)
		bail_out("%s: %s", type_name, xv_last_error());
}

static void test_type(enum xv_qp_type t, const char *name)
{
	bool migrates = rig_feature(side.ctx, "path-migration")->available;
	uint32_t optional = migrates ? ~0u : ~(uint32_t)(ALT | MIG);
	size_t i;

	type = t;
	type_name = name;
	make_qp();
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].types & 1u << t)
			test_rule(&rules[i], optional);
	test_invalid_transition(XV_QPS_RESET);
	test_invalid_transition(XV_QPS_INIT);
	test_invalid_transition(XV_QPS_RTR);
	test_invalid_transition(XV_QPS_RTS);
	test_invalid_transition(XV_QPS_SQD);
	test_invalid_transition(XV_QPS_ERR);
	test_query();
	if (t == XV_QPT_RC)
		test_ranges();
	if (t == XV_QPT_RC && !migrates)
		test_no_migration(rule(XV_QPS_RTR, XV_QPS_RTS)->required);
	ok(!xv_destroy_qp(qp), "%s: destroyed", name);
}

int main(int argc, char **argv)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 64 };

	rig_devices(argc, argv);
	if (xt_side_open(&side, rig_device(0), 0, -1))
		bail_out("%s", xv_last_error());
	good_values();
	cq = xv_create_cq(side.ctx, &cq_attr);
	xrcd = xv_open_xrcd(side.ctx, -1, 0);
	if (!cq || !xrcd)
		bail_out("%s", xv_last_error());
	test_type(XV_QPT_RC, "RC");
	test_type(XV_QPT_UC, "UC");
	test_type(XV_QPT_UD, "UD");
	test_type(XV_QPT_XRC_SEND, "XRC_SEND");
	test_type(XV_QPT_XRC_RECV, "XRC_RECV");
	ok(!xv_destroy_cq(cq) && !xv_close_xrcd(xrcd), "all objects can be destroyed");
	xt_side_close(&side);
	return tap_done();
}
