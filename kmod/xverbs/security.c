// SPDX-License-Identifier: GPL-2.0
/*
 * P_Keys and the security module of the kernel (LSM), for example the class
 * infiniband_pkey of SELinux: a process needs the right to each P_Key that a queue of it
 * uses.  ib_core asks for the queue pairs that it knows.  This file asks for those of
 * xverbs and for DC targets, at the same points: when a P_Key is set, when a process opens
 * an XRC target of another, and again when P_Keys or the policy have changed.  A queue
 * that has lost the right gets an event and ends: a queue pair goes to the state ERR, a
 * DC target, which has no such state, is drained.
 *
 * The label of a process is stored in each handle that it creates.  All handles of a
 * queue pair must have the right.
 *
 * ib_core tells its clients of a new subnet prefix only when the port registers again
 * with the subnet manager.
 */
#ifdef CONFIG_SECURITY_INFINIBAND
#include <linux/security.h>
#include <rdma/ib_cache.h>

#include "dct.h"
#include "fw.h"
#include "qp.h"
#include "security.h"

#define XV_SETS_PKEY	(XVERBS_QP_PORT | XVERBS_QP_PKEY_INDEX | XVERBS_QP_ALT_PATH)

/* ---- Rights ---------------------------------------------------------------------- */

/* -ENOENT: the port has no such P_Key or no GID now, so the right is not known. */
static int xv_pkey_access(struct xv_dev *dev, void *label, u32 port, u16 index)
{
	union ib_gid gid;
	u16 pkey;

	if (!rdma_protocol_ib(dev->ib, port))
		return 0;
	if (ib_get_cached_pkey(dev->ib, port, index, &pkey) ||
	    rdma_query_gid(dev->ib, port, 0, &gid))
		return -ENOENT;
	return security_ib_pkey_access(label,
				       be64_to_cpu(gid.global.subnet_prefix),
				       pkey);
}

/* The P_Keys of both paths, as far as they are set */
static int xv_paths_access(struct xv_dev *dev, void *label,
			   const struct xverbs_qp_attr *attr)
{
	int err = 0;

	if (attr->port_num)
		err = xv_pkey_access(dev, label, attr->port_num,
				     attr->pkey_index);
	if (!err && attr->alt_port_num)
		err = xv_pkey_access(dev, label, attr->alt_port_num,
				     attr->alt_pkey_index);
	return err;
}

/* If the queue pair has no handle, nobody has the right. */
static int xv_qp_access(struct xv_dev *dev, struct xv_dev_qp *qp,
			const struct xverbs_qp_attr *attr)
{
	struct xv_qp_obj *h;
	int err = -EACCES;

	lockdep_assert_held(&qp->lock);
	mutex_lock(&qp->handles_lock);
	list_for_each_entry(h, &qp->handles, node) {
		err = xv_paths_access(dev, h->label, attr);
		if (err)
			break;
	}
	mutex_unlock(&qp->handles_lock);
	return err;
}

static int xv_access_result(struct xv_call *call, const char *what, int err)
{
	if (!err)
		return 0;
	if (err == -ENOENT)
		return xv_fail(call, -EINVAL, "%s: the port has no such P_Key",
			       what);
	return xv_fail(call, err, "%s: the security module denies the P_Key",
		       what);
}

int xv_security_modify_qp(struct xv_call *call, struct xv_dev_qp *qp,
			  const struct xverbs_qp_attr *attr, u32 mask)
{
	if (!call->dev->security.on || !(mask & XV_SETS_PKEY))
		return 0;
	return xv_access_result(call, "QP", xv_qp_access(call->dev, qp, attr));
}

int xv_security_open_qp(struct xv_call *call, const struct xv_qp_obj *h)
{
	lockdep_assert_held(&h->qp->lock);
	if (!call->dev->security.on)
		return 0;
	return xv_access_result(call, "QP",
				xv_paths_access(call->dev, h->label,
						&h->qp->attrs.qp));
}

static int xv_dct_access(struct xv_dev *dev, const struct xv_dct_obj *dct)
{
	return xv_pkey_access(dev, dct->label, dct->port, dct->pkey_index);
}

int xv_security_create_dct(struct xv_call *call, const struct xv_dct_obj *dct)
{
	if (!call->dev->security.on)
		return 0;
	return xv_access_result(call, "DCT", xv_dct_access(call->dev, dct));
}

int xv_security_label(struct xv_call *call, void **label)
{
	int err;

	if (!call->dev->security.on)
		return 0;
	err = security_ib_alloc_security(label);
	return err ? xv_fail(call, err, "no label of the security module") : 0;
}

void xv_security_free(void **label)
{
	if (*label)
		security_ib_free_security(*label);
	*label = NULL;
}

/* ---- Changes --------------------------------------------------------------------- */

static void xv_qp_lost_right(struct xv_dev *dev, struct xv_dev_qp *qp)
{
	if (xv_fw_modify_qp(dev, NULL, MLX5_CMD_OP_2ERR_QP, qp->qpn, 0, NULL,
			    NULL)) {
		dev_err_ratelimited(&dev->ib->dev,
				    "xverbs: queue pair 0x%x has lost its P_Key, but could not be stopped\n",
				    qp->qpn);
		return;
	}
	qp->attrs.qp.qp_state = XVERBS_QPS_ERR;
	xv_qp_event(qp, XVERBS_EVENT_QP_FATAL);
}

static void xv_qp_recheck(struct xv_dev *dev, void *entry)
{
	struct xv_dev_qp *qp = entry;
	const struct xverbs_qp_attr *attr = &qp->attrs.qp;
	int err;

	mutex_lock(&qp->lock);
	if (attr->qp_state != XVERBS_QPS_RESET &&
	    attr->qp_state != XVERBS_QPS_ERR) {
		err = xv_qp_access(dev, qp, attr);
		if (err && err != -ENOENT)
			xv_qp_lost_right(dev, qp);
	}
	mutex_unlock(&qp->lock);
}

static void xv_dct_recheck(struct xv_dev *dev, void *entry)
{
	struct xv_dct_obj *dct = entry;
	int err;

	if (dct->drain_end)
		return;
	err = xv_dct_access(dev, dct);
	if (!err || err == -ENOENT)
		return;
	if (xv_dct_begin_drain(dev, NULL, dct))
		dev_err_ratelimited(&dev->ib->dev,
				    "xverbs: DC target 0x%x has lost its P_Key, but could not be stopped\n",
				    dct->dctn);
	else
		xv_event_async(&dct->obj.file->async, &dct->obj.events,
			       XVERBS_EVENT_DCT_ACCESS_ERR);
}

/*
 * A queue in the table is not destroyed while @sem is held.  It is released after each
 * queue, because commands take time, and there may be many queues.
 */
static void xv_recheck_table(struct xv_dev *dev, struct xarray *queues,
			     void (*recheck)(struct xv_dev *dev, void *entry))
{
	unsigned long number = 0;
	void *entry;

	do {
		down_write(&dev->security.sem);
		entry = xa_find(queues, &number, ULONG_MAX, XA_PRESENT);
		if (entry)
			recheck(dev, entry);
		up_write(&dev->security.sem);
		number++;
		cond_resched();
	} while (entry);
}

/*
 * Tables and policy have changed before this work was queued.  So a verb that locks a
 * queue later than this work does sees the change.
 */
static void xv_security_recheck(struct work_struct *work)
{
	struct xv_dev *dev = container_of(work, struct xv_dev, security.recheck);

	xv_recheck_table(dev, &dev->qps, xv_qp_recheck);
	xv_recheck_table(dev, &dev->dcts, xv_dct_recheck);
}

void xv_security_event(struct xv_dev *dev, enum ib_event_type type)
{
	if (dev->security.on &&
	    (type == IB_EVENT_PKEY_CHANGE || type == IB_EVENT_GID_CHANGE ||
	     type == IB_EVENT_CLIENT_REREGISTER))
		xv_compat_queue_work(&dev->security.recheck);
}

static int xv_security_policy(struct notifier_block *nb, unsigned long event,
			      void *data)
{
	struct xv_dev *dev = container_of(nb, struct xv_dev, security.policy);

	if (event != LSM_POLICY_CHANGE)
		return NOTIFY_DONE;
	xv_compat_queue_work(&dev->security.recheck);
	return NOTIFY_OK;
}

/* ---- Devices --------------------------------------------------------------------- */

void xv_security_hold(struct xv_dev *dev)
{
	if (dev->security.on)
		down_read(&dev->security.sem);
}

void xv_security_release(struct xv_dev *dev)
{
	if (dev->security.on)
		up_read(&dev->security.sem);
}

void xv_security_add(struct xv_dev *dev)
{
	struct xv_security *security = &dev->security;
	u32 port;

	rdma_for_each_port(dev->ib, port)
		security->on |= rdma_protocol_ib(dev->ib, port);
	if (!security->on)
		return;
	init_rwsem(&security->sem);
	INIT_WORK(&security->recheck, xv_security_recheck);
	security->policy.notifier_call = xv_security_policy;
	register_blocking_lsm_notifier(&security->policy);
}

/* Called when no event comes any more. */
void xv_security_del(struct xv_dev *dev)
{
	if (!dev->security.on)
		return;
	unregister_blocking_lsm_notifier(&dev->security.policy);
	cancel_work_sync(&dev->security.recheck);
}
#endif
