// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that fail.  Each scene is built again and again, and each time another allocation of
 * a library returns NULL.  The build ends with an error, and when all that it has made is
 * destroyed, no memory is left.  Allocations of the C library do not fail: it reads files of sysfs
 * for the libraries, which a device need not have.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>
#include <doca_verbs.h>
#include <doca_verbs_bridge.h>
#include "tap.h"

enum { LEN = 4096, MOST = 2000 };

/* ---- malloc() ---------------------------------------------------------------------------- */

typeof(malloc) __libc_malloc;
typeof(calloc) __libc_calloc;
typeof(realloc) __libc_realloc;
typeof(aligned_alloc) __libc_memalign;
typeof(free) __libc_free;

static long live;		/* blocks of memory */
static long countdown;		/* calls until one fails; 0: none fails */
static bool failed;

static bool is_of_libc(const void *caller)
{
	static void *libc;
	Dl_info info;

	if (!libc)
		libc = dladdr((void *)fopen, &info) ? info.dli_fbase : NULL;
	return dladdr(caller, &info) && info.dli_fbase == libc;
}

static bool fails(const void *caller)
{
	if (!countdown || is_of_libc(caller) || --countdown)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	void *p = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);

	live += !!p;
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p = fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);

	live += !!p;
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p = fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);

	live += p && !old;
	return p;
}

static void *aligned(size_t alignment, size_t size, const void *caller)
{
	void *p = fails(caller) ? NULL : __libc_memalign(alignment, size);

	live += !!p;
	return p;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return aligned(alignment, size, __builtin_return_address(0));
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	*p = aligned(alignment, size, __builtin_return_address(0));
	return *p ? 0 : ENOMEM;
}

void free(void *p)
{
	live -= !!p;
	__libc_free(p);
}

/* ---- Scenes ------------------------------------------------------------------------------ */

#define TRY(call) do {			\
	doca_error_t r_ = (call);	\
					\
	if (r_ != DOCA_SUCCESS)		\
		return r_;		\
} while (0)

/* A call that must not fail, because it frees */
#define FREE(call) do {									\
	doca_error_t r_ = (call);							\
											\
	if (r_ != DOCA_SUCCESS)								\
		bail_out("%s: %s", #call, doca_error_get_name(r_));			\
} while (0)

static char mem[LEN] __attribute__((aligned(LEN)));

static doca_error_t open_first(struct doca_dev **dev)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t n;

	TRY(doca_devinfo_create_list(&list, &n));
	result = n ? doca_dev_open(list[0], dev) : DOCA_ERROR_NOT_FOUND;
	FREE(doca_devinfo_destroy_list(list));
	return result;
}

static struct {
	struct doca_dev *dev;
	struct doca_mmap *mmap, *peer;
	struct doca_buf_inventory *inv;
	struct doca_buf *buf;
	struct doca_sync_event *event;
	struct doca_sync_event_remote_net *remote_event;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	bool started;
} r;

static void written(struct doca_rdma_task_write *task, union doca_data data,
		    union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
}

static doca_error_t build_memory(void)
{
	const void *export;
	size_t len;

	TRY(doca_mmap_create(&r.mmap));
	TRY(doca_mmap_add_dev(r.mmap, r.dev));
	TRY(doca_mmap_set_permissions(r.mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
				      DOCA_ACCESS_FLAG_RDMA_WRITE));
	TRY(doca_mmap_set_memrange(r.mmap, mem, LEN));
	TRY(doca_mmap_start(r.mmap));
	TRY(doca_mmap_export_rdma(r.mmap, r.dev, &export, &len));
	TRY(doca_mmap_create_from_export(NULL, export, len, r.dev, &r.peer));
	TRY(doca_buf_inventory_create(4, &r.inv));
	TRY(doca_buf_inventory_start(r.inv));
	return doca_buf_inventory_buf_get_by_data(r.inv, r.mmap, mem, LEN, &r.buf);
}

static doca_error_t build_event(void)
{
	const uint8_t *export;
	size_t len;

	TRY(doca_sync_event_create(&r.event));
	TRY(doca_sync_event_add_publisher_location_remote_net(r.event));
	TRY(doca_sync_event_add_subscriber_location_cpu(r.event, r.dev));
	TRY(doca_sync_event_start(r.event));
	TRY(doca_sync_event_export_to_remote_net(r.event, &export, &len));
	return doca_sync_event_remote_net_create_from_export(r.dev, export, len, &r.remote_event);
}

static doca_error_t build_rdma(void)
{
	struct doca_rdma_connection *conn;
	struct doca_rdma_addr *addr;
	const void *blob;
	size_t len;

	TRY(open_first(&r.dev));
	TRY(build_memory());
	TRY(build_event());
	TRY(doca_pe_create(&r.pe));
	TRY(doca_rdma_create(r.dev, &r.rdma));
	r.ctx = doca_rdma_as_ctx(r.rdma);
	TRY(doca_pe_connect_ctx(r.pe, r.ctx));
	TRY(doca_rdma_task_write_set_conf(r.rdma, written, written, 4));
	TRY(doca_ctx_start(r.ctx));
	r.started = true;
	TRY(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", 1, &addr));
	FREE(doca_rdma_addr_destroy(addr));
	return doca_rdma_export(r.rdma, &blob, &len, &conn);
}

static void stop_rdma(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	doca_error_t result = doca_ctx_stop(r.ctx);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		bail_out("stop: %s", doca_error_get_name(result));
	while (doca_ctx_get_state(r.ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(r.pe);
}

/* The function that destroys an object, if there is one */
#define END(object, destroy) do {	\
	if (object)			\
		FREE(destroy(object));	\
} while (0)

static void destroy_rdma(void)
{
	if (r.started)
		stop_rdma();
	END(r.rdma, doca_rdma_destroy);
	END(r.pe, doca_pe_destroy);
	END(r.remote_event, doca_sync_event_remote_net_destroy);
	END(r.event, doca_sync_event_destroy);
	if (r.buf)
		FREE(doca_buf_dec_refcount(r.buf, NULL));
	END(r.inv, doca_buf_inventory_destroy);
	END(r.peer, doca_mmap_destroy);
	END(r.mmap, doca_mmap_destroy);
	END(r.dev, doca_dev_close);
	memset(&r, 0, sizeof(r));
}

static struct {
	struct doca_verbs_context *ctx;
	struct doca_verbs_pd *pd;
	struct ibv_mr *mr;
	struct doca_dev *dev;
	struct doca_umem *umem;
	struct doca_uar *uar;
	struct doca_verbs_comp_channel *channel;
	struct doca_verbs_cq_attr *cq_attr;
	struct doca_verbs_cq *cq;
	struct doca_verbs_srq_init_attr *srq_attr;
	struct doca_verbs_srq *srq;
	struct doca_verbs_ah_attr *ah;
	struct doca_verbs_qp_init_attr *init_attr;
	struct doca_verbs_qp_attr *attr;
	struct doca_verbs_qp *qp;
} v;

static doca_error_t open_verbs(void)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t n;

	TRY(doca_devinfo_create_list(&list, &n));
	result = n ? doca_verbs_context_create(list[0], 0, &v.ctx) : DOCA_ERROR_NOT_FOUND;
	FREE(doca_devinfo_destroy_list(list));
	return result;
}

static doca_error_t build_cq(void)
{
	TRY(doca_verbs_comp_channel_create(v.ctx, &v.channel));
	TRY(doca_verbs_cq_attr_create(&v.cq_attr));
	TRY(doca_verbs_cq_attr_set_cq_size(v.cq_attr, 16));
	TRY(doca_verbs_cq_attr_set_comp_channel(v.cq_attr, v.channel));
	return doca_verbs_cq_create(v.ctx, v.cq_attr, &v.cq);
}

static doca_error_t build_srq(void)
{
	TRY(doca_verbs_srq_init_attr_create(&v.srq_attr));
	TRY(doca_verbs_srq_init_attr_set_pd(v.srq_attr, v.pd));
	TRY(doca_verbs_srq_init_attr_set_srq_wr(v.srq_attr, 15));
	TRY(doca_verbs_srq_init_attr_set_receive_max_sges(v.srq_attr, 1));
	return doca_verbs_srq_create(v.ctx, v.srq_attr, &v.srq);
}

static doca_error_t build_qp(void)
{
	TRY(doca_verbs_qp_init_attr_create(&v.init_attr));
	TRY(doca_verbs_qp_init_attr_set_pd(v.init_attr, v.pd));
	TRY(doca_verbs_qp_init_attr_set_send_cq(v.init_attr, v.cq));
	TRY(doca_verbs_qp_init_attr_set_receive_cq(v.init_attr, v.cq));
	TRY(doca_verbs_qp_init_attr_set_srq(v.init_attr, v.srq));
	TRY(doca_verbs_qp_init_attr_set_qp_type(v.init_attr, DOCA_VERBS_QP_TYPE_RC));
	TRY(doca_verbs_qp_init_attr_set_sq_wr(v.init_attr, 16));
	TRY(doca_verbs_qp_init_attr_set_send_max_sges(v.init_attr, 1));
	TRY(doca_verbs_qp_create(v.ctx, v.init_attr, &v.qp));
	TRY(doca_verbs_qp_attr_create(&v.attr));
	return doca_verbs_ah_attr_create(v.ctx, &v.ah);
}

static doca_error_t build_verbs(void)
{
	struct ibv_pd *ibv;

	TRY(open_verbs());
	TRY(doca_verbs_pd_create(v.ctx, &v.pd));
	ibv = doca_verbs_bridge_verbs_pd_get_ibv_pd(v.pd);
	v.mr = ibv ? ibv_reg_mr(ibv, mem, LEN, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!v.mr)
		return DOCA_ERROR_NO_MEMORY;
	TRY(doca_verbs_pd_as_doca_dev(v.pd, &v.dev));
	TRY(doca_umem_create(v.dev, mem, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &v.umem));
	TRY(doca_uar_create(v.dev, DOCA_UAR_ALLOCATION_TYPE_NONCACHE, &v.uar));
	TRY(build_cq());
	TRY(build_srq());
	return build_qp();
}

static void destroy_verbs(void)
{
	END(v.ah, doca_verbs_ah_attr_destroy);
	END(v.attr, doca_verbs_qp_attr_destroy);
	END(v.qp, doca_verbs_qp_destroy);
	END(v.init_attr, doca_verbs_qp_init_attr_destroy);
	END(v.srq, doca_verbs_srq_destroy);
	END(v.srq_attr, doca_verbs_srq_init_attr_destroy);
	END(v.cq, doca_verbs_cq_destroy);
	END(v.cq_attr, doca_verbs_cq_attr_destroy);
	END(v.channel, doca_verbs_comp_channel_destroy);
	END(v.uar, doca_uar_destroy);
	END(v.umem, doca_umem_destroy);
	END(v.dev, doca_dev_close);
	if (v.mr && ibv_dereg_mr(v.mr))
		bail_out("ibv_dereg_mr() failed");
	END(v.pd, doca_verbs_pd_destroy);
	END(v.ctx, doca_verbs_context_destroy);
	memset(&v, 0, sizeof(v));
}

/* ---- The test ---------------------------------------------------------------------------- */

static void scene(const char *what, doca_error_t (*build)(void), void (*destroy)(void))
{
	long n, before, errors = 0, left = 0;
	doca_error_t result;

	/* What stays for the life of the process is made now. */
	result = build();
	tap_is(result, DOCA_SUCCESS, "%s: it is built", what);
	destroy();
	for (n = 1; n < MOST; n++) {
		before = live;
		failed = false;
		countdown = n;
		result = build();
		countdown = 0;
		destroy();
		left += live - before;
		if (!failed)
			break;
		errors += result != DOCA_SUCCESS;
	}
	ok(n > 10 && n < MOST, "%s: %ld allocations, each failed once", what, n - 1);
	tap_is(errors, n - 1, "%s: each ends with an error", what);
	tap_is(left, 0, "%s: no memory is left", what);
	tap_is(result, DOCA_SUCCESS, "%s: then it is built", what);
}

int main(void)
{
	struct doca_dev *dev;

	/* A queue without a BlueFlame register rings the doorbell: that is no error. */
	setenv("XV_BLUEFLAME", "0", 1);
	if (open_first(&dev) != DOCA_SUCCESS)
		tap_skip_all("no device");
	FREE(doca_dev_close(dev));
	scene("RDMA", build_rdma, destroy_rdma);
	scene("Verbs", build_verbs, destroy_verbs);
	return tap_done();
}
