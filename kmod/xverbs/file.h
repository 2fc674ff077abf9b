/* SPDX-License-Identifier: GPL-2.0 */
/* The character device: registered before the ib_core client, removed after it */
#ifndef XV_FILE_H
#define XV_FILE_H

int xv_files_init(void);
void xv_files_exit(void);

#endif
