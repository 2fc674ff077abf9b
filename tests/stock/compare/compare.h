/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of libibverbs, right, extreme and wrong ones.  Each prints one line: the call, its answer
 * and the attributes that come back.
 */
#ifndef TESTS_STOCK_COMPARE_H
#define TESTS_STOCK_COMPARE_H

#include <stdbool.h>
#include <stdlib.h>
#include "../verbs.h"

#define BYTES	65536u

extern struct ibv_context *ctx;
extern struct ibv_pd *pd;
extern struct ibv_mr *mr;
extern struct ibv_device_attr dev;
extern struct ibv_port_attr port;
extern struct place place;
extern int gid_index;
extern uint8_t *mem;

/* Names of the calls of the lines that follow begin with it. */
void group(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void call_name(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int call_int(int answer);
void *call_ptr(void *answer);
void attr(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A second call of the same line */
void also(const char *what, int answer);

/*
 * Make a call and print its name and answer.  INT: 0, an error number, or -1 with errno; a
 * positive answer that is not an error is NUM.  attr() adds to the line.
 */
#define INT(call, ...)	(call_name(__VA_ARGS__), call_int(call))
#define PTR(call, ...)	(call_name(__VA_ARGS__), call_ptr(call))
#define NUM(call, ...)	(call_name(__VA_ARGS__), attr("%lld", (long long)(call)))

struct ibv_cq *new_cq(void);
struct ibv_qp *new_qp(enum ibv_qp_type type, struct ibv_cq *cq, const struct ibv_qp_cap *cap);

/* The next completion of a queue: its status and what it says, as attributes of the last line */
void completion(struct ibv_cq *cq);

/* Moves a queue pair to RTS, connected to peer. */
void up(struct ibv_qp *qp, uint32_t peer);
struct ibv_sge sge_at(uint32_t offset, uint32_t length);
uint64_t at(uint32_t offset);

void compare_queries(void);
void compare_domains(void);
void compare_regions(void);
void compare_windows(void);
void compare_cqs(void);
void compare_srqs(void);
void compare_xrcds(void);
void compare_qps(void);
void compare_states(void);
void compare_values(void);
void compare_addresses(void);
void compare_posts(void);
void compare_extended(void);
void compare_events(void);
void compare_order(void);

/* Do the answers of the two libraries to this call differ? */
enum difference {
	SAME,
	DIFFERS,
	DIFFERS_SOMETIMES,
};

enum difference differs(const char *call);

#endif
