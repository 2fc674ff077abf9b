// SPDX-License-Identifier: GPL-2.0
/*
 * usage: create [DEVICE]
 *
 * Rate of making and destroying queue pairs and completion queues, libxverbs
 * against libibverbs on the same device, in turns; and the memory of the whole
 * machine that an idle RC pair takes.
 *
 * Prints lines: bench NAME VALUE UNIT
 */
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

enum { OBJECTS = 1024, TURNS = 3 };

static struct ibv_context *ib_ctx;
static struct ibv_pd *ib_pd;
static struct ibv_cq *ib_cq;
static struct xt_side side;
static struct xv_cq *xv_one_cq;

static void *ib_make_cq(void)
{
	return ibv_create_cq(ib_ctx, 64, NULL, NULL, 0);
}

static int ib_end_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

static void *ib_make_qp(void)
{
	struct ibv_qp_init_attr attr = { .send_cq = ib_cq, .recv_cq = ib_cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 } };

	return ibv_create_qp(ib_pd, &attr);
}

static int ib_end_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

static void *xv_make_cq(void)
{
	struct xv_cq_init_attr attr = { .cqe = 64 };

	return xv_create_cq(side.ctx, &attr);
}

static int xv_end_cq(void *cq)
{
	return xv_destroy_cq(cq);
}

static void *xv_make_qp(void)
{
	struct xv_qp_init_attr attr = { .send_cq = xv_one_cq, .recv_cq = xv_one_cq,
		.qp_type = XV_QPT_RC, .cap = { .max_send_wr = 16, .max_recv_wr = 16,
		.max_send_sge = 1, .max_recv_sge = 1 } };

	return xv_create_qp(side.pd, &attr);
}

static int xv_end_qp(void *qp)
{
	return xv_destroy_qp(qp);
}

static const struct kind {
	const char *library;
	const char *object;
	void *(*make)(void);
	int (*end)(void *object);
} kinds[] = {
	{ "libibverbs", "qp", ib_make_qp, ib_end_qp },
	{ "libxverbs", "qp", xv_make_qp, xv_end_qp },
	{ "libibverbs", "cq", ib_make_cq, ib_end_cq },
	{ "libxverbs", "cq", xv_make_cq, xv_end_cq },
};

static void *object[OBJECTS];

static void make_all(const struct kind *k)
{
	int i;

	for (i = 0; i < OBJECTS; i++) {
		object[i] = k->make();
		if (!object[i])
			xt_die(XT_FAILED, "%s: cannot make %s number %d", k->library, k->object, i);
	}
}

static void end_all(const struct kind *k)
{
	int i;

	for (i = 0; i < OBJECTS; i++)
		if (k->end(object[i]))
			xt_die(XT_FAILED, "%s: cannot destroy a %s", k->library, k->object);
}

static double mem_available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	double kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lf", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static void open_both(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i] && !ib_ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ib_ctx = ibv_open_device(list[i]);
	ib_pd = ib_ctx ? ibv_alloc_pd(ib_ctx) : NULL;
	ib_cq = ib_pd ? ib_make_cq() : NULL;
	if (!ib_cq)
		xt_die(XT_FAILED, "libibverbs cannot open %s", name);
	if (xt_side_open(&side, name, 1, -1))
		xt_die_xv("%s", name);
	xv_one_cq = xv_make_cq();
	if (!xv_one_cq)
		xt_die_xv("%s", name);
}

int main(int argc, char **argv)
{
	double best[ARRAY_SIZE(kinds)] = { 0 }, start, rate, before;
	size_t i, turn;

	open_both(argc > 1 ? argv[1] : "mlx5_0");
	for (turn = 0; turn < TURNS; turn++) {
		for (i = 0; i < ARRAY_SIZE(kinds); i++) {
			start = xt_now();
			make_all(&kinds[i]);
			end_all(&kinds[i]);
			rate = OBJECTS / (xt_now() - start);
			if (rate > best[i])
				best[i] = rate;
		}
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		printf("bench %s.%s_per_second %.0f 1/s\n", kinds[i].library, kinds[i].object, best[i]);
	printf("bench libxverbs/libibverbs.qp_per_second %.3f ratio\n", best[1] / best[0]);
	printf("bench libxverbs/libibverbs.cq_per_second %.3f ratio\n", best[3] / best[2]);
	for (i = 0; i < 2; i++) {
		before = mem_available();
		make_all(&kinds[i]);
		printf("bench %s.memory_per_qp_pair %.1f KiB\n", kinds[i].library,
		       2 * (before - mem_available()) / OBJECTS);
		end_all(&kinds[i]);
	}
	return 0;
}
