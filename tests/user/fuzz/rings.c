// SPDX-License-Identifier: GPL-2.0
/*
 * Rings, doorbell records and doorbell pages: mapped, written and polled, without the library.
 *
 * Each ring has a fixed place in the address space of the process ("window"), so that nothing
 * else is ever there.  Other threads unmap and move windows at any time.
 */
#include <endian.h>
#include <stdio.h>
#include <sys/mman.h>
#include "fuzz.h"

enum window { RING, RECORD, WINDOWS };
enum { MAPPED_KINDS = 5, PLACES = PROCS * FILES * MAPPED_KINDS * SLOTS * WINDOWS };

/* What a window shows */
static struct {
	uint32_t serial;
	uint64_t offset;
	uint64_t length;
} shown[PLACES];

static int place_of(const struct target *to, const struct object *o, enum window w)
{
	static const enum kind kinds[MAPPED_KINDS] = { UAR, CQ, SRQ, QP, UD_QP };
	unsigned int i, at;

	for (i = 0; i < MAPPED_KINDS; i++) {
		at = o - to->file->slot[kinds[i]];
		if (o >= to->file->slot[kinds[i]] && at < SLOTS)
			return (((to->proc * FILES + to->index) * MAPPED_KINDS + i) * SLOTS + at) *
			       WINDOWS + w;
	}
	return -1;
}

static uint8_t *window_at(int place)
{
	return process.windows + (size_t)place * MAX_MAP;
}

/* The address of a ring or record in this process, or NULL */
static uint8_t *show(const struct target *to, const struct object *o, enum window w)
{
	struct xverbs_map map = w == RING ? o->ring : o->dbr;
	int place = place_of(to, o, w);
	uint8_t *at;

	if (place < 0 || !map.length || map.length > MAX_MAP)
		return NULL;
	at = window_at(place);
	if (shown[place].serial == to->file->serial && shown[place].offset == map.offset &&
	    shown[place].length == map.length)
		return at;
	shown[place].length = 0;
	if (mmap(at, map.length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, to->fd,
		 map.offset) == MAP_FAILED)
		return NULL;
	shown[place].serial = to->file->serial;
	shown[place].offset = map.offset;
	shown[place].length = map.length;
	return at;
}

/* A queue and its memory, in the address space of this process */
struct queue {
	struct thread *t;
	struct target to;
	struct object *o;
	uint8_t *ring, *uar;
	volatile uint32_t *dbr;
};

static bool queue_show(struct thread *t, uint32_t kinds, struct queue *q)
{
	const struct object *uar;
	uint8_t *record;

	q->t = t;
	q->to = draw_target(t);
	q->o = draw_object(t, q->to.file, kinds);
	if (!q->o)
		return false;
	q->ring = show(&q->to, q->o, RING);
	record = show(&q->to, q->o, RECORD);
	uar = find_handle(q->to.file, K(UAR), q->o->uar);
	q->uar = uar ? show(&q->to, uar, RING) : NULL;
	q->dbr = (volatile uint32_t *)(record + q->o->dbr_offset % PAGE);
	return q->ring && record;
}

static void ring_doorbell(struct queue *q, uint32_t reg, uint64_t value)
{
	if (q->uar)
		*(volatile uint64_t *)(q->uar + reg) = value;
}

/* ---- Requests ------------------------------------------------------------------------ */

struct wqe {
	struct mlx5r_ctrl ctrl;
	uint8_t seg[(MLX5R_MAX_DS - 1) * MLX5R_DS];
	uint32_t bytes;			/* of seg */
};

static void *add_segment(struct wqe *w, uint32_t bytes)
{
	void *at = w->seg + w->bytes;

	w->bytes += (bytes + MLX5R_DS - 1) / MLX5R_DS * MLX5R_DS;
	return at;
}

/* A key that exists, or one that does not */
static const struct object *draw_region(struct queue *q, struct object *other)
{
	static const uint32_t kinds = ANY_MR | K(MW) | K(MKEY);
	struct file *file = q->to.file;
	const struct object *o;

	if (chance(q->t, 10))
		file = &world->file[below(q->t, PROCS)][below(q->t, FILES)];
	o = draw_object(q->t, file, chance(q->t, 80) ? K(MR) : kinds);
	if (o && !chance(q->t, 10))
		return o;
	*other = (struct object) { .number = draw(q->t), .rkey = draw(q->t),
		.addr = (uintptr_t)process.arena, .length = ARENA };
	return other;
}

static void add_data(struct queue *q, struct wqe *w)
{
	struct object other;
	const struct object *mr = draw_region(q, &other);
	struct mlx5r_data *d = add_segment(w, sizeof(*d));
	uint32_t length = draw_size(q->t, 1, 16384);

	if (length > mr->length && !chance(q->t, 5))
		length = mr->length;
	d->byte_count = htobe32(length);
	d->lkey = htobe32(mr->number);
	d->addr = htobe64(mr->addr);
}

static void add_remote(struct queue *q, struct wqe *w)
{
	struct object other;
	const struct object *mr = draw_region(q, &other);
	struct mlx5r_raddr *r = add_segment(w, sizeof(*r));

	r->addr = htobe64(mr->addr);
	r->rkey = htobe32(mr->rkey);
}

static void add_inline(struct queue *q, struct wqe *w)
{
	uint32_t length = below(q->t, 40);
	struct mlx5r_inline *i = add_segment(w, sizeof(*i) + length);

	i->byte_count = htobe32(MLX5R_INLINE | length);
}

/* Datagrams and requests of a DCI: an address; requests of XRC: the number of an SRQ */
static void add_peer(struct queue *q, struct wqe *w)
{
	const struct object *o;
	struct mlx5r_av *av;
	struct mlx5r_xrc *xrc;

	switch (q->o->type) {
	case XVERBS_QPT_UD:
	case XVERBS_QPT_DCI:
		o = draw_object(q->t, q->to.file,
				q->o->type == XVERBS_QPT_DCI ? K(DCT) : K(UD_QP));
		av = add_segment(w, sizeof(*av));
		memcpy(av, q->to.file->av, sizeof(*av));
		av->dqp_dct = htobe32(MLX5R_AV_EXT | (o ? o->number : 1));
		if (q->o->type == XVERBS_QPT_DCI)
			av->dc_key = htobe64(1);
		break;
	case XVERBS_QPT_XRC_SEND:
		o = draw_object(q->t, q->to.file, K(XRC_SRQ));
		xrc = add_segment(w, sizeof(*xrc));
		xrc->srqn = htobe32(o ? o->number : 1);
		break;
	}
}

static void add_data_or_inline(struct queue *q, struct wqe *w)
{
	uint32_t n = below(q->t, 3);

	if (chance(q->t, 20))
		add_inline(q, w);
	else
		while (n--)
			add_data(q, w);
}

/* An indirect key or a window over a region */
static void add_umr(struct queue *q, struct wqe *w)
{
	const struct object *o = draw_object(q->t, q->to.file, K(MKEY) | K(MW));
	struct mlx5r_umr_ctrl *umr = add_segment(w, sizeof(*umr));
	struct mlx5r_mkey *mkey = add_segment(w, sizeof(*mkey));
	struct object other;
	const struct object *mr = draw_region(q, &other);
	struct mlx5r_klm *klm = add_segment(w, MLX5R_WQEBB);

	w->ctrl.imm = htobe32(o ? o->number : 0);
	umr->flags = MLX5R_UMR_INLINE | (chance(q->t, 50) ? MLX5R_UMR_CHECK_FREE : 0);
	umr->xlt_octowords = htobe16(4);
	umr->mkey_mask = htobe64(MLX5R_MKEY_MASK_LEN | MLX5R_MKEY_MASK_START_ADDR |
				 MLX5R_MKEY_MASK_FREE | MLX5R_MKEY_MASK_LR | MLX5R_MKEY_MASK_LW |
				 MLX5R_MKEY_MASK_RR | MLX5R_MKEY_MASK_RW);
	mkey->flags = MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RR |
		      MLX5R_MKEY_ACCESS_RW;
	mkey->start_addr = htobe64(mr->addr);
	mkey->len = htobe64(mr->length);
	klm->byte_count = htobe32(mr->length);
	klm->mkey = htobe32(mr->number);
	klm->addr = htobe64(mr->addr);
}

/* Waits for a CQ or enables requests of another queue. */
static void add_wait(struct queue *q, struct wqe *w, bool cq)
{
	const struct object *o = draw_object(q->t, q->to.file, cq ? K(CQ) : K(QP));
	struct mlx5r_wait *wait = add_segment(w, sizeof(*wait));

	wait->index = htobe32(below(q->t, 8));
	wait->number = htobe32(o ? o->number : 1);
}

static void fill_segments(struct queue *q, struct wqe *w, uint8_t opcode)
{
	struct mlx5r_atomic *atomic;

	switch (opcode) {
	case MLX5R_OP_NOP:
	case MLX5R_OP_LOCAL_INVAL:
		break;
	case MLX5R_OP_UMR:
		add_umr(q, w);
		break;
	case MLX5R_OP_WAIT:
	case MLX5R_OP_SEND_ENABLE:
	case MLX5R_OP_RECV_ENABLE:
		add_wait(q, w, opcode == MLX5R_OP_WAIT);
		break;
	case MLX5R_OP_SEND:
	case MLX5R_OP_SEND_IMM:
	case MLX5R_OP_SEND_INVAL:
		add_peer(q, w);
		add_data_or_inline(q, w);
		break;
	case MLX5R_OP_ATOMIC_CS:
	case MLX5R_OP_ATOMIC_FA:
		add_peer(q, w);
		add_remote(q, w);
		atomic = add_segment(w, sizeof(*atomic));
		atomic->swap_add = draw(q->t);
		add_data(q, w);
		break;
	default:
		add_peer(q, w);
		add_remote(q, w);
		add_data_or_inline(q, w);
	}
}

/* Some bits are wrong, or all of them. */
static void spoil_wqe(struct queue *q, struct wqe *w)
{
	uint32_t bytes = sizeof(w->ctrl) + w->bytes, n;
	uint64_t word;


	if (chance(q->t, 30)) {
		for (n = 0; n + 8 <= sizeof(w->seg); n += 8) {
			word = draw(q->t);
			memcpy(w->seg + n, &word, sizeof(word));
		}
		w->ctrl.qpn_ds ^= htobe32(below(q->t, 64));
	} else {
		((uint8_t *)w)[below(q->t, bytes)] ^= 1u << below(q->t, 8);
	}
}

static void build(struct queue *q, struct wqe *w)
{
	static const uint8_t opcodes[] = {
		MLX5R_OP_RDMA_WRITE, MLX5R_OP_RDMA_WRITE, MLX5R_OP_RDMA_WRITE_IMM,
		MLX5R_OP_RDMA_READ, MLX5R_OP_RDMA_READ, MLX5R_OP_SEND, MLX5R_OP_SEND,
		MLX5R_OP_SEND_IMM, MLX5R_OP_SEND_INVAL, MLX5R_OP_ATOMIC_CS, MLX5R_OP_ATOMIC_FA,
		MLX5R_OP_NOP, MLX5R_OP_UMR, MLX5R_OP_UMR, MLX5R_OP_LOCAL_INVAL, MLX5R_OP_WAIT,
		MLX5R_OP_SEND_ENABLE, MLX5R_OP_RECV_ENABLE,
	};
	uint8_t opcode = opcodes[below(q->t, ARRAY_SIZE(opcodes))];
	struct object other;

	if (q->o->type == XVERBS_QPT_UD && chance(q->t, 90))
		opcode = MLX5R_OP_SEND;
	memset(w, 0, sizeof(*w));
	if (opcode == MLX5R_OP_LOCAL_INVAL || opcode == MLX5R_OP_SEND_INVAL)
		w->ctrl.imm = htobe32(draw_region(q, &other)->rkey);
	fill_segments(q, w, opcode);
	w->ctrl.opmod_idx_opcode = htobe32((q->o->pi & 0xffff) << 8 | opcode);
	w->ctrl.qpn_ds = htobe32(q->o->number << 8 | (sizeof(w->ctrl) + w->bytes) / MLX5R_DS);
	w->ctrl.fm_ce_se = chance(q->t, 80) ? MLX5R_CE_ALWAYS : 0;
	if (chance(q->t, 10))
		spoil_wqe(q, w);
}

static void write_ring(struct queue *q, const struct wqe *w)
{
	uint32_t bytes = sizeof(w->ctrl) + w->bytes, at;
	uint8_t *sq = q->ring + q->o->sq_offset % MAX_MAP;

	for (at = 0; at < bytes; at += MLX5R_WQEBB) {
		memcpy(sq + q->o->pi % q->o->entries * MLX5R_WQEBB, (const uint8_t *)w + at,
		       MLX5R_WQEBB);
		q->o->pi++;
	}
}

static bool post(struct thread *t, void *arg)
{
	uint32_t n = 1 + below(t, 4);
	struct queue *q = arg;
	struct wqe w = {};
	uint64_t first;

	/* Another thread may have replaced the queue. */
	while (n-- && q->o->entries) {
		build(q, &w);
		write_ring(q, &w);
	}
	atomic_thread_fence(memory_order_release);
	q->dbr[MLX5R_DBR_SND] = htobe32(chance(t, 98) ? q->o->pi & 0xffff : draw(t));
	atomic_thread_fence(memory_order_seq_cst);
	memcpy(&first, &w.ctrl, sizeof(first));
	ring_doorbell(q, MLX5R_UAR_BF + below(t, 2) * 0x100, first);
	return true;
}

bool action_post(struct thread *t)
{
	struct queue q;

	return queue_show(t, K(QP) | K(UD_QP), &q) && q.o->entries && guarded(t, post, &q);
}

static bool receive(struct thread *t, void *arg)
{
	uint32_t n = 1 + below(t, 8), mask;
	struct queue *q = arg;
	uint8_t *entry;
	struct wqe w;

	while (n-- && q->o->rq_entries) {
		mask = q->o->rq_entries - 1;
		entry = q->ring + (q->o->rq_pi++ & mask) * q->o->rq_stride;
		memset(&w, 0, sizeof(w));
		add_data(q, &w);
		if (q->o->linked)
			entry += sizeof(struct mlx5r_srq_next);
		memcpy(entry, w.seg, sizeof(struct mlx5r_data));
	}
	atomic_thread_fence(memory_order_release);
	q->dbr[MLX5R_DBR_RCV] = htobe32(chance(t, 98) ? q->o->rq_pi & 0xffff : draw(t));
	return true;
}

bool action_receive(struct thread *t)
{
	struct queue q;

	return queue_show(t, K(QP) | K(UD_QP) | K(SRQ), &q) && q.o->rq_entries &&
	       guarded(t, receive, &q);
}

/* ---- Completions --------------------------------------------------------------------- */

/* Returns true if the adapter has written the next CQE. */
static bool is_new(const struct queue *q)
{
	uint32_t entries = q->o->entries;
	const uint8_t *cqe;
	uint8_t op_own;

	if (!entries)
		return false;
	cqe = q->ring + (q->o->pi & (entries - 1)) * q->o->stride;
	op_own = cqe[q->o->stride - 1];
	return op_own >> 4 != MLX5R_CQE_INVALID && (op_own & MLX5R_CQE_OWNER) ==
	       !!(q->o->pi & entries);
}

static bool poll_cq(struct thread *t, void *arg)
{
	struct queue *q = arg;
	uint32_t n = 0, word;

	while (n < 64 && is_new(q)) {
		q->o->pi++;
		n++;
	}
	q->dbr[MLX5R_DBR_CQ_CI] = htobe32(q->o->pi & MLX5R_CQ_INDEX_MASK);
	if (chance(t, 50)) {
		word = below(t, 4) << MLX5R_CQ_ARM_SN_SHIFT | (q->o->pi & MLX5R_CQ_INDEX_MASK);
		q->dbr[MLX5R_DBR_CQ_ARM] = htobe32(word);
		atomic_thread_fence(memory_order_seq_cst);
		ring_doorbell(q, MLX5R_UAR_CQ,
			      htobe64((uint64_t)word << 32 | q->o->number));
	}
	return n;
}

bool action_poll(struct thread *t)
{
	struct queue q;

	return queue_show(t, K(CQ), &q) && guarded(t, poll_cq, &q);
}

/* ---- Windows ------------------------------------------------------------------------- */

/* Other addresses in the same window, or no mapping at all.  The window itself stays ours. */
bool action_unmap(struct thread *t)
{
	int place = below(t, PLACES), n;
	uint8_t *at;
	size_t length;

	for (n = 0; n < PLACES && !shown[place].length; n++)
		place = (place + 1) % PLACES;
	length = shown[place].length;
	if (!length)
		return false;
	at = window_at(place);
	shown[place].length = 0;
	if (chance(t, 30) && length > PAGE) {		/* a part of it */
		at += PAGE * below(t, length / PAGE);
		length = PAGE;
	}
	switch (below(t, 3)) {
	case 0:
		return !mprotect(at, length, PROT_READ);
	case 1:
		return mremap(at, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
			      window_at(PLACES)) != MAP_FAILED &&
		       mmap(at, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			    0) != MAP_FAILED;
	default:
		return mmap(at, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			    0) != MAP_FAILED;
	}
}

/* Any offset, length, protection and flags */
bool action_map(struct thread *t)
{
	struct target to = draw_target(t);
	const struct object *o = draw_object(t, to.file, K(UAR) | K(CQ) | K(QP) | ANY_SRQ);
	struct xverbs_map map = o ? o->ring : (struct xverbs_map) { 0, PAGE };
	int prot = chance(t, 80) ? PROT_READ | PROT_WRITE : (int)below(t, 8);
	int flags = chance(t, 90) ? MAP_SHARED : MAP_PRIVATE;
	void *at;

	if (o && chance(t, 30))
		map = o->dbr;
	if (chance(t, 10))
		map.offset = (draw(t) >> below(t, 40)) & ~(uint64_t)(PAGE - 1);
	if (chance(t, 10))
		map.length = PAGE * draw_size(t, 1, 64);
	if (!map.length || map.length > MAX_MAP)
		return false;
	fail_sometimes(t);
	at = mmap(window_at(PLACES), map.length, prot, flags | MAP_FIXED, to.fd, map.offset);
	fail_nth(t, 0);
	return at != MAP_FAILED;
}

/* Changes a byte of the arguments of another thread, which may be in a call. */
bool action_scribble(struct thread *t)
{
	struct scratch *s = process.thread[below(t, THREADS)].scratch;

	s->arg[below(t, 400)] ^= 1u << below(t, 8);
	return true;
}
