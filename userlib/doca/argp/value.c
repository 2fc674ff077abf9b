// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Values: from text to the type of a parameter, and to its callback.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "argp.h"

static doca_error_t call(const struct doca_argp_param *param, void *value, const char *text)
{
	doca_error_t result = param->callback(value, argp.config);

	if (result)
		argp_error("%s%s %s: %s", OPTION(param), text, doca_error_get_descr(result));
	return result;
}

/* A decimal or hexadecimal number without anything around it */
static bool to_int(const char *text, int *number)
{
	const char *digits = text + (*text == '-' || *text == '+');
	bool hex = !strncasecmp(digits, "0x", 2);
	char *end;
	long value;

	/* strtol() accepts spaces and signs before the digits. */
	if (!isxdigit((unsigned char)*digits) ||
	    (hex && !isxdigit((unsigned char)digits[2])))
		return false;
	errno = 0;
	value = strtol(text, &end, hex ? 16 : 10);
	if (errno || end == text || *end || value < INT_MIN || value > INT_MAX)
		return false;
	*number = value;
	return true;
}

static doca_error_t deliver_device(const struct doca_argp_param *param, const char *text)
{
	struct doca_argp_device_ctx device;
	doca_error_t result = argp_open_device(text, &device);

	if (result) {
		argp_error("%s%s %s: %s", OPTION(param), text, doca_error_get_descr(result));
		return result;
	}
	result = call(param, &device, text);
	if (result)
		doca_dev_close(device.dev);
	return result;
}

doca_error_t argp_deliver_text(const struct doca_argp_param *param, const char *text)
{
	int number;

	switch (param->type) {
	case DOCA_ARGP_TYPE_STRING:
		return call(param, (void *)text, text);
	case DOCA_ARGP_TYPE_INT:
		if (to_int(text, &number))
			return call(param, &number, text);
		argp_error("%s%s: %s is no number of 32 bits", OPTION(param), text);
		return DOCA_ERROR_INVALID_VALUE;
	case DOCA_ARGP_TYPE_DEVICE:
		return deliver_device(param, text);
	default:
		argp_error("%s%s %s: representors are not supported", OPTION(param), text);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
}

doca_error_t argp_deliver_flag(const struct doca_argp_param *param, bool flag)
{
	return call(param, &flag, flag ? "true" : "false");
}

doca_error_t argp_deliver(const struct use *use)
{
	if (use->cmd)
		return use->cmd->callback ? use->cmd->callback(argp.config) : DOCA_SUCCESS;
	if (!use->value)
		return argp_deliver_flag(use->param, true);
	return argp_deliver_text(use->param, use->value);
}
