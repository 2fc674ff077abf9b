// SPDX-License-Identifier: GPL-2.0
/* KUnit: mailboxes of all firmware commands, and conversion of errors */
#include "../fw.h"
#include "fw_kunit.h"

struct xv_mock_fw xv_fw;

void xv_fw_record(const void *in, size_t inlen)
{
	memset(xv_fw.in, 0, sizeof(xv_fw.in));
	memcpy(xv_fw.in, in, min(inlen, sizeof(xv_fw.in)));
	xv_fw.inlen = inlen;
}

static int xv_mock_cmd_do(struct mlx5_core_dev *mdev, void *in, int inlen,
			  void *out, int outlen)
{
	xv_fw_record(in, inlen);
	memcpy(out, xv_fw.out, min_t(size_t, outlen, sizeof(xv_fw.out)));
	return xv_fw.err;
}

static u32 xv_fw_checks;

static int xv_mock_cmd_check(struct mlx5_core_dev *mdev, int err, void *in,
			     void *out)
{
	xv_fw_checks++;
	return MLX5_GET(destroy_qp_in, in, opcode) == MLX5_CMD_OP_DESTROY_QP ?
		0 : -EIO;
}

static int xv_mock_create_cq(struct mlx5_core_dev *mdev,
			     struct mlx5_core_cq *cq, u32 *in, int inlen,
			     u32 *out, int outlen)
{
	return xv_mock_cmd_do(mdev, in, inlen, out, outlen);
}

#define mlx5_cmd_do	xv_mock_cmd_do
#define mlx5_cmd_check	xv_mock_cmd_check
#define mlx5_create_cq	xv_mock_create_cq
#include "../fw.c"

void xv_expect_dwords(struct kunit *test, const char *what, const void *data,
		      size_t bytes, const struct xv_dword *want, size_t n)
{
	const __be32 *dwords = data;
	u32 offset, value;
	size_t i;

	for (offset = 0; offset < bytes; offset += sizeof(*dwords)) {
		value = 0;
		for (i = 0; i < n; i++)
			if (want[i].offset == offset)
				value = want[i].value;
		KUNIT_EXPECT_EQ_MSG(test, be32_to_cpu(dwords[offset / 4]),
				    value, "%s: dword at 0x%x", what, offset);
	}
}

static struct xv_dev xv_fw_dev;
static struct xv_call xv_fw_call;

static int xv_fw_test_init(struct kunit *test)
{
	memset(&xv_fw, 0, sizeof(xv_fw));
	memset(&xv_fw_call, 0, sizeof(xv_fw_call));
	return 0;
}

static void xv_answer(u32 offset, u32 value)
{
	*(__be32 *)(xv_fw.out + offset) = cpu_to_be32(value);
}

#define XV_EXPECT_BRIEF(_test, _name, _send, _head) do {		\
	KUNIT_EXPECT_EQ(_test, _send(&xv_fw_dev, &xv_fw_call, 0x123456), 0); \
	XV_EXPECT_COMMAND(_test, _name, 16, { 0, _head }, { 8, 0x123456 }); \
} while (0)

/* Commands with one object number and no output */
static void xv_test_brief(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, xv_fw_dealloc_uar(&xv_fw_dev, &xv_fw_call, 0x4321,
						0x123456), 0);
	XV_EXPECT_COMMAND(test, "DEALLOC_UAR", 16, { 0, 0x08034321 },
			  { 8, 0x123456 });
	KUNIT_EXPECT_EQ(test, xv_fw_destroy_uctx(&xv_fw_dev, &xv_fw_call,
						 0x4321), 0);
	XV_EXPECT_COMMAND(test, "DESTROY_UCTX", 16, { 0, 0x0a060000 },
			  { 8, 0x4321 });
	KUNIT_EXPECT_EQ(test, xv_fw_destroy_mkey(&xv_fw_dev, &xv_fw_call,
						 0x12345678), 0);
	XV_EXPECT_COMMAND(test, "DESTROY_MKEY", 16, { 0, 0x02020000 },
			  { 8, 0x123456 });
	XV_EXPECT_BRIEF(test, "DEALLOC_XRCD", xv_fw_dealloc_xrcd, 0x080f0000);
	XV_EXPECT_BRIEF(test, "DESTROY_RMP", xv_fw_destroy_rmp, 0x090e0000);
	XV_EXPECT_BRIEF(test, "DESTROY_XRC_SRQ", xv_fw_destroy_xrc_srq,
			0x07060000);
	XV_EXPECT_BRIEF(test, "DESTROY_QP", xv_fw_destroy_qp, 0x05010000);
	XV_EXPECT_BRIEF(test, "DESTROY_DCT", xv_fw_destroy_dct, 0x07110000);
	XV_EXPECT_BRIEF(test, "DRAIN_DCT", xv_fw_drain_dct, 0x07120000);
	XV_EXPECT_BRIEF(test, "ARM_DCT_FOR_KEY_VIOLATION", xv_fw_arm_dct,
			0x07140000);
}

/* Commands that create an object; its number is in 24 bits of dword 8 */
static void xv_test_create(struct kunit *test)
{
	struct xv_call *call = &xv_fw_call;
	struct xv_dev *dev = &xv_fw_dev;
	u32 number = 0, ece = 0x10000007, in[64] = {};
	u16 uid = 0;

	xv_answer(8, 0xee123456);
	xv_answer(12, 0x10000005);
	((__be32 *)in)[15] = cpu_to_be32(0x77);
	KUNIT_EXPECT_EQ(test, xv_fw_create_uctx(dev, call, &uid), 0);
	KUNIT_EXPECT_EQ(test, uid, 0x3456);
	XV_EXPECT_COMMAND(test, "CREATE_UCTX", MLX5_ST_SZ_BYTES(create_uctx_in),
			  { 0, 0x0a040000 });
	KUNIT_EXPECT_EQ(test, xv_fw_alloc_uar(dev, call, 0x4321, &number), 0);
	KUNIT_EXPECT_EQ(test, number, 0x123456u);
	XV_EXPECT_COMMAND(test, "ALLOC_UAR", 16, { 0, 0x08024321 });
	number = 0;
	KUNIT_EXPECT_EQ(test, xv_fw_alloc_xrcd(dev, call, &number), 0);
	KUNIT_EXPECT_EQ(test, number, 0x123456u);
	XV_EXPECT_COMMAND(test, "ALLOC_XRCD", 16, { 0, 0x080e0000 });
	number = 0;
	atomic_set(&dev->key_variant, 0xa4);
	KUNIT_EXPECT_EQ(test, xv_fw_create_mkey(dev, call, in, sizeof(in),
						&number), 0);
	KUNIT_EXPECT_EQ(test, number, 0x123456a5u);
	XV_EXPECT_COMMAND(test, "CREATE_MKEY", sizeof(in), { 0, 0x02000000 },
			  { 0x14, 0xa5 }, { 60, 0x77 });
	in[5] = 0;
	number = 0;
	KUNIT_EXPECT_EQ(test, xv_fw_create_rmp(dev, call, in, sizeof(in),
					       &number), 0);
	KUNIT_EXPECT_EQ(test, number, 0x123456u);
	XV_EXPECT_COMMAND(test, "CREATE_RMP", sizeof(in), { 0, 0x090c0000 },
			  { 60, 0x77 });
	number = 0;
	KUNIT_EXPECT_EQ(test, xv_fw_create_xrc_srq(dev, call, in, sizeof(in),
						   &number), 0);
	KUNIT_EXPECT_EQ(test, number, 0x123456u);
	XV_EXPECT_COMMAND(test, "CREATE_XRC_SRQ", sizeof(in),
			  { 0, 0x07050000 }, { 60, 0x77 });
	number = 0;
	KUNIT_EXPECT_EQ(test, xv_fw_create_qp(dev, call, in, sizeof(in),
					      &number, &ece), 0);
	KUNIT_EXPECT_EQ(test, number, 0x123456u);
	KUNIT_EXPECT_EQ(test, ece, 0x10000005u);
	XV_EXPECT_COMMAND(test, "CREATE_QP", sizeof(in), { 0, 0x05000000 },
			  { 0x14, 0x10000007 }, { 60, 0x77 });
	in[5] = 0;
	number = 0;
	ece = 0;
	KUNIT_EXPECT_EQ(test, xv_fw_create_dct(dev, call, in, &number, &ece),
			0);
	KUNIT_EXPECT_EQ(test, number, 0x123456u);
	KUNIT_EXPECT_EQ(test, ece, 0x10000005u);
	XV_EXPECT_COMMAND(test, "CREATE_DCT", 0x80, { 0, 0x07100000 },
			  { 60, 0x77 });
}

static void xv_test_query(struct kunit *test)
{
	u32 qpc[MLX5_ST_SZ_DW(qpc)], mkc[MLX5_ST_SZ_DW(mkc)];
	u32 dctc[MLX5_ST_SZ_DW(dctc)], rmpc[MLX5_ST_SZ_DW(rmpc)];
	struct xv_call *call = &xv_fw_call;
	struct xv_dev *dev = &xv_fw_dev;
	u16 lwm = 0;

	xv_answer(0x1c, 0x81654321);	/* context at 0x10, PD at 0xc of it */
	KUNIT_EXPECT_EQ(test, xv_fw_query_mkey(dev, call, 0x12345678, mkc), 0);
	KUNIT_EXPECT_EQ(test, (u32)MLX5_GET(mkc, mkc, pd), 0x654321u);
	XV_EXPECT_COMMAND(test, "QUERY_MKEY", 16, { 0, 0x02010000 },
			  { 8, 0x123456 });
	xv_answer(0x54, 0x0000beef);	/* context at 0x20, work queue at 0x30 of it */
	xv_answer(0x58, 0x81654321);
	KUNIT_EXPECT_EQ(test, xv_fw_query_rmp(dev, call, 0x123456, rmpc), 0);
	KUNIT_EXPECT_EQ(test, (u32)MLX5_GET(rmpc, rmpc, wq.lwm), 0xbeefu);
	KUNIT_EXPECT_EQ(test, (u32)MLX5_GET(rmpc, rmpc, wq.pd), 0x654321u);
	XV_EXPECT_COMMAND(test, "QUERY_RMP", 16, { 0, 0x090f0000 },
			  { 8, 0x123456 });
	xv_answer(0x2c, 0xcafe0000);	/* context at 0x10 */
	KUNIT_EXPECT_EQ(test, xv_fw_query_xrc_srq_lwm(dev, call, 0x123456,
						      &lwm), 0);
	KUNIT_EXPECT_EQ(test, lwm, 0xcafe);
	XV_EXPECT_COMMAND(test, "QUERY_XRC_SRQ", 16, { 0, 0x07070000 },
			  { 8, 0x123456 });
	memset(xv_fw.out, 0, sizeof(xv_fw.out));
	xv_answer(0x18, 0x30000000);
	xv_answer(0x18 + 0x78, 0x00abcdef);
	KUNIT_EXPECT_EQ(test, xv_fw_query_qp(dev, call, 0x123456, qpc), 0);
	XV_EXPECT_COMMAND(test, "QUERY_QP", 16, { 0, 0x050b0000 },
			  { 8, 0x123456 });
	XV_EXPECT_DWORDS(test, "QP context", qpc, sizeof(qpc),
			 { 0, 0x30000000 }, { 0x78, 0x00abcdef });
	memset(xv_fw.out, 0, sizeof(xv_fw.out));
	xv_answer(0x10, 0x01000000);
	xv_answer(0x10 + 0x30, 77);
	KUNIT_EXPECT_EQ(test, xv_fw_query_dct(dev, call, 0x123456, dctc), 0);
	XV_EXPECT_COMMAND(test, "QUERY_DCT", 16, { 0, 0x07130000 },
			  { 8, 0x123456 });
	XV_EXPECT_DWORDS(test, "DCT context", dctc, sizeof(dctc),
			 { 0, 0x01000000 }, { 0x30, 77 });
}

static void xv_test_modify(struct kunit *test)
{
	struct xv_call *call = &xv_fw_call;
	struct xv_dev *dev = &xv_fw_dev;
	const struct mlx5_core_cq mcq = { .uid = 0x4321, .cqn = 0x123456 };
	u32 in[MLX5_ST_SZ_DW(modify_cq_in)] = {};
	u32 qpc[MLX5_ST_SZ_DW(qpc)] = {};
	u8 gid[16] = { 0xff, 0x12, [15] = 7 };
	u32 ece = 0x10000003;

	KUNIT_EXPECT_EQ(test, xv_fw_modify_cq(dev, call, &mcq, 5, in,
					      sizeof(in)), 0);
	XV_EXPECT_COMMAND(test, "MODIFY_CQ", 0x110, { 0, 0x04034321 },
			  { 8, 0x123456 }, { 12, 5 });
	KUNIT_EXPECT_EQ(test, xv_fw_arm_rmp(dev, call, 0x123456, 0xbeef), 0);
	XV_EXPECT_COMMAND(test, "MODIFY_RMP", 0x110, { 0, 0x090d0000 },
			  { 8, 0x10123456 }, { 0x14, 1 },
			  { 0x20, 0x00100000 }, { 0x54, 0xbeef });
	KUNIT_EXPECT_EQ(test, xv_fw_arm_xrc_srq(dev, call, 0x123456, 0xbeef),
			0);
	XV_EXPECT_COMMAND(test, "ARM_XRC_SRQ", 16, { 0, 0x07080000 },
			  { 4, 1 }, { 8, 0x123456 }, { 12, 0xbeef });
	KUNIT_EXPECT_EQ(test, xv_fw_attach_mcg(dev, call, 0x123456, gid), 0);
	XV_EXPECT_COMMAND(test, "ATTACH_TO_MCG", 32, { 0, 0x08060000 },
			  { 8, 0x123456 }, { 16, 0xff120000 }, { 28, 7 });
	KUNIT_EXPECT_EQ(test, xv_fw_detach_mcg(dev, call, 0x123456, gid), 0);
	XV_EXPECT_COMMAND(test, "DETACH_FROM_MCG", 32, { 0, 0x08070000 },
			  { 8, 0x123456 }, { 16, 0xff120000 }, { 28, 7 });
	((__be32 *)qpc)[2] = cpu_to_be32(0x60000000);
	KUNIT_EXPECT_EQ(test, xv_fw_modify_qp(dev, call,
					      MLX5_CMD_OP_INIT2RTR_QP,
					      0x123456, 0x12, qpc, NULL), 0);
	XV_EXPECT_COMMAND(test, "INIT2RTR_QP", 0x110, { 0, 0x05030000 },
			  { 8, 0x123456 }, { 0x10, 0x12 },
			  { 0x20, 0x60000000 });
	xv_answer(12, 0x10000001);
	KUNIT_EXPECT_EQ(test, xv_fw_modify_qp(dev, call,
					      MLX5_CMD_OP_INIT2RTR_QP,
					      0x123456, 0x12, qpc, &ece), 0);
	XV_EXPECT_COMMAND(test, "INIT2RTR_QP", 0x110, { 0, 0x05030000 },
			  { 8, 0x123456 }, { 0x10, 0x12 },
			  { 0x14, 0x10000003 }, { 0x20, 0x60000000 });
	KUNIT_EXPECT_EQ(test, ece, 0x10000001u);
	KUNIT_EXPECT_EQ(test, xv_fw_modify_qp(dev, call, MLX5_CMD_OP_2ERR_QP,
					      0x123456, 0x12, NULL, NULL), 0);
	XV_EXPECT_COMMAND(test, "2ERR_QP", 16, { 0, 0x05070000 },
			  { 8, 0x123456 });
}

static void xv_test_refusals(struct kunit *test)
{
	static const struct {
		u8 status;
		int err;
		const char *reason;
	} cases[] = {
		{ 0x06, -EBUSY,
		  "DEALLOC_UAR: firmware: resource busy (status 0x6, syndrome 0x1234)" },
		{ 0x08, -ENOSPC,
		  "DEALLOC_UAR: firmware: limits exceeded (status 0x8, syndrome 0x1234)" },
		{ 0x0f, -ENOSPC,
		  "DEALLOC_UAR: firmware: no resources (status 0xf, syndrome 0x1234)" },
		{ 0x01, -EREMOTEIO,
		  "DEALLOC_UAR: firmware: internal error (status 0x1, syndrome 0x1234)" },
		{ 0x03, -EREMOTEIO,
		  "DEALLOC_UAR: firmware: bad parameter (status 0x3, syndrome 0x1234)" },
		{ 0x7f, -EREMOTEIO,
		  "DEALLOC_UAR: firmware: refused (status 0x7f, syndrome 0x1234)" },
	};
	struct xv_call *call = &xv_fw_call;
	int i;

	xv_fw.err = -EREMOTEIO;
	xv_answer(4, 0x1234);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		call->reason[0] = 0;
		xv_fw.out[0] = cases[i].status;
		KUNIT_EXPECT_EQ(test, xv_fw_dealloc_uar(&xv_fw_dev, call, 0, 1),
				cases[i].err);
		KUNIT_EXPECT_STREQ(test, call->reason, cases[i].reason);
	}
	call->reason[0] = 0;
	xv_answer(4, 0x31b635);
	xv_fw_dealloc_uar(&xv_fw_dev, call, 0, 1);
	KUNIT_EXPECT_STREQ(test, call->reason,
			   "DEALLOC_UAR: firmware: refused (status 0x7f, syndrome 0x31b635: a memory key still uses the protection domain)");
	/* Teardown of a file: call is NULL */
	KUNIT_EXPECT_EQ(test, xv_fw_dealloc_uar(&xv_fw_dev, NULL, 0, 1),
			-EREMOTEIO);
}

static void xv_test_undelivered(struct kunit *test)
{
	struct xv_call *call = &xv_fw_call;

	xv_fw.err = -ENOMEM;
	KUNIT_EXPECT_EQ(test, xv_fw_destroy_qp(&xv_fw_dev, call, 1), -ENOMEM);
	KUNIT_EXPECT_STREQ(test, call->reason,
			   "DESTROY_QP: command not delivered");
	/* If the adapter is in error state, destroy commands succeed. */
	xv_fw.err = -ENXIO;
	KUNIT_EXPECT_EQ(test, xv_fw_destroy_qp(&xv_fw_dev, call, 1), 0);
	call->reason[0] = 0;
	KUNIT_EXPECT_EQ(test, xv_fw_dealloc_uar(&xv_fw_dev, call, 0, 1), -ENODEV);
	KUNIT_EXPECT_STREQ(test, call->reason,
			   "DEALLOC_UAR: the adapter is in error state");
}

/* mlx5_core logs each command that it does not know. */
static void xv_test_unknown(struct kunit *test)
{
	static const u16 opcodes[] = { 0x508, 0x511 };
	struct xv_call *call = &xv_fw_call;
	u32 qpc[MLX5_ST_SZ_DW(qpc)] = {};
	int i;

	xv_fw.err = -ENXIO;
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		xv_fw_checks = 0;
		call->reason[0] = 0;
		KUNIT_EXPECT_EQ(test,
				xv_fw_modify_qp(&xv_fw_dev, call, opcodes[i], 1,
						0, qpc, NULL),
				-ENODEV);
		KUNIT_EXPECT_EQ(test, xv_fw_checks, 0u);
		KUNIT_EXPECT_PTR_NE(test, strstr(call->reason, "the adapter is in error state"),
				    (char *)NULL);
	}
}

static struct kunit_case xv_fw_cases[] = {
	KUNIT_CASE(xv_test_brief),
	KUNIT_CASE(xv_test_create),
	KUNIT_CASE(xv_test_query),
	KUNIT_CASE(xv_test_modify),
	KUNIT_CASE(xv_test_refusals),
	KUNIT_CASE(xv_test_undelivered),
	KUNIT_CASE(xv_test_unknown),
	{}
};

static struct kunit_suite xv_fw_suite = {
	.name = "xverbs-firmware",
	.init = xv_fw_test_init,
	.test_cases = xv_fw_cases,
};

kunit_test_suite(xv_fw_suite);

MODULE_DESCRIPTION("KUnit tests of xverbs");
MODULE_LICENSE("GPL");
