// SPDX-License-Identifier: GPL-2.0
/*
 * Queues in a dma-buf, and a memory region of a dma-buf.
 */
#include <sys/resource.h>
#include "dmabuf.h"
#include "rig.h"

enum { SIZE = 1 << 20, PART = 65536, IOVA = 1 << 24 };

static struct rig r;
static const struct rig_opts opts = { .size = SIZE, .rc = { .timeout = 10, .retry_cnt = 2 } };
static uint8_t *mem;

static int export_memory(void)
{
	int fd = dmabuf_make(SIZE, &mem);

	if (fd < 0)
		tap_skip_all("no driver exports a dma-buf: no udmabuf and no vgem");
	return fd;
}

/* ---- Queues in a UMEM -------------------------------------------------- */

enum { CQ_AT = 0, QP_AT = 65536, SRQ_AT = 131072, DBR_AT = 196608, QUEUES = DBR_AT + 4096 };

static void refused(uint64_t offset, size_t length, int fd, int err, const char *what)
{
	ok(!xv_reg_dmabuf_umem(r.side[0].ctx, mem, offset, length, fd) && errno == err,
	   "UMEM, %s: %s", what, xv_last_error());
}

static void test_places(int fd)
{
	int file = open("/dev/null", O_RDWR);

	refused(0, QUEUES, -1, EBADF, "no file");
	refused(0, QUEUES, file, EINVAL, "file is not a dma-buf");
	refused(0, SIZE + 4096, fd, EINVAL, "longer than the dma-buf");
	refused(SIZE, 4096, fd, EINVAL, "offset beyond the end");
	refused(64, 4096, fd, EINVAL, "offset not page-aligned");
	refused(0, 0, fd, EINVAL, "length 0");
	close(file);
}

/* Queue pairs of both sides; the one of side 0 is in the dma-buf. */
static void make_queues(struct xv_umem *umem, struct xv_cq **cq, struct xv_srq **srq,
			struct xv_qp *qp[2])
{
	struct xv_cq_init_attr cq_attr = { .cqe = 100,
		.external = { umem, umem, CQ_AT, DBR_AT, NULL } };
	struct xv_srq_init_attr srq_attr = { .attr = { .max_wr = 16, .max_sge = 1 },
		.external = { umem, umem, SRQ_AT, DBR_AT + 64, NULL } };
	struct xv_qp_init_attr inside = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 32, .max_send_sge = 1 },
		.external = { umem, umem, QP_AT, DBR_AT + 128, NULL } };
	struct xv_qp_init_attr outside = { .qp_type = XV_QPT_RC, .send_cq = r.cq[1],
		.recv_cq = r.cq[1], .cap = { .max_send_wr = 32, .max_send_sge = 1 } };

	*cq = xv_create_cq(r.side[0].ctx, &cq_attr);
	*srq = *cq ? xv_create_srq(r.side[0].pd, &srq_attr) : NULL;
	inside.send_cq = inside.recv_cq = *cq;
	inside.srq = *srq;
	qp[0] = *srq ? xv_create_qp(r.side[0].pd, &inside) : NULL;
	qp[1] = qp[0] ? xv_create_qp(r.side[1].pd, &outside) : NULL;
	if (!qp[1] || xt_connect_pair(qp[0], &r.side[0], qp[1], &r.side[1], NULL))
		bail_out("%s", xv_last_error());
}

/* A write from the dma-buf and a send to it */
static bool round_trip(struct xv_cq *cq, struct xv_srq *srq, struct xv_qp *qp[2], uint32_t i)
{
	struct xv_sge out = rig_sge(&r, 0, 0, PART), back = rig_sge(&r, 1, 0, PART);
	struct xv_sge in = rig_sge(&r, 0, PART, PART);
	bool good;

	rig_fill(r.buf[0], PART, i);
	if (xv_wr_srq_recv(srq, 2, &in, 1) ||
	    xv_wr_write(qp[0], 1, XV_SEND_SIGNALED, &out, rig_addr(&r, 1, 0), r.mr[1]->rkey))
		return false;
	xv_commit_srq(srq);
	xv_commit_send(qp[0]);
	good = rig_expect(cq, 1, XV_WC_SUCCESS) && rig_check(r.buf[1], PART, i);
	rig_fill(r.buf[1], PART, ~i);
	xv_wr_send(qp[1], 3, XV_SEND_SIGNALED, &back);
	xv_commit_send(qp[1]);
	return good && rig_expect(r.cq[1], 3, XV_WC_SUCCESS) && rig_expect(cq, 2, XV_WC_SUCCESS) &&
	       rig_check(r.buf[0] + PART, PART, ~i);
}

static void test_queues(int fd)
{
	struct xv_umem *umem = xv_reg_dmabuf_umem(r.side[0].ctx, mem + PART, PART, QUEUES, fd);
	struct xv_srq *srq;
	struct xv_qp *qp[2];
	struct xv_cq *cq;
	uint32_t i;

	if (!ok(umem != NULL, "UMEM: register a part of a dma-buf")) {
		diag("%s", xv_last_error());
		return;
	}
	make_queues(umem, &cq, &srq, qp);
	ok(cq->buf == mem + PART + CQ_AT && srq->buf == mem + PART + SRQ_AT &&
	   qp[0]->sq.buf >= mem + PART + QP_AT && qp[0]->sq.buf < mem + PART + SRQ_AT &&
	   (uint8_t *)qp[0]->sq.dbrec == mem + PART + DBR_AT + 128,
	   "CQ, SRQ, QP and doorbell records are in the UMEM");
	for (i = 0; i < 300 && round_trip(cq, srq, qp, i); i++)
		;
	ok(i == 300, "300 writes from and 300 sends to queues in a dma-buf");
	ok(xv_dereg_umem(umem) == -EBUSY, "deregister a UMEM in use: %s", xv_last_error());
	ok(!xv_destroy_qp(qp[0]) && !xv_destroy_qp(qp[1]) && !xv_destroy_srq(srq) &&
	   !xv_destroy_cq(cq) && !xv_dereg_umem(umem),
	   "destroy the queues, then deregister the UMEM");
}

/* ---- EXTERNAL_DATAPATH: queues in a UMEM that is not mapped ------------ */

static uint8_t *theirs;		/* address of the UMEM for the external driver */

static void init_unmapped(void)
{
	uint32_t i;

	memset(theirs, 0x5a, QUEUES);
	for (i = 0; i < 128; i++)
		theirs[CQ_AT + i * 64 + 63] = MLX5R_CQE_INVALID << 4 | MLX5R_CQE_OWNER;
	for (i = 0; i < 32; i++)
		((struct mlx5r_srq_next *)(void *)(theirs + SRQ_AT + i * 32))->next_wqe_index =
			xv_be16((i + 1) % 32);
	memset(theirs + DBR_AT, 0, 4096);
}

static void test_unmapped_refusals(struct xv_umem *umem)
{
	struct xv_cq_init_attr cq = { .cqe = 100, .external = { umem, NULL, CQ_AT, 0, NULL } };
	struct xv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 },
		.external = { NULL, umem, 0, DBR_AT, NULL } };
	struct xv_qp_init_attr qp = { .qp_type = XV_QPT_RC, .send_cq = r.cq[0], .recv_cq = r.cq[0],
		.cap = { 16, 16, 1, 1, 0 }, .external = { umem, umem, QP_AT, DBR_AT, NULL } };

	ok(!xv_create_cq(r.side[0].ctx, &cq) && errno == EINVAL, "%s", xv_last_error());
	ok(!xv_create_srq(r.side[0].pd, &srq) && errno == EINVAL, "%s", xv_last_error());
	ok(!xv_create_qp(r.side[0].pd, &qp) && errno == EINVAL, "%s", xv_last_error());
}

static struct xv_srq *make_unmapped(struct xv_umem *umem, struct xv_cq **cq, struct xv_qp *qp[2])
{
	struct xv_cq_init_attr cq_attr = { .cqe = 100, .flags = XV_CQ_EXTERNAL_DATAPATH,
		.external = { umem, umem, CQ_AT, DBR_AT, NULL } };
	struct xv_srq_init_attr srq_attr = { .attr = { .max_wr = 16, .max_sge = 1 },
		.flags = XV_SRQ_EXTERNAL_DATAPATH,
		.external = { umem, umem, SRQ_AT, DBR_AT + 64, NULL } };
	struct xv_qp_init_attr inside = { .qp_type = XV_QPT_RC, .flags = XV_QP_EXTERNAL_DATAPATH,
		.cap = { .max_send_wr = 32, .max_send_sge = 1 },
		.external = { umem, umem, QP_AT, DBR_AT + 128, NULL } };
	struct xv_qp_init_attr outside = { .qp_type = XV_QPT_RC, .send_cq = r.cq[1],
		.recv_cq = r.cq[1], .cap = { .max_send_wr = 32, .max_send_sge = 1 } };
	struct xv_srq *srq;

	*cq = xv_create_cq(r.side[0].ctx, &cq_attr);
	srq = *cq ? xv_create_srq(r.side[0].pd, &srq_attr) : NULL;
	inside.send_cq = inside.recv_cq = *cq;
	inside.srq = srq;
	qp[0] = srq ? xv_create_qp(r.side[0].pd, &inside) : NULL;
	qp[1] = qp[0] ? xv_create_qp(r.side[1].pd, &outside) : NULL;
	if (!qp[1] || xt_connect_pair(qp[0], &r.side[0], qp[1], &r.side[1], NULL))
		bail_out("%s", xv_last_error());
	return srq;
}

/* The external driver has its own state and its own addresses. */
static bool writes_by_others(const struct xv_cq *cq, const struct xv_qp *qp)
{
	struct xv_cq their_cq = *cq;
	struct xv_qp their_qp = *qp;
	struct xv_wc wc;
	uint32_t i;

	their_cq.buf = theirs + (uintptr_t)cq->buf;
	their_cq.dbrec = (void *)(theirs + (uintptr_t)cq->dbrec);
	their_qp.sq.buf = theirs + (uintptr_t)qp->sq.buf;
	their_qp.sq.buf_end = theirs + (uintptr_t)qp->sq.buf_end;
	their_qp.sq.dbrec = (void *)(theirs + (uintptr_t)qp->sq.dbrec);
	their_qp.sq.entry = calloc(qp->sq.mask + 1, sizeof(*qp->sq.entry));
	their_qp.sq.room = qp->sq.mask + 1;
	for (i = 0; i < 300; i++) {
		struct xv_sge out = rig_sge(&r, 0, 0, 4096);

		rig_fill(r.buf[0], 4096, i);
		if (xv_wr_write(&their_qp, 1, XV_SEND_SIGNALED, &out, rig_addr(&r, 1, 0),
				r.mr[1]->rkey))
			break;
		xv_commit_send(&their_qp);
		if (rig_poll(&their_cq, 1, &wc) != 1 || wc.status || wc.wr_id ||
		    !rig_check(r.buf[1], 4096, i))
			break;
		their_qp.sq.ci = their_qp.sq.pi;
	}
	free(their_qp.sq.entry);
	return i == 300;
}

static void test_unmapped(int fd)
{
	struct xv_umem *umem = xv_reg_dmabuf_umem(r.side[0].ctx, NULL, PART, QUEUES, fd);
	struct xv_sge sge = rig_sge(&r, 0, 0, 64);
	struct xv_qp_attr reset = { .qp_state = XV_QPS_RESET };
	struct xv_qp *qp[2];
	struct xv_srq *srq;
	struct xv_cq *cq;
	uint32_t record;

	if (!ok(umem != NULL, "UMEM: register a part of a dma-buf that is not mapped")) {
		diag("%s", xv_last_error());
		return;
	}
	theirs = mem + PART;
	init_unmapped();
	test_unmapped_refusals(umem);
	srq = make_unmapped(umem, &cq, qp);
	ok((uintptr_t)cq->buf == CQ_AT && (uintptr_t)srq->buf == SRQ_AT &&
	   (uintptr_t)qp[0]->sq.buf >= QP_AT && (uintptr_t)qp[0]->sq.buf < SRQ_AT &&
	   (uintptr_t)qp[0]->sq.dbrec == DBR_AT + 128, "addresses are offsets in the UMEM");
	ok(xv_wr_write(qp[0], 1, 0, &sge, 0, 0) == -XV_EINVAL, "xv_wr_write() is refused");
	ok(xv_resize_cq(cq, 1000) == -EINVAL, "xv_resize_cq() is refused: %s", xv_last_error());
	ok(writes_by_others(cq, qp[0]), "300 writes by an external driver with other addresses");
	record = *(uint32_t *)(void *)(theirs + DBR_AT + 128 + 4);
	ok(record && !xv_modify_qp(qp[0], &reset, XV_QP_STATE) &&
	   *(uint32_t *)(void *)(theirs + DBR_AT + 128 + 4) == record,
	   "RESET does not change the doorbell record");
	ok(!xv_destroy_qp(qp[0]) && !xv_destroy_qp(qp[1]) && !xv_destroy_srq(srq) &&
	   !xv_destroy_cq(cq) && !xv_dereg_umem(umem),
	   "destroy the queues, then deregister the UMEM");
}

/* ---- Memory region of the dma-buf -------------------------------------- */

static bool complete(uint64_t wr_id, enum xv_wc_status status)
{
	xv_commit_send(r.qp[0]);
	return rig_expect(r.cq[0], wr_id, status);
}

static void test_transfer(const struct xv_mr *mr, uint8_t *at)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, PART);

	rig_fill(r.buf[0], PART, 1);
	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &sge, IOVA, mr->rkey);
	ok(complete(1, XV_WC_SUCCESS) && rig_check(at, PART, 1), "write to the region");
	rig_fill(at, PART, 2);
	xv_wr_read(r.qp[0], 2, XV_SEND_SIGNALED, &sge, IOVA, mr->rkey);
	ok(complete(2, XV_WC_SUCCESS) && rig_check(r.buf[0], PART, 2), "read from the region");
	sge = (struct xv_sge) { rig_addr(&r, 0, 0), 8, r.mr[0]->lkey };
	xv_wr_write(r.qp[0], 3, XV_SEND_SIGNALED, &sge, IOVA + PART - 7, mr->rkey);
	ok(complete(3, XV_WC_REM_ACCESS_ERR), "write beyond the end fails");
	rig_reconnect(&r, &opts);
}

/* Pinned memory of a dma-buf counts as locked memory.  Gives up the privileges. */
static void test_limit(int fd)
{
	struct rlimit limit = { 2 * PART, 2 * PART };
	struct xv_umem *umem;
	struct xv_mr *mr;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		bail_out("cannot give up privileges");
	mr = xv_reg_dmabuf_mr(r.side[1].pd, 0, PART, 0, fd, 0);
	umem = xv_reg_dmabuf_umem(r.side[1].ctx, NULL, 0, PART, fd);
	ok(mr && umem, "two parts of a dma-buf are within the limit of locked memory");
	ok(!xv_reg_dmabuf_mr(r.side[1].pd, 0, 4096, 0, fd, 0) && errno == ENOMEM &&
	   strstr(xv_last_error(), "RLIMIT_MEMLOCK"), "one more region: ENOMEM: %s",
	   xv_last_error());
	ok(!xv_reg_dmabuf_umem(r.side[1].ctx, NULL, 0, 4096, fd) && errno == ENOMEM &&
	   strstr(xv_last_error(), "RLIMIT_MEMLOCK"), "one more UMEM: ENOMEM: %s",
	   xv_last_error());
	ok(mr && umem && !xv_dereg_mr(mr) && !xv_dereg_umem(umem), "deregister");
	mr = xv_reg_dmabuf_mr(r.side[1].pd, 0, 2 * PART, 0, fd, 0);
	ok(mr && !xv_dereg_mr(mr), "then there is room again");
	close(fd);
}

/* The kernel pins no dma-bufs. */
static void test_refused(int fd, const char *why_not)
{
	ok(!xv_reg_dmabuf_umem(r.side[0].ctx, NULL, 0, PART, fd) && errno == EOPNOTSUPP &&
	   strstr(xv_last_error(), why_not), "queues in a dma-buf: %s", xv_last_error());
	ok(!rig_feature(r.side[0].ctx, "memory-region-dmabuf")->available, "no regions either");
	ok(!xv_reg_dmabuf_mr(r.side[0].pd, 0, PART, IOVA, fd, XV_ACCESS_LOCAL_WRITE) &&
	   errno == EOPNOTSUPP && strstr(xv_last_error(), why_not),
	   "a region of a dma-buf: %s", xv_last_error());
}

int main(int argc, char **argv)
{
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				    XV_ACCESS_REMOTE_READ;
	const struct xv_feature *feature;
	struct xv_mr *mr;
	int fd, kept;

	rig_devices(argc, argv);
	fd = export_memory();
	rig_open(&r, &opts);
	feature = rig_feature(r.side[0].ctx, "external-memory-dmabuf");
	if (!feature->available && strstr(feature->why_not, "Linux")) {
		test_refused(fd, feature->why_not);
		rig_close(&r);
		return tap_done();
	}
	ok(feature->available, "queues may be in a dma-buf");
	test_places(fd);
	test_queues(fd);
	test_unmapped(fd);
	feature = rig_feature(r.side[1].ctx, "memory-region-dmabuf");
	if (!feature->available) {
		ok(!xv_reg_dmabuf_mr(r.side[1].pd, 0, PART, IOVA, fd, access) &&
		   errno == EOPNOTSUPP && strstr(xv_last_error(), feature->why_not),
		   "not available: %s", xv_last_error());
		rig_close(&r);
		return tap_done();
	}
	ok(!xv_reg_dmabuf_mr(r.side[1].pd, 0, PART, IOVA, -1, access) && errno == EBADF,
	   "invalid file descriptor: %s", xv_last_error());
	ok(!xv_reg_dmabuf_mr(r.side[1].pd, 0, SIZE + 4096, IOVA, fd, access) && errno == EINVAL,
	   "longer than the dma-buf: %s", xv_last_error());
	ok(!xv_reg_dmabuf_mr(r.side[1].pd, 0, PART, 4096 - (uint64_t)PART, fd, access) &&
	   errno == EINVAL, "IOVA that wraps around: %s", xv_last_error());
	mr = xv_reg_dmabuf_mr(r.side[1].pd, PART, PART, IOVA, fd, access);
	kept = dup(fd);
	close(fd);
	if (!ok(mr != NULL, "register a part of a dma-buf, then close its file")) {
		diag("%s", xv_last_error());
		return tap_done();
	}
	test_transfer(mr, mem + PART);
	ok(xv_rereg_mr(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, access) == -EOPNOTSUPP,
	   "re-registration is refused: %s", xv_last_error());
	ok(!xv_dereg_mr(mr), "deregister");
	test_limit(kept);
	rig_close(&r);
	return tap_done();
}
