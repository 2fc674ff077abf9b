// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of many pieces.
 *
 * A datagram has 4096 bytes at most, but with indirect mkeys each byte can be a separate
 * piece, which would take too long for one turn.  So after a number of pieces the turn ends,
 * and the next turn continues.  The bytes gathered so far are kept in a buffer.  There is one
 * buffer, so a second long datagram begins when the first one is complete.
 */
#include <linux/string.h>
#include "data/data.h"

static struct hca_long_datagram *hca_ud_long(const struct hca_qp *qp)
{
	return &qp->hca->fabric->scratch->long_datagram;
}

struct hca_long_datagram *hca_ud_long_of(struct hca_fabric *f, const struct hca_qp *src)
{
	struct hca_long_datagram *l = &f->scratch->long_datagram;

	return src && l->src == src ? l : NULL;
}

struct hca_long_datagram *hca_ud_long_claim(struct hca_qp *src, const u8 *bytes)
{
	struct hca_long_datagram *l = hca_ud_long(src);

	if (l->src == src)
		return l;
	/* The datagram of a halted function begins again when DMA is on. */
	if (l->src && !hca_halted(l->src->hca))
		return NULL;
	l->src = src;
	l->dst = NULL;
	l->gathered = 0;
	memcpy(l->bytes, bytes, sizeof(l->bytes));
	return l;
}

bool hca_ud_long_blocks(const struct hca_qp *dst, const struct hca_qp *src)
{
	const struct hca_long_datagram *l = hca_ud_long(dst);

	return l->src && l->src != src && l->dst == dst;
}

void hca_ud_long_end(struct hca_qp *qp)
{
	struct hca_long_datagram *l = hca_ud_long(qp);

	if (l->src == qp)
		l->src = NULL;
}

void hca_ud_long_forget(struct hca_qp *qp)
{
	struct hca_long_datagram *l = hca_ud_long(qp);

	hca_ud_long_end(qp);
	if (l->dst == qp)
		l->dst = NULL;
}

enum hca_copy_err hca_ud_long_copy(struct hca_sgl *to, struct hca_sgl *from, u64 *len)
{
	struct hca_turn *turn = &to->user.hca->fabric->turn;
	u64 budget = turn->budget;
	enum hca_copy_err err;

	turn->budget = turn->units + HCA_DATAGRAM_UNITS;
	err = hca_copy_some(to, from, len);
	turn->budget = budget;
	return err;
}
