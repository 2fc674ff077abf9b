/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures of a function, of a turn, and of the local fabric, which connects all functions.
 */
#ifndef _HCA_FABRIC_H
#define _HCA_FABRIC_H

#include <linux/compiler.h>
#include "base/congestion.h"
#include "base/objects.h"
#include "base/table.h"

/* ---- One function ------------------------------------------------------------------------ */

/* Why a function does nothing, besides missing DMA */
enum {
	HCA_FAILED = 1,			/* see hca_firmware_fail() */
	HCA_RESETTING = 2,		/* see hca_reset_begin() */
};

struct hca {
	struct list_head entry;		/* fabric.functions.list */
	struct list_head serial_entry;	/* fabric.functions.by_serial */
	u32 serial;			/* each new function has a higher one */
	struct hca_fabric *fabric;
	const struct hca_ops *ops;
	void *ctx;
	struct hca_params p;
	struct hca_cmdif *cmdif;	/* cmd.c */

	struct hca_table pds, xrcds, tds, uars_by_index, eqs, cqs, qps, srqs, mkeys,
			 counters, umems, uctxs;
	struct {			/* charged for lists of mkeys (devx.c) */
		u64 driver, processes;
	} list_bytes;
	struct list_head mcgs;		/* mcg.c */
	u32 nmcgs;
	u32 nqp1;			/* queue pairs of type QP1 */
	struct hca_eq *async_eq[256];	/* by event type */
	struct list_head eq_list;
	u64 eq_doorbells;		/* number of doorbells that arm an EQ */
	struct hca_events cmd_events;
	bool irq_pending;

	struct hca_command_failure fail;

	bool no_dma;			/* see hca_dma_enable() */
	u8 stopped;			/* HCA_FAILED, HCA_RESETTING */
	bool gone;			/* see hca_unplug() */
	struct {			/* the reset in progress (hca.c) */
		u8 kind;		/* of the objects to free next */
		u8 stage;		/* of the function after it */
		u32 number;		/* of the next object of this kind */
	} reset;
	struct hca_share share;		/* of all its owners */
	struct hca_shares owners;
	struct hca_owner no_page;	/* for QPs without a doorbell page */
	u8 stage;			/* enum hca_stage */
	u16 issi;
	struct hca_caps *caps;		/* caps.c */
	u8 node_desc[64];
	bool roce_en;			/* vport.c */
	bool no_least_timeout;		/* reg.c; see wire_requester.c */
	bool strict;			/* see hca_strict() */
	u16 vport_mtu;

	struct hca_port port[HCA_MAX_PORTS];	/* p.num_ports of them */
	struct hca_gid gids[HCA_GIDS];	/* RoCE */
	u32 gids_end;			/* after the last one that is valid */
	struct {			/* the wire has no room for the packets of these QPs */
		struct list_head qps;
		struct hca_timer timer;	/* they try again */
	} room;
	struct hca_congestion congestion;	/* RoCE */
	bool packets;			/* it exchanges packets with local functions, too */
	struct hca_gate *gates;		/* HCA_GATES peers on the wire (wire_gate.c), or NULL */
	struct hca_dc *dc;		/* DCIs on the wire (wire_dct.c), or NULL */
	u8 uc_mac[6];
	struct hca_counter uncounted;	/* for QPs without a counter set */
	u64 health_due;
	struct {
		u64 ticks;		/* value of the clock register */
		u64 time;		/* ns, of the host then */
	} clock;
};

/* ---- Work: the limit for one turn of a queue --------------------------------------------- */

/*
 * Work is counted in units; one unit is about the time to copy one byte.  A turn ends after
 * the step in which its budget is used up.  A step is a request without data, one contiguous
 * piece of a message, a part of a UMR's list, or one receiver of a multicast.  The longest
 * step is a datagram to one receiver: HCA_DATAGRAM_UNITS of each of its two lists.
 */

#define HCA_TURN_UNITS		(64 * 1024u)
#define HCA_REQUEST_UNITS	512u
#define HCA_FLUSH_REQUESTS	256u	/* of a queue that are flushed at once */
#define HCA_PIECE_UNITS		128u
#define HCA_ENTRY_UNITS		32u
#define HCA_RECEIVER_UNITS	1024u
#define HCA_SUMS_PER_ENTRY	8	/* additions that take about as long as a search step */
#define HCA_SUMS		8192	/* additions at a time (key.c) */

/* One step of the gather or the scatter list of a datagram (ud_long.c) */
#define HCA_DATAGRAM_UNITS	(HCA_TURN_UNITS / 2)

/* One step of a calculation (calc.c): this, and then an operand */
#define HCA_CALC_UNITS		(HCA_TURN_UNITS / 2)
#define HCA_CALC_PART		64u	/* bytes of an operand that are combined at a time */

/* The longest step, which may begin when the budget is almost used up */
#define HCA_STEP_BYTES		HCA_CALC_UNITS
#define HCA_STEP_PIECES		(2 * HCA_DATAGRAM_UNITS / HCA_PIECE_UNITS + HCA_CALC_PART)
/*
 * Of a datagram or a calculation; for each piece of an operand, bisection in 2^16 entries of
 * each mkey of a chain; sums of the entries of a list; multicast groups
 */
#define HCA_STEP_ENTRIES	\
	(2 * HCA_DATAGRAM_UNITS / HCA_ENTRY_UNITS + \
	 (HCA_MAX_NESTING + 1) * HCA_CALC_PART * 18 + HCA_SUMS / HCA_SUMS_PER_ENTRY + 65536)

/* Upper limits of a turn */
#define HCA_TURN_MAX_REQUESTS	(HCA_TURN_UNITS / HCA_REQUEST_UNITS + HCA_FLUSH_REQUESTS)
#define HCA_TURN_MAX_BYTES	(HCA_TURN_UNITS + HCA_STEP_BYTES)
#define HCA_TURN_MAX_PIECES	(HCA_TURN_UNITS / HCA_PIECE_UNITS + HCA_STEP_PIECES)
#define HCA_TURN_MAX_ENTRIES	(HCA_TURN_UNITS / HCA_ENTRY_UNITS + HCA_STEP_ENTRIES)
#define HCA_SA_SEGMENTS		64u	/* a step: an answer of the subnet manager */
#define HCA_TURN_MAX_RECEIVERS	(HCA_TURN_UNITS / HCA_RECEIVER_UNITS + HCA_SA_SEGMENTS)

struct hca_turn {
	u64 budget, units;
	bool woken;			/* a request has woken a queue or enabled one */
	bool progress;			/* not all its queues only try again later */
	u64 done[HCA_WORK_KINDS];
};

/* ---- All functions of the host: the local fabric ----------------------------------------- */

struct hca_scratch;

/* Why a memory key does not allow an access */
enum hca_key_fault {
	HCA_FAULT_KEY,			/* there is no such key, or it is free */
	HCA_FAULT_PD,			/* it belongs to another PD or QP */
	HCA_FAULT_ACCESS,
	HCA_FAULT_BOUNDS,		/* the range is not, or not whole, in its memory */
};

/* Where an address vector leads to, cached by route.c */
struct hca_route {
	u64 to[4];			/* last words of the address vector; IB: the LID */
	const struct hca *from;		/* NULL: no entry */
	u32 epoch;
	struct hca_port *port;		/* or NULL */
};
#define HCA_LOG_ROUTES	6

struct hca_fabric {
	u64 now;			/* ns, the clock as it was read last */
	struct {
		struct list_head list;
		u32 n;
		struct list_head by_serial;	/* the same, in order of their serials */
		u32 last_serial;
		u32 packets;		/* functions that use packets (packets.c) */
	} functions;
	u64 last_member;		/* last number given to a multicast member */
	struct {
		u32 epoch;		/* changes with every change of an address */
		struct hca_route cache[1 << HCA_LOG_ROUTES];
	} route;
	struct hca_sa sa;
	struct {
		u64 pass, units;	/* when @now was read: the pass, and the work until then */
		u64 due;		/* ns, the next update of all clock registers */
	} clock;
	struct {
		struct hca_round uars;	/* doorbell pages in use */
		struct hca_round hot;	/* those that software used recently */
		s32 credit;		/* steps that allow loads */
		u32 pass, looks;	/* reads of registers */
		u64 work_seen, last_pass;
	} doorbell;
	struct {
		struct hca_round active;	/* doorbell pages with active records */
		struct hca_round uars;	/* those whose records are swept */
		u32 credit, finds;
	} sweep;
	struct {
		u32 commands;		/* executed in the last pass that looked for them */
		bool left;		/* the last pass left work */
		bool must_sleep;	/* a command waits for a pass that may sleep */
		u32 idle;		/* passes since there was work */
	} pass;
	u32 resets;			/* functions that are being reset */
	struct hca_shares run;		/* functions with work */
	struct {
		struct list_head dependents;	/* of CQs and SRQs that have failed */
		struct list_head qps;	/* QPs that the scheduler takes to ERR or SQER */
	} fail;
	struct list_head cqs_to_arm;	/* CQs with entries since their arm word was read */
	struct {
		struct list_head waking;	/* CQs with more QPs to wake */
		struct hca_waiter *detached;	/* QPs whose CQ was destroyed or has overrun */
	} wait;
	struct hca_heap timers;		/* QPs that retry, CQs with a moderated event */
	struct hca_heap flushing;	/* QPs in ERR */
	struct list_head wire_due;	/* QPs that must send an acknowledgement (wire.h) */
	struct hca_scratch *scratch;	/* the request that is executed */
	enum hca_key_fault key_fault;	/* why a key was refused last */
	struct hca_turn turn;		/* of the queues that run */
	struct hca_stat stat;
};

static inline void hca_timer_set(struct hca_fabric *f, struct hca_timer *timer, u64 due)
{
	hca_heap_set(&f->timers, &timer->entry, due);
}

static inline void hca_timer_clear(struct hca_fabric *f, struct hca_timer *timer)
{
	hca_heap_clear(&f->timers, &timer->entry);
}

/* Counts work of the queue that runs. */
static inline void hca_charge(struct hca_fabric *f, enum hca_work kind, u64 n)
{
	static const u32 units[HCA_WORK_KINDS] = {
		[HCA_REQUESTS] = HCA_REQUEST_UNITS, [HCA_BYTES] = 1,
		[HCA_PIECES] = HCA_PIECE_UNITS, [HCA_ENTRIES] = HCA_ENTRY_UNITS,
		[HCA_RECEIVERS] = HCA_RECEIVER_UNITS,
	};

	f->turn.done[kind] += n;
	f->turn.units += n * units[kind];
}

/* A contiguous piece of @bytes */
static inline void hca_charge_piece(struct hca_fabric *f, u64 bytes)
{
	f->turn.done[HCA_PIECES]++;
	f->turn.done[HCA_BYTES] += bytes;
	f->turn.units += HCA_PIECE_UNITS + bytes;
}

/* The rest of the budget of the queue that runs */
static inline u64 hca_turn_left(const struct hca_fabric *f)
{
	return f->turn.units < f->turn.budget ? f->turn.budget - f->turn.units : 0;
}

/* Has there been no work for some time? */
static inline bool hca_is_idle(const struct hca_fabric *f)
{
	return f->pass.idle >= 64;
}

/* Port @number, or NULL.  0 is the first port, for commands that name none. */
static inline struct hca_port *hca_port_get(struct hca *hca, u32 number)
{
	if (number > hca->p.num_ports)
		return NULL;
	return &hca->port[number ? number - 1 : 0];
}

/* Do ports with these P_Keys communicate? */
static inline bool hca_pkeys_match(u16 a, u16 b)
{
	return !((a ^ b) & HCA_PKEY_BITS) && (a | b) & HCA_PKEY_FULL;
}

/* The P_Key of a queue pair; 0: none.  QP1 uses all of its port. */
static inline u16 hca_qp_pkey(const struct hca_qp *qp)
{
	return qp->path.pkey_index && qp->st != MLX5_QP_ST_QP1 ? 0 : qp->port->pkey;
}

/* Are messages between the two, in one fabric, executed at once?  Else they are packets. */
static inline bool hca_is_direct(const struct hca *a, const struct hca *b)
{
	return !(a->packets | b->packets);
}

static inline bool hca_halted(const struct hca *hca)
{
	return READ_ONCE(hca->no_dma) | hca->stopped;
}

static inline void *hca_dma(struct hca *hca, u64 addr, u64 len)
{
	return hca->ops->dma_ptr(hca->ctx, addr, len);
}

static inline struct hca_qp *hca_qp_get(struct hca *hca, u32 qpn)
{
	struct hca_qp *qp = hca_table_get(&hca->qps, qpn);

	return qp && qp->st != HCA_ST_SQ && qp->st != MLX5_QP_ST_DCT ? qp : NULL;
}

static inline struct hca_qp *hca_dct_get(struct hca *hca, u32 dctn)
{
	struct hca_qp *dct = hca_table_get(&hca->qps, dctn);

	return dct && dct->st == MLX5_QP_ST_DCT ? dct : NULL;
}

static inline struct hca_mkey *hca_mkey_get(struct hca *hca, u32 key)
{
	return hca_table_get(&hca->mkeys, key >> 8);
}

#endif
