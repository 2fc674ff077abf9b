// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Automatic path migration on a connection of rdma_cm, as in chapter 8.1 of the RDMA Aware
 * Networks Programming User Manual.  Each side sends the LID of its second port, if it has
 * one, in the private data.  After the connection is established, both load the alternate path;
 * after half of the messages the client migrates.
 *
 * usage: cm_apm [-p PORT] [HOST]
 */
#include <poll.h>
#include "cm_common.h"

enum { ROUNDS = 100, SIZE = 64, ALT_LABEL = 1 };

static char buf[2][SIZE];		/* send, receive */
static struct side s;
static struct xv_qp *qp;

/* An active port other than the one of the connection, or that one; *lid is its LID. */
static uint8_t second_port(uint8_t first, uint16_t *lid)
{
	struct xv_device_attr device;
	struct xv_port_attr attr;
	uint8_t port, found = first;

	CHECK(!xv_query_device(s.ctx, &device));
	for (port = 1; port <= device.phys_port_cnt; port++) {
		CHECK(!xv_query_port(s.ctx, port, &attr));
		if (port != first && attr.state == XV_PORT_ACTIVE)
			found = port;
	}
	CHECK(!xv_query_port(s.ctx, found, &attr));
	*lid = (uint16_t)attr.lid;
	return found;
}

/* The alternate path is the primary one, but for the ports and the flow label. */
static void load_alternate_path(uint8_t port, uint16_t lid)
{
	struct xv_qp_attr a;

	CHECK(!xv_query_qp(qp, &a, 0, NULL));
	a.alt_ah_attr = a.ah_attr;
	a.alt_ah_attr.dlid = lid;
	a.alt_ah_attr.port_num = port;
	if (a.alt_ah_attr.is_global)
		a.alt_ah_attr.grh.flow_label = ALT_LABEL;
	a.alt_port_num = port;
	a.alt_pkey_index = a.pkey_index;
	a.alt_timeout = a.timeout;
	a.path_mig_state = XV_MIG_REARM;
	CHECK(!xv_modify_qp(qp, &a, XV_QP_ALT_PATH | XV_QP_PATH_MIG_STATE));
}

static void migrate(void)
{
	struct xv_qp_attr a = { .path_mig_state = XV_MIG_MIGRATED };

	CHECK(!xv_modify_qp(qp, &a, XV_QP_PATH_MIG_STATE));
}

static void say(int i)
{
	snprintf(buf[0], SIZE, "round %d", i);
	post_send(qp, &s, buf[0], SIZE);
}

static void hear(int i)
{
	char expected[32];

	wait_for(s.cq, XV_WC_RECV);
	snprintf(expected, sizeof(expected), "round %d", i);
	if (strcmp(buf[1], expected))
		errx(1, "expected \"%s\", received \"%s\"", expected, buf[1]);
	post_receive(qp, &s, buf[1], SIZE);
}

/*
 * rdma_cm does not know the alternate path, so it gets no rdma_notify() of the event: its
 * messages continue to take the first path.
 */
static void wait_migrated(void)
{
	struct pollfd p = { .fd = s.ctx->fd, .events = POLLIN };
	struct xv_async_event e;

	do {
		if (poll(&p, 1, 5000) != 1)
			errx(1, "no event about the path migration");
		CHECK(!xv_get_async_event(s.ctx, &e));
		xv_ack_async_event(&e);
	} while (e.event_type != XV_EVENT_PATH_MIG);
}

int main(int argc, char **argv)
{
	struct rdma_conn_param param = {
		.responder_resources = 2, .initiator_depth = 2, .retry_count = 5,
		.rnr_retry_count = 7,
	};
	struct rdma_cm_id *listener, *id;
	const struct rdma_conn_param *peer;
	uint16_t mine, theirs;
	uint8_t port;
	int i;

	parse(argc, argv);
	listener = opt.host ? NULL : listen_all();
	id = next_id(listener);
	open_side(&s, id, buf, sizeof(buf));
	qp = qp_for(id, &s, XV_QPT_RC, NULL);
	post_receive(qp, &s, buf[1], SIZE);
	port = second_port(id->port_num, &mine);
	mine = htons(mine);
	param.private_data = &mine;
	param.private_data_len = sizeof(mine);
	/* Server: the event is the request.  Client: it is the response. */
	if (opt.host)
		connect_or_accept(id, qp, &param);
	peer = &id->event->param.conn;
	if (peer->private_data_len < sizeof(theirs))
		errx(1, "the peer sent no LID");
	memcpy(&theirs, peer->private_data, sizeof(theirs));
	if (!opt.host)
		connect_or_accept(id, qp, &param);

	load_alternate_path(port, ntohs(theirs));
	for (i = 0; i < ROUNDS; i++) {
		if (opt.host && i == ROUNDS / 2)
			migrate();
		if (opt.host)
			say(i);
		hear(i);
		if (!opt.host)
			say(i);
	}
	wait_migrated();
	printf("%s: %d rounds, migrated to port %u\n", opt.host ? "client" : "server", ROUNDS,
	       port);
	CM(!xv_cm_disconnect(id, qp));
	close_side(&s);
	RDMA(rdma_destroy_id(id));
	if (listener)
		RDMA(rdma_destroy_id(listener));
	return 0;
}
