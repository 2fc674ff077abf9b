// SPDX-License-Identifier: GPL-2.0
/*
 * The differences between libmlx5 and libxverbs-ibverbs that stay, with the reason.  xv_run(1)
 * names them.
 */
#include <fnmatch.h>
#include <string.h>
#include "compare.h"

static const struct {
	const char *calls;	/* a pattern */
	const char *why;
} stays[] = {
	{ "region ibv_reg_mr * access 0x41", "on-demand paging: EOPNOTSUPP on each device" },
	{ "region ibv_rereg_mr access 64", "the same" },
	{ "cq ibv_create_cq_ex cqe ~0", "libmlx5 creates a queue without entries" },
	{ "cq ibv_create_cq_ex wc_flags bit 9", "flow tags are not supported" },
	{ "cq ibv_create_cq_ex wc_flags bit 10", "tag matching is not supported" },
	{ "cq ibv_create_cq_ex wc_flags bit 11", "wall clock times are not supported" },
	{ "cq ibv_resize_cq empty 16777216", "more than any CQ has: EINVAL, not ENOMEM" },
	{ "srq ibv_query_srq max_wr", "libmlx5 reports entries that it keeps for itself" },
	{ "srq ibv_modify_srq wr 0 limit 16 mask 2", "the same: a limit above max_wr" },
	{ "xrcd ibv_open_xrcd comp_mask ?", "libmlx5 sets no errno" },
	{ "xrcd ibv_open_qp no *", "libmlx5 sets no errno" },
	{ "xrcd ibv_open_qp comp_mask 32", "the same" },
	{ "qp ibv_create_qp type 255 of this type", "libmlx5 sets no errno" },
	{ "qp ibv_create_qp type [234] caps 1 ? 0 0 0", "libmlx5 reports -4 bytes of inline data" },
	{ "qp ibv_create_qp type [234] caps * 4294967295", "libmlx5 takes it for no inline data" },
	{ "qp ibv_create_qp_ex type 2 comp_mask *", "libmlx5 sets no errno" },
	{ "qp ibv_create_qp_ex type 2 TSO header", "libmlx5 sets no errno" },
	{ "qp ibv_create_qp_ex type 4 flags bit 1", "BLOCK_SELF_MCAST_LB is not supported" },
	{ "state ibv_modify_qp type * 3 to SQD", "mlx5_ib does not have the state SQD" },
	{ "value ibv_modify_qp 4 en_sqd_async_notify 1", "the same" },
	{ "event ibv_modify_qp to SQD with an event", "the same" },
	{ "address ibv_create_ah port_num 0", "libmlx5 sets no errno" },
	{ "address ibv_create_ah port_num [!01]*", "the same" },
	{ "address ibv_create_ah port_num 1?*", "the same" },
	{ "post ibv_post_send type ? opcode [13]", "libmlx5 says WITH_IMM of sends, too" },
	{ "post ibv_post_send type 2 opcode 11", "not for this type: EINVAL, not a failure" },
	{ "post ibv_post_send type 4 opcode [01456789]", "the same" },
	{ "post ibv_post_send type 4 opcode 11", "the same" },
	{ "post ibv_post_send type ? in ERR after INIT", "sends are flushed in each error state" },
};

/* libmlx5 refuses wall clock times if the clock page changes in each of its ten attempts. */
static const char varies[] = "cq ibv_create_cq_ex wc_flags bit 11";

enum difference differs(const char *call)
{
	unsigned int i;

	for (i = 0; i < sizeof(stays) / sizeof(*stays); i++)
		if (!fnmatch(stays[i].calls, call, 0))
			return strcmp(call, varies) ? DIFFERS : DIFFERS_SOMETIMES;
	return SAME;
}
