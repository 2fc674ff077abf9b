// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pass.h"
#include "random.h"
#include "wire/packet.h"
#include "wire_link.h"
#include "wire_mark.h"

enum {
	ETHERNET_BYTES	= 14,
	ETHERNET_LEAST	= 60,		/* bytes; shorter frames are padded */
	LATE		= 15,		/* delays, at most, that a frame is late */
	FLIPS		= 3,		/* bits, at most, that change in a damaged frame */
	LOST		= 1 << WIRE_LOSS | WIRE_SCRIPTED | WIRE_NOBODY,
	IDLE		= 4,		/* passes without work until the time advances */
	UNHEEDED	= 200,		/* the same if frames have arrived that nobody takes */
};

struct wire_frame {
	struct wire_frame *next;
	u64 due;
	u32 bytes;
	u8 from, func;			/* host, and its function */
	bool local;			/* arrived, and its sender is of the same host */
	u8 at[];			/* exactly these bytes, and not aligned */
};

/* What happens to a frame */
struct fate {
	u64 draw[WIRE_FAULTS];
	u8 faults;			/* as in struct wire_event */
};

/* Its contents are no zeros, so a sender must write every byte. */
static struct wire_frame *frame_new(u32 bytes, u8 from, u8 func)
{
	struct wire_frame *f = malloc(offsetof(struct wire_frame, at) + bytes);

	if (!f)
		exit(99);
	f->next = NULL;
	f->from = from;
	f->func = func;
	f->bytes = bytes;
	memset(f->at, 0xa5, bytes);
	return f;
}

static void free_all(struct wire_frame *f)
{
	struct wire_frame *next;

	for (; f; f = next) {
		next = f->next;
		free(f);
	}
}

/* ---- What happens on the way -------------------------------------------------------- */

/*
 * Each kind of fault draws one number for each frame, whatever else happens to it: so the faults of
 * the frames after it stay the same.
 */
static struct fate choose(struct wire *w, const struct wire_frame *f)
{
	struct fate fate = {};
	u32 i;

	for (i = 0; i < WIRE_FAULTS; i++) {
		fate.draw[i] = random_next(&w->seed[i]);
		if (fate.draw[i] % 1000 < w->per_mille[i])
			fate.faults |= 1 << i;
	}
	if (w->drop && w->drop(f->at, f->bytes, w->nth))
		fate.faults |= WIRE_SCRIPTED;
	if (w->twice && w->twice(f->at, f->bytes))
		fate.faults |= 1 << WIRE_DUPLICATE;
	w->nth++;
	return fate;
}

/* More numbers are made of the upper bits of the one that was drawn. */
static u64 late(const struct wire *w, const struct fate *fate, enum wire_fault fault)
{
	return (1 + (fate->draw[fault] >> 32) % LATE) * w->delay;
}

static void damage(struct wire_frame *f, u64 draw)
{
	u32 bits = (f->bytes - ETHERNET_BYTES) * 8, n, bit;

	for (n = 1 + (draw >> 32) % FLIPS; n; n--) {
		bit = random_next(&draw) % bits;
		f->at[ETHERNET_BYTES + bit / 8] ^= 1 << bit % 8;
	}
}

/* Puts the frame into the list, which is in the order of arrival. */
static void fly(struct wire *w, struct wire_frame *f, u64 delay)
{
	struct wire_frame **at = &w->flying;

	f->due = shim_now + delay;
	while (*at && (*at)->due <= f->due)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	w->nflying[f->from]++;
}

/* A copy of the frame, as Ethernet has it */
static struct wire_frame *copy(const struct wire_frame *f)
{
	struct wire_frame *new = frame_new(f->bytes < ETHERNET_LEAST ? ETHERNET_LEAST : f->bytes,
					   f->from, f->func);

	memcpy(new->at, f->at, f->bytes);
	return new;
}

static void send_on(struct wire *w, const struct wire_frame *f, const struct fate *fate)
{
	struct wire_frame *first = copy(f);
	u64 more = 0;

	if (w->mark && w->mark(f->at, f->bytes))
		wire_mark(first->at);
	if (fate->faults & 1 << WIRE_CORRUPT)
		damage(first, fate->draw[WIRE_CORRUPT]);
	if (fate->faults & 1 << WIRE_REORDER)
		more = late(w, fate, WIRE_REORDER);
	if (w->change)
		w->change(first->at, &first->bytes, &more);
	fly(w, first, w->delay + more);
	if (fate->faults & 1 << WIRE_DUPLICATE)
		fly(w, copy(f), w->delay + late(w, fate, WIRE_DUPLICATE));
}

/* ---- Who gets a frame --------------------------------------------------------------- */

static bool has_mac(const struct hca *hca, const u8 *mac)
{
	int i;

	for (i = 0; i < HCA_GIDS; i++)
		if (hca->gids[i].valid && !memcmp(hca->gids[i].mac, mac, 6))
			return true;
	return !memcmp(hca->p.mac, mac, 6);
}

/* Everybody on the wire gets a multicast; of the same host, those that use packets. */
static bool is_for(const struct wire_frame *f, const struct wire_port *port)
{
	const struct hca *to = port->s->hca[port->func];

	if (f->at[0] & 1)
		return f->from != port->s->host || !hca_is_direct(port->s->hca[f->func], to);
	return has_mac(to, f->at);
}

static void arrive(struct wire_port *port, const struct wire_frame *f)
{
	struct wire_frame **end = &port->in;

	while (*end)
		end = &(*end)->next;
	*end = copy(f);
	(*end)->local = f->from == port->s->host;
}

static struct wire_port *port_at(struct wire *w, u32 i)
{
	return &w->port[i / SESSION_FUNCS][i % SESSION_FUNCS];
}

void wire_deliver(struct wire *w)
{
	struct wire_frame *f;
	u32 i;

	while ((f = w->flying) && f->due <= shim_now) {
		w->flying = f->next;
		w->nflying[f->from]--;
		for (i = 0; i < 2 * SESSION_FUNCS; i++)
			if (is_for(f, port_at(w, i)))
				arrive(port_at(w, i), f);
		free(f);
	}
}

static bool has_receiver(struct wire *w, const struct wire_frame *f)
{
	u32 i;

	for (i = 0; i < 2 * SESSION_FUNCS; i++)
		if (is_for(f, port_at(w, i)))
			return true;
	return false;
}

/* ---- History ------------------------------------------------------------------------ */

static void remember(struct wire *w, const struct wire_frame *f, u8 fate)
{
	struct hca_packet p;
	enum hca_packet_error error = hca_packet_read(&p, f->at, f->bytes);

	w->bad += !!error;
	w->lost += !!(fate & LOST);
	w->history[w->sent++ % WIRE_HISTORY] = (struct wire_event) {
		.time = shim_now,
		.from = f->from,
		.error = error,
		.fate = fate,
		.opcode = p.opcode,
		.psn = p.psn,
		.length = p.length,
	};
}

static void print_event(const struct wire_event *e)
{
	static const char *const fate[] = {
		"lost", "duplicated", "reordered", "damaged", "dropped", "for nobody",
	};
	u32 i;

	printf("# %llu.%03u us, host %u: opcode %#04x psn %#08x length %u",
	       e->time / 1000, (u32)(e->time % 1000), e->from, e->opcode, e->psn, e->length);
	if (e->error)
		printf(", cannot be read (%u)", e->error);
	for (i = 0; i < ARRAY_SIZE(fate); i++)
		if (e->fate & 1 << i)
			printf(", %s", fate[i]);
	putchar('\n');
}

void wire_print(const struct wire *w)
{
	u32 i = w->sent < WIRE_HISTORY ? 0 : w->sent - WIRE_HISTORY;

	printf("# %u frames, %u lost; the last ones:\n", w->sent, w->lost);
	for (; i < w->sent; i++)
		print_event(&w->history[i % WIRE_HISTORY]);
	fflush(stdout);
}

/* ---- Operations of the functions ---------------------------------------------------- */

static void *dma_ptr(void *ctx, u64 addr, u64 len)
{
	struct wire_port *port = ctx;

	return session_dma_ptr(port->s, addr, len);
}

static void raise_irq(void *ctx, unsigned int vector)
{
	struct wire_port *port = ctx;

	session_raise_irq(port->s, vector);
}

static void *frame_alloc(void *ctx, u32 bytes)
{
	struct wire_port *port = ctx;

	if (port->w->nflying[port->s->host] >= port->w->room)
		return NULL;
	free(port->out);
	port->out = frame_new(bytes, port->s->host, port->func);
	return port->out->at;
}

static void frame_send(void *ctx)
{
	struct wire_port *port = ctx;
	struct wire *w = port->w;
	struct fate fate = choose(w, port->out);

	if (!has_receiver(w, port->out))
		fate.faults |= WIRE_NOBODY;
	remember(w, port->out, fate.faults);
	if (!(fate.faults & LOST))
		send_on(w, port->out, &fate);
	free(port->out);
	port->out = NULL;
}

static const void *frame_next(void *ctx, u32 *bytes, bool *local)
{
	struct wire_port *port = ctx;
	struct wire_frame *f;

	wire_deliver(port->w);
	free(port->current);
	f = port->current = port->in;
	if (!f)
		return NULL;
	port->in = f->next;
	*bytes = f->bytes;
	*local = f->local;
	return f->at;
}

static const struct hca_ops ops = {
	.dma_ptr = dma_ptr,
	.raise_irq = raise_irq,
	.frame_alloc = frame_alloc,
	.frame_send = frame_send,
	.frame_next = frame_next,
};

/* ---- The wire ----------------------------------------------------------------------- */

static void init_host(struct wire *w, u8 host)
{
	void *ctx[SESSION_FUNCS];
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		w->port[host][func] = (struct wire_port) {
			.w = w, .s = &w->s[host], .func = func,
		};
		ctx[func] = &w->port[host][func];
	}
	session_init_wired(&w->s[host], host, 2, &ops, ctx);
}

void wire_init(struct wire *w, u64 seed)
{
	u8 i;

	memset(w, 0, sizeof(*w));
	w->delay = 1000;
	w->room = 1024;
	for (i = 0; i < WIRE_FAULTS; i++)
		w->seed[i] = ((seed << 3) + i + 1) * 0x9e3779b97f4a7c15ull;
	init_host(w, 0);
	init_host(w, 1);
}

static void clear_port(struct wire_port *port)
{
	free(port->out);
	free(port->current);
	free_all(port->in);
	port->out = port->current = port->in = NULL;
}

void wire_clear(struct wire *w)
{
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		clear_port(&w->port[0][func]);
		clear_port(&w->port[1][func]);
	}
	free_all(w->flying);
	w->flying = NULL;
	w->nflying[0] = w->nflying[1] = 0;
}

void wire_free(struct wire *w)
{
	session_free(&w->s[1]);
	session_free(&w->s[0]);
	wire_clear(w);
}

void wire_script(struct wire *w, bool (*drop)(const u8 *frame, u32 bytes, u32 nth))
{
	w->drop = drop;
	w->nth = 0;
}

void wire_pair(struct wire *w, u8 st, struct session_qp *a, struct session_qp *b)
{
	session_qp(&w->s[0], 0, st, 6, 6, a);
	session_qp(&w->s[1], 0, st, 6, 6, b);
	session_connect(a, b);
}

/* ---- Running ------------------------------------------------------------------------ */

static bool has_arrived(const struct wire *w)
{
	int func;

	for (func = 0; func < SESSION_FUNCS; func++)
		if (w->port[0][func].in || w->port[1][func].in)
			return true;
	return w->flying && w->flying->due <= shim_now;
}

/*
 * Until there is nothing to do at this time; false: the time is over.  A function that is stopped
 * takes no frames.
 */
static bool settle_now(struct wire *w, u64 end)
{
	u32 idle = 0;
	bool work;

	while (idle < (has_arrived(w) ? UNHEEDED : IDLE)) {
		if (shim_now > end)
			return false;
		work = session_pass(&w->s[0]);
		work |= session_pass(&w->s[1]);
		idle = work ? 0 : idle + 1;
		wire_deliver(w);
	}
	return true;
}

static u64 next_event(struct wire *w)
{
	u64 next = w->flying ? w->flying->due : U64_MAX;
	int i;

	for (i = 0; i < 2; i++)
		next = min(next, hca_fabric_deadline(&w->s[i].fabric));
	return next;
}

bool wire_settle(struct wire *w, u64 limit)
{
	const u64 end = shim_now + limit;
	u64 next;

	while (settle_now(w, end)) {
		next = next_event(w);
		if (next == U64_MAX)
			return true;
		if (next > end)
			return false;
		shim_now = max(next, shim_now);
		wire_deliver(w);
	}
	return false;
}
