// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups of a UD queue pair.
 */
#include "internal.h"

static int mcast(struct xv_qp *qp, unsigned long request, const char *verb,
		 const union xv_gid *gid, uint16_t lid)
{
	struct xverbs_mcast req = { .qp = qp->handle, .lid = lid };

	memcpy(req.gid, gid->raw, sizeof(req.gid));
	return xv_ioctl(qp->context, request, verb, &req, sizeof(req));
}

XV_EXPORT int xv_attach_mcast(struct xv_qp *qp, const union xv_gid *gid, uint16_t lid)
{
	return mcast(qp, XVERBS_MCAST_ATTACH, "attach multicast", gid, lid);
}

XV_EXPORT int xv_detach_mcast(struct xv_qp *qp, const union xv_gid *gid, uint16_t lid)
{
	return mcast(qp, XVERBS_MCAST_DETACH, "detach multicast", gid, lid);
}
