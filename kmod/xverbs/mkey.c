// SPDX-License-Identifier: GPL-2.0
/*
 * Indirect keys: free mkeys with room for a list of other keys.  The process fills and
 * invalidates them with work requests (UMR).
 *
 * A list may name any key.  When the key is used, the adapter checks that each key in the
 * chain belongs to the protection domain of the queue pair.
 */
#include <linux/mlx5/device.h>

#include "charge.h"
#include "fw.h"
#include "mkey.h"
#include "pd.h"

#define XV_MKEY_ENTRY		16	/* bytes of an entry; PRM: octoword */
#define XV_MKEY_FREE_ENTRIES	64	/* not charged as locked memory */

/* The context of a key that UMR requests change; it has no access yet. */
void xv_mkey_context(void *mkc, u32 pdn, u32 entries, bool remote_invalidate)
{
	MLX5_SET(mkc, mkc, free, 1);
	MLX5_SET(mkc, mkc, umr_en, 1);
	MLX5_SET(mkc, mkc, lr, 1);
	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5_MKC_ACCESS_MODE_KLMS);
	MLX5_SET(mkc, mkc, translations_octword_size, entries);
	MLX5_SET(mkc, mkc, en_rinval, remote_invalidate);
	MLX5_SET(mkc, mkc, pd, pdn);
	MLX5_SET(mkc, mkc, qpn, XV_MKC_ANY_QPN);
}

/* 0 if the adapter has no indirect keys for processes */
u32 xv_mkey_max_entries(const struct xv_dev *dev)
{
	u32 log = MLX5_CAP_GEN(dev->mdev, log_max_klm_list_size);

	if (!log || !MLX5_CAP_GEN(dev->mdev, max_indirection) ||
	    MLX5_CAP_GEN(dev->mdev, umr_indirect_mkey_disabled))
		return 0;
	return 1u << min(log, 31u);
}

static int xv_mkey_check(struct xv_call *call)
{
	u32 n = call->arg.mkey_create.max_entries;
	u32 max = xv_mkey_max_entries(call->dev);

	if (!max)
		return xv_fail(call, -EOPNOTSUPP,
			       "indirect key: the adapter does not support it");
	if (!n || n > max)
		return xv_fail(call, -EINVAL,
			       "indirect key: %u entries, 1 to %u are possible",
			       n, max);
	return 0;
}

static int xv_mkey_charge(struct xv_call *call, struct xv_mkey_obj *mkey,
			  u32 entries)
{
	struct xv_pinned *pinned;

	if (entries <= XV_MKEY_FREE_ENTRIES)
		return 0;
	pinned = xv_pin_charge(call, DIV_ROUND_UP(entries * XV_MKEY_ENTRY,
						  PAGE_SIZE),
			       current->mm, "a list of keys");
	if (IS_ERR(pinned))
		return PTR_ERR(pinned);
	mkey->pinned = pinned;
	return 0;
}

static void xv_mkey_uncharge(struct xv_mkey_obj *mkey)
{
	if (mkey->pinned)
		xv_pin_put(mkey->pinned);
	mkey->pinned = NULL;
}

static int xv_mkey_create_hw(struct xv_call *call, struct xv_mkey_obj *mkey,
			     u32 pdn, u32 entries)
{
	u32 flags = call->arg.mkey_create.hdr.flags;
	u32 in[MLX5_ST_SZ_DW(create_mkey_in)] = {};
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	xv_mkey_context(mkc, pdn, entries,
			flags & XVERBS_MKEY_REMOTE_INVALIDATE);
	return xv_fw_create_mkey(call->dev, call, in, sizeof(in), &mkey->key);
}

int xv_mkey_create(struct xv_call *call)
{
	struct xverbs_mkey_create *arg = &call->arg.mkey_create;
	struct xv_mkey_obj *mkey;
	struct xv_obj *obj, *pd;
	u32 entries;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	err = xv_mkey_check(call);
	if (err)
		return err;
	entries = ALIGN(arg->max_entries, XV_MKEY_LIST_UNIT);
	obj = xv_obj_alloc(call, XV_OBJ_MKEY, sizeof(*mkey));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	mkey = to_mkey_obj(obj);
	pd = xv_obj_use(call, obj, XV_OBJ_PD, arg->pd);
	if (IS_ERR(pd)) {
		err = PTR_ERR(pd);
		goto err_obj;
	}
	err = xv_mkey_charge(call, mkey, entries);
	if (err)
		goto err_obj;
	err = xv_mkey_create_hw(call, mkey, to_pd_obj(pd)->pdn, entries);
	if (err)
		goto err_charge;

	obj->resource.number = mkey->key;
	obj->resource.bytes = entries * XV_MKEY_ENTRY;
	arg->out_handle = obj->handle;
	arg->out_key = mkey->key;
	arg->out_max_entries = entries;
	call->new_obj = obj;
	return 0;

err_charge:
	xv_mkey_uncharge(mkey);
err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_mkey_query(struct xv_call *call)
{
	struct xverbs_mkey_query *arg = &call->arg.mkey_query;
	u32 mkc[MLX5_ST_SZ_DW(mkc)];
	struct xv_obj *obj;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	obj = xv_obj_get(call, XV_OBJ_MKEY, arg->mkey);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	err = xv_fw_query_mkey(call->dev, call, to_mkey_obj(obj)->key, mkc);
	if (!err) {
		arg->out_max_entries =
			MLX5_GET(mkc, mkc, translations_octword_size);
		arg->out_filled = !MLX5_GET(mkc, mkc, free);
	}
	xv_obj_put(obj);
	return err;
}

int xv_mkey_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_mkey_obj *mkey = to_mkey_obj(obj);
	int err = xv_fw_destroy_mkey(obj->file->dev, call, mkey->key);

	if (!err)
		xv_mkey_uncharge(mkey);
	return err;
}
