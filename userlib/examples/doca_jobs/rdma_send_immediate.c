// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sends a text with immediate data to rdma_receive_immediate.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include "common.h"

int main(int argc, char **argv)
{
	struct side s = { .dev = NULL };
	struct doca_rdma_job_send job;
	struct doca_buf *buf;

	parse(&s, argc, argv, "s", "send-string", false);
	open_side(&s, 0);
	export_side(&s);
	connect_side(&s);
	strcpy(s.memory, s.options.text);
	CHECK(doca_buf_inventory_buf_by_data(s.inventory, s.mmap, s.memory,
					     strlen(s.memory) + 1, &buf));
	job = (struct doca_rdma_job_send) {
		.base = { .type = DOCA_RDMA_JOB_SEND_IMM, .ctx = s.ctx },
		.src_buff = buf,
		.immediate_data = htobe32(IMMEDIATE),
	};
	CHECK(doca_workq_submit(s.workq, &job.base));
	wait_job(&s, false);
	printf("sent with immediate 0x%x: %s\n", IMMEDIATE, s.memory);
	CHECK(doca_buf_refcount_rm(buf, NULL));
	close_side(&s);
	return 0;
}
