// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet administration: which records a request asks for.
 *
 * The bits of the component mask are the fields of the record, in their order.  A selector says
 * whether the value after it is a limit, the exact value, or whether the best is wanted.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "sa/sa.h"

/* Codes of rates, the slowest first (enum ib_rate of the kernel) */
static const u8 rates[] = {
	2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14, 17, 18, 21, 22, 23, 24,
};

static bool hca_sa_equal(const u8 *a, const u8 *b, u32 at, u32 bits)
{
	u32 end = at + bits;

	if (!(at % 8) && !(bits % 8))
		return !memcmp(a + at / 8, b + at / 8, bits / 8);
	for (; at < end; at++)
		if ((a[at / 8] ^ b[at / 8]) & 0x80 >> at % 8)
			return false;
	return true;
}

/* A number that is greater for a better value; 0: there is no such value */
static u32 hca_sa_rank(enum hca_match match, u8 value)
{
	u32 i;

	if (match != HCA_MATCH_RATE)
		return value;
	for (i = 0; i < ARRAY_SIZE(rates); i++)
		if (rates[i] == value)
			return i + 1;
	return 0;
}

bool hca_sa_selected(enum hca_match match, u8 wanted, u8 value)
{
	u32 limit = hca_sa_rank(match, wanted & 0x3f), rank = hca_sa_rank(match, value);

	switch (wanted >> 6) {
	case HCA_SELECT_GREATER:
		return rank > limit;
	case HCA_SELECT_LESS:
		return rank < limit;
	case HCA_SELECT_EQUAL:
		return rank == limit;
	default:
		return true;
	}
}

u8 hca_sa_choose(enum hca_match match, u8 wanted, u8 best)
{
	u32 limit = hca_sa_rank(match, wanted & 0x3f);

	if (hca_sa_selected(match, wanted, best))
		return best;
	if (limit > hca_sa_rank(match, best))
		return 0;
	if (wanted >> 6 == HCA_SELECT_EQUAL)
		return limit ? wanted & 0x3f : 0;
	if (wanted >> 6 == HCA_SELECT_LESS && limit > 1)
		return match == HCA_MATCH_RATE ? rates[limit - 2] : limit - 1;
	return 0;
}

static bool hca_sa_match_one(const struct hca_component *c, const u8 *wanted, const u8 *record,
			     u32 at, bool selector)
{
	switch (c->match) {
	case HCA_MATCH_EQUAL:
		return hca_sa_equal(wanted, record, at, c->bits);
	case HCA_MATCH_PKEY:
		return hca_sa_equal(wanted, record, at + 1, c->bits - 1);
	case HCA_MATCH_VALUE:
	case HCA_MATCH_RATE:
		return !selector ||
		       hca_sa_selected(c->match, wanted[at / 8], record[at / 8] & 0x3f);
	default:
		return true;
	}
}

bool hca_sa_match(const struct hca_sa_query *q, u64 mask, const void *record)
{
	const struct hca_component *c = q->attr->components;
	u32 i, at = 0;

	for (i = 0; i < q->attr->ncomponents; at += c[i].bits, i++)
		if (mask >> i & 1 &&
		    !hca_sa_match_one(&c[i], q->in->data, record, at, i && mask >> (i - 1) & 1))
			return false;
	return true;
}

bool hca_sa_add(struct hca_sa_query *q, const void *record)
{
	u8 *to = q->records + q->count * hca_sa_stride(q->attr);

	hca_charge(q->f, HCA_ENTRIES, 1);
	if (!hca_sa_match(q, q->mask, record))
		return true;
	q->more = q->count == q->room;
	if (q->more)
		return false;
	memset(to, 0, hca_sa_stride(q->attr));
	memcpy(to, record, q->attr->bytes);
	q->count++;
	return true;
}
