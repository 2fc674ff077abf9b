// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sends a text with immediate data to rdma_receive_immediate.
 */
#include <endian.h>
#include <stdio.h>
#include "common.h"

static const struct kind kind = {
	.active = true,
	.text = "send-string",
};

static void sent(struct doca_rdma_task_send_imm *task, union doca_data done, union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_send_imm_as_task(task), done);
}

int main(int argc, char **argv)
{
	struct side s;
	struct doca_rdma_task_send_imm *task;
	struct doca_buf *buf;
	bool done = false;

	open_side(&s, &kind, argc, argv);
	CHECK(doca_rdma_task_send_imm_set_conf(s.rdma, sent, sent, 1));
	start_side(&s);
	connect_side(&s);
	buf = text_buf(&s, 0);
	CHECK(doca_rdma_task_send_imm_allocate_init(s.rdma, s.connections[0], buf,
						    htobe32(IMMEDIATE),
						    (union doca_data) { .ptr = &done }, &task));
	CHECK(doca_task_submit(doca_rdma_task_send_imm_as_task(task)));
	wait_for(&s, &done);
	printf("sent with immediate 0x%x: %s\n", IMMEDIATE, s.memory);
	doca_task_free(doca_rdma_task_send_imm_as_task(task));
	CHECK(doca_buf_dec_refcount(buf, NULL));
	finish(&s);
	close_side(&s);
	return 0;
}
