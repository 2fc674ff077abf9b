// SPDX-License-Identifier: GPL-2.0
/*
 * States of RDMA instances, errors and recovery, permissions, and waiting for events.
 */
#include <unistd.h>
#include <sys/epoll.h>
#include "../../userlib/doca/common/blob.h"
#include "jobs.h"

static struct side a, b, c;

static void test_order(void)
{
	struct doca_workq *other;
	const void *blob;
	size_t len;

	tap_is(state_of(&a), DOCA_RDMA_STATE_RESET, "a new instance");
	tap_is(doca_rdma_export(a.rdma, &blob, &len), DOCA_ERROR_BAD_STATE, "export in RESET");
	tap_is(doca_ctx_workq_add(a.ctx, a.workq), DOCA_ERROR_BAD_STATE, "work queue in RESET");
	tap_is(doca_ctx_stop(a.ctx), DOCA_ERROR_BAD_STATE, "stop in RESET");
	MUST(doca_ctx_start(a.ctx));
	tap_is(state_of(&a), DOCA_RDMA_STATE_INIT, "started");
	tap_is(doca_ctx_start(a.ctx), DOCA_ERROR_BAD_STATE, "start twice");
	tap_is(doca_rdma_set_permissions(a.rdma, 0), DOCA_ERROR_BAD_STATE, "setter after start");
	tap_is(doca_ctx_dev_rm(a.ctx, a.dev), DOCA_ERROR_BAD_STATE, "device after start");
	tap_is(doca_rdma_destroy(a.rdma), DOCA_ERROR_IN_USE, "destroy after start");
	MUST(doca_ctx_workq_add(a.ctx, a.workq));
	tap_is(doca_ctx_workq_add(a.ctx, a.workq), DOCA_ERROR_ALREADY_EXIST, "added already");
	MUST(doca_workq_create(1, &other));
	tap_is(doca_ctx_workq_add(a.ctx, other), DOCA_ERROR_NOT_SUPPORTED, "a second one");
	tap_is(doca_ctx_workq_rm(a.ctx, other), DOCA_ERROR_NOT_FOUND, "remove another one");
	MUST(doca_workq_destroy(other));
	tap_is(doca_workq_destroy(a.workq), DOCA_ERROR_IN_USE, "destroy a work queue in use");
	tap_is(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_USE, "stop with a work queue");
	tap_is(recv_job(&a, NULL, 0), DOCA_ERROR_BAD_STATE, "a job in INIT");
	tap_is(doca_rdma_connect(a.rdma, "nonsense", 8), DOCA_ERROR_INVALID_VALUE,
	       "a damaged description");
	tap_is(state_of(&a), DOCA_RDMA_STATE_INIT, "still not connected");
}

static void test_connected(void)
{
	const void *blob, *again;
	size_t len;

	start_side(&b);
	connect_sides(&a, &b);
	tap_is(state_of(&a), DOCA_RDMA_STATE_CONNECTED, "connected");
	MUST(doca_rdma_export(a.rdma, &blob, &len));
	MUST(doca_rdma_export(a.rdma, &again, &len));
	ok(blob == again, "the same description again");
	tap_is(doca_rdma_connect(a.rdma, blob, len), DOCA_ERROR_BAD_STATE, "connect twice");
	MUST(recv_job(&b, NULL, 1));
	MUST(send_job(&a, DOCA_RDMA_JOB_SEND, NULL, 0, 2));
	done(&a, DOCA_RDMA_JOB_SEND, 2, "send");
	done(&b, DOCA_RDMA_JOB_RECV, 1, "receive");
}

/* The instance does not allow reads although the map does; all jobs after it fail. */
static void test_error(void)
{
	struct doca_buf *src, *dst;
	struct doca_rdma_result result;
	struct doca_event event;

	import_memory(&a, &b);
	src = peer_data_at(&a, 0, 8);
	dst = space_at(&a, 0, 8);
	MUST(recv_job(&a, NULL, 3));
	MUST(rw_job(&a, DOCA_RDMA_JOB_READ, src, dst, 0, 4));
	result = retrieve(&a, &event);
	ok(event.type == DOCA_RDMA_JOB_READ && event.user_data.u64 == 4 &&
	   result.result != DOCA_SUCCESS, "a read that is not allowed: %s",
	   doca_get_error_name(result.result));
	tap_is(length(dst), 0, "nothing was read");
	tap_is(state_of(&a), DOCA_RDMA_STATE_ERROR, "error state");
	tap_is(recv_job(&a, NULL, 0), DOCA_ERROR_BAD_STATE, "no jobs any more");
	put(src);
	put(dst);
	stop_side(&a);
	stop_side(&b);
	tap_is(state_of(&a), DOCA_RDMA_STATE_RESET, "reset by the stop");
	MUST(doca_mmap_destroy(a.peer));
	a.peer = NULL;
}

/* The peer wrote an address to which there is no route.  Only a new start helps. */
static void test_no_route(void)
{
	enum { GID = 32, LINK_LAYER = 51 };	/* offsets */
	enum { INFINIBAND = 1 };		/* it has no routes for GIDs */
	static const uint8_t nowhere[] = { 203, 0, 113, 9 };	/* TEST-NET-3 */
	_Alignas(8) uint8_t copy[64];
	const struct xvd_blob *export;
	const void *blob, *own;
	size_t len, own_len;

	start_side(&a);
	start_side(&b);
	MUST(doca_rdma_export(b.rdma, &blob, &len));
	export = blob;
	memcpy(copy, blob, len);
	if (copy[LINK_LAYER] != INFINIBAND) {
		memcpy(copy + GID + 12, nowhere, sizeof(nowhere));
		xvd_blob_seal((struct xvd_blob *)(void *)copy, export->magic, export->size);
		ok(doca_rdma_connect(a.rdma, copy, len) != DOCA_SUCCESS, "no route to the peer");
		tap_is(state_of(&a), DOCA_RDMA_STATE_ERROR, "error state");
		tap_is(doca_rdma_connect(a.rdma, blob, len), DOCA_ERROR_BAD_STATE,
		       "no other connection");
		tap_is(doca_rdma_export(a.rdma, &own, &own_len), DOCA_ERROR_BAD_STATE,
		       "no export");
	}
	stop_side(&a);
	stop_side(&b);
}

static void test_recovery(void)
{
	MUST(doca_rdma_set_permissions(b.rdma, DOCA_ACCESS_RDMA_READ));
	start_side(&a);
	start_side(&b);
	connect_sides(&a, &b);
	import_memory(&a, &b);
	MUST(rw_job(&a, DOCA_RDMA_JOB_READ, NULL, NULL, 0, 5));
	done(&a, DOCA_RDMA_JOB_READ, 5, "read after the recovery");
	tap_is(state_of(&a), DOCA_RDMA_STATE_CONNECTED, "connected again");
}

/* Jobs stay in the context while it has no work queue. */
static void test_workq_change(void)
{
	MUST(recv_job(&b, NULL, 6));
	MUST(doca_ctx_workq_rm(b.ctx, b.workq));
	MUST(send_job(&a, DOCA_RDMA_JOB_SEND, NULL, 0, 7));
	done(&a, DOCA_RDMA_JOB_SEND, 7, "send");
	MUST(doca_ctx_workq_add(b.ctx, b.workq));
	done(&b, DOCA_RDMA_JOB_RECV, 6, "receive by the work queue that was added again");
}

/* Returns whether the handle is readable within ms milliseconds. */
static int readable(doca_event_handle_t handle, int ms)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0), n;

	if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, handle, &event))
		bail_out("epoll");
	n = epoll_wait(fd, &event, 1, ms);
	close(fd);
	return n == 1;
}

static void test_events(void)
{
	struct doca_rdma_result result;
	struct doca_event event = { .result.ptr = &result };
	doca_event_handle_t handle;

	tap_is(doca_workq_get_event_handle(b.workq, &handle), DOCA_ERROR_BAD_STATE,
	       "no handle in polling mode");
	tap_is(doca_workq_event_handle_arm(b.workq), DOCA_ERROR_BAD_STATE, "arm in polling mode");
	tap_is(doca_workq_set_event_driven_enable(b.workq, 1), DOCA_ERROR_BAD_STATE,
	       "change the mode with a context");
	MUST(doca_ctx_workq_rm(b.ctx, b.workq));
	MUST(doca_workq_set_event_driven_enable(b.workq, 1));
	MUST(doca_ctx_workq_add(b.ctx, b.workq));
	MUST(doca_workq_get_event_handle(b.workq, &handle));
	MUST(recv_job(&b, NULL, 8));
	MUST(recv_job(&b, NULL, 9));
	tap_is(doca_workq_progress_retrieve(b.workq, &event, 0), DOCA_ERROR_AGAIN, "no job yet");
	MUST(doca_workq_event_handle_arm(b.workq));
	tap_is(readable(handle, 50), 0, "no event yet");
	MUST(send_job(&a, DOCA_RDMA_JOB_SEND, NULL, 0, 0));
	MUST(send_job(&a, DOCA_RDMA_JOB_SEND, NULL, 0, 0));
	tap_is(readable(handle, SECONDS * 1000), 1, "an event");
	done(&a, DOCA_RDMA_JOB_SEND, 0, "send");
	done(&a, DOCA_RDMA_JOB_SEND, 0, "send");
	MUST(doca_workq_event_handle_clear(b.workq, handle));
	tap_is(readable(handle, 0), 0, "no event after clear");
	done(&b, DOCA_RDMA_JOB_RECV, 8, "receive");
	MUST(doca_workq_event_handle_arm(b.workq));
	tap_is(readable(handle, 0), 1, "an event for the job that is left");
	MUST(doca_workq_event_handle_clear(b.workq, handle));
	done(&b, DOCA_RDMA_JOB_RECV, 9, "receive");
	tap_is(doca_workq_event_handle_clear(b.workq, handle + 1), DOCA_ERROR_INVALID_VALUE,
	       "another handle");
}

/* c is on the work queue of a, and b is the peer of c. */
static void test_shared_workq(void)
{
	stop_side(&a);
	stop_side(&b);
	MUST(doca_ctx_start(a.ctx));
	MUST(doca_ctx_workq_add(a.ctx, a.workq));
	MUST(doca_ctx_start(c.ctx));
	MUST(doca_ctx_workq_add(c.ctx, a.workq));
	start_side(&b);
	connect_sides(&c, &b);
	MUST(doca_workq_destroy(c.workq));
	c.workq = a.workq;
	MUST(recv_job(&c, NULL, 10));
	MUST(send_job(&b, DOCA_RDMA_JOB_SEND, NULL, 0, 11));
	done(&b, DOCA_RDMA_JOB_SEND, 11, "send");
	done(&a, DOCA_RDMA_JOB_RECV, 10, "receive of another context on the work queue");
	MUST(doca_ctx_workq_rm(a.ctx, a.workq));
	MUST(recv_job(&c, NULL, 12));
	MUST(send_job(&b, DOCA_RDMA_JOB_SEND, NULL, 0, 13));
	done(&b, DOCA_RDMA_JOB_SEND, 13, "send");
	done(&c, DOCA_RDMA_JOB_RECV, 12, "receive after the other context has left");
	MUST(doca_ctx_workq_rm(c.ctx, c.workq));
	MUST(doca_ctx_stop(c.ctx));
	MUST(doca_ctx_stop(a.ctx));
	stop_side(&b);
	MUST(doca_workq_create(DEPTH, &c.workq));
}

int main(void)
{
	open_side(&a, 0, 0);
	open_side(&b, 1, 0);
	open_side(&c, 0, 0);
	/* A map that may be read, on an instance that does not allow it */
	MUST(doca_mmap_stop(b.mmap));
	MUST(doca_mmap_set_permissions(b.mmap,
				       DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ));
	MUST(doca_mmap_start(b.mmap));
	test_order();
	test_connected();
	test_error();
	test_no_route();
	test_recovery();
	test_workq_change();
	test_events();
	test_shared_workq();
	close_side(&a);
	close_side(&b);
	close_side(&c);
	return tap_done();
}
