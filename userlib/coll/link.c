// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queues of an operation: one connection for each rank with which it exchanges messages,
 * and a local connection for the result and the end.
 */
#include <sys/random.h>
#include "coll.h"

/*
 * ACK timeouts: a watch has 2 less than the run, so 0.13 and 0.54 s; with all repetitions 0.9 and
 * 3.8 s.  With XVC_TIMEOUT_MIN, a watch still fails before a run, see watch.c.
 */
enum { TIMEOUT_RUN = 17, WATCH_LESS = 2 };

/* RNR timers: 655 ms and 10 us */
enum { RNR_WATCH = 0, RNR_RUN = 1 };

enum { RUN, WATCH };		/* the queues of a link */
enum { RESULT, END };		/* the ends of the local connection */

/* What must be the same on all ranks */
struct same {
	uint64_t bytes;
	uint32_t kind;
	uint32_t ranks;
	uint32_t root;
	uint32_t calc_op;
	uint32_t calc_type;
	uint32_t reserved;
};

/* What a queue must know about the other one */
struct queue {
	uint32_t qpn;
	uint32_t psn;
};

/*
 * What a rank tells the others: an error, its operation, its address, and the queues for each
 * of its peers
 */
struct address {
	union xv_gid gid;
	struct same same;
	int32_t err;
	uint32_t lid;
	uint32_t mtu;
	uint32_t links;
	struct {
		uint32_t peer;
		struct queue queue[2];
	} link[MAX_LINKS];
};

/* ---- Creation ------------------------------------------------------------------- */

/*
 * The adapter waits for the entries of a hidden CQ; the library reads them only after a run,
 * to find errors.  So the CQ has room for the entries of two runs.
 */
static int hidden_create(struct xv_coll_op *op, struct hidden *h)
{
	struct xv_cq_init_attr attr = {
		.cqe = 4 * MAX_LINKS, .flags = XV_CQ_SINGLE_THREADED,
	};

	if (!xvc_cpu_driven(op->coll))
		attr.flags |= XV_CQ_CROSS_CHANNEL | XV_CQ_IGNORE_OVERRUN;
	h->cq = xv_create_cq(op->coll->ctx, &attr);
	return h->cq ? 0 : xvc_error(errno, "%s", xv_last_error());
}

static struct xv_qp *qp_create(struct xv_coll_op *op, struct xv_cq *send_cq, struct xv_cq *recv_cq)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = send_cq, .recv_cq = recv_cq,
		.flags = XV_QP_SINGLE_THREADED |
			 (xvc_cpu_driven(op->coll) ? 0 : XV_QP_CROSS_CHANNEL),
		.cap = { .max_send_wr = 2 * MAX_REQUESTS, .max_send_sge = 1,
			 .max_recv_wr = 4, .max_recv_sge = 1 },
	};

	return xv_create_qp(op->coll->attr.pd, &attr);
}

/* Others must not guess the first number of a packet. */
static int draw_psns(uint32_t psn[2])
{
	if (getrandom(psn, 2 * sizeof(*psn), 0) != 2 * sizeof(*psn))
		return xvc_error(errno, "operation: no random numbers: %s", strerror(errno));
	psn[0] &= 0xffffff;
	psn[1] &= 0xffffff;
	return 0;
}

/*
 * In a direct operation, the send of the result is not signalled.  It has a completion only if it
 * fails, and then this completion ends the operation.
 */
static int end_create(struct xv_coll_op *op)
{
	struct xv_cq_init_attr attr = { .cqe = 16, .flags = XV_CQ_SINGLE_THREADED };
	struct xv_cq *sent;

	op->channel = xv_create_comp_channel(op->coll->ctx);
	attr.channel = op->channel;
	op->end_cq = op->channel ? xv_create_cq(op->coll->ctx, &attr) : NULL;
	sent = op->direct ? op->end_cq : op->sent.cq;
	if (op->end_cq)
		op->end_qp = qp_create(op, op->end_cq, op->direct ? op->end_cq : op->result.cq);
	if (op->end_qp)
		op->result_qp = qp_create(op, sent, sent);
	return op->result_qp ? draw_psns(op->psn) : xvc_error(errno, "%s", xv_last_error());
}

/* Does the queue signal the completion of the operation? */
static bool makes_end(const struct xv_coll_op *op, uint32_t link)
{
	return op->round_ends && link == op->links - 1;
}

static struct xv_cq *send_cq(const struct xv_coll_op *op, uint32_t link)
{
	if (makes_end(op, link))
		return op->end_cq;
	return op->direct ? op->link[link].recv.cq : op->sent.cq;
}

int xvc_links_create(struct xv_coll_op *op)
{
	int err = op->direct ? 0 : hidden_create(op, &op->sent);
	uint32_t i;

	if (!err)
		err = hidden_create(op, &op->result);
	if (!err)
		err = end_create(op);
	for (i = 0; i < op->links && !err; i++) {
		err = hidden_create(op, &op->link[i].recv);
		if (err)
			break;
		op->link[i].qp = qp_create(op, send_cq(op, i), op->link[i].recv.cq);
		err = op->link[i].qp ? draw_psns(op->link[i].psn) :
				       xvc_error(errno, "%s", xv_last_error());
	}
	return err ? err : xvc_watch_create(op);
}

static void qp_destroy(struct xv_qp **qp)
{
	if (*qp)
		xv_destroy_qp(*qp);
	*qp = NULL;
}

static void cq_destroy(struct xv_cq **cq)
{
	if (*cq)
		xv_destroy_cq(*cq);
	*cq = NULL;
}

void xvc_links_destroy(struct xv_coll_op *op)
{
	uint32_t i;

	for (i = 0; i < op->links; i++) {
		qp_destroy(&op->link[i].qp);
		qp_destroy(&op->link[i].watch);
	}
	qp_destroy(&op->result_qp);
	qp_destroy(&op->end_qp);
	for (i = 0; i < op->links; i++)
		cq_destroy(&op->link[i].recv.cq);
	cq_destroy(&op->watch_cq);
	cq_destroy(&op->end_cq);
	cq_destroy(&op->result.cq);
	cq_destroy(&op->sent.cq);
	if (op->channel)
		xv_destroy_comp_channel(op->channel);
	op->channel = NULL;
}

/* ---- Connection ----------------------------------------------------------------- */

static uint8_t ack_timeout(const struct xv_coll *c, int use)
{
	uint32_t timeout = c->attr.timeout ? c->attr.timeout : TIMEOUT_RUN;

	return (uint8_t)(use == WATCH ? timeout - WATCH_LESS : timeout);
}

/* Connects a queue with the queue @to of the rank with this address. */
static int qp_connect(const struct xv_coll *c, struct xv_qp *qp, uint32_t psn, int use,
		      const struct address *address, const struct queue *to)
{
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT,
		.port_num = (uint8_t)c->attr.port,
		.pkey_index = c->attr.pkey_index,
		.path_mtu = (enum xv_mtu)(address->mtu < c->mtu ? address->mtu : c->mtu),
		.dest_qp_num = to->qpn,
		.rq_psn = to->psn,
		.sq_psn = psn,
		.min_rnr_timer = use == WATCH ? RNR_WATCH : RNR_RUN,
		.timeout = ack_timeout(c, use),
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {
			.dlid = (uint16_t)address->lid,
			.sl = c->attr.sl,
			.port_num = (uint8_t)c->attr.port,
			.is_global = 1,
			.grh = { .dgid = address->gid, .sgid_index = (uint8_t)c->attr.gid_index,
				 .hop_limit = 64, .traffic_class = c->attr.traffic_class },
		},
	};
	int err;

	err = xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
				   XV_QP_ACCESS_FLAGS);
	a.qp_state = XV_QPS_RTR;
	if (!err)
		err = xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_AV | XV_QP_PATH_MTU |
					   XV_QP_DEST_QPN | XV_QP_RQ_PSN |
					   XV_QP_MAX_DEST_RD_ATOMIC | XV_QP_MIN_RNR_TIMER);
	a.qp_state = XV_QPS_RTS;
	if (!err)
		err = xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_TIMEOUT | XV_QP_RETRY_CNT |
					   XV_QP_RNR_RETRY | XV_QP_SQ_PSN |
					   XV_QP_MAX_QP_RD_ATOMIC);
	return err ? xvc_error(err, "%s", xv_last_error()) : 0;
}

static struct address own_address(const struct xv_coll_op *op)
{
	struct address a = {
		.gid = op->coll->gid, .lid = op->coll->port.lid, .mtu = op->coll->mtu,
		.links = op->links,
		.same = { .bytes = op->bytes, .kind = op->kind, .ranks = op->coll->attr.ranks,
			  .root = op->root, .calc_op = op->calc.op, .calc_type = op->calc.type },
	};
	const struct link *l;
	uint32_t i;

	for (i = 0; i < a.links; i++) {
		l = &op->link[i];
		a.link[i].peer = l->peer;
		a.link[i].queue[RUN] = (struct queue) { l->qp->qp_num, l->psn[RUN] };
		a.link[i].queue[WATCH] = (struct queue) { l->watch->qp_num, l->psn[WATCH] };
	}
	return a;
}

/* Connects a link with the queues that its peer has for this rank. */
static int link_connect(const struct xv_coll *c, const struct link *l, const struct address *to)
{
	const struct queue *queue;
	uint32_t i;
	int err;

	for (i = 0; i < to->links && i < MAX_LINKS; i++) {
		if (to->link[i].peer != c->attr.rank)
			continue;
		queue = to->link[i].queue;
		err = qp_connect(c, l->qp, l->psn[RUN], RUN, to, &queue[RUN]);
		return err ? err : qp_connect(c, l->watch, l->psn[WATCH], WATCH, to, &queue[WATCH]);
	}
	return xvc_error(EPROTO, "rank %u has no link to rank %u", l->peer, c->attr.rank);
}

static int local_connect(const struct xv_coll_op *op, const struct address *own)
{
	const struct queue result = { op->result_qp->qp_num, op->psn[RESULT] };
	const struct queue end = { op->end_qp->qp_num, op->psn[END] };
	int err = qp_connect(op->coll, op->result_qp, result.psn, RUN, own, &end);

	return err ? err : qp_connect(op->coll, op->end_qp, end.psn, RUN, own, &result);
}

/* Errors first: a rank with an error has not told its operation. */
static int check_ranks(const struct xv_coll_op *op, const struct address *all)
{
	const struct xv_coll_attr *attr = &op->coll->attr;
	uint32_t i;

	for (i = 0; i < attr->ranks; i++)
		if (all[i].err)
			return xvc_error(EIO, "rank %u failed", i);
	for (i = 0; i < attr->ranks; i++)
		if (memcmp(&all[i].same, &all[attr->rank].same, sizeof(all[i].same)))
			return xvc_error(EPROTO, "rank %u creates another operation than rank %u",
					 i, attr->rank);
	return 0;
}

static int connect_all(struct xv_coll_op *op, const struct address *all)
{
	uint32_t i;
	int err = check_ranks(op, all);

	for (i = 0; i < op->links && !err; i++)
		err = link_connect(op->coll, &op->link[i], &all[op->link[i].peer]);
	if (!err)
		err = local_connect(op, &all[op->coll->attr.rank]);
	return err ? err : xvc_plan_post_ahead(op);
}

int xvc_exchange_create(struct xv_coll *c)
{
	c->all = calloc(c->attr.ranks, sizeof(struct address));
	return c->all ? 0 : xvc_error(ENOMEM, "communicator: out of memory");
}

static int exchange(const struct xv_coll *c, const void *mine, size_t size)
{
	return c->attr.exchange(c->attr.arg, mine, c->all, size);
}

static int exchange_failed(int err)
{
	return xvc_error(err, "operation: the exchange function failed: %s",
			 strerror(err < 0 ? -err : err));
}

/* Tells all ranks whether one has failed.  No rank returns before all can receive. */
static int agree(const struct xv_coll *c, int err)
{
	int failed = exchange(c, &err, sizeof(err));
	const int *all = c->all;
	uint32_t i;

	if (err || failed)
		return err ? err : exchange_failed(failed);
	for (i = 0; i < c->attr.ranks; i++)
		if (all[i])
			return xvc_error(EIO, "rank %u failed", i);
	return 0;
}

int xvc_links_connect(struct xv_coll *c, struct xv_coll_op *op, int err)
{
	struct address own = { .err = err };
	int failed;

	if (!err)
		own = own_address(op);
	failed = exchange(c, &own, sizeof(own));
	if (!err)
		err = failed ? exchange_failed(failed) : connect_all(op, c->all);
	err = agree(c, err);
	return err ? err : xvc_watch_start(op);
}
