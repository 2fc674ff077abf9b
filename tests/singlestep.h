/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the instructions of a child process, by single steps.  The child calls
 * ptrace(PTRACE_TRACEME), and in each round MARK() four times: before and after each of two parts.
 */
#ifndef TESTS_SINGLESTEP_H
#define TESTS_SINGLESTEP_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#if defined(__x86_64__)
#define MARK()	__asm__ volatile("int3" ::: "memory")
#else
#define MARK()	__asm__ volatile("brk #0" ::: "memory")
#endif

static bool steps_at_mark(pid_t pid)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) && info.si_signo == SIGTRAP &&
	       info.si_code != TRAP_TRACE;
}

static bool steps_stopped(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/* The number of instructions up to the next mark, or -1 if the child ended */
static long steps_to_mark(pid_t pid)
{
	long n = -1;	/* the last step is the breakpoint itself */

	do {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || !steps_stopped(pid))
			return -1;
		n++;
	} while (!steps_at_mark(pid));
	return n;
}

/* Counts the next part; *least becomes the smaller number. */
static bool steps_count(pid_t pid, long *least)
{
	long n = steps_to_mark(pid);

	*least = n < *least ? n : *least;
	return n >= 0;
}

/*
 * Stores the smallest counts of all rounds: if the adapter is late, the child polls more often.
 * Returns false if the child ended too early.
 */
static bool steps_measure(pid_t pid, int rounds, long *first, long *second)
{
	int round, status;

	*first = *second = LONG_MAX;
	for (round = 0; round < rounds; round++) {
		/* The child has not run yet in the first round. */
		if (round && ptrace(PTRACE_CONT, pid, NULL, NULL))
			return false;
		if (!steps_stopped(pid) || !steps_count(pid, first))
			return false;
		if (ptrace(PTRACE_CONT, pid, NULL, NULL) || !steps_stopped(pid) ||
		    !steps_count(pid, second))
			return false;
	}
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

#endif
