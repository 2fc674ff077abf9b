// SPDX-License-Identifier: GPL-2.0
/* UMEM: pinned user memory for rings and doorbell records */
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <rdma/ib_umem.h>

#include "charge.h"
#include "mr.h"

static struct ib_umem *xv_umem_pin_dmabuf(struct xv_call *call)
{
	const struct xverbs_umem_reg *arg = &call->arg.umem_reg;
	struct ib_umem_dmabuf *ib;

	ib = xv_dmabuf_pin(call, arg->fd, arg->addr, arg->length,
			   IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(ib))
		return ERR_PTR(xv_fail(call, PTR_ERR(ib),
				       "UMEM: cannot pin %llu bytes at 0x%llx of dma-buf %d: %pe",
				       arg->length, arg->addr, arg->fd, ib));
	return &ib->umem;
}

static struct ib_umem *xv_umem_pin(struct xv_call *call)
{
	const struct xverbs_umem_reg *arg = &call->arg.umem_reg;
	struct ib_umem *ib;

	if (arg->hdr.flags & XVERBS_UMEM_DMABUF)
		return xv_umem_pin_dmabuf(call);
	ib = xv_compat_umem_get(call->dev->ib, arg->addr, arg->length,
				IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(ib))
		return ERR_PTR(xv_fail(call, PTR_ERR(ib),
				       "UMEM: cannot pin %llu bytes (RLIMIT_MEMLOCK is %lu)",
				       arg->length, rlimit(RLIMIT_MEMLOCK)));
	return ib;
}

int xv_umem_reg(struct xv_call *call)
{
	struct xverbs_umem_reg *arg = &call->arg.umem_reg;
	struct xv_umem_obj *umem;
	struct xv_obj *obj;
	u64 end;
	int err;

	if (arg->fd && !(arg->hdr.flags & XVERBS_UMEM_DMABUF))
		return xv_fail(call, -EINVAL, "UMEM: fd is not zero");
	if (arg->addr & ~PAGE_MASK)
		return xv_fail(call, -EINVAL,
			       "UMEM: addr 0x%llx is not page-aligned",
			       arg->addr);
	/* ib_core cuts the numbers to those of the kernel, which may have 32 bits. */
	if (!arg->length || check_add_overflow(arg->addr, arg->length, &end) ||
	    end > ULONG_MAX)
		return xv_fail(call, -EINVAL, "UMEM: length %llu is 0 or too large",
			       arg->length);

	err = arg->hdr.flags & XVERBS_UMEM_DMABUF ? xv_dmabuf_check(call) : 0;
	if (err)
		return err;

	obj = xv_obj_alloc(call, XV_OBJ_UMEM, sizeof(*umem));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	umem = to_umem_obj(obj);
	umem->length = arg->length;
	umem->pinned = xv_pin_charge_range(call, arg->addr, arg->length,
					   "a UMEM");
	if (IS_ERR(umem->pinned)) {
		err = PTR_ERR(umem->pinned);
		goto err_obj;
	}
	umem->ib = xv_umem_pin(call);
	if (IS_ERR(umem->ib)) {
		err = PTR_ERR(umem->ib);
		goto err_charge;
	}
	obj->resource.bytes = arg->length;
	arg->out_handle = obj->handle;
	call->new_obj = obj;
	return 0;

err_charge:
	xv_pin_put(umem->pinned);
err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_umem_destroy(struct xv_obj *obj, struct xv_call *call)
{
	ib_umem_release(to_umem_obj(obj)->ib);
	xv_pin_put(to_umem_obj(obj)->pinned);
	return 0;
}

/* ---- Rings and doorbell records in a UMEM ----------------------------------- */

/* Returns the DMA addresses of @n pages from @offset on. */
int xv_umem_pages(struct xv_call *call, const struct xv_umem_obj *umem,
		  u64 offset, dma_addr_t *dma, u32 n)
{
	u64 first = offset >> PAGE_SHIFT, i = 0;
	struct ib_block_iter it;

	rdma_umem_for_each_dma_block(umem->ib, &it, PAGE_SIZE) {
		if (i >= first + n)
			break;
		if (i >= first)
			dma[i - first] = rdma_block_iter_dma_address(&it);
		if (!(++i % 1024))
			cond_resched();
	}
	/* The exporter of a dma-buf may have mapped less than its size. */
	if (i < first + n)
		return xv_fail(call, -EINVAL,
			       "UMEM: only %llu of its pages are mapped", i);
	return 0;
}

int xv_umem_check(struct xv_call *call, const struct xv_umem_obj *umem,
		  const char *what, u64 offset, u64 bytes, u32 align)
{
	u64 end;

	if (offset % align)
		return xv_fail(call, -EINVAL,
			       "%s: offset 0x%llx is not a multiple of %u",
			       what, offset, align);
	if (check_add_overflow(offset, bytes, &end) || end > umem->length)
		return xv_fail(call, -EINVAL,
			       "%s: %llu bytes at 0x%llx, the UMEM has %llu",
			       what, bytes, offset, umem->length);
	return 0;
}
