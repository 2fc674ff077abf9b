// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA: exports of a peer that writes what it likes, with the right checksum.  They are refused, or
 * they are taken and the adapter of the other side refuses what is done with them.
 */
#include <stdbool.h>
#include "blob.h"
#include "rdma.h"

enum { ROUNDS = 20000, CONNECTIONS = 300, MAX = 256 };

static struct side a, b;
static unsigned int seed;

/* A copy of the export with some other bytes behind the header; sometimes all are random. */
static void forge(const struct xvd_blob *export, uint8_t *copy)
{
	size_t header = sizeof(*export), body = export->size - header;
	int n = rand() % 8 ? 1 + rand() % 3 : (int)body * 4;

	memcpy(copy, export, export->size);
	while (n--)
		copy[header + (size_t)rand() % body] = rand() % 4 ? (uint8_t)rand() :
							(uint8_t)-(rand() % 2);
	xvd_blob_seal((struct xvd_blob *)(void *)copy, export->magic, export->size);
}

static bool good_result(doca_error_t result, int *taken)
{
	*taken += result == DOCA_SUCCESS;
	return result == DOCA_SUCCESS || result == DOCA_ERROR_INVALID_VALUE;
}

static void report(const char *what, int rounds, int wanted, int taken)
{
	tap_is(rounds, wanted, "%s: each is taken or refused (seed %u)", what, seed);
	ok(taken && taken < rounds, "%s: %d were taken", what, taken);
}

/* ---- Memory and events: nothing happens before they are used ----------------------------- */

/* Buffers are taken from the range that the export claims, and nowhere else. */
static bool use_map(struct doca_mmap *map)
{
	struct doca_buf *buf = NULL;
	void *addr;
	size_t len;
	bool good;

	MUST(doca_mmap_get_memrange(map, &addr, &len));
	good = doca_buf_inventory_buf_get_by_addr(a.inv, map, addr, len, &buf) == DOCA_SUCCESS;
	put(buf);
	return good && doca_buf_inventory_buf_get_by_addr(a.inv, map, (char *)addr + 1, len,
							  &buf) == DOCA_ERROR_INVALID_VALUE;
}

static void maps(void)
{
	_Alignas(8) uint8_t copy[MAX];
	struct doca_mmap *map;
	const void *export;
	doca_error_t result;
	int i, taken = 0;
	size_t len;

	MUST(doca_mmap_export_rdma(b.mmap, b.dev, &export, &len));
	for (i = 0; i < ROUNDS; i++) {
		forge(export, copy);
		result = doca_mmap_create_from_export(NULL, copy, len, a.dev, &map);
		if (!good_result(result, &taken))
			break;
		if (result != DOCA_SUCCESS)
			continue;
		if (!use_map(map))
			break;
		MUST(doca_mmap_destroy(map));
	}
	report("maps", i, ROUNDS, taken);
}

static struct doca_sync_event *event_for_peers(void)
{
	struct doca_sync_event *event;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_net(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, b.dev));
	MUST(doca_sync_event_start(event));
	return event;
}

static void events(void)
{
	struct doca_sync_event *event = event_for_peers();
	_Alignas(8) uint8_t copy[MAX];
	struct doca_sync_event_remote_net *remote;
	const uint8_t *export;
	doca_error_t result;
	int i, taken = 0;
	size_t len;

	MUST(doca_sync_event_export_to_remote_net(event, &export, &len));
	for (i = 0; i < ROUNDS; i++) {
		forge((const void *)export, copy);
		result = doca_sync_event_remote_net_create_from_export(a.dev, copy, len, &remote);
		if (!good_result(result, &taken))
			break;
		if (result == DOCA_SUCCESS)
			MUST(doca_sync_event_remote_net_destroy(remote));
	}
	report("events", i, ROUNDS, taken);
	MUST(doca_sync_event_destroy(event));
}

/* ---- Connections ------------------------------------------------------------------------- */

/* A path that does not exist may be refused by the kernel, so other errors are right, too. */
static void connections(void)
{
	struct doca_rdma_connection *from, *to;
	_Alignas(8) uint8_t copy[MAX];
	const void *own, *export;
	int i, taken = 0;
	size_t len;

	MUST(doca_ctx_start(b.ctx));
	MUST(doca_rdma_export(b.rdma, &export, &len, &to));
	for (i = 0; i < CONNECTIONS; i++) {
		MUST(doca_ctx_start(a.ctx));
		MUST(doca_rdma_export(a.rdma, &own, &len, &from));
		forge(export, copy);
		taken += doca_rdma_connect(a.rdma, copy, len, from) == DOCA_SUCCESS;
		stop_side(&a);
	}
	stop_side(&b);
	report("connections", i, CONNECTIONS, taken);
}

/* ---- Use --------------------------------------------------------------------------------- */

/* A map of the memory of the peer with another key */
static void import_other_key(void)
{
	_Alignas(8) uint8_t copy[MAX];
	const struct xvd_blob *export;
	const void *data;
	uint32_t *key;
	size_t len;

	MUST(doca_mmap_export_rdma(b.mmap, b.dev, &data, &len));
	export = data;
	memcpy(copy, export, len);
	/* Header, address, length, key */
	key = (uint32_t *)(void *)(copy + sizeof(*export) + 2 * sizeof(uint64_t));
	*key ^= 0x100;
	xvd_blob_seal((struct xvd_blob *)(void *)copy, export->magic, export->size);
	MUST(doca_mmap_create_from_export(NULL, copy, len, a.dev, &a.peer));
	a.peer_mem = b.mem;
}

/* The adapter of the peer refuses it, and the connection fails. */
static void write_by_it(void)
{
	struct doca_buf *src, *dst;
	struct doca_rdma_task_write *task;
	struct done done;

	import_other_key();
	start_both(&a, &b);
	connect_sides(&a, &b);
	src = data_at(&a, 0, 64);
	dst = peer_space_at(&a, 0, 64);
	fill(a.mem, 64, 1);
	fill(b.mem, 64, 2);
	MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, pointer(&done), &task));
	MUST(submit(doca_rdma_task_write_as_task(task), &done));
	PROGRESS_UNTIL(&a, &b, done.completed || done.failed);
	tap_is(done.failed, 1, "a write with the key of nothing fails");
	tap_is(done.status, DOCA_ERROR_NOT_PERMITTED, "its status");
	ok(holds(b.mem, 64, 2), "nothing is written");
	doca_task_free(doca_rdma_task_write_as_task(task));
	put(src);
	put(dst);
	stop_side(&a);
	stop_side(&b);
}

int main(int argc, char **argv)
{
	seed = argc > 1 ? (unsigned int)atoi(argv[1]) : (unsigned int)time(NULL);
	srand(seed);
	open_side(&a, 0, 0);
	open_side(&b, 1, DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE);
	maps();
	events();
	connections();
	write_by_it();
	close_side(&a);
	close_side(&b);
	return tap_done();
}
