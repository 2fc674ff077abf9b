// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE: a queue pair holds a reference to its source GID.  If the IP address of the
 * GID is removed and another address is added, the entry of the GID table is not
 * reused until the queue pair is reset.  Needs root.
 */
#include <arpa/inet.h>
#include <unistd.h>
#include "rig.h"

enum { OLD = 1, NEW = 2, TRIES = 100 };

static char netdev[64];
static struct xt_side side;

static void address(const char *what, int last)
{
	char command[160];

	snprintf(command, sizeof(command), "ip address %s 10.99.0.%d/24 dev %s", what, last,
		 netdev);
	if (system(command))
		bail_out("%s", command);
}

/* The last index with the GID of an address, or -1 */
static int find_now(int last)
{
	uint8_t want[16] = { [10] = 0xff, 0xff, 10, 99, 0, (uint8_t)last };
	union xv_gid gid;
	int i, found = -1;

	for (i = 0; i < (int)side.attr.gid_tbl_len; i++)
		if (!xv_query_gid(side.ctx, 1, i, &gid) && !memcmp(gid.raw, want, 16))
			found = i;
	return found;
}

/* Waits until the address has a GID or has none; it gets GIDs of several types. */
static int find(int last, bool there)
{
	int try;

	for (try = 0; try < TRIES && (find_now(last) >= 0) != there; try++)
		usleep(50 * 1000);
	usleep(300 * 1000);
	return find_now(last);
}

static struct xv_qp *connect_self(struct xv_cq *cq)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct xv_qp *qp = xv_create_qp(side.pd, &attr);
	struct xt_peer peer;

	if (!qp)
		bail_out("%s", xv_last_error());
	xt_peer_of(&side, qp, &peer);
	if (xt_connect(qp, &side, &peer, NULL))
		bail_out("%s", xv_last_error());
	return qp;
}

int main(int argc, char **argv)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 16 };
	struct xv_qp_attr reset = { .qp_state = XV_QPS_RESET };
	char file[128];
	struct xv_qp *qp;
	struct xv_cq *cq;
	int old, now;
	FILE *f;

	rig_devices(argc, argv);
	if (xt_side_open(&side, rig_device(0), 1, -1))
		bail_out("%s", xv_last_error());
	if (side.attr.link_layer != XV_LINK_LAYER_ETHERNET)
		tap_skip_all("not RoCE");
	snprintf(file, sizeof(file), "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0",
		 rig_device(0));
	f = fopen(file, "r");
	if (!f || fscanf(f, "%63s", netdev) != 1)
		bail_out("%s: %s", file, strerror(errno));
	fclose(f);

	address("add", OLD);
	old = find(OLD, true);
	ok(old >= 0, "add an address: GID %d", old);
	side.gid_index = (uint32_t)old;
	xv_query_gid(side.ctx, 1, old, &side.gid);
	cq = xv_create_cq(side.ctx, &cq_attr);
	qp = connect_self(cq);

	address("del", OLD);
	ok(find(OLD, false) < 0, "remove the address");
	address("add", NEW);
	now = find(NEW, true);
	ok(now >= 0 && now != old, "another address does not get the same entry: GID %d", now);
	address("del", NEW);
	find(NEW, false);

	ok(!xv_modify_qp(qp, &reset, XV_QP_STATE), "reset the queue pair");
	usleep(200 * 1000);
	address("add", NEW);
	now = find(NEW, true);
	ok(now == old, "after that, an address gets the entry: GID %d", now);
	address("del", NEW);
	xv_destroy_qp(qp);
	xv_destroy_cq(cq);
	xt_side_close(&side);
	return tap_done();
}
