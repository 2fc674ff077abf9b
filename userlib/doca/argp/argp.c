// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The state of the library, its own parameters, and the start.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <doca_version.h>
#include "argp.h"

#define LEVELS	"<10=DISABLE, 20=CRITICAL, 30=ERROR, 40=WARNING, 50=INFO, 60=DEBUG, 70=TRACE>"

struct argp argp;

void argp_error(const char *format, ...)
{
	va_list ap;

	flockfile(stderr);
	fprintf(stderr, "%s: ", argp.name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	funlockfile(stderr);
}

doca_error_t argp_check_setup(void)
{
	return argp.initialized && !argp.started ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
}

/* ---- Parameters of the library ---- */

static doca_error_t help(void *param, void *config)
{
	(void)param;
	(void)config;
	argp_print_usage(stdout);
	exit(EXIT_SUCCESS);
}

static doca_error_t version(void *param, void *config)
{
	if (argp.version)
		argp.version(param, config);
	else
		printf("%s: DOCA %s\n", argp.name, doca_version_runtime());
	exit(EXIT_SUCCESS);
}

static doca_error_t log_level(void *param, void *config)
{
	(void)config;
	return doca_log_level_set_global_lower_limit(*(int *)param);
}

static doca_error_t sdk_log_level(void *param, void *config)
{
	(void)config;
	return doca_log_level_set_global_sdk_limit(*(int *)param);
}

static doca_error_t json(void *param, void *config)
{
	(void)config;
	argp.json_path = param;
	return DOCA_SUCCESS;
}

static doca_error_t add_general(const char *short_name, const char *long_name,
				enum doca_argp_type type, doca_argp_param_cb_t callback,
				const char *arguments, const char *description)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result)
		return result;
	if (short_name)
		doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callback);
	if (arguments)
		doca_argp_param_set_arguments(param, arguments);
	doca_argp_param_set_description(param, description);
	param->urgent = callback != log_level && callback != sdk_log_level;
	return doca_argp_cmd_register_param(&argp.general, param);
}

static doca_error_t add_generals(void)
{
	doca_error_t result = DOCA_SUCCESS;

#define ADD(...) DOCA_ERROR_PROPAGATE(result, add_general(__VA_ARGS__))
	ADD("h", "help", DOCA_ARGP_TYPE_BOOLEAN, help, NULL, "Print a help synopsis");
	ADD("v", "version", DOCA_ARGP_TYPE_BOOLEAN, version, NULL,
	    "Print program version information");
	ADD("l", "log-level", DOCA_ARGP_TYPE_INT, log_level, NULL,
	    "Set the (numeric) log level for the program " LEVELS);
	ADD(NULL, "sdk-log-level", DOCA_ARGP_TYPE_INT, sdk_log_level, NULL,
	    "Set the SDK (numeric) log level for the program " LEVELS);
	ADD("j", "json", DOCA_ARGP_TYPE_STRING, json, "<path>",
	    "Read flags from a JSON file");
#undef ADD
	return result;
}

/* ---- Life ---- */

EXPORT doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
	doca_error_t result;

	if (argp.initialized)
		return DOCA_ERROR_BAD_STATE;
	memset(&argp, 0, sizeof(argp));
	argp.name = strdup(program_name ? program_name : program_invocation_short_name);
	if (!argp.name)
		return DOCA_ERROR_NO_MEMORY;
	argp.config = program_config;
	argp.initialized = true;
	STAILQ_INIT(&argp.general.params);
	STAILQ_INIT(&argp.program.params);
	STAILQ_INIT(&argp.params);
	STAILQ_INIT(&argp.cmds);
	result = add_generals();
	if (result)
		doca_argp_destroy();
	return result;
}

EXPORT doca_error_t doca_argp_destroy(void)
{
	struct doca_argp_param *param;
	struct doca_argp_cmd *cmd;

	if (!argp.initialized)
		return DOCA_ERROR_BAD_STATE;
	argp.started = false;
	while ((param = STAILQ_FIRST(&argp.params))) {
		param->registered = false;
		doca_argp_param_destroy(param);
	}
	while ((cmd = STAILQ_FIRST(&argp.cmds))) {
		STAILQ_REMOVE_HEAD(&argp.cmds, all);
		argp_free_cmd(cmd);
	}
	json_decref(argp.json);
	argp_free_strings(&argp.dpdk_strings);
	free(argp.name);
	memset(&argp, 0, sizeof(argp));
	return DOCA_SUCCESS;
}

/* Each stores a callback. */
#define SET_CALLBACK(function, type, field)			\
EXPORT doca_error_t function(type callback)			\
{								\
	doca_error_t result = argp_check_setup();		\
								\
	if (result)						\
		return result;					\
	if (!callback)						\
		return DOCA_ERROR_INVALID_VALUE;		\
	argp.field = callback;					\
	return DOCA_SUCCESS;					\
}

SET_CALLBACK(doca_argp_register_version_callback, doca_argp_param_cb_t, version)
SET_CALLBACK(doca_argp_register_validation_callback, doca_argp_validation_cb_t, validate)
SET_CALLBACK(doca_argp_set_dpdk_program, doca_argp_dpdk_cb_t, dpdk)

EXPORT doca_error_t doca_argp_get_log_level(int *level)
{
	if (!argp.initialized)
		return DOCA_ERROR_BAD_STATE;
	if (!level)
		return DOCA_ERROR_INVALID_VALUE;
	*level = doca_log_level_get_global_lower_limit();
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_argp_usage(void)
{
	if (!argp.initialized)
		return DOCA_ERROR_BAD_STATE;
	argp_print_usage(stdout);
	return DOCA_SUCCESS;
}

/* ---- Start ---- */

static doca_error_t check_mandatory(const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_param *param;

	for (param = STAILQ_FIRST(&cmd->params); param; param = STAILQ_NEXT(param, next)) {
		if (param->mandatory && !param->uses) {
			argp_error("%s%s is missing", OPTION(param));
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

/* The index of the -- that follows the arguments for DPDK, or 0 */
static int find_dashes(int argc, char **argv)
{
	int i;

	for (i = 1; argp.dpdk && i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return i;
	return 0;
}

static doca_error_t start(int argc, char **argv, struct use *uses)
{
	int dashes = find_dashes(argc, argv), count, i;
	doca_error_t result;

	result = argp_parse(argc - dashes - 1, argv + dashes + 1, uses, &count);
	if (!result && argp.json_path)
		result = argp_load_json();
	if (!result && argp.dpdk)
		result = argp_start_dpdk(dashes ? dashes - 1 : 0, argv + 1);
	if (!result && argp.json)
		result = argp_deliver_json();
	for (i = 0; !result && i < count; i++)
		result = argp_deliver(&uses[i]);
	if (!result)
		result = check_mandatory(argp.chosen);
	if (!result)
		result = check_mandatory(&argp.program);
	if (!result && argp.validate)
		result = argp.validate(argp.config);
	return result;
}

EXPORT doca_error_t doca_argp_start(int argc, char **argv)
{
	doca_error_t result = argp_check_setup();
	struct use *uses;

	if (result)
		return result;
	if (argc < 1 || !argv)
		return DOCA_ERROR_INVALID_VALUE;
	uses = calloc(argc, sizeof(*uses));
	if (!uses)
		return DOCA_ERROR_NO_MEMORY;
	argp.started = true;
	result = start(argc, argv, uses);
	free(uses);
	if (result)
		argp_print_usage(stderr);
	return result;
}
