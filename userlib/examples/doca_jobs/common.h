/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the examples of RDMA jobs share: options, objects, files with descriptions, and waiting.
 *
 * The two programs of a pair exchange descriptions by files: each one writes its own
 * (--local-descriptor-path) and waits for that of its peer (--remote-descriptor-path), which the
 * user copies if the peer runs on another host.  The active program, which sends, reads or writes,
 * writes its file first.  The passive one connects, is ready for the job, and then writes its own,
 * so that nothing is sent too early.
 */
#ifndef DOCA_JOBS_COMMON_H
#define DOCA_JOBS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_workq.h>

#define DEFAULT_TEXT	"Hi DOCA RDMA!"
#define IMMEDIATE	0xabcd

enum { MEMORY_SIZE = 4096 };

struct options {
	char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];	/* empty: any */
	const char *local, *remote, *mmap;		/* paths */
	int gid_index;					/* -1: the default */
	char text[MEMORY_SIZE];				/* ends with a null byte */
};

struct side {
	struct options options;
	struct doca_dev *dev;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_workq *workq;
	struct doca_mmap *mmap;			/* of memory */
	struct doca_mmap *peer_mmap;		/* or NULL */
	struct doca_buf_inventory *inventory;
	char *memory;
};

/* Ends the program with a message if the call of DOCA fails. */
#define CHECK(call)	check(call, #call)
void check(doca_error_t result, const char *call);

/*
 * The options of all examples; text: short name and long name of the option for a string, such as
 * "s" and "send-string", or NULL; needs_mmap: the option for the description of a map is mandatory.
 */
void parse(struct side *s, int argc, char **argv, const char *short_text, const char *long_text,
	   bool needs_mmap);

/*
 * Device, started RDMA instance, work queue, memory and inventory.  permissions:
 * DOCA_ACCESS_RDMA_*, what the peer may do.
 */
void open_side(struct side *s, uint32_t permissions);
void close_side(struct side *s);

/* Writes the description of this side; connects with that of the peer once there is one. */
void export_side(struct side *s);
void connect_side(struct side *s);

/* Writes the description of the memory; waits for that of the peer. */
void export_memory(struct side *s);
void import_memory(struct side *s);

/* Files beside the descriptions: the active program is done with the memory of the passive one. */
void tell_done(struct side *s);
void wait_done(struct side *s);

/* Waits for the job that was submitted, and for its success; by_events: sleeps meanwhile. */
struct doca_rdma_result wait_job(struct side *s, bool by_events);

#endif
