// SPDX-License-Identifier: GPL-2.0
/*
 * Requests with calculation: all operations, types and byte orders against a model that uses
 * the FPU; the limits of the formats; errors.
 */
#include <math.h>
#include <stdlib.h>
#include "cmd/cmd.h"
#include "base/softfloat.h"
#include "data/data.h"
#include "random.h"
#include "session.h"
#include "tap.h"
#include "xchan.h"

#define BYTES		(512u << 10)
#define CORE_OPS	7u		/* MLX5R_CALC_ADD to MLX5R_CALC_XOR, from 1 */
#define VECTOR_OPS	7u		/* MLX5R_VECTOR_ADD to MLX5R_VECTOR_MIN, from 1 */

static struct session_mr from, to;
static struct pair p;

/* ---- Floating-point numbers ---------------------------------------------------------- */

static const u64 edges64[] = {
	0, 1, 2, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001, 0x001fffffffffffff,
	0x3ff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff, 0x3ca0000000000000,
	0x3cb0000000000000, 0x3c90000000000000, 0x4340000000000000, 0x4330000000000001,
	0x7fe0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff0000000000001,
	0x7ff8000000000000, 0x7fffffffffffffff, 0x7c90000000000000, 0x7c80000000000001,
};
static const u32 edges32[] = {
	0, 1, 2, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x3f800000, 0x3f800001,
	0x3f7fffff, 0x33800000, 0x34000000, 0x33000000, 0x4b800000, 0x4b000001, 0x7f000000,
	0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x73000000, 0x72800001,
};

static u64 bits_of_double(double d)
{
	u64 v;

	memcpy(&v, &d, sizeof(v));
	return isnan(d) ? 0x7ff8000000000000 : v;
}

static u32 bits_of_float(float f)
{
	u32 v;

	memcpy(&v, &f, sizeof(v));
	return isnan(f) ? 0x7fc00000 : v;
}

static u64 model_double(u8 op, u64 x, u64 y)
{
	double a, b;

	memcpy(&a, &x, sizeof(a));
	memcpy(&b, &y, sizeof(b));
	if (op == MLX5R_VECTOR_ADD || isnan(a) || isnan(b))
		return bits_of_double(a + b);
	if (a == b)		/* zeros of both signs */
		return (op == MLX5R_VECTOR_MIN) == !!signbit(a) ? x : y;
	return (op == MLX5R_VECTOR_MIN) == (a < b) ? x : y;
}

static u32 model_float(u8 op, u32 x, u32 y)
{
	float a, b;

	memcpy(&a, &x, sizeof(a));
	memcpy(&b, &y, sizeof(b));
	if (op == MLX5R_VECTOR_ADD || isnan(a) || isnan(b))
		return bits_of_float(a + b);
	if (a == b)
		return (op == MLX5R_VECTOR_MIN) == !!signbit(a) ? x : y;
	return (op == MLX5R_VECTOR_MIN) == (a < b) ? x : y;
}

static u64 soft(const struct hca_float *f, u8 op, u64 a, u64 b)
{
	if (op == MLX5R_VECTOR_ADD)
		return hca_float_add(f, a, b);
	return op == MLX5R_VECTOR_MIN ? hca_float_min(f, a, b) : hca_float_max(f, a, b);
}

static const u8 float_ops[] = { MLX5R_VECTOR_ADD, MLX5R_VECTOR_MIN, MLX5R_VECTOR_MAX };

static u32 differences(u64 a, u64 b)
{
	u32 n = 0, i;

	for (i = 0; i < ARRAY_SIZE(float_ops); i++) {
		u8 op = float_ops[i];
		u64 got = soft(&hca_float64, op, a, b), want = model_double(op, a, b);
		u32 got32 = soft(&hca_float32, op, (u32)a, (u32)b);
		u32 want32 = model_float(op, a, b);

		if (got != want)
			diag("op %u: %#llx, %#llx: %#llx, not %#llx", op, (unsigned long long)a,
			     (unsigned long long)b, (unsigned long long)got,
			     (unsigned long long)want);
		if (got32 != want32)
			diag("op %u: %#x, %#x: %#x, not %#x", op, (u32)a, (u32)b, got32, want32);
		n += (got != want) + (got32 != want32);
	}
	return n;
}

#define SIGN64	(1ull << 63)
#define SIGN32	(1ull << 31)

static u64 edge(u32 i)
{
	u64 high = edges64[i / 2] | (i & 1 ? SIGN64 : 0);

	return high;
}

static void test_edges(void)
{
	u32 n64 = 2 * ARRAY_SIZE(edges64), n32 = 2 * ARRAY_SIZE(edges32), i, j, wrong = 0;

	for (i = 0; i < n64; i++)
		for (j = 0; j < n64; j++)
			wrong += differences(edge(i), edge(j));
	for (i = 0; i < n32; i++)
		for (j = 0; j < n32; j++)
			wrong += differences(edges32[i / 2] | (i & 1 ? SIGN32 : 0),
					     edges32[j / 2] | (j & 1 ? SIGN32 : 0));
	tap_is(wrong, 0, "sums, minima and maxima of %u special numbers", n64 + n32);
}

/* Exponents that are close, so that digits are lost in all ways */
static u64 near(u64 a)
{
	u64 e64 = ((a >> 52 & 0x7ff) + random64() % 120 - 60) & 0x7ff;
	u64 e32 = ((a >> 23 & 0xff) + random64() % 60 - 30) & 0xff, v = random64();

	v = (v & ~(0x7ffull << 52)) | e64 << 52;
	return (v & ~(0xffull << 23)) | e32 << 23;
}

static void test_random(void)
{
	u32 i, wrong = 0;

	for (i = 0; i < 1000000 && wrong < 10; i++) {
		u64 a = random64();

		wrong += differences(a, i & 1 ? near(a) : random64());
		wrong += differences(a, a ^ SIGN64 ^ SIGN32 ^ (random64() & 7));
	}
	tap_is(wrong, 0, "sums, minima and maxima of random numbers");
}

/* ---- Posting ------------------------------------------------------------------------- */

struct core_wqe {
	struct mlx5r_ctrl ctrl;
	struct mlx5r_raddr raddr;
	struct mlx5r_data data[4];
};

struct vector_wqe {
	struct mlx5r_ctrl ctrl;
	struct mlx5r_raddr raddr;
	struct mlx5r_vector_calc calc;
	struct mlx5r_vector_data data;
};

static bool has_raddr(u8 opcode)
{
	return opcode != MLX5R_OP_SEND && opcode != MLX5R_OP_SEND_IMM;
}

static void receive(void)
{
	struct xv_sge sge = session_sge(&to, 0, BYTES);

	xv_wr_recv(&p.peer.qp, 2, &sge);
	xv_commit_recv(&p.peer.qp);
}

/* Posts @wqe, which has @bytes after the raddr segment, and returns the status. */
static u32 run(u8 opcode, u8 opmod, void *wqe, u32 bytes)
{
	struct core_wqe *w = wqe;
	u32 status;

	w->ctrl = xchan_wqe(opcode, opmod, 1 + has_raddr(opcode) + bytes / MLX5R_DS).ctrl;
	w->raddr.addr = cpu_to_be64(to.addr);
	w->raddr.rkey = cpu_to_be32(to.key);
	if (!has_raddr(opcode))
		memmove(&w->raddr, &w->raddr + 1, bytes);
	if (!has_raddr(opcode) || opcode == MLX5R_OP_RDMA_WRITE_IMM)
		receive();
	if (xv_wr_raw(&p.q.qp, 1, w))
		return NO_COMPLETION;
	go(&p.q);
	status = xchan_status(&p.q);
	xchan_status(&p.peer);
	return status;
}

/* @n operands of 16 bytes, one after another in memory */
static u32 run_core(u8 opcode, u8 opmod, u32 n)
{
	struct core_wqe w = {};
	u32 i;

	for (i = 0; i < n; i++)
		w.data[i] = (struct mlx5r_data) {
			.byte_count = cpu_to_be32(16), .lkey = cpu_to_be32(from.key),
			.addr = cpu_to_be64(from.addr + 16 * i),
		};
	return run(opcode, opmod, &w, n * sizeof(w.data[0]));
}

struct vectors {
	u8 opcode, op, type;
	bool little;
	u32 count, size, off;		/* off: of the first vector in memory */
};

/* Each request has another chunk size, which changes nothing. */
static struct vector_wqe vector_wqe(const struct vectors *v)
{
	static u8 chunk;

	return (struct vector_wqe) {
		.calc = {
			.op = { v->op },
			.type = v->type,
			.flags = (v->little ? MLX5R_VECTOR_LITTLE_ENDIAN : 0) |
				 (chunk++ & MLX5R_VECTOR_CHUNK_MASK),
			.count = cpu_to_be16(v->count),
		},
		.data = {
			.byte_count = cpu_to_be32(v->size),
			.lkey = cpu_to_be32(from.key),
			.addr = cpu_to_be64(from.addr + v->off),
		},
	};
}

static u32 run_vectors(const struct vectors *v)
{
	struct vector_wqe w = vector_wqe(v);

	return run(v->opcode, MLX5R_CALC_VECTOR, &w, sizeof(w.calc) + sizeof(w.data));
}

static void fill(u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i += 8) {
		u64 v = random64() % 4 ? random64() : edges64[random64() % ARRAY_SIZE(edges64)];

		memcpy(from.ptr + i, &v, 8);
	}
	memset(to.ptr, 0xee, bytes);
}

/* ---- The model of elements ----------------------------------------------------------- */

static u64 model_integer(u8 op, u8 type, u64 a, u64 b)
{
	bool less = type == MLX5R_VECTOR_INT32 ? (s32)a < (s32)b :
		    type == MLX5R_VECTOR_INT64 ? (s64)a < (s64)b : a < b;

	switch (op) {
	case MLX5R_VECTOR_ADD:
		return a + b;
	case MLX5R_VECTOR_MIN:
		return less ? a : b;
	default:
		return less ? b : a;
	}
}

static u64 model(u8 op, u8 type, u64 a, u64 b)
{
	if (op == MLX5R_VECTOR_AND)
		return a & b;
	if (op == MLX5R_VECTOR_OR)
		return a | b;
	if (op == MLX5R_VECTOR_XOR)
		return a ^ b;
	if (type == MLX5R_VECTOR_FLOAT32)
		return model_float(op, a, b);
	if (type == MLX5R_VECTOR_FLOAT64)
		return model_double(op, a, b);
	return model_integer(op, type, a, b);
}

static u64 get(const u8 *at, u32 bytes, bool little)
{
	u64 v = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		v |= (u64)at[little ? i : bytes - 1 - i] << 8 * i;
	return v;
}

static u32 wrong_elements(const struct vectors *v)
{
	u32 bytes = v->type & 4 ? 8 : 4, i, k, wrong = 0;
	const u8 *at = from.ptr + v->off;

	for (i = 0; i < v->size; i += bytes) {
		u64 want = get(at + i, bytes, v->little);

		for (k = 1; k < v->count; k++)
			want = model(v->op, v->type, want,
				     get(at + k * v->size + i, bytes, v->little));
		if (bytes == 4)
			want = (u32)want;
		wrong += get(to.ptr + i, bytes, v->little) != want;
	}
	for (i = v->size; i < v->size + 64; i++)
		wrong += to.ptr[i] != 0xee;
	return wrong;
}

/* ---- Vectors ------------------------------------------------------------------------- */

static const u8 types[] = {
	MLX5R_VECTOR_INT32, MLX5R_VECTOR_UINT32, MLX5R_VECTOR_FLOAT32,
	MLX5R_VECTOR_INT64, MLX5R_VECTOR_UINT64, MLX5R_VECTOR_FLOAT64,
};
static const u8 vector_opcodes[] = {
	MLX5R_OP_SEND, MLX5R_OP_RDMA_WRITE, MLX5R_OP_RDMA_WRITE_IMM,
};

static void test_vectors(void)
{
	static const struct {
		u32 count, size, off;
	} shapes[] = {
		{ 2, 8, 0 }, { 8, 8, 3 }, { 9, 8, 4090 }, { 1, 64, 0 }, { 3, 1000, 5 },
		{ 255, 40, 1 }, { 7, 4088, 4093 }, { 2, 131072, 3 },
	};
	u32 i, k, op, wrong = 0, failed = 0, n = 0;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		for (op = 1; op < VECTOR_OPS; op++)
			for (k = 0; k < 2 * ARRAY_SIZE(types); k++, n++) {
				struct vectors v = {
					vector_opcodes[n % ARRAY_SIZE(vector_opcodes)], op,
					types[k / 2], k & 1, shapes[i].count, shapes[i].size,
					shapes[i].off,
				};

				fill(shapes[i].count * shapes[i].size + 8192);
				failed += run_vectors(&v) != XV_WC_SUCCESS;
				wrong += wrong_elements(&v);
			}
	tap_is(failed, 0, "%u calculations with vectors", n);
	tap_is(wrong, 0, "all elements of the results, and no byte behind them");
}

static u32 byte_key(u32 n)
{
	struct mlx5r_klm *klm = calloc(n, sizeof(*klm));
	u32 key = session_umr_key(&s, 0, MLX5R_MKEY_MODE_KLM, n), i;
	struct hca_mkey *k = hca_mkey_get(s.hca[0], key);

	for (i = 0; i < n; i++)
		klm[i] = (struct mlx5r_klm) {
			.byte_count = cpu_to_be32(1), .mkey = cpu_to_be32(from.key),
			.addr = cpu_to_be64(from.addr + i),
		};
	hca_mkey_set_klms(k, 0, n, klm, true);
	k->free = false;
	k->len = n;
	k->access = ALL_ACCESS;
	free(klm);
	return key;
}

/* Vectors in a key whose every byte is a piece: many turns, each within its limits */
static void test_pieces(void)
{
	struct vectors v = { MLX5R_OP_RDMA_WRITE, MLX5R_VECTOR_ADD, MLX5R_VECTOR_FLOAT64, true,
			     255, 120, 0 };
	struct vector_wqe w = vector_wqe(&v);
	u32 key = byte_key(255 * 120), status, before;

	fill(64 << 10);
	w.data.lkey = cpu_to_be32(key);
	w.data.addr = 0;
	before = s.fabric.stat.polls;
	memset(s.fabric.stat.largest, 0, sizeof(s.fabric.stat.largest));
	status = run(v.opcode, MLX5R_CALC_VECTOR, &w, sizeof(w.calc) + sizeof(w.data));
	tap_is(status, XV_WC_SUCCESS, "255 vectors, of which each byte is a piece");
	tap_is(wrong_elements(&v), 0, "the result of 255 vectors in pieces");
	ok(session_turns_bounded(&s) && s.fabric.stat.polls > before,
	   "no turn is larger than a turn may be");
	session_key_destroy(&s, 0, key);
}

/* A queue pair is reset while a calculation has a part of its result. */
static void test_reset_in_part(void)
{
	struct vectors v = { MLX5R_OP_RDMA_WRITE, MLX5R_VECTOR_ADD, MLX5R_VECTOR_FLOAT64, true,
			     255, 120, 0 };
	struct vector_wqe w = vector_wqe(&v);
	u32 key = byte_key(255 * 120), passes = 0;
	struct hca_qp *qp = xchan_hw(&p.q);

	w.data.lkey = cpu_to_be32(key);
	w.data.addr = 0;
	w.ctrl = xchan_wqe(v.opcode, MLX5R_CALC_VECTOR,
			   2 + (sizeof(w.calc) + sizeof(w.data)) / MLX5R_DS).ctrl;
	w.raddr.addr = cpu_to_be64(to.addr);
	w.raddr.rkey = cpu_to_be32(to.key);
	xv_wr_raw(&p.q.qp, 1, &w);
	xv_commit_send(&p.q.qp);
	while (!qp->calc.next && passes++ < 1000)
		hca_fabric_poll(&s.fabric);
	ok(qp->calc.next && qp->in_message, "a calculation takes several turns");
	hca_qp_enter(qp, MLX5_QP_STATE_RST);
	tap_is(qp->calc.next, 0, "no part of it is left after RESET");
	session_key_destroy(&s, 0, key);
}

/* ---- CORE-Direct --------------------------------------------------------------------- */

static struct mlx5r_calc_operand *operand(u8 *at, u32 i)
{
	return (struct mlx5r_calc_operand *)at + i;
}

static struct mlx5r_calc_operand model_core(u8 op, struct mlx5r_calc_operand a,
					    struct mlx5r_calc_operand b)
{
	u64 x = be64_to_cpu(a.value), y = be64_to_cpu(b.value);
	static const u8 plain[] = {
		[MLX5R_CALC_ADD] = MLX5R_VECTOR_ADD, [MLX5R_CALC_ADD_DOUBLE] = MLX5R_VECTOR_ADD,
		[MLX5R_CALC_AND] = MLX5R_VECTOR_AND, [MLX5R_CALC_OR] = MLX5R_VECTOR_OR,
		[MLX5R_CALC_XOR] = MLX5R_VECTOR_XOR,
	};

	if (op == MLX5R_CALC_MAXLOC)
		return x != y ? x > y ? a : b :
		       be64_to_cpu(a.location) <= be64_to_cpu(b.location) ? a : b;
	return (struct mlx5r_calc_operand) {
		.value = cpu_to_be64(model(plain[op], op == MLX5R_CALC_ADD_DOUBLE ?
					   MLX5R_VECTOR_FLOAT64 : MLX5R_VECTOR_UINT64, x, y)),
	};
}

static void test_core(void)
{
	u32 op, n, i, round, failed = 0, wrong = 0;

	for (round = 0; round < 20; round++)
		for (op = 1; op < CORE_OPS; op++)
			for (n = 2; n <= 4; n++) {
				u8 opcode = vector_opcodes[(round + n) % 3];
				struct mlx5r_calc_operand want;

				fill(4096);
				if (round % 2)
					operand(from.ptr, 1)->value = operand(from.ptr, 0)->value;
				want = *operand(from.ptr, 0);
				for (i = 1; i < n; i++)
					want = model_core(op, want, *operand(from.ptr, i));
				failed += run_core(opcode, op, n) != XV_WC_SUCCESS;
				wrong += memcmp(&want, to.ptr, 16) != 0 || to.ptr[16] != 0xee;
			}
	tap_is(failed, 0, "calculations of CORE-Direct");
	tap_is(wrong, 0, "results of CORE-Direct calculations");

	fill(4096);
	tap_is(run_core(MLX5R_OP_SEND, MLX5R_CALC_AND, 1), XV_WC_SUCCESS,
	       "a calculation with one operand");
	ok(!memcmp(to.ptr, from.ptr, 8) && !operand(to.ptr, 0)->location,
	   "one operand is the result");
}

/* Operands that are cut into segments, at any address */
static u32 run_cut(u8 opmod, const u32 *bytes, struct mlx5r_calc_operand *want)
{
	struct mlx5r_calc_operand flat[3];
	struct core_wqe w = {};
	u32 i, off = 0;

	fill(4096);
	memcpy(flat, from.ptr, sizeof(flat));
	for (i = 0; i < 3 && bytes[i]; off += bytes[i++]) {
		u32 at = 1024 * (i + 1) + 3 * i;

		memcpy(from.ptr + at, (u8 *)flat + off, bytes[i]);
		w.data[i] = (struct mlx5r_data) {
			.byte_count = cpu_to_be32(bytes[i]), .lkey = cpu_to_be32(from.key),
			.addr = cpu_to_be64(from.addr + at),
		};
	}
	*want = flat[0];
	for (off = 1; off < 3; off++)
		*want = model_core(opmod, *want, flat[off]);
	return run(MLX5R_OP_RDMA_WRITE, opmod, &w, i * sizeof(w.data[0]));
}

static void test_core_gather(void)
{
	static const u32 cuts[][3] = {
		{ 48 }, { 16, 32 }, { 8, 40 }, { 20, 12, 16 }, { 1, 46, 1 },
	};
	u32 op, i, failed = 0, wrong = 0, n = 4096;
	struct core_wqe w = {};
	u64 sum = 0;

	for (op = 1; op < CORE_OPS; op++)
		for (i = 0; i < ARRAY_SIZE(cuts); i++) {
			struct mlx5r_calc_operand want;

			failed += run_cut(op, cuts[i], &want) != XV_WC_SUCCESS;
			wrong += memcmp(&want, to.ptr, 16) != 0 || to.ptr[16] != 0xee;
		}
	tap_is(failed, 0, "operands that are cut into segments");
	tap_is(wrong, 0, "their results");

	fill(n * 16);
	for (i = 0; i < n; i++)
		sum += be64_to_cpu(operand(from.ptr, i)->value);
	w.data[0] = (struct mlx5r_data) {
		.byte_count = cpu_to_be32(n * 16), .lkey = cpu_to_be32(from.key),
		.addr = cpu_to_be64(from.addr),
	};
	tap_is(run(MLX5R_OP_RDMA_WRITE, MLX5R_CALC_ADD, &w, 16), XV_WC_SUCCESS,
	       "a segment of %u operands", n);
	tap_is(be64_to_cpu(operand(to.ptr, 0)->value), sum, "its result");
}

/* The result is scattered to two segments, and the turn may end between them. */
static void test_core_split(void)
{
	struct mlx5r_calc_operand want = { cpu_to_be64(42), 0 };
	struct core_wqe w = {};
	u32 bytes, i, wrong = 0;

	for (bytes = HCA_TURN_UNITS - 4096; bytes < HCA_TURN_UNITS; bytes += 64) {
		struct xv_sge large = session_sge(&from, 4096, bytes), small[2] = {
			session_sge(&to, 0, 8), session_sge(&to, 8, 8),
		};

		memset(from.ptr, 0xcc, 64);
		memset(to.ptr, 0xee, 64);
		*operand(from.ptr, 0) = (struct mlx5r_calc_operand) { cpu_to_be64(40), 1 };
		*operand(from.ptr, 1) = (struct mlx5r_calc_operand) { cpu_to_be64(2), 2 };
		for (i = 0; i < 2; i++)
			w.data[i] = (struct mlx5r_data) {
				.byte_count = cpu_to_be32(16), .lkey = cpu_to_be32(from.key),
				.addr = cpu_to_be64(from.addr + i * 16),
			};
		w.ctrl = xchan_wqe(MLX5R_OP_SEND, MLX5R_CALC_ADD, 3).ctrl;
		memmove(&w.raddr, w.data, 2 * sizeof(w.data[0]));
		xv_wr_recv_sg(&p.peer.qp, 2, small, 2);
		xv_commit_recv(&p.peer.qp);
		xv_wr_write(&p.q.qp, 1, 0, &large, to.addr + 4096, to.key);
		xv_wr_raw(&p.q.qp, 1, &w);
		go(&p.q);
		wrong += xchan_status(&p.q) || memcmp(to.ptr, &want, 16) || to.ptr[16] != 0xee;
		xchan_status(&p.peer);
	}
	tap_is(wrong, 0, "results that are scattered in two turns");
}

static void test_core_read(void)
{
	u32 op, failed = 0, wrong = 0;

	for (op = 1; op < CORE_OPS; op++) {
		struct mlx5r_calc_operand want;

		fill(4096);
		operand(to.ptr, 0)->value = cpu_to_be64(random64());
		want = model_core(op, *operand(from.ptr, 0), *operand(to.ptr, 0));
		failed += run_core(MLX5R_OP_RDMA_READ, op, 1) != XV_WC_SUCCESS;
		wrong += memcmp(&want, from.ptr, 16) != 0;
	}
	tap_is(failed, 0, "READ with all calculations");
	tap_is(wrong, 0, "READ combines what it reads with its segment");
}

/* ---- Errors -------------------------------------------------------------------------- */

static void reopen(u8 cross)
{
	close_pair(&p);
	open_pair(&p, MLX5_QP_ST_RC, cross, 6);
}

#define REFUSED(call, want, ...) do {		\
	tap_is(call, want, __VA_ARGS__);	\
	reopen(MASTER);				\
} while (0)

/* The adapter reads these vectors in one step.  The key has a list entry for each byte. */
static void test_short_pieces(void)
{
	struct vectors v = { MLX5R_OP_RDMA_WRITE, MLX5R_VECTOR_ADD, MLX5R_VECTOR_INT64, true,
			     8, 8, 0 };
	struct vector_wqe w = vector_wqe(&v);
	u32 key = byte_key(64), status;

	fill(4096);
	w.data.lkey = cpu_to_be32(key);
	w.data.addr = 0;
	memset(s.fabric.stat.largest, 0, sizeof(s.fabric.stat.largest));
	status = run(v.opcode, MLX5R_CALC_VECTOR, &w, sizeof(w.calc) + sizeof(w.data));
	tap_is(status, XV_WC_SUCCESS, "8 short vectors, of which each byte is a piece");
	tap_is(wrong_elements(&v), 0, "the result of 8 short vectors in pieces");
	tap_is(s.fabric.stat.largest[HCA_PIECES], 64 + 1, "each piece is counted");
	w.data.addr = cpu_to_be64(8);
	status = run(v.opcode, MLX5R_CALC_VECTOR, &w, sizeof(w.calc) + sizeof(w.data));
	REFUSED(status, XV_WC_LOC_PROT_ERR, "the last of 8 vectors is outside of the key");
	session_key_destroy(&s, 0, key);
}

/* Posts a valid request in which byte @at is @value. */
static u32 run_flaw(u8 opcode, size_t at, u8 value)
{
	static const struct vectors v = { MLX5R_OP_RDMA_WRITE, MLX5R_VECTOR_ADD,
					  MLX5R_VECTOR_INT64, false, 2, 64, 0 };
	struct vector_wqe w = vector_wqe(&v);

	((u8 *)&w)[at] = value;
	return run(opcode, MLX5R_CALC_VECTOR, &w, sizeof(w.calc) + sizeof(w.data));
}

#define AT(field)	offsetof(struct vector_wqe, field)

static void test_refused(void)
{
	static const struct {
		const char *what;
		size_t at;
		u8 value;
		u32 status;
	} flaws[] = {
		{ "a valid request", AT(calc.reserved_at_20), 0, XV_WC_SUCCESS },
		{ "no such operation", AT(calc.op[0]), 7, XV_WC_LOC_QP_OP_ERR },
		{ "no operation", AT(calc.op[0]), 0, XV_WC_LOC_QP_OP_ERR },
		{ "two operations", AT(calc.op[1]), MLX5R_VECTOR_ADD, XV_WC_LOC_QP_OP_ERR },
		{ "type 3", AT(calc.type), 3, XV_WC_LOC_QP_OP_ERR },
		{ "type 7", AT(calc.type), 7, XV_WC_LOC_QP_OP_ERR },
		{ "a matrix", AT(calc.flags), MLX5R_VECTOR_MATRIX, XV_WC_LOC_QP_OP_ERR },
		{ "no vector", AT(calc.count) + 1, 0, XV_WC_LOC_QP_OP_ERR },
		{ "more than 255 vectors", AT(calc.count), 1, XV_WC_LOC_QP_OP_ERR },
		{ "half an element", AT(data.byte_count) + 3, 60, XV_WC_LOC_QP_OP_ERR },
		{ "empty vectors", AT(data.byte_count) + 3, 0, XV_WC_LOC_QP_OP_ERR },
		{ "a wrong key", AT(data.lkey) + 3, 0xff, XV_WC_LOC_PROT_ERR },
		{ "an address outside the key", AT(data.addr), 0xff, XV_WC_LOC_PROT_ERR },
		{ "a vector outside the key", AT(data.byte_count) + 1, 8, XV_WC_LOC_PROT_ERR },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(flaws); i++) {
		fill(4096);
		REFUSED(run_flaw(MLX5R_OP_RDMA_WRITE, flaws[i].at, flaws[i].value),
			flaws[i].status, "vectors: %s", flaws[i].what);
		ok(!i == (to.ptr[0] != 0xee), "vectors: %s: %s", flaws[i].what,
		   i ? "nothing is written" : "the result is written");
	}
	REFUSED(run_flaw(MLX5R_OP_RDMA_READ, 0, 0), XV_WC_LOC_QP_OP_ERR, "READ has no vectors");
	REFUSED(run_flaw(MLX5R_OP_SEND_IMM, 0, 0), XV_WC_LOC_QP_OP_ERR,
		"SEND with immediate calculates nothing");
}

/* An operand in the request has no address, whatever address an earlier request had. */
static void test_inline_operand(void)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_inline head;
		u8 operand[16], pad[12];
	} w = {
		.ctrl = xchan_wqe(MLX5R_OP_SEND, MLX5R_CALC_ADD, 3).ctrl,
		.head.byte_count = cpu_to_be32(MLX5R_INLINE | 16),
	};
	u32 i, good = 0;

	for (i = 0; i < 2; i++) {
		struct xv_sge sge = session_sge(&from, i, 8);

		receive();
		xv_wr_write(&p.q.qp, 1, 0, &sge, to.addr, to.key);
		xv_wr_raw(&p.q.qp, 1, &w);
		go(&p.q);
		good += xchan_status(&p.q) == XV_WC_SUCCESS;
		xchan_status(&p.peer);
	}
	tap_is(good, 2, "CORE-Direct: an operand in the request, after requests with addresses");
}

static void test_core_refused(void)
{
	struct core_wqe w;

	REFUSED(run_core(MLX5R_OP_SEND, 7, 2), XV_WC_LOC_QP_OP_ERR,
		"CORE-Direct: unknown operation");
	REFUSED(run_core(MLX5R_OP_SEND, MLX5R_CALC_ADD, 0), XV_WC_LOC_QP_OP_ERR,
		"CORE-Direct: no operand");
	REFUSED(run_core(MLX5R_OP_RDMA_READ, MLX5R_CALC_ADD, 2), XV_WC_LOC_QP_OP_ERR,
		"CORE-Direct: READ with two segments");
	w = (struct core_wqe) { .data[0] = {
		.byte_count = cpu_to_be32(8), .lkey = cpu_to_be32(from.key),
		.addr = cpu_to_be64(from.addr),
	} };
	REFUSED(run(MLX5R_OP_SEND, MLX5R_CALC_ADD, &w, 16), XV_WC_LOC_QP_OP_ERR,
		"CORE-Direct: an operand of 8 bytes");
	w.data[0].byte_count = cpu_to_be32(40);
	REFUSED(run(MLX5R_OP_SEND, MLX5R_CALC_ADD, &w, 16), XV_WC_LOC_QP_OP_ERR,
		"CORE-Direct: two and a half operands");
	w.data[0].byte_count = cpu_to_be32(32);
	REFUSED(run(MLX5R_OP_RDMA_READ, MLX5R_CALC_ADD, &w, 16), XV_WC_LOC_QP_OP_ERR,
		"CORE-Direct: READ with two operands");
	w.data[0].byte_count = cpu_to_be32(16);
	w.data[0].lkey ^= 1;
	REFUSED(run(MLX5R_OP_RDMA_WRITE, MLX5R_CALC_ADD, &w, 16), XV_WC_LOC_PROT_ERR,
		"CORE-Direct: an operand with a wrong key");
	test_inline_operand();
	reopen(0);
	REFUSED(run_core(MLX5R_OP_SEND, MLX5R_CALC_ADD, 2), XV_WC_LOC_QP_OP_ERR,
		"a calculation on a queue that is not a master");
}

/* The local segment of a READ must allow both directions. */
static void test_read_access(void)
{
	struct hca_mkey *k = hca_mkey_get(s.hca[0], from.key);
	u8 access = k->access;

	k->access &= ~MLX5R_MKEY_ACCESS_LW;
	REFUSED(run_core(MLX5R_OP_RDMA_READ, MLX5R_CALC_ADD, 1), XV_WC_LOC_PROT_ERR,
		"READ into a key that allows no writes");
	k->access = access;
}

/* A receiver that is not ready: the sum is right after the retry. */
static void test_retry(void)
{
	struct core_wqe w = {};
	u32 i;

	for (i = 0; i < 2; i++)
		w.data[i] = (struct mlx5r_data) {
			.byte_count = cpu_to_be32(16), .lkey = cpu_to_be32(from.key),
			.addr = cpu_to_be64(from.addr + 16 * i),
		};
	fill(4096);
	operand(from.ptr, 0)->value = cpu_to_be64(40);
	operand(from.ptr, 1)->value = cpu_to_be64(2);
	w.ctrl = xchan_wqe(MLX5R_OP_SEND, MLX5R_CALC_ADD, 3).ctrl;
	memmove(&w.raddr, w.data, sizeof(w.data));
	xv_wr_raw(&p.q.qp, 1, &w);
	xv_commit_send(&p.q.qp);
	for (i = 0; i < 20; i++)
		hca_fabric_poll(&s.fabric);
	ok(hca_timer_due(&xchan_hw(&p.q)->timer), "the receiver of a sum is not ready");
	receive();
	while (hca_timer_due(&xchan_hw(&p.q)->timer))
		hca_fabric_poll(&s.fabric);
	session_settle(&s);
	ok(!xchan_status(&p.q) && be64_to_cpu(operand(to.ptr, 0)->value) == 42,
	   "the sum arrives after the retry");
}

static void test_caps(void)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_cap_in)] = {};
	u32 *out = calloc(1, MLX5_ST_SZ_BYTES(query_hca_cap_out));
	void *cap = MLX5_ADDR_OF(query_hca_cap_out, out, capability);

	MLX5_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	session_cmd(&s, 0, in, sizeof(in), out, MLX5_ST_SZ_BYTES(query_hca_cap_out));
	tap_is(MLX5_GET(cmd_hca_cap, cap, vector_calc), 1, "vector calculation is announced");
	MLX5_SET(query_hca_cap_in, in, op_mod, 0xb << 1);
	tap_is(session_cmd(&s, 0, in, sizeof(in), out, MLX5_ST_SZ_BYTES(query_hca_cap_out)), 0,
	       "the page of vector capabilities exists");
	tap_is(be32_to_cpu(((__be32 *)cap)[1]), 255 << 16 | 7, "255 vectors, all chunk sizes");
	tap_is(be32_to_cpu(((__be32 *)cap)[2]), 0x7f, "all operations, both byte orders");
	free(out);
}

int main(void)
{
	test_edges();
	test_random();
	xchan_init();
	from = session_mr(&s, 0, BYTES, ALL_ACCESS);
	to = session_mr(&s, 1, BYTES, ALL_ACCESS);
	open_pair(&p, MLX5_QP_ST_RC, MASTER, 6);
	test_caps();
	test_vectors();
	test_pieces();
	test_core();
	test_core_gather();
	test_core_split();
	test_core_read();
	test_retry();
	test_short_pieces();
	test_refused();
	test_core_refused();
	test_read_access();
	test_reset_in_part();
	close_pair(&p);
	session_free(&s);
	return tap_done();
}
