// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA connections by rdma_cm: requests, acceptance, refusal, failures, disconnection by each side,
 * connections that follow one another.  Both sides are on the same device.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>
#include "rdma.h"

enum { PORT = 18777, MAX_CONNS = 3 };

static struct side a, b;
static char address[INET_ADDRSTRLEN];

/* What the callbacks of a side have seen */
struct seen {
	int requests, established, failures, disconnections;
	struct doca_rdma_connection *conn;	/* the last one */
	union doca_data conn_data;
	bool reject;
	bool answer;			/* disconnects in the callback, too */
	const struct done *tasks;	/* or NULL */
	int ended;			/* tasks at the time of the disconnection */
};

static struct seen at_a, at_b;

static void requested(struct doca_rdma_connection *conn, union doca_data ctx_data)
{
	struct seen *seen = ctx_data.ptr;

	seen->requests++;
	seen->conn = conn;
	if (seen->reject) {
		MUST(doca_rdma_connection_reject(conn));
		return;
	}
	MUST(doca_rdma_connection_set_user_data(conn, pointer(seen)));
	MUST(doca_rdma_connection_accept(conn, "hello", 6));
}

static void established(struct doca_rdma_connection *conn, union doca_data data,
			union doca_data ctx_data)
{
	struct seen *seen = ctx_data.ptr;

	seen->established++;
	seen->conn = conn;
	seen->conn_data = data;
}

static void failed(struct doca_rdma_connection *conn, union doca_data data,
		   union doca_data ctx_data)
{
	struct seen *seen = ctx_data.ptr;

	seen->failures++;
	seen->conn = conn;
	seen->conn_data = data;
}

static void disconnected(struct doca_rdma_connection *conn, union doca_data data,
			 union doca_data ctx_data)
{
	struct seen *seen = ctx_data.ptr;

	seen->disconnections++;
	seen->conn = conn;
	seen->conn_data = data;
	if (seen->tasks)
		seen->ended = seen->tasks->completed + seen->tasks->failed;
	if (seen->answer)
		tap_is(doca_rdma_connection_disconnect(conn), DOCA_SUCCESS,
		       "the callback disconnects, too");
}

/* The IPv4 address of the device, from its GIDs */
static void find_address(struct doca_dev *dev)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct doca_rdma_gid gid;
	uint32_t i, n;

	MUST(doca_rdma_cap_get_gid_table_size(info, &n));
	for (i = 0; i < n; i++) {
		MUST(doca_rdma_cap_get_gid(info, i, 1, &gid));
		if (memcmp(gid.raw, mapped, sizeof(mapped)))
			continue;
		inet_ntop(AF_INET, gid.raw + 12, address, sizeof(address));
		return;
	}
	tap_skip_all("the device has no IPv4 address");
}

static void start_side(struct side *s, struct seen *seen)
{
	open_side(s, 0, DOCA_ACCESS_FLAG_RDMA_WRITE);
	MUST(doca_rdma_set_max_num_connections(s->rdma, MAX_CONNS));
	MUST(doca_rdma_set_connection_state_callbacks(s->rdma, requested, established, failed,
						      disconnected));
	MUST(doca_ctx_set_user_data(s->ctx, pointer(seen)));
	MUST(doca_ctx_start(s->ctx));
}

/* a connects to a port of b. */
static void connect_to(uint16_t port, void *user_data)
{
	struct doca_rdma_addr *addr;

	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, address, port, &addr));
	tap_is(doca_rdma_connect_to_addr(a.rdma, addr, pointer(user_data)), DOCA_SUCCESS,
	       "a connection to %s port %u begins", address, port);
	MUST(doca_rdma_addr_destroy(addr));
}

static void one_message(unsigned int seed)
{
	struct doca_buf *src = data_at(&a, 0, 500), *dst = space_at(&b, 0, 500);
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct done sent, received;

	fill(a.mem, 500, seed);
	memset(b.mem, 0, 500);
	receive = post_receive(&b, dst, &received);
	send = post_send(&a, at_a.conn, src, &sent);
	PROGRESS_UNTIL(&a, &b, (sent.completed || sent.failed) && received.completed);
	ok(sent.completed && received.completed && holds(b.mem, 500, seed), "a message");
	ok(doca_rdma_task_receive_get_result_rdma_connection(receive) == at_b.conn,
	   "from its connection");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	doca_task_free(doca_rdma_task_send_as_task(send));
	put(src);
	put(dst);
}

static void forget(void)
{
	memset(&at_a, 0, sizeof(at_a));
	memset(&at_b, 0, sizeof(at_b));
}

/* seen: by the side that disconnects */
static void connect_and_disconnect(struct seen *seen, bool answer)
{
	int mark;

	forget();
	at_a.answer = at_b.answer = answer;
	connect_to(PORT, &mark);
	ok(PROGRESS_UNTIL(&a, &b, at_a.established && at_b.established), "it is established");
	ok(at_a.conn_data.ptr == &mark && at_b.conn_data.ptr == &at_b,
	   "each callback gets the data of its connection");
	one_message(7);
	tap_is(doca_rdma_connection_disconnect(seen->conn), DOCA_SUCCESS, "one side disconnects");
	tap_is(doca_rdma_connection_disconnect(seen->conn), DOCA_SUCCESS, "and again");
	ok(PROGRESS_UNTIL(&a, &b, at_a.disconnections && at_b.disconnections),
	   "both have the callback of the disconnection");
	tap_is(at_a.disconnections + at_b.disconnections, 2, "each has it once");
	tap_is(doca_rdma_connection_disconnect(seen->conn), DOCA_SUCCESS,
	       "a connection that has ended is disconnected");
}

/* rdma_cm would allow reads, but the configuration does not. */
static void permissions(void)
{
	struct doca_buf *src, *dst;
	struct doca_rdma_task_read *task;
	struct done done;

	forget();
	connect_to(PORT, NULL);
	PROGRESS_UNTIL(&a, &b, at_a.established && at_b.established);
	import_memory(&a, &b);
	src = peer_data_at(&a, 0, 8);
	dst = space_at(&a, 0, 8);
	MUST(doca_rdma_task_read_allocate_init(a.rdma, at_a.conn, src, dst, pointer(&done),
					       &task));
	MUST(submit(doca_rdma_task_read_as_task(task), &done));
	PROGRESS_UNTIL(&a, &b, done.completed || done.failed);
	tap_is(done.status, DOCA_ERROR_IO_FAILED, "a read that the peer does not allow fails");
	doca_task_free(doca_rdma_task_read_as_task(task));
	put(src);
	put(dst);
	tap_is(doca_rdma_connection_disconnect(at_a.conn), DOCA_SUCCESS,
	       "the failed connection is disconnected");
	ok(PROGRESS_UNTIL(&a, &b, at_a.disconnections && at_b.disconnections), "at both sides");
}

/* More messages than progress() takes at once, and then a disconnection */
static void messages_before_the_end(void)
{
	enum { N = 40 };
	struct doca_rdma_task_receive *receives[N];
	struct doca_buf *src = data_at(&a, 0, 8), *dst[N];
	struct done sent, received = { 0 }, unused;
	int i;

	forget();
	connect_to(PORT, NULL);
	ok(PROGRESS_UNTIL(&a, &b, at_a.established && at_b.established), "it is established");
	for (i = 0; i < N; i++) {
		dst[i] = space_at(&b, (size_t)i * 8, 8);
		MUST(doca_rdma_task_receive_allocate_init(b.rdma, dst[i], pointer(&received),
							  &receives[i]));
		MUST(submit(doca_rdma_task_receive_as_task(receives[i]), &unused));
	}
	at_b.tasks = &received;
	for (i = 0; i < N; i++) {
		struct doca_rdma_task_send *send = post_send(&a, at_a.conn, src, &sent);

		PROGRESS_UNTIL(&a, &a, sent.completed || sent.failed);
		doca_task_free(doca_rdma_task_send_as_task(send));
	}
	MUST(doca_rdma_connection_disconnect(at_a.conn));
	/* The disconnection has arrived when b looks for the first time. */
	usleep(100000);
	ok(PROGRESS_UNTIL(&a, &b, at_a.disconnections && at_b.disconnections), "both have ended");
	tap_is(received.completed, N, "all messages have arrived");
	tap_is(at_b.ended, N, "before the callback of the disconnection");
	at_b.tasks = NULL;
	for (i = 0; i < N; i++) {
		doca_task_free(doca_rdma_task_receive_as_task(receives[i]));
		put(dst[i]);
	}
	put(src);
}

/* The class is that of the request; that it is in the packets is not visible here. */
static void traffic_class(void)
{
	stop_side(&a);
	MUST(doca_rdma_set_traffic_class(a.rdma, 96));
	MUST(doca_ctx_start(a.ctx));
	connect_and_disconnect(&at_a, false);
}

static void failures(void)
{
	int mark;

	forget();
	at_b.reject = true;
	connect_to(PORT, &mark);
	ok(PROGRESS_UNTIL(&a, &b, at_a.failures), "a request that is rejected fails");
	ok(at_b.requests == 1 && !at_a.established && at_a.conn_data.ptr == &mark,
	   "the callbacks of both");
	forget();
	connect_to(PORT + 1, NULL);
	ok(PROGRESS_UNTIL(&a, &b, at_a.failures), "nobody listens on the port");
	tap_is(at_b.requests, 0, "the other side has no request");
}

/* More requests than connections */
static void too_many(void)
{
	int i;

	forget();
	for (i = 0; i < MAX_CONNS; i++)
		connect_to(PORT, NULL);
	ok(PROGRESS_UNTIL(&a, &b, at_a.established == MAX_CONNS && at_b.established == MAX_CONNS),
	   "%d connections", MAX_CONNS);
	stop_side(&a);
	ok(PROGRESS_UNTIL(&b, &b, at_b.disconnections == MAX_CONNS),
	   "the stop of the peer disconnects all");
	MUST(doca_ctx_start(a.ctx));
}

/* A request wakes a program that sleeps. */
static void sleeping(void)
{
	struct pollfd fd = { .events = POLLIN };
	double end = now() + SECONDS;

	forget();
	MUST(doca_pe_get_notification_handle(b.pe, &fd.fd));
	connect_to(PORT, NULL);
	while (!at_b.requests && now() < end) {
		doca_pe_progress(a.pe);
		MUST(doca_pe_request_notification(b.pe));
		if (poll(&fd, 1, 20) != 1)
			continue;
		MUST(doca_pe_clear_notification(b.pe, 0));
		doca_pe_progress(b.pe);
	}
	tap_is(at_b.requests, 1, "a request wakes the progress engine");
	ok(PROGRESS_UNTIL(&a, &b, at_a.established && at_b.established), "it is established");
}

int main(void)
{
	start_side(&a, &at_a);
	start_side(&b, &at_b);
	find_address(b.dev);
	tap_is(doca_rdma_start_listen_to_port(b.rdma, PORT), DOCA_SUCCESS, "one side listens");
	tap_is(doca_rdma_start_listen_to_port(a.rdma, PORT), DOCA_ERROR_IN_USE,
	       "nobody else can listen on the port");
	tap_is(doca_rdma_stop_listen_to_port(b.rdma, PORT + 1), DOCA_ERROR_NOT_FOUND,
	       "nobody listens on another port");
	connect_and_disconnect(&at_a, false);
	connect_and_disconnect(&at_b, false);
	connect_and_disconnect(&at_a, true);
	permissions();
	messages_before_the_end();
	traffic_class();
	failures();
	too_many();
	sleeping();
	tap_is(doca_rdma_stop_listen_to_port(b.rdma, PORT), DOCA_SUCCESS, "it stops listening");
	forget();
	connect_to(PORT, NULL);
	ok(PROGRESS_UNTIL(&a, &b, at_a.failures), "now a request fails");
	stop_side(&a);
	stop_side(&b);
	close_side(&a);
	close_side(&b);
	return tap_done();
}
