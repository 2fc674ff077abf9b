// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections of the examples of RDMA tasks, by files and by rdma_cm; see common.h.
 */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include "common.h"

enum { POLL_US = 10000, DESCRIPTION_SIZE = 1024 };

/* ---- Files ------------------------------------------------------------------------------- */

/* The file appears with all its contents. */
static void write_file(const char *path, const void *data, size_t size)
{
	char hidden[PATH_MAX + 4];
	FILE *file;

	snprintf(hidden, sizeof(hidden), "%s.tmp", path);
	file = fopen(hidden, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) || rename(hidden, path))
		fail(path, "cannot write it");
}

/* Waits for the file, reads it, and removes it so that the next run does not find it. */
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

void write_resource(struct side *s, const void *data, size_t size)
{
	write_file(s->options.resource, data, size);
}

size_t read_resource(struct side *s, void *data, size_t max)
{
	return read_file(s->options.resource, data, max);
}

void export_memory(struct side *s)
{
	const void *description;
	size_t size;

	CHECK(doca_mmap_export_rdma(s->mmap, s->dev, &description, &size));
	write_resource(s, description, size);
}

void import_memory(struct side *s)
{
	char description[DESCRIPTION_SIZE];
	size_t size = read_resource(s, description, sizeof(description));

	CHECK(doca_mmap_create_from_export(NULL, description, size, s->dev, &s->peer_mmap));
}

static void connection_path(const char *path, int i, char *out)
{
	if (i)
		snprintf(out, PATH_MAX, "%s.%d", path, i);
	else
		snprintf(out, PATH_MAX, "%s", path);
}

static void connect_by_files(struct side *s, int i)
{
	const struct options *o = &s->options;
	char local[PATH_MAX], remote[PATH_MAX], theirs[DESCRIPTION_SIZE];
	const void *ours;
	size_t size, their_size;

	connection_path(o->local, i, local);
	connection_path(o->remote, i, remote);
	CHECK(doca_rdma_export(s->rdma, &ours, &size, &s->connections[i]));
	if (o->kind->active)
		write_file(local, ours, size);
	their_size = read_file(remote, theirs, sizeof(theirs));
	CHECK(doca_rdma_connect(s->rdma, theirs, their_size, s->connections[i]));
	if (!o->kind->active)
		write_file(local, ours, size);
}

/* ---- rdma_cm ------------------------------------------------------------------------------ */

static void requested(struct doca_rdma_connection *connection, union doca_data side)
{
	struct side *s = side.ptr;

	if (s->requests++ < s->options.connections)
		CHECK(doca_rdma_connection_accept(connection, NULL, 0));
	else
		CHECK(doca_rdma_connection_reject(connection));
}

static void established(struct doca_rdma_connection *connection, union doca_data data,
			union doca_data side)
{
	struct side *s = side.ptr;

	(void)data;
	s->connections[s->established++] = connection;
}

static void failed(struct doca_rdma_connection *connection, union doca_data data,
		   union doca_data side)
{
	(void)connection;
	(void)data;
	(void)side;
	fail("rdma_cm", "the connection failed");
}

static void disconnected(struct doca_rdma_connection *connection, union doca_data data,
			 union doca_data side)
{
	struct side *s = side.ptr;

	(void)connection;
	(void)data;
	s->ended++;
}

void prepare_cm(struct side *s)
{
	CHECK(doca_rdma_set_connection_state_callbacks(s->rdma, requested, established, failed,
						       disconnected));
}

static void connect_to_server(struct side *s, const struct options *o)
{
	struct doca_rdma_addr *addr;
	int i;

	CHECK(doca_rdma_addr_create(o->server_type, o->server, (uint16_t)o->port, &addr));
	for (i = 0; i < o->connections; i++)
		CHECK(doca_rdma_connect_to_addr(s->rdma, addr, (union doca_data) { .ptr = NULL }));
	CHECK(doca_rdma_addr_destroy(addr));
}

static void connect_by_cm(struct side *s)
{
	const struct options *o = &s->options;

	if (o->kind->active)
		connect_to_server(s, o);
	else
		CHECK(doca_rdma_start_listen_to_port(s->rdma, (uint16_t)o->port));
	while (s->established < o->connections)
		doca_pe_progress(s->pe);
	if (!o->kind->active)
		CHECK(doca_rdma_stop_listen_to_port(s->rdma, (uint16_t)o->port));
}

static void finish_cm(struct side *s)
{
	int i;

	for (i = 0; s->options.kind->active && i < s->established; i++)
		CHECK(doca_rdma_connection_disconnect(s->connections[i]));
	while (s->ended < s->established)
		doca_pe_progress(s->pe);
}

/* ---- Both ways --------------------------------------------------------------------------- */

void connect_side(struct side *s)
{
	int i;

	if (s->options.cm) {
		connect_by_cm(s);
		return;
	}
	for (i = 0; i < s->options.connections; i++)
		connect_by_files(s, i);
}

void finish(struct side *s)
{
	bool active = s->options.kind->active;
	char path[PATH_MAX], nothing;

	if (s->options.cm) {
		finish_cm(s);
		return;
	}
	snprintf(path, sizeof(path), "%s.done", active ? s->options.local : s->options.remote);
	if (active)
		write_file(path, "", 0);
	else
		read_file(path, &nothing, sizeof(nothing));
}
