/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the processor must not reorder, byte order, and the queue lock.
 *
 * Each barrier is named after its purpose and pairs with the adapter, which
 * reads and writes host memory by DMA and sees doorbells as MMIO:
 *
 *   A  WQE            -> xv_to_device_barrier()   -> doorbell record
 *      else the adapter could fetch a WQE that is not written yet.
 *   B  doorbell record -> xv_doorbell_barrier()   -> doorbell register
 *      else the adapter could read the old producer index and go to sleep.
 *      The register is mapped write-combining, hence a stronger one than A.
 *   C  doorbell register -> xv_doorbell_flush()   -> anything later
 *      pushes the store out of the write-combining buffer at once.
 *   D  CQE ownership  -> xv_from_device_barrier() -> rest of the CQE
 *      else the body could be read before the adapter wrote it.
 *   E  CQE body       -> xv_cqe_release_barrier() -> consumer index record
 *      else the adapter could reuse an entry that is still being read.
 *
 * x86-64 keeps stores in order and loads in order for ordinary memory, so A,
 * D and E cost nothing there; B and C are sfence because the register is
 * write-combining.  arm64 needs an instruction for each.
 */
#ifndef XVERBS_DP_BARRIER_H
#define XVERBS_DP_BARRIER_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the rings are big-endian and this header swaps: little-endian hosts only"
#endif

#if defined(__x86_64__)
#define xv_to_device_barrier()		__asm__ volatile("" ::: "memory")
#define xv_doorbell_barrier()		__asm__ volatile("sfence" ::: "memory")
#define xv_doorbell_flush()		__asm__ volatile("sfence" ::: "memory")
#define xv_from_device_barrier()	__asm__ volatile("" ::: "memory")
#define xv_cqe_release_barrier()	__asm__ volatile("" ::: "memory")
#define xv_cpu_relax()			__asm__ volatile("pause" ::: "memory")
#elif defined(__aarch64__)
#define xv_to_device_barrier()		__asm__ volatile("dmb oshst" ::: "memory")
#define xv_doorbell_barrier()		__asm__ volatile("dmb oshst" ::: "memory")
#define xv_doorbell_flush()		__asm__ volatile("dsb st" ::: "memory")
#define xv_from_device_barrier()	__asm__ volatile("dmb oshld" ::: "memory")
#define xv_cqe_release_barrier()	__asm__ volatile("dmb oshld" ::: "memory")
#define xv_cpu_relax()			__asm__ volatile("yield" ::: "memory")
#else
#define xv_to_device_barrier()		__sync_synchronize()
#define xv_doorbell_barrier()		__sync_synchronize()
#define xv_doorbell_flush()		__sync_synchronize()
#define xv_from_device_barrier()	__sync_synchronize()
#define xv_cqe_release_barrier()	__sync_synchronize()
#define xv_cpu_relax()			__asm__ volatile("" ::: "memory")
#endif

#define xv_likely(x)	__builtin_expect(!!(x), 1)
#define xv_unlikely(x)	__builtin_expect(!!(x), 0)
#define xv_inline	static inline __attribute__((always_inline, unused))

/* Off the common path: kept out of it, so that it needs fewer registers */
#define xv_outline	static __attribute__((noinline, unused))

/* A 64-bit store into a structure of smaller fields */
typedef uint64_t __attribute__((may_alias)) __xv_alias64;

/* Host to big-endian and back are the same operation. */
#define xv_be16(x)	__builtin_bswap16((uint16_t)(x))
#define xv_be32(x)	__builtin_bswap32((uint32_t)(x))
#define xv_be64(x)	__builtin_bswap64((uint64_t)(x))

/*
 * Spin lock of a queue.  Off for single-threaded queues, where it costs one
 * predictable branch.
 */
struct xv_spin {
	uint32_t on;
	uint32_t held;
};

xv_inline void xv_lock(struct xv_spin *l)
{
	if (!l->on)
		return;
	while (__atomic_exchange_n(&l->held, 1u, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(&l->held, __ATOMIC_RELAXED))
			xv_cpu_relax();
}

xv_inline void xv_unlock(struct xv_spin *l)
{
	if (l->on)
		__atomic_store_n(&l->held, 0u, __ATOMIC_RELEASE);
}

#endif
