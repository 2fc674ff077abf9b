// SPDX-License-Identifier: GPL-2.0
/*
 * DOCA Verbs: messages between two queue pairs, the states of a queue pair, and requests that wait.
 */
#include "verbs.h"

static struct doca_verbs_cq *cq[2];
static struct doca_verbs_qp *qp[2];

static void pair_create(uint32_t type)
{
	int i;

	for (i = 0; i < 2; i++) {
		cq[i] = make_cq(NULL);
		qp[i] = make_qp(qp_attrs(cq[i], type));
	}
}

static void pair_destroy(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		tap_is(doca_verbs_cq_destroy(cq[i]), DOCA_ERROR_IN_USE, "a QP uses CQ %d", i);
		tap_is(doca_verbs_qp_destroy(qp[i]), DOCA_SUCCESS, "QP %d is destroyed", i);
		tap_is(doca_verbs_cq_destroy(cq[i]), DOCA_SUCCESS, "CQ %d is destroyed", i);
	}
}

static void send_receive(const char *type)
{
	fill(0, 1);
	memset(t.buf[1], 0, LEN);
	tap_is(post_recv(qp[1], 1), 0, "%s: post a receive", type);
	tap_is(post_send(qp[0], IBV_WR_SEND, 0, 0), 0, "%s: post a send", type);
	ok(completes(cq[0], 100, IBV_WC_SEND), "%s: the send completes", type);
	ok(completes(cq[1], 201, IBV_WC_RECV), "%s: the receive completes", type);
	ok(same(0, 1), "%s: the data is that of the sender", type);
}

static void write_data(const char *type)
{
	fill(0, 2);
	memset(t.buf[2], 0, LEN);
	tap_is(post_send(qp[0], IBV_WR_RDMA_WRITE, 0, 2), 0, "%s: post a write", type);
	ok(completes(cq[0], 100, IBV_WC_RDMA_WRITE), "%s: the write completes", type);
	/* A write of UC completes when it is sent. */
	for (int i = 0; i < 1000 && !same(0, 2); i++)
		usleep(1000);
	ok(same(0, 2), "%s: the data is written", type);
}

static void read_data(void)
{
	fill(2, 3);
	tap_is(post_send(qp[0], IBV_WR_RDMA_READ, 1, 2), 0, "RC: post a read");
	ok(completes(cq[0], 101, IBV_WC_RDMA_READ), "RC: the read completes");
	ok(same(1, 2), "RC: the data is read");
}

static void atomic(void)
{
	struct ibv_sge sge = { (uintptr_t)t.buf[1], 8, t.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 5, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)t.buf[2], .compare_add = 40,
			       .rkey = t.mr->rkey },
	}, *bad;
	uint64_t value = 2;

	memcpy(t.buf[2], &value, 8);
	tap_is(doca_verbs_bridge_post_send(qp[0], &wr, &bad), 0, "RC: post an addition");
	ok(completes(cq[0], 5, IBV_WC_FETCH_ADD), "RC: the addition completes");
	memcpy(&value, t.buf[2], 8);
	tap_is(value, 42, "RC: the sum");
	memcpy(&value, t.buf[1], 8);
	tap_is(value, 2, "RC: the value before");
}

static void list_stops(void)
{
	struct ibv_sge sge = part_sge(0);
	struct ibv_send_wr second = { .wr_id = 2, .sg_list = &sge, .num_sge = 1,
				      .opcode = (enum ibv_wr_opcode)77 };
	struct ibv_send_wr first = { .wr_id = 1, .next = &second, .sg_list = &sge, .num_sge = 1,
				     .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
				     .wr.rdma = { (uintptr_t)t.buf[2], t.mr->rkey } };
	struct ibv_send_wr *bad = NULL;

	tap_is(doca_verbs_bridge_post_send(qp[0], &first, &bad), EINVAL, "an unknown opcode");
	ok(bad == &second, "the request that was refused");
	ok(completes(cq[0], 1, IBV_WC_RDMA_WRITE), "the request before it was posted");
}

static void query(void)
{
	struct doca_verbs_qp_init_attr *init;
	struct doca_verbs_qp_attr *attr;
	struct doca_verbs_ah_attr *ah;
	struct doca_verbs_gid gid;
	int mask = 0;

	NEED(doca_verbs_qp_init_attr_create(&init));
	NEED(doca_verbs_qp_attr_create(&attr));
	tap_is(doca_verbs_qp_query(qp[0], attr, init, &mask), DOCA_SUCCESS, "query");
	tap_is(mask, (1 << 18) - 1, "all attributes are valid");
	tap_is(doca_verbs_qp_attr_get_current_state(attr), DOCA_VERBS_QP_STATE_RTS, "the state");
	tap_is(doca_verbs_qp_attr_get_path_mtu(attr), DOCA_MTU_SIZE_1K_BYTES, "the MTU");
	tap_is(doca_verbs_qp_attr_get_dest_qp_num(attr), doca_verbs_qp_get_qpn(qp[1]),
	       "the number of the peer");
	tap_is(doca_verbs_qp_attr_get_ack_timeout(attr), 14, "the timeout");
	tap_is(doca_verbs_qp_attr_get_retry_cnt(attr), 7, "the retries");
	tap_is(doca_verbs_qp_attr_get_port_num(attr), 1, "the port");
	tap_is(doca_verbs_qp_attr_get_allow_remote_read(attr), 1, "reads are allowed");
	tap_is(doca_verbs_qp_attr_get_atomic_mode(attr), DOCA_VERBS_QP_ATOMIC_MODE_IB_SPEC,
	       "atomics are allowed");
	ok(doca_verbs_qp_attr_get_max_rd_atomic(attr) > 0, "reads in flight by default");
	ah = doca_verbs_qp_attr_get_ah_attr(attr);
	gid = doca_verbs_ah_get_gid(ah);
	if (t.port.link_layer == IBV_LINK_LAYER_INFINIBAND)
		ok(doca_verbs_ah_get_addr_type(ah) == DOCA_VERBS_ADDR_TYPE_IB_NO_GRH &&
		   doca_verbs_ah_get_dlid(ah) == t.port.lid, "the LID of the peer");
	else
		ok(doca_verbs_ah_get_addr_type(ah) == DOCA_VERBS_ADDR_TYPE_IPv4 &&
		   !memcmp(gid.raw, t.gid.raw, 16), "the GID of the peer");
	ok(doca_verbs_qp_init_attr_get_sq_wr(init) >= 16 &&
	   doca_verbs_qp_init_attr_get_rq_wr(init) >= 16, "the sizes");
	ok(doca_verbs_qp_init_attr_get_pd(init) == t.pd, "the PD");
	NEED(doca_verbs_qp_attr_destroy(attr));
	NEED(doca_verbs_qp_init_attr_destroy(init));
}

static doca_error_t modify(struct doca_verbs_qp_attr *attr, enum doca_verbs_qp_state state,
			   int mask)
{
	NEED(doca_verbs_qp_attr_set_next_state(attr, state));
	return doca_verbs_qp_modify(qp[0], attr, mask);
}

static void wrong_states(void)
{
	struct doca_verbs_ah_attr *ah = make_ah();
	struct doca_verbs_qp_attr *attr, *empty;

	pair_create(DOCA_VERBS_QP_TYPE_RC);
	attr = connect_attrs(ah, doca_verbs_qp_get_qpn(qp[1]));
	NEED(doca_verbs_qp_attr_create(&empty));
	ok(post_send(qp[0], IBV_WR_SEND, 0, 0) != 0, "no sends in RST");
	ok(post_recv(qp[0], 0) != 0, "no receives in RST");
	tap_is(modify(attr, DOCA_VERBS_QP_STATE_RTS, MASK_RTS), DOCA_ERROR_INVALID_VALUE,
	       "from RST to RTS");
	tap_is(modify(attr, DOCA_VERBS_QP_STATE_INIT, DOCA_VERBS_QP_ATTR_NEXT_STATE),
	       DOCA_ERROR_INVALID_VALUE, "to INIT without a port");
	tap_is(modify(attr, DOCA_VERBS_QP_STATE_INIT, MASK_INIT), DOCA_SUCCESS, "to INIT");
	tap_is(post_recv(qp[0], 0), 0, "receives in INIT");
	tap_is(modify(empty, DOCA_VERBS_QP_STATE_RTR, MASK_RTR), DOCA_ERROR_INVALID_VALUE,
	       "to RTR without an address");
	tap_is(modify(attr, DOCA_VERBS_QP_STATE_RTR, MASK_RTR), DOCA_SUCCESS, "to RTR");
	ok(post_send(qp[0], IBV_WR_SEND, 0, 0) != 0, "no sends in RTR");
	tap_is(modify(attr, DOCA_VERBS_QP_STATE_RTS, MASK_RTS), DOCA_SUCCESS, "to RTS");
	tap_is(modify(attr, DOCA_VERBS_QP_STATE_ERR, DOCA_VERBS_QP_ATTR_NEXT_STATE), DOCA_SUCCESS,
	       "to ERR");
	tap_is(modify(attr, DOCA_VERBS_QP_STATE_RST, DOCA_VERBS_QP_ATTR_NEXT_STATE), DOCA_SUCCESS,
	       "to RST");
	tap_is(doca_verbs_qp_modify(qp[0], attr, 0), DOCA_ERROR_INVALID_VALUE, "no attribute");
	tap_is(doca_verbs_qp_modify(qp[0], attr, 1 << 18), DOCA_ERROR_INVALID_VALUE,
	       "an unknown attribute");
	NEED(doca_verbs_qp_attr_set_atomic_mode(attr, DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_16BYTES));
	tap_is(modify(attr, DOCA_VERBS_QP_STATE_INIT, MASK_INIT), DOCA_ERROR_NOT_SUPPORTED,
	       "atomics of 16 bytes");
	NEED(doca_verbs_ah_attr_destroy(ah));
	NEED(doca_verbs_qp_attr_destroy(attr));
	NEED(doca_verbs_qp_attr_destroy(empty));
	pair_destroy();
}

/* Queue pairs that cannot be created */
static void refused(void)
{
	struct doca_verbs_cq *one = make_cq(NULL);
	struct doca_verbs_qp_init_attr *attr = qp_attrs(one, DOCA_VERBS_QP_TYPE_RC), *empty;
	struct doca_verbs_qp *none;

	NEED(doca_verbs_qp_init_attr_create(&empty));
	tap_is(doca_verbs_qp_create(t.ctx, empty, &none), DOCA_ERROR_INVALID_VALUE, "without PD");
	NEED(doca_verbs_qp_init_attr_destroy(empty));
	NEED(doca_verbs_qp_init_attr_set_user_index(attr, 5));
	tap_is(doca_verbs_qp_create(t.ctx, attr, &none), DOCA_ERROR_NOT_SUPPORTED,
	       "with a user index");
	NEED(doca_verbs_qp_init_attr_set_user_index(attr, 0));
	NEED(doca_verbs_qp_init_attr_set_send_dbr_mode(attr,
						       DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_EXT));
	tap_is(doca_verbs_qp_create(t.ctx, attr, &none), DOCA_ERROR_NOT_SUPPORTED,
	       "without doorbell record");
	NEED(doca_verbs_qp_init_attr_set_send_dbr_mode(attr,
						       DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID));
	NEED(doca_verbs_qp_init_attr_set_sq_wr(attr, 1 << 30));
	tap_is(doca_verbs_qp_create(t.ctx, attr, &none), DOCA_ERROR_INVALID_VALUE,
	       "too many sends");
	NEED(doca_verbs_qp_init_attr_destroy(attr));
	NEED(doca_verbs_cq_destroy(one));
}

static int post_wait(uint32_t index)
{
	struct ibv_sge sge = part_sge(1);
	struct ibv_send_wr send = { .wr_id = 8, .sg_list = &sge, .num_sge = 1,
				    .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr wait = { 0 }, *bad = NULL;

	NEED(doca_verbs_bridge_set_wait_cq_pi_wr(cq[1], index, &wait));
	wait.wr_id = 7;
	wait.next = &send;
	wait.send_flags = IBV_SEND_SIGNALED;
	return doca_verbs_bridge_post_send(qp[1], &wait, &bad);
}

/* One queue pair only sends, the other only receives. */
static void one_way(void)
{
	struct doca_verbs_qp_init_attr *attr[2];
	uint32_t n[2], size;
	void *buf[2];
	int i;

	for (i = 0; i < 2; i++) {
		cq[i] = make_cq(NULL);
		NEED(doca_verbs_qp_init_attr_create(&attr[i]));
		NEED(doca_verbs_qp_init_attr_set_pd(attr[i], t.pd));
	}
	NEED(doca_verbs_qp_init_attr_set_sq_wr(attr[0], 4));
	NEED(doca_verbs_qp_init_attr_set_send_max_sges(attr[0], 1));
	tap_is(doca_verbs_qp_create(t.ctx, attr[0], &qp[0]), DOCA_ERROR_INVALID_VALUE,
	       "sends without CQ");
	NEED(doca_verbs_qp_init_attr_set_send_cq(attr[0], cq[0]));
	NEED(doca_verbs_qp_init_attr_set_rq_wr(attr[1], 4));
	NEED(doca_verbs_qp_init_attr_set_receive_max_sges(attr[1], 1));
	NEED(doca_verbs_qp_init_attr_set_receive_cq(attr[1], cq[1]));
	for (i = 0; i < 2; i++)
		qp[i] = make_qp(attr[i]);
	doca_verbs_qp_get_wq(qp[0], &buf[0], &n[0], &buf[1], &n[1], &size);
	ok(buf[0] && n[0] && !buf[1] && !n[1], "the first has no receive queue");
	doca_verbs_qp_get_wq(qp[1], &buf[0], &n[0], &buf[1], &n[1], &size);
	ok(!buf[0] && !n[0] && buf[1] && n[1], "the second has no send queue");
	connect_both(qp[0], qp[1], MASK_RTS);
	send_receive("one way");
	pair_destroy();
}

/*
 * Queue pair 0 sends to 1, which sends the data back as soon as the message is there.  Both are
 * posted before.
 */
static void wait_cq(void)
{
	struct ibv_wc wc;

	fill(0, 4);
	memset(t.buf[1], 0, LEN);
	memset(t.buf[3], 0, LEN);
	post_recv(qp[1], 1);
	post_recv(qp[0], 3);
	tap_is(post_wait(doca_verbs_bridge_get_current_cq_ci(cq[1])), 0, "a wait and a send");
	usleep(20000);
	tap_is(doca_verbs_bridge_poll_cq(cq[1], 1, &wc), 0, "nothing is sent yet");
	post_send(qp[0], IBV_WR_SEND, 0, 0);
	ok(completes(cq[1], 201, IBV_WC_RECV), "the message");
	ok(completes(cq[1], 7, IBV_WC_DRIVER1), "the wait completes");
	ok(completes(cq[1], 8, IBV_WC_SEND), "the send behind it completes");
	ok(completes(cq[0], 100, IBV_WC_SEND), "the first send completes");
	ok(completes(cq[0], 203, IBV_WC_RECV), "the answer");
	ok(same(0, 3), "the answer has the data of the message");
}

static void device(void)
{
	struct doca_verbs_device_attr *attr;

	tap_is(doca_verbs_query_device(t.ctx, &attr), DOCA_SUCCESS, "query the device");
	ok(doca_verbs_device_attr_get_max_qp(attr) && doca_verbs_device_attr_get_max_qp_wr(attr) &&
	   doca_verbs_device_attr_get_max_sge(attr) && doca_verbs_device_attr_get_max_cq(attr) &&
	   doca_verbs_device_attr_get_max_cqe(attr) && doca_verbs_device_attr_get_max_mr(attr) &&
	   doca_verbs_device_attr_get_max_pd(attr) && doca_verbs_device_attr_get_max_srq(attr) &&
	   doca_verbs_device_attr_get_max_srq_wr(attr) &&
	   doca_verbs_device_attr_get_max_srq_sge(attr) &&
	   doca_verbs_device_attr_get_max_pkeys(attr) &&
	   doca_verbs_device_attr_get_max_qp_rd_atom(attr) &&
	   doca_verbs_device_attr_get_max_qp_init_rd_atom(attr), "its limits");
	tap_is(doca_verbs_device_attr_get_is_qp_type_supported(attr, DOCA_VERBS_QP_TYPE_RC),
	       DOCA_SUCCESS, "RC");
	tap_is(doca_verbs_device_attr_get_is_qp_type_supported(attr, 7), DOCA_ERROR_NOT_SUPPORTED,
	       "no type 7");
	tap_is(doca_verbs_device_attr_get_is_send_dbr_mode_supported(
		attr, DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_EXT), DOCA_ERROR_NOT_SUPPORTED,
	       "a doorbell record is necessary");
	tap_is(doca_verbs_device_attr_free(attr), DOCA_SUCCESS, "free the attributes");
}

int main(void)
{
	setup();
	device();
	refused();
	wrong_states();
	pair_create(DOCA_VERBS_QP_TYPE_RC);
	connect_both(qp[0], qp[1], MASK_RTS);
	query();
	send_receive("RC");
	write_data("RC");
	read_data();
	atomic();
	list_stops();
	wait_cq();
	tap_is(doca_verbs_pd_destroy(t.pd), DOCA_ERROR_IN_USE, "queue pairs use the PD");
	tap_is(doca_verbs_context_destroy(t.ctx), DOCA_ERROR_IN_USE, "objects use the context");
	pair_destroy();
	one_way();
	pair_create(DOCA_VERBS_QP_TYPE_UC);
	connect_both(qp[0], qp[1], MASK_RTS_UC);
	send_receive("UC");
	write_data("UC");
	pair_destroy();
	tap_is(doca_verbs_pd_destroy(t.pd), DOCA_ERROR_IN_USE, "memory uses the PD");
	teardown();
	return tap_done();
}
