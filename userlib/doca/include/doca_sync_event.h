/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sync events: numbers of 64 bits that threads, and peers by RDMA, set, increase and wait for.
 * Compatible with the header of the same name of the DOCA SDK.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer, DOCA_ERROR_BAD_STATE in the wrong state.
 *
 * Threads: one thread at a time may configure, start and stop an event.  Any thread may read,
 * update and wait for a started one.
 */
#ifndef XVDOCA_SYNC_EVENT_H
#define XVDOCA_SYNC_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;
struct doca_sync_event;
struct doca_sync_event_remote_net;

/* doca_sync_event_destroy() stops the event first. */
doca_error_t doca_sync_event_create(struct doca_sync_event **event);
doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/*
 * The event needs a publisher, which updates the value, and a subscriber, which waits for it; else
 * start returns DOCA_ERROR_BAD_CONFIG.  The value is 0 at the start, unless the program has given
 * its place.
 */
doca_error_t doca_sync_event_start(struct doca_sync_event *event);
doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/* ---- Configuration, while the event is stopped ---------------------------------------------- */

/*
 * One publisher and one subscriber.  dev: the device on which the value is registered.
 * remote_net: peers publish by RDMA.  Values are not possible in memory of a GPU or DPA or of the
 * host of a DPU: DOCA_ERROR_NOT_SUPPORTED.
 */
doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
							struct doca_dev *dev);
doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event);
doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event);
doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event,
							struct doca_dpa *dpa);
doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event,
							struct doca_gpu *gpu);
doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
							 struct doca_dev *dev);
doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event);
doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event,
							 struct doca_dpa *dpa);
doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event,
							 struct doca_gpu *gpu);

/*
 * The place of the value, aligned to 8 bytes, instead of one that the library allocates.  buf: its
 * data has at least 8 bytes; the event takes a reference.
 */
doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr);
doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf);

/* ---- The value of a started event -------------------------------------------------------- */

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);

/* Increase, which is atomic among CPUs; *fetched is the value before. */
doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
					uint64_t *fetched);
doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value);

/*
 * Wait until the bits of mask of the value are greater than, equal or not equal to value.  They
 * poll; those named yield give the CPU to other threads meanwhile.
 */
doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask);
doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value,
					   uint64_t mask);
doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask);
doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value,
					   uint64_t mask);
doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value,
				      uint64_t mask);
doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value,
					    uint64_t mask);

/* ---- Events of other processes ---------------------------------------------------------- */

/*
 * A description of a started event with a publisher of type remote_net, for peers.  It belongs to
 * the event and is valid until that is stopped.
 */
doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
						  const uint8_t **data, size_t *sz);

/*
 * For RDMA tasks on dev.  DOCA_ERROR_INVALID_VALUE: the description is damaged.
 * DOCA_ERROR_UNSUPPORTED_VERSION: it comes from another version.
 */
doca_error_t doca_sync_event_remote_net_create_from_export(struct doca_dev *dev,
							   const uint8_t *data, size_t sz,
							   struct doca_sync_event_remote_net **se);
doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *se);

/* Export through PCI functions: DOCA_ERROR_NOT_SUPPORTED */
doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
						  struct doca_dev *dev, const uint8_t **data,
						  size_t *sz);
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
						size_t sz, struct doca_sync_event **event);

/* DOCA_SUCCESS or DOCA_ERROR_NOT_SUPPORTED */
doca_error_t doca_sync_event_cap_is_export_to_remote_net_supported(
	const struct doca_devinfo *devinfo);
doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(
	const struct doca_devinfo *devinfo);
doca_error_t doca_sync_event_cap_is_create_from_export_supported(
	const struct doca_devinfo *devinfo);

#ifdef __cplusplus
}
#endif

#endif
