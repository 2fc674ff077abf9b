// SPDX-License-Identifier: GPL-2.0
/*
 * Firmware commands (PRM; linux/mlx5/mlx5_ifc.h), one function each.
 *
 * mlx5_cmd_do() distinguishes commands that were not delivered from commands that the
 * firmware refused, and it does not log: failed user requests are not logged.
 */
#include <linux/slab.h>
#include <rdma/mlx5_codes.h>

#include "fw.h"

static const char *xv_fw_status_name(u8 status)
{
	switch (status) {
	case MLX5_CMD_STAT_INT_ERR:
		return "internal error";
	case MLX5_CMD_STAT_BAD_OP_ERR:
		return "unknown command";
	case MLX5_CMD_STAT_BAD_PARAM_ERR:
		return "bad parameter";
	case MLX5_CMD_STAT_BAD_SYS_STATE_ERR:
		return "bad system state";
	case MLX5_CMD_STAT_BAD_RES_ERR:
		return "bad resource";
	case MLX5_CMD_STAT_RES_BUSY:
		return "resource busy";
	case MLX5_CMD_STAT_LIM_ERR:
		return "limits exceeded";
	case MLX5_CMD_STAT_BAD_RES_STATE_ERR:
		return "bad resource state";
	case MLX5_CMD_STAT_IX_ERR:
		return "bad index";
	case MLX5_CMD_STAT_NO_RES_ERR:
		return "no resources";
	case MLX5_CMD_STAT_BAD_QP_STATE_ERR:
		return "bad QP state";
	case MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR:
		return "too many outstanding CQEs";
	default:
		return "refused";
	}
}

/* What is publicly known of a syndrome, or "" */
static const char *xv_fw_cause(u32 syndrome)
{
#define ROW(_code, _where, _status, _cause, _check, _source) { _code, ": " _cause },
	static const struct {
		u32 syndrome;
		const char *cause;
	} known[] = { MLX5_SYNDROMES(ROW) };
#undef ROW
	int i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].syndrome == syndrome)
			return known[i].cause;
	return "";
}

static int xv_fw_status_errno(u8 status)
{
	switch (status) {
	case MLX5_CMD_STAT_LIM_ERR:
	case MLX5_CMD_STAT_NO_RES_ERR:
		return -ENOSPC;
	case MLX5_CMD_STAT_RES_BUSY:
		return -EBUSY;
	case MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR:
		return -EINVAL;
	default:
		return -EREMOTEIO;
	}
}

/* mlx5_core has converted the status to these error numbers. */
int xv_fw_errno(int err)
{
	switch (err) {
	case -EIO:
		return -EREMOTEIO;
	case -EAGAIN:
		return -ENOSPC;
	default:
		return err;
	}
}

/* All output mailboxes begin with status and syndrome. */
#define XV_FW_ANSWER(_out, _field)	MLX5_GET(destroy_qp_out, _out, _field)

/* All input mailboxes have the user context here; older headers do not name it in some. */
#define XV_FW_SET_UID(_in, _uid)	MLX5_SET(destroy_qp_in, _in, uid, _uid)

/* Whether mlx5_core knows the command.  In error state it logs each one that it does not. */
static bool xv_fw_known(const void *in)
{
	u16 opcode = MLX5_GET(destroy_qp_in, in, opcode);

	return opcode != XV_CMD_RTS2SQD_QP && opcode != XV_CMD_SQD2SQD_QP;
}

/*
 * Converts the result of mlx5_cmd_do().  If the adapter is in error state (-ENXIO),
 * its objects are lost, and mlx5_cmd_check() returns success for destroy commands.
 */
static int xv_fw_result(struct xv_dev *dev, struct xv_call *call,
			const char *what, int err, void *in, void *out)
{
	u8 status;

	if (!err)
		return 0;
	if (err == -ENXIO) {
		if (xv_fw_known(in))
			err = mlx5_cmd_check(dev->mdev, err, in, out);
		return err ? xv_fail(call, -ENODEV, "%s: the adapter is in error state",
				     what) : 0;
	}
	if (err != -EREMOTEIO)
		return xv_fail(call, err, "%s: command not delivered", what);
	status = XV_FW_ANSWER(out, status);
	return xv_fail(call, xv_fw_status_errno(status),
		       "%s: firmware: %s (status 0x%x, syndrome 0x%x%s)", what,
		       xv_fw_status_name(status), status, XV_FW_ANSWER(out, syndrome),
		       xv_fw_cause(XV_FW_ANSWER(out, syndrome)));
}

static int xv_fw_exec(struct xv_dev *dev, struct xv_call *call,
		      const char *what, void *in, size_t inlen, void *out,
		      size_t outlen)
{
	int err = mlx5_cmd_do(dev->mdev, in, inlen, out, outlen);

	return xv_fw_result(dev, call, what, err, in, out);
}

/* Reads the current values of a capability page; @out is a query_hca_cap_out. */
int xv_fw_query_cap(struct xv_dev *dev, struct xv_call *call, u32 type,
		    void *out)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_cap_in)] = {};

	MLX5_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	MLX5_SET(query_hca_cap_in, in, op_mod, type << 1 | HCA_CAP_OPMOD_GET_CUR);
	return xv_fw_exec(dev, call, "QUERY_HCA_CAP", in, sizeof(in), out,
			  MLX5_ST_SZ_BYTES(query_hca_cap_out));
}

int xv_fw_create_uctx(struct xv_dev *dev, struct xv_call *call, u16 *uid)
{
	u32 out[MLX5_ST_SZ_DW(create_uctx_out)] = {};
	u32 in[MLX5_ST_SZ_DW(create_uctx_in)] = {};
	int err;

	MLX5_SET(create_uctx_in, in, opcode, MLX5_CMD_OP_CREATE_UCTX);
	err = xv_fw_exec(dev, call, "CREATE_UCTX", in, sizeof(in), out,
			 sizeof(out));
	if (!err)
		*uid = MLX5_GET(create_uctx_out, out, uid);
	return err;
}

int xv_fw_destroy_uctx(struct xv_dev *dev, struct xv_call *call, u16 uid)
{
	u32 out[MLX5_ST_SZ_DW(destroy_uctx_out)] = {};
	u32 in[MLX5_ST_SZ_DW(destroy_uctx_in)] = {};

	MLX5_SET(destroy_uctx_in, in, opcode, MLX5_CMD_OP_DESTROY_UCTX);
	MLX5_SET(destroy_uctx_in, in, uid, uid);
	return xv_fw_exec(dev, call, "DESTROY_UCTX", in, sizeof(in), out,
			  sizeof(out));
}

int xv_fw_alloc_uar(struct xv_dev *dev, struct xv_call *call, u16 uid, u32 *index)
{
	u32 out[MLX5_ST_SZ_DW(alloc_uar_out)] = {};
	u32 in[MLX5_ST_SZ_DW(alloc_uar_in)] = {};
	int err;

	MLX5_SET(alloc_uar_in, in, opcode, MLX5_CMD_OP_ALLOC_UAR);
	XV_FW_SET_UID(in, uid);
	err = xv_fw_exec(dev, call, "ALLOC_UAR", in, sizeof(in), out,
			 sizeof(out));
	if (!err)
		*index = MLX5_GET(alloc_uar_out, out, uar);
	return err;
}

int xv_fw_dealloc_uar(struct xv_dev *dev, struct xv_call *call, u16 uid, u32 index)
{
	u32 out[MLX5_ST_SZ_DW(dealloc_uar_out)] = {};
	u32 in[MLX5_ST_SZ_DW(dealloc_uar_in)] = {};

	MLX5_SET(dealloc_uar_in, in, opcode, MLX5_CMD_OP_DEALLOC_UAR);
	XV_FW_SET_UID(in, uid);
	MLX5_SET(dealloc_uar_in, in, uar, index);
	return xv_fw_exec(dev, call, "DEALLOC_UAR", in, sizeof(in), out,
			  sizeof(out));
}

/* Reads the context of an mkey. */
int xv_fw_query_mkey(struct xv_dev *dev, struct xv_call *call, u32 mkey,
		     void *mkc)
{
	u32 in[MLX5_ST_SZ_DW(query_mkey_in)] = {};
	void *out;
	int err;

	out = kzalloc(MLX5_ST_SZ_BYTES(query_mkey_out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	MLX5_SET(query_mkey_in, in, opcode, MLX5_CMD_OP_QUERY_MKEY);
	MLX5_SET(query_mkey_in, in, mkey_index, mkey >> 8);
	err = xv_fw_exec(dev, call, "QUERY_MKEY", in, sizeof(in), out,
			 MLX5_ST_SZ_BYTES(query_mkey_out));
	if (!err)
		memcpy(mkc, MLX5_ADDR_OF(query_mkey_out, out,
					 memory_key_mkey_entry),
		       MLX5_ST_SZ_BYTES(mkc));
	kfree(out);
	return err;
}

/* Uses mlx5_core, which dispatches the completion events of @mcq. */
int xv_fw_create_cq(struct xv_dev *dev, struct xv_call *call,
		    struct mlx5_core_cq *mcq, void *in, size_t inlen)
{
	u32 out[MLX5_ST_SZ_DW(create_cq_out)] = {};
	int err;

	err = mlx5_create_cq(dev->mdev, mcq, in, inlen, out, sizeof(out));
	return xv_fw_result(dev, call, "CREATE_CQ", err, in, out);
}

/* @in has the CQ context and, for a resize, the page list. */
int xv_fw_modify_cq(struct xv_dev *dev, struct xv_call *call,
		    const struct mlx5_core_cq *mcq, u32 select, void *in, size_t inlen)
{
	u32 out[MLX5_ST_SZ_DW(modify_cq_out)] = {};

	MLX5_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
	MLX5_SET(modify_cq_in, in, uid, mcq->uid);
	MLX5_SET(modify_cq_in, in, cqn, mcq->cqn);
	MLX5_SET(modify_cq_in, in,
		 modify_field_select_resize_field_select.modify_field_select.modify_field_select,
		 select);
	return xv_fw_exec(dev, call, "MODIFY_CQ", in, inlen, out, sizeof(out));
}

/*
 * Each new mkey gets another variant (low byte), so that an old key with the same
 * index is not valid.
 */
int xv_fw_create_mkey(struct xv_dev *dev, struct xv_call *call, void *in,
		      size_t inlen, u32 *key)
{
	u8 variant = atomic_inc_return(&dev->key_variant);
	u32 out[MLX5_ST_SZ_DW(create_mkey_out)] = {};
	int err;

	MLX5_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
	MLX5_SET(create_mkey_in, in, memory_key_mkey_entry.mkey_7_0, variant);
	err = xv_fw_exec(dev, call, "CREATE_MKEY", in, inlen, out, sizeof(out));
	if (!err)
		*key = MLX5_GET(create_mkey_out, out, mkey_index) << 8 | variant;
	return err;
}

int xv_fw_destroy_mkey(struct xv_dev *dev, struct xv_call *call, u32 key)
{
	u32 out[MLX5_ST_SZ_DW(destroy_mkey_out)] = {};
	u32 in[MLX5_ST_SZ_DW(destroy_mkey_in)] = {};

	MLX5_SET(destroy_mkey_in, in, opcode, MLX5_CMD_OP_DESTROY_MKEY);
	MLX5_SET(destroy_mkey_in, in, mkey_index, key >> 8);
	return xv_fw_exec(dev, call, "DESTROY_MKEY", in, sizeof(in), out,
			  sizeof(out));
}

int xv_fw_alloc_xrcd(struct xv_dev *dev, struct xv_call *call, u32 *xrcdn)
{
	u32 out[MLX5_ST_SZ_DW(alloc_xrcd_out)] = {};
	u32 in[MLX5_ST_SZ_DW(alloc_xrcd_in)] = {};
	int err;

	MLX5_SET(alloc_xrcd_in, in, opcode, MLX5_CMD_OP_ALLOC_XRCD);
	err = xv_fw_exec(dev, call, "ALLOC_XRCD", in, sizeof(in), out,
			 sizeof(out));
	if (!err)
		*xrcdn = MLX5_GET(alloc_xrcd_out, out, xrcd);
	return err;
}

int xv_fw_dealloc_xrcd(struct xv_dev *dev, struct xv_call *call, u32 xrcdn)
{
	u32 out[MLX5_ST_SZ_DW(dealloc_xrcd_out)] = {};
	u32 in[MLX5_ST_SZ_DW(dealloc_xrcd_in)] = {};

	MLX5_SET(dealloc_xrcd_in, in, opcode, MLX5_CMD_OP_DEALLOC_XRCD);
	MLX5_SET(dealloc_xrcd_in, in, xrcd, xrcdn);
	return xv_fw_exec(dev, call, "DEALLOC_XRCD", in, sizeof(in), out,
			  sizeof(out));
}

int xv_fw_create_rmp(struct xv_dev *dev, struct xv_call *call, void *in,
		     size_t inlen, u32 *rmpn)
{
	u32 out[MLX5_ST_SZ_DW(create_rmp_out)] = {};
	int err;

	MLX5_SET(create_rmp_in, in, opcode, MLX5_CMD_OP_CREATE_RMP);
	err = xv_fw_exec(dev, call, "CREATE_RMP", in, inlen, out, sizeof(out));
	if (!err)
		*rmpn = MLX5_GET(create_rmp_out, out, rmpn);
	return err;
}

int xv_fw_destroy_rmp(struct xv_dev *dev, struct xv_call *call, u32 rmpn)
{
	u32 out[MLX5_ST_SZ_DW(destroy_rmp_out)] = {};
	u32 in[MLX5_ST_SZ_DW(destroy_rmp_in)] = {};

	MLX5_SET(destroy_rmp_in, in, opcode, MLX5_CMD_OP_DESTROY_RMP);
	MLX5_SET(destroy_rmp_in, in, rmpn, rmpn);
	return xv_fw_exec(dev, call, "DESTROY_RMP", in, sizeof(in), out,
			  sizeof(out));
}

/* Arms the limit event: raised once when fewer than @lwm entries are posted. */
int xv_fw_arm_rmp(struct xv_dev *dev, struct xv_call *call, u32 rmpn, u16 lwm)
{
	u32 out[MLX5_ST_SZ_DW(modify_rmp_out)] = {};
	u32 in[MLX5_ST_SZ_DW(modify_rmp_in)] = {};

	MLX5_SET(modify_rmp_in, in, opcode, MLX5_CMD_OP_MODIFY_RMP);
	MLX5_SET(modify_rmp_in, in, rmp_state, MLX5_RMPC_STATE_RDY);
	MLX5_SET(modify_rmp_in, in, rmpn, rmpn);
	MLX5_SET(modify_rmp_in, in, bitmask.lwm, 1);
	MLX5_SET(modify_rmp_in, in, ctx.state, MLX5_RMPC_STATE_RDY);
	MLX5_SET(modify_rmp_in, in, ctx.wq.lwm, lwm);
	return xv_fw_exec(dev, call, "MODIFY_RMP", in, sizeof(in), out,
			  sizeof(out));
}

/* Reads the context of an RMP. */
int xv_fw_query_rmp(struct xv_dev *dev, struct xv_call *call, u32 rmpn,
		    void *rmpc)
{
	u32 out[MLX5_ST_SZ_DW(query_rmp_out)] = {};
	u32 in[MLX5_ST_SZ_DW(query_rmp_in)] = {};
	int err;

	MLX5_SET(query_rmp_in, in, opcode, MLX5_CMD_OP_QUERY_RMP);
	MLX5_SET(query_rmp_in, in, rmpn, rmpn);
	err = xv_fw_exec(dev, call, "QUERY_RMP", in, sizeof(in), out,
			 sizeof(out));
	if (!err)
		memcpy(rmpc, MLX5_ADDR_OF(query_rmp_out, out, rmp_context),
		       MLX5_ST_SZ_BYTES(rmpc));
	return err;
}

int xv_fw_create_xrc_srq(struct xv_dev *dev, struct xv_call *call, void *in,
			 size_t inlen, u32 *srqn)
{
	u32 out[MLX5_ST_SZ_DW(create_xrc_srq_out)] = {};
	int err;

	MLX5_SET(create_xrc_srq_in, in, opcode, MLX5_CMD_OP_CREATE_XRC_SRQ);
	err = xv_fw_exec(dev, call, "CREATE_XRC_SRQ", in, inlen, out,
			 sizeof(out));
	if (!err)
		*srqn = MLX5_GET(create_xrc_srq_out, out, xrc_srqn);
	return err;
}

int xv_fw_destroy_xrc_srq(struct xv_dev *dev, struct xv_call *call, u32 srqn)
{
	u32 out[MLX5_ST_SZ_DW(destroy_xrc_srq_out)] = {};
	u32 in[MLX5_ST_SZ_DW(destroy_xrc_srq_in)] = {};

	MLX5_SET(destroy_xrc_srq_in, in, opcode, MLX5_CMD_OP_DESTROY_XRC_SRQ);
	MLX5_SET(destroy_xrc_srq_in, in, xrc_srqn, srqn);
	return xv_fw_exec(dev, call, "DESTROY_XRC_SRQ", in, sizeof(in), out,
			  sizeof(out));
}

int xv_fw_arm_xrc_srq(struct xv_dev *dev, struct xv_call *call, u32 srqn,
		      u16 lwm)
{
	u32 out[MLX5_ST_SZ_DW(arm_xrc_srq_out)] = {};
	u32 in[MLX5_ST_SZ_DW(arm_xrc_srq_in)] = {};

	MLX5_SET(arm_xrc_srq_in, in, opcode, MLX5_CMD_OP_ARM_XRC_SRQ);
	MLX5_SET(arm_xrc_srq_in, in, op_mod,
		 MLX5_ARM_XRC_SRQ_IN_OP_MOD_XRC_SRQ);
	MLX5_SET(arm_xrc_srq_in, in, xrc_srqn, srqn);
	MLX5_SET(arm_xrc_srq_in, in, lwm, lwm);
	return xv_fw_exec(dev, call, "ARM_XRC_SRQ", in, sizeof(in), out,
			  sizeof(out));
}

int xv_fw_query_xrc_srq_lwm(struct xv_dev *dev, struct xv_call *call, u32 srqn,
			    u16 *lwm)
{
	u32 in[MLX5_ST_SZ_DW(query_xrc_srq_in)] = {};
	void *out;
	int err;

	out = kzalloc(MLX5_ST_SZ_BYTES(query_xrc_srq_out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	MLX5_SET(query_xrc_srq_in, in, opcode, MLX5_CMD_OP_QUERY_XRC_SRQ);
	MLX5_SET(query_xrc_srq_in, in, xrc_srqn, srqn);
	err = xv_fw_exec(dev, call, "QUERY_XRC_SRQ", in, sizeof(in), out,
			 MLX5_ST_SZ_BYTES(query_xrc_srq_out));
	if (!err)
		*lwm = MLX5_GET(query_xrc_srq_out, out,
				xrc_srq_context_entry.lwm);
	kfree(out);
	return err;
}

int xv_fw_attach_mcg(struct xv_dev *dev, struct xv_call *call, u32 qpn,
		     const u8 *gid)
{
	u32 out[MLX5_ST_SZ_DW(attach_to_mcg_out)] = {};
	u32 in[MLX5_ST_SZ_DW(attach_to_mcg_in)] = {};

	MLX5_SET(attach_to_mcg_in, in, opcode, MLX5_CMD_OP_ATTACH_TO_MCG);
	MLX5_SET(attach_to_mcg_in, in, qpn, qpn);
	memcpy(MLX5_ADDR_OF(attach_to_mcg_in, in, multicast_gid), gid, 16);
	return xv_fw_exec(dev, call, "ATTACH_TO_MCG", in, sizeof(in), out,
			  sizeof(out));
}

int xv_fw_detach_mcg(struct xv_dev *dev, struct xv_call *call, u32 qpn,
		     const u8 *gid)
{
	u32 out[MLX5_ST_SZ_DW(detach_from_mcg_out)] = {};
	u32 in[MLX5_ST_SZ_DW(detach_from_mcg_in)] = {};

	MLX5_SET(detach_from_mcg_in, in, opcode, MLX5_CMD_OP_DETACH_FROM_MCG);
	MLX5_SET(detach_from_mcg_in, in, qpn, qpn);
	memcpy(MLX5_ADDR_OF(detach_from_mcg_in, in, multicast_gid), gid, 16);
	return xv_fw_exec(dev, call, "DETACH_FROM_MCG", in, sizeof(in), out,
			  sizeof(out));
}

/*
 * @ece: the options for connections (ECE) that the caller requests.  The function replaces
 * them by the options that the adapter grants.  NULL: the command has no such field.
 */
int xv_fw_create_qp(struct xv_dev *dev, struct xv_call *call, void *in,
		    size_t inlen, u32 *qpn, u32 *ece)
{
	u32 out[MLX5_ST_SZ_DW(create_qp_out)] = {};
	int err;

	MLX5_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
	if (ece)
		MLX5_SET(create_qp_in, in, ece, *ece);
	err = xv_fw_exec(dev, call, "CREATE_QP", in, inlen, out, sizeof(out));
	if (err)
		return err;
	*qpn = MLX5_GET(create_qp_out, out, qpn);
	if (ece)
		*ece = MLX5_GET(create_qp_out, out, ece);
	return 0;
}

int xv_fw_destroy_qp(struct xv_dev *dev, struct xv_call *call, u32 qpn)
{
	u32 out[MLX5_ST_SZ_DW(destroy_qp_out)] = {};
	u32 in[MLX5_ST_SZ_DW(destroy_qp_in)] = {};

	MLX5_SET(destroy_qp_in, in, opcode, MLX5_CMD_OP_DESTROY_QP);
	MLX5_SET(destroy_qp_in, in, qpn, qpn);
	return xv_fw_exec(dev, call, "DESTROY_QP", in, sizeof(in), out,
			  sizeof(out));
}

/*
 * All commands that modify a QP have the layout of INIT2RTR_QP.  2RST_QP and 2ERR_QP
 * have no QP context.  @ece is as for xv_fw_create_qp().
 */
int xv_fw_modify_qp(struct xv_dev *dev, struct xv_call *call, u16 opcode,
		    u32 qpn, u32 opt_mask, const void *qpc, u32 *ece)
{
	u32 out[MLX5_ST_SZ_DW(init2rtr_qp_out)] = {};
	u32 in[MLX5_ST_SZ_DW(init2rtr_qp_in)] = {};
	size_t inlen = sizeof(in);
	char what[24];
	int err;

	MLX5_SET(init2rtr_qp_in, in, opcode, opcode);
	MLX5_SET(init2rtr_qp_in, in, qpn, qpn);
	if (qpc) {
		MLX5_SET(init2rtr_qp_in, in, opt_param_mask, opt_mask);
		memcpy(MLX5_ADDR_OF(init2rtr_qp_in, in, qpc), qpc,
		       MLX5_ST_SZ_BYTES(qpc));
	} else {
		inlen = MLX5_ST_SZ_BYTES(qp_2rst_in);
	}
	if (ece)
		MLX5_SET(init2rtr_qp_in, in, ece, *ece);
	snprintf(what, sizeof(what), "modify QP (0x%x)", opcode);
	err = xv_fw_exec(dev, call, what, in, inlen, out, sizeof(out));
	if (!err && ece)
		*ece = MLX5_GET(init2rtr_qp_out, out, ece);
	return err;
}

int xv_fw_query_qp(struct xv_dev *dev, struct xv_call *call, u32 qpn, void *qpc)
{
	u32 out[MLX5_ST_SZ_DW(query_qp_out)] = {};
	u32 in[MLX5_ST_SZ_DW(query_qp_in)] = {};
	int err;

	MLX5_SET(query_qp_in, in, opcode, MLX5_CMD_OP_QUERY_QP);
	MLX5_SET(query_qp_in, in, qpn, qpn);
	err = xv_fw_exec(dev, call, "QUERY_QP", in, sizeof(in), out,
			 sizeof(out));
	if (!err)
		memcpy(qpc, MLX5_ADDR_OF(query_qp_out, out, qpc),
		       MLX5_ST_SZ_BYTES(qpc));
	return err;
}

/* @in is a create_dct_in with the context.  @ece is set to what the adapter grants. */
int xv_fw_create_dct(struct xv_dev *dev, struct xv_call *call, void *in,
		     u32 *dctn, u32 *ece)
{
	u32 out[MLX5_ST_SZ_DW(create_dct_out)] = {};
	int err;

	MLX5_SET(create_dct_in, in, opcode, MLX5_CMD_OP_CREATE_DCT);
	err = xv_fw_exec(dev, call, "CREATE_DCT", in,
			 MLX5_ST_SZ_BYTES(create_dct_in), out, sizeof(out));
	if (err)
		return err;
	*dctn = MLX5_GET(create_dct_out, out, dctn);
	*ece = MLX5_GET(create_dct_out, out, ece);
	return 0;
}

/* The event DCT_DRAINED follows when the messages in flight have ended. */
int xv_fw_drain_dct(struct xv_dev *dev, struct xv_call *call, u32 dctn)
{
	u32 out[MLX5_ST_SZ_DW(drain_dct_out)] = {};
	u32 in[MLX5_ST_SZ_DW(drain_dct_in)] = {};

	MLX5_SET(drain_dct_in, in, opcode, MLX5_CMD_OP_DRAIN_DCT);
	MLX5_SET(drain_dct_in, in, dctn, dctn);
	return xv_fw_exec(dev, call, "DRAIN_DCT", in, sizeof(in), out,
			  sizeof(out));
}

int xv_fw_destroy_dct(struct xv_dev *dev, struct xv_call *call, u32 dctn)
{
	u32 out[MLX5_ST_SZ_DW(destroy_dct_out)] = {};
	u32 in[MLX5_ST_SZ_DW(destroy_dct_in)] = {};

	MLX5_SET(destroy_dct_in, in, opcode, MLX5_CMD_OP_DESTROY_DCT);
	MLX5_SET(destroy_dct_in, in, dctn, dctn);
	return xv_fw_exec(dev, call, "DESTROY_DCT", in, sizeof(in), out,
			  sizeof(out));
}

int xv_fw_query_dct(struct xv_dev *dev, struct xv_call *call, u32 dctn,
		    void *dctc)
{
	u32 out[MLX5_ST_SZ_DW(query_dct_out)] = {};
	u32 in[MLX5_ST_SZ_DW(query_dct_in)] = {};
	int err;

	MLX5_SET(query_dct_in, in, opcode, MLX5_CMD_OP_QUERY_DCT);
	MLX5_SET(query_dct_in, in, dctn, dctn);
	err = xv_fw_exec(dev, call, "QUERY_DCT", in, sizeof(in), out,
			 sizeof(out));
	if (!err)
		memcpy(dctc, MLX5_ADDR_OF(query_dct_out, out, dct_context_entry),
		       MLX5_ST_SZ_BYTES(dctc));
	return err;
}

/* Arms the event DCT_KEY_VIOLATION, which is raised once. */
int xv_fw_arm_dct(struct xv_dev *dev, struct xv_call *call, u32 dctn)
{
	u32 out[MLX5_ST_SZ_DW(arm_dct_out)] = {};
	u32 in[MLX5_ST_SZ_DW(arm_dct_in)] = {};

	MLX5_SET(arm_dct_in, in, opcode, MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION);
	MLX5_SET(arm_dct_in, in, dct_number, dctn);
	return xv_fw_exec(dev, call, "ARM_DCT_FOR_KEY_VIOLATION", in,
			  sizeof(in), out, sizeof(out));
}
