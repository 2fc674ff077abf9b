// SPDX-License-Identifier: GPL-2.0
/*
 * Pseudo file system that gives each open file its own inode and address space.  So
 * one unmap_mapping_range() unmaps a doorbell page in all processes that share the file.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>

#include "file.h"

#define XV_FS_MAGIC	0x78766273	/* "xvbs" */

static struct vfsmount *xv_mnt;
static int xv_mnt_count;

static int xv_fs_init_context(struct fs_context *fc)
{
	return init_pseudo(fc, XV_FS_MAGIC) ? 0 : -ENOMEM;
}

static struct file_system_type xv_fs_type = {
	.name = "xverbs",
	.owner = THIS_MODULE,
	.init_fs_context = xv_fs_init_context,
	.kill_sb = kill_anon_super,
};

struct inode *xv_inode_new(void)
{
	struct inode *inode;
	int err;

	err = simple_pin_fs(&xv_fs_type, &xv_mnt, &xv_mnt_count);
	if (err)
		return ERR_PTR(err);
	inode = alloc_anon_inode(xv_mnt->mnt_sb);
	if (IS_ERR(inode))
		simple_release_fs(&xv_mnt, &xv_mnt_count);
	return inode;
}

void xv_inode_put(struct inode *inode)
{
	iput(inode);
	simple_release_fs(&xv_mnt, &xv_mnt_count);
}
