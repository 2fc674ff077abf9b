/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before each source of xv_rsh that is compiled for the simulator: calls of the system go
 * to os.c and files.c, and each atomic access is a point where another thread may run.
 */
#ifndef TESTS_RSH_HOOKS_H
#define TESTS_RSH_HOOKS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include "tool.h"
#include "calls.h"

#define xt_ticks		sim_ticks
#define read			sim_read
#define write			sim_write
#define close			sim_close
#define poll			sim_poll
#define ppoll(p, n, t, s)	sim_ppoll(p, n)
#define usleep			sim_usleep
#define pipe2			sim_pipe2
#define dup2			sim_dup2
#define fcntl			sim_fcntl
#define open			sim_open
#define eventfd			sim_eventfd
#define signalfd		sim_signalfd
#define sigprocmask		sim_sigprocmask
#define signal			sim_signal
#define sigaction(s, n, o)	sim_sigaction(s, n, o)
#define fork			sim_fork
#define waitpid			sim_waitpid
#define kill			sim_kill
#define raise			sim_raise
#define getpid			sim_getpid
#define setsid			sim_setsid
#define pthread_create		sim_pthread_create
#define pthread_detach(t)	((void)(t))
#define fprintf			sim_fprintf
#define calloc			sim_calloc
#define realloc			sim_realloc
#define free			sim_free
#define mmap(a, n, p, f, d, o)	sim_mmap(n)

/* A macro is not expanded again inside itself. */
#define __atomic_load_n(p, o)		sim_load(p, o)
#define __atomic_store_n(p, v, o)	do {				\
	sim_store(p);							\
	__atomic_store_n(p, v, o);					\
} while (0)
#define __atomic_exchange_n(p, v, o)	(sim_exchange(p), __atomic_exchange_n(p, v, o))
#define __atomic_thread_fence(o)	sim_fence(o)

#endif
