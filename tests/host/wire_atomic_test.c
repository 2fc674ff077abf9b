// SPDX-License-Identifier: GPL-2.0
/*
 * Masked atomics across a wire: results are those of a model that calculates bit by bit, each is
 * executed once, and errors are those of local peers.
 */
#include "atomic_model.h"
#include "cmd/cmd.h"
#include "masked.h"
#include "tap.h"
#include "peers.h"

enum {
	TARGET	= 0x1000,	/* offset of the operand */
	RESULT	= 0x2000,
	BYTES	= 0x4000,	/* of the memory that is compared */
	STEPS	= 12,		/* requests of a round */
};

#define SETTLE	(600 * NSEC_PER_SEC)

static struct session_srq srq;

static void open_pair(bool on_wire, u8 st, u8 mtu)
{
	struct peers_config c = {
		.wired = on_wire, .st = st, .log_sq = { 8, 8 }, .path.mtu = mtu,
	};

	peers_open(&c);
	if (st == MLX5_QP_ST_XRC)
		srq = session_xrc_srq(&peer[1].q, NULL);
}

static struct masked request(bool add, u32 bytes)
{
	return (struct masked) {
		.add = add, .bytes = bytes, .addr = peer[1].mr.addr + TARGET,
		.key = peer[1].mr.key, .srqn = srq.srqn, .into = here(0, RESULT, bytes),
	};
}

static void post(u64 wr_id, const struct masked *m)
{
	if (masked_post(&peer[0].q.qp, wr_id, hw(0)->st == MLX5_QP_ST_XRC, m))
		ok(false, "the send queue has room");
}

static bool settle(void)
{
	commit(0);
	return peers_settle(SETTLE);
}

/* ---- Sizes ---------------------------------------------------------------------------- */

static struct {
	u8 here[BYTES], there[BYTES];
} model;

static void execute(const struct masked *m)
{
	atomic_execute(masked_opcode(m), m->bytes, m->args,
		       model.there + (m->addr - peer[1].mr.addr),
		       model.here + (m->into.addr - peer[0].mr.addr));
}

static void copy_memory(void)
{
	memcpy(model.here, peer[0].mr.ptr, BYTES);
	memcpy(model.there, peer[1].mr.ptr, BYTES);
}

static bool memory_is_good(void)
{
	return !memcmp(model.here, peer[0].mr.ptr, BYTES) &&
	       !memcmp(model.there, peer[1].mr.ptr, BYTES);
}

static bool all_succeed(u32 n)
{
	const struct peers_view *v = look(0);
	u32 i;

	for (i = 0; i < v->nwcs && i < PEERS_WCS; i++)
		if (v->wc[i].status)
			return false;
	return v->nwcs == n && hw(1)->state == MLX5_QP_STATE_RTS;
}

static void test_size(u8 st, const char *name, bool add, u32 bytes)
{
	u32 i, n = 0, good = 0;
	struct masked m;

	open_pair(true, st, IB_MTU_1024);
	for (i = 0; i < 40; i++) {
		m = request(add, bytes);
		masked_fill(&m, peer[1].mr.ptr + TARGET);
		copy_memory();
		execute(&m);
		post(i, &m);
		good += settle() && memory_is_good() && look(0)->nwcs == i + 1;
		n++;
	}
	wire_ok(&w, good == n && all_succeed(n) && counter(1)->rx_atomic == n,
		"%s: %s of %u bytes, as the model", name, add ? "FETCH & ADD" : "CMP & SWAP",
		bytes);
	peers_close();
}

static void test_sizes(u8 st, const char *name)
{
	u32 bytes;

	for (bytes = 4; bytes <= 256; bytes *= 2) {
		test_size(st, name, true, bytes);
		if (4 * bytes <= MASKED_ARGS)
			test_size(st, name, false, bytes);
	}
}

/* ---- What does not fit --------------------------------------------------------------- */

/* With a small MTU the arguments of the largest operands do not fit into a packet. */
static void test_small_mtu(void)
{
	struct masked m;

	open_pair(true, MLX5_QP_ST_RC, IB_MTU_256);
	m = request(true, 128);
	post(1, &m);
	settle();
	tap_is(look(0)->wc[0].status, XV_WC_SUCCESS, "arguments of 256 bytes fit into 256");
	m = request(true, 256);
	post(2, &m);
	settle();
	tap_is(look(0)->wc[1].status, XV_WC_LOC_QP_OP_ERR, "those of 512 bytes do not");
	peers_close();
}

/* ---- Wires ---------------------------------------------------------------------------- */

/* Several requests at once, which change the same words, and a WRITE between them */
static bool round_is_good(u8 st)
{
	struct masked m;
	u32 i;

	copy_memory();
	for (i = 0; i < STEPS; i++) {
		u32 log = 2 + random64() % 7;
		bool add = log > 7 || random64() % 2;

		m = request(add, 1u << log);
		m.addr += random64() % 2 * 256;
		m.into = here(0, RESULT + i * 256, m.bytes);
		masked_fill(&m, model.there + (m.addr - peer[1].mr.addr));
		execute(&m);
		post(i, &m);
	}
	if (st == MLX5_QP_ST_RC) {
		post_write(i++, here(0, 0, 3000), 0, peer[1].mr.key);
		memcpy(model.there, model.here, 3000);
	}
	peer[0].view.nwcs = 0;
	return settle() && all_succeed(i) && memory_is_good();
}

static void test_wire(u8 st, const char *name, const u32 per_mille[WIRE_FAULTS])
{
	u32 n, good = 0;

	open_pair(true, st, IB_MTU_1024);
	memcpy(w.per_mille, per_mille, sizeof(w.per_mille));
	for (n = 0; n < 60; n++)
		good += round_is_good(st);
	wire_ok(&w, good == n && !w.bad, "%s: %u of %u rounds are good, %u frames, %u lost", name,
		good, n, w.sent, w.lost);
	tap_is(counter(1)->rx_atomic, n * STEPS, "each request is executed once");
	ok(session_turns_bounded(&w.s[1]), "no turn is above the limits");
	peers_close();
}

static void test_wires(u8 st, const char *name)
{
	static const u32 kinds[][WIRE_FAULTS] = {
		{ 0 }, { [WIRE_LOSS] = 10 }, { [WIRE_LOSS] = 100 }, { [WIRE_DUPLICATE] = 100 },
		{ [WIRE_REORDER] = 100 }, { [WIRE_CORRUPT] = 50 }, { 30, 30, 30, 30 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		test_wire(st, name, kinds[i]);
}

/* ---- Errors --------------------------------------------------------------------------- */

static void bad_key(struct masked *m)
{
	m->key ^= 0x100000;
}

static void bad_local_key(struct masked *m)
{
	m->into.lkey ^= 0x100000;
}

static void odd_address(struct masked *m)
{
	m->addr += 4;
}

static void out_of_bounds(struct masked *m)
{
	m->addr = peer[1].mr.addr + PEERS_BYTES;
}

static void not_allowed(struct masked *m)
{
	hw(1)->rae = false;
}

static void too_large(struct masked *m)
{
	hw(1)->atomic_mode = 5;
}

static void no_queue(struct masked *m)
{
	m->srqn += 5;
}

static void short_element(struct masked *m)
{
	m->into.length--;
}

static const struct {
	const char *name;
	void (*change)(struct masked *m);
	u8 st;
	int status;
} errors[] = {
	{ "key", bad_key, MLX5_QP_ST_RC, XV_WC_REM_ACCESS_ERR },
	{ "local key", bad_local_key, MLX5_QP_ST_RC, XV_WC_LOC_PROT_ERR },
	{ "misaligned", odd_address, MLX5_QP_ST_RC, XV_WC_REM_INV_REQ_ERR },
	{ "out of bounds", out_of_bounds, MLX5_QP_ST_RC, XV_WC_REM_ACCESS_ERR },
	{ "not allowed", not_allowed, MLX5_QP_ST_RC, XV_WC_REM_INV_REQ_ERR },
	{ "an operand that is too large", too_large, MLX5_QP_ST_RC, XV_WC_REM_INV_REQ_ERR },
	{ "a result of another size", short_element, MLX5_QP_ST_RC, XV_WC_LOC_LEN_ERR },
	{ "XRC, no queue", no_queue, MLX5_QP_ST_XRC, XV_WC_REM_INV_REQ_ERR },
	{ "XRC, key", bad_key, MLX5_QP_ST_XRC, XV_WC_REM_ACCESS_ERR },
};

/* A good request, one with an error, one more */
static void run_error(u32 i, bool on_wire, struct peers_view view[2], u8 memory[2][BYTES])
{
	struct masked m;
	u64 n;

	open_pair(on_wire, errors[i].st, IB_MTU_1024);
	for (n = 1; n <= 3; n++) {
		m = request(n % 2, 64);
		memset(m.args, n * 0x11, sizeof(m.args));
		if (n == 2)
			errors[i].change(&m);
		post(n, &m);
		settle();
	}
	view[0] = *look(0);
	view[1] = *look(1);
	memcpy(memory[0], peer[0].mr.ptr, BYTES);
	memcpy(memory[1], peer[1].mr.ptr, BYTES);
	peers_close();
}

static void test_error(u32 i)
{
	static u8 memory[2][2][BYTES];
	struct peers_view alone[2], far[2];

	run_error(i, false, alone, memory[0]);
	run_error(i, true, far, memory[1]);
	tap_is(far[0].wc[1].status, errors[i].status, "%s: status", errors[i].name);
	if (ok(!memcmp(alone, far, sizeof(far)) && !memcmp(memory[0], memory[1], sizeof(memory[0])),
	       "the rest is the same as for local peers"))
		return;
	peers_print(&alone[0]);
	peers_print(&alone[1]);
	diag("on the wire:");
	peers_print(&far[0]);
	peers_print(&far[1]);
}

int main(void)
{
	u32 i;

	test_sizes(MLX5_QP_ST_RC, "RC");
	test_sizes(MLX5_QP_ST_XRC, "XRC");
	test_small_mtu();
	test_wires(MLX5_QP_ST_RC, "RC");
	test_wires(MLX5_QP_ST_XRC, "XRC");
	for (i = 0; i < ARRAY_SIZE(errors); i++)
		test_error(i);
	return tap_done();
}
