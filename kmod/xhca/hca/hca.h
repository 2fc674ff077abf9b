/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The adapter itself: firmware objects and the state of its data path.
 *
 * Nothing in this folder knows PCI, threads or network devices.  It is driven
 * by hca_fabric_poll(), never from two places at once, and so needs no locks:
 * firmware commands, doorbells, work queues and timers take turns.  The same sources
 * build in user space against the headers in tests/host.
 *
 * Command and context layouts are those of linux/mlx5/mlx5_ifc.h (PRM); ring
 * layouts those of rdma/mlx5_ring.h.
 */
#ifndef _HCA_H
#define _HCA_H

#include <linux/types.h>
#include <linux/list.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <rdma/mlx5_ring.h>

#define HCA_PAGE_SHIFT		12
#define HCA_PAGE_SIZE		(1u << HCA_PAGE_SHIFT)

#define HCA_BAR_PAGES		2048		/* 8 MiB of BAR for a function */
#define HCA_FIRST_UAR		16		/* the init segment lies below */
#define HCA_MAX_VECTORS		64
#define HCA_MAX_PORTS		2
#define HCA_MAX_SGE		64		/* more than 63 DS can name */
#define HCA_ANY_QPN		0xffffff
#define HCA_PSN_MASK		0xffffff
#define HCA_OCTOWORD		16		/* bytes; unit of translation lists (PRM) */
#define HCA_MAX_NESTING		4		/* indirect mkeys in a chain: max_indirection */
#define HCA_ST_SQ		MLX5_QP_ST_RAW_ETHERTYPE	/* sq.c: not a queue pair */
#define HCA_CQE_INLINE		64		/* bytes of data that a CQE may carry */

struct hca;
struct hca_fabric;
struct hca_qp;

/* ---- What the surroundings provide ------------------------------------- */

struct hca_ops {
	/*
	 * Pointer to @len bytes of host memory at DMA address @addr, contiguous,
	 * or NULL where that is not memory.
	 */
	void *(*dma_ptr)(void *ctx, u64 addr, u64 len);
	/* Raise MSI-X vector @vector. */
	void (*raise_irq)(void *ctx, unsigned int vector);
};

struct hca_params {
	unsigned int index;		/* position on the virtual bus */
	bool roce;			/* else InfiniBand */
	u32 num_ports;			/* RoCE: 1 */
	u8 mac[6];			/* permanent address of a RoCE port */
	u64 node_guid;
	u16 lid;			/* InfiniBand, of port 1 */
	u32 num_vectors;
	void *bar;			/* HCA_BAR_PAGES pages */
};

/* ---- Object tables (table.c) -------------------------------------------- */

/*
 * Numbers to objects, both ways in constant time.  A freed number goes to the
 * end of the queue of free numbers, so that stale use is seen, not served.
 */
struct hca_table {
	void ***chunk;
	u32 first, limit;		/* numbers run from first to limit - 1 */
	u32 used_end;			/* numbers below have been handed out once */
	u32 free_head, free_tail;	/* queue through the free slots; 0 none */
	u32 count;
};

int hca_table_init(struct hca_table *t, u32 first, u32 limit);
void hca_table_free(struct hca_table *t);
int hca_table_add(struct hca_table *t, void *obj, u32 *number);
void hca_table_del(struct hca_table *t, u32 number);

#define HCA_CHUNK_SHIFT		9
#define HCA_CHUNK		(1u << HCA_CHUNK_SHIFT)

/* Free slots hold an odd value: the next free number, shifted. */
static inline void *hca_table_get(const struct hca_table *t, u32 number)
{
	void **chunk, *obj;

	if (number >= t->used_end)
		return NULL;
	chunk = t->chunk[number >> HCA_CHUNK_SHIFT];
	if (!chunk)
		return NULL;
	obj = chunk[number & (HCA_CHUNK - 1)];
	return (unsigned long)obj & 1 ? NULL : obj;
}

/* Calls @fn for every object; @fn may delete the object it is given. */
void hca_table_for_each(struct hca_table *t, void (*fn)(struct hca *hca, void *obj),
			struct hca *hca);

/* ---- A ring or other buffer in host memory (buf.c) ----------------------- */

struct hca_buf {
	void **page;			/* checked when the object was made */
	u32 npages;
	u32 offset;			/* of the first byte in the first page */
	u32 shift;			/* log2 of the page size */
};

/*
 * @pas: be64 DMA addresses.  Fails with -EINVAL where @size bytes do not fit
 * or a page is not memory.
 */
int hca_buf_init(struct hca *hca, struct hca_buf *b, const __be64 *pas, u32 max_pas,
		 u32 log_page_size, u32 offset, u64 size);
void hca_buf_free(struct hca_buf *b);

static inline void *hca_buf_at(const struct hca_buf *b, u64 off)
{
	off += b->offset;
	return b->page[off >> b->shift] + (off & ((1ull << b->shift) - 1));
}

/* ---- QPs that fail with a CQ or SRQ (fail.c) ---------------------------- */

/* A QP's place in the list of a queue that it needs */
struct hca_dependent {
	struct hca_qp *qp;
	struct list_head entry;
};

/* In a CQ or SRQ: the QPs that need it */
struct hca_dependents {
	struct list_head qps;
	struct list_head failed;	/* of them, after the queue has failed */
	struct list_head entry;		/* fabric.failing or empty */
};

/* ---- Timers (timer.c) ------------------------------------------------------ */

struct hca_timer {
	u64 due;			/* ns; 0: not set */
	u32 slot;			/* in the heap; 0: not set */
	bool cq;			/* of a CQ, else a QP */
};

struct hca_timers {
	struct hca_timer **heap;	/* the earliest first */
	u32 n, room, users;
};

/* Makes room for one more timer; it goes with its timer. */
int hca_timers_join(struct hca_timers *t);
void hca_timers_leave(struct hca_timers *t, struct hca_timer *timer);
void hca_timers_free(struct hca_timers *t);
void hca_timer_set(struct hca_timers *t, struct hca_timer *timer, u64 due);
void hca_timer_clear(struct hca_timers *t, struct hca_timer *timer);
/* The earliest, or NULL */
struct hca_timer *hca_timer_first(const struct hca_timers *t);
/* The earliest if its time has come, or NULL */
struct hca_timer *hca_timer_due(const struct hca_timers *t, u64 now);

/* ---- Objects -------------------------------------------------------------- */

/* Queues that have one share of the time together: those of a doorbell page (run.c) */
struct hca_share {
	struct list_head entry;		/* fabric.run, or hca.halted; empty without work */
	struct list_head qps;		/* with work */
	s64 credit;			/* units it may spend in this round */
};

enum hca_record_kind { HCA_RECORD_QP, HCA_RECORD_CQ, HCA_RECORD_KINDS };

/* The doorbell record of a queue, as the engine watches it (record.c) */
struct hca_record {
	struct hca_uar *uar;		/* NULL: it is not watched */
	struct list_head entry;		/* uar.records[kind].all */
	struct list_head active_entry;	/* uar.active, or empty */
	u16 misses;			/* looks without news since it is active */
	u8 kind;
};

struct hca_records {
	struct list_head all;
	u32 n;
	u32 sweep;			/* records that the sweep has still to read */
};

struct hca_uar {
	struct hca *hca;
	u32 index;
	void *regs;			/* the page in the BAR */
	bool released;			/* by the driver, but still in use */
	u32 neqs;
	struct hca_records records[HCA_RECORD_KINDS];	/* who rings here */
	struct list_head active;	/* records with news of late */
	u32 nactive;
	struct list_head active_uar_entry;	/* fabric.active_uars while there are any */
	struct list_head sweep_entry;	/* fabric.sweeps, or empty */
	bool sweep_owed;		/* a halt of the function has ended it */

	struct hca_share share;

	/* Looks at the registers (doorbell.c) */
	struct list_head entry;		/* fabric.uars while somebody rings here */
	struct list_head hot_entry;	/* fabric.hot_uars, or empty */
	u16 known;			/* a bit for each register that has been rung */
	u8 next_known, next_cold_known, next_any;
	u8 cold_looks;
	bool copies;			/* a register has held a copy of a NOP */
	u16 quiet;			/* rounds since the last doorbell */
	u32 pass;			/* in which all known registers were read last */
	u32 cq_rings;			/* doorbells of CQs */
};

/* Asynchronous events of one object that found no room yet, see eq.c */
struct hca_events {
	u64 pending;			/* bits: event types, port subtypes, command slots */
	struct list_head entry;		/* eq.late, while any is pending */
	u32 number;			/* of the object */
	u8 source;			/* HCA_EVENTS_* of eq.c */
	u8 syndrome;			/* CQ */
};

struct hca_eq {
	u32 eqn;
	u32 intr;			/* MSI-X vector */
	u64 event_mask[4];
	struct hca_buf buf;
	u32 log_size;
	u32 pi;				/* free-running */
	u32 ci;				/* as last seen in a doorbell */
	bool irq_pending;
	u32 eqc[MLX5_ST_SZ_DW(eqc)] __aligned(8);	/* as created, for queries */
	struct hca_uar *uar;
	struct list_head entry;		/* hca.eq_list */
	struct list_head waiting;	/* CQs with an event that found no room */
	struct list_head late;		/* objects with asynchronous events that did not */
	u64 retry_due, retry_ns;	/* next interrupt while ci is behind */
	struct list_head cqs;		/* all CQs of this EQ (cq.eq_entry) */
	struct hca *hca;
};

struct hca_cq {
	struct hca *hca;
	u32 cqn;
	struct hca_record record;
	struct hca_eq *eq;
	struct list_head eq_entry;	/* eq.cqs */
	struct list_head event_entry;	/* eq.waiting or empty */
	struct hca_buf buf;
	__be32 *dbr;
	u32 log_size;
	u32 cqe_bytes;			/* 64 or 128 */
	u32 pi, ci;			/* 24-bit counters, kept free-running */
	u32 arm_seen;			/* arm word last acted upon */
	bool armed, armed_solicited;
	u32 solicited_pi;		/* pi after the last solicited CQE */
	u32 told_pi;			/* pi at the last event */
	u32 rings;			/* uar->cq_rings when the CQ was made */
	struct list_head news_entry;	/* fabric.cq_news or empty */
	bool overrun_ignore, collapsed;
	bool overrun;			/* the CQ is in error */
	u32 max_count, period_us;	/* moderation */
	struct hca_timer timer;		/* of the next moderated event */
	u32 users;			/* QPs and SRQs */
	struct hca_events events;
	struct hca_dependents dependents;
	u32 cqc[MLX5_ST_SZ_DW(cqc)] __aligned(8);	/* as set, for queries */
};

enum hca_srq_kind { HCA_SRQ, HCA_RMP, HCA_XRC_SRQ };

struct hca_srq {
	struct hca *hca;
	u32 srqn;
	enum hca_srq_kind kind;
	u32 pd, xrcd;
	bool linked;			/* linked list, else cyclic */
	struct hca_buf buf;
	u32 log_size, log_stride;
	__be32 *dbr;
	u32 head;			/* linked: WQE index to use next; cyclic: counter */
	u32 taken;			/* WQEs taken, free-running */
	u16 lwm;			/* 0: limit not armed */
	bool error;
	u32 user_index;
	struct hca_cq *cq;		/* XRC SRQ */
	u32 users;
	struct hca_dependents dependents;
	struct list_head holders;	/* QPs that hold one of its WQEs (recv_entry) */
	struct hca_events events;
	u32 ctx[MLX5_ST_SZ_DW(xrc_srqc) > MLX5_ST_SZ_DW(rmpc) ?
		MLX5_ST_SZ_DW(xrc_srqc) : MLX5_ST_SZ_DW(rmpc)] __aligned(8);
};

/* An entry of a key made of keys */
struct hca_klm {
	u64 addr;
	u64 end;			/* KLM: bytes of this entry and all before it */
	u32 key, size;
};

struct hca_mkey {
	struct hca *hca;
	u32 key;			/* index << 8 | variant */
	u32 pd;
	u32 qpn;			/* HCA_ANY_QPN, or the only one that may use it */
	u8 access;			/* MLX5R_MKEY_ACCESS_* */
	u8 mode;			/* MLX5R_MKEY_MODE_* */
	bool free;			/* no access until a UMR takes it */
	bool umr_en, en_rinval, length64, null;
	u8 page_shift;
	u64 start, len;
	u32 xlt_max;			/* capacity in 16-byte units */
	u32 xlt_pages;			/* entries present in page[] */
	u32 xlt_klms;			/* entries present in klm[] */
	u32 klms_summed;		/* of them with a valid end, see key.c */
	void **page;			/* MTT: checked pointers, two per unit */
	struct hca_klm *klm;		/* KLM and KSM: one per unit */
	bool loading;			/* no access: a UMR is in the middle of its list */
	u32 mkc[MLX5_ST_SZ_DW(mkc)] __aligned(8);	/* as created, for queries */
};

/* One ring of work requests */
struct hca_wq {
	u32 offset;			/* in the QP's buffer */
	u32 log_stride;			/* of receive requests */
	u32 entries;			/* 0: no such queue */
	u16 pi, ci;			/* record last read; next to run */
};

/* Path to the peer, decoded from the QP context */
struct hca_path {
	u8 port;			/* it leaves through hca.port[port] */
	u8 rgid[16];
	u8 rmac[6];
	u16 rlid;
	u8 sgid_index;
	bool grh;
	u8 sl, tclass, hop_limit;
	u16 udp_sport;
	u32 flow_label;
	u16 pkey_index;
};

struct hca_qp {
	struct hca *hca;
	u32 qpn;
	u8 st;				/* MLX5_QP_ST_*, HCA_ST_SQ */
	u8 state;			/* MLX5_QP_STATE_* */
	u8 pm_state;			/* MLX5_QP_PM_*, see apm.c */
	bool pm_failed;			/* an event has told that it cannot follow */
	u32 pd;
	u32 user_index;
	struct hca_record record;
	bool requests;			/* has sent more than NOPs */
	struct hca_buf buf;
	__be32 *dbr;
	struct hca_wq sq, rq;
	struct hca_cq *scq, *rcq;
	struct hca_srq *srq;
	struct hca_dependent on_scq, on_rcq, on_srq;
	u32 xrcd;
	bool rlky;			/* privileged: the kernel's own queue */
	u8 cs_req, cs_res;
	u8 nop_flags;			/* doorbell.c, BlueFlame */
	u16 nop_index;

	/* Requester (requester.c) */
	u32 remote_qpn;
	struct hca_path path;
	u32 mtu;			/* bytes */
	u8 retry_cnt, rnr_retry;	/* as set; 7 RNR retries: for ever */
	u8 retry_left, rnr_left;
	u8 ack_timeout;			/* exponent; 0: wait for ever */
	u32 qkey;
	u32 deth_sqpn;			/* source QPN in datagrams, 0: own */
	u32 sq_psn, rq_psn;
	u64 done;			/* bytes of the current message moved */
	bool in_message;		/* done counts */
	struct {			/* a multicast has got so far, see ud.c */
		u64 port;
		u64 member;
	} mc;
	struct list_head run_entry;	/* the share's QPs with work, or empty */
	struct list_head fail_entry;	/* fabric.failing_qps, or empty */
	u8 fail_to;			/* the state to enter, SQER or ERR; 0: none */
	struct hca_timer timer;		/* it waits for a retry */
	struct hca_timer flush;		/* in error: the next look at the records */
	u64 flush_ns;			/* its interval */
	struct hca_port *remote;	/* where the path leads, cached by fabric.c */
	u32 peer_epoch;

	/* Responder (responder.c) */
	bool rre, rwe, rae;
	u8 atomic_mode;
	u8 min_rnr;
	struct hca_srq *recv_srq;	/* of which the message in progress holds a WQE, or NULL */
	u32 recv_index;
	struct list_head recv_entry;	/* recv_srq->holders */
	bool communication;		/* a first message has come */
	bool sq_drained_sent;

	u32 counter_set;
	struct hca_counter *counter;	/* that set; never NULL */
	u32 mcg_users;
	struct hca_events events;
	u32 qpc[MLX5_ST_SZ_DW(qpc)] __aligned(8);	/* as set, for queries */
};

struct hca_gid {
	bool valid;
	u8 gid[16];
	u8 mac[6];
	u8 version;			/* MLX5_ROCE_VERSION_* */
	u8 l3_type;
	bool vlan_valid;
	u16 vlan_id;
};
#define HCA_GIDS	32

struct hca_port_counters {
	u64 xmit_packets, xmit_bytes, rcv_packets, rcv_bytes;
	u64 mcast_xmit_packets, mcast_rcv_packets;
	u64 mcast_xmit_bytes, mcast_rcv_bytes;
};

struct hca_port {
	struct hca *hca;
	u8 number;			/* from 1 */
	bool up;
	u16 lid;
	u16 pkey;			/* the one entry of the table */
	u64 guid;
	u32 caps;			/* PortInfo capability mask, as managers set it */
	struct hca_qp *qp1;
	struct hca_events events;
	struct hca_port_counters count;
};

/* A Q counter set (QUERY_Q_COUNTER) */
struct hca_counter {
	u32 set, users;
	u64 rx_write, rx_read, rx_atomic;
	u64 out_of_buffer, rnr_nak_retry, timeouts;
};

/* ---- One function ----------------------------------------------------------- */

struct hca {
	struct list_head entry;		/* fabric.functions */
	struct list_head serial_entry;	/* fabric.by_serial */
	u32 serial;			/* grows with every function that is made */
	struct hca_fabric *fabric;
	const struct hca_ops *ops;
	void *ctx;
	struct hca_params p;
	struct hca_cmdif *cmdif;	/* cmd.c */

	struct hca_table pds, xrcds, tds, uars_by_index, eqs, cqs, qps, srqs, mkeys,
			 counters;
	struct list_head mcgs;		/* mcg.c */
	u32 nmcgs;
	u32 nqp1;			/* queue pairs of type QP1 */
	struct hca_eq *async_eq[256];	/* by event type */
	struct list_head eq_list;
	struct hca_events cmd_events;
	bool irq_pending;

	struct {			/* for tests of drivers */
		u32 left;		/* commands until one fails, 0: none will */
		u32 more;		/* after that one, as many fail, too */
		u8 status;		/* its answer */
	} fail;

	bool no_dma;			/* see hca_dma_enable() */
	struct list_head halted;	/* its shares with work, without DMA */
	struct hca_share share;		/* of QPs without a doorbell page */
	u8 stage;			/* enum hca_stage */
	u16 issi;
	struct hca_caps *caps;		/* caps.c */
	u8 node_desc[64];
	bool roce_en;			/* vport.c */
	u16 vport_mtu;

	struct hca_port port[HCA_MAX_PORTS];	/* p.num_ports of them */
	struct hca_gid gids[HCA_GIDS];	/* RoCE */
	u8 uc_mac[6];
	struct hca_counter uncounted;	/* of QPs without a set */
	u64 health_due;
};

/* ---- Work: what a turn of one queue may cost ------------------------------ */

/*
 * Work is counted in units; one is about as long as it takes to copy a byte.  A turn
 * ends when its units are spent, at the end of a step: a request, the pieces of a
 * message one by one, a part of a UMR's list, one receiver of a multicast.  A datagram
 * is gathered and delivered to a receiver as a whole, which is the longest step: every
 * byte may be a piece of its own.
 */
enum hca_work {
	HCA_REQUESTS,
	HCA_BYTES,
	HCA_PIECES,			/* contiguous memory on both sides */
	HCA_ENTRIES,			/* of lists that were searched, and keys looked up */
	HCA_RECEIVERS,			/* of a datagram */
	HCA_WORK_KINDS
};

#define HCA_TURN_UNITS		(256 * 1024u)
#define HCA_REQUEST_UNITS	512u
#define HCA_PIECE_UNITS		128u
#define HCA_ENTRY_UNITS		32u
#define HCA_RECEIVER_UNITS	1024u

/* What the longest step adds to a turn whose units are almost spent */
#define HCA_STEP_BYTES		(4096 + 40 + 4096)
#define HCA_STEP_PIECES		HCA_STEP_BYTES
/* A chain of keys leads to a piece, in each 2^16 entries, by bisection; sums of them; groups */
#define HCA_STEP_ENTRIES	\
	((HCA_MAX_NESTING + 1) * (HCA_STEP_PIECES * 18 + 65536 / 8) + 65536)

/* No turn does more */
#define HCA_TURN_MAX_BYTES	(HCA_TURN_UNITS + HCA_STEP_BYTES)
#define HCA_TURN_MAX_PIECES	(HCA_TURN_UNITS / HCA_PIECE_UNITS + HCA_STEP_PIECES)
#define HCA_TURN_MAX_ENTRIES	(HCA_TURN_UNITS / HCA_ENTRY_UNITS + HCA_STEP_ENTRIES)
#define HCA_TURN_MAX_RECEIVERS	(HCA_TURN_UNITS / HCA_RECEIVER_UNITS + 1)

struct hca_turn {
	u64 budget, units;
	u64 done[HCA_WORK_KINDS];
};

/* ---- All functions of the host: the local fabric ------------------------- */

struct hca_scratch;

struct hca_fabric {
	struct list_head functions;
	u32 nfunctions;
	struct list_head by_serial;	/* the same functions, in an order that stays */
	u32 last_serial;
	u64 last_member;		/* of a multicast group, number given out last */
	u32 epoch;			/* changes with every address */
	u64 now;			/* ns, read once a poll */
	struct list_head uars;		/* doorbell pages in use, the next to look at first */
	struct list_head hot_uars;	/* of these, the ones used of late */
	struct list_head active_uars;	/* with active records */
	struct list_head sweeps;	/* whose records are swept */
	u32 nsweeps;
	u32 sweep_credit, sweep_finds;
	s32 load_credit;
	u32 pass, looks;		/* at registers */
	u64 work_seen, last_pass;
	u32 commands;			/* that the last look for them found */
	struct list_head run;		/* shares with work */
	struct list_head failing;	/* of CQs and SRQs: dependents that are to fail */
	struct list_head failing_qps;	/* QPs that the scheduler takes to ERR or SQER */
	struct list_head cq_news;	/* CQs with entries since their arm word was read */
	struct hca_timers timers;	/* QPs that wait, CQs with a moderated event */
	struct hca_timers flushing;	/* QPs in error: what is posted is flushed */
	struct hca_scratch *scratch;	/* what is being executed */
	u32 idle;			/* passes since there was work */
	bool may_sleep, wants_sleep;	/* this pass; something waits for one which may */
	struct hca_turn turn;		/* of the queue that runs */
	struct {
		u64 polls, wqes, doorbells, bytes, units;
		u64 loads;		/* of registers, which are not cached */
		u64 largest[HCA_WORK_KINDS];	/* of all turns */
	} stat;
};

/* @n pieces of work were done for the queue that runs. */
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

/* What the queue that runs may still spend */
static inline u64 hca_turn_left(const struct hca_fabric *f)
{
	return f->turn.units < f->turn.budget ? f->turn.budget - f->turn.units : 0;
}

int hca_fabric_init(struct hca_fabric *f);
void hca_fabric_free(struct hca_fabric *f);

/*
 * One pass over everything.  False if there was nothing to do.  The earliest
 * deadline comes from hca_fabric_deadline(): U64_MAX none.
 */
bool hca_fabric_poll(struct hca_fabric *f);
u64 hca_fabric_deadline(struct hca_fabric *f);
/* The same for where nobody may sleep: without commands, and what else may. */
bool hca_fabric_poll_atomic(struct hca_fabric *f);
/* Does something wait for a pass that may sleep? */
bool hca_fabric_must_sleep(const struct hca_fabric *f);
/* Is a doorbell waiting?  Takes none, while nobody polls; looks at a part in each call. */
bool hca_fabric_rung(struct hca_fabric *f);
/* Has there been no work for some time? */
static inline bool hca_has_time(const struct hca_fabric *f)
{
	return f->idle >= 64;
}

struct hca *hca_create(struct hca_fabric *f, const struct hca_params *p,
		       const struct hca_ops *ops, void *ctx);
/* The driver must be gone; whatever it left is freed. */
void hca_destroy(struct hca *hca);
/* Frees every object: teardown, function reset. */
void hca_reset(struct hca *hca);
/*
 * Without DMA a function reads and writes no host memory and raises no interrupt,
 * from the next pass on.  Its objects stay as they are.  May be called at any time,
 * in any context.
 */
void hca_dma_enable(struct hca *hca, bool on);
/* The link of a port, as the network device sees it. */
void hca_port_set(struct hca_port *port, bool up);

/* Port @number, NULL if there is none.  0, where nobody names a port: the first. */
static inline struct hca_port *hca_port_get(struct hca *hca, u32 number)
{
	if (number > hca->p.num_ports)
		return NULL;
	return &hca->port[number ? number - 1 : 0];
}

/* The port that a queue pair is on */
static inline struct hca_port *hca_qp_port(const struct hca_qp *qp)
{
	return &qp->hca->port[qp->path.port];
}

static inline bool hca_halted(const struct hca *hca)
{
	return READ_ONCE(hca->no_dma);
}

static inline void *hca_dma(struct hca *hca, u64 addr, u64 len)
{
	return hca->ops->dma_ptr(hca->ctx, addr, len);
}

/* ---- cmd.c: the command interface ------------------------------------------- */

int hca_cmd_init(struct hca *hca);
void hca_cmd_free(struct hca *hca);
/* Looks at the command doorbell, runs what was posted.  Returns work done. */
unsigned int hca_cmd_poll(struct hca *hca);
bool hca_cmd_waits(const struct hca *hca);
/*
 * Executes one command on flat mailboxes, as the interpreter does after it has
 * gathered them.  Writes status and syndrome into @out.
 */
void hca_cmd_exec(struct hca *hca, const void *in, u32 inlen, void *out, u32 outlen);

/* ---- eq.c ------------------------------------------------------------------- */

/* Asynchronous events, for the EQ that subscribed to their type */
void hca_event_port(struct hca_port *port, u8 subtype);
void hca_event_qp(struct hca_qp *qp, u8 type);
void hca_event_srq(struct hca_srq *srq, u8 type);
void hca_event_cq_error(struct hca_cq *cq, u8 syndrome);
/* Before its object goes */
void hca_event_forget(struct hca_events *e);
/* A completion event; waits on the EQ where it has no room. */
void hca_event_comp(struct hca_cq *cq);
/* The consumer index that software wrote into a doorbell page. */
void hca_eq_doorbell(struct hca_eq *eq, u32 ci);
/* Raises the interrupt of @eq if it is time to; true if it did. */
bool hca_eq_raise(struct hca_eq *eq);
/* Has @eq events that software has not taken? */
bool hca_eq_behind(const struct hca_eq *eq);

/* ---- uar.c ------------------------------------------------------------------------- */

/* The number of queues that ring here has changed. */
void hca_uar_used(struct hca_uar *uar);
/* The page has been used: doorbell.c reads its registers more often. */
void hca_uar_warm(struct hca_uar *uar);
void hca_uar_stop_sweep(struct hca_uar *uar);

/* ---- record.c ---------------------------------------------------------------------- */

void hca_record_init(struct hca_record *r, enum hca_record_kind kind);
void hca_record_add(struct hca_record *r, struct hca_uar *uar);
void hca_record_del(struct hca_record *r);
/* Reads this record in every pass, for some time; no longer. */
void hca_record_active(struct hca_record *r);
void hca_record_rest(struct hca_record *r);
/* Reads the record of a QP's send queue; true if there are new requests. */
bool hca_qp_look(struct hca_qp *qp);

/* ---- sweep.c ----------------------------------------------------------------------- */

/* Reads every record of the page, some in each pass. */
void hca_sweep(struct hca_uar *uar, enum hca_record_kind kind);
/* Starts the sweep again that stopped when the function was halted. */
void hca_sweep_owed(struct hca_uar *uar);
/* Reads active records and sweeps.  @steps: work since the last pass */
unsigned int hca_sweep_poll(struct hca_fabric *f, u32 steps);
/* Has an active record news?  Takes none. */
bool hca_sweep_rung(struct hca_fabric *f);

/* ---- doorbell.c -------------------------------------------------------------------- */

unsigned int hca_doorbell_poll(struct hca_fabric *f);
/* Reads the EQ registers of a doorbell page. */
unsigned int hca_doorbell_look_eq(struct hca_uar *uar);

/* ---- cqe.c -------------------------------------------------------------------- */

/*
 * Writes @cqe, complete but for its owner bit, and @data: HCA_CQE_INLINE bytes if the format
 * of @cqe says that it carries data, else NULL.  False: the CQ has overrun and the CQE is
 * lost; the error event is out, and the QPs of the CQ are queued for failure.
 */
bool hca_cqe_post(struct hca_cq *cq, struct mlx5r_cqe *cqe, const u8 *data);
/* The events that the entries since the last call ask for */
void hca_cq_tell(struct hca_fabric *f);
/* The time of a moderated event has come. */
void hca_cq_timer(struct hca_cq *cq);
/* Reads the record of a CQ; true if there is a new notification request. */
bool hca_cq_look(struct hca_cq *cq);
/* The same, but does not take the request. */
bool hca_cq_has_news(const struct hca_cq *cq);
/* First look at the record of a new CQ. */
void hca_cq_start(struct hca_cq *cq);
void hca_cq_stop(struct hca_cq *cq);

/* ---- share.c ----------------------------------------------------------------------- */

void hca_share_init(struct hca_share *s);
/* @qp has work: the scheduler will run its send queue. */
void hca_share_add(struct hca_qp *qp);

/* ---- fail.c ------------------------------------------------------------------------ */

void hca_fail_init(struct hca_qp *qp);
/* Queues @qp for ERR. */
void hca_fail_qp(struct hca_qp *qp);
/* Queues @qp for ERR, with a catastrophic event unless it is in ERR or on its way there. */
void hca_fail_fatal(struct hca_qp *qp);
/* Queues @qp for SQER: only its send queue fails. */
void hca_fail_sq(struct hca_qp *qp);
/* Takes @qp off the queue. */
void hca_fail_forget(struct hca_qp *qp);
/* The QP queued first, or NULL */
struct hca_qp *hca_fail_first(struct hca_fabric *f);

void hca_dependents_init(struct hca_dependents *all);
void hca_dependents_free(struct hca_dependents *all);
void hca_depend(struct hca_dependents *all, struct hca_dependent *d);
void hca_depend_end(struct hca_dependent *d);
/* The CQ or SRQ has failed: all its QPs fail. */
void hca_dependents_fail(struct hca_fabric *f, struct hca_dependents *all);
/* Queues some of those QPs; returns how many. */
unsigned int hca_dependents_run(struct hca_fabric *f);

/* ---- qp_enter.c --------------------------------------------------------------------- */

void hca_qp_init_run(struct hca_qp *qp);	/* once, before anything else */
int hca_qp_timers_join(struct hca_qp *qp);
void hca_qp_timers_leave(struct hca_qp *qp);
/* Enters any state, without a check of the transition. */
void hca_qp_enter(struct hca_qp *qp, u8 state);
/* Before RESET or destruction: takes the QP off every list. */
void hca_qp_stop(struct hca_qp *qp);
/* Takes all queued QPs to ERR or SQER. */
void hca_qp_run_failures(struct hca_fabric *f);
/* Flushes what was posted to QPs in ERR since; returns the number of QPs with such requests. */
unsigned int hca_qp_run_flushing(struct hca_fabric *f);

/* ---- key.c: the one place that walks a key -------------------------------------- */

/* Who uses a key: the PD and QP number it must belong to, and for what */
struct hca_key_user {
	struct hca *hca;
	u32 pd, qpn;
	u8 access;
};

/* Is access to [va, va + len) allowed? */
bool hca_key_check(const struct hca_key_user *u, u32 key, u64 va, u64 len);
/*
 * Pointer to the bytes at @va, and in *@len how many of them are contiguous.  NULL
 * if access to [va, va + len) is not allowed.
 */
void *hca_key_map(const struct hca_key_user *u, u32 key, u64 va, u64 *len);

/* mkey.c: sets translation entries [first, first + n) from MTT or KLM bytes. */
int hca_mkey_set_mtts(struct hca_mkey *mkey, u32 first, u32 n, const __be64 *mtt);
int hca_mkey_set_klms(struct hca_mkey *mkey, u32 first, u32 n, const struct mlx5r_klm *klm);

/* ---- fabric.c: who is at the other end ------------------------------------------ */

/* The port that a path from @hca leads to, or NULL */
struct hca_port *hca_fabric_find(struct hca *hca, const struct hca_path *path);
/* The port that the QP's primary path leads to, or NULL */
struct hca_port *hca_fabric_remote(struct hca_qp *qp);
/* @from: the sender's address, which says RoCE version and VLAN */
struct hca_port *hca_fabric_by_gid(struct hca_fabric *f, const u8 *gid, const u8 *mac,
				   const struct hca_gid *from);
struct hca_port *hca_fabric_by_lid(struct hca_fabric *f, u16 lid);
void hca_fabric_changed(struct hca_fabric *f);

/* ---- apm.c: automatic path migration ---------------------------------------------- */

/* One path, no other */
void hca_apm_reset(struct hca_qp *qp);
/* May software ask for the migration state in @qpc? */
bool hca_apm_allows(const struct hca_qp *qp, const u32 *qpc);
void hca_apm_set(struct hca_qp *qp, u8 state);
/* The alternate path becomes the primary one; an event tells. */
void hca_apm_migrate(struct hca_qp *qp);
/* @qp sends to @peer, which is in another migration state.  False: it cannot follow. */
bool hca_apm_follow(struct hca_qp *qp, struct hca_qp *peer);
/* A message of @qp, which waits to be armed, has reached @peer. */
void hca_apm_arm(struct hca_qp *qp, struct hca_qp *peer);

/* ---- path.c ------------------------------------------------------------------------- */

void hca_path_decode(struct hca_path *path, const void *ads, bool roce);
/* Decodes the primary path of the QP's context; the peer will be looked up again. */
void hca_path_take(struct hca_qp *qp);

/* ---- qp_state.c ---------------------------------------------------------------------- */

/* If @qp is the QP1 of a port, it no longer is. */
void hca_qp1_leave(struct hca_qp *qp);

/* ---- mcg.c ------------------------------------------------------------------------ */

enum hca_mcg_walk { HCA_MCG_NONE, HCA_MCG_ALL, HCA_MCG_STOPPED };

/*
 * Calls @fn for the members of @gid on @port that have a number above *@last, in the order
 * of their numbers, until it returns false.  *@last is the number of whom it was called for
 * last.
 */
enum hca_mcg_walk hca_mcg_walk(struct hca_port *port, const u8 *gid, u64 *last,
			       bool (*fn)(struct hca_qp *qp, void *arg), void *arg);
void hca_mcg_detach_all(struct hca_qp *qp);

static inline struct hca_qp *hca_qp_get(struct hca *hca, u32 qpn)
{
	struct hca_qp *qp = hca_table_get(&hca->qps, qpn);

	return qp && qp->st != HCA_ST_SQ ? qp : NULL;
}

static inline struct hca_mkey *hca_mkey_get(struct hca *hca, u32 key)
{
	return hca_table_get(&hca->mkeys, key >> 8);
}

#endif
