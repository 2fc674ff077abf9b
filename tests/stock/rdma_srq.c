// SPDX-License-Identifier: GPL-2.0
/*
 * Several connections with one shared receive queue, with the calls of the program in chapter
 * 8.3 of the RDMA Aware Networks Programming User Manual.  The messages are those of the example
 * cm_srq.
 *
 * usage: rdma_srq [-s] -a SERVER [-p PORT]
 */
#include "rdma.h"

enum { QPS = 4, MAX_WR = 32, MESSAGES = 320, SIZE = 1024 };

static char in[MAX_WR][SIZE], out[SIZE];
static struct rdma_cm_id *srq_id, *conn[QPS];
static struct ibv_mr *in_mr, *out_mr;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;

static void repost(uintptr_t slot)
{
	DO(rdma_post_recv(srq_id, (void *)slot, in[slot], SIZE, in_mr));
}

static void create(const struct rdma_addrinfo *info)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = MAX_WR, .max_sge = 1 } };
	uintptr_t slot;

	DO(rdma_create_id(NULL, &srq_id, NULL, RDMA_PS_TCP));
	if (opt.server)
		DO(rdma_bind_addr(srq_id, info->ai_src_addr));
	else
		DO(rdma_resolve_addr(srq_id, NULL, info->ai_dst_addr, 2000));
	in_mr = rdma_reg_msgs(srq_id, in, sizeof(in));
	out_mr = rdma_reg_msgs(srq_id, out, sizeof(out));
	DO(!in_mr || !out_mr);
	DO(rdma_create_srq(srq_id, NULL, &attr));
	for (slot = 0; slot < MAX_WR; slot++)
		repost(slot);
	channel = ibv_create_comp_channel(srq_id->verbs);
	DO(!channel);
	cq = ibv_create_cq(srq_id->verbs, MAX_WR, NULL, channel, 0);
	DO(!cq);
	DO(ibv_req_notify_cq(cq, 0));
}

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr) {
		.qp_type = IBV_QPT_RC, .recv_cq = cq, .srq = srq_id->srq,
		.cap = { .max_send_wr = MAX_WR, .max_recv_wr = MAX_WR, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
}

static void accept_one(int i)
{
	struct ibv_qp_init_attr attr = qp_attr();

	DO(rdma_get_request(srq_id, &conn[i]));
	DO(rdma_create_qp(conn[i], NULL, &attr));
	conn[i]->srq = srq_id->srq;
	DO(rdma_accept(conn[i], NULL));
}

static void connect_one(int i, struct rdma_addrinfo *info)
{
	struct ibv_qp_init_attr attr = qp_attr();

	DO(rdma_create_ep(&conn[i], info, NULL, &attr));
	DO(rdma_connect(conn[i], NULL));
}

static void say(int i, const char *text)
{
	struct ibv_wc wc;

	snprintf(out, SIZE, "%s", text);
	DO(rdma_post_send(conn[i], NULL, out, SIZE, out_mr, IBV_SEND_SIGNALED));
	DO(rdma_get_send_comp(conn[i], &wc) != 1);
	good(&wc);
}

/* Sleeps until a receive has completed; returns its slot. */
static uint64_t hear(void)
{
	struct ibv_cq *of;
	struct ibv_wc wc;
	void *context;

	while (!ibv_poll_cq(cq, 1, &wc)) {
		DO(ibv_get_cq_event(channel, &of, &context));
		ibv_ack_cq_events(of, 1);
		DO(ibv_req_notify_cq(cq, 0));
		if (ibv_poll_cq(cq, 1, &wc))
			break;
	}
	good(&wc);
	return wc.wr_id;
}

/* Messages of different connections may come in any order, but each once. */
static bool is_new(const char *text)
{
	static bool seen[MESSAGES];
	int n;

	if (sscanf(text, "message %d", &n) != 1 || n < 0 || n >= MESSAGES || seen[n])
		return false;
	seen[n] = true;
	return true;
}

static void server(void)
{
	uint64_t slot;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		slot = hear();
		if (!is_new(in[slot]))
			errx(1, "unexpected message: \"%s\"", in[slot]);
		repost(slot);
		if (i % MAX_WR == MAX_WR - 1)
			say(0, "continue");
	}
}

static void client(void)
{
	char text[32];
	uint64_t slot;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		snprintf(text, sizeof(text), "message %d", i);
		say(i % QPS, text);
		if (i % MAX_WR != MAX_WR - 1)
			continue;
		slot = hear();
		if (strcmp(in[slot], "continue"))
			errx(1, "unexpected message: \"%s\"", in[slot]);
		repost(slot);
	}
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo *info;
	int i;

	parse(argc, argv);
	info = resolve(opt.address, opt.port, opt.server ? RAI_PASSIVE : 0, RDMA_PS_TCP);
	create(info);
	if (opt.server)
		DO(rdma_listen(srq_id, 4));
	for (i = 0; i < QPS; i++) {
		if (opt.server)
			accept_one(i);
		else
			connect_one(i, info);
	}
	if (opt.server)
		server();
	else
		client();
	printf("%s: %d messages over %d connections and one shared receive queue\n",
	       opt.server ? "server" : "client", MESSAGES, QPS);
	for (i = 0; i < QPS; i++)
		DO(rdma_disconnect(conn[i]));
	for (i = 0; i < QPS; i++) {
		conn[i]->srq = NULL;
		rdma_destroy_ep(conn[i]);
	}
	DO(rdma_dereg_mr(in_mr));
	DO(rdma_dereg_mr(out_mr));
	rdma_destroy_srq(srq_id);
	DO(ibv_destroy_cq(cq));
	DO(ibv_destroy_comp_channel(channel));
	DO(rdma_destroy_id(srq_id));
	rdma_freeaddrinfo(info);
	return 0;
}
