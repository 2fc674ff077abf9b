// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of the data path without an adapter: the queues are in ordinary memory,
 * and the program takes the role of the adapter.  The expected bytes are taken from
 * the tables of the PRM and not computed with the code under test.
 */
#include <stdbool.h>
#include <string.h>
#include <xverbs/dp.h>
#include "tap.h"

#define SQ_BBS	8
#define RQ_WQES	4
#define CQES	8
#define SRQ_WQES 4

static uint8_t sq_ring[SQ_BBS * 64] __attribute__((aligned(64)));
static uint8_t rq_ring[RQ_WQES * 32] __attribute__((aligned(64)));
static uint8_t srq_ring[SRQ_WQES * 64] __attribute__((aligned(64)));
static uint8_t cq_ring[CQES * 128] __attribute__((aligned(64)));
static uint32_t qp_rec[2], cq_rec[2], srq_rec[2];
static uint64_t bell, cq_bell;
static struct xv_sq_entry sq_entry[SQ_BBS];
static uint64_t rq_wr_id[RQ_WQES], srq_wr_id[SRQ_WQES];
static struct xv_rsc *leaf[XV_RSC_DIR_SIZE];
static struct xv_rsc_dir dir;
static struct xv_qp qp;
static struct xv_cq cq;
static struct xv_srq srq;

static const struct xv_sge sge = { 0x0000700000001000, 64, 0x1122 };

static void setup(enum xv_qp_type type, uint32_t start, uint32_t log_stride)
{
	memset(sq_ring, 0xee, sizeof(sq_ring));
	memset(rq_ring, 0xee, sizeof(rq_ring));
	memset(cq_ring, 0xf1, sizeof(cq_ring));
	memset(&qp, 0, sizeof(qp));
	memset(&cq, 0, sizeof(cq));
	qp.rsc.type = XV_RSC_QP;
	qp.rsc.user_index = 0x2003;
	qp.qp_num = 0x123;
	qp.qp_type = type;
	qp.sq = (struct xv_sq) {
		.buf = sq_ring, .buf_end = sq_ring + sizeof(sq_ring), .entry = sq_entry,
		.dbrec = qp_rec, .doorbell = &bell,
		.ctrl_qpn = 0x00230100ull << 32, .mask = SQ_BBS - 1, .room = SQ_BBS,
		.max_inline = 256, .max_sge = 8, .pi = start, .ci = start,
		.limit = start,
	};
	qp.rq = (struct xv_rq) {
		.buf = rq_ring, .wr_id = rq_wr_id, .dbrec = qp_rec, .mask = RQ_WQES - 1,
		.room = RQ_WQES, .max_sge = 2, .log_stride = 5, .pi = start, .ci = start,
	};
	cq.buf = cq_ring;
	cq.dbrec = cq_rec;
	cq.doorbell = &cq_bell;
	cq.dir = &dir;
	cq.last_uidx = XV_RSC_NO_INDEX;
	cq.mask = CQES - 1;
	cq.log_size = 3;
	cq.log_stride = log_stride;
	cq.cqn = 0x77;
	dir.leaf[2] = leaf;
	leaf[3] = &qp.rsc;
}

/* Compares the ring, from WQEBB i on, with the bytes in hex. */
static bool holds(const uint8_t *ring, size_t size, size_t at, const char *hex)
{
	unsigned int byte;
	size_t n = 0;
	int used;

	while (sscanf(hex, " %2x%n", &byte, &used) == 1) {
		if (ring[(at + n) % size] != byte) {
			diag("byte %zu: %02x, expected %02x", n, ring[(at + n) % size], byte);
			return false;
		}
		hex += used;
		n++;
	}
	return n;
}

static bool sq_holds(uint32_t index, const char *hex)
{
	return holds(sq_ring, sizeof(sq_ring), index % SQ_BBS * 64, hex);
}

#define RADDR	"1122334455667788 aabbccdd 00000000"
#define DATA	"00000040 00001122 0000700000001000"
#define REMOTE	0x1122334455667788, 0xaabbccdd

static void test_builders(void)
{
	setup(XV_QPT_RC, 5, 6);
	ok(!xv_wr_write(&qp, 1, XV_SEND_SIGNALED, &sge, REMOTE) &&
	   sq_holds(5, "00000508 00012303 00000008 00000000" RADDR DATA), "write");
	ok(!xv_wr_write_imm(&qp, 2, 0, &sge, REMOTE, xv_be32(0xcafe0001)) &&
	   sq_holds(6, "00000609 00012303 00000000 cafe0001" RADDR DATA), "write with immediate");
	ok(!xv_wr_read(&qp, 3, XV_SEND_SIGNALED | XV_SEND_FENCE, &sge, REMOTE) &&
	   sq_holds(7, "00000710 00012303 00000088 00000000" RADDR DATA), "read with fence");
	ok(!xv_wr_send(&qp, 4, XV_SEND_SIGNALED | XV_SEND_SOLICITED, &sge) &&
	   sq_holds(8, "0000080a 00012302 0000000a 00000000" DATA), "send with solicited event");
	ok(!xv_wr_send_imm(&qp, 5, 0, &sge, xv_be32(7)) &&
	   sq_holds(9, "0000090b 00012302 00000000 00000007" DATA), "send with immediate");
	ok(!xv_wr_send_inv(&qp, 6, 0, &sge, 0x01020304) &&
	   sq_holds(10, "00000a01 00012302 00000000 01020304" DATA), "send with invalidate");
	ok(!xv_wr_atomic_cs(&qp, 7, XV_SEND_SIGNALED, &sge, REMOTE, 0x55, 0x66) &&
	   sq_holds(11, "00000b11 00012304 00000008 00000000" RADDR
		    "0000000000000066 0000000000000055" DATA), "compare and swap");
	ok(!xv_wr_atomic_fa(&qp, 8, XV_SEND_SIGNALED, &sge, REMOTE, 0x99) &&
	   sq_holds(12, "00000c12 00012304 00000008 00000000" RADDR
		    "0000000000000099 0000000000000000" DATA), "fetch and add");
	ok(xv_wr_write(&qp, 9, 0, &sge, REMOTE) == -XV_ENOMEM, "post to a full queue: ENOMEM");
	ok(sq_holds(5, "00000508 00012303"), "full queue: the oldest WQE is unchanged");

	xv_commit_send(&qp);
	ok(qp_rec[MLX5R_DBR_SND] == xv_be32(13) &&
	   !memcmp(&bell,
	   "\x00\x00\x0c\x12\x00\x01\x23\x04", 8), "commit writes doorbell record and doorbell");
	qp.sq.ci = qp.sq.pi;
	bell = 0;
	xv_wr_send(&qp, 10, 0, &sge);
	xv_commit_send_relaxed(&qp);
	xv_doorbell_flush();
	ok(qp_rec[MLX5R_DBR_SND] == xv_be32(14) &&
	   !memcmp(&bell,
	   "\x00\x00\x0d\x0a\x00\x01\x23\x02", 8), "relaxed commit, flushed by the caller");
}

/* ---- BlueFlame ----------------------------------------------------------------------------- */

/* Two buffers of 256 bytes; their addresses differ in one bit. */
static uint64_t bf[2][32] __attribute__((aligned(512)));

static bool bf_holds(int buffer, const char *hex)
{
	return holds((const uint8_t *)bf[buffer], sizeof(bf[0]), 0, hex);
}

static void bf_setup(uint32_t start)
{
	setup(XV_QPT_RC, start, 6);
	memset(bf, 0, sizeof(bf));
	qp_rec[MLX5R_DBR_SND] = xv_be32(start);
	qp.sq.doorbell = bf[0];
	qp.sq.flags = XV_QP_RECV_IN_RESET | sizeof(bf[0]) << __XV_BF_SHIFT;
}

#define INLINE8	"80000008 6162636465666768"

static void test_blueflame(void)
{
	static const uint8_t data[120] = "abcdefgh";
	uint32_t start = SQ_BBS - 1;

	bf_setup(5);
	xv_wr_write_inline(&qp, 1, XV_SEND_SIGNALED, data, 8, REMOTE);
	xv_commit_send(&qp);
	ok(bf_holds(0, "00000508 00012303 00000008 00000000" RADDR INLINE8) && !bf[0][8] &&
	   !bf[1][0] && qp_rec[MLX5R_DBR_SND] == xv_be32(6),
	   "a single request: its 64 bytes are in the buffer");
	xv_wr_send_inline(&qp, 2, 0, data, 8);
	xv_commit_send(&qp);
	ok(bf_holds(1, "0000060a 00012302 00000000 00000000" INLINE8) && bf_holds(0, "00000508"),
	   "the next one: the other buffer");
	xv_wr_write(&qp, 3, 0, &sge, REMOTE);
	xv_commit_send(&qp);
	ok(bf_holds(0, "00000708 00012303 00000000 00000000" RADDR DATA), "without inline data");
	bf[1][1] = 0;
	xv_wr_send_inline(&qp, 4, 0, data, 8);
	xv_wr_write(&qp, 5, 0, &sge, REMOTE);
	xv_commit_send(&qp);
	ok(bf_holds(1, "00000908 00012303") && !bf[1][1] && qp_rec[MLX5R_DBR_SND] == xv_be32(10),
	   "two requests: only the doorbell, of the last one");
	bf[0][0] = 0;
	xv_commit_send(&qp);
	ok(bf_holds(0, "00000908 00012303"), "nothing new: the doorbell");

	bf_setup(start);
	xv_wr_write_inline(&qp, 1, 0, data, sizeof(data), REMOTE);
	xv_commit_send(&qp);
	ok(qp.sq.pi == start + 3 && bf_holds(0, "00000708 0001230a") &&
	   !memcmp(bf[0], sq_ring + start * 64, 64) && !memcmp(bf[0] + 8, sq_ring, 128) &&
	   !bf[0][24], "a request of three blocks, over the end of the ring");

	bf_setup(0xffff);
	xv_wr_send_inline(&qp, 1, 0, data, 8);
	xv_commit_send(&qp);
	ok(bf_holds(0, "00ffff0a") && bf[0][2] && qp_rec[MLX5R_DBR_SND] == 0,
	   "the index wraps at 16 bits");
	xv_wr_send_inline(&qp, 2, 0, data, 8);
	xv_commit_send_relaxed(&qp);
	ok(bf_holds(1, "0000000a") && !bf[1][1], "relaxed: only the doorbell");

	bf_setup(0);
	qp.sq.flags = 64 << __XV_BF_SHIFT;
	xv_wr_write_inline(&qp, 1, 0, data, sizeof(data), REMOTE);
	xv_commit_send(&qp);
	ok(bf_holds(0, "00000008 0001230a") && !bf[0][1], "longer than a buffer: the doorbell");
}

static void test_masked_atomics(void)
{
	static const uint64_t a[] = { 0x0101010101010101, 2 }, b[] = { 3, 0x8000000000000000 };
	struct xv_cmp_swap cs = { .compare_mask = 4, .compare_val = 2, .swap_val = 1,
				  .swap_mask = 3 };
	struct xv_fetch_add fa = { 5, 0x80000000 };
	struct xv_sge four = { 0x1000, 4, 0x1122 }, eight = { 0x1000, 8, 0x1122 };
	struct xv_sge sixteen = { 0x1000, 16, 0x1122 };

	setup(XV_QPT_RC, 4, 6);
	qp.sq.max_atomic_arg = 16;
	ok(!xv_wr_masked_atomic_cs(&qp, 1, XV_SEND_SIGNALED, &four, REMOTE, 2, &cs) &&
	   sq_holds(4, "08000414 00012304 00000008 00000000" RADDR
		    "00000001 00000002 00000003 00000004 00000004 00001122 0000000000001000"),
	   "masked compare and swap of 4 bytes");
	ok(!xv_wr_masked_atomic_fa(&qp, 1, 0, &four, REMOTE, 2, &fa) &&
	   sq_holds(5, "08000515 00012304 00000000 00000000" RADDR
		    "00000005 80000000 0000000000000000 00000004 00001122 0000000000001000"),
	   "multi-field fetch and add of 4 bytes");
	ok(!xv_wr_masked_atomic_fa(&qp, 1, 0, &eight, REMOTE, 3, &fa) &&
	   sq_holds(6, "09000615 00012304 00000000 00000000" RADDR
		    "0000000000000005 0000000080000000 00000008 00001122 0000000000001000"),
	   "multi-field fetch and add of 8 bytes");
	ok(!xv_wr_masked_atomic_cs(&qp, 1, 0, &eight, REMOTE, 3, &cs) &&
	   sq_holds(7, "09000714 00012305 00000000 00000000" RADDR
		    "0000000000000001 0000000000000002 0000000000000003 0000000000000004"
		    "00000008 00001122 0000000000001000"),
	   "masked compare and swap of 8 bytes, over the end of the ring");
	qp.sq.ci = qp.sq.pi;
	qp.sq.pi = qp.sq.ci = qp.sq.limit = 7;
	fa = (struct xv_fetch_add) { (uintptr_t)a, (uintptr_t)b };
	ok(!xv_wr_masked_atomic_fa(&qp, 1, 0, &sixteen, REMOTE, 4, &fa) &&
	   sq_holds(7, "0a000715 00012305 00000000 00000000" RADDR
		    "0101010101010101 0000000000000002 0000000000000003 8000000000000000"
		    "00000010 00001122 0000000000001000"), "16 bytes: arrays of numbers");
	ok(xv_wr_masked_atomic_fa(&qp, 1, 0, &sixteen, REMOTE, 5, &fa) == -XV_EINVAL,
	   "more than the queue was created for: EINVAL");
	qp.qp_type = XV_QPT_XRC_SEND;
	ok(xv_wr_masked_atomic_fa(&qp, 1, 0, &eight, REMOTE, 3, &fa) == -XV_EINVAL,
	   "XRC needs the number of an SRQ: EINVAL");
	qp.sq.pi = qp.sq.ci = qp.sq.limit = 4;
	ok(!xv_post_send(&qp, &(struct xv_send_wr) {
		.sg_list = &eight, .num_sge = 1, .opcode = XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP,
		.send_flags = XV_SEND_EXT_ATOMIC_INLINE,
		.wr.masked_atomics = { REMOTE, 3 }, .qp_type.xrc.remote_srqn = 0x456,
		.op.cmp_swap = cs }, &(struct xv_send_wr *) { NULL }) &&
	   sq_holds(4, "09000414 00012306 00000000 00000000"
		    "00000456 00000000 0000000000000000" RADDR
		    "0000000000000001 0000000000000002 0000000000000003 0000000000000004"
		    "00000008 00001122 0000000000001000"), "XRC, by list");
	ok(xv_atomic_value("\x01\x02\x03\x04", 2, 4, 0) == 0x01020304 &&
	   xv_atomic_value("\x01\x02\x03\x04\0\0\0\0", 3, 4, 0) == 0x04030201,
	   "values of results in both byte orders");
}

static void test_small_shapes(void)
{
	static const struct xv_sge none = { 0x1000, 0, 0x1122 };
	uint8_t text[100];
	int i;

	for (i = 0; i < 100; i++)
		text[i] = (uint8_t)i;
	setup(XV_QPT_RC, 0, 6);
	ok(!xv_wr_write(&qp, 1, 0, &none, REMOTE) &&
	   sq_holds(0, "00000008 00012302 00000000 00000000" RADDR),
	   "a zero-length write has no data segment");
	ok(!xv_wr_write_inline(&qp, 1, XV_SEND_SIGNALED, text, 5, REMOTE) &&
	   sq_holds(1, "00000108 00012303 00000008 00000000" RADDR "80000005 0001020304"),
	   "inline write");
	qp.sq.pi = qp.sq.ci = 7;
	ok(!xv_wr_send_inline(&qp, 1, 0, text, 70) &&
	   sq_holds(7, "0000070a 00012306 00000000 00000000 80000046"
		    "000102030405060708090a0b0c0d0e0f1011121314151617"
		    "18191a1b1c1d1e1f202122232425262728292a2b"
		    "2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445"),
	   "inline send wraps to the start of the ring");
	ok(qp.sq.pi == 9 && sq_entry[7].end == 9, "inline send has two WQEBBs");
	ok(xv_wr_send_inline(&qp, 1, 0, text, 257) == -XV_EINVAL, "too much inline data: EINVAL");
	qp.sq.room = 0;
	qp.sq.limit = qp.sq.pi;
	ok(xv_wr_send(&qp, 1, 0, &sge) == -XV_EINVAL, "post in a state without posting: EINVAL");
}

static void test_fence_after_umr(void)
{
	setup(XV_QPT_RC, 0, 6);
	qp.sq.fm_ce_se = __XV_FM_CE_SE(MLX5R_FM_SMALL);
	ok(!xv_wr_send(&qp, 1, 0, &sge) && sq_holds(0, "0000000a 00012302 00000020"),
	   "the small fence is in the next WQE");
	ok(!xv_wr_send(&qp, 1, 0, &sge) && sq_holds(1, "0000010a 00012302 00000000"),
	   "the WQE after it has no fence");
	qp.sq.fm_ce_se = __XV_FM_CE_SE(MLX5R_FM_SMALL | MLX5R_CE_ALWAYS);
	ok(!xv_wr_send(&qp, 1, XV_SEND_FENCE, &sge) && sq_holds(2, "0000020a 00012302 00000088"),
	   "small fence and XV_SEND_FENCE: small fence + fence");
	ok(!xv_wr_send(&qp, 1, 0, &sge) && sq_holds(3, "0000030a 00012302 00000008"),
	   "sq_sig_all is still in effect");
}

static void test_lists(void)
{
	struct xv_sge two[3] = { { 0x1000, 8, 1 }, { 0x2000, 0, 2 }, { 0x3000, 16, 3 } };
	struct xv_send_wr wr[3], *bad = NULL;
	char text[2][4] = { "abc", "def" };
	struct xv_sge inl[2] = { { (uintptr_t)text[0], 3, 0 }, { (uintptr_t)text[1], 3, 0 } };

	memset(wr, 0, sizeof(wr));
	setup(XV_QPT_RC, 0xfffe, 6);
	wr[0] = (struct xv_send_wr) { .wr_id = 10, .next = &wr[1], .sg_list = two, .num_sge = 3,
		.opcode = XV_WR_RDMA_WRITE_WITH_IMM, .imm_data = xv_be32(9),
		.wr.rdma = { 0x1122334455667788, 0xaabbccdd } };
	wr[1] = (struct xv_send_wr) { .wr_id = 11, .next = &wr[2], .sg_list = two, .num_sge = 1,
		.opcode = XV_WR_ATOMIC_CMP_AND_SWP, .send_flags = XV_SEND_SIGNALED,
		.wr.atomic = { 0x1122334455667788, 0x55, 0x66, 0xaabbccdd } };
	wr[2] = (struct xv_send_wr) { .wr_id = 12, .sg_list = inl, .num_sge = 2,
		.opcode = XV_WR_SEND, .send_flags = XV_SEND_INLINE | XV_SEND_SIGNALED };
	ok(!xv_post_send(&qp, wr, &bad), "a list of three is posted");
	ok(sq_holds(0xfffe, "00fffe09 00012304 00000000 00000009" RADDR
		    "00000008 00000001 0000000000001000 00000010 00000003 0000000000003000"),
	   "gather list without the empty element");
	ok(sq_holds(0xffff, "00ffff11 00012304 00000008 00000000" RADDR
		    "0000000000000066 0000000000000055"
		    "00000008 00000001 0000000000001000"), "compare and swap");
	ok(sq_holds(0x10000, "0000000a 00012302 00000008 00000000 80000006 616263646566"),
	   "index wraps at 2^16; inline data from two elements");
	ok(qp_rec[MLX5R_DBR_SND] == xv_be32(1), "one doorbell for the list");

	wr[0].num_sge = 9;
	ok(xv_post_send(&qp, &wr[0], &bad) == -XV_EINVAL && bad == &wr[0],
	   "too many elements: EINVAL");
	wr[1].opcode = (enum xv_wr_opcode)77;
	ok(xv_post_send(&qp, &wr[1], &bad) == -XV_EINVAL && bad == &wr[1],
	   "unknown opcode: EINVAL");
	wr[1].opcode = XV_WR_RDMA_READ;
	wr[1].send_flags = XV_SEND_INLINE;
	ok(xv_post_send(&qp, &wr[1], &bad) == -XV_EINVAL, "inline read: EINVAL");
	wr[1].send_flags = 0;
	qp.qp_type = XV_QPT_UC;
	ok(xv_post_send(&qp, &wr[1], &bad) == -XV_EINVAL, "read on UC: EINVAL");
	wr[1].opcode = XV_WR_SEND_WITH_INV;
	ok(xv_post_send(&qp, &wr[1], &bad) == -XV_EINVAL, "send with invalidate on UC: EINVAL");
}

#define XRC	"00000099 000000000000000000000000"

static void test_xrc_builders(void)
{
	setup(XV_QPT_XRC_SEND, 1, 6);
	ok(!xv_wr_send_xrc(&qp, 1, XV_SEND_SIGNALED, &sge, 0x99) &&
	   sq_holds(1, "0000010a 00012303 00000008 00000000" XRC DATA), "XRC send");
	ok(!xv_wr_send_imm_xrc(&qp, 1, 0, &sge, 0x99, xv_be32(7)) &&
	   sq_holds(2, "0000020b 00012303 00000000 00000007" XRC DATA), "with immediate");
	ok(!xv_wr_write_xrc(&qp, 1, 0, &sge, REMOTE, 0x99) &&
	   sq_holds(3, "00000308 00012304 00000000 00000000" XRC RADDR DATA), "XRC write");
	ok(!xv_wr_write_imm_xrc(&qp, 1, 0, &sge, REMOTE, 0x99, xv_be32(7)) &&
	   sq_holds(4, "00000409 00012304 00000000 00000007" XRC RADDR DATA), "with immediate");
	ok(!xv_wr_read_xrc(&qp, 1, 0, &sge, REMOTE, 0x99) &&
	   sq_holds(5, "00000510 00012304 00000000 00000000" XRC RADDR DATA), "XRC read");
}

static struct xv_ah dc_ah;
static const struct xv_dc target = { &dc_ah, 0x0102030405060708, 0x654321 };

/* The address vector: key, number with the bit of the long format, and that of the handle */
#define AV	"0102030405060708 80654321 12345678 00000000 0a0b0c0d0e0f 1112 40314151" \
		"202122232425262728292a2b2c2d2e2f"

static void set_dc_ah(void)
{
	static const uint8_t av[48] = {
		[8] = 0x80, [12] = 0x12, 0x34, 0x56, 0x78,
		[20] = 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x11, 0x12, 0x40, 0x31, 0x41, 0x51,
		0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c,
		0x2d, 0x2e, 0x2f,
	};

	memcpy(&dc_ah.av, av, sizeof(av));
	dc_ah.pd = qp.pd;
}

/* Each request has two WQEBBs: in the ring of eight, the second of the fourth one wraps. */
static void test_dc_builders(void)
{
	uint8_t text[40];
	int i;

	for (i = 0; i < 40; i++)
		text[i] = (uint8_t)i;
	setup(XV_QPT_DCI, 1, 6);
	set_dc_ah();
	ok(!xv_wr_send_dc(&qp, 1, XV_SEND_SIGNALED, &sge, &target) &&
	   sq_holds(1, "0000010a 00012305 00000008 00000000" AV DATA), "DC send");
	ok(!xv_wr_send_imm_dc(&qp, 1, 0, &sge, xv_be32(7), &target) &&
	   sq_holds(3, "0000030b 00012305 00000000 00000007" AV DATA),
	   "DC send with immediate");
	ok(!xv_wr_write_dc(&qp, 1, 0, &sge, REMOTE, &target) &&
	   sq_holds(5, "00000508 00012306 00000000 00000000" AV RADDR DATA), "DC write");
	ok(!xv_wr_write_imm_dc(&qp, 1, 0, &sge, REMOTE, xv_be32(9), &target) &&
	   sq_holds(7, "00000709 00012306 00000000 00000009" AV RADDR DATA),
	   "DC write with immediate, which wraps to the start of the ring");
	ok(xv_wr_send_dc(&qp, 1, 0, &sge, &target) == -XV_ENOMEM, "DC: full queue: ENOMEM");
	qp.sq.ci = qp.sq.pi;
	ok(!xv_wr_read_dc(&qp, 1, 0, &sge, REMOTE, &target) &&
	   sq_holds(9, "00000910 00012306 00000000 00000000" AV RADDR DATA), "DC read");
	ok(!xv_wr_atomic_cs_dc(&qp, 1, 0, &sge, REMOTE, 0x55, 0x66, &target) &&
	   sq_holds(11, "00000b11 00012307 00000000 00000000" AV RADDR
		    "0000000000000066 0000000000000055" DATA), "DC compare and swap");
	ok(!xv_wr_atomic_fa_dc(&qp, 1, 0, &sge, REMOTE, 0x99, &target) &&
	   sq_holds(13, "00000d12 00012307 00000000 00000000" AV RADDR
		    "0000000000000099 0000000000000000" DATA), "DC fetch and add");
	ok(!xv_wr_send_inv_dc(&qp, 1, 0, &sge, 0x01020304, &target) &&
	   sq_holds(15, "00000f01 00012305 00000000 01020304" AV DATA),
	   "DC send with invalidate");
	qp.sq.ci = qp.sq.pi;
	ok(!xv_wr_write_inline_dc(&qp, 1, 0, text, 40, REMOTE, &target) &&
	   sq_holds(17, "00001108 00012308 00000000 00000000" AV RADDR "80000028"
		    "000102030405060708090a0b0c0d0e0f10111213141516171819"
		    "1a1b1c1d1e1f2021222324252627"), "DC inline write");
	ok(!xv_wr_send_inline_dc(&qp, 1, 0, text, 4, &target) &&
	   sq_holds(19, "0000130a 00012305 00000000 00000000" AV "80000004 00010203"),
	   "DC inline send");
	ok(xv_wr_send_inline_dc(&qp, 1, 0, text, 257, &target) == -XV_EINVAL,
	   "DC: too much inline data: EINVAL");
	dc_ah.pd = (struct xv_pd *)text;
	ok(xv_wr_send_dc(&qp, 1, 0, &sge, &target) == -XV_EINVAL,
	   "DC: address handle of another protection domain: EINVAL");
}

static void test_dc_lists(void)
{
	struct xv_sge list[2] = { sge, sge };
	struct xv_send_wr wr = {
		.sg_list = list, .num_sge = 2, .opcode = XV_WR_RDMA_READ, .dc = target,
		.wr.rdma = { REMOTE },
	}, *bad;

	setup(XV_QPT_DCI, 7, 6);
	set_dc_ah();
	ok(!xv_post_send(&qp, &wr, &bad) &&
	   sq_holds(7, "00000710 00012307 00000000 00000000" AV RADDR DATA DATA),
	   "DC list: read with two elements, which wraps");
	wr.opcode = XV_WR_ATOMIC_FETCH_AND_ADD;
	wr.num_sge = 1;
	wr.wr.atomic.remote_addr = 0x1122334455667788;
	wr.wr.atomic.rkey = 0xaabbccdd;
	wr.wr.atomic.compare_add = 0x99;
	ok(!xv_post_send(&qp, &wr, &bad) &&
	   sq_holds(9, "00000912 00012307 00000000 00000000" AV RADDR
		    "0000000000000099 0000000000000000" DATA), "DC list: fetch and add");
	ok(!xv_post_send(&qp, &(struct xv_send_wr) { .opcode = XV_WR_LOCAL_INV,
			 .invalidate_rkey = 0x3302 }, &bad) &&
	   sq_holds(11, "00000b25 00012308 00000000 00003302 98000000"),
	   "DC list: local invalidate");
	wr.opcode = XV_WR_ATOMIC_FETCH_AND_ADD;
	dc_ah.pd = (struct xv_pd *)list;
	ok(xv_post_send(&qp, &wr, &bad) == -XV_EINVAL && bad == &wr,
	   "DC list: address handle of another protection domain: EINVAL");
}

/* A receive of a DC target names the target; its entry is in the SRQ. */
static void test_dc_poll(void)
{
	static struct xv_dct dct = { .rsc = { XV_RSC_DCT, 0x2005 }, .srq = &srq };
	struct mlx5r_cqe *cqe = (struct mlx5r_cqe *)cq_ring;
	struct xv_wc wc;

	setup(XV_QPT_DCI, 0, 6);
	memset(srq_ring, 0, sizeof(srq_ring));
	srq = (struct xv_srq) {
		.rsc.type = XV_RSC_SRQ, .buf = srq_ring, .wr_id = srq_wr_id, .dbrec = srq_rec,
		.mask = SRQ_WQES - 1, .max_sge = 1, .log_stride = 6, .tail = 3,
	};
	leaf[5] = &dct.rsc;
	srq_wr_id[2] = 0x5555;
	memset(cqe, 0, sizeof(*cqe));
	cqe->srqn_uidx = xv_be32(0x2005);
	cqe->wqe_counter = xv_be16(2);
	cqe->byte_cnt = xv_be32(48);
	cqe->flags_rqpn = xv_be32(0x777);
	cqe->sop_drop_qpn = xv_be32(0x654321);
	cqe->op_own = MLX5R_CQE_RESP_SEND << 4;
	ok(xv_poll_cq(&cq, 1, &wc) == 1 && wc.wr_id == 0x5555 && wc.opcode == XV_WC_RECV &&
	   wc.byte_len == 48 && wc.qp_num == 0x654321 && wc.src_qp == 0x777,
	   "receive of a DC target: entry of the SRQ, number of the target");
	ok(srq.tail == 2, "its entry is free again");
	leaf[5] = NULL;
}

/* The data segment of an XRC read is behind the XRC segment and that of the remote address. */
static void test_xrc_response(void)
{
	struct mlx5r_cqe *cqe = (struct mlx5r_cqe *)cq_ring;
	uint8_t to[32] = { 0 }, data[32];
	struct xv_sge here = { (uintptr_t)to, sizeof(to), 0x1122 };
	struct xv_wc wc;

	setup(XV_QPT_XRC_SEND, 0, 6);
	memset(data, 0x5a, sizeof(data));
	memset(cqe, 0, sizeof(*cqe));
	memcpy(cqe, data, sizeof(data));
	ok(!xv_wr_read_xrc(&qp, 9, XV_SEND_SIGNALED, &here, REMOTE, 0x99), "XRC read");
	cqe->srqn_uidx = xv_be32(0x2003);
	cqe->byte_cnt = xv_be32(sizeof(data));
	cqe->sop_drop_qpn = xv_be32((uint32_t)MLX5R_OP_RDMA_READ << 24 | 0x123);
	cqe->op_own = MLX5R_CQE_REQ << 4 | MLX5R_CQE_INLINE_32;
	ok(xv_poll_cq(&cq, 1, &wc) == 1 && wc.wr_id == 9 && !memcmp(to, data, sizeof(to)),
	   "XRC read: data in the completion goes to the buffer");
}

static void test_ud_and_xrc(void)
{
	struct xv_ah ah = { .av = { .rlid = xv_be16(0xc001), .rmac = { 2, 0, 0, 0, 0, 1 },
		.hop_limit = 64, .grh_gid_fl = xv_be32(0x40100000), .rgid = { 0xfe, 0x80 } } };
	struct xv_send_wr wr = { .sg_list = (struct xv_sge *)&sge, .num_sge = 1,
		.opcode = XV_WR_SEND_WITH_IMM, .imm_data = xv_be32(3),
		.wr.ud = { &ah, 0x456, 0x11111111 } }, *bad;
	static const char av[] = "11111111 00000000 80000456 0000c001 00000000 020000000001"
		"00 40 40100000 fe800000000000000000000000000000";
	char expect[256];

	setup(XV_QPT_UD, 7, 6);
	snprintf(expect, sizeof(expect), "00000709 00012305 00000000 00000000 %s %s", av, DATA);
	expect[7] = 'a';
	ok(!xv_wr_send_ud(&qp, 1, 0, &sge, &ah, 0x456, 0x11111111) && sq_holds(7, expect),
	   "UD send: address vector, then data in the next WQEBB");
	ok(qp.sq.pi == 9, "UD send: two WQEBBs");
	snprintf(expect, sizeof(expect), "0000090b 00012305 00000000 00000003 %s %s", av, DATA);
	ok(!xv_post_send(&qp, &wr, &bad) && sq_holds(9, expect), "same WQE from a list");
	setup(XV_QPT_UD, 9, 6);
	ok(!xv_wr_send_imm_ud(&qp, 1, 0, &sge, &ah, 0x456, 0x11111111, xv_be32(3)) &&
	   sq_holds(9, expect), "UD send with immediate");
	wr.opcode = XV_WR_RDMA_WRITE;
	ok(xv_post_send(&qp, &wr, &bad) == -XV_EINVAL, "write on UD: EINVAL");
	qp.pd = (struct xv_pd *)&qp;
	wr.opcode = XV_WR_SEND;
	ok(xv_post_send(&qp, &wr, &bad) == -XV_EINVAL && bad == &wr &&
	   xv_wr_send_ud(&qp, 1, 0, &sge, &ah, 1, 1) == -XV_EINVAL,
	   "address handle of another PD: EINVAL");
	wr.opcode = XV_WR_RDMA_WRITE;

	setup(XV_QPT_XRC_SEND, 0, 6);
	wr.wr.rdma.remote_addr = 0x1122334455667788;
	wr.wr.rdma.rkey = 0xaabbccdd;
	wr.qp_type.xrc.remote_srqn = 0x99;
	ok(!xv_post_send(&qp, &wr, &bad) &&
	   sq_holds(0, "00000008 00012304 00000000 00000000"
		    "00000099 000000000000000000000000" RADDR DATA), "XRC write");
	test_xrc_builders();
}

/* Role of the adapter: writes a CQE at its producer index. */
static void complete(uint32_t pi, uint8_t op, uint8_t syndrome, uint16_t counter)
{
	struct mlx5r_cqe *cqe = (struct mlx5r_cqe *)(void *)
		(cq_ring + ((pi % CQES + 1) << cq.log_stride)) - 1;

	memset(cqe, 0, sizeof(*cqe));
	cqe->srqn_uidx = xv_be32(0x2003);
	cqe->byte_cnt = xv_be32(64);
	cqe->sop_drop_qpn = xv_be32(0x123);
	cqe->flags_rqpn = xv_be32(0x456);
	cqe->imm_inval_pkey = xv_be32(0xabcd);
	cqe->wqe_counter = xv_be16(counter);
	if (syndrome) {
		((struct mlx5r_err_cqe *)(void *)cqe)->syndrome = syndrome;
		((struct mlx5r_err_cqe *)(void *)cqe)->vendor_err_synd = 0x68;
	}
	cqe->op_own = (uint8_t)(op << 4 | (pi / CQES & 1));
}

static void test_poll(uint32_t log_stride)
{
	struct xv_wc wc[8];
	uint32_t i, bad = 0;

	setup(XV_QPT_RC, 0, log_stride);
	ok(xv_poll_cq(&cq, 8, wc) == 0, "%d-byte CQEs: a new ring is empty", 1 << log_stride);
	for (i = 0; i < 100000; i++) {
		bad += !!xv_wr_write(&qp, i, 0, &sge, REMOTE);
		bad += !!xv_wr_read(&qp, i + 1000000, XV_SEND_SIGNALED, &sge, REMOTE);
		complete(i, MLX5R_CQE_REQ, 0, (uint16_t)(2 * i + 1));
		bad += xv_poll_cq(&cq, 8, wc) != 1 || wc[0].wr_id != i + 1000000 ||
		       wc[0].status || wc[0].opcode != XV_WC_RDMA_READ || wc[0].byte_len != 64 ||
		       wc[0].qp_num != 0x123;
		bad += qp.sq.ci != 2 * i + 2 || cq_rec[0] != xv_be32((i + 1) & 0xffffff);
	}
	ok(!bad, "100000 completions, both indices wrap; unsignalled sends are retired");
	ok(xv_poll_cq(&cq, 8, wc) == 0, "the ring is empty");
}

/* All syndromes of the PRM, for requester and responder, and an unknown one */
static void test_syndromes(void)
{
	static const struct {
		uint8_t syndrome;
		enum xv_wc_status status;
	} known[] = {
		{ 0x01, XV_WC_LOC_LEN_ERR }, { 0x02, XV_WC_LOC_QP_OP_ERR },
		{ 0x04, XV_WC_LOC_PROT_ERR }, { 0x05, XV_WC_WR_FLUSH_ERR },
		{ 0x06, XV_WC_MW_BIND_ERR }, { 0x10, XV_WC_BAD_RESP_ERR },
		{ 0x11, XV_WC_LOC_ACCESS_ERR }, { 0x12, XV_WC_REM_INV_REQ_ERR },
		{ 0x13, XV_WC_REM_ACCESS_ERR }, { 0x14, XV_WC_REM_OP_ERR },
		{ 0x15, XV_WC_RETRY_EXC_ERR }, { 0x16, XV_WC_RNR_RETRY_EXC_ERR },
		{ 0x22, XV_WC_REM_ABORT_ERR }, { 0x7f, XV_WC_GENERAL_ERR },
	};
	uint32_t i, bad = 0, n = sizeof(known) / sizeof(known[0]);
	struct xv_wc wc[2];

	setup(XV_QPT_RC, 0, 6);
	for (i = 0; i < n; i++) {
		bad += !!xv_wr_send(&qp, i, 0, &sge) || xv_wr_recv(&qp, i + 100, &sge);
		complete(2 * i, MLX5R_CQE_REQ_ERR, known[i].syndrome, (uint16_t)i);
		complete(2 * i + 1, MLX5R_CQE_RESP_ERR, known[i].syndrome, (uint16_t)i);
		bad += xv_poll_cq(&cq, 2, wc) != 2 || wc[0].status != known[i].status ||
		       wc[1].status != known[i].status || wc[0].wr_id != i ||
		       wc[1].wr_id != i + 100 || wc[0].vendor_err != 0x68;
	}
	ok(!bad, "%u syndromes of requester and responder", n);
}

static void test_recv(void)
{
	static const struct xv_sge list[3] = {
		{ 0x1000, 8, 1 }, { 0x2000, 0, 2 }, { 0x3000, 16, 3 },
	};
	struct xv_recv_wr *bad, wr = {
		.wr_id = 51, .sg_list = (struct xv_sge *)list, .num_sge = 2,
	};
	struct xv_wc wc[4];
	int i;

	setup(XV_QPT_RC, 0xffff, 6);
	ok(!xv_wr_recv(&qp, 50, &sge) &&
	   holds(rq_ring, sizeof(rq_ring), 3 * 32, DATA "00000000 00000100 0000000000000000"),
	   "receive with one element in a WQE for two");
	ok(!xv_post_recv(&qp, &wr, &bad) &&
	   holds(rq_ring, sizeof(rq_ring), 0, "00000008 00000001 0000000000001000"
		 "00000000 00000100 0000000000000000"), "receive without the empty element");
	ok(qp_rec[MLX5R_DBR_RCV] == xv_be32(1), "doorbell record wraps at 2^16");
	wr.num_sge = 3;
	ok(xv_post_recv(&qp, &wr, &bad) == -XV_EINVAL && bad == &wr, "too many elements: EINVAL");
	for (i = 0; !xv_wr_recv(&qp, 60, &sge); i++)
		;
	ok(i == RQ_WQES - 2 && xv_wr_recv(&qp, 60, &sge) == -XV_ENOMEM, "queue full: ENOMEM");

	complete(0, MLX5R_CQE_RESP_SEND_IMM, 0, 0xffff);
	complete(1, MLX5R_CQE_RESP_WR_IMM, 0, 0);
	complete(2, MLX5R_CQE_RESP_ERR, MLX5R_SYND_LOCAL_PROT, 1);
	ok(xv_poll_cq(&cq, 4, wc) == 3, "three completions");
	ok(wc[0].wr_id == 50 && wc[0].opcode == XV_WC_RECV && wc[0].wc_flags == XV_WC_WITH_IMM &&
	   wc[0].imm_data == xv_be32(0xabcd) && wc[0].src_qp == 0x456, "receive with immediate");
	ok(wc[1].wr_id == 51 && wc[1].opcode == XV_WC_RECV_RDMA_WITH_IMM, "write with immediate");
	ok(wc[2].status == XV_WC_LOC_PROT_ERR && wc[2].wr_id == 60 && wc[2].vendor_err == 0x68,
	   "error with vendor syndrome");
	ok(!xv_wr_recv(&qp, 70, &sge), "the queue has room again");
}

static void test_srq(void)
{
	struct xv_recv_wr *bad, wr = {
		.wr_id = 80, .sg_list = (struct xv_sge *)&sge, .num_sge = 1,
	};
	struct xv_wc wc[4];
	int i;

	setup(XV_QPT_RC, 0, 6);
	srq = (struct xv_srq) { .buf = srq_ring, .wr_id = srq_wr_id, .dbrec = srq_rec,
		.tail = SRQ_WQES - 1, .mask = SRQ_WQES - 1, .max_sge = 2, .log_stride = 6 };
	for (i = 0; i < SRQ_WQES; i++)
		__xv_srq_entry(&srq, (uint32_t)i)->next_wqe_index = xv_be16((i + 1) % SRQ_WQES);
	qp.srq = &srq;
	for (i = 0; !xv_post_srq_recv(&srq, &wr, &bad); i++)
		wr.wr_id++;
	ok(i == SRQ_WQES - 1 && srq_rec[0] == xv_be32(3), "SRQ full after %d", i);
	ok(holds(srq_ring, sizeof(srq_ring), 0, "00000001 00000000 0000000000000000" DATA
		 "00000000 00000100 0000000000000000"), "SRQ entry: next index, data segment, end");
	complete(0, MLX5R_CQE_RESP_SEND, 0, 1);
	complete(1, MLX5R_CQE_RESP_SEND, 0, 0);
	ok(xv_poll_cq(&cq, 4, wc) == 2 && wc[0].wr_id == 81 && wc[1].wr_id == 80,
	   "SRQ entries complete in any order");
	ok(srq.tail == 0 && __xv_srq_entry(&srq, 3)->next_wqe_index == xv_be16(1) &&
	   __xv_srq_entry(&srq, 1)->next_wqe_index == 0, "SRQ entries return to the list");
}

/* Completions in turn: of a send, and of receives of an SRQ, a DC target and an XRC SRQ */
static void test_queues(void)
{
	static struct xv_dct dct = { .rsc = { XV_RSC_DCT, 0x2005 }, .srq = &srq };
	struct xv_wc_queues q[4];
	uint64_t times[4];
	struct xv_wc wc[4];

	setup(XV_QPT_RC, 0, 6);
	memset(srq_ring, 0, sizeof(srq_ring));
	srq = (struct xv_srq) {
		.rsc.type = XV_RSC_SRQ, .buf = srq_ring, .wr_id = srq_wr_id, .dbrec = srq_rec,
		.mask = SRQ_WQES - 1, .max_sge = 1, .log_stride = 6, .tail = 3,
	};
	qp.srq = &srq;
	leaf[5] = &dct.rsc;
	leaf[6] = &srq.rsc;
	xv_wr_send(&qp, 90, XV_SEND_SIGNALED, &sge);
	complete(0, MLX5R_CQE_REQ, 0, 0);
	complete(1, MLX5R_CQE_RESP_SEND, 0, 0);
	complete(2, MLX5R_CQE_RESP_SEND, 0, 1);
	complete(3, MLX5R_CQE_RESP_ERR, MLX5R_SYND_LOCAL_PROT, 2);
	((struct mlx5r_cqe *)(void *)cq_ring)[2].srqn_uidx = xv_be32(0x2005);
	((struct mlx5r_cqe *)(void *)cq_ring)[3].srqn_uidx = xv_be32(0x2006);
	ok(xv_poll_cq_queues(&cq, 4, wc, times, q) == 4, "completions with their queues");
	ok(q[0].qp == &qp && !q[0].srq && !q[0].dct, "a send has its queue pair");
	ok(q[1].qp == &qp && q[1].srq == &srq && !q[1].dct, "a receive also its SRQ");
	ok(!q[2].qp && q[2].srq == &srq && q[2].dct == &dct, "DC target and its SRQ");
	ok(!q[3].qp && q[3].srq == &srq && !q[3].dct && wc[3].status == XV_WC_LOC_PROT_ERR,
	   "XRC SRQ");
	leaf[5] = leaf[6] = NULL;
}

static void test_in_place(void)
{
	const struct mlx5r_cqe *cqe;
	int bad = 0, n = 0;

	setup(XV_QPT_RC, 0, 6);
	xv_wr_send(&qp, 90, XV_SEND_SIGNALED, &sge);
	xv_wr_send(&qp, 91, XV_SEND_SIGNALED, &sge);
	complete(0, MLX5R_CQE_REQ, 0, 0);
	complete(1, MLX5R_CQE_REQ_ERR, MLX5R_SYND_REMOTE_ACCESS, 1);
	while ((cqe = xv_cq_next(&cq))) {
		bad += xv_cqe_wr_id(&cq, cqe) != 90u + (uint32_t)n;
		bad += xv_cqe_status(cqe) != (n ? XV_WC_REM_ACCESS_ERR : XV_WC_SUCCESS);
		bad += !xv_cqe_is_send(cqe) || xv_cqe_qpn(cqe) != 0x123;
		bad += n ? xv_cqe_err(cqe)->vendor_err_synd != 0x68 :
			   xv_cqe_byte_len(cqe) != 64 || xv_cqe_src_qp(cqe) != 0x456 ||
			   xv_cqe_imm(cqe) != xv_be32(0xabcd);
		xv_cq_done(&cq, cqe);
		n++;
	}
	xv_commit_cq(&cq);
	ok(n == 2 && !bad && qp.sq.ci == 2 && cq_rec[0] == xv_be32(2), "CQEs read in place");

	leaf[3] = NULL;
	cq.last_uidx = XV_RSC_NO_INDEX;
	complete(2, MLX5R_CQE_REQ, 0, 0);
	ok(xv_poll_cq(&cq, 1, &(struct xv_wc) { 0 }) == 0 && cq.ci == 3,
	   "CQE of a destroyed QP is skipped");
}

static void test_arm(void)
{
	setup(XV_QPT_RC, 0, 6);
	cq.ci = 0x1234567;
	cq.arm_sn = 6;
	xv_req_notify(&cq, 1);
	ok(cq_rec[1] == xv_be32(0x21234567) &&
	   !memcmp(&cq_bell, "\x21\x23\x45\x67\x00\x00\x00\x77", 8), "arm: solicited only");
}

static void test_raw(void)
{
	uint8_t nop[32] = { 0x01, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0x02, 0, 0, 0, 0x08 };

	setup(XV_QPT_RC, 2, 6);
	nop[28] = 0x77;
	ok(!xv_wr_raw(&qp, 5, nop) &&
	   sq_holds(2, "0100020f 00012302 00000008 00000000 00000000 00000000 00000000 77000000"),
	   "raw WQE: the library sets index and QP number");
	qp.sq.fm_ce_se = __XV_FM_CE_SE(MLX5R_FM_SMALL);
	xv_wr_raw(&qp, 6, nop);
	ok(!xv_wr_send(&qp, 7, 0, &sge) && sq_holds(4, "0000040a 00012302 00000020"),
	   "raw WQE: a small fence that is due is in the next WQE");
}

static void test_bind(void)
{
	struct xv_mr mr = { .lkey = 0x1122 };
	struct xv_mw mw = { .rkey = 0x3301, .type = XV_MW_TYPE_2 };
	struct xv_mw_bind_info info = { &mr, 0x700000, 0x2000,
		XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_WRITE };
	struct xv_send_wr *bad;

	setup(XV_QPT_RC, 6, 6);
	ok(!xv_wr_bind_mw(&qp, 5, XV_SEND_SIGNALED, &mw, 0x3302, &info) &&
	   sq_holds(6, "00000625 0001230c 00000008 00003301"
		    "b0000000 0004 0000 00000000203c6041 00000000000000000000000000000000"
		    "00000000000000000000000000000000"
		    "00003000 00012302 00000000 00000000 0000000000700000 0000000000002000"
		    "00000000 00000000000000000000000000000000 00000000 00000000 00000000"
		    "00002000 00001122 0000000000700000"), "bind of a type 2 window");
	ok(!xv_wr_send(&qp, 1, 0, &sge) && sq_holds(9, "0000090a 00012302 00000020"),
	   "the next WQE has the small fence");
	setup(XV_QPT_RC, 6, 6);
	ok(!xv_post_send(&qp, &(struct xv_send_wr) { .wr_id = 5, .opcode = XV_WR_BIND_MW,
			 .send_flags = XV_SEND_SIGNALED,
			 .bind_mw = { &mw, 0x3302, info } }, &bad) &&
	   sq_holds(6, "00000625 0001230c 00000008 00003301 b0000000 0004 0000 00000000203c6041") &&
	   sq_entry[6].wc_opcode == XV_WC_BIND_MW, "same WQE from a list");
	ok(!xv_post_send(&qp, &(struct xv_send_wr) { .opcode = XV_WR_LOCAL_INV,
			 .invalidate_rkey = 0x3302 }, &bad) &&
	   sq_holds(9, "00000925 00012308 00000020 00003302 98000000") &&
	   sq_entry[9 % SQ_BBS].wc_opcode == XV_WC_LOCAL_INV, "local invalidate by list");
	ok(!xv_post_send(&qp, &(struct xv_send_wr) { .opcode = XV_WR_SEND_WITH_INV, .num_sge = 1,
			 .sg_list = (struct xv_sge *)&sge, .invalidate_rkey = 0x01020304 }, &bad) &&
	   sq_holds(11, "00000b01 00012302 00000020 01020304" DATA),
	   "send with invalidate by list");
	setup(XV_QPT_RC, 10, 6);
	ok(!xv_wr_local_inv(&qp, 5, 0, 0x3302) &&
	   sq_holds(10, "00000a25 00012308 00000000 00003302 98000000 0000 0000 0000000020006000"),
	   "local invalidate");
}

/* Indirect keys: control segments, context and list, bytes of rdma-core and the PRM */
static void test_umr(void)
{
	static uint8_t list[64];
	struct xv_mkey mkey = { .lkey = 0x3301, .max_entries = 60 };
	struct xv_sge region[2] = { { 0x700000, 0x123, 0x1122 }, { 0x800000, 0x456, 0x3344 } };
	struct xv_repeat_block block[1] = { { 0x700000, 0x1122, 0x60, 0x1000 } };
	struct xv_umr umr = { .mkey = &mkey, .base_addr = 0x5000, .num = 2, .regions = region,
			      .access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_READ };
	struct xv_send_wr *bad, wr = { .wr_id = 5, .opcode = XV_WR_UMR_FILL, .umr = &umr };

	setup(XV_QPT_RC, 6, 6);
	ok(!xv_wr_umr_fill(&qp, 5, XV_SEND_SIGNALED, &umr) &&
	   sq_holds(6, "00000625 0001230c 00000008 00003301"
		    "80000000 0004 0000 00000000203c0041 00000000000000000000000000000000"
		    "00000000000000000000000000000000"
		    "00001800 00000000 00000000 00000000 0000000000005000 0000000000000579"
		    "00000000 00000000000000000000000000000000 00000000 00000000 00000000"
		    "00000123 00001122 0000000000700000 00000456 00003344 0000000000800000"
		    "00000000000000000000000000000000 00000000000000000000000000000000") &&
	   sq_entry[6].wc_opcode == XV_WC_DRIVER1, "a list of two regions");
	ok(!xv_wr_send(&qp, 1, 0, &sge) && sq_holds(9, "0000090a 00012302 00000020"),
	   "the next WQE has the small fence");
	umr.blocks = block;
	umr.num = 1;
	umr.repeat_count = 10;
	setup(XV_QPT_RC, 6, 6);
	ok(!xv_post_send(&qp, &wr, &bad) &&
	   sq_holds(6, "00000625 0001230c 00000000 00003301 80000000 0004") &&
	   sq_holds(7, "00001800 00000000 00000000 00000000 0000000000005000 00000000000003c0") &&
	   sq_holds(8, "00000060 00000400 0000000a 0000 0001 1000 0060 00001122 0000000000700000"
		    "00000000000000000000000000000000 00000000000000000000000000000000"),
	   "a repeating block, from a list of requests");
	umr.list = list;
	umr.list_addr = 0x9000;
	umr.list_lkey = 0x5566;
	setup(XV_QPT_RC, 6, 6);
	ok(!xv_wr_umr_fill(&qp, 5, 0, &umr) &&
	   sq_holds(6, "00000625 00012309 00000000 00003301 00000000 0004") &&
	   sq_holds(8, "00000040 00005566 0000000000009000") &&
	   !memcmp(list, "\0\0\0\x60\0\0\4\0\0\0\0\x0a\0\0\0\1\x10\0\0\x60\0\0\x11\x22", 24),
	   "a list in memory");
	wr.opcode = XV_WR_UMR_INVALIDATE;
	setup(XV_QPT_RC, 10, 6);
	ok(!xv_post_send(&qp, &wr, &bad) &&
	   sq_holds(10, "00000a25 00012308 00000000 00003301"
		    "80000000 0000 0000 0000000020000000") &&
	   sq_holds(11, "40000000 00000000 00000000 00000000 0000000000000000 0000000000000000"),
	   "invalidate");
	umr.list = NULL;
	umr.blocks = NULL;
	umr.num = 2;
	setup(XV_QPT_RC, SQ_BBS - 2, SQ_BBS - 2);
	ok(!xv_wr_umr_fill(&qp, 5, 0, &umr) &&
	   sq_holds(SQ_BBS - 1, "00001800 00000000 00000000 00000000 0000000000005000") &&
	   sq_holds(0, "00000123 00001122 0000000000700000"), "the list wraps to the ring's begin");
	setup(XV_QPT_UD, 6, 6);
	tap_is(xv_post_send(&qp, &wr, &bad), -XV_EINVAL, "not on UD");
}

int main(void)
{
	test_builders();
	test_blueflame();
	test_masked_atomics();
	test_small_shapes();
	test_fence_after_umr();
	test_lists();
	test_dc_builders();
	test_dc_lists();
	test_dc_poll();
	test_ud_and_xrc();
	test_xrc_response();
	test_poll(6);
	test_poll(7);
	test_syndromes();
	test_recv();
	test_srq();
	test_queues();
	test_in_place();
	test_arm();
	test_raw();
	test_bind();
	test_umr();
	return tap_done();
}
