/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The slots of one end, in both directions, and what bounds them.
 *
 * The reader fills slots of the output with bytes of its pipe.  Each slot is one message.
 * The peer receives it in a slot of its input, and its writer writes it to its pipe:
 *
 *	reader -> [ out ] == SEND, RECEIVE => [ in ] -> writer
 *
 * Messages of another kind, notes, have no data.  A note says how many receives its sender
 * has posted, and whether its output has ended or its writer takes no more.  Every message
 * arrives in a slot of the input.  The slot of a note is free at once.  The slot of data is free
 * when the writer has written the data.  So notes never wait for pipes.  FLOW_RESERVE receives are
 * for notes only.
 *
 * Counters wrap at 2^32, so only their differences count.  One thread writes each member: (R) the
 * reader, (W) the writer, (P) the thread that posts and polls.
 */
#ifndef XV_RSH_FLOW_H
#define XV_RSH_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FLOW_DATA	= 0x52580001,
	FLOW_NOTE	= 0x52580002,

	FLOW_END	= 1 << 0,	/* the output ended after @number slots */
	FLOW_BROKEN	= 1 << 1,	/* the writer takes no more */

	FLOW_RESERVE	= 3,
	FLOW_NOTES	= 4,		/* notes in flight, at most */
	FLOW_MIN_SLOTS	= 2,
	FLOW_MAX_SLOTS	= 4096,
	FLOW_MIN_CHUNK	= 4096,
	FLOW_MAX_CHUNK	= 1 << 20,
};

/* Little-endian */
struct flow_header {
	uint32_t type;
	uint32_t length;		/* bytes of data that follow */
	uint32_t number;		/* of this slot; note: number of slots so far */
	uint32_t receives;		/* receives that the sender has posted so far */
	uint32_t flags;
	uint32_t reserved;
	uint64_t sum;			/* of the members above and of the data */
};

/* What passed in one direction; both ends compare it. */
struct flow_total {
	uint64_t bytes;
	uint64_t digest;		/* of the sums of the data */
	uint32_t slots;
	uint32_t reserved;
};

struct flow_arrival {
	uint32_t slot;
	uint32_t length;
};

struct flow {
	uint32_t chunk;			/* bytes of data in a slot, at most */
	uint32_t stride;		/* bytes from slot to slot */
	uint32_t out_slots;
	uint32_t in_slots;
	uint8_t *out;
	uint8_t *in;
	uint64_t *out_hash;		/* R: of the data of each slot */
	uint32_t *out_length;		/* R */
	struct flow_arrival *arrivals;	/* P: data in the order of arrival */

	struct flow_total sent;		/* R */
	uint32_t filled;		/* R */
	uint32_t ended;			/* R: no slot follows */
	uint32_t completed;		/* P: the peer has them */
	uint32_t refused;		/* P: the peer's writer takes no more */
	uint32_t finished;		/* P: the peer knows the end */

	struct flow_total received;	/* W */
	uint32_t arrived;		/* P */
	uint32_t in_ended;		/* P: nothing follows what has arrived */
	uint32_t consumed;		/* W */
	uint32_t broken;		/* W, or the session: the writer takes no more */

	/* P only */
	uint32_t posted;		/* slots of data */
	uint32_t messages;		/* messages sent */
	uint32_t notes;			/* in flight */
	uint32_t told_flags;
	uint32_t peer_receives;		/* receives that the peer has posted */
	uint32_t receives;		/* posted here */
	uint32_t told;			/* receives that the peer knows of */
	uint32_t heard;			/* messages received */
	uint32_t reposted;		/* arrivals whose slot is posted again */
	uint32_t n_free;		/* slots that are neither posted nor have data */
	uint32_t *free;
};

/* What to send next */
enum flow_action {
	FLOW_NOTHING,
	FLOW_SEND_DATA,
	FLOW_SEND_NOTE,
};

#define flow_load(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define flow_store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

/* The next number of slots to try when memory is short */
static inline uint32_t flow_fewer(uint32_t slots)
{
	return slots / 2 > FLOW_MIN_SLOTS ? slots / 2 : FLOW_MIN_SLOTS;
}

/* Bytes of memory for the slots */
size_t flow_bytes(uint32_t chunk, uint32_t slots);

/* Returns false if there is no memory.  first: this end sends the first message. */
bool flow_init(struct flow *f, uint32_t chunk, uint32_t slots, void *memory, bool first);
void flow_free(struct flow *f);

static inline uint8_t *flow_out(const struct flow *f, uint32_t number)
{
	return f->out + (size_t)(number % f->out_slots) * f->stride;
}

static inline uint8_t *flow_in(const struct flow *f, uint32_t slot)
{
	return f->in + (size_t)slot * f->stride;
}

/* ---- Reader ---- */
static inline bool flow_has_room(const struct flow *f)
{
	return f->filled - flow_load(&f->completed) < f->out_slots;
}

void flow_fill(struct flow *f, uint32_t length);	/* the next slot has so many bytes */

/* ---- Writer: returns the data of the next slot, or null if its sum is wrong ---- */
static inline bool flow_has_data(const struct flow *f)
{
	return f->consumed != flow_load(&f->arrived);
}

const uint8_t *flow_data(struct flow *f, uint32_t *length);
void flow_consume(struct flow *f);

/* ---- The thread that posts and polls ---- */
enum flow_action flow_next(const struct flow *f);

/* Write the header of the next slot or of a note, and count the message as sent. */
struct flow_header *flow_stamp_data(struct flow *f);
void flow_stamp_note(struct flow *f, struct flow_header *note);
void flow_sent_data(struct flow *f);			/* the peer has received one */
void flow_sent_note(struct flow *f);

/* Returns null, or what is wrong with the message. */
const char *flow_arrive(struct flow *f, uint32_t slot, uint32_t bytes);

/* The next slot to post to the receive queue; false if there is none */
bool flow_repost(struct flow *f, uint32_t *slot);

#endif
