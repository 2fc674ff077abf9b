// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Offers memory to rdma_write_requester, and prints what was written there.
 */
#include <stdio.h>
#include "common.h"

int main(int argc, char **argv)
{
	struct side s = { .dev = NULL };

	parse(&s, argc, argv, NULL, NULL, true);
	open_side(&s, DOCA_ACCESS_RDMA_WRITE);
	connect_side(&s);
	export_memory(&s);
	export_side(&s);
	wait_done(&s);
	printf("the peer has written: %.*s\n", MEMORY_SIZE, s.memory);
	close_side(&s);
	return 0;
}
