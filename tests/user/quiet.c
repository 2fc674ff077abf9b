// SPDX-License-Identifier: GPL-2.0
/*
 * A call that succeeds leaves errno and xv_last_error() alone.  Each function of libxverbs is
 * called here; tests/check tested finds one that is not.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "rig.h"

enum { ERRNO = 4242, BYTES = 1 << 16 };

static char text[512];
static struct rig r;

static void prepare(void)
{
	if (xv_open("no-such-device"))
		bail_out("a device that does not exist was opened");
	strcpy(text, xv_last_error());
	errno = ERRNO;
}

static void check(const char *call, int good)
{
	int number = errno;

	ok(good && number == ERRNO && !strcmp(text, xv_last_error()), "%s", call);
	if (!good)
		bail_out("%s: %s", call, xv_last_error());
	if (number != ERRNO)
		diag("errno is %d: %s", number, strerror(number));
	if (strcmp(text, xv_last_error()))
		diag("the text is \"%s\"", xv_last_error());
}

/* An expression that is true if the call has succeeded */
#define QUIET(call) do {		\
	int good_;			\
					\
	prepare();			\
	good_ = !!(call);		\
	check(#call, good_);		\
} while (0)

static void test_names(void)
{
	struct xv_device **list;

	QUIET(xv_version() && xv_version_num());
	QUIET(xv_strerror(EINVAL) && xv_wc_status_str(XV_WC_SUCCESS));
	QUIET(xv_vendor_err_str(0x81) && xv_explain(XV_CODE_SYNDROME, 0x65b500, NULL));
	QUIET(xv_wc_opcode_str(XV_WC_SEND) && xv_qp_state_str(XV_QPS_RTS) &&
	      xv_qp_type_str(XV_QPT_RC) && xv_node_type_str(XV_NODE_CA) &&
	      xv_port_state_str(XV_PORT_ACTIVE) && xv_event_type_str(XV_EVENT_CQ_ERR));
	QUIET(xv_rate_to_mult(XV_RATE_40_GBPS) == 16 && xv_mult_to_rate(16) == XV_RATE_40_GBPS &&
	      xv_rate_to_mbps(XV_RATE_40_GBPS) == 40000 &&
	      xv_mbps_to_rate(40000) == XV_RATE_40_GBPS);
	QUIET(list = xv_get_device_list(NULL));
	QUIET(xv_get_device_name(list[0]) && xv_get_device_guid(list[0]));
	QUIET((xv_free_device_list(list), 1));
}

static void test_contexts(void)
{
	struct xv_device **list = xv_get_device_list(NULL);
	struct ibv_device **theirs = ibv_get_device_list(NULL);
	struct ibv_context *ibv = theirs && theirs[0] ? ibv_open_device(theirs[0]) : NULL;
	/* The library tries this domain first. */
	struct ibv_pd *other = ibv ? ibv_alloc_pd(ibv) : NULL;
	struct ibv_pd *ibv_pd = other ? ibv_alloc_pd(ibv) : NULL;
	struct xv_context *ctx;
	struct xv_pd *pd;

	if (!list || !ibv_pd)
		bail_out("contexts");
	QUIET(ctx = xv_open(rig_device(0)));
	QUIET(!xv_close(ctx));
	QUIET(ctx = xv_open_device(list[0]));
	QUIET(pd = xv_alloc_pd(ctx));
	QUIET(!xv_close(ctx));
	QUIET(ctx = xv_import_ctx(ibv->cmd_fd));
	QUIET(pd = xv_import_pd(ctx, ibv->cmd_fd, ibv_pd->handle));
	QUIET(!xv_dealloc_pd(pd) && !xv_close(ctx));
	xv_free_device_list(list);
	ibv_dealloc_pd(ibv_pd);
	ibv_dealloc_pd(other);
	ibv_close_device(ibv);
	ibv_free_device_list(theirs);
}

static void test_queries(void)
{
	struct xv_context *ctx = r.side[0].ctx;
	struct xv_feature features[64];
	struct xv_device_attr device;
	struct xv_gid_entry entry;
	struct xv_port_attr port;
	union xv_gid gid;
	uint64_t clock;
	uint16_t pkey;

	QUIET(!xv_query_device(ctx, &device));
	QUIET(!xv_query_port(ctx, 1, &port));
	QUIET(!xv_query_gid(ctx, 1, r.side[0].gid_index, &gid));
	QUIET(!xv_query_gid_entry(ctx, 1, r.side[0].gid_index, &entry));
	QUIET(!xv_query_pkey(ctx, 1, 0, &pkey));
	QUIET(xv_default_gid_index(ctx, 1) >= 0);
	QUIET(xv_query_features(ctx, features, 64) > 0);
	QUIET(!xv_has_feature(ctx, 999999));
	QUIET(!xv_read_clock(ctx, &clock) && !xv_read_clock(ctx, &clock));
}

static void test_memory(void)
{
	struct xv_mkey_init_attr init = { .max_entries = 4 };
	struct xv_pd *pd = r.side[0].pd;
	struct xv_mkey_attr attr;
	struct xv_mkey *mkey;
	struct xv_umem *umem;
	struct xv_uar *uar;
	struct xv_mr *mr;
	struct xv_mw *mw;
	void *page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	QUIET(mr = xv_reg_mr(pd, page, BYTES, XV_ACCESS_LOCAL_WRITE));
	QUIET(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
	QUIET(!xv_dereg_mr(mr));
	QUIET(mr = xv_reg_mr_iova(pd, page, BYTES, 4096, XV_ACCESS_LOCAL_WRITE));
	QUIET(!xv_dereg_mr(mr));
	QUIET(mw = xv_alloc_mw(pd, XV_MW_TYPE_2));
	QUIET(!xv_dealloc_mw(mw));
	QUIET(mkey = xv_create_mkey(pd, &init));
	QUIET(!xv_query_mkey(mkey, &attr));
	QUIET(!xv_destroy_mkey(mkey));
	QUIET(umem = xv_reg_umem(pd->context, page, BYTES));
	QUIET(!xv_dereg_umem(umem));
	QUIET(uar = xv_alloc_uar(pd->context, 0));
	QUIET(!xv_free_uar(uar));
	munmap(page, BYTES);
}

static void test_dmabuf(void)
{
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;
	int memfd = memfd_create("quiet", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	struct udmabuf_create create = { .memfd = (uint32_t)memfd, .size = BYTES };
	struct xv_umem *umem;
	struct xv_mr *mr;

	if (ftruncate(memfd, BYTES) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		bail_out("memfd");
	fd = dev < 0 ? -1 : ioctl(dev, UDMABUF_CREATE, &create);
	if (fd < 0) {
		tap_skip("memory of a dma-buf", "no udmabuf");
	} else {
		QUIET(mr = xv_reg_dmabuf_mr(r.side[0].pd, 0, BYTES, 0, fd, XV_ACCESS_LOCAL_WRITE));
		QUIET(!xv_dereg_mr(mr));
		QUIET(umem = xv_reg_dmabuf_umem(r.side[0].ctx, NULL, 0, BYTES, fd));
		QUIET(!xv_dereg_umem(umem));
		close(fd);
	}
	if (dev >= 0)
		close(dev);
	close(memfd);
}

static void test_completion_queues(void)
{
	struct xv_modify_cq_attr modify = { .attr_mask = XV_CQ_ATTR_MODERATE, .cq_count = 4,
					    .cq_period = 10 };
	struct xv_context *ctx = r.side[0].ctx;
	struct xv_cq_init_attr attr = { .cqe = 15 };
	struct xv_comp_channel *channel;
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 } };
	struct xv_cq *cq, *raised;
	struct xt_peer self;
	struct xv_qp *qp;
	void *context;

	QUIET(channel = xv_create_comp_channel(ctx));
	attr.channel = channel;
	QUIET(cq = xv_create_cq(ctx, &attr));
	QUIET(!xv_modify_cq(cq, &modify));
	QUIET(!xv_resize_cq(cq, 63));
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	prepare();
	ok(xv_get_cq_event(channel, &raised, &context) == -EAGAIN && errno == EAGAIN &&
	   !strcmp(text, xv_last_error()), "no completion event: only errno says so");
	fcntl(channel->fd, F_SETFL, 0);
	init.send_cq = init.recv_cq = cq;
	modify.cq_count = 1;
	qp = xv_modify_cq(cq, &modify) ? NULL : xv_create_qp(r.side[0].pd, &init);
	if (!qp)
		bail_out("%s", xv_last_error());
	xt_peer_of(&r.side[0], qp, &self);
	if (xt_connect(qp, &r.side[0], &self, NULL))
		bail_out("%s", xv_last_error());
	xv_req_notify(cq, 0);
	xv_wr_write(qp, 1, XV_SEND_SIGNALED, &sge, rig_addr(&r, 0, 64), r.mr[0]->rkey);
	xv_commit_send(qp);
	QUIET(!xv_get_cq_event(channel, &raised, &context));
	QUIET((xv_ack_cq_events(cq, 1), 1));
	QUIET(!xv_destroy_qp(qp));
	QUIET(!xv_destroy_cq(cq));
	QUIET(!xv_destroy_comp_channel(channel));
}

static void test_srqs(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_XRC_RECV };
	struct xv_qp_open_attr open = { 0 };
	struct xv_context *ctx = r.side[0].ctx;
	struct xv_qp *qp, *other;
	struct xv_xrcd *xrcd;
	struct xv_srq *srq;
	struct xv_dct *dct;
	struct xv_dct_attr dct_attr;

	QUIET(xrcd = xv_open_xrcd(ctx, -1, 0));
	init.xrcd = open.xrcd = xrcd;
	QUIET(qp = xv_create_qp(r.side[0].pd, &init));
	open.qp_num = qp->qp_num;
	QUIET(other = xv_open_qp(ctx, &open));
	QUIET(!xv_destroy_qp(other) && !xv_destroy_qp(qp));
	QUIET(!xv_close_xrcd(xrcd));
	QUIET(srq = xv_create_srq(r.side[0].pd, &attr));
	attr.attr.srq_limit = 2;
	QUIET(!xv_modify_srq(srq, &attr.attr, XV_SRQ_LIMIT));
	QUIET(!xv_query_srq(srq, &attr.attr));
	QUIET((xv_get_srq_init_attr(srq, &attr), 1));
	if (rig_feature(ctx, "dc")->available) {
		QUIET(dct = xt_dct_create(&r.side[0], r.cq[0], srq, 1, XV_ACCESS_REMOTE_WRITE));
		QUIET(!xv_query_dct(dct, &dct_attr));
		QUIET(!xv_arm_dct(dct));
		QUIET(!xv_destroy_dct(dct));
	} else {
		tap_skip("xv_create_dct, xv_query_dct, xv_arm_dct, xv_destroy_dct", "no DC");
	}
	QUIET(!xv_destroy_srq(srq));
}

static void test_datagrams(void)
{
	union xv_gid group = { .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3 } };
	bool ib = r.side[0].attr.link_layer == XV_LINK_LAYER_INFINIBAND;
	uint16_t lid = ib ? 0xc001 : 0;
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_UD, .send_cq = r.cq[0],
		.recv_cq = r.cq[0], .cap = { .max_recv_wr = 4, .max_recv_sge = 1 } };
	struct xv_wc wc = { .slid = (uint16_t)r.side[0].attr.lid, .wc_flags = XV_WC_GRH };
	struct xv_grh grh = { .version_tclass_flow = xv_be32(6u << 28), .next_hdr = 17,
		.sgid = r.side[0].gid, .dgid = r.side[0].gid };
	struct xv_qp_attr attr;
	struct xt_peer self;
	struct xv_ah_attr ah_attr;
	struct xv_qp *qp;
	struct xv_ah *ah;

	QUIET(qp = xv_create_qp(r.side[0].pd, &init));
	attr = (struct xv_qp_attr) { .qp_state = XV_QPS_INIT, .port_num = 1, .qkey = 1 };
	QUIET(!xv_modify_qp(qp, &attr, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY));
	QUIET(!xv_query_qp(qp, &attr, XV_QP_STATE, &init));
	QUIET(!xv_attach_mcast(qp, &group, lid));
	QUIET(!xv_detach_mcast(qp, &group, lid));
	QUIET(!xv_destroy_qp(qp));
	xt_peer_of(&r.side[0], r.qp[0], &self);
	QUIET(ah = xt_ah_create(&r.side[0], &self));	/* xv_create_ah() */
	QUIET(!xv_destroy_ah(ah));
	QUIET(!xv_init_ah_from_wc(r.side[0].ctx, 1, &wc, &grh, &ah_attr));
	QUIET(ah = xv_create_ah_from_wc(r.side[0].pd, &wc, &grh, 1));
	QUIET(!xv_destroy_ah(ah));
}

/* A list of tasks, and an event: a write with a wrong key */
static void test_requests(void)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);
	struct xv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = XV_WR_RDMA_WRITE,
		.send_flags = XV_SEND_SIGNALED };
	struct xv_task task = { .task_type = XV_TASK_SEND }, *bad;
	struct xv_context *ctx = r.side[1].ctx;
	struct xv_async_event event;
	struct xv_wc wc;

	fcntl(ctx->fd, F_SETFL, O_NONBLOCK);
	prepare();
	ok(xv_get_async_event(ctx, &event) == -EAGAIN && errno == EAGAIN &&
	   !strcmp(text, xv_last_error()), "no asynchronous event: only errno says so");
	fcntl(ctx->fd, F_SETFL, 0);
	wr.wr.rdma.remote_addr = rig_addr(&r, 1, 0);
	wr.wr.rdma.rkey = r.mr[1]->rkey ^ 0x5500;
	task.item.qp = r.qp[0];
	task.item.send_wr = &wr;
	QUIET(!xv_post_task(r.side[0].ctx, &task, &bad));
	if (rig_poll(r.cq[0], 1, &wc) != 1 || wc.status != XV_WC_REM_ACCESS_ERR)
		bail_out("a write with a wrong key succeeded");
	QUIET(!xv_get_async_event(ctx, &event));
	QUIET((xv_ack_async_event(&event), 1));
}

int main(int argc, char **argv)
{
	static const struct rig_opts opts = { .size = BYTES };

	rig_devices(argc, argv);
	test_names();
	test_contexts();
	rig_open(&r, &opts);
	test_queries();
	test_memory();
	test_dmabuf();
	test_completion_queues();
	test_srqs();
	test_datagrams();
	test_requests();
	rig_close(&r);
	return tap_done();
}
