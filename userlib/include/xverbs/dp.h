/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The data path of xverbs: work requests go out and completions come in by
 * plain loads and stores on rings shared with the adapter.
 *
 * Everything is inline and freestanding: fixed-width types, the ring formats
 * and compiler built-ins.  No function here makes a system call, allocates
 * memory, or asks what kind of adapter is behind the rings.  The queues come
 * from the control path in xverbs.h.
 *
 *	dp/barrier.h	memory order, byte order, queue lock
 *	dp/wr.h		work requests and completions
 *	dp/queue.h	queues
 *	dp/memory.h	memory regions and windows, access flags
 *	dp/send.h	builders for sends, doorbell
 *	dp/send_mw.h	builders for memory windows: bind, invalidate
 *	dp/send_list.h	lists of sends
 *	dp/recv.h	receives, own and shared
 *	dp/poll.h	completions
 *
 * Functions that return int return 0 or a count, or a negative error number.
 */
#ifndef XVERBS_DP_H
#define XVERBS_DP_H

#ifdef __cplusplus
extern "C" {
#endif

#include <xverbs/dp/barrier.h>
#include <xverbs/dp/wr.h>
#include <xverbs/dp/queue.h>
#include <xverbs/dp/memory.h>
#include <xverbs/dp/send.h>
#include <xverbs/dp/send_mw.h>
#include <xverbs/dp/send_list.h>
#include <xverbs/dp/recv.h>
#include <xverbs/dp/poll.h>

#ifdef __cplusplus
}
#endif

#endif
