// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of requests for several queue pairs.  They are posted task by task, as libmlx5 does: the
 * tasks before one that is refused run.  xv_post_task() of libxverbs posts all or none.
 */
#include "exp.h"

static int post(const struct ibv_exp_task *task)
{
	if (!task->item.qp)
		return exp_refuse(EINVAL, "post task: no queue pair: ");
	if (task->task_type == IBV_EXP_TASK_SEND)
		return ibv_exp_post_send(task->item.qp, task->item.send_wr, NULL);
	if (task->task_type != IBV_EXP_TASK_RECV)
		return exp_refuse(EINVAL, "post task: type: ");
	return xv_bridge_get_qp(task->item.qp) ?
	       ibv_post_recv(task->item.qp, task->item.recv_wr, NULL) : EINVAL;
}

/* The lock: requests of two lists may name the same queue, and count there. */
EXPORT int ibv_exp_post_task(struct ibv_context *ctx, struct ibv_exp_task *task,
			     struct ibv_exp_task **bad_task)
{
	struct xv_spin *lock;
	int err = 0;

	if (!xv_bridge_get_ctx(ctx)) {
		err = EINVAL;
	} else {
		lock = &to_context(ctx)->task_lock;
		xv_lock(lock);
		while (task && !err) {
			err = post(task);
			if (!err)
				task = task->next;
		}
		xv_unlock(lock);
	}
	if (err && bad_task)
		*bad_task = task;
	return err;
}
