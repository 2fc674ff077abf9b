// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that runs hca/: everything in there happens here, so it needs no
 * locks.  Doorbells are memory, nothing wakes the thread: it looks.
 *
 * How often it looks is the policy of this file.  With work it goes on at
 * once.  Without, it spins for a while if nobody waits for its CPU, then naps
 * for a share of the time it has been idle, so that a short pause costs no
 * latency and a long one no CPU.  After that it sleeps, and a timer interrupt
 * looks at the doorbells, which costs less than to wake a thread.
 *
 * It has the highest priority that an ordinary thread can have: it is on a CPU
 * as soon as it wakes, but a CPU is never its own.  Where somebody waits for
 * the CPU it naps after each turn.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/stat.h>

#include "xhca.h"

#define SPIN_NS		(1000 * NSEC_PER_USEC)	/* idle, alone on the CPU */
#define SPIN_SHARED_NS	(5 * NSEC_PER_USEC)	/* idle, somebody waits */
#define TURN_NS		(100 * NSEC_PER_USEC)	/* busy, somebody waits */
#define NAP_NS		(1 * NSEC_PER_USEC)	/* the shortest: a timer's latency */
#define NAP_SHARE	8			/* a nap's part of the time idle */
#define SLEEP_AFTER_NS	(4 * NSEC_PER_MSEC)	/* idle: from naps to sleep */
#define LOOK_NS		(500 * NSEC_PER_USEC)	/* asleep: at the doorbells */
#define SLEEP_NS	(50 * NSEC_PER_MSEC)	/* asleep: at everything */

struct engine_call {
	struct list_head entry;
	void (*fn)(void *arg);
	void *arg;
	struct completion done;
};

void xhca_engine_call(struct xhca *x, void (*fn)(void *arg), void *arg)
{
	struct xhca_engine *e = &x->engine;
	struct engine_call call = { .fn = fn, .arg = arg };

	init_completion(&call.done);
	spin_lock(&e->lock);
	list_add_tail(&call.entry, &e->calls);
	spin_unlock(&e->lock);
	wake_up_process(e->task);
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

/* Off the CPU for @ns, or until somebody calls. */
static void nap(struct xhca_engine *e, u64 ns)
{
	ktime_t t = ns_to_ktime(ns);

	set_current_state(TASK_IDLE);
	if (list_empty_careful(&e->calls) && !kthread_should_stop()) {
		e->naps++;
		schedule_hrtimeout_range(&t, ns / 16, HRTIMER_MODE_REL);
	}
	__set_current_state(TASK_RUNNING);
	e->turn = ktime_get_ns();
}

/* While the thread sleeps nobody else touches the fabric. */
static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct xhca_engine *e = container_of(timer, struct xhca_engine, timer);

	if (hca_fabric_rung(&e->fabric)) {
		wake_up_process(e->task);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
	return HRTIMER_RESTART;
}

static void deep_sleep(struct xhca_engine *e, u64 ns)
{
	ktime_t t = ns_to_ktime(ns);

	set_current_state(TASK_IDLE);
	if (list_empty_careful(&e->calls) && !kthread_should_stop()) {
		e->sleeps++;
		hrtimer_start(&e->timer, ns_to_ktime(LOOK_NS), HRTIMER_MODE_REL);
		schedule_hrtimeout_range(&t, ns / 16, HRTIMER_MODE_REL);
		hrtimer_cancel(&e->timer);
	}
	__set_current_state(TASK_RUNNING);
	e->turn = ktime_get_ns();
}

/* There has been nothing to do since @idle ns. */
static void rest(struct xhca_engine *e, u64 now, u64 idle)
{
	u64 due = hca_fabric_deadline(&e->fabric);

	if (idle < (single_task_running() ? SPIN_NS : SPIN_SHARED_NS)) {
		cpu_relax();
		return;
	}
	due = due > now + NAP_NS ? due - now : NAP_NS;
	if (idle < SLEEP_AFTER_NS || due < LOOK_NS)
		nap(e, clamp_t(u64, idle / NAP_SHARE, NAP_NS, due));
	else
		deep_sleep(e, min_t(u64, due, SLEEP_NS));
}

static int engine_thread(void *arg)
{
	struct xhca_engine *e = arg;
	u64 now, busy = ktime_get_ns();

	memalloc_noio_save();
	e->turn = busy;
	while (!kthread_should_stop()) {
		bool work = hca_fabric_poll(&e->fabric);

		work |= run_call(e);
		now = ktime_get_ns();
		if (!work) {
			rest(e, now, now - busy);
			cond_resched();
			continue;
		}
		busy = now;
		if (now - e->turn < TURN_NS)
			continue;
		e->turn = now;
		if (!single_task_running())
			nap(e, NAP_NS);
		cond_resched();
	}
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
	err = hca_fabric_init(&e->fabric);
	if (err)
		return err;
	e->task = kthread_create(engine_thread, e, KBUILD_MODNAME);
	if (IS_ERR(e->task)) {
		hca_fabric_free(&e->fabric);
		return PTR_ERR(e->task);
	}
	sched_set_normal(e->task, MIN_NICE);
	wake_up_process(e->task);
	return 0;
}

void xhca_engine_exit(struct xhca *x)
{
	kthread_stop(x->engine.task);
	hca_fabric_free(&x->engine.fabric);
}
