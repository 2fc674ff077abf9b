/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of a function: their private structures.
 *
 * A member that ends in _entry is an element of the list that its comment names.
 */
#ifndef _HCA_OBJECTS_H
#define _HCA_OBJECTS_H

#include <linux/types.h>
#include <linux/list.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <rdma/mlx5_ring.h>
#include "base/buf.h"
#include "base/fifo.h"
#include "base/heap.h"
#include "base/round.h"
#include "hca.h"

#define HCA_FIRST_UAR		16		/* the init segment is below */
#define HCA_MAX_SGE		64		/* a WQE of 63 DS has fewer segments */
#define HCA_ANY_QPN		0xffffff
#define HCA_PSN_MASK		0xffffff
#define HCA_MAX_PAGE_SHIFT	31		/* of rings and UMEMs */
#define HCA_OCTOWORD		16		/* bytes; unit of translation lists (PRM) */
#define HCA_MAX_NESTING		4		/* indirect mkeys in a chain: max_indirection */
#define HCA_ST_SQ		MLX5_QP_ST_RAW_ETHERTYPE	/* sq.c: not a queue pair */
#define HCA_ATOMIC_MODE_8B	3		/* qpc.atomic_mode: up to 8 bytes */
#define HCA_CQE_INLINE		64		/* bytes of data in a CQE at most */

struct hca_qp;
struct hca_wire;

/* ---- QPs that fail with a CQ or SRQ (fail.c) --------------------------------------------- */

/* The entry of a QP in the list of a CQ or SRQ that it uses */
struct hca_dependent {
	struct hca_qp *qp;
	struct list_head entry;
};

/* In a CQ or SRQ: the QPs that use it */
struct hca_dependents {
	struct list_head qps;
	struct list_head failed;	/* those already queued for failure */
	struct list_head entry;		/* fabric.fail.dependents, or empty */
};

/* ---- Timers ------------------------------------------------------------------------------ */

enum hca_timer_owner {
	HCA_TIMER_QP, HCA_TIMER_CQ, HCA_TIMER_WIRE, HCA_TIMER_ROOM, HCA_TIMER_RATE, HCA_TIMER_DC,
};

struct hca_timer {
	struct hca_heap_entry entry;	/* fabric.timers; the key is the time, in ns */
	enum hca_timer_owner owner;
};

/* When it expires; 0: it is not set. */
static inline u64 hca_timer_due(const struct hca_timer *timer)
{
	return timer->entry.key;
}

/* ---- Shares of the time (share.c) -------------------------------------------------------- */

struct hca_share {
	struct hca_heap_entry place;	/* shares.queue while there is work; key: used + last */
	u32 last;			/* units of the last turn */
	u64 used;			/* units */
};

/* Shares that take turns */
struct hca_shares {
	struct hca_heap queue;		/* those with work, the next one first */
	u64 used;			/* by the share that ran last, before its turn */
};

/*
 * Whose QPs have a share together: those of a user context, that is of a process, or of a
 * doorbell page that the driver allocated without one
 */
struct hca_owner {
	struct hca_share share;
	struct hca_fifo qps;		/* QPs with work */
	u32 npolling;			/* QPs that wait for data (xchan.c) */
};

/* ---- Objects ----------------------------------------------------------------------------- */

/* A PD, XRC domain or transport domain: a number, and how many queues use it */
struct hca_domain {
	u32 users;
};

/* A part of a calculation that takes several turns (calc.c) */
struct hca_calc_progress {
	u64 at;				/* its offset */
	u32 next;			/* the operand to combine next; 0: none has been */
	u8 sum[16] __aligned(8);	/* of the operands before it */
};

enum hca_record_kind { HCA_RECORD_QP, HCA_RECORD_CQ, HCA_RECORD_KINDS };

/* The doorbell record of a queue (record.c) */
struct hca_record {
	struct hca_uar *uar;		/* its doorbell page; NULL: the record is not read */
	struct list_head entry;		/* uar.records[kind].all */
	struct list_head active_entry;	/* uar.active, or empty */
	u16 misses;			/* reads in sequence that found no change */
	u8 kind;
	u8 bell;			/* strict: of a QP, where it was rung last */
	u32 rings;			/* strict: of that bell, when it was read last */
};

struct hca_records {
	struct hca_round all;
	u32 sweep;			/* records that the sweep must still read */
};

/* Strict mode (strict.c): the doorbell registers of send queues, and all of them together */
enum { HCA_BELL_ANY, HCA_BELL_FIRST, HCA_BELLS = HCA_BELL_FIRST + 4 };

struct hca_bell {
	u32 rings;
	u32 qpn;			/* the queue that uses the register; 0: none */
	bool shared;			/* another one uses it, too */
};

struct hca_uar {
	struct hca *hca;
	u32 index;
	void *regs;			/* the page in the BAR */
	bool released;			/* deallocated by the driver, but still in use */
	u32 neqs;
	struct hca_records records[HCA_RECORD_KINDS];	/* of the queues that use the page */
	struct hca_round active;	/* records that changed recently */
	struct list_head active_uar_entry;	/* fabric.sweep.active, or empty */
	struct list_head sweep_entry;	/* fabric.sweep.uars, or empty */
	bool sweep_stopped;		/* it stopped because the function was halted */

	struct hca_owner *owner;	/* of a user context, or @driver */
	struct hca_owner driver;

	/* Reads of the registers (doorbell.c) */
	struct list_head entry;		/* fabric.doorbell.uars while queues use the page */
	struct list_head hot_entry;	/* fabric.doorbell.hot, or empty */
	u16 known;			/* a bit for each register that software has rung */
	u8 next_known, next_cold_known, next_any;
	u8 cold_looks;
	bool copies;			/* a register held a copy of a NOP */
	u16 quiet;			/* rounds since the last doorbell */
	u32 pass;			/* the last pass that read all known registers */
	u32 cq_rings;			/* doorbells of CQs */
	struct hca_bell bells[HCA_BELLS];
};

/* A QP that waits for an entry of a CQ; a node of a heap (wait.c) */
struct hca_waiter {
	struct hca_waiter *parent, *child[2];
	struct hca_cq *cq;
	u32 pi;				/* it waits until the CQ has this producer index */
	u32 rank;
	u8 nbb;				/* of the request that waits */
	bool signalled;
};

/* Asynchronous events of one object that are not written yet (eq.c) */
struct hca_events {
	u64 pending;			/* bits: event types, port subtypes or command slots */
	struct list_head entry;		/* eq.late while any is pending */
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
	u32 ci;				/* software has taken at least the entries before it */
	u32 served;			/* those before it need no further interrupt */
	u32 mark;			/* the index pi at doorbell @mark_doorbell (eq.c) */
	u64 mark_doorbell;
	u64 doorbell[2];		/* numbers of its last two that arm it */
	bool irq_pending;
	u32 eqc[MLX5_ST_SZ_DW(eqc)] __aligned(8);	/* as created, for queries */
	struct hca_uar *uar;
	struct list_head entry;		/* hca.eq_list */
	struct list_head waiting;	/* CQs with an event for which there was no room */
	struct list_head late;		/* objects with such asynchronous events */
	u64 retry_due, retry_ns;	/* next interrupt while software is behind */
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
	struct hca_umem *dbr_umem;	/* which has the record, or NULL */
	u32 log_size;
	u32 cqe_bytes;			/* 64 or 128 */
	u32 pi, ci;			/* 24-bit counters, kept free-running */
	u32 arm_seen;			/* arm word processed last */
	bool arm_zero;			/* it is 0 since creation: 0 may be a request */
	bool armed, armed_solicited;
	u32 solicited_pi;		/* pi after the last solicited CQE */
	u32 event_pi;			/* pi at the last event */
	u32 rings;			/* uar->cq_rings at creation; strict: at the last look */
	struct list_head news_entry;	/* fabric.cqs_to_arm, or empty */
	struct hca_waiter *waiters;	/* QPs that wait: the root of their heap */
	struct list_head wake_entry;	/* fabric.wait.waking, or empty */
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
	u8 link;			/* bytes of the link before the segments of a WQE */
	struct hca_buf buf;
	u32 log_size, log_stride;
	__be32 *dbr;
	struct hca_umem *dbr_umem;	/* which has the record, or NULL */
	u32 head;			/* index of the WQE to use next */
	u32 taken;			/* WQEs taken so far, free-running */
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

/* An entry of an indirect mkey: a range of another mkey */
struct hca_klm {
	u64 addr;
	u64 end;			/* KLM: sum of the sizes up to this entry (key.c) */
	u32 key;
	u32 size;			/* of a repeating block: 31:16 stride, 15:0 size */
};

/*
 * The entries of an mkey, in chunks of at most a page, so that a request can add one without
 * sleeping.  Only the first chunk may be shorter.
 */
struct hca_xlt {
	void **chunk;			/* room for the capacity of the mkey */
	u32 entries;			/* present in the chunks */
};

#define HCA_LOG_CHUNK_PAGES	9
#define HCA_LOG_CHUNK_KLMS	7

struct hca_mkey {
	struct hca *hca;
	u32 key;			/* index << 8 | variant */
	u32 pd;
	u32 qpn;			/* the only QP that may use it, or HCA_ANY_QPN */
	u8 access;			/* MLX5R_MKEY_ACCESS_* */
	u8 mode;			/* MLX5R_MKEY_MODE_* */
	bool free;			/* no access until a UMR changes this */
	bool umr_en, en_rinval, length64, null;
	u8 page_shift;
	u64 page_mask;			/* the page size - 1 */
	u64 start, len;
	u32 skip;			/* bytes of the first page before @start */
	u32 xlt_max;			/* capacity in 16-byte units */
	u32 klms_summed;		/* the first entries, whose end is valid (key.c) */
	struct hca_xlt xlt;		/* MTT: checked pointers, two per unit; else klms */
	struct hca_umem *umem;		/* which has its pages; NULL: a list of its own */
	struct hca_domain *domain;	/* of a user context: the PD, which it holds */
	bool loading;			/* no access: a UMR has set a part of its list */
	u16 uid;			/* of the user context, 0: of the driver */
	u64 list_bytes;			/* charged to it (devx.c) */
	u32 mkc[MLX5_ST_SZ_DW(mkc)] __aligned(8);	/* as created, for queries */
};

/* Entry @i, which must be present */
static inline void **hca_mkey_page(const struct hca_mkey *mkey, u32 i)
{
	void **chunk = mkey->xlt.chunk[i >> HCA_LOG_CHUNK_PAGES];

	return &chunk[i & ((1u << HCA_LOG_CHUNK_PAGES) - 1)];
}

static inline struct hca_klm *hca_mkey_klm(const struct hca_mkey *mkey, u32 i)
{
	struct hca_klm *chunk = mkey->xlt.chunk[i >> HCA_LOG_CHUNK_KLMS];

	return &chunk[i & ((1u << HCA_LOG_CHUNK_KLMS) - 1)];
}

/* One ring of work requests */
struct hca_wq {
	u32 offset;			/* in the QP's buffer */
	u32 log_stride;			/* of receive requests */
	u32 entries;			/* 0: no such queue */
	u16 pi, ci;			/* from the record; next request to run */
};

/* Path to the peer, decoded from the QP context */
struct hca_path {
	u8 port;			/* the local port is hca.port[port] */
	u8 rgid[16];
	u8 rmac[6];
	u16 rlid;
	u8 sgid_index;
	bool grh;
	u8 sl, tclass, dscp, hop_limit;
	u16 udp_sport;
	u32 flow_label;
	u16 pkey_index;
};

enum { HCA_DCT_ACTIVE, HCA_DCT_DRAINING, HCA_DCT_DRAINED };	/* dctc.state */

/* What only a DC target has (dct.c, dci.c) */
struct hca_dct {
	__be64 key;
	u8 state;			/* HCA_DCT_* */
	bool armed;			/* the next key violation raises an event */
	u32 violations;
	struct list_head sources;	/* DCIs with a message in progress (target_entry) */
	u32 ctx[MLX5_ST_SZ_DW(dctc)] __aligned(8);	/* as created, for queries */
};

/* First the fields that most requests use, so that they are in few cache lines. */
struct hca_qp {
	struct hca *hca;
	u32 qpn;
	u32 type;			/* 1 << st */
	u8 st;				/* MLX5_QP_ST_*, HCA_ST_SQ; DCT: dct.c */
	u8 state;			/* MLX5_QP_STATE_* */
	u8 pm_state;			/* MLX5_QP_PM_*, see apm.c */
	u8 fail_to;			/* the state to enter, SQER or ERR; 0: none */
	u32 pd;

	/* The peer; sender and receiver find each other */
	struct hca_port *port;		/* the local port, path.port */
	u32 remote_qpn;
	struct hca_port *remote;	/* the peer's port, cached by route.c */
	u32 peer_epoch;
	u32 sq_psn, rq_psn;
	bool rre, rwe, rae;
	u8 atomic_mode;
	struct hca_counter *counter;	/* of counter_set; never NULL */
	u32 counter_set;
	bool in_message;		/* a turn has executed a part of the message */
	bool communication;		/* the first message has arrived */
	bool in_partition;		/* @remote is in the partition; cached with it */
	u8 min_rnr;
	bool rlky;			/* privileged: a queue of the kernel */
	struct hca_path path;

	/* Requester (requester.c) */
	u32 mtu;			/* bytes */
	u8 log_msg_max;
	u8 retry_cnt, rnr_retry;	/* as set; 7 RNR retries: no limit */
	u8 retry_left, rnr_left;
	u8 ack_timeout;			/* exponent; 0: no timeout */
	u8 cs_req, cs_res;
	u32 rnr_ns;			/* without a limit of retries: the last delay, */
	u16 rnr_index;			/* and the request it is for */
	u32 user_index;
	struct hca_wire *wire;		/* of functions with a wire, or NULL (wire.h) */
	struct list_head room_entry;	/* hca.room.qps while it waits for room, or empty */
	bool waiting;			/* for an entry of a CQ */
	bool wait_over;			/* the CQ has it: the request is not fetched again */

	/* The queues */
	struct hca_record record;
	__be32 *dbr;
	bool managed_send, managed_recv;	/* others enable what is posted */
	bool has_record;		/* the record gives sq.pi now, see qp_enter.c */
	bool requests;			/* it has executed another request than a NOP */
	bool cd_master;			/* may wait and enable (xchan.c) */
	struct hca_wq sq, rq;
	struct hca_buf buf;
	struct hca_cq *scq, *rcq;
	struct hca_srq *srq;
	struct hca_owner *share;	/* while the send queue has work, or NULL */
	struct hca_fifo_entry run_entry;	/* share->qps */
	struct hca_timer timer;		/* the next retry */
	u64 done;			/* bytes copied of the current message */
	struct hca_qp *target;		/* of a DCI: the DCT of the message in progress, or NULL */
	struct hca_qp *holder;		/* has recv_srq: this QP, or the DCI that sends to a DCT */
	u16 announced;			/* strict: the end of the request in the last doorbell */
	u16 nop_index;
	u8 nop_flags;			/* of a NOP in a BlueFlame register (doorbell.c) */
	bool sq_drained_sent;
	u16 flush_left;			/* WQEBBs posted in SQER that RTS or SQD must flush */
	bool has_cause;			/* a send request has failed since RESET */

	/* ---- The rest ------------------------------------------------------------ */

	bool pm_failed;			/* the event "migration failed" has been raised */
	struct hca_umem *dbr_umem;	/* which has the record, or NULL */
	u32 ece;			/* granted options, see hca_ece_grant() */
	struct hca_dependent on_scq, on_rcq, on_srq;
	u32 xrcd;
	struct list_head fail_entry;	/* fabric.fail.qps, or empty */
	struct hca_heap_entry flush;	/* fabric.flushing in ERR; key: the next read, in ns */
	u64 flush_ns;			/* its interval */

	/* Datagrams (ud.c) */
	u32 qkey;
	u32 deth_sqpn;			/* source QPN, 0: own */
	struct {			/* of one that takes several turns */
		bool counted;		/* as a packet of its port */
		u64 port;		/* the last receiver of a multicast */
		u64 member;
	} mc;
	u32 mcg_users;

	/* Cross-channel (xchan.c) */
	u16 rq_enabled;			/* receive requests that are enabled, free-running */
	struct hca_waiter waiter;
	u64 poll_since;			/* it has waited for data since then; 0: it does not */
	u8 calc_read[16] __aligned(8);	/* READ with calculation: what is read (calc.c) */
	struct hca_calc_progress calc;	/* of the request that is executed */

	/* Responder (responder.c) */
	const struct hca_qp *sender;	/* a part of its message has arrived; only compared */
	struct hca_srq *recv_srq;	/* the message in progress holds a WQE of it, or NULL */
	u32 recv_index;
	struct list_head recv_entry;	/* recv_srq->holders */

	/* DC */
	struct list_head target_entry;	/* target->dct.sources */
	struct hca_qp *session_of;	/* it is a session of this DCT (wire_dct.c), or NULL */
	struct hca_dct dct;

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
#define HCA_GIDS	255

struct hca_port_counters {
	u64 xmit_packets, xmit_bytes, rcv_packets, rcv_bytes;
	u64 mcast_xmit_packets, mcast_rcv_packets;
	u64 mcast_xmit_bytes, mcast_rcv_bytes;
	u64 icrc_errors;		/* on the wire */
};

/* A P_Key: a partition, and whether the port is a full member of it or a limited one */
#define HCA_PKEY_FULL		0x8000
#define HCA_PKEY_BITS		0x7fff

/* States of a port and of its physical link (IBA: PortInfo) */
enum { HCA_PORT_DOWN = 1, HCA_PORT_ACTIVE = 4 };
enum { HCA_PHYS_POLLING = 2, HCA_PHYS_DISABLED = 3, HCA_PHYS_LINK_UP = 5 };

struct hca_port {
	struct hca *hca;
	u8 number;			/* from 1 */
	bool up;
	u16 lid;
	u16 pkey;			/* entry 0 of the table, the others have none */
	u16 pkey_violations, qkey_violations;	/* packets dropped for their keys */
	u64 guid;
	u32 caps;			/* PortInfo capability mask, set by managers */
	struct hca_qp *qp0, *qp1;
	struct hca_events events;
	struct hca_port_counters count;
	struct hca_sa_table *sa_table;	/* an answer to QP1 that has several segments (sa.c) */
};

/* The subnet manager (sa.c) */
struct hca_sa {
	struct hca_port manager;	/* its port, on no function */
	struct list_head groups;	/* multicast groups (sa_group.c) */
	u32 ngroups;
};
#define HCA_SM_LID	0xbfff		/* the last one for a port */
#define HCA_GID_PREFIX	0xfe80000000000000ull

/* A Q counter set (QUERY_Q_COUNTER) */
struct hca_counter {
	u32 set, users;
	u64 rx_write, rx_read, rx_atomic, rx_dct_connect;
	u64 out_of_buffer, rnr_nak_retry, timeouts;
	/* Completions with an error of requests */
	u64 errors, remote_invalid_request, remote_access, retries_exceeded, rnr_retries_exceeded;
	/* On the wire only */
	u64 out_of_sequence, duplicate_request, packet_seq_err, implied_nak;
	u64 adp_retrans, adp_retrans_to;	/* short timeouts, and when they have not helped */
};

#endif
