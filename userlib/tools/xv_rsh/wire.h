/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RDMA connection of one end: a reliable connected queue pair with SEND and RECEIVE.  No key
 * of its memory leaves the process, and the queue pair grants no access.
 */
#ifndef XV_RSH_WIRE_H
#define XV_RSH_WIRE_H

#include "flow.h"
#include "tool.h"

/* A port that an end offers */
struct offer {
	char device[64];
	uint8_t gid[16];
	uint32_t port;
	uint32_t gid_index;
	uint32_t lid;
	uint32_t mtu;			/* bytes */
	uint32_t link_layer;		/* enum xv_link_layer */
	uint32_t reserved;
};

struct wire {
	struct xt_side side;
	struct xv_comp_channel *channel;
	struct xv_cq *cq;
	struct xv_qp *qp;
	struct xv_mr *mr;
	struct flow *flow;
	uint32_t unacked;		/* completion events */
};

enum wire_kind {
	WIRE_SENT_DATA,
	WIRE_SENT_NOTE,
	WIRE_ARRIVED,
};

struct wire_event {
	enum wire_kind kind;
	uint32_t slot;			/* arrived */
	uint32_t bytes;
	const char *error;		/* null, or why the operation failed */
};

/*
 * Opens the port of the offer, with a flow of so many slots.  If the process may not lock that much
 * memory, the flow has fewer slots.  After an error it returns false, and xv_last_error() has the
 * reason.
 */
bool wire_open(struct wire *w, const struct offer *o, const struct xt_net *net, struct flow *flow,
	       uint32_t chunk, uint32_t slots, bool first);
void wire_close(struct wire *w);

void wire_self(const struct wire *w, struct xt_peer *self);
bool wire_connect(struct wire *w, const struct xt_peer *peer);

/* ---- Data path: no system call ---- */

int wire_poll(struct wire *w, int n, struct wire_event *events);
void wire_send_data(struct wire *w, const struct flow_header *h);
void wire_send_note(struct wire *w, const struct flow_header *note);
void wire_receive(struct wire *w, uint32_t slot);
void wire_commit(struct wire *w);
bool wire_gone(const struct wire *w);	/* the device was removed */

/* After this call the next completion makes the descriptor wire_fd() readable. */
void wire_arm(struct wire *w);
int wire_fd(const struct wire *w);
void wire_event(struct wire *w);	/* reads the event that made it readable */

#endif
