// SPDX-License-Identifier: GPL-2.0
/*
 * xverbs: RDMA verbs on ConnectX adapters with the data path in user space.  This file
 * has module init and exit.
 */
#include <linux/module.h>

#include "device.h"
#include "file.h"

static int __init xv_init(void)
{
	int err;

	xv_resources_init();
	err = xv_alive_init();
	if (err)
		goto err_resources;
	err = xv_files_init();
	if (err)
		goto err_alive;
	err = xv_nodes_init();
	if (err)
		goto err_files;
	err = xv_devices_init();
	if (err)
		goto err_nodes;
	return 0;

err_nodes:
	xv_nodes_exit();
err_files:
	xv_files_exit();
err_alive:
	xv_alive_exit();
err_resources:
	xv_resources_exit();
	return err;
}

static void __exit xv_exit(void)
{
	xv_devices_exit();
	xv_nodes_exit();
	xv_files_exit();
	xv_alive_exit();
	xv_resources_exit();
}

module_init(xv_init);
module_exit(xv_exit);

MODULE_DESCRIPTION("RDMA verbs with a user space data path for ConnectX");
MODULE_LICENSE("GPL");
