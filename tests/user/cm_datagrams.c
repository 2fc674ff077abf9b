// SPDX-License-Identifier: GPL-2.0
/*
 * libxvcm: datagrams and multicast groups of rdma_cm for native queue pairs.
 *
 * usage: cm_datagrams ADDRESS [NETNS]
 */
#include "cm.h"

/* Sends MESSAGES datagrams; false if one cannot be sent. */
static bool send_datagrams(int i, struct xv_qp *qp, const struct xv_ah_attr *to, uint32_t qpn,
			   uint32_t qkey, uint32_t size)
{
	struct xv_ah *ah = xv_create_ah(side[i].pd, to);
	bool good = ah;

	for (uint32_t n = 0; good && n < MESSAGES; n++) {
		struct xv_sge from = sge(i, 0, size);

		fill(side[i].buf, n);
		good = !xv_wr_send_ud(qp, n, XV_SEND_SIGNALED, &from, ah, qpn, qkey);
		xv_commit_send(qp);
		good = good && sent(i, XV_WC_SUCCESS);
	}
	if (ah)
		xv_destroy_ah(ah);
	return good;
}

static bool same(const uint8_t *p, uint32_t seed, uint32_t size)
{
	static uint8_t expected[LEN];

	fill(expected, seed);
	return !memcmp(p, expected, size);
}

static bool query_datagrams(struct conn *c, bool accept)
{
	struct rdma_conn_param ask = with(to_server, sizeof(to_server));
	struct rdma_conn_param answer = with(to_client, sizeof(to_client));
	struct rdma_cm_event *event;
	bool good;

	c->id[1] = route(RDMA_PS_UDP, PORT);
	c->qp[1] = ready_qp(1, c->id[1], XV_QPT_UD);
	if (xv_cm_connect(c->id[1], c->qp[1], &ask))
		return false;
	event = next(0, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event)
		return false;
	good = has(event->param.ud.private_data, event->param.ud.private_data_len, to_server,
		   sizeof(to_server));
	c->id[0] = event->id;
	rdma_ack_cm_event(event);
	c->qp[0] = ready_qp(0, c->id[0], XV_QPT_UD);
	if (!accept)
		return good && !rdma_reject(c->id[0], to_client, sizeof(to_client));
	return good && !xv_cm_accept(c->id[0], c->qp[0], &answer);
}

static void test_datagrams(void)
{
	const uint32_t size = 1024;
	struct rdma_cm_event *event;
	struct xv_ah_attr attr;
	struct conn c = { 0 };
	struct xv_wc wc;
	uint32_t n;

	ok(query_datagrams(&c, true), "datagrams: a query with private data, accepted");
	event = next(1, RDMA_CM_EVENT_ESTABLISHED);
	if (!event)
		bail_out("no answer");
	ok(event->param.ud.qp_num == c.qp[0]->qp_num && event->param.ud.qkey &&
	   has(event->param.ud.private_data, event->param.ud.private_data_len, to_client,
	       sizeof(to_client)) && !xv_cm_ah_attr(event, &attr),
	   "ESTABLISHED: number of the queue pair, Q_Key, address and private data");
	for (n = 0; n < MESSAGES; n++)
		receive(0, c.qp[0], LEN * (n + 1), GRH + size);
	ok(send_datagrams(1, c.qp[1], &attr, event->param.ud.qp_num, event->param.ud.qkey, size),
	   "%d datagrams are sent", MESSAGES);
	for (n = 0; n < MESSAGES; n++)
		if (!received(0, &wc, XV_WC_SUCCESS) || wc.byte_len != GRH + size ||
		    wc.src_qp != c.qp[1]->qp_num ||
		    !same(side[0].buf + LEN * (n + 1) + GRH, n, size))
			break;
	ok(n == MESSAGES, "they arrive with their contents");
	receive(1, c.qp[1], LEN, GRH + size);
	ok(!xv_init_ah_from_wc(side[0].ctx, c.id[0]->port_num, &wc,
			       (struct xv_grh *)(side[0].buf + LEN * n), &attr) &&
	   send_datagrams(0, c.qp[0], &attr, wc.src_qp, event->param.ud.qkey, size) &&
	   received(1, &wc, XV_WC_SUCCESS) && same(side[1].buf + LEN + GRH, 0, size),
	   "the server answers to the sender of a datagram");
	rdma_ack_cm_event(event);
	ok(xv_cm_establish(c.id[1], c.qp[1]) == -EINVAL, "%s", xv_cm_last_error());
	release(&c);

	ok(query_datagrams(&c, false), "a query, rejected");
	event = next(1, RDMA_CM_EVENT_UNREACHABLE);
	ok(event && event->status > 0 &&
	   has(event->param.ud.private_data, event->param.ud.private_data_len, to_client,
	       sizeof(to_client)), "UNREACHABLE: rejected, private data");
	if (event)
		rdma_ack_cm_event(event);
	release(&c);
}

/* ---- Multicast -------------------------------------------------------- */

struct member {
	struct rdma_cm_id *id;
	struct xv_qp *qp;
	struct xv_ah_attr group;
	uint32_t qpn;
	uint32_t qkey;
};

static const char group_text[] = "239.7.4.1";

static bool bind_to(int i, struct rdma_cm_id *id)
{
	struct sockaddr_in local = { 0 };
	struct rdma_cm_id *other;

	if (!i)
		local = *(struct sockaddr_in *)address(server, 0);
	if (i) {
		other = route(RDMA_PS_UDP, PORT);
		memcpy(&local, rdma_get_local_addr(other), sizeof(local));
		local.sin_port = 0;
		rdma_destroy_id(other);
	}
	return !rdma_bind_addr(id, (struct sockaddr *)&local);
}

static bool join(int i, struct member *m)
{
	struct rdma_cm_event *event;
	bool good;

	m->id = new_id(i, RDMA_PS_UDP);
	if (!bind_to(i, m->id))
		return false;
	m->qp = ready_qp(i, m->id, XV_QPT_UD);
	if (rdma_join_multicast(m->id, address(group_text, 0), m))
		return false;
	event = next(i, RDMA_CM_EVENT_MULTICAST_JOIN);
	if (!event)
		return false;
	good = event->param.ud.private_data == m && event->param.ud.qp_num == 0xffffff &&
	       !xv_cm_ah_attr(event, &m->group);
	m->qpn = event->param.ud.qp_num;
	m->qkey = event->param.ud.qkey;
	rdma_ack_cm_event(event);
	return good;
}

static bool leave(struct member *m)
{
	bool good = !rdma_leave_multicast(m->id, address(group_text, 0));

	return !xv_destroy_qp(m->qp) && !rdma_destroy_id(m->id) && good;
}

static void test_multicast(void)
{
	enum { MEMBERS = 4, SENDER = MEMBERS };	/* the last member is on the side of the sender */
	const uint32_t size = 1024;
	struct member m[MEMBERS + 1];
	int got[MEMBERS] = { 0 }, i, n;
	bool good = true;
	struct xv_wc wc;

	for (i = 0; i <= SENDER; i++)
		good = good && join(i >= MEMBERS - 1, &m[i]);
	ok(good, "MULTICAST_JOIN of %d members and a sender", MEMBERS);
	if (!good)
		return;
	for (i = 0; i < MEMBERS; i++)
		for (n = 0; n < MESSAGES; n++)
			receive(i == MEMBERS - 1, m[i].qp, (size_t)(i * MESSAGES + n + 1) * LEN,
				GRH + size);
	for (i = 0; good && i < MEMBERS; i++)
		good = !xv_attach_mcast(m[i].qp, &m[i].group.grh.dgid, m[i].group.dlid);
	ok(good, "the members attach their queue pairs");
	ok(send_datagrams(1, m[SENDER].qp, &m[SENDER].group, m[SENDER].qpn, m[SENDER].qkey, size),
	   "%d datagrams are sent to the group", MESSAGES);
	for (n = 0; n < MEMBERS * MESSAGES; n++) {
		int at = n >= (MEMBERS - 1) * MESSAGES;

		if (!received(at, &wc, XV_WC_SUCCESS))
			break;
		i = (int)(wc.wr_id / LEN - 1) / MESSAGES;
		if (wc.byte_len == GRH + size &&
		    same(side[at].buf + wc.wr_id + GRH, (uint32_t)got[i], size))
			got[i]++;
	}
	for (i = 0; i < MEMBERS; i++)
		ok(got[i] == MESSAGES, "member %d has each datagram once: %d", i, got[i]);
	for (i = 0; i < MEMBERS; i++) {
		receive(i == MEMBERS - 1, m[i].qp, LEN, GRH + size);
		good = good && !xv_detach_mcast(m[i].qp, &m[i].group.grh.dgid, m[i].group.dlid);
	}
	good = good && send_datagrams(1, m[SENDER].qp, &m[SENDER].group, m[SENDER].qpn,
				      m[SENDER].qkey, size);
	usleep(100000);
	ok(good && !xv_poll_cq(side[0].cq, 1, &wc) && !xv_poll_cq(side[1].cq, 1, &wc),
	   "after they detach there are no more");
	for (i = 0; i <= SENDER; i++)
		good = leave(&m[i]) && good;
	ok(good, "all leave the group");
}

/* The port of side 1 of the adapter in software */
static bool port_event(const char *what)
{
	char line[128];

	snprintf(line, sizeof(line), "echo %s > /sys/kernel/debug/xhca/1/port_event", what);
	return run(line);
}

/* On InfiniBand, a port that goes down is no longer in its groups. */
static void test_lost_group(void)
{
	struct rdma_cm_event *event;
	struct member m;

	if (!netns || is_ethernet(1) || access("/sys/kernel/debug/xhca/1/port_event", W_OK)) {
		tap_skip("a port that goes down",
			 "needs InfiniBand, xhca and two namespaces");
		return;
	}
	ok(join(1, &m), "a member of a group");
	ok(port_event("down"), "the link goes down");
	event = next(1, RDMA_CM_EVENT_MULTICAST_ERROR);
	ok(event && event->status < 0, "MULTICAST_ERROR");
	if (event)
		rdma_ack_cm_event(event);
	ok(port_event("active"), "the link comes up");
	leave(&m);
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		bail_out("usage: cm_datagrams ADDRESS [NETNS]");
	open_sides(argv[1], argc == 3 ? argv[2] : NULL);
	test_datagrams();
	test_multicast();
	test_lost_group();
	close_sides();
	return tap_done();
}
