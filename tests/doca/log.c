// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: format, levels, backends, limits, threads and errors.  Each group of tests runs in a
 * process of its own, because backends exist until the process ends.
 */
#define DOCA_LOGGING_ALLOW_TRACE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>
#include <doca_log.h>
#include <doca_version.h>
#include "internal.h"
#include "tap.h"

DOCA_LOG_REGISTER(TEST::LOG);

#define LEVELS(m) m(DISABLE) m(CRIT) m(ERROR) m(WARNING) m(INFO) m(DEBUG) m(TRACE)
#define LEVEL(name) DOCA_LOG_LEVEL_##name,

static const uint32_t levels[] = { LEVELS(LEVEL) };
static char packet[8192];
static int sockets[2] = { -1, -1 };

/* A backend that turns each write into one packet */
static struct doca_log_backend *packets(bool sdk)
{
	struct doca_log_backend *backend = NULL;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
		bail_out("no sockets");
	if (sdk)
		doca_log_backend_create_with_fd_sdk(sockets[1], &backend);
	else
		doca_log_backend_create_with_fd(sockets[1], &backend);
	return backend;
}

/* The next packet, or "" if there is none */
static const char *next(void)
{
	ssize_t n = recv(sockets[0], packet, sizeof(packet) - 1, MSG_DONTWAIT);

	packet[n < 0 ? 0 : n] = 0;
	return packet;
}

/* Logs at all levels; returns the levels that came, such as "CRIT ERROR ". */
static const char *came(void (*log)(uint32_t level))
{
	static const char *const names[] = { "DISABLE", "CRIT", "ERROR", "WARNING", "INFO",
					     "DEBUG", "TRACE" };
	static char list[128];
	size_t i;

	list[0] = 0;
	for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		log(levels[i]);
		if (*next())
			strcat(strcat(list, names[i]), " ");
	}
	return list;
}

static void log_app(uint32_t level)
{
	DOCA_LOG(level, "x");
}

static void log_sdk(uint32_t level)
{
	xvd_log(level, "f", 1, "g", "x");
}

#define CAME(log, want, what) do {							\
	const char *got_ = came(log);							\
	if (!ok(!strcmp(got_, want), "%s", what))					\
		diag("got %s, want %s", got_, want);					\
} while (0)

/* ---- Groups ---- */

static void test_format(void)
{
	struct { char level[4], want[4]; } seen[] = {
		{ "", "CRT" }, { "", "ERR" }, { "", "WRN" }, { "", "INF" }, { "", "DBG" },
		{ "", "TRC" },
	};
	int h, m, s, us, tid, line, number, n, i, here = __LINE__ + 4;
	char level[4], file[16], function[32];

	packets(false);
	DOCA_LOG_INFO("number %d", 7);
	n = sscanf(next(), "[%d:%d:%d:%d][%d][DOCA][%3[A-Z]][%15[^:]:%d][%31[^]]] number %d", &h,
		   &m, &s, &us, &tid, level, file, &line, function, &number);
	ok(n == 10 && h < 24 && m < 60 && s < 61 && us < 1000000 && tid == gettid() &&
	   !strcmp(file, "log.c") && line == here &&
	   !strcmp(function, "test_format") && number == 7 &&
	   strchr(packet, '\n') == packet + strlen(packet) - 1, "the format");

	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE);
	DOCA_LOG_CRIT("x");
	DOCA_LOG_ERR("x");
	DOCA_LOG_WARN("x");
	DOCA_LOG_INFO("x");
	DOCA_LOG_DBG("x");
	DOCA_LOG_TRC("x");
	for (i = 0; i < 6; i++) {
		ok(sscanf(next(), "%*[^D]DOCA][%3[A-Z]", seen[i].level) == 1 &&
		   !strcmp(seen[i].level, seen[i].want), "the macro for %s", seen[i].want);
	}
	DOCA_DLOG_ERR("x %d", 1);
	ok(!*next(), "messages for developers are off");

	tap_is(doca_log(DOCA_LOG_LEVEL_ERROR, -1, "/a/b/c.c", 5, "f", "%s", "t"), DOCA_SUCCESS,
	       "a source that is not registered");
	ok(!!strstr(next(), "[DOCA][ERR][c.c:5][f] t\n"), "a file without its directory");
}

/* Each message is one write, whatever its length. */
static void test_length(void)
{
	static char text[4096];
	size_t len, good = 0;

	packets(false);
	for (len = 0; len < sizeof(text); len++) {
		memset(text, 'a' + len % 26, len);
		text[len] = 0;
		DOCA_LOG_INFO("%s", text);
		next();
		good += strlen(packet) > len + 1 && packet[strlen(packet) - len - 2] == ' ' &&
			!memcmp(packet + strlen(packet) - len - 1, text, len) &&
			packet[strlen(packet) - 1] == '\n';
	}
	tap_is(good, sizeof(text), "lengths that are one packet");
	memset(text, 'n', sizeof(text) - 1);
	doca_log(DOCA_LOG_LEVEL_INFO, 0, text, 1, text, "%s", "end");
	ok(!!strstr(next(), "n] end\n"), "long names of file and function leave room for the text");
}

static void test_limits(void)
{
	struct doca_log_backend *backend = packets(false), *other;
	unsigned int i, bad = 0;

	CAME(log_app, "CRIT ERROR WARNING INFO ", "limits at first");
	tap_is(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO, "global lower limit");
	tap_is(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_CRIT, "global upper limit");
	tap_is(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_INFO, "global SDK limit");
	CAME(log_sdk, "", "messages of the libraries do not come here");

	doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_TRACE);
	CAME(log_app, "CRIT ERROR WARNING INFO ", "the limit of the libraries is another");
	tap_is(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS,
	       "sets the lower limit");
	CAME(log_app, "CRIT ERROR WARNING INFO DEBUG ", "lower limit");
	tap_is(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_WARNING),
	       DOCA_SUCCESS, "sets the upper limit");
	CAME(log_app, "WARNING INFO DEBUG ", "upper limit");
	tap_is(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO), DOCA_SUCCESS,
	       "sets the global lower limit");
	CAME(log_app, "WARNING INFO ", "global lower limit");
	tap_is(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS,
	       "sets the global upper limit");
	CAME(log_app, "ERROR WARNING INFO ", "global upper limit");
	tap_is(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO, "lower limit");
	tap_is(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_ERROR, "upper limit");

	doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_DISABLE);
	CAME(log_app, "CRIT ERROR WARNING INFO ", "no message has the level DISABLE");
	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE);
	CAME(log_app, "", "no messages");

	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE);
	doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR);
	packets(false);
	CAME(log_app, "ERROR WARNING INFO DEBUG TRACE ", "a new backend has the global limits");

	for (i = 0; i < 90; i++) {
		if (i % 10 == 0 && i >= 10 && i <= 70)
			continue;
		bad += doca_log_level_set_global_lower_limit(i) == DOCA_ERROR_INVALID_VALUE &&
		       doca_log_level_set_global_upper_limit(i) == DOCA_ERROR_INVALID_VALUE &&
		       doca_log_level_set_global_sdk_limit(i) == DOCA_ERROR_INVALID_VALUE &&
		       doca_log_backend_set_level_lower_limit(backend, i) ==
		       DOCA_ERROR_INVALID_VALUE &&
		       doca_log(i, 0, "f", 1, "g", "x") == DOCA_ERROR_INVALID_VALUE;
	}
	tap_is(bad, 83, "numbers that are no levels");
	doca_log_backend_create_with_fd_sdk(1, &other);
	tap_is(doca_log_backend_set_level_lower_limit(other, DOCA_LOG_LEVEL_INFO),
	       DOCA_ERROR_INVALID_VALUE, "a backend of the libraries");
	tap_is(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_INFO),
	       DOCA_ERROR_INVALID_VALUE, "a backend of the program");
	tap_is(doca_log_backend_set_level_upper_limit(NULL, DOCA_LOG_LEVEL_INFO),
	       DOCA_ERROR_INVALID_VALUE, "no backend");
}

static void test_sdk(void)
{
	struct doca_log_backend *backend = packets(true);

	CAME(log_sdk, "CRIT ERROR WARNING INFO ", "limits at first");
	CAME(log_app, "", "messages of the program do not come here");
	tap_is(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS,
	       "sets the level");
	CAME(log_sdk, "CRIT ERROR WARNING ", "the level");
	tap_is(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS,
	       "sets the global level");
	CAME(log_sdk, "CRIT ERROR WARNING INFO DEBUG ", "the global level");
	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE);
	CAME(log_sdk, "CRIT ERROR WARNING INFO DEBUG ", "limits of the program are others");
	tap_is(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_DEBUG, "global level");
	packets(true);
	CAME(log_sdk, "CRIT ERROR WARNING INFO DEBUG ", "a new backend has the global level");
}

static char buffer[40];
static int flushes;

static void flush(char *buf)
{
	flushes += buf == buffer && strlen(buffer) == sizeof(buffer) - 1;
	/* It is dropped: the buffer has a message. */
	xvd_log(DOCA_LOG_LEVEL_ERROR, "f", 1, "g", "from the callback");
}

static int syslog_priority, syslog_calls;
static char syslog_ident[16], syslog_text[64];

/* These replace those of libc. */
void openlog(const char *ident, int option, int facility)
{
	(void)option;
	(void)facility;
	snprintf(syslog_ident, sizeof(syslog_ident), "%s", ident);
}

void syslog(int priority, const char *format, ...)
{
	va_list ap;

	syslog_priority = priority;
	syslog_calls++;
	va_start(ap, format);
	vsnprintf(syslog_text, sizeof(syslog_text), format, ap);
	va_end(ap);
}

static void test_backends(void)
{
	struct doca_log_backend *buf, *file, *sys;
	char name[] = "ident", text[128] = "";
	FILE *f = tmpfile();
	unsigned int n;

	tap_is(doca_log_backend_create_with_file(f, &file), DOCA_SUCCESS, "creates with a file");
	fputs("before ", f);
	DOCA_LOG_ERR("%s", "in the file");
	DOCA_LOG_ERR("%s", "again");
	n = pread(fileno(f), text, sizeof(text) - 1, 0);
	ok(n < sizeof(text) && !strncmp(text, "before [", 8) && strchr(text, '\n') &&
	   strstr(text, "] in the file\n["), "the file has the message, unbuffered");
	doca_log_backend_set_level_lower_limit(file, DOCA_LOG_LEVEL_DISABLE);
	tap_is(doca_log_backend_create_with_file(fopen("/dev/full", "w"), &file), DOCA_SUCCESS,
	       "creates one with a full device");
	errno = EXDEV;
	tap_is(DOCA_LOG_ERR("x"), DOCA_ERROR_IO_FAILED, "a file that cannot be written");
	tap_is(errno, EXDEV, "errno stays");
	doca_log_backend_set_level_lower_limit(file, DOCA_LOG_LEVEL_DISABLE);

	tap_is(doca_log_backend_create_with_syslog(name, &sys), DOCA_SUCCESS,
	       "creates one with syslog");
	name[0] = 'X';
	DOCA_LOG_WARN("x %d", 3);
	ok(syslog_priority == LOG_WARNING && !strcmp(syslog_ident, "ident") &&
	   !strncmp(syslog_text, "[log.c:", 7) && strstr(syslog_text, "] x 3\n"),
	   "a message of syslog");
	DOCA_LOG_CRIT("x");
	ok(syslog_priority == LOG_CRIT && syslog_calls == 2, "the priority of another level");

	tap_is(doca_log_backend_create_with_file_sdk(f, &file), DOCA_SUCCESS, "SDK: file");
	tap_is(doca_log_backend_create_with_buf_sdk(buffer, sizeof(buffer), flush, &buf),
	       DOCA_SUCCESS, "SDK: buffer");
	tap_is(doca_log_backend_create_with_syslog_sdk("sdk", &sys), DOCA_SUCCESS, "SDK: syslog");
	xvd_log(DOCA_LOG_LEVEL_ERROR, "f", 1, "g", "%0100d", 1);
	ok(flushes == 1 && syslog_calls == 3 && syslog_priority == LOG_ERR, "each has the message");
	ok(!!strstr(buffer, "[DOCA][ERR]"), "a long message: %s", buffer);
	xvd_log(DOCA_LOG_LEVEL_DEBUG, "f", 1, "g", "x");
	xvd_log(DOCA_LOG_LEVEL_WARNING, "f", 1, "g", "%0100d", 1);
	ok(flushes == 2 && strstr(buffer, "[DOCA][WRN]"), "the next message: %s", buffer);
}

/* A process in which stdout and stderr are files; returns what it wrote. */
static void test_standard(void)
{
	char out[512] = "", err[512] = "";
	FILE *f[2] = { tmpfile(), tmpfile() };
	pid_t pid = fork();
	int status;

	if (!pid) {
		dup2(fileno(f[0]), 1);
		dup2(fileno(f[1]), 2);
		doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG);
		_exit(doca_log_backend_create_standard() || doca_log_backend_create_standard() ||
		      DOCA_LOG_CRIT("a") || DOCA_LOG_ERR("b") || DOCA_LOG_WARN("c") ||
		      DOCA_LOG_INFO("d") || DOCA_LOG_DBG("e") || DOCA_LOG_TRC("f"));
	}
	waitpid(pid, &status, 0);
	tap_is(status, 0, "logs to the standard backend");
	if (pread(fileno(f[0]), out, sizeof(out) - 1, 0) < 0 ||
	    pread(fileno(f[1]), err, sizeof(err) - 1, 0) < 0)
		bail_out("cannot read");
	ok(strstr(out, "[DOCA][INF]") && strstr(out, "[DOCA][DBG]") && strstr(out, "] d\n[") &&
	   strlen(strstr(out, "] e\n")) == 4 && !strstr(out, "] c\n"), "stdout, each message once");
	ok(strstr(err, "[DOCA][CRT]") && strstr(err, "] a\n[") && strstr(err, "] b\n[") &&
	   strlen(strstr(err, "] c\n")) == 4, "stderr, each message once");
}

#define THREADS	8
#define EACH	500

static void *log_many(void *arg)
{
	struct doca_log_backend *backend = arg;
	char text[256];
	int i;

	memset(text, 't', sizeof(text));
	for (i = 0; i < EACH; i++) {
		DOCA_LOG_INFO("%.*s %d.", i % 200, text, i);
		doca_log_backend_set_level_upper_limit(backend, levels[1 + i % 4]);
	}
	return NULL;
}

/* Threads log to a file and change its limits. */
static void test_threads(void)
{
	struct doca_log_backend *backend;
	pthread_t threads[THREADS];
	unsigned int good = 0, bad = 0;
	int i, a, b, c, d, e, at, number;
	FILE *f = tmpfile();
	char line[512];

	doca_log_backend_create_with_file(f, &backend);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, log_many, backend);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		at = 0;
		if (sscanf(line, "[%d:%d:%d:%d][%d][DOCA][INF][log.c:%*d][log_many] %n", &a, &b, &c,
			   &d, &e, &at) == 5 && at &&
		    sscanf(line + at + strspn(line + at, "t"), " %d.", &number) == 1 &&
		    (int)strspn(line + at, "t") == number % 200)
			good++;
		else
			bad++;
	}
	tap_is(good, THREADS * EACH, "messages of %d threads", THREADS);
	tap_is(bad, 0, "mixed messages");
}

static doca_error_t in_callback[3];

static void calls_library(char *text)
{
	struct doca_log_backend *backend;

	(void)text;
	in_callback[0] = doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR);
	in_callback[1] = doca_log_backend_create_with_fd(1, &backend);
	in_callback[2] = doca_log_backend_set_sdk_level(NULL, DOCA_LOG_LEVEL_ERROR);
}

/* The callback of a buffer runs while the library holds its lock. */
static void test_reentry(void)
{
	struct doca_log_backend *backend;
	char text[256];

	doca_log_backend_create_with_buf_sdk(text, sizeof(text), calls_library, &backend);
	XVD_LOG(ERROR, "%s", "message");
	tap_is(in_callback[0], DOCA_ERROR_BAD_STATE, "a limit in the callback");
	tap_is(in_callback[1], DOCA_ERROR_BAD_STATE, "a backend in the callback");
	tap_is(in_callback[2], DOCA_ERROR_INVALID_VALUE, "no backend in the callback");
	tap_is(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS,
	       "a limit behind it");
}

static void *log_without_end(void *arg)
{
	(void)arg;
	while (1) {
		DOCA_LOG_INFO("message");
		pthread_testcancel();
	}
	return NULL;
}

/* A thread that is cancelled while it waits in write() lets others log. */
static void test_cancelled(void)
{
	struct doca_log_backend *backend;
	pthread_t thread;
	char buf[4096];
	int pipes[2];

	if (pipe(pipes))
		bail_out("no pipe");
	doca_log_backend_create_with_fd(pipes[1], &backend);
	pthread_create(&thread, NULL, log_without_end, NULL);
	usleep(100000);
	pthread_cancel(thread);
	/* It stops when its message is written. */
	fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	while (pthread_tryjoin_np(thread, NULL) == EBUSY)
		while (read(pipes[0], buf, sizeof(buf)) > 0)
			;
	while (read(pipes[0], buf, sizeof(buf)) > 0)
		;
	tap_is(DOCA_LOG_INFO("x"), DOCA_SUCCESS, "a message after the cancelled thread");
	ok(read(pipes[0], buf, sizeof(buf)) > 0, "it arrives");
}

static void test_errors(void)
{
	struct doca_log_backend *backend;
	int source, other, n;
	char c;

#define INVALID(call) tap_is(call, DOCA_ERROR_INVALID_VALUE, "%s", #call)
	INVALID(doca_log_backend_create_with_file(NULL, &backend));
	INVALID(doca_log_backend_create_with_file(stdout, NULL));
	INVALID(doca_log_backend_create_with_fd(-1, &backend));
	INVALID(doca_log_backend_create_with_fd(1, NULL));
	INVALID(doca_log_backend_create_with_buf_sdk(NULL, 1, flush, &backend));
	INVALID(doca_log_backend_create_with_buf_sdk(&c, 0, flush, &backend));
	INVALID(doca_log_backend_create_with_buf_sdk(&c, 1, NULL, &backend));
	INVALID(doca_log_backend_create_with_buf_sdk(&c, 1, flush, NULL));
	INVALID(doca_log_backend_create_with_syslog(NULL, &backend));
	INVALID(doca_log_backend_create_with_syslog("x", NULL));
	INVALID(doca_log_backend_set_sdk_level(NULL, DOCA_LOG_LEVEL_INFO));
	INVALID(doca_log(DOCA_LOG_LEVEL_ERROR, 0, NULL, 1, "f", "x"));
	INVALID(doca_log(DOCA_LOG_LEVEL_ERROR, 0, "f", 1, NULL, "x"));
	INVALID(doca_log_register_source(NULL, &source));
	INVALID(doca_log_register_source("x", NULL));
	INVALID(doca_log_unregister_source(-1));
	INVALID(doca_log_unregister_source(1 << 30));

	ok(!doca_log_register_source("x", &source) && !doca_log_register_source("x", &other) &&
	   source != other, "two sources of one name");
	tap_is(doca_log_unregister_source(source), DOCA_SUCCESS, "a source ends");
	tap_is(doca_log_unregister_source(source), DOCA_ERROR_NOT_FOUND, "it ended");
	for (n = 0; !doca_log_register_source("x", &source); n++)
		;
	ok(n > 1000 && doca_log_register_source("x", &source) == DOCA_ERROR_FULL,
	   "%d sources are too many", n);

	tap_is(DOCA_LOG_ERR("x"), DOCA_SUCCESS, "no backend");
	for (n = 0; !doca_log_backend_create_with_fd(1, &backend); n++)
		;
	tap_is(n, 64, "the number of backends");
	tap_is(doca_log_backend_create_with_syslog_sdk("x", &backend), DOCA_ERROR_NO_MEMORY,
	       "too many backends");
	tap_is(doca_log_backend_create_standard(), DOCA_ERROR_NO_MEMORY, "no standard backend");
	ok(!strcmp(doca_version(), doca_version_runtime()), "version %s", doca_version());
}

/* Runs before the file's source is registered, or after, depending on the order of constructors. */
static __attribute__((constructor(101))) void early(void)
{
	setenv("EARLY", DOCA_LOG_ERR("early") ? "error" : "good", 1);
}

/* Runs a group in a child, which prints its tests with numbers that follow ours. */
static void group(void (*test)(void))
{
	int status, counts[2], pipes[2];
	pid_t pid;

	if (pipe(pipes))
		bail_out("no pipe");
	pid = fork();
	if (!pid) {
		test();
		counts[0] = tap_count;
		counts[1] = tap_failed;
		exit(write(pipes[1], counts, sizeof(counts)) != sizeof(counts));
	}
	waitpid(pid, &status, 0);
	if (status || read(pipes[0], counts, sizeof(counts)) != sizeof(counts))
		bail_out("a group of tests ended with %#x", status);
	tap_count = counts[0];
	tap_failed = counts[1];
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	ok(!strcmp(getenv("EARLY"), "good"), "a constructor logs");
	group(test_format);
	group(test_length);
	group(test_limits);
	group(test_sdk);
	group(test_backends);
	group(test_standard);
	group(test_threads);
	group(test_reentry);
	group(test_cancelled);
	group(test_errors);
	return tap_done();
}
