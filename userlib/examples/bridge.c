// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * libibverbs and libxverbs in one program: libibverbs opens the device, allocates the
 * protection domain and registers memory; two queue pairs of libxverbs use it, with work
 * requests and completions of libibverbs.
 *
 * usage: bridge [-d DEVICE] [-i PORT] [-g GID-INDEX]
 */
#include <infiniband/verbs.h>
#include <xverbs/bridge.h>
#include "common.h"

enum { BYTES = 1 << 20, CHUNK = 4096 };

static struct {
	/* of libibverbs */
	struct ibv_context *ibv;
	struct ibv_pd *ibv_pd;
	struct ibv_mr *mr;
	/* of libxverbs */
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_qp *qp[2];
	uint8_t *buf;			/* source, then destination */
} res;

/* The device with this name, or the first one that libxverbs supports */
static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ibv = NULL;
	int i;

	for (i = 0; list && list[i] && !ibv; i++) {
		if (name && strcmp(name, ibv_get_device_name(list[i])))
			continue;
		ibv = ibv_open_device(list[i]);
		res.ctx = ibv ? xv_bridge_import_ctx(ibv) : NULL;
		if (ibv && !res.ctx) {
			ibv_close_device(ibv);
			ibv = NULL;
		}
	}
	ibv_free_device_list(list);
	return ibv;
}

static void resources_create(void)
{
	struct xv_cq_init_attr cq = { .cqe = 64 };
	int i;

	CHECK((res.ibv = open_device(opt.device)));
	res.ibv_pd = ibv_alloc_pd(res.ibv);
	res.buf = calloc(2, BYTES);
	if (!res.ibv_pd || !res.buf)
		err(1, "ibv_alloc_pd, calloc");
	res.mr = ibv_reg_mr(res.ibv_pd, res.buf, 2 * BYTES,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!res.mr)
		err(1, "ibv_reg_mr");

	CHECK((res.pd = xv_bridge_import_pd(res.ctx, res.ibv_pd)));
	CHECK((res.cq = xv_create_cq(res.ctx, &cq)));
	for (i = 0; i < 2; i++) {
		struct xv_qp_init_attr attr = {
			.qp_type = XV_QPT_RC, .send_cq = res.cq, .recv_cq = res.cq,
			.cap = { .max_send_wr = 16, .max_send_sge = 1 },
		};

		CHECK((res.qp[i] = xv_create_qp(res.pd, &attr)));
	}
	connect_both(res.ctx, res.qp[0], res.qp[1]);
}

/* The objects of libxverbs first: until then, the protection domain is in use. */
static void resources_destroy(void)
{
	int busy = ibv_dealloc_pd(res.ibv_pd);

	printf("the protection domain is in use: %s\n", strerror(busy));
	CHECK(!xv_destroy_qp(res.qp[0]));
	CHECK(!xv_destroy_qp(res.qp[1]));
	CHECK(!xv_destroy_cq(res.cq));
	CHECK(!xv_dealloc_pd(res.pd));
	CHECK(!xv_close(res.ctx));
	if (ibv_dereg_mr(res.mr) || ibv_dealloc_pd(res.ibv_pd) || ibv_close_device(res.ibv))
		errx(1, "libibverbs: an object is still in use");
	free(res.buf);
}

static void write_chunk(size_t offset)
{
	struct ibv_sge sge = { (uintptr_t)res.buf + offset, CHUNK, res.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = offset, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;

	wr.wr.rdma.remote_addr = (uintptr_t)res.buf + BYTES + offset;
	wr.wr.rdma.rkey = res.mr->rkey;
	CHECK(!xv_bridge_post_send(res.qp[0], &wr, &bad));
	while (!xv_bridge_poll_cq(res.cq, 1, &wc))
		;
	if (wc.status || wc.wr_id != offset)
		errx(1, "write: %s", ibv_wc_status_str(wc.status));
}

int main(int argc, char **argv)
{
	size_t i;

	parse(argc, argv);
	resources_create();
	for (i = 0; i < BYTES; i++)
		res.buf[i] = (uint8_t)(i * 2654435761u >> 13);
	for (i = 0; i < BYTES; i += CHUNK)
		write_chunk(i);
	if (memcmp(res.buf, res.buf + BYTES, BYTES))
		errx(1, "the data differ");
	printf("%s: %d bytes written and compared\n", res.ctx->name, BYTES);
	resources_destroy();
	return 0;
}
