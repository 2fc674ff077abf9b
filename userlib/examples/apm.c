// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Automatic path migration, as in chapter 8.1 of the RDMA Aware Networks Programming
 * User Manual: the connection gets an alternate path, messages go back and forth, and
 * after half of the messages the client migrates to the alternate path.  No message
 * is lost.  Exit status 77: the device does not support path migration.
 *
 * usage: apm [-d DEVICE] [-p TCP-PORT] [-i PORT] [-g GID-INDEX] [HOST]
 */
#include <poll.h>
#include "common.h"

enum { ROUNDS = 100, SIZE = 64, ALT_LABEL = 1 };

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_qp *qp;
	struct xv_mr *mr;
	char buf[2][SIZE];		/* send buffer, receive buffer */
} r;

static void need_migration(void)
{
	struct xv_feature list[64];
	int n = xv_query_features(r.ctx, list, 64), i;

	for (i = 0; i < n && i < 64; i++)
		if (!strcmp(list[i].name, "path-migration") && list[i].available)
			return;
	warnx("%s does not support path migration", r.ctx->name);
	exit(77);
}

static void create(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 16 };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	CHECK((r.ctx = xv_open(opt.device)));
	need_migration();
	CHECK((r.pd = xv_alloc_pd(r.ctx)));
	CHECK((r.mr = xv_reg_mr(r.pd, r.buf, sizeof(r.buf), XV_ACCESS_LOCAL_WRITE)));
	CHECK((r.cq = xv_create_cq(r.ctx, &cq_attr)));
	attr.send_cq = attr.recv_cq = r.cq;
	CHECK((r.qp = xv_create_qp(r.pd, &attr)));
}

/* The alternate path uses the same port, because a host may have only one. */
static void load_alternate_path(const struct peer *peer)
{
	struct xv_qp_attr a = {
		.alt_ah_attr = path_to(peer),
		.alt_port_num = (uint8_t)opt.port,
		.alt_timeout = 14,
		.path_mig_state = XV_MIG_REARM,
	};

	a.alt_ah_attr.grh.flow_label = ALT_LABEL;
	CHECK(!xv_modify_qp(r.qp, &a, XV_QP_ALT_PATH | XV_QP_PATH_MIG_STATE));
}

static void migrate(void)
{
	struct xv_qp_attr a = { .path_mig_state = XV_MIG_MIGRATED };

	CHECK(!xv_modify_qp(r.qp, &a, XV_QP_PATH_MIG_STATE));
}

static void post_receive(void)
{
	struct xv_sge sge = { (uintptr_t)r.buf[1], SIZE, r.mr->lkey };

	CHECK(!xv_wr_recv(r.qp, 0, &sge));
	xv_commit_recv(r.qp);
}

static void send_number(int i)
{
	struct xv_sge sge = { (uintptr_t)r.buf[0], SIZE, r.mr->lkey };

	snprintf(r.buf[0], SIZE, "round %d", i);
	CHECK(!xv_wr_send(r.qp, 0, XV_SEND_SIGNALED, &sge));
	xv_commit_send(r.qp);
}

static void round_trip(int i)
{
	char expected[32];
	int seen;

	if (opt.host)
		send_number(i);
	for (seen = opt.host ? 0 : 1; seen < 2;) {
		if (wait_wc(r.cq).opcode != XV_WC_RECV) {
			seen++;
			continue;
		}
		snprintf(expected, sizeof(expected), "round %d", i);
		if (strcmp(r.buf[1], expected))
			errx(1, "expected \"%s\", received \"%s\"", expected, r.buf[1]);
		post_receive();
		if (opt.host)
			seen++;
		else
			send_number(i);
	}
}

/* Both sides get an event: the one that migrates and its peer. */
static void wait_migrated(void)
{
	struct pollfd p = { .fd = r.ctx->fd, .events = POLLIN };
	struct xv_async_event e;

	do {
		if (poll(&p, 1, 5000) != 1)
			errx(1, "no event about the path migration");
		CHECK(!xv_get_async_event(r.ctx, &e));
		printf("event: %s\n", xv_event_type_str(e.event_type));
		xv_ack_async_event(&e);
	} while (e.event_type != XV_EVENT_PATH_MIG);
}

int main(int argc, char **argv)
{
	struct xv_qp_attr now;
	struct peer me, peer;
	int fd, i;

	parse(argc, argv);
	create();
	fd = connect_tcp();
	me = describe(r.ctx, r.qp, r.mr);
	swap(fd, &me, &peer, sizeof(me));
	connect_rc(r.qp, &peer);
	load_alternate_path(&peer);
	post_receive();
	barrier(fd);
	for (i = 0; i < ROUNDS; i++) {
		if (opt.host && i == ROUNDS / 2)
			migrate();
		round_trip(i);
	}
	wait_migrated();
	CHECK(!xv_query_qp(r.qp, &now, 0, NULL));
	if (now.path_mig_state != XV_MIG_MIGRATED || now.ah_attr.grh.flow_label != ALT_LABEL)
		errx(1, "the alternate path is not in use");
	printf("%s: %d rounds, migrated\n", opt.host ? "client" : "server", ROUNDS);
	barrier(fd);
	CHECK(!xv_destroy_qp(r.qp));
	CHECK(!xv_destroy_cq(r.cq));
	CHECK(!xv_dereg_mr(r.mr));
	CHECK(!xv_dealloc_pd(r.pd));
	CHECK(!xv_close(r.ctx));
	close(fd);
	return 0;
}
