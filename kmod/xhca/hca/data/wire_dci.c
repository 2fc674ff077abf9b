// SPDX-License-Identifier: GPL-2.0
/*
 * DC initiators whose targets are on the wire.
 *
 * A DCI has one session at a time, with the target of its last requests; wire_dct.c has the other
 * side.  Its packets are numbered from 0.  A request to another target waits until all requests of
 * the session are complete, and begins a new one.  So does a request after a pause, because the
 * target forgets sessions that are not used.
 *
 * The path of the queue pair is that of the session (hca_wire_find_flow()): the one of its context
 * is not used.
 */
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/wire.h"

enum {
	OVERHEAD	= 104,	/* bytes of a WRITE with immediate, from the IPv6 header on */
	DRIVER_BYTES	= 22,	/* of Ethernet, which the driver adds to the MTU of the port */
	LEAST_MTU	= 256,
};

#define PAUSE_NS	2000000000ull

/* The headers are longer than the driver expects when it chooses the MTU. */
static u32 hca_wire_dci_mtu(const struct hca_qp *qp)
{
	u32 mtu = 128u << MLX5_GET(qpc, qp->qpc, mtu);

	while (mtu > LEAST_MTU && mtu + OVERHEAD + DRIVER_BYTES > qp->hca->vport_mtu)
		mtu /= 2;
	return mtu;
}

static void hca_wire_dci_begin(struct hca_qp *qp, const struct mlx5r_av *av)
{
	struct hca_wire *x = qp->wire;

	x->dc.av = *av;
	x->dc.mtu = hca_wire_dci_mtu(qp);
	x->flow_epoch = 0;
	x->session = 0;
	memset(&x->gate, 0, sizeof(x->gate));
	memset(&x->rtt, 0, sizeof(x->rtt));
	hca_rate_reset(qp);
	qp->sq_psn = 0;
	/* The next local target counts a connection. */
	qp->remote = NULL;
}

static bool hca_wire_dci_leads(struct hca_qp *qp, const struct mlx5r_av *av)
{
	const struct hca_port *to = hca_route_by_av(qp->hca, av);

	return qp->port->up && !(to && hca_is_direct(qp->hca, to->hca)) &&
	       hca_route_source(qp->hca, av);
}

int hca_wire_dci_choose(struct hca_qp *qp, const struct hca_wqe *w)
{
	bool far = hca_wire_dci_leads(qp, w->av), same;
	struct hca_wire *x = qp->wire;
	u64 now = qp->hca->fabric->now;

	same = far && !memcmp(&x->dc.av, w->av, sizeof(*w->av));
	if (hca_wire_is_outstanding(x) && !same) {
		hca_wire_drain(qp);
		return HCA_AGAIN;
	}
	x->dc.far = far;
	if (!far)
		x->session = 0;		/* a local target may change qp->remote_qpn */
	else if (!hca_wire_is_outstanding(x) &&
		 (!same || !x->session || now - x->dc.used > PAUSE_NS))
		hca_wire_dci_begin(qp, w->av);
	if (far)
		hca_wire_find_flow(qp);
	x->dc.used = now;
	return 0;
}

#undef PAUSE_NS
