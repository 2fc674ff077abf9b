// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory windows.
 */
#include "ibv.h"

struct ibv_mw *iv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct mw *mw;

	/* The kernel gets 8 bits of it. */
	type = (enum ibv_mw_type)(uint8_t)type;
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return iv_refuse(EINVAL, "allocate memory window: type: ");
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	mw->xv = xv_alloc_mw(TO(pd, pd)->xv, (enum xv_mw_type)type);
	if (!mw->xv) {
		free(mw);
		return iv_null();
	}
	mw->pub = (struct ibv_mw) {
		.context = pd->context,
		.pd = pd,
		.rkey = mw->xv->rkey,
		.handle = mw->xv->handle,
		.type = type,
	};
	return &mw->pub;
}

int iv_dealloc_mw(struct ibv_mw *pub)
{
	struct mw *mw = TO(mw, pub);
	int err = xv_dealloc_mw(mw->xv);

	if (!err)
		free(mw);
	return iv_result(err);
}

struct xv_mw *iv_mw(struct ibv_mw *pub)
{
	struct mw *mw = TO(mw, pub);

	mw->xv->rkey = pub->rkey;
	return mw->xv;
}

void iv_bind_info(struct xv_mw_bind_info *to, const struct ibv_mw_bind_info *from)
{
	to->mr = from->mr ? TO(mr, from->mr)->xv : NULL;
	to->addr = from->addr;
	to->length = from->length;
	to->mw_access_flags = from->mw_access_flags;
}

int iv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	const struct ibv_mw_bind_info *info = &bind->bind_info;
	struct ibv_send_wr *bad, wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = { mw, ibv_inc_rkey(mw->rkey), *info },
	};
	int err;

	if (info->mw_access_flags & IBV_ACCESS_ZERO_BASED ||
	    (info->mr && TO(mr, info->mr)->zero_based))
		return iv_fail(EINVAL);
	if (info->mr && TO(mr, info->mr)->mkey)
		return iv_fail(EOPNOTSUPP);
	err = iv_post_send(qp, &wr, &bad);
	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}
