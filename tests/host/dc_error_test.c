// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of the dynamically connected transport: wrong keys, no target, no receive request,
 * access rights, and a message that ends in the middle.
 */
#include "dc_pair.h"

static void test_key(void)
{
	u32 out[MLX5_ST_SZ_DW(query_dct_out)];
	struct dc_target right;

	begin("access key");
	right = dct;
	receive(SMALL);
	dct.key ^= 1ull << 63;
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RETRY_EXC_ERR, "a wrong key gets no answer");
	/* The session's queues retry twice. */
	tap_is(target(&dct)->dct.violations, 3, "each attempt is counted");
	ok(!event(), "without an event");
	tap_is(receptions(), 0, "and is not received");
	dct = right;
	reuse();
	dct.key ^= 1;
	tap_is(dc_simple(&s, 1, MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION, dct.dctn), 0,
	       "the DCT is armed");
	tap_is(run_simple(MLX5R_OP_RDMA_WRITE, SMALL), XV_WC_RETRY_EXC_ERR, "another wrong key");
	session_settle(&s);
	tap_is(event(), event_of_dct(MLX5_EVENT_TYPE_DCT_KEY_VIOLATION), "raises an event");
	ok(!event(), "one only");
	dct = right;
	reuse();
	tap_is(dc_command(&s, 1, MLX5_CMD_OP_QUERY_DCT, dct.dctn, out, sizeof(out)), 0,
	       "QUERY_DCT");
	tap_is(MLX5_GET(query_dct_out, out, dct_context_entry.dc_access_key_violation_count), 6,
	       "reports the violations");
	end();
}

static void test_rnr(void)
{
	begin("receiver not ready");
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RNR_RETRY_EXC_ERR, "no receive is posted");
	reuse();
	post(&(struct dc_wr) { .opcode = MLX5R_OP_SEND, .fm_ce_se = MLX5R_CE_ALWAYS });
	while (hca_fabric_deadline(&s.fabric) == U64_MAX)
		hca_fabric_poll(&s.fabric);
	receive(SMALL);
	tap_is(next(&dci), XV_WC_SUCCESS, "a receive before the retry is in time");
	end();
}

/* With rdma_cm, UCX sends to another GID of the port than that of the target. */
static void test_other_gid(void)
{
	begin("another GID of the port");
	receive(SMALL);
	target(&dct)->path.sgid_index = 1;
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_SUCCESS, "the target receives");
	target(&dct)->path.sgid_index = 0;
	end();
}

static void test_no_target(void)
{
	struct dc_target there;

	begin("no target");
	there = dct;
	receive(SMALL);
	dct.dctn = 0xfffff0;
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RETRY_EXC_ERR, "no such number");
	dct = there;
	reuse();
	dct.dctn = owner.qp.qp_num;
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RETRY_EXC_ERR, "the number of a queue pair");
	dct = there;
	reuse();
	dct.ah = dc_ah(&s, 0);
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RETRY_EXC_ERR, "another function");
	dct = there;
	reuse();
	s.hca[1]->port[0].pkey ^= 1;
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RETRY_EXC_ERR, "another partition");
	ok(s.hca[1]->port[0].pkey_violations, "the port of the target counts it");
	s.hca[1]->port[0].pkey ^= 1;
	reuse();
	hca_port_set(&s.hca[1]->port[0], false);
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RETRY_EXC_ERR, "the link is down");
	hca_port_set(&s.hca[1]->port[0], true);
	session_settle(&s);
	while (event())
		;
	reuse();
	tap_is(destroy(&dct), 0, "the DCT is destroyed");
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RETRY_EXC_ERR, "and does not answer");
	tap_is(event(), event_of_dct(MLX5_EVENT_TYPE_DCT_DRAINED), "an event says that it drained");
	ok(!event(), "there is no other");
	end();
}

/* A DCI whose target does not answer waits; others do not. */
static void test_neighbour(void)
{
	struct dc_wr wr = request(MLX5R_OP_RDMA_WRITE, SMALL);
	struct session_qp other;
	struct xv_wc wc;
	u32 i, passes = 0, done = 0;

	begin("neighbour of a DCI that waits");
	dc_initiator(&s, 0, 6, &other);
	dct.key ^= 1;
	post(&wr);
	while (hca_fabric_deadline(&s.fabric) == U64_MAX)
		hca_fabric_poll(&s.fabric);
	dct.key ^= 1;
	for (i = 0; i < 16; i++)
		dc_build(&other, &dct, &wr);
	xv_commit_send(&other.qp);
	for (; done < 16 && passes < 100; passes++) {
		hca_fabric_poll(&s.fabric);
		done += xv_poll_cq(&other.cq, 1, &wc);
		done += xv_poll_cq(&other.cq, 1, &wc);
	}
	tap_is(done, 16, "requests of another DCI to the same DCT complete in %u passes", passes);
	tap_is(next(&dci), XV_WC_RETRY_EXC_ERR, "before the DCI that waits fails");
	reuse();
	session_qp_destroy(&other);
	end();
}

/* A refused request: the status of the sender, and the event at the DCT, which is not changed */
static void refused(struct dc_wr wr, u32 status, u8 type, const char *what)
{
	tap_is(run(&wr), status, "%s", what);
	session_settle(&s);
	tap_is(event(), type ? event_of_dct(type) : 0, "the event of the DCT");
	reuse();
}

static void test_access(void)
{
	struct hca_qp *t;
	struct dc_wr wr;

	begin("access rights");
	t = target(&dct);
	wr = request(MLX5R_OP_RDMA_WRITE, SMALL);
	wr.rkey ^= 0x100;
	refused(wr, XV_WC_REM_ACCESS_ERR, MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, "a wrong rkey");
	wr = request(MLX5R_OP_RDMA_READ, SMALL);
	wr.raddr += MR_BYTES;
	refused(wr, XV_WC_REM_ACCESS_ERR, MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, "beyond the region");
	t->rwe = t->rre = t->rae = false;
	refused(request(MLX5R_OP_RDMA_WRITE, SMALL), XV_WC_REM_INV_REQ_ERR,
		MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, "a DCT without remote write");
	refused(request(MLX5R_OP_RDMA_READ, SMALL), XV_WC_REM_INV_REQ_ERR,
		MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, "a DCT without remote read");
	refused(request(MLX5R_OP_ATOMIC_FA, 8), XV_WC_REM_INV_REQ_ERR,
		MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, "a DCT without remote atomics");
	t->rwe = t->rre = t->rae = true;
	wr = request(MLX5R_OP_ATOMIC_FA, 8);
	wr.raddr += 4;
	refused(wr, XV_WC_REM_INV_REQ_ERR, MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR,
		"an atomic that is not aligned");
	wr = request(MLX5R_OP_RDMA_WRITE, SMALL);
	wr.sge[0].lkey ^= 0x100;
	refused(wr, XV_WC_LOC_PROT_ERR, 0, "a wrong lkey");
	wr = request(MLX5R_OP_RDMA_READ, SMALL);
	wr.data = mr[0].ptr;
	refused(wr, XV_WC_LOC_QP_OP_ERR, 0, "a read with inline data");
	end();
}

static void test_receive_errors(void)
{
	struct xv_sge sge;

	begin("errors of receive requests");
	receive(SMALL);
	tap_is(run_simple(MLX5R_OP_SEND, SMALL + 1), XV_WC_REM_INV_REQ_ERR, "a message too long");
	tap_is(received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_LOCAL_LENGTH,
	       "an error there, too");
	reuse();
	sge = session_sge(&mr[1], 0, LONG);
	sge.lkey ^= 0x100;
	dc_receive(&s, &srq, &sge);
	tap_is(run_simple(MLX5R_OP_SEND, LONG), XV_WC_REM_OP_ERR, "a receive with a wrong key");
	tap_is(received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_LOCAL_PROT, "an error there, too");
	reuse();
	end();
}

/* The sender fails in the middle of a message: its receive request is not lost. */
static void test_source_fails(void)
{
	struct dc_wr wr = request(MLX5R_OP_SEND, LONG);

	begin("a sender that fails in a message");
	receive(LONG);
	post(&wr);
	run_first_turn();
	ok(source()->recv_srq && source()->target == target(&dct), "the message is in progress");
	session_qp_modify(&dci, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(next(&dci), XV_WC_WR_FLUSH_ERR, "2ERR flushes it");
	tap_is(received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_REMOTE_ABORTED,
	       "the receiver sees that it was aborted");
	reuse();
	receive(LONG);
	post(&wr);
	run_first_turn();
	session_qp_destroy(&dci);
	tap_is(received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_REMOTE_ABORTED,
	       "so it does if the DCI is destroyed");
	tap_is(receptions(), 3, "no receive request is lost");
	dc_initiator(&s, 0, 6, &dci);
	end();
}

/* Software may write to its ring at any time. */
static void test_ring_changes(void)
{
	struct dc_wr wr = request(MLX5R_OP_SEND, LONG);
	struct dc_target other;
	struct mlx5r_av *av;

	begin("the target of a message in progress changes");
	other = dc_target(&s, 1, &srq, owner.cqn);
	receive(LONG);
	receive(LONG);
	post(&wr);
	run_first_turn();
	av = (void *)(dci.qp.sq.buf + MLX5R_DS);
	av->dqp_dct = cpu_to_be32(MLX5R_AV_EXT | other.dctn);
	tap_is(next(&dci), XV_WC_RETRY_EXC_ERR, "another DCT does not get the rest");
	tap_is(receptions(), 1, "one receive request is used");
	tap_is(received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_REMOTE_ABORTED,
	       "that of the first");
	reuse();
	destroy(&other);
	end();
}

int main(void)
{
	session_init(&s);
	start(MR_BYTES);
	test_key();
	test_rnr();
	test_other_gid();
	test_no_target();
	test_neighbour();
	test_access();
	test_receive_errors();
	test_source_fails();
	test_ring_changes();
	ok(session_turns_bounded(&s), "no turn was too long");
	session_free(&s);
	return tap_done();
}
