/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of rdma_cm have in common: options, resolving addresses, errors.
 */
#ifndef TESTS_STOCK_RDMA_H
#define TESTS_STOCK_RDMA_H

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_verbs.h>

#define UNUSED	__attribute__((unused))

/* Exits if a call does not return 0. */
#define DO(call)	do { if (call) err(1, "%s", #call); } while (0)

static struct {
	bool server;			/* -s */
	char *address;			/* -a: of the server */
	char *port;			/* -p */
	char *bind;			/* -b: own address */
	char *group;			/* -m: of the multicast group */
} opt = { .port = "18515" };

static UNUSED void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "sa:p:b:m:")) != -1) {
		switch (c) {
		case 's': opt.server = true; break;
		case 'a': opt.address = optarg; break;
		case 'p': opt.port = optarg; break;
		case 'b': opt.bind = optarg; break;
		case 'm': opt.group = optarg; break;
		default: exit(2);
		}
	}
}

static UNUSED struct rdma_addrinfo *resolve(const char *address, const char *port, int flags,
					    int space)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = space }, *found;

	DO(rdma_getaddrinfo(address, port, &hints, &found));
	return found;
}

static UNUSED void good(const struct ibv_wc *wc)
{
	if (wc->status)
		errx(1, "%s", ibv_wc_status_str(wc->status));
}

#endif
