/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Error numbers, and their texts with the names of DOCA 2.2.
 */
#ifndef XVDOCA_JOBS_ERROR_H
#define XVDOCA_JOBS_ERROR_H

#include_next <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As doca_error_get_name() and doca_error_get_descr() */
const char *doca_get_error_name(doca_error_t error);
const char *doca_get_error_string(doca_error_t error);

#ifdef __cplusplus
}
#endif

#endif
