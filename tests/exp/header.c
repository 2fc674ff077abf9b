// SPDX-License-Identifier: GPL-2.0
/*
 * What a program finds that includes only <infiniband/verbs.h>: the experimental verbs are there.
 *
 * usage: DEVICE GID-INDEX
 */
#include <infiniband/verbs.h>
#include "rig.h"

static void test_declarations(void)
{
	struct ibv_exp_send_wr wr = { .exp_opcode = IBV_EXP_WR_SEND };
	struct ibv_async_event event = { .element.dct = NULL };

	ok(!wr.num_sge && !event.element.dct, "requests and events");
}

int main(int argc, char **argv)
{
	open_sides(argc, argv);
	test_declarations();
	close_sides();
	return tap_done();
}
