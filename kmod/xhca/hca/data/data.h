/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data path: how requests and doorbells are processed, by file, lowest first, in the order of
 * hca_build.c.
 */
#ifndef _HCA_DATA_H
#define _HCA_DATA_H

#include "base/clock.h"
#include "base/command.h"
#include "base/fabric.h"
#include "base/share.h"
#include "base/uar.h"
#include "data/request.h"

/* ---- path.c ------------------------------------------------------------------------------ */

void hca_path_decode(struct hca_path *path, const void *ads, bool roce);
/* Decodes the primary path of the QP's context; the peer will be looked up again. */
void hca_path_take(struct hca_qp *qp);

/* ---- key.c ------------------------------------------------------------------------------- */

/* Adds a part of the sums of a new list. True when the list can be searched. */
bool hca_key_sum_sizes(struct hca_mkey *mkey);

/* Is access to [va, va + len) allowed? */
bool hca_key_check(const struct hca_key_user *u, u32 key, u64 va, u64 len);
/*
 * Returns a pointer to the bytes at @va, and cuts *@len to what is contiguous there.  NULL
 * if access to [va, va + len) is not allowed.
 */
void *hca_key_map(const struct hca_key_user *u, u32 key, u64 va, u64 *len);

/* ---- calc.c ------------------------------------------------------------------------------ */

/*
 * Before the request is executed: checks it, and replaces its segments by one that is the
 * result.  0 or a syndrome.
 */
int hca_calc_begin(struct hca_qp *qp, struct hca_wqe *w);
/* After it was executed: combines what was read.  0 or a syndrome */
int hca_calc_end(struct hca_qp *qp, struct hca_wqe *w);
/*
 * Returns a pointer to the bytes at @off of the result, valid until the next call, and cuts
 * *@len to what is there.  NULL if access to an operand is not allowed.
 */
void *hca_calc_map(const struct hca_key_user *user, struct hca_calc *c, u64 off, u64 *len);

/* ---- copy.c ------------------------------------------------------------------------------ */

/* HCA_COPY_AGAIN: the source is not ready, the turn ends; hca_copy_some() does not return it */
enum hca_copy_err { HCA_COPY_OK, HCA_COPY_SRC, HCA_COPY_DST, HCA_COPY_AGAIN };

static inline void hca_sgl_init(struct hca_sgl *l, const struct hca_qp *qp, u8 access,
				const struct hca_sge *sge, u32 n)
{
	*l = (struct hca_sgl) {
		.user = {
			.hca = qp->hca,
			.pd = qp->pd,
			.qpn = qp->qpn,
			.access = access,
		},
		.sge = sge,
		.n = n,
	};
}

/* Is access to the first @bytes of the list allowed? */
bool hca_sgl_check(const struct hca_sgl *l, u64 bytes);
void hca_sgl_skip(struct hca_sgl *l, u64 bytes);
/*
 * Scatter to CQE: if the message is short and access to @l is allowed, the data goes into
 * the completion in @cq instead.  @cs: qpc.cs_req or qpc.cs_res
 */
void hca_sgl_divert(struct hca_sgl *l, struct hca_wqe *w, const struct hca_cq *cq, u8 cs);
/*
 * Copies the first bytes of two lists of one segment, if they are contiguous on both sides.
 * False: they are not, or access is not allowed; nothing was copied.
 */
bool hca_copy_whole(const struct hca_sgl *dst, const struct hca_sgl *src, u64 len);
/* If each list has one segment, all access is checked before the first byte is copied. */
enum hca_copy_err hca_copy(struct hca_sgl *dst, struct hca_sgl *src, u64 len);
/* The same until the turn is over: *@len becomes the number of bytes copied, at least one. */
enum hca_copy_err hca_copy_some(struct hca_sgl *dst, struct hca_sgl *src, u64 *len);

/* ---- atomic.c ---------------------------------------------------------------------------- */

/*
 * Executes an atomic request at @mem and stores the data for the requester in @reply.  Returns
 * HCA_AGAIN if CPUs change the memory all the time.
 */
int hca_atomic(const struct hca_wqe *w, void *mem, u64 *reply);

/* ---- wqe.c ------------------------------------------------------------------------------- */

/*
 * Reads the request at the head of the send queue if it is a WAIT for a CQ, in the usual format.
 * False: it is another one, or it may be wrong.
 */
bool hca_wqe_peek_wait(struct hca_qp *qp, struct hca_wqe_wait *wait);
/* Reads and checks the request at @index; 0 or a syndrome */
int hca_wqe_fetch_at(struct hca_qp *qp, struct hca_wqe *w, u16 index);
/* Reads and checks the request at the head of the send queue; 0 or a syndrome */
static inline int hca_wqe_fetch(struct hca_qp *qp, struct hca_wqe *w)
{
	return hca_wqe_fetch_at(qp, w, qp->sq.ci);
}

/* For flushing: WQEBBs that the request at the head occupies, at least 1, and its opcode */
u32 hca_wqe_span(struct hca_qp *qp, u8 *opcode);

/* ---- count.c ----------------------------------------------------------------------------- */

/* Counts the result of a request. */
void hca_count_request(struct hca_qp *src, struct hca_qp *peer, const struct hca_wqe *w,
		       int result);
/* Count a datagram. */
/* A request of @qp completes with an error. */
void hca_count_error(struct hca_qp *qp, u8 syndrome);
void hca_count_xmit(struct hca_port *port, u32 payload, bool multicast);
void hca_count_rcv(struct hca_port *port, u32 payload, bool multicast);

/* ---- eq.c -------------------------------------------------------------------------------- */

/* Asynchronous events, for the EQ that subscribed to their type */
void hca_event_qp(struct hca_qp *qp, u8 type);
void hca_event_srq(struct hca_srq *srq, u8 type);
void hca_event_cq_error(struct hca_cq *cq, u8 syndrome);
/* The commands in these slots are complete. */
void hca_event_cmd(struct hca *hca, u32 slots);
/* Drops pending events; before the object is freed. */
void hca_event_forget(struct hca_events *e);
/* A completion event; if the EQ has no room, the CQ waits on a list of the EQ. */
void hca_event_comp(struct hca_cq *cq);
/* Software wrote consumer index @ci into a doorbell page.  @arm: its handler has ended. */
void hca_eq_doorbell(struct hca_eq *eq, u32 ci, bool arm);
/* Raises the interrupt of @eq if it is due; true if it did. */
bool hca_eq_raise(struct hca_eq *eq);
/* Will the interrupt of @eq be raised again? */
bool hca_eq_behind(const struct hca_eq *eq);

void hca_eq_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_eq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_eq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_eq(struct hca *hca, const struct hca_cmd *c);

/* ---- fail.c ------------------------------------------------------------------------------ */

void hca_fail_init(struct hca_qp *qp);
/* Queues @qp for ERR. */
void hca_fail_qp(struct hca_qp *qp);
/* Raises a catastrophic event and queues @qp for ERR, unless that has happened already. */
void hca_fail_fatal(struct hca_qp *qp);
/* Queues @qp for SQER: only its send queue fails. */
void hca_fail_sq(struct hca_qp *qp);
/* Takes @qp off the queue. */
void hca_fail_forget(struct hca_qp *qp);
/* The QP queued first, or NULL */
static inline struct hca_qp *hca_fail_first(struct hca_fabric *f)
{
	return list_first_entry_or_null(&f->fail.qps, struct hca_qp, fail_entry);
}

void hca_dependents_init(struct hca_dependents *all);
void hca_dependents_free(struct hca_dependents *all);
void hca_depend(struct hca_dependents *all, struct hca_dependent *d);
void hca_depend_end(struct hca_dependent *d);
/* The CQ or SRQ has failed: all its QPs will be queued. */
void hca_dependents_fail(struct hca_fabric *f, struct hca_dependents *all);
static inline bool hca_dependents_pending(const struct hca_fabric *f)
{
	return !list_empty(&f->fail.dependents);
}

/* Queues some of those QPs; returns how many. */
unsigned int hca_dependents_run(struct hca_fabric *f);

/* ---- mcg.c ------------------------------------------------------------------------------- */

enum hca_mcg_walk { HCA_MCG_NONE, HCA_MCG_ALL, HCA_MCG_STOPPED };

/* What is to be done after a member: the next one; the next one in the next turn; the same one */
enum hca_mcg_next { HCA_MCG_CONTINUE, HCA_MCG_STOP, HCA_MCG_REPEAT };

/*
 * Calls @fn for the members of @gid on @port with a number above *@last, in the order of
 * their numbers, until it returns HCA_MCG_STOP or HCA_MCG_REPEAT.  *@last becomes the number
 * of the last one that need not be repeated.  @fn must not change memberships.
 */
enum hca_mcg_walk hca_mcg_walk(struct hca_port *port, const u8 *gid, u64 *last,
			       enum hca_mcg_next (*fn)(struct hca_qp *qp, void *arg), void *arg);
void hca_mcg_detach_all(struct hca_qp *qp);

enum hca_synd hca_cmd_attach_mcg(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_detach_mcg(struct hca *hca, const struct hca_cmd *c);

/* ---- mkey.c ------------------------------------------------------------------------------ */

/* After a change of the start or the page size */
void hca_mkey_align(struct hca_mkey *mkey);
/*
 * Sets translation entries [first, first + n).  -EAGAIN: the table must grow in another turn.
 * Commands may sleep, work requests may not.
 */
int hca_mkey_set_mtts(struct hca_mkey *mkey, u32 first, u32 n, const __be64 *mtt, bool may_sleep);
int hca_mkey_set_klms(struct hca_mkey *mkey, u32 first, u32 n, const struct mlx5r_klm *klm,
		      bool may_sleep);

void hca_mkey_free(struct hca *hca, void *obj);
/* Prepares the list of a new mkey, for @max entries at most. */
enum hca_synd hca_mkey_alloc_xlt(struct hca_mkey *mkey, u64 max);
int hca_null_mkey_create(struct hca *hca);
enum hca_synd hca_cmd_create_mkey(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_mkey(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_mkey(struct hca *hca, const struct hca_cmd *c);

/* ---- route.c ----------------------------------------------------------------------------- */

/* Is it an IPv4 address (::ffff:a.b.c.d)? */
bool hca_gid_is_ipv4(const u8 *gid);
/* The port that a path from @hca leads to, or NULL */
struct hca_port *hca_route_find(struct hca *hca, const struct hca_path *path);
/* Sets qp->remote and qp->in_partition. */
void hca_route_find_remote(struct hca_qp *qp);
/* The port that the QP's primary path leads to, or NULL */
static inline struct hca_port *hca_route_remote(struct hca_qp *qp)
{
	if (!qp->remote || qp->peer_epoch != qp->hca->fabric->route.epoch)
		hca_route_find_remote(qp);
	return qp->remote && hca_halted(qp->remote->hca) ? NULL : qp->remote;
}

/* Does the QP's primary path lead to @port, whose function is not halted? */
static inline bool hca_route_leads_to(struct hca_qp *qp, const struct hca_port *port)
{
	if (qp->remote != port || qp->peer_epoch != qp->hca->fabric->route.epoch)
		hca_route_find_remote(qp);
	return qp->remote == port;
}

/* Has @hca an address with the RoCE version and VLAN of @from? */
bool hca_route_is_on(const struct hca *hca, const struct hca_gid *from);
/* Index of the address @gid with @mac, or -1; @from: an address with RoCE version and VLAN */
int hca_route_gid_index(const struct hca *hca, const u8 *gid, const u8 *mac,
			const struct hca_gid *from);
/* Has @hca that address? */
bool hca_route_has_gid(const struct hca *hca, const u8 *gid, const u8 *mac,
		       const struct hca_gid *from);
/* @from: the sender's address, which has RoCE version and VLAN */
struct hca_port *hca_route_by_gid(struct hca_fabric *f, const u8 *gid, const u8 *mac,
				   const struct hca_gid *from);
struct hca_port *hca_route_by_lid(struct hca_fabric *f, u16 lid);
/* The GID from which @hca sends a request with address vector @av (RoCE), or NULL */
const struct hca_gid *hca_route_source(const struct hca *hca, const struct mlx5r_av *av);
/* The port that the address vector of a request of @hca leads to, or NULL */
struct hca_port *hca_route_by_av(struct hca *hca, const struct mlx5r_av *av);
/*
 * Do the queue pair with P_Key @own on @to, or the port itself, take a packet with @pkey?  If not,
 * the port counts it.
 */
bool hca_pkey_check(struct hca_port *to, u16 own, u16 pkey);
/* An address has changed: cached peers are not valid any more. */
void hca_route_changed(struct hca_fabric *f);

/* ---- apm.c: automatic path migration ----------------------------------------------------- */

/* State MIGRATED, without an alternate path */
void hca_apm_reset(struct hca_qp *qp);
/* May software set the migration state in @qpc? */
bool hca_apm_allows(const struct hca_qp *qp, const u32 *qpc);
void hca_apm_set(struct hca_qp *qp, u8 state);
/* Makes the alternate path the primary one and raises an event. */
void hca_apm_migrate(struct hca_qp *qp);
/*
 * @qp sends to @peer, and their migration states differ: the QP that still uses its primary
 * path migrates.  False if it cannot.
 */
bool hca_apm_follow(struct hca_qp *qp, struct hca_qp *peer);
/* A message of @qp, which is in REARM, has reached @peer: arms both if both are ready. */
void hca_apm_arm(struct hca_qp *qp, struct hca_qp *peer);

/* ---- peer.c ------------------------------------------------------------------------------ */

/* The connected peer, or NULL if no QP would answer */
struct hca_qp *hca_peer_find(struct hca_qp *qp);

/* ---- record.c ---------------------------------------------------------------------------- */

void hca_record_init(struct hca_record *r, enum hca_record_kind kind);
void hca_record_add(struct hca_record *r, struct hca_uar *uar);
void hca_record_del(struct hca_record *r);
/* Makes the record active: it is read in every pass until it has not changed for long. */
void hca_record_activate(struct hca_record *r);
static inline void hca_record_set_active(struct hca_record *r)
{
	r->misses = 0;
	if (list_empty(&r->active_entry))
		hca_record_activate(r);
}

/* Makes it inactive. */
void hca_record_inactive(struct hca_record *r);
/* Reads the record of a QP's send queue; true if there are new requests. */
bool hca_qp_read_record(struct hca_qp *qp);
/* The same, but in strict mode only what a doorbell has announced */
bool hca_qp_look(struct hca_qp *qp);
/* Would hca_qp_look() find new requests? */
bool hca_qp_is_posted(const struct hca_qp *qp);

/* ---- strict.c ---------------------------------------------------------------------------- */

/* A doorbell in the register @bell of @uar; @v: its first 8 bytes; @qp: that it names, or NULL */
void hca_strict_ring(struct hca_uar *uar, u32 bell, struct hca_qp *qp, u64 v);
/* The index up to which @qp may run, if its record says @pi */
u16 hca_strict_posted(const struct hca_qp *qp, u16 pi);
/* The record will be read from now on, or has been read. */
void hca_strict_begin(struct hca_record *r);
void hca_strict_looked(struct hca_record *r);
void hca_strict_forget(struct hca_qp *qp);

/* ---- wait.c ------------------------------------------------------------------------------ */

/* The request @w of @qp waits until @cq has the producer index @pi; then @qp has work. */
void hca_wait_begin(struct hca_qp *qp, const struct hca_wqe_wait *w, struct hca_cq *cq, u32 pi);
/* Ends the wait, if there is one. */
void hca_wait_end(struct hca_qp *qp);
static inline bool hca_wait_due(const struct hca_cq *cq)
{
	return cq->waiters && (s32)(cq->pi - cq->waiters->pi) >= 0;
}

/* Wakes QPs that waited for the producer index of @cq, some now and the others later. */
void hca_wait_wake(struct hca_cq *cq);
/* The CQ gets no entry any more: its QPs will be queued for failure. */
void hca_wait_abandon(struct hca_cq *cq);
static inline bool hca_wait_pending(const struct hca_fabric *f)
{
	return f->wait.detached || !list_empty(&f->wait.waking);
}

/* Wakes and queues some of those QPs; returns how many steps it took. */
unsigned int hca_wait_run(struct hca_fabric *f);

/* ---- cqe.c ------------------------------------------------------------------------------- */

/*
 * Writes @cqe, complete but for its owner bit.  If the format of @cqe says that it carries
 * data, @data is HCA_CQE_INLINE bytes.  False: the CQ has overrun and the CQE is lost.  Then
 * the error event is raised, and the QPs of the CQ will be queued for failure.
 */
bool hca_cqe_post(struct hca_cq *cq, struct mlx5r_cqe *cqe, const u8 *data);
/* Raises the events for entries that were written since the last call. */
void hca_cq_check_requests(struct hca_fabric *f);
static inline void hca_cq_raise_events(struct hca_fabric *f)
{
	if (!list_empty(&f->cqs_to_arm))
		hca_cq_check_requests(f);
}

/* The timer of a moderated event has expired.  False if it was only set again. */
bool hca_cq_timer(struct hca_cq *cq);
/* Reads the record of a CQ; true if there is a new notification request. */
bool hca_cq_read_record(struct hca_cq *cq);
/* The same, but does not take the request. */
bool hca_cq_has_request(const struct hca_cq *cq);
/* First read of the record of a new CQ */
void hca_cq_start(struct hca_cq *cq);
void hca_cq_stop(struct hca_cq *cq);

/* ---- error.c ----------------------------------------------------------------------------- */

/* Set the codes of a completion with an error: of a request of @qp, of a receive request. */
void hca_error_of_request(struct hca_qp *qp, struct mlx5r_err_cqe *cqe, u8 syndrome);
void hca_error_of_receive(struct mlx5r_err_cqe *cqe, u8 syndrome);

/* ---- complete.c -------------------------------------------------------------------------- */

/* The completion of a request; if the CQ overruns, @qp is queued for failure. */
void hca_req_post_success(struct hca_qp *qp, const struct hca_wqe *w);
void hca_req_post_error(struct hca_qp *qp, u16 index, u8 opcode, u8 syndrome);
/* Raises the events of the turn and counts its work. */
void hca_turn_end(struct hca_fabric *f);
/* How long a request waits for a receiver that answers with the timer code @code */
u32 hca_req_rnr_ns(struct hca_qp *qp, u8 code);

/* ---- rq.c -------------------------------------------------------------------------------- */

/*
 * Reads the next request of the QP's own queue or of @srq.  Returns 0; HCA_RNR if nothing is
 * posted; MLX5R_SYND_REMOTE_OP if the queue has failed, and then @qp is queued for failure.
 */
int hca_rq_read(struct hca_qp *qp, struct hca_srq *srq, struct hca_rwqe *r);
/* The message is complete: takes its request out of the queue. */
void hca_rq_consume(struct hca_qp *qp, struct hca_srq *srq);
/* The message needs another turn: the QP takes its request out of the shared queue. */
void hca_rq_hold(struct hca_qp *qp, struct hca_srq *srq);
/* The QP forgets the request of a shared queue that it holds. */
void hca_rq_release(struct hca_qp *qp);
/* The message to @qp for which @holder holds a request will not be completed. */
void hca_rq_abort(struct hca_qp *qp, struct hca_qp *holder);
/* Is there a request in the QP's own queue? */
bool hca_rq_has_posted(struct hca_qp *qp);
/* Completes what is posted to the QP's own queue with flush errors. */
bool hca_rq_flush(struct hca_qp *qp);
/* The CQ for receive requests of @qp */
struct hca_cq *hca_rq_cq(struct hca_qp *qp, struct hca_srq *srq);
/* Posts a receive completion; if the CQ overruns, @qp is queued for failure. */
void hca_rq_complete(struct hca_qp *qp, struct hca_srq *srq, struct mlx5r_cqe *cqe,
		     const u8 *data);
void hca_rq_complete_error(struct hca_qp *qp, struct hca_srq *srq, u32 index, u8 syndrome);

/* ---- dci.c: DC --------------------------------------------------------------------------- */

/* The DCT of a request of @qp, or NULL if none would answer */
struct hca_qp *hca_dci_target(struct hca_qp *qp, const struct hca_wqe *w);
/* The message of @qp to @dct needs another turn. */
void hca_dci_continue(struct hca_qp *qp, struct hca_qp *dct);
/* The message of @qp is complete or has failed. */
void hca_dci_end(struct hca_qp *qp);
/* Counts a request with a wrong access key. */
void hca_dct_violated(struct hca_qp *dct);
/* No message in progress may continue. */
void hca_dct_disconnect(struct hca_qp *dct);
/* The time for draining is over. */
void hca_dct_timer(struct hca_qp *dct);
/* If @dct drains and has no message in progress: it is drained. */
void hca_dct_check_drained(struct hca_qp *dct);

/* ---- umr.c ------------------------------------------------------------------------------- */

/* 0, a syndrome or another enum hca_result */
int hca_umr(struct hca_qp *qp, struct hca_wqe *w);

/* ---- ud_long.c --------------------------------------------------------------------------- */

/* The long datagram if @src, which may be NULL, sends it; else NULL */
struct hca_long_datagram *hca_ud_long_of(struct hca_fabric *f, const struct hca_qp *src);
/* Makes the datagram of @src the long one; NULL if another queue pair has one. */
struct hca_long_datagram *hca_ud_long_claim(struct hca_qp *src, const u8 *bytes);
/* @dst has got a part of a long datagram of a queue pair other than @src. */
bool hca_ud_long_blocks(const struct hca_qp *dst, const struct hca_qp *src);
/* The datagram of @qp is complete or has failed. */
void hca_ud_long_end(struct hca_qp *qp);
/* @qp stops: it sends and receives no long datagram any more. */
void hca_ud_long_forget(struct hca_qp *qp);
/* Copies up to *@len bytes in one step; *@len becomes what was copied. */
enum hca_copy_err hca_ud_long_copy(struct hca_sgl *to, struct hca_sgl *from, u64 *len);

/* ---- ud.c -------------------------------------------------------------------------------- */

/* 0, a syndrome or another enum hca_result */
int hca_ud_send(struct hca_qp *src, struct hca_wqe *w);

/* ---- xchan.c ----------------------------------------------------------------------------- */

/* WAIT, SEND_ENABLE, RECV_ENABLE: 0, a syndrome or another enum hca_result */
int hca_xchan(struct hca_qp *qp, const struct hca_wqe *w);
/*
 * If the next request is a WAIT that is not met, as most in chains are: @qp waits.  False: the
 * request is another one, and must be fetched.
 */
bool hca_xchan_waits(struct hca_qp *qp);
/* The QP waits no more: it was reset or has failed. */
void hca_xchan_stop(struct hca_qp *qp);

/* ---- responder.c ------------------------------------------------------------------------- */

/*
 * Executes one message, or a part of it, at its receiver.  Returns 0, a syndrome or another
 * enum hca_result.
 */
int hca_respond(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w);

/*
 * Its parts, for messages from the wire.  A refusal raises the event of the receiver and lets it
 * fail; it returns the syndrome for the requester.
 */
int hca_resp_refuse_request(struct hca_qp *dst);
int hca_resp_refuse_access(struct hca_qp *dst);
int hca_resp_refuse_operation(struct hca_qp *dst);
int hca_resp_fail_receive(struct hca_qp *dst, struct hca_srq *srq, u32 index, u8 receiver_synd,
			  u8 sender_synd);
/*
 * May the data of @w be read, if it sends or writes?  An adapter reads the data before the peer
 * can refuse the request.
 */
bool hca_resp_can_send(const struct hca_qp *src, struct hca_wqe *w);
/* The first message raises an event. */
void hca_resp_establish(struct hca_qp *dst);
/* The SRQ that a message to @dst uses, or NULL; *@err: the refusal of an XRC request */
struct hca_srq *hca_resp_receive_queue(struct hca_qp *dst, const struct hca_wqe *w, int *err);
/* Consumes and completes the receive request of a message. */
void hca_resp_receive_done(struct hca_qp *dst, struct hca_srq *srq, struct hca_wqe *w, u32 index);
/* SEND with invalidate: the key gives no access any more.  False: it may not. */
bool hca_resp_invalidate(struct hca_qp *dst, u32 pd, u32 key);
/* The operand of an atomic request, or NULL; *@err: the refusal */
void *hca_resp_atomic_memory(struct hca_qp *dst, struct hca_wqe *w, int *err);

/* ---- requester.c ------------------------------------------------------------------------- */

/* Runs a send queue until the turn or its work ends; true if there is more to do. */
bool hca_requester_run(struct hca_qp *qp);
/* Completes all requests of the send queue with flush errors. */
bool hca_requester_flush(struct hca_qp *qp);

/* ---- qp_enter.c -------------------------------------------------------------------------- */

void hca_qp_init_run(struct hca_qp *qp);
int hca_qp_timers_join(struct hca_qp *qp);
void hca_qp_timers_leave(struct hca_qp *qp);
/* Enters any state, without a check of the transition. */
void hca_qp_enter(struct hca_qp *qp, u8 state);
/* Before RESET or destruction: takes the QP off every list. */
void hca_qp_stop(struct hca_qp *qp);
/* Takes all queued QPs to ERR or SQER. */
void hca_qp_run_failures(struct hca_fabric *f);
static inline void hca_qp_take_failures(struct hca_fabric *f)
{
	if (hca_fail_first(f))
		hca_qp_run_failures(f);
}

/* Queues QPs in ERR to which something was posted; returns how many. */
unsigned int hca_qp_run_flushing(struct hca_fabric *f);

/* ---- turn.c ------------------------------------------------------------------------------ */

/* Runs a turn.  @qp is the first queue that runs.  False if all queues must try again later. */
bool hca_turn_run(struct hca_fabric *f, struct hca_qp *qp);
/* Before RESET or destruction: runs what is posted to @qp, for one turn at most. */
void hca_turn_run_posted(struct hca_qp *qp);

#endif
