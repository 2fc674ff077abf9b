// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pass.h"
#include "random.h"
#include "wire_mark.h"
#include "wire_net.h"

enum {
	ON_THE_LINE	= 24,		/* preamble, FCS and gap of each frame */
	QUEUE_OF_HOST	= 256 * 1024,	/* bytes that wait for the link of a host */
	IDLE		= 3,		/* passes without work until a host has nothing to do */
};

struct net_frame {
	struct net_frame *next;		/* in the queue of a host */
	u64 time, order;		/* of the next event */
	bool switched;			/* it arrives at the host, and before that at the switch */
	u8 to;
	u32 bytes;
	u8 at[];
};

/* ---- Events: a heap by time -------------------------------------------------------- */

static bool before(const struct net_frame *a, const struct net_frame *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void swap_events(struct net *n, u32 a, u32 b)
{
	struct net_frame *f = n->event[a];

	n->event[a] = n->event[b];
	n->event[b] = f;
}

static void add_event(struct net *n, struct net_frame *f, u64 time)
{
	u32 i = n->events++;

	if (n->events > n->room) {
		n->room = 2 * n->room + 64;
		n->event = realloc(n->event, n->room * sizeof(n->event[0]));
		if (!n->event)
			exit(99);
	}
	f->time = time;
	f->order = n->order++;
	n->event[i] = f;
	for (; i && before(f, n->event[(i - 1) / 2]); i = (i - 1) / 2)
		swap_events(n, i, (i - 1) / 2);
}

static struct net_frame *take_event(struct net *n)
{
	struct net_frame *first = n->event[0];
	u32 i = 0, child;

	n->event[0] = n->event[--n->events];
	while ((child = 2 * i + 1) < n->events) {
		if (child + 1 < n->events && before(n->event[child + 1], n->event[child]))
			child++;
		if (!before(n->event[child], n->event[i]))
			break;
		swap_events(n, i, child);
		i = child;
	}
	return first;
}

/* ---- Links and the switch ----------------------------------------------------------- */

static u64 queued_bytes(const struct net *n, const struct net_link *link)
{
	return link->free > shim_now ? (link->free - shim_now) * n->config.mbps / 8000 : 0;
}

/* When the frame arrives at the end of the link */
static u64 send_on(struct net *n, struct net_link *link, u32 bytes)
{
	u64 queued = queued_bytes(n, link) + bytes;

	if (link->free < shim_now)
		link->free = shim_now;
	link->free += (bytes + ON_THE_LINE) * 8000ull / n->config.mbps;
	link->bytes += bytes;
	if (queued > link->longest)
		link->longest = queued;
	return link->free + n->config.delay;
}

static void forward(struct net *n, struct net_frame *f)
{
	struct net_link *down = &n->host[f->to].down;
	u64 queued = queued_bytes(n, down);

	if (random_next(&n->seed) % 1000000 < n->config.loss) {
		n->lost++;
		free(f);
		return;
	}
	if (queued + f->bytes > n->config.buffer) {
		n->dropped++;
		free(f);
		return;
	}
	if (n->config.threshold && queued > n->config.threshold)
		n->marked += wire_mark(f->at);
	f->switched = true;
	add_event(n, f, send_on(n, down, f->bytes));
}

static void arrive(struct net *n, struct net_frame *f)
{
	struct net_host *h = &n->host[f->to];

	*h->in_end = f;
	h->in_end = &f->next;
	h->due = true;
}

/* ---- Operations of the adapters ------------------------------------------------------- */

static void *dma_ptr(void *ctx, u64 addr, u64 len)
{
	return session_dma_ptr(&((struct net_host *)ctx)->s, addr, len);
}

static void raise_irq(void *ctx, unsigned int vector)
{
	session_raise_irq(&((struct net_host *)ctx)->s, vector);
}

static void *frame_alloc(void *ctx, u32 bytes)
{
	struct net_host *h = ctx;

	if (queued_bytes(h->net, &h->up) > QUEUE_OF_HOST)
		return NULL;
	free(h->out);
	h->out = malloc(sizeof(*h->out) + bytes);
	if (!h->out)
		exit(99);
	h->out->next = NULL;
	h->out->bytes = bytes;
	h->out->switched = false;
	return h->out->at;
}

/* The byte of a MAC before the last is the number of its host (session.c). */
static void frame_send(void *ctx)
{
	struct net_host *h = ctx;
	struct net_frame *f = h->out;
	struct net *n = h->net;

	h->out = NULL;
	f->to = f->at[4];
	n->frames++;
	if (f->to >= n->config.hosts)
		exit(99);
	add_event(n, f, send_on(n, &h->up, f->bytes));
}

static const void *frame_next(void *ctx, u32 *bytes, bool *local)
{
	struct net_host *h = ctx;

	free(h->current);
	h->current = h->in;
	if (!h->in)
		return NULL;
	h->in = h->in->next;
	if (!h->in)
		h->in_end = &h->in;
	*bytes = h->current->bytes;
	*local = false;
	return h->current->at;
}

static const struct hca_ops ops = {
	.dma_ptr = dma_ptr,
	.raise_irq = raise_irq,
	.frame_alloc = frame_alloc,
	.frame_send = frame_send,
	.frame_next = frame_next,
};

/* ---- The network ---------------------------------------------------------------------- */

void net_init(struct net *n, const struct net_config *config)
{
	void *ctx[SESSION_FUNCS];
	u32 i, f;

	shim_time = shim_now;
	*n = (struct net) { .config = *config, .seed = 0x9e3779b97f4a7c15ull };
	n->host = calloc(config->hosts, sizeof(n->host[0]));
	if (!n->host)
		exit(99);
	for (i = 0; i < config->hosts; i++) {
		struct net_host *h = &n->host[i];

		h->net = n;
		h->in_end = &h->in;
		h->deadline = U64_MAX;
		for (f = 0; f < SESSION_FUNCS; f++)
			ctx[f] = h;
		session_init_wired(&h->s, i, config->hosts, &ops, ctx);
		h->s.path.mtu = IB_MTU_4096;
	}
}

static void free_frames(struct net_frame *f)
{
	struct net_frame *next;

	for (; f; f = next) {
		next = f->next;
		free(f);
	}
}

void net_free(struct net *n)
{
	u32 i = n->config.hosts;

	while (n->events)
		free(take_event(n));
	/* The first session has the memory of all. */
	while (i--) {
		session_free(&n->host[i].s);
		free_frames(n->host[i].in);
		free(n->host[i].out);
		free(n->host[i].current);
	}
	free(n->event);
	free(n->host);
}

void net_pair(struct net *n, u32 from, u32 to, struct session_qp *a, struct session_qp *b)
{
	session_qp(&n->host[from].s, 0, MLX5_QP_ST_RC, 6, 2, a);
	session_qp(&n->host[to].s, 0, MLX5_QP_ST_RC, 6, 2, b);
	session_connect(a, b);
	n->host[from].due = n->host[to].due = true;
}

/* ---- Running ---------------------------------------------------------------------------- */

static void run_host(struct net *n, u32 i, bool (*ran)(struct net *n, u32 host))
{
	struct net_host *h = &n->host[i];
	u32 idle = 0;

	h->due = false;
	do {
		while (idle < IDLE)
			idle = session_pass(&h->s) ? 0 : idle + 1;
		idle = 0;
	} while (ran(n, i));
	h->deadline = hca_fabric_deadline(&h->s.fabric);
}

static u64 next_time(const struct net *n)
{
	u64 next = n->events ? n->event[0]->time : U64_MAX;
	u32 i;

	for (i = 0; i < n->config.hosts; i++)
		if (n->host[i].deadline < next)
			next = n->host[i].deadline;
	return next;
}

static void run_due(struct net *n, bool (*ran)(struct net *n, u32 host))
{
	u32 i;

	for (i = 0; i < n->config.hosts; i++)
		if (n->host[i].due || n->host[i].deadline <= shim_now)
			run_host(n, i, ran);
}

/* The time stands still while adapters run. */
static void set_time(u64 now)
{
	shim_time = shim_now = now;
}

void net_run(struct net *n, u64 ns, bool (*ran)(struct net *n, u32 host))
{
	const u64 end = shim_now + ns;
	struct net_frame *f;
	u64 next;

	for (;;) {
		run_due(n, ran);
		next = next_time(n);
		if (next > end)
			break;
		if (next > shim_now)
			set_time(next);
		while (n->events && n->event[0]->time <= shim_now) {
			f = take_event(n);
			if (f->switched)
				arrive(n, f);
			else
				forward(n, f);
		}
	}
	set_time(end);
}
