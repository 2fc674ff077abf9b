// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Resource domains.  The queues of a domain that only one thread uses have no locks.
 */
#include "exp.h"

struct domain {
	struct ibv_exp_res_domain pub;
	bool single;
};

bool exp_domain_is_single(const struct ibv_exp_res_domain *domain)
{
	return domain && ((const struct domain *)(const void *)domain)->single;
}

EXPORT struct ibv_exp_res_domain *
ibv_exp_create_res_domain(struct ibv_context *ctx, struct ibv_exp_res_domain_init_attr *attr)
{
	const uint32_t defined = IBV_EXP_RES_DOMAIN_RESERVED - 1;
	struct domain *domain;

	if (!xv_bridge_get_ctx(ctx) ||
	    exp_check_mask("resource domain: comp_mask: ", attr->comp_mask, defined, defined))
		return NULL;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return NULL;
	domain->pub.context = ctx;
	domain->single = attr->comp_mask & IBV_EXP_RES_DOMAIN_THREAD_MODEL &&
			 attr->thread_model != IBV_EXP_THREAD_SAFE;
	return &domain->pub;
}

/* The queues of the domain keep what they are. */
EXPORT int ibv_exp_destroy_res_domain(struct ibv_context *ctx, struct ibv_exp_res_domain *domain,
				      struct ibv_exp_destroy_res_domain_attr *attr)
{
	int err = attr ? exp_check_mask("resource domain: comp_mask: ", attr->comp_mask, 0, 0) : 0;

	(void)ctx;
	if (!err)
		free(domain);
	return err;
}
