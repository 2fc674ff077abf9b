/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory barriers, byte order and the lock of a queue.
 *
 * The adapter reads and writes host memory by DMA, and it sees doorbells as
 * MMIO.  Each barrier orders two accesses of the program against it.  The
 * letters A to E mark the places in the other headers.
 *
 *   A  WQE -> xv_to_device_barrier() -> doorbell record
 *      Without it the adapter could fetch a WQE that is not written yet.
 *   B  doorbell record -> xv_doorbell_barrier() -> doorbell register
 *      Without it the adapter could read the old producer index and miss the
 *      new WQE.  The register is mapped write-combining, so this barrier is
 *      stronger than A.
 *   C  doorbell register -> xv_doorbell_flush() -> later accesses
 *      Empties the write-combining buffer, so that the store is not delayed.
 *      The registers of two queues may have the same address.  Between their
 *      doorbells, xv_doorbell_next() keeps the two stores from becoming one in
 *      the buffer: B empties it on x86-64, but only orders stores on arm64.
 *   D  owner bit of the CQE -> xv_from_device_barrier() -> other CQE fields
 *      Without it the fields could be read before the adapter wrote them.
 *   E  CQE fields -> xv_cqe_release_barrier() -> consumer index record
 *      Without it the adapter could overwrite an entry that is still read.
 *
 * The software adapter (kmod/xhca/hca) has the other halves of A, B and D
 * under the same letters.
 *
 * x86-64 keeps loads in order and stores in order for ordinary memory, so A,
 * D and E are compiler barriers there.  B and C are sfence because the
 * register is write-combining.  arm64 needs an instruction for each.
 */
#ifndef XVERBS_DP_BARRIER_H
#define XVERBS_DP_BARRIER_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only little-endian hosts are supported: the rings are big-endian"
#endif

#if defined(__x86_64__)
#define xv_to_device_barrier()		__asm__ volatile("" ::: "memory")
#define xv_doorbell_barrier()		__asm__ volatile("sfence" ::: "memory")
#define xv_doorbell_flush()		__asm__ volatile("sfence" ::: "memory")
#define xv_doorbell_next()		__asm__ volatile("" ::: "memory")
#define xv_from_device_barrier()	__asm__ volatile("" ::: "memory")
#define xv_cqe_release_barrier()	__asm__ volatile("" ::: "memory")
#define xv_cpu_relax()			__asm__ volatile("pause" ::: "memory")
#elif defined(__aarch64__)
#define xv_to_device_barrier()		__asm__ volatile("dmb oshst" ::: "memory")
#define xv_doorbell_barrier()		__asm__ volatile("dmb oshst" ::: "memory")
#define xv_doorbell_flush()		__asm__ volatile("dsb st" ::: "memory")
#define xv_doorbell_next()		__asm__ volatile("dsb st" ::: "memory")
#define xv_from_device_barrier()	__asm__ volatile("dmb oshld" ::: "memory")
#define xv_cqe_release_barrier()	__asm__ volatile("dmb oshld" ::: "memory")
#define xv_cpu_relax()			__asm__ volatile("yield" ::: "memory")
#else
#define xv_to_device_barrier()		__sync_synchronize()
#define xv_doorbell_barrier()		__sync_synchronize()
#define xv_doorbell_flush()		__sync_synchronize()
#define xv_doorbell_next()		__sync_synchronize()
#define xv_from_device_barrier()	__sync_synchronize()
#define xv_cqe_release_barrier()	__sync_synchronize()
#define xv_cpu_relax()			__asm__ volatile("" ::: "memory")
#endif

#define xv_likely(x)	__builtin_expect(!!(x), 1)
#define xv_unlikely(x)	__builtin_expect(!!(x), 0)
#define xv_inline	static inline __attribute__((always_inline, unused))

/* Not inlined: rare cases must not cost registers in the common path. */
#define xv_outline	static __attribute__((__noinline__, __unused__))

/* For one 64-bit access to several smaller fields */
typedef uint64_t __attribute__((may_alias)) __xv_alias64;

/* The largest access of the CPUs that xverbs is for */
typedef uint64_t __attribute__((may_alias, vector_size(16))) __xv_alias128;

/* The same swap converts to big-endian and from it. */
#define xv_be16(x)	__builtin_bswap16((uint16_t)(x))
#define xv_be32(x)	__builtin_bswap32((uint32_t)(x))
#define xv_be64(x)	__builtin_bswap64((uint64_t)(x))

/*
 * Spin lock of a queue.  In a single-threaded queue, on is 0 and the lock costs
 * one predictable branch.
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
