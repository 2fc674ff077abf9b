// SPDX-License-Identifier: GPL-2.0
/*
 * Two devices with two InfiniBand ports each: every port reaches every other one, a
 * queue pair belongs to one port, ports have states and events of their own, and a
 * connection migrates from port to port.
 *
 * PORT_EVENT in the environment is the file in which xhca takes events for the ports
 * of --device, as "down 1"; without it no state changes.
 */
#include <poll.h>
#include <unistd.h>
#include "rig.h"

enum { LEN = 4096, GRH = 40, QKEY = 0x1234, GROUP_LID = 0xc001 };

static struct rig r;
static struct rig_opts opts = { .size = 65536, .depth = 16,
	.rc = { .timeout = 10, .retry_cnt = 2 } };
static struct xt_side at[2][3];		/* by side and port number */
static uint32_t round_no;

static void open_on(uint32_t port0, uint32_t port1)
{
	opts.port[0] = port0;
	opts.port[1] = port1;
	rig_open(&r, &opts);
}

/* Sends a message from this side and checks the received data. */
static bool transfer(int side)
{
	struct xv_sge from = rig_sge(&r, side, 0, LEN);

	rig_fill(r.buf[side], LEN, ++round_no);
	if (xv_wr_write(r.qp[side], round_no, XV_SEND_SIGNALED, &from, rig_addr(&r, !side, LEN),
			r.mr[!side]->rkey))
		bail_out("send queue full");
	xv_commit_send(r.qp[side]);
	return rig_expect(r.cq[side], round_no, XV_WC_SUCCESS) &&
	       rig_check(r.buf[!side] + LEN, LEN, round_no);
}

static struct xv_qp_attr query(int side)
{
	struct xv_qp_attr a;

	if (xv_query_qp(r.qp[side], &a, 0, NULL))
		bail_out("%s", xv_last_error());
	return a;
}

/* ---- Ports and tables -------------------------------------------------------------------- */

static void find_ports(void)
{
	struct xv_device_attr dev;
	struct xv_context *ctx;
	uint32_t port;
	int side;

	for (side = 0; side < 2; side++) {
		ctx = xv_open(rig_device(side));
		if (!ctx || xv_query_device(ctx, &dev))
			bail_out("%s", xv_last_error());
		xv_close(ctx);
		if (dev.phys_port_cnt < 2)
			tap_skip_all("%s has one port", rig_device(side));
		for (port = 1; port <= 2; port++)
			if (xt_side_open(&at[side][port], rig_device(side), port, 0))
				bail_out("%s", xv_last_error());
		if (at[side][1].attr.link_layer != XV_LINK_LAYER_INFINIBAND)
			tap_skip_all("%s is no InfiniBand device", rig_device(side));
	}
}

static bool differ(const struct xt_side *a, const struct xt_side *b)
{
	return a->attr.lid != b->attr.lid && memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

static void test_queries(void)
{
	const struct xt_side *all[4] = { &at[0][1], &at[0][2], &at[1][1], &at[1][2] };
	struct xv_port_attr attr;
	union xv_gid gid;
	uint16_t pkey;
	int i, j;

	for (i = 0; i < 4; i++)
		ok(all[i]->attr.state == XV_PORT_ACTIVE && all[i]->attr.lid,
		   "port %u of %s: active",
		   all[i]->port, rig_device(i / 2));
	for (i = 0; i < 4; i++)
		for (j = i + 1; j < 4; j++)
			ok(differ(all[i], all[j]), "LIDs %#x and %#x: two ports",
			   all[i]->attr.lid, all[j]->attr.lid);
	ok(!xv_query_pkey(at[0][2].ctx, 2, 0, &pkey) && pkey == 0xffff, "port 2 has a P_Key");
	ok(xv_query_port(at[0][1].ctx, 3, &attr) < 0 && xv_query_port(at[0][1].ctx, 0, &attr) < 0 &&
	   xv_query_gid(at[0][1].ctx, 3, 0, &gid) < 0, "ports 0 and 3 do not exist");
}

/* ---- Connections -------------------------------------------------------------------------- */

static void test_pairs(void)
{
	uint32_t p, q;

	for (p = 1; p <= 2; p++)
		for (q = 1; q <= 2; q++) {
			open_on(p, q);
			ok(transfer(0) && transfer(1), "port %u to port %u: data both ways", p, q);
			ok(query(0).port_num == p && query(1).port_num == q,
			   "query: ports %u and %u", p, q);
			rig_close(&r);
		}
}

/* The destination LID belongs to the other port of the peer. */
static void test_wrong_port(void)
{
	struct xv_sge from;
	struct xt_side other;

	open_on(1, 1);
	other = r.side[1];
	r.side[1].attr.lid = at[1][2].attr.lid;
	rig_reconnect(&r, &opts);
	from = rig_sge(&r, 0, 0, LEN);
	xv_wr_write(r.qp[0], 7, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, LEN), r.mr[1]->rkey);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 7, XV_WC_RETRY_EXC_ERR),
	   "a QP does not respond on the other port");
	r.side[1] = other;
	rig_close(&r);
}

static void test_refusals(void)
{
	struct xv_qp_init_attr init = { .send_cq = r.cq[0], .recv_cq = r.cq[0],
		.qp_type = XV_QPT_RC, .cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = 3 };
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &init);

	ok(qp && xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
			      XV_QP_ACCESS_FLAGS) < 0, "port 3: %s", xv_last_error());
	if (qp)
		xv_destroy_qp(qp);
}

/* ---- Datagrams ------------------------------------------------------------------------------ */

static struct xv_qp *make_ud(int side, uint32_t port)
{
	struct xv_qp_init_attr init = { .send_cq = r.cq[side], .recv_cq = r.cq[side],
		.qp_type = XV_QPT_UD, .cap = { .max_send_wr = 8, .max_recv_wr = 8,
					       .max_send_sge = 1, .max_recv_sge = 1 } };
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = (uint8_t)port, .qkey = QKEY };
	struct xv_qp *qp = xv_create_qp(r.side[side].pd, &init);
	int err;

	if (!qp)
		bail_out("%s", xv_last_error());
	err = xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY);
	a.qp_state = XV_QPS_RTR;
	if (!err)
		err = xv_modify_qp(qp, &a, XV_QP_STATE);
	a.qp_state = XV_QPS_RTS;
	if (err || xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_SQ_PSN))
		bail_out("%s", xv_last_error());
	return qp;
}

static struct xv_ah *make_ah(uint32_t port, uint16_t lid, const union xv_gid *gid)
{
	struct xv_ah_attr a = { .dlid = lid, .port_num = (uint8_t)port, .is_global = 1,
		.grh = { .dgid = *gid, .hop_limit = 64 } };
	struct xv_ah *ah = xv_create_ah(r.side[0].pd, &a);

	if (!ah)
		bail_out("%s", xv_last_error());
	return ah;
}

static void post_recv(struct xv_qp *qp, uint64_t wr_id, size_t offset)
{
	struct xv_sge to = rig_sge(&r, 1, offset, GRH + 64);

	xv_wr_recv(qp, wr_id, &to);
	xv_commit_recv(qp);
}

static void send_ud(struct xv_qp *qp, struct xv_ah *ah, uint32_t qpn)
{
	struct xv_sge from = rig_sge(&r, 0, 0, 64);

	rig_fill(r.buf[0], 64, ++round_no);
	xv_wr_send_ud(qp, round_no, XV_SEND_SIGNALED, &from, ah, qpn, QKEY);
	xv_commit_send(qp);
	if (!rig_expect(r.cq[0], round_no, XV_WC_SUCCESS))
		diag("the datagram was not sent");
}

static void test_datagrams(void)
{
	struct xv_qp *from = make_ud(0, 2), *to = make_ud(1, 2);
	struct xv_ah *right = make_ah(2, at[1][2].attr.lid, &at[1][2].gid);
	struct xv_ah *wrong = make_ah(2, at[1][1].attr.lid, &at[1][1].gid);
	struct xv_wc wc;

	post_recv(to, 4, LEN);
	send_ud(from, wrong, to->qp_num);
	usleep(50000);
	ok(!xv_poll_cq(r.cq[1], 1, &wc), "a datagram to the other port is dropped");
	send_ud(from, right, to->qp_num);
	ok(rig_poll(r.cq[1], 1, &wc) == 1 && !wc.status && wc.wr_id == 4 &&
	   wc.slid == at[0][2].attr.lid && rig_check(r.buf[1] + LEN + GRH, 64, round_no) &&
	   !memcmp(((struct xv_grh *)(r.buf[1] + LEN))->sgid.raw, at[0][2].gid.raw, 16),
	   "a datagram to its own port arrives, with the LID of the source port");
	xv_destroy_ah(right);
	xv_destroy_ah(wrong);
	xv_destroy_qp(from);
	xv_destroy_qp(to);
}

/* One member on each port of a device; each receives one copy. */
static void test_multicast(void)
{
	const union xv_gid group = { .raw = { 0xff, 0x0e, [15] = 9 } };
	struct xv_qp *from = make_ud(0, 1), *to[2] = { make_ud(1, 1), make_ud(1, 2) };
	struct xv_ah *ah = make_ah(1, GROUP_LID, &group);
	uint64_t seen = 0;
	struct xv_wc wc;
	int i;

	for (i = 0; i < 2; i++) {
		if (xv_attach_mcast(to[i], &group, GROUP_LID))
			bail_out("%s", xv_last_error());
		post_recv(to[i], 1 << i, LEN + (size_t)i * 256);
	}
	send_ud(from, ah, 0xffffff);
	for (i = 0; i < 2 && rig_poll(r.cq[1], 1, &wc) == 1 && !wc.status; i++)
		seen |= wc.wr_id;
	usleep(20000);
	ok(seen == 3 && !xv_poll_cq(r.cq[1], 1, &wc) &&
	   rig_check(r.buf[1] + LEN + GRH, 64, round_no) &&
	   rig_check(r.buf[1] + LEN + 256 + GRH, 64, round_no),
	   "multicast: a member on each port, each receives once");
	xv_destroy_ah(ah);
	xv_destroy_qp(from);
	xv_destroy_qp(to[0]);
	xv_destroy_qp(to[1]);
}

/* ---- States and events ------------------------------------------------------------------ */

static void set_port(const char *line)
{
	FILE *f = fopen(getenv("PORT_EVENT"), "w");

	if (!f || fputs(line, f) < 0 || fclose(f))
		bail_out("cannot write \"%s\" to %s", line, getenv("PORT_EVENT"));
}

static bool raised(enum xv_event_type type, uint32_t port)
{
	struct xv_context *ctx = r.side[0].ctx;
	struct pollfd p = { .fd = ctx->fd, .events = POLLIN };
	struct xv_async_event event;

	while (poll(&p, 1, 5000) == 1) {
		if (xv_get_async_event(ctx, &event))
			bail_out("%s", xv_last_error());
		xv_ack_async_event(&event);
		if (event.event_type == type)
			return event.element.port_num == port;
		diag("%s", xv_event_type_str(event.event_type));
	}
	return false;
}

static enum xv_port_state state_of(uint32_t port)
{
	struct xv_port_attr attr;

	if (xv_query_port(r.side[0].ctx, port, &attr))
		bail_out("%s", xv_last_error());
	return attr.state;
}

/* The P_Key is in network byte order, as that of ibv_query_pkey(). */
static void test_pkey(uint32_t port)
{
	uint8_t got[2] = { 0 }, other[2] = { 0 };
	uint16_t pkey;
	char line[32];

	snprintf(line, sizeof(line), "pkey %u 0x9234", port);
	set_port(line);
	ok(raised(XV_EVENT_PKEY_CHANGE, port), "port %u: another P_Key", port);
	if (!xv_query_pkey(r.side[0].ctx, port, 0, &pkey))
		memcpy(got, &pkey, sizeof(got));
	if (!xv_query_pkey(r.side[0].ctx, 3 - port, 0, &pkey))
		memcpy(other, &pkey, sizeof(other));
	ok(got[0] == 0x92 && got[1] == 0x34, "a query returns it: %02x %02x", got[0], got[1]);
	ok(other[0] == 0xff && other[1] == 0xff, "the other port keeps its P_Key");
	snprintf(line, sizeof(line), "pkey %u 0xffff", port);
	set_port(line);
	ok(raised(XV_EVENT_PKEY_CHANGE, port), "port %u: the first P_Key again", port);
}

static void test_states(uint32_t port)
{
	uint32_t other = 3 - port;
	char line[32];

	open_on(other, other);
	snprintf(line, sizeof(line), "down %u", port);
	set_port(line);
	ok(raised(XV_EVENT_PORT_ERR, port) && state_of(port) == XV_PORT_DOWN &&
	   state_of(other) == XV_PORT_ACTIVE, "port %u goes down, port %u does not", port, other);
	ok(transfer(0) && transfer(1), "port %u: data both ways", other);
	snprintf(line, sizeof(line), "active %u", port);
	set_port(line);
	ok(raised(XV_EVENT_PORT_ACTIVE, port) && state_of(port) == XV_PORT_ACTIVE,
	   "port %u is active again", port);
	snprintf(line, sizeof(line), "lid %u", port);
	set_port(line);
	ok(raised(XV_EVENT_LID_CHANGE, port), "a LID event of port %u", port);
	snprintf(line, sizeof(line), "pkey %u", port);
	set_port(line);
	ok(raised(XV_EVENT_PKEY_CHANGE, port), "a P_Key event of port %u", port);
	test_pkey(port);
	snprintf(line, sizeof(line), "client_reregister %u", port);
	set_port(line);
	ok(raised(XV_EVENT_CLIENT_REREGISTER, port), "port %u asks to register again", port);
	rig_close(&r);
}

/* ---- Migration -------------------------------------------------------------------------- */

static void load(int side)
{
	struct xv_qp_attr a = {
		.alt_ah_attr = { .dlid = at[!side][2].attr.lid, .port_num = 2 },
		.alt_port_num = 2,
		.alt_timeout = 11,
		.path_mig_state = XV_MIG_REARM,
	};

	if (xv_modify_qp(r.qp[side], &a, XV_QP_ALT_PATH | XV_QP_PATH_MIG_STATE))
		bail_out("%s", xv_last_error());
}

/* The connection migrates from ports 1 to ports 2 when a port 1 goes down. */
static void test_migration(int sender)
{
	double until = xt_now() + 20;
	bool good;

	open_on(1, 1);
	load(0);
	load(1);
	ok(transfer(0) && query(0).path_mig_state == XV_MIG_ARMED &&
	   query(1).path_mig_state == XV_MIG_ARMED, "port 2 is the alternate path: armed");
	set_port("down 1");
	good = transfer(sender);
	while (good && query(sender).path_mig_state == XV_MIG_ARMED && xt_now() < until)
		good = transfer(sender);
	ok(good && query(0).path_mig_state == XV_MIG_MIGRATED &&
	   query(1).path_mig_state == XV_MIG_MIGRATED,
	   "port 1 goes down while side %d sends: both sides have migrated", sender);
	ok(query(0).port_num == 2 && query(1).port_num == 2, "query: both sides use port 2");
	ok(transfer(0) && transfer(1), "data both ways");
	set_port("active 1");
	ok(transfer(0) && transfer(1), "port 1 is active again: no migration");
	rig_close(&r);
}

int main(int argc, char **argv)
{
	int side, port;

	rig_devices(argc, argv);
	find_ports();
	test_queries();
	test_pairs();
	test_wrong_port();
	open_on(1, 1);
	test_refusals();
	test_datagrams();
	test_multicast();
	rig_close(&r);
	if (getenv("PORT_EVENT")) {
		test_states(1);
		test_states(2);
		test_migration(0);
		test_migration(1);
	}
	for (side = 0; side < 2; side++)
		for (port = 1; port <= 2; port++)
			xt_side_close(&at[side][port]);
	return tap_done();
}
