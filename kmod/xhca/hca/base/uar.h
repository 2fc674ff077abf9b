/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Doorbell pages.
 */
#ifndef _HCA_UAR_H
#define _HCA_UAR_H

#include "base/command.h"
#include "base/objects.h"

/* The number of queues that use the page has changed. */
void hca_uar_used(struct hca_uar *uar);
/* Software has rung a doorbell on the page: its registers are read more often. */
void hca_uar_set_active(struct hca_uar *uar);
/* No doorbell was rung on it for a while: its registers are read less often. */
void hca_uar_set_idle(struct hca_uar *uar);
void hca_uar_stop_sweep(struct hca_uar *uar);

/* The doorbell page for a new queue, or NULL */
struct hca_uar *hca_uar_get(struct hca *hca, const struct hca_cmd *c, u32 index);
/* A queue has left the page: frees the page if it was the last and the driver released it. */
void hca_uar_put(struct hca_uar *uar);
void hca_uar_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_alloc_uar(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_uar(struct hca *hca, const struct hca_cmd *c);

#endif
