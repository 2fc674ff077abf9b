// SPDX-License-Identifier: GPL-2.0
/*
 * With XV_DP_DEBUG and libxverbs: a queue pair with requests that were not committed is not
 * destroyed, the program stops; a builder that refuses a request stores the reason.  dp_debug.c
 * has the rules that need no device.
 */
#define XV_DP_DEBUG
#include "rig.h"
#include "trap.h"

enum step { ALL, NO_SEND_COMMIT, NO_RECV_COMMIT };

static struct rig r;

/* Creates a queue pair, posts, and destroys it, but does not do the step @left_out. */
static void use(uint32_t left_out)
{
	static const struct rig_opts opts = { .size = 65536 };
	struct xv_sge sge;

	rig_open(&r, &opts);
	sge = rig_sge(&r, 0, 0, 64);
	if (xv_wr_recv(r.qp[0], 1, &sge) || xv_wr_send_inline(r.qp[0], 2, 0, "x", 1))
		_exit(2);
	if (left_out != NO_RECV_COMMIT)
		xv_commit_recv(r.qp[0]);
	if (left_out != NO_SEND_COMMIT)
		xv_commit_send(r.qp[0]);
	_exit(xv_destroy_qp(r.qp[0]) ? 3 : 0);
}

static void refused(int err, int want, const char *text)
{
	ok(err == -want && errno == want && strstr(xv_last_error(), text), "%s", xv_last_error());
}

static void test_reasons(void)
{
	static const struct rig_opts opts = { .size = 65536, .inline_data = 64 };
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct xv_sge sge;
	struct xv_qp *fresh;

	rig_open(&r, &opts);
	init.send_cq = init.recv_cq = r.cq[0];
	fresh = xv_create_qp(r.side[0].pd, &init);
	if (!fresh)
		bail_out("%s", xv_last_error());
	sge = rig_sge(&r, 0, 0, 64);
	refused(xv_wr_send(fresh, 1, 0, &sge), EINVAL, "in state RESET");
	refused(xv_wr_send_inline(r.qp[0], 1, 0, r.buf[0], 1000), EINVAL, "1000 bytes inline");
	refused(xv_wr_recv_sg(r.qp[0], 1, &sge, 100), EINVAL, "100 SGEs");
	refused(xv_wr_cqe_wait(r.qp[0], 1, 0, r.cq[0], 1), EINVAL, "lacks XV_QP_CROSS_CHANNEL");
	while (!xv_wr_recv(r.qp[0], 1, &sge))
		;
	refused(xv_wr_recv(r.qp[0], 1, &sge), ENOMEM, "the receive queue is full");
	xv_commit_recv(r.qp[0]);
	xv_destroy_qp(fresh);
	rig_close(&r);
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	tap_is(signal_of(use, ALL), 0, "all requests are committed: the queue pair is destroyed");
	tap_is(signal_of(use, NO_SEND_COMMIT), STOPPED,
	       "a send is not committed: the program stops");
	tap_is(signal_of(use, NO_RECV_COMMIT), STOPPED,
	       "a receive is not committed: the program stops");
	test_reasons();
	return tap_done();
}
