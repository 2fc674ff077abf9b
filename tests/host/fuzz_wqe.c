// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the execution of work requests in a valid session.
 *
 * The input is a list of requests: messages on an RC connection or from a DCI to a DCT,
 * datagrams, UMRs, calculations, cross-channel, masked atomics.  Data may come in the completion.
 * The entries of CQs have 128 bytes if the size of the input is odd.  Segments and mkeys are valid
 * or almost valid.  A model predicts the status of each request and the content of memory; all
 * bytes are compared.  A request may also be damaged at any byte: then the model predicts only
 * that memory outside the regions does not change.
 */
#include <string.h>
#include "dc.h"
#include "model.h"

#define INLINE_BYTES	200u

enum op {
	WRITE, READ, FETCH_ADD, COMPARE_SWAP, WRITE_INLINE, WRITE_IMM, SEND, SEND_IMM,
	SEND_INVAL, SEND_INLINE, UMR, DATAGRAM, CALC, CROSS, MASKED, NOPS
};

static u8 inline_data[INLINE_BYTES] = "data in the request itself";

/* The result of a request on both sides */
struct outcome {
	int sender, receiver;
	u32 bytes;			/* received */
};

static bool is_atomic(enum op op)
{
	return op == FETCH_ADD || op == COMPARE_SWAP;
}

static bool is_send(enum op op)
{
	return op == SEND || op == SEND_IMM || op == SEND_INVAL || op == SEND_INLINE;
}

static bool is_inline(enum op op)
{
	return op == WRITE_INLINE || op == SEND_INLINE;
}

static u32 length(const struct action *t)
{
	if (is_atomic(t->op))
		return 8;
	return t->len % (is_inline(t->op) ? INLINE_BYTES : REGION_BYTES + 16);
}

/* ---- The model --------------------------------------------------------------------- */

static int predict_atomic(const struct action *t, struct model_seg local, struct model_seg remote)
{
	struct model_seg old = { .data = (u8[8]) {} };
	u64 n = 8, value;
	u8 *mem;

	if (remote.addr % 8)
		return XV_WC_REM_INV_REQ_ERR;
	remote.access = MLX5R_MKEY_ACCESS_A;
	mem = model_at(&remote, &n);
	/* An indirect key can split a word or map it to an unaligned address. */
	if (!mem || n < 8 || (uintptr_t)mem % 8)
		return XV_WC_REM_ACCESS_ERR;
	if (!model_allows(&local, 8))
		return XV_WC_LOC_PROT_ERR;
	memcpy(old.data, mem, 8);
	memcpy(&value, mem, 8);
	if (t->op == FETCH_ADD)
		value += t->arg[0];
	else if (value == t->arg[1])
		value = t->arg[0];
	memcpy(mem, &value, 8);
	return model_copy(local, old, 8) ? XV_WC_LOC_PROT_ERR : XV_WC_SUCCESS;
}

/* Returns the status; the error depends on the side whose memory was invalid. */
static int predict_copy(struct model_seg to, struct model_seg from, u32 len, int from_failed,
			int to_failed)
{
	const int status[] = {
		[MODEL_OK] = XV_WC_SUCCESS, [MODEL_FROM] = from_failed, [MODEL_TO] = to_failed,
	};

	return status[model_copy(to, from, len)];
}

static int predict_write(struct model_seg local, struct model_seg remote, u32 len)
{
	return predict_copy(remote, local, len, XV_WC_LOC_PROT_ERR, XV_WC_REM_ACCESS_ERR);
}

static int predict_read(struct model_seg local, struct model_seg remote, u32 len)
{
	return predict_copy(local, remote, len, XV_WC_REM_ACCESS_ERR, XV_WC_LOC_PROT_ERR);
}

static struct outcome predict_write_imm(struct model_seg local, struct model_seg remote, u32 len)
{
	int status = predict_write(local, remote, len);

	return (struct outcome) {
		status, status == XV_WC_REM_ACCESS_ERR ? XV_WC_LOC_ACCESS_ERR :
			status == XV_WC_SUCCESS ? XV_WC_SUCCESS : NOTHING, len
	};
}

static bool invalidate(u32 key, u32 qpn)
{
	struct model_key *k = model_find(1, key);

	if (!k || !k->rinval || k->pd != s.pd[1] || (k->qpn != HCA_ANY_QPN && k->qpn != qpn))
		return false;
	k->free = true;
	return true;
}

static struct outcome predict_send(const struct action *t, struct model_seg local,
				   struct model_seg remote, u32 len, u32 room)
{
	if (len > room)
		return model_allows(&local, len) ?
		       (struct outcome) { XV_WC_REM_INV_REQ_ERR, XV_WC_LOC_LEN_ERR } :
		       (struct outcome) { XV_WC_LOC_PROT_ERR, NOTHING };
	switch (model_copy(remote, local, len)) {
	case MODEL_FROM:
		return (struct outcome) { XV_WC_LOC_PROT_ERR, NOTHING };
	case MODEL_TO:
		return (struct outcome) { XV_WC_REM_OP_ERR, XV_WC_LOC_PROT_ERR };
	default:
		break;
	}
	if (t->op == SEND_INVAL && !invalidate(remote.key, remote.qpn))
		return (struct outcome) { XV_WC_REM_OP_ERR, XV_WC_LOC_QP_OP_ERR };
	return (struct outcome) { XV_WC_SUCCESS, XV_WC_SUCCESS, len };
}

static struct outcome predict(const struct action *t, struct model_seg local,
			      struct model_seg remote, u32 len, u32 room)
{
	switch ((enum op)t->op) {
	case READ:
		return (struct outcome) { predict_read(local, remote, len), NOTHING };
	case WRITE:
	case WRITE_INLINE:
		return (struct outcome) { predict_write(local, remote, len), NOTHING };
	case WRITE_IMM:
		return predict_write_imm(local, remote, len);
	case FETCH_ADD:
	case COMPARE_SWAP:
		return (struct outcome) { predict_atomic(t, local, remote), NOTHING };
	default:
		return predict_send(t, local, remote, len, room);
	}
}

/* ---- The adapter ------------------------------------------------------------------- */

static void post(const struct action *t, const struct model_seg *local,
		 const struct model_seg *remote, u32 len)
{
	struct xv_sge sge = { .addr = local->addr, .length = len, .lkey = local->key };
	struct xv_qp *qp = &rc[0].qp;

	switch ((enum op)t->op) {
	case WRITE:
		xv_wr_write(qp, 1, XV_SEND_SIGNALED, &sge, remote->addr, remote->key);
		break;
	case WRITE_INLINE:
		xv_wr_write_inline(qp, 1, XV_SEND_SIGNALED, inline_data, len, remote->addr,
				   remote->key);
		break;
	case WRITE_IMM:
		xv_wr_write_imm(qp, 1, XV_SEND_SIGNALED, &sge, remote->addr, remote->key, 7);
		break;
	case READ:
		xv_wr_read(qp, 1, XV_SEND_SIGNALED, &sge, remote->addr, remote->key);
		break;
	case FETCH_ADD:
		xv_wr_atomic_fa(qp, 1, XV_SEND_SIGNALED, &sge, remote->addr, remote->key,
				t->arg[0]);
		break;
	case COMPARE_SWAP:
		xv_wr_atomic_cs(qp, 1, XV_SEND_SIGNALED, &sge, remote->addr, remote->key,
				t->arg[1], t->arg[0]);
		break;
	case SEND:
		xv_wr_send(qp, 1, XV_SEND_SIGNALED, &sge);
		break;
	case SEND_IMM:
		xv_wr_send_imm(qp, 1, XV_SEND_SIGNALED, &sge, 7);
		break;
	case SEND_INVAL:
		xv_wr_send_inv(qp, 1, XV_SEND_SIGNALED, &sge, remote->key);
		break;
	default:
		xv_wr_send_inline(qp, 1, XV_SEND_SIGNALED, inline_data, len);
	}
}

/* ---- DC ---------------------------------------------------------------------------- */

static struct session_qp dci, dct_qp;	/* @dct_qp: CQ and user index of the DCT */
static struct dc_srq srq;
static struct dc_target dct;

static void begin_dc(void)
{
	dc_initiator(&s, 0, 5, &dci);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &dct_qp);
	srq = dc_srq(&s, 1);
	dct = dc_target(&s, 1, &srq, dct_qp.cqn);
	check(dct.dctn, "no DCT");
	hca_dct_get(s.hca[1], dct.dctn)->user_index = dct_qp.qp.rsc.user_index;
}

static void end_dc(void)
{
	session_qp_destroy(&dci);
	check(!dc_simple(&s, 1, MLX5_CMD_OP_DRAIN_DCT, dct.dctn) &&
	      !dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_DCT, dct.dctn) &&
	      !dc_simple(&s, 1, MLX5_CMD_OP_DESTROY_RMP, srq.srqn), "the DCT cannot be destroyed");
	session_qp_destroy(&dct_qp);
	session_cq_destroy(&dci);
	session_cq_destroy(&dct_qp);
}

static void post_dc(const struct action *t, const struct model_seg *local,
		    const struct model_seg *remote, u32 len)
{
	static const u8 opcodes[] = {
		[WRITE] = MLX5R_OP_RDMA_WRITE, [READ] = MLX5R_OP_RDMA_READ,
		[FETCH_ADD] = MLX5R_OP_ATOMIC_FA, [COMPARE_SWAP] = MLX5R_OP_ATOMIC_CS,
		[WRITE_INLINE] = MLX5R_OP_RDMA_WRITE, [WRITE_IMM] = MLX5R_OP_RDMA_WRITE_IMM,
		[SEND] = MLX5R_OP_SEND, [SEND_IMM] = MLX5R_OP_SEND_IMM,
		[SEND_INVAL] = MLX5R_OP_SEND_INVAL, [SEND_INLINE] = MLX5R_OP_SEND,
	};
	struct dc_wr wr = {
		.opcode = opcodes[t->op], .fm_ce_se = MLX5R_CE_ALWAYS,
		.imm = cpu_to_be32(remote->key), .raddr = remote->addr, .rkey = remote->key,
		.arg = { t->arg[0], t->op == COMPARE_SWAP ? t->arg[1] : 0 },
		.data = local->data, .bytes = len, .nsge = !!len,
		.sge = { { .addr = local->addr, .length = len, .lkey = local->key } },
	};

	dc_build(&dci, &dct, &wr);
}

/* ---- Both --------------------------------------------------------------------------- */

/* Data in the completions of both sides, as the request says: none, 32 or 64 bytes */
static void set_scatter(bool dc, u8 cs)
{
	struct hca_qp *from = hca_qp_get(s.hca[0], dc ? dci.qp.qp_num : rc[0].qp.qp_num);
	struct hca_qp *to = dc ? hca_dct_get(s.hca[1], dct.dctn) :
				 hca_qp_get(s.hca[1], rc[1].qp.qp_num);

	from->cs_req = cs * 0x11;
	to->cs_res = cs;
}

static void post_receive(bool dc, const struct model_seg *remote, u32 room)
{
	struct xv_sge sge = { .addr = remote->addr, .length = room, .lkey = remote->key };

	if (dc) {
		dc_receive(&s, &srq, &sge);
		return;
	}
	xv_wr_recv(&rc[1].qp, 2, &sge);
	xv_commit_recv(&rc[1].qp);
}

static bool perform_message(const struct action *t)
{
	bool dc = t->post & ACTION_DC, scattered;
	struct session_qp *from = dc ? &dci : &rc[0], *to = dc ? &dct_qp : &rc[1];
	u8 *wqe = (u8 *)__xv_sq_next(&from->qp.sq);
	u32 len = length(t), room = t->rlen % (REGION_BYTES + 16);
	bool receives = is_send(t->op) || t->op == WRITE_IMM;
	struct model_seg local, remote;
	struct outcome want;
	u8 data[64];
	struct xv_wc wc;

	local = model_seg(from, t->lkey, t->lkey_flaw, t->loff % (REGION_BYTES + 16),
			  t->op == READ || is_atomic(t->op) ? MLX5R_MKEY_ACCESS_LW :
			  MLX5R_MKEY_ACCESS_LR);
	remote = model_seg(to, t->rkey, t->rkey_flaw, t->roff % (REGION_BYTES + 16),
			   is_send(t->op) ? MLX5R_MKEY_ACCESS_LW :
			   t->op == READ ? MLX5R_MKEY_ACCESS_RR : MLX5R_MKEY_ACCESS_RW);
	if (dc)
		remote.qpn = dct.dctn;
	if (is_inline(t->op))
		local.data = inline_data;
	if (receives)
		post_receive(dc, &remote, room);
	(dc ? post_dc : post)(t, &local, &remote, len);
	set_scatter(dc, ACTION_CS(t));
	if (is_send(t->op))
		scattered = len <= room && model_divert(to, ACTION_CS(t), &remote, len, data);
	else
		scattered = (t->op == READ || is_atomic(t->op)) &&
			    model_divert(from, ACTION_CS(t), &local, len, data);
	want = predict(t, local, remote, len, room);
	if (!model_run(t, from, wqe))
		return false;
	set_scatter(dc, 0);
	if (want.sender != XV_WC_SUCCESS)
		scattered = false;
	model_expect_data(from, scattered && !receives ? data : NULL);
	model_expect_data(to, scattered && receives ? data : NULL);
	model_expect(from, want.sender, &wc);
	model_expect(to, want.receiver, &wc);
	check(want.receiver != XV_WC_SUCCESS || wc.byte_len == want.bytes,
	      "the receive completion has a wrong length");
	return want.sender == XV_WC_SUCCESS;
}

static bool perform(struct action t)
{
	t.op %= NOPS;
	switch ((enum op)t.op) {
	case UMR:
		return perform_umr(&t);
	case DATAGRAM:
		return perform_datagram(&t);
	case CALC:
		return perform_calc(&t);
	case CROSS:
		return perform_cross(&t);
	case MASKED:
		return perform_masked(&t);
	default:
		return perform_message(&t);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static bool started;
	struct action t;

	if (!started)
		model_init();
	started = true;
	model_begin(size % 2);
	begin_datagrams();
	begin_dc();
	for (; size >= sizeof(t); data += sizeof(t), size -= sizeof(t)) {
		memcpy(&t, data, sizeof(t));
		if (!perform(t))
			break;
	}
	end_dc();
	model_end();
	return 0;
}
