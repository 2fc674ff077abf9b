// SPDX-License-Identifier: GPL-2.0
/*
 * usage: pin START BYTES
 *
 * Holds one page of a range of physical memory in a pipe until it is killed, so that the kernel
 * cannot move the page.  Prints "pinned".
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHUNK	(64ul << 20)
#define PAGE	4096ul
#define FRAME	((1ull << 55) - 1)	/* of an entry of pagemap */

static uint64_t start, bytes;
static int pagemap;

static char *find(char *chunk)
{
	uint64_t entry;
	char *page;

	for (page = chunk; page < chunk + CHUNK; page += PAGE)
		if (pread(pagemap, &entry, sizeof(entry), (uintptr_t)page / PAGE * 8) == 8 &&
		    (entry & FRAME) * PAGE - start < bytes)
			return page;
	return NULL;
}

/* Takes free memory until it gets a page of the range, and gives back the rest. */
static char *page_of_range(void)
{
	struct sysinfo info;
	char *page = NULL, **chunk;
	size_t i, n, max;

	if (sysinfo(&info))
		return NULL;
	max = info.freeram * info.mem_unit / CHUNK;
	chunk = calloc(max + 1, sizeof(*chunk));
	for (n = 0; n < max && !page; n++) {
		chunk[n] = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (chunk[n] == MAP_FAILED)
			break;
		page = find(chunk[n]);
	}
	for (i = 0; i + 1 < n; i++)
		munmap(chunk[i], CHUNK);
	free(chunk);
	return page;
}

int main(int argc, char **argv)
{
	struct iovec v = { .iov_len = PAGE };
	int fds[2];

	if (argc != 3)
		return 2;
	start = strtoull(argv[1], NULL, 0);
	bytes = strtoull(argv[2], NULL, 0);
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	v.iov_base = page_of_range();
	if (!v.iov_base || pipe(fds) || vmsplice(fds[1], &v, 1, 0) != (ssize_t)PAGE) {
		fprintf(stderr, "pin: no page of the range\n");
		return 1;
	}
	puts("pinned");
	fflush(stdout);
	pause();
	return 0;
}
