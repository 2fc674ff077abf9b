/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the examples of DOCA Verbs share: options, a device with memory, queues, completions.
 */
#ifndef DOCA_VERBS_COMMON_H
#define DOCA_VERBS_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <doca_argp.h>
#include <doca_error.h>
#include <doca_verbs.h>
#include <doca_verbs_bridge.h>
#include <infiniband/verbs.h>

enum { SLOT_SIZE = 4096, SLOTS = 3 };

struct device {
	const char *name;			/* NULL: any */
	int gid_index;
	struct doca_verbs_context *ctx;
	struct doca_verbs_pd *pd;
	struct ibv_mr *mr;			/* of memory */
	char (*memory)[SLOT_SIZE];		/* SLOTS of them */
};

/* What the other end of a connection has to know */
struct address {
	uint32_t qpn, psn, lid, rkey;
	uint64_t memory;
	struct doca_verbs_gid gid;
};

/* fail() ends the program with a message.  check() calls it if result is an error. */
_Noreturn void fail(const char *what, const char *why);
#define CHECK(call)	check(call, #call)
void check(doca_error_t result, const char *call);

/*
 * Call these functions after doca_argp_init() and before doca_argp_start().  The configuration of
 * the program must begin with a struct device.  add_device_options() adds -d for the device, and
 * the option for the GID index with the short name of the argument.
 */
void add_option(const char *short_name, const char *long_name, const char *description,
		enum doca_argp_type type, doca_argp_param_cb_t set);
void add_device_options(const char *short_gid_index);

void open_device(struct device *d);
void close_device(struct device *d);

/* create_qp() returns an RC queue pair in the state RST.  waits: it can execute WAIT requests. */
struct doca_verbs_cq *create_cq(struct device *d);
struct doca_verbs_qp *create_qp(struct device *d, struct doca_verbs_cq *cq, bool waits);

/* get_address() chooses a random first PSN.  connect_qp() brings the queue pair to RTS. */
struct address get_address(struct device *d, struct doca_verbs_qp *qp);
void connect_qp(struct device *d, struct doca_verbs_qp *qp, const struct address *own,
		const struct address *peer);

/* Post a request for a slot of the memory.  remote: the peer, for writes and reads; else NULL */
void post_receive(struct device *d, struct doca_verbs_qp *qp, uint64_t wr_id, int slot);
void post_send(struct device *d, struct doca_verbs_qp *qp, uint64_t wr_id,
	       enum ibv_wr_opcode opcode, int slot, uint32_t size, const struct address *remote);

/* Polls for the next completion, which must be a success. */
struct ibv_wc next_completion(struct doca_verbs_cq *cq);

#endif
