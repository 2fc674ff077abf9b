// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "path.h"

/* ---- Offers --------------------------------------------------------------------- */

static bool offer_port(struct offers *o, struct xv_context *ctx, uint32_t port, int gid_index)
{
	struct offer *to = &o->offer[o->n];
	struct xv_port_attr attr;
	union xv_gid gid;

	if (o->n == MAX_OFFERS || xv_query_port(ctx, port, &attr) ||
	    attr.state != XV_PORT_ACTIVE)
		return false;
	if (gid_index < 0)
		gid_index = xv_default_gid_index(ctx, port);
	if (gid_index < 0 || xv_query_gid(ctx, port, (uint32_t)gid_index, &gid))
		return false;
	*to = (struct offer) {
		.port = port,
		.gid_index = (uint32_t)gid_index,
		.lid = attr.lid,
		.mtu = 128u << attr.active_mtu,
		.link_layer = attr.link_layer,
	};
	memcpy(to->gid, gid.raw, sizeof(to->gid));
	snprintf(to->device, sizeof(to->device), "%s", ctx->name);
	o->n++;
	return true;
}

static void offer_device(struct offers *o, const struct xv_device *d, uint32_t port, int gid_index)
{
	struct xv_context *ctx = d->available ? xv_open_device(d) : NULL;
	bool any = false;
	uint32_t i;

	if (!ctx) {
		snprintf(o->why, sizeof(o->why), "%s: %.160s", d->name,
			 d->available ? xv_last_error() : d->why_not);
		return;
	}
	for (i = port ? port : 1; i <= (port ? port : d->ports); i++)
		any |= offer_port(o, ctx, i, gid_index);
	if (!any)
		snprintf(o->why, sizeof(o->why), "%s has no active port with an address", d->name);
	xv_close(ctx);
}

/* Splits NAME:PORT; without a port it is 0.  Returns false if the port is no number. */
static bool split_name(const char *name, size_t *length, uint32_t *port)
{
	const char *colon = strrchr(name, ':');
	unsigned long number;
	char *end;

	*length = colon ? (size_t)(colon - name) : strlen(name);
	*port = 0;
	if (!colon)
		return true;
	number = strtoul(colon + 1, &end, 10);
	*port = (uint32_t)number;
	return number && number <= 255 && !*end;
}

static void offer_devices(struct offers *o, const char *name, size_t length, uint32_t port,
			  int gid_index)
{
	struct xv_device **list = xv_get_device_list(NULL);
	int i;

	if (!list) {
		snprintf(o->why, sizeof(o->why), "%.200s", xv_last_error());
		return;
	}
	for (i = 0; list[i]; i++)
		if (!length || (!strncmp(list[i]->name, name, length) && !list[i]->name[length]))
			offer_device(o, list[i], port, gid_index);
	xv_free_device_list(list);
}

void path_offers(struct offers *o, const char *name, int gid_index)
{
	uint32_t port;
	size_t length;

	*o = (struct offers) { 0 };
	if (!split_name(name, &length, &port)) {
		snprintf(o->why, sizeof(o->why), "\"%.100s\" is not NAME or NAME:PORT", name);
		return;
	}
	snprintf(o->why, sizeof(o->why), "there is no RDMA device%s%.*s", *name ? " " : "",
		 (int)length, name);
	offer_devices(o, name, length, port, gid_index);
}

/* ---- Pairs ---------------------------------------------------------------------- */

struct pair {
	uint32_t near;
	uint32_t far;
	int similar;			/* leading bits of the addresses that are equal */
};

static int common_bits(const uint8_t a[16], const uint8_t b[16])
{
	int i;

	for (i = 0; i < 128; i++)
		if ((a[i / 8] ^ b[i / 8]) & 0x80 >> i % 8)
			break;
	return i;
}

static bool is_ipv4(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, mapped, sizeof(mapped));
}

/* Ports of different kinds, or of different subnets of InfiniBand, never reach each other. */
static bool may_reach(const struct offer *a, const struct offer *b)
{
	if (a->link_layer != b->link_layer)
		return false;
	if (a->link_layer == XV_LINK_LAYER_INFINIBAND)
		return common_bits(a->gid, b->gid) >= 64;
	return is_ipv4(a->gid) == is_ipv4(b->gid);
}

static int compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->similar != y->similar)
		return y->similar - x->similar;
	return x->near != y->near ? (int)x->near - (int)y->near : (int)x->far - (int)y->far;
}

static uint32_t make_pairs(const struct offers *near, const struct offer *far, uint32_t n_far,
			   struct pair *pairs)
{
	uint32_t i, j, n = 0;

	for (i = 0; i < near->n; i++)
		for (j = 0; j < n_far; j++)
			if (may_reach(&near->offer[i], &far[j]))
				pairs[n++] = (struct pair) {
					i, j, common_bits(near->offer[i].gid, far[j].gid)
				};
	qsort(pairs, n, sizeof(*pairs), compare);
	return n;
}

/* ---- Near end ------------------------------------------------------------------- */

struct reasons {
	char *text;
	size_t size;
	size_t used;
};

__attribute__((format(printf, 2, 3)))
static void add_reason(struct reasons *r, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(r->text + r->used, r->size - r->used, fmt, ap);
	va_end(ap);
	r->used += n < 0 ? 0 : (size_t)n;
	if (r->used >= r->size)
		r->used = r->size - 1;
}

/* Waits until the first note of the far end has arrived and that of this end is acknowledged. */
static bool exchange(struct pump *p)
{
	double until = xt_now() + 1e-3 * TRY_MS;

	p->error = NULL;
	while (!p->flow->heard || p->flow->notes) {
		if (!pump_step(p) && (p->error || xt_now() > until)) {
			if (!p->error)
				p->error = "no message came through";
			return false;
		}
	}
	return true;
}

struct refusal {
	int32_t error;			/* errno */
	char text[200];
};

static void take_refusal(struct channel *c, const struct message *m, struct refusal *r)
{
	const char *text = (const char *)m->data;
	uint32_t length = m->length;

	if (m->type == MSG_REFUSED && length >= sizeof(r->error)) {
		memcpy(&r->error, text, sizeof(r->error));
		text += sizeof(r->error);
		length -= (uint32_t)sizeof(r->error);
	} else {
		c->closed = m->type == MSG_FAIL;
		c->bad = m->type != MSG_FAIL;
	}
	snprintf(r->text, sizeof(r->text), "%.*s", (int)length, text);
}

/* Returns false, with the reason, if the answer is a refusal or none comes. */
static bool wait_answer(struct channel *c, struct message *m, uint32_t type, struct refusal *r)
{
	r->error = 0;
	if (!channel_wait(c, m, ANSWER_MS)) {
		snprintf(r->text, sizeof(r->text), "no answer");
		c->closed = true;
		return false;
	}
	if (m->type != type)
		take_refusal(c, m, r);
	return m->type == type;
}

static void give_reason(struct refusal *r, int error, const char *text)
{
	r->error = error;
	snprintf(r->text, sizeof(r->text), "%.199s", text);
}

/* Returns false with the reason; the far end has nothing of this attempt. */
static bool ask_far(struct channel *c, const struct try *t, struct xt_peer *peer,
		    struct refusal *r)
{
	struct message m;

	channel_send(c, MSG_TRY, t, sizeof(*t));
	if (!wait_answer(c, &m, MSG_TRIED, r))
		return false;
	if (m.length != sizeof(*peer)) {
		c->bad = true;
		return false;
	}
	memcpy(peer, m.data, sizeof(*peer));
	return true;
}

static bool try_far(struct channel *c, struct pump *p, struct try *t, struct refusal *r)
{
	struct xt_peer peer;

	wire_self(p->wire, &t->near);
	if (!ask_far(c, t, &peer, r))
		return false;
	if (wire_connect(p->wire, &peer)) {
		if (exchange(p))
			return true;
		give_reason(r, 0, p->error);
	} else {
		give_reason(r, errno, xv_last_error());
	}
	channel_send(c, MSG_NEXT, NULL, 0);
	return false;
}

/* Ends on one host share the limit of locked memory.  If the far end gets none, this takes less. */
static bool try_pair(struct channel *c, const struct settings *s, struct pump *p,
		     const struct offer *near, uint32_t far, struct refusal *r)
{
	struct try t = { .offer = far, .slots = s->slots };
	bool fewer;

	do {
		if (!wire_open(p->wire, near, &s->net, p->flow, s->chunk, t.slots, true)) {
			give_reason(r, errno, xv_last_error());
			return false;
		}
		if (try_far(c, p, &t, r))
			return true;
		fewer = r->error == ENOMEM && p->flow->out_slots > FLOW_MIN_SLOTS;
		t.slots = flow_fewer(p->flow->out_slots);
		wire_close(p->wire);
	} while (fewer && !c->closed && !c->bad);
	return false;
}

static uint32_t get_offers(struct channel *c, struct offer far[MAX_OFFERS], struct reasons *r)
{
	struct refusal refusal;
	struct message m;
	uint32_t i, n;

	if (!wait_answer(c, &m, MSG_OFFERS, &refusal)) {
		add_reason(r, "the far end: %s", refusal.text);
		return 0;
	}
	n = m.length / (uint32_t)sizeof(struct offer);
	if (m.length % sizeof(struct offer) || n > MAX_OFFERS) {
		c->bad = true;
		return 0;
	}
	memcpy(far, m.data, m.length);
	for (i = 0; i < n; i++)
		far[i].device[sizeof(far[i].device) - 1] = 0;
	return n;
}

bool path_choose(struct channel *c, const struct settings *s, struct pump *p,
		 const struct offers *own, struct offer *near, struct offer *far,
		 char *why, size_t size)
{
	struct reasons r = { why, size, 0 };
	struct pair pairs[MAX_OFFERS * MAX_OFFERS];
	struct offer theirs[MAX_OFFERS];
	struct refusal refusal;
	uint32_t n_far, n, i;

	*why = 0;
	n_far = get_offers(c, theirs, &r);
	if (!own->n)
		add_reason(&r, "%sthis end: %s", r.used ? "; " : "", own->why);
	n = make_pairs(own, theirs, n_far, pairs);
	if (own->n && n_far && !n)
		add_reason(&r, "no port of this end has the link and subnet of one of the far end");
	for (i = 0; i < n && !c->closed && !c->bad; i++) {
		*near = own->offer[pairs[i].near];
		*far = theirs[pairs[i].far];
		if (try_pair(c, s, p, near, pairs[i].far, &refusal))
			return true;
		add_reason(&r, "%s%s port %u to %s port %u: %s", i ? "; " : "", near->device,
			   near->port, far->device, far->port, refusal.text);
	}
	return false;
}

/* ---- Far end -------------------------------------------------------------------- */

static void refuse(struct channel *c, int error, const char *text)
{
	int32_t number = error;

	channel_send2(c, MSG_REFUSED, &number, sizeof(number), text, strlen(text));
}

/* Opens the offer that the near end names, and answers. */
static bool open_for(struct channel *c, const struct settings *s, struct pump *p,
		     const struct offers *own, const struct message *m)
{
	struct xt_peer self;
	struct try t;

	if (m->length != sizeof(t))
		return false;
	memcpy(&t, m->data, sizeof(t));
	if (t.offer >= own->n || t.slots < FLOW_MIN_SLOTS || t.slots > s->slots)
		return false;
	if (!wire_open(p->wire, &own->offer[t.offer], &s->net, p->flow, s->chunk, t.slots,
		       false)) {
		refuse(c, errno, xv_last_error());
		return true;
	}
	wire_self(p->wire, &self);
	if (!wire_connect(p->wire, &t.near)) {
		refuse(c, 0, xv_last_error());
		wire_close(p->wire);
		return true;
	}
	p->error = NULL;
	pump_step(p);		/* posts the receives */
	channel_send(c, MSG_TRIED, &self, sizeof(self));
	return true;
}

/* Takes part in the exchange until the next message comes. */
static bool wait_message(struct channel *c, struct pump *p, struct message *m)
{
	struct pollfd poll_in = { c->in, POLLIN, 0 };

	if (!p->wire->qp)
		return channel_wait(c, m, ANSWER_MS + TRY_MS);
	while (!channel_next(c, m)) {
		bool busy = !p->error && pump_step(p);

		if (poll(&poll_in, 1, p->error ? -1 : !busy) > 0)
			channel_read(c);
		if (c->closed || c->bad)
			return channel_next(c, m);
	}
	return true;
}

bool path_serve(struct channel *c, const struct settings *s, struct pump *p,
		const struct offers *own, bool *rdma)
{
	struct message m;
	bool good = true;

	if (own->n)
		channel_send(c, MSG_OFFERS, own->offer, own->n * sizeof(own->offer[0]));
	else
		refuse(c, ENODEV, own->why);
	while (good && wait_message(c, p, &m)) {
		*rdma = p->wire->qp;
		if (m.type == MSG_USE)
			return true;
		if (*rdma)
			wire_close(p->wire);
		if (m.type == MSG_TRY)
			good = open_for(c, s, p, own, &m);
		else
			good = m.type == MSG_NEXT;
	}
	return false;
}
