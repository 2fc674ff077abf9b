/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands as a driver gives them to the adapter: a slot of the command queue,
 * chains of mailboxes, a doorbell.  Something may be wrong in each of them; a model
 * that knows nothing of the adapter's sources says how delivery must end, and which
 * bytes of queue and mailboxes stay as they are.
 */
#ifndef CMD_QUEUE_H
#define CMD_QUEUE_H

#include "session.h"

#define CMD_QUEUE_IN	1024u		/* bytes of a command and of its answer, at most */
#define CMD_QUEUE_OUT	5120u

/* A field of the slot or of a mailbox that does not hold what it should */
struct flaw {
	u8 where, field, kind, value;
} __attribute__((packed));

/* Function 0 of the session gets a queue, and begins from nothing. */
void cmd_queue_attach(struct session *s);
/*
 * Runs a command, @way saying in which slot and how the doorbell rings.  False: with
 * these flaws there is no answer, or not where it should be.
 */
bool cmd_queue_exec(struct session *s, const void *in, u32 inlen, void *out, u32 outlen,
		    const struct flaw *flaws, unsigned int nflaws, u8 way);
/* Writes one of the initialization segment's registers. */
void cmd_queue_register(struct session *s, u8 which, u32 value);

#endif
