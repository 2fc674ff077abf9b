// SPDX-License-Identifier: GPL-2.0
/*
 * Copies the data of a message once, from gather list to scatter list, through the mkeys of
 * both sides.
 */
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include "data/data.h"

#define TAIL		64u	/* bytes at the end, at least, that no string instruction stores */

typedef u64 __attribute__((aligned(1), may_alias)) any_u64;
typedef u32 __attribute__((aligned(1), may_alias)) any_u32;
typedef u16 __attribute__((aligned(1), may_alias)) any_u16;

#define store_next(type, d, s) do {			\
	/* Visible after all stores before it */	\
	smp_wmb();					\
	WRITE_ONCE(*(type *)(d), *(const type *)(s));	\
	(d) += sizeof(type);				\
	(s) += sizeof(type);				\
} while (0)

/* Copies the last bytes, 8 at most, in order and with as few stores as possible. */
static void hca_copy_last(void *d, const void *s, size_t n)
{
	if (n & 8)
		store_next(any_u64, d, s);
	if (n & 4)
		store_next(any_u32, d, s);
	if (n & 2)
		store_next(any_u16, d, s);
	if (n & 1)
		store_next(u8, d, s);
}

/*
 * The alignment keeps the function within one page: QEMU (TCG) takes twice the time if it must
 * find the code of another page in every iteration.  It is in a section of its own, because the
 * assembler fills long gaps with a jump, which objtool reports as unreachable.
 */
static __section(".text.hca_copy") __aligned(512)
void hca_copy_words(void *dst, const void *src, size_t n)
{
	any_u64 *d = dst;
	const any_u64 *s = src;

	for (; n > 64; n -= 64, d += 8, s += 8) {
		u64 a0 = s[0], a1 = s[1], a2 = s[2], a3 = s[3];
		u64 a4 = s[4], a5 = s[5], a6 = s[6], a7 = s[7];

		d[0] = a0; d[1] = a1; d[2] = a2; d[3] = a3;
		d[4] = a4; d[5] = a5; d[6] = a6; d[7] = a7;
	}
	if (n > 32) {
		d[0] = s[0]; d[1] = s[1]; d[2] = s[2]; d[3] = s[3];
		n -= 32, d += 4, s += 4;
	}
	if (n > 16) {
		d[0] = s[0]; d[1] = s[1];
		n -= 16, d += 2, s += 2;
	}
	if (n > 8) {
		*d++ = *s++;
		n -= 8;
	}
	hca_copy_last(d, s, n);
}

static bool use_words = true;

/*
 * An emulated CPU executes string instructions byte by byte; on a real one they are faster
 * than a loop.  Measure which is faster here.
 */
void hca_copy_calibrate(void)
{
	const size_t n = 65536;
	void *a = kmalloc(n, GFP_KERNEL), *b = kmalloc(n, GFP_KERNEL);
	u64 t[3], best[2] = { U64_MAX, U64_MAX };
	int i;

	if (a && b) {
		memset(a, 1, n);
		memset(b, 2, n);
		for (i = 0; i < 5; i++) {
			t[0] = ktime_get_ns();
			hca_copy_words(a, b, n);
			t[1] = ktime_get_ns();
			memmove(b, a, n);
			t[2] = ktime_get_ns();
			best[0] = min(best[0], t[1] - t[0]);
			best[1] = min(best[1], t[2] - t[1]);
		}
		use_words = best[0] < best[1];
	}
	kfree(a);
	kfree(b);
}

/*
 * Software may poll the last word of a message in memory; when it sees that word, it must
 * see the rest.  A string instruction may store its bytes in any order, but stores after it
 * are visible after it.  So the end is copied with separate stores; an aligned word of 8
 * bytes is stored at once.  If source and target overlap, the result is undefined, but no
 * other memory changes.
 */
static inline void hca_copy_bytes(void *dst, const void *src, size_t n)
{
	size_t head = use_words || n <= 2 * TAIL ? 0 : (n - TAIL) & ~(size_t)7;

	if (head) {
		memmove(dst, src, head);
		/* The stores of the string instruction are visible before the words. */
		smp_wmb();
	}
	hca_copy_words(dst + head, src + head, n - head);
}

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

#undef TAIL
#undef store_next
