// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The arguments of DPDK, from the command line or from the JSON file.
 */
#include <stdlib.h>
#include <string.h>
#include "argp.h"

static bool add(struct strings *strings, const char *value)
{
	char **v = realloc(strings->v, (strings->count + 2) * sizeof(*v));

	if (!v)
		return false;
	strings->v = v;
	v[strings->count] = strdup(value);
	if (!v[strings->count])
		return false;
	v[++strings->count] = NULL;
	return true;
}

void argp_free_strings(struct strings *strings)
{
	while (strings->count)
		free(strings->v[--strings->count]);
	free(strings->v);
}

/* One device: {"device": "pf", "id": "0000:03:00.0", "sft": true, "hws": true} */
static bool add_device(struct strings *strings, json_t *device)
{
	const char *kind = json_string_value(json_object_get(device, "device"));
	const char *id = json_string_value(json_object_get(device, "id"));
	char text[256];
	int n;

	if (!kind || !id)
		return false;
	n = snprintf(text, sizeof(text), "%s%s%s%s",
		     strcmp(kind, "sf") ? "" : "auxiliary:mlx5_core.sf.", id,
		     json_is_true(json_object_get(device, "sft")) ? ",sft_en=1" : "",
		     json_is_true(json_object_get(device, "hws")) ? ",dv_flow_en=2" : "");
	return n < (int)sizeof(text) && add(strings, "-a") && add(strings, text);
}

static bool add_devices(struct strings *strings, json_t *devices)
{
	size_t i;

	for (i = 0; i < json_array_size(devices); i++)
		if (!add_device(strings, json_array_get(devices, i)))
			return false;
	return json_is_array(devices);
}

static bool add_core_mask(struct strings *strings, json_t *mask)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)json_integer_value(mask));
	return json_is_integer(mask) && add(strings, "-c") && add(strings, text);
}

static bool add_core_list(struct strings *strings, json_t *list)
{
	return json_is_string(list) && add(strings, "-l") && add(strings, json_string_value(list));
}

/* The words of a string */
static bool add_flags(struct strings *strings, json_t *flags)
{
	char *copy = json_is_string(flags) ? strdup(json_string_value(flags)) : NULL, *word, *rest;
	bool good = copy;

	for (word = copy ? strtok_r(copy, " \t\n", &rest) : NULL; word && good;
	     word = strtok_r(NULL, " \t\n", &rest))
		good = add(strings, word);
	free(copy);
	return good;
}

static bool add_key(struct strings *strings, const char *name, json_t *value)
{
	static const struct {
		const char *name;
		bool (*add)(struct strings *strings, json_t *value);
	} keys[] = {
		{ "devices", add_devices },
		{ "core-mask", add_core_mask },
		{ "core-list", add_core_list },
		{ "flags", add_flags },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(name, keys[i].name))
			return keys[i].add(strings, value);
	return false;
}

static doca_error_t add_json(struct strings *strings)
{
	const char *name;
	json_t *value;

	json_object_foreach(json_object_get(argp.json, "doca_dpdk_flags"), name, value) {
		if (!add_key(strings, name, value)) {
			argp_error("%s: %s of DPDK is unknown or wrong", argp.json_path, name);
			return DOCA_ERROR_BAD_CONFIG;
		}
	}
	return DOCA_SUCCESS;
}

doca_error_t argp_start_dpdk(int argc, char **argv)
{
	struct strings *strings = &argp.dpdk_strings;
	doca_error_t result = DOCA_SUCCESS;
	bool good = add(strings, argp.name);
	char **copy;
	int i;

	for (i = 0; i < argc && good; i++)
		good = add(strings, argv[i]);
	if (good && !argc)
		result = add_json(strings);
	if (result)
		return result;
	/* DPDK changes the array. */
	copy = good ? malloc((strings->count + 1) * sizeof(*copy)) : NULL;
	if (!copy)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(copy, strings->v, (strings->count + 1) * sizeof(*copy));
	result = argp.dpdk(strings->count, copy);
	free(copy);
	return result;
}
