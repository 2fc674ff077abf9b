// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast groups: the queue pairs that receive what is sent to a multicast GID.
 *
 * A group exists while it has members.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "base/alloc.h"
#include "base/devx.h"
#include "base/limits.h"
#include "data/data.h"

struct mcg {
	struct list_head entry;		/* hca.mcgs */
	struct list_head members;
	u32 count;
	u8 gid[16];
};

struct member {
	struct list_head entry;		/* mcg.members */
	struct hca_qp *qp;
	u64 number;			/* ascending in the list */
};

static struct mcg *hca_mcg_find(struct hca *hca, const u8 *gid)
{
	struct mcg *g, *found = NULL;
	u32 looked_at = 0;

	list_for_each_entry(g, &hca->mcgs, entry) {
		looked_at++;
		if (memcmp(g->gid, gid, sizeof(g->gid)))
			continue;
		found = g;
		break;
	}
	hca_charge(hca->fabric, HCA_ENTRIES, looked_at);
	return found;
}

static struct member *hca_mcg_find_member(struct mcg *g, const struct hca_qp *qp)
{
	struct member *m;

	list_for_each_entry(m, &g->members, entry)
		if (m->qp == qp)
			return m;
	return NULL;
}

static void hca_mcg_leave(struct hca *hca, struct mcg *g, struct member *m)
{
	m->qp->mcg_users--;
	list_del(&m->entry);
	kfree(m);
	if (--g->count)
		return;
	list_del(&g->entry);
	kfree(g);
	hca->nmcgs--;
}

enum hca_mcg_walk hca_mcg_walk(struct hca_port *port, const u8 *gid, u64 *last,
			       enum hca_mcg_next (*fn)(struct hca_qp *qp, void *arg), void *arg)
{
	enum hca_mcg_walk walk = HCA_MCG_NONE;
	struct mcg *g = hca_mcg_find(port->hca, gid);
	enum hca_mcg_next next;
	struct member *m;

	if (!g)
		return HCA_MCG_NONE;
	hca_charge(port->hca->fabric, HCA_ENTRIES, g->count);
	list_for_each_entry(m, &g->members, entry) {
		if (m->qp->port != port)
			continue;
		walk = HCA_MCG_ALL;
		if (m->number <= *last)
			continue;
		next = fn(m->qp, arg);
		if (next != HCA_MCG_REPEAT)
			*last = m->number;
		if (next != HCA_MCG_CONTINUE)
			return HCA_MCG_STOPPED;
	}
	return walk;
}

void hca_mcg_detach_all(struct hca_qp *qp)
{
	struct mcg *g, *next;
	struct member *m;

	if (!qp->mcg_users)
		return;
	list_for_each_entry_safe(g, next, &qp->hca->mcgs, entry) {
		m = hca_mcg_find_member(g, qp);
		if (m)
			hca_mcg_leave(qp->hca, g, m);
	}
}

static struct mcg *hca_mcg_new(struct hca *hca, const u8 *gid)
{
	struct mcg *g;

	if (hca->nmcgs >= 1u << HCA_LOG_MAX_MCG)
		return NULL;
	g = kzalloc(sizeof(*g), HCA_GFP);
	if (!g)
		return NULL;
	memcpy(g->gid, gid, sizeof(g->gid));
	INIT_LIST_HEAD(&g->members);
	list_add_tail(&g->entry, &hca->mcgs);
	hca->nmcgs++;
	return g;
}

static enum hca_synd hca_mcg_join(struct hca *hca, struct hca_qp *qp, const u8 *gid)
{
	struct mcg *g = hca_mcg_find(hca, gid);
	struct member *m;

	if (g && hca_mcg_find_member(g, qp))
		return HCA_OK;
	if (g && g->count >= HCA_MAX_QP_MCG)
		return HCA_SYND_MCG_FULL;
	m = kzalloc(sizeof(*m), HCA_GFP);
	if (!m)
		return HCA_SYND_NO_MEMORY;
	if (!g)
		g = hca_mcg_new(hca, gid);
	if (!g) {
		kfree(m);
		return HCA_SYND_MCG_FULL;
	}
	m->qp = qp;
	m->number = ++hca->fabric->last_member;
	list_add_tail(&m->entry, &g->members);
	g->count++;
	qp->mcg_users++;
	return HCA_OK;
}

/* ff00::/8, or on RoCE 224.0.0.0/4 as ::ffff:a.b.c.d */
static bool hca_mcg_is_multicast(const struct hca *hca, const u8 *gid)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (gid[0] == 0xff)
		return true;
	return hca->p.roce && !memcmp(gid, mapped, sizeof(mapped)) && gid[12] >> 4 == 0xe;
}

enum hca_synd hca_cmd_attach_mcg(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *qp = hca_devx_qp(hca, c, MLX5_GET(attach_to_mcg_in, c->in, qpn));
	const u8 *gid = MLX5_ADDR_OF(attach_to_mcg_in, c->in, multicast_gid);

	if (!qp)
		return HCA_SYND_QP;
	if (qp->st != MLX5_QP_ST_UD)
		return HCA_SYND_MCG_TYPE;
	if (!hca_mcg_is_multicast(hca, gid))
		return HCA_SYND_MCG_GID;
	return hca_mcg_join(hca, qp, gid);
}

enum hca_synd hca_cmd_detach_mcg(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *qp = hca_devx_qp(hca, c, MLX5_GET(detach_from_mcg_in, c->in, qpn));
	struct mcg *g = hca_mcg_find(hca, MLX5_ADDR_OF(detach_from_mcg_in, c->in, multicast_gid));
	struct member *m;

	if (!qp)
		return HCA_SYND_QP;
	m = g ? hca_mcg_find_member(g, qp) : NULL;
	if (!m)
		return HCA_SYND_MCG_MEMBER;
	hca_mcg_leave(hca, g, m);
	return HCA_OK;
}
