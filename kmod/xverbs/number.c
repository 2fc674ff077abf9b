// SPDX-License-Identifier: GPL-2.0
/* Tables of a device: number of a queue in the adapter -> queue, for its events */
#include "device.h"

/* From now on, events of the number go to @entry. */
int xv_number_add(struct xarray *numbers, u32 number, void *entry)
{
	return xa_err(xa_store_irq(numbers, number, entry, XV_GFP));
}

/*
 * Called after the adapter has destroyed @entry.  Its number may be in use again, so
 * the entry of another object is not deleted.
 */
void xv_number_del(struct xarray *numbers, u32 number, void *entry)
{
	xa_cmpxchg_irq(numbers, number, entry, NULL, 0);
}
