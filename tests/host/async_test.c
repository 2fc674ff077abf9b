// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous events: each cause raises one event with the right type and number, and takes
 * the queue to the right state.
 */
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define EQ_LOG	6		/* of the session's EQs */
#define MANY	100		/* more than any queue here holds */

static struct session s;
static struct session_mr mr[2];
static struct session_qp a, b;
static u32 ci[2];		/* of the EQs: events read */

/* The session's EQs subscribe to everything but commands. */
static void subscribe(int func)
{
	struct hca_eq *eq = hca_table_get(&s.hca[func]->eqs, s.eqn[func]);
	unsigned int type;

	for (type = 1; type < ARRAY_SIZE(s.hca[func]->async_eq); type++)
		if (type != MLX5_EVENT_TYPE_CMD)
			s.hca[func]->async_eq[type] = eq;
	ci[func] = eq->pi;
}

/* The next event of a function, as type << 24 | number; 0: none */
static u32 event(int func)
{
	struct hca_eq *eq = hca_table_get(&s.hca[func]->eqs, s.eqn[func]);
	u8 *e = hca_buf_at(&eq->buf, (ci[func] & ((1 << EQ_LOG) - 1)) * 64ull);
	u32 number;

	if (ci[func] == eq->pi)
		return 0;
	eq->ci = ++ci[func];
	memcpy(&number, e + (e[1] == MLX5_EVENT_TYPE_CQ_ERROR ? 0x20 : 0x38), 4);
	return e[1] << 24 | (be32_to_cpu(number) & 0xffffff);
}

static void expect(struct session_qp *q, u8 type, u32 number)
{
	session_settle(&s);
	tap_is(event(q->func), type << 24 | number, "event %#x of %#x", type, number);
}

static u8 state(struct session_qp *q)
{
	return hca_qp_get(s.hca[q->func], q->qp.qp_num)->state;
}

static void start(const char *what)
{
	printf("# %s\n", what);
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &b);
	session_connect(&a, &b);
}

/* Checks that there is no other event, and the states of both QPs. */
static void finish(u8 state_a, u8 state_b)
{
	session_settle(&s);
	ok(!event(0) && !event(1), "no other event");
	ok(state(&a) == state_a && state(&b) == state_b, "states %u and %u", state_a, state_b);
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	session_cq_destroy(&a);
	session_cq_destroy(&b);
}

static void post_write(struct session_qp *q, u64 raddr, u32 rkey)
{
	struct xv_sge sge = session_sge(&mr[q->func], 0, 16);

	xv_wr_write(&q->qp, 1, XV_SEND_SIGNALED, &sge, raddr, rkey);
	xv_commit_send(&q->qp);
}

static void good_write(struct session_qp *q)
{
	post_write(q, mr[!q->func].addr, mr[!q->func].key);
}

static void test_records(void)
{
	start("a send record beyond the ring");
	a.qp.sq.dbrec[MLX5R_DBR_SND] = cpu_to_be32(17);
	*(__be64 *)a.qp.sq.doorbell = cpu_to_be64((u64)a.qp.qp_num << 8);
	expect(&a, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, a.qp.qp_num);
	finish(MLX5_QP_STATE_ERR, MLX5_QP_STATE_RTS);

	start("a receive record beyond the ring");
	b.qp.rq.dbrec[MLX5R_DBR_RCV] = cpu_to_be32(17);
	xv_wr_send(&a.qp, 1, XV_SEND_SIGNALED, &(struct xv_sge) {});
	xv_commit_send(&a.qp);
	expect(&b, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, b.qp.qp_num);
	while (state(&a) != MLX5_QP_STATE_ERR)
		hca_fabric_poll(&s.fabric);
	finish(MLX5_QP_STATE_ERR, MLX5_QP_STATE_ERR);
}

static void test_refused(void)
{
	struct xv_sge sge = session_sge(&mr[0], 0, 8);

	start("an invalid rkey");
	post_write(&a, mr[1].addr, mr[1].key ^ 1);
	expect(&b, MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, b.qp.qp_num);
	finish(MLX5_QP_STATE_ERR, MLX5_QP_STATE_ERR);

	start("an atomic at an odd address");
	xv_wr_atomic_fa(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 4, mr[1].key, 1);
	xv_commit_send(&a.qp);
	expect(&b, MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR, b.qp.qp_num);
	finish(MLX5_QP_STATE_ERR, MLX5_QP_STATE_ERR);
}

/* Nobody polls the CQ of the sender, which has 64 entries. */
static void test_overrun(void)
{
	int i;

	start("more completions than the CQ has room for");
	a.qp.sq.room = MANY;
	for (i = 0; i < MANY && state(&a) == MLX5_QP_STATE_RTS; i++) {
		good_write(&a);
		session_settle(&s);
	}
	tap_is(i, 65, "the 65th overruns the CQ");
	expect(&a, MLX5_EVENT_TYPE_CQ_ERROR, a.cqn);
	expect(&a, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, a.qp.qp_num);
	finish(MLX5_QP_STATE_ERR, MLX5_QP_STATE_RTS);
}

static void test_established(void)
{
	printf("# a message to a queue that is ready to receive\n");
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &b);
	session_qp_modify(&a, MLX5_CMD_OP_RST2INIT_QP, &b);
	session_qp_modify(&b, MLX5_CMD_OP_RST2INIT_QP, &a);
	session_qp_modify(&a, MLX5_CMD_OP_INIT2RTR_QP, &b);
	session_qp_modify(&b, MLX5_CMD_OP_INIT2RTR_QP, &a);
	session_qp_modify(&a, MLX5_CMD_OP_RTR2RTS_QP, &b);
	good_write(&a);
	expect(&b, MLX5_EVENT_TYPE_COMM_EST, b.qp.qp_num);
	good_write(&a);
	finish(MLX5_QP_STATE_RTS, MLX5_QP_STATE_RTR);
}

static void test_drained(void)
{
	start("a send queue that drains");
	session_qp_modify(&a, HCA_CMD_OP_RTS2SQD_QP, NULL);
	expect(&a, MLX5_EVENT_TYPE_SQ_DRAINED, a.qp.qp_num);
	good_write(&a);
	finish(MLX5_QP_STATE_SQD, MLX5_QP_STATE_RTS);
}

static void test_port(void)
{
	struct hca_eq *eq = hca_table_get(&s.hca[0]->eqs, s.eqn[0]);
	u8 subtype[2];

	printf("# a port that goes down, and comes up\n");
	hca_port_set(&s.hca[0]->port[0], false);
	subtype[0] = ((u8 *)hca_buf_at(&eq->buf, (ci[0] & ((1 << EQ_LOG) - 1)) * 64ull))[3];
	tap_is(event(0) >> 24, MLX5_EVENT_TYPE_PORT_CHANGE, "down: an event");
	hca_port_set(&s.hca[0]->port[0], true);
	subtype[1] = ((u8 *)hca_buf_at(&eq->buf, (ci[0] & ((1 << EQ_LOG) - 1)) * 64ull))[3];
	tap_is(event(0) >> 24, MLX5_EVENT_TYPE_PORT_CHANGE, "up: an event");
	hca_port_set(&s.hca[0]->port[0], true);
	tap_is(event(0), 0, "up again: no event");
	ok(subtype[0] == MLX5_PORT_CHANGE_SUBTYPE_DOWN &&
	   subtype[1] == MLX5_PORT_CHANGE_SUBTYPE_ACTIVE, "their subtypes");
}

int main(void)
{
	session_init(&s);
	mr[0] = session_mr(&s, 0, 4096, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, 4096, ALL_ACCESS);
	subscribe(0);
	subscribe(1);
	test_records();
	test_refused();
	test_overrun();
	test_established();
	test_drained();
	test_port();
	session_free(&s);
	return tap_done();
}
