// SPDX-License-Identifier: GPL-2.0
/*
 * DOCA Verbs: contexts and protection domains of libibverbs, and those that belong to a device.
 */
#include <dlfcn.h>
#include <errno.h>
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

/* ---- libibverbs with its own provider ---------------------------------------------------- */

/* The functions of the program are those of libxverbs-ibverbs; these are not. */
static struct {
	struct ibv_device **(*get_device_list)(int *num);
	void (*free_device_list)(struct ibv_device **list);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *ctx);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *ctx);
	int (*dealloc_pd)(struct ibv_pd *pd);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t len, int access);
	int (*dereg_mr)(struct ibv_mr *mr);
} stock;

static void *stock_function(void *lib, const char *name)
{
	void *fn = dlvsym(lib, name, "IBVERBS_1.1");

	if (!fn)
		bail_out("libibverbs: %s", dlerror());
	return fn;
}

static void load_libibverbs(void)
{
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);

	if (!lib)
		bail_out("%s", dlerror());
	stock.get_device_list = stock_function(lib, "ibv_get_device_list");
	stock.free_device_list = stock_function(lib, "ibv_free_device_list");
	stock.open_device = stock_function(lib, "ibv_open_device");
	stock.close_device = stock_function(lib, "ibv_close_device");
	stock.alloc_pd = stock_function(lib, "ibv_alloc_pd");
	stock.dealloc_pd = stock_function(lib, "ibv_dealloc_pd");
	stock.reg_mr = stock_function(lib, "ibv_reg_mr");
	stock.dereg_mr = stock_function(lib, "ibv_dereg_mr");
}

/*
 * Queues of DOCA use memory that another provider has registered.  The address is that of the test
 * before: the first device is the same.
 */
static void from_provider(void)
{
	struct ibv_device **list;
	struct ibv_context *ctx;
	struct doca_dev *dev;
	struct ibv_pd *pd;

	load_libibverbs();
	list = stock.get_device_list(NULL);
	ctx = list && list[0] ? stock.open_device(list[0]) : NULL;
	pd = ctx ? stock.alloc_pd(ctx) : NULL;
	if (!pd)
		bail_out("no PD of the provider");
	ok(!xv_bridge_get_ctx(ctx), "provider: the context is not one of libxverbs-ibverbs");
	tap_is(doca_verbs_bridge_verbs_context_import(ctx, 0, &t.ctx), DOCA_SUCCESS,
	       "provider: import the context");
	tap_is(doca_verbs_bridge_verbs_pd_import(pd, &t.pd), DOCA_SUCCESS,
	       "provider: import the PD");
	ok(doca_verbs_bridge_verbs_pd_get_ibv_pd(t.pd) == pd, "provider: it is the same PD");
	tap_is(doca_rdma_bridge_open_dev_from_pd(pd, &dev), DOCA_SUCCESS, "provider: a device");
	t.mr = stock.reg_mr(pd, t.buf, sizeof(t.buf), IBV_ACCESS_LOCAL_WRITE |
			    IBV_ACCESS_REMOTE_WRITE);
	if (!t.mr)
		bail_out("no memory region of the provider");
	works("provider");
	tap_is(stock.dealloc_pd(pd), EBUSY, "provider: the PD is used");
	tap_is(stock.dereg_mr(t.mr), 0, "provider: the memory is deregistered");
	tap_is(doca_dev_close(dev), DOCA_SUCCESS, "provider: the device is closed");
	tap_is(doca_verbs_pd_destroy(t.pd), DOCA_SUCCESS, "provider: the import of the PD ends");
	tap_is(doca_verbs_context_destroy(t.ctx), DOCA_SUCCESS, "provider: that of the context");
	tap_is(stock.dealloc_pd(pd), 0, "provider: the PD is still there");
	tap_is(stock.close_device(ctx), 0, "provider: the context, too");
	stock.free_device_list(list);
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
	from_provider();
	foreign_pd();
	return tap_done();
}
