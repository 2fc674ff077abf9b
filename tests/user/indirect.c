// SPDX-License-Identifier: GPL-2.0
/*
 * Indirect keys between two functions: a column block of a matrix, random layouts that every
 * operation uses, and every error with its status.
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

static const struct rig_opts opts = { .size = 8 << 20, .depth = 64, .rc = { .timeout = 14,
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

enum use { WRITE_FROM, WRITE_TO, READ_FROM, READ_TO, SEND_FROM, SEND_TO, USES };

static bool use(enum use how, const struct um_layout *local, const struct um_layout *remote,
		uint32_t off, uint32_t n)
{
	struct xv_sge l = { UM_BASE + off, n, local->key->lkey };
	struct xv_sge f = { UM_BASE + off, n, remote->key->lkey };
	struct xv_sge here = rig_sge(&r, 0, PLAIN, n), there = rig_sge(&r, 1, PLAIN, n);
	bool far = how == WRITE_TO || how == READ_FROM || how == SEND_TO;
	struct xv_wc wc;

	switch (how) {
	case WRITE_FROM:
		xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &l, there.addr, there.lkey);
		break;
	case WRITE_TO:
		xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &here, f.addr, f.lkey);
		break;
	case READ_FROM:
		xv_wr_read(r.qp[0], 1, XV_SEND_SIGNALED, &here, f.addr, f.lkey);
		break;
	case READ_TO:
		xv_wr_read(r.qp[0], 1, XV_SEND_SIGNALED, &l, there.addr, there.lkey);
		break;
	default:
		xv_wr_recv(r.qp[1], 2, how == SEND_TO ? &f : &there);
		xv_commit_recv(r.qp[1]);
		xv_wr_send(r.qp[0], 1, XV_SEND_SIGNALED, how == SEND_TO ? &here : &l);
	}
	if (!complete(0, XV_WC_SUCCESS))
		return false;
	if (how >= SEND_FROM && (rig_poll(r.cq[1], 1, &wc) != 1 || wc.byte_len != n))
		return false;
	return um_same(far ? remote : local, off, r.buf[far ? 0 : 1] + PLAIN, n);
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

static void test_random(uint32_t depth)
{
	static struct um_layout l[2][DEPTH];
	uint32_t round, i, good = 0, want = 0;
	int side;

	for (side = 0; side < 2; side++)
		for (i = 0; i < depth; i++)
			l[side][i].key = make(side, UM_PARTS + 1, 0);
	for (round = 0; round < 15; round++) {
		const struct um_layout *at[2] = { &l[0][depth - 1], &l[1][depth - 1] };
		enum use how;

		for (i = 0; i < depth; i++)
			for (side = 0; side < 2; side++, want++)
				good += random_fill(side, i ? &l[side][i - 1] : NULL, &l[side][i]);
		for (how = 0; how < USES; how++, want++) {
			uint32_t room = um_min(at[0]->bytes, at[1]->bytes), off = um_below(room);

			for (side = 0; side < 2; side++) {
				rig_fill(r.buf[side], REGION, (uint32_t)rand());
				rig_fill(r.buf[side] + PLAIN, UM_BYTES, (uint32_t)rand());
			}
			good += use(how, at[0], at[1], off, 1 + um_below(room - off));
		}
	}
	tap_is(good, want, "%u keys in a chain, random layouts: each byte is right", depth);
	for (side = 0; side < 2; side++)
		for (i = 0; i < depth; i++)
			xv_destroy_mkey(l[side][i].key);
}

/* An atomic through two keys */
static void test_atomic(void)
{
	struct xv_mkey *m = make(1, 1, 0), *outer = make(1, 1, 0);
	struct xv_sge region = rig_sge(&r, 1, 64, 64), nested = { 0, 64, m->lkey };
	struct xv_sge result = rig_sge(&r, 0, PLAIN, 8);
	struct xv_umr umr = { .mkey = m, .access = UM_ACCESS, .num = 1, .regions = &region };
	uint64_t *word = (uint64_t *)(void *)(r.buf[1] + 72);

	*word = 40;
	ok(fill(1, &umr, XV_WC_SUCCESS), "atomic: fill");
	umr.mkey = outer;
	umr.regions = &nested;
	ok(fill(1, &umr, XV_WC_SUCCESS), "atomic: fill the outer key");
	xv_wr_atomic_fa(r.qp[0], 1, XV_SEND_SIGNALED, &result, 8, outer->rkey, 2);
	ok(complete(0, XV_WC_SUCCESS) && *word == 42, "atomic through two keys");
	xv_destroy_mkey(m);
	xv_destroy_mkey(outer);
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
	   "a key that contains a dead one");
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
	if (xv_query_device(r.side[0].ctx, &device) || !device.umr_caps.max_mkey_klm_list_size)
		tap_skip_all("the adapter has no indirect keys");
	test_create();
	test_matrix();
	for (depth = 1; depth <= um_min(DEPTH, device.umr_caps.max_umr_recursion_depth); depth++)
		test_random(depth);
	test_atomic();
	test_life();
	test_remote_invalidate();
	test_depth();
	test_foreign();
	test_list();
	test_lengths();
	rig_close(&r);
	return tap_done();
}
