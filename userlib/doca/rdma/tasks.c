// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The functions of each kind of task: configuration, allocation, arguments and results.
 */
#include "rdma.h"

static doca_error_t set_conf(struct doca_rdma *rdma, enum xvd_rdma_task_kind kind,
			     xvd_task_cb_t completed, xvd_task_cb_t failed, uint32_t num_tasks)
{
	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	return xvd_task_type_set_conf(&rdma->ctx, &rdma->types[kind], &xvd_rdma_task_ops[kind],
				      completed, failed, num_tasks);
}

static doca_error_t allocate(struct doca_rdma *rdma, enum xvd_rdma_task_kind kind,
			     union doca_data user_data, struct xvd_rdma_task **t)
{
	struct doca_task *task;
	doca_error_t result;

	if (!rdma || !t)
		return DOCA_ERROR_INVALID_VALUE;
	result = xvd_task_alloc(&rdma->types[kind], user_data, &task);
	if (result == DOCA_SUCCESS)
		*t = xvd_rdma_task(task);
	return result;
}

/* A pointer to the task of one kind as one to the structure of all kinds */
#define T(task)		((struct xvd_rdma_task *)(task))

/* The connection of a new task must be one of its context. */
static bool belongs(const struct doca_rdma *rdma, const struct doca_rdma_connection *conn)
{
	return conn && conn->rdma == rdma;
}

#define COMMON(name, KIND)									\
EXPORT doca_error_t doca_rdma_task_##name##_set_conf(						\
	struct doca_rdma *rdma, doca_rdma_task_##name##_completion_cb_t completed,		\
	doca_rdma_task_##name##_completion_cb_t failed, uint32_t num_tasks)			\
{												\
	return set_conf(rdma, XVD_RDMA_##KIND, XVD_TASK_CB(completed), XVD_TASK_CB(failed),	\
			num_tasks);								\
}												\
EXPORT struct doca_task *doca_rdma_task_##name##_as_task(struct doca_rdma_task_##name *task)	\
{												\
	return (struct doca_task *)task;							\
}

#define FIELD(name, field, type, member)							\
EXPORT void doca_rdma_task_##name##_set_##field(struct doca_rdma_task_##name *task, type field)	\
{												\
	if (task)										\
		T(task)->member = field;							\
}												\
EXPORT type doca_rdma_task_##name##_get_##field(const struct doca_rdma_task_##name *task)	\
{												\
	return task ? T(task)->member : 0;							\
}

#define CONNECTION(name)									\
EXPORT void doca_rdma_task_##name##_set_rdma_connection(					\
	struct doca_rdma_task_##name *task, struct doca_rdma_connection *rdma_connection)	\
{												\
	if (task)										\
		T(task)->conn = rdma_connection;						\
}												\
EXPORT const struct doca_rdma_connection *doca_rdma_task_##name##_get_rdma_connection(		\
	const struct doca_rdma_task_##name *task)						\
{												\
	return task ? T(task)->conn : NULL;							\
}

#define RESULT(name, result, type, member)							\
EXPORT type doca_rdma_task_##name##_get_result_##result(const struct doca_rdma_task_##name *task) \
{												\
	return task ? T(task)->member : 0;							\
}

/* ..._allocate_init() with the arguments args, which the statements set store in t */
#define ALLOCATE(name, KIND, set, ...)								\
EXPORT doca_error_t doca_rdma_task_##name##_allocate_init(					\
	struct doca_rdma *rdma, struct doca_rdma_connection *conn, __VA_ARGS__,			\
	union doca_data user_data, struct doca_rdma_task_##name **task)				\
{												\
	doca_error_t result;									\
	struct xvd_rdma_task *t;								\
												\
	if (!task || !belongs(rdma, conn))							\
		return DOCA_ERROR_INVALID_VALUE;						\
	result = allocate(rdma, XVD_RDMA_##KIND, user_data, &t);				\
	if (result != DOCA_SUCCESS)								\
		return result;									\
	t->conn = conn;										\
	set;											\
	*task = (struct doca_rdma_task_##name *)t;						\
	return DOCA_SUCCESS;									\
}												\
COMMON(name, KIND)										\
CONNECTION(name)

typedef const struct doca_buf *source;
typedef struct doca_buf *destination;
typedef const struct doca_sync_event_remote_net *remote_event;

/* ---- Receive ----------------------------------------------------------------------------- */

EXPORT doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma,
							 struct doca_buf *dst_buf,
							 union doca_data user_data,
							 struct doca_rdma_task_receive **task)
{
	struct xvd_rdma_task *t;
	doca_error_t result;

	result = allocate(rdma, XVD_RDMA_RECEIVE, user_data, task ? &t : NULL);
	if (result != DOCA_SUCCESS)
		return result;
	t->dst = dst_buf;
	*task = (struct doca_rdma_task_receive *)t;
	return DOCA_SUCCESS;
}

COMMON(receive, RECEIVE)
FIELD(receive, dst_buf, destination, dst)
RESULT(receive, opcode, enum doca_rdma_opcode, opcode)
RESULT(receive, len, uint32_t, received)
RESULT(receive, immediate_data, doca_be32_t, imm)
RESULT(receive, rdma_connection, const struct doca_rdma_connection *, from)

/* ---- Tasks of a connection --------------------------------------------------------------- */

ALLOCATE(send, SEND, t->src = src, source src)
FIELD(send, src_buf, source, src)

ALLOCATE(send_imm, SEND_IMM, t->src = src; t->imm = imm, source src, doca_be32_t imm)
FIELD(send_imm, src_buf, source, src)
FIELD(send_imm, immediate_data, doca_be32_t, imm)

ALLOCATE(read, READ, t->src = src; t->dst = dst, source src, destination dst)
FIELD(read, src_buf, source, src)
FIELD(read, dst_buf, destination, dst)
RESULT(read, len, uint32_t, bytes)

ALLOCATE(write, WRITE, t->src = src; t->dst = dst, source src, destination dst)
FIELD(write, src_buf, source, src)
FIELD(write, dst_buf, destination, dst)

ALLOCATE(write_imm, WRITE_IMM, t->src = src; t->dst = dst; t->imm = imm,
	 source src, destination dst, doca_be32_t imm)
FIELD(write_imm, src_buf, source, src)
FIELD(write_imm, dst_buf, destination, dst)
FIELD(write_imm, immediate_data, doca_be32_t, imm)

ALLOCATE(atomic_cmp_swp, CMP_SWP,
	 t->dst = dst; t->result = old; t->compare = cmp; t->swap_add = swap,
	 destination dst, destination old, uint64_t cmp, uint64_t swap)
FIELD(atomic_cmp_swp, dst_buf, destination, dst)
FIELD(atomic_cmp_swp, result_buf, destination, result)
FIELD(atomic_cmp_swp, cmp_data, uint64_t, compare)
FIELD(atomic_cmp_swp, swap_data, uint64_t, swap_add)

ALLOCATE(atomic_fetch_add, FETCH_ADD, t->dst = dst; t->result = old; t->swap_add = add,
	 destination dst, destination old, uint64_t add)
FIELD(atomic_fetch_add, dst_buf, destination, dst)
FIELD(atomic_fetch_add, result_buf, destination, result)
FIELD(atomic_fetch_add, add_data, uint64_t, swap_add)

ALLOCATE(remote_net_sync_event_get, EVENT_GET, t->event = event; t->dst = dst,
	 remote_event event, destination dst)
FIELD(remote_net_sync_event_get, sync_event, remote_event, event)
FIELD(remote_net_sync_event_get, dst_buf, destination, dst)

ALLOCATE(remote_net_sync_event_notify_set, EVENT_SET, t->event = event; t->src = src,
	 remote_event event, source src)
FIELD(remote_net_sync_event_notify_set, sync_event, remote_event, event)
FIELD(remote_net_sync_event_notify_set, src_buf, source, src)

ALLOCATE(remote_net_sync_event_notify_add, EVENT_ADD,
	 t->event = event; t->result = old; t->swap_add = add,
	 remote_event event, destination old, uint64_t add)
FIELD(remote_net_sync_event_notify_add, sync_event, remote_event, event)
FIELD(remote_net_sync_event_notify_add, result_buf, destination, result)
FIELD(remote_net_sync_event_notify_add, add_data, uint64_t, swap_add)
