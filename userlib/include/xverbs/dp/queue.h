/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Structures of queues.  The control path creates them and fills in addresses
 * and sizes.  The data path changes indices.
 *
 * Producer and consumer indices (pi, ci) are free-running 32-bit counters.
 * They are masked only when an entry is addressed.  The adapter sees their low
 * 16 or 24 bits.  Fields written by the posting thread and fields written by
 * the polling thread are in different cache lines.
 *
 * The library allocates these structures, so later versions may append fields.
 */
#ifndef XVERBS_DP_QUEUE_H
#define XVERBS_DP_QUEUE_H

#include <rdma/mlx5_ring.h>
#include <xverbs/dp/barrier.h>
#include <xverbs/dp/wr.h>

struct xv_context;
struct xv_pd;
struct xv_comp_channel;

/*
 * Rules that the caller must keep.  If XV_DP_DEBUG is defined before dp.h is included, the
 * program stops where it breaks one.
 */
#ifndef XV_DP_CHECK
#ifdef XV_DP_DEBUG
#define XV_DP_CHECK(rule)	do { if (xv_unlikely(!(rule))) __builtin_trap(); } while (0)
#else
#define XV_DP_CHECK(rule)	do { } while (0)
#endif
#endif

/*
 * A request is refused: evaluates to the negative error number.  The library, and a program that
 * defines XV_DP_DEBUG, also store the reason, which xv_last_error() returns.
 */
#ifndef XV_DP_REFUSE
#ifdef XV_DP_DEBUG
#define XV_DP_REFUSE(err, ...)	((xv_dp_refused ? xv_dp_refused(err, __VA_ARGS__) : (void)0), \
				 -(err))
#else
#define XV_DP_REFUSE(err, ...)	(-(err))
#endif
#endif

enum xv_qp_type {
	XV_QPT_RC		= 2,
	XV_QPT_UC		= 3,
	XV_QPT_UD		= 4,
	XV_QPT_XRC_SEND		= 9,
	XV_QPT_XRC_RECV		= 10,
	XV_QPT_DCI		= 32,	/* DC initiator */
};

enum xv_cq_flags {
	XV_CQ_SINGLE_THREADED	= 1 << 0,	/* no lock */
	XV_CQ_IGNORE_OVERRUN	= 1 << 1,
	XV_CQ_COLLAPSED		= 1 << 2,	/* all completions in entry 0 */
	XV_CQ_EXTERNAL_DATAPATH	= 1 << 3,	/* see struct xv_external */
	XV_CQ_CROSS_CHANNEL	= 1 << 4,	/* wait requests may name it */
};

/* The values are those of ibv_exp_qp_create_flags, except for the first two and the last. */
enum xv_qp_flags {
	XV_QP_SINGLE_THREADED		= 1 << 0,	/* no lock */
	XV_QP_EXTERNAL_DATAPATH		= 1 << 1,	/* see struct xv_external */
	XV_QP_CROSS_CHANNEL		= 1 << 2,	/* may wait and enable */
	XV_QP_MANAGED_SEND		= 1 << 3,	/* its sends must be enabled */
	XV_QP_MANAGED_RECV		= 1 << 4,	/* its receives must be enabled */
	XV_QP_IGNORE_SQ_OVERFLOW	= 1 << 6,	/* see xv_retire_send() */
	XV_QP_IGNORE_RQ_OVERFLOW	= 1 << 7,
	XV_QP_RECV_IN_RESET		= 1 << 16,	/* receives may be posted before INIT */
};

enum xv_qp_state {
	XV_QPS_RESET,
	XV_QPS_INIT,
	XV_QPS_RTR,
	XV_QPS_RTS,
	XV_QPS_SQD,
	XV_QPS_SQE,
	XV_QPS_ERR,
};

/* First member of each queue that a completion can name by its user index */
enum xv_rsc_type {
	XV_RSC_QP = 1,
	XV_RSC_SRQ,
	XV_RSC_DCT,
};

struct xv_rsc {
	uint32_t type;
	uint32_t user_index;
};

/* Two-level table: user index (12 + 12 bits) -> QP, SRQ or DC target */
#define XV_RSC_DIR_SHIFT	12
#define XV_RSC_DIR_SIZE		(1u << XV_RSC_DIR_SHIFT)
#define XV_RSC_DIR_MASK		(XV_RSC_DIR_SIZE - 1)
#define XV_RSC_INDEX_MASK	0xffffffu
#define XV_RSC_NO_INDEX		0xffffffffu	/* same value in both byte orders */
#define XV_RSC_GONE		0xffffffu	/* in a CQE: its queue no longer exists */

struct xv_rsc_dir {
	struct xv_rsc **leaf[XV_RSC_DIR_SIZE];
};

/* Kept for each posted send until it completes */
struct xv_sq_entry {
	uint64_t wr_id;
	uint32_t end;			/* producer index after this WQE */
	uint32_t wc_opcode;
};

/*
 * What enable requests have released of a managed send queue.  Counts are relative to base,
 * which moves with XV_SEND_WAIT_EN_LAST.  seen is the position count requests after base.
 */
struct __xv_enabled {
	uint32_t base;			/* positions are in WQEBBs */
	uint32_t max;			/* the last position released */
	uint32_t count;
	uint32_t seen;
};

/* Bytes of each BlueFlame buffer of a queue that has a register of its own, else 0 */
#define __XV_BF_SHIFT		20	/* bits of enum xv_qp_flags are lower */
#define __XV_BF_BYTES(sq)	((sq)->flags >> __XV_BF_SHIFT)

struct xv_sq {
	uint8_t *buf;
	uint8_t *buf_end;
	struct xv_sq_entry *entry;	/* indexed by WQEBB of the control segment */
	volatile uint32_t *dbrec;
	volatile uint64_t *doorbell;	/* BlueFlame: one of two buffers, in turn */
	uint64_t ctrl_qpn;		/* QPN at its place in the first 8 bytes of a WQE */
	uint64_t last_ctrl;		/* first 8 bytes of the last WQE posted */
	uint32_t pi;			/* WQEBBs */
	uint32_t limit;			/* upper bound of pi, from the last ci read */
	uint32_t mask;
	uint32_t room;			/* WQEBBs; 0 if the QP state forbids posting */
	uint32_t max_inline;
	uint32_t max_sge;
	uint32_t fm_ce_se;		/* for the next WQE, see __XV_FM_CE_SE() */
	struct xv_spin lock;
	uint32_t flags;			/* enum xv_qp_flags, some of them; __XV_BF_BYTES() */
	struct __xv_enabled en;
	uint32_t max_atomic_arg;	/* bytes of the operand of a masked atomic */
	void *builder;			/* XV_DP_DEBUG: thread with requests not committed */
	uint32_t ci __attribute__((aligned(64)));	/* written by the polling thread */
} __attribute__((aligned(64)));

struct xv_rq {
	uint8_t *buf;
	uint64_t *wr_id;
	volatile uint32_t *dbrec;
	uint32_t pi;			/* WQEs */
	uint32_t mask;
	uint32_t room;			/* WQEs; 0 if the QP state forbids posting */
	uint32_t max_sge;
	uint32_t log_stride;
	struct xv_spin lock;
	uint32_t flags;			/* as in struct xv_sq */
	uint32_t en_base;		/* as in struct __xv_enabled, in WQEs */
	uint32_t en_max;
	uint32_t ci __attribute__((aligned(64)));	/* written by the polling thread */
	void *builder;			/* as in struct xv_sq */
} __attribute__((aligned(64)));

/*
 * A shared receive queue has one of two layouts.  In a linked list, a post
 * takes the entry at the head and a completion returns its entry to the tail.
 * In a ring, head and tail are free-running; an entry that completes out of
 * order is marked in done[] until the tail reaches it.  The lock protects both.
 */
struct xv_srq {
	struct xv_rsc rsc;
	uint32_t srq_num;
	uint8_t *buf;
	uint64_t *wr_id;
	volatile uint32_t *dbrec;
	uint8_t *done;			/* ring: one flag for each entry; list: null */
	uint32_t head;
	uint32_t tail;
	uint32_t mask;
	uint32_t max_sge;
	uint32_t log_stride;
	uint16_t counter;		/* number of posts, for the doorbell record */
	struct xv_spin lock;
	void *srq_context;
	struct xv_context *context;
	struct xv_pd *pd;
	uint32_t handle;		/* object handle of /dev/xverbs, also below */

	/* Stores why the queue refused a request; null without the library */
	void (*recv_refused)(const struct xv_srq *srq, const struct xv_recv_wr *wr, int err);
};

struct xv_cq {
	uint8_t *buf;
	volatile uint32_t *dbrec;
	volatile uint64_t *doorbell;
	const struct xv_rsc_dir *dir;
	struct xv_qp *last;		/* QP of the previous completion */
	uint32_t last_uidx;		/* its user index (as in a CQE) or none */
	uint32_t ci;
	uint32_t mask;
	uint32_t log_size;
	uint32_t log_stride;		/* 6 or 7 */
	uint32_t cqn;
	uint32_t arm_sn;		/* events read; its low two bits go into the arm word */
	struct xv_spin lock;
	void *cq_context;
	struct xv_context *context;
	struct xv_comp_channel *channel;	/* null if the CQ has none */
	uint32_t handle;
	uint32_t cqe;			/* capacity in completions */
	uint32_t flags;			/* enum xv_cq_flags */
	uint32_t wait_base;		/* index of the first entry that no wait has counted */
	uint32_t wait_max;		/* greatest count since XV_SEND_WAIT_EN_LAST */
	uint32_t held;			/* index that xv_cq_next() has returned last */
};

struct xv_qp {
	struct xv_rsc rsc;
	uint32_t qp_num;
	enum xv_qp_type qp_type;
	enum xv_qp_state state;		/* after the last call of the library */
	struct xv_srq *srq;
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	void *qp_context;
	struct xv_pd *pd;		/* null after xv_open_qp() */
	struct xv_sq sq;
	struct xv_rq rq;
	struct xv_context *context;
	uint32_t handle;

	/* Store why the queue refused a request; null without the library */
	void (*send_refused)(const struct xv_qp *qp, const struct xv_send_wr *wr, int err);
	void (*recv_refused)(const struct xv_qp *qp, const struct xv_recv_wr *wr, int err);
};

/* A DC target.  Its receives come from the SRQ, their completions go to the CQ. */
struct xv_dct {
	struct xv_rsc rsc;
	uint32_t dct_num;
	uint32_t handle;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_srq *srq;
	void *dct_context;
	struct xv_context *context;
};

/*
 * Two threads may build requests for the same queue while each holds the lock of the queue.  A
 * thread without the lock may build only when the requests of other threads are committed, or
 * when another queue enables them, because these need no commit.
 */
#if defined(XV_DP_DEBUG) && defined(__has_builtin) && __has_builtin(__builtin_thread_pointer)
xv_inline void __xv_dp_build(void **builder, const struct xv_spin *lock)
{
	void *self = __builtin_thread_pointer();

	XV_DP_CHECK(!*builder || *builder == self || (lock->on && lock->held));
	*builder = self;
}
#define XV_DP_BUILD(q, managed)	do {				\
	if (!((q)->flags & (managed)))				\
		__xv_dp_build(&(q)->builder, &(q)->lock);	\
} while (0)
#define XV_DP_COMMIT(q)		((q)->builder = 0)
#else
#define XV_DP_BUILD(q, managed)	do { } while (0)
#define XV_DP_COMMIT(q)		do { } while (0)
#endif

/*
 * An address handle holds the address vector in the format of a WQE.  It is
 * valid for queue pairs of its protection domain only.
 */
struct xv_ah {
	struct mlx5r_av av;
	struct xv_context *context;
	struct xv_pd *pd;
};

#endif
