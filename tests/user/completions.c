// SPDX-License-Identifier: GPL-2.0
/*
 * What completions carry: data in the completion instead of memory, which polling copies to the
 * elements of the request; time stamps.
 */
#include <unistd.h>
#include <infiniband/verbs.h>
#include "rig.h"

#define FLAGS	XV_SEND_SIGNALED
#define FROM	4096u		/* offsets in the buffers */
#define TO	8192u
#define GAP	300u		/* between the elements of a request */
#define ELEMENTS 3u

static struct rig r;
static uint32_t limit;		/* bytes of data in a completion */

static uint64_t now_ns(void)
{
	return (uint64_t)(xt_now() * 1e9);
}

/* Elements of odd lengths, with @bytes in all */
static void elements(int side, uint32_t bytes, struct xv_sge *sge)
{
	uint32_t i, n;

	for (i = 0; i < ELEMENTS; i++, bytes -= n) {
		n = i == ELEMENTS - 1 || bytes < 11 ? bytes : 11;
		sge[i] = rig_sge(&r, side, TO + i * GAP, n);
	}
}

/* Do the elements have the bytes at FROM of the other side, and no other byte is changed? */
static bool arrived(int side, const struct xv_sge *sge)
{
	const uint8_t *from = r.buf[!side] + FROM;
	uint8_t want[ELEMENTS * GAP];
	uint32_t i;

	memset(want, 0x5a, sizeof(want));
	for (i = 0; i < ELEMENTS; i++) {
		memcpy(want + i * GAP, from, sge[i].length);
		from += sge[i].length;
	}
	return !memcmp(r.buf[side] + TO, want, sizeof(want));
}

static void prepare(int side, uint32_t seed)
{
	memset(r.buf[side] + TO, 0x5a, ELEMENTS * GAP);
	rig_fill(r.buf[!side] + FROM, 256, seed);
}

/* The next completion, which carries @bytes of data or has it in memory */
static bool carries(struct xv_cq *cq, uint32_t bytes, struct xv_wc *wc)
{
	uint64_t deadline = now_ns() + 10000000000ull;
	const struct mlx5r_cqe *cqe;
	bool in_cqe;

	do {
		cqe = xv_cq_next(cq);
	} while (!cqe && now_ns() < deadline);
	if (!cqe)
		return false;
	in_cqe = xv_cqe_data(cqe);
	return xv_poll_cq(cq, 1, wc) == 1 && wc->status == XV_WC_SUCCESS &&
	       in_cqe == (bytes && bytes <= limit) && wc->byte_len == bytes;
}

static void post_receive(const struct xv_sge *sge, struct xv_srq *srq)
{
	struct xv_recv_wr *bad, wr = { .wr_id = 7, .sg_list = (struct xv_sge *)sge,
				       .num_sge = ELEMENTS };

	if (srq ? xv_post_srq_recv(srq, &wr, &bad) : xv_post_recv(r.qp[1], &wr, &bad))
		bail_out("receive");
}

static bool send_arrives(struct xv_qp *qp, struct xv_cq *cq, struct xv_srq *srq, uint32_t bytes)
{
	struct xv_sge from = rig_sge(&r, 0, FROM, bytes), to[ELEMENTS];
	struct xv_wc wc;

	prepare(1, bytes);
	elements(1, bytes, to);
	post_receive(to, srq);
	xv_wr_send_imm(qp, 1, FLAGS, &from, xv_be32(bytes));
	xv_commit_send(qp);
	return rig_expect(r.cq[0], 1, XV_WC_SUCCESS) && carries(cq, bytes, &wc) &&
	       wc.wr_id == 7 && wc.opcode == XV_WC_RECV && wc.wc_flags == XV_WC_WITH_IMM &&
	       wc.imm_data == xv_be32(bytes) && arrived(1, to);
}

static void test_receives(void)
{
	uint32_t n, bad = 0;

	for (n = 0; n <= 70; n++)
		bad += !send_arrives(r.qp[0], r.cq[1], NULL, n);
	tap_is(bad, 0, "receives of 0 to 70 bytes");
}

static void test_reads(void)
{
	uint32_t n, bad = 0;

	for (n = 0; n <= 70; n++) {
		struct xv_sge to[ELEMENTS];
		struct xv_send_wr *last, wr = {
			.sg_list = to, .num_sge = ELEMENTS, .opcode = XV_WR_RDMA_READ,
			.send_flags = FLAGS, .wr.rdma = { rig_addr(&r, 1, FROM), r.mr[1]->rkey },
		};
		struct xv_wc wc;

		prepare(0, n);
		elements(0, n, to);
		bad += xv_post_send(r.qp[0], &wr, &last) || !carries(r.cq[0], n, &wc) ||
		       wc.opcode != XV_WC_RDMA_READ || !arrived(0, to);
	}
	tap_is(bad, 0, "reads of 0 to 70 bytes");
}

static void test_atomics(void)
{
	struct xv_sge sge = rig_sge(&r, 0, TO, 8), wide = rig_sge(&r, 0, TO, 32);
	uint64_t *word = (uint64_t *)(r.buf[1] + FROM), zero[4] = { 0 };
	struct xv_cmp_swap cs = { (uintptr_t)zero, (uintptr_t)zero, (uintptr_t)zero,
				  (uintptr_t)zero };
	struct xv_fetch_add fa = { 1, 0 };
	struct xv_device_attr device;
	struct xv_wc wc;
	uint64_t old;

	*word = 40;
	xv_wr_atomic_fa(r.qp[0], 1, FLAGS, &sge, rig_addr(&r, 1, FROM), r.mr[1]->rkey, 2);
	xv_commit_send(r.qp[0]);
	ok(carries(r.cq[0], 8, &wc) && wc.opcode == XV_WC_FETCH_ADD &&
	   !memcmp(r.buf[0] + TO, &(uint64_t) { 40 }, 8) && *word == 42, "fetch and add");
	if (xv_query_device(r.side[0].ctx, &device) ||
	    !(device.ext_atom.atomic_arg_sizes & 32))
		return;
	xv_wr_masked_atomic_fa(r.qp[0], 1, FLAGS, &sge, rig_addr(&r, 1, FROM), r.mr[1]->rkey, 3,
			       &fa);
	xv_commit_send(r.qp[0]);
	ok(carries(r.cq[0], 8, &wc) && *word == 43, "masked fetch and add");
	memcpy(&old, r.buf[0] + TO, 8);
	tap_is(old, 42, "its result");
	rig_fill(r.buf[1] + FROM, 32, 9);
	xv_wr_masked_atomic_cs(r.qp[0], 1, FLAGS, &wide, rig_addr(&r, 1, FROM), r.mr[1]->rkey, 5,
			       &cs);
	xv_commit_send(r.qp[0]);
	old = carries(r.cq[0], 32, &wc) ?
	      xv_atomic_value(r.buf[0] + TO, 5, device.ext_atom.atomic_arg_sizes_be, 3) : 0;
	ok(old && !memcmp(r.buf[1] + FROM + 24, &old, 8), "masked compare and swap of 32 bytes");
}

/* A queue pair with an SRQ, and requests that wrap at the end of the ring */
static void test_srq(enum xv_srq_layout layout, uint32_t cqe_size)
{
	struct xv_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = ELEMENTS }, .layout = layout };
	struct xv_srq *srq = xv_create_srq(r.side[1].pd, &init);
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .cap = { .max_send_wr = 8, .max_send_sge = 1 },
		.max_inl_recv = 64,
	};
	struct xv_qp *qp[2];
	uint32_t n, bad = 0;

	attr.send_cq = attr.recv_cq = r.cq[0];
	qp[0] = xv_create_qp(r.side[0].pd, &attr);
	attr.send_cq = attr.recv_cq = r.cq[1];
	attr.srq = srq;
	attr.max_inl_recv = 1;
	qp[1] = xv_create_qp(r.side[1].pd, &attr);
	if (!srq || !qp[0] || !qp[1] ||
	    xt_connect_pair(qp[0], &r.side[0], qp[1], &r.side[1], NULL))
		bail_out("%s", xv_last_error());
	tap_is(attr.max_inl_recv, limit ? 32 : 0, "CQEs of %u bytes: 1 byte is asked for",
	       cqe_size);
	for (n = 0; n < 100; n++)
		bad += !send_arrives(qp[0], r.cq[1], srq, n % 2 ? n % 33 : 80 + n % 20);
	tap_is(bad, 0, "SRQ, layout %d", layout);
	xv_destroy_qp(qp[0]);
	xv_destroy_qp(qp[1]);
	xv_destroy_srq(srq);
}

/* ---- Time stamps ------------------------------------------------------------------- */

/* Polls one completion with its time. */
static uint64_t one_time(struct xv_wc *wc)
{
	uint64_t time = 0, deadline = now_ns() + 10000000000ull;

	while (!xv_poll_cq_ts(r.cq[0], 1, wc, &time) && now_ns() < deadline)
		;
	return time;
}

static struct ibv_context *open_ibverbs(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static uint64_t device_clock(struct ibv_context *ctx)
{
	struct ibv_values_ex v = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	if (ibv_query_rt_values_ex(ctx, &v))
		return 0;
	return (uint64_t)v.raw_clock.tv_sec * 1000000000ull + (uint64_t)v.raw_clock.tv_nsec;
}

/* Time stamps are those of the clock that libibverbs reads. */
static void test_same_clock(void)
{
	struct xv_sge sge = rig_sge(&r, 0, FROM, 8);
	struct ibv_context *ctx = open_ibverbs(r.side[0].ctx->name);
	uint64_t before, now, time;
	struct xv_wc wc;
	int i, bad = 0;

	if (!ctx)
		bail_out("libibverbs does not open %s", r.side[0].ctx->name);
	for (i = 0; i < 100; i++) {
		before = device_clock(ctx);
		xv_wr_write(r.qp[0], 1, FLAGS, &sge, rig_addr(&r, 1, TO), r.mr[1]->rkey);
		xv_commit_send(r.qp[0]);
		time = one_time(&wc);
		bad += wc.status != XV_WC_SUCCESS || time < before || time > device_clock(ctx);
		before = device_clock(ctx);
		bad += xv_read_clock(r.side[0].ctx, &now) || now < before ||
		       now > device_clock(ctx);
	}
	tap_is(bad, 0, "time stamps and the clock are between two readings by libibverbs");
	ibv_close_device(ctx);
}

/* The CQE tells whether it has a time; that of a failed request has the error there. */
static void test_opcodes(void)
{
	struct xv_sge sge = rig_sge(&r, 0, FROM, 8);
	const struct mlx5r_cqe *cqe;
	uint32_t bad_key;

	for (bad_key = 0; bad_key < 2; bad_key++) {
		double until = xt_now() + 10;

		xv_wr_write(r.qp[0], 1, FLAGS, &sge, rig_addr(&r, 1, TO), r.mr[1]->rkey ^ bad_key);
		xv_commit_send(r.qp[0]);
		while (!(cqe = xv_cq_next(r.cq[0])) && xt_now() < until)
			;
		if (!cqe)
			bail_out("no completion");
		ok(xv_cqe_opcode(cqe) == (bad_key ? MLX5R_CQE_REQ_ERR : MLX5R_CQE_REQ) &&
		   xv_cqe_has_timestamp(cqe) == !bad_key,
		   "a request that %s", bad_key ? "failed has no time" : "succeeded has a time");
		xv_cq_done(r.cq[0], cqe);
		xv_commit_cq(r.cq[0]);
	}
}

static void test_times(void)
{
	struct xv_sge sge = rig_sge(&r, 0, FROM, 8);
	uint64_t first = 0, last = 0, time, before, elapsed;
	struct xv_device_attr device;
	struct xv_wc wc;
	int i, bad = 0;

	if (xv_query_device(r.side[0].ctx, &device) || !device.hca_core_clock) {
		tap_skip("times of completions", "the device has no clock");
		return;
	}
	test_same_clock();
	before = now_ns();
	for (i = 0; i < 200; i++, last = time) {
		xv_wr_write(r.qp[0], 1, FLAGS, &sge, rig_addr(&r, 1, TO), r.mr[1]->rkey);
		xv_commit_send(r.qp[0]);
		time = one_time(&wc);
		bad += wc.status != XV_WC_SUCCESS || time <= last;
		if (!i)
			first = time;
		usleep(500);
	}
	elapsed = now_ns() - before;
	last = (uint64_t)((double)(last - first) * 1e6 / (double)device.hca_core_clock);
	tap_is(bad, 0, "time stamps grow");
	ok(last < elapsed && last > elapsed / 2, "they count %llu ns in %llu",
	   (unsigned long long)last, (unsigned long long)elapsed);
	xv_wr_write(r.qp[0], 1, FLAGS, &sge, 0, r.mr[1]->rkey ^ 1);
	xv_commit_send(r.qp[0]);
	time = one_time(&wc);
	ok(wc.status == XV_WC_REM_ACCESS_ERR && !time, "a failed request has no time");
}

int main(int argc, char **argv)
{
	static const struct {
		uint32_t cqe_size, wanted, limit;
	} t[] = {
		{ 64, 0, 0 }, { 64, 32, 32 }, { 64, 64, 32 }, { 128, 32, 32 }, { 128, 64, 64 },
	};
	struct rig_opts opts;
	size_t i;

	rig_devices(argc, argv);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		opts = (struct rig_opts) { .cqe_size = t[i].cqe_size, .inl_recv = t[i].wanted,
					   .inl_resp = t[i].wanted, .atomic_arg = 32 };
		limit = t[i].limit;
		rig_open(&r, &opts);
		ok(t[i].cqe_size == 64 ||
		   rig_feature(r.side[0].ctx, "cq-128-byte-entries")->available,
		   "the device has entries of %u bytes", t[i].cqe_size);
		diag("CQEs of %u bytes, %u bytes of data", t[i].cqe_size, limit);
		test_receives();
		test_reads();
		test_atomics();
		if (t[i].wanted == 32) {
			test_srq(XV_SRQ_LINKED_LIST, t[i].cqe_size);
			test_srq(XV_SRQ_CONTIGUOUS, t[i].cqe_size);
		}
		if (!limit) {
			test_times();
			rig_reconnect(&r, &opts);
			test_opcodes();
		}
		rig_close(&r);
	}
	return tap_done();
}
