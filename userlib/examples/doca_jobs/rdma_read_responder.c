// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Offers a text to rdma_read_requester.
 */
#include <stdio.h>
#include <string.h>
#include "common.h"

int main(int argc, char **argv)
{
	struct side s = { .dev = NULL };

	parse(&s, argc, argv, "r", "read-string", true);
	open_side(&s, DOCA_ACCESS_RDMA_READ);
	strcpy(s.memory, s.options.text);
	connect_side(&s);
	export_memory(&s);
	export_side(&s);
	wait_done(&s);
	printf("the peer has read\n");
	close_side(&s);
	return 0;
}
