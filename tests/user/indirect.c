// SPDX-License-Identifier: GPL-2.0
/*
 * Indirect keys between two functions: a column block of a matrix, random layouts that every
 * operation uses, on RC and on DC, atomics and calculations through keys, and every error with
 * its status.
 */
#include "rig.h"
#include "umr_model.h"

#define ROWS		1000u
#define ROW		4096u
#define COLUMN		1000u		/* offset of the block in a row */
#define WIDTH		96u
#define REGION		(32u << 10)	/* for random layouts */
#define PLAIN		(1u << 20)	/* offset of memory for contiguous data */
#define LIST		(2u << 20)	/* offset of memory for lists */
#define DEPTH		4u

static struct rig_opts opts = { .size = 8 << 20, .depth = 64, .rc = { .timeout = 14,
				      .retry_cnt = 7, .rnr_retry = 7 } };
static struct rig r;
static struct xv_device_attr device;

static struct xv_mkey *make(int side, uint32_t entries, uint32_t flags)
{
	struct xv_mkey_init_attr attr = { .max_entries = entries, .create_flags = flags };
	struct xv_mkey *mkey = xv_create_mkey(r.side[side].pd, &attr);

	if (!mkey)
		bail_out("%s", xv_last_error());
	return mkey;
}

static void use_list(int side, struct xv_umr *umr)
{
	umr->list = r.buf[side] + LIST;
	umr->list_addr = rig_addr(&r, side, LIST);
	umr->list_lkey = r.mr[side]->lkey;
}

static bool complete(int side, enum xv_wc_status status)
{
	xv_commit_send(r.qp[side]);
	return rig_expect(r.cq[side], 1, status);
}

static bool fill(int side, const struct xv_umr *umr, enum xv_wc_status status)
{
	return !xv_wr_umr_fill(r.qp[side], 1, XV_SEND_SIGNALED, umr) && complete(side, status);
}

/* ---- Creation ---------------------------------------------------------- */

static void refused(uint32_t entries, uint32_t flags, int err, const char *text)
{
	struct xv_mkey_init_attr attr = { .max_entries = entries, .create_flags = flags };

	errno = 0;
	ok(!xv_create_mkey(r.side[0].pd, &attr) && errno == err && strstr(xv_last_error(), text),
	   "%s", xv_last_error());
}

static void test_create(void)
{
	const struct xv_umr_caps *caps = &device.umr_caps;
	struct xv_mkey *m = make(0, 5, 0), *big = make(0, caps->max_mkey_klm_list_size, 0);
	struct xv_mkey_attr attr = { .filled = 7 };

	ok(device.exp_device_cap_flags & XV_EXP_DEVICE_UMR && caps->max_umr_recursion_depth &&
	   caps->max_umr_stride_dimension == 1 && caps->max_send_wqe_inline_klms >= 20,
	   "keys of up to %u entries, %u in a request, %u in a chain",
	   caps->max_mkey_klm_list_size, caps->max_send_wqe_inline_klms,
	   caps->max_umr_recursion_depth);
	ok(m->max_entries == 8 && m->lkey == m->rkey, "5 entries are rounded up to 8");
	ok(!xv_query_mkey(m, &attr) && attr.max_entries == 8 && !attr.filled, "query");
	ok(big->max_entries == caps->max_mkey_klm_list_size, "the largest key");
	refused(0, 0, EINVAL, "0 entries");
	refused(caps->max_mkey_klm_list_size + 1, 0, EINVAL, "entries");
	refused(1, 2, EOPNOTSUPP, "unknown bit");
	ok(xv_dealloc_pd(r.side[0].pd) == -EBUSY, "the PD is in use");
	ok(!xv_destroy_mkey(m) && !xv_destroy_mkey(big), "destroy");
}

/* ---- A column block of a matrix ---------------------------------------- */

static uint32_t checksum(uint32_t sum, const uint8_t *p, size_t n)
{
	for (; n; n--)
		sum = sum * 31 + *p++;
	return sum;
}

/* One write gathers the block from all rows; the peer scatters it into another matrix. */
static void test_matrix(void)
{
	struct xv_mkey *from = make(0, 2, 0), *to = make(1, 2, 0);
	struct xv_repeat_block column = {
		.addr = rig_addr(&r, 0, COLUMN), .lkey = r.mr[0]->lkey, .byte_count = WIDTH,
		.stride = ROW,
	};
	struct xv_umr umr = { .mkey = from, .access = XV_ACCESS_LOCAL_WRITE, .num = 1,
			      .blocks = &column, .repeat_count = ROWS };
	struct xv_sge sge = { 0, ROWS * WIDTH, from->lkey };
	uint32_t i, want = 0, got = 0, rest = 0;

	rig_fill(r.buf[0], ROWS * ROW, 5);
	memset(r.buf[1], 0x5a, ROWS * ROW);
	ok(fill(0, &umr, XV_WC_SUCCESS), "a key for the column block");
	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0), r.mr[1]->rkey);
	ok(complete(0, XV_WC_SUCCESS), "one write gathers it");
	for (i = 0; i < ROWS; i++)
		want = checksum(want, r.buf[0] + i * ROW + COLUMN, WIDTH);
	tap_is(checksum(0, r.buf[1], ROWS * WIDTH), want, "the checksum is right");

	memset(r.buf[1], 0x5a, ROWS * ROW);
	column = (struct xv_repeat_block) {
		.addr = rig_addr(&r, 1, 8), .lkey = r.mr[1]->lkey, .byte_count = WIDTH,
		.stride = 2 * WIDTH,
	};
	umr.mkey = to;
	umr.access = UM_ACCESS;
	ok(fill(1, &umr, XV_WC_SUCCESS), "a key for every other block of the peer");
	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &sge, 0, to->rkey);
	ok(complete(0, XV_WC_SUCCESS), "one write gathers and scatters");
	for (i = 0; i < ROWS; i++)
		got = checksum(got, r.buf[1] + 8 + i * 2 * WIDTH, WIDTH);
	for (i = 0; i < ROWS * 2 * WIDTH; i++)
		rest += r.buf[1][i] != 0x5a && (i + 2 * WIDTH - 8) % (2 * WIDTH) >= WIDTH;
	tap_is(got, want, "the checksum is right");
	tap_is(rest, 0, "the bytes between are unchanged");
	ok(!xv_destroy_mkey(from) && !xv_destroy_mkey(to), "destroy");
}

/* ---- Random layouts ---------------------------------------------------- */

/* Who sends: the RC queue pair, or a DC initiator to a target */
static struct {
	struct xv_qp *qp;
	struct xv_srq *srq;		/* of the target, or null */
	struct xv_dct *dct;
	struct xv_dc dc;
} via;

static const struct use {
	enum xv_wr_opcode opcode;
	bool far;			/* the remote key is indirect, not the local one */
} uses[] = {
	{ XV_WR_RDMA_WRITE, false }, { XV_WR_RDMA_WRITE, true },
	{ XV_WR_RDMA_WRITE_WITH_IMM, false }, { XV_WR_RDMA_WRITE_WITH_IMM, true },
	{ XV_WR_RDMA_READ, false }, { XV_WR_RDMA_READ, true },
	{ XV_WR_SEND, false }, { XV_WR_SEND, true },
};

static void post_recv(struct xv_sge *sge)
{
	struct xv_recv_wr wr = { .wr_id = 2, .sg_list = sge, .num_sge = 1 }, *bad;

	if (via.srq ? xv_post_srq_recv(via.srq, &wr, &bad) : xv_post_recv(r.qp[1], &wr, &bad))
		bail_out("the receive queue is full");
}

/* Posts a request with an immediate, if it has one, and waits for it. */
static bool request(struct xv_send_wr *wr)
{
	struct xv_send_wr *bad;

	wr->wr_id = 1;
	wr->send_flags |= XV_SEND_SIGNALED;
	wr->dc = via.dc;
	return !xv_post_send(via.qp, wr, &bad) && rig_expect(r.cq[0], 1, XV_WC_SUCCESS);
}

static bool received(uint32_t bytes, enum xv_wr_opcode opcode)
{
	struct xv_wc wc;

	if (rig_poll(r.cq[1], 1, &wc) != 1 || wc.status || wc.byte_len != bytes)
		return false;
	return opcode == XV_WR_SEND ? wc.opcode == XV_WC_RECV :
	       wc.opcode == XV_WC_RECV_RDMA_WITH_IMM && wc.imm_data == xv_be32(bytes);
}

static bool use(const struct use *u, const struct um_layout *local,
		const struct um_layout *remote, uint32_t off, uint32_t n)
{
	const struct um_layout *l = u->far ? remote : local;
	struct xv_sge key = { UM_BASE + off, n, l->key->lkey };
	struct xv_sge plain = rig_sge(&r, !u->far, PLAIN, n);
	struct xv_sge here = rig_sge(&r, 0, PLAIN, n), *near = u->far ? &here : &key;
	struct xv_sge *there = u->far ? &key : &plain;
	struct xv_send_wr wr = {
		.opcode = u->opcode, .sg_list = near, .num_sge = 1, .imm_data = xv_be32(n),
		.wr.rdma = { there->addr, there->lkey },
	};
	bool receives = u->opcode == XV_WR_SEND || u->opcode == XV_WR_RDMA_WRITE_WITH_IMM;

	if (receives)
		post_recv(there);
	return request(&wr) && (!receives || received(n, u->opcode)) &&
	       um_same(l, off, r.buf[!u->far] + PLAIN, n);
}

static bool random_fill(int side, const struct um_layout *of, struct um_layout *l)
{
	struct um_region region = {
		rig_addr(&r, side, 0), r.buf[side], r.mr[side]->lkey, REGION,
	};
	struct um_fill f;

	um_random(&region, of, l, &f);
	if (um_below(2))
		use_list(side, &f.umr);
	return fill(side, &f.umr, XV_WC_SUCCESS);
}

static void test_random(uint32_t depth, const char *type)
{
	static struct um_layout l[2][DEPTH];
	uint32_t round, i, good = 0, want = 0;
	int side;

	for (side = 0; side < 2; side++)
		for (i = 0; i < depth; i++)
			l[side][i].key = make(side, UM_PARTS + 1, 0);
	for (round = 0; round < 15; round++) {
		const struct um_layout *at[2] = { &l[0][depth - 1], &l[1][depth - 1] };
		const struct use *u;

		for (i = 0; i < depth; i++)
			for (side = 0; side < 2; side++, want++)
				good += random_fill(side, i ? &l[side][i - 1] : NULL, &l[side][i]);
		for (u = uses; u < uses + ARRAY_SIZE(uses); u++, want++) {
			uint32_t room = um_min(at[0]->bytes, at[1]->bytes), off = um_below(room);

			for (side = 0; side < 2; side++) {
				rig_fill(r.buf[side], REGION, (uint32_t)rand());
				rig_fill(r.buf[side] + PLAIN, UM_BYTES, (uint32_t)rand());
			}
			good += use(u, at[0], at[1], off, 1 + um_below(room - off));
		}
	}
	tap_is(good, want, "%s, %u keys in a chain, random layouts: each byte is right", type,
	       depth);
	for (side = 0; side < 2; side++)
		for (i = 0; i < depth; i++)
			xv_destroy_mkey(l[side][i].key);
}

/* ---- Atomics ----------------------------------------------------------- */

enum { WORDS = 4, CELL = 64, FIRST = 3, REST = 100 };

static const struct atomic {
	const char *what;
	enum xv_wr_opcode opcode;
	uint32_t log;			/* of the bytes of the operand */
	uint64_t before, after;		/* each word of it */
} atomics[] = {
	{ "fetch and add", XV_WR_ATOMIC_FETCH_AND_ADD, 3, 40, 42 },
	{ "compare and swap", XV_WR_ATOMIC_CMP_AND_SWP, 3, 42, 7 },
	{ "compare and swap, not equal", XV_WR_ATOMIC_CMP_AND_SWP, 3, 41, 41 },
	{ "masked addition", XV_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, 3, 0x1ffffffff, 0x200000000 },
	{ "masked addition, 32 bytes", XV_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, 5, 0x1ffffffff,
	  0x200000000 },
	{ "masked swap", XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP, 3, 0xaa22, 0xaa77 },
	{ "masked swap, 32 bytes", XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP, 5, 0xaa22, 0xaa77 },
};

/* The arguments: a value, or the address of an array if the operand is long */
static void fill_arguments(struct xv_send_wr *wr, const struct atomic *a, uint32_t rkey)
{
	/* Two fields of 32 bits each; the low byte is 0x22 and becomes 0x77. */
	static const uint64_t add[WORDS] = { 0x100000001, 0x100000001, 0x100000001, 0x100000001 };
	static const uint64_t boundary[WORDS] = { 1u << 31, 1u << 31, 1u << 31, 1u << 31 };
	static const uint64_t mask[WORDS] = { 0xff, 0xff, 0xff, 0xff };
	static const uint64_t compare[WORDS] = { 0x22, 0x22, 0x22, 0x22 };
	static const uint64_t swap[WORDS] = { 0x77, 0x77, 0x77, 0x77 };
#define FIELD(f) (a->log > 3 ? (uintptr_t)(f) : (f)[0])

	if (a->opcode == XV_WR_ATOMIC_FETCH_AND_ADD || a->opcode == XV_WR_ATOMIC_CMP_AND_SWP) {
		wr->wr.atomic.remote_addr = 8;
		wr->wr.atomic.rkey = rkey;
		wr->wr.atomic.compare_add = a->opcode == XV_WR_ATOMIC_FETCH_AND_ADD ? 2 : 42;
		wr->wr.atomic.swap = 7;
		return;
	}
	wr->send_flags = XV_SEND_EXT_ATOMIC_INLINE;
	wr->wr.masked_atomics.remote_addr = 1u << a->log;
	wr->wr.masked_atomics.rkey = rkey;
	wr->wr.masked_atomics.log_arg_sz = a->log;
	if (a->opcode == XV_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD)
		wr->op.fetch_add = (struct xv_fetch_add) { FIELD(add), FIELD(boundary) };
	else
		wr->op.cmp_swap = (struct xv_cmp_swap) {
			.compare_mask = FIELD(mask), .compare_val = FIELD(compare),
			.swap_val = FIELD(swap), .swap_mask = FIELD(mask),
		};
#undef FIELD
}

/* The result is in two pieces of memory. */
static bool result_is(const struct atomic *a)
{
	uint64_t be = device.ext_atom.atomic_arg_sizes_be;
	uint8_t result[8 * WORDS], *p = r.buf[0] + PLAIN;
	uint32_t i, words = 1u << (a->log - 3), bad = 0;

	memcpy(result, p, FIRST);
	memcpy(result + FIRST, p + REST, 8 * words - FIRST);
	for (i = 0; i < words; i++) {
		if (a->opcode >= XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP)
			bad += xv_atomic_value(result, a->log, be, i) != a->before;
		else
			bad += memcmp(result, &a->before, 8) != 0;
	}
	return !bad && p[FIRST] == 0x5a && p[REST + 8 * words - FIRST] == 0x5a;
}

static bool atomic_works(const struct atomic *a, uint32_t lkey, uint32_t rkey)
{
	uint64_t *word = (uint64_t *)(void *)(r.buf[1] + CELL + (1u << a->log));
	uint32_t words = 1u << (a->log - 3), i, bad = 0;
	struct xv_sge result = { 0, 1u << a->log, lkey };
	struct xv_send_wr wr = { .opcode = a->opcode, .sg_list = &result, .num_sge = 1 };

	memset(r.buf[0] + PLAIN, 0x5a, 256);
	for (i = 0; i < words; i++)
		word[i] = a->before;
	word[-1] = word[words] = 0x5a;
	fill_arguments(&wr, a, rkey);
	if (!request(&wr))
		return false;
	for (i = 0; i < words; i++)
		bad += word[i] != a->after;
	return !bad && word[-1] == 0x5a && word[words] == 0x5a && result_is(a);
}

/* Through two keys, with a result that a third key scatters */
static void test_atomics(const char *type)
{
	struct xv_mkey *m = make(1, 1, 0), *outer = make(1, 1, 0), *to = make(0, 2, 0);
	struct xv_sge region = rig_sge(&r, 1, CELL, 128), nested = { 0, 128, m->lkey };
	struct xv_sge pieces[] = {
		rig_sge(&r, 0, PLAIN, FIRST), rig_sge(&r, 0, PLAIN + REST, 64),
	};
	struct xv_umr umr = { .mkey = m, .access = UM_ACCESS, .num = 1, .regions = &region };
	const struct atomic *a;

	ok(fill(1, &umr, XV_WC_SUCCESS), "%s, atomics: fill", type);
	umr.mkey = outer;
	umr.regions = &nested;
	ok(fill(1, &umr, XV_WC_SUCCESS), "%s, atomics: fill the outer key", type);
	umr = (struct xv_umr) { .mkey = to, .access = XV_ACCESS_LOCAL_WRITE, .num = 2,
				.regions = pieces };
	ok(fill(0, &umr, XV_WC_SUCCESS), "%s, atomics: fill the key of the result", type);
	for (a = atomics; a < atomics + ARRAY_SIZE(atomics); a++) {
		if (a->opcode >= XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP &&
		    1u << a->log > opts.atomic_arg)
			continue;
		ok(atomic_works(a, to->lkey, outer->rkey), "%s: %s through keys", type, a->what);
	}
	xv_destroy_mkey(m);
	xv_destroy_mkey(outer);
	xv_destroy_mkey(to);
}

/* ---- DC ---------------------------------------------------------------- */

static void dc_up(void)
{
	struct xt_peer peer = { .lid = r.side[1].attr.lid, .gid = r.side[1].gid };
	struct xv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_DCI, .send_cq = r.cq[0], .max_atomic_arg = opts.atomic_arg,
		.cap = { .max_send_wr = 8, .max_send_sge = 1 },
	};

	via.srq = xv_create_srq(r.side[1].pd, &srq);
	via.dct = via.srq ? xt_dct_create(&r.side[1], r.cq[1], via.srq, 9, UM_ACCESS &
					  ~(uint32_t)XV_ACCESS_LOCAL_WRITE) : NULL;
	via.dc.ah = xt_ah_create(&r.side[0], &peer);
	via.qp = xv_create_qp(r.side[0].pd, &attr);
	if (!via.dct || !via.dc.ah || !via.qp || xt_dci_start(via.qp, &r.side[0], NULL))
		bail_out("%s", xv_last_error());
	via.dc.dct_access_key = 9;
	via.dc.dct_number = via.dct->dct_num;
}

static void dc_down(void)
{
	xv_destroy_ah(via.dc.ah);
	if (xv_destroy_qp(via.qp) || xv_destroy_dct(via.dct) || xv_destroy_srq(via.srq))
		bail_out("%s", xv_last_error());
	memset(&via, 0, sizeof(via));
}

static void test_dc(void)
{
	if (!(device.exp_device_cap_flags & XV_EXP_DEVICE_DC_TRANSPORT)) {
		tap_skip("keys of DC targets", "the device has no DC");
		return;
	}
	dc_up();
	test_random(um_min(2, device.umr_caps.max_umr_recursion_depth), "DC");
	test_atomics("DC");
	dc_down();
}

/* ---- Calculation ------------------------------------------------------- */

static struct xv_qp *calc_qp(int side)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = r.cq[side], .recv_cq = r.cq[side],
		.flags = XV_QP_CROSS_CHANNEL,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 4,
			 .max_recv_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(r.side[side].pd, &attr);

	if (!qp)
		bail_out("%s", xv_last_error());
	return qp;
}

/* The sum of two operands, whose second word is not used */
static bool sum_is(uint64_t sum)
{
	struct xv_calc_operand got;

	memcpy(&got, r.buf[1] + 64, 5);
	memcpy((uint8_t *)&got + 5, r.buf[1] + 2000, 11);
	memset(r.buf[1] + 64, 0, 5);
	memset(r.buf[1] + 2000, 0, 11);
	return got.value == xv_be64(sum);
}

static void calculate(struct xv_qp *qp, struct xv_qp *peer, uint32_t from, uint32_t to)
{
	const struct xv_calc add = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT,
				     XV_CALC_DATA_SIZE_64_BIT };
	struct xv_calc_operand in[2] = { { xv_be64(40), 0 }, { xv_be64(2), 0 } };
	struct xv_sge sge[2] = { { 0, 16, from }, { 16, 16, from } }, result = { 0, 16, to };
	struct xv_wc wc;

	/* The operands are in two pieces of memory, of 8 and of 24 bytes. */
	memcpy(r.buf[0], in, 8);
	memcpy(r.buf[0] + 1000, (uint8_t *)in + 8, 24);
	memset(r.buf[1], 0, 4096);
	ok(!xv_wr_write_calc(qp, 1, XV_SEND_SIGNALED, &add, sge, 2, 0, to) &&
	   (xv_commit_send(qp), rig_expect(r.cq[0], 1, XV_WC_SUCCESS)) && sum_is(42),
	   "write of a sum, from a key to a key");
	xv_wr_recv(peer, 2, &result);
	xv_commit_recv(peer);
	ok(!xv_wr_send_calc(qp, 1, XV_SEND_SIGNALED, &add, sge, 2) &&
	   (xv_commit_send(qp), rig_expect(r.cq[0], 1, XV_WC_SUCCESS)) &&
	   rig_poll(r.cq[1], 1, &wc) == 1 && !wc.status && wc.byte_len == 16 && sum_is(42),
	   "send of a sum, from a key to a key");
}

static void test_calc(void)
{
	struct xv_mkey *from = make(0, 2, 0), *to = make(1, 2, 0);
	struct xv_sge operands[] = { rig_sge(&r, 0, 0, 8), rig_sge(&r, 0, 1000, 24) };
	struct xv_sge result[] = { rig_sge(&r, 1, 64, 5), rig_sge(&r, 1, 2000, 11) };
	struct xv_umr umr = { .mkey = from, .access = XV_ACCESS_LOCAL_WRITE, .num = 2,
			      .regions = operands };
	struct xv_qp *qp, *peer;

	if (!(device.exp_device_cap_flags & XV_EXP_DEVICE_CROSS_CHANNEL)) {
		tap_skip("calculations", "the device has none");
		return;
	}
	qp = calc_qp(0);
	peer = calc_qp(1);
	if (xt_connect_pair(qp, &r.side[0], peer, &r.side[1], NULL))
		bail_out("%s", xv_last_error());
	ok(fill(0, &umr, XV_WC_SUCCESS), "calculation: fill the key of the operands");
	umr = (struct xv_umr) { .mkey = to, .access = UM_ACCESS, .num = 2, .regions = result };
	ok(fill(1, &umr, XV_WC_SUCCESS), "calculation: fill the key of the result");
	calculate(qp, peer, from->lkey, to->rkey);
	if (xv_destroy_qp(qp) || xv_destroy_qp(peer))
		bail_out("%s", xv_last_error());
	xv_destroy_mkey(from);
	xv_destroy_mkey(to);
}

/* ---- Errors ------------------------------------------------------------ */

static bool write_to(uint32_t rkey, uint64_t addr, uint32_t n, enum xv_wc_status status)
{
	struct xv_sge sge = rig_sge(&r, 0, PLAIN, n);
	bool good;

	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &sge, addr, rkey);
	good = complete(0, status);
	if (status)
		rig_reconnect(&r, &opts);
	return good;
}

static bool write_from(uint32_t lkey, uint64_t addr, uint32_t n, enum xv_wc_status status)
{
	struct xv_sge sge = { addr, n, lkey };
	bool good;

	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, PLAIN), r.mr[1]->rkey);
	good = complete(0, status);
	if (status)
		rig_reconnect(&r, &opts);
	return good;
}

static void test_life(void)
{
	struct xv_mkey *m = make(1, 4, 0);
	struct xv_sge sge[2] = { rig_sge(&r, 1, 0, 100), rig_sge(&r, 1, 1000, 28) };
	struct xv_umr umr = { .mkey = m, .base_addr = 64, .access = UM_ACCESS, .num = 2,
			      .regions = sge };
	struct xv_mkey_attr attr;
	uint32_t key = m->rkey;

	ok(write_to(key, 64, 1, XV_WC_REM_ACCESS_ERR), "a key that was never filled");
	ok(fill(1, &umr, XV_WC_SUCCESS) && !xv_query_mkey(m, &attr) && attr.filled, "fill");
	ok(write_to(key, 64, 128, XV_WC_SUCCESS), "all bytes");
	ok(write_to(key, 64, 129, XV_WC_REM_ACCESS_ERR), "a byte too many");
	ok(write_to(key, 63, 1, XV_WC_REM_ACCESS_ERR), "a byte too early");
	ok(write_to(key ^ 1, 64, 1, XV_WC_REM_ACCESS_ERR), "a wrong low byte of the key");
	umr.access = XV_ACCESS_REMOTE_READ;
	ok(fill(1, &umr, XV_WC_SUCCESS) && write_to(key, 64, 1, XV_WC_REM_ACCESS_ERR),
	   "no right to write");
	umr.access = UM_ACCESS;
	sge[1].addr = rig_addr(&r, 1, r.size - 27);
	ok(fill(1, &umr, XV_WC_SUCCESS) && write_to(key, 64, 127, XV_WC_SUCCESS) &&
	   write_to(key, 64, 128, XV_WC_REM_ACCESS_ERR), "a part that leaves its region");
	ok(!xv_wr_umr_invalidate(r.qp[1], 1, XV_SEND_SIGNALED, m) && complete(1, XV_WC_SUCCESS) &&
	   !xv_query_mkey(m, &attr) && !attr.filled, "invalidate");
	ok(write_to(key, 64, 1, XV_WC_REM_ACCESS_ERR), "an invalidated key");
	sge[1] = rig_sge(&r, 1, 1000, 28);
	ok(fill(1, &umr, XV_WC_SUCCESS) && write_to(key, 64, 128, XV_WC_SUCCESS), "fill again");
	ok(!xv_destroy_mkey(m) && write_to(key, 64, 1, XV_WC_REM_ACCESS_ERR), "a destroyed key");
}

static void test_remote_invalidate(void)
{
	struct xv_mkey *m = make(1, 4, XV_MKEY_REMOTE_INVALIDATE), *fixed = make(1, 4, 0);
	struct xv_sge sge = rig_sge(&r, 1, 0, 100), none = rig_sge(&r, 0, PLAIN, 0);
	struct xv_umr umr = { .mkey = m, .access = UM_ACCESS, .num = 1, .regions = &sge };
	struct xv_wc wc;

	ok(fill(1, &umr, XV_WC_SUCCESS), "fill");
	xv_wr_recv(r.qp[1], 2, &sge);
	xv_commit_recv(r.qp[1]);
	xv_wr_send_inv(r.qp[0], 1, XV_SEND_SIGNALED, &none, m->rkey);
	ok(complete(0, XV_WC_SUCCESS) && rig_poll(r.cq[1], 1, &wc) == 1 &&
	   wc.wc_flags & XV_WC_WITH_INV && wc.invalidated_rkey == m->rkey, "the peer invalidates");
	ok(write_to(m->rkey, 0, 1, XV_WC_REM_ACCESS_ERR), "the invalidated key");
	umr.mkey = fixed;
	ok(fill(1, &umr, XV_WC_SUCCESS), "fill");
	xv_wr_recv(r.qp[1], 2, &sge);
	xv_commit_recv(r.qp[1]);
	xv_wr_send_inv(r.qp[0], 1, XV_SEND_SIGNALED, &none, fixed->rkey);
	ok(complete(0, XV_WC_REM_OP_ERR), "a key that the peer may not invalidate");
	rig_reconnect(&r, &opts);
	xv_destroy_mkey(m);
	xv_destroy_mkey(fixed);
}

static void test_depth(void)
{
	uint32_t max = device.umr_caps.max_umr_recursion_depth, i;
	struct xv_mkey *m[16];
	struct xv_sge sge;
	struct xv_umr umr = { .access = UM_ACCESS, .num = 1, .regions = &sge };

	if (max >= ARRAY_SIZE(m))
		return;
	for (i = 0; i <= max; i++) {
		m[i] = make(0, 4, 0);
		sge = i ? (struct xv_sge) { 0, 64, m[i - 1]->lkey } : rig_sge(&r, 0, 0, 64);
		umr.mkey = m[i];
		fill(0, &umr, XV_WC_SUCCESS);
	}
	ok(write_from(m[max - 1]->lkey, 0, 64, XV_WC_SUCCESS), "%u keys in a chain", max);
	ok(write_from(m[max]->lkey, 0, 64, XV_WC_LOC_PROT_ERR), "one key too many");
	umr.mkey = m[0];
	sge = (struct xv_sge) { 0, 64, m[0]->lkey };
	ok(fill(0, &umr, XV_WC_SUCCESS) && write_from(m[0]->lkey, 0, 64, XV_WC_LOC_PROT_ERR),
	   "a key that contains itself");
	umr.mkey = m[1];
	sge.lkey = m[0]->lkey;
	xv_destroy_mkey(m[0]);
	ok(fill(0, &umr, XV_WC_SUCCESS) && write_from(m[1]->lkey, 0, 64, XV_WC_LOC_PROT_ERR),
	   "a key that contains a destroyed one");
	for (i = 1; i <= max; i++)
		xv_destroy_mkey(m[i]);
}

static void test_foreign(void)
{
	/* Memory of its own: the debug kernel reports memory that is mapped for DMA twice. */
	static uint8_t page[4096] __attribute__((aligned(4096)));
	struct xv_pd *pd = xv_alloc_pd(r.side[0].ctx);
	struct xv_mkey_init_attr attr = { .max_entries = 4 };
	struct xv_mr *mr = xv_reg_mr(pd, page, sizeof(page), XV_ACCESS_LOCAL_WRITE);
	struct xv_mkey *own = make(0, 4, 0), *foreign = xv_create_mkey(pd, &attr);
	struct xv_sge sge = { (uintptr_t)page, 64, mr->lkey };
	struct xv_umr umr = { .mkey = own, .access = UM_ACCESS, .num = 1, .regions = &sge };

	ok(fill(0, &umr, XV_WC_SUCCESS) && write_from(own->lkey, 0, 64, XV_WC_LOC_PROT_ERR),
	   "a region of another PD");
	sge = rig_sge(&r, 0, 0, 64);
	umr.mkey = foreign;
	ok(fill(0, &umr, XV_WC_MW_BIND_ERR), "a key of another PD cannot be filled");
	rig_reconnect(&r, &opts);
	umr.mkey = own;
	use_list(0, &umr);
	umr.list_lkey ^= 0x100;
	ok(fill(0, &umr, XV_WC_LOC_PROT_ERR), "a list with a wrong key");
	rig_reconnect(&r, &opts);
	ok(xv_dealloc_pd(pd) == -EBUSY && !xv_destroy_mkey(foreign) && !xv_destroy_mkey(own) &&
	   !xv_dereg_mr(mr) && !xv_dealloc_pd(pd), "free");
}

/* A list of requests: fill, write, invalidate */
static void test_list(void)
{
	struct xv_mkey *m = make(0, 4, 0);
	struct xv_sge region = rig_sge(&r, 0, 0, 64), sge = { 0, 64, m->lkey };
	struct xv_umr umr = { .mkey = m, .access = XV_ACCESS_LOCAL_WRITE, .num = 1,
			      .regions = &region };
	struct xv_send_wr wr[3] = {
		{ .opcode = XV_WR_UMR_FILL, .umr = &umr, .next = &wr[1] },
		{ .opcode = XV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1, .next = &wr[2],
		  .wr.rdma = { rig_addr(&r, 1, PLAIN), r.mr[1]->rkey } },
		{ .opcode = XV_WR_UMR_INVALIDATE, .umr = &umr, .wr_id = 1,
		  .send_flags = XV_SEND_SIGNALED },
	}, *bad;

	rig_fill(r.buf[0], 64, 9);
	ok(!xv_post_send(r.qp[0], wr, &bad) && rig_expect(r.cq[0], 1, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + PLAIN, 64, 9), "fill, write and invalidate as a list");
	ok(write_from(m->lkey, 0, 1, XV_WC_LOC_PROT_ERR), "the key is invalid");
	xv_destroy_mkey(m);
}

/* Lists of all lengths around the ends of WQEBBs, and the longest one */
static void test_lengths(void)
{
	static struct xv_sge sge[4000];
	struct xv_mkey *m = make(0, ARRAY_SIZE(sge), 0);
	struct xv_umr umr = { .mkey = m, .access = XV_ACCESS_LOCAL_WRITE, .regions = sge };
	struct xv_sge all = { 0, 0, m->lkey };
	uint32_t i, n, good = 0, max = device.umr_caps.max_send_wqe_inline_klms;

	rig_fill(r.buf[0], ARRAY_SIZE(sge) * 3, 3);
	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = rig_sge(&r, 0, 3 * i, 3);
	for (n = 1; n <= max; n++) {
		memset(r.buf[1] + PLAIN, 0, 3 * n + 1);
		umr.num = n;
		all.length = 3 * n;
		xv_wr_umr_fill(r.qp[0], 0, 0, &umr);
		xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &all, rig_addr(&r, 1, PLAIN),
			    r.mr[1]->rkey);
		good += complete(0, XV_WC_SUCCESS) && rig_check(r.buf[1] + PLAIN, 3 * n, 3) &&
			!r.buf[1][PLAIN + 3 * n];
	}
	tap_is(good, max, "lists of 1 to %u entries in the request", max);
	umr.num = max + 1;
	tap_is(xv_wr_umr_fill(r.qp[0], 1, 0, &umr), -XV_EINVAL, "one entry too many");
	use_list(0, &umr);
	umr.num = ARRAY_SIZE(sge);
	all.length = 3 * ARRAY_SIZE(sge);
	ok(fill(0, &umr, XV_WC_SUCCESS), "a list of %zu entries in memory", ARRAY_SIZE(sge));
	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &all, rig_addr(&r, 1, PLAIN), r.mr[1]->rkey);
	ok(complete(0, XV_WC_SUCCESS) && rig_check(r.buf[1] + PLAIN, all.length, 3),
	   "its bytes are right");
	xv_destroy_mkey(m);
}

int main(int argc, char **argv)
{
	uint32_t depth;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (xv_query_device(r.side[0].ctx, &device))
		bail_out("%s", xv_last_error());
	ok(rig_feature(r.side[0].ctx, "indirect-keys")->available ==
	   !!device.umr_caps.max_mkey_klm_list_size, "indirect keys: feature and attribute agree");
	if (!device.umr_caps.max_mkey_klm_list_size) {
		ok(1, "indirect keys # SKIP the adapter has none");
		return tap_done();
	}
	/* The masked atomics of this test have operands of 8 and 32 bytes. */
	opts.atomic_arg = device.ext_atom.atomic_arg_sizes & 32 ? 32 : 0;
	rig_reconnect(&r, &opts);
	via.qp = r.qp[0];
	test_create();
	test_matrix();
	for (depth = 1; depth <= um_min(DEPTH, device.umr_caps.max_umr_recursion_depth); depth++)
		test_random(depth, "RC");
	test_atomics("RC");
	test_dc();
	test_calc();
	test_life();
	test_remote_invalidate();
	test_depth();
	test_foreign();
	test_list();
	test_lengths();
	rig_close(&r);
	return tap_done();
}
