// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: the object.  qp_state.c modifies it.
 *
 * A QP uses its PD, CQs, SRQ, XRC domain and UAR while it exists.  Its buffer contains the
 * receive ring, then the send ring.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "cmd/cmd.h"
#include "data/wire.h"

static bool hca_qp_st_ok(u8 st)
{
	switch (st) {
	case MLX5_QP_ST_RC:
	case MLX5_QP_ST_UC:
	case MLX5_QP_ST_UD:
	case MLX5_QP_ST_XRC:
	case MLX5_QP_ST_DCI:
	case MLX5_QP_ST_QP0:
	case MLX5_QP_ST_QP1:
	case MLX5_QP_ST_REG_UMR:
		return true;
	default:
		return false;
	}
}

/* Fields of 5 bits that older headers do not name */
enum {
	QPC_LOG_DCI_STREAMS	= 0x3e3,
	QPC_LOG_DCI_ERRORS	= 0x403,
};

/* Fields of unsupported features must be zero. */
static bool hca_qp_fields_ok(const u32 *qpc)
{
	return !MLX5_GET(qpc, qpc, wq_signature) && !MLX5_GET(qpc, qpc, drain_sigerr) &&
	       !MLX5_GET(qpc, qpc, offload_type) && !MLX5_GET(qpc, qpc, end_padding_mode) &&
	       !MLX5_GET(qpc, qpc, req_e2e_credit_mode) &&
	       !MLX5_GET(qpc, qpc, ulp_stateless_offload_mode) &&
	       !hca_field(qpc, QPC_LOG_DCI_STREAMS, 5) &&
	       !hca_field(qpc, QPC_LOG_DCI_ERRORS, 5);
}

/* Cross-channel queues are connected; those that are managed are the QP's own. */
static bool hca_qp_take_xchan(struct hca_qp *qp)
{
	const u32 *qpc = qp->qpc;

	qp->cd_master = MLX5_GET(qpc, qpc, cd_master);
	qp->managed_send = MLX5_GET(qpc, qpc, cd_slave_send);
	qp->managed_recv = MLX5_GET(qpc, qpc, cd_slave_receive);
	if (!qp->cd_master && !qp->managed_send && !qp->managed_recv)
		return true;
	if (qp->st != MLX5_QP_ST_RC && qp->st != MLX5_QP_ST_UC && qp->st != MLX5_QP_ST_XRC &&
	    qp->st != MLX5_QP_ST_DCI)
		return false;
	return (!(qp->cd_master || qp->managed_send) || !MLX5_GET(qpc, qpc, no_sq)) &&
	       (!qp->managed_recv || MLX5_GET(qpc, qpc, rq_type) == MLX5_NON_ZERO_RQ);
}

/* Bit offsets of fields for which the kernel's headers have no names (PRM) */
enum {
	QP_DBR_UMEM	= 0x720,	/* in the context */
	QP_UMEM_OFFSET	= 0x800,	/* in CREATE_QP */
	QP_UMEM_ID	= 0x840,
};

static enum hca_synd hca_qp_find_record(struct hca *hca, struct hca_qp *qp,
					const struct hca_cmd *c, bool needed)
{
	const u32 *qpc = qp->qpc;
	struct hca_place place = {
		.in_umem = MLX5_GET(qpc, qpc, dbr_umem_valid),
		.umem = hca_dword(qpc, QP_DBR_UMEM),
		.at = MLX5_GET64(qpc, qpc, dbr_addr),
	};

	if (!needed && !place.at)
		return HCA_OK;
	return hca_record_find(hca, c, &place, &qp->dbr, &qp->dbr_umem);
}

static enum hca_synd hca_qp_init_ring(struct hca *hca, struct hca_qp *qp, const struct hca_cmd *c,
				      u64 size)
{
	const u32 *qpc = qp->qpc;
	struct hca_ring ring = {
		.pas = MLX5_BYTE_OFF(create_qp_in, pas),
		.log_page = MLX5_GET(qpc, qpc, log_page_size),
		.page_offset = MLX5_GET(qpc, qpc, page_offset),
		.place.in_umem = MLX5_GET(create_qp_in, c->in, wq_umem_valid),
		.place.umem = hca_dword(c->in, QP_UMEM_ID),
		.place.at = hca_qword(c->in, QP_UMEM_OFFSET),
		.entry = max_t(u32, MLX5R_WQEBB, 1u << qp->rq.log_stride),
		.size = size,
	};

	return size ? hca_ring_init(hca, c, &qp->buf, &ring) : HCA_OK;
}

static enum hca_synd hca_qp_decode_rings(struct hca *hca, struct hca_qp *qp,
					 const struct hca_cmd *c)
{
	const u32 *qpc = qp->qpc;
	u64 rq_bytes = 0, sq_bytes = 0;
	enum hca_synd synd;

	if (MLX5_GET(qpc, qpc, rq_type) == MLX5_NON_ZERO_RQ) {
		qp->rq.log_stride = MLX5_GET(qpc, qpc, log_rq_stride) + 4;
		qp->rq.entries = 1u << MLX5_GET(qpc, qpc, log_rq_size);
		rq_bytes = (u64)qp->rq.entries << qp->rq.log_stride;
	}
	if (!MLX5_GET(qpc, qpc, no_sq)) {
		qp->sq.offset = rq_bytes;
		qp->sq.entries = 1u << MLX5_GET(qpc, qpc, log_sq_size);
		sq_bytes = (u64)qp->sq.entries * MLX5R_WQEBB;
	}
	if ((1u << qp->rq.log_stride) > HCA_MAX_RECV_WQE ||
	    (sq_bytes && rq_bytes % MLX5R_WQEBB))
		return HCA_SYND_QP_SIZE;

	synd = hca_qp_find_record(hca, qp, c, rq_bytes || sq_bytes);
	return synd ? synd : hca_qp_init_ring(hca, qp, c, rq_bytes + sq_bytes);
}

/*
 * Finds CQ @cqn.  A QP needs no CQ for a queue that it does not have (@needed is false): then the
 * number 0 is valid and *@cq is NULL.
 */
static enum hca_synd hca_qp_find_cq(struct hca *hca, const struct hca_cmd *c, u32 cqn, bool needed,
				    struct hca_cq **cq)
{
	*cq = hca_devx_own(c, &hca->cqs, cqn);
	return *cq || (!needed && !cqn) ? HCA_OK : HCA_SYND_CQ;
}

static enum hca_synd hca_qp_find_srq(struct hca *hca, const struct hca_cmd *c, struct hca_qp *qp)
{
	u32 type = MLX5_GET(qpc, qp->qpc, rq_type);

	/* A DCI receives nothing; the SRQ that mlx5_ib names is not used. */
	if (qp->st == MLX5_QP_ST_DCI)
		return type == MLX5_NON_ZERO_RQ ? HCA_SYND_QP_FIELD : HCA_OK;
	if (type == MLX5_SRQ_RQ) {
		qp->srq = hca_devx_own(c, &hca->srqs, MLX5_GET(qpc, qp->qpc, srqn_rmpn_xrqn));
		if (!qp->srq || (qp->srq->kind == HCA_XRC_SRQ) != (qp->st == MLX5_QP_ST_XRC))
			return HCA_SYND_SRQ;
		return HCA_OK;
	}
	return type == MLX5_ZERO_LEN_RQ || type == MLX5_NON_ZERO_RQ ? HCA_OK : HCA_SYND_QP_FIELD;
}

static enum hca_synd hca_qp_find_resources(struct hca *hca, const struct hca_cmd *c,
					    struct hca_qp *qp)
{
	const u32 *qpc = qp->qpc;
	enum hca_synd synd;

	/* The UMR queue gets its PD with the transition to INIT. */
	if (!hca_devx_own(c, &hca->pds, qp->pd) && !(qp->st == MLX5_QP_ST_REG_UMR && !qp->pd))
		return HCA_SYND_PD;
	if (qp->st == MLX5_QP_ST_XRC && !hca_devx_own(c, &hca->xrcds, qp->xrcd))
		return HCA_SYND_XRCD;
	qp->record.uar = hca_uar_get(hca, c, MLX5_GET(qpc, qpc, uar_page));
	if (!qp->record.uar && qp->sq.entries)
		return HCA_SYND_UAR;
	synd = hca_qp_find_srq(hca, c, qp);
	if (!synd)
		synd = hca_qp_find_cq(hca, c, MLX5_GET(qpc, qpc, cqn_snd), qp->sq.entries,
				      &qp->scq);
	if (!synd)
		synd = hca_qp_find_cq(hca, c, MLX5_GET(qpc, qpc, cqn_rcv),
				      qp->rq.entries || qp->srq, &qp->rcq);
	if (!synd && qp->st == MLX5_QP_ST_QP1 && hca->nqp1 == hca->p.num_ports)
		synd = HCA_SYND_SPECIAL_QP;
	return synd;
}

static enum hca_synd hca_qp_decode(struct hca *hca, struct hca_qp *qp, const struct hca_cmd *c)
{
	const u32 *qpc = qp->qpc;
	enum hca_synd synd;

	memcpy(qp->qpc, MLX5_ADDR_OF(create_qp_in, c->in, qpc), sizeof(qp->qpc));
	qp->st = MLX5_GET(qpc, qpc, st);
	if (!hca_qp_st_ok(qp->st))
		return HCA_SYND_QP_TYPE;
	if (c->uid && hca_qp_privileged(qpc))
		return HCA_SYND_PRIVILEGED;
	if (!hca_qp_fields_ok(qpc) || !hca_qp_take_xchan(qp))
		return HCA_SYND_QP_FIELD;
	qp->pd = MLX5_GET(qpc, qpc, pd);
	qp->user_index = MLX5_GET(qpc, qpc, user_index);
	qp->xrcd = MLX5_GET(qpc, qpc, xrcd);
	qp->rlky = MLX5_GET(qpc, qpc, rlky);
	qp->cs_req = MLX5_GET(qpc, qpc, cs_req);
	qp->cs_res = MLX5_GET(qpc, qpc, cs_res);
	MLX5_SET(qpc, qp->qpc, state, MLX5_QP_STATE_RST);
	synd = hca_qp_decode_rings(hca, qp, c);
	return synd ? synd : hca_qp_find_resources(hca, c, qp);
}

static void hca_qp_hold_queue(u32 *users, struct hca_dependents *all, struct hca_dependent *d,
			      int n)
{
	*users += n;
	if (n > 0)
		hca_depend(all, d);
	else
		hca_depend_end(d);
}

static void hca_qp_init_dependent(struct hca_dependent *d, struct hca_qp *qp)
{
	d->qp = qp;
	INIT_LIST_HEAD(&d->entry);
}

/* Counts the QP as a user (1), or no longer (-1), of the objects that it uses. */
static void hca_qp_hold(struct hca *hca, struct hca_qp *qp, int n)
{
	struct hca_domain *d = hca_table_get(&hca->pds, qp->pd);

	if (d)
		d->users += n;
	if (qp->st == MLX5_QP_ST_XRC) {
		d = hca_table_get(&hca->xrcds, qp->xrcd);
		d->users += n;
	}
	if (qp->scq)
		hca_qp_hold_queue(&qp->scq->users, &qp->scq->dependents, &qp->on_scq, n);
	if (qp->rcq)
		hca_qp_hold_queue(&qp->rcq->users, &qp->rcq->dependents, &qp->on_rcq, n);
	if (qp->srq)
		hca_qp_hold_queue(&qp->srq->users, &qp->srq->dependents, &qp->on_srq, n);
}

struct hca_qp *hca_qp_new(struct hca *hca)
{
	struct hca_qp *qp = kzalloc(sizeof(*qp), HCA_GFP);

	if (!qp)
		return NULL;
	qp->hca = hca;
	qp->port = &hca->port[0];
	qp->holder = qp;
	INIT_LIST_HEAD(&qp->target_entry);
	INIT_LIST_HEAD(&qp->dct.sources);
	hca_qp_init_dependent(&qp->on_scq, qp);
	hca_qp_init_dependent(&qp->on_rcq, qp);
	hca_qp_init_dependent(&qp->on_srq, qp);
	hca_record_init(&qp->record, HCA_RECORD_QP);
	hca_qp_init_run(qp);
	return qp;
}

static void hca_qp_release(struct hca_qp *qp)
{
	hca_wire_free(qp);
	hca_umem_put(qp->dbr_umem);
	hca_buf_free(&qp->buf);
	kfree(qp);
}

enum hca_synd hca_qp_finish(struct hca_qp *qp, const struct hca_cmd *c, enum hca_synd synd)
{
	struct hca *hca = qp->hca;

	if (!synd && hca->p.wired && !hca_wire_new(qp))
		synd = HCA_SYND_NO_MEMORY;
	if (!synd && hca_qp_timers_join(qp))
		synd = HCA_SYND_NO_MEMORY;
	if (!synd) {
		synd = hca_devx_add(hca, c, &hca->qps, qp, &qp->qpn);
		if (synd == HCA_SYND_LIMIT)
			synd = HCA_SYND_QP_LIMIT;
		if (synd)
			hca_qp_timers_leave(qp);
	}
	if (synd) {
		hca_qp_release(qp);
		return synd;
	}
	qp->type = 1u << qp->st;
	hca_apm_reset(qp);
	if (qp->record.uar)
		hca_record_add(&qp->record, qp->record.uar);
	hca->nqp1 += qp->st == MLX5_QP_ST_QP1;
	hca_qp_hold(hca, qp, 1);
	hca_counter_join(qp, 0);
	return HCA_OK;
}

enum hca_synd hca_cmd_create_qp(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *qp = hca_qp_new(hca);
	enum hca_synd synd;

	if (!qp)
		return HCA_SYND_NO_MEMORY;
	synd = hca_qp_finish(qp, c, hca_qp_decode(hca, qp, c));
	if (synd)
		return synd;
	qp->ece = hca_ece_grant(MLX5_GET(create_qp_in, c->in, ece));
	MLX5_SET(create_qp_out, c->out, qpn, qp->qpn);
	MLX5_SET(create_qp_out, c->out, ece, qp->ece);
	return HCA_OK;
}

void hca_qp_free(struct hca *hca, void *obj)
{
	struct hca_qp *qp = obj;

	hca_qp_stop(qp);
	hca_qp_timers_leave(qp);
	hca_event_forget(&qp->events);
	hca_mcg_detach_all(qp);
	hca_qp_special_leave(qp);
	hca->nqp1 -= qp->st == MLX5_QP_ST_QP1;
	hca_record_del(&qp->record);
	hca_qp_hold(hca, qp, -1);
	qp->counter->users--;
	hca_devx_del(hca, &hca->qps, qp->qpn);
	hca_qp_release(qp);
}

enum hca_synd hca_cmd_destroy_qp(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *qp = hca_devx_qp(hca, c, MLX5_GET(destroy_qp_in, c->in, qpn));

	if (!qp)
		return HCA_SYND_QP;
	hca_turn_run_posted(qp);
	hca_qp_free(hca, qp);
	return HCA_OK;
}

/* The context as set, with the current state and counters */
enum hca_synd hca_cmd_query_qp(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *qp = hca_devx_qp(hca, c, MLX5_GET(query_qp_in, c->in, qpn));
	void *qpc = MLX5_ADDR_OF(query_qp_out, c->out, qpc);
	u8 state;

	if (!qp)
		return HCA_SYND_QP;
	state = qp->state;
	if (state == MLX5_QP_STATE_SQD && !qp->sq_drained_sent)
		state = MLX5_QP_STATE_SQ_DRAINING;
	MLX5_SET(query_qp_out, c->out, ece, qp->ece);
	memcpy(qpc, qp->qpc, sizeof(qp->qpc));
	MLX5_SET(qpc, qpc, state, state);
	/* Programs of others take 0 for an error (the open library of DOCA GPUNetIO). */
	if (!MLX5_GET(qpc, qpc, mtu))
		MLX5_SET(qpc, qpc, mtu, IB_MTU_256);
	MLX5_SET(qpc, qpc, pm_state, qp->pm_state);
	MLX5_SET(qpc, qpc, next_send_psn, qp->sq_psn);
	MLX5_SET(qpc, qpc, next_rcv_psn, qp->rq_psn);
	MLX5_SET(qpc, qpc, last_acked_psn, qp->sq_psn - 1);
	MLX5_SET(qpc, qpc, cur_retry_count, qp->retry_left);
	MLX5_SET(qpc, qpc, cur_rnr_retry, qp->rnr_left);
	MLX5_SET(qpc, qpc, hw_sq_wqebb_counter, qp->sq.ci);
	MLX5_SET(qpc, qpc, sw_sq_wqebb_counter, qp->sq.pi);
	MLX5_SET(qpc, qpc, hw_rq_counter, qp->rq.ci);
	MLX5_SET(qpc, qpc, sw_rq_counter, qp->rq.pi);
	return HCA_OK;
}
