// SPDX-License-Identifier: GPL-2.0
/*
 * Memory windows: free mkeys.  The process binds and invalidates them with work
 * requests (UMR).
 */
#include <linux/mlx5/device.h>

#include "fw.h"
#include "mkey.h"
#include "pd.h"

int xv_mw_alloc(struct xv_call *call)
{
	struct xverbs_mw_alloc *arg = &call->arg.mw_alloc;
	u32 in[MLX5_ST_SZ_DW(create_mkey_in)] = {};
	struct xv_obj *obj, *pd;
	struct xv_mw_obj *mw;
	int err;

	if (arg->type != IB_MW_TYPE_1 && arg->type != IB_MW_TYPE_2)
		return xv_fail(call, -EOPNOTSUPP, "MW: type %u is neither 1 nor 2",
			       arg->type);
	obj = xv_obj_alloc(call, XV_OBJ_MW, sizeof(*mw));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	mw = to_mw_obj(obj);
	pd = xv_obj_use(call, obj, XV_OBJ_PD, arg->pd);
	if (IS_ERR(pd)) {
		err = PTR_ERR(pd);
		goto err_obj;
	}
	xv_mkey_context(MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry),
			to_pd_obj(pd)->pdn, XV_MKEY_LIST_UNIT,
			arg->type == IB_MW_TYPE_2);
	err = xv_fw_create_mkey(call->dev, call, in, sizeof(in), &mw->mkey);
	if (err)
		goto err_obj;

	obj->resource.number = mw->mkey;
	arg->out_handle = obj->handle;
	arg->out_rkey = mw->mkey;
	call->new_obj = obj;
	return 0;

err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_mw_destroy(struct xv_obj *obj, struct xv_call *call)
{
	return xv_fw_destroy_mkey(obj->file->dev, call, to_mw_obj(obj)->mkey);
}
