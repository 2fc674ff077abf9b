/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Experimental verbs (ibv_exp_*) of the RDMA Aware Networks Programming User Manual: section 3.8
 * and its appendices A (DC), B (extended atomics), C (UMR) and D (cross-channel).  They work on
 * the objects of libxverbs-ibverbs.  Names and values are those of the manual, and of the header
 * of MLNX_OFED where the manual has none; xverbs-exp(7) lists the differences.
 *
 * Every comp_mask tells which optional members are valid.  A bit that is not defined here is
 * refused with EINVAL, except in requests and tasks.
 */
#ifndef INFINIBAND_VERBS_EXP_H
#define INFINIBAND_VERBS_EXP_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IBV_EXP_START_ENUM	0x40
#define IBV_EXP_START_FLAG_LOC	0x20
#define IBV_EXP_START_FLAG	(1ull << IBV_EXP_START_FLAG_LOC)

/* ---- Device ------------------------------------------------------------------------- */

enum ibv_exp_atomic_cap {
	IBV_EXP_ATOMIC_NONE		= IBV_ATOMIC_NONE,
	IBV_EXP_ATOMIC_HCA		= IBV_ATOMIC_HCA,
	IBV_EXP_ATOMIC_GLOB		= IBV_ATOMIC_GLOB,
	IBV_EXP_ATOMIC_HCA_REPLY_BE	= IBV_EXP_START_ENUM,	/* big-endian results */
};

/* exp_device_cap_flags; the first group has the values of ibverbs */
__extension__ enum ibv_exp_device_cap_flags {
	IBV_EXP_DEVICE_RESIZE_MAX_WR		= IBV_DEVICE_RESIZE_MAX_WR,
	IBV_EXP_DEVICE_BAD_PKEY_CNTR		= IBV_DEVICE_BAD_PKEY_CNTR,
	IBV_EXP_DEVICE_BAD_QKEY_CNTR		= IBV_DEVICE_BAD_QKEY_CNTR,
	IBV_EXP_DEVICE_RAW_MULTI		= IBV_DEVICE_RAW_MULTI,
	IBV_EXP_DEVICE_AUTO_PATH_MIG		= IBV_DEVICE_AUTO_PATH_MIG,
	IBV_EXP_DEVICE_CHANGE_PHY_PORT		= IBV_DEVICE_CHANGE_PHY_PORT,
	IBV_EXP_DEVICE_UD_AV_PORT_ENFORCE	= IBV_DEVICE_UD_AV_PORT_ENFORCE,
	IBV_EXP_DEVICE_CURR_QP_STATE_MOD	= IBV_DEVICE_CURR_QP_STATE_MOD,
	IBV_EXP_DEVICE_SHUTDOWN_PORT		= IBV_DEVICE_SHUTDOWN_PORT,
	IBV_EXP_DEVICE_INIT_TYPE		= IBV_DEVICE_INIT_TYPE,
	IBV_EXP_DEVICE_PORT_ACTIVE_EVENT	= IBV_DEVICE_PORT_ACTIVE_EVENT,
	IBV_EXP_DEVICE_SYS_IMAGE_GUID		= IBV_DEVICE_SYS_IMAGE_GUID,
	IBV_EXP_DEVICE_RC_RNR_NAK_GEN		= IBV_DEVICE_RC_RNR_NAK_GEN,
	IBV_EXP_DEVICE_SRQ_RESIZE		= IBV_DEVICE_SRQ_RESIZE,
	IBV_EXP_DEVICE_N_NOTIFY_CQ		= IBV_DEVICE_N_NOTIFY_CQ,
	IBV_EXP_DEVICE_XRC			= IBV_DEVICE_XRC,

	IBV_EXP_DEVICE_DC_TRANSPORT		= IBV_EXP_START_FLAG << 0,
	IBV_EXP_DEVICE_QPG			= IBV_EXP_START_FLAG << 1,
	IBV_EXP_DEVICE_UD_RSS			= IBV_EXP_START_FLAG << 2,
	IBV_EXP_DEVICE_UD_TSS			= IBV_EXP_START_FLAG << 3,
	IBV_EXP_DEVICE_EXT_ATOMICS		= IBV_EXP_START_FLAG << 4,
	IBV_EXP_DEVICE_NOP			= IBV_EXP_START_FLAG << 5,
	IBV_EXP_DEVICE_UMR			= IBV_EXP_START_FLAG << 6,
	IBV_EXP_DEVICE_ODP			= IBV_EXP_START_FLAG << 7,
	IBV_EXP_DEVICE_VXLAN_SUPPORT		= IBV_EXP_START_FLAG << 10,
	IBV_EXP_DEVICE_RX_CSUM_TCP_UDP_PKT	= IBV_EXP_START_FLAG << 11,
	IBV_EXP_DEVICE_RX_CSUM_IP_PKT		= IBV_EXP_START_FLAG << 12,
	IBV_EXP_DEVICE_EC_OFFLOAD		= IBV_EXP_START_FLAG << 13,
	IBV_EXP_DEVICE_EXT_MASKED_ATOMICS	= IBV_EXP_START_FLAG << 14,
	IBV_EXP_DEVICE_RX_TCP_UDP_PKT_TYPE	= IBV_EXP_START_FLAG << 15,
	IBV_EXP_DEVICE_SCATTER_FCS		= IBV_EXP_START_FLAG << 16,
	IBV_EXP_DEVICE_MEM_WINDOW		= IBV_EXP_START_FLAG << 17,
	IBV_EXP_DEVICE_MEM_MGT_EXTENSIONS	= IBV_EXP_START_FLAG << 21,
	IBV_EXP_DEVICE_DC_INFO			= IBV_EXP_START_FLAG << 22,
	IBV_EXP_DEVICE_MW_TYPE_2A		= IBV_EXP_START_FLAG << 23,
	IBV_EXP_DEVICE_MW_TYPE_2B		= IBV_EXP_START_FLAG << 24,
	IBV_EXP_DEVICE_CROSS_CHANNEL		= IBV_EXP_START_FLAG << 28,
	IBV_EXP_DEVICE_MANAGED_FLOW_STEERING	= IBV_EXP_START_FLAG << 29,
	IBV_EXP_DEVICE_MR_ALLOCATE		= IBV_EXP_START_FLAG << 30,
	IBV_EXP_DEVICE_SHARED_MR		= IBV_EXP_START_FLAG << 31,
};

/* Input: members that the caller asks for.  Output: those that were filled in. */
enum ibv_exp_device_attr_comp_mask {
	IBV_EXP_DEVICE_ATTR_CALC_CAP		= 1 << 0,
	IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK	= 1 << 1,
	IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK	= 1 << 2,
	IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS	= 1 << 3,
	IBV_EXP_DEVICE_DC_RD_REQ		= 1 << 4,
	IBV_EXP_DEVICE_DC_RD_RES		= 1 << 5,
	IBV_EXP_DEVICE_ATTR_INLINE_RECV_SZ	= 1 << 6,
	IBV_EXP_DEVICE_ATTR_RSS_TBL_SZ		= 1 << 7,
	IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS	= 1 << 8,
	IBV_EXP_DEVICE_ATTR_UMR			= 1 << 9,
	IBV_EXP_DEVICE_ATTR_ODP			= 1 << 10,
	IBV_EXP_DEVICE_ATTR_MAX_DCT		= 1 << 11,
	IBV_EXP_DEVICE_ATTR_MAX_CTX_RES_DOMAIN	= 1 << 12,
	IBV_EXP_DEVICE_ATTR_RX_HASH		= 1 << 13,
	IBV_EXP_DEVICE_ATTR_MAX_WQ_TYPE_RQ	= 1 << 14,
	IBV_EXP_DEVICE_ATTR_MAX_DEVICE_CTX	= 1 << 15,
	IBV_EXP_DEVICE_ATTR_MP_RQ		= 1 << 16,
	IBV_EXP_DEVICE_ATTR_VLAN_OFFLOADS	= 1 << 17,
	IBV_EXP_DEVICE_ATTR_EC_CAPS		= 1 << 18,
	IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS	= 1 << 19,
	IBV_EXP_DEVICE_ATTR_RX_PAD_END_ALIGN	= 1 << 20,
	IBV_EXP_DEVICE_ATTR_TSO_CAPS		= 1 << 21,
	IBV_EXP_DEVICE_ATTR_PACKET_PACING_CAPS	= 1 << 22,
	IBV_EXP_DEVICE_ATTR_EC_GF_BASE		= 1 << 23,
	IBV_EXP_DEVICE_ATTR_OOO_CAPS		= 1 << 24,
	IBV_EXP_DEVICE_ATTR_RESERVED		= 1 << 25,
};

/* Bits 1 << value of ibv_exp_calc_data_type, ibv_exp_calc_data_size and ibv_exp_calc_op */
struct ibv_exp_device_calc_cap {
	uint64_t data_types;
	uint64_t data_sizes;
	uint64_t int_ops;
	uint64_t uint_ops;
	uint64_t fp_ops;
};

/*
 * Operands of masked atomics whose results have the byte order of exp_atomic_cap: the value of a
 * bit is the size in bytes.
 */
struct ibv_exp_ext_atomics_params {
	__extension__ union {
		uint64_t atomic_arg_sizes;	/* name in the manual */
		uint64_t log_atomic_arg_sizes;	/* name in MLNX_OFED */
	};
	uint32_t max_fa_bit_boundary;		/* log2 of the size of a field in bytes */
	uint32_t log_max_atomic_inline;		/* log2 of the size of all arguments in bytes */
};

/* All operands, and those with results in network byte order */
struct ibv_exp_masked_atomic_params {
	uint32_t max_fa_bit_boundary;
	uint32_t log_max_atomic_inline;
	uint64_t masked_log_atomic_arg_sizes;
	uint64_t masked_log_atomic_arg_sizes_network_endianness;
};

struct ibv_exp_umr_caps {
	uint32_t max_klm_list_size;
	uint32_t max_send_wqe_inline_klms;
	uint32_t max_umr_recursion_depth;
	uint32_t max_umr_stride_dimension;
};

/* Bits of general_odp_caps, and below of per_transport_caps */
enum ibv_odp_general_cap_bits {
	IBV_EXP_ODP_SUPPORT		= 1 << 0,
	IBV_EXP_ODP_SUPPORT_IMPLICIT	= 1 << 1,
};

enum ibv_exp_odp_transport_cap_bits {
	IBV_EXP_ODP_SUPPORT_SEND	= 1 << 0,
	IBV_EXP_ODP_SUPPORT_RECV	= 1 << 1,
	IBV_EXP_ODP_SUPPORT_WRITE	= 1 << 2,
	IBV_EXP_ODP_SUPPORT_READ	= 1 << 3,
	IBV_EXP_ODP_SUPPORT_ATOMIC	= 1 << 4,
	IBV_EXP_ODP_SUPPORT_SRQ_RECV	= 1 << 5,
};

struct ibv_exp_odp_caps {
	uint64_t general_odp_caps;
	struct {
		uint32_t rc_odp_caps;
		uint32_t uc_odp_caps;
		uint32_t ud_odp_caps;
		uint32_t dc_odp_caps;
		uint32_t xrc_odp_caps;
		uint32_t raw_eth_odp_caps;
	} per_transport_caps;
};

/* Placement of data out of order: bits of ibv_exp_ooo_caps */
enum ibv_exp_ooo_transport_cap_bits {
	IBV_EXP_OOO_SUPPORT_RW_DATA_PLACEMENT	= 1 << 0,
};

struct ibv_exp_ooo_caps {
	uint32_t rc_caps;
	uint32_t xrc_caps;
	uint32_t dc_caps;
	uint32_t ud_caps;
};

struct ibv_exp_device_attr {
	char fw_ver[64];
	uint64_t node_guid;
	uint64_t sys_image_guid;
	uint64_t max_mr_size;
	uint64_t page_size_cap;
	uint32_t vendor_id;
	uint32_t vendor_part_id;
	uint32_t hw_ver;
	int max_qp;
	int max_qp_wr;
	int reserved;
	int max_sge;
	int max_sge_rd;
	int max_cq;
	int max_cqe;
	int max_mr;
	int max_pd;
	int max_qp_rd_atom;
	int max_ee_rd_atom;
	int max_res_rd_atom;
	int max_qp_init_rd_atom;
	int max_ee_init_rd_atom;
	enum ibv_exp_atomic_cap exp_atomic_cap;
	int max_ee;
	int max_rdd;
	int max_mw;
	int max_raw_ipv6_qp;
	int max_raw_ethy_qp;
	int max_mcast_grp;
	int max_mcast_qp_attach;
	int max_total_mcast_qp_attach;
	int max_ah;
	int max_fmr;
	int max_map_per_fmr;
	int max_srq;
	int max_srq_wr;
	int max_srq_sge;
	uint16_t max_pkeys;
	uint8_t local_ca_ack_delay;
	uint8_t phys_port_cnt;
	uint32_t comp_mask;			/* ibv_exp_device_attr_comp_mask */
	struct ibv_exp_device_calc_cap calc_cap;
	uint64_t timestamp_mask;
	uint64_t hca_core_clock;		/* kHz */
	uint64_t exp_device_cap_flags;		/* ibv_exp_device_cap_flags */
	int max_dc_req_rd_atom;
	int max_dc_res_rd_atom;
	int inline_recv_sz;
	uint32_t max_rss_tbl_sz;
	struct ibv_exp_ext_atomics_params ext_atom;
	__extension__ union {
		struct ibv_exp_umr_caps umr_caps;
		struct {
			uint32_t max_mkey_klm_list_size;
			uint32_t max_send_wqe_inline_klms;
			uint32_t max_umr_recursion_depth;
			uint32_t max_umr_stride_dimension;
		};
	};
	struct ibv_exp_odp_caps odp_caps;
	int max_dct;
	int max_ctx_res_domain;
	struct ibv_exp_masked_atomic_params masked_atomic;
	struct ibv_exp_ooo_caps ooo_caps;
};

int ibv_exp_query_device(struct ibv_context *context, struct ibv_exp_device_attr *attr);

enum ibv_exp_values_comp_mask {
	IBV_EXP_VALUES_HW_CLOCK_NS	= 1 << 0,
	IBV_EXP_VALUES_HW_CLOCK		= 1 << 1,
	IBV_EXP_VALUES_RESERVED		= 1 << 2,
};

struct ibv_exp_values {
	uint32_t comp_mask;			/* output: members that were filled in */
	uint64_t hwclock_ns;
	uint64_t hwclock;			/* units of 1 / hca_core_clock */
};

/* q_values: ibv_exp_values_comp_mask */
int ibv_exp_query_values(struct ibv_context *context, int q_values,
			 struct ibv_exp_values *values);

/* ---- Ports -------------------------------------------------------------------------- */

/* mask1: members that the caller asks for */
enum {
	IBV_EXP_QUERY_PORT_STATE		= 1 << 0,
	IBV_EXP_QUERY_PORT_MAX_MTU		= 1 << 1,
	IBV_EXP_QUERY_PORT_ACTIVE_MTU		= 1 << 2,
	IBV_EXP_QUERY_PORT_GID_TBL_LEN		= 1 << 3,
	IBV_EXP_QUERY_PORT_CAP_FLAGS		= 1 << 4,
	IBV_EXP_QUERY_PORT_MAX_MSG_SZ		= 1 << 5,
	IBV_EXP_QUERY_PORT_BAD_PKEY_CNTR	= 1 << 6,
	IBV_EXP_QUERY_PORT_QKEY_VIOL_CNTR	= 1 << 7,
	IBV_EXP_QUERY_PORT_PKEY_TBL_LEN		= 1 << 8,
	IBV_EXP_QUERY_PORT_LID			= 1 << 9,
	IBV_EXP_QUERY_PORT_SM_LID		= 1 << 10,
	IBV_EXP_QUERY_PORT_LMC			= 1 << 11,
	IBV_EXP_QUERY_PORT_MAX_VL_NUM		= 1 << 12,
	IBV_EXP_QUERY_PORT_SM_SL		= 1 << 13,
	IBV_EXP_QUERY_PORT_SUBNET_TIMEOUT	= 1 << 14,
	IBV_EXP_QUERY_PORT_INIT_TYPE_REPLY	= 1 << 15,
	IBV_EXP_QUERY_PORT_ACTIVE_WIDTH		= 1 << 16,
	IBV_EXP_QUERY_PORT_ACTIVE_SPEED		= 1 << 17,
	IBV_EXP_QUERY_PORT_PHYS_STATE		= 1 << 18,
	IBV_EXP_QUERY_PORT_LINK_LAYER		= 1 << 19,
	IBV_EXP_QUERY_PORT_STD_MASK		= (1 << 20) - 1,
	IBV_EXP_QUERY_PORT_MASK			= IBV_EXP_QUERY_PORT_STD_MASK,
};

enum ibv_exp_query_port_attr_comp_mask {
	IBV_EXP_QUERY_PORT_ATTR_MASK1		= 1 << 0,
	IBV_EXP_QUERY_PORT_ATTR_RESERVED	= 1 << 1,
	IBV_EXP_QUERY_PORT_ATTR_MASKS		= IBV_EXP_QUERY_PORT_ATTR_RESERVED - 1,
};

/* The members of the first structure have the places that they have in port_attr. */
struct ibv_exp_port_attr {
	__extension__ union {
		struct {
			enum ibv_port_state state;
			enum ibv_mtu max_mtu;
			enum ibv_mtu active_mtu;
			int gid_tbl_len;
			uint32_t port_cap_flags;
			uint32_t max_msg_sz;
			uint32_t bad_pkey_cntr;
			uint32_t qkey_viol_cntr;
			uint16_t pkey_tbl_len;
			uint16_t lid;
			uint16_t sm_lid;
			uint8_t lmc;
			uint8_t max_vl_num;
			uint8_t sm_sl;
			uint8_t subnet_timeout;
			uint8_t init_type_reply;
			uint8_t active_width;
			uint8_t active_speed;
			uint8_t phys_state;
			uint8_t link_layer;
			uint8_t reserved;
		};
		struct ibv_port_attr port_attr;
	};
	uint32_t comp_mask;			/* 0: all members */
	uint32_t mask1;
};

int ibv_exp_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_exp_port_attr *port_attr);

enum ibv_exp_roce_gid_type {
	IBV_EXP_IB_ROCE_V1_GID_TYPE,
	IBV_EXP_ROCE_V2_GID_TYPE,
	IBV_EXP_ROCE_V1_5_GID_TYPE,
};

enum ibv_exp_query_gid_attr {
	IBV_EXP_QUERY_GID_ATTR_TYPE	= 1 << 0,
	IBV_EXP_QUERY_GID_ATTR_GID	= 1 << 1,
	IBV_EXP_QUERY_GID_ATTR_RESERVED	= 1 << 2,
};

struct ibv_exp_gid_attr {
	uint32_t comp_mask;			/* members that the caller asks for */
	enum ibv_exp_roce_gid_type type;
	union ibv_gid gid;
};

int ibv_exp_query_gid_attr(struct ibv_context *context, uint8_t port_num, unsigned int index,
			   struct ibv_exp_gid_attr *attr);

/* ---- Resource domains: queues that only one thread uses -------------------------------- */

enum ibv_exp_thread_model {
	IBV_EXP_THREAD_SAFE,
	IBV_EXP_THREAD_UNSAFE,			/* the program has its own locks */
	IBV_EXP_THREAD_SINGLE,
};

enum ibv_exp_msg_model {
	IBV_EXP_MSG_DEFAULT,
	IBV_EXP_MSG_LOW_LATENCY,
	IBV_EXP_MSG_HIGH_BW,
	IBV_EXP_MSG_FORCE_LOW_LATENCY,
};

enum ibv_exp_res_domain_init_attr_comp_mask {
	IBV_EXP_RES_DOMAIN_THREAD_MODEL	= 1 << 0,
	IBV_EXP_RES_DOMAIN_MSG_MODEL	= 1 << 1,
	IBV_EXP_RES_DOMAIN_RESERVED	= 1 << 2,
};

struct ibv_exp_res_domain_init_attr {
	uint32_t comp_mask;
	enum ibv_exp_thread_model thread_model;
	enum ibv_exp_msg_model msg_model;	/* a hint that has no effect */
};

struct ibv_exp_res_domain {
	struct ibv_context *context;
};

struct ibv_exp_destroy_res_domain_attr {
	uint32_t comp_mask;			/* 0 */
};

struct ibv_exp_res_domain *ibv_exp_create_res_domain(struct ibv_context *context,
						     struct ibv_exp_res_domain_init_attr *attr);
int ibv_exp_destroy_res_domain(struct ibv_context *context, struct ibv_exp_res_domain *res_domain,
			       struct ibv_exp_destroy_res_domain_attr *attr);

/* ---- Completion queues -------------------------------------------------------------- */

enum ibv_exp_cq_create_flags {
	IBV_EXP_CQ_CREATE_CROSS_CHANNEL		= 1 << 0,
	IBV_EXP_CQ_TIMESTAMP			= 1 << 1,
	IBV_EXP_CQ_TIMESTAMP_TO_SYS_TIME	= 1 << 2,	/* not supported */
	IBV_EXP_CQ_COMPRESSED_CQE		= 1 << 3,	/* not supported */
	IBV_EXP_CQ_CREATE_FLAGS_MASK		= (1 << 4) - 1,
};

enum ibv_exp_cq_init_attr_mask {
	IBV_EXP_CQ_INIT_ATTR_FLAGS		= 1 << 0,
	IBV_EXP_CQ_INIT_ATTR_RES_DOMAIN		= 1 << 1,
	IBV_EXP_CQ_INIT_ATTR_PEER_DIRECT	= 1 << 2,	/* not supported */
	IBV_EXP_CQ_INIT_ATTR_RESERVED1		= 1 << 3,
};

struct ibv_exp_peer_direct_attr;

struct ibv_exp_cq_init_attr {
	uint32_t comp_mask;			/* ibv_exp_cq_init_attr_mask */
	uint32_t flags;				/* ibv_exp_cq_create_flags */
	struct ibv_exp_res_domain *res_domain;
	struct ibv_exp_peer_direct_attr *peer_direct_attrs;
};

struct ibv_cq *ibv_exp_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				 struct ibv_comp_channel *channel, int comp_vector,
				 struct ibv_exp_cq_init_attr *attr);

/* cq_attr_mask of ibv_exp_modify_cq() */
enum ibv_exp_cq_attr_mask {
	IBV_EXP_CQ_MODERATION	= 1 << 0,
	IBV_EXP_CQ_CAP_FLAGS	= 1 << 1,
};

enum ibv_exp_cq_cap_flags {
	IBV_EXP_CQ_IGNORE_OVERRUN	= 1 << 0,
	IBV_EXP_CQ_CAP_MASK		= 1,
};

enum ibv_exp_cq_attr_comp_mask {
	IBV_EXP_CQ_ATTR_MODERATION	= 1 << 0,
	IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS	= 1 << 1,
	IBV_EXP_CQ_ATTR_RESERVED	= 1 << 2,
};

struct ibv_exp_cq_attr {
	uint32_t comp_mask;			/* ibv_exp_cq_attr_comp_mask */
	struct {
		uint16_t cq_count;
		uint16_t cq_period;
	} moderation;
	uint32_t cq_cap_flags;			/* ibv_exp_cq_cap_flags */
};

/* cq_attr_mask names the members to change; comp_mask need not have them. */
int ibv_exp_modify_cq(struct ibv_cq *cq, struct ibv_exp_cq_attr *cq_attr, int cq_attr_mask);

enum ibv_exp_wc_opcode {
	IBV_EXP_WC_SEND,
	IBV_EXP_WC_RDMA_WRITE,
	IBV_EXP_WC_RDMA_READ,
	IBV_EXP_WC_COMP_SWAP,
	IBV_EXP_WC_FETCH_ADD,
	IBV_EXP_WC_BIND_MW,
	IBV_EXP_WC_LOCAL_INV		= 7,
	IBV_EXP_WC_MASKED_COMP_SWAP	= 9,
	IBV_EXP_WC_MASKED_FETCH_ADD	= 10,
	IBV_EXP_WC_TSO			= 11,
	IBV_EXP_WC_UMR			= 0x100,	/* also of waits and of enables */
	IBV_EXP_WC_RECV			= 1 << 7,	/* bit set in all receive opcodes */
	IBV_EXP_WC_RECV_RDMA_WITH_IMM	= (1 << 7) + 1,
};

/* The other flags say which members are valid. */
__extension__ enum ibv_exp_wc_flags {
	IBV_EXP_WC_GRH			= IBV_WC_GRH,
	IBV_EXP_WC_WITH_IMM		= IBV_WC_WITH_IMM,
	IBV_EXP_WC_WITH_INV		= IBV_EXP_START_FLAG << 2,
	IBV_EXP_WC_WITH_SL		= IBV_EXP_START_FLAG << 4,
	IBV_EXP_WC_WITH_SLID		= IBV_EXP_START_FLAG << 5,
	IBV_EXP_WC_WITH_TIMESTAMP	= IBV_EXP_START_FLAG << 6,
	IBV_EXP_WC_QP			= IBV_EXP_START_FLAG << 7,
	IBV_EXP_WC_SRQ			= IBV_EXP_START_FLAG << 8,
	IBV_EXP_WC_DCT			= IBV_EXP_START_FLAG << 9,
};

struct ibv_exp_dct;

struct ibv_exp_wc {
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_exp_wc_opcode exp_opcode;
	uint32_t vendor_err;
	uint32_t byte_len;
	uint32_t imm_data;			/* network byte order; WITH_INV: the key */
	uint32_t qp_num;			/* receive of a DCT: its number */
	uint32_t src_qp;
	int reserved;
	uint16_t pkey_index;
	uint16_t slid;
	uint8_t sl;
	uint8_t dlid_path_bits;
	uint64_t timestamp;			/* units of 1 / hca_core_clock */
	struct ibv_qp *qp;			/* null: receive of a DCT or an XRC SRQ */
	struct ibv_srq *srq;			/* of a receive */
	struct ibv_exp_dct *dct;		/* of a receive */
	uint64_t exp_wc_flags;			/* ibv_exp_wc_flags */
};

/* Returns the number of completions, or -1; wc_size: sizeof(struct ibv_exp_wc). */
int ibv_exp_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_exp_wc *wc, uint32_t wc_size);

/* ---- Queue pairs -------------------------------------------------------------------- */

/* Values of qp_type that ibverbs does not have */
#define IBV_QPT_XRC		((enum ibv_qp_type)5)	/* not supported: that of old libraries */
#define IBV_QPT_RAW_ETH		IBV_QPT_RAW_PACKET
#define IBV_EXP_QPT_DC_INI	((enum ibv_qp_type)32)

enum ibv_exp_qp_init_attr_comp_mask {
	IBV_EXP_QP_INIT_ATTR_PD			= 1 << 0,
	IBV_EXP_QP_INIT_ATTR_XRCD		= 1 << 1,
	IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS	= 1 << 2,
	IBV_EXP_QP_INIT_ATTR_INL_RECV		= 1 << 3,
	IBV_EXP_QP_INIT_ATTR_QPG		= 1 << 4,	/* not supported */
	IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG	= 1 << 5,
	IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS	= 1 << 6,
	IBV_EXP_QP_INIT_ATTR_RES_DOMAIN		= 1 << 7,
	IBV_EXP_QP_INIT_ATTR_RX_HASH		= 1 << 8,	/* not supported, also below */
	IBV_EXP_QP_INIT_ATTR_PORT		= 1 << 9,
	IBV_EXP_QP_INIT_ATTR_PEER_DIRECT	= 1 << 10,
	IBV_EXP_QP_INIT_ATTR_MAX_TSO_HEADER	= 1 << 11,
	IBV_EXP_QP_INIT_ATTR_RESERVED1		= 1 << 12,
};

enum ibv_exp_qp_create_flags {
	IBV_EXP_QP_CREATE_CROSS_CHANNEL		= 1 << 2,
	IBV_EXP_QP_CREATE_MANAGED_SEND		= 1 << 3,
	IBV_EXP_QP_CREATE_MANAGED_RECV		= 1 << 4,
	IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW	= 1 << 6,
	IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW	= 1 << 7,
	IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY	= 1 << 8,
	IBV_EXP_QP_CREATE_UMR			= 1 << 9,
	IBV_EXP_QP_CREATE_EC_PARITY_EN		= 1 << 10,	/* not supported, also below */
	IBV_EXP_QP_CREATE_RX_END_PADDING	= 1 << 11,
	IBV_EXP_QP_CREATE_SCATTER_FCS		= 1 << 12,
	IBV_EXP_QP_CREATE_MASK			= 0x1fdc,
};

enum ibv_exp_qpg_type {
	IBV_EXP_QPG_NONE	= 0,
	IBV_EXP_QPG_PARENT	= 1 << 0,
	IBV_EXP_QPG_CHILD_RX	= 1 << 1,
	IBV_EXP_QPG_CHILD_TX	= 1 << 2,
};

struct ibv_exp_qpg_init_attrib {
	uint32_t tss_child_count;
	uint32_t rss_child_count;
};

struct ibv_exp_qpg {
	uint32_t qpg_type;
	__extension__ union {
		struct ibv_qp *qpg_parent;
		struct ibv_exp_qpg_init_attrib parent_attrib;
	};
};

struct ibv_exp_rx_hash_conf;

/* The first seven members are those of struct ibv_qp_init_attr. */
struct ibv_exp_qp_init_attr {
	void *qp_context;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp_cap cap;
	enum ibv_qp_type qp_type;
	int sq_sig_all;
	uint32_t comp_mask;			/* ibv_exp_qp_init_attr_comp_mask */
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	uint32_t exp_create_flags;		/* ibv_exp_qp_create_flags */
	uint32_t max_inl_recv;			/* output: what was granted */
	struct ibv_exp_qpg qpg;
	uint32_t max_atomic_arg;		/* bytes of an operand; output: granted */
	uint32_t max_inl_send_klms;
	struct ibv_exp_res_domain *res_domain;
	struct ibv_exp_rx_hash_conf *rx_hash_conf;
	uint8_t port_num;
	struct ibv_exp_peer_direct_attr *peer_direct_attrs;
	uint16_t max_tso_header;
};

struct ibv_qp *ibv_exp_create_qp(struct ibv_context *context,
				 struct ibv_exp_qp_init_attr *qp_init_attr);

/* The first group has the values of ibverbs. */
__extension__ enum ibv_exp_qp_attr_mask {
	IBV_EXP_QP_STATE		= IBV_QP_STATE,
	IBV_EXP_QP_CUR_STATE		= IBV_QP_CUR_STATE,
	IBV_EXP_QP_EN_SQD_ASYNC_NOTIFY	= IBV_QP_EN_SQD_ASYNC_NOTIFY,
	IBV_EXP_QP_ACCESS_FLAGS		= IBV_QP_ACCESS_FLAGS,
	IBV_EXP_QP_PKEY_INDEX		= IBV_QP_PKEY_INDEX,
	IBV_EXP_QP_PORT			= IBV_QP_PORT,
	IBV_EXP_QP_QKEY			= IBV_QP_QKEY,
	IBV_EXP_QP_AV			= IBV_QP_AV,
	IBV_EXP_QP_PATH_MTU		= IBV_QP_PATH_MTU,
	IBV_EXP_QP_TIMEOUT		= IBV_QP_TIMEOUT,
	IBV_EXP_QP_RETRY_CNT		= IBV_QP_RETRY_CNT,
	IBV_EXP_QP_RNR_RETRY		= IBV_QP_RNR_RETRY,
	IBV_EXP_QP_RQ_PSN		= IBV_QP_RQ_PSN,
	IBV_EXP_QP_MAX_QP_RD_ATOMIC	= IBV_QP_MAX_QP_RD_ATOMIC,
	IBV_EXP_QP_ALT_PATH		= IBV_QP_ALT_PATH,
	IBV_EXP_QP_MIN_RNR_TIMER	= IBV_QP_MIN_RNR_TIMER,
	IBV_EXP_QP_SQ_PSN		= IBV_QP_SQ_PSN,
	IBV_EXP_QP_MAX_DEST_RD_ATOMIC	= IBV_QP_MAX_DEST_RD_ATOMIC,
	IBV_EXP_QP_PATH_MIG_STATE	= IBV_QP_PATH_MIG_STATE,
	IBV_EXP_QP_CAP			= IBV_QP_CAP,
	IBV_EXP_QP_DEST_QPN		= IBV_QP_DEST_QPN,

	IBV_EXP_QP_GROUP_RSS		= IBV_EXP_START_FLAG << 21,	/* not supported */
	IBV_EXP_QP_DC_KEY		= IBV_EXP_START_FLAG << 22,
	IBV_EXP_QP_FLOW_ENTROPY		= IBV_EXP_START_FLAG << 23,	/* not supported */
	IBV_EXP_QP_OOO_RW_DATA_PLACEMENT	= IBV_EXP_START_FLAG << 24,	/* not supported */
	IBV_EXP_QP_RATE_LIMIT		= IBV_EXP_START_FLAG << 25,	/* not supported */
};

#define IBV_QP_DC_KEY	IBV_EXP_QP_DC_KEY	/* name in the manual */

enum ibv_exp_qp_attr_comp_mask {
	IBV_EXP_QP_ATTR_FLOW_ENTROPY	= 1 << 0,	/* not supported */
	IBV_EXP_QP_ATTR_RESERVED	= 1 << 1,
};

/* The members before dct_key are those of struct ibv_qp_attr. */
struct ibv_exp_qp_attr {
	enum ibv_qp_state qp_state;
	enum ibv_qp_state cur_qp_state;
	enum ibv_mtu path_mtu;
	enum ibv_mig_state path_mig_state;
	uint32_t qkey;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t dest_qp_num;
	int qp_access_flags;
	struct ibv_qp_cap cap;
	struct ibv_ah_attr ah_attr;
	struct ibv_ah_attr alt_ah_attr;
	uint16_t pkey_index;
	uint16_t alt_pkey_index;
	uint8_t en_sqd_async_notify;
	uint8_t sq_draining;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t min_rnr_timer;
	uint8_t port_num;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t alt_port_num;
	uint8_t alt_timeout;
	uint64_t dct_key;
	uint32_t comp_mask;			/* 0 */
	uint32_t flow_entropy;
	uint32_t rate_limit;
};

int ibv_exp_modify_qp(struct ibv_qp *qp, struct ibv_exp_qp_attr *attr, uint64_t exp_attr_mask);

/* The manual names this function (A.1.1) and does not describe it. */
int ibv_exp_query_qp(struct ibv_qp *qp, struct ibv_exp_qp_attr *attr, uint64_t exp_attr_mask,
		     struct ibv_exp_qp_init_attr *init_attr);

/* ---- Shared receive queues ------------------------------------------------------------ */

enum ibv_exp_srq_type {
	IBV_EXP_SRQT_BASIC,
	IBV_EXP_SRQT_XRC,
	IBV_EXP_SRQT_TAG_MATCHING,		/* not supported */
};

enum ibv_exp_create_srq_attr_comp_mask {
	IBV_EXP_CREATE_SRQ_XRCD			= 1 << 0,
	IBV_EXP_CREATE_SRQ_CQ			= 1 << 1,
	IBV_EXP_CREATE_SRQ_TM			= 1 << 2,	/* not supported, also below */
	IBV_EXP_CREATE_SRQ_DC_OFFLOAD_PARAMS	= 1 << 3,
	IBV_EXP_CREATE_SRQ_MP_WR		= 1 << 4,
	IBV_EXP_CREATE_SRQ_RESERVED		= 1 << 5,
};

struct ibv_exp_srq_dc_offload_params;

struct ibv_exp_create_srq_attr {
	struct ibv_srq_init_attr base;		/* output: the actual sizes */
	enum ibv_exp_srq_type srq_type;
	struct ibv_pd *pd;
	uint32_t comp_mask;			/* ibv_exp_create_srq_attr_comp_mask */
	struct ibv_cq *cq;			/* XRC */
	struct ibv_xrcd *xrcd;			/* XRC */
	struct {
		uint32_t max_num_tags;
		uint32_t max_ops;
	} tm_cap;
	struct ibv_exp_srq_dc_offload_params *dc_offload_params;
	struct {
		uint8_t log_num_of_strides;
		uint8_t log_stride_size;
	} mp_wr;
};

/* comp_mask is for the types other than BASIC. */
struct ibv_srq *ibv_exp_create_srq(struct ibv_context *context,
				   struct ibv_exp_create_srq_attr *attr);

/* ---- DC targets --------------------------------------------------------------------- */

enum ibv_exp_dct_create_flags {
	IBV_EXP_DCT_OOO_RW_DATA_PLACEMENT	= 1 << 0,	/* not supported */
	IBV_EXP_DCT_CREATE_FLAGS_MASK		= (1 << 1) - 1,
};

struct ibv_exp_dct_init_attr {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint64_t dc_key;
	uint8_t port;
	uint32_t access_flags;			/* ibv_access_flags */
	uint8_t min_rnr_timer;
	uint8_t tclass;
	uint32_t flow_label;
	enum ibv_mtu mtu;
	uint8_t pkey_index;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint32_t inline_size;			/* not 0: data in completions of 128 bytes */
	uint32_t create_flags;			/* ibv_exp_dct_create_flags */
	uint32_t comp_mask;			/* 0 */
};

enum {
	IBV_EXP_DCT_STATE_ACTIVE,
	IBV_EXP_DCT_STATE_DRAINING,
	IBV_EXP_DCT_STATE_DRAINED,
};

struct ibv_exp_dct_attr {
	uint64_t dc_key;
	uint8_t port;
	uint32_t access_flags;
	uint8_t min_rnr_timer;
	uint8_t tclass;
	uint32_t flow_label;
	enum ibv_mtu mtu;
	uint8_t pkey_index;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint32_t key_violations;
	uint8_t state;				/* IBV_EXP_DCT_STATE_* */
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	uint32_t comp_mask;			/* 0 */
};

struct ibv_exp_dct {
	struct ibv_context *context;
	void *priv;				/* of the library */
	uint32_t handle;
	uint32_t dct_num;
	struct ibv_pd *pd;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
};

struct ibv_exp_arm_attr {
	uint32_t comp_mask;			/* 0 */
};

struct ibv_exp_dct *ibv_exp_create_dct(struct ibv_context *context,
				       struct ibv_exp_dct_init_attr *attr);
int ibv_exp_destroy_dct(struct ibv_exp_dct *dct);

/* The caller sets attr->comp_mask. */
int ibv_exp_query_dct(struct ibv_exp_dct *dct, struct ibv_exp_dct_attr *attr);

/* The next message with a wrong key raises IBV_EXP_EVENT_DCT_KEY_VIOLATION, once. */
int ibv_exp_arm_dct(struct ibv_exp_dct *dct, struct ibv_exp_arm_attr *attr);

/* Asynchronous events that ibverbs does not have; their element is the DCT. */
#define IBV_EXP_EVENT_DCT_KEY_VIOLATION	((enum ibv_event_type)32)
#define IBV_EXP_EVENT_DCT_ACCESS_ERR	((enum ibv_event_type)33)
#define IBV_EXP_EVENT_DCT_REQ_ERR	((enum ibv_event_type)34)

/* ---- Memory ------------------------------------------------------------------------- */

__extension__ enum ibv_exp_access_flags {
	IBV_EXP_ACCESS_LOCAL_WRITE		= IBV_ACCESS_LOCAL_WRITE,
	IBV_EXP_ACCESS_REMOTE_WRITE		= IBV_ACCESS_REMOTE_WRITE,
	IBV_EXP_ACCESS_REMOTE_READ		= IBV_ACCESS_REMOTE_READ,
	IBV_EXP_ACCESS_REMOTE_ATOMIC		= IBV_ACCESS_REMOTE_ATOMIC,
	IBV_EXP_ACCESS_MW_BIND			= IBV_ACCESS_MW_BIND,

	IBV_EXP_ACCESS_ALLOCATE_MR		= IBV_EXP_START_FLAG << 5,
	IBV_EXP_ACCESS_SHARED_MR_USER_READ	= IBV_EXP_START_FLAG << 6,
	IBV_EXP_ACCESS_SHARED_MR_USER_WRITE	= IBV_EXP_START_FLAG << 7,
	IBV_EXP_ACCESS_SHARED_MR_GROUP_READ	= IBV_EXP_START_FLAG << 8,
	IBV_EXP_ACCESS_SHARED_MR_GROUP_WRITE	= IBV_EXP_START_FLAG << 9,
	IBV_EXP_ACCESS_SHARED_MR_OTHER_READ	= IBV_EXP_START_FLAG << 10,
	IBV_EXP_ACCESS_SHARED_MR_OTHER_WRITE	= IBV_EXP_START_FLAG << 11,
	IBV_EXP_ACCESS_NO_RDMA			= IBV_EXP_START_FLAG << 12,
	IBV_EXP_ACCESS_MW_ZERO_BASED		= IBV_EXP_START_FLAG << 13,
	IBV_EXP_ACCESS_ON_DEMAND		= IBV_EXP_START_FLAG << 14,
	IBV_EXP_ACCESS_RELAXED			= IBV_EXP_START_FLAG << 15,
	IBV_EXP_ACCESS_PHYSICAL_ADDR		= IBV_EXP_START_FLAG << 16,
	IBV_EXP_ACCESS_RESERVED			= IBV_EXP_START_FLAG << 17,
};

#define IBV_EXP_IMPLICIT_MR_SIZE	(~(size_t)0)	/* all of the memory: not supported */

enum ibv_exp_reg_mr_in_comp_mask {
	IBV_EXP_REG_MR_CREATE_FLAGS	= 1 << 0,
	IBV_EXP_REG_MR_RESERVED		= 1 << 1,
};

enum ibv_exp_reg_mr_create_flags {
	IBV_EXP_REG_MR_CREATE_CONTIG	= 1 << 0,	/* not supported */
};

struct ibv_exp_reg_mr_in {
	struct ibv_pd *pd;
	void *addr;
	size_t length;
	uint64_t exp_access;			/* ibv_exp_access_flags */
	uint32_t comp_mask;			/* ibv_exp_reg_mr_in_comp_mask */
	uint32_t create_flags;
};

struct ibv_mr *ibv_exp_reg_mr(struct ibv_exp_reg_mr_in *in);

enum ibv_exp_rereg_mr_flags {
	IBV_EXP_REREG_MR_CHANGE_TRANSLATION	= IBV_REREG_MR_CHANGE_TRANSLATION,
	IBV_EXP_REREG_MR_CHANGE_PD		= IBV_REREG_MR_CHANGE_PD,
	IBV_EXP_REREG_MR_CHANGE_ACCESS		= IBV_REREG_MR_CHANGE_ACCESS,
};

struct ibv_exp_rereg_mr_attr {
	uint32_t comp_mask;			/* 0 */
};

int ibv_exp_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		     uint64_t exp_access, struct ibv_exp_rereg_mr_attr *attr);

struct ibv_exp_mw_bind_info {
	struct ibv_mr *mr;
	uint64_t addr;
	uint64_t length;
	uint64_t exp_mw_access_flags;		/* ibv_exp_access_flags */
};

/* A window of type 1 */
struct ibv_exp_mw_bind {
	struct ibv_qp *qp;
	struct ibv_mw *mw;
	uint64_t wr_id;
	uint64_t exp_send_flags;		/* ibv_exp_send_flags */
	struct ibv_exp_mw_bind_info bind_info;
	uint32_t comp_mask;			/* 0 */
};

int ibv_exp_bind_mw(struct ibv_exp_mw_bind *mw_bind);

/* ---- Indirect keys (UMR) ------------------------------------------------------------ */

enum ibv_exp_mr_create_flags {
	IBV_EXP_MR_SIGNATURE_EN		= 1 << 0,	/* not supported */
	IBV_EXP_MR_INDIRECT_KLMS	= 1 << 1,
};

struct ibv_exp_mr_init_attr {
	__extension__ union {
		uint64_t max_reg_descriptors;	/* name in the manual */
		uint32_t max_klm_list_size;	/* name in MLNX_OFED */
	};
	uint32_t create_flags;			/* ibv_exp_mr_create_flags */
	__extension__ union {
		uint64_t access_flags;		/* name in the manual */
		uint64_t exp_access_flags;	/* name in MLNX_OFED */
	};
	uint32_t comp_mask;			/* ignored: MLNX_OFED does not have it */
};

struct ibv_exp_create_mr_in {
	struct ibv_pd *pd;
	struct ibv_exp_mr_init_attr attr;
	uint32_t comp_mask;			/* 0 */
};

/*
 * A key without contents, which a request with IBV_EXP_WR_UMR_FILL fills.  ibv_dereg_mr() destroys
 * it.
 */
struct ibv_mr *ibv_exp_create_mr(struct ibv_exp_create_mr_in *create_mr_in);

struct ibv_exp_mkey_attr {
	__extension__ union {
		int n_mkey_entries;		/* name in the manual */
		uint32_t max_klm_list_size;	/* name in MLNX_OFED */
	};
	uint32_t comp_mask;			/* 0 */
};

int ibv_exp_query_mkey(struct ibv_mr *mr, struct ibv_exp_mkey_attr *query_mkey_in);

enum ibv_exp_mkey_list_type {
	IBV_EXP_MKEY_LIST_TYPE_INDIRECT_MR,
};

#define IBV_MEM_REG_MKEY	IBV_EXP_MKEY_LIST_TYPE_INDIRECT_MR	/* name in the manual */

struct ibv_exp_mkey_list_container_attr {
	struct ibv_pd *pd;
	uint32_t mkey_list_type;		/* ibv_exp_mkey_list_type */
	uint32_t max_klm_list_size;
	uint32_t comp_mask;			/* 0 */
};

struct ibv_exp_mkey_list_container {
	uint32_t max_klm_list_size;
	struct ibv_context *context;
};

#define non_inline_data		ibv_exp_mkey_list_container	/* name in the manual */

/* Memory for the list of a key, if it does not fit into a request */
struct ibv_exp_mkey_list_container *
ibv_exp_alloc_mkey_list_memory(struct ibv_exp_mkey_list_container_attr *attr);
int ibv_exp_dealloc_mkey_list_memory(struct ibv_exp_mkey_list_container *mem);

/* ---- Requests ----------------------------------------------------------------------- */

enum ibv_exp_calc_op {
	IBV_EXP_CALC_OP_ADD,
	IBV_EXP_CALC_OP_MAXLOC,
	IBV_EXP_CALC_OP_BAND,
	IBV_EXP_CALC_OP_BXOR,
	IBV_EXP_CALC_OP_BOR,
	IBV_EXP_CALC_OP_NUMBER,
};

enum ibv_exp_calc_data_type {
	IBV_EXP_CALC_DATA_TYPE_INT,
	IBV_EXP_CALC_DATA_TYPE_UINT,
	IBV_EXP_CALC_DATA_TYPE_FLOAT,
	IBV_EXP_CALC_DATA_TYPE_NUMBER,
};

enum ibv_exp_calc_data_size {
	IBV_EXP_CALC_DATA_SIZE_64_BIT,
	IBV_EXP_CALC_DATA_SIZE_NUMBER,
};

enum ibv_exp_wr_opcode {
	IBV_EXP_WR_RDMA_WRITE		= IBV_WR_RDMA_WRITE,
	IBV_EXP_WR_RDMA_WRITE_WITH_IMM	= IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_EXP_WR_SEND			= IBV_WR_SEND,
	IBV_EXP_WR_SEND_WITH_IMM	= IBV_WR_SEND_WITH_IMM,
	IBV_EXP_WR_RDMA_READ		= IBV_WR_RDMA_READ,
	IBV_EXP_WR_ATOMIC_CMP_AND_SWP	= IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_EXP_WR_ATOMIC_FETCH_AND_ADD	= IBV_WR_ATOMIC_FETCH_AND_ADD,

	IBV_EXP_WR_SEND_WITH_INV	= 8 + IBV_EXP_START_ENUM,
	IBV_EXP_WR_LOCAL_INV		= 10 + IBV_EXP_START_ENUM,
	IBV_EXP_WR_BIND_MW		= 14 + IBV_EXP_START_ENUM,
	IBV_EXP_WR_TSO			= 15 + IBV_EXP_START_ENUM,	/* not supported */
	IBV_EXP_WR_SEND_ENABLE		= 0x20 + IBV_EXP_START_ENUM,
	IBV_EXP_WR_RECV_ENABLE,
	IBV_EXP_WR_CQE_WAIT,
	IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP,
	IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
	IBV_EXP_WR_NOP,							/* not supported */
	IBV_EXP_WR_UMR_FILL,
	IBV_EXP_WR_UMR_INVALIDATE,
};

__extension__ enum ibv_exp_send_flags {
	IBV_EXP_SEND_FENCE		= IBV_SEND_FENCE,
	IBV_EXP_SEND_SIGNALED		= IBV_SEND_SIGNALED,
	IBV_EXP_SEND_SOLICITED		= IBV_SEND_SOLICITED,
	IBV_EXP_SEND_INLINE		= IBV_SEND_INLINE,

	IBV_EXP_SEND_IP_CSUM		= IBV_EXP_START_FLAG << 0,	/* not supported */
	IBV_EXP_SEND_WITH_CALC		= IBV_EXP_START_FLAG << 1,
	IBV_EXP_SEND_WAIT_EN_LAST	= IBV_EXP_START_FLAG << 2,
	IBV_EXP_SEND_EXT_ATOMIC_INLINE	= IBV_EXP_START_FLAG << 3,
};

/*
 * Arguments of masked atomics.  Up to 8 bytes they are values, of which an operand of 4 bytes
 * takes the lower half.  Above, they are addresses of arrays of 64-bit numbers.
 */
struct ibv_exp_cmp_swap {
	uint64_t compare_mask;
	uint64_t compare_val;
	uint64_t swap_val;
	uint64_t swap_mask;
};

struct ibv_exp_fetch_add {
	uint64_t add_val;
	uint64_t field_boundary;
};

struct ibv_exp_mem_region {
	uint64_t base_addr;
	struct ibv_mr *mr;
	size_t length;
};

/* The arrays have an element for each dimension. */
struct ibv_exp_mem_repeat_block {
	uint64_t base_addr;
	struct ibv_mr *mr;
	size_t *byte_count;
	size_t *stride;
};

enum ibv_exp_umr_wr_type {
	IBV_EXP_UMR_MR_LIST,
	IBV_EXP_UMR_REPEAT,
};

struct ibv_exp_send_wr {
	uint64_t wr_id;
	struct ibv_exp_send_wr *next;
	struct ibv_sge *sg_list;
	int num_sge;
	enum ibv_exp_wr_opcode exp_opcode;
	int reserved;
	union {
		uint32_t imm_data;		/* network byte order */
		uint32_t invalidate_rkey;
	} ex;
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct ibv_ah *ah;
			uint32_t remote_qpn;
			uint32_t remote_qkey;
		} ud;
	} wr;
	__extension__ union {
		union {
			struct {
				uint32_t remote_srqn;
			} xrc;
		} qp_type;
		uint32_t xrc_remote_srq_num;
	};
	union {
		struct {
			uint64_t remote_addr;	/* rdma and atomic: not used, see wr */
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct ibv_cq *cq;
			int32_t cq_count;
		} cqe_wait;
		struct {
			struct ibv_qp *qp;
			int32_t wqe_count;	/* 0: all that are posted */
		} wqe_enable;
	} task;
	union {
		struct {
			enum ibv_exp_calc_op calc_op;
			enum ibv_exp_calc_data_type data_type;
			enum ibv_exp_calc_data_size data_size;
		} calc;
	} op;
	struct {
		struct ibv_ah *ah;
		uint64_t dct_access_key;
		uint32_t dct_number;
	} dc;
	struct {
		struct ibv_mw *mw;
		uint32_t rkey;
		struct ibv_exp_mw_bind_info bind_info;
	} bind_mw;
	uint64_t exp_send_flags;		/* ibv_exp_send_flags */
	uint32_t comp_mask;			/* ignored */
	union {
		struct {
			uint32_t umr_type;	/* ibv_exp_umr_wr_type */
			/* Without IBV_EXP_SEND_INLINE */
			struct ibv_exp_mkey_list_container *memory_objects;
			uint64_t exp_access;	/* ibv_exp_access_flags */
			struct ibv_mr *modified_mr;
			uint64_t base_addr;
			uint32_t num_mrs;	/* elements of the list */
			union {
				struct ibv_exp_mem_region *mem_reg_list;
				struct {
					struct ibv_exp_mem_repeat_block *mem_repeat_block_list;
					size_t *repeat_count;	/* for each dimension */
					uint32_t stride_dim;	/* 1 */
				} rb;
			} mem_list;
		} umr;
		struct {
			uint32_t log_arg_sz;	/* log2 of the operand size in bytes */
			uint64_t remote_addr;
			uint32_t rkey;
			union {
				struct {
					union {
						struct ibv_exp_cmp_swap cmp_swap;
						struct ibv_exp_fetch_add fetch_add;
					} op;
				} inline_data;		/* names in section 3.8.3 */
				struct {
					union {
						struct ibv_exp_cmp_swap cmp_swap;
						struct ibv_exp_fetch_add fetch_add;
					} inline_data;
				} op;			/* names in appendix B */
			} wr_data;
		} masked_atomics;
	} ext_op;
};

/*
 * Posts a list.  After an error *bad_wr, unless bad_wr is null, is the first request that was not
 * posted.  Makes no system call and allocates no memory; so does ibv_exp_post_task().
 */
int ibv_exp_post_send(struct ibv_qp *qp, struct ibv_exp_send_wr *wr,
		      struct ibv_exp_send_wr **bad_wr);

enum ibv_exp_task_type {
	IBV_EXP_TASK_SEND,
	IBV_EXP_TASK_RECV,
};

struct ibv_exp_task {
	enum ibv_exp_task_type task_type;
	struct {
		struct ibv_qp *qp;
		__extension__ union {
			struct ibv_exp_send_wr *send_wr;
			struct ibv_recv_wr *recv_wr;
		};
	} item;
	struct ibv_exp_task *next;
	uint32_t comp_mask;			/* ignored */
};

/* Posts task by task.  After an error *bad_task is the one that failed; bad_task may be null. */
int ibv_exp_post_task(struct ibv_context *context, struct ibv_exp_task *task,
		      struct ibv_exp_task **bad_task);

/* ---- Functions as pointers ----------------------------------------------------------- */

enum ibv_exp_func_name {
	IBV_EXP_POST_SEND_FUNC,
	IBV_EXP_POLL_CQ_FUNC,
	IBV_POST_SEND_FUNC,
	IBV_POLL_CQ_FUNC,
	IBV_POST_RECV_FUNC,
};

typedef int (*drv_exp_post_send_func)(struct ibv_qp *qp, struct ibv_exp_send_wr *wr,
				      struct ibv_exp_send_wr **bad_wr);
typedef int (*drv_exp_poll_cq_func)(struct ibv_cq *cq, int num_entries, struct ibv_exp_wc *wc,
				    uint32_t wc_size);
typedef int (*drv_post_send_func)(struct ibv_qp *qp, struct ibv_send_wr *wr,
				  struct ibv_send_wr **bad_wr);
typedef int (*drv_poll_cq_func)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
typedef int (*drv_post_recv_func)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				  struct ibv_recv_wr **bad_wr);

/* Returns a function of the type above that has this name, for objects of the context. */
void *ibv_exp_get_provider_func(struct ibv_context *context, enum ibv_exp_func_name name);

/* ---- Not supported ------------------------------------------------------------------ */

/* These fail: they return NULL, -1 or the error number; errno is EOPNOTSUPP. */

enum ibv_exp_prefetch_attr_flags {
	IBV_EXP_PREFETCH_WRITE_ACCESS	= 1 << 0,
};

struct ibv_exp_prefetch_attr {
	uint32_t flags;				/* ibv_exp_prefetch_attr_flags */
	void *addr;
	size_t length;
	uint32_t comp_mask;			/* 0 */
};

enum ibv_exp_flow_flags {
	IBV_EXP_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK	= 1 << 0,
};

enum ibv_exp_flow_attr_type {
	IBV_EXP_FLOW_ATTR_NORMAL,
	IBV_EXP_FLOW_ATTR_ALL_DEFAULT,
	IBV_EXP_FLOW_ATTR_MC_DEFAULT,
	IBV_EXP_FLOW_ATTR_SNIFFER,
};

enum ibv_exp_flow_spec_type {
	IBV_EXP_FLOW_SPEC_ETH		= 0x20,
	IBV_EXP_FLOW_SPEC_IB		= 0x21,
	IBV_EXP_FLOW_SPEC_IPV4		= 0x30,
	IBV_EXP_FLOW_SPEC_IPV6		= 0x31,
	IBV_EXP_FLOW_SPEC_IPV4_EXT	= 0x32,
	IBV_EXP_FLOW_SPEC_IPV6_EXT	= 0x33,
	IBV_EXP_FLOW_SPEC_TCP		= 0x40,
	IBV_EXP_FLOW_SPEC_UDP		= 0x41,
	IBV_EXP_FLOW_SPEC_VXLAN_TUNNEL	= 0x50,
	IBV_EXP_FLOW_SPEC_INNER		= 0x100,	/* bit: the inner header */
	IBV_EXP_FLOW_SPEC_ACTION_TAG	= 0x1000,
};

struct ibv_exp_flow_eth_filter {
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	uint16_t ether_type;
	uint16_t vlan_tag;
};

struct ibv_exp_flow_ib_filter {
	uint32_t qpn;
	uint8_t dst_gid[16];
};

struct ibv_exp_flow_ipv4_filter {
	uint32_t src_ip;
	uint32_t dst_ip;
};

struct ibv_exp_flow_ipv4_ext_filter {
	uint32_t src_ip;
	uint32_t dst_ip;
	uint8_t proto;
	uint8_t tos;
	uint8_t ttl;
	uint8_t flags;
};

struct ibv_exp_flow_ipv6_filter {
	uint8_t src_ip[16];
	uint8_t dst_ip[16];
};

struct ibv_exp_flow_ipv6_ext_filter {
	uint8_t src_ip[16];
	uint8_t dst_ip[16];
	uint32_t flow_label;
	uint8_t next_hdr;
	uint8_t traffic_class;
	uint8_t hop_limit;
};

struct ibv_exp_flow_tcp_udp_filter {
	uint16_t dst_port;
	uint16_t src_port;
};

struct ibv_exp_flow_tunnel_filter {
	uint32_t tunnel_id;
};

#define __IBV_EXP_FLOW_SPEC(name)				\
	struct ibv_exp_flow_spec_##name {			\
		enum ibv_exp_flow_spec_type type;		\
		uint16_t size;					\
		struct ibv_exp_flow_##name##_filter val;	\
		struct ibv_exp_flow_##name##_filter mask;	\
	}

__IBV_EXP_FLOW_SPEC(eth);
__IBV_EXP_FLOW_SPEC(ib);
__IBV_EXP_FLOW_SPEC(ipv4);
__IBV_EXP_FLOW_SPEC(ipv4_ext);
__IBV_EXP_FLOW_SPEC(ipv6);
__IBV_EXP_FLOW_SPEC(ipv6_ext);
__IBV_EXP_FLOW_SPEC(tcp_udp);
__IBV_EXP_FLOW_SPEC(tunnel);
#undef __IBV_EXP_FLOW_SPEC

struct ibv_exp_flow_spec_action_tag {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	uint32_t tag_id;
};

__extension__ struct ibv_exp_flow_spec {
	union {
		struct {
			uint32_t type;
			uint16_t size;
		} hdr;
		struct ibv_exp_flow_spec_eth eth;
		struct ibv_exp_flow_spec_ib ib;
		struct ibv_exp_flow_spec_ipv4 ipv4;
		struct ibv_exp_flow_spec_ipv4_ext ipv4_ext;
		struct ibv_exp_flow_spec_ipv6 ipv6;
		struct ibv_exp_flow_spec_ipv6_ext ipv6_ext;
		struct ibv_exp_flow_spec_tcp_udp tcp_udp;
		struct ibv_exp_flow_spec_tunnel tunnel;
		struct ibv_exp_flow_spec_action_tag flow_tag;
	};
};

/* The specifications are behind it in memory. */
struct ibv_exp_flow_attr {
	enum ibv_exp_flow_attr_type type;
	uint16_t size;				/* with the specifications */
	uint16_t priority;
	uint8_t num_of_specs;
	uint8_t port;
	uint32_t flags;				/* ibv_exp_flow_flags */
	uint64_t reserved;			/* 0 */
};

struct ibv_exp_flow {
	struct ibv_context *context;
	uint32_t handle;
};

#define IBV_EXP_NUM_DC_INFO_LIDS	30

struct ibv_exp_dc_info_ent {
	uint16_t lid[IBV_EXP_NUM_DC_INFO_LIDS];
	uint32_t seqnum;
};

struct ibv_exp_reg_shared_mr_in {
	uint32_t mr_handle;
	struct ibv_pd *pd;
	void *addr;
	uint64_t exp_access;			/* ibv_exp_access_flags */
	uint32_t comp_mask;			/* 0 */
};

struct ibv_exp_query_intf_params;
struct ibv_exp_release_intf_params;
struct ibv_exp_rwq_ind_table;
struct ibv_exp_rwq_ind_table_init_attr;
struct ibv_exp_wq;
struct ibv_exp_wq_attr;
struct ibv_exp_wq_init_attr;

enum ibv_exp_query_intf_status {
	IBV_EXP_INTF_STAT_OK,
	IBV_EXP_INTF_STAT_VENDOR_NOT_SUPPORTED,
	IBV_EXP_INTF_STAT_INTF_NOT_SUPPORTED,
};

int ibv_exp_prefetch_mr(struct ibv_mr *mr, struct ibv_exp_prefetch_attr *attr);
struct ibv_mr *ibv_exp_reg_shared_mr(struct ibv_exp_reg_shared_mr_in *in);
struct ibv_exp_flow *ibv_exp_create_flow(struct ibv_qp *qp, struct ibv_exp_flow_attr *flow);
int ibv_exp_destroy_flow(struct ibv_exp_flow *flow);
struct ibv_exp_wq *ibv_exp_create_wq(struct ibv_context *context,
				     struct ibv_exp_wq_init_attr *attr);
int ibv_exp_modify_wq(struct ibv_exp_wq *wq, struct ibv_exp_wq_attr *attr);
int ibv_exp_destroy_wq(struct ibv_exp_wq *wq);
struct ibv_exp_rwq_ind_table *
ibv_exp_create_rwq_ind_table(struct ibv_context *context,
			     struct ibv_exp_rwq_ind_table_init_attr *attr);
int ibv_exp_destroy_rwq_ind_table(struct ibv_exp_rwq_ind_table *table);
void *ibv_exp_query_intf(struct ibv_context *context, struct ibv_exp_query_intf_params *params,
			 enum ibv_exp_query_intf_status *status);
int ibv_exp_release_intf(struct ibv_context *context, void *intf,
			 struct ibv_exp_release_intf_params *params);
int ibv_exp_poll_dc_info(struct ibv_context *context, struct ibv_exp_dc_info_ent *ents, int nent,
			 int port);

#ifdef __cplusplus
}
#endif

#endif
