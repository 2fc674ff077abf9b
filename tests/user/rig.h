/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two sides with a connected RC queue pair each, for tests with data checks: side 0 on
 * --device, side 1 on --peer-device (default: the first two devices, or one device for
 * both).
 */
#ifndef TESTS_USER_RIG_H
#define TESTS_USER_RIG_H

#include <errno.h>
#include <string.h>
#include "tap.h"
#include "tool.h"

struct rig {
	struct xt_side side[2];
	struct xv_cq *cq[2];
	struct xv_qp *qp[2];
	struct xv_mr *mr[2];
	uint8_t *buf[2];
	size_t size;
};

struct rig_opts {
	size_t size;			/* size of each buffer, default 4 MiB */
	uint32_t depth;			/* depth of the queues, default 64 */
	uint32_t cqe;			/* default: twice the depth */
	uint32_t cqe_size;
	uint32_t sge;			/* default 4 */
	uint32_t inline_data;		/* default 64 */
	uint32_t atomic_arg;		/* bytes of the operands of masked atomics, default none */
	uint32_t inl_recv, inl_resp;	/* data in completions, default none */
	uint32_t port[2];		/* of each side, default 1 */
	unsigned int access;		/* access flags of the buffers, default all */
	bool unconnected;
	struct xt_rc_opts rc;
};

/* Selects the devices; skips the program if there is none. */
void rig_devices(int argc, char **argv);
const char *rig_device(int side);

/*
 * Without libxverbs: opens the node of a device; opens /dev/xverbs and binds it.  They return
 * a descriptor, or -1 with errno.
 */
int rig_node(const char *name);
int rig_bound_file(const char *name);

/*
 * What the device says about a feature.  The program that tests a feature names it by this
 * call; tests/check tested finds features that no program names.
 */
const struct xv_feature *rig_feature(struct xv_context *ctx, const char *name);

void rig_open(struct rig *r, const struct rig_opts *opts);
void rig_close(struct rig *r);

/* Replaces queue pairs in error by new ones and connects them. */
void rig_reconnect(struct rig *r, const struct rig_opts *opts);

/* Polls until n completions have come, at most 10 seconds. */
int rig_poll(struct xv_cq *cq, int n, struct xv_wc *wc);

/* Polls one completion and compares it; prints the difference. */
bool rig_expect(struct xv_cq *cq, uint64_t wr_id, enum xv_wc_status status);

/* Connects a new queue pair to itself and writes once; the completion, wr_id 1, raises an event. */
struct xv_qp *rig_write_to_self(struct xt_side *side, struct xv_cq *cq, struct xv_mr *mr);

struct xv_sge rig_sge(const struct rig *r, int side, size_t offset, uint32_t length);
uint64_t rig_addr(const struct rig *r, int side, size_t offset);

/* Fills and checks memory with bytes that depend on seed and position. */
void rig_fill(uint8_t *p, size_t n, uint32_t seed);
bool rig_check(const uint8_t *p, size_t n, uint32_t seed);
/* The same, but waits for a message that no completion announces: up to a second. */
bool rig_arrives(const uint8_t *p, size_t n, uint32_t seed);

#endif
