// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: command table, mkeys, doorbells and transport arithmetic of the adapter, in the
 * kernel.  tests/host has more tests of the same sources.  This file includes the sources,
 * because it tests static functions.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "hca_build.c"

#define ARENA_DMA	0x100000000ull
#define ARENA_PAGES	16u

struct bench {
	struct hca_fabric fabric;
	struct hca *hca;
	void *bar;
	u8 *arena;
	u32 pd, uar, eqn, used;
};

static void *bench_dma_ptr(void *ctx, u64 addr, u64 len)
{
	struct bench *b = ctx;

	if (addr < ARENA_DMA || len > ARENA_PAGES * HCA_PAGE_SIZE ||
	    addr - ARENA_DMA > ARENA_PAGES * HCA_PAGE_SIZE - len)
		return NULL;
	return b->arena + (addr - ARENA_DMA);
}

static void bench_raise_irq(void *ctx, unsigned int vector)
{
}

static const struct hca_ops bench_ops = {
	.dma_ptr = bench_dma_ptr,
	.raise_irq = bench_raise_irq,
};

static u64 take_page(struct bench *b)
{
	return ARENA_DMA + (u64)b->used++ % ARENA_PAGES * HCA_PAGE_SIZE;
}

/* Executes a command of @inlen bytes that has only a header; returns its syndrome. */
static u32 command(struct bench *b, u16 opcode, u16 uid, u16 op_mod, u32 inlen, u32 outlen,
		   u32 *number)
{
	static u32 in[2048], out[2048];
	__be16 *head = (void *)in;

	memset(in, 0, sizeof(in));
	head[0] = cpu_to_be16(opcode);
	head[1] = cpu_to_be16(uid);
	head[3] = cpu_to_be16(op_mod);
	if (number)
		in[2] = cpu_to_be32(*number);
	hca_cmd_exec(b->hca, in, inlen, out, outlen);
	while (!hca_reset_some(b->hca))
		;
	if (number)
		*number = be32_to_cpu(out[2]) & 0xffffff;
	return be32_to_cpu(out[1]);
}

static u32 brief(struct bench *b, u16 opcode, u32 number)
{
	command(b, opcode, 0, 0, 16, 16, &number);
	return number;
}

static u32 make_eq(struct bench *b)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_eq_in) + 8) / 4] __aligned(8) = {};
	u32 out[MLX5_ST_SZ_DW(create_eq_out)];
	void *eqc = MLX5_ADDR_OF(create_eq_in, in, eq_context_entry);

	MLX5_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
	MLX5_SET(eqc, eqc, log_eq_size, 5);
	MLX5_SET(eqc, eqc, uar_page, b->uar);
	*(__be64 *)MLX5_ADDR_OF(create_eq_in, in, pas) = cpu_to_be64(take_page(b));
	hca_cmd_exec(b->hca, in, sizeof(in), out, sizeof(out));
	return MLX5_GET(create_eq_out, out, eq_number);
}

static struct hca_cq *make_cq(struct bench *b)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_cq_in) + 8) / 4] __aligned(8) = {};
	u32 out[MLX5_ST_SZ_DW(create_cq_out)];
	void *cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);

	MLX5_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
	MLX5_SET(cqc, cqc, log_cq_size, 5);
	MLX5_SET(cqc, cqc, uar_page, b->uar);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, b->eqn);
	MLX5_SET64(cqc, cqc, dbr_addr, take_page(b));
	*(__be64 *)MLX5_ADDR_OF(create_cq_in, in, pas) = cpu_to_be64(take_page(b));
	hca_cmd_exec(b->hca, in, sizeof(in), out, sizeof(out));
	return hca_table_get(&b->hca->cqs, MLX5_GET(create_cq_out, out, cqn));
}

/* An RC QP with 16 sends and 16 receives, connected to itself */
static struct hca_qp *make_qp(struct bench *b, struct hca_cq *cq)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_qp_in) + 8) / 4] __aligned(8) = {};
	u32 out[MLX5_ST_SZ_DW(create_qp_out)];
	void *qpc = MLX5_ADDR_OF(create_qp_in, in, qpc);
	struct hca_qp *qp;

	MLX5_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
	MLX5_SET(qpc, qpc, pd, b->pd);
	MLX5_SET(qpc, qpc, uar_page, b->uar);
	MLX5_SET(qpc, qpc, log_sq_size, 4);
	MLX5_SET(qpc, qpc, log_rq_size, 4);
	MLX5_SET(qpc, qpc, log_rq_stride, 2);
	MLX5_SET(qpc, qpc, cqn_snd, cq->cqn);
	MLX5_SET(qpc, qpc, cqn_rcv, cq->cqn);
	MLX5_SET64(qpc, qpc, dbr_addr, take_page(b));
	*(__be64 *)MLX5_ADDR_OF(create_qp_in, in, pas) = cpu_to_be64(take_page(b));
	hca_cmd_exec(b->hca, in, sizeof(in), out, sizeof(out));
	qp = hca_qp_get(b->hca, MLX5_GET(create_qp_out, out, qpn));
	if (!qp)
		return NULL;
	qp->state = MLX5_QP_STATE_RTS;
	qp->has_record = true;
	qp->remote_qpn = qp->qpn;
	qp->path.rlid = b->hca->port[0].lid;
	qp->mtu = 1024;
	qp->rwe = true;
	return qp;
}

static void bench_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	if (b->hca)
		hca_destroy(b->hca);
	hca_fabric_exit(&b->fabric);
	vfree(b->bar);
	vfree(b->arena);
}

static int bench_init(struct kunit *test)
{
	struct hca_params p = { .model = hca_model_find("all"), .num_ports = 1, .lid = 7,
				.num_vectors = 4, .list_bytes = 1 << 20,
				.bar_pages = HCA_BAR_PAGES };
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	if (!b)
		return -ENOMEM;
	test->priv = b;
	b->bar = vzalloc(HCA_BAR_PAGES * HCA_PAGE_SIZE);
	b->arena = vzalloc(ARENA_PAGES * HCA_PAGE_SIZE);
	p.bar = b->bar;
	if (hca_fabric_init(&b->fabric) || !b->bar || !b->arena)
		goto err;
	b->hca = hca_create(&b->fabric, &p, &bench_ops, b);
	if (!b->hca)
		goto err;
	brief(b, MLX5_CMD_OP_ENABLE_HCA, 0);
	brief(b, MLX5_CMD_OP_INIT_HCA, 0);
	hca_port_set(&b->hca->port[0], true);
	b->pd = brief(b, MLX5_CMD_OP_ALLOC_PD, 0);
	b->uar = brief(b, MLX5_CMD_OP_ALLOC_UAR, 0);
	b->eqn = make_eq(b);
	return 0;
err:
	bench_exit(test);
	return -ENOMEM;
}

/* ---- Commands ------------------------------------------------------------------- */

static void test_unknown_opcodes(struct kunit *test)
{
	struct bench *b = test->priv;
	u32 opcode, known = 0;

	for (opcode = 0; opcode <= 0xffff; opcode++) {
		if (hca_opcode_find(opcode)) {
			known++;
			continue;
		}
		KUNIT_EXPECT_EQ_MSG(test, command(b, opcode, 0, 0, 8000, 8000, NULL),
				    (u32)HCA_SYND_OPCODE, "0x%x", opcode);
	}
	KUNIT_EXPECT_NOT_NULL(test, hca_opcode_at(known - 1));
	KUNIT_EXPECT_NULL(test, hca_opcode_at(known));
}

/* Checks of size, stage, uid and op_mod, which are the same for every command */
static void test_command_table(struct kunit *test)
{
	struct bench *b = test->priv;
	const struct hca_opcode *op;
	unsigned int i;
	u8 stage;

	for (i = 0; (op = hca_opcode_at(i)); i++) {
		KUNIT_EXPECT_PTR_EQ(test, hca_opcode_find(op->opcode), op);
		KUNIT_EXPECT_EQ_MSG(test, command(b, op->opcode, 0, 0, op->min_in - 1, 8000, NULL),
				    (u32)HCA_SYND_INLEN, op->name);
		KUNIT_EXPECT_EQ_MSG(test, command(b, op->opcode, 0, 0, 8000, op->min_out - 1, NULL),
				    (u32)HCA_SYND_OUTLEN, op->name);
		for (stage = HCA_OFF; stage <= HCA_RUNNING; stage++) {
			if (op->stages & HCA_STAGE(stage))
				continue;
			b->hca->stage = stage;
			KUNIT_EXPECT_EQ_MSG(test, command(b, op->opcode, 0, 0, 8000, 8000, NULL),
					    (u32)HCA_SYND_STAGE, op->name);
		}
		b->hca->stage = op->stages & HCA_STAGE(HCA_RUNNING) ? HCA_RUNNING :
				op->stages & HCA_STAGE(HCA_ENABLED) ? HCA_ENABLED : HCA_OFF;
		KUNIT_EXPECT_EQ_MSG(test, command(b, op->opcode, 1, 0, 8000, 8000, NULL),
				    (u32)HCA_SYND_UID, op->name);
		if (!op->op_mods)
			KUNIT_EXPECT_EQ_MSG(test,
					    command(b, op->opcode, 0, 1, 8000, 8000, NULL),
					    (u32)HCA_SYND_OPMOD, op->name);
		b->hca->stage = HCA_RUNNING;
	}
}

/* ---- Keys ------------------------------------------------------------------------ */

#define KEY_START	0x10000800ull	/* not at the start of a page */
#define KEY_BYTES	0x1900ull	/* nor ending at the end of one: 3 pages */
#define KEY_VARIANT	0x5a

static struct hca_mkey *make_key(struct kunit *test, u8 mode)
{
	struct bench *b = test->priv;
	struct hca_mkey *key = kzalloc(sizeof(*key), GFP_KERNEL);
	u32 index;

	KUNIT_ASSERT_NOT_NULL(test, key);
	*key = (struct hca_mkey) {
		.hca = b->hca, .pd = b->pd, .qpn = HCA_ANY_QPN, .mode = mode,
		.access = MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW, .page_shift = 12,
		.start = KEY_START, .len = KEY_BYTES, .xlt_max = 64,
	};
	hca_mkey_align(key);
	KUNIT_ASSERT_EQ(test, hca_mkey_alloc_xlt(key, 2 * key->xlt_max), 0);
	KUNIT_ASSERT_EQ(test, hca_table_add(&b->hca->mkeys, key, 0, &index), 0);
	key->key = index << 8 | KEY_VARIANT;
	return key;
}

static struct hca_mkey *make_page_key(struct kunit *test)
{
	struct hca_mkey *key = make_key(test, MLX5R_MKEY_MODE_MTT);
	__be64 mtt[3];
	int i;

	/* Pages in reverse order, so that no two are contiguous */
	for (i = 0; i < 3; i++)
		mtt[i] = cpu_to_be64(ARENA_DMA + (2 - i) * HCA_PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, hca_mkey_set_mtts(key, 0, 3, mtt, true), 0);
	return key;
}

static void test_key_bounds(struct kunit *test)
{
	static const struct {
		u64 va, len;
		bool allowed;
	} cases[] = {
		{ KEY_START, KEY_BYTES, true },
		{ KEY_START, KEY_BYTES + 1, false },
		{ KEY_START - 1, 1, false },
		{ KEY_START - 1, KEY_BYTES, false },
		{ KEY_START + KEY_BYTES - 1, 1, true },
		{ KEY_START + KEY_BYTES - 1, 2, false },
		{ KEY_START + KEY_BYTES, 1, false },
		{ KEY_START + KEY_BYTES, 0, true },
		{ KEY_START + KEY_BYTES + 1, 0, false },
		{ KEY_START + 1, ~0ull, false },
		{ ~0ull, 2, false },
		{ 0, 1, false },
	};
	struct bench *b = test->priv;
	struct hca_mkey *key = make_page_key(test);
	struct hca_key_user user = { b->hca, b->pd, 5, MLX5R_MKEY_ACCESS_LR };
	int i;
	u64 n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, hca_key_check(&user, key->key, cases[i].va, cases[i].len),
				    cases[i].allowed, "0x%llx and 0x%llx bytes", cases[i].va,
				    cases[i].len);
		if (!cases[i].len)
			continue;
		n = cases[i].len;
		KUNIT_EXPECT_EQ_MSG(test, !!hca_key_map(&user, key->key, cases[i].va, &n),
				    cases[i].allowed, "map 0x%llx and 0x%llx bytes",
				    cases[i].va, cases[i].len);
	}
}

static void test_key_rights(struct kunit *test)
{
	static const u8 rights[] = {
		MLX5R_MKEY_ACCESS_LR, MLX5R_MKEY_ACCESS_LW, MLX5R_MKEY_ACCESS_RR,
		MLX5R_MKEY_ACCESS_RW, MLX5R_MKEY_ACCESS_A,
	};
	struct bench *b = test->priv;
	struct hca_mkey *key = make_page_key(test);
	struct hca_key_user user = { b->hca, b->pd, 5, 0 };
	int has, want;

	for (has = 0; has < ARRAY_SIZE(rights); has++) {
		for (want = 0; want < ARRAY_SIZE(rights); want++) {
			key->access = rights[has];
			user.access = rights[want];
			KUNIT_EXPECT_EQ(test, hca_key_check(&user, key->key, KEY_START, 1),
					has == want);
		}
	}
	user.access = 0;
	KUNIT_EXPECT_FALSE(test, hca_key_check(&user, key->key ^ 1, KEY_START, 1));
	KUNIT_EXPECT_FALSE(test, hca_key_check(&user, key->key + 0x100, KEY_START, 1));
	KUNIT_EXPECT_FALSE(test, hca_key_check(&user, 0, KEY_START, 1));
	user.pd++;
	KUNIT_EXPECT_FALSE(test, hca_key_check(&user, key->key, KEY_START, 1));
	user.pd--;
	key->qpn = 6;
	KUNIT_EXPECT_FALSE(test, hca_key_check(&user, key->key, KEY_START, 1));
	key->qpn = 5;
	KUNIT_EXPECT_TRUE(test, hca_key_check(&user, key->key, KEY_START, 1));
	key->free = true;
	KUNIT_EXPECT_FALSE(test, hca_key_check(&user, key->key, KEY_START, 1));
}

static void test_key_pages(struct kunit *test)
{
	struct bench *b = test->priv;
	struct hca_mkey *key = make_page_key(test);
	struct hca_key_user user = { b->hca, b->pd, 5, MLX5R_MKEY_ACCESS_LW };
	u64 n = KEY_BYTES;

	KUNIT_EXPECT_PTR_EQ(test, hca_key_map(&user, key->key, KEY_START, &n),
			    (void *)b->arena + 2 * HCA_PAGE_SIZE + 0x800);
	KUNIT_EXPECT_EQ(test, n, 0x800ull);
	n = KEY_BYTES - 0x800;
	KUNIT_EXPECT_PTR_EQ(test, hca_key_map(&user, key->key, KEY_START + 0x800, &n),
			    (void *)b->arena + HCA_PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, n, 0x1000ull);
	n = 0x100;
	KUNIT_EXPECT_PTR_EQ(test, hca_key_map(&user, key->key, KEY_START + 0x1800, &n),
			    (void *)b->arena);
	KUNIT_EXPECT_EQ(test, n, 0x100ull);
	*hca_mkey_page(key, 1) = NULL;
	n = 1;
	KUNIT_EXPECT_NULL(test, hca_key_map(&user, key->key, KEY_START + 0x800, &n));
}

/* A chain of indirect mkeys: at most four lead to one with pages. */
static void test_key_nesting(struct kunit *test)
{
	struct bench *b = test->priv;
	struct hca_mkey *inner = make_page_key(test), *outer = inner;
	struct hca_key_user user = { b->hca, b->pd, 5, MLX5R_MKEY_ACCESS_LR };
	int depth;
	u64 n;

	for (depth = 1; depth <= HCA_MAX_NESTING + 1; depth++) {
		struct mlx5r_klm klm = {
			.byte_count = cpu_to_be32(0x100), .mkey = cpu_to_be32(outer->key),
			.addr = cpu_to_be64(depth == 1 ? KEY_START : 0),
		};

		outer = make_key(test, MLX5R_MKEY_MODE_KLM);
		outer->start = 0;
		outer->len = 0x100;
		KUNIT_ASSERT_EQ(test, hca_mkey_set_klms(outer, 0, 1, &klm, true), 0);
		n = 0x80;
		KUNIT_EXPECT_EQ_MSG(test, !!hca_key_map(&user, outer->key, 0x10, &n),
				    depth <= HCA_MAX_NESTING, "depth %d", depth);
		n = 0x101;
		KUNIT_EXPECT_NULL(test, hca_key_map(&user, outer->key, 0, &n));
	}
}

/* ---- Doorbells ------------------------------------------------------------------------ */

/* Writes the arm word and rings the doorbell. */
static void arm(struct hca_cq *cq, u32 sn, u32 flags)
{
	cq->record.uar->cq_rings++;
	cq->dbr[MLX5R_DBR_CQ_ARM] =
		cpu_to_be32(sn << MLX5R_CQ_ARM_SN_SHIFT | flags | (cq->pi & MLX5R_CQ_INDEX_MASK));
}

static void post_cqe(struct hca_cq *cq, u8 flags)
{
	struct mlx5r_cqe cqe = { .op_own = MLX5R_CQE_RESP_SEND << 4 | flags };

	hca_cqe_post(cq, &cqe, NULL);
	hca_cq_raise_events(cq->hca->fabric);
}

static void test_arm(struct kunit *test)
{
	struct bench *b = test->priv;
	struct hca_cq *cq = make_cq(b);
	struct hca_eq *eq = hca_table_get(&b->hca->eqs, b->eqn);

	KUNIT_ASSERT_NOT_NULL(test, cq);
	post_cqe(cq, 0);
	KUNIT_EXPECT_EQ(test, eq->pi, 0u);	/* not armed */
	cq->dbr[MLX5R_DBR_CQ_ARM] = cpu_to_be32(1u << MLX5R_CQ_ARM_SN_SHIFT);
	KUNIT_EXPECT_FALSE(test, hca_cq_read_record(cq));	/* no doorbell, no request */
	cq->record.uar->cq_rings++;
	KUNIT_EXPECT_TRUE(test, hca_cq_read_record(cq));
	KUNIT_EXPECT_EQ(test, eq->pi, 1u);	/* for the entry before */
	KUNIT_EXPECT_FALSE(test, hca_cq_read_record(cq));
	post_cqe(cq, 0);
	KUNIT_EXPECT_EQ(test, eq->pi, 1u);	/* one request, one event */
	arm(cq, 2, 0);
	hca_cq_read_record(cq);
	KUNIT_EXPECT_EQ(test, eq->pi, 1u);	/* nothing new yet */
	post_cqe(cq, 0);
	KUNIT_EXPECT_EQ(test, eq->pi, 2u);
	arm(cq, 3, MLX5R_CQ_ARM_SOLICITED);
	post_cqe(cq, 0);
	KUNIT_EXPECT_EQ(test, eq->pi, 2u);
	post_cqe(cq, MLX5R_CQE_SOLICITED);
	KUNIT_EXPECT_EQ(test, eq->pi, 3u);
}

static void post_record(struct hca_qp *qp, u16 pi)
{
	qp->dbr[MLX5R_DBR_SND] = cpu_to_be32(pi);
}

static void ring(struct hca_qp *qp)
{
	*(__be64 *)(qp->record.uar->regs + MLX5R_UAR_BF) = cpu_to_be64((u64)qp->qpn << 8);
}

/* A pass does not read every register. */
static void poll_doorbells(struct bench *b)
{
	int i;

	for (i = 0; i < 1000; i++)
		hca_doorbell_poll(&b->fabric);
}

/* The record of a doorbell that was overwritten is read too. */
static void test_doorbell(struct kunit *test)
{
	struct bench *b = test->priv;
	struct hca_cq *cq = make_cq(b);
	struct hca_qp *one = make_qp(b, cq), *two = make_qp(b, cq);

	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, two);
	post_record(one, 3);
	poll_doorbells(b);
	KUNIT_EXPECT_EQ(test, one->sq.pi, 0);	/* no doorbell */
	ring(one);
	post_record(two, 5);
	ring(two);
	KUNIT_EXPECT_TRUE(test, hca_fabric_rung(&b->fabric));
	poll_doorbells(b);
	KUNIT_EXPECT_FALSE(test, hca_fabric_rung(&b->fabric));
	KUNIT_EXPECT_EQ(test, one->sq.pi, 3);
	KUNIT_EXPECT_EQ(test, two->sq.pi, 5);

	/* At most as many as the ring holds; the index may wrap. */
	post_record(one, 16);
	KUNIT_EXPECT_TRUE(test, hca_qp_read_record(one));
	KUNIT_EXPECT_EQ(test, one->state, (u8)MLX5_QP_STATE_RTS);
	post_record(one, 17);
	KUNIT_EXPECT_TRUE(test, hca_qp_read_record(one));
	hca_qp_run_failures(&b->fabric);
	KUNIT_EXPECT_EQ(test, one->state, (u8)MLX5_QP_STATE_ERR);
	two->sq.pi = two->sq.ci = 0xfff8;
	post_record(two, 8);
	KUNIT_EXPECT_TRUE(test, hca_qp_read_record(two));
	KUNIT_EXPECT_EQ(test, two->sq.pi, 8);
	KUNIT_EXPECT_EQ(test, two->state, (u8)MLX5_QP_STATE_RTS);
}

/* ---- Transport --------------------------------------------------------------------------- */

static void test_psn(struct kunit *test)
{
	struct bench *b = test->priv;
	struct hca_qp *qp = make_qp(b, make_cq(b));
	struct hca_wqe *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_ASSERT_NOT_NULL(test, w);
	w->opcode = MLX5R_OP_RDMA_WRITE;
	qp->sq_psn = 0xffffff;
	qp->rq_psn = 0xffffff;
	KUNIT_EXPECT_EQ(test, hca_req_send_connected(qp, w), 0);
	KUNIT_EXPECT_EQ(test, qp->sq_psn, 0u);
	KUNIT_EXPECT_EQ(test, qp->rq_psn, 0u);

	w->length = 0;
	KUNIT_EXPECT_EQ(test, hca_req_count_packets(qp, w), 1u);
	w->length = 1024;
	KUNIT_EXPECT_EQ(test, hca_req_count_packets(qp, w), 1u);
	w->length = 1025;
	KUNIT_EXPECT_EQ(test, hca_req_count_packets(qp, w), 2u);
	w->length = 1ull << 30;
	KUNIT_EXPECT_EQ(test, hca_req_count_packets(qp, w), 1u << 20);

	/* With another PSN than expected there is no answer. */
	w->length = 0;
	qp->rq_psn = 1;
	qp->ack_timeout = 14;
	qp->retry_left = 1;
	KUNIT_EXPECT_EQ(test, hca_req_send_connected(qp, w), (int)HCA_AGAIN);
	KUNIT_EXPECT_EQ(test, hca_timer_due(&qp->timer) - b->fabric.now, 4096ull << 14);
	KUNIT_EXPECT_EQ(test, hca_req_send_connected(qp, w), MLX5R_SYND_RETRY_EXC);
}

static void test_rnr(struct kunit *test)
{
	struct bench *b = test->priv;
	struct hca_qp *qp = make_qp(b, make_cq(b));
	struct hca_wqe *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_ASSERT_NOT_NULL(test, w);
	w->opcode = MLX5R_OP_SEND;
	qp->min_rnr = 14;			/* 1.28 ms (IBTA) */
	qp->rnr_retry = 2;
	qp->rnr_left = 2;
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, hca_req_send_connected(qp, w), (int)HCA_AGAIN);
		KUNIT_EXPECT_EQ(test, hca_timer_due(&qp->timer) - b->fabric.now, 1280000ull);
	}
	KUNIT_EXPECT_EQ(test, hca_req_send_connected(qp, w), MLX5R_SYND_RNR_EXC);
	qp->rnr_retry = 7;			/* no limit */
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, hca_req_send_connected(qp, w), (int)HCA_AGAIN);

	/* Every second code doubles the delay. */
	KUNIT_EXPECT_EQ(test, rnr_10us[1], 1);
	KUNIT_EXPECT_EQ(test, rnr_10us[2], 2);
	KUNIT_EXPECT_EQ(test, rnr_10us[3], 3);
	for (i = 4; i < 32; i++)
		KUNIT_EXPECT_EQ(test, rnr_10us[i], 2 * rnr_10us[i - 2]);
}

/* What an atomic with the arguments a to d makes of @old; the reply must be @old. */
static u64 atomic_on(struct kunit *test, u8 opcode, u64 old, u64 a, u64 b, u64 c, u64 d)
{
	__be64 args[] = { cpu_to_be64(a), cpu_to_be64(b), cpu_to_be64(c), cpu_to_be64(d) };
	struct hca_wqe *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u64 mem = old, reply = 0;

	if (!w)
		return 0;
	w->opcode = opcode;
	w->operand = sizeof(mem);
	w->args = (const u8 *)args;
	hca_atomic(w, &mem, &reply);
	KUNIT_EXPECT_EQ(test, reply, old);
	return mem;
}

static void test_atomics(struct kunit *test)
{
	const u8 cs = MLX5R_OP_ATOMIC_CS, masked_cs = MLX5R_OP_ATOMIC_MASKED_CS;
	const u8 fa = MLX5R_OP_ATOMIC_FA, masked_fa = MLX5R_OP_ATOMIC_MASKED_FA;

	/* Two fields of 32 bits, then one field: no carry leaves a field. */
	KUNIT_EXPECT_EQ(test, atomic_on(test, masked_fa, 0x00000001ffffffff, 1, 0x8000000080000000,
					0, 0), 0x0000000100000000ull);
	KUNIT_EXPECT_EQ(test, atomic_on(test, masked_fa, 0x00000001ffffffff, 1, 0, 0, 0),
			0x0000000200000000ull);
	KUNIT_EXPECT_EQ(test, atomic_on(test, cs, 5, 7, 5, 0, 0), 7ull);
	KUNIT_EXPECT_EQ(test, atomic_on(test, cs, 6, 7, 5, 0, 0), 6ull);
	KUNIT_EXPECT_EQ(test, atomic_on(test, fa, ~0ull, 7, 5, 0, 0), 6ull);
	KUNIT_EXPECT_EQ(test, atomic_on(test, masked_cs, 0x35, 0xab, 0x95, 0xf0, 0x0f), 0xa5ull);
	KUNIT_EXPECT_EQ(test, atomic_on(test, masked_cs, 0x36, 0xab, 0x95, 0xf0, 0x0f), 0x36ull);
}

static struct kunit_case command_cases[] = {
	KUNIT_CASE(test_unknown_opcodes),
	KUNIT_CASE(test_command_table),
	{}
};

static struct kunit_case key_cases[] = {
	KUNIT_CASE(test_key_bounds),
	KUNIT_CASE(test_key_rights),
	KUNIT_CASE(test_key_pages),
	KUNIT_CASE(test_key_nesting),
	{}
};

static struct kunit_case doorbell_cases[] = {
	KUNIT_CASE(test_arm),
	KUNIT_CASE(test_doorbell),
	{}
};

static struct kunit_case transport_cases[] = {
	KUNIT_CASE(test_psn),
	KUNIT_CASE(test_rnr),
	KUNIT_CASE(test_atomics),
	{}
};

#define SUITE(_name, _title)							\
static struct kunit_suite _name##_suite = {					\
	.name = _title,								\
	.init = bench_init,							\
	.exit = bench_exit,							\
	.test_cases = _name##_cases,						\
}

SUITE(command, "xhca-commands");
SUITE(key, "xhca-keys");
SUITE(doorbell, "xhca-doorbells");
SUITE(transport, "xhca-transport");

kunit_test_suites(&command_suite, &key_suite, &doorbell_suite, &transport_suite);

MODULE_DESCRIPTION("KUnit tests of xhca");
MODULE_LICENSE("GPL");
