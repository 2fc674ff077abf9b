// SPDX-License-Identifier: GPL-2.0
/*
 * usage: compare DEVICE GID-INDEX
 *        compare PLAIN OTHER -
 *
 * The first form makes the same calls with each provider and prints a line for each.  The second
 * compares the output of two runs.  See compare.h.
 */
#include <ctype.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>
#include "compare.h"

struct ibv_context *ctx;
struct ibv_pd *pd;
struct ibv_mr *mr;
struct ibv_device_attr dev;
struct ibv_port_attr port;
struct place place;
int gid_index;
uint8_t *mem;

static char prefix[64];

void group(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
}

void call_name(const char *fmt, ...)
{
	va_list ap;

	printf("\n%s ", prefix);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(":");
	errno = 0;
}

void attr(const char *fmt, ...)
{
	va_list ap;

	putchar(' ');
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}

static const char *error_name(int err)
{
	static char number[16];
	const char *name = strerrorname_np(err);

	snprintf(number, sizeof(number), "%d", err);
	return name ? name : number;
}

int call_int(int answer)
{
	int err = errno;

	if (answer == -1)
		attr("-1 %s", error_name(err));
	else if (answer < 0)
		attr("-%s", error_name(-answer));
	else
		attr("%s", error_name(answer));
	if (answer > 0 && err != answer)
		attr("(errno %s)", error_name(err));
	return answer;
}

void also(const char *what, int answer)
{
	attr("%s %s", what, error_name(answer));
}

void *call_ptr(void *answer)
{
	int err = errno;

	attr("%s", answer ? "ok" : error_name(err));
	return answer;
}

/* ---- What the tables have in common -------------------------------------------------- */

struct ibv_cq *new_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 100, NULL, NULL, 0);

	need(cq != NULL, "ibv_create_cq");
	return cq;
}

struct ibv_qp *new_qp(enum ibv_qp_type type, struct ibv_cq *cq, const struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr init = { .qp_type = type, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2,
			 .max_recv_sge = 2, .max_inline_data = 32 } };
	struct ibv_qp *qp;

	if (cap)
		init.cap = *cap;
	qp = ibv_create_qp(pd, &init);
	need(qp != NULL, "ibv_create_qp");
	return qp;
}

void completion(struct ibv_cq *cq)
{
	double until = now() + 2;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)) && now() < until)
		;
	if (n != 1) {
		attr("no completion");
		return;
	}
	attr("completion %d: %s", (int)wc.wr_id, ibv_wc_status_str(wc.status));
	if (!wc.status)
		attr("opcode %d flags %u bytes %u", wc.opcode, wc.wc_flags,
		     wc.opcode & IBV_WC_RECV ? wc.byte_len : 0);
}

void up(struct ibv_qp *qp, uint32_t peer)
{
	if (qp->qp_type == IBV_QPT_UD) {
		ud_up(qp, 0x1234567);
		return;
	}
	rc_init(qp);
	rc_connect(qp, peer, path_to(&place, gid_index));
}

struct ibv_sge sge_at(uint32_t offset, uint32_t length)
{
	return (struct ibv_sge) { .addr = at(offset), .length = length, .lkey = mr->lkey };
}

uint64_t at(uint32_t offset)
{
	return (uintptr_t)mem + offset;
}

/* ---- The calls ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
} tables[] = {
	{ "query", compare_queries },
	{ "domain", compare_domains },
	{ "region", compare_regions },
	{ "window", compare_windows },
	{ "cq", compare_cqs },
	{ "srq", compare_srqs },
	{ "xrcd", compare_xrcds },
	{ "qp", compare_qps },
	{ "state", compare_states },
	{ "value", compare_values },
	{ "address", compare_addresses },
	{ "post", compare_posts },
	{ "wr", compare_extended },
	{ "event", compare_events },
	{ "order", compare_order },
};

static void open_all(const char *name)
{
	ctx = open_device(name);
	need(!ibv_query_device(ctx, &dev) && !ibv_query_port(ctx, 1, &port), "queries");
	place = place_of(ctx, gid_index);
	mem = aligned_alloc(4096, BYTES);
	memset(mem, 0, BYTES);
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, mem, BYTES, ACCESS | IBV_ACCESS_MW_BIND) : NULL;
	need(mr != NULL, "ibv_reg_mr");
}

/* Each table runs in a process of its own, so that one that dies is one line. */
static void run(unsigned int i, const char *device)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		open_all(device);
		group("%s", tables[i].name);
		tables[i].run();
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("\n%s ended: %d\n", tables[i].name, status);
}

static int print_all(const char *device, const char *only)
{
	unsigned int i;

	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (!only || !strcmp(only, tables[i].name))
			run(i, device);
	return 0;
}

/* ---- Comparison ------------------------------------------------------------------- */

/* The next line that is not empty, without its end; null at the end of the file */
static char *next_line(FILE *f, char *line, int size)
{
	while (fgets(line, size, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			return line;
	}
	return NULL;
}

static const char *call_of(char *line, char *name, size_t size)
{
	char *end = strstr(line, ": ");

	snprintf(name, size, "%.*s", end ? (int)(end - line) : (int)strlen(line), line);
	return name;
}

/* libmlx5 does not always set errno; then it does not matter whether we do. */
static void drop_errno(char *a, char *b)
{
	static const char none[] = " (errno 0)";
	char *lines[2] = { a, b }, *p;
	int i;

	if (!strstr(a, none))
		return;
	for (i = 0; i < 2; i++)
		while ((p = strstr(lines[i], none)))
			memmove(p, p + sizeof(none) - 1, strlen(p + sizeof(none) - 1) + 1);
}

static int compare(FILE *plain, FILE *other)
{
	char a[4096], b[4096], name[512];
	unsigned int lines = 0, documented = 0;
	enum difference known;
	char *p, *o;

	for (;;) {
		p = next_line(plain, a, sizeof(a));
		o = next_line(other, b, sizeof(b));
		if (!p || !o)
			break;
		lines++;
		drop_errno(p, o);
		call_of(p, name, sizeof(name));
		known = differs(name);
		if (known != DIFFERS_SOMETIMES && !strcmp(p, o) != (known == SAME)) {
			ok(0, "%s", name);
			diag("libibverbs: %s", p);
			diag("xv_run:     %s", o);
		}
		documented += known != SAME;
	}
	ok(!p && !o, "both runs make the same calls");
	ok(lines > 2000, "%u calls are compared, %u differ as documented", lines, documented);
	return tap_done();
}

int main(int argc, char **argv)
{
	FILE *plain, *other;

	if (argc == 4 && !strcmp(argv[3], "-")) {
		plain = fopen(argv[1], "r");
		other = fopen(argv[2], "r");
		need(plain && other, "the output of two runs");
		return compare(plain, other);
	}
	need(argc == 3 || argc == 4, "usage: DEVICE GID-INDEX [TABLE] | PLAIN OTHER -");
	gid_index = atoi(argv[2]);
	return print_all(argv[1], argc == 4 ? argv[3] : NULL);
}
