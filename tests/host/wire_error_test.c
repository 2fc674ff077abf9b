// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of connected queue pairs: across a wire, the completions, events and states of both sides
 * are those of local peers.
 *
 * Each case runs with local peers and with peers on a wire.  Times differ: wire_timeout_test.c
 */
#include "cmd/cmd.h"
#include "tap.h"
#include "peers.h"

enum {
	SMALL		= 64,
	LONG		= 5000,		/* some packets */
	HUGE_BYTES	= PEERS_BYTES,	/* many turns of local peers */
	OK		= XV_WC_SUCCESS,
};

#define SETTLE	(20 * NSEC_PER_SEC)

static u32 bad_key(u32 i)
{
	return peer[i].mr.key ^ 0x100000;
}

static struct xv_sge bad_sge(u32 i, u32 off, u32 len)
{
	struct xv_sge sge = here(i, off, len);

	sge.lkey = bad_key(i);
	return sge;
}

static void settle(void)
{
	commit(0);
	peers_settle(SETTLE);
}

/* Requests of all kinds before and after the one that fails */
static void before(void)
{
	receive(1, 101, 0, SMALL);
	post_send(1, here(0, 0, SMALL));
	post_write(2, here(0, 0, LONG), 0, peer[1].mr.key);
}

static void after(void)
{
	/* A local UC receiver gets messages until the turn in which it fails is over. */
	if (hw(0)->st == MLX5_QP_ST_UC)
		settle();
	post_write(8, here(0, 0, SMALL), 0, peer[1].mr.key);
	post_send(9, here(0, 0, SMALL));
	receive(1, 109, 0, SMALL);
	settle();
}

/* The requests after one that fails late are executed. */
static void after_answer(void)
{
	post_write(8, here(0, 0, SMALL), 0, peer[1].mr.key);
	settle();
}

/* ---- No receive request, and one that is too short ----------------------------------- */

static void rnr_limited(void)
{
	before();
	post_send(3, here(0, 0, SMALL));
	post_write(8, here(0, 0, SMALL), 0, peer[1].mr.key);
	settle();
}

static void rnr_later(void)
{
	post_send(3, here(0, 0, LONG));
	post_write_imm(4, here(0, 0, LONG), 0, peer[1].mr.key);
	commit(0);
	peers_settle(50 * NSEC_PER_MSEC);
	receive(1, 102, 0, LONG);
	peers_settle(50 * NSEC_PER_MSEC);
	receive(1, 103, 0, SMALL);
	settle();
}

static void short_receive(void)
{
	before();
	receive(1, 103, 0, SMALL - 1);
	post_send(3, here(0, 0, SMALL));
	after();
}

static void short_in_the_middle(void)
{
	before();
	receive(1, 103, 0, LONG - 1);
	post_send(3, here(0, 0, LONG));
	after();
}

static void receive_key(void)
{
	struct xv_sge sge = bad_sge(1, 0, SMALL);

	before();
	xv_wr_recv(&peer[1].q.qp, 103, &sge);
	xv_commit_recv(&peer[1].q.qp);
	post_send(3, here(0, 0, SMALL));
	after();
}

static void receive_record(void)
{
	before();
	settle();
	peer[1].q.qp.rq.dbrec[MLX5R_DBR_RCV] = cpu_to_be32(1000);
	post_send(3, here(0, 0, SMALL));
	settle();
}

/* ---- Remote keys and rights --------------------------------------------------------- */

static void write_key(void)
{
	before();
	post_write(3, here(0, 0, SMALL), 0, bad_key(1));
	after();
}

static void write_imm_key(void)
{
	before();
	receive(1, 103, 0, SMALL);
	post_write_imm(3, here(0, 0, SMALL), 0, bad_key(1));
	after();
}

static void write_imm_key_no_receive(void)
{
	before();
	post_write_imm(3, here(0, 0, SMALL), 0, bad_key(1));
	settle();
}

static void read_key(void)
{
	before();
	post_read(3, here(0, 0, SMALL), 0, bad_key(1));
	after();
}

static void atomic_key(void)
{
	before();
	post_add(3, here(0, 0, 8), 0, bad_key(1), 1);
	after();
}

/* The READ before is answered, although the write fails. */
static void read_before_error(void)
{
	before();
	post_read(4, here(0, 8192, LONG), 8192, peer[1].mr.key);
	post_add(5, here(0, 0, 8), 8, peer[1].mr.key, 1);
	post_write(3, here(0, 0, SMALL), 0, bad_key(1));
	after();
}

static u32 key_with(u8 access)
{
	return session_mr(peer[1].s, peer[1].func, 4096, access).key;
}

static u64 last_mr_offset(void)
{
	return SESSION_DMA + peer[1].s->used - 4096 - peer[1].mr.addr;
}

static void write_right(void)
{
	u32 key = key_with(ALL_ACCESS & ~MLX5R_MKEY_ACCESS_RW);

	before();
	post_write(3, here(0, 0, SMALL), last_mr_offset(), key);
	after();
}

static void read_right(void)
{
	u32 key = key_with(ALL_ACCESS & ~MLX5R_MKEY_ACCESS_RR);

	before();
	post_read(3, here(0, 0, SMALL), last_mr_offset(), key);
	after();
}

static void atomic_right(void)
{
	u32 key = key_with(ALL_ACCESS & ~MLX5R_MKEY_ACCESS_A);

	before();
	post_add(3, here(0, 0, 8), last_mr_offset(), key, 1);
	after();
}

static void write_end(void)
{
	before();
	post_write(3, here(0, 0, LONG), PEERS_BYTES - LONG + 1, peer[1].mr.key);
	after();
}

static void read_end(void)
{
	before();
	post_read(3, here(0, 0, LONG), PEERS_BYTES - LONG + 1, peer[1].mr.key);
	after();
}

static void atomic_end(void)
{
	before();
	post_add(3, here(0, 0, 8), PEERS_BYTES, peer[1].mr.key, 1);
	after();
}

static void no_rights(void)
{
	hw(1)->rwe = hw(1)->rre = hw(1)->rae = false;
}

static void write_not_allowed(void)
{
	no_rights();
	post_write(3, here(0, 0, SMALL), 0, peer[1].mr.key);
	after();
}

static void write_imm_not_allowed(void)
{
	no_rights();
	receive(1, 103, 0, SMALL);
	post_write_imm(3, here(0, 0, SMALL), 0, peer[1].mr.key);
	after();
}

static void read_not_allowed(void)
{
	no_rights();
	post_read(3, here(0, 0, SMALL), 0, peer[1].mr.key);
	after();
}

static void atomic_not_allowed(void)
{
	no_rights();
	post_add(3, here(0, 0, 8), 0, peer[1].mr.key, 1);
	after();
}

static void odd_atomic(void)
{
	before();
	post_add(3, here(0, 0, 8), 4, peer[1].mr.key, 1);
	after();
}

/* ---- Local keys ---------------------------------------------------------------------- */

static void send_key(void)
{
	before();
	receive(1, 103, 0, SMALL);
	post_send(3, bad_sge(0, 0, SMALL));
	after();
}

/* A message of two segments, of which the second one is not readable */
static void post_half_bad(enum xv_wr_opcode opcode)
{
	struct xv_sge sge[2] = { here(0, 0, LONG), bad_sge(0, 0, LONG) };
	struct xv_send_wr *bad, wr = {
		.wr_id = 3, .sg_list = sge, .num_sge = 2, .opcode = opcode,
		.send_flags = XV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = peer[1].mr.addr, .rkey = peer[1].mr.key },
	};

	peer[0].q.qp.qp_type = XV_QPT_RC;
	xv_post_send(&peer[0].q.qp, &wr, &bad);
}

static void send_half(void)
{
	before();
	receive(1, 103, 0, 2 * LONG);
	post_half_bad(XV_WR_SEND);
	after();
}

static void write_half(void)
{
	before();
	post_half_bad(XV_WR_RDMA_WRITE);
	after();
}

static void read_half(void)
{
	before();
	post_half_bad(XV_WR_RDMA_READ);
	after_answer();
}

static void write_local_key(void)
{
	before();
	post_write(3, bad_sge(0, 0, SMALL), 0, peer[1].mr.key);
	after();
}

static void read_local_key(void)
{
	before();
	post_read(3, bad_sge(0, 0, LONG), 0, peer[1].mr.key);
	after_answer();
}

static void atomic_local_key(void)
{
	before();
	post_add(3, bad_sge(0, 0, 8), 0, peer[1].mr.key, 1);
	after_answer();
}

/* ---- SEND with invalidate -------------------------------------------------------------- */

static void send_inval(void)
{
	struct session_mr mr = session_mr(peer[1].s, peer[1].func, 4096, ALL_ACCESS);
	struct xv_sge sge = here(0, 0, LONG);

	hca_mkey_get(hca_of(1), mr.key)->en_rinval = true;
	before();
	receive(1, 103, 0, LONG);
	xv_wr_send_inv(&peer[0].q.qp, 4, XV_SEND_SIGNALED, &sge, mr.key);
	post_write(3, here(0, 0, SMALL), mr.addr - peer[1].mr.addr, mr.key);
	after();
}

static void send_inval_key(void)
{
	struct xv_sge sge = here(0, 0, SMALL);

	before();
	receive(1, 103, 0, LONG);
	xv_wr_send_inv(&peer[0].q.qp, 3, XV_SEND_SIGNALED, &sge, peer[1].mr.key);
	after();
}

/* ---- States ---------------------------------------------------------------------------- */

static void peer_reset(void)
{
	session_qp_modify(&peer[1].q, MLX5_CMD_OP_2RST_QP, NULL);
	post_write(3, here(0, 0, LONG), 0, peer[1].mr.key);
	post_send(9, here(0, 0, SMALL));
	settle();
}

static void peer_error(void)
{
	session_qp_modify(&peer[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
	post_read(3, here(0, 0, LONG), 0, peer[1].mr.key);
	after();
}

static void peer_absent(void)
{
	hw(0)->remote_qpn ^= 0x800;
	post_add(3, here(0, 0, 8), 0, peer[1].mr.key, 1);
	after();
}

static void peer_of_another(void)
{
	hw(1)->path.rgid[15] ^= 0x10;
	hca_route_changed(&peer[1].s->fabric);
	hw(1)->wire ? hw(1)->wire->flow_epoch = 0 : 0;
	post_write(3, here(0, 0, SMALL), 0, peer[1].mr.key);
	after();
}

/* Runs until a quarter of the target memory of a message is written. */
static void run_quarter(u32 target)
{
	const volatile u8 *mem = peer[target].mr.ptr + HUGE_BYTES / 4;
	u8 old = *mem;
	u32 n;

	commit(0);
	for (n = 0; n < 1000000 && *mem == old; n++)
		peers_pass();
}

static void destroy_key(u32 i)
{
	session_key_destroy(peer[i].s, peer[i].func, peer[i].mr.key);
}

static void write_destroyed_here(void)
{
	post_write(3, here(0, 0, HUGE_BYTES), 0, peer[1].mr.key);
	run_quarter(1);
	destroy_key(0);
	after();
}

static void write_destroyed_there(void)
{
	post_write(3, here(0, 0, HUGE_BYTES), 0, peer[1].mr.key);
	run_quarter(1);
	destroy_key(1);
	after();
}

static void read_destroyed_here(void)
{
	post_read(3, here(0, 0, HUGE_BYTES), 0, peer[1].mr.key);
	run_quarter(0);
	destroy_key(0);
	after();
}

static void read_destroyed_there(void)
{
	post_read(3, here(0, 0, HUGE_BYTES), 0, peer[1].mr.key);
	run_quarter(0);
	destroy_key(1);
	after();
}

static void send_destroyed_here(void)
{
	receive(1, 103, 0, HUGE_BYTES);
	post_send(3, here(0, 0, HUGE_BYTES));
	run_quarter(1);
	destroy_key(0);
	after();
}

static void send_destroyed_there(void)
{
	receive(1, 103, 0, HUGE_BYTES);
	post_send(3, here(0, 0, HUGE_BYTES));
	run_quarter(1);
	destroy_key(1);
	after();
}

static void error_here(void)
{
	receive(1, 103, 0, HUGE_BYTES);
	post_send(3, here(0, 0, HUGE_BYTES));
	run_quarter(1);
	session_qp_modify(&peer[0].q, MLX5_CMD_OP_2ERR_QP, NULL);
	after();
}

static void error_there(void)
{
	receive(1, 103, 0, HUGE_BYTES);
	post_send(3, here(0, 0, HUGE_BYTES));
	run_quarter(1);
	session_qp_modify(&peer[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
	after();
}

static void error_read_there(void)
{
	post_read(3, here(0, 0, HUGE_BYTES), 0, peer[1].mr.key);
	run_quarter(0);
	session_qp_modify(&peer[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
	after();
}

/* ---- Completion queues ------------------------------------------------------------------ */

/* The CQ of the receiver has 16 entries. */
static void overrun_there(void)
{
	u32 i;

	for (i = 0; i < 24; i++)
		receive(1, 100 + i, 0, SMALL);
	for (i = 0; i < 17; i++)
		post_send(10 + i, here(0, 0, SMALL));
	settle();
	post_send(3, here(0, 0, SMALL));
	settle();
}

/* The CQ of the sender has 16 entries, and messages of the peer have filled it. */
static void overrun_here(void)
{
	struct xv_sge sge = here(1, 0, SMALL);
	u32 i;

	for (i = 0; i < 16; i++)
		receive(0, 100 + i, 0, SMALL);
	for (i = 0; i < 16; i++)
		xv_wr_send(&peer[1].q.qp, i, XV_SEND_SIGNALED, &sge);
	commit(1);
	peers_settle(SETTLE);
	post_write(3, here(0, 0, SMALL), 0, peer[1].mr.key);
	post_write(4, here(0, 0, SMALL), 0, peer[1].mr.key);
	settle();
}

/* ---- Requests that are executed here ------------------------------------------------------ */

static void post_nop(u64 wr_id)
{
	struct mlx5r_ctrl nop = {
		.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_NOP),
		.qpn_ds = cpu_to_be32(1),
		.fm_ce_se = MLX5R_CE_ALWAYS,
	};

	xv_wr_raw(&peer[0].q.qp, wr_id, &nop);
}

static void post_object(u64 wr_id, u8 opcode, u32 number, u32 index)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait object;
	} wqe = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(opcode),
		.ctrl.qpn_ds = cpu_to_be32(2),
		.ctrl.fm_ce_se = MLX5R_CE_ALWAYS,
		.object.number = cpu_to_be32(number),
		.object.index = cpu_to_be32(index),
	};

	xv_wr_raw(&peer[0].q.qp, wr_id, &wqe);
}

/* The key is filled between two messages; the second one uses it. */
static void post_umr(u64 wr_id, struct xv_mkey *key)
{
	static struct xv_sge region;
	struct xv_umr umr = {
		.mkey = key, .base_addr = 0x1000, .access = XV_ACCESS_LOCAL_WRITE, .num = 1,
		.regions = &region,
	};

	region = here(0, 0, LONG);
	xv_wr_umr_fill(&peer[0].q.qp, wr_id, XV_SEND_SIGNALED, &umr);
}

static void between(void)
{
	u32 number = session_umr_key(peer[0].s, peer[0].func, MLX5R_MKEY_MODE_KLM, 4);
	struct xv_mkey key = { .lkey = number, .rkey = number, .max_entries = 4 };
	struct xv_sge sge = { .addr = 0x1000, .length = LONG, .lkey = number };
	struct session_qp other;

	hca_mkey_get(hca_of(0), number)->access = MLX5R_MKEY_ACCESS_LR;
	peer[0].s->cross = SESSION_MANAGED_SEND;
	session_qp(peer[0].s, peer[0].func, MLX5_QP_ST_RC, 2, 2, &other);
	peer[0].s->cross = 0;
	before();
	post_nop(3);
	post_read(4, here(0, 8192, LONG), 8192, peer[1].mr.key);
	post_umr(5, &key);
	post_write(6, sge, 8192, peer[1].mr.key);
	post_object(7, MLX5R_OP_SEND_ENABLE, other.qp.qp_num, 0);
	post_add(8, here(0, 0, 8), 16, peer[1].mr.key, 1);
	post_object(9, MLX5R_OP_WAIT, other.cqn, 1);
	post_write(10, here(0, 0, SMALL), 0, peer[1].mr.key);
	commit(0);
	peers_settle(NSEC_PER_SEC);
	hca_req_post_error(hca_qp_get(hca_of(0), other.qp.qp_num), 0, 0, 0);
	settle();
	session_qp_destroy(&other);
}

/* A READ whose element is added to that of the segment */
static void post_read_add(u64 wr_id, u64 off, u32 key, u32 lkey)
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
		.raddr = { cpu_to_be64(peer[1].mr.addr + off), cpu_to_be32(key) },
		.data = { cpu_to_be32(16), cpu_to_be32(lkey), cpu_to_be64(peer[0].mr.addr) },
	};

	xv_wr_raw(&peer[0].q.qp, wr_id, &wqe);
}

static void read_add(void)
{
	before();
	post_read_add(3, 0, peer[1].mr.key, peer[0].mr.key);
	post_read_add(4, 16, peer[1].mr.key, peer[0].mr.key);
	after();
}

static void read_add_key(void)
{
	before();
	post_read_add(3, 0, bad_key(1), peer[0].mr.key);
	after();
}

static void read_add_local_key(void)
{
	before();
	post_read_add(3, 0, peer[1].mr.key, bad_key(0));
	after();
}

/* A request that cannot be executed follows messages and READs. */
static void bad_request(void)
{
	before();
	post_read(4, here(0, 8192, LONG), 8192, peer[1].mr.key);
	post_object(3, 0x3f, 0, 0);
	after();
}

static void too_long(void)
{
	struct xv_sge sge = { .addr = peer[0].mr.addr, .length = (1u << 30) + 1,
			      .lkey = peer[0].mr.key };

	before();
	post_write(3, sge, 0, peer[1].mr.key);
	after();
}

/* ---- All cases ------------------------------------------------------------------------------ */

/* The statuses of the sender are those of its request 3. */
static const struct {
	const char *name;
	void (*run)(void);
	int status;
	struct peers_config c;
} cases[] = {
	{ "RNR with a limit", rnr_limited, XV_WC_RNR_RETRY_EXC_ERR, { .path.rnr_retry = 2 } },
	{ "RNR without a retry", rnr_limited, XV_WC_RNR_RETRY_EXC_ERR, { .fail_on_rnr = true } },
	{ "RNR until a receive is posted", rnr_later, OK },
	{ "a receive is too short", short_receive, XV_WC_REM_INV_REQ_ERR },
	{ "too short in the middle", short_in_the_middle, XV_WC_REM_INV_REQ_ERR },
	{ "the key of a receive", receive_key, XV_WC_REM_OP_ERR },
	{ "the record of receives", receive_record, XV_WC_REM_OP_ERR },
	{ "WRITE: key", write_key, XV_WC_REM_ACCESS_ERR },
	{ "WRITE with immediate: key", write_imm_key, XV_WC_REM_ACCESS_ERR },
	{ "WRITE with immediate: key, no receive", write_imm_key_no_receive,
	  XV_WC_RNR_RETRY_EXC_ERR, { .path.rnr_retry = 1 } },
	{ "READ: key", read_key, XV_WC_REM_ACCESS_ERR },
	{ "atomic: key", atomic_key, XV_WC_REM_ACCESS_ERR },
	{ "READ and atomic before an error", read_before_error, XV_WC_REM_ACCESS_ERR },
	{ "WRITE: right of the key", write_right, XV_WC_REM_ACCESS_ERR },
	{ "READ: right of the key", read_right, XV_WC_REM_ACCESS_ERR },
	{ "atomic: right of the key", atomic_right, XV_WC_REM_ACCESS_ERR },
	{ "WRITE: out of bounds", write_end, XV_WC_REM_ACCESS_ERR },
	{ "READ: out of bounds", read_end, XV_WC_REM_ACCESS_ERR },
	{ "atomic: out of bounds", atomic_end, XV_WC_REM_ACCESS_ERR },
	{ "WRITE is not allowed", write_not_allowed, XV_WC_REM_INV_REQ_ERR },
	{ "WRITE with immediate is not allowed", write_imm_not_allowed, XV_WC_REM_INV_REQ_ERR },
	{ "READ is not allowed", read_not_allowed, XV_WC_REM_INV_REQ_ERR },
	{ "atomic is not allowed", atomic_not_allowed, XV_WC_REM_INV_REQ_ERR },
	{ "a misaligned atomic", odd_atomic, XV_WC_REM_INV_REQ_ERR },
	{ "SEND: local key", send_key, XV_WC_LOC_PROT_ERR },
	{ "SEND: local key in the middle", send_half, XV_WC_LOC_PROT_ERR },
	{ "WRITE: local key", write_local_key, XV_WC_LOC_PROT_ERR },
	{ "WRITE: local key in the middle", write_half, XV_WC_LOC_PROT_ERR },
	{ "READ: local key", read_local_key, XV_WC_LOC_PROT_ERR },
	{ "READ: local key in the middle", read_half, XV_WC_LOC_PROT_ERR },
	{ "atomic: local key", atomic_local_key, XV_WC_LOC_PROT_ERR },
	{ "SEND with invalidate", send_inval, XV_WC_REM_ACCESS_ERR },
	{ "SEND with invalidate: key", send_inval_key, XV_WC_REM_OP_ERR },
	{ "the peer is in RESET", peer_reset, XV_WC_RETRY_EXC_ERR },
	{ "the peer is in ERR", peer_error, XV_WC_RETRY_EXC_ERR },
	{ "there is no peer", peer_absent, XV_WC_RETRY_EXC_ERR },
	{ "the peer has another peer", peer_of_another, XV_WC_RETRY_EXC_ERR },
	{ "WRITE: the local key is destroyed", write_destroyed_here, XV_WC_LOC_PROT_ERR },
	{ "WRITE: the remote key is destroyed", write_destroyed_there, XV_WC_REM_ACCESS_ERR },
	{ "READ: the local key is destroyed", read_destroyed_here, XV_WC_LOC_PROT_ERR },
	{ "READ: the remote key is destroyed", read_destroyed_there, XV_WC_REM_ACCESS_ERR },
	{ "SEND: the local key is destroyed", send_destroyed_here, XV_WC_LOC_PROT_ERR },
	{ "SEND: the key of the receive is destroyed", send_destroyed_there, XV_WC_REM_OP_ERR },
	{ "ERR in the middle", error_here, XV_WC_WR_FLUSH_ERR },
	{ "the peer enters ERR in the middle", error_there, XV_WC_RETRY_EXC_ERR },
	{ "the peer enters ERR while it answers", error_read_there, XV_WC_RETRY_EXC_ERR },
	{ "the CQ of the receiver overruns", overrun_there, XV_WC_RETRY_EXC_ERR,
	  { .log_sq = { 6, 2 } } },
	{ "the CQ of the sender overruns", overrun_here, -1, { .log_sq = { 2, 6 } } },
	{ "requests without a peer between messages", between, OK, { .cross = SESSION_MASTER } },
	{ "READ that calculates", read_add, OK, { .cross = SESSION_MASTER } },
	{ "READ that calculates: key", read_add_key, XV_WC_REM_ACCESS_ERR,
	  { .cross = SESSION_MASTER } },
	{ "READ that calculates: local key", read_add_local_key, XV_WC_LOC_PROT_ERR,
	  { .cross = SESSION_MASTER } },
	{ "a request that is no request", bad_request, XV_WC_LOC_QP_OP_ERR },
	{ "a message that is too long", too_long, XV_WC_LOC_LEN_ERR },
	{ "UC: no receive", rnr_limited, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: a receive is too short", short_receive, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: too short in the middle", short_in_the_middle, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: the key of a receive", receive_key, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: WRITE: key", write_key, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: WRITE with immediate: key", write_imm_key, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: WRITE: out of bounds", write_end, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: WRITE is not allowed", write_not_allowed, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: SEND: local key", send_key, XV_WC_LOC_PROT_ERR, { .st = MLX5_QP_ST_UC } },
	{ "UC: SEND: local key in the middle", send_half, XV_WC_LOC_PROT_ERR,
	  { .st = MLX5_QP_ST_UC } },
	{ "UC: WRITE: local key in the middle", write_half, XV_WC_LOC_PROT_ERR,
	  { .st = MLX5_QP_ST_UC } },
	{ "UC: a READ", read_key, XV_WC_LOC_QP_OP_ERR, { .st = MLX5_QP_ST_UC } },
	{ "UC: an atomic", odd_atomic, XV_WC_LOC_QP_OP_ERR, { .st = MLX5_QP_ST_UC } },
	{ "UC: SEND with invalidate", send_inval_key, XV_WC_LOC_QP_OP_ERR,
	  { .st = MLX5_QP_ST_UC } },
	{ "UC: the peer is in RESET", peer_reset, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: the local key is destroyed", write_destroyed_here, XV_WC_LOC_PROT_ERR,
	  { .st = MLX5_QP_ST_UC } },
	{ "UC: the remote key is destroyed", write_destroyed_there, OK, { .st = MLX5_QP_ST_UC } },
	{ "UC: the key of the receive is destroyed", send_destroyed_there, OK,
	  { .st = MLX5_QP_ST_UC } },
	{ "UC: the CQ of the receiver overruns", overrun_there, OK,
	  { .st = MLX5_QP_ST_UC, .log_sq = { 6, 2 } } },
};

static int status_of(const struct peers_view *v, u64 wr_id)
{
	u64 i;

	for (i = 0; i < v->nwcs && i < PEERS_WCS; i++)
		if (v->wc[i].wr_id == wr_id)
			return v->wc[i].status;
	return -1;
}

static void run_case(u32 i, bool on_wire, struct peers_view view[2])
{
	struct peers_config c = cases[i].c;

	c.wired = on_wire;
	peers_open(&c);
	cases[i].run();
	view[0] = *look(0);
	view[1] = *look(1);
	if (on_wire && (w.bad || !session_turns_bounded(&w.s[0]) ||
			!session_turns_bounded(&w.s[1])))
		ok(false, "%s: all frames are packets, no turn is above the limits",
		   cases[i].name);
	peers_close();
}

static void test_case(u32 i)
{
	struct peers_view alone[2], far[2];
	bool same, good;

	run_case(i, false, alone);
	run_case(i, true, far);
	same = !memcmp(alone, far, sizeof(far));
	good = status_of(&alone[0], 3) == cases[i].status;
	if (ok(same && good, "%s: the same as for local peers", cases[i].name))
		return;
	diag("status %d, wanted %d", status_of(&alone[0], 3), cases[i].status);
	peers_print(&alone[0]);
	peers_print(&alone[1]);
	diag("on the wire:");
	peers_print(&far[0]);
	peers_print(&far[1]);
	wire_print(&w);
}

int main(int argc, char **argv)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (argc < 2 || atoi(argv[1]) == i + 1)
			test_case(i);
	return tap_done();
}
