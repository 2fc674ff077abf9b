// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: rules of all ioctls (sizes, flags, reserved members, reason and limit), and offsets of
 * mmap().
 * The tests use memory of the process that loads the module as user memory.
 */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>

#include "../ioctl.c"
#include "../mmap.c"

static const struct {
	const char *name;
	size_t size;
	size_t pinned;
} xv_uapi_sizes[] = {
#define XV_SIZE(_name, _bytes)	{ #_name, sizeof(struct xverbs_##_name), _bytes }
	XV_SIZE(hdr, 24), XV_SIZE(part, 16), XV_SIZE(map, 16),
	XV_SIZE(external, 24), XV_SIZE(qp_init, 48),
	XV_SIZE(device, 320), XV_SIZE(list_devices, 48), XV_SIZE(bind, 120),
	XV_SIZE(destroy, 40), XV_SIZE(query_device, 376),
	XV_SIZE(query_port, 104), XV_SIZE(query_gid, 56),
	XV_SIZE(query_pkey, 40), XV_SIZE(feature, 264),
	XV_SIZE(query_features, 48), XV_SIZE(clock_map, 48), XV_SIZE(async_event, 24),
	XV_SIZE(comp_event, 8), XV_SIZE(channel_alloc, 40),
	XV_SIZE(pd_alloc, 32), XV_SIZE(pd_import, 48), XV_SIZE(uar_alloc, 64), XV_SIZE(mr_reg, 72),
	XV_SIZE(mr_rereg, 72), XV_SIZE(mr_dmabuf, 72), XV_SIZE(mw_alloc, 40),
	XV_SIZE(umem_reg, 48), XV_SIZE(xrcd_open, 40), XV_SIZE(qp_open, 48),
	XV_SIZE(cq_create, 120), XV_SIZE(cq_modify, 48),
	XV_SIZE(cq_resize, 56), XV_SIZE(srq_create, 144),
	XV_SIZE(srq_modify, 32), XV_SIZE(srq_query, 40), XV_SIZE(qp_cap, 32),
	XV_SIZE(qp_create, 176), XV_SIZE(ah_attr, 32), XV_SIZE(qp_attr, 64),
	XV_SIZE(qp_modify, 88), XV_SIZE(qp_query, 112),
	XV_SIZE(ah_resolve, 96), XV_SIZE(mcast, 48), XV_SIZE(dct_attr, 40),
	XV_SIZE(dct_create, 72), XV_SIZE(dct_query, 72), XV_SIZE(dct_arm, 32),
};

static void xv_test_uapi_sizes(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(xv_uapi_sizes); i++) {
		KUNIT_EXPECT_EQ_MSG(test, xv_uapi_sizes[i].size,
				    xv_uapi_sizes[i].pinned, "xverbs_%s",
				    xv_uapi_sizes[i].name);
		KUNIT_EXPECT_EQ_MSG(test, xv_uapi_sizes[i].size % 8, (size_t)0,
				    "xverbs_%s", xv_uapi_sizes[i].name);
	}
}

/* ---- ioctl ---------------------------------------------------------------------- */

static struct mm_struct *xv_mm;
static unsigned long xv_user;	/* two pages; the third is not mapped */

static int xv_user_init(struct kunit_suite *suite)
{
	if (!current->mm)
		return -ENODEV;
	xv_user = vm_mmap(NULL, 0, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (IS_ERR_VALUE(xv_user))
		return xv_user;
	vm_munmap(xv_user + 2 * PAGE_SIZE, PAGE_SIZE);
	xv_mm = current->mm;
	mmget(xv_mm);
	return 0;
}

static void xv_user_exit(struct kunit_suite *suite)
{
	if (xv_mm)
		mmput(xv_mm);
	xv_mm = NULL;
}

struct xv_open {
	struct xv_file file;
	struct file filp;
	struct xv_dev dev;
	u8 arg[2 * PAGE_SIZE];
};

static int xv_open_init(struct kunit *test)
{
	struct xv_open *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	if (!o)
		return -ENOMEM;
	init_rwsem(&o->file.sem);
	mutex_init(&o->file.map_lock);
	xa_init(&o->file.maps);
	xa_init_flags(&o->file.objs, XA_FLAGS_ALLOC1);
	spin_lock_init(&o->file.pins_lock);
	INIT_LIST_HEAD(&o->file.pins);
	o->filp.private_data = &o->file;
	test->priv = o;
	return 0;
}

static void xv_open_exit(struct kunit *test)
{
	struct xv_open *o = test->priv;

	xa_destroy(&o->file.maps);
}

/* ioctl() with o->arg and hdr.size = @size */
static long xv_try(struct xv_open *o, unsigned int cmd, u32 size)
{
	void __user *user = (void __user *)xv_user;
	long ret = -EIO;

	((struct xverbs_hdr *)o->arg)->size = size;
	kthread_use_mm(xv_mm);
	if (!copy_to_user(user, o->arg, sizeof(o->arg)))
		ret = xv_fops_ioctl(&o->filp, cmd, xv_user);
	if (copy_from_user(o->arg, user, sizeof(o->arg)))
		ret = -EIO;
	kthread_unuse_mm(xv_mm);
	return ret;
}

static const struct xv_ioctl *xv_next_ioctl(unsigned int *nr)
{
	while (++*nr < ARRAY_SIZE(xv_ioctls))
		if (xv_ioctls[*nr].handler)
			return &xv_ioctls[*nr];
	return NULL;
}

static void xv_test_numbers(struct kunit *test)
{
	struct xv_open *o = test->priv;
	unsigned int nr;

	for (nr = 0; nr < 256; nr++) {
		KUNIT_EXPECT_EQ(test, xv_try(o, _IO(XVERBS_TYPE + 1, nr), 24),
				(long)-ENOTTY);
		KUNIT_EXPECT_EQ(test, xv_try(o, _IOR(XVERBS_TYPE, nr, u32), 24),
				(long)-ENOTTY);
		if (nr >= ARRAY_SIZE(xv_ioctls) || !xv_ioctls[nr].handler)
			KUNIT_EXPECT_EQ(test,
					xv_try(o, _IO(XVERBS_TYPE, nr), 24),
					(long)-ENOTTY);
	}
}

static void xv_test_ioctl_sizes(struct kunit *test)
{
	struct xv_open *o = test->priv;
	const struct xv_ioctl *op;
	unsigned int nr = -1, cmd;

	while ((op = xv_next_ioctl(&nr))) {
		cmd = _IO(XVERBS_TYPE, nr);
		memset(o->arg, 0, sizeof(o->arg));
		KUNIT_EXPECT_GE(test, op->min_size, sizeof(struct xverbs_hdr));
		KUNIT_EXPECT_LE(test, op->min_size, op->size);
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, 0), (long)-EINVAL,
				    "0x%x", nr);
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, op->min_size - 1),
				    (long)-EINVAL, "0x%x", nr);
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, PAGE_SIZE + 1),
				    (long)-E2BIG, "0x%x", nr);
		if (op->mode & XV_UNBOUND)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, op->min_size),
				    (long)-ENXIO, "0x%x", nr);
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, op->size + 8),
				    (long)-ENXIO, "0x%x", nr);
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, PAGE_SIZE),
				    (long)-ENXIO, "0x%x", nr);
		o->arg[op->size + 7] = 1;
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, op->size + 8),
				    (long)-E2BIG, "0x%x", nr);
	}
}

static void xv_test_header(struct kunit *test)
{
	struct xv_open *o = test->priv;
	struct xverbs_hdr *hdr = (void *)o->arg;
	const struct xv_ioctl *op;
	unsigned int nr = -1, cmd, bit;

	while ((op = xv_next_ioctl(&nr))) {
		cmd = _IO(XVERBS_TYPE, nr);
		memset(o->arg, 0, sizeof(o->arg));
		for (bit = 0; bit < 32; bit++) {
			if (op->flags & BIT(bit))
				continue;
			hdr->flags = BIT(bit);
			KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, op->size),
					    (long)-EOPNOTSUPP, "0x%x bit %u",
					    nr, bit);
		}
	}
}

static void xv_test_reserved(struct kunit *test)
{
#define XV_RESERVED(_nr, _type, _member)				\
	{ XVERBS_##_nr, sizeof(struct xverbs_##_type),			\
	  offsetof(struct xverbs_##_type, _member), #_nr " " #_member }
	static const struct {
		u32 cmd;
		u32 size;
		u32 offset;
		const char *name;
	} members[] = {
		XV_RESERVED(LIST_DEVICES, list_devices, reserved),
		XV_RESERVED(BIND, bind, reserved),
		XV_RESERVED(DESTROY, destroy, reserved),
		XV_RESERVED(QUERY_PKEY, query_pkey, reserved),
		XV_RESERVED(QUERY_FEATURES, query_features, reserved),
		XV_RESERVED(CLOCK_MAP, clock_map, reserved),
		XV_RESERVED(MR_REG, mr_reg, reserved),
		XV_RESERVED(UMEM_REG, umem_reg, fd),
		XV_RESERVED(XRCD_OPEN, xrcd_open, reserved),
		XV_RESERVED(CHANNEL_ALLOC, channel_alloc, reserved),
		XV_RESERVED(CQ_CREATE, cq_create, reserved),
		XV_RESERVED(CQ_MODIFY, cq_modify, reserved),
		XV_RESERVED(CQ_RESIZE, cq_resize, reserved),
		XV_RESERVED(SRQ_CREATE, srq_create, reserved),
		XV_RESERVED(QP_MODIFY, qp_modify, reserved),
		XV_RESERVED(QP_MODIFY, qp_modify, attr.reserved),
		XV_RESERVED(QP_QUERY, qp_query, out_init.reserved),
		XV_RESERVED(QP_QUERY, qp_query, reserved),
		XV_RESERVED(QP_OPEN, qp_open, reserved),
		XV_RESERVED(AH_RESOLVE, ah_resolve, reserved),
		XV_RESERVED(MKEY_CREATE, mkey_create, reserved),
		XV_RESERVED(MKEY_QUERY, mkey_query, reserved),
	};
	struct xv_open *o = test->priv;
	int i;

	o->file.dev = &o->dev;
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		memset(o->arg, 0, sizeof(o->arg));
		o->arg[members[i].offset] = 1;
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, members[i].cmd,
						 members[i].size),
				    (long)-EINVAL, members[i].name);
	}
}

/* Each part, shorter and longer than in this kernel */
static void xv_test_parts(struct kunit *test)
{
	struct xv_open *o = test->priv;
	struct xverbs_part *user;
	const struct xv_part *p;
	u8 *tail;
	u32 cmd;
	int i;

	for (i = 0; i < ARRAY_SIZE(xv_parts); i++) {
		p = &xv_parts[i];
		cmd = _IO(XVERBS_TYPE, p->nr);
		memset(o->arg, 0, sizeof(o->arg));
		user = (void *)o->arg + p->at;
		user->addr = xv_user + PAGE_SIZE;
		KUNIT_EXPECT_LE(test, p->min_size, p->size);
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, xv_ioctls[p->nr].size),
				    (long)-EINVAL, "%s without a size", p->name);
		user->size = p->min_size - 1;
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, xv_ioctls[p->nr].size),
				    (long)-EINVAL, "%s too short", p->name);
		user->size = p->min_size;
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, xv_ioctls[p->nr].size),
				    (long)-ENXIO, "%s with the first published size",
				    p->name);
		user->size = p->size + 8;
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, xv_ioctls[p->nr].size),
				    (long)-ENXIO, "%s longer, with zeros", p->name);
		tail = o->arg + PAGE_SIZE + p->size + 7;
		*tail = 1;
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, xv_ioctls[p->nr].size),
				    p->out ? (long)-ENXIO : (long)-E2BIG,
				    "%s longer, with other bytes", p->name);
		user->addr = xv_user + 2 * PAGE_SIZE;
		KUNIT_EXPECT_EQ_MSG(test, xv_try(o, cmd, xv_ioctls[p->nr].size),
				    p->out ? (long)-ENXIO : (long)-EFAULT,
				    "%s at an invalid address", p->name);
	}
}

/* A structure that is longer in this kernel than in an older program */
static void xv_test_grown(struct kunit *test)
{
	const struct xv_ioctl later = { .size = 40, .min_size = 32 };
	void __user *user = (void __user *)xv_user;
	struct xv_open *o = test->priv;
	struct xv_call *call;
	size_t usize;
	u8 got[48];

	call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, call);
	memset(o->arg, 0xff, 48);
	*(struct xverbs_hdr *)o->arg = (struct xverbs_hdr) { .size = 32 };
	memset(&call->arg, 0x55, 48);
	kthread_use_mm(xv_mm);
	KUNIT_EXPECT_EQ(test, (int)copy_to_user(user, o->arg, 48), 0);
	KUNIT_EXPECT_EQ(test, xv_call_fetch(call, &later, user, &usize), 0);
	KUNIT_EXPECT_EQ(test, ((u64 *)&call->arg)[3], ~0ull);
	KUNIT_EXPECT_EQ(test, ((u64 *)&call->arg)[4], 0ull);
	memset(&call->arg, 0x77, 48);
	KUNIT_EXPECT_EQ(test, xv_call_reply(call, &later, user, usize), 0);
	KUNIT_EXPECT_EQ(test, (int)copy_from_user(got, user, sizeof(got)), 0);
	kthread_unuse_mm(xv_mm);
	KUNIT_EXPECT_EQ(test, got[31], 0x77);
	KUNIT_EXPECT_EQ(test, got[32], 0xff);
}

/* The reason is truncated to reason_len and always ends with NUL. */
static void xv_test_reason(struct kunit *test)
{
	struct xv_open *o = test->priv;
	struct xverbs_hdr *hdr = (void *)o->arg;
	char *text = o->arg + PAGE_SIZE;

	hdr->reason = xv_user + PAGE_SIZE;
	hdr->reason_len = 12;
	memset(text, '!', 32);
	KUNIT_EXPECT_EQ(test, xv_try(o, XVERBS_PD_ALLOC,
				     sizeof(struct xverbs_pd_alloc)),
			(long)-ENXIO);
	KUNIT_EXPECT_STREQ(test, text, "the file is");
	KUNIT_EXPECT_EQ(test, text[12], '!');
	hdr->reason = xv_user + 2 * PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, xv_try(o, XVERBS_PD_ALLOC,
				     sizeof(struct xverbs_pd_alloc)),
			(long)-ENXIO);
	o->file.gone = true;
	KUNIT_EXPECT_EQ(test, xv_try(o, XVERBS_PD_ALLOC,
				     sizeof(struct xverbs_pd_alloc)),
			(long)-ENODEV);
}

/* A failed call with a reason writes the limit, and nothing reads it. */
static void xv_test_limit_written(struct kunit *test)
{
	struct xv_open *o = test->priv;
	struct xverbs_hdr *hdr = (void *)o->arg;

	hdr->out_limit = 99;
	KUNIT_EXPECT_EQ(test, xv_try(o, XVERBS_PD_ALLOC, sizeof(struct xverbs_pd_alloc)),
			(long)-ENXIO);
	KUNIT_EXPECT_EQ(test, hdr->out_limit, 99u);
	hdr->reason = xv_user + PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, xv_try(o, XVERBS_PD_ALLOC, sizeof(struct xverbs_pd_alloc)),
			(long)-ENXIO);
	KUNIT_EXPECT_EQ(test, hdr->out_limit, (u32)XVERBS_LIMIT_NONE);
}

/* The first reason counts, and with it its limit. */
static void xv_test_limit_of_reason(struct kunit *test)
{
	void __user *user = (void __user *)xv_user;
	struct xv_call *call;
	struct xverbs_hdr hdr;

	call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, call);
	KUNIT_EXPECT_EQ(test, xv_fail_limit(call, -ENOSPC, XVERBS_LIMIT_OBJECTS, "inner"), -ENOSPC);
	KUNIT_EXPECT_EQ(test, xv_fail_limit(call, -ENOMEM, XVERBS_LIMIT_MEMORY, "outer"), -ENOMEM);
	KUNIT_EXPECT_EQ(test, call->limit, (u32)XVERBS_LIMIT_OBJECTS);
	call->arg.hdr.reason = xv_user + PAGE_SIZE;
	kthread_use_mm(xv_mm);
	xv_call_explain(call, user);
	KUNIT_EXPECT_EQ(test, (int)copy_from_user(&hdr, user, sizeof(hdr)), 0);
	kthread_unuse_mm(xv_mm);
	KUNIT_EXPECT_EQ(test, hdr.out_limit, (u32)XVERBS_LIMIT_OBJECTS);

	xv_forget_failure(call);
	xv_fail(call, -EINVAL, "no limit");
	xv_fail_limit(call, -ENOMEM, XVERBS_LIMIT_MEMORY, "outer");
	KUNIT_EXPECT_STREQ(test, call->reason, "no limit");
	KUNIT_EXPECT_EQ(test, call->limit, (u32)XVERBS_LIMIT_NONE);
}

static struct kunit_case xv_ioctl_cases[] = {
	KUNIT_CASE(xv_test_uapi_sizes),
	KUNIT_CASE(xv_test_numbers),
	KUNIT_CASE(xv_test_ioctl_sizes),
	KUNIT_CASE(xv_test_header),
	KUNIT_CASE(xv_test_reserved),
	KUNIT_CASE(xv_test_parts),
	KUNIT_CASE(xv_test_grown),
	KUNIT_CASE(xv_test_reason),
	KUNIT_CASE(xv_test_limit_written),
	KUNIT_CASE(xv_test_limit_of_reason),
	{}
};

static struct kunit_suite xv_ioctl_suite = {
	.name = "xverbs-ioctl",
	.suite_init = xv_user_init,
	.suite_exit = xv_user_exit,
	.init = xv_open_init,
	.exit = xv_open_exit,
	.test_cases = xv_ioctl_cases,
};

/* ---- mmap ------------------------------------------------------------------------ */

static struct xv_mapping *xv_mapped;

static int xv_note_mmap(struct xv_mapping *map, struct vm_area_struct *vma)
{
	xv_mapped = map;
	return 0;
}

static int xv_try_mmap(struct xv_open *o, u64 offset, u64 length,
		       unsigned long flags)
{
	struct vm_area_struct vma = {
		.vm_start = PAGE_SIZE,
		.vm_end = PAGE_SIZE + length,
		.vm_pgoff = offset >> PAGE_SHIFT,
		.vm_file = &o->filp,
	};

	xv_mapped = NULL;
	xv_compat_vm_flags(&vma, flags, 0);
	return xv_fops_mmap(&o->filp, &vma);
}

static void xv_test_mmap_keys(struct kunit *test)
{
	struct xv_mapping a = { .npages = 3, .mmap = xv_note_mmap };
	struct xv_mapping b = { .npages = 1, .mmap = xv_note_mmap };
	struct xv_mapping c = b;
	struct xv_open *o = test->priv;
	struct xverbs_map key;

	KUNIT_EXPECT_EQ(test, xv_mapping_add(&o->file, &a), 0);
	KUNIT_EXPECT_EQ(test, xv_mapping_add(&o->file, &b), 0);
	key = xv_mapping_user(&a);
	KUNIT_EXPECT_EQ(test, key.offset, 0ull);
	KUNIT_EXPECT_EQ(test, key.length, 3ull * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, xv_mapping_user(&b).offset, 3ull * PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, xv_try_mmap(o, key.offset, key.length, VM_SHARED),
			0);
	KUNIT_EXPECT_PTR_EQ(test, xv_mapped, &a);
	KUNIT_EXPECT_EQ(test, xv_try_mmap(o, 3 * PAGE_SIZE, PAGE_SIZE,
					  VM_SHARED), 0);
	KUNIT_EXPECT_PTR_EQ(test, xv_mapped, &b);
	/* Refused: shorter, longer, private, executable */
	KUNIT_EXPECT_EQ(test, xv_try_mmap(o, 0, PAGE_SIZE, VM_SHARED), -EINVAL);
	KUNIT_EXPECT_EQ(test, xv_try_mmap(o, PAGE_SIZE, 2 * PAGE_SIZE,
					  VM_SHARED), -EINVAL);
	KUNIT_EXPECT_EQ(test, xv_try_mmap(o, 0, 4 * PAGE_SIZE, VM_SHARED),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, xv_try_mmap(o, 0, key.length, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, xv_try_mmap(o, 0, key.length,
					  VM_SHARED | VM_EXEC), -EINVAL);

	/* An offset is never reused. */
	xv_mapping_del(&o->file, &a);
	KUNIT_EXPECT_EQ(test, xv_try_mmap(o, 0, key.length, VM_SHARED),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, xv_mapping_add(&o->file, &c), 0);
	KUNIT_EXPECT_EQ(test, xv_mapping_user(&c).offset, 4ull * PAGE_SIZE);
	xv_mapping_del(&o->file, &b);
	xv_mapping_del(&o->file, &c);
}

static struct kunit_case xv_mmap_cases[] = {
	KUNIT_CASE(xv_test_mmap_keys),
	{}
};

static struct kunit_suite xv_mmap_suite = {
	.name = "xverbs-mmap",
	.init = xv_open_init,
	.exit = xv_open_exit,
	.test_cases = xv_mmap_cases,
};

kunit_test_suites(&xv_ioctl_suite, &xv_mmap_suite);
