// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Exchange of parameters between two programs: lines of text over TCP.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

/* Splits HOST:PORT or [HOST]:PORT in place; both may be absent.  An IPv6 address has colons. */
static char *split_port(char *address, const char **port)
{
	char *end = *address == '[' ? strchr(address, ']') : NULL;
	char *colon = strrchr(address, ':');

	*port = NULL;
	if (end) {
		*end = 0;
		*port = end[1] == ':' ? end + 2 : NULL;
		return address + 1;
	}
	if (colon && colon == strchr(address, ':')) {
		*colon = 0;
		*port = colon + 1;
	}
	return address;
}

/* A peer that is gone without a word is noticed after half a minute. */
static void keep_alive(int fd)
{
	const int one = 1, idle = 10, interval = 5, probes = 4;
	const unsigned int unanswered_ms = 30000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof(unanswered_ms));
}

/* The descriptor of a socket that listens on this address, or -1 with errno */
static int listen_on(const struct addrinfo *ai)
{
	const int one = 1, zero = 0;
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -1;
	/* "::" stands for the addresses of IPv4, too. */
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    !bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, 1))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Takes the first address that can be used, those of IPv6 first. */
static int listen_any(const struct addrinfo *list)
{
	const struct addrinfo *ai;
	int fd = -1, six;

	for (six = 1; fd < 0 && six >= 0; six--)
		for (ai = list; ai && fd < 0; ai = ai->ai_next)
			if ((ai->ai_family == AF_INET6) == six)
				fd = listen_on(ai);
	return fd;
}

int xt_listen(const char *address)
{
	char *copy = strdup(address ? address : ""), *host;
	struct addrinfo *list;
	const char *port;
	int fd, peer;

	host = split_port(copy, &port);
	list = resolve(*host ? host : NULL, port, AI_PASSIVE);
	fd = listen_any(list);
	if (fd < 0)
		xt_die(XT_FAILED, "cannot listen on port %s: %s", port ? port : "(default)",
		       strerror(errno));
	peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (peer < 0)
		xt_die(XT_FAILED, "accept: %s", strerror(errno));
	keep_alive(peer);
	close(fd);
	freeaddrinfo(list);
	free(copy);
	return peer;
}

/* Tries all addresses; returns -1 with errno, ECONNREFUSED if one of them may answer later. */
static int dial_any(const struct addrinfo *ai)
{
	int fd, err = 0;

	for (; ai; ai = ai->ai_next) {
		fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
		if (fd >= 0 && !connect(fd, ai->ai_addr, ai->ai_addrlen))
			return fd;
		if (err != ECONNREFUSED)
			err = errno;
		if (fd >= 0)
			close(fd);
	}
	errno = err;
	return -1;
}

/* Retries for 10 seconds, because the peer may not listen yet. */
int xt_dial(const char *address, const char *port)
{
	char *copy = strdup(address), *host;
	const char *own_port = NULL;
	double until = xt_now() + 10;
	struct addrinfo *list;
	int fd;

	host = port ? copy : split_port(copy, &own_port);
	list = resolve(host, port ? port : own_port, 0);
	while ((fd = dial_any(list)) < 0) {
		if (errno != ECONNREFUSED || xt_now() > until)
			xt_die(XT_FAILED, "cannot connect to %s: %s", host, strerror(errno));
		usleep(100000);
	}
	keep_alive(fd);
	freeaddrinfo(list);
	free(copy);
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
		if (n == XT_LINE - 1 || xt_read(fd, &line[n], 1) != 1)
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
