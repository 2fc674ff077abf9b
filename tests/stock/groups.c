// SPDX-License-Identifier: GPL-2.0
/*
 * usage: groups DEVICE [COMMAND]
 *
 * Threads join and leave multicast groups with one queue pair.  COMMAND removes the device while a
 * queue pair is in a group: then all objects can be destroyed.
 */
#include <pthread.h>
#include "verbs.h"

enum { THREADS = 4, ROUNDS = 200, GROUPS = 3, LID = 0xc001 };

static struct ibv_qp *qp;
static int failed;

static union ibv_gid group_of(int thread, int i)
{
	return (union ibv_gid) { .raw = { 0xff, 0x0e, [12] = 0x12, 0x34, thread, i } };
}

static void *join_and_leave(void *arg)
{
	int thread = (int)(intptr_t)arg, round, i, bad = 0;
	union ibv_gid gid;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < GROUPS; i++) {
			gid = group_of(thread, i);
			bad += !!ibv_attach_mcast(qp, &gid, LID);
		}
		for (i = 0; i < GROUPS; i++) {
			gid = group_of(thread, i);
			bad += !!ibv_detach_mcast(qp, &gid, LID);
		}
	}
	__atomic_fetch_add(&failed, bad, __ATOMIC_RELAXED);
	return NULL;
}

static void test_threads(void)
{
	pthread_t id[THREADS];
	intptr_t i;

	for (i = 0; i < THREADS; i++)
		need(!pthread_create(&id[i], NULL, join_and_leave, (void *)i), "pthread_create");
	for (i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	tap_is(failed, 0, "threads join and leave groups of one queue pair");
}

static void test_removal(const char *command)
{
	union ibv_gid gid = group_of(0, 0);

	need(!ibv_attach_mcast(qp, &gid, LID), "ibv_attach_mcast");
	tap_is(ibv_destroy_qp(qp), EBUSY, "a queue pair in a group stays");
	ok(!system(command), "%s", command);
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_UD, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_context *ctx;
	struct ibv_pd *pd;

	need(argc > 1, "usage: groups DEVICE [COMMAND]");
	ctx = open_device(argv[1]);
	pd = ibv_alloc_pd(ctx);
	attr.send_cq = attr.recv_cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	qp = pd && attr.send_cq ? ibv_create_qp(pd, &attr) : NULL;
	need(qp != NULL, "ibv_create_qp");
	ud_up(qp, 0x1234);
	if (argc > 2)
		test_removal(argv[2]);
	else
		test_threads();
	tap_is(ibv_destroy_qp(qp), 0, "the queue pair ends");
	ok(!ibv_destroy_cq(attr.send_cq) && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx),
	   "and all other objects");
	return tap_done();
}
