// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: contexts of queue pairs, DC targets and address paths that the verbs write, compared
 * with layouts from the PRM.
 */
#include <linux/moduleparam.h>

#include "context_kunit.h"

/* In the tests, xv_obj_undo() of object.c destroys no queue pair. */
static void xv_mock_undo(struct xv_obj *obj)
{
	if (obj->type == XV_OBJ_QP)
		xv_qp_destroy(obj, NULL);
	xv_obj_undo(obj);
}

static bool xv_lag_active, xv_lag_hash, xv_lag_lacp_owner;
static u8 xv_lag_ports;

#define xv_obj_undo		xv_mock_undo
#define mlx5_lag_is_active(mdev)	xv_lag_active
#define mlx5_lag_mode_is_hash(mdev)	xv_lag_hash
#define mlx5_lag_get_num_ports(mdev)	xv_lag_ports
#define mlx5_lag_is_lacp_owner(mdev)	xv_lag_lacp_owner
#include "../ah.c"
#include "../qp.c"
#include "../qp_modify.c"
#include "../dct.c"

/* ---- Queue pairs --------------------------------------------------------------------- */

static void xv_fill_qp(struct xv_bench *b, u32 type)
{
	b->qp.type = type;
	b->qp.pdn = 0x654321;
	b->qp.uar_page = 0x111111;
	b->qp.cqn_snd = 0x222222;
	b->qp.cqn_rcv = 0x333333;
	b->qp.mem = b->mem;
	/* mlx5_get_qp_default_ts() then returns free-running timestamps. */
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, roce_rw_supported, 1);
}

static int xv_bench_create_qp(struct xv_bench *b, const struct xv_qp_layout *lay)
{
	int err;

	*(__be32 *)(xv_fw.out + 8) = cpu_to_be32(0x123456);
	err = xv_qp_create_hw(&b->call, &b->qp, lay);
	xa_destroy(&b->dev.qps);
	return err;
}

static void xv_test_create_qp(struct kunit *test)
{
	const struct xv_qp_layout both = { .sq_wqebbs = 512, .rq_wqes = 256,
					   .rq_stride = 64 };
	struct xv_bench *b = test->priv;

	xv_fill_qp(b, XVERBS_QPT_RC);
	b->call.arg.qp_create.user_index = 0xabcdef;
	KUNIT_EXPECT_EQ(test, xv_bench_create_qp(b, &both), 0);
	KUNIT_EXPECT_EQ(test, b->qp.qpn, 0x123456u);
	XV_EXPECT_COMMAND(test, "RC", 0x120, { 0, 0x05000000 },
			  { 0x18, 0x00001800 }, { 0x1c, 0x654321 },
			  { 0x20, 0x00424800 }, { 0x24, 0x111111 },
			  { 0x94, 0x222222 }, { 0xb4, 0x333333 },
			  { 0xb8, 1 }, { 0xbc, 0x23456740 }, XV_PAGES);
	/* user_index is set only with cqe_version 1. */
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, cqe_version, 1);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, sq_ts_format, 1);
	b->qp.type = XVERBS_QPT_UD;
	KUNIT_EXPECT_EQ(test, xv_bench_create_qp(b, &both), 0);
	XV_EXPECT_COMMAND(test, "UD", 0x120, { 0, 0x05000000 },
			  { 0x18, 0x00021800 }, { 0x1c, 0x654321 },
			  { 0x20, 0x00424840 }, { 0x24, 0x111111 },
			  { 0x28, 0xabcdef }, { 0x94, 0x222222 },
			  { 0xb4, 0x333333 }, { 0xb8, 1 },
			  { 0xbc, 0x23456740 }, XV_PAGES);
}

/* A device without options for connections gets no request for them, and refuses them. */
static void xv_test_ece(struct kunit *test)
{
	const struct xv_qp_layout lay = { .sq_wqebbs = 512 };
	struct xverbs_qp_attr attr = { .ece = 5 };
	struct xv_bench *b = test->priv;

	xv_fill_qp(b, XVERBS_QPT_RC);
	*(__be32 *)(xv_fw.out + 12) = cpu_to_be32(0x10000003);
	KUNIT_EXPECT_EQ(test, xv_bench_create_qp(b, &lay), 0);
	KUNIT_EXPECT_EQ(test, *(u32 *)(xv_fw.in + 0x14), 0u);
	KUNIT_EXPECT_EQ(test, b->qp.attrs.qp.ece, 0u);
	KUNIT_EXPECT_NULL(test, xv_qp_ece(&b->call, 0, 1, XVERBS_QP_ECE, &attr));
	KUNIT_EXPECT_EQ(test, xv_qp_check_limits(&b->call, &attr, XVERBS_QP_ECE),
			-EOPNOTSUPP);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, ece_support, 1);
	KUNIT_EXPECT_EQ(test, xv_bench_create_qp(b, &lay), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(*(__be32 *)(xv_fw.in + 0x14)), 1u << 28);
	KUNIT_EXPECT_EQ(test, b->qp.attrs.qp.ece, 0x10000003u);
	KUNIT_EXPECT_EQ(test, xv_qp_check_limits(&b->call, &attr, XVERBS_QP_ECE), 0);
	KUNIT_EXPECT_EQ(test, *xv_qp_ece(&b->call, 0, 1, XVERBS_QP_ECE, &attr), 5u);
	KUNIT_EXPECT_EQ(test, *xv_qp_ece(&b->call, 0, 1, 0, &attr), 0u);
}

static void xv_test_cross_channel(struct kunit *test)
{
	const struct xv_qp_layout both = { .sq_wqebbs = 512, .rq_wqes = 256,
					   .rq_stride = 64 };
	static const u32 bits[] = { BIT(0), BIT(1), BIT(2) };
	struct xv_bench *b = test->priv;
	struct xverbs_qp_create *arg = &b->call.arg.qp_create;
	u32 i;

	b->call.cap.max_send_wr = 1;
	b->call.cap.max_recv_wr = 1;
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		xv_fill_qp(b, XVERBS_QPT_RC);
		arg->type = XVERBS_QPT_RC;
		arg->hdr.flags = bits[i];
		XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, cd, 0);
		KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg),
				-EOPNOTSUPP);
		XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, cd, 1);
		KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg), 0);
		KUNIT_EXPECT_EQ(test, xv_bench_create_qp(b, &both), 0);
		/* PRM: cd_master 0, cd_slave_send 1, cd_slave_receive 2 */
		KUNIT_EXPECT_EQ(test, be32_to_cpu(*(__be32 *)(xv_fw.in + 0xa8)),
				bits[i]);
		arg->type = XVERBS_QPT_UD;
		KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg),
				-EINVAL);
	}
	arg->type = XVERBS_QPT_RC;
	arg->hdr.flags = XVERBS_QP_MANAGED_RECV;
	b->call.cap.max_recv_wr = 0;
	KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg), -EINVAL);
	arg->hdr.flags = XVERBS_QP_MANAGED_SEND;
	KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg), 0);
	b->call.cap.max_send_wr = 0;
	KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg), -EINVAL);
	arg->hdr.flags = XVERBS_QP_CROSS_CHANNEL;
	KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg), -EINVAL);
}

/* Whether the list of features has @name as available; a reason stands beside what is not */
static bool xv_bench_has(struct kunit *test, const char *name)
{
	struct xv_bench *b = test->priv;
	struct xverbs_query_features *arg = &b->call.arg.query_features;
	const struct xverbs_feature *list;
	bool has = false, found = false;
	u32 i;

	memset(arg, 0, sizeof(*arg));
	arg->count = 100;
	arg->entry_size = sizeof(*list);
	KUNIT_ASSERT_EQ(test, xv_features_query(&b->call), 0);
	list = b->call.entries.list;
	for (i = 0; i < b->call.entries.n; i++) {
		if (strcmp(list[i].name, name))
			continue;
		found = true;
		has = list[i].available;
		KUNIT_EXPECT_EQ(test, !list[i].why_not[0], has);
	}
	KUNIT_EXPECT_TRUE(test, found);
	kvfree(list);
	return has;
}

static void xv_test_cross_channel_features(struct kunit *test)
{
	struct xv_bench *b = test->priv;
	/* PRM, general page: dword at 0xd0, bit 20 for data, bit 19 for time */
	__be32 *wait = (__be32 *)b->mdev.caps.hca[MLX5_CAP_GENERAL]->cur +
		       0xd0 / 4;
	u32 bits, cd;

	for (cd = 0; cd < 2; cd++) {
		XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, cd, cd);
		for (bits = 0; bits < 4; bits++) {
			*wait = cpu_to_be32(bits << 19);
			KUNIT_EXPECT_EQ(test, xv_bench_has(test, "cross-channel"), cd);
			KUNIT_EXPECT_EQ(test, xv_bench_has(test, "wait-on-time"),
					cd && bits & 1);
			KUNIT_EXPECT_EQ(test, xv_bench_has(test, "wait-on-data"),
					cd && bits & 2);
		}
	}
	KUNIT_EXPECT_FALSE(test, xv_bench_has(test, "vector-calc"));
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, vector_calc, 1);
	KUNIT_EXPECT_TRUE(test, xv_bench_has(test, "vector-calc"));
}

static void xv_expect_calc(struct kunit *test, u64 flags, u64 types, u64 sizes,
			   u64 int_ops, u64 uint_ops, u64 fp_ops)
{
	struct xv_bench *b = test->priv;
	struct xverbs_query_device *d = &b->call.arg.query_device;

	memset(d, 0, sizeof(*d));
	KUNIT_EXPECT_EQ(test, xv_device_query(&b->call), 0);
	KUNIT_EXPECT_EQ(test, d->out_exp_device_cap_flags, flags);
	KUNIT_EXPECT_EQ(test, d->out_calc_data_types, types);
	KUNIT_EXPECT_EQ(test, d->out_calc_data_sizes, sizes);
	KUNIT_EXPECT_EQ(test, d->out_calc_int_ops, int_ops);
	KUNIT_EXPECT_EQ(test, d->out_calc_uint_ops, uint_ops);
	KUNIT_EXPECT_EQ(test, d->out_calc_fp_ops, fp_ops);
}

static void xv_test_calc_caps(struct kunit *test)
{
	struct xv_bench *b = test->priv;
	struct xverbs_query_device *d = &b->call.arg.query_device;
	__be32 *page = (__be32 *)(xv_fw.out + 0x10);

	/* PRM: 16 vectors, chunks of 64 << 3 bytes, operations 1, 2 and 6 */
	page[1] = cpu_to_be32(0x00100003);
	page[2] = cpu_to_be32(0x23);
	xv_expect_calc(test, 0, 0, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, d->out_vector_calc_ops, 0);
	KUNIT_EXPECT_EQ(test, d->out_vector_calc_max_count, 0);
	KUNIT_EXPECT_EQ(test, d->out_vector_calc_max_chunk, 0);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, cd, 1);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, vector_calc, 1);
	/* Manual D.2.1: add, maxloc, and, xor, or are bits 0 to 4 */
	xv_expect_calc(test, XVERBS_EXP_DEVICE_CROSS_CHANNEL, 7, 1, 0x1d, 0x1f, 1);
	KUNIT_EXPECT_EQ(test, d->out_vector_calc_ops, 0x46);
	KUNIT_EXPECT_EQ(test, d->out_vector_calc_max_count, 16);
	KUNIT_EXPECT_EQ(test, d->out_vector_calc_max_chunk, 512);
}

static void xv_test_create_qp_srq(struct kunit *test)
{
	const struct xv_qp_layout send = { .sq_wqebbs = 1 }, none = {};
	struct xv_bench *b = test->priv;

	xv_fill_qp(b, XVERBS_QPT_UC);
	b->qp.srqn = 0x444444;
	KUNIT_EXPECT_EQ(test, xv_bench_create_qp(b, &send), 0);
	XV_EXPECT_COMMAND(test, "UC with SRQ", 0x120, { 0, 0x05000000 },
			  { 0x18, 0x00011800 }, { 0x1c, 0x654321 },
			  { 0x24, 0x111111 }, { 0x94, 0x222222 },
			  { 0xb4, 0x333333 }, { 0xb8, 1 },
			  { 0xbc, 0x23456740 }, { 0xc4, 0x01444444 },
			  XV_PAGES);
	b->qp.type = XVERBS_QPT_XRC_RECV;
	b->qp.srqn = 0;
	b->qp.xrcdn = 0x555555;
	KUNIT_EXPECT_EQ(test, xv_bench_create_qp(b, &none), 0);
	XV_EXPECT_COMMAND(test, "XRC, neither queue", 0x120, { 0, 0x05000000 },
			  { 0x18, 0x00031800 }, { 0x1c, 0x654321 },
			  { 0x20, 0x00008000 }, { 0x24, 0x111111 },
			  { 0x94, 0x222222 }, { 0xb0, 0x555555 },
			  { 0xb4, 0x333333 }, { 0xb8, 1 },
			  { 0xbc, 0x23456740 }, { 0xc4, 0x03000000 },
			  XV_PAGES);
}

static void xv_test_create_dci(struct kunit *test)
{
	const struct xv_qp_layout send = { .sq_wqebbs = 512 };
	const struct xv_qp_kind *kind = xv_qp_kind(XVERBS_QPT_DCI);
	struct xv_bench *b = test->priv;
	struct xverbs_qp_create *arg = &b->call.arg.qp_create;

	xv_fill_qp(b, XVERBS_QPT_DCI);
	arg->type = XVERBS_QPT_DCI;
	KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg), -EOPNOTSUPP);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, dct, 1);
	KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg), 0);
	arg->srq = 1;
	KUNIT_EXPECT_EQ(test, xv_qp_check_create(&b->call, arg), -EINVAL);
	/* Control segment, address vector and remote address */
	KUNIT_EXPECT_EQ(test, kind->sq_header, 16 + 48 + 16);
	KUNIT_EXPECT_EQ(test, kind->sq_min, 16 + 48 + 48);
	KUNIT_EXPECT_EQ(test, xv_bench_create_qp(b, &send), 0);
	XV_EXPECT_COMMAND(test, "DCI", 0x120, { 0, 0x05000000 },
			  { 0x18, 0x00051800 }, { 0x1c, 0x654321 },
			  { 0x20, 0x00004800 }, { 0x24, 0x111111 },
			  { 0x94, 0x222222 }, { 0xb4, 0x333333 },
			  { 0xb8, 1 }, { 0xbc, 0x23456740 },
			  { 0xc4, 0x03000000 }, XV_PAGES);
}

/* ---- DC targets ---------------------------------------------------------------- */

static const struct xverbs_dct_attr xv_dct_example = {
	.dc_key = 0x1122334455667788, .access = XV_DCT_ACCESS,
	.flow_label = 0x54321, .mtu = 3, .pkey_index = 0x1234, .port = 1,
	.gid_index = 7, .hop_limit = 64, .tclass = 0xb8, .min_rnr_timer = 12,
	.ece = 0x10000005,
};

static void xv_test_dct(struct kunit *test)
{
	u32 dctc[MLX5_ST_SZ_DW(dctc)] = {};
	struct xv_bench *b = test->priv;
	struct ib_gid_attr gid = { .gid_type = IB_GID_TYPE_IB };
	struct xverbs_dct_attr attr = {};

	xv_lag_active = false;
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, atomic, 1);
	XV_SET_CAP(b, MLX5_CAP_ATOMIC, atomic_caps, atomic_operations, 0xf);
	XV_SET_CAP(b, MLX5_CAP_ATOMIC, atomic_caps, atomic_size_qp, 8);
	XV_SET_CAP(b, MLX5_CAP_ATOMIC, atomic_caps, atomic_size_dc, 32);
	b->call.arg.dct_create.user_index = 0xabcdef;
	b->call.dct_attr = xv_dct_example;
	xv_dct_fill(&b->call, dctc);
	XV_EXPECT_DWORDS(test, "DCT", dctc, sizeof(dctc), { 0x04, 0xabcdef },
			 { 0x0c, 0x005e0000 }, { 0x10, 0x00000c00 },
			 { 0x1c, 0xb8054321 }, { 0x20, 0x11223344 },
			 { 0x24, 0x55667788 }, { 0x28, 0x03011234 },
			 { 0x2c, 0x00070040 }, { 0x3c, 0x10000005 });
	b->dct.port = 1;
	b->dct.ece = 0x10000005;
	xv_dct_attr_from_hw(&b->dct, dctc, &attr);
	KUNIT_EXPECT_EQ(test, memcmp(&attr, &xv_dct_example, sizeof(attr)), 0);
	MLX5_SET(dctc, dctc, cs_res, 2);
	xv_dct_attr_from_hw(&b->dct, dctc, &attr);
	KUNIT_EXPECT_EQ(test, attr.inline_size, 64u);

	/* The service level is a priority on RoCE, and not in the context on InfiniBand. */
	b->dct.sl = 13;
	b->dct.sgid = &gid;
	MLX5_SET(dctc, dctc, eth_prio, 5);
	xv_dct_attr_from_hw(&b->dct, dctc, &attr);
	KUNIT_EXPECT_EQ(test, attr.sl, 13);
	gid.gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	xv_dct_attr_from_hw(&b->dct, dctc, &attr);
	KUNIT_EXPECT_EQ(test, attr.sl, 5);
	b->dct.sgid = NULL;

	/* Without atomics of the device there is no right to atomics. */
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, atomic, 0);
	memset(dctc, 0, sizeof(dctc));
	xv_dct_fill(&b->call, dctc);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(((__be32 *)dctc)[3]), 0x000c0000u);
}

#define XV_REFUSED(_member, _value, _err) do {				\
	attr = xv_dct_example;						\
	attr.pkey_index = 0;						\
	attr.ece = 0;							\
	attr._member = _value;						\
	b->call.reason[0] = 0;						\
	KUNIT_EXPECT_EQ(test, xv_dct_check_attr(&b->call, &attr), _err); \
	KUNIT_EXPECT_NOT_NULL(test, strstr(b->call.reason, #_member));	\
} while (0)

static void xv_test_dct_checks(struct kunit *test)
{
	struct ib_device *ib = kunit_kzalloc(test, sizeof(*ib), GFP_KERNEL);
	struct xv_bench *b = test->priv;
	struct xverbs_dct_attr attr;

	KUNIT_ASSERT_NOT_NULL(test, ib);
	ib->attrs.max_pkeys = 16;
	b->dev.ib = ib;
	XV_REFUSED(sl, 16, -EINVAL);
	XV_REFUSED(reserved2, 1, -EINVAL);
	XV_REFUSED(ece, 0x10000000, -EOPNOTSUPP);
	XV_REFUSED(access, XVERBS_ACCESS_LOCAL_WRITE, -EINVAL);
	XV_REFUSED(flow_label, 1 << 20, -EINVAL);
	XV_REFUSED(mtu, 0, -EINVAL);
	XV_REFUSED(mtu, 6, -EINVAL);
	XV_REFUSED(pkey_index, 16, -EINVAL);
	XV_REFUSED(min_rnr_timer, 32, -EINVAL);

	xv_lag_active = false;
	KUNIT_EXPECT_EQ(test, xv_dct_check_device(&b->call), -EOPNOTSUPP);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, dct, 1);
	KUNIT_EXPECT_EQ(test, xv_dct_check_device(&b->call), 0);
	xv_lag_active = true;
	KUNIT_EXPECT_EQ(test, xv_dct_check_device(&b->call), -EOPNOTSUPP);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, lag_dct, 1);
	KUNIT_EXPECT_EQ(test, xv_dct_check_device(&b->call), 0);
	xv_lag_active = false;
}

/* The event queue has an entry for each armed target. */
static void xv_test_dct_armed(struct kunit *test)
{
	struct xv_bench *b = test->priv;
	struct xv_dct_obj *dct = &b->dct;

	xv_evq_init(&b->file.async, sizeof(struct xverbs_async_event), b->file.log);
	xv_evsrc_init(&dct->obj.events);
	dct->obj.file = &b->file;
	dct->dctn = 5;
	init_completion(&dct->drained);
	mutex_init(&dct->arm_lock);
	mutex_init(&b->dev.dct_lock);
	xa_init_flags(&b->dev.dcts, XA_FLAGS_LOCK_IRQ);
	KUNIT_ASSERT_EQ(test, xv_number_add(&b->dev.dcts, 5, dct), 0);
	b->dev.dct_eq = (void *)b;	/* exists */
	mutex_lock(&dct->arm_lock);

	atomic_set(&b->dev.n_armed, XV_DCT_MAX_ARMED);
	KUNIT_EXPECT_EQ(test, xv_dct_arm_locked(&b->call, dct), -ENOSPC);
	KUNIT_EXPECT_NOT_NULL(test, strstr(b->call.reason, "armed"));
	KUNIT_EXPECT_EQ(test, dct->arm_state, (u32)XVERBS_DCT_NOT_ARMED);
	KUNIT_EXPECT_EQ(test, xv_fw.inlen, (size_t)0);
	atomic_dec(&b->dev.n_armed);
	KUNIT_EXPECT_EQ(test, xv_dct_arm_locked(&b->call, dct), 0);
	KUNIT_EXPECT_EQ(test, dct->arm_state, (u32)XVERBS_DCT_ARMED);
	KUNIT_EXPECT_NE(test, xv_fw.inlen, (size_t)0);
	/* Again: no command, no second entry */
	xv_fw.inlen = 0;
	KUNIT_EXPECT_EQ(test, xv_dct_arm_locked(&b->call, dct), 0);
	KUNIT_EXPECT_EQ(test, xv_fw.inlen, (size_t)0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->dev.n_armed), XV_DCT_MAX_ARMED);

	/* The event frees the entry, once. */
	xv_dct_event(&b->dev, 5, MLX5_EVENT_TYPE_DCT_KEY_VIOLATION);
	xv_dct_event(&b->dev, 5, MLX5_EVENT_TYPE_DCT_KEY_VIOLATION);
	KUNIT_EXPECT_EQ(test, dct->arm_state, (u32)XVERBS_DCT_FIRED);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->dev.n_armed),
			XV_DCT_MAX_ARMED - 1);
	xv_fw.err = -EREMOTEIO;
	KUNIT_EXPECT_NE(test, xv_dct_arm_locked(&b->call, dct), 0);
	KUNIT_EXPECT_EQ(test, dct->arm_state, (u32)XVERBS_DCT_FIRED);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->dev.n_armed),
			XV_DCT_MAX_ARMED - 1);
	xv_fw.err = 0;
	KUNIT_EXPECT_EQ(test, xv_dct_arm_locked(&b->call, dct), 0);
	mutex_unlock(&dct->arm_lock);

	/* Destruction frees it, too. */
	dct->drain_end = 1;
	complete_all(&dct->drained);
	KUNIT_EXPECT_EQ(test, xv_dct_destroy(&dct->obj, &b->call), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->dev.n_armed),
			XV_DCT_MAX_ARMED - 1);
	xv_evq_exit(&b->file.async);
	xa_destroy(&b->dev.dcts);
}

static const struct xverbs_qp_attr xv_rc_attr = {
	.path_mtu = 3, .dest_qp_num = 0x777777, .qkey = 0x88888888,
	.rq_psn = 0x999999, .sq_psn = 0xaaaaaa, .retry_cnt = 5, .rnr_retry = 6,
	.min_rnr_timer = 12, .max_rd_atomic = 9, .max_dest_rd_atomic = 4,
	.qp_access_flags = XVERBS_ACCESS_REMOTE_WRITE |
			   XVERBS_ACCESS_REMOTE_READ |
			   XVERBS_ACCESS_REMOTE_ATOMIC,
	.pkey_index = 0x1234, .port_num = 1, .timeout = 14,
};

static void xv_test_modify_qp(struct kunit *test)
{
	struct xverbs_qp_attr attr = xv_rc_attr;
	u32 qpc[MLX5_ST_SZ_DW(qpc)] = {};
	struct xv_bench *b = test->priv;

	xv_fill_qp(b, XVERBS_QPT_RC);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, log_max_msg, 30);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, atomic, 1);
	XV_SET_CAP(b, MLX5_CAP_ATOMIC, atomic_caps, atomic_operations, 3);
	xv_qp_fill_modify(&b->qp, &attr, 0, &b->mdev, qpc);
	XV_EXPECT_DWORDS(test, "RC", qpc, sizeof(qpc), { 0x00, 0x00001800 },
			 { 0x04, 0x654321 }, { 0x08, 0x7e000000 },
			 { 0x14, 0x777777 }, { 0x18, 0x1234 },
			 { 0x20, 0x70000000 }, { 0x3c, 0x00010000 },
			 { 0x70, 0x8085c000 }, { 0x78, 0xaaaaaa },
			 { 0x7c, 0x222222 }, { 0x90, 0x0041e000 },
			 { 0x94, 0x0c999999 }, { 0x9c, 0x333333 },
			 { 0xa0, 1 }, { 0xa4, 0x23456740 },
			 { 0xa8, 0x88888888 });

	/* The largest operand of masked atomics; sizes above 256 bytes are not known. */
	XV_SET_CAP(b, MLX5_CAP_ATOMIC, atomic_caps, atomic_operations, 0xf);
	XV_SET_CAP(b, MLX5_CAP_ATOMIC, atomic_caps, atomic_size_qp, 0xfc);
	xv_qp_fill_modify(&b->qp, &attr, 0, &b->mdev, qpc);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(((__be32 *)qpc)[0x90 / 4]),
			0x0047e000u);
	XV_SET_CAP(b, MLX5_CAP_ATOMIC, atomic_caps, atomic_size_qp, 0x7fc);
	KUNIT_EXPECT_EQ(test, xv_atomic_mode(&b->mdev, XVERBS_QPT_RC), 8);
	KUNIT_EXPECT_EQ(test, xv_atomic_largest(&b->mdev, U32_MAX), 256u);
	KUNIT_EXPECT_EQ(test, xv_atomic_largest(&b->mdev, 511), 64u);
	KUNIT_EXPECT_EQ(test, xv_atomic_largest(&b->mdev, 16), 4u);
	KUNIT_EXPECT_EQ(test, xv_atomic_largest(&b->mdev, 15), 0u);

	/* A DCI is no responder; its key is in the context. */
	memset(qpc, 0, sizeof(qpc));
	b->qp.type = XVERBS_QPT_DCI;
	attr.dct_key = 0x1122334455667788;
	xv_qp_fill_modify(&b->qp, &attr, 0, &b->mdev, qpc);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(((__be32 *)qpc)[0]), 0x00051800u);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(((__be32 *)qpc)[0x90 / 4]), 0x00400000u);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(((__be32 *)qpc)[0xc8 / 4]), 0x11223344u);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(((__be32 *)qpc)[0xcc / 4]), 0x55667788u);
	b->qp.type = XVERBS_QPT_RC;

	/* Without responder resources only remote write is allowed.  The migration state is set. */
	memset(qpc, 0, sizeof(qpc));
	attr.max_dest_rd_atomic = 0;
	attr.path_mig_state = XVERBS_MIG_REARM;
	xv_qp_fill_modify(&b->qp, &attr, XVERBS_QP_PATH_MIG_STATE, &b->mdev,
			  qpc);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(((__be32 *)qpc)[0x90 / 4]), 0x4000u);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(((__be32 *)qpc)[0]), 0x0800u);
}

/* The ports of a bond take turns, unless the adapter spreads packets itself. */
static void xv_test_lag_ports(struct kunit *test)
{
	struct xv_bench *b = test->priv;

	xv_lag_active = false;
	xv_lag_hash = false;
	xv_lag_ports = 3;
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 0);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, num_lag_ports, 2);
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 0);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, lag_tx_port_affinity, 1);
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 2);
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 1);
	xv_lag_lacp_owner = true;
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 0);
	xv_lag_lacp_owner = false;
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, num_lag_ports, 1);
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 0);

	xv_lag_active = true;
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 1);
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 2);
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 3);
	xv_lag_hash = true;
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 1);
	XV_SET_CAP(b, MLX5_CAP_PORT_SELECTION, port_selection_cap,
		   port_select_flow_table_bypass, 1);
	KUNIT_EXPECT_EQ(test, xv_qp_lag_port(&b->dev), 0);
}

/* The port of a DC target is not an affinity: without a bond it is that of the caller. */
static void xv_test_dct_port(struct kunit *test)
{
	struct xv_bench *b = test->priv;

	xv_lag_active = false;
	xv_lag_hash = false;
	xv_lag_ports = 2;
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, num_lag_ports, 2);
	XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, lag_tx_port_affinity, 1);
	KUNIT_EXPECT_EQ(test, xv_dct_port(&b->dev, 1), 1);
	KUNIT_EXPECT_EQ(test, xv_dct_port(&b->dev, 1), 1);

	xv_lag_active = true;
	KUNIT_EXPECT_EQ(test, xv_dct_port(&b->dev, 1), 2);
	KUNIT_EXPECT_EQ(test, xv_dct_port(&b->dev, 1), 1);
	xv_lag_hash = true;
	XV_SET_CAP(b, MLX5_CAP_PORT_SELECTION, port_selection_cap,
		   port_select_flow_table_bypass, 1);
	KUNIT_EXPECT_EQ(test, xv_dct_port(&b->dev, 1), 2);
	KUNIT_EXPECT_EQ(test, xv_dct_port(&b->dev, 1), 1);
	/* The bond ended meanwhile. */
	xv_lag_ports = 0;
	KUNIT_EXPECT_EQ(test, xv_dct_port(&b->dev, 1), 1);
	xv_lag_active = false;
}

static void xv_test_opcodes(struct kunit *test)
{
	static const u16 opcodes[7][7] = {
		[XVERBS_QPS_RESET] = { [XVERBS_QPS_INIT] = 0x502 },
		[XVERBS_QPS_INIT] = { [XVERBS_QPS_INIT] = 0x50e,
				      [XVERBS_QPS_RTR] = 0x503 },
		[XVERBS_QPS_RTR] = { [XVERBS_QPS_RTS] = 0x504 },
		[XVERBS_QPS_RTS] = { [XVERBS_QPS_RTS] = 0x505,
				     [XVERBS_QPS_SQD] = 0x508 },
		[XVERBS_QPS_SQD] = { [XVERBS_QPS_RTS] = 0x50c,
				     [XVERBS_QPS_SQD] = 0x511 },
		[XVERBS_QPS_SQE] = { [XVERBS_QPS_RTS] = 0x506 },
	};
	u32 from, to, want;

	for (from = XVERBS_QPS_RESET; from <= XVERBS_QPS_ERR; from++) {
		for (to = XVERBS_QPS_RESET; to <= XVERBS_QPS_ERR; to++) {
			want = to == XVERBS_QPS_RESET ? 0x50a :
			       to == XVERBS_QPS_ERR ? 0x507 : opcodes[from][to];
			KUNIT_EXPECT_EQ_MSG(test, (u32)xv_qp_opcode(from, to),
					    want, "%s to %s",
					    xv_qp_state_name(from),
					    xv_qp_state_name(to));
		}
	}
}

static void xv_test_opt_mask(struct kunit *test)
{
	static const struct {
		u32 attr;
		u32 opt;
	} cases[] = {
		{ XVERBS_QP_ALT_PATH, 1 << 0 }, { XVERBS_QP_PKEY_INDEX, 1 << 4 },
		{ XVERBS_QP_QKEY, 1 << 5 }, { XVERBS_QP_MIN_RNR_TIMER, 1 << 6 },
		{ XVERBS_QP_PATH_MIG_STATE, 1 << 10 }, { XVERBS_QP_PORT, 1 << 16 },
		{ XVERBS_QP_ACCESS_FLAGS, 0xe }, { XVERBS_QP_AV, 1 << 7 },
		{ XVERBS_QP_MAX_QP_RD_ATOMIC, 1 << 8 },
		{ XVERBS_QP_MAX_DEST_RD_ATOMIC, 1 << 9 | 0xe },
		{ XVERBS_QP_RETRY_CNT, 1 << 12 }, { XVERBS_QP_RNR_RETRY, 1 << 13 },
		{ XVERBS_QP_TIMEOUT, 1 << 14 },
	};
	struct xv_bench *b = test->priv;
	int i;

	b->qp.type = XVERBS_QPT_RC;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ(test, xv_qp_opt_mask(&b->qp, cases[i].attr,
						     cases[i].attr),
				cases[i].opt);
	KUNIT_EXPECT_EQ(test, xv_qp_opt_mask(&b->qp, 0,
					     XVERBS_QP_MAX_DEST_RD_ATOMIC),
			0xeu);
	b->qp.type = XVERBS_QPT_UC;
	KUNIT_EXPECT_EQ(test, xv_qp_opt_mask(&b->qp, XVERBS_QP_ACCESS_FLAGS,
					     0), 8u);
	b->qp.type = XVERBS_QPT_DCI;
	KUNIT_EXPECT_EQ(test, xv_qp_opt_mask(&b->qp, XVERBS_QP_ACCESS_FLAGS |
					     XVERBS_QP_AV, 0), 0u);
}

/* ---- Paths ----------------------------------------------------------------------------- */

static void xv_fill_path(struct xv_path *path, enum rdma_ah_attr_type type)
{
	static const u8 gid[16] = { 0xfe, 0x80, [15] = 9 };

	memset(path, 0, sizeof(*path));
	path->port = 1;
	path->gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	path->stat_rate = 7;
	path->rdma.type = type;
	rdma_ah_set_sl(&path->rdma, 5);
	rdma_ah_set_grh(&path->rdma, NULL, 0x54321, 3, 64, 0xb8);
	memcpy(path->rdma.grh.dgid.raw, gid, sizeof(gid));
}

/* Codes as in mlx5_ib; all rates, first with all codes supported, then with few */
static void xv_test_rates(struct kunit *test)
{
	static const struct {
		u8 rate;
		u8 all;
		u8 few;		/* 10, 25 and 100 Gb/s */
	} rates[] = {
		{ IB_RATE_PORT_CURRENT, 0, 0 }, { IB_RATE_2_5_GBPS, 7, 0 },
		{ IB_RATE_5_GBPS, 10, 0 }, { IB_RATE_10_GBPS, 8, 8 },
		{ IB_RATE_14_GBPS, 8, 8 }, { IB_RATE_20_GBPS, 11, 8 },
		{ IB_RATE_25_GBPS, 2, 2 }, { IB_RATE_28_GBPS, 2, 2 },
		{ IB_RATE_30_GBPS, 9, 2 }, { IB_RATE_40_GBPS, 12, 2 },
		{ IB_RATE_50_GBPS, 5, 2 }, { IB_RATE_56_GBPS, 1, 2 },
		{ IB_RATE_60_GBPS, 13, 2 }, { IB_RATE_80_GBPS, 14, 2 },
		{ IB_RATE_100_GBPS, 3, 3 }, { IB_RATE_112_GBPS, 3, 3 },
		{ IB_RATE_120_GBPS, 15, 3 }, { IB_RATE_168_GBPS, 15, 3 },
		{ IB_RATE_200_GBPS, 4, 3 }, { IB_RATE_300_GBPS, 4, 3 },
		{ IB_RATE_400_GBPS, 6, 3 }, { IB_RATE_600_GBPS, 6, 3 },
	};
	struct xv_bench *b = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, stat_rate_support,
			   0xfffe);
		KUNIT_EXPECT_EQ_MSG(test, xv_stat_rate(&b->mdev, rates[i].rate),
				    rates[i].all, "rate %u", rates[i].rate);
		XV_SET_CAP(b, MLX5_CAP_GENERAL, cmd_hca_cap, stat_rate_support,
			   BIT(8) | BIT(2) | BIT(3));
		KUNIT_EXPECT_EQ_MSG(test, xv_stat_rate(&b->mdev, rates[i].rate),
				    rates[i].few, "rate %u", rates[i].rate);
	}
}

static void xv_test_path_roce(struct kunit *test)
{
	static const u8 mac[ETH_ALEN] = { 2, 0x11, 0x22, 0x33, 0x44, 0x55 };
	u32 ads[MLX5_ST_SZ_DW(ads)] = {};
	struct xv_bench *b = test->priv;
	struct mlx5r_av av;

	xv_fill_path(&b->path, RDMA_AH_ATTR_TYPE_ROCE);
	ether_addr_copy(b->path.rdma.roce.dmac, mac);
	xv_path_fill_ads(&b->path, 1, 2, ads);
	/* UDP source port: flow label folded to 14 bits, from 0xc000 */
	XV_EXPECT_DWORDS(test, "path", ads, sizeof(ads), { 0x08, 0x00030740 },
			 { 0x0c, 0x0b854321 }, { 0x10, 0xfe800000 },
			 { 0x1c, 9 }, { 0x20, 0x002e0000 | 0xc334 },
			 { 0x24, 0x50010211 }, { 0x28, 0x22334455 });
	xv_path_fill_av(&b->path, &b->mdev, &av);
	XV_EXPECT_DWORDS(test, "address vector", &av, sizeof(av),
			 { 8, 0x80000000 }, { 12, 0x7a00c334 },
			 { 20, 0x02112233 }, { 24, 0x4455ba40 },
			 { 28, 0x40354321 }, { 32, 0xfe800000 }, { 44, 9 });
}

static void xv_test_path_ib(struct kunit *test)
{
	u32 ads[MLX5_ST_SZ_DW(ads)] = {};
	struct xv_bench *b = test->priv;
	struct mlx5r_av av;

	xv_fill_path(&b->path, RDMA_AH_ATTR_TYPE_IB);
	rdma_ah_set_dlid(&b->path.rdma, 0x1234);
	rdma_ah_set_path_bits(&b->path.rdma, 0x15);
	xv_path_fill_ads(&b->path, 1, 2, ads);
	XV_EXPECT_DWORDS(test, "path", ads, sizeof(ads), { 0x04, 0x00951234 },
			 { 0x08, 0x00030740 }, { 0x0c, 0x0b854321 },
			 { 0x10, 0xfe800000 }, { 0x1c, 9 },
			 { 0x24, 0x05010000 });
	xv_path_fill_av(&b->path, &b->mdev, &av);
	XV_EXPECT_DWORDS(test, "address vector", &av, sizeof(av),
			 { 8, 0x80000000 }, { 12, 0x75151234 },
			 { 24, 0x0000b840 }, { 28, 0x40354321 },
			 { 32, 0xfe800000 }, { 44, 9 });

	memset(ads, 0, sizeof(ads));
	rdma_ah_set_ah_flags(&b->path.rdma, 0);
	xv_path_fill_ads(&b->path, 1, 2, ads);
	XV_EXPECT_DWORDS(test, "path without GRH", ads, sizeof(ads),
			 { 0x04, 0x00151234 }, { 0x08, 0x00000700 },
			 { 0x24, 0x05010000 });
}

static struct kunit_case xv_qp_cases[] = {
	KUNIT_CASE(xv_test_create_qp),
	KUNIT_CASE(xv_test_create_qp_srq),
	KUNIT_CASE(xv_test_create_dci),
	KUNIT_CASE(xv_test_dct),
	KUNIT_CASE(xv_test_dct_checks),
	KUNIT_CASE(xv_test_dct_armed),
	KUNIT_CASE(xv_test_ece),
	KUNIT_CASE(xv_test_cross_channel),
	KUNIT_CASE(xv_test_cross_channel_features),
	KUNIT_CASE(xv_test_calc_caps),
	KUNIT_CASE(xv_test_modify_qp),
	KUNIT_CASE(xv_test_lag_ports),
	KUNIT_CASE(xv_test_dct_port),
	KUNIT_CASE(xv_test_opcodes),
	KUNIT_CASE(xv_test_opt_mask),
	KUNIT_CASE(xv_test_rates),
	KUNIT_CASE(xv_test_path_roce),
	KUNIT_CASE(xv_test_path_ib),
	{}
};

static struct kunit_suite xv_qp_suite = {
	.name = "xverbs-qp-contexts",
	.init = xv_bench_init,
	.test_cases = xv_qp_cases,
};

kunit_test_suite(xv_qp_suite);
