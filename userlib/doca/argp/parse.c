// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The command line.
 */
#include <stdlib.h>
#include <string.h>
#include "argp.h"

/* The parameter of the chosen command, of the program, or of the library */
static struct doca_argp_param *find(const char *short_name, const char *long_name)
{
	struct doca_argp_param *param = argp_find(argp.chosen, short_name, long_name);

	if (!param)
		param = argp_find(&argp.program, short_name, long_name);
	if (!param)
		param = argp_find(&argp.general, short_name, long_name);
	return param;
}

/* The parameter of -x, --x or --x=value, or NULL; *value becomes the value behind =, or NULL. */
static struct doca_argp_param *find_option(const char *arg, const char **value)
{
	struct doca_argp_param *param;
	const char *equal;
	char *name;

	*value = NULL;
	if (arg[0] != '-')
		return NULL;
	if (arg[1] != '-')
		return find(arg + 1, NULL);
	equal = strchr(arg, '=');
	if (!equal)
		return find(NULL, arg + 2);
	name = strndup(arg + 2, equal - arg - 2);
	param = name ? find(NULL, name) : NULL;
	free(name);
	*value = equal + 1;
	return param;
}

static struct doca_argp_cmd *find_cmd(const char *name)
{
	struct doca_argp_cmd *cmd;

	if (argp.chosen != &argp.program)
		return NULL;
	for (cmd = STAILQ_FIRST(&argp.cmds); cmd; cmd = STAILQ_NEXT(cmd, all))
		if (cmd->registered && !strcmp(cmd->name, name))
			return cmd;
	return NULL;
}

/* Stores the value of a parameter; returns the number of arguments that it needs, or -1. */
static int take(struct use *use, int argc, char **argv)
{
	const char *ignored;

	if (use->param->uses++ && !use->param->multiplicity) {
		argp_error("%s%s is there twice", OPTION(use->param));
		return -1;
	}
	if (use->param->type == DOCA_ARGP_TYPE_BOOLEAN) {
		if (!use->value)
			return 1;
		argp_error("%s%s takes no value", OPTION(use->param));
		return -1;
	}
	if (use->value)
		return 1;
	if (argc < 2 || find_option(argv[1], &ignored)) {
		argp_error("%s%s needs a value", OPTION(use->param));
		return -1;
	}
	use->value = argv[1];
	return 2;
}

doca_error_t argp_parse(int argc, char **argv, struct use *uses, int *count)
{
	struct use *use = uses;
	int n;

	argp.chosen = &argp.program;
	for (; argc > 0; argc -= n, argv += n, use++) {
		n = 1;
		use->cmd = find_cmd(argv[0]);
		if (use->cmd) {
			argp.chosen = use->cmd;
			continue;
		}
		use->param = find_option(argv[0], &use->value);
		if (!use->param) {
			argp_error("%s is unknown", argv[0]);
			return DOCA_ERROR_INVALID_VALUE;
		}
		n = take(use, argc, argv);
		if (n < 0)
			return DOCA_ERROR_INVALID_VALUE;
		/* -h and -v end the process, -j is needed before the others. */
		if (use->param->urgent) {
			argp_deliver(use);
			memset(use--, 0, sizeof(*use));
		}
	}
	*count = use - uses;
	return DOCA_SUCCESS;
}
