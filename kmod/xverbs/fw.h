/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One function for each firmware command.  It returns 0, or a negative error number
 * and stores status and syndrome in the reason of @call.  @call is NULL during the
 * teardown of a file.
 */
#ifndef XV_FW_H
#define XV_FW_H

#include <linux/mlx5/cq.h>

#include "xv.h"

/*
 * Early public headers of mlx5 have these opcodes, linux/mlx5/mlx5_ifc.h of today has
 * not.  It is not known whether the firmware of today supports them.
 */
#define XV_CMD_RTS2SQD_QP	0x508
#define XV_CMD_SQD2SQD_QP	0x511

#define XV_MKC_ANY_QPN		0xffffff	/* mkc.qpn: all queue pairs may use the key */

/* Converts an error number of mlx5_core or mlx5_ib to the meaning in the uAPI. */
int xv_fw_errno(int err);

int xv_fw_query_cap(struct xv_dev *dev, struct xv_call *call, u32 type,
		    void *out);
int xv_fw_create_uctx(struct xv_dev *dev, struct xv_call *call, u16 *uid);
int xv_fw_destroy_uctx(struct xv_dev *dev, struct xv_call *call, u16 uid);
int xv_fw_alloc_uar(struct xv_dev *dev, struct xv_call *call, u16 uid, u32 *index);
int xv_fw_dealloc_uar(struct xv_dev *dev, struct xv_call *call, u16 uid, u32 index);
int xv_fw_query_mkey(struct xv_dev *dev, struct xv_call *call, u32 mkey,
		     void *mkc);
int xv_fw_create_cq(struct xv_dev *dev, struct xv_call *call,
		    struct mlx5_core_cq *mcq, void *in, size_t inlen);
int xv_fw_modify_cq(struct xv_dev *dev, struct xv_call *call,
		    const struct mlx5_core_cq *mcq, u32 select, void *in, size_t inlen);
int xv_fw_create_mkey(struct xv_dev *dev, struct xv_call *call, void *in,
		      size_t inlen, u32 *index);
int xv_fw_destroy_mkey(struct xv_dev *dev, struct xv_call *call, u32 index);
int xv_fw_alloc_xrcd(struct xv_dev *dev, struct xv_call *call, u32 *xrcdn);
int xv_fw_dealloc_xrcd(struct xv_dev *dev, struct xv_call *call, u32 xrcdn);
int xv_fw_create_rmp(struct xv_dev *dev, struct xv_call *call, void *in,
		     size_t inlen, u32 *rmpn);
int xv_fw_destroy_rmp(struct xv_dev *dev, struct xv_call *call, u32 rmpn);
int xv_fw_arm_rmp(struct xv_dev *dev, struct xv_call *call, u32 rmpn, u16 lwm);
int xv_fw_query_rmp(struct xv_dev *dev, struct xv_call *call, u32 rmpn,
		    void *rmpc);
int xv_fw_create_xrc_srq(struct xv_dev *dev, struct xv_call *call, void *in,
			 size_t inlen, u32 *srqn);
int xv_fw_destroy_xrc_srq(struct xv_dev *dev, struct xv_call *call, u32 srqn);
int xv_fw_arm_xrc_srq(struct xv_dev *dev, struct xv_call *call, u32 srqn,
		      u16 lwm);
int xv_fw_query_xrc_srq_lwm(struct xv_dev *dev, struct xv_call *call, u32 srqn,
			    u16 *lwm);
int xv_fw_attach_mcg(struct xv_dev *dev, struct xv_call *call, u32 qpn,
		     const u8 *gid);
int xv_fw_detach_mcg(struct xv_dev *dev, struct xv_call *call, u32 qpn,
		     const u8 *gid);
int xv_fw_create_qp(struct xv_dev *dev, struct xv_call *call, void *in,
		    size_t inlen, u32 *qpn, u32 *ece);
int xv_fw_destroy_qp(struct xv_dev *dev, struct xv_call *call, u32 qpn);
int xv_fw_modify_qp(struct xv_dev *dev, struct xv_call *call, u16 opcode,
		    u32 qpn, u32 opt_mask, const void *qpc, u32 *ece);
int xv_fw_query_qp(struct xv_dev *dev, struct xv_call *call, u32 qpn,
		   void *qpc);
int xv_fw_create_dct(struct xv_dev *dev, struct xv_call *call, void *in,
		     u32 *dctn, u32 *ece);
int xv_fw_drain_dct(struct xv_dev *dev, struct xv_call *call, u32 dctn);
int xv_fw_destroy_dct(struct xv_dev *dev, struct xv_call *call, u32 dctn);
int xv_fw_query_dct(struct xv_dev *dev, struct xv_call *call, u32 dctn,
		    void *dctc);
int xv_fw_arm_dct(struct xv_dev *dev, struct xv_call *call, u32 dctn);

#endif
