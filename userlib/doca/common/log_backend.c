// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The backends of messages and their limits.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
#include "log.h"

#define MAX_BACKENDS	64

struct doca_log_backend {
	enum kind kind;
	uint32_t lower, upper;		/* limits */
	bool (*put)(struct doca_log_backend *backend, const struct message *message);
	union {
		FILE *file;
		int fd;
		char *name;
		struct {
			char *buf;
			size_t size;
			void (*callback)(char *buffer);
		};
	};
};

/* The lock protects all of this.  No constructor sets it up, so that those of others may log. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct doca_log_backend backends[MAX_BACKENDS];
static unsigned int backend_count;
static bool has_standard;
static uint32_t global_lower[] = { [APP] = DOCA_LOG_LEVEL_INFO, [SDK] = DOCA_LOG_LEVEL_INFO };
static uint32_t global_upper[] = { [APP] = DOCA_LOG_LEVEL_CRIT, [SDK] = DOCA_LOG_LEVEL_CRIT };
/* The maximum of the lower limits of each kind: messages above it cost no lock and no format. */
static uint32_t most[KINDS];
/* This thread is in the callback of a buffer and holds the lock. */
static __thread bool in_callback;

/* ---- Output ---- */

static bool put_file(struct doca_log_backend *backend, const struct message *message)
{
	FILE *file = backend->file;
	bool good;

	/* The program may use the file, too. */
	flockfile(file);
	good = fwrite(message->text, 1, message->len, file) == message->len && !fflush(file);
	funlockfile(file);
	return good;
}

static bool put_standard(struct doca_log_backend *backend, const struct message *message)
{
	backend->file = message->level > DOCA_LOG_LEVEL_WARNING ? stdout : stderr;
	return put_file(backend, message);
}

static bool put_fd(struct doca_log_backend *backend, const struct message *message)
{
	size_t done = 0;
	ssize_t n;

	while (done < message->len) {
		n = write(backend->fd, message->text + done, message->len - done);
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			done += n;
	}
	return true;
}

static bool put_buf(struct doca_log_backend *backend, const struct message *message)
{
	size_t len = message->len;

	if (len >= backend->size)
		len = backend->size - 1;
	memcpy(backend->buf, message->text, len);
	backend->buf[len] = 0;
	in_callback = true;
	backend->callback(backend->buf);
	in_callback = false;
	return true;
}

static bool put_syslog(struct doca_log_backend *backend, const struct message *message)
{
	static const int priorities[] = {
		[DOCA_LOG_LEVEL_CRIT / 10]	= LOG_CRIT,
		[DOCA_LOG_LEVEL_ERROR / 10]	= LOG_ERR,
		[DOCA_LOG_LEVEL_WARNING / 10]	= LOG_WARNING,
		[DOCA_LOG_LEVEL_INFO / 10]	= LOG_INFO,
		[DOCA_LOG_LEVEL_DEBUG / 10]	= LOG_DEBUG,
		[DOCA_LOG_LEVEL_TRACE / 10]	= LOG_DEBUG,
	};

	openlog(backend->name, LOG_PID, LOG_USER);
	syslog(priorities[message->level / 10], "%s", message->text + message->body);
	return true;
}

/* ---- Creation ---- */

static void find_most(enum kind kind)
{
	uint32_t level = DOCA_LOG_LEVEL_DISABLE;
	unsigned int i;

	for (i = 0; i < backend_count; i++)
		if (backends[i].kind == kind && backends[i].lower > level)
			level = backends[i].lower;
	__atomic_store_n(&most[kind], level, __ATOMIC_RELAXED);
}

static doca_error_t add(enum kind kind, const struct doca_log_backend *model,
			struct doca_log_backend **backend)
{
	struct doca_log_backend *new;

	if (!backend)
		return DOCA_ERROR_INVALID_VALUE;
	if (in_callback)
		return DOCA_ERROR_BAD_STATE;
	pthread_mutex_lock(&lock);
	if (backend_count == MAX_BACKENDS) {
		pthread_mutex_unlock(&lock);
		return DOCA_ERROR_NO_MEMORY;
	}
	new = &backends[backend_count];
	*new = *model;
	new->kind = kind;
	new->lower = global_lower[kind];
	new->upper = global_upper[kind];
	backend_count++;
	find_most(kind);
	pthread_mutex_unlock(&lock);
	*backend = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_log_backend_create_standard(void)
{
	struct doca_log_backend model = { .put = put_standard }, *backend;
	doca_error_t result;

	if (__atomic_exchange_n(&has_standard, true, __ATOMIC_RELAXED))
		return DOCA_SUCCESS;
	result = add(APP, &model, &backend);
	if (result)
		__atomic_store_n(&has_standard, false, __ATOMIC_RELAXED);
	return result;
}

static doca_error_t add_file(enum kind kind, FILE *file, struct doca_log_backend **backend)
{
	struct doca_log_backend model = { .put = put_file, .file = file };

	return file ? add(kind, &model, backend) : DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t add_fd(enum kind kind, int fd, struct doca_log_backend **backend)
{
	struct doca_log_backend model = { .put = put_fd, .fd = fd };

	return fd >= 0 ? add(kind, &model, backend) : DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t add_syslog(enum kind kind, const char *name, struct doca_log_backend **backend)
{
	struct doca_log_backend model = { .put = put_syslog };
	doca_error_t result;

	if (!name)
		return DOCA_ERROR_INVALID_VALUE;
	/* openlog() keeps the pointer. */
	model.name = strdup(name);
	if (!model.name)
		return DOCA_ERROR_NO_MEMORY;
	result = add(kind, &model, backend);
	if (result)
		free(model.name);
	return result;
}

/* The functions that create a backend of each kind */
#define PARAMS(...)	(__VA_ARGS__, struct doca_log_backend **backend)
#define ARGS(...)	__VA_ARGS__, backend
#define CREATE(what, params, args)							\
EXPORT doca_error_t doca_log_backend_create_with_##what params				\
{											\
	return add_##what(APP, args);							\
}											\
EXPORT doca_error_t doca_log_backend_create_with_##what##_sdk params			\
{											\
	return add_##what(SDK, args);							\
}

CREATE(file, PARAMS(FILE *fptr), ARGS(fptr))
CREATE(fd, PARAMS(int fd), ARGS(fd))
CREATE(syslog, PARAMS(const char *name), ARGS(name))

EXPORT doca_error_t doca_log_backend_create_with_buf_sdk(char *buffer, size_t size,
							 void (*callback)(char *buffer),
							 struct doca_log_backend **backend)
{
	struct doca_log_backend model = {
		.put = put_buf,
		.buf = buffer,
		.size = size,
		.callback = callback,
	};

	return buffer && size && callback ? add(SDK, &model, backend) : DOCA_ERROR_INVALID_VALUE;
}

/* ---- Limits ---- */

static void set(struct doca_log_backend *backend, bool lower, uint32_t level)
{
	*(lower ? &backend->lower : &backend->upper) = level;
}

static doca_error_t set_limit(struct doca_log_backend *backend, enum kind kind, bool lower,
			      uint32_t level)
{
	if (!backend || backend->kind != kind || !is_level(level))
		return DOCA_ERROR_INVALID_VALUE;
	if (in_callback)
		return DOCA_ERROR_BAD_STATE;
	pthread_mutex_lock(&lock);
	set(backend, lower, level);
	find_most(kind);
	pthread_mutex_unlock(&lock);
	return DOCA_SUCCESS;
}

static doca_error_t set_global(enum kind kind, bool lower, uint32_t level)
{
	unsigned int i;

	if (!is_level(level))
		return DOCA_ERROR_INVALID_VALUE;
	if (in_callback)
		return DOCA_ERROR_BAD_STATE;
	pthread_mutex_lock(&lock);
	__atomic_store_n(lower ? &global_lower[kind] : &global_upper[kind], level,
			 __ATOMIC_RELAXED);
	for (i = 0; i < backend_count; i++)
		if (backends[i].kind == kind)
			set(&backends[i], lower, level);
	find_most(kind);
	pthread_mutex_unlock(&lock);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
							   uint32_t level)
{
	return set_limit(backend, APP, true, level);
}

EXPORT doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
							   uint32_t level)
{
	return set_limit(backend, APP, false, level);
}

EXPORT doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
	return set_limit(backend, SDK, true, level);
}

EXPORT doca_error_t doca_log_level_set_global_lower_limit(uint32_t level)
{
	return set_global(APP, true, level);
}

EXPORT doca_error_t doca_log_level_set_global_upper_limit(uint32_t level)
{
	return set_global(APP, false, level);
}

EXPORT doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level)
{
	return set_global(SDK, true, level);
}

EXPORT uint32_t doca_log_level_get_global_lower_limit(void)
{
	return __atomic_load_n(&global_lower[APP], __ATOMIC_RELAXED);
}

EXPORT uint32_t doca_log_level_get_global_upper_limit(void)
{
	return __atomic_load_n(&global_upper[APP], __ATOMIC_RELAXED);
}

EXPORT uint32_t doca_log_level_get_global_sdk_limit(void)
{
	return __atomic_load_n(&global_lower[SDK], __ATOMIC_RELAXED);
}

/* ---- Messages ---- */

bool log_is_wanted(enum kind kind, uint32_t level)
{
	return level != DOCA_LOG_LEVEL_DISABLE && !in_callback &&
	       level <= __atomic_load_n(&most[kind], __ATOMIC_RELAXED);
}

/* A thread that is cancelled in write() must not keep the lock. */
bool log_put(enum kind kind, const struct message *message)
{
	struct doca_log_backend *backend;
	bool good = true;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&lock);
	for (backend = backends; backend < backends + backend_count; backend++)
		if (backend->kind == kind && message->level <= backend->lower &&
		    message->level >= backend->upper)
			good &= backend->put(backend, message);
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancel, NULL);
	return good;
}
