// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints results as a table or as JSON.
 */
#include <stdlib.h>
#include "perf.h"

const char *op_name(enum op op)
{
	static const char *const names[] = {
		[OP_WRITE] = "write", [OP_WRITE_IMM] = "write_imm", [OP_READ] = "read",
		[OP_SEND] = "send", [OP_SEND_IMM] = "send_imm",
		[OP_FETCH_ADD] = "fetch_add", [OP_CMP_SWAP] = "cmp_swap", [OP_BIND] = "bind",
		[OP_MASKED_FETCH_ADD] = "masked_fetch_add",
		[OP_MASKED_CMP_SWAP] = "masked_cmp_swap",
	};

	return op < OP_COUNT ? names[op] : "?";
}

bool op_is_atomic(enum op op)
{
	return op == OP_FETCH_ADD || op == OP_CMP_SWAP;
}

bool op_is_masked(enum op op)
{
	return op == OP_MASKED_FETCH_ADD || op == OP_MASKED_CMP_SWAP;
}

bool op_is_received(enum op op)
{
	return op == OP_SEND || op == OP_SEND_IMM || op == OP_WRITE_IMM;
}

bool op_bounces(enum op op)
{
	return op == OP_WRITE || op_is_received(op);
}

const char *transport_name(enum transport tp)
{
	static const char *const names[] = {
		[TP_RC] = "rc", [TP_UC] = "uc", [TP_UD] = "ud", [TP_XRC] = "xrc",
		[TP_DC] = "dc",
	};

	return tp < TP_COUNT ? names[tp] : "?";
}

bool transport_has(enum transport tp, enum op op)
{
	switch (tp) {
	case TP_UC: return op_bounces(op);
	case TP_UD: return op == OP_SEND;
	case TP_XRC:
	case TP_DC: return op != OP_BIND && !op_is_masked(op);
	default: return true;
	}
}

bool transport_is_reliable(enum transport tp)
{
	return tp == TP_RC || tp == TP_XRC || tp == TP_DC;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static double quantile(const struct run *r, double q)
{
	uint64_t i = (uint64_t)(q * (double)(r->p.iterations - 1) + 0.5);

	return r->sample[i] / xt_ticks_per_us();
}

void report_begin(const struct params *p, bool json)
{
	if (json) {
		xt_json_open('{');
		xt_json_str("program", "xv_perf");
		xt_json_str("test", "%s", p->latency ? "latency" : "bandwidth");
		xt_json_str("operation", "%s", op_name(p->op));
		xt_json_str("transport", "%s", transport_name(p->transport));
		xt_json_num("qps", p->qps);
		if (p->transport == TP_DC)
			xt_json_num("targets", p->targets);
		xt_json_num("depth", p->depth);
		xt_json_num("batch", p->batch);
		xt_json_num("signal_every", p->signal_every);
		xt_json_bool("events", p->events);
		xt_json_num("data_path_system_calls_allowed", p->events ? 1 : 0);
		xt_json_key("results");
		xt_json_open('[');
		return;
	}
	if (p->latency)
		printf("%-10s %10s %9s %9s %9s %9s %9s %9s\n", op_name(p->op), "bytes", "min us",
		       "median", "average", "p99", "p99.9", "max");
	else
		printf("%-10s %10s %12s %12s %12s\n", op_name(p->op), "bytes", "operations",
		       "MB/s", "Mops/s");
	fflush(stdout);
}

/* From line to line, the upper limit grows by 2^(1/4). */
static void show_histogram(const struct run *r)
{
	enum { BINS = 256 };
	uint64_t bin[BINS] = { 0 }, most = 1, i;
	double us, limit = 0.1;
	int b = 0, first = -1, last = 0;

	for (i = 0; i < r->p.iterations; i++) {
		us = r->sample[i] / xt_ticks_per_us();
		while (us >= limit && b < BINS - 1) {
			limit *= 1.189207115;
			b++;
		}
		if (++bin[b] > most)
			most = bin[b];
		if (first < 0)
			first = b;
		last = b;
	}
	for (limit = 0.1, b = 0; b <= last; b++, limit *= 1.189207115)
		if (b >= first)
			printf("  < %9.2f us %9llu %.*s\n", limit, (unsigned long long)bin[b],
			       (int)(50 * bin[b] / most),
			       "##################################################");
}

static void report_latency(const struct run *r, bool json, bool histogram)
{
	double average = (double)r->ticks / (double)r->p.iterations / xt_ticks_per_us();

	if (op_bounces(r->p.op))
		average /= 2;
	qsort(r->sample, r->p.iterations, sizeof(*r->sample), by_value);
	if (json) {
		xt_json_num("min_us", quantile(r, 0));
		xt_json_num("median_us", quantile(r, 0.5));
		xt_json_num("average_us", average);
		xt_json_num("p99_us", quantile(r, 0.99));
		xt_json_num("p999_us", quantile(r, 0.999));
		xt_json_num("max_us", quantile(r, 1));
		return;
	}
	printf("%-10s %10u %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", "", r->p.size, quantile(r, 0),
	       quantile(r, 0.5), average, quantile(r, 0.99), quantile(r, 0.999), quantile(r, 1));
	if (histogram)
		show_histogram(r);
}

static void report_bandwidth(const struct run *r, bool json)
{
	double us = (double)r->ticks / xt_ticks_per_us();
	double mops = (double)r->p.iterations / us, mb = mops * r->p.size;

	if (json) {
		xt_json_num("seconds", us / 1e6);
		xt_json_num("mb_per_s", mb);
		xt_json_num("mops_per_s", mops);
		xt_json_num("lost", (double)r->lost);
		return;
	}
	printf("%-10s %10u %12llu %12.2f %12.4f\n", "", r->p.size,
	       (unsigned long long)r->p.iterations, mb, mops);
	if (r->lost)
		printf("%-10s %10s %12llu lost\n", "", "", (unsigned long long)r->lost);
}

void report_run(const struct run *r, bool json, bool histogram)
{
	if (json) {
		xt_json_open('{');
		xt_json_num("bytes", r->p.size);
		xt_json_num("iterations", (double)r->p.iterations);
	}
	if (r->p.latency)
		report_latency(r, json, histogram);
	else
		report_bandwidth(r, json);
	if (json)
		xt_json_close('}');
	fflush(stdout);
}

void report_end(bool json)
{
	if (!json)
		return;
	xt_json_close(']');
	xt_json_close('}');
}
