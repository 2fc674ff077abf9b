/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Masked atomic requests of all sizes, written from the format.
 */
#ifndef MASKED_H
#define MASKED_H

#include <string.h>
#include <asm/byteorder.h>
#include "random.h"
#include "session.h"

#define MASKED_ARGS	512u		/* bytes; longer ones do not fit into a request */

struct masked {
	bool add;			/* else compare and swap */
	u32 bytes;			/* of the operand */
	u64 addr;
	u32 key, srqn;			/* srqn: of XRC */
	struct xv_sge into;
	u8 args[MASKED_ARGS];
};

static inline u8 masked_opcode(const struct masked *m)
{
	return m->add ? MLX5R_OP_ATOMIC_MASKED_FA : MLX5R_OP_ATOMIC_MASKED_CS;
}

static inline u32 masked_arg_bytes(const struct masked *m)
{
	return (m->add ? 2 : 4) * m->bytes;
}

static inline u8 *masked_put(u8 *at, const void *from, u32 bytes)
{
	memcpy(at, from, bytes);
	return at + (bytes + 15) / 16 * 16;
}

/* Builds the request; the caller commits. */
static inline int masked_post(struct xv_qp *qp, u64 wr_id, bool xrc, const struct masked *m)
{
	struct mlx5r_raddr raddr = {
		.addr = cpu_to_be64(m->addr), .rkey = cpu_to_be32(m->key),
	};
	struct mlx5r_xrc peer = { .srqn = cpu_to_be32(m->srqn) };
	struct mlx5r_data data = {
		cpu_to_be32(m->into.length), cpu_to_be32(m->into.lkey), cpu_to_be64(m->into.addr),
	};
	union {
		struct mlx5r_ctrl ctrl;
		u8 raw[MLX5R_MAX_WQEBB * MLX5R_WQEBB];
	} w = {};
	u8 *end = w.raw + sizeof(w.ctrl), log = __builtin_ctz(m->bytes) - 2;

	if (xrc)
		end = masked_put(end, &peer, sizeof(peer));
	end = masked_put(end, &raddr, sizeof(raddr));
	end = masked_put(end, m->args, masked_arg_bytes(m));
	end = masked_put(end, &data, sizeof(data));
	w.ctrl.opmod_idx_opcode = cpu_to_be32((u32)(8 | log) << 24 | masked_opcode(m));
	w.ctrl.qpn_ds = cpu_to_be32((end - w.raw) / MLX5R_DS);
	w.ctrl.fm_ce_se = MLX5R_CE_ALWAYS;
	return xv_wr_raw(qp, wr_id, &w);
}

/*
 * Random arguments for the operand at @mem.  Most comparisons are with what is there, so that the
 * operand changes.
 */
static inline void masked_fill(struct masked *m, const u8 *mem)
{
	const u32 word = m->bytes == 4 ? 4 : 8;
	u32 i;

	for (i = 0; i < sizeof(m->args); i++)
		m->args[i] = random64() >> 20;
	for (i = 0; !m->add && random64() % 4 && i < m->bytes; i++)
		m->args[m->bytes + i] = mem[i / word * word + word - 1 - i % word];
}

#endif
