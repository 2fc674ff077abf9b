// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet administration: multicast groups and the ports that have joined them.
 *
 * A group exists while a port is a full member.  The group for IPv4 broadcast exists always,
 * because IPoIB takes its parameters from it (RFC 4391).
 *
 * This is what the subnet manager knows.  A queue pair receives what is sent to a group if it is
 * attached to it (mcg.c).
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "sa/sa.h"

enum { IPOIB_QKEY = 0x0b1b };

#define MAX_GROUPS	1024u
#define FULL		(HCA_JOIN_FULL | HCA_JOIN_SENDONLY_FULL)

struct group {
	struct list_head entry;		/* sa.groups, in order of their LIDs */
	struct list_head members;
	bool permanent;
	struct hca_mcmember_record rec;	/* of no member */
};

struct sa_member {
	struct list_head entry;		/* group.members */
	struct hca_port *port;
	u8 state;			/* HCA_JOIN_* */
};

#define EQ(bits)	{ HCA_MATCH_EQUAL, bits }

const struct hca_component hca_mcmember_components[] = {
	EQ(128), EQ(128), EQ(32), EQ(16),		/* GIDs of group and port, Q_Key, LID */
	{ HCA_MATCH_SELECTOR, 2 }, { HCA_MATCH_VALUE, 6 },	/* MTU */
	EQ(8), { HCA_MATCH_PKEY, 16 },			/* traffic class, P_Key */
	{ HCA_MATCH_SELECTOR, 2 }, { HCA_MATCH_RATE, 6 },
	{ HCA_MATCH_SELECTOR, 2 }, { HCA_MATCH_VALUE, 6 },	/* packet life time */
	EQ(4), EQ(20), EQ(8),				/* SL, flow label, hop limit */
	EQ(4), EQ(4), { HCA_MATCH_ANY, 1 },		/* scope, join state, proxy */
};

static const struct hca_mcmember_record broadcast = {
	.mgid = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff, 0xff },
	.scope_state = 2 << 4,
};

static const struct hca_mcmember_record *hca_sa_wanted(const struct hca_sa_query *q)
{
	return (const void *)q->in->data;
}

/* ---- Groups ---------------------------------------------------------------------------- */

static void hca_sa_group_free(struct hca_sa *sa, struct group *g)
{
	struct sa_member *m, *next;

	list_for_each_entry_safe(m, next, &g->members, entry)
		kfree(m);
	list_del(&g->entry);
	kfree(g);
	sa->ngroups--;
}

/* The new group gets the first free LID. */
static struct group *hca_sa_group_new(struct hca_sa *sa, const struct hca_mcmember_record *rec)
{
	struct group *g, *other;
	u16 mlid = HCA_SA_MLID;

	if (sa->ngroups == MAX_GROUPS)
		return NULL;
	g = kzalloc(sizeof(*g), HCA_GFP_NOWAIT);
	if (!g)
		return NULL;
	list_for_each_entry(other, &sa->groups, entry) {
		if (be16_to_cpu(other->rec.mlid) != mlid)
			break;
		mlid++;
	}
	list_add_tail(&g->entry, &other->entry);
	INIT_LIST_HEAD(&g->members);
	g->rec = *rec;
	g->rec.mlid = cpu_to_be16(mlid);
	sa->ngroups++;
	return g;
}

int hca_sa_groups_init(struct hca_sa *sa)
{
	struct hca_mcmember_record rec = broadcast;
	struct group *g;

	INIT_LIST_HEAD(&sa->groups);
	rec.qkey = cpu_to_be32(IPOIB_QKEY);
	rec.pkey = cpu_to_be16(HCA_SA_PKEY);
	rec.mtu = HCA_SELECTED(HCA_SA_MTU);
	rec.rate = HCA_SELECTED(HCA_SA_RATE);
	rec.life = HCA_SELECTED(HCA_SA_LIFE);
	g = hca_sa_group_new(sa, &rec);
	if (!g)
		return -ENOMEM;
	g->permanent = true;
	return 0;
}

void hca_sa_groups_free(struct hca_sa *sa)
{
	struct group *g, *next;

	list_for_each_entry_safe(g, next, &sa->groups, entry)
		hca_sa_group_free(sa, g);
}

static struct group *hca_sa_group_find(struct hca_sa_query *q)
{
	struct group *g;

	list_for_each_entry(g, &q->f->sa.groups, entry) {
		hca_charge(q->f, HCA_ENTRIES, 1);
		if (!memcmp(g->rec.mgid, hca_sa_wanted(q)->mgid, sizeof(g->rec.mgid)))
			return g;
	}
	return NULL;
}

static struct sa_member *hca_sa_member_find(struct group *g, const struct hca_port *port)
{
	struct sa_member *m;

	list_for_each_entry(m, &g->members, entry)
		if (m->port == port)
			return m;
	return NULL;
}

/* @m leaves; without a full member the group ends. */
static void hca_sa_member_leave(struct hca_sa *sa, struct group *g, struct sa_member *m, u8 state)
{
	bool full = g->permanent;

	m->state &= ~state;
	if (!m->state) {
		list_del(&m->entry);
		kfree(m);
	}
	list_for_each_entry(m, &g->members, entry)
		full |= m->state & FULL;
	if (!full)
		hca_sa_group_free(sa, g);
}

void hca_sa_leave_all(struct hca_port *port)
{
	struct hca_sa *sa = &port->hca->fabric->sa;
	struct group *g, *next;
	struct sa_member *m;

	list_for_each_entry_safe(g, next, &sa->groups, entry) {
		m = hca_sa_member_find(g, port);
		if (m)
			hca_sa_member_leave(sa, g, m, m->state);
	}
}

/* ---- Creation -------------------------------------------------------------------------- */

/* Begin of the addresses that the manager gives to groups */
static const u8 own_prefix[] = { 0xff, 0x12, 0xa0, 0x1b, 0xfe, 0x80 };

/* ff, flags 0 or 1 (transient), and a scope that is neither reserved nor zero */
static bool hca_sa_mgid_ok(const u8 *mgid)
{
	u8 scope = mgid[1] & 0xf;

	return mgid[0] == 0xff && mgid[1] >> 4 <= 1 && scope && scope != 0xf &&
	       memcmp(mgid, own_prefix, sizeof(own_prefix));
}

/* A byte with a selector: false if no value fulfils the request */
static bool hca_sa_take(const struct hca_sa_query *q, u64 selector, enum hca_match match,
			u8 wanted, u8 best, u8 *value)
{
	u64 both = selector | selector << 1;
	u8 chosen = (q->mask & both) == both ? hca_sa_choose(match, wanted, best) : best;

	*value = HCA_SELECTED(chosen);
	return chosen;
}

static u16 hca_sa_group_parameters(const struct hca_sa_query *q, struct hca_mcmember_record *rec)
{
	const struct hca_mcmember_record *wanted = hca_sa_wanted(q);
	const u64 life = HCA_MC_LIFE_SELECTOR | HCA_MC_LIFE;

	*rec = *wanted;
	memset(rec->port_gid, 0, sizeof(rec->port_gid));
	rec->proxy = 0;
	rec->scope_state = wanted->mgid[1] << 4;
	memset(rec->reserved, 0, sizeof(rec->reserved));
	if (!hca_sa_take(q, HCA_MC_MTU_SELECTOR, HCA_MATCH_VALUE, wanted->mtu, HCA_SA_MTU,
			 &rec->mtu) ||
	    !hca_sa_take(q, HCA_MC_RATE_SELECTOR, HCA_MATCH_RATE, wanted->rate, HCA_SA_RATE,
			 &rec->rate))
		return HCA_SA_INVALID;
	rec->life = HCA_SELECTED(HCA_SA_LIFE);
	if ((q->mask & life) == life &&
	    !hca_sa_selected(HCA_MATCH_VALUE, wanted->life, HCA_SA_LIFE)) {
		if (wanted->life >> 6 != HCA_SELECT_EQUAL)
			return HCA_SA_INVALID;
		rec->life = wanted->life;
	}
	if (!(q->mask & HCA_MC_HOP))
		rec->sl_flow_hop &= cpu_to_be32(~0xff);
	return HCA_MAD_OK;
}

/* With an MGID of zero, the manager gives the group an address that contains its LID. */
static void hca_sa_name_group(struct group *g)
{
	u16 mlid = be16_to_cpu(g->rec.mlid);

	memset(g->rec.mgid, 0, sizeof(g->rec.mgid));
	memcpy(g->rec.mgid, own_prefix, sizeof(own_prefix));
	g->rec.mgid[14] = mlid >> 8;
	g->rec.mgid[15] = mlid;
	g->rec.scope_state = 2 << 4;
}

static u16 hca_sa_group_create(struct hca_sa_query *q, u8 state, struct group **g)
{
	static const u8 none[16];
	const u64 needed = HCA_MC_QKEY | HCA_MC_PKEY | HCA_MC_SL | HCA_MC_FLOW | HCA_MC_TCLASS;
	const struct hca_mcmember_record *wanted = hca_sa_wanted(q);
	bool unnamed = !(q->mask & HCA_MC_MGID) || !memcmp(wanted->mgid, none, sizeof(none));
	struct hca_mcmember_record rec;
	u16 status;

	if (!(state & FULL))
		return HCA_SA_INVALID;
	if ((q->mask & needed) != needed)
		return HCA_SA_TOO_FEW_COMPONENTS;
	if (!unnamed && !hca_sa_mgid_ok(wanted->mgid))
		return HCA_SA_INVALID_GID;
	if ((be16_to_cpu(wanted->pkey) ^ q->port->pkey) & HCA_PKEY_BITS)
		return HCA_SA_INVALID;
	status = hca_sa_group_parameters(q, &rec);
	if (status)
		return status;
	*g = hca_sa_group_new(&q->f->sa, &rec);
	if (!*g)
		return HCA_SA_NO_RESOURCES;
	if (unnamed)
		hca_sa_name_group(*g);
	return HCA_MAD_OK;
}

/* ---- Methods --------------------------------------------------------------------------- */

/* The record of @g for its member @m, or for no member */
static struct hca_mcmember_record hca_sa_record_of(const struct group *g,
						   const struct sa_member *m)
{
	struct hca_mcmember_record rec = g->rec;

	if (m) {
		hca_sa_gid(m->port, rec.port_gid);
		rec.scope_state |= m->state;
	}
	return rec;
}

static void hca_sa_answer_member(struct hca_sa_query *q, const struct group *g,
				 const struct sa_member *m)
{
	struct hca_mcmember_record rec = hca_sa_record_of(g, m);

	memcpy(q->records, &rec, sizeof(rec));
	q->count = 1;
}

/* A port joins and leaves for itself only. */
static u16 hca_sa_check_member(const struct hca_sa_query *q, u64 needed)
{
	const struct hca_mcmember_record *wanted = hca_sa_wanted(q);
	u8 gid[16];

	hca_sa_gid(q->port, gid);
	if ((q->mask & needed) != needed)
		return HCA_SA_TOO_FEW_COMPONENTS;
	if (q->mask & HCA_MC_PROXY && wanted->proxy >> 7)
		return HCA_SA_DENIED;
	if (memcmp(wanted->port_gid, gid, sizeof(gid)))
		return HCA_SA_INVALID_GID;
	return wanted->scope_state & 0xf ? HCA_MAD_OK : HCA_SA_INVALID;
}

static u16 hca_sa_join_group(struct hca_sa_query *q, struct group *g, u8 state)
{
	struct sa_member *m = hca_sa_member_find(g, q->port);

	if (!m) {
		m = kzalloc(sizeof(*m), HCA_GFP_NOWAIT);
		if (!m)
			return HCA_SA_NO_RESOURCES;
		m->port = q->port;
		list_add_tail(&m->entry, &g->members);
	}
	m->state |= state;
	hca_sa_answer_member(q, g, m);
	return HCA_MAD_OK;
}

u16 hca_sa_join(struct hca_sa_query *q)
{
	const u64 own = HCA_MC_PORT_GID | HCA_MC_JOIN_STATE;	/* not of the group */
	u8 state = hca_sa_wanted(q)->scope_state & 0xf;
	u16 status = hca_sa_check_member(q, own);
	struct group *g = NULL;
	bool created;

	if (status)
		return status;
	if (q->mask & HCA_MC_MGID)
		g = hca_sa_group_find(q);
	created = !g;
	if (created)
		status = hca_sa_group_create(q, state, &g);
	else if (!hca_sa_match(q, q->mask & ~own, &g->rec))
		status = HCA_SA_INVALID;
	if (status)
		return status;
	status = hca_sa_join_group(q, g, state);
	if (status && created)
		hca_sa_group_free(&q->f->sa, g);
	return status;
}

u16 hca_sa_leave(struct hca_sa_query *q)
{
	u16 status = hca_sa_check_member(q, HCA_MC_MGID | HCA_MC_PORT_GID | HCA_MC_JOIN_STATE);
	struct group *g = status ? NULL : hca_sa_group_find(q);
	struct sa_member *m = g ? hca_sa_member_find(g, q->port) : NULL;
	u8 state = hca_sa_wanted(q)->scope_state & 0xf;

	if (status)
		return status;
	if (!m || !(m->state & state))
		return HCA_SA_INVALID;
	hca_sa_answer_member(q, g, m);
	hca_sa_member_leave(&q->f->sa, g, m, state);
	return HCA_MAD_OK;
}

/* Names of members are given only to a request for the groups of a port. */
void hca_sa_find_groups(struct hca_sa_query *q)
{
	struct hca_mcmember_record rec;
	struct group *g;
	struct sa_member *m;

	list_for_each_entry(g, &q->f->sa.groups, entry) {
		rec = hca_sa_record_of(g, NULL);
		if (!(q->mask & HCA_MC_PORT_GID)) {
			if (!hca_sa_add(q, &rec))
				return;
			continue;
		}
		list_for_each_entry(m, &g->members, entry) {
			rec = hca_sa_record_of(g, m);
			if (!hca_sa_add(q, &rec))
				return;
		}
	}
}

#undef MAX_GROUPS
#undef FULL
#undef EQ
