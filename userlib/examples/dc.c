// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Dynamically connected transport, as in appendix A.1 of the RDMA Aware Networks
 * Programming User Manual.  The server has several DC targets with one shared receive
 * queue.  The client sends to them in turn from one initiator, which has no connection to
 * set up.  Then it uses a wrong key, and the server is told so by an event.
 *
 * usage: dc [-d DEVICE] [-p TCP-PORT] [-i PORT] [-g GID-INDEX] [HOST]
 */
#include "common.h"

enum { TARGETS = 8, MESSAGES = 64, SIZE = 1024 };

static const uint64_t key = 0x0123456789abcdef;

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_mr *mr;
	char buf[MESSAGES][SIZE];
} r;

/* What the client must know: address and numbers of the targets */
struct offer {
	struct peer peer;
	uint32_t number[TARGETS];
};

static void create(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = MESSAGES };

	CHECK((r.ctx = xv_open(opt.device)));
	CHECK((r.pd = xv_alloc_pd(r.ctx)));
	CHECK((r.mr = xv_reg_mr(r.pd, r.buf, sizeof(r.buf), XV_ACCESS_LOCAL_WRITE)));
	CHECK((r.cq = xv_create_cq(r.ctx, &cq_attr)));
}

static void destroy(void)
{
	CHECK(!xv_destroy_cq(r.cq));
	CHECK(!xv_dereg_mr(r.mr));
	CHECK(!xv_dealloc_pd(r.pd));
	CHECK(!xv_close(r.ctx));
}

/* ---- Client -------------------------------------------------------------- */

static struct xv_qp *create_initiator(const struct peer *peer)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_DCI, .send_cq = r.cq,
		.cap = { .max_send_wr = MESSAGES, .max_send_sge = 1 },
	};
	struct xv_qp_attr a = {
		.port_num = (uint8_t)opt.port, .path_mtu = (enum xv_mtu)peer->mtu, .timeout = 10,
		.retry_cnt = 3, .rnr_retry = 7, .max_rd_atomic = 4,
	};
	struct xv_qp *dci;

	CHECK((dci = xv_create_qp(r.pd, &attr)));
	a.qp_state = XV_QPS_INIT;
	CHECK(!xv_modify_qp(dci, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT));
	a.qp_state = XV_QPS_RTR;
	CHECK(!xv_modify_qp(dci, &a, XV_QP_STATE | XV_QP_PATH_MTU));
	a.qp_state = XV_QPS_RTS;
	CHECK(!xv_modify_qp(dci, &a, XV_QP_STATE | XV_QP_TIMEOUT | XV_QP_RETRY_CNT |
			    XV_QP_RNR_RETRY | XV_QP_MAX_QP_RD_ATOMIC));
	return dci;
}

static void send_all(struct xv_qp *dci, struct xv_ah *ah, const struct offer *offer)
{
	int i;

	for (i = 0; i < MESSAGES; i++) {
		struct xv_sge sge = { (uintptr_t)r.buf[i], SIZE, r.mr->lkey };
		struct xv_dc to = { ah, key, offer->number[i % TARGETS] };

		snprintf(r.buf[i], SIZE, "message %d", i);
		CHECK(!xv_wr_send_dc(dci, (uint64_t)i, XV_SEND_SIGNALED, &sge, &to));
	}
	xv_commit_send(dci);
	for (i = 0; i < MESSAGES; i++)
		wait_wc(r.cq);
}

static void use_wrong_key(struct xv_qp *dci, struct xv_ah *ah, const struct offer *offer)
{
	struct xv_sge sge = { (uintptr_t)r.buf[0], SIZE, r.mr->lkey };
	struct xv_dc to = { ah, key + 1, offer->number[0] };
	struct xv_wc wc;

	CHECK(!xv_wr_send_dc(dci, 0, XV_SEND_SIGNALED, &sge, &to));
	xv_commit_send(dci);
	while (!xv_poll_cq(r.cq, 1, &wc))
		;
	printf("client: wrong key: %s\n", xv_wc_status_str(wc.status));
}

static void client(int fd)
{
	struct offer mine = { .peer.qpn = 0 }, offer;
	struct xv_ah_attr path;
	struct xv_qp *dci;
	struct xv_ah *ah;

	swap(fd, &mine, &offer, sizeof(mine));
	if (opt.gid_index < 0)
		opt.gid_index = xv_default_gid_index(r.ctx, opt.port);
	path = path_to(&offer.peer);
	CHECK((ah = xv_create_ah(r.pd, &path)));
	dci = create_initiator(&offer.peer);
	send_all(dci, ah, &offer);
	use_wrong_key(dci, ah, &offer);
	barrier(fd);
	CHECK(!xv_destroy_qp(dci));
	CHECK(!xv_destroy_ah(ah));
	printf("client: %d messages from one initiator to %d targets\n", MESSAGES, TARGETS);
}

/* ---- Server -------------------------------------------------------------- */

static struct xv_srq *create_srq(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = MESSAGES, .max_sge = 1 } };
	struct xv_srq *srq;
	uint64_t slot;

	CHECK((srq = xv_create_srq(r.pd, &attr)));
	for (slot = 0; slot < MESSAGES; slot++) {
		struct xv_sge sge = { (uintptr_t)r.buf[slot], SIZE, r.mr->lkey };
		struct xv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

		CHECK(!xv_post_srq_recv(srq, &wr, &bad));
	}
	return srq;
}

static struct xv_dct *create_target(struct xv_srq *srq, const struct peer *me)
{
	struct xv_dct_init_attr attr = {
		.pd = r.pd, .cq = r.cq, .srq = srq, .dc_key = key,
		.mtu = (enum xv_mtu)me->mtu, .port = (uint8_t)opt.port,
		.gid_index = (uint8_t)opt.gid_index, .hop_limit = 64, .min_rnr_timer = 12,
	};
	struct xv_dct *dct;

	CHECK((dct = xv_create_dct(r.ctx, &attr)));
	return dct;
}

/* One initiator sends in order, so message i is for target i % TARGETS. */
static void receive_all(const struct offer *offer)
{
	char expected[32];
	struct xv_wc wc;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		wc = wait_wc(r.cq);
		snprintf(expected, sizeof(expected), "message %d", i);
		if (strcmp(r.buf[wc.wr_id], expected) || wc.qp_num != offer->number[i % TARGETS])
			errx(1, "expected \"%s\", received \"%s\"", expected, r.buf[wc.wr_id]);
	}
}

static void await_violation(struct xv_dct *dct)
{
	struct xv_async_event event;
	struct xv_dct_attr attr;

	do {
		CHECK(!xv_get_async_event(r.ctx, &event));
		xv_ack_async_event(&event);
	} while (event.event_type != XV_EVENT_DCT_KEY_VIOLATION || event.element.dct != dct);
	CHECK(!xv_query_dct(dct, &attr));
	printf("server: %s, %u in all\n", xv_event_type_str(event.event_type),
	       attr.key_violations);
}

static void server(int fd)
{
	struct xv_dct *dct[TARGETS];
	struct offer offer, none;
	struct xv_srq *srq = create_srq();
	struct xv_qp no_qp = { .qp_num = 0 };
	int i;

	offer.peer = describe(r.ctx, &no_qp, NULL);
	for (i = 0; i < TARGETS; i++) {
		dct[i] = create_target(srq, &offer.peer);
		offer.number[i] = dct[i]->dct_num;
	}
	CHECK(!xv_arm_dct(dct[0]));
	swap(fd, &offer, &none, sizeof(offer));
	receive_all(&offer);
	await_violation(dct[0]);
	barrier(fd);
	for (i = 0; i < TARGETS; i++)
		CHECK(!xv_destroy_dct(dct[i]));
	CHECK(!xv_destroy_srq(srq));
	printf("server: %d messages for %d targets\n", MESSAGES, TARGETS);
}

int main(int argc, char **argv)
{
	int fd;

	parse(argc, argv);
	create();
	fd = connect_tcp();
	if (opt.host)
		client(fd);
	else
		server(fd);
	destroy();
	close(fd);
	return 0;
}
