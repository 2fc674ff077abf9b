/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/xverbs: the character device, registered before the ib_core client and removed after it,
 * and the open files
 */
#ifndef XV_FILE_H
#define XV_FILE_H

#include "xv.h"

#define XV_REMOVE_TIMEOUT	(10 * HZ)

int xv_files_init(void);
void xv_files_exit(void);
void xv_file_put(struct xv_file *file);
void xv_file_disassociate(struct xv_file *file, unsigned long deadline);
void xv_file_free_sources(struct xv_file *file);
int xv_file_init_sources(struct xv_file *file, u32 n_ports);

/* alive.c */
int xv_alive_init(void);
void xv_alive_exit(void);
int xv_alive_map(struct xv_file *file);
void xv_alive_unmap(struct xv_file *file);

/* clock.c */
int xv_clock_map(struct xv_call *call);
void xv_clock_unmap(struct xv_file *file);

/* fs.c */
struct inode *xv_inode_new(void);
void xv_inode_put(struct inode *inode);

/* ioctl.c, mmap.c: operations of the character device */
long xv_fops_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
int xv_fops_mmap(struct file *filp, struct vm_area_struct *vma);

#endif
