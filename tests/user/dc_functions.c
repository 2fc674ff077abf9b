// SPDX-License-Identifier: GPL-2.0
/*
 * One DC initiator and a target on each of three or more functions, its own among them.  Each
 * message goes to another function than the one before.
 */
#include "rig.h"

enum { MOST = 16, ROUNDS = 40, BYTES = 3000, KEY = 77, SIZE = 16384 };

static struct end {
	struct xt_side s;
	struct xv_cq *cq;
	struct xv_srq *srq;
	struct xv_dct *dct;
	struct xv_mr *mr;
	struct xv_dc to;		/* the target in requests of the initiator */
} end[MOST];

static uint32_t ends;
static struct xv_cq *send_cq;
static struct xv_qp *dci;

static void must(bool good)
{
	if (!good)
		bail_out("%s", xv_last_error());
}

static void open_end(struct end *e, const char *device)
{
	const uint32_t access = XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ;
	struct xv_cq_init_attr cq = { .cqe = 16 };
	struct xv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 } };

	must(!xt_side_open(&e->s, device, 1, -1));
	must((e->cq = xv_create_cq(e->s.ctx, &cq)));
	must((e->srq = xv_create_srq(e->s.pd, &srq)));
	must((e->mr = xt_mr_alloc(&e->s, SIZE, XV_ACCESS_LOCAL_WRITE | access)));
	must((e->dct = xt_dct_create(&e->s, e->cq, e->srq, KEY + ends, access)));
	ends++;
}

static void open_ends(void)
{
	struct xv_device **list = xv_get_device_list(NULL);
	int i;

	must(list);
	for (i = 0; list[i] && ends < MOST; i++)
		if (list[i]->available)
			open_end(&end[ends], list[i]->name);
	xv_free_device_list(list);
	if (ends < 3)
		bail_out("there are %u devices, the test needs three", ends);
}

static void open_initiator(void)
{
	struct xv_cq_init_attr cq = { .cqe = 16 };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_DCI, .cap = { .max_send_wr = MOST, .max_send_sge = 1 },
	};
	uint32_t i;

	must((send_cq = xv_create_cq(end[0].s.ctx, &cq)));
	attr.send_cq = send_cq;
	must((dci = xv_create_qp(end[0].s.pd, &attr)) && !xt_dci_start(dci, &end[0].s, NULL));
	for (i = 0; i < ends; i++) {
		struct xt_peer peer = { .lid = end[i].s.attr.lid, .gid = end[i].s.gid };

		end[i].to = (struct xv_dc) { .dct_access_key = KEY + i,
					     .dct_number = end[i].dct->dct_num };
		must((end[i].to.ah = xt_ah_create(&end[0].s, &peer)));
	}
}

/* The first half of the memory of function 0 has the data, the second half is what it receives. */
static bool send_to(struct end *e, uint32_t seed)
{
	uint8_t *from = end[0].mr->addr, *into = (uint8_t *)e->mr->addr + SIZE / 2;
	struct xv_sge sge = { (uintptr_t)from, BYTES, end[0].mr->lkey };
	struct xv_sge there = { (uintptr_t)into, BYTES, e->mr->lkey };
	struct xv_recv_wr wr = { .wr_id = seed, .sg_list = &there, .num_sge = 1 }, *bad;
	struct xv_wc wc;

	rig_fill(from, BYTES, seed);
	must(!xv_post_srq_recv(e->srq, &wr, &bad));
	must(!xv_wr_send_imm_dc(dci, seed, XV_SEND_SIGNALED, &sge, xv_be32(seed), &e->to));
	xv_commit_send(dci);
	return rig_expect(send_cq, seed, XV_WC_SUCCESS) && rig_poll(e->cq, 1, &wc) == 1 &&
	       !wc.status && wc.wr_id == seed && wc.imm_data == xv_be32(seed) &&
	       wc.qp_num == e->dct->dct_num && rig_check(into, BYTES, seed);
}

/* Posts requests to all functions at once. */
static bool write_to_all(uint32_t seed)
{
	uint8_t *from = end[0].mr->addr;
	struct xv_sge sge = { (uintptr_t)from, BYTES, end[0].mr->lkey };
	uint32_t i;
	bool good;

	rig_fill(from, BYTES, seed);
	for (i = 0; i < ends; i++)
		must(!xv_wr_write_dc(dci, i, i + 1 == ends ? XV_SEND_SIGNALED : 0, &sge,
				     (uintptr_t)end[i].mr->addr + SIZE / 2, end[i].mr->rkey,
				     &end[i].to));
	xv_commit_send(dci);
	good = rig_expect(send_cq, ends - 1, XV_WC_SUCCESS);
	for (i = 0; i < ends; i++)
		good = good && rig_check((uint8_t *)end[i].mr->addr + SIZE / 2, BYTES, seed);
	return good;
}

int main(void)
{
	uint32_t i, round, sends = 0, writes = 0;

	open_ends();
	open_initiator();
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < ends; i++)
			sends += send_to(&end[i], round * ends + i);
		writes += write_to_all(1000 + round);
	}
	tap_is(sends, ROUNDS * ends, "messages of one initiator to %u functions in turn", ends);
	tap_is(writes, ROUNDS, "writes to %u functions, posted at once", ends);
	must(!xv_destroy_qp(dci));
	for (i = 0; i < ends; i++) {
		xv_destroy_ah(end[i].to.ah);
		must(!xv_destroy_dct(end[i].dct) && !xv_destroy_srq(end[i].srq));
	}
	return tap_done();
}
