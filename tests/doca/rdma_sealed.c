// SPDX-License-Identifier: GPL-2.0
/*
 * No system calls: a thread in the strict mode of seccomp takes buffers, allocates, submits and
 * frees tasks, and calls doca_pe_progress().  At any system call other than read, write, exit and
 * sigreturn the kernel would kill the process.
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "rdma.h"

enum { ROUNDS = 2000, LEN = 64, ACCESS = DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |
					 DOCA_ACCESS_FLAG_RDMA_ATOMIC };

static struct side a, b;
static struct done done, received;
static bool sealed;
static int rounds;

/* Counts calls instead of time, because reading the clock may need a system call. */
static bool completes(const struct done *what, int completed)
{
	long calls;

	for (calls = 0; what->completed < completed && calls < 1L << 30; calls++) {
		doca_pe_progress(a.pe);
		doca_pe_progress(b.pe);
	}
	return what->completed == completed;
}

static bool run(struct doca_task *task)
{
	bool good = doca_task_submit(task) == DOCA_SUCCESS && completes(&done, done.completed + 1);

	doca_task_free(task);
	return good;
}

static bool write_one(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_write *task;

	return doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, pointer(&done),
						  &task) == DOCA_SUCCESS &&
	       run(doca_rdma_task_write_as_task(task));
}

static bool read_one(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_read *task;

	return doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, pointer(&done),
						 &task) == DOCA_SUCCESS &&
	       run(doca_rdma_task_read_as_task(task));
}

static bool add_one(struct doca_buf *dst, struct doca_buf *result)
{
	struct doca_rdma_task_atomic_fetch_add *task;

	return doca_rdma_task_atomic_fetch_add_allocate_init(a.rdma, a.conn, dst, result, 1,
							     pointer(&done),
							     &task) == DOCA_SUCCESS &&
	       run(doca_rdma_task_atomic_fetch_add_as_task(task));
}

static bool send_one(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	bool good;

	if (doca_rdma_task_receive_allocate_init(b.rdma, dst, pointer(&received),
						 &receive) != DOCA_SUCCESS ||
	    doca_task_submit(doca_rdma_task_receive_as_task(receive)) != DOCA_SUCCESS)
		return false;
	good = doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, pointer(&done),
						 &send) == DOCA_SUCCESS &&
	       run(doca_rdma_task_send_as_task(send)) &&
	       completes(&received, rounds + 1);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	return good;
}

/*
 * Offsets in the own memory: 0 is the source, 1024 the target of reads, 2048 the result of atomics.
 * Offsets in that of the peer: 0 is written, 1024 is read, 2048 is the counter, 4096 receives.
 */
static bool one_round(void)
{
	struct doca_buf *src = data_at(&a, 0, LEN), *dst = peer_space_at(&a, 0, LEN);
	struct doca_buf *space = space_at(&a, 1024, LEN), *from = peer_data_at(&a, 1024, LEN);
	struct doca_buf *result = space_at(&a, 2048, 8), *counter = peer_data_at(&a, 2048, 8);
	struct doca_buf *message = space_at(&b, 4096, LEN);
	bool good = write_one(src, dst) && read_one(from, space) && add_one(counter, result) &&
		    send_one(src, message);
	struct doca_buf *all[] = { src, dst, space, from, result, counter, message };
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		good &= doca_buf_dec_refcount(all[i], NULL) == DOCA_SUCCESS;
	return good;
}

static void *sealed_thread(void *unused)
{
	(void)unused;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return NULL;
	sealed = true;
	while (rounds < ROUNDS && one_round())
		rounds++;
	syscall(SYS_exit, 0);
	return NULL;
}

int main(void)
{
	pthread_t id;

	open_side(&a, 0, ACCESS);
	open_side(&b, 1, ACCESS);
	start_both(&a, &b);
	connect_sides(&a, &b);
	import_memory(&a, &b);
	memset(a.mem, 'a', LEN);
	memset(b.mem + 1024, 'b', LEN);
	memset(b.mem + 2048, 0, 8);
	if (pthread_create(&id, NULL, sealed_thread, NULL))
		bail_out("cannot start a thread");
	pthread_join(id, NULL);
	ok(sealed, "the thread is in the strict mode of seccomp");
	ok(rounds == ROUNDS, "%d writes, reads, atomics and messages without a system call",
	   rounds);
	ok(done.completed == 4 * ROUNDS && !done.failed, "all tasks are complete");
	ok(received.completed == ROUNDS && !received.failed, "all receives, too");
	ok(!memcmp(b.mem, a.mem, LEN) && !memcmp(a.mem + 1024, b.mem + 1024, LEN) &&
	   !memcmp(b.mem + 4096, a.mem, LEN), "the data are correct");
	ok(*(uint64_t *)(b.mem + 2048) == ROUNDS &&
	   *(uint64_t *)(a.mem + 2048) == ROUNDS - 1, "the counter has the number of all atomics");
	stop_side(&a);
	stop_side(&b);
	close_side(&a);
	close_side(&b);
	return tap_done();
}
