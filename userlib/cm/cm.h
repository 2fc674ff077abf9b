/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of libxvcm.
 *
 *	device.c	the device of an id; errors
 *	attr.c		attributes of librdmacm for libxverbs
 *	connect.c	connections
 */
#ifndef XVCM_INTERNAL_H
#define XVCM_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <xverbs/cm.h>

#define EXPORT	__attribute__((visibility("default")))

/* Return a negative error number and set the text: own, of libxverbs, of librdmacm */
__attribute__((format(printf, 2, 3)))
int xvm_error(int err, const char *fmt, ...);
int xvm_native(int err);
int xvm_rdma(const char *function);

/*
 * Queries the device of qp.  Refuses a queue pair that is not of the type and device of the id,
 * and an id with a queue pair of libibverbs.
 */
int xvm_check(const struct rdma_cm_id *id, const struct xv_qp *qp, struct xv_device_attr *device);

void xvm_ah_attr(struct xv_ah_attr *to, const struct ibv_ah_attr *from);

/* The attributes that rdma_cm has for the transition of its queue pair to this state */
int xvm_qp_attr(struct rdma_cm_id *id, enum xv_qp_state state, struct xv_qp_attr *attr,
		unsigned int *mask);

#endif
