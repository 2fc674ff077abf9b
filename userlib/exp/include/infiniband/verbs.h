/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The header of libibverbs, where an asynchronous event may also name a DC target.  The layout of
 * the structure is the same.  As with MLNX_OFED, it includes the experimental verbs.
 */
#ifndef XVERBS_EXP_INFINIBAND_VERBS_H
#define XVERBS_EXP_INFINIBAND_VERBS_H

#pragma GCC system_header

#define ibv_async_event		xverbs_plain_async_event
#include_next <infiniband/verbs.h>
#undef ibv_async_event

struct ibv_exp_dct;

struct ibv_async_event {
	union {
		struct ibv_cq *cq;
		struct ibv_qp *qp;
		struct ibv_srq *srq;
		struct ibv_exp_dct *dct;
		struct ibv_wq *wq;
		int port_num;
	} element;
	enum ibv_event_type event_type;
};

static inline int xverbs_get_async_event(struct ibv_context *context,
					 struct ibv_async_event *event)
{
	return ibv_get_async_event(context, (struct xverbs_plain_async_event *)(void *)event);
}

static inline void xverbs_ack_async_event(struct ibv_async_event *event)
{
	ibv_ack_async_event((struct xverbs_plain_async_event *)(void *)event);
}

#define ibv_get_async_event	xverbs_get_async_event
#define ibv_ack_async_event	xverbs_ack_async_event

#include <infiniband/verbs_exp.h>

#endif
