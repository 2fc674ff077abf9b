// SPDX-License-Identifier: GPL-2.0
/*
 * Automatic path migration, with the calls of the program in chapter 8.1 of the RDMA Aware
 * Networks Programming User Manual.  The messages are those of the example cm_apm.
 *
 * usage: rdma_apm -s [-p PORT] | rdma_apm -a SERVER [-p PORT]
 */
#include "rdma.h"

enum { ROUNDS = 100, SIZE = 64, ALT_LABEL = 1 };

static char out[SIZE], in[SIZE];
static struct rdma_cm_id *id, *listener;
static struct ibv_mr *out_mr, *in_mr;

static void create(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct rdma_addrinfo *info = resolve(opt.address, opt.port, opt.server ? RAI_PASSIVE : 0,
					     RDMA_PS_TCP);

	DO(rdma_create_ep(&id, info, NULL, &attr));
	rdma_freeaddrinfo(info);
	if (opt.server) {
		DO(rdma_listen(id, 4));
		listener = id;
		DO(rdma_get_request(listener, &id));
	}
	out_mr = rdma_reg_msgs(id, out, SIZE);
	in_mr = rdma_reg_msgs(id, in, SIZE);
	DO(!out_mr || !in_mr);
	DO(rdma_post_recv(id, NULL, in, SIZE, in_mr));
}

/* An active port other than that of the connection, or that one; *lid is its LID. */
static uint8_t second_port(uint16_t *lid)
{
	struct ibv_device_attr device;
	struct ibv_port_attr attr;
	uint8_t port, found = id->port_num;

	DO(ibv_query_device(id->verbs, &device));
	if (!(device.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG))
		errx(77, "the device does not support path migration");
	for (port = 1; port <= device.phys_port_cnt; port++) {
		DO(ibv_query_port(id->verbs, port, &attr));
		if (port != id->port_num && attr.state == IBV_PORT_ACTIVE)
			found = port;
	}
	DO(ibv_query_port(id->verbs, found, &attr));
	*lid = attr.lid;
	return found;
}

static uint16_t lid_of_peer(void)
{
	const struct rdma_conn_param *peer = &id->event->param.conn;
	uint16_t lid;

	if (peer->private_data_len < sizeof(lid))
		errx(1, "the peer sent no LID");
	memcpy(&lid, peer->private_data, sizeof(lid));
	return ntohs(lid);
}

/* Sends the own LID and returns that of the peer. */
static uint16_t establish(uint16_t lid)
{
	uint16_t mine = htons(lid), theirs;
	struct rdma_conn_param param = {
		.private_data = &mine, .private_data_len = sizeof(mine),
		.responder_resources = 2, .initiator_depth = 2, .retry_count = 5,
		.rnr_retry_count = 7,
	};

	if (opt.server) {
		theirs = lid_of_peer();
		DO(rdma_accept(id, &param));
	} else {
		DO(rdma_connect(id, &param));
		theirs = lid_of_peer();
	}
	return theirs;
}

static void load_alternate_path(uint8_t port, uint16_t lid)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	DO(ibv_query_qp(id->qp, &a, 0, &init));
	a.alt_ah_attr = a.ah_attr;
	a.alt_ah_attr.dlid = lid;
	a.alt_ah_attr.port_num = port;
	if (a.alt_ah_attr.is_global)
		a.alt_ah_attr.grh.flow_label = ALT_LABEL;
	a.alt_port_num = port;
	a.alt_pkey_index = a.pkey_index;
	a.alt_timeout = a.timeout;
	a.path_mig_state = IBV_MIG_REARM;
	errno = ibv_modify_qp(id->qp, &a, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
	if (errno)
		err(1, "load the alternate path");
}

static void migrate(void)
{
	struct ibv_qp_attr a = { .path_mig_state = IBV_MIG_MIGRATED };

	DO(ibv_modify_qp(id->qp, &a, IBV_QP_PATH_MIG_STATE));
}

static void say(int i)
{
	struct ibv_wc wc;

	snprintf(out, SIZE, "round %d", i);
	DO(rdma_post_send(id, NULL, out, SIZE, out_mr, IBV_SEND_SIGNALED));
	DO(rdma_get_send_comp(id, &wc) != 1);
	good(&wc);
}

static void hear(int i)
{
	char expected[32];
	struct ibv_wc wc;

	DO(rdma_get_recv_comp(id, &wc) != 1);
	good(&wc);
	snprintf(expected, sizeof(expected), "round %d", i);
	if (strcmp(in, expected))
		errx(1, "expected \"%s\", received \"%s\"", expected, in);
	DO(rdma_post_recv(id, NULL, in, SIZE, in_mr));
}

static void wait_migrated(void)
{
	struct pollfd p = { .fd = id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event e;

	do {
		if (poll(&p, 1, 5000) != 1)
			errx(1, "no event about the path migration");
		DO(ibv_get_async_event(id->verbs, &e));
		ibv_ack_async_event(&e);
	} while (e.event_type != IBV_EVENT_PATH_MIG);
}

int main(int argc, char **argv)
{
	uint16_t lid;
	uint8_t port;
	int i;

	parse(argc, argv);
	create();
	port = second_port(&lid);
	load_alternate_path(port, establish(lid));
	for (i = 0; i < ROUNDS; i++) {
		if (!opt.server && i == ROUNDS / 2)
			migrate();
		if (!opt.server)
			say(i);
		hear(i);
		if (opt.server)
			say(i);
	}
	wait_migrated();
	printf("%s: %d rounds, migrated to port %u\n", opt.server ? "server" : "client", ROUNDS,
	       port);
	DO(rdma_disconnect(id));
	DO(rdma_dereg_mr(out_mr));
	DO(rdma_dereg_mr(in_mr));
	rdma_destroy_ep(id);
	if (listener)
		rdma_destroy_ep(listener);
	return 0;
}
