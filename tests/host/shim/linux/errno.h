/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's errno.h includes a header of this name, too. */
#ifndef SHIM_ERRNO_H
#define SHIM_ERRNO_H

#include <asm-generic/errno.h>

#endif
