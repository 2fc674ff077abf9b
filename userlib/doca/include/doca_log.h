/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages of programs, and of these libraries ("SDK"), see doca-log(7).  Compatible with the
 * header of the same name of the DOCA SDK.
 *
 * A message goes to each backend of its kind whose limits allow its level.  It is one line:
 *
 *	[HH:MM:SS:microseconds][thread][DOCA][level][file:line][function] text
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer, a number that is no level, or a backend of
 * the other kind, and those that the comments name.
 *
 * Threads: any thread may call these functions.  Messages of several threads do not mix.  In the
 * callback of a buffer, calls that create a backend or set a limit return DOCA_ERROR_BAD_STATE.
 */
#ifndef XVDOCA_LOG_H
#define XVDOCA_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* Programs for the SDK use functions of these two without including them. */
#include <stdlib.h>
#include <string.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A limit of DOCA_LOG_LEVEL_DISABLE allows no message.  No message has this level. */
enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE	= 10,
	DOCA_LOG_LEVEL_CRIT	= 20,
	DOCA_LOG_LEVEL_ERROR	= 30,
	DOCA_LOG_LEVEL_WARNING	= 40,
	DOCA_LOG_LEVEL_INFO	= 50,
	DOCA_LOG_LEVEL_DEBUG	= 60,
	DOCA_LOG_LEVEL_TRACE	= 70,
};

/* A target of messages.  It exists until the process ends. */
struct doca_log_backend;

/*
 * Backends for the messages of the program.  DOCA_ERROR_NO_MEMORY: there are too many.  The file
 * and the file descriptor belong to the caller and must exist as long as messages come.
 * - standard: messages down to DOCA_LOG_LEVEL_WARNING go to stderr, the others to stdout.  Further
 *   calls change nothing.
 * - syslog: the name is that of openlog(3).  Messages have neither time nor thread.
 */
doca_error_t doca_log_backend_create_standard(void);
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);
doca_error_t doca_log_backend_create_with_syslog(const char *name,
						 struct doca_log_backend **backend);

/*
 * The same for the messages of the libraries.  The buffer also belongs to the caller.  Each message
 * replaces the one before it and ends with a null byte, so that size - 1 bytes of it fit.  The
 * callback gets the buffer; messages that it logs itself are dropped.
 */
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);
doca_error_t doca_log_backend_create_with_buf_sdk(char *buffer, size_t size,
						  void (*callback)(char *buffer),
						  struct doca_log_backend **backend);
doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name,
						     struct doca_log_backend **backend);

/*
 * The limits of a backend for the messages of the program.  The lower limit is the level of the
 * least important messages that it gets, the upper limit that of the most important ones.
 */
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
						    uint32_t level);
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
						    uint32_t level);

/* The lower limit of a backend for the messages of the libraries */
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/*
 * Global limits change those of all backends of the kind, and are the limits of the backends that
 * are created later.  At first, the lower limits are DOCA_LOG_LEVEL_INFO, the upper one is
 * DOCA_LOG_LEVEL_CRIT.
 */
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);
doca_error_t doca_log_level_set_global_upper_limit(uint32_t level);
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);
uint32_t doca_log_level_get_global_lower_limit(void);
uint32_t doca_log_level_get_global_upper_limit(void);
uint32_t doca_log_level_get_global_sdk_limit(void);

/*
 * A source of messages, for DOCA_LOG_REGISTER().  Names need not be different.
 * DOCA_ERROR_FULL: there are too many.  DOCA_ERROR_NOT_FOUND: there is no such source.
 */
doca_error_t doca_log_register_source(const char *source_name, int *source);
doca_error_t doca_log_unregister_source(int source);

/*
 * Logs a message, for the macros below; errno stays as it is.  DOCA_ERROR_IO_FAILED: a backend
 * could not write it.
 */
#ifdef __GNUC__
__attribute__((format(printf, 6, 7)))
#endif
doca_error_t doca_log(uint32_t level, int source, const char *file, int line, const char *function,
		      const char *format, ...);

/*
 * Each file that logs has one DOCA_LOG_REGISTER() with a name, such as RDMA::MAIN, which need not
 * be an identifier.  Constructors may log before it is registered.
 */
#define DOCA_LOG_REGISTER(SOURCE)						\
	static int xvd_log_source __attribute__((unused)) = -1;			\
	static __attribute__((constructor)) void xvd_log_register(void)		\
	{									\
		doca_log_register_source(#SOURCE, &xvd_log_source);		\
	}									\
	static __attribute__((destructor)) void xvd_log_unregister(void)	\
	{									\
		doca_log_unregister_source(xvd_log_source);			\
	}

/* The arguments are those of printf(3), without a newline at the end. */
#define DOCA_LOG(level, ...)							\
	doca_log((level), xvd_log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)
#define DOCA_LOG_CRIT(...)	DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...)	DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...)	DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...)	DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...)	DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* For calls that are compiled but never made */
#define XVD_LOG_NEVER(level, ...)	((void)(0 && DOCA_LOG(level, __VA_ARGS__)))

/* Trace messages need DOCA_LOGGING_ALLOW_TRACE, defined before this file is included. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...)	DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...)	XVD_LOG_NEVER(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#endif

/* Messages for developers need DOCA_LOGGING_ALLOW_DLOG in the same way. */
#ifdef DOCA_LOGGING_ALLOW_DLOG
#define DOCA_DLOG(level, ...)	DOCA_LOG(level, __VA_ARGS__)
#else
#define DOCA_DLOG(level, ...)	XVD_LOG_NEVER(level, __VA_ARGS__)
#endif
#define DOCA_DLOG_CRIT(...)	DOCA_DLOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_DLOG_ERR(...)	DOCA_DLOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_DLOG_WARN(...)	DOCA_DLOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_DLOG_INFO(...)	DOCA_DLOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_DLOG_DBG(...)	DOCA_DLOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
