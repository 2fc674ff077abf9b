// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ring and doorbell record of a queue: mapped from the kernel or in a UMEM.  A
 * page of doorbell records is shared by many queues.  It is mapped once, with a
 * reference count.
 */
#include "internal.h"

struct dbr_page {
	struct dbr_page *next;
	uint64_t offset;
	uint32_t users;
	struct mapping map;
};

static struct dbr_page *dbr_find(struct context *ctx, uint64_t offset)
{
	struct dbr_page *p;

	for (p = ctx->dbr_pages; p; p = p->next)
		if (p->offset == offset)
			return p;
	return NULL;
}

static struct dbr_page *dbr_map(struct context *ctx, const struct xverbs_map *map)
{
	struct dbr_page *p = calloc(1, sizeof(*p));

	if (!p)
		return xv_set_error_null(ENOMEM, "doorbell record: out of memory");
	if (xv_map(ctx, &p->map, map, "doorbell record")) {
		free(p);
		return NULL;
	}
	p->offset = map->offset;
	p->next = ctx->dbr_pages;
	ctx->dbr_pages = p;
	return p;
}

static volatile uint32_t *dbr_get(struct context *ctx, const struct xverbs_map *map,
				  uint32_t offset)
{
	volatile uint32_t *dbr = NULL;
	struct dbr_page *p;

	pthread_mutex_lock(&ctx->lock);
	p = dbr_find(ctx, map->offset);
	if (!p)
		p = dbr_map(ctx, map);
	if (p) {
		p->users++;
		dbr = (volatile uint32_t *)(void *)((char *)p->map.addr + offset);
	}
	pthread_mutex_unlock(&ctx->lock);
	return dbr;
}

static void dbr_put(struct context *ctx, volatile uint32_t *dbr)
{
	uintptr_t at = (uintptr_t)dbr;
	struct dbr_page **link, *p;

	pthread_mutex_lock(&ctx->lock);
	for (link = &ctx->dbr_pages; (p = *link); link = &p->next)
		if (at - (uintptr_t)p->map.addr < p->map.length)
			break;
	if (p && --p->users == 0) {
		*link = p->next;
		xv_unmap(&p->map);
		free(p);
	}
	pthread_mutex_unlock(&ctx->lock);
}

/* Address in a UMEM; if the UMEM is not mapped, the offset */
static void *umem_at(const struct xv_umem *umem, uint64_t offset)
{
	return (void *)((uintptr_t)umem->addr + offset);
}

static bool unmapped(const struct xv_umem *umem)
{
	return umem && !umem->addr;
}

/* Checks the UMEM and clears the doorbell record before the adapter reads it. */
int xv_external_to_kernel(struct xverbs_external *k, const struct xv_external *ext,
			  const struct qmem *mem, const char *what)
{
	if (ext->reserved[0] || ext->reserved[1])
		return xv_set_error(EINVAL, "%s: external.reserved is not zero", what);
	if (!mem->external && (unmapped(ext->ring_umem) || unmapped(ext->dbr_umem)))
		return xv_set_error(EINVAL, "%s: the UMEM is not mapped, so the flag "
				    "EXTERNAL_DATAPATH is needed", what);
	if (ext->ring_umem) {
		k->ring_umem = ext->ring_umem->handle;
		k->ring_offset = ext->ring_offset;
	}
	if (ext->dbr_umem) {
		k->dbr_umem = ext->dbr_umem->handle;
		k->dbr_offset = ext->dbr_offset;
		if (!mem->external && ext->dbr_offset + 8 <= ext->dbr_umem->length)
			memset(umem_at(ext->dbr_umem, ext->dbr_offset), 0, 8);
	}
	return 0;
}

int xv_qmem_map(struct context *ctx, struct qmem *mem, const struct xv_external *ext,
		const struct xverbs_map *ring, const struct xverbs_map *dbr, uint32_t dbr_offset,
		const char *what)
{
	int err;

	if (ext->ring_umem) {
		mem->ring = umem_at(ext->ring_umem, ext->ring_offset);
	} else if (ring->length) {
		err = xv_map(ctx, &mem->map, ring, what);
		if (err)
			return err;
		mem->ring = mem->map.addr;
	}
	if (ext->dbr_umem) {
		mem->dbrec = umem_at(ext->dbr_umem, ext->dbr_offset);
	} else if (dbr->length) {
		mem->dbrec = dbr_get(ctx, dbr, dbr_offset);
		if (!mem->dbrec) {
			xv_unmap(&mem->map);
			return -ENOMEM;
		}
		mem->kernel_dbr = true;
	}
	return 0;
}

void xv_qmem_unmap(struct context *ctx, struct qmem *mem)
{
	if (mem->kernel_dbr)
		dbr_put(ctx, mem->dbrec);
	mem->kernel_dbr = false;
	xv_unmap(&mem->map);
}
