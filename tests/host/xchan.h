/* SPDX-License-Identifier: GPL-2.0 */
/* Cross-channel requests, written from the formats; for the tests of them */
#ifndef XCHAN_H
#define XCHAN_H

#include <string.h>
#include <asm/byteorder.h>
#include "session.h"

#define NO_COMPLETION	(~0u)

struct xchan_wqe {
	struct mlx5r_ctrl ctrl;
	union {
		struct mlx5r_wait object;
		struct mlx5r_wait_data data;
	};
};

static inline struct xchan_wqe xchan_wqe(u8 opcode, u8 opmod, u32 ds)
{
	return (struct xchan_wqe) {
		.ctrl.opmod_idx_opcode = cpu_to_be32((u32)opmod << 24 | opcode),
		.ctrl.qpn_ds = cpu_to_be32(ds),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
	};
}

/* Builds a WAIT for a CQ or an ENABLE; the caller commits. */
static inline int xchan_object(struct session_qp *q, u8 opcode, u32 number, u32 index)
{
	struct xchan_wqe w = xchan_wqe(opcode, 0, 2);

	w.object.number = cpu_to_be32(number);
	w.object.index = cpu_to_be32(index);
	return xv_wr_raw(&q->qp, opcode, &w);
}

static inline int xchan_wait(struct session_qp *q, const struct session_qp *on, u32 index)
{
	return xchan_object(q, MLX5R_OP_WAIT, on->cqn, index);
}

static inline int xchan_send_enable(struct session_qp *q, const struct session_qp *to, u32 index)
{
	return xchan_object(q, MLX5R_OP_SEND_ENABLE, to->qp.qp_num, index);
}

static inline int xchan_recv_enable(struct session_qp *q, const struct session_qp *to, u32 index)
{
	return xchan_object(q, MLX5R_OP_RECV_ENABLE, to->qp.qp_num, index);
}

static inline int xchan_condition(struct session_qp *q, u8 opmod, const struct mlx5r_wait_data *d)
{
	struct xchan_wqe w = xchan_wqe(MLX5R_OP_WAIT, opmod, 3);

	w.data = *d;
	return xv_wr_raw(&q->qp, MLX5R_OP_WAIT, &w);
}

static inline struct hca_qp *xchan_hw(const struct session_qp *q)
{
	return hca_qp_get(q->s->hca[q->func], q->qp.qp_num);
}

static inline struct hca_cq *xchan_cq(const struct session_qp *q)
{
	return hca_table_get(&q->s->hca[q->func]->cqs, q->cqn);
}

/* The status of the next completion */
static inline u32 xchan_status(struct session_qp *q)
{
	struct xv_wc wc;

	return xv_poll_cq(&q->cq, 1, &wc) ? wc.status : NO_COMPLETION;
}

/* Completions until there is none, all with @status; NO_COMPLETION if one has another */
static inline u32 xchan_count(struct session_qp *q, u32 status)
{
	u32 n = 0, got;

	while ((got = xchan_status(q)) != NO_COMPLETION) {
		if (got != status)
			return NO_COMPLETION;
		n++;
	}
	return n;
}

#define MASTER	SESSION_MASTER
#define SEND	SESSION_MANAGED_SEND
#define RECV	SESSION_MANAGED_RECV

static struct session s;
static struct session_mr mr[2];

static inline void xchan_init(void)
{
	session_init(&s);
	mr[0] = session_mr(&s, 0, 4096, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, 4096, ALL_ACCESS);
}

/* A queue with the flags @cross, connected to one of function 1 without */
struct pair {
	struct session_qp q, peer;
};

static inline void open_pair(struct pair *p, u8 st, u8 cross, u32 log_size)
{
	s.cross = cross;
	session_qp(&s, 0, st, log_size, log_size, &p->q);
	s.cross = 0;
	session_qp(&s, 1, st, 4, 4, &p->peer);
	session_connect(&p->q, &p->peer);
}

static inline void close_pair(struct pair *p)
{
	session_qp_destroy(&p->q);
	session_qp_destroy(&p->peer);
	session_cq_destroy(&p->q);
	session_cq_destroy(&p->peer);
}

/* Writes the number at 8 * @from to 8 * @to of the other function. */
static inline void write_word(struct session_qp *q, u32 from, u32 to)
{
	struct xv_sge sge = session_sge(&mr[0], 8 * from, 8);

	xv_wr_write(&q->qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + 8 * to, mr[1].key);
}

static inline u64 *word(int func, u32 i)
{
	return (u64 *)mr[func].ptr + i;
}

/* Commits what is built on @q and runs the adapter. */
static inline void go(struct session_qp *q)
{
	xv_commit_send(&q->qp);
	session_settle(&s);
}

#endif
