// SPDX-License-Identifier: GPL-2.0
/*
 * User contexts and the ownership of objects.
 *
 * The driver creates a user context for a process (CREATE_UCTX) and writes its number, the uid,
 * into each command that it sends for the process.  It passes some commands on as the process
 * wrote them (DEVX), so a command with a uid is not trusted: it may name only objects that were
 * created with the same uid.  A command without a uid is the driver's own and may name all
 * objects.  Each number in a command is looked up by a function of this file.
 *
 * A process chooses the capacity of the lists of its mkeys, which are memory of the host.  This
 * memory is limited for each context and for all contexts of a function.  The driver has as much
 * for its own mkeys, which processes can fill, too: it may create them on their behalf.  A list is
 * charged when its mkey is created, for the whole capacity, so that no request fails that sets
 * entries later.
 *
 * The driver creates completion EQs and counter sets with HCA_SHARED_UID.  All contexts may use
 * them, but only the driver may query, change or destroy them.  Linux never lets a process choose
 * the uid.
 */
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/mlx5/device.h>
#include "base/alloc.h"
#include "base/devx.h"

struct hca_uctx {
	u32 objects;			/* that it owns */
	u64 list_bytes;			/* charged for the lists of its mkeys */
	struct hca_owner owner;		/* the share of its queue pairs */
};

static struct hca_uctx *hca_devx_uctx(struct hca *hca, u16 uid)
{
	return hca_table_get(&hca->uctxs, uid);
}

struct hca_owner *hca_devx_owner(struct hca *hca, u16 uid)
{
	struct hca_uctx *uctx = hca_devx_uctx(hca, uid);

	return uctx ? &uctx->owner : NULL;
}

/* A context may use this part of what all contexts may use. */
enum { UCTX_PART = 4 };

bool hca_devx_charge(struct hca_mkey *mkey, u64 bytes)
{
	struct hca *hca = mkey->hca;
	struct hca_uctx *uctx = hca_devx_uctx(hca, mkey->uid);
	u64 *all = uctx ? &hca->list_bytes.processes : &hca->list_bytes.driver;
	u64 limit = hca->p.list_bytes;

	if (bytes > limit - *all || (uctx && bytes > limit / UCTX_PART - uctx->list_bytes))
		return false;
	*all += bytes;
	if (uctx)
		uctx->list_bytes += bytes;
	mkey->list_bytes = bytes;
	return true;
}

void hca_devx_uncharge(struct hca_mkey *mkey)
{
	struct hca *hca = mkey->hca;
	struct hca_uctx *uctx = hca_devx_uctx(hca, mkey->uid);
	u64 *all = uctx ? &hca->list_bytes.processes : &hca->list_bytes.driver;

	*all -= mkey->list_bytes;
	if (uctx)
		uctx->list_bytes -= mkey->list_bytes;
}

enum hca_synd hca_devx_check(struct hca *hca, const struct hca_opcode *op, const struct hca_cmd *c)
{
	if (!c->uid)
		return HCA_OK;
	if (c->uid == HCA_SHARED_UID)
		return op->users & HCA_FOR_ALL ? HCA_OK : HCA_SYND_UID;
	return op->users & HCA_FOR_USER && hca_devx_uctx(hca, c->uid) ? HCA_OK : HCA_SYND_UID;
}

void *hca_devx_own(const struct hca_cmd *c, const struct hca_table *t, u32 number)
{
	bool by_driver = !c->uid || c->uid == HCA_SHARED_UID;
	void *obj = hca_table_get(t, number);

	return obj && (by_driver || hca_table_uid(t, number) == c->uid) ? obj : NULL;
}

void *hca_devx_use(const struct hca_cmd *c, const struct hca_table *t, u32 number)
{
	void *obj = hca_table_get(t, number);

	if (obj && hca_table_uid(t, number) == HCA_SHARED_UID)
		return obj;
	return hca_devx_own(c, t, number);
}

struct hca_qp *hca_devx_qp(struct hca *hca, const struct hca_cmd *c, u32 qpn)
{
	return hca_devx_own(c, &hca->qps, qpn) ? hca_qp_get(hca, qpn) : NULL;
}

struct hca_qp *hca_devx_dct(struct hca *hca, const struct hca_cmd *c, u32 dctn)
{
	return hca_devx_own(c, &hca->qps, dctn) ? hca_dct_get(hca, dctn) : NULL;
}

enum hca_synd hca_devx_add(struct hca *hca, const struct hca_cmd *c, struct hca_table *t,
			   void *obj, u32 *number)
{
	struct hca_uctx *uctx = hca_devx_uctx(hca, c->uid);
	int err = hca_table_add(t, obj, c->uid, number);

	if (err == -ENOMEM)
		return HCA_SYND_NO_MEMORY;
	if (err)
		return HCA_SYND_LIMIT;
	if (uctx)
		uctx->objects++;
	return HCA_OK;
}

void hca_devx_del(struct hca *hca, struct hca_table *t, u32 number)
{
	struct hca_uctx *uctx = hca_devx_uctx(hca, hca_table_uid(t, number));

	if (uctx)
		uctx->objects--;
	hca_table_del(t, number);
}

/* ---- Commands -------------------------------------------------------------------- */

void hca_uctx_free(struct hca *hca, void *obj)
{
	struct hca_uctx *uctx = obj;

	hca_heap_leave(&hca->owners.queue, &uctx->owner.share.place);
	kfree(uctx);
}

/* A context asks for rights that the general capability page announces: there are none. */
enum hca_synd hca_cmd_create_uctx(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_uctx *uctx;
	enum hca_synd synd;
	u32 uid;

	if (MLX5_GET(create_uctx_in, c->in, uctx.cap))
		return HCA_SYND_PRIVILEGED;
	uctx = kzalloc(sizeof(*uctx), HCA_GFP);
	if (!uctx || hca_heap_join(&hca->owners.queue)) {
		kfree(uctx);
		return HCA_SYND_NO_MEMORY;
	}
	synd = hca_devx_add(hca, c, &hca->uctxs, uctx, &uid);
	if (synd)
		hca_uctx_free(hca, uctx);
	else
		MLX5_SET(create_uctx_out, c->out, uid, uid);
	return synd;
}

/* The driver destroys the objects of a context before the context. */
enum hca_synd hca_cmd_destroy_uctx(struct hca *hca, const struct hca_cmd *c)
{
	u16 uid = MLX5_GET(destroy_uctx_in, c->in, uid);
	struct hca_uctx *uctx = hca_devx_uctx(hca, uid);

	if (!uctx)
		return HCA_SYND_UCTX;
	if (uctx->objects)
		return HCA_SYND_UCTX_BUSY;
	hca_devx_del(hca, &hca->uctxs, uid);
	hca_uctx_free(hca, uctx);
	return HCA_OK;
}
