// SPDX-License-Identifier: GPL-2.0
/*
 * usage: umr DEVICE GID-INDEX
 *
 * Indirect keys of libmlx5: mlx5dv_create_mkey(), filled by mlx5dv_wr_mr_list(),
 * mlx5dv_wr_mr_interleaved() or mlx5dv_wr_mkey_configure(), used by writes and reads, locally and
 * remotely.  libmlx5 creates them by DEVX.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include "tap.h"

enum { BYTES = 1 << 16, ENTRIES = 16, ROUNDS = 20 };

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp, *peer;
static struct mlx5dv_qp_ex *dv;
static struct ibv_mr *mr, *plain_mr;
static uint8_t mem[BYTES], plain[BYTES];

static void need(int good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- Setup --------------------------------------------------------------- */

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d = list;

	while (d && *d && strcmp(ibv_get_device_name(*d), name))
		d++;
	return d && *d ? ibv_open_device(*d) : NULL;
}

static void connect_qp(struct ibv_qp *q, uint32_t to, int gid_index)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
	struct ibv_port_attr port;
	union ibv_gid gid;

	need(!ibv_query_port(ctx, 1, &port) && !ibv_query_gid(ctx, 1, gid_index, &gid) &&
	     !ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS), "INIT");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = to, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
			     .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 3 },
			     .dlid = port.lid, .port_num = 1 } };
	need(!ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER), "RTR");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1 };
	need(!ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

/* A pair of queue pairs; the first one has the requests of libmlx5. */
static void make_qps(int gid_index)
{
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1, .max_inline_data = 512 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
				  IBV_QP_EX_WITH_LOCAL_INV };
	struct ibv_qp_init_attr plain_init = { .qp_type = IBV_QPT_RC, .send_cq = cq,
		.recv_cq = cq, .cap = init.cap };
	struct mlx5dv_qp_init_attr dv_init = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED |
				  MLX5DV_QP_EX_WITH_MKEY_CONFIGURE };

	qp = mlx5dv_create_qp(ctx, &init, &dv_init);
	peer = ibv_create_qp(pd, &plain_init);
	need(qp && peer, "queue pairs");
	dv = mlx5dv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(qp));
	connect_qp(qp, peer->qp_num, gid_index);
	connect_qp(peer, qp->qp_num, gid_index);
}

static void renew_qps(int gid_index)
{
	need(!ibv_destroy_qp(qp) && !ibv_destroy_qp(peer), "ibv_destroy_qp");
	make_qps(gid_index);
}

/* The status of the next completion */
static int status(void)
{
	struct ibv_wc wc = { .status = ~0 };
	int i, n = 0;

	for (i = 0; i < 10000 && !n; i++) {
		n = ibv_poll_cq(cq, 1, &wc);
		if (!n)
			usleep(1000);
	}
	return n == 1 ? (int)wc.status : -1;
}

static void start(void)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
}

static int finish(void)
{
	int err = ibv_wr_complete(ibv_qp_to_qp_ex(qp));

	return err ? -err : status();
}

/* Moves n bytes between the contiguous memory and the key, which is local or remote. */
static int transfer(const struct mlx5dv_mkey *mkey, bool from_key, bool remote, uint32_t n)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	uint64_t flat = (uintptr_t)plain;

	ibv_wr_start(qpx);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	/* A write reads the local side, a read writes it. */
	if (from_key != remote)
		ibv_wr_rdma_write(qpx, remote ? mkey->rkey : plain_mr->rkey, remote ? 0 : flat);
	else
		ibv_wr_rdma_read(qpx, remote ? mkey->rkey : plain_mr->rkey, remote ? 0 : flat);
	ibv_wr_set_sge(qpx, remote ? plain_mr->lkey : mkey->lkey, remote ? flat : 0, n);
	return finish();
}

/* ---- Layouts: the offset of each byte of the key ------------------------- */

static uint32_t at[BYTES], length;

static void add(uint32_t off, uint32_t n)
{
	while (n--)
		at[length++] = off++;
}

enum { ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

static bool configure;		/* keys are filled by mlx5dv_wr_mkey_configure() */

/* Begins a request that sets access and layout of the key. */
static void start_configure(struct mlx5dv_mkey *mkey)
{
	struct mlx5dv_mkey_conf_attr attr = { 0 };

	mlx5dv_wr_mkey_configure(dv, mkey, 2, &attr);
	mlx5dv_wr_set_mkey_access_flags(dv, ACCESS);
}

static int fill_list(struct mlx5dv_mkey *mkey, uint32_t n)
{
	struct ibv_sge sge[ENTRIES];
	uint32_t i;

	length = 0;
	for (i = 0; i < n; i++) {
		uint32_t slot = (i * 5 + 3) % ENTRIES, off = rand() % 1000;

		sge[i] = (struct ibv_sge) {
			(uintptr_t)mem + slot * 4096 + off, 1 + rand() % 3000, mr->lkey,
		};
		add(slot * 4096 + off, sge[i].length);
	}
	start();
	if (configure) {
		start_configure(mkey);
		mlx5dv_wr_set_mkey_layout_list(dv, n, sge);
	} else {
		mlx5dv_wr_mr_list(dv, mkey, ACCESS, n, sge);
	}
	return finish();
}

static int fill_block(struct mlx5dv_mkey *mkey, uint32_t n)
{
	struct mlx5dv_mr_interleaved part[ENTRIES];
	uint32_t count = 1 + rand() % 20, i, r;

	length = 0;
	for (i = 0; i < n; i++) {
		uint32_t bytes = 1 + rand() % 100;

		part[i] = (struct mlx5dv_mr_interleaved) {
			.addr = (uintptr_t)mem + i * 4096, .bytes_count = bytes,
			.bytes_skip = rand() % 100, .lkey = mr->lkey,
		};
	}
	for (r = 0; r < count; r++)
		for (i = 0; i < n; i++)
			add(i * 4096 + r * (part[i].bytes_count + part[i].bytes_skip),
			    part[i].bytes_count);
	start();
	if (configure) {
		start_configure(mkey);
		mlx5dv_wr_set_mkey_layout_interleaved(dv, count, n, part);
	} else {
		mlx5dv_wr_mr_interleaved(dv, mkey, ACCESS, count, n, part);
	}
	return finish();
}

static bool same(void)
{
	uint32_t i;

	for (i = 0; i < length; i++)
		if (mem[at[i]] != plain[i])
			return false;
	return true;
}

typedef int fill_fn(struct mlx5dv_mkey *mkey, uint32_t n);

static void test_layouts(struct mlx5dv_mkey *mkey, fill_fn *fill, uint32_t max, const char *what)
{
	int round, how, i, good = 0, want = 0;

	for (round = 0; round < ROUNDS; round++) {
		good += fill(mkey, 1 + rand() % max) == IBV_WC_SUCCESS;
		want++;
		for (how = 0; how < 4; how++, want++) {
			for (i = 0; i < BYTES; i++) {
				mem[i] = rand();
				plain[i] = rand();
			}
			good += transfer(mkey, how & 1, how & 2, length) == IBV_WC_SUCCESS &&
				same();
		}
	}
	tap_is(good, want, "%s: random layouts, each byte is right", what);
}

static int local_inv(uint32_t key)
{
	start();
	ibv_wr_local_inv(ibv_qp_to_qp_ex(qp), key);
	return finish();
}

/* A request invalidates the key, which can then be filled again. */
static void test_local_inv(struct mlx5dv_mkey *mkey, int gid_index)
{
	tap_is(local_inv(mkey->lkey), IBV_WC_SUCCESS, "LOCAL_INV of the key");
	tap_is(transfer(mkey, true, false, 1), IBV_WC_LOC_PROT_ERR, "it gives no access");
	renew_qps(gid_index);
	tap_is(fill_list(mkey, ENTRIES), IBV_WC_SUCCESS, "it is filled again");
	tap_is(transfer(mkey, true, false, length), IBV_WC_SUCCESS, "it gives access");
}

int main(int argc, char **argv)
{
	struct mlx5dv_mkey_init_attr attr = {
		.create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, .max_entries = ENTRIES,
	};
	struct mlx5dv_mkey *mkey;
	int gid_index = argc > 2 ? atoi(argv[2]) : 0;

	need(argc > 1 && (ctx = open_device(argv[1])), "device");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, mem, BYTES, ACCESS);
	plain_mr = ibv_reg_mr(pd, plain, BYTES, ACCESS);
	need(pd && cq && mr && plain_mr, "resources");
	make_qps(gid_index);
	attr.pd = pd;
	mkey = mlx5dv_create_mkey(&attr);
	if (!ok(mkey && attr.max_entries == ENTRIES, "mlx5dv_create_mkey"))
		return tap_done();
	test_layouts(mkey, fill_list, ENTRIES, "mlx5dv_wr_mr_list");
	test_layouts(mkey, fill_block, ENTRIES - 1, "mlx5dv_wr_mr_interleaved");
	configure = true;
	test_layouts(mkey, fill_list, ENTRIES, "mlx5dv_wr_set_mkey_layout_list");
	test_layouts(mkey, fill_block, ENTRIES - 1, "mlx5dv_wr_set_mkey_layout_interleaved");
	tap_is(transfer(mkey, true, false, length + 1), IBV_WC_LOC_PROT_ERR,
	       "local: a byte too many");
	renew_qps(gid_index);
	tap_is(transfer(mkey, true, true, length + 1), IBV_WC_REM_ACCESS_ERR,
	       "remote: a byte too many");
	renew_qps(gid_index);
	test_local_inv(mkey, gid_index);
	ok(!mlx5dv_destroy_mkey(mkey), "mlx5dv_destroy_mkey");
	ok(!ibv_destroy_qp(qp) && !ibv_destroy_qp(peer) && !ibv_destroy_cq(cq) &&
	   !ibv_dereg_mr(mr) && !ibv_dereg_mr(plain_mr) && !ibv_dealloc_pd(pd) &&
	   !ibv_close_device(ctx), "destroy");
	return tap_done();
}
