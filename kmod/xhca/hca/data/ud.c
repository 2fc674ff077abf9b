// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams: UD queue pairs, QP 0, QP 1, multicast.
 *
 * The receiver gets 40 bytes of network header before the data: a GRH, an IPv6 header, or
 * an IPv4 header in the last 20 bytes.  A datagram without a receiver is dropped silently.
 *
 * A datagram is delivered to a receiver in one step, if it does not have very many pieces
 * (ud_long.c).  A multicast may take several turns, with some receivers in each; every turn
 * gathers its bytes again, but not those of a long datagram.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "data/wire.h"
#include "sa/sa.h"

enum {
	NEXT_UDP	= 17,
	IPV4_BYTES	= 20,
	UDP_BYTES	= 8,
	BTH_BYTES	= 12,
	DETH_BYTES	= 8,
	IMM_BYTES	= 4,
	ICRC_BYTES	= 4,
	NEXT_IBA	= 0x1b,
};

#define QKEY_CONTROLLED	0x80000000u

/* flags_rqpn of a CQE: bits 27:24 are the service level, on RoCE the type of the header */
enum { CQE_L3_SHIFT = 24 };

#define CQE_GRH		(1u << 28)

enum {
	CQE_VLAN	= 1,	/* l4_hdr_type_etc */
	CQE_PRIO_SHIFT	= 13,	/* vlan_info */
};

/* The datagram that is sent or has arrived */
struct datagram {
	struct hca_fabric *f;
	struct hca_qp *src;		/* NULL: it comes from the wire */
	const struct hca_wqe *w;	/* NULL: from the wire, or an answer of the adapter */
	struct hca_port *from;
	struct hca_port *to;		/* receiver: the subnet manager or a port */
	u32 length;
	u32 qkey, src_qpn;
	u16 pkey;
	u16 slid;
	const struct hca_gid *gid;	/* RoCE: the source address of the sender */
	bool roce, tagged;		/* RoCE: with a VLAN tag */
	u16 tci;			/* its value */
	u8 sl;				/* RoCE: priority */
	bool grh;
	u8 l3;				/* RoCE: enum hca_l3 */
	bool has_imm, solicited;
	__be32 imm;
	u8 *bytes;			/* header and data */
};

static void hca_ud_put_be16(u8 *at, u16 v)
{
	at[0] = v >> 8;
	at[1] = v;
}

static u16 hca_ud_ip_checksum(const u8 *h)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < IPV4_BYTES; i += 2)
		sum += h[i] << 8 | h[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

/* Bytes after the GRH or the UDP header; the data is padded. */
static u32 hca_ud_transport_bytes(const struct datagram *d)
{
	return BTH_BYTES + DETH_BYTES + (d->has_imm ? IMM_BYTES : 0) +
	       ALIGN(d->length, 4) + ICRC_BYTES;
}

static void hca_ud_ipv4_header(u8 *h, const struct mlx5r_av *av, const u8 *sgid, u32 length)
{
	h[0] = 0x45;
	h[1] = av->tclass;
	hca_ud_put_be16(h + 2, IPV4_BYTES + length);
	h[6] = 0x40;
	h[8] = av->hop_limit;
	h[9] = NEXT_UDP;
	memcpy(h + 12, sgid + 12, 4);
	memcpy(h + 16, av->rgid + 12, 4);
	hca_ud_put_be16(h + 10, hca_ud_ip_checksum(h));
}

static void hca_ud_ipv6_header(u8 *h, const struct mlx5r_av *av, const u8 *sgid, u32 length,
			       u8 next)
{
	u32 fl = be32_to_cpu(av->grh_gid_fl) & 0xfffff;

	h[0] = 0x60 | av->tclass >> 4;
	h[1] = av->tclass << 4 | fl >> 16;
	hca_ud_put_be16(h + 2, fl);
	hca_ud_put_be16(h + 4, length);
	h[6] = next;
	h[7] = av->hop_limit;
	memcpy(h + 8, sgid, 16);
	memcpy(h + 24, av->rgid, 16);
}

static bool hca_ud_roce_header(struct datagram *d, const struct mlx5r_av *av)
{
	const struct hca_gid *g = hca_route_source(d->src->hca, av);
	u32 length = hca_ud_transport_bytes(d);

	if (!g)
		return false;
	d->gid = g;
	d->roce = true;
	d->sl = av->rate_sl >> 1 & 7;
	d->tagged = g->vlan_valid;
	d->tci = d->sl << CQE_PRIO_SHIFT | g->vlan_id;
	d->grh = true;
	if (g->version != MLX5_ROCE_VERSION_2) {
		d->l3 = HCA_L3_GRH;
		hca_ud_ipv6_header(d->bytes, av, g->gid, length, NEXT_IBA);
	} else if (hca_gid_is_ipv4(g->gid)) {
		d->l3 = HCA_L3_IPV4;
		hca_ud_ipv4_header(d->bytes + HCA_GRH_BYTES - IPV4_BYTES, av, g->gid,
				   UDP_BYTES + length);
	} else {
		d->l3 = HCA_L3_IPV6;
		hca_ud_ipv6_header(d->bytes, av, g->gid, UDP_BYTES + length, NEXT_UDP);
	}
	return true;
}

static bool hca_ud_ib_header(struct datagram *d, const struct mlx5r_av *av)
{
	u8 sgid[16] = { 0xfe, 0x80 };
	__be64 guid = cpu_to_be64(d->from->guid);

	d->sl = av->rate_sl & 0xf;
	d->grh = d->w->av_ext && (be32_to_cpu(av->grh_gid_fl) & MLX5R_AV_GRH);
	if (d->grh) {
		memcpy(sgid + 8, &guid, 8);
		hca_ud_ipv6_header(d->bytes, av, sgid, hca_ud_transport_bytes(d), NEXT_IBA);
	}
	return true;
}

static void hca_ud_receive_done(struct hca_qp *dst, const struct datagram *d, u32 index)
{
	struct mlx5r_cqe cqe = {
		.slid = cpu_to_be16(d->slid),
		.flags_rqpn = cpu_to_be32((d->grh ? CQE_GRH : 0) |
					  (d->roce ? d->l3 : d->sl) << CQE_L3_SHIFT | d->src_qpn),
		.imm_inval_pkey = d->has_imm ? d->imm : cpu_to_be32(dst->port->pkey),
		.byte_cnt = cpu_to_be32(HCA_GRH_BYTES + d->length),
		.wqe_counter = cpu_to_be16(index),
		.op_own = (d->has_imm ? MLX5R_CQE_RESP_SEND_IMM : MLX5R_CQE_RESP_SEND) << 4,
	};

	if (d->tagged) {
		cqe.l4_hdr_type_etc = CQE_VLAN;
		cqe.vlan_info = cpu_to_be16(d->tci);
	}
	if (d->solicited)
		cqe.op_own |= MLX5R_CQE_SOLICITED;
	hca_rq_complete(dst, dst->srq, &cqe, NULL);
}

static void hca_ud_receive_failed(struct hca_qp *dst, u32 index, u8 syndrome)
{
	hca_rq_complete_error(dst, dst->srq, index, syndrome);
	hca_fail_qp(dst);
}

/* The receiver got a part: the rest follows in the next turn. */
static int hca_ud_deliver_later(struct hca_qp *dst, const struct datagram *d, u64 copied)
{
	struct hca_long_datagram *l;

	/* What comes from the wire or the manager is not kept: it is lost. */
	if (!d->w)
		return HCA_LOST;
	l = hca_ud_long_claim(d->src, d->bytes);
	if (!l)
		return HCA_AGAIN;
	/* The receive request stays in use. */
	hca_rq_hold(dst, dst->srq);
	l->gathered = d->length;
	l->scattered = copied + (l->dst == dst ? l->scattered : 0);
	l->dst = dst;
	return HCA_AGAIN;
}

/* Copies to the receive request @r; 0, HCA_AGAIN, HCA_LOST or a syndrome. */
static int hca_ud_scatter(struct hca_qp *dst, const struct datagram *d, const struct hca_rwqe *r)
{
	struct hca_sge all = { .len = HCA_GRH_BYTES + d->length, .data = d->bytes };
	u64 start = d->grh ? 0 : HCA_GRH_BYTES, len, copied;
	const struct hca_long_datagram *l = hca_ud_long_of(d->f, d->src);
	struct hca_sgl to, from;

	if (all.len > r->length)
		return MLX5R_SYND_LOCAL_LENGTH;
	if (l && l->dst == dst)
		start += l->scattered;
	hca_sgl_init(&to, dst, MLX5R_MKEY_ACCESS_LW, r->sge, r->nsge);
	if (dst->srq)
		to.user.pd = dst->srq->pd;
	hca_sgl_init(&from, dst, 0, &all, 1);
	hca_sgl_skip(&to, start);
	hca_sgl_skip(&from, start);
	len = all.len > start ? all.len - start : 0;
	copied = len;
	if (hca_ud_long_copy(&to, &from, &copied))
		return MLX5R_SYND_LOCAL_PROT;
	return copied < len ? hca_ud_deliver_later(dst, d, copied) : 0;
}

static bool hca_ud_get_receive(struct hca_qp *dst, struct hca_rwqe *r)
{
	int ret = hca_rq_read(dst, dst->srq, r);

	if (ret == HCA_RNR)
		dst->counter->out_of_buffer++;
	return !ret;
}

/* A datagram with a wrong P_Key or Q_Key is dropped and counted.  QP0 ignores P_Keys. */
static bool hca_ud_keys_ok(const struct hca_qp *dst, const struct datagram *d)
{
	struct hca_port *to = dst->port;

	if (dst->st != MLX5_QP_ST_QP0 && !hca_pkey_check(to, hca_qp_pkey(dst), d->pkey))
		return false;
	if (dst->qkey == d->qkey)
		return true;
	if (to->qkey_violations < U16_MAX)
		to->qkey_violations++;
	return false;
}

/* HCA_AGAIN if the receiver has not got all of it, else 0 */
static int hca_ud_deliver(struct hca_qp *dst, const struct datagram *d)
{
	struct hca_rwqe *r = &d->f->scratch->rwqe;
	struct hca_long_datagram *l = hca_ud_long_of(d->f, d->src);
	int ret;

	hca_charge(d->f, HCA_RECEIVERS, 1);
	if ((dst->st != MLX5_QP_ST_UD && dst->st != MLX5_QP_ST_QP0 && dst->st != MLX5_QP_ST_QP1) ||
	    dst->state < MLX5_QP_STATE_RTR || dst->state == MLX5_QP_STATE_ERR ||
	    !hca_ud_keys_ok(dst, d) || hca_ud_long_blocks(dst, d->src) ||
	    !hca_ud_get_receive(dst, r))
		return 0;
	ret = hca_ud_scatter(dst, d, r);
	if (ret == HCA_AGAIN)
		return ret;
	if (ret == HCA_LOST)
		return 0;
	if (l && l->dst == dst)
		l->dst = NULL;
	hca_rq_consume(dst, dst->srq);
	if (ret) {
		hca_ud_receive_failed(dst, r->index, ret);
		return 0;
	}
	d->f->stat.bytes += d->length;
	hca_ud_receive_done(dst, d, r->index);
	return 0;
}

static enum hca_mcg_next hca_ud_deliver_member(struct hca_qp *dst, void *arg)
{
	struct datagram *d = arg;

	if ((dst != d->src || !MLX5_GET(qpc, dst->qpc, block_lb_mc)) && hca_ud_deliver(dst, d))
		return HCA_MCG_REPEAT;
	return hca_turn_left(d->f) ? HCA_MCG_CONTINUE : HCA_MCG_STOP;
}

static bool hca_ud_is_multicast(const struct mlx5r_av *av, bool ext, bool roce)
{
	if (!ext)
		return false;
	return av->rgid[0] == 0xff || (roce && (av->rmac[0] & 1));
}

/* Delivers to the members on @port; false if the turn is over. */
static bool hca_ud_deliver_at(struct datagram *d, struct hca_port *port, const u8 *gid)
{
	u64 place = (u64)port->hca->serial * HCA_MAX_PORTS + port->number - 1;
	struct hca_qp *src = d->src;
	bool first = place != src->mc.port;
	enum hca_mcg_walk walk;

	if (place < src->mc.port || !port->up)
		return true;
	if (first) {
		src->mc.port = place;
		src->mc.member = 0;
	}
	walk = hca_mcg_walk(port, gid, &src->mc.member, hca_ud_deliver_member, d);
	if (first && walk != HCA_MCG_NONE)
		hca_count_rcv(port, d->length, true);
	return walk != HCA_MCG_STOPPED;
}

/* May ports of @hca get the multicast? */
static bool hca_ud_reaches(const struct datagram *d, const struct hca *hca)
{
	if (!hca->nmcgs || hca->p.roce != d->src->hca->p.roce || hca_halted(hca) ||
	    !hca_is_direct(d->src->hca, hca))
		return false;
	return !d->gid || hca_route_is_on(hca, d->gid);
}

/*
 * Continues after the receiver that was served last.  Functions and members have ascending
 * numbers.  So if members join or leave between turns, no member gets the datagram twice, and
 * each that stays a member gets it.
 */
static int hca_ud_deliver_multicast(struct datagram *d, const u8 *gid)
{
	struct hca *hca;
	u32 i;

	list_for_each_entry(hca, &d->src->hca->fabric->functions.by_serial, serial_entry) {
		if (!hca_ud_reaches(d, hca))
			continue;
		for (i = 0; i < hca->p.num_ports; i++) {
			if (hca_ud_deliver_at(d, &hca->port[i], gid))
				continue;
			return HCA_AGAIN;
		}
	}
	return 0;
}

/*
 * All bytes are read before any is delivered: a failed datagram reaches no receiver.
 * Returns 0, HCA_AGAIN or a syndrome.
 */
static int hca_ud_gather(struct datagram *d)
{
	struct hca_long_datagram *l = hca_ud_long_of(d->f, d->src);
	struct hca_sge all = { .len = d->length };
	u64 start = l ? l->gathered : 0, len = d->length, copied;
	struct hca_sgl to, from;

	if (l)
		d->bytes = l->bytes;
	if (start >= len && start)
		return 0;
	len -= start;
	copied = len;
	all.data = d->bytes + HCA_GRH_BYTES;
	hca_sgl_init(&to, d->src, 0, &all, 1);
	hca_sgl_init(&from, d->src, MLX5R_MKEY_ACCESS_LR, d->w->sge, d->w->nsge);
	hca_sgl_skip(&to, start);
	hca_sgl_skip(&from, start);
	if (hca_ud_long_copy(&to, &from, &copied))
		return MLX5R_SYND_LOCAL_PROT;
	if (l || copied < len)
		l = hca_ud_long_claim(d->src, d->bytes);
	if (l)
		l->gathered = start + copied;
	return copied < len ? HCA_AGAIN : 0;
}

/* The adapter answers @arg, a datagram that QP0 or QP1 has sent. */
static void hca_ud_answer(const struct hca_mad *mad, void *arg)
{
	const struct datagram *d = arg;
	struct hca_qp *dst = d->src_qpn ? d->from->qp1 : d->from->qp0;
	struct datagram answer = {
		.f = d->f,
		.src = d->src,
		.from = d->to,
		.length = sizeof(*mad),
		.qkey = d->qkey,
		.src_qpn = d->src_qpn,
		.sl = d->sl,
		.pkey = d->to->pkey,
		.slid = d->to->lid,
		.bytes = d->f->scratch->answer,
	};

	memset(answer.bytes, 0, HCA_GRH_BYTES);
	memcpy(answer.bytes + HCA_GRH_BYTES, mad, sizeof(*mad));
	hca_count_rcv(d->from, answer.length, false);
	if (dst)
		hca_ud_deliver(dst, &answer);
}

/* To the subnet manager: from QP0 to QP0, or from QP1 to QP1 */
static int hca_ud_deliver_manager(struct datagram *d, u32 dqpn)
{
	const struct hca_mad *mad = (const void *)(d->bytes + HCA_GRH_BYTES);
	struct hca_mad out;

	d->to = &d->src->hca->fabric->sa.manager;
	if (d->length != sizeof(*mad) || d->src_qpn != dqpn)
		return 0;
	if (!dqpn && !d->qkey && mad->mgmt_class == HCA_CLASS_SMP) {
		if (hca_sma_answer(d->to, (const void *)mad, (void *)&out))
			hca_ud_answer(&out, d);
	} else if (dqpn == 1 && hca_pkeys_match(d->to->pkey, d->pkey) &&
		   d->qkey == HCA_MAD_QKEY && mad->mgmt_class == HCA_CLASS_SA) {
		hca_sa_receive(d->from, mad, hca_ud_answer, d);
	}
	return 0;
}

/* A request for the counters of a port is answered by the adapter: true if it was. */
static bool hca_ud_deliver_counters(struct datagram *d, struct hca_port *to)
{
	const struct hca_mad *mad = (const void *)(d->bytes + HCA_GRH_BYTES);
	struct hca_mad out;

	d->to = to;
	if (to->hca->p.roce || d->src_qpn != 1 || d->length != sizeof(*mad) ||
	    d->qkey != HCA_MAD_QKEY || !hca_pkeys_match(to->pkey, d->pkey) ||
	    mad->mgmt_class != HCA_CLASS_PMA || !hca_pma_answer(to, mad, &out))
		return false;
	hca_ud_answer(&out, d);
	return true;
}

/*
 * The receiver; QP0 takes datagrams of QP0 only, and sends to no other.  QP0 and QP1 have
 * other numbers in the table, which are no addresses.
 */
static struct hca_qp *hca_ud_receiver(const struct datagram *d, const struct hca_port *to, u32 dqpn)
{
	struct hca_qp *dst;

	if (!dqpn || !d->src_qpn)
		return dqpn || d->src_qpn ? NULL : to->qp0;
	if (dqpn == 1)
		return to->qp1;
	dst = hca_qp_get(to->hca, dqpn);
	return dst && dst->st == MLX5_QP_ST_UD ? dst : NULL;
}

/* To a peer that is not local */
static int hca_ud_send_frame(struct datagram *d)
{
	const struct mlx5r_av *av = d->w->av;
	struct hca_packet p = {
		.flow = {
			.tagged = d->tagged,
			.tci = d->tci,
			.l3 = d->l3,
			.tclass = d->l3 == HCA_L3_GRH ? av->tclass : av->tclass & ~HCA_ECN_BITS,
			.hop_limit = av->hop_limit,
			.flow_label = be32_to_cpu(av->grh_gid_fl) & 0xfffff,
		},
		.opcode = HCA_BTH_UD | (d->has_imm ? HCA_BTH_SEND_ONLY_IMM : HCA_BTH_SEND_ONLY),
		.solicited = d->solicited,
		.migrated = true,
		.pkey = d->pkey,
		.dqpn = be32_to_cpu(av->dqp_dct) & 0xffffff,
		.psn = d->src->sq_psn,
		.qkey = d->qkey,
		.sqpn = d->src_qpn,
		.imm = be32_to_cpu(d->imm),
		.length = d->length,
	};
	int ret;

	memcpy(p.flow.dmac, av->rmac, sizeof(p.flow.dmac));
	memcpy(p.flow.smac, d->gid->mac, sizeof(p.flow.smac));
	memcpy(p.flow.sgid, d->gid->gid, sizeof(p.flow.sgid));
	memcpy(p.flow.dgid, av->rgid, sizeof(p.flow.dgid));
	p.flow.sport = av->rlid ? be16_to_cpu(av->rlid) : hca_flow_sport(p.flow.flow_label);
	ret = hca_wire_send_bytes(d->from, &p, d->bytes + HCA_GRH_BYTES);
	if (ret)
		hca_wire_wait_for_room(d->src);
	else
		d->src->sq_psn = (d->src->sq_psn + 1) & HCA_PSN_MASK;
	return ret;
}

static int hca_ud_deliver_unicast(struct datagram *d)
{
	const struct mlx5r_av *av = d->w->av;
	struct hca_port *to = hca_route_by_av(d->src->hca, av);
	u32 dqpn = be32_to_cpu(av->dqp_dct) & 0xffffff;
	struct hca_qp *dst;

	if (!d->src->hca->p.roce && av->rlid == cpu_to_be16(HCA_SM_LID))
		return hca_ud_deliver_manager(d, dqpn);
	if (d->src->hca->p.wired && !(to && hca_is_direct(d->src->hca, to->hca)))
		return hca_ud_send_frame(d);
	if (!to || hca_halted(to->hca))
		return 0;
	if (!d->src->mc.counted)
		hca_count_rcv(to, d->length, false);
	if (dqpn == 1 && hca_ud_deliver_counters(d, to))
		return 0;
	dst = hca_ud_receiver(d, to, dqpn);
	return dst && dst->port == to ? hca_ud_deliver(dst, d) : 0;
}

/* Only QP0 sends without a P_Key. */
static bool hca_ud_can_send(const struct datagram *d)
{
	return d->from->up && (d->pkey || !d->src_qpn);
}

static int hca_ud_try_send(struct datagram *d)
{
	const struct mlx5r_av *av = d->w->av;
	bool roce = d->src->hca->p.roce, multicast;
	int ret;

	if (d->length > HCA_UD_MTU)
		return MLX5R_SYND_LOCAL_LENGTH;
	ret = hca_ud_gather(d);
	if (ret)
		return ret;
	if (roce && !d->w->av_ext)
		return MLX5R_SYND_LOCAL_QP_OP;
	memset(d->bytes, 0, HCA_GRH_BYTES);
	if (!hca_ud_can_send(d) || !(roce ? hca_ud_roce_header(d, av) : hca_ud_ib_header(d, av)))
		return 0;
	multicast = hca_ud_is_multicast(av, d->w->av_ext, roce);
	if (!d->src->mc.counted)
		hca_count_xmit(d->from, d->length, multicast);
	ret = multicast ? hca_ud_deliver_multicast(d, av->rgid) : hca_ud_deliver_unicast(d);
	if (!ret && multicast && d->src->hca->p.wired)
		ret = hca_ud_send_frame(d);
	d->src->mc.counted = true;
	return ret;
}

/* The number of the queue pair in its datagrams */
static u32 hca_ud_source(const struct hca_qp *src)
{
	switch (src->st) {
	case MLX5_QP_ST_QP0:
		return 0;
	case MLX5_QP_ST_QP1:
		return 1;
	default:
		return src->deth_sqpn ? src->deth_sqpn : src->qpn;
	}
}

noinline int hca_ud_send(struct hca_qp *src, struct hca_wqe *w)
{
	u32 qkey = be32_to_cpu(w->av->qkey);
	struct datagram d = {
		.f = src->hca->fabric,
		.src = src,
		.w = w,
		.from = src->port,
		.length = w->length,
		.qkey = qkey & QKEY_CONTROLLED ? src->qkey : qkey,
		.src_qpn = hca_ud_source(src),
		.pkey = hca_qp_pkey(src),
		.slid = src->port->lid,
		.has_imm = w->opcode == MLX5R_OP_SEND_IMM,
		.solicited = w->fm_ce_se & MLX5R_SOLICITED,
		.imm = w->ctrl.imm,
		.bytes = src->hca->fabric->scratch->datagram,
	};
	int ret = hca_ud_try_send(&d);

	if (ret == HCA_AGAIN)
		src->in_message = true;
	else
		memset(&src->mc, 0, sizeof(src->mc));
	return ret;
}

/* The receive area begins with the network header; one of IPv4 is in its last bytes. */
static void hca_ud_take_header(struct datagram *d, const struct hca_packet *p)
{
	u32 bytes = p->flow.l3 == HCA_L3_IPV4 ? IPV4_BYTES : HCA_GRH_BYTES;

	memset(d->bytes, 0, HCA_GRH_BYTES);
	memcpy(d->bytes + HCA_GRH_BYTES - bytes, p->network, bytes);
	memcpy(d->bytes + HCA_GRH_BYTES, p->data, p->length);
}

/* In one turn of its own: a datagram from the wire is not kept for the next turn. */
static void hca_ud_receive_multicast(struct datagram *d, struct hca_port *to, const u8 *gid)
{
	u64 last = 0;

	hca_turn_end(d->f);
	d->f->turn = (struct hca_turn) { .budget = HCA_TURN_UNITS };
	hca_count_rcv(to, d->length, true);
	hca_mcg_walk(to, gid, &last, hca_ud_deliver_member, d);
}

void hca_ud_receive(struct hca_port *to, const struct hca_packet *p)
{
	bool imm = (p->opcode & HCA_BTH_OPERATION) == HCA_BTH_SEND_ONLY_IMM;
	struct datagram d = {
		.f = to->hca->fabric,
		.to = to,
		.length = p->length,
		.qkey = p->qkey,
		.src_qpn = p->sqpn,
		.pkey = p->pkey,
		.roce = true,
		.tagged = p->flow.tagged,
		.tci = p->flow.tci,
		.grh = true,
		.l3 = p->flow.l3,
		.has_imm = imm,
		.solicited = p->solicited,
		.imm = cpu_to_be32(p->imm),
		.bytes = to->hca->fabric->scratch->datagram,
	};
	struct hca_qp *dst;

	if (p->length > HCA_UD_MTU)
		return;
	hca_ud_take_header(&d, p);
	if (p->dqpn == HCA_MULTICAST_QPN) {
		hca_ud_receive_multicast(&d, to, p->flow.dgid);
		return;
	}
	hca_count_rcv(to, d.length, false);
	/* QP0 is not on RoCE. */
	dst = p->dqpn && d.src_qpn ? hca_ud_receiver(&d, to, p->dqpn) : NULL;
	if (dst && dst->port == to)
		hca_ud_deliver(dst, &d);
}

#undef QKEY_CONTROLLED
#undef CQE_GRH
