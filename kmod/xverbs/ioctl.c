// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl of /dev/xverbs.
 *
 * One table maps an ioctl number to its handler.  The dispatcher does all work on sizes:
 * a handler gets a complete structure, padded with zeros, and only checks values.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ah.h"
#include "cq.h"
#include "dct.h"
#include "device.h"
#include "file.h"
#include "mkey.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "query.h"
#include "srq.h"
#include "uar.h"
#include "xrcd.h"

#define XV_UNBOUND	BIT(0)	/* needs no device */
#define XV_EXCLUSIVE	BIT(1)	/* holds xv_file.sem for writing */
#define XV_PINS		BIT(2)	/* may pin user memory */

struct xv_ioctl {
	int (*handler)(struct xv_call *call);
	u16 size;	/* size of the structure in this kernel */
	u16 min_size;	/* size of its first published version */
	u16 mode;	/* XV_* */
	u32 flags;	/* hdr.flags that exist */
};

/* The structure of type @_type was first published up to @_last. */
#define XV_IOCTL(_nr, _handler, _type, _last, _mode, _flags)		\
	[_nr] = {							\
		.handler = (_handler),					\
		.size = sizeof(_type) +					\
			BUILD_BUG_ON_ZERO(sizeof(_type) % 8) +		\
			BUILD_BUG_ON_ZERO(offsetof(_type, hdr)),	\
		.min_size = offsetofend(_type, _last),			\
		.mode = (_mode),					\
		.flags = (_flags),					\
	}

static const struct xv_ioctl xv_ioctls[] = {
	XV_IOCTL(XVERBS_CMD_LIST_DEVICES, xv_device_list, struct xverbs_list_devices,
		 reserved, XV_UNBOUND, 0),
	XV_IOCTL(XVERBS_CMD_BIND, xv_bind, struct xverbs_bind,
		 name, XV_UNBOUND | XV_EXCLUSIVE, XVERBS_BIND_BY_INDEX |
		 XVERBS_BIND_BY_FD),
	XV_IOCTL(XVERBS_CMD_DESTROY, xv_destroy, struct xverbs_destroy,
		 reserved, 0, 0),
	XV_IOCTL(XVERBS_CMD_QUERY_DEVICE, xv_device_query, struct xverbs_query_device,
		 out_umr_fence, 0, 0),
	XV_IOCTL(XVERBS_CMD_QUERY_PORT, xv_port_query, struct xverbs_query_port,
		 out_subnet_prefix, 0, 0),
	XV_IOCTL(XVERBS_CMD_QUERY_GID, xv_gid_query, struct xverbs_query_gid,
		 out_ifindex, 0, 0),
	XV_IOCTL(XVERBS_CMD_QUERY_PKEY, xv_pkey_query, struct xverbs_query_pkey,
		 reserved, 0, 0),
	XV_IOCTL(XVERBS_CMD_QUERY_FEATURES, xv_features_query, struct xverbs_query_features,
		 reserved, 0, 0),
	XV_IOCTL(XVERBS_CMD_CLOCK_MAP, xv_clock_map, struct xverbs_clock_map,
		 reserved, 0, 0),
	XV_IOCTL(XVERBS_CMD_PD_ALLOC, xv_pd_alloc, struct xverbs_pd_alloc,
		 out_pdn, 0, 0),
	XV_IOCTL(XVERBS_CMD_PD_IMPORT, xv_pd_import, struct xverbs_pd_import,
		 out_pdn, 0, 0),
	XV_IOCTL(XVERBS_CMD_UAR_ALLOC, xv_uar_alloc, struct xverbs_uar_alloc,
		 out_bf_stride, 0, XVERBS_UAR_NC),
	XV_IOCTL(XVERBS_CMD_MR_REG, xv_mr_reg, struct xverbs_mr_reg,
		 reserved, XV_PINS, 0),
	XV_IOCTL(XVERBS_CMD_MR_REREG, xv_mr_rereg, struct xverbs_mr_rereg,
		 out_rkey, XV_PINS, 0),
	XV_IOCTL(XVERBS_CMD_MR_DMABUF, xv_mr_dmabuf, struct xverbs_mr_dmabuf,
		 out_rkey, XV_PINS, 0),
	XV_IOCTL(XVERBS_CMD_MW_ALLOC, xv_mw_alloc, struct xverbs_mw_alloc,
		 out_rkey, 0, 0),
	XV_IOCTL(XVERBS_CMD_UMEM_REG, xv_umem_reg, struct xverbs_umem_reg,
		 fd, XV_PINS, XVERBS_UMEM_DMABUF),
	XV_IOCTL(XVERBS_CMD_XRCD_OPEN, xv_xrcd_open, struct xverbs_xrcd_open,
		 reserved, 0, XVERBS_XRCD_SHARED | XVERBS_XRCD_CREATE | XVERBS_XRCD_EXCLUSIVE),
	XV_IOCTL(XVERBS_CMD_CHANNEL_ALLOC, xv_channel_alloc, struct xverbs_channel_alloc,
		 out_fd, 0, XVERBS_CHANNEL_NONBLOCK),
	XV_IOCTL(XVERBS_CMD_CQ_CREATE, xv_cq_create, struct xverbs_cq_create,
		 external, 0, XVERBS_CQ_IGNORE_OVERRUN | XVERBS_CQ_COLLAPSED |
		 XVERBS_CQ_CROSS_CHANNEL),
	XV_IOCTL(XVERBS_CMD_CQ_MODIFY, xv_cq_modify, struct xverbs_cq_modify,
		 reserved, 0, 0),
	XV_IOCTL(XVERBS_CMD_CQ_RESIZE, xv_cq_resize, struct xverbs_cq_resize,
		 out_ring, 0, 0),
	XV_IOCTL(XVERBS_CMD_SRQ_CREATE, xv_srq_create, struct xverbs_srq_create,
		 external, 0, 0),
	XV_IOCTL(XVERBS_CMD_SRQ_MODIFY, xv_srq_modify, struct xverbs_srq_modify,
		 limit, 0, 0),
	XV_IOCTL(XVERBS_CMD_SRQ_QUERY, xv_srq_query, struct xverbs_srq_query,
		 out_limit, 0, 0),
	XV_IOCTL(XVERBS_CMD_QP_CREATE, xv_qp_create, struct xverbs_qp_create,
		 out_dbr, 0, XVERBS_QP_CROSS_CHANNEL | XVERBS_QP_MANAGED_SEND |
		 XVERBS_QP_MANAGED_RECV),
	XV_IOCTL(XVERBS_CMD_QP_MODIFY, xv_qp_modify, struct xverbs_qp_modify,
		 reserved, 0, 0),
	XV_IOCTL(XVERBS_CMD_QP_QUERY, xv_qp_query, struct xverbs_qp_query,
		 out_init, 0, 0),
	XV_IOCTL(XVERBS_CMD_QP_OPEN, xv_qp_open, struct xverbs_qp_open,
		 reserved, 0, 0),
	XV_IOCTL(XVERBS_CMD_AH_RESOLVE, xv_ah_resolve, struct xverbs_ah_resolve,
		 out_av, 0, 0),
	XV_IOCTL(XVERBS_CMD_MCAST_ATTACH, xv_mcast_attach, struct xverbs_mcast,
		 gid, 0, 0),
	XV_IOCTL(XVERBS_CMD_MCAST_DETACH, xv_mcast_detach, struct xverbs_mcast,
		 gid, 0, 0),
	XV_IOCTL(XVERBS_CMD_MKEY_CREATE, xv_mkey_create, struct xverbs_mkey_create,
		 reserved, 0, XVERBS_MKEY_REMOTE_INVALIDATE),
	XV_IOCTL(XVERBS_CMD_MKEY_QUERY, xv_mkey_query, struct xverbs_mkey_query,
		 reserved, 0, 0),
	XV_IOCTL(XVERBS_CMD_DCT_CREATE, xv_dct_create, struct xverbs_dct_create,
		 out_dctn, 0, 0),
	XV_IOCTL(XVERBS_CMD_DCT_QUERY, xv_dct_query, struct xverbs_dct_query,
		 out_attr, 0, 0),
	XV_IOCTL(XVERBS_CMD_DCT_ARM, xv_dct_arm, struct xverbs_dct_arm,
		 reserved, 0, 0),
};

/**
 * struct xv_part - a part (struct xverbs_part) of the structure of an ioctl
 * @nr: number of the ioctl
 * @name: name of the part, for messages
 * @at: offset of the struct xverbs_part in the structure of the ioctl
 * @to: offset of the copy in struct xv_call
 * @size: size of the part in this kernel
 * @min_size: size of its first published version
 * @out: the kernel writes the part and does not read it
 */
struct xv_part {
	u32 nr;
	const char *name;
	u16 at;
	u16 to;
	u16 size;
	u16 min_size;
	bool out;
};

/* The part of type @_type was first published up to @_last. */
#define XV_PART(_nr, _struct, _member, _copy, _type, _last, _out)	\
	{								\
		.nr = (_nr),						\
		.name = #_member,					\
		.at = offsetof(_struct, _member),			\
		.to = offsetof(struct xv_call, _copy) +			\
		      BUILD_BUG_ON_ZERO(!__same_type(_type,		\
						((struct xv_call *)0)->_copy)), \
		.size = sizeof(_type),					\
		.min_size = offsetofend(_type, _last),			\
		.out = (_out),						\
	}

static const struct xv_part xv_parts[] = {
	XV_PART(XVERBS_CMD_CQ_CREATE, struct xverbs_cq_create, external, external,
		struct xverbs_external, dbr_offset, false),
	XV_PART(XVERBS_CMD_SRQ_CREATE, struct xverbs_srq_create, external, external,
		struct xverbs_external, dbr_offset, false),
	XV_PART(XVERBS_CMD_QP_CREATE, struct xverbs_qp_create, external, external,
		struct xverbs_external, dbr_offset, false),
	XV_PART(XVERBS_CMD_QP_CREATE, struct xverbs_qp_create, cap, cap,
		struct xverbs_qp_cap, max_atomic_arg, false),
	XV_PART(XVERBS_CMD_QP_CREATE, struct xverbs_qp_create, out_cap, cap,
		struct xverbs_qp_cap, max_atomic_arg, true),
	XV_PART(XVERBS_CMD_QP_MODIFY, struct xverbs_qp_modify, attr, attrs.qp,
		struct xverbs_qp_attr, ece, false),
	XV_PART(XVERBS_CMD_QP_MODIFY, struct xverbs_qp_modify, ah_attr, attrs.ah_attr,
		struct xverbs_ah_attr, reserved, false),
	XV_PART(XVERBS_CMD_QP_MODIFY, struct xverbs_qp_modify, alt_ah_attr, attrs.alt_ah_attr,
		struct xverbs_ah_attr, reserved, false),
	XV_PART(XVERBS_CMD_QP_QUERY, struct xverbs_qp_query, out_attr, attrs.qp,
		struct xverbs_qp_attr, ece, true),
	XV_PART(XVERBS_CMD_QP_QUERY, struct xverbs_qp_query, out_ah_attr, attrs.ah_attr,
		struct xverbs_ah_attr, reserved, true),
	XV_PART(XVERBS_CMD_QP_QUERY, struct xverbs_qp_query, out_alt_ah_attr, attrs.alt_ah_attr,
		struct xverbs_ah_attr, reserved, true),
	XV_PART(XVERBS_CMD_QP_QUERY, struct xverbs_qp_query, out_cap, cap,
		struct xverbs_qp_cap, max_atomic_arg, true),
	XV_PART(XVERBS_CMD_QP_QUERY, struct xverbs_qp_query, out_init, init,
		struct xverbs_qp_init, user_index, true),
	XV_PART(XVERBS_CMD_AH_RESOLVE, struct xverbs_ah_resolve, attr, attrs.ah_attr,
		struct xverbs_ah_attr, reserved, false),
	XV_PART(XVERBS_CMD_DCT_CREATE, struct xverbs_dct_create, attr, dct_attr,
		struct xverbs_dct_attr, sl, false),
	XV_PART(XVERBS_CMD_DCT_QUERY, struct xverbs_dct_query, out_attr, dct_attr,
		struct xverbs_dct_attr, sl, true),
};

static const struct xverbs_part *xv_part_user(const struct xv_call *call,
					      const struct xv_part *part)
{
	return (void *)&call->arg + part->at;
}

/* Copies in a structure that may be shorter or longer than that of this kernel. */
static int xv_copy_struct(struct xv_call *call, const char *name, void *to,
			  size_t size, const void __user *user, size_t usize)
{
	int err;

	/* No structure is larger than a page. */
	err = usize > PAGE_SIZE ? -E2BIG :
				  copy_struct_from_user(to, size, user, usize);
	if (err == -E2BIG)
		return xv_fail(call, err,
			       "%s has %zu bytes, %zu are known to this kernel, and the others are not zero",
			       name, usize, size);
	return err;
}

static int xv_part_fetch(struct xv_call *call, const struct xv_part *part)
{
	const struct xverbs_part *user = xv_part_user(call, part);

	if (user->reserved)
		return xv_fail(call, -EINVAL, "%s.reserved is not zero",
			       part->name);
	if (!user->addr && !user->size)
		return 0;
	if (user->size < part->min_size)
		return xv_fail(call, -EINVAL, "%s.size %u is below %u",
			       part->name, user->size, part->min_size);
	if (part->out && user->size > PAGE_SIZE)
		return xv_fail(call, -E2BIG, "%s.size %u is above %lu",
			       part->name, user->size, PAGE_SIZE);
	if (part->out)
		return 0;
	return xv_copy_struct(call, part->name, (void *)call + part->to,
			      part->size, u64_to_user_ptr(user->addr),
			      user->size);
}

static int xv_part_reply(struct xv_call *call, const struct xv_part *part)
{
	const struct xverbs_part *user = xv_part_user(call, part);

	if (!part->out || !user->size)
		return 0;
	return xv_copy_entry(u64_to_user_ptr(user->addr), user->size,
			     (void *)call + part->to, part->size);
}

static int xv_parts_each(struct xv_call *call, const struct xv_ioctl *op,
			 int (*fn)(struct xv_call *call,
				   const struct xv_part *part))
{
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(xv_parts) && !err; i++)
		if (&xv_ioctls[xv_parts[i].nr] == op)
			err = fn(call, &xv_parts[i]);
	return err;
}

/*
 * Copies in the structure of the caller and checks its size.  The header is read first,
 * because a reason can be returned only when the address of the text is known.
 */
static int xv_call_fetch(struct xv_call *call, const struct xv_ioctl *op,
			 void __user *user, size_t *usize)
{
	struct xverbs_hdr first, *hdr = &call->arg.hdr;
	int err;

	if (get_user(first.size, (u32 __user *)user))
		return -EFAULT;
	if (first.size < sizeof(first))
		return -EINVAL;
	if (copy_from_user(&first, user, sizeof(first)))
		return -EFAULT;
	first.out_limit = XVERBS_LIMIT_NONE;
	*hdr = first;
	if (first.size < op->min_size)
		return xv_fail(call, -EINVAL, "hdr.size %u is below %u",
			       first.size, op->min_size);
	err = xv_copy_struct(call, "the structure", &call->arg, op->size, user,
			     first.size);
	/* Ignore a header that the caller has changed meanwhile. */
	*hdr = first;
	if (err)
		return err;
	*usize = first.size;
	if (hdr->flags & ~op->flags)
		return xv_fail(call, -EOPNOTSUPP, "unknown flags 0x%x",
			       hdr->flags & ~op->flags);
	return xv_parts_each(call, op, xv_part_fetch);
}

static int xv_call_handle(struct xv_call *call, const struct xv_ioctl *op)
{
	struct xv_file *file = call->file;
	int err;

	if (file->gone)
		return xv_fail(call, -ENODEV, "the device was removed");
	if (!file->dev && !(op->mode & XV_UNBOUND))
		return xv_fail(call, -ENXIO, "the file is not bound to a device");
	call->dev = file->dev;
	if (!(op->mode & XV_PINS))
		return op->handler(call);

	if (READ_ONCE(call->dev->gone))
		return xv_fail(call, -ENODEV, "the device is being removed");
	call->task = current;
	spin_lock(&file->pins_lock);
	list_add(&call->pin_node, &file->pins);
	spin_unlock(&file->pins_lock);
	err = op->handler(call);
	spin_lock(&file->pins_lock);
	list_del(&call->pin_node);
	spin_unlock(&file->pins_lock);
	return err;
}

static int xv_call_run(struct xv_call *call, const struct xv_ioctl *op)
{
	struct rw_semaphore *sem = &call->file->sem;
	int err;

	if (op->mode & XV_EXCLUSIVE)
		down_write(sem);
	else
		down_read(sem);
	err = xv_call_handle(call, op);
	if (!err && call->new_obj) {
		call->new_handle = call->new_obj->handle;
		call->new_serial = call->new_obj->serial;
		xv_obj_publish(call->new_obj);
	}
	if (op->mode & XV_EXCLUSIVE)
		up_write(sem);
	else
		up_read(sem);
	return err;
}

static int xv_entries_reply(const struct xv_entries *entries)
{
	char __user *to = u64_to_user_ptr(entries->to);
	int err = 0;
	u32 i;

	for (i = 0; i < entries->n && !err; i++)
		err = xv_copy_entry(to + (size_t)i * entries->to_size,
				    entries->to_size,
				    entries->list + (size_t)i * entries->size,
				    entries->size);
	return err;
}

/*
 * Copies out the results; if this fails, a new object is destroyed again.  Called without
 * xv_file.sem, because page faults of the user memory may take long (userfaultfd, FUSE)
 * and device removal must not wait for them.
 */
static int xv_call_reply(struct xv_call *call, const struct xv_ioctl *op,
			 void __user *user, size_t usize)
{
	bool ok = !xv_parts_each(call, op, xv_part_reply) &&
		  !xv_entries_reply(&call->entries) &&
		  !copy_to_user(user, &call->arg,
				min_t(size_t, usize, op->size));

	if (call->new_file) {
		if (ok) {
			fd_install(call->new_fd, call->new_file);
		} else {
			put_unused_fd(call->new_fd);
			fput(call->new_file);
		}
	}
	if (!ok && call->new_serial) {
		down_read(&call->file->sem);
		xv_obj_discard(call->file, call->new_handle, call->new_serial);
		up_read(&call->file->sem);
	}
	return ok ? 0 : -EFAULT;
}

/*
 * Writes limit and reason, if the caller wants a reason.  If they cannot be written, the error
 * number is the same.
 */
static void xv_call_explain(struct xv_call *call, struct xverbs_hdr __user *user)
{
	const struct xverbs_hdr *hdr = &call->arg.hdr;
	size_t n = min_t(size_t, hdr->reason_len, strlen(call->reason) + 1);

	if (!hdr->reason)
		return;
	/* The structure may be in read-only memory; the reason has an address of its own. */
	(void)put_user(call->limit, &user->out_limit);
	if (!n)
		return;
	call->reason[n - 1] = 0;
	if (copy_to_user(u64_to_user_ptr(hdr->reason), call->reason, n))
		return;
}

long xv_fops_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct xv_call call = { .file = filp->private_data };
	void __user *user = (void __user *)arg;
	unsigned int nr = _IOC_NR(cmd);
	const struct xv_ioctl *op;
	size_t usize;
	long ret;

	if (nr >= ARRAY_SIZE(xv_ioctls) || cmd != _IO(XVERBS_TYPE, nr))
		return -ENOTTY;
	op = &xv_ioctls[array_index_nospec(nr, ARRAY_SIZE(xv_ioctls))];
	if (!op->handler)
		return -ENOTTY;

	ret = xv_call_fetch(&call, op, user, &usize);
	if (ret)
		goto out;

	ret = xv_call_run(&call, op);
	if (ret == -ENOMEM)
		xv_fail_limit(&call, ret, XVERBS_LIMIT_MEMORY,
			      "no memory: the memory cgroup of the process is at its limit (memory.max), or the host has none");
	if (!ret)
		ret = xv_call_reply(&call, op, user, usize);
	kvfree(call.entries.list);
out:
	if (ret)
		xv_call_explain(&call, user);
	return ret;
}
