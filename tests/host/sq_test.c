// SPDX-License-Identifier: GPL-2.0
/*
 * Send queue (SQ) objects: the BlueFlame test of mlx5_core, refused requests. Commands for
 * queue pairs refuse an SQ.
 */
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define LOG_SQ	8
#define NOPS	255		/* number in the test of the driver */
#define RING_PAGES	((MLX5R_WQEBB << LOG_SQ) / HCA_PAGE_SIZE)

static struct session s;
static struct session_qp other;		/* the SQ uses its CQ */
static u64 ring, record;
static u32 sqn;

static u32 synd(const void *in, u32 inlen, u32 *number)
{
	u32 out[4] = {};

	session_cmd(&s, 0, in, inlen, out, sizeof(out));
	*number = be32_to_cpu(((__be32 *)out)[2]) & 0xffffff;
	return be32_to_cpu(((__be32 *)out)[1]);
}

struct spec {
	const char *what;
	u32 want;
	u32 cqn, uar, pd, log_size, log_stride, type, tis;
	u64 record;
};

static u32 create(const struct spec *t)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_sq_in) + RING_PAGES * 8) / 4] __aligned(8) = {};
	void *sqc = MLX5_ADDR_OF(create_sq_in, in, ctx), *wq = MLX5_ADDR_OF(sqc, sqc, wq);
	__be64 *pas = MLX5_ADDR_OF(wq, wq, pas);
	u32 i;

	MLX5_SET(create_sq_in, in, opcode, MLX5_CMD_OP_CREATE_SQ);
	MLX5_SET(sqc, sqc, flush_in_error_en, 1);
	MLX5_SET(sqc, sqc, cqn, t->cqn);
	MLX5_SET(sqc, sqc, tis_lst_sz, t->tis);
	MLX5_SET(wq, wq, wq_type, t->type);
	MLX5_SET(wq, wq, pd, t->pd);
	MLX5_SET(wq, wq, uar_page, t->uar);
	MLX5_SET64(wq, wq, dbr_addr, t->record);
	MLX5_SET(wq, wq, log_wq_stride, t->log_stride);
	MLX5_SET(wq, wq, log_wq_sz, t->log_size);
	for (i = 0; i < RING_PAGES; i++)
		pas[i] = cpu_to_be64(ring + i * HCA_PAGE_SIZE);
	return synd(in, sizeof(in), &sqn);
}

static void test_create(void)
{
	const u32 cq = other.cqn, uar = s.uar[0], pd = s.pd[0];
	const struct spec t[] = {
		{ "no CQ", HCA_SYND_CQ, 0xffff, uar, pd, LOG_SQ, 6, 1, 0, record },
		{ "no UAR", HCA_SYND_UAR, cq, 0xffff, pd, LOG_SQ, 6, 1, 0, record },
		{ "no PD", HCA_SYND_PD, cq, uar, 0xffff, LOG_SQ, 6, 1, 0, record },
		{ "too large", HCA_SYND_QP_SIZE, cq, uar, pd, 16, 6, 1, 0, record },
		{ "pages missing", HCA_SYND_PAGE_LIST, cq, uar, pd, LOG_SQ + 1, 6, 1, 0, record },
		{ "another stride", HCA_SYND_QP_SIZE, cq, uar, pd, LOG_SQ, 7, 1, 0, record },
		{ "a linked list", HCA_SYND_SQ_FIELD, cq, uar, pd, LOG_SQ, 6, 0, 0, record },
		{ "with a TIS", HCA_SYND_SQ_FIELD, cq, uar, pd, LOG_SQ, 6, 1, 1, record },
		{ "unaligned record", HCA_SYND_DOORBELL, cq, uar, pd, LOG_SQ, 6, 1, 0, record + 4 },
		{ "without a PD", HCA_OK, cq, uar, 0, LOG_SQ, 6, 1, 0, record },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		tap_is(create(&t[i]), t[i].want, "CREATE_SQ: %s", t[i].what);
}

static u32 modify(u32 number, u32 from, u32 to)
{
	u32 in[MLX5_ST_SZ_DW(modify_sq_in)] = {}, unused;

	MLX5_SET(modify_sq_in, in, opcode, MLX5_CMD_OP_MODIFY_SQ);
	MLX5_SET(modify_sq_in, in, sqn, number);
	MLX5_SET(modify_sq_in, in, sq_state, from);
	MLX5_SET(modify_sq_in, in, ctx.state, to);
	return synd(in, sizeof(in), &unused);
}

static u32 brief(u16 opcode, u32 number)
{
	u32 in[4] = {}, unused;

	MLX5_SET(destroy_qp_in, in, opcode, opcode);
	MLX5_SET(destroy_qp_in, in, qpn, number);
	return synd(in, sizeof(in), &unused);
}

static void test_modify(void)
{
	tap_is(modify(sqn, MLX5_SQC_STATE_RDY, MLX5_SQC_STATE_ERR), HCA_SYND_SQ_STATE,
	       "wrong current state: RST, not RDY");
	tap_is(modify(sqn, MLX5_SQC_STATE_RST, 2), HCA_SYND_SQ_STATE,
	       "new state 2, which does not exist");
	tap_is(modify(other.qp.qp_num, 0, MLX5_SQC_STATE_RDY), HCA_SYND_SQ, "MODIFY_SQ of a QP");
	tap_is(brief(MLX5_CMD_OP_DESTROY_SQ, other.qp.qp_num), HCA_SYND_SQ, "DESTROY_SQ of a QP");
	tap_is(brief(MLX5_CMD_OP_DESTROY_QP, sqn), HCA_SYND_QP, "DESTROY_QP of an SQ");
	tap_is(brief(MLX5_CMD_OP_2ERR_QP, sqn), HCA_SYND_QP, "2ERR of an SQ");
	tap_is(brief(MLX5_CMD_OP_DESTROY_CQ, other.cqn), HCA_SYND_CQ_BUSY,
	       "DESTROY_CQ while the SQ uses it");
	tap_is(modify(sqn, MLX5_SQC_STATE_RST, MLX5_SQC_STATE_RDY), HCA_OK, "from reset to ready");
}

/* Writes a request into the ring and returns a copy. */
static struct mlx5r_ctrl fill(u16 index, u8 opcode, u8 flags)
{
	struct mlx5r_ctrl ctrl = {
		.opmod_idx_opcode = cpu_to_be32(index << 8 | opcode),
		.qpn_ds = cpu_to_be32(sqn << 8 | 1),
		.fm_ce_se = flags,
	};
	u8 *slot = (u8 *)session_ptr(&s, ring) + (index & ((1 << LOG_SQ) - 1)) * MLX5R_WQEBB;

	memcpy(slot, &ctrl, sizeof(ctrl));
	return ctrl;
}

static void set_record(u16 index)
{
	((__be32 *)session_ptr(&s, record))[MLX5R_DBR_SND] = cpu_to_be32(index);
}

/* Writes the first @bytes of a request to one of the two BlueFlame buffers, in turn. */
static void ring_register(u16 index, const struct mlx5r_ctrl *ctrl, u32 bytes)
{
	u8 *reg = s.hca[0]->p.bar + s.uar[0] * HCA_PAGE_SIZE + MLX5R_UAR_BF;

	memcpy(reg + (index & 1) * 0x100, ctrl, bytes);
}

/* As the driver: the WQE in the register has the flag; that in the ring only if @flag. */
static void post_copied(u16 index, bool flag)
{
	struct mlx5r_ctrl ctrl = fill(index, MLX5R_OP_NOP, flag ? MLX5R_CE_ALWAYS : 0);

	set_record(index + 1);
	ctrl.fm_ce_se = MLX5R_CE_ALWAYS;
	ring_register(index, &ctrl, sizeof(ctrl));
}

static void post_rung(u16 index, u8 opcode, u8 flags)
{
	struct mlx5r_ctrl ctrl = fill(index, opcode, flags);

	set_record(index + 1);
	ring_register(index, &ctrl, 8);
	session_settle(&s);
}

static const struct mlx5r_cqe *cqe(u32 n)
{
	return (const struct mlx5r_cqe *)other.cq.buf + n;
}

/* The adapter runs after all requests: it sees the last two WQEs in the register. */
static void test_probe(void)
{
	u16 i;

	for (i = 0; i < NOPS; i++)
		post_copied(i, i == NOPS - 1);
	session_settle(&s);
	tap_is(cqe(0)->op_own >> 4, MLX5R_CQE_REQ, "one completion is there");
	tap_is(be16_to_cpu(cqe(0)->wqe_counter), NOPS - 2,
	       "it is of a NOP with the flag in the register");
	tap_is(be16_to_cpu(cqe(1)->wqe_counter), NOPS - 1, "then the completion of the last NOP");
	tap_is(cqe(2)->op_own >> 4, MLX5R_CQE_INVALID, "no other completion");
}

/* Doorbells without a WQE in the register, a WQE without an update of the record */
static void test_doorbell(void)
{
	struct mlx5r_ctrl ctrl;

	post_rung(NOPS, MLX5R_OP_NOP, 0);
	tap_is(cqe(2)->op_own >> 4, MLX5R_CQE_INVALID, "a NOP without the flag: no completion");
	post_rung(NOPS + 1, MLX5R_OP_NOP, MLX5R_CE_ALWAYS);
	tap_is(be16_to_cpu(cqe(2)->wqe_counter), NOPS + 1,
	       "a NOP with the flag in the ring: a completion");
	ctrl = fill(NOPS + 2, MLX5R_OP_NOP, MLX5R_CE_ALWAYS);
	ring_register(NOPS + 2, &ctrl, sizeof(ctrl));
	session_settle(&s);
	tap_is(cqe(3)->op_own >> 4, MLX5R_CQE_INVALID,
	       "a WQE before the update of the record waits");
	post_rung(NOPS + 2, MLX5R_OP_NOP, MLX5R_CE_ALWAYS);
	tap_is(be16_to_cpu(cqe(3)->wqe_counter), NOPS + 2, "it runs with the next doorbell");
}

static void test_error(void)
{
	const struct mlx5r_err_cqe *failed = (const void *)cqe(4), *flushed = (const void *)cqe(5);

	post_rung(NOPS + 3, MLX5R_OP_SEND, MLX5R_CE_ALWAYS);
	tap_is(failed->syndrome, MLX5R_SYND_LOCAL_QP_OP, "a send request fails");
	tap_is(failed->op_own >> 4, MLX5R_CQE_REQ_ERR, "its completion is an error");
	post_rung(NOPS + 4, MLX5R_OP_NOP, 0);
	tap_is(flushed->syndrome, MLX5R_SYND_WR_FLUSH, "the next request is flushed");
	tap_is(modify(sqn, MLX5_SQC_STATE_RDY, MLX5_SQC_STATE_ERR), HCA_SYND_SQ_STATE,
	       "wrong current state: ERR, not RDY");
	tap_is(modify(sqn, MLX5_SQC_STATE_ERR, MLX5_SQC_STATE_RST), HCA_OK, "from error to reset");
	set_record(0);
	tap_is(modify(sqn, MLX5_SQC_STATE_RST, MLX5_SQC_STATE_RDY), HCA_OK,
	       "from reset to ready again");
	post_rung(0, MLX5R_OP_NOP, MLX5R_CE_ALWAYS);
	tap_is(be16_to_cpu(cqe(6)->wqe_counter), 0, "after reset the index begins at 0");
}

static void test_overrun(void)
{
	struct hca_eq *eq = hca_table_get(&s.hca[0]->eqs, s.eqn[0]);
	const u8 *e = hca_buf_at(&eq->buf, (eq->pi & 63) * 64);

	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = eq;
	post_rung((1 << LOG_SQ) + 1, MLX5R_OP_NOP, 0);
	ok(e[1] == MLX5_EVENT_TYPE_WQ_CATAS_ERROR && e[0x34] == MLX5_EVENT_QUEUE_TYPE_SQ,
	   "a counter above the size of the ring: an event for an SQ");
	tap_is(be32_to_cpu(*(const __be32 *)(e + 0x38)), sqn, "the event has the number of the SQ");
}

static void test_destroy(void)
{
	tap_is(brief(MLX5_CMD_OP_DESTROY_SQ, sqn), HCA_OK, "DESTROY_SQ");
	tap_is(brief(MLX5_CMD_OP_DESTROY_SQ, sqn), HCA_SYND_SQ, "DESTROY_SQ of a destroyed SQ");
	session_qp_destroy(&other);
	tap_is(session_cq_destroy(&other), 0, "DESTROY_CQ without users");
}

int main(void)
{
	session_init(&s);
	session_qp(&s, 0, MLX5_QP_ST_UD, LOG_SQ - 2, 4, &other);
	ring = session_alloc(&s, RING_PAGES * HCA_PAGE_SIZE);
	record = session_alloc(&s, 64);
	test_create();
	test_modify();
	test_probe();
	test_doorbell();
	test_error();
	test_overrun();
	test_destroy();
	session_free(&s);
	return tap_done();
}
