// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Limits of control groups (version 2).  If a call fails at a limit, the kernel returns its number
 * (xverbs_hdr.out_limit).  A kernel module cannot read the value of the limit, so the library reads
 * it.  No function allocates memory, because the limit may be that of memory.
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

/* Reads the next line without its newline.  A line longer than the buffer is read in parts. */
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

/*
 * Finds where the control groups are mounted.  A mount that shows only a part of them is left
 * out: the path of the process's group does not begin there.
 */
static bool find_mount(char mount[LINE])
{
	char line[LINE], root[LINE];
	struct reader r;
	bool found = false;

	if (!reader_open(&r, "/proc/self/mountinfo"))
		return false;
	while (!found && read_line(&r, line))
		found = strstr(line, " - cgroup2 ") &&
			sscanf(line, "%*s %*s %*s %511s %511s", root, mount) == 2 &&
			!strcmp(root, "/");
	close(r.fd);
	return found;
}

/* The path of the control group of this process */
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

/*
 * Finds the limit in a line of a file.  In rdma.max a line is "DEVICE NAME=VALUE NAME=VALUE";
 * in memory.max (no @device) it is the value.  Returns NULL if there is no limit ("max").
 */
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

/* Appends the limit of the process's group or, if it has none, of its nearest ancestor with one. */
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
		snprintf(reason + used, size - used, "; the limit is %s (%s of %s)", limit, file,
			 *group ? group : "/");
}

/*
 * Nothing is appended for other limits, whose value is in the reason or which are not known here.
 * If the device was renamed after it was opened, the kernel lists it by another name.
 */
void xv_limit_append(char *reason, size_t size, uint32_t limit, const char *device)
{
	switch (limit) {
	case XVERBS_LIMIT_MEMORY:
		append(reason, size, "memory.max", NULL, NULL);
		break;
	case XVERBS_LIMIT_HCA_HANDLE:
		if (device)
			append(reason, size, "rdma.max", device, "hca_handle");
		break;
	case XVERBS_LIMIT_HCA_OBJECT:
		if (device)
			append(reason, size, "rdma.max", device, "hca_object");
		break;
	}
}
