/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Subnet management and administration, by file, lowest first.
 */
#ifndef _HCA_SA_H
#define _HCA_SA_H

#include "base/command.h"
#include "base/fabric.h"
#include "sa/mad.h"

/* ---- sa_match.c -------------------------------------------------------------------------- */

/* How a component of a record is compared, if the request names it */
enum hca_match {
	HCA_MATCH_EQUAL,
	HCA_MATCH_ANY,				/* ignored: the record has its own value */
	HCA_MATCH_PKEY,				/* full and limited membership match */
	HCA_MATCH_SELECTOR,			/* its value is the next component */
	HCA_MATCH_VALUE, HCA_MATCH_RATE,
};

/* A row for each bit of the component mask, in the order of the record */
struct hca_component {
	u8 match;
	u16 bits;
};

struct hca_sa_query;
typedef u16 hca_sa_method(struct hca_sa_query *q);	/* returns a status */

/* An attribute: its format, and what each method does */
struct hca_attribute {
	u16 id, bytes;
	const struct hca_component *components;
	u32 ncomponents;
	void (*find)(struct hca_sa_query *q);
	hca_sa_method *set, *remove;		/* NULL: not supported */
};

/* A request, and the records that it finds */
struct hca_sa_query {
	struct hca_fabric *f;
	struct hca_port *port;			/* of the sender */
	const struct hca_mad *in;
	const struct hca_attribute *attr;
	u64 mask;				/* components that the request names */
	u8 *records;
	u32 room, count;			/* records */
	bool more;				/* there was no room for a record */
};

/* Bytes of a record in an answer */
static inline u32 hca_sa_stride(const struct hca_attribute *attr)
{
	return (attr->bytes + 7) & ~7u;
}

/* Has @record what the components of @mask of the request ask for? */
bool hca_sa_match(const struct hca_sa_query *q, u64 mask, const void *record);
/* Adds @record if it matches; false if there is no room. */
bool hca_sa_add(struct hca_sa_query *q, const void *record);
/* Does @value fulfil @wanted, which has a selector? */
bool hca_sa_selected(enum hca_match match, u8 wanted, u8 value);
/* The best value up to @best that fulfils @wanted, or 0 */
u8 hca_sa_choose(enum hca_match match, u8 wanted, u8 best);

/* ---- sa_record.c ------------------------------------------------------------------------- */

/* Formats for struct hca_attribute */
extern const struct hca_component hca_path_components[23];
extern const struct hca_component hca_node_components[15];
extern const struct hca_component hca_port_components[43];

/* The first port of the subnet, or the one after @port; the manager is the first. */
struct hca_port *hca_sa_next_port(struct hca_fabric *f, struct hca_port *port);
void hca_sa_gid(const struct hca_port *port, u8 *gid);
struct hca_node_record hca_sa_node(const struct hca_port *port);
struct hca_port_info_record hca_sa_port(const struct hca_port *port);
void hca_sa_find_class(struct hca_sa_query *q);
void hca_sa_find_paths(struct hca_sa_query *q);
void hca_sa_find_nodes(struct hca_sa_query *q);
void hca_sa_find_ports(struct hca_sa_query *q);

/* ---- sma.c ------------------------------------------------------------------------------- */

/* What @port answers to a request; false: nothing */
bool hca_sma_answer(const struct hca_port *port, const struct hca_smp *in, struct hca_smp *out);

enum hca_synd hca_cmd_mad_ifc(struct hca *hca, const struct hca_cmd *c);

/* ---- pma.c ------------------------------------------------------------------------------- */

/* The same for the counters of @port */
bool hca_pma_answer(const struct hca_port *port, const struct hca_mad *in, struct hca_mad *out);

/* ---- sa_group.c: multicast groups -------------------------------------------------------- */

extern const struct hca_component hca_mcmember_components[18];

int hca_sa_groups_init(struct hca_sa *sa);
void hca_sa_groups_free(struct hca_sa *sa);
void hca_sa_find_groups(struct hca_sa_query *q);
u16 hca_sa_join(struct hca_sa_query *q);
u16 hca_sa_leave(struct hca_sa_query *q);
/* @port is a member of no group any more. */
void hca_sa_leave_all(struct hca_port *port);

/* ---- sa.c: subnet administration --------------------------------------------------------- */

typedef void hca_mad_send(const struct hca_mad *mad, void *arg);

/* Handles what QP1 of @port has sent to the manager; @send is called for each answer. */
void hca_sa_receive(struct hca_port *port, const struct hca_mad *in, hca_mad_send *send, void *arg);
int hca_sa_init(struct hca_fabric *f);
void hca_sa_free(struct hca_fabric *f);
/* @port is down or reset: it leaves all multicast groups. */
void hca_sa_forget(struct hca_port *port);

#endif
