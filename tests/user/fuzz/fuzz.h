/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fuzzer of the device: see main.c.
 */
#ifndef TESTS_USER_FUZZ_H
#define TESTS_USER_FUZZ_H

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <rdma/mlx5_ring.h>
#include <rdma/xverbs.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ALIGN_DOWN(x, a)	((x) & ~((uint64_t)(a) - 1))

enum {
	PROCS = 3, THREADS = 3, FILES = 2, SLOTS = 8, STALE = 8, CHANNELS = 8, MAX_CALLS = 64,
	PAGE = 4096, ARENA = 2 << 20, DMABUF = 1 << 20, MAX_MAP = 64 * PAGE,
};

/* Kinds of objects that calls distinguish */
enum kind {
	NONE, PD, UAR, MR, DMABUF_MR, MW, MKEY, UMEM, XRCD, CHANNEL, CQ, SRQ, XRC_SRQ, QP, UD_QP,
	XRC_TARGET, DCT, KINDS
};

#define K(kind)		(1u << (kind))
#define ANY_QP		(K(QP) | K(UD_QP) | K(XRC_TARGET))
#define ANY_SRQ		(K(SRQ) | K(XRC_SRQ))
#define ANY_MR		(K(MR) | K(DMABUF_MR))
#define ANY_KIND	((1u << KINDS) - 1 - K(NONE))

/* ---- What all processes share -------------------------------------------------------- */

/*
 * An object that a call has created.  Threads read and write it without locks: at worst a call
 * has a handle that is out of date, and such calls are wanted.
 */
struct object {
	uint32_t handle;		/* 0: empty */
	uint32_t number;		/* number in the adapter, or the lkey */
	uint32_t rkey;
	uint32_t type, state;		/* of a queue pair */
	uint32_t uar, xrcd;		/* handle of the page, number of the domain */
	uint32_t groups;		/* multicast groups to which a queue pair is attached */
	uint64_t addr, length;		/* of a region, as requests name it */
	struct xverbs_map ring, dbr;
	uint32_t dbr_offset;
	uint32_t sq_offset, entries, stride;	/* entries: WQEBBs of a send queue */
	uint32_t rq_entries, rq_stride;	/* also of an SRQ */
	uint32_t linked;		/* layout of an SRQ */
	uint32_t pi, rq_pi;		/* pi: also the consumer index of a CQ */
};

/* A bound file, with the handles of its objects */
struct file {
	uint32_t serial;		/* changes when it is opened again */
	uint32_t device;
	struct xverbs_ah_attr path;	/* from the device to itself */
	uint8_t av[48];			/* the same in the format of requests */
	struct object slot[KINDS][SLOTS];
	uint32_t stale[STALE];
};

/* Calls and actions: how often they were tried, and how often they succeeded */
struct count {
	atomic_uint tried, good;
	atomic_ulong us;
};

/* Protection domains of libibverbs that a thread has */
struct stock_pds {
	int fd;
	uint32_t handle[4];		/* plus 1; 0: none */
};

struct world {
	uint64_t seed;
	atomic_bool stop;
	char device[2][64], node[2][128];	/* names; paths of the nodes */
	int dmabuf, shared_fd[3];	/* a dma-buf, files that name XRC domains */
	int mail[PROCS][2];		/* sockets for descriptors */
	bool with_dc;
	struct file file[PROCS][FILES];
	struct count call[MAX_CALLS], action[MAX_CALLS];
	struct stock_pds pds[PROCS][THREADS];
	atomic_uint generation[PROCS];
	atomic_int tid[PROCS][THREADS];
	atomic_uint failed_nth;		/* operations that were made to fail */
};

extern struct world *world;

/* ---- A process and its threads ------------------------------------------------------- */

/*
 * Structures of a call, which other threads may change meanwhile.  They are far away from all
 * other memory: a wrong pointer must not make the kernel write there.
 */
struct scratch {
	uint8_t arg[1024];
	char reason[XVERBS_REASON_MAX];
	uint8_t part[6][512];
	uint8_t out[2 * PAGE];
} __attribute__((aligned(4096)));

struct thread {
	unsigned int proc, index;
	uint64_t seed, step;
	uint64_t random;		/* state of draw(), new in each step */
	int fail_nth;			/* /proc/thread-self/fail-nth, or -1 */
	unsigned int failing;		/* what was written to it */
	unsigned int parts;		/* of scratch.part that are used */
	struct scratch *scratch;
	sigjmp_buf trap;
	volatile sig_atomic_t guarded;
	struct stock *stock;
};

struct process {
	unsigned int index;
	bool guest;			/* a child, which has the files of its parent */
	int fd[PROCS][FILES];		/* own files, and those of others that came by mail */
	int channel[CHANNELS];
	uint8_t *arena;			/* memory to register */
	uint8_t *windows;		/* rings are mapped here, see rings.c */
	struct thread thread[THREADS];
};

extern struct process process;
extern __thread struct thread *me;

/* A file to call: the descriptor of this process, and the table that all processes share */
struct target {
	int fd;
	struct file *file;
	unsigned int proc, index;
};

struct target draw_target(struct thread *t);
/* Opens a file of this process again. */
void file_open(unsigned int index);

/* ---- Choices: main.c ----------------------------------------------------------------- */

uint64_t draw(struct thread *t);
/* 0 to n - 1 */
uint32_t below(struct thread *t, uint32_t n);
/* True in so many of 100 cases */
bool chance(struct thread *t, uint32_t percent);
/* From lo to hi; small values are more probable. */
uint64_t draw_size(struct thread *t, uint64_t lo, uint64_t hi);
/* An object of one of the kinds, or NULL if the file has none */
struct object *draw_object(struct thread *t, struct file *file, uint32_t kinds);
struct object *find_number(struct file *file, uint32_t kinds, uint32_t number);
struct object *find_handle(struct file *file, uint32_t kinds, uint32_t handle);

/* Runs a function that accesses memory which other threads may unmap. */
bool guarded(struct thread *t, bool (*fn)(struct thread *t, void *arg), void *arg);

/* The next operations of this thread fail at the n-th allocation or copy; 0: none. */
void fail_nth(struct thread *t, unsigned int n);
/* Sometimes the next operation fails. */
void fail_sometimes(struct thread *t);

/* ---- Calls: calls.c ------------------------------------------------------------------ */

/* One call of the uAPI with drawn arguments; true if it succeeded. */
bool action_call(struct thread *t);
/* Destroys the object and empties its slot. */
void object_destroy(const struct target *to, struct object *o);
unsigned int calls_number(void);
const char *call_name(unsigned int i);
/* The number of the ioctl */
unsigned int call_number(unsigned int i);
/* Has this host what the call needs? */
bool call_possible(unsigned int i);
/* NULL, or the call whose table does not describe each byte of its structure */
const char *calls_incomplete(void);
/* Fills file->path with an address of port 1. */
void find_path(int fd, struct file *file);

/* ---- Actions: rings.c, actions.c, stock.c, nldev.c ----------------------------------- */

bool action_post(struct thread *t);
bool action_receive(struct thread *t);
bool action_poll(struct thread *t);
bool action_unmap(struct thread *t);
bool action_map(struct thread *t);
bool action_scribble(struct thread *t);

bool action_events(struct thread *t);
bool action_memory(struct thread *t);
bool action_pass(struct thread *t);
bool action_take(struct thread *t);
bool action_signal(struct thread *t);
bool action_fork(struct thread *t);
bool action_exec(struct thread *t);
bool action_reopen(struct thread *t);
bool action_die(struct thread *t);

bool action_stock(struct thread *t);
bool action_devx(struct thread *t);
void stock_end(struct thread *t);

bool action_dump(struct thread *t);
/* The next of all dumps of all devices */
void dump_next(void);

/* In a child, which has the files of its parent */
void become_guest(void);
void run_steps(struct thread *t, unsigned int n);

#endif
