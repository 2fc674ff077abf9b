// SPDX-License-Identifier: GPL-2.0
/* Datagrams from function 0 to one of the two functions, or to a multicast group of both */
#include <string.h>
#include <asm/byteorder.h>
#include "model.h"

#define GRH_BYTES	40u
#define MTU		4096u

/* Destination: a function, the group of both functions, an address that no port has */
enum to { FIRST, SECOND, GROUP, NOBODY, NTO };

/* Source GID: IPv4, RoCE v1, IPv6, an empty entry */
enum sgid { IPV4, GRH, IPV6, EMPTY, NSGID };

static u8 sgids[NSGID][16] = {
	[IPV4] = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
	[GRH] = { 0xfe, 0x80, [15] = 1 },
	[IPV6] = { 0x20, 1, [15] = 1 },
};

/* The posted receive request, at most one for each queue */
static struct {
	bool posted;
	struct model_seg to;
	u32 room;
} receive[SESSION_FUNCS];

static const u8 group[16] = { 0xff, 0x0e, [15] = 5 };

void begin_datagrams(void)
{
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		receive[func].posted = false;
		session_join_group(&ud[func], group);
	}
	s.hca[0]->gids[GRH] = (struct hca_gid) { .valid = true };
	s.hca[0]->gids[IPV6] = (struct hca_gid) { .valid = true, .version = MLX5_ROCE_VERSION_2 };
	s.hca[0]->gids_end = IPV6 + 1;
	memcpy(s.hca[0]->gids[GRH].gid, sgids[GRH], 16);
	memcpy(s.hca[0]->gids[IPV6].gid, sgids[IPV6], 16);
}

static void post_receive(const struct action *t, int func)
{
	struct model_seg to = model_seg(&ud[func], t->rkey, t->rkey_flaw,
					t->roff % (REGION_BYTES + 16), MLX5R_MKEY_ACCESS_LW);
	struct xv_sge sge = { .addr = to.addr, .length = t->rlen % 8192, .lkey = to.key };

	if (receive[func].posted)
		return;
	receive[func].posted = true;
	receive[func].to = to;
	receive[func].room = sge.length;
	xv_wr_recv(&ud[func].qp, 2, &sge);
	xv_commit_recv(&ud[func].qp);
}

static struct xv_ah address(const struct action *t)
{
	struct xv_ah ah = session_ah(&s, t->ud.to % NTO == SECOND);

	ah.av.tclass = t->ud.tclass;
	ah.av.hop_limit = t->ud.hop_limit;
	ah.av.grh_gid_fl = cpu_to_be32(MLX5R_AV_GRH | t->ud.sgid % NSGID << 20 |
				       (t->ud.flow_label & 0xfffff));
	if (t->ud.to % NTO == GROUP)
		memcpy(ah.av.rgid, group, sizeof(group));
	else if (t->ud.to % NTO == NOBODY)
		ah.av.rgid[15] ^= 0x80;
	return ah;
}

/* ---- The model ------------------------------------------------------------------------- */

static void put(u8 *at, u32 value, u32 bytes)
{
	while (bytes--)
		*at++ = value >> 8 * bytes;
}

/* Builds the header that a receiver gets, without the IPv4 checksum. */
static void header(const struct action *t, const struct mlx5r_av *av, u32 len, u8 *h)
{
	enum sgid from = t->ud.sgid % NSGID;

	len = (len + 3) & ~3;
	memset(h, 0, GRH_BYTES);
	if (from == IPV4) {
		h += 20;
		put(h, 0x45 << 24 | av->tclass << 16 | (len + 52), 4);
		put(h + 4, 0x4000, 4);
		put(h + 8, (u32)av->hop_limit << 24 | 17 << 16, 4);
		memcpy(h + 12, sgids[IPV4] + 12, 4);
		memcpy(h + 16, av->rgid + 12, 4);
		return;
	}
	put(h, 6u << 28 | av->tclass << 20 | (t->ud.flow_label & 0xfffff), 4);
	put(h + 4, (len + (from == IPV6 ? 32 : 24)) << 16 | (from == IPV6 ? 17 : 0x1b) << 8 |
	    av->hop_limit, 4);
	memcpy(h + 8, sgids[from], 16);
	memcpy(h + 24, av->rgid, 16);
}

static void add_checksum(u8 *h)
{
	u32 sum = 0, i;

	for (i = 0; i < 20; i += 2)
		sum += h[i] << 8 | h[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put(h + 10, ~sum & 0xffff, 2);
}

/* Copies a datagram to the receive request; returns the status of this request. */
static int deliver(int func, u8 *datagram, u32 len)
{
	struct model_seg to = receive[func].to;

	receive[func].posted = false;
	if (GRH_BYTES + len > receive[func].room)
		return XV_WC_LOC_LEN_ERR;
	return model_copy(to, model_bytes(datagram), GRH_BYTES + len) ?
		XV_WC_LOC_PROT_ERR : XV_WC_SUCCESS;
}

static bool reaches(const struct action *t, int func)
{
	enum to to = t->ud.to % NTO;

	if (t->ud.sgid % NSGID == EMPTY || t->ud.qkey % 4 == 1 || !receive[func].posted)
		return false;
	/* The receivers have RoCE v2 addresses, the first one also an address of version 1. */
	if (to == GROUP)
		return t->ud.sgid % NSGID != GRH || func == 0;
	return to == (enum to)func && t->ud.qpn % 4 != 1 && t->ud.sgid % NSGID != GRH;
}

/* Returns the status of the send request; sets that of each receive request. */
static int predict(const struct action *t, const struct mlx5r_av *av, struct model_seg from,
		   u32 len, int *received)
{
	u8 datagram[GRH_BYTES + MTU];
	int func;

	for (func = 0; func < SESSION_FUNCS; func++)
		received[func] = NOTHING;
	if (len > MTU)
		return XV_WC_LOC_LEN_ERR;
	if (model_copy(model_bytes(datagram + GRH_BYTES), from, len))
		return XV_WC_LOC_PROT_ERR;
	header(t, av, len, datagram);
	if (t->ud.sgid % NSGID == IPV4)
		add_checksum(datagram + 20);
	for (func = 0; func < SESSION_FUNCS; func++)
		if (reaches(t, func))
			received[func] = deliver(func, datagram, len);
	/* If the receive request of the sender fails, its send request is flushed. */
	return received[0] > XV_WC_SUCCESS ? XV_WC_WR_FLUSH_ERR : XV_WC_SUCCESS;
}

/* ---- One datagram ------------------------------------------------------------------------ */

static bool expect(const struct action *t, int sent, const int *received, u32 len)
{
	bool good = sent == XV_WC_SUCCESS;
	struct xv_wc wc;
	int func;

	/* Both completions of function 0 are in one CQ: that of the receive comes first. */
	if (received[0] != NOTHING) {
		check(xv_poll_cq(&ud[0].cq, 1, &wc) == 1 && wc.wr_id == 2 &&
		      (int)wc.status == received[0],
		      "the receive completion of the sender differs from the model");
		good = good && received[0] == XV_WC_SUCCESS;
	}
	model_expect(&ud[0], sent, &wc);
	model_expect(&ud[1], received[1], &wc);
	if (received[1] == XV_WC_SUCCESS)
		check(wc.byte_len == GRH_BYTES + len && wc.src_qp == ud[0].qp.qp_num &&
		      (wc.wc_flags & XV_WC_GRH),
		      "the receive completion has a wrong sender or length");
	for (func = 0; func < SESSION_FUNCS; func++)
		good = good && (received[func] == NOTHING || received[func] == XV_WC_SUCCESS);
	return good;
}

bool perform_datagram(const struct action *t)
{
	u8 *wqe = (u8 *)__xv_sq_next(&ud[0].qp.sq);
	u32 len = t->len % (MTU + 16), qkey = SESSION_QKEY;
	struct model_seg from = model_seg(&ud[0], t->lkey, t->lkey_flaw,
					  t->loff % (REGION_BYTES + 16), MLX5R_MKEY_ACCESS_LR);
	struct xv_sge sge = { .addr = from.addr, .length = len, .lkey = from.key };
	u32 qpn = ud[t->ud.to % NTO == SECOND].qp.qp_num;
	struct xv_ah ah = address(t);
	int func, sent, received[SESSION_FUNCS];

	if (t->ud.qkey % 4 == 1)
		qkey ^= 0x10;
	else if (t->ud.qkey % 4 == 2)
		qkey = 0x80000000;	/* bit 31: the Q_Key of the QP is used */
	if (t->ud.qpn % 4 == 1)
		qpn ^= 0x100;
	for (func = 0; func < SESSION_FUNCS; func++)
		if (t->post >> func & 1)
			post_receive(t, func);
	if (xv_wr_send_ud(&ud[0].qp, 1, XV_SEND_SIGNALED, &sge, &ah, qpn, qkey))
		return false;
	sent = predict(t, &ah.av, from, len, received);
	if (!model_run(t, &ud[0], wqe))
		return false;
	return expect(t, sent, received, len);
}
