// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xv_perf: measures latency and bandwidth of RDMA operations, with both ends in one
 * process, or as client and server.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compare.h"
#include "perf.h"

enum { UNSET = -1, LAT_INLINE = 220, MAX_SAMPLES = 1 << 24, GATHER_MAX = 32768, MAX_RANKS = 256 };

static struct {
	struct params p;
	const char *device[2];
	const char *listen;
	bool server;
	const char *host;
	uint32_t port;
	int gid_index;
	uint32_t size_first;
	uint32_t size_last;
	enum compared compared;
	uint32_t ranks_first;
	uint32_t ranks_last;
	bool json;
	bool histogram;
	bool quiet;
	bool real;
	bool typed;
} opt = { .gid_index = -1, .p.inline_max = UNSET };

static const char usage[] =
	"usage: xv_perf [OPTIONS] lat|bw OPERATION [HOST[:PORT]]\n"
	"       xv_perf [OPTIONS] --listen[=[HOST]:PORT]\n"
	"       xv_perf [OPTIONS] chain|barrier|bcast|allreduce|gather\n"
	"       xv_perf plot [--title TEXT] IMAGE.svg|IMAGE.png RUN.json...\n"
	"Measures latency (lat), or bandwidth and message rate (bw).  OPERATION is write,\n"
	"write_imm, read, send, send_imm, fetch_add, cmp_swap, masked_fetch_add,\n"
	"masked_cmp_swap or bind (a memory window).\n"
	"Without HOST, both ends are in this process, on --device and --peer-device.\n"
	"  -d, --device NAME         RDMA device (default: the first)\n"
	"  -e, --peer-device NAME    device of the peer, without HOST\n"
	"  -p, --port N              port of the device (1)\n"
	"  -x, --gid-index N         local GID (default: RoCE v2 GID of an IPv4 address)\n"
	"  -L, --sl N                service level; on RoCE the priority (0)\n"
	"  -C, --tclass N            traffic class; on RoCE the DSCP is its upper 6 bits (0)\n"
	"  -P, --pkey-index N        index of the P_Key (0)\n"
	"  -m, --mtu N               MTU: 256, 512, 1024, 2048 or 4096 (that of both ports)\n"
	"  -T, --transport NAME      rc, uc, ud, xrc or dc (rc); uc has write and send, ud\n"
	"                            send\n"
	"  -s, --size N[-M]          bytes, or all powers of two from N to M (64)\n"
	"  -n, --iterations N        operations per size (lat 10000, at most 16M; bw 100000)\n"
	"  -D, --depth N             bw: operations in flight per queue pair (128)\n"
	"  -b, --batch N             bw: operations per doorbell (1)\n"
	"  -S, --signal-every N      bw: request a completion for each Nth operation (half\n"
	"                            of the depth, at most 64)\n"
	"  -q, --qps N               bw: queue pairs (1)\n"
	"  -t, --targets N           dc: targets; the next message is for the next one (1)\n"
	"  -i, --inline N            send up to N bytes as inline data (lat 220, bw 0)\n"
	"  -r, --ranks N[-M]         ranks of barrier, bcast and allreduce, or all powers of\n"
	"                            two from N to M (8)\n"
	"  -y, --type NAME           elements of allreduce: uint64 or float64 (uint64)\n"
	"  -E, --events              lat, except write: sleep until a completion event;\n"
	"                            chain and others: sleep until the end\n"
	"  -H, --histogram           lat: show the distribution of the samples\n"
	"  -j, --json                show results as JSON\n"
	"  -Q, --quiet               do not show progress\n"
	"  -h, --help                show this help\n"
	"chain, barrier, bcast and allreduce compare requests that are posted once, before they\n"
	"run, with the same requests driven by the CPU step by step: time, CPU time and rate of\n"
	"the steps of the chain, or of the runs of the operation.  What is posted once runs in\n"
	"the adapter, but the CPU calculates the last sum of a short allreduce of integers; the\n"
	"last column says who did.  gather compares one write of 64 rows through an indirect key\n"
	"with 64 writes.\n"
	"plot draws runs that were saved with --json into one diagram; it needs gnuplot.\n"
	"Except with --events, the measuring thread has a seccomp filter that kills the\n"
	"process at any system call.\n";

static void fail_usage(const char *what)
{
	xt_die(XT_USAGE, "%s; see xv_perf --help", what);
}

static void parse_range(const char *text, const char *name, uint32_t most, uint32_t *first,
			uint32_t *last)
{
	char *copy = strdup(text), *dash = strchr(copy, '-');

	if (dash)
		*dash++ = 0;
	*first = (uint32_t)xt_number(copy, name, 1, most);
	*last = dash ? (uint32_t)xt_number(dash, name, *first, most) : *first;
	free(copy);
}

static void parse_size(const char *text)
{
	parse_range(text, "--size", MAX_SIZE, &opt.size_first, &opt.size_last);
}

static void parse_ranks(const char *text)
{
	parse_range(text, "--ranks", MAX_RANKS, &opt.ranks_first, &opt.ranks_last);
}

static void parse_type(const char *text)
{
	opt.typed = true;
	opt.real = !strcmp(text, "float64");
	if (!opt.real && strcmp(text, "uint64"))
		fail_usage("--type is uint64 or float64");
}

static void parse_transport(const char *text)
{
	opt.p.transport = TP_RC;
	while (opt.p.transport < TP_COUNT && strcmp(text, transport_name(opt.p.transport)))
		opt.p.transport++;
	if (opt.p.transport == TP_COUNT)
		fail_usage("unknown transport");
}

static void parse_mtu(const char *text)
{
	uint64_t bytes = xt_number(text, "--mtu", 256, 4096);

	opt.p.net.mtu = XV_MTU_256;
	while (128u << opt.p.net.mtu < bytes)
		opt.p.net.mtu++;
	if (128u << opt.p.net.mtu != bytes)
		fail_usage("--mtu is 256, 512, 1024, 2048 or 4096");
}

static void parse_option(int c)
{
	struct params *p = &opt.p;

	switch (c) {
	case 'd': opt.device[0] = optarg; break;
	case 'e': opt.device[1] = optarg; break;
	case 'p': opt.port = (uint32_t)xt_number(optarg, "--port", 1, 255); break;
	case 'x': opt.gid_index = (int)xt_number(optarg, "--gid-index", 0, 255); break;
	case 'L': p->net.sl = (uint8_t)xt_number(optarg, "--sl", 0, 15); break;
	case 'C': p->net.tclass = (uint8_t)xt_number(optarg, "--tclass", 0, 255); break;
	case 'P':
		p->net.pkey_index = (uint16_t)xt_number(optarg, "--pkey-index", 0, UINT16_MAX);
		break;
	case 'm': parse_mtu(optarg); break;
	case 'T': parse_transport(optarg); break;
	case 's': parse_size(optarg); break;
	case 'n': p->iterations = xt_number(optarg, "--iterations", 1, UINT32_MAX); break;
	case 'D': p->depth = (uint32_t)xt_number(optarg, "--depth", 1, MAX_DEPTH); break;
	case 'b': p->batch = (uint32_t)xt_number(optarg, "--batch", 1, MAX_DEPTH); break;
	case 'S':
		p->signal_every = (uint32_t)xt_number(optarg, "--signal-every", 1, MAX_DEPTH);
		break;
	case 'q': p->qps = (uint32_t)xt_number(optarg, "--qps", 1, MAX_QPS); break;
	case 't': p->targets = (uint32_t)xt_number(optarg, "--targets", 1, MAX_TARGETS); break;
	case 'i': p->inline_max = (uint32_t)xt_number(optarg, "--inline", 0, MAX_INLINE); break;
	case 'l': opt.server = true; opt.listen = optarg; break;
	case 'r': parse_ranks(optarg); break;
	case 'y': parse_type(optarg); break;
	case 'E': p->events = true; break;
	case 'H': opt.histogram = true; break;
	case 'j': opt.json = true; break;
	case 'Q': opt.quiet = true; break;
	case 'h':
		fputs(usage, stdout);
		exit(XT_OK);
	default:
		fputs(usage, stderr);
		exit(XT_USAGE);
	}
}

static void parse_test(int argc, char **argv)
{
	opt.compared = argc ? compared_find(argv[0]) : CMP_NONE;
	if (opt.typed && opt.compared != CMP_ALLREDUCE)
		fail_usage("--type needs allreduce");
	if (opt.compared && argc > 1)
		fail_usage("too many arguments");
	if (opt.compared)
		return;
	if (argc < 2)
		fail_usage("lat or bw and an operation are needed");
	if (strcmp(argv[0], "lat") && strcmp(argv[0], "bw"))
		fail_usage("the first argument must be lat or bw");
	opt.p.latency = !strcmp(argv[0], "lat");
	while (opt.p.op < OP_COUNT && strcmp(argv[1], op_name(opt.p.op)))
		opt.p.op++;
	if (opt.p.op == OP_COUNT)
		fail_usage("unknown operation");
	opt.host = argc > 2 ? argv[2] : NULL;
	if (argc > 3)
		fail_usage("too many arguments");
}

static void settle_compared(void)
{
	if (!opt.size_first)
		opt.size_first = opt.size_last = opt.compared == CMP_CHAIN ||
						 opt.compared == CMP_GATHER ? 64 : 8;
	if (opt.compared == CMP_BARRIER)
		opt.size_first = opt.size_last = 0;
	if (opt.compared == CMP_ALLREDUCE && opt.size_first % 8)
		fail_usage("allreduce needs a size that is a multiple of 8");
	if (opt.compared == CMP_BCAST && opt.size_first < 8)
		fail_usage("bcast needs a size of at least 8");
	if (opt.compared == CMP_GATHER && opt.size_last > GATHER_MAX)
		fail_usage("gather needs a size of at most 32768");
	if (!opt.p.iterations)
		opt.p.iterations = opt.compared == CMP_CHAIN ? 10000 : 1000;
	if (!opt.p.qps)
		opt.p.qps = 4;
	if (!opt.ranks_first || !compared_has_ranks(opt.compared))
		opt.ranks_first = opt.ranks_last = 8;
	if (opt.size_first != opt.size_last && opt.ranks_first != opt.ranks_last)
		fail_usage("a range of sizes and a range of ranks exclude each other");
}

static void settle_masked(struct params *p)
{
	uint32_t most = p->op == OP_MASKED_CMP_SWAP ? 128 : 256;

	if (opt.size_first < 4 || opt.size_first & (opt.size_first - 1) || opt.size_last > most)
		fail_usage("masked atomics have 4, 8, 16... 256 bytes, swaps at most 128");
	p->max_atomic_arg = opt.size_last;
}

/* Sets defaults and checks combinations. */
static void settle(void)
{
	struct params *p = &opt.p;

	if (!transport_has(p->transport, p->op))
		fail_usage("the transport does not support this operation");
	if (!opt.size_first)
		opt.size_first = opt.size_last = op_is_masked(p->op) ? 8 : 64;
	if (op_is_atomic(p->op))
		opt.size_first = opt.size_last = 8;
	if (op_is_masked(p->op))
		settle_masked(p);
	if (!p->iterations)
		p->iterations = p->latency ? 10000 : 100000;
	if (p->latency && p->iterations > MAX_SAMPLES)
		fail_usage("lat keeps every sample, so --iterations is at most 16M");
	if (!p->depth)
		p->depth = p->latency ? 2 : 128;
	if (!p->batch)
		p->batch = 1;
	if (!p->qps || p->latency)
		p->qps = 1;
	if (p->targets && p->transport != TP_DC)
		fail_usage("--targets needs the transport dc");
	if (!p->targets)
		p->targets = 1;
	if (p->batch > p->depth)
		fail_usage("--batch must not exceed --depth");
	if (!p->signal_every)
		p->signal_every = p->depth < 4 ? 1 : p->depth > 128 ? 64 : p->depth / 2;
	if (p->inline_max == (uint32_t)UNSET)
		p->inline_max = p->latency && p->transport != TP_UD ? LAT_INLINE : 0;
	if (p->signal_every > p->depth)
		fail_usage("--signal-every must not exceed --depth");
	if (p->events && (!p->latency || p->op == OP_WRITE))
		fail_usage("--events needs lat and an operation other than write");
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "peer-device", required_argument, NULL, 'e' },
		{ "port", required_argument, NULL, 'p' },
		{ "gid-index", required_argument, NULL, 'x' },
		{ "sl", required_argument, NULL, 'L' },
		{ "tclass", required_argument, NULL, 'C' },
		{ "pkey-index", required_argument, NULL, 'P' },
		{ "mtu", required_argument, NULL, 'm' },
		{ "transport", required_argument, NULL, 'T' },
		{ "size", required_argument, NULL, 's' },
		{ "iterations", required_argument, NULL, 'n' },
		{ "depth", required_argument, NULL, 'D' },
		{ "batch", required_argument, NULL, 'b' },
		{ "signal-every", required_argument, NULL, 'S' },
		{ "qps", required_argument, NULL, 'q' },
		{ "targets", required_argument, NULL, 't' },
		{ "inline", required_argument, NULL, 'i' },
		{ "listen", optional_argument, NULL, 'l' },
		{ "ranks", required_argument, NULL, 'r' },
		{ "type", required_argument, NULL, 'y' },
		{ "events", no_argument, NULL, 'E' },
		{ "histogram", no_argument, NULL, 'H' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'Q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "d:e:p:x:L:C:P:m:T:s:n:D:b:S:q:t:i:l::r:y:EHjQh", longs,
				NULL)) != -1)
		parse_option(c);
	if (opt.server && optind < argc)
		fail_usage("a server takes the test parameters from its client");
	if (opt.server)
		return;
	parse_test(argc - optind, argv + optind);
	if (opt.compared)
		settle_compared();
	else
		settle();
}

static void show_progress(const struct run *r)
{
	fprintf(stderr, "\r%s %u bytes: %llu of %llu ", op_name(r->p.op), r->p.size,
		(unsigned long long)__atomic_load_n(&r->done, __ATOMIC_RELAXED),
		(unsigned long long)r->p.iterations);
}

struct watched {
	struct run *run;
	volatile int over;
};

static void measure(void *arg)
{
	struct watched *w = arg;

	if (w->run->p.latency)
		run_latency(w->run);
	else
		run_bandwidth(w->run);
	w->over = 1;
}

/* Measures in a sealed thread, or with --events in this one; shows progress. */
static void execute(struct run *r)
{
	bool progress = !opt.quiet && isatty(STDERR_FILENO);
	struct watched w = { .run = r };
	struct xt_sealed *thread;
	int ms;

	if (r->p.latency && r->a)
		r->sample = xt_calloc(r->p.iterations, sizeof(*r->sample));
	xt_ticks_per_us();
	if (r->p.events) {
		measure(&w);
	} else {
		thread = xt_sealed_start(measure, &w, 0, NULL, 0);
		for (ms = 0; progress && !w.over; ms++) {
			usleep(1000);
			if (ms % 500 == 499)
				show_progress(r);
		}
		xt_sealed_join(thread);
		if (progress)
			fprintf(stderr, "\r\033[K");
	}
	if (r->failed)
		xt_die(XT_FAILED, "%s of %u bytes: %s", op_name(r->p.op), r->p.size,
		       xv_wc_status_str((enum xv_wc_status)r->failed));
}

/* The next of the powers of two, and at the end the last value itself; 0 after it */
static uint32_t next_value(uint32_t value, uint32_t last)
{
	return value >= last || value > MAX_SIZE / 2 ? 0 : value * 2 > last ? last : value * 2;
}

static uint32_t next_size(uint32_t size)
{
	return next_value(size, opt.size_last);
}

static void local(void)
{
	static struct end a, b;
	const char *peer = opt.device[1] ? opt.device[1] : opt.device[0];
	uint32_t size;

	end_open(&a, opt.device[0], opt.port, opt.gid_index, &opt.p, opt.size_last);
	end_open(&b, peer, opt.port, opt.gid_index, &opt.p, opt.size_last);
	end_connect_local(&a, &b);
	report_begin(&opt.p, opt.json);
	for (size = opt.size_first; size; size = next_size(size)) {
		struct run r = { .p = opt.p, .a = &a, .b = &b };

		r.p.size = size;
		end_prepare(&a, &r.p);
		end_prepare(&b, &r.p);
		execute(&r);
		report_run(&r, opt.json, opt.histogram);
		free(r.sample);
	}
	report_end(opt.json);
	end_close(&a);
	end_close(&b);
}

static void compare(void)
{
	struct compare c = {
		.test = opt.compared, .device = { opt.device[0], opt.device[1] },
		.port = opt.port, .gid_index = opt.gid_index, .iterations = opt.p.iterations,
		.qps = opt.p.qps, .events = opt.p.events, .real = opt.real, .net = opt.p.net,
	};
	uint32_t ranks, size;

	compare_begin(&c, opt.json);
	for (ranks = opt.ranks_first; ranks; ranks = next_value(ranks, opt.ranks_last)) {
		size = opt.size_first;
		do {
			c.ranks = ranks;
			c.size = size;
			compare_run(&c, opt.json);
			size = next_size(size);
		} while (size);
	}
	compare_end(opt.json);
}

/* ---- Client and server ------------------------------------------------- */

static void expect_line(int fd, const char *word)
{
	char line[XT_LINE];

	xt_recv_line(fd, line);
	if (strcmp(line, word))
		xt_die(XT_FAILED, "unexpected message from the peer: \"%s\"", line);
}

static void client(void)
{
	static struct end a;
	struct params *p = &opt.p;
	uint32_t size;
	int fd;

	fd = xt_dial(opt.host, NULL);
	xt_send_line(fd, "xv_perf 3 %d %d %d %u %u %u %u %u", p->latency, p->op, p->transport,
		     p->depth, p->qps, opt.size_last, p->inline_max, p->targets);
	end_open(&a, opt.device[0], opt.port, opt.gid_index, p, opt.size_last);
	end_connect_remote(&a, fd);
	report_begin(p, opt.json);
	for (size = opt.size_first; size; size = next_size(size)) {
		struct run r = { .p = *p, .a = &a };

		r.p.size = size;
		end_prepare(&a, &r.p);
		xt_send_line(fd, "run %u %llu", size, (unsigned long long)p->iterations);
		expect_line(fd, "ready");
		execute(&r);
		expect_line(fd, "done");
		report_run(&r, opt.json, opt.histogram);
		free(r.sample);
	}
	xt_send_line(fd, "bye");
	report_end(opt.json);
	end_close(&a);
	close(fd);
}

static bool within(uint32_t value, uint32_t least, uint32_t most)
{
	return value >= least && value <= most;
}

/* Anyone may connect: the limits are those of the options.  Returns the largest size. */
static uint32_t parse_request(const char *line, struct params *p)
{
	uint32_t latency, op, tp, max_size;

	if (sscanf(line, "xv_perf 3 %u %u %u %u %u %u %u %u", &latency, &op, &tp, &p->depth,
		   &p->qps, &max_size, &p->inline_max, &p->targets) != 8 ||
	    !within(latency, 0, 1) || !within(op, 0, OP_COUNT - 1) ||
	    !within(tp, 0, TP_COUNT - 1) ||
	    !transport_has((enum transport)tp, (enum op)op) || !within(p->depth, 1, MAX_DEPTH) ||
	    !within(p->qps, 1, latency ? 1 : MAX_QPS) || !within(max_size, 1, MAX_SIZE) ||
	    !within(p->inline_max, 0, MAX_INLINE) || !within(p->targets, 1, MAX_TARGETS))
		xt_die(XT_FAILED, "unknown request of the client: \"%s\"", line);
	p->latency = latency;
	p->op = (enum op)op;
	p->transport = (enum transport)tp;
	return max_size;
}

static void server(void)
{
	static struct end b;
	struct params p = { .batch = 1, .signal_every = 1, .net = opt.p.net };
	unsigned long long iterations;
	char line[XT_LINE];
	uint32_t max_size;
	int fd = xt_listen(opt.listen);

	xt_recv_line(fd, line);
	max_size = parse_request(line, &p);
	end_open(&b, opt.device[0], opt.port, opt.gid_index, &p, max_size);
	end_connect_remote(&b, fd);
	for (;;) {
		struct run r = { .p = p, .b = &b };

		xt_recv_line(fd, line);
		if (!strcmp(line, "bye"))
			break;
		if (sscanf(line, "run %u %llu", &r.p.size, &iterations) != 2 ||
		    !within(r.p.size, 1, max_size) || !iterations || iterations > UINT32_MAX)
			xt_die(XT_FAILED, "unknown request of the client: \"%s\"", line);
		r.p.iterations = iterations;
		end_prepare(&b, &r.p);
		xt_send_line(fd, "ready");
		execute(&r);
		xt_send_line(fd, "done");
	}
	end_close(&b);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 5 && !strcmp(argv[1], "plot") && !strcmp(argv[2], "--title"))
		return plot(argv[3], argv[4], argc - 5, argv + 5);
	if (argc > 3 && !strcmp(argv[1], "plot") && *argv[2] != '-')
		return plot(NULL, argv[2], argc - 3, argv + 3);
	parse(argc, argv);
	if (opt.compared)
		compare();
	else if (opt.server)
		server();
	else if (opt.host)
		client();
	else
		local();
	return XT_OK;
}
