/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libxvcoll: collective operations of cross-channel queues.
 *
 * An operation is persistent: it is built once, is started by one post, completes with
 * one completion, and can be started again.  Between post and completion the adapter
 * exchanges the messages and calculates.  But the CPU calculates the last sum of a short
 * allreduce of integers (xv_coll_result_by_cpu()).  The library uses only public functions
 * of libxverbs (xverbs-cross-channel(7)).
 *
 * Results and errors are as in libxverbs.  An operation and its communicator belong to
 * one thread at a time.
 */
#ifndef XVERBS_COLL_H
#define XVERBS_COLL_H

#include <xverbs/xverbs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xv_coll;			/* a communicator: a group of ranks */
struct xv_coll_op;		/* an operation of the communicator */

enum xv_coll_flags {
	XV_COLL_GID_INDEX	= 1 << 0,	/* use gid_index, not the default GID */

	/*
	 * xv_coll_test() and xv_coll_wait() run the steps of operations, as programs do
	 * without cross-channel queues.  The adapter needs none.  Requests and order
	 * are the same.
	 */
	XV_COLL_CPU_DRIVEN	= 1 << 1,
};

struct xv_coll_attr {
	struct xv_pd *pd;
	uint32_t rank;
	uint32_t ranks;
	uint32_t port;			/* 0: port 1 */
	uint32_t gid_index;
	uint32_t flags;			/* enum xv_coll_flags */
	uint32_t reserved;

	/*
	 * Gives size bytes at mine to all ranks, and stores the bytes of rank i at
	 * all + i * size.  Returns 0 or a negative error number.  All ranks call it
	 * twice when they create an operation.
	 */
	int (*exchange)(void *arg, const void *mine, void *all, size_t size);
	void *arg;

	/* Of the packets of this rank; 0 is the default */
	uint8_t sl;			/* service level; on RoCE the priority */
	uint8_t traffic_class;
	uint16_t pkey_index;
	uint16_t timeout;		/* as in xv_qp_attr, 16 to 31; 0: 17 */
	uint16_t mtu;			/* enum xv_mtu: at most this; 0: what both ports have */
};

struct xv_coll *xv_coll_create_sz(const struct xv_coll_attr *attr, size_t size);

/* Returns -EBUSY while it has operations. */
int xv_coll_destroy(struct xv_coll *coll);

static inline struct xv_coll *xv_coll_create(const struct xv_coll_attr *attr)
{
	return xv_coll_create_sz(attr, sizeof(*attr));
}

/* Completes when all ranks have started it. */
struct xv_coll_op *xv_coll_barrier(struct xv_coll *coll);

/* Copies length bytes at buf of the rank root to buf of all ranks. */
struct xv_coll_op *xv_coll_bcast(struct xv_coll *coll, void *buf, size_t length, uint32_t root);

/*
 * Combines count elements at in of all ranks; all get the result at out.  The elements
 * are in host byte order.  in is read when the operation is started.
 */
struct xv_coll_op *xv_coll_allreduce(struct xv_coll *coll, const void *in, void *out,
				     uint32_t count, enum xv_vector_type type,
				     enum xv_vector_op op);

/*
 * Returns 1 if a CPU calculates the result of the allreduce, in xv_coll_test() or
 * xv_coll_wait(); 0 if adapters do, or if the operation calculates nothing.
 */
int xv_coll_result_by_cpu(const struct xv_coll_op *op);

int xv_coll_start(struct xv_coll_op *op);

/* Returns 1 if the operation has completed, 0 if not yet, or -EIO if it or a rank has failed. */
int xv_coll_test(struct xv_coll_op *op);

/*
 * Waits until the operation has completed, asleep unless it is CPU-driven.  Signals do
 * not end the wait.
 */
int xv_coll_wait(struct xv_coll_op *op);

/* Returns -EBUSY while the operation runs. */
int xv_coll_free(struct xv_coll_op *op);

/* Text for the last failed call of this thread */
const char *xv_coll_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
