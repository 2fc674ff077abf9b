// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of the API of jobs without a device: arguments, properties and names.
 */
#include <poll.h>
#include <doca_log.h>
#include "jobs.h"

static void test_null(void)
{
	struct doca_rdma *rdma;
	enum doca_rdma_state state;
	struct doca_workq *workq;
	uint32_t value;
	const void *blob;
	size_t len;

	MUST(doca_rdma_create(&rdma));
	MUST(doca_workq_create(1, &workq));
	tap_is(doca_rdma_create(NULL), DOCA_ERROR_INVALID_VALUE, "create: no result");
	tap_is(doca_rdma_destroy(NULL), DOCA_ERROR_INVALID_VALUE, "destroy: nothing");
	ok(!doca_rdma_as_ctx(NULL), "no context of nothing");
	tap_is(doca_rdma_get_state(NULL, &state), DOCA_ERROR_INVALID_VALUE, "state: no instance");
	tap_is(doca_rdma_get_state(rdma, NULL), DOCA_ERROR_INVALID_VALUE, "state: no result");
	tap_is(doca_rdma_set_sl(NULL, 0), DOCA_ERROR_INVALID_VALUE, "set: no instance");
	tap_is(doca_rdma_get_sl(rdma, NULL), DOCA_ERROR_INVALID_VALUE, "get: no result");
	tap_is(doca_rdma_export(rdma, NULL, &len), DOCA_ERROR_INVALID_VALUE, "export: no result");
	tap_is(doca_rdma_export(NULL, &blob, &len), DOCA_ERROR_INVALID_VALUE, "export: nothing");
	tap_is(doca_rdma_connect(rdma, NULL, 0), DOCA_ERROR_INVALID_VALUE, "connect: to nothing");
	tap_is(doca_rdma_job_get_supported(NULL, DOCA_RDMA_JOB_SEND), DOCA_ERROR_INVALID_VALUE,
	       "capability: no device");
	tap_is(doca_rdma_get_max_message_size(NULL, &value), DOCA_ERROR_INVALID_VALUE,
	       "size: no device");
	tap_is(doca_ctx_dev_add(doca_rdma_as_ctx(rdma), NULL), DOCA_ERROR_INVALID_VALUE,
	       "add no device");
	tap_is(doca_ctx_start(NULL), DOCA_ERROR_INVALID_VALUE, "start: nothing");
	tap_is(doca_ctx_start(doca_rdma_as_ctx(rdma)), DOCA_ERROR_BAD_STATE, "start: no device");
	tap_is(doca_ctx_workq_add(doca_rdma_as_ctx(rdma), NULL), DOCA_ERROR_INVALID_VALUE,
	       "add no work queue");
	tap_is(doca_ctx_workq_add(doca_rdma_as_ctx(rdma), workq), DOCA_ERROR_BAD_STATE,
	       "add a work queue before the start");
	MUST(doca_workq_destroy(workq));
	MUST(doca_rdma_destroy(rdma));
}

#define PROPERTY(name, type, first, second)					\
do {										\
	type v_ = 0;								\
										\
	ok(!doca_rdma_get_##name(rdma, &v_) && v_ == (first), #name ": default");	\
	tap_is(doca_rdma_set_##name(rdma, second), DOCA_SUCCESS, #name ": set");	\
	ok(!doca_rdma_get_##name(rdma, &v_) && v_ == (second), #name ": new value");	\
} while (0)

static void test_properties(void)
{
	struct doca_rdma *rdma;
	enum doca_mtu_size mtu;
	uint32_t index;

	MUST(doca_rdma_create(&rdma));
	PROPERTY(permissions, uint32_t, 0, DOCA_ACCESS_RDMA_READ);
	PROPERTY(send_queue_size, uint32_t, 128, 16);
	PROPERTY(recv_queue_size, uint32_t, 128, 32);
	PROPERTY(recv_buf_chain_len, uint32_t, 3, 2);
	PROPERTY(grh_enabled, uint8_t, 0, 1);
	PROPERTY(sl, uint32_t, 0, 3);
	PROPERTY(transport_type, enum doca_rdma_transport_type, DOCA_RDMA_TRANSPORT_RC,
		 DOCA_RDMA_TRANSPORT_RC);
	tap_is(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_DC),
	       DOCA_ERROR_NOT_SUPPORTED, "transport DC");
	tap_is(doca_rdma_get_mtu(rdma, &mtu), DOCA_ERROR_BAD_STATE, "MTU without a device");
	tap_is(doca_rdma_get_gid_index(rdma, &index), DOCA_ERROR_BAD_STATE, "GID, too");
	MUST(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_1K_BYTES));
	ok(!doca_rdma_get_mtu(rdma, &mtu) && mtu == DOCA_MTU_SIZE_1K_BYTES, "an MTU that was set");
	MUST(doca_rdma_destroy(rdma));
}

static void test_workq(void)
{
	struct doca_rdma_result result;
	struct doca_event event = { .result.ptr = &result };
	doca_event_handle_t handle;
	struct doca_workq *workq;
	struct pollfd fd;

	tap_is(doca_workq_create(0, &workq), DOCA_ERROR_INVALID_VALUE, "depth 0");
	tap_is(doca_workq_create(1, NULL), DOCA_ERROR_INVALID_VALUE, "create: no result");
	tap_is(doca_workq_destroy(NULL), DOCA_ERROR_INVALID_VALUE, "destroy: nothing");
	MUST(doca_workq_create(4, &workq));
	tap_is(doca_workq_progress_retrieve(workq, &event, 0), DOCA_ERROR_AGAIN, "no context");
	tap_is(doca_workq_progress_retrieve(workq, NULL, 0), DOCA_ERROR_INVALID_VALUE, "no event");
	tap_is(doca_workq_progress_retrieve(workq, &event, 1), DOCA_ERROR_INVALID_VALUE, "flags");
	tap_is(doca_workq_event_handle_clear(workq, -1), DOCA_ERROR_BAD_STATE, "clear: polling");
	tap_is(doca_workq_set_event_driven_enable(workq, 2), DOCA_ERROR_INVALID_VALUE, "mode 2");
	tap_is(doca_workq_set_event_driven_enable(workq, 1), DOCA_SUCCESS, "event-driven");
	MUST(doca_workq_get_event_handle(workq, &handle));
	MUST(doca_workq_event_handle_arm(workq));
	fd = (struct pollfd) { .fd = handle, .events = POLLIN };
	tap_is(poll(&fd, 1, 0), 0, "no event");
	MUST(doca_workq_event_handle_clear(workq, handle));
	tap_is(doca_workq_set_event_driven_enable(workq, 0), DOCA_SUCCESS, "polling again");
	tap_is(doca_workq_get_event_handle(workq, &handle), DOCA_ERROR_BAD_STATE, "no handle");
	MUST(doca_workq_destroy(workq));
}

/* Functions with names of DOCA 2.2: maps, inventories, buffers */
static void test_names(void)
{
	const union doca_data cookie = { .u64 = 42 };
	static char mem[100];
	struct doca_buf_inventory *inv;
	struct doca_buf *one, *two, *buf;
	struct doca_mmap *mmap;
	union doca_data got;
	uint16_t count;

	MUST(doca_mmap_create(&cookie, &mmap));
	ok(!doca_mmap_get_user_data(mmap, &got) && got.u64 == 42, "user data of a map");
	tap_is(doca_mmap_dev_add(mmap, NULL), DOCA_ERROR_INVALID_VALUE, "map: no device");
	MUST(doca_mmap_set_memrange(mmap, mem, sizeof(mem)));
	MUST(doca_mmap_start(mmap));
	tap_is(doca_buf_inventory_create(NULL, 2, 1, &inv), DOCA_ERROR_NOT_SUPPORTED, "extension");
	MUST(doca_buf_inventory_create(&cookie, 2, DOCA_BUF_EXTENSION_NONE, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_by_addr(inv, mmap, mem, 10, &one));
	MUST(doca_buf_inventory_buf_by_data(inv, mmap, mem + 10, 10, &two));
	ok(length(one) == 0 && length(two) == 10, "by address and by data");
	tap_is(doca_buf_inventory_buf_by_args(inv, mmap, mem, 10, mem, 5, &buf),
	       DOCA_ERROR_NO_MEMORY, "all buffers are in use");
	ok(!doca_buf_refcount_add(one, &count) && count == 2, "one more reference");
	ok(!doca_buf_refcount_rm(one, &count) && count == 1, "one less");
	MUST(doca_buf_list_chain(one, two));
	ok(!doca_buf_list_next(one, &buf) && buf == two, "next");
	ok(!doca_buf_list_last(one, &buf) && buf == two, "last");
	MUST(doca_buf_list_unchain(one, two));
	ok(!doca_buf_refcount_get(two, &count) && count == 1, "unchained");
	put(one);
	put(two);
	MUST(doca_buf_inventory_destroy(inv));
	MUST(doca_mmap_destroy(mmap));
	ok(!strcmp(doca_get_error_name(DOCA_ERROR_AGAIN), "DOCA_ERROR_AGAIN"), "name of an error");
	ok(doca_get_error_string(DOCA_ERROR_AGAIN)[0], "text of an error");
	tap_is(doca_log_create_standard_backend(), DOCA_SUCCESS, "standard backend");
}

int main(void)
{
	test_null();
	test_properties();
	test_workq();
	test_names();
	return tap_done();
}
