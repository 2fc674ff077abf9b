// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA with DC: two contexts send to a third one, which does not connect; tasks of all shapes.
 */
#include <arpa/inet.h>
#include "rdma.h"

static struct side a, b, c;

#define ALL_RDMA	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |	\
			 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* Connects s to c by the description that c gives to all. */
static void connect_to_c(struct side *s, const void *blob, size_t len)
{
	const void *own;
	size_t own_len;

	MUST(doca_rdma_export(s->rdma, &own, &own_len, &s->conn));
	tap_is(doca_rdma_connect(s->rdma, blob, len, s->conn), DOCA_SUCCESS,
	       "a side connects to the description that all have");
}

static void message(struct side *s, size_t len, unsigned int seed)
{
	struct doca_buf *src = data_at(s, 0, len / 2), *dst = space_at(&c, 0, len);
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send_imm *send;
	struct done sent, received;

	fill(s->mem, len, seed);
	memset(c.mem, 0, SIZE);
	MUST(doca_buf_chain_list(src, data_at(s, len / 2, len - len / 2)));
	receive = post_receive(&c, dst, &received);
	MUST(doca_rdma_task_send_imm_allocate_init(s->rdma, s->conn, src, htonl(seed),
						   pointer(&sent), &send));
	MUST(submit(doca_rdma_task_send_imm_as_task(send), &sent));
	PROGRESS_UNTIL(s, &c, (sent.completed || sent.failed) && received.completed);
	ok(sent.completed && received.completed && holds(c.mem, len, seed),
	   "a message of %zu bytes", len);
	tap_is(doca_rdma_task_receive_get_result_immediate_data(receive), htonl(seed),
	       "its immediate data");
	ok(!doca_rdma_task_receive_get_result_rdma_connection(receive), "it has no connection");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	doca_task_free(doca_rdma_task_send_imm_as_task(send));
	put(src);
	put(dst);
}

static void write_and_read(struct side *s)
{
	struct doca_buf *src = data_at(s, 0, 5000), *dst = peer_space_at(s, 0, 5000);
	struct doca_buf *theirs = peer_data_at(s, 0, 5000), *mine = space_at(s, 8192, 5000);
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	struct done done;

	fill(s->mem, 5000, 3);
	memset(c.mem, 0, SIZE);
	MUST(doca_rdma_task_write_allocate_init(s->rdma, s->conn, src, dst, pointer(&done),
						&write));
	MUST(submit(doca_rdma_task_write_as_task(write), &done));
	PROGRESS_UNTIL(s, &c, done.completed || done.failed);
	ok(done.completed && holds(c.mem, 5000, 3), "a write");
	doca_task_free(doca_rdma_task_write_as_task(write));
	MUST(doca_rdma_task_read_allocate_init(s->rdma, s->conn, theirs, mine, pointer(&done),
					       &read));
	MUST(submit(doca_rdma_task_read_as_task(read), &done));
	PROGRESS_UNTIL(s, &c, done.completed || done.failed);
	ok(done.completed && holds(s->mem + 8192, 5000, 3), "a read");
	tap_is(length(mine), 5000, "its length");
	doca_task_free(doca_rdma_task_read_as_task(read));
	put(src);
	put(dst);
	put(theirs);
	put(mine);
}

static void add(struct side *s, uint64_t want_before)
{
	struct doca_buf *dst = peer_data_at(s, 16384, 8), *result = space_at(s, 16384, 8);
	struct doca_rdma_task_atomic_fetch_add *task;
	struct done done;
	uint64_t before;

	MUST(doca_rdma_task_atomic_fetch_add_allocate_init(s->rdma, s->conn, dst, result, 5,
							   pointer(&done), &task));
	MUST(submit(doca_rdma_task_atomic_fetch_add_as_task(task), &done));
	PROGRESS_UNTIL(s, &c, done.completed || done.failed);
	memcpy(&before, s->mem + 16384, 8);
	tap_is(done.completed, 1, "a fetch and add");
	tap_is(before, want_before, "the value before");
	doca_task_free(doca_rdma_task_atomic_fetch_add_as_task(task));
	put(dst);
	put(result);
}

static void start_side(struct side *s, uint32_t device, uint32_t permissions)
{
	open_side(s, device, permissions);
	MUST(doca_rdma_set_transport_type(s->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	MUST(doca_ctx_start(s->ctx));
}

int main(void)
{
	struct doca_dev *dev = open_device(0);
	struct doca_rdma_task_receive *receive;
	const void *blob;
	struct done done;
	size_t len;

	if (doca_rdma_cap_transport_type_is_supported(doca_dev_as_devinfo(dev),
						      DOCA_RDMA_TRANSPORT_TYPE_DC))
		tap_skip_all("the device has no DC");
	MUST(doca_dev_close(dev));
	start_side(&a, 0, 0);
	start_side(&b, 1, 0);
	start_side(&c, 1, ALL_RDMA);
	MUST(doca_rdma_export(c.rdma, &blob, &len, &c.conn));
	connect_to_c(&a, blob, len);
	connect_to_c(&b, blob, len);
	import_memory(&a, &c);
	import_memory(&b, &c);

	message(&a, 100, 1);
	message(&b, 20000, 2);
	message(&a, 3000, 3);
	write_and_read(&a);
	write_and_read(&b);
	memset(c.mem, 0, SIZE);
	add(&a, 0);
	add(&b, 5);
	tap_is(doca_rdma_start_listen_to_port(c.rdma, 18999), DOCA_ERROR_BAD_STATE,
	       "rdma_cm without callbacks");
	receive = post_receive(&c, NULL, &done);
	stop_side(&c);
	tap_is(done.failed, 1, "a receive in flight fails at the stop");
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	stop_side(&a);
	stop_side(&b);
	close_side(&a);
	close_side(&b);
	close_side(&c);
	return tap_done();
}
