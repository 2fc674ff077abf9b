// SPDX-License-Identifier: GPL-2.0
/*
 * usage: codes --device NAME --peer-device NAME
 *
 * Provokes errors, each on connections of its own, and prints the bytes of the completions: what
 * specifications leave to the vendor is known of few adapters.
 *
 * Prints lines: fact code.NAME STATUS/VENDOR hw TYPE/CODE op WQE-OPCODE/OP_OWN of the request that
 * fails, code.NAME.next of the one behind it, and code.NAME.receive of a receive request;
 * "none": no completion came within two seconds.
 */
#include "rig.h"

enum { BYTES = 256, SECONDS = 2 };

static struct rig r;
static bool posted;			/* a receive request, which fails, too */
static const unsigned int all_access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				       XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC;
static struct rig_opts opts = { .size = 65536, .depth = 16,
	.access = all_access | XV_ACCESS_MW_BIND,
	.rc = { .timeout = 10, .retry_cnt = 1, .no_rnr_retry = true, .min_rnr_timer = 1 } };

/* ---- Completions ------------------------------------------------------------------------- */

static const struct mlx5r_err_cqe *next(struct xv_cq *cq)
{
	double until = xt_now() + SECONDS;
	const struct mlx5r_cqe *cqe;

	do {
		cqe = xv_cq_next(cq);
	} while (!cqe && xt_now() < until);
	return (const struct mlx5r_err_cqe *)cqe;
}

/* Takes the next completion; false: there is none. */
static bool print_next(struct xv_cq *cq, const char *name, const char *which)
{
	const struct mlx5r_err_cqe *e = next(cq);
	struct xv_wc wc;

	printf("fact code.%s%s ", name, which);
	if (!e) {
		printf("none\n");
		return false;
	}
	if (e->op_own >> 4 != MLX5R_CQE_REQ_ERR && e->op_own >> 4 != MLX5R_CQE_RESP_ERR)
		printf("success\n");
	else
		printf("%u/0x%02x hw %u/0x%02x op 0x%02x/0x%02x\n",
		       xv_cqe_status((const struct mlx5r_cqe *)e), e->vendor_err_synd,
		       e->hw_syndrome_type >> 4, e->hw_error_syndrome,
		       xv_be32(e->sop_drop_qpn) >> 24, e->op_own & ~1u);
	xv_poll_cq(cq, 1, &wc);
	return true;
}

/* ---- Errors ------------------------------------------------------------------------------ */

static struct xv_sge local(uint32_t length)
{
	return rig_sge(&r, 0, 0, length);
}

static void write_to(const struct xv_sge *sge, uint64_t addr, uint32_t rkey)
{
	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, sge, addr, rkey);
}

static void receive(uint32_t length, uint32_t lkey)
{
	struct xv_sge sge = { rig_addr(&r, 1, 0), length, lkey };

	xv_wr_recv(r.qp[1], 1, &sge);
	xv_commit_recv(r.qp[1]);
	posted = true;
}

static void send_bytes(void)
{
	struct xv_sge sge = local(BYTES);

	xv_wr_send(r.qp[0], 1, XV_SEND_SIGNALED, &sge);
}

static void bad_lkey(void)
{
	struct xv_sge sge = local(BYTES);

	sge.lkey ^= 0x5500;
	write_to(&sge, rig_addr(&r, 1, 0), r.mr[1]->rkey);
}

static void long_sge(void)
{
	struct xv_sge sge = rig_sge(&r, 0, r.size - BYTES, BYTES + 1);

	write_to(&sge, rig_addr(&r, 1, 0), r.mr[1]->rkey);
}

/* A region without @access, on side @side; it ends with the process. */
static struct xv_mr *weak(int side, unsigned int access)
{
	struct xv_mr *mr = xt_mr_alloc(&r.side[side], 4096, access);

	if (!mr)
		bail_out("%s", xv_last_error());
	return mr;
}

static void read_into_read_only(void)
{
	struct xv_mr *mr = weak(0, XV_ACCESS_REMOTE_READ);
	struct xv_sge sge = { (uintptr_t)mr->addr, BYTES, mr->lkey };

	xv_wr_read(r.qp[0], 1, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0), r.mr[1]->rkey);
}

static void bad_rkey(void)
{
	struct xv_sge sge = local(BYTES);

	write_to(&sge, rig_addr(&r, 1, 0), r.mr[1]->rkey ^ 0x5500);
}

static void out_of_bounds(void)
{
	struct xv_sge sge = local(BYTES);

	write_to(&sge, rig_addr(&r, 1, r.size - BYTES + 1), r.mr[1]->rkey);
}

static void deregistered(void)
{
	struct xv_mr *mr = weak(1, all_access);
	struct xv_sge sge = local(BYTES);
	uint64_t addr = (uintptr_t)mr->addr;
	uint32_t rkey = mr->rkey;

	xt_mr_free(mr);
	write_to(&sge, addr, rkey);
}

static void region_without_right(void)
{
	struct xv_mr *mr = weak(1, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_READ);
	struct xv_sge sge = local(BYTES);

	write_to(&sge, (uintptr_t)mr->addr, mr->rkey);
}

static void queue_without_right(void)
{
	struct xv_qp_attr none = { .qp_access_flags = 0 };
	struct xv_sge sge = local(BYTES);

	if (xv_modify_qp(r.qp[1], &none, XV_QP_ACCESS_FLAGS))
		bail_out("%s", xv_last_error());
	write_to(&sge, rig_addr(&r, 1, 0), r.mr[1]->rkey);
}

static void misaligned_atomic(void)
{
	struct xv_sge sge = local(8);

	xv_wr_atomic_fa(r.qp[0], 1, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 4), r.mr[1]->rkey, 1);
}

static void short_receive(void)
{
	receive(BYTES / 2, r.mr[1]->lkey);
	send_bytes();
}

static void receive_bad_lkey(void)
{
	receive(BYTES, r.mr[1]->lkey ^ 0x5500);
	send_bytes();
}

static void peer_in_error(void)
{
	struct xv_qp_attr err = { .qp_state = XV_QPS_ERR };

	if (xv_modify_qp(r.qp[1], &err, XV_QP_STATE))
		bail_out("%s", xv_last_error());
	send_bytes();
}

static void unknown_opcode(void)
{
	struct mlx5r_ctrl wqe = { .opmod_idx_opcode = xv_be32(0x3f), .qpn_ds = xv_be32(1),
				  .fm_ce_se = MLX5R_CE_ALWAYS };

	xv_wr_raw(r.qp[0], 1, &wqe);
}

/* The new key has the index of a region that is no window. */
static void bind_refused(void)
{
	struct xv_mr *mr = weak(0, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_MW_BIND);
	struct xv_mw_bind_info info = { mr, (uintptr_t)mr->addr, 4096, XV_ACCESS_REMOTE_READ };
	struct xv_mw mw = { .rkey = mr->rkey, .type = XV_MW_TYPE_2 };

	xv_wr_bind_mw(r.qp[0], 1, XV_SEND_SIGNALED, &mw, xv_inc_rkey(mr->rkey), &info);
}

static void own_error(void)
{
	struct xv_qp_attr err = { .qp_state = XV_QPS_ERR };

	if (xv_modify_qp(r.qp[0], &err, XV_QP_STATE))
		bail_out("%s", xv_last_error());
	send_bytes();
}

static const struct {
	const char *name;
	void (*provoke)(void);
} errors[] = {
	{ "bad_lkey", bad_lkey }, { "long_sge", long_sge },
	{ "read_into_read_only", read_into_read_only }, { "bad_rkey", bad_rkey },
	{ "out_of_bounds", out_of_bounds }, { "deregistered", deregistered },
	{ "region_without_right", region_without_right },
	{ "queue_without_right", queue_without_right },
	{ "misaligned_atomic", misaligned_atomic }, { "no_receive", send_bytes },
	{ "short_receive", short_receive }, { "receive_bad_lkey", receive_bad_lkey },
	{ "peer_in_error", peer_in_error }, { "unknown_opcode", unknown_opcode },
	{ "bind_refused", bind_refused }, { "own_error", own_error },
};

int main(int argc, char **argv)
{
	size_t i;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		posted = false;
		errors[i].provoke();
		send_bytes();
		xv_commit_send(r.qp[0]);
		if (print_next(r.cq[0], errors[i].name, ""))
			print_next(r.cq[0], errors[i].name, ".next");
		if (posted)
			print_next(r.cq[1], errors[i].name, ".receive");
		fflush(stdout);
		rig_reconnect(&r, &opts);
	}
	return 0;
}
