// SPDX-License-Identifier: GPL-2.0
/*
 * Frames from the wire: which queue pair gets a packet.
 *
 * A packet that is damaged, or that the addressed queue pair does not expect from its source, is
 * dropped without an answer.
 */
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/wire.h"

static bool hca_wire_type_fits(const struct hca_qp *qp, const struct hca_packet *p)
{
	if (p->opcode == HCA_OPCODE_PROBE)
		return true;
	switch (hca_packet_transport(p->opcode)) {
	case HCA_BTH_RC:
		return qp->st == MLX5_QP_ST_RC;
	case HCA_BTH_UC:
		return qp->st == MLX5_QP_ST_UC;
	case HCA_BTH_XRC:
		return qp->st == MLX5_QP_ST_XRC;
	case HCA_BTH_CNP:
		return true;
	case HCA_BTH_DC:
		return qp->st == MLX5_QP_ST_DCI && p->session == qp->wire->session;
	default:
		return false;
	}
}

static bool hca_wire_can_receive(const struct hca_qp *qp)
{
	return qp->state >= MLX5_QP_STATE_RTR && qp->state != MLX5_QP_STATE_ERR &&
	       qp->fail_to != MLX5_QP_STATE_ERR;
}

static bool hca_wire_accepts(struct hca_qp *qp, const struct hca_packet *p)
{
	return qp->pm_state == MLX5_QP_PM_MIGRATED ? hca_wire_is_from_peer(qp, p) :
						     hca_wire_apm_accepts(qp, p);
}

/* The connected queue pair that the packet is for, or NULL */
static struct hca_qp *hca_wire_receiver(struct hca *hca, const struct hca_packet *p)
{
	struct hca_qp *qp = hca_qp_get(hca, p->dqpn);

	if (!qp || !qp->wire || !hca_wire_type_fits(qp, p) ||
	    !hca_wire_can_receive(qp) || !hca_wire_accepts(qp, p) ||
	    !hca_pkey_check(qp->port, hca_qp_pkey(qp), p->pkey))
		return NULL;
	hca_count_rcv(qp->port, p->length, false);
	return qp;
}

/* The peer understands private packets: the request that waited for that is sent. */
static void hca_wire_take_answer(struct hca_qp *qp, const struct hca_packet *p)
{
	if (hca_wire_gate_answered(qp, p))
		hca_share_add(qp);
}

static void hca_wire_take_connected(struct hca *hca, const struct hca_packet *p)
{
	struct hca_qp *qp = hca_wire_receiver(hca, p);

	if (!qp)
		return;
	if (hca_congestion_is_marked(p))
		hca_congestion_notify(qp, p);
	if (p->opcode == HCA_OPCODE_PROBE)
		hca_wire_take_answer(qp, p);
	else if (hca_packet_flags(p->opcode) & HCA_OP_REQUEST)
		hca_wire_request(qp, p);
	else if (qp->state >= MLX5_QP_STATE_RTS)
		hca_wire_response(qp, p);
}

static void hca_wire_take_datagram(struct hca_port *port, const struct hca_packet *p)
{
	struct hca_gid from = hca_wire_network(p);
	bool multicast = p->dqpn == HCA_MULTICAST_QPN;

	if (multicast ? hca_route_is_on(port->hca, &from) :
			hca_route_has_gid(port->hca, p->flow.dgid, p->flow.dmac, &from))
		hca_ud_receive(port, p);
}

static void hca_wire_dispatch(struct hca_port *port, const struct hca_packet *p)
{
	switch (p->opcode & HCA_BTH_TRANSPORT) {
	case HCA_BTH_UD:
		hca_wire_take_datagram(port, p);
		break;
	case HCA_BTH_CNP:
		hca_congestion_take_cnp(port->hca, hca_wire_receiver(port->hca, p));
		break;
	default:
		if (p->opcode == HCA_OPCODE_PROBE && !p->answer)
			hca_wire_gate_probed(port, p);
		else if (hca_packet_transport(p->opcode) == HCA_BTH_DC &&
			 hca_packet_flags(p->opcode) & HCA_OP_REQUEST)
			hca_wire_dct_take(port->hca, p);
		else
			hca_wire_take_connected(port->hca, p);
	}
}

static void hca_wire_take(struct hca *hca, const void *frame, u32 bytes, bool local)
{
	struct hca_port *port = &hca->port[0];
	enum hca_packet_error err;
	struct hca_packet p;

	hca_charge(hca->fabric, HCA_REQUESTS, 1);
	if (!port->up)
		return;
	err = hca_packet_read(&p, frame, bytes);
	p.local = local;
	if (!err)
		hca_wire_dispatch(port, &p);
	else if (err == HCA_PACKET_ICRC)
		port->count.icrc_errors++;
}

/* One turn, and some if multicasts have begun turns of their own */
static unsigned int hca_wire_poll_function(struct hca *hca)
{
	struct hca_fabric *f = hca->fabric;
	u64 before = f->stat.units;
	const void *frame;
	unsigned int n;
	bool local;
	u32 bytes;

	f->turn = (struct hca_turn) { .budget = HCA_TURN_UNITS };
	for (n = 0; hca_turn_left(f) && f->stat.units - before < HCA_TURN_UNITS &&
		    !hca_halted(hca); n++) {
		frame = hca->ops->frame_next(hca->ctx, &bytes, &local);
		if (!frame)
			break;
		hca_wire_take(hca, frame, bytes, local);
	}
	if (n) {
		hca_wire_acknowledge(f);
		hca_turn_end(f);
	}
	return n;
}

unsigned int hca_wire_poll(struct hca_fabric *f)
{
	unsigned int n = 0;
	struct hca *hca;

	list_for_each_entry(hca, &f->functions.list, entry)
		if (hca->p.wired && !hca_halted(hca))
			n += hca_wire_poll_function(hca);
	return n;
}
