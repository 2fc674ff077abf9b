// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Offers memory to rdma_write_immediate_requester, and sleeps until the immediate data say that the
 * text is there.  The receive for them needs no buffer.
 */
#include <endian.h>
#include <stdio.h>
#include "common.h"

static const struct kind kind = {
	.resource = true,
	.permissions = DOCA_ACCESS_FLAG_RDMA_WRITE,
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
	bool done = false;

	open_side(&s, &kind, argc, argv);
	CHECK(doca_rdma_task_receive_set_conf(s.rdma, received, received, 1));
	start_side(&s);
	CHECK(doca_rdma_task_receive_allocate_init(s.rdma, NULL, (union doca_data) { .ptr = &done },
						   &task));
	CHECK(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	export_memory(&s);
	connect_side(&s);
	sleep_for(&s, &done);
	if (doca_rdma_task_receive_get_result_opcode(task) != DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM)
		check(DOCA_ERROR_UNEXPECTED, "opcode");
	printf("the peer has written with immediate 0x%x: %.*s\n",
	       be32toh(doca_rdma_task_receive_get_result_immediate_data(task)), SLOT_SIZE,
	       s.memory);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	finish(&s);
	close_side(&s);
	return 0;
}
