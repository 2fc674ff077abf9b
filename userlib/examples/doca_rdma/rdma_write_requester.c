// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Writes a text to the memory of rdma_write_responder.
 */
#include <stdio.h>
#include "common.h"

static const struct kind kind = {
	.active = true,
	.text = "write-string",
	.resource = true,
};

static void written(struct doca_rdma_task_write *task, union doca_data done, union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_write_as_task(task), done);
}

int main(int argc, char **argv)
{
	struct side s;
	struct doca_rdma_task_write *task;
	struct doca_buf *src, *dst;
	bool done = false;

	open_side(&s, &kind, argc, argv);
	CHECK(doca_rdma_task_write_set_conf(s.rdma, written, written, 1));
	start_side(&s);
	connect_side(&s);
	import_memory(&s);
	src = text_buf(&s, 0);
	dst = peer_space(&s);
	CHECK(doca_rdma_task_write_allocate_init(s.rdma, s.connections[0], src, dst,
						 (union doca_data) { .ptr = &done }, &task));
	CHECK(doca_task_submit(doca_rdma_task_write_as_task(task)));
	wait_for(&s, &done);
	printf("written: %s\n", s.memory);
	doca_task_free(doca_rdma_task_write_as_task(task));
	CHECK(doca_buf_dec_refcount(src, NULL));
	CHECK(doca_buf_dec_refcount(dst, NULL));
	finish(&s);
	close_side(&s);
	return 0;
}
