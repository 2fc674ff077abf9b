// SPDX-License-Identifier: GPL-2.0
/*
 * libxvcm: connections of rdma_cm for native queue pairs, the events of rdma_cm (Manual 6.3),
 * and calls in a wrong state or order.
 *
 * usage: cm ADDRESS [NETNS]		all tests
 *	  cm removal ADDRESS PCI	removes the device PCI, which has the address
 *	  cm change ADDRESS COMMAND	the command changes the hardware address of ADDRESS
 */
#include <time.h>
#include "cm.h"

/* ---- Data --------------------------------------------------------------- */

static bool flushed(int i, int n)
{
	struct xv_wc wc;

	while (n && received(i, &wc, XV_WC_WR_FLUSH_ERR))
		n--;
	return !n;
}

static bool check(const uint8_t *p, uint32_t seed)
{
	for (size_t i = 0; i < LEN; i++)
		if (p[i] != (uint8_t)(i * 31 + seed * 17 + (i >> 8)))
			return false;
	return true;
}

/* Sends LEN bytes from side i and compares them on the other side. */
static bool message(const struct conn *c, int i, uint32_t seed)
{
	struct xv_sge from = sge(i, 0, LEN);
	struct xv_wc wc;

	receive(!i, c->qp[!i], LEN, LEN);
	fill(side[i].buf, seed);
	if (xv_wr_send(c->qp[i], 1, XV_SEND_SIGNALED, &from))
		return false;
	xv_commit_send(c->qp[i]);
	return sent(i, XV_WC_SUCCESS) && received(!i, &wc, XV_WC_SUCCESS) &&
	       wc.opcode == XV_WC_RECV && wc.byte_len == LEN && check(side[!i].buf + LEN, seed);
}

/* Writes LEN bytes to the other side and reads them back. */
static bool write_and_read(const struct conn *c, int i, uint32_t seed)
{
	uint64_t there = (uintptr_t)side[!i].buf + LEN;
	struct xv_sge from = sge(i, 0, LEN), to = sge(i, 2 * LEN, LEN);

	fill(side[i].buf, seed);
	if (xv_wr_write(c->qp[i], 1, XV_SEND_SIGNALED, &from, there, side[!i].mr->rkey) ||
	    xv_wr_read(c->qp[i], 2, XV_SEND_SIGNALED, &to, there, side[!i].mr->rkey))
		return false;
	xv_commit_send(c->qp[i]);
	return sent(i, XV_WC_SUCCESS) && sent(i, XV_WC_SUCCESS) &&
	       check(side[!i].buf + LEN, seed) && check(side[i].buf + 2 * LEN, seed);
}

/* ---- Connections -------------------------------------------------------- */

/* Side 1 asks; side 0 has the request with its private data. */
static bool request(struct conn *c)
{
	struct rdma_conn_param ask = with(to_server, sizeof(to_server));
	struct rdma_cm_event *event;
	bool good;

	c->id[1] = route(RDMA_PS_TCP, PORT);
	c->qp[1] = ready_qp(1, c->id[1], XV_QPT_RC);
	if (xv_cm_connect(c->id[1], c->qp[1], &ask)) {
		diag("%s", xv_cm_last_error());
		return false;
	}
	event = next(0, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event)
		return false;
	good = event->listen_id == listener[0] &&
	       event->param.conn.qp_num == c->qp[1]->qp_num &&
	       event->param.conn.initiator_depth == 4 &&
	       has(event->param.conn.private_data, event->param.conn.private_data_len, to_server,
		   sizeof(to_server));
	c->id[0] = event->id;
	rdma_ack_cm_event(event);
	c->qp[0] = ready_qp(0, c->id[0], XV_QPT_RC);
	return good;
}

static bool accepted(struct conn *c)
{
	struct rdma_conn_param answer = with(to_client, sizeof(to_client));

	return !xv_cm_accept(c->id[0], c->qp[0], &answer);
}

/* Side 1 has the response with its private data. */
static bool answered(const struct conn *c)
{
	struct rdma_cm_event *event = next(1, RDMA_CM_EVENT_CONNECT_RESPONSE);
	bool good;

	if (!event)
		return false;
	good = event->param.conn.qp_num == c->qp[0]->qp_num &&
	       has(event->param.conn.private_data, event->param.conn.private_data_len, to_client,
		   sizeof(to_client));
	rdma_ack_cm_event(event);
	return good;
}

static bool established(struct conn *c)
{
	if (!xv_cm_establish(c->id[1], c->qp[1]))
		return event_of(0, RDMA_CM_EVENT_ESTABLISHED);
	diag("%s", xv_cm_last_error());
	return false;
}

static void connect_both(struct conn *c)
{
	if (!request(c) || !accepted(c) || !answered(c) || !established(c))
		bail_out("no connection: %s", xv_cm_last_error());
}

static bool disconnect(struct conn *c)
{
	return !xv_cm_disconnect(c->id[1], c->qp[1]) &&
	       event_of(0, RDMA_CM_EVENT_DISCONNECTED) &&
	       !xv_cm_disconnect(c->id[0], c->qp[0]) &&
	       event_of(1, RDMA_CM_EVENT_DISCONNECTED);
}

static void test_unbound(void)
{
	struct rdma_cm_id *id = new_id(0, RDMA_PS_TCP);
	struct xv_qp *qp = new_qp(0, XV_QPT_RC);

	errno = 0;
	ok(!xv_cm_open(id) && errno == EINVAL, "open: %s", xv_cm_last_error());
	ok(xv_cm_init_qp(id, qp) == -EINVAL, "init: %s", xv_cm_last_error());
	ok(xv_cm_connect(id, qp, NULL) == -EINVAL, "connect: %s", xv_cm_last_error());
	ok(xv_cm_accept(id, qp, NULL) == -EINVAL, "accept: %s", xv_cm_last_error());
	ok(xv_cm_establish(id, qp) == -EINVAL, "establish: %s", xv_cm_last_error());
	ok(xv_cm_disconnect(id, NULL) == -EINVAL, "disconnect: %s", xv_cm_last_error());
	xv_destroy_qp(qp);
	rdma_destroy_id(id);
}

static void test_connection(void)
{
	struct conn c = { 0 };
	struct xv_qp_attr a;

	ok(request(&c), "CONNECT_REQUEST: number of the queue pair, depth and private data");
	ok(accepted(&c), "accept with private data");
	ok(answered(&c), "CONNECT_RESPONSE: number of the queue pair and private data");
	ok(established(&c), "establish: ESTABLISHED on the passive side");
	ok(quiet(1), "and no event on the active side");
	ok(!xv_query_qp(c.qp[0], &a, 0, NULL) && a.qp_state == XV_QPS_RTS &&
	   a.dest_qp_num == c.qp[1]->qp_num && a.max_rd_atomic == 4 && a.max_dest_rd_atomic == 4,
	   "the accepted queue pair is in RTS and has the depths");
	ok(message(&c, 1, 1) && message(&c, 0, 2), "messages in both directions");
	ok(write_and_read(&c, 1, 3) && write_and_read(&c, 0, 4), "writes and reads");
	ok(xv_cm_establish(c.id[1], c.qp[1]) == -EINVAL, "establish twice: %s",
	   xv_cm_last_error());
	ok(xv_cm_accept(c.id[0], c.qp[0], NULL) == -EINVAL, "accept twice: %s",
	   xv_cm_last_error());
	ok(xv_cm_connect(c.id[1], c.qp[1], NULL) == -EINVAL, "connect twice: %s",
	   xv_cm_last_error());
	ok(message(&c, 1, 5), "the connection works still");
	for (int i = 0; i < 2; i++)
		for (size_t n = 0; n < MESSAGES; n++)
			receive(i, c.qp[i], n * LEN, LEN);
	ok(disconnect(&c), "disconnect: DISCONNECTED on both sides");
	ok(flushed(0, MESSAGES) && flushed(1, MESSAGES), "the receives of both sides are flushed");
	ok(event_of(1, RDMA_CM_EVENT_TIMEWAIT_EXIT), "TIMEWAIT_EXIT");
	release(&c);
}

static bool allows(struct xv_qp *qp, unsigned int access)
{
	struct xv_qp_attr a;

	return !xv_query_qp(qp, &a, 0, NULL) && a.qp_state == XV_QPS_RTS &&
	       a.qp_access_flags == access;
}

/* The peer may do what both rdma_cm and the program allow. */
static void test_access(void)
{
	const unsigned int all = XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ |
				 XV_ACCESS_REMOTE_ATOMIC;
	struct conn c = { 0 };

	connect_both(&c);
	ok(allows(c.qp[0], all) && allows(c.qp[1], all), "without restriction all is allowed");
	ok(disconnect(&c), "disconnect");
	release(&c);
	c = (struct conn) { 0 };
	ok(request(&c) && !xv_cm_accept_restricted(c.id[0], c.qp[0], NULL, 0) &&
	   allows(c.qp[0], 0), "the accepting side allows nothing");
	ok(event_of(1, RDMA_CM_EVENT_CONNECT_RESPONSE) &&
	   !xv_cm_establish_restricted(c.id[1], c.qp[1], XV_ACCESS_REMOTE_READ) &&
	   allows(c.qp[1], XV_ACCESS_REMOTE_READ), "the asking side allows reads");
	ok(event_of(0, RDMA_CM_EVENT_ESTABLISHED) && message(&c, 1, 1) && message(&c, 0, 2),
	   "messages in both directions");
	ok(disconnect(&c), "disconnect");
	release(&c);
}

/* Who disconnects first does not matter, nor that both do at once. */
static void test_passive_disconnect(void)
{
	struct conn c = { 0 };

	connect_both(&c);
	ok(!xv_cm_disconnect(c.id[0], c.qp[0]) && !xv_cm_disconnect(c.id[1], c.qp[1]) &&
	   event_of(0, RDMA_CM_EVENT_DISCONNECTED) && event_of(1, RDMA_CM_EVENT_DISCONNECTED),
	   "both sides disconnect");
	release(&c);
}

/* As xv_cm_establish(), but without the message to the peer */
static bool active_to_rts(const struct conn *c)
{
	static const enum ibv_qp_state state[] = { IBV_QPS_RTR, IBV_QPS_RTS };

	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr a = { .qp_state = state[i] };
		struct xv_qp_attr x = { 0 };
		int mask;

		if (rdma_init_qp_attr(c->id[1], &a, &mask))
			return false;
		/* Up to here both structures have the same members. */
		memcpy(&x, &a, offsetof(struct ibv_qp_attr, rate_limit));
		if (xv_modify_qp(c->qp[1], &x, (unsigned int)mask & (2 * XV_QP_DEST_QPN - 1))) {
			diag("%s", xv_last_error());
			return false;
		}
	}
	return true;
}

/* Data arrives although the message that establishes the connection does not. */
static void test_notify(void)
{
	struct conn c = { 0 };

	ok(request(&c) && accepted(&c) && answered(&c) && active_to_rts(&c),
	   "the active side goes to RTS and does not tell the peer");
	ok(message(&c, 1, 1) && quiet(0), "it sends; the passive side has no event ESTABLISHED");
	ok(!rdma_notify(c.id[0], IBV_EVENT_COMM_EST) && event_of(0, RDMA_CM_EVENT_ESTABLISHED),
	   "rdma_notify: ESTABLISHED");
	ok(!rdma_establish(c.id[1]) && quiet(0), "the late message makes no second event");
	ok(message(&c, 0, 2) && message(&c, 1, 3) && disconnect(&c), "the connection works");
	release(&c);
}

static void test_reject(void)
{
	struct rdma_cm_event *event;
	struct conn c = { 0 };

	ok(request(&c), "a request");
	receive(1, c.qp[1], 0, LEN);
	ok(!rdma_reject(c.id[0], to_client, sizeof(to_client)), "reject with private data");
	event = next(1, RDMA_CM_EVENT_REJECTED);
	ok(event && event->status == 28 &&
	   has(event->param.conn.private_data, event->param.conn.private_data_len, to_client,
	       sizeof(to_client)), "REJECTED: by the consumer, private data");
	if (event)
		rdma_ack_cm_event(event);
	ok(xv_cm_establish(c.id[1], c.qp[1]) < 0, "establish after that: %s", xv_cm_last_error());
	ok(flushed(1, 1), "and the receives are flushed");
	ok(xv_cm_accept(c.id[0], c.qp[0], NULL) == -EINVAL, "accept after reject: %s",
	   xv_cm_last_error());
	release(&c);

	c.id[1] = route(RDMA_PS_TCP, PORT + 50);
	c.qp[1] = ready_qp(1, c.id[1], XV_QPT_RC);
	ok(!xv_cm_connect(c.id[1], c.qp[1], NULL) && event_with(1, RDMA_CM_EVENT_REJECTED, 8),
	   "REJECTED: nobody listens on the port");
	release(&c);
}

/* ---- Wrong order -------------------------------------------------------- */

static void test_wrong_objects(void)
{
	struct rdma_cm_id *id = route(RDMA_PS_TCP, PORT);
	struct xv_qp *ud = new_qp(1, XV_QPT_UD), *elsewhere = new_qp(0, XV_QPT_RC);
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ADDR_RESOLVED, .id = id };
	struct xv_ah_attr attr;

	ok(xv_cm_init_qp(id, ud) == -EINVAL, "%s", xv_cm_last_error());
	if (netns)
		ok(xv_cm_connect(id, elsewhere, NULL) == -EINVAL, "%s", xv_cm_last_error());
	ok(xv_cm_ah_attr(&event, &attr) == -EINVAL, "%s", xv_cm_last_error());
	xv_destroy_qp(ud);
	xv_destroy_qp(elsewhere);
	rdma_destroy_id(id);
}

static void test_early_establish(void)
{
	struct conn c = { 0 };

	ok(request(&c) && xv_cm_establish(c.id[1], c.qp[1]) < 0,
	   "establish before the response: %s", xv_cm_last_error());
	release(&c);
}

/* The request is withdrawn before or while the other side accepts it. */
static void test_destroy_while_connecting(void)
{
	struct rdma_cm_event *event;
	struct conn c = { 0 };
	bool good;

	good = request(&c) && !rdma_destroy_id(c.id[1]);
	c.id[1] = NULL;
	if (good && !xv_cm_accept(c.id[0], c.qp[0], NULL)) {
		event = next(0, RDMA_CM_EVENT_REJECTED);
		good = event != NULL;
		if (event)
			rdma_ack_cm_event(event);
	}
	ok(good, "an id is destroyed while it connects: accept fails, or REJECTED follows");
	release(&c);
}

static void test_destroyed_qp(void)
{
	struct xv_sge from = sge(0, 0, LEN);
	struct conn c = { 0 };

	connect_both(&c);
	ok(!xv_destroy_qp(c.qp[1]), "a queue pair is destroyed before the disconnection");
	c.qp[1] = NULL;
	ok(!xv_wr_send(c.qp[0], 1, XV_SEND_SIGNALED, &from), "the other side sends");
	xv_commit_send(c.qp[0]);
	ok(sent(0, XV_WC_RETRY_EXC_ERR), "its retries are exceeded");
	ok(disconnect(&c), "disconnect without it: DISCONNECTED on both sides");
	release(&c);
}

/* Ids are destroyed while connected; the other side learns of it. */
static void test_destroyed_id(void)
{
	struct conn c = { 0 };

	connect_both(&c);
	ok(!rdma_destroy_id(c.id[1]) && event_of(0, RDMA_CM_EVENT_DISCONNECTED),
	   "an id is destroyed without a disconnection: DISCONNECTED on the other side");
	c.id[1] = NULL;
	release(&c);
}

/* An id with a queue pair of libibverbs, which was moved to the error state */
static void test_connect_error(void)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct rdma_cm_event *event;
	struct conn c = { 0 };
	struct xv_qp *qp = new_qp(1, XV_QPT_RC);

	c.id[1] = route(RDMA_PS_TCP, PORT);
	if (rdma_create_qp(c.id[1], NULL, &attr) || rdma_connect(c.id[1], NULL))
		bail_out("rdma_connect: %s", strerror(errno));
	ok(xv_cm_connect(c.id[1], qp, NULL) == -EINVAL, "%s", xv_cm_last_error());
	xv_destroy_qp(qp);
	event = next(0, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event)
		bail_out("no request");
	c.id[0] = event->id;
	rdma_ack_cm_event(event);
	c.qp[0] = ready_qp(0, c.id[0], XV_QPT_RC);
	ok(!ibv_modify_qp(c.id[1]->qp, &error, IBV_QP_STATE) && accepted(&c),
	   "a queue pair of libibverbs is in the error state when its request is accepted");
	event = next(1, RDMA_CM_EVENT_CONNECT_ERROR);
	ok(event && event->status, "CONNECT_ERROR");
	if (event)
		rdma_ack_cm_event(event);
	rdma_destroy_qp(c.id[1]);
	rdma_destroy_id(c.id[1]);
	c.id[1] = NULL;
	event = next(0, RDMA_CM_EVENT_REJECTED);
	ok(event != NULL, "REJECTED on the side that accepted");
	if (event)
		rdma_ack_cm_event(event);
	release(&c);
}

/* An id without an event channel */
static void test_synchronous(void)
{
	struct rdma_event_channel *channel = side[1].channel;
	struct conn c = { 0 };
	struct rdma_cm_id *id;

	side[1].channel = NULL;
	id = new_id(1, RDMA_PS_TCP);
	side[1].channel = channel;
	ok(!rdma_resolve_addr(id, NULL, address(server, PORT + 50), 5000) &&
	   !rdma_resolve_route(id, 5000), "an id without an event channel");
	c.id[1] = id;
	c.qp[1] = ready_qp(1, id, XV_QPT_RC);
	ok(xv_cm_connect(id, c.qp[1], NULL) == -ECONNREFUSED &&
	   id->event->event == RDMA_CM_EVENT_REJECTED, "connect without a listener: %s",
	   xv_cm_last_error());
	release(&c);
}

/* ---- Events of the network ---------------------------------------------- */

static void test_no_host(void)
{
	struct rdma_cm_id *id = new_id(1, RDMA_PS_TCP);
	struct rdma_cm_event *event;
	char nobody[32];

	snprintf(nobody, sizeof(nobody), "%.*s.199", (int)(strrchr(server, '.') - server), server);
	rdma_resolve_addr(id, NULL, address(nobody, PORT), 300);
	event = next(1, RDMA_CM_EVENT_ADDR_ERROR);
	ok(event && event->status < 0, "ADDR_ERROR: no host has the address");
	if (event)
		rdma_ack_cm_event(event);
	rdma_destroy_id(id);
}

/* Changes the hardware address of the server for side 1, or restores it. */
static bool set_neighbour(bool wrong)
{
	char line[256];

	snprintf(line, sizeof(line), "ip -n %s neigh show %s | { read -r _ _ dev _ mac _; "
		 "ip -n %s neigh %s %s dev $dev %s; }", netns, server, netns,
		 wrong ? "replace" : "delete", server, wrong ? "lladdr ${mac%??}ee" : "");
	return run(line);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/*
 * Returns the seconds that ib_core needs to resolve an unknown neighbour.  If the ARP reply
 * arrives before ib_core has queued its request, ib_core sees the reply only at the timeout.
 */
static double resolve_unknown(void)
{
	struct rdma_cm_id *id;
	double start, took;

	if (!set_neighbour(false))
		bail_out("cannot delete the neighbour");
	start = seconds();
	id = route(RDMA_PS_TCP, PORT);
	took = seconds() - start;
	diag("%.1f s", took);
	rdma_destroy_id(id);
	return took;
}

static void test_neighbour(void)
{
	struct rdma_cm_id *id;
	int tries = 3;

	if (!netns || !is_ethernet(1)) {
		tap_skip("a peer with another MAC address", "needs Ethernet and two namespaces");
		return;
	}
	id = route(RDMA_PS_TCP, PORT);
	ok(set_neighbour(true) && event_with(1, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT),
	   "UNREACHABLE: the peer has another MAC address");
	rdma_destroy_id(id);
	while (tries && resolve_unknown() >= 2.5)
		tries--;
	ok(tries, "ARP finds it before the timeout of 5 s");
}

/* On InfiniBand: the subnet has no port with the GID of the peer. */
static void test_no_path(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (!netns || is_ethernet(1)) {
		tap_skip("an address with a wrong GID", "needs InfiniBand and two namespaces");
		return;
	}
	id = new_id(1, RDMA_PS_TCP);
	ok(set_neighbour(true) && !rdma_resolve_addr(id, NULL, address(server, PORT), 5000) &&
	   event_of(1, RDMA_CM_EVENT_ADDR_RESOLVED) && !rdma_resolve_route(id, 5000),
	   "an address with a wrong GID");
	event = next(1, RDMA_CM_EVENT_ROUTE_ERROR);
	ok(event && event->status < 0, "ROUTE_ERROR");
	if (event)
		rdma_ack_cm_event(event);
	ok(set_neighbour(false), "the GID is restored");
	rdma_destroy_id(id);
}

static void test_removal(const char *pci)
{
	struct conn c = { 0 };
	char line[128];

	connect_both(&c);
	ok(message(&c, 1, 1), "a connection");
	snprintf(line, sizeof(line), "echo %s > /sys/bus/pci/drivers/mlx5_core/unbind", pci);
	ok(run(line), "the device is removed");
	ok(event_of(0, RDMA_CM_EVENT_DEVICE_REMOVAL) && event_of(0, RDMA_CM_EVENT_DEVICE_REMOVAL) &&
	   event_of(0, RDMA_CM_EVENT_DEVICE_REMOVAL),
	   "DEVICE_REMOVAL for the listeners and the accepted id");
	ok(event_of(1, RDMA_CM_EVENT_DEVICE_REMOVAL), "DEVICE_REMOVAL for the other id");
	ok(xv_cm_disconnect(c.id[1], c.qp[1]) < 0, "disconnect: %s", xv_cm_last_error());
	ok(xv_cm_init_qp(c.id[1], c.qp[1]) == -ENODEV, "init: %s", xv_cm_last_error());
	release(&c);
}

static void test_address_change(const char *command)
{
	ok(run(command) && event_of(0, RDMA_CM_EVENT_ADDR_CHANGE) &&
	   event_of(0, RDMA_CM_EVENT_ADDR_CHANGE),
	   "ADDR_CHANGE: the network device of both listeners has another hardware address");
}

static void test_all(void)
{
	test_unbound();
	test_connection();
	test_access();
	test_passive_disconnect();
	test_notify();
	test_reject();
	test_wrong_objects();
	test_early_establish();
	test_destroy_while_connecting();
	test_destroyed_qp();
	test_destroyed_id();
	test_connect_error();
	test_synchronous();
	test_no_host();
	test_neighbour();
	test_no_path();
}

int main(int argc, char **argv)
{
	const char *mode = argc == 4 ? argv[1] : NULL;

	if (argc < 2 || argc > 4)
		bail_out("usage: cm ADDRESS [NETNS] | cm removal|change ADDRESS ARGUMENT");
	open_sides(argv[mode ? 2 : 1], argc == 3 ? argv[2] : NULL);
	if (!mode)
		test_all();
	else if (!strcmp(mode, "removal"))
		test_removal(argv[3]);
	else
		test_address_change(argv[3]);
	close_sides();
	return tap_done();
}
