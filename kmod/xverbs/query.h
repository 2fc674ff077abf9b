/* SPDX-License-Identifier: GPL-2.0 */
/* Queries: device, ports, tables of a port, features */
#ifndef XV_QUERY_H
#define XV_QUERY_H

#include "xv.h"

int xv_check_port(struct xv_call *call, u32 port);

/* Handlers of the ioctls */
int xv_device_query(struct xv_call *call);
int xv_port_query(struct xv_call *call);
int xv_gid_query(struct xv_call *call);
int xv_pkey_query(struct xv_call *call);
int xv_features_query(struct xv_call *call);

#endif
