// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receives a text on each of several connections.  The peer is rdma_multi_conn_send; with rdma_cm
 * it may also be several processes of rdma_send.  All connections share the receives of the
 * context, so the first receive gets the text that comes first.
 */
#include <stdio.h>
#include "common.h"

static const struct kind kind = {
	.many = true,
};

static void received(struct doca_rdma_task_receive *task, union doca_data done,
		     union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_receive_as_task(task), done);
}

static void print(struct doca_rdma_task_receive *task, const char *text)
{
	uint32_t id;

	CHECK(doca_rdma_connection_get_id(doca_rdma_task_receive_get_result_rdma_connection(task),
					  &id));
	printf("received on connection %u: %.*s\n", id, SLOT_SIZE, text);
}

int main(int argc, char **argv)
{
	struct side s;
	struct doca_rdma_task_receive *task[MAX_CONNECTIONS];
	struct doca_buf *buf[MAX_CONNECTIONS];
	bool done[MAX_CONNECTIONS] = { false };
	int i, n;

	open_side(&s, &kind, argc, argv);
	n = s.options.connections;
	CHECK(doca_rdma_task_receive_set_conf(s.rdma, received, received, (uint32_t)n));
	start_side(&s);
	for (i = 0; i < n; i++) {
		buf[i] = empty_buf(&s, i);
		CHECK(doca_rdma_task_receive_allocate_init(s.rdma, buf[i],
							   (union doca_data) { .ptr = &done[i] },
							   &task[i]));
		CHECK(doca_task_submit(doca_rdma_task_receive_as_task(task[i])));
	}
	connect_side(&s);
	for (i = 0; i < n; i++) {
		wait_for(&s, &done[i]);
		print(task[i], s.memory + SLOT_SIZE * i);
		doca_task_free(doca_rdma_task_receive_as_task(task[i]));
		CHECK(doca_buf_dec_refcount(buf[i], NULL));
	}
	finish(&s);
	close_side(&s);
	return 0;
}
