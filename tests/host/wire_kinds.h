/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds of messages on wires of several kinds.  Each kind begins with new hosts.
 */
#ifndef WIRE_KINDS_H
#define WIRE_KINDS_H

#include <stdlib.h>
#include <string.h>
#include "random.h"
#include "tap.h"
#include "wire_link.h"

struct wire_kind {
	const char *name;
	u32 per_mille[WIRE_FAULTS];
	u64 delay;			/* 0: that of wire_init() */
	u32 least;			/* UC: messages of a hundred that arrive */
};

/* What a test does */
struct wire_rounds {
	struct wire *w;
	void (*start)(u64 seed);
	bool (*round)(void);		/* true: all messages are as they must be */
	bool (*enough)(const struct wire_kind *kind, u32 rounds);	/* or NULL */
	void (*end)(void);
};

static void wire_test_kind(const struct wire_rounds *r, const struct wire_kind *kind, u64 seed,
			   u32 rounds)
{
	struct wire *w = r->w;
	u32 good = 0, n;

	r->start(seed);
	memcpy(w->per_mille, kind->per_mille, sizeof(w->per_mille));
	if (kind->delay)
		w->delay = kind->delay;
	for (n = 0; n < rounds; n++)
		good += r->round();
	wire_ok(w, good == rounds, "%s: %u of %u rounds are good, %u frames, %u lost", kind->name,
		good, rounds, w->sent, w->lost);
	if (r->enough)
		wire_ok(w, r->enough(kind, rounds), "enough messages arrive");
	ok(!w->bad && session_turns_bounded(&w->s[0]) && session_turns_bounded(&w->s[1]),
	   "all frames are packets, no turn is above the limits");
	r->end();
}

/* More rounds, with other random numbers: PROGRAM ROUNDS SEED */
static void wire_test_kinds(int argc, char **argv, const struct wire_rounds *r,
			    const struct wire_kind *kind, u32 n)
{
	u32 rounds = argc > 1 ? atoi(argv[1]) : 10, seed = argc > 2 ? atoi(argv[2]) : 1, i;

	for (i = 0; i < seed; i++)
		random64();
	for (i = 0; i < n; i++)
		wire_test_kind(r, &kind[i], seed + i, rounds);
}

#endif
