/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of xv_perf.  struct end has the queues and the
 * memory of one side.  struct run is one measurement.  If both ends are in one
 * process, one thread drives both.
 */
#ifndef XV_PERF_H
#define XV_PERF_H

#include "tool.h"

enum op {
	OP_WRITE,
	OP_WRITE_IMM,
	OP_READ,
	OP_SEND,
	OP_SEND_IMM,
	OP_FETCH_ADD,
	OP_CMP_SWAP,
	OP_MASKED_FETCH_ADD,
	OP_MASKED_CMP_SWAP,
	OP_BIND,
	OP_COUNT,
};

enum transport {
	TP_RC,
	TP_UC,
	TP_UD,
	TP_XRC,
	TP_DC,
	TP_COUNT,
};

enum {
	MAX_QPS = 256, MAX_TARGETS = 1024, MAX_SIZE = 1 << 30, MAX_DEPTH = 16384,
	MAX_INLINE = 4096, GRH_BYTES = 40, UD_QKEY = 0x11111
};

#define DC_KEY	0x1122334455667788ull

struct params {
	bool latency;
	enum op op;
	enum transport transport;
	uint32_t size;
	uint64_t iterations;
	uint32_t depth;			/* requests in flight per QP */
	uint32_t batch;			/* requests per doorbell */
	uint32_t signal_every;
	uint32_t inline_max;
	uint32_t max_atomic_arg;
	uint32_t qps;
	uint32_t targets;		/* DC: of each end; the next message is for the next one */
	bool events;
	struct xt_net net;
};

struct end {
	struct xt_side side;
	struct xv_comp_channel *channel;
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	struct xv_qp *qp[MAX_QPS];
	struct xv_ah *ah;		/* UD, DC: address of the peer */
	uint32_t remote_qpn[MAX_QPS];	/* UD */
	struct xv_qp *target[MAX_QPS];	/* XRC: receive into srq */
	struct xv_xrcd *xrcd;
	struct xv_srq *srq;		/* XRC, DC */
	uint32_t remote_srqn;		/* XRC */
	struct xv_dct *dct[MAX_TARGETS];	/* DC */
	struct xv_dc to[MAX_TARGETS];	/* DC: the targets of the peer */
	uint32_t targets;		/* their number; 0: not DC */
	uint32_t turn;			/* the next of them */
	uint32_t qps;
	struct xv_mw *mw;		/* OP_BIND: bound to the second half of mr */
	uint32_t mw_key;
	struct xv_mr *mr;		/* first half: data to send; second half: received data */
	uint8_t *out;
	volatile uint8_t *in;
	size_t half;
	uint64_t remote_in;		/* address of in at the peer */
	uint32_t rkey;
	uint64_t recv_done;
};

/* Shared by the measuring thread and the reporting thread */
struct run {
	struct params p;
	struct end *a;			/* active end; null in a server */
	struct end *b;			/* passive end; null in a client */
	uint64_t done;
	uint64_t failed;		/* status of a failed completion, or 0 */
	uint64_t ticks;
	uint64_t lost;			/* UC and UD: sent but not received */
	uint32_t *sample;		/* latency: ticks of each iteration */
};

const char *op_name(enum op op);
bool op_is_atomic(enum op op);
bool op_is_masked(enum op op);
bool op_is_received(enum op op);	/* consumes a receive WQE of the peer */
bool op_bounces(enum op op);		/* ping-pong: latency is half of the round trip */
const char *transport_name(enum transport tp);
bool transport_has(enum transport tp, enum op op);
bool transport_is_reliable(enum transport tp);

/* end.c */
void end_open(struct end *e, const char *device, uint32_t port, int gid_index,
	      const struct params *p, size_t max_size);
void end_close(struct end *e);
void end_connect_local(struct end *a, struct end *b);
void end_connect_remote(struct end *e, int fd);
void end_prepare(struct end *e, const struct params *p);

/*
 * latency.c, bandwidth.c: run in a thread that must not make system calls, except
 * with --events.
 */
void run_latency(void *run);
void run_bandwidth(void *run);

/* report.c */
void report_begin(const struct params *p, bool json);
void report_run(const struct run *r, bool json, bool histogram);
void report_end(bool json);

/* plot.c: draws runs that --json saved into an SVG or PNG file */
int plot(const char *title, const char *image, int count, char **files);

#endif
