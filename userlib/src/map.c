// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Mappings of /dev/xverbs in this process.
 */
#include <sys/mman.h>
#include "internal.h"

static int map_failed(size_t length, const char *what)
{
	return xv_set_error(errno, "%s: cannot map %zu bytes: %s", what, length, strerror(errno));
}

static int map_at(struct context *ctx, struct mapping *m, void *at, const struct xverbs_map *map,
		  int prot, const char *what)
{
	void *addr = mmap(at, map->length, prot, MAP_SHARED | (at ? MAP_FIXED : 0), ctx->pub.fd,
			  (off_t)map->offset);

	m->addr = NULL;
	if (addr == MAP_FAILED)
		return map_failed(map->length, what);
	m->addr = addr;
	m->length = map->length;
	return 0;
}

int xv_map(struct context *ctx, struct mapping *m, const struct xverbs_map *map, const char *what)
{
	return map_at(ctx, m, NULL, map, PROT_READ | PROT_WRITE, what);
}

int xv_map_read(struct context *ctx, struct mapping *m, const struct xverbs_map *map,
		const char *what)
{
	return map_at(ctx, m, NULL, map, PROT_READ, what);
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
		return map_at(ctx, m, room.addr, map, PROT_READ | PROT_WRITE, what);
	xv_unmap(&room);
	return xv_map(ctx, m, map, what);
}
