// SPDX-License-Identifier: GPL-2.0
/*
 * Targets of the dynamically connected transport: their commands, draining, a CQ overrun, and the
 * reset of a function.
 */
#include "dc_pair.h"

/* ---- The end of a target ------------------------------------------------------------ */

static u8 dct_state(void)
{
	u32 out[MLX5_ST_SZ_DW(query_dct_out)];

	dc_command(&s, 1, MLX5_CMD_OP_QUERY_DCT, dct.dctn, out, sizeof(out));
	return MLX5_GET(query_dct_out, out, dct_context_entry.state);
}

static void test_drain(void)
{
	struct dc_wr wr = request(MLX5R_OP_SEND, LONG);
	struct session_qp late;

	begin("drain");
	tap_is(dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_DCT, dct.dctn), MLX5_CMD_STAT_BAD_RES_STATE_ERR,
	       "an active DCT cannot be destroyed");
	dc_initiator(&s, 0, 2, &late);
	receive(LONG);
	receive(LONG);
	post(&wr);
	run_first_turn();
	tap_is(dct_state(), HCA_DCT_ACTIVE, "a message is in progress");
	tap_is(dc_simple(&s, 1, MLX5_CMD_OP_DRAIN_DCT, dct.dctn), 0, "DRAIN_DCT");
	tap_is(dct_state(), HCA_DCT_DRAINING, "the DCT drains");
	tap_is(dc_simple(&s, 1, MLX5_CMD_OP_DRAIN_DCT, dct.dctn), MLX5_CMD_STAT_BAD_RES_STATE_ERR,
	       "it cannot drain twice");
	tap_is(dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_DCT, dct.dctn), MLX5_CMD_STAT_BAD_RES_STATE_ERR,
	       "nor be destroyed");
	dc_build(&late, &dct, &wr);
	xv_commit_send(&late.qp);
	ok(!event(), "no event yet");
	tap_is(next(&dci), XV_WC_SUCCESS, "the message in progress completes");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, LONG), "with its data");
	session_settle(&s);
	tap_is(event(), event_of_dct(MLX5_EVENT_TYPE_DCT_DRAINED), "then the event comes");
	tap_is(dct_state(), HCA_DCT_DRAINED, "the DCT is drained");
	tap_is(next(&late), XV_WC_RETRY_EXC_ERR, "a later message gets no answer");
	tap_is(receptions(), 1, "and takes no receive request");
	tap_is(dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_DCT, dct.dctn), 0, "it can be destroyed");
	session_qp_destroy(&late);
	end();
}

/* A sender that does not go on does not hold the DCT for ever. */
static void test_drain_ends(void)
{
	struct dc_wr wr = request(MLX5R_OP_SEND, LONG);
	u32 e = 0;

	begin("drain with a sender that does not continue");
	receive(LONG);
	post(&wr);
	run_first_turn();
	hca_dma_enable(s.hca[0], false);
	tap_is(dc_simple(&s, 1, MLX5_CMD_OP_DRAIN_DCT, dct.dctn), 0, "DRAIN_DCT");
	while (!e && hca_fabric_deadline(&s.fabric) != U64_MAX) {
		hca_fabric_poll(&s.fabric);
		e = event();
	}
	tap_is(e, event_of_dct(MLX5_EVENT_TYPE_DCT_DRAINED), "the event comes");
	tap_is(received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_REMOTE_ABORTED,
	       "the receive request is completed");
	hca_dma_enable(s.hca[0], true);
	tap_is(next(&dci), XV_WC_RETRY_EXC_ERR, "the sender gets no answer");
	tap_is(dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_DCT, dct.dctn), 0, "DESTROY_DCT");
	end();
}

/* In the middle of a message, first the function of the DCT is reset, then that of the DCI. */
static void test_reset(void)
{
	struct dc_wr wr = request(MLX5R_OP_SEND, LONG);
	const struct mlx5r_cqe *first;
	u8 unwritten;

	begin("reset of a function");
	receive(LONG);
	post(&wr);
	run_first_turn();
	first = completion(0);
	unwritten = first->op_own;
	hca_reset(s.hca[1]);
	ok(!source()->target && !source()->recv_srq, "the sender holds nothing");
	tap_is(next(&dci), XV_WC_RETRY_EXC_ERR, "and gets no answer");
	tap_is(first->op_own, unwritten, "nothing is written to memory of the function");
	session_restart(&s, 1);
	session_qp_destroy(&dci);
	session_qp_destroy(&owner);

	mr[1] = session_mr(&s, 1, LONG, ALL_ACCESS);
	subscribe();
	events_read = 0;
	begin("reset of the other function");
	receive(LONG);
	post(&wr);
	run_first_turn();
	session_restart(&s, 0);
	tap_is(received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_REMOTE_ABORTED,
	       "the receiver sees that the message was aborted");
	ok(list_empty(&target(&dct)->dct.sources), "no message is in progress");
	end();
}

/* The CQ of a DCT overruns: the DCT does not answer any more, but can be destroyed. */
static void test_overrun(void)
{
	u32 i, status = XV_WC_SUCCESS;

	begin("overrun of the receiver's CQ");
	for (i = 0; i <= owner.cq.mask + 1 && !status; i++) {
		receive(SMALL);
		status = run_simple(MLX5R_OP_SEND, SMALL);
	}
	session_settle(&s);
	tap_is(event() >> 24, MLX5_EVENT_TYPE_CQ_ERROR, "the CQ has an error");
	tap_is(event(), event_of_dct(MLX5_EVENT_TYPE_WQ_CATAS_ERROR), "and so has the DCT");
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_RETRY_EXC_ERR, "it does not answer");
	end();
}

/* ---- Commands ----------------------------------------------------------------------- */

#define REFUSE(field, value, synd) do {							\
	u32 in_[MLX5_ST_SZ_DW(create_dct_in)] = {};					\
	u32 out_[MLX5_ST_SZ_DW(create_dct_out)] = {};					\
	dc_fill(&s, 1, in_, &srq, owner.cqn);						\
	MLX5_SET(create_dct_in, in_, dct_context_entry.field, value);			\
	session_cmd(&s, 1, in_, sizeof(in_), out_, sizeof(out_));			\
	tap_is(MLX5_GET(create_dct_out, out_, syndrome), HCA_SYND_##synd,		\
	       "CREATE_DCT: " #field);							\
} while (0)

static void test_ece(void)
{
	u32 in[MLX5_ST_SZ_DW(create_dct_in)] = {}, out[MLX5_ST_SZ_DW(query_dct_out)] = {};
	u32 dctn, version = 1u << 28;

	begin("options for connections");
	dc_fill(&s, 1, in, &srq, owner.cqn);
	MLX5_SET(create_dct_in, in, dct_context_entry.ece, version | 7);
	session_cmd(&s, 1, in, sizeof(in), out, sizeof(out));
	tap_is(MLX5_GET(create_dct_out, out, ece), version, "version 1 is granted, no options");
	dctn = MLX5_GET(create_dct_out, out, dctn);
	dc_command(&s, 1, MLX5_CMD_OP_QUERY_DCT, dctn, out, sizeof(out));
	tap_is(MLX5_GET(query_dct_out, out, dct_context_entry.ece), version, "a query agrees");
	dc_command(&s, 1, MLX5_CMD_OP_DRAIN_DCT, dctn, out, sizeof(out));
	dc_command(&s, 1, MLX5_CMD_OP_DESTROY_DCT, dctn, out, sizeof(out));
	tap_is(MLX5_GET(query_dct_out, out, syndrome), 0, "the DCT ends");
	end();
}

static void test_commands(void)
{
	static const u16 numbered[] = {
		MLX5_CMD_OP_DESTROY_DCT, MLX5_CMD_OP_DRAIN_DCT, MLX5_CMD_OP_QUERY_DCT,
		MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION,
	};
	u32 in[MLX5_ST_SZ_DW(create_dct_in)] = {}, out[MLX5_ST_SZ_DW(query_dct_out)];
	void *dctc = MLX5_ADDR_OF(query_dct_out, out, dct_context_entry);
	unsigned int i;

	begin("commands");
	REFUSE(pd, 0x777, PD);
	REFUSE(srqn_xrqn, 0x777, SRQ);
	REFUSE(cqn, 0x777, CQ);
	REFUSE(mtu, 0, QP_MTU);
	REFUSE(mtu, 6, QP_MTU);
	REFUSE(port, 0, QP_PORT);
	REFUSE(port, 2, QP_PORT);
	REFUSE(pkey_index, HCA_PKEYS, QP_PKEY);
	REFUSE(my_addr_index, HCA_GIDS, QP_GID);
	REFUSE(atomic_mode, 9, QP_ATOMIC);
	REFUSE(atomic_like_write_en, 1, DCT_FIELD);
	REFUSE(counter_set_id, 9, COUNTER);
	for (i = 0; i < ARRAY_SIZE(numbered); i++) {
		dc_command(&s, 1, numbered[i], owner.qp.qp_num, out, sizeof(out));
		tap_is(MLX5_GET(query_dct_out, out, syndrome), HCA_SYND_DCT,
		       "%s of a queue pair", hca_opcode_find(numbered[i])->name);
	}
	MLX5_SET(destroy_qp_in, in, opcode, MLX5_CMD_OP_DESTROY_QP);
	MLX5_SET(destroy_qp_in, in, qpn, dct.dctn);
	session_cmd(&s, 1, in, MLX5_ST_SZ_BYTES(destroy_qp_in), out, sizeof(out));
	tap_is(MLX5_GET(query_dct_out, out, syndrome), HCA_SYND_QP, "DESTROY_QP of a DCT");
	tap_is(session_cq_destroy(&owner), MLX5_CMD_STAT_BAD_RES_STATE_ERR, "its CQ is in use");

	memset(in, 0, sizeof(in));
	dc_fill(&s, 1, in, &srq, owner.cqn);
	dc_command(&s, 1, MLX5_CMD_OP_QUERY_DCT, dct.dctn, out, sizeof(out));
	ok(!memcmp(dctc, MLX5_ADDR_OF(create_dct_in, in, dct_context_entry),
		   MLX5_ST_SZ_BYTES(dctc)), "QUERY_DCT returns the context as set");
	end();
}

int main(void)
{
	session_init(&s);
	start(MR_BYTES);
	test_drain();
	test_drain_ends();
	test_overrun();
	test_commands();
	test_ece();
	test_reset();
	ok(session_turns_bounded(&s), "no turn was too long");
	session_free(&s);
	return tap_done();
}
