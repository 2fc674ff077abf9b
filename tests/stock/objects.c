// SPDX-License-Identifier: GPL-2.0
/*
 * usage: objects DEVICE GID-INDEX
 *
 * Objects of a device, used with plain libibverbs: BlueFlame, queries, resizing of CQs that
 * have completions, SRQ limits, queue pairs that fail and are used again, path migration, counters
 * of errors, many queue pairs, large memory regions, re-registration.
 * Queue pairs are connected to others of the same device.
 */
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include "tap.h"

#define BYTES	65536u
#define MANY	1000
#define LARGE	(512ull << 20)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static union ibv_gid gid;
static int gid_index;
static struct ibv_port_attr port;
static char *mem;
static struct ibv_mr *mr;
static int rnr_retry = 6;

struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void need(int good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static struct end make(struct ibv_srq *srq, int cqe)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.srq = srq,
		.cap = { .max_send_wr = 64, .max_recv_wr = srq ? 0 : 64,
			 .max_send_sge = 2, .max_recv_sge = srq ? 0 : 2 },
	};
	struct end e = { .cq = ibv_create_cq(ctx, cqe, NULL, NULL, 0) };

	need(e.cq != NULL, "ibv_create_cq");
	init.send_cq = init.recv_cq = e.cq;
	e.qp = ibv_create_qp(pd, &init);
	need(e.qp != NULL, "ibv_create_qp");
	return e;
}

static void unmake(struct end *e)
{
	ok(!ibv_destroy_qp(e->qp) && !ibv_destroy_cq(e->cq), "destroy a queue pair and its CQ");
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS);
}

static int to_rts(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer,
		.rq_psn = 0x123, .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
		.ah_attr = { .is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
			     .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 3 },
			     .dlid = port.lid, .sl = 2, .port_num = 1 },
	};
	int err = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				IBV_QP_MIN_RNR_TIMER);

	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = 0x123;
	a.timeout = 14;
	a.retry_cnt = 7;
	a.rnr_retry = rnr_retry;
	a.max_rd_atomic = 8;
	return err ? err : ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					 IBV_QP_MAX_QP_RD_ATOMIC);
}

static void to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr a = { .qp_state = state };

	ok(!ibv_modify_qp(qp, &a, IBV_QP_STATE), "to state %d", state);
}

static int connect_pair(struct end *a, struct end *b)
{
	return to_init(a->qp) || to_init(b->qp) || to_rts(a->qp, b->qp->qp_num) ||
	       to_rts(b->qp, a->qp->qp_num);
}

static int post_write(struct ibv_qp *qp, uint64_t id, struct ibv_mr *from, uint64_t src,
		      struct ibv_mr *to, uint64_t dst, uint32_t len)
{
	struct ibv_sge sge = { .addr = src, .length = len, .lkey = from->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = dst, .rkey = to->rkey },
	};

	return ibv_post_send(qp, &wr, &bad);
}

static int write_some(struct ibv_qp *qp, uint64_t id)
{
	return post_write(qp, id, mr, (uintptr_t)mem, mr, (uintptr_t)mem + BYTES / 2, 64);
}

static int post_send(struct ibv_qp *qp, uint64_t id)
{
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .length = 64, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	return ibv_post_send(qp, &wr, &bad);
}

/* Polls @n completions; returns how many had @status and the next number from @id. */
static int reap(struct ibv_cq *cq, int n, uint64_t id, enum ibv_wc_status status)
{
	double until = now() + 10;
	struct ibv_wc wc;
	int good = 0, got = 0;

	while (got < n && now() < until) {
		if (ibv_poll_cq(cq, 1, &wc) <= 0)
			continue;
		good += wc.status == status && wc.wr_id == id + got;
		got++;
	}
	return good;
}

static int event_within(enum ibv_event_type type, int ms)
{
	struct pollfd p = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event e;

	while (poll(&p, 1, ms) > 0) {
		if (ibv_get_async_event(ctx, &e))
			return 0;
		ibv_ack_async_event(&e);
		if (e.event_type == type)
			return 1;
	}
	return 0;
}

/* Bytes of a request that a queue pair of a new context may copy to the BlueFlame register */
static unsigned int register_bytes(void)
{
	struct ibv_context *own = ibv_open_device(ctx->device);
	struct ibv_pd *own_pd = own ? ibv_alloc_pd(own) : NULL;
	struct ibv_cq *cq = own_pd ? ibv_create_cq(own, 1, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct mlx5dv_qp qp = {};
	struct mlx5dv_obj obj = { .qp = { .out = &qp } };

	need(cq != NULL, "a context");
	obj.qp.in = ibv_create_qp(own_pd, &init);
	need(obj.qp.in && !mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), "a queue pair");
	ibv_destroy_qp(obj.qp.in);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(own_pd);
	ibv_close_device(own);
	return qp.bf.size;
}

/*
 * The driver has tested whether BlueFlame works.  The test has a limit of 100 ms, which can be
 * too short on a busy host; the driver of 6.12 then tests again for the next context.
 */
static void test_blueflame(void)
{
	unsigned int bytes = 0;
	int tries;

	for (tries = 0; tries < 20 && !bytes; tries++)
		bytes = register_bytes();
	diag("contexts opened: %d", tries);
	ok(bytes == 256, "BlueFlame: %u bytes of a request can be copied", bytes);
}

static void test_query(void)
{
	struct end a = make(NULL, 100), b = make(NULL, 100);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr q;

	ok(!connect_pair(&a, &b), "connect");
	ok(!ibv_query_qp(a.qp, &q, 0x1fffff, &init), "ibv_query_qp");
	ok(q.qp_state == IBV_QPS_RTS && q.path_mtu == IBV_MTU_1024 && q.rq_psn == 0x123 &&
	   q.sq_psn == 0x123 && q.dest_qp_num == b.qp->qp_num, "state, MTU, PSNs, peer");
	ok(q.max_rd_atomic == 8 && q.max_dest_rd_atomic == 4 && q.min_rnr_timer == 12 &&
	   q.timeout == 14 && q.retry_cnt == 7 && q.rnr_retry == 6, "limits, timers, retries");
	/* On Ethernet mlx5_ib sets the priority and reads the service level. */
	ok(q.ah_attr.grh.sgid_index == gid_index && q.ah_attr.port_num == 1 &&
	   (port.link_layer == IBV_LINK_LAYER_ETHERNET || q.ah_attr.sl == 2), "path");
	ok(q.qp_access_flags == (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				 IBV_ACCESS_REMOTE_ATOMIC), "access");
	ok(!write_some(a.qp, 1) && reap(a.cq, 1, 1, IBV_WC_SUCCESS) == 1, "a write");
	ok(!ibv_query_qp(a.qp, &q, IBV_QP_SQ_PSN, &init) && q.sq_psn == 0x124,
	   "the write increments the PSN");
	unmake(&a);
	unmake(&b);
}

/* Completions from before and after a change of size are in order. */
static void test_resize(int from, int to)
{
	struct end a = make(NULL, from), b = make(NULL, 10);
	struct ibv_modify_cq_attr moderate = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { .cq_count = 8, .cq_period = 100 },
	};
	int i, bad;

	ok(!connect_pair(&a, &b), "connect");
	for (i = bad = 0; i < 5; i++)
		bad |= write_some(a.qp, i);
	ok(!bad && reap(a.cq, 5, 0, IBV_WC_SUCCESS) == 5, "completions at the start");
	for (i = bad = 0; i < 10; i++)
		bad |= write_some(a.qp, 100 + i);
	nanosleep(&(struct timespec) { .tv_nsec = 50000000 }, NULL);
	ok(!bad && !ibv_resize_cq(a.cq, to),
	   "CQ with 10 completions: resize from %d to %d", from, to);
	for (i = bad = 0; i < 10; i++)
		bad |= write_some(a.qp, 110 + i);
	ok(!bad && reap(a.cq, 20, 100, IBV_WC_SUCCESS) == 20, "20 completions in order");
	ok(!ibv_modify_cq(a.cq, &moderate), "moderation");
	unmake(&a);
	unmake(&b);
}

/* A failed queue pair flushes its requests; after a reset it works. */
static void test_reuse(void)
{
	struct end a = make(NULL, 100), b = make(NULL, 100);
	int round;

	for (round = 0; round < 3; round++) {
		ok(!connect_pair(&a, &b), "connect, round %d", round);
		ok(!write_some(a.qp, 5) && reap(a.cq, 1, 5, IBV_WC_SUCCESS) == 1, "RTS: a write");
		to_state(a.qp, IBV_QPS_ERR);
		ok(!write_some(a.qp, 6) && reap(a.cq, 1, 6, IBV_WC_WR_FLUSH_ERR) == 1,
		   "ERR: flushed");
		to_state(a.qp, IBV_QPS_RESET);
		to_state(b.qp, IBV_QPS_RESET);
	}
	unmake(&a);
	unmake(&b);
}

static int post_srq(struct ibv_srq *srq, int n)
{
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .length = 64, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	while (n--)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			return 1;
	return 0;
}

static void test_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 30, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	struct ibv_srq_attr attr = { .srq_limit = 8 };
	struct end a, b;
	int i, bad;

	need(srq != NULL, "ibv_create_srq");
	a = make(NULL, 100);
	b = make(srq, 100);
	ok(!connect_pair(&a, &b), "connect to an SRQ");
	ok(!post_srq(srq, 10) && !ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), "arm a limit of 8");
	ok(!ibv_query_srq(srq, &attr) && attr.srq_limit == 8, "query: the limit is 8");
	for (i = bad = 0; i < 2; i++)
		bad |= post_send(a.qp, i);
	ok(!bad && reap(a.cq, 2, 0, IBV_WC_SUCCESS) == 2 &&
	   !event_within(IBV_EVENT_SRQ_LIMIT_REACHED, 100), "8 left: no event");
	ok(!post_send(a.qp, 2) && reap(a.cq, 1, 2, IBV_WC_SUCCESS) == 1 &&
	   event_within(IBV_EVENT_SRQ_LIMIT_REACHED, 3000), "7 left: the limit is reached");
	ok(!ibv_query_srq(srq, &attr) && !attr.srq_limit, "query: the limit is 0");
	to_state(b.qp, IBV_QPS_ERR);
	ok(event_within(IBV_EVENT_QP_LAST_WQE_REACHED, 3000), "last WQE reached");
	unmake(&a);
	unmake(&b);
	ok(!ibv_destroy_srq(srq), "destroy the SRQ");
}

static int rearm(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.alt_ah_attr = { .is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
				 .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 3 },
				 .dlid = port.lid, .sl = 3, .port_num = 1 },
		.alt_port_num = 1, .alt_timeout = 15, .path_mig_state = IBV_MIG_REARM,
	};

	return ibv_modify_qp(qp, &a, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

static int migration(struct ibv_qp *qp, struct ibv_qp_attr *q)
{
	struct ibv_qp_init_attr init;

	return ibv_query_qp(qp, q, IBV_QP_PATH_MIG_STATE | IBV_QP_ALT_PATH | IBV_QP_AV, &init) ?
	       -1 : (int)q->path_mig_state;
}

/* On Ethernet ib_core refuses alternate paths, even if the device supports them. */
static void test_migration(void)
{
	struct ibv_qp_attr q, migrate = { .path_mig_state = IBV_MIG_MIGRATED };
	struct end a = make(NULL, 100), b = make(NULL, 100);
	struct ibv_device_attr device;

	ok(!ibv_query_device(ctx, &device) && device.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG,
	   "the device migrates paths");
	ok(!connect_pair(&a, &b) && migration(a.qp, &q) == IBV_MIG_MIGRATED, "connect");
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		ok(rearm(a.qp) != 0, "no alternate path on Ethernet");
		goto out;
	}
	ok(!rearm(a.qp) && migration(a.qp, &q) == IBV_MIG_REARM && q.alt_ah_attr.sl == 3 &&
	   q.alt_timeout == 15, "an alternate path, rearmed");
	ok(!rearm(b.qp) && !write_some(a.qp, 1) && reap(a.cq, 1, 1, IBV_WC_SUCCESS) == 1 &&
	   migration(a.qp, &q) == IBV_MIG_ARMED && migration(b.qp, &q) == IBV_MIG_ARMED,
	   "a write arms both sides");
	ok(!ibv_modify_qp(a.qp, &migrate, IBV_QP_PATH_MIG_STATE) &&
	   event_within(IBV_EVENT_PATH_MIG, 3000) && migration(a.qp, &q) == IBV_MIG_MIGRATED &&
	   q.ah_attr.sl == 3, "one side migrates");
	ok(!write_some(a.qp, 2) && reap(a.cq, 1, 2, IBV_WC_SUCCESS) == 1 &&
	   event_within(IBV_EVENT_PATH_MIG, 3000) && migration(b.qp, &q) == IBV_MIG_MIGRATED &&
	   q.ah_attr.sl == 3, "with the next write the other side migrates");
out:
	unmake(&a);
	unmake(&b);
}

/* A counter of the port, in sysfs */
static long counter(const char *name)
{
	char path[256];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 ibv_get_device_name(ctx->device), name);
	f = fopen(path, "r");
	need(f && fscanf(f, "%ld", &value) == 1, path);
	fclose(f);
	return value;
}

/* A send that never finds a receive request, and a write whose peer is gone */
static void test_error_counters(void)
{
	long empty = counter("out_of_buffer"), naks = counter("rnr_nak_retry_err");
	long timeouts = counter("local_ack_timeout_err");
	struct end a = make(NULL, 100), b = make(NULL, 100);

	ok(!connect_pair(&a, &b), "connect");
	ok(!post_send(a.qp, 1) && reap(a.cq, 1, 1, IBV_WC_RNR_RETRY_EXC_ERR) == 1,
	   "no receive: RNR retry counter exceeded");
	ok(counter("out_of_buffer") - empty == 7 && counter("rnr_nak_retry_err") - naks == 7,
	   "the counters of receives and NAKs count one try and 6 retries");
	ok(counter("local_ack_timeout_err") == timeouts, "there was no timeout");
	to_state(a.qp, IBV_QPS_RESET);
	to_state(b.qp, IBV_QPS_RESET);
	ok(!connect_pair(&a, &b), "connect again");
	to_state(b.qp, IBV_QPS_RESET);
	ok(!write_some(a.qp, 2) && reap(a.cq, 1, 2, IBV_WC_RETRY_EXC_ERR) == 1,
	   "no peer: transport retry counter exceeded");
	ok(counter("local_ack_timeout_err") - timeouts == 8, "one try and 7 retries are counted");
	ok(counter("out_of_buffer") - empty == 7, "and nothing else");
	unmake(&a);
	unmake(&b);
}

static void wait_for_count(const char *name, long value)
{
	double until = now() + 10;

	while (counter(name) < value && now() < until)
		;
}

/* Without a limit of retries, a receive request that comes late gets the data. */
static void test_late_receive(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .length = 64, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1 };
	long empty = counter("out_of_buffer"), naks = counter("rnr_nak_retry_err"), n;
	struct end a = make(NULL, 100), b = make(NULL, 100);

	rnr_retry = 7;
	ok(!connect_pair(&a, &b), "connect, RNR is retried without limit");
	rnr_retry = 6;
	ok(!post_send(a.qp, 1), "a send");
	wait_for_count("out_of_buffer", empty + 10);
	ok(!ibv_post_recv(b.qp, &wr, &bad) && reap(a.cq, 1, 1, IBV_WC_SUCCESS) == 1 &&
	   reap(b.cq, 1, 9, IBV_WC_SUCCESS) == 1, "its receive comes late, the data arrives");
	n = counter("out_of_buffer") - empty;
	ok(n >= 10 && counter("rnr_nak_retry_err") - naks == n, "each of %ld tries is counted", n);
	unmake(&a);
	unmake(&b);
}

/* The time to create a queue pair does not grow with their number. */
static void test_many(void)
{
	static struct end e[MANY];
	double start = now(), first = 0, last;
	int i, bad = 0;

	for (i = 0; i < MANY; i++) {
		e[i] = make(NULL, 10);
		if (i == 99)
			first = now() - start;
		if (i == MANY - 101)
			start = now();
	}
	last = now() - start;
	for (i = 0; i < MANY; i += 2)
		bad += connect_pair(&e[i], &e[i + 1]) != 0;
	ok(!bad, "%d queue pairs connected", MANY);
	for (i = 0; i < MANY; i++)
		bad += write_some(e[i].qp, i) != 0;
	for (i = 0; i < MANY; i++)
		bad += reap(e[i].cq, 1, i, IBV_WC_SUCCESS) != 1;
	ok(!bad, "all queue pairs execute a write");
	diag("ms per queue pair and CQ: the first hundred %.2f, the last %.2f", first * 10,
	     last * 10);
	ok(last < first * 4 + 0.2, "creation cost does not grow");
	for (i = 0; i < MANY; i++)
		bad += ibv_destroy_qp(e[i].qp) || ibv_destroy_cq(e[i].cq);
	ok(!bad, "queue pairs and CQs destroyed");
}

static void test_memory(void)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	char *large = aligned_alloc(2 << 20, LARGE);
	struct end a = make(NULL, 100), b = make(NULL, 100);
	struct ibv_mr *big;
	double start = now();

	need(large != NULL, "memory");
	strcpy(mem, "from end to end");
	big = ibv_reg_mr(pd, large, LARGE, access);
	ok(big != NULL, "register %llu MiB", LARGE >> 20);
	need(big != NULL, "ibv_reg_mr");
	diag("%.0f ms", (now() - start) * 1e3);
	ok(!connect_pair(&a, &b), "connect");
	ok(!post_write(a.qp, 1, mr, (uintptr_t)mem, big, (uintptr_t)large + LARGE - 16, 16) &&
	   reap(a.cq, 1, 1, IBV_WC_SUCCESS) == 1, "write its last bytes");
	ok(!strcmp(large + LARGE - 16, mem), "the bytes have arrived");
	ok(!post_write(a.qp, 2, big, (uintptr_t)large + LARGE - 16, big, (uintptr_t)large, 16) &&
	   reap(a.cq, 1, 2, IBV_WC_SUCCESS) == 1 && !strcmp(large, mem), "last to first");
	ok(!ibv_rereg_mr(big, IBV_REREG_MR_CHANGE_ACCESS, pd, NULL, 0, IBV_ACCESS_LOCAL_WRITE),
	   "remove remote access");
	ok(!post_write(a.qp, 3, mr, (uintptr_t)mem, big, (uintptr_t)large, 16) &&
	   reap(a.cq, 1, 3, IBV_WC_REM_ACCESS_ERR) == 1, "a remote write is refused");
	ok(!ibv_dereg_mr(big), "deregister");
	free(large);
	unmake(&a);
	unmake(&b);
}

static void start(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	need(ctx != NULL, "no such device");
	pd = ibv_alloc_pd(ctx);
	need(pd && !ibv_query_port(ctx, 1, &port) && !ibv_query_gid(ctx, 1, gid_index, &gid),
	     "PD, port or GID");
	mem = aligned_alloc(4096, BYTES);
	mr = ibv_reg_mr(pd, mem, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					IBV_ACCESS_REMOTE_READ);
	need(mr != NULL, "ibv_reg_mr");
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: objects DEVICE GID-INDEX\n");
		return 2;
	}
	gid_index = atoi(argv[2]);
	start(argv[1]);
	test_blueflame();
	test_query();
	test_resize(15, 255);
	test_resize(255, 31);
	test_reuse();
	test_srq();
	test_migration();
	test_error_counters();
	test_late_receive();
	test_memory();
	test_many();
	ok(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx),
	   "memory region, PD and device closed");
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}
