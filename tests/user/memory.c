// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: access flags, IOVA and zero-based addresses, invalid ranges; each
 * is checked with transfers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { LEN = 8192, IOVA = 0x40000000 };

static struct rig r;
static const struct rig_opts opts = { .size = 65536, .rc = { .timeout = 10, .retry_cnt = 2 } };
static uint8_t *mem;

static bool done(uint64_t wr_id, enum xv_wc_status status)
{
	xv_commit_send(r.qp[0]);
	return rig_expect(r.cq[0], wr_id, status);
}

static struct xv_sge local(uint32_t n)
{
	return rig_sge(&r, 0, 0, n);
}

static bool write_to(const struct xv_mr *mr, uint64_t addr, uint32_t n, enum xv_wc_status status)
{
	struct xv_sge sge = local(n);

	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &sge, addr, mr->rkey);
	return done(1, status);
}

static bool read_from(const struct xv_mr *mr, uint64_t addr, uint32_t n, enum xv_wc_status status)
{
	struct xv_sge sge = local(n);

	xv_wr_read(r.qp[0], 2, XV_SEND_SIGNALED, &sge, addr, mr->rkey);
	return done(2, status);
}

static bool add_to(const struct xv_mr *mr, uint64_t addr, enum xv_wc_status status)
{
	struct xv_sge sge = local(8);

	xv_wr_atomic_fa(r.qp[0], 3, XV_SEND_SIGNALED, &sge, addr, mr->rkey, 1);
	return done(3, status);
}

/* An access error breaks the connection, so it is set up again. */
static bool try(bool as_expected, enum xv_wc_status status)
{
	if (status != XV_WC_SUCCESS)
		rig_reconnect(&r, &opts);
	return as_expected;
}

/* Only the operations of the access flags succeed. */
static void test_rights(unsigned int access)
{
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, mem, LEN, access);
	uint64_t at = (uintptr_t)mem;
	enum xv_wc_status may[3];

#define MAY(_right)	(access & XV_ACCESS_REMOTE_##_right ? XV_WC_SUCCESS : XV_WC_REM_ACCESS_ERR)
	may[0] = MAY(WRITE);
	may[1] = MAY(READ);
	may[2] = MAY(ATOMIC);
#undef MAY
	if (!mr)
		bail_out("access 0x%x: %s", access, xv_last_error());
	rig_fill(r.buf[0], LEN, access + 1);
	memset(mem, 0, LEN);
	ok(try(write_to(mr, at, LEN, may[0]), may[0]) && rig_check(mem, LEN, access + 1) == !may[0],
	   "access 0x%02x: a write is %s", access, may[0] ? "refused" : "done");
	rig_fill(mem, LEN, access + 2);
	memset(r.buf[0], 0, LEN);
	ok(try(read_from(mr, at, LEN, may[1]), may[1]) &&
	   rig_check(r.buf[0], LEN, access + 2) == !may[1],
	   "access 0x%02x: a read is %s", access, may[1] ? "refused" : "done");
	memset(mem, 0, 8);
	ok(try(add_to(mr, at, may[2]), may[2]) && mem[0] == !may[2],
	   "access 0x%02x: an atomic is %s", access, may[2] ? "refused" : "done");
	if (xv_dereg_mr(mr))
		bail_out("%s", xv_last_error());
}

static void test_all_rights(void)
{
	unsigned int remote;

	for (remote = 0; remote < 8; remote++)
		test_rights(XV_ACCESS_LOCAL_WRITE | remote * XV_ACCESS_REMOTE_WRITE);
	test_rights(XV_ACCESS_REMOTE_READ);
	test_rights(XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE | XV_ACCESS_RELAXED_ORDERING);
}

/* Without XV_ACCESS_LOCAL_WRITE, local receives fail also. */
static void test_local_read_only(void)
{
	struct xv_mr *mr = xv_reg_mr(r.side[0].pd, mem, LEN, 0);
	struct xv_sge sge = { (uintptr_t)mem, 64, mr ? mr->lkey : 0 };

	if (!mr)
		bail_out("%s", xv_last_error());
	rig_fill(mem, 64, 5);
	xv_wr_write(r.qp[0], 4, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0), r.mr[1]->rkey);
	ok(done(4, XV_WC_SUCCESS) && rig_check(r.buf[1], 64, 5),
	   "no access flags: send from the region");
	xv_wr_read(r.qp[0], 5, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 64), r.mr[1]->rkey);
	ok(done(5, XV_WC_LOC_PROT_ERR) && rig_check(mem, 64, 5),
	   "no access flags: read into the region fails");
	rig_reconnect(&r, &opts);
	ok(!xv_dereg_mr(mr), "deregister");
}

/* ---- Addresses --------------------------------------------------------- */

static void test_address(struct xv_mr *mr, uint64_t first, size_t offset, const char *what)
{
	if (!ok(mr != NULL, "%s: registered", what)) {
		diag("%s", xv_last_error());
		return;
	}
	rig_fill(r.buf[0], 4096, 6);
	memset(mem, 0, LEN);
	ok(write_to(mr, first, 4096, XV_WC_SUCCESS) && rig_check(mem + offset, 4096, 6),
	   "%s: write", what);
	ok(write_to(mr, first + 1, 4096, XV_WC_REM_ACCESS_ERR),
	   "%s: write beyond the end fails", what);
	rig_reconnect(&r, &opts);
	ok(write_to(mr, first - 1, 1, XV_WC_REM_ACCESS_ERR),
	   "%s: write before the start fails", what);
	rig_reconnect(&r, &opts);
	ok(!xv_dereg_mr(mr), "%s: deregister", what);
}

static void test_addresses(void)
{
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE;
	struct xv_pd *pd = r.side[1].pd;

	test_address(xv_reg_mr(pd, mem + 100, 4096, access), (uintptr_t)mem + 100, 100,
	"process address");
	test_address(xv_reg_mr_iova(pd, mem + 100, 4096, IOVA + 100, access), IOVA + 100, 100,
		     "IOVA");
	test_address(xv_reg_mr(pd, mem + 100, 4096, access | XV_ACCESS_ZERO_BASED), 100, 100,
		     "zero-based");
}

/* ---- Invalid regions --------------------------------------------------- */

static void refused(void *addr, size_t length, uint64_t iova, unsigned int access, int err,
		    const char *what)
{
	struct xv_mr *mr = xv_reg_mr_iova(r.side[1].pd, addr, length, iova, access);

	ok(!mr && errno == err, "%s: %s", what, xv_last_error());
	if (mr)
		xv_dereg_mr(mr);
}

static void test_refusals(void)
{
	void *rom = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uintptr_t)mem;
	struct xv_device_attr attr;

	if (xv_query_device(r.side[1].ctx, &attr))
		bail_out("%s", xv_last_error());
	refused(mem, LEN, at, XV_ACCESS_REMOTE_WRITE, EINVAL, "remote write without local write");
	refused(mem, LEN, at, XV_ACCESS_REMOTE_ATOMIC, EINVAL, "remote atomic without local write");
	refused(mem, LEN, at, 1u << 15, EOPNOTSUPP, "unknown access flag");
	refused(mem, 0, at, 0, EINVAL, "no length");
	refused(mem, ~0ul, at, 0, EINVAL, "length beyond the address space");
	refused(mem, LEN, at + 8, 0, EINVAL, "IOVA with another page offset");
	refused(mem, LEN, 4096 - (uint64_t)LEN, 0, EINVAL, "IOVA that wraps around");
	refused(mem, LEN, 0 - (uint64_t)4096, 0, EINVAL, "IOVA beyond 2^64");
	refused(mem, LEN, at, XV_ACCESS_ZERO_BASED, EINVAL, "zero-based with an IOVA");
	refused((void *)0x7000, LEN, 0x7000, 0, EFAULT, "no memory");
	refused(rom, 4096, (uintptr_t)rom, XV_ACCESS_LOCAL_WRITE, EFAULT, "read-only memory");
	refused(mem, LEN, at, XV_ACCESS_ON_DEMAND, EOPNOTSUPP, "on demand");
	ok(strstr(xv_last_error(), "on-demand paging") && !attr.odp_caps,
	   "on-demand paging is not offered");
	munmap(rom, 4096);
}

/* After a failed re-registration the region is unchanged. */
static void test_no_change(struct xv_mr *mr, unsigned int flags, void *addr, size_t length,
			   unsigned int access, int err)
{
	uint32_t key = mr->rkey;

	ok(xv_rereg_mr(mr, flags, NULL, addr, length, access) == -err && mr->rkey == key,
	   "re-registration: %s", xv_last_error());
	rig_fill(r.buf[0], 64, err);
	ok(write_to(mr, (uintptr_t)mem, 64, XV_WC_SUCCESS) && rig_check(mem, 64, err),
	   "re-registration: the region is unchanged");
}

static void test_no_changes(void)
{
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, mem, LEN, XV_ACCESS_LOCAL_WRITE |
				     XV_ACCESS_REMOTE_WRITE);

	if (!mr)
		bail_out("%s", xv_last_error());
	test_no_change(mr, 0, NULL, 0, 0, EINVAL);
	test_no_change(mr, 1 << 9, NULL, 0, 0, EOPNOTSUPP);
	test_no_change(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, 0, XV_ACCESS_REMOTE_WRITE, EINVAL);
	test_no_change(mr, XV_REREG_MR_CHANGE_TRANSLATION, (void *)0x7000, 4096, 0, EFAULT);
	test_no_change(mr, XV_REREG_MR_CHANGE_TRANSLATION, mem, 0, 0, EINVAL);
	ok(!xv_dereg_mr(mr), "deregister");
}

/* A page of a file that this process may only read.  Older kernels do not pin it. */
static void test_read_only_file(void)
{
	char path[] = "/tmp/xverbs-memory-XXXXXX";
	int fd = mkstemp(path);
	struct xv_mr *mr;
	uint32_t key;
	uint8_t *at;

	if (fd < 0 || ftruncate(fd, 4096) || close(fd))
		bail_out("%s: %m", path);
	fd = open(path, O_RDONLY);
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		bail_out("%s: %m", path);
	mr = xv_reg_mr(r.side[1].pd, at, 4096, XV_ACCESS_REMOTE_READ);
	if (!mr) {
		ok(errno == EFAULT, "read-only file: not pinned");
	} else {
		key = mr->rkey;
		ok(xv_rereg_mr(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			       XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE) == -EFAULT &&
		   mr->rkey == key, "read-only file: no access to write by re-registration: %s",
		   xv_last_error());
		rig_fill(r.buf[0], 8, 3);
		ok(try(write_to(mr, (uintptr_t)at, 8, XV_WC_REM_ACCESS_ERR) && !at[0],
		       XV_WC_REM_ACCESS_ERR), "read-only file: a write fails");
		ok(!xv_dereg_mr(mr), "read-only file: deregister");
	}
	munmap(at, 4096);
	close(fd);
	unlink(path);
}

/* The first access flags that allow to write pin the memory again. */
static void test_first_write(void)
{
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, mem, LEN, XV_ACCESS_REMOTE_READ);
	uint32_t key;

	if (!mr)
		bail_out("%s", xv_last_error());
	key = mr->rkey;
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE) && mr->rkey != key,
	   "re-registration: access to write, with a new key");
	rig_fill(r.buf[0], 64, 77);
	ok(write_to(mr, (uintptr_t)mem, 64, XV_WC_SUCCESS) && rig_check(mem, 64, 77),
	   "re-registration: a write succeeds");
	ok(!xv_dereg_mr(mr), "deregister");
}

/*
 * Access flags that the driver cannot change in the mkey: the memory is pinned again. The debug
 * kernel looks at the DMA mappings.
 */
static void test_not_in_place(unsigned int flag, const char *what)
{
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE;
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, mem, LEN, access);
	int i;

	if (!mr)
		bail_out("%s", xv_last_error());
	for (i = 0; i < 2; i++) {
		ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				i ? access : access | flag),
		   "re-registration %s %s: %s", i ? "without" : "with", what, xv_last_error());
		rig_fill(r.buf[0], 64, flag + i);
		ok(write_to(mr, (uintptr_t)mem, 64, XV_WC_SUCCESS) &&
		   rig_check(mem, 64, flag + i), "re-registration: a write succeeds");
	}
	ok(!xv_dereg_mr(mr), "deregister");
}

/* The iova of a region that moves must not wrap around either. */
static void test_moved_iova(void)
{
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, mem, LEN, XV_ACCESS_LOCAL_WRITE);
	struct xverbs_mr_rereg arg = {
		.hdr.size = sizeof(arg), .change = XVERBS_REREG_TRANSLATION,
		.addr = (uintptr_t)mem, .length = LEN, .iova = 0 - (uint64_t)4096,
	};

	if (!mr)
		bail_out("%s", xv_last_error());
	arg.mr = mr->handle;
	ok(ioctl(r.side[1].ctx->fd, XVERBS_MR_REREG, &arg) < 0 && errno == EINVAL,
	   "re-registration: IOVA beyond 2^64");
	ok(!xv_dereg_mr(mr), "deregister");
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	rig_open(&r, &opts);
	ok(rig_feature(r.side[0].ctx, "memory-region")->available, "the device has memory regions");
	test_all_rights();
	test_local_read_only();
	test_addresses();
	test_refusals();
	test_no_changes();
	test_read_only_file();
	test_first_write();
	test_not_in_place(XV_ACCESS_MW_BIND, "binding of windows");
	test_not_in_place(XV_ACCESS_RELAXED_ORDERING, "relaxed ordering");
	test_moved_iova();
	rig_close(&r);
	return tap_done();
}
