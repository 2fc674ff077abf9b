// SPDX-License-Identifier: GPL-2.0
/*
 * What runs hca/: everything in there happens here.  There is one seat per CPU
 * and one token.  Only who holds the token runs, so hca/ needs no locks.
 * Doorbells are memory, nothing wakes the holder: it looks.
 *
 * How often it looks is the policy of this file.  With work it goes on at once.
 * Without, it spins for a while, then naps for a share of the time it has been
 * idle, so that a short pause costs no latency and a long one no CPU.  After
 * that it sleeps, and each CPU looks at the doorbells itself.  Only what runs can
 * ring, so an idle CPU need not look: a CPU looks when it becomes idle, and from a
 * timer while it is busy, soon after it left idle and then less and less often.
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
 *
 * Seats come and go with their CPUs.  A late offer to a seat that has gone is not
 * taken, and so goes to the next, too.
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
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/sched/mm.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/power.h>

#include "xhca.h"
#include "compat.h"

#define SPIN_NS		(1000 * NSEC_PER_USEC)	/* idle, since the last work */
#define VISIT_NS	(20 * NSEC_PER_USEC)	/* idle, and the CPU is wanted */
#define TURN_NS		(100 * NSEC_PER_USEC)	/* busy, and the CPU is wanted */
#define NAP_NS		(1 * NSEC_PER_USEC)	/* the shortest: a timer's latency */
#define NAP_SHARE	8			/* a nap's part of the time idle */
#define SLEEP_AFTER_NS	(4 * NSEC_PER_MSEC)	/* idle: from naps to sleep */
#define LOOK_NS		(500 * NSEC_PER_USEC)	/* asleep, the CPU is busy: at the doorbells */
#define FIRST_LOOK_NS	(25 * NSEC_PER_USEC)	/* asleep, the CPU has just become busy */
#define ACTIVE_NS	(2 * NSEC_PER_SEC)	/* since the last work: first looks come soon */
#define SLEEP_NS	(50 * NSEC_PER_MSEC)	/* asleep: at everything */
#define TICK_NS		(1000 * NSEC_PER_USEC)	/* awake: are offers taken? */

/*
 * The token's state: held by the thread, held by the tasklet, offered to both.
 * Only the holder leaves the first two, only look() enters LOOKED_AT.
 */
enum { HELD, VISITED, OFFERED, PARKED, LOOKED_AT, STATES = 8 };

struct xhca_seat {
	struct xhca_engine *engine;
	unsigned int cpu;
	struct task_struct *task;
	struct tasklet_struct visit;
	struct __call_single_data call;	/* starts the tasklet from another CPU */
	atomic_t called;		/* and is on its way */
	struct irq_work kick;		/* starts the tasklet from the idle loop */
	struct hrtimer look;		/* on this CPU, while it is busy */
	u64 look_ns;
	bool look_again;		/* somebody else was just looking */
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
	if ((old & (STATES - 1)) >= PARKED)
		hrtimer_start(&e->timer, ns_to_ktime(TICK_NS), HRTIMER_MODE_REL);
	return true;
}

static struct xhca_seat *next_seat(struct xhca_engine *e, struct xhca_seat *last)
{
	unsigned int cpu = cpumask_next(last->cpu, &e->cpus);

	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(&e->cpus);
	return cpu < nr_cpu_ids ? &e->seat[cpu] : last;
}

/* @s, or the next one if its CPU has gone */
static struct xhca_seat *live_seat(struct xhca_engine *e, struct xhca_seat *s)
{
	return cpumask_test_cpu(s->cpu, &e->cpus) ? s : next_seat(e, s);
}

static void offer_to_thread(struct xhca_engine *e, long old, struct xhca_seat *to)
{
	to = live_seat(e, to);
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
static void start_visit(struct xhca_seat *to)
{
	if (to->cpu == raw_smp_processor_id())
		tasklet_hi_schedule(&to->visit);
	else
		call_seat(to);
}

static void offer_visit(struct xhca_engine *e, long old, struct xhca_seat *to)
{
	if (offer(e, old, to))
		start_visit(to);
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

/* ---- Looks for the sleeper ------------------------------------------------------ */

/*
 * Parked: is there something to do?  Then the token is offered to @to, whose tasklet or
 * thread the caller starts.  -EAGAIN: somebody else is just looking.  While somebody
 * looks, the token is nobody else's.
 */
static int look(struct xhca_engine *e, struct xhca_seat *to)
{
	long t, looked_at;

	/* Pairs with park(): it sees the doorbell, or this sees the token parked. */
	smp_mb();
	t = atomic_long_read(&e->token);
	if ((t & (STATES - 1)) == LOOKED_AT)
		return -EAGAIN;
	if ((t & (STATES - 1)) != PARKED)
		return 0;
	looked_at = token(seat_of(t), LOOKED_AT);
	if (atomic_long_cmpxchg(&e->token, t, looked_at) != t)
		return -EAGAIN;
	if (ktime_get_ns() >= e->wake_at || hca_fabric_rung(&e->fabric))
		return offer(e, looked_at, to);
	atomic_long_set_release(&e->token, t);
	return 0;
}

static enum hrtimer_restart look_timer(struct hrtimer *timer)
{
	struct xhca_seat *s = container_of(timer, struct xhca_seat, look);
	int found;

	if (is_idle_task(current) && !need_resched() && !s->look_again)
		return HRTIMER_NORESTART;
	found = look(s->engine, s);
	if (found > 0)
		tasklet_hi_schedule(&s->visit);
	s->look_again = found < 0;
	s->look_ns = found < 0 ? NAP_NS : min_t(u64, 2 * s->look_ns, LOOK_NS);
	hrtimer_forward_now(timer, ns_to_ktime(s->look_ns));
	return HRTIMER_RESTART;
}

static void start_looking(struct xhca_seat *s, u64 ns)
{
	s->look_ns = ns;
	hrtimer_start(&s->look, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED);
}

/* Called in the idle loop, with interrupts off. */
static void idle_changed(void *data, unsigned int state, unsigned int cpu)
{
	struct xhca_engine *e = data;
	struct xhca_seat *s = &e->seat[cpu];
	int found;

	if (!cpumask_test_cpu(cpu, &e->cpus))
		return;
	if (state == (unsigned int)PWR_EVENT_EXIT) {
		if (!need_resched())
			return;
		if (ktime_get_ns() - READ_ONCE(e->busy) < ACTIVE_NS)
			start_looking(s, FIRST_LOOK_NS);
		else if (!hrtimer_active(&s->look))
			start_looking(s, LOOK_NS);
		return;
	}
	found = look(e, s);
	s->look_again = found < 0;
	if (found > 0)
		irq_work_queue(&s->kick);
	else if (found < 0)
		start_looking(s, NAP_NS);
}

static void kick_visit(struct irq_work *work)
{
	tasklet_hi_schedule(&container_of(work, struct xhca_seat, kick)->visit);
}

/* Parked: until when, at the latest.  CPUs without a seat do not look themselves. */
static u64 parked_ns(const struct xhca_engine *e)
{
	u64 now = ktime_get_ns(), ns = e->wake_at > now + NAP_NS ? e->wake_at - now : NAP_NS;

	return cpumask_subset(cpu_online_mask, &e->cpus) ? ns : min_t(u64, ns, LOOK_NS);
}

/* Ends naps and sleep, and sees that offers are taken. */
static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct xhca_engine *e = container_of(timer, struct xhca_engine, timer);
	long t = atomic_long_read(&e->token);
	bool stale = e->watched == READ_ONCE(e->offers);

	struct xhca_seat *here = live_seat(e, &e->seat[smp_processor_id()]);
	u64 ns = TICK_NS;

	if ((t & (STATES - 1)) == OFFERED && stale)
		offer_visit(e, t, next_seat(e, seat_of(t)));
	else if (look(e, here) > 0)
		start_visit(here);
	e->watched = READ_ONCE(e->offers);
	t = atomic_long_read(&e->token);
	if ((t & (STATES - 1)) == PARKED)
		ns = parked_ns(e);
	else if ((t & (STATES - 1)) == LOOKED_AT)
		ns = NAP_NS;
	/* Not forwarded: park() may be starting it at this moment. */
	hrtimer_start(timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
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

/* Ends the holder's hold for @ns, or until a call or a doorbell. */
static void park(struct xhca_engine *e, u64 ns, bool asleep)
{
	struct xhca_seat *s = seat_of(atomic_long_read(&e->token));

	if (asleep)
		e->sleeps++;
	else
		e->naps++;
	e->wake_at = ktime_get_ns() + ns;
	ns = parked_ns(e);
	atomic_long_set_release(&e->token, token(s, PARKED));
	hrtimer_start(&e->timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
	/* Pairs with xhca_engine_call() and look(). */
	smp_mb();
	if (!list_empty_careful(&e->calls))
		unpark(e);
	else if (asleep && look(e, s) > 0)
		wake_up_process(s->task);
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
	struct xhca_seat *next = next_seat(e, seat_of(t));

	if (next == seat_of(t)) {
		park(e, NAP_NS, false);
		return;
	}
	e->passes++;
	offer_visit(e, t, next);
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
		WRITE_ONCE(e->busy, now);
	if (now - e->busy >= SPIN_NS)
		rest(e, now);
	else if (wanted && turn_is_over(e, now, work))
		give_way(e, t);
}

/* What interrupts may not do is the thread's. */
static bool wants_thread(struct xhca_engine *e)
{
	return !list_empty_careful(&e->calls) || hca_fabric_must_sleep(&e->fabric);
}

/* On an idle CPU, unless what has just been done has woken somebody for it */
static bool may_spin(void)
{
	return is_idle_task(current) && !need_resched();
}

static void visit(struct tasklet_struct *tasklet)
{
	struct xhca_seat *s = from_tasklet(s, tasklet, visit);
	struct xhca_engine *e = s->engine;
	long t = token(s, VISITED);
	bool work;

	if (!take(s, VISITED))
		return;
	do {
		/* First of all: the thread may not get this CPU soon. */
		work = hca_fabric_poll_atomic(&e->fabric);
		if (wants_thread(e) || may_spin())
			offer_to_thread(e, t, s);
		else
			decide(e, t, work, true);
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
	/* Its CPU goes. */
	if (atomic_long_read(&e->token) == t)
		offer_visit(e, t, next_seat(e, s));
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

static int seat_online(unsigned int cpu, struct hlist_node *node)
{
	struct xhca_engine *e = hlist_entry_safe(node, struct xhca_engine, node);
	struct xhca_seat *s = &e->seat[cpu];
	struct task_struct *task;

	if (!cpumask_test_cpu(cpu, &e->allowed))
		return 0;
	task = kthread_create_on_cpu(seat_thread, s, cpu, KBUILD_MODNAME "/%u");
	if (IS_ERR(task))
		return PTR_ERR(task);
	sched_set_normal(task, MIN_NICE);
	if (s->task)
		put_task_struct(s->task);
	s->task = get_task_struct(task);
	cpumask_set_cpu(cpu, &e->cpus);
	wake_up_process(task);
	start_looking(s, LOOK_NS);
	return 0;
}

/* The task stays referenced: a late offer may still wake it. */
static int seat_offline(unsigned int cpu, struct hlist_node *node)
{
	struct xhca_engine *e = hlist_entry_safe(node, struct xhca_engine, node);
	struct xhca_seat *s = &e->seat[cpu];

	if (!cpumask_test_cpu(cpu, &e->cpus))
		return 0;
	if (cpumask_weight(&e->cpus) == 1 && atomic_long_read(&e->token)) {
		pr_err("CPU %u is the only one left to run on\n", cpu);
		return -EBUSY;
	}
	cpumask_clear_cpu(cpu, &e->cpus);
	kthread_stop(s->task);
	hrtimer_cancel(&s->look);
	return 0;
}

/* Nothing starts anything any more: neither offers nor timers outlive this. */
static void stop_seats(struct xhca_engine *e)
{
	unsigned int cpu;

	cpuhp_state_remove_instance(e->hotplug, &e->node);
	cpuhp_remove_multi_state(e->hotplug);
	for_each_possible_cpu(cpu) {
		/* Calls run in order: none of ours is on its way after this one. */
		smp_call_function_single(cpu, nothing, NULL, true);
		irq_work_sync(&e->seat[cpu].kick);
		tasklet_kill(&e->seat[cpu].visit);
		hrtimer_cancel(&e->seat[cpu].look);
		if (e->seat[cpu].task)
			put_task_struct(e->seat[cpu].task);
	}
	hrtimer_cancel(&e->timer);
}

static void init_seats(struct xhca_engine *e)
{
	struct xhca_seat *s;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		s = &e->seat[cpu];
		s->engine = e;
		s->cpu = cpu;
		tasklet_setup(&s->visit, visit);
		INIT_CSD(&s->call, call_visit, s);
		init_irq_work(&s->kick, kick_visit);
		xhca_hrtimer_setup(&s->look, look_timer);
	}
}

static int start_seats(struct xhca_engine *e)
{
	int err;

	init_seats(e);
	err = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, KBUILD_MODNAME ":online",
				      seat_online, seat_offline);
	if (err < 0)
		return err;
	e->hotplug = err;
	err = cpuhp_state_add_instance(e->hotplug, &e->node);
	if (err) {
		cpuhp_remove_multi_state(e->hotplug);
		return err;
	}
	if (cpumask_empty(&e->cpus)) {
		pr_err("none of the CPUs to run on is online\n");
		err = -EINVAL;
	} else {
		err = register_trace_cpu_idle(idle_changed, e);
	}
	if (err) {
		stop_seats(e);
		return err;
	}
	hrtimer_start(&e->timer, ns_to_ktime(TICK_NS), HRTIMER_MODE_REL);
	offer_to_thread(e, 0, &e->seat[cpumask_first(&e->cpus)]);
	return 0;
}

/* Those of the list, or all that are not isolated */
static int choose_cpus(struct xhca_engine *e, const char *list)
{
	if (!*list) {
		cpumask_and(&e->allowed, housekeeping_cpumask(HK_TYPE_DOMAIN),
			    housekeeping_cpumask(HK_TYPE_TICK));
		return 0;
	}
	if (!cpulist_parse(list, &e->allowed))
		return 0;
	pr_err("cpus=%s: wants a list as 0-3,8\n", list);
	return -EINVAL;
}

int xhca_engine_init(struct xhca *x, const char *cpus)
{
	struct xhca_engine *e = &x->engine;
	int err;

	err = choose_cpus(e, cpus);
	if (err)
		return err;
	spin_lock_init(&e->lock);
	INIT_LIST_HEAD(&e->calls);
	xhca_hrtimer_setup(&e->timer, tick);
	e->busy = ktime_get_ns();
	e->turn = e->busy;
	e->seat = kvcalloc(nr_cpu_ids, sizeof(*e->seat), GFP_KERNEL);
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
	kvfree(e->seat);
	return err;
}

void xhca_engine_exit(struct xhca *x)
{
	struct xhca_engine *e = &x->engine;

	xhca_engine_call(x, drop_token, e);
	unregister_trace_cpu_idle(idle_changed, e);
	tracepoint_synchronize_unregister();
	stop_seats(e);
	hca_fabric_free(&e->fabric);
	kvfree(e->seat);
}
