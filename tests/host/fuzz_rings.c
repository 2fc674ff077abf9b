// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes what a process can write: its rings, completion queues, doorbell records and doorbell
 * page.
 *
 * A hostile process uses four functions, with its own protection domain and doorbell page on
 * each. It has two connected queue pairs, one with a shared receive queue; two XRC queue pairs
 * with a shared receive queue that is destroyed and created; one UD queue pair; a DCI, and a DCT
 * that is drained, destroyed and created; memory regions and indirect keys; a CQ that no queue
 * uses. Some queues are masters or managed. A crowd of queue pairs waits for each other's
 * completions. Completions have 128 bytes if the size of the input is odd, and may have data. The
 * input is a list of the actions of the process. Some post valid requests.
 *
 * Another process, the victim, uses two of the functions. Its messages must arrive complete
 * and within a limit of passes. Only memory of the hostile process may change. No turn may be
 * above its limits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "dc.h"
#include "waiters.h"

#define LOG_QUEUE	4u
#define LOG_STRIDE	6u		/* of the shared receive queue */
#define QUEUE_BYTES	(1u << LOG_QUEUE << LOG_STRIDE)
#define MR_BYTES	8192u
#define SOON		1000		/* limit of passes until a message has arrived */
#define OTHERS		(1u << 18)	/* maximum bytes of memory of others */

enum { RC0, RC1_SRQ, UD, XRC0, XRC1, DCI, VICTIM0, VICTIM1, NQPS };
#define HOSTILE		6u		/* queue pairs */
/* The function of a hostile queue pair; that of the DCI has no victim. */
#define FUNCTION(i)	((i) == DCI ? 2 : (i) % SESSION_FUNCS)
#define KEYS		3u		/* indirect keys on each function */
#define OCTOWORDS	8u
#define CROWD		12u		/* queue pairs that wait for each other's completions */

struct act {
	u8 what, which;
	u16 at;
	u64 value;
} __attribute__((packed));

static struct session s;
static struct session_qp q[NQPS];
static struct session_mr mr[SESSION_FUNCS], victim[2];
static u32 keys[SESSION_FUNCS][KEYS];
static struct session_qp crowd[CROWD];
static struct session_qp spare;		/* its CQ; the queue pair is destroyed */
static struct session_srq xrc_srq;
static struct dc_target dct;		/* receives from the same queue as RC1_SRQ */
static struct hca_srq *shared;
static u8 *srq_ring;
static __be32 *srq_record;
static u8 *page[SESSION_FUNCS];		/* of doorbells */
static u8 others[OTHERS];
static size_t others_end;

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "rings: %s\n", what);
	abort();
}

/* ---- Setup ----------------------------------------------------------------------- */

static u32 number(int func, u16 opcode)
{
	u32 in[4] = {}, out[4] = {};

	MLX5_SET(alloc_pd_in, in, opcode, opcode);
	check(!session_cmd(&s, func, in, sizeof(in), out, sizeof(out)), "setup");
	return MLX5_GET(alloc_pd_out, out, pd);
}

/* Makes an SRQ. WQE n of the list links to WQE n + 1. */
static struct hca_srq *make_srq(int func)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_rmp_in) + 8) / 4] = {};
	u32 out[MLX5_ST_SZ_DW(create_rmp_out)] = {};
	void *wq = MLX5_ADDR_OF(create_rmp_in, in, ctx.wq);
	u64 ring = session_alloc(&s, QUEUE_BYTES), record = session_alloc(&s, 8);
	__be64 pa = cpu_to_be64(ring);
	u32 i;

	MLX5_SET(create_rmp_in, in, opcode, MLX5_CMD_OP_CREATE_RMP);
	MLX5_SET(create_rmp_in, in, ctx.state, 1);
	MLX5_SET(wq, wq, pd, s.pd[func]);
	MLX5_SET(wq, wq, log_wq_stride, LOG_STRIDE);
	MLX5_SET(wq, wq, log_wq_sz, LOG_QUEUE);
	MLX5_SET64(wq, wq, dbr_addr, record);
	memcpy(MLX5_ADDR_OF(wq, wq, pas), &pa, sizeof(pa));
	check(!session_cmd(&s, func, in, sizeof(in), out, sizeof(out)), "no shared queue");
	srq_ring = session_ptr(&s, ring);
	srq_record = session_ptr(&s, record);
	for (i = 0; i < 1u << LOG_QUEUE; i++)
		((struct mlx5r_srq_next *)(srq_ring + (i << LOG_STRIDE)))->next_wqe_index =
			cpu_to_be16(i + 1);
	return hca_table_get(&s.hca[func]->srqs, MLX5_GET(create_rmp_out, out, rmpn));
}

static struct hca_qp *hw(u32 i)
{
	return hca_table_get(&s.hca[q[i].func]->qps, q[i].qp.qp_num);
}

static struct hca_eq *eq(int func)
{
	return hca_table_get(&s.hca[func]->eqs, s.eqn[func]);
}

static void begin_victim(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		victim[i] = session_mr(&s, i, MR_BYTES, ALL_ACCESS);
		session_qp(&s, i, MLX5_QP_ST_RC, LOG_QUEUE, LOG_QUEUE, &q[VICTIM0 + i]);
	}
	session_connect(&q[VICTIM0], &q[VICTIM1]);
}

static void make_dct(void)
{
	struct dc_srq srq = { .srqn = shared->srqn };

	dct = dc_target(&s, q[RC1_SRQ].func, &srq, q[RC1_SRQ].cqn);
}

static void begin_hostile(void)
{
	static const u8 st[HOSTILE] = {
		[RC0] = MLX5_QP_ST_RC, [RC1_SRQ] = MLX5_QP_ST_RC, [UD] = MLX5_QP_ST_UD,
		[XRC0] = MLX5_QP_ST_XRC, [XRC1] = MLX5_QP_ST_XRC, [DCI] = MLX5_QP_ST_DCI,
	};
	static const u8 cross[HOSTILE] = {
		[RC0] = SESSION_MASTER, [XRC0] = SESSION_MASTER,
		[XRC1] = SESSION_MASTER | SESSION_MANAGED_SEND | SESSION_MANAGED_RECV,
		[DCI] = SESSION_MASTER,
	};
	int func;
	u32 i;

	for (func = 0; func < SESSION_FUNCS; func++) {
		s.pd[func] = number(func, MLX5_CMD_OP_ALLOC_PD);
		s.uar[func] = number(func, MLX5_CMD_OP_ALLOC_UAR);
		page[func] = s.hca[func]->p.bar + s.uar[func] * HCA_PAGE_SIZE;
		mr[func] = session_mr(&s, func, MR_BYTES, ALL_ACCESS);
		for (i = 0; i < KEYS; i++)
			keys[func][i] = session_umr_key(&s, func, i ? MLX5R_MKEY_MODE_KLM :
							MLX5R_MKEY_MODE_KSM, OCTOWORDS);
	}
	for (i = 0; i < HOSTILE; i++) {
		s.cross = cross[i];
		session_qp(&s, FUNCTION(i), st[i], LOG_QUEUE, LOG_QUEUE, &q[i]);
	}
	s.cross = SESSION_MASTER;
	for (i = 0; i < CROWD; i++) {
		session_qp(&s, FUNCTION(RC0), MLX5_QP_ST_UC, LOG_QUEUE, LOG_QUEUE, &crowd[i]);
		session_connect(&crowd[i], &crowd[i]);
	}
	s.cross = 0;
	session_qp(&s, FUNCTION(RC0), MLX5_QP_ST_RC, LOG_QUEUE, LOG_QUEUE, &spare);
	session_qp_destroy(&spare);
	shared = make_srq(q[RC1_SRQ].func);
	xrc_srq = session_xrc_srq(&q[XRC1], NULL);
	session_connect(&q[RC0], &q[RC1_SRQ]);
	session_connect(&q[XRC0], &q[XRC1]);
	session_connect(&q[UD], &q[UD]);
	session_connect(&q[DCI], &q[DCI]);
	hw(RC1_SRQ)->srq = shared;
	shared->users++;
	hca_depend(&shared->dependents, &hw(RC1_SRQ)->on_srq);
	make_dct();
}

static void begin(bool wide)
{
	static size_t used;
	int func, type;

	if (!used) {
		shim_step = 0;
		session_init(&s);
		used = s.used;
	}
	s.used = used;
	s.wide = wide;
	for (func = 0; func < SESSION_FUNCS; func++) {
		session_restart(&s, func);
		for (type = 1; type < 0x20; type++)
			s.hca[func]->async_eq[type] = eq(func);
	}
	begin_victim();
	others_end = s.used;
	check(others_end <= OTHERS, "too much memory");
	begin_hostile();
}

static void end(void)
{
	u32 i;

	for (i = 0; i < NQPS; i++) {
		free(q[i].qp.rq.wr_id);
		free(q[i].qp.sq.entry);
	}
	for (i = 0; i < CROWD; i++) {
		free(crowd[i].qp.rq.wr_id);
		free(crowd[i].qp.sq.entry);
	}
}

/* ---- The victim ------------------------------------------------------------------ */

/* The driver reads all events. */
static void serve_events(void)
{
	int func;

	for (func = 0; func < SESSION_FUNCS; func++)
		hca_eq_doorbell(eq(func), eq(func)->pi, true);
}

static void remember(void)
{
	memcpy(others, s.mem, others_end);
}

/* Event queues are excluded: events of the hostile process may be written there. */
static void check_others(void)
{
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		u8 *entries = hca_buf_at(&eq(func)->buf, 0);

		memcpy(others + (entries - s.mem), entries, HCA_PAGE_SIZE);
	}
	check(!memcmp(others, s.mem, others_end), "memory of others has changed");
}

static void transfer(int from, u8 seed)
{
	struct xv_sge sge = session_sge(&victim[from], 0, MR_BYTES);
	struct session_qp *qp = &q[VICTIM0 + from];
	struct xv_wc wc = { .status = ~0 };
	int n;

	memset(victim[from].ptr, seed, MR_BYTES);
	memset(victim[!from].ptr, ~seed, MR_BYTES);
	xv_wr_write(&qp->qp, 1, XV_SEND_SIGNALED, &sge, victim[!from].addr,
		    victim[!from].key);
	xv_commit_send(&qp->qp);
	for (n = 0; n < SOON && !xv_poll_cq(&qp->cq, 1, &wc); n++)
		hca_fabric_poll(&s.fabric);
	check(wc.status == XV_WC_SUCCESS, "a message does not arrive in time");
	check(!memcmp(victim[0].ptr, victim[1].ptr, MR_BYTES) &&
	      victim[!from].ptr[MR_BYTES - 1] == seed, "a message arrives with wrong data");
	remember();
}

/* ---- The hostile process ---------------------------------------------------------------- */

/* Writes up to eight bytes anywhere in a ring or record. */
static void scribble(const struct act *a)
{
	struct session_qp *h = &q[a->which % HOSTILE];
	const struct {
		void *at;
		u32 bytes;
	} own[] = {
		{ h->qp.sq.buf, MLX5R_WQEBB << LOG_QUEUE },
		{ h->qp.rq.buf, MLX5R_WQEBB << LOG_QUEUE },
		{ h->cq.buf, 1u << (LOG_QUEUE + 2 + h->cq.log_stride) },
		{ (void *)h->qp.sq.dbrec, 8 }, { (void *)h->cq.dbrec, 8 },
		{ srq_ring, QUEUE_BYTES }, { srq_record, 4 },
		{ mr[h->func].ptr, MR_BYTES },
	};
	u32 i = a->which / HOSTILE % ARRAY_SIZE(own), at = a->at % own[i].bytes;

	memcpy((u8 *)own[i].at + at, &a->value, min(8u, own[i].bytes - at));
}

/* Sets a counter to a value near the one that the adapter has. */
static void count(const struct act *a)
{
	u32 i = a->which % HOSTILE;
	__be32 *record = (__be32 *)q[i].qp.sq.dbrec;
	s8 more = a->value;

	switch (a->at % 4) {
	case 0:
		record[MLX5R_DBR_SND] = cpu_to_be32((u16)(hw(i)->sq.pi + more));
		break;
	case 1:
		record[MLX5R_DBR_RCV] = cpu_to_be32((u16)(hw(i)->rq.pi + more));
		break;
	case 2:
		*srq_record = cpu_to_be32(be32_to_cpu(*srq_record) + more);
		break;
	default:
		((__be32 *)q[i].cq.dbrec)[MLX5R_DBR_CQ_CI] = cpu_to_be32(hw(i)->scq->pi + more);
	}
}

/* Writes to a register of the page; the number may be of another object. */
static void ring(const struct act *a)
{
	static const u16 registers[] = {
		MLX5R_UAR_CQ, MLX5R_UAR_EQ_ARM, MLX5R_UAR_EQ, MLX5R_UAR_BF, MLX5R_UAR_BF + 0x100,
	};
	const struct session_qp *of = &q[a->which % NQPS];
	u32 which = a->which / NQPS % ARRAY_SIZE(registers);
	__be32 v[2];

	memcpy(v, &a->value, sizeof(v));
	if (a->at & 1)
		v[1] = cpu_to_be32(of->qp.qp_num << 8 | (a->value & 0x3f));
	if (a->at & 2)
		v[1] = cpu_to_be32(of->cqn);
	if (a->at & 4)
		v[0] = cpu_to_be32(s.eqn[of->func] << 24 | (a->value & 0xff));
	memcpy(page[a->at >> 3 & 3] + registers[which], v, sizeof(v));
}

/* Posts an XRC request to the shared receive queue, or to the one with the next number. */
static void post_xrc(const struct act *a, struct session_qp *h, const struct xv_sge *sge, u64 addr,
		     u32 rkey)
{
	u32 srqn = xrc_srq.srqn ^ (a->value >> 57 & 1);

	if (a->value >> 56 & 1)
		xv_wr_write_xrc(&h->qp, 1, XV_SEND_SIGNALED, sge, addr, rkey, srqn);
	else
		xv_wr_send_xrc(&h->qp, 1, XV_SEND_SIGNALED, sge, srqn);
	xv_commit_send(&h->qp);
}

/* Posts to the XRC shared receive queue, or destroys and creates it, maybe during a message. */
static void change_xrc_srq(const struct act *a)
{
	int func = q[XRC1].func;
	struct xv_sge sge = session_sge(&mr[func], a->at % MR_BYTES, a->value % MR_BYTES);

	if (a->which & 3) {
		session_srq_post(&s, &xrc_srq, &sge);
		return;
	}
	session_xrc_srq_destroy(&s, func, &xrc_srq);
	xrc_srq = session_xrc_srq(&q[XRC1], &xrc_srq);
}

/* Posts a DC request: the right target, another, none, or a wrong key */
static void post_dc(const struct act *a, struct session_qp *h, const struct xv_sge *sge, u64 addr,
		    u32 rkey)
{
	static const u8 ops[] = {
		MLX5R_OP_SEND, MLX5R_OP_RDMA_WRITE, MLX5R_OP_RDMA_READ, MLX5R_OP_RDMA_WRITE_IMM,
		MLX5R_OP_SEND_IMM, MLX5R_OP_ATOMIC_FA, MLX5R_OP_SEND, MLX5R_OP_SEND_INVAL,
	};
	struct dc_target to = dct;
	struct dc_wr wr = {
		.opcode = ops[a->value >> 56 & 7], .fm_ce_se = MLX5R_CE_ALWAYS, .nsge = 1,
		.sge = { *sge }, .raddr = addr, .rkey = rkey, .imm = cpu_to_be32(rkey),
	};

	if (wr.opcode == MLX5R_OP_ATOMIC_FA) {
		wr.sge[0].length = 8;
		wr.raddr &= ~7ull;
	}
	switch (a->which >> 3 & 0xf) {
	case 0:
		to.key ^= a->value;
		break;
	case 1:
		to.dctn ^= a->value & 7;
		break;
	case 2:
		to.dctn = q[VICTIM1].qp.qp_num;
		break;
	case 3:
		to.ah = dc_ah(&s, a->value & 3);
		break;
	}
	dc_build(h, &to, &wr);
	xv_commit_send(&h->qp);
}

/* Drains, destroys, creates or arms the DCT, maybe during a message. */
static void change_dct(const struct act *a)
{
	int func = q[RC1_SRQ].func;

	switch (a->which & 7) {
	case 0:
		dc_simple(&s, func, MLX5_CMD_OP_DRAIN_DCT, dct.dctn);
		break;
	case 1:
	case 2:
		dc_simple(&s, func, MLX5_CMD_OP_DRAIN_DCT, dct.dctn);
		if (!dc_simple(&s, func, MLX5_CMD_OP_DESTROY_DCT, dct.dctn))
			make_dct();
		break;
	case 3:
		dc_simple(&s, func, MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION, dct.dctn);
		break;
	case 4:
		hca_dma_enable(s.hca[FUNCTION(DCI)], a->value & 1);
		break;
	default:
		session_qp_modify(&q[DCI], MLX5_CMD_OP_2RST_QP, NULL);
		session_connect(&q[DCI], &q[DCI]);
	}
}

/*
 * Changes a key to up to eight entries: own memory, memory of the victim, other keys,
 * itself; or to a repeating block of these
 */
static void change_key(const struct act *a)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_umr_ctrl umr;
		struct mlx5r_mkey key;
		struct mlx5r_klm klm[OCTOWORDS];
	} r = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_UMR),
		.ctrl.qpn_ds = cpu_to_be32(sizeof(r) / MLX5R_DS),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.umr.flags = MLX5R_UMR_INLINE,
		.umr.xlt_octowords = cpu_to_be16(a->at % (OCTOWORDS + 2)),
		.umr.mkey_mask = cpu_to_be64(MLX5R_MKEY_MASK_FREE | MLX5R_MKEY_MASK_LEN |
					     MLX5R_MKEY_MASK_LR | MLX5R_MKEY_MASK_LW |
					     MLX5R_MKEY_MASK_RR | MLX5R_MKEY_MASK_RW |
					     MLX5R_MKEY_MASK_A),
		.key.flags = ALL_ACCESS,
		.key.len = cpu_to_be64(a->value & 0xffff),
	};
	struct session_qp *h = &q[a->which & 1 ? RC1_SRQ : RC0];
	u32 *own = keys[h->func];
	u32 i;

	r.ctrl.imm = cpu_to_be32(own[a->which / 2 % KEYS]);
	for (i = 0; i < OCTOWORDS; i++) {
		u8 v = a->value >> i * 8;

		r.klm[i] = (struct mlx5r_klm) {
			.byte_count = cpu_to_be32(v & 0x40 ? v & 0xf : v << 4),
			.mkey = cpu_to_be32(v & 0x20 ? own[v % KEYS] : v & 0x10 ?
					    victim[0].key : mr[h->func].key),
			.addr = cpu_to_be64(v & 0x20 ? v : mr[h->func].addr + v * 16),
		};
	}
	if (a->which & 0x40) {
		r.klm[0].mkey = cpu_to_be32(MLX5R_KLM_REPEAT);
		r.klm[0].addr = cpu_to_be64((u64)a->which << 32 | (a->value & 0xf));
	}
	h->qp.sq.ci = h->qp.sq.limit = h->qp.sq.pi;
	xv_wr_raw(&h->qp, 3, &r);
	xv_commit_send(&h->qp);
}

/* Masked atomics of all sizes, mostly aligned */
static void post_masked(const struct act *a, struct session_qp *h, struct xv_sge sge, u64 addr,
			u32 rkey)
{
	static u64 words[MLX5R_ATOMIC_MAX / sizeof(u64)];
	u32 log = 2 + (a->value >> 8) % 7;
	u64 arg = log > 3 ? (uintptr_t)words : a->value;
	struct xv_cmp_swap cs = { arg, arg, arg, arg };
	struct xv_fetch_add fa = { arg, arg };

	words[a->at % ARRAY_SIZE(words)] = a->value;
	sge.length = 1u << log;
	if (a->at & 0x30)
		addr &= ~((1ull << log) - 1);
	h->qp.sq.max_atomic_arg = MLX5R_ATOMIC_MAX;
	if (a->value & 1)
		xv_wr_masked_atomic_cs(&h->qp, 1, XV_SEND_SIGNALED, &sge, addr, rkey, log, &cs);
	else
		xv_wr_masked_atomic_fa(&h->qp, 1, XV_SEND_SIGNALED, &sge, addr, rkey, log, &fa);
}

/* Posts a request with the library, even to a full queue. The keys may be of the victim. */
static void post(const struct act *a)
{
	struct session_qp *h = &q[a->which % HOSTILE];
	static const u8 peers[HOSTILE] = {
		[RC0] = RC1_SRQ, [RC1_SRQ] = RC0, [UD] = UD, [XRC0] = XRC1, [XRC1] = XRC0,
		[DCI] = RC1_SRQ,
	};
	struct session_qp *peer = &q[peers[a->which % HOSTILE]];
	const struct session_mr *from = a->value >> 62 & 1 ? &victim[0] : &mr[h->func];
	const struct session_mr *to = a->value >> 61 & 1 ? &victim[0] : &mr[peer->func];
	struct xv_sge sge = session_sge(from, a->at % MR_BYTES, a->value % MR_BYTES);
	struct xv_ah ah = session_ah(&s, a->value >> 54 & 3);
	u64 addr = to->addr + (a->value >> 16) % MR_BYTES;
	u32 rkey = to->key;

	/* An indirect key begins at address 0. */
	if (a->value >> 60 & 1) {
		sge.lkey = keys[h->func][a->value >> 52 & 1];
		sge.addr = a->at % 1024;
	}
	if (a->value >> 59 & 1) {
		rkey = keys[peer->func][a->value >> 52 & 1];
		addr = (a->value >> 16) % 1024;
	}
	h->qp.sq.ci = h->qp.sq.limit = h->qp.sq.pi;
	h->qp.rq.ci = h->qp.rq.pi;
	if (a->which & 0x80 && h != &q[DCI]) {
		xv_wr_recv(&h->qp, 2, &sge);
		xv_commit_recv(&h->qp);
		return;
	}
	if (h == &q[DCI]) {
		post_dc(a, h, &sge, addr, rkey);
		return;
	}
	if (h > &q[UD]) {
		post_xrc(a, h, &sge, addr, rkey);
		return;
	}
	switch (h == &q[UD] ? 4 : a->value >> 56 & 3) {
	case 0:
		xv_wr_write(&h->qp, 1, XV_SEND_SIGNALED, &sge, addr, rkey);
		break;
	case 1:
		xv_wr_read(&h->qp, 1, XV_SEND_SIGNALED, &sge, addr, rkey);
		break;
	case 2:
		sge.length = 8;
		if (a->which & 0x40)
			post_masked(a, h, sge, addr, rkey);
		else
			xv_wr_atomic_fa(&h->qp, 1, XV_SEND_SIGNALED, &sge, addr & ~7ull, rkey, 1);
		break;
	case 3:
		xv_wr_send(&h->qp, 1, XV_SEND_SIGNALED, &sge);
		break;
	default:
		xv_wr_send_ud(&h->qp, 1, XV_SEND_SIGNALED, &sge, &ah,
			      q[a->value >> 56 & 3].qp.qp_num, SESSION_QKEY);
	}
	xv_commit_send(&h->qp);
}

/* A number near @now, of @bits */
static u32 about(u32 now, const struct act *a, u32 mask)
{
	return (now + (s8)(a->value >> 32)) & mask;
}

/* WAIT and ENABLE: CQs and queues of its own, of others, and none */
static void post_object(const struct act *a, struct session_qp *h)
{
	static const u8 ops[] = { MLX5R_OP_WAIT, MLX5R_OP_SEND_ENABLE, MLX5R_OP_RECV_ENABLE };
	const struct session_qp *of = &q[a->at % NQPS];
	struct hca_qp *target = hca_table_get(&s.hca[of->func]->qps, of->qp.qp_num);
	u8 op = ops[a->value % ARRAY_SIZE(ops)];
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait wait;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(op),
		.ctrl.qpn_ds = cpu_to_be32(2),
		.ctrl.fm_ce_se = a->value & 0x80 ? MLX5R_CE_ALWAYS : 0,
	};

	if (op == MLX5R_OP_WAIT) {
		w.wait.number = cpu_to_be32(a->value & 0x40 ? spare.cqn : of->cqn);
		w.wait.index = cpu_to_be32(about(target->scq->pi, a, MLX5R_WAIT_INDEX_MASK));
	} else {
		w.wait.number = cpu_to_be32(of->qp.qp_num);
		w.wait.index = cpu_to_be32(about(op == MLX5R_OP_SEND_ENABLE ? target->sq.pi :
						 target->rq_enabled, a, MLX5R_ENABLE_INDEX_MASK));
	}
	xv_wr_raw(&h->qp, 3, &w);
}

/* WAIT for data in any memory, and for times that come soon or late */
static void post_condition(const struct act *a, struct session_qp *h)
{
	bool data = a->value & 2;
	const struct session_mr *of = a->value & 4 ? &victim[0] : &mr[h->func];
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait_data wait;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32((data ? MLX5R_WAIT_DATA : MLX5R_WAIT_TIME) <<
						     MLX5R_CTRL_OPMOD_SHIFT | MLX5R_OP_WAIT),
		.ctrl.qpn_ds = cpu_to_be32(3),
		.wait.op_inv = cpu_to_be32(a->value >> 8 & 0x17),
		.wait.lkey = cpu_to_be32(a->value & 8 ? keys[h->func][a->at % KEYS] : of->key),
		.wait.addr_fail = cpu_to_be64(of->addr + (a->at % MR_BYTES &
							  (a->value & 0x40 ? ~7u : ~0u))),
		.wait.value = cpu_to_be64(data ? a->value >> 48 :
					  s.fabric.now + (a->value >> (a->value & 0x20 ? 52 : 44))),
		.wait.mask = cpu_to_be64(a->value & 0x10 ? ~0ull : a->value >> 16),
	};

	xv_wr_raw(&h->qp, 3, &w);
}

/* A calculation with operands in any memory, for its own region */
static void post_calc(const struct act *a, struct session_qp *h)
{
	u32 peer = h == &q[RC0] ? RC1_SRQ : h == &q[RC1_SRQ] ? RC0 : XRC0 + XRC1 - (h - q);
	const struct session_mr *of = a->value & 4 ? &victim[0] : &mr[h->func];
	u32 key = cpu_to_be32(a->value & 8 ? keys[h->func][a->at % KEYS] : of->key);
	__be64 addr = cpu_to_be64(a->value & 8 ? a->at % 1024 : of->addr + a->at % MR_BYTES);
	bool vector = a->value & 0x10;
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_raddr raddr;
		union {
			struct {
				struct mlx5r_vector_calc calc;
				struct mlx5r_vector_data data;
			};
			struct mlx5r_data operand[3];
		};
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(
			(vector ? MLX5R_CALC_VECTOR : a->value >> 8 & 7) << MLX5R_CTRL_OPMOD_SHIFT |
			(a->value & 0x20 ? MLX5R_OP_RDMA_READ : MLX5R_OP_RDMA_WRITE)),
		.ctrl.qpn_ds = cpu_to_be32(vector ? 5 : 2 + (a->value >> 16 & 3) % 4),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.raddr.addr = cpu_to_be64(mr[q[peer].func].addr + (a->value >> 32) % MR_BYTES),
		.raddr.rkey = cpu_to_be32(mr[q[peer].func].key),
	};
	u32 i;

	if (vector) {
		w.calc.op[0] = a->value >> 8 & 7;
		w.calc.type = a->value >> 11 & 7;
		w.calc.flags = a->value >> 14 & 0x40;
		w.calc.count = cpu_to_be16(a->value >> 48 & 0xff);
		w.data = (struct mlx5r_vector_data) {
			cpu_to_be32(a->value >> 56 << (a->value >> 22 & 7)), key, addr };
	} else {
		for (i = 0; i < 3; i++)
			w.operand[i] = (struct mlx5r_data) {
				cpu_to_be32(16), key, addr & ~cpu_to_be64(15) };
	}
	xv_wr_raw(&h->qp, 3, &w);
}

static void crowd_wait(struct session_qp *h, const struct session_qp *on, s8 ahead, u8 flags)
{
	struct hca_cq *cq = hca_table_get(&s.hca[h->func]->cqs, on->cqn);
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait wait;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_WAIT),
		.ctrl.qpn_ds = cpu_to_be32(2),
		.ctrl.fm_ce_se = flags,
		.wait.number = cpu_to_be32(on->cqn),
		.wait.index = cpu_to_be32(((cq ? cq->pi : 0) + ahead) & MLX5R_WAIT_INDEX_MASK),
	};

	xv_wr_raw(&h->qp, 3, &w);
}

/* Many queues wait for few CQs, in any order; some stop, and CQs fail while others wait. */
static void post_crowd(const struct act *a)
{
	struct session_qp *h = &crowd[a->at % CROWD];
	u32 i, n = a->value >> 8 & 0xf;

	h->qp.sq.ci = h->qp.sq.limit = h->qp.sq.pi;
	switch (a->value & 7) {
	case 0:
		session_qp_modify(h, MLX5_CMD_OP_2RST_QP, NULL);
		session_connect(h, h);
		return;
	case 1:
		session_qp_modify(h, MLX5_CMD_OP_2ERR_QP, NULL);
		return;
	case 2:
		for (i = 0; i < n; i++)
			crowd_wait(h, h, -1, MLX5R_CE_ALWAYS);
		break;
	case 3:
		for (i = 0; i < CROWD; i++) {
			struct session_qp *other = &crowd[i];

			other->qp.sq.ci = other->qp.sq.limit = other->qp.sq.pi;
			crowd_wait(other, a->value & 8 ? &spare : h,
				   a->value >> (12 + 4 * i) & 3, MLX5R_CE_ALWAYS);
			xv_commit_send(&other->qp);
		}
		return;
	default:
		crowd_wait(h, a->value & 8 ? &spare : &crowd[(a->value >> 4 & 0xf) % CROWD],
			   a->value >> 16, n & 1 ? MLX5R_CE_ALWAYS : 0);
	}
	xv_commit_send(&h->qp);
}

/* A managed queue gets the requests too; only some are masters. */
static void post_cross(const struct act *a)
{
	static void (*const kinds[])(const struct act *a, struct session_qp *h) = {
		post_object, post_object, post_condition, post_calc,
	};
	static const u8 queues[] = { RC0, XRC0, XRC1, RC1_SRQ, DCI };
	struct session_qp *h = &q[queues[a->which % ARRAY_SIZE(queues)]];

	h->qp.sq.ci = h->qp.sq.limit = h->qp.sq.pi;
	if (a->which & 0x80) {
		post_crowd(a);
	} else {
		kinds[a->which >> 2 & 3](a, h);
		xv_commit_send(&h->qp);
	}
	if (!(a->which & 0x30))
		session_cq_destroy(&spare);
}

/*
 * Changes the alternate path and its state and how much data comes in completions, or resets and
 * connects the queue pairs.
 */
static void modify(const struct act *a)
{
	struct session_qp *h = &q[a->which % HOSTILE];
	struct hca_qp *qp = hw(a->which % HOSTILE);
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);
	void *path = MLX5_ADDR_OF(qpc, qpc, secondary_address_path);
	struct xv_ah to = session_ah(&s, a->value & 3);

	if (!(a->at & 7)) {
		session_qp_modify(&q[RC0], MLX5_CMD_OP_2RST_QP, NULL);
		session_qp_modify(&q[RC1_SRQ], MLX5_CMD_OP_2RST_QP, NULL);
		session_connect(&q[RC0], &q[RC1_SRQ]);
		session_qp_modify(&q[XRC0], MLX5_CMD_OP_2RST_QP, NULL);
		session_qp_modify(&q[XRC1], MLX5_CMD_OP_2RST_QP, NULL);
		session_connect(&q[XRC0], &q[XRC1]);
		return;
	}
	qp->cs_req = a->value >> 8;
	qp->cs_res = a->value >> 16;
	hca_dct_get(s.hca[q[RC1_SRQ].func], dct.dctn)->cs_res = a->value >> 24;
	MLX5_SET(rst2init_qp_in, in, opcode, MLX5_CMD_OP_RTS2RTS_QP);
	MLX5_SET(rst2init_qp_in, in, qpn, h->qp.qp_num);
	MLX5_SET(rst2init_qp_in, in, opt_param_mask,
		 MLX5_QP_OPTPAR_ALT_ADDR_PATH | MLX5_QP_OPTPAR_PM_STATE);
	MLX5_SET(qpc, qpc, pm_state, a->at >> 3 & 3);
	MLX5_SET(ads, path, vhca_port_num, 1);
	memcpy(MLX5_ADDR_OF(ads, path, rgid_rip), to.av.rgid, sizeof(to.av.rgid));
	memcpy(MLX5_ADDR_OF(ads, path, rmac_47_32), to.av.rmac, sizeof(to.av.rmac));
	session_cmd(&s, h->func, in, sizeof(in), out, sizeof(out));
}

static void perform(const struct act *a)
{
	static void (*const acts[])(const struct act *a) = {
		scribble, count, ring, post, modify, change_xrc_srq, change_key, post_cross,
		change_dct,
	};
	u32 what = a->what % (ARRAY_SIZE(acts) + 1);
	int n;

	if (what == ARRAY_SIZE(acts)) {
		transfer(a->which & 1, a->value);
		return;
	}
	acts[what](a);
	for (n = a->what >> 5; n; n--) {
		if (a->which & 0x40)
			hca_fabric_poll_atomic(&s.fabric);
		else
			hca_fabric_poll(&s.fabric);
	}
	serve_events();
	check_others();
	check(session_turns_bounded(&s), "a turn is above the limits");
	check(waiters_good(&s), "a waiting queue is in no heap");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct act a;

	begin(size % 2);
	transfer(0, 1);
	for (; size >= sizeof(a); data += sizeof(a), size -= sizeof(a)) {
		memcpy(&a, data, sizeof(a));
		perform(&a);
	}
	hca_dma_enable(s.hca[FUNCTION(DCI)], true);
	transfer(0, 2);
	transfer(1, 3);
	end();
	return 0;
}
