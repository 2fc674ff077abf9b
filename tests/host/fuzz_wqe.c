// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the execution of work requests, from a valid session outward.
 *
 * The input is a list of requests on an RC connection: operation, local and
 * remote segment with their keys, each chosen from what is right and what is
 * nearly right.  A model says how each must end and what memory must hold then;
 * every byte of both regions is compared.  A request may also be damaged at any
 * byte: then nothing is predicted, but memory outside the regions must stand.
 */
#include <stdlib.h>
#include <string.h>
#include "session.h"

#define BYTES		8192u		/* of each region */
#define GUARD		4096u

enum { RW, RO, WO, NREGION };

struct action {
	u8 op, region, lkey_flaw, rkey_flaw;
	u16 loff, roff, len;
	u8 damage_at, damage;
	u64 arg[2];
} __attribute__((packed));

static struct session s;
static struct session_mr local, remote[NREGION];
static u64 guard[2];
static struct session_qp a, b;
static u8 model_local[BYTES], model_remote[NREGION][BYTES];

#define ALL (MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RR | \
	     MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A)

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "model: %s\n", what);
	abort();
}

static void start(void)
{
	session_init(&s);
	guard[0] = session_alloc(&s, GUARD);
	local = session_mr(&s, 0, BYTES, ALL);
	remote[RW] = session_mr(&s, 1, BYTES, ALL);
	remote[RO] = session_mr(&s, 1, BYTES, MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_RR);
	remote[WO] = session_mr(&s, 1, BYTES, MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW |
				MLX5R_MKEY_ACCESS_RW);
	guard[1] = session_alloc(&s, GUARD);
	memset(session_ptr(&s, guard[0]), 0xa5, GUARD);
	memset(session_ptr(&s, guard[1]), 0xa5, GUARD);
}

static void check_memory(void)
{
	const u8 *g;
	u32 i, j;

	for (j = 0; j < 2; j++)
		for (g = session_ptr(&s, guard[j]), i = 0; i < GUARD; i++)
			check(g[i] == 0xa5, "memory outside the regions changed");
	check(!memcmp(local.ptr, model_local, BYTES), "local memory differs");
	for (j = 0; j < NREGION; j++)
		check(!memcmp(remote[j].ptr, model_remote[j], BYTES), "remote memory differs");
}

static u32 flawed(u32 key, u8 flaw)
{
	static const u32 flip[] = { 0, 0, 0, 0, 0, 1, 0x80, 0x100, 0x40000000 };

	return key ^ flip[flaw % ARRAY_SIZE(flip)];
}

static const struct {
	u8 opcode;
	bool reads, writes, atomic;
} kinds[] = {
	{ MLX5R_OP_RDMA_WRITE, false, true, false },
	{ MLX5R_OP_RDMA_READ, true, false, false },
	{ MLX5R_OP_ATOMIC_FA, true, true, true },
	{ MLX5R_OP_ATOMIC_CS, true, true, true },
};

/* How the request must end, and what it does to the model's memory */
static int predict(const struct action *t, u32 lkey, u32 rkey, u32 len)
{
	bool atomic = kinds[t->op].atomic;
	u8 *l, *r;
	bool lok = lkey == local.key && t->loff + len <= BYTES;
	bool rok = rkey == remote[t->region].key && t->roff + len <= BYTES;
	u64 old;

	if (!len)
		return XV_WC_SUCCESS;
	if (atomic && ((remote[t->region].addr + t->roff) & 7))
		return XV_WC_REM_INV_REQ_ERR;
	/* A requester that cannot gather a message sends nothing of it. */
	if (!lok && !kinds[t->op].reads)
		return XV_WC_LOC_PROT_ERR;
	if (!rok || (t->region != RW && atomic) || (t->region == RO && kinds[t->op].writes) ||
	    (t->region == WO && kinds[t->op].reads))
		return XV_WC_REM_ACCESS_ERR;
	if (!lok)
		return XV_WC_LOC_PROT_ERR;
	l = model_local + t->loff;
	r = model_remote[t->region] + t->roff;
	if (!atomic) {
		memcpy(kinds[t->op].writes ? r : l, kinds[t->op].writes ? l : r, len);
		return XV_WC_SUCCESS;
	}
	memcpy(&old, r, 8);
	if (kinds[t->op].opcode == MLX5R_OP_ATOMIC_FA) {
		u64 sum = old + t->arg[0];

		memcpy(r, &sum, 8);
	} else if (old == t->arg[1]) {
		memcpy(r, &t->arg[0], 8);
	}
	memcpy(l, &old, 8);
	return XV_WC_SUCCESS;
}

static void post(const struct action *t, const struct xv_sge *sge, u32 rkey)
{
	u64 raddr = remote[t->region].addr + t->roff;

	switch (kinds[t->op].opcode) {
	case MLX5R_OP_RDMA_WRITE:
		xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, sge, raddr, rkey);
		break;
	case MLX5R_OP_RDMA_READ:
		xv_wr_read(&a.qp, 1, XV_SEND_SIGNALED, sge, raddr, rkey);
		break;
	case MLX5R_OP_ATOMIC_FA:
		xv_wr_atomic_fa(&a.qp, 1, XV_SEND_SIGNALED, sge, raddr, rkey, t->arg[0]);
		break;
	default:
		xv_wr_atomic_cs(&a.qp, 1, XV_SEND_SIGNALED, sge, raddr, rkey, t->arg[1],
				t->arg[0]);
	}
}

/* False: the connection is in error and done with. */
static bool perform(struct action t)
{
	u8 *wqe = a.qp.sq.buf + (a.qp.sq.pi & a.qp.sq.mask) * MLX5R_WQEBB;
	u32 len, lkey, rkey;
	struct xv_sge sge;
	struct xv_wc wc[2];
	int n, want;

	t.op %= ARRAY_SIZE(kinds);
	t.region %= NREGION;
	t.loff %= BYTES + 16;
	t.roff %= BYTES + 16;
	len = kinds[t.op].atomic ? 8 : t.len % (BYTES + 16);
	lkey = flawed(local.key, t.lkey_flaw);
	rkey = flawed(remote[t.region].key, t.rkey_flaw);
	sge = (struct xv_sge) { .addr = local.addr + t.loff, .length = len, .lkey = lkey };
	post(&t, &sge, rkey);
	if (t.damage)
		wqe[t.damage_at % MLX5R_WQEBB] ^= t.damage;
	else
		want = predict(&t, lkey, rkey, len);
	xv_commit_send(&a.qp);
	session_settle(&s);
	n = xv_poll_cq(&a.cq, 2, wc);
	if (t.damage) {
		memcpy(model_local, local.ptr, BYTES);
		for (n = 0; n < NREGION; n++)
			memcpy(model_remote[n], remote[n].ptr, BYTES);
		check_memory();
		return false;
	}
	check(n == 1, "not exactly one completion");
	check((int)wc[0].status == want, "another status than predicted");
	check_memory();
	return want == XV_WC_SUCCESS;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static bool started;
	struct action t;
	size_t used;
	u32 i;

	if (!started)
		start();
	started = true;
	used = s.used;
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &b);
	session_connect(&a, &b);
	for (i = 0; i < BYTES; i++)
		model_local[i] = i * 7;
	memcpy(local.ptr, model_local, BYTES);
	for (i = 0; i < NREGION; i++) {
		memset(model_remote[i], 0x11 * (i + 1), BYTES);
		memcpy(remote[i].ptr, model_remote[i], BYTES);
	}

	for (; size >= sizeof(t); data += sizeof(t), size -= sizeof(t)) {
		memcpy(&t, data, sizeof(t));
		if (!perform(t))
			break;
	}

	session_qp_destroy(&a);
	session_qp_destroy(&b);
	session_cq_destroy(&a);
	session_cq_destroy(&b);
	s.used = used;
	return 0;
}
