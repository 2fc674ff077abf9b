// SPDX-License-Identifier: GPL-2.0
/*
 * Capability pages: what this adapter announces, and the few fields that a driver may set
 * before INIT_HCA.  A capability is set only if its feature works.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

enum {
	CAP_VECTOR_CALC	= 0xb,	/* not in newer kernel headers */
	OTHER_FUNCTION	= 0x40,	/* 1 bit of both commands; not in older headers */
};

#define PAGE_BYTES	MLX5_UN_SZ_BYTES(hca_cap_union)

enum { GENERAL, ATOMIC, ROCE, ODP, VECTOR_CALC, EVENTS, PAGES };

static const u8 page_type[PAGES] = {
	[GENERAL] = MLX5_CAP_GENERAL,
	[ATOMIC] = MLX5_CAP_ATOMIC,
	[ROCE] = MLX5_CAP_ROCE,
	[ODP] = MLX5_CAP_ODP,		/* all zero: not supported */
	[VECTOR_CALC] = CAP_VECTOR_CALC,
	[EVENTS] = MLX5_CAP_DEV_EVENT,
};

struct hca_caps {
	u8 max[PAGES][PAGE_BYTES];
	u8 cur[PAGES][PAGE_BYTES];
	u8 settable[PAGE_BYTES];	/* of the general page */
};

#define CAP(field, value)	MLX5_SET(cmd_hca_cap, cap, field, value)

static void hca_caps_objects(void *cap)
{
	CAP(log_max_qp, HCA_LOG_MAX_QP);
	CAP(log_max_qp_sz, HCA_LOG_MAX_QP_SZ);
	CAP(log_max_sq, HCA_LOG_MAX_QP);
	CAP(log_max_cq, HCA_LOG_MAX_CQ);
	CAP(log_max_cq_sz, HCA_LOG_MAX_CQ_SZ);
	CAP(log_max_eq, HCA_LOG_MAX_EQ);
	CAP(log_max_eq_sz, HCA_LOG_MAX_EQ_SZ);
	CAP(max_num_eqs, (1 << HCA_LOG_MAX_EQ) - 1);
	CAP(log_max_srq, HCA_LOG_MAX_SRQ);
	CAP(log_max_srq_sz, HCA_LOG_MAX_SRQ_SZ);
	CAP(log_max_rmp, HCA_LOG_MAX_SRQ);
	CAP(log_max_mkey, HCA_LOG_MAX_MKEY);
	CAP(log_max_pd, HCA_LOG_MAX_PD);
	CAP(log_max_xrcd, HCA_LOG_MAX_XRCD);
	CAP(log_max_transport_domain, HCA_LOG_MAX_TD);
	CAP(log_max_mcg, HCA_LOG_MAX_MCG);
	CAP(max_qp_mcg, HCA_MAX_QP_MCG);
	CAP(max_qp_cnt, HCA_MAX_COUNTERS);
}

/* Without rights for user contexts (uctx_cap), and without general objects */
static void hca_caps_users(void *cap)
{
	CAP(log_max_uctx, HCA_LOG_MAX_UCTX);
	CAP(log_max_umem, HCA_LOG_MAX_UMEM);
	CAP(event_cap, 1);
}

/* The kernel's headers have no names for these: WAIT for data and for a time */
static void hca_caps_wait(void *cap, const struct hca_model *m)
{
	__be32 *dw = cap;

	dw[0xd0 / sizeof(*dw)] |= cpu_to_be32(m->wait_on_data << 20 | m->wait_on_time << 19);
}

static void hca_caps_queues(void *cap, const struct hca_model *m)
{
	CAP(rc, 1);
	CAP(uc, 1);
	CAP(ud, 1);
	CAP(xrc, 1);
	CAP(dct, 1);
	CAP(compact_address_vector, 1);
	CAP(apm, 1);
	CAP(cd, 1);
	CAP(vector_calc, 1);
	hca_caps_wait(cap, m);
	CAP(log_max_msg, HCA_LOG_MAX_MSG);
	CAP(max_wqe_sz_sq, HCA_MAX_SEND_WQE);
	CAP(max_wqe_sz_rq, HCA_MAX_RECV_WQE);
	CAP(log_max_ra_req_qp, HCA_LOG_MAX_RD_ATOMIC);
	CAP(log_max_ra_res_qp, HCA_LOG_MAX_RD_ATOMIC);
	CAP(log_max_ra_req_dc, HCA_LOG_MAX_RD_ATOMIC);
	CAP(log_max_ra_res_dc, HCA_LOG_MAX_RD_ATOMIC);
	CAP(basic_cyclic_rcv_wqe, 1);
	CAP(set_deth_sqpn, 1);
	CAP(block_lb_mc, 1);
	CAP(rts2rts_qp_counters_set_id, 1);
	CAP(ece_support, 1);
	CAP(atomic, 1);
	CAP(bf, 1);
	CAP(log_bf_reg_size, 9);
	CAP(cqe_version, 1);
	CAP(cq_oi, 1);
	CAP(cq_resize, 1);
	CAP(cq_moderation, 1);
	CAP(sctr_data_cqe, 1);
	CAP(dc_req_scat_data_cqe, 1);
	CAP(out_of_seq_cnt, 1);
	CAP(retransmission_q_counters, 1);
	CAP(enhanced_error_q_counters, 1);
}

static void hca_caps_memory(void *cap)
{
	CAP(log_pg_sz, HCA_PAGE_SHIFT);
	CAP(log_max_klm_list_size, 16);
	CAP(max_indirection, HCA_MAX_NESTING);
	CAP(umr_extended_translation_offset, 1);
	/* The adapter writes in order, whatever the key allows. */
	CAP(relaxed_ordering_write, 1);
	CAP(relaxed_ordering_read, 1);
	CAP(relaxed_ordering_write_umr, 1);
	CAP(relaxed_ordering_read_umr, 1);
	CAP(umr_fence, 2);			/* none needed: a queue runs in order */
	CAP(fixed_buffer_size, 1);
	CAP(null_mkey, 1);
	CAP(imaicl, 1);
}

static void hca_caps_port(void *cap, const struct hca_params *p)
{
	CAP(num_ports, p->num_ports);
	CAP(port_type, p->roce ? 1 : 0);
	CAP(roce, p->roce);
	CAP(ib_virt, !p->roce);
	CAP(vhca_id, p->index);
	CAP(pkey_table_size, 0);		/* 128 << n */
	CAP(gid_table_size, 0);			/* 8 << n */
	CAP(local_ca_ack_delay, 16);
	CAP(vport_counters, 1);
	CAP(device_frequency_khz, p->model->clock_khz);
	CAP(mcam_reg, 1);
	CAP(pcam_reg, 1);
	CAP(roce_accl, p->roce);
	CAP(cc_query_allowed, p->roce);
	CAP(cc_modify_allowed, p->roce);
}

static void hca_caps_settable(void *cap)
{
	CAP(log_max_qp, ~0);
	CAP(pkey_table_size, ~0);
	CAP(cmdif_checksum, ~0);
	CAP(log_uar_page_sz, ~0);
}

/*
 * Operations that are atomic with respect to CPUs, too: bit n for operands of 4 << n bytes.  The
 * kernel's headers have no names for these fields.
 */
static void hca_caps_pci_atomics(void *cap)
{
	__be32 *dw = cap;

	dw[0x50 / sizeof(*dw)] = cpu_to_be32(3 << 16 | 3);	/* fetch and add, swap */
	dw[0x54 / sizeof(*dw)] = cpu_to_be32(3 << 16);		/* compare and swap */
}

/* The value of a size bit is the size.  Only replies of 8 bytes have the host's byte order. */
static void hca_caps_atomic_page(void *cap, const struct hca_model *m)
{
	MLX5_SET(atomic_caps, cap, supported_atomic_req_8B_endianness_mode_1, 1);
	MLX5_SET(atomic_caps, cap, atomic_req_8B_endianness_mode, 1);
	MLX5_SET(atomic_caps, cap, atomic_operations, 0xf);
	MLX5_SET(atomic_caps, cap, atomic_size_qp, m->atomic_sizes);
	MLX5_SET(atomic_caps, cap, atomic_size_dc, m->atomic_sizes);
	hca_caps_pci_atomics(cap);
}

static void hca_caps_roce_page(void *cap)
{
	MLX5_SET(roce_cap, cap, roce_version, 1 << 0 | 1 << 2);	/* v1, v2 */
	MLX5_SET(roce_cap, cap, l3_type, 1 << 1 | 1 << 2);	/* IPv4, IPv6 */
	MLX5_SET(roce_cap, cap, roce_address_table_size, HCA_GIDS);
	MLX5_SET(roce_cap, cap, r_roce_dest_udp_port, 4791);
	MLX5_SET(roce_cap, cap, r_roce_min_src_udp_port, 0xc000);
	MLX5_SET(roce_cap, cap, r_roce_max_src_udp_port, 0xffff);
	MLX5_SET(roce_cap, cap, sw_r_roce_src_udp_port, 1);
}

/*
 * Newer kernel headers do not have the layout (PRM): bits 23:16 of dword 1 are the maximum number
 * of vectors, bits 2:0 the maximum chunk size.  Dword 2 is for the first output, the only one
 * without a coefficient matrix: its operations, and both byte orders.
 */
static void hca_caps_vector_calc_page(void *cap)
{
	__be32 *dw = cap;

	dw[1] = cpu_to_be32(HCA_CALC_VECTORS << 16 | MLX5R_VECTOR_CHUNK_MASK);
	dw[2] = cpu_to_be32(0x7f);
}

/* Events to which a process can subscribe: of its objects, and of the port */
static void hca_caps_event_page(void *cap)
{
	static const u8 of_objects[] = {
		MLX5_EVENT_TYPE_PATH_MIG,
		MLX5_EVENT_TYPE_COMM_EST,
		MLX5_EVENT_TYPE_SQ_DRAINED,
		MLX5_EVENT_TYPE_CQ_ERROR,
		MLX5_EVENT_TYPE_WQ_CATAS_ERROR,
		MLX5_EVENT_TYPE_PATH_MIG_FAILED,
		MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR,
		MLX5_EVENT_TYPE_WQ_ACCESS_ERROR,
		MLX5_EVENT_TYPE_SRQ_CATAS_ERROR,
		MLX5_EVENT_TYPE_SRQ_LAST_WQE,
		MLX5_EVENT_TYPE_SRQ_RQ_LIMIT,
		MLX5_EVENT_TYPE_DCT_DRAINED,
	};
	u64 objects = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of_objects); i++)
		objects |= 1ull << of_objects[i];
	MLX5_ARRAY_SET64(device_event_cap, cap, user_affiliated_events, 0, objects);
	MLX5_ARRAY_SET64(device_event_cap, cap, user_unaffiliated_events, 0,
			 1ull << MLX5_EVENT_TYPE_PORT_CHANGE);
}

int hca_caps_init(struct hca *hca)
{
	struct hca_caps *caps = kvzalloc(sizeof(*caps), GFP_KERNEL);
	const struct hca_model *m = hca->p.model;

	if (!caps)
		return -ENOMEM;
	hca->caps = caps;
	hca_caps_objects(caps->max[GENERAL]);
	hca_caps_users(caps->max[GENERAL]);
	hca_caps_queues(caps->max[GENERAL], m);
	hca_caps_memory(caps->max[GENERAL]);
	hca_caps_port(caps->max[GENERAL], &hca->p);
	hca_caps_settable(caps->settable);
	hca_caps_atomic_page(caps->max[ATOMIC], m);
	hca_caps_vector_calc_page(caps->max[VECTOR_CALC]);
	hca_caps_event_page(caps->max[EVENTS]);
	if (hca->p.roce)
		hca_caps_roce_page(caps->max[ROCE]);
	hca_caps_reset(hca);
	return 0;
}

void hca_caps_reset(struct hca *hca)
{
	memcpy(hca->caps->cur, hca->caps->max, sizeof(hca->caps->cur));
}

void hca_caps_free(struct hca *hca)
{
	kvfree(hca->caps);
	hca->caps = NULL;
}

static int hca_caps_find_page(u32 type)
{
	int i;

	for (i = 0; i < PAGES; i++)
		if (page_type[i] == type)
			return i;
	return -1;
}

/* op_mod: the page's type above bit 0; bit 0: current values, else maximum */
enum hca_synd hca_cmd_query_hca_cap(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_caps *caps = hca->caps;
	int page = hca_caps_find_page(c->op_mod >> 1);

	if (hca_field(c->in, OTHER_FUNCTION, 1))
		return HCA_SYND_FUNCTION;
	if (page < 0)
		return HCA_SYND_CAP_TYPE;
	memcpy(MLX5_ADDR_OF(query_hca_cap_out, c->out, capability),
	       c->op_mod & 1 ? caps->cur[page] : caps->max[page], PAGE_BYTES);
	return HCA_OK;
}

/*
 * Only settable fields may change.  In the atomic page drivers set these fields and leave the
 * others zero.
 */
static bool hca_caps_acceptable(const struct hca_caps *caps, int page, const u8 *cap)
{
	u32 i;

	for (i = 0; i < PAGE_BYTES; i++) {
		u8 change = cap[i] ^ caps->cur[page][i];

		if (page == GENERAL)
			change &= ~caps->settable[i];
		if (page == ATOMIC)
			change &= cap[i];
		if (change)
			return false;
	}
	if (page == ATOMIC)
		return MLX5_GET(atomic_caps, cap, atomic_req_8B_endianness_mode) == 1;
	if (page != GENERAL)
		return true;
	return MLX5_GET(cmd_hca_cap, cap, log_max_qp) <= HCA_LOG_MAX_QP &&
	       !MLX5_GET(cmd_hca_cap, cap, pkey_table_size) &&
	       !MLX5_GET(cmd_hca_cap, cap, cmdif_checksum) &&
	       !MLX5_GET(cmd_hca_cap, cap, log_uar_page_sz);
}

enum hca_synd hca_cmd_set_hca_cap(struct hca *hca, const struct hca_cmd *c)
{
	const u8 *cap = MLX5_ADDR_OF(set_hca_cap_in, c->in, capability);
	int page = hca_caps_find_page(c->op_mod >> 1);

	if (hca_field(c->in, OTHER_FUNCTION, 1))
		return HCA_SYND_FUNCTION;
	if (page < 0 || c->op_mod & 1)
		return HCA_SYND_CAP_TYPE;
	if (!hca_caps_acceptable(hca->caps, page, cap))
		return HCA_SYND_CAP_VALUE;
	if (page == GENERAL)
		memcpy(hca->caps->cur[page], cap, PAGE_BYTES);
	return HCA_OK;
}

#undef PAGE_BYTES
#undef CAP
