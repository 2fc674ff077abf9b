/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The channel between the ends: the pipe of ssh.  After a greeting in text, messages with type
 * and length go in both directions.  It never blocks.  What does not fit into the pipe stays in
 * memory; the senders limit how much that is.
 */
#ifndef XV_RSH_CHANNEL_H
#define XV_RSH_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANNEL_PROTOCOL	1
#define CHANNEL_GREETING	"XV_RSH "

enum {
	CHANNEL_MAX	= (1 << 20) + 64,	/* bytes in a message, at most */
	CHANNEL_NOISE	= 1 << 20,		/* bytes before the greeting, at most */
};

enum message_type {
	MSG_FAIL = 1,		/* text: why the sender ends */
	MSG_START,		/* near: struct settings and the command */
	MSG_OFFERS,		/* far: its ports */
	MSG_TRY,		/* near: struct try */
	MSG_TRIED,		/* far: struct xt_peer */
	MSG_REFUSED,		/* far: errno and text, instead of MSG_OFFERS or MSG_TRIED */
	MSG_NEXT,		/* near: this pair does not work */
	MSG_USE,		/* near: the command starts, with the pair that was tried last */
	MSG_LIFE,
	MSG_PAUSE,		/* near: no life signs until the next message */
	MSG_SIGNAL,		/* near: number of a signal for the command */
	MSG_ERRORS,		/* far: bytes of standard error; none at its end */
	MSG_ERRORS_TAKEN,	/* near: number of bytes written */
	MSG_TOTAL,		/* struct flow_total */
	MSG_FLOW,		/* a message of the flow, without RDMA */
	MSG_EXIT,		/* far: status as of waitpid() */
	MSG_BYE,		/* near: it has received MSG_EXIT */
};

struct message {
	uint32_t type;
	uint32_t length;
	const uint8_t *data;		/* valid until the next call */
};

struct channel {
	int in;
	int out;
	bool closed;			/* by the peer, or failed */
	bool bad;			/* got what is no message */
	uint8_t *rx;
	size_t rx_size, rx_len, rx_used;
	uint8_t *tx;
	size_t tx_size, tx_len;
};

void channel_open(struct channel *c, int in, int out);

/* Reads what is there; on the end of the channel sets closed. */
void channel_read(struct channel *c);

/* Takes a message from what was read; returns false if there is none. */
bool channel_next(struct channel *c, struct message *m);

void channel_send(struct channel *c, enum message_type type, const void *data, size_t length);
void channel_send2(struct channel *c, enum message_type type, const void *head, size_t head_length,
		   const void *data, size_t length);
void channel_text(struct channel *c, enum message_type type, const char *text);
void channel_flush(struct channel *c);

static inline bool channel_pending(const struct channel *c)
{
	return c->tx_len > 0;
}

/* ---- Before and after the session: these functions wait ---- */

/* milliseconds < 0: without a limit.  Returns false on timeout or end. */
bool channel_wait(struct channel *c, struct message *m, int milliseconds);

/* Waits until all messages are in the pipe, at most so long. */
void channel_drain(struct channel *c, int milliseconds);

void channel_greet(struct channel *c);

/*
 * Skips what precedes the greeting.  Returns the protocol of the peer and its version, or 0 if
 * none came.
 */
uint32_t channel_greeted(struct channel *c, char version[32]);

#endif
