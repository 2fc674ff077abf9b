// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation of every creation fails once.  The command reports that, nothing leaks
 * (checked by AddressSanitizer), and the next attempt succeeds.  A process decides how many
 * objects are created, so no allocation may kill processes to get memory.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/slab.h>
#include "cmd/cmd.h"
#include "dc.h"
#include "tap.h"

#define MAX_STEPS	64

static struct session s;

/* Valid commands, recorded from the session */
static u32 in[1024] __aligned(8), out[1024] __aligned(8);

static void put(void *at, u64 addr)
{
	__be64 v = cpu_to_be64(addr);

	memcpy(at, &v, 8);
}

static u32 plain(u16 opcode)
{
	memset(in, 0, sizeof(in));
	MLX5_SET(alloc_pd_in, in, opcode, opcode);
	return 16;
}

static u32 eq(u64 page)
{
	void *eqc = MLX5_ADDR_OF(create_eq_in, in, eq_context_entry);

	plain(MLX5_CMD_OP_CREATE_EQ);
	MLX5_SET(eqc, eqc, log_eq_size, 5);
	MLX5_SET(eqc, eqc, uar_page, s.uar[0]);
	put(MLX5_ADDR_OF(create_eq_in, in, pas), page);
	return MLX5_ST_SZ_BYTES(create_eq_in) + 8;
}

static u32 cq(u64 page)
{
	void *cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);

	plain(MLX5_CMD_OP_CREATE_CQ);
	MLX5_SET(cqc, cqc, log_cq_size, 4);
	MLX5_SET(cqc, cqc, uar_page, s.uar[0]);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, s.eqn[0]);
	put(MLX5_ADDR_OF(cqc, cqc, dbr_addr), page);
	put(MLX5_ADDR_OF(create_cq_in, in, pas), page);
	return MLX5_ST_SZ_BYTES(create_cq_in) + 8;
}

static u32 qp(u64 page)
{
	void *qpc = MLX5_ADDR_OF(create_qp_in, in, qpc);

	plain(MLX5_CMD_OP_CREATE_QP);
	MLX5_SET(qpc, qpc, pd, s.pd[0]);
	MLX5_SET(qpc, qpc, uar_page, s.uar[0]);
	MLX5_SET(qpc, qpc, log_rq_stride, 2);
	MLX5_SET(qpc, qpc, cqn_snd, s.hca[0]->cqs.first);
	MLX5_SET(qpc, qpc, cqn_rcv, s.hca[0]->cqs.first);
	put(MLX5_ADDR_OF(qpc, qpc, dbr_addr), page);
	put(MLX5_ADDR_OF(create_qp_in, in, pas), page);
	return MLX5_ST_SZ_BYTES(create_qp_in) + 8;
}

static u32 rmp(u64 page)
{
	void *rmpc = MLX5_ADDR_OF(create_rmp_in, in, ctx);
	void *wq = MLX5_ADDR_OF(rmpc, rmpc, wq);

	plain(MLX5_CMD_OP_CREATE_RMP);
	MLX5_SET(rmpc, rmpc, state, 1);
	MLX5_SET(wq, wq, pd, s.pd[0]);
	MLX5_SET(wq, wq, log_wq_stride, 6);
	put(MLX5_ADDR_OF(wq, wq, dbr_addr), page);
	put(MLX5_ADDR_OF(wq, wq, pas), page);
	return MLX5_ST_SZ_BYTES(create_rmp_in) + 8;
}

static u32 dct(u64 page)
{
	struct dc_srq srq = { .srqn = s.hca[0]->srqs.first };

	plain(MLX5_CMD_OP_CREATE_DCT);
	dc_fill(&s, 0, (u32 *)in, &srq, s.hca[0]->cqs.first);
	return MLX5_ST_SZ_BYTES(create_dct_in);
}

static u32 mkey(u64 page)
{
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	plain(MLX5_CMD_OP_CREATE_MKEY);
	MLX5_SET(create_mkey_in, in, translations_octword_actual_size, 1);
	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5R_MKEY_MODE_MTT);
	MLX5_SET(mkc, mkc, pd, s.pd[0]);
	MLX5_SET(mkc, mkc, log_page_size, HCA_PAGE_SHIFT);
	MLX5_SET(mkc, mkc, translations_octword_size, 4);
	put(MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt), page);
	return MLX5_ST_SZ_BYTES(create_mkey_in) + 16;
}

static u32 pd(u64 page) { return plain(MLX5_CMD_OP_ALLOC_PD); }
static u32 xrcd(u64 page) { return plain(MLX5_CMD_OP_ALLOC_XRCD); }
static u32 td(u64 page) { return plain(MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN); }
static u32 uar(u64 page) { return plain(MLX5_CMD_OP_ALLOC_UAR); }
static u32 counter(u64 page) { return plain(MLX5_CMD_OP_ALLOC_Q_COUNTER); }

/* Fails the first allocation, then the second, ... until all succeed. */
static void step_through(const char *what, u32 (*fill)(u64 page), u64 page)
{
	u32 len = fill(page), failed = 0, kills = shim_alloc_kills;
	u8 status = MLX5_CMD_STAT_NO_RES_ERR;

	while (status == MLX5_CMD_STAT_NO_RES_ERR && failed < MAX_STEPS) {
		shim_alloc_fail = failed;
		status = session_cmd(&s, 0, in, len, out, sizeof(out));
		failed += status == MLX5_CMD_STAT_NO_RES_ERR;
	}
	shim_alloc_fail = -1;
	ok(status == MLX5_CMD_STAT_OK && failed > 0, "%s: status %#x after %u failures", what,
	   status, failed);
	tap_is(shim_alloc_kills, kills, "%s: it does not call the OOM killer", what);
}

static void test_create_function(void)
{
	struct hca_params p = { .model = s.hca[0]->p.model, .index = 2, .roce = true,
				.num_ports = 1, .num_vectors = 1, .bar_pages = HCA_BAR_PAGES };
	struct hca *hca = NULL;
	u32 failed = 0;

	p.bar = calloc(HCA_BAR_PAGES, HCA_PAGE_SIZE);
	while (!hca && failed < MAX_STEPS) {
		shim_alloc_fail = failed;
		hca = hca_create(&s.fabric, &p, s.hca[0]->ops, &s);
		failed += !hca;
	}
	shim_alloc_fail = -1;
	ok(hca && failed > 3, "a function comes up after %u failures", failed);
	if (hca)
		hca_destroy(hca);
	free(p.bar);
}

/* A reset needs no memory: after it the function has no objects and starts as before. */
static void test_reset(void)
{
	shim_alloc_fail = 0;
	hca_reset(s.hca[0]);
	shim_alloc_fail = -1;
	tap_is(s.hca[0]->pds.count + s.hca[0]->uars_by_index.count + s.hca[0]->mkeys.count, 0,
	       "a reset without memory frees all objects");
	session_restart(&s, 0);
	tap_is(s.hca[0]->stage, HCA_RUNNING, "the function runs again");
}

int main(void)
{
	u64 page;

	session_init(&s);
	page = session_alloc(&s, HCA_PAGE_SIZE);
	step_through("PD", pd, page);
	step_through("XRC domain", xrcd, page);
	step_through("transport domain", td, page);
	step_through("UAR", uar, page);
	step_through("counter set", counter, page);
	step_through("EQ", eq, page);
	step_through("CQ", cq, page);
	step_through("QP", qp, page);
	step_through("RMP", rmp, page);
	step_through("DCT", dct, page);
	step_through("mkey", mkey, page);
	test_create_function();
	test_reset();
	session_free(&s);
	return tap_done();
}
