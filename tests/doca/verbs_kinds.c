// SPDX-License-Identifier: GPL-2.0
/*
 * DOCA Verbs: completions of 64 and 128 bytes, with and without data in them, completions that
 * share one entry, and all kinds of addresses of the port.
 */
#include <xverbs/xverbs.h>
#include "verbs.h"

enum { CQE = 64, OP_OWN = 63 };	/* size of a CQE, and offset of its last byte */

static struct doca_verbs_cq *cq[2];
static struct doca_verbs_qp *qp[2];

static struct doca_verbs_cq *cq_of_size(enum doca_verbs_cq_entry_size size)
{
	struct doca_verbs_cq_attr *attr;
	struct doca_verbs_cq *one;

	NEED(doca_verbs_cq_attr_create(&attr));
	NEED(doca_verbs_cq_attr_set_cq_size(attr, 16));
	NEED(doca_verbs_cq_attr_set_entry_size(attr, size));
	NEED(doca_verbs_cq_create(t.ctx, attr, &one));
	NEED(doca_verbs_cq_attr_destroy(attr));
	return one;
}

static void create(enum doca_verbs_cq_entry_size size, bool in_cqe)
{
	struct doca_verbs_qp_init_attr *attr;
	int i;

	for (i = 0; i < 2; i++) {
		cq[i] = cq_of_size(size);
		attr = qp_attrs(cq[i], DOCA_VERBS_QP_TYPE_RC);
		NEED(doca_verbs_qp_init_attr_set_cqe_inline(attr, in_cqe));
		qp[i] = make_qp(attr);
	}
}

static void destroy(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		NEED(doca_verbs_qp_destroy(qp[i]));
		NEED(doca_verbs_cq_destroy(cq[i]));
	}
}

/* Sends len bytes from the first queue pair to the second one. */
static void message(const char *what, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)t.buf[0], len, t.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;

	fill(0, len);
	memset(t.buf[1], 0, LEN);
	tap_is(post_recv(qp[1], 1), 0, "%s: post a receive", what);
	tap_is(doca_verbs_bridge_post_send(qp[0], &wr, &bad), 0, "%s: post a send", what);
	ok(completes(cq[0], 1, IBV_WC_SEND), "%s: the send completes", what);
	ok(poll_one(cq[1], &wc) && wc.status == IBV_WC_SUCCESS && wc.byte_len == len,
	   "%s: the receive completes", what);
	ok(!memcmp(t.buf[0], t.buf[1], len) && !t.buf[1][len], "%s: the data is right", what);
}

/* The bits of CQE i that say whether it has data */
static unsigned int format_of(struct doca_verbs_cq *one, uint32_t i)
{
	uint32_t entries;
	uint8_t size;
	void *buf;

	doca_verbs_cq_get_wq(one, &buf, &entries, &size);
	return ((uint8_t *)buf)[(i + 1) * size - CQE + OP_OWN] & MLX5R_CQE_FORMAT_MASK;
}

static void test_cqes(void)
{
	static const struct {
		const char *name;
		enum doca_verbs_cq_entry_size size;
		bool in_cqe;
		uint32_t len;
		unsigned int format;
	} kinds[] = {
		{ "64 bytes", DOCA_VERBS_CQ_ENTRY_SIZE_64, false, 32, 0 },
		{ "128 bytes", DOCA_VERBS_CQ_ENTRY_SIZE_128, false, 64, 0 },
		{ "64 bytes, data", DOCA_VERBS_CQ_ENTRY_SIZE_64, true, 32, MLX5R_CQE_INLINE_32 },
		{ "128 bytes, data", DOCA_VERBS_CQ_ENTRY_SIZE_128, true, 64, MLX5R_CQE_INLINE_64 },
		{ "128 bytes, too many data", DOCA_VERBS_CQ_ENTRY_SIZE_128, true, 65, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		create(kinds[i].size, kinds[i].in_cqe);
		connect_both(qp[0], qp[1], MASK_RTS);
		message(kinds[i].name, kinds[i].len);
		tap_is(format_of(cq[1], 0), kinds[i].format, "%s: where the data is",
		       kinds[i].name);
		destroy();
	}
}

/* ---- Collapsed CQ ------------------------------------------------------------------------ */

static struct doca_verbs_cq *collapsed_cq(void)
{
	struct doca_verbs_cq_attr *attr;
	struct doca_verbs_cq *one;

	NEED(doca_verbs_cq_attr_create(&attr));
	NEED(doca_verbs_cq_attr_set_cq_size(attr, 16));
	NEED(doca_verbs_cq_attr_set_cq_overrun(attr, DOCA_VERBS_CQ_ENABLE_OVERRUN));
	NEED(doca_verbs_cq_attr_set_cq_collapsed(attr, 1));
	NEED(doca_verbs_cq_attr_set_external_datapath_en(attr, 1));
	NEED(doca_verbs_cq_create(t.ctx, attr, &one));
	NEED(doca_verbs_cq_attr_destroy(attr));
	return one;
}

/* Waits until the CQE is the success of request i. */
static bool completed(const volatile struct mlx5r_cqe *cqe, uint16_t i)
{
	time_t end = time(NULL) + 10;

	while (time(NULL) <= end)
		if (cqe->wqe_counter == htobe16(i) && cqe->op_own >> 4 == MLX5R_CQE_REQ)
			return true;
	return false;
}

/* As many writes as the ring of the queue pair has entries: nobody polls the CQ. */
static void test_collapsed(void)
{
	const struct mlx5r_cqe *ring;
	uint32_t entries;
	uint16_t i;
	uint8_t size;
	void *buf;

	cq[0] = collapsed_cq();
	cq[1] = make_cq(NULL);
	qp[0] = make_qp(qp_attrs(cq[0], DOCA_VERBS_QP_TYPE_RC));
	qp[1] = make_qp(qp_attrs(cq[1], DOCA_VERBS_QP_TYPE_RC));
	connect_both(qp[0], qp[1], MASK_RTS);
	doca_verbs_cq_get_wq(cq[0], &buf, &entries, &size);
	ring = buf;
	for (i = 0; i < 16; i++) {
		fill(0, i);
		if (post_send(qp[0], IBV_WR_RDMA_WRITE, 0, 1) || !completed(&ring[0], i) ||
		    !same(0, 1))
			break;
	}
	tap_is(i, 16, "collapsed: all writes complete in the first entry");
	tap_is(ring[1].op_own >> 4, MLX5R_CQE_INVALID, "collapsed: the second one is unused");
	destroy();
}

/* ---- Addresses --------------------------------------------------------------------------- */

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, 0xff };

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

/* Finds the first GID that is an IPv4 address, or the first that is none. */
static bool find_gid(bool ipv4)
{
	static const union ibv_gid none;
	int i;

	for (i = 0; i < t.port.gid_tbl_len; i++) {
		if (ibv_query_gid(t.ibv->context, 1, i, &t.gid) ||
		    !memcmp(&t.gid, &none, sizeof(none)) || is_ipv4(&t.gid) != ipv4)
			continue;
		t.gid_index = (uint8_t)i;
		return true;
	}
	return false;
}

static void connect_by(enum doca_verbs_addr_type type, int from, int to)
{
	struct doca_verbs_ah_attr *ah = make_ah();
	struct doca_verbs_qp_attr *attr;

	NEED(doca_verbs_ah_attr_set_addr_type(ah, type));
	attr = connect_attrs(ah, doca_verbs_qp_get_qpn(qp[to]));
	to_state(qp[from], attr, DOCA_VERBS_QP_STATE_INIT, MASK_INIT);
	to_state(qp[from], attr, DOCA_VERBS_QP_STATE_RTR, MASK_RTR);
	to_state(qp[from], attr, DOCA_VERBS_QP_STATE_RTS, MASK_RTS);
	NEED(doca_verbs_ah_attr_destroy(ah));
	NEED(doca_verbs_qp_attr_destroy(attr));
}

static void address(const char *name, enum doca_verbs_addr_type type)
{
	create(DOCA_VERBS_CQ_ENTRY_SIZE_64, false);
	connect_by(type, 0, 1);
	connect_by(type, 1, 0);
	message(name, LEN - 1);
	destroy();
}

static void test_addresses(void)
{
	if (t.port.link_layer == IBV_LINK_LAYER_INFINIBAND) {
		address("a LID", DOCA_VERBS_ADDR_TYPE_IB_NO_GRH);
		address("a LID and a GRH", DOCA_VERBS_ADDR_TYPE_IB_GRH);
		return;
	}
	ok(find_gid(true), "a GID of IPv4");
	address("IPv4", DOCA_VERBS_ADDR_TYPE_IPv4);
	ok(find_gid(false), "a GID of IPv6");
	address("IPv6", DOCA_VERBS_ADDR_TYPE_IPv6);
}

int main(void)
{
	setup();
	test_cqes();
	test_collapsed();
	test_addresses();
	teardown();
	return tap_done();
}
