/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The task API as the rest of this library sees it: an engine is an RDMA context of libdoca_rdma
 * with a progress engine of its own, and each job is one of its tasks.
 *
 * Both APIs have functions, structures and constants of the same names.  engine.c and tasks.h
 * include the headers of the task API, all other files include those of jobs, and this header
 * includes only what both have.
 */
#ifndef XVDOCA_JOBS_ENGINE_H
#define XVDOCA_JOBS_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

struct doca_buf;
struct doca_dev;
struct doca_devinfo;
struct xvj_engine;

/* In the order of enum doca_rdma_job_types */
enum xvj_kind {
	XVJ_RECV,
	XVJ_SEND,
	XVJ_SEND_IMM,
	XVJ_READ,
	XVJ_WRITE,
	XVJ_WRITE_IMM,
	XVJ_CMP_SWP,
	XVJ_FETCH_ADD,
	XVJ_KINDS,
};

/* The arguments of a job of any kind */
struct xvj_args {
	const struct doca_buf *src;
	struct doca_buf *dst;		/* of the peer: atomics */
	struct doca_buf *result;
	uint64_t swap_add;
	uint64_t compare;
	doca_be32_t imm;
};

/* A job that is complete.  opcode and imm are those of a receive that succeeded, else 0. */
struct xvj_done {
	enum xvj_kind kind;
	union doca_data user_data;
	doca_error_t status;
	int opcode;			/* has the same values in both APIs */
	doca_be32_t imm;
};

/* The properties: name and type */
#define XVJ_PROPERTIES(PROPERTY)			\
	PROPERTY(permissions, uint32_t)			\
	PROPERTY(send_queue_size, uint32_t)		\
	PROPERTY(recv_queue_size, uint32_t)		\
	PROPERTY(recv_buf_chain_len, uint32_t)		\
	PROPERTY(mtu, enum doca_mtu_size)		\
	PROPERTY(gid_index, uint32_t)			\
	PROPERTY(grh_enabled, uint8_t)			\
	PROPERTY(sl, uint32_t)

#define XVJ_ENUM(name, type)	XVJ_##name,
enum xvj_property {
	XVJ_PROPERTIES(XVJ_ENUM)
	XVJ_NUM_PROPERTIES,
};
#undef XVJ_ENUM

enum xvj_cap {
	XVJ_CAP_SEND_QUEUE_SIZE,
	XVJ_CAP_RECV_QUEUE_SIZE,
	XVJ_CAP_RECV_CHAIN_LEN,
	XVJ_CAP_MESSAGE_SIZE,
	XVJ_CAP_GID_TABLE_SIZE,
};

doca_error_t xvj_get_cap(const struct doca_devinfo *devinfo, enum xvj_cap cap, uint32_t *value);
doca_error_t xvj_is_supported(const struct doca_devinfo *devinfo, enum xvj_kind kind);

doca_error_t xvj_create(struct doca_dev *dev, struct xvj_engine **engine);
doca_error_t xvj_destroy(struct xvj_engine *engine);	/* DOCA_ERROR_IN_USE: it is started. */

doca_error_t xvj_set(struct xvj_engine *engine, enum xvj_property property, uint32_t value);
doca_error_t xvj_get(const struct xvj_engine *engine, enum xvj_property property, uint32_t *value);

/* xvj_stop() drops all jobs. */
doca_error_t xvj_start(struct xvj_engine *engine);
doca_error_t xvj_stop(struct xvj_engine *engine);

doca_error_t xvj_export(struct xvj_engine *engine, const void **details, size_t *size);
doca_error_t xvj_connect(struct xvj_engine *engine, const void *details, size_t size);

/* DOCA_ERROR_NO_MEMORY: the queue is full. */
doca_error_t xvj_submit(struct xvj_engine *engine, enum xvj_kind kind,
			const struct xvj_args *args, union doca_data user_data);

/* Returns false if no job is complete. */
bool xvj_retrieve(struct xvj_engine *engine, struct xvj_done *done);

/* A job has failed since the start. */
bool xvj_has_failed(const struct xvj_engine *engine);

/* For sleeping.  *ready: there is a job to retrieve already. */
int xvj_event_fd(const struct xvj_engine *engine);
doca_error_t xvj_arm(struct xvj_engine *engine, bool *ready);
doca_error_t xvj_clear(struct xvj_engine *engine);

#endif
