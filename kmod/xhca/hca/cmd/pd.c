// SPDX-License-Identifier: GPL-2.0
/*
 * Domains: PDs, XRC domains, transport domains: a number and a count of the queues that
 * belong to it.  An mkey of the driver names a PD but does not count.  In the commands of all
 * three kinds the number is at the same place.
 */
#include <linux/slab.h>
#include <linux/mlx5/device.h>
#include "cmd/cmd.h"

static enum hca_synd hca_pd_alloc(struct hca *hca, struct hca_table *t, const struct hca_cmd *c)
{
	struct hca_domain *d = kzalloc(sizeof(*d), HCA_GFP);
	enum hca_synd synd;
	u32 number;

	if (!d)
		return HCA_SYND_NO_MEMORY;
	synd = hca_devx_add(hca, c, t, d, &number);
	if (synd)
		kfree(d);
	else
		MLX5_SET(alloc_pd_out, c->out, pd, number);
	return synd;
}

static enum hca_synd hca_pd_dealloc(struct hca *hca, struct hca_table *t, const struct hca_cmd *c,
				    enum hca_synd none, enum hca_synd busy)
{
	u32 number = MLX5_GET(dealloc_pd_in, c->in, pd);
	struct hca_domain *d = hca_devx_own(c, t, number);

	if (!d)
		return none;
	if (d->users)
		return busy;
	hca_devx_del(hca, t, number);
	kfree(d);
	return HCA_OK;
}

enum hca_synd hca_cmd_alloc_pd(struct hca *hca, const struct hca_cmd *c)
{
	return hca_pd_alloc(hca, &hca->pds, c);
}

enum hca_synd hca_cmd_dealloc_pd(struct hca *hca, const struct hca_cmd *c)
{
	return hca_pd_dealloc(hca, &hca->pds, c, HCA_SYND_PD, HCA_SYND_PD_BUSY);
}

enum hca_synd hca_cmd_alloc_xrcd(struct hca *hca, const struct hca_cmd *c)
{
	return hca_pd_alloc(hca, &hca->xrcds, c);
}

enum hca_synd hca_cmd_dealloc_xrcd(struct hca *hca, const struct hca_cmd *c)
{
	return hca_pd_dealloc(hca, &hca->xrcds, c, HCA_SYND_XRCD, HCA_SYND_XRCD_BUSY);
}

enum hca_synd hca_cmd_alloc_td(struct hca *hca, const struct hca_cmd *c)
{
	return hca_pd_alloc(hca, &hca->tds, c);
}

enum hca_synd hca_cmd_dealloc_td(struct hca *hca, const struct hca_cmd *c)
{
	return hca_pd_dealloc(hca, &hca->tds, c, HCA_SYND_TD, HCA_SYND_TD);
}
