// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Passes a text through three buffers; the adapter does the second step by itself.  Queue pair 0
 * sends buffer 0 to queue pair 1, which receives it in buffer 1.  Queue pair 2 waits for the
 * completion of that receive and sends buffer 1 to queue pair 3, which receives it in buffer 2.
 * The program posts the send of queue pair 0 last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <doca_log.h>
#include "common.h"

static void connect_both(struct device *d, struct doca_verbs_qp *a, struct doca_verbs_qp *b)
{
	struct address addr_a = get_address(d, a), addr_b = get_address(d, b);

	connect_qp(d, a, &addr_a, &addr_b);
	connect_qp(d, b, &addr_b, &addr_a);
}

/* Posts a WAIT: the queue pair executes its later requests after the next completion of cq. */
static void post_wait(struct doca_verbs_qp *qp, uint64_t wr_id, struct doca_verbs_cq *cq)
{
	uint32_t next = doca_verbs_bridge_get_current_cq_ci(cq);
	struct ibv_send_wr wr = { .wr_id = 0 }, *bad;

	CHECK(doca_verbs_bridge_set_wait_cq_pi_wr(cq, next, &wr));
	wr.wr_id = wr_id;
	wr.send_flags = IBV_SEND_SIGNALED;
	if (doca_verbs_bridge_post_send(qp, &wr, &bad))
		fail("wait", "cannot post it");
}

static void pass_text(struct device *d, struct doca_verbs_qp *const *qp, struct doca_verbs_cq *cq)
{
	static const char text[] = "passed on without the CPU";

	strcpy(d->memory[0], text);
	post_receive(d, qp[1], 1, 1);
	post_receive(d, qp[3], 2, 2);
	post_wait(qp[2], 3, cq);
	post_send(d, qp[2], 4, IBV_WR_SEND, 1, sizeof(text), NULL);
	post_send(d, qp[0], 5, IBV_WR_SEND, 0, sizeof(text), NULL);
}

int main(int argc, char **argv)
{
	struct device d = { .name = NULL };
	struct doca_verbs_cq *received, *others;
	struct doca_verbs_qp *qp[4];
	int i;

	CHECK(doca_log_backend_create_standard());
	CHECK(doca_argp_init(NULL, &d));
	add_device_options("gi");
	check(doca_argp_start(argc, argv), "arguments");
	open_device(&d);
	received = create_cq(&d);
	others = create_cq(&d);
	for (i = 0; i < 4; i++)
		qp[i] = create_qp(&d, i == 1 ? received : others, i == 2);
	connect_both(&d, qp[0], qp[1]);
	connect_both(&d, qp[2], qp[3]);
	pass_text(&d, qp, received);
	printf("request %" PRIu64 " is complete\n", next_completion(received).wr_id);
	for (i = 0; i < 4; i++)
		printf("request %" PRIu64 " is complete\n", next_completion(others).wr_id);
	printf("buffer 2: %s\n", d.memory[2]);
	for (i = 0; i < 4; i++)
		CHECK(doca_verbs_qp_destroy(qp[i]));
	CHECK(doca_verbs_cq_destroy(received));
	CHECK(doca_verbs_cq_destroy(others));
	close_device(&d);
	CHECK(doca_argp_destroy());
	return 0;
}
