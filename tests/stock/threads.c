// SPDX-License-Identifier: GPL-2.0
/*
 * usage: threads DEVICE GID-INDEX
 *
 * Threads that share queues, and a thread that posts and polls without a system call.
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "ends.h"

/* Threads that post to one queue pair and poll one completion queue */
enum { THREADS = 3, EACH = 1000 };

static struct {
	struct end *e;
	int posted, polled, failed;
} shared;

static void poll_shared(void)
{
	struct ibv_wc wc[4];
	int i, n = ibv_poll_cq(shared.e->cq, 4, wc);

	for (i = 0; i < n; i++)
		__atomic_fetch_add(&shared.failed, wc[i].status != 0, __ATOMIC_RELAXED);
	if (n > 0)
		__atomic_fetch_add(&shared.polled, n, __ATOMIC_RELAXED);
}

static void *post_shared(void *arg)
{
	struct ibv_sge sge = sge_at(0, 16);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { at(8192), mr->rkey },
	};
	double until = now() + 60;
	int mine = 0;

	while (mine < EACH && now() < until) {
		if (!ibv_post_send(shared.e->qp, &wr, &bad)) {
			__atomic_fetch_add(&shared.posted, 1, __ATOMIC_RELAXED);
			mine++;
		}
		poll_shared();
	}
	return arg;
}

static void threads(struct end *e)
{
	double until = now() + 60;
	pthread_t id[THREADS];
	int i;

	shared.e = e;
	for (i = 0; i < THREADS; i++)
		need(!pthread_create(&id[i], NULL, post_shared, NULL), "pthread_create");
	for (i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	while (shared.polled < shared.posted && now() < until)
		poll_shared();
	ok(shared.posted == THREADS * EACH && shared.polled == shared.posted && !shared.failed,
	   "threads share queues: %d posted, %d polled, %d failed", shared.posted,
	   shared.polled, shared.failed);
}

/* A thread that may make no system call but read, write and exit */
struct sealed {
	struct end *e;
	volatile int done;
	int good;
};

static void *post_and_poll(void *arg)
{
	struct sealed *t = arg;
	struct ibv_sge sge = sge_at(0, 64);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { at(8192), mr->rkey },
	};
	struct ibv_qp_ex *q;
	struct ibv_wc wc;
	int i;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		goto out;
	for (i = 0; i < 1000; i++) {
		if (i & 1) {
			q = start(t->e, 1);
			ibv_wr_rdma_write(q, mr->rkey, at(8192));
			ibv_wr_set_sge(q, mr->lkey, at(0), 64);
			if (ibv_wr_complete(q))
				break;
		} else if (ibv_post_send(t->e->qp, &wr, &bad)) {
			break;
		}
		while (!ibv_poll_cq(t->e->cq, 1, &wc))
			;
		t->good += !wc.status;
	}
out:
	t->done = 1;
	syscall(SYS_exit, 0);
	return NULL;
}

static void sealed(struct end *e)
{
	struct sealed t = { .e = e };
	double until = now() + 60;
	pthread_t id;

	need(!pthread_create(&id, NULL, post_and_poll, &t), "pthread_create");
	while (!t.done && now() < until)
		usleep(10000);
	tap_is(t.good, 1000, "posts and polls without a system call");
}

int main(int argc, char **argv)
{
	struct end a, b;

	ends_open(argc, argv);
	make_pair(&a, &b);
	threads(&a);
	sealed(&a);
	unmake(&a);
	unmake(&b);
	ends_close();
	return tap_done();
}
