// SPDX-License-Identifier: GPL-2.0
/*
 * usage: probe QUESTION --device NAME --peer-device NAME
 *
 * Asks an adapter one question whose answer no public document has.  Commands that an adapter
 * does not know are refused by it; the worst answer is a command that does not end.
 *
 * Prints a line: fact probe.QUESTION ANSWER
 */
#include <infiniband/verbs.h>
#include "chain.h"
#include "dc.h"

enum { BYTES = 64, WAIT_MS = 500, SIGNALED = XV_SEND_SIGNALED, LAST = XV_SEND_WAIT_EN_LAST };

static const struct rig_opts opts = { .size = 1 << 20, .depth = 16 };
static const char *question;

__attribute__((format(printf, 1, 2)))
static void answer(const char *fmt, ...)
{
	va_list ap;

	printf("fact probe.%s ", question);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static void refused(const char *what)
{
	answer("%s refused: %s", what, xv_last_error());
}

/* The status of the next completion, or -1 if there is none for a while */
static int status(struct xv_cq *cq, unsigned int ms)
{
	double until = xt_now() + ms / 1000.0;
	struct xv_wc wc;

	do {
		if (xv_poll_cq(cq, 1, &wc))
			return (int)wc.status;
	} while (xt_now() < until);
	return -1;
}

static const char *name_of(int status)
{
	return status < 0 ? "none" : xv_wc_status_str((enum xv_wc_status)status);
}

/* Fills the source, clears the target, posts a write. */
static void write_bytes(struct xv_qp *qp, uint32_t seed)
{
	rig_fill(r.buf[0], BYTES, seed);
	memset(r.buf[1], 0, BYTES);
	put(qp, seed, SIGNALED, 0, 0, BYTES);
	xv_commit_send(qp);
}

static bool modify(enum xv_qp_state state, struct xv_qp_attr *a, unsigned int mask)
{
	a->qp_state = state;
	return !xv_modify_qp(r.qp[0], a, XV_QP_STATE | mask);
}

/* ---- States -------------------------------------------------------------------------------- */

static bool drained(void)
{
	double until = xt_now() + 1;
	struct xv_async_event e;
	bool found = false;

	while (!found && xt_now() < until) {
		if (xv_get_async_event(r.side[0].ctx, &e))
			continue;
		found = e.event_type == XV_EVENT_SQ_DRAINED;
		xv_ack_async_event(&e);
	}
	return found;
}

/* RTS2SQD_QP (0x508), then SQD2RTS_QP (0x509) */
static void rts_to_sqd(void)
{
	struct xv_qp_attr a = { .en_sqd_async_notify = 1 };
	bool event;
	int held;

	if (!modify(XV_QPS_SQD, &a, XV_QP_EN_SQD_ASYNC_NOTIFY)) {
		refused("RTS to SQD");
		return;
	}
	event = drained();
	write_bytes(r.qp[0], 1);
	held = status(r.cq[0], 50);
	if (!modify(XV_QPS_RTS, &a, 0)) {
		refused("SQD to RTS");
		return;
	}
	answer("accepted, event: %s, request in SQD: %s, after RTS: %s", event ? "yes" : "no",
	       name_of(held), held < 0 ? name_of(status(r.cq[0], WAIT_MS)) : "-");
}

/* SQD2SQD_QP (0x511) with the attributes that it alone can change */
static void sqd_to_sqd(void)
{
	struct xv_qp_attr a = { .timeout = 12, .retry_cnt = 3, .rnr_retry = 2, .max_rd_atomic = 1 };
	struct xv_qp_attr now;

	if (!modify(XV_QPS_SQD, &a, 0)) {
		refused("RTS to SQD");
		return;
	}
	if (!modify(XV_QPS_SQD, &a, XV_QP_TIMEOUT | XV_QP_RETRY_CNT | XV_QP_RNR_RETRY |
				    XV_QP_MAX_QP_RD_ATOMIC)) {
		refused("SQD to SQD");
		return;
	}
	if (xv_query_qp(r.qp[0], &now, 0, NULL)) {
		refused("the query");
		return;
	}
	answer("accepted, query: %u %u %u %u", now.timeout, now.retry_cnt, now.rnr_retry,
	       now.max_rd_atomic);
}

/* ---- Cross-channel ------------------------------------------------------------------------- */

/* A request that waits runs after the completion for which it waits, and not before. */
static void cross_channel(void)
{
	struct link a = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	struct link b = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	int early, first;

	xv_wr_cqe_wait(b.qp, 1, LAST, a.cq, 1);
	write_bytes(b.qp, 2);
	early = status(b.cq, 50);
	put(a.qp, 3, SIGNALED, BYTES, BYTES, BYTES);
	xv_commit_send(a.qp);
	first = status(a.cq, WAIT_MS);
	answer("early: %s, cause: %s, after it: %s", name_of(early), name_of(first),
	       name_of(status(b.cq, WAIT_MS)));
	link_down(&a);
	link_down(&b);
}

static void managed_send(void)
{
	struct link m = link_up(16, XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND, 0);
	struct link c = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	int early;

	write_bytes(m.qp, 4);
	early = status(m.cq, 50);
	xv_wr_send_enable(c.qp, 5, SIGNALED | LAST, m.qp, 1);
	xv_commit_send(c.qp);
	answer("early: %s, enable: %s, after it: %s", name_of(early),
	       name_of(status(c.cq, WAIT_MS)), name_of(status(m.cq, WAIT_MS)));
	link_down(&m);
	link_down(&c);
}

static void managed_recv(void)
{
	struct link m = link_up(16, XV_QP_MANAGED_RECV, 0);
	struct link c = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_sge from = rig_sge(&r, 1, 0, BYTES), to = rig_sge(&r, 0, 4096, BYTES);
	int early;

	xv_wr_recv(m.qp, 1, &to);
	xv_commit_recv(m.qp);
	xv_wr_send(m.peer, 1, SIGNALED, &from);
	xv_commit_send(m.peer);
	early = status(m.cq, 50);
	xv_wr_recv_enable(c.qp, 2, SIGNALED | LAST, m.qp, 1);
	xv_commit_send(c.qp);
	answer("early: %s, enable: %s, after it: %s", name_of(early),
	       name_of(status(c.cq, WAIT_MS)), name_of(status(m.cq, 10 * WAIT_MS)));
	link_down(&m);
	link_down(&c);
}

/* Posts a request that waits until CQ @cqn has had more completions than @index. */
static void wait_index(struct xv_qp *qp, uint32_t cqn, uint32_t index)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait wait;
	} wqe = {
		.ctrl = { .opmod_idx_opcode = xv_be32(MLX5R_WAIT_CQ << 24 | MLX5R_OP_WAIT),
			  .qpn_ds = xv_be32(2), .fm_ce_se = MLX5R_CE_ALWAYS },
		.wait = { .index = xv_be32(index), .number = xv_be32(cqn) },
	};

	xv_wr_raw(qp, 1, &wqe);
	xv_commit_send(qp);
}

/*
 * After a CQ was resized: does its index for requests that wait go on, or begin at 0?  The CQ has
 * had three completions before and two after.  Each line of the answer says whether a request
 * that waits for this index has completed.
 */
static void wait_after_resize(void)
{
	struct link w = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	int i, last = -1;

	for (i = 0; i < 5; i++) {
		if (i == 3 && xv_resize_cq(r.cq[0], 64)) {
			refused("resize");
			return;
		}
		write_bytes(r.qp[0], (uint32_t)i);
		if (status(r.cq[0], WAIT_MS)) {
			answer("no completion");
			return;
		}
	}
	for (i = 0; i < 8 && last == i - 1; i++) {
		wait_index(w.qp, r.cq[0]->cqn, (uint32_t)i);
		if (!status(w.cq, 50))
			last = i;
	}
	answer("five completions, the last index without waiting: %d", last);
	/* The request that still waits ends with the process, whose queue is destroyed. */
}

/* ---- Calculation --------------------------------------------------------------------------- */

static void calc(void)
{
	static const struct xv_calc add = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT, 0 };
	struct link q = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_calc_operand *in = (struct xv_calc_operand *)r.buf[0];
	struct xv_calc_operand *out = (struct xv_calc_operand *)r.buf[1];
	struct xv_sge sge[2] = { rig_sge(&r, 0, 0, 16), rig_sge(&r, 0, 16, 16) };
	int got;

	in[0] = (struct xv_calc_operand) { xv_be64(40), xv_be64(1) };
	in[1] = (struct xv_calc_operand) { xv_be64(2), xv_be64(2) };
	memset(out, 0xee, sizeof(*out));
	if (xv_wr_write_calc(q.qp, 1, SIGNALED, &add, sge, 2, rig_addr(&r, 1, 0), r.mr[1]->rkey)) {
		refused("calculation");
		return;
	}
	xv_commit_send(q.qp);
	got = status(q.cq, WAIT_MS);
	answer("%s, 40 + 2 = %llu", name_of(got), (unsigned long long)xv_be64(out->value));
	link_down(&q);
}

/* ---- DC ------------------------------------------------------------------------------------ */

static void dc_key(void)
{
	static const struct xt_rc_opts quick = { .timeout = 8, .retry_cnt = 1,
						 .no_rnr_retry = true };
	struct xv_sge sge;
	struct xv_dc wrong;
	struct xv_dct *dct;
	struct xv_qp *dci;
	struct xv_dct_attr a;
	int got;

	dc_open(1 << 16);
	dci = dc_initiator(&side[0], 16, &quick);
	dct = dc_target(&side[1], DC_KEY, DC_ACCESS);
	wrong = dc_to(0, 1, dct, DC_KEY ^ 1ull << 63);
	sge = dc_sge(&side[0], 0, BYTES);
	xv_wr_write_dc(dci, 1, SIGNALED, &sge, (uintptr_t)side[1].buf, side[1].mr->rkey, &wrong);
	xv_commit_send(dci);
	got = status(side[0].send_cq, 10 * WAIT_MS);
	need(!xv_query_dct(dct, &a));
	answer("%s, violations counted: %s", name_of(got), a.key_violations ? "yes" : "no");
	need(!xv_destroy_qp(dci) && !xv_destroy_dct(dct));
	dc_close();
}

/* ---- Options of connections ---------------------------------------------------------------- */

/* What an adapter grants of version 1 when it is asked for all options */
static void ece(void)
{
	struct rig_opts fresh = opts;
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = 1,
				.ece = 1u << 28 | 0xffffff };
	struct xv_qp_attr now, first;

	fresh.unconnected = true;
	rig_reconnect(&r, &fresh);
	if (xv_query_qp(r.qp[0], &first, XV_QP_ECE, NULL) ||
	    xv_modify_qp(r.qp[0], &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
					  XV_QP_ACCESS_FLAGS | XV_QP_ECE) ||
	    xv_query_qp(r.qp[0], &now, XV_QP_ECE, NULL)) {
		refused("ECE");
		return;
	}
	answer("offers 0x%x, grants 0x%x", first.ece, now.ece);
}

/* ---- Protection domains of libibverbs ------------------------------------------------------ */

/* Objects of xverbs and a PD of libibverbs have different owners (uid) in the firmware. */
static void imported_pd(void)
{
	static uint8_t memory[4096] __attribute__((aligned(4096)));
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC, .send_cq = r.cq[0],
		.recv_cq = r.cq[0], .cap = { 16, 1, 1, 1, 0 } };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	struct ibv_mr *mr = NULL;
	struct ibv_pd *pd;
	struct xv_pd *imported;
	struct xv_sge sge;
	struct xt_peer self;
	struct xv_qp *qp;
	int i, got;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), rig_device(0)))
			ctx = ibv_open_device(list[i]);
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	if (pd)
		mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_REMOTE_WRITE);
	if (!mr) {
		answer("libibverbs: %s", strerror(errno));
		return;
	}
	imported = xv_import_pd(r.side[0].ctx, ctx->cmd_fd, pd->handle);
	qp = imported ? xv_create_qp(imported, &attr) : NULL;
	if (!qp) {
		refused(imported ? "queue pair" : "import");
		return;
	}
	xt_peer_of(&r.side[0], qp, &self);
	if (xt_connect(qp, &r.side[0], &self, NULL)) {
		refused("connection");
		return;
	}
	sge = (struct xv_sge) { (uintptr_t)memory, BYTES, mr->lkey };
	rig_fill(memory, BYTES, 7);
	xv_wr_write(qp, 1, SIGNALED, &sge, (uintptr_t)memory + 2048, mr->rkey);
	xv_commit_send(qp);
	got = status(r.cq[0], WAIT_MS);
	answer("write: %s, data: %s", name_of(got),
	       rig_check(memory + 2048, BYTES, 7) ? "right" : "wrong");
}

static const struct {
	const char *name;
	void (*ask)(void);
} questions[] = {
	{ "rts_to_sqd", rts_to_sqd }, { "sqd_to_sqd", sqd_to_sqd }, { "ece", ece },
	{ "imported_pd", imported_pd }, { "cross_channel", cross_channel },
	{ "managed_send", managed_send }, { "managed_recv", managed_recv },
	{ "wait_after_resize", wait_after_resize }, { "calc", calc }, { "dc_key", dc_key },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(questions); i++)
		if (argc > 1 && !strcmp(argv[1], questions[i].name))
			break;
	if (i == ARRAY_SIZE(questions))
		xt_die(XT_USAGE, "usage: probe QUESTION --device NAME --peer-device NAME");
	question = questions[i].name;
	rig_devices(argc - 1, argv + 1);
	rig_open(&r, &opts);
	questions[i].ask();
	return 0;
}
