/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Bridge between libxverbs and libibverbs: import of a context and a protection domain,
 * requests and completions of libibverbs on queues of libxverbs, and the objects behind
 * those of libxverbs-ibverbs.  See xverbs-bridge(7).
 *
 * The inline functions work with any provider of libibverbs and need libxverbs only.  The
 * other functions are in libxverbs-ibverbs.
 */
#ifndef XVERBS_BRIDGE_H
#define XVERBS_BRIDGE_H

#include <infiniband/verbs.h>
#include <xverbs/xverbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Import -------------------------------------------------------------------------- */

/* The caller closes both contexts, this one first. */
static inline struct xv_context *xv_bridge_import_ctx(const struct ibv_context *ctx)
{
	return xv_import_ctx(ctx->cmd_fd);
}

/*
 * ctx is any context for the device of pd.  xv_dealloc_pd() ends the import, and before
 * that ibv_dealloc_pd() returns EBUSY.
 */
static inline struct xv_pd *xv_bridge_import_pd(struct xv_context *ctx, const struct ibv_pd *pd)
{
	return xv_import_pd(ctx, pd->context->cmd_fd, pd->handle);
}

/* ---- Requests and completions of libibverbs -------------------------------------------- */

/*
 * The structures of both libraries have the same layout, except for pointers to objects, but
 * they are different types.  At this point the compiler must assume that any of them changes.
 */
#define __xv_bridge_types(p)	__asm__ volatile("" : "+r"(p) : : "memory")

/*
 * An address handle of libxverbs for ibv_send_wr.wr.ud.ah.  It is only for requests: it must
 * not be passed to libibverbs.
 */
static inline struct ibv_ah *xv_bridge_ah(struct xv_ah *ah)
{
	return (struct ibv_ah *)(void *)ah;
}

static inline struct xv_ah *__xv_bridge_ah_of(struct ibv_ah *ah)
{
	return (struct xv_ah *)(void *)ah;
}

/* A request of libibverbs has no DC target. */
xv_inline int __xv_bridge_possible(const struct xv_qp *qp, const struct ibv_send_wr *wr)
{
	return (unsigned int)wr->opcode <= IBV_WR_SEND_WITH_INV && qp->qp_type != XV_QPT_DCI;
}

/* A request of libxverbs, and the objects to which it points */
struct __xv_bridge_wr {
	struct xv_send_wr wr;
	struct xv_mw mw;
	struct xv_mr mr;
};

static inline void __xv_bridge_convert(const struct xv_qp *qp, const struct ibv_send_wr *wr,
				       struct xv_ah *(*ah_of)(struct ibv_ah *ah),
				       struct __xv_bridge_wr *x)
{
	const unsigned int known = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |
				   IBV_SEND_INLINE;

	__builtin_memset(&x->wr, 0, sizeof(x->wr));
	__builtin_memcpy(&x->wr, wr, sizeof(*wr));
	x->wr.send_flags &= known;
	if (qp->qp_type == XV_QPT_UD)
		x->wr.wr.ud.ah = ah_of(wr->wr.ud.ah);
	if (wr->opcode == IBV_WR_BIND_MW && qp->qp_type != XV_QPT_UD) {
		/* A request needs these members only. */
		x->mw.type = (enum xv_mw_type)wr->bind_mw.mw->type;
		x->mw.rkey = wr->bind_mw.mw->rkey;
		x->wr.bind_mw.mw = &x->mw;
		if (wr->bind_mw.bind_info.mr) {
			x->mr.lkey = wr->bind_mw.bind_info.mr->lkey;
			x->wr.bind_mw.bind_info.mr = &x->mr;
		}
	}
}

/* Any request: those with pointers to objects, and those of unusual shape */
xv_outline int __xv_bridge_post_any(struct xv_qp *qp, const struct ibv_send_wr *wr,
				    struct xv_ah *(*ah_of)(struct ibv_ah *ah))
{
	struct __xv_bridge_wr x;

	if (!__xv_bridge_possible(qp, wr))
		return -XV_EINVAL;
	__xv_bridge_convert(qp, wr, ah_of, &x);
	return xv_wr_general(qp, &x.wr);
}

/* Lets the library store the reason of a refused request. */
xv_outline void __xv_bridge_refuse_send(const struct xv_qp *qp, const struct ibv_send_wr *wr,
					struct xv_ah *(*ah_of)(struct ibv_ah *ah), int err)
{
	struct __xv_bridge_wr x;

	if (__xv_bridge_possible(qp, wr)) {
		__xv_bridge_convert(qp, wr, ah_of, &x);
		__xv_send_refuse(qp, &x.wr, err);
	} else if (xv_dp_refused) {
		xv_dp_refused(XV_EINVAL,
			      "post send: opcode %d of libibverbs is not possible on this type %d",
			      (int)wr->opcode, (int)qp->qp_type);
	}
}

xv_inline const struct xv_sge *__xv_bridge_sge(const struct ibv_send_wr *wr)
{
	return (const struct xv_sge *)(const void *)wr->sg_list;
}

/* RC with one element of data that is not inline */
xv_inline int __xv_bridge_post_rc(struct xv_qp *qp, const struct ibv_send_wr *wr,
				  unsigned int flags, struct xv_ah *(*ah_of)(struct ibv_ah *ah))
{
	if (wr->opcode == IBV_WR_RDMA_WRITE)
		return xv_wr_write(qp, wr->wr_id, flags, __xv_bridge_sge(wr),
				   wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	if (wr->opcode == IBV_WR_SEND)
		return xv_wr_send(qp, wr->wr_id, flags, __xv_bridge_sge(wr));
	return __xv_bridge_post_any(qp, wr, ah_of);
}

xv_inline int __xv_bridge_post_ud(struct xv_qp *qp, const struct ibv_send_wr *wr,
				  unsigned int flags, struct xv_ah *(*ah_of)(struct ibv_ah *ah))
{
	if (wr->opcode == IBV_WR_SEND)
		return xv_wr_send_ud(qp, wr->wr_id, flags, __xv_bridge_sge(wr),
				     ah_of(wr->wr.ud.ah), wr->wr.ud.remote_qpn,
				     wr->wr.ud.remote_qkey);
	return __xv_bridge_post_any(qp, wr, ah_of);
}

/* Common requests go to a builder, so that opcode and shape are constants. */
xv_inline int __xv_bridge_post_one(struct xv_qp *qp, const struct ibv_send_wr *wr,
				   struct xv_ah *(*ah_of)(struct ibv_ah *ah))
{
	const unsigned int plain = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;

	if (xv_unlikely(wr->num_sge != 1 || wr->send_flags & ~plain || !wr->sg_list->length))
		return __xv_bridge_post_any(qp, wr, ah_of);
	/* Only these flags can be set here, so the compiler drops the code for the others. */
	if (xv_likely(qp->qp_type == XV_QPT_RC))
		return __xv_bridge_post_rc(qp, wr, wr->send_flags & plain, ah_of);
	if (qp->qp_type == XV_QPT_UD)
		return __xv_bridge_post_ud(qp, wr, wr->send_flags & plain, ah_of);
	return __xv_bridge_post_any(qp, wr, ah_of);
}

/* Ends a list at the request that was refused.  bad_wr may be null. */
xv_outline int __xv_bridge_stop(struct xv_qp *qp, uint32_t start, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr,
				struct xv_ah *(*ah_of)(struct ibv_ah *ah), int err)
{
	__xv_bridge_refuse_send(qp, wr, ah_of, err);
	if (qp->sq.pi != start)
		xv_commit_send(qp);
	xv_unlock(&qp->sq.lock);
	if (bad_wr)
		*bad_wr = wr;
	return err;
}

/* ah_of returns the address handle of libxverbs for that of a request. */
xv_inline int __xv_bridge_post_list(struct xv_qp *qp, struct ibv_send_wr *wr,
				    struct ibv_send_wr **bad_wr,
				    struct xv_ah *(*ah_of)(struct ibv_ah *ah))
{
	uint32_t start;
	int err;

	__xv_bridge_types(wr);
	xv_lock(&qp->sq.lock);
	start = qp->sq.pi;
	for (; wr; wr = wr->next) {
		err = __xv_bridge_post_one(qp, wr, ah_of);
		if (xv_unlikely(err))
			return __xv_bridge_stop(qp, start, wr, bad_wr, ah_of, err);
	}
	if (xv_likely(qp->sq.pi != start))
		xv_commit_send(qp);
	xv_unlock(&qp->sq.lock);
	return 0;
}

/* Results as xv_post_send(); bad_wr may be null, also below. */
static inline int xv_bridge_post_send(struct xv_qp *qp, struct ibv_send_wr *wr,
				      struct ibv_send_wr **bad_wr)
{
	return __xv_bridge_post_list(qp, wr, bad_wr, __xv_bridge_ah_of);
}

xv_outline int __xv_bridge_refuse_recv(struct xv_recv_wr *bad, struct ibv_recv_wr **bad_wr, int err)
{
	if (bad_wr)
		*bad_wr = (struct ibv_recv_wr *)(void *)bad;
	return err;
}

static inline int xv_bridge_post_recv(struct xv_qp *qp, struct ibv_recv_wr *wr,
				      struct ibv_recv_wr **bad_wr)
{
	struct xv_recv_wr *bad = NULL;
	int err;

	__xv_bridge_types(wr);
	err = xv_post_recv(qp, (struct xv_recv_wr *)(void *)wr, &bad);
	return xv_unlikely(err) ? __xv_bridge_refuse_recv(bad, bad_wr, err) : 0;
}

static inline int xv_bridge_post_srq_recv(struct xv_srq *srq, struct ibv_recv_wr *wr,
					  struct ibv_recv_wr **bad_wr)
{
	struct xv_recv_wr *bad = NULL;
	int err;

	__xv_bridge_types(wr);
	err = xv_post_srq_recv(srq, (struct xv_recv_wr *)(void *)wr, &bad);
	return xv_unlikely(err) ? __xv_bridge_refuse_recv(bad, bad_wr, err) : 0;
}

/* Returns the number of completions, as xv_poll_cq() */
static inline int xv_bridge_poll_cq(struct xv_cq *cq, int n, struct ibv_wc *wc)
{
	int got;

	__xv_bridge_types(wc);
	got = xv_poll_cq(cq, n, (struct xv_wc *)(void *)wc);
	__xv_bridge_types(wc);
	return got;
}

/* ---- Objects of libxverbs-ibverbs ------------------------------------------------------- */

/*
 * The object of libxverbs behind an object of libxverbs-ibverbs.  It lives as long as that
 * object, and only the functions of libibverbs may destroy it.  NULL with errno EINVAL for an
 * object of another provider.
 */
struct xv_context *xv_bridge_get_ctx(struct ibv_context *ctx);
struct xv_pd *xv_bridge_get_pd(struct ibv_pd *pd);
struct xv_cq *xv_bridge_get_cq(struct ibv_cq *cq);
struct xv_qp *xv_bridge_get_qp(struct ibv_qp *qp);
struct xv_srq *xv_bridge_get_srq(struct ibv_srq *srq);
struct xv_ah *xv_bridge_get_ah(struct ibv_ah *ah);
struct xv_mr *xv_bridge_get_mr(struct ibv_mr *mr);

/* The key of the result is that of mw at the call. */
struct xv_mw *xv_bridge_get_mw(struct ibv_mw *mw);

/*
 * The object of libxverbs-ibverbs for an object of libxverbs, which the caller keeps.
 * ibv_dealloc_pd() and ibv_close_device() free only what these functions allocated.  Order:
 * objects made with libibverbs, ibv_dealloc_pd(), ibv_close_device(), xv_dealloc_pd(),
 * xv_close().
 */
struct ibv_context *xv_bridge_wrap_ctx(struct xv_context *ctx);
struct ibv_pd *xv_bridge_wrap_pd(struct ibv_context *ctx, struct xv_pd *pd);

#ifdef __cplusplus
}
#endif

#endif
