// SPDX-License-Identifier: GPL-2.0
/* UD: addresses of each kind, replies, multicast, and what is refused */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "transports.h"

enum { QKEY = 0x1234 };

static int ud_to_rts(struct xv_qp *qp)
{
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	int err = xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY);

	a.qp_state = XV_QPS_RTR;
	if (!err)
		err = xv_modify_qp(qp, &a, XV_QP_STATE);
	a.qp_state = XV_QPS_RTS;
	return err ? err : xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_SQ_PSN);
}

static struct xv_ah *address_of(int side, const union xv_gid *gid, uint16_t lid)
{
	struct xv_ah_attr a = { .dlid = lid, .port_num = 1, .is_global = 1,
		.grh = { .dgid = *gid, .sgid_index = (uint8_t)r.side[side].gid_index,
			.hop_limit = 64 } };
	struct xv_ah *ah = xv_create_ah(r.side[side].pd, &a);

	if (!ah)
		diag("%s", xv_last_error());
	return ah;
}

static void post_ud_recv(struct xv_qp *qp, int side, uint64_t wr_id, uint32_t n)
{
	struct xv_sge to = rig_sge(&r, side, DST, n + GRH);

	xv_wr_recv(qp, wr_id, &to);
	xv_commit_recv(qp);
}

/* Sends a datagram from side 0 and checks its data.  @grh: must it have a header with GIDs? */
static bool datagram(struct xv_qp *qp[2], int to, struct xv_ah *ah, uint32_t seed, bool grh)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	struct xv_wc wc;

	message(0, to, 64, seed);
	post_ud_recv(qp[to], to, seed, 64);
	xv_wr_send_ud(qp[0], seed, 0, &from, ah, qp[to]->qp_num, QKEY);
	xv_commit_send(qp[0]);
	return rig_poll(r.cq[to], 1, &wc) == 1 && !wc.status && wc.wr_id == seed &&
	       wc.src_qp == qp[0]->qp_num && !(wc.wc_flags & XV_WC_GRH) == !grh &&
	       rig_check(r.buf[to] + DST + GRH, 64, seed);
}

/* Finds the first RoCE v2 GID of a side: of an IPv4 address if @ipv4, else of an IPv6 address. */
static bool find_gid(int side, bool ipv4, struct xv_gid_entry *entry)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	uint32_t i;

	for (i = 0; i < r.side[side].attr.gid_tbl_len; i++)
		if (!xv_query_gid_entry(r.side[side].ctx, 1, i, entry) &&
		    entry->gid_type == XV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entry->gid.raw, mapped, sizeof(mapped)) == ipv4)
			return true;
	return false;
}

/*
 * After the link was down, an IPv6 address is tentative until duplicate address detection ends.
 * Until then there is no route to it, or neighbour discovery has no answer.
 */
static struct xv_ah *reachable(struct xv_ah_attr *a)
{
	time_t end = time(NULL) + 15;
	struct xv_ah *ah;

	do {
		ah = xv_create_ah(r.side[0].pd, a);
		if (ah || (errno != EHOSTUNREACH && errno != ENETUNREACH && errno != ETIMEDOUT))
			return ah;
		usleep(100000);
	} while (time(NULL) < end);
	return NULL;
}

/*
 * To an IPv4 address of the other side.  For IPv6 the sender uses its own address, because the
 * host does not answer to neighbour discovery of another address of its own.
 */
static void test_ip_address(struct xv_qp *qp[2], bool ipv4)
{
	struct xv_ah_attr a = { .port_num = 1, .is_global = 1, .grh.hop_limit = 64 };
	struct xv_gid_entry from, to;
	struct xv_ah *ah;
	uint32_t addr;

	if (!find_gid(0, ipv4, &from) || !find_gid(ipv4, ipv4, &to)) {
		ok(false, "address: a GID of an IPv%d address", ipv4 ? 4 : 6);
		return;
	}
	a.grh.dgid = to.gid;
	a.grh.sgid_index = (uint8_t)from.gid_index;
	if (ipv4) {
		memcpy(&addr, to.gid.raw + 12, sizeof(addr));
		a.grh.dgid = xv_gid_from_ipv4(addr);
	}
	ah = reachable(&a);
	if (!ah)
		diag("%s", strerror(errno));
	if (!ok(ah && datagram(qp, ipv4, ah, 20 + ipv4, true), "address: IPv%d", ipv4 ? 4 : 6))
		diag("%s", xv_last_error());
	if (ah)
		xv_destroy_ah(ah);
}

static void test_lid_address(struct xv_qp *qp[2], bool global)
{
	struct xv_ah_attr a = { .dlid = (uint16_t)r.side[1].attr.lid, .port_num = 1,
		.is_global = global, .grh = { .dgid = r.side[1].gid, .hop_limit = 64,
			.sgid_index = (uint8_t)r.side[0].gid_index } };
	struct xv_ah *ah = xv_create_ah(r.side[0].pd, &a);

	ok(ah && datagram(qp, 1, ah, 22 + global, global), "address: LID %s GRH",
	   global ? "with" : "without");
	if (ah)
		xv_destroy_ah(ah);
}

static void test_address_types(struct xv_qp *qp[2])
{
	bool ethernet = r.side[0].attr.link_layer == XV_LINK_LAYER_ETHERNET;
	int i;

	for (i = 0; i < 2; i++)
		if (ethernet)
			test_ip_address(qp, i);
		else
			test_lid_address(qp, i);
}

/* One datagram and a reply to the address from its completion */
static void test_ud_roundtrip(struct xv_qp *qp[2])
{
	struct xv_ah *ah = address_of(0, &r.side[1].gid, (uint16_t)r.side[1].attr.lid), *back;
	struct xv_sge from = rig_sge(&r, 0, SRC, 500);
	struct xv_ah_attr way = { 0 };
	uint8_t *header;
	struct xv_wc wc;

	if (!ok(ah != NULL, "UD: address handle"))
		return;
	message(0, 1, 500, 3);
	post_ud_recv(qp[1], 1, 4, 500);
	xv_wr_send_ud(qp[0], 3, XV_SEND_SIGNALED, &from, ah, qp[1]->qp_num, QKEY);
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 3, XV_WC_SUCCESS) && rig_poll(r.cq[1], 1, &wc) == 1 && !wc.status &&
	   wc.wr_id == 4 && wc.byte_len == 500 + GRH && wc.src_qp == qp[0]->qp_num &&
	   wc.wc_flags & XV_WC_GRH && rig_check(r.buf[1] + DST + GRH, 500, 3),
	   "UD: 40 bytes of header, then data; source QP number");
	back = xv_create_ah_from_wc(r.side[1].pd, &wc, (struct xv_grh *)(r.buf[1] + DST), 1);
	if (!ok(back != NULL, "UD: address handle from the completion"))
		diag("%s", xv_last_error());
	header = r.buf[1] + DST;
	header[header[0] >> 4 == 6 ? 7 : 28] = 33;	/* IPv6, or IPv4 at offset 20 */
	ok(!xv_init_ah_from_wc(r.side[1].ctx, 1, &wc, (struct xv_grh *)header, &way) &&
	   way.is_global && way.grh.hop_limit == 33 && way.sl == 0 &&
	   !memcmp(&way.grh.dgid, &r.side[0].gid, sizeof(way.grh.dgid)),
	   "UD: the address from the completion has hop limit and service level of the packet");
	message(1, 0, 64, 4);
	post_ud_recv(qp[0], 0, 5, 64);
	from = rig_sge(&r, 1, SRC, 64);
	if (back)
		xv_wr_send_imm_ud(qp[1], 6, XV_SEND_SIGNALED, &from, back, wc.src_qp, QKEY,
				  xv_be32(77));
	xv_commit_send(qp[1]);
	ok(back && rig_expect(r.cq[1], 6, XV_WC_SUCCESS) && rig_poll(r.cq[0], 1, &wc) == 1 &&
	   !wc.status && wc.wr_id == 5 && wc.wc_flags == (XV_WC_GRH | XV_WC_WITH_IMM) &&
	   wc.imm_data == xv_be32(77) && rig_check(r.buf[0] + DST + GRH, 64, 4),
	   "UD: the reply arrives, with its immediate");
	from = rig_sge(&r, 0, SRC, 64);
	post_ud_recv(qp[1], 1, 7, 64);
	xv_wr_send_ud(qp[0], 8, XV_SEND_SIGNALED, &from, ah, qp[1]->qp_num, QKEY + 1);
	xv_commit_send(qp[0]);
	rig_expect(r.cq[0], 8, XV_WC_SUCCESS);
	usleep(50000);
	ok(!xv_poll_cq(r.cq[1], 1, &wc), "UD: datagram with a wrong Q_Key is dropped");
	xv_destroy_ah(ah);
	if (back)
		xv_destroy_ah(back);
}

static void test_multicast(struct xv_qp *qp[2])
{
	union xv_gid group = { .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3 } };
	uint16_t lid = r.side[1].attr.link_layer == XV_LINK_LAYER_INFINIBAND ? 0xc001 : 0;
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	struct xv_ah *ah;
	struct xv_wc wc;

	if (!ok(!xv_attach_mcast(qp[1], &group, lid), "multicast: attach"))
		diag("%s", xv_last_error());
	ah = address_of(0, &group, lid);
	if (!ok(ah != NULL, "multicast: address handle"))
		return;
	message(0, 1, 64, 5);
	if (xv_poll_cq(r.cq[1], 1, &wc))
		diag("unexpected completion: %s", xv_wc_status_str(wc.status));
	xv_wr_send_ud(qp[0], 9, XV_SEND_SIGNALED, &from, ah, 0xffffff, QKEY);
	xv_commit_send(qp[0]);
	rig_expect(r.cq[0], 9, XV_WC_SUCCESS);
	ok(rig_poll(r.cq[1], 1, &wc) == 1 && wc.wr_id == 7 &&
	   rig_check(r.buf[1] + DST + GRH, 64, 5), "multicast: the member receives");
	ok(!xv_detach_mcast(qp[1], &group, lid), "multicast: detach");
	post_ud_recv(qp[1], 1, 8, 64);
	xv_wr_send_ud(qp[0], 10, XV_SEND_SIGNALED, &from, ah, 0xffffff, QKEY);
	xv_commit_send(qp[0]);
	rig_expect(r.cq[0], 10, XV_WC_SUCCESS);
	usleep(50000);
	ok(!xv_poll_cq(r.cq[1], 1, &wc), "multicast: after detach it receives nothing");
	xv_destroy_ah(ah);
}

static bool no_address(struct xv_ah_attr a, int err, const char *name)
{
	struct xv_ah *ah = xv_create_ah(r.side[0].pd, &a);
	bool named = !ah && errno == err && strstr(xv_last_error(), name);

	diag("%s", ah ? "made" : xv_last_error());
	return named;
}

static void test_address_refusals(void)
{
	static const union xv_gid nowhere = { .raw = { [10] = 0xff, 0xff, 203, 0, 113, 1 } };
	const struct xv_ah_attr good = { .dlid = (uint16_t)r.side[1].attr.lid, .port_num = 1,
		.is_global = 1, .grh = { .dgid = r.side[1].gid, .hop_limit = 64,
			.sgid_index = (uint8_t)r.side[0].gid_index } };
	struct xv_ah_attr a;

#define NO_ADDRESS(_member, _value, _err, _name)					\
	ok((a = good, a._member = _value, no_address(a, _err, _name)), "address: " #_member)
	NO_ADDRESS(port_num, 9, ENOENT, "port 9");
	NO_ADDRESS(sl, 16, EINVAL, "sl");
	NO_ADDRESS(grh.sgid_index, 250, ENOENT, "sgid_index");
	NO_ADDRESS(grh.flow_label, 1 << 20, EINVAL, "flow_label");
	if (r.side[0].attr.link_layer != XV_LINK_LAYER_ETHERNET)
		return;
	NO_ADDRESS(is_global, 0, EINVAL, "is_global");
	a = good;
	a.grh.dgid = nowhere;
	ok(!xv_create_ah(r.side[0].pd, &a) && strstr(xv_last_error(), "no route"),
	   "address: %s", xv_last_error());
#undef NO_ADDRESS
}

static void test_multicast_refusals(struct xv_qp *ud)
{
	union xv_gid group = { .raw = { 0xff, 0x0e, [15] = 7 } };

	ok(xv_attach_mcast(r.qp[0], &group, 0) == -EINVAL && strstr(xv_last_error(), "not UD"),
	   "multicast: %s", xv_last_error());
	ok(xv_attach_mcast(ud, &r.side[0].gid, 0) == -EINVAL, "multicast: %s", xv_last_error());
	ok(xv_attach_mcast(ud, &group, 0x10) == -EINVAL && strstr(xv_last_error(), "lid"),
	   "multicast: %s", xv_last_error());
	ok(xv_detach_mcast(ud, &group, 0) == -ENOENT, "multicast: %s", xv_last_error());
	ok(!xv_attach_mcast(ud, &group, 0) && !xv_attach_mcast(ud, &group, 0) &&
	   !xv_detach_mcast(ud, &group, 0) && xv_detach_mcast(ud, &group, 0) == -ENOENT,
	   "multicast: one copy, although attached twice");
}

/* A datagram longer than the MTU */
static void test_ud_too_long(struct xv_qp *qp[2])
{
	struct xv_ah *ah = address_of(0, &r.side[1].gid, (uint16_t)r.side[1].attr.lid);
	struct xv_sge from = rig_sge(&r, 0, SRC, 8192);

	xv_wr_send_ud(qp[0], 9, XV_SEND_SIGNALED, &from, ah, qp[1]->qp_num, QKEY);
	from.length = 64;
	xv_wr_send_ud(qp[0], 10, 0, &from, ah, qp[1]->qp_num, QKEY);
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 9, XV_WC_LOC_LEN_ERR) && rig_expect(r.cq[0], 10, XV_WC_WR_FLUSH_ERR),
	   "UD: longer than the MTU: local length error, then flush");
	test_restart(qp[0], "UD");
	post_ud_recv(qp[1], 1, 11, 64);
	xv_wr_send_ud(qp[0], 12, XV_SEND_SIGNALED, &from, ah, qp[1]->qp_num, QKEY);
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 12, XV_WC_SUCCESS), "UD: send after SQE to RTS");
	xv_destroy_ah(ah);
}

static void test_ud(void)
{
	struct xv_qp *qp[2] = {
		make_qp(0, XV_QPT_UD, NULL, NULL), make_qp(1, XV_QPT_UD, NULL, NULL),
	};

	if (!ok(qp[0] && qp[1] && !ud_to_rts(qp[0]) && !ud_to_rts(qp[1]), "UD queue pairs")) {
		diag("%s", xv_last_error());
		return;
	}
	test_address_types(qp);
	test_ud_roundtrip(qp);
	test_multicast(qp);
	test_multicast_refusals(qp[0]);
	test_address_refusals();
	test_ud_too_long(qp);
	ok(!xv_destroy_qp(qp[0]) && !xv_destroy_qp(qp[1]), "UD: destroy");
}

int main(int argc, char **argv)
{
	open_rig(argc, argv);
	ok(rig_feature(r.side[0].ctx, "ud")->available, "the device has the feature ud");
	test_ud();
	rig_close(&r);
	return tap_done();
}
