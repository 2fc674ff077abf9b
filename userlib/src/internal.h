/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of the library share.  Public structures stand first in the
 * private ones, so a public pointer is a private one after a cast.
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

struct dbr_page;
struct object;

struct context {
	struct xv_context pub;
	pid_t owner;			/* the process that opened it */
	pthread_mutex_t lock;		/* the next four */
	struct object *objects;		/* newest first */
	struct xv_rsc_dir dir;
	uint32_t next_index;
	struct dbr_page *dbr_pages;

	/* Of queues that bring none; set once, when the first one needs it */
	struct xv_uar *uar;
};

/* Events handed to the application and those it has acknowledged */
struct event_count {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t comp_acked;
	uint32_t async_acked;
};

struct mapping {
	void *addr;
	size_t length;
};

/* Ring and doorbell record of a queue, mapped or the caller's own */
struct qmem {
	void *ring;
	volatile uint32_t *dbrec;
	struct mapping map;		/* of the ring, if it is the kernel's */
	bool kernel_dbr;
	bool hands_off;			/* not to be read or written: others do */
};

struct pd {
	struct xv_pd pub;
	uint32_t ahs;			/* address handles, which the kernel does not know */
};

struct cq {
	struct xv_cq pub;
	struct context *ctx;
	struct qmem mem;
	struct event_count events;
};

struct qp {
	struct xv_qp pub;
	struct context *ctx;
	struct xv_qp_init_attr init;	/* with what was obtained */
	uint32_t sq_wqebbs;		/* that the library may post to: 0 if others do */
	uint32_t rq_wqes;
	struct qmem mem;
	struct event_count events;
};

struct srq {
	struct xv_srq pub;
	struct context *ctx;
	struct xv_srq_init_attr init;	/* with what was obtained */
	bool indexed;			/* has a user index: XRC */
	struct qmem mem;
	struct event_count events;
};

static inline struct context *to_ctx(struct xv_context *ctx) { return (struct context *)ctx; }
static inline struct pd *to_pd(struct xv_pd *pd) { return (struct pd *)pd; }
static inline struct cq *to_cq(struct xv_cq *cq) { return (struct cq *)cq; }
static inline struct qp *to_qp(struct xv_qp *qp) { return (struct qp *)qp; }
static inline struct srq *to_srq(struct xv_srq *srq) { return (struct srq *)srq; }

/* error.c: explain a failure and return its negative error number */
int xv_set_error(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for functions that return a pointer: sets errno */
#define xv_set_error_null(err, ...)	(errno = -xv_set_error(err, __VA_ARGS__), NULL)

/*
 * error.c: one verb.  Fills in the header of arg (flags excepted) and on failure
 * takes the kernel's explanation over.
 */
int xv_ioctl(int fd, unsigned long request, const char *verb, void *arg, uint32_t size);

/*
 * attr.c: between a structure as the caller knows it and as the library does.
 * A caller's members that the library does not know must be zero.
 */
int xv_attr_in(void *own, size_t own_size, const void *caller, size_t size, const char *what);
void xv_attr_out(void *caller, size_t size, const void *own, size_t own_size);

/* A structure of ours as the kernel wants it named */
#define XV_PART_OF(p)	((struct xverbs_part) { .addr = (uintptr_t)(p), .size = sizeof(*(p)) })

/* map.c */
int xv_map(struct context *ctx, struct mapping *m, const struct xverbs_map *map, const char *what);
void xv_unmap(struct mapping *m);

/*
 * Addresses for a mapping to come, so that making it cannot fail for want of
 * room.  xv_map_reserved() takes them in any case, but the mapping when it fails.
 */
int xv_reserve(struct mapping *m, size_t length, const char *what);
int xv_map_reserved(struct context *ctx, struct mapping *m, const struct xverbs_map *map,
		    const char *what);
int xv_qmem_map(struct context *ctx, struct qmem *mem, const struct xv_external *ext,
		const struct xverbs_map *ring, const struct xverbs_map *dbr, uint32_t dbr_offset,
		const char *what);
void xv_qmem_unmap(struct context *ctx, struct qmem *mem);

/* Refuses memory that the library would have to touch and cannot; clears the record. */
int xv_external_to_kernel(struct xverbs_external *k, const struct xv_external *ext,
			  const struct qmem *mem, const char *what);
struct xv_uar *xv_uar_get(struct context *ctx, const struct xv_external *ext);

/* rsc.c: user indices */
int xv_rsc_add(struct context *ctx, struct xv_rsc *rsc, const char *verb);
void xv_rsc_set(struct context *ctx, uint32_t index, struct xv_rsc *rsc);
void xv_rsc_free_all(struct context *ctx);

/*
 * object.c: everything that a context owns in this process.
 *
 * alloc() returns size bytes of zeros with a hidden header, or NULL with errno.
 * release() gives back what else belongs to the object (mappings, descriptors,
 * arrays); NULL: nothing.  It must cope with an object that is partly made.
 */
typedef void (*xv_release_fn)(void *object);

void *xv_object_alloc(struct context *ctx, size_t size, xv_release_fn release, const char *verb);

/* From now on xv_close() finds it; handle 0: the kernel does not know it. */
void xv_object_add(void *object, uint32_t handle);

/* Releases and frees it.  The kernel's object, if any, is gone or stays. */
void xv_object_free(void *object);

/* The kernel's part of destroying; reply may be NULL.  Quietly done without a device. */
int xv_object_destroy_kernel(void *object, const char *verb, struct xverbs_destroy *reply);

/* Both, for objects that have no events */
int xv_object_destroy(void *object, const char *verb);
void xv_object_destroy_all(struct context *ctx);
int xv_destroy_handle(struct context *ctx, uint32_t handle, const char *verb,
		      struct xverbs_destroy *reply);

/* An object that is no more than its handle, not added yet; or NULL with errno */
void *xv_object_create(struct xv_context *ctx, unsigned long request, const char *verb, void *req,
		       uint32_t req_size, size_t size, xv_release_fn release);

/* cq.c: drops what a queue has left in the ring */
void xv_cq_clean(struct xv_cq *cq, struct xv_rsc *rsc, struct xv_srq *srq);

/* event.c */
void xv_events_init(struct event_count *ev);
void xv_events_wait(struct event_count *ev, const struct xverbs_destroy *reply);
void xv_events_destroy(struct event_count *ev);

/* ah.c */
void xv_ah_attr_to_kernel(struct xverbs_ah_attr *k, const struct xv_ah_attr *a);
void xv_ah_attr_from_kernel(struct xv_ah_attr *a, const struct xverbs_ah_attr *k);

#endif
