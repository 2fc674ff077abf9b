// SPDX-License-Identifier: GPL-2.0
/*
 * DOCA Verbs: contexts and protection domains of libibverbs, and those that belong to a device.
 */
#include "verbs.h"

/* Messages between two queue pairs of the context */
static void works(const char *what)
{
	struct doca_verbs_cq *cq = make_cq(NULL);
	struct doca_verbs_qp *a = make_qp(qp_attrs(cq, DOCA_VERBS_QP_TYPE_RC));
	struct doca_verbs_qp *b = make_qp(qp_attrs(cq, DOCA_VERBS_QP_TYPE_RC));

	connect_both(a, b, MASK_RTS);
	fill(0, 9);
	memset(t.buf[1], 0, LEN);
	tap_is(post_send(a, IBV_WR_RDMA_WRITE, 0, 1), 0, "%s: post a write", what);
	ok(completes(cq, 100, IBV_WC_RDMA_WRITE) && same(0, 1), "%s: the data is there", what);
	tap_is(doca_verbs_pd_destroy(t.pd), DOCA_ERROR_IN_USE, "%s: the PD is used", what);
	NEED(doca_verbs_qp_destroy(a));
	NEED(doca_verbs_qp_destroy(b));
	NEED(doca_verbs_cq_destroy(cq));
}

/* From a device, as programs do that have one: PD, context of the PD, both imported */
static void from_device(void)
{
	struct doca_devinfo **list;
	struct ibv_pd *pd, *again;
	struct doca_dev *dev;
	uint32_t n;

	NEED(doca_devinfo_create_list(&list, &n));
	if (!n)
		tap_skip_all("no device");
	NEED(doca_dev_open(list[0], &dev));
	NEED(doca_devinfo_destroy_list(list));
	tap_is(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_SUCCESS, "the PD of a device");
	tap_is(doca_rdma_bridge_get_dev_pd(dev, &again), DOCA_SUCCESS, "once more");
	ok(pd == again, "it is the same");
	tap_is(doca_verbs_bridge_verbs_pd_import(pd, &t.pd), DOCA_SUCCESS, "import the PD");
	tap_is(doca_verbs_bridge_verbs_context_import(pd->context, 1, &t.ctx),
	       DOCA_ERROR_INVALID_VALUE, "an unknown flag");
	tap_is(doca_verbs_bridge_verbs_context_import(pd->context, 0, &t.ctx), DOCA_SUCCESS,
	       "import the context");
	ok(doca_verbs_bridge_verbs_pd_get_ibv_pd(t.pd) == pd, "it is the same after the import");
	setup_memory();
	works("device");
	tap_is(doca_dev_close(dev), DOCA_ERROR_IN_USE, "memory uses the PD of the device");
	teardown();
	tap_is(doca_dev_close(dev), DOCA_SUCCESS, "the device is closed");
}

/* From libibverbs, and a device for its PD */
static void from_libibverbs(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL, *got;
	struct doca_dev *dev;

	if (!pd)
		bail_out("no PD of libibverbs");
	tap_is(doca_rdma_bridge_open_dev_from_pd(pd, &dev), DOCA_SUCCESS, "a device for a PD");
	tap_is(doca_rdma_bridge_get_dev_pd(dev, &got), DOCA_SUCCESS, "its PD");
	ok(got == pd, "it is the same");
	NEED(doca_verbs_bridge_verbs_pd_import(pd, &t.pd));
	NEED(doca_verbs_bridge_verbs_context_import(ctx, 0, &t.ctx));
	setup_memory();
	works("libibverbs");
	teardown();
	tap_is(doca_dev_close(dev), DOCA_SUCCESS, "the device is closed");
	tap_is(ibv_dealloc_pd(pd), 0, "the PD is still there");
	tap_is(doca_verbs_bridge_verbs_context_create(list[0], 0, &t.ctx), DOCA_SUCCESS,
	       "a context of its own");
	tap_is(ibv_close_device(ctx), 0, "the context is still there");
	ibv_free_device_list(list);
	NEED(doca_verbs_pd_create(t.ctx, &t.pd));
	setup_memory();
	works("own context");
	teardown();
}

/* A PD is for queues of its own context. */
static void foreign_pd(void)
{
	struct doca_verbs_context *other;
	struct doca_verbs_qp_init_attr *attr;
	struct doca_verbs_cq *cq;
	struct doca_verbs_qp *qp;

	setup();
	other = open_first();
	cq = make_cq(NULL);
	attr = qp_attrs(cq, DOCA_VERBS_QP_TYPE_RC);
	tap_is(doca_verbs_qp_create(other, attr, &qp), DOCA_ERROR_INVALID_VALUE,
	       "the PD of another context");
	NEED(doca_verbs_qp_init_attr_destroy(attr));
	NEED(doca_verbs_cq_destroy(cq));
	NEED(doca_verbs_context_destroy(other));
	teardown();
}

int main(void)
{
	from_device();
	from_libibverbs();
	foreign_pd();
	return tap_done();
}
