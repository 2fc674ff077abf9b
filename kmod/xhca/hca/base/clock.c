// SPDX-License-Identifier: GPL-2.0
/*
 * The core clock counts ticks of the model, from the time of the host.  The driver and programs
 * read it in the initialization segment; completions have time stamps of it.
 *
 * The register is memory, so it shows the time of its last update: by a pass or by a look
 * at the doorbells.  Completions of one pass have one time stamp.  It is never older than
 * a reading before the request, and never newer than a reading after the completion.
 */
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/types.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "base/clock.h"

enum {
	UPDATE_NS	= 10000,	/* a store to a register costs more than one to memory */
};

static void hca_clock_update(struct hca *hca)
{
	struct mlx5_init_seg *seg = hca->p.bar;

	hca->clock.time = hca->fabric->now;
	hca->clock.ticks = hca_model_ticks(hca->p.model, hca->clock.time);
	/* One store: readers see both halves change together. */
	WRITE_ONCE(*(__be64 *)&seg->internal_timer_h, cpu_to_be64(hca->clock.ticks));
}

void hca_clock_read(struct hca_fabric *f)
{
	f->clock.pass = f->stat.polls;
	f->clock.units = f->stat.units;
	f->now = ktime_get_ns();
}

void hca_clock_run(struct hca_fabric *f)
{
	struct hca *hca;

	if (f->now < f->clock.due)
		return;
	f->clock.due = f->now + UPDATE_NS;
	list_for_each_entry(hca, &f->functions.list, entry)
		if (!hca->gone)
			hca_clock_update(hca);
}

void hca_clock_set(struct hca *hca)
{
	struct hca_fabric *f = hca->fabric;

	if (f->clock.pass != f->stat.polls)
		hca_clock_read(f);
	if (hca->clock.time != f->now)
		hca_clock_update(hca);
}
