// SPDX-License-Identifier: GPL-2.0
/*
 * All calls of the uAPI: the table, and what it cannot say about members that depend on each
 * other.
 */
#include <fcntl.h>
#include <unistd.h>
#include "shapes.h"

#define MEMBER(_type, _member)								\
	.name = #_member, .at = offsetof(struct xverbs_##_type, _member),		\
	.size = sizeof(((struct xverbs_##_type *)0)->_member)
#define END(_type, _member)								\
	(offsetof(struct xverbs_##_type, _member) +					\
	 sizeof(((struct xverbs_##_type *)0)->_member))

/* The members from _first to _last */
#define OUT(_type, _first, _last)							\
	{ .name = #_first, .at = offsetof(struct xverbs_##_type, _first),		\
	  .size = END(_type, _last) - offsetof(struct xverbs_##_type, _first), .how = IS_OUT }
#define ZERO(_type, _member)		{ MEMBER(_type, _member), .how = IS_ZERO }
#define HANDLE(_type, _member, _kinds, _none)						\
	{ MEMBER(_type, _member), .how = IS_HANDLE, .a = (_kinds), .b = (_none) }
#define RANGE(_type, _member, _lo, _hi)							\
	{ MEMBER(_type, _member), .how = IS_RANGE, .a = (_lo), .b = (_hi) }
#define SIZE(_type, _member, _lo, _hi)							\
	{ MEMBER(_type, _member), .how = IS_SIZE, .a = (_lo), .b = (_hi) }
#define MULTIPLE(_type, _member, _of, _times)						\
	{ MEMBER(_type, _member), .how = IS_MULTIPLE, .a = (_of), .b = (_times) }
#define BITS(_type, _member, _some, _always)						\
	{ MEMBER(_type, _member), .how = IS_BITS, .a = (_some), .b = (_always) }
#define ONE(_type, _member, ...)							\
	{ MEMBER(_type, _member), .how = IS_ONE,					\
	  .list = (const uint64_t[]) { __VA_ARGS__ },					\
	  .a = sizeof((const uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t) }
#define RANDOM(_type, _member)		{ MEMBER(_type, _member), .how = IS_RANDOM }
#define BUFFER(_type, _member)		{ MEMBER(_type, _member), .how = IS_BUFFER }
#define PART(_type, _member, _shape, _often)						\
	{ MEMBER(_type, _member), .how = IS_PART, .shape = &shape_##_shape, .b = (_often) }
#define ROOM(_type, _member, _shape, _often)						\
	{ MEMBER(_type, _member), .how = IS_ROOM, .shape = &shape_##_shape, .b = (_often) }

#define SHAPE(_type, ...)								\
	static const struct field fields_##_type[] = { __VA_ARGS__ };			\
	static const struct shape shape_##_type = {					\
		.size = sizeof(struct xverbs_##_type), .n = ARRAY_SIZE(fields_##_type),	\
		.field = fields_##_type,						\
	}

#define REMOTE		(XVERBS_ACCESS_REMOTE_WRITE | XVERBS_ACCESS_REMOTE_READ |	\
			 XVERBS_ACCESS_REMOTE_ATOMIC)
#define MR_ACCESS	(XVERBS_ACCESS_LOCAL_WRITE | REMOTE | XVERBS_ACCESS_MW_BIND |	\
			 XVERBS_ACCESS_RELAXED_ORDERING)

/* ---- Parts --------------------------------------------------------------------------- */

SHAPE(external,
	HANDLE(external, ring_umem, K(UMEM), 30),
	HANDLE(external, dbr_umem, K(UMEM), 30),
	MULTIPLE(external, ring_offset, PAGE, 2),
	MULTIPLE(external, dbr_offset, 64, 100));

SHAPE(qp_cap,
	SIZE(qp_cap, max_send_wr, 0, 300),
	SIZE(qp_cap, max_recv_wr, 0, 300),
	RANGE(qp_cap, max_send_sge, 0, 4),
	RANGE(qp_cap, max_recv_sge, 0, 4),
	SIZE(qp_cap, max_inline_data, 0, 200),
	ONE(qp_cap, max_atomic_arg, 0, 0, 0, 8),
	ONE(qp_cap, max_inl_recv, 0, 0, 32, 64),
	ONE(qp_cap, max_inl_resp, 0, 0, 32, 64));

/* relate_path() fills it with an address that exists. */
SHAPE(ah_attr,
	RANDOM(ah_attr, dgid),
	RANGE(ah_attr, flow_label, 0, 0xfffff),
	RANGE(ah_attr, dlid, 1, 4),
	RANGE(ah_attr, sgid_index, 0, 3),
	RANGE(ah_attr, hop_limit, 1, 255),
	RANGE(ah_attr, traffic_class, 0, 255),
	RANGE(ah_attr, sl, 0, 7),
	RANGE(ah_attr, src_path_bits, 0, 1),
	ONE(ah_attr, static_rate, 0, 0, 0, 2, 3, 5),
	RANGE(ah_attr, is_global, 0, 1),
	RANGE(ah_attr, port_num, 1, 1),
	ZERO(ah_attr, reserved));

/* relate_modify() sets the state and the members that the transition needs. */
SHAPE(qp_attr,
	RANGE(qp_attr, qp_state, XVERBS_QPS_RESET, XVERBS_QPS_ERR),
	RANGE(qp_attr, cur_qp_state, XVERBS_QPS_RESET, XVERBS_QPS_ERR),
	RANGE(qp_attr, path_mtu, 1, 3),
	RANGE(qp_attr, path_mig_state, XVERBS_MIG_MIGRATED, XVERBS_MIG_REARM),
	RANDOM(qp_attr, qkey),
	RANGE(qp_attr, rq_psn, 0, 0),
	RANGE(qp_attr, sq_psn, 0, 0),
	RANGE(qp_attr, dest_qp_num, 0, 0xffffff),
	BITS(qp_attr, qp_access_flags, REMOTE, XVERBS_ACCESS_LOCAL_WRITE),
	RANGE(qp_attr, pkey_index, 0, 0),
	RANGE(qp_attr, alt_pkey_index, 0, 0),
	RANGE(qp_attr, en_sqd_async_notify, 0, 1),
	RANGE(qp_attr, sq_draining, 0, 1),
	RANGE(qp_attr, max_rd_atomic, 0, 16),
	RANGE(qp_attr, max_dest_rd_atomic, 0, 16),
	RANGE(qp_attr, min_rnr_timer, 0, 31),
	RANGE(qp_attr, port_num, 1, 1),
	RANGE(qp_attr, timeout, 1, 12),
	RANGE(qp_attr, retry_cnt, 0, 7),
	RANGE(qp_attr, rnr_retry, 0, 7),
	RANGE(qp_attr, alt_port_num, 1, 1),
	RANGE(qp_attr, alt_timeout, 0, 31),
	ZERO(qp_attr, reserved),
	ONE(qp_attr, ece, 0, 0, 1u << 28),
	RANDOM(qp_attr, dct_key));

SHAPE(qp_init, OUT(qp_init, user_data, reserved));

SHAPE(dct_attr,
	ONE(dct_attr, dc_key, 1, 1, 1, 2),
	BITS(dct_attr, access, REMOTE, 0),
	RANGE(dct_attr, flow_label, 0, 0xfffff),
	RANGE(dct_attr, mtu, 1, 3),
	ONE(dct_attr, inline_size, 0, 0, 64),
	RANGE(dct_attr, pkey_index, 0, 0),
	RANGE(dct_attr, port, 1, 1),
	RANGE(dct_attr, gid_index, 0, 1),
	RANGE(dct_attr, hop_limit, 1, 255),
	RANGE(dct_attr, tclass, 0, 255),
	RANGE(dct_attr, min_rnr_timer, 0, 31),
	RANGE(dct_attr, sl, 0, 15),
	ONE(dct_attr, ece, 0, 0, 1u << 28),
	ZERO(dct_attr, reserved2));

/* ---- Structures of calls; the header is filled for all of them ----------------------- */

SHAPE(list_devices,
	BUFFER(list_devices, devices),
	RANGE(list_devices, count, 0, 4),
	ONE(list_devices, entry_size, sizeof(struct xverbs_device),
	    sizeof(struct xverbs_device) + 64),
	OUT(list_devices, out_count, out_count),
	ZERO(list_devices, reserved));

SHAPE(bind,
	RANGE(bind, index, 0, 1),
	ONE(bind, async_event_size, 0, 8, sizeof(struct xverbs_async_event), 64),
	OUT(bind, name, name),
	RANGE(bind, fd, 0, 0),
	ZERO(bind, reserved),
	OUT(bind, out_alive, out_alive));

SHAPE(destroy,
	HANDLE(destroy, handle, ANY_KIND, 0),
	OUT(destroy, out_comp_events, out_async_events),
	ZERO(destroy, reserved));

SHAPE(query_device, OUT(query_device, out_node_guid, out_reserved));

SHAPE(query_port,
	RANGE(query_port, port, 1, 1),
	OUT(query_port, out_state, out_subnet_prefix));

SHAPE(query_gid,
	RANGE(query_gid, port, 1, 1),
	RANGE(query_gid, index, 0, 3),
	OUT(query_gid, out_gid, out_ifindex));

SHAPE(query_pkey,
	RANGE(query_pkey, port, 1, 1),
	RANGE(query_pkey, index, 0, 0),
	OUT(query_pkey, out_pkey, out_pkey),
	ZERO(query_pkey, reserved));

SHAPE(query_features,
	BUFFER(query_features, features),
	RANGE(query_features, count, 0, 20),
	ONE(query_features, entry_size, sizeof(struct xverbs_feature),
	    sizeof(struct xverbs_feature) + 8),
	OUT(query_features, out_count, out_count),
	ZERO(query_features, reserved));

SHAPE(clock_map,
	OUT(clock_map, out_map, out_offset),
	ZERO(clock_map, reserved));

SHAPE(pd_alloc, OUT(pd_alloc, out_handle, out_pdn));

/* relate_import() */
SHAPE(pd_import,
	RANGE(pd_import, fd, 0, 20),
	RANGE(pd_import, pd, 0, 4),
	OUT(pd_import, out_handle, out_pdn),
	RANGE(pd_import, number, 0, 100),
	ZERO(pd_import, reserved));

SHAPE(uar_alloc, OUT(uar_alloc, out_handle, out_bf_stride));

SHAPE(mr_reg,
	HANDLE(mr_reg, pd, K(PD), 0),
	BITS(mr_reg, access, MR_ACCESS, 0),
	SIZE(mr_reg, addr, 0, ARENA / 2),
	SIZE(mr_reg, length, 1, ARENA / 2),
	RANDOM(mr_reg, iova),
	OUT(mr_reg, out_handle, out_rkey),
	ZERO(mr_reg, reserved));

SHAPE(mr_rereg,
	HANDLE(mr_rereg, mr, K(MR), 0),
	BITS(mr_rereg, change, XVERBS_REREG_TRANSLATION | XVERBS_REREG_ACCESS | XVERBS_REREG_PD,
	     0),
	HANDLE(mr_rereg, pd, K(PD), 0),
	BITS(mr_rereg, access, MR_ACCESS, 0),
	SIZE(mr_rereg, addr, 0, ARENA / 2),
	SIZE(mr_rereg, length, 1, ARENA / 2),
	RANDOM(mr_rereg, iova),
	OUT(mr_rereg, out_lkey, out_rkey));

SHAPE(mr_dmabuf,
	HANDLE(mr_dmabuf, pd, K(PD), 0),
	BITS(mr_dmabuf, access, MR_ACCESS, 0),
	SIZE(mr_dmabuf, offset, 0, DMABUF / 2),
	SIZE(mr_dmabuf, length, 1, DMABUF / 2),
	RANDOM(mr_dmabuf, iova),
	RANGE(mr_dmabuf, fd, 0, 20),
	OUT(mr_dmabuf, out_handle, out_rkey));

SHAPE(mw_alloc,
	HANDLE(mw_alloc, pd, K(PD), 0),
	RANGE(mw_alloc, type, 1, 2),
	OUT(mw_alloc, out_handle, out_rkey));

SHAPE(umem_reg,
	MULTIPLE(umem_reg, addr, PAGE, 64),
	MULTIPLE(umem_reg, length, PAGE, 64),
	OUT(umem_reg, out_handle, out_handle),
	RANGE(umem_reg, fd, 0, 0));

SHAPE(xrcd_open,
	RANGE(xrcd_open, fd, 0, 20),
	OUT(xrcd_open, out_handle, out_xrcdn),
	ZERO(xrcd_open, reserved));

SHAPE(channel_alloc,
	ONE(channel_alloc, event_size, 0, 8, 16, XVERBS_EVENT_SIZE_MAX),
	ZERO(channel_alloc, reserved),
	OUT(channel_alloc, out_handle, out_fd));

SHAPE(cq_create,
	HANDLE(cq_create, uar, K(UAR), 0),
	HANDLE(cq_create, channel, K(CHANNEL), 30),
	SIZE(cq_create, entries, 1, 2000),
	ONE(cq_create, cqe_bytes, 64, 128),
	RANGE(cq_create, comp_vector, 0, 0),
	ZERO(cq_create, reserved),
	RANDOM(cq_create, user_data),
	OUT(cq_create, out_handle, out_dbr),
	PART(cq_create, external, external, 15));

SHAPE(cq_modify,
	HANDLE(cq_modify, cq, K(CQ), 0),
	RANGE(cq_modify, change, 1, XVERBS_CQ_MODERATION | XVERBS_CQ_OVERRUN),
	SIZE(cq_modify, count, 0, 0xffff),
	SIZE(cq_modify, period_us, 0, 0xfff),
	RANGE(cq_modify, ignore_overrun, 0, 1),
	ZERO(cq_modify, reserved));

SHAPE(cq_resize,
	HANDLE(cq_resize, cq, K(CQ), 0),
	SIZE(cq_resize, entries, 1, 3000),
	OUT(cq_resize, out_entries, out_entries),
	ZERO(cq_resize, reserved),
	OUT(cq_resize, out_ring, out_ring));

SHAPE(srq_create,
	HANDLE(srq_create, pd, K(PD), 0),
	RANGE(srq_create, layout, XVERBS_SRQ_LINKED, XVERBS_SRQ_CONTIGUOUS),
	SIZE(srq_create, max_wr, 8, 500),
	RANGE(srq_create, max_sge, 1, 4),
	RANGE(srq_create, limit, 0, 4),
	HANDLE(srq_create, xrcd, K(XRCD), 0),
	HANDLE(srq_create, cq, K(CQ), 0),
	RANGE(srq_create, user_index, 0, 0xffffff),
	RANDOM(srq_create, user_data),
	OUT(srq_create, out_handle, out_dbr_offset),
	ZERO(srq_create, reserved),
	OUT(srq_create, out_ring, out_dbr),
	PART(srq_create, external, external, 15));

SHAPE(srq_modify,
	HANDLE(srq_modify, srq, ANY_SRQ, 0),
	RANGE(srq_modify, limit, 0, 8));

SHAPE(srq_query,
	HANDLE(srq_query, srq, ANY_SRQ, 0),
	OUT(srq_query, out_max_wr, out_limit));

SHAPE(qp_create,
	ONE(qp_create, type, XVERBS_QPT_RC, XVERBS_QPT_RC, XVERBS_QPT_UC, XVERBS_QPT_UD,
	    XVERBS_QPT_UD, XVERBS_QPT_XRC_SEND, XVERBS_QPT_XRC_RECV, XVERBS_QPT_XRC_RECV,
	    XVERBS_QPT_DCI),
	HANDLE(qp_create, pd, K(PD), 0),
	HANDLE(qp_create, send_cq, K(CQ), 0),
	HANDLE(qp_create, recv_cq, K(CQ), 0),
	HANDLE(qp_create, srq, K(SRQ), 60),
	HANDLE(qp_create, uar, K(UAR), 0),
	HANDLE(qp_create, xrcd, K(XRCD), 0),
	RANGE(qp_create, user_index, 0, 0xffffff),
	RANDOM(qp_create, user_data),
	PART(qp_create, cap, qp_cap, 100),
	ROOM(qp_create, out_cap, qp_cap, 50),
	PART(qp_create, external, external, 15),
	OUT(qp_create, out_handle, out_dbr));

SHAPE(qp_modify,
	HANDLE(qp_modify, qp, ANY_QP, 0),
	BITS(qp_modify, attr_mask, 0, XVERBS_QP_STATE),
	PART(qp_modify, attr, qp_attr, 100),
	PART(qp_modify, ah_attr, ah_attr, 100),
	PART(qp_modify, alt_ah_attr, ah_attr, 10),
	OUT(qp_modify, out_state, out_state),
	ZERO(qp_modify, reserved));

SHAPE(qp_query,
	HANDLE(qp_query, qp, ANY_QP, 0),
	ZERO(qp_query, reserved),
	ROOM(qp_query, out_attr, qp_attr, 60),
	ROOM(qp_query, out_ah_attr, ah_attr, 50),
	ROOM(qp_query, out_alt_ah_attr, ah_attr, 50),
	ROOM(qp_query, out_cap, qp_cap, 50),
	ROOM(qp_query, out_init, qp_init, 50));

SHAPE(qp_open,
	HANDLE(qp_open, xrcd, K(XRCD), 0),
	RANGE(qp_open, qpn, 0, 0xffffff),
	RANDOM(qp_open, user_data),
	OUT(qp_open, out_handle, out_handle),
	ZERO(qp_open, reserved));

SHAPE(ah_resolve,
	HANDLE(ah_resolve, pd, K(PD), 0),
	ZERO(ah_resolve, reserved),
	PART(ah_resolve, attr, ah_attr, 100),
	OUT(ah_resolve, out_av, out_av));

SHAPE(mcast,
	HANDLE(mcast, qp, K(UD_QP), 0),
	RANGE(mcast, lid, 0xc000, 0xc002),
	RANDOM(mcast, gid));

SHAPE(dct_create,
	HANDLE(dct_create, pd, K(PD), 0),
	HANDLE(dct_create, cq, K(CQ), 0),
	HANDLE(dct_create, srq, K(SRQ), 0),
	RANGE(dct_create, user_index, 0, 0xffffff),
	RANDOM(dct_create, user_data),
	PART(dct_create, attr, dct_attr, 100),
	OUT(dct_create, out_handle, out_dctn));

SHAPE(dct_query,
	HANDLE(dct_query, dct, K(DCT), 0),
	OUT(dct_query, out_state, out_user_index),
	ROOM(dct_query, out_attr, dct_attr, 50));

SHAPE(dct_arm,
	HANDLE(dct_arm, dct, K(DCT), 0),
	ZERO(dct_arm, reserved));

SHAPE(mkey_create,
	HANDLE(mkey_create, pd, K(PD), 0),
	SIZE(mkey_create, max_entries, 1, 500),
	OUT(mkey_create, out_handle, out_max_entries),
	ZERO(mkey_create, reserved));

SHAPE(mkey_query,
	HANDLE(mkey_query, mkey, K(MKEY), 0),
	OUT(mkey_query, out_max_entries, out_filled),
	ZERO(mkey_query, reserved));

/* ---- Members that depend on each other ----------------------------------------------- */

/* A part of the call that is present, or NULL */
static void *part(const struct made *m, const struct xverbs_part *p)
{
	uint8_t *begin = (uint8_t *)m->t->scratch, *at = (uint8_t *)(uintptr_t)p->addr;

	return at >= begin && at < begin + sizeof(struct scratch) ? at : NULL;
}

static void absent(struct xverbs_part *p)
{
	*p = (struct xverbs_part) {};
}

/* A file that is not bound; the call uses it instead of a bound one. */
static void relate_bind(struct made *m)
{
	struct xverbs_bind *a = m->arg;

	m->to.fd = m->close_fd[0] = open("/dev/xverbs", O_RDWR | O_CLOEXEC);
	if (chance(m->t, 10))
		return;
	/* Without the node, the call fails. */
	a->hdr.flags = XVERBS_BIND_BY_FD;
	a->fd = m->close_fd[1] = open(world->node[a->index % 2], O_RDWR | O_CLOEXEC);
}

static void relate_import(struct made *m)
{
	const struct stock_pds *pds = &world->pds[process.index][below(m->t, THREADS)];
	struct xverbs_pd_import *a = m->arg;
	uint32_t i = below(m->t, ARRAY_SIZE(pds->handle)), n;

	for (n = 0; n < ARRAY_SIZE(pds->handle) && !pds->handle[i]; n++)
		i = (i + 1) % ARRAY_SIZE(pds->handle);
	a->fd = pds->fd;
	a->pd = pds->handle[i] - 1;
	if (chance(m->t, 80))
		a->number = 0;
}

/* Rights to write need the right to write locally; an offset becomes an address. */
static void region(struct made *m, __u32 *access, __u64 *addr, __u64 *iova, uint64_t base)
{
	if (*access & (XVERBS_ACCESS_REMOTE_WRITE | XVERBS_ACCESS_REMOTE_ATOMIC |
		       XVERBS_ACCESS_MW_BIND))
		*access |= XVERBS_ACCESS_LOCAL_WRITE;
	*addr += base;
	if (chance(m->t, 70))
		*iova = *addr;
	else
		*iova = ALIGN_DOWN(*iova >> 8, PAGE) | *addr % PAGE;
}

static void region_in_arena(struct made *m, __u32 *access, __u64 *addr, __u64 *iova)
{
	region(m, access, addr, iova, (uintptr_t)process.arena);
	if (chance(m->t, 10)) {
		*access |= XVERBS_ACCESS_ZERO_BASED;
		*iova = 0;
	}
}

static void relate_mr(struct made *m)
{
	struct xverbs_mr_reg *a = m->arg;

	region_in_arena(m, &a->access, &a->addr, &a->iova);
}

static void relate_rereg(struct made *m)
{
	struct xverbs_mr_rereg *a = m->arg;

	if (!a->change)
		a->change = XVERBS_REREG_PD;
	region_in_arena(m, &a->access, &a->addr, &a->iova);
}

static void relate_dmabuf(struct made *m)
{
	struct xverbs_mr_dmabuf *a = m->arg;

	region(m, &a->access, &a->offset, &a->iova, 0);
	a->fd = world->dmabuf;
}

static void relate_umem(struct made *m)
{
	struct xverbs_umem_reg *a = m->arg;

	a->length += PAGE;
	if (a->hdr.flags & XVERBS_UMEM_DMABUF)
		a->fd = world->dmabuf;
	else
		a->addr += (uintptr_t)process.arena;
}

static void relate_xrcd(struct made *m)
{
	struct xverbs_xrcd_open *a = m->arg;

	if (chance(m->t, 30))
		a->hdr.flags = 0;
	else
		a->hdr.flags = XVERBS_XRCD_SHARED | XVERBS_XRCD_CREATE;
	a->fd = world->shared_fd[below(m->t, ARRAY_SIZE(world->shared_fd))];
}

static void relate_srq(struct made *m)
{
	struct xverbs_srq_create *a = m->arg;

	if (chance(m->t, 60))
		a->xrcd = a->cq = a->user_index = 0;
}

static void relate_qp(struct made *m)
{
	struct xverbs_qp_create *a = m->arg;
	struct xverbs_qp_cap *cap = part(m, &a->cap);

	if (!cap)
		return;
	if (a->type == XVERBS_QPT_XRC_RECV) {
		*cap = (struct xverbs_qp_cap) {};
		a->pd = a->send_cq = a->recv_cq = a->srq = a->uar = a->hdr.flags = 0;
		absent(&a->external);
		return;
	}
	a->xrcd = 0;
	if (a->type == XVERBS_QPT_XRC_SEND || a->type == XVERBS_QPT_DCI)
		a->recv_cq = a->srq = cap->max_recv_wr = cap->max_recv_sge = 0;
	if (a->srq)
		cap->max_recv_wr = cap->max_recv_sge = 0;
	if (a->type == XVERBS_QPT_UD)
		a->hdr.flags = 0;
	if (a->type == XVERBS_QPT_UD || a->type == XVERBS_QPT_UC)
		cap->max_atomic_arg = 0;
	if (!cap->max_recv_wr)
		a->hdr.flags &= ~XVERBS_QP_MANAGED_RECV;
	if (!cap->max_send_wr)
		a->hdr.flags &= XVERBS_QP_MANAGED_RECV;
}

/* Mostly the address of the device itself */
static void relate_path(struct made *m, struct xverbs_ah_attr *ah)
{
	if (ah && chance(m->t, 90)) {
		*ah = m->to.file->path;
		ah->sl = below(m->t, 8);
		ah->flow_label = below(m->t, 1u << 20);
	}
}

/* What a transition to the state needs; for each type, the bits of the types that need it. */
static uint32_t needed(uint32_t type, uint32_t to)
{
	const uint32_t rc = XVERBS_QP_AV | XVERBS_QP_PATH_MTU | XVERBS_QP_DEST_QPN |
			    XVERBS_QP_RQ_PSN;
	bool send = type == XVERBS_QPT_RC || type == XVERBS_QPT_XRC_SEND ||
		    type == XVERBS_QPT_DCI;
	uint32_t mask = 0;

	switch (to) {
	case XVERBS_QPS_INIT:
		mask = XVERBS_QP_PKEY_INDEX | XVERBS_QP_PORT;
		if (type == XVERBS_QPT_UD)
			mask |= XVERBS_QP_QKEY;
		else
			mask |= XVERBS_QP_ACCESS_FLAGS;
		break;
	case XVERBS_QPS_RTR:
		if (type == XVERBS_QPT_DCI)
			mask = XVERBS_QP_PATH_MTU;
		else if (type != XVERBS_QPT_UD)
			mask = rc;
		if (type == XVERBS_QPT_RC || type == XVERBS_QPT_XRC_RECV)
			mask |= XVERBS_QP_MAX_DEST_RD_ATOMIC | XVERBS_QP_MIN_RNR_TIMER;
		break;
	case XVERBS_QPS_RTS:
		if (type != XVERBS_QPT_DCI)
			mask = XVERBS_QP_SQ_PSN;
		if (send)
			mask |= XVERBS_QP_TIMEOUT | XVERBS_QP_RETRY_CNT | XVERBS_QP_RNR_RETRY |
				XVERBS_QP_MAX_QP_RD_ATOMIC;
		if (type == XVERBS_QPT_XRC_RECV)
			mask |= XVERBS_QP_TIMEOUT;
		break;
	}
	return mask;
}

/* The next state on the way to RTS, or another one that the state allows */
static uint32_t next_state(struct made *m, uint32_t state)
{
	static const uint8_t up[] = {
		[XVERBS_QPS_RESET] = XVERBS_QPS_INIT, [XVERBS_QPS_INIT] = XVERBS_QPS_RTR,
		[XVERBS_QPS_RTR] = XVERBS_QPS_RTS, [XVERBS_QPS_RTS] = XVERBS_QPS_SQD,
		[XVERBS_QPS_SQD] = XVERBS_QPS_RTS, [XVERBS_QPS_SQE] = XVERBS_QPS_RTS,
		[XVERBS_QPS_ERR] = XVERBS_QPS_RESET,
	};

	if (chance(m->t, 10))
		return chance(m->t, 50) ? XVERBS_QPS_RESET : XVERBS_QPS_ERR;
	/* Most stay in RTS, where they have work. */
	if (state == XVERBS_QPS_RTS && chance(m->t, 70))
		return XVERBS_QPS_RTS;
	return up[state % ARRAY_SIZE(up)];
}

/* Any queue pair of the device, of this file or of another one */
static uint32_t some_qpn(struct made *m)
{
	struct file *file = &world->file[below(m->t, PROCS)][below(m->t, FILES)];
	const struct object *o = draw_object(m->t, chance(m->t, 50) ? file : m->to.file, ANY_QP);

	return o ? o->number : 1;
}

static void relate_modify(struct made *m)
{
	static const uint32_t extra[] = {
		0, 0, 0, XVERBS_QP_CUR_STATE, XVERBS_QP_MIN_RNR_TIMER, XVERBS_QP_ACCESS_FLAGS,
		XVERBS_QP_ALT_PATH, XVERBS_QP_PATH_MIG_STATE, XVERBS_QP_ECE, XVERBS_QP_QKEY,
		XVERBS_QP_EN_SQD_ASYNC_NOTIFY, XVERBS_QP_DC_KEY, XVERBS_QP_CAP,
	};
	struct xverbs_qp_modify *a = m->arg;
	struct xverbs_qp_attr *attr = part(m, &a->attr);
	const struct object *o = find_handle(m->to.file, ANY_QP, a->qp);
	uint32_t from = o ? o->state : XVERBS_QPS_RESET;

	if (!attr)
		return;
	attr->cur_qp_state = from;
	attr->qp_state = next_state(m, from);
	attr->dest_qp_num = some_qpn(m);
	if (attr->qp_state != from && (from != XVERBS_QPS_SQD || attr->qp_state != XVERBS_QPS_RTS))
		a->attr_mask |= needed(o ? o->type : XVERBS_QPT_RC, attr->qp_state);
	a->attr_mask |= extra[below(m->t, chance(m->t, 30) ? ARRAY_SIZE(extra) : 1)];
	relate_path(m, part(m, &a->ah_attr));
	relate_path(m, part(m, &a->alt_ah_attr));
}

/* A target of any file, and the domain of this file that it is in */
static void relate_open(struct made *m)
{
	struct file *file = &world->file[below(m->t, PROCS)][below(m->t, FILES)];
	const struct object *o, *xrcd;
	struct xverbs_qp_open *a = m->arg;

	o = draw_object(m->t, chance(m->t, 50) ? m->to.file : file, K(XRC_TARGET));
	if (!o)
		return;
	a->qpn = o->number;
	xrcd = find_number(m->to.file, K(XRCD), o->xrcd);
	if (xrcd)
		a->xrcd = xrcd->handle;
}

static void relate_ah(struct made *m)
{
	struct xverbs_ah_resolve *a = m->arg;

	relate_path(m, part(m, &a->attr));
}

static void set_group(struct xverbs_mcast *a, uint8_t group)
{
	memset(a->gid, 0, sizeof(a->gid));
	a->gid[0] = 0xff;
	a->gid[1] = 0x0e;
	a->gid[15] = group;
}

/* One of four groups */
static void relate_attach(struct made *m)
{
	set_group(m->arg, below(m->t, 4));
}

/* A group of a queue pair that has one */
static void relate_detach(struct made *m)
{
	unsigned int i, from = below(m->t, SLOTS);
	const struct object *qp;
	uint32_t groups;

	set_group(m->arg, below(m->t, 4));
	for (i = 0; i < SLOTS; i++) {
		qp = &m->to.file->slot[UD_QP][(from + i) % SLOTS];
		groups = *(const volatile uint32_t *)&qp->groups;
		if (!groups)
			continue;
		((struct xverbs_mcast *)m->arg)->qp = qp->handle;
		set_group(m->arg, (uint8_t)__builtin_ctz(groups));
		return;
	}
}

/* ---- After success ------------------------------------------------------------------- */

/* CHANNEL_ALLOC: the descriptor replaces that of an older channel. */
static void done_channel(struct made *m, struct object *o)
{
	const struct xverbs_channel_alloc *a = m->arg;
	int *at = &process.channel[below(m->t, CHANNELS)], old = *at;

	(void)o;
	*at = a->out_fd;
	if (old >= 0)
		close(old);
}

static void done_pd(struct made *m, struct object *o)
{
	o->number = ((struct xverbs_pd_alloc *)m->arg)->out_pdn;
}

static void done_import(struct made *m, struct object *o)
{
	o->number = ((struct xverbs_pd_import *)m->arg)->out_pdn;
}

static void done_uar(struct made *m, struct object *o)
{
	const struct xverbs_uar_alloc *a = m->arg;

	o->number = a->out_page_id;
	o->ring = a->out_map;
}

static void done_mr(struct made *m, struct object *o)
{
	const struct xverbs_mr_reg *a = m->arg;

	o->number = a->out_lkey;
	o->rkey = a->out_rkey;
	o->addr = a->iova;
	o->length = a->length;
}

static void done_rereg(struct made *m, struct object *o)
{
	const struct xverbs_mr_rereg *a = m->arg;

	o = find_handle(m->to.file, K(MR), a->mr);
	if (!o)
		return;
	o->number = a->out_lkey;
	o->rkey = a->out_rkey;
	if (a->change & XVERBS_REREG_TRANSLATION) {
		o->addr = a->iova;
		o->length = a->length;
	}
}

static void done_dmabuf(struct made *m, struct object *o)
{
	const struct xverbs_mr_dmabuf *a = m->arg;

	o->number = a->out_lkey;
	o->rkey = a->out_rkey;
	o->addr = a->iova;
	o->length = a->length;
}

static void done_mw(struct made *m, struct object *o)
{
	o->number = o->rkey = ((struct xverbs_mw_alloc *)m->arg)->out_rkey;
}

static void done_mkey(struct made *m, struct object *o)
{
	o->number = o->rkey = ((struct xverbs_mkey_create *)m->arg)->out_key;
}

static void done_xrcd(struct made *m, struct object *o)
{
	o->number = ((struct xverbs_xrcd_open *)m->arg)->out_xrcdn;
}

static void done_cq(struct made *m, struct object *o)
{
	const struct xverbs_cq_create *a = m->arg;

	o->number = a->out_cqn;
	o->uar = a->uar;
	o->ring = a->out_ring;
	o->dbr = a->out_dbr;
	o->dbr_offset = a->out_dbr_offset;
	o->entries = a->out_entries;
	o->stride = a->cqe_bytes;
}

static void done_resize(struct made *m, struct object *o)
{
	const struct xverbs_cq_resize *a = m->arg;

	o = find_handle(m->to.file, K(CQ), a->cq);
	if (!o)
		return;
	o->ring = a->out_ring;
	o->entries = a->out_entries;
}

static void done_srq(struct made *m, struct object *o)
{
	const struct xverbs_srq_create *a = m->arg;

	o->number = a->out_srqn;
	o->ring = a->out_ring;
	o->dbr = a->out_dbr;
	o->dbr_offset = a->out_dbr_offset;
	o->rq_entries = a->out_wqes;
	o->rq_stride = a->out_stride;
	o->linked = a->layout == XVERBS_SRQ_LINKED;
}

static void done_qp(struct made *m, struct object *o)
{
	const struct xverbs_qp_create *a = m->arg;
	const struct object *xrcd = find_handle(m->to.file, K(XRCD), a->xrcd);

	o->number = a->out_qpn;
	o->type = a->type;
	o->uar = a->uar;
	o->xrcd = xrcd ? xrcd->number : 0;
	o->ring = a->out_ring;
	o->dbr = a->out_dbr;
	o->dbr_offset = a->out_dbr_offset;
	o->sq_offset = a->out_sq_offset;
	o->entries = a->out_sq_wqebbs;
	o->stride = MLX5R_WQEBB;
	o->rq_entries = a->out_rq_wqes;
	o->rq_stride = a->out_rq_stride;
}

static void done_open(struct made *m, struct object *o)
{
	const struct xverbs_qp_open *a = m->arg;
	const struct object *xrcd = find_handle(m->to.file, K(XRCD), a->xrcd);

	o->number = a->qpn;
	o->type = XVERBS_QPT_XRC_RECV;
	o->xrcd = xrcd ? xrcd->number : 0;
}

static void done_modify(struct made *m, struct object *o)
{
	const struct xverbs_qp_modify *a = m->arg;

	o = find_handle(m->to.file, ANY_QP, a->qp);
	if (!o)
		return;
	o->state = a->out_state;
	if (o->state == XVERBS_QPS_RESET)
		o->pi = o->rq_pi = 0;
}

static void done_ah(struct made *m, struct object *o)
{
	(void)o;
	memcpy(m->to.file->av, ((struct xverbs_ah_resolve *)m->arg)->out_av,
	       sizeof(m->to.file->av));
}

static void done_attach(struct made *m, struct object *o)
{
	const struct xverbs_mcast *a = m->arg;

	o = find_handle(m->to.file, K(UD_QP), a->qp);
	if (o)
		o->groups |= 1u << (a->gid[15] & 3);
}

static void done_detach(struct made *m, struct object *o)
{
	const struct xverbs_mcast *a = m->arg;

	o = find_handle(m->to.file, K(UD_QP), a->qp);
	if (o)
		o->groups &= ~(1u << (a->gid[15] & 3));
}

static void done_dct(struct made *m, struct object *o)
{
	o->number = ((struct xverbs_dct_create *)m->arg)->out_dctn;
}

/* The slot of the object becomes empty. */
static void done_destroy(struct made *m, struct object *o)
{
	uint32_t handle = ((struct xverbs_destroy *)m->arg)->handle;

	o = find_handle(m->to.file, ANY_KIND, handle);
	if (o)
		o->handle = 0;
	m->to.file->stale[handle % STALE] = handle;
}

static enum kind kind_of_qp(const struct made *m)
{
	switch (((struct xverbs_qp_create *)m->arg)->type) {
	case XVERBS_QPT_XRC_RECV:
		return XRC_TARGET;
	case XVERBS_QPT_UD:
		return UD_QP;
	default:
		return QP;
	}
}

static enum kind kind_of_srq(const struct made *m)
{
	return ((struct xverbs_srq_create *)m->arg)->xrcd ? XRC_SRQ : SRQ;
}

/* ---- The table ----------------------------------------------------------------------- */

#define CALL(_nr, _type, _weight, ...)							\
	{ .name = #_nr, .cmd = XVERBS_##_nr, .shape = &shape_##_type, .weight = (_weight),	\
	  __VA_ARGS__ }
/* The call creates an object. */
#define MAKE(_nr, _type, _weight, _kinds, ...)						\
	CALL(_nr, _type, _weight, .kinds = (_kinds),					\
	     .handle = offsetof(struct xverbs_##_type, out_handle), __VA_ARGS__)

const struct call calls[] = {
	CALL(LIST_DEVICES, list_devices, 2),
	CALL(BIND, bind, 2, .flags = XVERBS_BIND_BY_INDEX | XVERBS_BIND_BY_FD,
	     .relate = relate_bind),
	CALL(DESTROY, destroy, 20, .done = done_destroy),
	CALL(QUERY_DEVICE, query_device, 2),
	CALL(QUERY_PORT, query_port, 2),
	CALL(QUERY_GID, query_gid, 2),
	CALL(QUERY_PKEY, query_pkey, 2),
	CALL(QUERY_FEATURES, query_features, 2),
	CALL(CLOCK_MAP, clock_map, 2),
	MAKE(PD_ALLOC, pd_alloc, 6, K(PD), .done = done_pd),
	MAKE(PD_IMPORT, pd_import, 10, K(PD), .relate = relate_import, .done = done_import),
	MAKE(UAR_ALLOC, uar_alloc, 4, K(UAR), .flags = XVERBS_UAR_NC, .done = done_uar),
	MAKE(MR_REG, mr_reg, 10, K(MR), .relate = relate_mr, .done = done_mr),
	CALL(MR_REREG, mr_rereg, 20, .relate = relate_rereg, .done = done_rereg),
	MAKE(MR_DMABUF, mr_dmabuf, 4, K(DMABUF_MR), .relate = relate_dmabuf, .done = done_dmabuf),
	MAKE(MW_ALLOC, mw_alloc, 4, K(MW), .done = done_mw),
	MAKE(UMEM_REG, umem_reg, 4, K(UMEM), .flags = XVERBS_UMEM_DMABUF, .relate = relate_umem),
	MAKE(XRCD_OPEN, xrcd_open, 6, K(XRCD), .relate = relate_xrcd, .done = done_xrcd,
	     .flags = XVERBS_XRCD_SHARED | XVERBS_XRCD_CREATE | XVERBS_XRCD_EXCLUSIVE),
	MAKE(CHANNEL_ALLOC, channel_alloc, 4, K(CHANNEL), .flags = XVERBS_CHANNEL_NONBLOCK,
	     .done = done_channel),
	MAKE(CQ_CREATE, cq_create, 10, K(CQ), .done = done_cq,
	     .flags = XVERBS_CQ_IGNORE_OVERRUN | XVERBS_CQ_COLLAPSED | XVERBS_CQ_CROSS_CHANNEL),
	CALL(CQ_MODIFY, cq_modify, 4),
	CALL(CQ_RESIZE, cq_resize, 6, .done = done_resize),
	MAKE(SRQ_CREATE, srq_create, 8, ANY_SRQ, .relate = relate_srq, .done = done_srq,
	     .kind_of = kind_of_srq),
	CALL(SRQ_MODIFY, srq_modify, 4),
	CALL(SRQ_QUERY, srq_query, 4),
	MAKE(QP_CREATE, qp_create, 16, ANY_QP, .relate = relate_qp, .done = done_qp,
	     .kind_of = kind_of_qp,
	     .flags = XVERBS_QP_CROSS_CHANNEL | XVERBS_QP_MANAGED_SEND | XVERBS_QP_MANAGED_RECV),
	CALL(QP_MODIFY, qp_modify, 80, .relate = relate_modify, .done = done_modify),
	CALL(QP_QUERY, qp_query, 6),
	MAKE(QP_OPEN, qp_open, 6, K(XRC_TARGET), .relate = relate_open, .done = done_open),
	CALL(AH_RESOLVE, ah_resolve, 4, .relate = relate_ah, .done = done_ah),
	CALL(MCAST_ATTACH, mcast, 4, .relate = relate_attach, .done = done_attach),
	CALL(MCAST_DETACH, mcast, 4, .relate = relate_detach, .done = done_detach),
	MAKE(DCT_CREATE, dct_create, 6, K(DCT), .done = done_dct),
	CALL(DCT_QUERY, dct_query, 4),
	CALL(DCT_ARM, dct_arm, 4),
	MAKE(MKEY_CREATE, mkey_create, 4, K(MKEY), .flags = XVERBS_MKEY_REMOTE_INVALIDATE,
	     .done = done_mkey),
	CALL(MKEY_QUERY, mkey_query, 4),
};
const unsigned int n_calls = ARRAY_SIZE(calls);
_Static_assert(ARRAY_SIZE(calls) <= MAX_CALLS, "calls are counted in an array of this size");
