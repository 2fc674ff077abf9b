/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Management datagrams (MADs) and the records of subnet administration (SA).
 *
 * The formats are those of the InfiniBand Architecture Specification, volume 1: chapter 13 for
 * the header, chapter 15 for subnet administration.  The kernel has them in rdma/ib_mad.h and
 * in the tables of drivers/infiniband/core/sa_query.c.  Headers of the kernel other than those
 * of mlx5 do not compile in user space, so they are repeated here; mad_layout.c compares them.
 */
#ifndef _HCA_MAD_H
#define _HCA_MAD_H

#include <linux/types.h>

#define HCA_MAD_BASE_VERSION	1
#define HCA_MAD_RESPONSE	0x80		/* bit of the method */
#define HCA_MAD_QKEY		0x80010000u	/* Q_Key of each QP1 */

enum {
	HCA_CLASS_SMP = 0x01, HCA_CLASS_SA = 0x03, HCA_CLASS_PMA = 0x04,
	HCA_CLASS_SMP_DIRECTED = 0x81,
};

enum {
	HCA_METHOD_GET = 0x01, HCA_METHOD_SET = 0x02, HCA_METHOD_SEND = 0x03,
	HCA_METHOD_TRAP = 0x05, HCA_METHOD_REPORT = 0x06, HCA_METHOD_TRAP_REPRESS = 0x07,
	HCA_METHOD_GET_TABLE = 0x12, HCA_METHOD_DELETE = 0x15,
};

/* Status: the low byte is common to all classes, the high byte is that of SA. */
enum {
	HCA_MAD_OK = 0,
	HCA_MAD_BAD_VERSION = 0x0004,
	HCA_MAD_BAD_METHOD = 0x0008,
	HCA_MAD_BAD_ATTRIBUTE = 0x000c,		/* method not supported for this attribute */
	HCA_MAD_BAD_VALUE = 0x001c,		/* of a field or of the modifier */
	HCA_SA_NO_RESOURCES = 0x0100,
	HCA_SA_INVALID = 0x0200,
	HCA_SA_NO_RECORDS = 0x0300,
	HCA_SA_TOO_MANY_RECORDS = 0x0400,
	HCA_SA_INVALID_GID = 0x0500,
	HCA_SA_TOO_FEW_COMPONENTS = 0x0600,
	HCA_SA_DENIED = 0x0700,
};

/* RMPP, which carries answers that are longer than a MAD: chapter 13.6 */
#define HCA_RMPP_VERSION	1
enum { HCA_RMPP_DATA = 1, HCA_RMPP_ACK = 2, HCA_RMPP_STOP = 3, HCA_RMPP_ABORT = 4 };
enum { HCA_RMPP_ACTIVE = 1, HCA_RMPP_FIRST = 2, HCA_RMPP_LAST = 4, HCA_RMPP_NO_TIME = 0x1f << 3 };

#define HCA_SA_VERSION		2		/* of the class */
#define HCA_SA_HEADER		20		/* bytes from sm_key to data */
#define HCA_SA_DATA		200

/* A MAD of subnet administration */
struct hca_mad {
	u8 base_version, mgmt_class, class_version, method;
	__be16 status, class_specific;
	__be64 tid;
	__be16 attr_id, reserved;
	__be32 attr_mod;
	u8 rmpp_version, rmpp_type, rmpp_flags, rmpp_status;
	__be32 segment;
	__be32 payload;				/* of an ACK: the last segment to send */
	__be64 sm_key;
	__be16 attr_offset, reserved2;		/* size of a record, in units of 8 bytes */
	__be64 comp_mask;
	u8 data[HCA_SA_DATA];
} __packed;

enum {
	HCA_ATTR_CLASS_PORT_INFO = 0x01,
	HCA_ATTR_NODE_RECORD = 0x11,
	HCA_ATTR_PORT_INFO_RECORD = 0x12,
	HCA_ATTR_PATH_RECORD = 0x35,
	HCA_ATTR_MCMEMBER_RECORD = 0x38,
};

struct hca_class_port_info {
	u8 base_version, class_version;
	__be16 cap_mask;
	__be32 cap_mask2_resp_time;		/* 31:5 mask, 4:0 response time */
	u8 redirect[32], trap[32];
} __packed;

/* Bits of cap_mask and cap_mask2 */
#define HCA_SA_CAP_RECORDS		(1u << 8)	/* optional records */
#define HCA_SA_CAP_UD_MULTICAST		(1u << 9)
#define HCA_SA_CAP_MATCH_CAPS		(1u << 13)
#define HCA_SA_CAP2_SENDONLY_FULL	(1u << 12)

/* A byte with a selector in bits 7:6 and a value below */
enum { HCA_SELECT_GREATER, HCA_SELECT_LESS, HCA_SELECT_EQUAL, HCA_SELECT_BEST };
#define HCA_SELECTED(value)	(HCA_SELECT_EQUAL << 6 | (value))

struct hca_path_record {
	__be64 service_id;
	u8 dgid[16], sgid[16];
	__be16 dlid, slid;
	__be32 flow_hop;			/* 31 raw traffic, 27:8 flow label, 7:0 hop limit */
	u8 tclass, reversible_numb;
	__be16 pkey;
	__be16 qos_sl;				/* 15:4 QoS class, 3:0 SL */
	u8 mtu, rate, life, preference;
	u8 reserved[6];
} __packed;

#define HCA_PATH_SERVICE	(3ull << 0)
#define HCA_PATH_SGID		(1ull << 3)
#define HCA_PATH_SLID		(1ull << 5)
#define HCA_PATH_TCLASS		(1ull << 10)
#define HCA_PATH_SL		(1ull << 15)

/* Subnet management, chapter 14 */
#define HCA_SMP_VERSION		1
#define HCA_SMP_DATA		64

struct hca_smp {
	u8 base_version, mgmt_class, class_version, method;
	__be16 status, hops;
	__be64 tid;
	__be16 attr_id, reserved;
	__be32 attr_mod;
	__be64 mkey;
	u8 directed[32];			/* LIDs of a directed route */
	u8 data[HCA_SMP_DATA];
	u8 paths[128];
} __packed;

struct hca_node_info {
	u8 base_version, class_version, type, ports;
	__be64 system_guid, node_guid, port_guid;
	__be16 pkeys, device;
	__be32 revision;
	u8 number;				/* of the port */
	u8 vendor[3];
} __packed;

struct hca_node_record {
	__be16 lid, reserved;
	struct hca_node_info info;
	u8 description[HCA_SMP_DATA];
} __packed;

/* Performance management, chapter 16.1 */
#define HCA_PMA_VERSION		1
#define HCA_PMA_CAP_EXTENDED	(1u << 9)	/* counters of 64 bits */

struct hca_pma_counters {
	u8 reserved, port;
	__be16 select;
	u8 errors[20];
	__be32 xmit_data, rcv_data, xmit_packets, rcv_packets, xmit_wait;
} __packed;

struct hca_pma_extended {
	u8 reserved, port;
	__be16 select;
	__be32 reserved2;
	__be64 xmit_data, rcv_data, xmit_packets, rcv_packets;
	__be64 ucast_xmit, ucast_rcv, mcast_xmit, mcast_rcv;
} __packed;

struct hca_sm_info {
	__be64 guid, key;
	__be32 count;				/* of its activity */
	u8 state;				/* 7:4 priority, 3:0 state */
	u8 reserved[3];
} __packed;

/* PortInfo, an attribute of the subnet management class (IBA chapter 14) */
struct hca_port_info {
	__be64 mkey, gid_prefix;
	__be16 lid, sm_lid;
	__be32 caps;
	__be16 diag_code, mkey_lease;
	u8 number;
	u8 width_enabled, width_supported, width_active;
	u8 speed_state;				/* 7:4 supported speed, 3:0 state */
	u8 phys_state;				/* 7:4, and 3:0 the state without a link */
	u8 mkey_lmc;
	u8 speed_active;			/* 7:4, and 3:0 enabled */
	u8 mtu_sm_sl;				/* 7:4 active MTU, 3:0 SL of the manager */
	u8 vl_init;				/* 7:4 virtual lanes */
	u8 vl_high_limit, vl_high_cap, vl_low_cap;
	u8 mtu_cap;				/* 3:0 */
	u8 stall_hoq, vl_enforce;
	__be16 mkey_violations, pkey_violations, qkey_violations;
	u8 guid_cap;
	u8 timeout;				/* 4:0 of the subnet */
	u8 response_time, errors;
	__be16 credit_hint;
	__be32 latency;
	__be16 caps2;
	u8 speed_ext;				/* 7:4 active, 3:0 supported */
	u8 speed_ext_enabled;
} __packed;

struct hca_port_info_record {
	__be16 lid;
	u8 number, options;
	struct hca_port_info info;
} __packed;

#define HCA_PORT_CAPS		(1ull << 7)
#define HCA_MATCH_CAPS		(1u << 31)	/* attr_mod: at least these capabilities */

struct hca_mcmember_record {
	u8 mgid[16], port_gid[16];
	__be32 qkey;
	__be16 mlid;
	u8 mtu, tclass;
	__be16 pkey;
	u8 rate, life;
	__be32 sl_flow_hop;			/* 31:28 SL, 27:8 flow label, 7:0 hop limit */
	u8 scope_state;				/* 7:4 scope, 3:0 join state */
	u8 proxy;				/* 7 proxy join */
	u8 reserved[2];
} __packed;

#define HCA_MC_MGID		(1ull << 0)
#define HCA_MC_PORT_GID		(1ull << 1)
#define HCA_MC_QKEY		(1ull << 2)
#define HCA_MC_MTU_SELECTOR	(1ull << 4)
#define HCA_MC_MTU		(1ull << 5)
#define HCA_MC_TCLASS		(1ull << 6)
#define HCA_MC_PKEY		(1ull << 7)
#define HCA_MC_RATE_SELECTOR	(1ull << 8)
#define HCA_MC_RATE		(1ull << 9)
#define HCA_MC_LIFE_SELECTOR	(1ull << 10)
#define HCA_MC_LIFE		(1ull << 11)
#define HCA_MC_SL		(1ull << 12)
#define HCA_MC_FLOW		(1ull << 13)
#define HCA_MC_HOP		(1ull << 14)
#define HCA_MC_JOIN_STATE	(1ull << 16)
#define HCA_MC_PROXY		(1ull << 17)

enum { HCA_JOIN_FULL = 1, HCA_JOIN_NON = 2, HCA_JOIN_SENDONLY = 4, HCA_JOIN_SENDONLY_FULL = 8 };

#define HCA_SA_MLID		0xc000		/* of the first group */
#define HCA_SA_MTU		5		/* 4096 bytes */
#define HCA_SA_RATE		16		/* 100 Gb/s */
#define HCA_SA_LIFE		16		/* packet life time: 4.096 us * 2^16 */
#define HCA_SA_PKEY		0xffff

#endif
