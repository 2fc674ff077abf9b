// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of connected queue pairs: their headers, and how they are sent.
 *
 * The wire takes only so many frames at once.  A queue pair whose packet has no room waits, and
 * tries again with all others of its function after ROOM_NS.  Meanwhile it has no work, so that the
 * engine can pause.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "data/wire.h"

#define ROOM_NS	50000u

static bool hca_wire_is_connected(const struct hca_qp *qp)
{
	return qp->st == MLX5_QP_ST_RC || qp->st == MLX5_QP_ST_UC || qp->st == MLX5_QP_ST_XRC ||
	       qp->st == MLX5_QP_ST_DCI;
}

bool hca_wire_new(struct hca_qp *qp)
{
	struct hca_fabric *f = qp->hca->fabric;
	struct hca_wire *x;

	if (qp->wire || !hca_wire_is_connected(qp))
		return true;
	x = kzalloc(sizeof(*x), HCA_GFP);
	if (!x)
		return false;
	if (hca_heap_join(&f->timers))
		goto err_memory;
	if (hca_heap_join(&f->timers))
		goto err_timer;
	x->qp = qp;
	x->timer.owner = HCA_TIMER_WIRE;
	x->rate.timer.owner = HCA_TIMER_RATE;
	INIT_LIST_HEAD(&x->due_entry);
	qp->wire = x;
	return true;

err_timer:
	hca_heap_leave(&f->timers, &x->timer.entry);
err_memory:
	kfree(x);
	return false;
}

void hca_wire_free(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;

	if (!x)
		return;
	list_del(&x->due_entry);
	hca_heap_leave(&qp->hca->fabric->timers, &x->timer.entry);
	hca_heap_leave(&qp->hca->fabric->timers, &x->rate.timer.entry);
	kfree(x->result);
	kfree(x);
}

/* ---- Room ---------------------------------------------------------------------- */

bool hca_wire_init(struct hca *hca)
{
	INIT_LIST_HEAD(&hca->room.qps);
	hca->room.timer.owner = HCA_TIMER_ROOM;
	return !hca_heap_join(&hca->fabric->timers);
}

void hca_wire_exit(struct hca *hca)
{
	hca_heap_leave(&hca->fabric->timers, &hca->room.timer.entry);
}

void hca_wire_wait_for_room(struct hca_qp *qp)
{
	struct hca *hca = qp->hca;

	if (hca_wire_waits_for_room(qp))
		return;
	list_add_tail(&qp->room_entry, &hca->room.qps);
	if (!hca_timer_due(&hca->room.timer))
		hca_timer_set(hca->fabric, &hca->room.timer, hca->fabric->now + ROOM_NS);
}

void hca_wire_room_timer(struct hca_timer *timer)
{
	struct hca *hca = container_of(timer, struct hca, room.timer);
	struct hca_qp *qp;

	while (!list_empty(&hca->room.qps)) {
		qp = list_first_entry(&hca->room.qps, struct hca_qp, room_entry);
		list_del_init(&qp->room_entry);
		hca_share_add(qp);
	}
}

/* ---- Headers --------------------------------------------------------------------- */

static u8 hca_wire_l3(const struct hca_gid *g)
{
	if (g->version != MLX5_ROCE_VERSION_2)
		return HCA_L3_GRH;
	return hca_gid_is_ipv4(g->gid) ? HCA_L3_IPV4 : HCA_L3_IPV6;
}

/* If the path has no UDP port, the port follows from the flow label (IBTA A17). */
static u16 hca_wire_sport(const struct hca_path *path)
{
	return path->udp_sport ? path->udp_sport : hca_flow_sport(path->flow_label);
}

static void hca_wire_set_flow(struct hca_qp *qp, const struct hca_gid *g)
{
	const struct hca_path *path = &qp->path;
	struct hca_flow *flow = &qp->wire->flow;
	u8 l3 = hca_wire_l3(g);

	*flow = (struct hca_flow) {
		.tagged = g->vlan_valid,
		.tci = path->sl << 13 | g->vlan_id,
		.l3 = l3,
		.tclass = l3 == HCA_L3_GRH ? path->tclass :
					     path->dscp << 2 | hca_congestion_ecn(qp),
		.hop_limit = path->hop_limit,
		.sport = hca_wire_sport(path),
		.flow_label = path->flow_label,
	};
	memcpy(flow->dmac, path->rmac, sizeof(path->rmac));
	memcpy(flow->smac, g->mac, sizeof(g->mac));
	memcpy(flow->sgid, g->gid, sizeof(g->gid));
	memcpy(flow->dgid, path->rgid, sizeof(path->rgid));
}

/* A command does not change the path, target and MTU of a DCI: they are those of its session. */
static void hca_wire_take_av(struct hca_qp *qp)
{
	const struct mlx5r_av *av = &qp->wire->dc.av;
	u32 grh = be32_to_cpu(av->grh_gid_fl);
	struct hca_path *path = &qp->path;

	memcpy(path->rgid, av->rgid, sizeof(path->rgid));
	memcpy(path->rmac, av->rmac, sizeof(path->rmac));
	path->sgid_index = grh >> 20 & 0xff;
	path->flow_label = grh & 0xfffff;
	path->sl = av->rate_sl >> 1 & 7;
	path->tclass = av->tclass;
	path->dscp = av->tclass >> 2;
	path->hop_limit = av->hop_limit;
	path->udp_sport = be16_to_cpu(av->rlid);
	qp->remote_qpn = be32_to_cpu(av->dqp_dct) & 0xffffff;
	qp->mtu = qp->wire->dc.mtu;
}

/* An address of this host, or the path, has changed. */
static void hca_wire_update_path(struct hca_qp *qp)
{
	struct hca_wire *x = qp->wire;
	const struct hca_port *to;
	const struct hca_gid *g;

	if (qp->st == MLX5_QP_ST_DCI && x->dc.far)
		hca_wire_take_av(qp);
	g = &qp->hca->gids[qp->path.sgid_index % HCA_GIDS];
	x->flow_epoch = qp->hca->fabric->route.epoch;
	to = hca_route_find(qp->hca, &qp->path);
	x->local_peer = to;
	x->direct = to && hca_is_direct(qp->hca, to->hca);
	x->has_flow = g->valid;
	if (g->valid)
		hca_wire_set_flow(qp, g);
}

bool hca_wire_find_flow(struct hca_qp *qp)
{
	if (qp->wire->flow_epoch != qp->hca->fabric->route.epoch)
		hca_wire_update_path(qp);
	return qp->wire->has_flow;
}

bool hca_wire_is_direct(struct hca_qp *qp)
{
	hca_wire_find_flow(qp);
	return qp->wire->direct;
}

bool hca_wire_is_from_peer(struct hca_qp *qp, const struct hca_packet *p)
{
	const struct hca_flow *own = &qp->wire->flow, *flow = &p->flow;

	return hca_wire_find_flow(qp) && qp->wire->local_peer == p->local && own->l3 == flow->l3 &&
	       own->tagged == flow->tagged && !((own->tci ^ flow->tci) & HCA_VLAN_ID) &&
	       !memcmp(own->dgid, flow->sgid, sizeof(own->dgid)) &&
	       !memcmp(own->sgid, flow->dgid, sizeof(own->sgid)) &&
	       !memcmp(own->smac, flow->dmac, sizeof(own->smac));
}

static u8 hca_wire_transport(const struct hca_qp *qp)
{
	switch (qp->st) {
	case MLX5_QP_ST_XRC:
		return HCA_BTH_XRC;
	case MLX5_QP_ST_UC:
		return HCA_BTH_UC;
	case MLX5_QP_ST_DCI:
	case MLX5_QP_ST_DCT:
		return HCA_BTH_DC;
	default:
		return HCA_BTH_RC;
	}
}

/* Without path migration a queue pair is in the state "migrated". */
struct hca_packet hca_wire_packet(struct hca_qp *qp, u8 operation, u32 psn)
{
	return (struct hca_packet) {
		.opcode = hca_packet_opcode(hca_wire_transport(qp), operation),
		.migrated = qp->pm_state == MLX5_QP_PM_MIGRATED,
		.pkey = hca_qp_pkey(qp),
		.dqpn = qp->remote_qpn,
		.psn = psn & HCA_PSN_MASK,
		/* DC */
		.sqpn = qp->qpn,
		.mtu = ilog2(qp->mtu) - 7,
		.session = qp->wire->session,
		.dc_key = be64_to_cpu(qp->wire->dc.av.dc_key),
	};
}

/* ---- Frames --------------------------------------------------------------------- */

static u8 *hca_wire_begin_frame(struct hca_port *from, const struct hca_packet *p)
{
	return from->hca->ops->frame_alloc(from->hca->ctx, hca_packet_bytes(p));
}

static void hca_wire_end_frame(struct hca_port *from, const struct hca_packet *p, u8 *frame)
{
	hca_packet_seal(p, frame);
	from->hca->ops->frame_send(from->hca->ctx);
}

int hca_wire_send_bytes(struct hca_port *from, struct hca_packet *p, const u8 *data)
{
	u8 *frame = hca_wire_begin_frame(from, p);

	if (!frame)
		return HCA_AGAIN;
	memcpy(hca_packet_write(p, frame), data, p->length);
	hca_wire_end_frame(from, p, frame);
	return 0;
}

int hca_wire_send(struct hca_qp *qp, struct hca_packet *p, struct hca_sgl *from)
{
	struct hca_sge sge = { .len = p->length };
	struct hca_sgl to;
	u8 *frame;

	if (!hca_wire_find_flow(qp) || !qp->port->up || !p->pkey)
		return 0;
	p->flow = qp->wire->flow;
	frame = hca_wire_begin_frame(qp->port, p);
	if (!frame) {
		hca_wire_wait_for_room(qp);
		return HCA_AGAIN;
	}
	sge.data = hca_packet_write(p, frame);
	hca_sgl_init(&to, qp, 0, &sge, 1);
	if (p->length && hca_copy(&to, from, p->length))
		return MLX5R_SYND_LOCAL_PROT;
	hca_wire_end_frame(qp->port, p, frame);
	hca_count_xmit(qp->port, p->length, false);
	hca_rate_sent(qp, hca_packet_bytes(p));
	return 0;
}

#undef ROOM_NS
