// SPDX-License-Identifier: GPL-2.0
/*
 * What runs hca/: everything in there happens here.  There is one seat per CPU
 * and one token.  Only who holds the token runs, so hca/ needs no locks.
 * Doorbells are memory, nothing wakes the holder: it looks.
 *
 * How often it looks is the policy of this file.  With work it goes on at once.
 * Without, it spins for a while, then naps for a share of the time it has been
 * idle, so that a short pause costs no latency and a long one no CPU.  After
 * that it sleeps, and a timer interrupt looks at the doorbells, which costs
 * less than to wake anybody.
 *
 * A seat has a thread and a tasklet.  The thread stays where nobody else wants
 * the CPU, and does what may sleep, firmware commands above all.  The tasklet
 * visits a CPU that is in use: an interrupt brings it, and it goes as soon as it
 * has run out of work or after a turn, for what it has just done is most likely
 * what the one that waits there has waited for.  It costs no change of tasks; with
 * as many busy pollers as CPUs, latency is what such a hand-over takes.
 *
 * A CPU may be busy with interrupts or softirqs off, even waiting for us: an
 * offer not taken within a tick goes to the next.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "xhca.h"
#include "compat.h"

#define SPIN_NS		(1000 * NSEC_PER_USEC)	/* idle, since the last work */
#define VISIT_NS	(20 * NSEC_PER_USEC)	/* idle, and the CPU is wanted */
#define TURN_NS		(100 * NSEC_PER_USEC)	/* busy, and the CPU is wanted */
#define NAP_NS		(1 * NSEC_PER_USEC)	/* the shortest: a timer's latency */
#define NAP_SHARE	8			/* a nap's part of the time idle */
#define SLEEP_AFTER_NS	(4 * NSEC_PER_MSEC)	/* idle: from naps to sleep */
#define LOOK_NS		(500 * NSEC_PER_USEC)	/* asleep: at the doorbells */
#define SLEEP_NS	(50 * NSEC_PER_MSEC)	/* asleep: at everything */
#define TICK_NS		(1000 * NSEC_PER_USEC)	/* awake: are offers taken? */

/*
 * The token's state: held by the thread, held by the tasklet, offered to both.
 * Only the holder leaves the first two, only tick() enters LOOKED_AT.
 */
enum { HELD, VISITED, OFFERED, PARKED, LOOKED_AT, STATES = 8 };

struct xhca_seat {
	struct xhca_engine *engine;
	unsigned int cpu;
	struct task_struct *task;
	struct tasklet_struct visit;
	struct __call_single_data call;	/* starts the tasklet from another CPU */
	atomic_t called;		/* and is on its way */
} __aligned(STATES);

struct engine_call {
	struct list_head entry;
	void (*fn)(void *arg);
	void *arg;
	struct completion done;
};

/* ---- The token ---------------------------------------------------------------- */

static long token(const struct xhca_seat *s, int state)
{
	BUILD_BUG_ON(__alignof__(struct xhca_seat) < STATES);
	return (long)s | state;
}

static struct xhca_seat *seat_of(long token)
{
	return (struct xhca_seat *)(token & ~(STATES - 1L));
}

/* True if nobody else has changed the token since it was @old. */
static bool offer(struct xhca_engine *e, long old, struct xhca_seat *to)
{
	if (atomic_long_cmpxchg(&e->token, old, token(to, OFFERED)) != old)
		return false;
	WRITE_ONCE(e->offers, e->offers + 1);
	return true;
}

static void offer_to_thread(struct xhca_engine *e, long old, struct xhca_seat *to)
{
	if (offer(e, old, to))
		wake_up_process(to->task);
}

/*
 * A late offer and the next one may call the same CPU at the same time, even from an
 * interrupt of each other; a call must not be queued twice.
 */
static void call_seat(struct xhca_seat *s)
{
	if (!atomic_xchg(&s->called, 1) && smp_call_function_single_async(s->cpu, &s->call))
		atomic_set(&s->called, 0);
}

static void call_visit(void *seat)
{
	struct xhca_seat *s = seat;

	atomic_set_release(&s->called, 0);
	tasklet_hi_schedule(&s->visit);
}

/* Not from a thread to its own CPU */
static void offer_visit(struct xhca_engine *e, long old, struct xhca_seat *to)
{
	if (!offer(e, old, to))
		return;
	if (to->cpu == raw_smp_processor_id())
		tasklet_hi_schedule(&to->visit);
	else
		call_seat(to);
}

static bool take(struct xhca_seat *s, int state)
{
	struct xhca_engine *e = s->engine;
	long old = token(s, OFFERED);

	if (atomic_long_cmpxchg(&e->token, old, token(s, state)) != old)
		return false;
	e->turn = ktime_get_ns();
	return true;
}

static struct xhca_seat *next_seat(struct xhca_engine *e, struct xhca_seat *last)
{
	return last + 1 == e->seat + e->nseats ? e->seat : last + 1;
}

/* The one of this CPU, or any */
static struct xhca_seat *seat_here(struct xhca_engine *e)
{
	struct xhca_seat *s, *end = e->seat + e->nseats;

	for (s = e->seat; s < end; s++)
		if (s->cpu == smp_processor_id())
			return s;
	return e->seat;
}

/* Somebody has something to do for whoever holds the token. */
static void unpark(struct xhca_engine *e)
{
	long t = atomic_long_read(&e->token);

	while ((t & (STATES - 1)) >= PARKED) {
		if ((t & (STATES - 1)) == PARKED)
			offer_to_thread(e, t, seat_of(t));
		cpu_relax();
		t = atomic_long_read(&e->token);
	}
}

/* Parked: has a doorbell rung?  While it looks, the token is nobody else's. */
static void tick_parked(struct xhca_engine *e, long t)
{
	long looked_at = token(seat_of(t), LOOKED_AT);

	if (atomic_long_cmpxchg(&e->token, t, looked_at) != t)
		return;
	if (!e->asleep || ktime_get_ns() >= e->wake_at || hca_fabric_rung(&e->fabric))
		offer_visit(e, looked_at, seat_here(e));
	else
		atomic_long_set_release(&e->token, t);
}

/* Ends naps, looks at doorbells for the sleeper, and sees that offers are taken. */
static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct xhca_engine *e = container_of(timer, struct xhca_engine, timer);
	long t = atomic_long_read(&e->token);
	bool stale = e->watched == READ_ONCE(e->offers);

	if ((t & (STATES - 1)) == PARKED)
		tick_parked(e, t);
	else if ((t & (STATES - 1)) == OFFERED && stale)
		offer_visit(e, t, next_seat(e, seat_of(t)));
	e->watched = READ_ONCE(e->offers);
	t = atomic_long_read(&e->token);
	/* Not forwarded: park() may be starting it at this moment. */
	hrtimer_start(timer, ns_to_ktime((t & (STATES - 1)) == PARKED ? LOOK_NS : TICK_NS),
		      HRTIMER_MODE_REL);
	return HRTIMER_NORESTART;
}

void xhca_engine_call(struct xhca *x, void (*fn)(void *arg), void *arg)
{
	struct xhca_engine *e = &x->engine;
	struct engine_call call = { .fn = fn, .arg = arg };

	init_completion(&call.done);
	spin_lock(&e->lock);
	list_add_tail(&call.entry, &e->calls);
	spin_unlock(&e->lock);
	/* Pairs with park(): it sees the call, or this sees the token parked. */
	smp_mb();
	unpark(e);
	wait_for_completion(&call.done);
}

static bool run_call(struct xhca_engine *e)
{
	struct engine_call *call;

	if (list_empty_careful(&e->calls))
		return false;
	spin_lock(&e->lock);
	call = list_first_entry(&e->calls, struct engine_call, entry);
	list_del(&call->entry);
	spin_unlock(&e->lock);
	call->fn(call->arg);
	complete(&call->done);
	return true;
}

/* ---- Off the CPU ------------------------------------------------------------- */

/* Ends the holder's hold for @ns, or until a call; asleep also for a doorbell. */
static void park(struct xhca_engine *e, u64 ns, bool asleep)
{
	struct xhca_seat *s = seat_of(atomic_long_read(&e->token));

	if (asleep)
		e->sleeps++;
	else
		e->naps++;
	e->asleep = asleep;
	e->wake_at = ktime_get_ns() + ns;
	atomic_long_set_release(&e->token, token(s, PARKED));
	hrtimer_start(&e->timer, ns_to_ktime(asleep ? LOOK_NS : ns), HRTIMER_MODE_REL);
	/* Pairs with xhca_engine_call(). */
	smp_mb();
	if (!list_empty_careful(&e->calls))
		unpark(e);
}

static void wait_for_token(struct xhca_seat *s)
{
	set_current_state(TASK_IDLE);
	if (atomic_long_read(&s->engine->token) != token(s, OFFERED) && !kthread_should_stop())
		schedule();
	__set_current_state(TASK_RUNNING);
}

/* ---- The loop ------------------------------------------------------------------ */

static void give_way(struct xhca_engine *e, long t)
{
	if (e->nseats == 1) {
		park(e, NAP_NS, false);
		return;
	}
	e->passes++;
	offer_visit(e, t, next_seat(e, seat_of(t)));
}

static void rest(struct xhca_engine *e, u64 now)
{
	u64 idle = now - e->busy, due = hca_fabric_deadline(&e->fabric);

	due = due > now + NAP_NS ? due - now : NAP_NS;
	if (idle < SLEEP_AFTER_NS || due < LOOK_NS)
		park(e, clamp_t(u64, idle / NAP_SHARE, NAP_NS, due), false);
	else
		park(e, min_t(u64, due, SLEEP_NS), true);
}

static bool turn_is_over(const struct xhca_engine *e, u64 now, bool work)
{
	u64 turn = now - e->turn;

	return work ? list_empty(&e->fabric.run) || turn >= TURN_NS : turn >= VISIT_NS;
}

/* After a look: goes on, gives way to who wants the CPU, or rests. */
static void decide(struct xhca_engine *e, long t, bool work, bool wanted)
{
	u64 now = ktime_get_ns();

	if (work)
		e->busy = now;
	if (now - e->busy >= SPIN_NS)
		rest(e, now);
	else if (wanted && turn_is_over(e, now, work))
		give_way(e, t);
}

/* What interrupts may not do is the thread's. */
static bool wants_thread(struct xhca_engine *e)
{
	return is_idle_task(current) || !list_empty_careful(&e->calls) ||
	       hca_fabric_must_sleep(&e->fabric);
}

static void visit(struct tasklet_struct *tasklet)
{
	struct xhca_seat *s = from_tasklet(s, tasklet, visit);
	struct xhca_engine *e = s->engine;
	long t = token(s, VISITED);

	if (!take(s, VISITED))
		return;
	do {
		if (wants_thread(e))
			offer_to_thread(e, t, s);
		else
			decide(e, t, hca_fabric_poll_atomic(&e->fabric), true);
	} while (atomic_long_read(&e->token) == t);
}

static int seat_thread(void *arg)
{
	struct xhca_seat *s = arg;
	struct xhca_engine *e = s->engine;
	long t = token(s, HELD);

	memalloc_noio_save();
	while (!kthread_should_stop()) {
		if (atomic_long_read(&e->token) == t) {
			if (!run_call(e))
				decide(e, t, hca_fabric_poll(&e->fabric), !single_task_running());
		} else if (!take(s, HELD)) {
			wait_for_token(s);
		}
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* From now on it is nobody's. */
static void drop_token(void *engine)
{
	atomic_long_set(&((struct xhca_engine *)engine)->token, 0);
}

static void nothing(void *unused)
{
}

static void stop_seats(struct xhca_engine *e)
{
	struct xhca_seat *s;

	hrtimer_cancel(&e->timer);
	for (s = e->seat; s < e->seat + e->nseats; s++) {
		kthread_stop(s->task);
		/* Calls run in order: none of ours is on its way after this one. */
		smp_call_function_single(s->cpu, nothing, NULL, true);
		tasklet_kill(&s->visit);
	}
}

static int start_seats(struct xhca_engine *e)
{
	struct task_struct *task;
	struct xhca_seat *s;
	unsigned int cpu;
	int err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		s = &e->seat[e->nseats];
		s->engine = e;
		s->cpu = cpu;
		tasklet_setup(&s->visit, visit);
		INIT_CSD(&s->call, call_visit, s);
		task = kthread_create_on_cpu(seat_thread, s, cpu, KBUILD_MODNAME "/%u");
		if (IS_ERR(task)) {
			err = PTR_ERR(task);
			break;
		}
		s->task = task;
		sched_set_normal(task, MIN_NICE);
		e->nseats++;
	}
	cpus_read_unlock();
	if (err) {
		stop_seats(e);
		return err;
	}
	atomic_long_set(&e->token, token(e->seat, OFFERED));
	for (s = e->seat; s < e->seat + e->nseats; s++)
		wake_up_process(s->task);
	hrtimer_start(&e->timer, ns_to_ktime(TICK_NS), HRTIMER_MODE_REL);
	return 0;
}

int xhca_engine_init(struct xhca *x)
{
	struct xhca_engine *e = &x->engine;
	int err;

	spin_lock_init(&e->lock);
	INIT_LIST_HEAD(&e->calls);
	xhca_hrtimer_setup(&e->timer, tick);
	e->busy = ktime_get_ns();
	e->turn = e->busy;
	e->seat = kcalloc(num_possible_cpus(), sizeof(*e->seat), GFP_KERNEL);
	if (!e->seat)
		return -ENOMEM;
	err = hca_fabric_init(&e->fabric);
	if (err)
		goto err_seat;
	err = start_seats(e);
	if (err)
		goto err_fabric;
	return 0;

err_fabric:
	hca_fabric_free(&e->fabric);
err_seat:
	kfree(e->seat);
	return err;
}

void xhca_engine_exit(struct xhca *x)
{
	xhca_engine_call(x, drop_token, &x->engine);
	stop_seats(&x->engine);
	hca_fabric_free(&x->engine.fabric);
	kfree(x->engine.seat);
}
