/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of the library.  A public structure is the first
 * member of the private one, so a cast converts the pointers.
 */
#ifndef XVERBS_INTERNAL_H
#define XVERBS_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/xverbs.h>
#include <xverbs/xverbs.h>

#define XV_EXPORT	__attribute__((visibility("default")))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Tells valgrind about memory that the kernel or the adapter writes. */
#if __has_include("valgrind/memcheck.h")
#include "valgrind/memcheck.h"
#define xv_is_written(addr, length)	\
	((void)VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(addr, length))
#else
#define xv_is_written(addr, length)	((void)(addr), (void)(length))
#endif

struct dbr_page;
struct object;

struct mapping {
	void *addr;
	size_t length;
};

/* Queue pairs with a BlueFlame register of their own */
enum { BLUEFLAME_QPS = 8 };

struct blueflame_page {
	struct xv_uar *uar;
	uint32_t bytes;			/* of a buffer, half a register; 0: there is no BlueFlame */
	uint32_t stride;		/* from register to register */
};

/* The register of a queue pair; bytes 0: it has none, and rings the doorbell at offset */
struct blueflame {
	struct xv_uar *uar;
	uint32_t offset;
	uint32_t bytes;
	uint32_t index;
};

struct context {
	struct xv_context pub;
	pid_t owner;			/* the process that opened it */
	pthread_mutex_t lock;		/* protects the next four */
	struct object *objects;		/* newest first */
	struct xv_rsc_dir dir;
	uint32_t next_index;
	struct dbr_page *dbr_pages;

	/* For queues without their own UAR; allocated for the first of them */
	struct xv_uar *uar;

	pthread_mutex_t blueflame_lock;	/* protects the next two */
	struct blueflame_page blueflame[BLUEFLAME_QPS / 2];
	uint32_t blueflame_used;	/* registers, bits */

	struct xv_spin task_lock;	/* of xv_post_task() */

	uint32_t readers;		/* threads that are reading an event */

	struct mapping alive_map;

	/* The clock of the adapter; null before the first reading */
	volatile uint32_t *clock;
	struct mapping clock_map;
};

/* Numbers of acknowledged events */
struct event_count {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t comp_read, comp_acked;
	uint32_t async_read, async_acked;
};

/* Ring and doorbell record of a queue, mapped from the kernel or in a UMEM */
struct qmem {
	void *ring;
	volatile uint32_t *dbrec;
	struct mapping map;		/* of a ring that the kernel allocated */
	bool kernel_dbr;
	bool external;			/* EXTERNAL_DATAPATH: no access by the library */
};

struct pd {
	struct xv_pd pub;
	uint32_t ahs;			/* number of address handles */
};

/* State of a CQ before xv_post_task() changed it */
struct cq_task {
	struct cq *next;
	bool used;
	uint32_t wait_base;
	uint32_t wait_max;
};

struct cq {
	struct xv_cq pub;
	struct context *ctx;
	struct cq_task task;
	struct qmem mem;
	struct event_count events;
	bool lost;			/* the adapter uses a ring that is not mapped */
};

/* Indices of the queues before xv_post_task() changed them */
struct qp_task {
	struct qp *next;
	bool used;
	bool sends;			/* the next three members are valid */
	bool recvs;
	bool named;			/* the last three members are valid */
	uint32_t sq_pi;
	uint32_t fm_ce_se;
	uint64_t last_ctrl;
	uint32_t rq_pi;			/* if recvs */
	struct __xv_enabled en;
	uint32_t rq_en_base;
	uint32_t rq_en_max;
};

struct qp {
	struct xv_qp pub;
	struct context *ctx;
	struct qp_task task;
	struct blueflame bf;
	volatile uint64_t *doorbell;	/* of a managed send queue, else null */
	uint64_t unused_doorbell;	/* takes its place until an error */
	struct xv_qp_init_attr init;	/* with the actual sizes */
	uint32_t sq_wqebbs;		/* 0 with EXTERNAL_DATAPATH */
	uint32_t rq_wqes;
	struct qmem mem;
	pthread_mutex_t state_lock;	/* the ioctl and the state that it returns */
	struct event_count events;
};

struct srq {
	struct xv_srq pub;
	struct context *ctx;
	struct xv_srq_init_attr init;	/* with the actual sizes */
	bool indexed;			/* XRC SRQ: has a user index */
	struct qmem mem;
	struct event_count events;
};

struct dct {
	struct xv_dct pub;
	struct event_count events;
};

static inline struct context *to_ctx(struct xv_context *ctx) { return (struct context *)ctx; }
static inline struct pd *to_pd(struct xv_pd *pd) { return (struct pd *)pd; }
static inline struct cq *to_cq(struct xv_cq *cq) { return (struct cq *)cq; }
static inline struct qp *to_qp(struct xv_qp *qp) { return (struct qp *)qp; }
static inline struct srq *to_srq(struct xv_srq *srq) { return (struct srq *)srq; }
static inline struct dct *to_dct(struct xv_dct *dct) { return (struct dct *)dct; }

/*
 * limit.c: appends the value of a limit of a control group, XVERBS_LIMIT_*, that a call reached.
 * device is the RDMA device, or null.
 */
void xv_limit_append(char *reason, size_t size, uint32_t limit, const char *device);

/* error.c: stores the error text of this thread and sets errno; returns -|err| */
int xv_set_error(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for functions that return a pointer */
#define xv_set_error_null(err, ...)	(xv_set_error(err, __VA_ARGS__), NULL)

/* For a call that succeeds although a step of it failed: errno and text stay as they were. */
enum { XV_ERROR_MAX = 320 };

struct error_state {
	int number;
	char text[XV_ERROR_MAX];
};

void xv_error_save(struct error_state *s);
void xv_error_restore(const struct error_state *s);

/*
 * error.c: one ioctl.  Fills in the header of arg, except the flags.  After a failure
 * the error text has the reason of the kernel.  xv_ioctl_file() is for a file that is not
 * bound; device is the RDMA device, if the call is about one, or null.
 */
int xv_ioctl(const struct xv_context *ctx, unsigned long request, const char *verb, void *arg,
	     uint32_t size);
int xv_ioctl_file(int fd, const char *device, unsigned long request, const char *verb, void *arg,
		  uint32_t size);

/*
 * attr.c: copy attributes between the structure of the caller and that of the
 * library, which may have different sizes.
 */
int xv_attr_in(void *own, size_t own_size, const void *caller, size_t size, const char *what);
void xv_attr_out(void *caller, size_t size, const void *own, size_t own_size);

/* Descriptor of a structure for the kernel */
#define XV_PART_OF(p)	((struct xverbs_part) { .addr = (uintptr_t)(p), .size = sizeof(*(p)) })

/*
 * device.c.  xv_fetch_devices() returns NULL with errno.  xv_open_node() returns a descriptor
 * of the device node, or -errno with the reason.
 */
int xv_open_file(void);
struct xverbs_device *xv_fetch_devices(int *num);
int xv_open_node(const struct xverbs_device *dev, char *reason, size_t size);

/* map.c */
int xv_map(struct context *ctx, struct mapping *m, const struct xverbs_map *map, const char *what);
int xv_map_read(struct context *ctx, struct mapping *m, const struct xverbs_map *map,
		const char *what);
void xv_unmap(struct mapping *m);

/*
 * Reserves an address range for a mapping, so that xv_map_reserved() cannot fail with
 * ENOMEM.  xv_map_reserved() always consumes the reservation.
 */
int xv_reserve(struct mapping *m, size_t length, const char *what);
int xv_map_reserved(struct context *ctx, struct mapping *m, const struct xverbs_map *map,
		    const char *what);

/* qmem.c */
int xv_qmem_map(struct context *ctx, struct qmem *mem, const struct xv_external *ext,
		const struct xverbs_map *ring, const struct xverbs_map *dbr, uint32_t dbr_offset,
		const char *what);
void xv_qmem_unmap(struct context *ctx, struct qmem *mem);

/*
 * Fails if the library must access the UMEM and it is not mapped; clears the doorbell
 * record.
 */
int xv_external_to_kernel(struct xverbs_external *k, const struct xv_external *ext,
			  const struct qmem *mem, const char *what);

/* uar.c: the UAR of ext, or else that of the context */
struct xv_uar *xv_uar_get(struct context *ctx, const struct xv_external *ext);
void xv_blueflame_get(struct context *ctx, struct blueflame *bf);
void xv_blueflame_put(struct context *ctx, const struct blueflame *bf);

/* rsc.c */
int xv_rsc_add(struct context *ctx, struct xv_rsc *rsc, const char *verb);
void xv_rsc_set(struct context *ctx, uint32_t index, struct xv_rsc *rsc);
void xv_rsc_free_all(struct context *ctx);

/*
 * object.c: the objects of a context.
 *
 * xv_object_alloc() returns size bytes of zeros with a hidden header, or NULL with
 * errno.  release() frees what belongs to the object: mappings, file descriptors,
 * arrays.  It may be NULL.  It is also called for an object that is partly created.
 */
typedef void (*xv_release_fn)(void *object);

void *xv_object_alloc(struct context *ctx, size_t size, xv_release_fn release, const char *verb);

/* Adds it to the list of xv_close(); handle 0: the kernel has no such object. */
void xv_object_add(void *object, uint32_t handle);

/* Releases and frees it; does not destroy the object of the kernel. */
void xv_object_free(void *object);

/* Destroys the object of the kernel; reply may be NULL.  -ENODEV counts as success. */
int xv_object_destroy_kernel(void *object, const char *verb, struct xverbs_destroy *reply);

/* Does both, for objects without events. */
int xv_object_destroy(void *object, const char *verb);
void xv_object_destroy_all(struct context *ctx);
int xv_destroy_handle(struct context *ctx, uint32_t handle, const char *verb,
		      struct xverbs_destroy *reply);

/* Allocates an object and calls the ioctl that creates it; NULL with errno */
void *xv_object_create(struct xv_context *ctx, unsigned long request, const char *verb, void *req,
		       uint32_t req_size, size_t size, xv_release_fn release);

/*
 * Objects that a call uses, or null: -EINVAL for one of another context, whose handle may be
 * the number of some object of this context.
 */
int xv_check_used(const struct context *ctx, const char *verb, const void *const *objects,
		  size_t n);
#define XV_CHECK_USED(ctx, verb, ...)						\
	xv_check_used(ctx, verb, (const void *const []) { __VA_ARGS__ },		\
		      ARRAY_SIZE(((const void *const []) { __VA_ARGS__ })))

/* refuse.c: store why a queue refused a request */
void xv_send_refused(const struct xv_qp *qp, const struct xv_send_wr *wr, int err);
void xv_recv_refused(const struct xv_qp *qp, const struct xv_recv_wr *wr, int err);
void xv_srq_recv_refused(const struct xv_srq *srq, const struct xv_recv_wr *wr, int err);

/* cq.c: removes the completions of a queue from the ring */
void xv_cq_clean(struct xv_cq *cq, struct xv_rsc *rsc, struct xv_srq *srq);

/* event.c */
void xv_readers_wait(struct context *ctx);
void xv_events_init(struct event_count *ev);
void xv_events_wait(struct event_count *ev, const struct xverbs_destroy *reply);
void xv_events_destroy(struct event_count *ev);

/* ah.c */
void xv_ah_attr_to_kernel(struct xverbs_ah_attr *k, const struct xv_ah_attr *a);
void xv_ah_attr_from_kernel(struct xv_ah_attr *a, const struct xverbs_ah_attr *k);

#endif
