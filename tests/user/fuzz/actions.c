// SPDX-License-Identifier: GPL-2.0
/*
 * What else a process can do: read events, change its memory, pass descriptors on, fork, execute
 * a program, get signals, die.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fuzz.h"

/* Events of a file or of a channel.  Without O_NONBLOCK a signal ends the wait. */
bool action_events(struct thread *t)
{
	int fd = chance(t, 50) ? draw_target(t).fd : process.channel[below(t, CHANNELS)];
	static uint8_t buf[THREADS][4 * XVERBS_EVENT_SIZE_MAX];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool good;

	if (chance(t, 90) && poll(&p, 1, below(t, 3)) != 1)
		return fd >= 0;
	fcntl(fd, F_SETFL, chance(t, 90) ? O_NONBLOCK : 0);
	fail_sometimes(t);
	good = read(fd, buf[t->index], draw_size(t, 8, sizeof(buf[0]))) > 0;
	fail_nth(t, 0);
	return good;
}

/* ---- Memory that is registered ---------------------------------------------------------- */

static bool touch(struct thread *t, void *arg)
{
	uint8_t *at = arg;

	*(volatile uint64_t *)at = draw(t);
	return true;
}

bool action_memory(struct thread *t)
{
	size_t length = PAGE * draw_size(t, 1, 64);
	uint8_t *at = process.arena + PAGE * below(t, (ARENA - length) / PAGE);

	switch (below(t, 6)) {
	case 0:
		return mmap(at, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
	case 1:
		return !madvise(at, length, MADV_DONTNEED);
	case 2:
		return !mprotect(at, length, PROT_READ) && !mprotect(at, length,
								     PROT_READ | PROT_WRITE);
	case 3:
		return mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			    world->shared_fd[0], 0) != MAP_FAILED;
	case 4:
		return mremap(at, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			      process.arena + PAGE * below(t, ARENA / PAGE)) != MAP_FAILED &&
		       mmap(at, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
	default:
		return guarded(t, touch, at);
	}
}

/* ---- Descriptors ------------------------------------------------------------------------- */

/* Sends a file of this process to another one, which then uses it with the same handles. */
bool action_pass(struct thread *t)
{
	unsigned int index = below(t, FILES), to = below(t, PROCS);
	char space[CMSG_SPACE(sizeof(int))] = {};
	unsigned int who[2] = { process.index, index };
	struct iovec iov = { who, sizeof(who) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space,
		.msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &process.fd[process.index][index], sizeof(int));
	return sendmsg(world->mail[to][1], &msg, MSG_DONTWAIT) == sizeof(who);
}

bool action_take(struct thread *t)
{
	char space[CMSG_SPACE(sizeof(int))] = {};
	unsigned int who[2] = {};
	struct iovec iov = { who, sizeof(who) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space,
		.msg_controllen = sizeof(space) };
	struct cmsghdr *c;
	int fd, old;

	(void)t;
	if (recvmsg(world->mail[process.index][0], &msg, MSG_DONTWAIT) != sizeof(who))
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || who[0] >= PROCS || who[1] >= FILES)
		return false;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (who[0] == process.index) {
		close(fd);
		return true;
	}
	old = process.fd[who[0]][who[1]];
	process.fd[who[0]][who[1]] = fd;
	if (old >= 0)
		close(old);
	return true;
}

bool action_reopen(struct thread *t)
{
	unsigned int index = below(t, FILES);

	file_open(index);
	return process.fd[process.index][index] >= 0;
}

/* ---- Processes --------------------------------------------------------------------------- */

bool action_signal(struct thread *t)
{
	int tid = world->tid[process.index][below(t, THREADS)];

	return !syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
}

static bool ended(pid_t pid)
{
	int status;

	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* A child goes on with the files and mappings of its parent.  It must not call malloc(). */
bool action_fork(struct thread *t)
{
	unsigned int steps = 1 + below(t, 10);
	pid_t pid = fork();

	if (!pid) {
		/* The one of the parent is for the parent. */
		t->fail_nth = -1;
		t->stock = NULL;
		become_guest();
		run_steps(t, steps);
		_exit(0);
	}
	return ended(pid);
}

/* The new program has other memory, but the same files; see main(). */
bool action_exec(struct thread *t)
{
	struct target to = draw_target(t);
	char arg[3][16];
	pid_t pid;

	snprintf(arg[0], sizeof(arg[0]), "%u", to.proc);
	snprintf(arg[1], sizeof(arg[1]), "%u", to.index);
	snprintf(arg[2], sizeof(arg[2]), "%u", below(t, 1u << 30));
	pid = fork();
	if (!pid) {
		/* Files of xverbs are closed by exec, except this one. */
		dup2(to.fd, 100);
		execl("/proc/self/exe", "fuzz", "guest", arg[0], arg[1], arg[2], NULL);
		_exit(1);
	}
	return ended(pid);
}

/* The main process starts another one. */
bool action_die(struct thread *t)
{
	(void)t;
	kill(getpid(), SIGKILL);
	return true;
}
