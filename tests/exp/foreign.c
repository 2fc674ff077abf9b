// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of another provider of libibverbs: each call refuses them with EINVAL, and a request
 * that names one is not posted.  The objects have only the member by which the library recognises
 * its own.
 */
#include "rig.h"

static struct ibv_context ctx;
static struct ibv_pd pd = { .context = &ctx };
static struct ibv_cq cq = { .context = &ctx };
static struct ibv_srq srq = { .context = &ctx };
static struct ibv_qp qp = { .context = &ctx };
static struct ibv_ah ah = { .context = &ctx };
static struct ibv_mr mr = { .context = &ctx };
static struct ibv_mw mw = { .context = &ctx };
static struct ibv_xrcd xrcd = { .context = &ctx };
static struct ibv_comp_channel channel = { .context = &ctx };

/* A pointer must be null with errno EINVAL, and a number EINVAL. */
#define NULL_OF(call)	do { errno = 0; ok(!(call) && errno == EINVAL, "%s", #call); } while (0)
#define EINVAL_OF(call)	tap_is(call, EINVAL, "%s", #call)

static void test_context(void)
{
	struct ibv_exp_device_attr dev = { .comp_mask = 0 };
	struct ibv_exp_values values = { .comp_mask = 0 };
	struct ibv_exp_port_attr port = { .comp_mask = 0 };
	struct ibv_exp_gid_attr gid = { .comp_mask = 0 };
	struct ibv_exp_cq_init_attr cq_attr = { .comp_mask = 0 };
	struct ibv_exp_qp_init_attr qp_attr = {
		.qp_type = IBV_QPT_RC, .comp_mask = IBV_EXP_QP_INIT_ATTR_PD, .pd = &pd,
		.send_cq = &cq, .recv_cq = &cq,
	};
	struct ibv_exp_dct_init_attr dct_attr = { .pd = &pd, .cq = &cq, .srq = &srq };
	struct ibv_exp_res_domain_init_attr domain = { .comp_mask = 0 };
	struct ibv_exp_task task = { .task_type = IBV_EXP_TASK_SEND, .item.qp = &qp }, *bad = NULL;

	EINVAL_OF(ibv_exp_query_device(&ctx, &dev));
	EINVAL_OF(ibv_exp_query_values(&ctx, IBV_EXP_VALUES_HW_CLOCK, &values));
	EINVAL_OF(ibv_exp_query_port(&ctx, 1, &port));
	EINVAL_OF(ibv_exp_query_gid_attr(&ctx, 1, 0, &gid));
	NULL_OF(ibv_exp_create_cq(&ctx, 8, NULL, NULL, 0, &cq_attr));
	NULL_OF(ibv_exp_create_qp(&ctx, &qp_attr));
	NULL_OF(ibv_exp_create_dct(&ctx, &dct_attr));
	NULL_OF(ibv_exp_create_res_domain(&ctx, &domain));
	NULL_OF(ibv_exp_get_provider_func(&ctx, IBV_POLL_CQ_FUNC));
	EINVAL_OF(ibv_exp_post_task(&ctx, &task, &bad));
	ok(bad == &task, "the task that is wrong");
}

/* One object of another provider in a call that is right otherwise */
static void test_create(void)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_exp_cq_init_attr cq_attr = { .comp_mask = 0 };
	struct ibv_cq *own = make_cq(0, 0);
	struct ibv_srq *own_srq = ibv_create_srq(side[0].pd, &srq_init);
	struct ibv_exp_qp_init_attr good = {
		.qp_type = IBV_QPT_RC, .comp_mask = IBV_EXP_QP_INIT_ATTR_PD, .pd = side[0].pd,
		.send_cq = own, .recv_cq = own,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	}, a = good;
	struct ibv_exp_dct_init_attr dct = { .pd = side[0].pd, .cq = own, .srq = own_srq,
		.port = 1, .mtu = IBV_MTU_1024, .hop_limit = 1,
		.gid_index = (uint8_t)side[0].gid_index }, d = dct;

	need(own_srq != NULL, "ibv_create_srq");
	NULL_OF(ibv_exp_create_cq(side[0].ctx, 8, NULL, &channel, 0, &cq_attr));
	a.pd = &pd;
	NULL_OF(ibv_exp_create_qp(side[0].ctx, &a));
	a = good;
	a.send_cq = &cq;
	NULL_OF(ibv_exp_create_qp(side[0].ctx, &a));
	a = good;
	a.recv_cq = &cq;
	NULL_OF(ibv_exp_create_qp(side[0].ctx, &a));
	a = good;
	a.srq = &srq;
	NULL_OF(ibv_exp_create_qp(side[0].ctx, &a));
	a = (struct ibv_exp_qp_init_attr) { .qp_type = IBV_QPT_XRC_RECV, .xrcd = &xrcd,
					    .comp_mask = IBV_EXP_QP_INIT_ATTR_XRCD };
	NULL_OF(ibv_exp_create_qp(side[0].ctx, &a));
	d.pd = &pd;
	NULL_OF(ibv_exp_create_dct(side[0].ctx, &d));
	d = dct;
	d.cq = &cq;
	NULL_OF(ibv_exp_create_dct(side[0].ctx, &d));
	d = dct;
	d.srq = &srq;
	NULL_OF(ibv_exp_create_dct(side[0].ctx, &d));
	need(!ibv_destroy_srq(own_srq) && !ibv_destroy_cq(own), "destroy");
}

static void test_memory(void)
{
	struct ibv_exp_reg_mr_in reg = { .pd = &pd, .addr = side[0].mem, .length = 4096 };
	struct ibv_exp_create_mr_in create = { .pd = &pd, .attr = { .max_reg_descriptors = 4 } };
	struct ibv_exp_mkey_list_container_attr list = {
		.pd = &pd, .mkey_list_type = IBV_EXP_MKEY_LIST_TYPE_INDIRECT_MR,
		.max_klm_list_size = 4,
	};
	struct ibv_exp_rereg_mr_attr rereg = { .comp_mask = 0 };
	struct ibv_exp_mkey_attr key = { .comp_mask = 0 };

	NULL_OF(ibv_exp_reg_mr(&reg));
	NULL_OF(ibv_exp_create_mr(&create));
	NULL_OF(ibv_exp_alloc_mkey_list_memory(&list));
	EINVAL_OF(ibv_exp_query_mkey(&mr, &key));
	EINVAL_OF(ibv_exp_rereg_mr(&mr, IBV_EXP_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0, &rereg));
	EINVAL_OF(ibv_exp_rereg_mr(side[0].mr, IBV_EXP_REREG_MR_CHANGE_PD, &pd, NULL, 0, 0,
				   &rereg));
}

static void test_queues(struct pair *p)
{
	struct ibv_exp_cq_attr cq_attr = { .comp_mask = IBV_EXP_CQ_MODERATION };
	struct ibv_exp_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_exp_qp_init_attr init;
	struct ibv_exp_send_wr wr = { .exp_opcode = IBV_EXP_WR_SEND }, *bad = NULL;
	struct ibv_exp_mw_bind bind = { .qp = &qp, .mw = &mw };
	struct ibv_exp_wc wc;

	EINVAL_OF(ibv_exp_modify_cq(&cq, &cq_attr, IBV_EXP_CQ_MODERATION));
	errno = 0;
	ok(ibv_exp_poll_cq(&cq, 1, &wc, sizeof(wc)) == -1 && errno == EINVAL, "ibv_exp_poll_cq()");
	EINVAL_OF(ibv_exp_modify_qp(&qp, &attr, IBV_EXP_QP_STATE));
	EINVAL_OF(ibv_exp_query_qp(&qp, &attr, IBV_EXP_QP_STATE, &init));
	EINVAL_OF(ibv_exp_post_send(&qp, &wr, &bad));
	ok(bad == &wr, "the request that is wrong");
	EINVAL_OF(ibv_exp_bind_mw(&bind));
	bind.qp = p->qp[0];
	EINVAL_OF(ibv_exp_bind_mw(&bind));
}

static void test_requests(struct pair *p)
{
	struct ibv_exp_send_wr bind = {
		.exp_opcode = IBV_EXP_WR_BIND_MW, .exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.bind_mw = { &mw, 0, { side[0].mr, at(0, 0), 64, IBV_EXP_ACCESS_REMOTE_READ } },
	};
	struct ibv_exp_send_wr fill = {
		.exp_opcode = IBV_EXP_WR_UMR_INVALIDATE, .ext_op.umr.modified_mr = &mr,
	};
	struct ibv_exp_send_wr wait = {
		.exp_opcode = IBV_EXP_WR_CQE_WAIT, .task.cqe_wait = { &cq, 1 },
	};
	struct ibv_exp_send_wr enable = {
		.exp_opcode = IBV_EXP_WR_SEND_ENABLE, .task.wqe_enable = { &qp, 1 },
	};
	struct ibv_exp_qp_init_attr ud_attr = {
		.qp_type = IBV_QPT_UD, .comp_mask = IBV_EXP_QP_INIT_ATTR_PD, .pd = side[0].pd,
		.send_cq = p->cq[0], .recv_cq = p->cq[0],
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct ibv_qp *ud = ibv_exp_create_qp(side[0].ctx, &ud_attr);
	struct ibv_sge sge = piece(0, 0, 64);
	struct ibv_exp_send_wr datagram = {
		.exp_opcode = IBV_EXP_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.wr.ud = { .ah = &ah, .remote_qpn = 1 },
	};
	struct ibv_exp_task task = { .task_type = IBV_EXP_TASK_SEND, .item.qp = &qp }, *bad = NULL;

	need(ud != NULL, "ibv_exp_create_qp");
	EINVAL_OF(post(p->qp[0], &bind));
	EINVAL_OF(post(p->qp[0], &fill));
	EINVAL_OF(post(p->qp[0], &wait));
	EINVAL_OF(post(p->qp[0], &enable));
	EINVAL_OF(post(ud, &datagram));
	EINVAL_OF(ibv_exp_post_task(side[0].ctx, &task, &bad));
	ok(bad == &task, "the task that is wrong");
	ok(quiet(p->cq[0]), "nothing was posted");
	need(!ibv_destroy_qp(ud), "destroy");
}

int main(int argc, char **argv)
{
	struct pair p;

	open_sides(argc, argv);
	p = make_pair((struct ibv_exp_qp_init_attr) { .comp_mask = 0 });
	test_context();
	test_create();
	test_memory();
	test_queues(&p);
	test_requests(&p);
	break_pair(&p);
	close_sides();
	return tap_done();
}
