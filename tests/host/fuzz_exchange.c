// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the wire between two hosts that send each other messages.
 *
 * The input has the type of the connection, then the messages of both hosts, then what happens to
 * each frame: it is lost, arrives twice or late, is cut, or one of its bytes changes.  With FORGED
 * a changed frame gets a right ICRC, as an attacker on the wire could do.
 *
 * What is checked:
 * - All requests complete, or fail, in a limited time.
 * - The sources of messages, and memory that no key allows to write, do not change.
 * - Without FORGED, each byte of a destination is the old one or that of the message, and nothing
 *   after the message changes.  On unreliable connections this is checked for WRITE only.
 * - Without FORGED and without an error, a reliable connection has delivered all messages, and the
 *   results of the atomics are right.
 * - Afterwards another connection between the two hosts works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/mlx5/qp.h>
#include "wire/packet.h"
#include "session.h"
#include "wire_link.h"

enum {
	MESSAGES	= 8,		/* of a host, at most */
	SLOT		= 4096,		/* bytes of a message, at most: four packets */
	AREA_BYTES	= MESSAGES * SLOT,
	GUARD		= 0xa5,
	LOG_QUEUE	= 4,
	LIMIT_S		= 1000,	/* virtual time until all has ended */
};

enum { UNRELIABLE = 1, FORGED = 2 };	/* first byte of the input */
enum op { SEND, SEND_IMM, WRITE, WRITE_IMM, READ, ADD, OPS };
enum { FROM, TO, GOT, WORD, FOREIGN, AREAS };

struct message {
	u8 op;
	u16 len;
} __attribute__((packed));

struct change {
	u8 what, value;
	u16 at;
} __attribute__((packed));

static struct wire w;

static struct host {
	struct session_qp q, victim;
	struct session_mr area[AREAS], mine;
	struct message message[MESSAGES];
	u32 messages, good, bad, received;
} host[2];

/* The rest of the input */
static const u8 *input;
static size_t left;
static u8 flags;
static struct change now;		/* what happens to this frame */

static void check(bool good, const char *what)
{
	if (good)
		return;
	wire_print(&w);
	fprintf(stderr, "fuzz_exchange: %s\n", what);
	abort();
}

static bool take(void *to, size_t bytes)
{
	if (left < bytes) {
		left = 0;
		return false;
	}
	memcpy(to, input, bytes);
	input += bytes;
	left -= bytes;
	return true;
}

/* ---- What happens to frames ------------------------------------------------------------------ */

enum what { DROP = 8, TWICE, LATE, CUT, CHANGE, KINDS };	/* below: nothing */

/* Called first for each frame: takes the next change from the input. */
static bool drop(const u8 *frame, u32 bytes, u32 nth)
{
	if (!take(&now, sizeof(now)))
		memset(&now, 0, sizeof(now));
	now.what %= KINDS;
	return now.what == DROP;
}

static bool twice(const u8 *frame, u32 bytes)
{
	return now.what == TWICE;
}

static void change_byte(u8 *frame, u32 bytes)
{
	struct hca_packet p;
	bool known = !hca_packet_read(&p, frame, bytes);

	frame[now.at % bytes] ^= now.value | 1;
	if (known && flags & FORGED)
		hca_packet_seal(&p, frame);
}

static void change(u8 *frame, u32 *bytes, u64 *delay)
{
	switch (now.what) {
	case LATE:
		*delay += now.value * w.delay;
		break;
	case CUT:
		*bytes = now.at % *bytes;
		break;
	case CHANGE:
		change_byte(frame, *bytes);
		break;
	}
}

/* ---- Setup ----------------------------------------------------------------------------------- */

static u8 pattern(u32 h, u32 at)
{
	return at * 7 + at / 251 + h * 3;
}

static void guard(struct session *s)
{
	memset(session_ptr(s, session_alloc(s, HCA_PAGE_SIZE)), GUARD, HCA_PAGE_SIZE);
}

static void make_areas(u32 h)
{
	static const u8 access[AREAS] = {
		[FROM] = MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_RR,
		[TO] = MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RW,
		[GOT] = MLX5R_MKEY_ACCESS_LW,
		[WORD] = MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_A,
		[FOREIGN] = MLX5R_MKEY_ACCESS_LR,
	};
	struct session *s = &w.s[h];
	u32 i;

	for (i = 0; i < AREAS; i++) {
		guard(s);
		host[h].area[i] = session_mr(s, 0, AREA_BYTES, access[i]);
		memset(host[h].area[i].ptr, GUARD, AREA_BYTES);
	}
	guard(s);
	for (i = 0; i < AREA_BYTES; i++)
		host[h].area[FROM].ptr[i] = pattern(h, i);
	memset(host[h].area[WORD].ptr, 0, AREA_BYTES);
	host[h].mine = session_mr(s, 0, SLOT, ALL_ACCESS);
}

static void make_host(u32 h)
{
	u8 st = flags & UNRELIABLE ? MLX5_QP_ST_UC : MLX5_QP_ST_RC;
	int func;

	for (func = 0; func < SESSION_FUNCS; func++)
		session_restart(&w.s[h], func);
	make_areas(h);
	w.s[h].path = (struct session_path) {
		.mtu = IB_MTU_1024, .ack_timeout = 14, .retry_count = 7, .rnr_retry = 7,
		.psn = 0xfffffe + h,
	};
	session_qp(&w.s[h], 0, st, LOG_QUEUE, LOG_QUEUE, &host[h].q);
	session_qp(&w.s[h], 0, MLX5_QP_ST_RC, LOG_QUEUE, LOG_QUEUE, &host[h].victim);
}

static void begin(bool first)
{
	static size_t used[2];
	u32 h;

	if (first) {
		wire_init(&w, 1);
		for (h = 0; h < 2; h++)
			used[h] = w.s[h].used;
	}
	shim_now = 100 * NSEC_PER_SEC;
	for (h = 0; h < 2; h++) {
		w.s[h].used = used[h];
		hca_fabric_time(&w.s[h].fabric);
		make_host(h);
	}
	session_connect(&host[0].q, &host[1].q);
	session_connect(&host[0].victim, &host[1].victim);
	w.sent = w.lost = 0;
	w.drop = drop;
	w.twice = twice;
	w.change = change;
}

static void free_queue(struct session_qp *q)
{
	free(q->qp.rq.wr_id);
	free(q->qp.sq.entry);
}

static void end(void)
{
	u32 h;

	for (h = 0; h < 2; h++) {
		free_queue(&host[h].q);
		free_queue(&host[h].victim);
	}
	wire_clear(&w);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static bool is_received(const struct message *m)
{
	return m->op == SEND || m->op == SEND_IMM || m->op == WRITE_IMM;
}

static void take_messages(struct host *me)
{
	struct message *m;
	u8 n = 0;

	me->good = me->bad = me->received = me->messages = 0;
	take(&n, 1);
	for (n %= MESSAGES + 1; n; n--) {
		m = &me->message[me->messages];
		if (!take(m, sizeof(*m)))
			return;
		m->op %= flags & UNRELIABLE ? READ : OPS;
		m->len = m->op == ADD ? 8 : m->len % (SLOT + 1);
		me->messages++;
	}
}

static void post_receives(struct host *me, const struct host *peer)
{
	struct xv_sge sge;
	u32 i;

	for (i = 0; i < peer->messages; i++) {
		if (!is_received(&peer->message[i]))
			continue;
		sge = session_sge(&me->area[TO], i * SLOT, SLOT);
		xv_wr_recv(&me->q.qp, i, &sge);
	}
	xv_commit_recv(&me->q.qp);
}

static void post(struct host *me, const struct host *peer, u32 i)
{
	const struct message *m = &me->message[i];
	struct xv_sge sge = session_sge(&me->area[FROM], i * SLOT, m->len);
	struct xv_sge got = session_sge(&me->area[GOT], i * SLOT, m->len);
	const u64 at = peer->area[TO].addr + i * SLOT;
	struct xv_qp *qp = &me->q.qp;

	switch (m->op) {
	case SEND:
		xv_wr_send(qp, i, XV_SEND_SIGNALED, &sge);
		break;
	case SEND_IMM:
		xv_wr_send_imm(qp, i, XV_SEND_SIGNALED, &sge, cpu_to_be32(i));
		break;
	case WRITE:
		xv_wr_write(qp, i, XV_SEND_SIGNALED, &sge, at, peer->area[TO].key);
		break;
	case WRITE_IMM:
		xv_wr_write_imm(qp, i, XV_SEND_SIGNALED, &sge, at, peer->area[TO].key,
				cpu_to_be32(i));
		break;
	case READ:
		xv_wr_read(qp, i, XV_SEND_SIGNALED, &got, peer->area[FROM].addr + i * SLOT,
			   peer->area[FROM].key);
		break;
	default:
		xv_wr_atomic_fa(qp, i, XV_SEND_SIGNALED, &got, peer->area[WORD].addr,
				peer->area[WORD].key, i + 1);
	}
}

static void poll(struct host *me)
{
	struct xv_wc wc;

	while (xv_poll_cq(&me->q.cq, 1, &wc) > 0) {
		if (wc.status)
			me->bad++;
		else if (wc.opcode & XV_WC_RECV)
			me->received++;
		else
			me->good++;
	}
}

static void exchange(void)
{
	u32 h, i;

	for (h = 0; h < 2; h++)
		post_receives(&host[h], &host[!h]);
	for (h = 0; h < 2; h++) {
		for (i = 0; i < host[h].messages; i++)
			post(&host[h], &host[!h], i);
		xv_commit_send(&host[h].q.qp);
	}
	check(wire_settle(&w, LIMIT_S * NSEC_PER_SEC), "it does not end");
	poll(&host[0]);
	poll(&host[1]);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_guard(const u8 *at, size_t bytes)
{
	while (bytes && *at == GUARD) {
		at++;
		bytes--;
	}
	return !bytes;
}

static void check_fixed(u32 h)
{
	const struct host *me = &host[h];
	u32 i;

	for (i = 0; i < AREA_BYTES; i++)
		check(me->area[FROM].ptr[i] == pattern(h, i), "a source has changed");
	check(is_guard(me->area[FOREIGN].ptr, AREA_BYTES), "memory that no key allows has changed");
	for (i = 0; i < AREAS; i++) {
		check(is_guard(me->area[i].ptr - HCA_PAGE_SIZE, HCA_PAGE_SIZE),
		      "a guard has changed");
		check(is_guard(me->area[i].ptr + AREA_BYTES, HCA_PAGE_SIZE),
		      "a guard has changed");
	}
}

/* What a READ or an atomic may have written at the place of its answer */
static void check_answers(const struct host *me)
{
	const u8 *slot;
	u32 i, len;

	for (i = 0; i < MESSAGES; i++) {
		slot = me->area[GOT].ptr + i * SLOT;
		len = i < me->messages && me->message[i].op >= READ ? me->message[i].len : 0;
		check(is_guard(slot + len, SLOT - len), "an answer is longer than asked for");
	}
}

/* Is all of the message there?  Each byte is that of the message or the old one. */
static bool has_arrived(const u8 *to, const u8 *from, u32 len)
{
	bool all = true;
	u32 i;

	for (i = 0; i < len; i++) {
		check(to[i] == from[i] || to[i] == GUARD, "a byte is wrong");
		all &= to[i] == from[i];
	}
	return all;
}

/*
 * If a message of an unreliable connection is lost, the next one takes its receive request, so only
 * a WRITE has a destination that is known.
 */
static bool has_place(const struct message *m)
{
	return m->op != ADD && (!(flags & UNRELIABLE) || m->op == WRITE);
}

static u32 count_arrived(const struct host *me, const struct host *peer)
{
	const struct message *m;
	const u8 *to, *from;
	u32 i, n = 0;

	for (i = 0; i < me->messages; i++) {
		m = &me->message[i];
		if (!has_place(m)) {
			n++;
			continue;
		}
		to = m->op == READ ? me->area[GOT].ptr : peer->area[TO].ptr;
		from = m->op == READ ? peer->area[FROM].ptr : me->area[FROM].ptr;
		check(is_guard(to + i * SLOT + m->len, SLOT - m->len), "bytes after a message");
		n += has_arrived(to + i * SLOT, from + i * SLOT, m->len);
	}
	return n;
}

static void check_atomics(const struct host *me, const struct host *peer)
{
	u64 word = 0, old;
	u32 i;

	for (i = 0; i < me->messages; i++) {
		if (me->message[i].op != ADD)
			continue;
		memcpy(&old, me->area[GOT].ptr + i * SLOT, 8);
		check(old == word, "an atomic has the wrong result");
		word += i + 1;
	}
	memcpy(&old, peer->area[WORD].ptr, 8);
	check(old == word, "the word of the atomics is wrong");
}

static u32 receives(const struct host *peer)
{
	u32 i, n = 0;

	for (i = 0; i < peer->messages; i++)
		n += is_received(&peer->message[i]);
	return n;
}

static void check_messages(void)
{
	bool failed = host[0].bad || host[1].bad;
	u32 h, arrived;

	for (h = 0; h < 2; h++) {
		arrived = count_arrived(&host[h], &host[!h]);
		check(failed || host[h].good == host[h].messages, "a completion is missing");
		if (flags & UNRELIABLE || failed)
			continue;
		check(arrived == host[h].messages, "a message is lost");
		check(host[h].received == receives(&host[!h]), "a receive completion is missing");
		check_atomics(&host[h], &host[!h]);
	}
}

static void check_victims(void)
{
	struct xv_sge sge = session_sge(&host[0].mine, 0, SLOT);
	struct session_qp *v = &host[0].victim;
	struct xv_wc wc = { .status = ~0 };

	w.drop = NULL;
	w.twice = NULL;
	w.change = NULL;
	memset(host[0].mine.ptr, 1, SLOT);
	xv_wr_write(&v->qp, 1, XV_SEND_SIGNALED, &sge, host[1].mine.addr, host[1].mine.key);
	xv_commit_send(&v->qp);
	check(wire_settle(&w, NSEC_PER_SEC), "a later message does not end");
	check(xv_poll_cq(&v->cq, 1, &wc) == 1 && wc.status == XV_WC_SUCCESS,
	      "a later message does not arrive");
	check(!memcmp(host[0].mine.ptr, host[1].mine.ptr, SLOT), "a later message is wrong");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static bool started;
	u32 h;

	input = data;
	left = size;
	flags = 0;
	take(&flags, 1);
	begin(!started);
	started = true;
	for (h = 0; h < 2; h++)
		take_messages(&host[h]);
	exchange();
	for (h = 0; h < 2; h++) {
		check_fixed(h);
		check_answers(&host[h]);
		check(session_turns_bounded(&w.s[h]), "a turn is above the limits");
	}
	if (!(flags & FORGED))
		check_messages();
	check_victims();
	end();
	return 0;
}
