// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs.  The kernel allocates the rings and modifies the state.  The library
 * maps the rings and tells the data path the addresses and whether it may post.
 */
#include <stdio.h>
#include "internal.h"

/*
 * Requests of a managed queue run when others enable them, so its doorbell is not rung: an
 * adapter might run what is posted.  In an error state the adapter needs the doorbell to flush
 * what was not enabled.
 */
static void set_managed_doorbell(struct qp *qp)
{
	struct xv_sq *sq = &qp->pub.sq;

	sq->doorbell = &qp->unused_doorbell;
	if (qp->pub.state < XV_QPS_SQE)
		return;
	sq->doorbell = qp->doorbell;
	xv_doorbell_barrier();		/* B */
	*sq->doorbell = sq->last_ctrl;
	xv_doorbell_flush();		/* C */
}

/*
 * Sends may be posted in RTS, SQD and in the error states, where they are flushed;
 * receives in every state except RESET (Manual 3.5).  With the flag also there: the adapter
 * looks at the doorbell record when it has a message.
 */
static void set_state(struct qp *qp, enum xv_qp_state state)
{
	bool receives = state != XV_QPS_RESET || qp->init.flags & XV_QP_RECV_IN_RESET;
	struct xv_qp *pub = &qp->pub;

	pub->state = state;
	pub->sq.room = state >= XV_QPS_RTS ? qp->sq_wqebbs : 0;
	pub->sq.limit = pub->sq.pi;	/* the next post reads ci */
	pub->rq.room = receives ? qp->rq_wqes : 0;
	if (qp->doorbell)
		set_managed_doorbell(qp);
}

/* A queue pair that is reset or destroyed must not have completions. */
static void drop_completions(struct xv_qp *pub)
{
	if (pub->send_cq)
		xv_cq_clean(pub->send_cq, &pub->rsc, pub->srq);
	if (pub->recv_cq && pub->recv_cq != pub->send_cq)
		xv_cq_clean(pub->recv_cq, &pub->rsc, pub->srq);
}

/* In RESET the adapter sets its indices to 0. */
static void reset_queues(struct xv_qp *pub)
{
	drop_completions(pub);
	if (to_qp(pub)->mem.external)
		return;
	pub->sq.pi = pub->sq.ci = 0;
	pub->rq.pi = pub->rq.ci = 0;
	pub->sq.builder = pub->rq.builder = NULL;
	pub->sq.fm_ce_se &= ~__XV_FM_CE_SE(MLX5R_FM_MASK);
	memset(&pub->sq.en, 0, sizeof(pub->sq.en));
	pub->rq.en_base = pub->rq.en_max = 0;
	if (pub->rq.dbrec) {
		pub->rq.dbrec[MLX5R_DBR_SND] = 0;
		pub->rq.dbrec[MLX5R_DBR_RCV] = 0;
	}
}

/* In SQE the adapter has flushed what was posted, enabled or not.  Counts begin behind it. */
static void restart_sends(struct xv_sq *sq)
{
	sq->en = (struct __xv_enabled) { .base = sq->pi, .max = sq->pi, .seen = sq->pi };
}

static void sq_init(struct xv_qp *pub, struct qp *qp, const struct xverbs_qp_create *req)
{
	struct xv_sq *sq = &pub->sq;

	sq->buf = (uint8_t *)qp->mem.ring + req->out_sq_offset;
	sq->buf_end = sq->buf + (size_t)req->out_sq_wqebbs * MLX5R_WQEBB;
	sq->mask = req->out_sq_wqebbs - 1;
	sq->max_inline = qp->init.cap.max_inline_data;
	sq->max_sge = qp->init.cap.max_send_sge;
	sq->max_atomic_arg = qp->init.max_atomic_arg;
	if (sq->flags & XV_QP_MANAGED_SEND && !qp->mem.external) {
		qp->doorbell = sq->doorbell;
		set_managed_doorbell(qp);
	}
}

static void rq_init(struct xv_qp *pub, struct qp *qp, const struct xverbs_qp_create *req)
{
	struct xv_rq *rq = &pub->rq;

	rq->buf = (uint8_t *)qp->mem.ring + req->out_rq_offset;
	rq->mask = req->out_rq_wqes - 1;
	rq->max_sge = req->out_rq_stride / MLX5R_DS;
	rq->log_stride = (uint32_t)__builtin_ctz(req->out_rq_stride);
}

/* Prepares the data path; qp_release() undoes it. */
static int qp_map(struct qp *qp, const struct xverbs_qp_create *req,
		  const struct xv_external *ext)
{
	const struct xv_uar *uar = qp->bf.uar;
	struct context *ctx = qp->ctx;
	struct xv_qp *pub = &qp->pub;
	int err = xv_qmem_map(ctx, &qp->mem, ext, &req->out_ring, &req->out_dbr,
			      req->out_dbr_offset, "create QP: rings");

	if (err)
		return err;
	if (!uar)
		return 0;
	pub->sq.dbrec = pub->rq.dbrec = qp->mem.dbrec;
	pub->sq.doorbell = (volatile uint64_t *)(void *)((char *)uar->addr + qp->bf.offset);
	pub->sq.flags |= qp->bf.bytes << __XV_BF_SHIFT;
	pub->sq.ctrl_qpn = (uint64_t)xv_be32(req->out_qpn << 8) << 32;
	if (req->out_sq_wqebbs) {
		sq_init(pub, qp, req);
		pub->sq.entry = calloc(req->out_sq_wqebbs, sizeof(*pub->sq.entry));
	}
	if (req->out_rq_wqes) {
		rq_init(pub, qp, req);
		pub->rq.wr_id = calloc(req->out_rq_wqes, sizeof(*pub->rq.wr_id));
	}
	if ((req->out_sq_wqebbs && !pub->sq.entry) || (req->out_rq_wqes && !pub->rq.wr_id))
		return xv_set_error(ENOMEM, "create QP: out of memory");
	if (!qp->mem.external) {
		qp->sq_wqebbs = req->out_sq_wqebbs;
		qp->rq_wqes = req->out_rq_wqes;
		set_state(qp, XV_QPS_RESET);
	}
	return 0;
}

static void qp_release(void *object)
{
	struct qp *qp = object;

	if (qp->pub.rsc.user_index != XV_RSC_NO_INDEX)
		xv_rsc_set(qp->ctx, qp->pub.rsc.user_index, NULL);
	xv_blueflame_put(qp->ctx, &qp->bf);
	free(qp->pub.sq.entry);
	free(qp->pub.rq.wr_id);
	xv_qmem_unmap(qp->ctx, &qp->mem);
	xv_events_destroy(&qp->events);
	pthread_mutex_destroy(&qp->state_lock);
}

static struct xverbs_qp_cap cap_to_kernel(const struct xv_qp_init_attr *a)
{
	const struct xv_qp_cap *cap = &a->cap;
	bool own_rq = !a->srq;		/* else, the sizes are ignored as in libibverbs */

	return (struct xverbs_qp_cap) {
		.max_send_wr = cap->max_send_wr,
		.max_recv_wr = own_rq ? cap->max_recv_wr : 0,
		.max_send_sge = cap->max_send_sge,
		.max_recv_sge = own_rq ? cap->max_recv_sge : 0,
		.max_inline_data = cap->max_inline_data,
		.max_atomic_arg = a->max_atomic_arg,
		.max_inl_recv = a->max_inl_recv,
		.max_inl_resp = a->max_inl_resp,
	};
}

static struct xv_qp_cap cap_from_kernel(const struct xverbs_qp_cap *cap)
{
	return (struct xv_qp_cap) {
		.max_send_wr = cap->max_send_wr,
		.max_recv_wr = cap->max_recv_wr,
		.max_send_sge = cap->max_send_sge,
		.max_recv_sge = cap->max_recv_sge,
		.max_inline_data = cap->max_inline_data,
	};
}

static uint32_t flags_to_kernel(uint32_t flags)
{
	return (flags & XV_QP_CROSS_CHANNEL ? XVERBS_QP_CROSS_CHANNEL : 0) |
	       (flags & XV_QP_MANAGED_SEND ? XVERBS_QP_MANAGED_SEND : 0) |
	       (flags & XV_QP_MANAGED_RECV ? XVERBS_QP_MANAGED_RECV : 0);
}

/* The doorbell page of a queue pair; -errno if there is none */
static int choose_uar(struct qp *qp, const struct xv_qp_init_attr *a)
{
	/* A request may name only queues of its page, and those of a managed queue wait. */
	const uint32_t shared = XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND | XV_QP_MANAGED_RECV |
				XV_QP_EXTERNAL_DATAPATH;
	bool own = !a->external.uar && a->cap.max_send_wr && !(a->flags & shared);

	if (own)
		xv_blueflame_get(qp->ctx, &qp->bf);
	if (qp->bf.uar)
		return 0;
	qp->bf.uar = xv_uar_get(qp->ctx, &a->external);
	if (!qp->bf.uar)
		return -errno;
	qp->bf.offset = qp->bf.uar->qp_doorbell;
	return 0;
}

static int qp_create(struct qp *qp, const struct xv_pd *pd, const struct xv_qp_init_attr *a)
{
	bool target = a->qp_type == XV_QPT_XRC_RECV;	/* has no queues to post to */
	int err = target ? 0 : choose_uar(qp, a);
	const struct xv_uar *uar = qp->bf.uar;
	struct xverbs_qp_cap cap = cap_to_kernel(a);
	struct xverbs_external external = { 0 };
	struct xverbs_qp_create req = {
		.hdr.flags = flags_to_kernel(a->flags),
		.type = a->qp_type,
		.pd = target ? 0 : pd->handle,
		.send_cq = a->send_cq ? a->send_cq->handle : 0,
		.recv_cq = a->recv_cq ? a->recv_cq->handle : 0,
		.srq = a->srq ? a->srq->handle : 0,
		.xrcd = a->xrcd ? a->xrcd->handle : 0,
		.uar = uar ? uar->handle : 0,
		.user_index = qp->pub.rsc.user_index,
		.user_data = (uintptr_t)qp,
		.cap = XV_PART_OF(&cap),
		.out_cap = XV_PART_OF(&cap),
		.external = XV_PART_OF(&external),
	};

	if (err)
		return err;
	err = XV_CHECK_USED(qp->ctx, "create QP", a->send_cq, a->recv_cq, a->srq, a->xrcd, uar,
			    a->external.ring_umem, a->external.dbr_umem);
	if (err)
		return err;
	err = xv_external_to_kernel(&external, &a->external, &qp->mem, "create QP");
	if (err)
		return err;
	err = xv_ioctl(&qp->ctx->pub, XVERBS_QP_CREATE, "create QP", &req, sizeof(req));
	if (err)
		return err;
	qp->pub.handle = req.out_handle;
	qp->pub.qp_num = req.out_qpn;
	qp->init.cap = cap_from_kernel(&cap);
	qp->init.max_atomic_arg = cap.max_atomic_arg;
	qp->init.max_inl_recv = cap.max_inl_recv;
	qp->init.max_inl_resp = cap.max_inl_resp;
	err = qp_map(qp, &req, &a->external);
	if (err)
		xv_destroy_handle(qp->ctx, qp->pub.handle, "create QP", NULL);
	return err;
}

/* Allocates a QP with a user index; returns NULL with the error number in *err. */
static struct qp *qp_new(struct xv_context *ctx, const struct xv_qp_init_attr *a, int *err)
{
	struct qp *qp = xv_object_alloc(to_ctx(ctx), sizeof(*qp), qp_release, "create QP");

	if (!qp) {
		*err = -ENOMEM;
		return NULL;
	}
	qp->ctx = to_ctx(ctx);
	qp->pub.context = ctx;
	qp->init = *a;
	qp->pub.rsc.type = XV_RSC_QP;
	qp->pub.rsc.user_index = XV_RSC_NO_INDEX;
	qp->pub.qp_type = a->qp_type;
	qp->pub.qp_context = a->qp_context;
	qp->pub.send_cq = a->send_cq;
	qp->pub.recv_cq = a->recv_cq;
	qp->pub.srq = a->srq;
	qp->pub.sq.fm_ce_se = a->sq_sig_all ? __XV_FM_CE_SE(MLX5R_CE_ALWAYS) : 0;
	qp->pub.sq.flags = qp->pub.rq.flags = a->flags;
	qp->pub.send_refused = xv_send_refused;
	qp->pub.recv_refused = xv_recv_refused;
	qp->mem.external = a->flags & XV_QP_EXTERNAL_DATAPATH;
	qp->pub.sq.lock.on = qp->pub.rq.lock.on = !(a->flags & XV_QP_SINGLE_THREADED);
	xv_events_init(&qp->events);
	pthread_mutex_init(&qp->state_lock, NULL);
	*err = xv_rsc_add(qp->ctx, &qp->pub.rsc, "create QP");
	if (*err) {
		xv_object_free(qp);
		return NULL;
	}
	return qp;
}

enum {
	KNOWN_FLAGS = XV_QP_SINGLE_THREADED | XV_QP_EXTERNAL_DATAPATH | XV_QP_CROSS_CHANNEL |
		      XV_QP_MANAGED_SEND | XV_QP_MANAGED_RECV | XV_QP_IGNORE_SQ_OVERFLOW |
		      XV_QP_IGNORE_RQ_OVERFLOW | XV_QP_RECV_IN_RESET,
};

_Static_assert(KNOWN_FLAGS >> __XV_BF_SHIFT == 0, "the bytes of a buffer have these bits");

XV_EXPORT struct xv_qp *xv_create_qp_sz(struct xv_pd *pd, struct xv_qp_init_attr *attr, size_t size)
{
	struct xv_qp_init_attr a;
	struct qp *qp;
	int err;

	err = xv_attr_in(&a, sizeof(a), attr, size, "create QP");
	if (!err && a.reserved)
		err = xv_set_error(EINVAL, "create QP: reserved is not zero");
	if (!err && a.flags & ~(uint32_t)KNOWN_FLAGS)
		err = xv_set_error(EOPNOTSUPP, "create QP: flags: unknown bit in 0x%x", a.flags);
	qp = err ? NULL : qp_new(pd->context, &a, &err);
	if (!qp)
		goto err;
	qp->pub.pd = pd;
	err = qp_create(qp, pd, &a);
	if (err)
		goto err_qp;
	xv_object_add(qp, qp->pub.handle);
	attr->cap = qp->init.cap;
	if (size >= offsetof(struct xv_qp_init_attr, reserved)) {
		attr->max_atomic_arg = qp->init.max_atomic_arg;
		attr->max_inl_recv = qp->init.max_inl_recv;
		attr->max_inl_resp = qp->init.max_inl_resp;
	}
	return &qp->pub;

err_qp:
	xv_object_free(qp);
err:
	errno = -err;
	return NULL;
}

XV_EXPORT struct xv_qp *xv_open_qp_sz(struct xv_context *ctx, const struct xv_qp_open_attr *attr,
				      size_t size)
{
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_XRC_RECV };
	struct xverbs_qp_open req = { 0 };
	struct xv_qp_open_attr a;
	struct xv_qp_attr state;
	struct qp *qp = NULL;
	int err;

	err = xv_attr_in(&a, sizeof(a), attr, size, "open QP");
	if (!err) {
		init.qp_context = a.qp_context;
		init.xrcd = a.xrcd;
		qp = qp_new(ctx, &init, &err);
	}
	if (!qp)
		goto err;
	req.xrcd = a.xrcd ? a.xrcd->handle : 0;
	req.qpn = a.qp_num;
	req.user_data = (uintptr_t)qp;
	err = XV_CHECK_USED(qp->ctx, "open QP", a.xrcd);
	if (!err)
		err = xv_ioctl(ctx, XVERBS_QP_OPEN, "open QP", &req, sizeof(req));
	if (err)
		goto err_qp;
	qp->pub.handle = req.out_handle;
	qp->pub.qp_num = a.qp_num;
	err = xv_query_qp(&qp->pub, &state, XV_QP_STATE, NULL);
	if (!err) {
		xv_object_add(qp, qp->pub.handle);
		return &qp->pub;
	}
	xv_destroy_handle(qp->ctx, qp->pub.handle, "open QP", NULL);

err_qp:
	xv_object_free(qp);
err:
	errno = -err;
	return NULL;
}

/* Only a program with XV_DP_DEBUG sets the builder.  It stops here, as at its other mistakes. */
static void check_committed(const struct xv_qp *pub)
{
	const char *what = pub->sq.builder ? "sends" : "receives";

	if (!pub->sq.builder && !pub->rq.builder)
		return;
	fprintf(stderr, "xverbs: destroy QP 0x%x: %s are not committed\n", pub->qp_num, what);
	__builtin_trap();
}

XV_EXPORT int xv_destroy_qp(struct xv_qp *pub)
{
	struct qp *qp = to_qp(pub);
	struct xverbs_destroy reply;
	int err;

	check_committed(pub);
	err = xv_object_destroy_kernel(qp, "destroy QP", &reply);

	if (err)
		return err;
	drop_completions(pub);
	xv_events_wait(&qp->events, &reply);
	xv_object_free(qp);
	return 0;
}

/* All attributes in the format of the kernel */
struct kernel_attrs {
	struct xverbs_qp_attr qp;
	struct xverbs_ah_attr ah;
	struct xverbs_ah_attr alt_ah;
};

static void attr_to_kernel(struct kernel_attrs *k, const struct xv_qp_attr *a)
{
	k->qp = (struct xverbs_qp_attr) {
		.qp_state = a->qp_state,
		.cur_qp_state = a->cur_qp_state,
		.path_mtu = a->path_mtu,
		.path_mig_state = a->path_mig_state,
		.qkey = a->qkey,
		.rq_psn = a->rq_psn,
		.sq_psn = a->sq_psn,
		.dest_qp_num = a->dest_qp_num,
		.qp_access_flags = a->qp_access_flags,
		.pkey_index = a->pkey_index,
		.alt_pkey_index = a->alt_pkey_index,
		.en_sqd_async_notify = a->en_sqd_async_notify,
		.max_rd_atomic = a->max_rd_atomic,
		.max_dest_rd_atomic = a->max_dest_rd_atomic,
		.min_rnr_timer = a->min_rnr_timer,
		.port_num = a->port_num,
		.timeout = a->timeout,
		.retry_cnt = a->retry_cnt,
		.rnr_retry = a->rnr_retry,
		.alt_port_num = a->alt_port_num,
		.alt_timeout = a->alt_timeout,
		.dct_key = a->dct_key,
		.ece = a->ece,
	};
	xv_ah_attr_to_kernel(&k->ah, &a->ah_attr);
	xv_ah_attr_to_kernel(&k->alt_ah, &a->alt_ah_attr);
}

static void attr_from_kernel(struct xv_qp_attr *a, const struct kernel_attrs *attrs)
{
	const struct xverbs_qp_attr *k = &attrs->qp;

	*a = (struct xv_qp_attr) {
		.qp_state = (enum xv_qp_state)k->qp_state,
		.cur_qp_state = (enum xv_qp_state)k->cur_qp_state,
		.path_mtu = (enum xv_mtu)k->path_mtu,
		.path_mig_state = (enum xv_mig_state)k->path_mig_state,
		.qkey = k->qkey,
		.rq_psn = k->rq_psn,
		.sq_psn = k->sq_psn,
		.dest_qp_num = k->dest_qp_num,
		.qp_access_flags = k->qp_access_flags,
		.pkey_index = k->pkey_index,
		.alt_pkey_index = k->alt_pkey_index,
		.en_sqd_async_notify = k->en_sqd_async_notify,
		.sq_draining = k->sq_draining,
		.max_rd_atomic = k->max_rd_atomic,
		.max_dest_rd_atomic = k->max_dest_rd_atomic,
		.min_rnr_timer = k->min_rnr_timer,
		.port_num = k->port_num,
		.timeout = k->timeout,
		.retry_cnt = k->retry_cnt,
		.rnr_retry = k->rnr_retry,
		.alt_port_num = k->alt_port_num,
		.alt_timeout = k->alt_timeout,
		.dct_key = k->dct_key,
		.ece = k->ece,
	};
	xv_ah_attr_from_kernel(&a->ah_attr, &attrs->ah);
	xv_ah_attr_from_kernel(&a->alt_ah_attr, &attrs->alt_ah);
}

XV_EXPORT int xv_modify_qp_sz(struct xv_qp *pub, const struct xv_qp_attr *attr, unsigned int mask,
			      size_t size)
{
	struct qp *qp = to_qp(pub);
	struct kernel_attrs k;
	struct xverbs_qp_modify req = {
		.qp = qp->pub.handle,
		.attr_mask = mask,
		.attr = XV_PART_OF(&k.qp),
		.ah_attr = XV_PART_OF(&k.ah),
		.alt_ah_attr = XV_PART_OF(&k.alt_ah),
	};
	enum xv_qp_state from;
	struct xv_qp_attr a;
	int err = xv_attr_in(&a, sizeof(a), attr, size, "modify QP");

	if (err)
		return err;
	attr_to_kernel(&k, &a);
	pthread_mutex_lock(&qp->state_lock);
	from = mask & XV_QP_CUR_STATE ? a.cur_qp_state : pub->state;
	err = xv_ioctl(&qp->ctx->pub, XVERBS_QP_MODIFY, "modify QP", &req, sizeof(req));
	if (!err) {
		if (mask & XV_QP_STATE && req.out_state == XV_QPS_RESET)
			reset_queues(pub);
		if (from == XV_QPS_SQE && req.out_state == XV_QPS_RTS)
			restart_sends(&pub->sq);
		set_state(qp, (enum xv_qp_state)req.out_state);
	}
	pthread_mutex_unlock(&qp->state_lock);
	return err;
}

XV_EXPORT int xv_query_qp_sz(struct xv_qp *pub, struct xv_qp_attr *attr, size_t size,
			     unsigned int attr_mask __attribute__((unused)),
			     struct xv_qp_init_attr *init_attr, size_t init_size)
{
	struct qp *qp = to_qp(pub);
	struct kernel_attrs k;
	struct xverbs_qp_query req = {
		.qp = qp->pub.handle,
		.out_attr = XV_PART_OF(&k.qp),
		.out_ah_attr = XV_PART_OF(&k.ah),
		.out_alt_ah_attr = XV_PART_OF(&k.alt_ah),
	};
	struct xv_qp_attr a;
	int err;

	pthread_mutex_lock(&qp->state_lock);
	err = xv_ioctl(&qp->ctx->pub, XVERBS_QP_QUERY, "query QP", &req, sizeof(req));
	if (!err) {
		attr_from_kernel(&a, &k);
		set_state(qp, a.qp_state);
	}
	pthread_mutex_unlock(&qp->state_lock);
	if (err)
		return err;
	a.cap = qp->init.cap;
	xv_attr_out(attr, size, &a, sizeof(a));
	if (init_attr)
		xv_attr_out(init_attr, init_size, &qp->init, sizeof(qp->init));
	return 0;
}
