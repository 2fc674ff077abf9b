// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport: the operations of initiators (DCI) and targets (DCT), one to
 * many, many to one, and the addresses of InfiniBand.
 */
#include "dc_pair.h"

#define TARGETS		1000
#define SOURCES		200
#define PART		70000u		/* bytes of a message of each source */

/* ---- Operations ------------------------------------------------------------------- */

static void test_send(void)
{
	const struct mlx5r_cqe *cqe;

	begin("send");
	ok(dct.dctn, "a DCT is created");
	receive(SMALL);
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_SUCCESS, "a send succeeds");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, SMALL), "its data arrives");
	cqe = completion(0);
	tap_is(be32_to_cpu(cqe->srqn_uidx), DC_USER_INDEX, "the receiver gets the user index");
	tap_is(be32_to_cpu(cqe->sop_drop_qpn), dct.dctn, "and the number of the DCT");
	tap_is(be32_to_cpu(cqe->byte_cnt), SMALL, "and the length");
	receive(LONG);
	tap_is(run_simple(MLX5R_OP_SEND, LONG), XV_WC_SUCCESS, "a message of several turns");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, LONG), "its data arrives");
	tap_is(receptions(), 2, "each has one completion");
	receive(SMALL);
	tap_is(run_simple(MLX5R_OP_SEND_IMM, 0), XV_WC_SUCCESS, "immediate data only");
	cqe = completion(2);
	tap_is(be32_to_cpu(cqe->imm_inval_pkey), IMM, "it arrives");
	tap_is(received(), MLX5R_CQE_RESP_SEND_IMM << 8, "and so does the opcode");
	end();
}

/* Data in the completion, as the context of the DCT asks for */
static void test_in_cqe(void)
{
	const struct mlx5r_cqe *cqe;

	begin("data in the completion");
	target(&dct)->cs_res = 1;
	memset(mr[1].ptr, 0, 64);
	receive(SMALL);
	tap_is(run_simple(MLX5R_OP_SEND, 20), XV_WC_SUCCESS, "a short send");
	cqe = completion(0);
	ok((cqe->op_own & MLX5R_CQE_FORMAT_MASK) == MLX5R_CQE_INLINE_32 &&
	   !memcmp(cqe, mr[0].ptr, 20) && !mr[1].ptr[0] && !mr[1].ptr[19],
	   "its data is in the completion");
	tap_is(be32_to_cpu(cqe->byte_cnt), 20, "and its length");
	receive(SMALL);
	tap_is(run_simple(MLX5R_OP_SEND, 33), XV_WC_SUCCESS, "a longer send");
	ok(!(completion(1)->op_own & MLX5R_CQE_FORMAT_MASK) &&
	   !memcmp(mr[1].ptr, mr[0].ptr, 33), "its data is in memory");
	end();
}

static void test_write_and_read(void)
{
	struct dc_wr wr;
	u32 i;

	begin("write and read");
	tap_is(run_simple(MLX5R_OP_RDMA_WRITE, LONG), XV_WC_SUCCESS, "a long write");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, LONG), "its data arrives");
	receive(SMALL);
	wr = request(MLX5R_OP_RDMA_WRITE_IMM, LONG);
	wr.raddr += LONG;
	tap_is(run(&wr), XV_WC_SUCCESS, "a long write with immediate data");
	ok(!memcmp(mr[0].ptr, mr[1].ptr + LONG, LONG), "its data arrives");
	tap_is(received(), MLX5R_CQE_RESP_WR_IMM << 8, "and takes a receive request");
	tap_is(be32_to_cpu(completion(0)->byte_cnt), LONG, "with the length");
	memset(mr[0].ptr, 0, LONG);
	tap_is(run_simple(MLX5R_OP_RDMA_READ, LONG), XV_WC_SUCCESS, "a long read");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, LONG), "its data arrives");

	wr = request(MLX5R_OP_RDMA_WRITE, 0);
	wr.nsge = 4;
	for (i = 0; i < 4; i++)
		wr.sge[i] = session_sge(&mr[0], 1000 * i, 300 + i);
	wr.raddr += 4 * LONG;
	tap_is(run(&wr), XV_WC_SUCCESS, "a write of four segments");
	for (i = 0, wr.raddr = 4 * LONG; i < 4; wr.raddr += 300 + i++)
		ok(!memcmp(mr[0].ptr + 1000 * i, mr[1].ptr + wr.raddr, 300 + i), "segment %u", i);
	end();
}

static void test_inline(void)
{
	static const char text[] = "The data of this request is in the send queue, not in memory.";
	struct dc_wr wr;

	begin("inline data");
	receive(LONG);
	wr = request(MLX5R_OP_SEND, 0);
	wr.data = text;
	wr.bytes = sizeof(text);
	tap_is(run(&wr), XV_WC_SUCCESS, "a send");
	ok(!memcmp(mr[1].ptr, text, sizeof(text)), "its data arrives");
	wr.opcode = MLX5R_OP_RDMA_WRITE;
	wr.raddr += SMALL;
	tap_is(run(&wr), XV_WC_SUCCESS, "a write");
	ok(!memcmp(mr[1].ptr + SMALL, text, sizeof(text)), "its data arrives");
	end();
}

static u64 atomic(u8 opcode, u8 opmod, u64 memory, u64 a, u64 b, u64 c, u64 d)
{
	struct dc_wr wr = request(opcode, 8);

	wr.opmod = opmod;
	wr.arg[0] = a;
	wr.arg[1] = b;
	wr.arg[2] = c;
	wr.arg[3] = d;
	*(u64 *)mr[1].ptr = memory;
	tap_is(run(&wr), XV_WC_SUCCESS, "atomic %#x succeeds", opcode);
	tap_is(*(u64 *)mr[0].ptr, memory, "it returns what was there");
	return *(u64 *)mr[1].ptr;
}

static void test_atomics(void)
{
	begin("atomics");
	tap_is(atomic(MLX5R_OP_ATOMIC_FA, 0, 40, 2, 0, 0, 0), 42, "fetch and add");
	tap_is(atomic(MLX5R_OP_ATOMIC_CS, 0, 42, 7, 42, 0, 0), 7, "compare and swap");
	tap_is(atomic(MLX5R_OP_ATOMIC_CS, 0, 42, 7, 41, 0, 0), 42, "no swap");
	tap_is(atomic(MLX5R_OP_ATOMIC_MASKED_CS, 9, 0x1234, 0xff, 0x34, 0xf, 0xff), 0x123f,
	       "masked compare and swap");
	tap_is(atomic(MLX5R_OP_ATOMIC_MASKED_FA, 9, 0x00ff, 0x0101, 0x80, 0, 0), 0x0100,
	       "masked fetch and add");
	end();
}

static void test_invalidate(void)
{
	struct session_mr window = session_mr(&s, 1, 4096, ALL_ACCESS);
	struct hca_mkey *mkey = hca_mkey_get(s.hca[1], window.key);
	struct dc_wr wr = request(MLX5R_OP_SEND_INVAL, SMALL);

	begin("send with invalidate");
	mkey->en_rinval = true;
	wr.imm = cpu_to_be32(window.key);
	receive(SMALL);
	tap_is(run(&wr), XV_WC_SUCCESS, "it succeeds");
	tap_is(received(), MLX5R_CQE_RESP_SEND_INV << 8, "and is received");
	ok(mkey->free, "the key is invalid");
	receive(SMALL);
	mkey->en_rinval = false;
	tap_is(run(&wr), XV_WC_REM_OP_ERR, "a key that must not be invalidated");
	tap_is(received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_LOCAL_QP_OP, "also an error there");
	reuse();
	end();
}

/* WAIT of a DCI: libraries put an address vector before it, or not. */
static void test_wait(void)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_av av;
		struct mlx5r_wait wait;
	} with = {};
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait wait;
	} without = {};

	begin("cross-channel");
	session_qp_destroy(&dci);
	s.cross = SESSION_MASTER;
	dc_initiator(&s, 0, 6, &dci);
	s.cross = 0;
	without.ctrl.opmod_idx_opcode = with.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_WAIT);
	without.ctrl.fm_ce_se = with.ctrl.fm_ce_se = MLX5R_CE_ALWAYS;
	without.ctrl.qpn_ds = cpu_to_be32(sizeof(without) / MLX5R_DS);
	with.ctrl.qpn_ds = cpu_to_be32(sizeof(with) / MLX5R_DS);
	without.wait.number = with.wait.number = cpu_to_be32(dci.cqn);
	with.wait.index = cpu_to_be32(1);
	with.av.dqp_dct = cpu_to_be32(MLX5R_AV_EXT);
	tap_is(run_simple(MLX5R_OP_RDMA_WRITE, SMALL), XV_WC_SUCCESS, "a first completion");
	xv_wr_raw(&dci.qp, 1, &without);
	xv_wr_raw(&dci.qp, 1, &with);
	xv_commit_send(&dci.qp);
	tap_is(next(&dci), XV_WC_SUCCESS, "a WAIT without an address vector");
	tap_is(next(&dci), XV_WC_SUCCESS, "a WAIT with one");
	end();
}

/* ---- Many ------------------------------------------------------------------------- */

/* One initiator sends to many targets, of both functions, in turn. */
static void test_many_targets(void)
{
	static struct dc_target to[TARGETS];
	struct session_qp local;
	struct dc_srq local_srq;
	u32 i, round, good = 0, data = 0;
	struct dc_wr wr;

	begin("one initiator, many targets");
	s.hca[1]->uncounted.rx_dct_connect = 0;
	session_qp(&s, 0, MLX5_QP_ST_RC, 8, 4, &local);
	local_srq = dc_srq(&s, 0);
	for (i = 0; i < TARGETS; i++) {
		to[i] = i % 4 ? dc_target(&s, 1, &srq, owner.cqn) :
				dc_target(&s, 0, &local_srq, local.cqn);
		good += !!to[i].dctn;
	}
	tap_is(good, TARGETS, "all are created");
	for (round = good = 0; round < 2; round++) {
		for (i = 0; i < TARGETS; i++) {
			struct session_mr *into = &mr[!!(i % 4)];
			u64 at = LONG + i * 1024ull;
			struct xv_sge room = session_sge(into, at, 1000);

			*(u32 *)mr[0].ptr = round << 16 | i;
			wr = request(MLX5R_OP_SEND, 1000);
			dc_receive(&s, i % 4 ? &srq : &local_srq, &room);
			dc_build(&dci, &to[i], &wr);
			xv_commit_send(&dci.qp);
			good += next(&dci) == XV_WC_SUCCESS;
			data += !memcmp(into->ptr + at, mr[0].ptr, 1000);
			/* Nobody polls these CQs. */
			owner.cq.dbrec[MLX5R_DBR_CQ_CI] = cpu_to_be32(receptions() & 0xffffff);
			local.cq.dbrec[MLX5R_DBR_CQ_CI] = cpu_to_be32(round * TARGETS + i);
		}
	}
	tap_is(good, 2 * TARGETS, "each gets two messages");
	tap_is(data, 2 * TARGETS, "with the right data");
	tap_is(s.hca[1]->uncounted.rx_dct_connect, 2 * TARGETS * 3 / 4, "connections are counted");
	for (i = 0, good = 0; i < TARGETS; i++)
		good += !dc_simple(&s, !!(i % 4), MLX5_CMD_OP_DRAIN_DCT, to[i].dctn) &&
			!dc_simple(&s, !!(i % 4), MLX5_CMD_OP_DESTROY_DCT, to[i].dctn);
	tap_is(good, TARGETS, "all are destroyed");
	session_qp_destroy(&local);
	end();
}

/* Messages of many initiators to one target are in progress at the same time. */
static void test_many_sources(void)
{
	static struct session_qp from[SOURCES];
	static bool seen[SOURCES];
	u32 i, busy = 0, most = 0, good = 0, data = 0;
	struct hca_qp *qp;
	struct dc_wr wr;

	begin("many initiators, one target");
	fill(mr[0].ptr, LONG, 2);
	for (i = 0; i < SOURCES; i++) {
		struct xv_sge room = session_sge(&mr[1], i * PART, PART);

		dc_receive(&s, &srq, &room);
		dc_initiator(&s, 0, 2, &from[i]);
		wr = request(MLX5R_OP_SEND_IMM, PART);
		wr.sge[0].addr += 64 * i;
		wr.imm = cpu_to_be32(i);
		dc_build(&from[i], &dct, &wr);
		xv_commit_send(&from[i].qp);
	}
	while (good < SOURCES && receptions() < 2 * SOURCES) {
		hca_fabric_poll(&s.fabric);
		busy = 0;
		list_for_each_entry(qp, &target(&dct)->dct.sources, target_entry)
			busy++;
		most = busy > most ? busy : most;
		good = receptions();
	}
	ok(most > 1, "%u messages were in progress at the same time", most);
	for (i = 0; i < SOURCES; i++) {
		const struct mlx5r_cqe *cqe = completion(i);
		u32 n = be32_to_cpu(cqe->imm_inval_pkey), at = be16_to_cpu(cqe->wqe_counter);

		if (cqe->op_own >> 4 != MLX5R_CQE_RESP_SEND_IMM || n >= SOURCES || seen[n])
			continue;
		seen[n] = true;
		data += !memcmp(mr[1].ptr + at * PART, mr[0].ptr + 64 * n, PART);
	}
	tap_is(data, SOURCES, "each message arrives once, with its data");
	for (i = 0, good = 0; i < SOURCES; i++) {
		good += next(&from[i]) == XV_WC_SUCCESS;
		qp = hca_qp_get(s.hca[0], from[i].qp.qp_num);
		good -= qp->target || qp->recv_srq;
		session_qp_destroy(&from[i]);
	}
	tap_is(good, SOURCES, "and each sender succeeds");
	end();
}

/* ---- InfiniBand --------------------------------------------------------------------- */

static void test_infiniband(void)
{
	struct dc_wr wr = request(MLX5R_OP_SEND, SMALL);

	begin("InfiniBand");
	receive(LONG);
	tap_is(run(&wr), XV_WC_SUCCESS, "an address vector of 48 bytes");
	receive(LONG);
	wr.base_av = true;
	tap_is(run(&wr), XV_WC_SUCCESS, "an address vector of 16 bytes");
	wr = request(MLX5R_OP_RDMA_WRITE, LONG);
	wr.base_av = true;
	tap_is(run(&wr), XV_WC_SUCCESS, "a long write with the short address");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, LONG), "its data arrives");
	dct.ah.av.rlid = cpu_to_be16(s.hca[1]->port[1].lid);
	tap_is(run(&wr), XV_WC_RETRY_EXC_ERR, "the other port of the function");
	end();
}

int main(void)
{
	session_init(&s);
	start(MR_BYTES);
	test_send();
	test_in_cqe();
	test_write_and_read();
	test_inline();
	test_atomics();
	test_invalidate();
	test_wait();
	test_many_targets();
	test_many_sources();
	ok(session_turns_bounded(&s), "no turn was too long");
	session_free(&s);

	session_init_ib(&s, 2);
	events_read = 0;
	start(LONG);
	test_infiniband();
	session_free(&s);
	return tap_done();
}
