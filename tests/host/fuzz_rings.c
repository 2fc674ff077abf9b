// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes what a process can write: rings, completion queues and doorbell records of
 * its own, and its doorbell page.
 *
 * A hostile process has two connected queue pairs, of which one draws on a shared
 * receive queue, one for datagrams, and a region, in a protection domain and with a
 * doorbell page of their own.  The input says what it does; valid requests are among
 * it.  A bystander on the same function must not notice: its messages arrive soon and
 * whole, and of all memory only what belongs to the hostile process may change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "session.h"

#define LOG_QUEUE	4u
#define LOG_STRIDE	6u		/* of the shared receive queue */
#define QUEUE_BYTES	(1u << LOG_QUEUE << LOG_STRIDE)
#define MR_BYTES	8192u
#define ALL_ACCESS	(MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RR | \
			 MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A)
#define SOON		1000		/* passes until a message has arrived */
#define OTHERS		(1u << 18)	/* bytes that the hostile process has no part in */

enum { RC0, RC1_SRQ, UD, BYSTANDER0, BYSTANDER1, NQPS };
#define HOSTILE		3u		/* queue pairs */

struct act {
	u8 what, which;
	u16 at;
	u64 value;
} __attribute__((packed));

static struct session s;
static struct session_qp q[NQPS];
static struct session_mr mr, bystander[2];
static u8 *srq_ring;
static __be32 *srq_record;
static u8 *page;			/* of doorbells */
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

static u32 number(u16 opcode)
{
	u32 in[4] = {}, out[4] = {};

	MLX5_SET(alloc_pd_in, in, opcode, opcode);
	check(!session_cmd(&s, 0, in, sizeof(in), out, sizeof(out)), "setup");
	return MLX5_GET(alloc_pd_out, out, pd);
}

/* Number n of the list names n + 1. */
static struct hca_srq *make_srq(void)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_rmp_in) + 8) / 4] = {}, out[MLX5_ST_SZ_DW(create_rmp_out)] = {};
	void *wq = MLX5_ADDR_OF(create_rmp_in, in, ctx.wq);
	u64 ring = session_alloc(&s, QUEUE_BYTES), record = session_alloc(&s, 8);
	__be64 pa = cpu_to_be64(ring);
	u32 i;

	MLX5_SET(create_rmp_in, in, opcode, MLX5_CMD_OP_CREATE_RMP);
	MLX5_SET(create_rmp_in, in, ctx.state, 1);
	MLX5_SET(wq, wq, pd, s.pd[0]);
	MLX5_SET(wq, wq, log_wq_stride, LOG_STRIDE);
	MLX5_SET(wq, wq, log_wq_sz, LOG_QUEUE);
	MLX5_SET64(wq, wq, dbr_addr, record);
	memcpy(MLX5_ADDR_OF(wq, wq, pas), &pa, sizeof(pa));
	check(!session_cmd(&s, 0, in, sizeof(in), out, sizeof(out)), "no shared queue");
	srq_ring = session_ptr(&s, ring);
	srq_record = session_ptr(&s, record);
	for (i = 0; i < 1u << LOG_QUEUE; i++)
		((struct mlx5r_srq_next *)(srq_ring + (i << LOG_STRIDE)))->next_wqe_index =
			cpu_to_be16(i + 1);
	return hca_table_get(&s.hca[0]->srqs, MLX5_GET(create_rmp_out, out, rmpn));
}

static struct hca_qp *hw(u32 i)
{
	return hca_table_get(&s.hca[q[i].func]->qps, q[i].qp.qp_num);
}

static struct hca_eq *eq(int func)
{
	return hca_table_get(&s.hca[func]->eqs, s.eqn[func]);
}

static void begin_bystander(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		bystander[i] = session_mr(&s, i, MR_BYTES, ALL_ACCESS);
		session_qp(&s, i, MLX5_QP_ST_RC, LOG_QUEUE, LOG_QUEUE, &q[BYSTANDER0 + i]);
	}
	session_connect(&q[BYSTANDER0], &q[BYSTANDER1]);
}

static void begin_hostile(void)
{
	struct hca_srq *srq;
	u32 i;

	s.pd[0] = number(MLX5_CMD_OP_ALLOC_PD);
	s.uar[0] = number(MLX5_CMD_OP_ALLOC_UAR);
	page = s.hca[0]->p.bar + s.uar[0] * HCA_PAGE_SIZE;
	mr = session_mr(&s, 0, MR_BYTES, ALL_ACCESS);
	session_umr_key(&s, 0, MLX5R_MKEY_MODE_KLM, 4);
	srq = make_srq();
	for (i = 0; i < HOSTILE; i++)
		session_qp(&s, 0, i == UD ? MLX5_QP_ST_UD : MLX5_QP_ST_RC, LOG_QUEUE, LOG_QUEUE, &q[i]);
	session_connect(&q[RC0], &q[RC1_SRQ]);
	session_connect(&q[UD], &q[UD]);
	hw(RC1_SRQ)->srq = srq;
	srq->users++;
	hca_depend(&srq->dependents, &hw(RC1_SRQ)->on_srq);
}

static void begin(void)
{
	static size_t used;
	int func, type;

	if (!used) {
		session_init(&s);
		used = s.used;
	}
	s.used = used;
	for (func = 0; func < SESSION_FUNCS; func++) {
		session_restart(&s, func);
		for (type = 1; type < 0x20; type++)
			s.hca[func]->async_eq[type] = eq(func);
	}
	begin_bystander();
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
}

/* ---- The bystander ------------------------------------------------------------------ */

/* The driver has its interrupts, and serves the queues of events. */
static void serve_events(void)
{
	int func;

	for (func = 0; func < SESSION_FUNCS; func++)
		hca_eq_doorbell(eq(func), eq(func)->pi);
}

static void remember(void)
{
	memcpy(others, s.mem, others_end);
}

/* Queues of events take entries about anybody. */
static void check_others(void)
{
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		u8 *entries = hca_buf_at(&eq(func)->buf, 0);

		memcpy(others + (entries - s.mem), entries, HCA_PAGE_SIZE);
	}
	check(!memcmp(others, s.mem, others_end), "another's memory has changed");
}

static void transfer(int from, u8 seed)
{
	struct xv_sge sge = session_sge(&bystander[from], 0, MR_BYTES);
	struct session_qp *qp = &q[BYSTANDER0 + from];
	struct xv_wc wc = { .status = ~0 };
	int n;

	memset(bystander[from].ptr, seed, MR_BYTES);
	memset(bystander[!from].ptr, ~seed, MR_BYTES);
	xv_wr_write(&qp->qp, 1, XV_SEND_SIGNALED, &sge, bystander[!from].addr,
		    bystander[!from].key);
	xv_commit_send(&qp->qp);
	for (n = 0; n < SOON && !xv_poll_cq(&qp->cq, 1, &wc); n++)
		hca_fabric_poll(&s.fabric);
	check(wc.status == XV_WC_SUCCESS, "a message does not arrive");
	check(!memcmp(bystander[0].ptr, bystander[1].ptr, MR_BYTES) &&
	      bystander[!from].ptr[MR_BYTES - 1] == seed, "a message does not arrive whole");
	remember();
}

/* ---- The hostile process ---------------------------------------------------------------- */

/* Up to eight bytes anywhere in a ring or record */
static void scribble(const struct act *a)
{
	struct session_qp *h = &q[a->which % HOSTILE];
	const struct {
		void *at;
		u32 bytes;
	} own[] = {
		{ h->qp.sq.buf, MLX5R_WQEBB << LOG_QUEUE },
		{ h->qp.rq.buf, MLX5R_WQEBB << LOG_QUEUE },
		{ h->cq.buf, 64u << (LOG_QUEUE + 2) },
		{ (void *)h->qp.sq.dbrec, 8 }, { (void *)h->cq.dbrec, 8 },
		{ srq_ring, QUEUE_BYTES }, { srq_record, 4 }, { mr.ptr, MR_BYTES },
	};
	u32 i = a->which / HOSTILE % ARRAY_SIZE(own), at = a->at % own[i].bytes;

	memcpy((u8 *)own[i].at + at, &a->value, min(8u, own[i].bytes - at));
}

/* A counter near what the adapter has seen */
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

/* Any register of the page, with a number that may be another's */
static void ring(const struct act *a)
{
	static const u16 registers[] = {
		MLX5R_UAR_CQ, MLX5R_UAR_EQ_ARM, MLX5R_UAR_EQ, MLX5R_UAR_BF, MLX5R_UAR_BF + 0x100,
	};
	const struct session_qp *of = &q[a->which % NQPS];
	__be32 v[2];

	memcpy(v, &a->value, sizeof(v));
	if (a->at & 1)
		v[1] = cpu_to_be32(of->qp.qp_num << 8 | (a->value & 0x3f));
	if (a->at & 2)
		v[1] = cpu_to_be32(of->cqn);
	if (a->at & 4)
		v[0] = cpu_to_be32(s.eqn[of->func] << 24 | (a->value & 0xff));
	memcpy(page + registers[a->which / NQPS % ARRAY_SIZE(registers)], v, sizeof(v));
}

/* What the library would write, never refused for want of room; with keys that may be another's */
static void post(const struct act *a)
{
	const struct session_mr *from = a->value >> 62 & 1 ? &bystander[0] : &mr;
	const struct session_mr *to = a->value >> 61 & 1 ? &bystander[0] : &mr;
	struct session_qp *h = &q[a->which % HOSTILE];
	struct xv_sge sge = session_sge(from, a->at % MR_BYTES, a->value % MR_BYTES);
	struct xv_ah ah = session_ah(&s, 0);
	u64 addr = to->addr + (a->value >> 16) % MR_BYTES;

	h->qp.sq.ci = h->qp.sq.limit = h->qp.sq.pi;
	h->qp.rq.ci = h->qp.rq.pi;
	if (a->which & 0x80) {
		xv_wr_recv(&h->qp, 2, &sge);
		xv_commit_recv(&h->qp);
		return;
	}
	switch (h == &q[UD] ? 4 : a->value >> 56 & 3) {
	case 0:
		xv_wr_write(&h->qp, 1, XV_SEND_SIGNALED, &sge, addr, to->key);
		break;
	case 1:
		xv_wr_read(&h->qp, 1, XV_SEND_SIGNALED, &sge, addr, to->key);
		break;
	case 2:
		sge.length = 8;
		xv_wr_atomic_fa(&h->qp, 1, XV_SEND_SIGNALED, &sge, addr & ~7ull, to->key, 1);
		break;
	case 3:
		xv_wr_send(&h->qp, 1, XV_SEND_SIGNALED, &sge);
		break;
	default:
		xv_wr_send_ud(&h->qp, 1, XV_SEND_SIGNALED, &sge, &ah, q[a->value >> 56 & 3].qp.qp_num,
			      SESSION_QKEY);
	}
	xv_commit_send(&h->qp);
}

/* What the kernel lets a process change: here paths and their state, or from RESET again */
static void modify(const struct act *a)
{
	struct session_qp *h = &q[a->which % HOSTILE];
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);
	void *path = MLX5_ADDR_OF(qpc, qpc, secondary_address_path);
	struct xv_ah to = session_ah(&s, a->value & 1);

	if (!(a->at & 7)) {
		session_qp_modify(&q[RC0], MLX5_CMD_OP_2RST_QP, NULL);
		session_qp_modify(&q[RC1_SRQ], MLX5_CMD_OP_2RST_QP, NULL);
		session_connect(&q[RC0], &q[RC1_SRQ]);
		return;
	}
	MLX5_SET(rst2init_qp_in, in, opcode, MLX5_CMD_OP_RTS2RTS_QP);
	MLX5_SET(rst2init_qp_in, in, qpn, h->qp.qp_num);
	MLX5_SET(rst2init_qp_in, in, opt_param_mask,
		 MLX5_QP_OPTPAR_ALT_ADDR_PATH | MLX5_QP_OPTPAR_PM_STATE);
	MLX5_SET(qpc, qpc, pm_state, a->at >> 3 & 3);
	MLX5_SET(ads, path, vhca_port_num, 1);
	memcpy(MLX5_ADDR_OF(ads, path, rgid_rip), to.av.rgid, sizeof(to.av.rgid));
	memcpy(MLX5_ADDR_OF(ads, path, rmac_47_32), to.av.rmac, sizeof(to.av.rmac));
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
}

static void perform(const struct act *a)
{
	static void (*const acts[])(const struct act *a) = { scribble, count, ring, post, modify };
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
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct act a;

	begin();
	transfer(0, 1);
	for (; size >= sizeof(a); data += sizeof(a), size -= sizeof(a)) {
		memcpy(&a, data, sizeof(a));
		perform(&a);
	}
	transfer(0, 2);
	transfer(1, 3);
	end();
	return 0;
}
