// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The usage.
 */
#include "argp.h"

#define COLUMN	33

/* The names and arguments, padded to the column of the description */
static void print_param(FILE *file, const struct doca_argp_param *param)
{
	const char *s = param->short_name, *l = param->long_name, *a = param->arguments;
	int n;

	n = fprintf(file, "  %s%s%s%s%s%s%s", s ? "-" : "", s ? s : "", s && l ? ", " : "",
		    l ? "--" : "", l ? l : "", a ? " " : "", a ? a : "");
	fprintf(file, "%*s %s\n", n < COLUMN + 2 ? COLUMN + 2 - n : 0, "",
		param->description ? param->description : "");
}

static void print_params(FILE *file, const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_param *param;

	for (param = STAILQ_FIRST(&cmd->params); param; param = STAILQ_NEXT(param, next))
		print_param(file, param);
}

static void print_cmds(FILE *file)
{
	const struct doca_argp_cmd *cmd;

	for (cmd = STAILQ_FIRST(&argp.cmds); cmd; cmd = STAILQ_NEXT(cmd, all)) {
		if (!cmd->registered)
			continue;
		fprintf(file, "\nCommand %s%s%s:\n", cmd->name, cmd->description ? " - " : "",
			cmd->description ? cmd->description : "");
		print_params(file, cmd);
	}
}

void argp_print_usage(FILE *file)
{
	bool flags = !STAILQ_EMPTY(&argp.program.params), cmds = !STAILQ_EMPTY(&argp.cmds);

	fprintf(file, "Usage: %s%s [DOCA Flags]%s%s\n\nDOCA Flags:\n", argp.name,
		argp.dpdk ? " [DPDK Flags] --" : "", flags ? " [Program Flags]" : "",
		cmds ? " [Command] [Command Flags]" : "");
	print_params(file, &argp.general);
	if (flags)
		fputs("\nProgram Flags:\n", file);
	print_params(file, &argp.program);
	print_cmds(file);
	fflush(file);
}
