// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet administration (SA): answers the requests that QP 1 of an InfiniBand port sends to the
 * subnet manager.  The manager has a LID of its own and is part of the adapter.
 *
 * Each method of each attribute is in a table.  Records that do not fit into one MAD are kept
 * until the port has acknowledged them or asks again: RMPP sends them in segments.  A lost
 * segment is not sent again, because this fabric loses none; the client repeats its request.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "sa/sa.h"

enum {
	SM_KEY	= 1,	/* of requests from managers; others have 0 */
};

#define SM_GUID		0x007868fffe6361ffull
#define PORT_SM		(1u << 1)	/* PortInfo capability */

/* Records for a port */
struct hca_sa_table {
	struct hca_mad head;		/* of each segment */
	u32 bytes;			/* of records */
	u32 segments;
	u8 data[HCA_SA_SEGMENTS * HCA_SA_DATA];
};

static const struct hca_component any_class[] = { { HCA_MATCH_ANY, 72 * 8 } };

#define ATTR(id, type, components, ...)						\
	{ id, sizeof(type), components, ARRAY_SIZE(components), __VA_ARGS__ }

static const struct hca_attribute sa_attributes[] = {
	ATTR(HCA_ATTR_CLASS_PORT_INFO, struct hca_class_port_info, any_class,
	     hca_sa_find_class, NULL, NULL),
	ATTR(HCA_ATTR_NODE_RECORD, struct hca_node_record, hca_node_components,
	     hca_sa_find_nodes, NULL, NULL),
	ATTR(HCA_ATTR_PORT_INFO_RECORD, struct hca_port_info_record, hca_port_components,
	     hca_sa_find_ports, NULL, NULL),
	ATTR(HCA_ATTR_PATH_RECORD, struct hca_path_record, hca_path_components,
	     hca_sa_find_paths, NULL, NULL),
	ATTR(HCA_ATTR_MCMEMBER_RECORD, struct hca_mcmember_record, hca_mcmember_components,
	     hca_sa_find_groups, hca_sa_join, hca_sa_leave),
};

int hca_sa_init(struct hca_fabric *f)
{
	struct hca_port *m = &f->sa.manager;

	m->number = 1;
	m->up = true;
	m->lid = HCA_SM_LID;
	m->pkey = HCA_SA_PKEY;
	m->guid = SM_GUID;
	m->caps = PORT_SM;
	return hca_sa_groups_init(&f->sa);
}

void hca_sa_free(struct hca_fabric *f)
{
	hca_sa_groups_free(&f->sa);
}

void hca_sa_forget(struct hca_port *port)
{
	hca_sa_leave_all(port);
	kfree(port->sa_table);
	port->sa_table = NULL;
}

static const struct hca_attribute *hca_sa_attribute(u16 id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sa_attributes); i++)
		if (sa_attributes[i].id == id)
			return &sa_attributes[i];
	return NULL;
}

/* ---- One record ------------------------------------------------------------------------ */

static u16 hca_sa_get(struct hca_sa_query *q)
{
	q->attr->find(q);
	if (q->more)
		return HCA_SA_TOO_MANY_RECORDS;
	return q->count ? HCA_MAD_OK : HCA_SA_NO_RECORDS;
}

/* The function of a method that gives one record, or NULL */
static hca_sa_method *hca_sa_method_of(const struct hca_attribute *attr, u8 method)
{
	switch (method) {
	case HCA_METHOD_GET:
		return hca_sa_get;
	case HCA_METHOD_SET:
		return attr->set;
	case HCA_METHOD_DELETE:
		return attr->remove;
	default:
		return NULL;
	}
}

static u16 hca_sa_execute(struct hca_sa_query *q)
{
	hca_sa_method *fn;

	if (!q->attr)
		return HCA_MAD_BAD_ATTRIBUTE;
	fn = hca_sa_method_of(q->attr, q->in->method);
	if (!fn)
		return HCA_MAD_BAD_ATTRIBUTE;
	if (q->mask >> q->attr->ncomponents && q->attr->id != HCA_ATTR_CLASS_PORT_INFO)
		return HCA_SA_INVALID;
	return fn(q);
}

/* Set has the same answer as Get. */
static u8 hca_sa_answer_method(u8 method)
{
	return (method == HCA_METHOD_SET ? HCA_METHOD_GET : method) | HCA_MAD_RESPONSE;
}

static void hca_sa_answer(const struct hca_mad *in, struct hca_mad *out, u16 status)
{
	memcpy(out, in, offsetof(struct hca_mad, data));
	out->method = hca_sa_answer_method(in->method);
	out->status = cpu_to_be16(status);
	out->rmpp_version = 0;
	out->rmpp_type = 0;
	out->rmpp_flags = 0;
	out->rmpp_status = 0;
	out->segment = 0;
	out->payload = 0;
	out->sm_key = 0;
	out->attr_offset = 0;
}

static void hca_sa_one(struct hca_sa_query *q, hca_mad_send *send, void *arg)
{
	struct hca_mad out = {};
	u16 status;

	q->records = out.data;
	q->room = 1;
	status = hca_sa_execute(q);
	hca_sa_answer(q->in, &out, status);
	if (status)
		memset(out.data, 0, sizeof(out.data));
	send(&out, arg);
}

/* ---- Tables ---------------------------------------------------------------------------- */

/* Sends the segments from @first to @last, numbered from 1. */
static void hca_sa_send_segments(const struct hca_sa_table *t, u32 first, u32 last,
				 hca_mad_send *send, void *arg)
{
	struct hca_mad out = t->head;
	u32 i, at, n, payload;

	for (i = first; i <= min(last, t->segments); i++) {
		at = (i - 1) * HCA_SA_DATA;
		n = min_t(u32, t->bytes - at, HCA_SA_DATA);
		payload = 0;
		out.rmpp_flags = HCA_RMPP_ACTIVE | HCA_RMPP_NO_TIME;
		if (i == 1) {
			out.rmpp_flags |= HCA_RMPP_FIRST;
			payload = t->bytes + t->segments * HCA_SA_HEADER;
		}
		if (i == t->segments) {
			out.rmpp_flags |= HCA_RMPP_LAST;
			payload = n + HCA_SA_HEADER;
		}
		out.segment = cpu_to_be32(i);
		out.payload = cpu_to_be32(payload);
		memset(out.data, 0, sizeof(out.data));
		memcpy(out.data, t->data + at, n);
		send(&out, arg);
	}
}

static u16 hca_sa_find(struct hca_sa_query *q, struct hca_sa_table *t)
{
	if (!q->attr || q->attr->id == HCA_ATTR_CLASS_PORT_INFO)
		return HCA_MAD_BAD_ATTRIBUTE;
	if (q->mask >> q->attr->ncomponents)
		return HCA_SA_INVALID;
	q->records = t->data;
	q->room = sizeof(t->data) / hca_sa_stride(q->attr);
	q->attr->find(q);
	t->bytes = q->count * hca_sa_stride(q->attr);
	t->segments = max_t(u32, DIV_ROUND_UP(t->bytes, HCA_SA_DATA), 1);
	return q->more ? HCA_SA_NO_RESOURCES : HCA_MAD_OK;
}

static void hca_sa_get_table(struct hca_sa_query *q, hca_mad_send *send, void *arg)
{
	struct hca_sa_table *t = q->port->sa_table;
	struct hca_mad out = {};
	u16 status;

	if (!t)
		t = q->port->sa_table = kzalloc(sizeof(*t), HCA_GFP_NOWAIT);
	status = t ? hca_sa_find(q, t) : HCA_SA_NO_RESOURCES;
	hca_sa_answer(q->in, &out, status);
	if (status) {
		if (t)
			t->segments = 0;
		send(&out, arg);
		return;
	}
	t->head = out;
	t->head.rmpp_version = HCA_RMPP_VERSION;
	t->head.rmpp_type = HCA_RMPP_DATA;
	t->head.attr_offset = cpu_to_be16(hca_sa_stride(q->attr) / 8);
	hca_sa_send_segments(t, 1, 1, send, arg);
}

/* The port has the segments up to one number and wants those up to another. */
static void hca_sa_acknowledged(struct hca_port *port, const struct hca_mad *in,
				hca_mad_send *send, void *arg)
{
	struct hca_sa_table *t = port->sa_table;
	u32 done = be32_to_cpu(in->segment);

	if (!t || in->rmpp_type != HCA_RMPP_ACK || in->tid != t->head.tid ||
	    done >= t->segments || !done)
		return;
	hca_sa_send_segments(t, done + 1, be32_to_cpu(in->payload), send, arg);
}

/* ---- Requests ------------------------------------------------------------------------ */

/* Answers and one-way messages get no answer, or two managers could answer each other for ever. */
static bool hca_sa_is_request(const struct hca_mad *in)
{
	return !(in->method & HCA_MAD_RESPONSE) && in->method != HCA_METHOD_SEND &&
	       in->method != HCA_METHOD_TRAP && in->method != HCA_METHOD_TRAP_REPRESS &&
	       (!in->sm_key || in->sm_key == cpu_to_be64(SM_KEY));
}

void hca_sa_receive(struct hca_port *port, const struct hca_mad *in, hca_mad_send *send, void *arg)
{
	struct hca_sa_query q = {
		.f = port->hca->fabric,
		.port = port,
		.in = in,
		.mask = be64_to_cpu(in->comp_mask),
	};
	struct hca_mad out = {};

	if (!hca_sa_is_request(in))
		return;
	if (in->base_version != HCA_MAD_BASE_VERSION || in->class_version != HCA_SA_VERSION) {
		hca_sa_answer(in, &out, HCA_MAD_BAD_VERSION);
		send(&out, arg);
		return;
	}
	if (in->rmpp_flags & HCA_RMPP_ACTIVE) {
		hca_sa_acknowledged(port, in, send, arg);
		return;
	}
	q.attr = hca_sa_attribute(be16_to_cpu(in->attr_id));
	if (in->method == HCA_METHOD_GET_TABLE)
		hca_sa_get_table(&q, send, arg);
	else
		hca_sa_one(&q, send, arg);
}

#undef SM_GUID
#undef PORT_SM
#undef ATTR
