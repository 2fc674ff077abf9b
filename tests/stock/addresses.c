// SPDX-License-Identifier: GPL-2.0
/*
 * usage: addresses DEVICE GID-INDEX
 *
 * Calls of libibverbs about addresses, multicast groups and memory regions. The other test
 * programs do not make these calls. The results are the same with each provider.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ends.h"

enum { QKEY = 0x1234567, GRH = 40, PAGE = 4096 };

static bool wait_for(struct end *e, struct ibv_wc *wc, double seconds)
{
	double until = now() + seconds;
	int n;

	do
		n = ibv_poll_cq(e->cq, 1, wc);
	while (!n && now() < until);
	return n == 1 && wc->status == IBV_WC_SUCCESS;
}

/* Sends 64 bytes to @to_qpn, and waits for the completion of the send. */
static bool send_to(struct end *e, struct ibv_ah *ah, uint32_t to_qpn)
{
	struct ibv_qp_ex *q = start(e, 1);
	struct ibv_wc wc;

	ibv_wr_send(q);
	ibv_wr_set_ud_addr(q, ah, to_qpn, QKEY);
	ibv_wr_set_sge(q, mr->lkey, at(0), 64);
	return !ibv_wr_complete(q) && wait_for(e, &wc, 10);
}

static void post_recv(struct end *e)
{
	struct ibv_sge sge = sge_at(PAGE, GRH + 64);
	struct ibv_recv_wr *bad, wr = { .wr_id = 2, .sg_list = &sge, .num_sge = 1 };

	need(!ibv_post_recv(e->qp, &wr, &bad), "ibv_post_recv");
}

/* The attributes that a completion gives lead back to the sender. */
static void from_completion(struct end *a, struct end *b)
{
	struct ibv_ah_attr to = path_to(&place, gid_index), back;
	struct ibv_ah *ah;
	struct ibv_wc wc = { .wr_id = 0 };

	/* On InfiniBand without a GRH, nothing but the LID tells the sender. */
	to.is_global = 1;
	ah = ibv_create_ah(pd, &to);
	need(ah != NULL, "ibv_create_ah");
	post_recv(b);
	memset(&back, 0xff, sizeof(back));
	ok(send_to(a, ah, b->qp->qp_num) && wait_for(b, &wc, 10) && wc.wc_flags & IBV_WC_GRH,
	   "a datagram with a GRH arrives");
	ok(!ibv_init_ah_from_wc(ctx, 1, &wc, (struct ibv_grh *)(mem + PAGE), &back),
	   "ibv_init_ah_from_wc()");
	ok(back.is_global == 1 && back.port_num == 1 && back.dlid == wc.slid &&
	   back.grh.sgid_index == gid_index &&
	   !memcmp(&back.grh.dgid, &place.gid, sizeof(place.gid)),
	   "the attributes are those of the sender");
	ok(!ibv_destroy_ah(ah), "the address handle ends");
}

/* A group of its own for this process; RoCE uses the address as it is. */
static void multicast(struct end *a, struct end *b)
{
	union ibv_gid group = { .raw = { 0xff, 0x0e, [12] = 0x12, 0x34, 0x56, 0x78 } };
	struct ibv_ah_attr to = path_to(&place, gid_index);
	struct ibv_ah *ah;
	struct ibv_wc wc;

	if (port.link_layer != IBV_LINK_LAYER_ETHERNET) {
		ok(1, "multicast # SKIP a group of InfiniBand needs the subnet manager");
		return;
	}
	to.grh.dgid = group;
	ah = ibv_create_ah(pd, &to);
	need(ah != NULL, "ibv_create_ah");
	tap_is(ibv_attach_mcast(b->qp, &group, 0), 0, "ibv_attach_mcast()");
	post_recv(b);
	ok(send_to(a, ah, 0xffffff) && wait_for(b, &wc, 10) && wc.byte_len == GRH + 64,
	   "a datagram to the group arrives");
	tap_is(ibv_detach_mcast(b->qp, &group, 0), 0, "ibv_detach_mcast()");
	post_recv(b);
	ok(send_to(a, ah, 0xffffff) && !wait_for(b, &wc, 0.2), "and after it, none arrives");
	ok(ibv_detach_mcast(b->qp, &group, 0), "it cannot be detached twice");
	ok(!ibv_destroy_ah(ah), "the address handle ends");
}

typedef int (*gid_type_fn)(struct ibv_context *ctx, uint8_t port, unsigned int index,
			   unsigned int *type);

/* Programs of rdma-core find this function by its private version. */
static void gid_type(void)
{
	unsigned int type = 99;
	gid_type_fn query;
	struct ibv_gid_entry entry;

	query = (gid_type_fn)dlvsym(RTLD_DEFAULT, "ibv_query_gid_type", "IBVERBS_PRIVATE_34");
	if (!query) {
		ok(1, "ibv_query_gid_type() # SKIP libibverbs has another private version");
		return;
	}
	need(!ibv_query_gid_ex(ctx, 1, (uint32_t)gid_index, &entry, 0), "ibv_query_gid_ex");
	ok(!query(ctx, 1, (unsigned int)gid_index, &type) &&
	   type == (entry.gid_type == IBV_GID_TYPE_ROCE_V2), "ibv_query_gid_type(): %u", type);
	ok(query(ctx, 1, 100000, &type) == -1, "no type of a GID outside of the table");
}

static void data_order(struct end *rc)
{
	tap_is(ibv_query_qp_data_in_order(rc->qp, IBV_WR_RDMA_WRITE, 0), 0,
	       "no order of the bytes of a write is promised");
}

static void regions(void)
{
	struct udmabuf_create create = { .size = PAGE };
	int memfd = memfd_create("addresses", MFD_ALLOW_SEALING), udmabuf, fd = -1;
	struct ibv_mr *r = ibv_reg_mr_iova2(pd, mem, PAGE, 0x100000, IBV_ACCESS_LOCAL_WRITE);

	ok(r && r->addr == mem && r->length == PAGE, "ibv_reg_mr_iova2()");
	ok(r && !ibv_dereg_mr(r), "the region ends");
	udmabuf = open("/dev/udmabuf", O_RDWR);
	need(memfd >= 0 && !ftruncate(memfd, PAGE) && !fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK),
	     "memfd");
	create.memfd = (uint32_t)memfd;
	if (udmabuf >= 0)
		fd = ioctl(udmabuf, UDMABUF_CREATE, &create);
	if (fd < 0) {
		ok(1, "ibv_reg_dmabuf_mr() # SKIP the kernel has no udmabuf");
		return;
	}
	r = ibv_reg_dmabuf_mr(pd, 0, PAGE, 0x200000, fd, IBV_ACCESS_LOCAL_WRITE);
	ok(r || errno == EOPNOTSUPP, "ibv_reg_dmabuf_mr(): %s", r ? "a region" : strerror(errno));
	ok(!r || !ibv_dereg_mr(r), "the region ends");
	errno = 0;
	ok(!ibv_reg_dmabuf_mr(pd, 0, PAGE, 0x200000, memfd, IBV_ACCESS_LOCAL_WRITE) && errno,
	   "a file that is no dma-buf: %s", strerror(errno));
	close(fd);
	close(udmabuf);
	close(memfd);
}

int main(int argc, char **argv)
{
	struct end a, b, rc;

	ends_open(argc, argv);
	a = make(IBV_QPT_UD, NULL, NULL);
	b = make(IBV_QPT_UD, NULL, NULL);
	rc = make(IBV_QPT_RC, NULL, NULL);
	ud_up(a.qp, QKEY);
	ud_up(b.qp, QKEY);
	from_completion(&a, &b);
	multicast(&a, &b);
	gid_type();
	data_order(&rc);
	regions();
	unmake(&rc);
	unmake(&b);
	unmake(&a);
	ends_close();
	return tap_done();
}
