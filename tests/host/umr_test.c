// SPDX-License-Identifier: GPL-2.0
/*
 * Indirect keys, filled with the builders of the library: lists and repeating blocks, nested,
 * used by every operation locally and remotely.  All bytes are compared with a model that
 * lists the address of each byte of a key.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/slab.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"
#include "umr_model.h"

#define MR_BYTES	(256u << 10)
#define RANDOM_BYTES	(32u << 10)	/* of it, for random layouts */

static struct session s;
static struct session_mr mr[2], plain[2], lists[2];
static struct session_qp a, b;

static void connect(void)
{
	session_qp(&s, 0, MLX5_QP_ST_RC, 6, 4, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 6, 4, &b);
	session_connect(&a, &b);
}

static void disconnect(void)
{
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	session_cq_destroy(&a);
	session_cq_destroy(&b);
}

/* The status of the only completion of @q */
static int status_of(struct session_qp *q)
{
	struct xv_wc wc = { .status = ~0 };

	xv_commit_send(&q->qp);
	session_settle(&s);
	return xv_poll_cq(&q->cq, 1, &wc) == 1 ? (int)wc.status : -1;
}

static struct xv_mkey make_key(int func, u32 entries)
{
	u32 key = session_umr_key(&s, func, MLX5R_MKEY_MODE_KLM, entries);

	hca_mkey_get(s.hca[func], key)->access = MLX5R_MKEY_ACCESS_LR;
	return (struct xv_mkey) { .lkey = key, .rkey = key, .max_entries = entries };
}

static void use_list(struct xv_umr *umr, int func)
{
	umr->list = lists[func].ptr;
	umr->list_addr = lists[func].addr;
	umr->list_lkey = lists[func].key;
}

static int fill(struct session_qp *q, const struct xv_umr *umr)
{
	int err = xv_wr_umr_fill(&q->qp, 1, XV_SEND_SIGNALED, umr);

	return err ? err : status_of(q);
}

/* ---- Random layouts ------------------------------------------------------------------- */

/* Fills the key of @l at random, from @of or from the region. */
static bool random_fill(int func, struct session_qp *q, const struct um_layout *of,
			struct um_layout *l)
{
	struct um_region region = { mr[func].addr, mr[func].ptr, mr[func].key, RANDOM_BYTES };
	struct um_fill f;

	um_random(&region, of, l, &f);
	if (um_below(2))
		use_list(&f.umr, func);
	return fill(q, &f.umr) == XV_WC_SUCCESS;
}

static void scramble(void)
{
	u32 i;

	for (i = 0; i < RANDOM_BYTES; i++) {
		mr[0].ptr[i] = rand();
		mr[1].ptr[i] = rand();
	}
	for (i = 0; i < UM_BYTES; i++) {
		plain[0].ptr[i] = rand();
		plain[1].ptr[i] = rand();
	}
}

enum use { WRITE_FROM, WRITE_TO, READ_FROM, READ_TO, SEND_FROM, SEND_TO, USES };

/* Executes one request with @n bytes at @off of a key of function 0 (local) or 1 (remote). */
static bool use(enum use how, const struct um_layout *local, const struct um_layout *remote,
		u32 off, u32 n)
{
	struct xv_sge l = { UM_BASE + off, n, local->key->lkey };
	struct xv_sge r = { UM_BASE + off, n, remote->key->lkey };
	struct xv_sge here = session_sge(&plain[0], 0, n), there = session_sge(&plain[1], 0, n);
	bool far = how == WRITE_TO || how == READ_FROM || how == SEND_TO;
	const struct um_layout *with = far ? remote : local;
	const u8 *peer = far ? plain[0].ptr : plain[1].ptr;
	struct xv_wc wc;

	switch (how) {
	case WRITE_FROM:
		xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &l, there.addr, there.lkey);
		break;
	case WRITE_TO:
		xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &here, r.addr, r.lkey);
		break;
	case READ_FROM:
		xv_wr_read(&a.qp, 1, XV_SEND_SIGNALED, &here, r.addr, r.lkey);
		break;
	case READ_TO:
		xv_wr_read(&a.qp, 1, XV_SEND_SIGNALED, &l, there.addr, there.lkey);
		break;
	default:
		xv_wr_recv(&b.qp, 2, how == SEND_TO ? &r : &there);
		xv_commit_recv(&b.qp);
		xv_wr_send(&a.qp, 1, XV_SEND_SIGNALED, how == SEND_TO ? &here : &l);
	}
	if (status_of(&a) != XV_WC_SUCCESS)
		return false;
	if (how >= SEND_FROM && (xv_poll_cq(&b.cq, 1, &wc) != 1 || wc.byte_len != n))
		return false;
	return um_same(with, off, peer, n);
}

/* Layouts on both sides, nested @depth times, each used by all requests */
static void test_random(u32 depth)
{
	static struct um_layout l[2][HCA_MAX_NESTING];
	static struct xv_mkey key[2][HCA_MAX_NESTING];
	u32 round, i, good = 0, want = 0;
	int func;

	for (func = 0; func < 2; func++)
		for (i = 0; i < depth; i++) {
			key[func][i] = make_key(func, 16);
			l[func][i].key = &key[func][i];
		}
	connect();
	for (round = 0; round < 30; round++) {
		enum use how;
		const struct um_layout *at[2];

		for (i = 0; i < depth; i++) {
			good += random_fill(0, &a, i ? &l[0][i - 1] : NULL, &l[0][i]);
			good += random_fill(1, &b, i ? &l[1][i - 1] : NULL, &l[1][i]);
			want += 2;
		}
		at[0] = &l[0][depth - 1];
		at[1] = &l[1][depth - 1];
		for (how = 0; how < USES; how++, want++) {
			u32 room = min(at[0]->bytes, at[1]->bytes), off = um_below(room);

			scramble();
			good += use(how, at[0], at[1], off, 1 + um_below(room - off));
		}
	}
	tap_is(good, want, "%u keys in a chain, random layouts: each byte is right", depth);
	for (func = 0; func < 2; func++)
		for (i = 0; i < depth; i++)
			session_key_destroy(&s, func, key[func][i].lkey);
	disconnect();
}

/* ---- Every error ---------------------------------------------------------------------- */

static struct xv_sge one_region(u32 off, u32 len)
{
	return session_sge(&mr[1], off, len);
}

/* The status of a write of @n bytes to address @addr of key @rkey; connects again. */
static int write_to(u32 rkey, u64 addr, u32 n)
{
	struct xv_sge here = session_sge(&plain[0], 0, n);
	int status;

	xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &here, addr, rkey);
	status = status_of(&a);
	disconnect();
	connect();
	return status;
}

/* The same at the sender: it gathers from its key. */
static int write_from(u32 lkey, u64 addr, u32 n)
{
	struct xv_sge l = { addr, n, lkey };
	int status;

	xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &l, plain[1].addr, plain[1].key);
	status = status_of(&a);
	disconnect();
	connect();
	return status;
}

static void test_range(void)
{
	struct xv_mkey k = make_key(1, 4);
	struct xv_sge sge[2] = { one_region(0, 100), one_region(1000, 28) };
	struct xv_umr umr = { .mkey = &k, .base_addr = UM_BASE, .access = UM_ACCESS, .num = 2,
			      .regions = sge };

	tap_is(write_to(k.rkey, UM_BASE, 1), XV_WC_REM_ACCESS_ERR, "a key that was never filled");
	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "fill");
	tap_is(write_to(k.rkey, UM_BASE, 128), XV_WC_SUCCESS, "all bytes");
	tap_is(write_to(k.rkey, UM_BASE, 129), XV_WC_REM_ACCESS_ERR, "a byte too many");
	tap_is(write_to(k.rkey, UM_BASE - 1, 1), XV_WC_REM_ACCESS_ERR, "a byte too early");
	umr.access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_READ;
	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "fill again without remote write");
	tap_is(write_to(k.rkey, UM_BASE, 1), XV_WC_REM_ACCESS_ERR, "no access");
	umr.access = UM_ACCESS;
	sge[1].addr = mr[1].addr + MR_BYTES - 27;
	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "fill with a region that ends outside its key");
	tap_is(write_to(k.rkey, UM_BASE, 127), XV_WC_SUCCESS, "the bytes inside");
	tap_is(write_to(k.rkey, UM_BASE, 128), XV_WC_REM_ACCESS_ERR, "the byte outside");
	xv_wr_umr_invalidate(&b.qp, 1, XV_SEND_SIGNALED, &k);
	tap_is(status_of(&b), XV_WC_SUCCESS, "invalidate");
	tap_is(write_to(k.rkey, UM_BASE, 1), XV_WC_REM_ACCESS_ERR, "an invalidated key");
	sge[1] = one_region(1000, 28);
	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "fill again");
	tap_is(write_to(k.rkey, UM_BASE, 128), XV_WC_SUCCESS, "its bytes");
	session_key_destroy(&s, 1, k.rkey);
	tap_is(write_to(k.rkey, UM_BASE, 1), XV_WC_REM_ACCESS_ERR, "a destroyed key");
}

/* A block whose last repetition ends outside its key; wrong numbers in the header */
static void test_block(void)
{
	struct xv_mkey k = make_key(1, 8);
	struct hca_mkey *m = hca_mkey_get(s.hca[1], k.lkey);
	struct xv_repeat_block block[2] = {
		{ .addr = mr[1].addr, .lkey = mr[1].key, .byte_count = 10, .stride = 0xffff },
		{ .addr = mr[1].addr + 64, .lkey = mr[1].key, .byte_count = 6, .stride = 0 },
	};
	struct xv_umr umr = { .mkey = &k, .access = UM_ACCESS, .num = 2, .blocks = block,
			      .repeat_count = 6 };

	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "a block that leaves its region");
	tap_is(write_to(k.rkey, 0, 64), XV_WC_SUCCESS, "the repetitions inside");
	tap_is(write_to(k.rkey, 0, 96), XV_WC_REM_ACCESS_ERR, "the repetition outside");
	m->len = 1000;
	tap_is(write_to(k.rkey, 96, 1), XV_WC_REM_ACCESS_ERR, "after the last repetition");
	hca_mkey_klm(m, 0)->size = 0;
	tap_is(write_to(k.rkey, 0, 1), XV_WC_REM_ACCESS_ERR, "a repetition of no bytes");
	hca_mkey_klm(m, 0)->size = 17;
	tap_is(write_to(k.rkey, 0, 16), XV_WC_SUCCESS, "a repetition longer than its parts");
	tap_is(write_to(k.rkey, 16, 1), XV_WC_REM_ACCESS_ERR, "the byte that no part has");
	hca_mkey_klm(m, 0)->size = 16;
	hca_mkey_klm(m, 0)->addr -= 1;
	tap_is(write_to(k.rkey, 10, 1), XV_WC_REM_ACCESS_ERR, "a part that the header omits");
	session_key_destroy(&s, 1, k.rkey);
}

/* Invalidates key @k with the flags of LOCAL_INV: the key must belong to the queue pair. */
static int local_inv(const struct xv_mkey *k)
{
	int status;

	xv_wr_local_inv(&b.qp, 1, XV_SEND_SIGNALED, k->rkey);
	status = status_of(&b);
	if (status != XV_WC_SUCCESS) {
		disconnect();
		connect();
	}
	return status;
}

static void test_local_inv(void)
{
	struct xv_mkey k = make_key(1, 4);
	struct hca_mkey *key = hca_mkey_get(s.hca[1], k.lkey);
	struct xv_sge sge = one_region(0, 64);
	struct xv_umr umr = { .mkey = &k, .base_addr = UM_BASE, .access = UM_ACCESS, .num = 1,
			      .regions = &sge };

	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "fill");
	tap_is(write_to(k.rkey, UM_BASE, 64), XV_WC_SUCCESS, "its memory");
	tap_is(local_inv(&k), XV_WC_SUCCESS, "LOCAL_INV of a key of all queue pairs");
	tap_is(write_to(k.rkey, UM_BASE, 64), XV_WC_REM_ACCESS_ERR, "it gives no access");
	tap_is(local_inv(&k), XV_WC_MW_BIND_ERR, "LOCAL_INV of a key that is free");
	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "fill again");
	key->qpn = b.qp.qp_num + 1;
	tap_is(local_inv(&k), XV_WC_MW_BIND_ERR, "LOCAL_INV of a key of another queue pair");
	key->qpn = b.qp.qp_num;
	tap_is(local_inv(&k), XV_WC_SUCCESS, "LOCAL_INV of a key of this queue pair");
	session_key_destroy(&s, 1, k.rkey);
}

/* Only depth keys may lead to a region; a key may not contain itself. */
static void test_depth(int func, int (*access)(u32 key, u64 addr, u32 n), int failure)
{
	struct session_mr *to = func ? &mr[1] : &mr[0];
	struct xv_mkey k[HCA_MAX_NESTING + 1];
	u32 i;

	for (i = 0; i <= HCA_MAX_NESTING; i++) {
		struct xv_sge sge = session_sge(to, 0, 64);
		struct xv_umr umr = { .mkey = &k[i], .base_addr = UM_BASE, .access = UM_ACCESS,
				      .num = 1, .regions = &sge };

		k[i] = make_key(func, 4);
		if (i)
			sge = (struct xv_sge) { UM_BASE, 64, k[i - 1].lkey };
		fill(func ? &b : &a, &umr);
	}
	tap_is(access(k[HCA_MAX_NESTING - 1].lkey, UM_BASE, 64), XV_WC_SUCCESS,
	       "%u keys in a chain", HCA_MAX_NESTING);
	tap_is(access(k[HCA_MAX_NESTING].lkey, UM_BASE, 64), failure, "one key too many");
	session_key_destroy(&s, func, k[1].lkey);
	tap_is(access(k[2].lkey, UM_BASE, 64), failure, "a destroyed key in the chain");
	{
		struct xv_sge self = { UM_BASE, 64, k[0].lkey };
		struct xv_umr umr = { .mkey = &k[0], .base_addr = UM_BASE, .access = UM_ACCESS,
				      .num = 1, .regions = &self };

		tap_is(fill(func ? &b : &a, &umr), XV_WC_SUCCESS, "a key filled with itself");
		tap_is(access(k[0].lkey, UM_BASE, 64), failure, "a key that contains itself");
	}
	for (i = 0; i <= HCA_MAX_NESTING; i++)
		session_key_destroy(&s, func, k[i].lkey);
}

static void test_foreign(void)
{
	struct xv_mkey k = make_key(1, 4);
	struct xv_sge sge = session_sge(&mr[1], 0, 64);
	struct xv_umr umr = { .mkey = &k, .base_addr = UM_BASE, .access = UM_ACCESS, .num = 1,
			      .regions = &sge };
	struct hca_mkey *region = hca_mkey_get(s.hca[1], mr[1].key);
	struct hca_mkey *key = hca_mkey_get(s.hca[1], k.lkey);

	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "fill");
	region->pd++;
	tap_is(write_to(k.rkey, UM_BASE, 64), XV_WC_REM_ACCESS_ERR, "a region of a foreign PD");
	region->pd--;
	key->pd++;
	tap_is(write_to(k.rkey, UM_BASE, 64), XV_WC_REM_ACCESS_ERR, "a key of a foreign PD");
	tap_is(fill(&b, &umr), XV_WC_MW_BIND_ERR, "filling a key of a foreign PD");
	disconnect();
	connect();
	key->pd--;
	use_list(&umr, 1);
	umr.list_lkey ^= 1;
	tap_is(fill(&b, &umr), XV_WC_LOC_PROT_ERR, "a list in memory with a wrong key");
	disconnect();
	connect();
	tap_is(write_to(k.rkey, UM_BASE, 64), XV_WC_SUCCESS, "the key is as before");
	k.max_entries = 100;
	umr.list_lkey ^= 1;
	key->xlt_max = 0;
	tap_is(fill(&b, &umr), XV_WC_LOC_QP_OP_ERR, "a list longer than the key allows");
	disconnect();
	connect();
	session_key_destroy(&s, 1, k.rkey);
}

/* The UMR queue of a driver reads its lists with a key of any PD. */
static void test_driver(void)
{
	struct xv_mkey k = make_key(1, 4);
	struct xv_sge sge = session_sge(&mr[1], 0, 64);
	struct xv_umr umr = { .mkey = &k, .base_addr = UM_BASE, .access = UM_ACCESS, .num = 1,
			      .regions = &sge };
	struct hca_mkey *list = hca_mkey_get(s.hca[1], lists[1].key);

	use_list(&umr, 1);
	list->pd++;
	tap_is(fill(&b, &umr), XV_WC_LOC_PROT_ERR, "a list of a foreign PD");
	disconnect();
	connect();
	hca_qp_get(s.hca[1], b.qp.qp_num)->st = MLX5_QP_ST_REG_UMR;
	tap_is(fill(&b, &umr), XV_WC_SUCCESS, "a list of a foreign PD, on the UMR queue");
	hca_qp_get(s.hca[1], b.qp.qp_num)->st = MLX5_QP_ST_RC;
	tap_is(write_to(k.rkey, UM_BASE, 64), XV_WC_SUCCESS, "its memory");
	list->pd--;
	session_key_destroy(&s, 1, k.rkey);
}

static void test_transports(void)
{
	static const u8 types[] = { MLX5_QP_ST_UC, MLX5_QP_ST_XRC };
	struct xv_mkey k = make_key(1, 4);
	struct xv_sge sge = one_region(0, 64);
	struct xv_umr umr = { .mkey = &k, .base_addr = UM_BASE, .access = UM_ACCESS, .num = 1,
			      .regions = &sge };
	struct session_qp c, d;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		session_qp(&s, 0, types[i], 6, 4, &c);
		session_qp(&s, 1, types[i], 6, 4, &d);
		session_connect(&c, &d);
		tap_is(fill(&d, &umr), XV_WC_SUCCESS, "fill on %s", i ? "XRC" : "UC");
		tap_is(write_to(k.rkey, UM_BASE, 64), XV_WC_SUCCESS, "its memory");
		xv_wr_umr_invalidate(&d.qp, 1, XV_SEND_SIGNALED, &k);
		tap_is(status_of(&d), XV_WC_SUCCESS, "invalidate");
		session_qp_destroy(&c);
		session_qp_destroy(&d);
	}
	session_key_destroy(&s, 1, k.rkey);
}

static void test_refused(void)
{
	struct xv_mkey k = { .lkey = 0x900, .max_entries = 8 };
	struct xv_sge sge[9] = {};
	struct xv_repeat_block block[8] = {};
	struct xv_umr umr = { .mkey = &k, .num = 8, .regions = sge, .access = UM_ACCESS };
	u32 i, pi = a.qp.sq.pi;

	for (i = 0; i < 8; i++) {
		sge[i].length = 1;
		block[i].byte_count = 1;
	}
	sge[7].length = 0;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "an empty region");
	sge[7].length = 1;
	umr.num = 0;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "no region");
	umr.num = 9;
	sge[8].length = 1;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "a region too many");
	umr.num = 8;
	umr.access |= XV_ACCESS_MW_BIND;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "an access flag");
	umr.access = UM_ACCESS;
	use_list(&umr, 0);
	umr.list_addr += 1024;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "an unaligned list");
	umr.list = NULL;
	umr.blocks = block;
	umr.repeat_count = 1;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "no room for the header of a block");
	umr.num = 7;
	umr.repeat_count = 0;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "no repetition");
	umr.repeat_count = 1;
	block[3].byte_count = 0x10000;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "a part of 64 KiB");
	block[3].byte_count = 1;
	block[3].stride = 0x10000;
	tap_is(xv_wr_umr_fill(&a.qp, 1, 0, &umr), -XV_EINVAL, "a stride of 64 KiB");
	tap_is(a.qp.sq.pi, pi, "nothing was posted");
}

/* ---- Passes that may not sleep ---------------------------------------------------------- */

static int fill_atomic(struct session_qp *q, const struct xv_umr *umr, bool *slept)
{
	u64 end = ktime_get_ns() + NSEC_PER_SEC;
	struct xv_wc wc = { .status = ~0 };
	int n = 0;

	xv_wr_umr_fill(&q->qp, 1, XV_SEND_SIGNALED, umr);
	xv_commit_send(&q->qp);
	*slept = false;
	while (!n && ktime_get_ns() < end) {
		hca_fabric_poll_atomic(&s.fabric);
		*slept |= hca_fabric_must_sleep(&s.fabric);
		n = xv_poll_cq(&q->cq, 1, &wc);
	}
	return n == 1 ? (int)wc.status : -1;
}

static void test_atomic(void)
{
	static struct xv_sge sge[2048];
	struct xv_mkey k = make_key(1, ARRAY_SIZE(sge));
	struct xv_umr umr = { .mkey = &k, .base_addr = UM_BASE, .access = UM_ACCESS, .num = 1,
			      .regions = sge };
	bool slept;
	u32 i;

	use_list(&umr, 1);
	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = one_region(i * 8, 8);
	tap_is(fill_atomic(&b, &umr, &slept), XV_WC_SUCCESS, "a first fill");
	ok(!slept, "it does not sleep");
	umr.num = 1024;
	tap_is(fill_atomic(&b, &umr, &slept), XV_WC_SUCCESS, "1024 entries");
	ok(!slept, "that does not sleep");
	umr.num = 2048;
	tap_is(fill_atomic(&b, &umr, &slept), XV_WC_SUCCESS, "2048 entries");
	ok(!slept, "nor does that");
	tap_is(write_to(k.rkey, UM_BASE + 1000, 4000), XV_WC_SUCCESS, "its memory");
	ok(!memcmp(mr[1].ptr + 1000, plain[0].ptr, 4000), "the data is right");
	shim_alloc_fail = 0;
	tap_is(fill_atomic(&b, &umr, &slept), XV_WC_SUCCESS, "again");
	ok(!slept && !shim_alloc_fail, "a table that is large enough needs no memory");
	shim_alloc_fail = -1;
	session_key_destroy(&s, 1, k.rkey);

	k = make_key(1, 16);
	umr.num = 16;
	shim_alloc_fail = 0;
	tap_is(fill_atomic(&b, &umr, &slept), XV_WC_SUCCESS, "a fill without free memory");
	ok(!slept && shim_alloc_fail == -1, "it is tried again later, and does not sleep");
	tap_is(write_to(k.rkey, UM_BASE, 128), XV_WC_SUCCESS, "its memory");
	session_key_destroy(&s, 1, k.rkey);
}

int main(void)
{
	int func;
	u32 depth;

	session_init(&s);
	for (func = 0; func < 2; func++) {
		mr[func] = session_mr(&s, func, MR_BYTES, ALL_ACCESS);
		plain[func] = session_mr(&s, func, UM_BYTES, ALL_ACCESS);
		lists[func] = session_mr(&s, func, 32768, MLX5R_MKEY_ACCESS_LR);
	}
	for (depth = 1; depth <= HCA_MAX_NESTING; depth++)
		test_random(depth);
	connect();
	test_range();
	test_block();
	test_depth(1, write_to, XV_WC_REM_ACCESS_ERR);
	test_depth(0, write_from, XV_WC_LOC_PROT_ERR);
	test_foreign();
	test_driver();
	test_local_inv();
	test_transports();
	test_refused();
	test_atomic();
	disconnect();
	ok(session_turns_bounded(&s), "no turn is above the limits");
	session_free(&s);
	return tap_done();
}
