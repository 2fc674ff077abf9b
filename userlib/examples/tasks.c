// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A list of tasks over several queues, posted as one (RDMA Aware manual, appendix D).
 *
 * Each of three stations has a number.  The first one sends its number to the second.
 * The second one sends the sum of what it receives and of its own number to the third, and
 * so on.  The adapter calculates the sums and starts each send when the message before it
 * has arrived.  The program posts once and then looks for one completion.
 *
 *	in[0] --- QP 0 ---> in[1] --- QP 1, sum ---> in[2] --- QP 2, sum ---> in[3]
 *
 * usage: tasks [-d DEVICE] [-i PORT] [-g GID-INDEX]
 */
#include "common.h"

enum { STATIONS = 3 };

/* One connection, from the queue that sends to the one that receives */
struct hop {
	struct xv_cq *cq;		/* completions of the receiver; only the adapter looks */
	struct xv_qp *sender;
	struct xv_qp *receiver;
};

/* The requests of one station */
struct station {
	struct xv_sge sge[2];
	struct xv_send_wr send;
	struct xv_recv_wr recv;
	struct xv_sge into;
	struct xv_send_wr wait;
	struct xv_send_wr enable;
	struct xv_task send_task;
	struct xv_task recv_task;
};

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_mr *mr;
	struct xv_cq *end_cq;
	struct xv_cq *unused_cq;
	struct xv_qp *master;		/* waits and enables */
	struct xv_qp *master_peer;
	struct hop hop[STATIONS];
	struct station station[STATIONS];
} res;

static struct {
	struct xv_calc_operand own[STATIONS];
	struct xv_calc_operand in[STATIONS + 1];
} memory __attribute__((aligned(16)));

/* ---- Queues ------------------------------------------------------------ */

static struct xv_qp *create_qp(struct xv_cq *send_cq, struct xv_cq *recv_cq, uint32_t flags)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = send_cq, .recv_cq = recv_cq, .flags = flags,
		.cap = { .max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 2,
			 .max_recv_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(res.pd, &attr);

	CHECK(qp);
	return qp;
}

static void resources_create(void)
{
	struct xv_cq_init_attr plain = { .cqe = 16 };
	struct xv_cq_init_attr hidden = {
		.cqe = 16, .flags = XV_CQ_CROSS_CHANNEL | XV_CQ_IGNORE_OVERRUN,
	};
	struct hop *h;

	CHECK((res.ctx = xv_open(opt.device)));
	CHECK((res.pd = xv_alloc_pd(res.ctx)));
	CHECK((res.mr = xv_reg_mr(res.pd, &memory, sizeof(memory), XV_ACCESS_LOCAL_WRITE)));
	CHECK((res.end_cq = xv_create_cq(res.ctx, &plain)));
	CHECK((res.unused_cq = xv_create_cq(res.ctx, &plain)));
	res.master = create_qp(res.end_cq, res.end_cq, XV_QP_CROSS_CHANNEL);
	res.master_peer = create_qp(res.unused_cq, res.unused_cq, 0);
	connect_both(res.ctx, res.master, res.master_peer);
	for (h = res.hop; h < res.hop + STATIONS; h++) {
		CHECK((h->cq = xv_create_cq(res.ctx, &hidden)));
		h->sender = create_qp(res.unused_cq, res.unused_cq,
				      XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND);
		h->receiver = create_qp(res.unused_cq, h->cq, 0);
		connect_both(res.ctx, h->sender, h->receiver);
	}
}

static void resources_destroy(void)
{
	struct hop *h;

	for (h = res.hop; h < res.hop + STATIONS; h++) {
		CHECK(!xv_destroy_qp(h->sender));
		CHECK(!xv_destroy_qp(h->receiver));
		CHECK(!xv_destroy_cq(h->cq));
	}
	CHECK(!xv_destroy_qp(res.master));
	CHECK(!xv_destroy_qp(res.master_peer));
	CHECK(!xv_destroy_cq(res.end_cq));
	CHECK(!xv_destroy_cq(res.unused_cq));
	CHECK(!xv_dereg_mr(res.mr));
	CHECK(!xv_dealloc_pd(res.pd));
	CHECK(!xv_close(res.ctx));
}

/* ---- Tasks ------------------------------------------------------------- */

static struct xv_sge element(const struct xv_calc_operand *o)
{
	return (struct xv_sge) { (uintptr_t)o, sizeof(*o), res.mr->lkey };
}

/* Station i sends the sum of its number and of the message that it has received. */
static void prepare_message(int i)
{
	struct station *s = &res.station[i];

	s->sge[0] = element(&memory.own[i]);
	s->sge[1] = element(&memory.in[i]);
	s->send = (struct xv_send_wr) {
		.opcode = XV_WR_SEND, .sg_list = s->sge, .num_sge = 2,
		.send_flags = XV_SEND_WITH_CALC,
		.op.calc = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT,
			     XV_CALC_DATA_SIZE_64_BIT },
	};
	s->into = element(&memory.in[i + 1]);
	s->recv = (struct xv_recv_wr) { .sg_list = &s->into, .num_sge = 1 };
}

/* The master enables the send of station i and waits until the message has arrived. */
static void prepare_order(int i)
{
	struct station *s = &res.station[i];
	bool last = i == STATIONS - 1;

	s->enable = (struct xv_send_wr) {
		.next = &s->wait, .opcode = XV_WR_SEND_ENABLE,
		.send_flags = XV_SEND_WAIT_EN_LAST,
		.wr.wqe_enable = { .qp = res.hop[i].sender, .wqe_count = 1 },
	};
	s->wait = (struct xv_send_wr) {
		.next = last ? NULL : &s[1].enable, .opcode = XV_WR_CQE_WAIT,
		.send_flags = XV_SEND_WAIT_EN_LAST | (last ? XV_SEND_SIGNALED : 0),
		.wr.cqe_wait = { .cq = res.hop[i].cq, .cq_count = 1 },
	};
}

static void post(void)
{
	struct xv_task master = { .task_type = XV_TASK_SEND,
				  .item = { .qp = res.master,
					    { .send_wr = &res.station[0].enable } } };
	struct xv_task *bad, *next = &master;
	struct station *s;
	int i;

	for (i = STATIONS - 1; i >= 0; i--) {
		s = &res.station[i];
		prepare_message(i);
		prepare_order(i);
		s->recv_task = (struct xv_task) {
			.task_type = XV_TASK_RECV, .next = next,
			.item = { .qp = res.hop[i].receiver, { .recv_wr = &s->recv } },
		};
		s->send_task = (struct xv_task) {
			.task_type = XV_TASK_SEND, .next = &s->recv_task,
			.item = { .qp = res.hop[i].sender, { .send_wr = &s->send } },
		};
		next = &s->send_task;
	}
	CHECK(!xv_post_task(res.ctx, next, &bad));
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;
	int i;

	parse(argc, argv);
	resources_create();
	for (i = 0; i < STATIONS; i++) {
		memory.own[i].value = xv_be64(100 + i);
		sum += 100 + i;
	}
	post();
	wait_wc(res.end_cq);
	if (xv_be64(memory.in[STATIONS].value) != sum)
		errx(1, "the sum is %llu", (unsigned long long)xv_be64(memory.in[STATIONS].value));
	printf("%d stations, one post: the sum is %llu\n", STATIONS, (unsigned long long)sum);
	resources_destroy();
	return 0;
}
