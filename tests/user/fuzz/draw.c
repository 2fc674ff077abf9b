// SPDX-License-Identifier: GPL-2.0
/*
 * Choices.  Each step of a thread has its own random numbers, so that a step chooses the same
 * whatever the steps before it have found.
 */
#include "fuzz.h"

uint64_t draw(struct thread *t)
{
	uint64_t x = t->random += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint32_t below(struct thread *t, uint32_t n)
{
	return (draw(t) >> 32) * n >> 32;
}

bool chance(struct thread *t, uint32_t percent)
{
	return below(t, 100) < percent;
}

uint64_t draw_size(struct thread *t, uint64_t lo, uint64_t hi)
{
	uint64_t range = hi - lo + 1;
	unsigned int bits = range > 1 ? 64 - __builtin_clzll(range - 1) : 0;
	uint64_t size = draw(t) & ((1ull << below(t, bits + 1)) - 1);

	return lo + size % range;
}

struct object *draw_object(struct thread *t, struct file *file, uint32_t kinds)
{
	uint32_t at = below(t, KINDS * SLOTS), n;

	for (n = 0; n < KINDS * SLOTS; n++, at++) {
		struct object *o = &file->slot[at / SLOTS % KINDS][at % SLOTS];

		if (kinds & K(at / SLOTS % KINDS) && o->handle)
			return o;
	}
	return NULL;
}

static struct object *find(struct file *file, uint32_t kinds, uint32_t handle, uint32_t number)
{
	uint32_t at;

	for (at = 0; at < KINDS * SLOTS; at++) {
		struct object *o = &file->slot[at / SLOTS][at % SLOTS];

		if (kinds & K(at / SLOTS) && o->handle &&
		    (handle ? o->handle == handle : o->number == number))
			return o;
	}
	return NULL;
}

struct object *find_number(struct file *file, uint32_t kinds, uint32_t number)
{
	return find(file, kinds, 0, number);
}

struct object *find_handle(struct file *file, uint32_t kinds, uint32_t handle)
{
	return handle ? find(file, kinds, handle, 0) : NULL;
}

/* Mostly one of the files of this process, otherwise one that another process has passed */
struct target draw_target(struct thread *t)
{
	uint32_t at = below(t, PROCS * FILES), n;
	unsigned int proc = process.index, index = at % FILES;

	for (n = 0; n < PROCS * FILES && chance(t, 20); n++, at++) {
		proc = at / FILES % PROCS;
		index = at % FILES;
		if (process.fd[proc][index] >= 0)
			break;
	}
	return (struct target) {
		.fd = process.fd[proc][index], .file = &world->file[proc][index],
		.proc = proc, .index = index,
	};
}
