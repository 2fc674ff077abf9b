// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages: sources, backends with their limits, and the format.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <doca_log.h>
#include "internal.h"

#define MAX_BACKENDS	64
#define MAX_SOURCES	4096

enum kind { APP, SDK, KINDS };

struct message {
	uint32_t level;
	char *text;		/* ends with a newline and a null byte */
	size_t len;		/* without the null byte */
	size_t body;		/* offset of what follows the level */
	char room[1024];	/* holds the text if it fits */
};

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

/* The lock protects everything.  No constructor sets it up, so that those of others may log. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct doca_log_backend backends[MAX_BACKENDS];
static unsigned int backend_count;
static bool has_standard;
static bool sources[MAX_SOURCES];
static uint32_t global_lower[] = { [APP] = DOCA_LOG_LEVEL_INFO, [SDK] = DOCA_LOG_LEVEL_INFO };
static uint32_t global_upper[] = { [APP] = DOCA_LOG_LEVEL_CRIT, [SDK] = DOCA_LOG_LEVEL_CRIT };
/* The maximum of the lower limits of each kind: messages above it cost no lock and no format. */
static uint32_t most[KINDS];
/* This thread is in the callback of a buffer and holds the lock. */
static __thread bool in_callback;

static bool is_level(uint32_t level)
{
	return level % 10 == 0 && level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE;
}

/* ---- Sources ---- */

EXPORT doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	doca_error_t result = DOCA_ERROR_FULL;
	int i;

	if (!source_name || !source)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_SOURCES && sources[i]; i++)
		;
	if (i < MAX_SOURCES) {
		sources[i] = true;
		*source = i;
		result = DOCA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

EXPORT doca_error_t doca_log_unregister_source(int source)
{
	bool found;

	if (source < 0 || source >= MAX_SOURCES)
		return DOCA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	found = sources[source];
	sources[source] = false;
	pthread_mutex_unlock(&lock);
	return found ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

/* ---- Backends ---- */

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

struct place {
	const char *file, *function;
	int line;
};

static size_t format_prefix(struct message *message, const struct place *place)
{
	static const char *const names[] = { "", "", "CRT", "ERR", "WRN", "INF", "DBG", "TRC" };
	const char *slash = strrchr(place->file, '/');
	struct timespec now;
	struct tm tm;
	int n;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	n = snprintf(message->room, sizeof(message->room), "[%02d:%02d:%02d:%06ld][%d][DOCA][%s]",
		     tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 1000, gettid(),
		     names[message->level / 10]);
	message->body = n;
	/* Long names do not fill the room. */
	n += snprintf(message->room + n, sizeof(message->room) - n, "[%.300s:%d][%.300s] ",
		      slash ? slash + 1 : place->file, place->line, place->function);
	return n;
}

static bool format_message(struct message *message, const struct place *place, const char *format,
			   va_list ap)
{
	size_t prefix = format_prefix(message, place), room = sizeof(message->room) - prefix;
	va_list again;
	int n;

	va_copy(again, ap);
	message->text = message->room;
	n = vsnprintf(message->text + prefix, room, format, ap);
	if (n >= 0 && (size_t)n + 1 >= room) {
		message->text = malloc(prefix + n + 2);
		if (message->text) {
			memcpy(message->text, message->room, prefix);
			vsnprintf(message->text + prefix, n + 1, format, again);
		}
	}
	va_end(again);
	if (n < 0 || !message->text)
		return false;
	message->len = prefix + n + 1;
	memcpy(message->text + message->len - 1, "\n", 2);
	return true;
}

static bool put_all(enum kind kind, const struct message *message)
{
	struct doca_log_backend *backend;
	bool good = true;

	pthread_mutex_lock(&lock);
	for (backend = backends; backend < backends + backend_count; backend++)
		if (backend->kind == kind && message->level <= backend->lower &&
		    message->level >= backend->upper)
			good &= backend->put(backend, message);
	pthread_mutex_unlock(&lock);
	return good;
}

static doca_error_t log_message(enum kind kind, uint32_t level, const struct place *place,
				const char *format, va_list ap)
{
	struct message message = { .level = level };
	doca_error_t result = DOCA_SUCCESS;
	int err = errno;

	if (!is_level(level) || !format || !place->file || !place->function)
		return DOCA_ERROR_INVALID_VALUE;
	if (level == DOCA_LOG_LEVEL_DISABLE || in_callback ||
	    level > __atomic_load_n(&most[kind], __ATOMIC_RELAXED))
		return DOCA_SUCCESS;
	if (!format_message(&message, place, format, ap))
		result = DOCA_ERROR_NO_MEMORY;
	else if (!put_all(kind, &message))
		result = DOCA_ERROR_IO_FAILED;
	if (message.text != message.room)
		free(message.text);
	errno = err;
	return result;
}

EXPORT doca_error_t doca_log(uint32_t level, int source, const char *file, int line,
			     const char *function, const char *format, ...)
{
	struct place place = { file, function, line };
	doca_error_t result;
	va_list ap;

	/* The place says more than the source, so the format has no field for it. */
	(void)source;
	va_start(ap, format);
	result = log_message(APP, level, &place, format, ap);
	va_end(ap);
	return result;
}

EXPORT void xvd_log(uint32_t level, const char *file, int line, const char *function,
		    const char *format, ...)
{
	struct place place = { file, function, line };
	va_list ap;

	va_start(ap, format);
	log_message(SDK, level, &place, format, ap);
	va_end(ap);
}
