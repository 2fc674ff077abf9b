// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sync events: configuration and the local operations.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include "sync_event.h"

EXPORT doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct doca_sync_event *new;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	new = aligned_alloc(XVD_CACHE_LINE, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	*new = (struct doca_sync_event) { .value = &new->own };
	*event = new;
	return DOCA_SUCCESS;
}

static void drop_buf(struct doca_sync_event *event)
{
	if (event->buf)
		doca_buf_dec_refcount(event->buf, NULL);
	event->buf = NULL;
}

static void unregister(struct doca_sync_event *event)
{
	if (event->mr)
		xv_dereg_mr(event->mr);
	event->mr = NULL;
	event->started = false;
}

EXPORT doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	int i;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	unregister(event);
	drop_buf(event);
	for (i = 0; i < XVD_SE_ROLES; i++)
		if (event->roles[i].dev)
			xvd_dev_put(event->roles[i].dev);
	free(event);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	struct doca_dev *dev;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->started)
		return DOCA_ERROR_BAD_STATE;
	if (!event->roles[XVD_SE_PUBLISHER].set || !event->roles[XVD_SE_SUBSCRIBER].set)
		return DOCA_ERROR_BAD_CONFIG;
	if (event->value == &event->own)
		event->own = 0;
	dev = event->roles[XVD_SE_SUBSCRIBER].dev;
	/* Without a device, the publisher is a peer. */
	if (!event->roles[XVD_SE_PUBLISHER].dev) {
		event->mr = xv_reg_mr(dev->pd, event->value, sizeof(*event->value),
				      XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				      XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC);
		if (!event->mr)
			return xvd_error(errno);
	}
	event->started = true;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	if (!event->started)
		return DOCA_ERROR_BAD_STATE;
	unregister(event);
	return DOCA_SUCCESS;
}

/* dev NULL: the peers */
static doca_error_t set_role(struct doca_sync_event *event, enum xvd_se_role role,
			     struct doca_dev *dev)
{
	if (event->started)
		return DOCA_ERROR_BAD_STATE;
	if (event->roles[role].set)
		return DOCA_ERROR_ALREADY_EXIST;
	event->roles[role].set = true;
	event->roles[role].dev = dev;
	if (dev)
		xvd_dev_get(dev);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
							       struct doca_dev *dev)
{
	return event && dev ? set_role(event, XVD_SE_PUBLISHER, dev) : DOCA_ERROR_INVALID_VALUE;
}

EXPORT doca_error_t doca_sync_event_add_publisher_location_remote_net(
	struct doca_sync_event *event)
{
	return event ? set_role(event, XVD_SE_PUBLISHER, NULL) : DOCA_ERROR_INVALID_VALUE;
}

EXPORT doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
								struct doca_dev *dev)
{
	return event && dev ? set_role(event, XVD_SE_SUBSCRIBER, dev) : DOCA_ERROR_INVALID_VALUE;
}

/* Locations that only a DPU or a GPU has */
#define NO_LOCATION(where)								\
EXPORT doca_error_t doca_sync_event_add_##where						\
{											\
	return event ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;		\
}

NO_LOCATION(publisher_location_remote_pci(struct doca_sync_event *event))
NO_LOCATION(subscriber_location_remote_pci(struct doca_sync_event *event))
NO_LOCATION(publisher_location_dpa(struct doca_sync_event *event,
				   struct doca_dpa *dpa __attribute__((unused))))
NO_LOCATION(subscriber_location_dpa(struct doca_sync_event *event,
				    struct doca_dpa *dpa __attribute__((unused))))
NO_LOCATION(publisher_location_gpu(struct doca_sync_event *event,
				   struct doca_gpu *gpu __attribute__((unused))))
NO_LOCATION(subscriber_location_gpu(struct doca_sync_event *event,
				    struct doca_gpu *gpu __attribute__((unused))))

EXPORT doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
{
	if (!event || !addr || (uintptr_t)addr % sizeof(*addr))
		return DOCA_ERROR_INVALID_VALUE;
	if (event->started)
		return DOCA_ERROR_BAD_STATE;
	drop_buf(event);
	event->value = addr;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event,
						 struct doca_buf *buf)
{
	doca_error_t result;

	if (!event || !buf || buf->mmap->remote || buf->data_len < sizeof(*event->value) ||
	    (uintptr_t)buf->data % sizeof(*event->value))
		return DOCA_ERROR_INVALID_VALUE;
	if (event->started)
		return DOCA_ERROR_BAD_STATE;
	result = doca_buf_inc_refcount(buf, NULL);
	if (result != DOCA_SUCCESS)
		return result;
	drop_buf(event);
	event->buf = buf;
	event->value = (uint64_t *)buf->data;
	return DOCA_SUCCESS;
}

static doca_error_t check_started(const struct doca_sync_event *event, bool valid)
{
	if (!event || !valid)
		return DOCA_ERROR_INVALID_VALUE;
	return event->started ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
}

EXPORT doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	doca_error_t result = check_started(event, value != NULL);

	if (result == DOCA_SUCCESS)
		*value = __atomic_load_n(event->value, __ATOMIC_ACQUIRE);
	return result;
}

EXPORT doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
					       uint64_t *fetched)
{
	doca_error_t result = check_started(event, fetched != NULL);

	if (result == DOCA_SUCCESS)
		*fetched = __atomic_fetch_add(event->value, value, __ATOMIC_ACQ_REL);
	return result;
}

EXPORT doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	doca_error_t result = check_started(event, true);

	if (result == DOCA_SUCCESS)
		__atomic_store_n(event->value, value, __ATOMIC_RELEASE);
	return result;
}

#define WAIT(name, op, pause)									\
EXPORT doca_error_t doca_sync_event_wait_##name(struct doca_sync_event *event, uint64_t value,	\
						uint64_t mask)					\
{												\
	doca_error_t result = check_started(event, true);					\
												\
	if (result != DOCA_SUCCESS)								\
		return result;									\
	while (!((__atomic_load_n(event->value, __ATOMIC_ACQUIRE) & mask) op value))		\
		pause();									\
	return DOCA_SUCCESS;									\
}

WAIT(gt, >, xv_cpu_relax)
WAIT(eq, ==, xv_cpu_relax)
WAIT(neq, !=, xv_cpu_relax)
WAIT(gt_yield, >, sched_yield)
WAIT(eq_yield, ==, sched_yield)
WAIT(neq_yield, !=, sched_yield)
