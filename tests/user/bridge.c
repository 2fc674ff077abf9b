// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of libxverbs with memory of libibverbs: all operations with data checks, with
 * work requests and completions of libibverbs, without system calls.
 */
#include <arpa/inet.h>
#include <unistd.h>
#include "bridge.h"

enum { LEN = 10000, OWN = 12347, QKEY = 0x1234567 };

static void clear(void)
{
	rig_fill(end[0].buf, MEM_BYTES, 1);
	memset(end[1].buf, 0, MEM_BYTES);
}

/* LEN bytes of pattern 1 at the start of end 1, and nothing after them */
static bool arrived(void)
{
	return rig_check(end[1].buf, LEN, 1) && !end[1].buf[LEN];
}

static void test_import(void)
{
	struct xv_context *ctx = xv_bridge_import_ctx(end[0].ibv);
	struct xv_pd *again;

	ok(ctx && !strcmp(ctx->name, rig_device(0)), "a context for the same device");
	NEED(ctx);
	again = xv_bridge_import_pd(ctx, end[0].ibv_pd);
	ok(again && again->pdn == ibv_pdn(end[0].ibv_pd), "its number is that of libmlx5");
	ok(end[0].pd->pdn == again->pdn, "the same protection domain in two contexts");
	ok(!xv_close(ctx), "the second context is closed");
}

static void test_write(void)
{
	struct ibv_sge sge = at(0, 0, LEN);
	struct ibv_send_wr wr = rdma(1, IBV_WR_RDMA_WRITE, &sge, 0);

	clear();
	ok(runs(&wr, IBV_WC_SUCCESS) && arrived(), "write");
}

static void post_recv(uint64_t wr_id, size_t offset, uint32_t length)
{
	struct ibv_sge sge = at(1, offset, length);
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	NEED(!xv_bridge_post_recv(end[1].qp, &wr, &bad));
}

static void test_write_imm(void)
{
	struct ibv_sge sge = at(0, 0, LEN);
	struct ibv_send_wr wr = rdma(2, IBV_WR_RDMA_WRITE_WITH_IMM, &sge, 0);
	struct ibv_wc wc;

	clear();
	post_recv(20, LEN, 8);
	wr.imm_data = htonl(0xcafe);
	ok(runs(&wr, IBV_WC_SUCCESS) && arrived(), "write with immediate data");
	ok(take(1, 20, IBV_WC_SUCCESS, &wc) && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
	   wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == htonl(0xcafe) && wc.byte_len == LEN,
	   "its receive: opcode, immediate data, length");
}

static void test_read(void)
{
	struct ibv_sge sge = at(0, 0, LEN);
	struct ibv_send_wr wr = rdma(3, IBV_WR_RDMA_READ, &sge, 500);

	memset(end[0].buf, 0, MEM_BYTES);
	rig_fill(end[1].buf, MEM_BYTES, 2);
	ok(runs(&wr, IBV_WC_SUCCESS) && !memcmp(end[0].buf, end[1].buf + 500, LEN) &&
	   !end[0].buf[LEN], "read");
}

static void test_atomic(void)
{
	struct ibv_sge sge = at(0, 0, 8);
	struct ibv_send_wr wr = rdma(4, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 0);
	uint64_t *here = (void *)end[0].buf, *there = (void *)end[1].buf;

	clear();
	*there = 41;
	wr.wr.atomic.remote_addr = (uintptr_t)there;
	wr.wr.atomic.compare_add = 2;
	wr.wr.atomic.rkey = end[1].mr->rkey;
	ok(runs(&wr, IBV_WC_SUCCESS) && *here == 41 && *there == 43, "fetch and add");
}

static void test_send(void)
{
	struct ibv_sge list[3] = { at(0, 0, 1000), at(0, 1000, 8000), at(0, 9000, LEN - 9000) };
	struct ibv_send_wr wr = rdma(5, IBV_WR_SEND, list, 0);
	struct ibv_wc wc;

	clear();
	post_recv(50, 0, 2 * LEN);
	wr.num_sge = 3;
	ok(runs(&wr, IBV_WC_SUCCESS) && take(1, 50, IBV_WC_SUCCESS, &wc) && arrived() &&
	   wc.opcode == IBV_WC_RECV && wc.byte_len == LEN, "send of a list of three");

	clear();
	post_recv(51, 0, 100);
	wr = rdma(6, IBV_WR_SEND, list, 0);
	list[0].length = 40;
	list[0].lkey = 0;
	wr.send_flags |= IBV_SEND_INLINE;
	ok(runs(&wr, IBV_WC_SUCCESS) && take(1, 51, IBV_WC_SUCCESS, &wc) &&
	   rig_check(end[1].buf, 40, 1) && !end[1].buf[40] && wc.byte_len == 40,
	   "send of inline data");
}

/* The list stops at the request that cannot be posted. */
static void test_bad_request(void)
{
	struct ibv_sge sge = at(0, 0, 64);
	struct ibv_send_wr wr[3], *bad = NULL;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 3; i++) {
		wr[i] = rdma(70 + i, IBV_WR_RDMA_WRITE, &sge, 0);
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	wr[2].opcode = (enum ibv_wr_opcode)77;
	ok(xv_bridge_post_send(end[0].qp, wr, &bad) == -EINVAL && bad == &wr[2],
	   "a list with an unknown operation at its end");
	ok(take(0, 70, IBV_WC_SUCCESS, &wc) && take(0, 71, IBV_WC_SUCCESS, &wc) &&
	   !xv_bridge_poll_cq(end[0].cq, 1, &wc), "the requests before it run");
}

/* Memory of libxverbs in the same protection domain */
static void test_own_region(void)
{
	static uint8_t own[LEN];
	struct xv_mr *mr = xv_reg_mr(end[0].pd, own, LEN, XV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = { (uintptr_t)own, LEN, mr ? mr->lkey : 0 };
	struct ibv_send_wr wr = rdma(8, IBV_WR_RDMA_WRITE, &sge, 0);

	clear();
	rig_fill(own, LEN, 1);
	ok(mr && runs(&wr, IBV_WC_SUCCESS) && arrived(), "write from memory of xv_reg_mr()");
	ok(mr && !xv_dereg_mr(mr), "that memory is deregistered");
}

/* `rdma resource` shows one region of OWN bytes, with this owner. */
static bool tracked(const char *owner)
{
	char cmd[160];

	snprintf(cmd, sizeof(cmd), "rdma resource show mr > /tmp/bridge.$$ && "
		 "n=$(grep -c 'dev %s .*mrlen %d .*%s' /tmp/bridge.$$); rm /tmp/bridge.$$; "
		 "[ \"$n\" = 1 ]", rig_device(0), OWN, owner);
	return !system(cmd);
}

/*
 * A region moves from the protection domain of libibverbs to one of libxverbs and back. ib_core
 * takes regions of the one for those of a process, regions of the other for its own.
 */
static void test_moved_region(void)
{
	static uint8_t own[OWN];
	struct ibv_sge sge = { (uintptr_t)own, LEN, 0 };
	struct ibv_send_wr wr = rdma(14, IBV_WR_RDMA_WRITE, &sge, 0);
	struct xv_pd *plain = xv_alloc_pd(end[0].s.ctx), *again;
	struct xv_mr *mr = xv_reg_mr(end[0].pd, own, OWN, XV_ACCESS_LOCAL_WRITE);
	char pid[32];

	NEED(plain && mr);
	NEED((again = xv_bridge_import_pd(end[0].s.ctx, end[0].ibv_pd)));
	snprintf(pid, sizeof(pid), "pid %d ", (int)getpid());
	ok(tracked(pid), "rdma resource: the region of the process");
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_PD, plain, NULL, 0, 0) && tracked("\\[xverbs"),
	   "rdma resource: the region after it moved to a protection domain of libxverbs");
	sge.lkey = mr->lkey;
	ok(runs(&wr, IBV_WC_LOC_PROT_ERR), "its key belongs to that one");
	connect_ends();
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_PD, again, NULL, 0, 0) && tracked(pid) &&
	   !xv_dealloc_pd(plain), "and after it moved back");
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_PD, end[0].pd, NULL, 0, 0) && tracked(pid) &&
	   !xv_dealloc_pd(again), "and after it moved to another import");
	clear();
	rig_fill(own, LEN, 1);
	sge.lkey = mr->lkey;
	ok(runs(&wr, IBV_WC_SUCCESS) && arrived(), "write from it");
	ok(!xv_dereg_mr(mr), "that memory is deregistered");
}

/* A window of libibverbs, bound and invalidated by a queue of libxverbs */
static void test_window(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(end[1].ibv_pd, IBV_MW_TYPE_2);
	struct ibv_sge sge = at(0, 0, LEN);
	struct ibv_send_wr bind = { .wr_id = 90, .opcode = IBV_WR_BIND_MW,
				    .send_flags = IBV_SEND_SIGNALED }, wr, *bad;
	struct ibv_wc wc;

	NEED_IBV(mw);
	clear();
	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	bind.bind_mw.bind_info.mr = end[1].mr;
	bind.bind_mw.bind_info.addr = (uintptr_t)end[1].buf;
	bind.bind_mw.bind_info.length = LEN;
	bind.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	ok(!xv_bridge_post_send(end[1].qp, &bind, &bad) && take(1, 90, IBV_WC_SUCCESS, &wc) &&
	   wc.opcode == IBV_WC_BIND_MW, "a memory window of libibverbs is bound");
	wr = rdma(91, IBV_WR_RDMA_WRITE, &sge, 0);
	wr.wr.rdma.rkey = bind.bind_mw.rkey;
	ok(runs(&wr, IBV_WC_SUCCESS) && arrived(), "write through the window");
	wr = (struct ibv_send_wr) { .wr_id = 92, .opcode = IBV_WR_LOCAL_INV,
				    .send_flags = IBV_SEND_SIGNALED };
	wr.invalidate_rkey = bind.bind_mw.rkey;
	ok(!xv_bridge_post_send(end[1].qp, &wr, &bad) && take(1, 92, IBV_WC_SUCCESS, &wc),
	   "the window is invalidated");
	ok(!ibv_dealloc_mw(mw), "the window is deallocated");
}

static void test_srq(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct ibv_sge from = at(0, 0, LEN), to = at(1, 0, 2 * LEN);
	struct ibv_send_wr wr = rdma(10, IBV_WR_SEND, &from, 0), *bad;
	struct ibv_recv_wr rwr = { .wr_id = 100, .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct xv_srq *srq = xv_create_srq(end[1].pd, &attr);
	struct xv_qp *a = make_qp(&end[0], XV_QPT_RC, NULL), *b;
	struct ibv_wc wc;

	NEED(srq);
	b = make_qp(&end[1], XV_QPT_RC, srq);
	NEED(!xt_connect_pair(a, &end[0].s, b, &end[1].s, NULL));
	clear();
	ok(!xv_bridge_post_srq_recv(srq, &rwr, &bad_recv) && !xv_bridge_post_send(a, &wr, &bad) &&
	   take(0, 10, IBV_WC_SUCCESS, &wc) && take(1, 100, IBV_WC_SUCCESS, &wc) &&
	   wc.qp_num == b->qp_num && arrived(), "send to a shared receive queue");
	NEED(!xv_destroy_qp(a) && !xv_destroy_qp(b) && !xv_destroy_srq(srq));
}

static void start_ud(struct xv_qp *qp)
{
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	NEED(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY));
	a.qp_state = XV_QPS_RTR;
	NEED(!xv_modify_qp(qp, &a, XV_QP_STATE));
	a.qp_state = XV_QPS_RTS;
	NEED(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_SQ_PSN));
}

static void refused(struct xv_qp *qp, struct ibv_send_wr *wr, int err, const char *reason)
{
	struct ibv_send_wr *bad = NULL;

	xv_open("no-such-device");	/* an older reason */
	errno = 0;
	if (!ok(xv_bridge_post_send(qp, wr, &bad) == -err && bad == wr && errno == err &&
		!strncmp(xv_last_error(), "post send: ", 11) && strstr(xv_last_error(), reason),
		"refused: %s", reason))
		diag("%d: %s", errno, xv_last_error());
}

static void test_reasons(void)
{
	struct ibv_sge sge[DEPTH + 1] = { at(0, 0, 64) };
	struct ibv_send_wr wr = rdma(60, IBV_WR_RDMA_WRITE, sge, 0);
	struct xv_qp_init_attr dci = {
		.qp_type = XV_QPT_DCI, .send_cq = end[0].cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct xv_qp *qp = make_qp(&end[0], XV_QPT_RC, NULL);

	refused(qp, &wr, EINVAL, "in state RESET");
	NEED(!xv_destroy_qp(qp));
	wr.opcode = (enum ibv_wr_opcode)XV_WR_CQE_WAIT;
	refused(end[0].qp, &wr, EINVAL, "of libibverbs is not possible");
	wr.opcode = (enum ibv_wr_opcode)77;
	refused(end[0].qp, &wr, EINVAL, "opcode 77 of libibverbs");
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.num_sge = DEPTH + 1;
	refused(end[0].qp, &wr, EINVAL, "SGEs, the queue has");
	wr.num_sge = 1;
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	qp = make_qp(&end[0], XV_QPT_UD, NULL);
	start_ud(qp);
	refused(qp, &wr, EINVAL, "is not possible on this type");
	NEED(!xv_destroy_qp(qp));
	qp = xv_create_qp(end[0].pd, &dci);
	if (!qp)
		return;
	wr.opcode = IBV_WR_SEND;
	refused(qp, &wr, EINVAL, "of libibverbs is not possible");
	NEED(!xv_destroy_qp(qp));
}

static void test_datagram(void)
{
	struct xv_qp *a = make_qp(&end[0], XV_QPT_UD, NULL), *b = make_qp(&end[1], XV_QPT_UD, NULL);
	struct xv_ah_attr path = {
		.dlid = (uint16_t)end[1].s.attr.lid, .is_global = 1, .port_num = 1,
		.grh = { .dgid = end[1].s.gid, .sgid_index = (uint8_t)end[0].s.gid_index,
			 .hop_limit = 64 },
	};
	struct ibv_sge from = at(0, 0, 1000), to = at(1, 0, 2000);
	struct ibv_send_wr wr = rdma(11, IBV_WR_SEND_WITH_IMM, &from, 0), *bad;
	struct ibv_recv_wr rwr = { .wr_id = 110, .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct xv_ah *ah = xv_create_ah(end[0].pd, &path);
	struct ibv_wc wc;

	NEED(ah);
	start_ud(a);
	start_ud(b);
	clear();
	wr.imm_data = htonl(0xbeef);
	wr.wr.ud.ah = xv_bridge_ah(ah);
	wr.wr.ud.remote_qpn = b->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	ok(!xv_bridge_post_recv(b, &rwr, &bad_recv) && !xv_bridge_post_send(a, &wr, &bad) &&
	   take(0, 11, IBV_WC_SUCCESS, &wc) && take(1, 110, IBV_WC_SUCCESS, &wc) &&
	   wc.imm_data == htonl(0xbeef) && wc.byte_len == 1040 && wc.src_qp == a->qp_num &&
	   rig_check(end[1].buf + 40, 1000, 1), "datagram");
	NEED(!xv_destroy_ah(ah) && !xv_destroy_qp(a) && !xv_destroy_qp(b));
}

/* The kernel kills the process at a system call of this thread. */
static void write_sealed(void *result)
{
	struct ibv_sge sge = at(0, 0, LEN);
	struct ibv_send_wr wr = rdma(12, IBV_WR_RDMA_WRITE, &sge, 0), *bad;
	struct ibv_wc wc;
	int i, n = 0;

	for (i = 0; i < 100; i++) {
		if (xv_bridge_post_send(end[0].qp, &wr, &bad))
			break;
		while (!xv_bridge_poll_cq(end[0].cq, 1, &wc))
			;
		n += wc.status == IBV_WC_SUCCESS;
	}
	*(int *)result = n;
}

static void test_sealed(void)
{
	int n = 0;

	clear();
	xt_sealed_join(xt_sealed_start(write_sealed, &n, 0, NULL, 0));
	ok(n == 100 && arrived(), "100 writes without a system call");
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	open_end(0);
	open_end(1);
	connect_ends();
	test_import();
	test_write();
	test_write_imm();
	test_read();
	test_atomic();
	test_send();
	test_bad_request();
	test_reasons();
	test_own_region();
	test_moved_region();
	test_window();
	test_srq();
	test_datagram();
	test_sealed();
	close_end(0);
	close_end(1);
	return tap_done();
}
