/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session: functions of the adapter in user space, and the memory of their host.  Tests,
 * fuzzers and benchmarks use it.
 *
 * Host memory is one arena.  A DMA address is an offset into it plus SESSION_DMA, so that
 * an invalid address is not memory.  Objects are created with firmware commands; work is
 * posted and polled with the data path of the library.
 *
 * Sessions may be hosts on a wire (wire_link.h, wire_net.h).  They share the arena, because
 * __XV_DATA_PTR() knows only one, but the DMA addresses of a host are in its part of it.
 */
#ifndef SESSION_H
#define SESSION_H

#include <linux/types.h>

#define SESSION_DMA	0x100000000ull

/* Elements of requests have DMA addresses, not pointers. */
extern u8 *session_memory;
#define __XV_DATA_PTR(addr)	((void *)(session_memory + ((addr) - SESSION_DMA)))

#include <xverbs/dp.h>
#include "base/fabric.h"

#define SESSION_BYTES	(64u << 20)
#ifndef SESSION_FUNCS
#define SESSION_FUNCS	2
#endif
#define SESSION_LIST_BYTES	(64ull << 20)	/* for lists of mkeys */
#define SESSION_QKEY	0x11111111	/* of every UD queue pair */
#define ALL_ACCESS	(MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RR | \
			 MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A)

enum { SESSION_REPEATED = 2 << 20 };	/* bytes of a page that a key has many times */
enum { SESSION_MASTER = 1, SESSION_MANAGED_SEND = 2, SESSION_MANAGED_RECV = 4 };

/* Entries of the GID table; only functions on a wire have others than the first. */
enum session_gid { SESSION_GID_IPV4, SESSION_GID_IPV6, SESSION_GID_V1, SESSION_GID_VLAN,
		   SESSION_GIDS };
enum { SESSION_VLAN = 5 };		/* of SESSION_GID_VLAN */

/* How queue pairs are connected */
struct session_path {
	u8 mtu;				/* IB_MTU_* */
	enum session_gid gid;		/* on both sides */
	u8 tclass, sl;
	u8 ack_timeout, retry_count, rnr_retry;
	u32 psn;			/* the first one that is sent */
};

extern const char *session_model;	/* of the functions of sessions that begin from now on */

struct session {
	struct hca_fabric fabric;
	struct hca *hca[SESSION_FUNCS];
	const struct hca_ops *ops;
	void *ctx[SESSION_FUNCS];	/* of @ops */
	bool wired;
	u8 host;			/* on a wire: its number */
	u32 bar_pages;			/* of each function */
	struct session_path path;	/* of queue pairs that are connected from now on */
	u8 *mem;			/* all of the arena; the part of this host: */
	size_t start, used, end;
	u32 pd[SESSION_FUNCS], uar[SESSION_FUNCS], eqn[SESSION_FUNCS];
	u32 xrcd[SESSION_FUNCS];
	unsigned int irqs[SESSION_FUNCS];
	u8 cross;			/* SESSION_MASTER...: of new queue pairs */
	bool wide;			/* new CQs have entries of 128 bytes */
	u32 last_index;			/* user index of the last queue pair */
	u32 ece, ece_granted;		/* options for connections: wanted, and the last answer */
	struct xv_rsc_dir dir[SESSION_FUNCS];
	struct xv_rsc *leaf[SESSION_FUNCS][XV_RSC_DIR_SIZE];
};

/* A queue pair with a CQ of its own */
struct session_qp {
	struct session *s;
	int func;
	struct xv_qp qp;
	struct xv_cq cq;
	u32 cqn;
};

/* An XRC shared receive queue: a ring of requests with one segment */
struct session_srq {
	u32 srqn;
	u64 ring, dbr;
	u32 posted;
};

struct session_mr {
	u64 addr;			/* DMA address, also the virtual one */
	u8 *ptr;
	u32 key;
};

/* Exits the program if the setup fails. */
void session_init(struct session *s);
/* The same with InfiniBand functions */
void session_init_ib(struct session *s, u32 ports);
/*
 * One of @hosts (at most 256) on a wire, which are initialized in the order of their numbers.  @ops
 * have the frames of the functions, which have these contexts.
 */
void session_init_wired(struct session *s, u8 host, u32 hosts, const struct hca_ops *ops,
			void *const ctx[SESSION_FUNCS]);
/* For such operations; @s is a struct session. */
void *session_dma_ptr(void *s, u64 addr, u64 len);
void session_raise_irq(void *s, unsigned int vector);
/* The first host is freed last. */
void session_free(struct session *s);
/* Resets a function, which frees all its objects, and starts it again. */
void session_restart(struct session *s, int func);

u64 session_alloc(struct session *s, size_t bytes);	/* page aligned, zeroed */
void *session_ptr(struct session *s, u64 dma);

/* Status of a firmware command. */
u8 session_cmd(struct session *s, int func, const void *in, u32 inlen, void *out, u32 outlen);

/* A doorbell page.  session_qp() uses page uar[func]. */
u32 session_uar(struct session *s, int func);
/* A user context; a doorbell page of one */
u16 session_uctx(struct session *s, int func);
u32 session_uar_of(struct session *s, int func, u16 uid);
/* An EQ of 64 entries.  All of a function have the same vector and doorbell page. */
u32 session_eq(struct session *s, int func);
struct session_mr session_mr(struct session *s, int func, size_t bytes, u8 access);
/*
 * A page of SESSION_REPEATED bytes, and a key of @bytes that maps it many times: large messages
 * need little memory.
 */
u64 session_repeated_page(struct session *s);
u32 session_repeated_key(struct session *s, int func, u64 page, u64 bytes);
/* A free mkey of @mode without memory, for UMRs; its list has room for @octowords. */
u32 session_umr_key(struct session *s, int func, u8 mode, u32 octowords);
u8 session_key_destroy(struct session *s, int func, u32 key);
void session_qp(struct session *s, int func, u8 st, u32 log_sq, u32 log_rq,
		struct session_qp *q);
u8 session_qp_destroy(struct session_qp *q);
/* Completions go to the CQ of @q.  If @old is not NULL, its memory is used again. */
struct session_srq session_xrc_srq(struct session_qp *q, const struct session_srq *old);
u8 session_xrc_srq_destroy(struct session *s, int func, const struct session_srq *srq);
void session_srq_post(struct session *s, struct session_srq *srq, const struct xv_sge *sge);
u8 session_cq_destroy(struct session_qp *q);
/* Takes both from RESET to RTS, connected to each other. */
void session_connect(struct session_qp *a, struct session_qp *b);
u8 session_qp_modify(struct session_qp *q, u16 opcode, const struct session_qp *peer);
/* @n queue pairs in RTS without requests; they share memory that nobody writes */
void session_idle_qps(struct session *s, int func, u32 n);
/* The queue pair gets the datagrams of a multicast group. */
void session_join_group(const struct session_qp *q, const u8 group[16]);
/* The address of function @to for datagrams; on a wire, its GID is that of the path. */
struct xv_ah session_ah(const struct session *s, int to);
/* Runs the adapter until it finds nothing to do. */
void session_settle(struct session *s);
/* Lets the time pass until no timer runs and there is no work; false if that takes @limit ns. */
bool session_settle_timers(struct session *s, u64 limit);
/* One pass; false if there was nothing to do, and every register has been read. */
bool session_pass(struct session *s);

/* Have all turns kept the limits of a turn? */
bool session_turns_bounded(const struct session *s);

static inline struct xv_sge session_sge(const struct session_mr *mr, u64 off, u32 len)
{
	return (struct xv_sge) { .addr = mr->addr + off, .length = len, .lkey = mr->key };
}

#endif
