/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_SLAB_H
#define SHIM_SLAB_H

#include <stdlib.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#define GFP_KERNEL	1
#define __GFP_NORETRY	2
#define GFP_NOWAIT	4
#define __GFP_NOWARN	8

/* Tests: this number of allocations succeed, then one fails; -1: all succeed */
__attribute__((weak)) int shim_alloc_fail = -1;

/* Tests: allocations that may call the OOM killer of the kernel */
__attribute__((weak)) unsigned int shim_alloc_kills;

static inline int shim_alloc_fails(gfp_t gfp)
{
	shim_alloc_kills += gfp & GFP_KERNEL && !(gfp & __GFP_NORETRY);
	return shim_alloc_fail >= 0 && !shim_alloc_fail--;
}

static inline void *kmalloc(size_t n, gfp_t gfp)
{
	return shim_alloc_fails(gfp) ? NULL : malloc(n);
}

static inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return shim_alloc_fails(gfp) ? NULL : calloc(n, size);
}

static inline void *kzalloc(size_t n, gfp_t gfp)
{
	return kcalloc(1, n, gfp);
}

static inline void kfree(const void *p)
{
	free((void *)p);
}

#define kvmalloc	kmalloc
#define kvzalloc	kzalloc
#define kvcalloc	kcalloc
#define kvfree		kfree

static inline void *kvmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : kmalloc(bytes, gfp);
}

#endif
