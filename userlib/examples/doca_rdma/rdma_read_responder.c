// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Offers a text to rdma_read_requester.
 */
#include <stdio.h>
#include <string.h>
#include "common.h"

static const struct kind kind = {
	.text = "read-string",
	.resource = true,
	.permissions = DOCA_ACCESS_FLAG_RDMA_READ,
};

int main(int argc, char **argv)
{
	struct side s;

	open_side(&s, &kind, argc, argv);
	start_side(&s);
	strcpy(s.memory, s.options.text);
	export_memory(&s);
	connect_side(&s);
	finish(&s);
	printf("the peer has read\n");
	close_side(&s);
	return 0;
}
