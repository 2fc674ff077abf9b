// SPDX-License-Identifier: GPL-2.0
/*
 * usage: rdma_calls ADDRESS
 *
 * The calls of chapters 4 and 5 of the RDMA Aware Networks Programming User Manual that other
 * programs here and in rdma-core do not use: addresses, devices, options, migration of ids, and
 * the shorthands for posting.  Both ends are in one process, at one address; a thread accepts.
 */
#include <pthread.h>
#include "rdma.h"
#include "tap.h"

enum { BYTES = 4096, HEADER = 40 };	/* of a datagram */

static char mem[2][2 * BYTES];		/* of each end: source, then destination */
static struct rdma_cm_id *listener, *end[2];
static struct ibv_mr *mr[2];
static char *address;

static void need(bool good, const char *what)
{
	if (!good)
		bail_out("%s: %s", what, strerror(errno));
}
#define NEED(good)	need(good, #good)

/* ---- Connections ------------------------------------------------------------------------- */

static void *accept_one(void *arg)
{
	NEED(!rdma_get_request(listener, &end[1]));
	NEED(!rdma_accept(end[1], NULL));
	return arg;
}

static struct ibv_qp_init_attr qp_attr(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr) {
		.qp_type = type, .sq_sig_all = 1,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2,
			 .max_recv_sge = 2, .max_inline_data = 64 },
	};
}

static void connect_ends(int space, enum ibv_qp_type type, char *port)
{
	struct ibv_qp_init_attr passive = qp_attr(type), active = qp_attr(type);
	struct rdma_addrinfo *from = resolve(address, port, RAI_PASSIVE, space),
			     *to = resolve(address, port, 0, space);
	pthread_t thread;
	int i;

	NEED(!rdma_create_ep(&listener, from, NULL, &passive));
	NEED(!rdma_listen(listener, 1));
	NEED(!pthread_create(&thread, NULL, accept_one, NULL));
	NEED(!rdma_create_ep(&end[0], to, NULL, &active));
	ok(!rdma_connect(end[0], NULL), "rdma_connect");
	NEED(!pthread_join(thread, NULL));
	rdma_freeaddrinfo(from);
	rdma_freeaddrinfo(to);
	for (i = 0; i < 2; i++) {
		mr[i] = rdma_reg_msgs(end[i], mem[i], sizeof(mem[i]));
		NEED(mr[i]);
	}
}

/* Returns when the other end has answered. */
static void *disconnect(void *id)
{
	rdma_disconnect(id);
	return NULL;
}

static void destroy_ends(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		NEED(!rdma_dereg_mr(mr[i]));
		rdma_destroy_ep(end[i]);
	}
	rdma_destroy_ep(listener);
}

static void disconnect_ends(void)
{
	pthread_t thread;

	NEED(!pthread_create(&thread, NULL, disconnect, end[1]));
	disconnect(end[0]);
	NEED(!pthread_join(thread, NULL));
	destroy_ends();
}

/* ---- Data ----------------------------------------------------------------------------------- */

static void fill(int seed)
{
	int i;

	for (i = 0; i < BYTES; i++)
		mem[0][i] = (char)(i * 31 + seed + (i >> 8));
	memset(mem[1], 0, sizeof(mem[1]));
}

static bool sent(int e)
{
	struct ibv_wc wc;

	return rdma_get_send_comp(end[e], &wc) == 1 && !wc.status;
}

static bool received(uint32_t length)
{
	struct ibv_wc wc;

	return rdma_get_recv_comp(end[1], &wc) == 1 && !wc.status && wc.byte_len == length &&
	       wc.wr_id == (uintptr_t)mem;
}

static struct ibv_sge part(int e, int offset, uint32_t length)
{
	return (struct ibv_sge) { (uintptr_t)mem[e] + (uintptr_t)offset, length, mr[e]->lkey };
}

static void messages(void)
{
	struct ibv_sge to[2] = { part(1, 0, 1000), part(1, 2000, 1000) };
	struct ibv_sge from[2] = { part(0, 0, 700), part(0, 3000, 800) };

	fill(1);
	NEED(!rdma_post_recv(end[1], mem, mem[1], BYTES, mr[1]));
	ok(!rdma_post_send(end[0], NULL, mem[0], 3000, mr[0], 0) && sent(0) && received(3000) &&
	   !memcmp(mem[0], mem[1], 3000), "rdma_post_send, rdma_post_recv");
	fill(2);
	NEED(!rdma_post_recv(end[1], mem, mem[1], BYTES, mr[1]));
	ok(!rdma_post_send(end[0], NULL, mem[0], 60, NULL, IBV_SEND_INLINE) && sent(0) &&
	   received(60) && !memcmp(mem[0], mem[1], 60), "rdma_post_send of inline data");
	fill(3);
	NEED(!rdma_post_recvv(end[1], mem, to, 2));
	ok(!rdma_post_sendv(end[0], NULL, from, 2, 0) && sent(0) && received(1500) &&
	   !memcmp(mem[0], mem[1], 700) && !memcmp(mem[0] + 3000, mem[1] + 700, 300) &&
	   !memcmp(mem[0] + 3300, mem[1] + 2000, 500) && !mem[1][1000] && !mem[1][2500],
	   "rdma_post_sendv, rdma_post_recvv");
}

static void remote_memory(void)
{
	struct ibv_mr *writable = rdma_reg_write(end[1], mem[1], BYTES);
	struct ibv_mr *readable = rdma_reg_read(end[1], mem[1], BYTES);
	struct ibv_sge from[2] = { part(0, 0, 100), part(0, 1000, 200) };
	struct ibv_sge to[2] = { part(0, BYTES, 100), part(0, BYTES + 1000, 200) };
	uint64_t there = (uintptr_t)mem[1];
	char *back = mem[0] + BYTES;

	NEED(writable && readable);
	fill(4);
	ok(!rdma_post_write(end[0], NULL, mem[0], BYTES, mr[0], 0, there, writable->rkey) &&
	   sent(0) && !memcmp(mem[0], mem[1], BYTES), "rdma_reg_write, rdma_post_write");
	memset(back, 0, BYTES);
	ok(!rdma_post_read(end[0], NULL, back, BYTES, mr[0], 0, there, readable->rkey) &&
	   sent(0) && !memcmp(mem[0], back, BYTES), "rdma_reg_read, rdma_post_read");
	memset(back, 0, BYTES);
	ok(!rdma_post_readv(end[0], NULL, to, 2, 0, there, readable->rkey) && sent(0) &&
	   !memcmp(mem[0], back, 100) && !memcmp(mem[0] + 100, back + 1000, 200) && !back[100],
	   "rdma_post_readv");
	fill(5);
	ok(!rdma_post_writev(end[0], NULL, from, 2, 0, there, writable->rkey) && sent(0) &&
	   !memcmp(mem[0], mem[1], 100) && !memcmp(mem[0] + 1000, mem[1] + 100, 200) &&
	   !mem[1][300], "rdma_post_writev");
	NEED(!rdma_dereg_mr(writable) && !rdma_dereg_mr(readable));
}

static void datagrams(void)
{
	struct ibv_ah *ah;

	connect_ends(RDMA_PS_UDP, IBV_QPT_UD, "7482");
	ah = ibv_create_ah(end[0]->pd, &end[0]->event->param.ud.ah_attr);
	NEED(ah);
	fill(6);
	NEED(!rdma_post_recv(end[1], mem, mem[1], BYTES, mr[1]));
	ok(!rdma_post_ud_send(end[0], NULL, mem[0], 1000, mr[0], 0, ah,
			      end[0]->event->param.ud.qp_num) && sent(0) &&
	   received(HEADER + 1000) && !memcmp(mem[0], mem[1] + HEADER, 1000), "rdma_post_ud_send");
	NEED(!ibv_destroy_ah(ah));
	destroy_ends();
}

/* ---- Ids -------------------------------------------------------------------------------- */

static bool is_address(const struct sockaddr *sa)
{
	const struct sockaddr_in *in = (const void *)sa;
	char text[INET_ADDRSTRLEN];

	return sa->sa_family == AF_INET &&
	       inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)) && !strcmp(text, address);
}

static void addresses(void)
{
	uint16_t port = htons(7481);

	ok(rdma_get_src_port(listener) == port && rdma_get_src_port(end[1]) == port &&
	   rdma_get_dst_port(end[0]) == port && rdma_get_src_port(end[0]) &&
	   rdma_get_dst_port(end[1]) == rdma_get_src_port(end[0]), "ports of both ends");
	ok(is_address(rdma_get_local_addr(end[0])) && is_address(rdma_get_peer_addr(end[0])) &&
	   is_address(rdma_get_local_addr(end[1])) && is_address(rdma_get_peer_addr(end[1])),
	   "addresses of both ends");
}

static void devices(void)
{
	struct ibv_context **list;
	int i, n, found = 0;

	list = rdma_get_devices(&n);
	NEED(list);
	for (i = 0; i < n; i++)
		found += list[i] == end[0]->verbs;
	ok(found == 1 && !list[n], "rdma_get_devices has the device of the connection");
	rdma_free_devices(list);
}

/* The next event of a channel */
static int next_event(struct rdma_event_channel *channel, const struct rdma_cm_id *id)
{
	struct rdma_cm_event *e;
	int type;

	if (rdma_get_cm_event(channel, &e))
		return -1;
	type = e->id == id ? (int)e->event : -2;
	rdma_ack_cm_event(e);
	return type;
}

static void ids(void)
{
	struct rdma_event_channel *first = rdma_create_event_channel(),
				  *second = rdma_create_event_channel();
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7) };
	uint8_t tos = 0x20;
	int on = 1;
	struct rdma_cm_id *id;

	NEED(first && second && inet_pton(AF_INET, address, &to.sin_addr) == 1);
	NEED(!rdma_create_id(first, &id, &tos, RDMA_PS_TCP));
	ok(!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) &&
	   !rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)),
	   "rdma_set_option");
	errno = 0;
	ok(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &on, sizeof(on)) == -1 &&
	   errno == EINVAL, "rdma_set_option: a wrong size");
	ok(!rdma_migrate_id(id, second) && id->channel == second, "rdma_migrate_id");
	ok(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000) &&
	   next_event(second, id) == RDMA_CM_EVENT_ADDR_RESOLVED,
	   "the event comes on the new channel");
	ok(!rdma_resolve_route(id, 2000) &&
	   next_event(second, id) == RDMA_CM_EVENT_ROUTE_RESOLVED, "the next one, too");
	NEED(!rdma_destroy_id(id));
	rdma_destroy_event_channel(second);
	rdma_destroy_event_channel(first);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		bail_out("usage: rdma_calls ADDRESS");
	address = argv[1];
	connect_ends(RDMA_PS_TCP, IBV_QPT_RC, "7481");
	errno = 0;
	ok(rdma_notify(end[1], IBV_EVENT_COMM_EST) == -1 && errno == EISCONN,
	   "rdma_notify: the connection is established");
	addresses();
	devices();
	messages();
	remote_memory();
	disconnect_ends();
	datagrams();
	ids();
	return tap_done();
}
