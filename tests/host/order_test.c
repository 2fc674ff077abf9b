// SPDX-License-Identifier: GPL-2.0
/*
 * Software may poll the last byte of a message in memory and must then see the rest.  A
 * string instruction may store its bytes in any order, and memmove() may use one.  So the
 * last word must be stored after it, separately.
 */
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define MR_BYTES	32768u

static struct session s;
static struct session_mr mr[2];
static bool started;
static const u8 *last;			/* of the current message */
static u32 moves, moves_of_last, moves_after_last;

void *__real_memmove(void *dst, const void *src, size_t n);

/* Seems very fast during calibration, so that the adapter uses it. */
void *__wrap_memmove(void *dst, const void *src, size_t n)
{
	const u8 *d = dst;

	if (!started)
		return dst;
	if (d >= mr[1].ptr && d < mr[1].ptr + MR_BYTES) {
		moves++;
		moves_of_last += last >= d && last < d + n;
		moves_after_last += *last;
	}
	return __real_memmove(dst, src, n);
}

static void test_write(u32 from, u32 to, u32 bytes)
{
	struct xv_sge sge = session_sge(&mr[0], from, bytes);
	struct session_qp a, b;
	struct xv_wc wc = { .status = ~0 };

	session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 2, 2, &b);
	session_connect(&a, &b);
	memset(mr[1].ptr, 0, MR_BYTES);
	last = mr[1].ptr + to + bytes - 1;
	moves = moves_of_last = moves_after_last = 0;
	xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, mr[1].addr + to, mr[1].key);
	xv_commit_send(&a.qp);
	session_settle(&s);
	xv_poll_cq(&a.cq, 1, &wc);
	ok(wc.status == XV_WC_SUCCESS && !memcmp(mr[0].ptr + from, mr[1].ptr + to, bytes) &&
	   !mr[1].ptr[to + bytes] && (!to || !mr[1].ptr[to - 1]),
	   "%u bytes from %u to %u", bytes, from, to);
	ok(!moves_of_last && !moves_after_last && (moves || bytes < 256),
	   "the last byte comes last (%u string moves)", moves);
	session_qp_destroy(&a);
	session_qp_destroy(&b);
}

int main(void)
{
	static const u32 sizes[] = { 1, 3, 7, 8, 9, 63, 64, 65, 71, 127, 128, 129, 200, 256, 1000,
				     1024, 4096, 4097, 8192, 20000 };
	u32 i;

	session_init(&s);
	started = true;
	mr[0] = session_mr(&s, 0, MR_BYTES, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, MR_BYTES, ALL_ACCESS);
	for (i = 0; i < MR_BYTES; i++)
		mr[0].ptr[i] = i % 251 + 1;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		test_write(0, 0, sizes[i]);
		test_write(3, 8, sizes[i]);
		test_write(8, 4090, sizes[i]);
	}
	session_free(&s);
	return tap_done();
}
