// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One side of a connection: device, port, GID, memory, and the transitions of a
 * queue pair from RESET to RTS.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include "tool.h"

int xt_side_open(struct xt_side *s, const char *device, uint32_t port, int gid_index)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->port = port ? port : 1;
	s->ctx = xv_open(device);
	if (!s->ctx)
		return -errno;
	err = xv_query_port(s->ctx, s->port, &s->attr);
	if (!err && gid_index < 0)
		err = gid_index = xv_default_gid_index(s->ctx, s->port);
	if (err >= 0)
		err = xv_query_gid(s->ctx, s->port, (uint32_t)gid_index, &s->gid);
	if (!err) {
		s->gid_index = (uint32_t)gid_index;
		s->pd = xv_alloc_pd(s->ctx);
		err = s->pd ? 0 : -errno;
	}
	if (err) {
		xv_close(s->ctx);
		s->ctx = NULL;
	}
	return err;
}

void xt_side_set_net(struct xt_side *s, const struct xt_net *net)
{
	s->net = *net;
	if (net->mtu && net->mtu < s->attr.active_mtu)
		s->attr.active_mtu = (enum xv_mtu)net->mtu;
}

void xt_side_close(struct xt_side *s)
{
	if (!s->ctx)
		return;
	if (s->pd)
		xv_dealloc_pd(s->pd);
	xv_close(s->ctx);
	s->ctx = NULL;
}

struct xv_mr *xt_mr_alloc(struct xt_side *s, size_t length, unsigned int access)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct xv_mr *mr;

	if (p == MAP_FAILED)
		return NULL;
	mr = xv_reg_mr(s->pd, p, length, access);
	if (!mr)
		munmap(p, length);
	return mr;
}

void xt_mr_free(struct xv_mr *mr)
{
	size_t length;
	void *p;

	if (!mr)
		return;
	p = mr->addr;
	length = mr->length;
	if (!xv_dereg_mr(mr))
		munmap(p, length);
}

/*
 * The first packet number of a queue pair, which others must not guess: a number is easy to
 * guess if it follows from that of the queue pair.  It is a mix of that number and a secret.
 */
static uint32_t first_psn(uint32_t qpn)
{
	static uint64_t secret;
	uint64_t v = __atomic_load_n(&secret, __ATOMIC_RELAXED), none = 0;

	if (!v) {
		if (getrandom(&v, sizeof(v), 0) != sizeof(v))
			xt_die(XT_FAILED, "no random numbers: %s", strerror(errno));
		v |= 1;
		if (!__atomic_compare_exchange_n(&secret, &none, v, false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED))
			v = none;
	}
	v += qpn * 0x9e3779b97f4a7c15ull;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)(v >> 40);
}

void xt_peer_of(const struct xt_side *s, const struct xv_qp *qp, struct xt_peer *p)
{
	p->qpn = qp->qp_num;
	p->psn = first_psn(qp->qp_num);
	p->lid = s->attr.lid;
	p->mtu = s->attr.active_mtu;
	p->srqn = 0;
	p->gid = s->gid;
}

/* Requester and responder of reliable transports need different attributes (Manual 3.5). */
static bool is_requester(const struct xv_qp *qp)
{
	return qp->qp_type == XV_QPT_RC || qp->qp_type == XV_QPT_XRC_SEND;
}

static bool is_responder(const struct xv_qp *qp)
{
	return qp->qp_type == XV_QPT_RC || qp->qp_type == XV_QPT_XRC_RECV;
}

static int to_init(struct xv_qp *qp, const struct xt_side *s, uint32_t access)
{
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT,
		.port_num = (uint8_t)s->port,
		.pkey_index = s->net.pkey_index,
		.qp_access_flags = access,
	};

	return xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
			    XV_QP_ACCESS_FLAGS);
}

static int to_rtr(struct xv_qp *qp, const struct xt_side *s, const struct xt_peer *peer,
		  const struct xt_rc_opts *o)
{
	bool eth = s->attr.link_layer == XV_LINK_LAYER_ETHERNET;
	uint32_t mtu = peer->mtu < s->attr.active_mtu ? peer->mtu : s->attr.active_mtu;
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_RTR,
		.path_mtu = (enum xv_mtu)mtu,
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = o->min_rnr_timer ? o->min_rnr_timer : 1,
		.ah_attr = {
			.dlid = (uint16_t)peer->lid,
			.sl = s->net.sl,
			.is_global = eth,
			.port_num = (uint8_t)s->port,
			.grh = {
				.dgid = peer->gid,
				.sgid_index = (uint8_t)s->gid_index,
				.hop_limit = 64,
				.traffic_class = s->net.tclass,
			},
		},
	};

	unsigned int mask = XV_QP_STATE | XV_QP_AV | XV_QP_PATH_MTU | XV_QP_DEST_QPN |
			    XV_QP_RQ_PSN;

	if (is_responder(qp))
		mask |= XV_QP_MAX_DEST_RD_ATOMIC | XV_QP_MIN_RNR_TIMER;
	return xv_modify_qp(qp, &a, mask);
}

static int to_rts(struct xv_qp *qp, uint32_t psn, const struct xt_rc_opts *o)
{
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_RTS,
		.sq_psn = psn,
		.timeout = o->timeout ? o->timeout : 14,
		.retry_cnt = o->retry_cnt ? o->retry_cnt : 7,
		.rnr_retry = o->no_rnr_retry ? 0 : o->rnr_retry ? o->rnr_retry : 7,
		.max_rd_atomic = 16,
	};

	unsigned int mask = XV_QP_STATE | XV_QP_SQ_PSN;

	if (is_requester(qp))
		mask |= XV_QP_TIMEOUT | XV_QP_RETRY_CNT | XV_QP_RNR_RETRY | XV_QP_MAX_QP_RD_ATOMIC;
	if (qp->qp_type == XV_QPT_XRC_RECV)
		mask |= XV_QP_TIMEOUT;
	return xv_modify_qp(qp, &a, mask);
}

int xt_connect(struct xv_qp *qp, const struct xt_side *s, const struct xt_peer *peer,
	       const struct xt_rc_opts *opts)
{
	static const struct xt_rc_opts defaults;
	const struct xt_rc_opts *o = opts ? opts : &defaults;
	const uint32_t all = XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ |
			     XV_ACCESS_REMOTE_ATOMIC;
	uint32_t access = o->no_access ? 0 : o->access ? o->access : all;
	struct xt_peer self;
	int err;

	xt_peer_of(s, qp, &self);
	if (qp->qp_type == XV_QPT_UC)
		access &= XV_ACCESS_REMOTE_WRITE;
	err = to_init(qp, s, access);
	if (!err)
		err = to_rtr(qp, s, peer, o);
	if (!err)
		err = to_rts(qp, self.psn, o);
	return err;
}

int xt_connect_pair(struct xv_qp *a, const struct xt_side *sa, struct xv_qp *b,
		    const struct xt_side *sb, const struct xt_rc_opts *opts)
{
	struct xt_peer pa, pb;
	int err;

	xt_peer_of(sa, a, &pa);
	xt_peer_of(sb, b, &pb);
	err = xt_connect(a, sa, &pb, opts);
	return err ? err : xt_connect(b, sb, &pa, opts);
}
