// SPDX-License-Identifier: GPL-2.0
/*
 * The list of the peers of a function: connected queue pairs whose peers are on the wire, by GID.
 */
#include <string.h>
#include "data/wire.h"
#include "tap.h"
#include "wire_link.h"

enum { QPS = 600 };			/* more than one call looks at */

static struct wire w;
static struct session_qp a[QPS], b;
static struct hca_peers peers;

static void find(struct hca *hca)
{
	u32 calls = 1;

	memset(&peers, 0, sizeof(peers));
	while (hca_peers_find(hca, &peers))
		calls++;
	ok(calls <= 1 + QPS / 128, "%u calls", calls);
}

static struct hca_qp *hw(struct session_qp *q)
{
	return hca_qp_get(w.s[0].hca[0], q->qp.qp_num);
}

/* Changes the peer of the queue pair. */
static void move(u32 i, u32 host)
{
	struct hca_qp *qp = hw(&a[i]);

	qp->path.rgid[14] = host >> 8;
	qp->path.rgid[15] = host;
	qp->wire->flow_epoch = 0;
}

static void connect_to(struct session_qp *q, struct session_qp *to)
{
	session_qp_modify(q, MLX5_CMD_OP_RST2INIT_QP, to);
	session_qp_modify(q, MLX5_CMD_OP_INIT2RTR_QP, to);
	session_qp_modify(q, MLX5_CMD_OP_RTR2RTS_QP, to);
}

int main(void)
{
	struct hca *hca;
	u32 i, sum = 0;

	wire_init(&w, 1);
	hca = w.s[0].hca[0];
	find(hca);
	tap_is(peers.n, 0, "at first there are no peers");

	for (i = 0; i < QPS; i++)
		session_qp(&w.s[0], 0, MLX5_QP_ST_RC, 6, 6, &a[i]);
	find(hca);
	tap_is(peers.n, 0, "queue pairs without a connection have none");

	session_qp(&w.s[1], 0, MLX5_QP_ST_RC, 6, 6, &b);
	for (i = 0; i < QPS; i++)
		connect_to(&a[i], &b);
	find(hca);
	tap_is(peers.n, 1, "one peer");
	tap_is(peers.peer[0].qps, QPS, "of all queue pairs");
	ok(!memcmp(peers.peer[0].gid, hw(&a[0])->path.rgid, 16), "with its GID");
	tap_is(peers.others, 0, "and no other");

	session_qp_modify(&a[0], MLX5_CMD_OP_2ERR_QP, NULL);
	find(hca);
	tap_is(peers.peer[0].qps, QPS - 1, "a queue pair in the error state is not connected");

	for (i = 1; i < QPS; i++)
		move(i, 1000 + i / 2);
	find(hca);
	for (i = 0; i < peers.n; i++)
		sum += peers.peer[i].qps;
	tap_is(peers.n, HCA_PEERS, "300 peers: as many as there is room for");
	tap_is(peers.others, QPS - 1 - sum, "the others are counted");

	for (i = 0; i < QPS; i++)
		session_qp_destroy(&a[i]);
	session_qp(&w.s[0], 0, MLX5_QP_ST_RC, 6, 6, &a[0]);
	session_qp(&w.s[0], 1, MLX5_QP_ST_RC, 6, 6, &a[1]);
	session_connect(&a[0], &a[1]);
	find(hca);
	tap_is(peers.n, 0, "a peer of the same host is not on the wire");
	session_qp_destroy(&a[0]);
	session_qp_destroy(&a[1]);
	session_qp_destroy(&b);
	wire_free(&w);
	return tap_done();
}
