/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A work request after it was copied out of its ring: nothing below reads the
 * ring again, so software may scribble on it meanwhile.
 */
#ifndef _HCA_WQE_H
#define _HCA_WQE_H

#include "hca.h"

/* What became of a request: 0, a completion syndrome, or one of these */
enum hca_result {
	HCA_DONE = 0,
	/* MLX5R_SYND_* lie between */
	HCA_AGAIN = 0x100,		/* more of the message next turn */
	HCA_RNR,			/* receiver not ready */
	HCA_LOST,			/* nobody answered */
};

struct hca_sge {
	u64 addr;
	u64 len;
	u32 lkey;
	const void *data;		/* inline: the bytes, no key */
};

/* A list of segments and a place in it */
struct hca_sgl {
	struct hca_key_user user;
	const struct hca_sge *sge;
	u32 n, i;
	u64 off;
};

struct hca_wqe {
	u8 opcode, opmod, fm_ce_se;
	u8 ds, nbb;
	u16 index;
	u32 imm;			/* as it stands in the WQE */
	const struct mlx5r_av *av;
	bool av_ext;
	u32 xrc_srqn;
	u64 raddr;
	u32 rkey;
	u64 arg[4];			/* atomics, host order */
	u32 operand;			/* atomics: bytes */
	const void *body;		/* UMR and others: what follows ctrl */
	u32 body_len;
	u64 length;			/* of the message */
	u32 packets;			/* that the message takes, on connected transports */
	u32 nsge;
	struct hca_sge sge[HCA_MAX_SGE];
	struct hca_sge rsge;		/* the remote side as a segment */
	u8 in_cqe;			/* MLX5R_CQE_INLINE_*: the data is in cqe_data */
	u8 cqe_data[HCA_CQE_INLINE];
	struct hca_sge cqe_sge;		/* cqe_data as a segment */
	union {
		struct mlx5r_ctrl ctrl;
		u8 raw[MLX5R_MAX_WQEBB * MLX5R_WQEBB];
	};
};

static inline bool hca_wqe_signalled(const struct hca_wqe *w)
{
	return (w->fm_ce_se & MLX5R_CE_MASK) >= MLX5R_CE_ALWAYS;
}

/* A receive request */
struct hca_rwqe {
	u32 index;			/* for the CQE's wqe_counter */
	u64 length;			/* room */
	u32 nsge;
	struct hca_sge sge[HCA_MAX_SGE];
};

#define HCA_UMR_CHUNK	4096	/* bytes of a translation list taken at a time */
#define HCA_UD_MTU	4096
#define HCA_GRH_BYTES	40	/* what a receiver sees before a datagram's data */

/* Room for the request being executed: one at a time, so one is enough */
struct hca_scratch {
	struct hca_wqe wqe;
	struct hca_rwqe rwqe;
	u8 umr[HCA_UMR_CHUNK] __aligned(8);
	u8 datagram[HCA_GRH_BYTES + HCA_UD_MTU];
};

/* wqe.c: the request at the head of the send queue; 0 or a syndrome */
int hca_wqe_fetch(struct hca_qp *qp, struct hca_wqe *w);
/* WQEBBs that the request at the head occupies, for flushing; at least 1 */
u32 hca_wqe_span(struct hca_qp *qp);

/* copy.c */
enum hca_copy_err { HCA_COPY_OK, HCA_COPY_SRC, HCA_COPY_DST };

void hca_copy_calibrate(void);
void hca_sgl_init(struct hca_sgl *l, const struct hca_qp *qp, u8 access,
		  const struct hca_sge *sge, u32 n);
/* May the list's first @bytes be accessed, all of them? */
bool hca_sgl_check(const struct hca_sgl *l, u64 bytes);
void hca_sgl_skip(struct hca_sgl *l, u64 bytes);
/*
 * Scatter to CQE, @cs as set in the QP: a short message that @l may take goes into
 * its completion in @cq instead.
 */
void hca_sgl_divert(struct hca_sgl *l, struct hca_wqe *w, const struct hca_cq *cq, u8 cs);
/* With one segment on either side nothing moves if one of the bytes must not. */
enum hca_copy_err hca_copy(struct hca_sgl *dst, struct hca_sgl *src, u64 len);
/* The same until the turn is over: *@len says how many bytes were moved, one at least. */
enum hca_copy_err hca_copy_some(struct hca_sgl *dst, struct hca_sgl *src, u64 *len);

/*
 * rq.c: receive queues of QPs and shared ones.  Returns 0; HCA_RNR if nothing is posted;
 * MLX5R_SYND_REMOTE_OP if the queue has failed, and the QP is queued for failure.
 */
int hca_rq_get(struct hca_qp *qp, struct hca_srq *srq, struct hca_rwqe *r);
void hca_rq_consume(struct hca_qp *qp, struct hca_srq *srq);
/* The message needs another turn: the QP takes its request out of the shared queue. */
void hca_rq_hold(struct hca_qp *qp, struct hca_srq *srq);
/* The QP forgets the request of a shared queue that it holds. */
void hca_rq_release(struct hca_qp *qp);
bool hca_rq_flush(struct hca_qp *qp);
/* Where receive requests of @qp complete */
struct hca_cq *hca_rq_cq(struct hca_qp *qp, struct hca_srq *srq);
/* Posts a receive completion; if the CQ overruns, @qp is queued for failure. */
void hca_rq_complete(struct hca_qp *qp, struct hca_srq *srq, struct mlx5r_cqe *cqe,
		     const u8 *data);
void hca_rq_complete_error(struct hca_qp *qp, struct hca_srq *srq, u32 index, u8 syndrome);

/* responder.c: one message, or a part of it, at its receiver */
int hca_respond(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w);

/* ud.c, umr.c: 0, a syndrome or HCA_AGAIN */
int hca_ud_send(struct hca_qp *src, struct hca_wqe *w);
int hca_umr(struct hca_qp *qp, struct hca_wqe *w);

/* counter.c: the result of a request, and datagrams */
void hca_count_request(struct hca_qp *src, struct hca_qp *peer, const struct hca_wqe *w,
		       int result);
void hca_count_xmit(struct hca_port *port, u32 payload, bool multicast);
void hca_count_rcv(struct hca_port *port, u32 payload, bool multicast);

/*
 * requester.c: one turn of a send queue, of @budget units; true: there is more to do.
 * fabric.turn tells what was done.
 */
bool hca_requester_run(struct hca_qp *qp, u64 budget);
/* Flushes what the send queue holds. */
/* True if there is more: long queues are flushed in parts. */
bool hca_requester_flush(struct hca_qp *qp);

/* peer.c: the connected peer, or NULL if no QP would answer */
struct hca_qp *hca_peer_find(struct hca_qp *qp);

#endif
