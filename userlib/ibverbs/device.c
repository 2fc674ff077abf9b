// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The list of devices.  A device keeps its address as long as a list has it or a context uses
 * it: librdmacm compares the addresses of several lists.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include "ibv.h"

struct device {
	struct ibv_device pub;
	/* Zero: here the functions of providers (mlx5dv) look for their provider. */
	uint64_t not_a_provider[32];
	uint32_t index;
	uint64_t guid;
	unsigned int refs;
	struct device *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct device *devices;

/* A file of one line in sysfs */
static int read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	int ok = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

/* NUMA libraries look for the device below the directory of the file of ib_uverbs. */
static void find_uverbs(struct ibv_device *dev)
{
	char path[PATH_MAX], ibdev[IBV_SYSFS_NAME_MAX];
	DIR *dir = opendir("/sys/class/infiniband_verbs");
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, "uverbs", 6) || strlen(e->d_name) >= sizeof(ibdev))
			continue;
		snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/%s/ibdev", e->d_name);
		if (!read_line(path, ibdev, sizeof(ibdev)) || strcmp(ibdev, dev->name))
			continue;
		snprintf(dev->dev_name, sizeof(dev->dev_name), "%.63s", e->d_name);
		snprintf(dev->dev_path, sizeof(dev->dev_path), "/sys/class/infiniband_verbs/%.63s",
			 e->d_name);
		break;
	}
	if (dir)
		closedir(dir);
}

static struct device *device_new(const struct xv_device *x)
{
	struct device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->pub.node_type = (enum ibv_node_type)x->node_type;
	d->pub.transport_type = (enum ibv_transport_type)x->transport_type;
	memcpy(d->pub.name, x->name, sizeof(d->pub.name));
	memcpy(d->pub.dev_name, x->dev_name, sizeof(d->pub.dev_name));
	memcpy(d->pub.dev_path, x->dev_path, sizeof(d->pub.dev_path));
	memcpy(d->pub.ibdev_path, x->ibdev_path, sizeof(d->pub.ibdev_path));
	d->index = x->index;
	d->guid = x->node_guid;
	find_uverbs(&d->pub);
	d->next = devices;
	devices = d;
	return d;
}

/* The caller holds the lock. */
static struct device *device_get(const struct xv_device *x)
{
	struct device *d;

	for (d = devices; d; d = d->next)
		if (d->index == x->index && d->guid == x->node_guid &&
		    !strcmp(d->pub.name, x->name))
			break;
	if (!d)
		d = device_new(x);
	if (d)
		d->refs++;
	return d;
}

void iv_device_hold(struct ibv_device *device)
{
	pthread_mutex_lock(&lock);
	TO(device, device)->refs++;
	pthread_mutex_unlock(&lock);
}

void iv_device_put(struct ibv_device *device)
{
	struct device *d = TO(device, device), **p;

	pthread_mutex_lock(&lock);
	if (!--d->refs) {
		for (p = &devices; *p != d; p = &(*p)->next)
			;
		*p = d->next;
		free(d);
	}
	pthread_mutex_unlock(&lock);
}

struct ibv_device *iv_device_of(const struct xv_context *xv)
{
	struct xv_device **list = xv_get_device_list(NULL);
	struct device *d = NULL;
	int i;

	if (!list)
		return iv_null();
	for (i = 0; list[i] && list[i]->index != xv->index; i++)
		;
	if (list[i]) {
		pthread_mutex_lock(&lock);
		d = device_get(list[i]);
		pthread_mutex_unlock(&lock);
	} else {
		errno = ENODEV;
	}
	xv_free_device_list(list);
	return (struct ibv_device *)d;
}

/* A device can have been renamed since it was listed; its index stays. */
struct xv_context *iv_device_open(struct ibv_device *device)
{
	struct xv_device **list = xv_get_device_list(NULL);
	struct xv_context *xv = NULL;
	int i, err;

	if (!list)
		return iv_null();
	for (i = 0; list[i] && list[i]->index != TO(device, device)->index; i++)
		;
	if (list[i])
		xv = xv_open_device(list[i]);
	err = list[i] ? errno : ENODEV;
	xv_free_device_list(list);
	if (xv)
		return xv;
	iv_null();
	errno = err;
	return NULL;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	int i;

	for (i = 0; list && list[i]; i++)
		iv_device_put(list[i]);
	free(list);
}

/* Devices that xverbs refuses are left out. */
static int fill_list(struct ibv_device **list, struct xv_device **from)
{
	int n = 0, i;

	pthread_mutex_lock(&lock);
	for (i = 0; from[i]; i++) {
		if (!from[i]->available)
			continue;
		list[n] = (struct ibv_device *)device_get(from[i]);
		if (!list[n])
			break;
		n++;
	}
	pthread_mutex_unlock(&lock);
	return from[i] ? -1 : n;
}

EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list;
	struct xv_device **from;
	int n;

	if (num)
		*num = 0;
	from = xv_get_device_list(&n);
	if (!from)
		return iv_null();
	list = calloc((size_t)n + 1, sizeof(*list));
	n = list ? fill_list(list, from) : -1;
	xv_free_device_list(from);
	if (n < 0) {
		ibv_free_device_list(list);
		errno = ENOMEM;
		return NULL;
	}
	if (num)
		*num = n;
	return list;
}

EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	return TO(device, device)->guid;
}

EXPORT int ibv_get_device_index(struct ibv_device *device)
{
	return (int)TO(device, device)->index;
}
