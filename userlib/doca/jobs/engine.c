// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Jobs as tasks.  This is the only file that uses the task API, see engine.h.
 *
 * An engine has a record for each job that its queues have space for.  The callback of the task
 * appends the record to the list of complete jobs, where it stays until it is retrieved.
 */
#include <stdlib.h>
#include "engine.h"
#include "tasks.h"

struct job {
	struct job *next;		/* in the list of free or complete ones */
	struct doca_task *task;
	union doca_data user_data;
	enum xvj_kind kind;
	doca_error_t status;
	int opcode;
	doca_be32_t imm;
};

struct xvj_engine {
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_pe *pe;

	/* From start to stop */
	struct doca_rdma_connection *conn;	/* or NULL: not exported */
	const void *details;
	size_t details_size;
	struct job *pool;
	struct job *free_sends;		/* for all kinds but receives */
	struct job *free_recvs;
	struct job *done;		/* the oldest complete job */
	struct job **done_tail;
	bool failed;
};

static void complete(struct doca_task *task, struct job *job, struct xvj_engine *engine)
{
	job->status = doca_task_get_status(task);
	if (job->status != DOCA_SUCCESS)
		engine->failed = true;
	job->next = NULL;
	*engine->done_tail = job;
	engine->done_tail = &job->next;
}

/* ---- Kinds ------------------------------------------------------------------------------- */

/*
 * The functions of a kind: configuration, and allocation with the arguments in ..., which may use
 * e and a.  The callback is defined elsewhere.
 */
#define ALLOCATION(name, ...)									\
static doca_error_t name##_configure(struct doca_rdma *rdma, uint32_t num)			\
{												\
	return doca_rdma_task_##name##_set_conf(rdma, name##_done, name##_done, num);		\
}												\
static doca_error_t name##_allocate(struct xvj_engine *e, const struct xvj_args *a,		\
				    union doca_data data, struct doca_task **task)		\
{												\
	struct doca_rdma_task_##name *t = NULL;							\
	doca_error_t result;									\
												\
	result = doca_rdma_task_##name##_allocate_init(e->rdma, __VA_ARGS__, data, &t);	\
	*task = doca_rdma_task_##name##_as_task(t);						\
	return result;										\
}

#define KIND(name, ...)										\
static void name##_done(struct doca_rdma_task_##name *task, union doca_data job,		\
			union doca_data engine)							\
{												\
	complete(doca_rdma_task_##name##_as_task(task), job.ptr, engine.ptr);			\
}												\
ALLOCATION(name, e->conn, __VA_ARGS__)

KIND(send, a->src)
KIND(send_imm, a->src, a->imm)
KIND(read, a->src, a->dst)
KIND(write, a->src, a->dst)
KIND(write_imm, a->src, a->dst, a->imm)
KIND(atomic_cmp_swp, a->dst, a->result, a->compare, a->swap_add)
KIND(atomic_fetch_add, a->dst, a->result, a->swap_add)

static void receive_done(struct doca_rdma_task_receive *task, union doca_data data,
			 union doca_data engine)
{
	struct job *job = data.ptr;

	complete(doca_rdma_task_receive_as_task(task), job, engine.ptr);
	if (job->status != DOCA_SUCCESS)
		return;
	job->opcode = (int)doca_rdma_task_receive_get_result_opcode(task);
	job->imm = doca_rdma_task_receive_get_result_immediate_data(task);
}

ALLOCATION(receive, a->dst)

static const struct {
	doca_error_t (*is_supported)(const struct doca_devinfo *devinfo);
	doca_error_t (*configure)(struct doca_rdma *rdma, uint32_t num);
	doca_error_t (*allocate)(struct xvj_engine *e, const struct xvj_args *a,
				 union doca_data data, struct doca_task **task);
} kinds[XVJ_KINDS] = {
#define ENTRY(name)						\
	{ doca_rdma_cap_task_##name##_is_supported, name##_configure, name##_allocate }
	[XVJ_RECV] = ENTRY(receive),
	[XVJ_SEND] = ENTRY(send),
	[XVJ_SEND_IMM] = ENTRY(send_imm),
	[XVJ_READ] = ENTRY(read),
	[XVJ_WRITE] = ENTRY(write),
	[XVJ_WRITE_IMM] = ENTRY(write_imm),
	[XVJ_CMP_SWP] = ENTRY(atomic_cmp_swp),
	[XVJ_FETCH_ADD] = ENTRY(atomic_fetch_add),
};

doca_error_t xvj_is_supported(const struct doca_devinfo *devinfo, enum xvj_kind kind)
{
	return kinds[kind].is_supported(devinfo);
}

doca_error_t xvj_get_cap(const struct doca_devinfo *devinfo, enum xvj_cap cap, uint32_t *value)
{
	switch (cap) {
	case XVJ_CAP_SEND_QUEUE_SIZE:
		return doca_rdma_cap_get_max_send_queue_size(devinfo, value);
	case XVJ_CAP_RECV_QUEUE_SIZE:
		return doca_rdma_cap_get_max_recv_queue_size(devinfo, value);
	case XVJ_CAP_RECV_CHAIN_LEN:
		return doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
			devinfo, DOCA_RDMA_TRANSPORT_TYPE_RC, value);
	case XVJ_CAP_MESSAGE_SIZE:
		return doca_rdma_cap_get_max_message_size(devinfo, value);
	case XVJ_CAP_GID_TABLE_SIZE:
		return doca_rdma_cap_get_gid_table_size(devinfo, value);
	}
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- Properties -------------------------------------------------------------------------- */

#define doca_rdma_set_recv_buf_chain_len	doca_rdma_task_receive_set_dst_buf_list_len
#define doca_rdma_get_recv_buf_chain_len	doca_rdma_task_receive_get_dst_buf_list_len

#define SET(name, type)		case XVJ_##name: return doca_rdma_set_##name(rdma, (type)value);

doca_error_t xvj_set(struct xvj_engine *engine, enum xvj_property property, uint32_t value)
{
	struct doca_rdma *rdma = engine->rdma;

	switch (property) {
		XVJ_PROPERTIES(SET);
	default:
		return DOCA_ERROR_INVALID_VALUE;
	}
}

#define GET(name, type)						\
	case XVJ_##name: {					\
		type v = 0;					\
								\
		result = doca_rdma_get_##name(rdma, &v);	\
		*value = (uint32_t)v;				\
		return result;					\
	}

doca_error_t xvj_get(const struct xvj_engine *engine, enum xvj_property property, uint32_t *value)
{
	const struct doca_rdma *rdma = engine->rdma;
	doca_error_t result;

	switch (property) {
		XVJ_PROPERTIES(GET);
	default:
		return DOCA_ERROR_INVALID_VALUE;
	}
}

/* ---- Creation, start and stop ------------------------------------------------------------ */

doca_error_t xvj_destroy(struct xvj_engine *engine)
{
	doca_error_t result = engine->rdma ? doca_rdma_destroy(engine->rdma) : DOCA_SUCCESS;

	if (result != DOCA_SUCCESS)
		return result;
	if (engine->pe)
		doca_pe_destroy(engine->pe);
	free(engine);
	return DOCA_SUCCESS;
}

doca_error_t xvj_create(struct doca_dev *dev, struct xvj_engine **engine)
{
	struct xvj_engine *new = calloc(1, sizeof(*new));
	doca_error_t result;

	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	result = doca_pe_create(&new->pe);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(dev, &new->rdma);
	if (result != DOCA_SUCCESS) {
		xvj_destroy(new);
		return result;
	}
	new->ctx = doca_rdma_as_ctx(new->rdma);
	doca_pe_connect_ctx(new->pe, new->ctx);
	doca_ctx_set_user_data(new->ctx, (union doca_data) { .ptr = new });
	*engine = new;
	return DOCA_SUCCESS;
}

static void add_free(struct xvj_engine *engine, struct job *job)
{
	struct job **list = job->kind == XVJ_RECV ? &engine->free_recvs : &engine->free_sends;

	job->next = *list;
	*list = job;
}

/* The records of all jobs, and as many tasks of each kind as can be in use */
static doca_error_t allocate_jobs(struct xvj_engine *engine)
{
	uint32_t sends, recvs, i;
	doca_error_t result;

	doca_rdma_get_send_queue_size(engine->rdma, &sends);
	doca_rdma_get_recv_queue_size(engine->rdma, &recvs);
	for (i = 0; i < XVJ_KINDS; i++) {
		result = kinds[i].configure(engine->rdma, i == XVJ_RECV ? recvs : sends);
		if (result != DOCA_SUCCESS)
			return result;
	}
	engine->pool = calloc((size_t)sends + recvs, sizeof(*engine->pool));
	if (!engine->pool)
		return DOCA_ERROR_NO_MEMORY;
	for (i = 0; i < sends + recvs; i++) {
		engine->pool[i].kind = i < recvs ? XVJ_RECV : XVJ_SEND;
		add_free(engine, &engine->pool[i]);
	}
	return DOCA_SUCCESS;
}

static void reset(struct xvj_engine *engine)
{
	free(engine->pool);
	engine->pool = NULL;
	engine->free_sends = NULL;
	engine->free_recvs = NULL;
	engine->done = NULL;
	engine->done_tail = &engine->done;
	engine->conn = NULL;
	engine->failed = false;
}

doca_error_t xvj_start(struct xvj_engine *engine)
{
	doca_error_t result;

	reset(engine);
	result = allocate_jobs(engine);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(engine->ctx);
	if (result != DOCA_SUCCESS)
		reset(engine);
	return result;
}

doca_error_t xvj_stop(struct xvj_engine *engine)
{
	doca_error_t result = doca_ctx_stop(engine->ctx);
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return result;
	while (doca_ctx_get_state(engine->ctx, &state), state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(engine->pe);
	for (; engine->done; engine->done = engine->done->next)
		doca_task_free(engine->done->task);
	reset(engine);
	return DOCA_SUCCESS;
}

/* ---- Connection -------------------------------------------------------------------------- */

doca_error_t xvj_export(struct xvj_engine *engine, const void **details, size_t *size)
{
	doca_error_t result = DOCA_SUCCESS;

	if (xvj_has_failed(engine))
		return DOCA_ERROR_BAD_STATE;
	if (!engine->conn)
		result = doca_rdma_export(engine->rdma, &engine->details, &engine->details_size,
					  &engine->conn);
	if (result != DOCA_SUCCESS)
		return result;
	*details = engine->details;
	*size = engine->details_size;
	return DOCA_SUCCESS;
}

/*
 * The program may connect before it exports; the export is kept for it.  After an error of the
 * queue pair only a new start helps.
 */
doca_error_t xvj_connect(struct xvj_engine *engine, const void *details, size_t size)
{
	doca_error_t result;
	const void *own;
	size_t own_size;

	result = xvj_export(engine, &own, &own_size);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_connect(engine->rdma, details, size, engine->conn);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_INVALID_VALUE &&
	    result != DOCA_ERROR_UNSUPPORTED_VERSION)
		engine->failed = true;
	return result;
}

/* ---- Jobs -------------------------------------------------------------------------------- */

doca_error_t xvj_submit(struct xvj_engine *engine, enum xvj_kind kind,
			const struct xvj_args *args, union doca_data user_data)
{
	struct job **list = kind == XVJ_RECV ? &engine->free_recvs : &engine->free_sends;
	struct job *job = *list;
	struct doca_task *task;
	doca_error_t result;

	if (!job)
		return DOCA_ERROR_NO_MEMORY;
	result = kinds[kind].allocate(engine, args, (union doca_data) { .ptr = job }, &task);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(task);
	if (result != DOCA_SUCCESS) {
		doca_task_free(task);
		return result == DOCA_ERROR_AGAIN ? DOCA_ERROR_NO_MEMORY : result;
	}
	*list = job->next;
	job->task = task;
	job->kind = kind;
	job->user_data = user_data;
	job->opcode = 0;
	job->imm = 0;
	return DOCA_SUCCESS;
}

bool xvj_retrieve(struct xvj_engine *engine, struct xvj_done *done)
{
	struct job *job;

	if (!engine->done)
		doca_pe_progress(engine->pe);
	job = engine->done;
	if (!job)
		return false;
	engine->done = job->next;
	if (!engine->done)
		engine->done_tail = &engine->done;
	*done = (struct xvj_done) {
		.kind = job->kind,
		.user_data = job->user_data,
		.status = job->status,
		.opcode = job->opcode,
		.imm = job->imm,
	};
	doca_task_free(job->task);
	add_free(engine, job);
	return true;
}

/* If the device was removed, the context has stopped by itself, and there is no connection. */
bool xvj_has_failed(const struct xvj_engine *engine)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(engine->ctx, &state);
	return engine->failed || state != DOCA_CTX_STATE_RUNNING;
}

/* ---- Sleeping ---------------------------------------------------------------------------- */

int xvj_event_fd(const struct xvj_engine *engine)
{
	doca_notification_handle_t handle = -1;

	doca_pe_get_notification_handle(engine->pe, &handle);
	return handle;
}

doca_error_t xvj_arm(struct xvj_engine *engine, bool *ready)
{
	*ready = engine->done != NULL;
	return doca_pe_request_notification(engine->pe);
}

doca_error_t xvj_clear(struct xvj_engine *engine)
{
	return doca_pe_clear_notification(engine->pe, xvj_event_fd(engine));
}
