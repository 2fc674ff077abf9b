// SPDX-License-Identifier: GPL-2.0
/*
 * Path migration (Manual 8.1; InfiniBand specification, volume 1, 17.2.8): two sides
 * with an alternate path become armed, migrate on request or when the primary path
 * fails, report it in events and queries, and lose no data.
 */
#include <net/if.h>
#include <poll.h>
#include <unistd.h>
#include "rig.h"

enum { LEN = 4096, RETRIES = 2, LABEL = 0x1234 };

static const char *const state_names[] = { "migrated", "rearm", "armed" };

static struct rig r;
static const struct rig_opts opts = { .size = 65536, .depth = 16,
	.rc = { .timeout = 10, .retry_cnt = RETRIES } };
static uint32_t round_no;

/* The path to a GID of the other side */
static struct xv_ah_attr path_to(int side, const union xv_gid *dgid, uint32_t dlid)
{
	const struct xt_side *me = &r.side[side];

	return (struct xv_ah_attr) {
		.dlid = (uint16_t)dlid,
		.port_num = (uint8_t)me->port,
		.is_global = 1,
		.grh = { .dgid = *dgid, .sgid_index = (uint8_t)me->gid_index, .hop_limit = 64,
			 .flow_label = LABEL },
	};
}

static int ask(int side, enum xv_mig_state state)
{
	struct xv_qp_attr a = { .path_mig_state = state };

	return xv_modify_qp(r.qp[side], &a, XV_QP_PATH_MIG_STATE);
}

/* Loads an alternate path to the port of side to, and sets REARM. */
static void load(int side, int to)
{
	struct xv_qp_attr a = {
		.alt_ah_attr = path_to(side, &r.side[to].gid, r.side[to].attr.lid),
		.alt_port_num = (uint8_t)r.side[side].port,
		.alt_timeout = 11,
		.path_mig_state = XV_MIG_REARM,
	};

	if (xv_modify_qp(r.qp[side], &a, XV_QP_ALT_PATH | XV_QP_PATH_MIG_STATE))
		bail_out("%s", xv_last_error());
}

static struct xv_qp_attr query(int side)
{
	struct xv_qp_attr a;

	if (xv_query_qp(r.qp[side], &a, 0, NULL))
		bail_out("%s", xv_last_error());
	return a;
}

static bool in(int side, enum xv_mig_state state)
{
	enum xv_mig_state now = query(side).path_mig_state;

	if (now != state)
		diag("side %d: %s, expected: %s", side, state_names[now], state_names[state]);
	return now == state;
}

/* ---- Events ------------------------------------------------------------ */

/* Reads the next QP event; skips port and GID events. */
static bool next_event(int side, struct xv_async_event *event, int ms)
{
	struct pollfd p = { .fd = r.side[side].ctx->fd, .events = POLLIN };

	while (poll(&p, 1, ms) == 1) {
		if (xv_get_async_event(r.side[side].ctx, event))
			bail_out("%s", xv_last_error());
		xv_ack_async_event(event);
		if (event->event_type == XV_EVENT_PATH_MIG ||
		    event->event_type == XV_EVENT_PATH_MIG_ERR)
			return true;
		diag("side %d: %s", side, xv_event_type_str(event->event_type));
	}
	return false;
}

static bool raised(int side, enum xv_event_type type)
{
	struct xv_async_event event;

	if (next_event(side, &event, 5000) && event.event_type == type &&
	    event.element.qp == r.qp[side])
		return true;
	diag("side %d: expected: %s", side, xv_event_type_str(type));
	return false;
}

static bool quiet(int side)
{
	struct xv_async_event event;

	return !next_event(side, &event, 50);
}

/* ---- Data -------------------------------------------------------------- */

static void post(int side)
{
	struct xv_sge from = rig_sge(&r, side, 0, LEN);

	rig_fill(r.buf[side], LEN, ++round_no);
	if (xv_wr_write(r.qp[side], round_no, XV_SEND_SIGNALED, &from, rig_addr(&r, !side, LEN),
			r.mr[!side]->rkey))
		bail_out("send queue full");
	xv_commit_send(r.qp[side]);
}

/* Sends a message from this side and checks the received data. */
static bool transfer(int side)
{
	post(side);
	return rig_expect(r.cq[side], round_no, XV_WC_SUCCESS) &&
	       rig_check(r.buf[!side] + LEN, LEN, round_no);
}

static void arm(void)
{
	load(0, 1);
	load(1, 0);
	ok(transfer(0) && in(0, XV_MIG_ARMED) && in(1, XV_MIG_ARMED),
	   "both sides in REARM: the next message arms both");
}

/* ---- Tests ------------------------------------------------------------- */

static void test_requests(void)
{
	ok(in(0, XV_MIG_MIGRATED), "initial state after connecting: MIGRATED");
	ok(ask(0, XV_MIG_REARM) == -EINVAL && strstr(xv_last_error(), "alternate path"),
	   "REARM without an alternate path: %s", xv_last_error());
	ok(ask(0, XV_MIG_ARMED) == -EINVAL && strstr(xv_last_error(), "path_mig_state"),
	   "modify to ARMED: %s", xv_last_error());
	ok(!ask(0, XV_MIG_MIGRATED) && in(0, XV_MIG_MIGRATED),
	   "modify to the current state MIGRATED");
	load(0, 1);
	ok(transfer(0) && transfer(1) && in(0, XV_MIG_REARM) && in(1, XV_MIG_MIGRATED),
	   "only one side in REARM: it stays in REARM");
	ok(ask(0, XV_MIG_MIGRATED) == -EREMOTEIO && in(0, XV_MIG_REARM),
	   "MIGRATED from REARM is refused: %s", xv_last_error());
	arm();
	ok(ask(0, XV_MIG_REARM) == -EREMOTEIO && in(0, XV_MIG_ARMED),
	   "REARM from ARMED is refused: %s", xv_last_error());
	ok(quiet(0) && quiet(1), "no events");
}

/* The previous test has armed both sides. */
static void test_software(int sender)
{
	struct xv_qp_attr a = query(0), b;

	ok(a.alt_timeout == 11 && a.alt_ah_attr.grh.flow_label == LABEL && a.timeout == 10,
	   "query: alternate path");
	ok(!ask(0, XV_MIG_MIGRATED) && raised(0, XV_EVENT_PATH_MIG) && in(0, XV_MIG_MIGRATED),
	   "software migrates: event");
	ok(in(1, XV_MIG_ARMED) && quiet(1), "the other side is still ARMED");
	ok(transfer(sender) && raised(1, XV_EVENT_PATH_MIG) && in(1, XV_MIG_MIGRATED),
	   "the next message, from side %d, makes it migrate", sender);
	b = query(0);
	ok(b.timeout == 11 && b.ah_attr.grh.flow_label == LABEL &&
	   !memcmp(&b.ah_attr.grh.dgid, &a.alt_ah_attr.grh.dgid, sizeof(union xv_gid)),
	   "query: the alternate path is now the primary path");
	ok(!b.alt_port_num && ask(0, XV_MIG_REARM) == -EINVAL, "query: no alternate path");
	ok(transfer(0) && transfer(1) && quiet(0) && quiet(1), "messages in both directions");
}

/* The alternate path of side 1 leads to itself, so it cannot follow. */
static void test_failed(void)
{
	if (!strcmp(rig_device(0), rig_device(1))) {
		tap_skip("a path that the other side cannot follow", "needs two devices");
		return;
	}
	load(0, 1);
	load(1, 1);
	ok(transfer(0) && in(0, XV_MIG_ARMED), "both sides armed, with paths that do not match");
	ok(!ask(0, XV_MIG_MIGRATED) && raised(0, XV_EVENT_PATH_MIG), "software migrates");
	post(0);
	ok(rig_expect(r.cq[0], round_no, XV_WC_RETRY_EXC_ERR) && raised(1, XV_EVENT_PATH_MIG_ERR) &&
	   in(1, XV_MIG_ARMED), "the other side cannot follow: retries exceeded, event");
	rig_reconnect(&r, &opts);
}

/* ---- The primary address is removed ------------------------------------ */

static int find_gid(const struct xt_side *s, const union xv_gid *gid)
{
	int i, found = -ENOENT;
	union xv_gid entry;

	for (i = 0; i < (int)s->attr.gid_tbl_len; i++)
		if (!xv_query_gid(s->ctx, s->port, (uint32_t)i, &entry) &&
		    !memcmp(&entry, gid, sizeof(entry)))
			found = i;
	return found;
}

static void set_address(const char *verb, const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "ip address %s 10.79.2.1/24 dev %s", verb, name);
	if (system(line))
		bail_out("%s", line);
}

/* The primary path uses a second address of side 1, the alternate path its first one. */
static bool connect_second(const char *name)
{
	static const union xv_gid gid = { .raw = { [10] = 0xff, 0xff, 10, 79, 2, 1 } };
	struct xt_side first = r.side[1];
	double until = xt_now() + 10;
	int index;

	set_address("add", name);
	while ((index = find_gid(&r.side[1], &gid)) < 0 && xt_now() < until)
		usleep(10000);
	r.side[1].gid = gid;
	r.side[1].gid_index = (uint32_t)index;
	if (index >= 0)
		rig_reconnect(&r, &opts);
	r.side[1] = first;
	return index >= 0;
}

static void test_failover(int sender)
{
	double until = xt_now() + 20;
	char name[IF_NAMESIZE];
	uint32_t before;
	bool good = true;

	if (r.side[1].attr.link_layer != XV_LINK_LAYER_ETHERNET) {
		tap_skip("the address of the primary path is removed",
			 "an InfiniBand port of this adapter has only one GID");
		return;
	}
	if (!if_indextoname(r.side[1].attr.ifindex, name))
		bail_out("port 1 has no network device");
	ok(connect_second(name), "connect to a second address");
	arm();
	before = round_no;
	set_address("delete", name);
	while (good && query(sender).path_mig_state == XV_MIG_ARMED && xt_now() < until)
		good = transfer(sender);
	ok(good && in(0, XV_MIG_MIGRATED) && in(1, XV_MIG_MIGRATED),
	   "address removed: side %d has sent %u messages, both sides have migrated", sender,
	   round_no - before);
	ok(raised(0, XV_EVENT_PATH_MIG) && raised(1, XV_EVENT_PATH_MIG), "event on both sides");
	ok(query(0).ah_attr.grh.flow_label == LABEL && query(1).ah_attr.grh.flow_label == LABEL,
	   "query: the alternate path is now the primary path");
	ok(transfer(0) && transfer(1), "messages in both directions");
	rig_reconnect(&r, &opts);
}

int main(int argc, char **argv)
{
	int sender;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (!rig_feature(r.side[0].ctx, "path-migration")->available ||
	    !rig_feature(r.side[1].ctx, "path-migration")->available)
		tap_skip_all("the devices do not support path migration");
	test_requests();
	test_software(0);
	rig_reconnect(&r, &opts);
	arm();
	test_software(1);
	test_failed();
	for (sender = 0; sender < 2; sender++)
		test_failover(sender);
	rig_close(&r);
	return tap_done();
}
