// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Several connections of rdma_cm with one shared receive queue, as in chapter 8.3 of the RDMA
 * Aware Networks Programming User Manual.  The client uses the connections in turn.  After
 * MAX_WR messages it waits for a message of the server, which has reposted its receives.
 *
 * usage: cm_srq [-p PORT] [HOST]
 */
#include "cm_common.h"

enum { QPS = 4, MAX_WR = 32, MESSAGES = 320, SIZE = 1024 };

static struct {
	char in[MAX_WR][SIZE];
	char out[MAX_WR][SIZE];
} buf;

static struct side s;
static struct xv_srq *srq;
static struct rdma_cm_id *id[QPS];
static struct xv_qp *qp[QPS];

static void repost(uint64_t slot)
{
	struct xv_sge sge = { (uintptr_t)buf.in[slot], SIZE, s.mr->lkey };
	struct xv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK(!xv_post_srq_recv(srq, &wr, &bad));
}

static void create(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = MAX_WR, .max_sge = 1 } };
	uint64_t slot;

	open_side(&s, id[0], &buf, sizeof(buf));
	CHECK((srq = xv_create_srq(s.pd, &attr)));
	for (slot = 0; slot < MAX_WR; slot++)
		repost(slot);
}

static void say(int i, int slot, const char *text)
{
	snprintf(buf.out[slot], SIZE, "%s", text);
	post_send(qp[i], &s, buf.out[slot], SIZE);
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

static void hear(void)
{
	struct xv_wc wc = wait_for(s.cq, XV_WC_RECV);

	if (wc.byte_len != SIZE || !is_new(buf.in[wc.wr_id]))
		errx(1, "unexpected message: \"%s\"", buf.in[wc.wr_id]);
	repost(wc.wr_id);
}

/* When the answer arrives, the server has received the messages in all send buffers. */
static void wait_answer(void)
{
	struct xv_wc wc = wait_for(s.cq, XV_WC_RECV);

	if (strcmp(buf.in[wc.wr_id], "continue"))
		errx(1, "expected \"continue\", received \"%s\"", buf.in[wc.wr_id]);
	repost(wc.wr_id);
}

static void message(int i)
{
	bool last = i % MAX_WR == MAX_WR - 1;
	char text[32];

	snprintf(text, sizeof(text), "message %d", i);
	if (opt.host) {
		say(i % QPS, i % MAX_WR, text);
		if (last)
			wait_answer();
	} else {
		hear();
		if (last)
			say(0, 0, "continue");
	}
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener;
	int i;

	parse(argc, argv);
	listener = opt.host ? NULL : listen_all();
	for (i = 0; i < QPS; i++) {
		id[i] = next_id(listener);
		if (!i)
			create();
		qp[i] = qp_for(id[i], &s, XV_QPT_RC, srq);
		connect_or_accept(id[i], qp[i], NULL);
	}
	for (i = 0; i < MESSAGES; i++)
		message(i);
	printf("%s: %d messages over %d connections and one shared receive queue\n",
	       opt.host ? "client" : "server", MESSAGES, QPS);
	for (i = 0; i < QPS; i++)
		CM(!xv_cm_disconnect(id[i], qp[i]));
	close_side(&s);
	for (i = 0; i < QPS; i++)
		RDMA(rdma_destroy_id(id[i]));
	if (listener)
		RDMA(rdma_destroy_id(listener));
	return 0;
}
