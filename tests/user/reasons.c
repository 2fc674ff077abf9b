// SPDX-License-Identifier: GPL-2.0
/*
 * A queue that refuses a request says why: the posting functions set errno and the text of
 * xv_last_error(), and so does the creation of a queue pair that lacks a queue.
 */
#include "rig.h"

enum { DEPTH = 8, SGES = 4, INLINE = 64 };

static struct rig r;
static struct xv_cq *cq, *plain_cq;
static struct xv_qp *fresh;		/* in RESET */

static void refused(const char *call, int err, int want, const char *text)
{
	int number = errno;

	if (!ok(err == -want && number == want && strstr(xv_last_error(), text), "%s: %s", call,
		text))
		diag("%d, errno %d, \"%s\"", err, number, xv_last_error());
}

/* The text is about this request and not about an earlier one. */
static int send_one(struct xv_qp *qp, struct xv_send_wr *wr)
{
	struct xv_send_wr *bad = NULL;
	int err;

	xv_open("no-such-device");
	errno = 0;
	err = xv_post_send(qp, wr, &bad);
	if (err && bad != wr)
		diag("bad_wr is not set");
	return err;
}

static struct xv_qp *make(enum xv_qp_type type, uint32_t flags)
{
	struct xv_qp_init_attr init = { .qp_type = type, .send_cq = cq, .recv_cq = cq,
		.cap = { DEPTH, DEPTH, SGES, SGES, INLINE }, .flags = flags };
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &init);

	if (!qp)
		bail_out("%s", xv_last_error());
	return qp;
}

static void test_sends(void)
{
	struct xv_sge sge[64] = { rig_sge(&r, 0, 0, 64) };
	struct xv_send_wr wr = { .sg_list = sge, .num_sge = 64, .opcode = XV_WR_SEND };
	struct xv_ah foreign = { .pd = NULL };
	struct xv_qp *ud = make(XV_QPT_UD, 0);
	struct xv_qp_attr attr = { .qp_state = XV_QPS_INIT, .port_num = 1, .qkey = 1 };
	struct xt_peer peer;
	int i;

	refused("post 64 SGEs", send_one(r.qp[0], &wr), EINVAL, "post send: 64 SGEs, the queue has");
	wr.num_sge = 1;
	sge[0].length = 4096;
	wr.send_flags = XV_SEND_INLINE;
	refused("post 4096 bytes inline", send_one(r.qp[0], &wr), EINVAL, "4096 bytes inline");
	wr.opcode = XV_WR_RDMA_READ;
	refused("a read inline", send_one(r.qp[0], &wr), EINVAL, "no inline data");
	wr.send_flags = 0;
	wr.opcode = (enum xv_wr_opcode)77;
	refused("an unknown opcode", send_one(r.qp[0], &wr), EINVAL, "no opcode 77");
	wr.opcode = XV_WR_SEND;
	refused("post in RESET", send_one(fresh, &wr), EINVAL, "in state RESET");
	if (xv_modify_qp(ud, &attr, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY))
		bail_out("%s", xv_last_error());
	foreign.pd = r.side[0].pd;
	wr.wr.ud.ah = &foreign;
	refused("post in INIT", send_one(ud, &wr), EINVAL, "in state INIT");
	attr.qp_state = XV_QPS_RTR;
	xv_modify_qp(ud, &attr, XV_QP_STATE);
	attr.qp_state = XV_QPS_RTS;
	if (xv_modify_qp(ud, &attr, XV_QP_STATE | XV_QP_SQ_PSN))
		bail_out("%s", xv_last_error());
	foreign.pd = NULL;
	refused("a foreign address", send_one(ud, &wr), EINVAL, "another protection domain");
	wr.opcode = XV_WR_RDMA_READ;
	refused("a read on UD", send_one(ud, &wr), EINVAL, "not possible on this type");
	peer = (struct xt_peer) { .lid = r.side[0].attr.lid, .gid = r.side[0].gid };
	wr = (struct xv_send_wr) { .sg_list = sge, .num_sge = 1, .opcode = XV_WR_SEND };
	wr.wr.ud.ah = xt_ah_create(&r.side[0], &peer);
	if (!wr.wr.ud.ah)
		bail_out("%s", xv_last_error());
	sge[0].length = 8;
	for (i = 0; i < 4 * DEPTH && !send_one(ud, &wr); i++)
		;
	refused("a full queue", send_one(ud, &wr), ENOMEM, "post send: the send queue is full");
	xv_destroy_ah(wr.wr.ud.ah);
	xv_destroy_qp(ud);
}

static int recv_one(struct xv_qp *qp, struct xv_recv_wr *wr)
{
	struct xv_recv_wr *bad = NULL;

	xv_open("no-such-device");
	errno = 0;
	return xv_post_recv(qp, wr, &bad);
}

static int srq_recv_one(struct xv_srq *srq, struct xv_recv_wr *wr)
{
	struct xv_recv_wr *bad = NULL;

	xv_open("no-such-device");
	errno = 0;
	return xv_post_srq_recv(srq, wr, &bad);
}

static void test_receives(void)
{
	struct xv_sge sge[16] = { rig_sge(&r, 0, 0, 64) };
	struct xv_srq_init_attr attr = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct xv_srq *srq = xv_create_srq(r.side[0].pd, &attr);
	struct xv_recv_wr wr = { .sg_list = sge, .num_sge = 16 };
	int i;

	if (!srq)
		bail_out("%s", xv_last_error());
	refused("receive in RESET", recv_one(fresh, &wr), EINVAL, "in state RESET");
	refused("receive of 16 SGEs", recv_one(r.qp[0], &wr), EINVAL, "post receive: 16 SGEs");
	refused("SRQ, 16 SGEs", srq_recv_one(srq, &wr), EINVAL, "16 SGEs, the queue has");
	wr.num_sge = 1;
	for (i = 0; i < 1000 && !recv_one(r.qp[0], &wr); i++)
		;
	refused("a full receive queue", recv_one(r.qp[0], &wr), ENOMEM, "receive queue is full");
	for (i = 0; i < 1000 && !srq_recv_one(srq, &wr); i++)
		;
	refused("a full SRQ", srq_recv_one(srq, &wr), ENOMEM, "shared receive queue is full");
	xv_destroy_srq(srq);
}

/* Requests that wait, as lists and as tasks */
static void test_chain(void)
{
	struct xv_send_wr wr = { .opcode = XV_WR_CQE_WAIT,
		.wr.cqe_wait = { .cq = plain_cq, .cq_count = 1 } };
	struct xv_task task = { .task_type = XV_TASK_SEND }, *bad;
	struct xv_qp *qp;
	struct xt_peer self;

	if (!rig_feature(r.side[0].ctx, "cross-channel")->available) {
		tap_skip("requests that wait", "no cross-channel queues");
		return;
	}
	refused("wait on a plain queue", send_one(r.qp[0], &wr), EINVAL, "lacks XV_QP_CROSS_CHANNEL");
	qp = make(XV_QPT_RC, XV_QP_CROSS_CHANNEL);
	xt_peer_of(&r.side[0], qp, &self);
	if (xt_connect(qp, &r.side[0], &self, NULL))
		bail_out("%s", xv_last_error());
	refused("wait for a plain CQ", send_one(qp, &wr), EINVAL, "the CQ lacks XV_CQ_CROSS_CHANNEL");
	wr.opcode = XV_WR_WAIT_DATA;
	wr.wr.wait_data = (struct xv_wait_data) { .addr = 3 };
	refused("wait for a misaligned operand", send_one(qp, &wr), EINVAL, "not aligned");
	wr.opcode = XV_WR_SEND_ENABLE;
	wr.wr.wqe_enable.qp = r.qp[0];
	refused("enable a plain queue", send_one(qp, &wr), EINVAL, "lacks XV_QP_MANAGED_SEND");
	task.item.qp = qp;
	task.item.send_wr = &wr;
	xv_open("no-such-device");
	refused("the same as a task", xv_post_task(r.side[0].ctx, &task, &bad), EINVAL,
		"post task: task 0, request 0: the other queue pair lacks XV_QP_MANAGED_SEND");
	xv_destroy_qp(qp);
}

static void test_windows(void)
{
	struct xv_mw *mw = xv_alloc_mw(r.side[0].pd, XV_MW_TYPE_2);
	struct xv_mw_bind bind = { 0 };

	if (!mw)
		bail_out("%s", xv_last_error());
	xv_open("no-such-device");
	refused("xv_bind_mw", xv_bind_mw(r.qp[0], mw, &bind), EINVAL, "bind MW: the window");
	xv_dealloc_mw(mw);
}

static void test_queue_pairs(void)
{
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_RC, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 } };

	refused("create a queue pair", xv_create_qp(r.side[0].pd, &init) ? 0 : -errno, ENOENT,
		"needs a send_cq");
	init.send_cq = cq;
	init.recv_cq = NULL;
	refused("create a queue pair", xv_create_qp(r.side[0].pd, &init) ? 0 : -errno, ENOENT,
		"needs a recv_cq");
}

int main(int argc, char **argv)
{
	static const struct rig_opts opts = { .size = 65536, .depth = DEPTH, .sge = SGES,
					      .inline_data = INLINE };
	struct xv_cq_init_attr attr = { .cqe = 255 };

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	plain_cq = xv_create_cq(r.side[0].ctx, &attr);
	attr.flags = XV_CQ_CROSS_CHANNEL;
	cq = xv_create_cq(r.side[0].ctx, &attr);
	if (!cq || !plain_cq)
		bail_out("%s", xv_last_error());
	fresh = make(XV_QPT_RC, 0);
	test_sends();
	test_receives();
	test_chain();
	test_windows();
	test_queue_pairs();
	xv_destroy_qp(fresh);
	xv_destroy_cq(cq);
	xv_destroy_cq(plain_cq);
	rig_close(&r);
	return tap_done();
}
