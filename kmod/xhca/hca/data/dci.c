// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport: the targets of DC initiators (DCI).
 *
 * Each request of a DCI names its target (DCT) and the access key of the target.  The request
 * is executed like one of RC, with the DCT as receiver.  The DCI has the state of a message that
 * is in progress, including the receive request that the message took from the shared receive
 * queue of the DCT.  Therefore several DCIs can send messages to one DCT at the same time.  The
 * DCT only has a list of these DCIs.
 *
 * A request with a wrong key gets no answer, like a datagram with a wrong Q_Key.  The DCI tries
 * again and fails as if there were no DCT.  (No public text says what firmware answers.)
 *
 * Targets on other hosts: wire_dci.c and wire_dct.c.
 *
 * A DCT receives what is sent to any GID of its port; the GID of its context is for the packets
 * that it sends.  (No public text says so either, but UCX relies on it with rdma_cm.)
 */
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <asm/byteorder.h>
#include "data/data.h"

enum {
	PASS_SOURCES	= 64,	/* messages of a DCT that end in a pass */
};

void hca_dct_violated(struct hca_qp *dct)
{
	dct->dct.violations++;
	if (!dct->dct.armed)
		return;
	dct->dct.armed = false;
	hca_event_qp(dct, MLX5_EVENT_TYPE_DCT_KEY_VIOLATION);
}

/* A message that has begun continues with its DCT, even if the DCT is draining. */
static bool hca_dci_is_accepted(const struct hca_qp *dct, const struct hca_qp *qp)
{
	if (dct->state != MLX5_QP_STATE_RTS)
		return false;
	if (qp->target || qp->in_message)
		return qp->target == dct;
	return dct->dct.state == HCA_DCT_ACTIVE;
}

/* Remembers the last target, to count connections. */
static void hca_dci_connect(struct hca_qp *qp, struct hca_port *to, struct hca_qp *dct)
{
	qp->remote = to;
	qp->remote_qpn = dct->qpn;
	dct->counter->rx_dct_connect++;
}

noinline struct hca_qp *hca_dci_target(struct hca_qp *qp, const struct hca_wqe *w)
{
	struct hca_port *from = qp->port;
	struct hca_port *to = from->up ? hca_route_by_av(qp->hca, w->av) : NULL;
	struct hca_qp *dct;

	if (!to || hca_halted(to->hca))
		return NULL;
	dct = hca_dct_get(to->hca, be32_to_cpu(w->av->dqp_dct) & 0xffffff);
	if (!dct || dct->port != to ||
	    !hca_pkey_check(to, hca_qp_pkey(dct), hca_qp_pkey(qp)) || !hca_dci_is_accepted(dct, qp))
		return NULL;
	if (w->av->dc_key != dct->dct.key) {
		hca_dct_violated(dct);
		return NULL;
	}
	if (qp->remote != to || qp->remote_qpn != dct->qpn)
		hca_dci_connect(qp, to, dct);
	return dct;
}

void hca_dci_continue(struct hca_qp *qp, struct hca_qp *dct)
{
	qp->target = dct;
	list_move_tail(&qp->target_entry, &dct->dct.sources);
}

void hca_dct_check_drained(struct hca_qp *dct)
{
	if (dct->dct.state != HCA_DCT_DRAINING || !list_empty(&dct->dct.sources))
		return;
	dct->dct.state = HCA_DCT_DRAINED;
	hca_timer_clear(dct->hca->fabric, &dct->timer);
	hca_event_qp(dct, MLX5_EVENT_TYPE_DCT_DRAINED);
}

void hca_dci_end(struct hca_qp *qp)
{
	struct hca_qp *dct = qp->target;

	if (!dct)
		return;
	qp->target = NULL;
	list_del_init(&qp->target_entry);
	if (dct->hca->stage == HCA_OFF) {
		hca_rq_release(qp);
		return;
	}
	/* If the message has not consumed its receive request, the DCT gets no more of it. */
	hca_rq_abort(dct, qp);
	hca_dct_check_drained(dct);
}

/* Ends at most @most messages.  Returns false if there are more. */
static bool hca_dci_end_some(struct hca_qp *dct, u32 most)
{
	struct list_head *sources = &dct->dct.sources;

	for (; most && !list_empty(sources); most--)
		hca_dci_end(list_first_entry(sources, struct hca_qp, target_entry));
	return list_empty(sources);
}

void hca_dct_disconnect(struct hca_qp *dct)
{
	hca_dci_end_some(dct, U32_MAX);
}

void hca_dct_timer(struct hca_qp *dct)
{
	struct hca_fabric *f = dct->hca->fabric;

	if (!hca_dci_end_some(dct, PASS_SOURCES))
		hca_timer_set(f, &dct->timer, f->now);
}
