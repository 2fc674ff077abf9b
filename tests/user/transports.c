// SPDX-License-Identifier: GPL-2.0
/*
 * UC, UD with multicast and replies, shared receive queues of both layouts, XRC,
 * memory windows, re-registration, raw WQEs, queues in UMEMs, and resizing of
 * completion queues under traffic.
 */
#include <fcntl.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "rig.h"

static struct rig r;

enum { SRC = 4096, DST = 65536, GRH = 40 };

static struct xv_qp *make_qp(int side, enum xv_qp_type type, struct xv_srq *srq,
			     struct xv_xrcd *xrcd)
{
	bool xrc = type == XV_QPT_XRC_RECV || type == XV_QPT_XRC_SEND;
	struct xv_qp_init_attr attr = {
		.qp_type = type,
		.send_cq = type == XV_QPT_XRC_RECV ? NULL : r.cq[side],
		.recv_cq = xrc ? NULL : r.cq[side],
		.srq = srq,
		.xrcd = xrcd,
		.cap = {
			.max_send_wr = type == XV_QPT_XRC_RECV ? 0 : 64,
			.max_send_sge = type == XV_QPT_XRC_RECV ? 0 : 2,
			.max_recv_wr = srq || xrc ? 0 : 64,
			.max_recv_sge = srq || xrc ? 0 : 2,
		},
	};
	struct xv_qp *qp = xv_create_qp(r.side[side].pd, &attr);

	if (!qp)
		diag("%s", xv_last_error());
	return qp;
}

static void message(int from, int to, uint32_t n, uint32_t seed)
{
	rig_fill(r.buf[from] + SRC, n, seed);
	memset(r.buf[to] + DST, 0, n + GRH);
}

/* After a failed send the QP is in SQE; the send queue can be restarted. */
static void test_restart(struct xv_qp *qp, const char *type)
{
	struct xv_qp_attr a = { .qp_state = XV_QPS_RTS, .cur_qp_state = XV_QPS_SQE }, now;

	ok(!xv_query_qp(qp, &now, 0, NULL) && now.qp_state == XV_QPS_SQE,
	   "%s: the QP is in SQE", type);
	ok(xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_CUR_STATE | XV_QP_SQ_PSN) == -EINVAL &&
	   strstr(xv_last_error(), "sq_psn"), "%s: %s", type, xv_last_error());
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_CUR_STATE) &&
	   !xv_query_qp(qp, &now, 0, NULL) && now.qp_state == XV_QPS_RTS,
	   "%s: from SQE to RTS", type);
}

/* ---- UC ---------------------------------------------------------------- */

/* On UC a bad lkey affects only the sends after it, not the connection. */
static void test_uc_error(struct xv_qp *qp)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 64), bad = from;

	bad.lkey ^= 0x5500;
	xv_wr_write(qp, 6, XV_SEND_SIGNALED, &bad, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_wr_write(qp, 7, 0, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_commit_send(qp);
	ok(rig_expect(r.cq[0], 6, XV_WC_LOC_PROT_ERR) && rig_expect(r.cq[0], 7, XV_WC_WR_FLUSH_ERR),
	   "UC: bad lkey: local protection error, then flush");
	test_restart(qp, "UC");
	message(0, 1, 64, 4);
	xv_wr_write(qp, 8, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_commit_send(qp);
	ok(rig_expect(r.cq[0], 8, XV_WC_SUCCESS) && rig_check(r.buf[1] + DST, 64, 4),
	   "UC: send after SQE to RTS");
}

static void test_uc(void)
{
	struct xv_qp *qp[2] = {
		make_qp(0, XV_QPT_UC, NULL, NULL), make_qp(1, XV_QPT_UC, NULL, NULL),
	};
	struct xv_sge from = rig_sge(&r, 0, SRC, 9000), to = rig_sge(&r, 1, DST, 9000);
	struct xv_send_wr wr = { .sg_list = &from, .num_sge = 1, .opcode = XV_WR_RDMA_READ }, *bad;

	if (!ok(qp[0] && qp[1] &&
		!xt_connect_pair(qp[0], &r.side[0], qp[1], &r.side[1], NULL), "UC queue pairs")) {
		diag("%s", xv_last_error());
		return;
	}
	message(0, 1, 9000, 1);
	xv_wr_write(qp[0], 1, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_SUCCESS) && rig_check(r.buf[1] + DST, 9000, 1),
	   "UC: write");
	message(0, 1, 9000, 2);
	xv_wr_recv(qp[1], 2, &to);
	xv_commit_recv(qp[1]);
	xv_wr_send_imm(qp[0], 3, XV_SEND_SIGNALED, &from, xv_be32(5));
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 3, XV_WC_SUCCESS) && rig_expect(r.cq[1], 2, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 9000, 2), "UC: send with immediate");
	ok(xv_post_send(qp[0], &wr, &bad) == -XV_EINVAL, "UC: read is refused by the post");
	message(0, 1, 9000, 3);
	xv_wr_recv(qp[1], 4, &to);
	xv_commit_recv(qp[1]);
	xv_wr_write_imm(qp[0], 5, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey, 1);
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 5, XV_WC_SUCCESS) && rig_expect(r.cq[1], 4, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 9000, 3), "UC: write with immediate");
	test_uc_error(qp[0]);
	ok(!xv_destroy_qp(qp[0]) && !xv_destroy_qp(qp[1]), "UC: destroy");
}

/* ---- UD ---------------------------------------------------------------- */

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

/* One datagram with checked data, from side 0; has it a header with GIDs? */
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

/* The first RoCE v2 GID of a side that is an IPv4 address, or that is an IPv6 address */
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

/* No neighbour answers for an IPv6 address of the same host, so that one is the sender's own. */
static void test_ip_address(struct xv_qp *qp[2], bool ipv4)
{
	struct xv_ah_attr a = { .port_num = 1, .is_global = 1, .grh.hop_limit = 64 };
	struct xv_gid_entry from, to;
	struct xv_ah *ah;
	uint32_t addr;

	if (!find_gid(0, ipv4, &from) || !find_gid(ipv4, ipv4, &to)) {
		diag("no GID that is an IPv%d address", ipv4 ? 4 : 6);
		return;
	}
	a.grh.dgid = to.gid;
	a.grh.sgid_index = (uint8_t)from.gid_index;
	if (ipv4) {
		memcpy(&addr, to.gid.raw + 12, sizeof(addr));
		a.grh.dgid = xv_gid_from_ipv4(addr);
	}
	ah = xv_create_ah(r.side[0].pd, &a);
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
	   way.is_global && way.grh.hop_limit == 33 &&
	   !memcmp(&way.grh.dgid, &r.side[0].gid, sizeof(way.grh.dgid)),
	   "UD: the address from the completion has the hop limit of the packet");
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

/* ---- Shared receive queues --------------------------------------------- */

static void post_srq(struct xv_srq *srq, uint64_t wr_id)
{
	struct xv_sge to = rig_sge(&r, 1, DST + wr_id % 16 * 256, 256);
	struct xv_recv_wr wr = { .wr_id = wr_id, .sg_list = &to, .num_sge = 1 }, *bad;

	if (xv_post_srq_recv(srq, &wr, &bad))
		diag("SRQ full at %llu", (unsigned long long)wr_id);
}

/* Two queue pairs use one SRQ; every entry is used many times. */
static void test_srq(enum xv_srq_layout layout, const char *name)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 }, .layout = layout,
		.srq_context = &r };
	struct xv_srq *srq = xv_create_srq(r.side[1].pd, &attr);
	struct xv_qp *tx[2], *rx[2];
	uint64_t i, bad = 0;
	struct xv_wc wc;

	if (!ok(srq && attr.attr.max_wr >= 16, "SRQ, %s", name)) {
		diag("%s", xv_last_error());
		return;
	}
	ok(srq->srq_context == &r && srq->context == r.side[1].ctx && srq->pd == r.side[1].pd,
	   "SRQ, %s: it knows its context and domain", name);
	for (i = 0; i < 2; i++) {
		tx[i] = make_qp(0, XV_QPT_RC, NULL, NULL);
		rx[i] = make_qp(1, XV_QPT_RC, srq, NULL);
		if (!tx[i] || !rx[i] || xt_connect_pair(tx[i], &r.side[0], rx[i], &r.side[1], NULL))
			bail_out("%s", xv_last_error());
	}
	for (i = 0; i < 8; i++)
		post_srq(srq, i);
	for (i = 0; i < 1000; i++) {
		struct xv_sge from = rig_sge(&r, 0, SRC, 256);

		message(0, 0, 256, (uint32_t)i);
		xv_wr_send(tx[i % 2], i, XV_SEND_SIGNALED, &from);
		xv_commit_send(tx[i % 2]);
		bad += !rig_expect(r.cq[0], i, XV_WC_SUCCESS);
		bad += rig_poll(r.cq[1], 1, &wc) != 1 || wc.status || wc.wr_id != i ||
		       wc.qp_num != rx[i % 2]->qp_num ||
		       !rig_check(r.buf[1] + DST + i % 16 * 256, 256, (uint32_t)i);
		post_srq(srq, i + 8);
		if (bad)
			break;
	}
	ok(!bad, "SRQ, %s: 1000 messages to two queue pairs", name);
	ok(xv_destroy_srq(srq) == -EBUSY, "SRQ, %s: destroy while in use: EBUSY", name);
	for (i = 0; i < 2; i++)
		bad += !!xv_destroy_qp(tx[i]) + !!xv_destroy_qp(rx[i]);
	ok(!bad && !xv_destroy_srq(srq), "SRQ, %s: destroy", name);
}

static void test_srq_limit(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } }, made;
	struct xv_srq *srq = xv_create_srq(r.side[1].pd, &attr);
	struct xv_srq_attr limit = { .srq_limit = 4 }, now;
	struct xv_sge from = rig_sge(&r, 0, SRC, 8);
	int flags = fcntl(r.side[1].ctx->fd, F_GETFL);
	struct xv_async_event event = { 0 };
	double until = xt_now() + 5;
	struct xv_qp *tx, *rx;
	struct xv_wc wc;
	int i, err;

	tx = make_qp(0, XV_QPT_RC, NULL, NULL);
	rx = srq ? make_qp(1, XV_QPT_RC, srq, NULL) : NULL;
	if (!tx || !rx || xt_connect_pair(tx, &r.side[0], rx, &r.side[1], NULL))
		bail_out("%s", xv_last_error());
	for (i = 0; i < 8; i++)
		post_srq(srq, (uint64_t)i);
	ok(!xv_modify_srq(srq, &limit, XV_SRQ_LIMIT) && !xv_query_srq(srq, &now) &&
	   now.srq_limit == 4, "SRQ limit: armed and queried");
	xv_get_srq_init_attr(srq, &made);
	ok(!memcmp(&made, &attr, sizeof(made)), "SRQ: attributes of creation");
	memset(&now, 0, sizeof(now));
	ok(!xv_modify_srq(srq, &now, 0) && now.srq_limit == 4 && now.max_wr == attr.attr.max_wr &&
	   now.max_sge == attr.attr.max_sge, "SRQ: modify with mask 0 returns the values");
	now.max_wr = 1000;
	now.srq_limit = 2;
	ok(xv_modify_srq(srq, &now, XV_SRQ_MAX_WR | XV_SRQ_LIMIT) == -EOPNOTSUPP &&
	   !xv_query_srq(srq, &now) && now.srq_limit == 4, "SRQ: %s, the limit is unchanged",
	   xv_last_error());
	fcntl(r.side[1].ctx->fd, F_SETFL, flags | O_NONBLOCK);
	for (i = 0; i < 5; i++) {
		xv_wr_send(tx, 1, XV_SEND_SIGNALED, &from);
		xv_commit_send(tx);
		rig_expect(r.cq[0], 1, XV_WC_SUCCESS);
		rig_poll(r.cq[1], 1, &wc);
	}
	do
		err = xv_get_async_event(r.side[1].ctx, &event);
	while (err && xt_now() < until);
	ok(!err && event.event_type == XV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == srq,
	   "SRQ limit: one event when it is reached");
	if (!err)
		xv_ack_async_event(&event);
	fcntl(r.side[1].ctx->fd, F_SETFL, flags);
	ok(!xv_destroy_qp(tx) && !xv_destroy_qp(rx) && !xv_destroy_srq(srq), "SRQ limit: destroy");
}

/* ---- XRC --------------------------------------------------------------- */

static bool xrc_done(struct xv_qp *tx, int posted, uint64_t wr_id)
{
	xv_commit_send(tx);
	return !posted && rig_expect(r.cq[0], wr_id, XV_WC_SUCCESS);
}

static bool xrc_arrived(const struct xv_srq *srq, uint64_t wr_id, enum xv_wc_opcode opcode)
{
	double until = xt_now() + 10;
	struct xv_wc_queues q;
	uint64_t time;
	struct xv_wc wc;
	int got;

	do
		got = xv_poll_cq_queues(r.cq[1], 1, &wc, &time, &q);
	while (!got && xt_now() < until);
	return got == 1 && !q.qp && q.srq == srq && !q.dct && !wc.status && wc.wr_id == wr_id &&
	       wc.opcode == opcode && wc.wc_flags & XV_WC_WITH_IMM &&
	       wc.imm_data == xv_be32(srq->srq_num) && wc.byte_len == 256;
}

static void test_xrc_builders(struct xv_qp *tx, struct xv_srq *srq)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 256), back = rig_sge(&r, 0, DST, 256);
	uint64_t at = rig_addr(&r, 1, DST);
	uint32_t key = r.mr[1]->rkey, srqn = srq->srq_num;
	struct xv_wc wc;

	message(0, 1, 256, 20);
	post_srq(srq, 0);
	ok(xrc_done(tx, xv_wr_send_xrc(tx, 2, XV_SEND_SIGNALED, &from, srqn), 2) &&
	   rig_poll(r.cq[1], 1, &wc) == 1 && !wc.status && wc.wr_id == 0 && !wc.wc_flags &&
	   rig_check(r.buf[1] + DST, 256, 20), "XRC builder: send");
	message(0, 1, 256, 21);
	post_srq(srq, 16);
	ok(xrc_done(tx, xv_wr_send_imm_xrc(tx, 3, XV_SEND_SIGNALED, &from, srqn, xv_be32(srqn)),
		    3) &&
	   xrc_arrived(srq, 16, XV_WC_RECV) && rig_check(r.buf[1] + DST, 256, 21),
	   "XRC builder: send with immediate");
	message(0, 1, 256, 22);
	ok(xrc_done(tx, xv_wr_write_xrc(tx, 4, XV_SEND_SIGNALED, &from, at, key, srqn), 4) &&
	   rig_check(r.buf[1] + DST, 256, 22), "XRC builder: write");
	message(0, 1, 256, 23);
	post_srq(srq, 1);
	ok(xrc_done(tx, xv_wr_write_imm_xrc(tx, 5, XV_SEND_SIGNALED, &from, at, key, srqn,
					    xv_be32(srqn)), 5) &&
	   xrc_arrived(srq, 1, XV_WC_RECV_RDMA_WITH_IMM) && rig_check(r.buf[1] + DST, 256, 23),
	   "XRC builder: write with immediate");
	rig_fill(r.buf[1] + DST, 256, 24);
	ok(xrc_done(tx, xv_wr_read_xrc(tx, 6, XV_SEND_SIGNALED, &back, at, key, srqn), 6) &&
	   rig_check(r.buf[0] + DST, 256, 24), "XRC builder: read");
}

static void test_xrc(void)
{
	struct xv_xrcd *xrcd = xv_open_xrcd(r.side[1].ctx, -1, 0);
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 }, .xrcd = xrcd,
		.cq = r.cq[1] };
	struct xv_srq *srq = xrcd ? xv_create_srq(r.side[1].pd, &attr) : NULL;
	struct xv_sge from = rig_sge(&r, 0, SRC, 256);
	struct xv_send_wr wr = { .wr_id = 1, .sg_list = &from, .num_sge = 1, .opcode = XV_WR_SEND,
		.send_flags = XV_SEND_SIGNALED }, *bad;
	struct xv_qp *tx, *rx;
	struct xv_wc wc;

	if (!ok(srq != NULL, "XRC domain and SRQ")) {
		diag("%s", xv_last_error());
		return;
	}
	tx = make_qp(0, XV_QPT_XRC_SEND, NULL, NULL);
	rx = make_qp(1, XV_QPT_XRC_RECV, NULL, xrcd);
	if (!ok(tx && rx && !xt_connect_pair(tx, &r.side[0], rx, &r.side[1], NULL),
		"XRC queue pairs")) {
		diag("%s", xv_last_error());
		return;
	}
	message(0, 1, 256, 6);
	post_srq(srq, 0);
	wr.qp_type.xrc.remote_srqn = srq->srq_num;
	ok(!xv_post_send(tx, &wr, &bad) && rig_expect(r.cq[0], 1, XV_WC_SUCCESS) &&
	   rig_poll(r.cq[1], 1, &wc) == 1 && !wc.status && wc.wr_id == 0 && wc.byte_len == 256 &&
	   rig_check(r.buf[1] + DST, 256, 6), "XRC: send to an SRQ");
	message(0, 1, 256, 7);
	wr.opcode = XV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = rig_addr(&r, 1, DST);
	wr.wr.rdma.rkey = r.mr[1]->rkey;
	ok(!xv_post_send(tx, &wr, &bad) && rig_expect(r.cq[0], 1, XV_WC_SUCCESS), "XRC: write");
	test_xrc_builders(tx, srq);
	ok(!xv_destroy_qp(tx) && !xv_destroy_qp(rx) && !xv_destroy_srq(srq) &&
	   !xv_close_xrcd(xrcd), "XRC: destroy");
}

/* ---- Memory ------------------------------------------------------------ */

/* Writes from side 0 with an rkey of side 1. */
static bool write_through(uint32_t rkey, uint64_t addr, uint32_t n, enum xv_wc_status status)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, n);

	xv_wr_write(r.qp[0], 7, XV_SEND_SIGNALED, &from, addr, rkey);
	xv_commit_send(r.qp[0]);
	return rig_expect(r.cq[0], 7, status);
}

static bool bind(const struct xv_mw *mw, uint32_t rkey, struct xv_mr *mr, size_t offset,
		 uint64_t length, enum xv_wc_status status)
{
	struct xv_mw_bind_info info = { mr, (uintptr_t)mr->addr + offset, length,
		XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ };

	if (xv_wr_bind_mw(r.qp[1], 8, XV_SEND_SIGNALED, mw, rkey, &info))
		return false;
	xv_commit_send(r.qp[1]);
	return rig_expect(r.cq[1], 8, status);
}

static void test_window(enum xv_mw_type type)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, type);
	struct xv_mr *mr = r.mr[1];
	uint32_t old, key;

	if (!ok(mw != NULL, "type %d window: allocate", type)) {
		diag("%s", xv_last_error());
		return;
	}
	message(0, 1, 1000, 8);
	key = xv_inc_rkey(mw->rkey);
	if (!ok(bind(mw, key, mr, DST, 1000, XV_WC_SUCCESS), "type %d window: bind", type)) {
		rig_reconnect(&r, &opts);
		goto out;
	}
	old = mw->rkey;
	mw->rkey = key;
	ok(write_through(key, rig_addr(&r, 1, DST), 1000, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 1000, 8), "type %d window: write through it", type);
	ok(write_through(key, rig_addr(&r, 1, DST + 1), 1000, XV_WC_REM_ACCESS_ERR),
	   "type %d window: write beyond its end fails", type);
	rig_reconnect(&r, &opts);
	if (type == XV_MW_TYPE_1) {
		ok(write_through(old, rig_addr(&r, 1, DST), 8, XV_WC_REM_ACCESS_ERR),
		   "type 1 window: write with its old key fails");
		rig_reconnect(&r, &opts);
		ok(bind(mw, xv_inc_rkey(key), mr, DST, 0, XV_WC_SUCCESS), "type 1 window: unbind");
		ok(write_through(xv_inc_rkey(key), rig_addr(&r, 1, DST), 8, XV_WC_REM_ACCESS_ERR),
		   "type 1 window: write after unbind fails");
		rig_reconnect(&r, &opts);
	} else {
		ok(write_through(key, rig_addr(&r, 1, DST), 8, XV_WC_REM_ACCESS_ERR),
		   "type 2 window: write through another QP fails");
		rig_reconnect(&r, &opts);
	}
out:
	ok(!xv_dealloc_mw(mw), "type %d window: deallocate", type);
}

/* A window gives no access after its region has ended. */
static void test_window_without_region(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_MW_BIND;
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_1);
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, r.buf[1] + DST, 4096, access);
	uint32_t key = mw ? xv_inc_rkey(mw->rkey) : 0;

	if (!mw || !mr || !bind(mw, key, mr, 0, 1000, XV_WC_SUCCESS))
		bail_out("%s", xv_last_error());
	mw->rkey = key;
	message(0, 1, 1000, 13);
	ok(write_through(key, rig_addr(&r, 1, DST), 1000, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 1000, 13), "window of a region: write through it");
	ok(!xv_dereg_mr(mr), "the region is deregistered while the window is bound");
	memset(r.buf[1] + DST, 0, 1000);
	ok(write_through(key, rig_addr(&r, 1, DST), 1000, XV_WC_REM_ACCESS_ERR) &&
	   !r.buf[1][DST] && !r.buf[1][DST + 999], "a write through the window fails");
	rig_reconnect(&r, &opts);
	ok(!xv_dealloc_mw(mw), "deallocate the window");
}

/* xv_bind_mw() computes the new key itself. */
static void test_bind_mw(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_1);
	struct xv_mw *mw2 = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_2);
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, r.buf[1], 1 << 16, XV_ACCESS_LOCAL_WRITE |
				     XV_ACCESS_MW_BIND);
	struct xv_mw_bind b = { .wr_id = 21, .send_flags = XV_SEND_SIGNALED, .bind_info = {
		.mr = mr, .addr = rig_addr(&r, 1, 0), .length = 1000,
		.mw_access_flags = XV_ACCESS_REMOTE_WRITE } };
	uint32_t key = mw ? mw->rkey : 0;

	if (!mw || !mw2 || !mr)
		bail_out("%s", xv_last_error());
	message(0, 1, 1000, 8);
	ok(!xv_bind_mw(r.qp[1], mw, &b) && mw->rkey == xv_inc_rkey(key) &&
	   rig_expect(r.cq[1], 21, XV_WC_SUCCESS), "xv_bind_mw() binds with a new key");
	ok(write_through(mw->rkey, rig_addr(&r, 1, 0), 1000, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1], 1000, 8), "xv_bind_mw(): write with the new key");
	key = mw->rkey;
	b.bind_info.length = 0;
	ok(!xv_bind_mw(r.qp[1], mw, &b) && mw->rkey != key &&
	   rig_expect(r.cq[1], 21, XV_WC_SUCCESS), "xv_bind_mw() with length 0 unbinds");
	ok(write_through(key, rig_addr(&r, 1, 0), 8, XV_WC_REM_ACCESS_ERR),
	   "xv_bind_mw(): write after unbind fails");
	rig_reconnect(&r, &opts);
	ok(xv_bind_mw(r.qp[1], mw2, &b) == -XV_EINVAL, "xv_bind_mw() of a type 2 window: EINVAL");
	ok(xv_bind_mw(r.qp[0], mw, &b) == -XV_EINVAL, "xv_bind_mw() on a QP of another PD: EINVAL");
	ok(!xv_dealloc_mw(mw) && !xv_dealloc_mw(mw2) && !xv_dereg_mr(mr), "free");
}

/* Bind, use, local invalidate; then bind again, invalidate by the peer */
static void test_invalidate(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_2);
	struct xv_mr *mr = r.mr[1];
	struct xv_sge from = rig_sge(&r, 0, SRC, 8), to = rig_sge(&r, 1, DST, 8);
	uint32_t key = mw ? xv_inc_rkey(mw->rkey) : 0;
	struct xv_wc wc;

	if (!mw)
		bail_out("%s", xv_last_error());
	if (!ok(bind(mw, key, mr, DST, 1000, XV_WC_SUCCESS), "invalidate: bind"))
		goto out;
	mw->rkey = key;
	xv_wr_local_inv(r.qp[1], 8, XV_SEND_SIGNALED, key);
	xv_commit_send(r.qp[1]);
	ok(rig_expect(r.cq[1], 8, XV_WC_SUCCESS), "invalidate: local invalidate");
	key = xv_inc_rkey(key);
	ok(bind(mw, key, mr, DST, 1000, XV_WC_SUCCESS), "invalidate: bind again");
	mw->rkey = key;
	xv_wr_recv(r.qp[1], 9, &to);
	xv_commit_recv(r.qp[1]);
	xv_wr_send_inv(r.qp[0], 10, XV_SEND_SIGNALED, &from, key);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 10, XV_WC_SUCCESS) && rig_poll(r.cq[1], 1, &wc) == 1 &&
	   !wc.status && wc.wc_flags & XV_WC_WITH_INV && wc.invalidated_rkey == key,
	   "invalidate: send with invalidate by the peer");
	ok(write_through(key, rig_addr(&r, 1, DST), 8, XV_WC_REM_ACCESS_ERR),
	   "invalidate: write after it fails");
out:
	rig_reconnect(&r, &opts);
	ok(!xv_dealloc_mw(mw), "invalidate: deallocate");
}

static void test_rereg(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	uint8_t *mem = aligned_alloc(4096, 16384), *moved = mem + 8192;
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, mem, 8192, XV_ACCESS_LOCAL_WRITE |
				     XV_ACCESS_REMOTE_WRITE);
	struct xv_pd *other = xv_alloc_pd(r.side[1].ctx);
	uint32_t old;

	if (!mr || !other)
		bail_out("%s", xv_last_error());
	old = mr->rkey;
	if (!ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_TRANSLATION, NULL, moved, 4096, 0),
		"re-registration with other memory"))
		diag("%s", xv_last_error());
	rig_fill(r.buf[0] + SRC, 4096, 9);
	ok(write_through(mr->rkey, (uintptr_t)moved, 4096, XV_WC_SUCCESS) &&
	   rig_check(moved, 4096, 9), "re-registration: write with the new key");
	ok(old == mr->rkey || write_through(old, (uintptr_t)mem, 8, XV_WC_REM_ACCESS_ERR),
	   "re-registration: write with the old key fails");
	rig_reconnect(&r, &opts);
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, XV_ACCESS_LOCAL_WRITE) &&
	   write_through(mr->rkey, (uintptr_t)moved, 8, XV_WC_REM_ACCESS_ERR),
	   "re-registration without remote access");
	rig_reconnect(&r, &opts);
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_PD | XV_REREG_MR_CHANGE_ACCESS, other, NULL, 0,
			XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE) &&
	   write_through(mr->rkey, (uintptr_t)moved, 8, XV_WC_REM_ACCESS_ERR),
	   "re-registration in another PD");
	rig_reconnect(&r, &opts);
	ok(xv_dealloc_pd(other) == -EBUSY, "the other PD is in use");
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_PD, r.side[1].pd, NULL, 0, 0) &&
	   !xv_dealloc_pd(other) && write_through(mr->rkey, (uintptr_t)moved, 8, XV_WC_SUCCESS),
	   "re-registration in the first PD");
	ok(!xv_dereg_mr(mr), "deregister");
	free(mem);
}

/* ---- Raw WQEs ---------------------------------------------------------- */

static void test_raw(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_raddr raddr;
		struct mlx5r_data data;
	} wqe = { .ctrl = { .opmod_idx_opcode = xv_be32(MLX5R_OP_RDMA_WRITE),
			.qpn_ds = xv_be32(3), .fm_ce_se = MLX5R_CE_ALWAYS } };
	struct xv_sge from = rig_sge(&r, 0, SRC, 700);
	struct xv_wc wc;

	message(0, 1, 700, 11);
	__xv_seg_raddr(&wqe.raddr, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	__xv_seg_data(&wqe.data, &from);
	ok(!xv_wr_raw(r.qp[0], 21, &wqe), "raw: post a write");
	xv_commit_send(r.qp[0]);
	ok(rig_poll(r.cq[0], 1, &wc) == 1 && !wc.status && wc.wr_id == 21 &&
	   wc.opcode == XV_WC_DRIVER2 && rig_check(r.buf[1] + DST, 700, 11),
	   "raw: the write completes");
	wqe.ctrl.opmod_idx_opcode = xv_be32(0x3e);
	xv_wr_raw(r.qp[0], 22, &wqe);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 22, XV_WC_LOC_QP_OP_ERR), "raw: unknown opcode: QP operation error");
	rig_reconnect(&r, &opts);
}

/* In a zero-based window the first byte has address 0. */
static void test_zero_based_window(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_2);
	struct xv_mw_bind_info info = { r.mr[1], rig_addr(&r, 1, DST), 1000,
		XV_ACCESS_REMOTE_WRITE | XV_ACCESS_ZERO_BASED };
	uint32_t key = mw ? xv_inc_rkey(mw->rkey) : 0;

	if (!mw || xv_wr_bind_mw(r.qp[1], 8, XV_SEND_SIGNALED, mw, key, &info))
		bail_out("%s", xv_last_error());
	xv_commit_send(r.qp[1]);
	message(0, 1, 1000, 12);
	ok(rig_expect(r.cq[1], 8, XV_WC_SUCCESS) && write_through(key, 0, 1000, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 1000, 12), "zero-based window: write through it");
	ok(write_through(key, 1, 1000, XV_WC_REM_ACCESS_ERR),
	   "zero-based window: write beyond its end fails");
	rig_reconnect(&r, &opts);
	ok(!xv_dealloc_mw(mw), "zero-based window: deallocate");
}

static void test_bind_errors(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_2);
	struct xv_mr *mr = r.mr[1];
	uint32_t key = mw ? xv_inc_rkey(mw->rkey) : 0;

	if (!mw)
		bail_out("%s", xv_last_error());
	ok(bind(mw, key, mr, DST, 100, XV_WC_SUCCESS), "bind errors: first bind");
	mw->rkey = key;
	ok(bind(mw, xv_inc_rkey(key), mr, DST, 100, XV_WC_MW_BIND_ERR),
	   "bind errors: a type 2 window in use cannot be bound");
	rig_reconnect(&r, &opts);
	ok(!xv_dealloc_mw(mw), "bind errors: deallocate");
}

/* ---- Queues in a UMEM -------------------------------------------------- */

static void test_external(void)
{
	enum { CQ_AT = 0, QP_AT = 65536, DBR_AT = 262144, BYTES = DBR_AT + 4096 };
	void *memory = aligned_alloc(4096, BYTES);
	struct xv_umem *umem = xv_reg_umem(r.side[0].ctx, memory, BYTES);
	struct xv_uar *uar = xv_alloc_uar(r.side[0].ctx, XV_UAR_NC);
	struct xv_cq_init_attr cq_attr = { .cqe = 100,
		.external = { umem, umem, CQ_AT, DBR_AT, uar } };
	struct xv_qp_init_attr qp_attr = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 32, .max_send_sge = 1,
			 .max_recv_wr = 32, .max_recv_sge = 1 },
		.external = { umem, umem, QP_AT, DBR_AT + 64, uar } };
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	struct xv_qp *tx = NULL, *rx = make_qp(1, XV_QPT_RC, NULL, NULL);
	struct xv_cq *cq = NULL;
	int i, bad = 0;

	if (umem && uar)
		cq = xv_create_cq(r.side[0].ctx, &cq_attr);
	qp_attr.send_cq = qp_attr.recv_cq = cq;
	if (cq)
		tx = xv_create_qp(r.side[0].pd, &qp_attr);
	if (!ok(tx && rx && !xt_connect_pair(tx, &r.side[0], rx, &r.side[1], NULL),
		"UMEM: CQ and QP in it")) {
		diag("%s", xv_last_error());
		return;
	}
	ok((uint8_t *)memory + CQ_AT == cq->buf && tx->sq.buf >= (uint8_t *)memory + QP_AT &&
	   tx->sq.buf < (uint8_t *)memory + DBR_AT, "UMEM: the rings have the requested addresses");
	ok((char *)tx->sq.doorbell == (char *)uar->addr + uar->qp_doorbell &&
	   (char *)cq->doorbell == (char *)uar->addr + uar->cq_doorbell,
	   "UMEM: the queues use their own UAR");
	for (i = 0; i < 500; i++) {
		message(0, 1, 64, (uint32_t)i);
		bad += !!xv_wr_write(tx, (uint64_t)i, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST),
				     r.mr[1]->rkey);
		xv_commit_send(tx);
		bad += !rig_expect(cq, (uint64_t)i, XV_WC_SUCCESS) ||
		       !rig_check(r.buf[1] + DST, 64, (uint32_t)i);
	}
	ok(!bad, "UMEM: 500 writes");
	ok(xv_dereg_umem(umem) == -EBUSY, "UMEM in use: deregister: EBUSY");
	ok(xv_free_uar(uar) == -EBUSY, "UAR in use: free: EBUSY");
	ok(!xv_destroy_qp(tx) && !xv_destroy_qp(rx) && !xv_destroy_cq(cq) && !xv_dereg_umem(umem) &&
	   !xv_free_uar(uar), "destroy the queues, then UMEM and UAR");
	free(memory);
}

/* ---- Resizing a CQ under traffic --------------------------------------- */

static void test_resize(void)
{
	static const uint32_t entries[] = { 1000, 130, 4000, 128, 500 };
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	uint64_t next = 0, done = 0, bad = 0;
	uint32_t i, k;
	struct xv_wc wc[8];

	for (i = 0; i < ARRAY_SIZE(entries) && !bad; i++) {
		for (k = 0; k < 700; k++) {
			int n;

			while (next - done < 40 &&
			       !xv_wr_write(r.qp[0], next, XV_SEND_SIGNALED, &from,
					    rig_addr(&r, 1, DST), r.mr[1]->rkey))
				next++;
			xv_commit_send(r.qp[0]);
			if (k == 350 && xv_resize_cq(r.cq[0], entries[i])) {
				diag("%u entries: %s", entries[i], xv_last_error());
				bad++;
			}
			n = xv_poll_cq(r.cq[0], 8, wc);
			for (int j = 0; j < n; j++)
				bad += wc[j].status || wc[j].wr_id != done++;
		}
	}
	while (done < next && !bad) {
		bad += rig_poll(r.cq[0], 1, wc) != 1 || wc[0].wr_id != done;
		done++;
	}
	ok(!bad, "CQ resized five times under traffic: no completion lost or duplicated");
}

static size_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	if (!f || fscanf(f, "%zu", &pages) != 1)
		bail_out("/proc/self/statm");
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* If the new ring cannot be mapped, the queue keeps the old one. */
static void test_resize_without_room(void)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	uint32_t cqe = r.cq[0]->cqe;
	struct rlimit old, tight;
	int err, i, bad = 0;

	getrlimit(RLIMIT_AS, &old);
	tight = old;
	tight.rlim_cur = address_space();
	setrlimit(RLIMIT_AS, &tight);
	err = xv_resize_cq(r.cq[0], 100000);
	setrlimit(RLIMIT_AS, &old);
	ok(err == -ENOMEM && r.cq[0]->cqe == cqe, "resize without free address space: %s",
	   xv_last_error());
	for (i = 0; i < 1000 && !bad; i++) {
		xv_wr_write(r.qp[0], (uint64_t)i, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST),
			    r.mr[1]->rkey);
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], (uint64_t)i, XV_WC_SUCCESS);
	}
	ok(!bad, "the CQ is unchanged");
	ok(!xv_resize_cq(r.cq[0], 5000) && r.cq[0]->cqe == 8191, "resize with free address space");
}

/* Stands for the function of the C library: mapping the new ring of a CQ can fail. */
static bool no_fixed_mapping;

void *mmap(void *addr, size_t length, int prot, int flags, int file, off_t offset)
{
	if (no_fixed_mapping && flags & MAP_FIXED) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, addr, length, prot, flags, file, offset);
}

/* Then the completions so far can be polled, and no later ones come. */
static void test_resize_lost(void)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	uint64_t i, n = 0;
	struct xv_wc wc;
	int err;

	for (i = 0; i < 3; i++)
		xv_wr_write(r.qp[0], i, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST),
			    r.mr[1]->rkey);
	xv_commit_send(r.qp[0]);
	usleep(100000);
	no_fixed_mapping = true;
	err = xv_resize_cq(r.cq[0], 100);
	no_fixed_mapping = false;
	ok(err == -ENOMEM && strstr(xv_last_error(), "is lost"), "resize: %s", xv_last_error());
	while (n < 3 && rig_expect(r.cq[0], n, XV_WC_SUCCESS))
		n++;
	ok(n == 3, "earlier completions can be polled");
	xv_wr_write(r.qp[0], 3, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_commit_send(r.qp[0]);
	usleep(100000);
	ok(!xv_poll_cq(r.cq[0], 1, &wc), "no later completion comes");
	ok(xv_resize_cq(r.cq[0], 200) == -EINVAL, "resize again: %s", xv_last_error());
}

int main(int argc, char **argv)
{
	struct rig_opts opts = { .size = 1 << 20, .rc = { .timeout = 10, .retry_cnt = 2 },
		.access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ |
			  XV_ACCESS_REMOTE_ATOMIC | XV_ACCESS_MW_BIND };

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	test_uc();
	test_ud();
	test_srq(XV_SRQ_LINKED_LIST, "linked list");
	test_srq(XV_SRQ_CONTIGUOUS, "contiguous");
	test_srq_limit();
	test_xrc();
	test_window(XV_MW_TYPE_1);
	test_window(XV_MW_TYPE_2);
	test_window_without_region();
	test_bind_mw();
	test_zero_based_window();
	test_invalidate();
	test_rereg();
	test_raw();
	test_bind_errors();
	test_external();
	test_resize();
	test_resize_without_room();
	test_resize_lost();
	rig_close(&r);
	return tap_done();
}
