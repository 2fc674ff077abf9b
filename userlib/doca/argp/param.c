// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Parameters and commands: their properties and their registration.
 */
#include <stdlib.h>
#include <string.h>
#include "argp.h"

#define CREATE(kind, set_up)								\
EXPORT doca_error_t doca_argp_##kind##_create(struct doca_argp_##kind **kind)		\
{											\
	doca_error_t result = argp_check_setup();					\
	struct doca_argp_##kind *new;							\
											\
	if (result)									\
		return result;								\
	if (!kind)									\
		return DOCA_ERROR_INVALID_VALUE;					\
	new = calloc(1, sizeof(*new));							\
	if (!new)									\
		return DOCA_ERROR_NO_MEMORY;						\
	set_up;										\
	STAILQ_INSERT_TAIL(&argp.kind##s, new, all);					\
	*kind = new;									\
	return DOCA_SUCCESS;								\
}

CREATE(param, (void)0)
CREATE(cmd, STAILQ_INIT(&new->params))

EXPORT doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
	if (!param)
		return DOCA_ERROR_INVALID_VALUE;
	if (param->registered)
		return DOCA_ERROR_BAD_STATE;
	STAILQ_REMOVE(&argp.params, param, doca_argp_param, all);
	free(param->short_name);
	free(param->long_name);
	free(param->arguments);
	free(param->description);
	free(param);
	return DOCA_SUCCESS;
}

void argp_free_cmd(struct doca_argp_cmd *cmd)
{
	free(cmd->name);
	free(cmd->description);
	free(cmd);
}

/* ---- Properties ---- */

static doca_error_t set_text(char **field, bool *incomplete, const char *text)
{
	char *copy;

	if (!text)
		return DOCA_ERROR_INVALID_VALUE;
	copy = strdup(text);
	if (!copy) {
		/* Programs do not look at the result, so the registration fails. */
		*incomplete = true;
		return DOCA_ERROR_NO_MEMORY;
	}
	free(*field);
	*field = copy;
	return DOCA_SUCCESS;
}

#define SET(kind, property, parameter, action)						\
EXPORT doca_error_t doca_argp_##kind##_set_##property parameter				\
{											\
	if (!kind)									\
		return DOCA_ERROR_INVALID_VALUE;					\
	if (kind->registered)								\
		return DOCA_ERROR_BAD_STATE;						\
	action										\
}

#define SET_TEXT(kind, field)								\
SET(kind, field, (struct doca_argp_##kind *kind, const char *text),			\
	return set_text(&kind->field, &kind->incomplete, text);)

#define SET_VALUE(kind, field, value_type, valid)					\
SET(kind, field, (struct doca_argp_##kind *kind, value_type value),			\
	if (!(valid))									\
		return DOCA_ERROR_INVALID_VALUE;					\
	kind->field = value;								\
	return DOCA_SUCCESS;)

#define SET_TRUE(field)									\
SET(param, field, (struct doca_argp_param *param),					\
	param->field = true;								\
	return DOCA_SUCCESS;)

SET_TEXT(param, short_name)
SET_TEXT(param, long_name)
SET_TEXT(param, arguments)
SET_TEXT(param, description)
SET_VALUE(param, callback, doca_argp_param_cb_t, value)
SET_VALUE(param, type, enum doca_argp_type,
	  value > DOCA_ARGP_TYPE_UNKNOWN && value <= DOCA_ARGP_TYPE_DEVICE_REP)
SET_TRUE(mandatory)
SET_TRUE(multiplicity)
SET_TEXT(cmd, name)
SET_TEXT(cmd, description)
SET_VALUE(cmd, callback, cmd_callback, value)

/* ---- Registration ---- */

/* A name that can be found on a command line, or none */
static bool is_name(const char *name)
{
	return !name || (*name && *name != '-' && !strpbrk(name, "= \t\n"));
}

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

struct doca_argp_param *argp_find(const struct doca_argp_cmd *cmd, const char *short_name,
				  const char *long_name)
{
	struct doca_argp_param *param;

	for (param = STAILQ_FIRST(&cmd->params); param; param = STAILQ_NEXT(param, next))
		if (same(param->short_name, short_name) || same(param->long_name, long_name))
			return param;
	return NULL;
}

/*
 * Has another parameter a name of this one?  Those of the program can stand in front of the command
 * or behind it.
 */
static bool is_taken(const struct doca_argp_cmd *cmd, const struct doca_argp_param *param)
{
	const struct doca_argp_cmd *other;

	if (argp_find(cmd, param->short_name, param->long_name) ||
	    argp_find(&argp.general, param->short_name, param->long_name))
		return true;
	if (cmd != &argp.program)
		return argp_find(&argp.program, param->short_name, param->long_name);
	for (other = STAILQ_FIRST(&argp.cmds); other; other = STAILQ_NEXT(other, all))
		if (argp_find(other, param->short_name, param->long_name))
			return true;
	return false;
}

EXPORT doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
						 struct doca_argp_param *param)
{
	if (!cmd || !param)
		return DOCA_ERROR_INVALID_VALUE;
	if (argp_check_setup() || param->registered)
		return DOCA_ERROR_BAD_STATE;
	if (param->incomplete)
		return DOCA_ERROR_NO_MEMORY;
	if (!(param->short_name || param->long_name) || !is_name(param->short_name) ||
	    !is_name(param->long_name) || !param->callback || !param->type) {
		XVD_LOG(ERROR, "A parameter has no type, no callback or no good name");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (is_taken(cmd, param)) {
		XVD_LOG(ERROR, "There are two parameters %s%s", OPTION(param));
		return DOCA_ERROR_ALREADY_EXIST;
	}
	param->registered = true;
	STAILQ_INSERT_TAIL(&cmd->params, param, next);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_argp_register_param(struct doca_argp_param *param)
{
	return doca_argp_cmd_register_param(&argp.program, param);
}

EXPORT doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *cmd)
{
	const struct doca_argp_cmd *other;

	if (!cmd)
		return DOCA_ERROR_INVALID_VALUE;
	if (argp_check_setup() || cmd->registered)
		return DOCA_ERROR_BAD_STATE;
	if (cmd->incomplete)
		return DOCA_ERROR_NO_MEMORY;
	if (!cmd->name || !is_name(cmd->name))
		return DOCA_ERROR_INVALID_VALUE;
	for (other = STAILQ_FIRST(&argp.cmds); other; other = STAILQ_NEXT(other, all))
		if (other->registered && same(other->name, cmd->name))
			return DOCA_ERROR_ALREADY_EXIST;
	cmd->registered = true;
	return DOCA_SUCCESS;
}
