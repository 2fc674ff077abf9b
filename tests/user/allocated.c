// SPDX-License-Identifier: GPL-2.0
/*
 * Memory from malloc() that the program has not written and that the adapter or the kernel
 * writes: received messages, results, completions in a ring of the program, lists.  The suite
 * sanitizers runs it under valgrind and with sanitizers, which must find nothing.
 */
#include <stdlib.h>
#include "rig.h"

enum { LENGTH = 256, BYTES = 4 * LENGTH, RING = 4096 };

static struct rig r;
static uint8_t *buf[2];
static struct xv_mr *mr[2];

static struct xv_sge at(int side, size_t offset, uint32_t length)
{
	return (struct xv_sge) { (uintptr_t)buf[side] + offset, length, mr[side]->lkey };
}

static void allocate(int side)
{
	const unsigned int all = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				 XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC;

	buf[side] = malloc(BYTES);
	mr[side] = xv_reg_mr(r.side[side].pd, buf[side], BYTES, all);
	if (!mr[side])
		bail_out("%s", xv_last_error());
}

static bool done(int side, uint64_t wr_id)
{
	xv_commit_send(r.qp[0]);
	return rig_expect(r.cq[side], wr_id, XV_WC_SUCCESS);
}

static void test_send(void)
{
	struct xv_sge from = at(0, 0, LENGTH), to = at(1, 0, LENGTH);

	rig_fill(buf[0], LENGTH, 1);
	xv_wr_recv(r.qp[1], 7, &to);
	xv_commit_recv(r.qp[1]);
	xv_wr_send(r.qp[0], 1, XV_SEND_SIGNALED, &from);
	ok(done(0, 1) && done(1, 7) && rig_check(buf[1], LENGTH, 1), "received data");
}

static void test_remote(void)
{
	struct xv_sge from = at(0, 0, LENGTH), to = at(0, LENGTH, LENGTH);
	struct xv_sge result = at(0, 2 * LENGTH, 8);
	uint64_t there = (uintptr_t)buf[1], value;

	xv_wr_write(r.qp[0], 2, XV_SEND_SIGNALED, &from, there + LENGTH, mr[1]->rkey);
	ok(done(0, 2) && rig_check(buf[1] + LENGTH, LENGTH, 1), "data that a peer has written");
	xv_wr_read(r.qp[0], 3, XV_SEND_SIGNALED, &to, there, mr[1]->rkey);
	ok(done(0, 3) && rig_check(buf[0] + LENGTH, LENGTH, 1), "data that was read");
	xv_wr_atomic_fa(r.qp[0], 4, XV_SEND_SIGNALED, &result, there, mr[1]->rkey, 1);
	memcpy(&value, buf[1], sizeof(value));
	ok(done(0, 4) && !memcmp(buf[0] + 2 * LENGTH, &value, sizeof(value)),
	   "the result of an atomic");
}

static void test_reregistered(void)
{
	uint8_t *old = buf[1];

	buf[1] = malloc(BYTES);
	if (xv_rereg_mr(mr[1], XV_REREG_MR_CHANGE_TRANSLATION, NULL, buf[1], BYTES, 0))
		bail_out("%s", xv_last_error());
	free(old);
	test_send();
}

/* A completion queue in memory of the program; the library sets only its owner bits. */
static void test_ring(void)
{
	struct xt_side *side = &r.side[0];
	uint8_t *mem = aligned_alloc(RING, 2 * RING);
	struct xv_umem *umem = xv_reg_umem(side->ctx, mem, 2 * RING);
	struct xv_cq_init_attr attr = { .cqe = 15, .external = { .ring_umem = umem,
		.dbr_umem = umem, .dbr_offset = RING } };
	struct xv_cq *cq = umem ? xv_create_cq(side->ctx, &attr) : NULL;
	struct xv_qp *qp;

	if (!cq)
		bail_out("%s", xv_last_error());
	qp = rig_write_to_self(side, cq, mr[0]);
	ok(rig_expect(cq, 1, XV_WC_SUCCESS), "a completion in memory of the program");
	ok(!xv_destroy_qp(qp) && !xv_destroy_cq(cq) && !xv_dereg_umem(umem), "it is given back");
	free(mem);
}

static void test_features(void)
{
	struct xv_feature list[64];
	int n = xv_query_features(r.side[0].ctx, list, ARRAY_SIZE(list)), i, named = 0;

	for (i = 0; i < n && i < (int)ARRAY_SIZE(list); i++)
		named += list[i].name[0] && (list[i].available || list[i].why_not[0]);
	ok(n > 0 && named == n, "the list of features");
}

int main(int argc, char **argv)
{
	static const struct rig_opts opts = { .size = 4096, .depth = 16 };

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	allocate(0);
	allocate(1);
	test_send();
	test_remote();
	test_reregistered();
	test_ring();
	test_features();
	ok(!xv_dereg_mr(mr[0]) && !xv_dereg_mr(mr[1]), "the regions are deregistered");
	rig_close(&r);
	free(buf[0]);
	free(buf[1]);
	return tap_done();
}
