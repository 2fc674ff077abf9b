/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/xverbs: the control path of RDMA verbs on ConnectX adapters.
 *
 * A process opens the file, binds it to one RDMA device and creates objects.
 * Queues, doorbell records and doorbell pages are then mapped with mmap();
 * posting and polling never enter the kernel (formats: rdma/mlx5_ring.h).
 *
 * One ioctl per verb.  Members with the prefix out_ are written by the kernel
 * on success only; all others are read only.
 *
 * Objects are named by handles: numbers above zero out of one table per open
 * file.  Zero stands for "none" where an object is optional.
 *
 * How structures grow.  A published member never changes its place, size or
 * meaning; new members are added at the end of a structure, and zero in a new
 * member means what the structure meant without it.  Programs and kernels of
 * different age work together:
 *
 *  - The structure of an ioctl has the size xverbs_hdr.size.  An older program
 *    passes a shorter one: the kernel reads zeros in place of what is missing,
 *    and writes nothing behind the caller's end.  A newer program passes a
 *    longer one: if what the kernel does not know is zero the call works, and
 *    stays zero; if not, it fails with E2BIG.
 *  - A structure that belongs to several ioctls, or of which an ioctl needs
 *    several, is not embedded.  The ioctl holds a struct xverbs_part, which
 *    points to it and has its size.  The same rules hold for it: an older
 *    program's reads as if zeros followed, or is written up to its size; of a
 *    newer program's the unknown tail must be zero, or is written with zeros.
 *    A part with address and size 0 is absent: it reads as zeros, or is not
 *    written.
 *  - Entries of arrays that the kernel fills (struct xverbs_device,
 *    struct xverbs_feature) have the size entry_size that the caller states.
 *    Each is cut, or padded with zeros, to that size.
 *  - Records that read() returns (struct xverbs_async_event,
 *    struct xverbs_comp_event) have the size that the program stated when it
 *    bound the file or made the channel.  Each is cut, or padded with zeros,
 *    to that size.
 *  - struct xverbs_hdr, struct xverbs_part and struct xverbs_map never grow.
 *  - Reserved members must be zero.  One may get a meaning later; a kernel
 *    that does not know it says EINVAL.
 *  - Flags, types, events and features get new values.  The kernel refuses
 *    unknown ones with EOPNOTSUPP; a program must pass over those that it does
 *    not know in what it reads.
 *  - Texts (reasons, why_not) are for people and may change at any time.
 *    Programs go by error numbers and by the numbers beside the texts.
 *
 * No size may be below that of the first published version: EINVAL.
 *
 * Errors have one meaning each:
 *
 *  - ENOTTY: the kernel does not know this ioctl number
 *  - E2BIG: non-zero bytes behind the members that the kernel knows
 *  - EOPNOTSUPP: unknown flag or unknown value of an extensible member, or the
 *    device lacks the feature
 *  - EINVAL: a known member has a wrong value, a reserved one is not zero, or
 *    the size is below that of the first published version
 *  - ENOENT: no object with this handle, or one of another type; no such
 *    device, port, or table entry
 *  - EBADF: no open file behind a descriptor that the structure names
 *  - EEXIST: there is one already
 *  - EBUSY: the object is in use by another one; the file is bound already
 *  - ENXIO: the file is not bound to a device
 *  - ENODEV: the device has gone.  The file can only be closed.
 *  - EPERM: a privilege is missing
 *  - ENOMEM: out of memory, or over the limit of locked memory
 *	(RLIMIT_MEMLOCK): registered memory, rings and doorbell records count
 *  - ENOSPC: a limit of this file or of the rdma cgroup is reached, or a table
 *	of the device is full
 *  - EREMOTEIO: firmware refused the command
 *  - EFAULT: a pointer does not lead to user memory
 *
 * Besides the error number, a failing call can explain itself: see
 * struct xverbs_hdr.
 *
 * Manual = RDMA Aware Networks Programming User Manual; PRM = the adapters'
 * programmer's reference manual, public in linux/mlx5/mlx5_ifc.h.
 */
#ifndef _UAPI_RDMA_XVERBS_H
#define _UAPI_RDMA_XVERBS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define XVERBS_TYPE	0xbd

#define XVERBS_NAME_MAX		64	/* device name, with its final zero */
#define XVERBS_REASON_MAX	192	/* explanation, with its final zero */

/*
 * The verbs.  Numbers never change meaning.
 *
 *  0x0x  file, device and port		0x3x  queue pairs
 *  0x1x  memory			0x4x  address handles, multicast
 *  0x2x  completion and shared receive	0x5x  DC, indirect memory keys
 */
enum {
	XVERBS_CMD_LIST_DEVICES		= 0x00,
	XVERBS_CMD_BIND			= 0x01,
	XVERBS_CMD_DESTROY		= 0x02,
	XVERBS_CMD_QUERY_DEVICE		= 0x03,
	XVERBS_CMD_QUERY_PORT		= 0x04,
	XVERBS_CMD_QUERY_GID		= 0x05,
	XVERBS_CMD_QUERY_PKEY		= 0x06,
	XVERBS_CMD_QUERY_FEATURES	= 0x07,

	XVERBS_CMD_PD_ALLOC		= 0x10,
	XVERBS_CMD_UAR_ALLOC		= 0x11,
	XVERBS_CMD_MR_REG		= 0x12,
	XVERBS_CMD_MR_REREG		= 0x13,
	XVERBS_CMD_MR_DMABUF		= 0x14,
	XVERBS_CMD_MW_ALLOC		= 0x15,
	XVERBS_CMD_UMEM_REG		= 0x16,
	XVERBS_CMD_XRCD_OPEN		= 0x17,

	XVERBS_CMD_CHANNEL_ALLOC	= 0x20,
	XVERBS_CMD_CQ_CREATE		= 0x21,
	XVERBS_CMD_CQ_MODIFY		= 0x22,
	XVERBS_CMD_CQ_RESIZE		= 0x23,
	XVERBS_CMD_SRQ_CREATE		= 0x28,
	XVERBS_CMD_SRQ_MODIFY		= 0x29,
	XVERBS_CMD_SRQ_QUERY		= 0x2a,

	XVERBS_CMD_QP_CREATE		= 0x30,
	XVERBS_CMD_QP_MODIFY		= 0x31,
	XVERBS_CMD_QP_QUERY		= 0x32,
	XVERBS_CMD_QP_OPEN		= 0x33,

	XVERBS_CMD_AH_RESOLVE		= 0x40,
	XVERBS_CMD_MCAST_ATTACH		= 0x41,
	XVERBS_CMD_MCAST_DETACH		= 0x42,
};

/**
 * struct xverbs_hdr - begins every structure
 * @size: sizeof() of the whole structure as the caller knows it
 * @flags: flags of the verb; zero where none are described
 * @reason: user pointer to a text buffer, or zero.  When the call fails, the
 *	kernel writes there one line (with a final zero) that names object,
 *	attribute and reason, with status and syndrome if firmware refused.
 *	When nothing is to be said the text is empty.
 * @reason_len: bytes at @reason; XVERBS_REASON_MAX suffices always
 * @reserved: zero
 */
struct xverbs_hdr {
	__u32 size;
	__u32 flags;
	__aligned_u64 reason;
	__u32 reason_len;
	__u32 reserved;
};

/**
 * struct xverbs_part - a structure that grows on its own
 * @addr: user pointer to it; 0 if absent
 * @size: its sizeof() as the caller knows it; 0 if absent
 * @reserved: zero
 *
 * A member of this type with the prefix out_ is only read, too; written is
 * what it points to.
 */
struct xverbs_part {
	__aligned_u64 addr;
	__u32 size;
	__u32 reserved;
};

/**
 * struct xverbs_map - what to give to mmap()
 * @offset: file offset of the mapping
 * @length: its exact length
 *
 * Mappings are shared and may not be executable.  They keep their object's
 * memory, but not the hardware object, alive.
 */
struct xverbs_map {
	__aligned_u64 offset;
	__aligned_u64 length;
};

/* ---- File, device, port ------------------------------------------------- */

/**
 * struct xverbs_device - one entry of XVERBS_LIST_DEVICES
 * @node_guid: node GUID, big-endian as in ibv_get_device_guid()
 * @index: number of the RDMA device, stable while it exists
 * @ports: number of its ports, which count from 1
 * @vendor_id: PCI vendor
 * @part_id: PCI device
 * @available: 1 when BIND will accept the device, 0 when not
 * @reserved: zero
 * @name: name of the RDMA device
 * @why_not: if not available: the reason, for people
 */
struct xverbs_device {
	__aligned_u64 node_guid;
	__u32 index;
	__u32 ports;
	__u32 vendor_id;
	__u32 part_id;
	__u32 available;
	__u32 reserved;
	char name[XVERBS_NAME_MAX];
	char why_not[XVERBS_REASON_MAX];
};

/**
 * struct xverbs_list_devices - ioctl(XVERBS_LIST_DEVICES)
 * @hdr: header; no flags
 * @devices: user array of struct xverbs_device
 * @count: its number of entries
 * @entry_size: sizeof(struct xverbs_device) as the caller knows it
 * @out_count: number of devices, which may be above @count
 * @reserved: zero
 *
 * The RDMA devices that the caller's network namespace may see.  Works on an
 * unbound file.
 */
struct xverbs_list_devices {
	struct xverbs_hdr hdr;
	__aligned_u64 devices;
	__u32 count;
	__u32 entry_size;
	__u32 out_count;
	__u32 reserved;
};
#define XVERBS_LIST_DEVICES _IO(XVERBS_TYPE, XVERBS_CMD_LIST_DEVICES)

/* xverbs_bind.hdr.flags */
#define XVERBS_BIND_BY_INDEX	(1u << 0)	/* by @index, not by @name */

/**
 * struct xverbs_bind - ioctl(XVERBS_BIND)
 * @hdr: header; XVERBS_BIND_*
 * @index: number of the RDMA device, with XVERBS_BIND_BY_INDEX
 * @async_event_size: sizeof(struct xverbs_async_event) as the caller knows it,
 *	a multiple of 8 up to XVERBS_EVENT_SIZE_MAX: the size of each record that
 *	read() returns.  0: that of the first published version
 * @name: name of the RDMA device, otherwise
 *
 * Ties the file to a device, once; index and name return as that device has them.
 */
struct xverbs_bind {
	struct xverbs_hdr hdr;
	__u32 index;
	__u32 async_event_size;
	char name[XVERBS_NAME_MAX];
};
#define XVERBS_BIND _IO(XVERBS_TYPE, XVERBS_CMD_BIND)

/**
 * struct xverbs_destroy - ioctl(XVERBS_DESTROY)
 * @hdr: header; no flags
 * @handle: any object of the file
 * @out_comp_events: CQ: completion events that were read for it
 * @out_async_events: asynchronous events that were read for the object
 * @reserved: zero
 *
 * EBUSY while another object uses it.  Events not yet read are dropped; the
 * counts let a library wait until every event read is acknowledged (Manual
 * 3.6.9, 3.7.2).
 *
 * EREMOTEIO and the like: firmware does not destroy it.  The object stays and
 * can be destroyed again, with two exceptions: a completion queue raises no
 * events any more, and a doorbell page is not mapped any more.
 */
struct xverbs_destroy {
	struct xverbs_hdr hdr;
	__u32 handle;
	__u32 out_comp_events;
	__u32 out_async_events;
	__u32 reserved;
};
#define XVERBS_DESTROY _IO(XVERBS_TYPE, XVERBS_CMD_DESTROY)

/* xverbs_query_device.out_atomic_cap */
#define XVERBS_ATOMIC_NONE	0
#define XVERBS_ATOMIC_HCA	1	/* atomic among requests of this adapter */
#define XVERBS_ATOMIC_GLOB	2	/* and with the CPUs */

/**
 * struct xverbs_query_device - ioctl(XVERBS_QUERY_DEVICE)
 * @hdr: header; no flags
 * @out_node_guid: node GUID, big-endian
 * @out_sys_image_guid: GUID of the whole adapter, big-endian
 * @out_max_mr_size: bytes in a memory region
 * @out_page_size_cap: bit mask of page sizes
 * @out_device_cap_flags: as ibv_device_attr_ex.device_cap_flags_ex
 * @out_fw_version: 63:32 major, 31:16 minor, 15:0 sub-minor
 * @out_hca_core_clock_khz: rate of CQE timestamps, 0 if unknown
 * @out_max_dm_size: bytes of device memory
 * @out_vendor_id: as ibv_device_attr
 * @out_vendor_part_id: as ibv_device_attr
 * @out_hw_ver: as ibv_device_attr
 * @out_max_qp: queue pairs
 * @out_max_qp_wr: work requests on a work queue, of the smallest kind
 * @out_max_sge: elements of a list, of a send or receive
 * @out_max_sge_rd: elements of the list of an RDMA read
 * @out_max_cq: completion queues
 * @out_max_cqe: entries of a completion queue
 * @out_max_mr: memory regions
 * @out_max_pd: protection domains
 * @out_max_qp_rd_atom: reads and atomics in flight per QP, as target
 * @out_max_res_rd_atom: the same over all QPs
 * @out_max_qp_init_rd_atom: in flight per QP, as initiator
 * @out_atomic_cap: XVERBS_ATOMIC_*
 * @out_masked_atomic_cap: XVERBS_ATOMIC_* of masked atomics
 * @out_max_mw: memory windows
 * @out_max_raw_ipv6_qp: as ibv_device_attr
 * @out_max_mcast_grp: multicast groups
 * @out_max_mcast_qp_attach: QPs per group
 * @out_max_total_mcast_qp_attach: over all groups
 * @out_max_ah: address handles
 * @out_max_srq: shared receive queues
 * @out_max_srq_wr: entries of an SRQ
 * @out_max_srq_sge: elements of the list of an SRQ entry
 * @out_max_pkeys: partitions
 * @out_local_ca_ack_delay: as ibv_device_attr
 * @out_phys_port_cnt: ports
 * @out_num_comp_vectors: completion vectors
 * @out_odp_caps: zero: xverbs has no on-demand paging
 * @out_max_sq_wqebbs: 64-byte blocks of a send queue
 * @out_max_inline_data: bytes of inline data in a send (RC)
 * @out_cqe_version: 1: a CQE carries the user index (PRM: cqe_version)
 * @out_max_file_objects: objects that this file may hold
 * @out_bf_bytes: BlueFlame buffer, 0 if there is none
 * @out_umr_fence: PRM: umr_fence
 *
 * Manual 3.3.1; the rest from the PRM's HCA capabilities.
 */
struct xverbs_query_device {
	struct xverbs_hdr hdr;
	__aligned_u64 out_node_guid;
	__aligned_u64 out_sys_image_guid;
	__aligned_u64 out_max_mr_size;
	__aligned_u64 out_page_size_cap;
	__aligned_u64 out_device_cap_flags;
	__aligned_u64 out_fw_version;
	__aligned_u64 out_hca_core_clock_khz;
	__aligned_u64 out_max_dm_size;
	__u32 out_vendor_id;
	__u32 out_vendor_part_id;
	__u32 out_hw_ver;
	__u32 out_max_qp;
	__u32 out_max_qp_wr;
	__u32 out_max_sge;
	__u32 out_max_sge_rd;
	__u32 out_max_cq;
	__u32 out_max_cqe;
	__u32 out_max_mr;
	__u32 out_max_pd;
	__u32 out_max_qp_rd_atom;
	__u32 out_max_res_rd_atom;
	__u32 out_max_qp_init_rd_atom;
	__u32 out_atomic_cap;
	__u32 out_masked_atomic_cap;
	__u32 out_max_mw;
	__u32 out_max_raw_ipv6_qp;
	__u32 out_max_mcast_grp;
	__u32 out_max_mcast_qp_attach;
	__u32 out_max_total_mcast_qp_attach;
	__u32 out_max_ah;
	__u32 out_max_srq;
	__u32 out_max_srq_wr;
	__u32 out_max_srq_sge;
	__u32 out_max_pkeys;
	__u32 out_local_ca_ack_delay;
	__u32 out_phys_port_cnt;
	__u32 out_num_comp_vectors;
	__u32 out_odp_caps;
	__u32 out_max_sq_wqebbs;
	__u32 out_max_inline_data;
	__u32 out_cqe_version;
	__u32 out_max_file_objects;
	__u32 out_bf_bytes;
	__u32 out_umr_fence;
};
#define XVERBS_QUERY_DEVICE _IO(XVERBS_TYPE, XVERBS_CMD_QUERY_DEVICE)

#define XVERBS_LINK_INFINIBAND	1
#define XVERBS_LINK_ETHERNET	2

/**
 * struct xverbs_query_port - ioctl(XVERBS_QUERY_PORT)
 * @hdr: header; no flags
 * @port: from 1
 * @out_state: ibv_port_state: 1 down, 2 init, 3 armed, 4 active
 * @out_phys_state: as ibv_port_attr
 * @out_max_mtu: ibv_mtu: 1 = 256 bytes ... 5 = 4096
 * @out_active_mtu: the same
 * @out_max_msg_sz: bytes of a message
 * @out_port_cap_flags: as ibv_port_attr
 * @out_port_cap_flags2: as ibv_port_attr
 * @out_gid_tbl_len: entries of the GID table
 * @out_pkey_tbl_len: entries of the P_Key table
 * @out_lid: base local identifier
 * @out_sm_lid: LID of the subnet manager
 * @out_bad_pkey_cntr: as ibv_port_attr
 * @out_qkey_viol_cntr: as ibv_port_attr
 * @out_lmc: low LID bits that are path bits
 * @out_sm_sl: service level of the subnet manager
 * @out_max_vl_num: as ibv_port_attr
 * @out_init_type_reply: as ibv_port_attr
 * @out_active_width: as ibv_port_attr
 * @out_link_layer: XVERBS_LINK_*
 * @out_subnet_timeout: as ibv_port_attr
 * @out_reserved: zero
 * @out_active_speed: bit of the lane speed, as ibv_port_attr.active_speed_ex
 * @out_ifindex: network device of a RoCE port in the caller's network
 *	namespace, 0 if none
 * @out_subnet_prefix: upper half of GID 0, big-endian
 *
 * Manual 3.3.2.
 */
struct xverbs_query_port {
	struct xverbs_hdr hdr;
	__u32 port;
	__u32 out_state;
	__u32 out_phys_state;
	__u32 out_max_mtu;
	__u32 out_active_mtu;
	__u32 out_max_msg_sz;
	__u32 out_port_cap_flags;
	__u32 out_port_cap_flags2;
	__u32 out_gid_tbl_len;
	__u32 out_pkey_tbl_len;
	__u32 out_lid;
	__u32 out_sm_lid;
	__u32 out_bad_pkey_cntr;
	__u32 out_qkey_viol_cntr;
	__u8 out_lmc;
	__u8 out_sm_sl;
	__u8 out_max_vl_num;
	__u8 out_init_type_reply;
	__u8 out_active_width;
	__u8 out_link_layer;
	__u8 out_subnet_timeout;
	__u8 out_reserved;
	__u32 out_active_speed;
	__u32 out_ifindex;
	__aligned_u64 out_subnet_prefix;
};
#define XVERBS_QUERY_PORT _IO(XVERBS_TYPE, XVERBS_CMD_QUERY_PORT)

#define XVERBS_GID_IB		0
#define XVERBS_GID_ROCE_V1	1
#define XVERBS_GID_ROCE_V2	2

/**
 * struct xverbs_query_gid - ioctl(XVERBS_QUERY_GID)
 * @hdr: header; no flags
 * @port: from 1
 * @index: of the port's GID table
 * @out_gid: the GID, as ibv_gid.raw
 * @out_type: XVERBS_GID_*
 * @out_ifindex: its network device in the caller's network namespace, or 0
 *
 * ENOENT for an empty entry.  Manual 3.3.3.
 */
struct xverbs_query_gid {
	struct xverbs_hdr hdr;
	__u32 port;
	__u32 index;
	__u8 out_gid[16];
	__u32 out_type;
	__u32 out_ifindex;
};
#define XVERBS_QUERY_GID _IO(XVERBS_TYPE, XVERBS_CMD_QUERY_GID)

/**
 * struct xverbs_query_pkey - ioctl(XVERBS_QUERY_PKEY)
 * @hdr: header; no flags
 * @port: from 1
 * @index: of the port's P_Key table
 * @out_pkey: the P_Key, in host order
 * @reserved: zero
 *
 * Manual 3.3.4.
 */
struct xverbs_query_pkey {
	struct xverbs_hdr hdr;
	__u32 port;
	__u32 index;
	__u32 out_pkey;
	__u32 reserved;
};
#define XVERBS_QUERY_PKEY _IO(XVERBS_TYPE, XVERBS_CMD_QUERY_PKEY)

/* Features.  Numbers never change meaning; names stay, too. */
enum xverbs_feature_id {
	XVERBS_FEATURE_RC			= 1,
	XVERBS_FEATURE_UC			= 2,
	XVERBS_FEATURE_UD			= 3,
	XVERBS_FEATURE_XRC			= 4,
	XVERBS_FEATURE_SRQ			= 5,
	XVERBS_FEATURE_SRQ_CONTIGUOUS		= 6,
	XVERBS_FEATURE_MEMORY_REGION		= 7,
	XVERBS_FEATURE_MEMORY_REGION_DMABUF	= 8,
	XVERBS_FEATURE_MEMORY_WINDOW		= 9,
	XVERBS_FEATURE_ON_DEMAND_PAGING		= 10,
	XVERBS_FEATURE_EXTERNAL_MEMORY		= 11,
	XVERBS_FEATURE_EXTERNAL_MEMORY_DMABUF	= 12,
	XVERBS_FEATURE_COMPLETION_CHANNEL	= 13,
	XVERBS_FEATURE_ASYNC_EVENTS		= 14,
	XVERBS_FEATURE_MULTICAST		= 15,
	XVERBS_FEATURE_ATOMICS			= 16,
	XVERBS_FEATURE_MASKED_ATOMICS		= 17,
	XVERBS_FEATURE_BLUEFLAME		= 18,
	XVERBS_FEATURE_CQ_128_BYTE_ENTRIES	= 19,
	XVERBS_FEATURE_CQ_RESIZE		= 20,
	XVERBS_FEATURE_CQ_MODERATION		= 21,
	XVERBS_FEATURE_CQ_IGNORE_OVERRUN	= 22,
	XVERBS_FEATURE_CQ_COLLAPSED		= 23,
	XVERBS_FEATURE_CQE_USER_INDEX		= 24,
	XVERBS_FEATURE_PATH_MIGRATION		= 25,
	XVERBS_FEATURE_DC			= 26,
	XVERBS_FEATURE_CROSS_CHANNEL		= 27,
	XVERBS_FEATURE_INDIRECT_KEYS		= 28,
	XVERBS_FEATURE_DEVICE_MEMORY		= 29,
	XVERBS_FEATURE_GPU_DATA_PATH		= 30,
	XVERBS_FEATURE_DPA_DATA_PATH		= 31,
};

/**
 * struct xverbs_feature - one entry of XVERBS_QUERY_FEATURES
 * @id: enum xverbs_feature_id
 * @available: 1 or 0
 * @name: short name, such as "rc" or "srq"
 * @why_not: if not available: the reason, for people
 */
struct xverbs_feature {
	__u32 id;
	__u32 available;
	char name[XVERBS_NAME_MAX];
	char why_not[XVERBS_REASON_MAX];
};

/**
 * struct xverbs_query_features - ioctl(XVERBS_QUERY_FEATURES)
 * @hdr: header; no flags
 * @features: user array of struct xverbs_feature
 * @count: its number of entries
 * @entry_size: sizeof(struct xverbs_feature) as the caller knows it
 * @out_count: number of features, which may be above @count
 * @reserved: zero
 */
struct xverbs_query_features {
	struct xverbs_hdr hdr;
	__aligned_u64 features;
	__u32 count;
	__u32 entry_size;
	__u32 out_count;
	__u32 reserved;
};
#define XVERBS_QUERY_FEATURES _IO(XVERBS_TYPE, XVERBS_CMD_QUERY_FEATURES)

/* ---- Events -------------------------------------------------------------- */

#define XVERBS_EVENT_SIZE_MAX	1024	/* the largest record that read() returns */

/* Types of asynchronous events, numbered as enum ibv_event_type (Manual 6.1) */
enum xverbs_event_type {
	XVERBS_EVENT_CQ_ERR			= 0,
	XVERBS_EVENT_QP_FATAL			= 1,
	XVERBS_EVENT_QP_REQ_ERR			= 2,
	XVERBS_EVENT_QP_ACCESS_ERR		= 3,
	XVERBS_EVENT_COMM_EST			= 4,
	XVERBS_EVENT_SQ_DRAINED			= 5,
	XVERBS_EVENT_PATH_MIG			= 6,
	XVERBS_EVENT_PATH_MIG_ERR		= 7,
	XVERBS_EVENT_DEVICE_FATAL		= 8,
	XVERBS_EVENT_PORT_ACTIVE		= 9,
	XVERBS_EVENT_PORT_ERR			= 10,
	XVERBS_EVENT_LID_CHANGE			= 11,
	XVERBS_EVENT_PKEY_CHANGE		= 12,
	XVERBS_EVENT_SM_CHANGE			= 13,
	XVERBS_EVENT_SRQ_ERR			= 14,
	XVERBS_EVENT_SRQ_LIMIT_REACHED		= 15,
	XVERBS_EVENT_QP_LAST_WQE_REACHED	= 16,
	XVERBS_EVENT_CLIENT_REREGISTER		= 17,
	XVERBS_EVENT_GID_CHANGE			= 18,
	XVERBS_EVENT_WQ_FATAL			= 19,
};

/**
 * struct xverbs_async_event - what read() on the bound file returns
 * @type: enum xverbs_event_type
 * @handle: the object, or 0 for events of ports and of the device
 * @user_data: as given when the object was created
 * @port: port number, or 0
 * @reserved: zero
 *
 * read() returns as many whole events as there are and as fit; it sleeps, or
 * says EAGAIN with O_NONBLOCK, when there is none.  poll() reports POLLIN.
 * An event of one type for one object that was not yet read absorbs further
 * ones.  When the device goes, one XVERBS_EVENT_DEVICE_FATAL comes, and after
 * it read() says ENODEV and poll() reports POLLHUP.
 *
 * Each event takes xverbs_bind.async_event_size bytes.  A buffer that has no
 * room for one gives EINVAL.
 */
struct xverbs_async_event {
	__u32 type;
	__u32 handle;
	__aligned_u64 user_data;
	__u32 port;
	__u32 reserved;
};

/**
 * struct xverbs_comp_event - what read() on a completion channel returns
 * @user_data: as given when the CQ was created
 *
 * As above: whole events of xverbs_channel_alloc.event_size bytes, EAGAIN,
 * POLLIN; ENODEV and POLLHUP when the device has gone or the channel was
 * destroyed.
 */
struct xverbs_comp_event {
	__aligned_u64 user_data;
};

/* xverbs_channel_alloc.hdr.flags */
#define XVERBS_CHANNEL_NONBLOCK	(1u << 0)	/* O_NONBLOCK set from the start */

/**
 * struct xverbs_channel_alloc - ioctl(XVERBS_CHANNEL_ALLOC)
 * @hdr: header; XVERBS_CHANNEL_*
 * @event_size: sizeof(struct xverbs_comp_event) as the caller knows it, a
 *	multiple of 8 up to XVERBS_EVENT_SIZE_MAX: the size of each record that
 *	read() returns.  0: that of the first published version
 * @reserved: zero
 * @out_handle: the channel, for XVERBS_CQ_CREATE
 * @out_fd: file descriptor (close-on-exec) that delivers its events
 *
 * Manual 3.3.10.
 */
struct xverbs_channel_alloc {
	struct xverbs_hdr hdr;
	__u32 event_size;
	__u32 reserved;
	__u32 out_handle;
	__s32 out_fd;
};
#define XVERBS_CHANNEL_ALLOC _IO(XVERBS_TYPE, XVERBS_CMD_CHANNEL_ALLOC)

/* ---- Protection, memory, doorbells ---------------------------------------- */

/**
 * struct xverbs_pd_alloc - ioctl(XVERBS_PD_ALLOC)
 * @hdr: header; no flags
 * @out_handle: the protection domain
 * @out_pdn: its number in the adapter
 *
 * Manual 3.3.5.
 */
struct xverbs_pd_alloc {
	struct xverbs_hdr hdr;
	__u32 out_handle;
	__u32 out_pdn;
};
#define XVERBS_PD_ALLOC _IO(XVERBS_TYPE, XVERBS_CMD_PD_ALLOC)

/* xverbs_uar_alloc.hdr.flags */
#define XVERBS_UAR_NC	(1u << 0)	/* non-cached instead of write-combining */

/**
 * struct xverbs_uar_alloc - ioctl(XVERBS_UAR_ALLOC)
 * @hdr: header; XVERBS_UAR_*
 * @out_handle: the doorbell page, for CQ_CREATE and QP_CREATE
 * @out_page_id: its number in the adapter
 * @out_map: the page.  Registers lie at the offsets of rdma/mlx5_ring.h.
 * @out_bf_offset: offset of the first BlueFlame register
 * @out_bf_bytes: bytes of one BlueFlame buffer; 0: 8-byte doorbells only.
 *	A register has two that alternate, the second follows the first.
 * @out_bf_regs: BlueFlame registers in the page
 * @out_bf_stride: bytes from one register to the next
 *
 * A doorbell page belongs to this file alone.
 */
struct xverbs_uar_alloc {
	struct xverbs_hdr hdr;
	__u32 out_handle;
	__u32 out_page_id;
	struct xverbs_map out_map;
	__u32 out_bf_offset;
	__u32 out_bf_bytes;
	__u32 out_bf_regs;
	__u32 out_bf_stride;
};
#define XVERBS_UAR_ALLOC _IO(XVERBS_TYPE, XVERBS_CMD_UAR_ALLOC)

/* Access rights of memory and of QPs, numbered as enum ibv_access_flags */
#define XVERBS_ACCESS_LOCAL_WRITE	(1u << 0)
#define XVERBS_ACCESS_REMOTE_WRITE	(1u << 1)
#define XVERBS_ACCESS_REMOTE_READ	(1u << 2)
#define XVERBS_ACCESS_REMOTE_ATOMIC	(1u << 3)
#define XVERBS_ACCESS_MW_BIND		(1u << 4)
#define XVERBS_ACCESS_ZERO_BASED	(1u << 5)
#define XVERBS_ACCESS_ON_DEMAND		(1u << 6)	/* refused: EOPNOTSUPP */
#define XVERBS_ACCESS_RELAXED_ORDERING	(1u << 20)

/**
 * struct xverbs_mr_reg - ioctl(XVERBS_MR_REG)
 * @hdr: header; no flags
 * @pd: protection domain
 * @access: XVERBS_ACCESS_*; an unknown one in bits 20-29 is a mere hint and
 *	ignored, others give EOPNOTSUPP
 * @addr: start of the memory
 * @length: bytes
 * @iova: address by which work requests name @addr, with the same offset within
 *	a page.  With XVERBS_ACCESS_ZERO_BASED it must be 0, and address 0 is then
 *	the start of the page that holds @addr
 * @out_handle: the memory region
 * @out_lkey: local key
 * @out_rkey: remote key
 * @reserved: zero
 *
 * Manual 3.4.1.
 */
struct xverbs_mr_reg {
	struct xverbs_hdr hdr;
	__u32 pd;
	__u32 access;
	__aligned_u64 addr;
	__aligned_u64 length;
	__aligned_u64 iova;
	__u32 out_handle;
	__u32 out_lkey;
	__u32 out_rkey;
	__u32 reserved;
};
#define XVERBS_MR_REG _IO(XVERBS_TYPE, XVERBS_CMD_MR_REG)

/* xverbs_mr_rereg.change */
#define XVERBS_REREG_TRANSLATION	(1u << 0)	/* @addr, @length, @iova */
#define XVERBS_REREG_PD			(1u << 1)	/* @pd */
#define XVERBS_REREG_ACCESS		(1u << 2)	/* @access */

/**
 * struct xverbs_mr_rereg - ioctl(XVERBS_MR_REREG)
 * @hdr: header; no flags
 * @mr: memory region, not one of a dma-buf
 * @change: XVERBS_REREG_*: which of the following count
 * @pd: as in struct xverbs_mr_reg
 * @access: as in struct xverbs_mr_reg
 * @addr: as in struct xverbs_mr_reg
 * @length: as in struct xverbs_mr_reg
 * @iova: as in struct xverbs_mr_reg
 * @out_lkey: local key from now on
 * @out_rkey: remote key from now on
 *
 * The region keeps its handle, and its keys if only domain or rights change and
 * the adapter can do that in place; work requests with other keys fail from now
 * on.  Changed translation pins the new memory before the old is let go.
 *
 * If the call is refused the region is as it was.  If firmware or memory fails
 * (EREMOTEIO, ENOSPC, ENOMEM) it keeps its handle and memory, but the driver may
 * have revoked its keys before: then it can only be changed again or destroyed.
 */
struct xverbs_mr_rereg {
	struct xverbs_hdr hdr;
	__u32 mr;
	__u32 change;
	__u32 pd;
	__u32 access;
	__aligned_u64 addr;
	__aligned_u64 length;
	__aligned_u64 iova;
	__u32 out_lkey;
	__u32 out_rkey;
};
#define XVERBS_MR_REREG _IO(XVERBS_TYPE, XVERBS_CMD_MR_REREG)

/**
 * struct xverbs_mr_dmabuf - ioctl(XVERBS_MR_DMABUF)
 * @hdr: header; no flags
 * @pd: protection domain
 * @access: XVERBS_ACCESS_*, not ZERO_BASED
 * @offset: into the dma-buf
 * @length: bytes
 * @iova: address by which work requests name @offset, with the same offset
 *	within a page
 * @fd: the dma-buf
 * @out_handle: the memory region
 * @out_lkey: local key
 * @out_rkey: remote key
 *
 * The dma-buf is pinned: it does not move as long as the region exists.
 */
struct xverbs_mr_dmabuf {
	struct xverbs_hdr hdr;
	__u32 pd;
	__u32 access;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 iova;
	__s32 fd;
	__u32 out_handle;
	__u32 out_lkey;
	__u32 out_rkey;
};
#define XVERBS_MR_DMABUF _IO(XVERBS_TYPE, XVERBS_CMD_MR_DMABUF)

/**
 * struct xverbs_mw_alloc - ioctl(XVERBS_MW_ALLOC)
 * @hdr: header; no flags
 * @pd: protection domain
 * @type: 1 or 2, as enum ibv_mw_type
 * @out_handle: the memory window
 * @out_rkey: its key, unbound.  A bind request (UMR, PRM) gives it a meaning
 *	and a new low byte.
 */
struct xverbs_mw_alloc {
	struct xverbs_hdr hdr;
	__u32 pd;
	__u32 type;
	__u32 out_handle;
	__u32 out_rkey;
};
#define XVERBS_MW_ALLOC _IO(XVERBS_TYPE, XVERBS_CMD_MW_ALLOC)

/* xverbs_umem_reg.hdr.flags */
#define XVERBS_UMEM_DMABUF	(1u << 0)	/* part of the dma-buf @fd */

/**
 * struct xverbs_umem_reg - ioctl(XVERBS_UMEM_REG)
 * @hdr: header; XVERBS_UMEM_*
 * @addr: start of the user's memory, or offset into the dma-buf; a multiple of
 *	the page size
 * @length: bytes
 * @out_handle: for struct xverbs_external
 * @fd: the dma-buf, with XVERBS_UMEM_DMABUF; otherwise zero
 *
 * Pins memory that shall hold rings or doorbell records.
 */
struct xverbs_umem_reg {
	struct xverbs_hdr hdr;
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 out_handle;
	__s32 fd;
};
#define XVERBS_UMEM_REG _IO(XVERBS_TYPE, XVERBS_CMD_UMEM_REG)

/**
 * struct xverbs_external - a queue in memory that the user brings (a part)
 * @ring_umem: holds the ring, or 0: the kernel allocates it
 * @dbr_umem: holds the doorbell record, or 0: the kernel allocates it
 * @ring_offset: of the ring in its UMEM, a multiple of the page size
 * @dbr_offset: of the record in its UMEM, a multiple of 64
 *
 * The user initialises that memory before the call: ring entries of a CQ as
 * its struct says, records to zero.  Outputs that tell how to map it are 0.
 */
struct xverbs_external {
	__u32 ring_umem;
	__u32 dbr_umem;
	__aligned_u64 ring_offset;
	__aligned_u64 dbr_offset;
};

/* xverbs_xrcd_open.hdr.flags */
#define XVERBS_XRCD_SHARED	(1u << 0)	/* named by the file behind @fd */
#define XVERBS_XRCD_CREATE	(1u << 1)	/* create it if there is none */
#define XVERBS_XRCD_EXCLUSIVE	(1u << 2)	/* fail with EEXIST if there is */

/**
 * struct xverbs_xrcd_open - ioctl(XVERBS_XRCD_OPEN)
 * @hdr: header; XVERBS_XRCD_*.  Without SHARED: a new domain of this file's.
 * @fd: any open file; processes that name the same one share the domain.  The
 *	domain keeps the mount of the file busy, as an open file does: umount()
 *	fails with EBUSY, and after a lazy umount the file system stays until
 *	the domain goes.
 * @out_handle: the XRC domain
 * @out_xrcdn: its number in the adapter
 * @reserved: zero
 *
 * Manual 3.4.8.
 */
struct xverbs_xrcd_open {
	struct xverbs_hdr hdr;
	__s32 fd;
	__u32 out_handle;
	__u32 out_xrcdn;
	__u32 reserved;
};
#define XVERBS_XRCD_OPEN _IO(XVERBS_TYPE, XVERBS_CMD_XRCD_OPEN)

/* ---- Completion queues ----------------------------------------------------- */

/* xverbs_cq_create.hdr.flags */
#define XVERBS_CQ_IGNORE_OVERRUN	(1u << 0)	/* PRM: cqc.oi */
#define XVERBS_CQ_COLLAPSED		(1u << 1)	/* PRM: cqc.cc */

/**
 * struct xverbs_cq_create - ioctl(XVERBS_CQ_CREATE)
 * @hdr: header; XVERBS_CQ_*
 * @uar: doorbell page on which the queue is armed
 * @channel: completion channel, or 0
 * @entries: wanted at least, from 1
 * @cqe_bytes: 64 or 128
 * @comp_vector: below xverbs_query_device.out_num_comp_vectors
 * @reserved: zero
 * @user_data: handed back with events
 * @out_handle: the completion queue
 * @out_cqn: its number in the adapter
 * @out_entries: entries of the ring, a power of two.  All but one may be in
 *	use at a time.
 * @out_dbr_offset: offset of the doorbell record within @out_dbr
 * @out_ring: the ring, @out_entries * @cqe_bytes from its start; every entry
 *	starts out as MLX5R_CQE_INVALID owned by the adapter
 * @out_dbr: the page of the doorbell record.  Records of other queues of this
 *	file may lie in the same page, and then have the same offset here.
 * @external: part struct xverbs_external: the user's memory instead of the
 *	kernel's; may be absent
 *
 * Manual 3.3.7.
 */
struct xverbs_cq_create {
	struct xverbs_hdr hdr;
	__u32 uar;
	__u32 channel;
	__u32 entries;
	__u32 cqe_bytes;
	__u32 comp_vector;
	__u32 reserved;
	__aligned_u64 user_data;
	__u32 out_handle;
	__u32 out_cqn;
	__u32 out_entries;
	__u32 out_dbr_offset;
	struct xverbs_map out_ring;
	struct xverbs_map out_dbr;
	struct xverbs_part external;
};
#define XVERBS_CQ_CREATE _IO(XVERBS_TYPE, XVERBS_CMD_CQ_CREATE)

/* xverbs_cq_modify.change */
#define XVERBS_CQ_MODERATION	(1u << 0)	/* @count, @period_us */
#define XVERBS_CQ_OVERRUN	(1u << 1)	/* @ignore_overrun */

/**
 * struct xverbs_cq_modify - ioctl(XVERBS_CQ_MODIFY)
 * @hdr: header; no flags
 * @cq: completion queue
 * @change: XVERBS_CQ_*: which of the following count
 * @count: completions per event, 16 bits
 * @period_us: microseconds after which an event comes all the same, 12 bits
 * @ignore_overrun: 1: overwrite entries that were not polled
 * @reserved: zero
 */
struct xverbs_cq_modify {
	struct xverbs_hdr hdr;
	__u32 cq;
	__u32 change;
	__u32 count;
	__u32 period_us;
	__u32 ignore_overrun;
	__u32 reserved;
};
#define XVERBS_CQ_MODIFY _IO(XVERBS_TYPE, XVERBS_CMD_CQ_MODIFY)

/**
 * struct xverbs_cq_resize - ioctl(XVERBS_CQ_RESIZE)
 * @hdr: header; no flags
 * @cq: completion queue, in memory of the kernel
 * @entries: wanted at least; no fewer than there are completions in the ring
 * @out_entries: entries of the new ring, a power of two
 * @reserved: zero
 * @out_ring: the new ring
 *
 * The adapter ends the old ring with an entry MLX5R_CQE_RESIZE; entries before
 * it are still to be polled there.  The next entry has the same index, modulo
 * the new size, in the new ring, whose entries start out as in CQ_CREATE.
 * Manual 3.3.8.
 */
struct xverbs_cq_resize {
	struct xverbs_hdr hdr;
	__u32 cq;
	__u32 entries;
	__u32 out_entries;
	__u32 reserved;
	struct xverbs_map out_ring;
};
#define XVERBS_CQ_RESIZE _IO(XVERBS_TYPE, XVERBS_CMD_CQ_RESIZE)

/* ---- Shared receive queues ----------------------------------------------------- */

/* Layouts, xverbs_srq_create.layout */
#define XVERBS_SRQ_LINKED	0	/* entries begin with struct mlx5r_srq_next */
#define XVERBS_SRQ_CONTIGUOUS	1	/* a ring like that of a QP */

/**
 * struct xverbs_srq_create - ioctl(XVERBS_SRQ_CREATE)
 * @hdr: header; no flags
 * @pd: protection domain
 * @layout: XVERBS_SRQ_*
 * @max_wr: entries wanted at least
 * @max_sge: elements of an entry's list wanted at least
 * @limit: raise XVERBS_EVENT_SRQ_LIMIT_REACHED once when fewer entries are
 *	left; 0: do not
 * @xrcd: XRC domain: makes an XRC SRQ; or 0
 * @cq: XRC SRQ: completion queue of its receives; or 0
 * @user_index: XRC SRQ: as in struct xverbs_qp_create
 * @user_data: handed back with events
 * @out_handle: the shared receive queue
 * @out_srqn: its number
 * @out_max_wr: entries that may be posted at a time
 * @out_max_sge: elements of an entry's list
 * @out_wqes: entries of the ring, a power of two
 * @out_stride: bytes from one entry to the next
 * @out_dbr_offset: offset of the doorbell record within @out_dbr
 * @reserved: zero
 * @out_ring: the ring.  In a linked layout every entry's next index is set to
 *	the following one, the last one's to 0.
 * @out_dbr: the page of the doorbell record, see struct xverbs_cq_create
 * @external: part struct xverbs_external: the user's memory instead of the
 *	kernel's; may be absent
 *
 * Manual 3.4.5, 3.4.9.
 */
struct xverbs_srq_create {
	struct xverbs_hdr hdr;
	__u32 pd;
	__u32 layout;
	__u32 max_wr;
	__u32 max_sge;
	__u32 limit;
	__u32 xrcd;
	__u32 cq;
	__u32 user_index;
	__aligned_u64 user_data;
	__u32 out_handle;
	__u32 out_srqn;
	__u32 out_max_wr;
	__u32 out_max_sge;
	__u32 out_wqes;
	__u32 out_stride;
	__u32 out_dbr_offset;
	__u32 reserved;
	struct xverbs_map out_ring;
	struct xverbs_map out_dbr;
	struct xverbs_part external;
};
#define XVERBS_SRQ_CREATE _IO(XVERBS_TYPE, XVERBS_CMD_SRQ_CREATE)

/**
 * struct xverbs_srq_modify - ioctl(XVERBS_SRQ_MODIFY)
 * @hdr: header; no flags
 * @srq: shared receive queue
 * @limit: arms the limit event anew; 0 disarms it
 *
 * Manual 3.4.6.  The ring cannot be resized.
 */
struct xverbs_srq_modify {
	struct xverbs_hdr hdr;
	__u32 srq;
	__u32 limit;
};
#define XVERBS_SRQ_MODIFY _IO(XVERBS_TYPE, XVERBS_CMD_SRQ_MODIFY)

/**
 * struct xverbs_srq_query - ioctl(XVERBS_SRQ_QUERY)
 * @hdr: header; no flags
 * @srq: shared receive queue
 * @out_max_wr: as created
 * @out_max_sge: as created
 * @out_limit: the limit while it is armed, else 0
 *
 * Manual 3.6.2.
 */
struct xverbs_srq_query {
	struct xverbs_hdr hdr;
	__u32 srq;
	__u32 out_max_wr;
	__u32 out_max_sge;
	__u32 out_limit;
};
#define XVERBS_SRQ_QUERY _IO(XVERBS_TYPE, XVERBS_CMD_SRQ_QUERY)

/* ---- Queue pairs ------------------------------------------------------------ */

/* Types, numbered as enum ibv_qp_type */
#define XVERBS_QPT_RC		2
#define XVERBS_QPT_UC		3
#define XVERBS_QPT_UD		4
#define XVERBS_QPT_XRC_SEND	9
#define XVERBS_QPT_XRC_RECV	10

/**
 * struct xverbs_qp_cap - capacities of a queue pair (ibv_qp_cap; a part)
 * @max_send_wr: send requests outstanding
 * @max_recv_wr: receive requests outstanding; 0 with an SRQ
 * @max_send_sge: elements of a send's list
 * @max_recv_sge: elements of a receive's list
 * @max_inline_data: bytes of inline data in a send
 * @reserved: zero
 */
struct xverbs_qp_cap {
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_inline_data;
	__u32 reserved;
};

/**
 * struct xverbs_qp_create - ioctl(XVERBS_QP_CREATE)
 * @hdr: header; no flags
 * @type: XVERBS_QPT_*
 * @pd: protection domain
 * @send_cq: completion queue of sends
 * @recv_cq: completion queue of receives
 * @srq: shared receive queue, or 0
 * @uar: doorbell page
 * @xrcd: XVERBS_QPT_XRC_RECV: its XRC domain
 * @user_index: 24 bits that CQEs carry in srqn_uidx, if out_cqe_version of the
 *	device is 1.  Choose one per QP.
 * @user_data: handed back with events
 * @cap: part struct xverbs_qp_cap: wanted at least
 * @out_cap: part struct xverbs_qp_cap: got
 * @external: part struct xverbs_external: the user's memory instead of the
 *	kernel's; may be absent
 * @out_handle: the queue pair
 * @out_qpn: its number
 * @out_sq_offset: offset of the send queue within @out_ring
 * @out_sq_wqebbs: its 64-byte blocks, a power of two or 0
 * @out_rq_offset: offset of the receive queue within @out_ring
 * @out_rq_wqes: its entries, a power of two or 0
 * @out_rq_stride: bytes from one entry to the next
 * @out_dbr_offset: offset of the doorbell record within @out_dbr
 * @out_ring: both work queues
 * @out_dbr: the page of the doorbell record, see struct xverbs_cq_create
 *
 * XVERBS_QPT_XRC_SEND has no @recv_cq, XVERBS_QPT_XRC_RECV has neither CQ,
 * nor rings, nor @pd, nor @uar; these are 0 then.  Manual 3.4.3.
 */
struct xverbs_qp_create {
	struct xverbs_hdr hdr;
	__u32 type;
	__u32 pd;
	__u32 send_cq;
	__u32 recv_cq;
	__u32 srq;
	__u32 uar;
	__u32 xrcd;
	__u32 user_index;
	__aligned_u64 user_data;
	struct xverbs_part cap;
	struct xverbs_part out_cap;
	struct xverbs_part external;
	__u32 out_handle;
	__u32 out_qpn;
	__u32 out_sq_offset;
	__u32 out_sq_wqebbs;
	__u32 out_rq_offset;
	__u32 out_rq_wqes;
	__u32 out_rq_stride;
	__u32 out_dbr_offset;
	struct xverbs_map out_ring;
	struct xverbs_map out_dbr;
};
#define XVERBS_QP_CREATE _IO(XVERBS_TYPE, XVERBS_CMD_QP_CREATE)

/* States, numbered as enum ibv_qp_state */
#define XVERBS_QPS_RESET	0
#define XVERBS_QPS_INIT		1
#define XVERBS_QPS_RTR		2
#define XVERBS_QPS_RTS		3
#define XVERBS_QPS_SQD		4
#define XVERBS_QPS_SQE		5
#define XVERBS_QPS_ERR		6

/* Members of struct xverbs_qp_attr, numbered as enum ibv_qp_attr_mask */
#define XVERBS_QP_STATE			(1u << 0)
#define XVERBS_QP_CUR_STATE		(1u << 1)
#define XVERBS_QP_EN_SQD_ASYNC_NOTIFY	(1u << 2)
#define XVERBS_QP_ACCESS_FLAGS		(1u << 3)
#define XVERBS_QP_PKEY_INDEX		(1u << 4)
#define XVERBS_QP_PORT			(1u << 5)
#define XVERBS_QP_QKEY			(1u << 6)
#define XVERBS_QP_AV			(1u << 7)
#define XVERBS_QP_PATH_MTU		(1u << 8)
#define XVERBS_QP_TIMEOUT		(1u << 9)
#define XVERBS_QP_RETRY_CNT		(1u << 10)
#define XVERBS_QP_RNR_RETRY		(1u << 11)
#define XVERBS_QP_RQ_PSN		(1u << 12)
#define XVERBS_QP_MAX_QP_RD_ATOMIC	(1u << 13)
#define XVERBS_QP_ALT_PATH		(1u << 14)
#define XVERBS_QP_MIN_RNR_TIMER		(1u << 15)
#define XVERBS_QP_SQ_PSN		(1u << 16)
#define XVERBS_QP_MAX_DEST_RD_ATOMIC	(1u << 17)
#define XVERBS_QP_PATH_MIG_STATE	(1u << 18)
#define XVERBS_QP_CAP			(1u << 19)
#define XVERBS_QP_DEST_QPN		(1u << 20)

/* Path migration states, numbered as enum ibv_mig_state */
#define XVERBS_MIG_MIGRATED	0
#define XVERBS_MIG_REARM	1
#define XVERBS_MIG_ARMED	2

/**
 * struct xverbs_ah_attr - address of a peer (ibv_ah_attr; a part)
 * @dgid: GRH: destination GID
 * @flow_label: GRH: 20 bits
 * @dlid: destination LID (InfiniBand)
 * @sgid_index: GRH: index of the own GID
 * @hop_limit: GRH
 * @traffic_class: GRH
 * @sl: service level, 4 bits
 * @src_path_bits: low bits of the own LID
 * @static_rate: enum ibv_rate, 0 = no limit.  The adapter takes the next lower
 *	rate that it has
 * @is_global: 1: send a GRH; must be 1 on RoCE
 * @port_num: own port
 * @reserved: zero
 */
struct xverbs_ah_attr {
	__u8 dgid[16];
	__u32 flow_label;
	__u16 dlid;
	__u8 sgid_index;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 sl;
	__u8 src_path_bits;
	__u8 static_rate;
	__u8 is_global;
	__u8 port_num;
	__u8 reserved[2];
};

/**
 * struct xverbs_qp_attr - attributes of a queue pair (ibv_qp_attr; a part)
 * @qp_state: XVERBS_QPS_*, the state to move to
 * @cur_qp_state: the state that the caller assumes
 * @path_mtu: 1 = 256 bytes ... 5 = 4096
 * @path_mig_state: XVERBS_MIG_*; ARMED is what two sides in REARM become
 * @qkey: UD
 * @rq_psn: first packet number expected, 24 bits
 * @sq_psn: first packet number sent, 24 bits
 * @dest_qp_num: the peer's number, 24 bits
 * @qp_access_flags: XVERBS_ACCESS_REMOTE_*
 * @pkey_index: index of the P_Key
 * @alt_pkey_index: of the alternate path
 * @en_sqd_async_notify: raise XVERBS_EVENT_SQ_DRAINED
 * @sq_draining: query only: 1 while the send queue drains
 * @max_rd_atomic: reads and atomics in flight as initiator
 * @max_dest_rd_atomic: the same as target
 * @min_rnr_timer: code of the RNR NAK delay, 5 bits
 * @port_num: own port
 * @timeout: code of the acknowledge timeout, 5 bits, 0 = endless
 * @retry_cnt: 3 bits
 * @rnr_retry: 3 bits, 7 = endless
 * @alt_port_num: of the alternate path
 * @alt_timeout: of the alternate path
 * @reserved: zero
 * @reserved2: zero
 *
 * The paths are parts of their own.
 */
struct xverbs_qp_attr {
	__u32 qp_state;
	__u32 cur_qp_state;
	__u32 path_mtu;
	__u32 path_mig_state;
	__u32 qkey;
	__u32 rq_psn;
	__u32 sq_psn;
	__u32 dest_qp_num;
	__u32 qp_access_flags;
	__u16 pkey_index;
	__u16 alt_pkey_index;
	__u8 en_sqd_async_notify;
	__u8 sq_draining;
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
	__u8 min_rnr_timer;
	__u8 port_num;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 alt_port_num;
	__u8 alt_timeout;
	__u8 reserved;
	__u32 reserved2;
};

/**
 * struct xverbs_qp_modify - ioctl(XVERBS_QP_MODIFY)
 * @hdr: header; no flags
 * @qp: the queue pair
 * @attr_mask: XVERBS_QP_*: the members of @attr that count
 * @attr: part struct xverbs_qp_attr: new values.  Members that do not count
 *	are ignored.
 * @ah_attr: part struct xverbs_ah_attr: the path to the peer, with XVERBS_QP_AV
 * @alt_ah_attr: part struct xverbs_ah_attr: the alternate path, with
 *	XVERBS_QP_ALT_PATH
 * @out_state: the state after the call
 * @reserved: zero
 *
 * EINVAL names the attribute that a transition lacks or forbids.  The MAC
 * address behind a RoCE GID is resolved here and the call may wait for that.
 * Manual 3.5.
 */
struct xverbs_qp_modify {
	struct xverbs_hdr hdr;
	__u32 qp;
	__u32 attr_mask;
	struct xverbs_part attr;
	struct xverbs_part ah_attr;
	struct xverbs_part alt_ah_attr;
	__u32 out_state;
	__u32 reserved;
};
#define XVERBS_QP_MODIFY _IO(XVERBS_TYPE, XVERBS_CMD_QP_MODIFY)

/**
 * struct xverbs_qp_init - how a queue pair was made (ibv_qp_init_attr; a part)
 * @user_data: as given for this handle
 * @type: XVERBS_QPT_*
 * @pd: handle, as given
 * @send_cq: handle, as given
 * @recv_cq: handle, as given
 * @srq: handle, as given
 * @uar: handle, as given
 * @xrcd: handle, as given
 * @user_index: as given
 *
 * Handles are those of this file, 0 for none; of a queue pair that was opened
 * by its number only @xrcd is known.  Whether every send completes
 * (sq_sig_all) is said in each work request, so the kernel does not know it.
 */
struct xverbs_qp_init {
	__aligned_u64 user_data;
	__u32 type;
	__u32 pd;
	__u32 send_cq;
	__u32 recv_cq;
	__u32 srq;
	__u32 uar;
	__u32 xrcd;
	__u32 user_index;
};

/**
 * struct xverbs_qp_query - ioctl(XVERBS_QP_QUERY)
 * @hdr: header; no flags
 * @qp: the queue pair
 * @reserved: zero
 * @out_attr: part struct xverbs_qp_attr: all attributes.  qp_state is the
 *	adapter's; cur_qp_state equals it.
 * @out_ah_attr: part struct xverbs_ah_attr: the path to the peer
 * @out_alt_ah_attr: part struct xverbs_ah_attr: the alternate path
 * @out_cap: part struct xverbs_qp_cap: capacities
 * @out_init: part struct xverbs_qp_init: how it was made
 *
 * Each part may be absent.  Manual 3.6.1.
 */
struct xverbs_qp_query {
	struct xverbs_hdr hdr;
	__u32 qp;
	__u32 reserved;
	struct xverbs_part out_attr;
	struct xverbs_part out_ah_attr;
	struct xverbs_part out_alt_ah_attr;
	struct xverbs_part out_cap;
	struct xverbs_part out_init;
};
#define XVERBS_QP_QUERY _IO(XVERBS_TYPE, XVERBS_CMD_QP_QUERY)

/**
 * struct xverbs_qp_open - ioctl(XVERBS_QP_OPEN)
 * @hdr: header; no flags
 * @xrcd: XRC domain
 * @qpn: number of a queue pair of type XVERBS_QPT_XRC_RECV in the domain,
 *	whoever made it
 * @user_data: handed back with events
 * @out_handle: the queue pair
 * @reserved: zero
 *
 * The queue pair exists until the last of its handles is destroyed, and raises
 * its events for each.  Manual 3.4.13, 3.4.14.
 */
struct xverbs_qp_open {
	struct xverbs_hdr hdr;
	__u32 xrcd;
	__u32 qpn;
	__aligned_u64 user_data;
	__u32 out_handle;
	__u32 reserved;
};
#define XVERBS_QP_OPEN _IO(XVERBS_TYPE, XVERBS_CMD_QP_OPEN)

/* ---- Addresses --------------------------------------------------------------- */

/**
 * struct xverbs_ah_resolve - ioctl(XVERBS_AH_RESOLVE)
 * @hdr: header; no flags
 * @pd: protection domain
 * @reserved: zero
 * @attr: part struct xverbs_ah_attr: address of the peer
 * @out_av: struct mlx5r_av, 48 bytes, ready to be copied into a work request
 *	once Q_Key and destination QP number are added
 *
 * Makes no object.  On RoCE the call finds the MAC address and may wait for
 * that.  Manual 3.4.15.
 */
struct xverbs_ah_resolve {
	struct xverbs_hdr hdr;
	__u32 pd;
	__u32 reserved;
	struct xverbs_part attr;
	__u8 out_av[48];
};
#define XVERBS_AH_RESOLVE _IO(XVERBS_TYPE, XVERBS_CMD_AH_RESOLVE)

/**
 * struct xverbs_mcast - ioctl(XVERBS_MCAST_ATTACH), ioctl(XVERBS_MCAST_DETACH)
 * @hdr: header; no flags
 * @qp: queue pair of type XVERBS_QPT_UD
 * @lid: multicast LID (InfiniBand), 0 on RoCE
 * @gid: multicast GID
 *
 * A destroyed QP is detached from all its groups.  Manual 3.6.13, 3.6.14.
 */
struct xverbs_mcast {
	struct xverbs_hdr hdr;
	__u32 qp;
	__u32 lid;
	__u8 gid[16];
};
#define XVERBS_MCAST_ATTACH _IO(XVERBS_TYPE, XVERBS_CMD_MCAST_ATTACH)
#define XVERBS_MCAST_DETACH _IO(XVERBS_TYPE, XVERBS_CMD_MCAST_DETACH)

#endif
