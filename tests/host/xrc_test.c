// SPDX-License-Identifier: GPL-2.0
/*
 * XRC: a target QP uses many shared receive queues, which can be destroyed while it exists. It
 * must not use a receive request of a queue that is destroyed.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define MR_BYTES	(1u << 20)
#define SMALL		64u
#define NONE		(~0u)

static struct session s;
static struct session_mr mr[2];
static struct session_qp from, to, owner;	/* @owner: only for its CQ */

static struct hca_qp *target(void)
{
	return hca_qp_get(s.hca[1], to.qp.qp_num);
}

static struct hca_srq *find(const struct session_srq *srq)
{
	return hca_table_get(&s.hca[1]->srqs, srq->srqn);
}

static u32 completions(const struct session_qp *q)
{
	struct hca_cq *cq = hca_table_get(&s.hca[q->func]->cqs, q->cqn);

	return cq->pi;
}

static const struct mlx5r_err_cqe *last_cqe(const struct session_qp *q)
{
	struct hca_cq *cq = hca_table_get(&s.hca[q->func]->cqs, q->cqn);

	return hca_buf_at(&cq->buf, ((cq->pi - 1) & q->cq.mask) * 64ull);
}

static u32 last_index(const struct session_qp *q)
{
	return be16_to_cpu(last_cqe(q)->wqe_counter);
}

/* Opcode << 8 | syndrome of the last completion of @q */
static u32 last(const struct session_qp *q)
{
	const struct mlx5r_err_cqe *e = last_cqe(q);

	return (e->op_own >> 4) << 8 | (e->op_own >> 4 == MLX5R_CQE_RESP_ERR ? e->syndrome : 0);
}

static void send(const struct session_srq *srq, u32 bytes, u32 key_flaw)
{
	struct xv_sge sge = session_sge(&mr[0], 0, bytes);

	sge.lkey ^= key_flaw;
	xv_wr_send_xrc(&from.qp, 1, XV_SEND_SIGNALED, &sge, srq->srqn);
	xv_commit_send(&from.qp);
}

/* Status of the request; NONE: not complete */
static u32 status(void)
{
	struct xv_wc wc;

	return xv_poll_cq(&from.cq, 1, &wc) ? wc.status : NONE;
}

static void begin(void)
{
	session_qp(&s, 0, MLX5_QP_ST_XRC, 4, 4, &from);
	session_qp(&s, 1, MLX5_QP_ST_XRC, 4, 4, &to);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &owner);
	session_connect(&from, &to);
}

static void end(void)
{
	session_qp_destroy(&from);
	session_qp_destroy(&to);
	session_qp_destroy(&owner);
}

/* Destroys @srq; returns a new queue, with another CQ, that has the same number. */
static struct session_srq reuse(const struct session_srq *srq)
{
	struct session_srq next, first;

	tap_is(session_xrc_srq_destroy(&s, 1, srq), 0, "the queue can be destroyed");
	for (first = next = session_xrc_srq(&owner, srq); next.srqn != srq->srqn;
	     next = session_xrc_srq(&owner, &first))
		session_xrc_srq_destroy(&s, 1, &next);
	return next;
}

static void post(struct session_srq *srq, u32 bytes)
{
	struct xv_sge sge = session_sge(&mr[1], 0, bytes);

	session_srq_post(&s, srq, &sge);
}

static void test_messages(void)
{
	struct session_srq srq;

	begin();
	srq = session_xrc_srq(&to, NULL);
	post(&srq, SMALL);
	post(&srq, MR_BYTES);
	send(&srq, SMALL, 0);
	session_settle(&s);
	tap_is(status(), XV_WC_SUCCESS, "a short message");
	send(&srq, MR_BYTES, 0);
	session_settle(&s);
	tap_is(status(), XV_WC_SUCCESS, "a message that takes several turns");
	ok(completions(&to) == 2 && find(&srq)->taken == 2, "each has taken one receive request");
	ok(!memcmp(mr[0].ptr, mr[1].ptr, MR_BYTES), "the data is right");
	send(&srq, SMALL, 0);
	hca_fabric_poll(&s.fabric);
	tap_is(status(), NONE, "a message without a receive request waits");
	end();
}

/* SEND with invalidate: the key belongs to the PD of the SRQ; the target has a PD of its own. */
static void test_invalidate(void)
{
	struct session_mr key = session_mr(&s, 1, 4096, ALL_ACCESS);
	struct hca_mkey *mkey = hca_mkey_get(s.hca[1], key.key);
	struct xv_sge sge = session_sge(&mr[0], 0, SMALL);
	struct session_srq srq;
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_xrc xrc;
		struct mlx5r_data data;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_SEND_INVAL),
		.ctrl.qpn_ds = cpu_to_be32(3),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.ctrl.imm = cpu_to_be32(key.key),
		.data.byte_count = cpu_to_be32(SMALL),
		.data.lkey = cpu_to_be32(sge.lkey),
		.data.addr = cpu_to_be64(sge.addr),
	};

	begin();
	srq = session_xrc_srq(&to, NULL);
	w.xrc.srqn = cpu_to_be32(srq.srqn);
	post(&srq, SMALL);
	target()->pd++;
	mkey->en_rinval = true;
	xv_wr_raw(&from.qp, 1, &w);
	xv_commit_send(&from.qp);
	session_settle(&s);
	tap_is(status(), XV_WC_SUCCESS, "a message that invalidates a key of the queue's PD");
	ok(mkey->free, "the key is invalid");
	target()->pd--;
	end();
}

enum { WRITE, READ, ATOMIC, EMPTY_WRITE, EMPTY_READ, KINDS };

/* Posts a request that takes no receive request; returns its status. */
static u32 access(u32 kind, u32 srqn)
{
	bool empty = kind == EMPTY_WRITE || kind == EMPTY_READ;
	struct xv_sge sge = session_sge(&mr[0], 0, empty ? 0 : 8);
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_xrc xrc;
		struct mlx5r_raddr raddr;
		struct mlx5r_atomic args;
		struct mlx5r_data data;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_ATOMIC_FA),
		.ctrl.qpn_ds = cpu_to_be32(sizeof(w) / MLX5R_DS),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.xrc.srqn = cpu_to_be32(srqn),
		.raddr = { cpu_to_be64(mr[1].addr), cpu_to_be32(mr[1].key) },
		.data = { cpu_to_be32(8), cpu_to_be32(sge.lkey), cpu_to_be64(sge.addr) },
	};

	switch (kind) {
	case WRITE:
	case EMPTY_WRITE:
		xv_wr_write_xrc(&from.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key, srqn);
		break;
	case READ:
	case EMPTY_READ:
		xv_wr_read_xrc(&from.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr, mr[1].key, srqn);
		break;
	default:
		xv_wr_raw(&from.qp, 1, &w);
	}
	xv_commit_send(&from.qp);
	session_settle(&s);
	return status();
}

/* Each request names an SRQ of the domain of the target, also one that takes no receive. */
static void test_srq_number(void)
{
	struct session_srq srq;
	u32 kind;

	for (kind = 0; kind < KINDS; kind++) {
		begin();
		srq = session_xrc_srq(&to, NULL);
		memset(mr[1].ptr, 0xee, 8);
		tap_is(access(kind, srq.srqn), XV_WC_SUCCESS, "request %u names its SRQ", kind);
		memset(mr[1].ptr, 0xee, 8);
		find(&srq)->xrcd++;
		tap_is(access(kind, srq.srqn), XV_WC_REM_INV_REQ_ERR,
		       "request %u names an SRQ of another domain", kind);
		find(&srq)->xrcd--;
		ok(target()->state == MLX5_QP_STATE_ERR && mr[1].ptr[0] == 0xee,
		   "the target fails, and nothing is written");
		end();
		begin();
		tap_is(access(kind, 0xabcdef), XV_WC_REM_INV_REQ_ERR,
		       "request %u names no SRQ", kind);
		end();
	}
}

/* If the CQ of an SRQ overruns, the SRQ fails: no message is lost that was acknowledged. */
static void test_cq_overrun(void)
{
	struct session_qp from2, to2;
	struct xv_sge sge = session_sge(&mr[0], 0, SMALL);
	struct session_srq srq;
	struct hca_cq *cq;
	struct xv_wc wc;

	begin();
	session_qp(&s, 0, MLX5_QP_ST_XRC, 4, 4, &from2);
	session_qp(&s, 1, MLX5_QP_ST_XRC, 4, 4, &to2);
	session_connect(&from2, &to2);
	srq = session_xrc_srq(&owner, NULL);
	post(&srq, SMALL);
	post(&srq, SMALL);
	cq = hca_table_get(&s.hca[1]->cqs, owner.cqn);
	cq->ci = cq->pi - (1u << cq->log_size);
	cq->dbr[MLX5R_DBR_CQ_CI] = cpu_to_be32(cq->ci & MLX5R_CQ_INDEX_MASK);
	send(&srq, SMALL, 0);
	session_settle(&s);
	status();
	ok(cq->overrun && find(&srq)->error, "the CQ of an SRQ overruns: the SRQ fails");
	tap_is(target()->state, MLX5_QP_STATE_ERR, "the target of the message fails");
	cq->dbr[MLX5R_DBR_CQ_CI] = cpu_to_be32(cq->pi & MLX5R_CQ_INDEX_MASK);
	xv_wr_send_xrc(&from2.qp, 1, XV_SEND_SIGNALED, &sge, srq.srqn);
	xv_commit_send(&from2.qp);
	session_settle(&s);
	ok(xv_poll_cq(&from2.cq, 1, &wc) == 1 && wc.status == XV_WC_REM_OP_ERR,
	   "a message of another target to the SRQ fails");
	session_qp_destroy(&from2);
	session_qp_destroy(&to2);
	end();
}

/* A message whose data cannot be read takes no receive request. */
static void test_bad_source(void)
{
	struct session_srq srq, other;

	begin();
	srq = session_xrc_srq(&to, NULL);
	post(&srq, SMALL);
	send(&srq, SMALL, 0x100000);
	session_settle(&s);
	tap_is(status(), XV_WC_LOC_PROT_ERR, "a message with a bad key fails");
	tap_is(find(&srq)->taken, 0, "it takes no receive request");
	other = reuse(&srq);
	session_qp_modify(&to, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(completions(&owner), 0, "the new queue with this number: no completion");
	tap_is(find(&other)->taken, 0, "the new queue keeps its requests");
	end();
}

/* Runs the adapter until a message has taken a receive request; it needs more turns. */
static void begin_message(const struct session_srq *srq)
{
	u32 i;

	for (i = 0; i < 100 && !find(srq)->taken; i++)
		hca_fabric_poll(&s.fabric);
}

/* The queue is destroyed between two turns of a message. */
static void test_queue_gone(bool again)
{
	struct session_srq srq, other;

	begin();
	srq = session_xrc_srq(&to, NULL);
	post(&srq, MR_BYTES);
	send(&srq, MR_BYTES, 0);
	begin_message(&srq);
	tap_is(status(), NONE, "a message is not complete");
	tap_is(find(&srq)->taken, 1, "it has taken a receive request");
	other = reuse(&srq);
	if (again) {
		post(&other, MR_BYTES);
		session_settle(&s);
		tap_is(status(), XV_WC_REM_INV_REQ_ERR, "the message fails");
	}
	session_qp_modify(&to, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(completions(&owner), 0, "the new queue with this number: no completion");
	tap_is(find(&other)->taken, 0, "the new queue keeps its requests");
	end();
}

static void test_flush(void)
{
	struct session_srq srq;

	begin();
	srq = session_xrc_srq(&to, NULL);
	post(&srq, MR_BYTES);
	send(&srq, MR_BYTES, 0);
	begin_message(&srq);
	session_qp_modify(&to, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(completions(&to), 1, "ERR during a message completes the receive request");
	tap_is(last(&to), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_WR_FLUSH, "its status is flushed");
	session_qp_modify(&to, MLX5_CMD_OP_2RST_QP, NULL);
	ok(!target()->recv_srq, "RESET releases the shared receive queue");
	end();
}

/* More messages than the ring has entries: completions have indices of the ring. */
static void test_held_index(void)
{
	struct session_srq srq;
	struct hca_cq *cq;
	u32 i;

	begin();
	srq = session_xrc_srq(&to, NULL);
	cq = hca_table_get(&s.hca[1]->cqs, to.cqn);
	for (i = 0; i < 20; i++) {
		post(&srq, SMALL);
		send(&srq, SMALL, 0);
		session_settle(&s);
		status();
		cq->dbr[MLX5R_DBR_CQ_CI] = cpu_to_be32(cq->pi);
	}
	post(&srq, MR_BYTES);
	send(&srq, MR_BYTES, 0);
	for (i = 0; i < 100 && find(&srq)->taken < 21; i++)
		hca_fabric_poll(&s.fabric);
	session_qp_modify(&to, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(last(&to), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_WR_FLUSH, "a message is flushed");
	tap_is(last_index(&to), 20 % 16, "its completion has the index of the request");
	end();
}

int main(void)
{
	u32 i;

	session_init(&s);
	mr[0] = session_mr(&s, 0, MR_BYTES, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, MR_BYTES, ALL_ACCESS);
	for (i = 0; i < MR_BYTES; i++)
		mr[0].ptr[i] = i * 7 ^ i >> 8;
	test_messages();
	test_invalidate();
	test_srq_number();
	test_cq_overrun();
	test_held_index();
	test_bad_source();
	test_queue_gone(false);
	test_queue_gone(true);
	test_flush();
	session_free(&s);
	return tap_done();
}
