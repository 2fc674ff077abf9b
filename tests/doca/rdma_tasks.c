// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA: each kind of task, with the data, the lengths and the results.
 */
#include <arpa/inet.h>
#include "rdma.h"

static struct side a, b;

#define ALL_RDMA	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |	\
			 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* Waits for the callback of a task of a. */
static void expect_success(struct doca_task *task, struct done *done, const char *what)
{
	PROGRESS_UNTIL(&a, &b, done->completed || done->failed);
	ok(done->completed == 1 && !done->failed && done->status == DOCA_SUCCESS,
	   "%s succeeds", what);
	doca_task_free(task);
}

/* ---- Messages ---------------------------------------------------------------------------- */

/* Sends len bytes in buffers of part bytes, and receives them behind 3 bytes of older data. */
static void send_message(size_t len, size_t part)
{
	struct doca_buf *src = NULL, *next, *dst = space_at(&b, 0, len + 3 + 100);
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct done sent, received;
	size_t offset;

	fill(a.mem, len, 1);
	memset(b.mem, 0, SIZE);
	memcpy(b.mem, "old", 3);
	MUST(doca_buf_set_data_len(dst, 3));
	for (offset = 0; offset < len; offset += part) {
		next = data_at(&a, offset, len - offset < part ? len - offset : part);
		if (src)
			MUST(doca_buf_chain_list(src, next));
		else
			src = next;
	}
	receive = post_receive(&b, dst, &received);
	send = post_send(&a, a.conn, src, &sent);
	expect_success(doca_rdma_task_send_as_task(send), &sent, "the send");
	PROGRESS_UNTIL(&a, &b, received.completed || received.failed);
	tap_is(received.completed, 1, "%zu bytes in parts of %zu are received", len, part);
	tap_is(doca_rdma_task_receive_get_result_len(receive), len, "the length of the message");
	tap_is(doca_rdma_task_receive_get_result_opcode(receive), DOCA_RDMA_OPCODE_RECV_SEND,
	       "its opcode");
	ok(doca_rdma_task_receive_get_result_rdma_connection(receive) == b.conn,
	   "its connection");
	tap_is(length(dst), len + 3, "the buffer has the data of before and the new ones");
	ok(!memcmp(b.mem, "old", 3) && holds(b.mem + 3, len, 1) && !b.mem[3 + len],
	   "the data, and nothing behind them");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(dst);
	put(src);
}

/* A message for a list of three buffers, of which the first has space for 10 bytes */
static void receive_list(void)
{
	struct doca_buf *dst = space_at(&b, 0, 30), *second = space_at(&b, 1000, 10);
	struct doca_buf *third = space_at(&b, 2000, 100), *src = data_at(&a, 0, 50);
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct done sent, received;

	fill(a.mem, 50, 2);
	memset(b.mem, 0, SIZE);
	MUST(doca_buf_set_data_len(dst, 20));
	MUST(doca_buf_chain_list(dst, second));
	MUST(doca_buf_chain_list(dst, third));
	receive = post_receive(&b, dst, &received);
	send = post_send(&a, a.conn, src, &sent);
	expect_success(doca_rdma_task_send_as_task(send), &sent, "a send for a list");
	PROGRESS_UNTIL(&a, &b, received.completed || received.failed);
	tap_is(received.completed, 1, "the list receives it");
	ok(length(dst) == 30 && length(second) == 10 && length(third) == 30,
	   "the lengths of the buffers");
	ok(!memcmp(b.mem + 20, a.mem, 10) && !memcmp(b.mem + 1000, a.mem + 10, 10) &&
	   !memcmp(b.mem + 2000, a.mem + 20, 30) && !b.mem[1010] && !b.mem[2030],
	   "the data of the buffers");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(dst);
	put(src);
}

static void send_immediate(size_t len)
{
	struct doca_buf *src = len ? data_at(&a, 0, len) : NULL;
	struct doca_buf *dst = len ? space_at(&b, 0, len) : NULL;
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send_imm *task;
	struct done sent, received;

	fill(a.mem, len, 3);
	memset(b.mem, 0, SIZE);
	receive = post_receive(&b, dst, &received);
	MUST(doca_rdma_task_send_imm_allocate_init(a.rdma, a.conn, src, htonl(0xabcd0001),
						   pointer(&sent), &task));
	tap_is(doca_rdma_task_send_imm_get_immediate_data(task), htonl(0xabcd0001),
	       "the task has the immediate data");
	MUST(submit(doca_rdma_task_send_imm_as_task(task), &sent));
	expect_success(doca_rdma_task_send_imm_as_task(task), &sent, "a send with immediate");
	PROGRESS_UNTIL(&a, &b, received.completed || received.failed);
	tap_is(doca_rdma_task_receive_get_result_opcode(receive),
	       DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM, "%zu bytes: the opcode", len);
	tap_is(doca_rdma_task_receive_get_result_immediate_data(receive), htonl(0xabcd0001),
	       "the immediate data");
	tap_is(doca_rdma_task_receive_get_result_len(receive), len, "the length");
	ok(holds(b.mem, len, 3), "the data");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(dst);
	put(src);
}

/* ---- Memory of the peer ------------------------------------------------------------------ */

static void write_data(size_t len)
{
	struct doca_buf *src = data_at(&a, 0, len), *dst = peer_space_at(&a, 4096, len + 50);
	struct doca_rdma_task_write *task;
	struct done done;

	fill(a.mem, len, 4);
	memset(b.mem, 0, SIZE);
	MUST(doca_buf_set_data_len(dst, 10));
	MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, pointer(&done), &task));
	ok(doca_rdma_task_write_get_src_buf(task) == src &&
	   doca_rdma_task_write_get_dst_buf(task) == dst &&
	   doca_rdma_task_write_get_rdma_connection(task) == a.conn, "the arguments of a write");
	MUST(submit(doca_rdma_task_write_as_task(task), &done));
	expect_success(doca_rdma_task_write_as_task(task), &done, "a write");
	tap_is(length(dst), len + 10, "the destination gets longer by %zu bytes", len);
	ok(holds(b.mem + 4096 + 10, len, 4), "the data are in the peer's memory");
	ok(!b.mem[4096 + 9] && !b.mem[4096 + 10 + len], "nothing is around them");
	put(src);
	put(dst);
}

static void write_list(void)
{
	struct doca_buf *src = data_at(&a, 0, 100), *second = data_at(&a, 1000, 200);
	struct doca_buf *dst = peer_space_at(&a, 0, 300);
	struct doca_rdma_task_write *task;
	struct done done;

	fill(a.mem, 1200, 5);
	memset(b.mem, 0, SIZE);
	MUST(doca_buf_chain_list(src, second));
	MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, pointer(&done), &task));
	MUST(submit(doca_rdma_task_write_as_task(task), &done));
	expect_success(doca_rdma_task_write_as_task(task), &done, "a write of a list");
	tap_is(length(dst), 300, "the length of both buffers");
	ok(!memcmp(b.mem, a.mem, 100) && !memcmp(b.mem + 100, a.mem + 1000, 200),
	   "the data of both buffers");
	put(src);
	put(dst);
}

static void write_immediate(size_t len)
{
	struct doca_buf *src = len ? data_at(&a, 0, len) : NULL;
	struct doca_buf *dst = len ? peer_space_at(&a, 100, len) : NULL;
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_write_imm *task;
	struct done done, received;

	fill(a.mem, len, 6);
	memset(b.mem, 0, SIZE);
	receive = post_receive(&b, NULL, &received);
	MUST(doca_rdma_task_write_imm_allocate_init(a.rdma, a.conn, src, dst, htonl(7),
						    pointer(&done), &task));
	MUST(submit(doca_rdma_task_write_imm_as_task(task), &done));
	expect_success(doca_rdma_task_write_imm_as_task(task), &done, "a write with immediate");
	PROGRESS_UNTIL(&a, &b, received.completed || received.failed);
	tap_is(received.completed, 1, "%zu bytes: the receive completes", len);
	tap_is(doca_rdma_task_receive_get_result_opcode(receive),
	       DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM, "its opcode");
	tap_is(doca_rdma_task_receive_get_result_immediate_data(receive), htonl(7),
	       "its immediate data");
	ok(holds(b.mem + 100, len, 6) && !b.mem[100 + len], "the data");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(src);
	put(dst);
}

/* space: in the destination, behind 5 bytes of older data */
static void read_data(size_t len, size_t space)
{
	size_t want = len < space ? len : space;
	struct doca_buf *src = peer_data_at(&a, 512, len), *dst = space_at(&a, 0, space + 5);
	struct doca_rdma_task_read *task;
	struct done done;

	memset(a.mem, 0, SIZE);
	fill(b.mem + 512, len, 7);
	MUST(doca_buf_set_data_len(dst, 5));
	MUST(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, pointer(&done), &task));
	MUST(submit(doca_rdma_task_read_as_task(task), &done));
	PROGRESS_UNTIL(&a, &b, done.completed || done.failed);
	tap_is(done.completed, 1, "a read of %zu bytes to %zu succeeds", len, space);
	tap_is(doca_rdma_task_read_get_result_len(task), want, "its length");
	tap_is(length(dst), want + 5, "the length of the destination");
	ok(holds(a.mem + 5, want, 7) && !a.mem[4] && !a.mem[5 + want], "the data");
	doca_task_free(doca_rdma_task_read_as_task(task));
	put(src);
	put(dst);
}

static void read_list(void)
{
	struct doca_buf *dst = space_at(&a, 0, 100), *second = space_at(&a, 1000, 100);
	struct doca_buf *src = peer_data_at(&a, 0, 150);
	struct doca_rdma_task_read *task;
	struct done done;

	memset(a.mem, 0, SIZE);
	fill(b.mem, 150, 8);
	MUST(doca_buf_chain_list(dst, second));
	MUST(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, pointer(&done), &task));
	MUST(submit(doca_rdma_task_read_as_task(task), &done));
	expect_success(doca_rdma_task_read_as_task(task), &done, "a read to a list");
	ok(length(dst) == 100 && length(second) == 50, "the lengths of both buffers");
	ok(!memcmp(a.mem, b.mem, 100) && !memcmp(a.mem + 1000, b.mem + 100, 50) && !a.mem[1050],
	   "the data of both buffers");
	put(src);
	put(dst);
}

/* Zero bytes, without buffers */
static void empty_tasks(void)
{
	struct doca_rdma_task_read *read;
	struct doca_rdma_task_write *write;
	struct done done;

	MUST(doca_rdma_task_read_allocate_init(a.rdma, a.conn, NULL, NULL, pointer(&done), &read));
	MUST(submit(doca_rdma_task_read_as_task(read), &done));
	PROGRESS_UNTIL(&a, &b, done.completed || done.failed);
	ok(done.completed && !doca_rdma_task_read_get_result_len(read), "a read of nothing");
	doca_task_free(doca_rdma_task_read_as_task(read));
	MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, NULL, NULL, pointer(&done),
						&write));
	MUST(submit(doca_rdma_task_write_as_task(write), &done));
	expect_success(doca_rdma_task_write_as_task(write), &done, "a write of nothing");
}

/* ---- Atomics and sync events ------------------------------------------------------------- */

static uint64_t *word(struct side *s, size_t offset)
{
	return (uint64_t *)(void *)(s->mem + offset);
}

static void compare_and_swap(uint64_t compare, uint64_t want_after)
{
	struct doca_buf *dst = peer_data_at(&a, 64, 8), *result = space_at(&a, 128, 16);
	struct doca_rdma_task_atomic_cmp_swp *task;
	struct done done;

	*word(&b, 64) = 1000;
	*word(&a, 128) = 0;
	MUST(doca_rdma_task_atomic_cmp_swp_allocate_init(a.rdma, a.conn, dst, result, compare,
							 2000, pointer(&done), &task));
	MUST(submit(doca_rdma_task_atomic_cmp_swp_as_task(task), &done));
	expect_success(doca_rdma_task_atomic_cmp_swp_as_task(task), &done, "a compare and swap");
	tap_is(*word(&a, 128), 1000, "compared with %llu: the value before",
	       (unsigned long long)compare);
	tap_is(*word(&b, 64), want_after, "the value after it");
	tap_is(length(result), 8, "the result has 8 bytes");
	put(dst);
	put(result);
}

/* The same task twice, with another number */
static void fetch_and_add(void)
{
	struct doca_buf *dst = peer_data_at(&a, 72, 8), *result = space_at(&a, 136, 8);
	struct doca_rdma_task_atomic_fetch_add *task;
	struct done done;

	*word(&b, 72) = 5;
	MUST(doca_rdma_task_atomic_fetch_add_allocate_init(a.rdma, a.conn, dst, result, 10,
							   pointer(&done), &task));
	MUST(submit(doca_rdma_task_atomic_fetch_add_as_task(task), &done));
	PROGRESS_UNTIL(&a, &b, done.completed || done.failed);
	tap_is(*word(&a, 136), 5, "a fetch and add: the value before");
	doca_rdma_task_atomic_fetch_add_set_add_data(task, 100);
	MUST(submit(doca_rdma_task_atomic_fetch_add_as_task(task), &done));
	expect_success(doca_rdma_task_atomic_fetch_add_as_task(task), &done, "a second one");
	tap_is(*word(&a, 136), 15, "its value before");
	tap_is(*word(&b, 72), 115, "the sum");
	tap_is(length(result), 8, "the result has 8 bytes, not 16");
	put(dst);
	put(result);
}

static struct doca_sync_event *create_event(struct doca_sync_event_remote_net **remote)
{
	struct doca_sync_event *event;
	const uint8_t *blob;
	size_t len;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_net(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, b.dev));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_net(event, &blob, &len));
	MUST(doca_sync_event_remote_net_create_from_export(a.dev, blob, len, remote));
	return event;
}

static void sync_events(void)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *set;
	struct doca_rdma_task_remote_net_sync_event_notify_add *add;
	struct doca_rdma_task_remote_net_sync_event_get *get;
	struct doca_buf *src = data_at(&a, 0, 8), *dst = space_at(&a, 8, 16);
	struct doca_buf *old = space_at(&a, 32, 8);
	struct doca_sync_event_remote_net *remote;
	struct doca_sync_event *event = create_event(&remote);
	struct done done;
	uint64_t value;

	*word(&a, 0) = 17;
	MUST(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		a.rdma, a.conn, remote, src, pointer(&done), &set));
	MUST(submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(set), &done));
	expect_success(doca_rdma_task_remote_net_sync_event_notify_set_as_task(set), &done,
		       "setting a sync event");
	MUST(doca_sync_event_get(event, &value));
	tap_is(value, 17, "the event has the value");

	MUST(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		a.rdma, a.conn, remote, old, 3, pointer(&done), &add));
	MUST(submit(doca_rdma_task_remote_net_sync_event_notify_add_as_task(add), &done));
	expect_success(doca_rdma_task_remote_net_sync_event_notify_add_as_task(add), &done,
		       "adding to a sync event");
	tap_is(*word(&a, 32), 17, "the value before");

	MUST(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		a.rdma, a.conn, remote, dst, pointer(&done), &get));
	MUST(submit(doca_rdma_task_remote_net_sync_event_get_as_task(get), &done));
	expect_success(doca_rdma_task_remote_net_sync_event_get_as_task(get), &done,
		       "reading a sync event");
	tap_is(*word(&a, 8), 20, "the value");
	tap_is(length(dst), 8, "its 8 bytes");
	put(src);
	put(dst);
	put(old);
	MUST(doca_sync_event_remote_net_destroy(remote));
	MUST(doca_sync_event_destroy(event));
}

/* ---- Many tasks -------------------------------------------------------------------------- */

/* flags: of all tasks but the last one */
static void many_writes(uint32_t flags, const char *what)
{
	struct doca_rdma_task_write *tasks[TASKS];
	struct doca_buf *src[TASKS], *dst[TASKS];
	struct done done = { .completed = 0 };
	double end = now() + 1;
	int i, early;

	fill(a.mem, 256 * TASKS, 9);
	memset(b.mem, 0, SIZE);
	for (i = 0; i < TASKS; i++) {
		src[i] = data_at(&a, (size_t)i * 256, 256);
		dst[i] = peer_space_at(&a, (size_t)i * 256, 256);
		MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src[i], dst[i],
							pointer(&done), &tasks[i]));
		if (i == TASKS - 1)
			break;
		MUST(doca_task_submit_ex(doca_rdma_task_write_as_task(tasks[i]), flags));
	}
	PROGRESS_UNTIL(&a, &b, done.completed >= TASKS - 1 || now() > end);
	early = done.completed;
	MUST(doca_task_submit(doca_rdma_task_write_as_task(tasks[TASKS - 1])));
	PROGRESS_UNTIL(&a, &b, done.completed + done.failed == TASKS);
	tap_is(done.completed, TASKS, "%s: all complete, %d early", what, early);
	ok(holds(b.mem, 256 * TASKS, 9), "all data");
	for (i = 0; i < TASKS; i++) {
		doca_task_free(doca_rdma_task_write_as_task(tasks[i]));
		put(src[i]);
		put(dst[i]);
	}
}

int main(void)
{
	open_side(&a, 0, 0);
	open_side(&b, 1, ALL_RDMA);
	MUST(doca_rdma_set_max_send_buf_list_len(a.rdma, 8));
	start_both(&a, &b);
	connect_sides(&a, &b);
	import_memory(&a, &b);

	send_message(1, 1);
	send_message(1000, 1000);
	send_message(50000, 50000);
	send_message(1000, 300);
	receive_list();
	send_immediate(100);
	send_immediate(0);
	write_data(1);
	write_data(20000);
	write_list();
	write_immediate(1000);
	write_immediate(0);
	read_data(1, 1);
	read_data(20000, 30000);
	read_data(1000, 100);
	read_list();
	empty_tasks();
	compare_and_swap(1000, 2000);
	compare_and_swap(999, 1000);
	fetch_and_add();
	sync_events();
	many_writes(DOCA_TASK_SUBMIT_FLAG_FLUSH, "with a flush each");
	many_writes(DOCA_TASK_SUBMIT_FLAG_NONE, "one flush at the end");
	many_writes(DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS, "one completion at the end");

	stop_side(&a);
	stop_side(&b);
	close_side(&a);
	close_side(&b);
	return tap_done();
}
