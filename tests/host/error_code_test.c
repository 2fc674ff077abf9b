// SPDX-License-Identifier: GPL-2.0
/*
 * Completions with an error have the bytes that were seen from adapters: syndrome, codes of the
 * vendor and of the hardware, opcode, index.  Local messages and those on a wire have the same.
 */
#include <string.h>
#include "data/wire.h"
#include "peers.h"
#include "tap.h"

enum { SECONDS = 100, BYTES = 100 };

static const char *where(void)
{
	return wired ? "wire" : "local";
}

static void open_peers(bool on_wire, bool fail_on_rnr)
{
	const struct peers_config c = {
		.wired = on_wire, .st = MLX5_QP_ST_RC, .fail_on_rnr = fail_on_rnr,
	};

	peers_open(&c);
}

static void settle(void)
{
	commit(0);
	peers_settle(SECONDS * NSEC_PER_SEC);
}

static const struct mlx5r_err_cqe *entry(u32 i, u32 n)
{
	const struct hca_cq *cq = hw_cq(i);

	return hca_buf_at(&cq->buf, n * 64ull + (cq->cqe_bytes - 64));
}

/* The first entry of @i: vendor << 8 | syndrome, and the first byte of the hardware's code */
static void is_request(u32 n, u16 codes, u8 hw_code, u8 opcode, const char *what)
{
	const struct mlx5r_err_cqe *e = entry(0, n);

	tap_is(e->vendor_err_synd << 8 | e->syndrome, codes, "%s, %s: codes", where(), what);
	ok(e->hw_error_syndrome == hw_code && be32_to_cpu(e->sop_drop_qpn) >> 24 == opcode &&
	   be16_to_cpu(e->wqe_counter) == n && (e->op_own & ~1) == 0xd2,
	   "%s, %s: %#x opcode %#x index %u op_own %#x", where(), what, e->hw_error_syndrome,
	   be32_to_cpu(e->sop_drop_qpn) >> 24, be16_to_cpu(e->wqe_counter), e->op_own);
}

static void is_receive(u16 codes, u8 hw_code, const char *what)
{
	const struct mlx5r_err_cqe *e = entry(1, 0);

	tap_is(e->vendor_err_synd << 8 | e->syndrome, codes, "%s, %s: codes", where(), what);
	ok(e->hw_error_syndrome == hw_code && e->op_own >> 4 == MLX5R_CQE_RESP_ERR,
	   "%s, %s: a receive request", where(), what);
}

/* A SEND behind the request that fails is flushed. */
static void end(u16 codes, u8 hw_code, u8 opcode, const char *what)
{
	post_send(9, here(0, 0, BYTES));
	settle();
	is_request(0, codes, hw_code, opcode, what);
	is_request(1, 0xf905, 0, MLX5R_OP_SEND, "flushed behind it");
	peers_close();
}

static struct xv_sge wrong_sge(u32 len)
{
	struct xv_sge sge = here(0, 0, len);

	sge.lkey += 1;
	return sge;
}

static void test_local_keys(bool on_wire)
{
	struct session_mr mr;
	struct xv_sge sge;

	open_peers(on_wire, false);
	post_write(1, wrong_sge(BYTES), 0, peer[1].mr.key);
	end(0x5204, 0x92, MLX5R_OP_RDMA_WRITE, "no such local key");

	open_peers(on_wire, false);
	post_write(1, here(0, PEERS_BYTES - BYTES, BYTES + 1), 0, peer[1].mr.key);
	end(0x5304, 0x9d, MLX5R_OP_RDMA_WRITE, "longer than the region");

	open_peers(on_wire, false);
	mr = session_mr(peer[0].s, peer[0].func, BYTES, MLX5R_MKEY_ACCESS_LR);
	sge = session_sge(&mr, 0, BYTES);
	post_read(1, sge, 0, peer[1].mr.key);
	end(0x3304, 0, MLX5R_OP_RDMA_READ, "a READ into memory that is only read");
}

static void test_remote(bool on_wire)
{
	open_peers(on_wire, false);
	post_write(1, here(0, 0, BYTES), 0, peer[1].mr.key + 1);
	end(0x8813, 0, MLX5R_OP_RDMA_WRITE, "no such remote key");

	open_peers(on_wire, false);
	post_read(1, here(0, 0, BYTES), PEERS_BYTES, peer[1].mr.key);
	end(0x8813, 0, MLX5R_OP_RDMA_READ, "outside of the region");

	open_peers(on_wire, false);
	hw(1)->rwe = false;
	post_write(1, here(0, 0, BYTES), 0, peer[1].mr.key);
	end(0x8a12, 0, MLX5R_OP_RDMA_WRITE, "a queue pair without the right");

	open_peers(on_wire, false);
	receive(1, 1, 0, BYTES - 1);
	post_send(1, here(0, 0, BYTES));
	end(0x8a12, 0, MLX5R_OP_SEND, "receive request too short");
}

/* Data that cannot be read are not sent, so the peer does not refuse them. */
static void test_data_first(bool on_wire)
{
	open_peers(on_wire, false);
	post_send(1, wrong_sge(BYTES));
	commit(0);
	peers_settle(NSEC_PER_MSEC);
	is_request(0, 0x5204, 0x92, MLX5R_OP_SEND, "wrong key and no receive request");
	tap_is(hw(1)->state, MLX5_QP_STATE_RTS, "%s: the peer stays", where());
	peers_close();

	open_peers(on_wire, false);
	receive(1, 1, 0, BYTES - 1);
	post_send(1, wrong_sge(BYTES));
	settle();
	is_request(0, 0x5204, 0x92, MLX5R_OP_SEND, "wrong key and a short receive request");
	ok(look(1)->nwcs == 0 && look(1)->state == MLX5_QP_STATE_RTS,
	   "%s: the receive request stays", where());
	peers_close();

	open_peers(on_wire, false);
	hw(1)->rwe = false;
	post_write(1, wrong_sge(BYTES), 0, peer[1].mr.key);
	settle();
	is_request(0, 0x5204, 0x92, MLX5R_OP_RDMA_WRITE, "wrong key and no right");
	ok(!look(1)->nevents && look(1)->state == MLX5_QP_STATE_RTS, "%s: no event", where());
	peers_close();

	open_peers(on_wire, false);
	session_qp_modify(&peer[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
	post_write(1, wrong_sge(BYTES), 0, peer[1].mr.key);
	commit(0);
	peers_settle(NSEC_PER_MSEC);
	is_request(0, 0x5204, 0x92, MLX5R_OP_RDMA_WRITE, "wrong key and no peer");
	peers_close();
}

static void test_retries(bool on_wire)
{
	open_peers(on_wire, true);
	post_send(1, here(0, 0, BYTES));
	end(0x8716, 0, MLX5R_OP_SEND, "no receive request");

	open_peers(on_wire, false);
	session_qp_modify(&peer[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
	post_send(1, here(0, 0, BYTES));
	end(0x8115, 0, MLX5R_OP_SEND, "no answer");
}

static void test_malformed(bool on_wire)
{
	struct mlx5r_ctrl *ctrl;

	open_peers(on_wire, false);
	ctrl = hca_buf_at(&hw(0)->buf, hw(0)->sq.offset);
	post_send(1, here(0, 0, BYTES));
	ctrl->opmod_idx_opcode |= cpu_to_be32(0x7f);
	end(0x6802, 0x01, 0x7f, "no such opcode");
}

static void test_flush(bool on_wire)
{
	open_peers(on_wire, false);
	receive(1, 1, 0, BYTES);
	receive(0, 1, 0, BYTES);
	session_qp_modify(&peer[0].q, MLX5_CMD_OP_2ERR_QP, NULL);
	session_qp_modify(&peer[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
	is_receive(0xf905, 0, "2ERR");
	peers_close();

	open_peers(on_wire, false);
	session_qp_modify(&peer[0].q, MLX5_CMD_OP_2ERR_QP, NULL);
	post_write(1, here(0, 0, BYTES), 0, peer[1].mr.key);
	end(0xf505, 0, MLX5R_OP_RDMA_WRITE, "the first one after 2ERR");
}

static void test_receive(bool on_wire)
{
	struct xv_sge sge;

	open_peers(on_wire, false);
	sge = here(1, 0, BYTES);
	sge.lkey += 1;
	xv_wr_recv(&peer[1].q.qp, 1, &sge);
	xv_commit_recv(&peer[1].q.qp);
	post_send(1, here(0, 0, BYTES));
	settle();
	is_receive(0x3204, 0x93, "wrong key");
	is_request(0, 0x8914, 0, MLX5R_OP_SEND, "the receive request has a wrong key");
	peers_close();
}

/* The request fails only when those before it are complete; another key is refused meanwhile. */
static void test_later(void)
{
	open_peers(true, false);
	w.delay = 10 * NSEC_PER_MSEC;
	post_read(0, here(0, 0, 100000), 0, peer[1].mr.key);
	post_write(1, wrong_sge(BYTES), 0, peer[1].mr.key);
	commit(0);
	peers_settle(5 * NSEC_PER_MSEC);
	hca_of(0)->fabric->key_fault = HCA_FAULT_BOUNDS;
	settle();
	ok(entry(0, 0)->op_own >> 4 == MLX5R_CQE_REQ, "the request before it is complete");
	tap_is(entry(0, 1)->vendor_err_synd << 8 | entry(0, 1)->syndrome, 0x5204,
	       "its codes say why it failed");
	peers_close();
}

int main(void)
{
	int on_wire;

	for (on_wire = 0; on_wire < 2; on_wire++) {
		test_local_keys(on_wire);
		test_remote(on_wire);
		test_data_first(on_wire);
		test_retries(on_wire);
		test_malformed(on_wire);
		test_flush(on_wire);
		test_receive(on_wire);
	}
	test_later();
	return tap_done();
}
