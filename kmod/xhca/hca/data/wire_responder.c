// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver of requests from the wire (IBTA chapter 9.7): RC, XRC, UC.
 *
 * Packets are executed in the order of their PSNs; one that is ahead is dropped and answered with
 * one NAK.  One that is behind has been executed: it is acknowledged again, a READ is read again,
 * and an atomic request gets the result that was kept.  Statuses and events are those of local
 * messages (responder.c).
 *
 * Answers of READ and atomic requests are sent in turns of the queue pair, in the order of the
 * requests.  An acknowledgement waits for them, because it would also acknowledge the READ.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "data/wire.h"

enum hca_inbound_kind { IN_NONE, IN_SEND, IN_WRITE, IN_READ, IN_ATOMIC };

static u8 hca_wire_kind(u8 operation)
{
	switch (operation) {
	case HCA_BTH_READ_REQUEST:
		return IN_READ;
	case HCA_BTH_CMP_SWAP:
	case HCA_BTH_FETCH_ADD:
	case HCA_BTH_EXT_ATOMIC:
		return IN_ATOMIC;
	case HCA_BTH_WRITE_FIRST:
	case HCA_BTH_WRITE_MIDDLE:
	case HCA_BTH_WRITE_LAST:
	case HCA_BTH_WRITE_LAST_IMM:
	case HCA_BTH_WRITE_ONLY:
	case HCA_BTH_WRITE_ONLY_IMM:
		return IN_WRITE;
	default:
		return IN_SEND;
	}
}

/* ---- Acknowledgements ------------------------------------------------------------ */

static int hca_wire_send_aeth(struct hca_qp *qp, u8 syndrome, u32 psn)
{
	struct hca_packet p = hca_wire_packet(qp, HCA_BTH_ACK, psn);

	p.syndrome = syndrome;
	p.msn = qp->wire->msn;
	return hca_wire_send(qp, &p, NULL);
}

static void hca_wire_schedule_aeth(struct hca_qp *qp, u8 syndrome, u32 psn)
{
	struct hca_wire *x = qp->wire;

	x->due = true;
	x->due_syndrome = syndrome;
	x->due_psn = psn;
	if (list_empty(&x->due_entry))
		list_add_tail(&x->due_entry, &qp->hca->fabric->wire_due);
}

static void hca_wire_schedule_ack(struct hca_qp *qp)
{
	hca_wire_schedule_aeth(qp, HCA_AETH_ACK | HCA_AETH_UNLIMITED, qp->rq_psn - 1);
}

/*
 * A request has an error.  The answers of those before it are sent first, then a NAK.  Only then
 * the queue pair fails, because after that it sends nothing.
 */
static void hca_wire_fail_with(struct hca_qp *qp, u8 code, u32 psn)
{
	hca_fail_forget(qp);
	qp->wire->failing = true;
	hca_wire_schedule_aeth(qp, HCA_AETH_NAK | code, psn);
}

static bool hca_wire_has_answers(const struct hca_wire *x)
{
	return x->answer_at != x->answer_end;
}

/* Sends the acknowledgement that is due; true if there is no room for it. */
static bool hca_wire_send_due(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	if (!x->due)
		return false;
	hca_charge(qp->hca->fabric, HCA_REQUESTS, 1);
	x->due = hca_wire_send_aeth(qp, x->due_syndrome, x->due_psn) == HCA_AGAIN;
	if (!x->due && x->failing && !qp->session_of)
		hca_fail_qp(qp);
	return x->due;
}

void hca_wire_acknowledge(struct hca_fabric *f)
{
	struct hca_wire *x;

	while (!list_empty(&f->wire_due)) {
		x = list_first_entry(&f->wire_due, struct hca_wire, due_entry);
		list_del_init(&x->due_entry);
		if (hca_wire_has_answers(x) || hca_wire_send_due(x->qp))
			hca_share_add(x->qp);
	}
}

/* ---- SEND and WRITE ------------------------------------------------------------------ */

static void hca_wire_source(struct hca_sgl *from, struct hca_qp *qp, struct hca_sge *sge,
			    const struct hca_packet *p)
{
	*sge = (struct hca_sge) { .len = p->length, .data = p->data };
	hca_sgl_init(from, qp, 0, sge, 1);
}

/* The message is complete: removes its receive request and completes it. */
static int hca_wire_received(struct hca_qp *qp, struct hca_srq *srq, u32 index,
			     const struct hca_packet *p, u8 opcode)
{
	struct hca_wqe *w = &qp->hca->fabric->scratch->wqe;
	u32 pd = srq && qp->st == MLX5_QP_ST_XRC ? srq->pd : qp->pd;

	if (opcode == MLX5R_OP_SEND_INVAL && !hca_resp_invalidate(qp, pd, p->imm))
		return hca_resp_fail_receive(qp, srq, index, MLX5R_SYND_LOCAL_QP_OP,
					     MLX5R_SYND_REMOTE_OP);
	w->opcode = opcode;
	w->ctrl.imm = cpu_to_be32(p->imm);
	w->length = qp->wire->in.done;
	w->fm_ce_se = p->solicited ? MLX5R_SOLICITED : 0;
	hca_resp_receive_done(qp, srq, w, index);
	return 0;
}

static u8 hca_wire_send_opcode(u16 flags)
{
	if (flags & HCA_OP_IMM)
		return MLX5R_OP_SEND_IMM;
	return flags & HCA_OP_IETH ? MLX5R_OP_SEND_INVAL : MLX5R_OP_SEND;
}

static int hca_wire_take_send(struct hca_qp *qp, struct hca_srq *srq, const struct hca_packet *p,
			      u16 flags)
{
	struct hca_rwqe *r = &qp->hca->fabric->scratch->rwqe;
	struct hca_wqe *w = &qp->hca->fabric->scratch->wqe;
	struct hca_inbound *in = &qp->wire->in;
	struct hca_sgl from, to;
	struct hca_sge sge;
	int ret;

	ret = hca_rq_read(qp, srq, r);
	if (ret)
		return ret;
	if (in->done + p->length > r->length)
		return hca_resp_fail_receive(qp, srq, r->index, MLX5R_SYND_LOCAL_LENGTH,
					     MLX5R_SYND_REMOTE_INVAL_REQ);
	hca_wire_source(&from, qp, &sge, p);
	hca_sgl_init(&to, qp, MLX5R_MKEY_ACCESS_LW, r->sge, r->nsge);
	/* The receives of a DCT belong to its own PD (Manual A.1.3). */
	if (srq && qp->st != MLX5_QP_ST_DCT)
		to.user.pd = srq->pd;
	w->length = p->length;
	if (flags & HCA_OP_FIRST && flags & HCA_OP_LAST)
		hca_sgl_divert(&to, w, hca_rq_cq(qp, srq), qp->cs_res);
	hca_sgl_skip(&to, in->done);
	if (hca_copy(&to, &from, p->length))
		return hca_resp_fail_receive(qp, srq, r->index, MLX5R_SYND_LOCAL_PROT,
					     MLX5R_SYND_REMOTE_OP);
	in->done += p->length;
	if (flags & HCA_OP_LAST)
		return hca_wire_received(qp, srq, r->index, p, hca_wire_send_opcode(flags));
	hca_rq_hold(qp, srq);
	return 0;
}

static u32 hca_wire_pd(const struct hca_qp *qp, const struct hca_srq *srq)
{
	return qp->st == MLX5_QP_ST_XRC ? srq->pd : qp->pd;
}

static bool hca_wire_key_allows(struct hca_qp *qp, u32 pd, u8 access, u32 key, u64 addr, u64 len)
{
	const struct hca_key_user user = {
		.hca = qp->hca, .pd = pd, .qpn = qp->qpn, .access = access,
	};

	return !len || hca_key_check(&user, key, addr, len);
}

static int hca_wire_begin_write(struct hca_qp *qp, struct hca_srq *srq, const struct hca_packet *p)
{
	struct hca_inbound *in = &qp->wire->in;

	if (!qp->rwe)
		return hca_resp_refuse_operation(qp);
	qp->counter->rx_write++;
	if (!hca_wire_key_allows(qp, hca_wire_pd(qp, srq), MLX5R_MKEY_ACCESS_RW, p->key, p->addr,
				 p->dma_length))
		return hca_resp_refuse_access(qp);
	in->addr = p->addr;
	in->key = p->key;
	in->left = p->dma_length;
	return 0;
}

/* The key may have been destroyed since the message began. */
static int hca_wire_write_data(struct hca_qp *qp, struct hca_srq *srq, const struct hca_packet *p)
{
	struct hca_inbound *in = &qp->wire->in;
	struct hca_sge target = { .addr = in->addr, .len = p->length, .lkey = in->key }, sge;
	struct hca_sgl from, to;

	hca_wire_source(&from, qp, &sge, p);
	hca_sgl_init(&to, qp, MLX5R_MKEY_ACCESS_RW, &target, 1);
	to.user.pd = hca_wire_pd(qp, srq);
	if (hca_copy(&to, &from, p->length))
		return hca_resp_refuse_access(qp);
	in->addr += p->length;
	in->left -= p->length;
	in->done += p->length;
	return 0;
}

static int hca_wire_take_write(struct hca_qp *qp, struct hca_srq *srq, const struct hca_packet *p,
			       u16 flags)
{
	struct hca_inbound *in = &qp->wire->in;
	int ret = 0;

	if (flags & HCA_OP_FIRST)
		ret = hca_wire_begin_write(qp, srq, p);
	if (ret)
		return ret;
	if (p->length > in->left || (flags & HCA_OP_LAST && p->length != in->left))
		return hca_resp_refuse_request(qp);
	return hca_wire_write_data(qp, srq, p);
}

/* The last packet.  If the key does not allow the write, the receive request fails too. */
static int hca_wire_take_write_imm(struct hca_qp *qp, struct hca_srq *srq,
				   const struct hca_packet *p, u16 flags)
{
	struct hca_rwqe *r = &qp->hca->fabric->scratch->rwqe;
	int ret = hca_rq_read(qp, srq, r);

	if (!ret)
		ret = hca_wire_take_write(qp, srq, p, flags);
	if (ret == MLX5R_SYND_REMOTE_ACCESS && qp->st != MLX5_QP_ST_UC)
		return hca_resp_fail_receive(qp, srq, r->index, MLX5R_SYND_LOCAL_ACCESS, ret);
	return ret ? ret : hca_wire_received(qp, srq, r->index, p, MLX5R_OP_RDMA_WRITE_IMM);
}

/* ---- READ and atomic requests ----------------------------------------------------------- */

static u32 hca_wire_resources(const struct hca_qp *qp)
{
	return 1u << MLX5_GET(qpc, qp->qpc, log_rra_max);
}

static struct hca_answer *hca_wire_answer_of(struct hca_wire *x, u32 i)
{
	return &x->answer[i % HCA_ANSWERS];
}

/*
 * False: all resources have answers that are still to be sent.  One that is sent again need not be:
 * a requester that sends another request has it.
 */
static bool hca_wire_has_resource(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;
	struct hca_answer *a;

	for (; x->answer_end - x->answer_at >= hca_wire_resources(qp); x->answer_at++) {
		a = hca_wire_answer_of(x, x->answer_at);
		if (a->pending && !a->repeated)
			return false;
	}
	return true;
}

/* The oldest answer is forgotten. */
static struct hca_answer *hca_wire_new_answer(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	hca_share_add(qp);
	return hca_wire_answer_of(x, x->answer_end++);
}

static int hca_wire_take_read(struct hca_qp *qp, struct hca_srq *srq, const struct hca_packet *p)
{
	u32 pd = hca_wire_pd(qp, srq);
	struct hca_answer *a;

	if (!qp->rre)
		return hca_resp_refuse_operation(qp);
	if (p->dma_length > 1u << 31)
		return hca_resp_refuse_request(qp);
	qp->counter->rx_read++;
	if (!hca_wire_key_allows(qp, pd, MLX5R_MKEY_ACCESS_RR, p->key, p->addr, p->dma_length))
		return hca_resp_refuse_access(qp);
	if (!hca_wire_has_resource(qp))
		return hca_resp_refuse_request(qp);
	a = hca_wire_new_answer(qp);
	*a = (struct hca_answer) {
		.addr = p->addr,
		.length = p->dma_length,
		.key = p->key,
		.pd = pd,
		.psn = p->psn,
		.packets = p->dma_length ? DIV_ROUND_UP(p->dma_length, qp->mtu) : 1,
		.operation = HCA_BTH_READ_REQUEST,
		.pending = true,
	};
	return 0;
}

/* The results of extended atomics are kept apart, because most queue pairs get none. */
static bool hca_wire_has_results(struct hca_wire *x)
{
	if (!x->result)
		x->result = kzalloc(HCA_ANSWERS * sizeof(*x->result), HCA_GFP_NOWAIT);
	return x->result;
}

/* The request of the packet; arguments in @args, which is aligned */
static void hca_wire_atomic_request(struct hca_wqe *w, const struct hca_packet *p, u8 operation,
				    void *args)
{
	const __be64 two[2] = { cpu_to_be64(p->swap_add), cpu_to_be64(p->compare) };

	if (operation == HCA_BTH_EXT_ATOMIC) {
		w->opcode = p->add ? MLX5R_OP_ATOMIC_MASKED_FA : MLX5R_OP_ATOMIC_MASKED_CS;
		w->operand = 1u << p->log_operand;
		memcpy(args, p->data, p->length);
	} else {
		w->opcode = operation == HCA_BTH_CMP_SWAP ? MLX5R_OP_ATOMIC_CS : MLX5R_OP_ATOMIC_FA;
		w->operand = sizeof(u64);
		memcpy(args, two, sizeof(two));
	}
	w->length = w->operand;
	w->args = args;
	w->raddr = p->addr;
	w->rkey = p->key;
}

static int hca_wire_take_atomic(struct hca_qp *qp, const struct hca_packet *p, u8 operation)
{
	struct hca_scratch *scratch = qp->hca->fabric->scratch;
	struct hca_wqe *w = &scratch->wqe;
	bool extended = operation == HCA_BTH_EXT_ATOMIC;
	u64 reply[MLX5R_ATOMIC_MAX / sizeof(u64)];
	struct hca_wire *x = qp->wire;
	struct hca_answer *a;
	void *mem;
	int err;

	hca_wire_atomic_request(w, p, operation, scratch->calc);
	mem = hca_resp_atomic_memory(qp, w, &err);
	if (!mem)
		return err;
	if (!hca_wire_has_resource(qp))
		return hca_resp_refuse_request(qp);
	if ((extended && !hca_wire_has_results(x)) || hca_atomic(w, mem, reply))
		return HCA_AGAIN;
	qp->counter->rx_atomic++;
	a = hca_wire_new_answer(qp);
	*a = (struct hca_answer) {
		.length = w->operand,
		.psn = p->psn,
		.packets = 1,
		.operation = operation,
		.pending = true,
		.original = reply[0],
	};
	if (!extended)
		return 0;
	if (w->operand == sizeof(u64))
		*(__be64 *)reply = cpu_to_be64(reply[0]);
	memcpy(x->result[a - x->answer], reply, w->operand);
	return 0;
}

/* The answer that has @psn, or NULL: too many requests have followed. */
static struct hca_answer *hca_wire_find_answer(struct hca_qp *qp, u32 psn, u32 *index)
{
	struct hca_wire *x = qp->wire;
	u32 i, n = min(x->answer_end, hca_wire_resources(qp));

	for (i = x->answer_end - n; i != x->answer_end; i++) {
		struct hca_answer *a = hca_wire_answer_of(x, i);

		*index = i;
		if (((psn - a->psn) & HCA_PSN_MASK) < a->packets)
			return a;
	}
	return NULL;
}

/* Answers are sent in the order of the requests: those after it begin again. */
static void hca_wire_repeat_from(struct hca_qp *qp, u32 index)
{
	struct hca_wire *x = qp->wire;
	u32 i;

	if ((s32)(index - x->answer_at) < 0)
		x->answer_at = index;
	for (i = index + 1; i != x->answer_end; i++)
		hca_wire_answer_of(x, i)->next = hca_wire_answer_of(x, i)->begin;
	hca_share_add(qp);
}

/* A READ may ask for the rest of what it asked for before, and for nothing else. */
static bool hca_wire_is_rest(const struct hca_qp *qp, const struct hca_answer *a, u32 skip,
			     const struct hca_packet *p)
{
	u64 bytes = (u64)skip * qp->mtu;

	return p->key == a->key && p->addr == a->addr + bytes && bytes <= a->length &&
	       p->dma_length == a->length - bytes;
}

static void hca_wire_repeat_answer(struct hca_qp *qp, const struct hca_packet *p, u8 operation)
{
	struct hca_answer *a;
	u32 index, skip;

	a = hca_wire_find_answer(qp, p->psn, &index);
	if (!a || a->operation != operation)
		return;
	skip = (p->psn - a->psn) & HCA_PSN_MASK;
	if (operation == HCA_BTH_READ_REQUEST && !hca_wire_is_rest(qp, a, skip, p))
		return;
	a->begin = skip;
	a->next = skip;
	a->pending = true;
	a->repeated = true;
	hca_wire_repeat_from(qp, index);
}

static u8 hca_wire_read_operation(const struct hca_answer *a)
{
	bool first = a->next == a->begin, last = a->next + 1 == a->packets;

	if (first)
		return last ? HCA_BTH_READ_ONLY : HCA_BTH_READ_FIRST;
	return last ? HCA_BTH_READ_LAST : HCA_BTH_READ_MIDDLE;
}

/* A READ whose key has been destroyed ends with a NAK in place of the packet. */
static int hca_wire_fail_read(struct hca_qp *qp, u32 psn)
{
	qp->wire->answer_at = qp->wire->answer_end;
	hca_resp_refuse_access(qp);
	hca_wire_fail_with(qp, HCA_NAK_ACCESS, psn);
	return MLX5R_SYND_REMOTE_ACCESS;
}

static int hca_wire_send_read(struct hca_qp *qp, struct hca_answer *a)
{
	struct hca_packet p = hca_wire_packet(qp, hca_wire_read_operation(a), a->psn + a->next);
	u64 done = (u64)a->next * qp->mtu;
	struct hca_sge sge = { .addr = a->addr, .len = a->length, .lkey = a->key };
	struct hca_sgl from;
	int ret;

	p.syndrome = HCA_AETH_ACK | HCA_AETH_UNLIMITED;
	p.msn = qp->wire->msn;
	p.length = min_t(u64, a->length - done, qp->mtu);
	hca_sgl_init(&from, qp, MLX5R_MKEY_ACCESS_RR, &sge, 1);
	from.user.pd = a->pd;
	hca_sgl_skip(&from, done);
	ret = hca_wire_send(qp, &p, &from);
	return ret == MLX5R_SYND_LOCAL_PROT ? hca_wire_fail_read(qp, p.psn) : ret;
}

static int hca_wire_send_result(struct hca_qp *qp, const struct hca_answer *a)
{
	bool extended = a->operation == HCA_BTH_EXT_ATOMIC;
	struct hca_packet p = hca_wire_packet(qp, extended ? HCA_BTH_EXT_ATOMIC_ACK :
							     HCA_BTH_ATOMIC_ACK, a->psn);
	struct hca_wire *x = qp->wire;
	struct hca_sge sge = { .len = a->length };
	struct hca_sgl from;

	p.syndrome = HCA_AETH_ACK | HCA_AETH_UNLIMITED;
	p.msn = x->msn;
	p.original = a->original;
	if (extended) {
		p.length = a->length;
		sge.data = x->result[a - x->answer];
	}
	hca_sgl_init(&from, qp, 0, &sge, 1);
	return hca_wire_send(qp, &p, &from);
}

static int hca_wire_send_answer(struct hca_qp *qp, struct hca_answer *a)
{
	hca_charge(qp->hca->fabric, HCA_REQUESTS, 1);
	return a->operation == HCA_BTH_READ_REQUEST ? hca_wire_send_read(qp, a) :
						      hca_wire_send_result(qp, a);
}

bool hca_wire_in_progress(const struct hca_qp *qp)
{
	const struct hca_wire *x = qp->wire;

	return hca_wire_has_answers(x) || (x->in.kind != IN_NONE && !x->failing);
}

void hca_wire_update_session(struct hca_qp *qp)
{
	if (hca_wire_in_progress(qp))
		hca_dci_continue(qp, qp->session_of);
	else
		hca_dci_end(qp);
}

/* True if there are more. */
static bool hca_wire_send_answers(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;
	struct hca_answer *a;

	while (hca_wire_has_answers(x)) {
		a = hca_wire_answer_of(x, x->answer_at);
		if (a->pending && (!hca_turn_left(qp->hca->fabric) || hca_halted(qp->hca) ||
				   !hca_rate_allows(qp)))
			return true;
		if (a->pending && hca_wire_send_answer(qp, a))
			return true;
		if (a->pending && ++a->next < a->packets)
			continue;
		a->pending = false;
		x->answer_at++;
	}
	return hca_wire_send_due(qp);
}

bool hca_wire_answer(struct hca_qp *qp)
{
	bool more;

	/* The DCT has drained for too long: its messages have ended. */
	if (qp->session_of && !qp->target)
		qp->wire->answer_at = qp->wire->answer_end;
	more = hca_wire_send_answers(qp);
	if (qp->session_of)
		hca_wire_update_session(qp);
	return more;
}

/* ---- Packets --------------------------------------------------------------------------- */

/* Packets before the last one are full; the last one has data, unless it is the only one. */
static bool hca_wire_length_fits(const struct hca_qp *qp, const struct hca_packet *p, u16 flags)
{
	if (!(flags & HCA_OP_DATA))
		return true;
	if (!(flags & HCA_OP_LAST))
		return p->length == qp->mtu;
	return p->length <= qp->mtu && (p->length || flags & HCA_OP_FIRST);
}

static int hca_wire_execute(struct hca_qp *qp, const struct hca_packet *p, u16 flags)
{
	struct hca_wqe *w = &qp->hca->fabric->scratch->wqe;
	struct hca_inbound *in = &qp->wire->in;
	u8 operation = hca_packet_operation(p->opcode), kind = hca_wire_kind(operation);
	struct hca_srq *srq;
	int err;

	if (in->kind != (flags & HCA_OP_FIRST ? IN_NONE : kind) ||
	    !hca_wire_length_fits(qp, p, flags))
		return hca_resp_refuse_request(qp);
	w->xrc_srqn = p->srqn;
	w->in_cqe = 0;
	srq = hca_resp_receive_queue(qp, w, &err);
	if (err)
		return err;
	/* A message must continue in the shared request in which it began. */
	if (srq && kind == IN_SEND && !(flags & HCA_OP_FIRST) && qp->recv_srq != srq)
		return hca_resp_refuse_request(qp);
	switch (kind) {
	case IN_SEND:
		return hca_wire_take_send(qp, srq, p, flags);
	case IN_WRITE:
		return flags & HCA_OP_IMM ? hca_wire_take_write_imm(qp, srq, p, flags) :
					    hca_wire_take_write(qp, srq, p, flags);
	case IN_READ:
		return hca_wire_take_read(qp, srq, p);
	default:
		return hca_wire_take_atomic(qp, p, operation);
	}
}

/* The packet was executed. */
static void hca_wire_advance(struct hca_qp *qp, const struct hca_packet *p, u16 flags)
{
	struct hca_wire *x = qp->wire;
	u32 packets = 1;

	x->in.kind = hca_wire_kind(hca_packet_operation(p->opcode));
	if (flags & HCA_OP_LAST) {
		x->in = (struct hca_inbound) { .kind = IN_NONE };
		x->msn = (x->msn + 1) & HCA_PSN_MASK;
	}
	if (hca_packet_operation(p->opcode) == HCA_BTH_READ_REQUEST && p->dma_length)
		packets = DIV_ROUND_UP(p->dma_length, qp->mtu);
	qp->rq_psn = (p->psn + packets) & HCA_PSN_MASK;
	x->nak_sent = false;
}

static void hca_wire_refuse(struct hca_qp *qp, u32 psn, int ret)
{
	switch (ret) {
	case HCA_AGAIN:
		return;
	case HCA_RNR:
		qp->counter->out_of_buffer++;
		qp->wire->nak_sent = true;
		hca_wire_schedule_aeth(qp, HCA_AETH_RNR | (qp->min_rnr & HCA_AETH_VALUE), psn);
		return;
	case MLX5R_SYND_REMOTE_ACCESS:
		hca_wire_fail_with(qp, HCA_NAK_ACCESS, psn);
		return;
	case MLX5R_SYND_REMOTE_INVAL_REQ:
		hca_wire_fail_with(qp, HCA_NAK_INVALID, psn);
		return;
	default:
		hca_wire_fail_with(qp, HCA_NAK_OPERATION, psn);
	}
}

static void hca_wire_out_of_order(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_wire *x = qp->wire;
	u8 operation = hca_packet_operation(p->opcode), kind = hca_wire_kind(operation);

	if (((p->psn - qp->rq_psn) & HCA_PSN_MASK) < HCA_PSN_HALF) {
		qp->counter->out_of_sequence++;
		if (!x->nak_sent)
			hca_wire_schedule_aeth(qp, HCA_AETH_NAK | HCA_NAK_SEQUENCE, qp->rq_psn);
		x->nak_sent = true;
		return;
	}
	qp->counter->duplicate_request++;
	if (kind == IN_READ || kind == IN_ATOMIC)
		hca_wire_repeat_answer(qp, p, operation);
	else if (!x->due)
		hca_wire_schedule_ack(qp);
}

/*
 * UC: a message begins with any PSN.  One with a missing packet is dropped, and its receive
 * request is used for the next message.
 */
static void hca_wire_request_uc(struct hca_qp *qp, const struct hca_packet *p, u16 flags)
{
	struct hca_inbound *in = &qp->wire->in;
	int ret;

	if (flags & HCA_OP_FIRST || p->psn != qp->rq_psn)
		*in = (struct hca_inbound) { .kind = IN_NONE };
	qp->rq_psn = (p->psn + 1) & HCA_PSN_MASK;
	if (!(flags & HCA_OP_FIRST) && in->kind == IN_NONE)
		return;
	ret = hca_wire_execute(qp, p, flags);
	qp->counter->out_of_buffer += ret == HCA_RNR;
	if (ret)
		in->kind = IN_NONE;
	else
		hca_wire_advance(qp, p, flags);
}

/* A DCT does not fail, so it also answers if its negative acknowledgement is lost. */
static void hca_wire_refuse_again(struct hca_qp *qp, u32 psn)
{
	const struct hca_wire *x = qp->wire;

	if (qp->session_of && psn == x->due_psn && !x->due)
		hca_wire_schedule_aeth(qp, x->due_syndrome, x->due_psn);
}

void hca_wire_request(struct hca_qp *qp, const struct hca_packet *p)
{
	u16 flags = hca_packet_flags(p->opcode);
	int ret;

	if (qp->wire->failing) {
		hca_wire_refuse_again(qp, p->psn);
		return;
	}
	if (qp->st == MLX5_QP_ST_UC) {
		hca_wire_request_uc(qp, p, flags);
		return;
	}
	if (p->psn != qp->rq_psn) {
		hca_wire_out_of_order(qp, p);
		return;
	}
	hca_resp_establish(qp);
	ret = hca_wire_execute(qp, p, flags);
	if (ret) {
		hca_wire_refuse(qp, p->psn, ret);
		return;
	}
	hca_wire_advance(qp, p, flags);
	/* The answer of a READ or an atomic request is its acknowledgement. */
	if (p->ack_request && hca_wire_kind(hca_packet_operation(p->opcode)) <= IN_WRITE)
		hca_wire_schedule_ack(qp);
}

void hca_wire_reset_responder(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	x->in = (struct hca_inbound) { .kind = IN_NONE };
	x->answer_at = x->answer_end = 0;
	x->msn = 0;
	x->nak_sent = false;
	x->failing = false;
	x->due = false;
	list_del_init(&x->due_entry);
}
