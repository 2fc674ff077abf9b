// SPDX-License-Identifier: GPL-2.0
/*
 * All types of RDMA jobs between two instances: data, lengths, immediate data and results.
 */
#include "jobs.h"

static struct side a, b;

#define ALL_ACCESS	(DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC)

static void test_capabilities(void)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(a.dev);
	enum doca_rdma_job_types type;
	uint32_t value;

	for (type = DOCA_RDMA_JOB_RECV; type <= DOCA_RDMA_JOB_ATOMIC_FETCH_ADD; type++)
		tap_is(doca_rdma_job_get_supported(info, type), DOCA_SUCCESS, "job type %d",
		       (int)type);
	tap_is(doca_rdma_job_get_supported(info, type), DOCA_ERROR_INVALID_VALUE, "no job type");
	tap_is(doca_rdma_get_transport_type_supported(info, DOCA_RDMA_TRANSPORT_DC),
	       DOCA_ERROR_NOT_SUPPORTED, "transport DC");
	ok(!doca_rdma_get_max_message_size(info, &value) && value > 1 << 20, "messages: %u bytes",
	   value);
	ok(!doca_rdma_get_max_send_queue_size(info, &value) && value >= 128, "%u sends", value);
	ok(!doca_rdma_get_max_recv_queue_size(info, &value) && value >= 128, "%u receives", value);
	ok(!doca_rdma_get_max_recv_buf_chain_len(info, &value) && value >= 3, "%u buffers", value);
	ok(!doca_rdma_get_gid_table_size(info, &value) && value, "%u GIDs", value);
	ok(!doca_rdma_get_gid_index(a.rdma, &value), "default GID: %u", value);
}

/* What is received follows the data that the buffer has already. */
static void test_send(void)
{
	struct doca_buf *src, *dst;
	struct doca_rdma_result result;

	memset(a.mem, 0, SIZE);
	strcpy(b.mem, "message");
	src = data_at(&b, 0, 8);
	dst = space_at(&a, 0, 100);
	MUST(doca_buf_set_data(dst, a.mem + 10, 5));
	tap_is(recv_job(&a, dst, 1), DOCA_SUCCESS, "submit a receive");
	tap_is(send_job(&b, DOCA_RDMA_JOB_SEND, src, 77, 2), DOCA_SUCCESS, "submit a send");
	done(&b, DOCA_RDMA_JOB_SEND, 2, "send");
	result = done(&a, DOCA_RDMA_JOB_RECV, 1, "receive");
	tap_is(result.opcode, DOCA_RDMA_OPCODE_RECV_SEND, "opcode of a send");
	ok(length(dst) == 13 && !strcmp(a.mem + 15, "message"), "data behind those before");
	tap_is(recv_job(&a, NULL, 3), DOCA_SUCCESS, "a receive without a buffer");
	tap_is(send_job(&b, DOCA_RDMA_JOB_SEND_IMM, NULL, 0x12345678, 4), DOCA_SUCCESS,
	       "an empty message with immediate data");
	done(&b, DOCA_RDMA_JOB_SEND_IMM, 4, "send with immediate");
	result = done(&a, DOCA_RDMA_JOB_RECV, 3, "receive");
	ok(result.opcode == DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM &&
	   result.immediate_data == 0x12345678, "immediate data");
	put(src);
	put(dst);
}

/* A message to two buffers in a list */
static void test_list(void)
{
	struct doca_buf *src, *first, *second;
	uint32_t n;

	strcpy(b.mem, "0123456789");
	src = data_at(&b, 0, 11);
	first = space_at(&a, 0, 4);
	second = space_at(&a, 1000, 100);
	MUST(doca_buf_list_chain(first, second));
	ok(!doca_buf_list_num_elements(first, &n) && n == 2, "a list of two");
	MUST(recv_job(&a, first, 0));
	MUST(send_job(&b, DOCA_RDMA_JOB_SEND, src, 0, 0));
	done(&b, DOCA_RDMA_JOB_SEND, 0, "send");
	done(&a, DOCA_RDMA_JOB_RECV, 0, "receive to a list");
	ok(length(first) == 4 && length(second) == 7 && !memcmp(a.mem, "0123", 4) &&
	   !strcmp(a.mem + 1000, "456789"), "data in both buffers");
	put(src);
	put(first);
}

static void test_write(void)
{
	struct doca_buf *src, *dst;
	struct doca_rdma_result result;

	strcpy(a.mem, "written");
	src = data_at(&a, 0, 8);
	dst = peer_space_at(&a, 2000, 20);
	MUST(rw_job(&a, DOCA_RDMA_JOB_WRITE, src, dst, 0, 5));
	done(&a, DOCA_RDMA_JOB_WRITE, 5, "write");
	ok(length(dst) == 8 && !strcmp(b.mem + 2000, "written"), "written data");
	MUST(recv_job(&b, NULL, 6));
	MUST(rw_job(&a, DOCA_RDMA_JOB_WRITE_IMM, src, dst, 0xabcdef01, 7));
	done(&a, DOCA_RDMA_JOB_WRITE_IMM, 7, "write with immediate");
	result = done(&b, DOCA_RDMA_JOB_RECV, 6, "its receive");
	ok(result.opcode == DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM &&
	   result.immediate_data == 0xabcdef01, "immediate data of a write");
	ok(length(dst) == 16 && !strcmp(b.mem + 2008, "written"), "data behind those before");
	tap_is(rw_job(&a, DOCA_RDMA_JOB_WRITE, src, dst, 0, 0), DOCA_ERROR_INVALID_VALUE,
	       "no space for the data");
	MUST(rw_job(&a, DOCA_RDMA_JOB_WRITE, NULL, NULL, 0, 8));
	done(&a, DOCA_RDMA_JOB_WRITE, 8, "write of nothing");
	put(src);
	put(dst);
}

/* The shorter one of source and destination decides. */
static void test_read(void)
{
	struct doca_buf *src, *dst;

	strcpy(b.mem + 3000, "to be read");
	memset(a.mem, 'x', SIZE);
	src = peer_data_at(&a, 3000, 11);
	dst = space_at(&a, 0, 100);
	MUST(rw_job(&a, DOCA_RDMA_JOB_READ, src, dst, 0, 9));
	done(&a, DOCA_RDMA_JOB_READ, 9, "read");
	ok(length(dst) == 11 && !strcmp(a.mem, "to be read"), "data that was read");
	put(dst);
	dst = space_at(&a, 500, 5);
	MUST(rw_job(&a, DOCA_RDMA_JOB_READ, src, dst, 0, 10));
	done(&a, DOCA_RDMA_JOB_READ, 10, "read to a shorter buffer");
	ok(length(dst) == 5 && !memcmp(a.mem + 500, "to bex", 6), "a part of the data");
	MUST(rw_job(&a, DOCA_RDMA_JOB_READ, NULL, NULL, 0, 11));
	done(&a, DOCA_RDMA_JOB_READ, 11, "read of nothing");
	put(src);
	put(dst);
}

static uint64_t value_at(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void test_atomic(void)
{
	struct doca_buf *dst, *odd, *old;
	uint64_t v = 1000;

	memcpy(b.mem + 4000, &v, sizeof(v));
	dst = peer_data_at(&a, 4000, 8);
	odd = peer_data_at(&a, 4004, 8);
	old = space_at(&a, 0, 8);
	MUST(atomic_job(&a, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, dst, old, 5, 0, 12));
	done(&a, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, 12, "fetch and add");
	ok(value_at(b.mem + 4000) == 1005 && value_at(a.mem) == 1000 && length(old) == 8,
	   "sum and value before");
	MUST(atomic_job(&a, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, dst, old, 7, 1005, 13));
	done(&a, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, 13, "compare and swap");
	ok(value_at(b.mem + 4000) == 7 && value_at(a.mem) == 1005, "swapped");
	MUST(atomic_job(&a, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, dst, old, 9, 1005, 14));
	done(&a, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, 14, "compare and swap of another value");
	ok(value_at(b.mem + 4000) == 7 && value_at(a.mem) == 7, "not swapped");
	tap_is(atomic_job(&a, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, odd, old, 5, 0, 0),
	       DOCA_ERROR_INVALID_VALUE, "an address that is not a multiple of 8");
	put(dst);
	put(odd);
	put(old);
}

/* The work queue is full with DEPTH jobs, also if they are complete. */
static void test_depth(void)
{
	int i;

	for (i = 0; i < DEPTH; i++)
		MUST(recv_job(&a, NULL, (uint64_t)i));
	tap_is(recv_job(&a, NULL, 0), DOCA_ERROR_NO_MEMORY, "a full work queue");
	for (i = 0; i < DEPTH; i++) {
		MUST(send_job(&b, DOCA_RDMA_JOB_SEND, NULL, 0, 0));
		done(&b, DOCA_RDMA_JOB_SEND, 0, "send");
	}
	tap_is(recv_job(&a, NULL, 0), DOCA_ERROR_NO_MEMORY, "full of jobs to retrieve");
	for (i = 0; i < DEPTH; i++)
		done(&a, DOCA_RDMA_JOB_RECV, (uint64_t)i, "in order");
}

static void test_refused(void)
{
	struct doca_rdma_job_recv job = { .base = BASE(&a, DOCA_RDMA_JOB_RECV, 0) };
	struct doca_event event = { .result.ptr = NULL };
	struct doca_buf *own = space_at(&a, 0, 100);

	job.base.flags = 1;
	tap_is(doca_workq_submit(a.workq, &job.base), DOCA_ERROR_INVALID_VALUE, "flags");
	job.base.flags = DOCA_JOB_FLAGS_NONE;
	tap_is(doca_workq_submit(b.workq, &job.base), DOCA_ERROR_BAD_STATE,
	       "the work queue of another context");
	job.base.type = DOCA_RDMA_JOB_ATOMIC_FETCH_ADD + 1;
	tap_is(doca_workq_submit(a.workq, &job.base), DOCA_ERROR_INVALID_VALUE, "unknown type");
	job.base.ctx = NULL;
	tap_is(doca_workq_submit(a.workq, &job.base), DOCA_ERROR_INVALID_VALUE, "no context");
	tap_is(doca_workq_submit(a.workq, NULL), DOCA_ERROR_INVALID_VALUE, "no job");
	tap_is(doca_workq_submit(NULL, &job.base), DOCA_ERROR_INVALID_VALUE, "no work queue");
	tap_is(send_job(&b, DOCA_RDMA_JOB_SEND, own, 0, 0), DOCA_ERROR_INVALID_VALUE,
	       "a buffer of another device");
	tap_is(doca_workq_progress_retrieve(a.workq, &event, 0), DOCA_ERROR_INVALID_VALUE,
	       "no place for the result");
	put(own);
}

int main(void)
{
	open_side(&a, 0, ALL_ACCESS);
	open_side(&b, 1, ALL_ACCESS);
	test_capabilities();
	start_side(&a);
	start_side(&b);
	connect_sides(&a, &b);
	import_memory(&a, &b);
	test_send();
	test_list();
	test_write();
	test_read();
	test_atomic();
	test_depth();
	test_refused();
	tap_is(state_of(&a), DOCA_RDMA_STATE_CONNECTED, "still connected");
	stop_side(&a);
	stop_side(&b);
	close_side(&a);
	close_side(&b);
	return tap_done();
}
