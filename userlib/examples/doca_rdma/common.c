// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * See common.h.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <doca_argp.h>
#include <doca_log.h>
#include "common.h"

DOCA_LOG_REGISTER(EXAMPLE);

enum { DEFAULT_PORT = 13579 };

_Noreturn void fail(const char *what, const char *why)
{
	DOCA_LOG_ERR("%s: %s", what, why);
	exit(1);
}

void check(doca_error_t result, const char *call)
{
	if (result != DOCA_SUCCESS)
		fail(call, doca_error_get_descr(result));
}

/* ---- Options ----------------------------------------------------------------------------- */

#define SETTER(field, value)							\
static doca_error_t set_##field(void *param, void *config)			\
{										\
	struct options *o = config;						\
										\
	o->field = value;							\
	return DOCA_SUCCESS;							\
}
SETTER(device, param)
SETTER(local, param)
SETTER(remote, param)
SETTER(resource, param)
SETTER(text, param)
SETTER(gid_index, *(int *)param)
SETTER(connections, *(int *)param)
SETTER(cm, *(bool *)param)
SETTER(server, param)
SETTER(port, *(int *)param)

/* The index of the word in a list that ends with NULL, or -1 */
static int find(const char *const *list, const char *word)
{
	int i;

	for (i = 0; list[i]; i++)
		if (!strcasecmp(list[i], word))
			return i;
	return -1;
}

static doca_error_t set_transport(void *param, void *config)
{
	static const char *const names[] = {
		[DOCA_RDMA_TRANSPORT_TYPE_RC] = "rc", [DOCA_RDMA_TRANSPORT_TYPE_DC] = "dc", NULL,
	};
	int i = find(names, param);

	((struct options *)config)->transport = i;
	return i >= 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t set_server_type(void *param, void *config)
{
	static const char *const names[] = {
		[DOCA_RDMA_ADDR_TYPE_IPv4] = "ipv4", [DOCA_RDMA_ADDR_TYPE_IPv6] = "ipv6",
		[DOCA_RDMA_ADDR_TYPE_GID] = "gid", NULL,
	};
	int i = find(names, param);

	((struct options *)config)->server_type = i;
	return i >= 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static void add(const char *short_name, const char *long_name, const char *description,
		enum doca_argp_type type, doca_argp_param_cb_t set)
{
	struct doca_argp_param *param;

	CHECK(doca_argp_param_create(&param));
	CHECK(doca_argp_param_set_short_name(param, short_name));
	CHECK(doca_argp_param_set_long_name(param, long_name));
	CHECK(doca_argp_param_set_description(param, description));
	CHECK(doca_argp_param_set_type(param, type));
	CHECK(doca_argp_param_set_callback(param, set));
	CHECK(doca_argp_register_param(param));
}

static doca_error_t refuse(const char *why)
{
	DOCA_LOG_ERR("%s", why);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Options that need each other, and ranges */
static doca_error_t validate(void *config)
{
	const struct options *o = config;

	if (strlen(o->text) >= SLOT_SIZE)
		return refuse("the text is too long");
	if (o->connections < 1 || o->connections > MAX_CONNECTIONS)
		return refuse("too many or too few connections");
	if (o->kind->many && o->transport != DOCA_RDMA_TRANSPORT_TYPE_RC)
		return refuse("the program needs the connections of RC");
	if (o->port < 1 || o->port > UINT16_MAX)
		return refuse("the port is out of range");
	if (o->kind->resource && !o->resource)
		return refuse("the file for what the peer may access is missing");
	if (!o->cm && (!o->local || !o->remote))
		return refuse("the files for connections are missing");
	if (o->cm && o->kind->active && !o->server)
		return refuse("the address of the passive side is missing");
	if (o->cm && o->transport == DOCA_RDMA_TRANSPORT_TYPE_DC)
		return refuse("rdma_cm has no connections of DC");
	return DOCA_SUCCESS;
}

static void parse(struct options *o, int argc, char **argv)
{
	const enum doca_argp_type string = DOCA_ARGP_TYPE_STRING, number = DOCA_ARGP_TYPE_INT;
	char letter[2] = "";

	CHECK(doca_argp_init(NULL, o));
	add("d", "device", "Name of the device", string, set_device);
	add("g", "gid-index", "GID index", number, set_gid_index);
	add("ld", "local-descriptor-path", "File to write: the connection of this side", string,
	    set_local);
	add("re", "remote-descriptor-path", "File to read: the connection of the peer", string,
	    set_remote);
	add("tt", "transport-type", "rc or dc", string, set_transport);
	add("cm", "use-rdma-cm", "Connect by rdma_cm", DOCA_ARGP_TYPE_BOOLEAN, set_cm);
	add("sa", "server-addr", "rdma_cm: address of the passive side", string, set_server);
	add("sat", "server-addr-type", "rdma_cm: ipv4, ipv6 or gid", string, set_server_type);
	add("lp", "listen-port", "rdma_cm: port of the passive side", number, set_port);
	if (o->kind->resource)
		add("m", "remote-resource-descriptor-path", "File for what the peer may access",
		    string, set_resource);
	if (o->kind->many)
		add("nc", "num-connections", "Number of connections", number, set_connections);
	if (o->kind->text) {
		letter[0] = o->kind->text[0];
		add(letter, o->kind->text, "Text to transfer", string, set_text);
	}
	CHECK(doca_argp_register_validation_callback(validate));
	check(doca_argp_start(argc, argv), "arguments");
}

/* ---- Objects ----------------------------------------------------------------------------- */

static void open_device(struct side *s)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t n, i;

	CHECK(doca_devinfo_create_list(&list, &n));
	for (i = 0; i < n; i++) {
		CHECK(doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)));
		if (!s->options.device || !strcmp(name, s->options.device))
			break;
	}
	if (i == n)
		fail("device", "not found");
	CHECK(doca_dev_open(list[i], &s->dev));
	CHECK(doca_devinfo_destroy_list(list));
}

static void create_memory(struct side *s, uint32_t permissions)
{
	size_t size = SLOT_SIZE * (size_t)s->options.connections;

	s->memory = calloc(1, size);
	if (!s->memory)
		fail("memory", "out of memory");
	CHECK(doca_mmap_create(&s->mmap));
	CHECK(doca_mmap_add_dev(s->mmap, s->dev));
	CHECK(doca_mmap_set_memrange(s->mmap, s->memory, size));
	CHECK(doca_mmap_set_permissions(s->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | permissions));
	CHECK(doca_mmap_start(s->mmap));
	CHECK(doca_buf_inventory_create(2 * MAX_CONNECTIONS, &s->inventory));
	CHECK(doca_buf_inventory_start(s->inventory));
}

void open_side(struct side *s, const struct kind *kind, int argc, char **argv)
{
	struct options *o = &s->options;

	*s = (struct side) { .options = {
		.text = "Hi DOCA RDMA!", .gid_index = -1, .connections = 1, .port = DEFAULT_PORT,
		.kind = kind,
	} };
	CHECK(doca_log_backend_create_standard());
	parse(o, argc, argv);
	open_device(s);
	create_memory(s, kind->permissions);
	CHECK(doca_pe_create(&s->pe));
	CHECK(doca_rdma_create(s->dev, &s->rdma));
	s->ctx = doca_rdma_as_ctx(s->rdma);
	CHECK(doca_pe_connect_ctx(s->pe, s->ctx));
	CHECK(doca_ctx_set_user_data(s->ctx, (union doca_data) { .ptr = s }));
	CHECK(doca_rdma_set_permissions(s->rdma, kind->permissions));
	CHECK(doca_rdma_set_transport_type(s->rdma, o->transport));
	CHECK(doca_rdma_set_max_num_connections(s->rdma, (uint16_t)o->connections));
	if (o->gid_index >= 0)
		CHECK(doca_rdma_set_gid_index(s->rdma, (uint32_t)o->gid_index));
	if (o->cm)
		prepare_cm(s);
}

void start_side(struct side *s)
{
	CHECK(doca_ctx_start(s->ctx));
}

void close_side(struct side *s)
{
	enum doca_ctx_states state;
	doca_error_t result = doca_ctx_stop(s->ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		check(result, "doca_ctx_stop()");
	do {
		doca_pe_progress(s->pe);
		CHECK(doca_ctx_get_state(s->ctx, &state));
	} while (state != DOCA_CTX_STATE_IDLE);
	CHECK(doca_rdma_destroy(s->rdma));
	CHECK(doca_pe_destroy(s->pe));
	CHECK(doca_buf_inventory_destroy(s->inventory));
	if (s->peer_mmap)
		CHECK(doca_mmap_destroy(s->peer_mmap));
	CHECK(doca_mmap_destroy(s->mmap));
	CHECK(doca_dev_close(s->dev));
	free(s->memory);
	CHECK(doca_argp_destroy());
}

/* ---- Buffers and tasks ------------------------------------------------------------------- */

struct doca_buf *text_buf(struct side *s, int slot)
{
	char *text = s->memory + SLOT_SIZE * slot;
	struct doca_buf *buf;

	strcpy(text, s->options.text);
	CHECK(doca_buf_inventory_buf_get_by_data(s->inventory, s->mmap, text, strlen(text) + 1,
						 &buf));
	return buf;
}

struct doca_buf *empty_buf(struct side *s, int slot)
{
	struct doca_buf *buf;

	CHECK(doca_buf_inventory_buf_get_by_addr(s->inventory, s->mmap,
						 s->memory + SLOT_SIZE * slot, SLOT_SIZE, &buf));
	return buf;
}

struct doca_buf *peer_data(struct side *s)
{
	struct doca_buf *buf = peer_space(s);
	size_t size;
	void *addr;

	CHECK(doca_mmap_get_memrange(s->peer_mmap, &addr, &size));
	CHECK(doca_buf_set_data(buf, addr, size));
	return buf;
}

struct doca_buf *peer_space(struct side *s)
{
	struct doca_buf *buf;
	size_t size;
	void *addr;

	CHECK(doca_mmap_get_memrange(s->peer_mmap, &addr, &size));
	CHECK(doca_buf_inventory_buf_get_by_addr(s->inventory, s->peer_mmap, addr, size, &buf));
	return buf;
}

void end_task(struct doca_task *task, union doca_data data)
{
	CHECK(doca_task_get_status(task));
	*(bool *)data.ptr = true;
}

void wait_for(struct side *s, const bool *done)
{
	while (!*done)
		doca_pe_progress(s->pe);
}

void sleep_for(struct side *s, const bool *done)
{
	struct pollfd fd = { .events = POLLIN };

	CHECK(doca_pe_get_notification_handle(s->pe, &fd.fd));
	while (!*done) {
		CHECK(doca_pe_request_notification(s->pe));
		poll(&fd, 1, -1);
		CHECK(doca_pe_clear_notification(s->pe, fd.fd));
		while (doca_pe_progress(s->pe))
			;
	}
}
