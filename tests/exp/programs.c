// SPDX-License-Identifier: GPL-2.0
/*
 * Experimental verbs as programs for MLNX_OFED use them: what its libraries accept, although the
 * manual says nothing about it.
 */
#include <endian.h>
#include <unistd.h>
#include "rig.h"

#define LAST		IBV_EXP_SEND_WAIT_EN_LAST
#define SIGNALED	IBV_EXP_SEND_SIGNALED
#define MASTER		IBV_EXP_QP_CREATE_CROSS_CHANNEL

static struct pair master;		/* its first queue pair waits, enables and calculates */
static struct pair plain;

/* Completion queues of ibv_create_cq() */
static struct pair new_pair(uint32_t flags)
{
	struct ibv_exp_qp_init_attr first = {
		.comp_mask = IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS, .exp_create_flags = flags,
	}, second = { .comp_mask = 0 };
	struct pair p;
	int i;

	for (i = 0; i < 2; i++) {
		p.cq[i] = ibv_create_cq(side[i].ctx, 256, NULL, NULL, 0);
		need(p.cq[i] != NULL, "ibv_create_cq");
		p.qp[i] = make_qp(i, p.cq[i], i ? second : first);
	}
	connect(0, p.qp[0], 1, p.qp[1]);
	return p;
}

/* A message from side 1 to side 0, which waits for it in its completion queue */
static void message(struct pair *p)
{
	struct ibv_exp_send_wr wr = { .exp_opcode = IBV_EXP_WR_SEND, .exp_send_flags = SIGNALED };

	receive(p->qp[0], 0, 0, 64);
	need(!post(p->qp[1], &wr) && status(p->cq[1]) == IBV_WC_SUCCESS, "a message");
}

static int wait_for(struct ibv_cq *cq, int count)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_CQE_WAIT, .exp_send_flags = LAST | SIGNALED,
		.task.cqe_wait = { cq, count },
	};

	return post(master.qp[0], &wr);
}

/* ---- Waits ------------------------------------------------------------------------------- */

static void test_wait_plain(void)
{
	struct pair p = new_pair(0);

	ok(!wait_for(p.cq[0], 1) && quiet(master.cq[0]), "a wait for a CQ of ibv_create_cq()");
	message(&p);
	ok(status(master.cq[0]) == IBV_WC_SUCCESS, "it ends with a completion");
	ok(ibv_resize_cq(p.cq[0], 1000) && errno == EOPNOTSUPP,
	   "a CQ that waits have named cannot be resized");
	break_pair(&p);
}

/* The end of the old ring is no completion. */
static void test_wait_resized(void)
{
	struct pair p = new_pair(0);

	message(&p);
	need(status(p.cq[0]) == IBV_WC_SUCCESS && !ibv_resize_cq(p.cq[0], 1000), "resize");
	ok(!wait_for(p.cq[0], 1) && status(master.cq[0]) == IBV_WC_SUCCESS,
	   "a wait for the completion before the CQ was resized");
	ok(!wait_for(p.cq[0], 1) && quiet(master.cq[0]), "a wait for the next one");
	message(&p);
	ok(status(master.cq[0]) == IBV_WC_SUCCESS, "it ends");
	break_pair(&p);
}

/* Several queues wait for one completion. */
static void test_wait_zero(void)
{
	struct pair p = new_pair(0);
	int i, good = 1;

	ok(!wait_for(p.cq[0], 0) && status(master.cq[0]) == IBV_WC_SUCCESS,
	   "a wait for 0 completions of a new CQ ends at once");
	ok(!wait_for(p.cq[0], 1) && !wait_for(p.cq[0], 0) && !wait_for(p.cq[0], 0) &&
	   quiet(master.cq[0]), "a wait for 0 waits like the one before it");
	message(&p);
	for (i = 0; i < 3; i++)
		good &= status(master.cq[0]) == IBV_WC_SUCCESS;
	ok(good, "they end with the same completion");
	break_pair(&p);
}

/* ---- Receives ---------------------------------------------------------------------------- */

static int received(struct pair *p)
{
	struct ibv_exp_send_wr wr = { .exp_opcode = IBV_EXP_WR_SEND, .exp_send_flags = SIGNALED };
	struct ibv_exp_wc wc = { .wr_id = 0 };

	need(!post(p->qp[1], &wr) && status(p->cq[1]) == IBV_WC_SUCCESS, "a message");
	return complete(p->cq[0], &wc) && wc.status == IBV_WC_SUCCESS ? (int)wc.wr_id : -1;
}

/* Programs post all receives, then they connect. */
static void test_recv_in_reset(void)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_exp_qp_init_attr attr = { .comp_mask = 0 };
	struct ibv_recv_wr wr = { .wr_id = 7 }, *bad;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	};
	struct pair p = { .cq = { make_cq(0, 0), make_cq(1, 0) } };
	struct ibv_qp *strict;

	p.qp[0] = make_qp(0, p.cq[0], attr);
	p.qp[1] = make_qp(1, p.cq[1], attr);
	ok(!ibv_post_recv(p.qp[0], &wr, &bad), "a receive in RESET");
	connect(0, p.qp[0], 1, p.qp[1]);
	tap_is(received(&p), 7, "it gets the first message");
	wr.wr_id = 8;
	need(!ibv_post_recv(p.qp[0], &wr, &bad) &&
	     !ibv_modify_qp(p.qp[0], &reset, IBV_QP_STATE) &&
	     !ibv_modify_qp(p.qp[1], &reset, IBV_QP_STATE), "RESET");
	wr.wr_id = 9;
	ok(!ibv_post_recv(p.qp[0], &wr, &bad), "a receive in RESET again");
	connect(0, p.qp[0], 1, p.qp[1]);
	tap_is(received(&p), 9, "the transition to RESET took the one before out");
	init.send_cq = init.recv_cq = p.cq[0];
	strict = ibv_create_qp(side[0].pd, &init);
	need(strict != NULL, "ibv_create_qp");
	ok(ibv_post_recv(strict, &wr, &bad) == EINVAL, "ibv_create_qp(): none in RESET");
	need(!ibv_destroy_qp(strict), "destroy");
	break_pair(&p);
}

/* ---- Calculation ------------------------------------------------------------------------- */

static uint64_t *number(int s, size_t offset)
{
	return (uint64_t *)(void *)(side[s].mem + offset);
}

/* Writes the result to the memory of side 1. */
static int calculate(struct ibv_sge *sge, int n, enum ibv_exp_calc_op op,
		     enum ibv_exp_calc_data_type type)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_RDMA_WRITE, .sg_list = sge, .num_sge = n,
		.exp_send_flags = SIGNALED | IBV_EXP_SEND_WITH_CALC,
		.wr.rdma = { at(1, 0), side[1].mr->rkey },
		.op.calc = { op, type, IBV_EXP_CALC_DATA_SIZE_64_BIT },
	};

	memset(side[1].mem, 0xee, 64);
	return run(&master, &wr);
}

/* The elements are a sequence of operands, however they are cut. */
static void test_gather(void)
{
	struct ibv_sge whole = piece(0, 0, 48), cut[3] = {
		piece(0, 0, 8), piece(0, 8, 0), piece(0, 8, 40),
	};
	const double v[3] = { 3.5, 4, 1000 };
	double result;
	uint64_t bits;
	int i;

	memset(side[0].mem, 0x11, 48);
	for (i = 0; i < 3; i++) {
		memcpy(&bits, &v[i], 8);
		*number(0, (size_t)i * 16) = htobe64(bits);
	}
	ok(calculate(&whole, 1, IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_FLOAT) ==
	   IBV_WC_SUCCESS, "three operands in one element");
	bits = be64toh(*number(1, 0));
	memcpy(&result, &bits, 8);
	ok(result == 1007.5, "their sum");
	ok(calculate(cut, 3, IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_FLOAT) ==
	   IBV_WC_SUCCESS && be64toh(*number(1, 0)) == bits && !*number(1, 8), "and in pieces");
}

/* Each operation that the attributes list can be posted, for each type. */
static void test_operations(void)
{
	static const enum ibv_exp_calc_op ops[] = {
		IBV_EXP_CALC_OP_BAND, IBV_EXP_CALC_OP_BXOR, IBV_EXP_CALC_OP_BOR,
	};
	const uint64_t a = 0x4008f0f0f0f0f0f0ull, b = 0x7ff0aaaa5555ffffull;
	const uint64_t want[] = { a & b, a ^ b, a | b };
	struct ibv_exp_device_attr dev = attributes(side[0].ctx);
	struct ibv_sge sge = piece(0, 0, 32);
	size_t i, good = 0;

	ok(dev.calc_cap.int_ops == 0x1d && dev.calc_cap.uint_ops == 0x1d &&
	   dev.calc_cap.fp_ops == 0x1d, "attributes: all types have the operations of libmlx5");
	*number(0, 0) = htobe64(a);
	*number(0, 16) = htobe64(b);
	for (i = 0; i < 3; i++)
		good += calculate(&sge, 1, ops[i], IBV_EXP_CALC_DATA_TYPE_FLOAT) ==
			IBV_WC_SUCCESS && be64toh(*number(1, 0)) == want[i];
	tap_is(good, 3, "AND, XOR and OR of doubles are those of 64-bit words");
	ok(calculate(&sge, 1, IBV_EXP_CALC_OP_MAXLOC, IBV_EXP_CALC_DATA_TYPE_UINT) ==
	   IBV_WC_SUCCESS && be64toh(*number(1, 0)) == b, "MAXLOC works, but is not listed");
}

/* ---- Members that a request does not use --------------------------------------------------- */

static void test_not_zeroed(void)
{
	struct ibv_exp_send_wr wr;
	struct ibv_exp_task task;

	memset(&wr, 0xa5, sizeof(wr));
	memset(&task, 0xa5, sizeof(task));
	wr.next = NULL;
	wr.num_sge = 0;
	wr.exp_opcode = IBV_EXP_WR_SEND;
	wr.exp_send_flags = SIGNALED;
	receive(master.qp[1], 1, 0, 64);
	ok(!post(master.qp[0], &wr) && status(master.cq[0]) == IBV_WC_SUCCESS &&
	   status(master.cq[1]) == IBV_WC_SUCCESS, "a send");
	wr.num_sge = 1;
	wr.exp_opcode = IBV_EXP_WR_CQE_WAIT;
	wr.task.cqe_wait.cq = master.cq[0];
	wr.task.cqe_wait.cq_count = 1;
	ok(!post(master.qp[0], &wr) && status(master.cq[0]) == IBV_WC_SUCCESS, "a wait");
	task.task_type = IBV_EXP_TASK_SEND;
	task.item.qp = master.qp[0];
	task.item.send_wr = &wr;
	task.next = NULL;
	wr.exp_send_flags |= IBV_EXP_SEND_IP_CSUM | 1ull << 50;
	ok(!ibv_exp_post_task(side[0].ctx, &task, NULL) &&
	   status(master.cq[0]) == IBV_WC_SUCCESS, "a task, with flags that have no meaning here");
}

/* ---- Requests that are refused ----------------------------------------------------------- */

/* Programs pass no pointer for the request or task that was refused. */
static void test_null_bad(void)
{
	struct ibv_exp_send_wr wr = {
		.exp_opcode = IBV_EXP_WR_SEND_ENABLE, .task.wqe_enable.qp = plain.qp[0],
	};
	struct ibv_exp_task task = { .item = { plain.qp[0], { .send_wr = &wr } } };
	struct ibv_send_wr send = { .num_sge = 99 };
	struct ibv_recv_wr recv = { .num_sge = 99 };

	tap_is(ibv_exp_post_task(side[0].ctx, &task, NULL), EINVAL, "a task without bad_task");
	tap_is(ibv_exp_post_send(plain.qp[0], &wr, NULL), EINVAL, "a request without bad_wr");
	tap_is(ibv_post_send(plain.qp[0], &send, NULL), ENOMEM, "one of ibverbs");
	tap_is(ibv_post_recv(plain.qp[0], &recv, NULL), EINVAL, "a receive");
}

/* The result of the call is also in errno, and a line tells the reason. */
static void test_errno(void)
{
	struct ibv_exp_send_wr wr = { .exp_opcode = IBV_EXP_WR_CQE_WAIT,
				      .task.cqe_wait = { plain.cq[0], 1 } };
	struct ibv_send_wr send = { .num_sge = 99 };
	struct ibv_recv_wr recv = { .num_sge = 99 };
	char line[200] = "";
	int saved = dup(2), fds[2];

	need(!pipe(fds) && dup2(fds[1], 2) == 2 && !setenv("XV_RUN_VERBOSE", "1", 1), "a pipe");
	errno = 0;
	ok(ibv_exp_post_send(plain.qp[0], &wr, NULL) == EINVAL && errno == EINVAL, "a request");
	need(dup2(saved, 2) == 2 && !unsetenv("XV_RUN_VERBOSE") &&
	     read(fds[0], line, sizeof(line) - 1) > 0, "the line");
	ok(strstr(line, "the queue pair lacks CROSS_CHANNEL") != NULL, "the reason");
	close(fds[0]);
	close(fds[1]);
	close(saved);
	errno = 0;
	ok(ibv_post_send(plain.qp[0], &send, NULL) == ENOMEM && errno == ENOMEM,
	   "errno of a request of ibverbs");
	errno = 0;
	ok(ibv_post_recv(plain.qp[0], &recv, NULL) == EINVAL && errno == EINVAL,
	   "errno of a receive");
}

static void test_too_large(void)
{
	struct ibv_sge sge = piece(0, 0, 4096);
	struct ibv_exp_send_wr wr = { .num_sge = 99, .exp_opcode = IBV_EXP_WR_SEND };

	tap_is(ibv_exp_post_send(plain.qp[0], &wr, NULL), ENOMEM, "99 elements");
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.exp_send_flags = IBV_EXP_SEND_INLINE;
	tap_is(ibv_exp_post_send(plain.qp[0], &wr, NULL), ENOMEM, "4096 bytes inline");
}

/* The tasks before the one that is refused run. */
static void test_wrong_task(void)
{
	struct ibv_exp_send_wr send = { .exp_opcode = IBV_EXP_WR_SEND, .exp_send_flags = SIGNALED };
	struct ibv_exp_send_wr wrong = {
		.exp_opcode = IBV_EXP_WR_SEND_ENABLE, .task.wqe_enable.qp = plain.qp[0],
	};
	struct ibv_exp_task tasks[3] = {
		{ .item = { plain.qp[0], { .send_wr = &send } }, .next = &tasks[1] },
		{ .item = { master.qp[0], { .send_wr = &wrong } }, .next = &tasks[2] },
		{ .item = { plain.qp[0], { .send_wr = &send } } },
	}, *bad = NULL;

	receive(plain.qp[1], 1, 0, 64);
	receive(plain.qp[1], 1, 0, 64);
	tap_is(ibv_exp_post_task(side[0].ctx, tasks, &bad), EINVAL, "the second of three tasks");
	ok(bad == &tasks[1] && status(plain.cq[0]) == IBV_WC_SUCCESS && quiet(plain.cq[0]),
	   "the first one runs, the last one does not");
}

int main(int argc, char **argv)
{
	struct ibv_exp_device_attr dev;

	open_sides(argc, argv);
	dev = attributes(side[0].ctx);
	if (!(dev.exp_device_cap_flags & IBV_EXP_DEVICE_CROSS_CHANNEL))
		tap_skip_all("the device has no cross-channel");
	master = new_pair(MASTER);
	plain = new_pair(0);
	test_wait_plain();
	test_wait_resized();
	test_wait_zero();
	test_recv_in_reset();
	test_gather();
	test_operations();
	test_not_zeroed();
	test_null_bad();
	test_errno();
	test_too_large();
	test_wrong_task();
	break_pair(&plain);
	break_pair(&master);
	close_sides();
	return tap_done();
}
