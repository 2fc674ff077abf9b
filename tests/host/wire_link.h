/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wire between two hosts: two sessions, and a link that loses, repeats, delays, reorders and
 * damages frames.
 *
 * Time is virtual (shim_now), and each kind of fault has random numbers of its own.  So a test
 * with the same seed has the same faults, and another rate of one kind does not move the others.
 */
#ifndef WIRE_LINK_H
#define WIRE_LINK_H

#include "session.h"

struct wire_frame;

enum wire_fault {
	WIRE_LOSS,
	WIRE_DUPLICATE,			/* the second one comes later */
	WIRE_REORDER,			/* the frame comes later */
	WIRE_CORRUPT,			/* some bits after the Ethernet header change */
	WIRE_FAULTS
};

enum {
	WIRE_HISTORY	= 64,		/* frames that are remembered */
	WIRE_SCRIPTED	= 1 << WIRE_FAULTS,	/* fate of a frame that the test has dropped */
	WIRE_NOBODY	= 2 << WIRE_FAULTS,	/* or that has an unknown address */
};

/* A frame that was sent */
struct wire_event {
	u64 time;
	u8 from;			/* host */
	u8 error;			/* enum hca_packet_error */
	u8 fate;			/* 1 << enum wire_fault, WIRE_SCRIPTED, WIRE_NOBODY */
	u8 opcode;
	u32 psn, length;
};

/* The end of the wire at a function: context of its operations */
struct wire_port {
	struct wire *w;
	struct session *s;
	int func;
	struct wire_frame *out;		/* allocated, not sent */
	struct wire_frame *in;		/* arrived, the oldest first */
	struct wire_frame *current;	/* what frame_next() has returned */
};

struct wire {
	struct session s[2];
	struct wire_port port[2][SESSION_FUNCS];

	/* What a test may set at any time */
	u32 per_mille[WIRE_FAULTS];	/* of all frames */
	u64 delay;			/* of a frame, in ns; at most 16 times that if it is late */
	u32 room;			/* frames of a host that are on the way */
	/* True: the frame is lost.  @nth counts the frames of both hosts since wire_script(). */
	bool (*drop)(const u8 *frame, u32 bytes, u32 nth);
	/* True: the frame arrives twice. */
	bool (*twice)(const u8 *frame, u32 bytes);
	/* May change the frame that arrives, shorten it, and add to its delay. */
	void (*change)(u8 *frame, u32 *bytes, u64 *delay);
	/* True: the frame is marked (ECN), if its sender allows that. */
	bool (*mark)(const u8 *frame, u32 bytes);

	u64 seed[WIRE_FAULTS];
	struct wire_frame *flying;	/* the first that arrives is first */
	u32 nflying[2];			/* by sender */
	u32 nth;
	u32 sent, lost, bad;		/* frames; bad: hca_packet_read() refuses what was sent */
	struct wire_event history[WIRE_HISTORY];
};

/* No faults, a delay of a microsecond.  @seed: any number */
void wire_init(struct wire *w, u64 seed);
void wire_free(struct wire *w);
/* Frees all frames that are on the way. */
void wire_clear(struct wire *w);
/* Sets w->drop.  NULL: it drops nothing. */
void wire_script(struct wire *w, bool (*drop)(const u8 *frame, u32 bytes, u32 nth));

/* Creates a queue pair of function 0 of each host, and connects them as w->s[].path says. */
void wire_pair(struct wire *w, u8 st, struct session_qp *a, struct session_qp *b);

/*
 * Runs both hosts and lets the time pass, until no frame is on the way, no timer runs and no host
 * has work.  False if that takes longer than @limit, in ns.
 */
bool wire_settle(struct wire *w, u64 limit);

/* Delivers the frames that have arrived by now.  frame_next() and wire_settle() do this, too. */
void wire_deliver(struct wire *w);

/* Prints the last frames. */
void wire_print(const struct wire *w);

/*
 * The result of a test, which prints the last frames if it is bad (needs tap.h).  The message may
 * have values that @good has changed.
 */
#define wire_ok(w, good, ...) do {						\
	bool good_ = (good);							\
										\
	if (!ok(good_, __VA_ARGS__))						\
		wire_print(w);							\
} while (0)

#endif
