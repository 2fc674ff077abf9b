// SPDX-License-Identifier: GPL-2.0
/*
 * Resources shared by all XRC queue pairs of a device.  The adapter needs a PD, an XRC
 * domain, a CQ and an XRC SRQ in the context of each (PRM), although a sender does not
 * receive and a receiver takes the SRQ number from the packet.  They are created at
 * first use and destroyed when the device is removed.
 */
#include <linux/dma-mapping.h>
#include <linux/kmemleak.h>
#include <linux/slab.h>
#include <rdma/mlx5_ring.h>

#include "fw.h"
#include "pd.h"
#include "qp.h"
#include "xrc_base.h"

/* One page each for the ring of the CQ, the ring of the SRQ, and doorbell records */
enum { CQ_PAGE, SRQ_PAGE, DBR_PAGE, PAGES };

#define XV_BASE_LOG_CQES	4
#define XV_BASE_LOG_WQES	4
#define XV_BASE_LOG_STRIDE	5
#define XV_BASE_SRQ_DBR		64
#define XV_BASE_QP_DBR		128	/* for QPs of type XRC_RECV: not used */

struct xv_xrc_base {
	struct ib_pd *pd;
	u32 pdn;
	u32 uar_page;
	u32 xrcdn;
	u32 srqn;
	struct mlx5_core_cq mcq;
	void *mem;
	dma_addr_t dma;
};

static dma_addr_t xv_base_dma(const struct xv_xrc_base *base, u32 page)
{
	return base->dma + (dma_addr_t)page * PAGE_SIZE;
}

/* Never called: no receive is posted to the SRQ. */
static void xv_base_comp(struct mlx5_core_cq *mcq, struct mlx5_eqe *eqe)
{
}

static int xv_base_create_cq(struct xv_call *call, struct xv_xrc_base *base)
{
	size_t inlen = MLX5_ST_SZ_BYTES(create_cq_in) + sizeof(__be64);
	struct mlx5_core_dev *mdev = call->dev->mdev;
	u8 *ring = base->mem + CQ_PAGE * PAGE_SIZE;
	void *in, *cqc;
	int eqn, err, i;

	err = xv_compat_vector2eqn(mdev, 0, &eqn);
	if (err)
		return err;
	for (i = 0; i < 1 << XV_BASE_LOG_CQES; i++)
		ring[i * 64 + 63] = MLX5R_CQE_INVALID << 4 | MLX5R_CQE_OWNER;
	in = kzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);
	MLX5_SET(cqc, cqc, log_cq_size, XV_BASE_LOG_CQES);
	MLX5_SET(cqc, cqc, uar_page, base->uar_page);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, eqn);
	MLX5_SET(cqc, cqc, log_page_size,
		 PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	MLX5_SET64(cqc, cqc, dbr_addr, xv_base_dma(base, DBR_PAGE));
	*(__be64 *)MLX5_ADDR_OF(create_cq_in, in, pas) =
		cpu_to_be64(xv_base_dma(base, CQ_PAGE));
	base->mcq.comp = xv_base_comp;
	err = xv_fw_create_cq(call->dev, call, &base->mcq, in, inlen);
	kfree(in);
	return err;
}

static int xv_base_create_srq(struct xv_call *call, struct xv_xrc_base *base)
{
	size_t inlen = MLX5_ST_SZ_BYTES(create_xrc_srq_in) + sizeof(__be64);
	u64 dbr = xv_base_dma(base, DBR_PAGE) + XV_BASE_SRQ_DBR;
	void *in, *srqc;
	int err;

	in = kzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	srqc = MLX5_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);
	MLX5_SET(xrc_srqc, srqc, log_rq_stride, XV_BASE_LOG_STRIDE - 4);
	MLX5_SET(xrc_srqc, srqc, log_xrc_srq_size, XV_BASE_LOG_WQES);
	MLX5_SET(xrc_srqc, srqc, log_page_size,
		 PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	MLX5_SET(xrc_srqc, srqc, pd, base->pdn);
	MLX5_SET(xrc_srqc, srqc, xrcd, base->xrcdn);
	MLX5_SET(xrc_srqc, srqc, cqn, base->mcq.cqn);
	MLX5_SET(xrc_srqc, srqc, db_record_addr_h, upper_32_bits(dbr));
	MLX5_SET(xrc_srqc, srqc, db_record_addr_l, lower_32_bits(dbr) >> 2);
	*(__be64 *)MLX5_ADDR_OF(create_xrc_srq_in, in, pas) =
		cpu_to_be64(xv_base_dma(base, SRQ_PAGE));
	err = xv_fw_create_xrc_srq(call->dev, call, in, inlen, &base->srqn);
	kfree(in);
	return err;
}

/*
 * Called when a destroy command has failed: the adapter may still use the memory, so it is not
 * freed.  mlx5_core makes no callbacks for this CQ any more.
 */
static void xv_base_leak(struct xv_xrc_base *base)
{
	xv_pd_forget(base->pd);
	kmemleak_not_leak(base);
}

static struct xv_xrc_base *xv_base_new(struct xv_call *call)
{
	struct xv_dev *dev = call->dev;
	struct xv_xrc_base *base;
	int err = -ENOMEM;

	/* All processes share it: no cgroup is charged. */
	base = kzalloc(sizeof(*base), GFP_KERNEL);
	if (!base)
		return ERR_PTR(-ENOMEM);
	base->mem = dma_alloc_coherent(dev->mdev->device, PAGES * PAGE_SIZE,
				       &base->dma, GFP_KERNEL);
	if (!base->mem)
		goto err_base;
	err = xv_pd_make(call, &base->pd, &base->pdn);
	if (err)
		goto err_mem;
	err = xv_fw_alloc_xrcd(dev, call, &base->xrcdn);
	if (err)
		goto err_pd;
	err = xv_fw_alloc_uar(dev, call, 0, &base->uar_page);
	if (err)
		goto err_xrcd;
	err = xv_base_create_cq(call, base);
	if (err)
		goto err_uar;
	err = xv_base_create_srq(call, base);
	if (err)
		goto err_cq;
	return base;

err_cq:
	if (mlx5_core_destroy_cq(dev->mdev, &base->mcq)) {
		xv_base_leak(base);
		return ERR_PTR(err);
	}
err_uar:
	xv_fw_dealloc_uar(dev, NULL, 0, base->uar_page);
err_xrcd:
	xv_fw_dealloc_xrcd(dev, NULL, base->xrcdn);
err_pd:
	xv_pd_free(base->pd);
err_mem:
	dma_free_coherent(dev->mdev->device, PAGES * PAGE_SIZE, base->mem,
			  base->dma);
err_base:
	kfree(base);
	return ERR_PTR(err);
}

/* Sets the shared resources; the caller then sets those of the QP type. */
int xv_xrc_base_use(struct xv_call *call, struct xv_dev_qp *qp)
{
	struct xv_dev *dev = call->dev;
	struct xv_xrc_base *base;

	mutex_lock(&dev->xrc_lock);
	base = dev->xrc_base;
	if (!base) {
		base = xv_base_new(call);
		if (!IS_ERR(base))
			dev->xrc_base = base;
	}
	mutex_unlock(&dev->xrc_lock);
	if (IS_ERR(base))
		return PTR_ERR(base);
	qp->ib_pd = base->pd;
	qp->pdn = base->pdn;
	qp->xrcdn = base->xrcdn;
	qp->srqn = base->srqn;
	qp->cqn_snd = base->mcq.cqn;
	qp->cqn_rcv = base->mcq.cqn;
	qp->mem.dbr.dma = xv_base_dma(base, DBR_PAGE) + XV_BASE_QP_DBR;
	return 0;
}

/* Called when no file is bound to the device any more. */
void xv_xrc_base_exit(struct xv_dev *dev)
{
	struct xv_xrc_base *base = dev->xrc_base;
	bool lost;

	if (!base)
		return;
	lost = xv_fw_destroy_xrc_srq(dev, NULL, base->srqn);
	if (mlx5_core_destroy_cq(dev->mdev, &base->mcq) || lost) {
		xv_base_leak(base);
		dev_err(&dev->ib->dev, "xverbs: XRC resources could not be destroyed\n");
		return;
	}
	xv_fw_dealloc_uar(dev, NULL, 0, base->uar_page);
	xv_fw_dealloc_xrcd(dev, NULL, base->xrcdn);
	xv_pd_free(base->pd);
	dma_free_coherent(dev->mdev->device, PAGES * PAGE_SIZE, base->mem,
			  base->dma);
	kfree(base);
}
