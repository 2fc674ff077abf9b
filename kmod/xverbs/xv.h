/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all files of xverbs.ko use: device, open file, state of one ioctl, objects of a
 * file.  The types of objects and their verbs have headers of their own.
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
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <linux/mlx5/driver.h>
#include <rdma/ib_verbs.h>
#include <rdma/xverbs.h>

#include "compat.h"
#include "evq.h"
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

/* ---- Devices (device.h) ---------------------------------------------------------- */

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

/* ---- Mappings (mmap.c) ----------------------------------------------------------- */

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

/* ---- Open file (file.h) ------------------------------------------------------------ */

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

/* ---- Calls (call.c) ---------------------------------------------------------------- */

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

/* Handler of the ioctl */
int xv_destroy(struct xv_call *call);

/* ---- Objects in debugfs (resources.c) ---------------------------------------- */

void xv_resources_init(void);
void xv_resources_exit(void);
void xv_resources_add(struct xv_dev *dev);
void xv_resources_del(struct xv_dev *dev);

#endif
