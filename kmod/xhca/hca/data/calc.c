// SPDX-License-Identifier: GPL-2.0
/*
 * Calculating requests: the data of the message is the result of an operation on its operands.
 *
 * Of CORE-Direct (opmod 1 to 6): the data segments hold operands of 16 bytes one after another,
 * however they are cut.  Of an operand 8 bytes are the value.  The result is one such element;
 * its other 8 bytes are the location for max-loc, otherwise 0.  Of equal maxima the one with the
 * lowest location wins.  A READ has one operand in one segment: the element that is read is
 * combined with the one in the segment, which is replaced.  What adapters do with a READ, and
 * with more than two operands, is not documented.
 *
 * Vectors (opmod 0xff): @count vectors are combined element by element.  Sums of integers wrap;
 * softfloat.c has the rules of the others.  The chunk size, in which adapters process vectors,
 * has no effect on the result.  A coefficient matrix is not supported.
 *
 * The result of short vectors is calculated before the request is executed.  Other results are
 * calculated in parts, each when it is copied.  The adapter copies the operands of a part before
 * it combines them, so memory that changes meanwhile gives some result.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "base/softfloat.h"
#include "data/data.h"

#define ELEMENT		8u		/* bytes of the largest number; parts are multiples */

/* ---- One element ------------------------------------------------------------------- */

/* Types: bits of the numbers of enum mlx5r_vector_type */
enum {
	TYPE_UNSIGNED	= 1,
	TYPE_FLOAT	= 2,
	TYPE_64		= 4,
};

static bool hca_calc_less(u8 type, u64 a, u64 b)
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

static u64 hca_calc_float(u8 op, u8 type, u64 a, u64 b)
{
	const struct hca_float *f = type & TYPE_64 ? &hca_float64 : &hca_float32;

	switch (op) {
	case MLX5R_VECTOR_ADD:
		return hca_float_add(f, a, b);
	case MLX5R_VECTOR_MAX:
		return hca_float_max(f, a, b);
	default:
		return hca_float_min(f, a, b);
	}
}

static u64 hca_calc_element(u8 op, u8 type, u64 a, u64 b)
{
	switch (op) {
	case MLX5R_VECTOR_AND:
		return a & b;
	case MLX5R_VECTOR_OR:
		return a | b;
	case MLX5R_VECTOR_XOR:
		return a ^ b;
	}
	if (type & TYPE_FLOAT)
		return hca_calc_float(op, type, a, b);
	if (op == MLX5R_VECTOR_ADD)
		return a + b;
	return hca_calc_less(type, a, b) == (op == MLX5R_VECTOR_MIN) ? a : b;
}

/* ---- Memory ------------------------------------------------------------------------ */

/* Numbers in memory have the byte order of the request and any alignment. */
static u64 hca_calc_load(const void *at, u8 type, bool little)
{
	__le64 le64;
	__le32 le32;

	if (type & TYPE_64) {
		memcpy(&le64, at, sizeof(le64));
		return little ? le64_to_cpu(le64) : be64_to_cpu((__force __be64)le64);
	}
	memcpy(&le32, at, sizeof(le32));
	return little ? le32_to_cpu(le32) : be32_to_cpu((__force __be32)le32);
}

static void hca_calc_store(void *at, u8 type, bool little, u64 v)
{
	__le64 le64;
	__le32 le32;

	if (type & TYPE_64) {
		le64 = little ? cpu_to_le64(v) : (__force __le64)cpu_to_be64(v);
		memcpy(at, &le64, sizeof(le64));
	} else {
		le32 = little ? cpu_to_le32(v) : (__force __le32)cpu_to_be32(v);
		memcpy(at, &le32, sizeof(le32));
	}
}

/* Copies between a buffer and memory of a key, from or to it. */
static bool hca_calc_move(const struct hca_key_user *user, const struct hca_sge *sge, u64 off,
			  u8 *buf, u64 len)
{
	bool to_memory = user->access & MLX5R_MKEY_ACCESS_LW;
	struct hca_fabric *f = user->hca->fabric;
	u64 n;
	u8 *at;

	if (sge->data) {
		memcpy(buf, sge->data + off, len);
		return true;
	}
	for (; len; len -= n, off += n, buf += n) {
		n = len;
		at = hca_key_map(user, sge->lkey, sge->addr + off, &n);
		if (!at)
			return false;
		if (to_memory)
			memcpy(at, buf, n);
		else
			memcpy(buf, at, n);
		hca_charge(f, HCA_PIECES, 1);
		hca_charge(f, HCA_BYTES, n);
	}
	return true;
}

/* ---- Operations of CORE-Direct ----------------------------------------------------- */

#define OPERAND		((u32)sizeof(struct mlx5r_calc_operand))

static void hca_calc_max_location(struct mlx5r_calc_operand *a, const struct mlx5r_calc_operand *b)
{
	u64 x = be64_to_cpu(a->value), y = be64_to_cpu(b->value);

	if (y > x || (y == x && be64_to_cpu(b->location) < be64_to_cpu(a->location)))
		*a = *b;
}

/* Combines two elements into the first. */
static void hca_calc_combine(u8 opmod, struct mlx5r_calc_operand *a,
			     const struct mlx5r_calc_operand *b)
{
	static const struct {
		u8 op, type;
	} ops[] = {
		[MLX5R_CALC_ADD] = { MLX5R_VECTOR_ADD, MLX5R_VECTOR_UINT64 },
		[MLX5R_CALC_ADD_DOUBLE] = { MLX5R_VECTOR_ADD, MLX5R_VECTOR_FLOAT64 },
		[MLX5R_CALC_AND] = { MLX5R_VECTOR_AND, MLX5R_VECTOR_UINT64 },
		[MLX5R_CALC_OR] = { MLX5R_VECTOR_OR, MLX5R_VECTOR_UINT64 },
		[MLX5R_CALC_XOR] = { MLX5R_VECTOR_XOR, MLX5R_VECTOR_UINT64 },
	};

	if (opmod == MLX5R_CALC_MAXLOC) {
		hca_calc_max_location(a, b);
		return;
	}
	a->value = cpu_to_be64(hca_calc_element(ops[opmod].op, ops[opmod].type,
						be64_to_cpu(a->value), be64_to_cpu(b->value)));
	a->location = 0;
}

/* Combines @count elements into the first. */
static void hca_calc_reduce_elements(const struct hca_calc *c, struct mlx5r_calc_operand *operand,
				     u32 count)
{
	u32 i;

	if (c->opmod != MLX5R_CALC_MAXLOC)
		operand[0].location = 0;
	for (i = 1; i < count; i++)
		hca_calc_combine(c->opmod, &operand[0], &operand[i]);
}

/* ---- Vectors ----------------------------------------------------------------------- */

/* Combines the parts of @n bytes of @count vectors into the first. */
static void hca_calc_reduce_vectors(const struct hca_calc *c, u8 *part, u32 n, u32 count)
{
	u32 bytes = c->type & TYPE_64 ? 8 : 4, at, i;

	for (i = 1; i < count; i++)
		for (at = 0; at < n; at += bytes) {
			u64 a = hca_calc_load(part + at, c->type, c->little);
			u64 b = hca_calc_load(part + i * n + at, c->type, c->little);

			hca_calc_store(part + at, c->type, c->little,
				       hca_calc_element(c->op, c->type, a, b));
		}
}

/*
 * The vectors are contiguous.  If together they are not longer than a part of one operand, the
 * adapter reads them in one step.
 */
static bool hca_calc_is_short(const struct hca_calc *c)
{
	return c->opmod == MLX5R_CALC_VECTOR && (u64)c->size * c->count <= HCA_CALC_PART;
}

static bool hca_calc_short(const struct hca_key_user *user, struct hca_calc *c)
{
	u8 *all = user->hca->fabric->scratch->calc;

	if (!hca_calc_move(user, &c->sge[0], 0, all, c->size * c->count))
		return false;
	hca_calc_reduce_vectors(c, all, c->size, c->count);
	c->ready = c->size;
	return true;
}

/* ---- A part of the result ---------------------------------------------------------- */

/* Copies @len bytes at the offset @off of all segments together. */
static bool hca_calc_gather(const struct hca_key_user *user, const struct hca_calc *c, u64 off,
			    u8 *buf, u32 len)
{
	u64 n;
	u32 i;

	for (i = 0; i < c->nsge && len; i++) {
		if (off >= c->sge[i].len) {
			off -= c->sge[i].len;
			continue;
		}
		n = min_t(u64, len, c->sge[i].len - off);
		if (!hca_calc_move(user, &c->sge[i], off, buf, n))
			return false;
		buf += n;
		len -= n;
		off = 0;
	}
	return true;
}

static void hca_calc_reduce(const struct hca_calc *c, u8 *part, u32 n, u32 count)
{
	if (c->opmod == MLX5R_CALC_VECTOR)
		hca_calc_reduce_vectors(c, part, n, count);
	else
		hca_calc_reduce_elements(c, (struct mlx5r_calc_operand *)part, count);
}

/* Bytes of each operand that are combined at a time; if it takes several turns, one element */
static u32 hca_calc_part_bytes(const struct hca_calc *c, u64 at)
{
	u32 n;

	if (c->opmod != MLX5R_CALC_VECTOR)
		return OPERAND;
	n = c->progress->next ? ELEMENT :
	    min_t(u32, HCA_CALC_PART, rounddown(HCA_CALC_BYTES / c->count, ELEMENT));
	return min_t(u64, n, c->size - at);
}

/* Keeps the first element of the sum of the operands before @next. */
static void hca_calc_keep(struct hca_calc *c, u64 at, const u8 *part, u32 n, u32 next)
{
	struct hca_calc_progress *p = c->progress;

	p->at = at;
	p->next = next;
	memcpy(p->sum, part, min_t(u32, n, c->opmod == MLX5R_CALC_VECTOR ? ELEMENT : OPERAND));
	c->again = true;
}

/* Calculates the part that begins at @at; false if a key fails or the turn is over. */
static bool hca_calc_part(const struct hca_key_user *user, struct hca_calc *c, u64 at)
{
	struct hca_fabric *f = user->hca->fabric;
	struct hca_calc_progress *p = c->progress;
	u64 start = f->turn.units;
	u8 *part = f->scratch->calc;
	u32 n, i, count = 0;

	if (p->at != at)
		p->next = 0;
	n = hca_calc_part_bytes(c, at);
	if (p->next)
		memcpy(part + n * count++, p->sum, n);
	for (i = p->next; i < c->count; i++) {
		if (count > 1 && f->turn.units - start >= HCA_CALC_UNITS) {
			hca_calc_reduce(c, part, n, count);
			hca_calc_keep(c, at, part, n, i);
			return false;
		}
		if ((count + 1) * n > HCA_CALC_BYTES) {
			hca_calc_reduce(c, part, n, count);
			count = 1;
		}
		if (!hca_calc_gather(user, c, (u64)i * c->size + at, part + n * count++, n))
			return false;
	}
	hca_calc_reduce(c, part, n, count);
	p->next = 0;
	c->at = at;
	c->ready = n;
	return true;
}

/* An element of CORE-Direct is one part, also if a turn has copied its first word. */
static u64 hca_calc_part_at(const struct hca_calc *c, u64 off)
{
	return c->opmod == MLX5R_CALC_VECTOR ? rounddown(off, ELEMENT) : 0;
}

void *hca_calc_map(const struct hca_key_user *user, struct hca_calc *c, u64 off, u64 *len)
{
	if (off < c->at || off >= c->at + c->ready)
		if (!hca_calc_part(user, c, hca_calc_part_at(c, off)))
			return NULL;
	*len = min(*len, c->at + c->ready - off);
	return user->hca->fabric->scratch->calc + (off - c->at);
}

/* ---- The request ------------------------------------------------------------------- */

/* Operands in the segments, or 0 if the last one is not whole or they are too many */
static u32 hca_calc_operands(const struct hca_calc *c)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < c->nsge; i++)
		bytes += c->sge[i].len;
	return bytes % OPERAND || bytes > HCA_CALC_MESSAGE ? 0 : bytes / OPERAND;
}

static bool hca_calc_format_ok(const struct hca_calc *c)
{
	if (c->opmod == MLX5R_CALC_VECTOR)
		return c->op && c->op <= MLX5R_VECTOR_MIN && c->type <= MLX5R_VECTOR_FLOAT64 &&
		       (c->type & ~TYPE_64) != (TYPE_FLOAT | TYPE_UNSIGNED) && c->count &&
		       c->count <= HCA_CALC_VECTORS && c->size &&
		       !(c->size % (c->type & TYPE_64 ? 8 : 4));
	return c->count;
}

static struct hca_key_user hca_calc_user(const struct hca_qp *qp, u8 access)
{
	return (struct hca_key_user) {
		.hca = qp->hca, .pd = qp->pd, .qpn = qp->qpn, .access = access,
	};
}

static bool hca_calc_access_ok(const struct hca_key_user *user, const struct hca_calc *c)
{
	u32 i;

	for (i = 0; i < c->nsge; i++)
		if (!c->sge[i].data &&
		    !hca_key_check(user, c->sge[i].lkey, c->sge[i].addr, c->sge[i].len))
			return false;
	return true;
}

noinline int hca_calc_begin(struct hca_qp *qp, struct hca_wqe *w)
{
	struct hca_key_user user = hca_calc_user(qp, MLX5R_MKEY_ACCESS_LR);
	bool read = w->opcode == MLX5R_OP_RDMA_READ;
	struct hca_calc *c = &w->calc;

	c->nsge = 1;
	if (c->opmod != MLX5R_CALC_VECTOR) {
		c->nsge = w->nsge;
		c->size = OPERAND;
		memcpy(c->sge, w->sge, w->nsge * sizeof(*w->sge));
		c->count = hca_calc_operands(c);
	}
	if (!hca_calc_format_ok(c) ||
	    (read && (c->count != 1 || c->nsge != 1 || c->sge[0].data)))
		return MLX5R_SYND_LOCAL_QP_OP;
	if (read)
		user.access |= MLX5R_MKEY_ACCESS_LW;
	c->at = 0;
	c->ready = 0;
	if (!(hca_calc_is_short(c) ? hca_calc_short(&user, c) : hca_calc_access_ok(&user, c)))
		return MLX5R_SYND_LOCAL_PROT;
	c->again = false;
	c->progress = &qp->calc;
	/* A READ stores its data in the QP; otherwise hca_calc_map() returns the data. */
	w->sge[0] = (struct hca_sge) { .len = c->size, .data = qp->calc_read };
	w->nsge = 1;
	w->length = c->size;
	return 0;
}

noinline int hca_calc_end(struct hca_qp *qp, struct hca_wqe *w)
{
	struct hca_key_user reader = hca_calc_user(qp, MLX5R_MKEY_ACCESS_LR);
	struct hca_key_user writer = hca_calc_user(qp, MLX5R_MKEY_ACCESS_LW);
	struct mlx5r_calc_operand operand[2];
	struct hca_calc *c = &w->calc;

	if (w->opcode != MLX5R_OP_RDMA_READ)
		return 0;
	memcpy(&operand[1], qp->calc_read, OPERAND);
	if (!hca_calc_move(&reader, &c->sge[0], 0, (u8 *)&operand[0], OPERAND))
		return MLX5R_SYND_LOCAL_PROT;
	c->count = ARRAY_SIZE(operand);
	hca_calc_reduce_elements(c, operand, c->count);
	if (!hca_calc_move(&writer, &c->sge[0], 0, (u8 *)&operand[0], OPERAND))
		return MLX5R_SYND_LOCAL_PROT;
	return 0;
}

#undef ELEMENT
#undef OPERAND
