// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: repeats every verb, and the close of the file. In the first attempt the
 * first operation fails, in the second attempt the second one, and so on until an attempt has
 * no failure:
 *
 *	inject memory	allocations and copies to and from user memory fail; needs a
 *			kernel with fault injection
 *	inject command	firmware commands fail; needs a function of xhca
 *	inject kept	one allocation and all later ones fail, so that a created queue
 *			cannot be destroyed
 *
 * A failed call returns the right error number and a reason, does not change the
 * number of objects in the adapter, and can be repeated.  Each call fails at least once, except
 * that of a firmware command where the call executes none.  Needs root.
 */
#include "steps.h"

/* FAIL_*: MLX5_CMD_STAT_INT_ERR and _LIM_ERR of linux/mlx5/device.h */
enum { MAX_STEPS = 2000, FAIL_INTERNAL = 1, FAIL_LIMIT = 8 };

/* ---- Injection of failures --------------------------------------------- */

static int fail_fd, objects_fd;
static char fail_path[96];	/* firmware commands: must be opened again for each read */
static bool commands, kept;

static void write_file(const char *file, const char *text)
{
	int f = open(file, O_WRONLY);

	if (f < 0 || write(f, text, strlen(text)) < 0)
		tap_skip_all("%s: %s", file, strerror(errno));
	close(f);
}

static void setup_memory(void)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc" };
	char file[96];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(file, sizeof(file), "/sys/kernel/debug/%s/ignore-gfp-wait", kinds[i]);
		write_file(file, "N");
		snprintf(file, sizeof(file), "/sys/kernel/debug/%s/verbose", kinds[i]);
		write_file(file, "0");
	}
	write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	write_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
	fail_fd = open("/proc/self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		tap_skip_all("/proc/self/fail-nth: %s", strerror(errno));
}

/* The PCI slot of a device is its function number in xhca. */
static unsigned int function_of(const char *device)
{
	char link[256] = {}, file[96];
	unsigned int slot = 0;
	const char *name;

	snprintf(file, sizeof(file), "/sys/class/infiniband/%s/device", device);
	if (readlink(file, link, sizeof(link) - 1) < 0)
		tap_skip_all("%s: %s", file, strerror(errno));
	name = strrchr(link, '/');
	if (!name || sscanf(name, "/%*x:%*x:%x", &slot) != 1)
		tap_skip_all("unexpected link target: %s is %s", file, link);
	return slot;
}

static void setup_xhca(void)
{
	unsigned int function = function_of(rig_device(0));
	char file[96];

	snprintf(file, sizeof(file), "/sys/kernel/debug/xhca/%u/objects", function);
	objects_fd = open(file, O_RDONLY);
	if (objects_fd < 0)
		tap_skip_all("%s: %s", file, strerror(errno));
	snprintf(fail_path, sizeof(fail_path), "/sys/kernel/debug/xhca/%u/fail_command", function);
	if (!commands)
		return;
	fail_fd = open(fail_path, O_WRONLY);
	if (fail_fd < 0)
		tap_skip_all("%s: %s", fail_path, strerror(errno));
}

static void arm(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	/* Copying the text can itself fail. */
	if (write(fail_fd, text, len) != len && write(fail_fd, text, len) != len)
		bail_out("cannot set the failing operation: %s", strerror(errno));
}

/* True if no operation has failed; this read may be the operation that fails. */
static bool none_failed(void)
{
	char text[16] = {};
	ssize_t len;
	int file;

	if (commands) {
		file = open(fail_path, O_RDONLY);
		len = read(file, text, sizeof(text) - 1);
		close(file);
	} else {
		len = pread(fail_fd, text, sizeof(text) - 1, 0);
	}
	return len < 0 || atoi(text) != 0;
}

/* mkeys are not counted: mlx5_ib caches them. */
enum { KINDS = 16 };

struct objects {
	unsigned int n[KINDS];
};

static struct objects count_objects(void)
{
	struct objects o = {};
	char text[512] = {}, name[16], *line = text;
	unsigned int i, n;

	if (pread(objects_fd, text, sizeof(text) - 1, 0) < 0)
		bail_out("cannot count objects: %s", strerror(errno));
	for (i = 0; i < KINDS && sscanf(line, "%15s %u", name, &n) == 2; i++) {
		o.n[i] = strcmp(name, "mkeys") ? n : 0;
		line = strchr(line, '\n') + 1;
	}
	return o;
}

static bool same(const struct objects *a, const struct objects *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* ---- One verb, until an attempt has no failure ---------------------------- */

/* The expected error of an injected failure; for firmware commands, with a reason */
static bool right_error(int err)
{
	if (commands)
		return err == EREMOTEIO && reason[0];
	return err == ENOMEM || err == EFAULT;
}

/*
 * If the reply of a call cannot be written, the call fails. A call that creates no object has
 * then done its work, and the next attempt fails with another error.
 */
static bool done_already(const struct step *s, int last, int err)
{
	return s->flags & ONCE && last == EFAULT &&
	       (err == EINVAL || err == ENOENT || err == EBUSY);
}

/* Each call copies its argument, so a copy can fail.  Not each executes a firmware command. */
static bool number_possible(unsigned int flags, int failed)
{
	if (commands && flags & NO_COMMAND)
		return !failed;
	return failed || (commands && flags & CACHED);
}

static int attempt(const struct step *s, int n, bool *untouched)
{
	int err, file = step_file(s);

	memset(&arg, 0, sizeof(arg));
	s->fill();
	arm(n);
	err = call(file, s->cmd, s->size);
	*untouched = none_failed();
	arm(0);
	return err;
}

/* Checks the error number, the reason and the number of objects after a failure. */
static bool failed_well(const char *name, int n, int err, const struct objects *before)
{
	struct objects now = count_objects();

	if (right_error(err) && same(&now, before))
		return true;
	diag("%s: operation %d: %s, \"%s\"%s", name, n, strerror(err), reason,
	     same(&now, before) ? "" : ", number of objects differs");
	return false;
}

static void sweep(const struct step *s)
{
	struct objects before = count_objects(), now;
	bool untouched = false, good = true, settles = s->flags & SETTLES;
	int n, err = 0, last = 0, failed = 0;

	for (n = 1; n < MAX_STEPS; n++, last = err) {
		err = attempt(s, n, &untouched);
		if (untouched && err == EOPNOTSUPP) {
			tap_skip(s->name, reason);
			return;
		}
		if (done_already(s, last, err))
			break;
		if (err) {
			failed++;
			now = count_objects();
			if (settles && !same(&now, &before)) {
				settles = false;
				before = now;
			}
			good &= failed_well(s->name, n, err, &before);
			continue;
		}
		settle(s, untouched);
		if (untouched || s->flags & ONCE)
			break;
	}
	ok(good && n < MAX_STEPS && number_possible(s->flags, failed),
	   "%s: %d operations, %d failures", s->name, n - 1, failed);
}

/* After a failed DESTROY the object exists; the next DESTROY succeeds. */
static void sweep_destroy(const char *name, uint32_t handle, unsigned int flags)
{
	struct objects before = count_objects();
	int n, err = 1, last = 0, failed = 0;
	bool good = true;

	for (n = 1; err && n < MAX_STEPS; n++, last = err) {
		arm(n);
		err = destroy(handle);
		arm(0);
		if (err && last == EFAULT && err == ENOENT)
			break;
		if (err) {
			failed++;
			good &= (err == EFAULT && !commands) || failed_well(name, n, err, &before);
		}
	}
	ok(good && n < MAX_STEPS && number_possible(flags, failed),
	   "DESTROY of a %s: %d failures", name, failed);
	ok(destroy(handle) == ENOENT, "DESTROY of a %s: it no longer exists", name);
}

/* ---- Re-registration whose old key cannot be destroyed ------------------------------- */

static void write_number(const char *name, unsigned int n)
{
	char file[96], text[16];

	snprintf(file, sizeof(file), "/sys/kernel/debug/xhca/%u/%s", function_of(rig_device(0)),
		 name);
	snprintf(text, sizeof(text), "%u", n);
	write_file(file, text);
}

/* The key of the region after a change of the PD. A revoked region gets a new one. */
static uint32_t key_of_altered(void)
{
	static bool second;

	second = !second;
	memset(&arg, 0, sizeof(arg));
	arg.rereg.mr = mr;
	arg.rereg.pd = second ? pd2 : pd;
	arg.rereg.change = XVERBS_REREG_PD;
	if (call(fd, XVERBS_MR_REREG, sizeof(arg.rereg)))
		bail_out("MR_REREG: %s", reason);
	return arg.rereg.out_lkey;
}

/* Each command and the next one fail for lack of resources. Only EREMOTEIO revokes a key. */
static void sweep_move(void)
{
	struct objects before, now;
	unsigned int revoked = 0;
	bool good = true;
	uint32_t key;
	int n, err = 1;

	write_number("fail_status", FAIL_LIMIT);
	write_number("fail_more", 1);
	key = key_of_altered();
	before = count_objects();
	for (n = 1; err && n < MAX_STEPS; n++) {
		memset(&arg, 0, sizeof(arg));
		fill_move();
		arm(n);
		err = call(fd, XVERBS_MR_REREG, sizeof(arg.rereg));
		arm(0);
		revoked += err == EREMOTEIO;
		good &= !err || err == EREMOTEIO || (err == ENOMEM && key_of_altered() == key);
		key = key_of_altered();
		now = count_objects();
		good &= same(&now, &before);
	}
	write_number("fail_status", FAIL_INTERNAL);
	write_number("fail_more", 0);
	/* Whether a command destroys the old key depends on the key cache of the driver. */
	ok(good && n < MAX_STEPS, "MR_REREG: only EREMOTEIO revokes a key: %u in %d attempts",
	   revoked, n - 1);
}

/* ---- Closing the file -------------------------------------------------- */

static void sweep_close(void)
{
	struct objects before, now;
	bool untouched = false, good = true;
	int n;

	close(fd);
	before = count_objects();
	for (n = 1; !untouched && n < MAX_STEPS; n++) {
		fd = bound_file();
		populate();
		arm(n);
		close(fd);
		untouched = none_failed();
		arm(0);
		now = count_objects();
		if (!same(&now, &before)) {
			good = false;
			diag("close, operation %d: objects are left", n);
			before = now;
		}
	}
	ok(untouched && good && n > 2, "close: %d operations, no object is left", n - 2);
}

/* ---- A creation that fails and cannot be undone -------------------- */

static bool is_needed(const struct step *made, const struct step *s)
{
	return made->keep == &pd || made->keep == &uar || made->keep == &channel ||
	       made->keep == &cq || made->keep == &xrcd || (made->keep == &srq && s->keep == &qp);
}

/* Creates the objects that a queue needs. */
static void populate_for(const struct step *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (!is_needed(&steps[i], s))
			continue;
		memset(&arg, 0, sizeof(arg));
		steps[i].fill();
		if (call(fd, steps[i].cmd, steps[i].size))
			bail_out("%s: %s", steps[i].name, reason);
		settle(&steps[i], true);
	}
}

static int make_it_fail = -1;

/* All allocations of this task fail after a number of bytes. */
static void setup_kept(void)
{
	write_file("/sys/kernel/debug/failslab/task-filter", "Y");
	write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/failslab/verbose", "0");
	write_file("/sys/kernel/debug/failslab/times", "-1");
	write_file("/sys/kernel/debug/failslab/probability", "100");
	make_it_fail = open("/proc/self/make-it-fail", O_WRONLY);
	if (make_it_fail < 0)
		tap_skip_all("/proc/self/make-it-fail: %s", strerror(errno));
}

static int call_short_of_memory(const struct step *s, unsigned int bytes)
{
	char text[16];
	int err;

	snprintf(text, sizeof(text), "%u", bytes);
	write_file("/sys/kernel/debug/failslab/space", text);
	memset(&arg, 0, sizeof(arg));
	s->fill();
	if (pwrite(make_it_fail, "1", 1, 0) != 1)
		bail_out("make-it-fail: %s", strerror(errno));
	err = call(fd, s->cmd, s->size);
	if (pwrite(make_it_fail, "0", 1, 0) != 1)
		bail_out("make-it-fail: %s", strerror(errno));
	return err;
}

/*
 * If memory suffices for the command that creates a queue, but not for the next steps and the
 * command that destroys the queue, the adapter keeps the queue until the file is closed.
 */
static void sweep_kept(const struct step *s)
{
	struct objects before = count_objects(), with, now;
	unsigned int bytes, stayed = 0;
	bool good = true;
	int err = ENOMEM;

	for (bytes = 0; err && bytes < 1 << 16; bytes += 256) {
		fd = bound_file();
		populate_for(s);
		with = count_objects();
		err = call_short_of_memory(s, bytes);
		now = count_objects();
		stayed += err && !same(&now, &with);
		close(fd);
		now = count_objects();
		if ((err && err != ENOMEM) || !same(&now, &before)) {
			good = false;
			diag("%s: %u bytes: %s", s->name, bytes, strerror(err));
		}
	}
	ok(good && !err, "%s: up to %u bytes, no object is left when the file is closed", s->name,
	   bytes);
	ok(stayed, "%s: %u times the adapter kept the queue until the close", s->name, stayed);
}

static void sweep_all_kept(void)
{
	size_t i;

	/* Creates the objects that stay with the device. */
	populate();
	close(fd);
	setup_kept();
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i].keep == &srq || steps[i].keep == &xrc_srq || steps[i].keep == &qp ||
		    steps[i].keep == &xrc_qp)
			sweep_kept(&steps[i]);
	write_file("/sys/kernel/debug/failslab/probability", "0");
}

/* ---- Set up ------------------------------------------------------------ */

static void setup(void)
{
	steps_setup();
	setup_xhca();
	if (!commands)
		setup_memory();
}

static void sweep_all(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (step_possible(&steps[i]))
			sweep(&steps[i]);
		else
			tap_skip(steps[i].name, "the kernel or the device does not have it");
	if (commands)
		sweep_move();
	close(spare);
	sweep_destroy("UD queue pair in a multicast group", ud, 0);
	sweep_destroy("queue pair", qp, 0);
	sweep_destroy("XRC queue pair with another user", xrc_qp, NO_COMMAND);
	sweep_destroy("XRC queue pair", opened, 0);
	if (with_dc)
		sweep_destroy("DC target", dct, 0);
	sweep_destroy("XRC shared receive queue", xrc_srq, 0);
	sweep_destroy("shared receive queue", srq, 0);
	sweep_destroy("completion queue", cq, 0);
	sweep_destroy("channel", channel, NO_COMMAND);
	sweep_destroy("XRC domain", xrcd, 0);
	sweep_destroy("UMEM", umem, NO_COMMAND);
	sweep_destroy("memory window", mw, 0);
	sweep_destroy("indirect key", mkey, 0);
	sweep_destroy("memory region", mr, CACHED);
	if (foreign) {
		sweep_destroy("memory region of an imported domain", mr_imported, CACHED);
		sweep_destroy("imported protection domain", imported, NO_COMMAND);
	}
	sweep_destroy("UAR", uar, 0);
	sweep_destroy("protection domain", pd, 0);
	sweep_destroy("protection domain", pd2, 0);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		bail_out("usage: inject memory|command|kept [options]");
	commands = !strcmp(argv[1], "command");
	kept = !strcmp(argv[1], "kept");
	rig_devices(argc - 1, argv + 1);
	setup();
	if (kept) {
		sweep_all_kept();
	} else {
		sweep_all();
		sweep_close();
		ok(!foreign || !ibv_dealloc_pd(foreign),
		   "libibverbs can deallocate the domain that was imported");
	}
	return tap_done();
}
