// SPDX-License-Identifier: GPL-2.0
/*
 * The sender of requests to the wire (IBTA chapter 9.7): RC, XRC, UC.
 *
 * A request is fetched, gets its PSNs and an entry of the ring @sent, and qp->sq.ci goes on to the
 * next one.  Its completion is written when it is acknowledged, in the order of the requests.  What
 * must be sent again is fetched again: the ring of the queue still has it.  A request that is
 * executed here (NOP, UMR, WAIT, ENABLE), or that has a fence, waits until all before it are
 * complete; so does one that fails, because its completion must follow theirs.
 *
 * A responder sends all packets of a READ response at once, and the receive queues of a host have
 * limits.  So a long READ is divided into parts: each has a request of its own, which is sent when
 * the response to the part before is complete.
 *
 * What is lost is sent again from the first packet on that is missing (go-back-N): after a NAK,
 * when an answer shows that an earlier one is missing, or when no answer comes in time.
 *
 * The timeouts follow what was measured on adapters.  The first ones are short, and together take
 * one retry.  Each of the others is 2 * 4.096 us * 2^t, where t is at least 16.  The short ones are
 * longer if answers take longer; as in TCP, a packet that was sent twice is not measured.
 *
 * A register (ROCE_ACCL, cmd/reg.c) turns the least timeout off.  Then there are no short timeouts,
 * and each timeout is 4.096 us * 2^t.  After the first one nothing is sent again, and it takes no
 * retry.  Adapters do the same.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <asm/byteorder.h>
#include "data/wire.h"

enum {
	ACK_PACKETS	= 32,	/* at most, until one asks for an acknowledgement */
	READ_PACKETS	= 256,	/* packets in the response to one part of a READ */
	READ_AHEAD	= 512,	/* a READ begins only if fewer response packets are missing */
	SHORT_TIMEOUTS	= 4,	/* they take one retry together */
	LOG_LEAST	= 16,	/* exponent of the shortest of the other timeouts */
	RTT_FACTOR	= 4,	/* the first timeout is at least this multiple of the average */
	RTT_WEIGHT	= 8,	/* a measurement has one part of this many in the average */
	MAX_BACKOFF	= 8,
};

#define SHORT_FIRST_NS	2000000u	/* each is twice as long as the one before */

/* BTH operations of a request, by the place of the packet */
static const struct {
	u8 first, middle, last, only;
} operations[] = {
	[MLX5R_OP_SEND] = { HCA_BTH_SEND_FIRST, HCA_BTH_SEND_MIDDLE, HCA_BTH_SEND_LAST,
			    HCA_BTH_SEND_ONLY },
	[MLX5R_OP_SEND_IMM] = { HCA_BTH_SEND_FIRST, HCA_BTH_SEND_MIDDLE, HCA_BTH_SEND_LAST_IMM,
				HCA_BTH_SEND_ONLY_IMM },
	[MLX5R_OP_SEND_INVAL] = { HCA_BTH_SEND_FIRST, HCA_BTH_SEND_MIDDLE,
				  HCA_BTH_SEND_LAST_INVAL, HCA_BTH_SEND_ONLY_INVAL },
	[MLX5R_OP_RDMA_WRITE] = { HCA_BTH_WRITE_FIRST, HCA_BTH_WRITE_MIDDLE, HCA_BTH_WRITE_LAST,
				  HCA_BTH_WRITE_ONLY },
	[MLX5R_OP_RDMA_WRITE_IMM] = { HCA_BTH_WRITE_FIRST, HCA_BTH_WRITE_MIDDLE,
				      HCA_BTH_WRITE_LAST_IMM, HCA_BTH_WRITE_ONLY_IMM },
	[MLX5R_OP_RDMA_READ] = { .only = HCA_BTH_READ_REQUEST },
	[MLX5R_OP_ATOMIC_CS] = { .only = HCA_BTH_CMP_SWAP },
	[MLX5R_OP_ATOMIC_FA] = { .only = HCA_BTH_FETCH_ADD },
	[MLX5R_OP_ATOMIC_MASKED_CS] = { .only = HCA_BTH_EXT_ATOMIC },
	[MLX5R_OP_ATOMIC_MASKED_FA] = { .only = HCA_BTH_EXT_ATOMIC },
};

static struct hca_sent *hca_wire_sent(struct hca_wire *x, u32 i)
{
	return &x->sent[i % HCA_SENT];
}

static bool hca_wire_is_answered(u8 opcode)
{
	return opcode >= MLX5R_OP_RDMA_READ;
}

/* Only the private encoding has it. */
static bool hca_wire_is_extended(u8 opcode)
{
	return opcode == MLX5R_OP_ATOMIC_MASKED_CS || opcode == MLX5R_OP_ATOMIC_MASKED_FA;
}

static u32 hca_wire_distance(u32 from, u32 to)
{
	return (to - from) & HCA_PSN_MASK;
}

bool hca_wire_leads(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	if (!x)
		return false;
	if (qp->st == MLX5_QP_ST_DCI)
		return x->dc.far;
	return hca_wire_is_outstanding(x) || (qp->port->up && !hca_wire_is_direct(qp));
}

/*
 * The number of packets of the entry @e, from x->at_packet on, that belong to one part.  Only READs
 * have parts.
 */
static u32 hca_wire_part(const struct hca_wire *x, const struct hca_sent *e)
{
	u32 left = e->packets - x->at_packet;

	/* A responder ignores a repeated request that asks for more than the first one did. */
	return e->opcode == MLX5R_OP_RDMA_READ ?
	       min_t(u32, left, READ_PACKETS - x->at_packet % READ_PACKETS) : left;
}

/*
 * True if the next part of the READ with the entry x->at may be requested, or if it is no READ.
 * The responder accepts a limited number of READ requests at once, so a READ has one at a time.
 */
static bool hca_wire_may_read(struct hca_wire *x)
{
	const struct hca_sent *e = hca_wire_sent(x, x->at);
	u32 expected = hca_wire_distance(x->una, e->psn + x->at_packet);

	return e->opcode != MLX5R_OP_RDMA_READ ||
	       (x->at_packet ? !expected : expected < READ_AHEAD);
}

static bool hca_wire_window_open(const struct hca_wire *x)
{
	return x->in_flight < HCA_WINDOW && !x->error;
}

bool hca_wire_may_post(const struct hca_qp *qp)
{
	const struct hca_wire *x = qp->wire;

	return hca_wire_window_open(x) && x->at == x->end && x->end - x->first < HCA_SENT &&
	       !(x->drain && hca_wire_is_outstanding(x));
}

void hca_wire_drain(struct hca_qp *qp)
{
	qp->wire->drain = true;
}

/* ---- The end of requests -------------------------------------------------------- */

static void hca_wire_stop_timer(struct hca_qp *qp)
{
	hca_timer_clear(qp->hca->fabric, &qp->wire->timer);
}

static u64 hca_wire_timeout_ns(const struct hca_qp *qp)
{
	u64 all = 4096ull << qp->ack_timeout, least = 8192ull << LOG_LEAST;
	const struct hca_wire *x = qp->wire;
	u64 first = max_t(u64, SHORT_FIRST_NS, (u64)RTT_FACTOR * x->rtt.ns);

	if (qp->hca->no_least_timeout)
		return all;
	if (x->timeouts >= SHORT_TIMEOUTS || !qp->retry_cnt)
		return max(2 * all, least);
	return min(first << x->rtt.backoff, max(all, least));
}

/* Begins the time in which an acknowledgement must come; without a timeout there is no limit. */
static void hca_wire_start_timer(struct hca_qp *qp)
{
	struct hca_fabric *f = qp->hca->fabric;

	if (qp->ack_timeout && qp->st != MLX5_QP_ST_UC)
		hca_timer_set(f, &qp->wire->timer, f->now + hca_wire_timeout_ns(qp));
}

static void hca_wire_end(struct hca_wire *x)
{
	struct hca_sent *e = hca_wire_sent(x, x->first);

	x->una = (e->psn + e->packets) & HCA_PSN_MASK;
	x->reads -= hca_wire_is_answered(e->opcode);
	if (x->at == x->first) {
		x->at++;
		x->at_packet = 0;
	}
	x->first++;
	if (!hca_wire_is_outstanding(x)) {
		x->in_flight = 0;
		x->drain = false;
	}
}

/* The oldest request is complete, and its answer may be in the completion. */
static void hca_wire_complete_answered(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;
	struct hca_wqe *w = &qp->hca->fabric->scratch->wqe;
	struct hca_sent *e = hca_wire_sent(x, x->first);

	w->opcode = e->opcode;
	w->index = e->index;
	w->length = e->length;
	if (e->signalled)
		hca_req_post_success(qp, w);
	qp->hca->fabric->stat.wqes++;
	hca_wire_end(x);
}

/* The oldest request is complete. */
static void hca_wire_complete(struct hca_qp *qp)
{
	qp->hca->fabric->scratch->wqe.in_cqe = 0;
	hca_wire_complete_answered(qp);
}

void hca_wire_reset_requester(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	if (hca_wire_is_outstanding(x))
		qp->sq.ci = hca_wire_sent(x, x->first)->index;
	x->first = x->end = x->at = 0;
	x->at_packet = 0;
	x->in_flight = 0;
	x->reads = 0;
	x->timeouts = 0;
	x->error = 0;
	x->drain = false;
	x->recovering = false;
	x->rtt.since = 0;
	memset(&x->gate, 0, sizeof(x->gate));
	x->session = 0;
	hca_wire_stop_timer(qp);
	hca_rate_reset(qp);
}

/* The oldest request fails; those after it will be flushed. */
static void hca_wire_fail(struct hca_qp *qp, u8 syndrome)
{
	struct hca_wire *x = qp->wire;
	struct hca_sent e = *hca_wire_sent(x, x->first);

	hca_wire_reset_requester(qp);
	qp->sq.ci = e.index + e.nbb;
	hca_req_post_error(qp, e.index, e.opcode, syndrome);
	if (qp->st == MLX5_QP_ST_UC)
		hca_fail_sq(qp);
	else
		hca_fail_qp(qp);
}

/* What is acknowledged need not be sent again. */
static void hca_wire_skip_acked(struct hca_wire *x)
{
	if (x->at == x->first)
		x->at_packet = max(x->at_packet,
				   hca_wire_distance(hca_wire_sent(x, x->first)->psn, x->una));
}

/* The packet that is measured has been acknowledged. */
static void hca_wire_measure(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;
	u64 ns;

	if (!x->rtt.since || hca_wire_distance(x->rtt.psn, x->una) - 1 >= HCA_PSN_HALF)
		return;
	ns = min_t(u64, qp->hca->fabric->now - x->rtt.since, U32_MAX / RTT_WEIGHT);
	x->rtt.ns = x->rtt.ns ? x->rtt.ns - x->rtt.ns / RTT_WEIGHT + ns / RTT_WEIGHT : ns;
	x->rtt.since = 0;
	x->rtt.backoff = 0;
}

/* An answer has come: the retries begin again. */
static void hca_wire_progress(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	x->recovering = false;
	x->timeouts = 0;
	hca_wire_measure(qp);
	qp->retry_left = qp->retry_cnt;
	qp->rnr_left = qp->rnr_retry;
	if (hca_wire_is_outstanding(x)) {
		hca_wire_skip_acked(x);
		hca_wire_start_timer(qp);
	} else {
		hca_wire_stop_timer(qp);
	}
	/* The request that could not be sent is now the oldest. */
	if (x->error && x->first == x->at) {
		qp->hca->fabric->key_fault = x->fault;
		hca_wire_fail(qp, x->error);
	} else {
		hca_share_add(qp);
	}
}

/* ---- Sending ---------------------------------------------------------------------- */

/* Sends again from @psn, which is not acknowledged. */
static void hca_wire_go_back(struct hca_qp *qp, u32 psn)
{
	struct hca_wire *x = qp->wire;
	struct hca_sent *e;

	for (x->at = x->first; x->at != x->end; x->at++) {
		e = hca_wire_sent(x, x->at);
		x->at_packet = hca_wire_distance(e->psn, psn);
		if (x->at_packet < e->packets)
			break;
	}
	x->in_flight = 0;
	x->error = 0;
	x->recovering = true;
	x->rtt.since = 0;
	x->gate.asked = false;
	hca_share_add(qp);
}

static u8 hca_wire_operation(const struct hca_wqe *w, u32 packet)
{
	bool last = packet + 1 == w->packets;

	if (w->packets == 1 || hca_wire_is_answered(w->opcode))
		return operations[w->opcode].only;
	if (!packet)
		return operations[w->opcode].first;
	return last ? operations[w->opcode].last : operations[w->opcode].middle;
}

/* The headers of a packet of @w.  A READ requests the part that begins with this packet. */
static struct hca_packet hca_wire_request_packet(struct hca_qp *qp, const struct hca_wqe *w,
						 u32 psn, u32 packet)
{
	struct hca_packet p = hca_wire_packet(qp, hca_wire_operation(w, packet), psn + packet);
	u64 skip = w->opcode == MLX5R_OP_RDMA_READ ? (u64)packet * qp->mtu : 0;
	const struct hca_sent *e = hca_wire_sent(qp->wire, qp->wire->at);
	bool answered = hca_wire_is_answered(w->opcode);
	bool last = packet + 1 == w->packets || answered;

	p.srqn = w->xrc_srqn;
	p.addr = w->raddr + skip;
	p.key = w->rkey;
	p.dma_length = min_t(u64, w->length - skip, (u64)hca_wire_part(qp->wire, e) * qp->mtu);
	p.imm = w->imm;
	p.solicited = last && w->fm_ce_se & MLX5R_SOLICITED;
	p.ack_request = qp->st != MLX5_QP_ST_UC && (last || p.psn % ACK_PACKETS == 0);
	if (!answered)
		p.length = min_t(u64, w->length - (u64)packet * qp->mtu, qp->mtu);
	if (hca_wire_is_extended(w->opcode)) {
		p.add = w->opcode == MLX5R_OP_ATOMIC_MASKED_FA;
		p.log_operand = ilog2(w->operand);
		p.length = hca_wqe_arg_bytes(w);
	} else if (w->operand) {
		p.swap_add = be64_to_cpu(((const __be64 *)w->args)[0]);
		p.compare = be64_to_cpu(((const __be64 *)w->args)[1]);
	}
	return p;
}

/* A probe takes the place of a private packet until the peer has answered one. */
static int hca_wire_pass_gate(struct hca_qp *qp, const struct hca_wqe *w)
{
	struct hca_wire *x = qp->wire;
	bool dc = qp->st == MLX5_QP_ST_DCI;

	if ((!dc && !hca_wire_is_extended(w->opcode)) || (x->session && !x->gate.unsure))
		return 0;
	if (hca_wire_gate_is_open(qp)) {
		if (dc && !x->session)
			x->session = hca_wire_gate_session(qp);
		return 0;
	}
	if (!hca_wire_gate_ask(qp) && !hca_timer_due(&x->timer))
		hca_wire_start_timer(qp);
	return HCA_AGAIN;
}

/* One packet of the request @w, which has the entry x->at */
static int hca_wire_send_packet(struct hca_qp *qp, const struct hca_wqe *w, struct hca_sgl *from)
{
	struct hca_wire *x = qp->wire;
	struct hca_sent *e = hca_wire_sent(x, x->at);
	struct hca_packet p;
	u32 end;
	int ret;

	hca_charge(qp->hca->fabric, HCA_REQUESTS, 1);
	ret = hca_wire_pass_gate(qp, w);
	if (ret)
		return ret;
	p = hca_wire_request_packet(qp, w, e->psn, x->at_packet);
	ret = hca_wire_send(qp, &p, from);
	if (ret)
		return ret;
	/* All parts of a READ count as one packet. */
	x->in_flight += qp->st != MLX5_QP_ST_UC &&
			(e->opcode != MLX5R_OP_RDMA_READ || !x->at_packet || x->recovering);
	x->at_packet += hca_wire_is_answered(e->opcode) ? hca_wire_part(x, e) : 1;
	end = (e->psn + x->at_packet) & HCA_PSN_MASK;
	if (hca_wire_distance(x->una, end) > hca_wire_distance(x->una, x->high))
		x->high = end;
	if (!p.ack_request)
		return 0;
	if (!x->rtt.since && !x->recovering) {
		x->rtt.since = qp->hca->fabric->now;
		x->rtt.psn = p.psn;
	}
	if (!hca_timer_due(&x->timer))
		hca_wire_start_timer(qp);
	return 0;
}

/* Sends the packets of the request @w from x->at_packet on, as many as the turn allows. */
static int hca_wire_send_message(struct hca_qp *qp, struct hca_wqe *w)
{
	struct hca_wire *x = qp->wire;
	struct hca_sge args = { .len = hca_wqe_arg_bytes(w), .data = w->args };
	struct hca_sent *e = hca_wire_sent(x, x->at);
	struct hca_sgl from;
	int ret;

	if (hca_wire_is_extended(w->opcode))
		hca_sgl_init(&from, qp, 0, &args, 1);
	else
		hca_sgl_init(&from, qp, MLX5R_MKEY_ACCESS_LR, w->sge, w->nsge);
	if (w->has_calc)
		from.calc = &w->calc;
	hca_sgl_skip(&from, (u64)x->at_packet * qp->mtu);
	while (x->at_packet < e->packets) {
		if (!hca_wire_window_open(x) || !hca_wire_may_read(x) ||
		    !hca_turn_left(qp->hca->fabric) || hca_halted(qp->hca) ||
		    !hca_rate_allows(qp))
			return HCA_AGAIN;
		ret = hca_wire_send_packet(qp, w, &from);
		if (ret)
			return ret;
	}
	x->at++;
	x->at_packet = 0;
	/* UC: complete when it has left */
	if (qp->st == MLX5_QP_ST_UC)
		hca_wire_complete(qp);
	return 0;
}

/* The request that is sent fails when all requests before it are complete. */
static void hca_wire_fail_later(struct hca_qp *qp, u8 syndrome)
{
	struct hca_wire *x = qp->wire;

	x->error = syndrome;
	x->fault = qp->hca->fabric->key_fault;
	if (x->first == x->at)
		hca_wire_fail(qp, syndrome);
}

/* True if the next message can follow. */
static bool hca_wire_send_some(struct hca_qp *qp, struct hca_wqe *w)
{
	int ret = hca_wire_send_message(qp, w);

	if (ret && ret != HCA_AGAIN)
		hca_wire_fail_later(qp, ret);
	return !ret;
}

static bool hca_wire_is_same(const struct hca_sent *e, const struct hca_wqe *w)
{
	return w->opcode == e->opcode && w->length == e->length && w->nbb == e->nbb;
}

/* Fetches the request of entry @i again, and begins its calculation again; 0 or a syndrome */
static int hca_wire_fetch(struct hca_qp *qp, struct hca_wqe *w, u32 i)
{
	struct hca_sent *e = hca_wire_sent(qp->wire, i);
	int ret;

	w->operand = 0;
	hca_charge(qp->hca->fabric, HCA_REQUESTS, 1);
	ret = hca_wqe_fetch_at(qp, w, e->index);
	if (!ret && w->has_calc)
		ret = hca_calc_begin(qp, w);
	if (ret)
		return ret;
	if (!hca_wire_is_same(e, w))
		return MLX5R_SYND_LOCAL_QP_OP;
	w->packets = e->packets;
	return 0;
}

/* If the receiver was not ready, it has named a time, for which qp->timer is set. */
bool hca_wire_has_more(const struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	return x->at != x->end && hca_wire_window_open(x) && hca_wire_may_read(x) &&
	       !hca_timer_due(&qp->timer) && !hca_wire_waits(qp) && !x->gate.asked;
}

void hca_wire_run(struct hca_qp *qp)
{
	struct hca_wqe *w = &qp->hca->fabric->scratch->wqe;
	int ret;

	hca_wire_find_flow(qp);
	while (hca_wire_has_more(qp) && hca_turn_left(qp->hca->fabric) && !hca_halted(qp->hca)) {
		ret = hca_wire_fetch(qp, w, qp->wire->at);
		if (ret)
			hca_wire_fail_later(qp, ret);
		else if (!hca_wire_send_some(qp, w))
			return;
	}
}

/* A small fence is for requests that are executed here: those are complete. */
static bool hca_wire_has_fence(const struct hca_wqe *w)
{
	return (w->fm_ce_se & MLX5R_FM_MASK) > MLX5R_FM_SMALL;
}

/* Must the request wait for those before it? */
static bool hca_wire_must_wait(const struct hca_qp *qp, const struct hca_wqe *w)
{
	const struct hca_wire *x = qp->wire;

	if (!hca_wire_is_outstanding(x))
		return false;
	return (x->reads && hca_wire_has_fence(w)) || w->has_calc ||
	       (hca_wire_is_answered(w->opcode) &&
		x->reads >= 1u << MLX5_GET(qpc, qp->qpc, log_sra_max));
}

/* The arguments of an extended atomic must fit into one packet. */
static bool hca_wire_can_send(const struct hca_qp *qp, const struct hca_wqe *w)
{
	return w->opcode < ARRAY_SIZE(operations) && operations[w->opcode].only &&
	       !(hca_wire_is_extended(w->opcode) && hca_wqe_arg_bytes(w) > qp->mtu);
}

int hca_wire_post(struct hca_qp *qp, struct hca_wqe *w)
{
	struct hca_wire *x = qp->wire;

	if (!hca_wire_can_send(qp, w))
		return MLX5R_SYND_LOCAL_QP_OP;
	if (hca_wire_must_wait(qp, w)) {
		hca_wire_drain(qp);
		return HCA_AGAIN;
	}
	if (!hca_wire_is_outstanding(x)) {
		x->una = qp->sq_psn;
		x->high = qp->sq_psn;
	}
	*hca_wire_sent(x, x->end++) = (struct hca_sent) {
		.length = w->length,
		.psn = qp->sq_psn,
		.packets = w->packets,
		.index = w->index,
		.nbb = w->nbb,
		.opcode = w->opcode,
		.signalled = hca_wqe_signalled(w),
	};
	x->reads += hca_wire_is_answered(w->opcode);
	qp->sq_psn = (qp->sq_psn + w->packets) & HCA_PSN_MASK;
	qp->sq.ci += w->nbb;
	hca_wire_send_some(qp, w);
	return HCA_POSTED;
}

/* ---- Answers ------------------------------------------------------------------------ */

/* True if no retry is left: the oldest request has failed. */
static bool hca_wire_use_retry(struct hca_qp *qp)
{
	if (!qp->retry_left && hca_wire_apm_retry(qp))
		return false;
	if (!qp->retry_left) {
		hca_wire_fail(qp, MLX5R_SYND_RETRY_EXC);
		return true;
	}
	qp->retry_left--;
	return false;
}

/*
 * Everything up to @psn has arrived.  False if the answer of a READ or an atomic request before it
 * is missing.
 */
static bool hca_wire_acked(struct hca_qp *qp, u32 psn)
{
	struct hca_wire *x = qp->wire;
	struct hca_sent *e;
	u32 n;

	while (hca_wire_is_outstanding(x)) {
		e = hca_wire_sent(x, x->first);
		n = hca_wire_distance(x->una, psn) + 1;
		if (n > HCA_PSN_HALF)
			return true;
		/* An acknowledgement inside the range of a READ acknowledges nothing. */
		if (hca_wire_is_answered(e->opcode))
			return hca_wire_distance(e->psn, psn) < e->packets;
		n = min(n, e->packets - hca_wire_distance(e->psn, x->una));
		x->in_flight -= min(n, x->in_flight);
		x->una = (x->una + n) & HCA_PSN_MASK;
		if (hca_wire_distance(e->psn, x->una) < e->packets)
			return true;
		hca_wire_complete(qp);
	}
	return true;
}

/* An answer is missing: IBTA calls it an implied NAK.  It takes no retry. */
static void hca_wire_implied_nak(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	if (x->recovering)
		return;
	qp->counter->implied_nak++;
	hca_wire_go_back(qp, x->una);
}

static void hca_wire_take_ack(struct hca_qp *qp, const struct hca_packet *p)
{
	u32 una = qp->wire->una;
	bool complete = hca_wire_acked(qp, p->psn);

	if (qp->wire->una != una || !hca_wire_is_outstanding(qp->wire))
		hca_wire_progress(qp);
	if (!complete)
		hca_wire_implied_nak(qp);
}

static void hca_wire_take_rnr(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_fabric *f = qp->hca->fabric;

	/* The packets behind the first one may get the same answer. */
	if (hca_timer_due(&qp->timer))
		return;
	qp->counter->rnr_nak_retry++;
	if (qp->rnr_retry != 7) {
		if (!qp->rnr_left) {
			hca_wire_fail(qp, MLX5R_SYND_RNR_EXC);
			return;
		}
		qp->rnr_left--;
	}
	hca_wire_stop_timer(qp);
	hca_wire_go_back(qp, p->psn);
	hca_timer_set(f, &qp->timer, f->now + hca_req_rnr_ns(qp, p->syndrome & HCA_AETH_VALUE));
}

static void hca_wire_take_sequence_nak(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	if (x->recovering)
		return;
	qp->counter->packet_seq_err++;
	if (!hca_wire_use_retry(qp))
		hca_wire_go_back(qp, x->una);
}

static void hca_wire_take_nak(struct hca_qp *qp, const struct hca_packet *p)
{
	static const u8 syndromes[] = {
		[HCA_NAK_INVALID] = MLX5R_SYND_REMOTE_INVAL_REQ,
		[HCA_NAK_ACCESS] = MLX5R_SYND_REMOTE_ACCESS,
		[HCA_NAK_OPERATION] = MLX5R_SYND_REMOTE_OP,
	};
	u8 code = p->syndrome & HCA_AETH_VALUE;
	struct hca_wire *x = qp->wire;

	if (code == HCA_NAK_SEQUENCE)
		hca_wire_take_sequence_nak(qp);
	else if (code < ARRAY_SIZE(syndromes) &&
		 hca_wire_distance(hca_wire_sent(x, x->first)->psn, p->psn) <
		 hca_wire_sent(x, x->first)->packets)
		hca_wire_fail(qp, syndromes[code]);
}

/* A negative acknowledgement; it acknowledges all packets before its own. */
static void hca_wire_take_refusal(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_wire *x = qp->wire;

	if (p->psn != x->una) {
		if (!hca_wire_acked(qp, p->psn - 1)) {
			hca_wire_implied_nak(qp);
			return;
		}
		hca_wire_progress(qp);
	}
	if (!hca_wire_is_outstanding(x) || qp->fail_to)
		return;
	if ((p->syndrome & HCA_AETH_KIND) == HCA_AETH_RNR)
		hca_wire_take_rnr(qp, p);
	else
		hca_wire_take_nak(qp, p);
}

/*
 * The answer of a READ or an atomic request acknowledges everything before the request.  Returns
 * the request, or NULL if the answer is not the one that is expected next.
 */
static struct hca_sent *hca_wire_expected(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_wire *x = qp->wire;
	u32 una = x->una;

	if (p->psn != una)
		hca_wire_acked(qp, p->psn - 1);
	if (x->una != una)
		hca_wire_progress(qp);
	if (!hca_wire_is_outstanding(x) || qp->fail_to)
		return NULL;
	if (p->psn == x->una)
		return hca_wire_sent(x, x->first);
	hca_wire_implied_nak(qp);
	return NULL;
}

/* Where the answer goes; not 0: the request in the ring is not the one that was sent */
static int hca_wire_answer_target(struct hca_qp *qp, struct hca_sgl *to)
{
	struct hca_wqe *w = &qp->hca->fabric->scratch->wqe;
	int ret = hca_wire_fetch(qp, w, qp->wire->first);

	if (ret)
		return ret;
	hca_sgl_init(to, qp, MLX5R_MKEY_ACCESS_LW, w->sge, w->nsge);
	if (w->packets == 1 && hca_wqe_signalled(w) && !w->has_calc)
		hca_sgl_divert(to, w, qp->scq, qp->cs_req);
	return 0;
}

static bool hca_wire_read_length_fits(const struct hca_qp *qp, const struct hca_sent *e,
				      const struct hca_packet *p, u32 packet)
{
	return p->length == min_t(u64, e->length - (u64)packet * qp->mtu, qp->mtu);
}

static void hca_wire_take_read_data(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_sge data = { .len = p->length, .data = p->data };
	struct hca_wqe *w = &qp->hca->fabric->scratch->wqe;
	struct hca_wire *x = qp->wire;
	struct hca_sent *e;
	struct hca_sgl to, from;
	u32 packet;
	int ret;

	e = hca_wire_expected(qp, p);
	if (!e || e->opcode != MLX5R_OP_RDMA_READ)
		return;
	packet = hca_wire_distance(e->psn, p->psn);
	if (!hca_wire_read_length_fits(qp, e, p, packet)) {
		hca_wire_fail(qp, MLX5R_SYND_BAD_RESP);
		return;
	}
	ret = hca_wire_answer_target(qp, &to);
	if (ret) {
		hca_wire_fail(qp, ret);
		return;
	}
	hca_sgl_skip(&to, (u64)packet * qp->mtu);
	hca_sgl_init(&from, qp, 0, &data, 1);
	/* A READ that calculates has one packet. */
	if ((p->length && hca_copy(&to, &from, p->length)) ||
	    (w->has_calc && hca_calc_end(qp, w))) {
		hca_wire_fail(qp, MLX5R_SYND_LOCAL_PROT);
		return;
	}
	x->una = (x->una + 1) & HCA_PSN_MASK;
	if (packet + 1 == e->packets) {
		x->in_flight -= min(x->in_flight, 1u);
		hca_wire_complete_answered(qp);
	}
	hca_wire_progress(qp);
}

/* On the wire all results are big-endian; in memory, those of 8 bytes are not. */
static void hca_wire_take_atomic_result(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_sge data = { .len = sizeof(p->original), .data = (const u8 *)&p->original };
	bool extended = hca_packet_operation(p->opcode) == HCA_BTH_EXT_ATOMIC_ACK;
	struct hca_wire *x = qp->wire;
	struct hca_sgl to, from;
	struct hca_sent *e;
	__be64 word;
	u64 value;
	int ret;

	e = hca_wire_expected(qp, p);
	if (!e || e->opcode < MLX5R_OP_ATOMIC_CS || hca_wire_is_extended(e->opcode) != extended)
		return;
	if (extended && p->length == sizeof(word)) {
		memcpy(&word, p->data, sizeof(word));
		value = be64_to_cpu(word);
		data.data = (const u8 *)&value;
	} else if (extended) {
		data = (struct hca_sge) { .len = p->length, .data = p->data };
	}
	hca_sgl_init(&from, qp, 0, &data, 1);
	ret = hca_wire_answer_target(qp, &to);
	if (data.len != e->length) {
		hca_wire_fail(qp, MLX5R_SYND_BAD_RESP);
	} else if (ret) {
		hca_wire_fail(qp, ret);
	} else if (hca_copy(&to, &from, data.len)) {
		hca_wire_fail(qp, MLX5R_SYND_LOCAL_PROT);
	} else {
		x->in_flight -= min(x->in_flight, 1u);
		hca_wire_complete_answered(qp);
		hca_wire_progress(qp);
	}
}

static void hca_wire_take_aeth(struct hca_qp *qp, const struct hca_packet *p)
{
	switch (p->syndrome & HCA_AETH_KIND) {
	case HCA_AETH_ACK:
		hca_wire_take_ack(qp, p);
		return;
	case HCA_AETH_RNR:
	case HCA_AETH_NAK:
		hca_wire_take_refusal(qp, p);
	}
}

void hca_wire_response(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_wire *x = qp->wire;

	/* An answer to what is complete already, or was never sent */
	if (!hca_wire_is_outstanding(x) ||
	    hca_wire_distance(x->una, p->psn) >= hca_wire_distance(x->una, x->high))
		return;
	switch (hca_packet_operation(p->opcode)) {
	case HCA_BTH_ACK:
		hca_wire_take_aeth(qp, p);
		return;
	case HCA_BTH_ATOMIC_ACK:
	case HCA_BTH_EXT_ATOMIC_ACK:
		hca_wire_take_atomic_result(qp, p);
		return;
	default:
		hca_wire_take_read_data(qp, p);
	}
}

/* False if the request has failed. */
static bool hca_wire_count_timeout(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	/* The short ones take one retry together. */
	if ((x->timeouts == 0 || x->timeouts >= SHORT_TIMEOUTS) && hca_wire_use_retry(qp))
		return false;
	if (x->timeouts < SHORT_TIMEOUTS)
		qp->counter->adp_retrans++;
	else
		qp->counter->timeouts++;
	qp->counter->adp_retrans_to += x->timeouts == SHORT_TIMEOUTS;
	x->timeouts++;
	x->gate.unsure = x->timeouts >= SHORT_TIMEOUTS;
	hca_wire_go_back(qp, x->una);
	return true;
}

/* The same as hca_wire_count_timeout(), for a function without a least timeout */
static bool hca_wire_count_plain_timeout(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	qp->counter->timeouts++;
	if (x->timeouts) {
		if (hca_wire_use_retry(qp))
			return false;
		x->gate.unsure = true;
		hca_wire_go_back(qp, x->una);
	}
	x->timeouts++;
	return true;
}

void hca_wire_timer(struct hca_timer *timer)
{
	struct hca_wire *x = container_of(timer, struct hca_wire, timer);
	struct hca_qp *qp = x->qp;
	bool again;

	if (!hca_halted(qp->hca)) {
		again = qp->hca->no_least_timeout ? hca_wire_count_plain_timeout(qp) :
						    hca_wire_count_timeout(qp);
		if (!again)
			return;
		x->rtt.backoff = min(x->rtt.backoff + 1, MAX_BACKOFF);
	}
	hca_wire_start_timer(qp);
}

#undef SHORT_FIRST_NS
