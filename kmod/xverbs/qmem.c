// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a queue: ring and doorbell record, each allocated by the kernel or in a
 * UMEM.
 */
#include "buf.h"
#include "mr.h"

static int xv_qmem_ring(struct xv_call *call, struct xv_obj *queue,
			struct xv_qmem *mem, size_t bytes)
{
	const struct xverbs_external *external = &call->external;
	struct xv_obj *umem;

	if (!external->ring_umem) {
		/* Without a ring there is no mapping, because each mapping needs its own offset. */
		return bytes ? xv_buf_alloc(call, &mem->ring, bytes) : 0;
	}
	umem = xv_obj_use(call, queue, XV_OBJ_UMEM, external->ring_umem);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	return xv_buf_from_umem(call, &mem->ring, to_umem_obj(umem),
				external->ring_offset, bytes);
}

static int xv_qmem_dbr(struct xv_call *call, struct xv_obj *queue,
		       struct xv_qmem *mem)
{
	const struct xverbs_external *external = &call->external;
	struct xv_obj *umem;

	if (!external->dbr_umem)
		return xv_dbr_alloc(call, &mem->dbr);
	umem = xv_obj_use(call, queue, XV_OBJ_UMEM, external->dbr_umem);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	return xv_dbr_from_umem(call, &mem->dbr, to_umem_obj(umem),
				external->dbr_offset);
}

int xv_qmem_alloc(struct xv_call *call, struct xv_obj *queue,
		  struct xv_qmem *mem, size_t bytes)
{
	int err;

	err = xv_qmem_ring(call, queue, mem, bytes);
	if (err)
		return err;
	err = xv_qmem_dbr(call, queue, mem);
	if (err)
		xv_buf_free(call->file, &mem->ring);
	return err;
}

void xv_qmem_free(struct xv_file *file, struct xv_qmem *mem)
{
	xv_dbr_free(file, &mem->dbr);
	xv_buf_free(file, &mem->ring);
}

struct xverbs_map xv_qmem_ring_map(const struct xv_qmem *mem)
{
	if (!mem->ring.pages)
		return (struct xverbs_map) {};
	return xv_mapping_user(&mem->ring.map);
}

struct xverbs_map xv_qmem_dbr_map(const struct xv_qmem *mem)
{
	return xv_dbr_map(&mem->dbr);
}
