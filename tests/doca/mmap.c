// SPDX-License-Identifier: GPL-2.0
/*
 * Memory maps: configuration, registration, exports and maps from exports.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include "blob_test.h"
#include "devices.h"

#define SIZE	8192

static struct doca_dev *dev, *other;
static char mem[SIZE];
static void *freed;

static void free_memory(void *addr, size_t len, void *cookie)
{
	freed = cookie;
	ok(addr == mem && len == SIZE, "the callback gets the range");
}

static void test_null(void)
{
	union doca_data data = { 0 };
	struct doca_mmap *mmap;
	size_t len;
	void *addr;
	uint32_t n;

#define REFUSED(call)	tap_is(call, DOCA_ERROR_INVALID_VALUE, "%s", #call)
	REFUSED(doca_mmap_create(NULL));
	REFUSED(doca_mmap_destroy(NULL));
	REFUSED(doca_mmap_start(NULL));
	REFUSED(doca_mmap_stop(NULL));
	REFUSED(doca_mmap_add_dev(NULL, dev));
	REFUSED(doca_mmap_rm_dev(NULL, dev));
	REFUSED(doca_mmap_set_memrange(NULL, mem, 1));
	REFUSED(doca_mmap_get_memrange(NULL, &addr, &len));
	REFUSED(doca_mmap_set_permissions(NULL, 0));
	REFUSED(doca_mmap_set_user_data(NULL, data));
	REFUSED(doca_mmap_get_user_data(NULL, &data));
	REFUSED(doca_mmap_get_num_bufs(NULL, &n));
	if (doca_mmap_create(&mmap) != DOCA_SUCCESS)
		bail_out("no memory map");
	REFUSED(doca_mmap_add_dev(mmap, NULL));
	REFUSED(doca_mmap_rm_dev(mmap, NULL));
	REFUSED(doca_mmap_set_memrange(mmap, NULL, 1));
	REFUSED(doca_mmap_set_memrange(mmap, mem, 0));
	REFUSED(doca_mmap_set_memrange(mmap, mem, SIZE_MAX));
	REFUSED(doca_mmap_set_dmabuf_memrange(mmap, -1, mem, 0, SIZE));
	REFUSED(doca_mmap_set_permissions(mmap, 1 << 7));
	REFUSED(doca_mmap_set_free_cb(mmap, NULL, NULL));
	REFUSED(doca_mmap_set_max_num_devices(mmap, 0));
	REFUSED(doca_mmap_get_max_num_devices(mmap, NULL));
	REFUSED(doca_mmap_get_memrange(mmap, NULL, &len));
	REFUSED(doca_mmap_get_memrange(mmap, &addr, NULL));
	tap_is(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE, "no range yet");
	tap_is(doca_mmap_start(mmap), DOCA_ERROR_BAD_STATE, "start without a range");
	tap_is(doca_mmap_stop(mmap), DOCA_ERROR_BAD_STATE, "stop before the start");
	tap_is(doca_mmap_destroy(mmap), DOCA_SUCCESS, "an empty map is destroyed");
}

static void test_devices(void)
{
	struct doca_mmap *mmap;
	uint32_t n = 0;

	doca_mmap_create(&mmap);
	ok(doca_mmap_get_max_num_devices(mmap, &n) == DOCA_SUCCESS && n == 64, "64 devices");
	tap_is(doca_mmap_set_max_num_devices(mmap, 1), DOCA_SUCCESS, "only one device");
	tap_is(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS, "a device");
	tap_is(doca_mmap_add_dev(mmap, dev), DOCA_ERROR_ALREADY_EXIST, "the same one");
	tap_is(doca_mmap_add_dev(mmap, other), DOCA_ERROR_FULL, "another one");
	tap_is(doca_mmap_rm_dev(mmap, other), DOCA_ERROR_NOT_FOUND, "it is not there");
	doca_mmap_set_max_num_devices(mmap, 2);
	tap_is(doca_mmap_add_dev(mmap, other), DOCA_SUCCESS, "two devices");
	tap_is(doca_mmap_set_max_num_devices(mmap, 1), DOCA_ERROR_INVALID_VALUE, "only one");
	tap_is(doca_dev_close(dev), DOCA_ERROR_IN_USE, "a device of a map cannot be closed");
	tap_is(doca_mmap_rm_dev(mmap, dev), DOCA_SUCCESS, "the first one is removed");
	tap_is(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS, "and added");
	tap_is(doca_mmap_destroy(mmap), DOCA_SUCCESS, "the map is destroyed");
}

static struct doca_mmap *started(uint32_t permissions)
{
	struct doca_mmap *mmap;

	doca_mmap_create(&mmap);
	doca_mmap_add_dev(mmap, dev);
	doca_mmap_set_memrange(mmap, mem, SIZE);
	doca_mmap_set_permissions(mmap, permissions);
	doca_mmap_set_user_data(mmap, (union doca_data) { .u64 = 4 });
	doca_mmap_set_free_cb(mmap, free_memory, &freed);
	tap_is(doca_mmap_start(mmap), DOCA_SUCCESS, "start with permissions %#x", permissions);
	return mmap;
}

static void test_started(void)
{
	struct doca_mmap *mmap = started(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	union doca_data data = { 0 };
	const void *blob;
	void *addr = NULL;
	size_t len = 0;

#define TOO_LATE(call)	tap_is(call, DOCA_ERROR_BAD_STATE, "started: %s", #call)
	TOO_LATE(doca_mmap_start(mmap));
	TOO_LATE(doca_mmap_add_dev(mmap, other));
	TOO_LATE(doca_mmap_rm_dev(mmap, dev));
	TOO_LATE(doca_mmap_set_memrange(mmap, mem, 1));
	TOO_LATE(doca_mmap_set_dmabuf_memrange(mmap, 0, mem, 0, 1));
	TOO_LATE(doca_mmap_set_permissions(mmap, 0));
	TOO_LATE(doca_mmap_set_free_cb(mmap, free_memory, NULL));
	TOO_LATE(doca_mmap_set_max_num_devices(mmap, 9));
	TOO_LATE(doca_mmap_set_user_data(mmap, data));
	ok(doca_mmap_get_user_data(mmap, &data) == DOCA_SUCCESS && data.u64 == 4, "user data");
	ok(doca_mmap_get_memrange(mmap, &addr, &len) == DOCA_SUCCESS && addr == mem && len == SIZE,
	   "the range");
	tap_is(doca_mmap_export_rdma(mmap, dev, &blob, &len), DOCA_ERROR_NOT_PERMITTED,
	       "no export of local memory");
	tap_is(doca_mmap_export_pci(mmap, dev, &blob, &len), DOCA_ERROR_NOT_SUPPORTED, "PCI");
	tap_is(doca_mmap_stop(mmap), DOCA_SUCCESS, "stop");
	tap_is(doca_mmap_set_permissions(mmap, 0), DOCA_SUCCESS, "it can be changed again");
	tap_is(doca_mmap_start(mmap), DOCA_SUCCESS, "and started");
	tap_is(doca_mmap_destroy(mmap), DOCA_SUCCESS, "a started map is destroyed");
	ok(freed == &freed, "the callback frees the memory");
}

/* A start that fails must leave a map that can be configured and started. */
static void test_failure(void)
{
	int fd = open("/dev/null", O_RDWR);
	char *page = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct doca_mmap *map;

	munmap(page, SIZE);
	doca_mmap_create(&map);
	doca_mmap_add_dev(map, dev);
	doca_mmap_add_dev(map, other);
	doca_mmap_set_memrange(map, page, SIZE);
	ok(doca_mmap_start(map) != DOCA_SUCCESS, "memory that is not there");
	doca_mmap_set_dmabuf_memrange(map, fd, page, 0, SIZE);
	ok(doca_mmap_start(map) != DOCA_SUCCESS, "a file that is no dma-buf");
	doca_mmap_set_memrange(map, mem, SIZE);
	tap_is(doca_mmap_start(map), DOCA_SUCCESS, "other memory, on both devices");
	tap_is(doca_mmap_destroy(map), DOCA_SUCCESS, "the map is destroyed");
	close(fd);
}

static doca_error_t import(const void *blob, size_t len)
{
	struct doca_mmap *mmap;
	doca_error_t result = doca_mmap_create_from_export(NULL, blob, len, dev, &mmap);

	if (result == DOCA_SUCCESS)
		doca_mmap_destroy(mmap);
	return result;
}

static void test_export_args(struct doca_mmap *mmap)
{
	struct doca_mmap *remote;
	const void *blob;
	size_t len;

	REFUSED(doca_mmap_export_rdma(NULL, dev, &blob, &len));
	REFUSED(doca_mmap_export_rdma(mmap, NULL, &blob, &len));
	REFUSED(doca_mmap_export_rdma(mmap, dev, NULL, &len));
	REFUSED(doca_mmap_export_rdma(mmap, dev, &blob, NULL));
	tap_is(doca_mmap_export_rdma(mmap, other, &blob, &len), DOCA_ERROR_NOT_FOUND,
	       "a device that was not added");
	if (doca_mmap_export_rdma(mmap, dev, &blob, &len) != DOCA_SUCCESS)
		bail_out("no export");
	REFUSED(doca_mmap_create_from_export(NULL, NULL, len, dev, &remote));
	REFUSED(doca_mmap_create_from_export(NULL, blob, len, NULL, &remote));
	REFUSED(doca_mmap_create_from_export(NULL, blob, len, dev, NULL));
}

static void test_remote(const void *blob, size_t len)
{
	union doca_data data = { .u64 = 11 }, got = { 0 };
	struct doca_buf_inventory *inventory;
	struct doca_mmap *remote = NULL;
	struct doca_buf *buf = NULL;
	const void *again;
	void *addr = NULL;
	size_t size = 0;

	tap_is(doca_mmap_create_from_export(&data, blob, len, dev, &remote), DOCA_SUCCESS,
	       "a map from an export");
	ok(doca_mmap_get_memrange(remote, &addr, &size) == DOCA_SUCCESS && addr == mem &&
	   size == SIZE, "it has the range");
	ok(doca_mmap_get_user_data(remote, &got) == DOCA_SUCCESS && got.u64 == 11, "user data");
	tap_is(doca_mmap_export_rdma(remote, dev, &again, &size), DOCA_ERROR_NOT_PERMITTED,
	       "it cannot be exported");
	TOO_LATE(doca_mmap_set_permissions(remote, 0));
	TOO_LATE(doca_mmap_start(remote));
	doca_buf_inventory_create(1, &inventory);
	doca_buf_inventory_start(inventory);
	tap_is(doca_buf_inventory_buf_get_by_addr(inventory, remote, mem + SIZE - 1, 1, &buf),
	       DOCA_SUCCESS, "a buffer in it");
	tap_is(doca_mmap_stop(remote), DOCA_ERROR_IN_USE, "no stop with a buffer");
	doca_buf_dec_refcount(buf, NULL);
	tap_is(doca_mmap_stop(remote), DOCA_SUCCESS, "stop");
	TOO_LATE(doca_mmap_start(remote));
	doca_buf_inventory_destroy(inventory);
	tap_is(doca_dev_close(dev), DOCA_ERROR_IN_USE, "it uses the device");
	tap_is(doca_mmap_destroy(remote), DOCA_SUCCESS, "it is destroyed");
}

static void test_export(void)
{
	struct doca_mmap *mmap = started(DOCA_ACCESS_FLAG_RDMA_WRITE);
	const void *blob = NULL, *again = NULL;
	size_t len = 0;

	test_export_args(mmap);
	doca_mmap_export_rdma(mmap, dev, &blob, &len);
	doca_mmap_export_rdma(mmap, dev, &again, &len);
	ok(blob == again, "a second export is the same");
	test_damaged(blob, len, import);
	test_remote(blob, len);
	doca_mmap_stop(mmap);
	tap_is(doca_mmap_export_rdma(mmap, dev, &blob, &len), DOCA_ERROR_BAD_STATE,
	       "no export of a stopped map");
	doca_mmap_destroy(mmap);
}

int main(void)
{
	open_devices(&dev, &other);
	test_null();
	test_devices();
	test_started();
	test_failure();
	test_export();
	tap_is(doca_dev_close(dev), DOCA_SUCCESS, "the device is closed");
	tap_is(doca_dev_close(other), DOCA_SUCCESS, "the other one, too");
	return tap_done();
}
