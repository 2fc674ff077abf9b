// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of all ioctls of /dev/xverbs: sizes, unknown members, flags, reserved members,
 * handles, unknown numbers; and rules of mmap().
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

struct verb {
	const char *name;
	unsigned long cmd;
	uint32_t size;
	uint32_t min_size;	/* size of the first published version */
	bool unbound;		/* works on a file that is not bound */
	int handles[4];		/* offsets of members with handles; 0 ends the list */
	int reserved;		/* offset of a reserved member, or 0 */
	bool dc;		/* needs a device with DC targets */
};

#define V(_nr, _type, ...)							\
	{ .name = #_nr, .cmd = XVERBS_##_nr, .size = sizeof(struct xverbs_##_type),	\
	  .min_size = sizeof(struct xverbs_##_type), __VA_ARGS__ }
#define OFF(_type, _member)	((int)offsetof(struct xverbs_##_type, _member))
/* The structure has grown: it was first published up to @_new. */
#define V_GROWN(_nr, _type, _new, ...)						\
	{ .name = #_nr, .cmd = XVERBS_##_nr, .size = sizeof(struct xverbs_##_type),	\
	  .min_size = offsetof(struct xverbs_##_type, _new), __VA_ARGS__ }

static const struct verb verbs[] = {
	V(LIST_DEVICES, list_devices, .unbound = true, .reserved = OFF(list_devices, reserved)),
	V_GROWN(BIND, bind, fd, .unbound = true, .reserved = OFF(bind, reserved)),
	V(DESTROY, destroy, .handles = { OFF(destroy, handle) },
	  .reserved = OFF(destroy, reserved)),
	V_GROWN(QUERY_DEVICE, query_device, out_exp_device_cap_flags),
	V(QUERY_PORT, query_port),
	V(QUERY_GID, query_gid),
	V(QUERY_PKEY, query_pkey, .reserved = OFF(query_pkey, reserved)),
	V(QUERY_FEATURES, query_features, .reserved = OFF(query_features, reserved)),
	V(CLOCK_MAP, clock_map, .reserved = OFF(clock_map, reserved)),
	V(PD_ALLOC, pd_alloc),
	V_GROWN(PD_IMPORT, pd_import, number, .reserved = OFF(pd_import, reserved)),
	V(UAR_ALLOC, uar_alloc),
	V(MR_REG, mr_reg, .handles = { OFF(mr_reg, pd) }, .reserved = OFF(mr_reg, reserved)),
	V(MR_REREG, mr_rereg, .handles = { OFF(mr_rereg, mr) }),
	V(MR_DMABUF, mr_dmabuf),
	V(MW_ALLOC, mw_alloc, .handles = { OFF(mw_alloc, pd) }),
	V(UMEM_REG, umem_reg, .reserved = OFF(umem_reg, fd)),
	V(XRCD_OPEN, xrcd_open, .reserved = OFF(xrcd_open, reserved)),
	V(CHANNEL_ALLOC, channel_alloc, .reserved = OFF(channel_alloc, reserved)),
	V(CQ_CREATE, cq_create, .handles = { OFF(cq_create, uar), OFF(cq_create, channel) },
	  .reserved = OFF(cq_create, reserved)),
	V(CQ_MODIFY, cq_modify, .handles = { OFF(cq_modify, cq) },
	  .reserved = OFF(cq_modify, reserved)),
	V(CQ_RESIZE, cq_resize, .handles = { OFF(cq_resize, cq) },
	  .reserved = OFF(cq_resize, reserved)),
	V(SRQ_CREATE, srq_create, .handles = { OFF(srq_create, pd) },
	  .reserved = OFF(srq_create, reserved)),
	V(SRQ_MODIFY, srq_modify, .handles = { OFF(srq_modify, srq) }),
	V(SRQ_QUERY, srq_query, .handles = { OFF(srq_query, srq) }),
	V(QP_CREATE, qp_create,
	  .handles = { OFF(qp_create, pd), OFF(qp_create, send_cq), OFF(qp_create, recv_cq),
		       OFF(qp_create, uar) }),
	V(QP_MODIFY, qp_modify, .handles = { OFF(qp_modify, qp) },
	  .reserved = OFF(qp_modify, reserved)),
	V(QP_OPEN, qp_open, .handles = { OFF(qp_open, xrcd) }, .reserved = OFF(qp_open, reserved)),
	V(QP_QUERY, qp_query, .handles = { OFF(qp_query, qp) },
	  .reserved = OFF(qp_query, reserved)),
	V(AH_RESOLVE, ah_resolve, .handles = { OFF(ah_resolve, pd) },
	  .reserved = OFF(ah_resolve, reserved)),
	V(MCAST_ATTACH, mcast, .handles = { OFF(mcast, qp) }),
	V(MCAST_DETACH, mcast, .handles = { OFF(mcast, qp) }),
	V(MKEY_CREATE, mkey_create, .handles = { OFF(mkey_create, pd) },
	  .reserved = OFF(mkey_create, reserved)),
	V(MKEY_QUERY, mkey_query, .handles = { OFF(mkey_query, mkey) },
	  .reserved = OFF(mkey_query, reserved)),
	V(DCT_CREATE, dct_create, .dc = true,
	  .handles = { OFF(dct_create, pd), OFF(dct_create, cq), OFF(dct_create, srq) }),
	V(DCT_QUERY, dct_query, .handles = { OFF(dct_query, dct) }),
	V(DCT_ARM, dct_arm, .handles = { OFF(dct_arm, dct) }, .reserved = OFF(dct_arm, reserved)),
};

#define N_VERBS		(sizeof(verbs) / sizeof(verbs[0]))
#define TAIL		64

static int fd, raw;		/* a bound and an unbound file */
static uint32_t pd, uar, cq;	/* valid handles of the bound file */
static bool with_dc;		/* the device has DC targets */
static void *buffer;
static char reason[XVERBS_REASON_MAX];

/* A structure with valid values after the header */
static union {
	struct xverbs_hdr hdr;
	struct xverbs_qp_create qp;
	struct xverbs_cq_create cq;
	struct xverbs_srq_create srq;
	struct xverbs_mr_reg mr;
	struct xverbs_mr_rereg rereg;
	struct xverbs_mw_alloc mw;
	struct xverbs_mkey_create mkey;
	struct xverbs_umem_reg umem;
	struct xverbs_cq_modify cq_modify;
	struct xverbs_cq_resize cq_resize;
	struct xverbs_destroy destroy;
	struct xverbs_dct_create dct;
	uint8_t bytes[4096 + TAIL];
} arg;

#define PART(p)	((struct xverbs_part) { .addr = (uintptr_t)(p), .size = sizeof(*(p)) })

static void prepare(const struct verb *v)
{
	memset(&arg, 0, sizeof(arg));
	memset(reason, 0, sizeof(reason));
	arg.hdr.size = v->size;
	arg.hdr.reason = (uintptr_t)reason;
	arg.hdr.reason_len = sizeof(reason);
}

/* Valid values, so that a wrong handle is the only error */
static void fill(const struct verb *v)
{
	static const struct xverbs_dct_attr dct = { .mtu = 3, .port = 1 };
	static const struct xverbs_qp_cap cap = { .max_send_wr = 1 };

	prepare(v);
	switch (v->cmd) {
	case XVERBS_CQ_CREATE:
		arg.cq.uar = uar;
		arg.cq.entries = 15;
		arg.cq.cqe_bytes = 64;
		break;
	case XVERBS_QP_CREATE:
		arg.qp.type = XVERBS_QPT_RC;
		arg.qp.pd = pd;
		arg.qp.uar = uar;
		arg.qp.send_cq = cq;
		arg.qp.recv_cq = cq;
		arg.qp.cap = PART(&cap);
		break;
	case XVERBS_SRQ_CREATE:
		arg.srq.max_wr = 1;
		break;
	case XVERBS_MR_REG:
		arg.mr.addr = arg.mr.iova = (uintptr_t)buffer;
		arg.mr.length = 4096;
		break;
	case XVERBS_MR_REREG:
		arg.rereg.change = XVERBS_REREG_ACCESS;
		break;
	case XVERBS_MW_ALLOC:
		arg.mw.type = 1;
		break;
	case XVERBS_MKEY_CREATE:
		arg.mkey.max_entries = 1;
		break;
	case XVERBS_CQ_MODIFY:
		arg.cq_modify.change = XVERBS_CQ_MODERATION;
		break;
	case XVERBS_CQ_RESIZE:
		arg.cq_resize.entries = 1;
		break;
	case XVERBS_DCT_CREATE:
		arg.dct.pd = pd;
		arg.dct.cq = cq;
		arg.dct.attr = PART(&dct);
		break;
	}
}

static int call(int f, unsigned long cmd)
{
	return ioctl(f, cmd, &arg) ? errno : 0;
}

static void expect(int got, int want, const char *name, const char *what)
{
	if (!ok(got == want, "%s: %s", name, what))
		diag("errno %d (%s), not %d; %s", got, strerror(got), want, reason);
}

static void test_shape(const struct verb *v)
{
	int unbound = v->unbound ? 0 : ENXIO;

	expect(ioctl(raw, v->cmd, NULL) ? errno : 0, EFAULT, v->name, "invalid address");
	prepare(v);
	arg.hdr.size = 0;
	expect(call(raw, v->cmd), EINVAL, v->name, "size 0");
	prepare(v);
	arg.hdr.size = v->min_size - 8;
	expect(call(raw, v->cmd), EINVAL, v->name, "shorter than the first published version");
	ok(v->min_size == sizeof(arg.hdr) || strstr(reason, "size"),
	   "%s: the reason names the size: %s", v->name, reason);
	prepare(v);
	arg.hdr.size = v->size + TAIL;
	arg.bytes[v->size + TAIL - 1] = 1;
	expect(call(raw, v->cmd), E2BIG, v->name, "longer, with nonzero bytes");
	ok(strstr(reason, "not zero") != NULL, "%s: reason: %s", v->name, reason);
	prepare(v);
	arg.hdr.size = 1 << 20;
	expect(call(raw, v->cmd), E2BIG, v->name, "size above a page");
	prepare(v);
	arg.hdr.flags = 1u << 31;
	expect(call(raw, v->cmd), EOPNOTSUPP, v->name, "unknown flag");
	ok(strstr(reason, "flag") != NULL, "%s: the reason names the flag", v->name);
	prepare(v);
	arg.hdr.flags = 1u << 31;
	arg.hdr.out_limit = 77;
	expect(call(raw, v->cmd), EOPNOTSUPP, v->name, "a value in hdr.out_limit");
	ok(arg.hdr.out_limit == XVERBS_LIMIT_NONE, "%s: it is written: no limit", v->name);
	if (!unbound)
		return;
	prepare(v);
	expect(call(raw, v->cmd), unbound, v->name, "file is not bound");
	prepare(v);
	arg.hdr.size = v->size + TAIL;
	expect(call(raw, v->cmd), unbound, v->name, "longer, with zeros");
	prepare(v);
	arg.hdr.size = v->min_size;
	expect(call(raw, v->cmd), unbound, v->name, "first published size");
}

static void test_values(const struct verb *v)
{
	uint32_t bad = 0x7ffffff0;
	char what[64];
	int i;

	if (v->dc && !with_dc) {
		fill(v);
		expect(call(fd, v->cmd), EOPNOTSUPP, v->name, "the device has no DC targets");
		return;
	}
	for (i = 0; i < 4 && v->handles[i]; i++) {
		fill(v);
		memcpy(arg.bytes + v->handles[i], &bad, sizeof(bad));
		snprintf(what, sizeof(what), "unknown handle at byte %d", v->handles[i]);
		expect(call(fd, v->cmd), ENOENT, v->name, what);
		ok(strstr(reason, "no ") != NULL, "%s: the reason is \"no ...\"", v->name);
	}
	if (v->reserved) {
		fill(v);
		arg.bytes[v->reserved] = 1;
		expect(call(fd, v->cmd), EINVAL, v->name, "nonzero reserved member");
	}
	/* Passes the UAR, which is an object of another type. */
	if (v->cmd == XVERBS_DESTROY || !v->handles[0])
		return;
	fill(v);
	bad = v->cmd == XVERBS_CQ_CREATE ? pd : uar;
	memcpy(arg.bytes + v->handles[0], &bad, sizeof(bad));
	expect(call(fd, v->cmd), ENOENT, v->name, "object of another type");
}

static void test_unknown_numbers(void)
{
	bool all = true;
	unsigned int nr, i;

	memset(&arg, 0, sizeof(arg));
	for (nr = 0; nr < 256; nr++) {
		for (i = 0; i < N_VERBS && _IOC_NR(verbs[i].cmd) != nr; i++)
			;
		if (i == N_VERBS && call(fd, _IO(XVERBS_TYPE, nr)) != ENOTTY)
			all = false;
	}
	ok(all, "unknown ioctl numbers: ENOTTY");
	expect(call(fd, _IO(0xbe, 0)), ENOTTY, "other ioctl type", "unknown");
	expect(call(fd, _IOR(XVERBS_TYPE, XVERBS_CMD_BIND, int)), ENOTTY, "other ioctl direction",
	       "unknown");
}

/* Replies are truncated to the size of the caller. */
static void test_short_reply(void)
{
	const struct verb *v;
	uint32_t handle;

	for (v = verbs; v->cmd != XVERBS_CQ_CREATE; v++)
		;
	fill(v);
	arg.hdr.size = v->min_size;
	memset(arg.bytes + v->min_size, 0xa5, 64);
	expect(call(fd, v->cmd), 0, v->name, "call with the first published size");
	ok(arg.bytes[v->min_size] == 0xa5, "%s: no bytes written beyond it", v->name);
	handle = arg.cq.out_handle;
	prepare(&(struct verb) { .size = sizeof(arg.destroy) });
	arg.destroy.handle = handle;
	expect(call(fd, XVERBS_DESTROY), 0, "DESTROY", "destroy the queue of that call");
}

/* The reply cannot be written, so the object is destroyed again. */
static void test_undeliverable(void)
{
	struct xverbs_pd_alloc *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t first, second;
	int err;

	page->hdr.size = sizeof(*page);
	if (ioctl(fd, XVERBS_PD_ALLOC, page))
		bail_out("PD_ALLOC");
	first = page->out_handle;
	mprotect(page, 4096, PROT_READ);
	err = ioctl(fd, XVERBS_PD_ALLOC, page) ? errno : 0;
	expect(err, EFAULT, "PD_ALLOC", "reply to read-only memory");
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	page->hdr.reason = (uintptr_t)reason;
	page->hdr.reason_len = sizeof(reason);
	page->hdr.flags = 1u << 31;
	reason[0] = 0;
	mprotect(page, 4096, PROT_READ);
	err = ioctl(fd, XVERBS_PD_ALLOC, page) ? errno : 0;
	ok(err == EOPNOTSUPP && strstr(reason, "flag"),
	   "PD_ALLOC: a reason for read-only memory: %s", reason);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	page->hdr.flags = 0;
	if (ioctl(fd, XVERBS_PD_ALLOC, page))
		bail_out("PD_ALLOC");
	second = page->out_handle;
	ok(second == first + 1, "the object is destroyed: the next handle is %u after %u", second,
	   first);
	munmap(page, 4096);
}

static void test_mmap(const struct xverbs_map *map)
{
	int prot = PROT_READ | PROT_WRITE;
	long page = sysconf(_SC_PAGESIZE);

#define REFUSED(what, length, prot, flags, offset)				\
	ok(mmap(NULL, length, prot, flags, fd, offset) == MAP_FAILED, "mmap: " what)
	REFUSED("too long", map->length + page, prot, MAP_SHARED, map->offset);
	REFUSED("private", map->length, prot, MAP_PRIVATE, map->offset);
	REFUSED("executable", map->length, prot | PROT_EXEC, MAP_SHARED, map->offset);
	REFUSED("unknown offset", map->length, prot, MAP_SHARED, 1ll << 40);
#undef REFUSED
	buffer = mmap(NULL, map->length, prot, MAP_SHARED, fd, map->offset);
	ok(buffer != MAP_FAILED, "mmap: offset and length of the reply");
	ok(mprotect(buffer, map->length, prot | PROT_EXEC) && errno == EACCES,
	   "mmap: mprotect(PROT_EXEC) is refused");
	munmap(buffer, map->length);
}

static uint32_t create(const char *name, unsigned long cmd, uint32_t size, int out)
{
	uint32_t handle;

	arg.hdr.size = size;
	if (ioctl(fd, cmd, &arg))
		bail_out("%s", name);
	memcpy(&handle, arg.bytes + out, sizeof(handle));
	return handle;
}

static void setup(void)
{
	raw = open("/dev/xverbs", O_RDWR);
	fd = rig_bound_file(rig_device(0));
	if (fd < 0 || raw < 0)
		bail_out("BIND");

	memset(&arg, 0, sizeof(arg));
	pd = create("PD_ALLOC", XVERBS_PD_ALLOC, sizeof(struct xverbs_pd_alloc),
		    OFF(pd_alloc, out_handle));
	memset(&arg, 0, sizeof(arg));
	uar = create("UAR_ALLOC", XVERBS_UAR_ALLOC, sizeof(struct xverbs_uar_alloc),
		     OFF(uar_alloc, out_handle));
	memset(&arg, 0, sizeof(arg));
	arg.cq.uar = uar;
	arg.cq.entries = 15;
	arg.cq.cqe_bytes = 64;
	cq = create("CQ_CREATE", XVERBS_CQ_CREATE, sizeof(arg.cq), OFF(cq_create, out_handle));
}

static void find_dc(void)
{
	struct xverbs_query_device device = { .hdr.size = sizeof(device) };

	if (ioctl(fd, XVERBS_QUERY_DEVICE, &device))
		bail_out("QUERY_DEVICE");
	with_dc = device.out_max_dct;
}

/* A queue pair without queues has no ring and uses no mmap offset. */
static void test_no_ring(void)
{
	struct xverbs_uar_alloc page = { .hdr.size = sizeof(page) };
	uint32_t qp;
	void *p;

	memset(&arg, 0, sizeof(arg));
	arg.qp.type = XVERBS_QPT_RC;
	arg.qp.pd = pd;
	arg.qp.uar = uar;
	arg.qp.send_cq = arg.qp.recv_cq = cq;
	qp = create("QP_CREATE", XVERBS_QP_CREATE, sizeof(arg.qp), OFF(qp_create, out_handle));
	ok(!arg.qp.out_ring.length && !arg.qp.out_ring.offset, "QP without queues: no ring");
	if (ioctl(fd, XVERBS_UAR_ALLOC, &page))
		bail_out("UAR_ALLOC");
	prepare(&(struct verb) { .size = sizeof(arg.destroy) });
	arg.destroy.handle = qp;
	expect(call(fd, XVERBS_DESTROY), 0, "DESTROY", "destroy the QP without queues");
	p = mmap(NULL, page.out_map.length, PROT_WRITE, MAP_SHARED, fd, page.out_map.offset);
	ok(p != MAP_FAILED, "mmap: the UAR that was allocated after it");
	munmap(p, page.out_map.length);
}

/* The clock can be read by mmap, but not written or executed. */
static void test_clock(void)
{
	struct xverbs_clock_map first = { .hdr.size = sizeof(first) }, again = first;
	struct xverbs_map *map = &first.out_map;
	void *p;

	if (ioctl(fd, XVERBS_CLOCK_MAP, &first)) {
		ok(errno == EOPNOTSUPP, "CLOCK_MAP: the device has no clock");
		return;
	}
	ok(!ioctl(fd, XVERBS_CLOCK_MAP, &again) && again.out_map.offset == map->offset &&
	   first.out_offset <= map->length - 8, "CLOCK_MAP: the same mapping each time");
	p = mmap(NULL, map->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map->offset);
	ok(p == MAP_FAILED && errno == EPERM, "CLOCK_MAP: no mapping to write");
	p = mmap(NULL, map->length, PROT_READ, MAP_SHARED, fd, map->offset);
	ok(p != MAP_FAILED && mprotect(p, map->length, PROT_WRITE) && errno == EACCES &&
	   mprotect(p, map->length, PROT_EXEC) && errno == EACCES,
	   "CLOCK_MAP: mprotect is refused");
	munmap(p, map->length);
}

int main(int argc, char **argv)
{
	struct xverbs_map ring;
	size_t i;

	rig_devices(argc, argv);
	setup();
	ring = arg.cq.out_ring;
	test_mmap(&ring);
	test_clock();
	buffer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	find_dc();
	for (i = 0; i < N_VERBS; i++) {
		test_shape(&verbs[i]);
		test_values(&verbs[i]);
	}
	test_unknown_numbers();
	test_short_reply();
	test_undeliverable();
	test_no_ring();
	return tap_done();
}
