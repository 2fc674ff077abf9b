/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One end while the command runs.  The main thread waits for messages of the channel, for signals
 * and for the other threads, and never for a pipe.
 */
#ifndef XV_RSH_SESSION_H
#define XV_RSH_SESSION_H

#include "channel.h"
#include "pump.h"
#include "reader.h"
#include "writer.h"

enum { LIFE_S = 5, DEAD_S = 15 };

struct session;

/* The functions in which near end and far end differ */
struct role {
	/* Returns false if this end must not receive this message. */
	bool (*message)(struct session *s, const struct message *m);
	void (*signal)(struct session *s, int signal);
	void (*check)(struct session *s);		/* after each event */
	void (*extra)(struct session *s);		/* the extra descriptor is readable */
};

struct session {
	const struct role *role;
	struct channel channel;
	struct flow flow;
	struct wire wire;
	struct pump pump;
	struct reader reader;
	struct writer writer;
	bool rdma;
	uint32_t *posted;		/* without RDMA: slots for arrivals, in order */
	uint32_t n_posted, n_arrived;
	struct waker self;
	int signals;			/* signalfd */
	int extra;			/* another descriptor, or -1 */
	double heard;			/* time of the last byte from the peer */
	double life;			/* time of the next life sign */
	bool paused;			/* the peer sends no life signs */
	bool total_sent;
	bool over;
	char failure[300];		/* why it ended early */
};

void session_init(struct session *s, const struct role *role, int in, int out);

/* Allocates a flow that goes through the channel.  first: this is the near end */
bool session_relay(struct session *s, uint32_t chunk, uint32_t slots, bool first);

/* Starts the threads.  in, out: the pipes of the data; they get a larger capacity if allowed. */
void session_start(struct session *s, int in, int out);

__attribute__((format(printf, 2, 3)))
void session_fail(struct session *s, const char *fmt, ...);

/* loop.c */
void session_run(struct session *s);

/* relay.c: the flow over the channel */
bool relay_arrive(struct session *s, const struct message *m);
void relay_send(struct session *s);

#endif
