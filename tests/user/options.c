// SPDX-License-Identifier: GPL-2.0
/*
 * Options of queues at creation and modification: sizes and their limits, completion
 * vectors, moderation, overruns, collapsed CQs, queues without locks, sq_sig_all, options for
 * connections (ECE).
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include "rig.h"

static struct rig r;
static const struct rig_opts opts = { .size = 65536, .depth = 16,
	.rc = { .timeout = 10, .retry_cnt = 2 } };
static struct xv_device_attr device;

static bool says(const char *text)
{
	if (strstr(xv_last_error(), text))
		return true;
	diag("%s", xv_last_error());
	return false;
}

/* ---- Sizes and flags --------------------------------------------------- */

static void no_cq(const struct xv_cq_init_attr *attr, int err, const char *name)
{
	struct xv_cq *cq = xv_create_cq(r.side[0].ctx, attr);

	ok(!cq && errno == err && says(name), "CQ: %s", xv_last_error());
}

static void test_cq_refusals(void)
{
	no_cq(&(struct xv_cq_init_attr) { .cqe = 0 }, EINVAL, "entries");
	no_cq(&(struct xv_cq_init_attr) { .cqe = device.max_cqe + 1 }, EINVAL, "entries");
	no_cq(&(struct xv_cq_init_attr) { .cqe = 1, .cqe_size = 32 }, EINVAL, "cqe_bytes");
	no_cq(&(struct xv_cq_init_attr) { .cqe = 1, .comp_vector = device.num_comp_vectors },
	      EINVAL, "comp_vector");
	no_cq(&(struct xv_cq_init_attr) { .cqe = 1, .flags = 1u << 31 }, EOPNOTSUPP, "flags");
}

static void no_qp(struct xv_qp_init_attr attr, int err, const char *name)
{
	struct xv_qp *qp;

	attr.send_cq = r.cq[0];
	attr.recv_cq = r.cq[0];
	qp = xv_create_qp(r.side[0].pd, &attr);
	ok(!qp && errno == err && says(name), "QP: %s", xv_last_error());
}

static void test_qp_refusals(void)
{
	struct xv_qp_init_attr rc = { .qp_type = XV_QPT_RC, .cap = { .max_send_wr = 1,
		.max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 } }, attr;

#define NO_QP(_member, _value, _err, _name)	\
	(attr = rc, attr._member = _value, no_qp(attr, _err, _name))
	NO_QP(cap.max_send_wr, 1 << 20, EINVAL, "max_send_wr");
	NO_QP(cap.max_recv_wr, 1 << 20, EINVAL, "max_recv_wr");
	NO_QP(cap.max_send_sge, 64, EINVAL, "max_send_sge");
	NO_QP(cap.max_recv_sge, 1000, EINVAL, "max_recv_sge");
	NO_QP(cap.max_inline_data, 4096, EINVAL, "max_inline_data");
	NO_QP(flags, 1u << 31, EOPNOTSUPP, "flags");
	NO_QP(qp_type, 8, EOPNOTSUPP, "type");		/* raw packets */
	rc.cap.max_recv_wr = 0;
	NO_QP(qp_type, XV_QPT_XRC_SEND, EINVAL, "recv_cq");
#undef NO_QP
}

/* Sizes are at least the requested ones; a query returns the same. */
static void test_caps(void)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC, .send_cq = r.cq[0],
		.recv_cq = r.cq[0], .cap = { 33, 17, 5, 3, 100 } };
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &attr);
	struct xv_qp_init_attr made;
	struct xv_qp_attr now;

	if (!qp)
		bail_out("%s", xv_last_error());
	ok(attr.cap.max_send_wr >= 33 && attr.cap.max_recv_wr >= 17 && attr.cap.max_send_sge >= 5 &&
	   attr.cap.max_recv_sge >= 3 && attr.cap.max_inline_data >= 100,
	   "capacities: %u sends of %u, %u receives of %u, %u bytes inline", attr.cap.max_send_wr,
	   attr.cap.max_send_sge, attr.cap.max_recv_wr, attr.cap.max_recv_sge,
	   attr.cap.max_inline_data);
	ok(!xv_query_qp(qp, &now, XV_QP_CAP, &made) &&
	   !memcmp(&now.cap, &attr.cap, sizeof(now.cap)), "query QP: same sizes");
	ok(!memcmp(&made, &attr, sizeof(made)), "query QP: attributes of creation");
	ok(qp->context == r.side[0].ctx && qp->pd == r.side[0].pd && qp->handle &&
	   r.cq[0]->context == r.side[0].ctx && !r.cq[0]->channel && r.cq[0]->handle &&
	   r.cq[0]->cqe == r.cq[0]->mask && r.cq[0]->cqe >= 32,
	   "queues have context, PD, handle and size");
	ok(!xv_destroy_qp(qp), "destroy");
}

/* The adapter supports version 1 of ECE, without any option. */
static void test_ece(void)
{
	const uint32_t version = 1u << 28, init = XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
						  XV_QP_ACCESS_FLAGS;
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC, .send_cq = r.cq[0],
		.recv_cq = r.cq[0], .cap = { 1, 1, 1, 1, 0 } };
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = 1, .ece = version | 5 }, now;
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &attr);

	if (!qp)
		bail_out("%s", xv_last_error());
	ok(!xv_query_qp(qp, &now, XV_QP_ECE, NULL) && now.ece == version,
	   "a new queue pair offers version 1 of connection options");
	ok(!xv_modify_qp(qp, &a, init | XV_QP_ECE) &&
	   !xv_query_qp(qp, &now, XV_QP_ECE, NULL) && now.ece == version,
	   "asked for two of them, it grants none");
	a.ece = 5;
	ok(!xv_modify_qp(qp, &a, XV_QP_ECE) && !xv_query_qp(qp, &now, XV_QP_ECE, NULL) && !now.ece,
	   "without a version it grants nothing");
	ok(!xv_modify_qp(qp, &a, XV_QP_PORT) && !xv_query_qp(qp, &now, XV_QP_ECE, NULL) && !now.ece,
	   "INIT to INIT without the attribute");
	a.ece = ~0u;
	ok(!xv_modify_qp(qp, &a, XV_QP_ECE) && !xv_query_qp(qp, &now, XV_QP_ECE, NULL) &&
	   now.ece == version, "of the highest version it grants version 1");
	a.qp_state = XV_QPS_RESET;
	ok(xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_ECE) == -EINVAL && says("ece"),
	   "not to RESET: %s", xv_last_error());
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE) && !xv_query_qp(qp, &now, XV_QP_ECE, NULL) &&
	   !now.ece, "after a reset there are none");
	ok(!xv_destroy_qp(qp), "destroy");
}

static void test_srq_refusals(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 1u << 24, .max_sge = 1 } };
	struct xv_srq *srq = xv_create_srq(r.side[0].pd, &attr);

	ok(!srq && errno == EINVAL && says("max_wr"), "SRQ: %s", xv_last_error());
	attr.attr = (struct xv_srq_attr) { .max_wr = 1, .max_sge = 1000 };
	srq = xv_create_srq(r.side[0].pd, &attr);
	ok(!srq && errno == EINVAL && says("max_sge"), "SRQ: %s", xv_last_error());
	attr.attr.max_sge = 1;
	attr.flags = 1u << 31;
	srq = xv_create_srq(r.side[0].pd, &attr);
	ok(!srq && errno == EOPNOTSUPP && says("flags"), "SRQ: %s", xv_last_error());
}

/* Attribute structures that are shorter and longer than those of the library */
static void test_sizes(void)
{
	struct {
		struct xv_cq_init_attr known;
		uint64_t unknown;
	} attr = { .known = { .cqe = 10, .flags = 1u << 31 } };
	struct xv_cq *cq = xv_create_cq_sz(r.side[0].ctx, &attr.known,
					   offsetof(struct xv_cq_init_attr, flags));
	struct {
		struct xv_port_attr known;
		uint64_t unknown;
	} port = { .unknown = 7 };

	ok(cq && !xv_destroy_cq(cq), "shorter structure: missing members are 0");
	attr.known.flags = 0;
	cq = xv_create_cq_sz(r.side[0].ctx, &attr.known, sizeof(attr));
	ok(cq && !xv_destroy_cq(cq), "longer structure with zeros at the end");
	attr.unknown = 1;
	ok(!xv_create_cq_sz(r.side[0].ctx, &attr.known, sizeof(attr)) && errno == E2BIG,
	   "longer structure with other values at the end: %s", xv_last_error());
	ok(!xv_query_port_sz(r.side[0].ctx, 1, &port.known, sizeof(port)) && !port.unknown &&
	   port.known.state == XV_PORT_ACTIVE, "longer reply structure: zeros at the end");
	port.known.subnet_prefix = 0x5a5a;
	ok(!xv_query_port_sz(r.side[0].ctx, 1, &port.known, sizeof(uint32_t)) &&
	   port.known.subnet_prefix == 0x5a5a, "shorter reply structure: truncated");
}

/* ---- Traffic over queues with options ---------------------------------- */

static struct xv_qp *sender(struct xv_cq *cq, struct xv_qp_init_attr attr)
{
	static const struct rig_opts fresh = { .depth = 16, .unconnected = true };

	rig_reconnect(&r, &fresh);
	if (xv_destroy_qp(r.qp[0]))
		bail_out("%s", xv_last_error());
	attr.qp_type = XV_QPT_RC;
	attr.send_cq = attr.recv_cq = cq;
	attr.cap = (struct xv_qp_cap) { .max_send_wr = 16, .max_send_sge = 1 };
	r.qp[0] = xv_create_qp(r.side[0].pd, &attr);
	if (!r.qp[0] || xt_connect_pair(r.qp[0], &r.side[0], r.qp[1], &r.side[1], &opts.rc))
		bail_out("%s", xv_last_error());
	return r.qp[0];
}

static struct xv_cq *make_cq(struct xv_cq_init_attr attr)
{
	struct xv_cq *cq = xv_create_cq(r.side[0].ctx, &attr);

	if (!cq)
		bail_out("%s", xv_last_error());
	return cq;
}

/* Destroys the queues and returns to ordinary ones. */
static void done(struct xv_cq *cq, const char *what)
{
	rig_reconnect(&r, &opts);
	ok(!xv_destroy_cq(cq), "%s: destroy", what);
}

/* Writes 64 bytes that depend on seed to an offset that depends on seed. */
static void write_request(uint32_t seed, unsigned int flags)
{
	size_t at = seed % 64 * 64;
	struct xv_sge sge = rig_sge(&r, 0, at, 64);

	rig_fill(r.buf[0] + at, 64, seed);
	if (xv_wr_write(r.qp[0], seed, flags, &sge, rig_addr(&r, 1, at), r.mr[1]->rkey))
		bail_out("send queue full");
}

static void post(uint32_t seed, unsigned int flags)
{
	write_request(seed, flags);
	xv_commit_send(r.qp[0]);
}

static bool written(uint32_t seed)
{
	return rig_check(r.buf[1] + seed % 64 * 64, 64, seed);
}

static void test_sig_all(void)
{
	uint32_t i;

	sender(r.cq[0], (struct xv_qp_init_attr) { .sq_sig_all = 1 });
	for (i = 0; i < 40; i++) {
		post(i, 0);
		if (!rig_expect(r.cq[0], i, XV_WC_SUCCESS) || !written(i))
			break;
	}
	ok(i == 40, "sq_sig_all: every request has a completion");
	rig_reconnect(&r, &opts);
}

static void test_single_threaded(void)
{
	struct xv_cq *cq = make_cq((struct xv_cq_init_attr) { .cqe = 64,
		.flags = XV_CQ_SINGLE_THREADED });
	struct xv_srq_init_attr srq_attr = { .attr = { .max_wr = 16, .max_sge = 1 },
		.flags = XV_SRQ_SINGLE_THREADED };
	struct xv_srq *srq = xv_create_srq(r.side[0].pd, &srq_attr);
	struct xv_sge to = rig_sge(&r, 0, 8192, 64), from = rig_sge(&r, 1, 8192, 64), list;
	struct xv_send_wr wr = { .sg_list = &list, .num_sge = 1, .opcode = XV_WR_RDMA_WRITE,
		.send_flags = XV_SEND_SIGNALED }, *bad;
	struct xv_recv_wr recv = { .wr_id = 7, .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct xv_qp *qp;
	uint32_t i;

	if (!srq)
		bail_out("%s", xv_last_error());
	qp = sender(cq, (struct xv_qp_init_attr) { .srq = srq, .flags = XV_QP_SINGLE_THREADED });
	ok(!cq->lock.on && !srq->lock.on && !qp->sq.lock.on && r.cq[0]->lock.on,
	   "single-threaded: queues have no locks, others have");
	for (i = 0; i < 200; i++) {
		list = rig_sge(&r, 0, i % 64 * 64, 64);
		rig_fill(r.buf[0] + i % 64 * 64, 64, i);
		wr.wr_id = i;
		wr.wr.rdma.remote_addr = rig_addr(&r, 1, i % 64 * 64);
		wr.wr.rdma.rkey = r.mr[1]->rkey;
		if (xv_post_send(qp, &wr, &bad) || !rig_expect(cq, i, XV_WC_SUCCESS) || !written(i))
			break;
		rig_fill(r.buf[1] + 8192, 64, ~i);
		xv_wr_send(r.qp[1], 9, XV_SEND_SIGNALED, &from);
		if (xv_post_srq_recv(srq, &recv, &bad_recv))
			break;
		xv_commit_send(r.qp[1]);
		if (!rig_expect(r.cq[1], 9, XV_WC_SUCCESS) || !rig_expect(cq, 7, XV_WC_SUCCESS) ||
		    !rig_check(r.buf[0] + 8192, 64, ~i))
			break;
	}
	ok(i == 200, "single-threaded: 200 writes and 200 sends");
	rig_reconnect(&r, &opts);
	ok(!xv_destroy_srq(srq) && !xv_destroy_cq(cq), "single-threaded: destroy");
}

/* ---- Threads --------------------------------------------------------------- */

enum { PER_THREAD = 500 };

/* Builders take no lock: threads that share a queue take its lock themselves. */
static void *post_many(void *number)
{
	uint64_t first = (uintptr_t)number * PER_THREAD;
	struct xv_sge sge = rig_sge(&r, 0, 0, 64);
	struct xv_qp *qp = r.qp[0];
	uint32_t i = 0;
	int err;

	while (i < PER_THREAD) {
		xv_lock(&qp->sq.lock);
		err = xv_wr_write(qp, first + i, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0),
				  r.mr[1]->rkey);
		xv_commit_send(qp);
		xv_unlock(&qp->sq.lock);
		if (err)
			sched_yield();
		else
			i++;
	}
	return NULL;
}

static void test_lock(void)
{
	uint32_t next[2] = { 0 }, n, bad = 0;
	pthread_t thread[2];
	struct xv_wc wc;
	int i;

	sender(r.cq[0], (struct xv_qp_init_attr) { .qp_context = NULL });
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, post_many, (void *)(uintptr_t)i);
	for (n = 0; n < 2 * PER_THREAD && rig_poll(r.cq[0], 1, &wc) == 1; n++) {
		i = wc.wr_id >= PER_THREAD;
		bad += wc.status || wc.wr_id != (uint64_t)i * PER_THREAD + next[i]++;
	}
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	ok(n == 2 * PER_THREAD && !bad, "two threads and xv_lock(): %u writes in order", n);
	rig_reconnect(&r, &opts);
}

/* ---- Overruns and collapsed queues ------------------------------------- */

static bool reaches(volatile uint8_t *last, uint8_t value)
{
	double until = xt_now() + 5;

	while (*last != value && xt_now() < until)
		;
	return *last == value;
}

/* Twelve writes that complete in a CQ of four entries, which is not polled */
static bool survives_overrun(void)
{
	struct pollfd p = { .fd = r.side[0].ctx->fd, .events = POLLIN };
	struct xv_qp_attr a;
	uint32_t i;

	memset(r.buf[1], 0, 4096);
	for (i = 0; i < 12; i++)
		post(i, XV_SEND_SIGNALED);
	return reaches(r.buf[1] + 11 * 64 + 63, r.buf[0][11 * 64 + 63]) && written(0) &&
	       written(11) && !poll(&p, 1, 50) && !xv_query_qp(r.qp[0], &a, 0, NULL) &&
	       a.qp_state == XV_QPS_RTS;
}

static void test_overrun(void)
{
	struct xv_modify_cq_attr change = { .attr_mask = XV_CQ_ATTR_OVERRUN, .ignore_overrun = 1 };
	struct xv_cq *cq;

	if (!rig_feature(r.side[0].ctx, "cq-ignore-overrun")->available) {
		ok(1, "ignore overrun # SKIP the adapter does not support it");
		return;
	}
	cq = make_cq((struct xv_cq_init_attr) { .cqe = 3,
		.flags = XV_CQ_IGNORE_OVERRUN });

	sender(cq, (struct xv_qp_init_attr) { .qp_context = NULL });
	ok(survives_overrun(), "ignore overrun: no error");
	done(cq, "ignore overrun");
	cq = make_cq((struct xv_cq_init_attr) { .cqe = 3 });
	ok(!xv_modify_cq(cq, &change), "ignore overrun, set later");
	sender(cq, (struct xv_qp_init_attr) { .qp_context = NULL });
	ok(survives_overrun(), "ignore overrun, set later: no error");
	done(cq, "ignore overrun, set later");
}

/* All completions are written to entry 0; wqe_counter is the last completed send. */
static void test_collapsed(void)
{
	bool known = rig_feature(r.side[0].ctx, "cq-collapsed")->available;
	struct xv_cq *cq = make_cq((struct xv_cq_init_attr) { .cqe = 3,
		.flags = XV_CQ_COLLAPSED | XV_CQ_IGNORE_OVERRUN });
	struct xv_qp *qp = sender(cq, (struct xv_qp_init_attr) { .qp_context = NULL });
	const struct mlx5r_cqe *cqe = xv_cq_at(cq, 0);
	const volatile uint16_t *counter = &cqe->wqe_counter;
	double until = xt_now() + 20;
	uint32_t i, good = 0;

	for (i = 0; i < 100 && good == i; i++) {
		post(i, XV_SEND_SIGNALED);
		while ((*counter != xv_be16(i) || __xv_cqe_op_own(cqe) >> 4 != MLX5R_CQE_REQ) &&
		       xt_now() < until)
			;
		xv_from_device_barrier();
		good += *counter == xv_be16(i) && xv_cqe_status(cqe) == XV_WC_SUCCESS &&
			xv_cqe_sq_entry(qp, cqe)->wr_id == i && written(i);
		xv_sq_retire(qp, xv_cqe_sq_entry(qp, cqe));
	}
	ok(known && good == 100, "collapsed CQ: 100 writes complete in entry 0");
	ok(__xv_cqe_op_own(xv_cq_at(cq, 1)) >> 4 == MLX5R_CQE_INVALID,
	   "collapsed CQ: entry 1 stays unused");
	done(cq, "collapsed");
}

/* ---- BlueFlame ----------------------------------------------------------- */

enum { BF_QPS = 8 };		/* queue pairs with a register of their own, see xv_create_qp(3) */

static struct xv_qp *plain_qp(void)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC, .send_cq = r.cq[0],
		.recv_cq = r.cq[0], .cap = { 1, 1, 1, 1, 0 } };
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &attr);

	if (!qp)
		bail_out("%s", xv_last_error());
	return qp;
}

/* The first queue pairs have a register, and no two the same; it is free again after the QP. */
static void test_registers(void)
{
	struct xv_qp *qp[BF_QPS + 1];
	uint32_t i, j, with = 1, same = 0;	/* r.qp[0] has one */

	for (i = 0; i <= BF_QPS; i++) {
		qp[i] = plain_qp();
		with += __XV_BF_BYTES(&qp[i]->sq) == device.bf_bytes;
		for (j = 0; j < i; j++)
			same += __XV_BF_BYTES(&qp[i]->sq) &&
				qp[i]->sq.doorbell == qp[j]->sq.doorbell;
	}
	ok(with == BF_QPS && !same && !__XV_BF_BYTES(&qp[BF_QPS]->sq),
	   "%u queue pairs have a register of their own", with);
	ok(!xv_destroy_qp(qp[0]), "one is destroyed");
	qp[0] = plain_qp();
	ok(__XV_BF_BYTES(&qp[0]->sq), "the next one gets its register");
	for (i = 0; i <= BF_QPS; i++)
		if (xv_destroy_qp(qp[i]))
			bail_out("%s", xv_last_error());
	setenv("XV_BLUEFLAME", "0", 1);
	qp[0] = plain_qp();
	ok(!__XV_BF_BYTES(&qp[0]->sq) && !xv_destroy_qp(qp[0]), "XV_BLUEFLAME=0: none");
	unsetenv("XV_BLUEFLAME");
}

/* The two buffers of the register are used in turn; batches ring the doorbell. */
static void test_blueflame(void)
{
	const struct xv_feature *f = rig_feature(r.side[0].ctx, "blueflame");
	volatile uint64_t *before;
	struct xv_cq *cq;
	uint32_t i;

	ok(f->available == !!device.bf_bytes, "BlueFlame: %u bytes", device.bf_bytes);
	if (!f->available) {
		ok(1, "BlueFlame # SKIP %s", f->why_not);
		return;
	}
	cq = make_cq((struct xv_cq_init_attr) { .cqe = 15 });
	sender(cq, (struct xv_qp_init_attr) { .qp_context = NULL });
	ok(__XV_BF_BYTES(&r.qp[0]->sq) == device.bf_bytes, "a queue pair uses it");
	for (i = 0; i < 200; i++) {
		before = r.qp[0]->sq.doorbell;
		if (i % 3 == 2)
			write_request(i, 0);
		write_request(i, XV_SEND_SIGNALED);
		xv_commit_send(r.qp[0]);
		if (!rig_expect(cq, i, XV_WC_SUCCESS) || !written(i) ||
		    ((uintptr_t)before ^ (uintptr_t)r.qp[0]->sq.doorbell) != device.bf_bytes)
			break;
	}
	ok(i == 200, "BlueFlame: 200 writes, single and in pairs");
	test_registers();
	done(cq, "BlueFlame");
}

/* ---- Events: vectors and moderation ------------------------------------ */

static bool event_of(struct xv_comp_channel *channel, struct xv_cq *cq, int ms)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct xv_cq *got;
	void *context;

	if (poll(&p, 1, ms) != 1 || xv_get_cq_event(channel, &got, &context))
		return false;
	xv_ack_cq_events(got, 1);
	return got == cq && context == &opts;
}

static void test_vectors(struct xv_comp_channel *channel)
{
	uint32_t i, good = 0;
	struct xv_cq *cq;

	for (i = 0; i < device.num_comp_vectors; i++) {
		cq = make_cq((struct xv_cq_init_attr) { .cqe = 15, .comp_vector = i,
			.channel = channel, .cq_context = (void *)&opts });
		sender(cq, (struct xv_qp_init_attr) { .qp_context = NULL });
		xv_req_notify(cq, 0);
		post(i, XV_SEND_SIGNALED);
		good += event_of(channel, cq, 5000) && rig_expect(cq, i, XV_WC_SUCCESS);
		rig_reconnect(&r, &opts);
		if (xv_destroy_cq(cq))
			bail_out("%s", xv_last_error());
	}
	ok(good == device.num_comp_vectors, "%u completion vectors: one event through each", i);
}

static void test_moderation(struct xv_comp_channel *channel)
{
	struct xv_cq *cq = make_cq((struct xv_cq_init_attr) { .cqe = 15, .channel = channel,
		.cq_context = (void *)&opts });
	struct xv_modify_cq_attr a = { .attr_mask = XV_CQ_ATTR_MODERATE, .cq_count = 3,
		.cq_period = 4095 };
	uint32_t i, good = 0;

	ok(rig_feature(r.side[0].ctx, "cq-moderation")->available, "the device has moderation");
	sender(cq, (struct xv_qp_init_attr) { .qp_context = NULL });
	ok(!xv_modify_cq(cq, &a), "moderation: set three completions or 4095 us");
	xv_req_notify(cq, 0);
	for (i = 0; i < 3; i++)
		post(i, XV_SEND_SIGNALED);
	good = event_of(channel, cq, 5000);
	for (i = 0; i < 3; i++)
		good += rig_expect(cq, i, XV_WC_SUCCESS);
	ok(good == 4, "moderation: event after three completions");
	xv_req_notify(cq, 0);
	post(4, XV_SEND_SIGNALED);
	ok(event_of(channel, cq, 5000) && rig_expect(cq, 4, XV_WC_SUCCESS),
	   "moderation: event for one completion after the period");
	ok(!event_of(channel, cq, 50), "moderation: no other event");
	a.cq_count = 1 << 16;
	ok(xv_modify_cq(cq, &a) == -EINVAL && says("count"), "moderation: %s", xv_last_error());
	a.cq_count = 1;
	a.cq_period = 4096;
	ok(xv_modify_cq(cq, &a) == -EINVAL && says("period"), "moderation: %s", xv_last_error());
	a.attr_mask = 1u << 31;
	ok(xv_modify_cq(cq, &a) == -EOPNOTSUPP && says("attr_mask"), "moderation: %s",
	   xv_last_error());
	done(cq, "moderation");
}

int main(int argc, char **argv)
{
	struct xv_comp_channel *channel;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (xv_query_device(r.side[0].ctx, &device))
		bail_out("%s", xv_last_error());
	test_cq_refusals();
	test_qp_refusals();
	test_caps();
	test_ece();
	test_srq_refusals();
	test_sizes();
	test_sig_all();
	test_single_threaded();
	test_lock();
	test_overrun();
	test_collapsed();
	test_blueflame();
	channel = xv_create_comp_channel(r.side[0].ctx);
	if (!channel)
		bail_out("%s", xv_last_error());
	test_vectors(channel);
	test_moderation(channel);
	ok(!xv_destroy_comp_channel(channel), "destroy the channel");
	rig_close(&r);
	return tap_done();
}
