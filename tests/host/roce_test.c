// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE version and VLAN: packets arrive only at an address with the same ones.  The completion of
 * a datagram has the VLAN.
 */
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define ALL (MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RW)

struct kind {
	u8 version;
	bool vlan_valid;
	u16 vlan_id;
};

static struct session s;
static struct session_mr from, to;

static void set_kind(struct hca_gid *g, struct kind k)
{
	g->version = k.version;
	g->vlan_valid = k.vlan_valid;
	g->vlan_id = k.vlan_id;
	hca_route_changed(&s.fabric);
}

static const u8 group[16] = { 0xff, 0x0e, [15] = 5 };

static bool write_arrives(void)
{
	struct xv_sge sge = session_sge(&from, 0, 8);
	struct session_qp a, b;
	struct xv_wc wc;

	session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 2, 2, &b);
	session_connect(&a, &b);
	xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, to.addr, to.key);
	xv_commit_send(&a.qp);
	while (!xv_poll_cq(&a.cq, 1, &wc))
		hca_fabric_poll(&s.fabric);
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	return wc.status == XV_WC_SUCCESS;
}

/* From a queue pair of function 0 to one of function 1, which may be in a group */
static bool datagram(const struct xv_ah *ah, bool join, struct mlx5r_cqe *cqe)
{
	struct xv_sge sge = session_sge(&from, 0, 8), room = session_sge(&to, 0, 48);
	struct session_qp a, b;
	struct xv_wc wc;
	int n;

	session_qp(&s, 0, MLX5_QP_ST_UD, 2, 2, &a);
	session_qp(&s, 1, MLX5_QP_ST_UD, 2, 2, &b);
	session_connect(&a, &a);
	session_connect(&b, &b);
	if (join)
		session_join_group(&b, group);
	xv_wr_recv(&b.qp, 1, &room);
	xv_commit_recv(&b.qp);
	xv_wr_send_ud(&a.qp, 1, XV_SEND_SIGNALED, &sge, ah, b.qp.qp_num, SESSION_QKEY);
	xv_commit_send(&a.qp);
	session_settle(&s);
	*cqe = *xv_cq_at(&b.cq, 0);
	n = xv_poll_cq(&b.cq, 1, &wc);
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	return n == 1 && wc.status == XV_WC_SUCCESS;
}

static bool datagram_arrives(const struct xv_ah *ah)
{
	struct mlx5r_cqe cqe;

	return datagram(ah, false, &cqe);
}

static bool multicast_arrives(void)
{
	struct xv_ah ah = session_ah(&s, 1);
	struct mlx5r_cqe cqe;

	memcpy(ah.av.rgid, group, sizeof(group));
	return datagram(&ah, true, &cqe);
}

/* VLAN and priority in the completion of a datagram; -1: none */
static int vlan_of_datagram(struct kind k, u8 prio)
{
	struct xv_ah ah = session_ah(&s, 1);
	struct mlx5r_cqe cqe;

	set_kind(&s.hca[0]->gids[0], k);
	set_kind(&s.hca[1]->gids[0], k);
	ah.av.rate_sl = prio << 1;
	ok(datagram(&ah, false, &cqe), "a datagram with priority %d arrives", prio);
	return cqe.l4_hdr_type_etc & 1 ? be16_to_cpu(cqe.vlan_info) : -1;
}

static void test_vlan(void)
{
	tap_is(vlan_of_datagram((struct kind) { 2, true, 5 }, 0), 5, "a completion has the VLAN");
	tap_is(vlan_of_datagram((struct kind) { 0, true, 0xffe }, 7), 7 << 13 | 0xffe,
	       "with version 1, and with the priority");
	tap_is(vlan_of_datagram((struct kind) { 2, false, 5 }, 7), -1,
	       "without a VLAN it has none");
}

/* Before each wrong address vector the right one is used, so the table has a valid route. */
static void test_fields(void)
{
	struct xv_ah right = session_ah(&s, 1), wrong[4] = { right, right, right, right };
	static const char *const field[] = {
		"own GID index", "MAC", "first half of the GID", "second half of the GID",
	};
	unsigned int i;

	s.hca[0]->gids[1] = s.hca[0]->gids[0];
	s.hca[0]->gids_end = 2;
	set_kind(&s.hca[0]->gids[1], (struct kind) { 2, true, 5 });
	wrong[0].av.grh_gid_fl |= cpu_to_be32(1 << 20);
	wrong[1].av.rmac[0] ^= 2;
	wrong[2].av.rgid[0] ^= 1;
	wrong[3].av.rgid[15] ^= 1;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		ok(datagram_arrives(&right), "%s: a datagram arrives", field[i]);
		ok(!datagram_arrives(&wrong[i]), "with another one, none arrives");
		ok(!datagram_arrives(&wrong[i]), "also the second time");
	}
	ok(datagram_arrives(&right), "the right address vector again");
	s.hca[0]->gids[1].valid = false;
	hca_route_changed(&s.fabric);
}

int main(void)
{
	static const struct {
		struct kind a, b;
		bool arrives;
		const char *what;
	} cases[] = {
		{ { 2 }, { 2 }, true, "both of version 2" },
		{ { 2 }, { 0 }, false, "version 2 to version 1" },
		{ { 0 }, { 2 }, false, "version 1 to version 2" },
		{ { 0 }, { 0 }, true, "both of version 1" },
		{ { 2, true, 5 }, { 2 }, false, "from a VLAN to none" },
		{ { 2 }, { 2, true, 5 }, false, "from none to a VLAN" },
		{ { 2, true, 5 }, { 2, true, 6 }, false, "to another VLAN" },
		{ { 2, true, 5 }, { 2, true, 5 }, true, "on one VLAN" },
		{ { 2, false, 5 }, { 2, false, 6 }, true, "a VLAN number without a VLAN" },
	};
	struct xv_ah ah;
	unsigned int i;

	session_init(&s);
	from = session_mr(&s, 0, 4096, ALL);
	to = session_mr(&s, 1, 4096, ALL);
	ah = session_ah(&s, 1);
	test_fields();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		set_kind(&s.hca[0]->gids[0], cases[i].a);
		set_kind(&s.hca[1]->gids[0], cases[i].b);
		tap_is(write_arrives(), cases[i].arrives, "%s: a write", cases[i].what);
		tap_is(datagram_arrives(&ah), cases[i].arrives, "%s: a datagram", cases[i].what);
		tap_is(multicast_arrives(), cases[i].arrives, "%s: a multicast", cases[i].what);
	}
	/* The matching entry may have any index. */
	s.hca[1]->gids[7] = s.hca[1]->gids[0];
	s.hca[1]->gids_end = 8;
	set_kind(&s.hca[0]->gids[0], cases[0].a);
	set_kind(&s.hca[1]->gids[0], cases[1].b);
	set_kind(&s.hca[1]->gids[7], cases[0].b);
	ok(datagram_arrives(&ah), "another entry of the right version: a datagram arrives");
	ok(multicast_arrives(), "another entry of the right version: a multicast arrives");
	ok(!write_arrives(), "another entry of the right version: a write fails");
	s.hca[1]->gids[7].valid = false;
	test_vlan();
	session_free(&s);
	return tap_done();
}
