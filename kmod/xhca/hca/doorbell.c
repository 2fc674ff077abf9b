// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbell registers: memory that software writes and that each pass reads.
 *
 * A doorbell only says that a doorbell record has changed; the record says what is posted
 * (record.c).  Software writes the record before the doorbell.  We clear the register before
 * we read the record.  So no request is missed.
 *
 * Registers are not cached: a load takes as long as a short request.  So a pass reads only
 * a few of them, and more if there is nothing else to do.  Most reads are for pages that
 * software used recently, and there for registers that it has rung before; the other reads
 * are for all registers of all pages in turn.
 *
 * BlueFlame: software also copies a short request into the register, so that an adapter
 * need not fetch it.  We execute the request in the ring, which is the same.  Only a NOP can
 * differ: drivers test BlueFlame with a NOP that requests a completion in the register but
 * not in the ring.  A queue that has executed nothing but NOPs is not active (record.c), so
 * its register is read before it runs.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "pass.h"

enum {
	MAX_STEPS	= 10000,	/* steps of work that are counted for a pass at most */
	STEPS_LOAD	= 4,		/* steps of work (sweep.c) for one load */
	BUSY_LOADS	= 8,		/* loads in a pass at most, while there is work */
	IDLE_LOADS	= 5,		/* loads in a pass, while there is no work */
	LONG_NS		= 20000,	/* a pass is late after this time */
	LOAD_NS		= 256,		/* a late pass does one load for each such interval */
	LONG_LOADS	= 64,		/* loads in a late pass at most */
	COLD_SHARE	= 4,		/* one load of this many is for all pages in turn */
	QUIET_LOOKS	= 20000,	/* rounds without a doorbell until a page is not hot */
	RUNG_LOADS	= 32,		/* loads of pages in a check of a sleeping engine */
	RUNG_FUNCTIONS	= 4,		/* command doorbells that such a check reads */
};

enum {
	BF_STEP	= 0x100,	/* half a BlueFlame register */
	BF_REGS	= 8,
};

enum { REG_CQ = BF_REGS, REG_EQ_ARM, REG_EQ, REGS };

#define BF_MASK		(BIT(BF_REGS) - 1)
#define EQ_MASK		(BIT(REG_EQ_ARM) | BIT(REG_EQ))
#define USUAL_MASK	(BIT(0) | BIT(REG_CQ) | EQ_MASK)	/* that most software uses */

static u64 *hca_doorbell_reg_at(const struct hca_uar *uar, unsigned int reg)
{
	static const u16 offset[REGS] = {
		[REG_CQ] = MLX5R_UAR_CQ, [REG_EQ_ARM] = MLX5R_UAR_EQ_ARM, [REG_EQ] = MLX5R_UAR_EQ,
	};

	return uar->regs + (reg < BF_REGS ? MLX5R_UAR_BF + reg * BF_STEP : offset[reg]);
}

/* Registers that some queue of the page uses */
static u16 hca_doorbell_regs_in_use(const struct hca_uar *uar)
{
	return (uar->records[HCA_RECORD_QP].all.n ? BF_MASK : 0) |
	       (uar->records[HCA_RECORD_CQ].all.n ? BIT(REG_CQ) : 0) |
	       (uar->neqs ? EQ_MASK : 0);
}

/* ---- One register -------------------------------------------------------------------- */

/* A register names no queue of the page; a queue without new requests; one with new requests */
enum look { INVALID, OLD, CHANGED };

static enum look hca_doorbell_handle_eq(struct hca_uar *uar, u32 word, bool arm)
{
	struct hca_eq *eq = hca_table_get(&uar->hca->eqs, word >> 24);

	if (!eq || eq->uar != uar)
		return INVALID;
	hca_eq_doorbell(eq, word & 0xffffff, arm);
	return CHANGED;
}

static enum look hca_doorbell_handle_cq(struct hca_uar *uar, u32 cqn)
{
	struct hca_cq *cq = hca_table_get(&uar->hca->cqs, cqn);

	uar->cq_rings++;
	hca_sweep(uar, HCA_RECORD_CQ);
	if (!cq || cq->record.uar != uar)
		return INVALID;
	return hca_cq_read_record(cq) ? CHANGED : OLD;
}

/* Stores the flags of a copied NOP that has not run; of several, those of the earliest. */
static void hca_doorbell_take_nop(struct hca_qp *qp, u16 index, u8 flags)
{
	u16 ahead = index - qp->sq.ci;

	if (!flags || ahead >= (u16)(qp->sq.pi - qp->sq.ci) ||
	    (qp->nop_flags && ahead >= (u16)(qp->nop_index - qp->sq.ci)))
		return;
	qp->nop_index = index;
	qp->nop_flags = flags;
	qp->record.uar->copies = true;
}

static u64 hca_doorbell_load(struct hca_fabric *f, const u64 *reg)
{
	f->stat.loads++;
	return READ_ONCE(*reg);
}

/* Reads and clears the flags of a copy: the next doorbell may come without a copy. */
static u8 hca_doorbell_take_flags(struct hca_fabric *f, struct mlx5r_ctrl *reg, bool wanted)
{
	u8 flags = 0;

	if (wanted) {
		f->stat.loads++;
		flags = READ_ONCE(reg->fm_ce_se);
	}
	WRITE_ONCE(reg->fm_ce_se, 0);
	return flags;
}

/* @half: of which register; @v: the first half of a control segment */
static enum look hca_doorbell_handle_qp(struct hca_uar *uar, unsigned int half,
					struct mlx5r_ctrl *reg, u64 v)
{
	struct hca_qp *qp = hca_table_get(&uar->hca->qps, (u32)v >> 8);
	enum look result;
	u8 flags;

	hca_sweep(uar, HCA_RECORD_QP);
	flags = hca_doorbell_take_flags(uar->hca->fabric, reg, qp && !qp->requests);
	if (uar->hca->strict)
		hca_strict_ring(uar, HCA_BELL_FIRST + half / 2, qp, v);
	if (!qp || qp->record.uar != uar)
		return INVALID;
	result = hca_qp_look(qp) ? CHANGED : OLD;
	if ((u8)(v >> 32) == MLX5R_OP_NOP)
		hca_doorbell_take_nop(qp, v >> 40, flags);
	return result;
}

static enum look hca_doorbell_handle(struct hca_uar *uar, unsigned int reg, u64 *at, u64 v)
{
	if (reg < BF_REGS)
		return hca_doorbell_handle_qp(uar, reg, (struct mlx5r_ctrl *)at, v);
	if (reg == REG_CQ)
		return hca_doorbell_handle_cq(uar, v & 0xffffff);
	return hca_doorbell_handle_eq(uar, v >> 32, reg == REG_EQ_ARM);
}

/* Reads and clears a register. */
static void hca_doorbell_take(struct hca_uar *uar, unsigned int reg, unsigned int *changed)
{
	struct hca_fabric *f = uar->hca->fabric;
	u64 *at = hca_doorbell_reg_at(uar, reg);
	enum look result;
	u64 v;

	if (hca_halted(uar->hca))
		return;
	hca_sweep_resume(uar);
	v = be64_to_cpu((__force __be64)hca_doorbell_load(f, at));
	if (!v)
		return;
	WRITE_ONCE(*at, 0);
	/* Barrier B (dp/barrier.h): the register is cleared before the records are read. */
	smp_mb();
	f->stat.doorbells++;
	result = hca_doorbell_handle(uar, reg, at, v);
	*changed += result == CHANGED;
	if (result != INVALID) {
		uar->known |= BIT(reg);
		hca_uar_set_active(uar);
	}
}

/* There may be copies of a NOP in several registers: all are read before it runs. */
static unsigned int hca_doorbell_read(struct hca_uar *uar, unsigned int reg)
{
	unsigned int changed = 0;

	uar->copies = false;
	hca_doorbell_take(uar, reg, &changed);
	for (reg = 0; uar->copies && reg < BF_REGS; reg++)
		hca_doorbell_take(uar, reg, &changed);
	return changed;
}

unsigned int hca_doorbell_look_eq(struct hca_uar *uar)
{
	return hca_doorbell_read(uar, REG_EQ) + hca_doorbell_read(uar, REG_EQ_ARM);
}

/* ---- Which register is next ------------------------------------------------------------ */

/* Returns the first register of @mask from *@from on in *@reg; true if it was the last. */
static bool hca_doorbell_next_register(u16 mask, u8 *from, unsigned int *reg)
{
	u16 ahead = mask & ~(BIT(*from) - 1);

	if (!ahead)
		ahead = mask;
	*reg = ilog2(ahead & -ahead);
	ahead &= ahead - 1;
	*from = ahead ? *reg + 1 : 0;
	return !ahead;
}

static u16 hca_doorbell_known_registers(const struct hca_uar *uar)
{
	u16 in_use = hca_doorbell_regs_in_use(uar), known = (uar->known | USUAL_MASK) & in_use;

	return known ? known : in_use;
}

/* NULL: all have been read in this pass. */
static struct hca_uar *hca_doorbell_next_hot(struct hca_fabric *f, unsigned int *reg)
{
	struct hca_uar *uar = hca_round_first_entry(&f->doorbell.hot, struct hca_uar, hot_entry);

	if (!uar || uar->pass == f->doorbell.pass)
		return NULL;
	if (!hca_doorbell_next_register(hca_doorbell_known_registers(uar), &uar->next_known, reg))
		return uar;
	uar->pass = f->doorbell.pass;
	hca_round_pass(&f->doorbell.hot);
	if (++uar->quiet > QUIET_LOOKS)
		hca_uar_set_idle(uar);
	return uar;
}

static struct hca_uar *hca_doorbell_next_cold(struct hca_fabric *f, unsigned int *reg)
{
	struct hca_uar *uar = hca_round_first_entry(&f->doorbell.uars, struct hca_uar, entry);

	if (!uar)
		return NULL;
	hca_round_pass(&f->doorbell.uars);
	uar->cold_looks++;
	if (uar->cold_looks & 1)
		hca_doorbell_next_register(hca_doorbell_known_registers(uar),
					   &uar->next_cold_known, reg);
	else
		hca_doorbell_next_register(hca_doorbell_regs_in_use(uar), &uar->next_any, reg);
	return uar;
}

static struct hca_uar *hca_doorbell_next_look(struct hca_fabric *f, unsigned int *reg)
{
	bool cold = !(f->doorbell.looks++ % COLD_SHARE);
	struct hca_uar *uar = cold ? NULL : hca_doorbell_next_hot(f, reg);

	return uar ? uar : hca_doorbell_next_cold(f, reg);
}

/* ---- A pass -------------------------------------------------------------------------- */

/* Steps of work since the last pass; a pass counts as one */
static u32 hca_doorbell_take_steps(struct hca_fabric *f)
{
	u64 work = f->stat.units / HCA_REQUEST_UNITS, done = work - f->doorbell.work_seen;

	f->doorbell.work_seen = work;
	return min_t(u64, done, MAX_STEPS) + 1;
}

static u32 hca_doorbell_loads_allowed(struct hca_fabric *f, u32 steps)
{
	u64 since = f->now - f->doorbell.last_pass;

	f->doorbell.last_pass = f->now;
	f->doorbell.credit = min_t(s32, f->doorbell.credit + steps, BUSY_LOADS * STEPS_LOAD);
	if (!hca_is_idle(f))
		return max(f->doorbell.credit, 0) / STEPS_LOAD;
	return since < LONG_NS ? IDLE_LOADS : min_t(u64, since / LOAD_NS, LONG_LOADS);
}

static unsigned int hca_doorbell_read_some(struct hca_fabric *f, u32 steps)
{
	u64 start = f->stat.loads, end = start + hca_doorbell_loads_allowed(f, steps);
	unsigned int changed = 0, reg;
	struct hca_uar *uar;
	s64 credit;
	u64 left;

	f->doorbell.pass++;
	/* Registers of a halted function are not loaded, so reads are counted too. */
	for (left = end - start; left && f->stat.loads < end; left--) {
		uar = hca_doorbell_next_look(f, &reg);
		if (!uar)
			break;
		changed += hca_doorbell_read(uar, reg);
	}
	credit = f->doorbell.credit - (s64)(f->stat.loads - start) * STEPS_LOAD;
	f->doorbell.credit = max_t(s64, credit, -BUSY_LOADS * STEPS_LOAD);
	return changed;
}

unsigned int hca_doorbell_poll(struct hca_fabric *f)
{
	u32 steps = hca_doorbell_take_steps(f);
	unsigned int changed = hca_doorbell_read_some(f, steps);

	return changed + hca_sweep_poll(f, steps);
}

static bool hca_doorbell_command_rung(struct hca_fabric *f)
{
	const struct mlx5_init_seg *seg;
	struct hca *hca;
	u32 n;

	for (n = min_t(u32, f->functions.n, RUNG_FUNCTIONS); n; n--) {
		hca = list_first_entry(&f->functions.list, struct hca, entry);
		seg = hca->p.bar;
		f->stat.loads++;
		/* It stays the first function, where the next pass looks. */
		if (READ_ONCE(*(const u32 *)&seg->cmd_dbell) && !hca_halted(hca))
			return true;
		list_move_tail(&hca->entry, &f->functions.list);
	}
	return false;
}

/* The next pass reads this register first. */
static void hca_doorbell_remember(struct hca_uar *uar, unsigned int reg)
{
	uar->known |= BIT(reg);
	uar->next_known = reg;
	uar->quiet = 0;
	hca_uar_set_idle(uar);
	hca_round_add_first(&uar->hca->fabric->doorbell.hot, &uar->hot_entry);
}

bool hca_doorbell_rung(struct hca_fabric *f)
{
	u64 end = f->stat.loads + RUNG_LOADS;
	struct hca_uar *uar;
	unsigned int reg;

	f->now = ktime_get_ns();
	hca_clock_run(f);
	if (hca_doorbell_command_rung(f) || hca_sweep_rung(f))
		return true;
	f->doorbell.pass++;
	while (f->stat.loads < end) {
		uar = hca_doorbell_next_look(f, &reg);
		if (!uar)
			break;
		if (hca_doorbell_load(f, hca_doorbell_reg_at(uar, reg)) && !hca_halted(uar->hca)) {
			hca_doorbell_remember(uar, reg);
			return true;
		}
	}
	return false;
}

#undef BF_MASK
#undef EQ_MASK
#undef USUAL_MASK
