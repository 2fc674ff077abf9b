// SPDX-License-Identifier: GPL-2.0
/*
 * User-mode memory registration (appendix C): keys of several regions, of regular blocks and of
 * interleaved blocks, used by this side and by the peer.
 */
#include "rig.h"

#define BASE	0x10000u	/* address of the first byte of a key */
#define KLMS	16u		/* entries in a request */

static struct pair p;
static struct ibv_exp_device_attr dev;

/* ---- Keys -------------------------------------------------------------------------------- */

static struct ibv_mr *make_key(uint32_t entries)
{
	struct ibv_exp_create_mr_in in = {
		.pd = side[0].pd,
		.attr = { .max_reg_descriptors = entries,
			  .create_flags = IBV_EXP_MR_INDIRECT_KLMS, .access_flags = ACCESS },
	};
	struct ibv_mr *mr = ibv_exp_create_mr(&in);

	need(mr != NULL, "ibv_exp_create_mr");
	return mr;
}

static struct ibv_exp_send_wr fill_request(struct ibv_mr *key)
{
	struct ibv_exp_send_wr wr = {
		.wr_id = 1, .exp_opcode = IBV_EXP_WR_UMR_FILL,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED | IBV_EXP_SEND_INLINE,
	};

	wr.ext_op.umr.modified_mr = key;
	wr.ext_op.umr.base_addr = BASE;
	wr.ext_op.umr.exp_access = ACCESS;
	return wr;
}

static struct ibv_exp_send_wr of_regions(struct ibv_mr *key, struct ibv_exp_mem_region *list,
					 uint32_t n)
{
	struct ibv_exp_send_wr wr = fill_request(key);

	wr.ext_op.umr.umr_type = IBV_EXP_UMR_MR_LIST;
	wr.ext_op.umr.num_mrs = n;
	wr.ext_op.umr.mem_list.mem_reg_list = list;
	return wr;
}

static struct ibv_exp_send_wr of_blocks(struct ibv_mr *key, struct ibv_exp_mem_repeat_block *list,
					uint32_t n, size_t *count)
{
	struct ibv_exp_send_wr wr = fill_request(key);

	wr.ext_op.umr.umr_type = IBV_EXP_UMR_REPEAT;
	wr.ext_op.umr.num_mrs = n;
	wr.ext_op.umr.mem_list.rb.mem_repeat_block_list = list;
	wr.ext_op.umr.mem_list.rb.repeat_count = count;
	wr.ext_op.umr.mem_list.rb.stride_dim = 1;
	return wr;
}

static bool filled(struct ibv_exp_send_wr *wr)
{
	struct ibv_exp_wc wc;

	return !post(p.qp[0], wr) && complete(p.cq[0], &wc) && wc.status == IBV_WC_SUCCESS &&
	       wc.exp_opcode == IBV_EXP_WC_UMR && wc.wr_id == 1;
}

/* One operation of side 0 with n bytes of a key, and memory of side 1 at offset 0 */
static int transfer(enum ibv_exp_wr_opcode opcode, const struct ibv_mr *key, uint32_t n)
{
	struct ibv_sge sge = { BASE, n, key->lkey };
	struct ibv_exp_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .exp_opcode = opcode,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.wr.rdma = { at(1, 0), side[1].mr->rkey },
	};

	return run(&p, &wr);
}

/* ---- Tests ------------------------------------------------------------------------------- */

static void test_attributes(void)
{
	ok(dev.comp_mask & IBV_EXP_DEVICE_ATTR_UMR && dev.max_mkey_klm_list_size >= 256 &&
	   dev.max_send_wqe_inline_klms >= KLMS && dev.max_umr_recursion_depth >= 2 &&
	   dev.max_umr_stride_dimension == 1, "limits of the device");
	ok(dev.umr_caps.max_klm_list_size == dev.max_mkey_klm_list_size &&
	   dev.umr_caps.max_send_wqe_inline_klms == dev.max_send_wqe_inline_klms &&
	   dev.umr_caps.max_umr_recursion_depth == dev.max_umr_recursion_depth &&
	   dev.umr_caps.max_umr_stride_dimension == dev.max_umr_stride_dimension,
	   "both names of the limits");
}

static void test_key(void)
{
	struct ibv_exp_mkey_attr a = { .comp_mask = 0 };
	struct ibv_mr *key = make_key(10);

	ok(key->pd == side[0].pd && key->context == side[0].ctx && key->lkey && key->rkey,
	   "a key without contents");
	ok(!ibv_exp_query_mkey(key, &a) && a.n_mkey_entries >= 10, "%d entries", a.n_mkey_entries);
	ok(transfer(IBV_EXP_WR_RDMA_WRITE, key, 16) == IBV_WC_LOC_PROT_ERR, "it gives no access");
	restart(&p);
	ok(!ibv_dereg_mr(key), "ibv_dereg_mr() destroys it");
}

/* Three parts of the memory (figure 2) */
static void test_regions(void)
{
	struct ibv_exp_mem_region list[3] = {
		{ at(0, 50000), side[0].mr, 1000 }, { at(0, 100), side[0].mr, 333 },
		{ at(0, 200000), side[0].mr, 5000 },
	};
	struct ibv_mr *key = make_key(3);
	struct ibv_exp_send_wr wr = of_regions(key, list, 3);
	uint32_t n = 0;
	int i, good = 1;

	fill(side[0].mem, 300000, 1);
	ok(filled(&wr), "regions: the key is filled");
	ok(transfer(IBV_EXP_WR_RDMA_WRITE, key, 6333) == IBV_WC_SUCCESS, "a write gathers");
	for (i = 0; i < 3; i++) {
		good &= !memcmp(side[1].mem + n, (void *)list[i].base_addr, list[i].length);
		n += (uint32_t)list[i].length;
	}
	ok(good, "the data of all regions");
	fill(side[1].mem, n, 2);
	ok(transfer(IBV_EXP_WR_RDMA_READ, key, n) == IBV_WC_SUCCESS, "a read scatters");
	for (i = 0, n = 0, good = 1; i < 3; i++) {
		good &= !memcmp(side[1].mem + n, (void *)list[i].base_addr, list[i].length);
		n += (uint32_t)list[i].length;
	}
	ok(good, "the data of all regions");
	ok(transfer(IBV_EXP_WR_RDMA_WRITE, key, n + 1) == IBV_WC_LOC_PROT_ERR,
	   "one byte more than the key has");
	restart(&p);
	need(!ibv_dereg_mr(key), "ibv_dereg_mr");
}

/* A column of a matrix (figure 3) */
static void test_stride(void)
{
	size_t bytes = 100, stride = 4096, count = 50;
	struct ibv_exp_mem_repeat_block block = { at(0, 64), side[0].mr, &bytes, &stride };
	struct ibv_mr *key = make_key(2);
	struct ibv_exp_send_wr wr = of_blocks(key, &block, 1, &count);
	size_t i, good = 0;

	fill(side[0].mem, 50 * 4096, 3);
	memset(side[1].mem, 0, 5000);
	ok(filled(&wr), "a block that repeats: the key is filled");
	ok(transfer(IBV_EXP_WR_RDMA_WRITE, key, 5000) == IBV_WC_SUCCESS, "a write gathers");
	for (i = 0; i < count; i++)
		good += !memcmp(side[1].mem + i * 100, side[0].mem + 64 + i * 4096, 100);
	tap_is(good, count, "each block has arrived");
	need(!ibv_dereg_mr(key), "ibv_dereg_mr");
}

/* Two regions in turn (figure 4); the peer reads them through the key. */
static void test_interleave(void)
{
	size_t bytes[2] = { 64, 32 }, stride[2] = { 128, 32 }, count = 40, i, good = 0;
	struct ibv_exp_mem_repeat_block blocks[2] = {
		{ at(0, 0), side[0].mr, &bytes[0], &stride[0] },
		{ at(0, 100000), side[0].mr, &bytes[1], &stride[1] },
	};
	struct ibv_mr *key = make_key(3);
	struct ibv_exp_send_wr wr = of_blocks(key, blocks, 2, &count), read;
	struct ibv_sge sge = piece(1, 0, 40 * 96);
	struct ibv_exp_wc wc;

	fill(side[0].mem, 110000, 4);
	ok(filled(&wr), "interleaved blocks: the key is filled");
	read = (struct ibv_exp_send_wr) {
		.sg_list = &sge, .num_sge = 1, .exp_opcode = IBV_EXP_WR_RDMA_READ,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED, .wr.rdma = { BASE, key->rkey },
	};
	ok(!post(p.qp[1], &read) && complete(p.cq[1], &wc) && wc.status == IBV_WC_SUCCESS,
	   "the peer reads through the key");
	for (i = 0; i < count; i++)
		good += !memcmp(side[1].mem + i * 96, side[0].mem + i * 128, 64) &&
			!memcmp(side[1].mem + i * 96 + 64, side[0].mem + 100000 + i * 32, 32);
	tap_is(good, count, "it has each pair of blocks");
	need(!ibv_dereg_mr(key), "ibv_dereg_mr");
}

/* A list that does not fit into a request */
static void test_list_in_memory(void)
{
	enum { N = 200 };
	struct ibv_exp_mkey_list_container_attr attr = {
		.pd = side[0].pd, .mkey_list_type = IBV_EXP_MKEY_LIST_TYPE_INDIRECT_MR,
		.max_klm_list_size = N,
	};
	struct non_inline_data *memory = ibv_exp_alloc_mkey_list_memory(&attr);
	static struct ibv_exp_mem_region list[N + 1];
	struct ibv_mr *key = make_key(N);
	struct ibv_exp_send_wr wr = of_regions(key, list, N);
	int i, good = 0;

	need(memory != NULL, "ibv_exp_alloc_mkey_list_memory");
	ok(memory->max_klm_list_size >= N && memory->context == side[0].ctx, "memory for a list");
	for (i = 0; i <= N; i++)
		list[i] = (struct ibv_exp_mem_region) {
			at(0, (size_t)(N - i) * 1000), side[0].mr, 100 };
	fill(side[0].mem, (N + 1) * 1000, 5);
	memset(side[1].mem, 0, N * 100);
	wr.exp_send_flags &= ~(uint64_t)IBV_EXP_SEND_INLINE;
	ok(post(p.qp[0], &wr) == EINVAL, "neither inline nor memory for the list");
	wr.ext_op.umr.memory_objects = memory;
	ok(filled(&wr), "a list in memory: the key is filled");
	ok(transfer(IBV_EXP_WR_RDMA_WRITE, key, N * 100) == IBV_WC_SUCCESS, "a write gathers");
	for (i = 0; i < N; i++)
		good += !memcmp(side[1].mem + i * 100, (void *)list[i].base_addr, 100);
	tap_is(good, N, "each region has arrived");
	wr.ext_op.umr.num_mrs = N + 1;
	ok(post(p.qp[0], &wr) == EINVAL, "one region more than the memory has room for");
	ok(!ibv_exp_dealloc_mkey_list_memory(memory), "the memory is freed");
	need(!ibv_dereg_mr(key), "ibv_dereg_mr");
}

/* A key of another key, filled and used by one list of requests */
static void test_recursion(void)
{
	size_t bytes = 8, stride = 64, count = 100, i, good = 0;
	struct ibv_exp_mem_repeat_block block = { at(0, 0), side[0].mr, &bytes, &stride };
	struct ibv_mr *inner = make_key(2), *outer = make_key(2);
	struct ibv_exp_mem_region list[2] = { { BASE + 400, inner, 400 }, { BASE, inner, 400 } };
	struct ibv_exp_send_wr first = of_blocks(inner, &block, 1, &count);
	struct ibv_exp_send_wr second = of_regions(outer, list, 2);
	struct ibv_sge sge = { BASE, 800, outer->lkey };
	struct ibv_exp_send_wr write = {
		.wr_id = 3, .sg_list = &sge, .num_sge = 1, .exp_opcode = IBV_EXP_WR_RDMA_WRITE,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.wr.rdma = { at(1, 0), side[1].mr->rkey },
	};

	first.exp_send_flags = second.exp_send_flags = IBV_EXP_SEND_INLINE;
	first.next = &second;
	second.next = &write;
	fill(side[0].mem, 6400, 6);
	ok(run(&p, &first) == IBV_WC_SUCCESS, "a key of a key");
	for (i = 0; i < count; i++)
		good += !memcmp(side[1].mem + i * 8, side[0].mem + (i + 50) % 100 * 64, 8);
	tap_is(good, count, "each part has arrived");
	need(!ibv_dereg_mr(outer) && !ibv_dereg_mr(inner), "ibv_dereg_mr");
}

static void test_invalidate(void)
{
	struct ibv_exp_mem_region region = { at(0, 0), side[0].mr, 4096 };
	struct ibv_mr *key = make_key(1);
	struct ibv_exp_send_wr wr = of_regions(key, &region, 1);

	wr.ext_op.umr.exp_access = IBV_EXP_ACCESS_LOCAL_WRITE;
	ok(filled(&wr) && transfer(IBV_EXP_WR_RDMA_WRITE, key, 64) == IBV_WC_SUCCESS,
	   "a key is used");
	wr.exp_opcode = IBV_EXP_WR_UMR_INVALIDATE;
	ok(filled(&wr), "and invalidated");
	ok(transfer(IBV_EXP_WR_RDMA_WRITE, key, 64) == IBV_WC_LOC_PROT_ERR,
	   "then it gives no access");
	restart(&p);
	wr.exp_opcode = IBV_EXP_WR_UMR_FILL;
	ok(filled(&wr) && transfer(IBV_EXP_WR_RDMA_WRITE, key, 64) == IBV_WC_SUCCESS,
	   "filled again, it does");
	need(!ibv_dereg_mr(key), "ibv_dereg_mr");
}

/* The send queue has room for max_send_wr requests with max_inl_send_klms entries each. */
static void test_room(void)
{
	struct ibv_exp_qp_init_attr init;
	struct ibv_exp_qp_attr attr;
	struct ibv_exp_mem_region list[KLMS];
	struct ibv_mr *key = make_key(KLMS);
	struct ibv_exp_send_wr wr = of_regions(key, list, KLMS);
	uint32_t i;
	int posted = 0;

	for (i = 0; i < KLMS; i++)
		list[i] = (struct ibv_exp_mem_region) { at(0, i * 100), side[0].mr, 10 };
	for (i = 0; i < 31; i++) {
		wr.exp_send_flags = IBV_EXP_SEND_INLINE;
		posted += !post(p.qp[0], &wr);
	}
	wr.exp_send_flags |= IBV_EXP_SEND_SIGNALED;
	tap_is(posted + (run(&p, &wr) == IBV_WC_SUCCESS), 32, "32 requests of 16 entries fit");
	need(!ibv_exp_query_qp(p.qp[0], &attr, IBV_QP_STATE, &init), "ibv_exp_query_qp");
	tap_is(init.max_inl_send_klms, KLMS, "max_inl_send_klms can be queried");
	need(!ibv_dereg_mr(key), "ibv_dereg_mr");
}

/* ---- Errors ------------------------------------------------------------------------------ */

static void test_refused_keys(void)
{
	struct ibv_exp_create_mr_in in = { .pd = side[0].pd,
		.attr = { .max_klm_list_size = 4, .create_flags = IBV_EXP_MR_INDIRECT_KLMS,
			  .comp_mask = 1 } };
	struct ibv_exp_mkey_attr a = { .comp_mask = 1 };
	struct ibv_exp_mkey_list_container_attr list = { .pd = side[0].pd,
		.max_klm_list_size = 4, .comp_mask = 1 };
	struct ibv_mr *key;

	key = ibv_exp_create_mr(&in);
	ok(key && !ibv_dereg_mr(key), "create: comp_mask of the attributes is ignored");
	in.comp_mask = 1;
	ok(!ibv_exp_create_mr(&in) && errno == EINVAL, "create: comp_mask");
	in.comp_mask = 0;
	in.attr.create_flags = IBV_EXP_MR_SIGNATURE_EN;
	ok(!ibv_exp_create_mr(&in) && errno == EOPNOTSUPP, "create: signatures");
	in.attr.create_flags = 1 << 5;
	ok(!ibv_exp_create_mr(&in) && errno == EINVAL, "create: create_flags");
	in.attr.create_flags = 0;
	in.attr.max_reg_descriptors = 0;
	ok(!ibv_exp_create_mr(&in) && errno == EINVAL, "create: no entries");
	in.attr.max_reg_descriptors = (uint64_t)dev.max_mkey_klm_list_size + 5;
	ok(!ibv_exp_create_mr(&in) && errno == EINVAL, "create: too many entries");
	in.attr.max_reg_descriptors = 1ull << 33;
	ok(!ibv_exp_create_mr(&in) && errno == EINVAL, "create: far too many entries");
	ok(ibv_exp_query_mkey(side[0].mr, &a) == EINVAL, "query: comp_mask");
	a.comp_mask = 0;
	ok(ibv_exp_query_mkey(side[0].mr, &a) == EINVAL, "query: a region");
	ok(!ibv_exp_alloc_mkey_list_memory(&list) && errno == EINVAL, "list: comp_mask");
	list.comp_mask = 0;
	list.mkey_list_type = 1;
	ok(!ibv_exp_alloc_mkey_list_memory(&list) && errno == EINVAL, "list: type");
}

static void test_refused_requests(void)
{
	size_t bytes = 8, stride = 64, count = 4;
	struct ibv_exp_mem_repeat_block block = { at(0, 0), side[0].mr, &bytes, &stride };
	struct ibv_exp_mem_region region = { at(0, 0), side[0].mr, 8 };
	struct ibv_mr *key = make_key(4);
	struct ibv_exp_send_wr wr = of_regions(side[0].mr, &region, 1);

	ok(post(p.qp[0], &wr) == EINVAL, "fill: a region");
	wr = of_regions(NULL, &region, 1);
	ok(post(p.qp[0], &wr) == EINVAL, "fill: no key");
	wr = of_regions(key, &region, 0);
	ok(post(p.qp[0], &wr) == EINVAL, "fill: no regions");
	wr = of_regions(key, &region, 1000);
	ok(post(p.qp[0], &wr) == EINVAL, "fill: more regions than fit into a request");
	wr = of_regions(key, &region, 1);
	wr.ext_op.umr.umr_type = 7;
	ok(post(p.qp[0], &wr) == EINVAL, "fill: type");
	wr = of_regions(key, &region, 1);
	wr.ext_op.umr.exp_access |= IBV_EXP_ACCESS_ON_DEMAND;
	ok(post(p.qp[0], &wr) == EINVAL, "fill: access flags");
	wr = of_blocks(key, &block, 1, &count);
	wr.ext_op.umr.mem_list.rb.stride_dim = 2;
	ok(post(p.qp[0], &wr) == EINVAL, "fill: two dimensions");
	stride = 65536;
	wr = of_blocks(key, &block, 1, &count);
	ok(post(p.qp[0], &wr) == EINVAL, "fill: stride");
	region.length = 1ull << 32;
	wr = of_regions(key, &region, 1);
	ok(post(p.qp[0], &wr) == EINVAL, "fill: a region of 4 GiB");
	ok(quiet(p.cq[0]), "nothing was posted");
	need(!ibv_dereg_mr(key), "ibv_dereg_mr");
}

static void test_refused_queue(void)
{
	struct ibv_exp_qp_init_attr attr = {
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD | IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS,
		.pd = side[0].pd, .send_cq = p.cq[0], .recv_cq = p.cq[0], .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.max_inl_send_klms = dev.max_send_wqe_inline_klms + 1,
	};

	ok(!ibv_exp_create_qp(side[0].ctx, &attr) && errno == EINVAL, "QP: max_inl_send_klms");
	/* 6 blocks for each request: the product of 32 bits would be 8. */
	attr.max_inl_send_klms = KLMS;
	attr.cap.max_send_wr = 0xaaaaaaac;
	ok(!ibv_exp_create_qp(side[0].ctx, &attr) && errno == EINVAL, "QP: max_send_wr");
}

int main(int argc, char **argv)
{
	struct ibv_exp_qp_init_attr attr = {
		.comp_mask = IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS | IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS,
		.exp_create_flags = IBV_EXP_QP_CREATE_UMR, .max_inl_send_klms = KLMS,
	};

	open_sides(argc, argv);
	dev = attributes(side[0].ctx);
	if (!(dev.exp_device_cap_flags & IBV_EXP_DEVICE_UMR))
		tap_skip_all("the device has no indirect keys");
	p = make_pair(attr);
	test_attributes();
	test_key();
	test_regions();
	test_stride();
	test_interleave();
	test_list_in_memory();
	test_recursion();
	test_invalidate();
	test_room();
	test_refused_keys();
	test_refused_requests();
	test_refused_queue();
	break_pair(&p);
	close_sides();
	return tap_done();
}
