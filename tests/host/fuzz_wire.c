// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes what a peer on the wire can send: sequences of packets.
 *
 * A host has queue pairs of each type in several states, which receive, and which also send
 * requests of their own.  The input is a list of acts: packets for them, receive and send requests,
 * changes of states, time.  Most packets have the headers of the connection and the PSN that is
 * expected, so that they get far; others have any value in a field, or a damaged byte before the
 * ICRC is made.
 *
 * Checks: only memory changes that keys allow; each request packet has at most one answer, but a
 * READ; what is sent can be read; no turn is above its limits; and in the end a connection between
 * two functions of the host still works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/wire.h"
#include "dc.h"
#include "session.h"

enum {
	AREA_BYTES	= 16384,
	GUARD		= 0xa5,
	LOG_QUEUE	= 4,
	SOON		= 2000,		/* limit of passes until a message has arrived */
	PEER_QPN	= 0x123456,
};

enum { RC_RTS, RC_RTR, RC_SRQ, UC, UD, UD_OTHER, XRC, VICTIM0, VICTIM1, NQPS };
#define TARGETS		7u		/* queue pairs that get packets */

/* Memory: what a remote key can write; what none can */
enum { WRITABLE, READABLE, FOREIGN, LOCAL, NAREAS };

struct act {
	u8 what, qp, op, key;
	s8 psn;
	u8 flags;
	u16 off, len;
	u8 at, value;
} __attribute__((packed));

/* Flags of a packet: fields that do not have the expected value */
enum {
	ANY_LENGTH	= 1,
	ANY_TOTAL	= 2,		/* dma_length */
	ANY_TRANSPORT	= 4,
	ANY_ADDRESS	= 8,
	ANY_SRQ		= 16,
	DAMAGED		= 32,
	NO_ACK_REQUEST	= 64,
	LATER		= 128,		/* the next frame arrives in the same turn */
};

static struct session s[2];		/* the first one is only the address of the peers */
static struct session_qp q[NQPS], peer;
static struct session_mr area[NAREAS], victim[2];
static struct session_srq srq;
static struct session_qp dci;		/* it sends to a DCT of the peers */
static struct dc_srq dct_srq;
static struct dc_target dct;		/* it receives from DCIs of the peers */

static const u8 group[16] = { [10] = 0xff, [11] = 0xff, 239, 1, 2, 3 };

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_wire: %s\n", what);
	abort();
}

/* ---- The end of the wire -------------------------------------------------------------- */

enum { FRAMES = 16 };

static struct frame {
	u8 *at;				/* exactly these bytes */
	u32 bytes;
} queue[FRAMES];
static u32 nqueue, next_frame;
static u8 *out;				/* the frame that is being written */
static u32 out_bytes, room;
static u64 requests, answers;		/* packets; answers without those of READs */

/* Contexts of the functions */
static struct port {
	struct session *s;
	int func;
} ports[2][SESSION_FUNCS];

static void *dma_ptr(void *ctx, u64 addr, u64 len)
{
	const struct port *port = ctx;

	return session_dma_ptr(port->s, addr, len);
}

static void raise_irq(void *ctx, unsigned int vector)
{
	const struct port *port = ctx;

	session_raise_irq(port->s, vector);
}

static void *frame_alloc(void *ctx, u32 bytes)
{
	if (!room)
		return NULL;
	free(out);
	out = malloc(bytes);
	check(out, "memory");
	memset(out, 0xa5, bytes);
	out_bytes = bytes;
	return out;
}

static void frame_send(void *ctx)
{
	struct hca_packet p;

	check(out && !hca_packet_read(&p, out, out_bytes), "a frame is no packet");
	answers += hca_packet_operation(p.opcode) == HCA_BTH_ACK ||
		   hca_packet_operation(p.opcode) == HCA_BTH_ATOMIC_ACK ||
		   hca_packet_operation(p.opcode) == HCA_BTH_EXT_ATOMIC_ACK ||
		   (p.opcode == HCA_OPCODE_PROBE && p.answer);
	room--;
	free(out);
	out = NULL;
}

static void free_frames(void)
{
	u32 i;

	for (i = 0; i < nqueue; i++)
		free(queue[i].at);
	nqueue = next_frame = 0;
}

/* All frames are for the first function. */
static const void *frame_next(void *ctx, u32 *bytes, bool *local)
{
	const struct port *port = ctx;

	if (port->func || next_frame == nqueue)
		return NULL;
	*bytes = queue[next_frame].bytes;
	*local = false;
	return queue[next_frame++].at;
}

static const struct hca_ops ops = {
	.dma_ptr = dma_ptr,
	.raise_irq = raise_irq,
	.frame_alloc = frame_alloc,
	.frame_send = frame_send,
	.frame_next = frame_next,
};

/* ---- Setup ------------------------------------------------------------------------------- */

static struct hca *hca(void)
{
	return s[1].hca[0];
}

static struct hca_qp *hw(u32 i)
{
	return hca_qp_get(s[1].hca[q[i].func], q[i].qp.qp_num);
}

static void connect(u32 i, u8 state)
{
	static const u16 steps[] = {
		[MLX5_QP_STATE_INIT] = MLX5_CMD_OP_RST2INIT_QP,
		[MLX5_QP_STATE_RTR] = MLX5_CMD_OP_INIT2RTR_QP,
		[MLX5_QP_STATE_RTS] = MLX5_CMD_OP_RTR2RTS_QP,
	};
	u8 to;

	for (to = MLX5_QP_STATE_INIT; to <= state; to++)
		check(!session_qp_modify(&q[i], steps[to], &peer), "a queue is not connected");
}

static u32 alloc_pd(void)
{
	u32 in[4] = {}, result[4] = {};

	MLX5_SET(alloc_pd_in, in, opcode, MLX5_CMD_OP_ALLOC_PD);
	check(!session_cmd(&s[1], 0, in, sizeof(in), result, sizeof(result)), "no PD");
	return MLX5_GET(alloc_pd_out, result, pd);
}

/* Each area has a page of guard before it, and the last one a page after it. */
static void make_areas(void)
{
	static const u8 access[NAREAS] = {
		[WRITABLE] = ALL_ACCESS,
		[READABLE] = MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_RR,
		[FOREIGN] = ALL_ACCESS,
		[LOCAL] = MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW,
	};
	u32 i, own = s[1].pd[0], foreign = alloc_pd();

	for (i = 0; i < NAREAS; i++) {
		memset(session_ptr(&s[1], session_alloc(&s[1], HCA_PAGE_SIZE)), GUARD,
		       HCA_PAGE_SIZE);
		s[1].pd[0] = i == FOREIGN ? foreign : own;
		area[i] = session_mr(&s[1], 0, AREA_BYTES, access[i]);
		memset(area[i].ptr, GUARD, AREA_BYTES);
	}
	s[1].pd[0] = own;
	memset(session_ptr(&s[1], session_alloc(&s[1], HCA_PAGE_SIZE)), GUARD, HCA_PAGE_SIZE);
}

static void make_victims(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		victim[i] = session_mr(&s[1], i, 4096, ALL_ACCESS);
		session_qp(&s[1], i, MLX5_QP_ST_RC, LOG_QUEUE, LOG_QUEUE, &q[VICTIM0 + i]);
	}
	session_connect(&q[VICTIM0], &q[VICTIM1]);
}

static void make_targets(void)
{
	static const u8 st[TARGETS] = {
		[RC_RTS] = MLX5_QP_ST_RC, [RC_RTR] = MLX5_QP_ST_RC, [RC_SRQ] = MLX5_QP_ST_RC,
		[UC] = MLX5_QP_ST_UC, [UD] = MLX5_QP_ST_UD, [UD_OTHER] = MLX5_QP_ST_UD,
		[XRC] = MLX5_QP_ST_XRC,
	};
	u32 i;

	for (i = 0; i < TARGETS; i++) {
		session_qp(&s[1], 0, st[i], LOG_QUEUE, LOG_QUEUE, &q[i]);
		connect(i, i == RC_RTR ? MLX5_QP_STATE_RTR : MLX5_QP_STATE_RTS);
	}
	session_qp(&s[1], 0, MLX5_QP_ST_DCI, LOG_QUEUE, 0, &dci);
	session_connect(&dci, &dci);
	dct_srq = dc_srq(&s[1], 0);
	dct = dc_target(&s[1], 0, &dct_srq, q[RC_RTS].cqn);
	session_join_group(&q[UD], group);
	session_join_group(&q[UD_OTHER], group);
	srq = session_xrc_srq(&q[XRC], NULL);
	hw(RC_SRQ)->srq = hca_table_get(&hca()->srqs, srq.srqn);
	hw(RC_SRQ)->srq->users++;
	hca_depend(&hw(RC_SRQ)->srq->dependents, &hw(RC_SRQ)->on_srq);
}

static void init_host(u32 host)
{
	void *ctx[SESSION_FUNCS];
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		ports[host][func] = (struct port) { &s[host], func };
		ctx[func] = &ports[host][func];
	}
	session_init_wired(&s[host], host, 2, &ops, ctx);
}

static void begin(bool first)
{
	static size_t used;
	int func;

	if (first) {
		shim_step = 0;
		init_host(0);
		init_host(1);
		used = s[1].used;
		peer = (struct session_qp) { .s = &s[0], .qp.qp_num = PEER_QPN };
	}
	s[1].used = used;
	shim_time = 100 * NSEC_PER_SEC;
	hca_fabric_time(&s[1].fabric);
	requests = answers = 0;
	room = 0;
	for (func = 0; func < SESSION_FUNCS; func++)
		session_restart(&s[1], func);
	make_victims();
	make_areas();
	make_targets();
}

static void end(void)
{
	u32 i;

	for (i = 0; i < NQPS; i++) {
		free(q[i].qp.rq.wr_id);
		free(q[i].qp.sq.entry);
	}
	free(dci.qp.sq.entry);
	free(dci.qp.rq.wr_id);
	free_frames();
	free(out);
	out = NULL;
}

/* ---- Checks --------------------------------------------------------------------------------- */

static bool is_all(const u8 *at, size_t bytes)
{
	return at[0] == GUARD && !memcmp(at, at + 1, bytes - 1);
}

static void check_memory(void)
{
	u32 i;

	for (i = 0; i < NAREAS; i++) {
		check(is_all(area[i].ptr - HCA_PAGE_SIZE, HCA_PAGE_SIZE), "a guard has changed");
		if (i == READABLE || i == FOREIGN)
			check(is_all(area[i].ptr, AREA_BYTES), "memory has changed");
	}
	check(is_all(area[NAREAS - 1].ptr + AREA_BYTES, HCA_PAGE_SIZE), "a guard has changed");
}

static void run(u32 passes)
{
	while (passes--)
		hca_fabric_poll(&s[1].fabric);
	if (next_frame == nqueue)
		free_frames();
	check_memory();
	check(answers <= requests, "a packet has two answers");
	check(session_turns_bounded(&s[1]), "a turn is above the limits");
}

static void transfer(u8 seed)
{
	struct xv_sge sge = session_sge(&victim[0], 0, 4096);
	struct session_qp *v = &q[VICTIM0];
	struct xv_wc wc = { .status = ~0 };
	u32 n;

	memset(victim[0].ptr, seed, 4096);
	memset(victim[1].ptr, ~seed, 4096);
	xv_wr_write(&v->qp, 1, XV_SEND_SIGNALED, &sge, victim[1].addr, victim[1].key);
	xv_commit_send(&v->qp);
	for (n = 0; n < SOON && !xv_poll_cq(&v->cq, 1, &wc); n++)
		run(1);
	check(wc.status == XV_WC_SUCCESS, "a message does not arrive in time");
	check(!memcmp(victim[0].ptr, victim[1].ptr, 4096), "a message arrives with wrong data");
}

/* ---- Packets --------------------------------------------------------------------------------- */

static const u8 operations[] = {
	HCA_BTH_SEND_FIRST, HCA_BTH_SEND_MIDDLE, HCA_BTH_SEND_LAST, HCA_BTH_SEND_LAST_IMM,
	HCA_BTH_SEND_ONLY, HCA_BTH_SEND_ONLY_IMM, HCA_BTH_WRITE_FIRST, HCA_BTH_WRITE_MIDDLE,
	HCA_BTH_WRITE_LAST, HCA_BTH_WRITE_LAST_IMM, HCA_BTH_WRITE_ONLY, HCA_BTH_WRITE_ONLY_IMM,
	HCA_BTH_READ_REQUEST, HCA_BTH_CMP_SWAP, HCA_BTH_FETCH_ADD, HCA_BTH_SEND_LAST_INVAL,
	HCA_BTH_SEND_ONLY_INVAL, HCA_BTH_ACK, HCA_BTH_ATOMIC_ACK, HCA_BTH_READ_FIRST,
	HCA_BTH_READ_MIDDLE, HCA_BTH_READ_LAST, HCA_BTH_READ_ONLY,
};

static const u8 syndromes[] = {
	HCA_AETH_ACK | HCA_AETH_UNLIMITED, HCA_AETH_ACK, HCA_AETH_RNR | 1,
	HCA_AETH_NAK | HCA_NAK_SEQUENCE, HCA_AETH_NAK | HCA_NAK_INVALID,
	HCA_AETH_NAK | HCA_NAK_ACCESS, HCA_AETH_NAK | HCA_NAK_OPERATION, 0x40, 0x7f,
};

static u32 key_of(u8 which)
{
	return which % 8 < NAREAS ? area[which % 8].key : area[WRITABLE].key ^ 1u << which / 8;
}

static u64 address_of(const struct act *a)
{
	u64 at = area[a->key % 8 % NAREAS].addr + a->off % AREA_BYTES;

	return a->op & 0x80 ? at : at & ~7ull;
}

/* The length of the data that is expected */
static u32 length_of(const struct act *a, const struct hca_qp *qp, u16 flags)
{
	const struct hca_inbound *in;

	if (!(flags & HCA_OP_DATA))
		return 0;
	if (a->flags & ANY_LENGTH || !qp->wire)
		return a->len % 4400;
	in = &qp->wire->in;
	if (flags & HCA_OP_FIRST)
		return flags & HCA_OP_LAST ? a->len % (qp->mtu + 1) : qp->mtu;
	if (!(flags & HCA_OP_LAST))
		return qp->mtu;
	return in->left && in->left <= qp->mtu ? in->left : 1 + a->len % qp->mtu;
}

static u32 total_of(const struct act *a, const struct hca_qp *qp, u16 flags, u32 length)
{
	if (a->flags & ANY_TOTAL)
		return a->value & 0x80 ? (u32)a->len << 17 : a->len * 2;
	if (!(flags & HCA_OP_DATA))
		return a->len % 8192;
	return flags & HCA_OP_LAST ? length : length + 1 + a->len % 4096;
}

/* PSNs are near what is expected; half of them are equal to it. */
static u32 psn_of(const struct act *a, const struct hca_qp *qp, u16 flags)
{
	u32 psn = qp->rq_psn;

	if (qp->wire && !(flags & HCA_OP_REQUEST))
		psn = qp->wire->una;
	return (psn + (a->psn < 0 ? a->psn / 2 : a->psn > 64 ? a->psn - 64 : 0)) & HCA_PSN_MASK;
}

static u8 transport_of(const struct hca_qp *qp)
{
	switch (qp->st) {
	case MLX5_QP_ST_UC:
		return HCA_BTH_UC;
	case MLX5_QP_ST_UD:
		return HCA_BTH_UD;
	case MLX5_QP_ST_XRC:
		return HCA_BTH_XRC;
	default:
		return HCA_BTH_RC;
	}
}

static u8 opcode_of(const struct act *a, const struct hca_qp *qp)
{
	u8 operation = operations[(a->op & 0x7f) % ARRAY_SIZE(operations)];

	if (a->flags & ANY_TRANSPORT)
		return a->value;
	if (qp->st == MLX5_QP_ST_UD)
		return HCA_BTH_UD | (a->op & 1 ? HCA_BTH_SEND_ONLY_IMM : HCA_BTH_SEND_ONLY);
	return transport_of(qp) | operation;
}

/* From the address of the peer */
static void fill_flow(const struct act *a, const struct hca_qp *qp, struct hca_flow *flow)
{
	const enum session_gid gid = SESSION_GID_IPV4;
	const struct hca_gid *own = &hca()->gids[gid], *from = &s[0].hca[0]->gids[gid];

	*flow = (struct hca_flow) { .l3 = HCA_L3_IPV4, .hop_limit = 64, .sport = 0xc000 };
	memcpy(flow->dmac, own->mac, 6);
	memcpy(flow->smac, from->mac, 6);
	memcpy(flow->sgid, from->gid, 16);
	memcpy(flow->dgid, own->gid, 16);
	if (qp->st == MLX5_QP_ST_UD && a->op & 2)
		memcpy(flow->dgid, group, 16);
	if (!(a->flags & ANY_ADDRESS))
		return;
	flow->l3 = a->value % 3;
	flow->tagged = a->value & 4;
	flow->tci = a->value >> 3;
	flow->sgid[15] ^= a->value >> 6;
}

static struct hca_packet make_packet(const struct act *a, const struct hca_qp *qp)
{
	u8 opcode = opcode_of(a, qp);
	u16 flags = hca_packet_flags(opcode);
	struct hca_packet p = {
		.opcode = opcode,
		.solicited = a->value & 1,
		.migrated = a->value & 2,
		.ack_request = !(a->flags & NO_ACK_REQUEST),
		.pkey = a->value == 0xee ? 0x1234 : 0xffff,
		.dqpn = qp->st == MLX5_QP_ST_UD && a->op & 2 ? HCA_MULTICAST_QPN : qp->qpn,
		.psn = psn_of(a, qp, flags),
		.srqn = a->flags & ANY_SRQ ? a->value : srq.srqn,
		.qkey = a->value == 0xdd ? 1 : SESSION_QKEY,
		.sqpn = PEER_QPN,
		.addr = address_of(a),
		.key = key_of(a->key),
		.swap_add = a->value, .compare = a->off,
		.syndrome = syndromes[a->value % ARRAY_SIZE(syndromes)],
		.original = a->off,
		.imm = key_of(a->key),
		.length = length_of(a, qp, flags),
	};

	p.dma_length = total_of(a, qp, flags, p.length);
	fill_flow(a, qp, &p.flow);
	return p;
}

static void queue_packet(const struct act *a, const struct hca_packet *p)
{
	struct frame *f = &queue[nqueue];
	u8 *data;

	f->bytes = hca_packet_bytes(p);
	f->at = malloc(f->bytes);
	check(f->at, "memory");
	data = hca_packet_write(p, f->at);
	memset(data, a->value, p->length);
	if (a->flags & DAMAGED)
		f->at[a->at % (data - f->at)] ^= a->value | 1;
	hca_packet_seal(p, f->at);
	nqueue++;
	requests++;
	if (!(a->flags & LATER) || nqueue == FRAMES)
		run(4);
}

static void send_packet(const struct act *a)
{
	const struct hca_qp *qp = hw(a->qp % TARGETS);
	struct hca_packet p = make_packet(a, qp);

	/* Opcodes that cannot be written are damaged later. */
	if (hca_packet_flags(p.opcode))
		queue_packet(a, &p);
}

/* ---- Private packets ------------------------------------------------------------------------- */

/* An extended atomic, or the answer of one */
static struct hca_packet make_atomic(const struct act *a)
{
	static const u8 targets[] = { RC_RTS, RC_RTR, RC_SRQ, XRC };
	const struct hca_qp *qp = hw(targets[a->qp % ARRAY_SIZE(targets)]);
	struct hca_packet p = make_packet(a, qp);
	u8 operation = a->op & 1 ? HCA_BTH_EXT_ATOMIC : HCA_BTH_EXT_ATOMIC_ACK;

	p.opcode = hca_packet_opcode(transport_of(qp), operation);
	p.add = a->op & 2;
	p.log_operand = 2 + (a->at & 0xf) % 7;
	p.length = a->op & 1 ? (p.add ? 2u : 4u) << p.log_operand : 1u << p.log_operand;
	p.psn = psn_of(a, qp, hca_packet_flags(p.opcode));
	return p;
}

/* A request of one of a few DCIs, in one of its sessions; or an answer to the own DCI */
static struct hca_packet make_dc(const struct act *a)
{
	const struct hca_qp *own = hca_qp_get(hca(), dci.qp.qp_num);
	struct hca_packet p = make_packet(a, hw(RC_RTS));
	u16 flags;

	p.opcode = HCA_BTH_DC | operations[(a->op & 0x7f) % ARRAY_SIZE(operations)];
	flags = hca_packet_flags(p.opcode);
	p.sqpn = a->qp % 3;
	p.mtu = IB_MTU_1024;
	p.session = shim_time - (a->at & 0x10 ? 0 : (a->at & 7) * NSEC_PER_SEC);
	p.dc_key = TEST_DC_KEY ^ (a->at == 0xff);
	p.dqpn = dct.dctn;
	p.psn = a->psn < 0 ? a->psn & 0xf : 0;
	if (flags & HCA_OP_REQUEST)
		return p;
	p.dqpn = dci.qp.qp_num;
	p.session = own->wire->session + (a->at == 0xee);
	p.psn = own->wire->una + (a->psn & 3);
	return p;
}

static struct hca_packet make_probe(const struct act *a)
{
	const struct hca_qp *own = hca_qp_get(hca(), a->op & 2 ? dci.qp.qp_num :
							  q[RC_RTS].qp.qp_num);
	struct hca_packet p = make_packet(a, hw(RC_RTS));

	p.opcode = HCA_OPCODE_PROBE;
	p.length = 0;
	p.answer = a->op & 1;
	p.dqpn = own->qpn;
	p.token = own->wire->gate.token + (a->at == 0xff);
	p.time = p.answer ? shim_time + a->off : 0;
	return p;
}

static void send_private(const struct act *a)
{
	static struct hca_packet (*const make[])(const struct act *a) = {
		make_dc, make_dc, make_dc, make_atomic, make_probe,
	};
	struct hca_packet p = make[a->key % ARRAY_SIZE(make)](a);

	queue_packet(a, &p);
}

/* Posts a request of the own DCI or a receive request of the DCT, or destroys the DCT. */
static void do_dc(const struct act *a)
{
	static const u8 opcodes[] = {
		MLX5R_OP_SEND, MLX5R_OP_RDMA_WRITE, MLX5R_OP_RDMA_READ, MLX5R_OP_ATOMIC_FA,
		MLX5R_OP_ATOMIC_MASKED_FA,
	};
	struct dc_target to = {
		.ah = session_ah(&s[0], 0), .dctn = 1 + a->value % 2, .key = a->value,
	};
	struct xv_sge sge = session_sge(&area[WRITABLE], a->off % 4096, a->len % 4096);
	struct dc_wr wr = {
		.opcode = opcodes[a->op % ARRAY_SIZE(opcodes)], .fm_ce_se = MLX5R_CE_ALWAYS,
		.nsge = 1, .sge = { session_sge(&area[LOCAL], a->off % 4096, a->len % 8192) },
	};

	if (a->at < 0x80) {
		dc_receive(&s[1], &dct_srq, &sge);
	} else if (a->at < 0xf0) {
		if (wr.opcode >= MLX5R_OP_ATOMIC_FA && wr.opcode <= MLX5R_OP_ATOMIC_MASKED_FA)
			wr.sge[0].length = 8;
		wr.opmod = wr.opcode == MLX5R_OP_ATOMIC_MASKED_FA ? 9 : 0;
		dci.qp.sq.ci = dci.qp.sq.limit = dci.qp.sq.pi;
		dc_build(&dci, &to, &wr);
		xv_commit_send(&dci.qp);
	} else {
		dc_simple(&s[1], 0, MLX5_CMD_OP_DRAIN_DCT, dct.dctn);
		if (a->at & 1)
			dc_simple(&s[1], 0, MLX5_CMD_OP_DESTROY_DCT, dct.dctn);
	}
	run(2);
}

/* ---- What the host does ------------------------------------------------------------------ */

static void post_receive(const struct act *a)
{
	struct session_qp *h = &q[a->qp % TARGETS];
	struct xv_sge sge = {
		.addr = area[a->key & 1 ? LOCAL : WRITABLE].addr + a->off % (AREA_BYTES / 2),
		.length = a->len % (AREA_BYTES / 2),
		.lkey = area[a->key & 1 ? LOCAL : WRITABLE].key,
	};

	if (a->qp % TARGETS == XRC || a->qp % TARGETS == RC_SRQ) {
		session_srq_post(&s[1], &srq, &sge);
		return;
	}
	/* The adapter has what the ring has; completions are not read. */
	h->qp.rq.ci = h->qp.rq.pi - (u16)(h->qp.rq.pi - hw(a->qp % TARGETS)->rq.ci);
	xv_wr_recv(&h->qp, 1, &sge);
	xv_commit_recv(&h->qp);
}

static void post_send(const struct act *a)
{
	static const u8 connected[] = { RC_RTS, RC_SRQ, UC };
	struct session_qp *h = &q[connected[a->qp % ARRAY_SIZE(connected)]];
	struct xv_sge sge = session_sge(&area[LOCAL], a->off % 4096, a->len % 8192);
	struct xv_sge word = session_sge(&area[LOCAL], a->off % 4096, 8);
	struct xv_qp *qp = &h->qp;

	qp->sq.ci = qp->sq.limit = qp->sq.pi;
	switch (a->op % 4) {
	case 0:
		xv_wr_send(qp, 1, XV_SEND_SIGNALED, &sge);
		break;
	case 1:
		xv_wr_write(qp, 1, XV_SEND_SIGNALED, &sge, 0x1000, 0x100);
		break;
	case 2:
		xv_wr_read(qp, 1, XV_SEND_SIGNALED, &sge, 0x1000, 0x100);
		break;
	default:
		xv_wr_atomic_fa(qp, 1, XV_SEND_SIGNALED, &word, 0x1000, 0x100, 1);
	}
	xv_commit_send(qp);
	run(2);
}

static void modify(const struct act *a)
{
	u32 i = a->qp % TARGETS;
	struct hca_cq *cq = hw(i)->rcq;

	switch (a->value % 5) {
	case 0:
		session_qp_modify(&q[i], MLX5_CMD_OP_2ERR_QP, NULL);
		break;
	case 1:
		session_qp_modify(&q[i], HCA_CMD_OP_RTS2SQD_QP, NULL);
		break;
	case 2:
		session_qp_modify(&q[i], MLX5_CMD_OP_SQD_RTS_QP, &peer);
		break;
	default:
		session_qp_modify(&q[i], MLX5_CMD_OP_2RST_QP, NULL);
		q[i].qp.sq.dbrec[MLX5R_DBR_SND] = q[i].qp.rq.dbrec[MLX5R_DBR_RCV] = 0;
		q[i].qp.sq.pi = q[i].qp.sq.ci = q[i].qp.rq.pi = q[i].qp.rq.ci = 0;
		*q[i].cq.dbrec = cpu_to_be32(cq->pi & 0xffffff);
		connect(i, a->value & 0x80 ? MLX5_QP_STATE_RTR : MLX5_QP_STATE_RTS);
	}
	run(1);
}

/* Time passes; there is room for some frames.  The software has read its completions. */
static void pass_time(const struct act *a)
{
	u32 i;

	room = a->op & 1 ? a->value : 1000;
	shim_time += (u64)a->len << (a->value & 15);
	for (i = 0; i < TARGETS; i++)
		*q[i].cq.dbrec = cpu_to_be32(hw(i)->rcq->pi & 0xffffff);
	run(1 + a->at % 16);
}

static void change_key(const struct act *a)
{
	struct hca_mkey *key = hca_mkey_get(hca(), area[a->key % NAREAS].key);

	key->free = a->value & 1;
	key->en_rinval = a->value & 2;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const acts[])(const struct act *a) = {
		send_packet, send_packet, send_packet, send_packet, send_packet, post_receive,
		post_receive, post_send, pass_time, modify, change_key, send_private, send_private,
		do_dc,
	};
	static bool started;
	struct act a;

	begin(!started);
	started = true;
	room = 1000;
	for (; size >= sizeof(a); data += sizeof(a), size -= sizeof(a)) {
		memcpy(&a, data, sizeof(a));
		acts[a.what % ARRAY_SIZE(acts)](&a);
	}
	run(8);
	room = 1000;
	transfer(1);
	end();
	return 0;
}
