// SPDX-License-Identifier: GPL-2.0
/*
 * An XRC domain that a file identifies keeps the mount of the file busy, like an open
 * file.  The program gives up root privileges and mounts a tmpfs in its own
 * namespaces, as any user can.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "rig.h"

enum { NOBODY = 65534 };

static char dir[] = "/tmp/xrc_mount.XXXXXX";
static struct xv_context *ctx;

static void write_map(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		bail_out("%s: %s", file, strerror(errno));
	close(fd);
}

static void enter_namespaces(void)
{
	if (!mkdtemp(dir) || chmod(dir, 0777))
		bail_out("%s: %s", dir, strerror(errno));
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		tap_skip_all("cannot become another user: %s", strerror(errno));
	prctl(PR_SET_DUMPABLE, 1);	/* otherwise /proc/self belongs to root */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		tap_skip_all("no user namespace: %s", strerror(errno));
	write_map("/proc/self/uid_map", "0 65534 1");
	write_map("/proc/self/setgroups", "deny");
	write_map("/proc/self/gid_map", "0 65534 1");
}

/* Opens a domain with a file on a new tmpfs, then closes the file. */
static struct xv_xrcd *open_domain(void)
{
	struct xv_xrcd *xrcd;
	char file[64];
	int fd;

	if (mount("none", dir, "tmpfs", 0, NULL))
		bail_out("mount: %s", strerror(errno));
	snprintf(file, sizeof(file), "%s/domain", dir);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		bail_out("%s: %s", file, strerror(errno));
	xrcd = xv_open_xrcd(ctx, fd, O_CREAT);
	close(fd);
	if (!ok(xrcd != NULL, "open a domain with a file on a tmpfs"))
		bail_out("%s", xv_last_error());
	return xrcd;
}

int main(int argc, char **argv)
{
	struct xv_xrcd *xrcd;

	rig_devices(argc, argv);
	enter_namespaces();
	ctx = xv_open(rig_device(0));
	if (!ctx)
		bail_out("%s", xv_last_error());

	xrcd = open_domain();
	ok(umount(dir) && errno == EBUSY, "umount while the domain is open: EBUSY");
	ok(!xv_close_xrcd(xrcd) && !umount(dir), "umount after the domain is closed");

	xrcd = open_domain();
	ok(!umount2(dir, MNT_DETACH), "lazy umount while the domain is open");
	ok(!xv_close_xrcd(xrcd), "close the domain after the lazy umount");

	xrcd = open_domain();
	ok(!umount2(dir, MNT_DETACH), "lazy umount, then close of the context");
	xv_close(ctx);
	return tap_done();
}
