// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of an open file: handles, references, destruction.
 *
 * A verb reserves a handle, creates the object, and publishes it when only the copy of
 * the reply can still fail.  An object with users cannot be destroyed.  Closing the
 * file destroys all objects, users before the objects they use.
 */
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "charge.h"
#include "cq.h"
#include "dct.h"
#include "mkey.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "uar.h"
#include "xrcd.h"

static unsigned int max_objects = 1 << 18;
module_param(max_objects, uint, 0644);
MODULE_PARM_DESC(max_objects, "maximum number of objects of an open file");

u32 xv_max_objects(void)
{
	return READ_ONCE(max_objects);
}

/**
 * struct xv_obj_ops - what is different for each type of objects
 * @name: name for messages
 * @word: name in debugfs, one word
 * @destroy: after a failure the object still exists
 * @leak: called when the file closes and the object cannot be destroyed: removes
 *	all connections between the object and processes; may be NULL
 * @drain: starts the draining that @destroy waits for, so that many objects drain at the
 *	same time; may be NULL
 */
struct xv_obj_ops {
	const char *name;
	const char *word;
	int (*destroy)(struct xv_obj *obj, struct xv_call *call);
	void (*leak)(struct xv_obj *obj);
	void (*drain)(struct xv_obj *obj);
};

static const struct xv_obj_ops xv_obj_ops[XV_OBJ_TYPES] = {
	[XV_OBJ_QP] = {
		.name = "queue pair",
		.word = "qp",
		.destroy = xv_qp_destroy,
		.leak = xv_qp_leak,
	},
	[XV_OBJ_DCT] = {
		.name = "DC target",
		.word = "dct",
		.destroy = xv_dct_destroy,
		.leak = xv_dct_leak,
		.drain = xv_dct_drain,
	},
	[XV_OBJ_SRQ] = {
		.name = "shared receive queue",
		.word = "srq",
		.destroy = xv_srq_destroy,
		.leak = xv_srq_leak,
	},
	[XV_OBJ_CQ] = {
		.name = "completion queue",
		.word = "cq",
		.destroy = xv_cq_destroy,
		.leak = xv_cq_leak,
	},
	[XV_OBJ_CHANNEL] = {
		.name = "completion channel",
		.word = "channel",
		.destroy = xv_channel_destroy,
		.leak = xv_channel_leak,
	},
	[XV_OBJ_XRCD] = {
		.name = "XRC domain",
		.word = "xrcd",
		.destroy = xv_xrcd_destroy,
	},
	[XV_OBJ_UMEM] = {
		.name = "UMEM",
		.word = "umem",
		.destroy = xv_umem_destroy,
	},
	[XV_OBJ_MKEY] = {
		.name = "indirect key",
		.word = "mkey",
		.destroy = xv_mkey_destroy,
	},
	[XV_OBJ_MW] = {
		.name = "memory window",
		.word = "mw",
		.destroy = xv_mw_destroy,
	},
	[XV_OBJ_MR] = {
		.name = "memory region",
		.word = "mr",
		.destroy = xv_mr_destroy,
		.leak = xv_mr_leak,
	},
	[XV_OBJ_UAR] = {
		.name = "doorbell page",
		.word = "uar",
		.destroy = xv_uar_destroy,
		.leak = xv_uar_leak,
	},
	[XV_OBJ_PD] = {
		.name = "protection domain",
		.word = "pd",
		.destroy = xv_pd_destroy,
		.leak = xv_pd_leak,
	},
};

/* Allocates a zeroed object and reserves a handle, which cannot be looked up yet. */
struct xv_obj *xv_obj_alloc(struct xv_call *call, enum xv_obj_type type,
			    size_t size)
{
	struct xv_file *file = call->file;
	struct xv_obj *obj;
	int err;

	obj = kzalloc(size, XV_GFP);
	if (!obj)
		return ERR_PTR(-ENOMEM);
	err = xv_cgroup_charge(call, file->dev, &obj->cgroup,
			       RDMACG_RESOURCE_HCA_OBJECT);
	if (err) {
		kfree(obj);
		return ERR_PTR(err);
	}
	err = xa_alloc(&file->objs, &obj->handle, XA_ZERO_ENTRY,
		       XA_LIMIT(1, xv_max_objects()), XV_GFP);
	if (err) {
		xv_cgroup_uncharge(file->dev, &obj->cgroup,
				   RDMACG_RESOURCE_HCA_OBJECT);
		kfree(obj);
		if (err == -EBUSY)
			err = xv_fail_limit(call, -ENOSPC, XVERBS_LIMIT_OBJECTS,
					    "the file already has %u objects",
					    xv_max_objects());
		return ERR_PTR(err);
	}
	obj->file = file;
	obj->type = type;
	obj->serial = atomic64_inc_return(&file->serials);
	obj->resource.word = xv_obj_ops[type].word;
	obj->resource.number = obj->handle;
	xv_resource_init(&obj->resource);
	xv_evsrc_init(&obj->events);
	obj->events.handle = obj->handle;
	return obj;
}

/* Drops the references to the objects that @obj uses, and frees it. */
static void xv_obj_free(struct xv_obj *obj)
{
	xv_evsrc_stop(&obj->file->async, &obj->events);
	while (obj->n_deps)
		xv_obj_put(obj->deps[--obj->n_deps]);
	xv_cgroup_uncharge(obj->file->dev, &obj->cgroup,
			   RDMACG_RESOURCE_HCA_OBJECT);
	kfree(obj);
}

/* Undoes a creation that fails before the object exists in the adapter. */
void xv_obj_abort(struct xv_obj *obj)
{
	xa_erase(&obj->file->objs, obj->handle);
	xv_obj_free(obj);
}

void xv_obj_publish(struct xv_obj *obj)
{
	/* The handle is reserved, so xa_store() needs no memory. */
	xa_store(&obj->file->objs, obj->handle, obj, GFP_KERNEL);
}

/* Destroys @obj without a caller that gets a reason; after a failure it still exists. */
static int xv_obj_destroy_silent(struct xv_obj *obj)
{
	int err = xv_obj_ops[obj->type].destroy(obj, NULL);

	if (!err) {
		xa_erase(&obj->file->objs, obj->handle);
		xv_obj_free(obj);
	}
	return err;
}

struct xv_obj *xv_obj_get(struct xv_call *call, enum xv_obj_type type,
			  u32 handle)
{
	struct xarray *objs = &call->file->objs;
	struct xv_obj *obj;

	xa_lock(objs);
	obj = xa_load(objs, handle);
	if (obj && obj->type == type)
		obj->users++;
	else
		obj = NULL;
	xa_unlock(objs);
	if (!obj)
		return ERR_PTR(xv_fail(call, -ENOENT, "no %s %u",
				       xv_obj_ops[type].name, handle));
	return obj;
}

void xv_obj_put(struct xv_obj *obj)
{
	struct xarray *objs = &obj->file->objs;

	xa_lock(objs);
	obj->users--;
	xa_unlock(objs);
}

/* Makes @user, which is being created, use an object until @user is freed. */
struct xv_obj *xv_obj_use(struct xv_call *call, struct xv_obj *user,
			  enum xv_obj_type type, u32 handle)
{
	struct xv_obj *obj;

	if (WARN_ON_ONCE(user->n_deps == XV_MAX_DEPS))
		return ERR_PTR(-EINVAL);
	obj = xv_obj_get(call, type, handle);
	if (!IS_ERR(obj))
		user->deps[user->n_deps++] = obj;
	return obj;
}

/*
 * Makes an object without users invisible, but keeps its handle reserved.  If @serial
 * is not 0, the object must have this serial number.
 */
static struct xv_obj *xv_obj_hide(struct xv_file *file, struct xv_call *call,
				  u32 handle, u64 serial)
{
	struct xarray *objs = &file->objs;
	struct xv_obj *obj;
	u32 users = 0;

	xa_lock(objs);
	obj = xa_load(objs, handle);
	if (obj && serial && obj->serial != serial)
		obj = NULL;
	if (obj) {
		users = obj->users;
		if (!users)
			__xa_store(objs, handle, XA_ZERO_ENTRY, GFP_NOWAIT);
	}
	xa_unlock(objs);

	if (!obj)
		return ERR_PTR(xv_fail(call, -ENOENT, "no object %u", handle));
	if (users)
		return ERR_PTR(xv_fail(call, -EBUSY, "%s %u has %u users",
				       xv_obj_ops[obj->type].name, handle,
				       users));
	return obj;
}

int xv_destroy(struct xv_call *call)
{
	struct xverbs_destroy *arg = &call->arg.destroy;
	struct xv_obj *obj;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	obj = xv_obj_hide(call->file, call, arg->handle, 0);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	arg->out_comp_events = 0;
	err = xv_obj_ops[obj->type].destroy(obj, call);
	if (err) {
		xv_obj_publish(obj);
		return err;
	}
	arg->out_async_events = xv_evsrc_stop(&call->file->async,
					      &obj->events);
	xa_erase(&call->file->objs, arg->handle);
	xv_obj_free(obj);
	return 0;
}

/*
 * Undoes a creation that fails after the object was created in the adapter.  If the
 * object cannot be destroyed now, closing the file tries again.
 */
void xv_obj_undo(struct xv_obj *obj)
{
	if (xv_obj_destroy_silent(obj))
		xv_obj_publish(obj);
}

/*
 * Undoes a creation whose reply could not be copied to the user.  Meanwhile the object
 * may be destroyed, its handle may be reused, or the object may have users.
 */
void xv_obj_discard(struct xv_file *file, u32 handle, u64 serial)
{
	struct xv_obj *obj = xv_obj_hide(file, NULL, handle, serial);

	if (!IS_ERR(obj))
		xv_obj_undo(obj);
}

/* Destroys users before the objects they use; skips objects that still have users. */
static void xv_objs_destroy_pass(struct xv_file *file)
{
	enum xv_obj_type type;
	struct xv_obj *obj;
	unsigned long i;

	for (type = 0; type < XV_OBJ_TYPES; type++) {
		xa_for_each(&file->objs, i, obj) {
			if (obj->type != type || obj->users)
				continue;
			xv_obj_destroy_silent(obj);
			cond_resched();
		}
	}
}

/*
 * The adapter may still use the memory of @obj and raise events for it.  So the object,
 * its file and the module are never freed.
 */
static void xv_obj_leak(struct xv_obj *obj)
{
	if (xv_obj_ops[obj->type].leak)
		xv_obj_ops[obj->type].leak(obj);
	xv_evsrc_stop(&obj->file->async, &obj->events);
	obj->file->kept = true;
	kref_get(&obj->file->ref);
	__module_get(THIS_MODULE);
	dev_err_ratelimited(&obj->file->dev->ib->dev,
			    "xverbs: %s %u could not be destroyed\n",
			    xv_obj_ops[obj->type].name, obj->handle);
	xv_cgroup_uncharge(obj->file->dev, &obj->cgroup,
			   RDMACG_RESOURCE_HCA_OBJECT);
	xa_erase(&obj->file->objs, obj->handle);
	kmemleak_not_leak(obj);
}

/*
 * Called when the file closes or its device is removed; no call is in flight.  A
 * command that failed, for example with ENOMEM, is tried a second time.
 */
void xv_objs_destroy_all(struct xv_file *file)
{
	struct xv_obj *obj;
	unsigned long i;

	xa_for_each(&file->objs, i, obj) {
		if (xv_obj_ops[obj->type].drain)
			xv_obj_ops[obj->type].drain(obj);
		cond_resched();
	}
	xv_objs_destroy_pass(file);
	if (xa_empty(&file->objs))
		return;
	xv_objs_destroy_pass(file);
	xa_for_each(&file->objs, i, obj)
		xv_obj_leak(obj);
}
