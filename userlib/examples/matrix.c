// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Writes a block of columns of a matrix with one RDMA write.
 *
 * The block is not contiguous: each row has a part of it.  An indirect key names all parts,
 * and the adapter gathers them.  At the other side a second key scatters them into a block
 * of another matrix.
 *
 * usage: matrix [-d DEVICE] [-i PORT] [-g GID-INDEX]
 */
#include "common.h"

enum { ROWS = 64, COLUMNS = 512, FROM = 40, TO = 300, WIDTH = 16 };

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_qp *qp, *peer;
	struct xv_mr *mr;
} res;

static struct {
	uint32_t source[ROWS][COLUMNS];
	uint32_t target[ROWS][COLUMNS];
} m;

static struct xv_qp *create_qp(void)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = res.cq, .recv_cq = res.cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
	};

	return xv_create_qp(res.pd, &attr);
}

static void set_up(void)
{
	struct xv_cq_init_attr cq = { .cqe = 16 };

	CHECK(res.ctx = xv_open(opt.device));
	CHECK(res.pd = xv_alloc_pd(res.ctx));
	CHECK(res.cq = xv_create_cq(res.ctx, &cq));
	CHECK(res.mr = xv_reg_mr(res.pd, &m, sizeof(m), XV_ACCESS_LOCAL_WRITE));
	CHECK((res.qp = create_qp()) && (res.peer = create_qp()));
	connect_both(res.ctx, res.qp, res.peer);
}

/* Returns a key for the block of columns whose first row begins at first. */
static struct xv_mkey *block_key(const uint32_t *first, unsigned int access)
{
	struct xv_mkey_init_attr attr = { .max_entries = 2 };
	struct xv_repeat_block row = {
		.addr = (uintptr_t)first, .lkey = res.mr->lkey,
		.byte_count = WIDTH * sizeof(uint32_t), .stride = COLUMNS * sizeof(uint32_t),
	};
	struct xv_umr umr = {
		.access = access, .num = 1, .blocks = &row, .repeat_count = ROWS,
	};
	struct xv_mkey *key = xv_create_mkey(res.pd, &attr);

	CHECK(key);
	umr.mkey = key;
	CHECK(!xv_wr_umr_fill(res.qp, 1, XV_SEND_SIGNALED, &umr));
	xv_commit_send(res.qp);
	wait_wc(res.cq);
	return key;
}

/* Returns the number of wrong elements of the target matrix. */
static unsigned int wrong(void)
{
	unsigned int n = 0, row, column;

	for (row = 0; row < ROWS; row++)
		for (column = 0; column < COLUMNS; column++) {
			uint32_t want = column < TO || column >= TO + WIDTH ? 0 :
					m.source[row][column - TO + FROM];

			n += m.target[row][column] != want;
		}
	return n;
}

int main(int argc, char **argv)
{
	struct xv_mkey *from, *to;
	unsigned int row, column;
	struct xv_sge sge;

	parse(argc, argv);
	set_up();
	for (row = 0; row < ROWS; row++)
		for (column = 0; column < COLUMNS; column++)
			m.source[row][column] = row * COLUMNS + column + 1;
	from = block_key(&m.source[0][FROM], 0);
	to = block_key(&m.target[0][TO], XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE);

	sge = (struct xv_sge) { 0, ROWS * WIDTH * sizeof(uint32_t), from->lkey };
	CHECK(!xv_wr_write(res.qp, 2, XV_SEND_SIGNALED, &sge, 0, to->rkey));
	xv_commit_send(res.qp);
	wait_wc(res.cq);
	if (wrong())
		errx(1, "%u elements are wrong", wrong());
	printf("one write: %u columns of %u rows are right\n", (unsigned int)WIDTH,
	       (unsigned int)ROWS);
	xv_close(res.ctx);
	return 0;
}
