/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User contexts, and which user context owns which object.
 */
#ifndef _HCA_DEVX_H
#define _HCA_DEVX_H

#include "base/command.h"
#include "base/fabric.h"

/* May the sender of @c send such a command? */
enum hca_synd hca_devx_check(struct hca *hca, const struct hca_opcode *op,
			     const struct hca_cmd *c);
/* The object that a command queries, changes or uses, or NULL: its sender must own it. */
void *hca_devx_own(const struct hca_cmd *c, const struct hca_table *t, u32 number);
/* The same for an object that others may share */
void *hca_devx_use(const struct hca_cmd *c, const struct hca_table *t, u32 number);
struct hca_qp *hca_devx_qp(struct hca *hca, const struct hca_cmd *c, u32 qpn);
struct hca_qp *hca_devx_dct(struct hca *hca, const struct hca_cmd *c, u32 dctn);
/* Gives a new object its number, and makes the sender of @c its owner. */
enum hca_synd hca_devx_add(struct hca *hca, const struct hca_cmd *c, struct hca_table *t,
			   void *obj, u32 *number);
void hca_devx_del(struct hca *hca, struct hca_table *t, u32 number);
/* The user context with this uid, as the owner of queue pairs; NULL: the driver */
struct hca_owner *hca_devx_owner(struct hca *hca, u16 uid);
/* Charges memory for the list of @mkey to its owner; false: above the limit */
bool hca_devx_charge(struct hca_mkey *mkey, u64 bytes);
void hca_devx_uncharge(struct hca_mkey *mkey);
void hca_uctx_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_uctx(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_uctx(struct hca *hca, const struct hca_cmd *c);

#endif
