/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies bytes that are contiguous on both sides.
 */
#ifndef _HCA_COPY_BYTES_H
#define _HCA_COPY_BYTES_H

#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>

#define HCA_COPY_TAIL	64u	/* bytes at the end, at least, that no string instruction stores */

extern bool hca_copy_use_words;

/*
 * Measures whether a loop or a string instruction is faster on this CPU, once: other fabrics may be
 * copying at later calls.
 */
void hca_copy_calibrate(void);
/* Copies with a loop: the last 8 bytes in order, each after all others. */
void hca_copy_words(void *dst, const void *src, size_t n);

/*
 * Software may poll the last word of a message in memory; when it sees that word, it must
 * see the rest.  A string instruction may store its bytes in any order, but stores after it
 * are visible after it.  So the end is copied with separate stores; an aligned word of 8
 * bytes is stored at once.  If source and target overlap, the result is undefined, but no
 * other memory changes.
 */
static inline void hca_copy_bytes(void *dst, const void *src, size_t n)
{
	size_t head = 0;

	if (!hca_copy_use_words && n > 2 * HCA_COPY_TAIL)
		head = (n - HCA_COPY_TAIL) & ~(size_t)7;
	if (head) {
		memmove(dst, src, head);
		/* The stores of the string instruction are visible before the words. */
		smp_wmb();
	}
	hca_copy_words(dst + head, src + head, n - head);
}

#endif
