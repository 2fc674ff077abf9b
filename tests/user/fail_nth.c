// SPDX-License-Identifier: GPL-2.0
/*
 * Every verb that makes something, with the first, the second, ... of its
 * allocations and user copies failing until none is left to fail.  A failed call leaves
 * nothing behind; the kernel log stays silent.
 *
 * Needs a kernel with fault injection and root.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { MAX_ALLOCATIONS = 2000, LEN = 1 << 20 };

static int fd, fail_fd;
static uint32_t pd, uar, cq, srq, xrcd, umem, qp;
static void *memory;

static union {
	struct xverbs_hdr hdr;
	struct xverbs_pd_alloc pd;
	struct xverbs_uar_alloc uar;
	struct xverbs_mr_reg mr;
	struct xverbs_mw_alloc mw;
	struct xverbs_umem_reg umem;
	struct xverbs_xrcd_open xrcd;
	struct xverbs_channel_alloc channel;
	struct xverbs_cq_create cq;
	struct xverbs_srq_create srq;
	struct xverbs_qp_create qp;
	struct xverbs_qp_modify modify;
} arg;

struct step {
	const char *name;
	unsigned long cmd;
	uint32_t size;
	void (*fill)(void);
	uint32_t *out;		/* where the handle stands in arg */
	uint32_t *keep;		/* object stays, for later steps; else destroyed */
};

static void fill_mr(void)
{
	arg.mr.pd = pd;
	arg.mr.access = XVERBS_ACCESS_LOCAL_WRITE;
	arg.mr.addr = arg.mr.iova = (uintptr_t)memory;
	arg.mr.length = LEN;
}

static void fill_mw(void)
{
	arg.mw.pd = pd;
	arg.mw.type = 2;
}

static void fill_umem(void)
{
	arg.umem.addr = (uintptr_t)memory;
	arg.umem.length = LEN;
}

static void fill_cq(void)
{
	arg.cq.uar = uar;
	arg.cq.entries = 1000;
	arg.cq.cqe_bytes = 64;
}

static void fill_cq_external(void)
{
	fill_cq();
	arg.cq.external.ring_umem = arg.cq.external.dbr_umem = umem;
	arg.cq.external.dbr_offset = LEN / 2;
}

static void fill_srq(void)
{
	arg.srq.pd = pd;
	arg.srq.max_wr = 500;
	arg.srq.max_sge = 3;
}

static void fill_xrc_srq(void)
{
	fill_srq();
	arg.srq.xrcd = xrcd;
	arg.srq.cq = cq;
}

static void fill_qp(void)
{
	arg.qp.type = XVERBS_QPT_RC;
	arg.qp.pd = pd;
	arg.qp.uar = uar;
	arg.qp.send_cq = arg.qp.recv_cq = cq;
	arg.qp.srq = srq;
	arg.qp.cap.max_send_wr = 500;
	arg.qp.cap.max_send_sge = 2;
}

static void fill_xrc_send(void)
{
	fill_qp();
	arg.qp.type = XVERBS_QPT_XRC_SEND;
	arg.qp.recv_cq = arg.qp.srq = 0;
}

static void fill_xrc_recv(void)
{
	arg.qp.type = XVERBS_QPT_XRC_RECV;
	arg.qp.xrcd = xrcd;
}

static void fill_nothing(void)
{
}

#define STEP(_nr, _member, _fill, _keep)						\
	{ #_nr " (" #_fill ")", XVERBS_##_nr, sizeof(arg._member), _fill,		\
	  &arg._member.out_handle, _keep }

static const struct step steps[] = {
	STEP(PD_ALLOC, pd, fill_nothing, &pd),
	STEP(UAR_ALLOC, uar, fill_nothing, &uar),
	STEP(MR_REG, mr, fill_mr, NULL),
	STEP(MW_ALLOC, mw, fill_mw, NULL),
	STEP(UMEM_REG, umem, fill_umem, &umem),
	STEP(CHANNEL_ALLOC, channel, fill_nothing, NULL),
	STEP(CQ_CREATE, cq, fill_cq, &cq),
	STEP(CQ_CREATE, cq, fill_cq_external, NULL),
	STEP(SRQ_CREATE, srq, fill_srq, &srq),
	STEP(XRCD_OPEN, xrcd, fill_nothing, &xrcd),
	STEP(SRQ_CREATE, srq, fill_xrc_srq, NULL),
	STEP(QP_CREATE, qp, fill_qp, &qp),
	STEP(QP_CREATE, qp, fill_xrc_send, NULL),
	STEP(QP_CREATE, qp, fill_xrc_recv, NULL),
};

static void write_file(const char *path, const char *text)
{
	int f = open(path, O_WRONLY);

	if (f < 0 || write(f, text, strlen(text)) < 0)
		tap_skip_all("%s: %s", path, strerror(errno));
	close(f);
}

static void setup(void)
{
	static const char * const kinds[] = { "failslab", "fail_page_alloc" };
	struct xverbs_bind bind = { .hdr.size = sizeof(bind) };
	char path[96];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/ignore-gfp-wait", kinds[i]);
		write_file(path, "N");
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/verbose", kinds[i]);
		write_file(path, "0");
	}
	write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	write_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
	fail_fd = open("/proc/self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		tap_skip_all("/proc/self/fail-nth: %s", strerror(errno));
	memory = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 0, LEN);
	fd = open("/dev/xverbs", O_RDWR);
	strcpy(bind.name, rig_device(0));
	if (fd < 0 || ioctl(fd, XVERBS_BIND, &bind))
		bail_out("BIND: %s", strerror(errno));
}

static void fail_nth(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	/* Copying this text may itself be what fails. */
	if (pwrite(fail_fd, text, len, 0) != len && pwrite(fail_fd, text, len, 0) != len)
		bail_out("fail-nth: %s", strerror(errno));
}

/* Whether what was to fail has not come yet: it may even be this read. */
static bool none_failed(void)
{
	char text[16] = {};

	return pread(fail_fd, text, sizeof(text) - 1, 0) < 0 || atoi(text) != 0;
}

static void destroy(uint32_t handle)
{
	struct xverbs_destroy d = { .hdr.size = sizeof(d), .handle = handle };

	if (ioctl(fd, XVERBS_DESTROY, &d))
		bail_out("DESTROY %u: %s", handle, strerror(errno));
}

static int attempt(const struct step *s, int n, bool *untouched)
{
	int err;

	memset(&arg, 0, sizeof(arg));
	arg.hdr.size = s->size;
	s->fill();
	fail_nth(n);
	err = ioctl(fd, s->cmd, &arg) ? errno : 0;
	*untouched = none_failed();
	fail_nth(0);
	return err;
}

static void sweep(const struct step *s)
{
	bool untouched = false, good = true;
	int n, err = 0, failed = 0;

	for (n = 1; n < MAX_ALLOCATIONS && !untouched; n++) {
		err = attempt(s, n, &untouched);
		failed += err != 0;
		/* A driver may call a lack of memory by another name. */
		if (err == EINVAL || err == ENOENT || err == EBUSY) {
			good = false;
			diag("%s: allocation %d fails with %s", s->name, n, strerror(err));
		}
		if (!err && s->cmd == XVERBS_CHANNEL_ALLOC)
			close(arg.channel.out_fd);
		if (!err && !(untouched && s->keep))
			destroy(*s->out);
	}
	ok(untouched && !err && good, "%s: %d allocations, %d failures", s->name, n - 2, failed);
	if (s->keep)
		*s->keep = *s->out;
}

int main(int argc, char **argv)
{
	size_t i;

	rig_devices(argc, argv);
	setup();
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		sweep(&steps[i]);
	destroy(qp);
	destroy(srq);
	destroy(cq);
	destroy(xrcd);
	destroy(umem);
	destroy(uar);
	destroy(pd);
	ok(1, "all that succeeded is destroyed");
	close(fd);
	return tap_done();
}
