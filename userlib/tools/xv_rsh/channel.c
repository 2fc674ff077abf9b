// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "channel.h"
#include "tool.h"

struct head {
	uint32_t type;
	uint32_t length;
};

enum { START_SIZE = 64 << 10 };

static void nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void channel_open(struct channel *c, int in, int out)
{
	*c = (struct channel) {
		.in = in,
		.out = out,
		.rx = xt_calloc(1, START_SIZE),
		.rx_size = START_SIZE,
		.tx = xt_calloc(1, START_SIZE),
		.tx_size = START_SIZE,
	};
	nonblocking(in);
	nonblocking(out);
}

static void grow(uint8_t **buf, size_t *size, size_t wanted)
{
	if (wanted <= *size)
		return;
	while (*size < wanted)
		*size *= 2;
	*buf = realloc(*buf, *size);
	if (!*buf)
		xt_die(XT_FAILED, "out of memory");
}

/* ---- Receiving ------------------------------------------------------------------ */

void channel_read(struct channel *c)
{
	ssize_t n;

	grow(&c->rx, &c->rx_size, c->rx_len + 4096);
	do
		n = read(c->in, c->rx + c->rx_len, c->rx_size - c->rx_len);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		c->rx_len += (size_t)n;
	else if (!n || errno != EAGAIN)
		c->closed = true;
}

static void drop(struct channel *c, size_t length)
{
	c->rx_len -= length;
	memmove(c->rx, c->rx + length, c->rx_len);
}

bool channel_next(struct channel *c, struct message *m)
{
	struct head h;

	drop(c, c->rx_used);
	c->rx_used = 0;
	if (c->bad || c->rx_len < sizeof(h))
		return false;
	memcpy(&h, c->rx, sizeof(h));
	if (h.length > CHANNEL_MAX) {
		c->bad = true;
		return false;
	}
	grow(&c->rx, &c->rx_size, sizeof(h) + h.length);
	if (c->rx_len < sizeof(h) + h.length)
		return false;
	*m = (struct message) { h.type, h.length, c->rx + sizeof(h) };
	c->rx_used = sizeof(h) + h.length;
	return true;
}

/* ---- Sending -------------------------------------------------------------------- */

static void append(struct channel *c, const void *data, size_t length)
{
	grow(&c->tx, &c->tx_size, c->tx_len + length);
	if (length)
		memcpy(c->tx + c->tx_len, data, length);
	c->tx_len += length;
}

void channel_flush(struct channel *c)
{
	ssize_t n;

	while (c->tx_len) {
		n = write(c->out, c->tx, c->tx_len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			/* Reading finds the end, behind what the peer said last. */
			c->tx_len = 0;
			return;
		}
		c->tx_len -= (size_t)n;
		memmove(c->tx, c->tx + n, c->tx_len);
	}
}

void channel_send2(struct channel *c, enum message_type type, const void *head, size_t head_length,
		   const void *data, size_t length)
{
	const struct head h = { type, (uint32_t)(head_length + length) };

	append(c, &h, sizeof(h));
	append(c, head, head_length);
	append(c, data, length);
	channel_flush(c);
}

void channel_send(struct channel *c, enum message_type type, const void *data, size_t length)
{
	channel_send2(c, type, NULL, 0, data, length);
}

void channel_text(struct channel *c, enum message_type type, const char *text)
{
	channel_send(c, type, text, strlen(text));
}

/* ---- Before and after the session --------------------------------------------------------- */

static int left_of(double until)
{
	double left = 1000 * (until - xt_now());

	return left > 0 ? (int)left + 1 : 0;
}

/* Waits until something was read; returns false on timeout or end. */
static bool wait_bytes(struct channel *c, int milliseconds)
{
	struct pollfd p[] = {
		{ c->in, POLLIN, 0 },
		{ channel_pending(c) ? c->out : -1, POLLOUT, 0 },
	};

	if (c->closed || c->bad || (!poll(p, 2, milliseconds) && milliseconds >= 0))
		return false;
	if (p[1].revents)
		channel_flush(c);
	if (p[0].revents)
		channel_read(c);
	return true;
}

void channel_drain(struct channel *c, int milliseconds)
{
	struct pollfd p = { c->out, POLLOUT, 0 };
	double until = xt_now() + 1e-3 * milliseconds;

	while (channel_pending(c) && !c->closed && poll(&p, 1, left_of(until)) > 0)
		channel_flush(c);
}

bool channel_wait(struct channel *c, struct message *m, int milliseconds)
{
	double until = xt_now() + 1e-3 * milliseconds;

	while (!channel_next(c, m))
		if (!wait_bytes(c, milliseconds < 0 ? -1 : left_of(until)))
			return channel_next(c, m);
	return true;
}

void channel_greet(struct channel *c)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "\n" CHANNEL_GREETING "%d %s\n", CHANNEL_PROTOCOL,
			 XV_VERSION);

	append(c, line, (size_t)n);
	channel_flush(c);
}

/* Parses a line; what is not the greeting has protocol 0. */
static uint32_t parse_greeting(const char *line, char version[32])
{
	unsigned int protocol;

	return sscanf(line, CHANNEL_GREETING "%u %31[0-9A-Za-z.+~-]", &protocol, version) == 2 ?
	       protocol : 0;
}

uint32_t channel_greeted(struct channel *c, char version[32])
{
	size_t skipped = 0, length;
	uint32_t protocol = 0;
	char line[80];
	uint8_t *end;

	while (!protocol && skipped < CHANNEL_NOISE) {
		end = memchr(c->rx, '\n', c->rx_len);
		if (!end && c->rx_len < START_SIZE) {
			if (!wait_bytes(c, -1))
				break;
			continue;
		}
		length = end ? (size_t)(end - c->rx) + 1 : c->rx_len;
		snprintf(line, sizeof(line), "%.*s", (int)(length - 1), (char *)c->rx);
		protocol = parse_greeting(line, version);
		drop(c, length);
		skipped += length;
	}
	return protocol;
}
