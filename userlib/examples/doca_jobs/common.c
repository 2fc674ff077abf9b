// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * See common.h.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <doca_log.h>
#include "common.h"

DOCA_LOG_REGISTER(EXAMPLE);

enum { WORKQ_DEPTH = 16, BUFS = 16, POLL_US = 10000 };

static _Noreturn void fail(const char *what, const char *why)
{
	DOCA_LOG_ERR("%s: %s", what, why);
	exit(1);
}

void check(doca_error_t result, const char *call)
{
	if (result != DOCA_SUCCESS)
		fail(call, doca_get_error_string(result));
}

/* ---- Options ----------------------------------------------------------------------------- */

static doca_error_t copy(char *to, size_t size, const char *from)
{
	return (size_t)snprintf(to, size, "%s", from) < size ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG;
}

static doca_error_t set_device(void *param, void *config)
{
	struct options *o = config;

	return copy(o->device, sizeof(o->device), param);
}

static doca_error_t set_local(void *param, void *config)
{
	((struct options *)config)->local = param;
	return DOCA_SUCCESS;
}

static doca_error_t set_remote(void *param, void *config)
{
	((struct options *)config)->remote = param;
	return DOCA_SUCCESS;
}

static doca_error_t set_mmap(void *param, void *config)
{
	((struct options *)config)->mmap = param;
	return DOCA_SUCCESS;
}

static doca_error_t set_gid_index(void *param, void *config)
{
	int index = *(int *)param;

	((struct options *)config)->gid_index = index;
	return index >= 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t set_text(void *param, void *config)
{
	struct options *o = config;

	return copy(o->text, sizeof(o->text), param);
}

static void add(const char *short_name, const char *long_name, const char *description,
		enum doca_argp_type type, doca_argp_param_cb_t callback, bool mandatory)
{
	struct doca_argp_param *param;

	CHECK(doca_argp_param_create(&param));
	CHECK(doca_argp_param_set_short_name(param, short_name));
	CHECK(doca_argp_param_set_long_name(param, long_name));
	CHECK(doca_argp_param_set_description(param, description));
	CHECK(doca_argp_param_set_type(param, type));
	CHECK(doca_argp_param_set_callback(param, callback));
	if (mandatory)
		CHECK(doca_argp_param_set_mandatory(param));
	CHECK(doca_argp_register_param(param));
}

void parse(struct side *s, int argc, char **argv, const char *short_text, const char *long_text,
	   bool needs_mmap)
{
	struct options *o = &s->options;

	*o = (struct options) { .gid_index = -1, .text = DEFAULT_TEXT };
	CHECK(doca_log_create_standard_backend());
	CHECK(doca_argp_init(NULL, o));
	add("d", "device", "IB device name", DOCA_ARGP_TYPE_STRING, set_device, false);
	add("ld", "local-descriptor-path", "File for the description of this side",
	    DOCA_ARGP_TYPE_STRING, set_local, true);
	add("re", "remote-descriptor-path", "File with the description of the peer",
	    DOCA_ARGP_TYPE_STRING, set_remote, true);
	if (needs_mmap)
		add("m", "mmap-descriptor-path", "File with the description of the memory map",
		    DOCA_ARGP_TYPE_STRING, set_mmap, true);
	add("g", "gid-index", "GID index", DOCA_ARGP_TYPE_INT, set_gid_index, false);
	if (short_text)
		add(short_text, long_text, "Text to transfer", DOCA_ARGP_TYPE_STRING, set_text,
		    false);
	check(doca_argp_start(argc, argv), "arguments");
}

/* ---- Objects ----------------------------------------------------------------------------- */

static void open_device(struct side *s)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t n, i;

	CHECK(doca_devinfo_list_create(&list, &n));
	for (i = 0; i < n; i++) {
		CHECK(doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)));
		if (!s->options.device[0] || !strcmp(name, s->options.device))
			break;
	}
	if (i == n)
		fail("device", "not found");
	CHECK(doca_dev_open(list[i], &s->dev));
	CHECK(doca_devinfo_list_destroy(list));
}

static void create_memory(struct side *s, uint32_t permissions)
{
	s->memory = calloc(1, MEMORY_SIZE);
	if (!s->memory)
		fail("memory", "out of memory");
	CHECK(doca_mmap_create(NULL, &s->mmap));
	CHECK(doca_mmap_dev_add(s->mmap, s->dev));
	CHECK(doca_mmap_set_memrange(s->mmap, s->memory, MEMORY_SIZE));
	CHECK(doca_mmap_set_permissions(s->mmap, DOCA_ACCESS_LOCAL_READ_WRITE | permissions));
	CHECK(doca_mmap_start(s->mmap));
	CHECK(doca_buf_inventory_create(NULL, BUFS, DOCA_BUF_EXTENSION_NONE, &s->inventory));
	CHECK(doca_buf_inventory_start(s->inventory));
}

void open_side(struct side *s, uint32_t permissions)
{
	open_device(s);
	create_memory(s, permissions);
	CHECK(doca_rdma_create(&s->rdma));
	CHECK(doca_rdma_set_permissions(s->rdma, permissions));
	if (s->options.gid_index >= 0)
		CHECK(doca_rdma_set_gid_index(s->rdma, (uint32_t)s->options.gid_index));
	s->ctx = doca_rdma_as_ctx(s->rdma);
	CHECK(doca_ctx_dev_add(s->ctx, s->dev));
	CHECK(doca_ctx_start(s->ctx));
	CHECK(doca_workq_create(WORKQ_DEPTH, &s->workq));
	CHECK(doca_workq_set_event_driven_enable(s->workq, 1));
	CHECK(doca_ctx_workq_add(s->ctx, s->workq));
}

void close_side(struct side *s)
{
	CHECK(doca_ctx_workq_rm(s->ctx, s->workq));
	CHECK(doca_workq_destroy(s->workq));
	CHECK(doca_ctx_stop(s->ctx));
	CHECK(doca_ctx_dev_rm(s->ctx, s->dev));
	CHECK(doca_rdma_destroy(s->rdma));
	CHECK(doca_buf_inventory_destroy(s->inventory));
	if (s->peer_mmap)
		CHECK(doca_mmap_destroy(s->peer_mmap));
	CHECK(doca_mmap_destroy(s->mmap));
	CHECK(doca_dev_close(s->dev));
	free(s->memory);
	CHECK(doca_argp_destroy());
}

/* ---- Files ------------------------------------------------------------------------------- */

/* The file appears with all its contents. */
static void write_file(const char *path, const void *data, size_t size)
{
	char temporary[PATH_MAX];
	FILE *file;

	snprintf(temporary, sizeof(temporary), "%s.tmp", path);
	file = fopen(temporary, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) ||
	    rename(temporary, path))
		fail(path, "cannot write it");
}

/* Waits for the file, and removes it: it is of no use for another run. */
static size_t read_file(const char *path, void *data, size_t max)
{
	size_t size;
	FILE *file;

	while (!(file = fopen(path, "r")))
		usleep(POLL_US);
	size = fread(data, 1, max, file);
	if (ferror(file) || fclose(file) || unlink(path))
		fail(path, "cannot read or remove it");
	return size;
}

void export_side(struct side *s)
{
	const void *details;
	size_t size;

	CHECK(doca_rdma_export(s->rdma, &details, &size));
	write_file(s->options.local, details, size);
}

void connect_side(struct side *s)
{
	char details[1024];
	size_t size = read_file(s->options.remote, details, sizeof(details));

	CHECK(doca_rdma_connect(s->rdma, details, size));
}

void export_memory(struct side *s)
{
	const void *description;
	size_t size;

	CHECK(doca_mmap_export_rdma(s->mmap, s->dev, &description, &size));
	write_file(s->options.mmap, description, size);
}

void import_memory(struct side *s)
{
	char description[1024];
	size_t size = read_file(s->options.mmap, description, sizeof(description));

	CHECK(doca_mmap_create_from_export(NULL, description, size, s->dev, &s->peer_mmap));
}

static void done_path(const char *path, char *done)
{
	snprintf(done, PATH_MAX, "%s.done", path);
}

void tell_done(struct side *s)
{
	char path[PATH_MAX];

	done_path(s->options.local, path);
	write_file(path, "", 0);
}

void wait_done(struct side *s)
{
	char path[PATH_MAX], nothing;

	done_path(s->options.remote, path);
	read_file(path, &nothing, sizeof(nothing));
}

/* ---- Jobs -------------------------------------------------------------------------------- */

static void sleep_until_event(struct doca_workq *workq)
{
	doca_event_handle_t handle;
	struct epoll_event event;
	int epoll_fd;

	CHECK(doca_workq_get_event_handle(workq, &handle));
	epoll_fd = epoll_create1(0);
	event.events = EPOLLIN;
	if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, handle, &event))
		fail("epoll", "cannot wait for events");
	CHECK(doca_workq_event_handle_arm(workq));
	epoll_wait(epoll_fd, &event, 1, -1);
	CHECK(doca_workq_event_handle_clear(workq, handle));
	close(epoll_fd);
}

struct doca_rdma_result wait_job(struct side *s, bool by_events)
{
	struct doca_rdma_result result = { .result = DOCA_SUCCESS };
	struct doca_event event = { .result.ptr = &result };
	doca_error_t found;

	for (;;) {
		found = doca_workq_progress_retrieve(s->workq, &event,
						     DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
		if (found != DOCA_ERROR_AGAIN)
			break;
		if (by_events)
			sleep_until_event(s->workq);
	}
	check(found, "doca_workq_progress_retrieve()");
	check(result.result, "job");
	return result;
}
