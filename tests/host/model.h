/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of mkeys and memory: what work requests must do.  It uses nothing of the adapter's
 * sources.
 *
 * Memory is one area: a guard, four regions, a guard.  The model has a copy of it, executes
 * the requests there, and compares all bytes.
 */
#ifndef MODEL_H
#define MODEL_H

#include "session.h"

#define REGION_BYTES	8192u
#define MODEL_ENTRIES	16u		/* of the list of an mkey */

/* Mkeys: one region of function 0, three of function 1; on each, three for UMRs. */
enum { LOCAL };
enum { RW, RO, WO };
enum { KLM, KSM, MTT, NUMR };
#define MODEL_KEYS	6u

struct model_entry {
	u64 addr, bytes;		/* of pages, addr 0: no memory */
	u32 key;			/* pages: none */
};

struct model_key {
	u32 key, pd, qpn;
	u8 mode, access, page_shift;
	bool free, umr, rinval;
	u64 start, len;
	struct model_entry entry[MODEL_ENTRIES];
};

/* Bytes of a request: user, mkey, address and access; or the bytes themselves */
struct model_seg {
	int func;
	u32 qpn, key;
	u64 addr;
	u8 access;
	u8 *data;
};

/* One request of the input */
struct action {
	u8 op;
	u8 lkey, rkey, lkey_flaw, rkey_flaw;
	u8 damage_at, damage;
	u8 post;			/* datagrams: queues where a receive is posted */
#define ACTION_DC	1		/* messages: of the DCI, not of the RC connection */
#define ACTION_CS(t)	((t)->post >> 1 & 3)	/* value of cs_req and cs_res */
	u16 loff, roff, len, rlen;
	union {
		u64 arg[2];		/* atomics */
		struct {
			u8 qp, key, flags, mask[2], values, access, page_shift;
			u8 n, offset, start;
			u8 entry[3];
			u16 len;
		} __attribute__((packed)) umr;
		struct {
			u8 to, sgid, qkey, qpn, tclass, hop_limit;
			u32 flow_label;
		} __attribute__((packed)) ud;
		struct {
			u8 op, type, flags, count;
		} calc;			/* also WAIT and ENABLE */
		struct {
			u8 op, log, length, kind;
			u64 seed;	/* of the arguments */
		} __attribute__((packed)) masked;
	};
} __attribute__((packed));

extern struct session s;
extern struct model_key model_keys[SESSION_FUNCS][MODEL_KEYS];
extern u32 model_nkeys[SESSION_FUNCS];
extern struct session_qp rc[SESSION_FUNCS], ud[SESSION_FUNCS];

void check(bool good, const char *what);

/* Creates session and regions, once; begins an input; ends it. */
void model_init(void);
void model_begin(bool wide);		/* CQs with entries of 128 bytes */
void model_end(void);

/* The mkey that an input selects; the mkey with a number */
struct model_key *model_pick(int func, u8 which);
struct model_key *model_find(int func, u32 key);
struct model_seg model_seg(const struct session_qp *q, u8 which, u8 flaw, u32 off, u8 access);
static inline struct model_seg model_bytes(u8 *data)
{
	return (struct model_seg) { .data = data };
}

/* In the model's copy, or NULL outside the area */
u8 *model_ptr(u64 addr, u64 len);

/* Does the mkey itself allow access to @len bytes?  Does not check mkeys of its list. */
bool model_allows(const struct model_seg *seg, u64 len);
/* Pointer to the first of @n bytes, cut to those that are contiguous; or NULL */
u8 *model_at(const struct model_seg *seg, u64 *n);
enum model_err { MODEL_OK, MODEL_FROM, MODEL_TO };
enum model_err model_copy(struct model_seg to, struct model_seg from, u64 len);

/*
 * Runs the request at @wqe and compares memory.  False if the request was damaged: then only
 * the guards are compared.
 */
bool model_run(const struct action *t, struct session_qp *q, u8 *wqe);

/*
 * Data in the completion: if the next one of @q must have the @len bytes for @to instead of
 * memory, @to becomes @data, which has room for 64 bytes.
 */
bool model_divert(const struct session_qp *q, u8 cs, struct model_seg *to, u64 len, u8 *data);
/* Compares and removes the data of the next completion of @q.  NULL: it has none. */
void model_expect_data(struct session_qp *q, const u8 *data);

/* The status of the completion, XV_WC_*; NOTHING: there is none */
#define NOTHING	(-1)
void model_expect(struct session_qp *q, int status, struct xv_wc *wc);

/* Each executes one action; false: queues are in ERR, and the input ends. */
bool perform_umr(const struct action *t);
bool perform_datagram(const struct action *t);
bool perform_calc(const struct action *t);
bool perform_cross(const struct action *t);
bool perform_masked(const struct action *t);
/* Creates the multicast group and the addresses for datagrams, for each input. */
void begin_datagrams(void);

#endif
