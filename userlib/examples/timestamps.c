// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Data in the completion, and time stamps: 32 messages of 48 bytes between two queue pairs of
 * one process.  The adapter writes each message into its completion, and xv_poll_cq_ts() copies
 * it to the buffer of the receive request and says when it arrived.
 *
 * usage: timestamps [-d DEVICE] [-i PORT] [-g GID-INDEX]
 */
#include "common.h"

enum { MESSAGES = 32, BYTES = 48 };

static struct {
	struct xv_context *ctx;
	struct xv_device_attr device;
	struct xv_pd *pd;
	struct xv_cq *cq[2];
	struct xv_qp *qp[2];
	struct xv_mr *mr;
	char mem[2][MESSAGES][BYTES];	/* sent, received */
} res;

static void resources_create(void)
{
	/* Entries of 128 bytes have room for 64 bytes of data. */
	struct xv_cq_init_attr cq = { .cqe = MESSAGES, .cqe_size = 128 };
	int i;

	CHECK((res.ctx = xv_open(opt.device)));
	CHECK(!xv_query_device(res.ctx, &res.device));
	if (res.device.inline_recv_sz < BYTES || !res.device.timestamp_mask)
		errx(1, "the device has no data in the completion, or no time stamps");
	CHECK((res.pd = xv_alloc_pd(res.ctx)));
	CHECK((res.mr = xv_reg_mr(res.pd, res.mem, sizeof(res.mem), XV_ACCESS_LOCAL_WRITE)));
	for (i = 0; i < 2; i++) {
		struct xv_qp_init_attr attr = {
			.qp_type = XV_QPT_RC,
			.cap = { .max_send_wr = MESSAGES, .max_recv_wr = MESSAGES,
				 .max_send_sge = 1, .max_recv_sge = 1 },
			.max_inl_recv = BYTES,
		};

		CHECK((res.cq[i] = xv_create_cq(res.ctx, &cq)));
		attr.send_cq = attr.recv_cq = res.cq[i];
		CHECK((res.qp[i] = xv_create_qp(res.pd, &attr)));
		printf("queue pair %d: messages of up to %u bytes come in the completion\n", i,
		       attr.max_inl_recv);
	}
	connect_both(res.ctx, res.qp[0], res.qp[1]);
}

static void resources_destroy(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(!xv_destroy_qp(res.qp[i]));
		CHECK(!xv_destroy_cq(res.cq[i]));
	}
	CHECK(!xv_dereg_mr(res.mr));
	CHECK(!xv_dealloc_pd(res.pd));
	CHECK(!xv_close(res.ctx));
}

static struct xv_sge message(int side, int i)
{
	return (struct xv_sge) { (uintptr_t)res.mem[side][i], BYTES, res.mr->lkey };
}

static void send_all(void)
{
	int i;

	for (i = 0; i < MESSAGES; i++) {
		struct xv_sge to = message(1, i);

		CHECK(!xv_wr_recv(res.qp[1], (uint64_t)i, &to));
	}
	xv_commit_recv(res.qp[1]);
	for (i = 0; i < MESSAGES; i++) {
		struct xv_sge from = message(0, i);

		snprintf(res.mem[0][i], BYTES, "message %d", i);
		CHECK(!xv_wr_send(res.qp[0], (uint64_t)i, XV_SEND_SIGNALED, &from));
	}
	xv_commit_send(res.qp[0]);
}

/* Polls the completions of one side and stores their times. */
static void wait_all(struct xv_cq *cq, uint64_t *times)
{
	struct xv_wc wc[MESSAGES];
	int done = 0, i, n;

	while (done < MESSAGES) {
		n = xv_poll_cq_ts(cq, MESSAGES - done, wc, times + done);
		CHECK(n >= 0);
		for (i = 0; i < n; i++)
			if (wc[i].status)
				errx(1, "%s", xv_wc_status_str(wc[i].status));
		done += n;
	}
}

/* Nanoseconds; the clock begins again at zero, so the difference is taken with the mask. */
static double ns_between(uint64_t from, uint64_t to)
{
	return (double)((to - from) & res.device.timestamp_mask) * 1e6 /
	       (double)res.device.hca_core_clock;
}

int main(int argc, char **argv)
{
	uint64_t begin, end, received[MESSAGES], sent[MESSAGES];
	int i;

	parse(argc, argv);
	resources_create();
	CHECK(!xv_read_clock(res.ctx, &begin));
	send_all();
	wait_all(res.cq[1], received);
	wait_all(res.cq[0], sent);
	CHECK(!xv_read_clock(res.ctx, &end));
	if (memcmp(res.mem[0], res.mem[1], sizeof(res.mem[0])))
		errx(1, "the received data is wrong");
	for (i = 0; i < MESSAGES; i++)
		if (ns_between(begin, received[i]) > ns_between(begin, end) ||
		    (i && ns_between(received[0], received[i]) <
			  ns_between(received[0], received[i - 1])))
			errx(1, "message %d has the wrong time", i);
	printf("%d messages: the data is right, the times are in order; "
	       "%.0f ns from the first to the last\n", MESSAGES,
	       ns_between(received[0], received[MESSAGES - 1]));
	resources_destroy();
	return 0;
}
