// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages: sources and the format.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "log.h"

#define MAX_SOURCES	4096

/* ---- Sources ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool sources[MAX_SOURCES];

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

static doca_error_t log_message(enum kind kind, uint32_t level, const struct place *place,
				const char *format, va_list ap)
{
	struct message message = { .level = level };
	doca_error_t result = DOCA_SUCCESS;
	int err = errno;

	if (!is_level(level) || !format || !place->file || !place->function)
		return DOCA_ERROR_INVALID_VALUE;
	if (!log_is_wanted(kind, level))
		return DOCA_SUCCESS;
	if (!format_message(&message, place, format, ap))
		result = DOCA_ERROR_NO_MEMORY;
	else if (!log_put(kind, &message))
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
