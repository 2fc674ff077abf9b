// SPDX-License-Identifier: GPL-2.0
/*
 * usage: options DEVICE GID-INDEX
 *
 * What plain libibverbs and libmlx5 may ask of a device: masked atomics as raw requests, data
 * in completions, relaxed ordering, connection options (ECE), compressed completions, flags of
 * queue pairs, CQs and memory keys.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include "tap.h"

#define TARGET	1024u		/* offset of operands */

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;	/* connected to itself */
static struct ibv_mr *mr;
static char mem[4096] __attribute__((aligned(4096)));

static void need(int good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static void connect_self(union ibv_gid gid, int gid_index)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .path_mtu = IBV_MTU_1024,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 6, .max_rd_atomic = 4,
	};

	need(!ibv_query_port(ctx, 1, &port), "query port");
	a.ah_attr = (struct ibv_ah_attr) {
		.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET, .dlid = port.lid,
		.grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 3 }, .port_num = 1,
	};
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS), "INIT");
	a.qp_state = IBV_QPS_RTR;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER), "RTR");
	a.qp_state = IBV_QPS_RTS;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

/* @scatter: data of requests in completions; libmlx5 copies that of reads and plain atomics */
static void make_qp(bool scatter)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .pd = pd,
		.cap = { .max_send_wr = 64, .max_recv_wr = 4, .max_send_sge = 2,
			 .max_recv_sge = 1, .max_inline_data = 512 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ,
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS |
			     MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = scatter ? MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE :
					  MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
		.send_ops_flags = MLX5DV_QP_EX_WITH_RAW_WQE,
	};

	qp = mlx5dv_create_qp(ctx, &init, &dv);
	need(qp != NULL, "mlx5dv_create_qp");
}

static enum ibv_wc_status next(struct ibv_wc *wc)
{
	time_t end = time(NULL) + 10;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, wc);
	} while (!n && time(NULL) < end);
	return n == 1 ? wc->status : IBV_WC_GENERAL_ERR;
}

/* ---- Masked atomics, in the format of the adapter ------------------------------------- */

struct wqe {
	struct mlx5_wqe_ctrl_seg ctrl;
	struct mlx5_wqe_raddr_seg raddr;
	uint8_t rest[1024];
};

/* Posts @opcode on @bytes; the result arrives at the start of mem. */
static enum ibv_wc_status masked(uint8_t opcode, uint32_t bytes, const void *args, uint32_t n)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	uint32_t ds = 3 + (n + 15) / 16, opmod = 8 | (31 - __builtin_clz(bytes) - 2);
	struct mlx5_wqe_data_seg *data;
	struct ibv_wc wc;
	struct wqe w = {
		.ctrl.opmod_idx_opcode = htobe32(opmod << 24 | opcode),
		.ctrl.qpn_ds = htobe32(qp->qp_num << 8 | ds),
		.ctrl.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
		.raddr.raddr = htobe64((uintptr_t)mem + TARGET),
		.raddr.rkey = htobe32(mr->rkey),
	};

	memcpy(w.rest, args, n);
	data = (void *)(w.rest + (n + 15) / 16 * 16);
	*data = (struct mlx5_wqe_data_seg) { htobe32(bytes), htobe32(mr->lkey),
					     htobe64((uintptr_t)mem) };
	ibv_wr_start(qpx);
	mlx5dv_wr_raw_wqe(mlx5dv_qp_ex_from_ibv_qp_ex(qpx), &w);
	if (ibv_wr_complete(qpx))
		return IBV_WC_GENERAL_ERR;
	return next(&wc);
}

static void test_masked(void)
{
	uint64_t fa[] = { htobe64(0x0001000100010001), htobe64(0x8000800080008000) };
	uint64_t wide[8] = { 0 }, *word = (uint64_t *)(mem + TARGET);
	uint32_t cs[] = { htobe32(0xff), htobe32(0x34), htobe32(0x0f), htobe32(0xff) };
	int i, bad = 0;

	*word = 0x0001ffff0001ffff;
	tap_is(masked(0x15, 8, fa, sizeof(fa)), IBV_WC_SUCCESS, "raw multi-field addition");
	ok(*word == 0x0002000000020000 && *(uint64_t *)mem == 0x0001ffff0001ffff,
	   "four lanes of 16 bits; the result in host order");
	*(uint32_t *)word = 0x1234;
	tap_is(masked(0x14, 4, cs, sizeof(cs)), IBV_WC_SUCCESS, "raw masked swap of 4 bytes");
	ok(*(uint32_t *)word == 0x123f && be32toh(*(uint32_t *)mem) == 0x1234,
	   "four bits are swapped; the result is big-endian");
	for (i = 0; i < 4; i++) {
		word[i] = i;
		wide[i] = htobe64(100);
	}
	tap_is(masked(0x15, 32, wide, sizeof(wide)), IBV_WC_SUCCESS, "32 bytes");
	for (i = 0; i < 4; i++)
		bad += word[i] != 100 + (uint64_t)i || be64toh(((uint64_t *)mem)[i]) != (uint64_t)i;
	tap_is(bad, 0, "four sums and results");
}

/* ---- Others --------------------------------------------------------------------------- */

/* libmlx5 asks for data in the completion, and copies it. */
static void test_data(void)
{
	int i, bad = 0;

	for (i = 1; i <= 64; i++) {
		struct ibv_sge sge = { (uintptr_t)mem, (uint32_t)i, mr->lkey };
		struct ibv_send_wr *b, wr = {
			.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)mem + TARGET, mr->rkey },
		};
		struct ibv_wc wc;

		memset(mem, 0, 128);
		memset(mem + TARGET, i, 128);
		bad += ibv_post_send(qp, &wr, &b) || next(&wc) != IBV_WC_SUCCESS ||
		       memcmp(mem, mem + TARGET, i) || mem[i];
	}
	tap_is(bad, 0, "reads of 1 to 64 bytes");
}

static void test_relaxed(void)
{
	struct ibv_sge sge = { (uintptr_t)mem, 1000, mr->lkey };
	struct ibv_mr *relaxed = ibv_reg_mr(pd, mem + 2048, 1024, IBV_ACCESS_LOCAL_WRITE |
					    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
					    IBV_ACCESS_RELAXED_ORDERING);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;

	if (!ok(relaxed != NULL, "a region with relaxed ordering"))
		return;
	memset(mem, 0x77, 1000);
	wr.wr.rdma.remote_addr = (uintptr_t)mem + 2048;
	wr.wr.rdma.rkey = relaxed->rkey;
	ok(!ibv_post_send(qp, &wr, &bad) && next(&wc) == IBV_WC_SUCCESS &&
	   !memcmp(mem, mem + 2048, 1000), "a write to it");
	tap_is(ibv_rereg_mr(relaxed, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE), 0, "without relaxed ordering");
	tap_is(ibv_rereg_mr(relaxed, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING), 0, "and with");
	tap_is(ibv_dereg_mr(relaxed), 0, "deregister");
}

/* Options of ECE can be set.  The adapter grants version 1 without any option. */
static void test_ece(union ibv_gid gid, int gid_index)
{
	struct ibv_ece ece = { 0 }, set = { .vendor_id = 0x15b3, .options = 0x10000005 };
	struct ibv_qp *other = qp;

	make_qp(false);
	ok(!ibv_query_ece(qp, &ece) && ece.options == 1u << 28,
	   "connection options: version 1, none");
	tap_is(ibv_set_ece(qp, &set), 0, "options are set");
	connect_self(gid, gid_index);
	ok(!ibv_query_ece(qp, &ece) && ece.options == 1u << 28, "none of them is granted");
	ok(!ibv_destroy_qp(qp), "the queue pair ends");
	qp = other;
}

static void test_compressed(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 16 };
	struct mlx5dv_cq_init_attr dv = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE,
		.cqe_comp_res_format = MLX5DV_CQE_RES_FORMAT_HASH,
	};
	struct mlx5dv_context info = { .comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION };

	ok(!mlx5dv_query_device(ctx, &info) && !info.cqe_comp_caps.max_num &&
	   !info.cqe_comp_caps.supported_format, "no format of compressed completions");
	for (; dv.cqe_comp_res_format <= MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX;
	     dv.cqe_comp_res_format *= 2)
		ok(!mlx5dv_create_cq(ctx, &init, &dv) && errno == EINVAL,
		   "a CQ with format %u of them is refused", dv.cqe_comp_res_format);
}

/* Which memory keys may be created, with the error of those that may not */
static void test_mkeys(void)
{
	static const struct {
		uint32_t flags;
		const char *what;
		int err;
	} mkeys[] = {
		{ 0, "without indirection", EOPNOTSUPP },
		{ MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, "with indirection", 0 },
		{ MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
		  MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE, "with remote invalidation", 0 },
		{ MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
		  MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE, "with signatures", EOPNOTSUPP },
		{ MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
		  MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO, "with encryption", EOPNOTSUPP },
		{ MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
		  MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG, "with tags", 0 },
	};
	struct mlx5dv_mkey_init_attr init = { .pd = pd, .max_entries = 4 };
	struct mlx5dv_mkey *mkey;
	unsigned int i;

	for (i = 0; i < sizeof(mkeys) / sizeof(mkeys[0]); i++) {
		init.create_flags = mkeys[i].flags;
		errno = 0;
		mkey = mlx5dv_create_mkey(&init);
		ok(!mkey == !!mkeys[i].err && (mkey || errno == mkeys[i].err),
		   "an mkey %s: %s", mkeys[i].what, mkey ? "created" : strerror(errno));
		if (mkey)
			need(!mlx5dv_destroy_mkey(mkey), "mlx5dv_destroy_mkey");
	}
}

static struct ibv_qp *make_with(enum ibv_qp_type type, struct mlx5dv_qp_init_attr *dv)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq, .pd = pd,
		.cap = { .max_send_wr = 4, .max_recv_wr = type == IBV_QPT_RC, .max_send_sge = 1,
			 .max_recv_sge = type == IBV_QPT_RC, .max_inline_data = 128 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
	};

	errno = 0;
	return mlx5dv_create_qp(ctx, &init, dv);
}

/* Which operations a queue pair may have, and streams of a DCI */
static void test_operations(void)
{
	static const struct {
		uint64_t flag;
		const char *what;
		int err;
	} ops[] = {
		{ MLX5DV_QP_EX_WITH_MR_INTERLEAVED, "interleaved keys", 0 },
		{ MLX5DV_QP_EX_WITH_MR_LIST, "keys of lists", 0 },
		{ MLX5DV_QP_EX_WITH_MKEY_CONFIGURE, "configured keys", 0 },
		{ MLX5DV_QP_EX_WITH_MEMCPY, "copies in memory", EOPNOTSUPP },
	};
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS };
	struct mlx5dv_qp_init_attr dci = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC | MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI,
				  .dci_streams = { .log_num_concurent = 2, .log_num_errored = 1 } },
	};
	struct mlx5dv_context info = { .comp_mask = MLX5DV_CONTEXT_MASK_DCI_STREAMS };
	struct ibv_qp *made;
	unsigned int i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		dv.send_ops_flags = ops[i].flag;
		made = make_with(IBV_QPT_RC, &dv);
		ok(!made == !!ops[i].err && (made || errno == ops[i].err),
		   "a queue pair with %s: %s", ops[i].what, made ? "created" : strerror(errno));
		if (made)
			need(!ibv_destroy_qp(made), "ibv_destroy_qp");
	}
	ok(!mlx5dv_query_device(ctx, &info) && !info.dci_streams_caps.max_log_num_concurent,
	   "DCIs have no streams");
	ok(!make_with(IBV_QPT_DRIVER, &dci) && errno == EINVAL, "a DCI with them is refused");
}

static struct ibv_cq *make_cq(uint32_t size, uint32_t flags)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 16 };
	struct mlx5dv_cq_init_attr dv = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE | MLX5DV_CQ_INIT_ATTR_MASK_FLAGS,
		.cqe_size = size, .flags = flags,
	};
	struct ibv_cq_ex *made = mlx5dv_create_cq(ctx, &init, &dv);

	return made ? ibv_cq_ex_to_cq(made) : NULL;
}

/* What the adapter does not execute, the driver does not announce. */
static void test_not_announced(void)
{
	struct mlx5dv_context info = {
		.comp_mask = MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS | MLX5DV_CONTEXT_MASK_SWP |
			     MLX5DV_CONTEXT_MASK_STRIDING_RQ |
			     MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH |
			     MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD |
			     MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD,
	};

	need(!mlx5dv_query_device(ctx, &info), "mlx5dv_query_device");
	tap_is(info.flags & (MLX5DV_CONTEXT_FLAGS_PACKET_BASED_CREDIT_MODE |
			     MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD), 0,
	       "no credits by packets, no padded entries");
	tap_is(info.tunnel_offloads_caps | info.sw_parsing_caps.sw_parsing_offloads |
	       info.striding_rq_caps.supported_qpts, 0, "no Ethernet offloads");
	tap_is(info.max_wr_memcpy_length, 0, "no copies in memory");
	tap_is(info.sig_caps.block_prot | info.crypto_caps.crypto_engines, 0,
	       "no signatures, no encryption");
}

/* Flags of features that the device does not have */
static void test_flags(void)
{
	static const struct {
		uint32_t flag;
		const char *what;
	} flags[] = {
		{ MLX5DV_QP_CREATE_TUNNEL_OFFLOADS, "tunnel offloads" },
		{ MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC, "loopback of Ethernet frames" },
		{ MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC, "loopback of Ethernet multicast" },
		{ MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE, "credits by packets" },
		{ MLX5DV_QP_CREATE_SIG_PIPELINING, "pipelined signatures" },
	};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .pd = pd,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
	};
	struct ibv_cq *made;
	unsigned int i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		dv.create_flags = flags[i].flag;
		ok(!mlx5dv_create_qp(ctx, &init, &dv) && errno, "a queue pair with %s is refused",
		   flags[i].what);
	}
	for (i = 64; i <= 128; i *= 2) {
		made = make_cq(i, 0);
		ok(made && !ibv_destroy_cq(made), "a CQ with entries of %u bytes", i);
	}
	ok(!make_cq(32, 0) && errno, "a CQ with entries of 32 bytes is refused");
	ok(!make_cq(128, MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD) && errno,
	   "a CQ with padded entries is refused");
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	union ibv_gid gid;
	int i;

	need(argc == 3 && list, "usage: options DEVICE GID-INDEX");
	for (i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), argv[1]))
			ctx = ibv_open_device(list[i]);
	need(ctx && !ibv_query_gid(ctx, 1, atoi(argv[2]), &gid), "device");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	need(pd && cq && mr, "objects");
	make_qp(false);
	connect_self(gid, atoi(argv[2]));
	test_masked();
	need(!ibv_destroy_qp(qp), "destroy");
	make_qp(true);
	connect_self(gid, atoi(argv[2]));
	test_data();
	test_relaxed();
	test_ece(gid, atoi(argv[2]));
	test_compressed();
	test_not_announced();
	test_flags();
	test_mkeys();
	test_operations();
	ok(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd),
	   "destroy");
	ibv_close_device(ctx);
	ibv_free_device_list(list);
	return tap_done();
}
