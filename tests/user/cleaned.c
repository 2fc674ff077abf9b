// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs end while a program reads completions in place: their completions go, the
 * completions of others stay, in their order.  The receives of queue pairs in error complete at
 * once.
 */
#include <unistd.h>
#include "rig.h"

enum { MANY = 16 };

static struct xt_side side;
static struct xv_cq *cq;
static struct xv_qp *qp[2];

static struct xv_cq *cq_of(uint32_t cqe)
{
	struct xv_cq_init_attr attr = { .cqe = cqe };
	struct xv_cq *made = xv_create_cq(side.ctx, &attr);

	if (!made)
		bail_out("%s", xv_last_error());
	return made;
}

static struct xv_qp *qp_in_error(void)
{
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = MANY, .max_send_sge = 1,
			 .max_recv_sge = 1 } };
	struct xv_qp_attr attr = { .qp_state = XV_QPS_INIT, .port_num = (uint8_t)side.port };
	struct xv_qp *made = xv_create_qp(side.pd, &init);

	if (!made || xv_modify_qp(made, &attr, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
						XV_QP_ACCESS_FLAGS))
		bail_out("%s", xv_last_error());
	attr.qp_state = XV_QPS_ERR;
	if (xv_modify_qp(made, &attr, XV_QP_STATE))
		bail_out("%s", xv_last_error());
	return made;
}

static void setup(uint32_t cqe)
{
	int i;

	cq = cq_of(cqe);
	for (i = 0; i < 2; i++)
		qp[i] = qp_in_error();
}

static void teardown(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (qp[i] && xv_destroy_qp(qp[i]))
			bail_out("%s", xv_last_error());
	if (xv_destroy_cq(cq))
		bail_out("%s", xv_last_error());
}

static void destroy(int i)
{
	if (xv_destroy_qp(qp[i]))
		bail_out("%s", xv_last_error());
	qp[i] = NULL;
}

static void reset(int i)
{
	struct xv_qp_attr attr = { .qp_state = XV_QPS_RESET };

	if (xv_modify_qp(qp[i], &attr, XV_QP_STATE))
		bail_out("%s", xv_last_error());
}

static void wait_entry(uint32_t i)
{
	double until = xt_now() + 10;

	while (!__xv_cq_has(cq, i, __xv_cqe_op_own(xv_cq_at(cq, i))) && xt_now() < until)
		usleep(1000);
}

/* order: a letter for each receive, 'A' or 'B' for the queue pair; they complete in this order. */
static void complete(const char *order)
{
	struct xv_recv_wr *bad, wr = { .wr_id = 1 };

	for (; *order; order++, wr.wr_id++) {
		if (xv_post_recv(qp[*order - 'A'], &wr, &bad))
			bail_out("receive");
		wait_entry(cq->ci + (uint32_t)wr.wr_id - 1);
	}
}

static const struct mlx5r_cqe *wait_next(void)
{
	double until = xt_now() + 10;
	const struct mlx5r_cqe *cqe;

	while (!(cqe = xv_cq_next(cq)) && xt_now() < until)
		;
	return cqe;
}

/*
 * Reads all completions in place and writes their numbers to seen.  At number @at, end() is
 * called for a queue pair.
 */
static void read_all(uint64_t at, void (*end)(int), int which, char *seen)
{
	const struct mlx5r_cqe *cqe = wait_next();
	uint64_t id;

	for (; cqe; cqe = xv_cq_next(cq)) {
		id = xv_cqe_wr_id(cq, cqe);
		*seen++ = id > 9 ? '+' : (char)('0' + id);
		if (id == at)
			end(which);
		xv_cq_done(cq, cqe);
	}
	*seen = '\0';
	xv_commit_cq(cq);
}

static void expect(const char *order, uint64_t at, void (*end)(int), int which, const char *want,
		   const char *what)
{
	char seen[MANY + 1];

	complete(order);
	read_all(at, end, which, seen);
	if (!ok(!strcmp(seen, want), "%s", what))
		diag("completions %s, expected %s", seen, want);
}

static void test_in_place(void)
{
	setup(MANY - 1);
	expect("ABBB", 1, destroy, 0, "1234", "its completion is the current one: destroyed");
	teardown();
	setup(MANY - 1);
	expect("ABBB", 1, reset, 0, "1234", "the same, reset");
	teardown();
	setup(MANY - 1);
	expect("BABABA", 1, destroy, 0, "135", "the current completion is of another");
	teardown();
	setup(MANY - 1);
	expect("ABAABB", 1, destroy, 0, "1256", "it has the current one and later ones");
	teardown();
	setup(MANY - 1);
	expect("BBABAA", 4, destroy, 0, "1234", "it has earlier and later ones");
	teardown();
}

/* A ring of four entries, all of one queue pair */
static void test_small_ring(void)
{
	setup(3);
	expect("AAA", 1, destroy, 0, "1", "all completions are of the queue pair that ends");
	expect("BBB", 0, NULL, 0, "123", "three others have room after them");
	teardown();
	setup(3);
	complete("AAA");
	destroy(0);
	expect("BBB", 0, NULL, 0, "123", "no completion is current: its entries are free at once");
	teardown();
}

static void both(int unused)
{
	(void)unused;
	destroy(0);
	destroy(1);
}

static void test_two(void)
{
	char seen[MANY + 1];

	setup(MANY - 1);
	expect("ABAB", 1, both, 0, "1", "both queue pairs end during one completion");
	qp[0] = qp_in_error();
	qp[1] = qp_in_error();
	expect("BBA", 2, destroy, 0, "12", "another one during the next");
	complete("B");
	read_all(0, NULL, 0, seen);
	ok(!strcmp(seen, "1"), "and the queue goes on");
	teardown();
}

static void post_shared(struct xv_srq *srq, int *n)
{
	struct xv_recv_wr *bad, wr = { .wr_id = 1 };

	for (*n = 0; *n < 1000 && !xv_post_srq_recv(srq, &wr, &bad); (*n)++)
		;
}

static void send_to_self(struct xv_qp *q)
{
	struct xv_send_wr *bad, wr = { .wr_id = 2, .opcode = XV_WR_SEND };
	struct xt_peer self;

	xt_peer_of(&side, q, &self);
	if (xt_connect(q, &side, &self, NULL) || xv_post_send(q, &wr, &bad))
		bail_out("%s", xv_last_error());
}

/* A receive of a shared queue is free once, not twice. */
static void test_shared(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct xv_srq *srq = xv_create_srq(side.pd, &attr);
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_RC, .srq = srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	const struct mlx5r_cqe *cqe;
	int first, then;

	if (!srq)
		bail_out("%s", xv_last_error());
	cq = cq_of(MANY - 1);
	init.send_cq = init.recv_cq = cq;
	qp[0] = xv_create_qp(side.pd, &init);
	qp[1] = NULL;
	if (!qp[0])
		bail_out("%s", xv_last_error());
	post_shared(srq, &first);
	send_to_self(qp[0]);
	cqe = wait_next();
	ok(cqe && xv_cqe_wr_id(cq, cqe) == 1, "a receive of a shared queue is current");
	destroy(0);
	xv_cq_done(cq, cqe);
	xv_commit_cq(cq);
	post_shared(srq, &then);
	ok(first >= 4 && then == 1, "after its queue pair, one entry of %d is free: %d", first,
	   then);
	teardown();
	ok(!xv_destroy_srq(srq), "the shared queue ends");
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	if (xt_side_open(&side, rig_device(0), 1, -1))
		bail_out("%s", xv_last_error());
	test_in_place();
	test_small_ring();
	test_two();
	test_shared();
	xt_side_close(&side);
	return tap_done();
}
