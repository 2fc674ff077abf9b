// SPDX-License-Identifier: GPL-2.0
/* Requests with calculation, and those that wait for and enable queues. */
#include <string.h>
#include <asm/byteorder.h>
#include "model.h"

#define PART_BYTES	4096u		/* of operands that the adapter combines at a time */
#define OPERAND		16u
#define OPERANDS	3u

/* ---- The model --------------------------------------------------------------------- */

static u64 load(const u8 *at, u32 bytes, bool little)
{
	u64 v = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		v |= (u64)at[little ? i : bytes - 1 - i] << 8 * i;
	return v;
}

static void store(u8 *at, u32 bytes, bool little, u64 v)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		at[little ? i : bytes - 1 - i] = v >> 8 * i;
}

static u64 float64(u8 op, u64 a, u64 b)
{
	double x, y, r;

	memcpy(&x, &a, 8);
	memcpy(&y, &b, 8);
	r = x + y;
	if (x != x || y != y || (op == MLX5R_VECTOR_ADD && r != r))
		return 0x7ff8000000000000;
	if (op != MLX5R_VECTOR_ADD) {
		bool first = x == y ? (a >> 63) > (b >> 63) : x < y;

		if (x == y && a >> 63 == b >> 63)
			return a;
		return (op == MLX5R_VECTOR_MIN) == first ? a : b;
	}
	memcpy(&a, &r, 8);
	return a;
}

static u64 float32(u8 op, u32 a, u32 b)
{
	float x, y, r;

	memcpy(&x, &a, 4);
	memcpy(&y, &b, 4);
	r = x + y;
	if (x != x || y != y || (op == MLX5R_VECTOR_ADD && r != r))
		return 0x7fc00000;
	if (op != MLX5R_VECTOR_ADD) {
		bool first = x == y ? (a >> 31) > (b >> 31) : x < y;

		if (x == y && a >> 31 == b >> 31)
			return a;
		return (op == MLX5R_VECTOR_MIN) == first ? a : b;
	}
	memcpy(&a, &r, 4);
	return a;
}

static bool is_less(u8 type, u64 a, u64 b)
{
	switch (type) {
	case MLX5R_VECTOR_INT32:
		return (s32)a < (s32)b;
	case MLX5R_VECTOR_INT64:
		return (s64)a < (s64)b;
	default:
		return a < b;
	}
}

static u64 combine(u8 op, u8 type, u64 a, u64 b)
{
	switch (op) {
	case MLX5R_VECTOR_AND:
		return a & b;
	case MLX5R_VECTOR_OR:
		return a | b;
	case MLX5R_VECTOR_XOR:
		return a ^ b;
	}
	if (type == MLX5R_VECTOR_FLOAT64)
		return float64(op, a, b);
	if (type == MLX5R_VECTOR_FLOAT32)
		return float32(op, a, b);
	if (op == MLX5R_VECTOR_ADD)
		return a + b;
	return is_less(type, a, b) == (op == MLX5R_VECTOR_MIN) ? a : b;
}

static void combine_operands(u8 opmod, u8 *a, const u8 *b)
{
	static const u8 ops[] = {
		[MLX5R_CALC_ADD] = MLX5R_VECTOR_ADD, [MLX5R_CALC_ADD_DOUBLE] = MLX5R_VECTOR_ADD,
		[MLX5R_CALC_AND] = MLX5R_VECTOR_AND, [MLX5R_CALC_OR] = MLX5R_VECTOR_OR,
		[MLX5R_CALC_XOR] = MLX5R_VECTOR_XOR,
	};
	u64 x = load(a, 8, false), y = load(b, 8, false);

	if (opmod == MLX5R_CALC_MAXLOC) {
		if (y > x || (y == x && load(b + 8, 8, false) < load(a + 8, 8, false)))
			memcpy(a, b, OPERAND);
		return;
	}
	store(a, 8, false, combine(ops[opmod], opmod == MLX5R_CALC_ADD_DOUBLE ?
				   MLX5R_VECTOR_FLOAT64 : MLX5R_VECTOR_UINT64, x, y));
}

/* ---- Vectors ------------------------------------------------------------------------ */

struct vectors {
	u8 op, type;
	bool little;
	u32 count, size;
};

static bool vectors_valid(const struct vectors *v)
{
	u32 bytes = v->type & 4 ? 8 : 4;

	return v->op >= 1 && v->op <= 6 && v->type <= 6 && v->type != 3 && v->count &&
	       v->count <= 255 && v->size && !(v->size % bytes);
}

/* The result, or the status of a failure */
static int reduce_vectors(const struct vectors *v, struct model_seg local, u8 *result)
{
	static u8 operand[PART_BYTES];
	u32 bytes = v->type & 4 ? 8 : 4, i, at;

	if (!vectors_valid(v))
		return XV_WC_LOC_QP_OP_ERR;
	if (!model_allows(&local, (u64)v->count * v->size))
		return XV_WC_LOC_PROT_ERR;
	for (i = 0; i < v->count; i++, local.addr += v->size) {
		if (model_copy(model_bytes(i ? operand : result), local, v->size))
			return XV_WC_LOC_PROT_ERR;
		for (at = 0; i && at < v->size; at += bytes)
			store(result + at, bytes, v->little,
			      combine(v->op, v->type, load(result + at, bytes, v->little),
				      load(operand + at, bytes, v->little)));
	}
	return XV_WC_SUCCESS;
}

/* One part each, so that a failure writes nothing */
static struct vectors vectors_of(const struct action *t)
{
	u32 count = t->calc.count;

	return (struct vectors) {
		.op = t->calc.op & 7, .type = t->calc.type & 7, .little = t->calc.flags & 1,
		.count = count, .size = t->len % (count ? PART_BYTES / count / 8 * 8 + 1 : 64),
	};
}

/* ---- CORE-Direct -------------------------------------------------------------------- */

static int reduce_operands(u8 opmod, const struct model_seg *local, u32 n, u8 *result)
{
	u8 operand[OPERAND];
	u32 i;

	if (!n || opmod > 6)
		return XV_WC_LOC_QP_OP_ERR;
	for (i = 0; i < n; i++)
		if (!model_allows(&local[i], OPERAND))
			return XV_WC_LOC_PROT_ERR;
	for (i = 0; i < n; i++) {
		if (model_copy(model_bytes(i ? operand : result), local[i], OPERAND))
			return XV_WC_LOC_PROT_ERR;
		if (!i && opmod != MLX5R_CALC_MAXLOC)
			memset(result + 8, 0, 8);
		if (i)
			combine_operands(opmod, result, operand);
	}
	return XV_WC_SUCCESS;
}

static int read_operand(u8 opmod, struct model_seg local, struct model_seg remote)
{
	u8 there[OPERAND], here[OPERAND];

	if (!opmod || opmod > 6)
		return XV_WC_LOC_QP_OP_ERR;
	local.access = MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW;
	if (!model_allows(&local, OPERAND))
		return XV_WC_LOC_PROT_ERR;
	if (model_copy(model_bytes(there), remote, OPERAND))
		return XV_WC_REM_ACCESS_ERR;
	local.access = MLX5R_MKEY_ACCESS_LR;
	if (model_copy(model_bytes(here), local, OPERAND))
		return XV_WC_LOC_PROT_ERR;
	if (opmod != MLX5R_CALC_MAXLOC)
		memset(here + 8, 0, 8);
	combine_operands(opmod, here, there);
	local.access = MLX5R_MKEY_ACCESS_LW;
	return model_copy(local, model_bytes(here), OPERAND) ? XV_WC_LOC_PROT_ERR : XV_WC_SUCCESS;
}

/* ---- The requests -------------------------------------------------------------------- */

struct calc_wqe {
	struct mlx5r_ctrl ctrl;
	struct mlx5r_raddr raddr;
	union {
		struct mlx5r_data operand[OPERANDS];
		struct {
			struct mlx5r_vector_calc calc;
			struct mlx5r_vector_data data;
		};
	};
};

static struct calc_wqe calc_wqe(u8 opcode, u8 opmod, u32 ds, const struct model_seg *remote)
{
	return (struct calc_wqe) {
		.ctrl.opmod_idx_opcode = cpu_to_be32((u32)opmod << MLX5R_CTRL_OPMOD_SHIFT | opcode),
		.ctrl.qpn_ds = cpu_to_be32(ds),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.raddr.addr = cpu_to_be64(remote->addr),
		.raddr.rkey = cpu_to_be32(remote->key),
	};
}

static struct model_seg calc_local(const struct action *t, u32 off)
{
	return model_seg(&rc[0], t->lkey, t->lkey_flaw, (t->loff + off) % (REGION_BYTES + 16),
			 MLX5R_MKEY_ACCESS_LR);
}

static struct model_seg calc_remote(const struct action *t, u8 access)
{
	return model_seg(&rc[1], t->rkey, t->rkey_flaw, t->roff % (REGION_BYTES + 16), access);
}

/* Runs @w; the result, if there is one, is written to @remote. */
static bool finish(const struct action *t, const struct calc_wqe *w, int status,
		   struct model_seg remote, const u8 *result, u32 size)
{
	u8 *wqe = (u8 *)__xv_sq_next(&rc[0].qp.sq);
	struct xv_wc wc;

	xv_wr_raw(&rc[0].qp, 1, w);
	if (status == XV_WC_SUCCESS && result &&
	    model_copy(remote, model_bytes((u8 *)result), size))
		status = XV_WC_REM_ACCESS_ERR;
	if (!model_run(t, &rc[0], wqe))
		return false;
	model_expect(&rc[0], status, &wc);
	return status == XV_WC_SUCCESS;
}

static bool perform_vectors(const struct action *t)
{
	struct model_seg local = calc_local(t, 0);
	struct model_seg remote = calc_remote(t, MLX5R_MKEY_ACCESS_RW);
	struct calc_wqe w = calc_wqe(MLX5R_OP_RDMA_WRITE, MLX5R_CALC_VECTOR, 5, &remote);
	struct vectors v = vectors_of(t);
	static u8 result[PART_BYTES];
	int status;

	w.calc.op[0] = v.op;
	w.calc.type = v.type;
	w.calc.flags = v.little ? MLX5R_VECTOR_LITTLE_ENDIAN : 0;
	w.calc.count = cpu_to_be16(v.count);
	w.data.byte_count = cpu_to_be32(v.size);
	w.data.lkey = cpu_to_be32(local.key);
	w.data.addr = cpu_to_be64(local.addr);
	status = reduce_vectors(&v, local, result);
	return finish(t, &w, status, remote, result, v.size);
}

static bool perform_operands(const struct action *t)
{
	u8 opmod = t->calc.op % 6 + 1;
	bool read = t->calc.flags & 2;
	u32 n = read ? 1 : t->calc.count % (OPERANDS + 1), i;
	struct model_seg remote = calc_remote(t, read ? MLX5R_MKEY_ACCESS_RR :
						 MLX5R_MKEY_ACCESS_RW);
	struct calc_wqe w = calc_wqe(read ? MLX5R_OP_RDMA_READ : MLX5R_OP_RDMA_WRITE, opmod, 2 + n,
				     &remote);
	struct model_seg local[OPERANDS];
	u8 result[OPERAND];

	for (i = 0; i < n; i++) {
		local[i] = calc_local(t, i * t->calc.type);
		w.operand[i] = (struct mlx5r_data) {
			cpu_to_be32(OPERAND), cpu_to_be32(local[i].key), cpu_to_be64(local[i].addr),
		};
	}
	if (read)
		return finish(t, &w, read_operand(opmod, local[0], remote), remote, NULL, 0);
	return finish(t, &w, reduce_operands(opmod, local, n, result), remote, result, OPERAND);
}

bool perform_calc(const struct action *t)
{
	return t->calc.flags & 4 ? perform_vectors(t) : perform_operands(t);
}

/* ---- WAIT and ENABLE: what succeeds or fails at once --------------------------------- */

bool perform_cross(const struct action *t)
{
	static const u8 ops[] = { MLX5R_OP_WAIT, MLX5R_OP_SEND_ENABLE, MLX5R_OP_RECV_ENABLE };
	u8 *wqe = (u8 *)__xv_sq_next(&rc[0].qp.sq), op = ops[t->calc.op % ARRAY_SIZE(ops)];
	bool wait = op == MLX5R_OP_WAIT, good = t->calc.flags & 1;
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait wait;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(op),
		.ctrl.qpn_ds = cpu_to_be32(2),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
	};
	struct xv_wc wc;

	/* An entry of the past: it is waited for; no queue of the model is managed. */
	w.wait.number = cpu_to_be32(wait ? rc[0].cqn ^ !good : rc[0].qp.qp_num);
	w.wait.index = cpu_to_be32(MLX5R_WAIT_INDEX_MASK);
	xv_wr_raw(&rc[0].qp, 1, &w);
	if (!model_run(t, &rc[0], wqe))
		return false;
	if (wait && !good && hca_table_get(&s.hca[0]->cqs, rc[0].cqn ^ 1))
		good = true;		/* the CQ of the other queue of the page */
	model_expect(&rc[0], wait && good ? XV_WC_SUCCESS : XV_WC_LOC_QP_OP_ERR, &wc);
	return wait && good;
}
