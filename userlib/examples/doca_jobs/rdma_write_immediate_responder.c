// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Offers memory to rdma_write_immediate_requester, and sleeps until the immediate data say that the
 * text is there.  The receive for them needs no buffer.
 */
#include <endian.h>
#include <stdio.h>
#include "common.h"

int main(int argc, char **argv)
{
	struct side s = { .dev = NULL };
	struct doca_rdma_job_recv job;
	struct doca_rdma_result result;

	parse(&s, argc, argv, NULL, NULL, true);
	open_side(&s, DOCA_ACCESS_RDMA_WRITE);
	connect_side(&s);
	job = (struct doca_rdma_job_recv) {
		.base = { .type = DOCA_RDMA_JOB_RECV, .ctx = s.ctx },
	};
	CHECK(doca_workq_submit(s.workq, &job.base));
	export_memory(&s);
	export_side(&s);
	result = wait_job(&s, true);
	if (result.opcode != DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM)
		check(DOCA_ERROR_UNEXPECTED, "opcode");
	printf("the peer has written with immediate 0x%x: %.*s\n",
	       be32toh(result.immediate_data), MEMORY_SIZE, s.memory);
	close_side(&s);
	return 0;
}
