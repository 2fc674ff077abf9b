/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of libxverbs-ibverbs: functions of libibverbs with its
 * symbol versions, on public calls of libxverbs.
 *
 * The structure of libibverbs is the first member of ours, so a cast converts the pointers.
 * The context member of a queue of libxverbs points back to our structure.
 */
#ifndef XVERBS_IBVERBS_IBV_H
#define XVERBS_IBVERBS_IBV_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <xverbs/bridge.h>

/* Here are the functions behind these macros. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define EXPORT		__attribute__((visibility("default")))

struct device;

struct context {
	struct verbs_context pub;
	struct xv_context *xv;
	bool borrowed;			/* xv belongs to the program */
	struct xv_spin task_lock;	/* of ibv_exp_post_task() */
};

struct pd {
	struct ibv_pd pub;
	struct xv_pd *xv;
	bool borrowed;			/* xv belongs to the program */
	unsigned int users;		/* parent domains, of a parent domain queues */

	/* The next are of a parent domain. */
	struct pd *base;		/* not null */
	struct td *td;
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *addr, uint64_t type);
	void *pd_context;
};

struct td {
	struct ibv_td pub;
	unsigned int users;
};

/* Memory from the allocator of a parent domain */
struct buffer {
	void *addr;			/* null: the memory is the kernel's */
	uint64_t type;			/* for the allocator */
	struct xv_umem *umem;
};

/* The memory of a queue */
struct memory {
	struct pd *domain;		/* null: not a parent domain */
	struct buffer ring, record;
};

/* An indirect key of libxverbs-exp has no region of libxverbs. */
struct mr {
	struct ibv_mr pub;
	struct xv_mr *xv;
	struct xv_mkey *mkey;
	bool zero_based;		/* was asked for */
};

struct mw {
	struct ibv_mw pub;
	struct xv_mw *xv;
};

struct ah {
	struct ibv_ah pub;
	struct xv_ah *xv;
};

struct xrcd {
	struct ibv_xrcd pub;
	struct xv_xrcd *xv;
	struct xv_pd *pd;		/* for XRC_RECV, which names none */
};

struct channel {
	struct ibv_comp_channel pub;
	struct xv_comp_channel *xv;
};

struct cq {
	struct ibv_cq_ex pub;
	struct xv_cq *xv;
	struct memory memory;
	const struct mlx5r_cqe *cqe;	/* the completion between start_poll and end_poll */
};

struct srq {
	struct ibv_srq pub;
	struct xv_srq *xv;
	struct memory memory;
	bool empty;			/* of max_wr 0: takes no receive */
};

/* What the dct_context of a DC target points to: the head of struct ibv_exp_dct */
struct dct_head {
	struct ibv_context *context;
	struct xv_dct *xv;
};

/* The send queue at wr_start, to which wr_abort and a failed request return */
struct sq_mark {
	uint32_t pi;
	uint32_t posted;
	uint32_t fm_ce_se;
	uint64_t last_ctrl;
};

/* Arguments of a request that the ibv_wr_set_*() functions have stored already */
enum {
	HAS_DATA	= 1 << 0,
	HAS_DEST	= 1 << 1,	/* address (UD) or shared receive queue (XRC) */
};

/* Requests of a send queue.  libmlx5 counts them, libxverbs counts their blocks. */
struct sq_count {
	uint32_t max;			/* 0: not counted */
	uint32_t posted, retired;
	uint32_t block;			/* behind the last request that is known to be retired */
};

/* A multicast group that a queue pair has joined */
struct membership {
	union ibv_gid gid;
	uint16_t lid;
	struct membership *next;
};

struct qp {
	struct ibv_qp_ex pub;
	struct xv_qp *xv;
	struct memory memory;
	struct ibv_qp_init_attr init;	/* with the actual sizes */
	bool extended;
	uint32_t ece;			/* options of ibv_set_ece() */
	bool ece_set;			/* the next transition sends them to the adapter */
	struct sq_count sends;
	struct membership *groups;

	/* Extended interface: the request that is being built */
	struct xv_send_wr wr;
	struct sq_mark mark;
	int err;			/* of the first request that failed */
	uint32_t has, needs;
	struct xv_sge *sge;		/* room for max_send_sge */
	uint8_t *inline_data;		/* room for max_inline_data */
	uint32_t inline_klms;		/* of libxverbs-exp: entries of a UMR request */
};

#define TO(type, pub)	((struct type *)(void *)(pub))

static inline struct context *to_context(struct ibv_context *ctx)
{
	return (struct context *)(void *)
		((char *)ctx - offsetof(struct context, pub.context));
}

static inline struct xv_context *xv_of(struct ibv_context *ctx)
{
	return to_context(ctx)->xv;
}

static inline bool pd_single_threaded(struct ibv_pd *pd)
{
	return TO(pd, pd)->td;
}

/* Functions of libibverbs return positive error numbers. */
static inline int iv_error(int err)
{
	return -err;
}

/*
 * After ENOENT: EINVAL if the port or the entry of the GID table does not exist, ENODATA if the
 * entry is empty, 0 if the address is not the cause.
 */
int iv_address_error(struct ibv_context *ctx, const struct ibv_ah_attr *attr);

/*
 * Programs may set further bits; libmlx5 and the kernel use 20 of a flow label and 4 of a service
 * level.
 */
static inline void iv_ah_attr(struct xv_ah_attr *attr)
{
	attr->grh.flow_label &= 0xfffff;
	attr->sl &= 0xf;
	attr->is_global = !!attr->is_global;
}

/* Convert results: libxverbs returns negative error numbers, libibverbs positive ones. */
int iv_result(int err);

/* The same for a positive error number of this library */
int iv_fail(int err);
void *iv_null(void);
void *iv_refuse(int err, const char *what);

/* For requests, whose error numbers are positive already: sets errno and returns err. */
int iv_not_posted(int err, const char *what);

void iv_device_put(struct ibv_device *device);
void iv_device_hold(struct ibv_device *device);

struct xv_context *iv_device_open(struct ibv_device *device);

/* The device of a context, with a reference, or null with errno */
struct ibv_device *iv_device_of(const struct xv_context *xv);

/* They own xv, unless borrowed is set afterwards. */
struct ibv_context *iv_context_new(struct ibv_device *device, struct xv_context *xv);
struct ibv_pd *iv_pd_new(struct ibv_context *ctx, struct xv_pd *xv);

int iv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr);
int iv_query_device_ex(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
		       struct ibv_device_attr_ex *attr, size_t size);
int iv_query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values);
int iv_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr, size_t size);

struct ibv_td *iv_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr);
int iv_dealloc_td(struct ibv_td *td);
struct ibv_pd *iv_alloc_parent_domain(struct ibv_context *ctx,
				      struct ibv_parent_domain_init_attr *attr);

void iv_count_user(unsigned int *users, int by);

/*
 * Makes a queue a user of its domain, if that is a parent domain; iv_memory_put() ends that and
 * frees its memory.
 */
void iv_memory_init(struct memory *m, struct ibv_pd *domain);
void iv_memory_put(struct memory *m);

/* False: the kernel allocates the memory, and iv_memory_get() is not called. */
bool iv_memory_is_ours(const struct memory *m);

/* type: of the ring, bytes: its size, or 0 if the queue has none; -1: failed, with errno */
int iv_memory_get(struct memory *m, uint64_t type, size_t bytes, struct xv_external *ext);

struct ibv_mw *iv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int iv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int iv_dealloc_mw(struct ibv_mw *mw);

/* The keys of a type 2 window are the caller's. */
struct xv_mw *iv_mw(struct ibv_mw *mw);
void iv_bind_info(struct xv_mw_bind_info *to, const struct ibv_mw_bind_info *from);

struct ibv_xrcd *iv_open_xrcd(struct ibv_context *ctx, struct ibv_xrcd_init_attr *attr);
int iv_close_xrcd(struct ibv_xrcd *xrcd);

struct ibv_cq_ex *iv_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *attr);
int iv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int iv_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);

/* False for a context of libibverbs itself: a program can have loaded both libraries. */
static inline bool iv_is_ours(const struct ibv_context *ctx)
{
	return ctx->ops.poll_cq == iv_poll_cq;
}

int iv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
void iv_poll_ex_init(struct cq *cq);

struct ibv_srq *iv_create_srq_ex(struct ibv_context *ctx, struct ibv_srq_init_attr_ex *attr);
int iv_get_srq_num(struct ibv_srq *srq, uint32_t *num);

struct ibv_qp *iv_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *iv_open_qp(struct ibv_context *ctx, struct ibv_qp_open_attr *attr);
uint64_t iv_wr_ops(enum ibv_qp_type type);
int iv_wr_init(struct qp *qp);

/* ---- Also used by libxverbs-exp -------------------------------------------------------- */

/* domain: null, or a parent domain */
struct cq *iv_cq_new(struct ibv_context *ctx, struct xv_cq_init_attr *x, void *cq_context,
		     struct ibv_comp_channel *channel, struct ibv_pd *domain);

/*
 * xrcd: of a receiver of XRC, else null.  The members of *x that libibverbs does not have are
 * attributes of creation, and get their actual values.
 */
struct ibv_qp *iv_qp_new(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_qp_init_attr *a,
			 struct ibv_xrcd *xrcd, struct xv_qp_init_attr *x);

/* ibv_dereg_mr() destroys the key. */
struct ibv_mr *iv_mkey_mr(struct ibv_pd *pd, struct xv_mkey *mkey);

/* True if the send queue has as many requests as libmlx5 takes.  Needs its lock. */
bool iv_sends_full(struct qp *qp);
int iv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int iv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int iv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

#endif
