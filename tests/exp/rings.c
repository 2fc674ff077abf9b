// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test: a request of the experimental verbs writes the same bytes to the ring as the builder
 * of libxverbs for it, without a system call.  The queues are in ordinary memory; a device is
 * needed only for a context, by which the library recognises its objects.
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../userlib/exp/exp.h"
#include "tap.h"

#define BBS	32

/* A queue pair in ordinary memory, with an object of libxverbs-ibverbs in front of it */
struct ring {
	struct qp pub;
	struct xv_qp xv;
	uint8_t buf[BBS * MLX5R_WQEBB] __attribute__((aligned(64)));
	struct xv_sq_entry entry[BBS];
	uint32_t record[2];
	uint64_t bell;
};

static struct xv_pd xpd;
static struct ibv_context *ctx;
static struct ring exp_ring, native, managed;
static struct cq cq;
static struct xv_cq xcq = { .flags = XV_CQ_CROSS_CHANNEL, .cqn = 0x77 };
static struct xv_ah xah = { .pd = &xpd };
static struct ah ah = { .xv = &xah };
static struct mr mr = { .pub = { .lkey = 0x1100, .rkey = 0x1100 } };
static struct xv_mkey xkey = { .lkey = 0x2200, .rkey = 0x2200, .max_entries = 64 };
static struct mr key = { .mkey = &xkey };
static uint8_t data[4096] __attribute__((aligned(64)));
static struct ibv_sge sge[2];
static const struct xv_sge *const xsge = (const struct xv_sge *)sge;

static void make(struct ring *r, enum xv_qp_type type, uint32_t flags, uint32_t start)
{
	memset(r, 0, sizeof(*r));
	memset(r->buf, 0xee, sizeof(r->buf));
	r->pub.xv = &r->xv;
	r->pub.pub.qp_base.context = ctx;
	r->xv = (struct xv_qp) { .qp_num = 0x123, .qp_type = type, .pd = &xpd };
	r->xv.sq = (struct xv_sq) {
		.buf = r->buf, .buf_end = r->buf + sizeof(r->buf), .entry = r->entry,
		.dbrec = r->record, .doorbell = &r->bell, .mask = BBS - 1, .room = BBS,
		.max_sge = 4, .max_inline = 64, .max_atomic_arg = 64, .pi = start, .ci = start,
		.limit = start, .flags = flags,
		.en = { .base = start, .max = start, .seen = start },
	};
}

static void setup(enum xv_qp_type type)
{
	make(&exp_ring, type, XV_QP_CROSS_CHANNEL, BBS - 2);
	make(&native, type, XV_QP_CROSS_CHANNEL, BBS - 2);
	make(&managed, XV_QPT_RC, XV_QP_MANAGED_SEND, 0);
	managed.xv.sq.pi = 1;
	managed.entry[0].end = 1;
	cq.xv = &xcq;
	xcq.wait_base = xcq.wait_max = 0;
	sge[0] = (struct ibv_sge) { (uintptr_t)data, 64, 0x1100 };
	sge[1] = (struct ibv_sge) { (uintptr_t)data + 256, 32, 0x1100 };
}

static struct ibv_exp_send_wr request(enum ibv_exp_wr_opcode opcode)
{
	return (struct ibv_exp_send_wr) {
		.wr_id = 0x55, .exp_opcode = opcode, .sg_list = sge, .num_sge = 1,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.wr.rdma = { 0x7000, 0x3300 },
		.dc = { &ah.pub, 0x1234567890ull, 0x99 },
	};
}

/* In a child that may only write and exit: 0 if no other system call was made */
static int without_calls(struct ibv_exp_send_wr *wr)
{
	struct ibv_exp_send_wr *bad;
	int status;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		ibv_exp_post_send(&exp_ring.pub.pub.qp_base, wr, &bad);
		syscall(SYS_exit, 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* Posts the request; the native one was built by the caller, with the result err. */
static void same(const char *what, struct ibv_exp_send_wr *wr, int err)
{
	struct ibv_exp_send_wr *bad = NULL;
	int status = without_calls(wr), got;

	xcq.wait_base = xcq.wait_max = 0;
	managed.xv.sq.en = (struct __xv_enabled) { 0 };
	got = ibv_exp_post_send(&exp_ring.pub.pub.qp_base, wr, &bad);
	xv_commit_send(&native.xv);
	if (!ok(!err && !got && !status && exp_ring.xv.sq.pi == native.xv.sq.pi &&
		!memcmp(exp_ring.buf, native.buf, sizeof(native.buf)) &&
		!memcmp(exp_ring.entry, native.entry, sizeof(native.entry)) &&
		exp_ring.bell == native.bell && exp_ring.record[1] == native.record[1], "%s", what))
		diag("results %d and %d, child %d, producer %u and %u", got, err, status,
		     exp_ring.xv.sq.pi, native.xv.sq.pi);
}

static void test_rc(void)
{
	struct ibv_exp_send_wr wr = request(IBV_EXP_WR_RDMA_WRITE);

	setup(XV_QPT_RC);
	same("write", &wr, xv_wr_write(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, 0x7000, 0x3300));
	wr = request(IBV_EXP_WR_RDMA_WRITE_WITH_IMM);
	wr.ex.imm_data = 0x01020304;
	same("write with immediate data", &wr,
	     xv_wr_write_imm(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, 0x7000, 0x3300, 0x01020304));
	wr = request(IBV_EXP_WR_SEND);
	wr.exp_send_flags = IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SOLICITED;
	same("send", &wr,
	     xv_wr_send(&native.xv, 0x55, XV_SEND_FENCE | XV_SEND_SOLICITED, xsge));
	wr = request(IBV_EXP_WR_SEND_WITH_INV);
	wr.ex.invalidate_rkey = 0x4455;
	same("send with invalidate", &wr,
	     xv_wr_send_inv(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, 0x4455));
	wr = request(IBV_EXP_WR_LOCAL_INV);
	wr.ex.invalidate_rkey = 0x4455;
	same("local invalidate", &wr,
	     xv_wr_local_inv(&native.xv, 0x55, XV_SEND_SIGNALED, 0x4455));
	wr = request(IBV_EXP_WR_RDMA_READ);
	same("read", &wr, xv_wr_read(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, 0x7000, 0x3300));
	wr = request(IBV_EXP_WR_RDMA_WRITE);
	wr.exp_send_flags |= IBV_EXP_SEND_INLINE;
	same("inline data", &wr, xv_wr_write_inline(&native.xv, 0x55, XV_SEND_SIGNALED, data, 64,
						    0x7000, 0x3300));
}

static void test_atomics(void)
{
	const struct xv_cmp_swap cs = { 1, 2, 3, 4 };
	const struct xv_fetch_add fa = { 5, 6 };
	struct ibv_exp_send_wr wr = request(IBV_EXP_WR_ATOMIC_CMP_AND_SWP);

	setup(XV_QPT_RC);
	sge[0].length = 8;
	wr.wr.atomic.remote_addr = 0x7000;
	wr.wr.atomic.compare_add = 8;
	wr.wr.atomic.swap = 9;
	wr.wr.atomic.rkey = 0x3300;
	same("compare and swap", &wr, xv_wr_atomic_cs(&native.xv, 0x55, XV_SEND_SIGNALED, xsge,
						      0x7000, 0x3300, 8, 9));
	wr = request(IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP);
	wr.exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
	wr.ext_op.masked_atomics.log_arg_sz = 3;
	wr.ext_op.masked_atomics.remote_addr = 0x8000;
	wr.ext_op.masked_atomics.rkey = 0x4400;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap =
		(struct ibv_exp_cmp_swap) { 1, 2, 3, 4 };
	same("masked compare and swap", &wr,
	     xv_wr_masked_atomic_cs(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, 0x8000, 0x4400, 3,
				    &cs));
	wr.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD;
	wr.ext_op.masked_atomics.wr_data.op.inline_data.fetch_add =
		(struct ibv_exp_fetch_add) { 5, 6 };
	same("fetch and add of fields", &wr,
	     xv_wr_masked_atomic_fa(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, 0x8000, 0x4400, 3,
				    &fa));
}

static void test_umr(void)
{
	size_t bytes = 100, stride = 4096, count = 7;
	struct ibv_exp_mem_region regions[5];
	struct ibv_exp_mem_repeat_block block = { 0x9000, &mr.pub, &bytes, &stride };
	struct xv_sge xregions[5];
	const struct xv_repeat_block xblock = { 0x9000, 0x1100, 100, 4096 };
	struct xv_umr umr = { .mkey = &xkey, .base_addr = 0x10000, .access = 0xf, .num = 5,
			      .regions = xregions };
	struct ibv_exp_send_wr wr = request(IBV_EXP_WR_UMR_FILL);
	int i;

	setup(XV_QPT_RC);
	for (i = 0; i < 5; i++) {
		regions[i] = (struct ibv_exp_mem_region) { 0x1000u * i, &mr.pub, 10 + i };
		xregions[i] = (struct xv_sge) { 0x1000u * i, 10 + i, 0x1100 };
	}
	wr.exp_send_flags |= IBV_EXP_SEND_INLINE;
	wr.ext_op.umr.modified_mr = &key.pub;
	wr.ext_op.umr.base_addr = 0x10000;
	wr.ext_op.umr.exp_access = 0xf;
	wr.ext_op.umr.num_mrs = 5;
	wr.ext_op.umr.mem_list.mem_reg_list = regions;
	same("UMR of regions", &wr, xv_wr_umr_fill(&native.xv, 0x55, XV_SEND_SIGNALED, &umr));
	wr.ext_op.umr.umr_type = IBV_EXP_UMR_REPEAT;
	wr.ext_op.umr.num_mrs = 1;
	wr.ext_op.umr.mem_list.rb.mem_repeat_block_list = &block;
	wr.ext_op.umr.mem_list.rb.repeat_count = &count;
	wr.ext_op.umr.mem_list.rb.stride_dim = 1;
	umr.num = 1;
	umr.blocks = &xblock;
	umr.repeat_count = 7;
	same("UMR of a repeating block", &wr,
	     xv_wr_umr_fill(&native.xv, 0x55, XV_SEND_SIGNALED, &umr));
	wr.exp_opcode = IBV_EXP_WR_UMR_INVALIDATE;
	same("UMR that invalidates", &wr,
	     xv_wr_umr_invalidate(&native.xv, 0x55, XV_SEND_SIGNALED, &xkey));
}

static void test_cross_channel(void)
{
	const struct xv_calc calc = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT,
				      XV_CALC_DATA_SIZE_64_BIT };
	struct ibv_exp_send_wr wr = request(IBV_EXP_WR_CQE_WAIT);

	setup(XV_QPT_RC);
	wr.exp_send_flags |= IBV_EXP_SEND_WAIT_EN_LAST;
	wr.task.cqe_wait.cq = (struct ibv_cq *)&cq;
	wr.task.cqe_wait.cq_count = 3;
	same("wait", &wr, xv_wr_cqe_wait(&native.xv, 0x55, XV_SEND_SIGNALED | XV_SEND_WAIT_EN_LAST,
					 &xcq, 3));
	wr.exp_opcode = IBV_EXP_WR_SEND_ENABLE;
	wr.task.wqe_enable.qp = &managed.pub.pub.qp_base;
	wr.task.wqe_enable.wqe_count = 1;
	same("enable", &wr, xv_wr_send_enable(&native.xv, 0x55,
					      XV_SEND_SIGNALED | XV_SEND_WAIT_EN_LAST,
					      &managed.xv, 1));
	sge[0].length = sge[1].length = 16;
	wr = request(IBV_EXP_WR_SEND);
	wr.num_sge = 2;
	wr.exp_send_flags |= IBV_EXP_SEND_WITH_CALC;
	wr.op.calc.data_type = IBV_EXP_CALC_DATA_TYPE_UINT;
	same("calculation", &wr,
	     xv_wr_send_calc(&native.xv, 0x55, XV_SEND_SIGNALED, &calc, xsge, 2));
}

static void test_addressees(void)
{
	const struct xv_dc to = { &xah, 0x1234567890ull, 0x99 };
	struct ibv_exp_send_wr wr = request(IBV_EXP_WR_RDMA_WRITE);

	setup(XV_QPT_DCI);
	same("DC: write", &wr, xv_wr_write_dc(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, 0x7000,
					      0x3300, &to));
	wr = request(IBV_EXP_WR_SEND);
	same("DC: send", &wr, xv_wr_send_dc(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, &to));
	wr = request(IBV_EXP_WR_CQE_WAIT);
	wr.dc.ah = NULL;
	wr.task.cqe_wait.cq = (struct ibv_cq *)&cq;
	wr.task.cqe_wait.cq_count = 1;
	same("DC: wait, which has no addressee", &wr,
	     xv_wr_cqe_wait(&native.xv, 0x55, XV_SEND_SIGNALED, &xcq, 1));
	setup(XV_QPT_UD);
	wr = request(IBV_EXP_WR_SEND);
	wr.wr.ud.ah = &ah.pub;
	wr.wr.ud.remote_qpn = 7;
	wr.wr.ud.remote_qkey = 8;
	same("UD: send", &wr, xv_wr_send_ud(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, &xah, 7, 8));
	setup(XV_QPT_XRC_SEND);
	wr.qp_type.xrc.remote_srqn = 9;
	same("XRC: send", &wr, xv_wr_send_xrc(&native.xv, 0x55, XV_SEND_SIGNALED, xsge, 9));
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!ctx)
		tap_skip_all("no device");
	ibv_free_device_list(list);
	ah.xv = &xah;
	ah.pub.context = cq.pub.context = mr.pub.context = key.pub.context = ctx;
	test_rc();
	test_atomics();
	test_umr();
	test_cross_channel();
	test_addressees();
	return tap_done();
}
