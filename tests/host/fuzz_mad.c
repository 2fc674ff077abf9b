// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes subnet administration with requests that a process with /dev/infiniband/umad can send.
 *
 * The input is a list of requests.  Each names a port and a few bytes of a MAD that is valid
 * otherwise, or changes the state of a port.  The groups must have the members that a simple
 * model has, every answer must fit its request, and at the end nothing may be left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data/data.h"
#include "sa/sa.h"
#include "session.h"

#define PORTS		4u
#define GROUPS		8u		/* names that the input can use */
#define RECORD		56
#define MAX_ANSWERS	64u

struct action {
	u8 port, what, attr, method, group, state;
	u8 at, value;			/* a byte that is changed */
	u32 mask;
} __attribute__((packed));

static struct session s;
static u8 in[256];
static u32 answers, status;
static u8 member[PORTS][GROUPS];	/* the model: join states */
static bool damaged;			/* names in the requests are not those of the model */

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_mad: %s\n", what);
	abort();
}

static struct hca_port *port_of(u32 i)
{
	return &s.hca[i / 2]->port[i % 2];
}

static void take(const struct hca_mad *mad, void *arg)
{
	const u8 *out = (const void *)mad;

	check(out[3] & 0x80 && !(in[3] & 0x80), "a request as answer, or an answer to an answer");
	check(!memcmp(out + 8, in + 8, 8), "an answer to another request");
	status = out[4] << 8 | out[5];
	answers++;
}

/* A group without a full member ends, and its other members with it. */
static void end_group(u32 group)
{
	u32 i;

	for (i = 0; i < PORTS; i++)
		if (member[i][group] & (HCA_JOIN_FULL | HCA_JOIN_SENDONLY_FULL))
			return;
	for (i = 0; i < PORTS; i++)
		member[i][group] = 0;
}

static void leave_all(u32 port)
{
	u32 group;

	for (group = 0; group < GROUPS; group++) {
		member[port][group] = 0;
		end_group(group);
	}
}

static void build(const struct action *t)
{
	static const u16 attrs[] = { 0x01, 0x35, 0x38, 0x38, 0x38, 0x11, 0x12, 0x31 };
	static const u8 methods[] = { 1, 2, 0x15, 0x12, 2, 0x15, 0x14, 0x81 };
	const u16 attr = attrs[t->attr % 8];
	const u64 mask = cpu_to_be64(t->mask);
	struct hca_mcmember_record *rec = (void *)(in + RECORD);
	struct hca_path_record *path = (void *)(in + RECORD);

	memcpy(in, (u8[4]) { 1, 3, 2, methods[t->method % 8] }, 4);
	memset(in + 4, 0, sizeof(in) - 4);
	in[15] = t->what;
	in[16] = attr >> 8;
	in[17] = attr;
	memcpy(in + 48, &mask, 8);
	if (attr == HCA_ATTR_PATH_RECORD) {
		hca_sa_gid(port_of(t->group % PORTS), path->dgid);
		hca_sa_gid(port_of(t->state % PORTS), path->sgid);
	} else if (attr == HCA_ATTR_MCMEMBER_RECORD) {
		memcpy(rec->mgid, (u8[4]) { 0xff, 0x12, 1, 1 }, 4);
		rec->mgid[15] = t->group % GROUPS;
		hca_sa_gid(port_of(t->port % PORTS), rec->port_gid);
		rec->pkey = 0xffff;
		rec->scope_state = t->state & 0xf;
	}
	if (t->value)
		in[t->at] ^= t->value;
}

/* What a successful join or leave does in the model */
static void follow(const struct action *t)
{
	u32 port = t->port % PORTS, group = t->group % GROUPS;

	if (!answers || status || in[17] != HCA_ATTR_MCMEMBER_RECORD || in[16])
		return;
	if (t->value || !(t->mask & HCA_MC_MGID)) {
		damaged |= in[3] == HCA_METHOD_SET || in[3] == HCA_METHOD_DELETE;
		return;
	}
	if (in[3] == HCA_METHOD_SET) {
		member[port][group] |= t->state & 0xf;
	} else if (in[3] == HCA_METHOD_DELETE) {
		check(member[port][group] & t->state & 0xf, "left without being a member");
		member[port][group] &= ~t->state;
		end_group(group);
	}
}

/* A turn that has this datagram only */
static void receive(struct hca_port *port)
{
	s.fabric.turn = (struct hca_turn) { .budget = HCA_TURN_UNITS };
	hca_sa_receive(port, (const void *)in, take, NULL);
	hca_turn_end(&s.fabric);
	check(session_turns_bounded(&s), "a turn is above the limits");
}

static void perform(const struct action *t)
{
	struct hca_port *port = port_of(t->port % PORTS);

	if (t->what >> 4 == 0xf) {
		hca_port_set(port, !port->up);
		leave_all(t->port % PORTS);
		return;
	}
	build(t);
	answers = 0;
	receive(port);
	check(answers <= MAX_ANSWERS, "too many answers");
	if (!damaged)
		follow(t);
	/* RMPP: the input acknowledges what it wants of the last table. */
	in[24] = 1;
	in[25] = HCA_RMPP_ACK;
	in[26] = HCA_RMPP_ACTIVE;
	in[31] = t->state;
	in[35] = t->value;
	receive(port);
}

static u32 existing(void)
{
	u32 group, i, n = 1;
	u8 any;

	for (group = 0; group < GROUPS; group++) {
		for (any = 0, i = 0; i < PORTS; i++)
			any |= member[i][group];
		n += any != 0;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct action t;
	u32 i;

	if (!s.mem) {
		shim_step = 0;
		session_init_ib(&s, 2);
	}
	memset(member, 0, sizeof(member));
	damaged = false;
	for (; size >= sizeof(t); data += sizeof(t), size -= sizeof(t)) {
		memcpy(&t, data, sizeof(t));
		perform(&t);
		check(damaged || s.fabric.sa.ngroups == existing(),
		      "groups are not those of the model");
	}
	for (i = 0; i < PORTS; i++) {
		hca_port_set(port_of(i), false);
		hca_port_set(port_of(i), true);
	}
	check(s.fabric.sa.ngroups == 1, "a group without a port is left");
	return 0;
}
