/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages of programs, and the standard backend with its name of DOCA 2.2.
 */
#ifndef XVDOCA_JOBS_LOG_H
#define XVDOCA_JOBS_LOG_H

#include_next <doca_log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As doca_log_backend_create_standard() */
doca_error_t doca_log_create_standard_backend(void);

#ifdef __cplusplus
}
#endif

#endif
