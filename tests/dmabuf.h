/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A dma-buf of the kernel: udmabuf or vgem exports the memory.
 */
#ifndef TESTS_DMABUF_H
#define TESTS_DMABUF_H

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tap.h"

/* Memory of a memfd */
static inline int dmabuf_from_udmabuf(size_t size)
{
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;
	int memfd = memfd_create("dmabuf", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	struct udmabuf_create create = { .memfd = (uint32_t)memfd, .size = size };

	if (dev < 0)
		return -1;
	if (ftruncate(memfd, (off_t)size) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		bail_out("memfd: %s", strerror(errno));
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	close(memfd);
	return fd;
}

/* ABI of drm/drm.h; the header is in another package */
struct dmabuf_image {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct dmabuf_export {
	uint32_t handle, flags;
	int32_t fd;
};

#define DMABUF_CREATE_DUMB	_IOWR('d', 0xb2, struct dmabuf_image)
#define DMABUF_HANDLE_TO_FD	_IOWR('d', 0x2d, struct dmabuf_export)

/* A dumb buffer of vgem, a graphics device without hardware */
static inline int dmabuf_from_image(size_t size)
{
	int dev = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	struct dmabuf_image create = { .width = 1024, .height = (uint32_t)size / 4096, .bpp = 32 };
	struct dmabuf_export prime = { .flags = O_RDWR | O_CLOEXEC };
	int err;

	if (dev < 0)
		return -1;
	err = ioctl(dev, DMABUF_CREATE_DUMB, &create);
	prime.handle = create.handle;
	if (err || create.size != size || ioctl(dev, DMABUF_HANDLE_TO_FD, &prime))
		bail_out("vgem: %s", strerror(errno));
	close(dev);
	return prime.fd;
}

/* Returns the descriptor, or -1 if no driver exports memory; *mem: where it is mapped. */
static inline int dmabuf_make(size_t size, uint8_t **mem)
{
	int fd = dmabuf_from_udmabuf(size);

	if (fd < 0)
		fd = dmabuf_from_image(size);
	if (fd < 0)
		return -1;
	*mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*mem == MAP_FAILED)
		bail_out("mmap: %s", strerror(errno));
	return fd;
}

#endif
