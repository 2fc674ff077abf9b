/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions and UMEMs */
#ifndef XV_MR_H
#define XV_MR_H

#include "xv.h"

struct dma_resv;
struct ib_umem_dmabuf;
struct xv_pinned;

/**
 * struct xv_mr_obj - a memory region
 * @obj: deps[0] is the PD; re-registration can change it
 * @lock: serialises re-registrations; protects the other members
 * @ib: region of mlx5_ib; NULL for a dma-buf
 * @pinned: the charge
 * @umem: the pinned dma-buf, or NULL; it cannot be re-registered
 * @key: mkey of a dma-buf
 */
struct xv_mr_obj {
	struct xv_obj obj;
	struct mutex lock;
	struct ib_mr *ib;
	struct xv_pinned *pinned;
	u64 addr;
	u64 length;
	u64 iova;
	u32 access;
	bool writable;		/* pinned for writing */
	bool revoked;		/* a change failed: the key may give no access */
	struct ib_umem_dmabuf *umem;
	u32 key;
};

/* @pinned: the charge */
struct xv_umem_obj {
	struct xv_obj obj;
	struct ib_umem *ib;
	struct xv_pinned *pinned;
	u64 length;
};

#define to_mr_obj(_obj)		container_of(_obj, struct xv_mr_obj, obj)
#define to_umem_obj(_obj)	container_of(_obj, struct xv_umem_obj, obj)

/* Start of the memory, length, and the address of the start in work requests */
struct xv_mr_range {
	u64 addr;
	u64 length;
	u64 iova;
};

/* mr_common.c */

/* Refuses access flags that no object has; which ones an object has is checked later. */
int xv_check_access_known(struct xv_call *call, const char *what, u32 access);
int xv_mr_check_access(struct xv_call *call, u32 access);
int xv_mr_check_range(struct xv_call *call, struct xv_mr_range *range,
		      u32 access);
struct xv_mr_obj *xv_mr_new(struct xv_call *call, u32 pd, u32 access);
extern const char xv_mr_odp_why_not[];

/* mr_dmabuf.c */
int xv_mr_destroy_dmabuf(struct xv_mr_obj *mr, struct xv_call *call);

/* dmabuf.c */
int xv_dmabuf_wait(struct dma_resv *resv);
int xv_dmabuf_check(struct xv_call *call);
struct ib_umem_dmabuf *xv_dmabuf_pin(struct xv_call *call, int fd, u64 offset,
				     u64 length, u32 access);

/* umem.c */
int xv_umem_check(struct xv_call *call, const struct xv_umem_obj *umem,
		  const char *what, u64 offset, u64 bytes, u32 align);
int xv_umem_pages(struct xv_call *call, const struct xv_umem_obj *umem,
		  u64 offset, dma_addr_t *dma, u32 n);

/* Handlers of the ioctls, and the functions that destroy the objects */
int xv_mr_reg(struct xv_call *call);
int xv_mr_rereg(struct xv_call *call);
int xv_mr_dmabuf(struct xv_call *call);
int xv_mr_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_mr_leak(struct xv_obj *obj);
int xv_umem_reg(struct xv_call *call);
int xv_umem_destroy(struct xv_obj *obj, struct xv_call *call);

#endif
