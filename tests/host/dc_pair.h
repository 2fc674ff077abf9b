/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An initiator (DCI) of function 0 and a target (DCT) of function 1, as the tests of the
 * dynamically connected transport use them.
 */
#ifndef DC_PAIR_H
#define DC_PAIR_H

#include <stdlib.h>
#include "dc.h"
#include "tap.h"

#define MR_BYTES	(16u << 20)
#define LONG		(1u << 20)	/* takes several turns */
#define SMALL		64u
#define IMM		0x01020304u
#define NONE		(~0u)

static struct session s;
static struct session_mr mr[2];		/* of function 0, the sender, and of function 1 */
static struct session_qp dci, owner;	/* @owner: only for the CQ of the targets */
static struct dc_srq srq;
static struct dc_target dct;
static u32 events_read;

static inline struct hca_cq *target_cq(void)
{
	return hca_table_get(&s.hca[1]->cqs, owner.cqn);
}

/* Completion @i of the targets */
static inline const struct mlx5r_cqe *completion(u32 i)
{
	return hca_buf_at(&target_cq()->buf, (i & owner.cq.mask) * 64ull);
}

static inline u32 receptions(void)
{
	return target_cq()->pi;
}

/* Opcode << 8 | syndrome of the last completion of the targets; taken from the CQ */
static inline u32 received(void)
{
	const struct mlx5r_err_cqe *e = (const void *)completion(receptions() - 1);
	u8 op = e->op_own >> 4;

	return op << 8 | (op == MLX5R_CQE_RESP_ERR ? e->syndrome : 0);
}

static inline struct hca_qp *target(const struct dc_target *t)
{
	return hca_dct_get(s.hca[1], t->dctn);
}

static inline struct hca_qp *source(void)
{
	return hca_qp_get(s.hca[0], dci.qp.qp_num);
}

static inline void fill(u8 *at, u32 bytes, u32 seed)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		at[i] = (i * 2654435761u + seed) >> 13;
}

/* The EQ of function 1 gets all asynchronous events but those of commands. */
static inline void subscribe(void)
{
	struct hca_eq *eq = hca_table_get(&s.hca[1]->eqs, s.eqn[1]);
	unsigned int type;

	for (type = 1; type < ARRAY_SIZE(s.hca[1]->async_eq); type++)
		if (type != MLX5_EVENT_TYPE_CMD)
			s.hca[1]->async_eq[type] = eq;
}

/* The next event of function 1, as type << 24 | number; 0: none */
static inline u32 event(void)
{
	struct hca_eq *eq = hca_table_get(&s.hca[1]->eqs, s.eqn[1]);
	u8 *e = hca_buf_at(&eq->buf, (events_read & 63) * 64ull);
	__be32 number;

	if (events_read == eq->pi)
		return 0;
	eq->ci = ++events_read;
	memcpy(&number, e + 0x38, sizeof(number));
	return e[1] << 24 | (be32_to_cpu(number) & 0xffffff);
}

static inline u32 event_of_dct(u8 type)
{
	return type << 24 | dct.dctn;
}

/* The next status of @q; NONE: no completion, and no timer is set */
static inline u32 next(struct session_qp *q)
{
	struct xv_wc wc;
	int idle = 0;

	while (idle < 1000) {
		if (xv_poll_cq(&q->cq, 1, &wc))
			return wc.status;
		idle = hca_fabric_poll(&s.fabric) ||
		       hca_fabric_deadline(&s.fabric) != U64_MAX ? 0 : idle + 1;
	}
	return NONE;
}

static inline struct dc_wr request(u8 opcode, u32 bytes)
{
	return (struct dc_wr) {
		.opcode = opcode, .fm_ce_se = MLX5R_CE_ALWAYS, .nsge = !!bytes,
		.sge = { session_sge(&mr[0], 0, bytes) }, .raddr = mr[1].addr, .rkey = mr[1].key,
		.imm = cpu_to_be32(IMM),
	};
}

static inline void post(const struct dc_wr *wr)
{
	if (dc_build(&dci, &dct, wr))
		ok(0, "the send queue has room");
	xv_commit_send(&dci.qp);
}

static inline u32 run(const struct dc_wr *wr)
{
	post(wr);
	return next(&dci);
}

static inline u32 run_simple(u8 opcode, u32 bytes)
{
	struct dc_wr wr = request(opcode, bytes);

	return run(&wr);
}

static inline void receive(u32 bytes)
{
	struct xv_sge sge = session_sge(&mr[1], 0, bytes);

	dc_receive(&s, &srq, &sge);
}

/* Runs the adapter until a part of a message has been executed. */
static inline void run_first_turn(void)
{
	while (!source()->in_message)
		hca_fabric_poll(&s.fabric);
}

static inline void begin(const char *what)
{
	printf("# %s\n", what);
	dc_initiator(&s, 0, 6, &dci);
	session_qp(&s, 1, MLX5_QP_ST_RC, 8, 4, &owner);
	srq = dc_srq(&s, 1);
	dct = dc_target(&s, 1, &srq, owner.cqn);
	fill(mr[0].ptr, LONG, 1);
	memset(mr[1].ptr, 0, LONG);
}

static inline u8 destroy(const struct dc_target *t)
{
	return dc_simple(&s, 1, MLX5_CMD_OP_DRAIN_DCT, t->dctn) ||
	       dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_DCT, t->dctn);
}

static inline void end(void)
{
	if (target(&dct))
		tap_is(destroy(&dct), 0, "the DCT is destroyed");
	session_qp_destroy(&dci);
	session_qp_destroy(&owner);
	while (event())
		;
}

/* The DCI has failed: after RESET it sends again, and the DCT still receives. */
static inline void reuse(void)
{
	tap_is(source()->state, MLX5_QP_STATE_ERR, "the DCI is in ERR");
	ok(!source()->target && !source()->recv_srq, "it holds nothing of the DCT");
	tap_is(session_qp_modify(&dci, MLX5_CMD_OP_2RST_QP, NULL), 0, "RESET");
	dci.qp.sq.pi = dci.qp.sq.ci = 0;
	dci.qp.sq.limit = 0;
	dci.qp.sq.dbrec[MLX5R_DBR_SND] = 0;
	session_connect(&dci, &dci);
	receive(SMALL);
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_SUCCESS, "then the DCI sends again");
	tap_is(received(), MLX5R_CQE_RESP_SEND << 8, "and the DCT receives");
}

/* The session begins; each function has a region of @bytes. */
static inline void start(u32 bytes)
{
	mr[0] = session_mr(&s, 0, bytes, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, bytes, ALL_ACCESS);
	subscribe();
}

#endif
