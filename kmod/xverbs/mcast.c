// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast groups of UD queue pairs.  These verbs only make the adapter deliver
 * packets of a group.  Joining the group in the network is a task of other software
 * (subnet manager, IGMP).
 */
#include <linux/in6.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>

#include "fw.h"
#include "qp.h"

#define XV_MAX_GROUPS	1024	/* per queue pair */

struct xv_mcast {
	struct list_head node;
	u8 gid[16];
};

static struct xv_mcast *xv_mcast_find(const struct xv_dev_qp *qp, const u8 *gid)
{
	struct xv_mcast *mcast;

	list_for_each_entry(mcast, &qp->mcast, node)
		if (!memcmp(mcast->gid, gid, sizeof(mcast->gid)))
			return mcast;
	return NULL;
}

static int xv_mcast_check(struct xv_call *call, const struct xv_dev_qp *qp)
{
	const struct xverbs_mcast *arg = &call->arg.mcast;

	if (qp->type != XVERBS_QPT_UD)
		return xv_fail(call, -EINVAL, "multicast: the QP is not UD");
	if (!rdma_is_multicast_addr((struct in6_addr *)arg->gid))
		return xv_fail(call, -EINVAL, "multicast: %pI6c is not a multicast GID",
			       arg->gid);
	if (arg->lid && arg->lid < be16_to_cpu(IB_MULTICAST_LID_BASE))
		return xv_fail(call, -EINVAL,
			       "multicast: lid 0x%x is not a multicast LID",
			       arg->lid);
	return 0;
}

static int xv_mcast_attach_locked(struct xv_call *call, struct xv_dev_qp *qp)
{
	const struct xverbs_mcast *arg = &call->arg.mcast;
	struct xv_mcast *mcast;
	int err;

	lockdep_assert_held(&qp->lock);
	err = xv_mcast_check(call, qp);
	if (err)
		return err;
	if (xv_mcast_find(qp, arg->gid))
		return 0;
	if (qp->n_mcast >= XV_MAX_GROUPS)
		return xv_fail_limit(call, -ENOSPC, XVERBS_LIMIT_QP_GROUPS,
				     "multicast: the QP is already in %u groups",
				     XV_MAX_GROUPS);
	mcast = kzalloc(sizeof(*mcast), XV_GFP);
	if (!mcast)
		return -ENOMEM;
	memcpy(mcast->gid, arg->gid, sizeof(mcast->gid));
	err = xv_fw_attach_mcg(call->dev, call, qp->qpn, mcast->gid);
	if (err) {
		kfree(mcast);
		return err;
	}
	list_add(&mcast->node, &qp->mcast);
	qp->n_mcast++;
	return 0;
}

static int xv_mcast_drop(struct xv_dev *dev, struct xv_call *call,
			 struct xv_dev_qp *qp, struct xv_mcast *mcast)
{
	int err = xv_fw_detach_mcg(dev, call, qp->qpn, mcast->gid);

	if (!err) {
		list_del(&mcast->node);
		qp->n_mcast--;
		kfree(mcast);
	}
	return err;
}

static int xv_mcast_detach_locked(struct xv_call *call, struct xv_dev_qp *qp)
{
	struct xv_mcast *mcast;
	int err;

	lockdep_assert_held(&qp->lock);
	err = xv_mcast_check(call, qp);
	if (err)
		return err;
	mcast = xv_mcast_find(qp, call->arg.mcast.gid);
	if (!mcast)
		return xv_fail(call, -ENOENT, "multicast: the QP is not in group %pI6c",
			       call->arg.mcast.gid);
	return xv_mcast_drop(call->dev, call, qp, mcast);
}

int xv_mcast_attach(struct xv_call *call)
{
	return xv_qp_call(call, call->arg.mcast.qp, xv_mcast_attach_locked);
}

int xv_mcast_detach(struct xv_call *call)
{
	return xv_qp_call(call, call->arg.mcast.qp, xv_mcast_detach_locked);
}

/* Called when the QP is destroyed, so qp->lock is not needed. */
int xv_mcast_detach_all(struct xv_dev *dev, struct xv_call *call,
			struct xv_dev_qp *qp)
{
	struct xv_mcast *mcast, *next;
	int err;

	list_for_each_entry_safe(mcast, next, &qp->mcast, node) {
		err = xv_mcast_drop(dev, call, qp, mcast);
		if (err)
			return err;
	}
	return 0;
}
