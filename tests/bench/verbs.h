/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The same connected pair of queue pairs under four programming interfaces,
 * so that a benchmark can run one loop over each of them.
 */
#ifndef TESTS_BENCH_VERBS_H
#define TESTS_BENCH_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#ifndef LEN
#define LEN 64				/* bytes in a message */
#endif

enum { DEPTH = 128 };

struct verbs {
	const char *name;
	void (*open)(const char *dev0, const char *dev1);
	void (*close)(void);
	/* Posts n signalled writes of LEN bytes from side to the other one, one doorbell */
	int (*post)(int side, int n);
	/* Takes up to n completions of that side; negative on a failed one */
	int (*poll)(int side, int n);
	/* LEN bytes each, sent from and written to */
	uint8_t *(*out)(int side);
	volatile uint8_t *(*in)(int side);
};

extern const struct verbs ibv_post;	/* ibv_post_send() */
extern const struct verbs ibv_wr;	/* ibv_wr_start() ... ibv_wr_complete() */
extern const struct verbs xv_list;	/* xv_post_send() */
extern const struct verbs xv_build;	/* xv_wr_write(), xv_commit_send() */

void die(const char *what) __attribute__((noreturn));

#endif
