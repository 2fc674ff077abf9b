// SPDX-License-Identifier: GPL-2.0
/*
 * Packets between the functions of one host.
 *
 * Usually a message between two functions of a fabric is executed at its receiver.  If one of the
 * two uses packets, the message goes as on a wire: its packets can be captured, delayed and lost.
 * A request that is on its way keeps it when this changes, and so do those that are posted before
 * it is complete.
 */
#include "data/wire.h"

static bool hca_packets_prepare_queues(struct hca *hca)
{
	const struct hca_table *qps = &hca->qps;
	struct hca_qp *qp;
	u32 n;

	for (n = qps->first; n < qps->used_end; n++) {
		qp = hca_table_get(qps, n);
		if (qp && !hca_wire_new(qp))
			return false;
	}
	return true;
}

/* Without memory, what has been prepared stays. */
static bool hca_packets_prepare(struct hca *hca)
{
	if (hca->p.wired || !hca->p.roce)
		return true;
	hca->p.wired = true;
	if (hca_wire_gate_init(hca) && hca_wire_dct_init(hca) && hca_packets_prepare_queues(hca))
		return true;
	hca->p.wired = false;
	return false;
}

bool hca_use_packets(struct hca *hca, bool on)
{
	struct hca_fabric *f = hca->fabric;
	struct hca *other;

	if (hca->packets == on)
		return true;
	if (on)
		list_for_each_entry(other, &f->functions.list, entry)
			if (!hca_packets_prepare(other))
				return false;
	hca->packets = on;
	f->functions.packets += on ? 1 : -1;
	hca_route_changed(f);
	return true;
}
