// SPDX-License-Identifier: GPL-2.0
/*
 * Reliable connections across a wire on which chosen frames are lost or arrive twice: which frames
 * follow, and what the counters say.
 */
#include "cmd/cmd.h"
#include "tap.h"
#include "peers.h"

enum {
	LONG	= 5000,		/* five packets */
	MTU	= 1024,
	PACKETS	= 5,
	SMALL	= 64,
	FROM	= 0x20000,	/* of what a READ reads */
	WORD	= 0x40000,
	OK	= XV_WC_SUCCESS,
};

#define SETTLE	(20 * NSEC_PER_SEC)

/* What was on the wire */
static struct {
	u8 opcode;		/* the frame of interest, */
	u32 nth;		/* the n-th one with this opcode, from 0 */
	u32 seen[256];		/* frames, by opcode */
	u32 naks, rnrs;
	u32 read_bytes[8];	/* dma_length of READ requests */
	u64 read_addr[8];
} script;

static void begin(u32 psn)
{
	struct peers_config c = { .wired = true, .st = MLX5_QP_ST_RC, .path.psn = psn };
	u64 word = 1000;

	peers_open(&c);
	memset(&script, 0, sizeof(script));
	memcpy(peer[1].mr.ptr + WORD, &word, 8);
	memset(peer[1].mr.ptr + FROM, 0x66, LONG);
}

static void end(void)
{
	peers_close();
}

static void count(const struct hca_packet *p)
{
	u32 n = script.seen[p->opcode]++;

	if (p->opcode == HCA_BTH_READ_REQUEST && n < ARRAY_SIZE(script.read_bytes)) {
		script.read_bytes[n] = p->dma_length;
		script.read_addr[n] = p->addr;
	}
	if (p->opcode != HCA_BTH_ACK)
		return;
	script.naks += (p->syndrome & HCA_AETH_KIND) == HCA_AETH_NAK;
	script.rnrs += (p->syndrome & HCA_AETH_KIND) == HCA_AETH_RNR;
}

static bool is_chosen(const u8 *frame, u32 bytes)
{
	struct hca_packet p;

	if (hca_packet_read(&p, frame, bytes))
		return false;
	count(&p);
	return p.opcode == script.opcode && script.seen[p.opcode] == script.nth + 1;
}

static bool lose_chosen(const u8 *frame, u32 bytes, u32 nth)
{
	return is_chosen(frame, bytes);
}

static void settle(void)
{
	commit(0);
	peers_settle(SETTLE);
}

static bool all_good(u32 host, u32 n)
{
	const struct peers_view *v = look(host);
	u32 i;

	for (i = 0; i < v->nwcs; i++)
		if (v->wc[i].status)
			return false;
	return v->nwcs == n && hw(host)->state == MLX5_QP_STATE_RTS;
}

/* ---- One frame is lost, or arrives twice ------------------------------------------- */

enum op { SEND, WRITE, WRITE_IMM, READ, ADD };

static const struct fault {
	const char *name;
	enum op op;
	u8 opcode;
	u32 nth;
	/* Counters if the frame is lost */
	u32 out_of_sequence, duplicate, seq_err, implied;
	u32 rest;			/* READ: bytes that are requested again */
	u32 twice;			/* duplicates that are counted if it arrives twice */
} faults[] = {
	{ "SEND First", SEND, HCA_BTH_SEND_FIRST, 0, .out_of_sequence = 4, .seq_err = 1,
	  .twice = 1 },
	{ "SEND Middle", SEND, HCA_BTH_SEND_MIDDLE, 1, .out_of_sequence = 2, .seq_err = 1,
	  .twice = 1 },
	{ "SEND Last", SEND, HCA_BTH_SEND_LAST, 0, .duplicate = 4, .twice = 1 },
	{ "ACK of SEND", SEND, HCA_BTH_ACK, 0, .duplicate = 5 },
	{ "WRITE First", WRITE, HCA_BTH_WRITE_FIRST, 0, .out_of_sequence = 4, .seq_err = 1,
	  .twice = 1 },
	{ "WRITE Middle", WRITE, HCA_BTH_WRITE_MIDDLE, 2, .out_of_sequence = 1, .seq_err = 1,
	  .twice = 1 },
	{ "WRITE Last", WRITE, HCA_BTH_WRITE_LAST, 0, .duplicate = 4, .twice = 1 },
	{ "ACK of WRITE", WRITE, HCA_BTH_ACK, 0, .duplicate = 5 },
	{ "WRITE Last with immediate", WRITE_IMM, HCA_BTH_WRITE_LAST_IMM, 0, .duplicate = 4,
	  .twice = 1 },
	{ "READ request", READ, HCA_BTH_READ_REQUEST, 0, .rest = LONG, .twice = 1 },
	{ "READ response First", READ, HCA_BTH_READ_FIRST, 0, .duplicate = 1, .implied = 1,
	  .rest = LONG },
	{ "READ response Middle 0", READ, HCA_BTH_READ_MIDDLE, 0, .duplicate = 1, .implied = 1,
	  .rest = LONG - MTU },
	{ "READ response Middle 1", READ, HCA_BTH_READ_MIDDLE, 1, .duplicate = 1, .implied = 1,
	  .rest = LONG - 2 * MTU },
	{ "READ response Middle 2", READ, HCA_BTH_READ_MIDDLE, 2, .duplicate = 1, .implied = 1,
	  .rest = LONG - 3 * MTU },
	{ "READ response Last", READ, HCA_BTH_READ_LAST, 0, .duplicate = 1,
	  .rest = LONG - 4 * MTU },
	{ "atomic request", ADD, HCA_BTH_FETCH_ADD, 0, .twice = 1 },
	{ "atomic response", ADD, HCA_BTH_ATOMIC_ACK, 0, .duplicate = 1 },
};

static void post(enum op op)
{
	struct xv_sge sge = here(0, 0, LONG);

	switch (op) {
	case SEND:
		receive(1, 2, 0, LONG);
		post_send(1, sge);
		break;
	case WRITE:
		post_write(1, sge, 0, peer[1].mr.key);
		break;
	case WRITE_IMM:
		receive(1, 2, 0, LONG);
		post_write_imm(1, sge, 0, peer[1].mr.key);
		break;
	case READ:
		post_read(1, sge, FROM, peer[1].mr.key);
		break;
	default:
		post_add(1, here(0, 0, 8), WORD, peer[1].mr.key, 7);
	}
}

static bool contents_are_good(enum op op)
{
	const u64 *word = (u64 *)(peer[1].mr.ptr + WORD), *old = (u64 *)peer[0].mr.ptr;

	switch (op) {
	case READ:
		return !memcmp(peer[0].mr.ptr, peer[1].mr.ptr + FROM, LONG) &&
		       *word == 1000;
	case ADD:
		return *word == 1007 && *old == 1000;
	default:
		return !memcmp(peer[0].mr.ptr, peer[1].mr.ptr, LONG) &&
		       peer[1].mr.ptr[LONG] == 0x55;
	}
}

/*
 * Each 32nd packet asks for an acknowledgement, so those up to there are not sent again when the
 * last one is lost.
 */
static u32 duplicates(const struct fault *f, u32 psn)
{
	u32 i, acked = 0;

	for (i = 0; i < PACKETS - 1; i++)
		if ((psn + i) % 32 == 0)
			acked = i + 1;
	return f->duplicate == PACKETS - 1 ? f->duplicate - acked : f->duplicate;
}

static bool counters_are(const struct fault *f, u32 psn, bool lost)
{
	const struct hca_counter *a = counter(0), *b = counter(1);

	return b->out_of_sequence == (lost ? f->out_of_sequence : 0) &&
	       b->duplicate_request == (lost ? duplicates(f, psn) : f->twice) &&
	       a->packet_seq_err == (lost ? f->seq_err : 0) &&
	       a->implied_nak == (lost ? f->implied : 0) &&
	       !a->rnr_nak_retry && !b->out_of_buffer && !a->out_of_sequence &&
	       !a->duplicate_request && script.naks == (lost ? f->seq_err : 0);
}

static void print_counters(void)
{
	const struct hca_counter *a = counter(0), *b = counter(1);

	diag("out of sequence %llu, duplicates %llu, sequence errors %llu, implied NAKs %llu",
	     b->out_of_sequence, b->duplicate_request, a->packet_seq_err, a->implied_nak);
	diag("RNR %llu, NAKs %u", a->rnr_nak_retry, script.naks);
}

/* The second READ request asks for what is missing. */
static bool rest_is_good(const struct fault *f)
{
	return script.seen[HCA_BTH_READ_REQUEST] == 2 && script.read_bytes[1] == f->rest &&
	       script.read_addr[1] == script.read_addr[0] + LONG - f->rest;
}

static void test_fault(const struct fault *f, u32 psn, bool lost)
{
	bool receives = f->op == SEND || f->op == WRITE_IMM;

	begin(psn);
	script.opcode = f->opcode;
	script.nth = f->nth;
	w.drop = lost ? lose_chosen : NULL;
	w.twice = lost ? NULL : is_chosen;
	post(f->op);
	settle();
	wire_ok(&w, all_good(0, 1) && all_good(1, receives) && contents_are_good(f->op),
		"%s %s, PSN %#x: the message is complete", f->name, lost ? "lost" : "twice", psn);
	if (!ok(counters_are(f, psn, lost), "the counters"))
		print_counters();
	if (lost && f->rest)
		ok(rest_is_good(f), "the READ is continued with %u bytes", f->rest);
	end();
}

static void test_faults(u32 psn)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		test_fault(&faults[i], psn, true);
		test_fault(&faults[i], psn, false);
	}
}

/* ---- Messages with calculation: what is sent again is the result, too ------------------- */

/* Sends the sum of four vectors of 32-bit numbers. */
static void post_vectors(u32 bytes)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_vector_calc calc;
		struct mlx5r_data data;
	} wqe = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_SEND | (u32)MLX5R_CALC_VECTOR <<
						     MLX5R_CTRL_OPMOD_SHIFT),
		.ctrl.qpn_ds = cpu_to_be32(4),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.calc.op[0] = MLX5R_VECTOR_ADD,
		.calc.type = MLX5R_VECTOR_UINT32,
		.calc.count = cpu_to_be16(4),
		.data = { cpu_to_be32(bytes), cpu_to_be32(peer[0].mr.key),
			  cpu_to_be64(peer[0].mr.addr) },
	};

	xv_wr_raw(&peer[0].q.qp, 1, &wqe);
}

static bool sum_is_good(u32 bytes)
{
	const __be32 *v = (void *)peer[0].mr.ptr, *sum = (void *)peer[1].mr.ptr;
	u32 i, k, want, n = bytes / 4;

	for (i = 0; i < n; i++) {
		for (k = 0, want = 0; k < 4; k++)
			want += be32_to_cpu(v[k * n + i]);
		if (be32_to_cpu(sum[i]) != want)
			return false;
	}
	return true;
}

/* Sends the sum of three operands of 16 bytes. */
static void post_operands(void)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_data data;
	} wqe = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_CALC_ADD << MLX5R_CTRL_OPMOD_SHIFT |
						     MLX5R_OP_SEND),
		.ctrl.qpn_ds = cpu_to_be32(2),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.data = { cpu_to_be32(48), cpu_to_be32(peer[0].mr.key),
			  cpu_to_be64(peer[0].mr.addr) },
	};

	xv_wr_raw(&peer[0].q.qp, 1, &wqe);
}

static bool operands_are_added(void)
{
	const __be64 *v = (void *)peer[0].mr.ptr, *sum = (void *)peer[1].mr.ptr;

	return be64_to_cpu(*sum) == be64_to_cpu(v[0]) + be64_to_cpu(v[2]) + be64_to_cpu(v[4]);
}

static void test_calc(u8 opcode, u32 bytes)
{
	struct peers_config c = {
		.wired = true, .st = MLX5_QP_ST_RC, .path.psn = 1, .cross = SESSION_MASTER,
	};

	peers_open(&c);
	memset(&script, 0, sizeof(script));
	script.opcode = opcode;
	w.drop = lose_chosen;
	receive(1, 2, 0, PEERS_BYTES);
	if (bytes)
		post_vectors(bytes);
	else
		post_operands();
	settle();
	wire_ok(&w, all_good(0, 1) && all_good(1, 1) &&
		(bytes ? sum_is_good(bytes) : operands_are_added()),
		"a calculation of %u bytes, opcode %#x lost", bytes, opcode);
	end();
}

/* Adds an element of the second peer to one of the first, by a READ. */
static void post_read_add(u64 wr_id, u32 off)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_raddr raddr;
		struct mlx5r_data data;
	} wqe = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_CALC_ADD << MLX5R_CTRL_OPMOD_SHIFT |
						     MLX5R_OP_RDMA_READ),
		.ctrl.qpn_ds = cpu_to_be32(3),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.raddr = { cpu_to_be64(peer[1].mr.addr + off), cpu_to_be32(peer[1].mr.key) },
		.data = { cpu_to_be32(16), cpu_to_be32(peer[0].mr.key),
			  cpu_to_be64(peer[0].mr.addr) },
	};

	xv_wr_raw(&peer[0].q.qp, wr_id, &wqe);
}

/* Each element is added once, also if a packet is lost or arrives twice. */
static void test_read_add(u8 opcode, bool lost)
{
	struct peers_config c = {
		.wired = true, .st = MLX5_QP_ST_RC, .path.psn = 1, .cross = SESSION_MASTER,
	};
	__be64 *v;
	u32 i;

	peers_open(&c);
	memset(&script, 0, sizeof(script));
	script.opcode = opcode;
	w.drop = lost ? lose_chosen : NULL;
	w.twice = lost ? NULL : is_chosen;
	v = (void *)peer[0].mr.ptr;
	v[0] = cpu_to_be64(1000);
	for (i = 0; i < 3; i++) {
		v = (void *)(peer[1].mr.ptr + 16 * i);
		v[0] = cpu_to_be64(i + 1);
		post_read_add(i, 16 * i);
	}
	settle();
	wire_ok(&w, all_good(0, 3) && be64_to_cpu(*(__be64 *)peer[0].mr.ptr) == 1006,
		"READs that calculate, opcode %#x %s", opcode, lost ? "lost" : "twice");
	end();
}

/* ---- Several losses ------------------------------------------------------------------- */

/* The answer of a READ is lost, and a later message is acknowledged. */
static void test_implied(void)
{
	begin(0xfffff0);
	script.opcode = HCA_BTH_READ_LAST;
	w.drop = lose_chosen;
	post(READ);
	post_add(2, here(0, 8192, 8), WORD, peer[1].mr.key, 7);
	post_write(3, here(0, 0x8000, SMALL), 0, peer[1].mr.key);
	settle();
	wire_ok(&w, all_good(0, 3) && contents_are_good(READ) == false &&
		!memcmp(peer[0].mr.ptr, peer[1].mr.ptr + FROM, LONG),
		"the end of a READ is lost, messages follow: all are complete");
	tap_is(*(u64 *)(peer[1].mr.ptr + WORD), 1007, "the atomic was executed once");
	tap_is(*(u64 *)(peer[0].mr.ptr + 8192), 1000, "and has the first result");
	tap_is(counter(0)->implied_nak, 1, "one implied NAK");
	end();
}

/* No receive request; then the First packet of the next try is lost. */
static void test_rnr(void)
{
	begin(0);
	script.opcode = HCA_BTH_SEND_FIRST;
	script.nth = 1;
	w.drop = lose_chosen;
	post_send(1, here(0, 0, LONG));
	commit(0);
	peers_settle(5000);
	receive(1, 2, 0, LONG);
	settle();
	wire_ok(&w, all_good(0, 1) && all_good(1, 1) && contents_are_good(SEND),
		"RNR, then a loss: the message is complete");
	ok(script.rnrs == 1 && !script.naks && counter(0)->rnr_nak_retry == 1 &&
	   counter(1)->out_of_buffer == 1 && !counter(0)->packet_seq_err,
	   "one RNR NAK, and no other one");
	end();
}

static bool lose_writes(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	if (hca_packet_read(&p, frame, bytes))
		return false;
	count(&p);
	/* Each second frame until twelve are lost */
	return p.opcode == HCA_BTH_WRITE_ONLY && p.psn % 2 && script.seen[p.opcode] <= 24;
}

/* Many gaps at once: one NAK for the first of them, until it is closed */
static void test_gaps(void)
{
	u32 i;

	begin(0xa00000);
	w.drop = lose_writes;
	for (i = 0; i < 24; i++)
		post_write(i, here(0, i * SMALL, SMALL), i * SMALL, peer[1].mr.key);
	settle();
	wire_ok(&w, all_good(0, 24) && !memcmp(peer[0].mr.ptr, peer[1].mr.ptr, 24 * SMALL),
		"many gaps: all messages arrive");
	tap_is(script.naks, 1, "one NAK");
	tap_is(counter(1)->out_of_sequence, 11, "all packets after the gap are counted");
	end();
}

/* ---- What is on the wire at one time --------------------------------------------------- */

static struct {
	u32 reads, most;	/* requests without their answer */
	bool write_first;	/* a WRITE was sent before the answer of a READ */
} outstanding;

static bool watch(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	if (hca_packet_read(&p, frame, bytes))
		return false;
	switch (p.opcode) {
	case HCA_BTH_READ_REQUEST:
	case HCA_BTH_FETCH_ADD:
		outstanding.reads++;
		break;
	case HCA_BTH_READ_LAST:
	case HCA_BTH_READ_ONLY:
	case HCA_BTH_ATOMIC_ACK:
		outstanding.reads--;
		break;
	case HCA_BTH_WRITE_ONLY:
		outstanding.write_first |= outstanding.reads;
	}
	outstanding.most = max(outstanding.most, outstanding.reads);
	return false;
}

static void begin_watch(u64 delay)
{
	begin(0);
	memset(&outstanding, 0, sizeof(outstanding));
	w.delay = delay;
	w.drop = watch;
}

static void test_depth(u32 log)
{
	u32 i;

	begin_watch(20000);
	MLX5_SET(qpc, hw(0)->qpc, log_sra_max, log);
	MLX5_SET(qpc, hw(1)->qpc, log_rra_max, log);
	for (i = 0; i < 40; i++)
		if (i % 2)
			post_add(i, here(0, i * 8, 8), WORD, peer[1].mr.key, 1);
		else
			post_read(i, here(0, 8192 + i * LONG, LONG), FROM, peer[1].mr.key);
	settle();
	wire_ok(&w, all_good(0, 40), "40 READs and atomics");
	tap_is(outstanding.most, 1u << log, "outstanding at most, with log_sra_max %u", log);
	end();
}

static void test_fence(bool fence)
{
	struct xv_sge sge = here(0, 8192, SMALL);

	begin_watch(20000);
	post_read(1, here(0, 0, LONG), FROM, peer[1].mr.key);
	xv_wr_write(&peer[0].q.qp, 2, XV_SEND_SIGNALED | (fence ? XV_SEND_FENCE : 0), &sge,
		    peer[1].mr.addr, peer[1].mr.key);
	settle();
	wire_ok(&w, all_good(0, 2), "a READ and a WRITE %s fence", fence ? "with a" : "without a");
	tap_is(outstanding.write_first, !fence, "the WRITE is sent %s the answer",
	       fence ? "after" : "before");
	end();
}

static u32 read_psns[64], nread_psns;

static bool lose_reads(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;
	u32 i;

	if (hca_packet_read(&p, frame, bytes) || p.opcode != HCA_BTH_READ_REQUEST)
		return false;
	for (i = 0; i < nread_psns; i++)
		if (read_psns[i] == p.psn)
			return true;
	read_psns[nread_psns++ % 64] = p.psn;
	return true;
}

/* Only one part of a READ is outstanding, so PSNs never differ by half of their range. */
static void test_half_circle(void)
{
	struct peers_config c = { .wired = true, .st = MLX5_QP_ST_RC, .path.mtu = IB_MTU_256 };
	struct xv_sge sge;
	u32 i;

	peers_open(&c);
	sge = here(0, 0, 1u << 30);
	nread_psns = 0;
	w.drop = lose_reads;
	for (i = 0; i < 8; i++)
		post_read(i, sge, 0, peer[1].mr.key);
	settle();
	tap_is(nread_psns, 1, "READs of 2^22 packets: a part of one is outstanding");
	ok(look(0)->nwcs == 8 && peer[0].view.wc[0].status == XV_WC_RETRY_EXC_ERR,
	   "all have a completion");
	end();
}

/* A message takes many turns, and no packet of the first turn asks for an acknowledgement. */
static void test_long(u8 st)
{
	struct peers_config c = {
		.wired = true, .st = st, .path = { .mtu = IB_MTU_4096, .psn = 1 },
	};
	u64 before;

	peers_open(&c);
	post_write(1, here(0, 0, PEERS_BYTES), 0, peer[1].mr.key);
	before = shim_now;
	settle();
	wire_ok(&w, all_good(0, 1) && !memcmp(peer[0].mr.ptr, peer[1].mr.ptr, PEERS_BYTES) &&
		shim_now - before < NSEC_PER_MSEC, "%s: a long message",
		st == MLX5_QP_ST_UC ? "UC" : "RC");
	end();
}

/* The uplinks have room for one frame, so each side waits for room all the time. */
static void test_room(u32 room)
{
	u32 i, n = 0;

	begin(1);
	w.room = room;
	for (i = 0; i < 8; i++) {
		receive(1, 100 + i, i * LONG, LONG);
		post_send(i, here(0, i * LONG, LONG));
		post_read(100 + i, here(0, 0x40000 + i * LONG, LONG), FROM, peer[1].mr.key);
		post_write(200 + i, here(0, i * LONG, LONG), 0x50000 + i * LONG, peer[1].mr.key);
	}
	settle();
	for (i = 0; i < 8; i++)
		n += !memcmp(peer[0].mr.ptr + 0x40000 + i * LONG, peer[1].mr.ptr + FROM, LONG);
	wire_ok(&w, all_good(0, 24) && all_good(1, 8) && n == 8 &&
		!memcmp(peer[0].mr.ptr, peer[1].mr.ptr, 8 * LONG) &&
		!memcmp(peer[0].mr.ptr, peer[1].mr.ptr + 0x50000, 8 * LONG),
		"room for %u frames: all messages arrive", room);
	ok(session_turns_bounded(&w.s[0]) && session_turns_bounded(&w.s[1]),
	   "no turn is above the limits");
	end();
}

/* Passes of a hundred that find work */
static u32 busy_passes(u32 host)
{
	u32 i, n = 0;

	for (i = 0; i < 1000; i++)
		n += hca_fabric_poll(&w.s[host].fabric);
	return n / 10;
}

/* Without room, each side tries again from time to time, and has no work meanwhile. */
static void test_no_room(void)
{
	begin(1);
	post_read(1, here(0, 0x40000, LONG), FROM, peer[1].mr.key);
	commit(0);
	w.room = 0;
	ok(busy_passes(0) < 10, "a request without room is no work");
	w.room = 1;
	while (w.sent == 0)
		hca_fabric_poll(&w.s[0].fabric);
	w.room = 0;
	shim_now += w.delay;
	ok(busy_passes(1) < 10, "nor are answers");
	ok(!w.bad && w.sent == 1, "nothing is sent");
	w.room = 64;
	settle();
	wire_ok(&w, all_good(0, 1) &&
		    !memcmp(peer[0].mr.ptr + 0x40000, peer[1].mr.ptr + FROM, LONG),
		"with room the READ completes");
	end();
}

/* ---- A frame that comes very late -------------------------------------------------------- */

static u8 late_frame[4096];
static u32 late_bytes;

static bool keep_read(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	if (!late_bytes && !hca_packet_read(&p, frame, bytes) &&
	    p.opcode == HCA_BTH_READ_REQUEST) {
		memcpy(late_frame, frame, bytes);
		late_bytes = bytes;
	}
	return false;
}

static void send_late(void)
{
	memcpy(w.s[0].ops->frame_alloc(w.s[0].ctx[0], late_bytes), late_frame, late_bytes);
	w.s[0].ops->frame_send(w.s[0].ctx[0]);
}

/* All responder resources have answers.  A copy of the first request arrives with a new one. */
static void test_late_read(void)
{
	u32 i;

	begin(0);
	late_bytes = 0;
	w.drop = keep_read;
	for (i = 0; i < 16; i++)
		post_read(i, here(0, i * LONG, LONG), FROM, peer[1].mr.key);
	settle();
	send_late();
	post_read(16, here(0, 16 * LONG, LONG), FROM, peer[1].mr.key);
	post_add(17, here(0, 17 * LONG, 8), WORD, peer[1].mr.key, 1);
	commit(0);
	for (i = 0; i < 8; i++)
		session_pass(&w.s[0]);
	shim_now += w.delay;
	settle();
	wire_ok(&w, all_good(0, 18), "a late READ request and a new one at the same time");
	tap_is(counter(1)->duplicate_request, 1, "the late one is a duplicate");
	end();
}

/* ---- States ------------------------------------------------------------------------------- */

static bool lose_acks;

static bool maybe_lose_acks(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	return lose_acks && !hca_packet_read(&p, frame, bytes) && p.opcode == HCA_BTH_ACK;
}

static void test_drain(void)
{
	begin(0);
	lose_acks = true;
	w.drop = maybe_lose_acks;
	post_write(1, here(0, 0, LONG), 0, peer[1].mr.key);
	commit(0);
	peers_settle(10000);
	tap_is(session_qp_modify(&peer[0].q, HCA_CMD_OP_RTS2SQD_QP, NULL), 0, "RTS to SQD");
	post_write(2, here(0, 0, LONG), 8192, peer[1].mr.key);
	commit(0);
	peers_settle(NSEC_PER_MSEC);
	ok(!memcmp(peer[0].mr.ptr, peer[1].mr.ptr, LONG) && !look(0)->nevents && !look(0)->nwcs,
	   "a message has arrived, but its acknowledgement has not: not drained");
	lose_acks = false;
	peers_settle(SETTLE);
	ok(look(0)->nevents == 1 && look(0)->event[0] == MLX5_EVENT_TYPE_SQ_DRAINED &&
	   look(0)->nwcs == 1, "after the acknowledgement there is the event");
	tap_is(peer[1].mr.ptr[8192], 0x55, "the next message waits");
	session_qp_modify(&peer[0].q, MLX5_CMD_OP_SQD_RTS_QP, &peer[1].q);
	peers_settle(SETTLE);
	ok(all_good(0, 2) && !memcmp(peer[0].mr.ptr, peer[1].mr.ptr + 8192, LONG),
	   "in RTS it is sent");
	end();
}

static void reset(u32 i)
{
	session_qp_modify(&peer[i].q, MLX5_CMD_OP_2RST_QP, NULL);
	/* Software begins again, too. */
	peer[i].q.qp.sq.dbrec[MLX5R_DBR_SND] = peer[i].q.qp.rq.dbrec[MLX5R_DBR_RCV] = 0;
}

/* Frames are on the way while both sides are reset and connected with other PSNs. */
static void test_reconnect(enum op op)
{
	static u8 before[2 * LONG];
	u32 i;

	begin(0x100);
	w.delay = NSEC_PER_MSEC;
	post(op);
	commit(0);
	for (i = 0; i < 20; i++)
		session_pass(&w.s[0]);
	if (op == READ) {	/* the answers are on the way */
		shim_now += w.delay;
		for (i = 0; i < 20; i++)
			session_pass(&w.s[1]);
	}
	ok(w.nflying[op == READ] > 0, "frames are on the way");
	reset(0);
	reset(1);
	for (i = 0; i < 2; i++)
		peer[i].s->path.psn = 0x500000;
	memcpy(before, peer[0].mr.ptr, LONG);
	memcpy(before + LONG, peer[1].mr.ptr, LONG);
	session_connect(&peer[0].q, &peer[1].q);
	peers_settle(SETTLE);
	ok(!memcmp(before, peer[0].mr.ptr, LONG) && !memcmp(before + LONG, peer[1].mr.ptr, LONG) &&
	   !look(0)->nwcs && !look(1)->nwcs && !hca_wire_is_outstanding(hw(0)->wire) &&
	   hw(0)->state == MLX5_QP_STATE_RTS && hw(1)->state == MLX5_QP_STATE_RTS,
	   "after a reset, they do nothing");
	end();
}

int main(void)
{
	test_faults(0xa00001);
	test_faults(0xfffffe);
	test_calc(HCA_BTH_SEND_FIRST, LONG);
	test_calc(HCA_BTH_SEND_LAST, LONG);
	test_calc(HCA_BTH_ACK, LONG);
	test_calc(HCA_BTH_SEND_MIDDLE, PEERS_BYTES / 4);
	test_calc(HCA_BTH_SEND_ONLY, 0);
	test_calc(HCA_BTH_ACK, 0);
	test_read_add(HCA_BTH_READ_REQUEST, true);
	test_read_add(HCA_BTH_READ_REQUEST, false);
	test_read_add(HCA_BTH_READ_ONLY, true);
	test_read_add(HCA_BTH_READ_ONLY, false);
	test_implied();
	test_rnr();
	test_gaps();
	test_depth(0);
	test_depth(1);
	test_depth(4);
	test_fence(false);
	test_fence(true);
	test_half_circle();
	test_long(MLX5_QP_ST_RC);
	test_long(MLX5_QP_ST_UC);
	test_room(1);
	test_room(3);
	test_no_room();
	test_late_read();
	test_drain();
	test_reconnect(SEND);
	test_reconnect(WRITE);
	test_reconnect(READ);
	return tap_done();
}
