// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Indirect keys, and memory for their lists.
 */
#include "exp.h"

#define KEY_ACCESS	(SAME_ACCESS & ~(uint64_t)IBV_EXP_ACCESS_MW_BIND)

EXPORT struct ibv_mr *ibv_exp_create_mr(struct ibv_exp_create_mr_in *in)
{
	const struct ibv_exp_mr_init_attr *a = &in->attr;
	struct xv_mkey_init_attr x = { .max_entries = (uint32_t)a->max_reg_descriptors };
	struct xv_mkey *mkey;
	struct ibv_mr *mr;

	if (exp_check_mask("create MR: comp_mask: ", in->comp_mask, 0, 0) ||
	    exp_check_mask("create MR: create_flags: ", a->create_flags,
			   IBV_EXP_MR_SIGNATURE_EN | IBV_EXP_MR_INDIRECT_KLMS,
			   IBV_EXP_MR_INDIRECT_KLMS) ||
	    exp_check_mask("create MR: access flags: ", a->access_flags, KEY_ACCESS, KEY_ACCESS))
		return NULL;
	if (a->max_reg_descriptors > UINT32_MAX)
		return iv_refuse(EINVAL, "create MR: max_reg_descriptors: ");
	if (!xv_bridge_get_pd(in->pd))
		return NULL;
	mkey = xv_create_mkey(xv_bridge_get_pd(in->pd), &x);
	if (!mkey)
		return iv_null();
	mr = iv_mkey_mr(in->pd, mkey);
	if (!mr)
		xv_destroy_mkey(mkey);
	return mr;
}

EXPORT int ibv_exp_query_mkey(struct ibv_mr *mr, struct ibv_exp_mkey_attr *a)
{
	struct xv_mkey_attr x = {};
	int err = exp_check_mask("query key: comp_mask: ", a->comp_mask, 0, 0);

	if (!err && !xv_mkey_of(mr))
		err = exp_refuse(EINVAL, "query key: not an indirect key: ");
	if (!err)
		err = iv_result(xv_query_mkey(xv_mkey_of(mr), &x));
	if (!err)
		a->max_klm_list_size = x.max_entries;
	return err;
}

static void list_free(struct exp_list *list)
{
	if (list->mr)
		xv_dereg_mr(list->mr);
	free(list->memory);
	free(list->entries);
	free(list);
}

/* A repeating block has one entry more, and the adapter reads multiples of four. */
static size_t list_entries(uint32_t max)
{
	return ((size_t)max + 1 + 3) & ~(size_t)3;
}

EXPORT struct ibv_exp_mkey_list_container *
ibv_exp_alloc_mkey_list_memory(struct ibv_exp_mkey_list_container_attr *a)
{
	size_t entries = list_entries(a->max_klm_list_size), size = entries * MLX5R_DS;
	struct exp_list *list;
	struct xv_pd *pd;

	if (exp_check_mask("key list: comp_mask: ", a->comp_mask, 0, 0))
		return NULL;
	if (a->mkey_list_type != IBV_EXP_MKEY_LIST_TYPE_INDIRECT_MR || !a->max_klm_list_size)
		return iv_refuse(EINVAL, "key list: type or size: ");
	pd = xv_bridge_get_pd(a->pd);
	list = pd ? calloc(1, sizeof(*list)) : NULL;
	if (!list)
		return NULL;
	list->pub.context = a->pd->context;
	list->pub.max_klm_list_size = a->max_klm_list_size;
	list->entries = calloc(entries, sizeof(*list->entries));
	list->memory = aligned_alloc(XV_UMR_LIST_ALIGN, (size + XV_UMR_LIST_ALIGN - 1) &
						       ~(size_t)(XV_UMR_LIST_ALIGN - 1));
	if (!list->entries || !list->memory) {
		list_free(list);
		return iv_refuse(ENOMEM, "key list: ");
	}
	list->mr = xv_reg_mr(pd, list->memory, size, 0);
	if (!list->mr) {
		list_free(list);
		return iv_null();
	}
	return &list->pub;
}

EXPORT int ibv_exp_dealloc_mkey_list_memory(struct ibv_exp_mkey_list_container *mem)
{
	list_free((struct exp_list *)mem);
	return 0;
}

/* ---- Filling ------------------------------------------------------------------------ */

static int take_region(struct xv_sge *to, const struct ibv_exp_mem_region *from)
{
	if (!from->mr || from->length > UINT32_MAX)
		return -EINVAL;
	*to = (struct xv_sge) { from->base_addr, (uint32_t)from->length, from->mr->lkey };
	return 0;
}

static int take_block(struct xv_repeat_block *to, const struct ibv_exp_mem_repeat_block *from)
{
	if (!from->mr || *from->byte_count > UINT16_MAX || *from->stride > UINT16_MAX)
		return -EINVAL;
	*to = (struct xv_repeat_block) {
		.addr = from->base_addr,
		.lkey = from->mr->lkey,
		.byte_count = (uint32_t)*from->byte_count,
		.stride = (uint32_t)*from->stride,
	};
	return 0;
}

/* room: elements that fit */
static int take_list(struct xv_umr *to, const struct ibv_exp_send_wr *wr, union exp_entry *entries,
		     uint32_t room)
{
	struct xv_repeat_block *blocks = &entries->block;
	struct xv_sge *regions = &entries->region;
	uint32_t i, n = wr->ext_op.umr.num_mrs;
	size_t *count;

	if (!n || n > room)
		return -EINVAL;
	to->num = n;
	if (wr->ext_op.umr.umr_type == IBV_EXP_UMR_MR_LIST) {
		to->regions = regions;
		for (i = 0; i < n; i++)
			if (take_region(&regions[i], &wr->ext_op.umr.mem_list.mem_reg_list[i]))
				return -EINVAL;
		return 0;
	}
	count = wr->ext_op.umr.mem_list.rb.repeat_count;
	if (wr->ext_op.umr.umr_type != IBV_EXP_UMR_REPEAT ||
	    wr->ext_op.umr.mem_list.rb.stride_dim != 1 || *count > UINT32_MAX)
		return -EINVAL;
	to->blocks = blocks;
	to->repeat_count = (uint32_t)*count;
	for (i = 0; i < n; i++)
		if (take_block(&blocks[i],
			       &wr->ext_op.umr.mem_list.rb.mem_repeat_block_list[i]))
			return -EINVAL;
	return 0;
}

int exp_translate_umr(struct exp_umr *to, const struct ibv_exp_send_wr *wr)
{
	struct exp_list *list = (struct exp_list *)wr->ext_op.umr.memory_objects;
	struct ibv_mr *mr = wr->ext_op.umr.modified_mr;
	struct xv_umr *umr = &to->umr;

	memset(umr, 0, sizeof(*umr));
	umr->mkey = mr ? xv_mkey_of(mr) : NULL;
	if (!umr->mkey || wr->ext_op.umr.exp_access & ~KEY_ACCESS)
		return -EINVAL;
	if (wr->exp_opcode == IBV_EXP_WR_UMR_INVALIDATE)
		return 0;
	umr->base_addr = wr->ext_op.umr.base_addr;
	umr->access = (uint32_t)wr->ext_op.umr.exp_access;
	if (wr->exp_send_flags & IBV_EXP_SEND_INLINE)
		return take_list(umr, wr, to->entries, MAX_INLINE_ENTRIES);
	if (!list)
		return -EINVAL;
	umr->list = list->memory;
	umr->list_addr = (uintptr_t)list->memory;
	umr->list_lkey = list->mr->lkey;
	return take_list(umr, wr, list->entries, list->pub.max_klm_list_size);
}
