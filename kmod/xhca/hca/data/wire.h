/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connected queue pairs whose peers are on the wire.
 *
 * A local message is executed at its peer in one step or in turns of the sender.  On the wire the
 * sender keeps what it has sent until it is acknowledged, and the receiver keeps the message that
 * arrives and the answers that it may have to repeat.
 */
#ifndef _HCA_WIRE_H
#define _HCA_WIRE_H

#include "base/limits.h"
#include "data/data.h"
#include "wire/packet.h"

#define HCA_SENT	64u	/* requests that are sent and not complete */
#define HCA_WINDOW	128u	/* packets of requests that are not acknowledged */
#define HCA_ANSWERS	(1u << HCA_LOG_MAX_RD_ATOMIC)
#define HCA_PSN_HALF	(1u << 23)

/* A request that was sent */
struct hca_sent {
	u64 length;
	u32 psn;			/* of its first packet; of a READ, of the first answer */
	u32 packets;			/* PSNs that it takes */
	u16 index;
	u8 nbb, opcode;
	bool signalled;
};

/* A READ or an atomic request, which a responder resource keeps in case the answer is lost */
struct hca_answer {
	u64 addr, length;
	u32 key, pd;
	u32 psn, packets;
	u32 begin, next;		/* packets of this answer: the first and the next one */
	u8 operation;			/* HCA_BTH_* of the request */
	bool pending, repeated;
	u64 original;			/* what an atomic request has found; not an extended one */
};

/* The message that arrives */
struct hca_inbound {
	u8 kind;			/* enum hca_inbound_kind */
	u32 key;
	u64 addr, left;			/* of a WRITE: what follows */
	u64 done;			/* bytes that have arrived */
};

/* How fast a queue pair may send (rate.c).  Rates are in kb/s, times in ns. */
struct hca_rate {
	u32 limit;			/* 0: there is none */
	u32 target;
	u32 alpha;			/* estimate of the congestion, of 2^20 */
	u32 bytes;			/* sent since the last step that bytes have made */
	u32 time_steps, byte_steps;	/* since the last cut */
	u64 alpha_time, step_time, cut_time;	/* of the last update, step by time, cut */
	u64 next;			/* when the next packet may be sent */
	struct {			/* the rate without a limit */
		u64 since;
		u32 bytes, rate;
	} measured;
	u64 cnp_time;			/* of the next CNP that may be sent to the peer */
	struct hca_timer timer;		/* the queue pair may send again */
};

struct hca_wire {
	struct hca_qp *qp;
	struct hca_flow flow;
	u32 flow_epoch;			/* of the routes when it was found; 0: look again */
	bool has_flow;			/* the path leads from a GID that is valid */
	bool local_peer;		/* and to a port of the same fabric */
	bool direct;			/* without packets */
	u64 session;			/* DC: its number; 0: it has not begun */

	/* Requester.  Indices of @sent are free-running. */
	struct hca_sent sent[HCA_SENT];
	u32 first, end;			/* the oldest, and after the last */
	u32 at, at_packet;		/* the packet to send next; @end: all are sent */
	u32 una, high;			/* the oldest PSN without an answer, the next new one */
	u32 in_flight;			/* packets of requests */
	u32 reads;			/* requests that need an answer, see log_sra_max */
	struct hca_timer timer;		/* the acknowledgement is late */
	u32 timeouts;			/* without progress */
	struct {			/* the time until an acknowledgement comes */
		u64 since;		/* when the packet @psn was sent; 0: none is measured */
		u32 psn;
		u32 ns;			/* average; 0: not known */
		u8 backoff;		/* timeouts since the last measurement */
	} rtt;
	u8 error;			/* the request @at has failed with this syndrome */
	enum hca_key_fault fault;	/* and for this reason, if a key was refused */
	bool drain;			/* the next request waits until all are complete */
	bool recovering;		/* packets are repeated, and no answer has come yet */
	struct {			/* may private packets be sent? (wire_gate.c) */
		u64 token;		/* of the probe that has no answer yet, or 0 */
		bool asked;		/* the request @at waits for the answer */
		bool unsure;		/* the peer does not answer requests: ask again */
	} gate;
	struct {			/* DCI (wire_dci.c) */
		struct mlx5r_av av;	/* the target of the session */
		u32 mtu;		/* of the session */
		u64 used;		/* when the last request was posted */
		bool far;		/* the next request goes to the wire */
	} dc;

	struct hca_rate rate;		/* of all packets, also of answers */

	/* Responder */
	struct hca_inbound in;
	struct hca_answer answer[HCA_ANSWERS];
	u8 (*result)[HCA_EXT_ATOMIC_MAX];	/* of extended atomics, for each answer; or NULL */
	u32 answer_at, answer_end;	/* free-running: the first that may be pending, the end */
	u32 msn;
	bool nak_sent;			/* for the gap that is open */
	bool failing;			/* after the negative acknowledgement that is due */
	bool due;			/* an acknowledgement, also a negative one */
	u8 due_syndrome;
	u32 due_psn;
	struct list_head due_entry;	/* fabric.wire_due, or empty */
};

/* What a function knows of a peer that has answered a probe */
struct hca_gate {
	u8 gid[16], mac[6];
	u16 vlan;			/* ID + 1; 0: none */
	u8 l3;
	u64 until;			/* it is known until then; 0: no entry */
	u64 ahead;			/* its clock is ahead of the own one by this time */
	u64 session;			/* the last one that was begun with it */
};
#define HCA_GATES	256u

static inline bool hca_wire_is_outstanding(const struct hca_wire *x)
{
	return x->first != x->end;
}

/* ---- wire_send.c ------------------------------------------------------------------------- */

/* For queue pairs of functions with a wire, if their type has connections; false: no memory */
bool hca_wire_new(struct hca_qp *qp);
void hca_wire_free(struct hca_qp *qp);
/* For a function with a wire; false: no memory */
bool hca_wire_init(struct hca *hca);
void hca_wire_exit(struct hca *hca);
/* The wire has no room for a packet of @qp, which does not run until it tries again. */
void hca_wire_wait_for_room(struct hca_qp *qp);
static inline bool hca_wire_waits_for_room(const struct hca_qp *qp)
{
	return !list_empty(&qp->room_entry);
}

/* The queue pairs of a function that wait for room try again. */
void hca_wire_room_timer(struct hca_timer *timer);
/* A packet of @qp to its peer, without data */
struct hca_packet hca_wire_packet(struct hca_qp *qp, u8 operation, u32 psn);
/*
 * Sends the packet with the next p->length bytes of @from.  0: it was sent, or it is lost because
 * the path leads nowhere; HCA_AGAIN: there is no room now; MLX5R_SYND_LOCAL_PROT: @from fails.
 */
int hca_wire_send(struct hca_qp *qp, struct hca_packet *p, struct hca_sgl *from);
/* The same for a packet with all headers, whose data is contiguous */
int hca_wire_send_bytes(struct hca_port *from, struct hca_packet *p, const u8 *data);
/* Finds the headers of the path of @qp; false if its source address does not exist. */
bool hca_wire_find_flow(struct hca_qp *qp);
/* Does the path lead to a port of the fabric that sends and gets no packets? */
bool hca_wire_is_direct(struct hca_qp *qp);
/* Does the packet come from the peer, on the path of the connection? */
bool hca_wire_is_from_peer(struct hca_qp *qp, const struct hca_packet *p);

/* Does the queue pair wait for room or for its rate? */
static inline bool hca_wire_waits(const struct hca_qp *qp)
{
	return hca_wire_waits_for_room(qp) ||
	       (qp->wire && hca_timer_due(&qp->wire->rate.timer));
}

/* ---- rate.c ------------------------------------------------------------------------------ */

/* Default parameters, and counters of zero */
void hca_congestion_reset(struct hca *hca);
/* The ECN bits of packets of @qp */
u8 hca_congestion_ecn(const struct hca_qp *qp);
/* A CNP has come for @qp; NULL: for none. */
void hca_congestion_take_cnp(struct hca *hca, struct hca_qp *qp);
/* May the queue pair send a packet?  If not, it waits. */
bool hca_rate_allows(struct hca_qp *qp);
void hca_rate_sent(struct hca_qp *qp, u32 bytes);
void hca_rate_timer(struct hca_timer *timer);
/* Removes the limit. */
void hca_rate_reset(struct hca_qp *qp);

/* ---- cnp.c ------------------------------------------------------------------------------- */

bool hca_congestion_is_marked(const struct hca_packet *p);
/* A marked packet has come for @qp. */
void hca_congestion_notify(struct hca_qp *qp, const struct hca_packet *marked);

/* ---- ud.c -------------------------------------------------------------------------------- */

/* A datagram has arrived from the wire. */
void hca_ud_receive(struct hca_port *to, const struct hca_packet *p);

/* ---- wire_responder.c -------------------------------------------------------------------- */

/* A request has arrived. */
void hca_wire_request(struct hca_qp *qp, const struct hca_packet *p);
/* Sends the acknowledgements that are due, of all queue pairs. */
void hca_wire_acknowledge(struct hca_fabric *f);
/* Sends answers in a turn of the queue pair; true if there are more. */
bool hca_wire_answer(struct hca_qp *qp);
/* Forgets the message that arrives and all answers. */
void hca_wire_reset_responder(struct hca_qp *qp);
/* Has a part of a message arrived, or are there answers to send? */
bool hca_wire_in_progress(const struct hca_qp *qp);
/* A DCT drains until no message of a session is in progress. */
void hca_wire_update_session(struct hca_qp *qp);

/* ---- wire_gate.c ------------------------------------------------------------------------- */

/* False: no memory */
bool hca_wire_gate_init(struct hca *hca);
void hca_wire_gate_exit(struct hca *hca);
/* Forgets all peers. */
void hca_wire_gate_reset(struct hca *hca);
/* Has the peer of @qp shown that it understands private packets? */
bool hca_wire_gate_is_open(struct hca_qp *qp);
/* Asks it.  0: the probe was sent; HCA_AGAIN: there is no room */
int hca_wire_gate_ask(struct hca_qp *qp);
/* The answer has arrived; false: it is not the expected one. */
bool hca_wire_gate_answered(struct hca_qp *qp, const struct hca_packet *p);
/* A probe has arrived. */
void hca_wire_gate_probed(struct hca_port *port, const struct hca_packet *p);
/* The number of a new session with the peer, to which the gate is open */
u64 hca_wire_gate_session(struct hca_qp *qp);
/* The RoCE version and VLAN of the packet, as an address has them */
struct hca_gid hca_wire_network(const struct hca_packet *p);

/* ---- wire_requester.c -------------------------------------------------------------------- */

/* Does the next request of @qp go to the wire?  Requests that are outstanding keep the path. */
bool hca_wire_leads(struct hca_qp *qp);
/* May another request be executed? */
bool hca_wire_may_post(const struct hca_qp *qp);
/* The next request waits until all before it are complete. */
void hca_wire_drain(struct hca_qp *qp);
/* Begins a request: HCA_POSTED, HCA_AGAIN or a syndrome */
int hca_wire_post(struct hca_qp *qp, struct hca_wqe *w);
/* Sends the rest of requests that have begun. */
void hca_wire_run(struct hca_qp *qp);
/* Is there more to send now? */
bool hca_wire_has_more(const struct hca_qp *qp);
/* A response has arrived. */
void hca_wire_response(struct hca_qp *qp, const struct hca_packet *p);
/* The acknowledgement is late. */
void hca_wire_timer(struct hca_timer *timer);
/* What is outstanding will be flushed, or is forgotten. */
void hca_wire_reset_requester(struct hca_qp *qp);

/* ---- wire_dci.c -------------------------------------------------------------------------- */

/*
 * Decides whether the next request of a DCI goes to the wire (hca_wire_leads()), and begins a
 * session with its target.  HCA_AGAIN: it waits until requests to another target are complete.
 */
int hca_wire_dci_choose(struct hca_qp *qp, const struct hca_wqe *w);

/* ---- wire_dct.c -------------------------------------------------------------------------- */

/* False: no memory */
bool hca_wire_dct_init(struct hca *hca);
void hca_wire_dct_exit(struct hca *hca);
/* The function is reset and has no DCT: forgets all sessions. */
void hca_wire_dct_reset(struct hca *hca);
/* A request for a DCT has arrived. */
void hca_wire_dct_take(struct hca *hca, const struct hca_packet *p);
/* The DCT has failed or is destroyed: ends its sessions. */
void hca_wire_dct_stop(struct hca_qp *dct);
/* Ends sessions that have not been used for long. */
void hca_wire_dct_timer(struct hca_timer *timer);

/* ---- wire_apm.c -------------------------------------------------------------------------- */

/* For a queue pair with an alternate path: as hca_wire_is_from_peer(); its state may change. */
bool hca_wire_apm_accepts(struct hca_qp *qp, const struct hca_packet *p);
/* No retry is left: an armed queue pair migrates, with all its retries again.  False: it cannot. */
bool hca_wire_apm_retry(struct hca_qp *qp);

/* ---- wire_receive.c ---------------------------------------------------------------------- */

/* Takes the frames that have arrived; returns how many. */
unsigned int hca_wire_poll(struct hca_fabric *f);

#endif
