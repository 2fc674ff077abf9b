// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptors: pipes of limited size, with short transfers at random, and those of events.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include "sim.h"

enum file_kind { FILE_PIPE = 1, FILE_EVENT, FILE_SIGNAL, FILE_WIRE, FILE_NULL };

struct file {
	enum file_kind kind;
	int refs;
	bool nonblock;
	struct pipe *in, *out;
	uint64_t count;
	uint32_t mask;
	struct proc *owner;
	struct qp *qp;
};

struct channel_pipes channel_pipes;

static struct file files[MAX_FILES];
static struct pipe pipes[MAX_PIPES];
static int n_pipes;
static uint32_t pipe_bytes;

void files_reset(uint32_t bytes)
{
	while (n_pipes)
		free(pipes[--n_pipes].data);
	memset(files, 0, sizeof(files));
	memset(pipes, 0, sizeof(pipes));
	memset(&channel_pipes, 0, sizeof(channel_pipes));
	pipe_bytes = bytes;
}

int files_used(void)
{
	int i, n = 0;

	for (i = 0; i < MAX_FILES; i++)
		n += files[i].refs > 0;
	return n;
}

/* ---- Descriptors ------------------------------------------------------------------ */

static struct file *new_file(enum file_kind kind)
{
	struct file *f = files;

	while (f < files + MAX_FILES && f->refs)
		f++;
	if (f == files + MAX_FILES)
		sim_fail("too many files");
	*f = (struct file) { .kind = kind };
	return f;
}

static int install(struct proc *p, int fd, struct file *f)
{
	int i, n = 0;

	while (p->fd[fd])
		if (++fd == MAX_FDS)
			sim_fail("%s has too many descriptors", p->name);
	f->refs++;
	p->fd[fd] = f;
	for (i = 0; i < MAX_FDS; i++)
		n += p->fd[i] != NULL;
	if (n > p->max_fds)
		p->max_fds = n;
	return fd;
}

static void release(struct file *f)
{
	if (--f->refs)
		return;
	if (f->in)
		f->in->readers--;
	if (f->out)
		f->out->writers--;
	sim.events++;
}

static struct file *file_of(int fd)
{
	struct proc *p = os_self();

	if (fd < 0 || fd >= MAX_FDS || !p->fd[fd])
		sim_fail("%s uses descriptor %d, which is not open", sim.self->name, fd);
	return p->fd[fd];
}

void file_close_all(struct proc *p)
{
	int i;

	for (i = 0; i < MAX_FDS; i++) {
		if (p->fd[i])
			release(p->fd[i]);
		p->fd[i] = NULL;
	}
}

int sim_close(int fd)
{
	struct file *f;

	os_check_call(SYS_close, fd);
	f = file_of(fd);
	sim_trace("closes %d", fd);
	os_self()->fd[fd] = NULL;
	release(f);
	return 0;
}

int sim_dup2(int from, int to)
{
	struct file *f = file_of(from);

	if (os_self()->fd[to])
		release(os_self()->fd[to]);
	os_self()->fd[to] = NULL;
	return install(os_self(), to, f);
}

int sim_fcntl(int fd, int command, ...)
{
	struct file *f = file_of(fd);
	va_list ap;
	int arg;

	va_start(ap, command);
	arg = command == F_GETFL ? 0 : va_arg(ap, int);
	va_end(ap);
	switch (command) {
	case F_GETFL:
		return f->nonblock ? O_NONBLOCK : 0;
	case F_SETFL:
		f->nonblock = arg & O_NONBLOCK;
		return 0;
	case F_DUPFD_CLOEXEC:
		return install(os_self(), arg, f);
	default:
		return 0;
	}
}

int sim_open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	return install(os_self(), 0, new_file(FILE_NULL));
}

int sim_eventfd(unsigned int count, int flags)
{
	struct file *f = new_file(FILE_EVENT);

	f->count = count;
	f->nonblock = flags & EFD_NONBLOCK;
	return install(os_self(), 0, f);
}

int sim_signalfd(int fd, const sigset_t *set, int flags)
{
	struct file *f = new_file(FILE_SIGNAL);
	int i;

	(void)fd;
	for (i = 1; i < 32; i++)
		if (sigismember(set, i))
			f->mask |= 1u << i;
	f->nonblock = flags & SFD_NONBLOCK;
	f->owner = os_self();
	return install(os_self(), 0, f);
}

int file_wire(struct proc *p, struct qp *q)
{
	struct file *f = new_file(FILE_WIRE);

	f->qp = q;
	return install(p, 0, f);
}

/* ---- Pipes ------------------------------------------------------------------------ */

struct pipe *pipe_make(const char *name, uint32_t size)
{
	struct pipe *p = &pipes[n_pipes];

	if (n_pipes++ == MAX_PIPES)
		sim_fail("too many pipes");
	*p = (struct pipe) { .name = name, .data = malloc(size), .size = size };
	return p;
}

int pipe_attach(struct proc *p, int fd, struct pipe *in, struct pipe *out)
{
	struct file *f = new_file(FILE_PIPE);

	f->in = in;
	f->out = out;
	if (in)
		in->readers++;
	if (out)
		out->writers++;
	return install(p, fd, f);
}

int sim_pipe2(int fd[2], int flags)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };
	struct proc *self = os_self();
	uint32_t bytes = sim_between(pipe_bytes / 4 + 1, pipe_bytes);
	struct pipe *p = pipe_make(names[self->n_made % 3], bytes);

	(void)flags;
	p->stream = true;
	self->made[self->n_made++ % 8] = p;
	fd[0] = pipe_attach(self, 0, p, NULL);
	fd[1] = pipe_attach(self, 0, NULL, p);
	return 0;
}

struct pipe *pipe_of(const struct proc *p, int fd)
{
	return p->fd[fd] ? p->fd[fd]->in ? p->fd[fd]->in : p->fd[fd]->out : NULL;
}

void pipe_cut(struct pipe *p)
{
	p->cut = true;
	sim.events++;
}

static bool at_end(const struct pipe *p)
{
	return !p->stalled && (p->cut || (!p->writers && !p->length));
}

static bool is_broken(const struct pipe *p)
{
	return !p->stalled && (p->cut || !p->readers);
}

static bool may_read(void *arg)
{
	const struct pipe *p = arg;

	return !p->stalled && (p->length || at_end(p));
}

static bool may_write(void *arg)
{
	const struct pipe *p = arg;

	return p->length < p->size || is_broken(p);
}

struct pipe_wait {
	struct pipe *pipe;
	bool (*condition)(void *arg);
	struct proc *proc;
};

static bool wait_is_over(void *arg)
{
	const struct pipe_wait *w = arg;

	return w->condition(w->pipe) || w->proc->interrupted;
}

/* Returns false, with errno, if the transfer is not possible now. */
static bool await(struct file *f, struct pipe *p, bool (*condition)(void *), const char *what)
{
	struct pipe_wait w = { p, condition, os_self() };

	if (condition(p))
		return true;
	if (f->nonblock) {
		errno = EAGAIN;
		return false;
	}
	sim_wait(what, wait_is_over, &w, -1);
	os_self()->interrupted = false;
	errno = EINTR;
	return condition(p);
}

/* How many bytes to transfer: often all that is possible, sometimes fewer */
static uint32_t some_of(size_t n, uint32_t possible)
{
	if (n > possible)
		n = possible;
	return sim_chance(3) ? sim_between(1, (uint32_t)n) : (uint32_t)n;
}

static void count(struct pipe *p, uint32_t n)
{
	sim.events++;
	p->passed += n;
	if (p->stream)
		sim.progress = sim.now;
}

static ssize_t read_pipe(struct file *f, uint8_t *buf, size_t n)
{
	struct pipe *p = f->in;
	uint32_t i;

	if (!await(f, p, may_read, p->name))
		return -1;
	if (!p->length || p->cut)
		return 0;
	n = some_of(n, p->length);
	for (i = 0; i < n; i++)
		buf[i] = p->data[(p->first + i) % p->size];
	p->first = (uint32_t)((p->first + n) % p->size);
	p->length -= (uint32_t)n;
	count(p, (uint32_t)n);
	return (ssize_t)n;
}

static ssize_t write_pipe(struct file *f, const uint8_t *buf, size_t n)
{
	struct pipe *p = f->out;
	uint32_t i;

	if (!await(f, p, may_write, p->name))
		return -1;
	if (is_broken(p)) {
		os_signal(os_self(), SIGPIPE);
		errno = EPIPE;
		return -1;
	}
	n = some_of(n, p->size - p->length);
	for (i = 0; i < n; i++)
		p->data[(p->first + p->length + i) % p->size] = buf[i];
	p->length += (uint32_t)n;
	count(p, (uint32_t)n);
	return (ssize_t)n;
}

/* ---- Read, write and poll --------------------------------------------------------- */

static ssize_t read_event(struct file *f, void *buf, size_t n)
{
	if (!f->count) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buf, &f->count, n);
	f->count = 0;
	return (ssize_t)n;
}

static ssize_t read_signal(struct file *f, void *buf, size_t n)
{
	uint32_t due = f->owner->pending & f->mask;
	struct signalfd_siginfo info = { 0 };

	if (!due) {
		errno = EAGAIN;
		return -1;
	}
	info.ssi_signo = (uint32_t)__builtin_ctz(due);
	f->owner->pending &= ~(1u << info.ssi_signo);
	memcpy(buf, &info, n);
	return (ssize_t)n;
}

ssize_t sim_read(int fd, void *buf, size_t n)
{
	struct file *f;
	ssize_t result;

	os_check_call(SYS_read, fd);
	f = file_of(fd);
	if (f->kind == FILE_EVENT)
		return read_event(f, buf, n);
	if (f->kind == FILE_SIGNAL)
		return read_signal(f, buf, n);
	sim_check(f->kind == FILE_PIPE && f->in, "a read from descriptor %d", fd);
	result = read_pipe(f, buf, n);
	sim_trace("reads %zd of %zu bytes from %s", result, n, f->in->name);
	return result;
}

ssize_t sim_write(int fd, const void *buf, size_t n)
{
	struct file *f;
	ssize_t result;
	uint64_t add;

	os_check_call(SYS_write, fd);
	f = file_of(fd);
	if (f->kind == FILE_EVENT) {
		memcpy(&add, buf, sizeof(add));
		f->count += add;
		sim.events++;
		return (ssize_t)n;
	}
	sim_check(f->kind == FILE_PIPE && f->out, "a write to descriptor %d", fd);
	result = write_pipe(f, buf, n);
	sim_trace("writes %zd of %zu bytes to %s", result, n, f->out->name);
	return result;
}

static short events_of(const struct file *f)
{
	short e = 0;

	if (f->kind == FILE_EVENT)
		return f->count ? POLLIN : 0;
	if (f->kind == FILE_SIGNAL)
		return f->owner->pending & f->mask ? POLLIN : 0;
	if (f->kind == FILE_WIRE)
		return fabric_readable(f->qp) ? POLLIN : 0;
	if (f->kind == FILE_NULL)
		return POLLIN | POLLOUT;
	if (f->in && may_read(f->in))
		e |= (f->in->length ? POLLIN : 0) | (at_end(f->in) ? POLLHUP : 0);
	if (f->out && may_write(f->out))
		e |= POLLOUT | (is_broken(f->out) ? POLLERR : 0);
	return e;
}

struct poll_wait {
	struct pollfd *p;
	nfds_t n;
	struct proc *proc;
};

static bool look(void *arg)
{
	struct poll_wait *w = arg;
	bool any = false;
	nfds_t i;

	for (i = 0; i < w->n; i++) {
		const struct file *f = w->p[i].fd < 0 ? NULL : w->proc->fd[w->p[i].fd];

		w->p[i].revents = f ? events_of(f) & (w->p[i].events | POLLERR | POLLHUP) : 0;
		any |= w->p[i].revents != 0;
	}
	return any;
}

static int wait_for(struct pollfd *p, nfds_t n, double deadline)
{
	struct poll_wait w = { p, n, os_self() };
	int ready = 0;
	nfds_t i;

	for (i = 0; i < n; i++)
		if (p[i].fd >= 0)
			file_of(p[i].fd);
	if (!look(&w) && deadline != 0)
		sim_wait("polls", look, &w, deadline);
	look(&w);
	sim.self->view = sim.stores;
	for (i = 0; i < n; i++)
		ready += p[i].revents != 0;
	return ready;
}

int sim_poll(struct pollfd *p, nfds_t n, int milliseconds)
{
	os_check_call(-1, -1);
	return wait_for(p, n, milliseconds > 0 ? sim.now + 1e-3 * milliseconds : milliseconds);
}

int sim_ppoll(struct pollfd *p, nfds_t n)
{
	os_check_call(SYS_ppoll, -1);
	return wait_for(p, n, -1);
}
