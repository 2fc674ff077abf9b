/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UMEMs: memory of a process that its objects name by a number.
 */
#ifndef _HCA_UMEM_H
#define _HCA_UMEM_H

#include "base/buf.h"
#include "base/objects.h"

/* Each makes the object a user of the UMEM, until hca_umem_put(). */
enum hca_synd hca_umem_ring(struct hca *hca, const struct hca_cmd *c, struct hca_buf *b,
			    const struct hca_ring *ring);
enum hca_synd hca_umem_record(struct hca *hca, const struct hca_cmd *c,
			      const struct hca_place *place, u32 bytes, __be32 **record,
			      struct hca_umem **user);
enum hca_synd hca_umem_map(struct hca_mkey *mkey, const struct hca_cmd *c, u32 id, u64 at,
			   void ***page, u32 *n);
void hca_umem_put(struct hca_umem *umem);	/* NULL: nothing */
void hca_umem_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_umem(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_umem(struct hca *hca, const struct hca_cmd *c);

#endif
