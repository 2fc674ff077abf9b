// SPDX-License-Identifier: GPL-2.0
/*
 * Processes, signals, memory and standard error.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "sim.h"
#include "tool.h"

enum { MARK = 0x5ec0de };

struct os os;

/* ---- Processes -------------------------------------------------------------------- */

static void free_all(struct proc *p)
{
	struct block *b, *after;

	for (b = p->blocks.next; b && b != &p->blocks; b = after) {
		after = b->next;
		free(b);
	}
	p->blocks.next = p->blocks.previous = &p->blocks;
	p->memory = 0;
}

void os_reset(void)
{
	int i;

	for (i = 0; i < os.n_procs; i++)
		free_all(&os.proc[i]);
	memset(&os, 0, sizeof(os));
}

struct proc *os_process(const char *name, struct proc *parent)
{
	struct proc *p = &os.proc[os.n_procs];

	if (os.n_procs == MAX_PROCS)
		sim_fail("too many processes");
	*p = (struct proc) { .name = name, .parent = parent, .alive = true,
			     .pid = 1000 + os.n_procs };
	p->blocks.next = p->blocks.previous = &p->blocks;
	if (parent) {
		p->ignored = parent->ignored;
		p->blocked = parent->blocked;
	}
	os.n_procs++;
	return p;
}

/* The signal of PR_SET_PDEATHSIG */
static void tell_children(const struct proc *p)
{
	int i;

	for (i = 0; i < os.n_procs; i++)
		if (os.proc[i].parent == p && os.proc[i].alive && os.proc[i].group &&
		    p == os.far)
			os_signal(&os.proc[i], SIGHUP);
}

void os_end(struct proc *p, int status)
{
	if (!p->alive)
		return;
	sim_trace("%s ends with status %#x", p->name, status);
	p->alive = false;
	p->stopped = false;
	p->status = status;
	p->ended = sim.now;
	sim.progress = sim.now;
	file_close_all(p);
	fabric_gone(p);
	free_all(p);
	if (p->parent && p->parent->alive)
		os_signal(p->parent, SIGCHLD);
	tell_children(p);
	sched_kill(p);
}

void os_exit(int code)
{
	os_end(os_self(), (code & 0xff) << 8);
	abort();
}

static bool is_stop(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* What is blocked stays pending; it is read by a signalfd. */
void os_signal(struct proc *p, int number)
{
	uint32_t bit = 1u << number;

	if (!p->alive)
		return;
	sim_trace("signal %d to %s", number, p->name);
	sim.events++;
	if (number == SIGCONT)
		p->stopped = false;
	if (p->blocked & bit && number != SIGKILL && number != SIGSTOP) {
		p->pending |= bit;
		return;
	}
	if (p->ignored & bit)
		return;
	p->got |= bit;
	p->interrupted |= p->caught & bit;
	if (p->caught & bit || number == SIGCHLD || number == SIGCONT)
		return;
	if (is_stop(number)) {
		p->stopped = true;
		if (os_self() == p)
			sim_yield();
		return;
	}
	os_end(p, number);
}

static struct proc *find(pid_t pid)
{
	int i;

	for (i = 0; i < os.n_procs; i++)
		if (os.proc[i].pid == pid && !os.proc[i].reaped)
			return &os.proc[i];
	return NULL;
}

/* ---- ssh between near and far end: it ends when the far end has ended ---- */

void os_ssh(struct proc *near)
{
	(void)near;
	os.ssh = 999;
}

static bool ssh_ended(void *arg)
{
	(void)arg;
	return os.ssh_killed || (!os.far->alive && !os.dead_host);
}

/* The status of the far end; 255 for a signal */
static int ssh_status(void)
{
	return os.ssh_killed ? SIGTERM : WIFEXITED(os.far->status) ? os.far->status : 255 << 8;
}

static pid_t wait_ssh(int *status, int flags)
{
	if (os.ssh_reaped) {
		errno = ECHILD;
		return -1;
	}
	if (!ssh_ended(NULL)) {
		if (flags & WNOHANG)
			return 0;
		sim_wait("waits for ssh", ssh_ended, NULL, -1);
	}
	os.ssh_reaped = true;
	*status = ssh_status();
	return os.ssh;
}

/* ---- Calls ------------------------------------------------------------------------ */

void os_check_call(int nr, int fd)
{
	const struct coroutine *c = sim.self;
	int i;

	sim_step();
	c = sim.self;
	sim.self->view = sim.stores;
	if (!c->allowed)
		return;
	for (i = 0; i < c->n_allowed; i++)
		if (c->allowed[i].nr == nr && (c->allowed[i].fd == -1 || c->allowed[i].fd == fd))
			return;
	sim_fail("the filter forbids the system call %d on descriptor %d", nr, fd);
}

static void check_call(void)
{
	os_check_call(-1, -1);
}

pid_t sim_fork(void)
{
	struct proc *child;

	check_call();
	child = os.forked(os_self());
	return child->pid;
}

static bool has_ended(void *arg)
{
	return !((struct proc *)arg)->alive;
}

pid_t sim_waitpid(pid_t pid, int *status, int flags)
{
	struct proc *p = find(pid);

	check_call();
	if (pid == os.ssh && os_self() == os.near)
		return wait_ssh(status, flags);
	if (!p || p->parent != os_self()) {
		errno = ECHILD;
		return -1;
	}
	if (p->alive && flags & WNOHANG)
		return 0;
	if (p->alive)
		sim_wait("waits for a child", has_ended, p, -1);
	p->reaped = true;
	*status = p->status;
	return p->pid;
}

int sim_kill(pid_t pid, int number)
{
	struct proc *p = find(pid < 0 ? -pid : pid);

	check_call();
	if (pid == os.ssh && os_self() == os.near) {
		os.ssh_killed = true;
		sim.events++;
		if (!os.dead_host) {
			pipe_cut(channel_pipes.down);
			pipe_cut(channel_pipes.up);
		}
		return 0;
	}
	if (!p || (pid < 0 && !p->group)) {
		errno = ESRCH;
		return -1;
	}
	os_signal(p, number);
	return 0;
}

int sim_raise(int number)
{
	return sim_kill(os_self()->pid, number);
}

pid_t sim_getpid(void)
{
	return os_self()->pid;
}

pid_t sim_setsid(void)
{
	os_self()->group = true;
	return os_self()->pid;
}

static uint32_t mask_of(const sigset_t *set)
{
	uint32_t mask = 0;
	int i;

	for (i = 1; i < 32; i++)
		if (sigismember(set, i))
			mask |= 1u << i;
	return mask;
}

/* Delivers what was pending. */
static void unblock(struct proc *p, uint32_t mask)
{
	uint32_t due = p->pending & mask;
	int i;

	p->blocked &= ~mask;
	p->pending &= ~mask;
	for (i = 1; i < 32; i++)
		if (due & 1u << i)
			os_signal(p, i);
}

int sim_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	struct proc *p = os_self();

	(void)old;
	check_call();
	if (how == SIG_BLOCK)
		p->blocked |= mask_of(set);
	else
		unblock(p, mask_of(set));
	return 0;
}

sighandler_t sim_signal(int number, sighandler_t handler)
{
	struct proc *p = os_self();

	if (handler == SIG_IGN)
		p->ignored |= 1u << number;
	else
		p->ignored &= ~(1u << number);
	return SIG_DFL;
}

int sim_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	(void)new;
	memset(old, 0, sizeof(*old));
	old->sa_handler = os_self()->ignored & 1u << number ? SIG_IGN : SIG_DFL;
	return 0;
}

int sim_usleep(useconds_t us)
{
	os_check_call(SYS_clock_nanosleep, -1);
	sim_sleep(1e-6 * us);
	return 0;
}

/* ---- Threads ---------------------------------------------------------------------- */

struct thread {
	void *(*fn)(void *arg);
	void *arg;
};

static void run_thread(void *arg)
{
	struct thread t = *(struct thread *)arg;

	sim_free(arg);
	t.fn(t.arg);
}

/* The order in which an end starts them */
static const char *thread_name(void)
{
	static const char *const near_names[] = {
		"near errors", "near reader", "near writer", "near progress"
	};
	static const char *const far_names[] = { "far reader", "far writer" };
	struct proc *p = os_self();

	return p == os.near ? near_names[p->threads++ % 4] : far_names[p->threads++ % 2];
}

int sim_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	struct thread *t = sim_calloc(1, sizeof(*t));

	(void)attr;
	check_call();
	*t = (struct thread) { fn, arg };
	*id = 0;
	sched_start(os_self(), thread_name(), run_thread, t);
	return 0;
}

struct xt_sealed {
	void (*fn)(void *arg);
	void *arg;
	struct xt_call allowed[16];
	bool done;
};

static void run_sealed(void *arg)
{
	struct xt_sealed *s = arg;

	s->fn(s->arg);
	s->done = true;
	sim.events++;
}

struct xt_sealed *xt_sealed_start(void (*fn)(void *), void *arg, int niceness,
				  const struct xt_call *allowed, int n)
{
	struct xt_sealed *s = sim_calloc(1, sizeof(*s));
	struct coroutine *c;

	(void)niceness;
	*s = (struct xt_sealed) { .fn = fn, .arg = arg };
	memcpy(s->allowed, allowed, (size_t)n * sizeof(*allowed));
	c = sched_start(os_self(), os_self() == os.near ? "near pump" : "far pump", run_sealed, s);
	c->allowed = s->allowed;
	c->n_allowed = n;
	return s;
}

static bool sealed_done(void *arg)
{
	return ((struct xt_sealed *)arg)->done;
}

void xt_sealed_join(struct xt_sealed *s)
{
	sim_wait("joins the pump", sealed_done, s, -1);
	sim_free(s);
}

/* ---- Memory: what a process holds at its exit is no leak ---- */

void *sim_realloc(void *old, size_t size)
{
	struct block *b = old ? (struct block *)old - 1 : NULL;
	struct proc *p = os_self();

	if (b) {
		sim_check(b->mark == MARK, "memory that was not allocated");
		p->memory -= b->size;
		b->next->previous = b->previous;
		b->previous->next = b->next;
	}
	b = realloc(b, sizeof(*b) + size);
	if (!b)
		abort();
	*b = (struct block) { p->blocks.next, &p->blocks, size, MARK };
	b->next->previous = b;
	p->blocks.next = b;
	p->memory += size;
	if (p->memory > p->max_memory)
		p->max_memory = p->memory;
	return b + 1;
}

void *sim_calloc(size_t n, size_t size)
{
	return memset(sim_realloc(NULL, n * size), 0, n * size);
}

void sim_free(void *old)
{
	struct block *b = old ? (struct block *)old - 1 : NULL;

	if (!b)
		return;
	sim_check(b->mark == MARK, "memory that was not allocated is freed");
	b->mark = 0;
	os_self()->memory -= b->size;
	b->next->previous = b->previous;
	b->previous->next = b->next;
	free(b);
}

void *sim_mmap(size_t size)
{
	return sim_calloc(1, size);
}

/* ---- Messages ----------------------------------------------------------------------- */

static void say(const char *fmt, va_list ap)
{
	struct proc *p = os_self();

	if (p->n_said < sizeof(p->said) - 1)
		p->n_said += (size_t)vsnprintf(p->said + p->n_said, sizeof(p->said) - p->n_said,
					       fmt, ap);
	if (p->n_said >= sizeof(p->said))
		p->n_said = sizeof(p->said) - 1;
}

int sim_fprintf(FILE *stream, const char *fmt, ...)
{
	va_list ap;

	sim_check(stream == stderr, "a message that does not go to standard error");
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	sim_trace("says: %s", os_self()->said);
	return 0;
}

void xt_die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	sim_trace("dies: %s", os_self()->said);
	os_exit(code);
}

void *xt_calloc(size_t n, size_t size)
{
	return sim_calloc(n, size);
}

/* The summary of --json */
void xt_json_to(FILE *stream)
{
	(void)stream;
}

void xt_json_open(char bracket)
{
	(void)bracket;
}

void xt_json_close(char bracket)
{
	(void)bracket;
}

void xt_json_str(const char *key, const char *fmt, ...)
{
	(void)key;
	(void)fmt;
}

void xt_json_num(const char *key, double value)
{
	(void)key;
	(void)value;
}

void xt_json_bool(const char *key, bool value)
{
	(void)key;
	(void)value;
}
