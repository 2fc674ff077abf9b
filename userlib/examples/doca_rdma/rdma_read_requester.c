// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads the text of rdma_read_responder.
 */
#include <stdio.h>
#include "common.h"

static const struct kind kind = {
	.active = true,
	.resource = true,
};

static void done_reading(struct doca_rdma_task_read *task, union doca_data done,
			 union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_read_as_task(task), done);
}

int main(int argc, char **argv)
{
	struct side s;
	struct doca_rdma_task_read *task;
	struct doca_buf *src, *dst;
	bool done = false;

	open_side(&s, &kind, argc, argv);
	CHECK(doca_rdma_task_read_set_conf(s.rdma, done_reading, done_reading, 1));
	start_side(&s);
	connect_side(&s);
	import_memory(&s);
	src = peer_data(&s);
	dst = empty_buf(&s, 0);
	CHECK(doca_rdma_task_read_allocate_init(s.rdma, s.connections[0], src, dst,
						(union doca_data) { .ptr = &done }, &task));
	CHECK(doca_task_submit(doca_rdma_task_read_as_task(task)));
	wait_for(&s, &done);
	printf("read %u bytes: %.*s\n", doca_rdma_task_read_get_result_len(task), SLOT_SIZE,
	       s.memory);
	doca_task_free(doca_rdma_task_read_as_task(task));
	CHECK(doca_buf_dec_refcount(src, NULL));
	CHECK(doca_buf_dec_refcount(dst, NULL));
	finish(&s);
	close_side(&s);
	return 0;
}
