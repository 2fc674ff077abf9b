// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Import of a context and a protection domain of libibverbs, by the file descriptor of
 * ib_uverbs that they use.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "internal.h"

/* sysfs has the name of the RDMA device that a file of ib_uverbs belongs to. */
static int device_of(int cmd_fd, char *name, int size)
{
	char path[64];
	struct stat st;
	FILE *f;
	int ok;

	if (fstat(cmd_fd, &st))
		return -errno;
	if (!S_ISCHR(st.st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/ibdev", major(st.st_rdev),
		 minor(st.st_rdev));
	f = fopen(path, "re");
	ok = f && fgets(name, size, f);
	if (f)
		fclose(f);
	if (!ok)
		return -EINVAL;
	name[strcspn(name, "\n")] = '\0';
	return 0;
}

XV_EXPORT struct xv_context *xv_import_ctx(int cmd_fd)
{
	char name[sizeof(((struct xv_context *)0)->name)];
	int err = device_of(cmd_fd, name, sizeof(name));

	if (err == -EINVAL)
		return xv_set_error_null(err, "import context: fd %d is no file of ib_uverbs",
					 cmd_fd);
	if (err)
		return xv_set_error_null(err, "import context: fd %d: %s", cmd_fd, strerror(-err));
	return xv_open(name);
}

XV_EXPORT struct xv_pd *xv_import_pd(struct xv_context *ctx, int cmd_fd, uint32_t handle)
{
	struct xverbs_pd_import req = { .fd = cmd_fd, .pd = handle };
	struct pd *pd = xv_object_create(ctx, XVERBS_PD_IMPORT, "import PD", &req, sizeof(req),
					 sizeof(*pd), NULL);

	if (!pd)
		return NULL;
	pd->pub = (struct xv_pd) {
		.context = ctx,
		.handle = req.out_handle,
		.pdn = req.out_pdn,
	};
	xv_object_add(pd, req.out_handle);
	return &pd->pub;
}
