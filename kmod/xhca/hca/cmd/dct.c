// SPDX-License-Identifier: GPL-2.0
/*
 * DC targets: the commands.  dci.c executes their messages.
 *
 * A DCT is a struct hca_qp without queues of its own: it receives from a shared receive queue.
 * Queue pairs and DCTs have their numbers from one table.
 *
 * A DCT is destroyed in two steps.  DRAIN_DCT: new messages get no answer, those in progress have
 * DRAIN_NS to complete, then an event says that the DCT is drained.  DESTROY_DCT needs a drained
 * DCT.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

#define DRAIN_NS	NSEC_PER_SEC

static enum hca_synd hca_dct_check_path(struct hca *hca, const void *dctc)
{
	u32 mtu = MLX5_GET(dctc, dctc, mtu);

	if (mtu < IB_MTU_256 || mtu > IB_MTU_4096)
		return HCA_SYND_QP_MTU;
	if (!MLX5_GET(dctc, dctc, port) || !hca_port_get(hca, MLX5_GET(dctc, dctc, port)))
		return HCA_SYND_QP_PORT;
	if (MLX5_GET(dctc, dctc, pkey_index) >= HCA_PKEYS)
		return HCA_SYND_QP_PKEY;
	if (MLX5_GET(dctc, dctc, my_addr_index) >= (hca->p.roce ? HCA_GIDS : HCA_VPORT_GIDS))
		return HCA_SYND_QP_GID;
	return HCA_OK;
}

static enum hca_synd hca_dct_find_resources(struct hca *hca, const struct hca_cmd *c,
					     struct hca_qp *dct, const void *dctc)
{
	u32 counter = MLX5_GET(dctc, dctc, counter_set_id);

	dct->pd = MLX5_GET(dctc, dctc, pd);
	if (!hca_devx_own(c, &hca->pds, dct->pd))
		return HCA_SYND_PD;
	dct->srq = hca_devx_own(c, &hca->srqs, MLX5_GET(dctc, dctc, srqn_xrqn));
	if (!dct->srq || dct->srq->kind == HCA_XRC_SRQ)
		return HCA_SYND_SRQ;
	dct->rcq = hca_devx_own(c, &hca->cqs, MLX5_GET(dctc, dctc, cqn));
	if (!dct->rcq)
		return HCA_SYND_CQ;
	return counter && !hca_devx_use(c, &hca->counters, counter) ? HCA_SYND_COUNTER : HCA_OK;
}

static enum hca_synd hca_dct_decode(struct hca *hca, const struct hca_cmd *c, struct hca_qp *dct,
				    const void *dctc)
{
	enum hca_synd synd;

	if (MLX5_GET(dctc, dctc, atomic_like_write_en))
		return HCA_SYND_DCT_FIELD;
	if (c->uid && MLX5_GET(dctc, dctc, rlky))
		return HCA_SYND_PRIVILEGED;
	if (MLX5_GET(dctc, dctc, atomic_mode) > hca_model_atomic_mode(hca->p.model))
		return HCA_SYND_QP_ATOMIC;
	synd = hca_dct_check_path(hca, dctc);
	if (synd)
		return synd;
	memcpy(dct->dct.ctx, dctc, sizeof(dct->dct.ctx));
	dct->st = MLX5_QP_ST_DCT;
	dct->state = MLX5_QP_STATE_RTS;
	dct->dct.key = cpu_to_be64(MLX5_GET64(dctc, dctc, dc_access_key));
	dct->user_index = MLX5_GET(dctc, dctc, user_index);
	dct->rlky = MLX5_GET(dctc, dctc, rlky);
	dct->rre = MLX5_GET(dctc, dctc, rre);
	dct->rwe = MLX5_GET(dctc, dctc, rwe);
	dct->rae = MLX5_GET(dctc, dctc, rae);
	dct->atomic_mode = MLX5_GET(dctc, dctc, atomic_mode);
	dct->cs_res = MLX5_GET(dctc, dctc, cs_res);
	dct->min_rnr = MLX5_GET(dctc, dctc, min_rnr_nak);
	dct->path.port = MLX5_GET(dctc, dctc, port) - 1;
	dct->port = &hca->port[dct->path.port];
	dct->path.sgid_index = MLX5_GET(dctc, dctc, my_addr_index);
	dct->path.pkey_index = MLX5_GET(dctc, dctc, pkey_index);
	return hca_dct_find_resources(hca, c, dct, dctc);
}

enum hca_synd hca_cmd_create_dct(struct hca *hca, const struct hca_cmd *c)
{
	const void *dctc = MLX5_ADDR_OF(create_dct_in, c->in, dct_context_entry);
	struct hca_qp *dct = hca_qp_new(hca);
	enum hca_synd synd;
	u32 ece;

	if (!dct)
		return HCA_SYND_NO_MEMORY;
	synd = hca_qp_finish(dct, c, hca_dct_decode(hca, c, dct, dctc));
	if (synd)
		return synd;
	hca_counter_join(dct, MLX5_GET(dctc, dctc, counter_set_id));
	ece = hca_ece_grant(MLX5_GET(dctc, dctc, ece));
	MLX5_SET(dctc, dct->dct.ctx, ece, ece);
	MLX5_SET(create_dct_out, c->out, dctn, dct->qpn);
	MLX5_SET(create_dct_out, c->out, ece, ece);
	return HCA_OK;
}

enum hca_synd hca_cmd_destroy_dct(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *dct = hca_devx_dct(hca, c, MLX5_GET(destroy_dct_in, c->in, dctn));

	if (!dct)
		return HCA_SYND_DCT;
	if (dct->dct.state != HCA_DCT_DRAINED)
		return HCA_SYND_DCT_STATE;
	hca_qp_free(hca, dct);
	return HCA_OK;
}

enum hca_synd hca_cmd_drain_dct(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *dct = hca_devx_dct(hca, c, MLX5_GET(drain_dct_in, c->in, dctn));
	struct hca_fabric *f = hca->fabric;

	if (!dct)
		return HCA_SYND_DCT;
	if (dct->dct.state != HCA_DCT_ACTIVE)
		return HCA_SYND_DCT_STATE;
	dct->dct.state = HCA_DCT_DRAINING;
	hca_timer_set(f, &dct->timer, f->now + DRAIN_NS);
	hca_dct_check_drained(dct);
	return HCA_OK;
}

/* The context as set, with the current state and counter */
enum hca_synd hca_cmd_query_dct(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *dct = hca_devx_dct(hca, c, MLX5_GET(query_dct_in, c->in, dctn));
	void *dctc = MLX5_ADDR_OF(query_dct_out, c->out, dct_context_entry);

	if (!dct)
		return HCA_SYND_DCT;
	memcpy(dctc, dct->dct.ctx, sizeof(dct->dct.ctx));
	MLX5_SET(dctc, dctc, state, dct->dct.state);
	MLX5_SET(dctc, dctc, dc_access_key_violation_count, dct->dct.violations);
	return HCA_OK;
}

/* Requests one event, for the next request with a wrong key. */
enum hca_synd hca_cmd_arm_dct(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *dct = hca_devx_dct(hca, c, MLX5_GET(arm_dct_in, c->in, dct_number));

	if (!dct)
		return HCA_SYND_DCT;
	dct->dct.armed = true;
	return HCA_OK;
}

#undef DRAIN_NS
