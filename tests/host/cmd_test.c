// SPDX-License-Identifier: GPL-2.0
/*
 * Firmware commands: delivery, refusals, and effects on objects.  Each refusal is checked by
 * its syndrome.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/ktime.h>
#include <linux/mlx5/device.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define PULLED_NS	600000000ull	/* longer than the interval of the health counter */
enum {
	LOG_SLOTS	= 5,	/* of the command queue */
	SLOTS		= 1 << LOG_SLOTS,
};

#define LOST_DOORBELL_NS 100000000ull	/* a doorbell that has not come counts as lost */

static struct session s;

struct result {
	u8 status;
	u32 synd;
	u32 number;			/* in the output of most commands */
};

static struct result run(const void *in, u32 inlen, void *out, u32 outlen)
{
	struct result r;

	r.status = session_cmd(&s, 0, in, inlen, out, outlen);
	r.synd = be32_to_cpu(((__be32 *)out)[1]);
	r.number = be32_to_cpu(((__be32 *)out)[2]) & 0xffffff;
	return r;
}

/* A command of 16 bytes with a number at the common place */
static struct result brief(u16 opcode, u32 number)
{
	u32 in[4] = {}, out[4] = {};

	MLX5_SET(destroy_qp_in, in, opcode, opcode);
	MLX5_SET(destroy_qp_in, in, qpn, number);
	return run(in, sizeof(in), out, sizeof(out));
}

#define refused(call, name) do {							\
	struct result r_ = call;							\
	ok(r_.synd == HCA_SYND_##name && r_.status == hca_synd_status(r_.synd),	\
	   "%s: %s", #call, hca_synd_text(HCA_SYND_##name));			\
	if (r_.synd != HCA_SYND_##name)							\
		printf("# line %d: status %#x syndrome %#x\n", __LINE__, r_.status, r_.synd); \
} while (0)

#define accepted(call) ({								\
	struct result a_ = call;							\
	ok(!a_.status && !a_.synd, "%s", #call);					\
	if (a_.synd)									\
		printf("# line %d: %s\n", __LINE__, hca_synd_text(a_.synd));		\
	a_.number;									\
})

/* ---- The table and the checks of every command -------------------------------- */

static void test_table(void)
{
	const struct hca_opcode *op;
	unsigned int i;
	bool good = true;
	u32 synd;

	for (i = 0; (op = hca_opcode_at(i)); i++)
		good &= hca_opcode_find(op->opcode) == op && op->min_in >= 8 && op->min_out >= 8 &&
			(!i || op->opcode > hca_opcode_at(i - 1)->opcode);
	ok(good, "%u commands, each found by its opcode", i);
	for (synd = HCA_SYND_FIRST, good = true; synd < HCA_SYND_END; synd++)
		good &= hca_synd_status(synd) != MLX5_CMD_STAT_OK && *hca_synd_text(synd);
	ok(good, "%u syndromes, each with a status", synd - HCA_SYND_FIRST);
}

static struct result sized(u16 opcode, u32 inlen, u32 outlen)
{
	u32 in[64] = {}, out[64] = {};

	MLX5_SET(destroy_qp_in, in, opcode, opcode);
	return run(in, inlen, out, outlen);
}

static struct result with_user(u16 uid)
{
	u32 in[4] = {}, out[4] = {};

	MLX5_SET(alloc_pd_in, in, opcode, MLX5_CMD_OP_ALLOC_PD);
	MLX5_SET(alloc_pd_in, in, uid, uid);
	return run(in, sizeof(in), out, sizeof(out));
}

static struct result with_op_mod(u16 opcode, u16 op_mod)
{
	u32 in[4] = {}, out[4] = {};

	MLX5_SET(alloc_pd_in, in, opcode, opcode);
	MLX5_SET(alloc_pd_in, in, op_mod, op_mod);
	return run(in, sizeof(in), out, sizeof(out));
}

static void test_common(void)
{
	refused(brief(0xfff, 0), OPCODE);
	refused(brief(0, 0), OPCODE);
	refused(sized(MLX5_CMD_OP_ALLOC_PD, 12, 16), INLEN);
	refused(sized(MLX5_CMD_OP_ALLOC_PD, 16, 12), OUTLEN);
	refused(sized(MLX5_CMD_OP_CREATE_QP, 64, 16), INLEN);
	refused(with_user(1), UID);
	refused(with_op_mod(MLX5_CMD_OP_ALLOC_PD, 1), OPMOD);
	refused(with_op_mod(MLX5_CMD_OP_QUERY_PAGES, 0), OPMOD);
	refused(brief(MLX5_CMD_OP_ENABLE_HCA, 0), STAGE);
	refused(brief(MLX5_CMD_OP_INIT_HCA, 0), STAGE);
	accepted(brief(MLX5_CMD_OP_NOP, 0));
}

/* ---- Objects: missing, in use, destroyed ----------------------------------------------- */

static void test_absent(void)
{
	static const struct {
		u16 opcode;
		u32 synd;
	} absent[] = {
		{ MLX5_CMD_OP_DEALLOC_PD, HCA_SYND_PD }, { MLX5_CMD_OP_DEALLOC_UAR, HCA_SYND_UAR },
		{ MLX5_CMD_OP_DEALLOC_XRCD, HCA_SYND_XRCD },
		{ MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, HCA_SYND_TD },
		{ MLX5_CMD_OP_DESTROY_EQ, HCA_SYND_EQ }, { MLX5_CMD_OP_DESTROY_CQ, HCA_SYND_CQ },
		{ MLX5_CMD_OP_DESTROY_QP, HCA_SYND_QP }, { MLX5_CMD_OP_2RST_QP, HCA_SYND_QP },
		{ MLX5_CMD_OP_DESTROY_SRQ, HCA_SYND_SRQ },
		{ MLX5_CMD_OP_DESTROY_RMP, HCA_SYND_SRQ },
		{ MLX5_CMD_OP_DESTROY_XRC_SRQ, HCA_SYND_SRQ },
		{ MLX5_CMD_OP_DESTROY_MKEY, HCA_SYND_MKEY },
		{ MLX5_CMD_OP_DEALLOC_Q_COUNTER, HCA_SYND_COUNTER },
	};
	static const u32 numbers[] = { 0, 0xfffff0 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(absent); i++)
		for (j = 0; j < ARRAY_SIZE(numbers); j++)
			tap_is(brief(absent[i].opcode, numbers[j]).synd, absent[i].synd,
			       "%s %#x", hca_opcode_find(absent[i].opcode)->name, numbers[j]);
	refused(brief(MLX5_CMD_OP_DESTROY_MKEY, HCA_NULL_MKEY_INDEX), MKEY);
}

static void test_busy(void)
{
	struct session_qp q;

	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &q);
	refused(brief(MLX5_CMD_OP_DEALLOC_PD, s.pd[0]), PD_BUSY);
	refused(brief(MLX5_CMD_OP_DESTROY_EQ, s.eqn[0]), EQ_BUSY);
	refused(brief(MLX5_CMD_OP_DESTROY_CQ, q.cqn), CQ_BUSY);
	tap_is(brief(MLX5_CMD_OP_DEALLOC_PD, s.pd[0]).status, MLX5_CMD_STAT_BAD_RES_STATE_ERR,
	       "an object in use: bad resource state, as from adapters");
	tap_is(session_qp_destroy(&q), MLX5_CMD_STAT_OK, "DESTROY_QP");
	tap_is(session_cq_destroy(&q), MLX5_CMD_STAT_OK, "DESTROY_CQ");
	refused(brief(MLX5_CMD_OP_DESTROY_CQ, q.cqn), CQ);
}

/*
 * A doorbell page is deallocated before its queues: it accepts no new queue, the others still
 * work, and the last one frees it.
 */
static void test_released_uar(void)
{
	u32 pages = s.hca[0]->uars_by_index.count, old = s.uar[0];
	struct xv_sge none = {};
	struct session_qp q;
	struct xv_wc wc;
	u32 in[64] = {}, out[4] = {};

	s.uar[0] = accepted(brief(MLX5_CMD_OP_ALLOC_UAR, 0));
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &q);
	accepted(brief(MLX5_CMD_OP_DEALLOC_UAR, s.uar[0]));
	refused(brief(MLX5_CMD_OP_DEALLOC_UAR, s.uar[0]), UAR);
	MLX5_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
	MLX5_SET(create_eq_in, in, eq_context_entry.uar_page, s.uar[0]);
	refused(run(in, MLX5_ST_SZ_BYTES(create_eq_in), out, sizeof(out)), UAR);
	session_connect(&q, &q);
	xv_wr_write(&q.qp, 1, XV_SEND_SIGNALED, &none, 0, 0);
	xv_commit_send(&q.qp);
	session_settle(&s);
	ok(xv_poll_cq(&q.cq, 1, &wc) == 1 && !wc.status, "a queue of the page still works");
	tap_is(s.hca[0]->uars_by_index.count, pages + 1, "the page is in use");
	session_qp_destroy(&q);
	tap_is(s.hca[0]->uars_by_index.count, pages + 1, "a CQ still uses the page");
	session_cq_destroy(&q);
	tap_is(s.hca[0]->uars_by_index.count, pages, "the last queue frees the page");
	s.uar[0] = old;
}

/* A freed number is not used again at once. */
static void test_numbers(void)
{
	u32 first = brief(MLX5_CMD_OP_ALLOC_PD, 0).number, n, last = 0;
	bool reused = false;

	brief(MLX5_CMD_OP_DEALLOC_PD, first);
	for (n = 0; n < 300; n++) {
		last = brief(MLX5_CMD_OP_ALLOC_PD, 0).number;
		reused |= last == first;
		brief(MLX5_CMD_OP_DEALLOC_PD, last);
	}
	ok(!reused && last, "a freed number is not used again at once");
	for (n = 0; n < 200000; n++)
		brief(MLX5_CMD_OP_DEALLOC_PD, brief(MLX5_CMD_OP_ALLOC_PD, 0).number);
	tap_is(s.hca[0]->pds.count, 1, "200000 allocations, one PD left");
	ok(s.hca[0]->pds.used_end < 2000, "numbers are used again");
	for (n = 0; !brief(MLX5_CMD_OP_ALLOC_XRCD, 0).status; n++)
		;
	tap_is(n, (1u << HCA_LOG_MAX_XRCD) - 1, "as many XRC domains as announced");
	refused(brief(MLX5_CMD_OP_ALLOC_XRCD, 0), LIMIT);
	for (n = 1; n < 1u << HCA_LOG_MAX_XRCD; n++)
		brief(MLX5_CMD_OP_DEALLOC_XRCD, n);
	tap_is(s.hca[0]->xrcds.count, 0, "all are freed");
}

/* ---- CREATE_QP: each bad field has its own syndrome ----------------------------------- */

static u64 ring, record;

enum flaw { NONE, F_PD, F_UAR, F_SCQ, F_RCQ, F_SRQ, F_TYPE, F_DBR, F_DBR_MEMORY, F_PAGE, F_STRIDE,
	    F_SIGNATURE, F_CROSS_CHANNEL, F_UMEM };

static struct result create_qp(struct session_qp *q, enum flaw flaw)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_qp_in) + 8) / 4] __aligned(8) = {}, out[4] = {};
	void *qpc = MLX5_ADDR_OF(create_qp_in, in, qpc);
	__be64 *pas = MLX5_ADDR_OF(create_qp_in, in, pas);

	MLX5_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
	MLX5_SET(create_qp_in, in, wq_umem_valid, flaw == F_UMEM);
	MLX5_SET(qpc, qpc, st, flaw == F_TYPE ? MLX5_QP_ST_DCT :
		 flaw == F_CROSS_CHANNEL ? MLX5_QP_ST_UD : MLX5_QP_ST_RC);
	MLX5_SET(qpc, qpc, pd, flaw == F_PD ? 0x777 : s.pd[0]);
	MLX5_SET(qpc, qpc, uar_page, flaw == F_UAR ? 3 : s.uar[0]);
	MLX5_SET(qpc, qpc, log_sq_size, 4);
	MLX5_SET(qpc, qpc, log_rq_size, 4);
	MLX5_SET(qpc, qpc, log_rq_stride, flaw == F_STRIDE ? 7 : 2);
	MLX5_SET(qpc, qpc, cqn_snd, flaw == F_SCQ ? 0x777 : q->cqn);
	MLX5_SET(qpc, qpc, cqn_rcv, flaw == F_RCQ ? 0x777 : q->cqn);
	if (flaw == F_SRQ) {
		MLX5_SET(qpc, qpc, rq_type, MLX5_SRQ_RQ);
		MLX5_SET(qpc, qpc, srqn_rmpn_xrqn, 0x777);
	}
	MLX5_SET(qpc, qpc, wq_signature, flaw == F_SIGNATURE);
	MLX5_SET(qpc, qpc, cd_master, flaw == F_CROSS_CHANNEL);
	MLX5_SET64(qpc, qpc, dbr_addr, flaw == F_DBR ? record + 4 :
				       flaw == F_DBR_MEMORY ? 0x1000 : record);
	*pas = cpu_to_be64(flaw == F_PAGE ? 0x2000 : ring);
	return run(in, sizeof(in), out, sizeof(out));
}

/* With all QPs in use, adapters say "bad resource", and not that a limit is exceeded. */
static void test_last_qp(struct session_qp *q)
{
	struct hca_table *qps = &s.hca[0]->qps;
	u32 limit = qps->limit, made[16], n;
	struct result r = {};

	qps->limit = qps->used_end;
	for (n = 0; n < ARRAY_SIZE(made); n++) {
		r = create_qp(q, NONE);
		if (r.status)
			break;
		made[n] = r.number;
	}
	ok(n && n < ARRAY_SIZE(made), "%u queue pairs had room", n);
	refused(r, QP_LIMIT);
	tap_is(r.status, MLX5_CMD_STAT_BAD_RES_ERR, "its status");
	qps->limit = limit;
	while (n)
		brief(MLX5_CMD_OP_DESTROY_QP, made[--n]);
}

static void test_create_qp(void)
{
	struct session_qp q;
	u32 qpn;

	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &q);
	ring = session_alloc(&s, HCA_PAGE_SIZE);
	record = session_alloc(&s, HCA_PAGE_SIZE);
	refused(create_qp(&q, F_PD), PD);
	refused(create_qp(&q, F_UAR), UAR);
	refused(create_qp(&q, F_SCQ), CQ);
	refused(create_qp(&q, F_RCQ), CQ);
	refused(create_qp(&q, F_SRQ), SRQ);
	refused(create_qp(&q, F_TYPE), QP_TYPE);
	refused(create_qp(&q, F_DBR), DOORBELL);
	refused(create_qp(&q, F_DBR_MEMORY), DOORBELL);
	refused(create_qp(&q, F_PAGE), PAGE_LIST);
	refused(create_qp(&q, F_STRIDE), QP_SIZE);
	refused(create_qp(&q, F_SIGNATURE), QP_FIELD);
	refused(create_qp(&q, F_CROSS_CHANNEL), QP_FIELD);
	refused(create_qp(&q, F_UMEM), UMEM_NUMBER);
	qpn = accepted(create_qp(&q, NONE));
	accepted(brief(MLX5_CMD_OP_DESTROY_QP, qpn));
	test_last_qp(&q);
	session_qp_destroy(&q);
	tap_is(session_cq_destroy(&q), MLX5_CMD_STAT_OK, "refused commands left no user of the CQ");
}

/* ---- CREATE_CQ ---------------------------------------------------------------------------- */

enum cq_flaw { CQ_GOOD, CQ_COMPRESSED, CQ_APU, CQ_ENTRY_SIZE, CQ_PERIOD_MODE };

static struct result create_cq(enum cq_flaw flaw)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_cq_in) + 8) / 4] __aligned(8) = {}, out[4] = {};
	void *cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);
	__be64 *pas = MLX5_ADDR_OF(create_cq_in, in, pas);

	MLX5_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
	MLX5_SET(cqc, cqc, log_cq_size, 4);
	MLX5_SET(cqc, cqc, uar_page, s.uar[0]);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, s.eqn[0]);
	MLX5_SET64(cqc, cqc, dbr_addr, record);
	MLX5_SET(cqc, cqc, cqe_comp_en, flaw == CQ_COMPRESSED);
	MLX5_SET(cqc, cqc, apu_cq, flaw == CQ_APU);
	MLX5_SET(cqc, cqc, cqe_sz, flaw == CQ_ENTRY_SIZE ? 3 : 0);
	MLX5_SET(cqc, cqc, cq_period_mode, flaw == CQ_PERIOD_MODE);
	*pas = cpu_to_be64(ring);
	return run(in, sizeof(in), out, sizeof(out));
}

/* What the adapter does not announce */
static void test_create_cq(void)
{
	u32 caps[MLX5_ST_SZ_DW(query_hca_cap_in)] = {};
	u32 out[MLX5_ST_SZ_DW(query_hca_cap_out)] __aligned(8) = {};

	MLX5_SET(query_hca_cap_in, caps, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	MLX5_SET(query_hca_cap_in, caps, op_mod, MLX5_CAP_GENERAL << 1 | HCA_CAP_OPMOD_GET_CUR);
	ok(!run(caps, sizeof(caps), out, sizeof(out)).status &&
	   MLX5_GET(query_hca_cap_out, out, capability.cmd_hca_cap.log_max_cq) &&
	   !MLX5_GET(query_hca_cap_out, out, capability.cmd_hca_cap.cqe_compression),
	   "CQ compression is not announced");
	refused(create_cq(CQ_COMPRESSED), CQ_FORMAT);
	refused(create_cq(CQ_APU), CQ_FORMAT);
	refused(create_cq(CQ_ENTRY_SIZE), CQ_FORMAT);
	refused(create_cq(CQ_PERIOD_MODE), CQ_FORMAT);
	accepted(brief(MLX5_CMD_OP_DESTROY_CQ, accepted(create_cq(CQ_GOOD))));
}

/* ---- Memory keys ------------------------------------------------------------------------- */

static struct result create_mkey(u32 mode, u32 octowords, u32 given, u64 page)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_mkey_in) + 16) / 4] __aligned(8) = {}, out[4] = {};
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
	__be64 *list = MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt);

	MLX5_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
	MLX5_SET(create_mkey_in, in, translations_octword_actual_size, given);
	MLX5_SET(mkc, mkc, access_mode_1_0, mode & 3);
	MLX5_SET(mkc, mkc, access_mode_4_2, mode >> 2);
	MLX5_SET(mkc, mkc, lr, 1);
	MLX5_SET(mkc, mkc, relaxed_ordering_write, 1);
	MLX5_SET(mkc, mkc, relaxed_ordering_read, 1);
	MLX5_SET(mkc, mkc, qpn, 0xffffff);
	MLX5_SET(mkc, mkc, pd, s.pd[0]);
	MLX5_SET(mkc, mkc, log_page_size, HCA_PAGE_SHIFT);
	MLX5_SET(mkc, mkc, translations_octword_size, octowords);
	MLX5_SET64(mkc, mkc, start_addr, page);
	MLX5_SET64(mkc, mkc, len, HCA_PAGE_SIZE);
	list[0] = cpu_to_be64(page | 3);
	return run(in, sizeof(in), out, sizeof(out));
}

static void test_mkey(void)
{
	u32 in[MLX5_ST_SZ_DW(query_mkey_in)] = {};
	u32 out[MLX5_ST_SZ_DW(query_mkey_out)] __aligned(8) = {};
	void *mkc = MLX5_ADDR_OF(query_mkey_out, out, memory_key_mkey_entry);
	u64 page = session_alloc(&s, HCA_PAGE_SIZE);
	u32 index, n, first;

	refused(create_mkey(4, 1, 1, page), MKEY_MODE);
	refused(create_mkey(MLX5R_MKEY_MODE_MTT, 1, 2, page), MKEY_LIST);
	refused(create_mkey(MLX5R_MKEY_MODE_MTT, 0, 1, page), MKEY_LIST);
	refused(create_mkey(MLX5R_MKEY_MODE_PA, 0, 1, page), MKEY_LIST);
	refused(create_mkey(MLX5R_MKEY_MODE_MTT, ~0u, 0, page), MKEY_SIZE);
	index = accepted(create_mkey(MLX5R_MKEY_MODE_MTT, 1, 1, page));

	MLX5_SET(query_mkey_in, in, opcode, MLX5_CMD_OP_QUERY_MKEY);
	MLX5_SET(query_mkey_in, in, mkey_index, index);
	tap_is(run(in, sizeof(in), out, sizeof(out)).status, MLX5_CMD_STAT_OK, "QUERY_MKEY");
	ok(MLX5_GET(mkc, mkc, pd) == s.pd[0] && MLX5_GET(mkc, mkc, lr) &&
	   !MLX5_GET(mkc, mkc, lw) && MLX5_GET64(mkc, mkc, start_addr) == page &&
	   MLX5_GET(mkc, mkc, relaxed_ordering_write) &&
	   MLX5_GET(mkc, mkc, relaxed_ordering_read),
	   "the key reads as it was created");
	accepted(brief(MLX5_CMD_OP_DESTROY_MKEY, index));
	refused(brief(MLX5_CMD_OP_DESTROY_MKEY, index), MKEY);

	first = create_mkey(MLX5R_MKEY_MODE_MTT, 32768, 0, page).number;
	for (n = 1; n < 5000; n++)
		create_mkey(MLX5R_MKEY_MODE_MTT, 32768, 0, page);
	tap_is(s.hca[0]->mkeys.count, 5001, "5000 large mkeys without tables");
	for (n = 0; n < 5000; n++)
		brief(MLX5_CMD_OP_DESTROY_MKEY, first + n);
	tap_is(s.hca[0]->mkeys.count, 1, "only the null key is left");
}

/* ---- RoCE addresses, multicast, counters ---------------------------------------------------- */

static struct result set_roce(u32 index, u32 version, u32 l3_type, u8 last)
{
	u32 in[MLX5_ST_SZ_DW(set_roce_address_in)] = {}, out[4] = {};
	void *addr = MLX5_ADDR_OF(set_roce_address_in, in, roce_address);
	u8 *gid = MLX5_ADDR_OF(roce_addr_layout, addr, source_l3_address);

	MLX5_SET(set_roce_address_in, in, opcode, MLX5_CMD_OP_SET_ROCE_ADDRESS);
	MLX5_SET(set_roce_address_in, in, roce_address_index, index);
	MLX5_SET(roce_addr_layout, addr, roce_version, version);
	MLX5_SET(roce_addr_layout, addr, roce_l3_type, l3_type);
	gid[15] = last;
	return run(in, sizeof(in), out, sizeof(out));
}

static struct result set_mac(u32 index, u16 first)
{
	u32 in[MLX5_ST_SZ_DW(set_roce_address_in)] = {}, out[4] = {};
	void *addr = MLX5_ADDR_OF(set_roce_address_in, in, roce_address);

	MLX5_SET(set_roce_address_in, in, opcode, MLX5_CMD_OP_SET_ROCE_ADDRESS);
	MLX5_SET(set_roce_address_in, in, roce_address_index, index);
	MLX5_SET(roce_addr_layout, addr, source_mac_47_32, first);
	*(u8 *)MLX5_ADDR_OF(roce_addr_layout, addr, source_l3_address) = 1;
	return run(in, sizeof(in), out, sizeof(out));
}

static void test_roce(void)
{
	refused(set_mac(5, 0x0100), ROCE_ADDRESS);
	accepted(set_mac(HCA_GIDS - 1, 0x0200));
	tap_is(s.hca[0]->gids_end, HCA_GIDS, "the last of 255 entries");
	accepted(set_roce(HCA_GIDS - 1, 0, 0, 0));
	tap_is(s.hca[0]->gids_end, 1, "it is deleted");
	refused(set_roce(HCA_GIDS, 0, 0, 9), ROCE_INDEX);
	refused(set_roce(5, 7, 0, 9), ROCE_ADDRESS);
	refused(set_roce(5, MLX5_ROCE_VERSION_2, MLX5_ROCE_L3_TYPE_IPV6 + 1, 9), ROCE_ADDRESS);
	accepted(set_roce(5, MLX5_ROCE_VERSION_2, MLX5_ROCE_L3_TYPE_IPV6, 9));
	accepted(set_roce(5, 0, 0, 9));
	ok(s.hca[0]->gids[5].valid && s.hca[0]->gids[5].gid[15] == 9, "the entry is set");
	accepted(set_roce(5, 0, 0, 0));
	ok(!s.hca[0]->gids[5].valid, "a zero address deletes it");
}

static struct result mcg(u16 opcode, u32 qpn, u8 first, u8 last)
{
	u32 in[MLX5_ST_SZ_DW(attach_to_mcg_in)] = {}, out[4] = {};
	u8 *gid = MLX5_ADDR_OF(attach_to_mcg_in, in, multicast_gid);

	MLX5_SET(attach_to_mcg_in, in, opcode, opcode);
	MLX5_SET(attach_to_mcg_in, in, qpn, qpn);
	gid[0] = first;
	gid[15] = last;
	return run(in, sizeof(in), out, sizeof(out));
}

static void test_mcg(void)
{
	struct session_qp ud, rc;
	u32 i;

	session_qp(&s, 0, MLX5_QP_ST_UD, 4, 4, &ud);
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &rc);
	refused(mcg(MLX5_CMD_OP_ATTACH_TO_MCG, rc.qp.qp_num, 0xff, 1), MCG_TYPE);
	refused(mcg(MLX5_CMD_OP_ATTACH_TO_MCG, ud.qp.qp_num, 0xfe, 1), MCG_GID);
	refused(mcg(MLX5_CMD_OP_DETACH_FROM_MCG, ud.qp.qp_num, 0xff, 1), MCG_MEMBER);
	for (i = 1; i < 20; i++)
		mcg(MLX5_CMD_OP_ATTACH_TO_MCG, ud.qp.qp_num, 0xff, i);
	accepted(mcg(MLX5_CMD_OP_ATTACH_TO_MCG, ud.qp.qp_num, 0xff, 1));
	accepted(mcg(MLX5_CMD_OP_DETACH_FROM_MCG, ud.qp.qp_num, 0xff, 2));
	refused(mcg(MLX5_CMD_OP_DETACH_FROM_MCG, ud.qp.qp_num, 0xff, 2), MCG_MEMBER);
	tap_is(s.hca[0]->nmcgs, 18, "groups");
	session_qp_destroy(&ud);
	tap_is(s.hca[0]->nmcgs, 0, "a destroyed QP leaves its groups");
	session_qp_destroy(&rc);
}

static u32 q_counter(u32 set, u32 *rx_write, u32 *out_of_buffer)
{
	u32 in[MLX5_ST_SZ_DW(query_q_counter_in)] = {};
	u32 out[MLX5_ST_SZ_DW(query_q_counter_out)] = {};
	u32 synd;

	MLX5_SET(query_q_counter_in, in, opcode, MLX5_CMD_OP_QUERY_Q_COUNTER);
	MLX5_SET(query_q_counter_in, in, counter_set_id, set);
	synd = run(in, sizeof(in), out, sizeof(out)).synd;
	*rx_write = MLX5_GET(query_q_counter_out, out, rx_write_requests);
	*out_of_buffer = MLX5_GET(query_q_counter_out, out, out_of_buffer);
	return synd;
}

static u64 received_packets(void)
{
	u32 in[MLX5_ST_SZ_DW(query_vport_counter_in)] = {};
	u32 out[MLX5_ST_SZ_DW(query_vport_counter_out)] __aligned(8) = {};

	MLX5_SET(query_vport_counter_in, in, opcode, MLX5_CMD_OP_QUERY_VPORT_COUNTER);
	run(in, sizeof(in), out, sizeof(out));
	return MLX5_GET64(query_vport_counter_out, out, received_ib_unicast.packets);
}

/* Five writes of three packets from function 1, then a send without receive request */
static void test_counters(void)
{
	u32 in[MLX5_ST_SZ_DW(rts2rts_qp_in)] = {}, out[4] = {};
	u32 set = brief(MLX5_CMD_OP_ALLOC_Q_COUNTER, 0).number, writes, empty, i;
	struct session_mr from = session_mr(&s, 1, 16384, MLX5R_MKEY_ACCESS_LR);
	struct session_mr to = session_mr(&s, 0, 16384, MLX5R_MKEY_ACCESS_LR |
					  MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RW);
	struct xv_sge sge = session_sge(&from, 0, 10000);
	struct session_qp a, b;
	u64 before;

	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &a);
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &b);
	session_connect(&a, &b);
	MLX5_SET(rts2rts_qp_in, in, opcode, MLX5_CMD_OP_RTS2RTS_QP);
	MLX5_SET(rts2rts_qp_in, in, qpn, b.qp.qp_num);
	MLX5_SET(rts2rts_qp_in, in, opt_param_mask, MLX5_QP_OPTPAR_COUNTER_SET_ID);
	MLX5_SET(rts2rts_qp_in, in, qpc.counter_set_id, set);
	accepted(run(in, sizeof(in), out, sizeof(out)));
	refused(brief(MLX5_CMD_OP_DEALLOC_Q_COUNTER, set), COUNTER_BUSY);

	before = received_packets();
	for (i = 0; i < 5; i++) {
		xv_wr_write(&a.qp, 1, 0, &sge, to.addr, to.key);
		xv_commit_send(&a.qp);
	}
	session_settle(&s);
	tap_is(received_packets() - before, 15, "packets received");
	tap_is(q_counter(set, &writes, &empty), HCA_OK, "QUERY_Q_COUNTER");
	tap_is(writes, 5, "write requests");
	xv_wr_send(&a.qp, 1, 0, &sge);
	xv_commit_send(&a.qp);
	session_settle(&s);
	q_counter(set, &writes, &empty);
	ok(empty > 0, "receives missed: %u", empty);
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	accepted(brief(MLX5_CMD_OP_DEALLOC_Q_COUNTER, set));
}

static void send_and_wait(struct session_qp *q, const struct xv_sge *sge, u8 status)
{
	struct xv_wc wc;

	xv_wr_send(&q->qp, 1, XV_SEND_SIGNALED, sge);
	xv_commit_send(&q->qp);
	while (!xv_poll_cq(&q->cq, 1, &wc))
		hca_fabric_poll(&s.fabric);
	tap_is(wc.status, status, "status of the send");
}

/* A send that finds no receive, and one that finds no peer, with one and two retries */
static void count_errors(u8 service, bool reliable)
{
	const struct hca_counter *receiver = &s.hca[0]->uncounted, *sender = &s.hca[1]->uncounted;
	struct session_mr from = session_mr(&s, 1, 4096, MLX5R_MKEY_ACCESS_LR);
	struct xv_sge sge = session_sge(&from, 0, 64);
	struct hca_counter old = *sender;
	u64 empty = receiver->out_of_buffer;
	struct session_qp a, b;

	session_qp(&s, 1, service, 4, 4, &a);
	session_qp(&s, 0, service, 4, 4, &b);
	session_connect(&a, &b);
	send_and_wait(&a, &sge, reliable ? XV_WC_RNR_RETRY_EXC_ERR : XV_WC_SUCCESS);
	tap_is(receiver->out_of_buffer - empty, reliable ? 2 : 1, "out_of_buffer");
	tap_is(sender->rnr_nak_retry - old.rnr_nak_retry, reliable ? 2 : 0, "rnr_nak_retry_err");
	session_qp_destroy(&a);
	session_qp_destroy(&b);

	session_qp(&s, 1, service, 4, 4, &a);
	session_qp(&s, 0, service, 4, 4, &b);
	session_connect(&a, &b);
	session_qp_destroy(&b);
	send_and_wait(&a, &sge, reliable ? XV_WC_RETRY_EXC_ERR : XV_WC_SUCCESS);
	tap_is(sender->timeouts - old.timeouts, reliable ? 3 : 0, "local_ack_timeout_err");
	session_qp_destroy(&a);
}

/* ---- The command queue ----------------------------------------------------------------- */

enum damage { D_NONE, D_TOKEN, D_NUMBER, D_POINTER, D_ALIGN, D_TYPE, D_SHORT, D_OUT };

/*
 * QUERY_PAGES through slot 0.  Returns the delivery status; 0xff: no answer; 0xfe: it did not
 * wait for a pass that may sleep.
 */
static u8 post(struct mlx5_cmd_layout *lay, u64 box, enum damage damage)
{
	struct mlx5_cmd_prot_block *in = session_ptr(&s, box);
	struct mlx5_cmd_prot_block *out = session_ptr(&s, box + 1024);
	struct mlx5_init_seg *seg = s.hca[0]->p.bar;

	int i;
	memset(lay, 0, sizeof(*lay));
	memset(in, 0, 2048);
	lay->type = damage == D_TYPE ? 6 : 7;
	lay->token = 0x55;
	lay->inlen = cpu_to_be32(damage == D_SHORT ? 4 : 16 + 100);
	lay->outlen = cpu_to_be32(16 + 100);
	lay->in_ptr = cpu_to_be64(damage == D_POINTER ? 0x400 : box + (damage == D_ALIGN) * 64);
	lay->out_ptr = cpu_to_be64(damage == D_OUT ? 0 : box + 1024);
	in->token = damage == D_TOKEN ? 0x56 : 0x55;
	in->block_num = cpu_to_be32(damage == D_NUMBER);
	MLX5_SET(query_pages_in, lay->in, opcode, MLX5_CMD_OP_QUERY_PAGES);
	MLX5_SET(query_pages_in, lay->in, op_mod, 1);
	memset(lay->out, 0xee, sizeof(lay->out));
	memset(out->data, 0xee, sizeof(out->data));
	lay->status_own = 1;
	seg->cmd_dbell = cpu_to_be32(1);
	for (i = 0; i < 100 && !hca_fabric_must_sleep(&s.fabric); i++)
		hca_fabric_poll_atomic(&s.fabric);
	if (lay->status_own != 1 || !hca_fabric_must_sleep(&s.fabric))
		return 0xfe;
	session_settle(&s);
	if (lay->status_own & 1)
		return 0xff;
	if (damage == D_NONE)
		ok(!hca_fabric_must_sleep(&s.fabric) && !out->data[0] && !out->data[99] &&
		   out->data[100] == 0xee && out->token == 0x55,
		   "the output has the length of the command");
	return lay->status_own >> 1;
}

/* While the engine sleeps, one hca_fabric_rung() and one pass find a command of any function. */
static void test_asleep(struct mlx5_cmd_layout *lay, u64 box)
{
	struct mlx5_init_seg *seg = s.hca[0]->p.bar;
	u32 i, found = 0;

	for (i = 0; i < 10; i++) {
		post(lay, box, D_NONE);
		session_settle(&s);
		/* The other function may be first. */
		if (i & 1)
			hca_fabric_poll_atomic(&s.fabric);
		seg->cmd_dbell = cpu_to_be32(1);
		hca_fabric_rung(&s.fabric);
		hca_fabric_poll_atomic(&s.fabric);
		found += hca_fabric_must_sleep(&s.fabric);
		session_settle(&s);
	}
	tap_is(found, 10, "commands found with one look and one pass");
}

/* Injected failures: only the selected commands fail. */
static void test_failure(struct mlx5_cmd_layout *lay, u64 box)
{
	struct hca *hca = s.hca[0];

	hca->fail.left = 2;
	post(lay, box, D_NONE);
	tap_is(lay->out[0] << 8 | hca->fail.left, 1, "this command succeeds");
	post(lay, box, D_NONE);
	tap_is(lay->out[0], MLX5_CMD_STAT_INT_ERR, "the injected failure");
	tap_is(be32_to_cpu(((__be32 *)lay->out)[1]), HCA_SYND_INJECTED, "its syndrome");
	hca->fail.status = MLX5_CMD_STAT_NO_RES_ERR;
	hca->fail.left = 1;
	post(lay, box, D_NONE);
	tap_is(lay->out[0], MLX5_CMD_STAT_NO_RES_ERR, "with the injected status");
	post(lay, box, D_NONE);
	tap_is(lay->out[0], MLX5_CMD_STAT_OK, "the next command succeeds");
	hca->fail.left = hca->fail.more = 1;
	post(lay, box, D_NONE);
	tap_is(lay->out[0], MLX5_CMD_STAT_NO_RES_ERR, "two failures: the first");
	post(lay, box, D_NONE);
	tap_is(lay->out[0], MLX5_CMD_STAT_NO_RES_ERR, "two failures: the second");
	post(lay, box, D_NONE);
	tap_is(lay->out[0], MLX5_CMD_STAT_OK, "the third command succeeds");
	hca->fail.opcode = MLX5_CMD_OP_DESTROY_MKEY;
	hca->fail.left = 1;
	post(lay, box, D_NONE);
	tap_is(lay->out[0] << 8 | hca->fail.left, 1,
	       "a command with another opcode does not count");
	hca->fail.opcode = be16_to_cpu(*(__be16 *)lay->in);
	post(lay, box, D_NONE);
	tap_is(lay->out[0] << 8 | hca->fail.left, MLX5_CMD_STAT_NO_RES_ERR << 8,
	       "the command with the opcode fails");
	hca->fail.opcode = 0;
}

static void attach(u64 queue)
{
	struct mlx5_init_seg *seg = s.hca[0]->p.bar;

	seg->cmdq_addr_h = cpu_to_be32(queue >> 32);
	seg->cmdq_addr_l_sz = cpu_to_be32((u32)queue);
	session_settle(&s);
}

static u32 interface_state(void)
{
	const struct mlx5_init_seg *seg = s.hca[0]->p.bar;

	return be32_to_cpu(seg->cmdq_addr_l_sz) >> 8 & 7;
}

/* Resets the function as the driver does if the health buffer asks for it. */
static void driver_reset(void)
{
	struct mlx5_init_seg *seg = s.hca[0]->p.bar;

	seg->cmdq_addr_l_sz = cpu_to_be32(be32_to_cpu(seg->cmdq_addr_l_sz) | 7 << 8);
	session_settle(&s);
}

/* A fatal firmware error is reported in the health buffer; a reset of the function clears it. */
static void test_firmware_failure(struct mlx5_cmd_layout *lay, u64 queue, u64 box)
{
	struct mlx5_init_seg *seg = s.hca[0]->p.bar;

	ok(be32_to_cpu(seg->initializing) >> MLX5_FW_RESET_SUPPORTED_OFFSET & 1,
	   "the driver may reset the firmware");
	ok(!seg->health.synd, "healthy");
	hca_firmware_fail(s.hca[0]);
	session_settle(&s);
	ok(seg->health.synd && seg->health.rfr_severity >> MLX5_RFR_BIT_OFFSET,
	   "after a fatal error the firmware asks for a reset");
	tap_is(post(lay, box, D_NONE), 0xfe, "it executes no command");
	driver_reset();
	tap_is(interface_state(), 1, "after a reset the interface is disabled");
	ok(!seg->health.synd && !seg->health.rfr_severity, "and healthy again");
	attach(queue);
	session_settle(&s);
	tap_is(lay->status_own, 1, "the command from before the reset is not executed");
	tap_is(post(lay, box, D_NONE), 0, "a driver that sets its queue has commands executed");
}

/* A reset of the function through PCI: the driver must set its queue again. */
static void test_function_reset(struct mlx5_cmd_layout *lay, u64 queue, u64 box)
{
	struct mlx5_init_seg *seg = s.hca[0]->p.bar;

	brief(MLX5_CMD_OP_ENABLE_HCA, 0);
	hca_firmware_fail(s.hca[0]);
	ok(!hca_function_in_reset(s.hca[0]), "no function reset");
	hca_function_reset(s.hca[0]);
	ok(hca_function_in_reset(s.hca[0]), "a function reset begins");
	session_settle(&s);
	ok(!hca_function_in_reset(s.hca[0]), "it is done");
	tap_is(s.hca[0]->stage, HCA_OFF, "the function is off");
	tap_is(interface_state(), 1, "the interface is disabled");
	ok(!((struct mlx5_init_seg *)s.hca[0]->p.bar)->health.synd, "and healthy");
	tap_is(post(lay, box, D_NONE), 0xfe, "no command is executed");
	lay[1] = *lay;
	attach(queue);
	tap_is(post(lay, box, D_NONE), 0, "until the driver sets its queue");
	shim_now += LOST_DOORBELL_NS;
	tap_is(post(lay, box, D_NONE), 0, "the next one");
	tap_is(lay[1].status_own, 1, "a command from before the reset is not executed");
	seg->cmd_dbell = cpu_to_be32(2);
	session_settle(&s);
	tap_is(lay[1].status_own, 0, "until its doorbell is rung");

	lay[1].status_own = 1;
	hca_function_reset(s.hca[0]);
	session_settle(&s);
	attach(queue);
	lay[1].token++;
	tap_is(post(lay, box, D_NONE), 0, "the doorbell of a new command there is lost");
	shim_now += LOST_DOORBELL_NS;
	session_settle(&s);
	tap_is(lay[1].status_own & 1, 0, "it is executed");
}

static u32 answered(const struct mlx5_cmd_layout *lay)
{
	u32 i, n = 0;

	for (i = 0; i < SLOTS; i++)
		n += !(lay[i].status_own & 1);
	return n;
}

/* A driver fills all slots while the engine sleeps, so only its last doorbell is seen. */
static void test_slots(struct mlx5_cmd_layout *lay, u64 box)
{
	struct mlx5_init_seg *seg = s.hca[0]->p.bar;
	u32 i;

	post(lay, box, D_NONE);
	lay[0].inlen = cpu_to_be32(16);
	lay[0].outlen = cpu_to_be32(16);
	for (i = 1; i < SLOTS; i++)
		lay[i] = lay[0];
	for (i = 0; i < SLOTS; i++) {
		lay[i].status_own = 1;
		seg->cmd_dbell = cpu_to_be32(1u << i);
	}
	session_settle(&s);
	ok(answered(lay) == 1 && !(lay[SLOTS - 1].status_own & 1), "the command of the last slot");
	lay[SLOTS - 1].status_own = 1;
	seg->cmd_dbell = cpu_to_be32(1u << (SLOTS - 1));
	session_settle(&s);
	tap_is(answered(lay), SLOTS, "with the next doorbell, the commands of all slots");
}

static void test_queue(void)
{
	struct mlx5_init_seg *seg = s.hca[0]->p.bar;
	u64 queue = session_alloc(&s, HCA_PAGE_SIZE), box = session_alloc(&s, HCA_PAGE_SIZE);
	struct mlx5_cmd_layout *lay = session_ptr(&s, queue);
	u32 geometry = be32_to_cpu(seg->cmdq_addr_l_sz);

	tap_is(geometry, LOG_SLOTS << 4 | 6, "the segment has the geometry of the queue");
	tap_is(be32_to_cpu(seg->cmdif_rev_fw_sub) >> 16, 5, "command interface revision");
	attach(queue);
	tap_is(be32_to_cpu(seg->cmdq_addr_l_sz) & 0xff, geometry, "the geometry is restored");
	tap_is(s.hca[0]->stage, HCA_OFF, "a new queue resets the function");
	tap_is(post(lay, box, D_NONE), 0, "delivered, and refused: not enabled");
	brief(MLX5_CMD_OP_ENABLE_HCA, 0);
	tap_is(post(lay, box, D_NONE), 0, "delivered");
	test_failure(lay, box);
	test_asleep(lay, box);
	test_slots(lay, box);
	tap_is(post(lay, box, D_TOKEN), 0x02, "wrong token");
	tap_is(post(lay, box, D_NUMBER), 0x03, "wrong block number");
	tap_is(post(lay, box, D_OUT), 0x04, "no output mailbox");
	tap_is(post(lay, box, D_POINTER), 0x05, "input mailbox is not memory");
	tap_is(post(lay, box, D_ALIGN), 0x05, "input mailbox misaligned");
	tap_is(post(lay, box, D_SHORT), 0x07, "input too short");
	tap_is(post(lay, box, D_TYPE), 0x10, "wrong descriptor");

	test_firmware_failure(lay, queue, box);
	test_function_reset(lay, queue, box);
	driver_reset();
	tap_is(interface_state(), 1, "after a reset the interface is disabled");
	tap_is(post(lay, box, D_NONE), 0xfe, "a disabled interface executes no command");
}

/* The last test: the function does not come back. */
static void test_unplugged(void)
{
	u64 end = ktime_get_ns() + PULLED_NS;
	u8 *bar = s.hca[0]->p.bar;
	u32 i, changed = 0;

	hca_unplug(s.hca[0]);
	memset(bar, 0xff, HCA_BAR_PAGES * HCA_PAGE_SIZE);
	while (ktime_get_ns() < end) {
		hca_fabric_poll(&s.fabric);
		hca_fabric_poll_atomic(&s.fabric);
		hca_fabric_rung(&s.fabric);
	}
	for (i = 0; i < HCA_BAR_PAGES * HCA_PAGE_SIZE; i++)
		changed += bar[i] != 0xff;
	tap_is(changed, 0, "a function that was unplugged changes no register");
}

static void test_reset(void)
{
	struct session_qp q[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(q); i++)
		session_qp(&s, 0, MLX5_QP_ST_UD, 4, 4, &q[i]);
	mcg(MLX5_CMD_OP_ATTACH_TO_MCG, q[0].qp.qp_num, 0xff, 1);
	create_mkey(MLX5R_MKEY_MODE_MTT, 1, 1, session_alloc(&s, HCA_PAGE_SIZE));
	brief(MLX5_CMD_OP_ALLOC_Q_COUNTER, 0);
	accepted(brief(MLX5_CMD_OP_TEARDOWN_HCA, 0));
	tap_is(s.hca[0]->qps.count + s.hca[0]->cqs.count + s.hca[0]->eqs.count +
	       s.hca[0]->mkeys.count + s.hca[0]->pds.count + s.hca[0]->uars_by_index.count +
	       s.hca[0]->counters.count + s.hca[0]->nmcgs, 0, "teardown frees everything");
	refused(brief(MLX5_CMD_OP_ALLOC_PD, 0), STAGE);
	accepted(brief(MLX5_CMD_OP_INIT_HCA, 0));
	accepted(brief(MLX5_CMD_OP_ALLOC_PD, 0));
	accepted(brief(MLX5_CMD_OP_TEARDOWN_HCA, 0));
	accepted(brief(MLX5_CMD_OP_DISABLE_HCA, 0));
	accepted(brief(MLX5_CMD_OP_ENABLE_HCA, 0));
	for (i = 0; i < ARRAY_SIZE(q); i++) {
		free(q[i].qp.rq.wr_id);
		free(q[i].qp.sq.entry);
	}
}

int main(void)
{
	session_init(&s);
	test_table();
	test_common();
	test_absent();
	test_busy();
	test_released_uar();
	test_numbers();
	test_create_qp();
	test_create_cq();
	test_mkey();
	test_roce();
	test_mcg();
	test_counters();
	count_errors(MLX5_QP_ST_RC, true);
	count_errors(MLX5_QP_ST_UC, false);
	test_reset();
	test_queue();
	test_unplugged();
	session_free(&s);
	return tap_done();
}
