// SPDX-License-Identifier: GPL-2.0
/* Memory windows, keys that requests invalidate, and re-registration of memory */
#include "transports.h"

/* Writes from side 0 with an rkey of side 1. */
static bool write_through(uint32_t rkey, uint64_t addr, uint32_t n, enum xv_wc_status status)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, n);

	xv_wr_write(r.qp[0], 7, XV_SEND_SIGNALED, &from, addr, rkey);
	xv_commit_send(r.qp[0]);
	return rig_expect(r.cq[0], 7, status);
}

static bool bind(const struct xv_mw *mw, uint32_t rkey, struct xv_mr *mr, size_t offset,
		 uint64_t length, enum xv_wc_status status)
{
	struct xv_mw_bind_info info = { mr, (uintptr_t)mr->addr + offset, length,
		XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ };

	if (xv_wr_bind_mw(r.qp[1], 8, XV_SEND_SIGNALED, mw, rkey, &info))
		return false;
	xv_commit_send(r.qp[1]);
	return rig_expect(r.cq[1], 8, status);
}

static void test_window(enum xv_mw_type type)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, type);
	struct xv_mr *mr = r.mr[1];
	uint32_t old, key;

	if (!ok(mw != NULL, "type %d window: allocate", type)) {
		diag("%s", xv_last_error());
		return;
	}
	message(0, 1, 1000, 8);
	key = xv_inc_rkey(mw->rkey);
	if (!ok(bind(mw, key, mr, DST, 1000, XV_WC_SUCCESS), "type %d window: bind", type)) {
		rig_reconnect(&r, &opts);
		goto out;
	}
	old = mw->rkey;
	mw->rkey = key;
	ok(write_through(key, rig_addr(&r, 1, DST), 1000, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 1000, 8), "type %d window: write through it", type);
	ok(write_through(key, rig_addr(&r, 1, DST + 1), 1000, XV_WC_REM_ACCESS_ERR),
	   "type %d window: write beyond its end fails", type);
	rig_reconnect(&r, &opts);
	if (type == XV_MW_TYPE_1) {
		ok(write_through(old, rig_addr(&r, 1, DST), 8, XV_WC_REM_ACCESS_ERR),
		   "type 1 window: write with its old key fails");
		rig_reconnect(&r, &opts);
		ok(bind(mw, xv_inc_rkey(key), mr, DST, 0, XV_WC_SUCCESS), "type 1 window: unbind");
		ok(write_through(xv_inc_rkey(key), rig_addr(&r, 1, DST), 8, XV_WC_REM_ACCESS_ERR),
		   "type 1 window: write after unbind fails");
		rig_reconnect(&r, &opts);
	} else {
		ok(write_through(key, rig_addr(&r, 1, DST), 8, XV_WC_REM_ACCESS_ERR),
		   "type 2 window: write through another QP fails");
		rig_reconnect(&r, &opts);
	}
out:
	ok(!xv_dealloc_mw(mw), "type %d window: deallocate", type);
}

/* A window gives no access after its region has ended. */
static void test_window_without_region(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_MW_BIND;
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_1);
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, r.buf[1] + DST, 4096, access);
	uint32_t key = mw ? xv_inc_rkey(mw->rkey) : 0;

	if (!mw || !mr || !bind(mw, key, mr, 0, 1000, XV_WC_SUCCESS))
		bail_out("%s", xv_last_error());
	mw->rkey = key;
	message(0, 1, 1000, 13);
	ok(write_through(key, rig_addr(&r, 1, DST), 1000, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 1000, 13), "window of a region: write through it");
	ok(!xv_dereg_mr(mr), "the region is deregistered while the window is bound");
	memset(r.buf[1] + DST, 0, 1000);
	ok(write_through(key, rig_addr(&r, 1, DST), 1000, XV_WC_REM_ACCESS_ERR) &&
	   !r.buf[1][DST] && !r.buf[1][DST + 999], "a write through the window fails");
	rig_reconnect(&r, &opts);
	ok(!xv_dealloc_mw(mw), "deallocate the window");
}

/* xv_bind_mw() computes the new key itself. */
static void test_bind_mw(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_1);
	struct xv_mw *mw2 = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_2);
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, r.buf[1], 1 << 16, XV_ACCESS_LOCAL_WRITE |
				     XV_ACCESS_MW_BIND);
	struct xv_mw_bind b = { .wr_id = 21, .send_flags = XV_SEND_SIGNALED, .bind_info = {
		.mr = mr, .addr = rig_addr(&r, 1, 0), .length = 1000,
		.mw_access_flags = XV_ACCESS_REMOTE_WRITE } };
	uint32_t key = mw ? mw->rkey : 0;

	if (!mw || !mw2 || !mr)
		bail_out("%s", xv_last_error());
	message(0, 1, 1000, 8);
	ok(!xv_bind_mw(r.qp[1], mw, &b) && mw->rkey == xv_inc_rkey(key) &&
	   rig_expect(r.cq[1], 21, XV_WC_SUCCESS), "xv_bind_mw() binds with a new key");
	ok(write_through(mw->rkey, rig_addr(&r, 1, 0), 1000, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1], 1000, 8), "xv_bind_mw(): write with the new key");
	key = mw->rkey;
	b.bind_info.length = 0;
	ok(!xv_bind_mw(r.qp[1], mw, &b) && mw->rkey != key &&
	   rig_expect(r.cq[1], 21, XV_WC_SUCCESS), "xv_bind_mw() with length 0 unbinds");
	ok(write_through(key, rig_addr(&r, 1, 0), 8, XV_WC_REM_ACCESS_ERR),
	   "xv_bind_mw(): write after unbind fails");
	rig_reconnect(&r, &opts);
	ok(xv_bind_mw(r.qp[1], mw2, &b) == -XV_EINVAL, "xv_bind_mw() of a type 2 window: EINVAL");
	ok(!xv_alloc_mw(r.side[1].pd, (enum xv_mw_type)3) && errno == EOPNOTSUPP,
	   "xv_alloc_mw() of type 3: EOPNOTSUPP");
	ok(xv_bind_mw(r.qp[0], mw, &b) == -XV_EINVAL, "xv_bind_mw() on a QP of another PD: EINVAL");
	ok(!xv_dealloc_mw(mw) && !xv_dealloc_mw(mw2) && !xv_dereg_mr(mr), "free");
}

/* Bind, use, local invalidate; then bind again, invalidate by the peer */
static void test_invalidate(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_2);
	struct xv_mr *mr = r.mr[1];
	struct xv_sge from = rig_sge(&r, 0, SRC, 8), to = rig_sge(&r, 1, DST, 8);
	uint32_t key = mw ? xv_inc_rkey(mw->rkey) : 0;
	struct xv_wc wc;

	if (!mw)
		bail_out("%s", xv_last_error());
	if (!ok(bind(mw, key, mr, DST, 1000, XV_WC_SUCCESS), "invalidate: bind"))
		goto out;
	mw->rkey = key;
	xv_wr_local_inv(r.qp[1], 8, XV_SEND_SIGNALED, key);
	xv_commit_send(r.qp[1]);
	ok(rig_expect(r.cq[1], 8, XV_WC_SUCCESS), "invalidate: local invalidate");
	key = xv_inc_rkey(key);
	ok(bind(mw, key, mr, DST, 1000, XV_WC_SUCCESS), "invalidate: bind again");
	mw->rkey = key;
	xv_wr_recv(r.qp[1], 9, &to);
	xv_commit_recv(r.qp[1]);
	xv_wr_send_inv(r.qp[0], 10, XV_SEND_SIGNALED, &from, key);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 10, XV_WC_SUCCESS) && rig_poll(r.cq[1], 1, &wc) == 1 &&
	   !wc.status && wc.wc_flags & XV_WC_WITH_INV && wc.invalidated_rkey == key,
	   "invalidate: send with invalidate by the peer");
	ok(write_through(key, rig_addr(&r, 1, DST), 8, XV_WC_REM_ACCESS_ERR),
	   "invalidate: write after it fails");
out:
	rig_reconnect(&r, &opts);
	ok(!xv_dealloc_mw(mw), "invalidate: deallocate");
}

/* Number of memory regions of the device in the kernel's table of resources */
static int tracked(void)
{
	char cmd[128], line[256];
	FILE *list;
	int n = 0;

	snprintf(cmd, sizeof(cmd), "rdma resource show mr | grep -w '%s'", rig_device(1));
	list = popen(cmd, "r");
	while (list && fgets(line, sizeof(line), list))
		n++;
	if (list)
		pclose(list);
	return n;
}

static void test_rereg(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	uint8_t *mem = aligned_alloc(4096, 16384), *moved = mem + 8192;
	struct xv_mr *mr = xv_reg_mr(r.side[1].pd, mem, 8192, XV_ACCESS_LOCAL_WRITE |
				     XV_ACCESS_REMOTE_WRITE);
	struct xv_pd *other = xv_alloc_pd(r.side[1].ctx);
	int regions = tracked();
	uint32_t old;

	if (!mr || !other)
		bail_out("%s", xv_last_error());
	old = mr->rkey;
	if (!ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_TRANSLATION, NULL, moved, 4096, 0),
		"re-registration with other memory"))
		diag("%s", xv_last_error());
	rig_fill(r.buf[0] + SRC, 4096, 9);
	ok(write_through(mr->rkey, (uintptr_t)moved, 4096, XV_WC_SUCCESS) &&
	   rig_check(moved, 4096, 9), "re-registration: write with the new key");
	ok(old == mr->rkey || write_through(old, (uintptr_t)mem, 8, XV_WC_REM_ACCESS_ERR),
	   "re-registration: write with the old key fails");
	rig_reconnect(&r, &opts);
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, XV_ACCESS_LOCAL_WRITE) &&
	   write_through(mr->rkey, (uintptr_t)moved, 8, XV_WC_REM_ACCESS_ERR),
	   "re-registration without remote access");
	rig_reconnect(&r, &opts);
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_PD | XV_REREG_MR_CHANGE_ACCESS, other, NULL, 0,
			XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE) &&
	   write_through(mr->rkey, (uintptr_t)moved, 8, XV_WC_REM_ACCESS_ERR),
	   "re-registration in another PD");
	ok(regions && tracked() == regions, "re-registration: `rdma resource` lists the region");
	rig_reconnect(&r, &opts);
	ok(xv_dealloc_pd(other) == -EBUSY, "the other PD is in use");
	ok(!xv_rereg_mr(mr, XV_REREG_MR_CHANGE_PD, r.side[1].pd, NULL, 0, 0) &&
	   !xv_dealloc_pd(other) && write_through(mr->rkey, (uintptr_t)moved, 8, XV_WC_SUCCESS),
	   "re-registration in the first PD");
	ok(!xv_dereg_mr(mr), "deregister");
	free(mem);
}

/* In a zero-based window the first byte has address 0. */
static void test_zero_based_window(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_2);
	struct xv_mw_bind_info info = { r.mr[1], rig_addr(&r, 1, DST), 1000,
		XV_ACCESS_REMOTE_WRITE | XV_ACCESS_ZERO_BASED };
	uint32_t key = mw ? xv_inc_rkey(mw->rkey) : 0;

	if (!mw || xv_wr_bind_mw(r.qp[1], 8, XV_SEND_SIGNALED, mw, key, &info))
		bail_out("%s", xv_last_error());
	xv_commit_send(r.qp[1]);
	message(0, 1, 1000, 12);
	ok(rig_expect(r.cq[1], 8, XV_WC_SUCCESS) && write_through(key, 0, 1000, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 1000, 12), "zero-based window: write through it");
	ok(write_through(key, 1, 1000, XV_WC_REM_ACCESS_ERR),
	   "zero-based window: write beyond its end fails");
	rig_reconnect(&r, &opts);
	ok(!xv_dealloc_mw(mw), "zero-based window: deallocate");
}

static void test_bind_errors(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct xv_mw *mw = xv_alloc_mw(r.side[1].pd, XV_MW_TYPE_2);
	struct xv_mr *mr = r.mr[1];
	uint32_t key = mw ? xv_inc_rkey(mw->rkey) : 0;

	if (!mw)
		bail_out("%s", xv_last_error());
	ok(bind(mw, key, mr, DST, 100, XV_WC_SUCCESS), "bind errors: first bind");
	mw->rkey = key;
	ok(bind(mw, xv_inc_rkey(key), mr, DST, 100, XV_WC_MW_BIND_ERR),
	   "bind errors: a type 2 window in use cannot be bound");
	rig_reconnect(&r, &opts);
	ok(!xv_dealloc_mw(mw), "bind errors: deallocate");
}

int main(int argc, char **argv)
{
	open_rig(argc, argv);
	ok(rig_feature(r.side[0].ctx, "memory-window")->available,
	   "the device has the feature memory-window");
	test_window(XV_MW_TYPE_1);
	test_window(XV_MW_TYPE_2);
	test_window_without_region();
	test_bind_mw();
	test_zero_based_window();
	test_invalidate();
	test_rereg();
	test_bind_errors();
	rig_close(&r);
	return tap_done();
}
