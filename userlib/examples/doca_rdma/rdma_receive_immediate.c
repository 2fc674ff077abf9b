// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receives the text and the immediate data of rdma_send_immediate, and sleeps until they come.
 */
#include <endian.h>
#include <stdio.h>
#include "common.h"

static const struct kind kind = {
	.active = false,
};

static void received(struct doca_rdma_task_receive *task, union doca_data done,
		     union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_receive_as_task(task), done);
}

int main(int argc, char **argv)
{
	struct side s;
	struct doca_rdma_task_receive *task;
	struct doca_buf *buf;
	bool done = false;

	open_side(&s, &kind, argc, argv);
	CHECK(doca_rdma_task_receive_set_conf(s.rdma, received, received, 1));
	start_side(&s);
	buf = empty_buf(&s, 0);
	CHECK(doca_rdma_task_receive_allocate_init(s.rdma, buf, (union doca_data) { .ptr = &done },
						   &task));
	CHECK(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	connect_side(&s);
	sleep_for(&s, &done);
	if (doca_rdma_task_receive_get_result_opcode(task) != DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM)
		check(DOCA_ERROR_UNEXPECTED, "opcode");
	printf("received with immediate 0x%x: %.*s\n",
	       be32toh(doca_rdma_task_receive_get_result_immediate_data(task)), SLOT_SIZE,
	       s.memory);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	CHECK(doca_buf_dec_refcount(buf, NULL));
	finish(&s);
	close_side(&s);
	return 0;
}
