/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The data path of xverbs: it posts work requests and polls completions with
 * plain loads and stores on rings that are shared with the adapter.
 *
 * All functions are inline and freestanding: they use fixed-width types, the
 * ring formats and compiler built-ins.  No function makes a system call,
 * allocates memory, or depends on the kind of adapter.  The control path in
 * xverbs.h creates the queues.
 *
 * Names that begin with __xv_ are internal.
 *
 *	dp/barrier.h	memory order, byte order, queue lock
 *	dp/wr.h		structures of work requests and completions
 *	dp/queue.h	structures of queues
 *	dp/memory.h	memory regions, windows and indirect keys, access flags
 *	dp/send.h	builders for sends, doorbell
 *	dp/send_dc.h	builders for DC initiators
 *	dp/send_mw.h	builders for memory windows: bind, invalidate
 *	dp/send_umr.h	builders for indirect keys: fill, invalidate
 *	dp/chain.h	builders for requests that wait and that enable others
 *	dp/calc.h	builders for requests that calculate
 *	dp/atomic.h	builders for masked atomics
 *	dp/send_list.h	lists of send requests
 *	dp/recv.h	receives: receive queues and shared receive queues
 *	dp/poll.h	polling completions, arming a CQ
 *
 * Functions that return int return 0 or a count, or a negative error number.
 */
#ifndef XVERBS_DP_H
#define XVERBS_DP_H

#ifdef __cplusplus
extern "C" {
#endif

/* In libxverbs, for XV_DP_REFUSE() of dp/queue.h */
void xv_dp_refused(int err, const char *fmt, ...)
	__attribute__((__weak__, __format__(__printf__, 2, 3)));

#include <xverbs/dp/barrier.h>
#include <xverbs/dp/wr.h>
#include <xverbs/dp/queue.h>
#include <xverbs/dp/memory.h>
#include <xverbs/dp/send.h>
#include <xverbs/dp/send_dc.h>
#include <xverbs/dp/send_mw.h>
#include <xverbs/dp/send_umr.h>
#include <xverbs/dp/chain.h>
#include <xverbs/dp/calc.h>
#include <xverbs/dp/atomic.h>
#include <xverbs/dp/send_list.h>
#include <xverbs/dp/recv.h>
#include <xverbs/dp/poll.h>

#ifdef __cplusplus
}
#endif

#endif
