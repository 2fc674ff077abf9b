// SPDX-License-Identifier: GPL-2.0
/* Devices, ports, domains, memory regions, memory windows */
#include <fcntl.h>
#include <sys/mman.h>
#include "compare.h"

/* ---- Queries ------------------------------------------------------------------------- */

static void ports(void)
{
	static const uint8_t numbers[] = { 0, 1, 2, 3, 255 };
	unsigned int i;

	for (i = 0; i < sizeof(numbers); i++) {
		struct ibv_port_attr p = { .state = 0 };

		if (INT(ibv_query_port(ctx, numbers[i], &p), "ibv_query_port port %u", numbers[i]))
			continue;
		attr("state %d mtu %d %d gids %d caps %x %x msg %u counters %u %u pkeys %u",
		     p.state, p.max_mtu, p.active_mtu, p.gid_tbl_len, p.port_cap_flags,
		     p.port_cap_flags2, p.max_msg_sz, p.bad_pkey_cntr, p.qkey_viol_cntr,
		     p.pkey_tbl_len);
		attr("lid %u %u lmc %u vl %u sl %u timeout %u init %u width %u speed %u phys %u",
		     p.lid, p.sm_lid, p.lmc, p.max_vl_num, p.sm_sl, p.subnet_timeout,
		     p.init_type_reply, p.active_width, p.active_speed, p.phys_state);
		attr("link %u flags %u", p.link_layer, p.flags);
	}
}

static void device(void)
{
	struct ibv_query_device_ex_input input = { .comp_mask = 1 };
	struct ibv_device_attr_ex x;

	INT(ibv_query_device(ctx, &dev), "ibv_query_device");
	attr("%s %llx %llx %llx %llx", dev.fw_ver, (long long)dev.node_guid,
	     (long long)dev.sys_image_guid, (long long)dev.max_mr_size,
	     (long long)dev.page_size_cap);
	attr("%x %x %x qp %d wr %d caps %x sge %d rd %d cq %d cqe %d mr %d pd %d", dev.vendor_id,
	     dev.vendor_part_id, dev.hw_ver, dev.max_qp, dev.max_qp_wr, dev.device_cap_flags,
	     dev.max_sge, dev.max_sge_rd, dev.max_cq, dev.max_cqe, dev.max_mr, dev.max_pd);
	attr("rd %d %d %d %d %d atomic %d ee %d rdd %d mw %d raw %d %d", dev.max_qp_rd_atom,
	     dev.max_ee_rd_atom, dev.max_res_rd_atom, dev.max_qp_init_rd_atom,
	     dev.max_ee_init_rd_atom, dev.atomic_cap, dev.max_ee, dev.max_rdd, dev.max_mw,
	     dev.max_raw_ipv6_qp, dev.max_raw_ethy_qp);
	attr("mcast %d %d %d ah %d fmr %d %d srq %d %d %d pkeys %u delay %u ports %u",
	     dev.max_mcast_grp, dev.max_mcast_qp_attach, dev.max_total_mcast_qp_attach,
	     dev.max_ah, dev.max_fmr, dev.max_map_per_fmr, dev.max_srq, dev.max_srq_wr,
	     dev.max_srq_sge, dev.max_pkeys, dev.local_ca_ack_delay, dev.phys_port_cnt);
	INT(ibv_query_device_ex(ctx, &input, &x), "ibv_query_device_ex comp_mask 1");
	input.comp_mask = 0;
	if (!INT(ibv_query_device_ex(ctx, &input, &x), "ibv_query_device_ex"))
		attr("mask %x clock %llx %llu moderation %u %u atomics %u %u %u ports %u",
		     x.comp_mask, (long long)x.completion_timestamp_mask,
		     (long long)x.hca_core_clock, x.cq_mod_caps.max_cq_count,
		     x.cq_mod_caps.max_cq_period, x.pci_atomic_caps.fetch_add,
		     x.pci_atomic_caps.swap, x.pci_atomic_caps.compare_swap, x.phys_port_cnt_ex);
	call_name("ibv_query_device_ex device_cap_flags_ex");
	attr("%llx", (long long)x.device_cap_flags_ex);
}

static void gids(void)
{
	int indices[] = { -1, 0, gid_index, port.gid_tbl_len - 1, port.gid_tbl_len, 256, 1 << 20 };
	struct ibv_gid_entry e, table[300];
	union ibv_gid gid;
	unsigned int i, p;

	for (p = 0; p <= 3; p++) {
		for (i = 0; i < sizeof(indices) / sizeof(*indices); i++) {
			memset(&gid, 0xee, sizeof(gid));
			INT(ibv_query_gid(ctx, (uint8_t)p, indices[i], &gid),
			    "ibv_query_gid port %u index %d", p, indices[i]);
			attr("%llx %llx", (long long)gid.global.subnet_prefix,
			     (long long)gid.global.interface_id);
			memset(&e, 0, sizeof(e));
			INT(ibv_query_gid_ex(ctx, p, (uint32_t)indices[i], &e, 0),
			    "ibv_query_gid_ex port %u index %d", p, indices[i]);
			attr("%llx index %u port %u type %u if %u",
			     (long long)e.gid.global.interface_id, e.gid_index, e.port_num,
			     e.gid_type, e.ndev_ifindex);
		}
	}
	INT(ibv_query_gid_ex(ctx, 1, 0, &e, 1), "ibv_query_gid_ex flags 1");
	NUM(ibv_query_gid_table(ctx, table, 0, 0), "ibv_query_gid_table max 0");
	NUM(ibv_query_gid_table(ctx, table, 1, 0), "ibv_query_gid_table max 1");
	NUM(ibv_query_gid_table(ctx, table, 300, 0), "ibv_query_gid_table");
	NUM(ibv_query_gid_table(ctx, table, 300, 1), "ibv_query_gid_table flags 1");
}

static void pkeys(void)
{
	int indices[] = { -1, 0, 1, port.pkey_tbl_len - 1, port.pkey_tbl_len, 1 << 20 };
	unsigned int i, p;
	__be16 key;

	for (p = 0; p <= 3; p++) {
		for (i = 0; i < sizeof(indices) / sizeof(*indices); i++) {
			key = 0;
			INT(ibv_query_pkey(ctx, (uint8_t)p, indices[i], &key),
			    "ibv_query_pkey port %u index %d", p, indices[i]);
			attr("%x", key);
		}
		INT(ibv_get_pkey_index(ctx, (uint8_t)p, 0xffff), "ibv_get_pkey_index port %u", p);
		INT(ibv_get_pkey_index(ctx, (uint8_t)p, 0x1234),
		    "ibv_get_pkey_index port %u, a missing one", p);
	}
}

void compare_queries(void)
{
	struct ibv_values_ex values = { .comp_mask = 0 };

	ports();
	device();
	gids();
	pkeys();
	INT(ibv_query_rt_values_ex(ctx, &values), "ibv_query_rt_values_ex mask 0");
	attr("mask %x", values.comp_mask);
	values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	INT(ibv_query_rt_values_ex(ctx, &values), "ibv_query_rt_values_ex clock");
	attr("mask %x sec %ld", values.comp_mask, (long)values.raw_clock.tv_sec);
	values.comp_mask = ~0u;
	INT(ibv_query_rt_values_ex(ctx, &values), "ibv_query_rt_values_ex mask ~0");
	attr("mask %x", values.comp_mask);
}

/* ---- Domains --------------------------------------------------------------------- */

static void *alloc(struct ibv_pd *domain, void *context, size_t size, size_t alignment,
		   uint64_t type)
{
	(void)domain;
	(void)context;
	(void)size;
	(void)alignment;
	(void)type;
	return IBV_ALLOCATOR_USE_DEFAULT;
}

static void parents(struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr a = { .pd = pd, .td = td };
	struct ibv_pd *parent = PTR(ibv_alloc_parent_domain(ctx, &a), "ibv_alloc_parent_domain");
	uint32_t bit;

	INT(ibv_dealloc_td(td), "ibv_dealloc_td in use");
	INT(ibv_dealloc_pd(parent), "ibv_dealloc_pd of a parent domain");
	a.pd = NULL;
	PTR(ibv_alloc_parent_domain(ctx, &a), "ibv_alloc_parent_domain pd NULL");
	a.pd = pd;
	a.td = NULL;
	for (bit = 1; bit <= 16; bit <<= 1) {
		a.comp_mask = bit;
		parent = PTR(ibv_alloc_parent_domain(ctx, &a),
			     "ibv_alloc_parent_domain comp_mask %u", bit);
		if (parent)
			INT(ibv_dealloc_pd(parent), "ibv_dealloc_pd comp_mask %u", bit);
	}
	a.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	a.alloc = alloc;
	parent = PTR(ibv_alloc_parent_domain(ctx, &a), "ibv_alloc_parent_domain alloc, no free");
	if (parent)
		INT(ibv_dealloc_pd(parent), "ibv_dealloc_pd alloc, no free");
}

void compare_domains(void)
{
	struct ibv_td_init_attr init = { .comp_mask = 0 };
	struct ibv_pd *own = PTR(ibv_alloc_pd(ctx), "ibv_alloc_pd");
	struct ibv_mr *m = ibv_reg_mr(own, mem, 4096, ACCESS);
	struct ibv_td *td;

	INT(ibv_dealloc_pd(own), "ibv_dealloc_pd with a region");
	ibv_dereg_mr(m);
	INT(ibv_dealloc_pd(own), "ibv_dealloc_pd");
	init.comp_mask = 1;
	PTR(ibv_alloc_td(ctx, &init), "ibv_alloc_td comp_mask 1");
	init.comp_mask = 0;
	td = PTR(ibv_alloc_td(ctx, &init), "ibv_alloc_td");
	parents(td);
	INT(ibv_dealloc_td(td), "ibv_dealloc_td");
}

/* ---- Memory regions ----------------------------------------------------------------- */

static void region(const char *what, void *addr, size_t length, int access)
{
	struct ibv_mr *m = PTR(ibv_reg_mr(pd, addr, length, access), "ibv_reg_mr %s access 0x%x",
			       what, (unsigned int)access);

	if (!m)
		return;
	attr("addr %d length %llu", m->addr == addr, (long long)m->length);
	INT(ibv_dereg_mr(m), "ibv_dereg_mr %s access 0x%x", what, (unsigned int)access);
}

static void accesses(void)
{
	static const int sets[] = { 0, 1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 64 + 1,
				    128, 129, 1 << 8, 1 << 9, 1 << 10, 1 << 19, 1 << 20,
				    1 << 21 | 1, 1 << 29 | 1, 1 << 30, -1 };
	struct ibv_mr *m;
	unsigned int i;

	for (i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		region("4096 bytes", mem, 4096, sets[i]);
	/* Constant flags take another path in the header. */
	m = PTR(ibv_reg_mr(pd, mem, 4096, 33), "ibv_reg_mr constant 33");
	INT(ibv_dereg_mr(m), "ibv_dereg_mr constant 33");
}

static void places(void)
{
	char *hole = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	char *fixed = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(hole + 4096, 4096);
	region("0 bytes", mem, 0, 1);
	region("1 byte", mem + 7, 1, 1);
	region("unaligned", mem + 4095, 4098, 1);
	region("address 0", NULL, 4096, 1);
	region("address 0, 0 bytes", NULL, 0, 1);
	region("a hole", hole, 3 * 4096, 1);
	region("before a hole", hole, 4096, 1);
	region("into a hole", hole, 4097, 1);
	region("the last page", (void *)-4096ul, 4096, 1);
	region("wraps", (void *)-4096ul, 8192, 1);
	region("wraps to here", mem, (size_t)-4096, 1);
	region("everything", NULL, SIZE_MAX, 1);
	region("a kernel address", (void *)0xffff888000000000ul, 4096, 1);
	region("read only", fixed, 4096, 1);
	region("read only", fixed, 4096, 0);
	region("read only", fixed, 4096, IBV_ACCESS_REMOTE_READ);
}

static void iovas(void)
{
	static const uint64_t list[] = { 0, 1, 4095, 0x1000, 0x123456789abcdef0 };
	struct ibv_mr *m;
	unsigned int i;

	for (i = 0; i < sizeof(list) / sizeof(*list); i++) {
		m = PTR(ibv_reg_mr_iova(pd, mem, 8192, list[i], ACCESS),
			"ibv_reg_mr_iova %llx", (long long)list[i]);
		if (m)
			ibv_dereg_mr(m);
		m = PTR(ibv_reg_mr_iova(pd, mem + 16, 8192, list[i], ACCESS),
			"ibv_reg_mr_iova %llx, address + 16", (long long)list[i]);
		if (m)
			ibv_dereg_mr(m);
		m = PTR(ibv_reg_mr_iova2(pd, mem, 4096, list[i], 33),
			"ibv_reg_mr_iova2 %llx zero based", (long long)list[i]);
		if (m)
			ibv_dereg_mr(m);
	}
	PTR(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, ACCESS), "ibv_reg_dmabuf_mr fd -1");
	PTR(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, ACCESS), "ibv_reg_dmabuf_mr not a dma-buf");
	PTR(ibv_reg_dmabuf_mr(pd, 0, 4096, 1, 0, ACCESS), "ibv_reg_dmabuf_mr iova 1");
	PTR(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, 2), "ibv_reg_dmabuf_mr access 2");
}

/* Each change begins with a new region. */
static void changes(void)
{
	static const struct {
		const char *what;
		int flags, access;
		uint32_t offset, length;
		int domain;	/* 0: none, 1: the same, 2: another */
	} list[] = {
		{ "flags 0", 0, 0, 0, 0, 0 },
		{ "flags 8", 8, 0, 0, 0, 0 },
		{ "flags -1", -1, 0, 0, 0, 0 },
		{ "PD", IBV_REREG_MR_CHANGE_PD, 0, 0, 0, 2 },
		{ "PD, the same", IBV_REREG_MR_CHANGE_PD, 0, 0, 0, 1 },
		{ "PD and access without flag", IBV_REREG_MR_CHANGE_PD, 1, 0, 0, 2 },
		{ "access 1", IBV_REREG_MR_CHANGE_ACCESS, 1, 0, 0, 0 },
		{ "access 0", IBV_REREG_MR_CHANGE_ACCESS, 0, 0, 0, 0 },
		{ "access 2", IBV_REREG_MR_CHANGE_ACCESS, 2, 0, 0, 0 },
		{ "access 15", IBV_REREG_MR_CHANGE_ACCESS, 15, 0, 0, 0 },
		{ "access 17", IBV_REREG_MR_CHANGE_ACCESS, 17, 0, 0, 0 },
		{ "access 33", IBV_REREG_MR_CHANGE_ACCESS, 33, 0, 0, 0 },
		{ "access 64", IBV_REREG_MR_CHANGE_ACCESS, 64, 0, 0, 0 },
		{ "access 1 << 9", IBV_REREG_MR_CHANGE_ACCESS, 1 << 9, 0, 0, 0 },
		{ "access 1 << 20", IBV_REREG_MR_CHANGE_ACCESS, 1 << 20 | 1, 0, 0, 0 },
		{ "access 1 << 29", IBV_REREG_MR_CHANGE_ACCESS, 1 << 29 | 1, 0, 0, 0 },
		{ "translation", IBV_REREG_MR_CHANGE_TRANSLATION, 0, 4096, 8192, 0 },
		{ "translation, 0 bytes", IBV_REREG_MR_CHANGE_TRANSLATION, 0, 4096, 0, 0 },
		{ "translation, odd", IBV_REREG_MR_CHANGE_TRANSLATION, 0, 4097, 8191, 0 },
		{ "translation and access", 5, 15, 4096, 8192, 0 },
		{ "all", 7, 15, 4096, 8192, 2 },
		{ "all, the same PD", 7, 15, 4096, 8192, 1 },
	};
	struct ibv_pd *pds[3] = { NULL, pd, ibv_alloc_pd(ctx) };
	unsigned int i;

	for (i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct ibv_mr *m = ibv_reg_mr(pd, mem, 4096, IBV_ACCESS_LOCAL_WRITE);

		INT(ibv_rereg_mr(m, list[i].flags, pds[list[i].domain], mem + list[i].offset,
				 list[i].length, list[i].access), "ibv_rereg_mr %s", list[i].what);
		attr("errno %d pd %d %d addr %lld length %llu", errno, m->pd == pds[1],
		     m->pd == pds[2], (long long)((uint8_t *)m->addr - mem),
		     (long long)m->length);
		INT(ibv_dereg_mr(m), "ibv_dereg_mr %s", list[i].what);
	}
	INT(ibv_dealloc_pd(pds[2]), "ibv_dealloc_pd after them");
}

void compare_regions(void)
{
	accesses();
	places();
	iovas();
	changes();
}

/* ---- Memory windows ------------------------------------------------------------------ */

static struct ibv_cq *cq;
static struct ibv_qp *qp;

static void bind(const char *what, struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind b = { .wr_id = 7, .send_flags = IBV_SEND_SIGNALED, .bind_info = info };
	uint32_t old = mw->rkey;

	if (qp->state != IBV_QPS_RTS) {
		ibv_modify_qp(qp, &(struct ibv_qp_attr) { .qp_state = IBV_QPS_RESET },
			      IBV_QP_STATE);
		up(qp, qp->qp_num);
	}
	if (INT(ibv_bind_mw(qp, mw, &b), "ibv_bind_mw %s", what))
		return;
	attr("key %u", (mw->rkey - old) & 0xff);
	completion(cq);
	ibv_query_qp(qp, &(struct ibv_qp_attr) { 0 }, IBV_QP_STATE,
		     &(struct ibv_qp_init_attr) { 0 });
	attr("state %d", qp->state);
}

static void binds(struct ibv_mw *mw)
{
	static const unsigned int access[] = { 0, 1, 2, 4, 8, 16, 32, 36, 64, 1 << 20 };
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_mr *plain = ibv_reg_mr(pd, mem, 4096, ACCESS);
	struct ibv_mr *foreign = ibv_reg_mr(other, mem, 4096, ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mr *zero = ibv_reg_mr(pd, mem, 4096, ACCESS | IBV_ACCESS_MW_BIND |
							IBV_ACCESS_ZERO_BASED);
	unsigned int i;

	for (i = 0; i < sizeof(access) / sizeof(*access); i++) {
		char what[32];

		snprintf(what, sizeof(what), "access 0x%x", access[i]);
		bind(what, mw, (struct ibv_mw_bind_info) { mr, at(0), 64, access[i] });
	}
	bind("0 bytes", mw, (struct ibv_mw_bind_info) { mr, at(0), 0, 2 });
	bind("0 bytes, no region", mw, (struct ibv_mw_bind_info) { NULL, 0, 0, 0 });
	bind("64 bytes, no region", mw, (struct ibv_mw_bind_info) { NULL, at(0), 64, 2 });
	bind("all", mw, (struct ibv_mw_bind_info) { mr, at(0), BYTES, 2 });
	bind("one byte more", mw, (struct ibv_mw_bind_info) { mr, at(0), BYTES + 1, 2 });
	bind("before", mw, (struct ibv_mw_bind_info) { mr, at(0) - 1, 2, 2 });
	bind("wraps", mw, (struct ibv_mw_bind_info) { mr, at(0), (uint64_t)-64, 2 });
	bind("2 GiB", mw, (struct ibv_mw_bind_info) { mr, at(0), 1ull << 31, 2 });
	bind("4 GiB", mw, (struct ibv_mw_bind_info) { mr, at(0), 1ull << 32, 2 });
	bind("no right", mw, (struct ibv_mw_bind_info) { plain, at(0), 64, 2 });
	bind("another domain", mw, (struct ibv_mw_bind_info) { foreign, at(0), 64, 2 });
	bind("of a zero based region", mw, (struct ibv_mw_bind_info) { zero, 0, 64, 2 });
	bind("right again", mw, (struct ibv_mw_bind_info) { mr, at(0), 64, 2 });
	bind("again", mw, (struct ibv_mw_bind_info) { mr, at(64), 64, 2 });
}

/* Is an address of a zero based region one of the process, or an offset? */
static void zero_based(uint64_t remote, const char *what)
{
	struct ibv_mr *m = ibv_reg_mr_iova2(pd, mem, 4096, at(0), ACCESS | IBV_ACCESS_ZERO_BASED);
	struct ibv_sge s = sge_at(8192, 64);
	struct ibv_send_wr *bad, wr = { .wr_id = 8, .sg_list = &s, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };

	need(m != NULL, "ibv_reg_mr_iova2");
	ibv_modify_qp(qp, &(struct ibv_qp_attr) { .qp_state = IBV_QPS_RESET }, IBV_QP_STATE);
	up(qp, qp->qp_num);
	wr.wr.rdma.remote_addr = remote;
	wr.wr.rdma.rkey = m->rkey;
	INT(ibv_post_send(qp, &wr, &bad), "a write to a zero based region, %s", what);
	completion(cq);
	ibv_dereg_mr(m);
}

static void many_binds(uint32_t n)
{
	struct ibv_qp_cap cap = { .max_send_wr = n, .max_recv_wr = 1, .max_send_sge = 1,
				  .max_recv_sge = 1 };
	struct ibv_qp *q = new_qp(IBV_QPT_RC, cq, &cap);
	struct ibv_mw_bind b = { .bind_info = { mr, at(0), 64, IBV_ACCESS_REMOTE_WRITE } };
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	uint32_t i;
	int err = 0;

	up(q, q->qp_num);
	for (i = 0; i < 1000 && !err; i++) {
		b.wr_id = i + 1;
		b.send_flags = i + 1 == n ? IBV_SEND_SIGNALED : 0;
		err = ibv_bind_mw(q, mw, &b);
	}
	INT(err, "ibv_bind_mw until a queue of %u is full", n);
	attr("after %u", i);
	completion(cq);
	ibv_destroy_qp(q);
	ibv_dealloc_mw(mw);
}

static void in_state(enum ibv_qp_state state, struct ibv_mw *mw)
{
	struct ibv_mw_bind b = { .bind_info = { mr, at(0), 64, IBV_ACCESS_REMOTE_WRITE } };
	struct ibv_qp_attr a = { .qp_state = state };
	struct ibv_qp *q = new_qp(IBV_QPT_RC, cq, NULL);

	if (state == IBV_QPS_INIT)
		rc_init(q);
	else if (state == IBV_QPS_ERR)
		ibv_modify_qp(q, &a, IBV_QP_STATE);
	INT(ibv_bind_mw(q, mw, &b), "ibv_bind_mw in state %d", state);
	ibv_destroy_qp(q);
}

void compare_windows(void)
{
	static const int types[] = { 0, 1, 2, 3, 4, 255, 256 + 1, -1 };
	struct ibv_mw *mw;
	struct ibv_mr *m;
	unsigned int i;

	cq = new_cq();
	qp = new_qp(IBV_QPT_RC, cq, NULL);
	for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
		mw = PTR(ibv_alloc_mw(pd, (enum ibv_mw_type)types[i]), "ibv_alloc_mw type %d",
			 types[i]);
		if (mw)
			INT(ibv_dealloc_mw(mw), "ibv_dealloc_mw type %d", types[i]);
	}
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	need(mw != NULL, "ibv_alloc_mw");
	binds(mw);
	m = ibv_reg_mr(pd, mem, 4096, ACCESS | IBV_ACCESS_MW_BIND);
	bind("of another region", mw, (struct ibv_mw_bind_info) { m, at(0), 64, 2 });
	INT(ibv_dereg_mr(m), "ibv_dereg_mr with a window");
	for (i = IBV_QPS_RESET; i <= IBV_QPS_ERR; i++)
		if (i != IBV_QPS_RTR && i != IBV_QPS_RTS && i != IBV_QPS_SQD && i != IBV_QPS_SQE)
			in_state((enum ibv_qp_state)i, mw);
	INT(ibv_dealloc_mw(mw), "ibv_dealloc_mw of a bound window");
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	bind("of type 2", mw, (struct ibv_mw_bind_info) { mr, at(0), 64, 2 });
	INT(ibv_dealloc_mw(mw), "ibv_dealloc_mw of type 2");
	zero_based(at(0), "its address");
	zero_based(0, "0");
	for (i = 1; i <= 16; i *= 2)
		many_binds(i);
	many_binds(5);
}
