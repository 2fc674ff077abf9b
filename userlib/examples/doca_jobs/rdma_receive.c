// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receives the text of rdma_send.
 */
#include <stdio.h>
#include "common.h"

int main(int argc, char **argv)
{
	struct side s = { .dev = NULL };
	struct doca_rdma_job_recv job;
	struct doca_buf *buf;
	size_t len;

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
	wait_job(&s, false);
	CHECK(doca_buf_get_data_len(buf, &len));
	printf("received %zu bytes: %.*s\n", len, MEMORY_SIZE, s.memory);
	CHECK(doca_buf_refcount_rm(buf, NULL));
	close_side(&s);
	return 0;
}
