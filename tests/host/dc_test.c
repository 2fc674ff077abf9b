// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport: initiators (DCI) and targets (DCT), their messages, errors,
 * access keys, and the end of a target.
 */
#include <stdlib.h>
#include <string.h>
#include "dc.h"
#include "tap.h"

#define ALL_ACCESS (MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RR | \
		    MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A)
#define MR_BYTES	(16u << 20)
#define LONG		(1u << 20)	/* takes several turns */
#define SMALL		64u
#define IMM		0x01020304u
#define TARGETS		1000
#define SOURCES		200
#define PART		70000u		/* bytes of a message of each source */
#define NONE		(~0u)

static struct session s;
static struct session_mr mr[2];		/* of function 0, the sender, and of function 1 */
static struct session_qp dci, owner;	/* @owner: only for the CQ of the targets */
static struct dc_srq srq;
static struct dc_target dct;
static u32 events_read;

/* ---- Helpers ---------------------------------------------------------------------- */

static struct hca_cq *target_cq(void)
{
	return hca_table_get(&s.hca[1]->cqs, owner.cqn);
}

/* Completion @i of the targets */
static const struct mlx5r_cqe *completion(u32 i)
{
	return hca_buf_at(&target_cq()->buf, (i & owner.cq.mask) * 64ull);
}

static u32 receptions(void)
{
	return target_cq()->pi;
}

/* Opcode << 8 | syndrome of the last completion of the targets; taken from the CQ */
static u32 received(void)
{
	const struct mlx5r_err_cqe *e = (const void *)completion(receptions() - 1);
	u8 op = e->op_own >> 4;

	return op << 8 | (op == MLX5R_CQE_RESP_ERR ? e->syndrome : 0);
}

static struct hca_qp *target(const struct dc_target *t)
{
	return hca_dct_get(s.hca[1], t->dctn);
}

static struct hca_qp *source(void)
{
	return hca_qp_get(s.hca[0], dci.qp.qp_num);
}

static void fill(u8 *at, u32 bytes, u32 seed)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		at[i] = (i * 2654435761u + seed) >> 13;
}

/* The EQ of function 1 gets all asynchronous events but those of commands. */
static void subscribe(void)
{
	struct hca_eq *eq = hca_table_get(&s.hca[1]->eqs, s.eqn[1]);
	unsigned int type;

	for (type = 1; type < ARRAY_SIZE(s.hca[1]->async_eq); type++)
		if (type != MLX5_EVENT_TYPE_CMD)
			s.hca[1]->async_eq[type] = eq;
}

/* The next event of function 1, as type << 24 | number; 0: none */
static u32 event(void)
{
	struct hca_eq *eq = hca_table_get(&s.hca[1]->eqs, s.eqn[1]);
	u8 *e = hca_buf_at(&eq->buf, (events_read & 63) * 64ull);
	__be32 number;

	if (events_read == eq->pi)
		return 0;
	eq->ci = ++events_read;
	memcpy(&number, e + 0x38, sizeof(number));
	return e[1] << 24 | (be32_to_cpu(number) & 0xffffff);
}

static u32 event_of_dct(u8 type)
{
	return type << 24 | dct.dctn;
}

/* The next status of @q; NONE: no completion, and no timer is set */
static u32 next(struct session_qp *q)
{
	struct xv_wc wc;
	int idle = 0;

	while (idle < 1000) {
		if (xv_poll_cq(&q->cq, 1, &wc))
			return wc.status;
		idle = hca_fabric_poll(&s.fabric) ||
		       hca_fabric_deadline(&s.fabric) != U64_MAX ? 0 : idle + 1;
	}
	return NONE;
}

static struct dc_wr request(u8 opcode, u32 bytes)
{
	return (struct dc_wr) {
		.opcode = opcode, .fm_ce_se = MLX5R_CE_ALWAYS, .nsge = !!bytes,
		.sge = { session_sge(&mr[0], 0, bytes) }, .raddr = mr[1].addr, .rkey = mr[1].key,
		.imm = cpu_to_be32(IMM),
	};
}

static void post(const struct dc_wr *wr)
{
	if (dc_build(&dci, &dct, wr))
		ok(0, "the send queue has room");
	xv_commit_send(&dci.qp);
}

static u32 run(const struct dc_wr *wr)
{
	post(wr);
	return next(&dci);
}

static u32 run_simple(u8 opcode, u32 bytes)
{
	struct dc_wr wr = request(opcode, bytes);

	return run(&wr);
}

static void receive(u32 bytes)
{
	struct xv_sge sge = session_sge(&mr[1], 0, bytes);

	dc_receive(&s, &srq, &sge);
}

/* Runs the adapter until a part of a message has been executed. */
static void run_first_turn(void)
{
	while (!source()->in_message)
		hca_fabric_poll(&s.fabric);
}

static void begin(const char *what)
{
	printf("# %s\n", what);
	dc_initiator(&s, 0, 6, &dci);
	session_qp(&s, 1, MLX5_QP_ST_RC, 8, 4, &owner);
	srq = dc_srq(&s, 1);
	dct = dc_target(&s, 1, &srq, owner.cqn);
	fill(mr[0].ptr, LONG, 1);
	memset(mr[1].ptr, 0, LONG);
}

static u8 destroy(const struct dc_target *t)
{
	return dc_simple(&s, 1, MLX5_CMD_OP_DRAIN_DCT, t->dctn) ||
	       dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_DCT, t->dctn);
}

static void end(void)
{
	if (target(&dct))
		tap_is(destroy(&dct), 0, "the DCT is destroyed");
	session_qp_destroy(&dci);
	session_qp_destroy(&owner);
	while (event())
		;
}

/* The DCI has failed: after RESET it sends again, and the DCT still receives. */
static void reuse(void)
{
	tap_is(source()->state, MLX5_QP_STATE_ERR, "the DCI is in ERR");
	ok(!source()->target && !source()->recv_srq, "it holds nothing of the DCT");
	tap_is(session_qp_modify(&dci, MLX5_CMD_OP_2RST_QP, NULL), 0, "RESET");
	dci.qp.sq.pi = dci.qp.sq.ci = 0;
	dci.qp.sq.limit = 0;
	dci.qp.sq.dbrec[MLX5R_DBR_SND] = 0;
	session_connect(&dci, &dci);
	receive(SMALL);
	tap_is(run_simple(MLX5R_OP_SEND, SMALL), XV_WC_SUCCESS, "then the DCI sends again");
	tap_is(received(), MLX5R_CQE_RESP_SEND << 8, "and the DCT receives");
}

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

/* ---- Errors ------------------------------------------------------------------------ */

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
	refused(request(MLX5R_OP_RDMA_WRITE, SMALL), XV_WC_REM_ACCESS_ERR,
		MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, "a DCT without remote write");
	refused(request(MLX5R_OP_RDMA_READ, SMALL), XV_WC_REM_ACCESS_ERR,
		MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, "a DCT without remote read");
	refused(request(MLX5R_OP_ATOMIC_FA, 8), XV_WC_REM_ACCESS_ERR,
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

/* The function of the DCT is reset in the middle of a message, and that of the DCI. */
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
	tap_is(session_cq_destroy(&owner), MLX5_CMD_STAT_RES_BUSY, "its CQ is in use");

	memset(in, 0, sizeof(in));
	dc_fill(&s, 1, in, &srq, owner.cqn);
	dc_command(&s, 1, MLX5_CMD_OP_QUERY_DCT, dct.dctn, out, sizeof(out));
	ok(!memcmp(dctc, MLX5_ADDR_OF(create_dct_in, in, dct_context_entry),
		   MLX5_ST_SZ_BYTES(dctc)), "QUERY_DCT returns the context as set");
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

static void start(u32 bytes)
{
	mr[0] = session_mr(&s, 0, bytes, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, bytes, ALL_ACCESS);
	subscribe();
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
	test_key();
	test_rnr();
	test_other_gid();
	test_no_target();
	test_neighbour();
	test_access();
	test_receive_errors();
	test_source_fails();
	test_ring_changes();
	test_drain();
	test_drain_ends();
	test_overrun();
	test_commands();
	test_reset();
	ok(session_turns_bounded(&s), "no turn was too long");
	session_free(&s);

	session_init_ib(&s, 2);
	events_read = 0;
	start(LONG);
	test_infiniband();
	session_free(&s);
	return tap_done();
}
