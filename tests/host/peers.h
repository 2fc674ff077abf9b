/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connected queue pairs with memory: those of two functions of a session, or of two hosts on
 * a wire, or of two functions of the first of these hosts.  Tests compare what happens to them.
 */
#ifndef PEERS_H
#define PEERS_H

#include <string.h>
#include "data/wire.h"
#include "wire_link.h"

enum {
	PEERS_BYTES	= 1 << 20,	/* of the memory of a peer */
	PEERS_WCS	= 64,		/* completions of a peer that are kept */
	PEERS_EVENTS	= 8,
};

struct peers_config {
	bool wired;
	bool one_host;			/* of the wire */
	u8 st;
	u8 cross;			/* of the first queue pair: SESSION_MASTER... */
	u32 log_sq[2], log_rq[2];	/* 0: 6 */
	struct session_path path;	/* fields that are not 0 replace the usual ones */
	bool fail_on_rnr;		/* rnr_retry of the path counts, also if it is 0 */
};

/* What a peer has seen; all bytes are compared */
struct peers_view {
	struct {
		u64 wr_id;
		u32 status, opcode, bytes;	/* 0 unless valid */
	} wc[PEERS_WCS];
	u64 nwcs;
	u8 event[PEERS_EVENTS];
	u64 nevents, state;
};

struct peer {
	struct session *s;
	int func;
	struct session_qp q;
	struct session_mr mr;
	u32 eq_ci;
	struct peers_view view;
};

static struct wire w;
static struct session local;
static struct peer peer[2];
static bool wired;

static inline struct hca *hca_of(u32 i)
{
	return peer[i].s->hca[peer[i].func];
}

static inline struct hca_qp *hw(u32 i)
{
	return hca_qp_get(hca_of(i), peer[i].q.qp.qp_num);
}

static inline struct hca_cq *hw_cq(u32 i)
{
	return hca_table_get(&hca_of(i)->cqs, peer[i].q.cqn);
}

static inline struct hca_counter *counter(u32 i)
{
	return hw(i)->counter;
}

/* ---- Setup ------------------------------------------------------------------- */

static inline void peers_set_path(struct session_path *to, const struct peers_config *c)
{
	const struct session_path *from = &c->path;

	to->mtu = from->mtu ? from->mtu : IB_MTU_1024;
	to->gid = from->gid;
	to->ack_timeout = from->ack_timeout ? from->ack_timeout : 14;
	to->retry_count = from->retry_count ? from->retry_count : 7;
	to->rnr_retry = from->rnr_retry || c->fail_on_rnr ? from->rnr_retry : 7;
	to->psn = from->psn ? from->psn : 0xa00000;
}

static inline void peers_make(u32 i, const struct peers_config *c)
{
	struct peer *p = &peer[i];
	u32 type;

	memset(p, 0, sizeof(*p));
	p->s = wired ? &w.s[c->one_host ? 0 : i] : &local;
	p->func = wired && !c->one_host ? 0 : i;
	peers_set_path(&p->s->path, c);
	p->s->cross = i ? 0 : c->cross;
	session_qp(p->s, p->func, c->st, c->log_sq[i] ? c->log_sq[i] : 6,
		   c->log_rq[i] ? c->log_rq[i] : 6, &p->q);
	p->s->cross = 0;
	p->mr = session_mr(p->s, p->func, PEERS_BYTES, ALL_ACCESS);
	for (type = 1; type < 0x20; type++)
		hca_of(i)->async_eq[type] = hca_table_get(&hca_of(i)->eqs, p->s->eqn[p->func]);
	for (type = 0; type < PEERS_BYTES; type++)
		p->mr.ptr[type] = i ? 0x55 : type * 7 + type / 4096;
}

/* The memory of the first peer has a pattern, that of the second one 0x55. */
static inline void peers_open(const struct peers_config *c)
{
	wired = c->wired;
	if (wired)
		wire_init(&w, 1);
	else
		session_init(&local);
	peers_make(0, c);
	peers_make(1, c);
	session_connect(&peer[0].q, &peer[1].q);
}

static inline void peers_close(void)
{
	session_qp_destroy(&peer[0].q);
	session_qp_destroy(&peer[1].q);
	if (wired)
		wire_free(&w);
	else
		session_free(&local);
}

/* ---- Running ------------------------------------------------------------------- */

/* One pass of both; without work, time passes. */
static inline void peers_pass(void)
{
	bool work;

	if (!wired) {
		session_pass(&local);
		return;
	}
	work = session_pass(&w.s[0]);
	work |= session_pass(&w.s[1]);
	if (!work)
		shim_now += w.delay / 4;
	wire_deliver(&w);
}

/* As wire_settle() */
static inline bool peers_settle(u64 limit)
{
	return wired ? wire_settle(&w, limit) : session_settle_timers(&local, limit);
}

/* ---- Requests of the first peer, and receive requests ------------------------------ */

static inline struct xv_sge here(u32 i, u32 off, u32 len)
{
	return session_sge(&peer[i].mr, off, len);
}

static inline void commit(u32 i)
{
	xv_commit_send(&peer[i].q.qp);
}

static inline void receive(u32 i, u64 wr_id, u32 off, u32 len)
{
	struct xv_sge sge = here(i, off, len);

	xv_wr_recv(&peer[i].q.qp, wr_id, &sge);
	xv_commit_recv(&peer[i].q.qp);
}

static inline void post_send(u64 wr_id, struct xv_sge sge)
{
	xv_wr_send(&peer[0].q.qp, wr_id, XV_SEND_SIGNALED, &sge);
}

static inline void post_write(u64 wr_id, struct xv_sge sge, u64 off, u32 key)
{
	xv_wr_write(&peer[0].q.qp, wr_id, XV_SEND_SIGNALED, &sge, peer[1].mr.addr + off, key);
}

static inline void post_write_imm(u64 wr_id, struct xv_sge sge, u64 off, u32 key)
{
	xv_wr_write_imm(&peer[0].q.qp, wr_id, XV_SEND_SIGNALED, &sge, peer[1].mr.addr + off, key,
			cpu_to_be32(wr_id));
}

static inline void post_read(u64 wr_id, struct xv_sge sge, u64 off, u32 key)
{
	xv_wr_read(&peer[0].q.qp, wr_id, XV_SEND_SIGNALED, &sge, peer[1].mr.addr + off, key);
}

static inline void post_add(u64 wr_id, struct xv_sge sge, u64 off, u32 key, u64 value)
{
	xv_wr_atomic_fa(&peer[0].q.qp, wr_id, XV_SEND_SIGNALED, &sge, peer[1].mr.addr + off, key,
			value);
}

/* ---- What they see ----------------------------------------------------------------- */

static inline void peers_take_events(struct peer *p)
{
	struct hca_eq *eq = hca_table_get(&p->s->hca[p->func]->eqs, p->s->eqn[p->func]);
	u32 n = 1u << eq->log_size;

	for (;; p->eq_ci++) {
		const u8 *e = hca_buf_at(&eq->buf, (p->eq_ci & (n - 1)) * 64ull);

		if ((e[63] & 1) != !!(p->eq_ci & n))
			return;
		/* Events of the port and of completions are no result. */
		if (e[1] && e[1] < 0x20 && e[1] != MLX5_EVENT_TYPE_PORT_CHANGE &&
		    p->view.nevents < PEERS_EVENTS)
			p->view.event[p->view.nevents++] = e[1];
	}
}

static inline void peers_take_wcs(struct peer *p)
{
	struct peers_view *v = &p->view;
	struct xv_wc wc;

	while (xv_poll_cq(&p->q.cq, 1, &wc) > 0) {
		u32 i = v->nwcs++ % PEERS_WCS;

		v->wc[i].wr_id = wc.wr_id;
		v->wc[i].status = wc.status;
		v->wc[i].opcode = wc.status ? 0 : wc.opcode;
		v->wc[i].bytes = !wc.status && wc.opcode & XV_WC_RECV ? wc.byte_len : 0;
	}
}

/* Adds what has happened since the last call. */
static inline struct peers_view *look(u32 i)
{
	peers_take_events(&peer[i]);
	peers_take_wcs(&peer[i]);
	peer[i].view.state = hw(i) ? hw(i)->state : 0;
	return &peer[i].view;
}

static inline void peers_print(const struct peers_view *v)
{
	u64 i;

	printf("#  state %u;", (u32)v->state);
	for (i = 0; i < v->nwcs && i < PEERS_WCS; i++)
		printf(" %u: status %u, opcode %u, %u bytes;", (u32)v->wc[i].wr_id,
		       v->wc[i].status, v->wc[i].opcode, v->wc[i].bytes);
	for (i = 0; i < v->nevents; i++)
		printf(" event %#x", v->event[i]);
	putchar('\n');
}

#endif
