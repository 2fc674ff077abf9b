// SPDX-License-Identifier: GPL-2.0
/* KUnit: rights to P_Keys, with a security module that grants or denies, and counts */
#include "../xrcd.h"
#include "fw_kunit.h"

#ifdef CONFIG_SECURITY_INFINIBAND
#include <linux/security.h>
#include <rdma/ib_cache.h>

#define XV_TEST_PREFIX	0xfe80000000001234ull
#define XV_TEST_PKEY(index)	(0x8000 | (index))

/**
 * struct xv_mock_lsm - security module
 * @labels: number of labels
 * @asked: number of questions
 * @denied: label without rights
 * @label: of the last question
 * @prefix: its subnet prefix
 * @pkey: its P_Key
 * @unknown: the port has no GID
 */
static struct xv_mock_lsm {
	int labels;
	int asked;
	void *denied;
	void *label;
	u64 prefix;
	u16 pkey;
	bool unknown;
} xv_lsm;

static int xv_mock_label(void **label)
{
	xv_lsm.labels++;
	*label = &xv_lsm.labels;
	return 0;
}

static void xv_mock_free(void *label)
{
	xv_lsm.labels--;
}

static int xv_mock_access(void *label, u64 prefix, u16 pkey)
{
	xv_lsm.asked++;
	xv_lsm.label = label;
	xv_lsm.prefix = prefix;
	xv_lsm.pkey = pkey;
	return label == xv_lsm.denied ? -EACCES : 0;
}

static int xv_mock_pkey(struct ib_device *ib, u32 port, int index, u16 *pkey)
{
	*pkey = XV_TEST_PKEY(index);
	return 0;
}

static int xv_mock_gid(struct ib_device *ib, u32 port, int index,
		       union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(XV_TEST_PREFIX);
	return xv_lsm.unknown ? -ENOENT : 0;
}

#define security_ib_alloc_security	xv_mock_label
#define security_ib_free_security	xv_mock_free
#define security_ib_pkey_access		xv_mock_access
#define ib_get_cached_pkey		xv_mock_pkey
#define rdma_query_gid			xv_mock_gid
#define rdma_protocol_ib(ib, port)	true
#include "../security.c"

enum { XV_QPN = 0x123456, XV_DCTN = 0x654321, XV_XRCD = 3 };

/* A queue pair that two files share, and a DC target of the first file */
struct xv_guarded {
	struct mlx5_core_dev mdev;
	struct ib_device ib;
	struct xv_dev dev;
	struct xv_file file[2];
	struct xv_qp_obj handle[2];
	struct xv_dev_qp qp;
	struct xv_dct_obj dct;
	struct xv_xrc_domain domain;
	struct xv_xrcd_obj xrcd;
	struct xv_call call;
};

static void xv_guarded_file(struct xv_guarded *g, int i)
{
	struct xv_qp_obj *h = &g->handle[i];

	g->file[i].dev = &g->dev;
	xa_init_flags(&g->file[i].objs, XA_FLAGS_ALLOC1);
	xv_evq_init(&g->file[i].async, sizeof(struct xverbs_async_event), g->file[i].log);
	h->obj.file = &g->file[i];
	h->obj.type = XV_OBJ_QP;
	xv_evsrc_init(&h->obj.events);
	h->label = h;
	h->qp = &g->qp;
	list_add_tail(&h->node, &g->qp.handles);
}

static int xv_guarded_init(struct kunit *test)
{
	static const int pages[] = { MLX5_CAP_GENERAL, MLX5_CAP_ATOMIC };
	struct xv_guarded *g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);
	int i;

	if (!g)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		g->mdev.caps.hca[pages[i]] =
			kunit_kzalloc(test, sizeof(struct mlx5_hca_cap),
				      GFP_KERNEL);
		if (!g->mdev.caps.hca[pages[i]])
			return -ENOMEM;
	}
	memset(&xv_fw, 0, sizeof(xv_fw));
	memset(&xv_lsm, 0, sizeof(xv_lsm));
	g->ib.phys_port_cnt = 1;
	g->ib.attrs.max_pkeys = 128;
	g->dev.mdev = &g->mdev;
	g->dev.ib = &g->ib;
	g->dev.security.on = true;
	init_rwsem(&g->dev.security.sem);
	mutex_init(&g->dev.xrc_lock);
	xa_init_flags(&g->dev.qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&g->dev.dcts, XA_FLAGS_LOCK_IRQ);
	mutex_init(&g->qp.lock);
	INIT_LIST_HEAD(&g->qp.handles);
	mutex_init(&g->qp.handles_lock);
	INIT_WORK(&g->qp.deliver, xv_qp_deliver_events);
	g->qp.qpn = XV_QPN;
	g->qp.type = XVERBS_QPT_XRC_RECV;
	g->qp.users = 2;
	g->qp.domain = &g->domain;
	for (i = 0; i < 2; i++)
		xv_guarded_file(g, i);
	g->dct.obj.file = &g->file[0];
	xv_evsrc_init(&g->dct.obj.events);
	g->dct.dctn = XV_DCTN;
	g->dct.port = 1;
	g->dct.pkey_index = 7;
	g->dct.label = &g->dct;
	g->call.dev = &g->dev;
	g->call.file = &g->file[0];
	test->priv = g;
	return 0;
}

static void xv_guarded_exit(struct kunit *test)
{
	struct xv_guarded *g = test->priv;
	int i;

	if (!g)
		return;
	cancel_work_sync(&g->qp.deliver);
	xa_destroy(&g->dev.qps);
	xa_destroy(&g->dev.dcts);
	for (i = 0; i < 2; i++) {
		xv_evq_exit(&g->file[i].async);
		xa_destroy(&g->file[i].objs);
	}
}

static void xv_guarded_in_use(struct xv_guarded *g)
{
	g->qp.attrs.qp.qp_state = XVERBS_QPS_INIT;
	g->qp.attrs.qp.port_num = 1;
	g->qp.attrs.qp.pkey_index = 5;
	xa_store_irq(&g->dev.qps, XV_QPN, &g->qp, GFP_KERNEL);
	xa_store_irq(&g->dev.dcts, XV_DCTN, &g->dct, GFP_KERNEL);
}

static int xv_modify_to_init(struct xv_guarded *g, u16 pkey_index)
{
	struct xverbs_qp_modify *arg = &g->call.arg.qp_modify;

	xa_store(&g->file[0].objs, 1, &g->handle[0].obj, GFP_KERNEL);
	memset(&g->call.attrs, 0, sizeof(g->call.attrs));
	g->call.attrs.qp.qp_state = XVERBS_QPS_INIT;
	g->call.attrs.qp.port_num = 1;
	g->call.attrs.qp.pkey_index = pkey_index;
	*arg = (struct xverbs_qp_modify) {
		.qp = 1,
		.attr_mask = XVERBS_QP_STATE | XVERBS_QP_PORT |
			     XVERBS_QP_PKEY_INDEX | XVERBS_QP_ACCESS_FLAGS,
	};
	return xv_qp_modify(&g->call);
}

static void xv_test_security_modify(struct kunit *test)
{
	struct xv_guarded *g = test->priv;
	int i;

	/* Each process that has the queue pair must have the right. */
	for (i = 0; i < 2; i++) {
		xv_lsm.denied = &g->handle[i];
		KUNIT_EXPECT_EQ(test, xv_modify_to_init(g, 5), -EACCES);
		KUNIT_EXPECT_PTR_EQ(test, xv_lsm.label, xv_lsm.denied);
		KUNIT_EXPECT_EQ(test, xv_fw.inlen, (size_t)0);
		KUNIT_EXPECT_EQ(test, g->qp.attrs.qp.qp_state,
				(u32)XVERBS_QPS_RESET);
	}
	xv_lsm.denied = NULL;
	xv_lsm.asked = 0;
	KUNIT_EXPECT_EQ(test, xv_modify_to_init(g, 5), 0);
	KUNIT_EXPECT_EQ(test, xv_lsm.asked, 2);
	KUNIT_EXPECT_EQ(test, xv_lsm.prefix, XV_TEST_PREFIX);
	KUNIT_EXPECT_EQ(test, xv_lsm.pkey, (u16)XV_TEST_PKEY(5));
	KUNIT_EXPECT_EQ(test, MLX5_GET(rst2init_qp_in, xv_fw.in, opcode),
			(u32)MLX5_CMD_OP_RST2INIT_QP);

	/* A port without GID: refused, with another reason */
	xv_lsm.unknown = true;
	g->qp.attrs.qp.qp_state = XVERBS_QPS_RESET;
	KUNIT_EXPECT_EQ(test, xv_modify_to_init(g, 5), -EINVAL);
}

static void xv_test_security_alternate(struct kunit *test)
{
	struct xv_guarded *g = test->priv;
	struct xverbs_qp_attr attr = {
		.port_num = 1, .pkey_index = 5,
		.alt_port_num = 1, .alt_pkey_index = 9,
	};

	mutex_lock(&g->qp.lock);
	KUNIT_EXPECT_EQ(test, xv_security_modify_qp(&g->call, &g->qp, &attr,
						    XVERBS_QP_ALT_PATH), 0);
	KUNIT_EXPECT_EQ(test, xv_lsm.asked, 4);
	KUNIT_EXPECT_EQ(test, xv_lsm.pkey, (u16)XV_TEST_PKEY(9));
	/* Nothing of a P_Key changes. */
	KUNIT_EXPECT_EQ(test, xv_security_modify_qp(&g->call, &g->qp, &attr,
						    XVERBS_QP_QKEY), 0);
	KUNIT_EXPECT_EQ(test, xv_lsm.asked, 4);
	mutex_unlock(&g->qp.lock);
}

static int xv_open_target(struct xv_guarded *g)
{
	g->xrcd.obj.type = XV_OBJ_XRCD;
	g->xrcd.obj.file = &g->file[0];
	g->xrcd.domain = &g->domain;
	xa_store(&g->file[0].objs, XV_XRCD, &g->xrcd.obj, GFP_KERNEL);
	g->call.arg.qp_open = (struct xverbs_qp_open) {
		.xrcd = XV_XRCD, .qpn = XV_QPN,
	};
	return xv_qp_open(&g->call);
}

/* Another process opens a target: it needs the right, and it gets no handle without it. */
static void xv_test_security_open(struct kunit *test)
{
	struct xv_guarded *g = test->priv;
	struct xv_obj *obj;

	xv_guarded_in_use(g);
	xv_lsm.denied = &xv_lsm.labels;
	KUNIT_EXPECT_EQ(test, xv_open_target(g), -EACCES);
	KUNIT_EXPECT_EQ(test, xv_lsm.asked, 1);
	KUNIT_EXPECT_EQ(test, xv_lsm.labels, 0);
	KUNIT_EXPECT_EQ(test, g->qp.users, 2u);
	KUNIT_EXPECT_PTR_EQ(test, g->qp.handles.next, &g->handle[0].node);
	KUNIT_EXPECT_PTR_EQ(test, g->qp.handles.prev, &g->handle[1].node);
	KUNIT_EXPECT_EQ(test, g->xrcd.obj.users, 0u);

	xv_lsm.denied = NULL;
	KUNIT_EXPECT_EQ(test, xv_open_target(g), 0);
	KUNIT_EXPECT_EQ(test, xv_lsm.labels, 1);
	KUNIT_EXPECT_EQ(test, g->qp.users, 3u);
	obj = g->call.new_obj;
	KUNIT_EXPECT_EQ(test, xv_qp_destroy(obj, &g->call), 0);
	KUNIT_EXPECT_EQ(test, xv_lsm.labels, 0);
	KUNIT_EXPECT_EQ(test, g->qp.users, 2u);
	xv_obj_abort(obj);
}

static u32 xv_next_event(struct xv_file *file)
{
	struct xverbs_async_event event = {};

	return xv_evq_pop_async(&file->async, &event) ? event.type : U32_MAX;
}

/* A queue that lost the right to its P_Key goes to ERR and raises one event. */
static void xv_test_security_change(struct kunit *test)
{
	struct xv_guarded *g = test->priv;
	struct work_struct *work = &g->dev.security.recheck;

	xv_guarded_in_use(g);
	xv_security_recheck(work);
	KUNIT_EXPECT_EQ(test, xv_lsm.asked, 3);
	KUNIT_EXPECT_EQ(test, xv_fw.inlen, (size_t)0);

	/* While the tables are being changed, nothing is known. */
	xv_lsm.denied = &g->handle[1];
	xv_lsm.unknown = true;
	xv_security_recheck(work);
	KUNIT_EXPECT_EQ(test, xv_fw.inlen, (size_t)0);

	xv_lsm.unknown = false;
	xv_security_recheck(work);
	XV_EXPECT_COMMAND(test, "2ERR_QP", 0x10, { 0, 0x05070000 },
			  { 8, XV_QPN });
	flush_work(&g->qp.deliver);
	KUNIT_EXPECT_EQ(test, g->qp.attrs.qp.qp_state, (u32)XVERBS_QPS_ERR);
	KUNIT_EXPECT_EQ(test, xv_next_event(&g->file[0]), (u32)XVERBS_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, xv_next_event(&g->file[1]), (u32)XVERBS_EVENT_QP_FATAL);

	xv_lsm.denied = &g->dct;
	xv_security_recheck(work);
	KUNIT_EXPECT_EQ(test, MLX5_GET(drain_dct_in, xv_fw.in, opcode),
			(u32)MLX5_CMD_OP_DRAIN_DCT);
	KUNIT_EXPECT_EQ(test, MLX5_GET(drain_dct_in, xv_fw.in, dctn), (u32)XV_DCTN);
	KUNIT_EXPECT_EQ(test, xv_lsm.pkey, (u16)XV_TEST_PKEY(7));
	KUNIT_EXPECT_EQ(test, xv_next_event(&g->file[0]),
			(u32)XVERBS_EVENT_DCT_ACCESS_ERR);

	/* Nothing is left to do. */
	xv_fw.inlen = 0;
	xv_security_recheck(work);
	KUNIT_EXPECT_EQ(test, xv_fw.inlen, (size_t)0);
	KUNIT_EXPECT_EQ(test, xv_next_event(&g->file[0]), U32_MAX);
	KUNIT_EXPECT_EQ(test, xv_next_event(&g->file[1]), U32_MAX);
}

static struct kunit_case xv_security_cases[] = {
	KUNIT_CASE(xv_test_security_modify),
	KUNIT_CASE(xv_test_security_alternate),
	KUNIT_CASE(xv_test_security_open),
	KUNIT_CASE(xv_test_security_change),
	{}
};

static struct kunit_suite xv_security_suite = {
	.name = "xverbs-security",
	.init = xv_guarded_init,
	.exit = xv_guarded_exit,
	.test_cases = xv_security_cases,
};
kunit_test_suite(xv_security_suite);
#endif
