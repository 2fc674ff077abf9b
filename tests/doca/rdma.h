/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two RDMA contexts in one process, for tests: each side has a device, memory and a progress
 * engine of its own.  Each task counts its callbacks in a struct done.
 */
#ifndef TESTS_DOCA_RDMA_H
#define TESTS_DOCA_RDMA_H

#include <string.h>
#include <time.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>
#include "tap.h"

#define UNUSED		__attribute__((unused))
#define MUST(call)	must(call, #call)

enum { SIZE = 64 * 1024, TASKS = 64, BUFS = 512, SECONDS = 20 };

static void must(doca_error_t result, const char *call)
{
	if (result != DOCA_SUCCESS)
		bail_out("%s: %s", call, doca_error_get_name(result));
}

/* The result of a task */
struct done {
	int completed, failed;
	doca_error_t status;
};

struct side {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_mmap *mmap;		/* of mem */
	struct doca_mmap *peer;		/* the memory of the other side */
	char *peer_mem;
	struct doca_buf_inventory *inv;
	struct doca_rdma_connection *conn;
	uint32_t permissions;		/* of the context and the map */
	char mem[SIZE] __attribute__((aligned(4096)));
};

/* ---- Tasks ------------------------------------------------------------------------------- */

#define CALLBACKS(name)									\
static UNUSED void name##_completed(struct doca_rdma_task_##name *task,			\
				    union doca_data data, union doca_data ctx_data)	\
{											\
	struct done *done = data.ptr;							\
											\
	(void)ctx_data;									\
	done->completed++;								\
	done->status = doca_task_get_status(doca_rdma_task_##name##_as_task(task));	\
}											\
static UNUSED void name##_failed(struct doca_rdma_task_##name *task,			\
				 union doca_data data, union doca_data ctx_data)	\
{											\
	struct done *done = data.ptr;							\
											\
	(void)ctx_data;									\
	done->failed++;									\
	done->status = doca_task_get_status(doca_rdma_task_##name##_as_task(task));	\
}
CALLBACKS(receive)
CALLBACKS(send)
CALLBACKS(send_imm)
CALLBACKS(read)
CALLBACKS(write)
CALLBACKS(write_imm)
CALLBACKS(atomic_cmp_swp)
CALLBACKS(atomic_fetch_add)
CALLBACKS(remote_net_sync_event_get)
CALLBACKS(remote_net_sync_event_notify_set)
CALLBACKS(remote_net_sync_event_notify_add)

#define CONF(rdma, name)								\
	MUST(doca_rdma_task_##name##_set_conf(rdma, name##_completed, name##_failed, TASKS))

static UNUSED void configure_tasks(struct doca_rdma *rdma)
{
	CONF(rdma, receive);
	CONF(rdma, send);
	CONF(rdma, send_imm);
	CONF(rdma, read);
	CONF(rdma, write);
	CONF(rdma, write_imm);
	CONF(rdma, atomic_cmp_swp);
	CONF(rdma, atomic_fetch_add);
	CONF(rdma, remote_net_sync_event_get);
	CONF(rdma, remote_net_sync_event_notify_set);
	CONF(rdma, remote_net_sync_event_notify_add);
}

/* ---- Sides ------------------------------------------------------------------------------- */

/* Opens device number i, or the last one if there are fewer. */
static UNUSED struct doca_dev *open_device(uint32_t i)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t n;

	MUST(doca_devinfo_create_list(&list, &n));
	if (!n)
		tap_skip_all("no device");
	MUST(doca_dev_open(list[i < n ? i : n - 1], &dev));
	MUST(doca_devinfo_destroy_list(list));
	return dev;
}

static UNUSED struct doca_mmap *map_memory(struct doca_dev *dev, void *addr, size_t len,
					   uint32_t permissions)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_set_permissions(mmap, permissions));
	MUST(doca_mmap_set_memrange(mmap, addr, len));
	MUST(doca_mmap_add_dev(mmap, dev));
	MUST(doca_mmap_start(mmap));
	return mmap;
}

/* A side that is not started; the caller may change the configuration. */
static UNUSED void open_side(struct side *s, uint32_t device, uint32_t permissions)
{
	s->dev = open_device(device);
	s->permissions = permissions;
	MUST(doca_pe_create(&s->pe));
	MUST(doca_rdma_create(s->dev, &s->rdma));
	s->ctx = doca_rdma_as_ctx(s->rdma);
	MUST(doca_pe_connect_ctx(s->pe, s->ctx));
	MUST(doca_rdma_set_permissions(s->rdma, permissions));
	configure_tasks(s->rdma);
	s->mmap = map_memory(s->dev, s->mem, SIZE,
			     permissions | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(BUFS, &s->inv));
	MUST(doca_buf_inventory_start(s->inv));
}

static UNUSED void close_side(struct side *s)
{
	if (s->peer)
		MUST(doca_mmap_destroy(s->peer));
	MUST(doca_buf_inventory_destroy(s->inv));
	MUST(doca_mmap_destroy(s->mmap));
	MUST(doca_rdma_destroy(s->rdma));
	MUST(doca_pe_destroy(s->pe));
	MUST(doca_dev_close(s->dev));
	memset(s, 0, sizeof(*s));
}

/* Gives s access to the memory of its peer. */
static UNUSED void import_memory(struct side *s, struct side *peer)
{
	const void *blob;
	size_t len;

	MUST(doca_mmap_export_rdma(peer->mmap, peer->dev, &blob, &len));
	MUST(doca_mmap_create_from_export(NULL, blob, len, s->dev, &s->peer));
	s->peer_mem = peer->mem;
}

static UNUSED void connect_conns(struct side *a, struct doca_rdma_connection **ca,
				 struct side *b, struct doca_rdma_connection **cb)
{
	const void *blob_a, *blob_b;
	size_t len_a, len_b;

	MUST(doca_rdma_export(a->rdma, &blob_a, &len_a, ca));
	MUST(doca_rdma_export(b->rdma, &blob_b, &len_b, cb));
	MUST(doca_rdma_connect(a->rdma, blob_b, len_b, *ca));
	MUST(doca_rdma_connect(b->rdma, blob_a, len_a, *cb));
}

static UNUSED void connect_sides(struct side *a, struct side *b)
{
	connect_conns(a, &a->conn, b, &b->conn);
}

static UNUSED void start_both(struct side *a, struct side *b)
{
	MUST(doca_ctx_start(a->ctx));
	MUST(doca_ctx_start(b->ctx));
}

/* ---- Progress ---------------------------------------------------------------------------- */

static UNUSED double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Lets both sides work until the condition is true; evaluates to false after a time. */
#define PROGRESS_UNTIL(a, b, condition) ({						\
	double end_ = now() + SECONDS;							\
											\
	while (!(condition) && now() < end_) {						\
		doca_pe_progress((a)->pe);						\
		doca_pe_progress((b)->pe);						\
	}										\
	(condition);									\
})

static UNUSED void stop_side(struct side *s)
{
	enum doca_ctx_states state;
	double end = now() + SECONDS;
	doca_error_t result = doca_ctx_stop(s->ctx);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		must(result, "doca_ctx_stop");
	do {
		doca_pe_progress(s->pe);
		MUST(doca_ctx_get_state(s->ctx, &state));
	} while (state != DOCA_CTX_STATE_IDLE && now() < end);
	if (state != DOCA_CTX_STATE_IDLE)
		bail_out("the context does not stop");
}

/* ---- Buffers ----------------------------------------------------------------------------- */

/* Parts of the own memory: full of data, or empty */
static UNUSED struct doca_buf *data_at(struct side *s, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_data(s->inv, s->mmap, s->mem + offset, len, &buf));
	return buf;
}

static UNUSED struct doca_buf *space_at(struct side *s, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_addr(s->inv, s->mmap, s->mem + offset, len, &buf));
	return buf;
}

/* Parts of the peer's memory */
static UNUSED struct doca_buf *peer_data_at(struct side *s, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_data(s->inv, s->peer, s->peer_mem + offset, len, &buf));
	return buf;
}

static UNUSED struct doca_buf *peer_space_at(struct side *s, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_addr(s->inv, s->peer, s->peer_mem + offset, len, &buf));
	return buf;
}

static UNUSED size_t length(struct doca_buf *buf)
{
	size_t len;

	MUST(doca_buf_get_data_len(buf, &len));
	return len;
}

static UNUSED void put(struct doca_buf *buf)
{
	if (buf)
		MUST(doca_buf_dec_refcount(buf, NULL));
}

/* Each byte depends on its place and on seed. */
static UNUSED void fill(char *mem, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		mem[i] = (char)(seed * 31 + i * 7 + (i >> 8));
}

static UNUSED int holds(const char *mem, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (mem[i] != (char)(seed * 31 + i * 7 + (i >> 8)))
			return 0;
	return 1;
}

/* ---- One task ---------------------------------------------------------------------------- */

static UNUSED union doca_data pointer(void *p)
{
	return (union doca_data) { .ptr = p };
}

/* Submits a task that doca_rdma_task_NAME_allocate_init() has made. */
static UNUSED doca_error_t submit(struct doca_task *task, struct done *done)
{
	memset(done, 0, sizeof(*done));
	return doca_task_submit(task);
}

/* A receive of the side, which belongs to done until it is freed */
static UNUSED struct doca_rdma_task_receive *post_receive(struct side *s, struct doca_buf *buf,
							  struct done *done)
{
	struct doca_rdma_task_receive *task;

	MUST(doca_rdma_task_receive_allocate_init(s->rdma, buf, pointer(done), &task));
	MUST(submit(doca_rdma_task_receive_as_task(task), done));
	return task;
}

static UNUSED struct doca_rdma_task_send *post_send(struct side *s,
						    struct doca_rdma_connection *conn,
						    struct doca_buf *buf, struct done *done)
{
	struct doca_rdma_task_send *task;

	MUST(doca_rdma_task_send_allocate_init(s->rdma, conn, buf, pointer(done), &task));
	MUST(submit(doca_rdma_task_send_as_task(task), done));
	return task;
}

#endif
