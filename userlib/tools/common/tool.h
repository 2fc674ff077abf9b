/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions shared by the tools and the test programs: error exit, one side of a
 * connection, text lines over TCP, threads without system calls, time, JSON.
 */
#ifndef XVERBS_TOOL_H
#define XVERBS_TOOL_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <xverbs/xverbs.h>

/* Exit status of all programs */
enum {
	XT_OK		= 0,
	XT_FAILED	= 1,	/* an operation failed */
	XT_USAGE	= 2,	/* bad command line */
	XT_MISMATCH	= 3,	/* received data differ from sent data */
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- fail.c ------------------------------------------------------------ */

/* All errors of the functions below end the program with this status. */
void xt_set_error_status(int status);

/* Prints program name and message, then exits. */
void xt_die(int code, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* The same, followed by xv_last_error() */
void xt_die_xv(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

void *xt_calloc(size_t n, size_t size);

/* Parses a number from min to max; suffixes k, M and G are powers of 1024. */
uint64_t xt_number(const char *text, const char *option, uint64_t min, uint64_t max);

/* ---- io.c -------------------------------------------------------------- */

/* Returns -1 with errno, or the number of bytes: less than n only at the end of the file. */
ssize_t xt_read(int fd, void *buf, size_t n);

/* Writes all n bytes; returns 0, or -1 with errno. */
int xt_write(int fd, const void *buf, size_t n);

/* ---- side.c: one side of a connection ---------------------------------- */

/* Values in the packets of a side; 0 is the default */
struct xt_net {
	uint8_t sl;
	uint8_t tclass;
	uint16_t pkey_index;
	uint32_t mtu;			/* enum xv_mtu: at most */
};

struct xt_side {
	struct xt_net net;
	struct xv_context *ctx;
	struct xv_pd *pd;
	uint32_t port;
	uint32_t gid_index;
	union xv_gid gid;
	struct xv_port_attr attr;
};

/* What the peer must know about a queue pair */
struct xt_peer {
	uint32_t qpn;
	uint32_t psn;
	uint32_t lid;
	uint32_t mtu;
	uint32_t srqn;			/* of an XRC shared receive queue, or 0 */
	union xv_gid gid;
};

/* Timers and limits of a connection; 0: default of the programs */
struct xt_rc_opts {
	uint32_t access;		/* access of the peer to our memory; 0: all */
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	bool no_rnr_retry;
	bool no_access;
};

/* device NULL: the first one; port 0: port 1; gid_index < 0: default GID */
int xt_side_open(struct xt_side *s, const char *device, uint32_t port, int gid_index);

/* Queues that are created after this call use these values. */
void xt_side_set_net(struct xt_side *s, const struct xt_net *net);
void xt_side_close(struct xt_side *s);
void xt_peer_of(const struct xt_side *s, const struct xv_qp *qp, struct xt_peer *p);

/* Allocates zeroed pages and registers them. */
struct xv_mr *xt_mr_alloc(struct xt_side *s, size_t length, unsigned int access);
void xt_mr_free(struct xv_mr *mr);

int xt_connect(struct xv_qp *qp, const struct xt_side *s, const struct xt_peer *peer,
	       const struct xt_rc_opts *opts);
int xt_connect_pair(struct xv_qp *a, const struct xt_side *sa, struct xv_qp *b,
		    const struct xt_side *sb, const struct xt_rc_opts *opts);

/* ---- dc.c: dynamically connected transport ----------------------------- */

struct xv_dct *xt_dct_create(const struct xt_side *s, struct xv_cq *cq, struct xv_srq *srq,
			     uint64_t key, uint32_t access);
struct xv_ah *xt_ah_create(const struct xt_side *s, const struct xt_peer *peer);

/* From RESET to RTS */
int xt_dci_start(struct xv_qp *dci, const struct xt_side *s, const struct xt_rc_opts *opts);

/* ---- exchange.c: lines of text over TCP -------------------------------- */

#define XT_TCP_PORT	18611
#define XT_LINE		512

/* Waits for one connection.  address: HOST, HOST:PORT, :PORT or [HOST]:PORT, or NULL */
int xt_listen(const char *address);

/* Connects.  address: as in xt_listen() if port is NULL; else only HOST */
int xt_dial(const char *address, const char *port);
void xt_send_line(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void xt_recv_line(int fd, char line[XT_LINE]);
void xt_send_peer(int fd, const struct xt_peer *p, uint64_t addr, uint32_t rkey);
void xt_recv_peer(int fd, struct xt_peer *p, uint64_t *addr, uint32_t *rkey);

/* ---- sealed.c: threads without system calls ---------------------------- */

struct xt_sealed;

/* A system call that is allowed; fd: its first argument, or -1: any */
struct xt_call {
	int nr;
	int fd;
};

/*
 * Runs fn(arg) in a thread with a seccomp filter: at any system call, except the n that are
 * allowed and the exit of the thread, the kernel kills the process.  With none, such a thread
 * cannot sleep, and if fn returns, it made no system call.  niceness above 0 lowers its priority.
 */
struct xt_sealed *xt_sealed_start(void (*fn)(void *), void *arg, int niceness,
				  const struct xt_call *allowed, int n);
void xt_sealed_join(struct xt_sealed *s);

/* ---- clock.c: time without system calls -------------------------------- */

static inline uint64_t xt_ticks(void)
{
#if defined(__x86_64__)
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
#error "no tick counter known for this processor"
#endif
}

/* Rate of the counter; measured at the first call */
double xt_ticks_per_us(void);
double xt_now(void);	/* seconds */
double xt_cpu_us(void);	/* processor time of this process */

/* ---- json.c ------------------------------------------------------------ */

void xt_json_to(FILE *stream);			/* instead of standard output */
void xt_json_open(char bracket);		/* '{' or '[' */
void xt_json_close(char bracket);
void xt_json_key(const char *key);
void xt_json_str(const char *key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void xt_json_num(const char *key, double value);
void xt_json_bool(const char *key, bool value);

#endif
