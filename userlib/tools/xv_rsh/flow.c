// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Slots, credits and ends of both directions.  No function here makes a system call.
 */
#include <stdlib.h>
#include <string.h>
/* Inline: it needs no library at run time.  Scalar: fast enough, and faster in an emulated CPU. */
#define XXH_VECTOR XXH_SCALAR
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "flow.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the messages are little-endian"
#endif

static uint32_t stride_of(uint32_t chunk)
{
	return (uint32_t)(chunk + sizeof(struct flow_header) + 63) & ~63u;
}

size_t flow_bytes(uint32_t chunk, uint32_t slots)
{
	return (size_t)stride_of(chunk) * (2 * slots + FLOW_RESERVE);
}

bool flow_init(struct flow *f, uint32_t chunk, uint32_t slots, void *memory, bool first)
{
	*f = (struct flow) {
		.chunk = chunk,
		.stride = stride_of(chunk),
		.out_slots = slots,
		.in_slots = slots + FLOW_RESERVE,
		.out = memory,
		.in = (uint8_t *)memory + (size_t)slots * stride_of(chunk),
		.out_hash = calloc(slots, sizeof(*f->out_hash)),
		.out_length = calloc(slots, sizeof(*f->out_length)),
		.arrivals = calloc(slots + FLOW_RESERVE, sizeof(*f->arrivals)),
		.free = calloc(slots + FLOW_RESERVE, sizeof(*f->free)),
		/* Its first note says how many there are. */
		.peer_receives = first,
	};
	if (!f->out_hash || !f->out_length || !f->arrivals || !f->free) {
		flow_free(f);
		return false;
	}
	while (f->n_free < f->in_slots) {
		f->free[f->n_free] = f->n_free;
		f->n_free++;
	}
	return true;
}

void flow_free(struct flow *f)
{
	free(f->out_hash);
	free(f->out_length);
	free(f->arrivals);
	free(f->free);
	*f = (struct flow) { 0 };
}

static uint64_t header_sum(const struct flow_header *h, uint64_t data_hash)
{
	return XXH3_64bits_withSeed(h, offsetof(struct flow_header, sum), data_hash);
}

static void count(struct flow_total *t, uint32_t length, uint64_t hash)
{
	t->bytes += length;
	t->slots++;
	t->digest = XXH3_64bits_withSeed(&hash, sizeof(hash), t->digest);
}

/* ---- Reader and writer ---------------------------------------------------------- */

void flow_fill(struct flow *f, uint32_t length)
{
	uint32_t i = f->filled % f->out_slots;

	f->out_length[i] = length;
	f->out_hash[i] = XXH3_64bits(flow_out(f, f->filled) + sizeof(struct flow_header), length);
	count(&f->sent, length, f->out_hash[i]);
	flow_store(&f->filled, f->filled + 1);
}

const uint8_t *flow_data(struct flow *f, uint32_t *length)
{
	struct flow_arrival a = f->arrivals[f->consumed % f->in_slots];
	const uint8_t *message = flow_in(f, a.slot), *data = message + sizeof(struct flow_header);
	uint64_t hash = XXH3_64bits(data, a.length);
	struct flow_header h;

	memcpy(&h, message, sizeof(h));
	if (h.sum != header_sum(&h, hash))
		return NULL;
	count(&f->received, a.length, hash);
	*length = a.length;
	return data;
}

void flow_consume(struct flow *f)
{
	flow_store(&f->consumed, f->consumed + 1);
}

/* ---- Sending -------------------------------------------------------------------- */

/* If the peer takes no more, slots that were not sent are dropped. */
static bool has_data(const struct flow *f)
{
	return !f->refused && f->posted != flow_load(&f->filled);
}

static uint32_t flags_of(const struct flow *f)
{
	/* Before the load of filled: the reader fills no slot after it has set ended. */
	uint32_t ended = flow_load(&f->ended);

	return (ended && !has_data(f) ? FLOW_END : 0) |
	       (flow_load(&f->broken) ? FLOW_BROKEN : 0);
}

/*
 * Must this end send a note about new receives?  Yes, if there are as many as half of the slots.
 * If the peer can send nothing but notes, yes from two on.  With one, each note would be answered
 * by a note, and the two ends would send notes without end.
 */
static bool credits_due(const struct flow *f)
{
	uint32_t untold = f->receives - f->told;

	return untold >= f->in_slots / 2 ||
	       (untold >= 2 && (int32_t)(f->told - f->heard) <= FLOW_RESERVE);
}

enum flow_action flow_next(const struct flow *f)
{
	int32_t credits = (int32_t)(f->peer_receives - f->messages);

	if (credits <= 0)
		return FLOW_NOTHING;
	if (f->notes < FLOW_NOTES) {
		/* The last credit is for a note that gives credits to the peer. */
		if (credits_due(f) || (credits > 1 && flags_of(f) != f->told_flags))
			return FLOW_SEND_NOTE;
	}
	return credits > FLOW_RESERVE && has_data(f) ? FLOW_SEND_DATA : FLOW_NOTHING;
}

static void stamp(struct flow *f, struct flow_header *h, uint64_t data_hash)
{
	h->receives = f->told = f->receives;
	h->reserved = 0;
	h->sum = header_sum(h, data_hash);
	f->messages++;
}

struct flow_header *flow_stamp_data(struct flow *f)
{
	struct flow_header *h = (struct flow_header *)(void *)flow_out(f, f->posted);
	uint32_t i = f->posted % f->out_slots;

	h->type = FLOW_DATA;
	h->length = f->out_length[i];
	h->number = f->posted++;
	h->flags = 0;
	stamp(f, h, f->out_hash[i]);
	return h;
}

void flow_stamp_note(struct flow *f, struct flow_header *note)
{
	note->type = FLOW_NOTE;
	note->length = 0;
	note->flags = f->told_flags = flags_of(f);
	note->number = f->posted;
	f->notes++;
	stamp(f, note, XXH3_64bits(NULL, 0));
}

/* No message is in flight, and the peer knows the end. */
static void note_finish(struct flow *f)
{
	if (f->told_flags & FLOW_END && !f->notes && f->completed == f->posted)
		flow_store(&f->finished, 1);
}

void flow_sent_data(struct flow *f)
{
	flow_store(&f->completed, f->completed + 1);
	note_finish(f);
}

void flow_sent_note(struct flow *f)
{
	f->notes--;
	note_finish(f);
}

/* ---- Receiving ------------------------------------------------------------------ */

static const char *arrive_note(struct flow *f, const struct flow_header *h)
{
	if (h->length || h->flags & ~(uint32_t)(FLOW_END | FLOW_BROKEN))
		return "a note with unknown contents";
	if (h->sum != header_sum(h, XXH3_64bits(NULL, 0)))
		return "a note with a wrong sum";
	if (h->flags & FLOW_END && h->number != f->arrived)
		return "an end with a wrong number of slots";
	if (f->in_ended && !(h->flags & FLOW_END))
		return "an end that was taken back";
	if (h->flags & FLOW_BROKEN)
		flow_store(&f->refused, 1);
	if (h->flags & FLOW_END)
		flow_store(&f->in_ended, 1);
	return NULL;
}

static const char *arrive_data(struct flow *f, const struct flow_header *h, uint32_t slot)
{
	if (!h->length || h->length > f->chunk || h->flags)
		return "data with unknown contents";
	if (f->in_ended)
		return "data after the end";
	if (h->number != f->arrived)
		return "data with a wrong number";
	f->arrivals[f->arrived % f->in_slots] = (struct flow_arrival) { slot, h->length };
	flow_store(&f->arrived, f->arrived + 1);
	return NULL;
}

const char *flow_arrive(struct flow *f, uint32_t slot, uint32_t bytes)
{
	struct flow_header h;
	const char *wrong;

	if (bytes < sizeof(h))
		return "a message without a header";
	memcpy(&h, flow_in(f, slot), sizeof(h));
	if (h.length != bytes - sizeof(h) || h.reserved)
		return "a message with a wrong length";
	if (h.receives - f->peer_receives > FLOW_MAX_SLOTS + FLOW_RESERVE)
		return "a message with a wrong number of receives";
	f->heard++;
	f->peer_receives = h.receives;
	if (h.type == FLOW_DATA)
		return arrive_data(f, &h, slot);
	if (h.type != FLOW_NOTE)
		return "a message of unknown type";
	wrong = arrive_note(f, &h);
	if (!wrong)
		f->free[f->n_free++] = slot;
	return wrong;
}

bool flow_repost(struct flow *f, uint32_t *slot)
{
	if (f->reposted != flow_load(&f->consumed))
		*slot = f->arrivals[f->reposted++ % f->in_slots].slot;
	else if (f->n_free)
		*slot = f->free[--f->n_free];
	else
		return false;
	f->receives++;
	return true;
}
