// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sends a text on each of several connections to rdma_multi_conn_receive.
 */
#include <stdio.h>
#include "common.h"

static const struct kind kind = {
	.active = true,
	.many = true,
	.text = "send-string",
};

static void sent(struct doca_rdma_task_send *task, union doca_data done, union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_send_as_task(task), done);
}

int main(int argc, char **argv)
{
	struct side s;
	struct doca_rdma_task_send *task[MAX_CONNECTIONS];
	struct doca_buf *buf[MAX_CONNECTIONS];
	bool done[MAX_CONNECTIONS] = { false };
	int i, n;

	open_side(&s, &kind, argc, argv);
	n = s.options.connections;
	CHECK(doca_rdma_task_send_set_conf(s.rdma, sent, sent, (uint32_t)n));
	start_side(&s);
	connect_side(&s);
	for (i = 0; i < n; i++) {
		buf[i] = text_buf(&s, i);
		CHECK(doca_rdma_task_send_allocate_init(s.rdma, s.connections[i], buf[i],
							(union doca_data) { .ptr = &done[i] },
							&task[i]));
		CHECK(doca_task_submit(doca_rdma_task_send_as_task(task[i])));
	}
	for (i = 0; i < n; i++) {
		wait_for(&s, &done[i]);
		doca_task_free(doca_rdma_task_send_as_task(task[i]));
		CHECK(doca_buf_dec_refcount(buf[i], NULL));
	}
	printf("sent on %d connections: %s\n", n, s.memory);
	finish(&s);
	close_side(&s);
	return 0;
}
