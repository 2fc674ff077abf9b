// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that answer with what no receiver sends, and a peer that leaves its host in the middle of a
 * message.
 */
#include <string.h>
#include "data/wire.h"
#include "tap.h"
#include "wire_link.h"

#define SETTLE	(20 * NSEC_PER_SEC)

static struct wire w;
static struct session_qp a, b;
static struct session_mr from, to;

static struct hca_qp *hw(const struct session_qp *q)
{
	return hca_qp_get(q->s->hca[q->func], q->qp.qp_num);
}

static void write_message(u32 len)
{
	struct xv_sge sge = session_sge(&from, 0, len);

	xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, to.addr, to.key);
	xv_commit_send(&a.qp);
}

/* The status of the only completion, or -1 */
static int status(void)
{
	struct xv_wc wc;

	return xv_poll_cq(&a.cq, 1, &wc) == 1 ? (int)wc.status : -1;
}

/* ---- Acknowledgements of a kind that does not exist ------------------------------------ */

static bool lose_all(const u8 *frame, u32 bytes, u32 nth)
{
	return true;
}

/* The request is lost, and the peer acknowledges it with @syndrome. */
static int answered_with(u8 syndrome)
{
	struct hca_packet p;
	int ret;

	wire_init(&w, 1);
	wire_pair(&w, MLX5_QP_ST_RC, &a, &b);
	from = session_mr(&w.s[0], 0, 4096, ALL_ACCESS);
	to = session_mr(&w.s[1], 0, 4096, ALL_ACCESS);
	wire_script(&w, lose_all);
	write_message(64);
	wire_settle(&w, 100 * NSEC_PER_USEC);
	wire_script(&w, NULL);
	p = hca_wire_packet(hw(&b), HCA_BTH_ACK, hw(&b)->rq_psn);
	p.syndrome = syndrome;
	hca_wire_find_flow(hw(&b));
	p.flow = hw(&b)->wire->flow;
	hca_wire_send_bytes(hw(&b)->port, &p, (const u8 *)"");
	wire_script(&w, lose_all);
	wire_settle(&w, 100 * NSEC_PER_USEC);
	ret = status();
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	wire_free(&w);
	return ret;
}

static void test_syndromes(void)
{
	u32 syndrome, wrong = 0;

	tap_is(answered_with(HCA_AETH_ACK), XV_WC_SUCCESS, "an acknowledgement completes it");
	tap_is(answered_with(HCA_AETH_NAK | HCA_NAK_ACCESS), XV_WC_REM_ACCESS_ERR,
	       "a negative one fails it");
	for (syndrome = 0x40; syndrome < 0x60; syndrome++)
		wrong += answered_with(syndrome) != -1;
	for (syndrome = 0x64; syndrome < 0x100; syndrome++)
		wrong += answered_with(syndrome) != -1;
	tap_is(wrong, 0, "reserved ones do nothing");
}

/* ---- The peer leaves its host --------------------------------------------------------------- */

/* The message begins again on the wire, where nobody answers. */
static void test_leaves(void)
{
	const u32 bytes = 1u << 20;
	struct hca *there;

	wire_init(&w, 1);
	there = w.s[0].hca[1];
	session_qp(&w.s[0], 0, MLX5_QP_ST_RC, 6, 6, &a);
	session_qp(&w.s[0], 1, MLX5_QP_ST_RC, 6, 6, &b);
	session_connect(&a, &b);
	from = session_mr(&w.s[0], 0, bytes, ALL_ACCESS);
	to = session_mr(&w.s[0], 1, bytes, ALL_ACCESS);
	write_message(bytes);
	while (w.s[0].fabric.stat.bytes < bytes / 4)
		hca_fabric_poll(&w.s[0].fabric);
	ok(hw(&a)->in_message && !w.sent, "a part of a message has arrived, without packets");
	there->gids[w.s[0].path.gid].valid = false;
	hca_route_changed(&w.s[0].fabric);
	wire_settle(&w, NSEC_PER_MSEC);
	ok(w.sent && !hw(&a)->in_message && !hw(&a)->done, "it begins again on the wire");
	wire_settle(&w, SETTLE);
	tap_is(status(), XV_WC_RETRY_EXC_ERR, "and fails, because nobody answers");
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	wire_free(&w);
}

int main(void)
{
	test_syndromes();
	test_leaves();
	return tap_done();
}
