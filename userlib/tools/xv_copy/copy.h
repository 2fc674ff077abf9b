/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * xv_copy: what its files share.
 *
 * Three threads meet at two rings of slots.  The reader walks the tree and
 * fills slots with records; the pump moves them with RDMA and does nothing
 * else; the writer turns records back into files:
 *
 *	reader -> [ sender's slots ] == pump, RDMA write => [ receiver's slots ] -> writer
 *
 * Slot i of the sender goes to slot i of the receiver.  The receiver tells by
 * RDMA writes into the sender's memory how far its writer has come (struct
 * feedback); a slot is free again when both its send has completed and the
 * writer is past it.
 *
 * Counters run freely; each has one thread that writes it.
 */
#ifndef XV_COPY_H
#define XV_COPY_H

#include "tool.h"

enum {
	PUMP_POLL = 16,
	PUMP_NICE = 10,		/* where processors are few, reader and writer go first */
};

enum record_type {
	REC_DIR = 1,		/* enter a directory */
	REC_DIR_END,		/* it is complete: its mode and times */
	REC_FILE,		/* contents, whole or in part */
	REC_SYMLINK,		/* the data are its target */
	REC_DONE,
};

#define REC_FIRST	1u	/* of a file: create it */
#define REC_LAST	2u	/* of a file: hash, mode and times are valid */

#define REC_MAGIC	0x78766370u

/* Little-endian, as both hosts are; name and data follow. */
struct record {
	uint32_t magic;
	uint16_t type;
	uint16_t flags;
	uint32_t name_len;
	uint32_t data_len;
	uint32_t mode;
	uint32_t mtime_nsec;
	int64_t mtime;
	uint64_t hash;
	uint8_t reserved[24];
};

/* From receiver to sender, in one inline RDMA write */
struct feedback {
	uint64_t consumed;		/* records the writer has done */
	uint64_t finished;		/* 1 after REC_DONE */
	uint64_t mismatches;		/* files whose checksum differs */
	uint64_t errors;		/* things that could not be written */
};

struct geometry {
	uint32_t slots;
	uint32_t slot_size;
};

struct stats {
	uint64_t files;
	uint64_t dirs;
	uint64_t symlinks;
	uint64_t skipped;
	uint64_t bytes;
};

/* One end: queue pair, slots, counters */
struct end {
	struct xt_side side;
	struct geometry geo;
	struct xv_cq *cq;
	struct xv_qp *qp;
	struct xv_mr *mr;
	uint8_t *slots;
	uint32_t *length;		/* of the record in each slot */
	uint64_t remote_slots;
	uint64_t remote_feedback;
	uint32_t rkey;
	struct stats stats;

	uint64_t filled;		/* sender: by the reader; receiver: by the pump */
	uint64_t posted;
	uint64_t completed;		/* sender: sends done */
	uint64_t consumed;		/* receiver: by the writer */
	uint64_t told;			/* receiver: last consumed count sent off */
	uint32_t telling;		/* receiver: feedback in flight */
	bool writer_done;		/* receiver: by the writer */
	uint64_t mismatches;
	uint64_t errors;
	bool over;			/* pump: nothing more to do at this end */
	volatile struct feedback *feedback;	/* sender: written by the peer */
};

/* The pump's work and what the other threads must know of it */
struct pump {
	struct end *sender;		/* or null */
	struct end *receiver;		/* or null */
	uint64_t operations;
	uint64_t polls;
	int failed;			/* a completion status, or 0 */
	int stop;			/* set from outside: the peer has gone */
	int over;
};

/* end.c */
void end_open(struct end *e, const char *device, uint32_t port, int gid_index, struct geometry geo);
void end_close(struct end *e);
void end_connect_local(struct end *a, struct end *b);
void end_connect_remote(struct end *e, int fd);
void end_ready(struct end *e);	/* receiver: posts its receives */

/* pump.c: runs sealed */
void pump_run(void *pump);

/* reader.c */
struct reader {
	struct end *end;
	struct pump *pump;
	const char *source;
};
void *reader_run(void *reader);

/* writer.c */
struct writer {
	struct end *end;
	struct pump *pump;
	int dir;			/* everything is written below it */
};
void *writer_run(void *writer);

static inline uint8_t *end_slot(const struct end *e, uint64_t seq)
{
	return e->slots + (size_t)(seq % e->geo.slots) * e->geo.slot_size;
}

/* A file thread waits; false when the pump has given up. */
bool pump_wait(const struct pump *p);

#endif
