// SPDX-License-Identifier: GPL-2.0
/*
 * The threads that run hca/: everything in there happens here.  There is one
 * thread per CPU, called a seat, and one token.  Only who holds the token runs,
 * so hca/ needs no locks.  Doorbells are memory, nothing wakes the holder: it
 * looks.
 *
 * How often it looks is the policy of this file.  With work it goes on at once.
 * Without, it spins for a while, then naps for a share of the time it has been
 * idle, so that a short pause costs no latency and a long one no CPU.  After
 * that it sleeps, and a timer interrupt looks at the doorbells, which costs
 * less than to wake a thread.
 *
 * A seat on a CPU that nobody else wants keeps the token.  Else it passes the
 * token to the next CPU, as soon as it has run out of work or after a turn: what
 * it has just done is most likely what the one that waits here has waited for.
 * Seats have the highest priority that an ordinary thread can have: the next one
 * is on its CPU at once.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "xhca.h"

#define SPIN_NS		(1000 * NSEC_PER_USEC)	/* idle, since the last work */
#define VISIT_NS	(20 * NSEC_PER_USEC)	/* idle, somebody waits here */
#define TURN_NS		(100 * NSEC_PER_USEC)	/* busy, somebody waits here */
#define NAP_NS		(1 * NSEC_PER_USEC)	/* the shortest: a timer's latency */
#define NAP_SHARE	8			/* a nap's part of the time idle */
#define SLEEP_AFTER_NS	(4 * NSEC_PER_MSEC)	/* idle: from naps to sleep */
#define LOOK_NS		(500 * NSEC_PER_USEC)	/* asleep: at the doorbells */
#define SLEEP_NS	(50 * NSEC_PER_MSEC)	/* asleep: at everything */

struct xhca_seat {
	struct xhca_engine *engine;
	struct task_struct *task;
};

struct engine_call {
	struct list_head entry;
	void (*fn)(void *arg);
	void *arg;
	struct completion done;
};

static void wake_holder(struct xhca_engine *e)
{
	wake_up_process(READ_ONCE(e->holder)->task);
}

void xhca_engine_call(struct xhca *x, void (*fn)(void *arg), void *arg)
{
	struct xhca_engine *e = &x->engine;
	struct engine_call call = { .fn = fn, .arg = arg };

	init_completion(&call.done);
	spin_lock(&e->lock);
	list_add_tail(&call.entry, &e->calls);
	spin_unlock(&e->lock);
	/* Who becomes the holder after this finds the call. */
	smp_mb();
	wake_holder(e);
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

static bool may_sleep(struct xhca_engine *e)
{
	set_current_state(TASK_IDLE);
	return list_empty_careful(&e->calls) && !kthread_should_stop();
}

static void awake(struct xhca_engine *e)
{
	__set_current_state(TASK_RUNNING);
	e->turn = ktime_get_ns();
}

static void nap(struct xhca_engine *e, u64 ns)
{
	ktime_t t = ns_to_ktime(ns);

	if (may_sleep(e)) {
		e->naps++;
		schedule_hrtimeout_range(&t, ns / 16, HRTIMER_MODE_REL);
	}
	awake(e);
}

/* While the holder sleeps nobody else touches the fabric. */
static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct xhca_engine *e = container_of(timer, struct xhca_engine, timer);

	if (hca_fabric_rung(&e->fabric)) {
		wake_holder(e);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
	return HRTIMER_RESTART;
}

static void deep_sleep(struct xhca_engine *e, u64 ns)
{
	ktime_t t = ns_to_ktime(ns);

	if (may_sleep(e)) {
		e->sleeps++;
		hrtimer_start(&e->timer, ns_to_ktime(LOOK_NS), HRTIMER_MODE_REL);
		schedule_hrtimeout_range(&t, ns / 16, HRTIMER_MODE_REL);
		hrtimer_cancel(&e->timer);
	}
	awake(e);
}

static void wait_for_token(struct xhca_seat *s)
{
	set_current_state(TASK_IDLE);
	/* Pairs with pass(): what the last holder did is visible. */
	if (smp_load_acquire(&s->engine->holder) != s && !kthread_should_stop())
		schedule();
	__set_current_state(TASK_RUNNING);
}

static void pass(struct xhca_engine *e)
{
	struct xhca_seat *next = e->holder + 1;

	if (next == e->seat + e->nseats)
		next = e->seat;
	e->passes++;
	e->turn = ktime_get_ns();
	smp_store_release(&e->holder, next);
	wake_up_process(next->task);
}

/* ---- The loop ------------------------------------------------------------------ */

/* Somebody waits for this CPU. */
static void give_way(struct xhca_engine *e)
{
	if (e->nseats > 1)
		pass(e);
	else
		nap(e, NAP_NS);
}

static void rest(struct xhca_engine *e, u64 now)
{
	u64 idle = now - e->busy, due = hca_fabric_deadline(&e->fabric);

	if (idle < SPIN_NS) {
		if (now - e->turn < VISIT_NS || single_task_running())
			cpu_relax();
		else
			give_way(e);
		return;
	}
	due = due > now + NAP_NS ? due - now : NAP_NS;
	if (idle < SLEEP_AFTER_NS || due < LOOK_NS)
		nap(e, clamp_t(u64, idle / NAP_SHARE, NAP_NS, due));
	else
		deep_sleep(e, min_t(u64, due, SLEEP_NS));
}

static void look_once(struct xhca_engine *e)
{
	bool work = hca_fabric_poll(&e->fabric);
	u64 now;

	work |= run_call(e);
	now = ktime_get_ns();
	if (!work) {
		rest(e, now);
		return;
	}
	e->busy = now;
	if ((list_empty(&e->fabric.run) || now - e->turn >= TURN_NS) && !single_task_running())
		give_way(e);
}

static int seat_thread(void *arg)
{
	struct xhca_seat *s = arg;

	memalloc_noio_save();
	while (!kthread_should_stop()) {
		if (smp_load_acquire(&s->engine->holder) == s)
			look_once(s->engine);
		else
			wait_for_token(s);
		cond_resched();
	}
	return 0;
}

/* A seat may pass the token to one that has just stopped: tasks go last. */
static void stop_seats(struct xhca_engine *e)
{
	unsigned int i;

	for (i = 0; i < e->nseats; i++)
		kthread_stop(e->seat[i].task);
	for (i = 0; i < e->nseats; i++)
		put_task_struct(e->seat[i].task);
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
		task = kthread_create_on_cpu(seat_thread, s, cpu, KBUILD_MODNAME "/%u");
		if (IS_ERR(task)) {
			err = PTR_ERR(task);
			break;
		}
		s->task = get_task_struct(task);
		sched_set_normal(task, MIN_NICE);
		e->nseats++;
	}
	cpus_read_unlock();
	if (err) {
		stop_seats(e);
		return err;
	}
	e->holder = e->seat;
	for (s = e->seat; s < e->seat + e->nseats; s++)
		wake_up_process(s->task);
	return 0;
}

int xhca_engine_init(struct xhca *x)
{
	struct xhca_engine *e = &x->engine;
	int err;

	spin_lock_init(&e->lock);
	INIT_LIST_HEAD(&e->calls);
	hrtimer_init(&e->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	e->timer.function = look;
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
	stop_seats(&x->engine);
	hca_fabric_free(&x->engine.fabric);
	kfree(x->engine.seat);
}
