// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs: creation, attributes, states.
 */
#include <infiniband/mlx5dv.h>
#include <rdma/xverbs.h>
#include "ibv.h"

/* The attributes that both structures have at the same offsets; see layout.c */
#define SAME_ATTR_SIZE	(offsetof(struct ibv_qp_attr, alt_timeout) + 1)

/* 0, or EINVAL or EOPNOTSUPP */
static int check_type(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return 0;
	case IBV_QPT_RAW_PACKET:
	case IBV_QPT_DRIVER:
		return EOPNOTSUPP;
	default:
		return (int)type == (int)XV_QPT_DCI ? 0 : EINVAL;
	}
}

static void take_cap(struct ibv_qp_cap *to, const struct xv_qp_cap *from)
{
	to->max_send_wr = from->max_send_wr;
	to->max_recv_wr = from->max_recv_wr;
	to->max_send_sge = from->max_send_sge;
	to->max_recv_sge = from->max_recv_sge;
	to->max_inline_data = from->max_inline_data;
}

/*
 * libibverbs ignores the attributes of a queue that the queue pair does not have.  What libibverbs
 * does not know stays in *x.  False: a queue is of another provider.
 */
static bool give_attr(struct xv_qp_init_attr *x, const struct ibv_qp_init_attr *a, struct qp *qp)
{
	bool sends = a->qp_type != IBV_QPT_XRC_RECV;
	bool receives = sends && a->qp_type != IBV_QPT_XRC_SEND &&
			(int)a->qp_type != (int)XV_QPT_DCI;

	x->qp_context = qp;
	x->qp_type = (enum xv_qp_type)a->qp_type;
	x->sq_sig_all = a->sq_sig_all;
	if (sends) {
		x->send_cq = a->send_cq ? xv_bridge_get_cq(a->send_cq) : NULL;
		if (a->send_cq && !x->send_cq)
			return false;
		x->cap.max_send_wr = a->cap.max_send_wr;
		x->cap.max_send_sge = a->cap.max_send_sge;
		x->cap.max_inline_data = a->cap.max_inline_data;
	}
	if (receives) {
		x->recv_cq = a->recv_cq ? xv_bridge_get_cq(a->recv_cq) : NULL;
		x->srq = a->srq ? xv_bridge_get_srq(a->srq) : NULL;
		if ((a->recv_cq && !x->recv_cq) || (a->srq && !x->srq))
			return false;
	}
	if (receives && !a->srq) {
		x->cap.max_recv_wr = a->cap.max_recv_wr;
		x->cap.max_recv_sge = a->cap.max_recv_sge;
	}
	return true;
}

static void fill(struct qp *qp, struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_qp *pub = &qp->pub.qp_base;

	pub->context = ctx;
	pub->qp_context = qp->init.qp_context;
	pub->pd = pd;
	pub->send_cq = qp->init.send_cq;
	pub->recv_cq = qp->init.recv_cq;
	pub->srq = qp->init.srq;
	pub->handle = qp->xv->handle;
	pub->qp_num = qp->xv->qp_num;
	pub->state = (enum ibv_qp_state)qp->xv->state;
	pub->qp_type = qp->init.qp_type;
}

/* The receive queue is before the send queue. */
static size_t ring_bytes(const struct xv_qp *xv)
{
	if (!xv->sq.buf)
		return xv->rq.buf ? ((size_t)xv->rq.mask + 1) << xv->rq.log_stride : 0;
	return (size_t)(xv->sq.buf_end - (xv->rq.buf ? xv->rq.buf : xv->sq.buf));
}

/* The kernel chooses the ring size.  To learn it, creates a queue in kernel memory first. */
static int get_memory(struct qp *qp, struct xv_pd *pd, struct xv_qp_init_attr *x)
{
	struct xv_qp_init_attr first = *x;
	struct xv_qp *xv;
	size_t bytes;

	if (!iv_memory_is_ours(&qp->memory))
		return 0;
	xv = xv_create_qp(pd, &first);
	if (!xv) {
		iv_null();
		return -1;
	}
	bytes = ring_bytes(xv);
	return iv_result(xv_destroy_qp(xv)) ? -1 :
	       iv_memory_get(&qp->memory, MLX5DV_RES_TYPE_QP, bytes, &x->external);
}

static void qp_free(struct qp *qp)
{
	struct membership *m;

	while ((m = qp->groups)) {
		qp->groups = m->next;
		free(m);
	}
	iv_memory_put(&qp->memory);
	free(qp->sge);
	free(qp->inline_data);
	free(qp);
}

EXPORT struct ibv_qp *iv_qp_new(struct ibv_context *ctx, struct ibv_pd *pd,
				struct ibv_qp_init_attr *a, struct ibv_xrcd *xrcd,
				struct xv_qp_init_attr *x)
{
	int err = check_type(a->qp_type);
	struct xv_pd *xpd;
	struct qp *qp;

	if (err)
		return iv_refuse(err, "create QP: type: ");
	if (!xv_bridge_get_ctx(xrcd ? xrcd->context : pd->context))
		return NULL;
	if (xv_of(xrcd ? xrcd->context : pd->context) != xv_of(ctx))
		return iv_refuse(EINVAL, "create QP: pd or xrcd of another context: ");
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	iv_memory_init(&qp->memory, pd);
	if (!give_attr(x, a, qp))
		goto err;
	if (xrcd)
		x->xrcd = TO(xrcd, xrcd)->xv;
	else if (pd_single_threaded(pd))
		x->flags |= XV_QP_SINGLE_THREADED;
	xpd = xrcd ? TO(xrcd, xrcd)->pd : TO(pd, pd)->xv;
	if (get_memory(qp, xpd, x))
		goto err;
	qp->xv = xv_create_qp(xpd, x);
	if (!qp->xv) {
		iv_null();
		goto err;
	}
	take_cap(&a->cap, &x->cap);
	qp->init = *a;
	fill(qp, ctx, pd);
	return &qp->pub.qp_base;

err:
	qp_free(qp);
	return NULL;
}

/*
 * The size of a send queue, as libmlx5 calculates it.  It has room for max_send_wr requests of the
 * longest kind, and takes no more than their number, however short they are.
 */
struct send_size {
	uint32_t requests;
	uint32_t blocks;
	uint32_t inline_data;
	uint32_t longest;	/* data of a request, whose length is counted in six bits */
};

enum {
	CTRL = sizeof(struct mlx5r_ctrl), RADDR = sizeof(struct mlx5r_raddr),
	ATOMIC = sizeof(struct mlx5r_atomic), DATA = MLX5R_DS, BLOCK = MLX5R_WQEBB,
	BIND = 3 * BLOCK,	/* binds a window, or invalidates its key */
	MAX_REQUEST = MLX5R_MAX_DS * MLX5R_DS,
	MAX_SIZE = 1024,	/* that libmlx5 calculates with */
};

/* Bytes of the longest request without its data */
static uint32_t header_bytes(enum ibv_qp_type type, uint64_t ops)
{
	const uint64_t rdma = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			      IBV_QP_EX_WITH_RDMA_READ;
	const uint64_t atomics = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	const uint64_t binds = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	uint32_t address = type == IBV_QPT_UD ? sizeof(struct mlx5r_av) :
			   type == IBV_QPT_XRC_SEND ? sizeof(struct mlx5r_xrc) : 0;

	if (ops & binds)
		return address + BIND;
	if (ops & atomics)
		return address + CTRL + RADDR + ATOMIC;
	return address + CTRL + (ops & rdma ? RADDR : 0);
}

static uint64_t align_to(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* An inline segment begins with 4 bytes. */
static int size_sends(struct xv_context *ctx, const struct ibv_qp_init_attr *a, uint64_t ops,
		      struct send_size *size)
{
	const uint64_t binds = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	uint32_t header = header_bytes(a->qp_type, ops);
	const struct ibv_qp_cap *cap = &a->cap;
	uint64_t data = (uint64_t)cap->max_send_sge * DATA, request, ring = BLOCK;
	struct xv_device_attr dev;
	int err = xv_query_device(ctx, &dev);

	if (err)
		return iv_result(err);
	if (cap->max_inline_data && align_to(4ull + cap->max_inline_data, DATA) > data)
		data = align_to(4ull + cap->max_inline_data, DATA);
	if (header + data > MAX_SIZE)
		return EINVAL;
	/* A bind has no data. */
	size->longest = MAX_REQUEST - header_bytes(a->qp_type, ops & ~binds);
	request = align_to(header + data, BLOCK);
	while (ring < cap->max_send_wr * request)
		ring *= 2;
	if (ring / BLOCK > dev.max_sq_wqebbs)
		return EINVAL;
	size->blocks = (uint32_t)(ring / BLOCK);
	size->requests = (uint32_t)(ring / request);
	size->inline_data = request < header + 4 ? 0 : (uint32_t)request - header - 4;
	return 0;
}

/* What libmlx5 or the kernel refuses, although xverbs does not use it */
static bool bad_receives(struct xv_context *ctx, const struct ibv_qp_init_attr *a)
{
	struct xv_device_attr dev;

	if (a->qp_type == IBV_QPT_XRC_SEND)
		return a->cap.max_recv_wr || a->srq;
	return a->srq && (xv_query_device(ctx, &dev) || a->cap.max_recv_wr > dev.max_qp_wr);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* A queue without requests keeps the other sizes that the program asked for, until a query. */
static void take_send_size(struct qp *qp, struct ibv_qp_cap *cap, const struct ibv_qp_cap *asked,
			   const struct send_size *size)
{
	struct xv_sq *sq = &qp->xv->sq;

	cap->max_send_wr = size->requests;
	cap->max_send_sge = asked->max_send_sge;
	cap->max_inline_data = size->requests ? size->inline_data : asked->max_inline_data;
	sq->max_sge = lesser(cap->max_send_sge, size->longest / DATA);
	sq->max_inline = lesser(cap->max_inline_data, size->longest - 4);
	qp->sends.max = size->requests;
	qp->init.cap = *cap;
	if (!size->requests)
		qp->init.cap.max_send_sge = qp->init.cap.max_inline_data = 0;
}

/* A queue pair that sends: the kernel gets the number of blocks, as requests of one block each. */
static struct ibv_qp *create_sender(struct ibv_context *ctx, struct ibv_pd *pd,
				    struct ibv_qp_init_attr *a, uint64_t ops)
{
	/* The shortest request of XRC has two blocks, for an atomic. */
	const uint32_t blocks = a->qp_type == IBV_QPT_XRC_SEND ? 2 : 1;
	struct ibv_qp_cap asked = a->cap;
	struct xv_qp_init_attr x = { .flags = 0 };
	struct send_size size = { .longest = 4 };
	struct ibv_qp *qp;
	int err = check_type(a->qp_type);

	if (!err && asked.max_send_wr)
		err = size_sends(xv_of(ctx), a, ops, &size);
	if (!err && bad_receives(xv_of(ctx), a))
		err = EINVAL;
	if (err)
		return iv_refuse(err, "create QP: type or sizes: ");
	a->cap.max_send_wr = (size.blocks + blocks - 1) / blocks;
	a->cap.max_send_sge = a->cap.max_inline_data = 0;
	qp = iv_qp_new(ctx, pd, a, NULL, &x);
	if (qp)
		take_send_size(TO(qp, qp), &a->cap, &asked, &size);
	else
		a->cap = asked;
	return qp;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (attr->qp_type == IBV_QPT_XRC_RECV || (int)attr->qp_type == (int)XV_QPT_DCI)
		return iv_refuse(EINVAL, "create QP: type: ");
	return create_sender(pd->context, pd, attr, iv_wr_ops(attr->qp_type));
}

/* libmlx5 and the kernel know some flags, which xverbs does not have, for datagrams only. */
static int check_flags(const struct ibv_qp_init_attr_ex *a)
{
	const uint32_t of_datagrams = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB |
				      IBV_QP_CREATE_SOURCE_QPN |
				      IBV_QP_CREATE_PCI_WRITE_END_PADDING;

	if (!(a->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) || !a->create_flags)
		return 0;
	return a->qp_type != IBV_QPT_UD || a->create_flags & ~of_datagrams ? EINVAL : EOPNOTSUPP;
}

struct ibv_qp *iv_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *a)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
			       IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	bool extended = a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	uint64_t ops = extended ? a->send_ops_flags : iv_wr_ops(a->qp_type);
	bool xrc_recv = a->qp_type == IBV_QPT_XRC_RECV;
	struct xv_qp_init_attr x = { .flags = 0 };
	struct ibv_qp *qp;
	int err = check_flags(a);

	if (a->comp_mask & ~known || ops & ~iv_wr_ops(a->qp_type))
		err = EOPNOTSUPP;
	if (err)
		return iv_refuse(err, "create QP: comp_mask, flags or operations: ");
	if (!(a->comp_mask & (xrc_recv ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD)) ||
	    !(xrc_recv ? (void *)a->xrcd : (void *)a->pd))
		return iv_refuse(EINVAL, "create QP: pd or xrcd: ");
	qp = xrc_recv ? iv_qp_new(ctx, NULL, (struct ibv_qp_init_attr *)a, a->xrcd, &x) :
			create_sender(ctx, a->pd, (struct ibv_qp_init_attr *)a, ops);
	if (!qp)
		return NULL;
	err = extended ? iv_wr_init(TO(qp, qp)) : 0;
	if (err) {
		ibv_destroy_qp(qp);
		errno = err;
		return NULL;
	}
	return qp;
}

struct ibv_qp *iv_open_qp(struct ibv_context *ctx, struct ibv_qp_open_attr *a)
{
	const uint32_t needed = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
				IBV_QP_OPEN_ATTR_TYPE;
	struct xv_qp_open_attr x = { .qp_num = a->qp_num };
	struct qp *qp;

	if (~a->comp_mask & needed || a->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED ||
	    a->qp_type != IBV_QPT_XRC_RECV || !a->xrcd)
		return iv_refuse(EINVAL, "open QP: number, type or xrcd: ");
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	x.xrcd = TO(xrcd, a->xrcd)->xv;
	x.qp_context = qp;
	qp->xv = xv_open_qp(xv_of(ctx), &x);
	if (!qp->xv) {
		int err = errno == ENOENT ? EINVAL : errno;

		free(qp);
		iv_null();
		errno = err;
		return NULL;
	}
	qp->init.qp_type = a->qp_type;
	if (a->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT)
		qp->init.qp_context = a->qp_context;
	fill(qp, ctx, NULL);
	return &qp->pub.qp_base;
}

EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return TO(qp, qp)->extended ? &TO(qp, qp)->pub : NULL;
}

/* The kernel's ib_uverbs ignores attributes that half of an XRC connection does not have. */
static unsigned int attr_mask(enum ibv_qp_type type, int mask)
{
	if (type == IBV_QPT_XRC_SEND)
		mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (type == IBV_QPT_XRC_RECV)
		mask &= ~(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
	return (unsigned int)mask;
}

/* mlx5_ib looks at these bits only. */
static void drop_bits(struct xv_qp_attr *x)
{
	x->qp_access_flags &= (unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	x->rq_psn &= 0xffffff;
	x->sq_psn &= 0xffffff;
	x->dest_qp_num &= 0xffffff;
	x->min_rnr_timer &= 0x1f;
	x->timeout &= 0x1f;
	x->alt_timeout &= 0x1f;
	x->retry_cnt &= 7;
	x->rnr_retry &= 7;
	iv_ah_attr(&x->ah_attr);
	iv_ah_attr(&x->alt_ah_attr);
}

/* Does this transition negotiate ECE, as xv_modify_qp(3) says? */
static bool negotiates(enum ibv_qp_state from, enum ibv_qp_state to)
{
	return from <= IBV_QPS_RTS && to >= IBV_QPS_INIT && to <= IBV_QPS_RTS;
}

/* The error number for ENOENT */
static int modify_error(struct ibv_context *ctx, const struct ibv_qp_attr *attr, int mask)
{
	int err = 0;

	if (mask & IBV_QP_AV)
		err = iv_address_error(ctx, &attr->ah_attr);
	if (!err && mask & IBV_QP_ALT_PATH)
		err = iv_address_error(ctx, &attr->alt_ah_attr);
	return err ? err : EINVAL;
}

EXPORT int ibv_modify_qp(struct ibv_qp *pub, struct ibv_qp_attr *attr, int mask)
{
	struct qp *qp = TO(qp, pub);
	struct xv_qp_attr x = { .ece = qp->ece };
	unsigned int xv_mask = attr_mask(pub->qp_type, mask);
	int err;

	if (mask & ~(IBV_QP_DEST_QPN * 2 - 1))
		return iv_fail(EOPNOTSUPP);
	if (pub->state == IBV_QPS_RESET && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR)
		return iv_fail(EINVAL);
	if ((mask & IBV_QP_AV && !attr->ah_attr.port_num) ||
	    (mask & IBV_QP_ALT_PATH && !attr->alt_ah_attr.port_num))
		return iv_fail(EINVAL);
	memcpy(&x, attr, SAME_ATTR_SIZE);
	drop_bits(&x);
	if (qp->ece_set && mask & IBV_QP_STATE && negotiates(pub->state, attr->qp_state))
		xv_mask |= XV_QP_ECE;
	err = xv_modify_qp(qp->xv, &x, xv_mask);
	if (!err && xv_mask & XV_QP_ECE)
		qp->ece_set = false;
	pub->state = (enum ibv_qp_state)qp->xv->state;
	if (pub->state == IBV_QPS_RESET)
		qp->sends.posted = qp->sends.retired = qp->sends.block = 0;
	return err == -ENOENT ? iv_fail(modify_error(pub->context, attr, mask)) : iv_result(err);
}

EXPORT int ibv_query_qp(struct ibv_qp *pub, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init)
{
	struct qp *qp = TO(qp, pub);
	struct xv_qp_attr x;
	int err;

	if (mask & ~(IBV_QP_RATE_LIMIT - 1))
		return iv_fail(EOPNOTSUPP);
	err = xv_query_qp(qp->xv, &x, (unsigned int)mask, NULL);
	if (err)
		return iv_result(err);
	memset(attr, 0, sizeof(*attr));
	memcpy(attr, &x, SAME_ATTR_SIZE);
	attr->cap = qp->init.cap;
	if (mask & IBV_QP_STATE)
		pub->state = attr->qp_state;
	*init = qp->init;
	return 0;
}

EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp;
	(void)op;
	(void)flags;
	return 0;
}

/*
 * Enhanced connection establishment (ECE).  As in libmlx5, ibv_set_ece() stores the options, and
 * the next transition sends them to the adapter.  Until then ibv_query_ece() returns 0.
 */
#define ECE_VENDOR	0x15b3		/* PCI vendor of the adapters, as libmlx5 reports it */

EXPORT int ibv_query_ece(struct ibv_qp *pub, struct ibv_ece *ece)
{
	struct qp *qp = TO(qp, pub);
	struct xv_qp_attr x = { .ece = 0 };
	int err = qp->ece_set ? 0 : xv_query_qp(qp->xv, &x, XV_QP_ECE, NULL);

	if (err)
		return iv_result(err);
	*ece = (struct ibv_ece) { .vendor_id = ECE_VENDOR, .options = x.ece };
	return 0;
}

EXPORT int ibv_set_ece(struct ibv_qp *pub, struct ibv_ece *ece)
{
	struct qp *qp = TO(qp, pub);

	if (ece->vendor_id && (ece->comp_mask || ece->vendor_id != ECE_VENDOR))
		return errno = EINVAL;
	if (!ece->vendor_id || xv_has_feature(xv_of(pub->context), XVERBS_FEATURE_ECE) <= 0)
		return errno = EOPNOTSUPP;
	qp->ece = ece->options;
	qp->ece_set = true;
	return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *pub)
{
	struct qp *qp = TO(qp, pub);
	int err;

	/* A device that was removed has no groups any more. */
	if (qp->groups && !xv_device_removed(xv_of(pub->context)))
		return iv_fail(EBUSY);
	err = xv_destroy_qp(qp->xv);
	if (err)
		return iv_result(err);
	qp_free(qp);
	return 0;
}
