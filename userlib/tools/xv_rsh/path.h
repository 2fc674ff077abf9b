/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The choice of the two ports between which the data goes.  Each end offers its active ports.
 * The near end tries the pairs that may reach each other, the most similar addresses first, and
 * uses the first pair that exchanges a message.
 */
#ifndef XV_RSH_PATH_H
#define XV_RSH_PATH_H

#include "channel.h"
#include "pump.h"
#include "settings.h"
#include "wire.h"

enum { MAX_OFFERS = 32, TRY_MS = 2000, ANSWER_MS = 15000 };

struct try {
	uint32_t offer;			/* of the far end */
	uint32_t slots;			/* at most */
	struct xt_peer near;
};

struct offers {
	uint32_t n;
	struct offer offer[MAX_OFFERS];
	char why[256];			/* why there are no offers */
};

/* name: NAME or NAME:PORT, or empty: all devices */
void path_offers(struct offers *o, const char *name, int gid_index);

/*
 * Near end: tries the pairs one after the other.  If it returns true, the wire is connected, and
 * *near and *far are the offers in use.  Else why has a reason for each pair.
 */
bool path_choose(struct channel *c, const struct settings *s, struct pump *p,
		 const struct offers *own, struct offer *near, struct offer *far,
		 char *why, size_t size);

/*
 * Far end: answers until the near end says which pair it uses.  Returns false if the channel ends.
 * *rdma: a pair is used, and the wire is connected.
 */
bool path_serve(struct channel *c, const struct settings *s, struct pump *p,
		const struct offers *own, bool *rdma);

#endif
