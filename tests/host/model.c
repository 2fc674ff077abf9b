// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

#define GUARD_BYTES	4096u
#define AREA_BYTES	(2 * GUARD_BYTES + 4 * REGION_BYTES)
#define MAX_NESTING	5		/* mkeys in a chain */

struct session s;
struct model_key model_keys[SESSION_FUNCS][MODEL_KEYS];
u32 model_nkeys[SESSION_FUNCS];
struct session_qp rc[SESSION_FUNCS], ud[SESSION_FUNCS];

static u64 area;			/* DMA address */
static u8 copy[AREA_BYTES] __aligned(HCA_PAGE_SIZE), initial[AREA_BYTES];
static size_t used;
static u32 first_objects;

void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "model: %s\n", what);
	abort();
}

/* ---- Setup ----------------------------------------------------------------------- */

static void add_region(int func, u8 access)
{
	struct session_mr mr = session_mr(&s, func, REGION_BYTES, access);
	struct model_key *k = &model_keys[func][model_nkeys[func]++];
	u32 i;

	*k = (struct model_key) {
		.key = mr.key, .pd = s.pd[func], .qpn = HCA_ANY_QPN, .mode = MLX5R_MKEY_MODE_MTT,
		.access = access, .page_shift = HCA_PAGE_SHIFT, .start = mr.addr,
		.len = REGION_BYTES,
	};
	for (i = 0; i < REGION_BYTES / HCA_PAGE_SIZE; i++)
		k->entry[i] = (struct model_entry) { mr.addr + i * HCA_PAGE_SIZE, HCA_PAGE_SIZE };
}

static void add_umr_keys(int func)
{
	static const u8 modes[NUMR] = {
		[KLM] = MLX5R_MKEY_MODE_KLM, [KSM] = MLX5R_MKEY_MODE_KSM,
		[MTT] = MLX5R_MKEY_MODE_MTT,
	};
	u32 i;

	for (i = 0; i < NUMR; i++)
		model_keys[func][model_nkeys[func] + i] = (struct model_key) {
			.key = session_umr_key(&s, func, modes[i], MODEL_ENTRIES / 2),
			.pd = s.pd[func], .qpn = HCA_ANY_QPN, .mode = modes[i], .free = true,
			.umr = true, .page_shift = HCA_PAGE_SHIFT,
		};
	model_nkeys[func] += NUMR;
}

static void remove_umr_keys(int func)
{
	u32 i;

	model_nkeys[func] -= NUMR;
	for (i = 0; i < NUMR; i++)
		session_key_destroy(&s, func, model_keys[func][model_nkeys[func] + i].key);
}

static u32 objects(void)
{
	u32 n = 0;
	int func;

	for (func = 0; func < SESSION_FUNCS; func++)
		n += s.hca[func]->qps.count + s.hca[func]->cqs.count + s.hca[func]->srqs.count +
		     s.hca[func]->mkeys.count;
	return n;
}

void model_init(void)
{
	u32 i;

	for (i = 0; i < AREA_BYTES; i++)
		initial[i] = i * 7 ^ i >> 8;
	shim_step = 0;
	session_init(&s);
	area = session_alloc(&s, GUARD_BYTES);
	add_region(0, ALL_ACCESS);
	add_region(1, ALL_ACCESS);
	add_region(1, MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_RR);
	add_region(1, MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RW);
	session_alloc(&s, GUARD_BYTES);
	used = s.used;
	first_objects = objects();
}

void model_begin(bool wide)
{
	int func;

	s.wide = wide;
	memcpy(copy, initial, AREA_BYTES);
	memcpy(session_ptr(&s, area), initial, AREA_BYTES);
	for (func = 0; func < SESSION_FUNCS; func++) {
		add_umr_keys(func);
		s.cross = func ? 0 : SESSION_MASTER;
		session_qp(&s, func, MLX5_QP_ST_RC, 5, 4, &rc[func]);
		s.cross = 0;
		session_qp(&s, func, MLX5_QP_ST_UD, 4, 4, &ud[func]);
	}
	session_connect(&rc[0], &rc[1]);
	session_connect(&ud[0], &ud[1]);
}

void model_end(void)
{
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		session_qp_destroy(&rc[func]);
		session_qp_destroy(&ud[func]);
		session_cq_destroy(&rc[func]);
		session_cq_destroy(&ud[func]);
		remove_umr_keys(func);
	}
	check(objects() == first_objects, "objects of the input are left");
	s.used = used;
	s.last_index = 0;
}

/* ---- Keys ------------------------------------------------------------------------ */

struct model_key *model_pick(int func, u8 which)
{
	return &model_keys[func][which % model_nkeys[func]];
}

struct model_key *model_find(int func, u32 key)
{
	u32 i;

	for (i = 0; i < model_nkeys[func]; i++)
		if (model_keys[func][i].key == key)
			return &model_keys[func][i];
	return NULL;
}

struct model_seg model_seg(const struct session_qp *q, u8 which, u8 flaw, u32 off, u8 access)
{
	static const u32 flip[] = { 0, 0, 0, 0, 0, 1, 0x80, 0x100, 0x40000000 };
	const struct model_key *k = model_pick(q->func, which);

	return (struct model_seg) {
		.func = q->func, .qpn = q->qp.qp_num, .key = k->key ^ flip[flaw % ARRAY_SIZE(flip)],
		.addr = k->start + off, .access = access,
	};
}

u8 *model_ptr(u64 addr, u64 len)
{
	return addr >= area && len <= AREA_BYTES && addr - area <= AREA_BYTES - len ?
		copy + (addr - area) : NULL;
}

/* The null mkey: valid in all PDs, for local access only, not for atomics */
static const struct model_key null_key = { .key = 8 << 8, .len = ~0ull };

static bool is_null(const struct model_seg *seg)
{
	return seg->key == null_key.key &&
	       !(seg->access & ~(MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW));
}

static u8 *null_memory(u8 access, u64 *n)
{
	static u8 zeros[GUARD_BYTES], sink[GUARD_BYTES];

	*n = min(*n, GUARD_BYTES);
	return access & MLX5R_MKEY_ACCESS_LW ? sink : zeros;
}

static const struct model_key *allowed(const struct model_seg *seg, u64 len)
{
	const struct model_key *k = model_find(seg->func, seg->key);

	if (is_null(seg))
		return seg->addr + len >= seg->addr ? &null_key : NULL;
	if (!k || k->free || k->pd != s.pd[seg->func] || (k->access & seg->access) != seg->access ||
	    (k->qpn != HCA_ANY_QPN && k->qpn != seg->qpn))
		return NULL;
	return seg->addr >= k->start && len <= k->len && seg->addr - k->start <= k->len - len ?
		k : NULL;
}

bool model_allows(const struct model_seg *seg, u64 len)
{
	return seg->data || allowed(seg, len);
}

/* Remote access is checked at the outer mkey; the inner one needs local access. */
static u8 inner_access(u8 access)
{
	if (access & (MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A))
		return MLX5R_MKEY_ACCESS_LW;
	return access & MLX5R_MKEY_ACCESS_RR ? MLX5R_MKEY_ACCESS_LR : access;
}

/* The part of a repeating block that has byte *@off; a list begins with the block's header. */
static const struct model_entry *find_repeated(const struct model_key *k, u64 *off, u64 *n)
{
	u32 bytes = k->entry[0].bytes, count = k->entry[0].addr >> 32;
	u32 parts = k->entry[0].addr & 0xffff, i, r;

	if (!bytes || *off / bytes >= count)
		return NULL;
	r = *off / bytes;
	*off %= bytes;
	*n = min(*n, bytes - *off);
	for (i = 1; i <= parts && i < MODEL_ENTRIES; i++) {
		u32 size = k->entry[i].bytes & 0xffff;

		if (*off < size) {
			*n = min(*n, size - *off);
			*off += (u64)r * (k->entry[i].bytes >> 16);
			return &k->entry[i];
		}
		*off -= size;
	}
	return NULL;
}

static const struct model_entry *find_listed(const struct model_key *k, u64 *off, u64 *n)
{
	const struct model_entry *e;
	u64 size;

	for (e = k->entry; e < k->entry + MODEL_ENTRIES; e++, *off -= size) {
		size = k->mode == MLX5R_MKEY_MODE_KLM ? e->bytes : 1ull << k->page_shift;
		if (*off < size) {
			*n = min(*n, size - *off);
			return e;
		}
	}
	return NULL;
}

static u8 *locate(struct model_seg seg, u64 *n, int depth)
{
	const struct model_key *k = depth < MAX_NESTING ? allowed(&seg, *n) : NULL;
	const struct model_entry *e;
	u64 off;

	if (!k)
		return NULL;
	if (k == &null_key)
		return null_memory(seg.access, n);
	off = seg.addr - k->start;
	if (k->mode == MLX5R_MKEY_MODE_MTT)
		off += k->start % HCA_PAGE_SIZE;
	if (k->mode == MLX5R_MKEY_MODE_KLM && k->entry[0].key == MLX5R_KLM_REPEAT)
		e = find_repeated(k, &off, n);
	else
		e = find_listed(k, &off, n);
	if (!e)
		return NULL;
	if (k->mode == MLX5R_MKEY_MODE_MTT)
		return e->addr ? model_ptr(e->addr + off, *n) : NULL;
	if (e->key == null_key.key && seg.access & MLX5R_MKEY_ACCESS_A)
		return NULL;
	seg.key = e->key;
	seg.addr = e->addr + off;
	seg.access = inner_access(seg.access);
	return locate(seg, n, depth + 1);
}

u8 *model_at(const struct model_seg *seg, u64 *n)
{
	return seg->data ? seg->data : locate(*seg, n, 0);
}

static void advance(struct model_seg *seg, u64 n)
{
	seg->addr += n;
	if (seg->data)
		seg->data += n;
}

enum model_err model_copy(struct model_seg to, struct model_seg from, u64 len)
{
	u64 n, m;
	u8 *f, *t;

	for (; len; len -= n) {
		n = m = len;
		f = model_at(&from, &n);
		if (!f)
			return MODEL_FROM;
		t = model_at(&to, &m);
		if (!t)
			return MODEL_TO;
		n = min(n, m);
		memcpy(t, f, n);
		advance(&from, n);
		advance(&to, n);
	}
	return MODEL_OK;
}

/* ---- Comparison -------------------------------------------------------------------- */

static void check_memory(void)
{
	const u8 *is = session_ptr(&s, area);
	u32 i;

	if (!memcmp(is, copy, AREA_BYTES))
		return;
	for (i = 0; is[i] == copy[i]; i++)
		;
	fprintf(stderr, "model: at %#x: %#x, predicted %#x\n", i, is[i], copy[i]);
	check(false, "memory differs");
}

bool model_run(const struct action *t, struct session_qp *q, u8 *wqe)
{
	if (t->damage)
		wqe[t->damage_at % MLX5R_WQEBB] ^= t->damage;
	xv_commit_send(&q->qp);
	session_settle(&s);
	if (t->damage)
		memcpy(copy + GUARD_BYTES, session_ptr(&s, area + GUARD_BYTES), 4 * REGION_BYTES);
	check_memory();
	check(session_turns_bounded(&s), "a turn is too large");
	return !t->damage;
}

bool model_divert(const struct session_qp *q, u8 cs, struct model_seg *to, u64 len, u8 *data)
{
	u32 room = cs == 2 && q->cq.log_stride == 7 ? 64 : 32;

	if ((cs != 1 && cs != 2) || !len || len > room || !model_allows(to, len))
		return false;
	memset(data, 0, 64);
	to->data = data;
	return true;
}

/*
 * The library would copy the data to the address of the request, which may be one in an mkey
 * and not one of this process.
 */
void model_expect_data(struct session_qp *q, const u8 *data)
{
	struct mlx5r_cqe *cqe = (void *)xv_cq_next(&q->cq);
	const void *is = cqe ? xv_cqe_data(cqe) : NULL;

	check(!is == !data, data ? "the completion has no data" : "data in the completion");
	if (!is)
		return;
	check(!memcmp(is, data, is == cqe ? 32 : 64), "wrong data in the completion");
	cqe->op_own &= ~MLX5R_CQE_FORMAT_MASK;
}

void model_expect(struct session_qp *q, int status, struct xv_wc *wc)
{
	struct xv_wc more;
	int n = xv_poll_cq(&q->cq, 1, wc);
	int got = n ? (int)wc->status : NOTHING;

	if (got != status)
		fprintf(stderr, "model: status %d, predicted %d\n", got, status);
	check(got == status, "another status than predicted");
	check(!xv_poll_cq(&q->cq, 1, &more), "a second completion");
}
