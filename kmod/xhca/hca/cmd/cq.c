// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: the object and its commands.  cqe.c writes entries and raises events.
 *
 * A CQ is on the lists of its UAR and its EQ while it exists.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

enum { CQE_64, CQE_128, CQE_128_PAD };		/* cqc.cqe_sz */
enum { STATE_SOLICITED = 6, STATE_ARMED = 9, STATE_FIRED = 10 };
enum { STATUS_OVERFLOW = 9 };

/* MODIFY_CQ: bits of the selector without and with the resize op_mod */
enum { SELECT_PERIOD = 1, SELECT_COUNT = 2, SELECT_OVERRUN = 4 };
enum { RESIZE_SIZE = 1, RESIZE_OFFSET = 2, RESIZE_PAGE = 4 };
enum { OPMOD_RESIZE = 1 };

/* Bit offsets of fields for which the kernel's headers have no names (PRM) */
enum {
	CQ_APU		= 0x7,		/* 1 bit of the context */
	CQ_DBR_UMEM	= 0x20,		/* in the context */
	CQ_EQN		= 0xa0,		/* in the context */
	CQ_UMEM_OFFSET	= 0x280,	/* in CREATE_CQ and MODIFY_CQ */
	CQ_UMEM_ID	= 0x2c0,
};

/* Fields of unsupported features must be zero. */
static bool hca_cq_format_ok(const u32 *cqc)
{
	return MLX5_GET(cqc, cqc, cqe_sz) <= CQE_128_PAD &&
	       !hca_field(cqc, CQ_APU, 1) && !MLX5_GET(cqc, cqc, cqe_comp_en) &&
	       !MLX5_GET(cqc, cqc, scqe_break_moderation_en) &&
	       !MLX5_GET(cqc, cqc, cq_period_mode);
}

static void hca_cq_decode_flags(struct hca_cq *cq)
{
	cq->overrun_ignore = MLX5_GET(cqc, cq->cqc, oi);
	cq->period_us = MLX5_GET(cqc, cq->cqc, cq_period);
	cq->max_count = MLX5_GET(cqc, cq->cqc, cq_max_count);
}

/* CREATE_CQ and MODIFY_CQ have the same layout, from the context on. */
static enum hca_synd hca_cq_init_ring(struct hca *hca, const struct hca_cq *cq,
				      const struct hca_cmd *c, u32 log_size, struct hca_buf *buf)
{
	const void *cqc = MLX5_ADDR_OF(create_cq_in, c->in, cq_context);
	struct hca_ring ring = {
		.pas = MLX5_BYTE_OFF(create_cq_in, pas),
		.log_page = MLX5_GET(cqc, cqc, log_page_size),
		.page_offset = MLX5_GET(cqc, cqc, page_offset),
		.place.in_umem = MLX5_GET(create_cq_in, c->in, cq_umem_valid),
		.place.umem = hca_dword(c->in, CQ_UMEM_ID),
		.place.at = hca_qword(c->in, CQ_UMEM_OFFSET),
		.entry = cq->cqe_bytes,
		.size = (u64)cq->cqe_bytes << log_size,
		.written = true,
	};

	return hca_ring_init(hca, c, buf, &ring);
}

static enum hca_synd hca_cq_decode(struct hca *hca, struct hca_cq *cq, const struct hca_cmd *c)
{
	u32 *cqc = cq->cqc;
	struct hca_place record = {
		.at = MLX5_GET64(cqc, MLX5_ADDR_OF(create_cq_in, c->in, cq_context), dbr_addr),
	};
	enum hca_synd synd;

	memcpy(cqc, MLX5_ADDR_OF(create_cq_in, c->in, cq_context), sizeof(cq->cqc));
	if (!hca_cq_format_ok(cqc))
		return HCA_SYND_CQ_FORMAT;
	cq->log_size = MLX5_GET(cqc, cqc, log_cq_size);
	if (cq->log_size > HCA_LOG_MAX_CQ_SZ)
		return HCA_SYND_CQ_SIZE;
	cq->cqe_bytes = MLX5_GET(cqc, cqc, cqe_sz) == CQE_64 ? 64 : 128;
	cq->collapsed = MLX5_GET(cqc, cqc, cc);
	hca_cq_decode_flags(cq);

	cq->record.uar = hca_uar_get(hca, c, MLX5_GET(cqc, cqc, uar_page));
	if (!cq->record.uar)
		return HCA_SYND_UAR;
	cq->eq = hca_devx_use(c, &hca->eqs, hca_dword(cqc, CQ_EQN));
	if (!cq->eq)
		return HCA_SYND_EQ;
	record.in_umem = MLX5_GET(cqc, cqc, dbr_umem_valid);
	record.umem = hca_dword(cqc, CQ_DBR_UMEM);
	synd = hca_record_find(hca, c, &record, &cq->dbr, &cq->dbr_umem);
	return synd ? synd : hca_cq_init_ring(hca, cq, c, cq->log_size, &cq->buf);
}

static void hca_cq_release(struct hca_cq *cq)
{
	hca_umem_put(cq->dbr_umem);
	hca_buf_free(&cq->buf);
	kfree(cq);
}

enum hca_synd hca_cmd_create_cq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_cq *cq = kzalloc(sizeof(*cq), HCA_GFP);
	enum hca_synd synd;

	if (!cq)
		return HCA_SYND_NO_MEMORY;
	cq->hca = hca;
	hca_record_init(&cq->record, HCA_RECORD_CQ);
	synd = hca_cq_decode(hca, cq, c);
	if (!synd && hca_heap_join(&hca->fabric->timers))
		synd = HCA_SYND_NO_MEMORY;
	if (!synd) {
		synd = hca_devx_add(hca, c, &hca->cqs, cq, &cq->cqn);
		if (synd)
			hca_heap_leave(&hca->fabric->timers, &cq->timer.entry);
	}
	if (synd) {
		hca_cq_release(cq);
		return synd;
	}
	INIT_LIST_HEAD(&cq->event_entry);
	hca_dependents_init(&cq->dependents);
	hca_record_add(&cq->record, cq->record.uar);
	list_add_tail(&cq->eq_entry, &cq->eq->cqs);
	hca_cq_start(cq);
	MLX5_SET(create_cq_out, c->out, cqn, cq->cqn);
	return HCA_OK;
}

void hca_cq_free(struct hca *hca, void *obj)
{
	struct hca_cq *cq = obj;

	hca_cq_stop(cq);
	hca_event_forget(&cq->events);
	hca_dependents_free(&cq->dependents);
	list_del_init(&cq->event_entry);
	list_del(&cq->eq_entry);
	hca_record_del(&cq->record);
	hca_devx_del(hca, &hca->cqs, cq->cqn);
	hca_cq_release(cq);
}

enum hca_synd hca_cmd_destroy_cq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_cq *cq = hca_devx_own(c, &hca->cqs, MLX5_GET(destroy_cq_in, c->in, cqn));

	if (!cq)
		return HCA_SYND_CQ;
	if (cq->users)
		return HCA_SYND_CQ_BUSY;
	hca_cq_free(hca, cq);
	return HCA_OK;
}

/* Consumer index in the record; the last valid one if that is invalid */
static u32 hca_cq_consumer(const struct hca_cq *cq)
{
	u32 behind = (cq->pi - be32_to_cpu(READ_ONCE(cq->dbr[MLX5R_DBR_CQ_CI]))) &
		     MLX5R_CQ_INDEX_MASK;

	return behind > 1u << cq->log_size ? cq->ci : cq->pi - behind;
}

static u32 hca_cq_state(const struct hca_cq *cq)
{
	if (!cq->armed)
		return STATE_FIRED;
	return cq->armed_solicited ? STATE_SOLICITED : STATE_ARMED;
}

enum hca_synd hca_cmd_query_cq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_cq *cq = hca_devx_own(c, &hca->cqs, MLX5_GET(query_cq_in, c->in, cqn));
	void *cqc = MLX5_ADDR_OF(query_cq_out, c->out, cq_context);

	if (!cq)
		return HCA_SYND_CQ;
	memcpy(cqc, cq->cqc, sizeof(cq->cqc));
	MLX5_SET(cqc, cqc, status, cq->overrun ? STATUS_OVERFLOW : 0);
	MLX5_SET(cqc, cqc, st, hca_cq_state(cq));
	MLX5_SET(cqc, cqc, producer_counter, cq->pi);
	MLX5_SET(cqc, cqc, consumer_counter, hca_cq_consumer(cq));
	return HCA_OK;
}

/* ---- MODIFY_CQ ---------------------------------------------------------------- */

/*
 * The last entry of the old buffer tells software to continue in the new buffer.  It has an
 * index of its own.
 */
static void hca_cq_write_resize_cqe(struct hca_cq *cq)
{
	u32 slot = cq->pi & ((1u << cq->log_size) - 1);
	struct mlx5r_cqe *cqe;

	cqe = hca_buf_at(&cq->buf, (u64)slot * cq->cqe_bytes + cq->cqe_bytes - sizeof(*cqe));
	/* Barrier D (dp/barrier.h): of the entry, only opcode and owner bit are written. */
	smp_store_release(&cqe->op_own,
			  (u8)(MLX5R_CQE_RESIZE << 4 | ((cq->pi >> cq->log_size) & 1)));
	cq->pi++;
}

static enum hca_synd hca_cq_resize(struct hca *hca, struct hca_cq *cq, const struct hca_cmd *c)
{
	const void *cqc = MLX5_ADDR_OF(modify_cq_in, c->in, cq_context);
	u32 log_size = MLX5_GET(cqc, cqc, log_cq_size);
	u32 held = cq->pi - hca_cq_consumer(cq);
	struct hca_buf buf;
	enum hca_synd synd;

	if (log_size > HCA_LOG_MAX_CQ_SZ)
		return HCA_SYND_CQ_SIZE;
	if (cq->overrun)
		return HCA_SYND_CQ_STATE;
	if (held >= 1u << cq->log_size || held >= 1u << log_size)
		return HCA_SYND_CQ_FULL;
	synd = hca_cq_init_ring(hca, cq, c, log_size, &buf);
	if (synd)
		return synd;

	hca_cq_write_resize_cqe(cq);
	if (hca_wait_due(cq))
		hca_wait_wake(cq);
	hca_buf_free(&cq->buf);
	cq->buf = buf;
	cq->log_size = log_size;
	MLX5_SET(cqc, cq->cqc, log_cq_size, log_size);
	MLX5_SET(cqc, cq->cqc, log_page_size, MLX5_GET(cqc, cqc, log_page_size));
	MLX5_SET(cqc, cq->cqc, page_offset, MLX5_GET(cqc, cqc, page_offset));
	return HCA_OK;
}

static enum hca_synd hca_cq_modify(struct hca_cq *cq, const struct hca_cmd *c, u32 select)
{
	const void *cqc = MLX5_ADDR_OF(modify_cq_in, c->in, cq_context);

	if (select & ~(SELECT_PERIOD | SELECT_COUNT | SELECT_OVERRUN))
		return HCA_SYND_CQ_FIELD;
	if (select & SELECT_PERIOD)
		MLX5_SET(cqc, cq->cqc, cq_period, MLX5_GET(cqc, cqc, cq_period));
	if (select & SELECT_COUNT)
		MLX5_SET(cqc, cq->cqc, cq_max_count, MLX5_GET(cqc, cqc, cq_max_count));
	if (select & SELECT_OVERRUN)
		MLX5_SET(cqc, cq->cqc, oi, MLX5_GET(cqc, cqc, oi));
	hca_cq_decode_flags(cq);
	return HCA_OK;
}

enum hca_synd hca_cmd_modify_cq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_cq *cq = hca_devx_own(c, &hca->cqs, MLX5_GET(modify_cq_in, c->in, cqn));
	u32 select = be32_to_cpu(*(__be32 *)MLX5_ADDR_OF(modify_cq_in, c->in,
					modify_field_select_resize_field_select));

	if (!cq)
		return HCA_SYND_CQ;
	switch (c->op_mod) {
	case 0:
		return hca_cq_modify(cq, c, select);
	case OPMOD_RESIZE:
		if (select != (RESIZE_SIZE | RESIZE_OFFSET | RESIZE_PAGE))
			return HCA_SYND_CQ_FIELD;
		return hca_cq_resize(hca, cq, c);
	default:
		return HCA_SYND_OPMOD;
	}
}
