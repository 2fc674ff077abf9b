// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Send, receive, RDMA read and RDMA write on a connection of rdma_cm.  The messages are those
 * of rping of the rdmacm-utils, so rping -C 10 can be the other side:
 *
 *	client sends the address of a text	server reads the text and answers
 *	client sends another address		server writes the text there and answers
 *
 * usage: cm_ping [-p PORT] [HOST]
 */
#include <endian.h>
#include "cm_common.h"

enum { ROUNDS = 10, SIZE = 64 };

struct advert {
	uint64_t addr;			/* all big-endian */
	uint32_t rkey;
	uint32_t size;
};

static struct {
	struct advert in;
	struct advert out;
	char text[SIZE];
	char copy[SIZE];
} buf;

static struct side s;
static struct xv_qp *qp;

/* Waits for a message, and posts the next receive. */
static struct advert receive(void)
{
	struct advert advert;

	wait_for(s.cq, XV_WC_RECV);
	advert = buf.in;
	post_receive(qp, &s, &buf.in, sizeof(buf.in));
	return advert;
}

static void advertise(const char *text)
{
	buf.out = (struct advert) {
		.addr = htobe64((uintptr_t)text),
		.rkey = htobe32(s.mr->rkey),
		.size = htobe32(SIZE),
	};
	post_send(qp, &s, &buf.out, sizeof(buf.out));
	receive();
}

static void client(int round)
{
	int n = snprintf(buf.text, SIZE, "round %d: ", round);

	memset(buf.text + n, 'A' + round, (size_t)(SIZE - n - 1));
	advertise(buf.text);
	advertise(buf.copy);
	if (memcmp(buf.text, buf.copy, SIZE))
		errx(1, "sent \"%s\", received \"%s\"", buf.text, buf.copy);
}

static void server(void)
{
	struct xv_sge sge = { (uintptr_t)buf.copy, SIZE, s.mr->lkey };
	struct advert from = receive(), to;

	if (be32toh(from.size) != SIZE)
		errx(1, "the client has a text of %u bytes", be32toh(from.size));
	CHECK(!xv_wr_read(qp, 0, XV_SEND_SIGNALED, &sge, be64toh(from.addr), be32toh(from.rkey)));
	xv_commit_send(qp);
	wait_for(s.cq, XV_WC_RDMA_READ);
	post_send(qp, &s, &buf.out, sizeof(buf.out));
	to = receive();
	CHECK(!xv_wr_write(qp, 0, XV_SEND_SIGNALED, &sge, be64toh(to.addr), be32toh(to.rkey)));
	post_send(qp, &s, &buf.out, sizeof(buf.out));
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener, *id;
	int i;

	parse(argc, argv);
	listener = opt.host ? NULL : listen_all();
	id = next_id(listener);
	open_side(&s, id, &buf, sizeof(buf));
	qp = qp_for(id, &s, XV_QPT_RC, NULL);
	post_receive(qp, &s, &buf.in, sizeof(buf.in));
	connect_or_accept(id, qp, NULL);
	for (i = 0; i < ROUNDS; i++) {
		if (opt.host)
			client(i);
		else
			server();
	}
	printf("%s: %d rounds, the last: \"%s\"\n", opt.host ? "client" : "server", ROUNDS,
	       buf.copy);
	CM(!xv_cm_disconnect(id, qp));
	close_side(&s);
	RDMA(rdma_destroy_id(id));
	if (listener)
		RDMA(rdma_destroy_id(listener));
	return 0;
}
