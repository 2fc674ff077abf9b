// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/slab.h>
#include <asm/byteorder.h>
#include "pass.h"
#include "session.h"

#define KEY_VARIANT	0x5a
#define SETTLED		200	/* passes without work */

u64 shim_time, shim_step = 100, shim_now = NSEC_PER_SEC;
void (*shim_before_cmpxchg)(void *p);

static void die(const char *what, int func)
{
	fprintf(stderr, "session: %s failed on function %d\n", what, func);
	exit(99);
}

void *session_dma_ptr(void *ctx, u64 addr, u64 len)
{
	struct session *s = ctx;
	const u64 first = SESSION_DMA + s->start, size = s->end - s->start;

	if (addr < first || len > size || addr - first > size - len)
		return NULL;
	return s->mem + (addr - SESSION_DMA);
}

void session_raise_irq(void *ctx, unsigned int vector)
{
	struct session *s = ctx;

	s->irqs[vector % SESSION_FUNCS]++;
}

static const void *no_frame(void *ctx, u32 *bytes, bool *local)
{
	return NULL;
}

static const struct hca_ops local_ops = {
	.dma_ptr = session_dma_ptr,
	.raise_irq = session_raise_irq,
	.frame_next = no_frame,
};

u64 session_alloc(struct session *s, size_t bytes)
{
	u64 at = s->used;

	bytes = (bytes + HCA_PAGE_SIZE - 1) & ~(size_t)(HCA_PAGE_SIZE - 1);
	if (at + bytes > s->end)
		die("memory", 0);
	s->used += bytes;
	memset(s->mem + at, 0, bytes);
	return SESSION_DMA + at;
}

u8 *session_memory;

void *session_ptr(struct session *s, u64 dma)
{
	return s->mem + (dma - SESSION_DMA);
}

u8 session_cmd(struct session *s, int func, const void *in, u32 inlen, void *out, u32 outlen)
{
	hca_cmd_exec(s->hca[func], in, inlen, out, outlen);
	while (!hca_reset_some(s->hca[func]))
		;
	return *(u8 *)out;
}

/* A command without parameters; returns the number in its output. */
static u32 simple(struct session *s, int func, u16 opcode, u16 opmod)
{
	u32 in[4] = {}, out[4] = {};

	MLX5_SET(alloc_pd_in, in, opcode, opcode);
	MLX5_SET(alloc_pd_in, in, op_mod, opmod);
	if (session_cmd(s, func, in, sizeof(in), out, sizeof(out)))
		die("startup", func);
	return MLX5_GET(alloc_pd_out, out, pd);
}

static void put_pages(struct session *s, __be64 *pas, u64 dma, u32 n)
{
	u32 i;

	(void)s;
	for (i = 0; i < n; i++)
		pas[i] = cpu_to_be64(dma + (u64)i * HCA_PAGE_SIZE);
}

u32 session_eq(struct session *s, int func)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_eq_in) + 8) / 4] = {};
	u32 out[MLX5_ST_SZ_DW(create_eq_out)] = {};
	void *eqc = MLX5_ADDR_OF(create_eq_in, in, eq_context_entry);
	u64 buf = session_alloc(s, HCA_PAGE_SIZE);
	int i;

	for (i = 0; i < 64; i++)
		((u8 *)session_ptr(s, buf))[i * 64 + 63] = 1;
	MLX5_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
	MLX5_SET(eqc, eqc, log_eq_size, 6);
	MLX5_SET(eqc, eqc, uar_page, s->uar[func]);
	MLX5_SET(eqc, eqc, intr, func);
	put_pages(s, MLX5_ADDR_OF(create_eq_in, in, pas), buf, 1);
	if (session_cmd(s, func, in, sizeof(in), out, sizeof(out)))
		die("CREATE_EQ", func);
	return MLX5_GET(create_eq_out, out, eq_number);
}

u32 session_uar_of(struct session *s, int func, u16 uid)
{
	u32 in[MLX5_ST_SZ_DW(alloc_uar_in)] = {}, out[MLX5_ST_SZ_DW(alloc_uar_out)] = {};

	MLX5_SET(alloc_uar_in, in, opcode, MLX5_CMD_OP_ALLOC_UAR);
	MLX5_SET(alloc_uar_in, in, uid, uid);
	if (session_cmd(s, func, in, sizeof(in), out, sizeof(out)))
		die("ALLOC_UAR", func);
	return MLX5_GET(alloc_uar_out, out, uar);
}

u32 session_uar(struct session *s, int func)
{
	return session_uar_of(s, func, 0);
}

u16 session_uctx(struct session *s, int func)
{
	u32 in[MLX5_ST_SZ_DW(create_uctx_in)] = {}, out[MLX5_ST_SZ_DW(create_uctx_out)] = {};

	MLX5_SET(create_uctx_in, in, opcode, MLX5_CMD_OP_CREATE_UCTX);
	if (session_cmd(s, func, in, sizeof(in), out, sizeof(out)))
		die("CREATE_UCTX", func);
	return MLX5_GET(create_uctx_out, out, uid);
}

/* The byte before the last is the number of the host on a wire, as in MACs. */
static void make_gid(const struct session *s, int func, enum session_gid index, u8 *gid)
{
	memset(gid, 0, 16);
	if (index == SESSION_GID_IPV4 || index == SESSION_GID_VLAN)
		memcpy(gid + 10, (u8[4]) { 0xff, 0xff, 10, index }, 4);
	else
		memcpy(gid, (u8[2]) { 0xfe, 0x80 }, 2);
	gid[14] = s->host;
	gid[15] = func + 1;
}

static void set_gid(struct session *s, int func, enum session_gid index)
{
	u32 in[MLX5_ST_SZ_DW(set_roce_address_in)] = {};
	u32 out[MLX5_ST_SZ_DW(set_roce_address_out)] = {};
	void *addr = MLX5_ADDR_OF(set_roce_address_in, in, roce_address);
	const bool ipv4 = index == SESSION_GID_IPV4 || index == SESSION_GID_VLAN;

	MLX5_SET(set_roce_address_in, in, opcode, MLX5_CMD_OP_SET_ROCE_ADDRESS);
	MLX5_SET(set_roce_address_in, in, roce_address_index, index);
	make_gid(s, func, index, MLX5_ADDR_OF(roce_addr_layout, addr, source_l3_address));
	memcpy(MLX5_ADDR_OF(roce_addr_layout, addr, source_mac_47_32), s->hca[func]->p.mac, 6);
	MLX5_SET(roce_addr_layout, addr, roce_version,
		 index == SESSION_GID_V1 ? MLX5_ROCE_VERSION_1 : MLX5_ROCE_VERSION_2);
	MLX5_SET(roce_addr_layout, addr, roce_l3_type,
		 ipv4 ? MLX5_ROCE_L3_TYPE_IPV4 : MLX5_ROCE_L3_TYPE_IPV6);
	MLX5_SET(roce_addr_layout, addr, vlan_valid, index == SESSION_GID_VLAN);
	MLX5_SET(roce_addr_layout, addr, vlan_id, index == SESSION_GID_VLAN ? SESSION_VLAN : 0);
	if (session_cmd(s, func, in, sizeof(in), out, sizeof(out)))
		die("SET_ROCE_ADDRESS", func);
}

static void bring_up(struct session *s, int func)
{
	u32 i, ngids = !s->hca[func]->p.roce ? 0 : s->wired ? SESSION_GIDS : 1;

	simple(s, func, MLX5_CMD_OP_ENABLE_HCA, 0);
	simple(s, func, MLX5_CMD_OP_INIT_HCA, 0);
	hca_port_set(&s->hca[func]->port[0], true);
	s->pd[func] = simple(s, func, MLX5_CMD_OP_ALLOC_PD, 0);
	s->uar[func] = session_uar(s, func);
	s->eqn[func] = session_eq(s, func);
	s->dir[func].leaf[0] = s->leaf[func];
	for (i = 0; i < ngids; i++)
		set_gid(s, func, i);
}

const char *session_model = "all";

static void start_function(struct session *s, int func, bool roce, u32 ports)
{
	struct hca_params p = {
		.model = hca_model_find(session_model),
		.index = func,
		.roce = roce,
		.wired = s->wired,
		.num_ports = ports,
		.lid = func + 1,
		.mac = { 2, 0, 0, 0, s->host, func + 1 },
		.node_guid = 0x0200000000000000ull + (s->host << 8) + func,
		.num_vectors = SESSION_FUNCS,
		.list_bytes = SESSION_LIST_BYTES,
		.bar_pages = s->bar_pages,
	};

	p.bar = aligned_alloc(HCA_PAGE_SIZE, s->bar_pages * HCA_PAGE_SIZE);
	if (p.bar)
		memset(p.bar, 0, s->bar_pages * HCA_PAGE_SIZE);
	s->hca[func] = p.bar ? hca_create(&s->fabric, &p, s->ops, s->ctx[func]) : NULL;
	if (!s->hca[func])
		die("hca_create", func);
	bring_up(s, func);
}

void session_restart(struct session *s, int func)
{
	hca_reset(s->hca[func]);
	s->xrcd[func] = 0;
	bring_up(s, func);
}

/* The memory is there. */
static void init_functions(struct session *s, bool roce, u32 ports)
{
	int f;

	if (!s->mem || hca_fabric_init(&s->fabric))
		die("memory", 0);
	for (f = 0; f < SESSION_FUNCS; f++)
		start_function(s, f, roce, ports);
}

static void init(struct session *s, bool roce, u32 ports)
{
	int f;

	memset(s, 0, sizeof(*s));
	s->bar_pages = HCA_BAR_PAGES;
	s->ops = &local_ops;
	for (f = 0; f < SESSION_FUNCS; f++)
		s->ctx[f] = s;
	s->path = (struct session_path) {
		.mtu = IB_MTU_4096, .ack_timeout = 1, .retry_count = 2, .rnr_retry = 1,
	};
	s->mem = session_memory = aligned_alloc(HCA_PAGE_SIZE, SESSION_BYTES);
	s->end = SESSION_BYTES;
	init_functions(s, roce, ports);
}

void session_init(struct session *s)
{
	init(s, true, 1);
}

void session_init_ib(struct session *s, u32 ports)
{
	init(s, false, ports);
}

/* Many hosts with BARs of the usual size would take gigabytes. */
void session_init_wired(struct session *s, u8 host, u32 hosts, const struct hca_ops *ops,
			void *const ctx[SESSION_FUNCS])
{
	const size_t part = SESSION_BYTES / hosts & ~(HCA_PAGE_SIZE - 1ul);

	memset(s, 0, sizeof(*s));
	s->ops = ops;
	memcpy(s->ctx, ctx, sizeof(s->ctx));
	s->wired = true;
	s->host = host;
	s->bar_pages = hosts > 2 ? 64 : HCA_BAR_PAGES;
	s->path = (struct session_path) {
		.mtu = IB_MTU_1024, .tclass = 26 << 2, .sl = 3, .ack_timeout = 14, .retry_count = 7,
		.rnr_retry = 7, .psn = host ? 0xb00000 : 0xa00000,
	};
	if (!host)
		session_memory = aligned_alloc(HCA_PAGE_SIZE, SESSION_BYTES);
	s->mem = session_memory;
	s->start = s->used = host * part;
	s->end = s->start + part;
	init_functions(s, true, 1);
}

void session_free(struct session *s)
{
	int f;

	for (f = 0; f < SESSION_FUNCS; f++) {
		void *bar = s->hca[f]->p.bar;

		hca_destroy(s->hca[f]);
		free(bar);
	}
	hca_fabric_exit(&s->fabric);
	if (!s->start)
		free(s->mem);
}

bool session_turns_bounded(const struct session *s)
{
	const u64 *largest = s->fabric.stat.largest;

	return largest[HCA_REQUESTS] <= HCA_TURN_MAX_REQUESTS &&
	       largest[HCA_BYTES] <= HCA_TURN_MAX_BYTES &&
	       largest[HCA_PIECES] <= HCA_TURN_MAX_PIECES &&
	       largest[HCA_ENTRIES] <= HCA_TURN_MAX_ENTRIES &&
	       largest[HCA_RECEIVERS] <= HCA_TURN_MAX_RECEIVERS;
}

/* Are all registers of the page zero, as after the adapter has read them? */
static bool page_read(const struct hca_uar *uar)
{
	static const u16 others[] = { MLX5R_UAR_CQ, MLX5R_UAR_EQ_ARM, MLX5R_UAR_EQ };
	u64 found = 0;
	unsigned int i;

	for (i = 0; i < 8; i++)
		found |= *(u64 *)(uar->regs + MLX5R_UAR_BF + i * 0x100);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		found |= *(u64 *)(uar->regs + others[i]);
	return !found;
}

static bool registers_read(struct session *s)
{
	const struct mlx5_init_seg *seg;
	const struct hca_table *t;
	u32 i;
	int f;

	for (f = 0; f < SESSION_FUNCS; f++) {
		seg = s->hca[f]->p.bar;
		if (seg->cmd_dbell)
			return false;
		t = &s->hca[f]->uars_by_index;
		for (i = t->first; i < t->used_end; i++)
			if (hca_table_get(t, i) && !page_read(hca_table_get(t, i)))
				return false;
	}
	return true;
}

static void settle_passes(struct session *s, int passes)
{
	int idle = 0;

	while (idle < passes)
		idle = hca_fabric_poll(&s->fabric) ? 0 : idle + 1;
}

/*
 * A pass does not read every register, and time passes while it runs.  If time stands still, no
 * pass can find work when all registers have been read.
 */
void session_settle(struct session *s)
{
	if (shim_step)
		return settle_passes(s, SETTLED);
	do
		settle_passes(s, 1);
	while (s->fabric.sweep.uars.n || !registers_read(s));
}

bool session_pass(struct session *s)
{
	return hca_fabric_poll(&s->fabric) || !registers_read(s);
}

bool session_settle_timers(struct session *s, u64 limit)
{
	const u64 end = shim_now + limit;
	u32 idle;
	u64 next;

	for (;;) {
		for (idle = 0; idle < 4; idle = session_pass(s) ? 0 : idle + 1)
			if (shim_now > end)
				return false;
		next = hca_fabric_deadline(&s->fabric);
		if (next == U64_MAX)
			return true;
		if (next > end)
			return false;
		shim_now = max(next, shim_now);
	}
}

/* Creates the mkey of @in, after the common fields are set. */
static u32 create_key(struct session *s, int func, u32 *in, u32 inlen)
{
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
	u32 out[MLX5_ST_SZ_DW(create_mkey_out)] = {};

	MLX5_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
	MLX5_SET(mkc, mkc, qpn, HCA_ANY_QPN);
	MLX5_SET(mkc, mkc, mkey_7_0, KEY_VARIANT);
	MLX5_SET(mkc, mkc, pd, s->pd[func]);
	if (session_cmd(s, func, in, inlen, out, sizeof(out)))
		die("CREATE_MKEY", func);
	return MLX5_GET(create_mkey_out, out, mkey_index) << 8 | KEY_VARIANT;
}

/* The command for a key of @pages pages, whose addresses are not in it yet */
static u32 *page_key(u32 pages, u32 log_page, u64 bytes, u8 access, u32 *inlen)
{
	u32 octo = (pages + 1) / 2, *in;
	void *mkc;

	*inlen = MLX5_ST_SZ_BYTES(create_mkey_in) + octo * 16;
	in = calloc(1, *inlen);
	if (!in)
		die("memory", 0);
	mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
	MLX5_SET(create_mkey_in, in, translations_octword_actual_size, octo);
	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5R_MKEY_MODE_MTT);
	MLX5_SET(mkc, mkc, lr, !!(access & MLX5R_MKEY_ACCESS_LR));
	MLX5_SET(mkc, mkc, lw, !!(access & MLX5R_MKEY_ACCESS_LW));
	MLX5_SET(mkc, mkc, rr, !!(access & MLX5R_MKEY_ACCESS_RR));
	MLX5_SET(mkc, mkc, rw, !!(access & MLX5R_MKEY_ACCESS_RW));
	MLX5_SET(mkc, mkc, a, !!(access & MLX5R_MKEY_ACCESS_A));
	MLX5_SET64(mkc, mkc, len, bytes);
	MLX5_SET(mkc, mkc, log_page_size, log_page);
	MLX5_SET(mkc, mkc, translations_octword_size, octo);
	return in;
}

struct session_mr session_mr(struct session *s, int func, size_t bytes, u8 access)
{
	u32 pages = (bytes + HCA_PAGE_SIZE - 1) / HCA_PAGE_SIZE, inlen;
	struct session_mr mr = { .addr = session_alloc(s, bytes) };
	u32 *in = page_key(pages, HCA_PAGE_SHIFT, bytes, access, &inlen);
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	MLX5_SET64(mkc, mkc, start_addr, mr.addr);
	put_pages(s, MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt), mr.addr, pages);
	mr.key = create_key(s, func, in, inlen);
	mr.ptr = session_ptr(s, mr.addr);
	free(in);
	return mr;
}

u64 session_repeated_page(struct session *s)
{
	u64 at = session_alloc(s, 2 * SESSION_REPEATED);

	return (at + SESSION_REPEATED - 1) & ~(u64)(SESSION_REPEATED - 1);
}

u32 session_repeated_key(struct session *s, int func, u64 page, u64 bytes)
{
	u32 pages = bytes / SESSION_REPEATED, inlen, i, key;
	u32 *in = page_key(pages, __builtin_ctz(SESSION_REPEATED), bytes, ALL_ACCESS, &inlen);
	__be64 *mtt = MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt);

	for (i = 0; i < pages; i++)
		mtt[i] = cpu_to_be64(page);
	key = create_key(s, func, in, inlen);
	free(in);
	return key;
}

u32 session_umr_key(struct session *s, int func, u8 mode, u32 octowords)
{
	u32 in[MLX5_ST_SZ_DW(create_mkey_in)] = {};
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	MLX5_SET(mkc, mkc, access_mode_1_0, mode);
	MLX5_SET(mkc, mkc, free, 1);
	MLX5_SET(mkc, mkc, umr_en, 1);
	MLX5_SET(mkc, mkc, log_page_size, HCA_PAGE_SHIFT);
	MLX5_SET(mkc, mkc, translations_octword_size, octowords);
	return create_key(s, func, in, sizeof(in));
}

u8 session_key_destroy(struct session *s, int func, u32 key)
{
	u32 in[MLX5_ST_SZ_DW(destroy_mkey_in)] = {}, out[MLX5_ST_SZ_DW(destroy_mkey_out)] = {};

	MLX5_SET(destroy_mkey_in, in, opcode, MLX5_CMD_OP_DESTROY_MKEY);
	MLX5_SET(destroy_mkey_in, in, mkey_index, key >> 8);
	return session_cmd(s, func, in, sizeof(in), out, sizeof(out));
}

static void make_cq(struct session *s, int func, u32 log_size, struct session_qp *q)
{
	u32 log_entry = s->wide ? 7 : 6, bytes = 1u << (log_size + log_entry);
	u32 pages = (bytes + HCA_PAGE_SIZE - 1) / HCA_PAGE_SIZE;
	u32 inlen = MLX5_ST_SZ_BYTES(create_cq_in) + pages * 8;
	u32 out[MLX5_ST_SZ_DW(create_cq_out)] = {};
	u64 buf = session_alloc(s, bytes), dbr = session_alloc(s, 8);
	u32 *in = calloc(1, inlen);
	u32 i;
	void *cqc;

	if (!in)
		die("memory", func);
	for (i = 1; i <= 1u << log_size; i++)
		((u8 *)session_ptr(s, buf))[(i << log_entry) - 1] = 0xf1;
	cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);
	MLX5_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
	MLX5_SET(cqc, cqc, cqe_sz, s->wide);
	MLX5_SET(cqc, cqc, log_cq_size, log_size);
	MLX5_SET(cqc, cqc, uar_page, s->uar[func]);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, s->eqn[func]);
	MLX5_SET64(cqc, cqc, dbr_addr, dbr);
	put_pages(s, MLX5_ADDR_OF(create_cq_in, in, pas), buf, pages);
	if (session_cmd(s, func, in, inlen, out, sizeof(out)))
		die("CREATE_CQ", func);
	free(in);
	q->cqn = MLX5_GET(create_cq_out, out, cqn);
	q->cq = (struct xv_cq) {
		.buf = session_ptr(s, buf),
		.dbrec = session_ptr(s, dbr),
		.doorbell = s->hca[func]->p.bar + s->uar[func] * HCA_PAGE_SIZE + MLX5R_UAR_CQ,
		.dir = &s->dir[func],
		.mask = (1u << log_size) - 1,
		.log_size = log_size,
		.log_stride = log_entry,
		.cqn = q->cqn,
	};
}

#define RQ_STRIDE	64

static void set_rings(struct session_qp *q, u64 buf, u64 dbr, u32 log_sq, u32 log_rq, u32 rq_bytes)
{
	struct session *s = q->s;
	u8 *ring = session_ptr(s, buf);
	u32 nsq = 1u << log_sq, nrq = 1u << log_rq;

	q->qp.rq = (struct xv_rq) {
		.buf = ring,
		.wr_id = calloc(nrq, sizeof(u64)),
		.dbrec = session_ptr(s, dbr),
		.mask = nrq - 1,
		.room = nrq,
		.max_sge = RQ_STRIDE / 16,
		.log_stride = 6,
	};
	q->qp.sq = (struct xv_sq) {
		.buf = ring + rq_bytes,
		.buf_end = ring + rq_bytes + nsq * MLX5R_WQEBB,
		.entry = calloc(nsq, sizeof(struct xv_sq_entry)),
		.dbrec = session_ptr(s, dbr),
		.doorbell = s->hca[q->func]->p.bar + s->uar[q->func] * HCA_PAGE_SIZE +
			    MLX5R_UAR_BF,
		.ctrl_qpn = cpu_to_be64(q->qp.qp_num << 8),
		.mask = nsq - 1,
		.room = nsq,
		.max_inline = 512,
		.max_sge = 16,
	};
	if (!q->qp.rq.wr_id || !q->qp.sq.entry)
		die("memory", q->func);
}

/* One for all queues of a function, created for the first */
static u32 xrc_domain(struct session *s, int func)
{
	if (!s->xrcd[func])
		s->xrcd[func] = simple(s, func, MLX5_CMD_OP_ALLOC_XRCD, 0);
	return s->xrcd[func];
}

void session_qp(struct session *s, int func, u8 st, u32 log_sq, u32 log_rq,
		struct session_qp *q)
{
	u32 rq_bytes = st == MLX5_QP_ST_DCI ? 0 : RQ_STRIDE << log_rq;
	u32 bytes = rq_bytes + (MLX5R_WQEBB << log_sq);
	u32 pages = (bytes + HCA_PAGE_SIZE - 1) / HCA_PAGE_SIZE;
	u32 inlen = MLX5_ST_SZ_BYTES(create_qp_in) + pages * 8;
	u32 out[MLX5_ST_SZ_DW(create_qp_out)] = {};
	u64 buf = session_alloc(s, bytes), dbr = session_alloc(s, 8);
	u32 *in = calloc(1, inlen);
	u32 index = s->last_index = s->last_index % XV_RSC_DIR_MASK + 1;
	void *qpc;

	if (!in)
		die("memory", func);
	memset(q, 0, sizeof(*q));
	q->s = s;
	q->func = func;
	make_cq(s, func, log_sq + 2, q);
	qpc = MLX5_ADDR_OF(create_qp_in, in, qpc);
	MLX5_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
	MLX5_SET(qpc, qpc, st, st);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, pd, s->pd[func]);
	if (st == MLX5_QP_ST_XRC)
		MLX5_SET(qpc, qpc, xrcd, xrc_domain(s, func));
	MLX5_SET(qpc, qpc, uar_page, s->uar[func]);
	MLX5_SET(qpc, qpc, user_index, index);
	MLX5_SET(qpc, qpc, log_sq_size, log_sq);
	MLX5_SET(qpc, qpc, log_rq_size, log_rq);
	MLX5_SET(qpc, qpc, log_rq_stride, 2);
	MLX5_SET(qpc, qpc, rq_type, rq_bytes ? MLX5_NON_ZERO_RQ : MLX5_ZERO_LEN_RQ);
	MLX5_SET(qpc, qpc, cd_master, !!(s->cross & SESSION_MASTER));
	MLX5_SET(qpc, qpc, cd_slave_send, !!(s->cross & SESSION_MANAGED_SEND));
	MLX5_SET(qpc, qpc, cd_slave_receive, !!(s->cross & SESSION_MANAGED_RECV));
	MLX5_SET(qpc, qpc, cqn_snd, q->cqn);
	MLX5_SET(qpc, qpc, cqn_rcv, q->cqn);
	MLX5_SET64(qpc, qpc, dbr_addr, dbr);
	put_pages(s, MLX5_ADDR_OF(create_qp_in, in, pas), buf, pages);
	MLX5_SET(create_qp_in, in, ece, s->ece);
	if (session_cmd(s, func, in, inlen, out, sizeof(out)))
		die("CREATE_QP", func);
	free(in);
	s->ece_granted = MLX5_GET(create_qp_out, out, ece);
	q->qp.qp_num = MLX5_GET(create_qp_out, out, qpn);
	q->qp.rsc = (struct xv_rsc) { XV_RSC_QP, index };
	q->qp.send_cq = q->qp.recv_cq = &q->cq;
	s->leaf[func][index] = &q->qp.rsc;
	set_rings(q, buf, dbr, log_sq, log_rq, rq_bytes);
}

u8 session_qp_destroy(struct session_qp *q)
{
	u32 in[MLX5_ST_SZ_DW(destroy_qp_in)] = {}, out[MLX5_ST_SZ_DW(destroy_qp_out)] = {};
	u8 status;

	MLX5_SET(destroy_qp_in, in, opcode, MLX5_CMD_OP_DESTROY_QP);
	MLX5_SET(destroy_qp_in, in, qpn, q->qp.qp_num);
	status = session_cmd(q->s, q->func, in, sizeof(in), out, sizeof(out));
	free(q->qp.rq.wr_id);
	free(q->qp.sq.entry);
	q->s->leaf[q->func][q->qp.rsc.user_index] = NULL;
	return status;
}

u8 session_cq_destroy(struct session_qp *q)
{
	u32 in[MLX5_ST_SZ_DW(destroy_cq_in)] = {}, out[MLX5_ST_SZ_DW(destroy_cq_out)] = {};

	MLX5_SET(destroy_cq_in, in, opcode, MLX5_CMD_OP_DESTROY_CQ);
	MLX5_SET(destroy_cq_in, in, cqn, q->cqn);
	return session_cmd(q->s, q->func, in, sizeof(in), out, sizeof(out));
}

/* ---- XRC shared receive queues ---------------------------------------------------- */

#define SRQ_LOG_SIZE	4
#define SRQ_LOG_STRIDE	4

struct session_srq session_xrc_srq(struct session_qp *q, const struct session_srq *old)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_xrc_srq_in) + 8) / 4] = {};
	u32 out[MLX5_ST_SZ_DW(create_xrc_srq_out)] = {};
	void *ctx = MLX5_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);
	struct session *s = q->s;
	struct session_srq srq = {
		.ring = old ? old->ring : session_alloc(s, 1u << (SRQ_LOG_SIZE + SRQ_LOG_STRIDE)),
		.dbr = old ? old->dbr : session_alloc(s, 8),
	};

	*(__be32 *)session_ptr(s, srq.dbr) = 0;
	MLX5_SET(create_xrc_srq_in, in, opcode, MLX5_CMD_OP_CREATE_XRC_SRQ);
	MLX5_SET(xrc_srqc, ctx, log_xrc_srq_size, SRQ_LOG_SIZE);
	MLX5_SET(xrc_srqc, ctx, log_rq_stride, SRQ_LOG_STRIDE - 4);
	MLX5_SET(xrc_srqc, ctx, basic_cyclic_rcv_wqe, 1);
	MLX5_SET(xrc_srqc, ctx, pd, s->pd[q->func]);
	MLX5_SET(xrc_srqc, ctx, xrcd, xrc_domain(s, q->func));
	MLX5_SET(xrc_srqc, ctx, cqn, q->cqn);
	MLX5_SET(xrc_srqc, ctx, db_record_addr_h, srq.dbr >> 32);
	MLX5_SET(xrc_srqc, ctx, db_record_addr_l, srq.dbr >> 2);
	put_pages(s, MLX5_ADDR_OF(create_xrc_srq_in, in, pas), srq.ring, 1);
	if (session_cmd(s, q->func, in, sizeof(in), out, sizeof(out)))
		die("CREATE_XRC_SRQ", q->func);
	srq.srqn = MLX5_GET(create_xrc_srq_out, out, xrc_srqn);
	return srq;
}

u8 session_xrc_srq_destroy(struct session *s, int func, const struct session_srq *srq)
{
	u32 in[MLX5_ST_SZ_DW(destroy_xrc_srq_in)] = {};
	u32 out[MLX5_ST_SZ_DW(destroy_xrc_srq_out)] = {};

	MLX5_SET(destroy_xrc_srq_in, in, opcode, MLX5_CMD_OP_DESTROY_XRC_SRQ);
	MLX5_SET(destroy_xrc_srq_in, in, xrc_srqn, srq->srqn);
	return session_cmd(s, func, in, sizeof(in), out, sizeof(out));
}

void session_srq_post(struct session *s, struct session_srq *srq, const struct xv_sge *sge)
{
	u32 slot = srq->posted++ & ((1u << SRQ_LOG_SIZE) - 1);
	struct mlx5r_data *d = session_ptr(s, srq->ring + (slot << SRQ_LOG_STRIDE));

	d->byte_count = cpu_to_be32(sge->length);
	d->lkey = cpu_to_be32(sge->lkey);
	d->addr = cpu_to_be64(sge->addr);
	*(__be32 *)session_ptr(s, srq->dbr) = cpu_to_be32(srq->posted);
}

/*
 * Both sides calculate the same port, as rdma_calc_flow_label() and rdma_flow_label_to_udp_sport():
 * the numbers make a label of 20 bits, and the label a port.
 */
static u16 path_sport(const struct session_qp *q, const struct session_qp *peer)
{
	u64 v = (u64)q->qp.qp_num * peer->qp.qp_num;

	v ^= v >> 20;
	v ^= v >> 40;
	return 0xc000 | ((v & 0x3fff) ^ (v >> 14 & 0x3f));
}

/* As mlx5_set_path() */
static void fill_path(const struct session_qp *q, const struct session_qp *peer, void *qpc)
{
	const struct session_path *p = &q->s->path;
	void *path = MLX5_ADDR_OF(qpc, qpc, primary_address_path);

	make_gid(peer->s, peer->func, p->gid, MLX5_ADDR_OF(ads, path, rgid_rip));
	memcpy(MLX5_ADDR_OF(ads, path, rmac_47_32), peer->s->hca[peer->func]->p.mac, 6);
	MLX5_SET(ads, path, vhca_port_num, 1);
	MLX5_SET(ads, path, src_addr_index, p->gid);
	MLX5_SET(ads, path, hop_limit, 64);
	MLX5_SET(ads, path, tclass, p->tclass);
	MLX5_SET(ads, path, dscp, p->tclass >> 2);
	MLX5_SET(ads, path, eth_prio, p->sl);
	MLX5_SET(ads, path, udp_sport, path_sport(q, peer));
	MLX5_SET(ads, path, ack_timeout, p->ack_timeout);
}

u8 session_qp_modify(struct session_qp *q, u16 opcode, const struct session_qp *peer)
{
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);
	const struct session_path *path = &q->s->path;
	u8 status;

	MLX5_SET(rst2init_qp_in, in, opcode, opcode);
	MLX5_SET(rst2init_qp_in, in, ece, q->s->ece);
	MLX5_SET(rst2init_qp_in, in, qpn, q->qp.qp_num);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, mtu, path->mtu);
	MLX5_SET(qpc, qpc, log_msg_max, 30);
	MLX5_SET(qpc, qpc, remote_qpn, peer ? peer->qp.qp_num : 0);
	MLX5_SET(qpc, qpc, log_sra_max, 4);
	MLX5_SET(qpc, qpc, log_rra_max, 4);
	MLX5_SET(qpc, qpc, retry_count, path->retry_count);
	MLX5_SET(qpc, qpc, rnr_retry, path->rnr_retry);
	MLX5_SET(qpc, qpc, next_send_psn, path->psn);
	MLX5_SET(qpc, qpc, next_rcv_psn, peer ? peer->s->path.psn : 0);
	MLX5_SET(qpc, qpc, min_rnr_nak, 1);
	MLX5_SET(qpc, qpc, atomic_mode, hca_model_atomic_mode(q->s->hca[q->func]->p.model));
	MLX5_SET(qpc, qpc, rre, 1);
	MLX5_SET(qpc, qpc, rwe, 1);
	MLX5_SET(qpc, qpc, rae, 1);
	MLX5_SET(qpc, qpc, q_key, SESSION_QKEY);
	MLX5_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
	if (peer)
		fill_path(q, peer, qpc);
	status = session_cmd(q->s, q->func, in, sizeof(in), out, sizeof(out));
	q->s->ece_granted = MLX5_GET(rst2init_qp_out, out, ece);
	return status;
}

void session_connect(struct session_qp *a, struct session_qp *b)
{
	static const u16 steps[] = {
		MLX5_CMD_OP_RST2INIT_QP, MLX5_CMD_OP_INIT2RTR_QP, MLX5_CMD_OP_RTR2RTS_QP,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (session_qp_modify(a, steps[i], b) ||
		    (a != b && session_qp_modify(b, steps[i], a)))
			die("modify QP", a->func);
}

void session_join_group(const struct session_qp *q, const u8 group[16])
{
	u32 in[MLX5_ST_SZ_DW(attach_to_mcg_in)] = {}, out[MLX5_ST_SZ_DW(attach_to_mcg_out)];

	MLX5_SET(attach_to_mcg_in, in, opcode, MLX5_CMD_OP_ATTACH_TO_MCG);
	MLX5_SET(attach_to_mcg_in, in, qpn, q->qp.qp_num);
	memcpy(MLX5_ADDR_OF(attach_to_mcg_in, in, multicast_gid), group, 16);
	if (session_cmd(q->s, q->func, in, sizeof(in), out, sizeof(out)))
		die("ATTACH_TO_MCG", q->func);
}

struct xv_ah session_ah(const struct session *s, int to)
{
	const struct session_path *p = &s->path;
	struct xv_ah ah = {
		.av.rate_sl = p->sl << 1,
		.av.rlid = cpu_to_be16(0xc000),
		.av.tclass = p->tclass,
		.av.hop_limit = 64,
		.av.grh_gid_fl = cpu_to_be32(MLX5R_AV_GRH | p->gid << 20),
	};

	memcpy(ah.av.rgid, s->hca[to]->gids[p->gid].gid, sizeof(ah.av.rgid));
	memcpy(ah.av.rmac, s->hca[to]->p.mac, sizeof(ah.av.rmac));
	return ah;
}

void session_idle_qps(struct session *s, int func, u32 n)
{
	static struct xv_rsc *leaf[XV_RSC_DIR_SIZE];
	size_t used = s->used;
	struct session_qp q;

	memcpy(leaf, s->leaf[func], sizeof(leaf));
	for (; n; n--, s->used = used) {
		session_qp(s, func, MLX5_QP_ST_RC, 2, 2, &q);
		session_connect(&q, &q);
		free(q.qp.rq.wr_id);
		free(q.qp.sq.entry);
	}
	/* Nobody polls their CQ, so it must not overrun. */
	memcpy(s->leaf[func], leaf, sizeof(leaf));
}
