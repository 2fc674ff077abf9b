// SPDX-License-Identifier: GPL-2.0
/* Resizing of a completion queue under traffic, and without memory for the new ring */
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "rig.h"

static struct rig r;

enum { SRC = 4096, DST = 65536 };

static void test_resize(void)
{
	static const uint32_t entries[] = { 1000, 130, 4000, 128, 500 };
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	uint64_t next = 0, done = 0, bad = 0;
	uint32_t i, k;
	struct xv_wc wc[8];

	for (i = 0; i < ARRAY_SIZE(entries) && !bad; i++) {
		for (k = 0; k < 700; k++) {
			int n;

			while (next - done < 40 &&
			       !xv_wr_write(r.qp[0], next, XV_SEND_SIGNALED, &from,
					    rig_addr(&r, 1, DST), r.mr[1]->rkey))
				next++;
			xv_commit_send(r.qp[0]);
			if (k == 350 && xv_resize_cq(r.cq[0], entries[i])) {
				diag("%u entries: %s", entries[i], xv_last_error());
				bad++;
			}
			n = xv_poll_cq(r.cq[0], 8, wc);
			for (int j = 0; j < n; j++)
				bad += wc[j].status || wc[j].wr_id != done++;
		}
	}
	while (done < next && !bad) {
		bad += rig_poll(r.cq[0], 1, wc) != 1 || wc[0].wr_id != done;
		done++;
	}
	ok(!bad, "CQ resized five times under traffic: no completion lost or duplicated");
}

static size_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	if (!f || fscanf(f, "%zu", &pages) != 1)
		bail_out("/proc/self/statm");
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* If the new ring cannot be mapped, the queue keeps the old one. */
static void test_resize_without_room(void)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	uint32_t cqe = r.cq[0]->cqe;
	struct rlimit old, tight;
	int err, i, bad = 0;

	getrlimit(RLIMIT_AS, &old);
	tight = old;
	tight.rlim_cur = address_space();
	setrlimit(RLIMIT_AS, &tight);
	err = xv_resize_cq(r.cq[0], 100000);
	setrlimit(RLIMIT_AS, &old);
	ok(err == -ENOMEM && r.cq[0]->cqe == cqe, "resize without free address space: %s",
	   xv_last_error());
	for (i = 0; i < 1000 && !bad; i++) {
		xv_wr_write(r.qp[0], (uint64_t)i, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST),
			    r.mr[1]->rkey);
		xv_commit_send(r.qp[0]);
		bad += !rig_expect(r.cq[0], (uint64_t)i, XV_WC_SUCCESS);
	}
	ok(!bad, "the CQ is unchanged");
	ok(!xv_resize_cq(r.cq[0], 5000) && r.cq[0]->cqe == 8191, "resize with free address space");
}

/* Replaces mmap() in the library (--wrap), so that mapping the new ring can fail. */
static bool no_fixed_mapping;

void *__real_mmap(void *addr, size_t length, int prot, int flags, int file, off_t offset);
void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int file, off_t offset);

void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int file, off_t offset)
{
	if (no_fixed_mapping && flags & MAP_FIXED) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(addr, length, prot, flags, file, offset);
}

/* The new ring cannot be mapped: earlier completions can be polled, later ones do not come. */
static void test_resize_lost(void)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	uint64_t i, n = 0;
	struct xv_wc wc;
	int err;

	for (i = 0; i < 3; i++)
		xv_wr_write(r.qp[0], i, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST),
			    r.mr[1]->rkey);
	xv_commit_send(r.qp[0]);
	usleep(100000);
	no_fixed_mapping = true;
	err = xv_resize_cq(r.cq[0], 100);
	no_fixed_mapping = false;
	ok(err == -ENOMEM && strstr(xv_last_error(), "is lost"), "resize: %s", xv_last_error());
	while (n < 3 && rig_expect(r.cq[0], n, XV_WC_SUCCESS))
		n++;
	ok(n == 3, "earlier completions can be polled");
	xv_wr_write(r.qp[0], 3, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_commit_send(r.qp[0]);
	usleep(100000);
	ok(!xv_cq_next(r.cq[0]) && !xv_poll_cq(r.cq[0], 1, &wc), "no later completion comes");
	ok(xv_resize_cq(r.cq[0], 200) == -EINVAL, "resize again: %s", xv_last_error());
}

int main(int argc, char **argv)
{
	struct rig_opts opts = { .size = 1 << 20,
				 .access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE };

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (!rig_feature(r.side[0].ctx, "cq-resize")->available)
		tap_skip_all("the adapter cannot resize CQs");
	test_resize();
	test_resize_without_room();
	test_resize_lost();
	rig_close(&r);
	return tap_done();
}
