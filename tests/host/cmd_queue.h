/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands through the command queue, as from a driver: a slot, chains of mailboxes, a
 * doorbell.  Each of them may have an error.  A model, which uses nothing of the adapter's
 * sources, predicts the delivery status and the bytes that must not change.
 */
#ifndef CMD_QUEUE_H
#define CMD_QUEUE_H

#include "session.h"

#define CMD_QUEUE_IN	1024u		/* bytes of input and of output, at most */
#define CMD_QUEUE_OUT	5120u

/* A wrong field of the slot or of a mailbox */
struct flaw {
	u8 where, field, kind, value;
} __attribute__((packed));

/* Sets the command queue of function 0, which resets the function. */
void cmd_queue_attach(struct session *s);
/*
 * Runs a command.  @way: the slot, and how the doorbell is rung.  False if there is no answer
 * because of the wrong fields.
 */
bool cmd_queue_exec(struct session *s, const void *in, u32 inlen, void *out, u32 outlen,
		    const struct flaw *flaws, unsigned int nflaws, u8 way);
/* Writes a register of the initialization segment. */
void cmd_queue_register(struct session *s, u8 which, u32 value);

#endif
