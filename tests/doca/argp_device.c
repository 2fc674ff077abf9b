// SPDX-License-Identifier: GPL-2.0
/*
 * Options that name devices.
 */
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <doca_argp.h>
#include "tap.h"

static struct doca_dev *dev;
static char devargs[32];
static doca_error_t answer;

static doca_error_t callback(void *param, void *config)
{
	struct doca_argp_device_ctx *ctx = param;

	(void)config;
	dev = ctx->dev;
	snprintf(devargs, sizeof(devargs), "%s", ctx->devargs ? ctx->devargs : "none");
	return answer;
}

static doca_error_t parse(const char *value)
{
	char *argv[] = { "prog", "-d", (char *)value, NULL };
	struct doca_argp_param *param;
	doca_error_t result;

	dev = NULL;
	if (doca_argp_init("prog", NULL) || doca_argp_param_create(&param))
		bail_out("no parser");
	doca_argp_param_set_short_name(param, "d");
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_DEVICE);
	doca_argp_param_set_callback(param, callback);
	if (doca_argp_register_param(param))
		bail_out("no parameter");
	result = doca_argp_start(3, argv);
	doca_argp_destroy();
	return result;
}

/* The PCI address of the first device, such as 0000:08:00.0 */
static const char *address(void)
{
	static char path[PATH_MAX];
	glob_t found;

	if (glob("/sys/class/infiniband/*/device", 0, NULL, &found) ||
	    !realpath(found.gl_pathv[0], path))
		bail_out("no device");
	globfree(&found);
	return basename(path);
}

int main(void)
{
	const char *pci = address();
	char value[64];

	snprintf(value, sizeof(value), "pci/%s", pci);
	tap_is(parse(value), DOCA_SUCCESS, "%s", value);
	ok(dev && !strcmp(devargs, "none") && !doca_dev_close(dev), "the device is open");
	/* The domain 0000 may be left out. */
	snprintf(value, sizeof(value), "pci/%s,a=b,c", strncmp(pci, "0000:", 5) ? pci : pci + 5);
	tap_is(parse(value), DOCA_SUCCESS, "%s", value);
	ok(dev && !strcmp(devargs, "a=b,c") && !doca_dev_close(dev), "the text behind the comma");

	answer = DOCA_ERROR_TOO_BIG;
	tap_is(parse(value), DOCA_ERROR_TOO_BIG, "the callback refuses the device");
	ok(!!dev, "it was open");
	tap_is(parse("pci/0000:ff:1f.7"), DOCA_ERROR_NOT_FOUND, "a device that does not exist");
	tap_is(parse("pci/"), DOCA_ERROR_NOT_FOUND, "no address");
	snprintf(value, sizeof(value), "%s", pci);
	tap_is(parse(value), DOCA_ERROR_INVALID_VALUE, "an address without pci/");
	return tap_done();
}
