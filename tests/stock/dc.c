// SPDX-License-Identifier: GPL-2.0
/*
 * usage: dc DEVICE GID-INDEX [DEVICE GID-INDEX]
 *
 * Dynamically connected transport with plain libibverbs and libmlx5: initiators (DCI) of the
 * first device, targets (DCT) of both.  Each message has a checksum.
 */
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include "tap.h"

#define KEY	0x0123456789abcdefull
#define TARGETS	1000
#define SOURCES	200
#define DEPTH	256		/* receive requests */
#define SMALL	1024u
#define LONG	(1u << 20)
#define BYTES	(16u << 20)	/* memory of each side */
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_ATOMIC)

/* A device, and what its queues use */
static struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	char *mem;
	struct ibv_mr *mr;
	int gid_index;
	struct ibv_ah_attr address;	/* of the device, for others */
} side[2];

static struct ibv_ah *ah[2];		/* from the first device to each */

struct initiator {
	struct ibv_qp *qp;
	struct ibv_qp_ex *ex;
	struct mlx5dv_qp_ex *dv;
};

static struct initiator dci;
static struct ibv_qp *dct;		/* of the second device */

static void need(int good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* ---- Setup ------------------------------------------------------------------------- */

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d = list;

	while (d && *d && strcmp(ibv_get_device_name(*d), name))
		d++;
	return d && *d ? ibv_open_device(*d) : NULL;
}

static void open_side(struct side *s, const char *name, int gid_index)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct ibv_port_attr port;

	s->ctx = open_device(name);
	need(s->ctx != NULL, "open a device");
	s->gid_index = gid_index;
	s->pd = ibv_alloc_pd(s->ctx);
	s->send_cq = ibv_create_cq(s->ctx, 4096, NULL, NULL, 0);
	s->recv_cq = ibv_create_cq(s->ctx, 4096, NULL, NULL, 0);
	s->srq = s->pd ? ibv_create_srq(s->pd, &srq) : NULL;
	s->mem = aligned_alloc(4096, BYTES);
	need(s->send_cq && s->recv_cq && s->srq && s->mem, "objects");
	s->mr = ibv_reg_mr(s->pd, s->mem, BYTES, ACCESS);
	need(s->mr && !ibv_query_port(s->ctx, 1, &port), "memory and port");
	s->address.dlid = port.lid;
	s->address.port_num = 1;
	s->address.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	s->address.grh.sgid_index = gid_index;
	s->address.grh.hop_limit = 64;
	need(!ibv_query_gid(s->ctx, 1, gid_index, &s->address.grh.dgid), "GID");
}

static struct ibv_ah *address_handle(const struct side *from, const struct side *to)
{
	struct ibv_ah_attr a = to->address;

	a.grh.sgid_index = from->gid_index;
	return ibv_create_ah(from->pd, &a);
}

static struct ibv_qp *make_dct(struct side *s, struct ibv_srq *srq, int access)
{
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_DRIVER, .pd = s->pd, .srq = srq,
		.send_cq = s->recv_cq, .recv_cq = s->recv_cq, .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = KEY } };
	struct ibv_qp *qp = mlx5dv_create_qp(s->ctx, &init, &dv);
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = access };

	if (!qp || ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				 IBV_QP_ACCESS_FLAGS))
		return NULL;
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.min_rnr_timer = 1, .ah_attr = s->address };
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER |
			     IBV_QP_AV) ? NULL : qp;
}

/* Takes a DCI from RESET to RTS. */
static int start_dci(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT))
		return -1;
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024 };
	if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PATH_MTU))
		return -1;
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 10, .retry_cnt = 2,
		.rnr_retry = 2, .max_rd_atomic = 4 };
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN);
}

static struct initiator make_dci(struct side *s)
{
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_DRIVER, .pd = s->pd,
		.send_cq = s->send_cq, .recv_cq = s->send_cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 4, .max_inline_data = 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
			IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD };
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI } };
	struct initiator i = { .qp = mlx5dv_create_qp(s->ctx, &init, &dv) };

	need(i.qp && !start_dci(i.qp), "a DCI");
	i.ex = ibv_qp_to_qp_ex(i.qp);
	i.dv = mlx5dv_qp_ex_from_ibv_qp_ex(i.ex);
	return i;
}

/* ---- Messages ---------------------------------------------------------------------- */

static uint32_t checksum(const char *at, uint32_t bytes)
{
	uint32_t sum = 2166136261u, i;

	for (i = 0; i < bytes; i++)
		sum = (sum ^ (uint8_t)at[i]) * 16777619u;
	return sum;
}

/* Random data; the last four bytes are the checksum of the others. */
static void fill(char *at, uint32_t bytes, uint32_t seed)
{
	uint32_t i, sum;

	for (i = 0; i < bytes; i++) {
		seed = seed * 1664525u + 1013904223u;
		at[i] = seed >> 24;
	}
	sum = checksum(at, bytes - 4);
	memcpy(at + bytes - 4, &sum, 4);
}

static int intact(const char *at, uint32_t bytes)
{
	uint32_t sum = checksum(at, bytes - 4);

	return !memcmp(at + bytes - 4, &sum, 4);
}

static void receive(struct side *s, struct ibv_srq *srq, uint32_t at, uint32_t bytes)
{
	struct ibv_sge sge = { .addr = (uintptr_t)s->mem + at, .length = bytes,
		.lkey = s->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = at, .sg_list = &sge, .num_sge = 1 }, *bad;

	need(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
}

/* The next completion; 0: none within 20 seconds */
static int complete(struct ibv_cq *cq, struct ibv_wc *wc)
{
	double until = now() + 20;

	while (now() < until)
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return 1;
	return 0;
}

static void begin(struct initiator *i)
{
	ibv_wr_start(i->ex);
	i->ex->wr_id = 1;
	i->ex->wr_flags = IBV_SEND_SIGNALED;
}

/* Adds target and data to the request that was begun, and posts it. */
static void finish(struct initiator *i, int to, const struct ibv_qp *dest, uint64_t key,
		   uint32_t bytes)
{
	mlx5dv_wr_set_dc_addr(i->dv, ah[to], dest->qp_num, key);
	if (bytes)
		ibv_wr_set_sge(i->ex, side[0].mr->lkey, (uintptr_t)side[0].mem, bytes);
	need(!ibv_wr_complete(i->ex), "ibv_wr_complete");
}

/* Status of the request; -1: it did not complete */
static int status(void)
{
	struct ibv_wc wc;

	return complete(side[0].send_cq, &wc) ? (int)wc.status : -1;
}

static int send_to(int to, const struct ibv_qp *dest, uint64_t key, uint32_t bytes)
{
	begin(&dci);
	ibv_wr_send(dci.ex);
	finish(&dci, to, dest, key, bytes);
	return status();
}

static uint64_t remote(uint32_t at)
{
	return (uintptr_t)side[1].mem + at;
}

static uint32_t rkey(void)
{
	return side[1].mr->rkey;
}

/* ---- Tests -------------------------------------------------------------------------- */

static void test_operations(void)
{
	struct ibv_wc wc;

	fill(side[0].mem, LONG, 1);
	receive(&side[1], side[1].srq, 0, LONG);
	ok(send_to(1, dct, KEY, LONG) == IBV_WC_SUCCESS, "send");
	ok(complete(side[1].recv_cq, &wc) && wc.status == IBV_WC_SUCCESS &&
	   wc.opcode == IBV_WC_RECV && wc.byte_len == LONG && wc.qp_num == dct->qp_num &&
	   wc.wr_id == 0, "its completion");
	ok(intact(side[1].mem, LONG), "its data");

	receive(&side[1], side[1].srq, 0, 64);
	begin(&dci);
	ibv_wr_send_imm(dci.ex, 0x1234);
	finish(&dci, 1, dct, KEY, 64);
	ok(!status() && complete(side[1].recv_cq, &wc) && wc.wc_flags & IBV_WC_WITH_IMM &&
	   wc.imm_data == 0x1234, "send with immediate data");

	begin(&dci);
	ibv_wr_rdma_write(dci.ex, rkey(), remote(LONG));
	finish(&dci, 1, dct, KEY, LONG);
	ok(!status() && intact(side[1].mem + LONG, LONG), "write");

	receive(&side[1], side[1].srq, 0, 64);
	begin(&dci);
	ibv_wr_rdma_write_imm(dci.ex, rkey(), remote(2 * LONG), 0x5678);
	finish(&dci, 1, dct, KEY, LONG);
	ok(!status() && complete(side[1].recv_cq, &wc) && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
	   wc.imm_data == 0x5678 && intact(side[1].mem + 2 * LONG, LONG),
	   "write with immediate data");

	memset(side[0].mem, 0, LONG);
	begin(&dci);
	ibv_wr_rdma_read(dci.ex, rkey(), remote(LONG));
	finish(&dci, 1, dct, KEY, LONG);
	ok(!status() && intact(side[0].mem, LONG), "read");
}

static void test_inline_and_atomics(void)
{
	uint64_t *there = (void *)side[1].mem, *here = (void *)side[0].mem;
	char text[60];

	fill(text, sizeof(text), 2);
	begin(&dci);
	ibv_wr_rdma_write(dci.ex, rkey(), remote(64));
	mlx5dv_wr_set_dc_addr(dci.dv, ah[1], dct->qp_num, KEY);
	ibv_wr_set_inline_data(dci.ex, text, sizeof(text));
	need(!ibv_wr_complete(dci.ex), "ibv_wr_complete");
	ok(!status() && intact(side[1].mem + 64, sizeof(text)), "inline data");

	*there = 40;
	begin(&dci);
	ibv_wr_atomic_fetch_add(dci.ex, rkey(), remote(0), 2);
	finish(&dci, 1, dct, KEY, 8);
	ok(!status() && *here == 40 && *there == 42, "fetch and add");
	begin(&dci);
	ibv_wr_atomic_cmp_swp(dci.ex, rkey(), remote(0), 42, 7);
	finish(&dci, 1, dct, KEY, 8);
	ok(!status() && *here == 42 && *there == 7, "compare and swap");
}

static void test_query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a = {};
	int mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER |
		   IBV_QP_AV | IBV_QP_PATH_MTU;

	ok(!ibv_query_qp(dct, &a, mask, &init), "a DCT can be queried");
	ok(a.qp_state == IBV_QPS_RTR && a.path_mtu == IBV_MTU_1024 && a.min_rnr_timer == 1 &&
	   a.qp_access_flags == (ACCESS & ~IBV_ACCESS_LOCAL_WRITE), "it has what was set");
	ok(!ibv_query_qp(dci.qp, &a, IBV_QP_STATE, &init) && a.qp_state == IBV_QPS_RTS,
	   "a DCI is in RTS");
}

/* One DCI sends to many DCTs, in turn of the one device and of the other. */
static void test_many_targets(void)
{
	static struct ibv_qp *to[TARGETS];
	unsigned int i, sent = 0, good = 0;
	struct ibv_wc wc;

	for (i = 0; i < TARGETS; i++) {
		to[i] = make_dct(&side[i % 2], side[i % 2].srq, ACCESS);
		need(to[i] != NULL, "a DCT");
	}
	for (i = 0; i < TARGETS; i++) {
		struct side *s = &side[i % 2];
		uint32_t at = LONG + i * SMALL;

		fill(side[0].mem, SMALL, i);
		receive(s, s->srq, at, SMALL);
		sent += send_to(i % 2, to[i], KEY, SMALL) == IBV_WC_SUCCESS;
		good += complete(s->recv_cq, &wc) && wc.qp_num == to[i]->qp_num && wc.wr_id == at &&
			!memcmp(s->mem + at, side[0].mem, SMALL) && intact(s->mem + at, SMALL);
	}
	ok(sent == TARGETS, "one DCI sends to %u DCTs", sent);
	ok(good == TARGETS, "%u messages arrive, each at its DCT", good);
	for (i = good = 0; i < TARGETS; i++)
		good += !ibv_destroy_qp(to[i]);
	ok(good == TARGETS, "%u DCTs are destroyed", good);
}

/* Many DCIs send to one DCT at the same time. */
static void test_many_sources(void)
{
	const uint32_t part = 65536;
	static struct initiator from[SOURCES];
	unsigned int i, sent = 0, good = 0;
	struct ibv_wc wc;

	for (i = 0; i < SOURCES; i++) {
		from[i] = make_dci(&side[0]);
		fill(side[0].mem + i * part, part, i);
		receive(&side[1], side[1].srq, i * part, part);
	}
	for (i = 0; i < SOURCES; i++) {
		begin(&from[i]);
		ibv_wr_send_imm(from[i].ex, i);
		mlx5dv_wr_set_dc_addr(from[i].dv, ah[1], dct->qp_num, KEY);
		ibv_wr_set_sge(from[i].ex, side[0].mr->lkey, (uintptr_t)side[0].mem + i * part,
			       part);
		need(!ibv_wr_complete(from[i].ex), "ibv_wr_complete");
	}
	for (i = 0; i < SOURCES; i++) {
		sent += complete(side[0].send_cq, &wc) && wc.status == IBV_WC_SUCCESS;
		good += complete(side[1].recv_cq, &wc) && wc.status == IBV_WC_SUCCESS &&
			wc.imm_data < SOURCES && intact(side[1].mem + wc.wr_id, part) &&
			!memcmp(side[1].mem + wc.wr_id, side[0].mem + wc.imm_data * part, part);
	}
	ok(sent == SOURCES, "%u DCIs send to one DCT", sent);
	ok(good == SOURCES, "%u messages arrive, each with its data", good);
	for (i = good = 0; i < SOURCES; i++)
		good += !ibv_destroy_qp(from[i].qp);
	ok(good == SOURCES, "%u DCIs are destroyed", good);
}

/* The DCI has failed: after RESET it sends again to the DCT, which has not failed. */
static void reuse(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	struct ibv_wc wc;

	ok(!ibv_query_qp(dci.qp, &a, IBV_QP_STATE, &init) && a.qp_state == IBV_QPS_ERR,
	   "the DCI is in ERR");
	a.qp_state = IBV_QPS_RESET;
	need(!ibv_modify_qp(dci.qp, &a, IBV_QP_STATE) && !start_dci(dci.qp), "a DCI again");
	receive(&side[1], side[1].srq, 0, SMALL);
	fill(side[0].mem, SMALL, 77);
	ok(send_to(1, dct, KEY, SMALL) == IBV_WC_SUCCESS && complete(side[1].recv_cq, &wc) &&
	   wc.status == IBV_WC_SUCCESS && intact(side[1].mem, SMALL), "and sends after RESET");
}

static void test_errors(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *empty = ibv_create_srq(side[1].pd, &init);
	struct ibv_qp *other = make_dct(&side[1], empty, 0), gone;
	struct ibv_wc wc;

	need(empty && other, "a DCT");
	ok(send_to(1, dct, KEY + 1, SMALL) == IBV_WC_RETRY_EXC_ERR, "a wrong key");
	reuse();
	ok(send_to(1, other, KEY, SMALL) == IBV_WC_RNR_RETRY_EXC_ERR, "no receive request");
	reuse();
	begin(&dci);
	ibv_wr_rdma_write(dci.ex, rkey(), remote(0));
	finish(&dci, 1, other, KEY, SMALL);
	ok(status() == IBV_WC_REM_INV_REQ_ERR, "a DCT without the right to write");
	reuse();
	begin(&dci);
	ibv_wr_rdma_read(dci.ex, rkey() ^ 0x100, remote(0));
	finish(&dci, 1, dct, KEY, SMALL);
	ok(status() == IBV_WC_REM_ACCESS_ERR, "a wrong rkey");
	reuse();
	begin(&dci);
	ibv_wr_rdma_write(dci.ex, rkey(), remote(0));
	mlx5dv_wr_set_dc_addr(dci.dv, ah[1], dct->qp_num, KEY);
	ibv_wr_set_sge(dci.ex, side[0].mr->lkey ^ 0x100, (uintptr_t)side[0].mem, SMALL);
	need(!ibv_wr_complete(dci.ex), "ibv_wr_complete");
	ok(status() == IBV_WC_LOC_PROT_ERR, "a wrong lkey");
	reuse();
	receive(&side[1], side[1].srq, 0, SMALL);
	ok(send_to(1, dct, KEY, SMALL + 1) == IBV_WC_REM_INV_REQ_ERR, "a message too long");
	ok(complete(side[1].recv_cq, &wc) && wc.status == IBV_WC_LOC_LEN_ERR,
	   "its receive request fails");
	reuse();
	gone = *other;
	ok(!ibv_destroy_qp(other) && !ibv_destroy_srq(empty), "a DCT and its SRQ are destroyed");
	ok(send_to(1, &gone, KEY, SMALL) == IBV_WC_RETRY_EXC_ERR, "a DCT that was destroyed");
	reuse();
}

int main(int argc, char **argv)
{
	unsigned int i;

	need(argc >= 3, "usage: dc DEVICE GID-INDEX [DEVICE GID-INDEX]");
	open_side(&side[0], argv[1], atoi(argv[2]));
	open_side(&side[1], argv[argc > 4 ? 3 : 1], atoi(argv[argc > 4 ? 4 : 2]));
	for (i = 0; i < 2; i++)
		ah[i] = address_handle(&side[0], &side[i]);
	dci = make_dci(&side[0]);
	dct = make_dct(&side[1], side[1].srq, ACCESS);
	need(ah[0] && ah[1] && dct, "a DCT");

	test_operations();
	test_inline_and_atomics();
	test_query();
	test_many_targets();
	test_many_sources();
	test_errors();

	ok(!ibv_destroy_qp(dct) && !ibv_destroy_qp(dci.qp), "destroy a DCT and a DCI");
	ok(!ibv_destroy_ah(ah[0]) && !ibv_destroy_ah(ah[1]), "destroy the address handles");
	for (i = 0; i < 2; i++)
		ok(!ibv_destroy_srq(side[i].srq) && !ibv_destroy_cq(side[i].send_cq) &&
		   !ibv_destroy_cq(side[i].recv_cq) && !ibv_dereg_mr(side[i].mr) &&
		   !ibv_dealloc_pd(side[i].pd) && !ibv_close_device(side[i].ctx),
		   "all of device %u is destroyed", i);
	return tap_done();
}
