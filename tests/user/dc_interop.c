// SPDX-License-Identifier: GPL-2.0
/*
 * DC of libxverbs and of libmlx5 (mlx5dv) against each other, in both directions: each sends
 * all operations to a target of the other.  libmlx5 is on --device, libxverbs on
 * --peer-device.
 */
#include <infiniband/mlx5dv.h>
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
		.qp_state = IBV_QPS_INIT, .port_num = 1, .timeout = 14, .retry_cnt = 7,
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

static bool mlx5_completes(struct ibv_wc *wc)
{
	double until = xt_now() + 10;
	int n = 0;

	while (!n && xt_now() < until)
		n = ibv_poll_cq(m.cq, 1, wc);
	if (n != 1 || wc->status)
		diag("libmlx5: %s", n == 1 ? ibv_wc_status_str(wc->status) : "no completion");
	return n == 1 && !wc->status;
}

static void mlx5_receive(uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)m.buf, bytes, m.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_srq_recv(m.srq, &wr, &bad));
}

/* ---- libmlx5 sends to a target of libxverbs -------------------------------------- */

static struct xv_dct *target;

static bool mlx5_does(enum ibv_wr_opcode opcode, uint32_t bytes)
{
	uint64_t remote = (uintptr_t)side[1].buf;
	uint32_t rkey = side[1].mr->rkey;
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(m.dci);
	struct ibv_wc wc;

	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	switch (opcode) {
	case IBV_WR_SEND: ibv_wr_send(ex); break;
	case IBV_WR_SEND_WITH_IMM: ibv_wr_send_imm(ex, 0x01020304); break;
	case IBV_WR_RDMA_WRITE: ibv_wr_rdma_write(ex, rkey, remote); break;
	case IBV_WR_RDMA_READ: ibv_wr_rdma_read(ex, rkey, remote); break;
	default: ibv_wr_atomic_fetch_add(ex, rkey, remote, 5); break;
	}
	mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(ex), m.ah, target->dct_num, DC_KEY);
	ibv_wr_set_sge(ex, m.mr->lkey, (uintptr_t)m.buf, bytes);
	return !ibv_wr_complete(ex) && mlx5_completes(&wc);
}

static void test_mlx5_sends(void)
{
	uint64_t *cell = (uint64_t *)(void *)side[1].buf;
	struct xv_wc wc;

	target = dc_target(&side[1], DC_KEY, DC_ACCESS);
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
	need(!xv_destroy_dct(target));
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
#undef DOES
	need(!xv_destroy_qp(dci));
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	dc_open(SIZE);
	open_mlx5();
	test_mlx5_sends();
	test_xverbs_sends();
	close_mlx5();
	dc_close();
	return tap_done();
}
