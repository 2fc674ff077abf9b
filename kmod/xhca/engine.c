// SPDX-License-Identifier: GPL-2.0
/*
 * Runs hca/: all code of hca/ is called from here.  Each fabric has an engine, with a worker for
 * each CPU.  At any time at most one worker of an engine owns the hca/ of the fabric, so hca/ needs
 * no locks.  Doorbells are plain memory that raise no interrupt, so the owner polls them.
 *
 * A worker runs in one of two contexts:
 *  - its thread, when no other task wants the CPU.  Only the thread may sleep; it runs the
 *    firmware commands and the calls of xhca_engine_call().
 *  - a softirq (tasklet), when the CPU is in use.  It needs no task switch.  It ends after
 *    RUN_NS, or when there is no more work, because the task that it has interrupted most
 *    likely waits for what has just been done.
 *
 * States of the owner word (a worker, with the state in its low bits):
 *
 *	         engine_take()                          engine_park()
 *	OFFERED --------------> IN_THREAD, IN_SOFTIRQ --------> PARKED
 *	   ^                         |                           |  ^
 *	   |     engine_yield()      |  engine_check_doorbells() |  | no work found
 *	   +-------------------------+                           v  |
 *	   +-------------------------------------------------- CHECKING
 *	                        work found
 *
 *	OFFERED		the thread or the softirq of the worker was started and will take it
 *	PARKED		hca/ does not run until a timer, a call (engine_unpark()), a doorbell or a
 *			frame (xhca_engine_wake())
 *	CHECKING	a CPU reads the doorbells on behalf of the parked owner
 *
 * Other transitions: engine_unpark() changes PARKED to OFFERED, so that a call is executed.  A
 * softirq changes IN_SOFTIRQ to OFFERED if there is work that may sleep, or if the CPU is idle;
 * then the thread of the same CPU continues.  With one worker, engine_yield() changes the state to
 * PARKED, for as long as the owner has run while another task wanted the CPU, or until the CPU is
 * idle.
 *
 * Only the owner leaves IN_THREAD and IN_SOFTIRQ.  An offer that is not taken within one
 * tick goes to the next worker: the CPU may run with interrupts or softirqs off.  So does
 * an offer to a worker whose CPU has gone offline.
 *
 * Who looks for doorbells:
 *
 *	situation				who looks		interval
 *	---------				---------		--------
 *	there is work				the owner		none
 *	no work, up to SPIN_NS			the owner		none
 *	no work, up to SLEEP_AFTER_NS		the owner, between	a share (PAUSE_SHARE) of
 *						pauses			the time without work
 *	no work for longer: asleep		the owner		SLEEP_NS at most
 *	parked, a CPU becomes idle		that CPU		once
 *	parked, a CPU is busy			a timer of that CPU	CHECK_NS
 *	parked, a CPU leaves idle, and the last	a timer of that CPU	FIRST_CHECK_NS, then each
 *	work is less than ACTIVE_NS ago					twice as long as the one
 *									before, up to CHECK_NS
 *
 * Requests that are retried in vain are no work.  With pauses, the first request after a short
 * pause is found early, and a long pause costs little CPU time.  Only a running task can ring a
 * doorbell, so an idle CPU need not look, and a CPU does not look if another one has done so in its
 * interval.
 *
 * A frame of the wire (frames.c) arrives in a softirq, which ends the pause or the sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/power.h>

#include "xhca.h"
#include "compat.h"

#define SPIN_NS		(1000 * NSEC_PER_USEC)	/* spin this long after the last work */
#define SOFTIRQ_NS	(20 * NSEC_PER_USEC)	/* the same if another task wants the CPU */
#define RUN_NS		(100 * NSEC_PER_USEC)	/* run this long if another task wants the CPU */
#define PAUSE_NS	(1 * NSEC_PER_USEC)	/* shortest pause: a timer's latency */
#define PAUSE_SHARE	8			/* a pause is this part of the time without work */
#define RETRY_SHARE	8			/* without work: of a pass, for its pause */
#define MAX_YIELD_NS	(10 * NSEC_PER_MSEC)	/* longest time for the tasks of the only CPU */
#define SLEEP_AFTER_NS	(4 * NSEC_PER_MSEC)	/* without work: from pauses to sleep */
#define CHECK_NS	(500 * NSEC_PER_USEC)	/* asleep: between two checks of a busy CPU */
#define FIRST_CHECK_NS	(25 * NSEC_PER_USEC)	/* asleep: first check after idle */
#define ACTIVE_NS	(2 * NSEC_PER_SEC)	/* after the last work: use FIRST_CHECK_NS */
#define SLEEP_NS	(50 * NSEC_PER_MSEC)	/* asleep: longest time without a pass */
#define TICK_NS		(1000 * NSEC_PER_USEC)	/* awake: are offers taken? */

enum { IN_THREAD, IN_SOFTIRQ, OFFERED, PARKED, CHECKING, STATES = 8 };

struct xhca_worker {
	struct xhca_engine *engine;
	unsigned int cpu;
	struct task_struct *task;
	struct tasklet_struct softirq;
	struct __call_single_data call;	/* starts the softirq from another CPU */
	atomic_t called;		/* @call is pending */
	struct irq_work kick;		/* starts the softirq from the idle loop */
	struct hrtimer check;		/* checks the doorbells while the CPU is busy */
	u64 check_from, check_ns;	/* when its present interval began, and its length */
	bool check_again;		/* another CPU was checking */
	bool checks_ended;		/* since the CPU became idle */
} __aligned(STATES);

static int engine_hotplug;		/* state of CPU hotplug, of all engines */

/*
 * All engines: engine_idle_changed() calls them.  They share this one probe, because the kernel
 * changes the code of the idle loop for each probe, and interrupts all CPUs several times for that.
 */
static LIST_HEAD(engines);
static DEFINE_MUTEX(engines_lock);	/* changes of the list */

struct engine_call {
	struct list_head entry;
	void (*fn)(void *arg);
	void *arg;
	struct completion done;
};

/* ---- The owner word ------------------------------------------------------------ */

static long engine_owner_word(const struct xhca_worker *w, int state)
{
	BUILD_BUG_ON(__alignof__(struct xhca_worker) < STATES);
	return (long)w | state;
}

static struct xhca_worker *engine_worker_of(long owner)
{
	return (struct xhca_worker *)(owner & ~(STATES - 1L));
}

static int engine_state(long owner)
{
	return owner & (STATES - 1);
}

static bool engine_is_parked(const struct xhca_engine *e)
{
	return engine_state(atomic_long_read(&e->owner)) >= PARKED;
}

/* Longest time until the next tick.  CPUs without a worker do not check themselves. */
static u64 engine_parked_ns(const struct xhca_engine *e, u64 wake_at)
{
	u64 now = ktime_get_ns(), ns = wake_at > now + PAUSE_NS ? wake_at - now : PAUSE_NS;

	return cpumask_subset(cpu_online_mask, &e->cpus) ? ns : min_t(u64, ns, CHECK_NS);
}

static u64 engine_tick_ns(const struct xhca_engine *e, long owner, u64 wake_at)
{
	switch (engine_state(owner)) {
	case PARKED:
		return engine_parked_ns(e, wake_at);
	case CHECKING:
		return PAUSE_NS;
	default:
		return TICK_NS;
	}
}

/*
 * Called by everybody who has parked the owner or has ended a pause, in any order and on
 * several CPUs: the one who starts the timer last starts it for the present state.
 */
static void engine_start_timer(struct xhca_engine *e)
{
	unsigned long flags;
	u64 wake_at;
	long owner;

	local_irq_save(flags);
	do {
		owner = atomic_long_read(&e->owner);
		wake_at = READ_ONCE(e->wake_at);
		hrtimer_start(&e->timer, ns_to_ktime(engine_tick_ns(e, owner, wake_at)),
			      HRTIMER_MODE_REL);
		/* The timer is started before the state is read again. */
		smp_mb();
	} while (atomic_long_read(&e->owner) != owner || READ_ONCE(e->wake_at) != wake_at);
	local_irq_restore(flags);
}

/* Returns true if the owner word was still @old. */
static bool engine_offer(struct xhca_engine *e, long old, struct xhca_worker *to)
{
	if (atomic_long_cmpxchg(&e->owner, old, engine_owner_word(to, OFFERED)) != old)
		return false;
	WRITE_ONCE(e->offers, e->offers + 1);
	if (engine_state(old) >= PARKED)
		engine_start_timer(e);
	return true;
}

static struct xhca_worker *engine_next_worker(struct xhca_engine *e, struct xhca_worker *last)
{
	unsigned int cpu = cpumask_next(last->cpu, &e->cpus);

	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(&e->cpus);
	return cpu < nr_cpu_ids ? &e->worker[cpu] : last;
}

/* @w, or the next one if its CPU is offline */
static struct xhca_worker *engine_online_worker(struct xhca_engine *e, struct xhca_worker *w)
{
	return cpumask_test_cpu(w->cpu, &e->cpus) ? w : engine_next_worker(e, w);
}

static void engine_offer_to_thread(struct xhca_engine *e, long old, struct xhca_worker *to)
{
	to = engine_online_worker(e, to);
	if (engine_offer(e, old, to))
		wake_up_process(to->task);
}

/*
 * A stale offer and a new one may call the same CPU at the same time, one of them in an
 * interrupt that arrives during the other.  A call must not be queued twice.
 */
static void engine_call_worker(struct xhca_worker *w)
{
	if (!atomic_xchg(&w->called, 1) && smp_call_function_single_async(w->cpu, &w->call))
		atomic_set(&w->called, 0);
}

static void engine_call_softirq(void *worker)
{
	struct xhca_worker *w = worker;

	atomic_set_release(&w->called, 0);
	tasklet_hi_schedule(&w->softirq);
}

/* A thread must not call this for its own CPU. */
static void engine_start_softirq(struct xhca_worker *to)
{
	if (to->cpu == raw_smp_processor_id())
		tasklet_hi_schedule(&to->softirq);
	else
		engine_call_worker(to);
}

static void engine_offer_to_softirq(struct xhca_engine *e, long old, struct xhca_worker *to)
{
	if (engine_offer(e, old, to))
		engine_start_softirq(to);
}

static bool engine_take(struct xhca_worker *w, int state)
{
	struct xhca_engine *e = w->engine;
	long old = engine_owner_word(w, OFFERED);

	if (atomic_long_cmpxchg(&e->owner, old, engine_owner_word(w, state)) != old)
		return false;
	e->run_start = hca_fabric_time(e->fabric);
	e->wanted = e->run_start;
	e->yields = false;
	return true;
}

/* Ends a pause: there is a call to run. */
static void engine_unpark(struct xhca_engine *e)
{
	long owner = atomic_long_read(&e->owner);

	while (engine_state(owner) >= PARKED) {
		if (engine_state(owner) == PARKED)
			engine_offer_to_thread(e, owner, engine_worker_of(owner));
		cpu_relax();
		owner = atomic_long_read(&e->owner);
	}
}

/* The CPU is idle, and no task has been woken for it. */
static bool engine_may_spin(void)
{
	return is_idle_task(current) && !need_resched();
}

/* ---- Checks of the doorbells while parked ----------------------------------------- */

/* Has a frame arrived since the last pass began? */
static bool engine_frame_waits(const struct xhca_engine *e)
{
	return !e->yields && atomic_read(&e->frame_arrived);
}

/* A pause for the tasks of the only CPU ends early if they have nothing to do, not for work. */
static bool engine_pause_ends(struct xhca_engine *e)
{
	if (e->yields)
		return engine_may_spin();
	return engine_frame_waits(e) || hca_fabric_rung(e->fabric);
}

static int engine_check_once(struct xhca_engine *e, struct xhca_worker *to)
{
	long owner, checked;
	u64 now;

	/* Pairs with engine_park(): it sees the doorbell, or this sees PARKED. */
	smp_mb();
	owner = atomic_long_read(&e->owner);
	if (engine_state(owner) == CHECKING)
		return -EAGAIN;
	if (engine_state(owner) != PARKED)
		return 0;
	checked = engine_owner_word(engine_worker_of(owner), CHECKING);
	if (atomic_long_cmpxchg(&e->owner, owner, checked) != owner)
		return -EAGAIN;
	now = ktime_get_ns();
	WRITE_ONCE(e->checked, now);
	if (now >= e->wake_at || engine_pause_ends(e))
		return engine_offer(e, checked, to);
	atomic_long_set_release(&e->owner, owner);
	/* Pairs with xhca_engine_wake(): this sees the frame, or it sees PARKED. */
	smp_mb();
	return 0;
}

/*
 * If parked and there is work, offers it to @to and returns 1; the caller starts the softirq
 * or the thread of @to.  Returns -EAGAIN if another CPU is checking.
 */
static int engine_check_doorbells(struct xhca_engine *e, struct xhca_worker *to)
{
	int found;

	/* For a frame that arrives in the state CHECKING, xhca_engine_wake() does nothing. */
	do
		found = engine_check_once(e, to);
	while (!found && engine_is_parked(e) && engine_frame_waits(e));
	return found;
}

/*
 * The frame is in its queue.  The flag is written before the owner word is read.  Who sets PARKED
 * (engine_park(), engine_check_once()) does it before he reads the flag.  So either this finds
 * PARKED and ends it, or the other finds the flag and makes a pass.  If the flag is set already,
 * the frame before this one ends the pause, and the pass that clears the flag has not begun to
 * take frames.
 */
void xhca_engine_wake(struct xhca_engine *e)
{
	struct xhca_worker *here;

	if (atomic_xchg(&e->frame_arrived, 1))
		return;
	here = engine_online_worker(e, &e->worker[smp_processor_id()]);
	if (engine_check_doorbells(e, here) > 0)
		engine_start_softirq(here);
}

static void engine_start_checks(struct xhca_worker *w, u64 ns)
{
	w->check_from = ktime_get_ns();
	w->check_ns = ns;
	hrtimer_start(&w->check, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED);
}

/*
 * One check serves all CPUs: it finds each doorbell that was rung before it began.  So a CPU
 * skips its check if another one has begun in its interval.
 */
static bool engine_was_checked(const struct xhca_engine *e, const struct xhca_worker *w)
{
	return !w->check_again && READ_ONCE(e->checked) > w->check_from;
}

static enum hrtimer_restart engine_check_timer(struct hrtimer *timer)
{
	struct xhca_worker *w = container_of(timer, struct xhca_worker, check);
	int found = 0;

	if (engine_may_spin() && !w->check_again) {
		w->checks_ended = true;
		return HRTIMER_NORESTART;
	}
	if (!engine_was_checked(w->engine, w))
		found = engine_check_doorbells(w->engine, w);
	if (found > 0)
		tasklet_hi_schedule(&w->softirq);
	w->check_again = found < 0;
	w->check_from = ktime_get_ns();
	w->check_ns = found < 0 ? PAUSE_NS : min_t(u64, 2 * w->check_ns, CHECK_NS);
	hrtimer_forward_now(timer, ns_to_ktime(w->check_ns));
	return HRTIMER_RESTART;
}

/*
 * The CPU leaves idle.  need_resched() says that a task will run.  But if the CPU waits with
 * MWAIT and interrupts off, this comes before the handler that wakes the task, and the idle
 * loop ends without another call.  So the checks start in any case; on a CPU that stays idle
 * they end with the first one.  If the timer of the checks is due, or has just ended them, it may
 * be what has ended the idle time: it must not start again, or it would end it again and again.
 */
static void engine_idle_ends(struct xhca_engine *e, struct xhca_worker *w)
{
	bool active = hrtimer_active(&w->check);
	bool due = active && hrtimer_get_expires(&w->check) <= ktime_get();

	if ((due || w->checks_ended) && !need_resched())
		return;
	if (engine_is_parked(e) && ktime_get_ns() - READ_ONCE(e->busy) < ACTIVE_NS)
		engine_start_checks(w, FIRST_CHECK_NS);
	else if (!active)
		engine_start_checks(w, CHECK_NS);
}

/* A task may have rung a doorbell just before. */
static void engine_idle_begins(struct xhca_engine *e, struct xhca_worker *w)
{
	int found = engine_check_doorbells(e, w);

	w->checks_ended = false;
	w->check_again = found < 0;
	if (found > 0)
		irq_work_queue(&w->kick);
	else if (found < 0)
		engine_start_checks(w, PAUSE_NS);
}

/* Called in the idle loop, with interrupts off. */
static void engine_idle_changed(void *data, unsigned int state, unsigned int cpu)
{
	struct xhca_engine *e;

	list_for_each_entry_rcu(e, &engines, idle_entry) {
		if (!cpumask_test_cpu(cpu, &e->cpus))
			continue;
		if (state == (unsigned int)PWR_EVENT_EXIT)
			engine_idle_ends(e, &e->worker[cpu]);
		else
			engine_idle_begins(e, &e->worker[cpu]);
	}
}

static void engine_watch_idle(struct xhca_engine *e)
{
	mutex_lock(&engines_lock);
	list_add_tail_rcu(&e->idle_entry, &engines);
	mutex_unlock(&engines_lock);
}

static void engine_unwatch_idle(struct xhca_engine *e)
{
	mutex_lock(&engines_lock);
	list_del_rcu(&e->idle_entry);
	mutex_unlock(&engines_lock);
	tracepoint_synchronize_unregister();
}

static void engine_kick_softirq(struct irq_work *work)
{
	tasklet_hi_schedule(&container_of(work, struct xhca_worker, kick)->softirq);
}

/* Ends pauses and sleep.  Passes an offer that was not taken to the next worker. */
static enum hrtimer_restart engine_tick(struct hrtimer *timer)
{
	struct xhca_engine *e = container_of(timer, struct xhca_engine, timer);
	long owner = atomic_long_read(&e->owner);
	bool stale = e->watched == READ_ONCE(e->offers);
	struct xhca_worker *here = engine_online_worker(e, &e->worker[smp_processor_id()]);

	if (engine_state(owner) == OFFERED && stale)
		engine_offer_to_softirq(e, owner, engine_next_worker(e, engine_worker_of(owner)));
	else if (engine_check_doorbells(e, here) > 0)
		engine_start_softirq(here);
	e->watched = READ_ONCE(e->offers);
	/* Not hrtimer_forward(): another CPU may be starting the timer now. */
	engine_start_timer(e);
	return HRTIMER_NORESTART;
}

void xhca_engine_call(struct xhca_engine *e, void (*fn)(void *arg), void *arg)
{
	struct engine_call call = { .fn = fn, .arg = arg };

	init_completion(&call.done);
	spin_lock(&e->lock);
	list_add_tail(&call.entry, &e->calls);
	spin_unlock(&e->lock);
	/* Pairs with engine_park(): it sees the call, or this sees PARKED. */
	smp_mb();
	engine_unpark(e);
	wait_for_completion(&call.done);
}

static void engine_noop(void *unused)
{
}

void xhca_engine_wait(struct xhca_engine *e)
{
	xhca_engine_call(e, engine_noop, NULL);
}

static bool engine_run_call(struct xhca_engine *e)
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

/* ---- Pauses ------------------------------------------------------------------ */

/* A thread that is preempted in the state CHECKING would keep all CPUs from checking. */
static int engine_check_in_thread(struct xhca_engine *e, struct xhca_worker *w)
{
	int found;

	preempt_disable();
	found = engine_check_doorbells(e, w);
	preempt_enable();
	return found;
}

/* The owner stops for @ns, or until a call, a frame or, if @asleep, a doorbell. */
static void engine_park(struct xhca_engine *e, u64 ns, bool asleep)
{
	struct xhca_worker *w = engine_worker_of(atomic_long_read(&e->owner));

	if (asleep)
		e->sleeps++;
	else
		e->pauses++;
	WRITE_ONCE(e->wake_at, ktime_get_ns() + ns);
	atomic_long_set_release(&e->owner, engine_owner_word(w, PARKED));
	engine_start_timer(e);
	/* Pairs with xhca_engine_call(), engine_check_doorbells() and xhca_engine_wake(). */
	smp_mb();
	if (!list_empty_careful(&e->calls))
		engine_unpark(e);
	else if ((asleep || engine_frame_waits(e)) && engine_check_in_thread(e, w) > 0)
		wake_up_process(w->task);
}

static void engine_wait_for_offer(struct xhca_worker *w)
{
	set_current_state(TASK_IDLE);
	if (atomic_long_read(&w->engine->owner) != engine_owner_word(w, OFFERED) &&
	    !kthread_should_stop())
		schedule();
	__set_current_state(TASK_RUNNING);
}

/* ---- The loop ------------------------------------------------------------------ */

/* Without another worker, the tasks of this CPU get as much time as the owner has taken. */
static void engine_yield(struct xhca_engine *e, long owner)
{
	struct xhca_worker *next = engine_next_worker(e, engine_worker_of(owner));

	if (next == engine_worker_of(owner)) {
		e->yields = true;
		engine_park(e, clamp_t(u64, ktime_get_ns() - e->wanted, PAUSE_NS, MAX_YIELD_NS),
			    false);
		return;
	}
	e->handovers++;
	engine_offer_to_softirq(e, owner, next);
}

/*
 * The deadline may belong to requests that are retried without success.  So the pause is at
 * least RETRY_SHARE times as long as the pass, and retries take a small part of the time.
 */
static void engine_pause(struct xhca_engine *e)
{
	u64 now = ktime_get_ns(), idle = now - e->busy, due = hca_fabric_deadline(e->fabric);
	u64 least = RETRY_SHARE * (now - hca_fabric_last_pass(e->fabric) + PAUSE_NS);

	due = max(due > now ? due - now : 0, least);
	if (idle < SLEEP_AFTER_NS || due < CHECK_NS)
		engine_park(e, clamp_t(u64, idle / PAUSE_SHARE, least, due), false);
	else
		engine_park(e, min_t(u64, due, SLEEP_NS), true);
}

static bool engine_run_is_over(const struct xhca_engine *e, u64 now, bool work)
{
	u64 run = now - e->run_start;

	return work ? !hca_fabric_has_work(e->fabric) || run >= RUN_NS : run >= SOFTIRQ_NS;
}

/*
 * After a pass: continue, give way to the task that wants the CPU, or pause.  The clock of the
 * pass is recent enough, and reading it again would take a part of the time of a short pass.
 */
static void engine_after_pass(struct xhca_engine *e, long owner, bool work, bool wanted)
{
	u64 now = hca_fabric_now(e->fabric);

	if (work)
		WRITE_ONCE(e->busy, now);
	if (!wanted)
		e->wanted = now;
	if (now - e->busy >= SPIN_NS)
		engine_pause(e);
	else if (wanted && engine_run_is_over(e, now, work))
		engine_yield(e, owner);
}

/*
 * Frames that arrive from now on need another pass; this one takes those before it.  xchg() sees
 * the last frame that has set the flag.
 */
static void engine_take_frames(struct xhca_engine *e)
{
	if (atomic_read(&e->frame_arrived))
		atomic_xchg(&e->frame_arrived, 0);
}

/* Returns true if frames are left, which a later pass must send, maybe on another CPU. */
static bool engine_send_frames(struct xhca_engine *e)
{
	return unlikely(!skb_queue_empty(&e->to_send)) && !xhca_frames_send(e);
}

static bool engine_pass(struct xhca_engine *e, bool may_sleep)
{
	bool work;

	engine_take_frames(e);
	work = may_sleep ? hca_fabric_poll(e->fabric) : hca_fabric_poll_atomic(e->fabric);
	return engine_send_frames(e) || work;
}

/* Is there work that may sleep? */
static bool engine_wants_thread(struct xhca_engine *e)
{
	return !list_empty_careful(&e->calls) || hca_fabric_must_sleep(e->fabric);
}

static void engine_softirq_run(struct tasklet_struct *tasklet)
{
	struct xhca_worker *w = from_tasklet(w, tasklet, softirq);
	struct xhca_engine *e = w->engine;
	long owner = engine_owner_word(w, IN_SOFTIRQ);
	bool work;

	if (!engine_take(w, IN_SOFTIRQ))
		return;
	do {
		/* Before the offer to the thread, which may have to wait for the CPU */
		work = engine_pass(e, false);
		if (engine_wants_thread(e) || engine_may_spin())
			engine_offer_to_thread(e, owner, w);
		else
			engine_after_pass(e, owner, work, true);
	} while (atomic_long_read(&e->owner) == owner);
}

static int engine_worker_thread(void *arg)
{
	struct xhca_worker *w = arg;
	struct xhca_engine *e = w->engine;
	long owner = engine_owner_word(w, IN_THREAD);

	memalloc_noio_save();
	while (!kthread_should_stop()) {
		if (atomic_long_read(&e->owner) == owner) {
			if (!engine_run_call(e))
				engine_after_pass(e, owner, engine_pass(e, true),
						  !single_task_running());
		} else if (!engine_take(w, IN_THREAD)) {
			engine_wait_for_offer(w);
		}
		cond_resched_tasks_rcu_qs();
	}
	/* The CPU goes offline. */
	if (atomic_long_read(&e->owner) == owner)
		engine_offer_to_softirq(e, owner, engine_next_worker(e, w));
	return 0;
}

/* From now on there is no owner. */
static void engine_stop_owner(void *engine)
{
	atomic_long_set(&((struct xhca_engine *)engine)->owner, 0);
}

/* Runs on the CPU of @worker: the timer fires where it was started. */
static void engine_begin_checks(void *worker)
{
	engine_start_checks(worker, CHECK_NS);
}

static int engine_start_worker(struct xhca_engine *e, unsigned int cpu)
{
	struct xhca_worker *w = &e->worker[cpu];
	struct task_struct *task;

	task = xhca_kthread_create(engine_worker_thread, w, cpu, e->threads);
	if (IS_ERR(task))
		return PTR_ERR(task);
	sched_set_normal(task, MIN_NICE);
	if (w->task)
		put_task_struct(w->task);
	w->task = get_task_struct(task);
	cpumask_set_cpu(cpu, &e->cpus);
	wake_up_process(task);
	smp_call_function_single(cpu, engine_begin_checks, w, true);
	return 0;
}

/* The reference to the task stays: a stale offer may still wake it. */
static void engine_stop_worker(struct xhca_engine *e, unsigned int cpu)
{
	struct xhca_worker *w = &e->worker[cpu];

	cpumask_clear_cpu(cpu, &e->cpus);
	kthread_stop(w->task);
	hrtimer_cancel(&w->check);
}

/* The worker of another CPU, which has helped while no allowed CPU was online, ends. */
static int engine_worker_online(unsigned int cpu, struct hlist_node *node)
{
	struct xhca_engine *e = hlist_entry_safe(node, struct xhca_engine, node);
	unsigned int other;
	int err;

	if (!cpumask_test_cpu(cpu, &e->allowed))
		return 0;
	err = engine_start_worker(e, cpu);
	if (err)
		return err;
	for_each_cpu(other, &e->cpus) {
		if (!cpumask_test_cpu(other, &e->allowed))
			engine_stop_worker(e, other);
	}
	return 0;
}

/*
 * The last CPU with a worker goes offline, for instance when the host is suspended.  The
 * adapter must go on, so a CPU that is not allowed helps until an allowed one is online.
 */
static int engine_worker_offline(unsigned int cpu, struct hlist_node *node)
{
	struct xhca_engine *e = hlist_entry_safe(node, struct xhca_engine, node);
	int err;

	if (!cpumask_test_cpu(cpu, &e->cpus))
		return 0;
	if (cpumask_weight(&e->cpus) == 1 && atomic_long_read(&e->owner)) {
		err = engine_start_worker(e, cpumask_any_but(cpu_online_mask, cpu));
		if (err)
			return err;
	}
	engine_stop_worker(e, cpu);
	return 0;
}

/* The threads have ended.  After this no offer and no timer is pending. */
static void engine_free_workers(struct xhca_engine *e)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		/* Calls run in order: after this one none of ours is pending. */
		smp_call_function_single(cpu, engine_noop, NULL, true);
		irq_work_sync(&e->worker[cpu].kick);
		tasklet_kill(&e->worker[cpu].softirq);
		hrtimer_cancel(&e->worker[cpu].check);
		if (e->worker[cpu].task)
			put_task_struct(e->worker[cpu].task);
	}
	hrtimer_cancel(&e->timer);
}

static void engine_stop_workers(struct xhca_engine *e)
{
	cpuhp_state_remove_instance(engine_hotplug, &e->node);
	engine_free_workers(e);
}

static void engine_init_workers(struct xhca_engine *e)
{
	struct xhca_worker *w;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		w = &e->worker[cpu];
		w->engine = e;
		w->cpu = cpu;
		tasklet_setup(&w->softirq, engine_softirq_run);
		INIT_CSD(&w->call, engine_call_softirq, w);
		init_irq_work(&w->kick, engine_kick_softirq);
		xhca_hrtimer_setup(&w->check, engine_check_timer, HRTIMER_MODE_REL);
	}
}

static int engine_start_workers(struct xhca_engine *e)
{
	int err;

	engine_init_workers(e);
	/* If it fails for one CPU, it stops the workers of the others. */
	err = cpuhp_state_add_instance(engine_hotplug, &e->node);
	if (err) {
		engine_free_workers(e);
		return err;
	}
	if (cpumask_empty(&e->cpus)) {
		pr_err("none of the CPUs to run on is online\n");
		engine_stop_workers(e);
		return -EINVAL;
	}
	engine_watch_idle(e);
	hrtimer_start(&e->timer, ns_to_ktime(TICK_NS), HRTIMER_MODE_REL);
	engine_offer_to_thread(e, 0, &e->worker[cpumask_first(&e->cpus)]);
	return 0;
}

int xhca_engine_init(struct xhca_engine *e, const char *name, const struct cpumask *cpus)
{
	int err;

	cpumask_copy(&e->allowed, cpus);
	snprintf(e->threads, sizeof(e->threads), KBUILD_MODNAME "%s%s/%%u", *name ? "-" : "",
		 name);
	spin_lock_init(&e->lock);
	INIT_LIST_HEAD(&e->calls);
	__skb_queue_head_init(&e->to_send);
	xhca_hrtimer_setup(&e->timer, engine_tick, HRTIMER_MODE_REL);
	e->busy = ktime_get_ns();
	e->run_start = e->busy;
	e->worker = kvcalloc(nr_cpu_ids, sizeof(*e->worker), GFP_KERNEL);
	if (!e->worker)
		return -ENOMEM;
	e->fabric = hca_fabric_create();
	if (!e->fabric) {
		err = -ENOMEM;
		goto err_worker;
	}
	err = engine_start_workers(e);
	if (err)
		goto err_fabric;
	return 0;

err_fabric:
	hca_fabric_free(e->fabric);
err_worker:
	kvfree(e->worker);
	return err;
}

void xhca_engine_exit(struct xhca_engine *e)
{
	xhca_engine_call(e, engine_stop_owner, e);
	engine_unwatch_idle(e);
	engine_stop_workers(e);
	hca_fabric_free(e->fabric);
	kvfree(e->worker);
}

int xhca_engines_init(void)
{
	int err, state;

	state = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, KBUILD_MODNAME ":online",
					engine_worker_online, engine_worker_offline);
	if (state < 0)
		return state;
	engine_hotplug = state;
	err = register_trace_cpu_idle(engine_idle_changed, NULL);
	if (err)
		cpuhp_remove_multi_state(engine_hotplug);
	return err;
}

void xhca_engines_exit(void)
{
	unregister_trace_cpu_idle(engine_idle_changed, NULL);
	tracepoint_synchronize_unregister();
	cpuhp_remove_multi_state(engine_hotplug);
}
