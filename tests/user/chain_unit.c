// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of the requests that wait, enable and calculate, and of task lists, without an
 * adapter.  The expected bytes are taken from the tables of the formats.
 */
static unsigned int broken_rules;
#define XV_DP_CHECK(rule)	(broken_rules += !(rule))
#define XV_DP_REFUSE(err, ...)	(xv_dp_refused(err, __VA_ARGS__), -(err))

#include <stdarg.h>
#include <xverbs/dp.h>
#include "../../userlib/src/internal.h"
#include "tap.h"

/* The library's, without the rest of it */
static char last_error[200];

void xv_dp_refused(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, args);
	va_end(args);
	errno = err;
}

void xv_error_save(struct error_state *s)
{
	memcpy(s->text, last_error, sizeof(last_error));
}

int xv_set_error(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, args);
	va_end(args);
	return err < 0 ? err : -err;
}

#include "../../userlib/src/attr.c"
#include "../../userlib/src/task.c"

#define BBS	16

/* A queue pair in ordinary memory */
struct pair {
	struct qp qp;
	uint8_t ring[BBS * 64] __attribute__((aligned(64)));
	uint8_t rq_ring[BBS * 16];
	struct xv_sq_entry entry[BBS];
	uint64_t rq_wr_id[BBS];
	uint32_t record[2];
	uint64_t bell;
};

static struct context ctx;
static struct pair master, managed, other;
static struct cq cq;
static struct xv_qp *const m = &master.qp.pub, *const slave = &managed.qp.pub;

static const struct xv_sge sge = { 0x0000700000001000, 64, 0x1122 };
static const struct xv_sge operands[2] = {
	{ 0x0000700000001000, 16, 0x1122 }, { 0x0000700000002010, 16, 0x3344 },
};

static void make(struct pair *p, uint32_t qpn, uint32_t flags, uint32_t start)
{
	memset(p, 0, sizeof(*p));
	memset(p->ring, 0xee, sizeof(p->ring));
	p->qp.ctx = &ctx;
	p->qp.pub = (struct xv_qp) { .qp_num = qpn, .qp_type = XV_QPT_RC };
	p->qp.pub.sq = (struct xv_sq) {
		.buf = p->ring, .buf_end = p->ring + sizeof(p->ring), .entry = p->entry,
		.dbrec = p->record, .doorbell = &p->bell,
		.ctrl_qpn = (uint64_t)xv_be32(qpn << 8) << 32, .mask = BBS - 1, .room = BBS,
		.max_sge = 8, .pi = start, .ci = start, .limit = start, .flags = flags,
		.en = { .base = start, .max = start, .seen = start },
	};
	p->qp.pub.rq = (struct xv_rq) {
		.buf = p->rq_ring, .wr_id = p->rq_wr_id, .dbrec = p->record, .mask = BBS - 1,
		.room = BBS, .max_sge = 1, .log_stride = 4, .flags = flags,
	};
	p->qp.pub.sq.lock.on = p->qp.pub.rq.lock.on = 1;
}

static void setup(void)
{
	ctx.task_lock.on = 1;
	make(&master, 0x123, XV_QP_CROSS_CHANNEL, 5);
	make(&managed, 0x456, XV_QP_MANAGED_SEND | XV_QP_MANAGED_RECV, 0);
	make(&other, 0x789, 0, 0);
	memset(&cq, 0, sizeof(cq));
	cq.ctx = &ctx;
	cq.pub.cqn = 0x77;
	cq.pub.flags = XV_CQ_CROSS_CHANNEL;
}

/* Compares the ring of the master, from WQEBB i on, with the bytes in hex. */
static bool holds(uint32_t i, const char *hex)
{
	size_t at = i % BBS * 64, n = 0;
	unsigned int byte;
	int used;

	while (sscanf(hex, " %2x%n", &byte, &used) == 1) {
		if (master.ring[(at + n) % sizeof(master.ring)] != byte) {
			diag("byte %zu: %02x, expected %02x", n,
			     master.ring[(at + n) % sizeof(master.ring)], byte);
			return false;
		}
		hex += used;
		n++;
	}
	return n;
}

/* Posts n requests of one WQEBB and n2 of two to the managed queue. */
static void fill(int n, int n2)
{
	static const char text[80];

	while (n--)
		xv_wr_send(slave, 1, 0, &sge);
	slave->sq.max_inline = sizeof(text);
	while (n2--)
		xv_wr_send_inline(slave, 1, 0, text, sizeof(text));
}

static void test_absolute(void)
{
	setup();
	ok(!xv_wr_send_enable_index(m, 1, XV_SEND_SIGNALED, 0x456, 10) &&
	   holds(5, "00000517 00012302 00000008 00000000 00000000 00000000 0000000a 00000456"),
	   "enable sends: bytes of the example");
	ok(!xv_wr_wait_cq_pi(m, 1, 0, &cq.pub, 3) &&
	   holds(6, "0000060f 00012302 00000000 00000000 00000000 00000000 00000003 00000077"),
	   "wait for a CQ: bytes of the example");
	ok(!xv_wr_recv_enable_index(m, 1, 0, 0x456, 0x1fffe) &&
	   holds(7, "00000716 00012302 00000000 00000000 00000000 00000000 0000fffe 00000456"),
	   "enable receives: the index has 16 bits");
	ok(!xv_wr_wait_cq_pi(m, 1, XV_SEND_FENCE, &cq.pub, 0x1000002) &&
	   holds(8, "0000080f 00012302 00000080 00000000 00000000 00000000 00000002 00000077"),
	   "wait: the index has 24 bits");
	ok(m->sq.entry[8].wc_opcode == XV_WC_DRIVER1 && m->sq.pi == 9, "one WQEBB each");
	m->qp_type = XV_QPT_XRC_SEND;
	ok(!xv_wr_wait_cq_pi(m, 1, 0, &cq.pub, 3) &&
	   holds(9, "0000090f 00012303 00000000 00000000 00000000 00000000 00000000 00000000"
		    "00000000 00000000 00000003 00000077"), "XRC: with an XRC segment");
}

static void test_conditions(void)
{
	struct xv_wait_data d = { 0x0000700000001008, 0x1122, XV_WAIT_EQUAL,
				  0x0102030405060708, 0xff };

	setup();
	ok(!xv_wr_wait_data(m, 1, 0, &d) &&
	   holds(5, "0100050f 00012303 00000000 00000000 00000001 00001122 0000700000001008"
		    "0102030405060708 00000000000000ff"), "wait for data");
	d.condition = XV_WAIT_CYCLIC_BIGGER | XV_WAIT_INVERT | XV_WAIT_OR_FAIL;
	ok(!xv_wr_wait_data(m, 1, 0, &d) &&
	   holds(6, "0100060f 00012303 00000000 00000000 00000014 00001122 0000700000001009"),
	   "wait for data: inverted, or fail");
	ok(!xv_wr_wait_time(m, 1, XV_SEND_SIGNALED, 0x1122334455667788) &&
	   holds(7, "0200070f 00012303 00000008 00000000 00000005 00000000 0000000000000000"
		    "1122334455667788 ffffffffffffffff"), "wait for a time");
	d.condition = 6;
	ok(xv_wr_wait_data(m, 1, 0, &d) == -XV_EINVAL, "an unknown condition: EINVAL");
	d.condition = 0x40;
	ok(xv_wr_wait_data(m, 1, 0, &d) == -XV_EINVAL, "an unknown flag: EINVAL");
	d.condition = XV_WAIT_ALWAYS;
	d.addr |= 1;
	ok(xv_wr_wait_data(m, 1, 0, &d) == -XV_EINVAL && m->sq.pi == 8,
	   "an address that is not aligned: EINVAL");
}

static void test_calc(void)
{
	static const struct { struct xv_calc calc; unsigned int opmod; } ops[] = {
		{ { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_INT, 0 }, 1 },
		{ { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT, 0 }, 1 },
		{ { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_FLOAT, 0 }, 2 },
		{ { XV_CALC_OP_MAXLOC, XV_CALC_DATA_TYPE_UINT, 0 }, 3 },
		{ { XV_CALC_OP_BAND, XV_CALC_DATA_TYPE_UINT, 0 }, 4 },
		{ { XV_CALC_OP_BOR, XV_CALC_DATA_TYPE_INT, 0 }, 5 },
		{ { XV_CALC_OP_BXOR, XV_CALC_DATA_TYPE_UINT, 0 }, 6 },
		{ { XV_CALC_OP_MAXLOC, XV_CALC_DATA_TYPE_FLOAT, 0 }, 0 },
		{ { XV_CALC_OP_BAND, XV_CALC_DATA_TYPE_FLOAT, 0 }, 4 },
		{ { (enum xv_calc_op)5, XV_CALC_DATA_TYPE_INT, 0 }, 0 },
		{ { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_INT, (enum xv_calc_data_size)1 }, 0 },
	};
	int good = 1;
	const struct xv_sge half = { 0x0000700000001008, 8, 0x1122 }, cut[3] = {
		half, { 0, 0, 0 }, { 0x0000700000002001, 40, 0x3344 },
	};
	size_t i;

	setup();
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		good &= __xv_calc_opmod(&ops[i].calc) == ops[i].opmod;
	ok(good, "operation and type give the opmod");
	ok(!xv_wr_send_calc(m, 1, XV_SEND_SIGNALED, &ops[2].calc, operands, 2) &&
	   holds(5, "0200050a 00012303 00000008 00000000"
		    "00000010 00001122 0000700000001000 00000010 00003344 0000700000002010"),
	   "send with calculation");
	ok(!xv_wr_write_calc(m, 1, 0, &ops[4].calc, operands, 2, 0x1122334455667788, 0xaabbccdd) &&
	   holds(6, "04000608 00012304 00000000 00000000 1122334455667788 aabbccdd 00000000"
		    "00000010 00001122 0000700000001000 00000010 00003344 0000700000002010"),
	   "write with calculation");
	ok(xv_wr_send_calc(m, 1, 0, &ops[0].calc, &half, 1) == -XV_EINVAL,
	   "half an operand: EINVAL");
	ok(!xv_wr_send_calc(m, 1, 0, &ops[0].calc, cut, 3) &&
	   holds(7, "0100070a 00012303 00000000 00000000"
		    "00000008 00001122 0000700000001008 00000028 00003344 0000700000002001"),
	   "three operands in two elements, and an empty one");
	ok(xv_wr_send_calc(m, 1, 0, &ops[7].calc, operands, 2) == -XV_EINVAL &&
	   xv_wr_send_calc(m, 1, 0, &ops[0].calc, operands, 0) == -XV_EINVAL && m->sq.pi == 8,
	   "no such calculation, no operand: EINVAL");
}

static void test_vector_calc(void)
{
	struct xv_vector_calc v = { XV_VECTOR_MIN, XV_VECTOR_FLOAT64, 1024, 3, 1 };

	setup();
	ok(!xv_wr_send_vector_calc(m, 1, 0, &v, &sge) &&
	   holds(5, "ff00050a 00012304 00000000 00000000 06000000 00000000 00000000 06440003"
		    "00000000 00000000 0000000000000000 00000040 00001122 0000700000001000"),
	   "vector calculation: send");
	v = (struct xv_vector_calc) { XV_VECTOR_XOR, XV_VECTOR_UINT32, 64, 0x102, 0 };
	ok(!xv_wr_write_imm_vector_calc(m, 1, XV_SEND_SIGNALED, &v, &sge, 0x1122334455667788,
					0xaabbccdd, xv_be32(9)) &&
	   holds(6, "ff000609 00012305 00000008 00000009 1122334455667788 aabbccdd 00000000"
		    "05000000 00000000 00000000 01000102 00000000 00000000 0000000000000000"
		    "00000040 00001122 0000700000001000") && m->sq.pi == 8,
	   "vector calculation: write with immediate, two WQEBBs");
	v.chunk = 100;
	ok(xv_wr_send_vector_calc(m, 1, 0, &v, &sge) == -XV_EINVAL, "chunk of 100 bytes: EINVAL");
	v.chunk = 8192;
	v.type = (enum xv_vector_type)3;
	ok(xv_wr_send_vector_calc(m, 1, 0, &v, &sge) == -XV_EINVAL, "unknown type: EINVAL");
	v.type = XV_VECTOR_INT32;
	v.op = (enum xv_vector_op)0;
	ok(xv_wr_send_vector_calc(m, 1, 0, &v, &sge) == -XV_EINVAL, "operation 0: EINVAL");
}

/* The index of the last request of the master, which has one WQEBB */
static uint32_t last_index(void)
{
	const uint8_t *wqe = master.ring + (m->sq.pi - 1) % BBS * 64;
	uint32_t index;

	memcpy(&index, wqe + 24, sizeof(index));
	m->sq.ci = m->sq.pi;
	return xv_be32(index);
}

static uint32_t enable(uint32_t count, unsigned int flags)
{
	return xv_wr_send_enable(m, 1, flags, slave, count) ? ~0u : last_index();
}

static uint32_t enable_recv(uint32_t count, unsigned int flags)
{
	return xv_wr_recv_enable(m, 1, flags, slave, count) ? ~0u : last_index();
}

static uint32_t await(uint32_t count, unsigned int flags)
{
	return xv_wr_cqe_wait(m, 1, flags, &cq.pub, count) ? ~0u : last_index();
}

static void test_counts(void)
{
	const unsigned int last = XV_SEND_WAIT_EN_LAST;
	struct xv_sge one = { 0x1000, 8, 1 };
	int i;

	setup();
	fill(6, 0);
	tap_is(enable(2, last), 2, "three enables of 2 with LAST: the first");
	tap_is(enable(2, last), 4, "the second");
	tap_is(enable(2, last), 6, "the third");
	tap_is(enable(1, 0), ~0u, "more than are posted: EINVAL");
	setup();
	fill(6, 0);
	tap_is(enable(2, 0), 2, "three enables of 2, only the last with LAST: the first");
	tap_is(enable(2, 0), 2, "the second counts from the same point");
	tap_is(enable(1, last), 1, "the third too");
	tap_is(enable(1, 0), 3, "the next point is behind the greatest count");
	tap_is(enable(0, last), 6, "count 0: all that are posted");
	tap_is(enable(0, 0), 6, "count 0 with nothing new");
	setup();
	fill(1, 2);
	fill(1, 0);
	tap_is(enable(2, 0), 3, "two requests, one of them of two WQEBBs: index 3");
	tap_is(enable(4, 0), 6, "four requests: index 6");
	tap_is(enable(1, last), 1, "one: index 1");
	slave->sq.ci = 6;
	fill(0, 7);
	slave->sq.ci = 20;
	tap_is(enable(7, 0), 20, "counts over the end of the ring");
	fill(8, 0);
	tap_is(enable(8, 0), 21, "one more, which is remembered");
	tap_is(enable(2, 0), ~0u, "what must be counted again was overwritten: EINVAL");
	tap_is(enable(0, last), 28, "all can still be enabled");

	for (i = 0; i < 5; i++)
		xv_wr_recv(slave, 1, &one);
	tap_is(enable_recv(2, last), 2, "receives: 2");
	tap_is(enable_recv(2, 0), 4, "and 2");
	tap_is(enable_recv(4, 0), ~0u, "more than are posted: EINVAL");
	tap_is(enable_recv(0, last), 5, "count 0: all");
	tap_is(enable_recv(1, 0), ~0u, "nothing is left: EINVAL");

	tap_is(await(0, 0), 0xffffff, "wait for 0 of a new CQ: the index before the first");
	tap_is(await(1, 0), 0, "wait for 1 entry: index 0");
	tap_is(await(3, last), 2, "wait for 3: index 2");
	tap_is(await(1, last), 3, "and 1: index 3");
	tap_is(await(0, 0), 3, "and 0: index 3 again");
	tap_is(await(0, last), 3, "which moves nothing");
	tap_is(await(0x800001, 0), ~0u, "wait for more than half of the range: EINVAL");
	tap_is(await((uint32_t)-1, 0), ~0u, "wait for -1: EINVAL");
	tap_is(await(1, 0), 4, "the next entry: index 4");
	cq.pub.wait_base = 0xffffff;
	cq.pub.wait_max = 0;
	tap_is(await(2, 0), 0, "the index wraps");
}

static void test_refusals(void)
{
	struct xv_wait_data d = { 0x1000, 1, XV_WAIT_ALWAYS, 0, 0 };
	struct xv_qp *plain = &other.qp.pub;
	const struct xv_calc add = { 0 };

	setup();
	ok(xv_wr_cqe_wait(plain, 1, 0, &cq.pub, 1) == -XV_EINVAL &&
	   xv_wr_wait_cq_pi(plain, 1, 0, &cq.pub, 1) == -XV_EINVAL &&
	   xv_wr_send_enable(plain, 1, 0, slave, 0) == -XV_EINVAL &&
	   xv_wr_recv_enable(plain, 1, 0, slave, 0) == -XV_EINVAL &&
	   xv_wr_wait_data(plain, 1, 0, &d) == -XV_EINVAL &&
	   xv_wr_wait_time(plain, 1, 0, 1) == -XV_EINVAL &&
	   xv_wr_send_calc(plain, 1, 0, &add, operands, 2) == -XV_EINVAL && !plain->sq.pi,
	   "a queue pair without the flag CROSS_CHANNEL: EINVAL");
	ok(xv_wr_send_enable(m, 1, 0, plain, 0) == -XV_EINVAL &&
	   xv_wr_recv_enable(m, 1, 0, plain, 0) == -XV_EINVAL,
	   "enabling a queue that is not managed: EINVAL");
	cq.pub.flags = 0;
	ok(xv_wr_cqe_wait(m, 1, 0, &cq.pub, 1) == -XV_EINVAL &&
	   xv_wr_wait_cq_pi(m, 1, 0, &cq.pub, 1) == -XV_EINVAL && m->sq.pi == 5,
	   "waiting for a CQ without the flag: EINVAL");
	cq.pub.flags = XV_CQ_CROSS_CHANNEL;
	m->sq.ci = m->sq.pi - BBS;
	m->sq.limit = m->sq.pi;
	ok(xv_wr_cqe_wait(m, 1, XV_SEND_WAIT_EN_LAST, &cq.pub, 1) == -XV_ENOMEM &&
	   !cq.pub.wait_base && !cq.pub.wait_max, "a full queue: ENOMEM, the count is unchanged");
	m->sq.room = 0;
	ok(xv_wr_cqe_wait(m, 1, 0, &cq.pub, 1) == -XV_EINVAL, "a state without posting: EINVAL");
}

/* The same requests as with builders */
static void test_list(void)
{
	struct xv_send_wr wr[6] = {
		{ .wr_id = 1, .next = &wr[1], .opcode = XV_WR_CQE_WAIT,
		  .send_flags = XV_SEND_WAIT_EN_LAST, .wr.cqe_wait = { &cq.pub, 4 } },
		{ .wr_id = 2, .next = &wr[2], .opcode = XV_WR_SEND_ENABLE,
		  .wr.wqe_enable = { slave, 0 } },
		{ .wr_id = 3, .next = &wr[3], .opcode = XV_WR_WAIT_TIME, .wr.wait_time = { 7 } },
		{ .wr_id = 4, .next = &wr[4], .opcode = XV_WR_SEND, .num_sge = 2,
		  .sg_list = (struct xv_sge *)operands, .send_flags = XV_SEND_WITH_CALC,
		  .op.calc = { XV_CALC_OP_BXOR, XV_CALC_DATA_TYPE_UINT, 0 } },
		{ .wr_id = 5, .next = &wr[5], .opcode = XV_WR_SEND, .num_sge = 1,
		  .sg_list = (struct xv_sge *)&sge, .send_flags = XV_SEND_WITH_VECTOR_CALC,
		  .op.vector_calc = { XV_VECTOR_ADD, XV_VECTOR_INT32, 64, 2, 0 } },
		{ .wr_id = 6, .opcode = XV_WR_WAIT_CQ_PI, .wr.wait_cq_pi = { &cq.pub, 9 } },
	}, *bad = NULL;

	setup();
	fill(3, 0);
	ok(!xv_post_send(m, wr, &bad), "a list of six requests");
	ok(holds(5, "0000050f 00012302 00000000 00000000 00000000 00000000 00000003 00000077") &&
	   holds(6, "00000617 00012302 00000000 00000000 00000000 00000000 00000003 00000456") &&
	   holds(7, "0200070f 00012303") && holds(8, "0600080a 00012303") &&
	   holds(9, "ff00090a 00012304") && holds(10, "00000a0f 00012302"), "their bytes");
	ok(master.record[MLX5R_DBR_SND] == xv_be32(11) && master.bell, "one doorbell");
	wr[3].send_flags |= XV_SEND_INLINE;
	ok(xv_post_send(m, &wr[3], &bad) == -XV_EINVAL && bad == &wr[3],
	   "calculation with inline data: EINVAL");
	wr[3].send_flags = XV_SEND_WITH_CALC;
	wr[3].opcode = XV_WR_ATOMIC_FETCH_AND_ADD;
	ok(xv_post_send(m, &wr[3], &bad) == -XV_EINVAL, "atomic with calculation: EINVAL");
	wr[4].opcode = XV_WR_RDMA_READ;
	ok(xv_post_send(m, &wr[4], &bad) == -XV_EINVAL, "read with vector calculation: EINVAL");
	wr[5].opcode = (enum xv_wr_opcode)0x63;
	ok(xv_post_send(m, &wr[5], &bad) == -XV_EINVAL, "an unknown opcode: EINVAL");
}

/* ---- Task lists -------------------------------------------------------- */

static struct xv_send_wr to_managed[2] = {
	{ .wr_id = 1, .next = &to_managed[1], .opcode = XV_WR_SEND, .num_sge = 1,
	  .sg_list = (struct xv_sge *)&sge },
	{ .wr_id = 2, .opcode = XV_WR_SEND, .num_sge = 1, .sg_list = (struct xv_sge *)&sge },
};
static struct xv_send_wr to_master[3] = {
	{ .wr_id = 3, .next = &to_master[1], .opcode = XV_WR_CQE_WAIT,
	  .send_flags = XV_SEND_WAIT_EN_LAST, .wr.cqe_wait = { &cq.pub, 2 } },
	{ .wr_id = 4, .next = &to_master[2], .opcode = XV_WR_SEND_ENABLE,
	  .send_flags = XV_SEND_WAIT_EN_LAST,
	  .wr.wqe_enable = { &managed.qp.pub, 2 } },
	{ .wr_id = 5, .opcode = XV_WR_RECV_ENABLE, .send_flags = XV_SEND_WAIT_EN_LAST,
	  .wr.wqe_enable = { &managed.qp.pub, 0 } },
};
static struct xv_recv_wr to_recv = { .wr_id = 6, .num_sge = 1, .sg_list = (struct xv_sge *)&sge };

static struct xv_task tasks[4] = {
	{ .task_type = XV_TASK_SEND, .item = { &managed.qp.pub, { to_managed } },
	  .next = &tasks[1] },
	{ .task_type = XV_TASK_RECV, .item = { &managed.qp.pub, { .recv_wr = &to_recv } },
	  .next = &tasks[2] },
	{ .task_type = XV_TASK_SEND, .item = { &master.qp.pub, { to_master } }, .next = &tasks[3] },
	{ .task_type = XV_TASK_SEND, .item = { &other.qp.pub, { &to_managed[1] } } },
};

/* Nothing is locked, no index is changed, and no doorbell was rung. */
static bool untouched(void)
{
	return m->sq.pi == 5 && !slave->sq.pi && !slave->rq.pi && !other.qp.pub.sq.pi &&
	       !slave->sq.en.base && !slave->sq.en.max && !slave->rq.en_base &&
	       !cq.pub.wait_base && !cq.pub.wait_max && !master.bell && !other.bell &&
	       !master.record[0] && !managed.record[0] && !m->sq.lock.held &&
	       !slave->sq.lock.held && !slave->rq.lock.held &&
	       !other.qp.pub.sq.lock.held && !ctx.task_lock.held &&
	       !master.qp.task.used && !managed.qp.task.used && !cq.task.used;
}

static void test_tasks(void)
{
	struct xv_task *bad = NULL;
	struct context stranger;

	setup();
	ok(!xv_post_task(&ctx.pub, tasks, &bad), "a list over three queues");
	ok(slave->sq.pi == 2 && slave->rq.pi == 1 && m->sq.pi == 8 && other.qp.pub.sq.pi == 1 &&
	   holds(6, "00000617 00012302 00000000 00000000 00000000 00000000 00000002 00000456") &&
	   holds(7, "00000716 00012302 00000000 00000000 00000000 00000000 00000001 00000456"),
	   "its requests are in the rings");
	ok(managed.record[MLX5R_DBR_RCV] == xv_be32(1) && master.bell && other.bell &&
	   master.record[MLX5R_DBR_SND] == xv_be32(8), "records and doorbells");
	ok(!m->sq.lock.held && !slave->rq.lock.held && !ctx.task_lock.held, "no lock is held");

	setup();
	to_managed[1].num_sge = 9;
	ok(xv_post_task(&ctx.pub, tasks, &bad) == -XV_EINVAL && bad == &tasks[0] &&
	   bad->bad_send_wr == &to_managed[1] && untouched(),
	   "the first task fails: %s", last_error);
	to_managed[1].num_sge = 1;
	to_recv.num_sge = 2;
	ok(xv_post_task(&ctx.pub, tasks, &bad) == -XV_EINVAL && bad == &tasks[1] &&
	   bad->bad_recv_wr == &to_recv && untouched(), "the second: %s", last_error);
	to_recv.num_sge = 1;
	to_master[2].wr.wqe_enable.wqe_count = 2;
	ok(xv_post_task(&ctx.pub, tasks, &bad) == -XV_EINVAL && bad == &tasks[2] &&
	   bad->bad_send_wr == &to_master[2] && untouched(), "the third: %s", last_error);
	to_master[2].wr.wqe_enable.wqe_count = 0;
	other.qp.pub.sq.ci = (uint32_t)-BBS;
	ok(xv_post_task(&ctx.pub, tasks, &bad) == -XV_ENOMEM && bad == &tasks[3] && untouched(),
	   "the last: %s", last_error);
	other.qp.pub.sq.ci = 0;
	tasks[3].comp_mask = 1;
	ok(xv_post_task(&ctx.pub, tasks, &bad) == -XV_EINVAL && bad == &tasks[3] &&
	   !bad->bad_send_wr && untouched(), "comp_mask is not zero: EINVAL");
	tasks[3].comp_mask = 0;
	tasks[3].task_type = (enum xv_task_type)2;
	ok(xv_post_task(&ctx.pub, tasks, &bad) == -XV_EINVAL && untouched(),
	   "an unknown type of task: EINVAL");
	tasks[3].task_type = XV_TASK_SEND;
	other.qp.ctx = &stranger;
	ok(xv_post_task(&ctx.pub, tasks, &bad) == -XV_EINVAL && untouched(),
	   "a queue pair of another context: EINVAL");
	other.qp.ctx = &ctx;
	cq.ctx = &stranger;
	ok(xv_post_task(&ctx.pub, tasks, &bad) == -XV_EINVAL && bad->bad_send_wr == to_master &&
	   untouched(), "a CQ of another context: EINVAL");
	cq.ctx = &ctx;
	ok(!xv_post_task(&ctx.pub, NULL, &bad) && untouched(), "an empty list");
	ok(!xv_post_task(&ctx.pub, tasks, &bad) && m->sq.pi == 8, "then the list can be posted");
}

/* Programs of other versions have other sizes of a request. */
static void test_versions(void)
{
	struct { struct xv_send_wr wr; uint64_t unknown; } longer = {
		{ .wr_id = 1, .opcode = XV_WR_SEND, .num_sge = 1,
		  .sg_list = (struct xv_sge *)&sge },
		0,
	};
	struct xv_task task = { .task_type = XV_TASK_SEND,
				.item = { &other.qp.pub, { &longer.wr } } }, *bad = NULL;

	setup();
	ok(!xv_post_task_sz(&ctx.pub, &task, &bad, sizeof(longer)) && other.qp.pub.sq.pi == 1,
	   "a longer request with zeros is posted");
	longer.unknown = 1;
	ok(xv_post_task_sz(&ctx.pub, &task, &bad, sizeof(longer)) == -E2BIG && bad == &task,
	   "a longer request with an unknown member: E2BIG");
	ok(!xv_post_task_sz(&ctx.pub, &task, &bad, offsetof(struct xv_send_wr, bind_mw)),
	   "a shorter request is posted");
}

/* ---- Reuse of entries -------------------------------------------------- */

static void test_reuse(void)
{
	uint32_t mark;

	setup();
	fill(BBS, 0);
	mark = slave->sq.pi;
	ok(xv_wr_send(slave, 1, 0, &sge) == -XV_ENOMEM, "a full managed queue: ENOMEM");
	broken_rules = 0;
	xv_retire_send(slave, mark);
	ok(broken_rules == 1, "debug build: a request that is not enabled cannot be retired");
	slave->sq.ci = 0;
	enable(0, XV_SEND_WAIT_EN_LAST);
	xv_retire_send(slave, mark);
	ok(broken_rules == 1 && !xv_wr_send(slave, 1, 0, &sge), "retired requests make room");
	xv_retire_send(slave, mark - 1);
	ok(broken_rules == 2, "debug build: the consumer index does not go back");
	slave->sq.ci = mark;
	broken_rules = 0;
	xv_retire_send(slave, slave->sq.pi + 1);
	ok(broken_rules > 0, "debug build: a request that is not posted cannot be retired");

	setup();
	slave->sq.flags |= XV_QP_IGNORE_SQ_OVERFLOW;
	slave->rq.flags |= XV_QP_IGNORE_RQ_OVERFLOW;
	broken_rules = 0;
	fill(BBS, 0);
	ok(!broken_rules && slave->sq.pi == BBS, "overflow ignored: a ring of requests");
	fill(1, 0);
	ok(slave->sq.pi == BBS + 1 && broken_rules == 1,
	   "one more is posted; debug build: it overwrites one that may not have completed");
	for (mark = 0; mark < BBS; mark++)
		xv_wr_recv(slave, 1, &sge);
	ok(broken_rules == 1 && !xv_wr_recv(slave, 1, &sge) && broken_rules == 2,
	   "the same with receives");
	enable_recv(0, XV_SEND_WAIT_EN_LAST);
	broken_rules = 0;
	xv_retire_recv(slave, slave->rq.pi);
	ok(!broken_rules && !xv_wr_recv(slave, 1, &sge) && !broken_rules, "retired receives");
	xv_retire_recv(slave, slave->rq.pi);
	ok(broken_rules == 1, "debug build: a receive that is not enabled cannot be retired");
	slave->sq.room = 0;
	slave->sq.limit = slave->sq.pi;
	slave->rq.room = 0;
	ok(xv_wr_send(slave, 1, 0, &sge) == -XV_EINVAL &&
	   xv_wr_recv(slave, 1, &sge) == -XV_EINVAL,
	   "overflow ignored, state without posting: EINVAL");
}

int main(void)
{
	test_absolute();
	test_conditions();
	test_calc();
	test_vector_calc();
	test_counts();
	test_refusals();
	test_list();
	test_tasks();
	test_versions();
	test_reuse();
	return tap_done();
}
