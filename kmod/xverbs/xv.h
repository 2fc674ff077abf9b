/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations shared by the files of xverbs.ko: device, open file, objects of a
 * file, state of one ioctl.
 *
 * Lock order: xv_devs_lock -> xv_file.sem -> xv_dev.files_lock, xv_dev.security.sem
 *	-> object locks -> xv_dev.xrc_lock, xv_dev.dct_lock
 *	-> xv_dev_qp.handles_lock, xv_file.dbr_lock, xv_file.clock_lock,
 *	   xv_file.uid_lock
 *	-> mmap_lock -> xv_file.map_lock -> xa_lock -> xv_evq.lock
 * xv_file.pins_lock nests with no other lock.
 */
#ifndef XV_H
#define XV_H

#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/path.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <linux/mlx5/cq.h>
#include <linux/mlx5/driver.h>
#include <rdma/ib_verbs.h>
#include <rdma/xverbs.h>

#include "compat.h"
#include "qp_state.h"
#include "security.h"

struct xv_call;
struct xv_file;
struct xv_obj;

/*
 * For memory on behalf of a process. It is charged to the memory cgroup of the
 * process. At the limit the allocation fails instead of calling the OOM killer,
 * which allocations of the driver (a CQ in debugfs) may still do.
 */
#define XV_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
struct xv_umem_obj;

/**
 * struct xv_dev - an RDMA device
 * @list: in the list of all devices, under xv_devs_lock
 * @node: the device node.  Its references keep this structure: one of the list, one of
 *	each file bound to the device, one of each open file of the node
 * @cdev: the character device of @node
 * @ib: the device; invalid after remove() has returned
 * @name_lock: protects @name
 * @name: of @ib; ib_core may free the string of dev_name() when the device is renamed
 * @mdev: its adapter, NULL if @why_not
 * @why_not: reason why no file can bind to it, or NULL
 * @ports: number of ports
 * @key_variant: low byte of the last mkey
 * @lag_turn: number of queue pairs that were given a port of a bond
 * @files_lock: protects @files, @n_bound, @gone and @kept_imports
 * @files: files bound to it, ordered by their numbers
 * @n_bound: number of the last file bound
 * @gone: removal has begun; no file can bind
 * @kept_imports: struct xv_pd_obj that are imported and have objects that could not be
 *	destroyed
 * @xrc_lock: protects @xrc_domains and @xrc_base
 * @xrc_domains: all XRC domains of files
 * @xrc_base: resources shared by all XRC queue pairs, created at first use
 * @dct_lock: protects @dct_eq
 * @dct_eq: event queue for key violations of DC targets, created at first use
 * @n_armed: number of DC targets for which @dct_eq has a reserved entry
 * @qps: QP number -> struct xv_dev_qp, for asynchronous events
 * @srqs: SRQ number -> struct xv_srq_obj, for asynchronous events
 * @dcts: number of a DC target -> struct xv_dct_obj, for asynchronous events
 * @fw_events: firmware events of QPs and SRQs, called in atomic context
 * @ib_events: events of ports and the device
 * @security: rights to P_Keys
 */
struct xv_dev {
	struct list_head list;
	struct device node;
	struct cdev cdev;
	struct ib_device *ib;
	spinlock_t name_lock;
	char name[XVERBS_NAME_MAX];
	struct mlx5_core_dev *mdev;
	const char *why_not;
	u32 ports;
	atomic_t key_variant;
	atomic_t lag_turn;
	struct mutex files_lock;
	struct list_head files;
	u32 n_bound;
	bool gone;
	struct list_head kept_imports;
	struct dentry *debugfs;
	struct mutex xrc_lock;
	struct list_head xrc_domains;
	struct xv_xrc_base *xrc_base;
	struct mutex dct_lock;
	struct xv_dct_eq *dct_eq;
	atomic_t n_armed;
	struct xarray qps;
	struct xarray srqs;
	struct xarray dcts;
	struct notifier_block fw_events;
	struct ib_event_handler ib_events;
	struct xv_security security;
};

/* ---- Events (evq.c) ----------------------------------------------------- */

/* An unread asynchronous event */
struct xv_logged {
	struct xv_evsrc *src;
	u32 type;
};

/**
 * struct xv_evq - event queue
 * @lock: protects the queue and the sources in it; taken in interrupts
 * @log: ring of XVERBS_EVENT_LOG asynchronous events in the order of time
 * @first: the oldest of them
 * @n_logged: their number
 * @pending: sources with unread events that are not in @log
 * @wait: waiting readers
 * @wake: work that wakes them after an asynchronous event
 * @event_size: bytes of each record that read() returns
 * @dead: no more events; after the pending ones, reads return -ENODEV
 */
struct xv_evq {
	spinlock_t lock;
	u32 event_size;
	struct xv_logged *log;
	u32 first;
	u32 n_logged;
	struct list_head pending;
	wait_queue_head_t wait;
	struct work_struct wake;
	bool dead;
};

/**
 * struct xv_evsrc - source of events
 * @node: in xv_evq.pending while @unread is not zero
 * @unread: asynchronous events that are not in the log: mask of their types; completions:
 *	their number
 * @latest: the type in @unread that was raised last
 * @delivered: number of events that were read
 */
struct xv_evsrc {
	struct list_head node;
	u64 unread;
	u32 latest;
	u32 delivered;
	u32 handle;
	u32 port;
	u64 user_data;
};

void xv_evq_init(struct xv_evq *q, u32 event_size, struct xv_logged *log);
void xv_evq_exit(struct xv_evq *q);
int xv_event_size(struct xv_call *call, u32 wanted, u32 first, u32 *size);
void xv_evq_kill(struct xv_evq *q, struct xv_evsrc *last);
void xv_evsrc_init(struct xv_evsrc *src);
void xv_event_async(struct xv_evq *q, struct xv_evsrc *src, unsigned int type);
void xv_event_comp(struct xv_evq *q, struct xv_evsrc *src);
u32 xv_evsrc_stop(struct xv_evq *q, struct xv_evsrc *src);
bool xv_evq_pop_async(struct xv_evq *q, void *record);
bool xv_evq_pop_comp(struct xv_evq *q, void *record);
ssize_t xv_evq_read(struct xv_evq *q, char __user *buf, size_t len, bool nonblock,
		    bool (*pop)(struct xv_evq *q, void *record), size_t bytes);
__poll_t xv_evq_poll(struct xv_evq *q, struct file *filp, poll_table *wait);

/* ---- Mappings and buffers (mmap.c, buf.c, dbr.c, qmem.c) ----------------------------------- */

/**
 * struct xv_mapping - memory that can be mapped at one mmap() offset
 * @pgoff: the offset in pages, key in xv_file.maps
 * @npages: exact length
 * @mmap: maps it in a VMA of that length; called under xv_file.map_lock
 * @pfn: page that xv_pfn_fault() inserts
 */
struct xv_mapping {
	unsigned long pgoff;
	unsigned long npages;
	int (*mmap)(struct xv_mapping *map, struct vm_area_struct *vma);
	unsigned long pfn;
};

int xv_mapping_add(struct xv_file *file, struct xv_mapping *map);
void xv_mapping_del(struct xv_file *file, struct xv_mapping *map);
void xv_mapping_del_zap(struct xv_file *file, struct xv_mapping *map);
struct xverbs_map xv_mapping_user(const struct xv_mapping *map);
extern const struct vm_operations_struct xv_pfn_vm_ops;

/* ---- Charges (charge.c) ------------------------------------------------------- */

/**
 * struct xv_pinned - pages charged as locked memory
 * @ref: held by the buffer and by each mapping of it
 * @user: charged against RLIMIT_MEMLOCK; NULL if the process had CAP_IPC_LOCK
 * @mm: the process in which the pages count as pinned, or NULL
 */
struct xv_pinned {
	refcount_t ref;
	struct user_struct *user;
	struct mm_struct *mm;
	unsigned long npages;
};

struct xv_pinned *xv_pin_charge(struct xv_call *call, unsigned long npages,
				struct mm_struct *mm, const char *what);
struct xv_pinned *xv_pin_charge_range(struct xv_call *call, u64 addr, u64 length,
				      const char *what);
void xv_pin_put(struct xv_pinned *pinned);
void xv_pin_vma(struct xv_pinned *pinned, struct vm_area_struct *vma);
int xv_cgroup_charge(struct xv_call *call, struct xv_dev *dev,
		     struct ib_rdmacg_object *charged,
		     enum rdmacg_resource_type what);
void xv_cgroup_uncharge(struct xv_dev *dev, struct ib_rdmacg_object *charged,
			enum rdmacg_resource_type what);

/**
 * struct xv_buf - pages that the adapter accesses by DMA
 * @map: for mmap()
 * @pinned: the charge for kernel pages
 * @pages: kernel pages; NULL if the pages are in a UMEM
 * @dma: DMA address of each page
 */
struct xv_buf {
	struct xv_mapping map;
	struct xv_pinned *pinned;
	struct device *dma_dev;
	struct page **pages;
	dma_addr_t *dma;
	u32 npages;
};

int xv_buf_alloc(struct xv_call *call, struct xv_buf *buf, size_t bytes);
void xv_buf_free(struct xv_file *file, struct xv_buf *buf);
void xv_buf_replace(struct xv_file *file, struct xv_buf *buf,
		    const struct xv_buf *new);
int xv_buf_from_umem(struct xv_call *call, struct xv_buf *buf,
		     const struct xv_umem_obj *umem, u64 offset, size_t bytes);
void xv_buf_fill_pas(const struct xv_buf *buf, __be64 *pas);

/* A doorbell record: a cache line, in @page or in a UMEM */
struct xv_dbr {
	struct xv_dbr_page *page;
	u32 offset;
	dma_addr_t dma;
};

int xv_dbr_alloc(struct xv_call *call, struct xv_dbr *dbr);
int xv_dbr_from_umem(struct xv_call *call, struct xv_dbr *dbr,
		     const struct xv_umem_obj *umem, u64 offset);
void xv_dbr_free(struct xv_file *file, struct xv_dbr *dbr);
struct xverbs_map xv_dbr_map(const struct xv_dbr *dbr);

/* Memory of a queue: ring and doorbell record, each in kernel memory or in a UMEM */
struct xv_qmem {
	struct xv_buf ring;
	struct xv_dbr dbr;
};

static inline u64 xv_buf_bytes(const struct xv_buf *buf)
{
	return (u64)buf->npages << PAGE_SHIFT;
}

int xv_qmem_alloc(struct xv_call *call, struct xv_obj *queue,
		  struct xv_qmem *mem, size_t bytes);
void xv_qmem_free(struct xv_file *file, struct xv_qmem *mem);
struct xverbs_map xv_qmem_ring_map(const struct xv_qmem *mem);
struct xverbs_map xv_qmem_dbr_map(const struct xv_qmem *mem);

/* ---- Open file (file.c) ------------------------------------------------------ */

/**
 * struct xv_file - one open of /dev/xverbs
 * @ref: held by the struct file, by a device removal that uses it, and by each
 *	object that could not be destroyed
 * @sem: held for reading by ioctls, for writing by BIND and teardown
 * @dev: NULL before BIND and after removal of the device; under @sem
 * @gone: the device was removed; under @sem
 * @dev_node: in xv_dev.files
 * @number: of the file among those bound to the device
 * @objs: handle -> object; xa_lock also protects xv_obj.users
 * @inode: gives the file its own address space, for xv_mapping_del_zap()
 * @map_lock: protects @maps, @next_pgoff, @dummy and page faults on @maps
 * @maps: pgoff -> struct xv_mapping
 * @next_pgoff: next offset; offsets are not reused, so an old one maps nothing
 * @dummy: page that replaces destroyed doorbell pages
 * @alive: mapping of the page that tells whether the device is there
 * @clock_lock: held while @clock is added
 * @clock: mapping of the clock, if it has pages
 * @uid_lock: held while @uid is created
 * @uid: number of the user context of the file, or 0
 * @kept: an object could not be destroyed
 * @dbr_lock: protects @dbr_pages and their bitmaps
 * @serials: last serial number of an object
 * @pins_lock: protects @pins
 * @pins: calls in flight that may pin user memory
 * @cgroup: charge for the bound file
 * @async: asynchronous events
 * @log: of @async
 * @sources: sources of device events (0) and port events (from 1)
 */
struct xv_file {
	struct kref ref;
	struct rw_semaphore sem;
	struct xv_dev *dev;
	bool gone;
	struct list_head dev_node;
	u32 number;
	struct xarray objs;
	struct inode *inode;
	struct mutex map_lock;
	struct xarray maps;
	unsigned long next_pgoff;
	struct page *dummy;
	struct xv_mapping alive;
	struct mutex clock_lock;
	struct xv_mapping clock;
	struct mutex uid_lock;
	u16 uid;
	bool kept;
	struct mutex dbr_lock;
	struct list_head dbr_pages;
	atomic64_t serials;
	spinlock_t pins_lock;
	struct list_head pins;
	struct ib_rdmacg_object cgroup;
	struct xv_evq async;
	struct xv_logged log[XVERBS_EVENT_LOG];
	struct xv_evsrc *sources;
	u32 n_sources;
};

void xv_file_put(struct xv_file *file);
#define XV_REMOVE_TIMEOUT	(10 * HZ)

void xv_file_disassociate(struct xv_file *file, unsigned long deadline);
void xv_file_free_sources(struct xv_file *file);
int xv_file_init_sources(struct xv_file *file, u32 n_ports);

/**
 * struct xv_entries - entries of an array that the kernel fills
 * @list: @n entries of @size bytes each
 * @to: address of the user's array
 * @to_size: size of each of its entries
 */
struct xv_entries {
	void *list;
	u32 n;
	u32 size;
	u64 to;
	u32 to_size;
};

/**
 * struct xv_call - one ioctl in flight
 * @arg: structure of the caller, copied in; copied out on success
 * @external: part, copied in
 * @cap: part, copied in or out
 * @attrs: parts, copied in or out
 * @init: part, copied out
 * @dct_attr: part, copied in or out
 * @entries: array, copied out; the dispatcher frees the list
 * @new_obj: object that the handler created; the dispatcher publishes it
 * @new_handle: handle of @new_obj
 * @new_serial: serial number of @new_obj; if the reply cannot be copied out, the
 *	dispatcher destroys the object
 * @new_file: file that the dispatcher installs in @new_fd after the reply
 * @task: the caller, if the call may pin user memory
 * @pin_node: in xv_file.pins, if the call may pin user memory
 * @limit: XVERBS_LIMIT_* for the caller; xv_fail_limit() sets it together with @reason
 * @reason: text for the caller; the first xv_fail() sets it
 */
struct xv_call {
	struct xv_file *file;
	struct xv_dev *dev;
	struct xv_obj *new_obj;
	u32 new_handle;
	u64 new_serial;
	struct file *new_file;
	int new_fd;
	struct task_struct *task;
	struct list_head pin_node;
	union {
		struct xverbs_hdr hdr;
		struct xverbs_list_devices list_devices;
		struct xverbs_bind bind;
		struct xverbs_destroy destroy;
		struct xverbs_query_device query_device;
		struct xverbs_query_port query_port;
		struct xverbs_query_gid query_gid;
		struct xverbs_query_pkey query_pkey;
		struct xverbs_query_features query_features;
		struct xverbs_clock_map clock_map;
		struct xverbs_channel_alloc channel_alloc;
		struct xverbs_pd_alloc pd_alloc;
		struct xverbs_pd_import pd_import;
		struct xverbs_uar_alloc uar_alloc;
		struct xverbs_mr_reg mr_reg;
		struct xverbs_mr_rereg mr_rereg;
		struct xverbs_mr_dmabuf mr_dmabuf;
		struct xverbs_mw_alloc mw_alloc;
		struct xverbs_umem_reg umem_reg;
		struct xverbs_xrcd_open xrcd_open;
		struct xverbs_cq_create cq_create;
		struct xverbs_cq_modify cq_modify;
		struct xverbs_cq_resize cq_resize;
		struct xverbs_srq_create srq_create;
		struct xverbs_srq_modify srq_modify;
		struct xverbs_srq_query srq_query;
		struct xverbs_qp_create qp_create;
		struct xverbs_qp_modify qp_modify;
		struct xverbs_qp_query qp_query;
		struct xverbs_qp_open qp_open;
		struct xverbs_ah_resolve ah_resolve;
		struct xverbs_mcast mcast;
		struct xverbs_mkey_create mkey_create;
		struct xverbs_mkey_query mkey_query;
		struct xverbs_dct_create dct_create;
		struct xverbs_dct_query dct_query;
		struct xverbs_dct_arm dct_arm;
	} arg;
	struct xverbs_external external;
	struct xverbs_qp_cap cap;
	struct xv_qp_attrs attrs;
	struct xverbs_qp_init init;
	struct xverbs_dct_attr dct_attr;
	struct xv_entries entries;
	u32 limit;
	char reason[XVERBS_REASON_MAX];
};

__printf(3, 4)
int xv_fail(struct xv_call *call, int err, const char *fmt, ...);
__printf(4, 5)
int xv_fail_limit(struct xv_call *call, int err, u32 limit, const char *fmt, ...);
void xv_forget_failure(struct xv_call *call);

int xv_copy_entry(void __user *to, size_t to_size, const void *entry,
		  size_t size);
int xv_check_entry_size(struct xv_call *call, u32 entry_size, size_t first);

int xv_device_list(struct xv_call *call);
int xv_bind(struct xv_call *call);
int xv_destroy(struct xv_call *call);
int xv_device_query(struct xv_call *call);
int xv_port_query(struct xv_call *call);
int xv_gid_query(struct xv_call *call);
int xv_pkey_query(struct xv_call *call);
int xv_features_query(struct xv_call *call);
int xv_clock_map(struct xv_call *call);
void xv_clock_unmap(struct xv_file *file);
int xv_alive_map(struct xv_file *file);
void xv_alive_unmap(struct xv_file *file);

/* atomic.c: masked atomics */
u32 xv_atomic_sizes(const struct mlx5_core_dev *mdev);
/* atomic_mode of a context for the largest operand that the adapter supports */
u8 xv_atomic_mode(const struct mlx5_core_dev *mdev, u32 type);
/* Bytes that the arguments take in a request whose operand has @operand bytes */
u32 xv_atomic_arg_bytes(u32 operand);
/* The largest operand whose arguments fit into @room bytes, or 0 */
u32 xv_atomic_largest(const struct mlx5_core_dev *mdev, u32 room);
void xv_atomic_query(const struct mlx5_core_dev *mdev,
		     struct xverbs_query_device *out);
int xv_channel_alloc(struct xv_call *call);
int xv_pd_alloc(struct xv_call *call);
int xv_pd_import(struct xv_call *call);
int xv_uar_alloc(struct xv_call *call);
int xv_mr_reg(struct xv_call *call);
int xv_mr_rereg(struct xv_call *call);
int xv_mr_dmabuf(struct xv_call *call);
extern const char xv_mr_odp_why_not[];
int xv_mw_alloc(struct xv_call *call);
int xv_umem_reg(struct xv_call *call);
int xv_xrcd_open(struct xv_call *call);
int xv_cq_create(struct xv_call *call);
int xv_cq_modify(struct xv_call *call);
int xv_cq_resize(struct xv_call *call);
int xv_srq_create(struct xv_call *call);
int xv_srq_modify(struct xv_call *call);
int xv_srq_query(struct xv_call *call);
int xv_qp_create(struct xv_call *call);
int xv_qp_modify(struct xv_call *call);
int xv_qp_query(struct xv_call *call);
int xv_qp_open(struct xv_call *call);
int xv_ah_resolve(struct xv_call *call);
int xv_mcast_attach(struct xv_call *call);
int xv_mcast_detach(struct xv_call *call);
int xv_mkey_create(struct xv_call *call);
int xv_mkey_query(struct xv_call *call);
u32 xv_mkey_max_entries(const struct xv_dev *dev);

#define XV_MKEY_LIST_UNIT	4	/* a list is a multiple of four entries (PRM) */

void xv_mkey_context(void *mkc, u32 pdn, u32 entries, bool remote_invalidate);
int xv_dct_create(struct xv_call *call);
int xv_dct_query(struct xv_call *call);
int xv_dct_arm(struct xv_call *call);

int xv_check_port(struct xv_call *call, u32 port);
/* Refuses access flags that no object has; which ones an object has is checked later. */
int xv_check_access_known(struct xv_call *call, const char *what, u32 access);

/* ---- Objects (object.c) --------------------------------------------------------- */

/* In the order of destruction when a file closes: users before the objects they use */
enum xv_obj_type {
	XV_OBJ_QP,
	XV_OBJ_DCT,
	XV_OBJ_SRQ,
	XV_OBJ_CQ,
	XV_OBJ_CHANNEL,
	XV_OBJ_XRCD,
	XV_OBJ_UMEM,
	XV_OBJ_MKEY,
	XV_OBJ_MW,
	XV_OBJ_MR,
	XV_OBJ_UAR,
	XV_OBJ_PD,
	XV_OBJ_TYPES,
};

/**
 * struct xv_resource - an object in debugfs
 * @word: its type
 * @bytes: size of rings or of user memory, else 0
 * @number: number in the adapter, of an mkey with its low byte; the handle if the
 *	object has no number in the adapter
 * @imported: a PD of ib_uverbs
 * @pid: process that created it, in the initial PID namespace
 * @comm: name of that process at creation
 */
struct xv_resource {
	const char *word;
	u64 bytes;
	u32 number;
	bool imported;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

void xv_resource_init(struct xv_resource *resource);

#define XV_MAX_DEPS	8

/**
 * struct xv_obj - first member of every object
 * @serial: number that is unique in the file and never reused
 * @users: number of objects and calls in flight that use it; under xa_lock of
 *	xv_file.objs.  Only an object without users can be destroyed.
 * @deps: objects that it uses
 * @cgroup: charge for the object
 * @resource: shown in debugfs; set before the object is published
 * @events: source of its asynchronous events
 */
struct xv_obj {
	struct xv_file *file;
	enum xv_obj_type type;
	u64 serial;
	u32 handle;
	u32 users;
	u32 n_deps;
	struct xv_obj *deps[XV_MAX_DEPS];
	struct ib_rdmacg_object cgroup;
	struct xv_resource resource;
	struct xv_evsrc events;
};

struct xv_obj *xv_obj_alloc(struct xv_call *call, enum xv_obj_type type,
			    size_t size);
void xv_obj_abort(struct xv_obj *obj);
void xv_obj_undo(struct xv_obj *obj);
void xv_obj_publish(struct xv_obj *obj);
void xv_obj_discard(struct xv_file *file, u32 handle, u64 serial);
struct xv_obj *xv_obj_get(struct xv_call *call, enum xv_obj_type type,
			  u32 handle);
void xv_obj_put(struct xv_obj *obj);
struct xv_obj *xv_obj_use(struct xv_call *call, struct xv_obj *user,
			  enum xv_obj_type type, u32 handle);
void xv_objs_destroy_all(struct xv_file *file);
u32 xv_max_objects(void);

/**
 * struct xv_pd_obj - a protection domain
 * @uverbs: open file of ib_uverbs to which an imported PD belongs, or NULL
 * @srq: SRQ that was made to read @pdn and could not be destroyed, or NULL
 * @kept: in xv_dev.kept_imports
 */
struct xv_pd_obj {
	struct xv_obj obj;
	struct ib_pd *ib;
	struct file *uverbs;
	struct ib_srq *srq;
	struct list_head kept;
	u32 pdn;
};

int xv_import_hold(struct ib_pd *pd, const void *ufile, u32 handle);
void xv_import_drop(struct xv_pd_obj *pd);
void xv_imports_exit(struct xv_dev *dev);

/**
 * struct xv_mr_obj - a memory region
 * @obj: deps[0] is the PD; re-registration can change it
 * @lock: serialises re-registrations; protects the other members
 * @ib: region of mlx5_ib; NULL for a dma-buf
 * @pinned: the charge
 * @umem: the pinned dma-buf, or NULL; it cannot be re-registered
 * @key: mkey of a dma-buf
 */
struct xv_mr_obj {
	struct xv_obj obj;
	struct mutex lock;
	struct ib_mr *ib;
	struct xv_pinned *pinned;
	u64 addr;
	u64 length;
	u64 iova;
	u32 access;
	bool writable;		/* pinned for writing */
	bool revoked;		/* a change failed: the key may give no access */
	struct ib_umem_dmabuf *umem;
	u32 key;
};

struct xv_mw_obj {
	struct xv_obj obj;
	u32 mkey;
};

/**
 * struct xv_mkey_obj - an indirect key
 * @pinned: charge for a long list, or NULL
 */
struct xv_mkey_obj {
	struct xv_obj obj;
	u32 key;
	struct xv_pinned *pinned;
};

/* @pinned: the charge */
struct xv_umem_obj {
	struct xv_obj obj;
	struct ib_umem *ib;
	struct xv_pinned *pinned;
	u64 length;
};

int xv_umem_check(struct xv_call *call, const struct xv_umem_obj *umem,
		  const char *what, u64 offset, u64 bytes, u32 align);
int xv_umem_pages(struct xv_call *call, const struct xv_umem_obj *umem,
		  u64 offset, dma_addr_t *dma, u32 n);

/* Handle of an XRC domain, which files can share */
struct xv_xrcd_obj {
	struct xv_obj obj;
	struct xv_xrc_domain *domain;
};

/**
 * struct xv_xrc_domain - an XRC domain
 * @node: in xv_dev.xrc_domains
 * @path: of the file that identifies it, empty if the domain is private
 * @users: number of handles and of queue pairs of type XRC_RECV, under xv_dev.xrc_lock
 */
struct xv_xrc_domain {
	struct list_head node;
	struct path path;
	u32 users;
	u32 xrcdn;
};

int xv_xrc_domain_put(struct xv_dev *dev, struct xv_call *call,
		      struct xv_xrc_domain *domain);

struct xv_uar_obj {
	struct xv_obj obj;
	struct xv_mapping map;
	u16 uid;		/* of the user context to which it belongs, or 0 */
	u32 index;
	void __iomem *iomem;
	bool write_combining;
};

struct xv_channel_obj {
	struct xv_obj obj;
	struct xv_chan_queue *queue;
};

/**
 * struct xv_cq_obj - a completion queue
 * @lock: serialises resizing; protects @mem.ring
 */
struct xv_cq_obj {
	struct xv_obj obj;
	struct mlx5_core_cq mcq;
	struct xv_channel_obj *channel;
	struct xv_evsrc comp;
	struct mutex lock;
	struct xv_qmem mem;
	u32 cqe_bytes;
};

/* @xrc: XRC SRQ; otherwise the SRQ is an RMP (PRM) */
struct xv_srq_obj {
	struct xv_obj obj;
	struct xv_qmem mem;
	u32 srqn;
	bool xrc;
	u32 max_wr;
	u32 max_sge;
};

/**
 * struct xv_qp_obj - handle of a queue pair
 * @qp: the queue pair; handles can share one of type XRC_RECV
 * @node: in xv_dev_qp.handles
 * @init: attributes of creation
 * @label: of the process that created it, for rights to P_Keys
 */
struct xv_qp_obj {
	struct xv_obj obj;
	struct xv_dev_qp *qp;
	struct list_head node;
	void *label;
	struct xverbs_qp_init init;
};

enum { XV_PATH_PRIMARY, XV_PATH_ALTERNATE, XV_PATHS };

/**
 * struct xv_dev_qp - a queue pair
 * @handle: the only handle, which gets the events, if it has no @domain; NULL if the object
 *	was leaked.  Under the lock of xv_dev.qps or xv_dev.security.sem.
 * @handles: struct xv_qp_obj that need the right to its P_Keys and, if it has a @domain, get
 *	its events.  They are added under @lock or before others know the queue pair.
 * @handles_lock: protects @handles
 * @raised: mask of the types of events that its handles have not yet got
 * @deliver: work that gives them to the handles
 * @domain: XRC domain if the type is XRC_RECV, else NULL
 * @users: number of handles; under xv_dev.xrc_lock if it has a @domain
 * @lock: serialises calls; protects @attrs, @sgid, @mcast, @n_mcast
 * @cqn_snd: CQ number for sends, or 0
 * @cqn_rcv: CQ number for receives, or 0
 * @want_drained: raise XVERBS_EVENT_SQ_DRAINED
 * @attrs: attributes as last set; qp_state is the last state that software set
 * @sgid: referenced source GIDs of both paths, or NULL
 * @mcast: its multicast groups
 */
struct xv_dev_qp {
	struct xv_qp_obj *handle;
	struct list_head handles;
	struct mutex handles_lock;
	unsigned long raised;
	struct work_struct deliver;
	struct xv_xrc_domain *domain;
	u32 users;
	struct mutex lock;
	u32 qpn;
	u32 type;
	u32 pdn;
	struct ib_pd *ib_pd;
	u32 uar_page;
	u32 cqn_snd;
	u32 cqn_rcv;
	u32 srqn;
	u32 xrcdn;
	bool want_drained;
	struct xv_qmem mem;
	struct xverbs_qp_cap cap;
	struct xv_qp_attrs attrs;
	const struct ib_gid_attr *sgid[XV_PATHS];
	struct list_head mcast;
	u32 n_mcast;
};

/**
 * struct xv_dct_obj - a DC target
 * @init: arguments of creation
 * @port: its port
 * @pkey_index: index of its P_Key
 * @label: of the process that created it, for the right to its P_Key
 * @sl: its service level
 * @arm_lock: serialises arming
 * @arm_state: XVERBS_DCT_*, of the event of key violations; while it is armed, an entry of
 *	the event queue is reserved
 * @drain_end: when to stop waiting until it is drained; 0 before draining begins
 * @drained: the adapter has raised the event of the end
 * @sgid: referenced source GID
 */
struct xv_dct_obj {
	struct xv_obj obj;
	struct xverbs_dct_create init;
	u32 dctn;
	u32 port;
	u16 pkey_index;
	u8 sl;
	void *label;
	u32 ece;
	struct mutex arm_lock;
	u32 arm_state;
	u64 drain_end;
	struct completion drained;
	const struct ib_gid_attr *sgid;
};

int xv_pd_make(struct xv_call *call, struct ib_pd **pd, u32 *pdn);
int xv_pd_free(struct ib_pd *pd);
void xv_pd_forget(struct ib_pd *pd);
int xv_pd_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_pd_leak(struct xv_obj *obj);
int xv_mr_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_uar_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_channel_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_cq_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_qp_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_dct_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_mw_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_mkey_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_umem_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_xrcd_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_srq_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_qp_leak(struct xv_obj *obj);
void xv_dct_leak(struct xv_obj *obj);
void xv_dct_drain(struct xv_obj *obj);
void xv_srq_leak(struct xv_obj *obj);
void xv_mr_leak(struct xv_obj *obj);
void xv_cq_leak(struct xv_obj *obj);
void xv_channel_leak(struct xv_obj *obj);
void xv_uar_leak(struct xv_obj *obj);
void xv_uar_end(struct xv_file *file);
int xv_mcast_detach_all(struct xv_dev *dev, struct xv_call *call,
			struct xv_dev_qp *qp);
void xv_channel_event(struct xv_channel_obj *channel, struct xv_evsrc *src);
u32 xv_channel_stop(struct xv_channel_obj *channel, struct xv_evsrc *src);

#define to_pd_obj(_obj)		container_of(_obj, struct xv_pd_obj, obj)
#define to_mr_obj(_obj)		container_of(_obj, struct xv_mr_obj, obj)
#define to_mw_obj(_obj)		container_of(_obj, struct xv_mw_obj, obj)
#define to_mkey_obj(_obj)	container_of(_obj, struct xv_mkey_obj, obj)
#define to_umem_obj(_obj)	container_of(_obj, struct xv_umem_obj, obj)
#define to_xrcd_obj(_obj)	container_of(_obj, struct xv_xrcd_obj, obj)
#define to_uar_obj(_obj)	container_of(_obj, struct xv_uar_obj, obj)
#define to_channel_obj(_obj)	container_of(_obj, struct xv_channel_obj, obj)
#define to_cq_obj(_obj)		container_of(_obj, struct xv_cq_obj, obj)
#define to_srq_obj(_obj)	container_of(_obj, struct xv_srq_obj, obj)
#define to_qp_obj(_obj)		container_of(_obj, struct xv_qp_obj, obj)
#define to_dct_obj(_obj)	container_of(_obj, struct xv_dct_obj, obj)

/* ---- Objects in debugfs (resources.c) ---------------------------------------- */

void xv_resources_init(void);
void xv_resources_exit(void);
void xv_resources_add(struct xv_dev *dev);
void xv_resources_del(struct xv_dev *dev);

#endif
