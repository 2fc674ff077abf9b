// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The JSON file: an object of objects, whose keys are long names.
 */
#include <string.h>
#include "argp.h"

static const struct {
	const char *name;
	struct doca_argp_cmd *cmd;	/* NULL for the flags of DPDK */
} groups[] = {
	{ "doca_general_flags", &argp.general },
	{ "doca_program_flags", &argp.program },
	{ "doca_dpdk_flags", NULL },
};

#define GROUPS	(sizeof(groups) / sizeof(groups[0]))

static bool is_group(const char *name, json_t *value)
{
	size_t i;

	for (i = 0; i < GROUPS; i++)
		if (!strcmp(name, groups[i].name))
			return json_is_object(value);
	return false;
}

doca_error_t argp_load_json(void)
{
	json_error_t error;
	const char *name;
	json_t *value;

	argp.json = json_load_file(argp.json_path, JSON_REJECT_DUPLICATES, &error);
	if (!argp.json) {
		argp_error("%s, line %d, column %d: %s", argp.json_path, error.line, error.column,
			   error.text);
		return DOCA_ERROR_BAD_CONFIG;
	}
	if (!json_is_object(argp.json)) {
		argp_error("%s has no object", argp.json_path);
		return DOCA_ERROR_BAD_CONFIG;
	}
	json_object_foreach(argp.json, name, value) {
		if (!is_group(name, value)) {
			argp_error("%s: %s is unknown or no object", argp.json_path, name);
			return DOCA_ERROR_BAD_CONFIG;
		}
	}
	if (!argp.dpdk && json_object_get(argp.json, "doca_dpdk_flags"))
		XVD_LOG(WARNING, "%s has flags of DPDK for a program without it", argp.json_path);
	return DOCA_SUCCESS;
}

static doca_error_t deliver_value(const struct doca_argp_param *param, json_t *value)
{
	char number[24];

	if (param->type == DOCA_ARGP_TYPE_BOOLEAN && json_is_boolean(value))
		return argp_deliver_flag(param, json_is_true(value));
	if (param->type == DOCA_ARGP_TYPE_INT && json_is_integer(value)) {
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(value));
		return argp_deliver_text(param, number);
	}
	if (param->type != DOCA_ARGP_TYPE_BOOLEAN && param->type != DOCA_ARGP_TYPE_INT &&
	    json_is_string(value))
		return argp_deliver_text(param, json_string_value(value));
	argp_error("%s: %s has a value of another type", argp.json_path, param->long_name);
	return DOCA_ERROR_BAD_CONFIG;
}

static bool is_empty(const struct doca_argp_param *param, const json_t *value)
{
	return param->multiplicity && json_is_array(value) && !json_array_size(value);
}

/* An array has the values of a parameter that may be there several times. */
static doca_error_t deliver_values(const struct doca_argp_param *param, json_t *value)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	if (!param->multiplicity || !json_is_array(value))
		return deliver_value(param, value);
	for (i = 0; i < json_array_size(value) && !result; i++)
		result = deliver_value(param, json_array_get(value, i));
	return result;
}

static doca_error_t deliver_group(const struct doca_argp_cmd *cmd, json_t *group)
{
	doca_error_t result = DOCA_SUCCESS;
	struct doca_argp_param *param;
	const char *name;
	json_t *value;

	json_object_foreach(group, name, value) {
		param = argp_find(cmd, NULL, name);
		if (!param || param->urgent) {
			argp_error("%s: %s is unknown", argp.json_path, name);
			return DOCA_ERROR_BAD_CONFIG;
		}
		/* The command line has precedence. */
		if (param->uses || is_empty(param, value))
			continue;
		param->uses = 1;
		result = deliver_values(param, value);
		if (result)
			break;
	}
	return result;
}

doca_error_t argp_deliver_json(void)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t i;

	for (i = 0; i < GROUPS && !result; i++)
		if (groups[i].cmd)
			result = deliver_group(groups[i].cmd,
					       json_object_get(argp.json, groups[i].name));
	return result;
}
