// SPDX-License-Identifier: GPL-2.0
/*
 * The gate: private packets go only to peers that have shown that they understand them.
 *
 * Operations that no standard encodes have private opcodes (wire/packet.h).  Before the first such
 * packet goes to a peer, a probe asks it.  On the wire the probe takes the place of the packet: the
 * queue pair waits for its answer as long, and repeats it as often.  So a request to a peer that
 * does not answer fails like one to a peer that does not exist.
 *
 * A function remembers some peers that have answered, by their address, for KNOWN_NS.  Only its own
 * requests add peers.  It answers probes of anybody, but remembers nothing of them, and the answer
 * is as long as the probe.
 *
 * The answer has the clock of the peer.  wire_dct.c says why sessions need it.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "base/alloc.h"
#include "data/wire.h"

#define KNOWN_NS	60000000000ull	/* clocks diverge by some milliseconds meanwhile */

enum { SESSION_RANDOM = 0x3ff };	/* bits of a session that are random, not time */

bool hca_wire_gate_init(struct hca *hca)
{
	if (hca->p.wired && !hca->gates)
		hca->gates = kvcalloc(HCA_GATES, sizeof(*hca->gates), GFP_KERNEL);
	return hca->gates || !hca->p.wired;
}

void hca_wire_gate_exit(struct hca *hca)
{
	kvfree(hca->gates);
}

void hca_wire_gate_reset(struct hca *hca)
{
	if (hca->gates)
		memset(hca->gates, 0, HCA_GATES * sizeof(*hca->gates));
}

/* ---- Peers ---------------------------------------------------------------------------- */

static u16 hca_wire_gate_vlan(const struct hca_flow *flow)
{
	return flow->tagged ? (flow->tci & HCA_VLAN_ID) + 1 : 0;
}

static bool hca_wire_gate_is_of(const struct hca_gate *gate, const struct hca_flow *flow)
{
	return !memcmp(gate->gid, flow->dgid, sizeof(gate->gid)) &&
	       !memcmp(gate->mac, flow->dmac, sizeof(gate->mac)) &&
	       gate->vlan == hca_wire_gate_vlan(flow) && gate->l3 == flow->l3;
}

/* The entry of the table for the peer of @qp */
static struct hca_gate *hca_wire_gate(const struct hca_qp *qp)
{
	const struct hca_flow *flow = &qp->wire->flow;
	u32 mix = hca_wire_gate_vlan(flow) + flow->l3, i;

	for (i = 0; i < sizeof(flow->dgid); i++)
		mix = mix * 31 + flow->dgid[i];
	for (i = 0; i < sizeof(flow->dmac); i++)
		mix = mix * 31 + flow->dmac[i];
	return &qp->hca->gates[mix % HCA_GATES];
}

bool hca_wire_gate_is_open(struct hca_qp *qp)
{
	const struct hca_gate *gate;

	if (!hca_wire_find_flow(qp) || qp->wire->gate.unsure)
		return false;
	gate = hca_wire_gate(qp);
	return gate->until > qp->hca->fabric->now && hca_wire_gate_is_of(gate, &qp->wire->flow);
}

/*
 * The numbers of sessions with a peer must increase, but an estimate of its clock may be lower than
 * an earlier one.
 */
u64 hca_wire_gate_session(struct hca_qp *qp)
{
	struct hca_gate *gate = hca_wire_gate(qp);
	u64 time = qp->hca->fabric->now + gate->ahead;

	gate->session = max((time & ~(u64)SESSION_RANDOM) | (get_random_u32() & SESSION_RANDOM),
			    gate->session + 1);
	return gate->session;
}

/* ---- Probes --------------------------------------------------------------------------- */

int hca_wire_gate_ask(struct hca_qp *qp)
{
	struct hca_packet p = hca_wire_packet(qp, 0, 0);
	struct hca_wire *x = qp->wire;
	int ret;

	while (!x->gate.token)
		x->gate.token = get_random_u64();
	p.opcode = HCA_OPCODE_PROBE;
	p.sqpn = qp->qpn;
	p.token = x->gate.token;
	ret = hca_wire_send(qp, &p, NULL);
	x->gate.asked = !ret;
	return ret;
}

bool hca_wire_gate_answered(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_gate *gate = hca_wire_gate(qp);
	struct hca_wire *x = qp->wire;
	u64 now = qp->hca->fabric->now;

	if (!x->gate.token || x->gate.token != p->token)
		return false;
	x->gate.token = 0;
	x->gate.asked = false;
	x->gate.unsure = false;
	if (!hca_wire_gate_is_of(gate, &x->flow))
		gate->session = 0;
	memcpy(gate->gid, x->flow.dgid, sizeof(gate->gid));
	memcpy(gate->mac, x->flow.dmac, sizeof(gate->mac));
	gate->vlan = hca_wire_gate_vlan(&x->flow);
	gate->l3 = x->flow.l3;
	gate->until = now + KNOWN_NS;
	gate->ahead = p->time - now;
	return true;
}

struct hca_gid hca_wire_network(const struct hca_packet *p)
{
	return (struct hca_gid) {
		.valid = true,
		.version = p->flow.l3 == HCA_L3_GRH ? MLX5_ROCE_VERSION_1 : MLX5_ROCE_VERSION_2,
		.vlan_valid = p->flow.tagged && p->flow.tci & HCA_VLAN_ID,
		.vlan_id = p->flow.tci & HCA_VLAN_ID,
	};
}

/* Are both unicast addresses? */
static bool hca_wire_gate_is_unicast(const u8 *gid, const u8 *mac)
{
	if (mac[0] & 1)
		return false;
	return hca_gid_is_ipv4(gid) ? gid[12] && gid[12] < 224 : gid[0] != 0xff;
}

void hca_wire_gate_probed(struct hca_port *port, const struct hca_packet *p)
{
	struct hca_gid from = hca_wire_network(p);
	struct hca_packet answer = *p;
	struct hca_flow *flow = &answer.flow;

	if (!hca_wire_gate_is_unicast(p->flow.sgid, p->flow.smac) ||
	    !hca_route_has_gid(port->hca, p->flow.dgid, p->flow.dmac, &from) ||
	    !!hca_route_by_gid(port->hca->fabric, p->flow.sgid, p->flow.smac, &from) != p->local ||
	    !hca_pkey_check(port, port->pkey, p->pkey))
		return;
	memcpy(flow->dmac, p->flow.smac, sizeof(flow->dmac));
	memcpy(flow->smac, p->flow.dmac, sizeof(flow->smac));
	memcpy(flow->dgid, p->flow.sgid, sizeof(flow->dgid));
	memcpy(flow->sgid, p->flow.dgid, sizeof(flow->sgid));
	flow->tclass &= ~HCA_ECN_BITS;
	flow->hop_limit = 64;
	answer.pkey = port->pkey;
	answer.dqpn = p->sqpn;
	answer.answer = true;
	answer.time = port->hca->fabric->now;
	hca_wire_send_bytes(port, &answer, (const u8 *)"");
}

#undef KNOWN_NS
