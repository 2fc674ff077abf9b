// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA: permissions of the peer, tasks that fail, stop with tasks in flight, restart, several
 * connections, sleeping.
 */
#include <poll.h>
#include "rdma.h"

#define ALL_RDMA	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |	\
			 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

static struct side a, b;

static void open_both(uint32_t permissions)
{
	open_side(&a, 0, 0);
	open_side(&b, 1, permissions);
}

static void close_both(void)
{
	close_side(&a);
	close_side(&b);
}

static void connect_both(void)
{
	start_both(&a, &b);
	connect_sides(&a, &b);
}

/* The objects of a task to read, to write or to add, and what became of it */
static doca_error_t try_write(void)
{
	struct doca_buf *src = data_at(&a, 0, 8), *dst = peer_space_at(&a, 0, 8);
	struct doca_rdma_task_write *task;
	struct done done;

	MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, pointer(&done), &task));
	MUST(submit(doca_rdma_task_write_as_task(task), &done));
	PROGRESS_UNTIL(&a, &b, done.completed || done.failed);
	doca_task_free(doca_rdma_task_write_as_task(task));
	put(src);
	put(dst);
	return done.status;
}

static doca_error_t try_read(void)
{
	struct doca_buf *src = peer_data_at(&a, 0, 8), *dst = space_at(&a, 0, 8);
	struct doca_rdma_task_read *task;
	struct done done;

	MUST(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, pointer(&done), &task));
	MUST(submit(doca_rdma_task_read_as_task(task), &done));
	PROGRESS_UNTIL(&a, &b, done.completed || done.failed);
	doca_task_free(doca_rdma_task_read_as_task(task));
	put(src);
	put(dst);
	return done.status;
}

static doca_error_t try_atomic(void)
{
	struct doca_buf *dst = peer_data_at(&a, 0, 8), *result = space_at(&a, 0, 8);
	struct doca_rdma_task_atomic_fetch_add *task;
	struct done done;

	MUST(doca_rdma_task_atomic_fetch_add_allocate_init(a.rdma, a.conn, dst, result, 1,
							   pointer(&done), &task));
	MUST(submit(doca_rdma_task_atomic_fetch_add_as_task(task), &done));
	PROGRESS_UNTIL(&a, &b, done.completed || done.failed);
	doca_task_free(doca_rdma_task_atomic_fetch_add_as_task(task));
	put(dst);
	put(result);
	return done.status;
}

/*
 * The context of the peer, or its map, allows one kind of access, the other all kinds.  Each
 * failure needs a new connection.
 */
static void permissions(uint32_t context, uint32_t map, doca_error_t (*attempt)(void),
			doca_error_t want, const char *what)
{
	doca_error_t result;

	open_both(map);
	MUST(doca_rdma_set_permissions(b.rdma, context));
	connect_both();
	import_memory(&a, &b);
	result = attempt();
	tap_is(result, want, "%s", what);
	if (want != DOCA_SUCCESS) {
		struct doca_buf *src = data_at(&a, 0, 8);
		struct doca_rdma_task_send *task;

		MUST(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, pointer(NULL), &task));
		tap_is(doca_task_submit(doca_rdma_task_send_as_task(task)), DOCA_ERROR_BAD_STATE,
		       "no task is possible on the connection any more");
		doca_task_free(doca_rdma_task_send_as_task(task));
		put(src);
	}
	stop_side(&a);
	stop_side(&b);
	close_both();
}

static void all_permissions(void)
{
	static const struct {
		uint32_t flag;
		doca_error_t (*attempt)(void);
		const char *name;
	} kinds[] = {
		{ DOCA_ACCESS_FLAG_RDMA_READ, try_read, "read" },
		{ DOCA_ACCESS_FLAG_RDMA_WRITE, try_write, "write" },
		{ DOCA_ACCESS_FLAG_RDMA_ATOMIC, try_atomic, "atomic" },
	};
	char what[80];
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(what, sizeof(what), "a %s with its permissions", kinds[i].name);
		permissions(kinds[i].flag, kinds[i].flag, kinds[i].attempt, DOCA_SUCCESS, what);
		snprintf(what, sizeof(what), "a %s without that of the context", kinds[i].name);
		permissions(ALL_RDMA & ~kinds[i].flag, ALL_RDMA, kinds[i].attempt,
			    DOCA_ERROR_IO_FAILED, what);
		snprintf(what, sizeof(what), "a %s without that of the map", kinds[i].name);
		permissions(ALL_RDMA, ALL_RDMA & ~kinds[i].flag, kinds[i].attempt,
			    DOCA_ERROR_NOT_PERMITTED, what);
	}
}

/* ---- Failures ---------------------------------------------------------------------------- */

static void receive_too_small(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct doca_buf *src, *dst;
	struct done sent, received;

	open_both(0);
	connect_both();
	src = data_at(&a, 0, 100);
	dst = space_at(&b, 0, 99);
	receive = post_receive(&b, dst, &received);
	send = post_send(&a, a.conn, src, &sent);
	ok(PROGRESS_UNTIL(&a, &b, sent.failed && received.failed), "both tasks fail");
	tap_is(received.status, DOCA_ERROR_TOO_BIG, "the message is too big for the receive");
	tap_is(sent.status, DOCA_ERROR_IO_FAILED, "the peer could not take it");
	tap_is(length(dst), 0, "the buffer has no data");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	doca_task_free(doca_rdma_task_send_as_task(send));
	put(src);
	put(dst);
	stop_side(&a);
	stop_side(&b);
	close_both();
}

/* A send to a context that was stopped, and one behind it */
static void peer_gone(void)
{
	struct doca_rdma_task_send *first, *second;
	struct done done[2];
	struct doca_buf *src;

	open_both(0);
	connect_both();
	stop_side(&b);
	src = data_at(&a, 0, 100);
	first = post_send(&a, a.conn, src, &done[0]);
	second = post_send(&a, a.conn, src, &done[1]);
	ok(PROGRESS_UNTIL(&a, &b, done[0].failed && done[1].failed), "both sends fail");
	tap_is(done[0].status, DOCA_ERROR_TIME_OUT, "the peer does not answer");
	tap_is(done[1].status, DOCA_ERROR_CONNECTION_ABORTED, "the connection has failed");
	doca_task_free(doca_rdma_task_send_as_task(first));
	doca_task_free(doca_rdma_task_send_as_task(second));
	put(src);
	stop_side(&a);
	close_both();
}

/* ---- Stop and restart -------------------------------------------------------------------- */

/*
 * Sends without receives, some without doorbell or completion, and receives without messages; the
 * memory of both must be free after the stop.
 */
static void stop_in_flight(void)
{
	struct doca_rdma_task_receive *receives[8];
	struct doca_rdma_task_send *sends[8];
	struct done sent = { .completed = 0 }, received = { .completed = 0 };
	enum doca_ctx_states state;
	struct doca_buf *src, *dst;
	size_t waiting;
	int i;

	src = data_at(&a, 0, 100);
	dst = space_at(&a, 200, 100);
	for (i = 0; i < 8; i++) {
		MUST(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, pointer(&sent),
						       &sends[i]));
		MUST(doca_task_submit_ex(doca_rdma_task_send_as_task(sends[i]),
					 (uint32_t)i % 4));
		MUST(doca_rdma_task_receive_allocate_init(a.rdma, dst, pointer(&received),
							  &receives[i]));
		MUST(doca_task_submit(doca_rdma_task_receive_as_task(receives[i])));
	}
	MUST(doca_ctx_get_num_inflight_tasks(a.ctx, &waiting));
	tap_is(waiting, 16, "16 tasks are in flight");
	tap_is(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS, "the stop takes time");
	tap_is(sent.failed + received.failed, 0, "no callback in doca_ctx_stop()");
	MUST(doca_ctx_get_state(a.ctx, &state));
	tap_is(state, DOCA_CTX_STATE_STOPPING, "the context is stopping");
	tap_is(doca_task_submit(doca_rdma_task_send_as_task(sends[0])), DOCA_ERROR_BAD_STATE,
	       "it takes no task");
	stop_side(&a);
	tap_is(sent.failed, 8, "all sends fail");
	tap_is(received.failed, 8, "all receives fail");
	tap_is(sent.status, DOCA_ERROR_CONNECTION_ABORTED, "their status");
	tap_is(received.status, DOCA_ERROR_CONNECTION_ABORTED, "and that of the receives");
	for (i = 0; i < 8; i++) {
		doca_task_free(doca_rdma_task_send_as_task(sends[i]));
		doca_task_free(doca_rdma_task_receive_as_task(receives[i]));
	}
	put(src);
	put(dst);
}

static void one_message(struct doca_rdma_connection *from, struct doca_rdma_connection *to,
			unsigned int seed)
{
	struct doca_buf *src = data_at(&a, 0, 1000), *dst = space_at(&b, 0, 1000);
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct done sent, received;

	fill(a.mem, 1000, seed);
	memset(b.mem, 0, 1000);
	receive = post_receive(&b, dst, &received);
	send = post_send(&a, from, src, &sent);
	PROGRESS_UNTIL(&a, &b, (sent.completed || sent.failed) && received.completed);
	ok(sent.completed && received.completed && holds(b.mem, 1000, seed), "message %u", seed);
	ok(doca_rdma_task_receive_get_result_rdma_connection(receive) == to,
	   "it comes from its connection");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	doca_task_free(doca_rdma_task_send_as_task(send));
	put(src);
	put(dst);
}

static void restart(void)
{
	int round;

	open_both(0);
	for (round = 0; round < 3; round++) {
		connect_both();
		one_message(a.conn, b.conn, (unsigned int)round);
		stop_in_flight();
		stop_side(&b);
	}
	close_both();
}

/* ---- Several connections ----------------------------------------------------------------- */

static void several_connections(void)
{
	enum { N = 5 };
	struct doca_rdma_connection *ca[N], *cb[N];
	union doca_data data;
	uint32_t id;
	int i;

	open_both(0);
	MUST(doca_rdma_set_max_num_connections(a.rdma, N));
	MUST(doca_rdma_set_max_num_connections(b.rdma, N));
	start_both(&a, &b);
	for (i = 0; i < N; i++) {
		connect_conns(&a, &ca[i], &b, &cb[i]);
		MUST(doca_rdma_connection_get_id(ca[i], &id));
		tap_is(id, (unsigned int)i, "connection %d has its number", i);
		MUST(doca_rdma_connection_set_user_data(ca[i], pointer(&ca[i])));
	}
	for (i = 0; i < N; i++) {
		MUST(doca_rdma_connection_get_user_data(ca[i], &data));
		ok(data.ptr == &ca[i], "and its user data");
		one_message(ca[i], cb[i], 10 + (unsigned int)i);
	}
	stop_side(&a);
	stop_side(&b);
	close_both();
}

/* ---- Full queues ------------------------------------------------------------------------- */

/* Short tasks take less space than the queue has for each, so more of them may be taken. */
static void full_queue(uint32_t size, uint32_t list_len)
{
	enum { MOST = 1000 };
	static struct doca_task *tasks[MOST];
	struct doca_rdma_task_write *write;
	doca_error_t result = DOCA_SUCCESS;
	struct done done = { 0 };
	struct doca_buf *src, *dst;
	int n, i;

	open_both(DOCA_ACCESS_FLAG_RDMA_WRITE);
	MUST(doca_rdma_set_send_queue_size(a.rdma, size));
	MUST(doca_rdma_set_max_send_buf_list_len(a.rdma, list_len));
	MUST(doca_rdma_task_write_set_conf(a.rdma, write_completed, write_failed, MOST));
	connect_both();
	import_memory(&a, &b);
	src = data_at(&a, 0, 1);
	dst = peer_space_at(&a, 0, MOST);
	for (n = 0; n < MOST; n++) {
		MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, pointer(&done),
							&write));
		tasks[n] = doca_rdma_task_write_as_task(write);
		result = doca_task_submit(tasks[n]);
		if (result != DOCA_SUCCESS)
			break;
	}
	ok(n >= (int)size && result == DOCA_ERROR_AGAIN, "a queue of %u takes %d writes", size, n);
	ok(PROGRESS_UNTIL(&a, &b, done.completed + done.failed == n) && !done.failed,
	   "and all complete");
	for (i = 0; i <= n && i < MOST; i++)
		doca_task_free(tasks[i]);
	put(src);
	put(dst);
	stop_side(&a);
	stop_side(&b);
	close_both();
}

/* ---- Sleeping ---------------------------------------------------------------------------- */

/* Waits at most ms for the progress engine. */
static int sleep_for(struct doca_pe *pe, int ms)
{
	struct pollfd fd = { .events = POLLIN };

	MUST(doca_pe_get_notification_handle(pe, &fd.fd));
	MUST(doca_pe_request_notification(pe));
	return poll(&fd, 1, ms);
}

static void sleeping(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct done sent, received;
	struct doca_buf *src, *dst;
	int i;

	open_both(0);
	connect_both();
	src = data_at(&a, 0, 10);
	dst = space_at(&b, 0, 100);
	tap_is(sleep_for(b.pe, 50), 0, "nothing happens: the engine is not readable");
	MUST(doca_pe_clear_notification(b.pe, 0));
	for (i = 0; i < 3; i++) {
		receive = post_receive(&b, dst, &received);
		MUST(doca_pe_request_notification(b.pe));
		send = post_send(&a, a.conn, src, &sent);
		tap_is(sleep_for(b.pe, 10000), 1, "a message wakes the receiver");
		MUST(doca_pe_clear_notification(b.pe, 0));
		ok(PROGRESS_UNTIL(&b, &b, received.completed), "the message is there");
		tap_is(sleep_for(a.pe, 10000), 1, "its completion wakes the sender");
		MUST(doca_pe_clear_notification(a.pe, 0));
		ok(PROGRESS_UNTIL(&a, &a, sent.completed), "the send is complete");
		doca_task_free(doca_rdma_task_receive_as_task(receive));
		doca_task_free(doca_rdma_task_send_as_task(send));
	}
	tap_is(length(dst), 30, "all messages are in the buffer");
	put(src);
	put(dst);
	stop_side(&a);
	stop_side(&b);
	close_both();
}

int main(void)
{
	all_permissions();
	full_queue(100, 4);
	full_queue(128, 8);
	receive_too_small();
	peer_gone();
	restart();
	several_connections();
	sleeping();
	return tap_done();
}
