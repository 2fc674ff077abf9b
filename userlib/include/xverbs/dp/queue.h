/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The queues as the data path sees them.  The control path makes them and
 * fills in addresses and sizes; the data path moves indices.
 *
 * Producer and consumer indices (pi, ci) run freely over 32 bits and are
 * masked only where an entry is addressed; the adapter sees their low 16 or
 * 24 bits.  What the posting thread writes and what the polling thread writes
 * sits in different cache lines.
 *
 * The library allocates these structures, so fields may be appended.
 */
#ifndef XVERBS_DP_QUEUE_H
#define XVERBS_DP_QUEUE_H

#include <rdma/mlx5_ring.h>
#include <xverbs/dp/barrier.h>
#include <xverbs/dp/wr.h>

struct xv_context;
struct xv_pd;
struct xv_comp_channel;

enum xv_qp_type {
	XV_QPT_RC		= 2,
	XV_QPT_UC		= 3,
	XV_QPT_UD		= 4,
	XV_QPT_XRC_SEND		= 9,
	XV_QPT_XRC_RECV		= 10,
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

/* A completion names its queue by user index; this head stands at the front of each. */
enum xv_rsc_type {
	XV_RSC_QP = 1,
	XV_RSC_SRQ,
};

struct xv_rsc {
	uint32_t type;
	uint32_t user_index;
};

/* user index -> resource, in two steps of 12 bits */
#define XV_RSC_DIR_SHIFT	12
#define XV_RSC_DIR_SIZE		(1u << XV_RSC_DIR_SHIFT)
#define XV_RSC_DIR_MASK		(XV_RSC_DIR_SIZE - 1)
#define XV_RSC_INDEX_MASK	0xffffffu
#define XV_RSC_NO_INDEX		0xffffffffu	/* in either byte order */

struct xv_rsc_dir {
	struct xv_rsc **leaf[XV_RSC_DIR_SIZE];
};

/* What is remembered about a posted send until it completes */
struct xv_sq_entry {
	uint64_t wr_id;
	uint32_t end;			/* producer index behind this WQE */
	uint32_t wc_opcode;
};

struct xv_sq {
	uint8_t *buf;
	uint8_t *buf_end;
	struct xv_sq_entry *entry;	/* by WQEBB of the control segment */
	volatile uint32_t *dbrec;
	volatile uint64_t *doorbell;
	uint64_t ctrl_qpn;		/* QPN as in the first 8 bytes of a WQE */
	uint64_t last_ctrl;		/* first 8 bytes of the last WQE posted */
	uint32_t pi;			/* WQEBBs */
	uint32_t limit;			/* of pi, by ci as last read */
	uint32_t mask;
	uint32_t room;			/* WQEBBs; 0 in states that refuse posts */
	uint32_t max_inline;
	uint32_t max_sge;
	uint32_t fm_ce_se;		/* goes into the next WQE, see __XV_FM_CE_SE() */
	struct xv_spin lock;
	uint32_t ci __attribute__((aligned(64)));	/* moved by completions */
} __attribute__((aligned(64)));

struct xv_rq {
	uint8_t *buf;
	uint64_t *wr_id;
	volatile uint32_t *dbrec;
	uint32_t pi;			/* WQEs */
	uint32_t mask;
	uint32_t room;			/* WQEs; 0 in states that refuse posts */
	uint32_t max_sge;
	uint32_t log_stride;
	struct xv_spin lock;
	uint32_t ci __attribute__((aligned(64)));	/* moved by completions */
} __attribute__((aligned(64)));

/*
 * A shared receive queue is either a list linked through its entries (posts
 * take from the head, completions give back at the tail) or a ring like that
 * of a queue pair, where head and tail run freely and entries that complete
 * out of turn wait in done[].  Both are under the lock.
 */
struct xv_srq {
	struct xv_rsc rsc;
	uint32_t srq_num;
	uint8_t *buf;
	uint64_t *wr_id;
	volatile uint32_t *dbrec;
	uint8_t *done;			/* ring: by entry; null for a list */
	uint32_t head;
	uint32_t tail;
	uint32_t mask;
	uint32_t max_sge;
	uint32_t log_stride;
	uint16_t counter;		/* posts, as the record wants it */
	struct xv_spin lock;
	void *srq_context;
	struct xv_context *context;
	struct xv_pd *pd;
	uint32_t handle;		/* in /dev/xverbs, here and below */
};

struct xv_cq {
	uint8_t *buf;
	volatile uint32_t *dbrec;
	volatile uint64_t *doorbell;
	const struct xv_rsc_dir *dir;
	struct xv_qp *last;		/* the queue pair found last */
	uint32_t last_uidx;		/* its index, as in a completion; none if out of range */
	uint32_t ci;
	uint32_t mask;
	uint32_t log_size;
	uint32_t log_stride;		/* 6 or 7 */
	uint32_t cqn;
	uint32_t arm_sn;		/* events seen; two bits go into the arm word */
	struct xv_spin lock;
	void *cq_context;
	struct xv_context *context;
	struct xv_comp_channel *channel;	/* null: none */
	uint32_t handle;
	uint32_t cqe;			/* completions that the queue holds */
};

struct xv_qp {
	struct xv_rsc rsc;
	uint32_t qp_num;
	enum xv_qp_type qp_type;
	enum xv_qp_state state;		/* as the library left it */
	struct xv_srq *srq;
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	void *qp_context;
	struct xv_pd *pd;		/* null after xv_open_qp() */
	struct xv_sq sq;
	struct xv_rq rq;
	struct xv_context *context;
	uint32_t handle;
};

/*
 * An address handle is the address vector ready to be copied into a WQE.  It
 * serves queue pairs of its protection domain only.
 */
struct xv_ah {
	struct mlx5r_av av;
	struct xv_context *context;
	struct xv_pd *pd;
};

#endif
