// SPDX-License-Identifier: GPL-2.0
/*
 * Extended atomics (appendix B): masked compare-and-swap and fetch-and-add of fields, for all sizes
 * of operands, against a model.
 */
#include "rig.h"

#define ROUNDS	60
#define WORDS	32		/* 64-bit numbers of the largest operand */

static struct pair p;
static struct ibv_exp_masked_atomic_params caps;

/* ---- Model -------------------------------------------------------------------------------- */

static uint64_t random64(void)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < 5; i++)
		v = v << 15 ^ (uint64_t)rand();
	return v;
}

/* Adds bit by bit; no carry leaves a field or a word of @bits bits. */
static uint64_t model_add(uint64_t a, uint64_t b, uint64_t boundary, int bits)
{
	uint64_t sum = 0;
	unsigned int carry = 0;
	int i;

	for (i = 0; i < bits; i++) {
		unsigned int v = (a >> i & 1) + (b >> i & 1) + carry;

		sum |= (uint64_t)(v & 1) << i;
		carry = boundary >> i & 1 ? 0 : v >> 1;
	}
	return sum;
}

/* An operand is an array of words of 4 or 8 bytes. */
struct operand {
	int log;
	int words;
	int bits;			/* of a word */
};

static struct operand operand_of(int log)
{
	return (struct operand) { log, log > 3 ? 1 << (log - 3) : 1, log == 2 ? 32 : 64 };
}

static uint64_t load(const void *from, const struct operand *o, int i)
{
	uint32_t half;
	uint64_t v;

	if (o->bits == 32) {
		memcpy(&half, from, sizeof(half));
		return half;
	}
	memcpy(&v, (const uint8_t *)from + 8 * i, sizeof(v));
	return v;
}

/* A word of a result, whose byte order the device attributes tell */
static uint64_t result_of(const void *from, const struct operand *o, int i)
{
	uint64_t v = load(from, o, i);

	if (!(caps.masked_log_atomic_arg_sizes_network_endianness >> o->log & 1))
		return v;
	return o->bits == 32 ? __builtin_bswap32((uint32_t)v) : __builtin_bswap64(v);
}

/* ---- One request --------------------------------------------------------------------------- */

static struct ibv_exp_send_wr masked(const struct operand *o, enum ibv_exp_wr_opcode opcode,
				     struct ibv_sge *sge)
{
	struct ibv_exp_send_wr wr = {
		.wr_id = 5, .sg_list = sge, .num_sge = 1, .exp_opcode = opcode,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED | IBV_EXP_SEND_EXT_ATOMIC_INLINE,
	};

	wr.ext_op.masked_atomics.log_arg_sz = (uint32_t)o->log;
	wr.ext_op.masked_atomics.remote_addr = at(1, 0);
	wr.ext_op.masked_atomics.rkey = side[1].mr->rkey;
	return wr;
}

static void scramble(uint64_t *v)
{
	int i;

	for (i = 0; i < WORDS; i++)
		v[i] = random64();
}

/* The argument itself, or the address of the array */
static uint64_t argument(const struct operand *o, const uint64_t *v)
{
	return o->log > 3 ? (uintptr_t)v : v[0];
}

/* The result and the memory are as in the model. */
static bool same(const struct operand *o, const uint64_t *old, const uint64_t *want)
{
	uint64_t mask = o->bits == 32 ? UINT32_MAX : UINT64_MAX;
	int i, good = 1;

	for (i = 0; i < o->words; i++)
		good &= result_of(side[0].mem, o, i) == (old[i] & mask) &&
			load(side[1].mem, o, i) == (want[i] & mask);
	return good;
}

static bool completed(struct ibv_exp_send_wr *wr, enum ibv_exp_wc_opcode opcode, uint32_t bytes)
{
	struct ibv_exp_wc wc;

	return !post(p.qp[0], wr) && complete(p.cq[0], &wc) && wc.status == IBV_WC_SUCCESS &&
	       wc.exp_opcode == opcode && wc.byte_len == bytes && wc.wr_id == 5;
}

static bool add_once(const struct operand *o)
{
	struct ibv_sge sge = piece(0, 0, 1u << o->log);
	struct ibv_exp_send_wr wr = masked(o, IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, &sge);
	struct ibv_exp_fetch_add *op = &wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;
	uint64_t old[WORDS], add[WORDS], fields[WORDS], want[WORDS];
	int i;

	scramble(old);
	scramble(add);
	scramble(fields);
	memcpy(side[1].mem, old, 1u << o->log);
	for (i = 0; i < o->words; i++)
		want[i] = model_add(old[i], add[i], fields[i], o->bits);
	op->add_val = argument(o, add);
	op->field_boundary = argument(o, fields);
	return completed(&wr, IBV_EXP_WC_MASKED_FETCH_ADD, 1u << o->log) && same(o, old, want);
}

/* Half of the comparisons succeed. */
static bool swap_once(const struct operand *o, int round)
{
	struct ibv_sge sge = piece(0, 0, 1u << o->log);
	struct ibv_exp_send_wr wr = masked(o, IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP, &sge);
	/* The other way to name the arguments */
	struct ibv_exp_cmp_swap *op = &wr.ext_op.masked_atomics.wr_data.op.inline_data.cmp_swap;
	uint64_t old[WORDS], compare[WORDS], swap[WORDS], mask[WORDS], compare_mask[WORDS];
	uint64_t want[WORDS];
	int i, equal = round % 2;

	scramble(old);
	scramble(swap);
	scramble(mask);
	scramble(compare_mask);
	scramble(compare);
	compare_mask[o->words - 1] |= 1;
	memcpy(side[1].mem, old, 1u << o->log);
	for (i = 0; i < o->words; i++)
		compare[i] = (compare[i] & ~compare_mask[i]) | (old[i] & compare_mask[i]);
	if (!equal)
		compare[o->words - 1] ^= 1;
	for (i = 0; i < o->words; i++)
		want[i] = equal ? (old[i] & ~mask[i]) | (swap[i] & mask[i]) : old[i];
	op->compare_val = argument(o, compare);
	op->compare_mask = argument(o, compare_mask);
	op->swap_val = argument(o, swap);
	op->swap_mask = argument(o, mask);
	return completed(&wr, IBV_EXP_WC_MASKED_COMP_SWAP, 1u << o->log) && same(o, old, want);
}

static void test_size(int log)
{
	struct operand o = operand_of(log);
	int i, good;

	for (i = good = 0; i < ROUNDS; i++)
		good += add_once(&o);
	tap_is(good, ROUNDS, "%d bytes: fetch and add of fields", 1 << log);
	if (log > 7)		/* its arguments do not fit into a request */
		return;
	for (i = good = 0; i < ROUNDS; i++)
		good += swap_once(&o, i);
	tap_is(good, ROUNDS, "%d bytes: masked compare and swap", 1 << log);
}

/* Sixteen fields of four bits (figure 1) */
static void test_figure(void)
{
	struct operand o = operand_of(3);
	struct ibv_sge sge = piece(0, 0, 8);
	struct ibv_exp_send_wr wr = masked(&o, IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, &sge);
	uint64_t *there = (void *)side[1].mem;

	*there = 0x0123456789abcdefull;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add = (struct ibv_exp_fetch_add) {
		.add_val = 0x1111111111111111ull, .field_boundary = 0x8888888888888888ull };
	ok(run(&p, &wr) == IBV_WC_SUCCESS && *there == 0x123456789abcdef0ull,
	   "a carry does not leave a field of four bits");
}

/* ---- Attributes, ordinary atomics ----------------------------------------------------------- */

static void test_attributes(void)
{
	const uint32_t bits = IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS |
			      IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS;
	struct ibv_exp_device_attr dev = attributes(side[0].ctx);
	uint64_t be = caps.masked_log_atomic_arg_sizes_network_endianness;

	ok((dev.comp_mask & bits) == bits && caps.masked_log_atomic_arg_sizes & 8,
	   "operands of sizes 0x%llx", (unsigned long long)caps.masked_log_atomic_arg_sizes);
	ok(dev.ext_atom.atomic_arg_sizes == (caps.masked_log_atomic_arg_sizes & ~be) &&
	   dev.ext_atom.log_atomic_arg_sizes == dev.ext_atom.atomic_arg_sizes,
	   "those with the byte order of exp_atomic_cap: 0x%llx",
	   (unsigned long long)dev.ext_atom.atomic_arg_sizes);
	ok(dev.exp_atomic_cap == IBV_EXP_ATOMIC_HCA || dev.exp_atomic_cap == IBV_EXP_ATOMIC_GLOB,
	   "exp_atomic_cap");
	ok(dev.ext_atom.max_fa_bit_boundary == caps.max_fa_bit_boundary &&
	   caps.max_fa_bit_boundary >= 3 && caps.log_max_atomic_inline >= 5 &&
	   dev.ext_atom.log_max_atomic_inline == caps.log_max_atomic_inline,
	   "fields and arguments");
}

static void test_ordinary(void)
{
	struct ibv_sge sge = piece(0, 0, 8);
	struct ibv_exp_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .exp_opcode = IBV_EXP_WR_ATOMIC_FETCH_AND_ADD,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = at(1, 0), .compare_add = 5,
			       .rkey = side[1].mr->rkey },
	};
	uint64_t *there = (void *)side[1].mem, *here = (void *)side[0].mem;

	*there = 10;
	ok(run(&p, &wr) == IBV_WC_SUCCESS && *here == 10 && *there == 15, "fetch and add");
	wr.exp_opcode = IBV_EXP_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 15;
	wr.wr.atomic.swap = 99;
	ok(run(&p, &wr) == IBV_WC_SUCCESS && *here == 15 && *there == 99, "compare and swap");
}

/* ---- Errors ------------------------------------------------------------------------------- */

static void test_refusals(void)
{
	struct operand o = operand_of(3);
	struct ibv_sge sge = piece(0, 0, 8);
	const enum ibv_exp_wr_opcode add = IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD;
	struct ibv_exp_send_wr wr = masked(&o, add, &sge);

	wr.exp_send_flags &= ~(uint64_t)IBV_EXP_SEND_EXT_ATOMIC_INLINE;
	ok(post(p.qp[0], &wr) == EINVAL, "arguments that are not inline");
	wr = masked(&o, add, &sge);
	wr.ext_op.masked_atomics.log_arg_sz = 9;
	ok(post(p.qp[0], &wr) == EINVAL, "an operand of 512 bytes");
	wr.ext_op.masked_atomics.log_arg_sz = 1;
	ok(post(p.qp[0], &wr) == EINVAL, "an operand of 2 bytes");
	wr = masked(&o, add, &sge);
	sge.length = 4;
	ok(post(p.qp[0], &wr) == EINVAL, "a result that is too short");
	sge.length = 8;
	wr.ext_op.masked_atomics.remote_addr++;
	ok(run(&p, &wr) == IBV_WC_REM_INV_REQ_ERR, "an operand that is not aligned");
	restart(&p);
	wr = masked(&o, add, &sge);
	wr.ext_op.masked_atomics.rkey ^= 0x100;
	ok(run(&p, &wr) == IBV_WC_REM_ACCESS_ERR, "a wrong rkey");
	restart(&p);
}

/* Without max_atomic_arg, a queue takes the operands that it happens to have room for. */
static void test_small_queue(void)
{
	struct ibv_exp_qp_init_attr init;
	struct ibv_exp_qp_attr a;
	struct operand o = operand_of(8);
	struct ibv_sge sge = piece(1, 0, 256);
	struct ibv_exp_send_wr wr = masked(&o, IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, &sge);

	ok(!ibv_exp_query_qp(p.qp[1], &a, 0, &init) && init.max_atomic_arg < 256 &&
	   post(p.qp[1], &wr) == EINVAL, "a queue for operands of %u bytes", init.max_atomic_arg);
}

static void test_refused_queue(void)
{
	struct ibv_exp_qp_init_attr attr = {
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD | IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.pd = side[0].pd, .send_cq = p.cq[0], .recv_cq = p.cq[0], .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 }, .max_atomic_arg = 4096,
	};

	ok(!ibv_exp_create_qp(side[0].ctx, &attr) && errno == EINVAL, "QP: max_atomic_arg");
	attr.comp_mask = IBV_EXP_QP_INIT_ATTR_PD | IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS;
	attr.exp_create_flags = IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY;
	ok(!ibv_exp_create_qp(side[0].ctx, &attr) && errno == EOPNOTSUPP,
	   "QP: big-endian results, which the device does not have");
}

int main(int argc, char **argv)
{
	struct ibv_exp_qp_init_attr attr = {
		.comp_mask = IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG, .max_atomic_arg = 256,
	};
	struct ibv_exp_device_attr dev;
	int log, largest = 0;

	open_sides(argc, argv);
	dev = attributes(side[0].ctx);
	caps = dev.masked_atomic;
	if (!(dev.exp_device_cap_flags & IBV_EXP_DEVICE_EXT_MASKED_ATOMICS))
		tap_skip_all("the device has no masked atomics");
	for (log = 2; log <= 8; log++)
		if (caps.masked_log_atomic_arg_sizes >> log & 1)
			largest = log;
	attr.max_atomic_arg = 1u << largest;
	p = make_pair(attr);
	test_attributes();
	test_ordinary();
	test_figure();
	for (log = 2; log <= largest; log++)
		if (caps.masked_log_atomic_arg_sizes >> log & 1)
			test_size(log);
	test_refusals();
	test_small_queue();
	test_refused_queue();
	break_pair(&p);
	close_sides();
	return tap_done();
}
