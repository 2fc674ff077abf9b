/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queues of the tests of cross-channel requests.  Side 0 has the queues under test, side 1
 * their peers.
 */
#ifndef TESTS_USER_CHAIN_H
#define TESTS_USER_CHAIN_H

#include "rig.h"

/* A queue under test, with its own completion queue, and its peer */
struct link {
	struct xv_cq *cq;
	struct xv_qp *qp;
	struct xv_cq *peer_cq;
	struct xv_qp *peer;
};

static struct rig r;

/* The types that may be cross-channel */
static const struct chain_type {
	enum xv_qp_type type;
	const char *name;
} chain_types[] = { { XV_QPT_RC, "RC" }, { XV_QPT_UC, "UC" }, { XV_QPT_XRC_SEND, "XRC" } };

/* What peers of type XRC_RECV share */
static struct {
	struct xv_xrcd *domain;
	struct xv_srq *srq;
} xrc;

static __attribute__((unused)) bool has_feature(const char *name)
{
	return rig_feature(r.side[0].ctx, name)->available;
}

static __attribute__((unused)) struct xv_cq *make_cq(int side, uint32_t cqe, uint32_t flags)
{
	struct xv_cq_init_attr attr = { .cqe = cqe, .flags = flags };
	struct xv_cq *cq = xv_create_cq(r.side[side].ctx, &attr);

	if (!cq)
		bail_out("%s", xv_last_error());
	return cq;
}

static __attribute__((unused)) struct xv_qp *make_qp_of(enum xv_qp_type type, int side,
							struct xv_pd *pd, struct xv_cq *cq,
							uint32_t depth, uint32_t flags)
{
	struct xv_qp_init_attr attr = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq, .flags = flags,
		.cap = { .max_send_wr = depth, .max_recv_wr = depth < 256 ? depth : 256,
			 .max_send_sge = 8, .max_recv_sge = 1, .max_inline_data = 64 },
	};
	struct xv_qp *qp;

	if (type == XV_QPT_XRC_SEND) {
		attr.recv_cq = NULL;
		attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
	}
	qp = xv_create_qp(pd ? pd : r.side[side].pd, &attr);
	if (!qp)
		bail_out("%s", xv_last_error());
	return qp;
}

static __attribute__((unused)) struct xv_qp *make_qp(int side, struct xv_pd *pd, struct xv_cq *cq,
						     uint32_t depth, uint32_t flags)
{
	return make_qp_of(XV_QPT_RC, side, pd, cq, depth, flags);
}

/* A queue pair that receives for the shared receive queue, which the first one creates */
static __attribute__((unused)) struct xv_qp *make_xrc_peer(void)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_XRC_RECV };
	struct xv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 }, .cq = r.cq[1] };
	struct xv_qp *qp;

	if (!xrc.domain) {
		xrc.domain = srq.xrcd = xv_open_xrcd(r.side[1].ctx, -1, 0);
		xrc.srq = xrc.domain ? xv_create_srq(r.side[1].pd, &srq) : NULL;
	}
	attr.xrcd = xrc.domain;
	qp = xrc.srq ? xv_create_qp(r.side[1].pd, &attr) : NULL;
	if (!qp)
		bail_out("%s", xv_last_error());
	return qp;
}

/* A connected pair; type and flags are those of the queue under test. */
static __attribute__((unused)) struct link link_of(enum xv_qp_type type, uint32_t depth,
						   uint32_t flags, uint32_t cq_flags)
{
	static const struct xt_rc_opts rc = { .timeout = 10, .retry_cnt = 7, .rnr_retry = 7 };
	uint32_t cqe = cq_flags & XV_CQ_IGNORE_OVERRUN ? 63 : 2 * depth;
	struct link l = {
		.cq = make_cq(0, cqe, XV_CQ_CROSS_CHANNEL | cq_flags),
		.peer_cq = make_cq(1, cqe, cq_flags),
	};

	l.qp = make_qp_of(type, 0, NULL, l.cq, depth, flags);
	l.peer = type == XV_QPT_XRC_SEND ? make_xrc_peer() :
					   make_qp_of(type, 1, NULL, l.peer_cq, depth, 0);
	if (xt_connect_pair(l.qp, &r.side[0], l.peer, &r.side[1], &rc))
		bail_out("%s", xv_last_error());
	return l;
}

static __attribute__((unused)) struct link link_up(uint32_t depth, uint32_t flags,
						   uint32_t cq_flags)
{
	return link_of(XV_QPT_RC, depth, flags, cq_flags);
}

static __attribute__((unused)) uint32_t peer_srqn(void)
{
	return xrc.srq ? xrc.srq->srq_num : 0;
}

static __attribute__((unused)) void link_down(struct link *l)
{
	if (xv_destroy_qp(l->qp) || xv_destroy_qp(l->peer) || xv_destroy_cq(l->cq) ||
	    xv_destroy_cq(l->peer_cq))
		bail_out("%s", xv_last_error());
}

/* Builds a write from sge to offset to of side 1. */
static __attribute__((unused)) int put_sge(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
					   const struct xv_sge *sge, size_t to)
{
	if (qp->qp_type == XV_QPT_XRC_SEND)
		return xv_wr_write_xrc(qp, wr_id, flags, sge, rig_addr(&r, 1, to), r.mr[1]->rkey,
				       peer_srqn());
	return xv_wr_write(qp, wr_id, flags, sge, rig_addr(&r, 1, to), r.mr[1]->rkey);
}

/* The same with n bytes from offset from of side 0 */
static __attribute__((unused)) int put(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				       size_t from, size_t to, uint32_t n)
{
	struct xv_sge sge = rig_sge(&r, 0, from, n);

	return put_sge(qp, wr_id, flags, &sge, to);
}

/* True if no completion arrives for a while. */
static __attribute__((unused)) bool quiet(struct xv_cq *cq)
{
	double until = xt_now() + 0.05;
	struct xv_wc wc;

	while (xt_now() < until) {
		if (xv_poll_cq(cq, 1, &wc)) {
			diag("wr_id %llu: %s", (unsigned long long)wc.wr_id,
			     xv_wc_status_str(wc.status));
			return false;
		}
	}
	return true;
}

#endif
