// SPDX-License-Identifier: GPL-2.0
/*
 * Coroutines, virtual time and memory order.
 *
 * A load may return a value that is older than the last store, as on a CPU whose stores wait in
 * a buffer: not older than the last fence, system call or atomic exchange of this coroutine, nor
 * than what its loads returned before, nor than its own stores.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "sim.h"
#include "tool.h"

/* This file is compiled without the sanitizers, which know nothing of the stacks. */
#ifdef SIM_SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size)
#define __sanitizer_finish_switch_fiber(save, bottom, size)
#define __asan_unpoison_memory_region(p, n)
#endif

enum { STACK = 256 << 10, GUARD = 4096, HISTORY = 256, STEP_LIMIT = 6 << 20 };

struct context {
	ucontext_t u;
};

struct store {
	const uint32_t *address;
	uint32_t before;
	const struct coroutine *by;
};

struct sim sim;

static struct coroutine coroutines[MAX_COROUTINES];
static struct context contexts[MAX_COROUTINES];
static int n_coroutines;
static int n_left;			/* alive, without those that belong to no process */
static uint8_t *stacks;
static struct store history[HISTORY];

/* What runs the scheduler first, and again at the end */
static struct context outside;
static void *outside_fake;
static const void *outside_stack;
static size_t outside_size;

/* That of the C library: the one of the sanitizer forgets what is poisoned on the stack. */
static int (*swap)(ucontext_t *from, const ucontext_t *to);

/* ---- Random numbers: splitmix64 --------------------------------------------------- */

uint64_t sim_random(void)
{
	uint64_t z = sim.random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t sim_below(uint32_t n)
{
	return (uint32_t)((sim_random() >> 32) * n >> 32);
}

uint32_t sim_between(uint32_t min, uint32_t max)
{
	return min + sim_below(max - min + 1);
}

/* ---- Messages --------------------------------------------------------------------- */

void sim_trace(const char *fmt, ...)
{
	va_list ap;

	if (!sim.trace)
		return;
	printf("# %10.6f %-16s ", sim.now, sim.self ? sim.self->name : "-");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* ---- Switches --------------------------------------------------------------------- */

static void *stack_of(int i)
{
	return stacks + (size_t)i * (STACK + GUARD) + GUARD;
}

static void enter(struct context *from, void **fake, struct coroutine *to)
{
	sim.self = to;
	if (to)
		__sanitizer_start_switch_fiber(fake, to->stack, STACK);
	else
		__sanitizer_start_switch_fiber(fake, outside_stack, outside_size);
	swap(&from->u, to ? &to->context->u : &outside.u);
}

static void switch_to(struct coroutine *to)
{
	struct coroutine *self = sim.self;

	enter(self->context, self->alive ? &self->fake_stack : NULL, to);
	__sanitizer_finish_switch_fiber(self->fake_stack, NULL, NULL);
}

static bool may_run(const struct coroutine *c)
{
	return c->alive && !(c->proc && c->proc->stopped);
}

static bool is_ready(struct coroutine *c)
{
	if (!may_run(c))
		return false;
	if (c->ready)
		return true;
	c->timed_out = c->deadline >= 0 && sim.now >= c->deadline;
	if (c->looked != sim.events) {
		c->looked = sim.events;
		c->ready = c->condition && c->condition(c->condition_arg);
	}
	c->ready |= c->timed_out;
	return c->ready;
}

static void say_waits(void)
{
	size_t n = strlen(sim.failure);
	int i;

	for (i = 0; i < n_coroutines; i++) {
		const struct coroutine *c = &coroutines[i];

		if (!c->alive || n >= sizeof(sim.failure))
			continue;
		n += (size_t)snprintf(sim.failure + n, sizeof(sim.failure) - n, "%s %s%s",
				      i ? "," : ":", c->name,
				      c->proc && c->proc->stopped ? " (stopped)" : "");
		if (!c->ready && n < sizeof(sim.failure))
			n += (size_t)snprintf(sim.failure + n, sizeof(sim.failure) - n, ": %s",
					      c->waits);
	}
}

/* To the next timeout; returns false if there is none. */
static bool pass_time(void)
{
	double next = -1;
	int i;

	if (!n_left)
		return false;
	for (i = 0; i < n_coroutines; i++) {
		const struct coroutine *c = &coroutines[i];

		if (may_run(c) && c->deadline >= 0 &&
		    (next < 0 || c->deadline < next))
			next = c->deadline;
	}
	if (next < 0 || next - sim.progress > sim.patience) {
		snprintf(sim.failure, sizeof(sim.failure), next < 0 ? "deadlock" :
			 "no progress for %.0f seconds", sim.patience);
		say_waits();
		return false;
	}
	/* A little more, so that some others become ready at the same time */
	if (next > sim.now)
		sim.now = next + 1e-6 * sim_below(3);
	return true;
}

static struct coroutine *choose(void)
{
	struct coroutine *ready[MAX_COROUTINES], *best;
	int i, n = 0;

	if (!n_left)
		return NULL;
	for (i = 0; i < n_coroutines; i++)
		if (is_ready(&coroutines[i]))
			ready[n++] = &coroutines[i];
	if (!n)
		return NULL;
	best = ready[sim_below((uint32_t)n)];
	if (!sim.strict)
		return best;
	for (i = 0; i < n; i++)
		if (ready[i]->priority > best->priority)
			best = ready[i];
	if (sim_chance(24))
		best->priority = sim_below(1000);
	return best;
}

/* The next one to run, or null at the end of the run */
static struct coroutine *next(void)
{
	struct coroutine *c = NULL;

	if (*sim.failure)
		return NULL;
	if (++sim.steps > STEP_LIMIT) {
		snprintf(sim.failure, sizeof(sim.failure), "it runs on and on");
		say_waits();
		return NULL;
	}
	while (!c) {
		c = choose();
		if (!c && !pass_time())
			return NULL;
	}
	return c;
}

static void go_on(void)
{
	struct coroutine *to = next();

	if (to != sim.self)
		switch_to(to);
}

void sim_yield(void)
{
	if (sim.self)
		go_on();
}

void sim_step(void)
{
	if (++sim.steps > STEP_LIMIT || sim_chance(sim.slice))
		sim_yield();
}

void sim_fail(const char *fmt, ...)
{
	va_list ap;

	if (!*sim.failure) {
		va_start(ap, fmt);
		vsnprintf(sim.failure, sizeof(sim.failure), fmt, ap);
		va_end(ap);
	}
	sim_trace("FAILURE: %s", sim.failure);
	if (!sim.self) {
		printf("# %s\n", sim.failure);
		abort();
	}
	switch_to(NULL);
	abort();
}

/* ---- Coroutines ------------------------------------------------------------------- */

static void forget(struct coroutine *c)
{
	n_left -= c->alive && c->proc;
	c->alive = false;
}

static void trampoline(void)
{
	struct coroutine *c = sim.self;

	__sanitizer_finish_switch_fiber(NULL, NULL, NULL);
	c->fn(c->arg);
	forget(c);
	sim.events++;
	sim_trace("ends");
	go_on();
	abort();
}

struct coroutine *sched_start(struct proc *p, const char *name, void (*fn)(void *), void *arg)
{
	int i = n_coroutines++;
	struct coroutine *c = &coroutines[i];

	if (i >= MAX_COROUTINES)
		sim_fail("too many coroutines");
	*c = (struct coroutine) {
		.name = name, .proc = p, .fn = fn, .arg = arg, .alive = true, .ready = true,
		.deadline = -1, .priority = sim_below(1000), .view = sim.stores,
		.stack = stack_of(i), .context = &contexts[i],
	};
	n_left += p != NULL;
	__asan_unpoison_memory_region(c->stack, STACK);
	getcontext(&c->context->u);
	c->context->u.uc_stack.ss_sp = c->stack;
	c->context->u.uc_stack.ss_size = STACK;
	c->context->u.uc_link = NULL;
	makecontext(&c->context->u, trampoline, 0);
	return c;
}

void sched_kill(const struct proc *p)
{
	int i;

	for (i = 0; i < n_coroutines; i++)
		if (coroutines[i].proc == p)
			forget(&coroutines[i]);
	sim.events++;
	if (sim.self && !sim.self->alive) {
		go_on();
		abort();
	}
}

bool sched_alive(const struct proc *p)
{
	int i;

	for (i = 0; i < n_coroutines; i++)
		if (coroutines[i].proc == p && coroutines[i].alive)
			return true;
	return false;
}

static void get_ready(void)
{
	pthread_attr_t attr;
	void *bottom;

	if (stacks)
		return;
	stacks = mmap(NULL, (size_t)MAX_COROUTINES * (STACK + GUARD), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	swap = (int (*)(ucontext_t *, const ucontext_t *))
	       dlsym(dlopen("libc.so.6", RTLD_LAZY), "swapcontext");
	if (stacks == MAP_FAILED || !swap)
		abort();
	for (int i = 0; i < MAX_COROUTINES; i++)
		mprotect((uint8_t *)stack_of(i) - GUARD, GUARD, PROT_NONE);
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &bottom, &outside_size);
	outside_stack = bottom;
	pthread_attr_destroy(&attr);
}

void sched_reset(uint64_t seed)
{
	static const uint32_t slices[] = { 1, 2, 4, 16, 64, 256 };
	bool trace = sim.trace;

	get_ready();
	sim = (struct sim) { .seed = seed, .random = seed, .now = 1000, .progress = 1000,
			     .patience = 60, .trace = trace };
	sim.slice = slices[sim_below(6)];
	sim.stale = sim_chance(2) ? sim_between(2, 20) : 0;
	sim.strict = sim_chance(3);
	n_coroutines = n_left = 0;
	memset(history, 0, sizeof(history));
}

void sched_run(void)
{
	struct coroutine *first = next();

	if (first)
		enter(&outside, &outside_fake, first);
	__sanitizer_finish_switch_fiber(outside_fake, NULL, NULL);
	sim.self = NULL;
}

/* ---- Waiting ---------------------------------------------------------------------- */

bool sim_wait(const char *what, bool (*condition)(void *), void *arg, double deadline)
{
	struct coroutine *c = sim.self;

	c->condition = condition;
	c->condition_arg = arg;
	c->waits = what;
	c->deadline = deadline;
	c->ready = false;
	c->timed_out = false;
	c->looked = sim.events - 1;
	do
		go_on();
	while (!c->ready);
	c->ready = true;
	c->deadline = -1;
	c->condition = NULL;
	c->view = sim.stores;
	return !c->timed_out || (condition && condition(arg));
}

void sim_sleep(double seconds)
{
	sim_wait("sleeps", NULL, NULL, sim.now + seconds);
}

/* ---- Clocks ----------------------------------------------------------------------- */

/* It looked at the clock again and again, and nothing has happened since. */
static bool only_spins(const struct coroutine *c)
{
	return c->clock_reads > 2 && c->clock_events == sim.events;
}

static bool others_busy(void)
{
	int i;

	for (i = 0; i < n_coroutines; i++)
		if (&coroutines[i] != sim.self && is_ready(&coroutines[i]) &&
		    !only_spins(&coroutines[i]))
			return true;
	return false;
}

/* Who looks at the clock again and again waits for it: time passes, but not past a timeout. */
static void look_at_clock(double seconds)
{
	struct coroutine *c = sim.self;
	double until;
	int i;

	if (!c)
		return;
	c->priority = 0;
	c->clock_reads = c->clock_events == sim.events ? c->clock_reads + 1 : 0;
	c->clock_events = sim.events;
	if (others_busy()) {
		sim.now += 1e-7;
		sim_yield();
		return;
	}
	until = sim.now + seconds;
	if (c->clock_reads > 8)
		until = sim.now + (c->clock_reads < 14 ? 1e-6 * (1 << c->clock_reads) : 16e-3);
	for (i = 0; i < n_coroutines; i++)
		if (&coroutines[i] != c && may_run(&coroutines[i]) &&
		    coroutines[i].deadline >= 0 && coroutines[i].deadline < until)
			until = coroutines[i].deadline;
	if (until > sim.now)
		sim.now = until;
	sim_yield();
}

/* Nanoseconds; few looks exceed the time that the pump polls. */
uint64_t sim_ticks(void)
{
	look_at_clock(1e-4);
	return (uint64_t)(1e9 * sim.now);
}

double xt_now(void)
{
	look_at_clock(1e-6);
	return sim.now;
}

double xt_ticks_per_us(void)
{
	return 1000;
}

/* ---- Atomic accesses -------------------------------------------------------------- */

static void now_visible(void)
{
	if (sim.self)
		sim.self->view = sim.stores;
}

static void note(const uint32_t *p)
{
	history[sim.stores++ % HISTORY] = (struct store) {
		p, __atomic_load_n(p, __ATOMIC_RELAXED), sim.self
	};
}

uint32_t sim_load(const uint32_t *p, int order)
{
	uint32_t value;
	uint64_t from, i;

	(void)order;
	sim_step();
	value = __atomic_load_n(p, __ATOMIC_RELAXED);
	if (!sim.self || !sim.stale)
		return value;
	if (sim.stores - sim.self->view >= HISTORY)
		sim.self->view = sim.stores - HISTORY + 1;
	from = sim.stores;
	if (sim_chance(sim.stale))
		from -= sim_below((uint32_t)(sim.stores - sim.self->view) + 1);
	sim.self->view = from;
	for (i = sim.stores; i > from; i--) {
		const struct store *s = &history[(i - 1) % HISTORY];

		if (s->address == p && s->by == sim.self)
			break;
		if (s->address == p)
			value = s->before;
	}
	return value;
}

void sim_store(const uint32_t *p)
{
	sim_step();
	note(p);
	sim.events++;
}

void sim_exchange(const uint32_t *p)
{
	sim_step();
	now_visible();
	note(p);
	sim.events++;
}

void sim_fence(int order)
{
	(void)order;
	sim_step();
	now_visible();
}
