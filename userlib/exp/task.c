// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of requests for several queue pairs.  They are translated on the stack, which limits the
 * length of a list.
 */
#include "exp.h"

enum {
	MAX_REQUESTS	= 2048,		/* of a list, and its tasks */
	MAX_UMR		= 64,		/* of them UMR requests */
};

struct size {
	uint32_t tasks, sends, umrs;
};

/* The translated list */
struct room {
	struct xv_task *task;
	struct xv_send_wr *send;
	struct exp_umr *umr;
};

static struct size measure(const struct ibv_exp_task *task)
{
	const struct ibv_exp_send_wr *wr;
	struct size n = { 0, 0, 0 };

	for (; task; task = task->next) {
		n.tasks++;
		if (task->task_type != IBV_EXP_TASK_SEND)
			continue;
		for (wr = task->item.send_wr; wr; wr = wr->next) {
			n.sends++;
			n.umrs += exp_is_umr(wr);
		}
	}
	return n;
}

/* Takes the requests of a task, and moves the room behind them. */
static int take_sends(struct room *room, const struct ibv_exp_task *task)
{
	const struct xv_qp *qp = room->task->item.qp;
	struct xv_send_wr **link = &room->task->item.send_wr;
	const struct ibv_exp_send_wr *wr;
	int err;

	for (wr = task->item.send_wr; wr; wr = wr->next) {
		err = exp_translate(room->send, qp, wr, room->umr);
		if (err)
			return err;
		*link = room->send;
		link = &room->send->next;
		room->send++;
		room->umr += exp_is_umr(wr);
	}
	return 0;
}

static int take_task(struct room *room, const struct ibv_exp_task *task)
{
	struct xv_task *to = room->task;
	int err = 0;

	memset(to, 0, sizeof(*to));
	if (!task->item.qp)
		return -EINVAL;
	to->task_type = (enum xv_task_type)task->task_type;
	to->item.qp = xv_bridge_get_qp(task->item.qp);
	if (!to->item.qp)
		return -EINVAL;
	if (task->task_type == IBV_EXP_TASK_SEND)
		err = take_sends(room, task);
	else
		to->item.recv_wr = (struct xv_recv_wr *)task->item.recv_wr;
	if (task->next)
		to->next = to + 1;
	room->task++;
	return err;
}

static void set_bad(struct ibv_exp_task **bad_task, struct ibv_exp_task *task)
{
	if (bad_task)
		*bad_task = task;
}

static int post(struct xv_context *xv, struct ibv_exp_task *list, struct ibv_exp_task **bad_task,
		const struct size *n)
{
	struct xv_task tasks[n->tasks], *bad;
	struct xv_send_wr sends[n->sends + 1];
	struct exp_umr umrs[n->umrs + 1];
	struct room room = { tasks, sends, umrs };
	struct ibv_exp_task *task;
	int err;

	for (task = list; task; task = task->next) {
		err = take_task(&room, task);
		if (err) {
			set_bad(bad_task, task);
			return err;
		}
	}
	err = xv_post_task(xv, tasks, &bad);
	if (!err)
		return 0;
	for (task = list; bad != tasks; bad--)
		task = task->next;
	set_bad(bad_task, task);
	return err;
}

EXPORT int ibv_exp_post_task(struct ibv_context *ctx, struct ibv_exp_task *task,
			     struct ibv_exp_task **bad_task)
{
	struct xv_context *xv = xv_bridge_get_ctx(ctx);
	struct size n = measure(task);

	if (!n.tasks)
		return 0;
	if (!xv) {
		set_bad(bad_task, task);
		return iv_error(-EINVAL);
	}
	if (n.tasks > MAX_REQUESTS || n.sends > MAX_REQUESTS || n.umrs > MAX_UMR) {
		set_bad(bad_task, task);
		return iv_error(-ENOMEM);
	}
	return -post(xv, task, bad_task, &n);
}
