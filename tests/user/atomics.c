// SPDX-License-Identifier: GPL-2.0
/*
 * Masked atomics: every size against a model, byte orders, refusals, errors, atomic to CPUs.
 */
#include <pthread.h>
#include "rig.h"

#define TARGET	4096u		/* offset of the operand in the memory of the peer */
#define RESULT	512u		/* of the result in ours */
#define ROUNDS	40
#define WORDS	32u
#define FLAGS	XV_SEND_SIGNALED

static struct rig r;
static struct xv_device_attr device;
static uint64_t seed = 88172645463325252ull;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static bool has_feature(const char *name)
{
	struct xv_feature list[64];
	int i, n = xv_query_features(r.side[0].ctx, list, 64);

	for (i = 0; i < n && i < 64; i++)
		if (!strcmp(list[i].name, name))
			return list[i].available;
	return false;
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
		.wr.masked_atomics = { raddr, rkey, log },
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

/* A round with random memory and arguments; half of the swaps match. */
static bool round_ok(uint32_t log, bool swap, bool list)
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
		if (list)
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

static void test_size(uint32_t log)
{
	int i, bad;

	for (i = 0, bad = 0; i < ROUNDS; i++)
		bad += !round_ok(log, false, i & 1);
	tap_is(bad, 0, "%u bytes: %d multi-field additions", 1u << log, ROUNDS);
	if (4u << log > 1u << device.ext_atom.log_max_atomic_inline)
		return;
	for (i = 0, bad = 0; i < ROUNDS; i++)
		bad += !round_ok(log, true, i & 1);
	tap_is(bad, 0, "%u bytes: %d masked swaps", 1u << log, ROUNDS);
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

/* ---- Atomic to CPUs ---------------------------------------------------------------------- */

static struct {
	volatile bool stop;
	uint64_t done;
} counter;

/* Counts in the lower half of the word. */
static void *count(void *arg)
{
	uint64_t *word = arg;

	for (counter.done = 0; !counter.stop; counter.done++)
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void test_cpu(void)
{
	static const struct args a = { .add = { 1ull << 32 }, .boundary = { 1u << 31 } };
	uint64_t *word = (uint64_t *)(r.buf[1] + TARGET);
	int i, bad = 0, n = 2000;
	pthread_t thread;

	*word = 0;
	counter.stop = false;
	if (pthread_create(&thread, NULL, count, word))
		bail_out("thread");
	for (i = 0; i < n; i++)
		bad += post(3, false, false, &a, rig_addr(&r, 1, TARGET), r.mr[1]->rkey) ||
		       !completes(3, false);
	counter.stop = true;
	pthread_join(thread, NULL);
	ok(!bad && *word == ((uint64_t)n << 32) + counter.done,
	   "%d additions and %llu of a thread: none is lost", n,
	   (unsigned long long)counter.done);
}

int main(int argc, char **argv)
{
	struct rig_opts opts = { .atomic_arg = 8 };
	uint32_t log, largest;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (xv_query_device(r.side[0].ctx, &device))
		bail_out("%s", xv_last_error());
	rig_close(&r);
	opts.atomic_arg = largest = device.ext_atom.atomic_arg_sizes ?
		1u << (31 - __builtin_clz((uint32_t)device.ext_atom.atomic_arg_sizes)) : 0;
	rig_open(&r, &opts);
	ok(!largest == !has_feature("masked-atomics") &&
	   !largest == !(device.exp_device_cap_flags & XV_EXP_DEVICE_EXT_MASKED_ATOMICS) &&
	   !largest == !device.masked_atomic_cap, "feature and attributes agree");
	if (!largest)
		return tap_done();
	for (log = 2; log <= 8; log++)
		if (device.ext_atom.atomic_arg_sizes >> log & 1)
			test_size(log);
	test_refused(largest);
	test_errors(&opts, 2);
	test_errors(&opts, 8 < largest ? 4 : 3);
	if (device.pci_atomic_caps.fetch_add & 2)
		test_cpu();
	rig_close(&r);
	return tap_done();
}
