// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of a turn: requests with indirect mkeys, multicasts and long UMRs take several turns.
 * Other queues run between these turns.
 */
#include <stdlib.h>
#include <string.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define DEPTH		4u
#define GRH		40u
#define MTU		4096u
#define DATAGRAM	(GRH + MTU)
#define MEMBERS		HCA_MAX_QP_MCG
#define LONG_LIST	40000u		/* octowords */
#define MR_BYTES	65536u

static struct session s;
static struct session_mr mr[2];
static struct session_qp a, b;		/* another connection */

static struct hca_mkey *mkey(int func, u32 key)
{
	return hca_mkey_get(s.hca[func], key);
}

/* Makes a key of @n entries of one byte each. They map @addr of @inner in reverse order. */
static u32 byte_key(int func, u32 inner, u64 addr, u32 n)
{
	struct mlx5r_klm *klm = calloc(n, sizeof(*klm));
	u32 key = session_umr_key(&s, func, MLX5R_MKEY_MODE_KLM, n), i;
	struct hca_mkey *k = mkey(func, key);

	for (i = 0; i < n; i++)
		klm[i] = (struct mlx5r_klm) {
			.byte_count = cpu_to_be32(1),
			.mkey = cpu_to_be32(inner),
			.addr = cpu_to_be64(addr + n - 1 - i),
		};
	hca_mkey_set_klms(k, 0, n, klm, true);
	k->free = false;
	k->len = n;
	k->access = ALL_ACCESS;
	free(klm);
	return key;
}

/* Makes a chain of keys of the maximum depth. An even depth restores the order of bytes. */
static u32 nested_key(int func, u32 n)
{
	u32 key = byte_key(func, mr[func].key, mr[func].addr, n), i;

	for (i = 1; i < DEPTH; i++)
		key = byte_key(func, key, 0, n);
	return key;
}

static void clear_largest(void)
{
	memset(s.fabric.stat.largest, 0, sizeof(s.fabric.stat.largest));
}

/* ---- Lists are searched by bisection ------------------------------------------------- */

static void test_search(void)
{
	static const u32 sizes[] = { 5, 0, 0, 7, 1, 0, 100, 0 };
	struct mlx5r_klm klm[ARRAY_SIZE(sizes)];
	u32 key = session_umr_key(&s, 0, MLX5R_MKEY_MODE_KLM, ARRAY_SIZE(sizes));
	struct hca_key_user u = {
		.hca = s.hca[0], .pd = s.pd[0], .access = MLX5R_MKEY_ACCESS_LR,
	};
	struct hca_mkey *k = mkey(0, key);
	u32 i, at, end = 0, good = 0;
	u64 one = 1;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		klm[i] = (struct mlx5r_klm) {
			.byte_count = cpu_to_be32(sizes[i]), .mkey = cpu_to_be32(mr[0].key),
			.addr = cpu_to_be64(mr[0].addr + 1000 * i),
		};
	hca_mkey_set_klms(k, 0, ARRAY_SIZE(sizes), klm, true);
	k->free = false;
	k->len = 200;
	k->access = ALL_ACCESS;
	for (i = 0; i < ARRAY_SIZE(sizes); end += sizes[i++])
		for (at = 0; at < sizes[i]; at++) {
			u64 len = 200 - end - at;

			good += hca_key_map(&u, key, end + at, &len) ==
				mr[0].ptr + 1000 * i + at && len == sizes[i] - at;
		}
	tap_is(good, end, "each byte of a list with empty entries is mapped");
	ok(!hca_key_map(&u, key, end, &one), "the byte after the last entry is not mapped");
	klm[3].byte_count = cpu_to_be32(2);
	hca_mkey_set_klms(k, 3, 1, &klm[3], true);
	one = 1;
	ok(hca_key_map(&u, key, 7, &one) == mr[0].ptr + 4000,
	   "a shorter entry changes the addresses of later ones");
	session_key_destroy(&s, 0, key);
}

static void test_list_limit(void)
{
	u32 in[MLX5_ST_SZ_DW(create_mkey_in)] = {}, out[MLX5_ST_SZ_DW(create_mkey_out)] = {};
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	MLX5_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5R_MKEY_MODE_KLM);
	MLX5_SET(mkc, mkc, pd, s.pd[0]);
	MLX5_SET(mkc, mkc, qpn, HCA_ANY_QPN);
	MLX5_SET(mkc, mkc, translations_octword_size, (1u << 16) + 1);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	tap_is(be32_to_cpu(((__be32 *)out)[1]), HCA_SYND_MKEY_SIZE,
	       "a list longer than the capability is refused");
	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5R_MKEY_MODE_KSM & 3);
	MLX5_SET(mkc, mkc, access_mode_4_2, MLX5R_MKEY_MODE_KSM >> 2);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	tap_is(be32_to_cpu(((__be32 *)out)[1]), HCA_SYND_MKEY_SIZE,
	       "a list of entries of one size, too");
}

/* ---- Connections ----------------------------------------------------------------------- */

static int write_status(struct session_qp *from, u32 lkey, u32 rkey, u64 raddr, u32 bytes)
{
	struct xv_sge sge = { .addr = lkey == mr[0].key ? mr[0].addr : 0, .length = bytes,
			      .lkey = lkey };
	struct xv_wc wc = { .status = ~0 };

	xv_wr_write(&from->qp, 1, XV_SEND_SIGNALED, &sge, raddr, rkey);
	xv_commit_send(&from->qp);
	session_settle(&s);
	xv_poll_cq(&from->cq, 1, &wc);
	return wc.status;
}

static void test_write(void)
{
	u32 n = 20000, from = nested_key(0, n), to = nested_key(1, n), i;

	for (i = 0; i < MR_BYTES; i++)
		mr[0].ptr[i] = i * 7 ^ i >> 8;
	memset(mr[1].ptr, 0, MR_BYTES);
	clear_largest();
	tap_is(write_status(&a, from, to, 0, n), XV_WC_SUCCESS,
	       "a write from and to keys nested %u deep, with entries of a byte", DEPTH);
	ok(!memcmp(mr[0].ptr, mr[1].ptr, n) && !mr[1].ptr[n], "its data is right");
	ok(session_turns_bounded(&s) && s.fabric.stat.largest[HCA_PIECES] < n,
	   "several turns, none above the limits");
	session_key_destroy(&s, 0, from);
	session_key_destroy(&s, 1, to);
}

/* ---- Contiguous pages -------------------------------------------------------------------- */

static u64 piece_at(u64 off)
{
	struct hca_key_user u = {
		.hca = s.hca[0], .pd = s.pd[0], .qpn = a.qp.qp_num, .access = MLX5R_MKEY_ACCESS_LR,
	};
	u64 len = MR_BYTES - off;

	return hca_key_map(&u, mr[0].key, mr[0].addr + off, &len) ? len : 0;
}

static void map_page(u32 page, u32 to)
{
	__be64 mtt = cpu_to_be64(mr[0].addr + to * HCA_PAGE_SIZE);

	hca_mkey_set_mtts(mkey(0, mr[0].key), page, 1, &mtt, true);
}

static void test_contiguous(void)
{
	tap_is(piece_at(10), MR_BYTES - 10, "pages that are contiguous in memory are one piece");
	map_page(3, 8);
	tap_is(piece_at(10), 3 * HCA_PAGE_SIZE - 10, "it ends before a page that is elsewhere");
	tap_is(piece_at(3 * HCA_PAGE_SIZE + 5), HCA_PAGE_SIZE - 5, "that page is a piece");
	map_page(3, 3);
	memset(mr[1].ptr, 0, MR_BYTES);
	clear_largest();
	tap_is(write_status(&a, mr[0].key, mr[1].key, mr[1].addr, MR_BYTES), XV_WC_SUCCESS,
	       "a write of contiguous pages");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, MR_BYTES), "its data is right");
	tap_is(s.fabric.stat.largest[HCA_BYTES], MR_BYTES, "it takes one turn");
	tap_is(s.fabric.stat.largest[HCA_PIECES], 1, "with one piece");
}

/* ---- Multicast ------------------------------------------------------------------------- */

static const u8 group[16] = { 0xff, 0x0e, [15] = 5 };

static u8 membership(struct session_qp *q, u16 opcode)
{
	u32 in[MLX5_ST_SZ_DW(attach_to_mcg_in)] = {}, out[MLX5_ST_SZ_DW(attach_to_mcg_out)] = {};

	MLX5_SET(attach_to_mcg_in, in, opcode, opcode);
	MLX5_SET(attach_to_mcg_in, in, qpn, q->qp.qp_num);
	memcpy(MLX5_ADDR_OF(attach_to_mcg_in, in, multicast_gid), group, 16);
	return session_cmd(&s, q->func, in, sizeof(in), out, sizeof(out));
}

static struct session_qp member[SESSION_FUNCS][MEMBERS], sender, late;

static void make_member(struct session_qp *q, int func, u32 key)
{
	struct xv_sge sge = { .length = DATAGRAM, .lkey = key };

	session_qp(&s, func, MLX5_QP_ST_UD, 1, 1, q);
	session_connect(q, q);
	xv_wr_recv(&q->qp, 2, &sge);
	xv_commit_recv(&q->qp);
	membership(q, MLX5_CMD_OP_ATTACH_TO_MCG);
}

static u32 received(struct session_qp *q)
{
	struct xv_wc wc;
	u32 n = 0;

	while (xv_poll_cq(&q->cq, 1, &wc) == 1)
		n += wc.status == XV_WC_SUCCESS && wc.byte_len == DATAGRAM;
	return n;
}

static u64 multicasts_received(int func)
{
	return s.hca[func]->port[0].count.mcast_rcv_packets;
}

static void begin_multicast(void)
{
	u32 key[SESSION_FUNCS], i;
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		key[func] = nested_key(func, DATAGRAM);
		for (i = 0; i < MEMBERS; i++)
			make_member(&member[func][i], func, key[func]);
	}
	session_qp(&s, 0, MLX5_QP_ST_UD, 2, 2, &sender);
	session_connect(&sender, &sender);
	session_settle(&s);
}

static void send_multicast(u32 key)
{
	struct xv_sge sge = { .length = MTU, .lkey = key };
	struct xv_ah ah = session_ah(&s, 1);

	memcpy(ah.av.rgid, group, sizeof(group));
	xv_wr_send_ud(&sender.qp, 1, XV_SEND_SIGNALED, &sge, &ah, 0xffffff, SESSION_QKEY);
	xv_commit_send(&sender.qp);
}

/* Number of passes that a write of another QP takes while the multicast runs */
static u32 other_write(void)
{
	struct xv_sge sge = session_sge(&mr[0], 32768, 64);
	struct xv_wc wc;
	u32 passes = 0;

	xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 32768, mr[1].key);
	xv_commit_send(&a.qp);
	do {
		hca_fabric_poll(&s.fabric);
		passes++;
	} while (!xv_poll_cq(&a.cq, 1, &wc) && passes < 1000);
	return wc.status ? 1000 : passes;
}

static void test_multicast(void)
{
	u32 key, i, good = 0, passes = 0, worst = 0, n;
	u64 before[SESSION_FUNCS];
	struct xv_wc wc;
	int func;

	begin_multicast();
	key = nested_key(0, DATAGRAM);
	for (func = 0; func < SESSION_FUNCS; func++)
		before[func] = multicasts_received(func);
	clear_largest();
	send_multicast(key);
	hca_fabric_poll(&s.fabric);
	/*
	 * During the multicast a member that has its datagram leaves, a member that does not
	 * have it leaves, and a QP joins.
	 */
	while (!passes || !xv_poll_cq(&sender.cq, 1, &wc)) {
		n = other_write();
		worst = max(worst, n);
		passes++;
		if (good || received(&member[0][0]) != 1)
			continue;
		good = 1;
		membership(&member[0][0], MLX5_CMD_OP_DETACH_FROM_MCG);	/* has it */
		membership(&member[1][MEMBERS - 1], MLX5_CMD_OP_DETACH_FROM_MCG);
		make_member(&late, 1, nested_key(1, DATAGRAM));
	}
	tap_is(wc.status, XV_WC_SUCCESS, "a multicast to %u members with nested keys is sent",
	       2 * MEMBERS);
	ok(passes > 10 && worst <= 4, "many turns, the write of another QP takes %u passes",
	   worst);
	ok(session_turns_bounded(&s), "no turn is above the limits");
	for (func = 0; func < SESSION_FUNCS; func++)
		for (i = 0; i < MEMBERS; i++)
			good += received(&member[func][i]) == 1;
	tap_is(good, 2 * MEMBERS - 1, "every other member received it once");
	tap_is(received(&member[1][MEMBERS - 1]), 0,
	       "the member that left before its turn did not");
	tap_is(received(&late), 1, "the QP that joined did");
	for (func = 0; func < SESSION_FUNCS; func++)
		tap_is(multicasts_received(func) - before[func], 1, "port %d counts one packet",
		       func);
}

/* ---- UMR ------------------------------------------------------------------------------- */

struct umr {
	struct mlx5r_ctrl ctrl;
	struct mlx5r_umr_ctrl umr;
	struct mlx5r_mkey key;
	struct mlx5r_data data;
};

static void post_umr(struct session_qp *q, u32 key, const struct session_mr *list, u32 n,
		     u32 first, u64 bytes)
{
	struct umr r = {
		.ctrl.qpn_ds = cpu_to_be32(sizeof(r) / MLX5R_DS),
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_UMR),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.ctrl.imm = cpu_to_be32(key),
		.umr.flags = MLX5R_UMR_CHECK_NOT_FREE | MLX5R_UMR_XLT_OFFSET_EN,
		.umr.xlt_octowords = cpu_to_be16(n),
		.umr.xlt_offset = cpu_to_be16(first),
		.umr.mkey_mask = cpu_to_be64(MLX5R_MKEY_MASK_FREE | MLX5R_MKEY_MASK_LEN |
					     MLX5R_MKEY_MASK_RW | MLX5R_MKEY_MASK_LR),
		.key.flags = MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_LR,
		.key.len = cpu_to_be64(bytes),
		.data.addr = cpu_to_be64(list->addr),
		.data.lkey = cpu_to_be32(list->key),
	};

	xv_wr_raw(&q->qp, 3, &r);
	xv_commit_send(&q->qp);
}

static void test_umr(void)
{
	struct session_mr list = session_mr(&s, 1, LONG_LIST * 16, ALL_ACCESS);
	u32 key = session_umr_key(&s, 1, MLX5R_MKEY_MODE_KLM, LONG_LIST), i;
	struct mlx5r_klm *klm = (void *)list.ptr;
	struct hca_mkey *k = mkey(1, key);
	struct session_qp c, d;
	struct xv_wc wc = { .status = ~0 };

	for (i = 0; i < LONG_LIST; i++)
		klm[i] = (struct mlx5r_klm) {
			.byte_count = cpu_to_be32(1), .mkey = cpu_to_be32(mr[1].key),
			.addr = cpu_to_be64(mr[1].addr + i),
		};
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &c);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &d);
	session_connect(&c, &d);
	clear_largest();
	post_umr(&d, key, &list, LONG_LIST, 0, LONG_LIST);
	for (i = 0; i < 100 && !k->loading; i++)
		hca_fabric_poll(&s.fabric);
	ok(!xv_poll_cq(&d.cq, 1, &wc) && k->loading && k->free,
	   "a UMR of %u entries takes several turns", LONG_LIST);
	session_settle(&s);
	ok(xv_poll_cq(&d.cq, 1, &wc) == 1 && wc.status == XV_WC_SUCCESS && !k->free,
	   "the UMR succeeds");
	ok(session_turns_bounded(&s), "no turn is above the limits");
	memset(mr[1].ptr, 0, MR_BYTES);
	tap_is(write_status(&a, mr[0].key, key, 0, LONG_LIST), XV_WC_SUCCESS, "a write to the key");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, LONG_LIST), "its data is right");

	k->free = true;
	post_umr(&d, key, &list, LONG_LIST, 0, LONG_LIST);
	hca_fabric_poll(&s.fabric);
	session_qp_modify(&d, MLX5_CMD_OP_2ERR_QP, NULL);
	k->free = false;
	tap_is(write_status(&a, mr[0].key, key, 0, 64), XV_WC_REM_ACCESS_ERR,
	       "a key whose UMR did not complete cannot be used");
	session_qp_destroy(&c);
	session_qp_destroy(&d);
}

/* ---- Long lists of many keys ----------------------------------------------------------- */

#define KEYS	14u			/* segments of a request, each with a key of its own */

static void test_many_lists(void)
{
	struct session_mr list = session_mr(&s, 0, LONG_LIST * 16, ALL_ACCESS);
	struct mlx5r_klm *klm = (void *)list.ptr;
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_raddr to;
		struct mlx5r_data data[KEYS];
	} wqe = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_RDMA_WRITE),
		.ctrl.qpn_ds = cpu_to_be32(sizeof(wqe) / MLX5R_DS),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.to = { .addr = cpu_to_be64(mr[1].addr), .rkey = cpu_to_be32(mr[1].key) },
	};
	u32 key[KEYS], i, good = 0;
	struct session_qp c, d;
	struct xv_wc wc;

	/* A list whose last byte is in its last entry: all entries before it are summed. */
	for (i = 0; i < LONG_LIST; i++)
		klm[i] = (struct mlx5r_klm) {
			.byte_count = cpu_to_be32(1), .mkey = cpu_to_be32(mr[0].key),
			.addr = cpu_to_be64(mr[0].addr + i),
		};
	session_qp(&s, 0, MLX5_QP_ST_RC, 5, 4, &c);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &d);
	session_connect(&c, &d);
	clear_largest();
	for (i = 0; i < KEYS; i++) {
		key[i] = session_umr_key(&s, 0, MLX5R_MKEY_MODE_KLM, LONG_LIST);
		post_umr(&c, key[i], &list, LONG_LIST, 0, LONG_LIST);
		session_settle(&s);
		good += xv_poll_cq(&c.cq, 1, &wc) == 1 && wc.status == XV_WC_SUCCESS;
		wqe.data[i] = (struct mlx5r_data) {
			.byte_count = cpu_to_be32(1), .lkey = cpu_to_be32(key[i]),
			.addr = cpu_to_be64(LONG_LIST - 1 - i),
		};
	}
	tap_is(good, KEYS, "UMRs of %u long lists succeed", KEYS);
	memset(mr[1].ptr, 0, KEYS);
	xv_wr_raw(&c.qp, DIV_ROUND_UP(sizeof(wqe), MLX5R_WQEBB), &wqe);
	xv_commit_send(&c.qp);
	session_settle(&s);
	ok(xv_poll_cq(&c.cq, 1, &wc) == 1 && wc.status == XV_WC_SUCCESS,
	   "a short write from all of them");
	for (i = good = 0; i < KEYS; i++)
		good += mr[1].ptr[i] == mr[0].ptr[LONG_LIST - 1 - i];
	tap_is(good, KEYS, "its data is right");
	ok(s.fabric.stat.largest[HCA_ENTRIES] < LONG_LIST / HCA_SUMS_PER_ENTRY,
	   "no turn sums a whole list");
	for (i = 0; i < KEYS; i++)
		session_key_destroy(&s, 0, key[i]);
	session_qp_destroy(&c);
	session_qp_destroy(&d);
}

/* ---- Passes that may not sleep --------------------------------------------------------- */

#define PAGES	(20u << (20 - HCA_PAGE_SHIFT))	/* in a registration of 20 MiB */

/* The status of the only completion of @q, without a pass that may sleep */
static int status_atomic(struct session_qp *q)
{
	struct xv_wc wc = { .status = ~0 };
	u32 i, n = 0;

	for (i = 0; i < 10000 && !n; i++) {
		hca_fabric_poll_atomic(&s.fabric);
		n = xv_poll_cq(&q->cq, 1, &wc);
	}
	return n == 1 && !hca_fabric_must_sleep(&s.fabric) ? (int)wc.status : -1;
}

/* The pages of the list are those of one buffer, one after the other, in a circle. */
static u32 pages_right(u32 key, const struct session_mr *memory, u32 n)
{
	struct hca_key_user u = {
		.hca = s.hca[1], .pd = s.pd[1], .access = MLX5R_MKEY_ACCESS_LR,
	};
	u32 i, good = 0;

	for (i = 0; i < n; i++) {
		u64 len = HCA_PAGE_SIZE;

		good += hca_key_map(&u, key, (u64)i * HCA_PAGE_SIZE, &len) ==
			memory->ptr + i % 16 * HCA_PAGE_SIZE && len == HCA_PAGE_SIZE;
	}
	return good;
}

/* The fast registration of 20 MiB by a queue of the kernel, in one request */
static void test_pages_atomic(void)
{
	struct session_mr list = session_mr(&s, 1, PAGES * sizeof(__be64), ALL_ACCESS);
	struct session_mr memory = session_mr(&s, 1, 16 * HCA_PAGE_SIZE, ALL_ACCESS);
	u32 key = session_umr_key(&s, 1, MLX5R_MKEY_MODE_MTT, 1u << 27), i;
	__be64 *mtt = (void *)list.ptr;
	struct hca_mkey *k = mkey(1, key);
	struct session_qp d;

	for (i = 0; i < PAGES; i++)
		mtt[i] = cpu_to_be64(memory.addr + i % 16 * HCA_PAGE_SIZE);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &d);
	session_connect(&d, &d);
	hca_qp_get(s.hca[1], d.qp.qp_num)->rlky = true;
	tap_is(k->xlt.entries, 0, "a key for 1 TiB has no entries before they are set");
	k->page_shift = HCA_PAGE_SHIFT;
	clear_largest();
	post_umr(&d, key, &list, PAGES / 2, 0, (u64)PAGES * HCA_PAGE_SIZE);
	tap_is(status_atomic(&d), XV_WC_SUCCESS, "20 MiB are registered without a thread");
	tap_is(pages_right(key, &memory, PAGES), PAGES, "each page is right");
	tap_is(k->xlt.entries, PAGES, "the table has no other entries");
	k->free = true;
	post_umr(&d, key, &list, 8, 0xfff0, (u64)PAGES * HCA_PAGE_SIZE);
	tap_is(status_atomic(&d), XV_WC_SUCCESS, "entries far behind need no thread either");
	tap_is(pages_right(key, &memory, PAGES), PAGES, "each page is as before");
	ok(*hca_mkey_page(k, 0x1ffe0) == memory.ptr && !*hca_mkey_page(k, 0x1ffdf),
	   "pages between them are not memory");
	ok(session_turns_bounded(&s), "no turn is above the limits");
	session_qp_destroy(&d);
	session_key_destroy(&s, 1, key);
}

int main(void)
{
	session_init(&s);
	mr[0] = session_mr(&s, 0, MR_BYTES, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, MR_BYTES, ALL_ACCESS);
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &b);
	session_connect(&a, &b);
	test_search();
	test_list_limit();
	test_write();
	test_contiguous();
	test_multicast();
	test_umr();
	test_many_lists();
	test_pages_atomic();
	session_free(&s);
	return tap_done();
}
