// SPDX-License-Identifier: GPL-2.0
/*
 * usage: devx DEVICE GID-INDEX [exit]
 *
 * Objects made by DEVX with plain libmlx5: a CQ, a queue pair and an mkey in a UMEM, data sent by
 * them, queries, events, and what the adapter refuses to another user.  With "exit", processes make
 * objects and exit; the caller looks for objects that are left.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include "tap.h"

enum {
	QUERY_HCA_CAP = 0x100, CREATE_MKEY = 0x200, QUERY_MKEY = 0x201, CREATE_CQ = 0x400,
	QUERY_CQ = 0x402, MODIFY_CQ = 0x403, CREATE_QP = 0x500, RST2INIT = 0x502,
	INIT2RTR = 0x503, RTR2RTS = 0x504, QUERY_QP = 0x50b, MODIFY_RMP = 0x90d, QUERY_RMP = 0x90f,
	NOP = 0x80d, CREATE_UCTX = 0xa04
};

/* Bit offsets in mailboxes (PRM) */
enum {
	OPCODE = 0, OP_MOD = 0x30, NUMBER = 0x48, CQC = 0x80, QPC = 0xc0, MKC = 0x80, RMPC = 0x100,
	CQ_UMEM_AT = 0x280, CQ_UMEM = 0x2c0, QP_UMEM_AT = 0x800, QP_UMEM = 0x840,
	MKEY_UMEM = 0x320, MKEY_UMEM_AT = 0x340, CAPS = 0x80, PATH = QPC + 0xc0
};

enum { PATH_BYTES = 44, MAILBOX = 272, CAPS_MAILBOX = 4112 };

/* In the memory of a user: rings, doorbell records, data */
enum {
	CQ_AT = 0, SQ_AT = 4096, CQ_RECORD = 8192, QP_RECORD = 8192 + 64, DATA = 12288,
	MEMORY = 65536, CQ_LOG = 4, SQ_LOG = 4
};

enum { WRITE_ERROR_EVENT = 0x11, COMPLETION_EVENT = 0 };

struct user {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_devx_obj *cq, *qp, *mkey;
	uint32_t pdn, eqn, cqn, qpn, key;
	uint32_t pi, ci, arms;
	uint8_t *mem;
};

static struct ibv_device *device;
static int gid_index;
static uint32_t in[MAILBOX / 4], out[CAPS_MAILBOX / 4];

static void need(int good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void set(uint32_t bit, unsigned int width, uint32_t v)
{
	in[bit / 32] |= htobe32(v << (32 - bit % 32 - width));
}

static void set64(uint32_t bit, uint64_t v)
{
	set(bit, 32, v >> 32);
	set(bit + 32, 32, v);
}

static uint32_t get(const void *box, uint32_t bit, unsigned int width)
{
	return be32toh(((const uint32_t *)box)[bit / 32]) >> (32 - bit % 32 - width) &
	       (width == 32 ? ~0u : (1u << width) - 1);
}

static void begin(uint16_t opcode)
{
	memset(in, 0, sizeof(in));
	memset(out, 0, sizeof(out));
	set(OPCODE, 16, opcode);
}

static struct mlx5dv_devx_obj *create(const struct user *u)
{
	return mlx5dv_devx_obj_create(u->ctx, in, sizeof(in), out, 16);
}

/* Has the adapter refused the command in the mailbox? */
static bool refused(const struct user *u)
{
	struct mlx5dv_devx_obj *obj = create(u);

	if (obj)
		mlx5dv_devx_obj_destroy(obj);
	return !obj && get(out, 0, 8);
}

/* ---- Objects --------------------------------------------------------------------- */

static void fill_cq(const struct user *u)
{
	begin(CREATE_CQ);
	set(CQC + 0x20, 32, u->umem->umem_id);
	set(CQC + 0x63, 5, CQ_LOG);
	set(CQC + 0x68, 24, u->uar->page_id);
	set(CQC + 0xa0, 32, u->eqn);
	set64(CQC + 0x1c0, CQ_RECORD);
	set(CQ_UMEM, 32, u->umem->umem_id);
}

static void fill_qp(const struct user *u)
{
	begin(CREATE_QP);
	set(QPC + 0x13, 2, 3);			/* migrated */
	set(QPC + 0x28, 24, u->pdn);
	set(QPC + 0x51, 4, SQ_LOG);
	set(QPC + 0x68, 24, u->uar->page_id);
	set(QPC + 0x3e8, 24, u->cqn);
	set(QPC + 0x4e8, 24, u->cqn);
	set64(QPC + 0x500, QP_RECORD);
	set(QPC + 0x565, 3, 3);			/* no receive queue */
	set(QPC + 0x720, 32, u->umem->umem_id);
	set64(QP_UMEM_AT, SQ_AT);
	set(QP_UMEM, 32, u->umem->umem_id);
}

static void fill_mkey(const struct user *u, unsigned int mode)
{
	begin(CREATE_MKEY);
	set(MKC + 0x12, 4, 0xf);		/* all rights but atomics */
	set(MKC + 0x16, 2, mode);
	set(MKC + 0x20, 24, 0xffffff);
	set(MKC + 0x38, 8, 0x42);
	set(MKC + 0x68, 24, u->pdn);
	set64(MKC + 0x80, (uintptr_t)u->mem + DATA);
	set64(MKC + 0xc0, MEMORY - DATA);
	set(MKEY_UMEM, 32, u->umem->umem_id);
	set64(MKEY_UMEM_AT, DATA);
}

static void open_user(struct user *u)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct mlx5dv_pd dv_pd;
	struct mlx5dv_obj obj = { .pd.out = &dv_pd };

	memset(u, 0, sizeof(*u));
	u->ctx = mlx5dv_open_device(device, &attr);
	need(u->ctx != NULL, "mlx5dv_open_device");
	u->pd = ibv_alloc_pd(u->ctx);
	u->mem = aligned_alloc(4096, MEMORY);
	need(u->pd && u->mem, "PD and memory");
	obj.pd.in = u->pd;
	need(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), "mlx5dv_init_obj");
	u->pdn = dv_pd.pdn;
	memset(u->mem, 0xff, MEMORY);
	memset(u->mem + CQ_RECORD, 0, 4096);
	u->umem = mlx5dv_devx_umem_reg(u->ctx, u->mem, MEMORY, IBV_ACCESS_LOCAL_WRITE);
	u->uar = mlx5dv_devx_alloc_uar(u->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	need(u->umem && u->uar && !mlx5dv_devx_query_eqn(u->ctx, 0, &u->eqn), "UMEM, UAR, EQ");
}

static void make_objects(struct user *u)
{
	fill_cq(u);
	u->cq = create(u);
	u->cqn = get(out, NUMBER, 24);
	need(u->cq != NULL, "CREATE_CQ");
	fill_qp(u);
	u->qp = create(u);
	u->qpn = get(out, NUMBER, 24);
	need(u->qp != NULL, "CREATE_QP");
	fill_mkey(u, 1);
	u->mkey = create(u);
	u->key = get(out, NUMBER, 24) << 8 | 0x42;
	need(u->mkey != NULL, "CREATE_MKEY");
}

static void close_user(struct user *u)
{
	ok(!mlx5dv_devx_obj_destroy(u->mkey) && !mlx5dv_devx_obj_destroy(u->qp) &&
	   !mlx5dv_devx_obj_destroy(u->cq), "destroy the objects");
	mlx5dv_devx_free_uar(u->uar);
	ok(!mlx5dv_devx_umem_dereg(u->umem) && !ibv_dealloc_pd(u->pd) &&
	   !ibv_close_device(u->ctx), "destroy UMEM, PD and context");
	free(u->mem);
}

/* ---- The path to the port itself, from a queue pair of ibverbs ------------------- */

static void find_path(const struct user *u, uint8_t path[PATH_BYTES])
{
	struct ibv_cq *cq = ibv_create_cq(u->ctx, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	struct ibv_qp *qp = cq ? ibv_create_qp(u->pd, &init) : NULL;
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_port_attr port;
	union ibv_gid gid;

	need(qp && !ibv_query_port(u->ctx, 1, &port) &&
	     !ibv_query_gid(u->ctx, 1, gid_index, &gid) &&
	     !ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS), "a queue pair of ibverbs");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num, .min_rnr_timer = 12,
		.ah_attr = { .is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
			     .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 3 },
			     .dlid = port.lid, .port_num = 1 } };
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER), "RTR");
	begin(QUERY_QP);
	set(NUMBER, 24, qp->qp_num);
	ok(!mlx5dv_devx_qp_query(qp, in, 16, out, MAILBOX) && get(out, QPC, 4) == 2 &&
	   get(out, QPC + 0xa8, 24) == qp->qp_num, "QUERY_QP of a queue pair of ibverbs");
	memcpy(path, (uint8_t *)out + PATH / 8, PATH_BYTES);
	need(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq), "destroy");
}

static int modify(const struct user *u, uint16_t opcode, const uint8_t path[PATH_BYTES])
{
	begin(opcode);
	set(NUMBER, 24, u->qpn);
	set(QPC + 0x13, 2, 3);
	set(QPC + 0x40, 3, 3);			/* MTU 1024 */
	set(QPC + 0x43, 5, 30);
	set(QPC + 0xa8, 24, u->qpn);		/* to itself */
	memcpy((uint8_t *)in + PATH / 8, path, PATH_BYTES);
	set(QPC + 0x38d, 3, 7);
	set(QPC + 0x390, 3, 7);
	set(QPC + 0x490, 2, 3);			/* remote reads and writes */
	set(QPC + 0x4a3, 5, 12);
	return mlx5dv_devx_obj_modify(u->qp, in, sizeof(in), out, 16);
}

/* ---- Data ------------------------------------------------------------------------ */

static void post_write(struct user *u, uint64_t to, uint64_t from, uint32_t n, uint32_t rkey)
{
	struct {
		struct mlx5_wqe_ctrl_seg ctrl;
		struct mlx5_wqe_raddr_seg raddr;
		struct mlx5_wqe_data_seg data;
	} w = {
		.ctrl.opmod_idx_opcode = htobe32(u->pi << 8 | MLX5_OPCODE_RDMA_WRITE),
		.ctrl.qpn_ds = htobe32(u->qpn << 8 | 3),
		.ctrl.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
		.raddr = { .raddr = htobe64(to), .rkey = htobe32(rkey) },
		.data = { htobe32(n), htobe32(u->key), htobe64(from) },
	};
	volatile uint64_t *reg = u->uar->reg_addr;
	uint64_t first;

	memcpy(u->mem + SQ_AT + u->pi % (1 << SQ_LOG) * 64, &w, sizeof(w));
	memcpy(&first, &w, sizeof(first));
	u->pi++;
	atomic_thread_fence(memory_order_seq_cst);
	((volatile uint32_t *)(u->mem + QP_RECORD))[1] = htobe32(u->pi & 0xffff);
	atomic_thread_fence(memory_order_seq_cst);
	*reg = first;
}

/* The opcode of the next completion */
static int completion(struct user *u)
{
	volatile struct mlx5_cqe64 *cqe = (void *)(u->mem + CQ_AT + u->ci % (1 << CQ_LOG) * 64);
	unsigned int owner = u->ci >> CQ_LOG & 1, i;

	for (i = 0; i < 10000; i++) {
		if (cqe->op_own >> 4 != MLX5_CQE_INVALID && (cqe->op_own & 1) == owner) {
			u->ci++;
			((volatile uint32_t *)(u->mem + CQ_RECORD))[0] = htobe32(u->ci & 0xffffff);
			return cqe->op_own >> 4;
		}
		usleep(1000);
	}
	return -1;
}

static void test_data(struct user *u)
{
	uint64_t base = (uintptr_t)u->mem + DATA;
	uint32_t half = (MEMORY - DATA) / 2, i, round;
	bool good = true;

	for (round = 0; round < 40; round++) {
		uint32_t n = 1 + rand() % half, from = rand() % (half - n + 1);

		for (i = 0; i < 2 * half; i++)
			u->mem[DATA + i] = rand();
		post_write(u, base + half, base + from, n, u->key);
		good &= completion(u) == MLX5_CQE_REQ &&
			!memcmp(u->mem + DATA + half, u->mem + DATA + from, n);
	}
	ok(good, "40 writes, each byte is right");
}

/* ---- Queries --------------------------------------------------------------------- */

static void test_queries(const struct user *u)
{
	begin(QUERY_QP);
	set(NUMBER, 24, u->qpn);
	ok(!mlx5dv_devx_obj_query(u->qp, in, 16, out, MAILBOX) && get(out, QPC, 4) == 3 &&
	   get(out, QPC + 0x28, 24) == u->pdn, "QUERY_QP: ready to send, in the PD");
	begin(QUERY_CQ);
	set(NUMBER, 24, u->cqn);
	ok(!mlx5dv_devx_obj_query(u->cq, in, 16, out, MAILBOX) &&
	   get(out, CQC + 0x168, 24) == u->ci, "QUERY_CQ: as many completions as received");
	begin(QUERY_MKEY);
	set(NUMBER, 24, u->key >> 8);
	ok(!mlx5dv_devx_obj_query(u->mkey, in, 16, out, 304) &&
	   get(out, MKC + 0xe0, 32) == MEMORY - DATA, "QUERY_MKEY: the length");
	begin(QUERY_CQ);
	set(NUMBER, 24, u->cqn + 1);
	ok(mlx5dv_devx_obj_query(u->cq, in, 16, out, MAILBOX) != 0, "QUERY_CQ of another number");
}

static void test_async_query(const struct user *u)
{
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(u->ctx);
	struct {
		struct mlx5dv_devx_async_cmd_hdr hdr;
		uint32_t out[MAILBOX / 4];
	} answer = {};
	struct pollfd p = { .events = POLLIN };

	need(comp != NULL, "mlx5dv_devx_create_cmd_comp");
	p.fd = comp->fd;
	begin(QUERY_QP);
	set(NUMBER, 24, u->qpn);
	ok(!mlx5dv_devx_obj_query_async(u->qp, in, 16, MAILBOX, 0x1234, comp) &&
	   poll(&p, 1, 10000) == 1 &&
	   !mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer)) &&
	   answer.hdr.wr_id == 0x1234 && get(answer.out, QPC + 0x28, 24) == u->pdn,
	   "an asynchronous query");
	mlx5dv_devx_destroy_cmd_comp(comp);
}

static void test_general(const struct user *u)
{
	begin(QUERY_HCA_CAP);
	set(OP_MOD, 16, 1);
	ok(!mlx5dv_devx_general_cmd(u->ctx, in, 16, out, CAPS_MAILBOX) &&
	   get(out, CAPS + 0x463, 5) && get(out, CAPS + 0x46b, 5),
	   "QUERY_HCA_CAP announces user contexts and UMEMs");
	begin(NOP);
	ok(!mlx5dv_devx_general_cmd(u->ctx, in, 16, out, 16), "NOP");
	begin(CREATE_UCTX);
	ok(mlx5dv_devx_general_cmd(u->ctx, in, 64, out, 16) != 0, "CREATE_UCTX is refused");
}

/* ---- Events ---------------------------------------------------------------------- */

static void arm(struct user *u)
{
	volatile uint32_t *record = (void *)(u->mem + CQ_RECORD);
	volatile uint64_t *reg = (void *)((uint8_t *)u->uar->base_addr + 0x20);
	uint32_t word = (u->arms++ & 3) << 28 | (u->ci & 0xffffff);
	uint64_t both = (uint64_t)htobe32(u->cqn) << 32 | htobe32(word);

	record[1] = htobe32(word);
	atomic_thread_fence(memory_order_seq_cst);
	*reg = both;
}

static bool event(struct mlx5dv_devx_event_channel *channel, uint64_t cookie, int ms)
{
	uint8_t buf[sizeof(struct mlx5dv_devx_async_event_hdr) + 64];
	struct mlx5dv_devx_async_event_hdr *hdr = (void *)buf;
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 &&
	       mlx5dv_devx_get_event(channel, hdr, sizeof(buf)) == (ssize_t)sizeof(buf) &&
	       hdr->cookie == cookie;
}

/* The queue pair is in error afterwards. */
static void test_events(struct user *u)
{
	struct mlx5dv_devx_event_channel *channel =
		mlx5dv_devx_create_event_channel(u->ctx, 0);
	uint16_t completion_event[] = { COMPLETION_EVENT }, error[] = { WRITE_ERROR_EVENT };
	uint16_t none[] = { 0xfe };
	uint64_t base = (uintptr_t)u->mem + DATA;

	need(channel != NULL, "mlx5dv_devx_create_event_channel");
	ok(!mlx5dv_devx_subscribe_devx_event(channel, u->cq, sizeof(completion_event),
					     completion_event, 77) &&
	   !mlx5dv_devx_subscribe_devx_event(channel, u->qp, sizeof(error), error, 88),
	   "subscribe to events of the CQ and the queue pair");
	ok(mlx5dv_devx_subscribe_devx_event(channel, u->qp, sizeof(none), none, 99) != 0,
	   "subscribe to an event that does not exist");
	post_write(u, base, base, 8, u->key);
	ok(completion(u) == MLX5_CQE_REQ && !event(channel, 77, 50), "no event without arming");
	arm(u);
	post_write(u, base, base, 8, u->key);
	ok(event(channel, 77, 10000) && completion(u) == MLX5_CQE_REQ,
	   "the event of a completion");
	post_write(u, base, base, 8, u->key + 1);
	ok(completion(u) == MLX5_CQE_REQ_ERR && event(channel, 88, 10000),
	   "the event of a write with a wrong key");
	mlx5dv_devx_destroy_event_channel(channel);
}

/* An event without a cookie, by an eventfd */
static void test_event_fd(struct user *u)
{
	struct mlx5dv_devx_event_channel *channel =
		mlx5dv_devx_create_event_channel(u->ctx, 0);
	uint64_t base = (uintptr_t)u->mem + DATA;
	struct pollfd p = { .fd = eventfd(0, EFD_NONBLOCK), .events = POLLIN };

	need(channel && p.fd >= 0, "event channel, eventfd");
	ok(!mlx5dv_devx_subscribe_devx_event_fd(channel, p.fd, u->cq, COMPLETION_EVENT),
	   "subscribe to an event of the CQ with an eventfd");
	ok(mlx5dv_devx_subscribe_devx_event_fd(channel, p.fd, u->cq, 0xfe) != 0,
	   "but not to one that does not exist");
	arm(u);
	post_write(u, base, base, 8, u->key);
	ok(poll(&p, 1, 10000) == 1 && completion(u) == MLX5_CQE_REQ, "the eventfd is signalled");
	mlx5dv_devx_destroy_event_channel(channel);
	close(p.fd);
}

/* ---- Objects of ibverbs ---------------------------------------------------------- */

static uint32_t cq_number(struct ibv_cq *cq)
{
	struct mlx5dv_cq dv = {};
	struct mlx5dv_obj obj = { .cq = { .in = cq, .out = &dv } };

	need(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ), "mlx5dv_init_obj");
	return dv.cqn;
}

/* Moderation of a CQ: 8 entries, 100 us */
static void test_ibverbs_cq(struct ibv_cq *cq)
{
	begin(MODIFY_CQ);
	set(NUMBER, 24, cq_number(cq));
	set(0x60, 32, 3);
	set(CQC + 0x84, 12, 100);
	set(CQC + 0x90, 16, 8);
	ok(!mlx5dv_devx_cq_modify(cq, in, sizeof(in), out, 16), "MODIFY_CQ of a CQ of ibverbs");
	begin(QUERY_CQ);
	set(NUMBER, 24, cq_number(cq));
	ok(!mlx5dv_devx_cq_query(cq, in, 16, out, MAILBOX) && get(out, CQC + 0x84, 12) == 100 &&
	   get(out, CQC + 0x90, 16) == 8, "QUERY_CQ shows the change");
	set(NUMBER, 24, cq_number(cq) + 1);
	ok(mlx5dv_devx_cq_query(cq, in, 16, out, MAILBOX) != 0, "but not of another CQ");
}

/* To the adapter the SRQ is an RMP.  It has 3 requests; its limit is changed to 2. */
static void test_ibverbs_srq(struct ibv_srq *srq)
{
	struct mlx5dv_srq dv = { .comp_mask = MLX5DV_SRQ_MASK_SRQN };
	struct mlx5dv_obj obj = { .srq = { .in = srq, .out = &dv } };
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_srq_attr attr;
	int i;

	for (i = 0; i < 3; i++)
		need(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
	need(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ), "mlx5dv_init_obj");
	begin(MODIFY_RMP);
	set(0x40, 4, 1);
	set(NUMBER, 24, dv.srqn);
	set(0xbf, 1, 1);			/* change the limit */
	set(RMPC + 0x8, 4, 1);
	set(RMPC + 0x1b0, 16, 2);
	ok(!mlx5dv_devx_srq_modify(srq, in, sizeof(in), out, 16) &&
	   !ibv_query_srq(srq, &attr) && attr.srq_limit == 2, "MODIFY_RMP of an SRQ of ibverbs");
	begin(QUERY_RMP);
	set(NUMBER, 24, dv.srqn);
	ok(!mlx5dv_devx_srq_query(srq, in, 16, out, sizeof(out)) &&
	   get(out, RMPC + 0x1b0, 16) == 2, "QUERY_RMP shows the change");
	begin(QUERY_CQ);
	set(NUMBER, 24, dv.srqn);
	ok(mlx5dv_devx_srq_query(srq, in, 16, out, MAILBOX) != 0, "no query as a CQ");
}

static void test_ibverbs_objects(const struct user *u)
{
	struct ibv_cq *cq = ibv_create_cq(u->ctx, 16, NULL, NULL, 0);
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_wq_init_attr wq_init = { .wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1,
		.pd = u->pd, .cq = cq };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(u->pd, &srq_init);
	struct ibv_qp *qp = cq ? ibv_create_qp(u->pd, &init) : NULL;

	need(srq && qp, "objects of ibverbs");
	test_ibverbs_cq(cq);
	begin(RST2INIT);
	set(NUMBER, 24, qp->qp_num);
	set(QPC + 0x13, 2, 3);
	set(PATH + 0x128, 8, 1);		/* port */
	ok(!mlx5dv_devx_qp_modify(qp, in, sizeof(in), out, 16), "RST2INIT of a queue pair");
	test_ibverbs_srq(srq);
	ok(!ibv_create_wq(u->ctx, &wq_init) && errno, "no receive queues of ibverbs: %s",
	   strerror(errno));
	ok(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq) && !ibv_destroy_cq(cq),
	   "destroy the objects of ibverbs");
}

/* ---- UMEMs, vectors and EQs ------------------------------------------------------ */

static void test_umem_ex(const struct user *u)
{
	struct mlx5dv_devx_umem_in umem = {
		.addr = u->mem, .size = MEMORY, .access = IBV_ACCESS_LOCAL_WRITE,
		.pgsz_bitmap = 4096, .comp_mask = 0,
	};
	struct mlx5dv_devx_umem *made = mlx5dv_devx_umem_reg_ex(u->ctx, &umem);

	ok(made && !mlx5dv_devx_umem_dereg(made), "a UMEM of pages of 4096 bytes");
	umem.pgsz_bitmap = 0;
	ok(!mlx5dv_devx_umem_reg_ex(u->ctx, &umem) && errno, "not of no page size: %s",
	   strerror(errno));
	umem.pgsz_bitmap = 4096;
	umem.comp_mask = 1ull << 40;
	ok(!mlx5dv_devx_umem_reg_ex(u->ctx, &umem) && errno == EOPNOTSUPP,
	   "not with unknown members");
	ok(!mlx5dv_devx_alloc_msi_vector(u->ctx) && errno == EOPNOTSUPP,
	   "interrupt vectors are for VFIO only");
	ok(!mlx5dv_devx_create_eq(u->ctx, in, sizeof(in), out, 16) && errno == EOPNOTSUPP,
	   "so are event queues");
}

/* ---- Refusals -------------------------------------------------------------------- */

/* A command of one user with an object of another */
static void test_others(const struct user *u, const struct user *other)
{
	struct user mix = *u;

	mix.umem = other->umem;
	fill_cq(&mix);
	ok(refused(u), "a CQ in the UMEM of another user");
	fill_mkey(&mix, 1);
	ok(refused(u), "an mkey for the UMEM of another user");
	mix = *u;
	mix.uar = other->uar;
	fill_cq(&mix);
	ok(refused(u), "a CQ with the doorbell page of another user");
	mix = *u;
	mix.pdn = other->pdn;
	fill_qp(&mix);
	ok(refused(u), "a queue pair in the PD of another user");
	fill_mkey(&mix, 1);
	ok(refused(u), "an mkey in the PD of another user");
	mix = *u;
	mix.cqn = other->cqn;
	fill_qp(&mix);
	ok(refused(u), "a queue pair with the CQ of another user");
}

static void test_privileges(const struct user *u)
{
	fill_mkey(u, 0);
	ok(refused(u), "an mkey of all physical memory");
	fill_qp(u);
	set(QPC + 0x8, 8, 0xc);			/* UMR queue of the driver */
	ok(refused(u), "a queue of the driver");
	fill_cq(u);
	set64(CQ_UMEM_AT, MEMORY);
	ok(refused(u), "a CQ beyond the end of the UMEM");
	ok(mlx5dv_devx_umem_dereg(u->umem) != 0, "a UMEM in use cannot be destroyed");
}

/* A file that the process may only read: the adapter must not write it. */
static void test_read_only(const struct user *u)
{
	struct user mix = *u;

	mix.umem = mlx5dv_devx_umem_reg(u->ctx, u->mem, MEMORY, 0);
	need(mix.umem != NULL, "a UMEM without local write");
	fill_cq(&mix);
	ok(refused(u), "a CQ in a UMEM that may only be read");
	fill_mkey(&mix, 1);
	ok(refused(u), "an mkey with writes for such a UMEM");
	ok(!mlx5dv_devx_umem_dereg(mix.umem), "destroy it");
}

/* ---- The end of a process -------------------------------------------------------- */

enum { PROCESSES = 40, PAGES = 60 };		/* more pages than a function has */

/* Makes objects and exits; the kernel destroys them. */
static void leave_objects(void)
{
	struct user u;
	int i;

	open_user(&u);
	make_objects(&u);
	for (i = 0; i < PAGES; i++)
		need(mlx5dv_devx_alloc_uar(u.ctx, MLX5DV_UAR_ALLOC_TYPE_NC) != NULL, "UAR");
	_exit(0);
}

static void test_exit(void)
{
	int i, status, good = 0;

	for (i = 0; i < PROCESSES; i++) {
		pid_t child = fork();

		if (!child)
			leave_objects();
		good += waitpid(child, &status, 0) == child && !status;
	}
	tap_is(good, PROCESSES, "processes make objects and exit");
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	uint8_t path[PATH_BYTES];
	struct user u, other;

	while (list && *list && argc > 1 && strcmp(ibv_get_device_name(*list), argv[1]))
		list++;
	need(argc > 2 && list && *list, "usage: devx DEVICE GID-INDEX [exit]");
	device = *list;
	gid_index = atoi(argv[2]);
	ok(mlx5dv_is_supported(device), "libmlx5 knows the device");
	if (argc > 3) {
		test_exit();
		return tap_done();
	}
	open_user(&u);
	open_user(&other);
	test_general(&u);
	make_objects(&u);
	make_objects(&other);
	find_path(&u, path);
	ok(!modify(&u, RST2INIT, path) && !modify(&u, INIT2RTR, path) &&
	   !modify(&u, RTR2RTS, path), "modify the queue pair to ready to send");
	test_data(&u);
	test_queries(&u);
	test_async_query(&u);
	test_others(&u, &other);
	test_privileges(&u);
	test_read_only(&u);
	test_ibverbs_objects(&u);
	test_umem_ex(&u);
	test_data(&u);
	test_event_fd(&u);
	test_events(&u);
	close_user(&u);
	close_user(&other);
	return tap_done();
}
