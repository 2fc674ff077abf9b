// SPDX-License-Identifier: GPL-2.0
/* Masked atomics: operands of all sizes, at any address, with any argument */
#include <string.h>
#include <asm/byteorder.h>
#include "atomic_model.h"
#include "model.h"

struct atomic_wqe {
	struct mlx5r_ctrl ctrl;
	struct mlx5r_raddr raddr;
	u8 rest[MLX5R_MAX_WQEBB * MLX5R_WQEBB];
};

/* What the input selects */
struct masked {
	u8 opcode;
	u32 bytes, args;		/* of the operand, of the arguments */
	u32 len;			/* of the data segment */
	struct model_seg local, remote;
};

static struct masked masked_of(const struct action *t)
{
	static const s8 off[] = { 0, 0, 0, 0, -4, -1, 1, 8 };
	struct masked m = {
		.opcode = t->masked.op & 1 ? MLX5R_OP_ATOMIC_MASKED_CS : MLX5R_OP_ATOMIC_MASKED_FA,
	};

	/* A compare-and-swap of 256 bytes does not fit into a request. */
	m.bytes = 4u << t->masked.log % (t->masked.op & 1 ? 6 : 7);
	m.args = ALIGN(m.bytes * (t->masked.op & 1 ? 4 : 2), MLX5R_DS);
	m.len = m.bytes + off[t->masked.length % ARRAY_SIZE(off)];
	m.local = model_seg(&rc[0], t->lkey, t->lkey_flaw, t->loff % (REGION_BYTES + 16),
			    MLX5R_MKEY_ACCESS_LW);
	m.remote = model_seg(&rc[1], t->rkey, t->rkey_flaw, t->roff % (REGION_BYTES + 16),
			     MLX5R_MKEY_ACCESS_A);
	/* Most requests are aligned. */
	if (t->masked.kind & 0xc0)
		m.remote.addr &= ~(u64)(m.bytes - 1);
	return m;
}

/* Random arguments; bits of @kind clear the first fields, so that values are equal. */
static void fill_args(const struct action *t, const struct masked *m, u8 *args)
{
	u64 seed = t->masked.seed | 1;
	u32 i;

	for (i = 0; i < m->args; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		args[i] = t->masked.kind >> i / m->bytes & 1 ? 0 : seed;
	}
}

static int predict_masked(const struct masked *m, const u8 *args)
{
	u8 reply[MLX5R_ATOMIC_MAX];
	u64 n = m->bytes;
	u8 *mem;

	if (m->len != m->bytes)
		return XV_WC_LOC_LEN_ERR;
	if (m->remote.addr % m->bytes)
		return XV_WC_REM_INV_REQ_ERR;
	mem = model_at(&m->remote, &n);
	/* An indirect key can split an operand or map it to an unaligned address. */
	if (!mem || n < m->bytes || (uintptr_t)mem % min(m->bytes, 8u))
		return XV_WC_REM_ACCESS_ERR;
	if (!model_allows(&m->local, m->bytes))
		return XV_WC_LOC_PROT_ERR;
	atomic_execute(m->opcode, m->bytes, args, mem, reply);
	return model_copy(m->local, model_bytes(reply), m->bytes) ? XV_WC_LOC_PROT_ERR :
								    XV_WC_SUCCESS;
}

bool perform_masked(const struct action *t)
{
	struct masked m = masked_of(t);
	u32 word = 8u + __builtin_ctz(m.bytes) - 2, ds = 3 + m.args / MLX5R_DS;
	u8 *wqe = (u8 *)__xv_sq_next(&rc[0].qp.sq);
	struct atomic_wqe w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(word << MLX5R_CTRL_OPMOD_SHIFT | m.opcode),
		.ctrl.qpn_ds = cpu_to_be32(ds),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.raddr.addr = cpu_to_be64(m.remote.addr),
		.raddr.rkey = cpu_to_be32(m.remote.key),
	};
	struct mlx5r_data data = {
		cpu_to_be32(m.len), cpu_to_be32(m.local.key), cpu_to_be64(m.local.addr),
	};
	struct hca_qp *qp = hca_qp_get(s.hca[0], rc[0].qp.qp_num);
	bool scattered;
	u8 old[64];
	struct xv_wc wc;
	int status;

	fill_args(t, &m, w.rest);
	memcpy(w.rest + m.args, &data, sizeof(data));
	xv_wr_raw(&rc[0].qp, 1, &w);
	qp->cs_req = ACTION_CS(t) * 0x11;
	scattered = model_divert(&rc[0], ACTION_CS(t), &m.local, m.bytes, old);
	status = predict_masked(&m, w.rest);
	if (!model_run(t, &rc[0], wqe))
		return false;
	qp->cs_req = 0;
	model_expect_data(&rc[0], scattered && status == XV_WC_SUCCESS ? old : NULL);
	model_expect(&rc[0], status, &wc);
	return status == XV_WC_SUCCESS;
}
