// SPDX-License-Identifier: GPL-2.0
/*
 * Copies the data of a message once, from gather list to scatter list, through the mkeys of
 * both sides.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include "data/copy_bytes.h"
#include "data/data.h"

bool hca_sgl_check(const struct hca_sgl *l, u64 bytes)
{
	const struct hca_sge *s;
	u64 len;

	for (s = l->sge; s < l->sge + l->n && bytes; s++, bytes -= len) {
		len = min(s->len, bytes);
		if (!s->data && !hca_key_check(&l->user, s->lkey, s->addr, len))
			return false;
	}
	return true;
}

void hca_sgl_skip(struct hca_sgl *l, u64 bytes)
{
	while (l->i < l->n && bytes >= l->sge[l->i].len) {
		bytes -= l->sge[l->i].len;
		l->i++;
	}
	l->off = bytes;
}

enum { SCATTER_32 = 1, SCATTER_64 = 2 };	/* qpc.cs_res; twice in qpc.cs_req */

static u8 hca_sgl_cqe_format(const struct hca_cq *cq, u8 cs, u64 length)
{
	bool half = length <= HCA_CQE_INLINE / 2;

	cs &= 0xf;
	if (!length || length > HCA_CQE_INLINE)
		return 0;
	if (half && (cs == SCATTER_32 || cs == SCATTER_64))
		return MLX5R_CQE_INLINE_32;
	return cs == SCATTER_64 && cq->cqe_bytes > HCA_CQE_INLINE ? MLX5R_CQE_INLINE_64 : 0;
}

void hca_sgl_divert(struct hca_sgl *l, struct hca_wqe *w, const struct hca_cq *cq, u8 cs)
{
	u8 format = hca_sgl_cqe_format(cq, cs, w->length);

	if (!format || !hca_sgl_check(l, w->length))
		return;
	/* The rest of the buffer must not show data of another message. */
	memset(w->cqe_data, 0, HCA_CQE_INLINE);
	w->in_cqe = format;
	w->cqe_sge = (struct hca_sge) { .len = w->length, .data = w->cqe_data };
	l->sge = &w->cqe_sge;
	l->n = 1;
}

/* Maps the next bytes of the list; cuts *@len to what is contiguous. */
static void *hca_sgl_map(struct hca_sgl *l, u64 *len)
{
	const struct hca_sge *s;

	while (l->i < l->n && l->off == l->sge[l->i].len) {
		l->i++;
		l->off = 0;
	}
	if (l->i == l->n)
		return NULL;
	s = &l->sge[l->i];
	*len = min(*len, s->len - l->off);
	if (s->data)
		return l->calc ? hca_calc_map(&l->user, l->calc, l->off, len) :
				 (void *)s->data + l->off;
	return hca_key_map(&l->user, s->lkey, s->addr + l->off, len);
}

static void *hca_copy_whole_at(const struct hca_sgl *l, u64 *len)
{
	const struct hca_sge *s = l->sge;

	return s->data ? (void *)s->data : hca_key_map(&l->user, s->lkey, s->addr, len);
}

bool hca_copy_whole(const struct hca_sgl *dst, const struct hca_sgl *src, u64 len)
{
	struct hca_fabric *f = dst->user.hca->fabric;
	u64 n = len, m = len;
	void *s, *d;

	if (src->n != 1 || dst->n != 1 || src->calc)
		return false;
	s = hca_copy_whole_at(src, &n);
	if (!s || n != len)
		return false;
	d = hca_copy_whole_at(dst, &m);
	if (!d || m != len)
		return false;
	hca_copy_bytes(d, s, len);
	hca_charge_piece(f, len);
	return true;
}

/* Copies one contiguous piece of *@left bytes at most. */
static enum hca_copy_err hca_copy_piece(struct hca_sgl *dst, struct hca_sgl *src, u64 *left)
{
	struct hca_fabric *f = dst->user.hca->fabric;
	u64 n = *left, m = *left;
	void *s, *d;

	s = hca_sgl_map(src, &n);
	if (!s)
		return src->calc && src->calc->again ? HCA_COPY_AGAIN : HCA_COPY_SRC;
	d = hca_sgl_map(dst, &m);
	if (!d)
		return HCA_COPY_DST;
	n = min(n, m);
	hca_copy_bytes(d, s, n);
	hca_charge_piece(f, n);
	src->off += n;
	dst->off += n;
	*left -= n;
	return HCA_COPY_OK;
}

enum hca_copy_err hca_copy_some(struct hca_sgl *dst, struct hca_sgl *src, u64 *len)
{
	const struct hca_fabric *f = dst->user.hca->fabric;
	enum hca_copy_err err = HCA_COPY_OK;
	u64 left = *len;

	while (left && !err) {
		err = hca_copy_piece(dst, src, &left);
		if (!hca_turn_left(f))
			break;
	}
	*len -= left;
	return err == HCA_COPY_AGAIN ? HCA_COPY_OK : err;
}

enum hca_copy_err hca_copy(struct hca_sgl *dst, struct hca_sgl *src, u64 len)
{
	enum hca_copy_err err = HCA_COPY_OK;

	while (len && !err)
		err = hca_copy_piece(dst, src, &len);
	return err;
}
