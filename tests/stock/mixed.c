// SPDX-License-Identifier: GPL-2.0
/*
 * usage: mixed DEVICE
 *
 * LIDs of multicast groups on a device with ports of both link layers.  Both ports are InfiniBand,
 * but a function of this program tells libxverbs-ibverbs that one is Ethernet.  Then only queue
 * pairs of the other port need the LID of a group.
 */
#include <dlfcn.h>
#include <xverbs/xverbs.h>
#include "verbs.h"

enum { IGNORED = 1, LID = 0xc001 };

static uint32_t ethernet;		/* the Ethernet port; 0: none */

/* The dynamic linker finds this function before that of the library. */
int xv_query_port_sz(struct xv_context *ctx, uint32_t port, struct xv_port_attr *attr, size_t size)
{
	static typeof(xv_query_port_sz) *original;
	int err;

	if (!original)
		original = (typeof(original))dlsym(RTLD_NEXT, "xv_query_port_sz");
	err = original(ctx, port, attr, size);
	if (!err && port == ethernet)
		attr->link_layer = XV_LINK_LAYER_ETHERNET;
	return err;
}

static struct ibv_qp *qp;

static int reset(void)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RESET };

	return ibv_modify_qp(qp, &a, IBV_QP_STATE);
}

static int to_init(uint8_t port)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = port, .qkey = 1 };

	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

static int join_and_leave(uint16_t lid)
{
	const union ibv_gid gid = { .raw = { 0xff, 0x0e, [15] = 7 } };
	int err = ibv_attach_mcast(qp, &gid, lid);

	return err ? err : ibv_detach_mcast(qp, &gid, lid);
}

/* A queue pair in INIT with this port; if it is 0, in RESET */
static void test_port(uint8_t port, int wanted)
{
	need(!reset() && (!port || !to_init(port)), "a transition");
	tap_is(join_and_leave(IGNORED), wanted, "Ethernet port %u, queue pair on port %u: no LID",
	       ethernet, port);
	tap_is(join_and_leave(LID), 0, "Ethernet port %u, queue pair on port %u: a LID", ethernet,
	       port);
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_UD, .cap = { 1, 1, 1, 1, 0 } };
	union ibv_gid gid = { .raw = { 0xff, 0x0e, [15] = 9 } };
	struct ibv_context *ctx;
	struct ibv_pd *pd;

	need(argc == 2, "usage: mixed DEVICE");
	ctx = open_device(argv[1]);
	pd = ibv_alloc_pd(ctx);
	attr.send_cq = attr.recv_cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	qp = ibv_create_qp(pd, &attr);
	need(qp != NULL, "ibv_create_qp");

	for (ethernet = 0; ethernet <= 2; ethernet++) {
		test_port(0, ethernet ? 0 : EINVAL);
		test_port(1, ethernet == 1 ? 0 : EINVAL);
		test_port(2, ethernet == 2 ? 0 : EINVAL);
	}

	/* Joined before it had a port: the name of the membership stays. */
	ethernet = 2;
	need(!reset(), "to RESET");
	tap_is(ibv_attach_mcast(qp, &gid, IGNORED), 0, "joined in RESET");
	need(!to_init(1), "to INIT");
	tap_is(ibv_attach_mcast(qp, &gid, IGNORED), 0, "joined again on the InfiniBand port");
	tap_is(ibv_detach_mcast(qp, &gid, IGNORED), 0, "left");
	tap_is(ibv_detach_mcast(qp, &gid, IGNORED), EINVAL, "left again");
	need(!ibv_destroy_qp(qp) && !ibv_destroy_cq(attr.send_cq) && !ibv_dealloc_pd(pd) &&
	     !ibv_close_device(ctx), "the end");
	return tap_done();
}
