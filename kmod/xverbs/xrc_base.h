/* SPDX-License-Identifier: GPL-2.0 */
/* Resources shared by all XRC queue pairs of a device */
#ifndef XV_XRC_BASE_H
#define XV_XRC_BASE_H

struct xv_call;
struct xv_dev;
struct xv_dev_qp;

int xv_xrc_base_use(struct xv_call *call, struct xv_dev_qp *qp);
void xv_xrc_base_exit(struct xv_dev *dev);

#endif
