// SPDX-License-Identifier: GPL-2.0
/*
 * Import of protection domains that a process allocated through ib_uverbs.
 *
 * Access check.  The caller passes an open file of ib_uverbs and the handle of the PD in that file.
 * ib_core exports no lookup by handle, but one by number in its resource tracking.  The PD with
 * the number must name this file and this handle.  The caller may know the number from netlink;
 * otherwise the numbers are searched.  An open file of ib_uverbs gives all rights on its objects.
 *
 * Lifetime.  While a PD is imported:
 *
 *  - its usecnt is raised, so ib_uverbs refuses to deallocate it;
 *  - the file is held, so the end of the owning process does not destroy the PD;
 *  - if the device is removed, xverbs drops its imports before ib_uverbs destroys its
 *    objects: ib_core calls its clients in the reverse order of their registration, and
 *    ib_uverbs has registered first, see xv_after_ib_uverbs.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <rdma/ib_marshall.h>
#include <rdma/restrack.h>

#include "fw.h"
#include "pd.h"

/*
 * ib_uverbs must register with ib_core before xverbs.  It does if xverbs uses one of its
 * symbols, because a module is initialised after those whose symbols it uses.  On older
 * kernels xverbs also calls functions of ib_uverbs; on newer ones this is the only symbol.
 */
static typeof(&ib_copy_qp_attr_to_user) const xv_after_ib_uverbs __used =
	ib_copy_qp_attr_to_user;

/**
 * xv_import_hold() - increments the usecnt of a PD, so that it is not deallocated
 * @pd: its resource tracking entry is referenced
 * @ufile: what a file of ib_uverbs has as private data
 * @handle: handle of the PD in that file
 *
 * ib_uverbs destroys an object in these steps: it sets usecnt of the uobject to -1,
 * deallocates the PD if its usecnt is 0, waits until its resource tracking entry is not
 * referenced, and frees PD and uobject.  So both are valid here, and either ib_uverbs
 * finds the usecnt raised, or this function finds -1.
 *
 * If the firmware does not deallocate a PD when its file is closed, ib_uverbs frees only
 * the uobject, whose memory may then be another one: so it must name the PD, too.
 */
int xv_import_hold(struct ib_pd *pd, const void *ufile, u32 handle)
{
	struct ib_uobject *uobj = pd->uobject;

	if (!uobj || uobj->object != pd || uobj->ufile != ufile ||
	    uobj->id != handle)
		return -ENOENT;
	/* -1 also while it is created: that may fail, and then nobody else may use the PD. */
	if (atomic_read(&uobj->usecnt) < 0)
		return -EBUSY;
	atomic_inc(&pd->usecnt);
	smp_mb__after_atomic();	/* ib_uverbs: cmpxchg of uobj->usecnt */
	if (atomic_read(&uobj->usecnt) >= 0)
		return 0;
	atomic_dec(&pd->usecnt);
	return -EBUSY;
}

/*
 * Tries once more to destroy an SRQ that could not be destroyed before.  If this fails, too,
 * ib_core no longer lists the SRQ and ib_uverbs no longer counts it, so that neither warns of it.
 */
static void xv_import_forget_srq(struct xv_pd_obj *pd)
{
	if (!pd->srq || !ib_destroy_srq_user(pd->srq, NULL))
		return;
	xv_compat_untrack_srq(pd->srq);
	atomic_dec(&pd->ib->usecnt);
}

/* The device is being removed; no file is bound to it any more. */
void xv_imports_exit(struct xv_dev *dev)
{
	struct xv_pd_obj *pd;

	list_for_each_entry(pd, &dev->kept_imports, kept) {
		xv_import_forget_srq(pd);
		xv_import_drop(pd);
	}
}

/*
 * Numbers are given in order, so this is the number of the PD that was allocated last. A PD
 * has none if there was no memory to track it.
 */
static int xv_import_newest(struct xv_call *call, u32 *number)
{
	int err, tracked = 0;
	struct ib_pd *pd;
	u32 pdn;

	err = xv_pd_make(call, &pd, &pdn);
	if (err)
		return err;
	*number = pd->res.id;
	if (!pd->res.valid)
		tracked = -ENOMEM;
	err = xv_pd_free(pd);
	return err ? xv_fail(call, xv_fw_errno(err), "PD: DEALLOC_PD failed") : tracked;
}

/* Returns -ENOENT if another PD, or none, has this number. */
static int xv_import_try(struct xv_call *call, struct xv_pd_obj *pd, u32 number)
{
	struct rdma_restrack_entry *res;
	int err;

	res = rdma_restrack_get_byid(call->dev->ib, RDMA_RESTRACK_PD, number);
	if (IS_ERR(res))
		return -ENOENT;
	pd->ib = container_of(res, struct ib_pd, res);
	err = xv_import_hold(pd->ib, pd->uverbs->private_data, call->arg.pd_import.pd);
	rdma_restrack_put(res);
	return err;
}

#define XV_PDN_NONE	0xffffff	/* no PD has it */

#define XV_IMPORT_SEARCH	(1u << 22)	/* numbers; takes less than a second */

static int xv_import_search(struct xv_call *call, struct xv_pd_obj *pd)
{
	u32 number, left = XV_IMPORT_SEARCH;
	int err;

	err = xv_import_newest(call, &number);
	if (err)
		return err;
	do {
		err = xv_import_try(call, pd, number);
		cond_resched();
	} while (err == -ENOENT && --left && number-- &&
		 !fatal_signal_pending(current));
	return err;
}

static int xv_import_find(struct xv_call *call, struct xv_pd_obj *pd)
{
	const struct xverbs_pd_import *arg = &call->arg.pd_import;
	int err = arg->number ? xv_import_try(call, pd, arg->number) :
				xv_import_search(call, pd);

	if (err == -ENOENT)
		return xv_fail(call, err, "fd %d has no PD %u on this device", arg->fd, arg->pd);
	if (err == -EBUSY)
		return xv_fail(call, err, "PD %u of fd %d is being deallocated", arg->pd, arg->fd);
	return err;
}

/*
 * ib_core does not export the number of a PD.  So an SRQ is created in the PD, the number is read
 * from its context, and the SRQ is destroyed.  An mkey has the number, too, but a process with
 * queues in the PD may be able to change it there by a work request (UMR).
 *
 * mlx5_ib sets srq_num for each type of SRQ; this type is an RMP (PRM).
 */
static int xv_import_number(struct xv_call *call, struct xv_pd_obj *pd)
{
	struct ib_srq_init_attr attr = { .srq_type = IB_SRQT_BASIC,
					 .attr = { .max_wr = 1, .max_sge = 1 } };
	u32 rmpc[MLX5_ST_SZ_DW(rmpc)];
	struct ib_srq *srq;
	int err;

	srq = ib_create_srq(pd->ib, &attr);
	if (IS_ERR(srq))
		return xv_fail(call, xv_fw_errno(PTR_ERR(srq)),
			       "PD: cannot read the PD number: %pe", srq);
	err = xv_fw_query_rmp(call->dev, call, srq->ext.xrc.srq_num, rmpc);
	if (!err)
		pd->pdn = MLX5_GET(rmpc, rmpc, wq.pd);
	if (!ib_destroy_srq_user(srq, NULL))
		return err;
	/* It is destroyed with the import.  Nobody may use a number that was not read. */
	pd->srq = srq;
	if (err)
		pd->pdn = XV_PDN_NONE;
	return err ?: xv_fail(call, -EREMOTEIO, "PD: DESTROY_RMP failed");
}

static int xv_import_open(struct xv_call *call, struct xv_pd_obj *pd)
{
	int err;

	if (call->arg.pd_import.reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	pd->uverbs = fget(call->arg.pd_import.fd);
	if (!pd->uverbs)
		return xv_fail(call, -EBADF, "PD: fd %d is not an open file",
			       call->arg.pd_import.fd);
	err = xv_import_find(call, pd);
	if (err)
		fput(pd->uverbs);
	return err;
}

int xv_pd_import(struct xv_call *call)
{
	struct xverbs_pd_import *arg = &call->arg.pd_import;
	struct xv_obj *obj;
	int err;

	obj = xv_obj_alloc(call, XV_OBJ_PD, sizeof(struct xv_pd_obj));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	err = xv_import_open(call, to_pd_obj(obj));
	if (err) {
		xv_obj_abort(obj);
		return err;
	}
	err = xv_import_number(call, to_pd_obj(obj));
	if (err) {
		xv_obj_undo(obj);
		return err;
	}
	obj->resource.number = to_pd_obj(obj)->pdn;
	obj->resource.imported = true;
	arg->out_handle = obj->handle;
	arg->out_pdn = to_pd_obj(obj)->pdn;
	call->new_obj = obj;
	return 0;
}
