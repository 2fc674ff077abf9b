// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Indirect keys.  dp/send_umr.h fills them.
 */
#include "internal.h"

XV_EXPORT struct xv_mkey *xv_create_mkey_sz(struct xv_pd *pd, const struct xv_mkey_init_attr *attr,
					    size_t size)
{
	struct xverbs_mkey_create req = { .pd = pd->handle };
	struct xv_mkey_init_attr a;
	struct xv_mkey *mkey;
	int err = xv_attr_in(&a, sizeof(a), attr, size, "create indirect key");

	if (!err && a.create_flags & ~(uint32_t)XV_MKEY_REMOTE_INVALIDATE)
		err = xv_set_error(EOPNOTSUPP, "create indirect key: flags: unknown bit in 0x%x",
				   a.create_flags);
	if (err) {
		errno = -err;
		return NULL;
	}
	req.max_entries = a.max_entries;
	if (a.create_flags & XV_MKEY_REMOTE_INVALIDATE)
		req.hdr.flags |= XVERBS_MKEY_REMOTE_INVALIDATE;
	mkey = xv_object_create(pd->context, XVERBS_MKEY_CREATE, "create indirect key", &req,
				sizeof(req), sizeof(*mkey), NULL);
	if (!mkey)
		return NULL;
	*mkey = (struct xv_mkey) {
		.context = pd->context,
		.pd = pd,
		.handle = req.out_handle,
		.lkey = req.out_key,
		.rkey = req.out_key,
		.max_entries = req.out_max_entries,
	};
	xv_object_add(mkey, req.out_handle);
	return mkey;
}

XV_EXPORT int xv_query_mkey_sz(struct xv_mkey *mkey, struct xv_mkey_attr *attr, size_t size)
{
	struct xverbs_mkey_query req = { .mkey = mkey->handle };
	struct xv_mkey_attr a = { 0 };
	int err = xv_ioctl(mkey->context, XVERBS_MKEY_QUERY, "query indirect key", &req,
			   sizeof(req));

	if (err)
		return err;
	a.max_entries = req.out_max_entries;
	a.filled = req.out_filled;
	xv_attr_out(attr, size, &a, sizeof(a));
	return 0;
}

XV_EXPORT int xv_destroy_mkey(struct xv_mkey *mkey)
{
	return xv_object_destroy(mkey, "destroy indirect key");
}
