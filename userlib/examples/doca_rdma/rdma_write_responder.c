// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Offers memory to rdma_write_requester, and prints what was written there.
 */
#include <stdio.h>
#include "common.h"

static const struct kind kind = {
	.resource = true,
	.permissions = DOCA_ACCESS_FLAG_RDMA_WRITE,
};

int main(int argc, char **argv)
{
	struct side s;

	open_side(&s, &kind, argc, argv);
	start_side(&s);
	export_memory(&s);
	connect_side(&s);
	finish(&s);
	printf("the peer has written: %.*s\n", SLOT_SIZE, s.memory);
	close_side(&s);
	return 0;
}
