// SPDX-License-Identifier: GPL-2.0
/*
 * Prints numbers and paths of all devices, and what programs read there to find out at which
 * processors a device is.
 */
#include <stdio.h>
#include <unistd.h>
#include "verbs.h"

/* A file of one line in a directory of sysfs */
static void print_file(const char *dir, const char *name)
{
	char path[2 * IBV_SYSFS_PATH_MAX], line[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	need(f && fgets(line, sizeof(line), f), path);
	printf(" %s %.*s", name, (int)strcspn(line, "\n"), line);
	fclose(f);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d;

	need(list != NULL, "ibv_get_device_list");
	for (d = list; *d; d++) {
		printf("%s: index %d, %s, %s, %s,", ibv_get_device_name(*d),
		       ibv_get_device_index(*d), (*d)->dev_name, (*d)->dev_path,
		       (*d)->ibdev_path);
		if (!access("/sys/devices/system/node", F_OK))	/* the kernel has NUMA */
			print_file((*d)->ibdev_path, "device/numa_node");
		print_file((*d)->dev_path, "device/local_cpulist");
		print_file((*d)->dev_path, "ibdev");
		putchar('\n');
	}
	ibv_free_device_list(list);
	return 0;
}
