/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One session: both ends, a command with random behaviour, and the programs at the pipes of the
 * near end.
 */
#ifndef TESTS_RSH_PLAY_H
#define TESTS_RSH_PLAY_H

#include "sim.h"

enum { ALL = 0x7fffffff };

enum stream { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAMS };

/* What a session does; bytes and times are random within these bounds. */
struct plan {
	uint32_t chunk, slots;
	bool fallback, verbose;
	uint32_t bytes[STREAMS];	/* written by the source of each stream */
	uint32_t take[STREAMS];		/* read by the sink, which then closes its end */
	double wait[STREAMS];		/* the sink reads later */
	uint32_t max_write;
	uint32_t naps;			/* one pause in so many transfers; 0: none */
	uint32_t pipe_bytes, channel_bytes;
	bool echo;			/* the command writes what it reads */
	bool early_exit;		/* the command exits without reading more */
	bool keeps_input;		/* the source never ends its stream */
	bool stays;			/* it does not end before a signal */
	uint32_t caught;		/* signals that do not end it */
	uint32_t wants;			/* signals that it waits for */
	int status;			/* exit status */
	int dies;			/* or it raises this signal */
	uint32_t noise;			/* bytes in the channel before the greeting */
	bool ignores_interrupts;	/* as the far end of --via local */

	void (*start)(void);		/* instead of the ends */

	/* What goes wrong: after so many events or seconds */
	void (*event)(void);
	uint32_t event_at;
	bool after_start;		/* of the command */
	double event_time;
	double patience;		/* seconds without progress that are no error */
};

struct play {
	struct plan plan;
	uint64_t sent[STREAMS], got[STREAMS];
	double last[STREAMS];		/* time of the last byte */
	bool eof[STREAMS];		/* the sink has seen the end */
	bool broken[STREAMS];		/* the source has no reader */
	int active;			/* coroutines of the command */
	void (*hostile)(void *arg);	/* runs instead of the other end */
	bool near_is_honest;
	struct proc *shell, *near, *far, *command;
	bool happened;
	double event_now;		/* when the event came */
};

extern struct play play;

void play_reset(uint64_t seed);		/* a random plan without trouble */
void play_run(void);

/* ends.c */
void ends_start(void);
void ends_start_far(void);		/* whose near end is hostile */
struct proc *ends_fork(struct proc *parent);

/* command.c */
uint8_t play_byte(enum stream s, uint64_t i);
void command_start(struct proc *p);
void sources_start(void);

/* waking.c: two threads that wake each other */
void waking_start(void);

/* scenarios.c */
struct scenario {
	const char *name;
	uint32_t runs;
	void (*prepare)(struct plan *p);
	void (*check)(void);
};

extern const struct scenario scenarios[];
extern const int n_scenarios;

#endif
