/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Descriptions of structures of the uAPI: for each member, how to draw a valid value.
 */
#ifndef TESTS_USER_FUZZ_SHAPES_H
#define TESTS_USER_FUZZ_SHAPES_H

#include "fuzz.h"

enum how {
	IS_OUT,			/* the kernel writes it */
	IS_ZERO,
	IS_HANDLE,		/* of one of the kinds @a; 0 in @b of 100 cases */
	IS_RANGE,		/* from @a to @b */
	IS_SIZE,		/* from @a to @b, mostly small */
	IS_MULTIPLE,		/* of @a, at most @b times */
	IS_BITS,		/* some of the bits @a, always the bits @b */
	IS_ONE,			/* one of @list */
	IS_RANDOM,
	IS_BUFFER,		/* address of room for an array */
	IS_PART,		/* struct xverbs_part with @shape, in @b of 100 cases */
	IS_ROOM,		/* the same, written by the kernel */
};

struct field {
	const char *name;
	uint16_t at, size;
	enum how how;
	uint64_t a, b;
	const struct shape *shape;
	const uint64_t *list;
};

struct shape {
	uint32_t size;
	uint32_t n;
	const struct field *field;
};

struct call;

/* A call that is being made */
struct made {
	struct thread *t;
	const struct call *call;
	struct target to;
	void *arg;
	int close_fd[2];		/* were opened for this call, or -1 */
};

struct call {
	const char *name;
	unsigned long cmd;
	const struct shape *shape;
	unsigned int weight;
	uint32_t flags;			/* of the header */
	uint32_t kinds;			/* of the new object; 0: none */
	uint16_t handle;		/* offset of its handle */
	/* Makes members fit each other. */
	void (*relate)(struct made *m);
	/* After success; @o: the new object, or NULL */
	void (*done)(struct made *m, struct object *o);
	/* Which of several kinds it is */
	enum kind (*kind_of)(const struct made *m);
};

extern const struct call calls[];
extern const unsigned int n_calls;

#endif
