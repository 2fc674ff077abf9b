// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of queues from the allocators of a parent domain.  The types are those that libmlx5
 * passes to them, in the same order: the ring, then the doorbell record.
 */
#include <unistd.h>
#include <infiniband/mlx5dv.h>
#include "ibv.h"

#define RECORD_BYTES	64	/* a cache line; the kernel demands its alignment */

static uintptr_t page_size(void)
{
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

void iv_memory_init(struct memory *m, struct ibv_pd *domain)
{
	*m = (struct memory) { .domain = NULL };
	if (!domain || !TO(pd, domain)->base)
		return;
	m->domain = TO(pd, domain);
	iv_count_user(&m->domain->users, 1);
}

bool iv_memory_is_ours(const struct memory *m)
{
	return m->domain && m->domain->alloc;
}

/* A UMEM begins at a page.  Other data in its pages is only pinned. */
static int buffer_get(struct buffer *b, struct pd *domain, size_t size, size_t alignment)
{
	uintptr_t start;
	void *addr = domain->alloc(&domain->pub, domain->pd_context, size, alignment, b->type);

	if (addr == IBV_ALLOCATOR_USE_DEFAULT)
		return 0;
	if (!addr) {
		iv_refuse(ENOMEM, "allocator of the parent domain: ");
		return -1;
	}
	b->addr = addr;
	start = (uintptr_t)addr & ~(page_size() - 1);
	b->umem = xv_reg_umem(xv_of(domain->pub.context), (void *)start,
			      (uintptr_t)addr + size - start);
	if (b->umem)
		return 0;
	iv_null();
	return -1;
}

static void buffer_put(struct buffer *b, struct pd *domain)
{
	if (b->umem)
		xv_dereg_umem(b->umem);
	if (b->addr)
		domain->free(&domain->pub, domain->pd_context, b->addr, b->type);
}

static uint64_t offset(const struct buffer *b)
{
	return (uintptr_t)b->addr & (page_size() - 1);
}

int iv_memory_get(struct memory *m, uint64_t type, size_t bytes, struct xv_external *ext)
{
	size_t page = page_size();

	m->ring.type = type;
	m->record.type = MLX5DV_RES_TYPE_DBR;
	if (bytes && buffer_get(&m->ring, m->domain, (bytes + page - 1) & ~(page - 1), page))
		return -1;
	if (buffer_get(&m->record, m->domain, RECORD_BYTES, RECORD_BYTES))
		return -1;
	ext->ring_umem = m->ring.umem;
	ext->ring_offset = offset(&m->ring);
	ext->dbr_umem = m->record.umem;
	ext->dbr_offset = offset(&m->record);
	return 0;
}

void iv_memory_put(struct memory *m)
{
	int err = errno;

	if (!m->domain)
		return;
	buffer_put(&m->record, m->domain);
	buffer_put(&m->ring, m->domain);
	iv_count_user(&m->domain->users, -1);
	errno = err;
}
