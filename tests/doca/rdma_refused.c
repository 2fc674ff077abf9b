// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA: what is refused: arguments, states, buffers, damaged descriptions.
 */
#include "rdma.h"

static struct side a, b;
static struct doca_rdma_connection *exported;	/* of a, never connected */

/* ---- Configuration ----------------------------------------------------------------------- */

static void null_arguments(void)
{
	struct doca_rdma *rdma;
	struct doca_rdma_addr *addr;
	const void *blob;
	uint32_t n;
	size_t len;

#define REFUSED(call)	tap_is(call, DOCA_ERROR_INVALID_VALUE, #call)
	REFUSED(doca_rdma_create(NULL, &rdma));
	REFUSED(doca_rdma_create(a.dev, NULL));
	REFUSED(doca_rdma_destroy(NULL));
	ok(!doca_rdma_as_ctx(NULL), "doca_rdma_as_ctx(NULL)");
	REFUSED(doca_rdma_set_permissions(NULL, 0));
	REFUSED(doca_rdma_get_permissions(a.rdma, NULL));
	REFUSED(doca_rdma_set_gid_index(NULL, 0));
	REFUSED(doca_rdma_get_gid_index(NULL, &n));
	REFUSED(doca_rdma_set_mtu(NULL, DOCA_MTU_SIZE_1K_BYTES));
	REFUSED(doca_rdma_get_mtu(a.rdma, NULL));
	REFUSED(doca_rdma_export(NULL, &blob, &len, &a.conn));
	REFUSED(doca_rdma_export(a.rdma, NULL, &len, &a.conn));
	REFUSED(doca_rdma_export(a.rdma, &blob, NULL, &a.conn));
	REFUSED(doca_rdma_export(a.rdma, &blob, &len, NULL));
	REFUSED(doca_rdma_connect(NULL, "", 1, NULL));
	REFUSED(doca_rdma_connect(a.rdma, "", 1, NULL));
	REFUSED(doca_rdma_connection_get_id(NULL, &n));
	REFUSED(doca_rdma_connection_set_user_data(NULL, pointer(NULL)));
	REFUSED(doca_rdma_connection_accept(NULL, NULL, 0));
	REFUSED(doca_rdma_connection_reject(NULL));
	REFUSED(doca_rdma_connection_disconnect(NULL));
	REFUSED(doca_rdma_start_listen_to_port(a.rdma, 0));
	REFUSED(doca_rdma_start_listen_to_port(NULL, 1));
	REFUSED(doca_rdma_stop_listen_to_port(NULL, 1));
	REFUSED(doca_rdma_connect_to_addr(a.rdma, NULL, pointer(NULL)));
	REFUSED(doca_rdma_addr_destroy(NULL));
	REFUSED(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, NULL, 1, &addr));
	REFUSED(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "1.2.3.4", 0, &addr));
	REFUSED(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "1.2.3", 1, &addr));
	REFUSED(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "fe80::1", 1, &addr));
	REFUSED(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv6, "1.2.3.4", 1, &addr));
	REFUSED(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID, "x", 1, &addr));
	REFUSED(doca_rdma_addr_create((enum doca_rdma_addr_type)9, "1.2.3.4", 1, &addr));
	REFUSED(doca_rdma_set_connection_state_callbacks(a.rdma, NULL, NULL, NULL, NULL));
	REFUSED(doca_rdma_task_write_set_conf(NULL, write_completed, write_failed, 1));
	REFUSED(doca_rdma_task_write_set_conf(a.rdma, NULL, write_failed, 1));
	REFUSED(doca_rdma_task_write_set_conf(a.rdma, write_completed, NULL, 1));
	REFUSED(doca_rdma_task_write_set_conf(a.rdma, write_completed, write_failed, 0));
	ok(!doca_rdma_task_write_get_src_buf(NULL), "a getter of no task");
	doca_rdma_task_write_set_src_buf(NULL, NULL);
	tap_is(doca_rdma_task_read_get_result_len(NULL), 0, "a result of no task");
}

/* Each value is kept, or refused with the given error. */
#define ACCEPTS(name, type, value)							\
	do {										\
		type got_ = 0;								\
											\
		tap_is(doca_rdma_set_##name(a.rdma, value), DOCA_SUCCESS, #name " " #value);	\
		MUST(doca_rdma_get_##name(a.rdma, &got_));				\
		tap_is(got_, (type)(value), "its value is kept");			\
	} while (0)
#define REFUSES(name, value, error)							\
	tap_is(doca_rdma_set_##name(a.rdma, value), DOCA_ERROR_##error, #name " " #value)

static void properties(void)
{
	ACCEPTS(permissions, uint32_t, DOCA_ACCESS_FLAG_RDMA_READ);
	ACCEPTS(send_queue_size, uint32_t, 64);
	ACCEPTS(recv_queue_size, uint32_t, 64);
	ACCEPTS(max_send_buf_list_len, uint32_t, 2);
	ACCEPTS(mtu, enum doca_mtu_size, DOCA_MTU_SIZE_512_BYTES);
	ACCEPTS(grh_enabled, uint8_t, 1);
	ACCEPTS(sl, uint32_t, 3);
	ACCEPTS(traffic_class, uint8_t, 32);
	ACCEPTS(rnr_retry_count, uint8_t, 2);
	ACCEPTS(max_num_connections, uint16_t, 2);
	ACCEPTS(transport_type, enum doca_rdma_transport_type, DOCA_RDMA_TRANSPORT_TYPE_RC);
	REFUSES(send_queue_size, 0, INVALID_VALUE);
	REFUSES(send_queue_size, UINT32_MAX, NOT_SUPPORTED);
	REFUSES(recv_queue_size, 0, INVALID_VALUE);
	REFUSES(recv_queue_size, UINT32_MAX, NOT_SUPPORTED);
	REFUSES(max_send_buf_list_len, 0, INVALID_VALUE);
	REFUSES(max_send_buf_list_len, 1000, NOT_SUPPORTED);
	REFUSES(mtu, DOCA_MTU_SIZE_RAW_ETHERNET, INVALID_VALUE);
	REFUSES(grh_enabled, 2, INVALID_VALUE);
	REFUSES(sl, 16, INVALID_VALUE);
	REFUSES(rnr_retry_count, 8, INVALID_VALUE);
	REFUSES(max_num_connections, 0, INVALID_VALUE);
	REFUSES(gid_index, 100000, INVALID_VALUE);
	REFUSES(transport_type, (enum doca_rdma_transport_type)7, INVALID_VALUE);
}

static void capabilities(void)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(a.dev);
	struct doca_rdma_gid gids[4];
	uint32_t n = 0;

	tap_is(doca_rdma_cap_task_send_is_supported(info), DOCA_SUCCESS, "sends are supported");
	tap_is(doca_rdma_cap_task_atomic_cmp_swp_is_supported(info), DOCA_SUCCESS,
	       "atomics are supported");
	REFUSED(doca_rdma_cap_task_send_is_supported(NULL));
	tap_is(doca_rdma_cap_transport_type_is_supported(info, DOCA_RDMA_TRANSPORT_TYPE_RC),
	       DOCA_SUCCESS, "RC is supported");
	MUST(doca_rdma_cap_get_max_send_queue_size(info, &n));
	ok(n >= 1024, "send queues of %u tasks", n);
	MUST(doca_rdma_cap_get_max_recv_queue_size(info, &n));
	ok(n >= 1024, "receive queues of %u tasks", n);
	MUST(doca_rdma_cap_get_max_message_size(info, &n));
	ok(n >= 1u << 20, "messages of %u bytes", n);
	MUST(doca_rdma_cap_get_max_send_buf_list_len(info, &n));
	ok(n >= 8, "lists of %u buffers", n);
	MUST(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
		info, DOCA_RDMA_TRANSPORT_TYPE_RC, &n));
	ok(n >= 8, "lists of %u buffers for receives", n);
	MUST(doca_rdma_cap_get_gid_table_size(info, &n));
	ok(n >= 2, "%u GIDs", n);
	tap_is(doca_rdma_cap_get_gid(info, 0, 2, gids), DOCA_SUCCESS, "two GIDs are read");
	REFUSED(doca_rdma_cap_get_gid(info, n, 1, gids));
	REFUSED(doca_rdma_cap_get_gid(info, n - 1, 2, gids));
	REFUSED(doca_rdma_cap_get_gid(info, 0, 0, gids));
}

/* ---- States ------------------------------------------------------------------------------ */

static void wrong_states(void)
{
	struct doca_rdma_task_receive *task;
	struct doca_rdma_connection *conn;
	const void *blob;
	size_t len;

#define BAD(call)	tap_is(call, DOCA_ERROR_BAD_STATE, #call)
	BAD(doca_rdma_export(a.rdma, &blob, &len, &conn));
	BAD(doca_rdma_task_receive_allocate_init(a.rdma, NULL, pointer(NULL), &task));
	BAD(doca_rdma_start_listen_to_port(a.rdma, 1000));
	MUST(doca_ctx_start(a.ctx));
	BAD(doca_rdma_set_permissions(a.rdma, 0));
	BAD(doca_rdma_set_mtu(a.rdma, DOCA_MTU_SIZE_1K_BYTES));
	BAD(doca_rdma_task_write_set_conf(a.rdma, write_completed, write_failed, 1));
	BAD(doca_rdma_start_listen_to_port(a.rdma, 1000));
	tap_is(doca_rdma_destroy(a.rdma), DOCA_ERROR_IN_USE, "a running context is not destroyed");
}

/* ---- Descriptions ------------------------------------------------------------------------ */

static void descriptions(void)
{
	struct doca_rdma_connection *conn, *none;
	const void *blob, *theirs;
	char copy[1024];
	size_t len, i, accepted = 0;

	MUST(doca_rdma_export(a.rdma, &blob, &len, &conn));
	MUST(doca_rdma_export(a.rdma, &theirs, &len, &exported));
	tap_is(doca_rdma_export(a.rdma, &theirs, &len, &none), DOCA_ERROR_FULL,
	       "there are no more connections than configured");
	MUST(doca_rdma_export(b.rdma, &theirs, &len, &b.conn));
	for (i = 0; i < len * 8; i++) {
		memcpy(copy, theirs, len);
		copy[i / 8] ^= (char)(1 << i % 8);
		accepted += doca_rdma_connect(a.rdma, copy, len, conn) == DOCA_SUCCESS;
	}
	tap_is(accepted, 0, "each damaged bit of %zu bytes is found", len);
	for (i = 0; i < len; i++)
		accepted += doca_rdma_connect(a.rdma, theirs, i, conn) == DOCA_SUCCESS;
	tap_is(accepted, 0, "all short descriptions are refused");
	REFUSED(doca_rdma_connect(b.rdma, theirs, len, conn));
	memmove(copy + 1, theirs, len);
	tap_is(doca_rdma_connect(a.rdma, copy + 1, len, conn), DOCA_SUCCESS,
	       "the right one is accepted, at any address");
	MUST(doca_rdma_connect(b.rdma, blob, len, b.conn));
	BAD(doca_rdma_connect(a.rdma, theirs, len, conn));
	a.conn = conn;
}

/* ---- Tasks ------------------------------------------------------------------------------- */

/* Submits a task that must be refused, and frees it. */
#define TASK_REFUSED(task, error, ...)							\
	do {										\
		tap_is(doca_task_submit(task), DOCA_ERROR_##error, __VA_ARGS__);	\
		doca_task_free(task);							\
	} while (0)

static struct doca_task *new_write(struct doca_rdma_connection *conn, struct doca_buf *src,
				   struct doca_buf *dst)
{
	struct doca_rdma_task_write *task;

	MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, pointer(NULL), &task));
	doca_rdma_task_write_set_rdma_connection(task, conn);
	return doca_rdma_task_write_as_task(task);
}

static struct doca_task *new_read(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_rdma_task_read *task;

	MUST(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, pointer(NULL), &task));
	return doca_rdma_task_read_as_task(task);
}

static void wrong_connections(void)
{
	struct doca_buf *src = data_at(&a, 0, 10), *dst = peer_space_at(&a, 0, 10);
	struct doca_rdma_task_write *task;

	TASK_REFUSED(new_write(NULL, src, dst), INVALID_VALUE, "a write without a connection");
	TASK_REFUSED(new_write(b.conn, src, dst), INVALID_VALUE,
		     "a write on a connection of another context");
	TASK_REFUSED(new_write(exported, src, dst), BAD_STATE,
		     "a write on a connection that is not connected");
	REFUSED(doca_rdma_task_write_allocate_init(a.rdma, NULL, src, dst, pointer(NULL), &task));
	REFUSED(doca_rdma_task_write_allocate_init(a.rdma, b.conn, src, dst, pointer(NULL),
						   &task));
	REFUSED(doca_rdma_task_write_allocate_init(a.rdma, a.conn, src, dst, pointer(NULL), NULL));
	put(src);
	put(dst);
}

static void wrong_buffers(void)
{
	struct doca_buf *src = data_at(&a, 0, 100), *dst = peer_space_at(&a, 0, 100);
	struct doca_buf *small = peer_space_at(&a, 0, 99), *other = data_at(&b, 0, 10);
	struct doca_buf *list = data_at(&a, 0, 10), *data = peer_data_at(&a, 0, 10);

	TASK_REFUSED(new_write(a.conn, src, small), INVALID_VALUE,
		     "a write to a buffer that is too small");
	TASK_REFUSED(new_write(a.conn, src, NULL), INVALID_VALUE, "a write to nothing");
	TASK_REFUSED(new_write(a.conn, other, dst), INVALID_VALUE,
		     "a write from memory of another device");
	TASK_REFUSED(new_write(a.conn, data, dst), INVALID_VALUE,
		     "a write from memory of the peer");
	TASK_REFUSED(new_read(data, data), INVALID_VALUE, "a read to memory of the peer");
	MUST(doca_buf_chain_list(list, data_at(&a, 10, 10)));
	MUST(doca_buf_chain_list(list, data_at(&a, 20, 10)));
	TASK_REFUSED(new_write(a.conn, list, dst), INVALID_VALUE, "a list that is too long");
	MUST(doca_buf_chain_list(dst, peer_space_at(&a, 200, 100)));
	TASK_REFUSED(new_write(a.conn, src, dst), INVALID_VALUE, "a write to a remote list");
	put(src);
	put(dst);
	put(small);
	put(other);
	put(list);
	put(data);
}

static void wrong_atomics(void)
{
	struct doca_buf *odd = peer_data_at(&a, 4, 8), *dst = peer_data_at(&a, 8, 8);
	struct doca_buf *small = peer_data_at(&a, 0, 7), *result = space_at(&a, 0, 8);
	struct doca_buf *little = space_at(&a, 0, 7);
	struct doca_rdma_task_atomic_fetch_add *task;
	struct {
		struct doca_buf *dst, *result;
		const char *what;
	} wrong[] = {
		{ odd, result, "an address that is not a multiple of 8" },
		{ small, result, "less than 8 bytes" },
		{ NULL, result, "no destination" },
		{ dst, little, "a result of less than 8 bytes" },
		{ dst, NULL, "no result" },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		MUST(doca_rdma_task_atomic_fetch_add_allocate_init(
			a.rdma, a.conn, wrong[i].dst, wrong[i].result, 1, pointer(NULL), &task));
		TASK_REFUSED(doca_rdma_task_atomic_fetch_add_as_task(task), INVALID_VALUE,
			     "an atomic with %s", wrong[i].what);
	}
	put(odd);
	put(dst);
	put(small);
	put(result);
	put(little);
}

/* All tasks need the permission to write, also those that only read. */
static void read_only_memory(void)
{
	struct doca_mmap *map = map_memory(a.dev, a.mem, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = peer_data_at(&a, 0, 8), *space = peer_space_at(&a, 0, 100), *dst;
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_atomic_fetch_add *atomic;
	struct doca_rdma_task_send *send;

	MUST(doca_buf_inventory_buf_get_by_addr(a.inv, map, a.mem, 100, &dst));
	TASK_REFUSED(new_read(src, dst), NOT_PERMITTED, "a read to read-only memory");
	MUST(doca_buf_set_data(dst, a.mem, 8));
	TASK_REFUSED(new_write(a.conn, dst, space), NOT_PERMITTED, "a write from it");
	MUST(doca_rdma_task_send_allocate_init(a.rdma, a.conn, dst, pointer(NULL), &send));
	TASK_REFUSED(doca_rdma_task_send_as_task(send), NOT_PERMITTED, "a send from it");
	MUST(doca_buf_set_data(dst, a.mem, 0));
	MUST(doca_rdma_task_receive_allocate_init(a.rdma, dst, pointer(NULL), &receive));
	TASK_REFUSED(doca_rdma_task_receive_as_task(receive), NOT_PERMITTED,
		     "a receive to read-only memory");
	MUST(doca_rdma_task_atomic_fetch_add_allocate_init(a.rdma, a.conn, src, dst, 1,
							   pointer(NULL), &atomic));
	TASK_REFUSED(doca_rdma_task_atomic_fetch_add_as_task(atomic), NOT_PERMITTED,
		     "a result in read-only memory");
	put(src);
	put(space);
	put(dst);
	MUST(doca_mmap_destroy(map));
}

/* The queue of 64 sends is full while their doorbell has not been rung. */
static void full_queues(void)
{
	struct doca_rdma_task_receive *receives[TASKS + 1];
	struct done done;
	int n;

	for (n = 0; n < TASKS; n++)
		receives[n] = post_receive(&a, NULL, &done);
	tap_is(doca_rdma_task_receive_allocate_init(a.rdma, NULL, pointer(NULL), &receives[n]),
	       DOCA_ERROR_NO_MEMORY, "there are not more tasks than configured");
	stop_side(&a);
	for (n = 0; n < TASKS; n++)
		doca_task_free(doca_rdma_task_receive_as_task(receives[n]));
}

int main(void)
{
	open_side(&a, 0, 0);
	open_side(&b, 1, DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |
		  DOCA_ACCESS_FLAG_RDMA_ATOMIC);
	null_arguments();
	properties();
	capabilities();
	wrong_states();
	MUST(doca_ctx_start(b.ctx));
	import_memory(&a, &b);
	descriptions();
	wrong_connections();
	wrong_buffers();
	wrong_atomics();
	read_only_memory();
	full_queues();
	stop_side(&b);
	close_side(&a);
	close_side(&b);
	return tap_done();
}
