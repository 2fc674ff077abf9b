/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that XV_DP_DEBUG stops */
#ifndef TESTS_USER_TRAP_H
#define TESTS_USER_TRAP_H

#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* __builtin_trap() */
#if defined(__x86_64__) || defined(__i386__)
#define STOPPED	SIGILL
#else
#define STOPPED	SIGTRAP
#endif

/* Calls a function in another process; returns the signal that ends it, or its status, negated. */
static int signal_of(void (*run)(uint32_t arg), uint32_t arg)
{
	struct rlimit no_core = { 0 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		fclose(stdout);
		run(arg);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

#endif
