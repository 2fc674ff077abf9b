// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport: initiators (DCI) and targets (DCT), their messages, errors,
 * access keys, and the end of a target.
 */
#include <stdlib.h>
#include <string.h>
#include "dc.h"
#include "tap.h"

#define ALL_ACCESS (MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RR | \
		    MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A)
#define MR_BYTES	(1u << 20)
#define SMALL		64u
#define UIDX		0x123456
#define IMM		0x01020304
#define NONE		(~0u)

static struct session s;
static struct session_mr mr[2];		/* of function 0, the sender, and of function 1 */
static struct session_qp dci, owner;	/* @owner: only for the CQ of the targets */
static struct dc_srq srq;
static struct dc_target dct;

/* ---- Helpers ---------------------------------------------------------------------- */

/* The completion @back before the last one of the targets' CQ; its owner bit does not count. */
static const struct mlx5r_cqe *received(u32 back)
{
	struct hca_cq *cq = hca_table_get(&s.hca[1]->cqs, owner.cqn);

	return hca_buf_at(&cq->buf, ((cq->pi - 1 - back) & owner.cq.mask) * 64ull);
}

static u32 receptions(void)
{
	struct hca_cq *cq = hca_table_get(&s.hca[1]->cqs, owner.cqn);

	return cq->pi;
}

static struct hca_qp *target(const struct dc_target *t)
{
	return hca_dct_get(s.hca[1], t->dctn);
}

static void fill(u8 *at, u32 bytes, u8 seed)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		at[i] = i * 7 + seed;
}

/* The next status of @q; NONE: no completion, and no timer is set */
static u32 next(struct session_qp *q)
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

static struct dc_wr request(u8 opcode, u32 bytes)
{
	return (struct dc_wr) {
		.opcode = opcode, .fm_ce_se = MLX5R_CE_ALWAYS, .nsge = 1,
		.sge = { session_sge(&mr[0], 0, bytes) }, .raddr = mr[1].addr, .rkey = mr[1].key,
	};
}

static u32 run(const struct dc_wr *wr)
{
	dc_build(&dci, &dct, wr);
	xv_commit_send(&dci.qp);
	return next(&dci);
}

static u32 send(u32 bytes)
{
	struct dc_wr wr = request(MLX5R_OP_SEND, bytes);

	return run(&wr);
}

static void receive(u32 bytes)
{
	struct xv_sge sge = session_sge(&mr[1], 0, bytes);

	dc_receive(&s, &srq, &sge);
}

static void begin(void)
{
	dc_initiator(&s, 0, 6, &dci);
	session_qp(&s, 1, MLX5_QP_ST_RC, 8, 4, &owner);
	srq = dc_srq(&s, 1);
	dct = dc_target(&s, 1, &srq, owner.cqn);
	fill(mr[0].ptr, MR_BYTES, 3);
	memset(mr[1].ptr, 0, MR_BYTES);
}

static u8 destroy(const struct dc_target *t)
{
	return dc_simple(&s, 1, MLX5_CMD_OP_DRAIN_DCT, t->dctn) ||
	       dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_DCT, t->dctn);
}

static void end(void)
{
	session_qp_destroy(&dci);
	if (target(&dct))
		destroy(&dct);
	session_qp_destroy(&owner);
}

/* ---- Tests ------------------------------------------------------------------------- */

static void test_send(void)
{
	begin();
	ok(dct.dctn, "a DCT is created");
	receive(SMALL);
	tap_is(send(SMALL), XV_WC_SUCCESS, "a send succeeds");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, SMALL), "its data arrives");
	tap_is(be32_to_cpu(received(0)->srqn_uidx), UIDX, "the receiver gets the user index");
	tap_is(be32_to_cpu(received(0)->sop_drop_qpn), dct.dctn, "and the number of the DCT");
	tap_is(be32_to_cpu(received(0)->byte_cnt), SMALL, "and the length");
	receive(MR_BYTES);
	tap_is(send(MR_BYTES), XV_WC_SUCCESS, "a message that takes several turns");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, MR_BYTES), "its data arrives");
	tap_is(receptions(), 2, "each has one completion");
	ok(!target(&dct)->recv_srq && !dci.qp.sq.ci == 0, "nobody holds a receive request");
	end();
}

int main(void)
{
	session_init(&s);
	mr[0] = session_mr(&s, 0, MR_BYTES, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, MR_BYTES, ALL_ACCESS);
	test_send();
	session_free(&s);
	return tap_done();
}
