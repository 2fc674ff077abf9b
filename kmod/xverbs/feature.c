// SPDX-License-Identifier: GPL-2.0
/*
 * Features: whether a device supports a feature, or the reason why not.  The function
 * of a row returns NULL or the reason.
 */
#include <linux/mlx5/device.h>

#include "atomic.h"
#include "mkey.h"
#include "mr.h"
#include "query.h"

static const char *xv_has(bool cap)
{
	return cap ? NULL : "the adapter does not support it";
}

#define XV_CAP_FEATURE(_name, _field)					\
static const char *_name(const struct xv_dev *dev)			\
{									\
	return xv_has(MLX5_CAP_GEN(dev->mdev, _field));			\
}

XV_CAP_FEATURE(xv_feature_rc, rc)
XV_CAP_FEATURE(xv_feature_uc, uc)
XV_CAP_FEATURE(xv_feature_ud, ud)
XV_CAP_FEATURE(xv_feature_xrc, xrc)
XV_CAP_FEATURE(xv_feature_blueflame, bf)
XV_CAP_FEATURE(xv_feature_cq_ignore_overrun, cq_oi)
XV_CAP_FEATURE(xv_feature_cq_moderation, cq_moderation)
XV_CAP_FEATURE(xv_feature_cq_resize, cq_resize)
XV_CAP_FEATURE(xv_feature_srq_contiguous, basic_cyclic_rcv_wqe)
XV_CAP_FEATURE(xv_feature_atomics, atomic)
XV_CAP_FEATURE(xv_feature_path_migration, apm)
XV_CAP_FEATURE(xv_feature_cross_channel, cd)
XV_CAP_FEATURE(xv_feature_vector_calc, vector_calc)
XV_CAP_FEATURE(xv_feature_dc, dct)
XV_CAP_FEATURE(xv_feature_cqe_data, sctr_data_cqe)
XV_CAP_FEATURE(xv_feature_relaxed_ordering, relaxed_ordering_write)
XV_CAP_FEATURE(xv_feature_ece, ece_support)

static const char *xv_feature_always(const struct xv_dev *dev)
{
	return NULL;
}

static const char *xv_feature_no_verb(const struct xv_dev *dev)
{
	return "this version of xverbs does not support it";
}

static const char *xv_feature_no_gpu(const struct xv_dev *dev)
{
	return "queues can be in GPU memory, but there is no data path for GPUs";
}

static const char *xv_feature_no_dpa(const struct xv_dev *dev)
{
	return "programs for the cores of the adapter need proprietary tools";
}

static const char *xv_feature_masked_atomics(const struct xv_dev *dev)
{
	return xv_has(xv_atomic_sizes(dev->mdev));
}

static const char *xv_feature_dmabuf(const struct xv_dev *dev)
{
	return xv_compat_no_dmabuf();
}

static const char *xv_feature_odp(const struct xv_dev *dev)
{
	return xv_mr_odp_why_not;
}

static const char *xv_feature_indirect_keys(const struct xv_dev *dev)
{
	if (MLX5_CAP_GEN(dev->mdev, umr_indirect_mkey_disabled))
		return "the adapter does not let processes fill indirect keys";
	return xv_has(xv_mkey_max_entries(dev));
}

static const char *xv_feature_multicast(const struct xv_dev *dev)
{
	return xv_has(MLX5_CAP_GEN(dev->mdev, max_qp_mcg));
}

/* The header of the kernel has no names for these bits of the general page. */
#define XV_CAP_WAIT_DWORD	(0xd0 / 4)
#define XV_CAP_WAIT_ON_DATA	BIT(20)
#define XV_CAP_WAIT_ON_TIME	BIT(19)

static bool xv_cap_wait(const struct xv_dev *dev, u32 bit)
{
	const __be32 *page = xv_compat_caps(dev->mdev, MLX5_CAP_GENERAL);

	return MLX5_CAP_GEN(dev->mdev, cd) &&
	       be32_to_cpu(page[XV_CAP_WAIT_DWORD]) & bit;
}

static const char *xv_feature_wait_on_data(const struct xv_dev *dev)
{
	return xv_has(xv_cap_wait(dev, XV_CAP_WAIT_ON_DATA));
}

static const char *xv_feature_wait_on_time(const struct xv_dev *dev)
{
	return xv_has(xv_cap_wait(dev, XV_CAP_WAIT_ON_TIME));
}

static const char *xv_feature_cqe_timestamps(const struct xv_dev *dev)
{
	return xv_has(dev->ib->attrs.hca_core_clock);
}

static const char *xv_feature_no_compression(const struct xv_dev *dev)
{
	return "programs read completions themselves, in the full format only";
}

static const char *xv_feature_user_index(const struct xv_dev *dev)
{
	return xv_has(MLX5_CAP_GEN(dev->mdev, cqe_version) == 1);
}

static const struct {
	u32 id;
	const char *name;
	const char *(*why_not)(const struct xv_dev *dev);
} xv_features[] = {
	{ XVERBS_FEATURE_RC, "rc", xv_feature_rc },
	{ XVERBS_FEATURE_UC, "uc", xv_feature_uc },
	{ XVERBS_FEATURE_UD, "ud", xv_feature_ud },
	{ XVERBS_FEATURE_XRC, "xrc", xv_feature_xrc },
	{ XVERBS_FEATURE_SRQ, "srq", xv_feature_always },
	{ XVERBS_FEATURE_SRQ_CONTIGUOUS, "srq-contiguous", xv_feature_srq_contiguous },
	{ XVERBS_FEATURE_MEMORY_REGION, "memory-region", xv_feature_always },
	{ XVERBS_FEATURE_MEMORY_REGION_DMABUF, "memory-region-dmabuf", xv_feature_dmabuf },
	{ XVERBS_FEATURE_MEMORY_WINDOW, "memory-window", xv_feature_always },
	{ XVERBS_FEATURE_ON_DEMAND_PAGING, "on-demand-paging", xv_feature_odp },
	{ XVERBS_FEATURE_EXTERNAL_MEMORY, "external-memory", xv_feature_always },
	{ XVERBS_FEATURE_EXTERNAL_MEMORY_DMABUF, "external-memory-dmabuf", xv_feature_dmabuf },
	{ XVERBS_FEATURE_COMPLETION_CHANNEL, "completion-channel", xv_feature_always },
	{ XVERBS_FEATURE_ASYNC_EVENTS, "async-events", xv_feature_always },
	{ XVERBS_FEATURE_MULTICAST, "multicast", xv_feature_multicast },
	{ XVERBS_FEATURE_ATOMICS, "atomics", xv_feature_atomics },
	{ XVERBS_FEATURE_MASKED_ATOMICS, "masked-atomics", xv_feature_masked_atomics },
	{ XVERBS_FEATURE_BLUEFLAME, "blueflame", xv_feature_blueflame },
	{ XVERBS_FEATURE_CQ_128_BYTE_ENTRIES, "cq-128-byte-entries", xv_feature_always },
	{ XVERBS_FEATURE_CQ_RESIZE, "cq-resize", xv_feature_cq_resize },
	{ XVERBS_FEATURE_CQ_MODERATION, "cq-moderation", xv_feature_cq_moderation },
	{ XVERBS_FEATURE_CQ_IGNORE_OVERRUN, "cq-ignore-overrun", xv_feature_cq_ignore_overrun },
	{ XVERBS_FEATURE_CQ_COLLAPSED, "cq-collapsed", xv_feature_always },
	{ XVERBS_FEATURE_CQE_USER_INDEX, "cqe-user-index", xv_feature_user_index },
	{ XVERBS_FEATURE_PATH_MIGRATION, "path-migration", xv_feature_path_migration },
	{ XVERBS_FEATURE_DC, "dc", xv_feature_dc },
	{ XVERBS_FEATURE_CROSS_CHANNEL, "cross-channel", xv_feature_cross_channel },
	{ XVERBS_FEATURE_INDIRECT_KEYS, "indirect-keys", xv_feature_indirect_keys },
	{ XVERBS_FEATURE_DEVICE_MEMORY, "device-memory", xv_feature_no_verb },
	{ XVERBS_FEATURE_GPU_DATA_PATH, "gpu-data-path", xv_feature_no_gpu },
	{ XVERBS_FEATURE_DPA_DATA_PATH, "dpa-data-path", xv_feature_no_dpa },
	{ XVERBS_FEATURE_VECTOR_CALC, "vector-calc", xv_feature_vector_calc },
	{ XVERBS_FEATURE_WAIT_ON_DATA, "wait-on-data", xv_feature_wait_on_data },
	{ XVERBS_FEATURE_WAIT_ON_TIME, "wait-on-time", xv_feature_wait_on_time },
	{ XVERBS_FEATURE_CQE_DATA, "cqe-data", xv_feature_cqe_data },
	{ XVERBS_FEATURE_CQE_TIMESTAMPS, "cqe-timestamps", xv_feature_cqe_timestamps },
	{ XVERBS_FEATURE_CQ_COMPRESSION, "cq-compression", xv_feature_no_compression },
	{ XVERBS_FEATURE_RELAXED_ORDERING, "relaxed-ordering", xv_feature_relaxed_ordering },
	{ XVERBS_FEATURE_ECE, "ece", xv_feature_ece },
};

int xv_features_query(struct xv_call *call)
{
	struct xverbs_query_features *arg = &call->arg.query_features;
	u32 i, n = min_t(u32, arg->count, ARRAY_SIZE(xv_features));
	struct xverbs_feature *list, *entry;
	const char *why_not;
	int err = 0;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (arg->count)
		err = xv_check_entry_size(call, arg->entry_size,
					  offsetofend(struct xverbs_feature,
						      why_not));
	if (err)
		return err;
	list = kvcalloc(max(n, 1u), sizeof(*list), XV_GFP);
	if (!list)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		entry = &list[i];
		why_not = xv_features[i].why_not(call->dev);
		entry->id = xv_features[i].id;
		entry->available = !why_not;
		strscpy(entry->name, xv_features[i].name, sizeof(entry->name));
		if (why_not)
			strscpy(entry->why_not, why_not,
				sizeof(entry->why_not));
	}
	call->entries = (struct xv_entries) {
		.list = list,
		.n = n,
		.size = sizeof(*list),
		.to = arg->features,
		.to_size = arg->entry_size,
	};
	arg->out_count = ARRAY_SIZE(xv_features);
	return 0;
}
