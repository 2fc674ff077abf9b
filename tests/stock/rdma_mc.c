// SPDX-License-Identifier: GPL-2.0
/*
 * A sender and a member of a multicast group, with the calls of the program in chapter 8.2 of
 * the RDMA Aware Networks Programming User Manual.  The datagrams are those of the example
 * cm_multicast.
 *
 * usage: rdma_mc [-s] -b OWN-ADDRESS -m GROUP
 *	-s: send
 */
#include "rdma.h"

enum { MESSAGES = 10, SIZE = 1024, GRH = sizeof(struct ibv_grh) };

static char buf[MESSAGES][GRH + SIZE];
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct sockaddr_storage group;

static struct rdma_cm_event *event_of(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	DO(rdma_get_cm_event(channel, &event));
	if (event->event != type)
		errx(1, "%s, status %d", rdma_event_str(event->event), event->status);
	return event;
}

static void resolve_group(void)
{
	struct rdma_addrinfo *own = resolve(opt.bind, NULL, RAI_PASSIVE, RDMA_PS_UDP);
	struct rdma_addrinfo *to = resolve(opt.group, NULL, 0, RDMA_PS_UDP);

	DO(rdma_bind_addr(id, own->ai_src_addr));
	pd = id->pd;
	DO(rdma_resolve_addr(id, own->ai_src_addr, to->ai_dst_addr, 2000));
	DO(rdma_ack_cm_event(event_of(RDMA_CM_EVENT_ADDR_RESOLVED)));
	memcpy(&group, to->ai_dst_addr, to->ai_dst_len);
	rdma_freeaddrinfo(own);
	rdma_freeaddrinfo(to);
}

static void create(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = MESSAGES, .max_recv_wr = MESSAGES, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int i;

	cq = ibv_create_cq(id->verbs, 2 * MESSAGES, NULL, NULL, 0);
	DO(!cq);
	attr.send_cq = attr.recv_cq = cq;
	DO(rdma_create_qp(id, pd, &attr));
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	DO(!mr);
	for (i = 0; !opt.server && i < MESSAGES; i++)
		DO(rdma_post_recv(id, buf[i], buf[i], GRH + SIZE, mr));
}

static struct ibv_wc completion(void)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc))
		;
	good(&wc);
	return wc;
}

static void send_all(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	int i;

	for (i = 0; i < MESSAGES; i++) {
		struct ibv_sge sge = { (uintptr_t)buf[i], SIZE, mr->lkey };
		struct ibv_send_wr wr = {
			.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM,
			.send_flags = IBV_SEND_SIGNALED, .imm_data = htonl(id->qp->qp_num),
			.wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = qkey },
		}, *bad;

		snprintf(buf[i], SIZE, "datagram %d", i);
		DO(ibv_post_send(id->qp, &wr, &bad));
		completion();
	}
}

static void receive_all(void)
{
	char expected[32];
	struct ibv_wc wc;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		wc = completion();
		snprintf(expected, sizeof(expected), "datagram %d", i);
		if (wc.byte_len != GRH + SIZE || strcmp((char *)wc.wr_id + GRH, expected))
			errx(1, "expected \"%s\"", expected);
	}
}

int main(int argc, char **argv)
{
	struct rdma_cm_event *event;
	struct ibv_ah *ah;

	parse(argc, argv);
	channel = rdma_create_event_channel();
	DO(!channel);
	DO(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	resolve_group();
	create();
	DO(rdma_join_multicast(id, (struct sockaddr *)&group, NULL));
	event = event_of(RDMA_CM_EVENT_MULTICAST_JOIN);
	if (opt.server) {
		ah = ibv_create_ah(pd, &event->param.ud.ah_attr);
		DO(!ah);
		send_all(ah, event->param.ud.qp_num, event->param.ud.qkey);
		DO(ibv_destroy_ah(ah));
	} else {
		puts("joined");
		fflush(stdout);
		receive_all();
	}
	DO(rdma_ack_cm_event(event));
	printf("%s %d datagrams\n", opt.server ? "sent" : "received", MESSAGES);
	DO(rdma_leave_multicast(id, (struct sockaddr *)&group));
	rdma_destroy_qp(id);
	DO(ibv_destroy_cq(cq));
	DO(rdma_dereg_mr(mr));
	DO(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return 0;
}
