// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is publicly known of the codes of firmware and hardware (mlx5_codes.h).
 */
#include <rdma/mlx5_codes.h>
#include "internal.h"

#define SYNDROME(_code, _where, _status, _cause, _check, _source) \
	{ .code = _code, .status = _status, .where = _where, .cause = _cause, .check = _check, \
	  .source = _source },
#define VENDOR(_code, _status, _cause, _check, _source) \
	{ .code = _code, .status = _status, .where = "completion", .cause = _cause, \
	  .check = _check, .source = _source },

static const struct xv_explanation syndromes[] = { MLX5_SYNDROMES(SYNDROME) };
static const struct xv_explanation vendor_codes[] = { MLX5_VENDOR_CODES(VENDOR) };

static const struct {
	const struct xv_explanation *list;
	size_t n;
} tables[] = {
	[XV_CODE_SYNDROME] = { syndromes, ARRAY_SIZE(syndromes) },
	[XV_CODE_VENDOR_ERR] = { vendor_codes, ARRAY_SIZE(vendor_codes) },
};

XV_EXPORT const struct xv_explanation *xv_explain(enum xv_code kind, uint32_t code,
						  const struct xv_explanation *after)
{
	const struct xv_explanation *e, *end;

	if (kind >= ARRAY_SIZE(tables))
		return NULL;
	end = tables[kind].list + tables[kind].n;
	for (e = after ? after + 1 : tables[kind].list; e < end; e++)
		if (e->code == code)
			return e;
	return NULL;
}

XV_EXPORT const char *xv_vendor_err_str(uint32_t vendor_err)
{
	const struct xv_explanation *e = xv_explain(XV_CODE_VENDOR_ERR, vendor_err, NULL);

	return e ? e->cause : "unknown";
}
