// SPDX-License-Identifier: GPL-2.0
/*
 * usage: create [DEVICE]
 *
 * Rate at which queue pairs and completion queues are created and destroyed, libxverbs against
 * libibverbs on the same device, in turns; and the memory that an idle RC pair takes, as
 * charged to the memory cgroup.
 *
 * Prints lines: bench NAME VALUE UNIT
 */
#include <infiniband/verbs.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tool.h"

/* Many short turns, so that other load disturbs only some of them. */
enum { OBJECTS = 1024, AT_A_TIME = 128, TURNS = 16 };

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
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 1, .max_recv_sge = 1 } };

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

static void make(const struct kind *k, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		object[i] = k->make();
		if (!object[i])
			xt_die(XT_FAILED, "%s: %s number %d cannot be created", k->library,
			       k->object, i);
	}
}

static void end(const struct kind *k, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (k->end(object[i]))
			xt_die(XT_FAILED, "%s: cannot destroy a %s", k->library, k->object);
}

#define CGROUPS	"/dev/shm/create-cgroups"

/* Bytes charged to the cgroup, from one line of its statistics */
static double in_use(const char *word)
{
	FILE *f = fopen(CGROUPS "/create/memory.stat", "r");
	size_t n = strlen(word);
	double value = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, word, n))
			value = strtod(line + n, NULL);
	if (f)
		fclose(f);
	return value;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		xt_die(XT_FAILED, "cannot write %s", path);
}

/* Creates a memory cgroup for this process only. */
static void enter_cgroup(void)
{
	mkdir(CGROUPS, 0700);
	if (mount("none", CGROUPS, "cgroup2", 0, NULL))
		xt_die(XT_FAILED, "cannot mount cgroup2");
	write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	mkdir(CGROUPS "/create", 0755);
	write_file(CGROUPS "/create/cgroup.procs", "0");
}

static void leave_cgroup(void)
{
	write_file(CGROUPS "/cgroup.procs", "0");
	rmdir(CGROUPS "/create");
	umount(CGROUPS);
	rmdir(CGROUPS);
}

/* The rings of libxverbs count as kernel memory, those of libibverbs as process memory. */
static void weigh(const struct kind *k)
{
	double kernel, process;

	malloc_trim(0);
	kernel = in_use("kernel ");
	process = in_use("anon ");
	make(k, OBJECTS);
	printf("bench %s.qp_pair_memory_kernel %.0f bytes\n", k->library,
	       2 * (in_use("kernel ") - kernel) / OBJECTS);
	printf("bench %s.qp_pair_memory_process %.0f bytes\n", k->library,
	       2 * (in_use("anon ") - process) / OBJECTS);
	end(k, OBJECTS);
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
	double best[ARRAY_SIZE(kinds)] = { 0 }, start, rate;
	size_t i, turn;

	open_both(argc > 1 ? argv[1] : "mlx5_0");
	for (turn = 0; turn < TURNS; turn++) {
		for (i = 0; i < ARRAY_SIZE(kinds); i++) {
			start = xt_now();
			make(&kinds[i], AT_A_TIME);
			end(&kinds[i], AT_A_TIME);
			rate = AT_A_TIME / (xt_now() - start);
			if (rate > best[i])
				best[i] = rate;
		}
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		printf("bench %s.%s_per_second %.0f 1/s\n", kinds[i].library, kinds[i].object,
		       best[i]);
	printf("bench libxverbs/libibverbs.qp_per_second %.3f ratio\n", best[1] / best[0]);
	printf("bench libxverbs/libibverbs.cq_per_second %.3f ratio\n", best[3] / best[2]);
	enter_cgroup();
	for (i = 0; i < 2; i++)
		weigh(&kinds[i]);
	leave_cgroup();
	return 0;
}
