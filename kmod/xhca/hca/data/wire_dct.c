// SPDX-License-Identifier: GPL-2.0
/*
 * DC targets whose initiators are on the wire.
 *
 * Each packet of a request names the DCI, its session and the access key.  For each DCI that sends,
 * the function has a session: a queue pair without a number, which receives for the DCT as one of
 * RC does (wire_responder.c).  It begins with any packet of the session, because the first packet
 * has the PSN 0.
 *
 * A request must not be executed again when a copy of its packet arrives after the function has
 * forgotten the session.  Therefore the number of a session is the time when it began, by the clock
 * of this host, which the DCI knows from the answer to its probe (wire_gate.c).  A session begins
 * only within FRESH_NS after that time, and only with a higher number than the last session of the
 * DCI.
 * What is known of a DCI stays for HOLD_NS, which is longer.
 *
 * There are at most SESSIONS of them.  If none is old enough to be forgotten, a further DCI gets no
 * answer.  A message whose DCI is silent for HOLD_NS ends.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "data/wire.h"

enum {
	SESSIONS	= 1024,	/* of a function */
	BUCKETS		= 256,
	PASS_SESSIONS	= 64,	/* that end in a pass */
};

#define FRESH_NS	8000000000ull
#define AHEAD_NS	100000000ull	/* clocks diverge, and a pass does not always read them */
#define HOLD_NS		10000000000ull

/* A DCI on the wire, and its last session */
struct hca_dc_source {
	struct list_head entry;		/* hca_dc.bucket */
	struct list_head use_entry;	/* hca_dc.sources */
	u64 used;			/* when a packet has arrived */
	u64 session;
	struct hca_qp qp;		/* qp.session_of is NULL: it has ended */
};

struct hca_dc {
	struct hca *hca;
	struct list_head bucket[BUCKETS];
	struct list_head sources;	/* the one that was used longest ago is first */
	u32 n;
	struct hca_timer timer;		/* it may be forgotten */
	u64 since;			/* the last reset: all sessions before it are forgotten */
};

bool hca_wire_dct_init(struct hca *hca)
{
	struct hca_dc *dc;
	u32 i;

	if (!hca->p.wired || hca->dc)
		return true;
	dc = kvzalloc(sizeof(*dc), GFP_KERNEL);
	if (!dc)
		return false;
	if (hca_heap_join(&hca->fabric->timers)) {
		kvfree(dc);
		return false;
	}
	for (i = 0; i < BUCKETS; i++)
		INIT_LIST_HEAD(&dc->bucket[i]);
	INIT_LIST_HEAD(&dc->sources);
	dc->hca = hca;
	dc->timer.owner = HCA_TIMER_DC;
	hca->dc = dc;
	return true;
}

/* ---- The end of a session ---------------------------------------------------------------- */

/* Takes it off every list.  A message in progress is not completed. */
static void hca_wire_dct_end(struct hca_dc_source *s)
{
	struct hca_qp *qp = &s->qp;

	if (!qp->session_of)
		return;
	hca_dci_end(qp);
	hca_rq_release(qp);
	hca_share_del(qp);
	hca_fail_forget(qp);
	list_del_init(&qp->room_entry);
	hca_wire_reset_responder(qp);
	qp->session_of = NULL;
}

static void hca_wire_dct_forget(struct hca_dc *dc, struct hca_dc_source *s)
{
	hca_wire_dct_end(s);
	list_del(&s->entry);
	list_del(&s->use_entry);
	dc->n--;
	kfree(s->qp.wire->result);
	kfree(s->qp.wire);
	kfree(s);
}

static struct hca_dc_source *hca_wire_dct_oldest(struct hca_dc *dc)
{
	return list_first_entry_or_null(&dc->sources, struct hca_dc_source, use_entry);
}

void hca_wire_dct_reset(struct hca *hca)
{
	struct hca_dc_source *s;
	struct hca_dc *dc = hca->dc;

	if (!dc)
		return;
	while ((s = hca_wire_dct_oldest(dc)))
		hca_wire_dct_forget(dc, s);
	hca_timer_clear(hca->fabric, &dc->timer);
	dc->since = hca->fabric->now;
}

void hca_wire_dct_exit(struct hca *hca)
{
	struct hca_dc *dc = hca->dc;

	if (!dc)
		return;
	hca_wire_dct_reset(hca);
	hca_heap_leave(&hca->fabric->timers, &dc->timer.entry);
	kvfree(dc);
}

void hca_wire_dct_stop(struct hca_qp *dct)
{
	struct hca_dc *dc = dct->hca->dc;
	struct hca_dc_source *s;

	if (!dc)
		return;
	list_for_each_entry(s, &dc->sources, use_entry)
		if (s->qp.session_of == dct)
			hca_wire_dct_end(s);
}

static bool hca_wire_dct_is_old(const struct hca_dc *dc, const struct hca_dc_source *s)
{
	return s->used + HOLD_NS <= dc->hca->fabric->now;
}

void hca_wire_dct_timer(struct hca_timer *timer)
{
	struct hca_dc *dc = container_of(timer, struct hca_dc, timer);
	struct hca_dc_source *s;
	u32 n;

	for (n = 0; n < PASS_SESSIONS && (s = hca_wire_dct_oldest(dc)); n++) {
		if (!hca_wire_dct_is_old(dc, s))
			break;
		hca_wire_dct_forget(dc, s);
	}
	s = hca_wire_dct_oldest(dc);
	if (s)
		hca_timer_set(dc->hca->fabric, timer, s->used + HOLD_NS);
}

/* ---- DCIs -------------------------------------------------------------------------------- */

static bool hca_wire_dct_is_of(const struct hca_dc_source *s, const struct hca_packet *p)
{
	const struct hca_flow *from = &s->qp.wire->flow;

	return s->qp.remote_qpn == p->sqpn && from->l3 == p->flow.l3 &&
	       !memcmp(from->dgid, p->flow.sgid, sizeof(from->dgid)) &&
	       from->tagged == p->flow.tagged && !((from->tci ^ p->flow.tci) & HCA_VLAN_ID);
}

static struct list_head *hca_wire_dct_bucket(struct hca_dc *dc, const struct hca_packet *p)
{
	u32 mix = p->sqpn, i;

	for (i = 0; i < sizeof(p->flow.sgid); i++)
		mix = mix * 31 + p->flow.sgid[i];
	return &dc->bucket[mix % BUCKETS];
}

static struct hca_dc_source *hca_wire_dct_find(struct hca_dc *dc, const struct hca_packet *p)
{
	struct hca_dc_source *s;

	list_for_each_entry(s, hca_wire_dct_bucket(dc, p), entry)
		if (hca_wire_dct_is_of(s, p))
			return s;
	return NULL;
}

/* NULL: there is no room, or no memory. */
static struct hca_dc_source *hca_wire_dct_new(struct hca_dc *dc, const struct hca_packet *p)
{
	struct hca_dc_source *s = hca_wire_dct_oldest(dc);

	if (dc->n == SESSIONS && !hca_wire_dct_is_old(dc, s))
		return NULL;
	if (dc->n == SESSIONS)
		hca_wire_dct_forget(dc, s);
	s = kzalloc(sizeof(*s), HCA_GFP_NOWAIT);
	if (!s)
		return NULL;
	s->qp.wire = kzalloc(sizeof(*s->qp.wire), HCA_GFP_NOWAIT);
	if (!s->qp.wire) {
		kfree(s);
		return NULL;
	}
	s->qp.wire->qp = &s->qp;
	INIT_LIST_HEAD(&s->qp.wire->due_entry);
	list_add(&s->entry, hca_wire_dct_bucket(dc, p));
	list_add_tail(&s->use_entry, &dc->sources);
	dc->n++;
	return s;
}

/* ---- A new session ------------------------------------------------------------------------- */

/* Answers go back to where the request came from. */
static void hca_wire_dct_take_path(struct hca_qp *qp, const struct hca_packet *p, u8 sgid_index)
{
	qp->path.sgid_index = sgid_index;
	memcpy(qp->path.rgid, p->flow.sgid, sizeof(qp->path.rgid));
	memcpy(qp->path.rmac, p->flow.smac, sizeof(qp->path.rmac));
	qp->path.sl = p->flow.tci >> 13;
	qp->path.tclass = p->flow.tclass & ~HCA_ECN_BITS;
	qp->path.dscp = p->flow.tclass >> 2;
	qp->path.hop_limit = 64;
	qp->path.udp_sport = p->flow.sport;
	qp->path.flow_label = p->flow.flow_label;
	qp->wire->flow_epoch = 0;
}

/* The session receives as the DCT would. */
static void hca_wire_dct_copy(struct hca_qp *qp, const struct hca_qp *dct)
{
	struct hca_wire *x = qp->wire;

	memset(qp, 0, sizeof(*qp));
	qp->wire = x;
	qp->hca = dct->hca;
	qp->qpn = dct->qpn;
	qp->type = dct->type;
	qp->st = dct->st;
	qp->state = dct->state;
	qp->pm_state = dct->pm_state;
	qp->pd = dct->pd;
	qp->port = dct->port;
	qp->path = dct->path;
	qp->rre = dct->rre;
	qp->rwe = dct->rwe;
	qp->rae = dct->rae;
	qp->atomic_mode = dct->atomic_mode;
	qp->counter = dct->counter;
	qp->min_rnr = dct->min_rnr;
	qp->rlky = dct->rlky;
	qp->cs_res = dct->cs_res;
	qp->user_index = dct->user_index;
	qp->rcq = dct->rcq;
	qp->srq = dct->srq;
	qp->communication = true;
	qp->holder = qp;
	MLX5_SET(qpc, qp->qpc, log_rra_max, HCA_LOG_MAX_RD_ATOMIC);
	INIT_LIST_HEAD(&qp->recv_entry);
	INIT_LIST_HEAD(&qp->room_entry);
	INIT_LIST_HEAD(&qp->target_entry);
	hca_fail_init(qp);
}

static void hca_wire_dct_begin(struct hca_dc_source *s, struct hca_qp *dct,
			       const struct hca_packet *p, u8 sgid_index)
{
	struct hca_qp *qp = &s->qp;

	hca_wire_dct_end(s);
	hca_wire_dct_copy(qp, dct);
	hca_wire_dct_take_path(qp, p, sgid_index);
	hca_wire_reset_responder(qp);
	qp->remote_qpn = p->sqpn;
	qp->rq_psn = 0;
	qp->mtu = 128u << p->mtu;
	qp->wire->session = p->session;
	qp->session_of = dct;
	s->session = p->session;
	hca_wire_find_flow(qp);
	dct->counter->rx_dct_connect++;
}

static bool hca_wire_dct_is_fresh(const struct hca *hca, u64 session)
{
	u64 now = hca->fabric->now;

	return session <= now + AHEAD_NS && session + FRESH_NS >= now && session > hca->dc->since;
}

/* The DCI of the packet if it may begin a session, or NULL */
static struct hca_dc_source *hca_wire_dct_connect(struct hca_qp *dct, const struct hca_packet *p,
						  u8 sgid_index)
{
	struct hca_dc *dc = dct->hca->dc;
	struct hca_dc_source *s = hca_wire_dct_find(dc, p);

	if (s && p->session == s->session)
		return s->qp.session_of == dct && s->qp.mtu == 128u << p->mtu ? s : NULL;
	if (dct->dct.state != HCA_DCT_ACTIVE || !hca_wire_dct_is_fresh(dct->hca, p->session) ||
	    (s && p->session < s->session))
		return NULL;
	if (!s)
		s = hca_wire_dct_new(dc, p);
	if (s)
		hca_wire_dct_begin(s, dct, p, sgid_index);
	return s;
}

/* ---- Packets ------------------------------------------------------------------------------- */

/* A DCT that drains completes what has begun, and acknowledges what is complete. */
static bool hca_wire_dct_accepts(const struct hca_qp *dct, const struct hca_qp *qp,
				 const struct hca_packet *p)
{
	if (hca_wire_in_progress(qp) && !qp->target)
		return false;
	return dct->dct.state == HCA_DCT_ACTIVE ||
	       ((p->psn - qp->rq_psn) & HCA_PSN_MASK) >= HCA_PSN_HALF ||
	       (qp->target && !(hca_packet_flags(p->opcode) & HCA_OP_FIRST));
}

/* Each attempt of a request is counted once. */
static bool hca_wire_dct_has_key(struct hca_qp *dct, const struct hca_packet *p)
{
	if (p->dc_key == be64_to_cpu(dct->dct.key))
		return true;
	if (hca_packet_flags(p->opcode) & HCA_OP_FIRST)
		hca_dct_violated(dct);
	return false;
}

/* The packet of a local DCI does not come from the wire. */
static bool hca_wire_dct_can_receive(struct hca_qp *dct, const struct hca_packet *p,
				     const struct hca_gid *from)
{
	return dct->state == MLX5_QP_STATE_RTS && !dct->fail_to &&
	       !!hca_route_by_gid(dct->hca->fabric, p->flow.sgid, p->flow.smac, from) == p->local &&
	       hca_pkey_check(dct->port, hca_qp_pkey(dct), p->pkey);
}

void hca_wire_dct_take(struct hca *hca, const struct hca_packet *p)
{
	struct hca_gid from = hca_wire_network(p);
	int index = hca_route_gid_index(hca, p->flow.dgid, p->flow.dmac, &from);
	struct hca_qp *dct = hca_dct_get(hca, p->dqpn);
	struct hca_fabric *f = hca->fabric;
	struct hca_dc_source *s;

	if (!dct || index < 0 || !hca_wire_dct_can_receive(dct, p, &from) ||
	    !hca_wire_dct_has_key(dct, p))
		return;
	s = hca_wire_dct_connect(dct, p, index);
	if (!s || !hca_wire_dct_accepts(dct, &s->qp, p))
		return;
	s->used = f->now;
	list_move_tail(&s->use_entry, &hca->dc->sources);
	if (!hca_timer_due(&hca->dc->timer))
		hca_timer_set(f, &hca->dc->timer, f->now + HOLD_NS);
	hca_count_rcv(dct->port, p->length, false);
	if (hca_congestion_is_marked(p))
		hca_congestion_notify(&s->qp, p);
	hca_wire_request(&s->qp, p);
	hca_wire_update_session(&s->qp);
}

#undef FRESH_NS
#undef AHEAD_NS
#undef HOLD_NS
