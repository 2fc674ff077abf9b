/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of libdoca_argp share.
 */
#ifndef XVDOCA_ARGP_INTERNAL_H
#define XVDOCA_ARGP_INTERNAL_H

#include <stdio.h>
#include <sys/queue.h>
#include <jansson.h>
#include <doca_argp.h>
#include "internal.h"

struct doca_argp_param {
	char *short_name, *long_name, *arguments, *description;
	doca_argp_param_cb_t callback;
	enum doca_argp_type type;
	bool mandatory, multiplicity;
	bool urgent;			/* acts at once, and is not in a JSON file */
	bool incomplete;		/* there was no memory for a string */
	bool registered;
	unsigned int uses;
	STAILQ_ENTRY(doca_argp_param) all, next;
};

STAILQ_HEAD(params, doca_argp_param);
STAILQ_HEAD(cmds, doca_argp_cmd);

typedef doca_error_t (*cmd_callback)(void *config);

struct doca_argp_cmd {
	char *name, *description;
	cmd_callback callback;
	bool incomplete, registered;
	struct params params;
	STAILQ_ENTRY(doca_argp_cmd) all;
};

/* Strings in an array that ends with NULL */
struct strings {
	char **v;
	int count;
};

/* A parameter or a command of the command line */
struct use {
	struct doca_argp_param *param;
	struct doca_argp_cmd *cmd;
	const char *value;		/* NULL for a parameter without one */
};

struct argp {
	bool initialized, started;
	char *name;
	void *config;
	struct doca_argp_cmd general;	/* has the parameters of the library */
	struct doca_argp_cmd program;	/* has those of the program */
	struct doca_argp_cmd *chosen;	/* the command of the command line, or program */
	struct params params;		/* all that exist */
	struct cmds cmds;
	doca_argp_param_cb_t version;
	doca_argp_validation_cb_t validate;
	doca_argp_dpdk_cb_t dpdk;
	const char *json_path;
	/* Callbacks may keep the strings of these. */
	json_t *json;
	struct strings dpdk_strings;
};

extern struct argp argp;

/* The two arguments of %s%s for the name of a parameter */
#define OPTION(p)					\
	(p)->long_name ? "--" : "-",			\
	(p)->long_name ? (p)->long_name : (p)->short_name

/* Prints a message for the user to stderr. */
__attribute__((format(printf, 1, 2)))
void argp_error(const char *format, ...);

/* DOCA_SUCCESS if parameters and commands can be created, changed and registered */
doca_error_t argp_check_setup(void);

void argp_free_cmd(struct doca_argp_cmd *cmd);

/* The parameter of a command that has one of the names */
struct doca_argp_param *argp_find(const struct doca_argp_cmd *cmd, const char *short_name,
				  const char *long_name);

/* argp.chosen becomes the command, or argp.program. */
doca_error_t argp_parse(int argc, char **argv, struct use *uses, int *count);

/* Calls the callback of a parameter or a command. */
doca_error_t argp_deliver(const struct use *use);

/* Convert a value and call the callback. */
doca_error_t argp_deliver_text(const struct doca_argp_param *param, const char *text);
doca_error_t argp_deliver_flag(const struct doca_argp_param *param, bool flag);

/* Opens the device for the value; the message is printed. */
doca_error_t argp_open_device(const char *value, struct doca_argp_device_ctx *device);

/* argp.json becomes the content of argp.json_path. */
doca_error_t argp_load_json(void);

/* Deliver what the command line does not have. */
doca_error_t argp_deliver_json(void);

/* Calls the callback for DPDK with these arguments, or those of argp.json if there are none. */
doca_error_t argp_start_dpdk(int argc, char **argv);
void argp_free_strings(struct strings *strings);

void argp_print_usage(FILE *file);

#endif
