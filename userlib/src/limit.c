// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Values of the limits of a control group (version 2).  The kernel names the limit in its
 * reason; modules cannot read the value.  Memory may be short, so nothing is allocated here.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "internal.h"

enum { LINE = 512, PATH = 2 * LINE };

struct reader {
	int fd;
	size_t used;
	char text[LINE];
};

static bool reader_open(struct reader *r, const char *path)
{
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	r->used = 0;
	return r->fd >= 0;
}

/* Reads the next line, without its end; one that is too long comes in pieces. */
static bool read_line(struct reader *r, char line[LINE])
{
	ssize_t n = read(r->fd, r->text + r->used, sizeof(r->text) - 1 - r->used);
	size_t length;
	char *end;

	r->used += n > 0 ? (size_t)n : 0;
	if (!r->used)
		return false;
	r->text[r->used] = 0;
	end = strchr(r->text, '\n');
	length = end ? (size_t)(end - r->text) : r->used;
	memcpy(line, r->text, length);
	line[length] = 0;
	length += !!end;
	r->used -= length;
	memmove(r->text, r->text + length, r->used);
	return true;
}

static bool find_mount(char mount[LINE])
{
	char line[LINE];
	struct reader r;
	bool found = false;

	if (!reader_open(&r, "/proc/self/mountinfo"))
		return false;
	while (!found && read_line(&r, line))
		found = strstr(line, " - cgroup2 ") &&
			sscanf(line, "%*s %*s %*s %*s %511s", mount) == 1;
	close(r.fd);
	return found;
}

static bool find_group(char group[LINE])
{
	struct reader r;
	bool found = false;

	if (!reader_open(&r, "/proc/self/cgroup"))
		return false;
	while (!found && read_line(&r, group))
		found = !strncmp(group, "0::", 3);
	close(r.fd);
	memmove(group, group + 3, found ? strlen(group + 3) + 1 : 0);
	return found;
}

/* The word of @line that is a limit: "name=value", or the line itself without a name */
static const char *limit_in(char *line, const char *device, const char *name)
{
	char *word, *rest = NULL;

	if (!device)
		return strcmp(line, "max") ? line : NULL;
	word = strtok_r(line, " ", &rest);
	if (!word || strcmp(word, device))
		return NULL;
	while ((word = strtok_r(NULL, " ", &rest)))
		if (!strncmp(word, name, strlen(name)) && word[strlen(name)] == '=')
			return strcmp(word + strlen(name), "=max") ? word : NULL;
	return NULL;
}

/* Appends the limit of a group or of its nearest ancestor that has one. */
static void append(char *reason, size_t size, const char *file, const char *device,
		   const char *name)
{
	char mount[LINE], group[LINE], path[PATH + 16], line[LINE];
	const char *limit = NULL;
	size_t used = strlen(reason);
	struct reader r;
	char *end;

	if (!find_mount(mount) || !find_group(group))
		return;
	for (;;) {
		snprintf(path, sizeof(path), "%s%s/%s", mount, group, file);
		if (reader_open(&r, path)) {
			while (!limit && read_line(&r, line))
				limit = limit_in(line, device, name);
			close(r.fd);
		}
		end = strrchr(group, '/');
		if (limit || !end)
			break;
		*end = 0;
	}
	if (limit)
		snprintf(reason + used, size - used, "; %s of %s is %s", file,
			 *group ? group : "/", limit);
}

void xv_limit_append(char *reason, size_t size)
{
	char device[64], name[32];

	if (sscanf(reason, "limit %31s of %63s in the rdma cgroup", name, device) == 2)
		append(reason, size, "rdma.max", device, name);
	else if (strstr(reason, "(memory.max)"))
		append(reason, size, "memory.max", NULL, NULL);
}
