/* SPDX-License-Identifier: GPL-2.0 */
/* P_Keys and the security module of the kernel (LSM) */
#ifndef XV_SECURITY_H
#define XV_SECURITY_H

#include <linux/notifier.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct xv_call;
struct xv_dct_obj;
struct xv_dev;
struct xv_dev_qp;
struct xv_qp_obj;
struct xverbs_qp_attr;

/**
 * struct xv_security - part of a device
 * @on: a port is InfiniBand; does not change
 * @sem: held for writing while the right of a queue is checked again, for reading while
 *	a queue is destroyed
 * @recheck: checks the rights of all queues again
 * @policy: called after a change of the policy
 */
struct xv_security {
	bool on;
	struct rw_semaphore sem;
	struct work_struct recheck;
	struct notifier_block policy;
};

#ifdef CONFIG_SECURITY_INFINIBAND
void xv_security_add(struct xv_dev *dev);
void xv_security_del(struct xv_dev *dev);
void xv_security_event(struct xv_dev *dev, enum ib_event_type type);

/* The label of the calling process, which each handle of a queue has */
int xv_security_label(struct xv_call *call, void **label);
void xv_security_free(void **label);

/* Checks the P_Keys that @attr sets; the caller holds qp->lock. */
int xv_security_modify_qp(struct xv_call *call, struct xv_dev_qp *qp,
			  const struct xverbs_qp_attr *attr, u32 mask);
/* Checks the P_Keys of the queue pair of @h, a new handle; the caller holds qp->lock. */
int xv_security_open_qp(struct xv_call *call, const struct xv_qp_obj *h);
int xv_security_create_dct(struct xv_call *call, const struct xv_dct_obj *dct);

/* Between the two no queue is checked again. */
void xv_security_hold(struct xv_dev *dev);
void xv_security_release(struct xv_dev *dev);
#else
static inline void xv_security_add(struct xv_dev *dev)
{
}

static inline void xv_security_del(struct xv_dev *dev)
{
}

static inline void xv_security_event(struct xv_dev *dev, enum ib_event_type type)
{
}

static inline int xv_security_label(struct xv_call *call, void **label)
{
	return 0;
}

static inline void xv_security_free(void **label)
{
}

static inline int xv_security_modify_qp(struct xv_call *call,
					struct xv_dev_qp *qp,
					const struct xverbs_qp_attr *attr,
					u32 mask)
{
	return 0;
}

static inline int xv_security_open_qp(struct xv_call *call,
				      const struct xv_qp_obj *h)
{
	return 0;
}

static inline int xv_security_create_dct(struct xv_call *call,
					 const struct xv_dct_obj *dct)
{
	return 0;
}

static inline void xv_security_hold(struct xv_dev *dev)
{
}

static inline void xv_security_release(struct xv_dev *dev)
{
}
#endif

#endif
