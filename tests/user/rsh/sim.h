/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Both ends of xv_rsh in one process, without a device.  Their threads, the command and what is
 * at the pipes of the near end are coroutines.  A scheduler interrupts them at random; a seed
 * repeats a run.  Time is virtual: it passes when all coroutines wait.
 */
#ifndef TESTS_RSH_SIM_H
#define TESTS_RSH_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "calls.h"
#include "ends.h"

enum { MAX_COROUTINES = 32, MAX_PROCS = 8, MAX_FDS = 40, MAX_FILES = 96, MAX_PIPES = 24 };

struct file;
struct pipe;

/* ---- sched.c -------------------------------------------------------------------- */

struct proc;

struct coroutine {
	const char *name;
	struct proc *proc;
	void (*fn)(void *arg);
	void *arg;
	bool alive;
	bool ready;
	bool timed_out;
	bool (*condition)(void *arg);	/* what it waits for, or null */
	void *condition_arg;
	const char *waits;
	double deadline;
	uint64_t looked;		/* events at the last look at the condition */
	uint32_t priority;
	uint64_t view;			/* the oldest store whose effect a load may miss */
	uint64_t clock_reads;		/* without an event */
	uint64_t clock_events;
	const struct xt_call *allowed;	/* system calls, or null: all */
	int n_allowed;
	void *stack;
	void *fake_stack;
	struct context *context;
};

struct sim {
	uint64_t seed;
	uint64_t random;
	double now;
	double progress;		/* time at which a byte of a stream moved last */
	double patience;		/* seconds without progress that are an error */
	uint64_t steps;
	uint64_t events;		/* changes of what coroutines may wait for */
	uint64_t stores;
	uint32_t slice;			/* one step in so many is a switch */
	uint32_t stale;			/* one load in so many is an old value; 0: none */
	bool strict;			/* the scheduler has priorities */
	bool trace;
	struct coroutine *self;		/* the one that runs */
	char failure[400];
};

extern struct sim sim;

uint64_t sim_random(void);
uint32_t sim_below(uint32_t n);			/* 0 to n - 1 */
uint32_t sim_between(uint32_t min, uint32_t max);
static inline bool sim_chance(uint32_t n)	/* 1 of n */
{
	return !sim_below(n);
}

void sched_reset(uint64_t seed);
struct coroutine *sched_start(struct proc *p, const char *name, void (*fn)(void *), void *arg);
void sched_run(void);				/* until all have ended */
void sched_kill(const struct proc *p);		/* does not return if it kills the caller */
bool sched_alive(const struct proc *p);

void sim_step(void);
void sim_yield(void);

/* Returns false on timeout; deadline < 0: none. */
bool sim_wait(const char *what, bool (*condition)(void *), void *arg, double deadline);
void sim_sleep(double seconds);

/* Records the first failure and ends the run. */
__attribute__((format(printf, 1, 2), noreturn))
void sim_fail(const char *fmt, ...);
__attribute__((format(printf, 1, 2)))
void sim_trace(const char *fmt, ...);

#define sim_check(condition, ...) do {						\
	if (!(condition))							\
		sim_fail(__VA_ARGS__);						\
} while (0)

/* ---- os.c ----------------------------------------------------------------------- */

struct block {
	struct block *next, *previous;
	size_t size;
	uint64_t mark;
};

struct proc {
	const char *name;
	pid_t pid;
	struct proc *parent;
	bool alive;
	bool stopped;
	bool group;			/* it has called setsid() */
	bool reaped;
	int status;			/* as of waitpid() */
	bool exiting;
	uint32_t pending, blocked, ignored, caught;
	uint32_t got;			/* signals that were delivered or caught */
	bool interrupted;		/* by one that is caught: a call must end */
	double ended;			/* time */
	struct file *fd[MAX_FDS];
	int max_fds;
	int threads;			/* started so far */
	struct pipe *made[8];		/* pipes in the order of pipe2() */
	int n_made;
	struct block blocks;
	size_t memory, max_memory;
	char said[8192];		/* standard error */
	size_t n_said;
	const char *last_error;		/* of xv_last_error() */
	struct qp *qp;
};

struct os {
	struct proc proc[MAX_PROCS];
	int n_procs;
	struct proc *(*forked)(struct proc *parent);
	pid_t ssh;			/* the child of the near end */
	bool ssh_killed, ssh_reaped;
	bool dead_host;			/* nothing comes through from now on */
	struct proc *near, *far, *command;
};

extern struct os os;

void os_reset(void);
struct proc *os_process(const char *name, struct proc *parent);
void os_signal(struct proc *p, int number);
void os_end(struct proc *p, int status);	/* status as of waitpid() */
void os_exit(int code) __attribute__((noreturn));
void os_ssh(struct proc *near);			/* which starts ssh: os.near and os.far are set */
void os_check_call(int nr, int fd);		/* is it in the filter? */

static inline struct proc *os_self(void)
{
	return sim.self->proc;
}

/* ---- files.c -------------------------------------------------------------------- */

struct pipe {
	const char *name;
	uint8_t *data;
	uint32_t size, length, first;
	int readers, writers;
	bool stalled;			/* what is written does not arrive */
	bool cut;
	bool stream;			/* its bytes are progress */
	uint64_t passed;
};

/* The pipes between near and far end */
extern struct channel_pipes {
	struct pipe *down, *up;
} channel_pipes;

void files_reset(uint32_t pipe_bytes);		/* of pipes that an end makes, at most */
int files_used(void);
struct pipe *pipe_make(const char *name, uint32_t size);
int pipe_attach(struct proc *p, int fd, struct pipe *in, struct pipe *out);
void pipe_cut(struct pipe *p);
int file_wire(struct proc *p, struct qp *q);
void file_close_all(struct proc *p);
struct pipe *pipe_of(const struct proc *p, int fd);

/* ---- fabric.c ------------------------------------------------------------------- */

struct fabric {
	uint32_t ports[2];		/* of near and far end */
	uint32_t bad_pairs;		/* the first pairs exchange nothing */
	uint32_t fail_open;		/* one in so many */
	uint32_t fail_connect;
	uint32_t lag_us;		/* of a message, at most */
	uint64_t flip_at;		/* flips a bit of this message; 0: never */
	uint64_t fail_at;		/* this message fails */
	uint64_t messages;
	uint32_t few_slots;		/* memory for so many; 0: for all */
	bool flipped, failed, removed, stalled;
	bool hostile;			/* a peer may send what it likes */
};

extern struct fabric fabric;

void fabric_reset(void);
void fabric_start(struct proc *p);		/* the coroutine that delivers */
void fabric_gone(struct proc *p);		/* the process has ended */
bool fabric_readable(const struct qp *q);
void fabric_take_event(struct qp *q);

/* A hostile peer at the other end of the pair */
bool fabric_inject(struct proc *to, const void *data, uint32_t length);

#endif
