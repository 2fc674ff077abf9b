/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of the small operating system: as those of Linux, for the running coroutine */
#ifndef TESTS_RSH_CALLS_H
#define TESTS_RSH_CALLS_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

uint64_t sim_ticks(void);

ssize_t sim_read(int fd, void *buf, size_t n);
ssize_t sim_write(int fd, const void *buf, size_t n);
int sim_close(int fd);
int sim_poll(struct pollfd *p, nfds_t n, int milliseconds);
int sim_ppoll(struct pollfd *p, nfds_t n);
int sim_usleep(useconds_t us);
int sim_pipe2(int fd[2], int flags);
int sim_dup2(int from, int to);
int sim_fcntl(int fd, int command, ...);
int sim_open(const char *path, int flags, ...);
int sim_eventfd(unsigned int count, int flags);
int sim_signalfd(int fd, const sigset_t *set, int flags);

int sim_sigprocmask(int how, const sigset_t *set, sigset_t *old);
sighandler_t sim_signal(int number, sighandler_t handler);
int sim_sigaction(int number, const struct sigaction *new, struct sigaction *old);
pid_t sim_fork(void);
pid_t sim_waitpid(pid_t pid, int *status, int flags);
int sim_kill(pid_t pid, int number);
int sim_raise(int number);
pid_t sim_getpid(void);
pid_t sim_setsid(void);
int sim_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

__attribute__((format(printf, 2, 3)))
int sim_fprintf(FILE *stream, const char *fmt, ...);
void *sim_calloc(size_t n, size_t size);
void *sim_realloc(void *p, size_t size);
void sim_free(void *p);
void *sim_mmap(size_t size);

/* Atomic accesses */
uint32_t sim_load(const uint32_t *p, int order);
void sim_store(const uint32_t *p);
void sim_exchange(const uint32_t *p);
void sim_fence(int order);

#endif
