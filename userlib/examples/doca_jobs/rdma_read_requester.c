// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reads the text of rdma_read_responder.
 */
#include <stdio.h>
#include "common.h"

int main(int argc, char **argv)
{
	struct side s = { .dev = NULL };
	struct doca_rdma_job_read_write job;
	struct doca_buf *src, *dst;
	size_t len;
	void *addr;

	parse(&s, argc, argv, NULL, NULL, true);
	open_side(&s, 0);
	export_side(&s);
	connect_side(&s);
	import_memory(&s);
	CHECK(doca_mmap_get_memrange(s.peer_mmap, &addr, &len));
	CHECK(doca_buf_inventory_buf_by_data(s.inventory, s.peer_mmap, addr, len, &src));
	CHECK(doca_buf_inventory_buf_by_addr(s.inventory, s.mmap, s.memory, MEMORY_SIZE, &dst));
	job = (struct doca_rdma_job_read_write) {
		.base = { .type = DOCA_RDMA_JOB_READ, .ctx = s.ctx },
		.dst_buff = dst,
		.src_buff = src,
	};
	CHECK(doca_workq_submit(s.workq, &job.base));
	wait_job(&s, false);
	CHECK(doca_buf_get_data_len(dst, &len));
	printf("read %zu bytes: %.*s\n", len, MEMORY_SIZE, s.memory);
	tell_done(&s);
	CHECK(doca_buf_refcount_rm(src, NULL));
	CHECK(doca_buf_refcount_rm(dst, NULL));
	close_side(&s);
	return 0;
}
