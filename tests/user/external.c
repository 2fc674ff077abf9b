// SPDX-License-Identifier: GPL-2.0
/*
 * Queues in user memory (UMEM): the adapter uses that memory, invalid places are
 * refused with a reason, and a UMEM in use cannot be destroyed.  The program uses
 * ioctls directly, without libxverbs.
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/mlx5_ring.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { PAGE = 4096, CQES = 16, WQES = 16, STRIDE = 16 };

/* Offsets in the memory: CQ ring, QP rings, SRQ ring, doorbell records */
enum { CQ_AT = 0, QP_AT = PAGE, SRQ_AT = 4 * PAGE, DBR_AT = 5 * PAGE, SIZE = 6 * PAGE };

static int fd;
static uint8_t *mem;
static uint32_t pd, uar, umem;
static struct xverbs_external external;
static char reason[XVERBS_REASON_MAX];

#define PART(p)	((struct xverbs_part) { .addr = (uintptr_t)(p), .size = sizeof(*(p)) })

#define CALL(_nr, _arg)								\
	((_arg)->hdr.size = sizeof(*(_arg)),					\
	 (_arg)->hdr.reason = (uintptr_t)reason,				\
	 (_arg)->hdr.reason_len = sizeof(reason), reason[0] = 0,		\
	 ioctl(fd, XVERBS_##_nr, _arg) ? errno : 0)

static void must(int err, const char *what)
{
	if (err)
		bail_out("%s: %s (%s)", what, strerror(err), reason);
}

static int destroy(uint32_t handle)
{
	struct xverbs_destroy d = { .handle = handle };

	return CALL(DESTROY, &d);
}

static void setup(void)
{
	struct xverbs_pd_alloc p = {};
	struct xverbs_uar_alloc u = {};
	struct xverbs_umem_reg m = {};

	fd = rig_bound_file(rig_device(0));
	must(fd < 0 ? errno : 0, "BIND");
	must(CALL(PD_ALLOC, &p), "PD_ALLOC");
	must(CALL(UAR_ALLOC, &u), "UAR_ALLOC");
	pd = p.out_handle;
	uar = u.out_handle;

	mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m.addr = (uintptr_t)mem + 64;
	m.length = SIZE;
	ok(CALL(UMEM_REG, &m) == EINVAL, "UMEM address not page-aligned: %s", reason);
	m.addr = (uintptr_t)mem;
	m.length = 0;
	ok(CALL(UMEM_REG, &m) == EINVAL, "UMEM of length 0: %s", reason);
	m.addr = 0x7000;
	m.length = PAGE;
	ok(CALL(UMEM_REG, &m) == EFAULT, "UMEM of unmapped addresses: %s", reason);
	m.addr = (uintptr_t)mem;
	m.length = SIZE;
	must(CALL(UMEM_REG, &m), "UMEM_REG");
	umem = m.out_handle;
}

static void cq_args(struct xverbs_cq_create *a)
{
	int i;

	*a = (struct xverbs_cq_create) {
		.uar = uar, .entries = CQES - 1, .cqe_bytes = 64, .user_data = 77,
		.external = PART(&external),
	};
	external = (struct xverbs_external) { .ring_umem = umem, .ring_offset = CQ_AT,
		.dbr_umem = umem, .dbr_offset = DBR_AT };
	for (i = 0; i < CQES; i++)
		mem[CQ_AT + i * 64 + 63] = MLX5R_CQE_INVALID << 4 | MLX5R_CQE_OWNER;
}

static void test_places(void)
{
	struct xverbs_cq_create a;

	cq_args(&a);
	external.ring_offset = 64;
	ok(CALL(CQ_CREATE, &a) == EINVAL, "ring offset not page-aligned: %s", reason);
	cq_args(&a);
	external.ring_offset = SIZE;
	ok(CALL(CQ_CREATE, &a) == EINVAL, "ring beyond the end: %s", reason);
	cq_args(&a);
	external.ring_offset = ~0ull << 12;
	ok(CALL(CQ_CREATE, &a) == EINVAL, "ring far beyond the end: %s", reason);
	cq_args(&a);
	external.dbr_offset = DBR_AT + 8;
	ok(CALL(CQ_CREATE, &a) == EINVAL, "doorbell record not aligned to 64: %s", reason);
	cq_args(&a);
	external.dbr_offset = SIZE;
	ok(CALL(CQ_CREATE, &a) == EINVAL, "doorbell record beyond the end: %s", reason);
	cq_args(&a);
	a.entries = 4000;
	ok(CALL(CQ_CREATE, &a) == EINVAL, "ring longer than the UMEM: %s", reason);
}

static void to_init_and_error(uint32_t qp)
{
	struct xverbs_qp_attr attr = { .qp_state = XVERBS_QPS_INIT, .port_num = 1 };
	struct xverbs_qp_modify m = { .qp = qp, .attr = PART(&attr) };

	m.attr_mask = XVERBS_QP_STATE | XVERBS_QP_PKEY_INDEX | XVERBS_QP_PORT |
		      XVERBS_QP_ACCESS_FLAGS;
	must(CALL(QP_MODIFY, &m), "to INIT");
	/* Posts two receives with empty lists: writes the ring and the doorbell record. */
	((struct mlx5r_data *)(mem + QP_AT))[0].lkey = htobe32(MLX5R_LKEY_END);
	((struct mlx5r_data *)(mem + QP_AT))[1].lkey = htobe32(MLX5R_LKEY_END);
	__atomic_store_n((uint32_t *)(mem + DBR_AT + 64), htobe32(2), __ATOMIC_RELEASE);
	m.attr_mask = XVERBS_QP_STATE;
	attr.qp_state = XVERBS_QPS_ERR;
	must(CALL(QP_MODIFY, &m), "to ERR");
}

static bool flushed(int i)
{
	volatile struct mlx5r_err_cqe *cqe = (void *)(mem + CQ_AT + i * 64);
	int ms;

	for (ms = 0; ms < 5000 && cqe->op_own >> 4 == MLX5R_CQE_INVALID; ms++)
		usleep(1000);
	return cqe->op_own == (MLX5R_CQE_RESP_ERR << 4) &&
	       cqe->syndrome == MLX5R_SYND_WR_FLUSH && be16toh(cqe->wqe_counter) == i;
}

static void test_flush(void)
{
	struct xverbs_qp_cap cap = { .max_send_wr = 16, .max_recv_wr = WQES, .max_recv_sge = 1 };
	struct xverbs_cq_create c;
	struct xverbs_qp_create q = {
		.type = XVERBS_QPT_RC, .pd = pd, .uar = uar, .user_index = 5,
		.cap = PART(&cap), .external = PART(&external),
	};

	cq_args(&c);
	must(CALL(CQ_CREATE, &c), "CQ_CREATE");
	ok(c.out_entries == CQES && !c.out_ring.length && !c.out_dbr.length,
	   "CQ of %u entries, no mmap offset", c.out_entries);
	q.send_cq = q.recv_cq = c.out_handle;
	external.ring_offset = QP_AT;
	external.dbr_offset = DBR_AT + 64;
	must(CALL(QP_CREATE, &q), "QP_CREATE");
	ok(q.out_rq_stride == STRIDE && q.out_rq_wqes == WQES && !q.out_rq_offset &&
	   !q.out_ring.length, "QP with %u receives, no mmap offset", q.out_rq_wqes);
	ok(destroy(umem) == EBUSY, "destroy a UMEM in use: %s", reason);
	to_init_and_error(q.out_handle);
	ok(flushed(0) && flushed(1), "receives in the UMEM are flushed to the CQ in the UMEM");
	ok(mem[CQ_AT + 2 * 64 + 63] >> 4 == MLX5R_CQE_INVALID, "no more completions");
	ok(destroy(c.out_handle) == EBUSY, "destroy a CQ in use: %s", reason);
	ok(!destroy(q.out_handle) && !destroy(c.out_handle), "destroy QP and CQ");
}

static void test_srq(void)
{
	struct xverbs_srq_create s = {
		.pd = pd, .layout = XVERBS_SRQ_CONTIGUOUS, .max_wr = WQES, .max_sge = 1,
		.limit = 4, .user_data = 99, .external = PART(&external),
	};
	struct xverbs_srq_query q = {};
	struct xverbs_srq_modify m = {};
	struct xverbs_async_event event;

	external.ring_offset = SRQ_AT;
	external.dbr_offset = DBR_AT + 128;
	must(CALL(SRQ_CREATE, &s), "SRQ_CREATE");
	ok(s.out_wqes == WQES && s.out_stride == STRIDE && !s.out_ring.length,
	   "SRQ of %u entries, no mmap offset", s.out_wqes);
	q.srq = m.srq = s.out_handle;
	must(CALL(SRQ_QUERY, &q), "SRQ_QUERY");
	ok(q.out_max_wr == WQES && q.out_max_sge == 1 && q.out_limit == 4, "query SRQ: limit %u",
	   q.out_limit);
	/* No receive is posted, so a new limit is reached at once. */
	m.limit = 9;
	ok(!CALL(SRQ_MODIFY, &m), "modify SRQ: new limit");
	ok(poll(&(struct pollfd) { .fd = fd, .events = POLLIN }, 1, 5000) == 1 &&
	   read(fd, &event, sizeof(event)) == sizeof(event) &&
	   event.type == XVERBS_EVENT_SRQ_LIMIT_REACHED && event.handle == s.out_handle &&
	   event.user_data == 99, "event SRQ limit reached");
	ok(!CALL(SRQ_QUERY, &q) && !q.out_limit, "the limit is not armed any more");
	m.limit = WQES + 1;
	ok(CALL(SRQ_MODIFY, &m) == EINVAL, "limit above the size of the SRQ: %s", reason);
	ok(!destroy(s.out_handle), "destroy the SRQ");
}

static void test_resize_refused(void)
{
	struct xverbs_cq_create c;
	struct xverbs_cq_resize r = { .entries = 100 };

	cq_args(&c);
	must(CALL(CQ_CREATE, &c), "CQ_CREATE");
	r.cq = c.out_handle;
	ok(CALL(CQ_RESIZE, &r) == EOPNOTSUPP, "resize a CQ in a UMEM: %s", reason);
	destroy(c.out_handle);
}

static void test_feature(void)
{
	struct xv_context *ctx = xv_open(rig_device(0));

	if (!ctx)
		bail_out("%s", xv_last_error());
	ok(rig_feature(ctx, "external-memory")->available,
	   "queues may be in memory of the process");
	xv_close(ctx);
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	setup();
	test_feature();
	test_places();
	test_flush();
	test_srq();
	test_resize_refused();
	ok(!destroy(umem), "destroy the UMEM");
	munmap(mem, SIZE);
	close(fd);
	return tap_done();
}
