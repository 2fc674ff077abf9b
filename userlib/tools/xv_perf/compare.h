/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tests that do the same work in two ways.  AT_ONCE: all requests are posted before they run; of
 * gather, it is one request.  IN_STEPS: the CPU polls for the end of a step and posts the next
 * one; of gather, it posts a request for each row.
 */
#ifndef XV_PERF_COMPARE_H
#define XV_PERF_COMPARE_H

#include "tool.h"

enum { AT_ONCE, IN_STEPS, WAYS };

enum compared {
	CMP_NONE,
	CMP_CHAIN,
	CMP_BARRIER,
	CMP_BCAST,
	CMP_ALLREDUCE,
	CMP_GATHER,
};

struct compare {
	enum compared test;
	const char *device[2];		/* of even and of odd ranks; of both ends of others */
	uint32_t port;
	int gid_index;
	struct xt_net net;
	uint32_t size;
	uint64_t iterations;		/* steps of the chain; runs of an operation */
	uint32_t ranks;
	uint32_t qps;
	bool real;			/* allreduce: floating-point numbers, else integers */
	bool result_by_cpu;		/* allreduce AT_ONCE: the CPU calculates the last sum */
	bool events;			/* sleep until the end, except IN_STEPS */
	double us[WAYS];		/* results: time of an iteration */
	double cpu_us[WAYS];		/* processor time of this process for an iteration */
};

const char *compared_name(enum compared test);

/* Returns CMP_NONE for another name. */
enum compared compared_find(const char *name);
bool compared_has_ranks(enum compared test);

/* chain.c, gather.c, collective.c */
void run_gather(struct compare *c);
void run_chain(struct compare *c);
void run_collective(struct compare *c);

/* compare.c: runs the test for one size or number of ranks after the other and reports */
void compare_begin(const struct compare *c, bool json);
void compare_run(struct compare *c, bool json);
void compare_end(bool json);

#endif
