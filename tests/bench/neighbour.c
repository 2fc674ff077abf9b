// SPDX-License-Identifier: GPL-2.0
/*
 * usage: neighbour DEVICE ATTACKED-DEVICE [ATTACK...]
 *
 * Latency of RDMA writes of 8 bytes of one process while unprivileged processes on another
 * function cause as much work in the adapter as they can:
 *
 *   keys       messages from and to indirect keys, four levels, with entries of one byte
 *   multicast  datagrams to groups of 240 members, from and to such keys
 *   rubbish    10,000 queue pairs whose rings and doorbell records hold random bytes
 *   chains     queues that write their next requests into their own rings and enable them,
 *              without end and without their process (libxverbs)
 *
 * The latency during an attack is compared with that just before and after it, because the
 * host pauses this VM more often at some times than at others.  The measured process, and the
 * attackers if nothing else is said, use plain libibverbs.
 *
 * Prints lines: bench NAME VALUE UNIT
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_ring.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xverbs/dp.h>
#include "gid.h"
#include "tool.h"

enum {
	SAMPLES = 20000, LEAST = 10000, WINDOWS = 7, DEPTH = 64,
	NESTING = 4, ENTRIES = 255, BYTES = ENTRIES * 17, MEMBERS = 240, HOSTILE = 10000,
	ATTACKERS = 2,
	/* After 65536 requests, their index begins again. */
	CHAINS = 8, ROUND = 4, ROUNDS = 65536 / ROUND,
	NOBODY = 65534, QKEY = 0x1234, GRH = 40, DATAGRAM = 4096,
};
#define PERIOD	100e-6

struct tenant {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
};

static void need(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "neighbour: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- Objects of both sides ---------------------------------------------------- */

/* The CPU of the neighbour, and that of the attackers: they compete for the adapter only. */
static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	need(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d = list;

	while (d && *d && strcmp(ibv_get_device_name(*d), name))
		d++;
	return d && *d ? ibv_open_device(*d) : NULL;
}

static void open_tenant(struct tenant *t, const char *name)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND;
	struct ibv_cq_init_attr_ex cq = { .cqe = 4 * DEPTH,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN };

	t->ctx = open_device(name);
	need(t->ctx && !ibv_query_port(t->ctx, 1, &t->port), name);
	t->gid_index = pick_gid(t->ctx, t->port.gid_tbl_len);
	need(!ibv_query_gid(t->ctx, 1, t->gid_index, &t->gid), "GID");
	t->pd = ibv_alloc_pd(t->ctx);
	t->cq = (struct ibv_cq *)ibv_create_cq_ex(t->ctx, &cq);
	t->buf = aligned_alloc(4096, 1 << 20);
	need(t->pd && t->cq && t->buf, "objects");
	memset(t->buf, 0, 1 << 20);
	t->mr = ibv_reg_mr(t->pd, t->buf, 1 << 20, access);
	need(t->mr != NULL, "memory region");
}

static struct ibv_qp *make_qp(struct tenant *t, enum ibv_qp_type type, struct ibv_srq *srq,
			      uint32_t depth)
{
	struct ibv_qp_init_attr a = { .qp_type = type, .send_cq = t->cq, .recv_cq = t->cq,
		.srq = srq, .cap = { .max_send_wr = depth, .max_recv_wr = 1, .max_send_sge = 1,
				     .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(t->pd, &a);

	need(qp != NULL, "queue pair");
	return qp;
}

/* A queue pair that is connected to itself */
static struct ibv_qp *make_rc(struct tenant *t, uint32_t depth)
{
	struct ibv_qp *qp = make_qp(t, IBV_QPT_RC, NULL, depth);
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS), "INIT");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTR, .path_mtu = t->port.active_mtu,
		.dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = { .port_num = 1, .dlid = t->port.lid,
			.is_global = t->port.link_layer == IBV_LINK_LAYER_ETHERNET,
			.grh = { .dgid = t->gid, .sgid_index = (uint8_t)t->gid_index,
				 .hop_limit = 64 } } };
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER), "RTR");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1 };
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
	return qp;
}

static struct ibv_qp *make_ud(struct tenant *t, struct ibv_srq *srq)
{
	struct ibv_qp *qp = make_qp(t, IBV_QPT_UD, srq, DEPTH);
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
	     "INIT");
	a.qp_state = IBV_QPS_RTR;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE), "RTR");
	a.qp_state = IBV_QPS_RTS;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
	return qp;
}

/* ---- Indirect keys ---------------------------------------------------------------- */

/* A window with room for @n entries: libibverbs requests one entry, the driver takes more. */
static uint32_t alloc_list_key(struct tenant *t, uint8_t n)
{
	struct ib_uverbs_alloc_mw_resp resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_alloc_mw mw;
		struct mlx5_ib_alloc_mw driver;
	} cmd = {
		.hdr = { .command = IB_USER_VERBS_CMD_ALLOC_MW, .in_words = sizeof(cmd) / 4,
			 .out_words = sizeof(resp) / 4 },
		.mw = { .response = (uintptr_t)&resp, .pd_handle = t->pd->handle,
			.mw_type = IBV_MW_TYPE_2 },
		.driver = { .num_klms = n },
	};

	need(write(t->ctx->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd), "memory window");
	return resp.rkey;
}

struct umr_wqe {
	struct mlx5r_ctrl ctrl;
	struct mlx5r_umr_ctrl umr;
	struct mlx5r_mkey key;
	struct mlx5r_data list;
};

static uint32_t be32(uint32_t v) { return __builtin_bswap32(v); }
static uint64_t be64(uint64_t v) { return __builtin_bswap64(v); }
static uint16_t be16(uint16_t v) { return __builtin_bswap16(v); }

/* Posts @wqe as the first request of @qp and waits for its completion. */
static void run_raw(struct tenant *t, struct ibv_qp *qp, struct umr_wqe *wqe)
{
	struct mlx5dv_qp dv = {};
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &dv } };
	struct ibv_wc wc;

	need(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), "mlx5dv_init_obj");
	wqe->ctrl.qpn_ds = be32(qp->qp_num << 8 | sizeof(*wqe) / 16);
	memcpy(dv.sq.buf, wqe, sizeof(*wqe));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	dv.dbrec[MLX5_SND_DBR] = be32((sizeof(*wqe) + 63) / 64);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)dv.bf.reg = *(uint64_t *)wqe;
	while (!ibv_poll_cq(t->cq, 1, &wc))
		;
	need(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
}

/* ENTRIES pieces of @size bytes of the first @length bytes of @inner, in reverse order */
static uint32_t list_key(struct tenant *t, uint32_t inner, uint64_t base, uint32_t length,
			 uint32_t size)
{
	const uint64_t mask = MLX5R_MKEY_MASK_FREE | MLX5R_MKEY_MASK_LEN |
		MLX5R_MKEY_MASK_START_ADDR | MLX5R_MKEY_MASK_LR | MLX5R_MKEY_MASK_LW |
		MLX5R_MKEY_MASK_RW;
	struct mlx5r_klm *klm = (struct mlx5r_klm *)(t->buf + (1 << 19));
	uint32_t key = alloc_list_key(t, ENTRIES), i;
	struct ibv_qp *qp = make_rc(t, 4);
	struct umr_wqe wqe = {
		.ctrl = { .opmod_idx_opcode = be32(MLX5R_OP_UMR), .fm_ce_se = MLX5R_CE_ALWAYS,
			  .imm = be32(key) },
		.umr = { .xlt_octowords = be16(ENTRIES + 1), .mkey_mask = be64(mask) },
		.key = { .flags = MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW |
				  MLX5R_MKEY_ACCESS_RW, .len = be64(ENTRIES * size) },
		.list = { .byte_count = be32((ENTRIES + 1) * sizeof(*klm)),
			  .lkey = be32(t->mr->lkey), .addr = be64((uintptr_t)klm) },
	};

	memset(klm, 0, (ENTRIES + 1) * sizeof(*klm));
	for (i = 0; i < ENTRIES; i++)
		klm[i] = (struct mlx5r_klm) { .byte_count = be32(size), .mkey = be32(inner),
			.addr = be64(base + (ENTRIES - 1 - i) * size % length) };
	run_raw(t, qp, &wqe);
	ibv_destroy_qp(qp);
	return key;
}

/* A key of at least BYTES bytes, in pieces of one byte */
static uint32_t nested_key(struct tenant *t)
{
	const uint32_t outer = BYTES / ENTRIES;
	uint32_t key = list_key(t, t->mr->lkey, (uintptr_t)t->buf, ENTRIES, 1);
	int i;

	key = list_key(t, key, 0, ENTRIES, outer);
	for (i = 2; i < NESTING; i++)
		key = list_key(t, key, 0, ENTRIES * outer, outer);
	return key;
}

/* ---- Attackers: never return; @ready when the attack has begun ------------------------------ */

static void drain(struct tenant *t)
{
	struct ibv_wc wc[32];

	while (ibv_poll_cq(t->cq, 32, wc) > 0)
		;
}

static void attack_keys(struct tenant *t, void (*ready)(void))
{
	uint32_t key = nested_key(t);
	struct ibv_sge sge = { .length = BYTES, .lkey = key };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .rkey = key } }, *bad;
	struct ibv_qp *qp[8];
	int i;

	for (i = 0; i < 8; i++)
		qp[i] = make_rc(t, DEPTH);
	for (ready();; usleep(1000)) {
		drain(t);
		for (i = 0; i < 8; i++)
			while (!ibv_post_send(qp[i], &wr, &bad))
				;
	}
}

static void attack_multicast(struct tenant *t, void (*ready)(void))
{
	/* One group for each attacker, because a group has a limit of members. */
	const union ibv_gid group = { .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 9,
		(uint8_t)(getpid() >> 8), (uint8_t)getpid() } };
	uint32_t key = nested_key(t);
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4096, .max_sge = 1 } };
	struct ibv_ah_attr ah_attr = { .port_num = 1, .is_global = 1, .grh = { .dgid = group,
		.sgid_index = (uint8_t)t->gid_index, .hop_limit = 64 } };
	struct ibv_sge to = { .length = GRH + DATAGRAM, .lkey = key };
	struct ibv_sge from = { .length = DATAGRAM, .lkey = key };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_srq *srq = ibv_create_srq(t->pd, &srq_attr);
	struct ibv_send_wr wr = { .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_qp *qp = make_ud(t, NULL);
	int i;

	need(srq != NULL, "shared receive queue");
	for (i = 0; i < MEMBERS; i++)
		need(!ibv_attach_mcast(make_ud(t, srq), &group, 0), "ibv_attach_mcast");
	wr.wr.ud.ah = ibv_create_ah(t->pd, &ah_attr);
	need(wr.wr.ud.ah != NULL, "ibv_create_ah");
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = QKEY;
	for (ready();; usleep(1000)) {
		drain(t);
		while (!ibv_post_srq_recv(srq, &recv, &bad_recv))
			;
		while (!ibv_post_send(qp, &wr, &bad))
			;
	}
}

static void attack_rubbish(struct tenant *t, void (*ready)(void))
{
	static struct mlx5dv_qp dv[HOSTILE / ATTACKERS];
	struct mlx5dv_obj obj = {};
	uint32_t i, j;

	for (i = 0; i < HOSTILE / ATTACKERS; i++) {
		obj.qp.in = make_rc(t, 4);
		obj.qp.out = &dv[i];
		need(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), "mlx5dv_init_obj");
		for (j = 0; j < dv[i].sq.wqe_cnt * dv[i].sq.stride / 4; j++)
			((uint32_t *)dv[i].sq.buf)[j] = (uint32_t)mrand48();
	}
	for (ready();; usleep(1000)) {
		for (j = 0; j < 500; j++) {
			i = (uint32_t)lrand48() % (HOSTILE / ATTACKERS);
			dv[i].dbrec[MLX5_SND_DBR] = (uint32_t)mrand48();
			dv[i].dbrec[MLX5_RCV_DBR] = (uint32_t)mrand48();
		}
		*(volatile uint64_t *)dv[i].bf.reg = (uint64_t)mrand48();
	}
}

struct block {
	struct mlx5r_ctrl ctrl;
	union {
		struct {
			struct mlx5r_raddr raddr;
			struct mlx5r_data data;
		} write;
		struct mlx5r_wait enable;
		uint8_t bytes[MLX5R_WQEBB - sizeof(struct mlx5r_ctrl)];
	};
};

/* A round of requests: the first one writes the next round into the ring, the second enables it. */
static void fill_round(struct block *b, uint32_t qpn, uint32_t round)
{
	static const struct {
		uint8_t opcode, ds;
	} kind[ROUND] = { { MLX5R_OP_RDMA_WRITE, 3 }, { MLX5R_OP_SEND_ENABLE, 2 },
			  { MLX5R_OP_NOP, 1 }, { MLX5R_OP_NOP, 1 } };
	uint32_t i;

	for (i = 0; i < ROUND; i++)
		b[i].ctrl = (struct mlx5r_ctrl) {
			.opmod_idx_opcode = be32(((round * ROUND + i) & 0xffff) << 8 |
						 kind[i].opcode),
			.qpn_ds = be32(qpn << 8 | kind[i].ds),
		};
	b[1].enable.number = be32(qpn);
	b[1].enable.index = be32((round + 2) * ROUND & 0xffff);
}

/* A queue pair that is connected to itself */
static struct xv_qp *make_chain_qp(struct xt_side *s, struct xv_cq *cq, uint32_t flags)
{
	struct xv_qp_init_attr a = { .qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.flags = flags, .cap = { .max_send_wr = 2 * ROUND, .max_send_sge = 1 } };
	struct xv_qp *qp = xv_create_qp(s->pd, &a);
	struct xt_peer self;

	need(qp != NULL, xv_last_error());
	xt_peer_of(s, qp, &self);
	need(!xt_connect(qp, s, &self, NULL), xv_last_error());
	return qp;
}

/* Returns the first entry of the ring, which changes as long as the chain runs. */
static volatile uint32_t *start_chain(struct xt_side *s, struct xv_cq *cq, struct xv_qp *master)
{
	struct xv_qp *qp = make_chain_qp(s, cq, XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND);
	struct xv_mr *rounds = xt_mr_alloc(s, ROUNDS * ROUND * MLX5R_WQEBB, 0);
	struct block *block, *ring = (struct block *)qp->sq.buf;
	struct xv_mr *mr = xv_reg_mr(s->pd, ring, 2 * ROUND * MLX5R_WQEBB,
				     XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE);
	uint32_t i;

	need(rounds && mr && qp->sq.mask == 2 * ROUND - 1, "memory of a chain");
	block = rounds->addr;
	for (i = 0; i < ROUNDS; i++) {
		fill_round(&block[i * ROUND], qp->qp_num, i);
		block[i * ROUND].write.raddr.addr = be64((uintptr_t)&ring[(i + 1) % 2 * ROUND]);
		block[i * ROUND].write.raddr.rkey = be32(mr->rkey);
		block[i * ROUND].write.data = (struct mlx5r_data) {
			.byte_count = be32(ROUND * MLX5R_WQEBB), .lkey = be32(rounds->lkey),
			.addr = be64((uintptr_t)&block[(i + 1) % ROUNDS * ROUND]) };
	}
	memcpy(ring, block, ROUND * MLX5R_WQEBB);
	need(!xv_wr_send_enable_index(master, 1, 0, qp->qp_num, ROUND), "enable");
	xv_commit_send(master);
	return &ring->ctrl.opmod_idx_opcode;
}

static const char *attacked_device;

static void attack_chains(struct tenant *t, void (*ready)(void))
{
	struct xv_cq_init_attr attr = { .cqe = 63, .flags = XV_CQ_IGNORE_OVERRUN };
	volatile uint32_t *entry[CHAINS];
	uint32_t before[CHAINS];
	struct xt_side s;
	struct xv_cq *cq;
	int i;

	(void)t;
	need(!xt_side_open(&s, attacked_device, 0, -1), xv_last_error());
	cq = xv_create_cq(s.ctx, &attr);
	need(cq != NULL, "completion queue");
	for (i = 0; i < CHAINS; i++)
		entry[i] = start_chain(&s, cq, make_chain_qp(&s, cq, XV_QP_CROSS_CHANNEL));
	/* The chains do not stop: a second later they are at other requests. */
	sleep(1);
	for (i = 0; i < CHAINS; i++)
		before[i] = *entry[i];
	sleep(1);
	for (i = 0; i < CHAINS; i++)
		need(*entry[i] != before[i], "a chain does not run");
	for (ready();;)
		pause();
}

static const struct attack {
	const char *name;
	void (*run)(struct tenant *t, void (*ready)(void));
} attacks[] = {
	{ "keys", attack_keys },
	{ "multicast", attack_multicast },
	{ "rubbish", attack_rubbish },
	{ "chains", attack_chains },
};

/* An attacker reports that it is ready, and begins when all are ready. */
static int ready_pipe[2], begin_pipe[2];

static void wait_to_begin(void)
{
	char c;

	need(write(ready_pipe[1], "", 1) == 1 && read(begin_pipe[0], &c, 1) == 1, "pipe");
}

static void attacker(const struct attack *a, const char *device)
{
	/* The rounds of chains need 32 MiB of locked memory. */
	const struct rlimit memory = { RLIM_INFINITY, RLIM_INFINITY };
	struct tenant t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	need(!setrlimit(RLIMIT_MEMLOCK, &memory), "setrlimit");
	run_on(1);
	close(ready_pipe[0]);
	need(!setgid(NOBODY) && !setuid(NOBODY), "setuid");
	srand48(getpid());
	attacked_device = device;
	open_tenant(&t, device);
	a->run(&t, wait_to_begin);
}

static void start(const struct attack *a, const char *device, pid_t *pid)
{
	char c[ATTACKERS] = { 0 };
	int i;

	need(!pipe(ready_pipe) && !pipe(begin_pipe), "pipe");
	for (i = 0; i < ATTACKERS; i++) {
		pid[i] = fork();
		need(pid[i] >= 0, "fork");
		if (!pid[i])
			attacker(a, device);
	}
	close(ready_pipe[1]);
	for (i = 0; i < ATTACKERS; i++)
		need(read(ready_pipe[0], c, 1) == 1, "an attacker has failed");
	need(write(begin_pipe[1], c, ATTACKERS) == ATTACKERS, "pipe");
	close(ready_pipe[0]);
	close(begin_pipe[0]);
	close(begin_pipe[1]);
}

/* ---- The measured process --------------------------------------------------------------- */

struct result {
	double median, p9999;	/* us */
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void write_once(struct tenant *t, struct ibv_qp *qp)
{
	struct ibv_sge sge = { .addr = (uintptr_t)t->buf, .length = 8, .lkey = t->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)t->buf + 64, .rkey = t->mr->rkey } }, *bad;
	struct ibv_wc wc;

	need(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	while (!ibv_poll_cq(t->cq, 1, &wc))
		;
	need(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
}

/* A write begins every PERIOD at most, so that a pause of the host hits equally many. */
static struct result measure_window(struct tenant *t, struct ibv_qp *qp)
{
	static double sample[SAMPLES];
	double begin = xt_now();
	int n;

	for (n = 0; n < SAMPLES; n++) {
		while (xt_now() < begin + PERIOD)
			;
		begin = xt_now();
		write_once(t, qp);
		sample[n] = 1e6 * (xt_now() - begin);
	}
	qsort(sample, n, sizeof(*sample), by_size);
	return (struct result) { sample[n / 2], sample[n - 1 - n / LEAST] };
}

/* Latencies of several windows, for the medians: the host pauses this VM for milliseconds. */
struct windows {
	double median[2 * WINDOWS], p9999[2 * WINDOWS];
	int n;
};

static void measure(struct tenant *t, struct ibv_qp *qp, struct windows *w)
{
	int end = w->n + WINDOWS;

	for (; w->n < end; w->n++) {
		struct result r = measure_window(t, qp);

		w->median[w->n] = r.median;
		w->p9999[w->n] = r.p9999;
	}
}

static struct result middle(struct windows *w)
{
	qsort(w->median, w->n, sizeof(*w->median), by_size);
	qsort(w->p9999, w->n, sizeof(*w->p9999), by_size);
	return (struct result) { w->median[w->n / 2], w->p9999[w->n / 2] };
}

static void compare(struct tenant *t, struct ibv_qp *qp, const struct attack *a,
		    const char *device)
{
	struct windows without = { .n = 0 }, with = { .n = 0 };
	struct result alone, attacked;
	pid_t pid[ATTACKERS];
	int i;

	measure(t, qp, &without);
	start(a, device, pid);
	measure(t, qp, &with);
	for (i = 0; i < ATTACKERS; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	measure(t, qp, &without);
	alone = middle(&without);
	attacked = middle(&with);
	printf("bench neighbour.%s.alone.p9999 %.1f us\n", a->name, alone.p9999);
	printf("bench neighbour.%s.attacked.median %.1f us\n", a->name, attacked.median);
	printf("bench neighbour.%s.attacked.p9999 %.1f us\n", a->name, attacked.p9999);
	printf("bench neighbour.%s.attacked/alone.median %.2f ratio\n", a->name,
	       attacked.median / alone.median);
	printf("bench neighbour.%s.attacked/alone.p9999 %.2f ratio\n", a->name,
	       attacked.p9999 / alone.p9999);
	fflush(stdout);
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 3; i < argc && strcmp(argv[i], name); i++)
		;
	return argc == 3 || i < argc;
}

int main(int argc, char **argv)
{
	struct tenant t;
	struct ibv_qp *qp;
	size_t i;

	if (argc < 3) {
		fprintf(stderr, "usage: neighbour DEVICE ATTACKED-DEVICE [ATTACK...]\n");
		return 2;
	}
	run_on(0);
	open_tenant(&t, argv[1]);
	qp = make_rc(&t, DEPTH);
	for (i = 0; i < ARRAY_SIZE(attacks); i++)
		if (wanted(attacks[i].name, argc, argv))
			compare(&t, qp, &attacks[i], argv[2]);
	return 0;
}
