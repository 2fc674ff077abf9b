// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A thread with a seccomp filter that allows exit only.  This is stricter than the
 * strict mode of seccomp, which also allows read and write.
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

struct xt_sealed {
	pthread_t thread;
	void (*fn)(void *arg);
	void *arg;
	int niceness;
	int err;
};

/* The number of exit is that of another call for 32-bit programs (int 0x80). */
static int seal(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };

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
	s->err = seal();
	if (s->err)
		return NULL;
	s->fn(s->arg);
	/* The return path of the C library makes other system calls. */
	syscall(SYS_exit, 0);
	__builtin_unreachable();
}

struct xt_sealed *xt_sealed_start(void (*fn)(void *), void *arg, int niceness)
{
	struct xt_sealed *s = xt_calloc(1, sizeof(*s));
	int err;

	s->fn = fn;
	s->arg = arg;
	s->niceness = niceness;
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
