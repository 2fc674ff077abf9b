/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the examples of RDMA tasks share: options, objects, connections, and waiting.
 *
 * A pair has an active program, which sends, reads or writes, and a passive one.  They connect in
 * one of two ways.
 *
 * By files: each program writes the description of its connection (--local-descriptor-path) and
 * waits for that of its peer (--remote-descriptor-path), which the user copies if the peer runs on
 * another host.  The active program writes first.  The passive one connects before it writes, so
 * that nothing is sent too early.  The file LOCAL.done says that the active program has finished.
 * Further connections have files of their own, with .1, .2, ... behind the name.
 *
 * By rdma_cm (--use-rdma-cm): the passive program listens and the active one connects to its
 * address and disconnects at the end.
 *
 * In both ways a description of memory, or of a sync event, goes by a file
 * (--remote-resource-descriptor-path), which the passive program writes before it connects.
 */
#ifndef DOCA_RDMA_COMMON_H
#define DOCA_RDMA_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#define IMMEDIATE	0xabcd

enum { SLOT_SIZE = 4096, MAX_CONNECTIONS = 8 };

/* What is special about a program */
struct kind {
	bool active;
	bool resource;		/* needs the file for what the peer may access */
	bool many;		/* has the option for the number of connections; RC only */
	const char *text;	/* long name of the option for a text, or NULL */
	uint32_t permissions;	/* DOCA_ACCESS_FLAG_RDMA_*, what the peer may do */
};

struct options {
	const char *device;				/* NULL: any */
	const char *local, *remote, *resource;		/* paths */
	const char *text;
	int gid_index;					/* negative: the default */
	enum doca_rdma_transport_type transport;
	int connections;
	bool cm;
	const char *server;				/* address for rdma_cm */
	enum doca_rdma_addr_type server_type;
	int port;
	const struct kind *kind;
};

struct side {
	struct options options;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_rdma_connection *connections[MAX_CONNECTIONS];
	int requests, established, ended;		/* connections of rdma_cm */
	char *memory;					/* a slot for each connection */
	struct doca_mmap *mmap;				/* of memory */
	struct doca_mmap *peer_mmap;			/* or NULL */
	struct doca_buf_inventory *inventory;
};

/* fail() ends the program with a message.  check() calls it if result is an error. */
_Noreturn void fail(const char *what, const char *why);
#define CHECK(call)	check(call, #call)
void check(doca_error_t result, const char *call);

/*
 * Options, device, memory, and an RDMA context that can be configured.  The kind must exist as long
 * as the side.
 */
void open_side(struct side *s, const struct kind *kind, int argc, char **argv);

/* Starts the context: now tasks can be allocated, and receives be submitted. */
void start_side(struct side *s);

/* prepare_cm() is called by open_side(); connect_side() makes all connections. */
void prepare_cm(struct side *s);
void connect_side(struct side *s);

/* The active program says that it has finished.  The passive program waits for that. */
void finish(struct side *s);
void close_side(struct side *s);

/*
 * The passive program writes a description of what its peer may access to a file.  The active
 * program waits for the file, reads and removes it; read_resource() returns the size.
 */
void write_resource(struct side *s, const void *data, size_t size);
size_t read_resource(struct side *s, void *data, size_t max);

/* Describe the memory in this file, and make a map of the memory of the peer from it. */
void export_memory(struct side *s);
void import_memory(struct side *s);

/*
 * Buffers.  text_buf() has the text of the options, empty_buf() no data, peer_data() all memory of
 * the peer as data, peer_space() the same memory without data.
 */
struct doca_buf *text_buf(struct side *s, int slot);
struct doca_buf *empty_buf(struct side *s, int slot);
struct doca_buf *peer_data(struct side *s);
struct doca_buf *peer_space(struct side *s);

/* Called by callbacks: checks the status of the task and sets the bool at data.ptr. */
void end_task(struct doca_task *task, union doca_data data);

/* Both call doca_pe_progress() until *done is true; sleep_for() sleeps between the calls. */
void wait_for(struct side *s, const bool *done);
void sleep_for(struct side *s, const bool *done);

#endif
