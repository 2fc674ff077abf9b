// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions of dma-bufs.  The dma-buf regions of mlx5_ib are not pinned and need
 * page faults, which mlx5_ib does not handle for the queues of xverbs.  So xverbs pins
 * the dma-buf and creates its own mkey.
 */
#include <linux/log2.h>
#include <linux/mlx5/device.h>

#include "charge.h"
#include "fw.h"
#include "mr.h"
#include "pd.h"

#define XV_MKC_MAX_PAGE		30	/* log; PRM: mkc.log_page_size */

static void xv_mkc_set_access(void *mkc, struct mlx5_core_dev *mdev, u32 access)
{
	bool relaxed = access & XVERBS_ACCESS_RELAXED_ORDERING;

	MLX5_SET(mkc, mkc, a, !!(access & XVERBS_ACCESS_REMOTE_ATOMIC));
	MLX5_SET(mkc, mkc, rw, !!(access & XVERBS_ACCESS_REMOTE_WRITE));
	MLX5_SET(mkc, mkc, rr, !!(access & XVERBS_ACCESS_REMOTE_READ));
	MLX5_SET(mkc, mkc, lw, !!(access & XVERBS_ACCESS_LOCAL_WRITE));
	MLX5_SET(mkc, mkc, lr, 1);
	MLX5_SET(mkc, mkc, relaxed_ordering_write,
		 relaxed && MLX5_CAP_GEN(mdev, relaxed_ordering_write));
	xv_compat_set_ats(mdev, mkc, relaxed);
}

/* Writes one entry for each block of the memory. */
static void xv_mr_fill_pages(struct ib_umem *umem, unsigned long block,
			     __be64 *pas)
{
	struct ib_block_iter it;

	rdma_umem_for_each_dma_block(umem, &it, block)
		*pas++ = cpu_to_be64(rdma_block_iter_dma_address(&it));
}

static int xv_mr_create_key(struct xv_call *call, struct xv_mr_obj *mr,
			    const struct xv_pd_obj *pd)
{
	struct ib_umem *umem = &mr->umem->umem;
	unsigned long block;
	size_t n, inlen;
	void *in, *mkc;
	int err;

	block = ib_umem_find_best_pgsz(umem,
				       GENMASK(XV_MKC_MAX_PAGE,
					       MLX5_ADAPTER_PAGE_SHIFT),
				       mr->iova);
	if (!block)
		return xv_fail(call, -EINVAL,
			       "MR: iova 0x%llx does not match the page offset of the dma-buf",
			       mr->iova);
	/* An octoword has two entries (PRM). */
	n = round_up(ib_umem_num_dma_blocks(umem, block), 2);
	inlen = MLX5_ST_SZ_BYTES(create_mkey_in) + n * sizeof(__be64);
	in = kvzalloc(inlen, XV_GFP);
	if (!in)
		return -ENOMEM;
	MLX5_SET(create_mkey_in, in, translations_octword_actual_size, n / 2);
	mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
	xv_mkc_set_access(mkc, call->dev->mdev, mr->access);
	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5_MKC_ACCESS_MODE_MTT);
	MLX5_SET(mkc, mkc, pd, pd->pdn);
	MLX5_SET(mkc, mkc, qpn, XV_MKC_ANY_QPN);
	MLX5_SET64(mkc, mkc, start_addr, mr->iova);
	MLX5_SET64(mkc, mkc, len, mr->length);
	MLX5_SET(mkc, mkc, translations_octword_size, n / 2);
	MLX5_SET(mkc, mkc, log_page_size, ilog2(block));
	xv_mr_fill_pages(umem, block,
			 MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt));
	err = xv_fw_create_mkey(call->dev, call, in, inlen, &mr->key);
	kvfree(in);
	return err;
}

static int xv_mr_map_dmabuf(struct xv_call *call, struct xv_mr_obj *mr)
{
	const struct xverbs_mr_dmabuf *arg = &call->arg.mr_dmabuf;
	int err;

	mr->pinned = xv_pin_charge_range(call, arg->offset, arg->length,
					 "a dma-buf");
	if (IS_ERR(mr->pinned))
		return PTR_ERR(mr->pinned);
	mr->iova = arg->iova;
	mr->length = arg->length;
	mr->umem = xv_dmabuf_pin(call, arg->fd, arg->offset, arg->length,
				 arg->access);
	if (IS_ERR(mr->umem)) {
		err = xv_fail(call, PTR_ERR(mr->umem),
			      "MR: cannot pin dma-buf %d: %pe", arg->fd,
			      mr->umem);
		goto err_charge;
	}
	err = xv_mr_create_key(call, mr, to_pd_obj(mr->obj.deps[0]));
	if (err)
		goto err_umem;
	return 0;

err_umem:
	ib_umem_release(&mr->umem->umem);
err_charge:
	xv_pin_put(mr->pinned);
	return err;
}

int xv_mr_dmabuf(struct xv_call *call)
{
	struct xverbs_mr_dmabuf *arg = &call->arg.mr_dmabuf;
	struct xv_mr_range range = { arg->offset, arg->length, arg->iova };
	struct xv_mr_obj *mr;
	int err;

	if (arg->access & XVERBS_ACCESS_ZERO_BASED)
		return xv_fail(call, -EINVAL,
			       "MR: a dma-buf region cannot be zero-based");
	err = xv_dmabuf_check(call);
	if (!err)
		err = xv_mr_check_access(call, arg->access);
	if (!err)
		err = xv_mr_check_range(call, &range, arg->access);
	if (err)
		return err;
	mr = xv_mr_new(call, arg->pd, arg->access);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	err = xv_mr_map_dmabuf(call, mr);
	if (err) {
		xv_obj_abort(&mr->obj);
		return err;
	}
	mr->obj.resource.number = mr->key;
	mr->obj.resource.bytes = arg->length;
	arg->out_handle = mr->obj.handle;
	arg->out_lkey = mr->key;
	arg->out_rkey = mr->key;
	call->new_obj = &mr->obj;
	return 0;
}

int xv_mr_destroy_dmabuf(struct xv_mr_obj *mr, struct xv_call *call)
{
	int err = xv_fw_destroy_mkey(mr->obj.file->dev, call, mr->key);

	if (err)
		return err;
	ib_umem_release(&mr->umem->umem);
	xv_pin_put(mr->pinned);
	return 0;
}
