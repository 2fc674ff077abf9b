// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The flow over the channel, where no RDMA path exists.  Credits bound the messages.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "session.h"

bool session_relay(struct session *s, uint32_t chunk, uint32_t slots, bool first)
{
	size_t bytes = flow_bytes(chunk, slots);
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	s->posted = calloc(slots + FLOW_RESERVE, sizeof(*s->posted));
	return p != MAP_FAILED && s->posted && flow_init(&s->flow, chunk, slots, p, first);
}

static void post(struct session *s)
{
	uint32_t slot;

	while (flow_repost(&s->flow, &slot))
		s->posted[s->n_posted++ % s->flow.in_slots] = slot;
}

bool relay_arrive(struct session *s, const struct message *m)
{
	const char *wrong;
	uint32_t slot;

	post(s);
	if (s->n_arrived == s->n_posted || m->length > s->flow.stride)
		return false;
	slot = s->posted[s->n_arrived++ % s->flow.in_slots];
	memcpy(flow_in(&s->flow, slot), m->data, m->length);
	wrong = flow_arrive(&s->flow, slot, m->length);
	if (wrong)
		session_fail(s, "%s", wrong);
	waker_wake(&s->reader.self);
	waker_wake(&s->writer.self);
	return true;
}

/* Other messages, as life signs, wait behind one message of the flow at most. */
void relay_send(struct session *s)
{
	struct flow_header note, *h;
	enum flow_action action;

	post(s);
	while (!channel_pending(&s->channel) &&
	       (action = flow_next(&s->flow)) != FLOW_NOTHING) {
		if (action == FLOW_SEND_DATA) {
			h = flow_stamp_data(&s->flow);
			channel_send(&s->channel, MSG_FLOW, h, sizeof(*h) + h->length);
			flow_sent_data(&s->flow);
			waker_wake(&s->reader.self);
		} else {
			flow_stamp_note(&s->flow, &note);
			channel_send(&s->channel, MSG_FLOW, &note, sizeof(note));
			flow_sent_note(&s->flow);
		}
	}
}
