// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a call from its description: valid values first, then, in some cases, one that is not.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "shapes.h"

static void put(void *to, uint32_t size, uint64_t value)
{
	memcpy(to, &value, size < sizeof(value) ? size : sizeof(value));
}

/* ---- Valid values -------------------------------------------------------------------- */

static uint64_t valid_handle(struct made *m, const struct field *f)
{
	const struct object *o = draw_object(m->t, m->to.file, f->a);

	return o && !chance(m->t, f->b) ? o->handle : 0;
}

static uint64_t valid_value(struct made *m, const struct field *f)
{
	struct thread *t = m->t;

	switch (f->how) {
	case IS_HANDLE:
		return valid_handle(m, f);
	case IS_RANGE:
		return f->a + below(t, f->b - f->a + 1);
	case IS_SIZE:
		return draw_size(t, f->a, f->b);
	case IS_MULTIPLE:
		return f->a * draw_size(t, 0, f->b);
	case IS_BITS:
		return (draw(t) & draw(t) & f->a) | f->b;
	case IS_ONE:
		return f->list[below(t, f->a)];
	case IS_RANDOM:
		return draw(t);
	case IS_BUFFER:
		return (uintptr_t)t->scratch->out;
	default:
		return 0;
	}
}

static void fill(struct made *m, const struct shape *shape, uint8_t *to);

static struct xverbs_part fill_part(struct made *m, const struct field *f)
{
	struct thread *t = m->t;
	uint8_t *at;

	if (!chance(t, f->b))
		return (struct xverbs_part) {};
	if (f->how == IS_ROOM)
		return (struct xverbs_part) { (uintptr_t)t->scratch->out, f->shape->size, 0 };
	at = t->scratch->part[t->parts++];
	fill(m, f->shape, at);
	return (struct xverbs_part) { (uintptr_t)at, f->shape->size, 0 };
}

static void fill(struct made *m, const struct shape *shape, uint8_t *to)
{
	struct xverbs_part part;
	const struct field *f;

	memset(to, 0, shape->size);
	for (f = shape->field; f < shape->field + shape->n; f++) {
		if (f->how == IS_PART || f->how == IS_ROOM) {
			part = fill_part(m, f);
			memcpy(to + f->at, &part, sizeof(part));
		} else {
			put(to + f->at, f->size, valid_value(m, f));
		}
	}
}

static void fill_header(struct made *m)
{
	struct xverbs_hdr *hdr = m->arg;

	hdr->size = m->call->shape->size;
	hdr->flags = m->call->flags ? draw(m->t) & draw(m->t) & m->call->flags : 0;
	if (chance(m->t, 50)) {
		hdr->reason = (uintptr_t)m->t->scratch->reason;
		hdr->reason_len = sizeof(m->t->scratch->reason);
	}
}

/* ---- Wrong values -------------------------------------------------------------------- */

/* Of an object that does not exist any more, of another kind, or of another file */
static uint64_t wrong_handle(struct made *m)
{
	struct file *other = &world->file[below(m->t, PROCS)][below(m->t, FILES)];
	const struct object *o;

	switch (below(m->t, 4)) {
	case 0:
		return m->to.file->stale[below(m->t, STALE)];
	case 1:
		o = draw_object(m->t, m->to.file, ANY_KIND);
		return o ? o->handle : 0;
	case 2:
		o = draw_object(m->t, other, ANY_KIND);
		return o ? o->handle : 1;
	default:
		return below(m->t, 300);
	}
}

static uint64_t wrong_value(struct made *m, const struct field *f, uint64_t value)
{
	static const uint64_t odd[] = { 0, 1, 2, 7, 0x7f, 0xff, 0xffff, 0x1000000, 0x7fffffff };

	if (f->how == IS_HANDLE)
		return wrong_handle(m);
	switch (below(m->t, 5)) {
	case 0:
		return ~0ull >> below(m->t, 64);
	case 1:
		return value ^ 1ull << below(m->t, f->size * 8);
	case 2:
		return value + 1 - 2 * below(m->t, 2);
	case 3:
		return draw(m->t) >> below(m->t, 64);
	default:
		return odd[below(m->t, ARRAY_SIZE(odd))];
	}
}

static void spoil_member(struct made *m, const struct shape *shape, uint8_t *to)
{
	const struct field *f;
	struct xverbs_part part;
	uint64_t value = 0;

	if (!shape->n)
		return;
	f = &shape->field[below(m->t, shape->n)];
	memcpy(&part, to + f->at, sizeof(part));
	if (f->how == IS_PART && part.addr && chance(m->t, 80)) {
		spoil_member(m, f->shape, (uint8_t *)(uintptr_t)part.addr);
		return;
	}
	memcpy(&value, to + f->at, f->size < sizeof(value) ? f->size : sizeof(value));
	put(to + f->at + (f->size > 8 ? below(m->t, f->size / 8) * 8 : 0), f->size,
	    wrong_value(m, f, value));
}

static void spoil_header(struct made *m)
{
	static const int16_t grow[] = { -8, -16, 8, 64, 2000 };
	struct xverbs_hdr *hdr = m->arg;

	switch (below(m->t, 5)) {
	case 0:
		hdr->size += grow[below(m->t, ARRAY_SIZE(grow))];
		break;
	case 1:
		hdr->flags ^= 1u << below(m->t, 32);
		break;
	case 2:
		hdr->reason = draw(m->t);
		break;
	case 3:
		hdr->reason_len = draw(m->t) >> below(m->t, 32);
		break;
	default:
		hdr->out_limit = draw(m->t);
	}
}

/* The structure ends where its memory ends, or a part of it is missing. */
static void spoil_address(struct made *m)
{
	uint32_t size = m->call->shape->size, missing = chance(m->t, 50) ? below(m->t, size) : 0;
	uint8_t *end = (uint8_t *)(m->t->scratch + 1);

	memmove(end - size + missing, m->arg, size - missing);
	m->arg = end - size + missing;
}

static void spoil(struct made *m)
{
	switch (below(m->t, 10)) {
	case 0:
		spoil_header(m);
		break;
	case 1:
		spoil_address(m);
		break;
	default:
		spoil_member(m, m->call->shape, m->arg);
	}
}

/* ---- The call ------------------------------------------------------------------------ */

void object_destroy(const struct target *to, struct object *o)
{
	struct xverbs_destroy arg = { .hdr.size = sizeof(arg), .handle = o->handle };

	to->file->stale[o->handle % STALE] = o->handle;
	o->handle = 0;
	ioctl(to->fd, XVERBS_DESTROY, &arg);
}

/* Puts the new object into a slot; another object there is destroyed if it is not in use. */
static struct object *keep(struct made *m)
{
	enum kind kind = m->call->kind_of ? m->call->kind_of(m) :
				(enum kind)__builtin_ctz(m->call->kinds);
	struct object *o = &m->to.file->slot[kind][below(m->t, SLOTS)];
	uint32_t handle;

	memcpy(&handle, (uint8_t *)m->arg + m->call->handle, sizeof(handle));
	if (o->handle)
		object_destroy(&m->to, o);
	memset(o, 0, sizeof(*o));
	return handle ? o : NULL;
}

/* The handle is stored last: then other threads may use the object. */
static void succeeded(struct made *m)
{
	struct object *o = m->call->kinds ? keep(m) : NULL;

	if (m->call->kinds && !o)
		return;
	if (m->call->done)
		m->call->done(m, o);
	if (o)
		memcpy(&o->handle, (uint8_t *)m->arg + m->call->handle, sizeof(o->handle));
}

static const struct call *draw_call(struct thread *t)
{
	static unsigned int total;
	unsigned int i, n = 0, at;

	for (i = 0; !total && i < n_calls; i++)
		n += calls[i].weight;
	if (!total)
		total = n;
	at = below(t, total);
	for (i = 0; at >= calls[i].weight; i++)
		at -= calls[i].weight;
	return &calls[i];
}

static unsigned int successes(const struct call *call)
{
	return world->call[call - calls].good;
}

/* On a slow kernel there is time for few calls: those that rarely succeeded come more often. */
static const struct call *draw_rare(struct thread *t)
{
	const struct call *call = draw_call(t), *other;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		other = draw_call(t);
		if (successes(other) < successes(call))
			call = other;
	}
	return call;
}

static bool has(struct file *file, uint32_t kinds)
{
	unsigned int at;

	for (at = 0; at < KINDS * SLOTS; at++)
		if (kinds & K(at / SLOTS) && file->slot[at / SLOTS][at % SLOTS].handle)
			return true;
	return false;
}

/* The first kinds of objects that the call needs and that the file does not have, or 0 */
static uint32_t missing(const struct call *call, struct file *file)
{
	const struct field *f;

	for (f = call->shape->field; f < call->shape->field + call->shape->n; f++)
		if (f->how == IS_HANDLE && !f->b && !has(file, f->a))
			return f->a;
	return 0;
}

/* A call that the file has the objects for: if it lacks some, mostly a call that creates them */
static const struct call *draw_possible(struct thread *t, struct file *file)
{
	const struct call *call = chance(t, 50) ? draw_call(t) : draw_rare(t);
	unsigned int i, depth;
	uint32_t kinds;

	for (depth = 0; depth < 4 && chance(t, 90); depth++) {
		kinds = missing(call, file);
		for (i = 0; kinds && i < n_calls; i++)
			if (kinds & calls[i].kinds)
				break;
		if (!kinds || i == n_calls)
			break;
		call = &calls[i];
	}
	return call;
}

bool action_call(struct thread *t)
{
	struct made m = { .t = t, .to = draw_target(t), .close_fd = { -1, -1 } };
	uint32_t serial = m.to.file->serial;
	struct count *count;
	bool valid;
	int err;

	m.call = draw_possible(t, m.to.file);
	count = &world->call[m.call - calls];
	m.arg = t->scratch->arg;
	t->parts = 0;
	fill(&m, m.call->shape, m.arg);
	fill_header(&m);
	if (m.call->relate)
		m.call->relate(&m);
	valid = chance(t, 80);
	if (!valid)
		spoil(&m);
	fail_sometimes(t);
	err = ioctl(m.to.fd, m.call->cmd, m.arg) ? errno : 0;
	fail_nth(t, 0);
	atomic_fetch_add(&count->tried, 1);
	close(m.close_fd[0]);
	close(m.close_fd[1]);
	if (!err) {
		atomic_fetch_add(&count->good, 1);
		/* An argument that other threads can unmap is not read again. */
		if (m.arg == t->scratch->arg)
			succeeded(&m);
	} else if (err == ENODEV && m.to.proc == process.index && m.close_fd[0] < 0 &&
		   serial == m.to.file->serial) {
		file_open(m.to.index);
	}
	return !err;
}

/* ---- Checks of the table ------------------------------------------------------------- */

unsigned int calls_number(void)
{
	return n_calls;
}

const char *call_name(unsigned int i)
{
	return calls[i].name;
}

unsigned int call_number(unsigned int i)
{
	return _IOC_NR(calls[i].cmd);
}

bool call_possible(unsigned int i)
{
	switch (calls[i].cmd) {
	case XVERBS_MR_DMABUF:
		return world->dmabuf >= 0;
	case XVERBS_DCT_CREATE:
	case XVERBS_DCT_QUERY:
	case XVERBS_DCT_ARM:
		return world->with_dc;
	default:
		return true;
	}
}

static bool complete(const struct shape *shape, uint32_t from)
{
	uint8_t described[1024] = {};
	const struct field *f;

	memset(described, 1, from);
	for (f = shape->field; f < shape->field + shape->n; f++) {
		memset(described + f->at, 1, f->size);
		if (f->shape && !complete(f->shape, 0))
			return false;
	}
	return !memchr(described, 0, shape->size);
}

const char *calls_incomplete(void)
{
	unsigned int i;

	for (i = 0; i < n_calls; i++)
		if (!complete(calls[i].shape, sizeof(struct xverbs_hdr)))
			return calls[i].name;
	return NULL;
}
