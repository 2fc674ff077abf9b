// SPDX-License-Identifier: GPL-2.0
/*
 * Masked atomics: every size against a model, on RC and on XRC; byte orders, refusals, errors.
 * Atomics of all kinds are atomic with respect to CPUs.
 */
#include <pthread.h>
#include <sched.h>
#include "rig.h"

#define TARGET	4096u		/* offset of the operand in the memory of the peer */
#define RESULT	512u		/* of the result in ours */
#define ROUNDS	40
#define RACES	500		/* requests that race with a thread */
#define WORDS	32u
#define FLAGS	XV_SEND_SIGNALED

static struct rig r;
static struct xv_device_attr device;
static uint32_t srqn;		/* of the peer, if the queue pair is XRC */
static uint64_t seed = 88172645463325252ull;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* ---- The model --------------------------------------------------------------------- */

static uint64_t sum(uint64_t a, uint64_t b, uint64_t boundary, int bits)
{
	uint64_t carry = 0, v = 0;
	int i;

	for (i = 0; i < bits; i++) {
		uint64_t s = (a >> i & 1) + (b >> i & 1) + carry;

		v |= (s & 1) << i;
		carry = boundary >> i & 1 ? 0 : s >> 1;
	}
	return v;
}

/* ---- One request of any size: arguments are arrays of words --------------------------- */

struct args {
	uint64_t compare_mask[WORDS], compare[WORDS], swap[WORDS], swap_mask[WORDS];
	uint64_t add[WORDS], boundary[WORDS];
};

static uint32_t words(uint32_t log)
{
	return log > 3 ? 1u << (log - 3) : 1;
}

static int post(uint32_t log, bool swap, bool list, const struct args *a, uint64_t raddr,
		uint32_t rkey)
{
#define FIELD(f) (log > 3 ? (uintptr_t)a->f : a->f[0])
	struct xv_cmp_swap cs = { FIELD(compare_mask), FIELD(compare), FIELD(swap),
				  FIELD(swap_mask) };
	struct xv_fetch_add fa = { FIELD(add), FIELD(boundary) };
	struct xv_sge sge = rig_sge(&r, 0, RESULT, 1u << log);
	struct xv_send_wr *bad, wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.opcode = swap ? XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP :
				 XV_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
		.send_flags = FLAGS | XV_SEND_EXT_ATOMIC_INLINE,
		.wr.masked_atomics = { raddr, rkey, log }, .qp_type.xrc.remote_srqn = srqn,
	};
	int err;

	if (list) {
		if (swap)
			wr.op.cmp_swap = cs;
		else
			wr.op.fetch_add = fa;
		return xv_post_send(r.qp[0], &wr, &bad);
	}
	err = swap ? xv_wr_masked_atomic_cs(r.qp[0], 1, FLAGS, &sge, raddr, rkey, log, &cs) :
		     xv_wr_masked_atomic_fa(r.qp[0], 1, FLAGS, &sge, raddr, rkey, log, &fa);
	xv_commit_send(r.qp[0]);
	return err;
}

static bool completes(uint32_t log, bool swap)
{
	struct xv_wc wc;

	return rig_poll(r.cq[0], 1, &wc) == 1 && wc.status == XV_WC_SUCCESS &&
	       wc.byte_len == 1u << log &&
	       wc.opcode == (swap ? XV_WC_MASKED_COMP_SWAP : XV_WC_MASKED_FETCH_ADD);
}

/* Memory is read and written in words, or as half of one. */
static uint64_t get(const uint8_t *at, uint32_t log, uint32_t i)
{
	uint64_t v = 0;

	memcpy(&v, at + 8 * i, log == 2 ? 4 : 8);
	return v;
}

static void set(uint8_t *at, uint32_t log, uint32_t i, uint64_t v)
{
	memcpy(at + 8 * i, &v, log == 2 ? 4 : 8);
}

static bool swap_matches(const struct args *a, const uint64_t *old, uint32_t n, uint64_t mask)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if ((a->compare[i] ^ old[i]) & a->compare_mask[i] & mask)
			return false;
	return true;
}

/* A round with random memory and arguments */
static bool round_ok(uint32_t log, bool swap, bool list, bool equal)
{
	uint64_t old[WORDS], want, mask = log == 2 ? 0xffffffff : ~0ull;
	uint8_t *mem = r.buf[1] + TARGET, *out = r.buf[0] + RESULT;
	uint32_t n = words(log), i;
	bool good = true, match;
	struct args a;

	for (i = 0; i < sizeof(a) / 8; i++)
		((uint64_t *)&a)[i] = random64();
	memset(mem - 8, 0x5a, (1u << log) + 16);
	for (i = 0; i < n; i++) {
		old[i] = random64() & mask;
		set(mem, log, i, old[i]);
		if (equal)
			a.compare[i] = old[i];
	}
	if (post(log, swap, list, &a, rig_addr(&r, 1, TARGET), r.mr[1]->rkey) ||
	    !completes(log, swap))
		return false;
	match = swap_matches(&a, old, n, mask);
	for (i = 0; i < n; i++) {
		want = sum(old[i], a.add[i], a.boundary[i], log == 2 ? 32 : 64);
		if (swap)
			want = match ? (old[i] & ~a.swap_mask[i]) | (a.swap[i] & a.swap_mask[i]) :
				       old[i];
		good = good && get(mem, log, i) == (want & mask) &&
		       xv_atomic_value(out, log, device.ext_atom.atomic_arg_sizes_be, i) == old[i];
	}
	return good && mem[-1] == 0x5a && mem[1u << log] == 0x5a;
}

/* Half of the requests are posted by the builders, and half of the swaps match. */
static void test_size(uint32_t log, const char *type)
{
	bool lists = srqn;
	int i, bad;

	for (i = 0, bad = 0; i < ROUNDS; i++)
		bad += !round_ok(log, false, lists || i & 1, false);
	tap_is(bad, 0, "%s, %u bytes: %d multi-field additions", type, 1u << log, ROUNDS);
	if (4u << log > 1u << device.ext_atom.log_max_atomic_inline)
		return;
	for (i = 0, bad = 0; i < ROUNDS; i++)
		bad += !round_ok(log, true, lists || i & 1, i & 2);
	tap_is(bad, 0, "%s, %u bytes: %d masked swaps", type, 1u << log, ROUNDS);
}

static void test_sizes(const char *type)
{
	uint32_t log;

	for (log = 2; log <= 8; log++)
		if (device.ext_atom.atomic_arg_sizes >> log & 1)
			test_size(log, type);
}

/* Lists post masked atomics on XRC; the builders are for RC. */
static void test_xrc(uint32_t largest)
{
	struct xv_xrcd *xrcd = xv_open_xrcd(r.side[1].ctx, -1, 0);
	struct xv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 }, .xrcd = xrcd,
					     .cq = r.cq[1] };
	struct xv_qp_init_attr attr = {
		.send_cq = r.cq[0], .qp_type = XV_QPT_XRC_SEND, .max_atomic_arg = largest,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct xv_qp_init_attr peer_attr = { .qp_type = XV_QPT_XRC_RECV, .xrcd = xrcd };
	struct xv_srq *srq = xrcd ? xv_create_srq(r.side[1].pd, &srq_attr) : NULL;
	struct xv_qp *rc = r.qp[0], *peer = srq ? xv_create_qp(r.side[1].pd, &peer_attr) : NULL;
	struct xv_qp *qp = peer ? xv_create_qp(r.side[0].pd, &attr) : NULL;
	struct xv_fetch_add one = { 1, 0 };
	struct xv_sge sge = rig_sge(&r, 0, RESULT, 8);

	if (!qp || xt_connect_pair(qp, &r.side[0], peer, &r.side[1], NULL))
		bail_out("%s", xv_last_error());
	r.qp[0] = qp;
	srqn = srq->srq_num;
	test_sizes("XRC");
	tap_is(xv_wr_masked_atomic_fa(qp, 1, FLAGS, &sge, 0, 0, 3, &one), -XV_EINVAL,
	       "XRC: not with a builder");
	r.qp[0] = rc;
	srqn = 0;
	ok(!xv_destroy_qp(qp) && !xv_destroy_qp(peer) && !xv_destroy_srq(srq) &&
	   !xv_close_xrcd(xrcd), "XRC: destroy");
}

/* ---- Refusals and errors ----------------------------------------------------------------- */

static int try(uint32_t log, bool swap)
{
	static const struct args none;

	return post(log, swap, false, &none, rig_addr(&r, 1, TARGET), r.mr[1]->rkey);
}

static void test_refused(uint32_t largest)
{
	struct xv_sge sge = rig_sge(&r, 0, RESULT, 8);
	struct xv_fetch_add one = { 1, 0 };
	struct xv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = XV_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
		.wr.masked_atomics = { rig_addr(&r, 1, TARGET), r.mr[1]->rkey, 3 },
	};
	struct xv_qp_init_attr attr = {
		.send_cq = r.cq[0], .recv_cq = r.cq[0], .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 }, .max_atomic_arg = 2 * largest,
	};
	struct xv_qp *qp;

	tap_is(try(1, false), -XV_EINVAL, "2 bytes: EINVAL");
	tap_is(try(9, false), -XV_EINVAL, "512 bytes: EINVAL");
	tap_is(try(8, true), -XV_EINVAL, "swap of 256 bytes, which fits into no request: EINVAL");
	tap_is(xv_post_send(r.qp[0], &wr, &bad), -XV_EINVAL,
	       "arguments not in the request: EINVAL");
	wr.send_flags = XV_SEND_EXT_ATOMIC_INLINE | XV_SEND_INLINE;
	tap_is(xv_post_send(r.qp[0], &wr, &bad), -XV_EINVAL, "inline data: EINVAL");
	sge.length = 4;
	tap_is(xv_wr_masked_atomic_fa(r.qp[0], 1, FLAGS, &sge, 0, 0, 3, &one), -XV_EINVAL,
	       "result of another length: EINVAL");
	ok(!xv_create_qp(r.side[0].pd, &attr) && errno == EINVAL &&
	   strstr(xv_last_error(), "max_atomic_arg"), "max_atomic_arg above the limit: %s",
	   xv_last_error());
	attr.max_atomic_arg = 8;
	attr.qp_type = XV_QPT_UC;
	ok(!xv_create_qp(r.side[0].pd, &attr) && errno == EINVAL, "UC: %s", xv_last_error());
	attr.qp_type = XV_QPT_RC;
	qp = xv_create_qp(r.side[0].pd, &attr);
	ok(qp && attr.max_atomic_arg >= 8 && attr.cap.max_send_wr >= 4,
	   "a queue for 8 bytes has room for %u", attr.max_atomic_arg);
	xv_destroy_qp(qp);
	attr.cap = (struct xv_qp_cap) { .max_send_wr = 4, .max_send_sge = 1 };
	attr.max_atomic_arg = 0;
	qp = xv_create_qp(r.side[0].pd, &attr);
	tap_is(attr.max_atomic_arg, 4, "a queue that asks for none has room for 4 bytes");
	xv_destroy_qp(qp);
}

static void test_errors(const struct rig_opts *opts, uint32_t log)
{
	const struct {
		const char *what;
		uint64_t off;
		uint32_t flip;
		enum xv_wc_status status;
	} t[] = {
		{ "misaligned", (1u << log) / 2, 0, XV_WC_REM_INV_REQ_ERR },
		{ "unknown rkey", 0, 1, XV_WC_REM_ACCESS_ERR },
		{ "behind the region", r.size - TARGET, 0, XV_WC_REM_ACCESS_ERR },
	};
	static const struct args zero;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		post(log, false, false, &zero, rig_addr(&r, 1, TARGET) + t[i].off,
		     r.mr[1]->rkey ^ t[i].flip);
		ok(rig_expect(r.cq[0], 1, t[i].status), "%u bytes, %s", 1u << log, t[i].what);
		rig_reconnect(&r, opts);
	}
}

/* ---- Atomic with respect to CPUs ---------------------------------------------------------- */

/* Requests that change the upper half of a word, while a thread counts in the lower half */
enum race { ADD, MASKED_ADD, MASKED_SWAP };

static struct {
	volatile bool stop;
	volatile uint64_t done;
} counter;

static void *count(void *arg)
{
	uint64_t *word = arg;

	for (; !counter.stop; counter.done++)
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *count_half(void *arg)
{
	uint32_t *word = arg;

	for (; !counter.stop; counter.done++)
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void start(pthread_t *thread, void *(*fn)(void *))
{
	*(uint64_t *)(r.buf[1] + TARGET) = 0;
	counter.stop = false;
	counter.done = 0;
	if (pthread_create(thread, NULL, fn, r.buf[1] + TARGET))
		bail_out("thread");
	while (!counter.done)
		sched_yield();
}

static void stop(pthread_t thread)
{
	counter.stop = true;
	pthread_join(thread, NULL);
}

static bool plain_done(int err)
{
	xv_commit_send(r.qp[0]);
	return !err && rig_expect(r.cq[0], 1, XV_WC_SUCCESS);
}

/* Adds to the word; returns what it was. */
static bool plain_add(uint64_t add, uint64_t *old)
{
	struct xv_sge sge = rig_sge(&r, 0, RESULT, 8);
	bool good = plain_done(xv_wr_atomic_fa(r.qp[0], 1, FLAGS, &sge, rig_addr(&r, 1, TARGET),
					       r.mr[1]->rkey, add));

	*old = *(uint64_t *)(r.buf[0] + RESULT);
	return good;
}

static bool plain_swap(uint64_t compare, uint64_t swap, uint64_t *old)
{
	struct xv_sge sge = rig_sge(&r, 0, RESULT, 8);
	bool good = plain_done(xv_wr_atomic_cs(r.qp[0], 1, FLAGS, &sge, rig_addr(&r, 1, TARGET),
					       r.mr[1]->rkey, compare, swap));

	*old = *(uint64_t *)(r.buf[0] + RESULT);
	return good;
}

static bool masked(uint32_t log, bool swap, const struct args *a, uint64_t *old)
{
	bool good = !post(log, swap, false, a, rig_addr(&r, 1, TARGET), r.mr[1]->rkey) &&
		    completes(log, swap);

	*old = xv_atomic_value(r.buf[0] + RESULT, log, device.ext_atom.atomic_arg_sizes_be, 0);
	return good;
}

/* Changes the upper half from i to i + 1. */
static bool step(enum race kind, uint64_t i, uint64_t *old)
{
	const uint64_t upper = 0xffffffffull << 32;
	const struct args add = { .add = { 1ull << 32 }, .boundary = { 1u << 31 } };
	const struct args swap = { .compare_mask = { upper }, .compare = { i << 32 },
				   .swap = { (i + 1) << 32 }, .swap_mask = { upper } };

	if (kind == ADD)
		return plain_add(1ull << 32, old);
	return masked(3, kind == MASKED_SWAP, kind == MASKED_SWAP ? &swap : &add, old);
}

/* Every request and every addition of the thread counts, and results never go back. */
static void test_halves(enum race kind, const char *what)
{
	uint64_t *word = (uint64_t *)(r.buf[1] + TARGET), old, last = 0;
	int i, bad = 0;
	pthread_t thread;

	start(&thread, count);
	for (i = 0; i < RACES; i++) {
		bad += !step(kind, (uint64_t)i, &old) || old >> 32 != (uint64_t)i || old < last;
		last = old;
	}
	stop(thread);
	ok(!bad && counter.done && *word == ((uint64_t)RACES << 32) + counter.done,
	   "%s: %d and %llu of a thread: none is lost", what, RACES,
	   (unsigned long long)counter.done);
}

static void test_four_bytes(void)
{
	static const struct args three = { .add = { 3 } };
	uint32_t *word = (uint32_t *)(r.buf[1] + TARGET);
	int i, bad = 0;
	pthread_t thread;
	uint64_t old;

	start(&thread, count_half);
	for (i = 0; i < RACES; i++)
		bad += !masked(2, false, &three, &old);
	stop(thread);
	ok(!bad && counter.done && word[0] == (uint32_t)(3ull * RACES + counter.done) && !word[1],
	   "4 bytes: %d masked additions and %llu of a thread: none is lost", RACES,
	   (unsigned long long)counter.done);
}

/*
 * The word is a lock: 0 is free, THEIRS is that of the thread, MINE that of the requests.  Who
 * has it adds 1 to a number without an atomic instruction.
 */
enum { MINE = 1, THEIRS = 2 };

static struct {
	volatile uint64_t number;
	uint64_t wrong;			/* the lock was not that of its holder */
} locked;

#define LOCK_THREAD(_type)								\
static void *lock_##_type(void *arg)							\
{											\
	_type *word = arg, old;								\
	volatile int wait;								\
											\
	for (counter.done = 0; !counter.stop;) {					\
		for (wait = 0; wait < 100; wait++)					\
			;								\
		old = 0;								\
		if (!__atomic_compare_exchange_n(word, &old, THEIRS, false,		\
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))	\
			continue;							\
		locked.number++;							\
		counter.done++;								\
		locked.wrong += __atomic_exchange_n(word, 0, __ATOMIC_RELEASE) != THEIRS;\
	}										\
	return NULL;									\
}
LOCK_THREAD(uint64_t)
LOCK_THREAD(uint32_t)

static bool lock_swap(bool plain, uint64_t from, uint64_t to, uint64_t *old)
{
	const struct args a = { .compare_mask = { ~0ull }, .compare = { from }, .swap = { to },
				.swap_mask = { ~0ull } };

	return plain ? plain_swap(from, to, old) : masked(2, true, &a, old);
}

static void test_lock(bool plain, const char *what)
{
	int tries, bad = 0, taken = 0;
	pthread_t thread;
	uint64_t old;

	locked.number = locked.wrong = 0;
	start(&thread, plain ? lock_uint64_t : lock_uint32_t);
	for (tries = 0; tries < 4 * RACES && taken < RACES / 2; tries++) {
		bad += !lock_swap(plain, 0, MINE, &old) || (old && old != THEIRS);
		if (old)
			continue;
		locked.number++;
		taken++;
		bad += !lock_swap(plain, MINE, 0, &old) || old != MINE;
	}
	stop(thread);
	ok(!bad && !locked.wrong && taken && counter.done &&
	   locked.number == (uint64_t)taken + counter.done,
	   "%s: a lock is taken %d times, and %llu times by a thread: one holder at a time",
	   what, taken, (unsigned long long)counter.done);
}

/* pci_atomic_caps: bit n for operands of 4 << n bytes */
/* Is the operation atomic against the CPU? @caps has a bit for 4 and one for 8 bytes. */
static bool with_cpu(unsigned int caps, int bytes, const char *what)
{
	if (caps & (unsigned int)bytes / 4)
		return true;
	ok(1, "%s of %d bytes against the CPU # SKIP the device does not announce it", what, bytes);
	return false;
}

static void test_cpu(void)
{
	const struct xv_pci_atomic_caps *caps = &device.pci_atomic_caps;

	if (with_cpu(caps->fetch_add, 8, "additions")) {
		test_halves(ADD, "additions");
		test_halves(MASKED_ADD, "masked additions");
	}
	if (with_cpu(caps->fetch_add, 4, "additions"))
		test_four_bytes();
	if (with_cpu(caps->compare_swap, 8, "swaps")) {
		test_halves(MASKED_SWAP, "masked swaps");
		test_lock(true, "swaps");
	}
	if (with_cpu(caps->compare_swap, 4, "swaps"))
		test_lock(false, "masked swaps of 4 bytes");
}

int main(int argc, char **argv)
{
	struct rig_opts opts = { .atomic_arg = 8 };
	uint32_t largest;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (xv_query_device(r.side[0].ctx, &device))
		bail_out("%s", xv_last_error());
	rig_close(&r);
	opts.atomic_arg = largest = device.ext_atom.atomic_arg_sizes ?
		1u << (31 - __builtin_clz((uint32_t)device.ext_atom.atomic_arg_sizes)) : 0;
	rig_open(&r, &opts);
	ok(!largest == !rig_feature(r.side[0].ctx, "masked-atomics")->available &&
	   !largest == !(device.exp_device_cap_flags & XV_EXP_DEVICE_EXT_MASKED_ATOMICS) &&
	   !largest == !device.masked_atomic_cap, "feature and attributes agree");
	if (!largest)
		return tap_done();
	test_sizes("RC");
	test_xrc(largest);
	test_refused(largest);
	test_errors(&opts, 2);
	test_errors(&opts, 8 < largest ? 4 : 3);
	test_cpu();
	rig_close(&r);
	return tap_done();
}
