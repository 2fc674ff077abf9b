// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A client (--client) sends a text to a server, writes it to the server's memory or reads it from
 * there.  Both must be told the same operation.  They exchange their addresses by TCP, as lines of
 * text, and wait for each other there.
 */
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <sys/socket.h>
#include <doca_log.h>
#include "common.h"

enum operation { SEND, WRITE, READ, OPERATIONS };

static const char *const names[] = { [SEND] = "send", [WRITE] = "write", [READ] = "read" };

static struct {
	struct device device;
	enum operation operation;
	const char *server;		/* NULL: this is the server */
	const char *port, *text;
} o = { .port = "18515", .text = "Hi DOCA Verbs!" };

/* ---- Options ----------------------------------------------------------------------------- */

static doca_error_t set_server(void *param, void *config)
{
	(void)config;
	o.server = param;
	return DOCA_SUCCESS;
}

static doca_error_t set_port(void *param, void *config)
{
	(void)config;
	o.port = param;
	return DOCA_SUCCESS;
}

static doca_error_t set_text(void *param, void *config)
{
	(void)config;
	o.text = param;
	return strlen(param) < SLOT_SIZE ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG;
}

static doca_error_t set_operation(void *param, void *config)
{
	int i;

	(void)config;
	for (i = SEND; i < OPERATIONS; i++) {
		if (!strcasecmp(param, names[i])) {
			o.operation = i;
			return DOCA_SUCCESS;
		}
	}
	return DOCA_ERROR_INVALID_VALUE;
}

static void parse(int argc, char **argv)
{
	CHECK(doca_argp_init(NULL, &o));
	add_device_options("gid");
	add_option("c", "client", "Run as client of the server on this host",
		   DOCA_ARGP_TYPE_STRING, set_server);
	add_option("p", "port", "TCP port, default 18515", DOCA_ARGP_TYPE_STRING, set_port);
	add_option("ro", "rdma-oper-type", "Send (default), Write or Read", DOCA_ARGP_TYPE_STRING,
		   set_operation);
	add_option("t", "text", "Text to transfer", DOCA_ARGP_TYPE_STRING, set_text);
	check(doca_argp_start(argc, argv), "arguments");
}

/* ---- TCP --------------------------------------------------------------------------------- */

static int accept_one(int fd, const struct addrinfo *at)
{
	int one = 1, peer;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, 1))
		return -1;
	peer = accept(fd, NULL, NULL);
	close(fd);
	return peer;
}

/* Returns a stream for reading.  The program writes to the descriptor of the stream. */
static FILE *open_peer(void)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM,
				  .ai_family = o.server ? AF_UNSPEC : AF_INET6 };
	struct addrinfo *at;
	FILE *peer = NULL;
	int fd;

	if (getaddrinfo(o.server, o.port, &hints, &at))
		fail("address", "not found");
	fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
	if (!o.server)
		fd = accept_one(fd, at);
	else if (connect(fd, at->ai_addr, at->ai_addrlen))
		fail("connect()", "no connection with the server");
	freeaddrinfo(at);
	if (fd >= 0)
		peer = fdopen(fd, "r");
	if (!peer)
		fail("TCP", "no connection");
	return peer;
}

static struct address exchange(FILE *peer, const struct address *own)
{
	struct address a = { .qpn = 0 };
	unsigned int operation;
	int i;

	dprintf(fileno(peer), "%x %x %x %x %x %" PRIx64, o.operation, own->qpn, own->psn,
		own->lid, own->rkey, own->memory);
	for (i = 0; i < DOCA_GID_BYTE_LENGTH; i++)
		dprintf(fileno(peer), " %x", own->gid.raw[i]);
	dprintf(fileno(peer), "\n");
	if (fscanf(peer, "%x %x %x %x %x %" SCNx64, &operation, &a.qpn, &a.psn, &a.lid, &a.rkey,
		   &a.memory) != 6)
		fail("peer", "no address");
	for (i = 0; i < DOCA_GID_BYTE_LENGTH; i++)
		if (fscanf(peer, "%hhx", &a.gid.raw[i]) != 1)
			fail("peer", "no GID");
	if (operation != o.operation)
		fail("peer", "it has another operation");
	return a;
}

/* Returns when the peer has called this function, too. */
static void meet(FILE *peer)
{
	char word[8];

	dprintf(fileno(peer), "here\n");
	if (fscanf(peer, "%7s", word) != 1)
		fail("peer", "it has ended");
}

/* ---- Roles ------------------------------------------------------------------------------- */

static void serve(struct device *d, struct doca_verbs_cq *cq, FILE *peer)
{
	if (o.operation == SEND)
		printf("received %u bytes: %.*s\n", next_completion(cq).byte_len, SLOT_SIZE,
		       d->memory[0]);
	meet(peer);
	if (o.operation == WRITE)
		printf("the client has written: %.*s\n", SLOT_SIZE, d->memory[0]);
}

static void request(struct device *d, struct doca_verbs_qp *qp, struct doca_verbs_cq *cq,
		    const struct address *server, FILE *peer)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[SEND] = IBV_WR_SEND, [WRITE] = IBV_WR_RDMA_WRITE, [READ] = IBV_WR_RDMA_READ,
	};
	uint32_t size = o.operation == READ ? SLOT_SIZE : (uint32_t)strlen(o.text) + 1;

	post_send(d, qp, 1, opcodes[o.operation], 0, size, o.operation == SEND ? NULL : server);
	next_completion(cq);
	printf("%s: %.*s\n", names[o.operation], SLOT_SIZE, d->memory[0]);
	meet(peer);
}

int main(int argc, char **argv)
{
	struct device *d = &o.device;
	struct address own, remote;
	struct doca_verbs_cq *cq;
	struct doca_verbs_qp *qp;
	FILE *peer;

	CHECK(doca_log_backend_create_standard());
	parse(argc, argv);
	peer = open_peer();
	open_device(d);
	cq = create_cq(d);
	qp = create_qp(d, cq, false);
	own = get_address(d, qp);
	remote = exchange(peer, &own);
	connect_qp(d, qp, &own, &remote);
	if (!o.server == (o.operation == READ))
		strcpy(d->memory[0], o.text);
	if (!o.server && o.operation == SEND)
		post_receive(d, qp, 1, 0);
	meet(peer);
	if (o.server)
		request(d, qp, cq, &remote, peer);
	else
		serve(d, cq, peer);
	fclose(peer);
	CHECK(doca_verbs_qp_destroy(qp));
	CHECK(doca_verbs_cq_destroy(cq));
	close_device(d);
	CHECK(doca_argp_destroy());
	return 0;
}
