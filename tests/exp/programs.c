// SPDX-License-Identifier: GPL-2.0
/*
 * Experimental verbs as programs for MLNX_OFED use them: what its libraries accept, although the
 * manual says nothing about it.
 */
#include <endian.h>
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
	break_pair(&plain);
	break_pair(&master);
	close_sides();
	return tap_done();
}
