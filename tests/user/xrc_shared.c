// SPDX-License-Identifier: GPL-2.0
/*
 * An XRC domain that two contexts of side 1 share: the first creates the receiving
 * queue pair, the second has an SRQ and opens the queue pair by its number.  Side 0
 * sends.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { LEN = 512, HANDLES = 2 * XVERBS_MAX_QP_HANDLES };

static struct rig r;		/* side 1: the first context */
static struct xt_side second;
static struct xv_xrcd *xrcd[2];
static struct xv_srq *srq;
static struct xv_cq *cq;
static struct xv_mr *mr;
static struct xv_qp *tx;

static struct xv_qp *make_qp(int side, enum xv_qp_type type)
{
	struct xv_qp_init_attr attr = { .qp_type = type };

	if (type == XV_QPT_XRC_RECV) {
		attr.xrcd = xrcd[0];
	} else {
		attr.send_cq = r.cq[side];
		attr.cap.max_send_wr = 16;
		attr.cap.max_send_sge = 1;
	}
	return xv_create_qp(r.side[side].pd, &attr);
}

/* The inode of such a file belongs to all users. */
static void refused_file(int fd, const char *what)
{
	ok(!xv_open_xrcd(r.side[1].ctx, fd, O_CREAT) && errno == EINVAL &&
	   strstr(xv_last_error(), "regular file"), "%s names no domain: %s", what,
	   xv_last_error());
	close(fd);
}

static void open_second(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 64 };
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	int fd = memfd_create("domain", MFD_CLOEXEC);

	refused_file(eventfd(0, EFD_CLOEXEC), "an eventfd");
	refused_file(epoll_create1(EPOLL_CLOEXEC), "an epoll instance");
	refused_file(open("/dev/null", O_RDONLY | O_CLOEXEC), "a device");
	refused_file(open("/tmp", O_RDONLY | O_CLOEXEC), "a directory");
	ok(!xv_open_xrcd(r.side[1].ctx, fd, 0) && errno == ENOENT,
	   "open without O_CREAT, before it exists: %s",
	   xv_last_error());
	xrcd[0] = xv_open_xrcd(r.side[1].ctx, fd, O_CREAT);
	ok(xrcd[0] && !xv_open_xrcd(r.side[1].ctx, fd, O_CREAT | O_EXCL) && errno == EEXIST,
	   "open with O_EXCL, after it exists: %s", xv_last_error());
	if (xt_side_open(&second, rig_device(1), 1, -1))
		bail_out("%s", xv_last_error());
	attr.xrcd = xrcd[1] = xv_open_xrcd(second.ctx, fd, 0);
	close(fd);
	attr.cq = cq = xv_create_cq(second.ctx, &cq_attr);
	srq = xrcd[1] && cq ? xv_create_srq(second.pd, &attr) : NULL;
	mr = xt_mr_alloc(&second, 4096, XV_ACCESS_LOCAL_WRITE);
	if (!ok(srq && mr, "the second context opens the domain and creates an SRQ"))
		bail_out("%s", xv_last_error());
}

/* Sends from side 0 to the SRQ of the second context. */
static enum xv_wc_status message(uint32_t seed)
{
	struct xv_sge from = rig_sge(&r, 0, 0, LEN), to = { (uintptr_t)mr->addr, LEN, mr->lkey };
	struct xv_send_wr wr = { .wr_id = seed, .sg_list = &from, .num_sge = 1,
		.opcode = XV_WR_SEND, .send_flags = XV_SEND_SIGNALED,
		.qp_type.xrc.remote_srqn = srq->srq_num }, *bad;
	struct xv_recv_wr recv = { .wr_id = seed, .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct xv_wc wc;

	rig_fill(r.buf[0], LEN, seed);
	if (xv_post_srq_recv(srq, &recv, &bad_recv) || xv_post_send(tx, &wr, &bad) ||
	    rig_poll(r.cq[0], 1, &wc) != 1)
		return XV_WC_FATAL_ERR;
	if (wc.status)
		return wc.status;
	if (rig_poll(cq, 1, &wc) != 1 || wc.status || wc.wr_id != seed ||
	    !rig_check(mr->addr, LEN, seed))
		return XV_WC_FATAL_ERR;
	return XV_WC_SUCCESS;
}

/* Reads the next access error of a context and acknowledges it; false after a timeout */
static bool next_error(struct xv_context *ctx, struct xv_async_event *event)
{
	struct pollfd p = { .fd = ctx->fd, .events = POLLIN };

	while (poll(&p, 1, 10000) == 1 && !xv_get_async_event(ctx, event)) {
		xv_ack_async_event(event);
		if (event->event_type == XV_EVENT_QP_ACCESS_ERR)
			return true;
		/* The QP is in ERR now. */
		if (event->event_type != XV_EVENT_QP_LAST_WQE_REACHED)
			diag("event: %s", xv_event_type_str(event->event_type));
	}
	diag("no event");
	return false;
}

/* Counts the handles that get the event of a message that the peer cannot receive. */
static unsigned int notified(struct xv_qp *const *handle, unsigned int n)
{
	struct xv_sge from = rig_sge(&r, 0, 0, LEN);
	struct xv_send_wr wr = { .sg_list = &from, .num_sge = 1, .opcode = XV_WR_RDMA_WRITE,
		.send_flags = XV_SEND_SIGNALED, .wr.rdma.rkey = ~mr->rkey,
		.qp_type.xrc.remote_srqn = srq->srq_num }, *bad;
	struct xv_async_event event;
	unsigned int found = 0, i;
	bool seen[HANDLES] = { false };

	if (xv_post_send(tx, &wr, &bad))
		return 0;
	while (found < n && next_error(second.ctx, &event)) {
		for (i = 0; i < n && event.element.qp != handle[i]; i++)
			;
		if (i == n || seen[i]) {
			diag("event of handle %u, %u are known", i, found);
			return 0;
		}
		seen[i] = true;
		found++;
	}
	return found;
}

/* The creator has one handle. */
static void test_many(struct xv_qp *made)
{
	struct xv_qp_open_attr attr = { .xrcd = xrcd[1], .qp_num = made->qp_num };
	struct xv_qp *handle[HANDLES];
	struct xv_async_event event;
	unsigned int n = 0, told, closed = 0, i;
	struct xv_wc wc;

	while (n < HANDLES && (handle[n] = xv_open_qp(second.ctx, &attr)))
		n++;
	ok(n == XVERBS_MAX_QP_HANDLES - 1 && errno == ENOSPC,
	   "%u handles besides that of the creator, then ENOSPC: %s", n, xv_last_error());
	told = notified(handle, n);
	ok(told == n, "an event of the QP: %u of %u handles get it", told, n);
	ok(next_error(r.side[1].ctx, &event) && event.element.qp == made,
	   "the creator gets it, too");
	ok(rig_poll(r.cq[0], 1, &wc) == 1 && wc.status == XV_WC_REM_ACCESS_ERR,
	   "the sender has an access error");
	for (i = 0; i < n; i++)
		closed += !xv_destroy_qp(handle[i]);
	ok(closed == n, "%u handles are destroyed", closed);
	handle[0] = xv_open_qp(second.ctx, &attr);
	ok(handle[0] && !xv_destroy_qp(handle[0]), "then one can be opened again");
}

static void test_open(void)
{
	static const struct xt_rc_opts opts = { .timeout = 10, .retry_cnt = 2 };
	struct xv_qp *made = make_qp(1, XV_QPT_XRC_RECV), *opened;
	struct xv_qp *sender = make_qp(1, XV_QPT_XRC_SEND);
	struct xv_qp_open_attr attr = { .xrcd = xrcd[1], .qp_context = &r };
	struct xv_qp_attr state = { .qp_state = XV_QPS_ERR }, reset = { .qp_state = XV_QPS_RESET };

	tx = make_qp(0, XV_QPT_XRC_SEND);
	if (!made || !sender || !tx || xt_connect_pair(tx, &r.side[0], made, &r.side[1], &opts))
		bail_out("%s", xv_last_error());
	test_many(made);
	if (xv_modify_qp(tx, &reset, XV_QP_STATE) || xv_modify_qp(made, &reset, XV_QP_STATE) ||
	    xt_connect_pair(tx, &r.side[0], made, &r.side[1], &opts))
		bail_out("%s", xv_last_error());
	ok(message(1) == XV_WC_SUCCESS,
	   "the QP of the first context receives into the SRQ of the second");
	attr.qp_num = made->qp_num ^ 0x800;
	ok(!xv_open_qp(second.ctx, &attr) && errno == ENOENT, "open an unknown QP number: %s",
	   xv_last_error());
	attr.qp_num = sender->qp_num;
	ok(!xv_open_qp(second.ctx, &attr) && errno == ENOENT, "open a sending QP: error");
	xv_destroy_qp(sender);
	attr.qp_num = made->qp_num;
	opened = xv_open_qp(second.ctx, &attr);
	if (!ok(opened && opened->state == XV_QPS_RTS && opened->qp_context == &r,
		"open by number: the QP is in RTS"))
		bail_out("%s", xv_last_error());
	ok(xv_close_xrcd(xrcd[1]) == -EBUSY, "close the domain in use: %s", xv_last_error());
	ok(!xv_destroy_qp(made) && !xv_close_xrcd(xrcd[0]),
	   "the first context destroys the QP and closes the domain");
	ok(message(2) == XV_WC_SUCCESS, "messages still arrive");
	ok(!xv_modify_qp(opened, &state, XV_QP_STATE) && !xv_query_qp(opened, &state, 0, NULL) &&
	   state.qp_state == XV_QPS_ERR, "the second context modifies the QP to ERR");
	ok(message(3) == XV_WC_RETRY_EXC_ERR, "in ERR the QP does not respond");
	ok(!xv_destroy_qp(opened), "the second context destroys the QP");
	ok(!xv_destroy_qp(tx), "destroy the sending QP");
}

int main(int argc, char **argv)
{
	static const struct rig_opts opts = { .size = 65536, .unconnected = true };

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	open_second();
	test_open();
	ok(!xv_destroy_srq(srq) && !xv_destroy_cq(cq) && !xv_close_xrcd(xrcd[1]), "clean up");
	xt_mr_free(mr);
	xt_side_close(&second);
	rig_close(&r);
	return tap_done();
}
