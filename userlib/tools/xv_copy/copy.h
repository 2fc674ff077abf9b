/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of xv_copy.
 *
 * Three threads use two rings of slots.  The reader walks the file tree and fills
 * slots with records.  The pump moves them with RDMA and does nothing else.  The
 * writer creates files from the records:
 *
 *	reader -> [ sender's slots ] == pump, RDMA write => [ receiver's slots ] -> writer
 *
 * Slot i of the sender is written to slot i of the receiver.  The receiver reports
 * the progress of its writer with RDMA writes to the memory of the sender (struct
 * feedback).  A slot is free when its RDMA write has completed and the writer has
 * consumed the record.
 *
 * Counters are free-running.  Each counter is written by one thread only.
 */
#ifndef XV_COPY_H
#define XV_COPY_H

#include "tool.h"

enum {
	PUMP_POLL = 16,
	PUMP_NICE = 10,		/* with few CPUs, reader and writer have priority */
};

enum record_type {
	REC_DIR = 1,		/* enter a directory */
	REC_DIR_END,		/* directory is complete: set mode and times */
	REC_FILE,		/* contents, or a part of them */
	REC_SYMLINK,		/* data: target of the link */
	REC_DONE,
};

#define REC_FIRST	1u	/* first record of a file: create it */
#define REC_LAST	2u	/* last record of a file: hash, mode and times are valid */

#define REC_MAGIC	0x78766370u

/* Little-endian; name and data follow. */
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
	uint64_t consumed;		/* number of records consumed by the writer */
	uint64_t finished;		/* 1 after REC_DONE */
	uint64_t mismatches;		/* files whose checksum differs */
	uint64_t errors;		/* files, directories and links that failed */
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
	uint32_t *length;		/* length of the record in each slot */
	uint64_t remote_slots;
	uint64_t remote_feedback;
	uint32_t rkey;
	struct stats stats;

	uint64_t filled;		/* written by the reader (sender) or the pump (receiver) */
	uint64_t posted;
	uint64_t completed;		/* sender: completed RDMA writes */
	uint64_t consumed;		/* receiver: written by the writer */
	uint64_t told;			/* receiver: last value of consumed that was sent */
	uint32_t telling;		/* receiver: number of feedback writes in flight */
	bool writer_done;		/* receiver: written by the writer */
	uint64_t mismatches;
	uint64_t errors;
	bool over;			/* pump: this end has finished */
	volatile struct feedback *feedback;	/* sender: written by the peer */
};

/* Work and state of the pump */
struct pump {
	struct end *sender;		/* or null */
	struct end *receiver;		/* or null */
	uint64_t operations;
	uint64_t polls;
	int failed;			/* status of a failed completion, or 0 */
	int stop;			/* set by the main thread: connection to the peer lost */
	int over;
};

/* end.c */
void end_open(struct end *e, const char *device, uint32_t port, int gid_index, struct geometry geo);
void end_close(struct end *e);
void end_connect_local(struct end *a, struct end *b);
void end_connect_remote(struct end *e, int fd);
void end_ready(struct end *e);	/* receiver: posts the receives */

/* pump.c: runs in a sealed thread */
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
	int dir;			/* target directory */
};
void *writer_run(void *writer);

static inline uint8_t *end_slot(const struct end *e, uint64_t seq)
{
	return e->slots + (size_t)(seq % e->geo.slots) * e->geo.slot_size;
}

/* For reader and writer: sleeps a short time; returns false if the pump has ended. */
bool pump_wait(const struct pump *p);

#endif
