// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet administration: requests and answers, byte by byte.
 *
 * Offsets are those of the InfiniBand Architecture Specification, in the MAD; records begin at
 * offset 56.
 */
#include <string.h>
#include <linux/slab.h>
#include "cmd/cmd.h"
#include "sa/sa.h"
#include "session.h"
#include "tap.h"

#define RECORD		56
#define MLID		0xc000
#define QKEY		0x80010000u	/* of QP1 */
#define OWN_QKEY	0x80000000u	/* in a request: that of the queue pair */
#define SM_LID		0xbfff

enum { GET = 1, SET = 2, SEND = 3, TRAP = 5, REPRESS = 7, TABLE = 0x12, DELETE = 0x15 };
enum { CLASS_PORT_INFO = 1, NODE = 0x11, PORT_INFO = 0x12, PATH = 0x35, MCMEMBER = 0x38 };
enum { FULL = 1, NON = 2, SENDONLY = 4, SENDONLY_FULL = 8 };

static struct session s;
static u8 in[256], out[256];
static u32 answers;

static void put(u8 *mad, u32 at, u32 bytes, u64 value)
{
	while (bytes--) {
		mad[at + bytes] = value;
		value >>= 8;
	}
}

static u64 get(const u8 *mad, u32 at, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | mad[at++];
	return value;
}

static struct hca_port *port_of(u32 i)
{
	return &s.hca[i / 2]->port[i % 2];
}

static void put_gid(u32 at, const struct hca_port *port)
{
	put(in, at, 8, 0xfe80000000000000ull);
	put(in, at + 8, 8, port->guid);
}

static bool has_gid(u32 at, const struct hca_port *port)
{
	return get(out, at, 8) == 0xfe80000000000000ull && get(out, at + 8, 8) == port->guid;
}

static void begin(u8 method, u16 attr, u64 mask)
{
	static u64 tid = 0x1234567800000000ull;

	memset(in, 0, sizeof(in));
	put(in, 0, 4, 0x01030200 | method);
	put(in, 8, 8, ++tid);
	put(in, 16, 2, attr);
	put(in, 48, 8, mask);
}

static void take(const struct hca_mad *mad, void *arg)
{
	memcpy(out, mad, sizeof(out));
	answers++;
}

/* The status of the answer; -1: there is none */
static int ask(const struct hca_port *from)
{
	answers = 0;
	memset(out, 0xa5, sizeof(out));
	hca_sa_receive((struct hca_port *)from, (void *)in, take, NULL);
	return answers ? (int)get(out, 4, 2) : -1;
}

/* ---- Header -------------------------------------------------------------------------- */

static void test_header(void)
{
	const struct hca_port *p = port_of(0);

	tap_is(sizeof(struct hca_mad), 256, "a MAD has 256 bytes");
	begin(GET, CLASS_PORT_INFO, 0);
	put(in, 20, 4, 0);
	ok(!ask(p) && answers == 1 && out[0] == 1 && out[1] == 3 && out[2] == 2 && out[3] == 0x81 &&
	   !memcmp(in + 8, out + 8, 10), "an answer has class, transaction and attribute");
	ok(out[RECORD] == 1 && out[RECORD + 1] == 2 && get(out, RECORD + 2, 2) & 0x200,
	   "class port info: versions, multicast");
	ok(get(out, RECORD + 4, 4) >> 5 & 1 << 12, "class port info: members that only send");
	begin(GET, CLASS_PORT_INFO, 0);
	in[0] = 2;
	tap_is(ask(p), 0x0004, "another base version");
	begin(GET, CLASS_PORT_INFO, 0);
	in[2] = 1;
	tap_is(ask(p), 0x0004, "another class version");
	begin(GET, 0x36, 0);
	tap_is(ask(p), 0x000c, "an unknown attribute");
	begin(TABLE, 0x36, 0);
	tap_is(ask(p), 0x000c, "a table of it");
	begin(TABLE, CLASS_PORT_INFO, 0);
	tap_is(ask(p), 0x000c, "a table of class port info");
	begin(SET, PATH, 0);
	tap_is(ask(p), 0x000c, "a path cannot be set");
	begin(DELETE, PATH, 0);
	ok(ask(p) == 0x000c && out[3] == 0x95, "nor deleted");
	begin(0x14, PATH, 0);
	ok(ask(p) == 0x000c && out[3] == 0x94, "an unknown method");
	begin(GET, PATH, 1ull << 23);
	tap_is(ask(p), 0x0200, "a component that does not exist");
	begin(TABLE, PATH, 1ull << 63);
	tap_is(ask(p), 0x0200, "the same for a table");
}

static void test_no_answer(void)
{
	static const u8 methods[] = { SEND, TRAP, REPRESS, 0x81, 0x86, 0x92, 0xff };
	const struct hca_port *p = port_of(0);
	u32 i, n = 0;

	for (i = 0; i < sizeof(methods); i++) {
		begin(methods[i], CLASS_PORT_INFO, 0);
		n += ask(p) != -1;
	}
	tap_is(n, 0, "no answer to an answer or to a message");
	begin(GET, CLASS_PORT_INFO, 0);
	put(in, 36, 8, 2);
	tap_is(ask(p), -1, "no answer to a wrong SM_Key");
	put(in, 36, 8, 1);
	tap_is(ask(p), 0, "an answer to the right one");
}

/* ---- Paths ----------------------------------------------------------------------------- */

enum {
	DGID = 1 << 2, SGID = 1 << 3, DLID = 1 << 4, SLID = 1 << 5, PTCLASS = 1 << 10,
	NUMB = 1 << 12, PPKEY = 1 << 13, PMTU = 3 << 16, PRATE = 3 << 18, PLIFE = 3 << 20,
};

/* A path from @a to @b with one more byte of the request */
static int path(u32 a, u32 b, u64 mask, u32 at, u8 value)
{
	begin(GET, PATH, DGID | SGID | mask);
	put_gid(RECORD + 8, port_of(b));
	put_gid(RECORD + 24, port_of(a));
	put(in, RECORD + 50, 2, 0xffff);
	in[RECORD + at] = value;
	return ask(port_of(a));
}

static void test_paths(void)
{
	u32 a, b, n = 0;

	for (a = 0; a < 4; a++)
		for (b = 0; b < 4; b++)
			n += !path(a, b, NUMB | PPKEY, 49, 0x81) &&
			     has_gid(RECORD + 8, port_of(b)) &&
			     has_gid(RECORD + 24, port_of(a)) &&
			     get(out, RECORD + 40, 2) == port_of(b)->lid &&
			     get(out, RECORD + 42, 2) == port_of(a)->lid;
	tap_is(n, 16, "paths from each port to each");
	ok(!get(out, RECORD + 44, 4) && out[RECORD + 49] == 0x80 &&
	   get(out, RECORD + 50, 2) == 0xffff && out[RECORD + 54] == (2 << 6 | 5) &&
	   out[RECORD + 55] == (2 << 6 | 16), "no hops, reversible, P_Key, MTU and rate");
	begin(GET, PATH, DLID | SLID);
	put(in, RECORD + 40, 2, SM_LID);
	put(in, RECORD + 42, 2, port_of(2)->lid);
	ok(!ask(port_of(0)) && has_gid(RECORD + 24, port_of(2)), "a path by LIDs, to the manager");
	begin(GET, PATH, SGID);
	put_gid(RECORD + 24, port_of(0));
	ok(ask(port_of(0)) == 0x0400 && !get(out, RECORD, 8), "more than one path matches");
	ok(path(0, 2, 0, 23, 0x77) == 0x0300 && !out[RECORD + 23], "no such port");
	ok(!path(0, 2, PTCLASS, 48, 0x5a) && out[RECORD + 48] == 0x5a, "the traffic class is kept");
}

static void test_path_limits(void)
{
	static const struct {
		u32 mask;
		u8 at, value;
		int status;
		const char *what;
	} rows[] = {
		{ PPKEY, 50, 0x7f, 0, "limited membership of the partition" },
		{ PPKEY, 51, 0xfe, 0x0300, "another partition" },
		{ PMTU, 54, 0 << 6 | 4, 0, "MTU above 2048" },
		{ PMTU, 54, 0 << 6 | 5, 0x0300, "MTU above 4096" },
		{ PMTU, 54, 1 << 6 | 5, 0x0300, "MTU below 4096" },
		{ PMTU, 54, 2 << 6 | 5, 0, "MTU 4096" },
		{ PMTU, 54, 2 << 6 | 4, 0x0300, "MTU 2048 exactly" },
		{ PMTU, 54, 3 << 6 | 1, 0, "the best MTU" },
		{ 1 << 17, 54, 0 << 6 | 5, 0, "an MTU without its selector" },
		{ PRATE, 55, 0 << 6 | 9, 0, "rate above 80" },
		{ PRATE, 55, 0 << 6 | 10, 0x0300, "rate above 120" },
		{ PRATE, 55, 1 << 6 | 10, 0, "rate below 120" },
		{ PRATE, 55, 2 << 6 | 63, 0x0300, "a rate that does not exist" },
		{ PLIFE, 56, 1 << 6 | 20, 0, "life below 2^20" },
		{ PLIFE, 56, 1 << 6 | 3, 0x0300, "life below 2^3" },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tap_is(path(0, 2, rows[i].mask, rows[i].at, rows[i].value), rows[i].status,
		       "path: %s", rows[i].what);
}

static void test_path_down(void)
{
	hca_port_set(port_of(3), false);
	tap_is(path(0, 3, 0, 63, 0), 0x0300, "no path to a port that is down");
	hca_port_set(port_of(3), true);
	tap_is(path(0, 3, 0, 63, 0), 0, "a path when it is up again");
}

/* ---- Tables ---------------------------------------------------------------------------- */

static u8 segments[64][256];

static void take_segment(const struct hca_mad *mad, void *arg)
{
	if (answers < 64)
		memcpy(segments[answers], mad, 256);
	answers++;
}

static u32 ask_table(u32 from)
{
	answers = 0;
	memset(segments, 0, sizeof(segments));
	hca_sa_receive(port_of(from), (void *)in, take_segment, NULL);
	return answers;
}

/* The port has the segments up to @done and wants those up to @last. */
static u32 acknowledge(u32 from, u8 type, u32 done, u32 last)
{
	in[24] = 1;
	in[25] = type;
	in[26] = 1;
	put(in, 28, 4, done);
	put(in, 32, 4, last);
	return ask_table(from);
}

/* 5 nodes, 25 paths of 64 bytes: 8 segments */
static void test_tables(void)
{
	u8 first[200];

	begin(TABLE, PATH, 0);
	ok(ask_table(0) == 1 && segments[0][3] == 0x92 && !get(segments[0], 4, 2), "a table");
	memcpy(first, segments[0] + RECORD, sizeof(first));
	ok(segments[0][24] == 1 && segments[0][25] == 1 && (segments[0][26] & 7) == 3 &&
	   get(segments[0], 28, 4) == 1 && get(segments[0], 32, 4) == 1600 + 8 * 20 &&
	   get(segments[0], 44, 2) == 8, "the first segment: length of all, size of a record");
	ok(acknowledge(0, 2, 1, 3) == 2 && get(segments[0], 28, 4) == 2 &&
	   (segments[1][26] & 7) == 1 && !get(segments[1], 32, 4), "segments of the window");
	tap_is(acknowledge(1, 2, 3, 64), 0, "none to another port");
	tap_is(acknowledge(0, 3, 3, 64), 0, "none after STOP");
	in[15] ^= 1;
	tap_is(acknowledge(0, 2, 3, 64), 0, "none for another transaction");
	in[15] ^= 1;
	ok(acknowledge(0, 2, 3, 0xffffffff) == 5 && (segments[4][26] & 7) == 5 &&
	   get(segments[4], 28, 4) == 8 && get(segments[4], 32, 4) == 200 + 20, "the last one");
	tap_is(acknowledge(0, 2, 8, 64), 0, "nothing is left");
	tap_is(acknowledge(0, 2, 0, 64) + acknowledge(0, 2, 0xffffffff, 64), 0, "not a segment");
	begin(TABLE, PATH, SGID | DGID);
	put_gid(RECORD + 8, port_of(3));
	put_gid(RECORD + 24, port_of(0));
	ok(ask_table(0) == 1 && (segments[0][26] & 7) == 7 && get(segments[0], 32, 4) == 64 + 20 &&
	   get(segments[0], RECORD + 40, 2) == port_of(3)->lid, "a table of one record");
	in[RECORD + 20] ^= 1;
	ok(ask_table(0) == 1 && (segments[0][26] & 7) == 7 && get(segments[0], 32, 4) == 20 &&
	   !get(segments[0], 4, 2), "an empty table");
}

/* ---- Nodes and ports ------------------------------------------------------------------- */

static void test_nodes(void)
{
	static const char name[64] = "a node";

	memcpy(s.hca[1]->node_desc, name, sizeof(name));
	begin(GET, NODE, 1 << 0);
	put(in, RECORD, 2, port_of(3)->lid);
	ok(!ask(port_of(0)) && get(out, RECORD, 2) == port_of(3)->lid && out[RECORD + 6] == 1 &&
	   out[RECORD + 7] == 2 && get(out, RECORD + 16, 8) == s.hca[1]->p.node_guid &&
	   get(out, RECORD + 24, 8) == port_of(3)->guid && out[RECORD + 40] == 2 &&
	   get(out, RECORD + 40, 4) == 0x020002c9 && !memcmp(out + RECORD + 44, name, 64),
	   "a node by LID");
	begin(GET, NODE, 1 << 8);
	put(in, RECORD + 24, 8, port_of(1)->guid);
	ok(!ask(port_of(0)) && get(out, RECORD, 2) == port_of(1)->lid, "by the GUID of its port");
	begin(TABLE, NODE, 0);
	ok(ask_table(0) == 1 && get(segments[0], 32, 4) == 5 * 112 + 3 * 20 &&
	   get(segments[0], 44, 2) == 14 && get(segments[0], RECORD, 2) == SM_LID, "all nodes");
	begin(GET, PORT_INFO, 1 << 0 | 1 << 1);
	put(in, RECORD, 2, port_of(3)->lid);
	in[RECORD + 2] = 2;
	ok(!ask(port_of(0)) && get(out, RECORD + 12, 8) == 0xfe80000000000000ull &&
	   get(out, RECORD + 20, 2) == port_of(3)->lid && get(out, RECORD + 22, 2) == SM_LID &&
	   out[RECORD + 32] == 2 && out[RECORD + 35] == 2 && (out[RECORD + 36] & 15) == 4 &&
	   out[RECORD + 37] >> 4 == 5 && out[RECORD + 40] >> 4 == 5 && out[RECORD + 66] == 0x22,
	   "a port: LIDs, number, width, state, MTU, speed");
	in[RECORD + 2] = 1;
	tap_is(ask(port_of(0)), 0x0300, "not with another number");
	begin(TABLE, PORT_INFO, 1 << 7);
	put(in, 20, 4, 1u << 31);
	put(in, RECORD + 24, 4, 1 << 1);
	ok(ask_table(0) == 1 && get(segments[0], 32, 4) == 72 + 20 &&
	   get(segments[0], RECORD, 2) == SM_LID, "ports that have a manager");
}

/* ---- Multicast groups ------------------------------------------------------------------ */

enum {
	MGID = 1 << 0, PORT_GID = 1 << 1, MQKEY = 1 << 2, MMTU = 3 << 4, MTCLASS = 1 << 6,
	MPKEY = 1 << 7, MRATE = 3 << 8, MLIFE = 3 << 10, MSL = 1 << 12, MFLOW = 1 << 13,
	STATE = 1 << 16, PROXY = 1 << 17,
	JOIN = MGID | PORT_GID | STATE,
	CREATE = JOIN | MQKEY | MPKEY | MTCLASS | MSL | MFLOW,
};

static void group_request(u8 method, u32 p, u64 mask, u32 group, u8 state)
{
	begin(method, MCMEMBER, mask);
	put(in, RECORD, 8, 0xff12401bffff0000ull);
	put(in, RECORD + 8, 8, group);
	put_gid(RECORD + 16, port_of(p));
	put(in, RECORD + 32, 4, 0x0b1b);
	put(in, RECORD + 40, 2, 0xffff);
	in[RECORD + 48] = state;
}

static int group(u8 method, u32 p, u64 mask, u32 number, u8 state)
{
	group_request(method, p, mask, number, state);
	return ask(port_of(p));
}

static int group_with(u64 mask, u32 at, u8 value)
{
	group_request(SET, 0, CREATE | mask, 77, FULL);
	in[RECORD + at] = value;
	return ask(port_of(0));
}

static u32 groups(void)
{
	return s.fabric.sa.ngroups;
}

static void test_broadcast(void)
{
	tap_is(groups(), 1, "the broadcast group exists");
	ok(!group(GET, 0, MGID, 0xffffffff, 0) && get(out, RECORD + 32, 4) == 0x0b1b &&
	   get(out, RECORD + 36, 2) == MLID && out[RECORD + 38] == (2 << 6 | 5) &&
	   get(out, RECORD + 40, 2) == 0xffff && out[RECORD + 42] == (2 << 6 | 16) &&
	   out[RECORD + 48] == 0x20, "Q_Key, LID, MTU, P_Key, rate, scope");
	ok(!group(SET, 0, JOIN | MPKEY, 0xffffffff, FULL) && out[3] == 0x81 &&
	   out[RECORD + 48] == 0x21 && has_gid(RECORD + 16, port_of(0)) &&
	   get(out, RECORD + 36, 2) == MLID, "a port joins");
	ok(!group(SET, 0, JOIN, 0xffffffff, SENDONLY) && out[RECORD + 48] == 0x25,
	   "it joins in one more way");
	tap_is(group(SET, 1, JOIN | MQKEY, 0xffffffff, FULL), 0, "another port");
	ok(!group(DELETE, 0, JOIN, 0xffffffff, FULL) && out[3] == 0x95, "a port leaves");
	tap_is(group(DELETE, 0, JOIN, 0xffffffff, FULL), 0x0200, "it has left");
	tap_is(group(DELETE, 0, JOIN, 0xffffffff, SENDONLY), 0, "it leaves completely");
	tap_is(group(DELETE, 1, JOIN, 0xffffffff, FULL), 0, "the last one leaves");
	tap_is(groups(), 1, "the broadcast group exists still");
}

static void test_groups(void)
{
	ok(!group(SET, 0, CREATE, 5, FULL) && groups() == 2 && get(out, RECORD + 36, 2) == MLID + 1,
	   "a port creates a group");
	ok(!group(SET, 2, CREATE, 5, NON) && get(out, RECORD + 36, 2) == MLID + 1 && groups() == 2,
	   "a port of another function joins it");
	ok(!group(SET, 0, CREATE, 6, SENDONLY_FULL) && get(out, RECORD + 36, 2) == MLID + 2,
	   "a sender creates another");
	tap_is(group(DELETE, 0, JOIN, 5, FULL), 0, "the only full member leaves");
	ok(groups() == 2 && group(GET, 0, MGID, 5, 0) == 0x0300, "the group ends");
	tap_is(group(DELETE, 2, JOIN, 5, NON), 0x0200, "the other member is no member any more");
	ok(!group(SET, 0, CREATE, 7, FULL) && get(out, RECORD + 36, 2) == MLID + 1,
	   "the next group has the free LID");
	ok(!group(GET, 0, MGID | PORT_GID, 7, 0) && out[RECORD + 48] == 0x21,
	   "the membership of a port");
	tap_is(group(GET, 1, MGID | PORT_GID, 7, 0), 0x0300, "another port has none");
	begin(TABLE, MCMEMBER, 0);
	ok(ask_table(0) == 1 && get(segments[0], 32, 4) == 3 * 56 + 20 &&
	   get(segments[0], 44, 2) == 7 && segments[0][RECORD + 56 + 15] == 7, "all groups");
	hca_port_set(port_of(0), false);
	tap_is(groups(), 1, "a port that goes down leaves all groups");
	hca_port_set(port_of(0), true);
	group(SET, 0, CREATE, 8, FULL);
	hca_port_reregister(port_of(0));
	tap_is(groups(), 1, "so does one whose clients must register again");
	group(SET, 2, CREATE, 8, FULL);
	session_restart(&s, 1);
	tap_is(groups(), 1, "and so do the ports of a function that is reset");
}

static void test_unnamed_group(void)
{
	begin(SET, MCMEMBER, CREATE);
	group_request(SET, 0, CREATE, 0, FULL);
	memset(in + RECORD, 0, 16);
	ok(!ask(port_of(0)) && out[RECORD] == 0xff && get(out, RECORD + 14, 2) == MLID + 1,
	   "the manager gives a name to a group without one");
	begin(SET, MCMEMBER, CREATE);
	group_request(SET, 0, CREATE, 0, FULL);
	memcpy(in + RECORD, out + RECORD, 15);
	tap_is(ask(port_of(0)), 0x0500, "nobody else gives such names");
	hca_port_set(port_of(0), false);
	hca_port_set(port_of(0), true);
}

static void test_group_errors(void)
{
	static const struct {
		u32 remove, add;
		u8 at, value;
		int status;
		const char *what;
	} rows[] = {
		{ 0, 0, 48, 0, 0x0200, "no join state" },
		{ 0, 0, 48, NON, 0x0200, "a non-member creates it" },
		{ 0, 0, 48, SENDONLY, 0x0200, "a sender that is no full member creates it" },
		{ PORT_GID, 0, 63, 0, 0x0600, "no port" },
		{ STATE, 0, 63, 0, 0x0600, "no join state in the mask" },
		{ MQKEY, 0, 63, 0, 0x0600, "no Q_Key" },
		{ MPKEY, 0, 63, 0, 0x0600, "no P_Key" },
		{ MFLOW, 0, 63, 0, 0x0600, "no flow label" },
		{ 0, 0, 31, 0x99, 0x0500, "for another port" },
		{ 0, PROXY, 49, 0x80, 0x0700, "by proxy" },
		{ 0, 0, 0, 0xfe, 0x0500, "not a multicast address" },
		{ 0, 0, 1, 0x10, 0x0500, "scope 0" },
		{ 0, 0, 1, 0x1f, 0x0500, "scope 15" },
		{ 0, 0, 1, 0x32, 0x0500, "unknown flags" },
		{ 0, 0, 41, 0x01, 0x0200, "another partition" },
		{ 0, MMTU, 38, 0 << 6 | 5, 0x0200, "MTU above 4096" },
		{ 0, MMTU, 38, 2 << 6 | 6, 0x0200, "MTU 8192" },
		{ 0, MMTU, 38, 1 << 6 | 1, 0x0200, "MTU below 256" },
		{ 0, MMTU, 38, 2 << 6 | 0, 0x0200, "MTU 0" },
		{ 0, MRATE, 42, 2 << 6 | 10, 0x0200, "rate 120" },
		{ 0, MRATE, 42, 2 << 6 | 1, 0x0200, "a rate that does not exist" },
		{ 0, MLIFE, 43, 1 << 6 | 2, 0x0200, "a shorter life than there is" },
	};
	u32 i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		group_request(SET, 0, (CREATE & ~rows[i].remove) | rows[i].add, 50, FULL);
		in[RECORD + rows[i].at] = rows[i].value;
		tap_is(ask(port_of(0)), rows[i].status, "new group: %s", rows[i].what);
	}
	tap_is(groups(), 1, "there is no new group");
	ok(!group_with(MMTU, 38, 1 << 6 | 5) && out[RECORD + 38] == (2 << 6 | 4), "MTU below 4096");
	tap_is(group_with(MMTU, 38, 2 << 6 | 5), 0x0200, "the group has another MTU");
	tap_is(group_with(0, 33, 0x77), 0x0200, "the group has another Q_Key");
	tap_is(group_with(MMTU, 38, 2 << 6 | 4), 0, "a request with its values");
	tap_is(group(DELETE, 0, JOIN & ~MGID, 77, FULL), 0x0600, "leaving without a name");
	tap_is(group(DELETE, 0, JOIN, 78, FULL), 0x0200, "leaving a group that does not exist");
	tap_is(group(DELETE, 2, JOIN, 77, FULL), 0x0200, "leaving a group of others");
	tap_is(group(DELETE, 0, JOIN, 77, FULL), 0, "leaving");
	ok(!group_with(MRATE, 42, 1 << 6 | 10) && out[RECORD + 42] == (2 << 6 | 16),
	   "rate below 120");
	group(DELETE, 0, JOIN, 77, FULL);
	ok(!group_with(MRATE, 42, 1 << 6 | 7) && out[RECORD + 42] == (2 << 6 | 4), "rate below 40");
	group(DELETE, 0, JOIN, 77, FULL);
	ok(!group_with(MLIFE, 43, 2 << 6 | 9) && out[RECORD + 43] == (2 << 6 | 9), "a life time");
	group(DELETE, 0, JOIN, 77, FULL);
}

static void test_limits(void)
{
	u32 i, bad = 0;

	for (i = 1; i < 1024; i++)
		bad += group(SET, 0, CREATE, i, FULL) != 0;
	tap_is(bad, 0, "1024 groups");
	tap_is(group(SET, 0, CREATE, 5000, FULL), 0x0100, "no resources for one more");
	begin(TABLE, MCMEMBER, 0);
	ok(ask_table(0) == 1 && get(segments[0], 4, 2) == 0x0100 && !segments[0][26],
	   "nor for a table of all");
	tap_is(acknowledge(0, 2, 1, 64), 0, "there is no segment of it");
	session_restart(&s, 0);
	tap_is(groups(), 1, "all end");
	for (i = 0; i < 2; i++) {
		shim_alloc_fail = i;
		tap_is(group(SET, 0, CREATE, 1, FULL), 0x0100, "allocation %u fails", i + 1);
		tap_is(groups(), 1, "no group is left");
	}
	begin(TABLE, PATH, 0);
	shim_alloc_fail = 0;
	ok(ask_table(0) == 1 && get(segments[0], 4, 2) == 0x0100, "no memory for a table");
	shim_alloc_fail = -1;
}

/* ---- By QP0 and QP1 ------------------------------------------------------------------ */

static struct session_qp special[2];
static struct session_mr mr;

static void modify(u32 number, u16 opcode)
{
	u32 cmd[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, reply[MLX5_ST_SZ_DW(rst2init_qp_out)];
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, cmd, qpc);

	MLX5_SET(rst2init_qp_in, cmd, opcode, opcode);
	MLX5_SET(rst2init_qp_in, cmd, qpn, special[number].qp.qp_num);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, mtu, IB_MTU_4096);
	MLX5_SET(qpc, qpc, log_msg_max, 30);
	MLX5_SET(qpc, qpc, q_key, number ? QKEY : 0);
	MLX5_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
	if (session_cmd(&s, 0, cmd, sizeof(cmd), reply, sizeof(reply)))
		ok(false, "QP%u cannot be modified", number);
}

static void make_special(u32 number)
{
	session_qp(&s, 0, number ? MLX5_QP_ST_QP1 : MLX5_QP_ST_QP0, 4, 4, &special[number]);
	modify(number, MLX5_CMD_OP_RST2INIT_QP);
	modify(number, MLX5_CMD_OP_INIT2RTR_QP);
	modify(number, MLX5_CMD_OP_RTR2RTS_QP);
}

/*
 * Sends the request of @bytes from QP @from to QP @to; the LID that QP @from receives a datagram
 * from, or 0.
 */
static u16 exchange(u32 from, u32 to, u32 bytes, u32 qkey, u16 lid)
{
	struct xv_sge send = session_sge(&mr, 0, bytes), recv = session_sge(&mr, 2048, 40 + 256);
	struct xv_ah ah = { .av = { .rlid = cpu_to_be16(lid) } };
	struct session_qp *q = &special[from];
	struct xv_wc wc;
	u16 slid = 0;

	memcpy(mr.ptr, in, sizeof(in));
	memset(mr.ptr + 2048, 0, 512);
	xv_wr_recv(&q->qp, 7, &recv);
	xv_commit_recv(&q->qp);
	xv_wr_send_ud(&q->qp, 8, XV_SEND_SIGNALED, &send, &ah, to, qkey);
	xv_commit_send(&q->qp);
	session_settle(&s);
	while (xv_poll_cq(&q->cq, 1, &wc))
		if (wc.wr_id == 7 && !wc.status && wc.byte_len == 40 + 256 && wc.src_qp == from)
			slid = wc.slid;
	memcpy(out, mr.ptr + 2048 + 40, 256);
	return slid;
}

static void test_qp1(void)
{
	u64 received;

	mr = session_mr(&s, 0, 4096, ALL_ACCESS);
	make_special(1);
	begin(GET, CLASS_PORT_INFO, 0);
	received = s.hca[0]->port[0].count.rcv_packets;
	ok(exchange(1, 1, 256, OWN_QKEY, SM_LID) == SM_LID && out[3] == 0x81 && !get(out, 4, 2) &&
	   !memcmp(in + 8, out + 8, 8), "QP1 asks and gets the answer");
	tap_is(s.hca[0]->port[0].count.rcv_packets - received, 1, "it is counted");
	ok(!exchange(1, 1, 255, OWN_QKEY, SM_LID), "a MAD that is too short");
	ok(!exchange(1, 1, 256, 0x11111111, SM_LID), "another Q_Key");
	ok(!exchange(1, 1, 256, OWN_QKEY, SM_LID - 1), "another LID");
	ok(!exchange(1, 0, 256, OWN_QKEY, SM_LID), "another queue pair");
	in[1] = 4;
	ok(!exchange(1, 1, 256, OWN_QKEY, SM_LID), "another class");
}

static void begin_pma(u8 method, u16 attr, u8 port)
{
	begin(method, attr, 0);
	in[1] = 4;
	in[2] = 1;
	in[65] = port;
}

static void test_counters(void)
{
	const struct hca_port_counters *n = &s.hca[1]->port[0].count;
	u16 lid = s.hca[1]->port[0].lid;

	s.hca[1]->port[0].count.xmit_bytes = 1ull << 40;
	begin_pma(GET, 0x01, 0);
	ok(exchange(1, 1, 256, OWN_QKEY, lid) == lid && out[3] == 0x81 && !get(out, 4, 2) &&
	   get(out, 66, 2) == 1 << 9, "the adapter answers for a port without QP1");
	begin_pma(GET, 0x12, 1);
	ok(exchange(1, 1, 256, OWN_QKEY, lid) == lid && !get(out, 4, 2) && out[65] == 1 &&
	   get(out, 64 + 24, 4) == 0xffffffff && get(out, 64 + 36, 4) == n->rcv_packets &&
	   n->rcv_packets, "counters of 32 bits stay at their limit");
	begin_pma(GET, 0x1d, 0xff);
	ok(exchange(1, 1, 256, OWN_QKEY, lid) == lid && !get(out, 4, 2) &&
	   get(out, 64 + 8, 8) == 1ull << 38 && get(out, 64 + 32, 8) == n->rcv_packets,
	   "counters of 64 bits");
	begin_pma(GET, 0x12, 2);
	ok(exchange(1, 1, 256, OWN_QKEY, lid) && get(out, 4, 2) == 0x001c, "of another port");
	begin_pma(SET, 0x12, 1);
	ok(exchange(1, 1, 256, OWN_QKEY, lid) && get(out, 4, 2) == 0x000c, "they cannot be set");
	begin_pma(GET, 0x13, 1);
	ok(exchange(1, 1, 256, OWN_QKEY, lid) && get(out, 4, 2) == 0x000c, "unknown counters");
	begin_pma(GET, 0x01, 0);
	in[2] = 2;
	ok(exchange(1, 1, 256, OWN_QKEY, lid) && get(out, 4, 2) == 0x0004, "another version");
	begin_pma(0x81, 0x01, 0);
	ok(!exchange(1, 1, 256, OWN_QKEY, lid), "no answer to an answer");
}

/* ---- Subnet management --------------------------------------------------------------- */

#define SMP_DATA	64		/* offset in the MAD */

static void begin_smp(u8 method, u16 attr, u32 modifier)
{
	begin(method, attr, 0);
	in[1] = 1;
	in[2] = 1;
	put(in, 20, 4, modifier);
}

/* The syndrome of MAD_IFC on function 0, or the status of the answer */
static u32 mad_ifc(u32 port)
{
	u32 cmd[MLX5_ST_SZ_DW(mad_ifc_in)] = {}, reply[MLX5_ST_SZ_DW(mad_ifc_out)] = {};

	MLX5_SET(mad_ifc_in, cmd, opcode, MLX5_CMD_OP_MAD_IFC);
	MLX5_SET(mad_ifc_in, cmd, op_mod, 3);
	MLX5_SET(mad_ifc_in, cmd, port, port);
	memcpy(MLX5_ADDR_OF(mad_ifc_in, cmd, mad), in, 256);
	session_cmd(&s, 0, cmd, sizeof(cmd), reply, sizeof(reply));
	memcpy(out, MLX5_ADDR_OF(mad_ifc_out, reply, response_mad_packet), 256);
	return MLX5_GET(mad_ifc_out, reply, syndrome) ?: get(out, 4, 2);
}

static void test_smp(void)
{
	static const u16 read_only[] = { 0x10, 0x11, 0x14, 0x15, 0x16 };
	u32 i, n = 0;

	begin_smp(GET, 0x11, 0);
	ok(!mad_ifc(2) && out[3] == 0x81 && out[SMP_DATA + 2] == 1 && out[SMP_DATA + 3] == 2 &&
	   get(out, SMP_DATA + 20, 8) == port_of(1)->guid && out[SMP_DATA + 36] == 2,
	   "node information of port 2");
	begin_smp(GET, 0x15, 1);
	ok(!mad_ifc(2) && get(out, SMP_DATA + 16, 2) == port_of(0)->lid &&
	   out[SMP_DATA + 28] == 1, "port 1 when port 2 is asked");
	begin_smp(GET, 0x15, 0);
	ok(!mad_ifc(2) && get(out, SMP_DATA + 18, 2) == SM_LID && out[SMP_DATA + 28] == 2,
	   "the port that is asked");
	begin_smp(GET, 0x15, 3);
	tap_is(mad_ifc(1), 0x001c, "no port 3");
	begin_smp(GET, 0x14, 0);
	ok(!mad_ifc(1) && get(out, SMP_DATA, 8) == port_of(0)->guid, "GUIDs");
	begin_smp(GET, 0x16, 0);
	ok(!mad_ifc(1) && get(out, SMP_DATA, 4) == 0xffff0000, "P_Keys");
	begin_smp(GET, 0x16, 4);
	tap_is(mad_ifc(1), 0x001c, "no fifth block of P_Keys");
	begin_smp(GET, 0x20, 0);
	tap_is(mad_ifc(1), 0x000c, "a port is no manager");
	for (i = 0; i < sizeof(read_only) / sizeof(read_only[0]); i++) {
		begin_smp(SET, read_only[i], 0);
		n += mad_ifc(1) == 0x000c;
	}
	tap_is(n, i, "nothing can be set");
	begin_smp(GET, 0x11, 0);
	in[2] = 2;
	tap_is(mad_ifc(1), 0x0004, "another class version");
	begin_smp(GET, 0x11, 0);
	tap_is(mad_ifc(3), HCA_SYND_FUNCTION, "no such port");
	begin_smp(TRAP, 0x11, 0);
	tap_is(mad_ifc(1), HCA_SYND_MAD, "a message without an answer");
	begin_smp(SET, 0x12, 0);
	in[1] = 4;
	tap_is(mad_ifc(1), 0x000c, "counters cannot be set");
}

static void test_qp0(void)
{
	struct xv_wc wc;

	make_special(0);
	begin_smp(GET, 0x20, 0);
	ok(exchange(0, 0, 256, OWN_QKEY, SM_LID) == SM_LID && out[3] == 0x81 && !get(out, 4, 2) &&
	   get(out, SMP_DATA, 8) == s.fabric.sa.manager.guid && (out[SMP_DATA + 20] & 15) == 3,
	   "the manager is the master");
	ok(exchange(0, 0, 256, OWN_QKEY, port_of(0)->lid) == port_of(0)->lid &&
	   !memcmp(in, out, 256), "QP0 reaches QP0");
	ok(!exchange(0, 1, 256, OWN_QKEY, SM_LID), "QP0 does not reach QP1 of the manager");
	ok(!exchange(0, 1, 256, QKEY & ~0x80000000, port_of(0)->lid), "nor of a port");
	/* QP0 has receive requests of the exchanges before. */
	exchange(1, 0, 256, 0, port_of(0)->lid);
	ok(!xv_poll_cq(&special[0].cq, 1, &wc), "no other queue pair reaches QP0");
	exchange(1, special[0].qp.qp_num, 256, 0, port_of(0)->lid);
	ok(!xv_poll_cq(&special[0].cq, 1, &wc), "nor by its number in the table");
	ok(!exchange(1, 0, 256, 0, SM_LID), "nor that of the manager");
	in[3] = 0x81;
	ok(!exchange(0, 0, 256, OWN_QKEY, SM_LID), "no answer to an answer");
	ok(session_turns_bounded(&s), "all turns kept their limits");
	session_qp_destroy(&special[0]);
	session_qp_destroy(&special[1]);
	ok(!s.hca[0]->port[0].qp0 && !s.hca[0]->port[0].qp1, "the queue pairs are destroyed");
}

int main(void)
{
	session_init_ib(&s, 2);
	test_header();
	test_no_answer();
	test_paths();
	test_path_limits();
	test_path_down();
	test_tables();
	test_nodes();
	test_broadcast();
	test_groups();
	test_unnamed_group();
	test_group_errors();
	test_limits();
	test_qp1();
	test_counters();
	test_smp();
	test_qp0();
	session_free(&s);
	return tap_done();
}
