// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that runs hca/: everything in there happens here, so it needs no
 * locks.  Doorbells are memory, nothing wakes the thread: it looks.
 *
 * How often it looks is the policy of this file.  With work it goes on at
 * once.  Without, it spins for a while if nobody waits for its CPU, and then
 * sleeps for a share of the time it has been idle, so that a short pause costs
 * no latency and a long one no CPU.  It runs at real-time priority, and in turn
 * never keeps a CPU for long that somebody else waits for.
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/stat.h>

#include "xhca.h"

#define SPIN_NS		(1000 * NSEC_PER_USEC)	/* idle, alone on the CPU */
#define SPIN_SHARED_NS	(5 * NSEC_PER_USEC)	/* idle, not alone */
#define TURN_NS		(100 * NSEC_PER_USEC)	/* busy, not alone */
#define NAP_NS		(10 * NSEC_PER_USEC)	/* for those who wait */
#define SLEEP_MAX_NS	(1000 * NSEC_PER_USEC)
#define IDLE_SHARE	8

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

static bool run_calls(struct xhca_engine *e)
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

static void sleep_ns(struct xhca_engine *e, u64 ns)
{
	ktime_t t = ns_to_ktime(ns);

	set_current_state(TASK_IDLE);
	if (list_empty_careful(&e->calls) && !kthread_should_stop()) {
		e->sleeps++;
		schedule_hrtimeout_range(&t, ns / 16, HRTIMER_MODE_REL);
	}
	__set_current_state(TASK_RUNNING);
}

/* Nothing to do since @idle ns. */
static void rest(struct xhca_engine *e, u64 now, u64 idle)
{
	u64 ns, deadline = hca_fabric_deadline(&e->fabric);
	bool alone = single_task_running();

	if (idle < (alone ? SPIN_NS : SPIN_SHARED_NS)) {
		cpu_relax();
		return;
	}
	ns = clamp_t(u64, idle / IDLE_SHARE, NAP_NS, SLEEP_MAX_NS);
	if (deadline <= now)
		return;
	sleep_ns(e, min(ns, deadline - now));
}

static int engine_thread(void *arg)
{
	struct xhca_engine *e = arg;
	u64 busy = ktime_get_ns(), turn = busy;

	memalloc_noio_save();
	while (!kthread_should_stop()) {
		bool work = hca_fabric_poll(&e->fabric) | run_calls(e);
		u64 now = ktime_get_ns();

		if (!work) {
			u64 sleeps = e->sleeps;

			rest(e, now, now - busy);
			if (sleeps != e->sleeps)
				turn = ktime_get_ns();
			cond_resched();
			continue;
		}
		busy = now;
		if (now - turn > TURN_NS) {
			if (!single_task_running()) {
				e->naps++;
				sleep_ns(e, NAP_NS);
			}
			turn = ktime_get_ns();
			cond_resched();
		}
	}
	return 0;
}

int xhca_engine_init(struct xhca *x)
{
	struct xhca_engine *e = &x->engine;
	int err;

	spin_lock_init(&e->lock);
	INIT_LIST_HEAD(&e->calls);
	err = hca_fabric_init(&e->fabric);
	if (err)
		return err;
	e->task = kthread_create(engine_thread, e, "xhca");
	if (IS_ERR(e->task)) {
		hca_fabric_free(&e->fabric);
		return PTR_ERR(e->task);
	}
	sched_set_fifo_low(e->task);
	wake_up_process(e->task);
	return 0;
}

void xhca_engine_exit(struct xhca *x)
{
	kthread_stop(x->engine.task);
	hca_fabric_free(&x->engine.fabric);
}
