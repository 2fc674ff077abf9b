/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices: their list, nodes, bound files and events */
#ifndef XV_DEVICE_H
#define XV_DEVICE_H

#include "xv.h"

/* client.c: registers with ib_core, which then adds the devices. */
int xv_devices_init(void);
void xv_devices_exit(void);
int xv_device_list(struct xv_call *call);
int xv_bind(struct xv_call *call);

/* device.c */
void xv_dev_get(struct xv_dev *dev);
void xv_dev_put(struct xv_dev *dev);
void xv_dev_set_name(struct xv_dev *dev);
void xv_dev_name(struct xv_dev *dev, char name[XVERBS_NAME_MAX]);
/* Is the device in the network namespace of the caller?  Removal must not have ended. */
bool xv_dev_visible(const struct xv_dev *dev);
void xv_dev_close_binding(struct xv_dev *dev);
struct xv_file *xv_dev_first_file(struct xv_dev *dev);
void xv_dev_unbind(struct xv_dev *dev, struct xv_file *file);
const char *xv_dev_probe(struct xv_dev *dev);

/* node.c */
int xv_nodes_init(void);
void xv_nodes_exit(void);
void xv_node_init(struct xv_dev *dev, void (*release)(struct device *node));
int xv_node_add(struct xv_dev *dev);
void xv_node_del(struct xv_dev *dev);
struct xv_dev *xv_node_get_dev(struct xv_call *call, int fd);

/* event.c */
void xv_events_start(struct xv_dev *dev);
void xv_events_stop(struct xv_dev *dev);

/* number.c: xv_dev.qps, .srqs and .dcts */
int xv_number_add(struct xarray *numbers, u32 number, void *entry);
void xv_number_del(struct xarray *numbers, u32 number, void *entry);

#endif
