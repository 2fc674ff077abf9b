/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two RDMA instances with jobs in one process, for tests.  Each side has a device, memory and a
 * work queue of its own.
 */
#ifndef TESTS_DOCA_JOBS_H
#define TESTS_DOCA_JOBS_H

#include <string.h>
#include <time.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_workq.h>
#include "tap.h"

#define UNUSED		__attribute__((unused))
#define MUST(call)	must(call, #call)

enum { SIZE = 16 * 1024, BUFS = 64, DEPTH = 8, SECONDS = 20 };

static void must(doca_error_t result, const char *call)
{
	if (result != DOCA_SUCCESS)
		bail_out("%s: %s", call, doca_get_error_name(result));
}

struct side {
	struct doca_dev *dev;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_workq *workq;
	struct doca_mmap *mmap;		/* of mem */
	struct doca_mmap *peer;		/* the memory of the other side */
	struct doca_buf_inventory *inv;
	char *peer_mem;
	char mem[SIZE] __attribute__((aligned(4096)));
};

/* ---- Sides ------------------------------------------------------------------------------- */

/* Device number i, or the last one if there are fewer */
static UNUSED struct doca_dev *open_device(uint32_t i)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t n;

	MUST(doca_devinfo_list_create(&list, &n));
	if (!n)
		tap_skip_all("no device");
	MUST(doca_dev_open(list[i < n ? i : n - 1], &dev));
	MUST(doca_devinfo_list_destroy(list));
	return dev;
}

/* permissions: of the instance and the map */
static UNUSED void open_side(struct side *s, uint32_t device, uint32_t permissions)
{
	s->dev = open_device(device);
	MUST(doca_mmap_create(NULL, &s->mmap));
	MUST(doca_mmap_dev_add(s->mmap, s->dev));
	MUST(doca_mmap_set_memrange(s->mmap, s->mem, SIZE));
	MUST(doca_mmap_set_permissions(s->mmap, permissions | DOCA_ACCESS_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(s->mmap));
	MUST(doca_buf_inventory_create(NULL, BUFS, DOCA_BUF_EXTENSION_NONE, &s->inv));
	MUST(doca_buf_inventory_start(s->inv));
	MUST(doca_rdma_create(&s->rdma));
	MUST(doca_rdma_set_permissions(s->rdma, permissions));
	s->ctx = doca_rdma_as_ctx(s->rdma);
	MUST(doca_ctx_dev_add(s->ctx, s->dev));
	MUST(doca_workq_create(DEPTH, &s->workq));
}

static UNUSED void close_side(struct side *s)
{
	MUST(doca_workq_destroy(s->workq));
	MUST(doca_rdma_destroy(s->rdma));
	MUST(doca_buf_inventory_destroy(s->inv));
	if (s->peer)
		MUST(doca_mmap_destroy(s->peer));
	MUST(doca_mmap_destroy(s->mmap));
	MUST(doca_dev_close(s->dev));
}

static UNUSED void start_side(struct side *s)
{
	MUST(doca_ctx_start(s->ctx));
	MUST(doca_ctx_workq_add(s->ctx, s->workq));
}

static UNUSED void stop_side(struct side *s)
{
	MUST(doca_ctx_workq_rm(s->ctx, s->workq));
	MUST(doca_ctx_stop(s->ctx));
}

static UNUSED void connect_sides(struct side *a, struct side *b)
{
	const void *blob_a, *blob_b;
	size_t len_a, len_b;

	MUST(doca_rdma_export(a->rdma, &blob_a, &len_a));
	MUST(doca_rdma_export(b->rdma, &blob_b, &len_b));
	MUST(doca_rdma_connect(a->rdma, blob_b, len_b));
	MUST(doca_rdma_connect(b->rdma, blob_a, len_a));
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

static UNUSED enum doca_rdma_state state_of(const struct side *s)
{
	enum doca_rdma_state state;

	MUST(doca_rdma_get_state(s->rdma, &state));
	return state;
}

/* ---- Buffers ----------------------------------------------------------------------------- */

/* Parts of the own memory, or of that of the peer: full of data, or empty */
static UNUSED struct doca_buf *data_at(struct side *s, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_by_data(s->inv, s->mmap, s->mem + offset, len, &buf));
	return buf;
}

static UNUSED struct doca_buf *space_at(struct side *s, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_by_addr(s->inv, s->mmap, s->mem + offset, len, &buf));
	return buf;
}

static UNUSED struct doca_buf *peer_data_at(struct side *s, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_by_data(s->inv, s->peer, s->peer_mem + offset, len, &buf));
	return buf;
}

static UNUSED struct doca_buf *peer_space_at(struct side *s, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_by_addr(s->inv, s->peer, s->peer_mem + offset, len, &buf));
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
	MUST(doca_buf_refcount_rm(buf, NULL));
}

/* ---- Jobs -------------------------------------------------------------------------------- */

#define BASE(s, job, cookie)							\
	{ .type = (job), .ctx = (s)->ctx, .user_data = { .u64 = (cookie) } }

static UNUSED doca_error_t recv_job(struct side *s, struct doca_buf *dst, uint64_t cookie)
{
	const struct doca_rdma_job_recv job = {
		.base = BASE(s, DOCA_RDMA_JOB_RECV, cookie),
		.dst_buff = dst,
	};

	return doca_workq_submit(s->workq, &job.base);
}

static UNUSED doca_error_t send_job(struct side *s, enum doca_rdma_job_types type,
				    struct doca_buf *src, doca_be32_t imm, uint64_t cookie)
{
	const struct doca_rdma_job_send job = {
		.base = BASE(s, type, cookie),
		.src_buff = src,
		.immediate_data = imm,
	};

	return doca_workq_submit(s->workq, &job.base);
}

static UNUSED doca_error_t rw_job(struct side *s, enum doca_rdma_job_types type,
				  struct doca_buf *src, struct doca_buf *dst, doca_be32_t imm,
				  uint64_t cookie)
{
	const struct doca_rdma_job_read_write job = {
		.base = BASE(s, type, cookie),
		.dst_buff = dst,
		.src_buff = src,
		.immediate_data = imm,
	};

	return doca_workq_submit(s->workq, &job.base);
}

static UNUSED doca_error_t atomic_job(struct side *s, enum doca_rdma_job_types type,
				      struct doca_buf *dst, struct doca_buf *result,
				      uint64_t swap_add, uint64_t cmp, uint64_t cookie)
{
	const struct doca_rdma_job_atomic job = {
		.base = BASE(s, type, cookie),
		.cmp_or_add_dest_buff = dst,
		.result_buff = result,
		.swap_or_add_data = swap_add,
		.cmp_data = cmp,
	};

	return doca_workq_submit(s->workq, &job.base);
}

static UNUSED double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Waits for a job by polling; event gets its type and user data. */
static UNUSED struct doca_rdma_result retrieve(struct side *s, struct doca_event *event)
{
	static struct doca_rdma_result result;
	double end = now() + SECONDS;
	doca_error_t found;

	memset(&result, 0xee, sizeof(result));
	event->result.ptr = &result;
	do {
		found = doca_workq_progress_retrieve(s->workq, event,
						     DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	} while (found == DOCA_ERROR_AGAIN && now() < end);
	must(found, "doca_workq_progress_retrieve");
	return result;
}

/* The next job is of that type, has that user data and succeeds. */
static UNUSED struct doca_rdma_result done(struct side *s, enum doca_rdma_job_types type,
					   uint64_t cookie, const char *what)
{
	struct doca_event event;
	struct doca_rdma_result result = retrieve(s, &event);

	ok(event.type == (int)type && event.user_data.u64 == cookie &&
	   result.result == DOCA_SUCCESS && !result.rdma_peer_addr,
	   "%s: type %d, user data %llu, %s", what, event.type - DOCA_RDMA_JOB_RECV,
	   (unsigned long long)event.user_data.u64, doca_get_error_name(result.result));
	return result;
}

#endif
