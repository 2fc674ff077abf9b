// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Exchange of parameters between two programs: lines of text over TCP.
 */
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tool.h"

static struct addrinfo *resolve(const char *host, const char *port, int flags)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
	struct addrinfo *list;
	char number[16];
	int err;

	if (!port) {
		snprintf(number, sizeof(number), "%d", XT_TCP_PORT);
		port = number;
	}
	err = getaddrinfo(host, port, &hints, &list);
	if (err)
		xt_die(XT_FAILED, "%s port %s: %s", host ? host : "*", port, gai_strerror(err));
	return list;
}

/* Splits HOST:PORT in place; the host may be empty. */
static const char *split_port(char *address)
{
	char *colon = strrchr(address, ':');

	if (!colon)
		return NULL;
	*colon = 0;
	return colon + 1;
}

int xt_listen(const char *address)
{
	char *copy = strdup(address ? address : "");
	const char *port = split_port(copy);
	struct addrinfo *ai = resolve(*copy ? copy : NULL, port, AI_PASSIVE);
	int fd, peer, one = 1;

	fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1))
		xt_die(XT_FAILED, "cannot listen on port %s: %s", port ? port : "(default)",
		       strerror(errno));
	peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (peer < 0)
		xt_die(XT_FAILED, "accept: %s", strerror(errno));
	close(fd);
	freeaddrinfo(ai);
	free(copy);
	return peer;
}

/* Retries for 10 seconds, because the peer may not listen yet. */
int xt_dial(const char *host, const char *port)
{
	struct addrinfo *ai = resolve(host, port, 0);
	double until = xt_now() + 10;
	int fd;

	for (;;) {
		fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
		if (fd >= 0 && !connect(fd, ai->ai_addr, ai->ai_addrlen))
			break;
		if (fd >= 0)
			close(fd);
		if (errno != ECONNREFUSED || xt_now() > until)
			xt_die(XT_FAILED, "cannot connect to %s: %s", host, strerror(errno));
		usleep(100000);
	}
	freeaddrinfo(ai);
	return fd;
}

void xt_send_line(int fd, const char *fmt, ...)
{
	char line[XT_LINE];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof(line) - 1)
		xt_die(XT_FAILED, "message to the peer is too long");
	line[n++] = '\n';
	if (send(fd, line, (size_t)n, MSG_NOSIGNAL) != n)
		xt_die(XT_FAILED, "connection to the peer lost: %s", strerror(errno));
}

void xt_recv_line(int fd, char line[XT_LINE])
{
	size_t n = 0;

	for (;;) {
		if (xt_read(fd, &line[n], 1) != 1 || n == XT_LINE - 1)
			xt_die(XT_FAILED, "connection to the peer lost");
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = 0;
}

void xt_send_peer(int fd, const struct xt_peer *p, uint64_t addr, uint32_t rkey)
{
	char gid[33];
	int i;

	for (i = 0; i < 16; i++)
		sprintf(gid + 2 * i, "%02x", p->gid.raw[i]);
	xt_send_line(fd, "peer %x %x %x %u %x %s %llx %x", p->qpn, p->psn, p->lid, p->mtu, p->srqn,
		     gid, (unsigned long long)addr, rkey);
}

void xt_recv_peer(int fd, struct xt_peer *p, uint64_t *addr, uint32_t *rkey)
{
	unsigned long long a;
	char line[XT_LINE], gid[33];
	unsigned int byte;
	int i;

	xt_recv_line(fd, line);
	if (sscanf(line, "peer %x %x %x %u %x %32s %llx %x", &p->qpn, &p->psn, &p->lid, &p->mtu,
		   &p->srqn, gid, &a, rkey) != 8 || strlen(gid) != 32)
		xt_die(XT_FAILED, "unexpected message from the peer: \"%s\"", line);
	for (i = 0; i < 16; i++) {
		if (sscanf(gid + 2 * i, "%2x", &byte) != 1)
			xt_die(XT_FAILED, "bad GID from the peer: %s", gid);
		p->gid.raw[i] = (uint8_t)byte;
	}
	*addr = a;
}
