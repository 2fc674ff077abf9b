// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A thread with a seccomp filter that allows its exit and the calls of a list.  With an empty
 * list this is stricter than the strict mode of seccomp, which also allows read and write.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tool.h"

#if defined(__x86_64__)
#define ARCH	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH	AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH	AUDIT_ARCH_RISCV64
#else
#error "the name of this architecture for seccomp is missing"
#endif

enum { MAX_ALLOWED = 16 };

struct xt_sealed {
	pthread_t thread;
	void (*fn)(void *arg);
	void *arg;
	int niceness;
	struct xt_call allowed[MAX_ALLOWED];
	int n_allowed;
	int err;
};

struct filter {
	struct sock_filter code[4 + 5 * (MAX_ALLOWED + 1)];
	unsigned short n;
};

static void add(struct filter *f, struct sock_filter code)
{
	f->code[f->n++] = code;
}

static void add_load(struct filter *f, uint32_t offset)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

/* Skips the next instructions if the loaded value differs. */
static void add_unless(struct filter *f, uint32_t value, uint8_t skip)
{
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
}

static void add_return(struct filter *f, uint32_t action)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void add_allowed(struct filter *f, const struct xt_call *c)
{
	add_load(f, offsetof(struct seccomp_data, nr));
	add_unless(f, (uint32_t)c->nr, c->fd < 0 ? 1 : 3);
	if (c->fd >= 0) {
		add_load(f, offsetof(struct seccomp_data, args[0]));
		add_unless(f, (uint32_t)c->fd, 1);
	}
	add_return(f, SECCOMP_RET_ALLOW);
}

/* The number of exit is that of another call for 32-bit programs (int 0x80). */
static int seal(const struct xt_sealed *s)
{
	static const struct xt_call thread_exit = { __NR_exit, -1 };
	struct filter f = { .n = 0 };
	struct sock_fprog prog;
	int i;

	add_load(&f, offsetof(struct seccomp_data, arch));
	add(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	add_return(&f, SECCOMP_RET_KILL_PROCESS);
	for (i = 0; i < s->n_allowed; i++)
		add_allowed(&f, &s->allowed[i]);
	add_allowed(&f, &thread_exit);
	add_return(&f, SECCOMP_RET_KILL_PROCESS);
	prog = (struct sock_fprog) { f.n, f.code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return -errno;
	return 0;
}

static void *run(void *arg)
{
	struct xt_sealed *s = arg;

	if (s->niceness)
		setpriority(PRIO_PROCESS, (id_t)gettid(), s->niceness);
	s->err = seal(s);
	if (s->err)
		return NULL;
	s->fn(s->arg);
	/* The return path of the C library makes other system calls. */
	syscall(SYS_exit, 0);
	__builtin_unreachable();
}

struct xt_sealed *xt_sealed_start(void (*fn)(void *), void *arg, int niceness,
				  const struct xt_call *allowed, int n)
{
	struct xt_sealed *s = xt_calloc(1, sizeof(*s));
	int err;

	s->fn = fn;
	s->arg = arg;
	s->niceness = niceness;
	while (s->n_allowed < n && s->n_allowed < MAX_ALLOWED) {
		s->allowed[s->n_allowed] = allowed[s->n_allowed];
		s->n_allowed++;
	}
	err = pthread_create(&s->thread, NULL, run, s);
	if (err)
		xt_die(XT_FAILED, "cannot start a thread: %s", strerror(err));
	return s;
}

void xt_sealed_join(struct xt_sealed *s)
{
	pthread_join(s->thread, NULL);
	if (s->err)
		xt_die(XT_FAILED, "cannot install the seccomp filter: %s", strerror(-s->err));
	free(s);
}
