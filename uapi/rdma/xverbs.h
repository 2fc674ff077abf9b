/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/xverbs: the control path of RDMA verbs on ConnectX adapters.
 *
 * A process opens the file, binds it to one RDMA device and creates objects.
 * Which devices it may use is decided by the device nodes /dev/infiniband/xverbsN,
 * one for each device: BIND needs an open descriptor of the node.
 * It maps queues, doorbell records and doorbell pages with mmap().  Posting and
 * polling need no system call (formats: rdma/mlx5_ring.h).
 *
 * There is one ioctl for each verb.  The kernel writes members with the prefix
 * out_, and only on success.  It only reads the others.  xverbs_hdr.out_limit is
 * the only member that it writes when a call fails.
 *
 * Handles identify objects.  They are numbers above zero, from one table for each
 * open file.  Zero means "none" where an object is optional.
 *
 * How structures grow.  A published member never changes its offset, size or
 * meaning.  New members are added at the end of a structure, and zero in a new
 * member means the same as the structure without it.  Programs and kernels of
 * different versions work together:
 *
 *  - The structure of an ioctl has the size xverbs_hdr.size.  An older program
 *    passes a shorter structure: the kernel reads missing members as zero and
 *    writes nothing beyond the size.  A newer program passes a longer structure:
 *    if the members that are unknown to the kernel are zero, the call works and
 *    they stay zero; if not, the call fails with E2BIG.
 *  - A structure that several ioctls use, or that an ioctl uses several times, is
 *    not embedded.  The ioctl has a struct xverbs_part with its address and size.
 *    The same rules apply: missing members of a shorter part are read as zero,
 *    and the kernel writes no more than its size; the unknown end of a longer
 *    part must be zero, and the kernel writes zeros there.  A part with address
 *    and size 0 is absent: it is read as zeros, or is not written.
 *  - Entries of arrays that the kernel fills (struct xverbs_device,
 *    struct xverbs_feature) have the size entry_size of the caller.  The kernel
 *    truncates each entry, or pads it with zeros, to that size.
 *  - Records that read() returns (struct xverbs_async_event,
 *    struct xverbs_comp_event) have the size that the program passed when it
 *    bound the file or created the channel.  The kernel truncates or pads them in
 *    the same way.
 *  - struct xverbs_hdr, struct xverbs_part and struct xverbs_map never grow.
 *  - Reserved members must be zero.  A later version may give them a meaning; a
 *    kernel without it returns EINVAL.
 *  - Flags, types, events and features get new values.  The kernel refuses
 *    unknown values with EOPNOTSUPP.  A program must ignore unknown values in
 *    what it reads.
 *  - Texts (reasons, why_not) are for users and may change at any time.  Programs
 *    must use error numbers and the numbers beside the texts.
 *
 * A size below that of the first published version gives EINVAL.  A size above one page
 * gives E2BIG, for the entries of an array EINVAL.
 *
 * The error numbers mean:
 *
 *  - ENOTTY: the ioctl number is unknown to the kernel
 *  - E2BIG: nonzero bytes after the members that are known to the kernel
 *  - EOPNOTSUPP: unknown flag or unknown value of an extensible member, or the
 *    device lacks the feature
 *  - EINVAL: a known member has a wrong value, a reserved one is not zero, or
 *    the size is below that of the first published version
 *  - ENOENT: no object with this handle, or one of another type; no such
 *    device, port, or table entry
 *  - EBADF: a file descriptor in the structure is not open
 *  - EMFILE, ENFILE: CHANNEL_ALLOC: the process (EMFILE) or the system (ENFILE) has too
 *    many open files
 *  - EEXIST: the object exists already
 *  - EBUSY: the object is in use by another one; the file is bound already
 *  - ENXIO: the file is not bound to a device
 *  - ENODEV: the device was removed, and the file can only be closed.  Removal
 *    waits for calls in flight.  A process that registers memory and waits for
 *    page faults (userfaultfd, FUSE) is killed after ten seconds.
 *  - EPERM: the caller lacks a privilege; BIND: a descriptor of the node of the device
 *    is needed, or the device belongs to another network namespace
 *  - EACCES: BIND: the node of the device is not open for reading and writing; other
 *    calls: the security module of the kernel (LSM) denies the right to a P_Key
 *  - ENOMEM: out of memory, or over the limit of the memory cgroup (rings,
 *	doorbell records and objects are charged to it), or over the limit of
 *	locked memory (RLIMIT_MEMLOCK): registered memory, UMEMs, dma-bufs,
 *	rings, doorbell records and long lists of indirect keys count, for the
 *	user of the caller in all its processes
 *  - ENOSPC: a limit of this file or of the rdma cgroup was reached, or a table
 *	of the device is full
 *  - EREMOTEIO: the firmware refused the command
 *  - EHOSTUNREACH, ENETUNREACH, ETIMEDOUT: AH_RESOLVE, QP_MODIFY: the address of the peer
 *    cannot be resolved (RoCE).  Other errors of the network stack are possible.
 *  - ETIMEDOUT: also, the firmware did not answer a command in time
 *  - EAGAIN: read(): there is no event, and the file has O_NONBLOCK
 *  - EINTR: read(): a signal interrupted it; MR_DMABUF, UMEM_REG: a signal interrupted the
 *    wait for the exporter of the dma-buf
 *  - EFAULT: a pointer is not a valid user address.  If the results cannot be
 *    written, an object that the call created is destroyed again.
 *
 * A failed call can also return a reason in words, and the number of the limit that it
 * reached: see struct xverbs_hdr.
 *
 * Manual = RDMA Aware Networks Programming User Manual; PRM = the adapters'
 * programmer's reference manual, public in linux/mlx5/mlx5_ifc.h.
 */
#ifndef _UAPI_RDMA_XVERBS_H
#define _UAPI_RDMA_XVERBS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define XVERBS_TYPE	0xbd

#define XVERBS_NAME_MAX		64	/* device name with the final NUL */
#define XVERBS_NODE_MAX		32	/* name of a device node with the final NUL */
#define XVERBS_REASON_MAX	192	/* reason with the final NUL */

/*
 * The verbs.  Numbers never change meaning.
 *
 *  0x0x  file, device and port		0x3x  queue pairs
 *  0x1x  memory			0x4x  address handles, multicast
 *  0x2x  CQ, SRQ, channel		0x5x  DC, indirect mkeys
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
	XVERBS_CMD_CLOCK_MAP		= 0x08,

	XVERBS_CMD_PD_ALLOC		= 0x10,
	XVERBS_CMD_UAR_ALLOC		= 0x11,
	XVERBS_CMD_MR_REG		= 0x12,
	XVERBS_CMD_MR_REREG		= 0x13,
	XVERBS_CMD_MR_DMABUF		= 0x14,
	XVERBS_CMD_MW_ALLOC		= 0x15,
	XVERBS_CMD_UMEM_REG		= 0x16,
	XVERBS_CMD_XRCD_OPEN		= 0x17,
	XVERBS_CMD_PD_IMPORT		= 0x18,

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

	XVERBS_CMD_DCT_CREATE		= 0x50,
	XVERBS_CMD_DCT_QUERY		= 0x51,
	XVERBS_CMD_DCT_ARM		= 0x52,
	XVERBS_CMD_MKEY_CREATE		= 0x58,
	XVERBS_CMD_MKEY_QUERY		= 0x59,
};

/*
 * Limits, for xverbs_hdr.out_limit.  Later versions may have more of them.
 *
 *  - NONE: the call failed for another reason, or the kernel cannot tell the limit: that
 *    of a table of the device (ENOSPC), or memory that ib_core could not pin (ENOMEM)
 *  - MEMLOCK: locked memory of the user, RLIMIT_MEMLOCK (ENOMEM)
 *  - MEMORY: memory.max of the memory cgroup, or the host has no memory (ENOMEM)
 *  - HCA_HANDLE, HCA_OBJECT: bound files, or objects, of the rdma cgroup (rdma.max; ENOSPC)
 *  - OBJECTS: objects of the file, module parameter max_objects (ENOSPC)
 *  - QP_HANDLES: handles of a queue pair, XVERBS_MAX_QP_HANDLES (ENOSPC)
 *  - QP_GROUPS: multicast groups of a queue pair (ENOSPC)
 *  - ARMED_DCTS: armed DC targets of the device (ENOSPC)
 */
enum {
	XVERBS_LIMIT_NONE		= 0,
	XVERBS_LIMIT_MEMLOCK		= 1,
	XVERBS_LIMIT_MEMORY		= 2,
	XVERBS_LIMIT_HCA_HANDLE		= 3,
	XVERBS_LIMIT_HCA_OBJECT		= 4,
	XVERBS_LIMIT_OBJECTS		= 5,
	XVERBS_LIMIT_QP_HANDLES		= 6,
	XVERBS_LIMIT_QP_GROUPS		= 7,
	XVERBS_LIMIT_ARMED_DCTS		= 8,
};

/**
 * struct xverbs_hdr - first member of every structure
 * @size: sizeof() of the whole structure in the version of the caller
 * @flags: flags of the verb; zero if the verb has none
 * @reason: user pointer to a text buffer, or zero.  If the call fails, the
 *	kernel writes one line (with a final NUL) with object, attribute and
 *	reason, and with status and syndrome if the firmware refused the command.
 *	Without a reason the text is empty.
 * @reason_len: bytes at @reason; XVERBS_REASON_MAX is always sufficient
 * @out_limit: XVERBS_LIMIT_*, written if the call fails and @reason is not zero: the
 *	limit that the call reached.  Zero after success.  A program sets it to zero
 *	before the call and ignores values that it does not know.  Earlier kernels
 *	refuse other values than zero and do not write it.
 */
struct xverbs_hdr {
	__u32 size;
	__u32 flags;
	__aligned_u64 reason;
	__u32 reason_len;
	__u32 out_limit;
};

/**
 * struct xverbs_part - a structure with its own version
 * @addr: user pointer to the structure; 0 if absent
 * @size: its sizeof() in the version of the caller; 0 if absent
 * @reserved: zero
 *
 * If a member of this type has the prefix out_, the kernel writes the structure
 * that it points to, but not the member itself.
 */
struct xverbs_part {
	__aligned_u64 addr;
	__u32 size;
	__u32 reserved;
};

/**
 * struct xverbs_map - arguments for mmap()
 * @offset: file offset of the mapping
 * @length: its exact length
 *
 * A mapping must be MAP_SHARED and must not be executable.  It keeps the memory
 * of its object, but not the object in the adapter.
 */
struct xverbs_map {
	__aligned_u64 offset;
	__aligned_u64 length;
};

/* ---- File, device, port ------------------------------------------------- */

/**
 * struct xverbs_device - one entry of XVERBS_LIST_DEVICES
 * @node_guid: node GUID, big-endian as in ibv_get_device_guid()
 * @index: number of the RDMA device, constant while the device exists
 * @ports: number of ports; the first port is 1
 * @vendor_id: PCI vendor
 * @part_id: PCI device
 * @available: 1 if BIND accepts the device, else 0.  The permissions of the node are
 *	not checked.
 * @reserved: zero
 * @name: name of the RDMA device
 * @why_not: reason in words, if not available
 * @node: name of the device node, "xverbs0" for instance, if available.  The node is
 *	below /dev/infiniband; /sys/class/xverbs has a directory of this name.  The
 *	name is constant while the device exists, and may be that of another device
 *	later.
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
	char node[XVERBS_NODE_MAX];
};

/**
 * struct xverbs_list_devices - ioctl(XVERBS_LIST_DEVICES)
 * @hdr: header; no flags
 * @devices: user array of struct xverbs_device
 * @count: its number of entries
 * @entry_size: sizeof(struct xverbs_device) in the version of the caller
 * @out_count: number of all devices, which may be above @count
 * @reserved: zero
 *
 * Lists the RDMA devices of the network namespace of the caller.  The file need
 * not be bound.
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
#define XVERBS_BIND_BY_INDEX	(1u << 0)	/* use @index, not @name */
#define XVERBS_BIND_BY_FD	(1u << 1)	/* use @fd, not @name */

/**
 * struct xverbs_bind - ioctl(XVERBS_BIND)
 * @hdr: header; XVERBS_BIND_*
 * @index: number of the RDMA device, with XVERBS_BIND_BY_INDEX
 * @async_event_size: sizeof(struct xverbs_async_event) in the version of the
 *	caller, a multiple of 8 up to XVERBS_EVENT_SIZE_MAX: the size of each record
 *	that read() returns.  0: size of the first published version
 * @name: name of the RDMA device, without XVERBS_BIND_BY_*
 * @fd: descriptor of the device node (xverbs_device.node), open for reading and
 *	writing, with XVERBS_BIND_BY_FD; else zero
 * @reserved: zero
 * @out_alive: a mapping that can only be read (PROT_READ): its first 32 bits are not zero
 *	while the file has its device, and zero after removal of the device
 *
 * Binds the file to a device, only once.  The kernel stores index and name of the
 * device.  The descriptor can be closed after the call, and can come from another
 * process.  ENODEV if its device was removed, also if the node has the same name
 * again.
 *
 * Without XVERBS_BIND_BY_FD the call fails with EPERM, unless the module parameter
 * bind_by_name is set: then every process that may open /dev/xverbs may use every
 * device of its network namespace.  At most one flag can be set.
 */
struct xverbs_bind {
	struct xverbs_hdr hdr;
	__u32 index;
	__u32 async_event_size;
	char name[XVERBS_NAME_MAX];
	__s32 fd;
	__u32 reserved;
	struct xverbs_map out_alive;
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
 * EBUSY while another object uses it.  Unread events are dropped.  With the
 * counts a library can wait until all events that were read are acknowledged
 * (Manual 3.6.9, 3.7.2).
 *
 * If the firmware fails to destroy the object (EREMOTEIO and others), the object
 * stays and can be destroyed again, with two restrictions: a completion queue
 * raises no more events, and a doorbell page is no longer mapped.
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
#define XVERBS_ATOMIC_HCA	1	/* with respect to requests of this adapter */
#define XVERBS_ATOMIC_GLOB	2	/* also with respect to accesses of CPUs */

/* xverbs_query_device.out_exp_device_cap_flags, same values as ibv_exp_device_cap_flags */
#define XVERBS_EXP_DEVICE_DC_TRANSPORT		(1ull << 32)
#define XVERBS_EXP_DEVICE_EXT_ATOMICS		(1ull << 36)
#define XVERBS_EXP_DEVICE_UMR			(1ull << 38)
#define XVERBS_EXP_DEVICE_EXT_MASKED_ATOMICS	(1ull << 46)
#define XVERBS_EXP_DEVICE_CROSS_CHANNEL		(1ull << 60)

/* Calculation, same values as 1 << enum ibv_exp_calc_{op,data_type,data_size} */
#define XVERBS_CALC_OP_ADD	(1ull << 0)
#define XVERBS_CALC_OP_MAXLOC	(1ull << 1)
#define XVERBS_CALC_OP_BAND	(1ull << 2)
#define XVERBS_CALC_OP_BXOR	(1ull << 3)
#define XVERBS_CALC_OP_BOR	(1ull << 4)
#define XVERBS_CALC_TYPE_INT	(1ull << 0)
#define XVERBS_CALC_TYPE_UINT	(1ull << 1)
#define XVERBS_CALC_TYPE_FLOAT	(1ull << 2)
#define XVERBS_CALC_SIZE_64_BIT	(1ull << 0)

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
 * @out_max_qp_wr: work requests of minimum size on a work queue
 * @out_max_sge: elements of the list of a send or receive
 * @out_max_sge_rd: elements of the list of an RDMA read
 * @out_max_cq: completion queues
 * @out_max_cqe: entries of a completion queue
 * @out_max_mr: memory regions
 * @out_max_pd: protection domains
 * @out_max_qp_rd_atom: reads and atomics in flight per QP, as responder
 * @out_max_res_rd_atom: reads and atomics in flight of all QPs, as responder
 * @out_max_qp_init_rd_atom: reads and atomics in flight per QP, as requester
 * @out_atomic_cap: XVERBS_ATOMIC_*
 * @out_masked_atomic_cap: XVERBS_ATOMIC_* of masked atomics
 * @out_max_mw: memory windows
 * @out_max_raw_ipv6_qp: as ibv_device_attr
 * @out_max_mcast_grp: multicast groups
 * @out_max_mcast_qp_attach: QPs per group
 * @out_max_total_mcast_qp_attach: QPs in all groups
 * @out_max_ah: address handles
 * @out_max_srq: shared receive queues
 * @out_max_srq_wr: entries of an SRQ
 * @out_max_srq_sge: elements of the list of an SRQ entry
 * @out_max_pkeys: partitions
 * @out_local_ca_ack_delay: as ibv_device_attr
 * @out_phys_port_cnt: ports
 * @out_num_comp_vectors: completion vectors
 * @out_odp_caps: zero: on-demand paging is not supported
 * @out_max_sq_wqebbs: WQEBBs (64 bytes) of a send queue
 * @out_max_inline_data: bytes of inline data in a send (RC)
 * @out_cqe_version: 1: a CQE has the user index (PRM: cqe_version)
 * @out_max_file_objects: objects that this file may hold
 * @out_bf_bytes: BlueFlame buffer, 0 if there is none
 * @out_umr_fence: PRM: umr_fence
 * @out_vector_calc_ops: operations of a vector calculation, bit n for the operation
 *	with the number n in a request
 * @out_exp_device_cap_flags: XVERBS_EXP_DEVICE_*
 * @out_calc_data_types: calculation: bits XVERBS_CALC_TYPE_*
 * @out_calc_data_sizes: bits XVERBS_CALC_SIZE_*
 * @out_calc_int_ops: operations on signed numbers, bits XVERBS_CALC_OP_*
 * @out_calc_uint_ops: operations on unsigned numbers
 * @out_calc_fp_ops: operations on floating-point numbers
 * @out_vector_calc_max_count: vectors of one vector calculation
 * @out_vector_calc_max_chunk: bytes of the largest chunk of a vector calculation
 * @out_max_fa_bit_boundary: masked fetch-and-add: log2 of the size of the largest field
 *	in bytes
 * @out_max_mkey_klm_list_size: entries of an indirect key
 * @out_max_send_wqe_inline_klms: entries in the request that fills an indirect key
 * @out_max_umr_recursion_depth: indirect keys in a chain
 * @out_max_umr_stride_dimension: dimensions of a repeating block
 * @out_max_dct: DC targets, 0 if the device has none
 * @out_max_dc_req_rd_atom: reads and atomics in flight per DCI, as requester
 * @out_max_dc_res_rd_atom: reads and atomics in flight per DC target, as responder
 * @out_reserved2: zero
 * @out_atomic_arg_sizes: operands of masked atomics; the value of a bit is the size in
 *	bytes
 * @out_atomic_arg_sizes_be: those whose results are big-endian; the others have the byte
 *	order of the host
 * @out_log_max_atomic_inline: log2 of the size of all arguments of a request in bytes
 * @out_pci_atomic_fetch_add: fetch-and-add that is atomic with respect to CPUs, too,
 *	whatever @out_atomic_cap says: bit n for operands of 4 << n bytes
 * @out_pci_atomic_swap: the same for swaps
 * @out_pci_atomic_compare_swap: the same for compare-and-swap
 * @out_timestamp_mask: valid bits of CQE timestamps, 0: there are none
 * @out_inline_recv_sz: bytes of data in a CQE at most, see struct xverbs_qp_cap
 * @out_reserved: zero
 *
 * Manual 3.3.1, 3.8.1, A.1.2, B.2.1, C.1.1, D.2.1; other members: HCA capabilities of the PRM.
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
	__aligned_u64 out_exp_device_cap_flags;
	__aligned_u64 out_calc_data_types;
	__aligned_u64 out_calc_data_sizes;
	__aligned_u64 out_calc_int_ops;
	__aligned_u64 out_calc_uint_ops;
	__aligned_u64 out_calc_fp_ops;
	__u32 out_vector_calc_ops;
	__u32 out_vector_calc_max_count;
	__u32 out_vector_calc_max_chunk;
	__u32 out_max_fa_bit_boundary;
	__u32 out_max_mkey_klm_list_size;
	__u32 out_max_send_wqe_inline_klms;
	__u32 out_max_umr_recursion_depth;
	__u32 out_max_umr_stride_dimension;
	__u32 out_max_dct;
	__u32 out_max_dc_req_rd_atom;
	__u32 out_max_dc_res_rd_atom;
	__u32 out_reserved2;
	__aligned_u64 out_atomic_arg_sizes;
	__aligned_u64 out_atomic_arg_sizes_be;
	__u32 out_log_max_atomic_inline;
	__u32 out_pci_atomic_fetch_add;
	__u32 out_pci_atomic_swap;
	__u32 out_pci_atomic_compare_swap;
	__aligned_u64 out_timestamp_mask;
	__u32 out_inline_recv_sz;
	__u32 out_reserved;
};
#define XVERBS_QUERY_DEVICE _IO(XVERBS_TYPE, XVERBS_CMD_QUERY_DEVICE)

#define XVERBS_LINK_INFINIBAND	1
#define XVERBS_LINK_ETHERNET	2

/**
 * struct xverbs_query_port - ioctl(XVERBS_QUERY_PORT)
 * @hdr: header; no flags
 * @port: port number, from 1
 * @out_state: ibv_port_state: 1 down, 2 init, 3 armed, 4 active
 * @out_phys_state: as ibv_port_attr
 * @out_max_mtu: ibv_mtu: 1 = 256 bytes ... 5 = 4096
 * @out_active_mtu: ibv_mtu
 * @out_max_msg_sz: bytes of a message
 * @out_port_cap_flags: as ibv_port_attr
 * @out_port_cap_flags2: as ibv_port_attr
 * @out_gid_tbl_len: entries of the GID table
 * @out_pkey_tbl_len: entries of the P_Key table
 * @out_lid: base local identifier
 * @out_sm_lid: LID of the subnet manager
 * @out_bad_pkey_cntr: as ibv_port_attr
 * @out_qkey_viol_cntr: as ibv_port_attr
 * @out_lmc: number of low LID bits that are path bits
 * @out_sm_sl: service level of the subnet manager
 * @out_max_vl_num: as ibv_port_attr
 * @out_init_type_reply: as ibv_port_attr
 * @out_active_width: as ibv_port_attr
 * @out_link_layer: XVERBS_LINK_*
 * @out_subnet_timeout: as ibv_port_attr
 * @out_reserved: zero
 * @out_active_speed: bit of the lane speed, as ibv_port_attr.active_speed_ex
 * @out_ifindex: network device of a RoCE port in the network namespace of the
 *	caller, 0 if none
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
 * @port: port number, from 1
 * @index: index in the GID table of the port
 * @out_gid: the GID, as ibv_gid.raw
 * @out_type: XVERBS_GID_*
 * @out_ifindex: its network device in the network namespace of the caller, or 0
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
 * @port: port number, from 1
 * @index: index in the P_Key table of the port
 * @out_pkey: the P_Key in host byte order
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

/* Features.  Numbers and names never change meaning. */
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
	XVERBS_FEATURE_VECTOR_CALC		= 32,
	XVERBS_FEATURE_WAIT_ON_DATA		= 33,
	XVERBS_FEATURE_WAIT_ON_TIME		= 34,
	XVERBS_FEATURE_CQE_DATA			= 35,
	XVERBS_FEATURE_CQE_TIMESTAMPS		= 36,
	XVERBS_FEATURE_CQ_COMPRESSION		= 37,
	XVERBS_FEATURE_RELAXED_ORDERING		= 38,
	XVERBS_FEATURE_ECE			= 39,
};

/**
 * struct xverbs_feature - one entry of XVERBS_QUERY_FEATURES
 * @id: enum xverbs_feature_id
 * @available: 1 or 0
 * @name: short name, such as "rc" or "srq"
 * @why_not: reason in words, if not available
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
 * @entry_size: sizeof(struct xverbs_feature) in the version of the caller
 * @out_count: number of all features, which may be above @count
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

/**
 * struct xverbs_clock_map - ioctl(XVERBS_CLOCK_MAP)
 * @hdr: header; no flags
 * @out_map: a mapping that can only be read (PROT_READ)
 * @out_offset: offset of the clock in it
 * @reserved: zero
 *
 * Maps the clock that time stamps of completions are taken from (Manual 3.3.1,
 * hca_core_clock).  It is the internal timer of the initialization segment (PRM): two
 * big-endian 32-bit words, the upper half first.  They are not read at once: read the
 * upper half before and after the lower, until it is the same.  Each call returns
 * the same mapping.  After removal of the device the words are zero.
 */
struct xverbs_clock_map {
	struct xverbs_hdr hdr;
	struct xverbs_map out_map;
	__u32 out_offset;
	__u32 reserved;
};
#define XVERBS_CLOCK_MAP _IO(XVERBS_TYPE, XVERBS_CMD_CLOCK_MAP)

/* ---- Events -------------------------------------------------------------- */

#define XVERBS_EVENT_SIZE_MAX	1024	/* maximum size of a record that read() returns */
#define XVERBS_EVENT_LOG	128	/* unread asynchronous events with their order */

/*
 * Types of asynchronous events, same values as enum ibv_event_type (Manual 6.1); those of
 * DC targets as enum ibv_exp_event_type.
 *
 * If a change of P_Keys or of the policy of the security module (LSM) takes away the right
 * to the P_Key of a queue, a queue pair goes to the state ERR with QP_FATAL, and a DC target
 * is drained with DCT_ACCESS_ERR.
 */
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
	XVERBS_EVENT_DCT_KEY_VIOLATION		= 32,
	XVERBS_EVENT_DCT_ACCESS_ERR		= 33,
	XVERBS_EVENT_DCT_REQ_ERR		= 34,
};

/**
 * struct xverbs_async_event - record that read() on the bound file returns
 * @type: enum xverbs_event_type
 * @handle: the object, or 0 for events of ports and of the device
 * @user_data: as given when the object was created
 * @port: port number, or 0
 * @reserved: zero
 *
 * read() returns all pending events that fit into the buffer.  If there is none,
 * it sleeps, or returns EAGAIN with O_NONBLOCK.  poll() reports POLLIN.  Events come
 * in the order of time.  If the last unread event has the same type and object as a new
 * one, only one of the two is read.  Events of an XVERBS_QPT_XRC_RECV queue pair, which may
 * have many handles, are added a little later, so they can follow later events of others.
 *
 * A file keeps XVERBS_EVENT_LOG unread events in their order.  When there are more, and
 * until all of them have been read, an object keeps each type of its new events once:
 * the types in any order, but the latest last.  They are read after the others.
 *
 * When the device is removed, one XVERBS_EVENT_DEVICE_FATAL comes.  From then on poll() reports
 * POLLHUP and POLLERR, and also POLLIN while there are unread events of ports or of the
 * device; read() returns these, and then ENODEV.  Unread events of an object end with it.
 *
 * Each event has xverbs_bind.async_event_size bytes.  If the buffer is smaller than
 * one event, read() returns EINVAL.
 */
struct xverbs_async_event {
	__u32 type;
	__u32 handle;
	__aligned_u64 user_data;
	__u32 port;
	__u32 reserved;
};

/**
 * struct xverbs_comp_event - record that read() on a completion channel returns
 * @user_data: as given when the CQ was created
 *
 * read() and poll() work as for struct xverbs_async_event.  An event has
 * xverbs_channel_alloc.event_size bytes.  Removal of the device, and destruction of the
 * channel, drop unread events: read() returns ENODEV, poll() reports POLLHUP and POLLERR.
 */
struct xverbs_comp_event {
	__aligned_u64 user_data;
};

/* xverbs_channel_alloc.hdr.flags */
#define XVERBS_CHANNEL_NONBLOCK	(1u << 0)	/* sets O_NONBLOCK */

/**
 * struct xverbs_channel_alloc - ioctl(XVERBS_CHANNEL_ALLOC)
 * @hdr: header; XVERBS_CHANNEL_*
 * @event_size: sizeof(struct xverbs_comp_event) in the version of the caller, a
 *	multiple of 8 up to XVERBS_EVENT_SIZE_MAX: the size of each record that
 *	read() returns.  0: size of the first published version
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

/**
 * struct xverbs_pd_import - ioctl(XVERBS_PD_IMPORT)
 * @hdr: header; no flags
 * @fd: open file of ib_uverbs (/dev/infiniband/uverbsN; ibv_context.cmd_fd)
 * @pd: handle of a protection domain in that file (ibv_pd.handle)
 * @out_handle: the protection domain
 * @out_pdn: its number in the adapter
 * @number: its number in the kernel, RDMA_NLDEV_ATTR_RES_PDN of netlink ("pdn" in
 *	`rdma resource show pd`); 0: not known
 * @reserved: must be zero
 *
 * Makes a protection domain of ib_uverbs available to the objects of this file: their
 * work requests may use memory that was registered through ib_uverbs.  An open file of
 * ib_uverbs gives all rights on its objects, so it also gives the right to import them.
 *
 * ENOENT unless the open file @fd has a protection domain with the handle @pd on the
 * device of this file; also if that has another @number. Without a number the kernel searches, and
 * ENOENT is also returned if the device has allocated four million others since.
 * EBUSY while it is being deallocated.
 *
 * Work requests of this file must not use memory of the protection domain that is not
 * pinned: regions with on-demand paging (IBV_ACCESS_ON_DEMAND), and regions of a dma-buf
 * that its exporter may move (ibv_reg_dmabuf_mr()).  After a page fault the adapter
 * suspends the queue, and only ib_uverbs' driver can resume its own queues, so a queue of
 * this file stays suspended.  Access from the other side of a connection is no problem.
 *
 * While it is imported, ib_uverbs refuses to deallocate it (EBUSY), and the open file
 * stays open when all its descriptors are closed.  XVERBS_DESTROY ends the import; the
 * protection domain itself stays.
 */
struct xverbs_pd_import {
	struct xverbs_hdr hdr;
	__s32 fd;
	__u32 pd;
	__u32 out_handle;
	__u32 out_pdn;
	__u32 number;
	__u32 reserved;
};
#define XVERBS_PD_IMPORT _IO(XVERBS_TYPE, XVERBS_CMD_PD_IMPORT)

/* xverbs_uar_alloc.hdr.flags */
#define XVERBS_UAR_NC	(1u << 0)	/* uncached instead of write-combining */

/**
 * struct xverbs_uar_alloc - ioctl(XVERBS_UAR_ALLOC)
 * @hdr: header; XVERBS_UAR_*
 * @out_handle: the doorbell page, for CQ_CREATE and QP_CREATE
 * @out_page_id: its number in the adapter
 * @out_map: the page.  rdma/mlx5_ring.h has the offsets of the registers.
 * @out_bf_offset: offset of the first BlueFlame register
 * @out_bf_bytes: bytes of one BlueFlame buffer; 0: 8-byte doorbells only.
 *	A register has two buffers that alternate; the second follows the first.
 * @out_bf_regs: BlueFlame registers in the page
 * @out_bf_stride: bytes from one register to the next
 *
 * A doorbell page is not shared with other files.
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

/* Access flags of memory and QPs, same values as enum ibv_access_flags */
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
 * @access: XVERBS_ACCESS_*; unknown flags in bits 20-29 are optional and ignored,
 *	other unknown flags give EOPNOTSUPP
 * @addr: start of the memory
 * @length: bytes
 * @iova: address of @addr in work requests, with the same offset within a page;
 *	the region must not go beyond address 2^64 - 1.
 *	With XVERBS_ACCESS_ZERO_BASED it must be 0, and address 0 is then the start
 *	of the page that contains @addr
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
 * @change: XVERBS_REREG_*: which of the following members are used
 * @pd: as in struct xverbs_mr_reg
 * @access: as in struct xverbs_mr_reg
 * @addr: as in struct xverbs_mr_reg
 * @length: as in struct xverbs_mr_reg
 * @iova: as in struct xverbs_mr_reg
 * @out_lkey: new local key
 * @out_rkey: new remote key
 *
 * The region keeps its handle.  It keeps its keys if only the PD or access flags change
 * and the change is made in place; otherwise it gets new keys, and work requests with
 * the old keys fail.  A change is made in place if the PDs are not imported, and if only
 * LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE or, unless the adapter excludes it,
 * REMOTE_ATOMIC change.
 *
 * With XVERBS_REREG_TRANSLATION the kernel pins the new memory before it unpins the old
 * memory.  In two other cases it pins the range of the region again in the same way: the
 * change is not made in place, or the region was read-only and the new access flags allow
 * to write (EFAULT: the process may not write there).  While both are pinned, both count against
 * RLIMIT_MEMLOCK.
 *
 * If the call fails, the region keeps its handle.  After EREMOTEIO the keys may be
 * revoked: the next call for this region pins the memory again and gives it new keys.
 * After another error the region is unchanged.
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
 * @offset: offset in the dma-buf
 * @length: bytes
 * @iova: address of @offset in work requests, with the same offset within a page;
 *	the region must not go beyond address 2^64 - 1
 * @fd: the dma-buf
 * @out_handle: the memory region
 * @out_lkey: local key
 * @out_rkey: remote key
 *
 * The dma-buf is pinned while the region exists.
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
 * @out_rkey: its key, not bound.  A bind request (UMR, PRM) binds it and changes
 *	the low byte.
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
#define XVERBS_UMEM_DMABUF	(1u << 0)	/* memory is a part of the dma-buf @fd */

/**
 * struct xverbs_umem_reg - ioctl(XVERBS_UMEM_REG)
 * @hdr: header; XVERBS_UMEM_*
 * @addr: start of the user memory, or offset in the dma-buf; a multiple of the page
 *	size
 * @length: bytes
 * @out_handle: the UMEM, for struct xverbs_external
 * @fd: the dma-buf, with XVERBS_UMEM_DMABUF; otherwise zero
 *
 * Pins memory for rings and doorbell records.
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
 * struct xverbs_external - a queue in user memory (a part)
 * @ring_umem: UMEM of the ring, or 0: the kernel allocates the ring
 * @dbr_umem: UMEM of the doorbell record, or 0: the kernel allocates it
 * @ring_offset: of the ring in its UMEM, a multiple of the page size
 * @dbr_offset: of the record in its UMEM, a multiple of 64
 *
 * Before the call, the caller initialises that memory: entries of a CQ or SRQ as
 * described for out_ring, doorbell records with 0.  The outputs for mmap() are 0.
 */
struct xverbs_external {
	__u32 ring_umem;
	__u32 dbr_umem;
	__aligned_u64 ring_offset;
	__aligned_u64 dbr_offset;
};

/* xverbs_xrcd_open.hdr.flags */
#define XVERBS_XRCD_SHARED	(1u << 0)	/* identified by the file of @fd */
#define XVERBS_XRCD_CREATE	(1u << 1)	/* create it if it does not exist */
#define XVERBS_XRCD_EXCLUSIVE	(1u << 2)	/* fail with EEXIST if it exists */

/**
 * struct xverbs_xrcd_open - ioctl(XVERBS_XRCD_OPEN)
 * @hdr: header; XVERBS_XRCD_*.  Without SHARED: a new private domain.
 * @fd: an open regular file or memfd; processes that pass the same file share the
 *	domain, so the permissions of the file say who can.  Others are refused: all
 *	eventfds, for example, are one file to the kernel.  The domain keeps the
 *	mount of the file busy, as an open file does: umount() fails with EBUSY, and
 *	after a lazy umount the file system stays until the domain is closed.
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
#define XVERBS_CQ_CROSS_CHANNEL		(1u << 2)	/* wait requests may name it */

/**
 * struct xverbs_cq_create - ioctl(XVERBS_CQ_CREATE)
 * @hdr: header; XVERBS_CQ_*
 * @uar: doorbell page for arming the queue
 * @channel: completion channel, or 0
 * @entries: minimum number of entries, from 1
 * @cqe_bytes: 64 or 128
 * @comp_vector: below xverbs_query_device.out_num_comp_vectors
 * @reserved: zero
 * @user_data: returned with events
 * @out_handle: the completion queue
 * @out_cqn: its number in the adapter
 * @out_entries: entries of the ring, a power of two.  One of them must stay free.
 * @out_dbr_offset: offset of the doorbell record within @out_dbr
 * @out_ring: the ring, @out_entries * @cqe_bytes from its start; the op_own of each
 *	entry is initialised with MLX5R_CQE_INVALID << 4 | MLX5R_CQE_OWNER
 * @out_dbr: the page of the doorbell record.  Several queues of this file can have
 *	their records in one page; @out_dbr is then the same.
 * @external: part struct xverbs_external: user memory instead of kernel memory;
 *	may be absent
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
 * @change: XVERBS_CQ_*: which of the following members are used
 * @count: completions per event, 16 bits
 * @period_us: microseconds until an event comes with fewer completions, 12 bits
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
 * @entries: minimum number of entries, at least the number of completions in the
 *	ring
 * @out_entries: entries of the new ring, a power of two
 * @reserved: zero
 * @out_ring: the new ring
 *
 * The adapter writes an entry MLX5R_CQE_RESIZE to the old ring.  Entries before it
 * must be polled in the old ring.  This entry has an index of its own: the next completion
 * has the index after it, modulo the new size, in the new ring.  The new ring is initialised
 * as in CQ_CREATE.
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
#define XVERBS_SRQ_CONTIGUOUS	1	/* a ring like the receive queue of a QP */

/**
 * struct xverbs_srq_create - ioctl(XVERBS_SRQ_CREATE)
 * @hdr: header; no flags
 * @pd: protection domain
 * @layout: XVERBS_SRQ_*
 * @max_wr: minimum number of entries
 * @max_sge: minimum number of elements of the list of an entry
 * @limit: raise XVERBS_EVENT_SRQ_LIMIT_REACHED once when fewer entries are
 *	posted; 0: do not
 * @xrcd: XRC domain of an XRC SRQ; or 0
 * @cq: XRC SRQ: completion queue of its receives; or 0
 * @user_index: XRC SRQ: as in struct xverbs_qp_create
 * @user_data: returned with events
 * @out_handle: the shared receive queue
 * @out_srqn: its number
 * @out_max_wr: maximum number of posted entries
 * @out_max_sge: elements of the list of an entry
 * @out_wqes: entries of the ring, a power of two
 * @out_stride: bytes from one entry to the next
 * @out_dbr_offset: offset of the doorbell record within @out_dbr
 * @reserved: zero
 * @out_ring: the ring.  With XVERBS_SRQ_LINKED, next_wqe_index of each entry is
 *	initialised with the index of the following entry, in the last entry with 0.
 * @out_dbr: the page of the doorbell record, see struct xverbs_cq_create
 * @external: part struct xverbs_external: user memory instead of kernel memory;
 *	may be absent
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
 * @limit: arms the limit event again; 0 disarms it
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
 * @out_limit: the limit if it is armed, else 0
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

/* Types, same values as enum ibv_qp_type and IBV_EXP_QPT_DC_INI */
#define XVERBS_QPT_RC		2
#define XVERBS_QPT_UC		3
#define XVERBS_QPT_UD		4
#define XVERBS_QPT_XRC_SEND	9
#define XVERBS_QPT_XRC_RECV	10
#define XVERBS_QPT_DCI		32	/* DC initiator: sends to DC targets */

/* xverbs_qp_create.hdr.flags */
#define XVERBS_QP_CROSS_CHANNEL	(1u << 0)	/* PRM: qpc.cd_master */
#define XVERBS_QP_MANAGED_SEND	(1u << 1)	/* PRM: qpc.cd_slave_send */
#define XVERBS_QP_MANAGED_RECV	(1u << 2)	/* PRM: qpc.cd_slave_receive */

/**
 * struct xverbs_qp_cap - sizes of a queue pair (ibv_qp_cap; a part)
 * @max_send_wr: outstanding send requests
 * @max_recv_wr: outstanding receive requests; 0 with an SRQ
 * @max_send_sge: elements of the list of a send
 * @max_recv_sge: elements of the list of a receive
 * @max_inline_data: bytes of inline data in a send
 * @max_atomic_arg: bytes of the operand of a masked atomic; 0 on return: there are none
 * @max_inl_recv: data in the CQE of a receive (PRM: qpc.cs_res).  A message of up to so
 *	many bytes may be in the CQE instead of the memory of the receive.  On return 0, 32,
 *	or 64 if CQEs have 128 bytes
 * @max_inl_resp: the same for the response to a signalled read or atomic (qpc.cs_req)
 */
struct xverbs_qp_cap {
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_inline_data;
	__u32 max_atomic_arg;
	__u32 max_inl_recv;
	__u32 max_inl_resp;
};

/**
 * struct xverbs_qp_create - ioctl(XVERBS_QP_CREATE)
 * @hdr: header; XVERBS_QP_CROSS_CHANNEL and XVERBS_QP_MANAGED_*
 * @type: XVERBS_QPT_*
 * @pd: protection domain
 * @send_cq: completion queue of sends
 * @recv_cq: completion queue of receives
 * @srq: shared receive queue, or 0
 * @uar: doorbell page
 * @xrcd: XVERBS_QPT_XRC_RECV: its XRC domain
 * @user_index: 24-bit value in srqn_uidx of CQEs, if out_cqe_version of the device
 *	is 1.  Should be unique for each QP.
 * @user_data: returned with events
 * @cap: part struct xverbs_qp_cap: minimum sizes
 * @out_cap: part struct xverbs_qp_cap: actual sizes
 * @external: part struct xverbs_external: user memory instead of kernel memory;
 *	may be absent
 * @out_handle: the queue pair
 * @out_qpn: its number
 * @out_sq_offset: offset of the send queue within @out_ring
 * @out_sq_wqebbs: its WQEBBs (64 bytes), a power of two or 0
 * @out_rq_offset: offset of the receive queue within @out_ring
 * @out_rq_wqes: its entries, a power of two or 0
 * @out_rq_stride: bytes from one entry to the next
 * @out_dbr_offset: offset of the doorbell record within @out_dbr
 * @out_ring: both work queues
 * @out_dbr: the page of the doorbell record, see struct xverbs_cq_create
 *
 * XVERBS_QPT_XRC_SEND has no @recv_cq; DCI may have one, which is not used.
 * XVERBS_QPT_XRC_RECV has no CQs, no rings, no @pd and no @uar.  The members are 0 then.
 * Manual 3.4.3, A.1.7.
 *
 * XVERBS_QP_CROSS_CHANNEL: requests in the send queue may wait, and may enable requests
 * of managed queues.  XVERBS_QP_MANAGED_SEND, XVERBS_QP_MANAGED_RECV:
 * requests of the queue run only after an enable request of another queue pair.  The
 * types XVERBS_QPT_RC, UC, XRC_SEND and DCI can have these flags.  Manual D.2.3.
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

/* States, same values as enum ibv_qp_state */
#define XVERBS_QPS_RESET	0
#define XVERBS_QPS_INIT		1
#define XVERBS_QPS_RTR		2
#define XVERBS_QPS_RTS		3
#define XVERBS_QPS_SQD		4
#define XVERBS_QPS_SQE		5
#define XVERBS_QPS_ERR		6

/* Members of struct xverbs_qp_attr, same values as enum ibv_qp_attr_mask */
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
#define XVERBS_QP_DC_KEY		(1u << 27)
#define XVERBS_QP_ECE			(1u << 28)

/* Path migration states, same values as enum ibv_mig_state */
#define XVERBS_MIG_MIGRATED	0
#define XVERBS_MIG_REARM	1
#define XVERBS_MIG_ARMED	2

/**
 * struct xverbs_ah_attr - address of a peer (ibv_ah_attr; a part)
 * @dgid: GRH: destination GID.  On RoCE it is resolved, except for a DCI
 * @flow_label: GRH: 20 bits
 * @dlid: destination LID (InfiniBand)
 * @sgid_index: GRH: index of the source GID
 * @hop_limit: GRH.  On RoCE the route has one, which replaces it and which QP_QUERY returns
 * @traffic_class: GRH
 * @sl: service level, 4 bits
 * @src_path_bits: low bits of the source LID
 * @static_rate: enum ibv_rate, 0 = no limit.  If the adapter does not support the
 *	rate, it uses the next lower one
 * @is_global: 1: send a GRH; must be 1 on RoCE
 * @port_num: local port
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
 * @qp_state: XVERBS_QPS_*, the new state
 * @cur_qp_state: the state that the caller assumes
 * @path_mtu: 1 = 256 bytes ... 5 = 4096
 * @path_mig_state: XVERBS_MIG_*; when both sides are in REARM, they become ARMED
 * @qkey: UD
 * @rq_psn: first PSN to receive, 24 bits
 * @sq_psn: first PSN to send, 24 bits
 * @dest_qp_num: QP number of the peer, 24 bits
 * @qp_access_flags: XVERBS_ACCESS_REMOTE_*
 * @pkey_index: index of the P_Key
 * @alt_pkey_index: index of the P_Key of the alternate path
 * @en_sqd_async_notify: raise XVERBS_EVENT_SQ_DRAINED
 * @sq_draining: query only: 1 while the send queue drains
 * @max_rd_atomic: reads and atomics in flight as requester
 * @max_dest_rd_atomic: reads and atomics in flight as responder
 * @min_rnr_timer: code of the RNR timer, 5 bits
 * @port_num: local port
 * @timeout: code of the acknowledge timeout, 5 bits, 0 = infinite
 * @retry_cnt: 3 bits
 * @rnr_retry: 3 bits, 7 = infinite
 * @alt_port_num: local port of the alternate path
 * @alt_timeout: acknowledge timeout of the alternate path
 * @reserved: zero
 * @ece: options of the vendor for the connection (ibv_ece.options): those that are
 *	wanted.  Query: those that the adapter granted last; before the first
 *	modification, those that it offers.  With feature XVERBS_FEATURE_ECE
 * @dct_key: DCI: access key; each request has its own key, which is used
 *
 * The address vectors are separate parts.
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
	__u32 ece;
	__aligned_u64 dct_key;
};

/**
 * struct xverbs_qp_modify - ioctl(XVERBS_QP_MODIFY)
 * @hdr: header; no flags
 * @qp: the queue pair
 * @attr_mask: XVERBS_QP_*: the members of @attr that are used
 * @attr: part struct xverbs_qp_attr: new values.  Other members are ignored.
 * @ah_attr: part struct xverbs_ah_attr: the path to the peer, with XVERBS_QP_AV
 * @alt_ah_attr: part struct xverbs_ah_attr: the alternate path, with
 *	XVERBS_QP_ALT_PATH
 * @out_state: the state after the call
 * @reserved: zero
 *
 * EINVAL if the transition needs or forbids an attribute; the reason names it.  On
 * InfiniBand, the security module (LSM) must allow the P_Keys to each process that created
 * or opened the queue pair, or the call fails with EACCES.  On
 * RoCE the call resolves the MAC address of the GID, and may wait for it.
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
 * struct xverbs_qp_init - attributes of creation (ibv_qp_init_attr; a part)
 * @user_data: as passed for this handle
 * @type: XVERBS_QPT_*
 * @pd: handle, as passed
 * @send_cq: handle, as passed
 * @recv_cq: handle, as passed
 * @srq: handle, as passed
 * @uar: handle, as passed
 * @xrcd: handle, as passed
 * @user_index: as passed
 * @flags: XVERBS_QP_CROSS_CHANNEL and XVERBS_QP_MANAGED_*, as passed
 * @reserved: zero
 *
 * Handles are those of this file, or 0.  A queue pair that was opened by its number
 * has only @xrcd.  There is no sq_sig_all, because each work request says whether it
 * is signalled.
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
	__u32 flags;
	__u32 reserved;
};

/**
 * struct xverbs_qp_query - ioctl(XVERBS_QP_QUERY)
 * @hdr: header; no flags
 * @qp: the queue pair
 * @reserved: zero
 * @out_attr: part struct xverbs_qp_attr: all attributes.  qp_state and cur_qp_state
 *	are the state in the adapter.
 * @out_ah_attr: part struct xverbs_ah_attr: the path to the peer
 * @out_alt_ah_attr: part struct xverbs_ah_attr: the alternate path
 * @out_cap: part struct xverbs_qp_cap: sizes
 * @out_init: part struct xverbs_qp_init: attributes of creation
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

#define XVERBS_MAX_QP_HANDLES	1024	/* of a queue pair of type XVERBS_QPT_XRC_RECV */

/**
 * struct xverbs_qp_open - ioctl(XVERBS_QP_OPEN)
 * @hdr: header; no flags
 * @xrcd: XRC domain
 * @qpn: number of a queue pair of type XVERBS_QPT_XRC_RECV in the domain, which any
 *	file may have created
 * @user_data: returned with events
 * @out_handle: the queue pair
 * @reserved: zero
 *
 * The queue pair exists until its last handle is destroyed.  Each handle gets its
 * events.  A queue pair has at most XVERBS_MAX_QP_HANDLES handles, with that of its
 * creator; one more fails with ENOSPC.  EACCES if the security module (LSM) denies its
 * P_Keys.  Manual 3.4.13, 3.4.14.
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
 * @out_av: struct mlx5r_av, 48 bytes, for a work request.  The caller adds Q_Key and
 *	destination QP number.
 *
 * Creates no object.  On RoCE the call resolves the MAC address, and may wait for it.
 * Manual 3.4.15.
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
 * When a QP is destroyed, it is detached from all its groups.  Manual 3.6.13, 3.6.14.
 */
struct xverbs_mcast {
	struct xverbs_hdr hdr;
	__u32 qp;
	__u32 lid;
	__u8 gid[16];
};
#define XVERBS_MCAST_ATTACH _IO(XVERBS_TYPE, XVERBS_CMD_MCAST_ATTACH)
#define XVERBS_MCAST_DETACH _IO(XVERBS_TYPE, XVERBS_CMD_MCAST_DETACH)

/* xverbs_mkey_create.hdr.flags */
#define XVERBS_MKEY_REMOTE_INVALIDATE	(1u << 0)	/* a peer may invalidate it */

/**
 * struct xverbs_mkey_create - ioctl(XVERBS_MKEY_CREATE)
 * @hdr: header; XVERBS_MKEY_*
 * @pd: protection domain
 * @max_entries: entries of its list, up to out_max_mkey_klm_list_size; a repeating block
 *	needs one more than it has parts
 * @out_handle: the indirect key
 * @out_key: lkey and rkey, without access until a UMR request (PRM) fills it.  The
 *	adapter refuses an access through keys of another protection domain.
 * @out_max_entries: entries, rounded up
 * @reserved: zero
 *
 * A key of more than 64 entries counts as locked memory, 16 bytes for an entry.  Manual C.1.3.
 */
struct xverbs_mkey_create {
	struct xverbs_hdr hdr;
	__u32 pd;
	__u32 max_entries;
	__u32 out_handle;
	__u32 out_key;
	__u32 out_max_entries;
	__u32 reserved;
};
#define XVERBS_MKEY_CREATE _IO(XVERBS_TYPE, XVERBS_CMD_MKEY_CREATE)

/**
 * struct xverbs_mkey_query - ioctl(XVERBS_MKEY_QUERY)
 * @hdr: header; no flags
 * @mkey: indirect key
 * @out_max_entries: entries
 * @out_filled: 1 if it is filled, 0 if it is not or was invalidated
 * @reserved: zero
 *
 * Manual C.1.3.
 */
struct xverbs_mkey_query {
	struct xverbs_hdr hdr;
	__u32 mkey;
	__u32 out_max_entries;
	__u32 out_filled;
	__u32 reserved;
};
#define XVERBS_MKEY_QUERY _IO(XVERBS_TYPE, XVERBS_CMD_MKEY_QUERY)

/* ---- DC targets ---------------------------------------------------------------- */

/**
 * struct xverbs_dct_attr - attributes of a DC target (a part)
 * @dc_key: access key; a message with another key is not delivered
 * @access: XVERBS_ACCESS_REMOTE_*: what initiators may do
 * @flow_label: of packets that the target sends with a GRH, 20 bits
 * @mtu: 1 = 256 bytes ... 5 = 4096
 * @inline_size: if it is not 0 and CQEs have 128 bytes, the CQE of a receive may contain a
 *	message of up to 64 bytes, which then is not in the memory of the receive (PRM:
 *	dctc.cs_res).  A query returns 64 if this is so, otherwise 0.
 * @pkey_index: index of the P_Key
 * @port: local port
 * @gid_index: index of the source GID
 * @hop_limit: of packets that the target sends with a GRH
 * @tclass: traffic class of packets that the target sends with a GRH
 * @min_rnr_timer: code of the RNR timer, 5 bits
 * @sl: service level, 4 bits.  On RoCE, its lower 3 bits are the Ethernet priority of packets
 *	that the target sends.  On InfiniBand it has no effect.  It was reserved in the first
 *	published version.
 * @ece: options of the vendor for connections (ibv_ece.options) that are wanted.  Query:
 *	those that the adapter granted.  With feature XVERBS_FEATURE_ECE
 * @reserved2: zero
 */
struct xverbs_dct_attr {
	__aligned_u64 dc_key;
	__u32 access;
	__u32 flow_label;
	__u32 mtu;
	__u32 inline_size;
	__u16 pkey_index;
	__u8 port;
	__u8 gid_index;
	__u8 hop_limit;
	__u8 tclass;
	__u8 min_rnr_timer;
	__u8 sl;
	__u32 ece;
	__u32 reserved2;
};

/**
 * struct xverbs_dct_create - ioctl(XVERBS_DCT_CREATE)
 * @hdr: header; no flags
 * @pd: protection domain; its keys are valid in messages and in receives
 * @cq: completion queue of receives
 * @srq: shared receive queue, not an XRC SRQ
 * @user_index: as in struct xverbs_qp_create, for completions of receives
 * @user_data: returned with events
 * @attr: part struct xverbs_dct_attr
 * @out_handle: the DC target
 * @out_dctn: its number, for initiators
 *
 * The target receives at once.  XVERBS_DESTROY waits until the messages in flight have
 * ended.  Manual A.1.3, A.1.4.
 */
struct xverbs_dct_create {
	struct xverbs_hdr hdr;
	__u32 pd;
	__u32 cq;
	__u32 srq;
	__u32 user_index;
	__aligned_u64 user_data;
	struct xverbs_part attr;
	__u32 out_handle;
	__u32 out_dctn;
};
#define XVERBS_DCT_CREATE _IO(XVERBS_TYPE, XVERBS_CMD_DCT_CREATE)

/* States, xverbs_dct_query.out_state */
#define XVERBS_DCT_ACTIVE	0
#define XVERBS_DCT_DRAINING	1
#define XVERBS_DCT_DRAINED	2

/* Event of key violations, xverbs_dct_query.out_arm_state */
#define XVERBS_DCT_NOT_ARMED	0
#define XVERBS_DCT_ARMED	1
#define XVERBS_DCT_FIRED	2	/* the event was raised */

/**
 * struct xverbs_dct_query - ioctl(XVERBS_DCT_QUERY)
 * @hdr: header; no flags
 * @dct: the DC target
 * @out_state: XVERBS_DCT_ACTIVE...
 * @out_arm_state: XVERBS_DCT_NOT_ARMED...
 * @out_key_violations: number of messages with a wrong key
 * @out_pd: handle, as passed
 * @out_cq: handle, as passed
 * @out_srq: handle, as passed
 * @out_user_index: as passed
 * @out_attr: part struct xverbs_dct_attr, as the adapter has it; may be absent
 *
 * Manual A.1.5.
 */
struct xverbs_dct_query {
	struct xverbs_hdr hdr;
	__u32 dct;
	__u32 out_state;
	__u32 out_arm_state;
	__u32 out_key_violations;
	__u32 out_pd;
	__u32 out_cq;
	__u32 out_srq;
	__u32 out_user_index;
	struct xverbs_part out_attr;
};
#define XVERBS_DCT_QUERY _IO(XVERBS_TYPE, XVERBS_CMD_DCT_QUERY)

/**
 * struct xverbs_dct_arm - ioctl(XVERBS_DCT_ARM)
 * @hdr: header; no flags
 * @dct: the DC target
 * @reserved: zero
 *
 * The next message with a wrong key raises XVERBS_EVENT_DCT_KEY_VIOLATION, once.
 * While the target is armed, the call has no effect.  A device has up to 8192 armed
 * targets, of all processes; one more fails with ENOSPC.  Manual A.1.6.
 */
struct xverbs_dct_arm {
	struct xverbs_hdr hdr;
	__u32 dct;
	__u32 reserved;
};
#define XVERBS_DCT_ARM _IO(XVERBS_TYPE, XVERBS_CMD_DCT_ARM)

#endif
