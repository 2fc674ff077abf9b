// SPDX-License-Identifier: GPL-2.0
/*
 * usage: interface DEVICE GID-INDEX
 *
 * The interfaces of libibverbs that the programs of rdma-core and perftest do not use, or not
 * with data checks: extended work requests and completions, thread domains, allocators, memory
 * windows, re-registration, events, fork, and the answers to what a device lacks. The
 * results are the same with each provider. The queue pairs are connected to others of the same
 * device.
 */
#include <infiniband/mlx5dv.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ends.h"

#define QKEY	0x1234567u

static void post_recv(struct end *e, uint64_t id, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = sge_at(offset, length);
	struct ibv_recv_wr *bad, wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };

	need(!ibv_post_recv(e->qp, &wr, &bad), "ibv_post_recv");
}

/* What ibv_start_poll() and its readers said of one completion */
struct seen {
	uint64_t id, ts;
	int status, opcode;
	unsigned int flags;
	uint32_t bytes, imm, qp_num, src_qp;
};

static void read_one(struct ibv_cq_ex *cq, struct seen *s)
{
	s->id = cq->wr_id;
	s->status = cq->status;
	s->opcode = ibv_wc_read_opcode(cq);
	s->flags = ibv_wc_read_wc_flags(cq);
	s->bytes = ibv_wc_read_byte_len(cq);
	s->imm = ibv_wc_read_imm_data(cq);
	s->qp_num = ibv_wc_read_qp_num(cq);
	s->src_qp = ibv_wc_read_src_qp(cq);
	s->ts = ibv_wc_read_completion_ts(cq);
}

/* Takes up to n completions in as few rounds as possible; returns their number. */
static int take(struct end *e, int n, struct seen *s)
{
	struct ibv_poll_cq_attr attr = { 0 };
	double until = now() + 10;
	int got = 0, err;

	while (got < n && now() < until) {
		if (ibv_start_poll(e->cqx, &attr))
			continue;
		do {
			read_one(e->cqx, &s[got++]);
			err = got < n ? ibv_next_poll(e->cqx) : ENOENT;
		} while (!err);
		ibv_end_poll(e->cqx);
	}
	return got;
}

static void one(struct end *e, uint64_t id, int opcode, uint32_t bytes, const char *what)
{
	struct seen s = { .status = -1 };

	take(e, 1, &s);
	ok(s.id == id && !s.status && s.opcode == opcode && (!bytes || s.bytes == bytes),
	   "%s: completion", what);
	if (s.id != id || s.status || s.opcode != opcode || (bytes && s.bytes != bytes))
		diag("id %llu status %d opcode %d bytes %u", (unsigned long long)s.id, s.status,
		     s.opcode, s.bytes);
}

static void fill(uint32_t offset, uint32_t length, uint8_t first)
{
	uint32_t i;

	for (i = 0; i < length; i++)
		mem[offset + i] = (uint8_t)(first + i);
}

static bool same(uint32_t a, uint32_t b, uint32_t length)
{
	return !memcmp(mem + a, mem + b, length);
}

static void extended_rdma(struct end *a, struct end *b)
{
	struct ibv_sge list[3] = { sge_at(0, 100), sge_at(100, 200), sge_at(300, 300) };
	struct ibv_data_buf bufs[2] = { { mem, 20 }, { mem + 20, 30 } };
	struct ibv_qp_ex *q;
	struct seen s[2];
	uint64_t old;

	fill(0, 4096, 1);
	q = start(a, 1);
	ibv_wr_rdma_write(q, mr->rkey, at(8192));
	ibv_wr_set_sge(q, mr->lkey, at(0), 4096);
	ok(!ibv_wr_complete(q), "write");
	one(a, 1, IBV_WC_RDMA_WRITE, 0, "write");
	ok(same(0, 8192, 4096), "write: data");

	memset(mem + 8192, 0, 4096);
	q = start(a, 2);
	ibv_wr_rdma_write(q, mr->rkey, at(8192));
	ibv_wr_set_sge_list(q, 3, list);
	ok(!ibv_wr_complete(q), "write of a list");
	one(a, 2, IBV_WC_RDMA_WRITE, 0, "write of a list");
	ok(same(0, 8192, 600) && !mem[8192 + 600], "write of a list: data");

	memset(mem + 8192, 0, 4096);
	q = start(a, 3);
	ibv_wr_rdma_write(q, mr->rkey, at(8192));
	ibv_wr_set_inline_data_list(q, 2, bufs);
	q->wr_id = 4;
	ibv_wr_rdma_write(q, mr->rkey, at(8192 + 50));
	ibv_wr_set_inline_data(q, mem + 50, 14);
	old = mem[0];
	mem[0] = 0;		/* the data was copied */
	ok(!ibv_wr_complete(q), "two writes of inline data");
	mem[0] = (uint8_t)old;
	ok(take(a, 2, s) == 2 && s[0].id == 3 && s[1].id == 4 && !s[0].status && !s[1].status,
	   "inline: completions in order");
	ok(same(0, 8192, 64), "inline: data");

	memset(mem + 8192, 0, 4096);
	q = start(a, 5);
	ibv_wr_rdma_read(q, mr->rkey, at(0));
	ibv_wr_set_sge(q, mr->lkey, at(8192), 1000);
	ok(!ibv_wr_complete(q), "read");
	one(a, 5, IBV_WC_RDMA_READ, 1000, "read");
	ok(same(0, 8192, 1000), "read: data");

	*(uint64_t *)(mem + 16384) = 40;
	q = start(a, 6);
	ibv_wr_atomic_fetch_add(q, mr->rkey, at(16384), 2);
	ibv_wr_set_sge(q, mr->lkey, at(16392), 8);
	ok(!ibv_wr_complete(q), "fetch and add");
	one(a, 6, IBV_WC_FETCH_ADD, 8, "fetch and add");
	ok(*(uint64_t *)(mem + 16384) == 42 && *(uint64_t *)(mem + 16392) == 40,
	   "fetch and add: values");
	q = start(a, 7);
	ibv_wr_atomic_cmp_swp(q, mr->rkey, at(16384), 42, 7);
	ibv_wr_set_sge(q, mr->lkey, at(16392), 8);
	ok(!ibv_wr_complete(q), "compare and swap");
	one(a, 7, IBV_WC_COMP_SWAP, 8, "compare and swap");
	ok(*(uint64_t *)(mem + 16384) == 7 && *(uint64_t *)(mem + 16392) == 42,
	   "compare and swap: values");

	post_recv(b, 8, 32768, 4096);
	q = start(a, 9);
	ibv_wr_rdma_write_imm(q, mr->rkey, at(8192), 0x01020304);
	ibv_wr_set_sge(q, mr->lkey, at(0), 2000);
	ok(!ibv_wr_complete(q), "write with immediate data");
	one(a, 9, IBV_WC_RDMA_WRITE, 0, "write with immediate data");
	ok(take(b, 1, s) == 1 && s[0].id == 8 && s[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
	   s[0].bytes == 2000 && s[0].flags & IBV_WC_WITH_IMM && s[0].imm == 0x01020304 &&
	   s[0].qp_num == b->qp->qp_num, "immediate data arrives");
}

static void extended_sends(struct end *a, struct end *b)
{
	struct ibv_qp_ex *q;
	struct seen s[3];
	int i, n;

	fill(0, 4096, 7);
	memset(mem + 32768, 0, 8192);
	for (i = 0; i < 3; i++)
		post_recv(b, 100 + i, 32768 + 2048 * i, 2048);
	ibv_wr_start(a->qpx);
	q = a->qpx;
	q->wr_flags = 0;
	q->wr_id = 20;
	ibv_wr_send(q);
	ibv_wr_set_sge(q, mr->lkey, at(0), 300);
	q->wr_id = 21;
	ibv_wr_send_imm(q, 0xa1b2c3d4);
	ibv_wr_set_inline_data(q, mem + 300, 33);
	q->wr_flags = IBV_SEND_SIGNALED;
	q->wr_id = 22;
	ibv_wr_send(q);
	ibv_wr_set_sge(q, mr->lkey, at(333), 0);
	ok(!ibv_wr_complete(q), "three sends, the last is signalled and empty");
	one(a, 22, IBV_WC_SEND, 0, "three sends");
	n = take(b, 3, s);
	ok(n == 3 && s[0].id == 100 && s[1].id == 101 && s[2].id == 102 && s[0].bytes == 300 &&
	   s[1].bytes == 33 && s[2].bytes == 0, "three receives");
	ok(n == 3 && !(s[0].flags & IBV_WC_WITH_IMM) && s[1].flags & IBV_WC_WITH_IMM &&
	   s[1].imm == 0xa1b2c3d4, "immediate data of the second");
	ok(n == 3 && s[0].ts <= s[1].ts && s[1].ts <= s[2].ts && s[0].ts, "time stamps grow");
	ok(same(0, 32768, 300) && same(300, 32768 + 2048, 33), "three receives: data");

	q = start(a, 23);
	ibv_wr_rdma_write(q, mr->rkey, at(8192));
	ibv_wr_set_sge(q, mr->lkey, at(0), 8);
	ibv_wr_abort(q);
	q = start(a, 24);
	for (i = 0; i < 32 * DEPTH; i++) {
		ibv_wr_rdma_write(q, mr->rkey, at(8192));
		ibv_wr_set_sge(q, mr->lkey, at(0), 8);
	}
	ok(ibv_wr_complete(q) == ENOMEM, "too many requests: ENOMEM");
	q = start(a, 25);
	ibv_wr_rdma_write(q, mr->rkey, at(8192));
	ibv_wr_set_sge(q, mr->lkey, at(0), 8);
	ok(!ibv_wr_complete(q), "a request after them");
	one(a, 25, IBV_WC_RDMA_WRITE, 0, "aborted and refused requests leave nothing");
}

static void datagrams(void)
{
	struct end a = make(IBV_QPT_UD, NULL, NULL), b = make(IBV_QPT_UD, NULL, NULL);
	struct ibv_ah_attr attr = path_to(&place, gid_index);
	struct ibv_ah *ah, *back;
	struct ibv_qp_ex *q;
	struct ibv_wc wc;
	struct seen s;
	double until;

	/* UCX sets all bits; 20 count. */
	attr.grh.flow_label = ~0u;
	ud_up(a.qp, QKEY);
	ud_up(b.qp, QKEY);
	ah = ibv_create_ah(pd, &attr);
	need(ah != NULL, "ibv_create_ah");
	fill(0, 1024, 3);
	memset(mem + 32768, 0, 2048);
	post_recv(&b, 1, 32768, 40 + 512);
	q = start(&a, 30);
	ibv_wr_send_imm(q, 77);
	ibv_wr_set_sge(q, mr->lkey, at(0), 500);
	ibv_wr_set_ud_addr(q, ah, b.qp->qp_num, QKEY);
	ok(!ibv_wr_complete(q), "datagram: data, then address");
	one(&a, 30, IBV_WC_SEND, 0, "datagram");
	ok(take(&b, 1, &s) == 1 && s.id == 1 && s.bytes == 540 && s.imm == 77 &&
	   s.src_qp == a.qp->qp_num, "datagram arrives");
	ok(same(0, 32768 + 40, 500), "datagram: data");

	post_recv(&b, 2, 32768, 40 + 512);
	q = start(&a, 31);
	ibv_wr_send(q);
	ibv_wr_set_ud_addr(q, ah, b.qp->qp_num, QKEY);
	ibv_wr_set_inline_data(q, mem + 100, 60);
	ok(!ibv_wr_complete(q), "datagram: address, then inline data");
	one(&a, 31, IBV_WC_SEND, 0, "datagram of inline data");
	for (until = now() + 10; ibv_poll_cq(b.cq, 1, &wc) != 1 && now() < until;)
		;
	ok(wc.wr_id == 2 && wc.byte_len == 100 && same(100, 32768 + 40, 60),
	   "datagram of inline data arrives");
	back = ibv_create_ah_from_wc(pd, &wc, (struct ibv_grh *)(mem + 32768), 1);
	ok(back != NULL, "an address handle from its completion");
	post_recv(&a, 3, 16384, 40 + 512);
	q = start(&b, 32);
	ibv_wr_send(q);
	ibv_wr_set_ud_addr(q, back, wc.src_qp, QKEY);
	ibv_wr_set_sge(q, mr->lkey, at(0), 64);
	ok(!ibv_wr_complete(q), "the answer");
	one(&b, 32, IBV_WC_SEND, 0, "the answer");
	one(&a, 3, IBV_WC_RECV, 104, "the answer arrives");
	ok(!ibv_destroy_ah(back) && !ibv_destroy_ah(ah), "the address handles end");
	unmake(&a);
	unmake(&b);
}

static void windows(struct end *a)
{
	struct ibv_mr *bindable = ibv_reg_mr(pd, mem, BYTES, ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.wr_id = 40, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = { bindable, at(8192), 4096, IBV_ACCESS_REMOTE_WRITE },
	};
	struct ibv_qp_ex *q;
	uint32_t old;

	need(mw && bindable, "ibv_alloc_mw");
	old = mw->rkey;
	ok(!ibv_bind_mw(a->qp, mw, &bind) && mw->rkey != old, "a window is bound");
	one(a, 40, IBV_WC_BIND_MW, 0, "bind");
	fill(0, 256, 9);
	q = start(a, 41);
	ibv_wr_rdma_write(q, mw->rkey, at(8192));
	ibv_wr_set_sge(q, mr->lkey, at(0), 256);
	ok(!ibv_wr_complete(q), "a write to the window");
	one(a, 41, IBV_WC_RDMA_WRITE, 0, "a write to the window");
	ok(same(0, 8192, 256), "a write to the window: data");
	ok(!ibv_dealloc_mw(mw), "the window ends");

	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	need(mw != NULL, "ibv_alloc_mw of type 2");
	old = ibv_inc_rkey(mw->rkey);
	q = start(a, 42);
	ibv_wr_bind_mw(q, mw, old, &bind.bind_info);
	ok(!ibv_wr_complete(q), "a window of type 2 is bound");
	one(a, 42, IBV_WC_BIND_MW, 0, "bind of type 2");
	mw->rkey = old;
	q = start(a, 43);
	ibv_wr_local_inv(q, mw->rkey);
	ok(!ibv_wr_complete(q), "its key is invalidated");
	one(a, 43, IBV_WC_LOCAL_INV, 0, "invalidate");
	ok(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(bindable), "window and region end");
}

static void regions(struct end *a)
{
	struct ibv_mr *r = ibv_reg_mr(pd, mem, 4096, IBV_ACCESS_LOCAL_WRITE), *zero;
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_qp_ex *q;

	need(r && other, "ibv_reg_mr");
	ok(!ibv_rereg_mr(r, IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			 mem + 8192, 4096, ACCESS), "re-registration");
	ok(r->addr == mem + 8192 && r->length == 4096, "re-registration: address and length");
	fill(0, 128, 21);
	q = start(a, 50);
	ibv_wr_rdma_write(q, r->rkey, at(8192));
	ibv_wr_set_sge(q, mr->lkey, at(0), 128);
	ok(!ibv_wr_complete(q), "a write to the new place");
	one(a, 50, IBV_WC_RDMA_WRITE, 0, "a write to the new place");
	ok(same(0, 8192, 128), "a write to the new place: data");
	ok(!ibv_rereg_mr(r, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0) && r->pd == other,
	   "to another domain");
	ok(ibv_dealloc_pd(other) == EBUSY, "a domain with a region stays");
	ok(!ibv_dereg_mr(r) && !ibv_dealloc_pd(other), "region and domain end");
	zero = ibv_reg_mr_iova(pd, mem, 4096, 0x1000, ACCESS);
	need(zero != NULL, "ibv_reg_mr_iova");
	q = start(a, 51);
	ibv_wr_rdma_read(q, zero->rkey, 0x1000 + 64);
	ibv_wr_set_sge(q, mr->lkey, at(16384), 64);
	ok(!ibv_wr_complete(q), "a read at a virtual address");
	one(a, 51, IBV_WC_RDMA_READ, 64, "a read at a virtual address");
	ok(same(64, 16384, 64), "a read at a virtual address: data");
	ok(!ibv_dereg_mr(zero), "the region ends");
}

static void queries(struct end *a)
{
	struct ibv_gid_entry entry, table[512];
	struct ibv_device_attr_ex dx;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	__be16 pkey;
	ssize_t n;

	ok(!ibv_query_device_ex(ctx, NULL, &dx) && dx.orig_attr.max_qp > 0 &&
	   dx.completion_timestamp_mask && dx.hca_core_clock, "ibv_query_device_ex");
	ok(!ibv_query_qp(a->qp, &attr, IBV_QP_STATE, &init) && attr.qp_state == IBV_QPS_RTS &&
	   init.cap.max_send_wr >= DEPTH && init.send_cq == a->cq && init.qp_type == IBV_QPT_RC,
	   "ibv_query_qp");
	ok(!ibv_query_gid_ex(ctx, 1, (uint32_t)gid_index, &entry, 0) &&
	   !memcmp(&entry.gid, &place.gid, sizeof(place.gid)), "ibv_query_gid_ex");
	ok(ibv_query_gid_ex(ctx, 1, (uint32_t)port.gid_tbl_len - 1, &entry, 0) == ENODATA,
	   "an empty entry: ENODATA");
	ok(ibv_query_gid(ctx, 1, port.gid_tbl_len, &entry.gid) == -1 &&
	   ibv_query_gid(ctx, 1, -1, &entry.gid) == -1 &&
	   ibv_query_gid(ctx, 99, 0, &entry.gid) == -1, "ibv_query_gid outside of the table");
	n = ibv_query_gid_table(ctx, table, 512, 0);
	ok(n > gid_index && !memcmp(&table[gid_index].gid, &place.gid, sizeof(place.gid)),
	   "ibv_query_gid_table");
	ok(!ibv_query_pkey(ctx, 1, 0, &pkey) && ibv_get_pkey_index(ctx, 1, pkey) == 0,
	   "ibv_query_pkey, ibv_get_pkey_index");
	ok(!ibv_resize_cq(a->cq, 1000) && a->cq->cqe >= 1000, "ibv_resize_cq");
	ok(!ibv_modify_cq(a->cq, &(struct ibv_modify_cq_attr) {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { 4, 16 } }), "ibv_modify_cq");
}

/* Time stamps of completions come from the clock of the device. */
static void device_clock(struct end *a)
{
	struct ibv_values_ex before = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK }, after = before;
	struct ibv_qp_ex *q;
	struct seen s = { .status = -1 };

	ok(!ibv_query_rt_values_ex(ctx, &before) &&
	   before.comp_mask == IBV_VALUES_MASK_RAW_CLOCK, "the clock of the device");
	q = start(a, 55);
	ibv_wr_rdma_write(q, mr->rkey, at(8192));
	ibv_wr_set_sge(q, mr->lkey, at(0), 8);
	ok(!ibv_wr_complete(q) && take(a, 1, &s) == 1 && !s.status, "a write with a time stamp");
	ok(!ibv_query_rt_values_ex(ctx, &after) && s.ts - before.raw_clock.tv_nsec < 1ull << 63 &&
	   after.raw_clock.tv_nsec - s.ts < 1ull << 63, "its time stamp is between two readings");
}

static void domains(void)
{
	struct ibv_td *td = ibv_alloc_td(ctx, &(struct ibv_td_init_attr) { 0 });
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };
	struct ibv_pd *parent;
	struct end a, b;

	need(td != NULL, "ibv_alloc_td");
	parent = ibv_alloc_parent_domain(ctx, &attr);
	need(parent != NULL, "ibv_alloc_parent_domain");
	a = make(IBV_QPT_RC, parent, NULL);
	b = make(IBV_QPT_RC, parent, NULL);
	rc_up(a.qp, b.qp->qp_num);
	rc_up(b.qp, a.qp->qp_num);
	extended_sends(&a, &b);
	unmake(&a);
	unmake(&b);
	ok(ibv_dealloc_td(td) == EBUSY, "a thread domain in use stays");
	ok(!ibv_dealloc_pd(parent) && !ibv_dealloc_td(td), "parent domain and thread domain end");
}

/* ---- Memory of queues from an allocator of the program ------------------------------------- */

enum { BUFFERS = 16, PAGE = 4096, RECORD_AT = 192 };

struct buffer {
	uint8_t *pages, *addr;
	size_t size, length;
	uint64_t type;
};

static struct {
	struct ibv_pd *domain;
	struct buffer in_use[BUFFERS];
	int calls[6];		/* by resource type, without the identifier of the driver */
	int allocs, frees, wrong;
	uint64_t by_default;	/* type that this allocator leaves to the library */
	uint64_t fails;		/* type that it has no memory for */
} pool;

static void *pool_alloc(struct ibv_pd *domain, void *context, size_t size, size_t alignment,
			uint64_t type)
{
	size_t at = type == MLX5DV_RES_TYPE_DBR ? RECORD_AT : 0;
	struct buffer *b = pool.in_use;

	pool.wrong += domain != pool.domain || context != &pool || !size || !alignment ||
		      at % alignment || type >> 32 != MLX5DV_RES_TYPE_QP >> 32;
	pool.calls[(uint32_t)type % 6]++;
	if (type == pool.by_default)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (type == pool.fails)
		return NULL;
	while (b->addr)
		b++;
	*b = (struct buffer) { .size = size, .type = type,
			       .length = (at + size + PAGE - 1) / PAGE * PAGE };
	b->pages = mmap(NULL, b->length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);
	b->addr = b->pages + at;
	pool.allocs++;
	return b->addr;
}

static void pool_free(struct ibv_pd *domain, void *context, void *addr, uint64_t type)
{
	struct buffer *b = pool.in_use;

	while (b < pool.in_use + BUFFERS && b->addr != addr)
		b++;
	pool.frees++;
	if (b == pool.in_use + BUFFERS) {
		pool.wrong++;
		return;
	}
	pool.wrong += domain != pool.domain || context != &pool || b->type != type ||
		      munmap(b->pages, b->length);
	b->addr = NULL;
}

static int buffers_in_use(void)
{
	int i, n = 0;

	for (i = 0; i < BUFFERS; i++)
		n += pool.in_use[i].addr != NULL;
	return n;
}

/* Buffers that library or adapter have written something to */
static int buffers_written(void)
{
	const struct buffer *b;
	int n = 0;
	size_t i;

	for (b = pool.in_use; b < pool.in_use + BUFFERS; b++) {
		for (i = 0; b->addr && i < b->size && !b->addr[i]; i++)
			;
		n += b->addr && i < b->size;
	}
	return n;
}

static bool called(int qp, int cq, int srq, int records)
{
	const int *c = pool.calls;

	return c[1] == qp && c[5] == cq && c[4] == srq && c[3] == records && !c[0] && !c[2];
}

static void receive_shared(struct ibv_srq *srq, struct end *a, struct end *b)
{
	struct ibv_sge sge = sge_at(32768, 256);
	struct ibv_recv_wr *bad, wr = { .wr_id = 5, .sg_list = &sge, .num_sge = 1 };
	struct ibv_qp_ex *q;
	struct seen s[2];
	int i;

	for (i = 0; i < 40; i++) {
		fill(0, 256, (uint8_t)(i + 1));
		memset(mem + 32768, 0, 256);
		need(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
		q = start(a, 6);
		ibv_wr_send(q);
		ibv_wr_set_sge(q, mr->lkey, at(0), 256);
		need(!ibv_wr_complete(q), "send");
		need(take(a, 1, &s[0]) == 1 && take(b, 1, &s[1]) == 1 && !s[0].status &&
		     !s[1].status && s[1].id == 5 && same(0, 32768, 256), "receive");
	}
	ok(true, "messages to a shared receive queue of the allocator");
}

static void pool_refusals(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 } };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_cq_init_attr_ex cqx = { .cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
					   .parent_domain = pool.domain };
	struct ibv_qp *qp;
	int before = buffers_in_use();

	pool.fails = MLX5DV_RES_TYPE_QP;
	ok(!ibv_create_qp(pool.domain, &init), "no memory for a queue pair");
	pool.fails = MLX5DV_RES_TYPE_SRQ;
	ok(!ibv_create_srq(pool.domain, &srq), "no memory for a shared receive queue");
	pool.fails = MLX5DV_RES_TYPE_CQ;
	ok(!ibv_create_cq_ex(ctx, &cqx), "no memory for a completion queue");
	pool.fails = MLX5DV_RES_TYPE_DBR;
	ok(!ibv_create_qp(pool.domain, &init) && !ibv_create_srq(pool.domain, &srq) &&
	   !ibv_create_cq_ex(ctx, &cqx), "no memory for a doorbell record");
	pool.fails = 0;
	ok(buffers_in_use() == before, "nothing is left of them");
	pool.by_default = MLX5DV_RES_TYPE_DBR;
	qp = ibv_create_qp(pool.domain, &init);
	ok(qp && buffers_in_use() == before + 1, "a record by default");
	need(!ibv_destroy_qp(qp), "destroy");
	pool.by_default = MLX5DV_RES_TYPE_QP;
	qp = ibv_create_qp(pool.domain, &init);
	ok(qp && buffers_in_use() == before + 1, "a ring by default");
	need(!ibv_destroy_qp(qp), "destroy");
	pool.by_default = 0;
	ok(buffers_in_use() == before, "they leave nothing");
}

static void allocators(void)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = pd, .alloc = pool_alloc, .free = pool_free, .pd_context = &pool,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
	};
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct end a, b, c;
	struct ibv_srq *srq;
	struct ibv_qp_ex *q;

	pool.domain = ibv_alloc_parent_domain(ctx, &attr);
	need(pool.domain != NULL, "a parent domain with allocators");
	a = make(IBV_QPT_RC, pool.domain, NULL);
	b = make(IBV_QPT_RC, pool.domain, NULL);
	ok(called(2, 2, 0, 4), "a call for each ring and each doorbell record");
	srq = ibv_create_srq(pool.domain, &init);
	c = make(IBV_QPT_RC, pool.domain, srq);
	ok(srq && called(3, 3, 1, 7) && buffers_in_use() == 14,
	   "also of shared receive queues");
	rc_up(a.qp, b.qp->qp_num);
	rc_up(b.qp, a.qp->qp_num);
	extended_rdma(&a, &b);
	extended_sends(&a, &b);
	rc_up(c.qp, a.qp->qp_num);
	need(!ibv_modify_qp(a.qp, &(struct ibv_qp_attr) { .qp_state = IBV_QPS_RESET },
			    IBV_QP_STATE), "reset");
	rc_up(a.qp, c.qp->qp_num);
	receive_shared(srq, &a, &c);
	q = start(&c, 7);
	ibv_wr_rdma_write(q, mr->rkey, at(8192));
	ibv_wr_set_sge(q, mr->lkey, at(0), 64);
	ok(!ibv_wr_complete(q), "a write the other way");
	one(&c, 7, IBV_WC_RDMA_WRITE, 0, "a write the other way");
	tap_is(buffers_written(), 14, "all buffers are in use");
	pool_refusals(a.cq);
	ok(ibv_dealloc_pd(pool.domain) == EBUSY, "a parent domain with queues stays");
	unmake(&a);
	unmake(&b);
	unmake(&c);
	need(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	ok(!buffers_in_use() && pool.frees == pool.allocs, "each buffer is freed once");
	tap_is(pool.wrong, 0, "calls with other arguments than expected");
	ok(!ibv_dealloc_pd(pool.domain), "then the parent domain ends");
	attr.comp_mask = 1u << 30;
	ok(!ibv_alloc_parent_domain(ctx, &attr) && errno == EINVAL, "an unknown bit: EINVAL");
}

/* A shared receive queue with a limit, the failure of a queue pair, and their events */
static void events(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	struct end a = make(IBV_QPT_RC, NULL, srq), b = make(IBV_QPT_RC, NULL, srq);
	struct ibv_sge sge = sge_at(32768, 256);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_srq_attr limit = { .srq_limit = 2 };
	struct ibv_async_event event;
	struct ibv_qp_ex *q;
	struct seen s = { .status = -1 };
	int i;

	need(srq != NULL, "ibv_create_srq");
	rc_up(a.qp, b.qp->qp_num);
	rc_up(b.qp, a.qp->qp_num);
	for (i = 0; i < 3; i++) {
		wr.wr_id = 60 + i;
		need(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
	}
	ok(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "a limit");
	for (i = 0; i < 2; i++) {
		q = start(&a, 70 + i);
		ibv_wr_send(q);
		ibv_wr_set_sge(q, mr->lkey, at(0), 32);
		ok(!ibv_wr_complete(q), "a send to the shared receive queue");
		one(&a, 70 + i, IBV_WC_SEND, 0, "a send");
		one(&b, 60 + i, IBV_WC_RECV, 32, "its receive");
	}
	ok(!ibv_get_async_event(ctx, &event) && event.element.srq == srq &&
	   event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED, "the event of the limit");
	ibv_ack_async_event(&event);

	q = start(&a, 80);
	ibv_wr_rdma_write(q, mr->rkey ^ 0x5500, at(0));
	ibv_wr_set_sge(q, mr->lkey, at(0), 8);
	ok(!ibv_wr_complete(q), "a write with a wrong key");
	ok(take(&a, 1, &s) == 1 && s.id == 80 && s.status == IBV_WC_REM_ACCESS_ERR,
	   "it fails with a remote access error");
	if (!ok(!ibv_get_async_event(ctx, &event) && event.element.qp == b.qp &&
		event.event_type == IBV_EVENT_QP_ACCESS_ERR, "the peer's queue pair has an event"))
		diag("event: %s", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	unmake(&a);
	unmake(&b);
	ok(!ibv_destroy_srq(srq), "the shared receive queue ends");
}

/*
 * The adapter grants version 1 of ECE without any option, and nothing if no version is requested.
 * The answer 0 shows that the options have reached it: the answer at creation is version 1.
 */
static void connection_options(uint32_t wanted, uint32_t granted)
{
	const uint32_t version = 1u << 28;
	struct ibv_ece ece = { 1, 2, 3 }, set;
	struct end e = make(IBV_QPT_RC, NULL, NULL);

	ok(!ibv_query_ece(e.qp, &ece) && ece.vendor_id == 0x15b3 && ece.options == version &&
	   !ece.comp_mask, "connection options of a new queue pair: version 1, none");
	set = ece;
	set.options = wanted;
	tap_is(ibv_set_ece(e.qp, &set), 0, "options are set");
	ok(!ibv_query_ece(e.qp, &ece) && !ece.options, "until they are negotiated, there are none");
	rc_up(e.qp, e.qp->qp_num);
	ok(!ibv_query_ece(e.qp, &ece) && ece.options == granted,
	   "the adapter grants 0x%x for 0x%x", granted, wanted);
	set.comp_mask = 1;
	ok(ibv_set_ece(e.qp, &set) == EINVAL && errno == EINVAL, "unknown members: EINVAL");
	set = (struct ibv_ece) { .vendor_id = 0x1234 };
	tap_is(ibv_set_ece(e.qp, &set), EINVAL, "another vendor: EINVAL");
	set = (struct ibv_ece) {};
	tap_is(ibv_set_ece(e.qp, &set), EOPNOTSUPP, "no vendor: EOPNOTSUPP");
	ok(!ibv_query_ece(e.qp, &ece) && ece.options == granted, "nothing has changed");
	unmake(&e);
}

static void lacking(void)
{
	struct ibv_qp_init_attr raw = { .qp_type = IBV_QPT_DRIVER, .cap = { .max_send_wr = 1 } };
	struct ibv_qp_init_attr_ex tso = { .qp_type = IBV_QPT_RC, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = 1ull << 40 };
	struct ibv_cq_init_attr_ex cq = { .cqe = 1, .wc_flags = 1ull << 40 };

	ok(!ibv_create_qp(pd, &raw), "a queue pair of an unknown type is refused");
	ok(!ibv_create_qp_ex(ctx, &tso) && errno == EOPNOTSUPP, "unknown operations: EOPNOTSUPP");
	ok(!ibv_create_cq_ex(ctx, &cq), "unknown fields of completions are refused");
}

/* Some programs of libibverbs ask libmlx5 about each ConnectX. */
static void driver(void)
{
	struct mlx5dv_context dv = { .comp_mask = MLX5DV_CONTEXT_MASK_SWP, .version = 0xff };

	ok(!mlx5dv_query_device(ctx, &dv), "mlx5dv_query_device()");
	ok(!dv.version && dv.flags & MLX5DV_CONTEXT_FLAGS_CQE_V1, "version and format of CQEs");
	ok(!(dv.comp_mask & ~(uint64_t)MLX5DV_CONTEXT_MASK_SWP), "nothing that was not asked for");
}

/* After fork(), the parent writes to registered memory: the adapter must read the new data. */
static void forked(struct end *a)
{
	struct ibv_qp_ex *q;
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	ok(pid > 0, "fork");
	fill(0, 4096, 31);
	memset(mem + 8192, 0, 4096);
	q = start(a, 90);
	ibv_wr_rdma_write(q, mr->rkey, at(8192));
	ibv_wr_set_sge(q, mr->lkey, at(0), 4096);
	ok(!ibv_wr_complete(q), "a write after fork");
	one(a, 90, IBV_WC_RDMA_WRITE, 0, "a write after fork");
	ok(mem[0] == 31 && same(0, 8192, 4096), "a write after fork: data");
	ok(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid, "the child ends");
}

int main(int argc, char **argv)
{
	struct end a, b;

	ok(!ibv_fork_init(), "ibv_fork_init");
	ends_open(argc, argv);
	make_pair(&a, &b);
	extended_rdma(&a, &b);
	extended_sends(&a, &b);
	datagrams();
	windows(&a);
	regions(&a);
	queries(&a);
	device_clock(&a);
	domains();
	allocators();
	events();
	connection_options(1u << 28 | 5, 1u << 28);
	connection_options(5, 0);
	lacking();
	driver();
	forked(&a);
	unmake(&a);
	unmake(&b);
	ends_close();
	return tap_done();
}
