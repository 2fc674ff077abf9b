// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: contexts of CQs, SRQs, memory windows and indirect keys that the verbs write, compared
 * with layouts from the PRM.
 */
#include "context_kunit.h"

#define XV_TEST_EQN	7

static int xv_mock_vector2eqn(struct mlx5_core_dev *mdev, int vector, int *eqn)
{
	*eqn = XV_TEST_EQN + vector;
	return 0;
}

#define xv_compat_vector2eqn	xv_mock_vector2eqn
#include "../cq.c"
#include "../srq.c"
#include "../mw.c"
#include "../mkey.c"

/* ---- Completion queues ---------------------------------------------------------- */

static void xv_test_create_cq(struct kunit *test)
{
	struct xv_bench *b = test->priv;
	struct xv_uar_obj uar = { .index = 0xabcdef, .uid = 0x4321 };
	struct xverbs_cq_create *arg = &b->call.arg.cq_create;

	b->cq.mem = b->mem;
	arg->cqe_bytes = 64;
	KUNIT_EXPECT_EQ(test, xv_cq_create_hw(&b->call, &b->cq, &uar, 1 << 22),
			0);
	XV_EXPECT_COMMAND(test, "CREATE_CQ", 0x120, { 0, 0x4321 },
			  { 0x1c, 0x16abcdef },
			  { 0x24, XV_TEST_EQN }, { 0x48, 1 },
			  { 0x4c, 0x23456740 }, XV_PAGES);
	arg->cqe_bytes = 128;
	arg->comp_vector = 3;
	arg->hdr.flags = XVERBS_CQ_COLLAPSED;
	KUNIT_EXPECT_EQ(test, xv_cq_create_hw(&b->call, &b->cq, &uar, 1), 0);
	XV_EXPECT_COMMAND(test, "CREATE_CQ collapsed, 128 bytes", 0x120, { 0, 0x4321 },
			  { 0x10, 0x00300000 }, { 0x1c, 0x00abcdef },
			  { 0x24, XV_TEST_EQN + 3 }, { 0x48, 1 },
			  { 0x4c, 0x23456740 }, XV_PAGES);
	arg->hdr.flags = XVERBS_CQ_IGNORE_OVERRUN;
	KUNIT_EXPECT_EQ(test, xv_cq_create_hw(&b->call, &b->cq, &uar, 1), 0);
	XV_EXPECT_COMMAND(test, "CREATE_CQ overrun ignored", 0x120, { 0, 0x4321 },
			  { 0x10, 0x00220000 }, { 0x1c, 0x00abcdef },
			  { 0x24, XV_TEST_EQN + 3 }, { 0x48, 1 },
			  { 0x4c, 0x23456740 }, XV_PAGES);
}

static void xv_test_resize_cq(struct kunit *test)
{
	struct xv_bench *b = test->priv;

	b->cq.mcq.cqn = 0x123456;
	b->cq.cqe_bytes = 128;
	KUNIT_EXPECT_EQ(test, xv_cq_resize_hw(&b->call, &b->cq, &b->mem.ring,
					      64), 0);
	XV_EXPECT_COMMAND(test, "MODIFY_CQ resize", 0x120, { 0, 0x04030000 },
			  { 4, 1 }, { 8, 0x123456 }, { 12, 7 },
			  { 0x10, 0x00200000 }, { 0x1c, 0x06000000 }, XV_PAGES);
}

/* A device without cross-channel queues refuses the flag and says why. */
static void xv_test_cross_channel_cq(struct kunit *test)
{
	struct xv_bench *b = test->priv;
	struct xverbs_cq_create *arg = &b->call.arg.cq_create;
	u32 entries;

	b->ib.num_comp_vectors = 1;
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, log_max_cq_sz, 10);
	arg->cqe_bytes = 64;
	arg->entries = 100;
	KUNIT_EXPECT_EQ(test, xv_cq_check(&b->call, arg, &entries), 0);
	arg->hdr.flags = XVERBS_CQ_CROSS_CHANNEL;
	KUNIT_EXPECT_EQ(test, xv_cq_check(&b->call, arg, &entries), -EOPNOTSUPP);
	KUNIT_EXPECT_PTR_NE(test, strstr(b->call.reason, "cross-channel"), NULL);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, cd, 1);
	KUNIT_EXPECT_EQ(test, xv_cq_check(&b->call, arg, &entries), 0);
	KUNIT_EXPECT_EQ(test, entries, 128);
}

static void xv_test_cq_overrun(struct kunit *test)
{
	struct xv_bench *b = test->priv;
	struct xverbs_cq_create *create = &b->call.arg.cq_create;
	struct xverbs_cq_modify *modify = &b->call.arg.cq_modify;
	u32 entries;

	b->ib.num_comp_vectors = 1;
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, log_max_cq_sz, 10);
	create->cqe_bytes = 64;
	create->entries = 100;
	create->hdr.flags = XVERBS_CQ_IGNORE_OVERRUN;
	KUNIT_EXPECT_EQ(test, xv_cq_check(&b->call, create, &entries), -EOPNOTSUPP);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, cq_oi, 1);
	KUNIT_EXPECT_EQ(test, xv_cq_check(&b->call, create, &entries), 0);
	*modify = (struct xverbs_cq_modify) {
		.change = XVERBS_CQ_OVERRUN, .ignore_overrun = 1,
	};
	KUNIT_EXPECT_EQ(test, xv_cq_check_modify(&b->call), 0);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, cq_oi, 0);
	KUNIT_EXPECT_EQ(test, xv_cq_check_modify(&b->call), -EOPNOTSUPP);
}

/* ---- Shared receive queues -------------------------------------------------------- */

static void xv_test_create_rmp(struct kunit *test)
{
	const struct xv_srq_geometry linked = { true, 1024, 64 };
	const struct xv_srq_geometry cyclic = { false, 8, 16 };
	struct xv_bench *b = test->priv;

	b->srq.mem = b->mem;
	b->call.arg.srq_create.limit = 0xbeef;
	KUNIT_EXPECT_EQ(test, xv_srq_create_rmp(&b->call, &b->srq, &b->pd,
						&linked), 0);
	XV_EXPECT_COMMAND(test, "CREATE_RMP linked", 0x120, { 0, 0x090c0000 },
			  { 0x20, 0x00100000 }, { 0x54, 0xbeef },
			  { 0x58, 0x654321 }, { 0x60, 1 },
			  { 0x64, 0x23456740 }, { 0x70, 0x0006000a },
			  XV_PAGES);
	b->call.arg.srq_create.limit = 0;
	KUNIT_EXPECT_EQ(test, xv_srq_create_rmp(&b->call, &b->srq, &b->pd,
						&cyclic), 0);
	XV_EXPECT_COMMAND(test, "CREATE_RMP cyclic", 0x120, { 0, 0x090c0000 },
			  { 0x20, 0x00100000 }, { 0x24, 0x80000000 },
			  { 0x50, 0x10000000 }, { 0x58, 0x654321 },
			  { 0x60, 1 }, { 0x64, 0x23456740 },
			  { 0x70, 0x00040003 }, XV_PAGES);
}

static void xv_test_create_xrc_srq(struct kunit *test)
{
	const struct xv_srq_geometry linked = { true, 1024, 64 };
	struct xv_bench *b = test->priv;

	b->srq.mem = b->mem;
	b->call.arg.srq_create.limit = 0xbeef;
	b->call.arg.srq_create.user_index = 0xabcdef;
	KUNIT_EXPECT_EQ(test, xv_srq_create_xrc(&b->call, &b->srq, &b->pd,
						&linked, 0x111111, 0x222222),
			0);
	XV_EXPECT_COMMAND(test, "CREATE_XRC_SRQ", 0x120, { 0, 0x07050000 },
			  { 0x10, 0x0a000000 }, { 0x14, 0x02111111 },
			  { 0x18, 0x222222 }, { 0x20, 0xabcdef },
			  { 0x28, 0x654321 }, { 0x2c, 0xbeef0000 },
			  { 0x38, 1 }, { 0x3c, 0x23456740 }, XV_PAGES);
}

/* ---- Memory windows ---------------------------------------------------------------- */

static void xv_test_memory_window(struct kunit *test)
{
	struct xv_bench *b = test->priv;
	struct xverbs_mw_alloc *arg = &b->call.arg.mw_alloc;
	struct xv_obj *obj;
	u32 type;

	xa_init_flags(&b->file.objs, XA_FLAGS_ALLOC1);
	xv_evq_init(&b->file.async, sizeof(struct xverbs_async_event), b->file.log);
	b->pd.obj.type = XV_OBJ_PD;
	b->pd.obj.file = &b->file;
	xa_store(&b->file.objs, 5, &b->pd.obj, GFP_KERNEL);
	*(__be32 *)(xv_fw.out + 8) = cpu_to_be32(0x123456);
	for (type = 1; type <= 2; type++) {
		*arg = (struct xverbs_mw_alloc) { .pd = 5, .type = type };
		KUNIT_EXPECT_EQ(test, xv_mw_alloc(&b->call), 0);
		if (type == 1)
			XV_EXPECT_COMMAND(test, "type 1", 0x110,
					  { 0, 0x02000000 },
					  { 0x10, 0x40008600 },
					  { 0x14, 0xffffff01 },
					  { 0x1c, 0x00654321 }, { 0x44, 4 });
		else
			XV_EXPECT_COMMAND(test, "type 2", 0x110,
					  { 0, 0x02000000 },
					  { 0x10, 0x40008600 },
					  { 0x14, 0xffffff02 },
					  { 0x1c, 0x01654321 }, { 0x44, 4 });
		KUNIT_EXPECT_EQ(test, arg->out_rkey, 0x12345600u + type);
		obj = b->call.new_obj;
		KUNIT_EXPECT_EQ(test, xv_mw_destroy(obj, &b->call), 0);
		XV_EXPECT_COMMAND(test, "destroy", 16, { 0, 0x02020000 },
				  { 8, 0x123456 });
		xv_obj_abort(obj);
	}
	*arg = (struct xverbs_mw_alloc) { .pd = 5, .type = 3 };
	KUNIT_EXPECT_EQ(test, xv_mw_alloc(&b->call), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, b->pd.obj.users, 0u);
	xa_destroy(&b->file.objs);
}

/* ---- Indirect keys ----------------------------------------------------------------- */

static void xv_test_indirect_key(struct kunit *test)
{
	struct xv_bench *b = test->priv;
	struct xverbs_mkey_create *arg = &b->call.arg.mkey_create;
	struct xv_mkey_obj mkey = {};

	KUNIT_EXPECT_EQ(test, xv_mkey_create(&b->call), -EOPNOTSUPP);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, max_indirection, 4);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, log_max_klm_list_size, 16);
	KUNIT_EXPECT_EQ(test, xv_mkey_max_entries(&b->dev), 0x10000u);
	KUNIT_EXPECT_EQ(test, xv_mkey_create(&b->call), -EINVAL);
	arg->max_entries = 0x10001;
	KUNIT_EXPECT_EQ(test, xv_mkey_create(&b->call), -EINVAL);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, umr_indirect_mkey_disabled, 1);
	KUNIT_EXPECT_EQ(test, xv_mkey_max_entries(&b->dev), 0u);

	KUNIT_EXPECT_EQ(test, xv_mkey_create_hw(&b->call, &mkey, 0x654321, 0x10000), 0);
	XV_EXPECT_COMMAND(test, "CREATE_MKEY", 0x110, { 0, 0x02000000 },
			  { 0x10, 0x40008600 }, { 0x14, 0xffffff01 },
			  { 0x1c, 0x00654321 }, { 0x44, 0x10000 });
	arg->hdr.flags = XVERBS_MKEY_REMOTE_INVALIDATE;
	KUNIT_EXPECT_EQ(test, xv_mkey_create_hw(&b->call, &mkey, 0x654321, 8), 0);
	XV_EXPECT_COMMAND(test, "CREATE_MKEY, remote invalidate", 0x110, { 0, 0x02000000 },
			  { 0x10, 0x40008600 }, { 0x14, 0xffffff02 },
			  { 0x1c, 0x01654321 }, { 0x44, 8 });
}

static struct kunit_case xv_queue_cases[] = {
	KUNIT_CASE(xv_test_create_cq),
	KUNIT_CASE(xv_test_resize_cq),
	KUNIT_CASE(xv_test_cross_channel_cq),
	KUNIT_CASE(xv_test_cq_overrun),
	KUNIT_CASE(xv_test_create_rmp),
	KUNIT_CASE(xv_test_create_xrc_srq),
	KUNIT_CASE(xv_test_memory_window),
	KUNIT_CASE(xv_test_indirect_key),
	{}
};

static struct kunit_suite xv_queue_suite = {
	.name = "xverbs-queue-contexts",
	.init = xv_bench_init,
	.test_cases = xv_queue_cases,
};

kunit_test_suite(xv_queue_suite);
