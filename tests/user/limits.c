// SPDX-License-Identifier: GPL-2.0
/*
 * What a process may not have: more objects than a file holds, more locked
 * memory than its limit, Q_Keys of the privileged.
 *
 * usage: limits:      as root; gives its privileges up on the way
 *	  limits hold: makes queues, says how many bytes they have, and waits
 */
#include <sys/resource.h>
#include <unistd.h>
#include "rig.h"

#define MAX_OBJECTS	"/sys/module/xverbs/parameters/max_objects"

static struct rig r;

static unsigned int set_max_objects(unsigned int n)
{
	FILE *f = fopen(MAX_OBJECTS, "r+");
	unsigned int old = 0;

	if (!f || fscanf(f, "%u", &old) != 1 || fseek(f, 0, SEEK_SET) || fprintf(f, "%u", n) < 0 ||
	    fclose(f))
		bail_out("%s", MAX_OBJECTS);
	return old;
}

static void test_objects(void)
{
	unsigned int old = set_max_objects(3);
	struct xv_context *ctx = xv_open(rig_device(0));
	struct xv_pd *pd[4] = { 0 };
	int i;

	for (i = 0; ctx && i < 4; i++)
		pd[i] = xv_alloc_pd(ctx);
	ok(pd[2] && !pd[3] && errno == ENOSPC && strstr(xv_last_error(), "3 objects"),
	   "a file full of objects: ENOSPC: %s", xv_last_error());
	ok(pd[0] && !xv_dealloc_pd(pd[0]) && xv_alloc_pd(ctx), "one destroyed makes room for one");
	set_max_objects(old);
	xv_close(ctx);
}

static int set_qkey(uint32_t qkey)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_UD, .send_cq = r.cq[0],
		.recv_cq = r.cq[0], .cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = 1, .qkey = qkey };
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &attr);
	int err;

	if (!qp)
		bail_out("%s", xv_last_error());
	err = xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY);
	xv_destroy_qp(qp);
	return err;
}

static void test_memlock(void)
{
	size_t size = 1 << 20;
	void *mem = aligned_alloc(4096, size);
	struct xv_mr *mr;

	mr = xv_reg_mr(r.side[0].pd, mem, size, XV_ACCESS_LOCAL_WRITE);
	ok(!mr && errno == ENOMEM && strstr(xv_last_error(), "RLIMIT_MEMLOCK"),
	   "over the limit of locked memory: ENOMEM: %s", xv_last_error());
	ok(!xv_reg_umem(r.side[0].ctx, mem, size) && errno == ENOMEM &&
	   strstr(xv_last_error(), "RLIMIT_MEMLOCK"), "a UMEM likewise: %s", xv_last_error());
	mr = xv_reg_mr(r.side[0].pd, mem, 65536, XV_ACCESS_LOCAL_WRITE);
	ok(mr && !xv_dereg_mr(mr), "and within it");
	free(mem);
}

static void test_all(void)
{
	static const struct rig_opts opts = { .size = 4096, .unconnected = true };
	struct rlimit limit = { 128 << 10, 128 << 10 };

	test_objects();
	rig_open(&r, &opts);
	ok(!set_qkey(0x80010001), "a controlled Q_Key, with CAP_NET_RAW");
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		bail_out("cannot give up privileges");
	ok(set_qkey(0x80010001) == -EPERM && strstr(xv_last_error(), "CAP_NET_RAW"),
	   "without it: EPERM: %s", xv_last_error());
	ok(!set_qkey(0x10001), "another Q_Key");
	test_memlock();
	rig_close(&r);
}

static void hold(void)
{
	struct rig_opts opts = { .size = 4096, .depth = 1024, .cqe = 16383, .sge = 1,
		.unconnected = true };
	size_t bytes = 0;
	int i;

	rig_open(&r, &opts);
	for (i = 0; i < 2; i++)
		bytes += (r.cq[i]->mask + 1) * 64 + (r.qp[i]->sq.mask + 1) * 64 +
			 ((r.qp[i]->rq.mask + 1) << r.qp[i]->rq.log_stride);
	printf("holding %zu\n", bytes);
	fflush(stdout);
	pause();
}

int main(int argc, char **argv)
{
	bool holds = argc > 1 && !strcmp(argv[1], "hold");

	rig_devices(argc - holds, argv + holds);
	if (holds)
		hold();
	test_all();
	return tap_done();
}
