/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every verb at least once, as raw ioctls, in an order in which each step finds the
 * objects that it needs. For programs that test the same with all verbs.
 */
#ifndef TESTS_USER_STEPS_H
#define TESTS_USER_STEPS_H

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <linux/udmabuf.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { LEN = 1 << 20, PORT = 1, USER_INDEX = 0x123456 };
#define USER_DATA	0x123456789abcdef0ull

static int fd, node, spare = -1, xrc_fd, dmabuf = -1;
static uint32_t pd, pd2, uar, mr, mw, mkey, umem, channel, cq, srq, xrcd, xrc_srq, qp, ud, xrc_qp,
		opened;
static uint32_t last_qpn, dct;
static bool with_dc;		/* the device has DC targets */
static uint32_t imported, mr_imported;
static struct ibv_pd *foreign;	/* of libibverbs, or null if it has not the device */
static struct xverbs_ah_attr path;
static void *memory;
static char reason[XVERBS_REASON_MAX];

/* Structures that arg points to */
static struct xverbs_external external;
static struct xverbs_qp_cap cap, cap_read;
static struct xverbs_qp_attr attr, attr_read;
static struct xverbs_qp_init init_read;
static struct xverbs_dct_attr dct_attr, dct_attr_read;

#define PART(p)	((struct xverbs_part) { .addr = (uintptr_t)(p), .size = sizeof(*(p)) })

static union {
	struct xverbs_hdr hdr;
	struct xverbs_list_devices list;
	struct xverbs_bind bind;
	struct xverbs_destroy destroy;
	struct xverbs_query_device query_device;
	struct xverbs_query_port query_port;
	struct xverbs_query_gid query_gid;
	struct xverbs_query_pkey query_pkey;
	struct xverbs_query_features features;
	struct xverbs_clock_map clock;
	struct xverbs_channel_alloc channel;
	struct xverbs_pd_alloc pd;
	struct xverbs_pd_import import;
	struct xverbs_uar_alloc uar;
	struct xverbs_mr_reg mr;
	struct xverbs_mr_rereg rereg;
	struct xverbs_mr_dmabuf dmabuf;
	struct xverbs_mw_alloc mw;
	struct xverbs_mkey_create mkey;
	struct xverbs_umem_reg umem;
	struct xverbs_xrcd_open xrcd;
	struct xverbs_cq_create cq;
	struct xverbs_cq_modify cq_modify;
	struct xverbs_cq_resize cq_resize;
	struct xverbs_srq_create srq;
	struct xverbs_srq_modify srq_modify;
	struct xverbs_srq_query srq_query;
	struct xverbs_qp_create qp;
	struct xverbs_qp_modify modify;
	struct xverbs_qp_query qp_query;
	struct xverbs_qp_open qp_open;
	struct xverbs_ah_resolve ah;
	struct xverbs_mcast mcast;
	struct xverbs_dct_create dct;
	struct xverbs_dct_query dct_query;
	struct xverbs_dct_arm dct_arm;
	uint8_t bytes[512];		/* room for longer structures */
} arg;

/* ---- The verbs --------------------------------------------------------- */

static void fill_nothing(void) { }

static void fill_bind(void)
{
	arg.bind.hdr.flags = XVERBS_BIND_BY_FD;
	arg.bind.fd = node;
}

static void fill_port(void) { arg.query_port.port = PORT; }
static void fill_gid(void) { arg.query_gid.port = PORT; }
static void fill_pkey(void) { arg.query_pkey.port = PORT; }
static void fill_srq_query(void) { arg.srq_query.srq = srq; }
static void fill_xrc_srq_query(void) { arg.srq_query.srq = xrc_srq; }

static void fill_qp_query(void)
{
	arg.qp_query.qp = qp;
	arg.qp_query.out_attr = PART(&attr_read);
	arg.qp_query.out_init = PART(&init_read);
}

static void fill_list(void)
{
	arg.list.devices = (uintptr_t)memory;
	arg.list.entry_size = sizeof(struct xverbs_device);
	arg.list.count = 4;
}

static void fill_features(void)
{
	arg.features.features = (uintptr_t)memory;
	arg.features.entry_size = sizeof(struct xverbs_feature);
	arg.features.count = 8;
}

static void fill_mr(void)
{
	arg.mr.pd = pd;
	arg.mr.access = XVERBS_ACCESS_LOCAL_WRITE;
	arg.mr.addr = arg.mr.iova = (uintptr_t)memory;
	arg.mr.length = LEN;
}

static void fill_alter(void)
{
	static bool second;

	second = !second;
	arg.rereg.mr = mr;
	arg.rereg.pd = second ? pd2 : pd;
	arg.rereg.change = XVERBS_REREG_PD | XVERBS_REREG_ACCESS;
	arg.rereg.access = second ? XVERBS_ACCESS_LOCAL_WRITE : 0;
}

/* Moves the region to other memory that is not registered. */
static void fill_move(void)
{
	static bool third;

	third = !third;
	arg.rereg.mr = mr;
	arg.rereg.change = XVERBS_REREG_TRANSLATION;
	arg.rereg.addr = arg.rereg.iova = (uintptr_t)memory + (third ? 3 : 2) * LEN;
	arg.rereg.length = LEN;
}

static void fill_dmabuf(void)
{
	arg.dmabuf.pd = pd;
	arg.dmabuf.fd = dmabuf;
	arg.dmabuf.access = XVERBS_ACCESS_LOCAL_WRITE;
	arg.dmabuf.length = LEN;
}

static void fill_import(void)
{
	arg.import.fd = foreign->context->cmd_fd;
	arg.import.pd = foreign->handle;
}

static void fill_mr_imported(void)
{
	fill_mr();
	arg.mr.pd = imported;
}

static void fill_mkey(void)
{
	arg.mkey.pd = pd;
	arg.mkey.max_entries = 1000;
}

static void fill_mw(void)
{
	arg.mw.pd = pd;
	arg.mw.type = 2;
}

static void fill_mw_imported(void)
{
	fill_mw();
	arg.mw.pd = imported;
}

static void fill_umem(void)
{
	arg.umem.addr = (uintptr_t)memory + LEN;
	arg.umem.length = LEN;
}

static void fill_umem_dmabuf(void)
{
	arg.umem.hdr.flags = XVERBS_UMEM_DMABUF;
	arg.umem.fd = dmabuf;
	arg.umem.length = LEN;
}

static void fill_cq(void)
{
	arg.cq.uar = uar;
	arg.cq.channel = channel;
	arg.cq.entries = 1000;
	arg.cq.cqe_bytes = 64;
}

static void fill_cq_external(void)
{
	fill_cq();
	arg.cq.external = PART(&external);
	external.ring_umem = external.dbr_umem = umem;
	external.dbr_offset = LEN / 2;
}

static void fill_cq_modify(void)
{
	arg.cq_modify.cq = cq;
	arg.cq_modify.change = XVERBS_CQ_MODERATION;
	arg.cq_modify.count = 4;
	arg.cq_modify.period_us = 10;
}

static void fill_cq_resize(void)
{
	arg.cq_resize.cq = cq;
	arg.cq_resize.entries = 2000;
}

static void fill_srq(void)
{
	arg.srq.pd = pd;
	arg.srq.max_wr = 500;
	arg.srq.max_sge = 3;
}

static void fill_xrcd_shared(void)
{
	arg.xrcd.hdr.flags = XVERBS_XRCD_SHARED | XVERBS_XRCD_CREATE;
	arg.xrcd.fd = xrc_fd;
}

static void fill_xrc_srq(void)
{
	fill_srq();
	arg.srq.xrcd = xrcd;
	arg.srq.cq = cq;
}

static void fill_srq_modify(void)
{
	arg.srq_modify.srq = srq;
	arg.srq_modify.limit = 5;
}

static void fill_xrc_srq_modify(void)
{
	arg.srq_modify.srq = xrc_srq;
	arg.srq_modify.limit = 5;
}

static void fill_qp(void)
{
	arg.qp.type = XVERBS_QPT_RC;
	arg.qp.pd = pd;
	arg.qp.uar = uar;
	arg.qp.send_cq = arg.qp.recv_cq = cq;
	arg.qp.srq = srq;
	arg.qp.user_data = USER_DATA;
	arg.qp.user_index = USER_INDEX;
	arg.qp.cap = PART(&cap);
	arg.qp.out_cap = PART(&cap_read);
	cap.max_send_wr = 500;
	cap.max_send_sge = 2;
}

static void fill_qp_imported(void)
{
	fill_qp();
	arg.qp.pd = imported;
	arg.qp.srq = 0;
}

static void fill_ud(void)
{
	fill_qp();
	arg.qp.type = XVERBS_QPT_UD;
}

static void fill_cross_channel(void)
{
	fill_qp();
	arg.qp.hdr.flags = XVERBS_QP_CROSS_CHANNEL | XVERBS_QP_MANAGED_SEND;
}

static void fill_xrc_send(void)
{
	fill_qp();
	arg.qp.type = XVERBS_QPT_XRC_SEND;
	arg.qp.recv_cq = arg.qp.srq = 0;
}

static void fill_xrc_recv(void)
{
	arg.qp.type = XVERBS_QPT_XRC_RECV;
	arg.qp.xrcd = xrcd;
}

static void fill_dci(void)
{
	fill_qp();
	arg.qp.type = XVERBS_QPT_DCI;
	arg.qp.recv_cq = arg.qp.srq = 0;
}

static void fill_dct(void)
{
	arg.dct.pd = pd;
	arg.dct.cq = cq;
	arg.dct.srq = srq;
	arg.dct.user_data = USER_DATA;
	arg.dct.user_index = USER_INDEX;
	arg.dct.attr = PART(&dct_attr);
	dct_attr = (struct xverbs_dct_attr) { .dc_key = USER_DATA, .mtu = 3, .port = PORT };
}

static void fill_dct_query(void)
{
	arg.dct_query.dct = dct;
	arg.dct_query.out_attr = PART(&dct_attr_read);
}

static void fill_dct_arm(void) { arg.dct_arm.dct = dct; }

static void fill_open(void)
{
	arg.qp_open.xrcd = xrcd;
	arg.qp_open.qpn = last_qpn;
	arg.qp_open.user_data = USER_DATA;
}

static void to_state(uint32_t state, uint32_t mask)
{
	arg.modify.qp = qp;
	arg.modify.attr_mask = XVERBS_QP_STATE | mask;
	arg.modify.attr = PART(&attr);
	attr = (struct xverbs_qp_attr) { .qp_state = state };
}

static void fill_sqd(void) { to_state(XVERBS_QPS_SQD, 0); }
static void fill_sqd_rts(void) { to_state(XVERBS_QPS_RTS, 0); }
static void fill_err(void) { to_state(XVERBS_QPS_ERR, 0); }
static void fill_reset(void) { to_state(XVERBS_QPS_RESET, 0); }

static void fill_init(void)
{
	to_state(XVERBS_QPS_INIT,
		 XVERBS_QP_PORT | XVERBS_QP_PKEY_INDEX | XVERBS_QP_ACCESS_FLAGS);
	attr.port_num = PORT;
}

static void fill_rtr(void)
{
	to_state(XVERBS_QPS_RTR, XVERBS_QP_AV | XVERBS_QP_PATH_MTU | XVERBS_QP_DEST_QPN |
		 XVERBS_QP_RQ_PSN | XVERBS_QP_MAX_DEST_RD_ATOMIC | XVERBS_QP_MIN_RNR_TIMER);
	attr.path_mtu = 3;
	attr.dest_qp_num = 1;
	arg.modify.ah_attr = PART(&path);
}

static void fill_rts(void)
{
	to_state(XVERBS_QPS_RTS, XVERBS_QP_SQ_PSN | XVERBS_QP_TIMEOUT | XVERBS_QP_RETRY_CNT |
		 XVERBS_QP_RNR_RETRY | XVERBS_QP_MAX_QP_RD_ATOMIC);
}

static void fill_ah(void)
{
	arg.ah.pd = pd;
	arg.ah.attr = PART(&path);
}

static void fill_mcast(void)
{
	static const uint8_t gid[16] = { 0xff, 0x0e, [15] = 9 };

	arg.mcast.qp = ud;
	memcpy(arg.mcast.gid, gid, sizeof(gid));
}

/* Properties of a step */
enum {
	ONCE = 1,		/* cannot be repeated after success */
	ON_SPARE = 2,		/* needs its own open file */
	SETTLES = 4,		/* creates objects that stay with the device or the file */
	WITH_DMABUF = 8,	/* needs a kernel that supports it */
	WITH_DC = 16,		/* needs a device that supports it */
	WITH_IBVERBS = 32,	/* needs the device in libibverbs */
	NO_COMMAND = 64,	/* executes no firmware command */
	CACHED = 128,		/* may take a key from a cache, without a command */
};

struct step {
	const char *name;
	unsigned long cmd;
	uint32_t size;
	void (*fill)(void);
	uint32_t *out;		/* offset of the handle in arg */
	uint32_t *keep;		/* keep the object for later steps, else destroy it */
	unsigned int flags;
};

#define MAKE_FLAGS(_nr, _member, _fill, _keep, _flags)					\
	{ #_nr " (" #_fill ")", XVERBS_##_nr, sizeof(arg._member), fill_##_fill,	\
	  .out = &arg._member.out_handle, .keep = _keep, .flags = _flags }
#define MAKE(_nr, _member, _fill, _keep)	MAKE_FLAGS(_nr, _member, _fill, _keep, 0)
#define CALL(_nr, _member, _fill, _flags)						\
	{ #_nr " (" #_fill ")", XVERBS_##_nr, sizeof(arg._member), fill_##_fill,	\
	  .out = NULL, .keep = NULL, .flags = _flags }

static const struct step steps[] = {
	CALL(LIST_DEVICES, list, list, NO_COMMAND),
	CALL(BIND, bind, bind, ONCE | ON_SPARE | NO_COMMAND),
	CALL(QUERY_DEVICE, query_device, nothing, 0),
	CALL(QUERY_PORT, query_port, port, 0),
	CALL(QUERY_GID, query_gid, gid, NO_COMMAND),
	CALL(QUERY_PKEY, query_pkey, pkey, 0),
	CALL(QUERY_FEATURES, features, features, NO_COMMAND),
	CALL(CLOCK_MAP, clock, nothing, NO_COMMAND),
	MAKE(PD_ALLOC, pd, nothing, &pd),
	MAKE(PD_ALLOC, pd, nothing, &pd2),
	MAKE_FLAGS(UAR_ALLOC, uar, nothing, &uar, SETTLES),
	MAKE_FLAGS(MR_REG, mr, mr, &mr, SETTLES | CACHED),
	CALL(MR_REREG, rereg, alter, NO_COMMAND),
	CALL(MR_REREG, rereg, move, 0),
	MAKE_FLAGS(MR_DMABUF, dmabuf, dmabuf, NULL, WITH_DMABUF | CACHED),
	MAKE_FLAGS(PD_IMPORT, import, import, &imported, WITH_IBVERBS),
	MAKE_FLAGS(MR_REG, mr, mr_imported, &mr_imported, WITH_IBVERBS | CACHED),
	MAKE_FLAGS(MW_ALLOC, mw, mw_imported, NULL, WITH_IBVERBS),
	MAKE(MW_ALLOC, mw, mw, &mw),
	MAKE(MKEY_CREATE, mkey, mkey, &mkey),
	MAKE_FLAGS(UMEM_REG, umem, umem, &umem, NO_COMMAND),
	MAKE_FLAGS(UMEM_REG, umem, umem_dmabuf, NULL, WITH_DMABUF | NO_COMMAND),
	MAKE_FLAGS(CHANNEL_ALLOC, channel, nothing, &channel, NO_COMMAND),
	MAKE(CQ_CREATE, cq, cq, &cq),
	MAKE(CQ_CREATE, cq, cq_external, NULL),
	CALL(CQ_MODIFY, cq_modify, cq_modify, 0),
	CALL(CQ_RESIZE, cq_resize, cq_resize, 0),
	MAKE(SRQ_CREATE, srq, srq, &srq),
	CALL(SRQ_MODIFY, srq_modify, srq_modify, 0),
	CALL(SRQ_QUERY, srq_query, srq_query, 0),
	MAKE(XRCD_OPEN, xrcd, nothing, NULL),
	MAKE(XRCD_OPEN, xrcd, xrcd_shared, &xrcd),
	MAKE(SRQ_CREATE, srq, xrc_srq, &xrc_srq),
	CALL(SRQ_MODIFY, srq_modify, xrc_srq_modify, 0),
	CALL(SRQ_QUERY, srq_query, xrc_srq_query, 0),
	MAKE(QP_CREATE, qp, qp, &qp),
	MAKE_FLAGS(QP_CREATE, qp, qp_imported, NULL, WITH_IBVERBS),
	MAKE(QP_CREATE, qp, ud, &ud),
	MAKE(QP_CREATE, qp, cross_channel, NULL),
	MAKE_FLAGS(QP_CREATE, qp, xrc_send, NULL, SETTLES),
	MAKE(QP_CREATE, qp, xrc_recv, &xrc_qp),
	MAKE_FLAGS(QP_OPEN, qp_open, open, &opened, NO_COMMAND),
	MAKE_FLAGS(QP_CREATE, qp, dci, NULL, WITH_DC),
	MAKE_FLAGS(DCT_CREATE, dct, dct, &dct, WITH_DC),
	CALL(DCT_QUERY, dct_query, dct_query, WITH_DC),
	CALL(DCT_ARM, dct_arm, dct_arm, WITH_DC | SETTLES),
	CALL(AH_RESOLVE, ah, ah, NO_COMMAND),
	CALL(QP_MODIFY, modify, init, ONCE),
	CALL(QP_MODIFY, modify, rtr, ONCE),
	CALL(QP_MODIFY, modify, rts, ONCE),
	CALL(QP_MODIFY, modify, sqd, ONCE),
	CALL(QP_MODIFY, modify, sqd_rts, ONCE),
	CALL(QP_QUERY, qp_query, qp_query, 0),
	CALL(QP_MODIFY, modify, err, 0),
	CALL(QP_MODIFY, modify, reset, 0),
	CALL(MCAST_ATTACH, mcast, mcast, 0),
	CALL(MCAST_DETACH, mcast, mcast, ONCE),
	CALL(MCAST_ATTACH, mcast, mcast, 0),	/* destroyed with its QP */
};

/* ---- Calls --------------------------------------------------------------- */

static int call(int file, unsigned long cmd, uint32_t size)
{
	arg.hdr.size = size;
	arg.hdr.reason = (uintptr_t)reason;
	arg.hdr.reason_len = sizeof(reason);
	memset(reason, 0, sizeof(reason));
	return ioctl(file, cmd, &arg) ? errno : 0;
}

static int destroy(uint32_t handle)
{
	memset(&arg, 0, sizeof(arg));
	arg.destroy.handle = handle;
	return call(fd, XVERBS_DESTROY, sizeof(arg.destroy));
}

static int open_file(void)
{
	int file = open("/dev/xverbs", O_RDWR | O_CLOEXEC);

	if (file < 0)
		tap_skip_all("/dev/xverbs: %s", strerror(errno));
	return file;
}

static int bound_file(void)
{
	int file = open_file();

	memset(&arg, 0, sizeof(arg));
	fill_bind();
	if (call(file, XVERBS_BIND, sizeof(arg.bind)))
		bail_out("BIND: %s", reason);
	return file;
}

/* The file that the step needs */
static int step_file(const struct step *s)
{
	if (!(s->flags & ON_SPARE))
		return fd;
	close(spare);
	spare = open_file();
	return spare;
}

/* True if kernel and device support the step. */
static bool step_possible(const struct step *s)
{
	return !(s->flags & WITH_DMABUF && dmabuf < 0) && !(s->flags & WITH_DC && !with_dc) &&
	       !(s->flags & WITH_IBVERBS && !foreign);
}

/* After success: keeps the new object for later steps, or destroys it. */
static void settle(const struct step *s, bool stays)
{
	if (s->cmd == XVERBS_CHANNEL_ALLOC)
		close(arg.channel.out_fd);
	if (s->cmd == XVERBS_QP_CREATE)
		last_qpn = arg.qp.out_qpn;
	if (stays && s->keep)
		*s->keep = *s->out;
	else if (s->out && destroy(*s->out))
		bail_out("DESTROY: %s", reason);
}

/* Creates one object of each kind with the steps. */
static void populate(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (!steps[i].keep && steps[i].cmd != XVERBS_MCAST_ATTACH &&
		    steps[i].cmd != XVERBS_DCT_ARM)
			continue;
		if (!step_possible(&steps[i]))
			continue;
		memset(&arg, 0, sizeof(arg));
		steps[i].fill();
		if (call(fd, steps[i].cmd, steps[i].size))
			bail_out("%s: %s", steps[i].name, reason);
		settle(&steps[i], true);
	}
}

static bool is_ipv4(const uint8_t *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, mapped, sizeof(mapped));
}

/*
 * Finds a local GID: a RoCE v2 GID of an IPv4 address, else another RoCE v2 GID, else GID 0.  The
 * kernel has no route from an IPv6 address while its duplicate address detection runs.
 */
static void find_path(void)
{
	struct xverbs_query_gid *gid = &arg.query_gid;
	uint32_t i, gids;

	memset(&arg, 0, sizeof(arg));
	arg.query_port.port = PORT;
	if (call(fd, XVERBS_QUERY_PORT, sizeof(arg.query_port)))
		bail_out("QUERY_PORT: %s", reason);
	path.dlid = arg.query_port.out_lid;
	path.is_global = 1;
	path.port_num = PORT;
	path.hop_limit = 64;
	gids = arg.query_port.out_gid_tbl_len;
	for (i = 0; i < gids; i++) {
		memset(&arg, 0, sizeof(arg));
		gid->port = PORT;
		gid->index = i;
		if (call(fd, XVERBS_QUERY_GID, sizeof(*gid)))
			continue;
		if (i && (gid->out_type != XVERBS_GID_ROCE_V2 ||
			  (is_ipv4(path.dgid) && !is_ipv4(gid->out_gid))))
			continue;
		memcpy(path.dgid, gid->out_gid, sizeof(path.dgid));
		path.sgid_index = i;
	}
}

static void make_dmabuf(void)
{
	struct udmabuf_create create = { .size = LEN };
	int dev = open("/dev/udmabuf", O_RDWR), mem = memfd_create("inject", MFD_ALLOW_SEALING);

	if (dev < 0 || ftruncate(mem, LEN) || fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		return;
	create.memfd = mem;
	dmabuf = ioctl(dev, UDMABUF_CREATE, &create);
}

static void find_dc(void)
{
	struct xverbs_query_device *device = &arg.query_device;

	memset(&arg, 0, sizeof(arg));
	if (call(fd, XVERBS_QUERY_DEVICE, sizeof(*device)))
		bail_out("QUERY_DEVICE: %s", reason);
	with_dc = device->out_max_dct;
}

static void find_foreign(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d;
	struct ibv_context *ctx = NULL;

	for (d = list; d && *d && !ctx; d++)
		if (!strcmp(ibv_get_device_name(*d), rig_device(0)))
			ctx = ibv_open_device(*d);
	if (list)
		ibv_free_device_list(list);
	foreign = ctx ? ibv_alloc_pd(ctx) : NULL;
}

static void steps_setup(void)
{
	memory = mmap(NULL, 4 * LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 0, 4 * LEN);
	xrc_fd = memfd_create("domain", MFD_CLOEXEC);
	make_dmabuf();
	node = rig_node(rig_device(0));
	fd = bound_file();
	find_path();
	find_dc();
	find_foreign();
}

#endif
