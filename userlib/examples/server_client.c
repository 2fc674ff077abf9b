// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One operation between a server and a client, like the server/client sample of the
 * DOCA Verbs guide and with the same options.  It uses builders and reads completions
 * in place.
 */
#include <strings.h>
#include "common.h"

enum operation { SEND, WRITE, READ };

static const char usage[] =
	"usage: server_client [OPTION]...\n"
	"  -h, --help             print this help and exit\n"
	"  -v, --version          print the version of libxverbs and exit\n"
	"  -l, --log-level N      10: none, 30: errors, 50: results (default), 60: all messages\n"
	"      --sdk-log-level N  ignored: libxverbs has no log\n"
	"  -c, --client HOST      run as client of the server on HOST\n"
	"  -d, --device NAME      RDMA device (default: the first available one)\n"
	"  -p, --port N           TCP port (default 18515)\n"
	"  -gid, --gid-index N    local GID (default: RoCE v2 GID of an IPv4 address)\n"
	"  -ro, --rdma-oper-type  Send (default), Write or Read\n"
	"  -s, --buffer-size N    message size in bytes (default 64)\n"
	"  -qt, --qp-type RC      only RC is supported\n"
	"  -n, --iters N          number of messages (default 1)\n"
	"  -b, --send-burst       post all messages at once\n";

static struct {
	enum operation op;
	uint32_t size;
	uint32_t iters;
	int log_level;
	int burst;
} sample = { .op = SEND, .size = 64, .iters = 1, .log_level = 50 };

static struct xv_context *ctx;
static struct xv_pd *pd;
static struct xv_cq *cq;
static struct xv_qp *qp;
static struct xv_mr *mr;
static uint8_t *buf;		/* sent messages, then received messages */

static const char *const names[] = { [SEND] = "send", [WRITE] = "write", [READ] = "read" };

static void set_operation(const char *name)
{
	int i;

	for (i = SEND; i <= READ; i++) {
		if (!strcasecmp(name, names[i])) {
			sample.op = (enum operation)i;
			return;
		}
	}
	errx(2, "-ro %s: must be Send, Write or Read", name);
}

static uint32_t number(const char *text, uint32_t most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*end || end == text || n > most)
		errx(2, "%s: not a number up to %u", text, most);
	return (uint32_t)n;
}

static void parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ "log-level", required_argument, NULL, 'l' },
		{ "sdk-log-level", required_argument, NULL, 'L' },
		{ "client", required_argument, NULL, 'c' },
		{ "device", required_argument, NULL, 'd' },
		{ "port", required_argument, NULL, 'p' },
		{ "gid", required_argument, NULL, 'g' },
		{ "gid-index", required_argument, NULL, 'g' },
		{ "ro", required_argument, NULL, 'r' },
		{ "rdma-oper-type", required_argument, NULL, 'r' },
		{ "s", required_argument, NULL, 's' },
		{ "buffer-size", required_argument, NULL, 's' },
		{ "qt", required_argument, NULL, 'q' },
		{ "qp-type", required_argument, NULL, 'q' },
		{ "n", required_argument, NULL, 'n' },
		{ "iters", required_argument, NULL, 'n' },
		{ "b", no_argument, NULL, 'b' },
		{ "send-burst", no_argument, NULL, 'b' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long_only(argc, argv, "hvl:c:d:p:", longs, NULL)) != -1) {
		switch (c) {
		case 'h': fputs(usage, stdout); exit(0);
		case 'v': puts(xv_version()); exit(0);
		case 'l': sample.log_level = (int)number(optarg, 70); break;
		case 'L': number(optarg, 70); break;
		case 'c': opt.host = optarg; break;
		case 'd': opt.device = optarg; break;
		case 'p': opt.tcp_port = optarg; break;
		case 'g': opt.gid_index = (int)number(optarg, 255); break;
		case 'r': set_operation(optarg); break;
		case 's': sample.size = number(optarg, 1u << 30); break;
		case 'q':
			if (strcasecmp(optarg, "RC"))
				errx(2, "-qt %s: must be RC", optarg);
			break;
		case 'n': sample.iters = number(optarg, 1u << 15); break;
		case 'b': sample.burst = 1; break;
		default: fputs(usage, stderr); exit(2);
		}
	}
	if (optind < argc || !sample.size || !sample.iters) {
		fputs(usage, stderr);
		exit(2);
	}
}

static void create(void)
{
	size_t bytes = 2ul * sample.size * sample.iters;
	struct xv_cq_init_attr cq_attr = { .cqe = sample.iters, .flags = XV_CQ_SINGLE_THREADED };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC,
		.flags = XV_QP_SINGLE_THREADED,
		.cap = { .max_send_wr = sample.burst ? sample.iters : 1,
			 .max_recv_wr = sample.op == SEND ? sample.iters : 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	buf = calloc(1, bytes);
	if (!buf)
		errx(1, "out of memory");
	CHECK((ctx = xv_open(opt.device)));
	CHECK((pd = xv_alloc_pd(ctx)));
	CHECK((mr = xv_reg_mr(pd, buf, bytes, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_READ |
			      XV_ACCESS_REMOTE_WRITE)));
	CHECK((cq = xv_create_cq(ctx, &cq_attr)));
	attr.send_cq = attr.recv_cq = cq;
	CHECK((qp = xv_create_qp(pd, &attr)));
}

static void destroy(void)
{
	CHECK(!xv_destroy_qp(qp));
	CHECK(!xv_destroy_cq(cq));
	CHECK(!xv_dereg_mr(mr));
	CHECK(!xv_dealloc_pd(pd));
	CHECK(!xv_close(ctx));
	free(buf);
}

/* ---- Messages ---------------------------------------------------------- */

static size_t place(int in, uint32_t i)
{
	return ((size_t)in * sample.iters + i) * sample.size;
}

/* Never 0, the initial contents of the buffer */
static uint8_t content(uint32_t i, uint32_t byte)
{
	return (uint8_t)((i * 31 + byte) % 255 + 1);
}

static void fill(uint32_t i)
{
	uint8_t *p = buf + place(0, i);
	uint32_t k;

	for (k = 0; k < sample.size; k++)
		p[k] = content(i, k);
}

static int arrived(uint32_t i)
{
	const volatile uint8_t *p = buf + place(1, i);
	uint32_t k;

	for (k = 0; k < sample.size && p[k] == content(i, k); k++)
		;
	return k == sample.size;
}

static void check_all(void)
{
	uint32_t i;

	for (i = 0; i < sample.iters; i++) {
		if (!arrived(i))
			errx(1, "message %u differs from the sent message", i);
		if (sample.log_level >= 60)
			printf("message %u: %u bytes\n", i, sample.size);
	}
}

static struct xv_sge part(int in, uint32_t i)
{
	return (struct xv_sge) { (uintptr_t)buf + place(in, i), sample.size, mr->lkey };
}

static void wait_in_place(uint32_t n)
{
	const struct mlx5r_cqe *cqe;

	while (n--) {
		while (!(cqe = xv_cq_next(cq)))
			;
		if (xv_cqe_status(cqe))
			errx(1, "%s", xv_wc_status_str(xv_cqe_status(cqe)));
		xv_cq_done(cq, cqe);
		xv_commit_cq(cq);
	}
}

/* ---- The two sides ----------------------------------------------------- */

static void build(uint32_t i, const struct peer *peer)
{
	struct xv_sge out = part(0, i), in = part(1, i);

	switch (sample.op) {
	case SEND:
		CHECK(!xv_wr_send(qp, 0, XV_SEND_SIGNALED, &out));
		break;
	case WRITE:
		CHECK(!xv_wr_write(qp, 0, XV_SEND_SIGNALED, &out, peer->addr + place(1, i),
				   peer->rkey));
		break;
	case READ:
		CHECK(!xv_wr_read(qp, 0, XV_SEND_SIGNALED, &in, peer->addr + place(0, i),
				  peer->rkey));
	}
}

static void client(const struct peer *peer)
{
	uint32_t i;

	for (i = 0; i < sample.iters; i++) {
		build(i, peer);
		if (!sample.burst) {
			xv_commit_send(qp);
			wait_in_place(1);
		}
	}
	if (sample.burst) {
		xv_commit_send(qp);
		wait_in_place(sample.iters);
	}
}

static void post_receives(void)
{
	uint32_t i;

	for (i = 0; i < sample.iters; i++) {
		struct xv_sge in = part(1, i);

		CHECK(!xv_wr_recv(qp, 0, &in));
	}
	xv_commit_recv(qp);
}

/* An RDMA write has no completion at the server: it polls its memory. */
static void server(void)
{
	uint32_t i;

	if (sample.op == SEND)
		wait_in_place(sample.iters);
	for (i = 0; sample.op == WRITE && i < sample.iters; i++)
		while (!arrived(i))
			;
}

int main(int argc, char **argv)
{
	struct peer me, peer;
	uint32_t i;
	int fd;

	parse_options(argc, argv);
	create();
	for (i = 0; i < sample.iters; i++)
		fill(i);
	fd = connect_tcp();
	me = describe(ctx, qp, mr);
	swap(fd, &me, &peer, sizeof(me));
	connect_rc(qp, &peer);
	if (!opt.host && sample.op == SEND)
		post_receives();
	barrier(fd);
	if (opt.host)
		client(&peer);
	else
		server();
	barrier(fd);
	if (!opt.host == (sample.op != READ))
		check_all();
	if (sample.log_level >= 50)
		printf("%s: %u times %s of %u bytes\n", opt.host ? "client" : "server",
		       sample.iters, names[sample.op], sample.size);
	destroy();
	close(fd);
	return 0;
}
