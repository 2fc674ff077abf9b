/* SPDX-License-Identifier: GPL-2.0 */
/* The character device: registered before the ib_core client, removed after it */
#ifndef XV_FILE_H
#define XV_FILE_H

struct file;
struct inode;
struct vm_area_struct;

int xv_files_init(void);
void xv_files_exit(void);

/* alive.c */
int xv_alive_init(void);
void xv_alive_exit(void);

/* fs.c */
struct inode *xv_inode_new(void);
void xv_inode_put(struct inode *inode);

/* ioctl.c, mmap.c: operations of the character device */
long xv_fops_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
int xv_fops_mmap(struct file *filp, struct vm_area_struct *vma);

#endif
