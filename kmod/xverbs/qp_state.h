/* SPDX-License-Identifier: GPL-2.0 */
/* Required and optional attributes of the state transitions of a QP */
#ifndef XV_QP_STATE_H
#define XV_QP_STATE_H

#include <linux/types.h>
#include <rdma/xverbs.h>

/* All attributes of a queue pair */
struct xv_qp_attrs {
	struct xverbs_qp_attr qp;
	struct xverbs_ah_attr ah_attr;
	struct xverbs_ah_attr alt_ah_attr;
};

/**
 * struct xv_qp_verdict - result of the check of an attribute mask
 * @missing: required attributes that are not in the mask
 * @forbidden: attributes in the mask that the transition does not allow
 * @optional: optional attributes in the mask
 */
struct xv_qp_verdict {
	__u32 missing;
	__u32 forbidden;
	__u32 optional;
};

/* Returns false if the transition does not exist. */
_Bool xv_qp_transition(__u32 type, __u32 from, __u32 to, __u32 mask,
		       struct xv_qp_verdict *verdict);
/* Does the command of this transition have a field for ECE, options for the connection? */
_Bool xv_qp_negotiates(__u32 from, __u32 to);
const char *xv_qp_state_name(__u32 state);
const char *xv_qp_attr_name(__u32 bit);
__u32 xv_qp_attr_unknown(__u32 mask);
_Bool xv_qp_type_known(__u32 type);
const char *xv_qp_attr_out_of_range(const struct xv_qp_attrs *attrs,
				    __u32 mask, __u32 *value);
void xv_qp_attr_merge(struct xv_qp_attrs *to, const struct xv_qp_attrs *from,
		      __u32 mask);
void xv_qp_attr_migrate(struct xv_qp_attrs *attrs);

#endif
