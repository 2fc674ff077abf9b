// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Writes a text to the memory of rdma_write_responder.
 */
#include <stdio.h>
#include <string.h>
#include "common.h"

int main(int argc, char **argv)
{
	struct side s = { .dev = NULL };
	struct doca_rdma_job_read_write job;
	struct doca_buf *src, *dst;
	size_t len;
	void *addr;

	parse(&s, argc, argv, "w", "write-string", true);
	open_side(&s, 0);
	export_side(&s);
	connect_side(&s);
	import_memory(&s);
	strcpy(s.memory, s.options.text);
	CHECK(doca_mmap_get_memrange(s.peer_mmap, &addr, &len));
	CHECK(doca_buf_inventory_buf_by_addr(s.inventory, s.peer_mmap, addr, len, &dst));
	CHECK(doca_buf_inventory_buf_by_data(s.inventory, s.mmap, s.memory,
					     strlen(s.memory) + 1, &src));
	job = (struct doca_rdma_job_read_write) {
		.base = { .type = DOCA_RDMA_JOB_WRITE, .ctx = s.ctx },
		.dst_buff = dst,
		.src_buff = src,
	};
	CHECK(doca_workq_submit(s.workq, &job.base));
	wait_job(&s, false);
	printf("written: %s\n", s.memory);
	tell_done(&s);
	CHECK(doca_buf_refcount_rm(src, NULL));
	CHECK(doca_buf_refcount_rm(dst, NULL));
	close_side(&s);
	return 0;
}
