// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Results of tests that run in two ways.
 */
#include <string.h>
#include <sys/resource.h>
#include "compare.h"

static const char *const names[] = {
	[CMP_CHAIN] = "chain", [CMP_BARRIER] = "barrier", [CMP_BCAST] = "bcast",
	[CMP_ALLREDUCE] = "allreduce", [CMP_GATHER] = "gather",
};

const char *compared_name(enum compared test)
{
	return names[test];
}

enum compared compared_find(const char *name)
{
	size_t i;

	for (i = CMP_CHAIN; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return (enum compared)i;
	return CMP_NONE;
}

bool compared_has_ranks(enum compared test)
{
	return test == CMP_BARRIER || test == CMP_BCAST || test == CMP_ALLREDUCE;
}

double cpu_time_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

void compare_begin(const struct compare *c, bool json)
{
	if (json) {
		xt_json_open('{');
		xt_json_str("program", "xv_perf");
		xt_json_str("test", "%s", compared_name(c->test));
		if (c->test == CMP_CHAIN)
			xt_json_num("qps", c->qps);
		xt_json_bool("events", c->events);
		xt_json_key("results");
		xt_json_open('[');
		return;
	}
	printf("%-10s ", compared_name(c->test));
	if (compared_has_ranks(c->test))
		printf("%5s ", "ranks");
	printf("%8s %10s  %10s %10s %8s  %10s %10s %8s  %10s %10s\n", "bytes",
	       c->test == CMP_CHAIN ? "steps" : "runs", "adapter us", "CPU us", "ratio",
	       "its CPU us", "CPU us", "ratio", "adapter/s", "CPU/s");
	fflush(stdout);
}

static void show_json(const struct compare *c)
{
	xt_json_open('{');
	xt_json_num("bytes", c->size);
	if (compared_has_ranks(c->test))
		xt_json_num("ranks", c->ranks);
	xt_json_num("iterations", (double)c->iterations);
	xt_json_num("adapter_us", c->us[BY_ADAPTER]);
	xt_json_num("cpu_us", c->us[BY_CPU]);
	xt_json_num("adapter_per_s", 1e6 / c->us[BY_ADAPTER]);
	xt_json_num("cpu_per_s", 1e6 / c->us[BY_CPU]);
	xt_json_num("adapter_cpu_time_us", c->cpu_us[BY_ADAPTER]);
	xt_json_num("cpu_cpu_time_us", c->cpu_us[BY_CPU]);
	xt_json_close('}');
}

static void show_row(const struct compare *c)
{
	printf("%-10s ", "");
	if (compared_has_ranks(c->test))
		printf("%5u ", c->ranks);
	printf("%8u %10llu  %10.2f %10.2f %8.2f  %10.2f %10.2f %8.3f  %10.0f %10.0f\n", c->size,
	       (unsigned long long)c->iterations, c->us[BY_ADAPTER], c->us[BY_CPU],
	       c->us[BY_ADAPTER] / c->us[BY_CPU], c->cpu_us[BY_ADAPTER],
	       c->cpu_us[BY_CPU], c->cpu_us[BY_ADAPTER] / c->cpu_us[BY_CPU],
	       1e6 / c->us[BY_ADAPTER], 1e6 / c->us[BY_CPU]);
}

void compare_run(struct compare *c, bool json)
{
	if (c->test == CMP_CHAIN)
		run_chain(c);
	else if (c->test == CMP_GATHER)
		run_gather(c);
	else
		run_collective(c);
	if (json)
		show_json(c);
	else
		show_row(c);
	fflush(stdout);
}

void compare_end(bool json)
{
	if (!json)
		return;
	xt_json_close(']');
	xt_json_close('}');
}
