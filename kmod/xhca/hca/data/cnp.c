// SPDX-License-Identifier: GPL-2.0
/*
 * The notification point of congestion control: it answers packets that a switch has marked with
 * CNPs (IBTA A17).  rate.c has the other side.
 */
#include <linux/types.h>
#include "data/wire.h"

bool hca_congestion_is_marked(const struct hca_packet *p)
{
	return p->flow.l3 != HCA_L3_GRH && (p->flow.tclass & HCA_ECN_BITS) == HCA_ECN_MARKED;
}

/* What was seen on the wire of an adapter: a source port of 0, a DSCP of its own, ECT(0) */
static struct hca_packet hca_congestion_cnp(struct hca_qp *qp)
{
	const u32 *param = qp->hca->congestion.param;
	struct hca_packet p = {
		.opcode = HCA_BTH_CNP | HCA_CNP_OPERATION,
		.becn = true,
		.pkey = hca_qp_pkey(qp),
		.dqpn = qp->remote_qpn,
		.flow = qp->wire->flow,
	};

	p.flow.sport = 0;
	p.flow.tclass = param[HCA_NP_DSCP] << 2 | HCA_ECN_CAPABLE;
	if (!param[HCA_NP_PRIO_MODE])
		p.flow.tci = param[HCA_NP_PRIO] << 13 | (p.flow.tci & HCA_VLAN_ID);
	return p;
}

/* Without room for the CNP, the next marked packet tries again. */
void hca_congestion_notify(struct hca_qp *qp, const struct hca_packet *marked)
{
	struct hca_congestion *c = &qp->hca->congestion;
	u64 now = qp->hca->fabric->now;
	struct hca_packet p;

	c->marked++;
	if (now < qp->wire->rate.cnp_time)
		return;
	p = hca_congestion_cnp(qp);
	hca_charge(qp->hca->fabric, HCA_REQUESTS, 1);
	if (hca_wire_send_bytes(qp->port, &p, marked->data))
		return;
	hca_count_xmit(qp->port, 0, false);
	qp->wire->rate.cnp_time = now + 1000ull * c->param[HCA_NP_MIN_TIME];
	c->cnps_sent++;
}
