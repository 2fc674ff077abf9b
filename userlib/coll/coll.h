/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of libxvcoll.
 *
 *	comm.c	communicators
 *	link.c	queues of an operation and their connections
 *	plan.c	the requests of each operation
 *	post.c	posting the requests of a run
 *	op.c	start, completion
 *	reduce.c calculations on the CPU
 *	cpu.c	the same requests, driven by the CPU
 *	watch.c	peers whose process or operation has ended
 */
#ifndef XVCOLL_INTERNAL_H
#define XVCOLL_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xverbs/coll.h>

#define EXPORT	__attribute__((visibility("default")))

/* A communicator of 2^32 ranks needs 32 rounds; a tree has the parent in addition. */
#define MAX_ROUNDS	32
#define MAX_LINKS	(MAX_ROUNDS + 1)
#define MAX_QUEUES	(MAX_LINKS + 2)

/* Requests of one queue: a wait for each link, for sends and results, and the send */
#define MAX_REQUESTS	(MAX_LINKS + 3)

#define XVC_TIMEOUT_MIN	16		/* see link.c */

struct xv_coll {
	struct xv_coll_attr attr;
	struct xv_context *ctx;
	struct xv_port_attr port;
	uint32_t mtu;
	union xv_gid gid;
	struct xv_vector_calc_cap calc_cap;
	uint32_t ops;
	void *all;			/* what an exchange gets from all ranks */
};

static inline bool xvc_cpu_driven(const struct xv_coll *c)
{
	return c->attr.flags & XV_COLL_CPU_DRIVEN;
}

/* A completion queue that the program does not poll, with the entries of each run */
struct hidden {
	struct xv_cq *cq;
	uint32_t base;			/* index of the first entry of this run */
	uint32_t per_run;
	uint32_t waited;		/* entries that a request waits for */
	uint32_t polled;		/* CPU-driven: entries of this run */
};

/* Connection with another rank */
struct link {
	uint32_t peer;
	struct xv_qp *qp;
	struct xv_qp *watch;
	uint32_t psn[2];		/* the first numbers of packets of both, at random */
	struct hidden recv;		/* of a direct operation: sends also */
	uint32_t slot;			/* its messages go to this slot; 0: to the result */
	bool ahead;			/* its receives are posted one run ahead */
};

/* A request as it is in the ring */
union image {
	struct mlx5r_ctrl ctrl;
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait seg;
	} wait;
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_data data;
	} send;
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_vector_calc seg;
		struct mlx5r_data data;
	} vector;
};

/* The requests of one queue in one run */
struct list {
	struct xv_qp *qp;
	struct xv_send_wr wr[MAX_REQUESTS];
	struct hidden *waits[MAX_REQUESTS];	/* what the request waits for, or null */
	union image image[MAX_REQUESTS];
	uint32_t n;
	struct xv_sge sge;		/* of the send */
	uint32_t next;			/* CPU-driven: the next request */
};

/* A receive of each run */
struct landing {
	struct xv_qp *qp;
	struct xv_recv_wr wr;
	struct xv_sge sge;
};

/* All requests of one run.  Buffers alternate, so there are two plans. */
struct plan {
	uint32_t parity;
	struct list list[MAX_QUEUES];
	uint32_t lists;
	struct landing landing[MAX_QUEUES];
	uint32_t landings;
};

#define NO_PARENT	UINT32_MAX

enum kind { BARRIER, BCAST, ALLREDUCE };

/* The arguments of the functions that create an operation */
struct wanted {
	enum kind kind;
	const void *in;
	void *out;
	size_t bytes;
	uint32_t root;
	struct xv_vector_calc calc;
};

struct xv_coll_op {
	struct xv_coll *coll;
	enum kind kind;
	struct link link[MAX_LINKS];
	uint32_t links;

	/*
	 * A local connection: the first end sends the result, the second end receives it
	 * and makes the completion of the operation.
	 */
	struct xv_qp *result_qp;
	struct xv_qp *end_qp;
	uint32_t psn[2];		/* of both */
	struct hidden result;
	struct hidden sent;		/* all sends; a direct operation does not have it */
	struct xv_cq *end_cq;
	struct xv_cq *watch_cq;		/* an entry: a peer has ended */
	struct xv_comp_channel *channel;

	struct plan plan[2];
	uint32_t parity;		/* the plan of the next run */
	uint32_t combined;		/* CPU-driven: slots in the combination so far */
	bool direct;			/* no requests only for the end, see plan.c */
	bool round_ends;		/* direct: the last round makes the completion */
	uint32_t parent;		/* number of its link in a tree; none at the root */
	bool running;
	bool broken;			/* a run has failed; there are no queues any more */

	/* Data: slots of a run lie back to back: the own one, then one for each link. */
	uint8_t *slots[2];
	uint8_t *sums;			/* results that the CPU calculates */
	struct xv_mr *slots_mr;
	struct xv_mr *out_mr;
	const void *in;
	void *out;
	size_t bytes;			/* 0: messages are empty */
	uint32_t root;
	struct xv_vector_calc calc;
};

/* comm.c: stores the text; returns -|err| */
int xvc_error(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * link.c: a rank with the error @err takes part in the exchanges, so that the other ranks do not
 * hang.  It may have no @op.  After its communicator was created, this needs no memory.
 */
int xvc_exchange_create(struct xv_coll *c);
int xvc_links_create(struct xv_coll_op *op);
int xvc_links_connect(struct xv_coll *c, struct xv_coll_op *op, int err);
void xvc_links_destroy(struct xv_coll_op *op);

/* plan.c: the ranks to which the operation needs links; then the requests */
void xvc_plan_links(struct xv_coll_op *op);
void xvc_plan_build(struct xv_coll_op *op);
int xvc_plan_post_ahead(struct xv_coll_op *op);

/* post.c */
void xvc_images_build(struct plan *p);
int xvc_post(struct xv_coll_op *op);

/* watch.c: start after all ranks can receive */
int xvc_watch_create(struct xv_coll_op *op);
int xvc_watch_start(struct xv_coll_op *op);
bool xvc_watch_lost(struct xv_coll_op *op);

/* reduce.c: combines each number in @out with that in @in, and stores it in @out; @n bytes */
void xvc_combine(const struct xv_vector_calc *calc, uint8_t *out, const uint8_t *in, size_t n);

/* cpu.c */
int xvc_cpu_start(struct xv_coll_op *op);
int xvc_cpu_test(struct xv_coll_op *op);

#endif
