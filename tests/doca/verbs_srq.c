// SPDX-License-Identifier: GPL-2.0
/*
 * DOCA Verbs: shared receive queues of both types.
 */
#include <endian.h>
#include <sys/mman.h>
#include <rdma/mlx5_ring.h>
#include "verbs.h"

/* ---- A linked list ----------------------------------------------------------------------- */

static struct doca_verbs_srq_init_attr *srq_attrs(enum doca_verbs_srq_type type)
{
	struct doca_verbs_srq_init_attr *attr;

	NEED(doca_verbs_srq_init_attr_create(&attr));
	NEED(doca_verbs_srq_init_attr_set_pd(attr, t.pd));
	NEED(doca_verbs_srq_init_attr_set_srq_wr(attr, 15));
	NEED(doca_verbs_srq_init_attr_set_receive_max_sges(attr, 1));
	NEED(doca_verbs_srq_init_attr_set_type(attr, type));
	return attr;
}

static int post_srq(struct doca_verbs_srq *srq, int into)
{
	struct ibv_sge sge = part_sge(into);
	struct ibv_recv_wr wr = { .wr_id = 300 + (uint64_t)into, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;

	return doca_verbs_bridge_post_srq_recv(srq, &wr, &bad);
}

/* Two queue pairs receive from one queue. */
static void messages(struct doca_verbs_srq *srq)
{
	struct doca_verbs_cq *cq = make_cq(NULL), *receive_cq = make_cq(NULL);
	struct doca_verbs_qp *from[2], *to[2];
	struct doca_verbs_qp_init_attr *attr;
	int i;

	for (i = 0; i < 2; i++) {
		from[i] = make_qp(qp_attrs(cq, DOCA_VERBS_QP_TYPE_RC));
		attr = qp_attrs(receive_cq, DOCA_VERBS_QP_TYPE_RC);
		NEED(doca_verbs_qp_init_attr_set_srq(attr, srq));
		to[i] = make_qp(attr);
		connect_both(from[i], to[i], MASK_RTS);
	}
	tap_is(doca_verbs_srq_destroy(srq), DOCA_ERROR_IN_USE, "queue pairs use the SRQ");
	for (i = 0; i < 40; i++) {
		fill(0, (uint32_t)i);
		memset(t.buf[1 + i % 3], 0, LEN);
		if (post_srq(srq, 1 + i % 3) || post_send(from[i % 2], IBV_WR_SEND, 0, 0) ||
		    !completes(receive_cq, 300 + 1 + (uint64_t)i % 3, IBV_WC_RECV) ||
		    !completes(cq, 100, IBV_WC_SEND) || !same(0, 1 + i % 3))
			break;
	}
	tap_is(i, 40, "messages to two queue pairs with the right data");
	for (i = 0; i < 2; i++) {
		NEED(doca_verbs_qp_destroy(from[i]));
		NEED(doca_verbs_qp_destroy(to[i]));
	}
	NEED(doca_verbs_cq_destroy(cq));
	NEED(doca_verbs_cq_destroy(receive_cq));
}

static void linked_list(void)
{
	struct doca_verbs_srq_init_attr *attr = srq_attrs(DOCA_VERBS_SRQ_TYPE_LINKED_LIST);
	struct doca_verbs_srq_init_attr *actual;
	struct doca_verbs_srq *srq;
	uint32_t n, size;
	void *buf = NULL;

	tap_is(doca_verbs_srq_create(t.ctx, attr, &srq), DOCA_SUCCESS, "a linked list");
	NEED(doca_verbs_srq_init_attr_create(&actual));
	tap_is(doca_verbs_srq_query(srq, actual), DOCA_SUCCESS, "query it");
	ok(doca_verbs_srq_init_attr_get_srq_wr(actual) >= 15, "the actual size is %u",
	   doca_verbs_srq_init_attr_get_srq_wr(actual));
	ok(doca_verbs_srq_init_attr_get_pd(actual) == t.pd, "the PD");
	doca_verbs_srq_get_wq(srq, &buf, &n, &size);
	ok(buf && n >= 16 && size >= 32 && doca_verbs_srq_get_dbr_addr(srq) &&
	   doca_verbs_srq_get_srqn(srq), "ring, record and number");
	messages(srq);
	tap_is(doca_verbs_srq_destroy(srq), DOCA_SUCCESS, "it is destroyed");
	NEED(doca_verbs_srq_init_attr_destroy(attr));
	NEED(doca_verbs_srq_init_attr_destroy(actual));
}

/* ---- Contiguous, in memory of the program ------------------------------------------------ */

/* Receive number pi, for a part of the memory */
static void receive_by_hand(struct doca_verbs_srq *srq, uint32_t pi, int into)
{
	volatile uint32_t *record = doca_verbs_srq_get_dbr_addr(srq);
	struct mlx5r_data *data;
	uint32_t n, size;
	void *buf;

	doca_verbs_srq_get_wq(srq, &buf, &n, &size);
	data = (struct mlx5r_data *)((char *)buf + (size_t)(pi & (n - 1)) * size);
	data[0] = (struct mlx5r_data) {
		.byte_count = htobe32(LEN),
		.lkey = htobe32(t.mr->lkey),
		.addr = htobe64((uintptr_t)t.buf[into]),
	};
	if (size > sizeof(*data))
		data[1] = (struct mlx5r_data) { .lkey = htobe32(MLX5R_LKEY_END) };
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	record[MLX5R_DBR_RCV] = htobe32(pi + 1);
}

/* More messages than the ring has entries */
static void messages_by_hand(struct doca_verbs_srq *srq)
{
	struct doca_verbs_cq *cq = make_cq(NULL), *receive_cq = make_cq(NULL);
	struct doca_verbs_qp_init_attr *attr = qp_attrs(receive_cq, DOCA_VERBS_QP_TYPE_RC);
	struct doca_verbs_qp *from = make_qp(qp_attrs(cq, DOCA_VERBS_QP_TYPE_RC)), *to;
	struct ibv_wc wc;
	uint32_t i;

	NEED(doca_verbs_qp_init_attr_set_srq(attr, srq));
	to = make_qp(attr);
	connect_both(from, to, MASK_RTS);
	for (i = 0; i < 40; i++) {
		fill(0, i);
		receive_by_hand(srq, i, 1 + (int)i % 3);
		if (post_send(from, IBV_WR_SEND, 0, 0) || !poll_one(receive_cq, &wc) ||
		    wc.status != IBV_WC_SUCCESS || wc.byte_len != LEN ||
		    !completes(cq, 100, IBV_WC_SEND) || !same(0, 1 + (int)i % 3))
			break;
	}
	tap_is(i, 40, "messages to receives by hand, with the right data");
	NEED(doca_verbs_qp_destroy(from));
	NEED(doca_verbs_qp_destroy(to));
	NEED(doca_verbs_cq_destroy(cq));
	NEED(doca_verbs_cq_destroy(receive_cq));
}

static void contiguous(void)
{
	struct doca_verbs_srq_init_attr *attr = srq_attrs(DOCA_VERBS_SRQ_TYPE_CONTIGUOUS);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct doca_umem *umem;
	struct doca_verbs_srq *srq;
	struct doca_dev *dev;
	uint32_t n, size;
	void *mem, *buf;

	tap_is(doca_verbs_srq_create(t.ctx, attr, &srq), DOCA_ERROR_NOT_SUPPORTED,
	       "a contiguous one without external data path");
	mem = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(doca_verbs_pd_as_doca_dev(t.pd, &dev));
	NEED(doca_umem_create(dev, mem, 2 * page, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &umem));
	NEED(doca_verbs_srq_init_attr_set_external_datapath_en(attr, 1));
	NEED(doca_verbs_srq_init_attr_set_external_umem(attr, umem, 0));
	tap_is(doca_verbs_srq_create(t.ctx, attr, &srq), DOCA_ERROR_INVALID_VALUE,
	       "a UMEM for the ring only");
	NEED(doca_verbs_srq_init_attr_set_external_dbr_umem(attr, umem, page));
	tap_is(doca_verbs_srq_create(t.ctx, attr, &srq), DOCA_SUCCESS, "a contiguous one");
	doca_verbs_srq_get_wq(srq, &buf, &n, &size);
	ok(buf == mem && doca_verbs_srq_get_dbr_addr(srq) == (char *)mem + page,
	   "ring and record are where they were wanted");
	tap_is(doca_umem_destroy(umem), DOCA_ERROR_IN_USE, "the queue uses the UMEM");
	messages_by_hand(srq);
	tap_is(doca_verbs_srq_destroy(srq), DOCA_SUCCESS, "it is destroyed");
	NEED(doca_verbs_srq_init_attr_destroy(attr));
	NEED(doca_umem_destroy(umem));
	NEED(doca_dev_close(dev));
	munmap(mem, 2 * page);
}

int main(void)
{
	setup();
	linked_list();
	contiguous();
	teardown();
	return tap_done();
}
