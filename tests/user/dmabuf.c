// SPDX-License-Identifier: GPL-2.0
/*
 * A region over a dma-buf, which here is memory of a memfd that udmabuf
 * exports.
 */
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "rig.h"

enum { SIZE = 1 << 20, PART = 65536, IOVA = 1 << 24 };

static struct rig r;
static const struct rig_opts opts = { .size = SIZE, .rc = { .timeout = 10, .retry_cnt = 2 } };
static uint8_t *mem;

static int export_memory(void)
{
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memfd = memfd_create("dmabuf", MFD_ALLOW_SEALING | MFD_CLOEXEC), fd;
	struct udmabuf_create create = { .memfd = (uint32_t)memfd, .size = SIZE };

	if (dev < 0)
		tap_skip_all("this kernel has no udmabuf");
	if (ftruncate(memfd, SIZE) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		bail_out("memfd: %s", strerror(errno));
	mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	if (mem == MAP_FAILED || fd < 0)
		bail_out("udmabuf: %s", strerror(errno));
	close(dev);
	close(memfd);
	return fd;
}

static bool available(struct xv_feature *f)
{
	struct xv_feature list[64];
	int n = xv_query_features(r.side[1].ctx, list, 64), i;

	for (i = 0; i < n && strcmp(list[i].name, "memory-region-dmabuf"); i++)
		;
	if (i == n)
		bail_out("the feature is not listed");
	*f = list[i];
	return f->available;
}

static bool complete(uint64_t wr_id, enum xv_wc_status status)
{
	xv_commit_send(r.qp[0]);
	return rig_expect(r.cq[0], wr_id, status);
}

static void test_transfer(const struct xv_mr *mr, uint8_t *at)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, PART);

	rig_fill(r.buf[0], PART, 1);
	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &sge, IOVA, mr->rkey);
	ok(complete(1, XV_WC_SUCCESS) && rig_check(at, PART, 1), "a write reaches the memory");
	rig_fill(at, PART, 2);
	xv_wr_read(r.qp[0], 2, XV_SEND_SIGNALED, &sge, IOVA, mr->rkey);
	ok(complete(2, XV_WC_SUCCESS) && rig_check(r.buf[0], PART, 2), "a read brings it back");
	sge = (struct xv_sge) { rig_addr(&r, 0, 0), 8, r.mr[0]->lkey };
	xv_wr_write(r.qp[0], 3, XV_SEND_SIGNALED, &sge, IOVA + PART - 7, mr->rkey);
	ok(complete(3, XV_WC_REM_ACCESS_ERR), "and no byte behind its end");
	rig_reconnect(&r, &opts);
}

int main(int argc, char **argv)
{
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				    XV_ACCESS_REMOTE_READ;
	struct xv_feature feature;
	struct xv_mr *mr;
	int fd;

	rig_devices(argc, argv);
	fd = export_memory();
	rig_open(&r, &opts);
	if (!available(&feature)) {
		ok(!xv_reg_dmabuf_mr(r.side[1].pd, 0, PART, IOVA, fd, access) &&
		   errno == EOPNOTSUPP && strstr(xv_last_error(), feature.why_not),
		   "not available: %s", xv_last_error());
		rig_close(&r);
		return tap_done();
	}
	ok(!xv_reg_dmabuf_mr(r.side[1].pd, 0, PART, IOVA, -1, access) && errno == EBADF,
	   "no file: %s", xv_last_error());
	ok(!xv_reg_dmabuf_mr(r.side[1].pd, 0, SIZE + 4096, IOVA, fd, access) && errno == EINVAL,
	   "more than there is: %s", xv_last_error());
	mr = xv_reg_dmabuf_mr(r.side[1].pd, PART, PART, IOVA, fd, access);
	close(fd);
	if (!ok(mr != NULL, "part of a dma-buf, whose file is closed again")) {
		diag("%s", xv_last_error());
		return tap_done();
	}
	test_transfer(mr, mem + PART);
	ok(xv_rereg_mr(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, access) == -EOPNOTSUPP,
	   "no re-registration: %s", xv_last_error());
	ok(!xv_dereg_mr(mr), "deregister");
	rig_close(&r);
	return tap_done();
}
