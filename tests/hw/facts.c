// SPDX-License-Identifier: GPL-2.0
/*
 * usage: facts DEVICE
 *
 * Prints what a device says about itself: with libibverbs and the driver of the host, and, if
 * xverbs.ko serves the device, its features.  Only what is the same for all adapters of a kind:
 * no GUIDs, no addresses.  Changes nothing.
 *
 * Prints lines: fact NAME VALUE
 */
#include <infiniband/verbs.h>
#include <stddef.h>
#include <string.h>
#include "tool.h"

struct member {
	const char *name;
	size_t offset, size;
	bool hex;
};

#define MEMBER(s, m)	{ #m, offsetof(struct s, m), sizeof(((struct s *)0)->m), false }
#define MASK(s, m)	{ #m, offsetof(struct s, m), sizeof(((struct s *)0)->m), true }

static const struct member of_device[] = {
#define D(m)	MEMBER(ibv_device_attr, m)
	D(vendor_part_id), D(hw_ver), D(phys_port_cnt), MASK(ibv_device_attr, max_mr_size),
	MASK(ibv_device_attr, page_size_cap), D(max_qp), D(max_qp_wr),
	{ "device_cap_flags", offsetof(struct ibv_device_attr, device_cap_flags), 4, true },
	D(max_sge), D(max_sge_rd), D(max_cq), D(max_cqe), D(max_mr), D(max_mw), D(max_pd),
	D(max_qp_rd_atom), D(max_res_rd_atom), D(max_qp_init_rd_atom), D(atomic_cap),
	D(max_mcast_grp), D(max_mcast_qp_attach), D(max_total_mcast_qp_attach), D(max_ah),
	D(max_srq), D(max_srq_wr), D(max_srq_sge), D(max_pkeys), D(local_ca_ack_delay),
};

static const struct member of_device_ex[] = {
#define X(m)	MEMBER(ibv_device_attr_ex, m)
	MASK(ibv_device_attr_ex, device_cap_flags_ex),
	MASK(ibv_device_attr_ex, completion_timestamp_mask), X(hca_core_clock),
	MASK(ibv_device_attr_ex, odp_caps.general_caps),
	MASK(ibv_device_attr_ex, pci_atomic_caps.fetch_add),
	MASK(ibv_device_attr_ex, pci_atomic_caps.swap),
	MASK(ibv_device_attr_ex, pci_atomic_caps.compare_swap), X(tso_caps.max_tso),
	X(rss_caps.max_rwq_indirection_tables), X(max_wq_type_rq), X(tm_caps.max_num_tags),
	X(cq_mod_caps.max_cq_count), X(cq_mod_caps.max_cq_period), X(max_dm_size),
	X(raw_packet_caps),
};

static const struct member of_port[] = {
#define P(m)	MEMBER(ibv_port_attr, m)
	P(link_layer), P(state), P(max_mtu), P(active_mtu), P(gid_tbl_len), P(pkey_tbl_len),
	MASK(ibv_port_attr, port_cap_flags), P(max_msg_sz), P(max_vl_num), P(active_width),
	P(active_speed), P(phys_state), MASK(ibv_port_attr, flags),
};

/* The members of a structure, which are little-endian on the machines of these adapters */
static void print_members(const char *kind, const struct member *m, size_t n, const void *from)
{
	unsigned long long value;
	size_t i;

	for (i = 0; i < n; i++) {
		value = 0;
		memcpy(&value, (const char *)from + m[i].offset, m[i].size);
		printf(m[i].hex ? "fact %s.%s 0x%llx\n" : "fact %s.%s %llu\n", kind, m[i].name,
		       value);
	}
}

static struct ibv_context *open_ibv(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return ctx;
}

static void print_ibv(const char *name)
{
	struct ibv_context *ctx = open_ibv(name);
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;

	if (!ctx)
		xt_die(XT_FAILED, "libibverbs does not open %s: is there such a device, and may "
		       "this user open it?", name);
	if (ibv_query_device_ex(ctx, NULL, &attr) || ibv_query_port(ctx, 1, &port))
		xt_die(XT_FAILED, "%s cannot be queried", name);
	printf("fact device.fw_ver %s\n", attr.orig_attr.fw_ver);
	print_members("device", of_device, ARRAY_SIZE(of_device), &attr.orig_attr);
	print_members("device", of_device_ex, ARRAY_SIZE(of_device_ex), &attr);
	printf("fact device.num_comp_vectors %d\n", ctx->num_comp_vectors);
	print_members("port", of_port, ARRAY_SIZE(of_port), &port);
	ibv_close_device(ctx);
}

/* The parameters that only libxverbs shows, and the features with the reason of those it lacks */
static void print_xverbs(const char *name)
{
	static struct xv_feature list[64];
	struct xv_context *ctx = xv_open(name);
	struct xv_device_attr a;
	int i, n;

	if (!ctx || xv_query_device(ctx, &a)) {
		printf("fact xverbs skip: %s\n", xv_last_error());
		return;
	}
	printf("fact xverbs yes\n");
	printf("fact xverbs.cqe_version %u\n", a.cqe_version);
	printf("fact xverbs.max_sq_wqebbs %u\n", a.max_sq_wqebbs);
	printf("fact xverbs.bf_bytes %u\n", a.bf_bytes);
	printf("fact xverbs.umr_fence %u\n", a.umr_fence);
	printf("fact xverbs.exp_device_cap_flags 0x%llx\n",
	       (unsigned long long)a.exp_device_cap_flags);
	printf("fact xverbs.atomic_arg_sizes 0x%llx\n",
	       (unsigned long long)a.ext_atom.atomic_arg_sizes);
	printf("fact xverbs.max_klms %u\n", a.umr_caps.max_mkey_klm_list_size);
	printf("fact xverbs.max_dct %u\n", a.max_dct);
	printf("fact xverbs.inline_recv_sz %u\n", a.inline_recv_sz);
	n = xv_query_features(ctx, list, ARRAY_SIZE(list));
	for (i = 0; i < n && i < (int)ARRAY_SIZE(list); i++)
		printf("fact xverbs.feature.%s %s%s\n", list[i].name,
		       list[i].available ? "yes" : "no: ",
		       list[i].available ? "" : list[i].why_not);
	xv_close(ctx);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		xt_die(XT_USAGE, "usage: facts DEVICE");
	print_ibv(argv[1]);
	print_xverbs(argv[1]);
	return XT_OK;
}
