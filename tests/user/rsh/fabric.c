// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA connection, instead of wire.c, and the devices that an end finds.  Messages arrive in
 * order, in the receives that were posted; completions come later.  The sanitizer of addresses
 * knows which slots belong to the adapter.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "sim.h"
#include "wire.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)
#define ASAN_UNPOISON_MEMORY_REGION(p, n)
#endif

enum { MAX_QPS = 8, MAX_RECV = 64, MAX_SEND = 64, MAX_CQ = 128 };

struct send {
	bool note;
	struct flow_header header;
	const struct flow_header *data;
};

struct qp {
	bool used, connected, error;
	bool dud;			/* its messages do not arrive */
	struct proc *proc;
	struct flow *flow;
	uint8_t *memory;
	uint32_t number, peer;
	int fd;
	struct send send[MAX_SEND];
	uint32_t posted, committed, delivered, acked, polled;
	uint32_t send_size;
	uint32_t recv[MAX_RECV];
	bool is_posted[MAX_RECV];
	uint32_t receives, arrived, recv_size;
	struct wire_event cq[MAX_CQ];
	uint32_t cq_put, cq_taken, cq_size;
	bool armed, event;
	double retry;			/* gives up at this time; < 0: it does not retry */
};

struct fabric fabric;

static struct qp qps[MAX_QPS];
static uint32_t numbers, pairs;

void fabric_reset(void)
{
	memset(qps, 0, sizeof(qps));
	fabric = (struct fabric) { .ports = { 1, 1 } };
	numbers = pairs = 0;
}

static struct qp *qp_of(const struct wire *w)
{
	return (struct qp *)(void *)w->qp;
}

static struct qp *find(uint32_t number)
{
	int i;

	for (i = 0; i < MAX_QPS; i++)
		if (qps[i].used && qps[i].number == number)
			return &qps[i];
	return NULL;
}

static struct qp *new_qp(void)
{
	int i;

	for (i = 0; i < MAX_QPS; i++)
		if (!qps[i].used)
			return &qps[i];
	sim_fail("too many queue pairs");
}

void fabric_gone(struct proc *p)
{
	if (p->qp)
		p->qp->used = false;
	p->qp = NULL;
}

/* ---- Completions ------------------------------------------------------------------ */

bool fabric_readable(const struct qp *q)
{
	return q->used && (q->event || fabric.removed);
}

static void complete(struct qp *q, enum wire_kind kind, uint32_t slot, uint32_t bytes,
		     const char *error)
{
	sim_check(q->cq_put - q->cq_taken < q->cq_size, "the completion queue overflows");
	q->cq[q->cq_put++ % MAX_CQ] = (struct wire_event) {
		.kind = kind, .slot = slot, .bytes = bytes, .error = error,
	};
	if (q->armed)
		q->event = true;
	q->armed = false;
	sim.events++;
}

/* After an error all that is posted fails. */
static void flush(struct qp *q, const char *why)
{
	q->error = true;
	while (q->acked != q->committed) {
		const struct send *s = &q->send[q->acked++ % MAX_SEND];

		complete(q, s->note ? WIRE_SENT_NOTE : WIRE_SENT_DATA, 0, 0, why);
		why = "work request flushed";
	}
	q->delivered = q->committed;
	while (q->arrived != q->receives)
		complete(q, WIRE_ARRIVED, q->recv[q->arrived++ % MAX_RECV], 0,
			 "work request flushed");
}

/* ---- What the adapters do: one step each ---- */

static bool blocked(const struct qp *q)
{
	return fabric.stalled || fabric.removed || q->error;
}

static bool may_deliver(const struct qp *q)
{
	return q->used && !blocked(q) && q->delivered != q->committed &&
	       (q->retry < 0 || sim.now >= q->retry);
}

static bool may_ack(const struct qp *q)
{
	return q->used && !blocked(q) && q->acked != q->delivered;
}

static void put(struct qp *to, const void *header, const void *data, uint32_t length, bool flip)
{
	uint32_t i, slot = to->recv[to->arrived++ % MAX_RECV];
	uint8_t *at = flow_in(to->flow, slot);
	uint32_t bytes = (uint32_t)sizeof(struct flow_header) + length;

	sim_check(bytes <= to->flow->stride, "a message of %u bytes is too long", bytes);
	to->is_posted[slot] = false;
	ASAN_UNPOISON_MEMORY_REGION(at, bytes);
	memcpy(at, header, sizeof(struct flow_header));
	memcpy(at + sizeof(struct flow_header), data, length);
	if (flip) {
		i = sim_below(bytes * 8);
		at[i / 8] ^= (uint8_t)(1 << i % 8);
		fabric.flipped = true;
	}
	complete(to, WIRE_ARRIVED, slot, bytes, NULL);
}

/* Returns false if the peer gives no answer. */
static bool reach(const struct qp *q, const struct qp *to)
{
	return to && to->connected && !to->error && !q->dud && !to->dud &&
	       fabric.messages + 1 != fabric.fail_at;
}

static void give_up(struct qp *q)
{
	fabric.failed |= fabric.fail_at == fabric.messages + 1;
	sim_trace("the messages of %s do not arrive", q->proc->name);
	flush(q, "transport retry counter exceeded");
}

static void deliver(struct qp *q)
{
	const struct send *s = &q->send[q->delivered % MAX_SEND];
	struct qp *to = find(q->peer);
	const struct flow_header *h = s->note ? &s->header : s->data;

	if (fabric.hostile) {
		ASAN_UNPOISON_MEMORY_REGION(h + 1, h->length);
		q->delivered++;
		return;
	}
	if (!reach(q, to)) {
		if (q->retry >= 0)
			give_up(q);
		else
			q->retry = sim.now + (sim_chance(2) ? 1 : 3);
		return;
	}
	sim_check(to->arrived != to->receives, "%s has no receive posted", to->proc->name);
	fabric.messages++;
	ASAN_UNPOISON_MEMORY_REGION(h + 1, h->length);
	sim_trace("%s %u, %u bytes, receives %u, flags %u, to %s", s->note ? "note" : "data",
		  h->number, h->length, h->receives, h->flags, to->proc->name);
	put(to, h, h + 1, h->length, fabric.messages == fabric.flip_at);
	if (!s->note)
		ASAN_POISON_MEMORY_REGION(h + 1, h->length);
	q->delivered++;
}

static void ack(struct qp *q)
{
	const struct send *s = &q->send[q->acked++ % MAX_SEND];

	if (!s->note)
		ASAN_UNPOISON_MEMORY_REGION(s->data + 1, s->data->length);
	complete(q, s->note ? WIRE_SENT_NOTE : WIRE_SENT_DATA, 0, 0, NULL);
}

static bool has_work(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < MAX_QPS; i++)
		if (may_deliver(&qps[i]) || may_ack(&qps[i]))
			return true;
	return false;
}

static double next_retry(void)
{
	double next = -1;
	int i;

	for (i = 0; i < MAX_QPS; i++)
		if (qps[i].used && !blocked(&qps[i]) && qps[i].retry >= 0 &&
		    qps[i].delivered != qps[i].committed && (next < 0 || qps[i].retry < next))
			next = qps[i].retry;
	return next;
}

static void run(void *arg)
{
	(void)arg;
	for (;;) {
		struct qp *q = &qps[sim_below(MAX_QPS)];

		if (fabric.lag_us && sim_chance(4))
			sim_sleep(1e-6 * sim_below(fabric.lag_us));
		if (may_deliver(q) && sim_chance(2))
			deliver(q);
		else if (may_ack(q))
			ack(q);
		else if (!has_work(NULL))
			sim_wait("has nothing to deliver", has_work, NULL, next_retry());
		sim_step();
	}
}

void fabric_start(struct proc *p)
{
	sched_start(p, "fabric", run, NULL);
}

/* ---- wire.h ----------------------------------------------------------------------- */

bool wire_open(struct wire *w, const struct offer *o, const struct xt_net *net, struct flow *flow,
	       uint32_t chunk, uint32_t slots, bool first)
{
	struct proc *self = os_self();
	struct qp *q = new_qp();

	(void)o;
	(void)net;
	*w = (struct wire) { .flow = flow };
	sim_check(!self->qp, "the last queue pair was not closed");
	if (fabric.fail_open && sim_chance(fabric.fail_open)) {
		self->last_error = "no queue pair is left";
		return false;
	}
	if (fabric.few_slots && slots > fabric.few_slots && sim_chance(2))
		slots = fabric.few_slots;
	*q = (struct qp) { .used = true, .proc = self, .flow = flow, .number = ++numbers,
			   .retry = -1 };
	q->memory = sim_calloc(1, flow_bytes(chunk, slots));
	sim_check(flow_init(flow, chunk, slots, q->memory, first), "no memory");
	q->send_size = flow->out_slots + FLOW_NOTES;
	q->recv_size = flow->in_slots;
	q->cq_size = flow->in_slots + flow->out_slots + FLOW_NOTES;
	q->fd = file_wire(self, q);
	q->dud = first && ++pairs <= fabric.bad_pairs;
	self->qp = q;
	w->qp = (struct xv_qp *)(void *)q;
	return true;
}

void wire_close(struct wire *w)
{
	struct qp *q = qp_of(w);

	sim_close(q->fd);
	q->used = false;
	os_self()->qp = NULL;
	ASAN_UNPOISON_MEMORY_REGION(q->memory, flow_bytes(w->flow->chunk, w->flow->out_slots));
	sim_free(q->memory);
	flow_free(w->flow);
	w->qp = NULL;
}

void wire_self(const struct wire *w, struct xt_peer *self)
{
	memset(self, 0, sizeof(*self));
	self->qpn = qp_of(w)->number;
}

bool wire_connect(struct wire *w, const struct xt_peer *peer)
{
	if (fabric.fail_connect && sim_chance(fabric.fail_connect)) {
		os_self()->last_error = "the peer has no address";
		return false;
	}
	qp_of(w)->peer = peer->qpn;
	qp_of(w)->connected = true;
	return true;
}

int wire_poll(struct wire *w, int n, struct wire_event *events)
{
	struct qp *q = qp_of(w);
	int i, possible;

	sim_step();
	possible = (int)(q->cq_put - q->cq_taken);
	if (n > possible)
		n = possible;
	if (n > 1 && sim_chance(4))
		n = (int)sim_between(1, (uint32_t)n);
	for (i = 0; i < n; i++) {
		events[i] = q->cq[q->cq_taken++ % MAX_CQ];
		q->polled += events[i].kind != WIRE_ARRIVED;
	}
	return n;
}

static struct send *new_send(struct qp *q)
{
	sim_check(q->posted - q->polled < q->send_size, "the send queue overflows");
	return &q->send[q->posted++ % MAX_SEND];
}

void wire_send_data(struct wire *w, const struct flow_header *h)
{
	struct send *s = new_send(qp_of(w));

	sim_check((const uint8_t *)h >= w->flow->out &&
		  (const uint8_t *)(h + 1) + h->length <= w->flow->in &&
		  h->length <= w->flow->chunk, "data outside the slots");
	*s = (struct send) { .data = h };
	ASAN_POISON_MEMORY_REGION(h + 1, h->length);
}

void wire_send_note(struct wire *w, const struct flow_header *note)
{
	*new_send(qp_of(w)) = (struct send) { .note = true, .header = *note };
}

void wire_receive(struct wire *w, uint32_t slot)
{
	struct qp *q = qp_of(w);

	sim_check(q->receives - q->arrived < q->recv_size, "the receive queue overflows");
	sim_check(slot < w->flow->in_slots && !q->is_posted[slot], "slot %u is posted twice", slot);
	q->is_posted[slot] = true;
	q->recv[q->receives++ % MAX_RECV] = slot;
	ASAN_POISON_MEMORY_REGION(flow_in(w->flow, slot), w->flow->stride);
	if (q->error)
		complete(q, WIRE_ARRIVED, q->recv[q->arrived++ % MAX_RECV], 0,
			 "work request flushed");
}

void wire_commit(struct wire *w)
{
	struct qp *q = qp_of(w);

	sim_step();
	q->committed = q->posted;
	sim.events++;
	if (q->error)
		flush(q, "work request flushed");
}

bool wire_gone(const struct wire *w)
{
	(void)w;
	return fabric.removed;
}

void wire_arm(struct wire *w)
{
	sim_step();
	qp_of(w)->armed = true;
	sim_step();
}

int wire_fd(const struct wire *w)
{
	return qp_of(w)->fd;
}

void wire_event(struct wire *w)
{
	os_check_call(SYS_read, qp_of(w)->fd);
	qp_of(w)->event = false;
}

/* ---- Devices ---------------------------------------------------------------------- */

static int side(void)
{
	return os_self() == os.far;
}

struct xv_device **xv_get_device_list(int *num)
{
	uint32_t n = fabric.ports[side()] > 0;
	struct xv_device **list = sim_calloc(n + 1, sizeof(*list));

	(void)num;
	if (n) {
		list[0] = sim_calloc(1, sizeof(**list));
		snprintf(list[0]->name, sizeof(list[0]->name), "fake_0");
		list[0]->ports = fabric.ports[side()];
		list[0]->available = 1;
	}
	return list;
}

void xv_free_device_list(struct xv_device **list)
{
	sim_free(list[0]);
	sim_free(list);
}

struct xv_context *xv_open_device_v(const struct xv_device *device, uint32_t version)
{
	struct xv_context *ctx = sim_calloc(1, sizeof(*ctx));

	(void)version;
	snprintf(ctx->name, sizeof(ctx->name), "%s", device->name);
	return ctx;
}

int xv_close(struct xv_context *ctx)
{
	sim_free(ctx);
	return 0;
}

int xv_query_port_sz(struct xv_context *ctx, uint32_t port, struct xv_port_attr *attr, size_t size)
{
	(void)ctx;
	(void)port;
	memset(attr, 0, size);
	attr->state = XV_PORT_ACTIVE;
	attr->active_mtu = 5;
	attr->link_layer = XV_LINK_LAYER_ETHERNET;
	return 0;
}

int xv_query_gid(struct xv_context *ctx, uint32_t port, uint32_t index, union xv_gid *gid)
{
	const uint8_t raw[16] = { [10] = 0xff, 0xff, 10, 0, (uint8_t)port, (uint8_t)(1 + side()) };

	(void)ctx;
	(void)index;
	memcpy(gid->raw, raw, sizeof(raw));
	return 0;
}

int xv_default_gid_index(struct xv_context *ctx, uint32_t port)
{
	(void)ctx;
	(void)port;
	return 3;
}

const char *xv_last_error(void)
{
	return os_self()->last_error ? os_self()->last_error : "";
}

/* ---- A hostile peer --------------------------------------------------------------- */

bool fabric_inject(struct proc *to, const void *data, uint32_t length)
{
	struct qp *q = to->qp;
	uint32_t slot;

	if (!q || !q->connected || q->error || q->arrived == q->receives)
		return false;
	slot = q->recv[q->arrived++ % MAX_RECV];
	q->is_posted[slot] = false;
	ASAN_UNPOISON_MEMORY_REGION(flow_in(q->flow, slot), length);
	memcpy(flow_in(q->flow, slot), data, length);
	complete(q, WIRE_ARRIVED, slot, length, NULL);
	return true;
}
