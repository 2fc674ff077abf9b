/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hostile process with a user context, for the fuzzer of commands.
 *
 * The driver of Linux passes commands of a process on with its uid, and makes them name UMEMs
 * instead of page lists.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "session.h"

#define HOSTILE_PAGES	4u		/* of its UMEM */
#define HOSTILE_RECORD	(3 * HCA_PAGE_SIZE)	/* where the valid commands have records */

/* Its user context and objects on one function */
struct hostile {
	u32 uid;
	u32 umem, pd, uar, eqn, cqn, qpn, udqpn, srqn;	/* eqn: shared */
	u64 memory;			/* of the UMEM */
};

/* Creates the context, its PD, page and UMEM, and an EQ for all. */
void hostile_begin(struct session *s, int func, struct hostile *h);
/* Makes a command its own.  False: the driver does not pass such a command on. */
bool hostile_command(const struct hostile *h, u16 opcode, u8 *in);
/*
 * A checksum of all objects that the process does not own; of all objects if @h is NULL.  A test
 * compares the values before and after a command.
 */
u64 hostile_others(struct session *s, int func, const struct hostile *h);
/* Is all memory that its objects use in its UMEMs? */
bool hostile_memory_good(struct session *s, int func, const struct hostile *h);

#endif
