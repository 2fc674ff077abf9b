// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * See common.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <doca_dev.h>
#include <doca_log.h>
#include "common.h"

DOCA_LOG_REGISTER(EXAMPLE);

enum { PORT = 1, ENTRIES = 16, TIMEOUT = 14, RETRIES = 7 };

_Noreturn void fail(const char *what, const char *why)
{
	DOCA_LOG_ERR("%s: %s", what, why);
	exit(1);
}

void check(doca_error_t result, const char *call)
{
	if (result != DOCA_SUCCESS)
		fail(call, doca_error_get_descr(result));
}

/* ---- Options ----------------------------------------------------------------------------- */

static doca_error_t set_name(void *param, void *config)
{
	((struct device *)config)->name = param;
	return DOCA_SUCCESS;
}

static doca_error_t set_gid_index(void *param, void *config)
{
	int index = *(int *)param;

	((struct device *)config)->gid_index = index;
	return index >= 0 && index <= UINT8_MAX ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

void add_option(const char *short_name, const char *long_name, const char *description,
		enum doca_argp_type type, doca_argp_param_cb_t set)
{
	struct doca_argp_param *param;

	CHECK(doca_argp_param_create(&param));
	CHECK(doca_argp_param_set_short_name(param, short_name));
	CHECK(doca_argp_param_set_long_name(param, long_name));
	CHECK(doca_argp_param_set_description(param, description));
	CHECK(doca_argp_param_set_type(param, type));
	CHECK(doca_argp_param_set_callback(param, set));
	CHECK(doca_argp_register_param(param));
}

void add_device_options(const char *short_gid_index)
{
	add_option("d", "device", "Name of the device", DOCA_ARGP_TYPE_STRING, set_name);
	add_option(short_gid_index, "gid-index", "GID index, default 0", DOCA_ARGP_TYPE_INT,
		   set_gid_index);
}

/* ---- Device ------------------------------------------------------------------------------ */

static void create_context(struct device *d)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t n, i;

	CHECK(doca_devinfo_create_list(&list, &n));
	for (i = 0; i < n; i++) {
		CHECK(doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)));
		if (!d->name || !strcmp(name, d->name))
			break;
	}
	if (i == n)
		fail("device", "not found");
	CHECK(doca_verbs_context_create(list[i], DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE, &d->ctx));
	CHECK(doca_devinfo_destroy_list(list));
}

void open_device(struct device *d)
{
	struct ibv_pd *pd;

	create_context(d);
	CHECK(doca_verbs_pd_create(d->ctx, &d->pd));
	d->memory = calloc(SLOTS, SLOT_SIZE);
	pd = doca_verbs_bridge_verbs_pd_get_ibv_pd(d->pd);
	if (!d->memory || !pd)
		fail("memory or protection domain", "out of memory");
	d->mr = ibv_reg_mr(pd, d->memory, SLOTS * SLOT_SIZE, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!d->mr)
		fail("ibv_reg_mr()", "cannot register memory");
}

void close_device(struct device *d)
{
	if (ibv_dereg_mr(d->mr))
		fail("ibv_dereg_mr()", "cannot deregister memory");
	free(d->memory);
	CHECK(doca_verbs_pd_destroy(d->pd));
	CHECK(doca_verbs_context_destroy(d->ctx));
}

/* ---- Queues ------------------------------------------------------------------------------ */

struct doca_verbs_cq *create_cq(struct device *d)
{
	struct doca_verbs_cq_attr *attr;
	struct doca_verbs_cq *cq;

	CHECK(doca_verbs_cq_attr_create(&attr));
	CHECK(doca_verbs_cq_attr_set_cq_size(attr, ENTRIES));
	CHECK(doca_verbs_cq_create(d->ctx, attr, &cq));
	CHECK(doca_verbs_cq_attr_destroy(attr));
	return cq;
}

struct doca_verbs_qp *create_qp(struct device *d, struct doca_verbs_cq *cq, bool waits)
{
	struct doca_verbs_qp_init_attr *attr;
	struct doca_verbs_qp *qp;

	CHECK(doca_verbs_qp_init_attr_create(&attr));
	CHECK(doca_verbs_qp_init_attr_set_pd(attr, d->pd));
	CHECK(doca_verbs_qp_init_attr_set_qp_type(attr, DOCA_VERBS_QP_TYPE_RC));
	CHECK(doca_verbs_qp_init_attr_set_send_cq(attr, cq));
	CHECK(doca_verbs_qp_init_attr_set_receive_cq(attr, cq));
	CHECK(doca_verbs_qp_init_attr_set_sq_wr(attr, ENTRIES / 2));
	CHECK(doca_verbs_qp_init_attr_set_rq_wr(attr, ENTRIES / 2));
	CHECK(doca_verbs_qp_init_attr_set_send_max_sges(attr, 1));
	CHECK(doca_verbs_qp_init_attr_set_receive_max_sges(attr, 1));
	CHECK(doca_verbs_qp_init_attr_set_core_direct_master(attr, waits));
	CHECK(doca_verbs_qp_create(d->ctx, attr, &qp));
	CHECK(doca_verbs_qp_init_attr_destroy(attr));
	return qp;
}

/* ---- Connections ------------------------------------------------------------------------- */

struct address get_address(struct device *d, struct doca_verbs_qp *qp)
{
	struct address a = { .qpn = doca_verbs_qp_get_qpn(qp), .rkey = d->mr->rkey,
			     .memory = (uintptr_t)d->memory };
	struct ibv_port_attr port;
	union ibv_gid gid;

	if (ibv_query_port(d->mr->context, PORT, &port) ||
	    ibv_query_gid(d->mr->context, PORT, d->gid_index, &gid))
		fail("port", "no LID or no GID");
	if (getrandom(&a.psn, sizeof(a.psn), 0) != sizeof(a.psn))
		fail("getrandom()", "no random number");
	a.psn &= 0xffffff;
	a.lid = port.lid;
	memcpy(a.gid.raw, gid.raw, sizeof(gid.raw));
	return a;
}

/* InfiniBand needs only the LID, which RoCE does not have. */
static struct doca_verbs_ah_attr *create_ah(struct device *d, const struct address *peer)
{
	bool ipv4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)peer->gid.raw);
	struct doca_verbs_ah_attr *ah;

	CHECK(doca_verbs_ah_attr_create(d->ctx, &ah));
	CHECK(doca_verbs_ah_attr_set_addr_type(ah, peer->lid ? DOCA_VERBS_ADDR_TYPE_IB_NO_GRH :
						   ipv4 ? DOCA_VERBS_ADDR_TYPE_IPv4 :
						   DOCA_VERBS_ADDR_TYPE_IPv6));
	CHECK(doca_verbs_ah_attr_set_dlid(ah, peer->lid));
	CHECK(doca_verbs_ah_attr_set_gid(ah, peer->gid));
	CHECK(doca_verbs_ah_attr_set_sgid_index(ah, (uint8_t)d->gid_index));
	CHECK(doca_verbs_ah_attr_set_hop_limit(ah, 64));
	return ah;
}

static void modify(struct doca_verbs_qp *qp, struct doca_verbs_qp_attr *attr,
		   enum doca_verbs_qp_state state, int mask)
{
	CHECK(doca_verbs_qp_attr_set_next_state(attr, state));
	CHECK(doca_verbs_qp_modify(qp, attr, mask | DOCA_VERBS_QP_ATTR_NEXT_STATE));
}

void connect_qp(struct device *d, struct doca_verbs_qp *qp, const struct address *own,
		const struct address *peer)
{
	struct doca_verbs_ah_attr *ah = create_ah(d, peer);
	struct doca_verbs_qp_attr *attr;

	CHECK(doca_verbs_qp_attr_create(&attr));
	CHECK(doca_verbs_qp_attr_set_port_num(attr, PORT));
	CHECK(doca_verbs_qp_attr_set_allow_remote_read(attr, 1));
	CHECK(doca_verbs_qp_attr_set_allow_remote_write(attr, 1));
	CHECK(doca_verbs_qp_attr_set_path_mtu(attr, DOCA_MTU_SIZE_1K_BYTES));
	CHECK(doca_verbs_qp_attr_set_ah_attr(attr, ah));
	CHECK(doca_verbs_qp_attr_set_dest_qp_num(attr, peer->qpn));
	CHECK(doca_verbs_qp_attr_set_rq_psn(attr, peer->psn));
	CHECK(doca_verbs_qp_attr_set_sq_psn(attr, own->psn));
	CHECK(doca_verbs_qp_attr_set_ack_timeout(attr, TIMEOUT));
	CHECK(doca_verbs_qp_attr_set_retry_cnt(attr, RETRIES));
	CHECK(doca_verbs_qp_attr_set_rnr_retry(attr, RETRIES));
	modify(qp, attr, DOCA_VERBS_QP_STATE_INIT, DOCA_VERBS_QP_ATTR_PORT_NUM |
	       DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ | DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE);
	modify(qp, attr, DOCA_VERBS_QP_STATE_RTR, DOCA_VERBS_QP_ATTR_PATH_MTU |
	       DOCA_VERBS_QP_ATTR_AH_ATTR | DOCA_VERBS_QP_ATTR_DEST_QP_NUM |
	       DOCA_VERBS_QP_ATTR_RQ_PSN);
	modify(qp, attr, DOCA_VERBS_QP_STATE_RTS, DOCA_VERBS_QP_ATTR_SQ_PSN |
	       DOCA_VERBS_QP_ATTR_ACK_TIMEOUT | DOCA_VERBS_QP_ATTR_RETRY_CNT |
	       DOCA_VERBS_QP_ATTR_RNR_RETRY);
	CHECK(doca_verbs_qp_attr_destroy(attr));
	CHECK(doca_verbs_ah_attr_destroy(ah));
}

/* ---- Data path --------------------------------------------------------------------------- */

static struct ibv_sge slot_sge(struct device *d, int slot, uint32_t size)
{
	return (struct ibv_sge) { (uintptr_t)d->memory[slot], size, d->mr->lkey };
}

void post_receive(struct device *d, struct doca_verbs_qp *qp, uint64_t wr_id, int slot)
{
	struct ibv_sge sge = slot_sge(d, slot, SLOT_SIZE);
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (doca_verbs_bridge_post_recv(qp, &wr, &bad))
		fail("receive", "cannot post it");
}

void post_send(struct device *d, struct doca_verbs_qp *qp, uint64_t wr_id,
	       enum ibv_wr_opcode opcode, int slot, uint32_t size, const struct address *remote)
{
	struct ibv_sge sge = slot_sge(d, slot, size);
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (remote) {
		wr.wr.rdma.remote_addr = remote->memory;
		wr.wr.rdma.rkey = remote->rkey;
	}
	if (doca_verbs_bridge_post_send(qp, &wr, &bad))
		fail("send", "cannot post it");
}

struct ibv_wc next_completion(struct doca_verbs_cq *cq)
{
	struct ibv_wc wc;
	int n;

	do {
		n = doca_verbs_bridge_poll_cq(cq, 1, &wc);
	} while (!n);
	if (n < 0)
		fail("completion queue", "cannot poll it");
	if (wc.status != IBV_WC_SUCCESS)
		fail("completion", ibv_wc_status_str(wc.status));
	return wc;
}
