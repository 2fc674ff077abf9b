// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport (appendix A): an initiator of side 0 and several targets of both
 * sides.
 */
#include <fcntl.h>
#include "rig.h"

#define KEY	0x0123456789abcdefull
#define TARGETS	8
#define SIZE	3000u

static struct ibv_cq *send_cq, *recv_cq[2];
static struct ibv_srq *srq[2];
static struct ibv_ah *ah[2];		/* from side 0 to each */
static struct ibv_exp_dct *dct[TARGETS];
static struct ibv_qp *dci;

static uint64_t key_of(int i)
{
	return KEY + (uint64_t)i;
}

/* Targets are on both sides, in turn. */
static int side_of(int i)
{
	return (i + 1) % 2;
}

/* ---- Objects ----------------------------------------------------------------------------- */

static struct ibv_exp_dct_init_attr target_attr(int i)
{
	int s = side_of(i);

	return (struct ibv_exp_dct_init_attr) {
		.pd = side[s].pd, .cq = recv_cq[s], .srq = srq[s], .dc_key = key_of(i), .port = 1,
		.access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_ATOMIC,
		.min_rnr_timer = 2, .tclass = 4, .flow_label = 5, .mtu = IBV_MTU_1024,
		.gid_index = (uint8_t)side[s].gid_index, .hop_limit = 64,
	};
}

static struct ibv_qp *make_dci(void)
{
	struct ibv_exp_qp_init_attr attr = {
		.qp_type = IBV_EXP_QPT_DC_INI, .send_cq = send_cq, .recv_cq = send_cq,
		.pd = side[0].pd, .comp_mask = IBV_EXP_QP_INIT_ATTR_PD,
		.cap = { .max_send_wr = 32, .max_send_sge = 2, .max_inline_data = 64 },
	};

	return ibv_exp_create_qp(side[0].ctx, &attr);
}

/* The transitions of the table in section A.1.7 */
static int start_dci(void)
{
	struct ibv_exp_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1, .dct_key = KEY };

	if (ibv_exp_modify_qp(dci, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_PKEY_INDEX |
			      IBV_EXP_QP_PORT | IBV_EXP_QP_DC_KEY))
		return -1;
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.ah_attr = side[1].address;
	a.ah_attr.grh.sgid_index = (uint8_t)side[0].gid_index;
	if (ibv_exp_modify_qp(dci, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_AV | IBV_EXP_QP_PATH_MTU))
		return -2;
	a.qp_state = IBV_QPS_RTS;
	a.timeout = 10;
	a.retry_cnt = 2;
	a.rnr_retry = 2;
	a.max_rd_atomic = 4;
	return ibv_exp_modify_qp(dci, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_TIMEOUT |
				 IBV_EXP_QP_RETRY_CNT | IBV_EXP_QP_RNR_RETRY |
				 IBV_EXP_QP_MAX_QP_RD_ATOMIC) ? -3 : 0;
}

static void restart_dci(void)
{
	struct ibv_exp_qp_attr a = { .qp_state = IBV_QPS_RESET };

	need(!ibv_exp_modify_qp(dci, &a, IBV_EXP_QP_STATE) && !start_dci(), "the DCI again");
}

static void make_objects(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 64, .max_sge = 1 } };
	int i;

	send_cq = make_cq(0, 0);
	for (i = 0; i < 2; i++) {
		struct ibv_ah_attr to = side[i].address;

		to.grh.sgid_index = (uint8_t)side[0].gid_index;
		recv_cq[i] = make_cq(i, 0);
		srq[i] = ibv_create_srq(side[i].pd, &attr);
		ah[i] = ibv_create_ah(side[0].pd, &to);
		need(srq[i] && ah[i], "SRQ and address handle");
	}
	for (i = 0; i < TARGETS; i++) {
		struct ibv_exp_dct_init_attr a = target_attr(i);

		dct[i] = ibv_exp_create_dct(side[side_of(i)].ctx, &a);
		need(dct[i] != NULL, "ibv_exp_create_dct");
	}
	dci = make_dci();
	ok(dci && dci->qp_num && dci->qp_type == IBV_EXP_QPT_DC_INI, "a DCI");
	tap_is(start_dci(), 0, "its states as the manual has them");
	ok(dci->state == IBV_QPS_RTS, "it is in RTS");
}

static void destroy_objects(void)
{
	int i, bad = 0;

	for (i = 0; i < TARGETS; i++)
		bad |= ibv_exp_destroy_dct(dct[i]);
	bad |= ibv_destroy_qp(dci) || ibv_destroy_cq(send_cq);
	for (i = 0; i < 2; i++)
		bad |= ibv_destroy_ah(ah[i]) || ibv_destroy_srq(srq[i]) ||
		       ibv_destroy_cq(recv_cq[i]);
	ok(!bad, "all objects are destroyed");
}

/* ---- Requests ---------------------------------------------------------------------------- */

static struct ibv_exp_send_wr request(int i, enum ibv_exp_wr_opcode opcode, struct ibv_sge *sge)
{
	return (struct ibv_exp_send_wr) {
		.wr_id = 100 + (uint64_t)i, .sg_list = sge, .num_sge = 1, .exp_opcode = opcode,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.dc = { ah[side_of(i)], key_of(i), dct[i]->dct_num },
	};
}

static int run_dc(struct ibv_exp_send_wr *wr)
{
	return post(dci, wr) ? -1 : status(send_cq);
}

static void receive_at(int i, size_t offset)
{
	int s = side_of(i);
	struct ibv_sge sge = piece(s, offset, SIZE);
	struct ibv_recv_wr wr = { .wr_id = offset, .sg_list = &sge, .num_sge = 1 }, *bad;

	need(!ibv_post_srq_recv(srq[s], &wr, &bad), "ibv_post_srq_recv");
}

static uint64_t offset_of(int i)
{
	return (1u << 20) + (uint64_t)i * 4096;
}

static void test_sends(void)
{
	int i, good = 0, named = 0;

	for (i = 0; i < TARGETS; i++) {
		struct ibv_sge sge = piece(0, 0, SIZE);
		struct ibv_exp_send_wr wr = request(i, IBV_EXP_WR_SEND_WITH_IMM, &sge);
		struct ibv_exp_wc wc = { .wr_id = 0 };

		wr.ex.imm_data = (uint32_t)(0x5500 + i);
		fill(side[0].mem, SIZE, (uint32_t)i);
		receive_at(i, offset_of(i));
		good += run_dc(&wr) == IBV_WC_SUCCESS && complete(recv_cq[side_of(i)], &wc) &&
			wc.status == IBV_WC_SUCCESS && wc.byte_len == SIZE &&
			!memcmp(side[0].mem, (void *)at(side_of(i), offset_of(i)), SIZE);
		named += wc.qp_num == dct[i]->dct_num && wc.wr_id == offset_of(i) &&
			 wc.exp_opcode == IBV_EXP_WC_RECV && wc.dct == dct[i] &&
			 wc.srq == srq[side_of(i)] && !wc.qp &&
			 !(wc.exp_wc_flags & IBV_EXP_WC_QP) &&
			 wc.exp_wc_flags & IBV_EXP_WC_SRQ && wc.exp_wc_flags & IBV_EXP_WC_DCT &&
			 wc.exp_wc_flags & IBV_EXP_WC_WITH_IMM &&
			 wc.imm_data == (uint32_t)(0x5500 + i);
	}
	tap_is(good, TARGETS, "one DCI sends to several DCTs");
	tap_is(named, TARGETS, "each completion names its DCT and SRQ and has the immediate data");
}

static void test_rdma(void)
{
	int i, writes = 0, reads = 0;

	for (i = 0; i < TARGETS; i++) {
		int s = side_of(i);
		struct ibv_sge sge = piece(0, 0, SIZE);
		struct ibv_exp_send_wr wr = request(i, IBV_EXP_WR_RDMA_WRITE, &sge);

		fill(side[0].mem, SIZE, 77u + (uint32_t)i);
		wr.wr.rdma.remote_addr = at(s, offset_of(i));
		wr.wr.rdma.rkey = side[s].mr->rkey;
		writes += run_dc(&wr) == IBV_WC_SUCCESS &&
			  !memcmp(side[0].mem, (void *)at(s, offset_of(i)), SIZE);
		sge = piece(0, 8192, SIZE);
		wr.exp_opcode = IBV_EXP_WR_RDMA_READ;
		memset(side[0].mem + 8192, 0, SIZE);
		reads += run_dc(&wr) == IBV_WC_SUCCESS &&
			 !memcmp(side[0].mem + 8192, side[0].mem, SIZE);
	}
	tap_is(writes, TARGETS, "writes to each DCT");
	tap_is(reads, TARGETS, "reads from each DCT");
}

static void test_atomics_and_inline(void)
{
	uint64_t *there = (void *)side[1].mem, *here = (void *)side[0].mem;
	struct ibv_sge sge = piece(0, 0, 8);
	struct ibv_exp_send_wr wr = request(0, IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, &sge);

	*there = 40;
	wr.wr.atomic.remote_addr = at(1, 0);
	wr.wr.atomic.rkey = side[1].mr->rkey;
	wr.wr.atomic.compare_add = 2;
	ok(run_dc(&wr) == IBV_WC_SUCCESS && *here == 40 && *there == 42, "fetch and add");
	wr.exp_opcode = IBV_EXP_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 7;
	ok(run_dc(&wr) == IBV_WC_SUCCESS && *here == 42 && *there == 7, "compare and swap");
	fill(side[0].mem, 60, 9);
	sge = (struct ibv_sge) { at(0, 0), 60, 0 };
	wr = request(0, IBV_EXP_WR_RDMA_WRITE, &sge);
	wr.exp_send_flags |= IBV_EXP_SEND_INLINE;
	wr.wr.rdma.remote_addr = at(1, 64);
	wr.wr.rdma.rkey = side[1].mr->rkey;
	ok(run_dc(&wr) == IBV_WC_SUCCESS && !memcmp(side[1].mem + 64, side[0].mem, 60),
	   "inline data");
}

/* ---- Queries ----------------------------------------------------------------------------- */

static void test_queries(void)
{
	struct ibv_exp_device_attr dev = attributes(side[0].ctx);
	const uint32_t bits = IBV_EXP_DEVICE_DC_RD_REQ | IBV_EXP_DEVICE_DC_RD_RES |
			      IBV_EXP_DEVICE_ATTR_MAX_DCT;
	struct ibv_exp_dct_init_attr want = target_attr(0);
	struct ibv_exp_dct_attr a = { .comp_mask = 0 };
	struct ibv_exp_qp_init_attr init;
	struct ibv_exp_qp_attr qa;

	ok((dev.comp_mask & bits) == bits && dev.max_dct >= TARGETS &&
	   dev.max_dc_req_rd_atom > 0 && dev.max_dc_res_rd_atom > 0, "limits of the device");
	ok(!ibv_exp_query_dct(dct[0], &a), "a DCT is queried");
	ok(a.dc_key == want.dc_key && a.port == 1 && a.access_flags == want.access_flags &&
	   a.min_rnr_timer == 2 && a.tclass == 4 && a.flow_label == 5 && a.mtu == IBV_MTU_1024 &&
	   a.pkey_index == 0 && a.gid_index == want.gid_index && a.hop_limit == 64,
	   "it has the attributes of its creation");
	ok(a.state == IBV_EXP_DCT_STATE_ACTIVE && a.pd == want.pd && a.cq == want.cq &&
	   a.srq == want.srq && !a.key_violations, "state, objects, no key violation");
	ok(dct[0]->context == side[side_of(0)].ctx && dct[0]->pd == want.pd &&
	   dct[0]->cq == want.cq && dct[0]->srq == want.srq, "members of struct ibv_exp_dct");
	ok(!ibv_exp_query_qp(dci, &qa, IBV_EXP_QP_STATE, &init) && qa.qp_state == IBV_QPS_RTS &&
	   qa.retry_cnt == 2 && qa.timeout == 10 && init.qp_type == IBV_EXP_QPT_DC_INI &&
	   init.cap.max_send_wr >= 32 && init.pd == side[0].pd, "the DCI is queried");
}

/* ---- Key violations ----------------------------------------------------------------------- */

static int wrong_key(int i)
{
	struct ibv_sge sge = piece(0, 0, 64);
	struct ibv_exp_send_wr wr = request(i, IBV_EXP_WR_SEND, &sge);
	int err;

	wr.dc.dct_access_key++;
	err = run_dc(&wr);
	restart_dci();
	return err;
}

/* The next event of the type for the DCT within a few seconds */
static bool event_of(const struct ibv_exp_dct *want, int type, double seconds)
{
	double until = now() + seconds;
	struct ibv_async_event e;

	while (now() < until) {
		if (ibv_get_async_event(want->context, &e))
			continue;
		ibv_ack_async_event(&e);
		if ((int)e.event_type == type && e.element.dct == want)
			return true;
		diag("event %d", (int)e.event_type);
	}
	return false;
}

static void test_key_violation(void)
{
	const int violation = IBV_EXP_EVENT_DCT_KEY_VIOLATION;
	struct ibv_exp_dct_attr a = { .comp_mask = 0 };
	struct ibv_exp_arm_attr arm = { .comp_mask = 0 };
	int fd = dct[0]->context->async_fd;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	ok(!ibv_exp_arm_dct(dct[0], &arm), "arm");
	ok(wrong_key(0) == IBV_WC_RETRY_EXC_ERR, "a request with a wrong key fails");
	ok(event_of(dct[0], violation, 10), "the event names the DCT");
	ok(!ibv_exp_query_dct(dct[0], &a) && a.key_violations > 0 &&
	   a.state == IBV_EXP_DCT_STATE_ACTIVE, "%u key violations", a.key_violations);
	wrong_key(0);
	ok(!event_of(dct[0], violation, 0.3), "no event while it is not armed again");
	ok(!ibv_exp_arm_dct(dct[0], &arm), "arm again");
	wrong_key(0);
	ok(event_of(dct[0], violation, 10), "the event comes again");
}

/* Programs that have no GID on IB give -1. */
static void test_no_gid(void)
{
	struct ibv_exp_dct_init_attr a = target_attr(0);
	struct ibv_exp_dct *target;

	a.gid_index = (uint8_t)-1;
	target = ibv_exp_create_dct(side[side_of(0)].ctx, &a);
	if (side[0].address.is_global)
		ok(!target && errno == ENOENT, "RoCE: a target needs a GID");
	else
		ok(target && !ibv_exp_destroy_dct(target), "IB: a target without a GID");
}

/* ---- Errors ------------------------------------------------------------------------------- */

static void test_refusals(void)
{
	struct ibv_exp_dct_init_attr a = target_attr(0);
	struct ibv_exp_dct_attr query = { .comp_mask = 1 };
	struct ibv_exp_arm_attr arm = { .comp_mask = 1 };
	struct ibv_context *ctx = side[side_of(0)].ctx;

	a.comp_mask = 1;
	ok(!ibv_exp_create_dct(ctx, &a) && errno == EINVAL, "create: comp_mask");
	a = target_attr(0);
	a.create_flags = IBV_EXP_DCT_CREATE_FLAGS_MASK + 1;
	ok(!ibv_exp_create_dct(ctx, &a) && errno == EINVAL, "create: create_flags");
	a.create_flags = IBV_EXP_DCT_OOO_RW_DATA_PLACEMENT;
	ok(!ibv_exp_create_dct(ctx, &a) && errno == EOPNOTSUPP, "create: data out of order");
	a = target_attr(0);
	a.srq = NULL;
	ok(!ibv_exp_create_dct(ctx, &a) && errno, "create: no SRQ");
	a = target_attr(0);
	a.port = 77;
	ok(!ibv_exp_create_dct(ctx, &a) && errno, "create: port");
	ok(ibv_exp_query_dct(dct[0], &query) == EINVAL, "query: comp_mask");
	ok(ibv_exp_arm_dct(dct[0], &arm) == EINVAL, "arm: comp_mask");
}

static void test_wrong_requests(void)
{
	struct ibv_sge sge = piece(0, 0, 64);
	struct ibv_exp_send_wr wr = request(0, IBV_EXP_WR_SEND, &sge);
	struct ibv_send_wr plain = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 }, *bad;

	wr.dc.ah = NULL;
	ok(post(dci, &wr) == EINVAL, "no address handle");
	wr = request(0, IBV_EXP_WR_UMR_INVALIDATE, &sge);
	ok(post(dci, &wr) == EINVAL, "UMR without a key");
	ok(ibv_post_send(dci, &plain, &bad) == EINVAL && bad == &plain,
	   "ibv_post_send() has no target");
	wr = request(0, IBV_EXP_WR_RDMA_READ, &sge);
	wr.wr.rdma.remote_addr = at(1, 0);
	wr.wr.rdma.rkey = side[1].mr->rkey ^ 0x100;
	ok(run_dc(&wr) == IBV_WC_REM_ACCESS_ERR, "a wrong rkey");
	ok(event_of(dct[0], IBV_EXP_EVENT_DCT_ACCESS_ERR, 10), "the DCT has an event");
	restart_dci();
}

int main(int argc, char **argv)
{
	open_sides(argc, argv);
	if (!(attributes(side[0].ctx).exp_device_cap_flags & IBV_EXP_DEVICE_DC_TRANSPORT))
		tap_skip_all("the device has no DC");
	make_objects();
	test_queries();
	test_sends();
	test_rdma();
	test_atomics_and_inline();
	test_key_violation();
	test_no_gid();
	test_refusals();
	test_wrong_requests();
	destroy_objects();
	close_sides();
	return tap_done();
}
