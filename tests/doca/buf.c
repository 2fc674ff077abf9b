// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers and inventories, on a memory map without a device.
 */
#include <string.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>
#include "tap.h"

#define NUM_BUFS	4
#define SIZE		4096

/* The map is in the middle. */
static char memory[SIZE + 16];
static char *mem = memory + 8;
static struct doca_buf_inventory *inventory;
static struct doca_mmap *mmap;

static struct doca_buf *get(size_t offset, size_t len)
{
	struct doca_buf *buf = NULL;

	doca_buf_inventory_buf_get_by_addr(inventory, mmap, mem + offset, len, &buf);
	return buf;
}

static uint32_t num_free(void)
{
	uint32_t n = 99;

	doca_buf_inventory_get_num_free_elements(inventory, &n);
	return n;
}

static uint16_t refs(struct doca_buf *buf)
{
	uint16_t n = 99;

	doca_buf_get_refcount(buf, &n);
	return n;
}

static int put(struct doca_buf *buf)
{
	return doca_buf_dec_refcount(buf, NULL) == DOCA_SUCCESS;
}

static void test_inventory(void)
{
	union doca_data data = { .u64 = 5 };
	struct doca_buf *buf;
	uint32_t n = 0;

	tap_is(doca_buf_inventory_create(NUM_BUFS, NULL), DOCA_ERROR_INVALID_VALUE, "no result");
	tap_is(doca_buf_inventory_create(0, &inventory), DOCA_ERROR_INVALID_VALUE, "no buffers");
	tap_is(doca_buf_inventory_create(NUM_BUFS, &inventory), DOCA_SUCCESS, "an inventory");
	tap_is(doca_buf_inventory_set_user_data(inventory, data), DOCA_SUCCESS, "user data");
	tap_is(doca_buf_inventory_buf_get_by_addr(inventory, mmap, mem, 1, &buf),
	       DOCA_ERROR_BAD_STATE, "no buffer before the start");
	tap_is(doca_buf_inventory_start(inventory), DOCA_SUCCESS, "start");
	tap_is(doca_buf_inventory_set_user_data(inventory, data), DOCA_ERROR_BAD_STATE,
	       "user data after the start");
	data.u64 = 0;
	ok(doca_buf_inventory_get_user_data(inventory, &data) == DOCA_SUCCESS && data.u64 == 5,
	   "the user data is stored");
	ok(doca_buf_inventory_get_num_elements(inventory, &n) == DOCA_SUCCESS && n == NUM_BUFS,
	   "the number of buffers");
	tap_is(num_free(), NUM_BUFS, "all are free");
	tap_is(doca_buf_inventory_start(NULL), DOCA_ERROR_INVALID_VALUE, "start: no inventory");
	tap_is(doca_buf_inventory_stop(NULL), DOCA_ERROR_INVALID_VALUE, "stop: no inventory");
	tap_is(doca_buf_inventory_destroy(NULL), DOCA_ERROR_INVALID_VALUE, "destroy: no inventory");
	tap_is(doca_buf_inventory_expand(NULL, 1), DOCA_ERROR_INVALID_VALUE,
	       "expand: no inventory");
	tap_is(doca_buf_inventory_get_num_elements(NULL, &n), DOCA_ERROR_INVALID_VALUE,
	       "number: no inventory");
	tap_is(doca_buf_inventory_get_num_elements(inventory, NULL), DOCA_ERROR_INVALID_VALUE,
	       "number: no result");
}

static void test_range(void)
{
	struct doca_buf *buf = NULL;

#define BY_ADDR(addr, len)	doca_buf_inventory_buf_get_by_addr(inventory, mmap, addr, len, &buf)
#define BY_ARGS(addr, len, data, data_len)							\
	doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, data, data_len, &buf)
	tap_is(BY_ADDR(mem - 1, 1), DOCA_ERROR_INVALID_VALUE, "in front of the map");
	tap_is(BY_ADDR(mem + SIZE, 1), DOCA_ERROR_INVALID_VALUE, "behind the map");
	tap_is(BY_ADDR(mem + 1, SIZE), DOCA_ERROR_INVALID_VALUE, "longer than the map");
	tap_is(BY_ADDR(mem + 1, SIZE_MAX), DOCA_ERROR_INVALID_VALUE, "longer than all memory");
	tap_is(BY_ADDR(NULL, 1), DOCA_ERROR_INVALID_VALUE, "no address");
	tap_is(BY_ARGS(mem, 8, mem + 1, 8), DOCA_ERROR_INVALID_VALUE, "too much data");
	tap_is(BY_ARGS(mem + 8, 8, mem, 1), DOCA_ERROR_INVALID_VALUE, "data in front");
	tap_is(doca_buf_inventory_buf_get_by_addr(NULL, mmap, mem, 1, &buf),
	       DOCA_ERROR_INVALID_VALUE, "no inventory");
	tap_is(doca_buf_inventory_buf_get_by_addr(inventory, NULL, mem, 1, &buf),
	       DOCA_ERROR_INVALID_VALUE, "no map");
	tap_is(doca_buf_inventory_buf_get_by_addr(inventory, mmap, mem, 1, NULL),
	       DOCA_ERROR_INVALID_VALUE, "no result");
	tap_is(num_free(), NUM_BUFS, "none was taken");
	tap_is(BY_ADDR(mem, SIZE), DOCA_SUCCESS, "the whole map");
	ok(put(buf), "it is given back");
}

static void test_data(void)
{
	struct doca_buf *buf = NULL, *copy = NULL;
	void *head = NULL, *data = NULL;
	size_t len = 0, data_len = 99;

	buf = get(64, 128);
	ok(doca_buf_get_head(buf, &head) == DOCA_SUCCESS && head == mem + 64, "head");
	ok(doca_buf_get_len(buf, &len) == DOCA_SUCCESS && len == 128, "length");
	ok(doca_buf_get_data(buf, &data) == DOCA_SUCCESS && data == mem + 64, "data");
	ok(doca_buf_get_data_len(buf, &data_len) == DOCA_SUCCESS && !data_len, "it is empty");
	tap_is(doca_buf_set_data(buf, mem + 100, 92), DOCA_SUCCESS, "data to the end");
	tap_is(doca_buf_set_data(buf, mem + 100, 93), DOCA_ERROR_INVALID_VALUE, "beyond the end");
	tap_is(doca_buf_set_data(buf, mem + 63, 2), DOCA_ERROR_INVALID_VALUE, "before the head");
	tap_is(doca_buf_set_data(NULL, mem, 1), DOCA_ERROR_INVALID_VALUE, "no buffer");
	tap_is(doca_buf_set_data_len(buf, 93), DOCA_ERROR_INVALID_VALUE, "too long");
	tap_is(doca_buf_set_data_len(buf, 10), DOCA_SUCCESS, "10 bytes");
	tap_is(doca_buf_inventory_buf_dup(inventory, buf, &copy), DOCA_SUCCESS, "a copy");
	doca_buf_get_data(copy, &data);
	doca_buf_get_data_len(copy, &data_len);
	ok(data == mem + 100 && data_len == 10, "the copy has the same data");
	tap_is(doca_buf_reset_data_len(buf), DOCA_SUCCESS, "no data");
	doca_buf_get_data(buf, &data);
	doca_buf_get_data_len(buf, &data_len);
	ok(data == mem + 100 && !data_len, "the address stays");
	doca_buf_get_data_len(copy, &data_len);
	tap_is(data_len, 10, "the copy is another buffer");
	ok(put(buf) && put(copy), "both are given back");
	tap_is(doca_buf_inventory_buf_get_by_data(inventory, mmap, mem + 1, 7, &buf),
	       DOCA_SUCCESS, "a full buffer");
	doca_buf_get_data_len(buf, &data_len);
	tap_is(data_len, 7, "all of it is data");
	put(buf);
	tap_is(doca_buf_get_head(NULL, &head), DOCA_ERROR_INVALID_VALUE, "head: no buffer");
	tap_is(doca_buf_get_len(buf, NULL), DOCA_ERROR_INVALID_VALUE, "length: no result");
	tap_is(doca_buf_set_data_len(NULL, 1), DOCA_ERROR_INVALID_VALUE, "set: no buffer");
	tap_is(doca_buf_reset_data_len(NULL), DOCA_ERROR_INVALID_VALUE, "reset: no buffer");
	tap_is(doca_buf_inventory_buf_dup(inventory, NULL, &copy), DOCA_ERROR_INVALID_VALUE,
	       "copy: no buffer");
}

static void test_refcount(void)
{
	struct doca_buf *buf = get(0, 8);
	uint16_t n = 0;
	int i;

	tap_is(refs(buf), 1, "a new buffer has one reference");
	ok(doca_buf_inc_refcount(buf, &n) == DOCA_SUCCESS && n == 2, "a second one");
	ok(doca_buf_dec_refcount(buf, &n) == DOCA_SUCCESS && n == 1, "it is dropped");
	tap_is(num_free(), NUM_BUFS - 1, "the buffer is in use");
	tap_is(doca_buf_inventory_stop(inventory), DOCA_ERROR_IN_USE, "the inventory is in use");
	tap_is(doca_buf_inventory_destroy(inventory), DOCA_ERROR_IN_USE, "it cannot be destroyed");
	tap_is(doca_mmap_stop(mmap), DOCA_ERROR_IN_USE, "the map is in use");
	tap_is(doca_mmap_destroy(mmap), DOCA_ERROR_IN_USE, "it cannot be destroyed");
	for (i = 1; i < UINT16_MAX; i++)
		doca_buf_inc_refcount(buf, NULL);
	tap_is(doca_buf_inc_refcount(buf, NULL), DOCA_ERROR_TOO_BIG, "too many references");
	for (i = 1; i < UINT16_MAX; i++)
		doca_buf_dec_refcount(buf, NULL);
	ok(doca_buf_dec_refcount(buf, &n) == DOCA_SUCCESS && !n, "the last one is dropped");
	tap_is(num_free(), NUM_BUFS, "the buffer is free");
	tap_is(doca_buf_dec_refcount(buf, NULL), DOCA_ERROR_INVALID_VALUE, "a free buffer");
	tap_is(doca_buf_inc_refcount(buf, NULL), DOCA_ERROR_INVALID_VALUE, "it stays free");
	tap_is(num_free(), NUM_BUFS, "it is free once");
	tap_is(doca_buf_inc_refcount(NULL, NULL), DOCA_ERROR_INVALID_VALUE, "no buffer");
	tap_is(doca_buf_dec_refcount(NULL, NULL), DOCA_ERROR_INVALID_VALUE, "no buffer");
	tap_is(doca_buf_get_refcount(NULL, &n), DOCA_ERROR_INVALID_VALUE, "no buffer");
}

/* Checks the place of a buffer in its list. */
static void place_is(struct doca_buf *buf, int in, int first, int last, uint32_t len,
		     const char *what)
{
	uint8_t is_in = 9, is_first = 9, is_last = 9;
	uint32_t n = 99;

	doca_buf_is_in_list(buf, &is_in);
	doca_buf_is_first_in_list(buf, &is_first);
	doca_buf_is_last_in_list(buf, &is_last);
	doca_buf_get_list_len(buf, &n);
	ok(is_in == in && is_first == first && is_last == last && n == len, "%s", what);
}

static void test_list(void)
{
	struct doca_buf *b[NUM_BUFS], *next = NULL, *last = NULL;
	int i;

	for (i = 0; i < NUM_BUFS; i++)
		b[i] = get(8 * i, 8);
	ok(!get(0, 1), "all buffers are in use");
	place_is(b[0], 0, 1, 1, 1, "a single buffer");
	tap_is(doca_buf_chain_list(b[0], b[0]), DOCA_ERROR_INVALID_VALUE, "chained to itself");
	tap_is(doca_buf_chain_list(b[0], NULL), DOCA_ERROR_INVALID_VALUE, "chain: no buffer");
	tap_is(doca_buf_chain_list(b[0], b[1]), DOCA_SUCCESS, "a list of two");
	tap_is(doca_buf_chain_list(b[2], b[3]), DOCA_SUCCESS, "another list of two");
	tap_is(doca_buf_chain_list(b[2], b[1]), DOCA_ERROR_INVALID_VALUE, "not the head");
	tap_is(doca_buf_chain_list(b[1], b[2]), DOCA_ERROR_INVALID_VALUE, "not to the head");
	doca_buf_inc_refcount(b[2], NULL);
	tap_is(doca_buf_chain_list(b[0], b[2]), DOCA_ERROR_NOT_PERMITTED, "two references");
	doca_buf_dec_refcount(b[2], NULL);
	tap_is(doca_buf_chain_list(b[0], b[2]), DOCA_SUCCESS, "a list of four");
	place_is(b[0], 1, 1, 0, 4, "its head");
	place_is(b[1], 1, 0, 0, 3, "its second");
	place_is(b[3], 1, 0, 1, 1, "its last");
	ok(doca_buf_get_next_in_list(b[1], &next) == DOCA_SUCCESS && next == b[2], "the next one");
	ok(doca_buf_get_next_in_list(b[3], &next) == DOCA_SUCCESS && !next, "no next one");
	ok(doca_buf_get_last_in_list(b[0], &last) == DOCA_SUCCESS && last == b[3], "the last one");
	tap_is(doca_buf_inc_refcount(b[1], NULL), DOCA_ERROR_NOT_PERMITTED, "not the head");
	tap_is(doca_buf_dec_refcount(b[1], NULL), DOCA_ERROR_NOT_PERMITTED, "not the head");
	tap_is(doca_buf_unchain_list(b[0], b[0]), DOCA_ERROR_INVALID_VALUE, "the head stays");
	tap_is(doca_buf_unchain_list(b[1], b[2]), DOCA_ERROR_INVALID_VALUE, "not from the head");
	tap_is(doca_buf_unchain_list(b[0], NULL), DOCA_ERROR_INVALID_VALUE, "unchain: no buffer");
	tap_is(doca_buf_unchain_list(b[0], b[1]), DOCA_SUCCESS, "three are unchained");
	place_is(b[0], 0, 1, 1, 1, "the head is alone");
	place_is(b[1], 1, 1, 0, 3, "the second is a head");
	tap_is(refs(b[1]), 1, "it has one reference");
	tap_is(doca_buf_unchain_list(b[0], b[2]), DOCA_ERROR_INVALID_VALUE, "not in this list");
	tap_is(doca_buf_chain_list(b[1], b[0]), DOCA_SUCCESS, "chained in another order");
	doca_buf_get_next_in_list(b[3], &next);
	ok(next == b[0], "the first one is the last one now");
	ok(put(b[1]), "the list is given back");
	tap_is(num_free(), NUM_BUFS, "all buffers are free");
}

static void test_expand(void)
{
	struct doca_buf *b[NUM_BUFS + 3];
	uint32_t n = 0;
	int i;

	tap_is(doca_buf_inventory_expand(inventory, 0), DOCA_ERROR_INVALID_VALUE, "no more");
	tap_is(doca_buf_inventory_expand(inventory, UINT32_MAX), DOCA_ERROR_INVALID_VALUE,
	       "too many");
	tap_is(doca_buf_inventory_expand(inventory, 2), DOCA_SUCCESS, "two more");
	doca_buf_inventory_get_num_elements(inventory, &n);
	tap_is(n, NUM_BUFS + 2, "they count");
	for (i = 0; i < NUM_BUFS + 3; i++)
		b[i] = get(0, 8);
	ok(b[NUM_BUFS + 1] && !b[NUM_BUFS + 2], "there are as many buffers");
	doca_mmap_get_num_bufs(mmap, &n);
	tap_is(n, NUM_BUFS + 2, "the map counts them");
	for (i = 0; i < NUM_BUFS + 2; i++)
		put(b[i]);
}

int main(void)
{
	doca_mmap_create(&mmap);
	doca_mmap_set_memrange(mmap, mem, SIZE);
	if (doca_mmap_start(mmap) != DOCA_SUCCESS)
		bail_out("no memory map");
	test_inventory();
	test_range();
	test_data();
	test_refcount();
	test_list();
	test_expand();
	tap_is(doca_buf_inventory_stop(inventory), DOCA_SUCCESS, "stop");
	ok(!get(0, 1), "no buffer after the stop");
	tap_is(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS, "the inventory is destroyed");
	tap_is(doca_mmap_destroy(mmap), DOCA_SUCCESS, "the map is destroyed");
	return tap_done();
}
