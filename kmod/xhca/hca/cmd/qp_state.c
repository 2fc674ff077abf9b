// SPDX-License-Identifier: GPL-2.0
/*
 * The commands that modify a QP.
 *
 * One table has a row for each command: the states from which and to which it leads, and the
 * parameters of the context that it sets, always or if opt_param_mask names them (PRM, "QP
 * state transitions").  Another table has the place of each parameter.  The new context is
 * checked completely before the old one changes.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

/* Parameters: bits of opt_param_mask, and some that are never optional */
enum {
	ALT_ADDR_PATH		= MLX5_QP_OPTPAR_ALT_ADDR_PATH,
	RRE			= MLX5_QP_OPTPAR_RRE,
	RAE			= MLX5_QP_OPTPAR_RAE,
	RWE			= MLX5_QP_OPTPAR_RWE,
	PKEY_INDEX		= MLX5_QP_OPTPAR_PKEY_INDEX,
	Q_KEY			= MLX5_QP_OPTPAR_Q_KEY,
	RNR_TIMEOUT		= MLX5_QP_OPTPAR_RNR_TIMEOUT,
	PRIMARY_ADDR_PATH	= MLX5_QP_OPTPAR_PRIMARY_ADDR_PATH,
	SRA_MAX			= MLX5_QP_OPTPAR_SRA_MAX,
	RRA_MAX			= MLX5_QP_OPTPAR_RRA_MAX,
	PM_STATE		= MLX5_QP_OPTPAR_PM_STATE,
	RETRY_COUNT		= MLX5_QP_OPTPAR_RETRY_COUNT,
	RNR_RETRY		= MLX5_QP_OPTPAR_RNR_RETRY,
	ACK_TIMEOUT		= MLX5_QP_OPTPAR_ACK_TIMEOUT,
	PRI_PORT		= MLX5_QP_OPTPAR_PRI_PORT,
	COUNTER_SET_ID		= MLX5_QP_OPTPAR_COUNTER_SET_ID,
	DC_KEY			= MLX5_QP_OPTPAR_DC_KEY,
	P_MTU			= 1 << 26,
	P_REMOTE_QPN		= 1 << 27,
	P_RQ_PSN		= 1 << 28,
	P_SQ_PSN		= 1 << 29,
	P_KIND			= 1 << 30,	/* privilege, source QPN */
	P_REMOTE_ACCESS		= RRE | RAE | RWE,
};

static const struct {
	u32 param;
	u16 dw;
	u32 mask;
} fields[] = {
#define FIELD(param, name)	{ param, __mlx5_dw_off(qpc, name), __mlx5_dw_mask(qpc, name) }
#define PATH_DW(i, mask)	\
	{ PRIMARY_ADDR_PATH, __mlx5_dw_off(qpc, primary_address_path) + (i), mask }
#define ALT_DW(i)	\
	{ ALT_ADDR_PATH, __mlx5_dw_off(qpc, secondary_address_path) + (i), ~0u }
	FIELD(RRE, rre),
	FIELD(RAE, rae),
	FIELD(RAE, atomic_mode),
	FIELD(RWE, rwe),
	FIELD(PKEY_INDEX, primary_address_path.pkey_index),
	FIELD(Q_KEY, q_key),
	FIELD(RNR_TIMEOUT, min_rnr_nak),
	FIELD(SRA_MAX, log_sra_max),
	FIELD(RRA_MAX, log_rra_max),
	FIELD(PM_STATE, pm_state),
	FIELD(RETRY_COUNT, retry_count),
	FIELD(RNR_RETRY, rnr_retry),
	FIELD(ACK_TIMEOUT, primary_address_path.ack_timeout),
	FIELD(PRI_PORT, primary_address_path.vhca_port_num),
	FIELD(COUNTER_SET_ID, counter_set_id),
	FIELD(P_MTU, mtu),
	FIELD(P_MTU, log_msg_max),
	FIELD(P_REMOTE_QPN, remote_qpn),
	FIELD(P_RQ_PSN, next_rcv_psn),
	FIELD(P_SQ_PSN, next_send_psn),
	FIELD(P_KIND, rlky),
	FIELD(P_KIND, deth_sqpn),
	{ DC_KEY, __mlx5_dw_off(qpc, dc_access_key), ~0u },
	{ DC_KEY, __mlx5_dw_off(qpc, dc_access_key) + 1, ~0u },
	/* The path without P_Key index, timeout and port */
	PATH_DW(0, 0xffff0000), PATH_DW(1, ~0u), PATH_DW(2, 0x07ffffff), PATH_DW(3, ~0u),
	PATH_DW(4, ~0u), PATH_DW(5, ~0u), PATH_DW(6, ~0u), PATH_DW(7, ~0u),
	PATH_DW(8, ~0u), PATH_DW(9, 0xff00ffff), PATH_DW(10, ~0u),
	ALT_DW(0), ALT_DW(1), ALT_DW(2), ALT_DW(3), ALT_DW(4), ALT_DW(5), ALT_DW(6),
	ALT_DW(7), ALT_DW(8), ALT_DW(9), ALT_DW(10),
};

/* Sets of states */
enum {
	RST		= 1 << MLX5_QP_STATE_RST,
	INIT		= 1 << MLX5_QP_STATE_INIT,
	RTR		= 1 << MLX5_QP_STATE_RTR,
	RTS		= 1 << MLX5_QP_STATE_RTS,
	SQER		= 1 << MLX5_QP_STATE_SQER,
	SQD		= 1 << MLX5_QP_STATE_SQD,
	ERR		= 1 << MLX5_QP_STATE_ERR,
	ANY_STATE	= RST | INIT | RTR | RTS | SQER | SQD | ERR,
};

/* What may change while no request is executed */
enum {
	SQD_PARAMS = P_REMOTE_ACCESS | PKEY_INDEX | Q_KEY | RNR_TIMEOUT |
		     PRIMARY_ADDR_PATH | SRA_MAX | RRA_MAX | PM_STATE |
		     RETRY_COUNT | RNR_RETRY | ACK_TIMEOUT | ALT_ADDR_PATH,
};

static const struct transition {
	u16 opcode;
	u16 from;
	u8 to;
	u32 always, optional;
} transitions[] = {
	{ MLX5_CMD_OP_RST2INIT_QP, RST, MLX5_QP_STATE_INIT,
	  P_REMOTE_ACCESS | PKEY_INDEX | Q_KEY | PRI_PORT | PM_STATE |
	  COUNTER_SET_ID | DC_KEY | P_KIND,
	  P_REMOTE_ACCESS | PKEY_INDEX | Q_KEY | PRI_PORT | PM_STATE |
	  COUNTER_SET_ID | DC_KEY },
	{ MLX5_CMD_OP_INIT2INIT_QP, INIT, MLX5_QP_STATE_INIT, 0,
	  P_REMOTE_ACCESS | PKEY_INDEX | Q_KEY | PRI_PORT },
	{ MLX5_CMD_OP_INIT2RTR_QP, INIT, MLX5_QP_STATE_RTR,
	  P_MTU | P_REMOTE_QPN | P_RQ_PSN | PRIMARY_ADDR_PATH | RRA_MAX | RNR_TIMEOUT,
	  P_REMOTE_ACCESS | PKEY_INDEX | Q_KEY | ALT_ADDR_PATH | DC_KEY },
	{ MLX5_CMD_OP_RTR2RTS_QP, RTR, MLX5_QP_STATE_RTS,
	  P_SQ_PSN | ACK_TIMEOUT | RETRY_COUNT | RNR_RETRY | SRA_MAX,
	  P_REMOTE_ACCESS | RNR_TIMEOUT | PM_STATE | Q_KEY | ALT_ADDR_PATH },
	{ MLX5_CMD_OP_RTS2RTS_QP, RTS, MLX5_QP_STATE_RTS, 0,
	  P_REMOTE_ACCESS | RNR_TIMEOUT | PM_STATE | Q_KEY | COUNTER_SET_ID |
	  ALT_ADDR_PATH },
	{ MLX5_CMD_OP_SQERR2RTS_QP, SQER, MLX5_QP_STATE_RTS, 0,
	  P_REMOTE_ACCESS | RNR_TIMEOUT | Q_KEY },
	{ HCA_CMD_OP_RTS2SQD_QP, RTS, MLX5_QP_STATE_SQD, 0, 0 },
	{ MLX5_CMD_OP_SQD_RTS_QP, SQD, MLX5_QP_STATE_RTS, 0, SQD_PARAMS },
	{ HCA_CMD_OP_SQD2SQD_QP, SQD, MLX5_QP_STATE_SQD, 0, SQD_PARAMS | PRI_PORT },
	{ MLX5_CMD_OP_2ERR_QP, ANY_STATE, MLX5_QP_STATE_ERR, 0, 0 },
	{ MLX5_CMD_OP_2RST_QP, ANY_STATE, MLX5_QP_STATE_RST, 0, 0 },
};

enum {
	DATAGRAM_PARAMS = PKEY_INDEX | Q_KEY | PRI_PORT | PM_STATE |
			  COUNTER_SET_ID | P_MTU | P_SQ_PSN | P_KIND,
	UC_PARAMS = RWE | PKEY_INDEX | PRI_PORT | PM_STATE |
		    PRIMARY_ADDR_PATH | ALT_ADDR_PATH | COUNTER_SET_ID |
		    P_MTU | P_REMOTE_QPN | P_RQ_PSN | P_SQ_PSN | P_KIND,
	RC_PARAMS = ~(Q_KEY | DC_KEY),
	/*
	 * Each request of a DCI names its path and key, so those of the context have no effect.
	 * There is no path migration.
	 */
	DCI_PARAMS = P_REMOTE_ACCESS | PKEY_INDEX | PRI_PORT | PRIMARY_ADDR_PATH |
		     SRA_MAX | RETRY_COUNT | RNR_RETRY | ACK_TIMEOUT |
		     RNR_TIMEOUT | COUNTER_SET_ID | DC_KEY | P_MTU | P_SQ_PSN | P_KIND,
};

/* The parameters of a service type */
static u32 hca_qp_params_of(u8 st)
{
	switch (st) {
	case MLX5_QP_ST_RC:
	case MLX5_QP_ST_XRC:
		return RC_PARAMS;
	case MLX5_QP_ST_UC:
		return UC_PARAMS;
	case MLX5_QP_ST_DCI:
		return DCI_PARAMS;
	default:
		return DATAGRAM_PARAMS;
	}
}

static const struct transition *hca_qp_find_transition(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].opcode == opcode)
			return &transitions[i];
	return NULL;
}

static void hca_qp_take_params(__be32 *to, const __be32 *from, u32 params)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		__be32 mask = cpu_to_be32(fields[i].mask);
		u16 dw = fields[i].dw;

		if (fields[i].param & params)
			to[dw] = (to[dw] & ~mask) | (from[dw] & mask);
	}
}

static enum hca_synd hca_qp_check_path(const struct hca *hca, const void *ads)
{
	if (MLX5_GET(ads, ads, pkey_index) >= HCA_PKEYS)
		return HCA_SYND_QP_PKEY;
	if (MLX5_GET(ads, ads, vhca_port_num) > hca->p.num_ports)
		return HCA_SYND_QP_PORT;
	if (MLX5_GET(ads, ads, src_addr_index) >= (hca->p.roce ? HCA_GIDS : HCA_VPORT_GIDS))
		return HCA_SYND_QP_GID;
	return HCA_OK;
}

/* The QP0 or QP1 of a port; NULL for other service types */
static struct hca_qp **hca_qp_special(struct hca_port *port, u8 st)
{
	switch (st) {
	case MLX5_QP_ST_QP0:
		return &port->qp0;
	case MLX5_QP_ST_QP1:
		return &port->qp1;
	default:
		return NULL;
	}
}

/* A port has one QP0 and one QP1. */
static enum hca_synd hca_qp_check_special(const struct hca_qp *qp, const u32 *qpc)
{
	u32 number = MLX5_GET(qpc, qpc, primary_address_path.vhca_port_num);
	struct hca_qp **special = hca_qp_special(hca_port_get(qp->hca, number), qp->st);

	return special && *special && *special != qp ? HCA_SYND_SPECIAL_QP : HCA_OK;
}

/* Special queues, the reserved lkey, datagrams in the name of another queue */
bool hca_qp_privileged(const u32 *qpc)
{
	switch (MLX5_GET(qpc, qpc, st)) {
	case MLX5_QP_ST_QP0:
	case MLX5_QP_ST_QP1:
	case MLX5_QP_ST_REG_UMR:
		return true;
	default:
		return MLX5_GET(qpc, qpc, rlky) || MLX5_GET(qpc, qpc, deth_sqpn);
	}
}

/* Checks the new context after @params were set. */
static enum hca_synd hca_qp_check_params(const struct hca_qp *qp, const struct hca_cmd *c,
					 const u32 *qpc, u32 params)
{
	struct hca *hca = qp->hca;
	enum hca_synd synd;
	u32 mtu = MLX5_GET(qpc, qpc, mtu);
	u32 counter = MLX5_GET(qpc, qpc, counter_set_id);

	if (c->uid && hca_qp_privileged(qpc))
		return HCA_SYND_PRIVILEGED;
	if (params & P_MTU && (mtu < 1 || mtu > 5 ||
			       MLX5_GET(qpc, qpc, log_msg_max) > HCA_LOG_MAX_MSG))
		return HCA_SYND_QP_MTU;
	synd = hca_qp_check_path(hca, MLX5_ADDR_OF(qpc, qpc, primary_address_path));
	if (!synd)
		synd = hca_qp_check_path(hca, MLX5_ADDR_OF(qpc, qpc, secondary_address_path));
	if (synd)
		return synd;
	if (MLX5_GET(qpc, qpc, log_sra_max) > HCA_LOG_MAX_RD_ATOMIC ||
	    MLX5_GET(qpc, qpc, log_rra_max) > HCA_LOG_MAX_RD_ATOMIC)
		return HCA_SYND_QP_RD_ATOMIC;
	if (MLX5_GET(qpc, qpc, atomic_mode) > hca_model_atomic_mode(hca->p.model))
		return HCA_SYND_QP_ATOMIC;
	if (params & PM_STATE && !hca_apm_allows(qp, qpc))
		return HCA_SYND_QP_MIGRATION;
	if (counter && !hca_devx_use(c, &hca->counters, counter))
		return HCA_SYND_COUNTER;
	return hca_qp_check_special(qp, qpc);
}

void hca_qp_special_leave(struct hca_qp *qp)
{
	struct hca_qp **special;
	unsigned int i;

	for (i = 0; i < HCA_MAX_PORTS; i++) {
		special = hca_qp_special(&qp->hca->port[i], qp->st);
		if (special && *special == qp)
			*special = NULL;
	}
}

static void hca_qp_special_enter(struct hca_qp *qp)
{
	struct hca_qp **special = hca_qp_special(qp->port, qp->st);

	hca_qp_special_leave(qp);
	if (special)
		*special = qp;
}

static void hca_qp_decode_params(struct hca_qp *qp, u32 params)
{
	const u32 *qpc = qp->qpc;
	u32 counter = MLX5_GET(qpc, qpc, counter_set_id);

	if (params & PM_STATE)
		hca_apm_set(qp, MLX5_GET(qpc, qpc, pm_state));
	hca_path_take(qp);
	hca_qp_special_enter(qp);
	qp->remote_qpn = MLX5_GET(qpc, qpc, remote_qpn);
	qp->mtu = 128u << MLX5_GET(qpc, qpc, mtu);
	qp->log_msg_max = MLX5_GET(qpc, qpc, log_msg_max);
	qp->retry_cnt = MLX5_GET(qpc, qpc, retry_count);
	qp->rnr_retry = MLX5_GET(qpc, qpc, rnr_retry);
	qp->qkey = MLX5_GET(qpc, qpc, q_key);
	qp->deth_sqpn = MLX5_GET(qpc, qpc, deth_sqpn);
	qp->rlky = MLX5_GET(qpc, qpc, rlky);
	qp->rre = MLX5_GET(qpc, qpc, rre);
	qp->rwe = MLX5_GET(qpc, qpc, rwe);
	qp->rae = MLX5_GET(qpc, qpc, rae);
	qp->atomic_mode = MLX5_GET(qpc, qpc, atomic_mode);
	qp->min_rnr = MLX5_GET(qpc, qpc, min_rnr_nak);
	if (counter != qp->counter_set)
		hca_counter_join(qp, counter);
	if (params & P_SQ_PSN)
		qp->sq_psn = MLX5_GET(qpc, qpc, next_send_psn);
	if (params & P_RQ_PSN)
		qp->rq_psn = MLX5_GET(qpc, qpc, next_rcv_psn);
	if (params & RETRY_COUNT)
		qp->retry_left = qp->retry_cnt;
	if (params & RNR_RETRY)
		qp->rnr_left = qp->rnr_retry;
}

/* The UMR queue was created without a PD and gets one now. */
static enum hca_synd hca_qp_take_pd(struct hca *hca, const struct hca_cmd *c, struct hca_qp *qp,
				    const u32 *qpc)
{
	u32 pd = MLX5_GET(qpc, qpc, pd);
	struct hca_domain *d = hca_devx_own(c, &hca->pds, pd);

	if (qp->st != MLX5_QP_ST_REG_UMR || qp->pd || !pd)
		return HCA_OK;
	if (!d)
		return HCA_SYND_PD;
	d->users++;
	qp->pd = pd;
	MLX5_SET(qpc, qp->qpc, pd, pd);
	return HCA_OK;
}

/* A command with value 0 does not change the options that were granted before. */
static void hca_qp_negotiate(struct hca_qp *qp, const struct hca_cmd *c)
{
	u32 wanted = MLX5_GET(rst2init_qp_in, c->in, ece);

	if (wanted)
		qp->ece = hca_ece_grant(wanted);
	MLX5_SET(rst2init_qp_out, c->out, ece, qp->ece);
}

enum hca_synd hca_cmd_modify_qp(struct hca *hca, const struct hca_cmd *c)
{
	const struct transition *t = hca_qp_find_transition(c->opcode);
	struct hca_qp *qp = hca_devx_qp(hca, c, MLX5_GET(rst2init_qp_in, c->in, qpn));
	u32 qpc[MLX5_ST_SZ_DW(qpc)];
	const void *in_qpc;
	enum hca_synd synd;
	u32 params, optional;

	if (!qp)
		return HCA_SYND_QP;
	if (!(t->from >> qp->state & 1))
		return HCA_SYND_QP_STATE;
	if (t->opcode == HCA_CMD_OP_SQD2SQD_QP && !qp->sq_drained_sent)
		return HCA_SYND_QP_STATE;	/* not drained yet */
	if (t->opcode == HCA_CMD_OP_RTS2SQD_QP)
		qp->sq_drained_sent = false;
	if (t->to == MLX5_QP_STATE_RST) {
		hca_turn_run_posted(qp);
		qp->ece = 0;
	}
	if (!t->always && !t->optional) {
		hca_qp_enter(qp, t->to);
		return HCA_OK;
	}

	/* All commands with parameters have the layout of RST2INIT. */
	in_qpc = MLX5_ADDR_OF(rst2init_qp_in, c->in, qpc);
	optional = MLX5_GET(rst2init_qp_in, c->in, opt_param_mask);
	if (optional & ~(t->optional & hca_qp_params_of(qp->st)))
		return HCA_SYND_QP_OPTPAR;
	params = (t->always & hca_qp_params_of(qp->st)) | optional;
	memcpy(qpc, qp->qpc, sizeof(qpc));
	hca_qp_take_params((__be32 *)qpc, in_qpc, params);
	synd = hca_qp_check_params(qp, c, qpc, params);
	if (!synd && params & P_KIND)
		synd = hca_qp_take_pd(hca, c, qp, in_qpc);
	if (synd)
		return synd;
	MLX5_SET(qpc, qpc, pd, qp->pd);
	memcpy(qp->qpc, qpc, sizeof(qpc));
	hca_qp_decode_params(qp, params);
	/* The commands from SQD and SQER have no field for ECE. */
	if (!(t->from & (SQD | SQER)))
		hca_qp_negotiate(qp, c);
	if (t->opcode != HCA_CMD_OP_SQD2SQD_QP)
		hca_qp_enter(qp, t->to);
	return HCA_OK;
}

#undef FIELD
#undef PATH_DW
#undef ALT_DW
