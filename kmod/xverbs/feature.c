// SPDX-License-Identifier: GPL-2.0
/*
 * Features: for each one whether it can be used on a device, and if not,
 * why.  A row's function returns NULL or the reason.
 */
#include <linux/mlx5/device.h>

#include "xv.h"

static const char *xv_has(bool cap)
{
	return cap ? NULL : "the adapter does not announce it";
}

#define XV_CAP_FEATURE(_name, _field)					\
static const char *xv_feature_##_name(const struct xv_dev *dev)		\
{									\
	return xv_has(MLX5_CAP_GEN(dev->mdev, _field));			\
}

XV_CAP_FEATURE(rc, rc)
XV_CAP_FEATURE(uc, uc)
XV_CAP_FEATURE(ud, ud)
XV_CAP_FEATURE(xrc, xrc)
XV_CAP_FEATURE(blueflame, bf)
XV_CAP_FEATURE(cq_ignore_overrun, cq_oi)
XV_CAP_FEATURE(cq_moderation, cq_moderation)
XV_CAP_FEATURE(cq_resize, cq_resize)
XV_CAP_FEATURE(srq_contiguous, basic_cyclic_rcv_wqe)
XV_CAP_FEATURE(atomics, atomic)
XV_CAP_FEATURE(path_migration, apm)

static const char *xv_feature_always(const struct xv_dev *dev)
{
	return NULL;
}

static const char *xv_feature_no_verb(const struct xv_dev *dev)
{
	return "this version of xverbs has no verb for it";
}

static const char *xv_feature_odp(const struct xv_dev *dev)
{
	return xv_has(dev->ib->attrs.odp_caps.general_caps & IB_ODP_SUPPORT);
}

static const char *xv_feature_masked_atomics(const struct xv_dev *dev)
{
	u8 ops = MLX5_ATOMIC_OPS_EXTENDED_CMP_SWAP |
		 MLX5_ATOMIC_OPS_EXTENDED_FETCH_ADD;

	return xv_has(MLX5_CAP_GEN(dev->mdev, atomic) &&
		      (MLX5_CAP_ATOMIC(dev->mdev, atomic_operations) & ops) ==
		      ops);
}

static const char *xv_feature_multicast(const struct xv_dev *dev)
{
	return xv_has(MLX5_CAP_GEN(dev->mdev, max_qp_mcg));
}

static const char *xv_feature_user_index(const struct xv_dev *dev)
{
	return xv_has(MLX5_CAP_GEN(dev->mdev, cqe_version) == 1);
}

static const struct {
	const char *name;
	const char *(*why_not)(const struct xv_dev *dev);
} xv_features[] = {
	{ "rc", xv_feature_rc },
	{ "uc", xv_feature_uc },
	{ "ud", xv_feature_ud },
	{ "xrc", xv_feature_xrc },
	{ "srq", xv_feature_always },
	{ "srq-contiguous", xv_feature_srq_contiguous },
	{ "memory-region", xv_feature_always },
	{ "memory-region-dmabuf", xv_mr_dmabuf_why_not },
	{ "memory-window", xv_feature_always },
	{ "on-demand-paging", xv_feature_odp },
	{ "external-memory", xv_feature_always },
	{ "external-memory-dmabuf", xv_feature_always },
	{ "completion-channel", xv_feature_always },
	{ "async-events", xv_feature_always },
	{ "multicast", xv_feature_multicast },
	{ "atomics", xv_feature_atomics },
	{ "masked-atomics", xv_feature_masked_atomics },
	{ "blueflame", xv_feature_blueflame },
	{ "cq-128-byte-entries", xv_feature_always },
	{ "cq-resize", xv_feature_cq_resize },
	{ "cq-moderation", xv_feature_cq_moderation },
	{ "cq-ignore-overrun", xv_feature_cq_ignore_overrun },
	{ "cq-collapsed", xv_feature_always },
	{ "cqe-user-index", xv_feature_user_index },
	{ "path-migration", xv_feature_path_migration },
	{ "dc", xv_feature_no_verb },
	{ "cross-channel", xv_feature_no_verb },
	{ "indirect-keys", xv_feature_no_verb },
	{ "device-memory", xv_feature_no_verb },
};

int xv_query_features(struct xv_call *call)
{
	struct xverbs_query_features *arg = &call->arg.query_features;
	char __user *to = u64_to_user_ptr(arg->features);
	struct xverbs_feature entry;
	const char *why_not;
	u32 i;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (arg->count && !arg->entry_size)
		return xv_fail(call, -EINVAL, "entry_size is zero");
	for (i = 0; i < min_t(u32, arg->count, ARRAY_SIZE(xv_features)); i++) {
		why_not = xv_features[i].why_not(call->dev);
		memset(&entry, 0, sizeof(entry));
		entry.available = !why_not;
		strscpy(entry.name, xv_features[i].name, sizeof(entry.name));
		if (why_not)
			strscpy(entry.why_not, why_not, sizeof(entry.why_not));
		err = xv_copy_entry(to + (size_t)i * arg->entry_size,
				    arg->entry_size, &entry, sizeof(entry));
		if (err)
			return err;
	}
	arg->out_count = ARRAY_SIZE(xv_features);
	return 0;
}
