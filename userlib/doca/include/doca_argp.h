/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Options of programs, see doca-argp(7).  Compatible with the header of the same name of the DOCA
 * SDK.
 *
 * A program calls doca_argp_init(), creates and registers its parameters, and calls
 * doca_argp_start() once, which calls the callbacks.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or a value that cannot be,
 * DOCA_ERROR_BAD_STATE for a call that creates or registers something before doca_argp_init() or
 * after doca_argp_start(), or one that changes what is registered, DOCA_ERROR_NO_MEMORY, and those
 * that the comments name.
 *
 * Threads: one thread at a time may call these functions.
 */
#ifndef XVDOCA_ARGP_H
#define XVDOCA_ARGP_H

#include <stdbool.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_argp_param;
struct doca_argp_cmd;
struct doca_dev_rep;

/* What the argument of a callback points at */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN,
	DOCA_ARGP_TYPE_STRING,		/* char[]: the string itself */
	DOCA_ARGP_TYPE_INT,		/* int */
	DOCA_ARGP_TYPE_BOOLEAN,		/* bool; the option has no value */
	DOCA_ARGP_TYPE_DEVICE,		/* struct doca_argp_device_ctx */
	DOCA_ARGP_TYPE_DEVICE_REP,	/* struct doca_argp_device_rep_ctx; not supported */
};

/*
 * An open device, for a value such as pci/0000:08:00.0,devargs.  The device belongs to the
 * callback, unless it returns an error.
 */
struct doca_argp_device_ctx {
	const char *devargs;		/* what follows the comma, or NULL; valid until destroy */
	struct doca_dev *dev;
};

struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx;
	struct doca_dev_rep *dev_rep;
};

/*
 * The config is that of doca_argp_init().  A string is valid until doca_argp_destroy(), other
 * values are valid during the call.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *param, void *config);
typedef doca_error_t (*doca_argp_validation_cb_t)(void *config);
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/*
 * The name is that of the usage; NULL is that of the process.  DOCA_ERROR_BAD_STATE: it is already
 * initialized.
 */
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/* Destroys all parameters and commands.  doca_argp_init() can follow. */
doca_error_t doca_argp_destroy(void);

/*
 * Parses the command line and the JSON file that it names, and calls the callbacks; its result is
 * the first error, also that of a callback.  It prints what was wrong and the usage to stderr.  For
 * -h and -v it prints to stdout and the process ends with the status 0.  The arguments must stay
 * valid until doca_argp_destroy().
 */
doca_error_t doca_argp_start(int argc, char **argv);

/* Prints the usage to stdout. */
doca_error_t doca_argp_usage(void);

/* The level of --log-level, or the global lower limit if it was not given */
doca_error_t doca_argp_get_log_level(int *log_level);

/*
 * The first prints the version for -v, with a pointer to a bool as its parameter.  The second is
 * called at the end of doca_argp_start(), whose result it decides.
 */
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/*
 * A program of DPDK: the arguments before -- are for DPDK, or the object doca_dpdk_flags of the
 * JSON file.  The callback gets them, with the name of the program, before all others.
 */
doca_error_t doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/*
 * A parameter belongs to its creator until it is registered.  doca_argp_destroy() also destroys
 * those that are not registered.
 */
doca_error_t doca_argp_param_create(struct doca_argp_param **param);
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/*
 * The strings are copied.  A short name follows one dash and may have several letters; a long name
 * follows two dashes and is the key in a JSON file.  The arguments are text for the usage.
 */
doca_error_t doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);
doca_error_t doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);
doca_error_t doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);
doca_error_t doca_argp_param_set_description(struct doca_argp_param *param,
					     const char *description);
doca_error_t doca_argp_param_set_callback(struct doca_argp_param *param,
					  doca_argp_param_cb_t callback);
doca_error_t doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/* It must be given; it may be given several times. */
doca_error_t doca_argp_param_set_mandatory(struct doca_argp_param *param);
doca_error_t doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/*
 * A parameter needs a name, a type and a callback.  DOCA_ERROR_ALREADY_EXIST: another one has the
 * name.
 */
doca_error_t doca_argp_register_param(struct doca_argp_param *param);

/*
 * Commands: words of the command line with parameters of their own.  A command line has one at
 * most; the program's parameters can follow it, too.  A command needs a name; its callback is
 * optional.  doca_argp_destroy() also destroys those that are not registered.
 */
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);
doca_error_t doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);
doca_error_t doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);
doca_error_t doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd,
					doca_error_t (*callback)(void *config));
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
					  struct doca_argp_param *param);
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *cmd);

#ifdef __cplusplus
}
#endif

#endif
