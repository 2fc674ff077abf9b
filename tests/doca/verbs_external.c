// SPDX-License-Identifier: GPL-2.0
/*
 * DOCA Verbs: a data path without the library.  Rings and doorbell records are in memory of the
 * program or in a dma-buf.  The program writes requests and doorbells and reads completions by
 * itself.
 */
#include <endian.h>
#include <rdma/mlx5_ring.h>
#include "dmabuf.h"
#include "verbs.h"

enum { CQ_ENTRIES = 64, PAGES = 4 };

static struct {
	uint8_t *mem;
	size_t page;
	struct doca_dev *dev;
	struct doca_umem *umem;
	struct doca_uar *uar;
	struct doca_verbs_cq *cq;
	struct doca_verbs_qp *qp;
	uint32_t ci;
} x;

/* The pages: ring of the CQ and its record (two pages), rings of the QP, its record */
static uint64_t at(int page)
{
	return (uint64_t)page * x.page;
}

static void umem_of_memory(void)
{
	x.mem = mmap(NULL, PAGES * x.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	tap_is(doca_umem_create(x.dev, x.mem + 1, x.page, 0, &x.umem), DOCA_ERROR_INVALID_VALUE,
	       "a UMEM that is not aligned");
	tap_is(doca_umem_create(x.dev, x.mem, PAGES * x.page, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
				&x.umem), DOCA_SUCCESS, "a UMEM");
}

static void umem_of_dmabuf(int fd)
{
	tap_is(doca_verbs_umem_create(x.dev, NULL, x.mem, 2 * PAGES * x.page,
				      DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, fd, 0, &x.umem),
	       DOCA_ERROR_INVALID_VALUE, "a UMEM longer than the dma-buf");
	tap_is(doca_verbs_umem_create(x.dev, NULL, x.mem, PAGES * x.page,
				      DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, fd, 0, &x.umem),
	       DOCA_SUCCESS, "a UMEM of a dma-buf");
}

/* fd: of the dma-buf at x.mem, or -1 for memory of the program */
static void memory(int fd)
{
	uint32_t id;
	void *addr;
	size_t size;

	tap_is(doca_verbs_pd_as_doca_dev(t.pd, &x.dev), DOCA_SUCCESS, "a device for the PD");
	if (fd < 0)
		umem_of_memory();
	else
		umem_of_dmabuf(fd);
	ok(doca_umem_get_address(x.umem, &addr) == DOCA_SUCCESS && addr == x.mem &&
	   doca_umem_get_size(x.umem, &size) == DOCA_SUCCESS && size == PAGES * x.page &&
	   doca_umem_get_id(x.umem, &id) == DOCA_SUCCESS, "its address, size and number");
	tap_is(doca_uar_create(x.dev, DOCA_UAR_ALLOCATION_TYPE_NONCACHE, &x.uar), DOCA_SUCCESS,
	       "a UAR");
	ok(doca_uar_reg_addr_get(x.uar, &addr) == DOCA_SUCCESS && addr &&
	   doca_uar_id_get(x.uar, &id) == DOCA_SUCCESS, "its register and number");
	tap_is(doca_uar_dbr_less_addr_get(x.uar, &addr), DOCA_ERROR_NOT_SUPPORTED,
	       "no register for queues without record");
	tap_is(doca_umem_gpu_create((struct doca_gpu *)(void *)x.mem, x.dev, x.mem, x.page, 0,
				    &x.umem), DOCA_ERROR_NOT_SUPPORTED, "no memory of a GPU");
}

static void create_cq(void)
{
	struct doca_verbs_cq_attr *attr;
	uint32_t n, *ci, *arm, i;
	uint64_t *reg;
	uint8_t size;
	void *buf;

	for (i = 0; i < CQ_ENTRIES; i++)
		x.mem[i * 64 + 63] = 0xff;
	NEED(doca_verbs_cq_attr_create(&attr));
	NEED(doca_verbs_cq_attr_set_cq_size(attr, CQ_ENTRIES));
	NEED(doca_verbs_cq_attr_set_cq_overrun(attr, DOCA_VERBS_CQ_ENABLE_OVERRUN));
	NEED(doca_verbs_cq_attr_set_external_datapath_en(attr, 1));
	NEED(doca_verbs_cq_attr_set_external_umem(attr, x.umem, 0));
	NEED(doca_verbs_cq_attr_set_external_uar(attr, x.uar));
	tap_is(doca_verbs_cq_create(t.ctx, attr, &x.cq), DOCA_SUCCESS, "a CQ in the UMEM");
	NEED(doca_verbs_cq_attr_destroy(attr));
	doca_verbs_cq_get_wq(x.cq, &buf, &n, &size);
	ok(buf == x.mem && n == CQ_ENTRIES && size == 64, "its ring");
	doca_verbs_cq_get_dbr_addr(x.cq, &reg, &ci, &arm);
	ok((uint8_t *)ci == x.mem + (size_t)CQ_ENTRIES * 64 && arm == ci + 1 && reg,
	   "its record is behind the ring");
}

static void create_qp(void)
{
	struct doca_verbs_qp_init_attr *attr = qp_attrs(x.cq, DOCA_VERBS_QP_TYPE_RC);
	uint32_t sends, receives, stride;
	void *sq, *rq, *reg;

	NEED(doca_verbs_qp_init_attr_set_external_datapath_en(attr, 1));
	NEED(doca_verbs_qp_init_attr_set_external_umem(attr, x.umem, at(2)));
	tap_is(doca_verbs_qp_create(t.ctx, attr, &x.qp), DOCA_ERROR_INVALID_VALUE,
	       "a UMEM for the rings only");
	NEED(doca_verbs_qp_init_attr_set_external_dbr_umem(attr, x.umem, at(3)));
	NEED(doca_verbs_qp_init_attr_set_external_uar(attr, x.uar));
	x.qp = make_qp(attr);
	doca_verbs_qp_get_wq(x.qp, &sq, &sends, &rq, &receives, &stride);
	ok((uint8_t *)sq >= x.mem + at(2) && (uint8_t *)sq < x.mem + at(3) && sends >= 16 &&
	   (uint8_t *)rq >= x.mem + at(2) && receives >= 16 && stride >= 16, "its rings");
	ok(doca_verbs_qp_get_dbr_addr(x.qp) == x.mem + at(3), "its record");
	NEED(doca_uar_reg_addr_get(x.uar, &reg));
	ok(doca_verbs_qp_get_uar_addr(x.qp) == reg, "its register");
}

/* A write of the first part to a part of the peer, in the entry number pi */
static void write_by_hand(uint32_t pi, int remote)
{
	uint32_t sends, receives, stride, qpn = doca_verbs_qp_get_qpn(x.qp);
	volatile uint32_t *record = doca_verbs_qp_get_dbr_addr(x.qp);
	volatile uint64_t *reg = doca_verbs_qp_get_uar_addr(x.qp);
	uint32_t *wqe;
	void *sq, *rq;

	doca_verbs_qp_get_wq(x.qp, &sq, &sends, &rq, &receives, &stride);
	wqe = (uint32_t *)((char *)sq + (size_t)(pi & (sends - 1)) * 64);
	memset(wqe, 0, 64);
	wqe[0] = htobe32((pi & 0xffff) << 8 | MLX5R_OP_RDMA_WRITE);
	wqe[1] = htobe32(qpn << 8 | 3);
	wqe[2] = htobe32(8);		/* a completion always */
	*(uint64_t *)(void *)&wqe[4] = htobe64((uintptr_t)t.buf[remote]);
	wqe[6] = htobe32(t.mr->rkey);
	wqe[8] = htobe32(LEN);
	wqe[9] = htobe32(t.mr->lkey);
	*(uint64_t *)(void *)&wqe[10] = htobe64((uintptr_t)t.buf[0]);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	record[MLX5R_DBR_SND] = htobe32(pi + 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*reg = *(uint64_t *)(void *)wqe;
}

/* The opcode of the next completion, or -1 after 10 seconds */
static int next_opcode(void)
{
	volatile uint8_t *op_own = x.mem + (size_t)(x.ci & (CQ_ENTRIES - 1)) * 64 + 63;
	time_t end = time(NULL) + 10;
	uint64_t *reg;
	uint32_t *ci, *arm;

	while (time(NULL) <= end) {
		if (*op_own >> 4 == 0xf || (*op_own & 1) != !!(x.ci & CQ_ENTRIES))
			continue;
		doca_verbs_cq_get_dbr_addr(x.cq, &reg, &ci, &arm);
		*ci = htobe32(++x.ci & 0xffffff);
		return *op_own >> 4;
	}
	return -1;
}

/* More requests than the rings have entries */
static void writes(void)
{
	uint32_t i;

	for (i = 0; i < 100; i++) {
		fill(0, i);
		memset(t.buf[1], 0, LEN);
		write_by_hand(i, 1);
		if (next_opcode() || !same(0, 1))
			break;
	}
	tap_is(i, 100, "writes by hand with the right data");
}

static void destroy_all(void)
{
	tap_is(doca_umem_destroy(x.umem), DOCA_ERROR_IN_USE, "queues use the UMEM");
	tap_is(doca_uar_destroy(x.uar), DOCA_ERROR_IN_USE, "queues use the UAR");
	tap_is(doca_dev_close(x.dev), DOCA_ERROR_IN_USE, "UMEM and UAR use the device");
	tap_is(doca_verbs_qp_destroy(x.qp), DOCA_SUCCESS, "the QP is destroyed");
	tap_is(doca_verbs_cq_destroy(x.cq), DOCA_SUCCESS, "the CQ is destroyed");
	tap_is(doca_umem_destroy(x.umem), DOCA_SUCCESS, "the UMEM is destroyed");
	tap_is(doca_uar_destroy(x.uar), DOCA_SUCCESS, "the UAR is destroyed");
	tap_is(doca_verbs_pd_destroy(t.pd), DOCA_ERROR_IN_USE, "the device uses the PD");
	tap_is(doca_dev_close(x.dev), DOCA_SUCCESS, "the device is closed");
	munmap(x.mem, PAGES * x.page);
}

static void test_rings(int fd)
{
	struct doca_verbs_cq *cq = make_cq(NULL);
	struct doca_verbs_qp *peer;

	x.ci = 0;
	memory(fd);
	create_cq();
	create_qp();
	peer = make_qp(qp_attrs(cq, DOCA_VERBS_QP_TYPE_RC));
	connect_both(x.qp, peer, MASK_RTS);
	writes();
	NEED(doca_verbs_qp_destroy(peer));
	NEED(doca_verbs_cq_destroy(cq));
	destroy_all();
}

static void test_dmabuf(void)
{
	int fd = dmabuf_make(PAGES * x.page, &x.mem);

	if (fd < 0) {
		ok(1, "rings in a dma-buf # SKIP no driver exports one: no udmabuf and no vgem");
		return;
	}
	test_rings(fd);
	close(fd);
}

int main(void)
{
	x.page = (size_t)sysconf(_SC_PAGESIZE);
	setup();
	test_rings(-1);
	test_dmabuf();
	teardown();
	return tap_done();
}
