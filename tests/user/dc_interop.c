// SPDX-License-Identifier: GPL-2.0
/*
 * DC of libxverbs and of libmlx5 (mlx5dv) against each other, in both directions: each sends
 * all operations to a target of the other, and requests that fail.  libmlx5 is on --device,
 * libxverbs on --peer-device.
 */
#include <infiniband/mlx5dv.h>
#include <fcntl.h>
#include <sys/mman.h>
#include "dc.h"

enum { BYTES = 20000, SIZE = 65536 };

static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_ah *ah;		/* of the side of libxverbs */
	struct ibv_qp *dci;
	struct ibv_qp *dct;
	uint8_t *buf;
} m;

static void must(bool good, const char *what)
{
	if (!good)
		bail_out("libmlx5: %s: %s", what, strerror(errno));
}
#define MUST(good)	must(good, #good)

/* ---- libmlx5 ------------------------------------------------------------------- */

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	return NULL;
}

static struct ibv_ah_attr path_to(const struct dc_side *d)
{
	struct ibv_ah_attr a = {
		.dlid = (uint16_t)d->s.attr.lid, .is_global = 1, .port_num = 1,
		.grh = { .sgid_index = (uint8_t)side[0].s.gid_index, .hop_limit = 64 },
	};

	memcpy(a.grh.dgid.raw, d->s.gid.raw, sizeof(a.grh.dgid.raw));
	return a;
}

static struct ibv_qp *create(enum mlx5dv_dc_type type)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_DRIVER, .send_cq = m.cq, .recv_cq = m.cq, .pd = m.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = type, .dct_access_key = DC_KEY },
	};

	if (type == MLX5DV_DCTYPE_DCT) {
		attr.srq = m.srq;
		return mlx5dv_create_qp(m.ctx, &attr, &dv);
	}
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			      IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
			      IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
			      IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
	attr.cap = (struct ibv_qp_cap) { .max_send_wr = 16, .max_send_sge = 1 };
	return mlx5dv_create_qp(m.ctx, &attr, &dv);
}

static void start_initiator(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .timeout = 12, .retry_cnt = 2,
		.rnr_retry = 7, .max_rd_atomic = 4,
		.path_mtu = (enum ibv_mtu)side[0].s.attr.active_mtu,
	};

	MUST(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT));
	a.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PATH_MTU));
	a.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN));
}

static void start_target(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .min_rnr_timer = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = (enum ibv_mtu)side[0].s.attr.active_mtu,
		.ah_attr = path_to(&side[1]),
	};

	MUST(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS));
	a.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV |
			    IBV_QP_PATH_MTU));
}

static void open_mlx5(void)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 64, .max_sge = 1 } };
	struct ibv_ah_attr path = path_to(&side[1]);
	const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	MUST((m.ctx = open_device(rig_device(0))));
	MUST((m.pd = ibv_alloc_pd(m.ctx)));
	MUST((m.cq = ibv_create_cq(m.ctx, 256, NULL, NULL, 0)));
	MUST((m.srq = ibv_create_srq(m.pd, &srq)));
	MUST((m.buf = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0)) != MAP_FAILED);
	MUST((m.mr = ibv_reg_mr(m.pd, m.buf, SIZE, all)));
	MUST((m.ah = ibv_create_ah(m.pd, &path)));
	MUST((m.dci = create(MLX5DV_DCTYPE_DCI)));
	MUST((m.dct = create(MLX5DV_DCTYPE_DCT)));
	start_initiator(m.dci);
	start_target(m.dct);
}

static void close_mlx5(void)
{
	MUST(!ibv_destroy_qp(m.dci) && !ibv_destroy_qp(m.dct) && !ibv_destroy_ah(m.ah));
	MUST(!ibv_destroy_srq(m.srq) && !ibv_destroy_cq(m.cq) && !ibv_dereg_mr(m.mr));
	MUST(!ibv_dealloc_pd(m.pd) && !ibv_close_device(m.ctx));
}

static bool mlx5_ends(struct ibv_wc *wc, enum ibv_wc_status status)
{
	double until = xt_now() + 10;
	int n = 0;

	while (!n && xt_now() < until)
		n = ibv_poll_cq(m.cq, 1, wc);
	if (n != 1 || wc->status != status)
		diag("libmlx5: %s", n == 1 ? ibv_wc_status_str(wc->status) : "no completion");
	return n == 1 && wc->status == status;
}

static bool mlx5_completes(struct ibv_wc *wc)
{
	return mlx5_ends(wc, IBV_WC_SUCCESS);
}

static void mlx5_receive(uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)m.buf, bytes, m.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_srq_recv(m.srq, &wr, &bad));
}

/* ---- libmlx5 sends to a target of libxverbs -------------------------------------- */

static struct xv_dct *target;

static bool mlx5_posts(enum ibv_wr_opcode opcode, uint32_t bytes, uint32_t rkey, uint64_t key)
{
	uint64_t remote = (uintptr_t)side[1].buf;
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(m.dci);

	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	switch (opcode) {
	case IBV_WR_SEND: ibv_wr_send(ex); break;
	case IBV_WR_SEND_WITH_IMM: ibv_wr_send_imm(ex, 0x01020304); break;
	case IBV_WR_RDMA_WRITE: ibv_wr_rdma_write(ex, rkey, remote); break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(ex, rkey, remote, 0x0a0b0c0d);
		break;
	case IBV_WR_RDMA_READ: ibv_wr_rdma_read(ex, rkey, remote); break;
	case IBV_WR_ATOMIC_CMP_AND_SWP: ibv_wr_atomic_cmp_swp(ex, rkey, remote, 42, 6); break;
	default: ibv_wr_atomic_fetch_add(ex, rkey, remote, 5); break;
	}
	mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(ex), m.ah, target->dct_num, key);
	ibv_wr_set_sge(ex, m.mr->lkey, (uintptr_t)m.buf, bytes);
	return !ibv_wr_complete(ex);
}

static bool mlx5_does(enum ibv_wr_opcode opcode, uint32_t bytes)
{
	struct ibv_wc wc;

	return mlx5_posts(opcode, bytes, side[1].mr->rkey, DC_KEY) && mlx5_completes(&wc);
}

static void test_mlx5_sends(void)
{
	uint64_t *cell = (uint64_t *)(void *)side[1].buf;
	struct xv_wc wc;

	rig_fill(m.buf, BYTES, 1);
	dc_recv(&side[1], 0, BYTES);
	ok(mlx5_does(IBV_WR_SEND, BYTES) && rig_poll(side[1].recv_cq, 1, &wc) == 1 &&
	   !wc.status && wc.byte_len == BYTES && wc.qp_num == target->dct_num &&
	   rig_check(side[1].buf, BYTES, 1), "libmlx5 sends");
	rig_fill(m.buf, BYTES, 2);
	dc_recv(&side[1], 0, BYTES);
	ok(mlx5_does(IBV_WR_SEND_WITH_IMM, BYTES) && rig_poll(side[1].recv_cq, 1, &wc) == 1 &&
	   !wc.status && wc.imm_data == 0x01020304 && rig_check(side[1].buf, BYTES, 2),
	   "libmlx5 sends with immediate");
	rig_fill(m.buf, BYTES, 3);
	ok(mlx5_does(IBV_WR_RDMA_WRITE, BYTES) && rig_check(side[1].buf, BYTES, 3),
	   "libmlx5 writes");
	rig_fill(side[1].buf, BYTES, 4);
	ok(mlx5_does(IBV_WR_RDMA_READ, BYTES) && rig_check(m.buf, BYTES, 4), "libmlx5 reads");
	*cell = 37;
	ok(mlx5_does(IBV_WR_ATOMIC_FETCH_AND_ADD, 8) && *cell == 42 &&
	   *(uint64_t *)(void *)m.buf == 37, "libmlx5 adds");
	ok(mlx5_does(IBV_WR_ATOMIC_CMP_AND_SWP, 8) && *cell == 6 &&
	   *(uint64_t *)(void *)m.buf == 42, "libmlx5 compares and swaps");
	rig_fill(m.buf, BYTES, 5);
	dc_recv(&side[1], BYTES, 1);
	ok(mlx5_does(IBV_WR_RDMA_WRITE_WITH_IMM, BYTES) &&
	   rig_poll(side[1].recv_cq, 1, &wc) == 1 && !wc.status &&
	   wc.opcode == XV_WC_RECV_RDMA_WITH_IMM && wc.wr_id == BYTES && wc.byte_len == BYTES &&
	   wc.imm_data == 0x0a0b0c0d && wc.qp_num == target->dct_num &&
	   rig_check(side[1].buf, BYTES, 5), "libmlx5 writes with immediate");
}

static void mlx5_fails(const char *what, uint32_t rkey, uint64_t key, enum ibv_wc_status status)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc;

	rig_fill(m.buf, BYTES, 6);
	rig_fill(side[1].buf, BYTES, 7);
	ok(mlx5_posts(IBV_WR_RDMA_WRITE, BYTES, rkey, key) && mlx5_ends(&wc, status) &&
	   rig_check(side[1].buf, BYTES, 7), "libmlx5, %s: %s", what, ibv_wc_status_str(status));
	MUST(!ibv_modify_qp(m.dci, &a, IBV_QP_STATE));
	start_initiator(m.dci);
	ok(mlx5_does(IBV_WR_RDMA_WRITE, BYTES) && rig_check(side[1].buf, BYTES, 6),
	   "libmlx5, %s: after RESET it writes", what);
}

/* Waits for an event of the target of libxverbs. */
static bool target_event(enum xv_event_type type)
{
	double until = xt_now() + 5;
	struct xv_async_event e;
	int err;

	do
		err = xv_get_async_event(side[1].s.ctx, &e);
	while (err == -EAGAIN && xt_now() < until);
	if (err)
		return false;
	xv_ack_async_event(&e);
	return e.event_type == type && e.element.dct == target;
}

static void test_mlx5_fails(void)
{
	struct xv_dct_attr attr;

	need(!xv_arm_dct(target));
	mlx5_fails("wrong access key", side[1].mr->rkey, DC_KEY + 1, IBV_WC_RETRY_EXC_ERR);
	ok(target_event(XV_EVENT_DCT_KEY_VIOLATION) && !xv_query_dct(target, &attr) &&
	   attr.key_violations && attr.arm_state == XV_DCT_FIRED,
	   "the target of libxverbs has the event");
	mlx5_fails("wrong remote key", side[1].mr->rkey + 0x100000, DC_KEY,
		   IBV_WC_REM_ACCESS_ERR);
	ok(target_event(XV_EVENT_DCT_ACCESS_ERR), "the target of libxverbs has the event");
}

/* ---- libxverbs sends to a target of libmlx5 -------------------------------------- */

static void test_xverbs_sends(void)
{
	struct xv_qp *dci = dc_initiator(&side[1], 16, NULL);
	struct xv_dc to = { side[1].to[0], DC_KEY, m.dct->qp_num };
	struct xv_sge sge = dc_sge(&side[1], 0, BYTES), word = dc_sge(&side[1], 0, 8);
	uint64_t remote = (uintptr_t)m.buf, *cell = (uint64_t *)(void *)m.buf;
	struct xv_cq *cq = side[1].send_cq;
	struct ibv_wc wc;

#define DOES(_builder) (!(_builder) && (xv_commit_send(dci), rig_expect(cq, 1, XV_WC_SUCCESS)))
	rig_fill(side[1].buf, BYTES, 11);
	mlx5_receive(BYTES);
	ok(DOES(xv_wr_send_dc(dci, 1, XV_SEND_SIGNALED, &sge, &to)) && mlx5_completes(&wc) &&
	   wc.wr_id == 5 && wc.byte_len == BYTES && wc.qp_num == m.dct->qp_num &&
	   rig_check(m.buf, BYTES, 11), "libxverbs sends");
	rig_fill(side[1].buf, BYTES, 12);
	mlx5_receive(BYTES);
	ok(DOES(xv_wr_send_imm_dc(dci, 1, XV_SEND_SIGNALED, &sge, 0x05060708, &to)) &&
	   mlx5_completes(&wc) && wc.imm_data == 0x05060708 && rig_check(m.buf, BYTES, 12),
	   "libxverbs sends with immediate");
	rig_fill(side[1].buf, BYTES, 13);
	ok(DOES(xv_wr_write_dc(dci, 1, XV_SEND_SIGNALED, &sge, remote, m.mr->rkey, &to)) &&
	   rig_check(m.buf, BYTES, 13), "libxverbs writes");
	rig_fill(m.buf, BYTES, 14);
	ok(DOES(xv_wr_read_dc(dci, 1, XV_SEND_SIGNALED, &sge, remote, m.mr->rkey, &to)) &&
	   rig_check(side[1].buf, BYTES, 14), "libxverbs reads");
	*cell = 37;
	ok(DOES(xv_wr_atomic_fa_dc(dci, 1, XV_SEND_SIGNALED, &word, remote, m.mr->rkey, 5, &to)) &&
	   *cell == 42 && *(uint64_t *)(void *)side[1].buf == 37, "libxverbs adds");
	ok(DOES(xv_wr_atomic_cs_dc(dci, 1, XV_SEND_SIGNALED, &word, remote, m.mr->rkey, 42, 6,
				   &to)) && *cell == 6, "libxverbs compares and swaps");
	rig_fill(side[1].buf, BYTES, 15);
	mlx5_receive(1);
	ok(DOES(xv_wr_write_imm_dc(dci, 1, XV_SEND_SIGNALED, &sge, remote, m.mr->rkey, 0x090a0b0c,
				   &to)) && mlx5_completes(&wc) && wc.wr_id == 5 &&
	   wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.imm_data == 0x090a0b0c &&
	   wc.byte_len == BYTES && rig_check(m.buf, BYTES, 15),
	   "libxverbs writes with immediate");
#undef DOES
	need(!xv_destroy_qp(dci));
}

static void xverbs_fails(const char *what, uint32_t rkey, uint64_t key, enum xv_wc_status status)
{
	static const struct xt_rc_opts quick = { .timeout = 8, .retry_cnt = 1 };
	struct xv_qp *dci = dc_initiator(&side[1], 4, &quick);
	struct xv_dc to = { side[1].to[0], key, m.dct->qp_num };
	struct xv_sge sge = dc_sge(&side[1], 0, BYTES);

	rig_fill(side[1].buf, BYTES, 16);
	rig_fill(m.buf, BYTES, 17);
	xv_wr_write_dc(dci, 1, XV_SEND_SIGNALED, &sge, (uintptr_t)m.buf, rkey, &to);
	xv_commit_send(dci);
	ok(rig_expect(side[1].send_cq, 1, status) && rig_check(m.buf, BYTES, 17),
	   "libxverbs, %s: %s", what, xv_wc_status_str(status));
	need(!xv_destroy_qp(dci));
}

/* The driver mlx5_ib drops the events of targets, so data shows that the target goes on. */
static void test_xverbs_writes(void)
{
	struct xv_qp *dci = dc_initiator(&side[1], 4, NULL);
	struct xv_dc to = { side[1].to[0], DC_KEY, m.dct->qp_num };
	struct xv_sge sge = dc_sge(&side[1], 0, BYTES);

	rig_fill(side[1].buf, BYTES, 18);
	xv_wr_write_dc(dci, 1, XV_SEND_SIGNALED, &sge, (uintptr_t)m.buf, m.mr->rkey, &to);
	xv_commit_send(dci);
	ok(rig_expect(side[1].send_cq, 1, XV_WC_SUCCESS) && rig_check(m.buf, BYTES, 18),
	   "the target of libmlx5 works after the errors");
	need(!xv_destroy_qp(dci));
}

static void test_xverbs_fails(void)
{
	xverbs_fails("wrong access key", m.mr->rkey, DC_KEY + 1, XV_WC_RETRY_EXC_ERR);
	xverbs_fails("wrong remote key", m.mr->rkey + 0x100000, DC_KEY, XV_WC_REM_ACCESS_ERR);
	test_xverbs_writes();
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	dc_open(SIZE);
	open_mlx5();
	if (fcntl(side[1].s.ctx->fd, F_SETFL, O_NONBLOCK))
		bail_out("fcntl");
	target = dc_target(&side[1], DC_KEY, DC_ACCESS);
	test_mlx5_sends();
	test_mlx5_fails();
	need(!xv_destroy_dct(target));
	test_xverbs_sends();
	test_xverbs_fails();
	close_mlx5();
	dc_close();
	return tap_done();
}
