// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of the device in this process: rings, doorbell records, the doorbell
 * page.  A page of records serves many queues and is mapped once; the
 * mapping counts its users.
 */
#include <sys/mman.h>
#include "internal.h"

struct dbr_page {
	struct dbr_page *next;
	uint64_t offset;
	uint32_t users;
	struct mapping map;
};

static int map_failed(size_t length, const char *what)
{
	return xv_set_error(errno, "%s: cannot map %zu bytes: %s", what, length, strerror(errno));
}

static int map_at(struct context *ctx, struct mapping *m, void *at, const struct xverbs_map *map,
		  const char *what)
{
	void *addr = mmap(at, map->length, PROT_READ | PROT_WRITE,
			  MAP_SHARED | (at ? MAP_FIXED : 0), ctx->pub.fd, (off_t)map->offset);

	m->addr = NULL;
	if (addr == MAP_FAILED)
		return map_failed(map->length, what);
	m->addr = addr;
	m->length = map->length;
	return 0;
}

int xv_map(struct context *ctx, struct mapping *m, const struct xverbs_map *map, const char *what)
{
	return map_at(ctx, m, NULL, map, what);
}

void xv_unmap(struct mapping *m)
{
	if (m->addr)
		munmap(m->addr, m->length);
	m->addr = NULL;
}

int xv_reserve(struct mapping *m, size_t length, const char *what)
{
	m->addr = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	m->length = length;
	if (m->addr == MAP_FAILED) {
		m->addr = NULL;
		return map_failed(length, what);
	}
	return 0;
}

int xv_map_reserved(struct context *ctx, struct mapping *m, const struct xverbs_map *map,
		    const char *what)
{
	struct mapping room = *m;

	if (map->length == room.length)
		return map_at(ctx, m, room.addr, map, what);
	xv_unmap(&room);
	return map_at(ctx, m, NULL, map, what);
}

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

static volatile uint32_t *dbr_get(struct context *ctx, const struct xverbs_map *map, uint32_t offset)
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

/* Where something lies in a UMEM; in one that is not mapped, its offset */
static void *umem_at(const struct xv_umem *umem, uint64_t offset)
{
	return (void *)((uintptr_t)umem->addr + offset);
}

static bool unmapped(const struct xv_umem *umem)
{
	return umem && !umem->addr;
}

/* Records are zero when the adapter first reads them. */
int xv_external_to_kernel(struct xverbs_external *k, const struct xv_external *ext,
			  const struct qmem *mem, const char *what)
{
	if (!mem->hands_off && (unmapped(ext->ring_umem) || unmapped(ext->dbr_umem)))
		return xv_set_error(EINVAL, "%s: the UMEM is not mapped, so the flag "
				    "EXTERNAL_DATAPATH is needed", what);
	if (ext->ring_umem) {
		k->ring_umem = ext->ring_umem->handle;
		k->ring_offset = ext->ring_offset;
	}
	if (ext->dbr_umem) {
		k->dbr_umem = ext->dbr_umem->handle;
		k->dbr_offset = ext->dbr_offset;
		if (!mem->hands_off && ext->dbr_offset + 8 <= ext->dbr_umem->length)
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

static void uar_release(void *object)
{
	struct xv_uar *uar = object;

	if (uar->addr)
		munmap(uar->addr, uar->length);
}

XV_EXPORT struct xv_uar *xv_alloc_uar(struct xv_context *ctx, uint32_t flags)
{
	struct xverbs_uar_alloc req = { .hdr.flags = flags & XV_UAR_NC ? XVERBS_UAR_NC : 0 };
	struct xv_uar *uar;
	struct mapping m;
	int err;

	if (flags & ~(uint32_t)XV_UAR_NC)
		return xv_set_error_null(EOPNOTSUPP, "allocate UAR: flags: unknown bit in 0x%x",
					 flags);
	uar = xv_object_create(ctx, XVERBS_UAR_ALLOC, "allocate UAR", &req, sizeof(req),
			       sizeof(*uar), uar_release);
	if (!uar)
		return NULL;
	err = xv_map(to_ctx(ctx), &m, &req.out_map, "allocate UAR");
	if (err) {
		xv_destroy_handle(to_ctx(ctx), req.out_handle, "allocate UAR", NULL);
		xv_object_free(uar);
		errno = -err;
		return NULL;
	}
	*uar = (struct xv_uar) {
		.context = ctx,
		.handle = req.out_handle,
		.page_id = req.out_page_id,
		.addr = m.addr,
		.length = m.length,
		.qp_doorbell = req.out_bf_offset,
		.cq_doorbell = MLX5R_UAR_CQ,
	};
	xv_object_add(uar, req.out_handle);
	return uar;
}

XV_EXPORT int xv_free_uar(struct xv_uar *uar)
{
	return xv_object_destroy(uar, "free UAR");
}

/*
 * One doorbell page serves all queues: an 8-byte store needs no lock.  Of two
 * threads that make it at a time, one takes the other's.
 */
struct xv_uar *xv_uar_get(struct context *ctx, const struct xv_external *ext)
{
	struct xv_uar *uar, *none = NULL;

	if (ext->uar)
		return ext->uar;
	uar = __atomic_load_n(&ctx->uar, __ATOMIC_ACQUIRE);
	if (uar)
		return uar;
	uar = xv_alloc_uar(&ctx->pub, 0);
	if (uar && !__atomic_compare_exchange_n(&ctx->uar, &none, uar, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
		xv_free_uar(uar);
		uar = none;
	}
	return uar;
}
