// SPDX-License-Identifier: GPL-2.0
/*
 * A program that is linked with libibverbs before the libraries of DOCA.  Its functions of
 * libibverbs cannot work on the bridge, so the bridge refuses; all else works.
 */
#include <errno.h>
#include <doca_dev.h>
#include <doca_rdma_bridge.h>
#include <doca_verbs.h>
#include <doca_verbs_bridge.h>
#include "tap.h"

static void need(doca_error_t result, const char *what)
{
	if (result != DOCA_SUCCESS)
		bail_out("%s: %s", what, doca_error_get_name(result));
}
#define NEED(call)	need(call, #call)

int main(void)
{
	struct doca_verbs_context *ctx;
	struct doca_devinfo **list;
	struct doca_verbs_pd *pd;
	struct doca_dev *dev;
	struct ibv_pd *ibv;
	uint32_t n;

	NEED(doca_devinfo_create_list(&list, &n));
	if (!n)
		tap_skip_all("no device");
	NEED(doca_dev_open(list[0], &dev));
	NEED(doca_verbs_context_create(list[0], DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE, &ctx));
	NEED(doca_devinfo_destroy_list(list));
	NEED(doca_verbs_pd_create(ctx, &pd));
	errno = 0;
	ok(!doca_verbs_bridge_verbs_pd_get_ibv_pd(pd), "no PD of libibverbs");
	tap_is(errno, EOPNOTSUPP, "errno");
	tap_is(doca_rdma_bridge_get_dev_pd(dev, &ibv), DOCA_ERROR_NOT_SUPPORTED,
	       "none of a device, either");
	tap_is(doca_verbs_pd_destroy(pd), DOCA_SUCCESS, "the PD is destroyed");
	tap_is(doca_verbs_context_destroy(ctx), DOCA_SUCCESS, "the context, too");
	tap_is(doca_dev_close(dev), DOCA_SUCCESS, "the device is closed");
	return tap_done();
}
