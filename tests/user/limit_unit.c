// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of the limits of control groups, without a device: the library reads the files of a
 * directory as those of the kernel.  The number of the limit counts, not the text of the reason.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_here(const char *path, int flags);
#define open(path, flags)	open_here(path, flags)
#include "../../userlib/src/limit.c"
#undef open
#include "tap.h"

static char top[] = "/tmp/limit_unit.XXXXXX";

/* /proc/self/NAME is the file NAME of the directory. */
static int open_here(const char *path, int flags)
{
	char here[PATH + 64];

	if (strncmp(path, "/proc/self/", 11))
		return open(path, flags);
	snprintf(here, sizeof(here), "%s/%s", top, path + 11);
	return open(here, flags);
}

__attribute__((format(printf, 2, 3)))
static void write_file(const char *name, const char *fmt, ...)
{
	char path[128];
	va_list args;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	f = fopen(path, "w");
	if (!f)
		bail_out("%s", path);
	va_start(args, fmt);
	vfprintf(f, fmt, args);
	va_end(args);
	fclose(f);
}

static void make_dir(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	if (mkdir(path, 0700))
		bail_out("%s", path);
}

/* The process is in group /a/b; only the limits of /a have values. */
static void make_groups(void)
{
	if (!mkdtemp(top))
		bail_out("%s", top);
	make_dir("a");
	make_dir("a/b");
	write_file("mountinfo", "1 2 0:3 /part /elsewhere rw - cgroup2 cgroup2 rw\n"
		   "4 5 0:6 / %s rw - cgroup2 cgroup2 rw\n", top);
	write_file("cgroup", "1:cpu:/other\n0::/a/b\n");
	write_file("a/b/memory.max", "max\n");
	write_file("a/memory.max", "4096\n");
	write_file("a/b/rdma.max", "other hca_handle=1 hca_object=1\n"
		   "mlx5_0 hca_handle=max hca_object=7\n");
	write_file("a/rdma.max", "mlx5_0 hca_handle=3 hca_object=9\n");
}

static void appended(uint32_t limit, const char *device, const char *want, const char *what)
{
	/* Earlier versions of the library read this text. */
	static const char reason[] = "limit hca_object of mlx5_0 in the rdma cgroup (memory.max)";
	char text[256];

	strcpy(text, reason);
	xv_limit_append(text, sizeof(text), limit, device);
	if (!ok(!strncmp(text, reason, strlen(reason)) && !strcmp(text + strlen(reason), want),
		"%s", what))
		diag("%s", text);
}

static void remove_groups(void)
{
	static const char *const names[] = { "a/b/rdma.max", "a/b/memory.max", "a/rdma.max",
		"a/memory.max", "mountinfo", "cgroup", "a/b", "a", "" };
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, names[i]);
		remove(path);
	}
}

int main(void)
{
	make_groups();
	appended(XVERBS_LIMIT_MEMORY, NULL, "; the limit is 4096 (memory.max of /a)",
		 "memory: that of the nearest group with a limit");
	appended(XVERBS_LIMIT_HCA_OBJECT, "mlx5_0",
		 "; the limit is hca_object=7 (rdma.max of /a/b)", "objects: that of the group");
	appended(XVERBS_LIMIT_HCA_HANDLE, "mlx5_0",
		 "; the limit is hca_handle=3 (rdma.max of /a)", "files: that of its parent");
	appended(XVERBS_LIMIT_HCA_OBJECT, "mlx5_9", "", "a device without limits");
	appended(XVERBS_LIMIT_HCA_OBJECT, NULL, "", "no device");
	appended(XVERBS_LIMIT_NONE, "mlx5_0", "", "no number: the text is not read");
	appended(XVERBS_LIMIT_MEMLOCK, "mlx5_0", "", "a limit whose value is in the reason");
	appended(1000, "mlx5_0", "", "a number that the library does not know");
	remove_groups();
	return tap_done();
}
