/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libxverbs: verbs on /dev/xverbs.  This header has the control path.  It
 * includes dp.h, which has posting and polling.
 *
 * Names and meanings are those of ibverbs, with xv_ instead of ibv_.
 *
 * Results: a function that creates an object returns it, or NULL with errno
 * set.  Other functions return 0 or a count, or a negative error number, and set errno
 * to it.  After a failure, xv_last_error() returns a text with object, attribute and
 * reason.  A call that succeeds leaves errno and the text alone.  -EAGAIN of a function
 * that reads events has no text either.
 *
 * Attribute structures: for every member, 0 is the default.  Clear the structure
 * and set the members that you need.  Functions with an attribute structure are
 * inline wrappers that also pass its size, so that program and library may be
 * built with different versions of the structure.  Structures that are members of others do not
 * grow: struct xv_qp_cap, xv_ah_attr with xv_global_route, and xv_srq_attr have the layout of
 * ibverbs, struct xv_external has reserved members, which must be 0.
 *
 * Threads: any thread may call functions of the control path, but no thread may
 * destroy an object while another thread uses it.  For the data path see dp.h.
 */
#ifndef XVERBS_XVERBS_H
#define XVERBS_XVERBS_H

#include <stddef.h>
#include <xverbs/dp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors and names ---------------------------------------------------- */

/* Text for the last failed call of this thread, one line */
const char *xv_last_error(void);

/* err: an error number, positive or negative */
const char *xv_strerror(int err);

const char *xv_wc_status_str(enum xv_wc_status status);
const char *xv_wc_opcode_str(enum xv_wc_opcode opcode);
/* The cause that is publicly known for xv_wc.vendor_err, or "unknown" */
const char *xv_vendor_err_str(uint32_t vendor_err);
const char *xv_qp_state_str(enum xv_qp_state state);
const char *xv_qp_type_str(enum xv_qp_type type);

/* Codes of the adapter that xv_explain() knows */
enum xv_code {
	XV_CODE_SYNDROME,		/* of a firmware command that failed */
	XV_CODE_VENDOR_ERR,		/* of a completion with an error */
};

/*
 * What others have found about a code.  Texts are in English, one line, never NULL; "" if there is
 * nothing to say.  The structure never changes.
 */
struct xv_explanation {
	uint32_t code;
	uint32_t status;		/* of the command, 0: not known; or enum xv_wc_status */
	const char *where;		/* the commands that answered with the syndrome */
	const char *cause;
	const char *check;		/* what to look at */
	const char *source;
};

/*
 * The first explanation of a code, or with @after, which it has returned for the same code, the
 * next one.  NULL: there is none.
 */
const struct xv_explanation *xv_explain(enum xv_code kind, uint32_t code,
					const struct xv_explanation *after);

/* ---- Version --------------------------------------------------------------- */

/* The version of this header; the same as PACKAGE_VERSION of dkms.conf */
#define XV_VERSION_MAJOR	0
#define XV_VERSION_MINOR	1
#define XV_VERSION_PATCH	0
#define XV_VERSION_NUM		(XV_VERSION_MAJOR << 16 | XV_VERSION_MINOR << 8 | XV_VERSION_PATCH)

/* The version of the library, as text and as number */
const char *xv_version(void);
uint32_t xv_version_num(void);

/* ---- Devices --------------------------------------------------------------- */

enum xv_node_type {
	XV_NODE_UNKNOWN		= -1,
	XV_NODE_CA		= 1,
	XV_NODE_SWITCH,
	XV_NODE_ROUTER,
	XV_NODE_RNIC,
	XV_NODE_USNIC,
	XV_NODE_USNIC_UDP,
	XV_NODE_UNSPECIFIED,
};

enum xv_transport_type {
	XV_TRANSPORT_UNKNOWN	= -1,
	XV_TRANSPORT_IB,		/* InfiniBand and RoCE */
	XV_TRANSPORT_IWARP,
	XV_TRANSPORT_USNIC,
	XV_TRANSPORT_USNIC_UDP,
	XV_TRANSPORT_UNSPECIFIED,
};

struct xv_device {
	char name[64];
	uint64_t node_guid;		/* big-endian */
	uint32_t index;
	uint32_t ports;
	uint32_t vendor_id;
	uint32_t part_id;
	uint32_t available;		/* nonzero: xv_open() accepts it for this process */
	char why_not[192];		/* reason, if it is not available */
	enum xv_node_type node_type;
	enum xv_transport_type transport_type;
	char dev_name[64];		/* name of the node in /dev/infiniband, or empty */
	char dev_path[256];		/* sysfs path of the node, or empty */
	char ibdev_path[256];		/* sysfs path of the RDMA device */
};

/*
 * Returns an array of pointers that ends with NULL, and stores their number in
 * *num unless num is NULL.  xv_free_device_list() frees the array and its entries;
 * open contexts do not need them.
 */
struct xv_device **xv_get_device_list(int *num);
void xv_free_device_list(struct xv_device **list);

/* The name is valid as long as the list; the GUID is big-endian. */
const char *xv_get_device_name(const struct xv_device *device);
uint64_t xv_get_device_guid(const struct xv_device *device);
const char *xv_node_type_str(enum xv_node_type type);

struct xv_context {
	char name[64];
	uint32_t index;
	int fd;				/* readable if an asynchronous event is pending */
	const volatile uint32_t *alive;	/* see xv_device_removed() */
};

/*
 * The data path is compiled into the program, so a context is opened only for a program whose
 * version of this header fits the library: the same major version, before 1.0 also the same
 * minor version.  Else errno is EPROTONOSUPPORT.
 */
struct xv_context *xv_open_v(const char *name, uint32_t version);
struct xv_context *xv_open_device_v(const struct xv_device *device, uint32_t version);

/* name: RDMA device, such as "mlx5_0"; NULL: the first available device */
static inline struct xv_context *xv_open(const char *name)
{
	return xv_open_v(name, XV_VERSION_NUM);
}

/* Opens an entry of the device list, by its index. */
static inline struct xv_context *xv_open_device(const struct xv_device *device)
{
	return xv_open_device_v(device, XV_VERSION_NUM);
}

/*
 * Destroys all objects of the context, in the adapter and in this process:
 * structures, mappings and file descriptors.  All pointers to them become invalid.
 * No other thread may use the context or sleep in one of its functions during the
 * call.  Events need not be acknowledged.
 *
 * In a child of fork(), it releases the copies of the child only; the objects
 * belong to the parent.  Returns 0.
 */
int xv_close(struct xv_context *ctx);

/*
 * Nonzero if the device of the context was removed.  Then posts still succeed, but no
 * completion comes any more, so a thread that only polls tests it from time to time.
 * Costs one load, without a system call.
 */
static inline int xv_device_removed(const struct xv_context *ctx)
{
	return ctx->alive && !*ctx->alive;
}

enum xv_atomic_cap {
	XV_ATOMIC_NONE,
	XV_ATOMIC_HCA,
	XV_ATOMIC_GLOB,
};

/* xv_device_attr.device_cap_flags; bits without a name here are as in ibverbs */
#define XV_DEVICE_RESIZE_MAX_WR		(1ull << 0)
#define XV_DEVICE_BAD_PKEY_CNTR		(1ull << 1)
#define XV_DEVICE_BAD_QKEY_CNTR		(1ull << 2)
#define XV_DEVICE_RAW_MULTI		(1ull << 3)
#define XV_DEVICE_AUTO_PATH_MIG		(1ull << 4)
#define XV_DEVICE_CHANGE_PHY_PORT	(1ull << 5)
#define XV_DEVICE_UD_AV_PORT_ENFORCE	(1ull << 6)
#define XV_DEVICE_CURR_QP_STATE_MOD	(1ull << 7)
#define XV_DEVICE_SHUTDOWN_PORT		(1ull << 8)
#define XV_DEVICE_INIT_TYPE		(1ull << 9)
#define XV_DEVICE_PORT_ACTIVE_EVENT	(1ull << 10)
#define XV_DEVICE_SYS_IMAGE_GUID	(1ull << 11)
#define XV_DEVICE_RC_RNR_NAK_GEN	(1ull << 12)
#define XV_DEVICE_SRQ_RESIZE		(1ull << 13)
#define XV_DEVICE_N_NOTIFY_CQ		(1ull << 14)
#define XV_DEVICE_MEM_WINDOW		(1ull << 17)
#define XV_DEVICE_UD_IP_CSUM		(1ull << 18)
#define XV_DEVICE_XRC			(1ull << 20)
#define XV_DEVICE_MEM_MGT_EXTENSIONS	(1ull << 21)
#define XV_DEVICE_MEM_WINDOW_TYPE_2A	(1ull << 23)
#define XV_DEVICE_MEM_WINDOW_TYPE_2B	(1ull << 24)
#define XV_DEVICE_RC_IP_CSUM		(1ull << 25)
#define XV_DEVICE_RAW_IP_CSUM		(1ull << 26)
#define XV_DEVICE_MANAGED_FLOW_STEERING	(1ull << 29)

/* xv_device_attr.exp_device_cap_flags, values as in ibv_exp_device_cap_flags */
#define XV_EXP_DEVICE_DC_TRANSPORT	(1ull << 32)
#define XV_EXP_DEVICE_EXT_ATOMICS	(1ull << 36)
#define XV_EXP_DEVICE_UMR		(1ull << 38)
#define XV_EXP_DEVICE_EXT_MASKED_ATOMICS (1ull << 46)
#define XV_EXP_DEVICE_CROSS_CHANNEL	(1ull << 60)

/* What requests with XV_SEND_WITH_CALC can do: bits 1 << value of the enum */
struct xv_calc_cap {
	uint64_t data_types;		/* enum xv_calc_data_type */
	uint64_t data_sizes;		/* enum xv_calc_data_size */
	uint64_t int_ops;		/* enum xv_calc_op, for each data type */
	uint64_t uint_ops;
	uint64_t fp_ops;
};

/* What requests with XV_SEND_WITH_VECTOR_CALC can do; ops 0: nothing */
struct xv_vector_calc_cap {
	uint32_t ops;			/* bits 1 << enum xv_vector_op */
	uint32_t max_count;		/* vectors */
	uint32_t max_chunk;		/* bytes */
	uint32_t reserved;
};

/* Indirect keys; all 0: not supported */
struct xv_umr_caps {
	uint32_t max_mkey_klm_list_size;	/* entries of a key */
	uint32_t max_send_wqe_inline_klms;	/* entries in a request */
	uint32_t max_umr_recursion_depth;	/* keys in a chain */
	uint32_t max_umr_stride_dimension;	/* of repeating blocks */
};

/* Masked atomics; atomic_arg_sizes 0: none */
struct xv_ext_atomics_params {
	uint64_t atomic_arg_sizes;	/* operands; the value of a bit is the size in bytes */
	uint64_t atomic_arg_sizes_be;	/* those with big-endian results, see xv_atomic_value() */
	uint32_t max_fa_bit_boundary;	/* log2 of the size of the largest field in bytes */
	uint32_t log_max_atomic_inline;	/* log2 of the size of all arguments in bytes */
};

/* Operations that are atomic with respect to CPUs, too: bit n for operands of 4 << n bytes */
struct xv_pci_atomic_caps {
	uint32_t fetch_add;
	uint32_t swap;
	uint32_t compare_swap;
	uint32_t reserved;
};

struct xv_device_attr {
	char fw_ver[64];
	uint64_t node_guid;		/* big-endian */
	uint64_t sys_image_guid;	/* big-endian */
	uint64_t max_mr_size;
	uint64_t page_size_cap;
	uint64_t device_cap_flags;	/* XV_DEVICE_* */
	uint64_t hca_core_clock;	/* kHz */
	uint64_t max_dm_size;
	uint32_t vendor_id;
	uint32_t vendor_part_id;
	uint32_t hw_ver;
	uint32_t max_qp;
	uint32_t max_qp_wr;
	uint32_t max_sge;
	uint32_t max_sge_rd;
	uint32_t max_cq;
	uint32_t max_cqe;
	uint32_t max_mr;
	uint32_t max_pd;
	uint32_t max_qp_rd_atom;
	uint32_t max_res_rd_atom;
	uint32_t max_qp_init_rd_atom;
	uint32_t atomic_cap;		/* enum xv_atomic_cap */
	uint32_t masked_atomic_cap;
	uint32_t max_mw;
	uint32_t max_raw_ipv6_qp;
	uint32_t max_mcast_grp;
	uint32_t max_mcast_qp_attach;
	uint32_t max_total_mcast_qp_attach;
	uint32_t max_ah;
	uint32_t max_srq;
	uint32_t max_srq_wr;
	uint32_t max_srq_sge;
	uint32_t max_pkeys;
	uint32_t local_ca_ack_delay;
	uint32_t phys_port_cnt;
	uint32_t num_comp_vectors;
	uint32_t odp_caps;
	uint32_t max_sq_wqebbs;
	uint32_t max_inline_data;
	uint32_t cqe_version;
	uint32_t max_file_objects;
	uint32_t bf_bytes;
	uint32_t umr_fence;
	uint64_t exp_device_cap_flags;	/* XV_EXP_DEVICE_* */
	struct xv_calc_cap calc_cap;
	struct xv_vector_calc_cap vector_calc_cap;
	struct xv_umr_caps umr_caps;
	uint32_t max_dct;
	uint32_t max_dc_req_rd_atom;
	uint32_t max_dc_res_rd_atom;
	uint32_t inline_recv_sz;	/* bytes of data in a completion at most */
	struct xv_ext_atomics_params ext_atom;
	struct xv_pci_atomic_caps pci_atomic_caps;
	uint64_t timestamp_mask;	/* valid bits of xv_poll_cq_ts(), 0: no time stamps */
};

enum xv_port_state {
	XV_PORT_NOP,
	XV_PORT_DOWN,
	XV_PORT_INIT,
	XV_PORT_ARMED,
	XV_PORT_ACTIVE,
	XV_PORT_ACTIVE_DEFER,
};

const char *xv_port_state_str(enum xv_port_state state);

enum xv_mtu {
	XV_MTU_256 = 1,
	XV_MTU_512,
	XV_MTU_1024,
	XV_MTU_2048,
	XV_MTU_4096,
};

enum xv_link_layer {
	XV_LINK_LAYER_UNSPECIFIED,
	XV_LINK_LAYER_INFINIBAND,
	XV_LINK_LAYER_ETHERNET,
};

struct xv_port_attr {
	uint32_t state;			/* enum xv_port_state */
	uint32_t phys_state;
	uint32_t max_mtu;		/* enum xv_mtu */
	uint32_t active_mtu;
	uint32_t max_msg_sz;
	uint32_t port_cap_flags;
	uint32_t port_cap_flags2;
	uint32_t gid_tbl_len;
	uint32_t pkey_tbl_len;
	uint32_t lid;
	uint32_t sm_lid;
	uint32_t bad_pkey_cntr;
	uint32_t qkey_viol_cntr;
	uint32_t lmc;
	uint32_t sm_sl;
	uint32_t max_vl_num;
	uint32_t init_type_reply;
	uint32_t active_width;
	uint32_t active_speed;
	uint32_t link_layer;		/* enum xv_link_layer */
	uint32_t subnet_timeout;
	uint32_t ifindex;		/* RoCE: index of the network device */
	uint64_t subnet_prefix;		/* big-endian */
};

union xv_gid {
	uint8_t raw[16];
	struct {
		uint64_t subnet_prefix;	/* big-endian */
		uint64_t interface_id;	/* big-endian */
	} global;
};

/* RoCE v2 GID of an IPv4 address (big-endian).  An IPv6 address is its own GID. */
static inline union xv_gid xv_gid_from_ipv4(uint32_t addr)
{
	union xv_gid gid;

	__builtin_memset(&gid, 0, sizeof(gid));
	gid.raw[10] = gid.raw[11] = 0xff;
	__builtin_memcpy(gid.raw + 12, &addr, sizeof(addr));
	return gid;
}

enum xv_gid_type {
	XV_GID_TYPE_IB,
	XV_GID_TYPE_ROCE_V1,
	XV_GID_TYPE_ROCE_V2,
};

struct xv_gid_entry {
	union xv_gid gid;
	uint32_t gid_index;
	uint32_t port_num;
	uint32_t gid_type;		/* enum xv_gid_type */
	uint32_t ndev_ifindex;
};

struct xv_feature {
	uint32_t id;			/* enum xverbs_feature_id of rdma/xverbs.h */
	uint32_t available;
	char name[64];
	char why_not[192];		/* reason, if it is not available */
};

int xv_query_device_sz(struct xv_context *ctx, struct xv_device_attr *attr, size_t size);
int xv_query_port_sz(struct xv_context *ctx, uint32_t port, struct xv_port_attr *attr,
		     size_t size);

/* Returns -ENOENT for an empty entry of the table. */
int xv_query_gid(struct xv_context *ctx, uint32_t port, uint32_t index, union xv_gid *gid);
int xv_query_gid_entry_sz(struct xv_context *ctx, uint32_t port, uint32_t index,
			  struct xv_gid_entry *entry, size_t size);

/* *pkey is in network byte order, as in ibv_query_pkey(). */
int xv_query_pkey(struct xv_context *ctx, uint32_t port, uint32_t index, uint16_t *pkey);

/*
 * Returns the GID index for common use: a RoCE v2 GID of an IPv4 address, else any
 * RoCE v2 GID, else the first GID that is set.
 */
int xv_default_gid_index(struct xv_context *ctx, uint32_t port);

/* Fills up to n entries and returns the number of all features. */
int xv_query_features_sz(struct xv_context *ctx, struct xv_feature *list, int n, size_t size);

/* id: enum xverbs_feature_id of rdma/xverbs.h.  Returns 1 if it is available, 0 if not. */
int xv_has_feature(struct xv_context *ctx, uint32_t id);

/*
 * Reads the clock that time stamps of completions come from, in units of 1 / hca_core_clock.
 * The first call makes a system call, later ones only read registers.  Any thread may call it.
 */
int xv_read_clock(struct xv_context *ctx, uint64_t *value);

static inline int xv_query_features(struct xv_context *ctx, struct xv_feature *list, int n)
{
	return xv_query_features_sz(ctx, list, n, sizeof(*list));
}

static inline int xv_query_device(struct xv_context *ctx, struct xv_device_attr *attr)
{
	return xv_query_device_sz(ctx, attr, sizeof(*attr));
}

static inline int xv_query_port(struct xv_context *ctx, uint32_t port, struct xv_port_attr *attr)
{
	return xv_query_port_sz(ctx, port, attr, sizeof(*attr));
}

static inline int xv_query_gid_entry(struct xv_context *ctx, uint32_t port, uint32_t index,
				     struct xv_gid_entry *entry)
{
	return xv_query_gid_entry_sz(ctx, port, index, entry, sizeof(*entry));
}

/* ---- Protection domains and memory ------------------------------------------- */

struct xv_pd {
	struct xv_context *context;
	uint32_t handle;
	uint32_t pdn;
};

struct xv_pd *xv_alloc_pd(struct xv_context *ctx);

/*
 * A context for the device of a context of libibverbs, and the protection domain of that
 * context for use in this one: queues of libxverbs can use memory that ibv_reg_mr()
 * registered.  cmd_fd: ibv_context.cmd_fd; handle: ibv_pd.handle.  While a protection
 * domain is imported, ibv_dealloc_pd() returns EBUSY.  See xverbs/bridge.h.
 */
struct xv_context *xv_import_ctx_v(int cmd_fd, uint32_t version);
struct xv_pd *xv_import_pd(struct xv_context *ctx, int cmd_fd, uint32_t handle);

static inline struct xv_context *xv_import_ctx(int cmd_fd)
{
	return xv_import_ctx_v(cmd_fd, XV_VERSION_NUM);
}

/*
 * Returns -EBUSY while a region, window, queue pair, SRQ or address handle uses it.  Ends
 * the import of an imported one, which itself stays.
 */
int xv_dealloc_pd(struct xv_pd *pd);

struct xv_mr *xv_reg_mr(struct xv_pd *pd, void *addr, size_t length, unsigned int access);
struct xv_mr *xv_reg_mr_iova(struct xv_pd *pd, void *addr, size_t length, uint64_t iova,
			     unsigned int access);
struct xv_mr *xv_reg_dmabuf_mr(struct xv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			       int fd, unsigned int access);

enum xv_rereg_mr_flags {
	XV_REREG_MR_CHANGE_TRANSLATION	= 1 << 0,
	XV_REREG_MR_CHANGE_PD		= 1 << 1,
	XV_REREG_MR_CHANGE_ACCESS	= 1 << 2,
};

/*
 * The region may get new keys.  If the arguments are refused, it is unchanged; if the adapter
 * fails or memory is missing, its keys may be invalid.
 */
int xv_rereg_mr(struct xv_mr *mr, unsigned int flags, struct xv_pd *pd, void *addr,
		size_t length, unsigned int access);

/*
 * Succeeds although windows are bound to the region.  Their next use fails, unless a later
 * region has got the same key: see xv_reg_mr(3).
 */
int xv_dereg_mr(struct xv_mr *mr);

/* enum xv_access_flags, struct xv_mr and struct xv_mw are in dp/memory.h. */
struct xv_mw *xv_alloc_mw(struct xv_pd *pd, enum xv_mw_type type);
int xv_dealloc_mw(struct xv_mw *mw);

enum xv_mkey_flags {
	XV_MKEY_REMOTE_INVALIDATE	= 1 << 0,
};

struct xv_mkey_init_attr {
	uint32_t max_entries;
	uint32_t create_flags;		/* enum xv_mkey_flags */
};

struct xv_mkey_attr {
	uint32_t max_entries;
	uint32_t filled;		/* 0: it gives no access */
};

/* The key gives no access until xv_wr_umr_fill() has filled it (dp/send_umr.h). */
struct xv_mkey *xv_create_mkey_sz(struct xv_pd *pd, const struct xv_mkey_init_attr *attr,
				  size_t size);
static inline struct xv_mkey *xv_create_mkey(struct xv_pd *pd,
					     const struct xv_mkey_init_attr *attr)
{
	return xv_create_mkey_sz(pd, attr, sizeof(*attr));
}

int xv_query_mkey_sz(struct xv_mkey *mkey, struct xv_mkey_attr *attr, size_t size);
static inline int xv_query_mkey(struct xv_mkey *mkey, struct xv_mkey_attr *attr)
{
	return xv_query_mkey_sz(mkey, attr, sizeof(*attr));
}

int xv_destroy_mkey(struct xv_mkey *mkey);

/* ---- Queues in user memory: UMEM and UAR ------------------------------------------- */

struct xv_umem {
	struct xv_context *context;
	void *addr;
	size_t length;
	uint32_t handle;
};

/* addr must be a multiple of the page size. */
struct xv_umem *xv_reg_umem(struct xv_context *ctx, void *addr, size_t length);

/*
 * Registers a part of the dma-buf fd, beginning at offset.  addr: its address in
 * this process, or NULL if it is not mapped or cannot be, for example GPU memory.
 * Without an address, queues in it need the flag EXTERNAL_DATAPATH.
 */
struct xv_umem *xv_reg_dmabuf_umem(struct xv_context *ctx, void *addr, uint64_t offset,
				   size_t length, int fd);
int xv_dereg_umem(struct xv_umem *umem);

enum xv_uar_flags {
	XV_UAR_NC	= 1 << 0,	/* uncached instead of write-combining */
};

/* A doorbell page (UAR).  Queues with different pages do not share doorbell registers. */
struct xv_uar {
	struct xv_context *context;
	void *addr;
	size_t length;
	uint32_t handle;
	uint32_t page_id;		/* number of the page in the adapter */
	uint32_t qp_doorbell;		/* offset of the register, also below */
	uint32_t cq_doorbell;
};

struct xv_uar *xv_alloc_uar(struct xv_context *ctx, uint32_t flags);

/* Returns -EBUSY while a queue uses it. */
int xv_free_uar(struct xv_uar *uar);

/*
 * Places of the ring and the doorbell record of a queue.  Without a UMEM the kernel
 * allocates them.  ring_offset must be a multiple of the page size, dbr_offset a
 * multiple of 64.  If the ring does not fit, the error text names its size.
 * Without a UAR, the queue uses the UAR of the context.
 *
 * A program that drives a queue without dp.h finds all addresses in struct xv_qp,
 * xv_cq and xv_srq: ring, doorbell record, doorbell register, sizes, numbers.  If
 * the UMEM is not mapped, the pointers to ring and record are offsets in the UMEM.
 *
 * With the flag XV_{CQ,QP,SRQ}_EXTERNAL_DATAPATH the library never accesses ring,
 * record and register, and the functions of dp.h must not be called for the object.
 * Before it is created, the caller initialises the UMEM: doorbell records with 0;
 * each CQ entry with op_own = MLX5R_CQE_INVALID << 4 | MLX5R_CQE_OWNER; each entry
 * of a linked-list SRQ with the index of the next entry, the last one with 0.
 * Before a queue pair goes to RESET, the caller removes its completions and clears
 * its doorbell record.  In a CQ that the library polls, completions of such a queue
 * pair have wr_id 0.
 */
struct xv_external {
	struct xv_umem *ring_umem;
	struct xv_umem *dbr_umem;
	uint64_t ring_offset;
	uint64_t dbr_offset;
	struct xv_uar *uar;
	uint64_t reserved[2];		/* 0 */
};

/* ---- XRC domains ------------------------------------------------------------ */

struct xv_xrcd {
	struct xv_context *context;
	uint32_t handle;
	uint32_t xrcdn;
};

/*
 * fd: an open file that identifies a domain which processes share; oflags may have
 * O_CREAT and O_EXCL as for open().  fd -1: a private domain of this context.
 */
struct xv_xrcd *xv_open_xrcd(struct xv_context *ctx, int fd, int oflags);
int xv_close_xrcd(struct xv_xrcd *xrcd);

/* ---- Completion queues ---------------------------------------------------------- */

struct xv_comp_channel {
	struct xv_context *context;
	uint32_t handle;
	int fd;				/* readable if a completion event is pending */
};

struct xv_comp_channel *xv_create_comp_channel(struct xv_context *ctx);

/* Returns -EBUSY while a completion queue uses it. */
int xv_destroy_comp_channel(struct xv_comp_channel *channel);

struct xv_cq_init_attr {
	uint32_t cqe;			/* minimum number of entries */
	uint32_t cqe_size;		/* 64 (default) or 128 */
	uint32_t comp_vector;
	uint32_t flags;			/* enum xv_cq_flags of dp/queue.h */
	struct xv_comp_channel *channel;
	void *cq_context;
	struct xv_external external;
};

struct xv_cq *xv_create_cq_sz(struct xv_context *ctx, const struct xv_cq_init_attr *attr,
			      size_t size);

/* Returns -EBUSY while a queue pair uses it; waits until its events are acknowledged. */
int xv_destroy_cq(struct xv_cq *cq);

static inline struct xv_cq *xv_create_cq(struct xv_context *ctx,
					 const struct xv_cq_init_attr *attr)
{
	return xv_create_cq_sz(ctx, attr, sizeof(*attr));
}

enum xv_cq_attr_mask {
	XV_CQ_ATTR_MODERATE	= 1 << 0,
	XV_CQ_ATTR_OVERRUN	= 1 << 1,
};

struct xv_modify_cq_attr {
	uint32_t attr_mask;		/* enum xv_cq_attr_mask */
	uint32_t cq_count;		/* completions per event */
	uint32_t cq_period;		/* microseconds until an event comes anyway */
	uint32_t ignore_overrun;
};

int xv_modify_cq_sz(struct xv_cq *cq, const struct xv_modify_cq_attr *attr, size_t size);

static inline int xv_modify_cq(struct xv_cq *cq, const struct xv_modify_cq_attr *attr)
{
	return xv_modify_cq_sz(cq, attr, sizeof(*attr));
}

/*
 * Moves the queue to a new ring for at least cqe completions and sets cq->cqe to its
 * capacity.  Holds the lock of the queue; no thread may poll a single-threaded queue
 * during the call.  After an error the queue is unchanged, with one exception: the kernel had no
 * memory to map the new ring.  Then the program can poll the completions from before the call and
 * must destroy the queue.
 */
int xv_resize_cq(struct xv_cq *cq, uint32_t cqe);

/*
 * Reads the next completion event of the channel.  If there is none, it sleeps, or
 * returns -EAGAIN if the file descriptor has O_NONBLOCK.  Every event must be
 * acknowledged.
 */
int xv_get_cq_event(struct xv_comp_channel *channel, struct xv_cq **cq, void **cq_context);
void xv_ack_cq_events(struct xv_cq *cq, unsigned int n);

/* ---- Shared receive queues ------------------------------------------------------- */

struct xv_srq_attr {
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t srq_limit;
};

enum xv_srq_layout {
	XV_SRQ_LINKED_LIST,
	XV_SRQ_CONTIGUOUS,
};

enum xv_srq_flags {
	XV_SRQ_SINGLE_THREADED	= 1 << 0,	/* no lock */
	XV_SRQ_EXTERNAL_DATAPATH = 1 << 1,	/* see struct xv_external */
};

struct xv_srq_init_attr {
	void *srq_context;
	struct xv_srq_attr attr;
	enum xv_srq_layout layout;
	struct xv_xrcd *xrcd;		/* not NULL: XRC SRQ */
	struct xv_cq *cq;		/* XRC SRQ: CQ for its receives */
	uint32_t flags;			/* enum xv_srq_flags */
	struct xv_external external;
};

enum xv_srq_attr_mask {
	XV_SRQ_MAX_WR	= 1 << 0,	/* not supported, see XV_DEVICE_SRQ_RESIZE */
	XV_SRQ_LIMIT	= 1 << 1,
};

/* Stores the actual sizes in attr->attr. */
struct xv_srq *xv_create_srq_sz(struct xv_pd *pd, struct xv_srq_init_attr *attr, size_t size);

/*
 * Modifies the attributes in mask (enum xv_srq_attr_mask, or 0) and stores the
 * current values of all attributes in *attr.  After an error nothing is modified.
 * Returns -EOPNOTSUPP for XV_SRQ_MAX_WR.
 */
int xv_modify_srq_sz(struct xv_srq *srq, struct xv_srq_attr *attr, unsigned int mask, size_t size);

/* srq_limit is 0 if the limit is not armed. */
int xv_query_srq_sz(struct xv_srq *srq, struct xv_srq_attr *attr, size_t size);

/* The attributes of creation, with the actual sizes */
void xv_get_srq_init_attr_sz(const struct xv_srq *srq, struct xv_srq_init_attr *attr, size_t size);

/* Returns -EBUSY while a queue pair uses it; waits until its events are acknowledged. */
int xv_destroy_srq(struct xv_srq *srq);

static inline int xv_modify_srq(struct xv_srq *srq, struct xv_srq_attr *attr, unsigned int mask)
{
	return xv_modify_srq_sz(srq, attr, mask, sizeof(*attr));
}

static inline int xv_query_srq(struct xv_srq *srq, struct xv_srq_attr *attr)
{
	return xv_query_srq_sz(srq, attr, sizeof(*attr));
}

static inline void xv_get_srq_init_attr(const struct xv_srq *srq, struct xv_srq_init_attr *attr)
{
	xv_get_srq_init_attr_sz(srq, attr, sizeof(*attr));
}

static inline struct xv_srq *xv_create_srq(struct xv_pd *pd, struct xv_srq_init_attr *attr)
{
	return xv_create_srq_sz(pd, attr, sizeof(*attr));
}

/* ---- Queue pairs ------------------------------------------------------------------ */

struct xv_qp_cap {
	uint32_t max_send_wr;
	uint32_t max_recv_wr;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline_data;
};

struct xv_qp_init_attr {
	void *qp_context;
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	struct xv_srq *srq;
	struct xv_qp_cap cap;
	enum xv_qp_type qp_type;
	int sq_sig_all;
	uint32_t flags;			/* enum xv_qp_flags of dp/queue.h */
	struct xv_xrcd *xrcd;		/* XRC_RECV */
	struct xv_external external;
	uint32_t max_atomic_arg;	/* bytes of the operands of masked atomics */
	uint32_t max_inl_recv;		/* bytes in the completion of a receive: 0, 32 or 64 */
	uint32_t max_inl_resp;		/* bytes in that of a read or an atomic */
	uint32_t reserved;
};

enum xv_qp_attr_mask {
	XV_QP_STATE			= 1 << 0,
	XV_QP_CUR_STATE			= 1 << 1,
	XV_QP_EN_SQD_ASYNC_NOTIFY	= 1 << 2,
	XV_QP_ACCESS_FLAGS		= 1 << 3,
	XV_QP_PKEY_INDEX		= 1 << 4,
	XV_QP_PORT			= 1 << 5,
	XV_QP_QKEY			= 1 << 6,
	XV_QP_AV			= 1 << 7,
	XV_QP_PATH_MTU			= 1 << 8,
	XV_QP_TIMEOUT			= 1 << 9,
	XV_QP_RETRY_CNT			= 1 << 10,
	XV_QP_RNR_RETRY			= 1 << 11,
	XV_QP_RQ_PSN			= 1 << 12,
	XV_QP_MAX_QP_RD_ATOMIC		= 1 << 13,
	XV_QP_ALT_PATH			= 1 << 14,
	XV_QP_MIN_RNR_TIMER		= 1 << 15,
	XV_QP_SQ_PSN			= 1 << 16,
	XV_QP_MAX_DEST_RD_ATOMIC	= 1 << 17,
	XV_QP_PATH_MIG_STATE		= 1 << 18,
	XV_QP_CAP			= 1 << 19,
	XV_QP_DEST_QPN			= 1 << 20,
	XV_QP_DC_KEY			= 1 << 27,
	XV_QP_ECE			= 1 << 28,
};

enum xv_mig_state {
	XV_MIG_MIGRATED,
	XV_MIG_REARM,
	XV_MIG_ARMED,
};

/* Values of xv_ah_attr.static_rate: limit of the sending rate */
enum xv_rate {
	XV_RATE_MAX		= 0,	/* no limit */
	XV_RATE_2_5_GBPS	= 2,
	XV_RATE_5_GBPS		= 5,
	XV_RATE_10_GBPS		= 3,
	XV_RATE_20_GBPS		= 6,
	XV_RATE_30_GBPS		= 4,
	XV_RATE_40_GBPS		= 7,
	XV_RATE_60_GBPS		= 8,
	XV_RATE_80_GBPS		= 9,
	XV_RATE_120_GBPS	= 10,
	XV_RATE_14_GBPS		= 11,
	XV_RATE_56_GBPS		= 12,
	XV_RATE_112_GBPS	= 13,
	XV_RATE_168_GBPS	= 14,
	XV_RATE_25_GBPS		= 15,
	XV_RATE_100_GBPS	= 16,
	XV_RATE_200_GBPS	= 17,
	XV_RATE_300_GBPS	= 18,
	XV_RATE_28_GBPS		= 19,
	XV_RATE_50_GBPS		= 20,
	XV_RATE_400_GBPS	= 21,
	XV_RATE_600_GBPS	= 22,
	XV_RATE_800_GBPS	= 23,
	XV_RATE_1200_GBPS	= 24,
};

/*
 * Convert a rate to a multiple of 2.5 Gb/s or to Mb/s, and back.  They return -1 or
 * XV_RATE_MAX if there is no equal value, as libibverbs does.
 */
int xv_rate_to_mult(enum xv_rate rate);
enum xv_rate xv_mult_to_rate(int mult);
int xv_rate_to_mbps(enum xv_rate rate);
enum xv_rate xv_mbps_to_rate(int mbps);

struct xv_global_route {
	union xv_gid dgid;
	uint32_t flow_label;
	uint8_t sgid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
};

struct xv_ah_attr {
	struct xv_global_route grh;
	uint16_t dlid;
	uint8_t sl;
	uint8_t src_path_bits;
	uint8_t static_rate;		/* enum xv_rate */
	uint8_t is_global;
	uint8_t port_num;
};

struct xv_qp_attr {
	enum xv_qp_state qp_state;
	enum xv_qp_state cur_qp_state;
	enum xv_mtu path_mtu;
	enum xv_mig_state path_mig_state;
	uint32_t qkey;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t dest_qp_num;
	uint32_t qp_access_flags;
	struct xv_qp_cap cap;
	struct xv_ah_attr ah_attr;
	struct xv_ah_attr alt_ah_attr;
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
	uint64_t dct_key;		/* DCI: not used, each request has its own key */
	uint32_t ece;			/* options of the vendor for the connection */
};

/* Stores the actual sizes in attr->cap. */
struct xv_qp *xv_create_qp_sz(struct xv_pd *pd, struct xv_qp_init_attr *attr, size_t size);
int xv_modify_qp_sz(struct xv_qp *qp, const struct xv_qp_attr *attr, unsigned int mask,
		    size_t size);
int xv_query_qp_sz(struct xv_qp *qp, struct xv_qp_attr *attr, size_t size, unsigned int attr_mask,
		   struct xv_qp_init_attr *init_attr, size_t init_size);

/* Also removes its completions from the completion queues. */
int xv_destroy_qp(struct xv_qp *qp);

static inline struct xv_qp *xv_create_qp(struct xv_pd *pd, struct xv_qp_init_attr *attr)
{
	return xv_create_qp_sz(pd, attr, sizeof(*attr));
}

/*
 * Opens a queue pair of type XRC_RECV that another context created in a shared XRC
 * domain.  The queue pair exists until all contexts have destroyed it.
 */
struct xv_qp_open_attr {
	uint32_t qp_num;
	struct xv_xrcd *xrcd;
	void *qp_context;
};

struct xv_qp *xv_open_qp_sz(struct xv_context *ctx, const struct xv_qp_open_attr *attr,
			    size_t size);

static inline struct xv_qp *xv_open_qp(struct xv_context *ctx, const struct xv_qp_open_attr *attr)
{
	return xv_open_qp_sz(ctx, attr, sizeof(*attr));
}

static inline int xv_modify_qp(struct xv_qp *qp, const struct xv_qp_attr *attr,
			       unsigned int mask)
{
	return xv_modify_qp_sz(qp, attr, mask, sizeof(*attr));
}

/*
 * Fills in all attributes, also those that are not in attr_mask.  If init_attr is
 * not NULL, *init_attr gets the attributes of creation, with the actual sizes.
 */
static inline int xv_query_qp(struct xv_qp *qp, struct xv_qp_attr *attr, unsigned int attr_mask,
			      struct xv_qp_init_attr *init_attr)
{
	return xv_query_qp_sz(qp, attr, sizeof(*attr), attr_mask, init_attr, sizeof(*init_attr));
}

/* ---- DC targets --------------------------------------------------------------------- */

/* Attributes of creation.  port, mtu, pd, cq and srq have no default. */
struct xv_dct_init_attr {
	struct xv_pd *pd;
	struct xv_cq *cq;		/* completions of receives */
	struct xv_srq *srq;
	uint64_t dc_key;
	uint32_t access_flags;		/* XV_ACCESS_REMOTE_* */
	uint32_t flow_label;
	enum xv_mtu mtu;
	uint32_t create_flags;		/* 0 */
	uint32_t inline_size;		/* not 0: data in completions of 128 bytes */
	uint16_t pkey_index;
	uint8_t port;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint8_t tclass;
	uint8_t min_rnr_timer;
	uint8_t sl;			/* RoCE: priority of packets that it sends */
	void *dct_context;
	uint32_t ece;			/* options of the vendor for connections */
};

enum xv_dct_state {
	XV_DCT_STATE_ACTIVE,
	XV_DCT_STATE_DRAINING,
	XV_DCT_STATE_DRAINED,
};

/* The event of key violations */
enum xv_dct_arm_state {
	XV_DCT_NOT_ARMED,
	XV_DCT_ARMED,
	XV_DCT_FIRED,
};

struct xv_dct_attr {
	uint64_t dc_key;
	enum xv_dct_state state;
	enum xv_dct_arm_state arm_state;
	uint32_t key_violations;	/* number of messages with a wrong key */
	uint32_t access_flags;
	uint32_t flow_label;
	enum xv_mtu mtu;
	uint32_t inline_size;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_srq *srq;
	uint16_t pkey_index;
	uint8_t port;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint8_t tclass;
	uint8_t min_rnr_timer;
	uint8_t sl;			/* RoCE: priority of packets that it sends */
	uint32_t ece;			/* options that the adapter granted */
};

struct xv_dct *xv_create_dct_sz(struct xv_context *ctx, const struct xv_dct_init_attr *attr,
				size_t size);
int xv_query_dct_sz(struct xv_dct *dct, struct xv_dct_attr *attr, size_t size);

/* The next message with a wrong key raises XV_EVENT_DCT_KEY_VIOLATION, once. */
int xv_arm_dct(struct xv_dct *dct);

/*
 * Waits until the messages in flight have ended and events are acknowledged.  Also removes
 * its completions from the completion queue.
 */
int xv_destroy_dct(struct xv_dct *dct);

static inline struct xv_dct *xv_create_dct(struct xv_context *ctx,
					   const struct xv_dct_init_attr *attr)
{
	return xv_create_dct_sz(ctx, attr, sizeof(*attr));
}

static inline int xv_query_dct(struct xv_dct *dct, struct xv_dct_attr *attr)
{
	return xv_query_dct_sz(dct, attr, sizeof(*attr));
}

/* ---- Task lists --------------------------------------------------------------------- */

enum xv_task_type {
	XV_TASK_SEND,
	XV_TASK_RECV,
};

struct xv_task {
	enum xv_task_type task_type;
	struct {
		struct xv_qp *qp;
		__extension__ union {
			struct xv_send_wr *send_wr;	/* lists */
			struct xv_recv_wr *recv_wr;
		};
	} item;
	struct xv_task *next;
	uint32_t comp_mask;			/* 0 */
	__extension__ union {			/* result: the request that failed */
		struct xv_send_wr *bad_send_wr;
		struct xv_recv_wr *bad_recv_wr;
	};
};

int xv_post_task_sz(struct xv_context *ctx, struct xv_task *task, struct xv_task **bad_task,
		    size_t wr_size);

/*
 * Posts the requests of all tasks, or none of them: then *bad_task is the task with the
 * request that failed.  Makes no system call.  Takes the locks of the queues.
 */
static inline int xv_post_task(struct xv_context *ctx, struct xv_task *task,
			       struct xv_task **bad_task)
{
	return xv_post_task_sz(ctx, task, bad_task, sizeof(struct xv_send_wr));
}

/* ---- Addresses ---------------------------------------------------------------------- */

/*
 * On RoCE, resolves the MAC address, which may take time.  The handle is valid for
 * queue pairs of the same protection domain; posting to others returns -EINVAL.
 */
struct xv_ah *xv_create_ah_sz(struct xv_pd *pd, const struct xv_ah_attr *attr, size_t size);
int xv_destroy_ah(struct xv_ah *ah);

struct xv_grh {
	uint32_t version_tclass_flow;	/* big-endian */
	uint16_t paylen;		/* big-endian */
	uint8_t next_hdr;
	uint8_t hop_limit;
	union xv_gid sgid;
	union xv_gid dgid;
};

/*
 * The address of the sender of a UD message.  grh: the first 40 bytes of the receive
 * buffer.  Hop limit, traffic class and flow label are those of the packet.
 */
int xv_init_ah_from_wc_sz(struct xv_context *ctx, uint32_t port, const struct xv_wc *wc,
			  const struct xv_grh *grh, struct xv_ah_attr *attr, size_t size);
struct xv_ah *xv_create_ah_from_wc(struct xv_pd *pd, const struct xv_wc *wc,
				   const struct xv_grh *grh, uint32_t port);

static inline struct xv_ah *xv_create_ah(struct xv_pd *pd, const struct xv_ah_attr *attr)
{
	return xv_create_ah_sz(pd, attr, sizeof(*attr));
}

static inline int xv_init_ah_from_wc(struct xv_context *ctx, uint32_t port,
				     const struct xv_wc *wc, const struct xv_grh *grh,
				     struct xv_ah_attr *attr)
{
	return xv_init_ah_from_wc_sz(ctx, port, wc, grh, attr, sizeof(*attr));
}

/* ---- Multicast -------------------------------------------------------------- */

int xv_attach_mcast(struct xv_qp *qp, const union xv_gid *gid, uint16_t lid);
int xv_detach_mcast(struct xv_qp *qp, const union xv_gid *gid, uint16_t lid);

/* ---- Asynchronous events -------------------------------------------------------------- */

enum xv_event_type {
	XV_EVENT_CQ_ERR,
	XV_EVENT_QP_FATAL,
	XV_EVENT_QP_REQ_ERR,
	XV_EVENT_QP_ACCESS_ERR,
	XV_EVENT_COMM_EST,
	XV_EVENT_SQ_DRAINED,
	XV_EVENT_PATH_MIG,
	XV_EVENT_PATH_MIG_ERR,
	XV_EVENT_DEVICE_FATAL,
	XV_EVENT_PORT_ACTIVE,
	XV_EVENT_PORT_ERR,
	XV_EVENT_LID_CHANGE,
	XV_EVENT_PKEY_CHANGE,
	XV_EVENT_SM_CHANGE,
	XV_EVENT_SRQ_ERR,
	XV_EVENT_SRQ_LIMIT_REACHED,
	XV_EVENT_QP_LAST_WQE_REACHED,
	XV_EVENT_CLIENT_REREGISTER,
	XV_EVENT_GID_CHANGE,
	XV_EVENT_WQ_FATAL,
	XV_EVENT_DCT_KEY_VIOLATION	= 32,
	XV_EVENT_DCT_ACCESS_ERR,
	XV_EVENT_DCT_REQ_ERR,
};

struct xv_async_event {
	union {
		struct xv_cq *cq;
		struct xv_qp *qp;
		struct xv_srq *srq;
		struct xv_dct *dct;
		uint32_t port_num;
	} element;
	enum xv_event_type event_type;
};

/*
 * Reads the next asynchronous event from ctx->fd; sleeps as xv_get_cq_event().
 * Destroying an object waits until its events are acknowledged.
 *
 * Events come in the order of time.  An event of the same type and object as the last
 * unread event is merged with it: an event says that something happened, but not how
 * often.  Query the object for its state.
 */
int xv_get_async_event_sz(struct xv_context *ctx, struct xv_async_event *event, size_t size);

static inline int xv_get_async_event(struct xv_context *ctx, struct xv_async_event *event)
{
	return xv_get_async_event_sz(ctx, event, sizeof(*event));
}

void xv_ack_async_event(struct xv_async_event *event);
const char *xv_event_type_str(enum xv_event_type type);

#ifdef __cplusplus
}
#endif

#endif
