/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of the adapter.
 */
#ifndef _HCA_CLOCK_H
#define _HCA_CLOCK_H

#include "base/fabric.h"
#include "base/model.h"

/* Reads the clock of the host into fabric.now. */
void hca_clock_read(struct hca_fabric *f);
/* Updates the clock registers of all functions, if it is time. */
void hca_clock_run(struct hca_fabric *f);
/* Sets the clock of @hca to the time of this pass. */
void hca_clock_set(struct hca *hca);
/* The time stamp of a completion */
static inline u64 hca_clock_stamp(struct hca *hca)
{
	const struct hca_fabric *f = hca->fabric;

	if (f->clock.pass != f->stat.polls || hca->clock.time != f->now)
		hca_clock_set(hca);
	return hca->clock.ticks;
}

#endif
