// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Results of tests that run in two ways.
 */
#include <string.h>
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

/* What a way of the test is, as people and plots call it */
static const char *way_name(const struct compare *c, int way)
{
	if (c->test == CMP_GATHER)
		return way == AT_ONCE ? "one write" : "a write per row";
	return way == AT_ONCE ? "posted once" : "CPU-driven";
}

/* Who calculates the result of what is posted once */
static const char *calculates(const struct compare *c)
{
	return c->result_by_cpu ? "CPU" : "adapter";
}

static void end_row(const struct compare *c, const char *who)
{
	if (c->test == CMP_ALLREDUCE)
		printf("  %s", who);
	putchar('\n');
}

void compare_begin(const struct compare *c, bool json)
{
	if (json) {
		xt_json_open('{');
		xt_json_str("program", "xv_perf");
		xt_json_str("test", "%s", compared_name(c->test));
		if (c->test == CMP_CHAIN)
			xt_json_num("qps", c->qps);
		if (c->test == CMP_ALLREDUCE)
			xt_json_str("type", "%s", c->real ? "float64" : "uint64");
		xt_json_bool("events", c->events);
		xt_json_str("at_once", "%s", way_name(c, AT_ONCE));
		xt_json_str("in_steps", "%s", way_name(c, IN_STEPS));
		xt_json_key("results");
		xt_json_open('[');
		return;
	}
	printf("A: %s; B: %s\n%-10s ", way_name(c, AT_ONCE), way_name(c, IN_STEPS),
	       compared_name(c->test));
	if (compared_has_ranks(c->test))
		printf("%5s ", "ranks");
	printf("%8s %10s  %10s %10s %8s  %10s %10s %8s  %10s %10s", "bytes",
	       c->test == CMP_CHAIN ? "steps" : "runs", "A us", "B us", "A/B",
	       "A CPU us", "B CPU us", "A/B", "A per s", "B per s");
	end_row(c, "A: last sum by");
	fflush(stdout);
}

static void show_json(const struct compare *c)
{
	xt_json_open('{');
	xt_json_num("bytes", c->size);
	if (compared_has_ranks(c->test))
		xt_json_num("ranks", c->ranks);
	xt_json_num("iterations", (double)c->iterations);
	if (c->test == CMP_ALLREDUCE)
		xt_json_str("last_sum_by", "%s", calculates(c));
	xt_json_num("at_once_us", c->us[AT_ONCE]);
	xt_json_num("in_steps_us", c->us[IN_STEPS]);
	xt_json_num("at_once_per_s", 1e6 / c->us[AT_ONCE]);
	xt_json_num("in_steps_per_s", 1e6 / c->us[IN_STEPS]);
	xt_json_num("at_once_cpu_time_us", c->cpu_us[AT_ONCE]);
	xt_json_num("in_steps_cpu_time_us", c->cpu_us[IN_STEPS]);
	xt_json_close('}');
}

static void show_row(const struct compare *c)
{
	printf("%-10s ", "");
	if (compared_has_ranks(c->test))
		printf("%5u ", c->ranks);
	printf("%8u %10llu  %10.2f %10.2f %8.2f  %10.2f %10.2f %8.3f  %10.0f %10.0f", c->size,
	       (unsigned long long)c->iterations, c->us[AT_ONCE], c->us[IN_STEPS],
	       c->us[AT_ONCE] / c->us[IN_STEPS], c->cpu_us[AT_ONCE], c->cpu_us[IN_STEPS],
	       c->cpu_us[AT_ONCE] / c->cpu_us[IN_STEPS], 1e6 / c->us[AT_ONCE],
	       1e6 / c->us[IN_STEPS]);
	end_row(c, calculates(c));
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
