/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of libxverbs-exp: the experimental verbs of the RDMA Aware
 * manual.  An object that ibverbs has is one of libxverbs-ibverbs; xv_bridge_get_*() find the
 * object of libxverbs behind it, and refuse those of other providers with EINVAL.
 */
#ifndef XVERBS_EXP_H
#define XVERBS_EXP_H

#include "../ibverbs/ibv.h"
#include <infiniband/verbs_exp.h>

/* Null: not an indirect key */
static inline struct xv_mkey *xv_mkey_of(struct ibv_mr *mr)
{
	return xv_bridge_get_ctx(mr->context) ? TO(mr, mr)->mkey : NULL;
}

/* All bits of ibv_exp_access_flags that have the same value in ibv_access_flags */
#define SAME_ACCESS	((uint64_t)(IBV_EXP_ACCESS_LOCAL_WRITE | IBV_EXP_ACCESS_REMOTE_WRITE | \
				    IBV_EXP_ACCESS_REMOTE_READ | IBV_EXP_ACCESS_REMOTE_ATOMIC | \
				    IBV_EXP_ACCESS_MW_BIND))

/* Refuse bits of a comp_mask that the header does not define, and those not supported. */
int exp_check_mask(const char *what, uint64_t mask, uint64_t defined, uint64_t supported);

/* Converts the description of a window; -EINVAL: a flag is not supported. */
int exp_bind_info(struct ibv_mw_bind_info *to, const struct ibv_exp_mw_bind_info *from);

/* Reports a failure and returns the error number. */
int exp_refuse(int err, const char *what);

bool exp_domain_is_single(const struct ibv_exp_res_domain *domain);

/* ---- Requests ----------------------------------------------------------------------- */

/* Entries of an indirect key that fit into a request */
#define MAX_INLINE_ENTRIES	56

union exp_entry {
	struct xv_sge region;
	struct xv_repeat_block block;
};

/* What a UMR request needs while it is built */
struct exp_umr {
	struct xv_umr umr;
	union exp_entry entries[MAX_INLINE_ENTRIES];
};

/* Memory for the list of a key.  The entries are used only while a request is built. */
struct exp_list {
	struct ibv_exp_mkey_list_container pub;
	struct xv_mr *mr;
	void *memory;
	union exp_entry *entries;
};

/*
 * Translates a request without its successor.  umr: memory for a UMR request, else not used; it
 * must exist until the request is built.
 */
int exp_translate(struct xv_send_wr *to, const struct xv_qp *qp, const struct ibv_exp_send_wr *wr,
		  struct exp_umr *umr);
int exp_translate_umr(struct exp_umr *to, const struct ibv_exp_send_wr *wr);

#endif
