/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of a pass (run.c).
 */
#ifndef _HCA_PASS_H
#define _HCA_PASS_H

#include "cmd/cmd.h"

/* ---- sweep.c ----------------------------------------------------------------------------- */

/* Reads every record of the page, some in each pass. */
void hca_sweep(struct hca_uar *uar, enum hca_record_kind kind);
/* Restarts a sweep that stopped because the function was halted. */
void hca_sweep_restart(struct hca_uar *uar);
static inline void hca_sweep_resume(struct hca_uar *uar)
{
	if (uar->sweep_stopped)
		hca_sweep_restart(uar);
}

/* Reads active records and sweeps.  @steps: work since the last pass */
unsigned int hca_sweep_poll(struct hca_fabric *f, u32 steps);
/* True if an active record has changed; the change stays pending. */
bool hca_sweep_rung(struct hca_fabric *f);

/* ---- doorbell.c -------------------------------------------------------------------------- */

/* Reads doorbell registers and records; returns how many had changed. */
unsigned int hca_doorbell_poll(struct hca_fabric *f);
/* Reads the EQ registers of a doorbell page. */
unsigned int hca_doorbell_look_eq(struct hca_uar *uar);
/* True if a doorbell was rung, see hca_fabric_rung(). */
bool hca_doorbell_rung(struct hca_fabric *f);

/* ---- fabric.c ---------------------------------------------------------------------------- */

/* For hca_fabric_create() and hca_fabric_free(), and for tests that have the memory */
__visible int hca_fabric_init(struct hca_fabric *f);
__visible void hca_fabric_exit(struct hca_fabric *f);

#endif
