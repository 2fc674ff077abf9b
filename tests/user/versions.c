// SPDX-License-Identifier: GPL-2.0
/*
 * Programs and libraries of different versions: which versions fit, and structures that are
 * shorter or longer than those of the library.
 */
#include <stdio.h>
#include <infiniband/verbs.h>
#include "rig.h"

static struct rig r;

/* ---- Versions -------------------------------------------------------------------- */

static void test_version(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", XV_VERSION_MAJOR, XV_VERSION_MINOR,
		 XV_VERSION_PATCH);
	ok(!strcmp(xv_version(), text), "the header has version %s, the library %s", text,
	   xv_version());
	ok(xv_version_num() == XV_VERSION_NUM, "the number of the version: 0x%x",
	   xv_version_num());
}

static bool refused(struct xv_context *ctx)
{
	if (!ctx)
		return errno == EPROTONOSUPPORT && strstr(xv_last_error(), "compile it again") &&
		       strstr(xv_last_error(), xv_version());
	xv_close(ctx);
	return false;
}

static void test_import(const char *name, uint32_t version)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d;
	struct ibv_context *ibv = NULL;

	for (d = list; !ibv && *d; d++)
		if (!strcmp(ibv_get_device_name(*d), name))
			ibv = ibv_open_device(*d);
	if (!ibv)
		bail_out("libibverbs does not open %s", name);
	ok(refused(xv_import_ctx_v(ibv->cmd_fd, version)), "and for an import: %s",
	   xv_last_error());
	ibv_close_device(ibv);
	ibv_free_device_list(list);
}

static void test_fit(const struct xv_device *device)
{
	uint32_t major = XV_VERSION_NUM + (1 << 16), minor = XV_VERSION_NUM + (1 << 8);
	struct xv_context *ctx;

	ok(refused(xv_open_v(device->name, major)), "another major version: %s", xv_last_error());
	ok(refused(xv_open_device_v(device, major)), "for a device of the list, too");
	test_import(device->name, major);
	ctx = xv_open_v(device->name, minor);
	if (XV_VERSION_MAJOR)
		ok(ctx && !xv_close(ctx), "another minor version is opened");
	else
		ok(refused(ctx), "before 1.0, another minor version: %s", xv_last_error());
	ctx = xv_open_v(device->name, XV_VERSION_NUM + 1);
	ok(ctx && !xv_close(ctx), "another patch of the same version is opened");
}

/* ---- Structures of other sizes ----------------------------------------------------- */

#define LONGER(type)	struct { struct type known; uint64_t unknown; }

static struct xv_srq *make_srq(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct xv_srq *srq = xv_create_srq(r.side[0].pd, &attr);

	if (!srq)
		bail_out("%s", xv_last_error());
	return srq;
}

static void test_srq(void)
{
	LONGER(xv_srq_attr) a = { .unknown = 7 };
	struct xv_sge sge = rig_sge(&r, 0, 0, 64);
	struct xv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct xv_srq *srq = make_srq();
	int i;

	for (i = 0; i < 8; i++)		/* above the limit, so that it stays armed */
		if (xv_post_srq_recv(srq, &wr, &bad))
			bail_out("%s", xv_last_error());
	ok(!xv_query_srq_sz(srq, &a.known, sizeof(a)) && a.known.max_wr >= 16 && !a.unknown,
	   "query an SRQ: unknown members are 0");
	a.known = (struct xv_srq_attr) { .srq_limit = 3 };
	ok(!xv_modify_srq_sz(srq, &a.known, XV_SRQ_LIMIT, sizeof(a)) && a.known.srq_limit == 3 &&
	   a.known.max_wr >= 16, "modify an SRQ: zeros at the end");
	a.unknown = 1;
	a.known.srq_limit = 4;
	ok(xv_modify_srq_sz(srq, &a.known, XV_SRQ_LIMIT, sizeof(a)) == -E2BIG &&
	   !xv_query_srq(srq, &a.known) && a.known.srq_limit == 3,
	   "modify an SRQ: other values at the end: E2BIG, and nothing is modified");
	a.known.srq_limit = 0x5a;
	ok(!xv_query_srq_sz(srq, &a.known, offsetof(struct xv_srq_attr, srq_limit)) &&
	   a.known.max_wr >= 16 && a.known.srq_limit == 0x5a,
	   "query an SRQ: a shorter structure is not exceeded");
	ok(!xv_destroy_srq(srq), "the SRQ is destroyed");
}

/* A queue pair with an SRQ goes to ERR.  This raises an event. */
static void test_event(void)
{
	LONGER(xv_async_event) event = { .unknown = 7 };
	struct xv_srq *srq = make_srq();
	struct xv_qp_init_attr init = {
		.qp_type = XV_QPT_RC, .send_cq = r.cq[0], .recv_cq = r.cq[0], .srq = srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &init);
	struct xv_qp_attr attr = { .qp_state = XV_QPS_INIT, .port_num = 1 };
	int err;

	err = qp ? xv_modify_qp(qp, &attr, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
				XV_QP_ACCESS_FLAGS) : -1;
	attr.qp_state = XV_QPS_ERR;
	if (err || xv_modify_qp(qp, &attr, XV_QP_STATE))
		bail_out("%s", xv_last_error());
	err = xv_get_async_event_sz(r.side[0].ctx, &event.known, sizeof(event));
	ok(!err && event.known.event_type == XV_EVENT_QP_LAST_WQE_REACHED &&
	   event.known.element.qp == qp && !event.unknown, "an event: unknown members are 0");
	xv_ack_async_event(&event.known);
	ok(!xv_destroy_qp(qp) && !xv_destroy_srq(srq), "queue pair and SRQ are destroyed");
}

static void test_ah(void)
{
	LONGER(xv_ah_attr) a = { .unknown = 7 };
	struct xv_wc wc = { .slid = 5 };
	struct xv_grh grh;

	memset(&grh, 0, sizeof(grh));
	ok(!xv_init_ah_from_wc_sz(r.side[0].ctx, 1, &wc, &grh, &a.known, sizeof(a)) &&
	   a.known.dlid == 5 && a.known.port_num == 1 && !a.unknown,
	   "the address of a sender: unknown members are 0");
	a.known.sl = 0x5a;
	ok(!xv_init_ah_from_wc_sz(r.side[0].ctx, 1, &wc, &grh, &a.known,
				  offsetof(struct xv_ah_attr, sl)) && a.known.sl == 0x5a,
	   "the address of a sender: a shorter structure is not exceeded");
}

/* A structure that is part of others has reserved members instead. */
static void test_external(void)
{
	struct xv_cq_init_attr attr = { .cqe = 4, .external = { .reserved = { 0, 1 } } };

	ok(!xv_create_cq(r.side[0].ctx, &attr) && errno == EINVAL &&
	   strstr(xv_last_error(), "external.reserved"), "reserved: %s", xv_last_error());
}

int main(int argc, char **argv)
{
	static const struct rig_opts opts = { .size = 4096, .depth = 4 };
	struct xv_device **list = xv_get_device_list(NULL);

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	test_version();
	test_fit(list[0]);
	test_srq();
	test_event();
	test_ah();
	test_external();
	rig_close(&r);
	xv_free_device_list(list);
	return tap_done();
}
