// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues: SRQ, RMP and XRC SRQ.
 *
 * Each kind has a decoder from its context to struct spec; the rest is common.  All kinds
 * have their numbers from one table.  A command finds only objects of its own kind.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

enum { RMP_READY = 1, RMP_ERROR = 3 };		/* rmpc.state */
enum { SRQ_GOOD = 0, SRQ_ERROR = 1 };		/* srqc.state, xrc_srqc.state */
enum { WQ_LINKED = 0, WQ_CYCLIC = 1 };		/* wq.wq_type */
enum { ARM_SRQ = 1 };				/* op_mod of ARM_RQ, ARM_XRC_SRQ */

enum {
	MIN_LOG_STRIDE	= 5,	/* link and one segment */
	MAX_LOG_STRIDE	= 9,
};

/* Bit offsets in a WQ of fields for which the kernel's headers have no names (PRM) */
enum {
	WQ_DBR_UMEM	= 0x140,
	WQ_UMEM_ID	= 0x160,
	WQ_UMEM_OFFSET	= 0x180,
};

/* What all contexts have in common */
struct spec {
	u32 log_size, log_stride;
	struct hca_ring ring;
	struct hca_place record;
	u32 pd, lwm;
	bool linked;
	bool basic;			/* WQEs without a link */
};

static enum hca_synd hca_srq_spec_init(struct hca *hca, struct hca_srq *srq, struct spec *s,
				       const struct hca_cmd *c)
{
	u32 min = s->basic ? MIN_LOG_STRIDE - 1 : MIN_LOG_STRIDE;
	enum hca_synd synd;

	if (s->log_size > HCA_LOG_MAX_SRQ_SZ || s->log_stride < min ||
	    s->log_stride > MAX_LOG_STRIDE)
		return HCA_SYND_SRQ_SIZE;
	if (s->lwm > 1u << s->log_size)
		return HCA_SYND_SRQ_LIMIT;
	if (!hca_devx_own(c, &hca->pds, s->pd))
		return HCA_SYND_PD;
	synd = hca_record_find(hca, c, &s->record, &srq->dbr, &srq->dbr_umem);
	if (synd)
		return synd;
	srq->pd = s->pd;
	srq->linked = s->linked;
	srq->link = s->basic ? 0 : sizeof(struct mlx5r_srq_next);
	srq->log_size = s->log_size;
	srq->log_stride = s->log_stride;
	srq->lwm = s->lwm;
	s->ring.entry = 1u << s->log_stride;
	s->ring.size = 1ull << (s->log_size + s->log_stride);
	return hca_ring_init(hca, c, &srq->buf, &s->ring);
}

static void hca_srq_release(struct hca_srq *srq)
{
	hca_umem_put(srq->dbr_umem);
	hca_buf_free(&srq->buf);
	kfree(srq);
}

/* Publishes the object; frees it if @synd is not HCA_OK or there is no number. */
static enum hca_synd hca_srq_finish(struct hca *hca, const struct hca_cmd *c, struct hca_srq *srq,
				    enum hca_synd synd)
{
	struct hca_domain *d;

	if (!synd)
		synd = hca_devx_add(hca, c, &hca->srqs, srq, &srq->srqn);
	if (synd) {
		hca_srq_release(srq);
		return synd;
	}
	d = hca_table_get(&hca->pds, srq->pd);
	d->users++;
	if (srq->kind == HCA_XRC_SRQ) {
		d = hca_table_get(&hca->xrcds, srq->xrcd);
		d->users++;
		srq->cq->users++;
	}
	return HCA_OK;
}

static struct hca_srq *hca_srq_new(struct hca *hca, enum hca_srq_kind kind, const void *ctx,
				   u32 bytes)
{
	struct hca_srq *srq = kzalloc(sizeof(*srq), HCA_GFP);

	if (!srq)
		return NULL;
	srq->hca = hca;
	srq->kind = kind;
	INIT_LIST_HEAD(&srq->holders);
	hca_dependents_init(&srq->dependents);
	memcpy(srq->ctx, ctx, bytes);
	return srq;
}

static enum hca_synd hca_srq_decode_srqc(struct hca *hca, struct hca_srq *srq,
					 const struct hca_cmd *c)
{
	const u32 *ctx = srq->ctx;
	struct spec s = {
		.log_size = MLX5_GET(srqc, ctx, log_srq_size),
		.log_stride = MLX5_GET(srqc, ctx, log_rq_stride) + 4,
		.ring.log_page = MLX5_GET(srqc, ctx, log_page_size),
		.ring.page_offset = MLX5_GET(srqc, ctx, page_offset),
		.ring.pas = MLX5_BYTE_OFF(create_srq_in, pas),
		.pd = MLX5_GET(srqc, ctx, pd),
		.lwm = MLX5_GET(srqc, ctx, lwm),
		.record.at = MLX5_GET64(srqc, ctx, dbr_addr),
		.linked = true,
	};

	if (MLX5_GET(srqc, ctx, wq_signature) || MLX5_GET(srqc, ctx, cont_srq))
		return HCA_SYND_SRQ_FORMAT;
	return hca_srq_spec_init(hca, srq, &s, c);
}

enum hca_synd hca_cmd_create_srq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_new(hca, HCA_SRQ,
					  MLX5_ADDR_OF(create_srq_in, c->in, srq_context_entry),
					  MLX5_ST_SZ_BYTES(srqc));
	enum hca_synd synd;

	if (!srq)
		return HCA_SYND_NO_MEMORY;
	synd = hca_srq_finish(hca, c, srq, hca_srq_decode_srqc(hca, srq, c));
	if (!synd)
		MLX5_SET(create_srq_out, c->out, srqn, srq->srqn);
	return synd;
}

static enum hca_synd hca_srq_decode_xrc(struct hca *hca, struct hca_srq *srq,
					const struct hca_cmd *c)
{
	const u32 *ctx = srq->ctx;
	struct spec s = {
		.log_size = MLX5_GET(xrc_srqc, ctx, log_xrc_srq_size),
		.log_stride = MLX5_GET(xrc_srqc, ctx, log_rq_stride) + 4,
		.ring.log_page = MLX5_GET(xrc_srqc, ctx, log_page_size),
		.ring.page_offset = MLX5_GET(xrc_srqc, ctx, page_offset),
		.ring.pas = MLX5_BYTE_OFF(create_xrc_srq_in, pas),
		.pd = MLX5_GET(xrc_srqc, ctx, pd),
		.lwm = MLX5_GET(xrc_srqc, ctx, lwm),
		.record.at = (u64)MLX5_GET(xrc_srqc, ctx, db_record_addr_h) << 32 |
			     MLX5_GET(xrc_srqc, ctx, db_record_addr_l) << 2,
		.linked = !MLX5_GET(xrc_srqc, ctx, basic_cyclic_rcv_wqe),
		.basic = MLX5_GET(xrc_srqc, ctx, basic_cyclic_rcv_wqe),
	};

	if (MLX5_GET(create_xrc_srq_in, c->in, xrc_srq_umem_valid) ||
	    MLX5_GET(xrc_srqc, ctx, dbr_umem_valid))
		return HCA_SYND_UMEM;
	if (MLX5_GET(xrc_srqc, ctx, wq_signature) || MLX5_GET(xrc_srqc, ctx, cont_srq))
		return HCA_SYND_SRQ_FORMAT;
	srq->xrcd = MLX5_GET(xrc_srqc, ctx, xrcd);
	if (!hca_devx_own(c, &hca->xrcds, srq->xrcd))
		return HCA_SYND_XRCD;
	srq->cq = hca_devx_own(c, &hca->cqs, MLX5_GET(xrc_srqc, ctx, cqn));
	if (!srq->cq)
		return HCA_SYND_CQ;
	srq->user_index = MLX5_GET(xrc_srqc, ctx, user_index);
	return hca_srq_spec_init(hca, srq, &s, c);
}

enum hca_synd hca_cmd_create_xrc_srq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_new(hca, HCA_XRC_SRQ,
					  MLX5_ADDR_OF(create_xrc_srq_in, c->in,
						       xrc_srq_context_entry),
					  MLX5_ST_SZ_BYTES(xrc_srqc));
	enum hca_synd synd;

	if (!srq)
		return HCA_SYND_NO_MEMORY;
	synd = hca_srq_finish(hca, c, srq, hca_srq_decode_xrc(hca, srq, c));
	if (synd)
		return synd;
	if (MLX5_GET(xrc_srqc, srq->ctx, user_index_equal_xrc_srqn))
		srq->user_index = srq->srqn;
	MLX5_SET(create_xrc_srq_out, c->out, xrc_srqn, srq->srqn);
	return HCA_OK;
}

static enum hca_synd hca_srq_decode_rmp(struct hca *hca, struct hca_srq *srq,
					const struct hca_cmd *c)
{
	const void *wq = MLX5_ADDR_OF(rmpc, srq->ctx, wq);
	struct spec s = {
		.log_size = MLX5_GET(wq, wq, log_wq_sz),
		.log_stride = MLX5_GET(wq, wq, log_wq_stride),
		.ring.log_page = MLX5_GET(wq, wq, log_wq_pg_sz),
		.ring.page_offset = MLX5_GET(wq, wq, page_offset),
		.ring.pas = MLX5_BYTE_OFF(create_rmp_in, ctx.wq.pas),
		.pd = MLX5_GET(wq, wq, pd),
		.lwm = MLX5_GET(wq, wq, lwm),
		.record.at = MLX5_GET64(wq, wq, dbr_addr),
		.record.in_umem = MLX5_GET(wq, wq, dbr_umem_valid),
		.record.umem = hca_dword(wq, WQ_DBR_UMEM),
		.ring.place.in_umem = MLX5_GET(wq, wq, wq_umem_valid),
		.ring.place.umem = hca_dword(wq, WQ_UMEM_ID),
		.ring.place.at = hca_qword(wq, WQ_UMEM_OFFSET),
		.linked = MLX5_GET(wq, wq, wq_type) == WQ_LINKED,
		.basic = MLX5_GET(rmpc, srq->ctx, basic_cyclic_rcv_wqe),
	};

	/* UCX creates cyclic queues whose requests have a link, which means nothing there. */
	if (MLX5_GET(wq, wq, wq_type) > WQ_CYCLIC || MLX5_GET(wq, wq, wq_signature) ||
	    MLX5_GET(wq, wq, cd_slave) || (s.linked && s.basic))
		return HCA_SYND_SRQ_FORMAT;
	if (MLX5_GET(rmpc, srq->ctx, state) != RMP_READY)
		return HCA_SYND_SRQ_STATE;
	return hca_srq_spec_init(hca, srq, &s, c);
}

enum hca_synd hca_cmd_create_rmp(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_new(hca, HCA_RMP, MLX5_ADDR_OF(create_rmp_in, c->in, ctx),
					  MLX5_ST_SZ_BYTES(rmpc));
	enum hca_synd synd;

	if (!srq)
		return HCA_SYND_NO_MEMORY;
	synd = hca_srq_finish(hca, c, srq, hca_srq_decode_rmp(hca, srq, c));
	if (!synd)
		MLX5_SET(create_rmp_out, c->out, rmpn, srq->srqn);
	return synd;
}

/* ---- Destroy, limit, query -------------------------------------------------------- */

void hca_srq_free(struct hca *hca, void *obj)
{
	struct hca_srq *srq = obj;
	struct hca_domain *d = hca_table_get(&hca->pds, srq->pd);

	/* XRC targets do not count as users: their messages in progress fail in the next turn. */
	while (!list_empty(&srq->holders))
		hca_rq_release(list_first_entry(&srq->holders, struct hca_qp, recv_entry));
	hca_event_forget(&srq->events);
	hca_dependents_free(&srq->dependents);
	d->users--;
	if (srq->kind == HCA_XRC_SRQ) {
		d = hca_table_get(&hca->xrcds, srq->xrcd);
		d->users--;
		srq->cq->users--;
	}
	hca_devx_del(hca, &hca->srqs, srq->srqn);
	hca_srq_release(srq);
}

static struct hca_srq *hca_srq_find(struct hca *hca, const struct hca_cmd *c, u32 srqn,
				    enum hca_srq_kind kind)
{
	struct hca_srq *srq = hca_devx_own(c, &hca->srqs, srqn);

	return srq && srq->kind == kind ? srq : NULL;
}

/* The kind of object of a command; number and limit are at the same place in all. */
static enum hca_srq_kind hca_srq_kind_of(u16 opcode)
{
	switch (opcode) {
	case MLX5_CMD_OP_DESTROY_XRC_SRQ:
	case MLX5_CMD_OP_ARM_XRC_SRQ:
		return HCA_XRC_SRQ;
	case MLX5_CMD_OP_DESTROY_RMP:
		return HCA_RMP;
	default:
		return HCA_SRQ;
	}
}

enum hca_synd hca_cmd_destroy_srq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_find(hca, c, MLX5_GET(destroy_srq_in, c->in, srqn),
					   hca_srq_kind_of(c->opcode));

	if (!srq)
		return HCA_SYND_SRQ;
	if (srq->users)
		return HCA_SYND_SRQ_BUSY;
	hca_srq_free(hca, srq);
	return HCA_OK;
}

static u16 hca_srq_posted(const struct hca_srq *srq)
{
	return be32_to_cpu(READ_ONCE(srq->dbr[0])) - srq->taken;
}

/* Requests one event, when fewer than @lwm requests are left. */
static enum hca_synd hca_srq_arm(struct hca_srq *srq, u32 lwm)
{
	if (lwm > 1u << srq->log_size)
		return HCA_SYND_SRQ_LIMIT;
	srq->lwm = lwm;
	if (hca_srq_posted(srq) < lwm) {
		srq->lwm = 0;
		hca_event_srq(srq, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT);
	}
	return HCA_OK;
}

enum hca_synd hca_cmd_arm_srq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_find(hca, c, MLX5_GET(arm_rq_in, c->in, srq_number),
					   hca_srq_kind_of(c->opcode));

	if (c->op_mod != ARM_SRQ)
		return HCA_SYND_OPMOD;
	if (!srq)
		return HCA_SYND_SRQ;
	return hca_srq_arm(srq, MLX5_GET(arm_rq_in, c->in, lwm));
}

enum hca_synd hca_cmd_modify_rmp(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_find(hca, c, MLX5_GET(modify_rmp_in, c->in, rmpn), HCA_RMP);
	const void *rmpc = MLX5_ADDR_OF(modify_rmp_in, c->in, ctx);
	u32 state = MLX5_GET(rmpc, rmpc, state);

	if (!srq)
		return HCA_SYND_SRQ;
	if (MLX5_GET(modify_rmp_in, c->in, rmp_state) != (srq->error ? RMP_ERROR : RMP_READY))
		return HCA_SYND_SRQ_STATE;
	if (state == RMP_ERROR) {
		srq->error = true;
		hca_dependents_fail(hca->fabric, &srq->dependents);
		return HCA_OK;
	}
	if (state != RMP_READY || srq->error)
		return HCA_SYND_SRQ_STATE;
	if (!MLX5_GET(modify_rmp_in, c->in, bitmask.lwm))
		return HCA_OK;
	return hca_srq_arm(srq, MLX5_GET(rmpc, rmpc, wq.lwm));
}

enum hca_synd hca_cmd_query_srq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_find(hca, c, MLX5_GET(query_srq_in, c->in, srqn), HCA_SRQ);
	void *ctx = MLX5_ADDR_OF(query_srq_out, c->out, srq_context_entry);

	if (!srq)
		return HCA_SYND_SRQ;
	memcpy(ctx, srq->ctx, MLX5_ST_SZ_BYTES(srqc));
	MLX5_SET(srqc, ctx, state, srq->error ? SRQ_ERROR : SRQ_GOOD);
	MLX5_SET(srqc, ctx, lwm, srq->lwm);
	MLX5_SET(srqc, ctx, wqe_cnt, hca_srq_posted(srq));
	return HCA_OK;
}

enum hca_synd hca_cmd_query_xrc_srq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_find(hca, c, MLX5_GET(query_xrc_srq_in, c->in, xrc_srqn),
					   HCA_XRC_SRQ);
	void *ctx = MLX5_ADDR_OF(query_xrc_srq_out, c->out, xrc_srq_context_entry);

	if (!srq)
		return HCA_SYND_SRQ;
	memcpy(ctx, srq->ctx, MLX5_ST_SZ_BYTES(xrc_srqc));
	MLX5_SET(xrc_srqc, ctx, state, srq->error ? SRQ_ERROR : SRQ_GOOD);
	MLX5_SET(xrc_srqc, ctx, lwm, srq->lwm);
	MLX5_SET(xrc_srqc, ctx, wqe_cnt, hca_srq_posted(srq));
	return HCA_OK;
}

enum hca_synd hca_cmd_query_rmp(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_srq *srq = hca_srq_find(hca, c, MLX5_GET(query_rmp_in, c->in, rmpn), HCA_RMP);
	void *ctx = MLX5_ADDR_OF(query_rmp_out, c->out, rmp_context);

	if (!srq)
		return HCA_SYND_SRQ;
	memcpy(ctx, srq->ctx, MLX5_ST_SZ_BYTES(rmpc));
	MLX5_SET(rmpc, ctx, state, srq->error ? RMP_ERROR : RMP_READY);
	MLX5_SET(rmpc, ctx, wq.lwm, srq->lwm);
	MLX5_SET(rmpc, ctx, wq.hw_counter, srq->taken);
	MLX5_SET(rmpc, ctx, wq.sw_counter, be32_to_cpu(READ_ONCE(srq->dbr[0])));
	return HCA_OK;
}
