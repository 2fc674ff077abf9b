// SPDX-License-Identifier: GPL-2.0
/*
 * DC targets on the wire: errors, where the completions and events of both sides are those of local
 * targets; and sessions: which packets begin one, how many there are, how they end.
 */
#include "data/wire.h"
#include "dc.h"
#include "tap.h"
#include "wire_link.h"

enum {
	BYTES	= 1 << 20,
	SMALL	= 64,
	LONG	= 5000,
	WCS	= 24,
	SESSIONS = 1024,	/* of a function, by kmod/README.md */
};

#define SETTLE	(60 * NSEC_PER_SEC)
#define HOLD	(10 * NSEC_PER_SEC)

static struct wire w;
static struct session local;
static bool wired;
static struct session *from, *to;
static int to_func;

static struct session_qp dci, owner;	/* @owner: only for its CQ */
static struct session_mr mr[2];		/* of the sender and of the receiver */
static struct dc_srq srq;
static struct dc_target dct, right;	/* @right: without the errors of a test */
static u32 events_read;

/* What both sides have seen; all bytes are compared */
struct view {
	u8 status[WCS], received[WCS], syndrome[WCS], event[WCS];
	u32 nstatus, nreceived, nevents, bytes[WCS];
	u8 dci_state, dct_state;
	bool violated;
	u8 memory[8192];
};

static struct hca *target_hca(void)
{
	return to->hca[to_func];
}

static struct hca_qp *target(void)
{
	return hca_dct_get(target_hca(), right.dctn);
}

static struct hca_qp *source(void)
{
	return hca_qp_get(from->hca[0], dci.qp.qp_num);
}

static struct hca_cq *target_cq(void)
{
	return hca_table_get(&target_hca()->cqs, owner.cqn);
}

static void begin(bool on_wire)
{
	struct hca_eq *eq;
	u32 i;

	wired = on_wire;
	if (wired)
		wire_init(&w, 1);
	else
		session_init(&local);
	from = wired ? &w.s[0] : &local;
	to = wired ? &w.s[1] : &local;
	to_func = !wired;
	from->path.retry_count = 2;
	from->path.rnr_retry = 2;
	from->path.ack_timeout = 14;
	from->path.mtu = IB_MTU_1024;
	dc_initiator(from, 0, 6, &dci);
	session_qp(to, to_func, MLX5_QP_ST_RC, 2, 2, &owner);
	srq = dc_srq(to, to_func);
	right = dct = dc_target(to, to_func, &srq, owner.cqn);
	mr[0] = session_mr(from, 0, BYTES, ALL_ACCESS);
	mr[1] = session_mr(to, to_func, BYTES, ALL_ACCESS);
	for (i = 0; i < BYTES; i++)
		mr[0].ptr[i] = i * 7 + i / 4096;
	memset(mr[1].ptr, 0x55, BYTES);
	eq = hca_table_get(&target_hca()->eqs, to->eqn[to_func]);
	for (i = 1; i < 0x20; i++)
		if (i != MLX5_EVENT_TYPE_CMD)
			target_hca()->async_eq[i] = eq;
	events_read = eq->pi;
}

static bool settle(u64 limit)
{
	return wired ? wire_settle(&w, limit) : session_settle_timers(&local, limit);
}

static void end(void)
{
	settle(2 * HOLD);
	session_qp_destroy(&dci);
	dc_simple(to, to_func, MLX5_CMD_OP_DRAIN_DCT, dct.dctn);
	dc_simple(to, to_func, MLX5_CMD_OP_DESTROY_DCT, dct.dctn);
	dc_simple(to, to_func, MLX5_CMD_OP_DRAIN_DCT, right.dctn);
	settle(2 * HOLD);
	dc_simple(to, to_func, MLX5_CMD_OP_DESTROY_DCT, right.dctn);
	session_qp_destroy(&owner);
	if (wired)
		wire_free(&w);
	else
		session_free(&local);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static struct dc_wr request(u8 opcode, u32 bytes)
{
	return (struct dc_wr) {
		.opcode = opcode, .fm_ce_se = MLX5R_CE_ALWAYS, .nsge = !!bytes,
		.sge = { session_sge(&mr[0], 0, bytes) }, .raddr = mr[1].addr, .rkey = mr[1].key,
		.imm = cpu_to_be32(5), .arg = { 1 },
	};
}

static void post_wr(const struct dc_wr *wr)
{
	if (dc_build(&dci, &dct, wr))
		ok(false, "the send queue has room");
	xv_commit_send(&dci.qp);
}

static void post(u8 opcode, u32 bytes)
{
	struct dc_wr wr = request(opcode, bytes);

	post_wr(&wr);
}

static void receive_at(u64 off, u32 bytes, u32 key)
{
	struct xv_sge sge = { .addr = mr[1].addr + off, .length = bytes, .lkey = key };

	dc_receive(to, &srq, &sge);
}

static void receive(u32 bytes)
{
	receive_at(0, bytes, mr[1].key);
}

static u32 statuses(struct view *v)
{
	struct xv_wc wc;

	while (xv_poll_cq(&dci.cq, 1, &wc) > 0 && v->nstatus < WCS)
		v->status[v->nstatus++] = wc.status;
	return v->nstatus;
}

static u32 next_event(void)
{
	struct hca_eq *eq = hca_table_get(&target_hca()->eqs, to->eqn[to_func]);
	u8 type;

	if (events_read == eq->pi)
		return 0;
	type = ((u8 *)hca_buf_at(&eq->buf, (events_read & 63) * 64ull))[1];
	eq->ci = ++events_read;
	return type;
}

static void look(struct view *v)
{
	struct hca_cq *cq = target_cq();
	u32 i, type;

	statuses(v);
	for (i = 0; i < cq->pi && i < WCS; i++) {
		const struct mlx5r_err_cqe *e = hca_buf_at(&cq->buf,
							   (i & owner.cq.mask) * 64ull);

		v->received[i] = e->op_own >> 4;
		if (v->received[i] == MLX5R_CQE_RESP_ERR)
			v->syndrome[i] = e->syndrome;
		else
			v->bytes[i] = be32_to_cpu(((struct mlx5r_cqe *)e)->byte_cnt);
	}
	v->nreceived = cq->pi;
	while ((type = next_event()) && v->nevents < WCS)
		v->event[v->nevents++] = type;
	v->dci_state = source()->state;
	if (target()) {
		v->dct_state = target()->state;
		v->violated = target()->dct.violations;
	}
	memcpy(v->memory, mr[1].ptr, sizeof(v->memory));
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void good(void)
{
	receive(LONG);
	post(MLX5R_OP_SEND, LONG);
	post(MLX5R_OP_RDMA_WRITE, LONG);
	post(MLX5R_OP_RDMA_READ, LONG);
	post(MLX5R_OP_ATOMIC_FA, 8);
	receive(SMALL);
	post(MLX5R_OP_RDMA_WRITE_IMM, SMALL);
	receive(SMALL);
	post(MLX5R_OP_SEND_IMM, 0);
	settle(SETTLE);
}

static void wrong_key(void)
{
	receive(SMALL);
	dct.key ^= 1ull << 63;
	post(MLX5R_OP_SEND, SMALL);
	settle(SETTLE);
}

static void wrong_key_armed(void)
{
	dc_simple(to, to_func, MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION, right.dctn);
	wrong_key();
}

/* After a good request the session exists, and each request must have the key. */
static void wrong_key_later(void)
{
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	wrong_key_armed();
}

static void no_number(void)
{
	dct.dctn = 0xfffff0;
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	settle(SETTLE);
}

static void queue_pair(void)
{
	dct.dctn = owner.qp.qp_num;
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	settle(SETTLE);
}

static void partition(void)
{
	target_hca()->port[0].pkey ^= 1;
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	settle(SETTLE);
}

static void drained(void)
{
	dc_simple(to, to_func, MLX5_CMD_OP_DRAIN_DCT, right.dctn);
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	settle(SETTLE);
}

static void destroyed(void)
{
	post(MLX5R_OP_RDMA_WRITE, LONG);
	settle(NSEC_PER_SEC);
	dc_simple(to, to_func, MLX5_CMD_OP_DRAIN_DCT, right.dctn);
	dc_simple(to, to_func, MLX5_CMD_OP_DESTROY_DCT, right.dctn);
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	settle(SETTLE);
}

static void not_ready(void)
{
	post(MLX5R_OP_SEND, SMALL);
	settle(SETTLE);
}

static void other_gid(void)
{
	target()->path.sgid_index = 7;
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	settle(SETTLE);
}

static void rkey(void)
{
	struct dc_wr wr = request(MLX5R_OP_RDMA_WRITE, SMALL);

	post(MLX5R_OP_RDMA_WRITE, SMALL);
	wr.rkey ^= 0x100;
	post_wr(&wr);
	settle(SETTLE);
}

static void read_bounds(void)
{
	struct dc_wr wr = request(MLX5R_OP_RDMA_READ, SMALL);

	wr.raddr += BYTES;
	post_wr(&wr);
	settle(SETTLE);
}

static void not_allowed(u8 opcode, u32 bytes)
{
	struct hca_qp *t = target();

	t->rwe = t->rre = t->rae = false;
	post(opcode, bytes);
	settle(SETTLE);
}

static void no_write(void)
{
	not_allowed(MLX5R_OP_RDMA_WRITE, SMALL);
}

static void no_read(void)
{
	not_allowed(MLX5R_OP_RDMA_READ, SMALL);
}

static void no_atomic(void)
{
	not_allowed(MLX5R_OP_ATOMIC_FA, 8);
}

static void odd_atomic(void)
{
	struct dc_wr wr = request(MLX5R_OP_ATOMIC_FA, 8);

	wr.raddr += 4;
	post_wr(&wr);
	settle(SETTLE);
}

static void masked(void)
{
	struct dc_wr wr = request(MLX5R_OP_ATOMIC_MASKED_FA, 8);

	wr.opmod = 9;
	post_wr(&wr);
	wr.rkey ^= 0x100;
	post_wr(&wr);
	settle(SETTLE);
}

static void lkey(void)
{
	struct dc_wr wr = request(MLX5R_OP_RDMA_WRITE, SMALL);

	post(MLX5R_OP_RDMA_WRITE, SMALL);
	wr.sge[0].lkey ^= 0x100;
	post_wr(&wr);
	settle(SETTLE);
}

static void inline_read(void)
{
	struct dc_wr wr = request(MLX5R_OP_RDMA_READ, SMALL);

	wr.data = mr[0].ptr;
	wr.bytes = SMALL;
	post_wr(&wr);
	settle(SETTLE);
}

static void short_receive(void)
{
	receive(SMALL);
	post(MLX5R_OP_SEND, SMALL + 1);
	settle(SETTLE);
}

static void short_in_the_middle(void)
{
	receive(LONG - 1);
	post(MLX5R_OP_SEND, LONG);
	settle(SETTLE);
}

static void receive_key(void)
{
	receive_at(0, LONG, mr[1].key ^ 0x100);
	post(MLX5R_OP_SEND, LONG);
	settle(SETTLE);
}

static void write_imm_key(void)
{
	struct dc_wr wr = request(MLX5R_OP_RDMA_WRITE_IMM, SMALL);

	receive(SMALL);
	wr.rkey ^= 0x100;
	post_wr(&wr);
	settle(SETTLE);
}

static void invalidate(void)
{
	struct session_mr window = session_mr(to, to_func, 4096, ALL_ACCESS);
	struct dc_wr wr = request(MLX5R_OP_SEND_INVAL, SMALL);

	hca_mkey_get(target_hca(), window.key)->en_rinval = true;
	wr.imm = cpu_to_be32(window.key);
	receive(SMALL);
	post_wr(&wr);
	settle(SETTLE);
	wr = request(MLX5R_OP_RDMA_WRITE, SMALL);
	wr.raddr = window.addr;
	wr.rkey = window.key;
	post_wr(&wr);
	settle(SETTLE);
}

static void invalidate_key(void)
{
	struct dc_wr wr = request(MLX5R_OP_SEND_INVAL, SMALL);

	wr.imm = cpu_to_be32(mr[1].key);
	receive(SMALL);
	post_wr(&wr);
	settle(SETTLE);
}

/* The CQ of the target has 16 entries. */
static void overrun(void)
{
	u32 i;

	for (i = 0; i < 17; i++) {
		receive(SMALL);
		post(MLX5R_OP_SEND, SMALL);
	}
	settle(SETTLE);
	/* Its last completions do not matter here. */
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	settle(SETTLE);
}

static void srq_record(void)
{
	*(__be32 *)session_ptr(to, srq.dbr) = cpu_to_be32(5000);
	post(MLX5R_OP_SEND, SMALL);
	settle(SETTLE);
}

static const struct {
	const char *name;
	void (*run)(void);
	u32 status;			/* of the last request */
	bool partly;			/* on the wire, the first packets are in memory */
} cases[] = {
	{ "all operations", good, XV_WC_SUCCESS },
	{ "access key", wrong_key, XV_WC_RETRY_EXC_ERR },
	{ "access key of an armed DCT", wrong_key_armed, XV_WC_RETRY_EXC_ERR },
	{ "access key of a later request", wrong_key_later, XV_WC_RETRY_EXC_ERR },
	{ "no such number", no_number, XV_WC_RETRY_EXC_ERR },
	{ "the number of a queue pair", queue_pair, XV_WC_RETRY_EXC_ERR },
	{ "another partition", partition, XV_WC_RETRY_EXC_ERR },
	{ "the DCT has drained", drained, XV_WC_RETRY_EXC_ERR },
	{ "the DCT is destroyed", destroyed, XV_WC_RETRY_EXC_ERR },
	{ "no receive request", not_ready, XV_WC_RNR_RETRY_EXC_ERR },
	{ "another GID of the port", other_gid, XV_WC_SUCCESS },
	{ "WRITE: key", rkey, XV_WC_REM_ACCESS_ERR },
	{ "READ: out of bounds", read_bounds, XV_WC_REM_ACCESS_ERR },
	{ "WRITE is not allowed", no_write, XV_WC_REM_INV_REQ_ERR },
	{ "READ is not allowed", no_read, XV_WC_REM_INV_REQ_ERR },
	{ "atomics are not allowed", no_atomic, XV_WC_REM_INV_REQ_ERR },
	{ "a misaligned atomic", odd_atomic, XV_WC_REM_INV_REQ_ERR },
	{ "masked atomic: key", masked, XV_WC_REM_ACCESS_ERR },
	{ "WRITE: local key", lkey, XV_WC_LOC_PROT_ERR },
	{ "READ with inline data", inline_read, XV_WC_LOC_QP_OP_ERR },
	{ "a receive is too short", short_receive, XV_WC_REM_INV_REQ_ERR },
	{ "too short in the middle", short_in_the_middle, XV_WC_REM_INV_REQ_ERR, true },
	{ "the key of a receive", receive_key, XV_WC_REM_OP_ERR },
	{ "WRITE with immediate: key", write_imm_key, XV_WC_REM_ACCESS_ERR },
	{ "SEND with invalidate", invalidate, XV_WC_REM_ACCESS_ERR },
	{ "SEND with invalidate: key", invalidate_key, XV_WC_REM_OP_ERR },
	{ "the CQ of the DCT overruns", overrun, XV_WC_RETRY_EXC_ERR },
	{ "the receive queue fails", srq_record, XV_WC_REM_OP_ERR },
};

static void print_view(const struct view *v)
{
	u32 i;

	printf("#  DCI %u, DCT %u, violated %u; statuses:", v->dci_state, v->dct_state,
	       v->violated);
	for (i = 0; i < v->nstatus; i++)
		printf(" %u", v->status[i]);
	printf("; received:");
	for (i = 0; i < v->nreceived && i < WCS; i++)
		printf(" %u/%#x/%u", v->received[i], v->syndrome[i], v->bytes[i]);
	printf("; events:");
	for (i = 0; i < v->nevents; i++)
		printf(" %#x", v->event[i]);
	putchar('\n');
}

static void run_case(u32 i, bool on_wire, struct view *v)
{
	begin(on_wire);
	memset(v, 0, sizeof(*v));
	cases[i].run();
	look(v);
	if (cases[i].partly)
		memset(v->memory, 0, sizeof(v->memory));
	if (on_wire && (w.bad || !session_turns_bounded(to)))
		ok(false, "%s: all frames are packets, no turn is above the limits",
		   cases[i].name);
	end();
}

static void test_case(u32 i)
{
	static struct view alone, far;
	bool same, right_status;

	run_case(i, false, &alone);
	run_case(i, true, &far);
	same = !memcmp(&alone, &far, sizeof(far));
	right_status = alone.nstatus && alone.status[alone.nstatus - 1] == cases[i].status;
	if (ok(same && right_status, "%s: the same as for a local target", cases[i].name))
		return;
	print_view(&alone);
	diag("on the wire:");
	print_view(&far);
	wire_print(&w);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static struct hca_packet saved;		/* the first packet of a kind that was sent */
static u8 saved_data[4096];
static u8 save_opcode;
static bool lose_it;

static bool save(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	if (hca_packet_read(&p, frame, bytes) || p.opcode != save_opcode)
		return false;
	if (!saved.opcode) {
		saved = p;
		memcpy(saved_data, p.data, p.length);
	}
	return lose_it;
}

static void save_first(u8 operation)
{
	memset(&saved, 0, sizeof(saved));
	save_opcode = HCA_BTH_DC | operation;
	lose_it = false;
	wire_script(&w, save);
}

/* A packet of the first host, as it was sent or changed */
static void send_packet(struct hca_packet *p)
{
	hca_wire_send_bytes(&from->hca[0]->port[0], p, saved_data);
	wire_settle(&w, NSEC_PER_MSEC);
}

/* A SEND that was executed, and a copy of its packet after @ns; the number of messages received */
static u32 copy_after(u64 ns, bool destroy)
{
	u32 n;

	begin(true);
	save_first(HCA_BTH_SEND_ONLY);
	receive(SMALL);
	receive(SMALL);
	post(MLX5R_OP_SEND, SMALL);
	wire_settle(&w, NSEC_PER_MSEC);
	if (destroy) {
		dc_simple(to, to_func, MLX5_CMD_OP_DRAIN_DCT, right.dctn);
		dc_simple(to, to_func, MLX5_CMD_OP_DESTROY_DCT, right.dctn);
		dct = dc_target(to, to_func, &srq, owner.cqn);
		saved.dqpn = dct.dctn;
	}
	wire_settle(&w, ns);
	shim_now += ns;
	wire_settle(&w, NSEC_PER_MSEC);
	send_packet(&saved);
	n = target_cq()->pi;
	end();
	return n;
}

static void test_copies(void)
{
	static const u32 ms[] = { 0, 1000, 7000, 9000, 11000, 60000 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ms); i++)
		tap_is(copy_after(ms[i] * NSEC_PER_MSEC, false), 1,
		       "a copy of a SEND after %u ms is not executed", ms[i]);
	tap_is(copy_after(NSEC_PER_MSEC, true), 1, "nor by another DCT");
}

static u32 executed(struct hca_packet *p)
{
	u32 before = target()->counter->rx_dct_connect;

	send_packet(p);
	return target()->counter->rx_dct_connect - before;
}

/* Packets that may not begin a session, and one that may */
static void test_begin(void)
{
	struct hca_packet p;
	u64 now;

	begin(true);
	save_first(HCA_BTH_SEND_ONLY);
	receive(SMALL);
	receive(SMALL);
	post(MLX5R_OP_SEND, SMALL);
	wire_settle(&w, NSEC_PER_MSEC);
	now = to->fabric.now;
	p = saved;
	p.session = saved.session - 1;
	tap_is(executed(&p), 0, "a lower number than that of the last session");
	p.session = now + NSEC_PER_SEC;
	tap_is(executed(&p), 0, "a number of the future");
	p.sqpn = 0x777;
	tap_is(executed(&p), 0, "also of another DCI");
	p.session = now > 9 * NSEC_PER_SEC ? now - 9 * NSEC_PER_SEC : 0;
	shim_now += 9 * NSEC_PER_SEC;
	wire_settle(&w, NSEC_PER_MSEC);
	tap_is(executed(&p), 0, "an old number");
	p.session = 0;
	tap_is(executed(&p), 0, "no number");
	p.session = to->fabric.now;
	p.dc_key ^= 1;
	tap_is(executed(&p), 0, "a wrong key");
	p.dc_key ^= 1;
	p.flow.dgid[15] ^= 1;
	tap_is(executed(&p), 0, "another host");
	p.flow.dgid[15] ^= 1;
	p.pkey = 0x1234;
	tap_is(executed(&p), 0, "another partition");
	p.pkey = 0xffff;
	tap_is(executed(&p), 1, "a good packet begins one");
	tap_is(target_cq()->pi, 2, "and is executed");
	p.mtu = 1;
	p.psn = 1;
	send_packet(&p);
	tap_is(target_cq()->pi, 2, "a packet with another MTU is not");
	end();
}

/* Returns how many of @n DCIs get a session. */
static u32 connect_many(struct hca_packet *p, u32 first, u32 n)
{
	u32 i, good = 0;

	for (i = 0; i < n; i++) {
		p->sqpn = first + i;
		p->session = to->fabric.now;
		good += executed(p);
	}
	return good;
}

static void test_many(void)
{
	struct hca_packet p;

	begin(true);
	save_first(HCA_BTH_WRITE_ONLY);
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	wire_settle(&w, NSEC_PER_MSEC);
	p = saved;
	w.room = 100000;
	tap_is(connect_many(&p, 0x10000, SESSIONS + 50), SESSIONS - 1, "sessions have a limit");
	tap_is(connect_many(&p, 0x10000, 10), 10, "those that exist may begin again");
	shim_now += HOLD / 2;
	tap_is(connect_many(&p, 0x20000, 10), 0, "one that was used lately is not forgotten");
	shim_now += HOLD / 2 + NSEC_PER_SEC;
	tap_is(connect_many(&p, 0x20000, 10), 10, "an old one is");
	wire_settle(&w, 2 * HOLD);
	tap_is(to->fabric.timers.n, 0, "all of them end");
	end();
}

/* ---- Messages that end in the middle --------------------------------------------------------- */

static bool lose_last(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	return !hca_packet_read(&p, frame, bytes) && p.opcode == (HCA_BTH_DC | HCA_BTH_SEND_LAST);
}

static u32 last_received(void)
{
	const struct mlx5r_err_cqe *e = hca_buf_at(&target_cq()->buf,
			((target_cq()->pi - 1) & owner.cq.mask) * 64ull);

	return e->op_own >> 4 << 8 | ((e->op_own >> 4) == MLX5R_CQE_RESP_ERR ? e->syndrome : 0);
}

static void test_silent(void)
{
	begin(true);
	wire_script(&w, lose_last);
	receive(LONG);
	post(MLX5R_OP_SEND, LONG);
	wire_settle(&w, 5 * NSEC_PER_SEC);
	tap_is(source()->state, MLX5_QP_STATE_ERR, "a DCI fails in the middle of a message");
	tap_is(target_cq()->pi, 0, "the target waits");
	wire_settle(&w, 2 * HOLD);
	ok(target_cq()->pi == 1 && last_received() == (MLX5R_CQE_RESP_ERR << 8 |
						       MLX5R_SYND_REMOTE_ABORTED),
	   "but not for ever: the receive request completes with \"remote aborted\"");
	tap_is(target()->state, MLX5_QP_STATE_RTS, "the DCT stays active");
	end();
}

/* The DCI is reset, and sends again: that ends its old message. */
static void test_again(void)
{
	begin(true);
	wire_script(&w, lose_last);
	receive(LONG);
	receive(SMALL);
	post(MLX5R_OP_SEND, LONG);
	wire_settle(&w, 5 * NSEC_PER_SEC);
	session_qp_modify(&dci, MLX5_CMD_OP_2RST_QP, NULL);
	dci.qp.sq.pi = dci.qp.sq.ci = 0;
	dci.qp.sq.limit = 0;
	dci.qp.sq.dbrec[MLX5R_DBR_SND] = 0;
	session_connect(&dci, &dci);
	post(MLX5R_OP_SEND, SMALL);
	wire_settle(&w, NSEC_PER_SEC);
	tap_is(target_cq()->pi, 2, "a new session ends the message of the old one");
	tap_is(last_received(), MLX5R_CQE_RESP_SEND << 8, "and its own arrives");
	end();
}

/* ---- Draining -------------------------------------------------------------------------------- */

static void drain_in_the_middle(void)
{
	begin(true);
	wire_script(&w, lose_last);
	receive(LONG);
	post(MLX5R_OP_SEND, LONG);
	post(MLX5R_OP_RDMA_WRITE, SMALL);
	wire_settle(&w, 100 * NSEC_PER_USEC);
	dc_simple(to, to_func, MLX5_CMD_OP_DRAIN_DCT, right.dctn);
	tap_is(target()->dct.state, HCA_DCT_DRAINING, "a DCT drains in the middle of a message");
}

static void test_drain(void)
{
	struct view v = {};

	drain_in_the_middle();
	wire_script(&w, NULL);
	wire_settle(&w, SETTLE);
	tap_is(target()->dct.state, HCA_DCT_DRAINED, "it is drained when the message is complete");
	tap_is(last_received(), MLX5R_CQE_RESP_SEND << 8, "the message arrives");
	ok(statuses(&v) == 2 && !v.status[0] && v.status[1] == XV_WC_RETRY_EXC_ERR,
	   "the next request gets no answer");
	tap_is(mr[1].ptr[SMALL - 1], mr[0].ptr[SMALL - 1], "and the memory has the message");
	end();
}

static void test_drain_late(void)
{
	struct view v = {};

	drain_in_the_middle();
	wire_settle(&w, 1200 * NSEC_PER_MSEC);
	wire_script(&w, NULL);
	wire_settle(&w, SETTLE);
	tap_is(target()->dct.state, HCA_DCT_DRAINED, "it is drained after a second");
	tap_is(last_received(), MLX5R_CQE_RESP_ERR << 8 | MLX5R_SYND_REMOTE_ABORTED,
	       "the message is aborted");
	ok(statuses(&v) && v.status[0] == XV_WC_RETRY_EXC_ERR, "the rest of it gets no answer");
	tap_is(target_cq()->pi, 1, "and takes no other receive request");
	end();
}

/* ---- A lost refusal -------------------------------------------------------------------------- */

static u32 refusals;

static bool lose_refusals(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	if (hca_packet_read(&p, frame, bytes) || p.opcode != (HCA_BTH_DC | HCA_BTH_ACK) ||
	    (p.syndrome & HCA_AETH_KIND) != HCA_AETH_NAK)
		return false;
	return refusals++ < 2;
}

static void test_refusal(void)
{
	struct dc_wr wr;
	struct view v = {};

	begin(true);
	refusals = 0;
	wire_script(&w, lose_refusals);
	wr = request(MLX5R_OP_RDMA_WRITE, SMALL);
	wr.rkey ^= 0x100;
	post_wr(&wr);
	wire_settle(&w, SETTLE);
	ok(statuses(&v) == 1 && v.status[0] == XV_WC_REM_ACCESS_ERR && refusals == 3,
	   "a refusal that is lost is repeated");
	ok(next_event() == MLX5_EVENT_TYPE_WQ_ACCESS_ERROR && !next_event(), "with one event");
	end();
}

/* ---- The MTU of the port ------------------------------------------------------------------- */

static void test_mtu(void)
{
	struct view v = {};

	begin(true);
	from->hca[0]->vport_mtu = 1024 + 104 + 22 - 1;
	post(MLX5R_OP_RDMA_WRITE, LONG);
	wire_settle(&w, SETTLE);
	ok(statuses(&v) == 1 && !v.status[0] && !memcmp(mr[0].ptr, mr[1].ptr, LONG),
	   "a message to a port whose MTU has no room for the headers");
	tap_is(source()->mtu, 512, "has smaller packets");
	end();
}

static bool lose_first(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	return !hca_packet_read(&p, frame, bytes) && p.opcode != HCA_OPCODE_PROBE;
}

/* A command that changes the DCI while its requests are on the way */
static void test_modify(void)
{
	struct view v = {};

	begin(true);
	from->hca[0]->vport_mtu = 600;
	wire_script(&w, lose_first);
	post(MLX5R_OP_RDMA_WRITE, LONG);
	wire_settle(&w, NSEC_PER_MSEC);
	tap_is(session_qp_modify(&dci, MLX5_CMD_OP_RTS2RTS_QP, &dci), 0, "RTS2RTS");
	wire_script(&w, NULL);
	post(MLX5R_OP_RDMA_READ, LONG);
	wire_settle(&w, SETTLE);
	ok(statuses(&v) == 2 && !v.status[0] && !v.status[1] &&
	   !memcmp(mr[0].ptr, mr[1].ptr, LONG), "the requests still go to their target");
	end();
}

int main(int argc, char **argv)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (argc < 2 || atoi(argv[1]) == i + 1)
			test_case(i);
	if (argc > 1)
		return tap_done();
	test_copies();
	test_begin();
	test_many();
	test_silent();
	test_again();
	test_drain();
	test_drain_late();
	test_refusal();
	test_mtu();
	test_modify();
	return tap_done();
}
