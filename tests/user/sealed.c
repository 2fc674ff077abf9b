// SPDX-License-Identifier: GPL-2.0
/*
 * Proof that the data path makes no system call: a thread in the strict mode of
 * seccomp posts and polls.  At any system call other than read, write, exit and
 * sigreturn the kernel would kill it, and the data path has no read or write.  The filter of
 * the tools (sealed.c there) allows nothing but the exit of the thread.
 *
 * usage: sealed [--device NAME] [--peer-device NAME], OPS in the environment
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rig.h"

enum { DEPTH = 64, LEN = 64 };

struct run {
	struct rig *rig;
	uint64_t ops;
	uint64_t done;
	uint64_t bad;
	int sealed;
};

/* Posts writes, reads, sends with receives, and atomics in turn. */
static int post_one(struct run *t, uint64_t i)
{
	struct rig *r = t->rig;
	uint32_t slot = i % DEPTH;
	struct xv_sge sge = rig_sge(r, 0, slot * LEN, LEN), to;
	uint64_t raddr = rig_addr(r, 1, slot * LEN);
	int err;

	switch (i % 4) {
	case 0:
		return xv_wr_write(r->qp[0], i, XV_SEND_SIGNALED, &sge, raddr, r->mr[1]->rkey);
	case 1:
		return xv_wr_read(r->qp[0], i, XV_SEND_SIGNALED, &sge, raddr, r->mr[1]->rkey);
	case 2:
		to = rig_sge(r, 1, 65536 + slot * LEN, LEN);
		err = xv_wr_recv(r->qp[1], i, &to);
		xv_commit_recv(r->qp[1]);
		return err ? err : xv_wr_send(r->qp[0], i, XV_SEND_SIGNALED, &sge);
	default:
		sge = rig_sge(r, 0, 131072 + slot * 8, 8);
		return xv_wr_atomic_fa(r->qp[0], i, XV_SEND_SIGNALED, &sge,
				       rig_addr(r, 1, 131072), r->mr[1]->rkey, 1);
	}
}

static void post_and_poll(struct run *t)
{
	struct xv_wc wc[32], rwc[32];
	uint64_t posted = 0;
	int n, i;

	while (t->done < t->ops) {
		uint64_t before = posted;

		while (posted < t->ops && posted - t->done < DEPTH && !post_one(t, posted))
			posted++;
		if (posted != before)
			xv_commit_send(t->rig->qp[0]);
		n = xv_poll_cq(t->rig->cq[0], 32, wc);
		for (i = 0; i < n; i++) {
			t->bad += wc[i].status || wc[i].wr_id != t->done;
			__atomic_store_n(&t->done, t->done + 1, __ATOMIC_RELAXED);
		}
		n = xv_poll_cq(t->rig->cq[1], 32, rwc);
		for (i = 0; i < n; i++)
			t->bad += rwc[i].status || rwc[i].byte_len != LEN;
		if (t->bad)
			return;
	}
}

static void nothing(void *arg __attribute__((unused)))
{
}

static void call(void *arg __attribute__((unused)))
{
	syscall(SYS_getpid);
}

/* The number of exit is that of umask for 32-bit programs. */
static void call_32(void *arg __attribute__((unused)))
{
#ifdef __x86_64__
	long number = SYS_exit;

	__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
#else
	syscall(SYS_umask, 0);
#endif
}

/* How a process ends that calls fn in a thread of the tools, or without a filter */
static int status_after(void (*fn)(void *arg), bool filter)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		if (filter)
			xt_sealed_join(xt_sealed_start(fn, NULL, 0, NULL, 0));
		else
			fn(NULL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

static bool is_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static void test_filter(void)
{
	ok(!status_after(nothing, true), "the filter allows the exit of the thread");
	ok(is_killed(status_after(call, true)), "and no other call");
	if (status_after(call_32, false))
		tap_skip("nor one of a 32-bit program", "the kernel does not have them");
	else
		ok(is_killed(status_after(call_32, true)), "nor one of a 32-bit program");
}

static void *thread(void *arg)
{
	struct run *t = arg;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return NULL;
	__atomic_store_n(&t->sealed, 1, __ATOMIC_RELEASE);
	post_and_poll(t);
	syscall(SYS_exit, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *ops = getenv("OPS");
	struct rig_opts opts = { .size = 1 << 20, .depth = 2 * DEPTH, .cqe = 4 * DEPTH };
	struct run t = { .ops = ops ? strtoull(ops, NULL, 0) : 1000000 };
	pthread_t id;
	struct rig r;

	rig_devices(argc, argv);
	test_filter();
	rig_open(&r, &opts);
	t.rig = &r;
	rig_fill(r.buf[0], DEPTH * LEN, 1);
	rig_fill(r.buf[1], DEPTH * LEN, 1);
	if (pthread_create(&id, NULL, thread, &t))
		bail_out("cannot start a thread");
	pthread_join(id, NULL);
	ok(t.sealed, "the thread went into seccomp strict mode");
	ok(t.done == t.ops && !t.bad, "%llu operations posted and polled with 0 system calls",
	   (unsigned long long)t.done);
	ok(rig_check(r.buf[1], DEPTH * LEN, 1) &&
	   !memcmp(r.buf[1] + 65536 + 2 * LEN, r.buf[0] + 2 * LEN, LEN),
	   "the data are correct");
	ok(*(uint64_t *)(r.buf[1] + 131072) == t.ops / 4,
	   "the counter has the number of all atomics");
	rig_close(&r);
	return tap_done();
}
