// SPDX-License-Identifier: GPL-2.0
/*
 * Domains: PDs, XRC domains, transport domains.  Numbers with a count of the
 * queues that belong to them; mkeys name a PD but do not hold it.
 */
#include <linux/slab.h>
#include <linux/mlx5/device.h>
#include "cmd.h"

static enum hca_synd alloc(struct hca_table *t, u32 *number)
{
	struct hca_domain *d = kzalloc(sizeof(*d), GFP_KERNEL);
	enum hca_synd synd;

	if (!d)
		return HCA_SYND_NO_MEMORY;
	synd = hca_number(t, d, number);
	if (synd)
		kfree(d);
	return synd;
}

static enum hca_synd dealloc(struct hca_table *t, u32 number, enum hca_synd none,
			     enum hca_synd busy)
{
	struct hca_domain *d = hca_table_get(t, number);

	if (!d)
		return none;
	if (d->users)
		return busy;
	hca_table_del(t, number);
	kfree(d);
	return HCA_OK;
}

enum hca_synd hca_cmd_alloc_pd(struct hca *hca, const struct hca_cmd *c)
{
	enum hca_synd synd;
	u32 pd = 0;

	synd = alloc(&hca->pds, &pd);
	MLX5_SET(alloc_pd_out, c->out, pd, pd);
	return synd;
}

enum hca_synd hca_cmd_dealloc_pd(struct hca *hca, const struct hca_cmd *c)
{
	return dealloc(&hca->pds, MLX5_GET(dealloc_pd_in, c->in, pd), HCA_SYND_PD,
		       HCA_SYND_PD_BUSY);
}

enum hca_synd hca_cmd_alloc_xrcd(struct hca *hca, const struct hca_cmd *c)
{
	enum hca_synd synd;
	u32 xrcd = 0;

	synd = alloc(&hca->xrcds, &xrcd);
	MLX5_SET(alloc_xrcd_out, c->out, xrcd, xrcd);
	return synd;
}

enum hca_synd hca_cmd_dealloc_xrcd(struct hca *hca, const struct hca_cmd *c)
{
	return dealloc(&hca->xrcds, MLX5_GET(dealloc_xrcd_in, c->in, xrcd), HCA_SYND_XRCD,
		       HCA_SYND_XRCD_BUSY);
}

enum hca_synd hca_cmd_alloc_td(struct hca *hca, const struct hca_cmd *c)
{
	enum hca_synd synd;
	u32 td = 0;

	synd = alloc(&hca->tds, &td);
	MLX5_SET(alloc_transport_domain_out, c->out, transport_domain, td);
	return synd;
}

enum hca_synd hca_cmd_dealloc_td(struct hca *hca, const struct hca_cmd *c)
{
	u32 td = MLX5_GET(dealloc_transport_domain_in, c->in, transport_domain);

	return dealloc(&hca->tds, td, HCA_SYND_TD, HCA_SYND_TD);
}
