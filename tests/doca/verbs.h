/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of DOCA Verbs share: a device, a context with a protection domain and registered
 * memory, and connected queue pairs.
 */
#ifndef TESTS_DOCA_VERBS_H
#define TESTS_DOCA_VERBS_H

#include <string.h>
#include <time.h>
#include <unistd.h>
#include <doca_rdma_bridge.h>
#include <doca_verbs.h>
#include <doca_verbs_bridge.h>
#include <xverbs/bridge.h>
#include "tap.h"

/* A call that the test itself needs */
#define NEED(call) do {								\
	doca_error_t r_ = (call);						\
	if (r_ != DOCA_SUCCESS)							\
		bail_out("%s:%d: %s: %s, %s", __FILE__, __LINE__, #call,	\
			 doca_error_get_name(r_), xv_last_error());		\
} while (0)

enum { LEN = 4096, PARTS = 4 };

static struct {
	struct doca_verbs_context *ctx;
	struct doca_verbs_pd *pd;
	struct ibv_pd *ibv;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint8_t gid_index;
	uint8_t buf[PARTS][LEN] __attribute__((aligned(LEN)));
} t;

/* Opens the first device. */
static inline struct doca_verbs_context *open_first(void)
{
	struct doca_verbs_context *ctx;
	struct doca_devinfo **list;
	uint32_t n;

	NEED(doca_devinfo_create_list(&list, &n));
	if (!n)
		tap_skip_all("no device");
	NEED(doca_verbs_context_create(list[0], DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE, &ctx));
	NEED(doca_devinfo_destroy_list(list));
	return ctx;
}

/* The GID that programs commonly use */
static inline uint8_t common_gid(struct ibv_context *ctx)
{
	struct xv_context *xv = xv_bridge_get_ctx(ctx);
	int index = xv ? xv_default_gid_index(xv, 1) : 0;

	return index < 0 ? 0 : (uint8_t)index;
}

/* The memory and the address of the side; ctx and pd exist. */
static inline void setup_memory(void)
{
	t.ibv = doca_verbs_bridge_verbs_pd_get_ibv_pd(t.pd);
	if (!t.ibv)
		bail_out("no PD of libibverbs");
	t.mr = ibv_reg_mr(t.ibv, t.buf, sizeof(t.buf), IBV_ACCESS_LOCAL_WRITE |
			  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			  IBV_ACCESS_REMOTE_ATOMIC);
	if (!t.mr || ibv_query_port(t.ibv->context, 1, &t.port))
		bail_out("no memory region or no port");
	t.gid_index = common_gid(t.ibv->context);
	if (ibv_query_gid(t.ibv->context, 1, t.gid_index, &t.gid))
		bail_out("no GID");
}

static inline void setup(void)
{
	t.ctx = open_first();
	NEED(doca_verbs_pd_create(t.ctx, &t.pd));
	setup_memory();
}

static inline void teardown(void)
{
	tap_is(ibv_dereg_mr(t.mr), 0, "the memory is deregistered");
	tap_is(doca_verbs_pd_destroy(t.pd), DOCA_SUCCESS, "the PD is destroyed");
	tap_is(doca_verbs_context_destroy(t.ctx), DOCA_SUCCESS, "the context is destroyed");
}

static inline struct doca_verbs_cq *make_cq(struct doca_verbs_comp_channel *channel)
{
	struct doca_verbs_cq_attr *attr;
	struct doca_verbs_cq *cq;

	NEED(doca_verbs_cq_attr_create(&attr));
	NEED(doca_verbs_cq_attr_set_cq_size(attr, 64));
	NEED(doca_verbs_cq_attr_set_cq_context(attr, &t));
	if (channel)
		NEED(doca_verbs_cq_attr_set_comp_channel(attr, channel));
	NEED(doca_verbs_cq_create(t.ctx, attr, &cq));
	NEED(doca_verbs_cq_attr_destroy(attr));
	return cq;
}

static inline struct doca_verbs_qp_init_attr *qp_attrs(struct doca_verbs_cq *cq, uint32_t type)
{
	struct doca_verbs_qp_init_attr *attr;

	NEED(doca_verbs_qp_init_attr_create(&attr));
	NEED(doca_verbs_qp_init_attr_set_pd(attr, t.pd));
	NEED(doca_verbs_qp_init_attr_set_send_cq(attr, cq));
	NEED(doca_verbs_qp_init_attr_set_receive_cq(attr, cq));
	NEED(doca_verbs_qp_init_attr_set_qp_type(attr, type));
	NEED(doca_verbs_qp_init_attr_set_sq_wr(attr, 16));
	NEED(doca_verbs_qp_init_attr_set_rq_wr(attr, 16));
	NEED(doca_verbs_qp_init_attr_set_send_max_sges(attr, 1));
	NEED(doca_verbs_qp_init_attr_set_receive_max_sges(attr, 1));
	return attr;
}

/* Creates a queue pair and destroys the attributes. */
static inline struct doca_verbs_qp *make_qp(struct doca_verbs_qp_init_attr *attr)
{
	struct doca_verbs_qp *qp;

	NEED(doca_verbs_qp_create(t.ctx, attr, &qp));
	NEED(doca_verbs_qp_init_attr_destroy(attr));
	return qp;
}

/* The address of this side */
static inline struct doca_verbs_ah_attr *make_ah(void)
{
	struct doca_verbs_ah_attr *ah;
	struct doca_verbs_gid gid;
	bool ib = t.port.link_layer == IBV_LINK_LAYER_INFINIBAND;

	memcpy(gid.raw, t.gid.raw, sizeof(gid.raw));
	NEED(doca_verbs_ah_attr_create(t.ctx, &ah));
	NEED(doca_verbs_ah_attr_set_addr_type(ah, ib ? DOCA_VERBS_ADDR_TYPE_IB_NO_GRH :
						       DOCA_VERBS_ADDR_TYPE_IPv4));
	NEED(doca_verbs_ah_attr_set_gid(ah, gid));
	NEED(doca_verbs_ah_attr_set_dlid(ah, t.port.lid));
	NEED(doca_verbs_ah_attr_set_sgid_index(ah, t.gid_index));
	NEED(doca_verbs_ah_attr_set_hop_limit(ah, 64));
	return ah;
}

enum {
	MASK_INIT = DOCA_VERBS_QP_ATTR_NEXT_STATE | DOCA_VERBS_QP_ATTR_PORT_NUM |
		    DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ | DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE |
		    DOCA_VERBS_QP_ATTR_ATOMIC_MODE,
	MASK_RTR = DOCA_VERBS_QP_ATTR_NEXT_STATE | DOCA_VERBS_QP_ATTR_PATH_MTU |
		   DOCA_VERBS_QP_ATTR_RQ_PSN | DOCA_VERBS_QP_ATTR_DEST_QP_NUM |
		   DOCA_VERBS_QP_ATTR_AH_ATTR,
	MASK_RTS_UC = DOCA_VERBS_QP_ATTR_NEXT_STATE | DOCA_VERBS_QP_ATTR_SQ_PSN,
	MASK_RTS = MASK_RTS_UC | DOCA_VERBS_QP_ATTR_ACK_TIMEOUT | DOCA_VERBS_QP_ATTR_RETRY_CNT |
		   DOCA_VERBS_QP_ATTR_RNR_RETRY,
};

static inline struct doca_verbs_qp_attr *connect_attrs(struct doca_verbs_ah_attr *ah,
						       uint32_t remote)
{
	struct doca_verbs_qp_attr *attr;

	NEED(doca_verbs_qp_attr_create(&attr));
	NEED(doca_verbs_qp_attr_set_port_num(attr, 1));
	NEED(doca_verbs_qp_attr_set_allow_remote_read(attr, 1));
	NEED(doca_verbs_qp_attr_set_allow_remote_write(attr, 1));
	NEED(doca_verbs_qp_attr_set_atomic_mode(attr, DOCA_VERBS_QP_ATOMIC_MODE_IB_SPEC));
	NEED(doca_verbs_qp_attr_set_path_mtu(attr, DOCA_MTU_SIZE_1K_BYTES));
	NEED(doca_verbs_qp_attr_set_rq_psn(attr, 0x123456));
	NEED(doca_verbs_qp_attr_set_sq_psn(attr, 0x123456));
	NEED(doca_verbs_qp_attr_set_dest_qp_num(attr, remote));
	NEED(doca_verbs_qp_attr_set_ah_attr(attr, ah));
	NEED(doca_verbs_qp_attr_set_ack_timeout(attr, 14));
	NEED(doca_verbs_qp_attr_set_retry_cnt(attr, 7));
	NEED(doca_verbs_qp_attr_set_rnr_retry(attr, 7));
	return attr;
}

static inline void to_state(struct doca_verbs_qp *qp, struct doca_verbs_qp_attr *attr,
			    enum doca_verbs_qp_state state, int mask)
{
	NEED(doca_verbs_qp_attr_set_next_state(attr, state));
	NEED(doca_verbs_qp_modify(qp, attr, mask));
}

static inline void connect_to(struct doca_verbs_qp *qp, uint32_t remote, int rts_mask)
{
	struct doca_verbs_ah_attr *ah = make_ah();
	struct doca_verbs_qp_attr *attr = connect_attrs(ah, remote);

	NEED(doca_verbs_ah_attr_destroy(ah));
	to_state(qp, attr, DOCA_VERBS_QP_STATE_INIT, MASK_INIT);
	to_state(qp, attr, DOCA_VERBS_QP_STATE_RTR, MASK_RTR);
	to_state(qp, attr, DOCA_VERBS_QP_STATE_RTS, rts_mask);
	NEED(doca_verbs_qp_attr_destroy(attr));
}

static inline void connect_both(struct doca_verbs_qp *a, struct doca_verbs_qp *b, int rts_mask)
{
	connect_to(a, doca_verbs_qp_get_qpn(b), rts_mask);
	connect_to(b, doca_verbs_qp_get_qpn(a), rts_mask);
}

/* ---- Data ------------------------------------------------------------------------------- */

static inline void fill(int part, uint32_t seed)
{
	for (int i = 0; i < LEN; i++)
		t.buf[part][i] = (uint8_t)(i * 31 + seed * 17 + (i >> 8));
}

static inline bool same(int a, int b)
{
	return !memcmp(t.buf[a], t.buf[b], LEN);
}

static inline struct ibv_sge part_sge(int part)
{
	return (struct ibv_sge) { (uintptr_t)t.buf[part], LEN, t.mr->lkey };
}

static inline int post_send(struct doca_verbs_qp *qp, enum ibv_wr_opcode opcode, int from,
			    int remote)
{
	struct ibv_sge sge = part_sge(from);
	struct ibv_send_wr wr = {
		.wr_id = 100 + (uint64_t)from,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)t.buf[remote], .rkey = t.mr->rkey },
	}, *bad = NULL;

	return doca_verbs_bridge_post_send(qp, &wr, &bad);
}

static inline int post_recv(struct doca_verbs_qp *qp, int into)
{
	struct ibv_sge sge = part_sge(into);
	struct ibv_recv_wr wr = { .wr_id = 200 + (uint64_t)into, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;

	return doca_verbs_bridge_post_recv(qp, &wr, &bad);
}

/* Polls one completion, for 10 seconds at most. */
static inline bool poll_one(struct doca_verbs_cq *cq, struct ibv_wc *wc)
{
	time_t end = time(NULL) + 10;

	while (time(NULL) <= end)
		if (doca_verbs_bridge_poll_cq(cq, 1, wc) == 1)
			return true;
	return false;
}

static inline bool completes(struct doca_verbs_cq *cq, uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	if (!poll_one(cq, &wc)) {
		diag("no completion");
		return false;
	}
	if (wc.status == IBV_WC_SUCCESS && wc.wr_id == wr_id && wc.opcode == opcode)
		return true;
	diag("wr_id %llu, status %d, opcode %d", (unsigned long long)wc.wr_id, wc.status,
	     wc.opcode);
	return false;
}

#endif
