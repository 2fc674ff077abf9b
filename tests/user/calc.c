// SPDX-License-Identifier: GPL-2.0
/*
 * Results of requests with calculation, compared with the processor's: all operations, all
 * types, random numbers and limits, sends and writes.
 */
#include <math.h>
#include "chain.h"

static const struct rig_opts opts = { .size = 1 << 20, .depth = 16 };
static struct link q;

enum { RESULT = 65536, ROUNDS = 200, SIGNALED = XV_SEND_SIGNALED };

/* ---- Calculation ------------------------------------------------------- */

static const uint64_t corner[] = {
	0, 1, ~0ull, 1ull << 63, (1ull << 63) - 1, 0x3ff0000000000000,	/* 1.0 */
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001,	/* infinite, NaN */
	0x7fefffffffffffff, 0x8000000000000000, 0x0000000000000001,
};

static uint64_t number(unsigned int i)
{
	static uint64_t x = 88172645463325252ull;

	if (i < ARRAY_SIZE(corner) * ARRAY_SIZE(corner))
		return corner[i % ARRAY_SIZE(corner)];
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static double to_double(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static uint64_t to_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static uint64_t model(const struct xv_calc *c, uint64_t a, uint64_t b)
{
	switch (c->calc_op) {
	case XV_CALC_OP_ADD:
		return c->data_type == XV_CALC_DATA_TYPE_FLOAT ?
		       to_bits(to_double(a) + to_double(b)) : a + b;
	case XV_CALC_OP_MAXLOC:
		return a >= b ? a : b;
	case XV_CALC_OP_BAND:
		return a & b;
	case XV_CALC_OP_BXOR:
		return a ^ b;
	default:
		return a | b;
	}
}

/* Any NaN is as good as another. */
static bool same(const struct xv_calc *c, uint64_t a, uint64_t b)
{
	return a == b || (c->data_type == XV_CALC_DATA_TYPE_FLOAT && isnan(to_double(a)) &&
			  isnan(to_double(b)));
}

static bool one_calc(const struct xv_calc *c, unsigned int i)
{
	struct xv_calc_operand *in = (struct xv_calc_operand *)r.buf[0];
	struct xv_calc_operand *out = (struct xv_calc_operand *)(r.buf[1] + RESULT);
	struct xv_sge sge[2] = { rig_sge(&r, 0, 0, 16), rig_sge(&r, 0, 4096, 16) };
	uint64_t a = number(i), b = number(i / ARRAY_SIZE(corner)), want = model(c, a, b);
	struct xv_sge to = rig_sge(&r, 1, RESULT, 16);
	bool good;

	in[0] = (struct xv_calc_operand) { xv_be64(a), xv_be64(1) };
	in[4096 / sizeof(*in)] = (struct xv_calc_operand) { xv_be64(b), xv_be64(2) };
	memset(out, 0xee, sizeof(*out));
	if (i & 1) {
		xv_wr_write_calc(q.qp, i, SIGNALED, c, sge, 2, rig_addr(&r, 1, RESULT),
				 r.mr[1]->rkey);
	} else {
		xv_wr_recv(q.peer, i, &to);
		xv_commit_recv(q.peer);
		xv_wr_send_calc(q.qp, i, SIGNALED, c, sge, 2);
	}
	xv_commit_send(q.qp);
	good = rig_expect(q.cq, i, XV_WC_SUCCESS) &&
	       (i & 1 || rig_expect(q.peer_cq, i, XV_WC_SUCCESS)) &&
	       same(c, xv_be64(out->value), want);
	if (c->calc_op == XV_CALC_OP_MAXLOC)
		good = good && xv_be64(out->location) == (a >= b ? 1 : 2);
	if (!good)
		diag("%016llx, %016llx: %016llx, expected %016llx", (unsigned long long)a,
		     (unsigned long long)b, (unsigned long long)xv_be64(out->value),
		     (unsigned long long)want);
	return good;
}

static void test_calc(void)
{
	static const struct { const char *name; struct xv_calc calc; } ops[] = {
		{ "add, signed", { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_INT, 0 } },
		{ "add, unsigned", { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT, 0 } },
		{ "add, double", { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_FLOAT, 0 } },
		{ "maximum and its location", { XV_CALC_OP_MAXLOC, XV_CALC_DATA_TYPE_UINT, 0 } },
		{ "and", { XV_CALC_OP_BAND, XV_CALC_DATA_TYPE_UINT, 0 } },
		{ "or", { XV_CALC_OP_BOR, XV_CALC_DATA_TYPE_INT, 0 } },
		{ "xor", { XV_CALC_OP_BXOR, XV_CALC_DATA_TYPE_UINT, 0 } },
	};
	unsigned int i;
	size_t op;

	for (op = 0; op < ARRAY_SIZE(ops); op++) {
		for (i = 0; i < ROUNDS && one_calc(&ops[op].calc, i); i++)
			;
		ok(i == ROUNDS, "calculation: %s", ops[op].name);
	}
}

/* ---- Vector calculation ------------------------------------------------ */

enum { VECTORS = 3, BYTES = 1024 };

static unsigned int width(enum xv_vector_type type)
{
	return type <= XV_VECTOR_FLOAT32 ? 4 : 8;
}

static uint64_t load(const uint8_t *p, unsigned int n, bool little)
{
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		v |= (uint64_t)p[little ? i : n - 1 - i] << 8 * i;
	return v;
}

static float to_float(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float v;

	memcpy(&v, &low, sizeof(v));
	return v;
}

static uint64_t float_bits(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

#define PICK(op, a, b)	((op) == XV_VECTOR_ADD ? (a) + (b) : (op) == XV_VECTOR_MAX ?	\
			 ((a) > (b) ? (a) : (b)) : ((a) < (b) ? (a) : (b)))

static uint64_t vector_model(const struct xv_vector_calc *v, uint64_t a, uint64_t b)
{
	switch (v->op) {
	case XV_VECTOR_AND:
		return a & b;
	case XV_VECTOR_OR:
		return a | b;
	case XV_VECTOR_XOR:
		return a ^ b;
	default:
		break;
	}
	if (v->op == XV_VECTOR_ADD && v->type != XV_VECTOR_FLOAT32 && v->type != XV_VECTOR_FLOAT64)
		return width(v->type) == 4 ? (uint32_t)(a + b) : a + b;
	switch (v->type) {
	case XV_VECTOR_INT32:
		return (uint32_t)PICK(v->op, (int64_t)(int32_t)a, (int64_t)(int32_t)b);
	case XV_VECTOR_FLOAT32:
		return float_bits(PICK(v->op, to_float(a), to_float(b)));
	case XV_VECTOR_INT64:
		return ((int64_t)a > (int64_t)b) == (v->op == XV_VECTOR_MAX) ? a : b;
	case XV_VECTOR_FLOAT64:
		return to_bits(PICK(v->op, to_double(a), to_double(b)));
	default:
		return PICK(v->op, a, b);
	}
}

/* Numbers that are neither NaN nor near the limits of floats */
static void fill_vectors(const struct xv_vector_calc *v)
{
	unsigned int n = width(v->type), i, byte;
	uint64_t bits;

	for (i = 0; i < VECTORS * BYTES / n; i++) {
		bits = number(~0u);
		if (v->type == XV_VECTOR_FLOAT32)
			bits = float_bits((float)(int32_t)bits / 65536);
		if (v->type == XV_VECTOR_FLOAT64)
			bits = to_bits((double)(int64_t)bits / 65536);
		for (byte = 0; byte < n; byte++)
			r.buf[0][i * n + (v->little_endian ? byte : n - 1 - byte)] =
				(uint8_t)(bits >> 8 * byte);
	}
}

static bool check_vector(const struct xv_vector_calc *v)
{
	unsigned int n = width(v->type), i, k;
	uint64_t want, got;

	for (i = 0; i < BYTES; i += n) {
		want = load(r.buf[0] + i, n, v->little_endian);
		for (k = 1; k < VECTORS; k++)
			want = vector_model(v, want,
					    load(r.buf[0] + k * BYTES + i, n, v->little_endian));
		got = load(r.buf[1] + RESULT + i, n, v->little_endian);
		if (got != want) {
			diag("byte %u: %llx, expected %llx", i, (unsigned long long)got,
			     (unsigned long long)want);
			return false;
		}
	}
	return true;
}

static bool one_vector(const struct xv_vector_calc *v, bool write)
{
	struct xv_sge first = rig_sge(&r, 0, 0, BYTES), to = rig_sge(&r, 1, RESULT, BYTES);

	fill_vectors(v);
	memset(r.buf[1] + RESULT, 0xee, BYTES);
	xv_wr_recv(q.peer, 2, &to);
	xv_commit_recv(q.peer);
	if (write)
		xv_wr_write_imm_vector_calc(q.qp, 1, SIGNALED, v, &first, rig_addr(&r, 1, RESULT),
					    r.mr[1]->rkey, 0);
	else
		xv_wr_send_vector_calc(q.qp, 1, SIGNALED, v, &first);
	xv_commit_send(q.qp);
	return rig_expect(q.cq, 1, XV_WC_SUCCESS) && rig_expect(q.peer_cq, 2, XV_WC_SUCCESS) &&
	       check_vector(v);
}

static void test_vectors(void)
{
	static const enum xv_vector_type types[] = { XV_VECTOR_INT32, XV_VECTOR_UINT32,
		XV_VECTOR_FLOAT32, XV_VECTOR_INT64, XV_VECTOR_UINT64, XV_VECTOR_FLOAT64 };
	static const char *const names[] = { "none", "add", "max", "and", "or", "xor", "min" };
	struct xv_vector_calc v = { .count = VECTORS };
	struct xv_device_attr device;
	unsigned int i, bad, op;

	xv_query_device(r.side[0].ctx, &device);
	ok(device.vector_calc_cap.ops == 0x7e && device.vector_calc_cap.max_chunk >= BYTES &&
	   device.vector_calc_cap.max_count >= VECTORS, "capabilities of vector calculation");
	for (op = XV_VECTOR_ADD; op <= XV_VECTOR_MIN; op++) {
		v.op = (enum xv_vector_op)op;
		for (i = bad = 0; i < 4 * ARRAY_SIZE(types); i++) {
			v.type = types[i / 4];
			/* Bit operations have no meaning for floats. */
			if (op >= XV_VECTOR_AND && op <= XV_VECTOR_XOR &&
			    (v.type == XV_VECTOR_FLOAT32 || v.type == XV_VECTOR_FLOAT64))
				continue;
			v.little_endian = i & 1;
			v.chunk = i & 2 ? 64 : BYTES;
			bad += !one_vector(&v, i & 1);
		}
		ok(!bad, "vector calculation: %s", names[op]);
	}
}

/* A read combines what it reads with the operand in the element. */
static void test_read(void)
{
	struct xv_calc_operand *own = (struct xv_calc_operand *)r.buf[0];
	struct xv_calc_operand *peer = (struct xv_calc_operand *)(r.buf[1] + RESULT);
	struct xv_sge sge = rig_sge(&r, 0, 0, 16);
	struct xv_send_wr wr = {
		.wr_id = 1, .opcode = XV_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1,
		.send_flags = SIGNALED | XV_SEND_WITH_CALC,
		.wr.rdma = { rig_addr(&r, 1, RESULT), r.mr[1]->rkey },
		.op.calc = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT, XV_CALC_DATA_SIZE_64_BIT },
	}, *bad;

	own->value = xv_be64(40);
	peer->value = xv_be64(2);
	ok(!xv_post_send(q.qp, &wr, &bad) && rig_expect(q.cq, 1, XV_WC_SUCCESS) &&
	   xv_be64(own->value) == 42, "read with calculation");
	wr.num_sge = 2;
	ok(xv_post_send(q.qp, &wr, &bad) == -EINVAL, "a read with two operands: EINVAL");
}

/* The other types; XRC has no builder of its own. */
static void test_type(const struct chain_type *t)
{
	struct link l = link_of(t->type, 16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_calc_operand *in = (struct xv_calc_operand *)r.buf[0];
	struct xv_calc_operand *out = (struct xv_calc_operand *)(r.buf[1] + RESULT);
	struct xv_sge sge[2] = { rig_sge(&r, 0, 0, 16), rig_sge(&r, 0, 16, 16) };
	struct xv_send_wr wr = {
		.wr_id = 1, .opcode = XV_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 2,
		.send_flags = SIGNALED | XV_SEND_WITH_CALC,
		.wr.rdma = { rig_addr(&r, 1, RESULT), r.mr[1]->rkey },
		.qp_type.xrc.remote_srqn = peer_srqn(),
		.op.calc = { XV_CALC_OP_BXOR, XV_CALC_DATA_TYPE_UINT, XV_CALC_DATA_SIZE_64_BIT },
	}, *bad;

	in[0].value = xv_be64(0x1234567890abcdef);
	in[1].value = xv_be64(0xff00ff00ff00ff00);
	memset(out, 0, sizeof(*out));
	ok(!xv_post_send(l.qp, &wr, &bad) && rig_expect(l.cq, 1, XV_WC_SUCCESS) &&
	   xv_be64(out->value) == 0xed34a9786fab32ef, "%s: write with calculation", t->name);
	link_down(&l);
}

static void test_wrong_key(void)
{
	struct xv_calc add = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT, XV_CALC_DATA_SIZE_64_BIT };
	struct xv_sge sge[2] = { rig_sge(&r, 0, 0, 16), rig_sge(&r, 0, 16, 16) };

	sge[1].lkey ^= 0x5500;
	xv_wr_send_calc(q.qp, 1, SIGNALED, &add, sge, 2);
	xv_commit_send(q.qp);
	ok(rig_expect(q.cq, 1, XV_WC_LOC_PROT_ERR), "calculation with a wrong key");
}

int main(int argc, char **argv)
{
	size_t i;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (!has_feature("cross-channel"))
		tap_skip_all("the device has no cross-channel queues");
	q = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	test_calc();
	if (has_feature("vector-calc"))
		test_vectors();
	else
		tap_skip("vectors", "the device has no vector calculation");
	test_read();
	for (i = 0; i < ARRAY_SIZE(chain_types); i++)
		test_type(&chain_types[i]);
	test_wrong_key();
	return tap_done();
}
