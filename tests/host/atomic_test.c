// SPDX-License-Identifier: GPL-2.0
/*
 * Atomic requests of all sizes against a model that calculates bit by bit: carries at every
 * boundary, every mask bit, byte orders; errors; atomic with respect to a thread that
 * changes the same word.
 */
#include <pthread.h>
#include <stdlib.h>
#include "atomic_model.h"
#include "cmd/cmd.h"
#include "data/data.h"
#include "random.h"
#include "session.h"
#include "tap.h"
#include "xchan.h"

#define BYTES		4096u
#define OPERANDS	4u		/* arguments of the compare-and-swap */
#define TARGET		512u		/* offset of the operand in memory */
#define RESULT		1024u

static struct session_mr here, there;
static struct pair p;
static void randomize(u8 *at, u32 n)
{
	while (n--)
		*at++ = random64() >> 32;
}

/* ---- Requests, written from the format ----------------------------------------------------- */

struct atomic_wqe {
	struct mlx5r_ctrl ctrl;
	struct mlx5r_raddr raddr;
	u8 rest[MLX5R_MAX_WQEBB * MLX5R_WQEBB];
};

/* A request under test: the fields of the format, and one element for the result */
struct request {
	u8 opcode, opmod;
	u32 bytes;
	u32 fields;
	u8 arg[OPERANDS][MLX5R_ATOMIC_MAX];
	u64 addr;
	u32 key;
	struct mlx5r_data data;
};

static u32 log_of(u32 bytes)
{
	return __builtin_ctz(bytes) - 2;
}

static struct request request(u8 opcode, u32 bytes)
{
	return (struct request) {
		.opcode = opcode, .opmod = 8 | log_of(bytes), .bytes = bytes,
		.fields = opcode == 0x14 ? 4 : 2, .addr = there.addr + TARGET, .key = there.key,
		.data = {
			.byte_count = cpu_to_be32(bytes), .lkey = cpu_to_be32(here.key),
			.addr = cpu_to_be64(here.addr + RESULT),
		},
	};
}

/* The fields as they are in the request */
static void pack(const struct request *r, u8 *fields)
{
	u32 i;

	for (i = 0; i < r->fields; i++)
		memcpy(fields + i * r->bytes, r->arg[i], r->bytes);
}

static int post(struct session_qp *q, const struct request *r)
{
	u32 args = (r->fields * r->bytes + 15) / 16 * 16;
	struct atomic_wqe w = {
		.ctrl = xchan_wqe(r->opcode, r->opmod, 3 + args / 16).ctrl,
		.raddr = { .addr = cpu_to_be64(r->addr), .rkey = cpu_to_be32(r->key) },
	};

	pack(r, w.rest);
	memcpy(w.rest + args, &r->data, sizeof(r->data));
	return xv_wr_raw(&q->qp, 1, &w);
}

/* Runs @r and returns its status. */
static u32 run(struct session_qp *q, const struct request *r)
{
	if (post(q, r))
		return NO_COMPLETION;
	go(q);
	return xchan_status(q);
}

/* Runs @r and compares all memory with the model; true if it differs. */
static bool wrong(const struct request *r)
{
	u8 mem[BYTES], out[BYTES], fields[sizeof(r->arg)];
	int in_mem, in_out;

	pack(r, fields);
	memcpy(mem, there.ptr, BYTES);
	memcpy(out, here.ptr, BYTES);
	atomic_execute(r->opcode, r->bytes, fields, mem + TARGET, out + RESULT);
	if (run(&p.q, r) != XV_WC_SUCCESS)
		return true;
	in_mem = memcmp(there.ptr, mem, BYTES);
	in_out = memcmp(here.ptr, out, BYTES);
	if (in_mem || in_out)
		diag("opcode %#x, %u bytes: memory %d, result %d", r->opcode, r->bytes, in_mem,
		     in_out);
	return in_mem || in_out;
}

/* ---- Fetch and add ------------------------------------------------------------------------- */

/* Each bit as the only boundary, with a carry that it must stop; then random boundaries */
static void test_add(u32 bytes)
{
	struct request r = request(0x15, bytes);
	u32 i, bad = 0;

	for (i = 0; i < bytes * 8; i++) {
		memset(there.ptr + TARGET, 0xff, bytes);
		memset(r.arg, 0, sizeof(r.arg));
		atomic_set_bit(r.arg[1], i, bytes, true);
		atomic_set_bit(r.arg[0], 0, bytes, true);
		atomic_set_bit(r.arg[0], i / 64 * 64, bytes, true);
		bad += wrong(&r);
		randomize(there.ptr + TARGET, bytes);
		randomize(r.arg[0], bytes);
		bad += wrong(&r);
	}
	tap_is(bad, 0, "%u bytes: a boundary at each bit stops the carry", bytes);
	for (i = 0, bad = 0; i < 300; i++) {
		randomize(there.ptr + TARGET, bytes);
		randomize(r.arg[0], 2 * sizeof(r.arg[0]));
		if (i % 3 == 0)
			memset(r.arg[1], 0, bytes);
		bad += wrong(&r);
	}
	tap_is(bad, 0, "%u bytes: random boundaries", bytes);
}

/* ---- Compare and swap ---------------------------------------------------------------------- */

/*
 * Prepares a compare-and-swap.  The compare value is equal to memory; if @differs, bit @i is
 * different.  All other bits are random.
 */
static void prepare_swap(struct request *r, u32 bytes, u32 i, bool differs)
{
	struct atomic_number old;

	randomize(there.ptr + TARGET, bytes);
	randomize(r->arg[0], sizeof(r->arg));
	old = atomic_load(there.ptr + TARGET, bytes, false);
	atomic_store(r->arg[1], &old, bytes, true);
	atomic_set_bit(r->arg[1], i, bytes, old.bit[i] ^ differs);
}

static void test_swap(u32 bytes)
{
	struct request r = request(0x14, bytes);
	u32 i, bad = 0;

	for (i = 0; i < bytes * 8; i++) {
		/* One bit differs: it counts if the mask has it. */
		prepare_swap(&r, bytes, i, true);
		atomic_set_bit(r.arg[3], i, bytes, true);
		bad += wrong(&r);
		prepare_swap(&r, bytes, i, true);
		atomic_set_bit(r.arg[3], i, bytes, false);
		bad += wrong(&r);
		/* The only bit to compare, and the only one to swap */
		prepare_swap(&r, bytes, i, i & 1);
		memset(r.arg[3], 0, bytes);
		atomic_set_bit(r.arg[3], i, bytes, true);
		bad += wrong(&r);
		prepare_swap(&r, bytes, i, false);
		memset(r.arg[2], 0, bytes);
		atomic_set_bit(r.arg[2], i, bytes, true);
		bad += wrong(&r);
	}
	tap_is(bad, 0, "%u bytes: each bit of both masks", bytes);
}

/* The example of the format: four lanes of 16 bits */
static void test_example(void)
{
	static const u64 mem = 0x0001ffff0001ffff, want = 0x0002000000020000;
	static const u8 add[] = { 0, 1, 0, 1, 0, 1, 0, 1 };
	static const u8 boundary[] = { 0x80, 0, 0x80, 0, 0x80, 0, 0x80, 0 };
	struct request r = request(0x15, 8);

	memcpy(there.ptr + TARGET, &mem, 8);
	memcpy(r.arg[0], add, 8);
	memcpy(r.arg[1], boundary, 8);
	tap_is(run(&p.q, &r), XV_WC_SUCCESS, "four lanes of 16 bits");
	ok(!memcmp(there.ptr + TARGET, &want, 8) && !memcmp(here.ptr + RESULT, &mem, 8),
	   "their sums");
}

/* ---- Errors -------------------------------------------------------------------------------- */

enum flaw {
	MISALIGNED, WORD_ALIGNED, WRONG_RKEY, NO_RIGHT, BEYOND, SHORT, LONG, WRONG_LKEY, POINTER,
	NO_EXT, OTHER_BITS,
};

static const struct {
	const char *what;
	enum flaw flaw;
	u32 status;
} errors[] = {
	{ "address not aligned to a word", MISALIGNED, XV_WC_REM_INV_REQ_ERR },
	{ "address not aligned to the operand", WORD_ALIGNED, XV_WC_REM_INV_REQ_ERR },
	{ "unknown rkey", WRONG_RKEY, XV_WC_REM_ACCESS_ERR },
	{ "no right for atomics", NO_RIGHT, XV_WC_REM_ACCESS_ERR },
	{ "operand behind the region", BEYOND, XV_WC_REM_ACCESS_ERR },
	{ "result shorter than the operand", SHORT, XV_WC_LOC_LEN_ERR },
	{ "result longer than the operand", LONG, XV_WC_LOC_LEN_ERR },
	{ "unknown lkey", WRONG_LKEY, XV_WC_LOC_PROT_ERR },
	{ "arguments in memory", POINTER, XV_WC_LOC_QP_OP_ERR },
	{ "no size", NO_EXT, XV_WC_LOC_QP_OP_ERR },
	{ "unknown bits of opmod", OTHER_BITS, XV_WC_LOC_QP_OP_ERR },
};

static void spoil(struct request *r, enum flaw what, const struct session_mr *no_right)
{
	switch (what) {
	case MISALIGNED:
		r->addr += 2;
		break;
	case WORD_ALIGNED:
		r->addr += r->bytes / 2;
		break;
	case WRONG_RKEY:
		r->key ^= 1;
		break;
	case NO_RIGHT:
		r->key = no_right->key;
		r->addr = no_right->addr;
		break;
	case BEYOND:
		r->addr = there.addr + BYTES;
		break;
	case SHORT:
		r->data.byte_count = cpu_to_be32(r->bytes - 4);
		if (r->bytes == 4)
			r->data.byte_count = cpu_to_be32(3);
		break;
	case LONG:
		r->data.byte_count = cpu_to_be32(r->bytes + 4);
		break;
	case WRONG_LKEY:
		r->data.lkey ^= cpu_to_be32(1);
		break;
	case POINTER:
		r->opmod = 8 | 7;
		break;
	case NO_EXT:
		r->opmod = 0;
		break;
	case OTHER_BITS:
		r->opmod |= 0x10;
		break;
	}
}

static void test_errors(u8 opcode, u32 bytes)
{
	struct session_mr no_right = session_mr(&s, 1, BYTES, ALL_ACCESS & ~MLX5R_MKEY_ACCESS_A);
	u8 before[BYTES];
	u32 i, bad = 0;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		struct request r = request(opcode, bytes);
		u32 status;

		randomize(r.arg[0], sizeof(r.arg));
		memset(r.arg[3], 0, sizeof(r.arg[3]));
		spoil(&r, errors[i].flaw, &no_right);
		memcpy(before, there.ptr, BYTES);
		open_pair(&p, MLX5_QP_ST_RC, 0, 6);
		status = run(&p.q, &r);
		if (status != errors[i].status || memcmp(before, there.ptr, BYTES)) {
			diag("%s: status %u, not %u", errors[i].what, status, errors[i].status);
			bad++;
		}
		close_pair(&p);
	}
	tap_is(bad, 0, "opcode %#x, %u bytes: %u errors, none changes memory", opcode, bytes, i);
	session_key_destroy(&s, 1, no_right.key);
}

/* The arguments of a compare-and-swap of 256 bytes do not fit into a request. */
static void test_too_large(void)
{
	struct request r = request(0x14, 256);

	r.fields = 3;
	open_pair(&p, MLX5_QP_ST_RC, 0, 6);
	tap_is(run(&p.q, &r), XV_WC_LOC_QP_OP_ERR, "compare and swap of 256 bytes");
	close_pair(&p);
}

/* atomic_mode of the responder limits the operands. */
static void test_modes(void)
{
	static const struct {
		u8 mode;
		u32 least, most;
	} t[] = {
		{ 1, 8, 8 }, { 2, 8, 8 }, { 3, 4, 8 }, { 4, 4, 16 }, { 5, 4, 32 }, { 6, 4, 64 },
		{ 7, 4, 128 }, { 8, 4, 256 },
	};
	u32 i, bytes, bad;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		for (bytes = 4, bad = 0; bytes <= 256; bytes *= 2) {
			struct request r = request(0x15, bytes);
			bool allowed = bytes >= t[i].least && bytes <= t[i].most;

			open_pair(&p, MLX5_QP_ST_RC, 0, 6);
			xchan_hw(&p.peer)->atomic_mode = t[i].mode;
			bad += run(&p.q, &r) != (allowed ? XV_WC_SUCCESS : XV_WC_REM_INV_REQ_ERR);
			close_pair(&p);
		}
		tap_is(bad, 0, "mode %u: operands of %u to %u bytes", t[i].mode, t[i].least,
		       t[i].most);
	}
}

/* ---- Atomic with respect to CPUs ----------------------------------------------------------- */

#define ROUNDS	5000u

struct counter {
	u64 *word;
	u32 bytes;
	volatile bool stop;
	u64 done;
};

/* Counts in the lower half of the word. */
static void *count(void *arg)
{
	struct counter *c = arg;

	for (c->done = 0; !c->stop; c->done++) {
		if (c->bytes == 4)
			__atomic_fetch_add((u32 *)c->word, 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(c->word, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void stop(struct counter *c, pthread_t thread)
{
	c->stop = true;
	pthread_join(thread, NULL);
}

/* The adapter counts in the upper half, the thread in the lower half, which wraps. */
static void test_cpu_add(u32 bytes)
{
	u32 half = bytes == 4 ? 16 : 32, word = bytes == 4 ? 4 : 8, i, bad = 0;
	struct request r = request(0x15, bytes);
	u64 *mem = (u64 *)(there.ptr + TARGET);
	struct counter c = { .word = mem, .bytes = bytes };
	u64 mask = (1ull << half) - 1, low, high;
	pthread_t thread;

	memset(mem, 0, bytes);
	for (i = 0; i < bytes; i += word)
		atomic_set_bit(r.arg[0], i * 8 + half, bytes, true);
	for (i = 0; i < bytes; i += word)
		atomic_set_bit(r.arg[1], i * 8 + half - 1, bytes, true);
	pthread_create(&thread, NULL, count, &c);
	for (i = 0; i < ROUNDS; i++)
		bad += run(&p.q, &r) != XV_WC_SUCCESS;
	stop(&c, thread);
	low = mem[0] & mask;
	high = mem[0] >> half & mask;
	/* What the thread counts may carry into the upper half. */
	ok(!bad && low == (c.done & mask) && high == ((ROUNDS + (c.done >> half)) & mask),
	   "%u bytes: %u additions and %llu of a thread, none is lost", bytes, ROUNDS,
	   (unsigned long long)c.done);
}

/* The thread counts in the lower half; the adapter swaps the upper half without looking. */
static void test_cpu_swap(u32 bytes)
{
	u32 half = bytes == 4 ? 16 : 32, i, bad = 0;
	struct request r = request(0x14, bytes);
	u64 *mem = (u64 *)(there.ptr + TARGET);
	struct counter c = { .word = mem, .bytes = bytes };
	u64 mask = (1ull << half) - 1;
	pthread_t thread;

	memset(mem, 0, bytes);
	for (i = half; i < bytes * 8; i++)
		atomic_set_bit(r.arg[2], i, bytes, true);
	pthread_create(&thread, NULL, count, &c);
	for (i = 0; i < ROUNDS; i++)
		bad += run(&p.q, &r) != XV_WC_SUCCESS;
	stop(&c, thread);
	ok(!bad && (mem[0] & mask) == (c.done & mask),
	   "%u bytes: %u swaps of other bits, no addition of a thread is lost", bytes, ROUNDS);
}

#define ENOUGH	10000000u

static bool interfering;
static u32 exchanges;

/*
 * A CPU that changes each word before the adapter exchanges it.  It stops after ENOUGH exchanges,
 * so that the test fails and does not hang if the adapter tries without a limit.
 */
static void interfere(void *word)
{
	exchanges++;
	if (interfering && exchanges < ENOUGH)
		*(u32 *)word ^= 1;
}

/* The exchanges fail all the time.  The adapter gives up after some, until the next turn. */
static void test_cpu_always(u8 opcode, u32 bytes)
{
	struct request r = request(opcode, bytes);
	u32 most = 0, first, passes, status = NO_COMPLETION;

	memset(there.ptr + TARGET, 0, bytes);
	atomic_set_bit(r.arg[0], 8, bytes, true);
	atomic_set_bit(r.arg[2], 8, bytes, true);
	shim_before_cmpxchg = interfere;
	interfering = true;
	post(&p.q, &r);
	xv_commit_send(&p.q.qp);
	for (passes = 0; status == NO_COMPLETION && passes < 200; passes++) {
		first = exchanges;
		hca_fabric_poll(&s.fabric);
		most = max(most, exchanges - first);
		interfering = passes < 100;
		status = xchan_status(&p.q);
	}
	shim_before_cmpxchg = NULL;
	ok(most && most <= 2000 && passes > 100,
	   "opcode %#x, %u bytes: at most %u exchanges in a pass", opcode, bytes, most);
	ok(status == XV_WC_SUCCESS && there.ptr[TARGET + 1] == 1,
	   "opcode %#x, %u bytes: it ends when the CPU stops", opcode, bytes);
}

/* ---- Capabilities -------------------------------------------------------------------------- */

static void test_caps(void)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_cap_in)] = {};
	static u32 out[MLX5_ST_SZ_DW(query_hca_cap_out)];
	const __be32 *dw = MLX5_ADDR_OF(query_hca_cap_out, out, capability);

	MLX5_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	MLX5_SET(query_hca_cap_in, in, op_mod, MLX5_CAP_ATOMIC << 1 | 1);
	tap_is(session_cmd(&s, 0, in, sizeof(in), out, sizeof(out)), 0, "page of atomics");
#define CAP(field)	MLX5_GET(query_hca_cap_out, out, capability.atomic_caps.field)
	tap_is(CAP(atomic_operations), 0xf, "masked operations");
	tap_is(CAP(atomic_size_qp), 0x1fc, "operands of 4 to 256 bytes");
	tap_is(CAP(atomic_req_8B_endianness_mode), 1, "8 bytes: the byte order of the host");
	ok(be32_to_cpu(dw[0x50 / 4]) == (3 << 16 | 3) && be32_to_cpu(dw[0x54 / 4]) == 3 << 16,
	   "atomic to CPUs: 4 and 8 bytes");
}

int main(void)
{
	u32 bytes;

	xchan_init();
	here = session_mr(&s, 0, BYTES, ALL_ACCESS);
	there = session_mr(&s, 1, BYTES, ALL_ACCESS);
	test_caps();
	open_pair(&p, MLX5_QP_ST_RC, 0, 6);
	test_example();
	for (bytes = 4; bytes <= 256; bytes *= 2)
		test_add(bytes);
	for (bytes = 4; bytes <= 128; bytes *= 2)
		test_swap(bytes);
	for (bytes = 4; bytes <= 256; bytes *= 8) {
		test_cpu_add(bytes);
		if (bytes < 256)
			test_cpu_swap(bytes);
	}
	test_cpu_add(8);
	test_cpu_swap(8);
	for (bytes = 4; bytes <= 128; bytes *= 2) {
		test_cpu_always(0x14, bytes);
		test_cpu_always(0x15, bytes);
	}
	close_pair(&p);
	for (bytes = 4; bytes <= 256; bytes *= 2) {
		test_errors(0x15, bytes);
		if (bytes < 256)
			test_errors(0x14, bytes);
	}
	test_too_large();
	test_modes();
	session_free(&s);
	return tap_done();
}
