// SPDX-License-Identifier: GPL-2.0
/*
 * Sync events: configuration, the local operations, and exports.
 */
#include <pthread.h>
#include <unistd.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>
#include <doca_sync_event.h>
#include "blob_test.h"
#include "devices.h"

static struct doca_dev *dev, *other;

static struct doca_sync_event *create(void)
{
	struct doca_sync_event *event;

	if (doca_sync_event_create(&event) != DOCA_SUCCESS)
		bail_out("no sync event");
	return event;
}

static struct doca_sync_event *create_local(void)
{
	struct doca_sync_event *event = create();

	doca_sync_event_add_publisher_location_cpu(event, dev);
	doca_sync_event_add_subscriber_location_cpu(event, dev);
	return event;
}

static uint64_t value_of(struct doca_sync_event *event)
{
	uint64_t value = 0xbad;

	doca_sync_event_get(event, &value);
	return value;
}

#define REFUSED(call)	tap_is(call, DOCA_ERROR_INVALID_VALUE, "%s", #call)
#define BAD_STATE(call)	tap_is(call, DOCA_ERROR_BAD_STATE, "%s", #call)

static void test_null(void)
{
	struct doca_sync_event *event = create();
	uint64_t value;

	REFUSED(doca_sync_event_create(NULL));
	REFUSED(doca_sync_event_destroy(NULL));
	REFUSED(doca_sync_event_start(NULL));
	REFUSED(doca_sync_event_stop(NULL));
	REFUSED(doca_sync_event_add_publisher_location_cpu(NULL, dev));
	REFUSED(doca_sync_event_add_publisher_location_cpu(event, NULL));
	REFUSED(doca_sync_event_add_publisher_location_remote_net(NULL));
	REFUSED(doca_sync_event_add_subscriber_location_cpu(NULL, dev));
	REFUSED(doca_sync_event_add_subscriber_location_cpu(event, NULL));
	REFUSED(doca_sync_event_set_addr(NULL, &value));
	REFUSED(doca_sync_event_set_addr(event, NULL));
	REFUSED(doca_sync_event_set_addr(event, (uint64_t *)((char *)&value + 4)));
	REFUSED(doca_sync_event_set_doca_buf(event, NULL));
	REFUSED(doca_sync_event_get(NULL, &value));
	REFUSED(doca_sync_event_get(event, NULL));
	REFUSED(doca_sync_event_update_set(NULL, 1));
	REFUSED(doca_sync_event_update_add(NULL, 1, &value));
	REFUSED(doca_sync_event_update_add(event, 1, NULL));
	REFUSED(doca_sync_event_wait_gt(NULL, 1, 1));
	REFUSED(doca_sync_event_wait_eq_yield(NULL, 1, 1));
	tap_is(doca_sync_event_destroy(event), DOCA_SUCCESS, "a new event is destroyed");
}

static void test_config(void)
{
	struct doca_sync_event *event = create();
	uint64_t value;

#define NOT_HERE(call)	tap_is(call, DOCA_ERROR_NOT_SUPPORTED, "%s", #call)
	NOT_HERE(doca_sync_event_add_publisher_location_remote_pci(event));
	NOT_HERE(doca_sync_event_add_subscriber_location_remote_pci(event));
	NOT_HERE(doca_sync_event_add_publisher_location_dpa(event, NULL));
	NOT_HERE(doca_sync_event_add_subscriber_location_dpa(event, NULL));
	NOT_HERE(doca_sync_event_add_publisher_location_gpu(event, NULL));
	NOT_HERE(doca_sync_event_add_subscriber_location_gpu(event, NULL));
	tap_is(doca_sync_event_start(event), DOCA_ERROR_BAD_CONFIG, "nobody uses it");
	tap_is(doca_sync_event_add_publisher_location_cpu(event, dev), DOCA_SUCCESS,
	       "a publisher");
	tap_is(doca_sync_event_start(event), DOCA_ERROR_BAD_CONFIG, "no subscriber");
	tap_is(doca_sync_event_add_publisher_location_remote_net(event), DOCA_ERROR_ALREADY_EXIST,
	       "a second publisher");
	tap_is(doca_sync_event_add_subscriber_location_cpu(event, other), DOCA_SUCCESS,
	       "a subscriber");
	tap_is(doca_dev_close(other), DOCA_ERROR_IN_USE, "its device cannot be closed");
	BAD_STATE(doca_sync_event_stop(event));
	BAD_STATE(doca_sync_event_get(event, &value));
	BAD_STATE(doca_sync_event_update_set(event, 1));
	BAD_STATE(doca_sync_event_wait_eq(event, 0, UINT64_MAX));
	tap_is(doca_sync_event_start(event), DOCA_SUCCESS, "start");
	BAD_STATE(doca_sync_event_start(event));
	BAD_STATE(doca_sync_event_set_addr(event, &value));
	BAD_STATE(doca_sync_event_add_subscriber_location_cpu(event, dev));
	tap_is(doca_sync_event_stop(event), DOCA_SUCCESS, "stop");
	tap_is(doca_sync_event_start(event), DOCA_SUCCESS, "start again");
	tap_is(doca_sync_event_destroy(event), DOCA_SUCCESS, "a started event is destroyed");
}

static void test_values(void)
{
	struct doca_sync_event *event = create_local();
	uint64_t place = 40, before = 0;

	doca_sync_event_start(event);
	tap_is(value_of(event), 0, "the first value");
	tap_is(doca_sync_event_update_set(event, 0x1005), DOCA_SUCCESS, "set");
	ok(doca_sync_event_update_add(event, 2, &before) == DOCA_SUCCESS && before == 0x1005,
	   "add returns the value before");
	tap_is(value_of(event), 0x1007, "the sum");
	tap_is(doca_sync_event_wait_gt(event, 0x1006, UINT64_MAX), DOCA_SUCCESS, "greater");
	tap_is(doca_sync_event_wait_gt(event, 6, 0xff), DOCA_SUCCESS, "greater, some bits");
	tap_is(doca_sync_event_wait_eq(event, 7, 0xff), DOCA_SUCCESS, "equal, some bits");
	tap_is(doca_sync_event_wait_eq_yield(event, 0x1007, UINT64_MAX), DOCA_SUCCESS, "equal");
	tap_is(doca_sync_event_wait_neq(event, 0x1000, UINT64_MAX), DOCA_SUCCESS, "not equal");
	tap_is(doca_sync_event_wait_neq_yield(event, 0, 1), DOCA_SUCCESS, "not equal, one bit");
	doca_sync_event_stop(event);
	doca_sync_event_start(event);
	tap_is(value_of(event), 0, "a new start begins at 0");
	doca_sync_event_stop(event);
	tap_is(doca_sync_event_set_addr(event, &place), DOCA_SUCCESS, "a place of the program");
	doca_sync_event_start(event);
	tap_is(value_of(event), 40, "its value stays");
	doca_sync_event_update_add(event, 2, &before);
	tap_is(place, 42, "it is used");
	doca_sync_event_destroy(event);
}

static void test_buf(void)
{
	struct doca_sync_event *event = create_local();
	struct doca_buf_inventory *inventory;
	uint64_t memory[2] = { 5, 6 };
	struct doca_buf *buf;
	struct doca_mmap *mmap;
	uint16_t refs = 0;

	doca_mmap_create(&mmap);
	doca_mmap_set_memrange(mmap, memory, sizeof(memory));
	doca_mmap_start(mmap);
	doca_buf_inventory_create(1, &inventory);
	doca_buf_inventory_start(inventory);
	doca_buf_inventory_buf_get_by_data(inventory, mmap, memory, 16, &buf);
	doca_buf_set_data(buf, memory, 7);
	REFUSED(doca_sync_event_set_doca_buf(event, buf));
	doca_buf_set_data(buf, (char *)memory + 4, 8);
	REFUSED(doca_sync_event_set_doca_buf(event, buf));
	doca_buf_set_data(buf, memory + 1, 8);
	tap_is(doca_sync_event_set_doca_buf(event, buf), DOCA_SUCCESS, "a buffer");
	doca_buf_get_refcount(buf, &refs);
	tap_is(refs, 2, "the event has a reference");
	doca_sync_event_start(event);
	tap_is(value_of(event), 6, "the value is the data of the buffer");
	doca_sync_event_destroy(event);
	doca_buf_get_refcount(buf, &refs);
	tap_is(refs, 1, "the reference is dropped");
	doca_buf_dec_refcount(buf, NULL);
	doca_buf_inventory_destroy(inventory);
	doca_mmap_destroy(mmap);
}

#define ROUNDS	200

/* Answers each odd value with the next one. */
static void *answer(void *arg)
{
	struct doca_sync_event *event = arg;
	uint64_t before;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		doca_sync_event_wait_eq_yield(event, 2 * i + 1, UINT64_MAX);
		doca_sync_event_update_add(event, 1, &before);
	}
	return NULL;
}

static void test_threads(void)
{
	struct doca_sync_event *event = create_local();
	pthread_t thread;
	int i;

	doca_sync_event_start(event);
	pthread_create(&thread, NULL, answer, event);
	for (i = 0; i < ROUNDS; i++) {
		doca_sync_event_update_set(event, 2 * i + 1);
		doca_sync_event_wait_gt_yield(event, 2 * i + 1, UINT64_MAX);
	}
	pthread_join(thread, NULL);
	tap_is(value_of(event), 2 * ROUNDS, "two threads wait for each other, %d times", ROUNDS);
	doca_sync_event_destroy(event);
}

static doca_error_t import(const void *blob, size_t len)
{
	struct doca_sync_event_remote_net *remote;
	doca_error_t result = doca_sync_event_remote_net_create_from_export(dev, blob, len,
									    &remote);

	if (result == DOCA_SUCCESS)
		doca_sync_event_remote_net_destroy(remote);
	return result;
}

static void test_export(void)
{
	struct doca_sync_event *event = create_local(), *imported;
	struct doca_sync_event_remote_net *remote = NULL;
	const uint8_t *blob = NULL;
	size_t len = 0;

	doca_sync_event_start(event);
	tap_is(doca_sync_event_export_to_remote_net(event, &blob, &len), DOCA_ERROR_NOT_PERMITTED,
	       "no export of a local event");
	doca_sync_event_destroy(event);

	event = create();
	doca_sync_event_add_publisher_location_remote_net(event);
	doca_sync_event_add_subscriber_location_cpu(event, dev);
	BAD_STATE(doca_sync_event_export_to_remote_net(event, &blob, &len));
	tap_is(doca_sync_event_start(event), DOCA_SUCCESS, "an event for peers");
	REFUSED(doca_sync_event_export_to_remote_net(NULL, &blob, &len));
	REFUSED(doca_sync_event_export_to_remote_net(event, NULL, &len));
	REFUSED(doca_sync_event_export_to_remote_net(event, &blob, NULL));
	tap_is(doca_sync_event_export_to_remote_net(event, &blob, &len), DOCA_SUCCESS, "export");
	test_damaged(blob, len, import);
	REFUSED(doca_sync_event_remote_net_create_from_export(NULL, blob, len, &remote));
	REFUSED(doca_sync_event_remote_net_create_from_export(other, NULL, len, &remote));
	REFUSED(doca_sync_event_remote_net_create_from_export(other, blob, len, NULL));
	REFUSED(doca_sync_event_remote_net_destroy(NULL));
	tap_is(doca_sync_event_remote_net_create_from_export(other, blob, len, &remote),
	       DOCA_SUCCESS, "an event from an export");
	tap_is(doca_dev_close(other), DOCA_ERROR_IN_USE, "it uses the device");
	doca_sync_event_remote_net_destroy(remote);
	NOT_HERE(doca_sync_event_export_to_remote_pci(event, dev, &blob, &len));
	NOT_HERE(doca_sync_event_create_from_export(dev, blob, len, &imported));
	doca_sync_event_destroy(event);
}

static void test_caps(void)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);

	tap_is(doca_sync_event_cap_is_export_to_remote_net_supported(info), DOCA_SUCCESS, "net");
	NOT_HERE(doca_sync_event_cap_is_export_to_remote_pci_supported(info));
	NOT_HERE(doca_sync_event_cap_is_create_from_export_supported(info));
	REFUSED(doca_sync_event_cap_is_export_to_remote_net_supported(NULL));
}

int main(void)
{
	open_devices(&dev, &other);
	test_null();
	test_config();
	test_values();
	test_buf();
	test_threads();
	test_export();
	test_caps();
	tap_is(doca_dev_close(dev), DOCA_SUCCESS, "the device is closed");
	tap_is(doca_dev_close(other), DOCA_SUCCESS, "the other one, too");
	return tap_done();
}
