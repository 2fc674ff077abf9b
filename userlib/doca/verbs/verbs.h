/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Structures of libdoca_verbs.
 */
#ifndef XVDOCA_VERBS_INTERNAL_H
#define XVDOCA_VERBS_INTERNAL_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <doca_verbs.h>
#include <doca_verbs_bridge.h>
#include "internal.h"

struct doca_verbs_context {
	struct xv_context *xv;
	struct xv_device_attr attr;
	bool imported;
	unsigned int users;	/* objects in the context; atomic */
};

static inline void count(unsigned int *users, int by)
{
	__atomic_fetch_add(users, (unsigned int)by, __ATOMIC_RELAXED);
}

static inline bool in_use(const unsigned int *users)
{
	return __atomic_load_n(users, __ATOMIC_RELAXED);
}

static inline bool can_wait(const struct doca_verbs_context *ctx)
{
	return ctx->attr.exp_device_cap_flags & XV_EXP_DEVICE_CROSS_CHANNEL;
}

struct doca_verbs_pd {
	struct xv_pd *xv;
	struct doca_verbs_context *ctx;	/* NULL: imported */
	struct xvd_ibv ibv;
	unsigned int users;		/* queues and devices; atomic */
};

struct doca_verbs_ah_attr {
	enum doca_verbs_addr_type addr_type;
	struct doca_verbs_gid gid;
	uint32_t dlid;
	uint8_t sl;
	uint8_t sgid_index;
	uint8_t static_rate;
	uint8_t hop_limit;
	uint8_t traffic_class;
};

struct doca_verbs_comp_channel {
	struct xv_comp_channel *xv;
	struct doca_verbs_context *ctx;
};

/* A place in a UMEM */
struct place {
	struct doca_umem *umem;
	uint64_t offset;
};

/* Places of the ring and of the doorbell record; a queue has both or none. */
struct xv_external external_of(const struct place *ring, const struct place *dbr,
			       const struct doca_uar *uar);

static inline bool half_external(const struct place *ring, const struct place *dbr)
{
	return !ring->umem != !dbr->umem;
}

/* The queues of the process: an event names an object of libxverbs, which others can have made. */
struct queue {
	const void *xv;
	void *owner;
	struct queue *next;
	struct queue *prev;
};

void queue_add(struct queue *q, const void *xv, void *owner);
void queue_del(struct queue *q);

/* The object for that of libxverbs, or NULL */
void *queue_owner(const void *xv);

struct doca_verbs_cq_attr {
	uint32_t cq_size;
	void *cq_context;
	enum doca_verbs_cq_entry_size entry_size;
	struct doca_verbs_comp_channel *comp_channel;
	uint8_t cq_overrun;
	uint8_t cq_collapsed;
	uint8_t external_datapath_en;
	struct place external_umem;
	struct doca_uar *external_uar;
};

struct doca_verbs_cq {
	struct queue queue;
	struct xv_cq *xv;
	struct doca_verbs_context *ctx;
	void *cq_context;
	bool armed;		/* the library arms it for events */
};

struct doca_verbs_srq_init_attr {
	struct doca_verbs_pd *pd;
	uint32_t srq_wr;
	uint32_t receive_max_sges;
	enum doca_verbs_srq_type type;
	uint8_t external_datapath_en;
	struct place external_umem;
	struct place external_dbr_umem;
};

struct doca_verbs_srq {
	struct queue queue;
	struct xv_srq *xv;
	struct doca_verbs_context *ctx;
	struct doca_verbs_srq_init_attr init;
};

struct doca_verbs_qp_init_attr {
	struct doca_verbs_pd *pd;
	struct doca_verbs_cq *send_cq;
	struct doca_verbs_cq *receive_cq;
	struct doca_verbs_srq *srq;
	void *qp_context;
	uint32_t qp_type;
	int sq_sig_all;
	uint32_t sq_wr;
	uint32_t rq_wr;
	uint32_t send_max_sges;
	uint32_t receive_max_sges;
	uint32_t max_inline_data;
	uint32_t user_index;
	uint8_t core_direct_master;
	uint8_t cqe_inline;
	enum doca_verbs_qp_send_dbr_mode send_dbr_mode;
	bool emulate_no_dbr_ext;
	enum doca_verbs_qp_ordering_semantic ordering_semantic;
	uint8_t external_datapath_en;
	struct place external_umem;
	struct place external_dbr_umem;
	struct doca_uar *external_uar;
};

struct doca_verbs_qp_attr {
	enum doca_verbs_qp_state next_state;
	enum doca_verbs_qp_state current_state;
	enum doca_mtu_size path_mtu;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t dest_qp_num;
	int allow_remote_write;
	int allow_remote_read;
	enum doca_verbs_qp_atomic_mode atomic_mode;
	struct doca_verbs_ah_attr ah_attr;
	bool has_ah_attr;
	uint16_t pkey_index;
	uint16_t port_num;
	uint16_t ack_timeout;
	uint16_t retry_cnt;
	uint16_t rnr_retry;
	uint16_t min_rnr_timer;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
};

struct doca_verbs_qp {
	struct queue queue;
	struct xv_qp *xv;
	struct doca_verbs_context *ctx;
	struct doca_verbs_qp_init_attr init;
	uint32_t access;	/* enum xv_access_flags, as last modified */
	uint8_t port;
};

/* ---- Families of functions of attribute objects ----------------------------------------- */

/* An object with all attributes 0 */
#define ATTR_OBJECT(object)							\
EXPORT doca_error_t doca_verbs_##object##_create(struct doca_verbs_##object **result)	\
{										\
	struct doca_verbs_##object *attr;					\
										\
	if (!result)								\
		return DOCA_ERROR_INVALID_VALUE;				\
	attr = calloc(1, sizeof(*attr));					\
	if (!attr)								\
		return DOCA_ERROR_NO_MEMORY;					\
	*result = attr;								\
	return DOCA_SUCCESS;							\
}										\
ATTR_DESTROY(object)

#define ATTR_DESTROY(object)							\
EXPORT doca_error_t doca_verbs_##object##_destroy(struct doca_verbs_##object *attr)	\
{										\
	if (!attr)								\
		return DOCA_ERROR_INVALID_VALUE;				\
	free(attr);								\
	return DOCA_SUCCESS;							\
}

/* The condition is about the value. */
#define SET_IF(object, name, type, condition)					\
EXPORT doca_error_t doca_verbs_##object##_set_##name(struct doca_verbs_##object *attr,	\
						     type value)		\
{										\
	if (!attr || !(condition))						\
		return DOCA_ERROR_INVALID_VALUE;				\
	attr->name = value;							\
	return DOCA_SUCCESS;							\
}

#define SET(object, name, type)			SET_IF(object, name, type, true)
#define SET_OBJECT(object, name, type)		SET_IF(object, name, type, value)
#define SET_MAX(object, name, type, max)	SET_IF(object, name, type, (uint32_t)value <= (max))

#define SET_PLACE(object, name)							\
EXPORT doca_error_t doca_verbs_##object##_set_##name(struct doca_verbs_##object *attr,	\
						     struct doca_umem *umem, uint64_t offset)	\
{										\
	if (!attr || !umem)							\
		return DOCA_ERROR_INVALID_VALUE;				\
	attr->name.umem = umem;							\
	attr->name.offset = offset;						\
	return DOCA_SUCCESS;							\
}

#define GET_AS(prefix, object, name, type)					\
EXPORT type doca_verbs_##prefix##_get_##name(const struct doca_verbs_##object *attr)	\
{										\
	return attr ? attr->name : (type)0;					\
}

#define GET(object, name, type)		GET_AS(object, object, name, type)

#define GET_PLACE(object, name)							\
EXPORT doca_error_t doca_verbs_##object##_get_##name(const struct doca_verbs_##object *attr,	\
						     struct doca_umem **umem, uint64_t *offset)	\
{										\
	if (!attr || !umem || !offset)						\
		return DOCA_ERROR_INVALID_VALUE;				\
	*umem = attr->name.umem;						\
	*offset = attr->name.offset;						\
	return DOCA_SUCCESS;							\
}

#define SET_GET(object, name, type)		SET(object, name, type) GET(object, name, type)
#define SET_GET_OBJECT(object, name, type)	SET_OBJECT(object, name, type)	\
						GET(object, name, type)
#define SET_GET_MAX(object, name, type, max)	SET_MAX(object, name, type, max)	\
						GET(object, name, type)
#define SET_GET_PLACE(object, name)		SET_PLACE(object, name) GET_PLACE(object, name)

#endif
