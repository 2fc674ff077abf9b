// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receives the text and the immediate data of rdma_send_immediate, and sleeps until they come.
 */
#include <endian.h>
#include <stdio.h>
#include "common.h"

int main(int argc, char **argv)
{
	struct side s = { .dev = NULL };
	struct doca_rdma_job_recv job;
	struct doca_rdma_result result;
	struct doca_buf *buf;

	parse(&s, argc, argv, NULL, NULL, false);
	open_side(&s, 0);
	connect_side(&s);
	CHECK(doca_buf_inventory_buf_by_addr(s.inventory, s.mmap, s.memory, MEMORY_SIZE, &buf));
	job = (struct doca_rdma_job_recv) {
		.base = { .type = DOCA_RDMA_JOB_RECV, .ctx = s.ctx },
		.dst_buff = buf,
	};
	CHECK(doca_workq_submit(s.workq, &job.base));
	export_side(&s);
	result = wait_job(&s, true);
	if (result.opcode != DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM)
		check(DOCA_ERROR_UNEXPECTED, "opcode");
	printf("received with immediate 0x%x: %.*s\n", be32toh(result.immediate_data),
	       MEMORY_SIZE, s.memory);
	CHECK(doca_buf_refcount_rm(buf, NULL));
	close_side(&s);
	return 0;
}
