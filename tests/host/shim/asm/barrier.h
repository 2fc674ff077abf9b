/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_BARRIER_H
#define SHIM_BARRIER_H

#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#define mb			smp_mb
#define rmb			smp_rmb
#define wmb			smp_wmb
#define dma_rmb			smp_rmb
#define dma_wmb			smp_wmb
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)

/* A test can change the word before it is exchanged, as another CPU does. */
extern void (*shim_before_cmpxchg)(void *p);

#define cmpxchg(p, old, new) ({							\
	if (shim_before_cmpxchg)						\
		shim_before_cmpxchg(p);						\
	__sync_val_compare_and_swap(p, old, new);				\
})

#endif
