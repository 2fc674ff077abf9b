// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Submitting tasks: checks of the buffers, and requests for the device.  The common case, a
 * message or an RDMA operation of one buffer on RC, has a path of its own.
 */
#include "rdma.h"

/* Refused before it is posted: the argument or the state of the connection */
static doca_error_t refuse(const struct doca_rdma *rdma, const struct doca_rdma_connection *conn)
{
	if (!conn || conn->rdma != rdma)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_ERROR_BAD_STATE;
}

static inline bool usable(const struct doca_rdma *rdma, const struct doca_rdma_connection *conn)
{
	return conn && conn->rdma == rdma && conn->state == XVD_RDMA_CONNECTED;
}

/* Most maps have one device. */
static inline const struct xvd_mmap_dev *keys_of(const struct doca_rdma *rdma,
						 const struct doca_buf *buf)
{
	const struct xvd_mmap_dev *first = buf->mmap->devs;

	if (xv_likely(first && first->dev == rdma->ctx.dev))
		return first;
	return xvd_buf_dev(buf, rdma->ctx.dev);
}

/* DOCA wants the permission to write also of buffers that a task only reads. */
static inline doca_error_t local_key(const struct doca_rdma *rdma, const struct doca_buf *buf,
				     uint32_t *lkey)
{
	const struct xvd_mmap_dev *keys = keys_of(rdma, buf);

	if (xv_unlikely(!keys || buf->mmap->remote))
		return DOCA_ERROR_INVALID_VALUE;
	if (xv_unlikely(!(buf->mmap->permissions & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE)))
		return DOCA_ERROR_NOT_PERMITTED;
	*lkey = keys->lkey;
	return DOCA_SUCCESS;
}

/* A remote buffer is not a list. */
static inline doca_error_t remote_key(const struct doca_rdma *rdma, const struct doca_buf *buf,
				      uint32_t *rkey)
{
	const struct xvd_mmap_dev *keys = keys_of(rdma, buf);

	if (xv_unlikely(!keys || buf->next))
		return DOCA_ERROR_INVALID_VALUE;
	*rkey = keys->rkey;
	return DOCA_SUCCESS;
}

/* ---- Doorbells --------------------------------------------------------------------------- */

static void mark_dirty(struct doca_rdma *rdma, struct doca_rdma_connection *conn)
{
	if (conn->dirty)
		return;
	conn->dirty = true;
	conn->next_dirty = rdma->dirty;
	rdma->dirty = conn;
}

void xvd_rdma_flush(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = xvd_rdma_of(ctx);
	struct doca_rdma_connection *conn;

	for (conn = rdma->dirty; conn; conn = conn->next_dirty) {
		conn->dirty = false;
		xv_commit_send(conn->qp);
	}
	rdma->dirty = NULL;
}

static __attribute__((noinline)) doca_error_t post_error(int err)
{
	return err == -XV_ENOMEM ? DOCA_ERROR_AGAIN : xvd_error(err);
}

/* The doorbell of this connection waits for others, or others wait, too. */
static __attribute__((noinline))
doca_error_t post_later(struct doca_rdma *rdma, struct doca_rdma_connection *conn, uint32_t flags)
{
	mark_dirty(rdma, conn);
	if (flags & DOCA_TASK_SUBMIT_FLAG_FLUSH)
		xvd_rdma_flush(&rdma->ctx);
	return DOCA_SUCCESS;
}

/* err: of the builder */
static inline doca_error_t posted(struct doca_rdma *rdma, struct doca_rdma_connection *conn,
				  uint32_t flags, int err)
{
	if (xv_unlikely(err))
		return post_error(err);
	if (xv_likely(flags & DOCA_TASK_SUBMIT_FLAG_FLUSH && !rdma->dirty)) {
		xv_commit_send(conn->qp);
		return DOCA_SUCCESS;
	}
	return post_later(rdma, conn, flags);
}

static inline unsigned int send_flags(uint32_t flags)
{
	return flags & DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS ? 0 : XV_SEND_SIGNALED;
}

/* ---- Lists, DC, atomics ------------------------------------------------------------------ */

/* A request on its way to xv_wr_general() */
struct request {
	struct xv_send_wr wr;
	struct xv_sge sge[XVD_RDMA_MAX_SGE];
};

static size_t list_space(const struct doca_buf *buf)
{
	size_t n = 0;

	for (; buf; buf = buf->next)
		n += xvd_buf_tailroom(buf);
	return n;
}

/*
 * Adds the data of the list, or the space behind them, bytes in all.  max: length of the list;
 * *num: elements that sge has.
 */
static doca_error_t gather(const struct doca_rdma *rdma, const struct doca_buf *buf, bool into,
			   size_t bytes, uint32_t max, struct xv_sge *sge, uint32_t *num)
{
	doca_error_t result;
	size_t part;

	for (*num = 0; buf; buf = buf->next) {
		struct xv_sge *e = &sge[*num];

		if (*num == max)
			return DOCA_ERROR_INVALID_VALUE;
		result = local_key(rdma, buf, &e->lkey);
		if (result != DOCA_SUCCESS)
			return result;
		part = into ? xvd_buf_tailroom(buf) : buf->data_len;
		part = part < bytes ? part : bytes;
		e->addr = (uintptr_t)(into ? xvd_buf_tail(buf) : buf->data);
		e->length = (uint32_t)part;
		bytes -= part;
		(*num)++;
	}
	return DOCA_SUCCESS;
}

static doca_error_t post(struct doca_rdma *rdma, struct xvd_rdma_task *t, uint32_t flags,
			 struct request *r)
{
	struct doca_rdma_connection *conn = t->conn;

	r->wr.wr_id = (uintptr_t)t;
	r->wr.send_flags = send_flags(flags);
	r->wr.sg_list = r->sge;
	if (conn->target)
		r->wr.dc = *conn->target;
	return posted(rdma, conn, flags, xv_wr_general(conn->qp, &r->wr));
}

/* The local buffers of a request with bytes in all */
static doca_error_t set_local(const struct doca_rdma *rdma, const struct doca_buf *buf, bool into,
			      size_t bytes, struct request *r)
{
	uint32_t num = 0;
	doca_error_t result;

	if (bytes > rdma->limits.message_size)
		return DOCA_ERROR_TOO_BIG;
	result = gather(rdma, buf, into, bytes, rdma->config.send_list_len, r->sge, &num);
	r->wr.num_sge = (int)num;
	return result;
}

static doca_error_t submit_message(struct xvd_rdma_task *t, uint32_t flags, enum xv_wr_opcode op)
{
	struct doca_rdma *rdma = xvd_rdma_of(t->base.type->ctx);
	struct request r = { .wr = { .opcode = op, .imm_data = t->imm } };
	doca_error_t result;

	result = set_local(rdma, t->src, false, xvd_buf_list_data_len(t->src), &r);
	return result == DOCA_SUCCESS ? post(rdma, t, flags, &r) : result;
}

/* Reads and writes.  Without data, the remote buffer may be missing. */
static doca_error_t submit_rdma(struct xvd_rdma_task *t, uint32_t flags, enum xv_wr_opcode op)
{
	struct doca_rdma *rdma = xvd_rdma_of(t->base.type->ctx);
	struct request r = { .wr = { .opcode = op, .imm_data = t->imm } };
	bool read = op == XV_WR_RDMA_READ;
	const struct doca_buf *local = read ? t->dst : t->src, *remote = read ? t->src : t->dst;
	size_t bytes = read ? list_space(local) : xvd_buf_list_data_len(local);
	size_t most = !remote ? 0 : read ? remote->data_len : xvd_buf_tailroom(remote);
	doca_error_t result = DOCA_SUCCESS;

	if (remote) {
		result = remote_key(rdma, remote, &r.wr.wr.rdma.rkey);
		r.wr.wr.rdma.remote_addr = (uintptr_t)(read ? remote->data : xvd_buf_tail(remote));
	}
	if (bytes > most) {
		if (!read)
			return DOCA_ERROR_INVALID_VALUE;
		bytes = most;
	}
	if (result == DOCA_SUCCESS)
		result = set_local(rdma, local, read, bytes, &r);
	if (result != DOCA_SUCCESS)
		return result;
	t->bytes = (uint32_t)bytes;
	t->appended = t->dst;
	return post(rdma, t, flags, &r);
}

/* The place for the value before: 8 bytes at the data address, which become data */
static doca_error_t set_result(const struct doca_rdma *rdma, struct xvd_rdma_task *t,
			       struct request *r)
{
	struct doca_buf *buf = t->result;

	if (!buf || buf->head + buf->len - buf->data < XVD_RDMA_ATOMIC_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	r->sge[0].addr = (uintptr_t)buf->data;
	r->sge[0].length = XVD_RDMA_ATOMIC_SIZE;
	r->wr.num_sge = 1;
	t->appended = buf;
	t->bytes = buf->data_len < XVD_RDMA_ATOMIC_SIZE ?
		   XVD_RDMA_ATOMIC_SIZE - (uint32_t)buf->data_len : 0;
	return local_key(rdma, buf, &r->sge[0].lkey);
}

static doca_error_t post_atomic(struct doca_rdma *rdma, struct xvd_rdma_task *t, uint32_t flags,
				uint64_t addr, uint32_t rkey, struct request *r)
{
	doca_error_t result = set_result(rdma, t, r);

	if (result != DOCA_SUCCESS)
		return result;
	r->wr.wr.atomic.remote_addr = addr;
	r->wr.wr.atomic.rkey = rkey;
	if (r->wr.opcode == XV_WR_ATOMIC_CMP_AND_SWP) {
		r->wr.wr.atomic.compare_add = t->compare;
		r->wr.wr.atomic.swap = t->swap_add;
	} else {
		r->wr.wr.atomic.compare_add = t->swap_add;
	}
	return post(rdma, t, flags, r);
}

static doca_error_t submit_atomic(struct doca_task *task, uint32_t flags, enum xv_wr_opcode op)
{
	struct xvd_rdma_task *t = xvd_rdma_task(task);
	struct doca_rdma *rdma = xvd_rdma_of(task->type->ctx);
	struct request r = { .wr = { .opcode = op } };
	const struct doca_buf *dst = t->dst;
	doca_error_t result;
	uint32_t rkey;

	if (!usable(rdma, t->conn))
		return refuse(rdma, t->conn);
	if (!dst || (uintptr_t)dst->data % XVD_RDMA_ATOMIC_SIZE ||
	    dst->head + dst->len - dst->data < XVD_RDMA_ATOMIC_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	result = remote_key(rdma, dst, &rkey);
	if (result != DOCA_SUCCESS)
		return result;
	return post_atomic(rdma, t, flags, (uintptr_t)dst->data, rkey, &r);
}

static doca_error_t submit_cmp_swp(struct doca_task *task, uint32_t flags)
{
	return submit_atomic(task, flags, XV_WR_ATOMIC_CMP_AND_SWP);
}

static doca_error_t submit_fetch_add(struct doca_task *task, uint32_t flags)
{
	return submit_atomic(task, flags, XV_WR_ATOMIC_FETCH_AND_ADD);
}

/* ---- Sync events ------------------------------------------------------------------------- */

static doca_error_t check_event(const struct doca_rdma *rdma, const struct xvd_rdma_task *t)
{
	if (!usable(rdma, t->conn))
		return refuse(rdma, t->conn);
	return t->event && t->event->dev == rdma->ctx.dev ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* Reads or writes the value.  buf: a list without enough bytes is refused. */
static doca_error_t submit_event(struct doca_task *task, uint32_t flags, enum xv_wr_opcode op,
				 const struct doca_buf *buf, size_t bytes)
{
	struct xvd_rdma_task *t = xvd_rdma_task(task);
	struct doca_rdma *rdma = xvd_rdma_of(task->type->ctx);
	doca_error_t result = check_event(rdma, t);
	struct request r = { .wr = { .opcode = op } };

	if (result != DOCA_SUCCESS)
		return result;
	if (bytes < XVD_RDMA_ATOMIC_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	result = set_local(rdma, buf, op == XV_WR_RDMA_READ, XVD_RDMA_ATOMIC_SIZE, &r);
	if (result != DOCA_SUCCESS)
		return result;
	t->bytes = XVD_RDMA_ATOMIC_SIZE;
	t->appended = op == XV_WR_RDMA_READ ? t->dst : NULL;
	r.wr.wr.rdma.remote_addr = t->event->addr;
	r.wr.wr.rdma.rkey = t->event->rkey;
	return post(rdma, t, flags, &r);
}

static doca_error_t submit_event_get(struct doca_task *task, uint32_t flags)
{
	const struct doca_buf *dst = xvd_rdma_task(task)->dst;

	return submit_event(task, flags, XV_WR_RDMA_READ, dst, list_space(dst));
}

static doca_error_t submit_event_set(struct doca_task *task, uint32_t flags)
{
	const struct doca_buf *src = xvd_rdma_task(task)->src;

	return submit_event(task, flags, XV_WR_RDMA_WRITE, src, xvd_buf_list_data_len(src));
}

static doca_error_t submit_event_add(struct doca_task *task, uint32_t flags)
{
	struct xvd_rdma_task *t = xvd_rdma_task(task);
	struct doca_rdma *rdma = xvd_rdma_of(task->type->ctx);
	struct request r = { .wr = { .opcode = XV_WR_ATOMIC_FETCH_AND_ADD } };
	doca_error_t result = check_event(rdma, t);

	if (result != DOCA_SUCCESS)
		return result;
	return post_atomic(rdma, t, flags, t->event->addr, t->event->rkey, &r);
}

/* ---- The common case --------------------------------------------------------------------- */

/* The builder need not look whether the queue has room, which would take a call in it. */
static inline bool has_room(const struct xv_qp *qp)
{
	return (int32_t)(qp->sq.limit - qp->sq.pi) >= 1;
}

/* One buffer on RC */
static inline bool is_simple(const struct doca_rdma_connection *conn, const struct doca_buf *local)
{
	return local && !local->next && !conn->target;
}

static inline __attribute__((always_inline))
doca_error_t send_one(struct doca_task *task, uint32_t flags, enum xv_wr_opcode op)
{
	struct xvd_rdma_task *t = xvd_rdma_task(task);
	struct doca_rdma *rdma = xvd_rdma_of(task->type->ctx);
	struct doca_rdma_connection *conn = t->conn;
	const struct doca_buf *src = t->src;
	struct xv_sge sge;
	int err;

	if (xv_unlikely(!usable(rdma, conn)))
		return refuse(rdma, conn);
	t->appended = NULL;
	if (xv_unlikely(!is_simple(conn, src) ||
			local_key(rdma, src, &sge.lkey) != DOCA_SUCCESS ||
			src->data_len > rdma->limits.message_size))
		return submit_message(t, flags, op);
	sge.addr = (uintptr_t)src->data;
	sge.length = (uint32_t)src->data_len;
	if (xv_unlikely(!has_room(conn->qp)))
		return submit_message(t, flags, op);
	if (op == XV_WR_SEND)
		err = xv_wr_send(conn->qp, (uintptr_t)t, send_flags(flags), &sge);
	else
		err = xv_wr_send_imm(conn->qp, (uintptr_t)t, send_flags(flags), &sge, t->imm);
	return posted(rdma, conn, flags, err);
}

/* All that this function does not like, the slow one tries again, and finds the error. */
static inline __attribute__((always_inline))
doca_error_t write_one(struct doca_task *task, uint32_t flags, enum xv_wr_opcode op)
{
	struct xvd_rdma_task *t = xvd_rdma_task(task);
	struct doca_rdma *rdma = xvd_rdma_of(task->type->ctx);
	struct doca_rdma_connection *conn = t->conn;
	const struct doca_buf *src = t->src;
	struct doca_buf *dst = t->dst;
	struct xv_sge sge;
	uint32_t rkey;
	int err;

	if (xv_unlikely(!usable(rdma, conn)))
		return refuse(rdma, conn);
	if (xv_unlikely(!dst || !is_simple(conn, src) ||
			local_key(rdma, src, &sge.lkey) != DOCA_SUCCESS ||
			remote_key(rdma, dst, &rkey) != DOCA_SUCCESS ||
			src->data_len > xvd_buf_tailroom(dst) ||
			src->data_len > rdma->limits.message_size))
		return submit_rdma(t, flags, op);
	sge.addr = (uintptr_t)src->data;
	sge.length = (uint32_t)src->data_len;
	t->appended = dst;
	t->bytes = sge.length;
	if (xv_unlikely(!has_room(conn->qp)))
		return submit_rdma(t, flags, op);
	if (op == XV_WR_RDMA_WRITE)
		err = xv_wr_write(conn->qp, (uintptr_t)t, send_flags(flags), &sge,
				  (uintptr_t)xvd_buf_tail(dst), rkey);
	else
		err = xv_wr_write_imm(conn->qp, (uintptr_t)t, send_flags(flags), &sge,
				      (uintptr_t)xvd_buf_tail(dst), rkey, t->imm);
	return posted(rdma, conn, flags, err);
}

static doca_error_t submit_send(struct doca_task *task, uint32_t flags)
{
	return send_one(task, flags, XV_WR_SEND);
}

static doca_error_t submit_send_imm(struct doca_task *task, uint32_t flags)
{
	return send_one(task, flags, XV_WR_SEND_WITH_IMM);
}

static doca_error_t submit_write(struct doca_task *task, uint32_t flags)
{
	return write_one(task, flags, XV_WR_RDMA_WRITE);
}

static doca_error_t submit_write_imm(struct doca_task *task, uint32_t flags)
{
	return write_one(task, flags, XV_WR_RDMA_WRITE_WITH_IMM);
}

static doca_error_t submit_read(struct doca_task *task, uint32_t flags)
{
	struct xvd_rdma_task *t = xvd_rdma_task(task);
	struct doca_rdma *rdma = xvd_rdma_of(task->type->ctx);
	struct doca_rdma_connection *conn = t->conn;
	const struct doca_buf *src = t->src;
	struct doca_buf *dst = t->dst;
	struct xv_sge sge;
	uint32_t rkey;
	size_t space;

	if (xv_unlikely(!usable(rdma, conn)))
		return refuse(rdma, conn);
	if (xv_unlikely(!src || !is_simple(conn, dst) ||
			local_key(rdma, dst, &sge.lkey) != DOCA_SUCCESS ||
			remote_key(rdma, src, &rkey) != DOCA_SUCCESS ||
			src->data_len > rdma->limits.message_size))
		return submit_rdma(t, flags, XV_WR_RDMA_READ);
	space = xvd_buf_tailroom(dst);
	sge.addr = (uintptr_t)xvd_buf_tail(dst);
	sge.length = (uint32_t)(space < src->data_len ? space : src->data_len);
	t->appended = dst;
	t->bytes = sge.length;
	return posted(rdma, conn, flags,
		      xv_wr_read(conn->qp, (uintptr_t)t, send_flags(flags), &sge,
				 (uintptr_t)src->data, rkey));
}

/* ---- Receives ---------------------------------------------------------------------------- */

/* No message is longer than message_size, so elements need not be longer, either. */
static doca_error_t submit_receive(struct doca_task *task, uint32_t flags)
{
	struct xvd_rdma_task *t = xvd_rdma_task(task);
	struct doca_rdma *rdma = xvd_rdma_of(task->type->ctx);
	struct xv_sge sge[XVD_RDMA_MAX_SGE];
	doca_error_t result;
	uint32_t num;
	int err;

	(void)flags;
	result = gather(rdma, t->dst, true, rdma->limits.message_size, rdma->config.recv_list_len,
			sge, &num);
	if (result != DOCA_SUCCESS)
		return result;
	err = xv_wr_srq_recv(rdma->srq, (uintptr_t)t, sge, (int)num);
	if (err)
		return post_error(err);
	xv_commit_srq(rdma->srq);
	return DOCA_SUCCESS;
}

#define OPS(kind, name)									\
	[XVD_RDMA_##kind] = { .size = sizeof(struct xvd_rdma_task), .submit = submit_##name }

const struct xvd_task_ops xvd_rdma_task_ops[XVD_RDMA_KINDS] = {
	OPS(RECEIVE, receive),
	OPS(SEND, send),
	OPS(SEND_IMM, send_imm),
	OPS(READ, read),
	OPS(WRITE, write),
	OPS(WRITE_IMM, write_imm),
	OPS(CMP_SWP, cmp_swp),
	OPS(FETCH_ADD, fetch_add),
	OPS(EVENT_GET, event_get),
	OPS(EVENT_SET, event_set),
	OPS(EVENT_ADD, event_add),
};
