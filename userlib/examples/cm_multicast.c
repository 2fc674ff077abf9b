// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A sender and members of a multicast group that rdma_cm joins, as in chapter 8.2 of the RDMA
 * Aware Networks Programming User Manual, on RoCE and on InfiniBand.
 *
 * usage: cm_multicast [-s] LOCAL-ADDRESS GROUP-ADDRESS
 *	-s: send
 */
#include "cm_common.h"

enum { MESSAGES = 10, SIZE = 1024, GRH = 40 };

static char buf[MESSAGES][GRH + SIZE];
static struct side s;
static struct xv_qp *qp;

static void send_all(const struct xv_ah_attr *group, uint32_t qpn, uint32_t qkey)
{
	struct xv_ah *ah;
	int i;

	CHECK((ah = xv_create_ah(s.pd, group)));
	for (i = 0; i < MESSAGES; i++) {
		struct xv_sge sge = { (uintptr_t)buf[i], SIZE, s.mr->lkey };

		snprintf(buf[i], SIZE, "datagram %d", i);
		CHECK(!xv_wr_send_ud(qp, 0, XV_SEND_SIGNALED, &sge, ah, qpn, qkey));
		xv_commit_send(qp);
		wait_wc(s.cq);
	}
	CHECK(!xv_destroy_ah(ah));
}

static void receive_all(void)
{
	char expected[32];
	struct xv_wc wc;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		wc = wait_wc(s.cq);
		snprintf(expected, sizeof(expected), "datagram %d", i);
		if (wc.byte_len != GRH + SIZE || strcmp((char *)wc.wr_id + GRH, expected))
			errx(1, "expected \"%s\"", expected);
	}
}

int main(int argc, char **argv)
{
	bool sender = argc == 4 && !strcmp(argv[1], "-s");
	struct sockaddr_in local, group;
	struct xv_ah_attr attr;
	struct rdma_cm_id *id;
	uint32_t qpn, qkey;
	int i;

	if (argc != 3 + sender)
		errx(2, "usage: %s [-s] LOCAL-ADDRESS GROUP-ADDRESS", argv[0]);
	opt.tcp_port = "0";
	local = address(argv[argc - 2]);
	group = address(argv[argc - 1]);
	RDMA(rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP));
	RDMA(rdma_resolve_addr(id, (struct sockaddr *)&local, (struct sockaddr *)&group, 2000));
	open_side(&s, id, buf, sizeof(buf));
	qp = qp_for(id, &s, XV_QPT_UD, NULL);
	for (i = 0; !sender && i < MESSAGES; i++)
		post_receive(qp, &s, buf[i], GRH + SIZE);

	RDMA(rdma_join_multicast(id, (struct sockaddr *)&group, NULL));
	CM(!xv_cm_ah_attr(id->event, &attr));
	qpn = id->event->param.ud.qp_num;
	qkey = id->event->param.ud.qkey;
	if (sender) {
		send_all(&attr, qpn, qkey);
	} else {
		CHECK(!xv_attach_mcast(qp, &attr.grh.dgid, attr.dlid));
		puts("joined");
		fflush(stdout);
		receive_all();
		CHECK(!xv_detach_mcast(qp, &attr.grh.dgid, attr.dlid));
	}
	printf("%s %d datagrams\n", sender ? "sent" : "received", MESSAGES);
	/* The call waits until the event of the group is acknowledged. */
	RDMA(rdma_ack_cm_event(id->event));
	id->event = NULL;
	RDMA(rdma_leave_multicast(id, (struct sockaddr *)&group));
	close_side(&s);
	RDMA(rdma_destroy_id(id));
	return 0;
}
