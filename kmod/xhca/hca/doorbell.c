// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbell pages: memory that software writes and the engine looks at.
 *
 * A doorbell says only "look": the truth is the doorbell record.  Two doorbells
 * written to one register before it is looked at overwrite each other, so every
 * doorbell also starts a sweep over the records of all queues of its page, a few
 * at a time.  The register is cleared before any record is read; a record is
 * written before its doorbell; hence no request is missed.
 *
 * Pages rung of late are looked at each time, the others in turns.
 *
 * BlueFlame: software copies a short request into the register, too, so that an
 * adapter need not fetch it.  The one in the ring is the same and nearer to us, so
 * that is what we execute.  Only by a NOP can somebody tell: drivers find out whether
 * such copies arrive by one that asks for a completion in the register, but not in
 * the ring.
 */
#include <linux/compiler.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "wqe.h"

#define IDLE_PASSES	64	/* without work, until what seldom matters has time */
#define COLD_LOOKS	4	/* seldom-rung pages looked at per pass */
#define COLD_LOOKS_IDLE	64	/* the same with time */
#define SWEEP		64	/* records read in a pass, page and kind */
#define SWEEP_PASSES	64	/* without time: only in one of so many passes */
#define MISSES		1	/* and until so many records show nothing new */
#define MISSES_IDLE	16	/* the same with time */
#define QUIET_LOOKS	20000	/* until a page counts as seldom rung */

#define BF_STEP		0x100	/* half a BlueFlame register */
#define BF_END		0x1000

bool hca_qp_look(struct hca_qp *qp)
{
	u16 pi;

	if (!qp->sq.entries || qp->state < MLX5_QP_STATE_RTS)
		return false;
	pi = be32_to_cpu(READ_ONCE(qp->dbr[MLX5R_DBR_SND]));
	if (pi == qp->sq.pi)
		return false;
	/* The record is read before what it announces. */
	smp_rmb();
	if ((u16)(pi - qp->sq.ci) > qp->sq.entries) {
		qp->sq.pi = qp->sq.ci;
		if (qp->state == MLX5_QP_STATE_ERR)
			return false;
		hca_qp_fatal(qp);
		return true;
	}
	qp->sq.pi = pi;
	hca_run_add(qp);
	return true;
}

static void ring_eq(struct hca_uar *uar, u32 word)
{
	struct hca_eq *eq = hca_table_get(&uar->hca->eqs, word >> 24);

	if (eq && eq->uar == uar)
		hca_eq_doorbell(eq, word & 0xffffff);
}

static void ring_cq(struct hca_uar *uar, u32 cqn)
{
	struct hca_cq *cq = hca_table_get(&uar->hca->cqs, cqn);

	uar->cq_rings++;
	uar->cq_sweep = uar->ncqs;
	if (cq && cq->uar == uar)
		hca_cq_look(cq);
}

/* A copied NOP that has not run yet, the earliest of them: its flags count, too. */
static void take_nop(struct hca_qp *qp, u16 index, u8 flags)
{
	u16 ahead = index - qp->sq.ci;

	if (!flags || ahead >= (u16)(qp->sq.pi - qp->sq.ci) ||
	    (qp->nop_flags && ahead >= (u16)(qp->nop_index - qp->sq.ci)))
		return;
	qp->nop_index = index;
	qp->nop_flags = flags;
}

/* @v: the first half of a control segment */
static void ring_qp(struct hca_uar *uar, struct mlx5r_ctrl *reg, u64 v)
{
	struct hca_qp *qp = hca_table_get(&uar->hca->qps, (u32)v >> 8);
	u8 flags = READ_ONCE(reg->fm_ce_se);

	/* The next doorbell may come without a copy. */
	WRITE_ONCE(reg->fm_ce_se, 0);
	uar->qp_sweep = uar->nqps;
	if (!qp || qp->uar != uar)
		return;
	hca_qp_look(qp);
	if ((u8)(v >> 32) == MLX5R_OP_NOP)
		take_nop(qp, v >> 40, flags);
}

/* Reads and clears a register.  The second word of a doorbell is never zero. */
static bool take_register(struct hca_uar *uar, u32 offset, u64 *value)
{
	u64 *reg = uar->regs + offset;

	*value = be64_to_cpu(*(__be64 *)reg);
	if (!*value)
		return false;
	WRITE_ONCE(*reg, 0);
	/* Pairs with record-before-doorbell: clear, then read the records. */
	smp_mb();
	return true;
}

unsigned int hca_eq_look(struct hca_uar *uar)
{
	unsigned int rung = 0;
	u64 v;

	if (take_register(uar, MLX5R_UAR_EQ, &v)) {
		ring_eq(uar, v >> 32);
		rung++;
	}
	if (take_register(uar, MLX5R_UAR_EQ_ARM, &v)) {
		ring_eq(uar, v >> 32);
		rung++;
	}
	return rung;
}

static unsigned int look_at_registers(struct hca_uar *uar)
{
	unsigned int rung = 0;
	u32 off;
	u64 v;

	for (off = MLX5R_UAR_BF; off < BF_END; off += BF_STEP) {
		if (!take_register(uar, off, &v))
			continue;
		ring_qp(uar, uar->regs + off, v);
		rung++;
	}
	if (take_register(uar, MLX5R_UAR_CQ, &v)) {
		ring_cq(uar, v & 0xffffff);
		rung++;
	}
	return rung + hca_eq_look(uar);
}

/* The same without taking anything. */
static bool is_rung(const struct hca_uar *uar)
{
	u64 any = READ_ONCE(*(u64 *)(uar->regs + MLX5R_UAR_CQ)) |
		  READ_ONCE(*(u64 *)(uar->regs + MLX5R_UAR_EQ_ARM)) |
		  READ_ONCE(*(u64 *)(uar->regs + MLX5R_UAR_EQ));
	u32 off;

	if (hca_halted(uar->hca))
		return false;
	for (off = MLX5R_UAR_BF; off < BF_END; off += BF_STEP)
		any |= READ_ONCE(*(u64 *)(uar->regs + off));
	return any;
}

bool hca_fabric_rung(const struct hca_fabric *f)
{
	const struct mlx5_init_seg *seg;
	const struct hca_uar *uar;
	const struct hca *hca;

	list_for_each_entry(hca, &f->functions, entry) {
		seg = hca->p.bar;
		if (READ_ONCE(*(const u32 *)&seg->cmd_dbell) && !hca_halted(hca))
			return true;
	}
	list_for_each_entry(uar, &f->hot_uars, entry)
		if (is_rung(uar))
			return true;
	list_for_each_entry(uar, &f->cold_uars, entry)
		if (is_rung(uar))
			return true;
	return false;
}

static bool has_time(const struct hca_fabric *f)
{
	return f->idle >= IDLE_PASSES;
}

/*
 * How many records that show nothing new may be read in this pass?  Idle queues must
 * not cost busy ones: few of them, except while the sweep finds work (@found).
 */
static int misses(const struct hca_fabric *f, u32 found)
{
	if (has_time(f))
		return MISSES_IDLE;
	return found || !(f->stat.polls % SWEEP_PASSES) ? MISSES : 0;
}

static unsigned int sweep_qps(struct hca_uar *uar)
{
	int n, left = misses(uar->hca->fabric, uar->qps_found);
	struct hca_qp *qp;

	uar->qps_found = 0;
	uar->qp_sweep = min(uar->qp_sweep, uar->nqps);
	for (n = 0; n < SWEEP && left && uar->qp_sweep; n++, uar->qp_sweep--) {
		qp = list_first_entry(&uar->qps, struct hca_qp, uar_entry);
		list_move_tail(&qp->uar_entry, &uar->qps);
		if (hca_qp_look(qp))
			uar->qps_found++;
		else
			left--;
	}
	return uar->qps_found;
}

static unsigned int sweep_cqs(struct hca_uar *uar)
{
	int n, left = misses(uar->hca->fabric, uar->cqs_found);
	struct hca_cq *cq;

	uar->cqs_found = 0;
	uar->cq_sweep = min(uar->cq_sweep, uar->ncqs);
	for (n = 0; n < SWEEP && left && uar->cq_sweep; n++, uar->cq_sweep--) {
		cq = list_first_entry(&uar->cqs, struct hca_cq, uar_entry);
		list_move_tail(&cq->uar_entry, &uar->cqs);
		if (hca_cq_look(cq))
			uar->cqs_found++;
		else
			left--;
	}
	return uar->cqs_found;
}

static unsigned int look_at_uar(struct hca_uar *uar)
{
	struct hca_fabric *f = uar->hca->fabric;
	unsigned int work = 0;

	if (hca_halted(uar->hca))
		return 0;
	if (is_rung(uar)) {
		work = look_at_registers(uar);
		f->stat.doorbells += work;
	}
	if (uar->qp_sweep)
		work += sweep_qps(uar);
	if (uar->cq_sweep)
		work += sweep_cqs(uar);
	f->sweeping |= uar->qp_sweep || uar->cq_sweep;
	return work;
}

static unsigned int look_at_cold(struct hca_fabric *f)
{
	int n = has_time(f) ? COLD_LOOKS_IDLE : COLD_LOOKS;
	unsigned int work, total = 0;
	struct hca_uar *uar, *next;
	LIST_HEAD(seen);

	list_for_each_entry_safe(uar, next, &f->cold_uars, entry) {
		if (!n--)
			break;
		work = look_at_uar(uar);
		total += work;
		list_move_tail(&uar->entry, work ? &f->hot_uars : &seen);
	}
	list_splice_tail(&seen, &f->cold_uars);
	return total;
}

unsigned int hca_doorbell_poll(struct hca_fabric *f)
{
	unsigned int work, total = 0;
	struct hca_uar *uar, *next;

	f->sweeping = false;
	list_for_each_entry_safe(uar, next, &f->hot_uars, entry) {
		work = look_at_uar(uar);
		total += work;
		if (work)
			uar->quiet = 0;
		else if (++uar->quiet > QUIET_LOOKS)
			list_move_tail(&uar->entry, &f->cold_uars);
	}
	return total + look_at_cold(f);
}
