// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <linux/mlx5/device.h>
#include "cmd/cmd.h"
#include "cmd_queue.h"

#define BOX_BYTES	1024u		/* and their alignment */
#define BOX_DATA	512u
#define BOXES_IN	2u
#define BOXES		12u
#define INLINE		16u		/* bytes of input and output in the slot */
#define SLOTS		32u
#define TOKEN		0x5a
#define MAILBOX_MAX	(64u << 20)

static u64 queue, boxes;

static void check(bool good, const char *what, const struct mlx5_cmd_layout *lay)
{
	if (good)
		return;
	fprintf(stderr, "command queue: %s; delivery status %#x\n", what, lay->status_own >> 1);
	abort();
}

void cmd_queue_attach(struct session *s)
{
	struct mlx5_init_seg *seg = s->hca[0]->p.bar;

	queue = session_alloc(s, HCA_PAGE_SIZE);
	boxes = session_alloc(s, BOXES * BOX_BYTES);
	seg->cmd_dbell = 0;
	seg->cmdq_addr_h = cpu_to_be32(queue >> 32);
	seg->cmdq_addr_l_sz = cpu_to_be32((u32)queue);
	hca_cmd_poll(s->hca[0]);
}

static struct mlx5_cmd_prot_block *box(struct session *s, u32 i)
{
	return session_ptr(s, boxes + i * BOX_BYTES);
}

/* ---- A valid command ------------------------------------------------- */

static u64 chain(struct session *s, u32 first, u32 bytes)
{
	u32 n = bytes > INLINE ? (bytes - INLINE + BOX_DATA - 1) / BOX_DATA : 0, i;

	for (i = 0; i < n; i++) {
		box(s, first + i)->next =
			cpu_to_be64(i + 1 < n ? boxes + (first + i + 1) * BOX_BYTES : 0);
		box(s, first + i)->block_num = cpu_to_be32(i);
		box(s, first + i)->token = TOKEN;
	}
	return n ? boxes + first * BOX_BYTES : 0;
}

static void fill(struct session *s, struct mlx5_cmd_layout *lay, const u8 *in, u32 inlen,
		 u32 outlen)
{
	u32 at, n, i = 0;

	memset(session_ptr(s, queue), 0, HCA_PAGE_SIZE);
	memset(session_ptr(s, boxes), 0, BOXES * BOX_BYTES);
	lay->type = 7;
	lay->token = TOKEN;
	lay->inlen = cpu_to_be32(inlen);
	lay->outlen = cpu_to_be32(outlen);
	lay->in_ptr = cpu_to_be64(chain(s, 0, inlen));
	lay->out_ptr = cpu_to_be64(chain(s, BOXES_IN, outlen));
	memcpy(lay->in, in, inlen < INLINE ? inlen : INLINE);
	for (at = INLINE; at < inlen; at += n) {
		n = inlen - at < BOX_DATA ? inlen - at : BOX_DATA;
		memcpy(box(s, i++)->data, in + at, n);
	}
}

/* ---- Wrong fields --------------------------------------------------------- */

static u64 flawed(const struct flaw *f)
{
	switch (f->kind % 5) {
	case 0:
		return f->value;
	case 1:
		return boxes + f->value % BOXES * BOX_BYTES;
	case 2:
		return boxes + f->value * 64;
	case 3:
		return (u64)f->value << 20;		/* too long, or not memory */
	default:
		return f->value & 1 ? queue : SESSION_DMA + SESSION_BYTES - BOX_BYTES / 2;
	}
}

static void damage(struct session *s, struct mlx5_cmd_layout *lay, const struct flaw *f)
{
	static const struct field {
		u8 offset, bytes;
	} slot[] = {
		{ offsetof(struct mlx5_cmd_layout, type), 1 },
		{ offsetof(struct mlx5_cmd_layout, inlen), 4 },
		{ offsetof(struct mlx5_cmd_layout, in_ptr), 8 },
		{ offsetof(struct mlx5_cmd_layout, out_ptr), 8 },
		{ offsetof(struct mlx5_cmd_layout, outlen), 4 },
		{ offsetof(struct mlx5_cmd_layout, token), 1 },
	};
	static const struct field block[] = {	/* after the data */
		{ offsetof(struct mlx5_cmd_prot_block, next) - BOX_DATA, 8 },
		{ offsetof(struct mlx5_cmd_prot_block, block_num) - BOX_DATA, 4 },
		{ offsetof(struct mlx5_cmd_prot_block, token) - BOX_DATA, 1 },
	};
	__be64 value = cpu_to_be64(flawed(f));
	u32 which = f->where % (1 + BOXES);
	u8 offset, bytes, *at;

	if (!which) {
		offset = slot[f->field % ARRAY_SIZE(slot)].offset;
		bytes = slot[f->field % ARRAY_SIZE(slot)].bytes;
		at = (u8 *)lay;
	} else {
		offset = block[f->field % ARRAY_SIZE(block)].offset;
		bytes = block[f->field % ARRAY_SIZE(block)].bytes;
		at = box(s, which - 1)->data + BOX_DATA;
	}
	memcpy(at + offset, (u8 *)&value + 8 - bytes, bytes);
}

/* ---- Delivery status ---------------------------------------------------------- */

static bool is_box(u64 addr)
{
	return addr >= SESSION_DMA && !(addr % BOX_BYTES) &&
	       addr - SESSION_DMA <= SESSION_BYTES - sizeof(struct mlx5_cmd_prot_block);
}

static u8 model_in(struct session *s, const struct mlx5_cmd_layout *lay, u32 bytes)
{
	u64 addr = be64_to_cpu(lay->in_ptr), i;
	struct mlx5_cmd_prot_block *b;

	for (i = 0; INLINE + i * BOX_DATA < bytes; i++, addr = be64_to_cpu(b->next)) {
		if (!is_box(addr))
			return 0x05;
		b = session_ptr(s, addr);
		if (b->token != lay->token)
			return 0x02;
		if (be32_to_cpu(b->block_num) != i)
			return 0x03;
	}
	return 0;
}

static u8 model_out(struct session *s, const struct mlx5_cmd_layout *lay, u32 bytes)
{
	u64 addr = be64_to_cpu(lay->out_ptr), i;

	for (i = 0; INLINE + i * BOX_DATA < bytes; i++) {
		if (!is_box(addr))
			return 0x04;
		addr = be64_to_cpu(((struct mlx5_cmd_prot_block *)session_ptr(s, addr))->next);
	}
	return 0;
}

static u8 model(struct session *s, const struct mlx5_cmd_layout *lay)
{
	u32 inlen = be32_to_cpu(lay->inlen), outlen = be32_to_cpu(lay->outlen);

	if (lay->type != 7)
		return 0x10;
	if (inlen < 8 || inlen > MAILBOX_MAX)
		return 0x07;
	if (outlen < 8 || outlen > MAILBOX_MAX)
		return 0x08;
	return model_in(s, lay, inlen) ?: model_out(s, lay, outlen);
}

/* Queue and mailboxes before a command */
struct before {
	u8 queue[HCA_PAGE_SIZE], boxes[BOXES * BOX_BYTES];
};

/* Nothing was executed: only owner and status of the slot have changed. */
static bool untouched(struct session *s, struct before *b, const struct mlx5_cmd_layout *lay)
{
	u8 *now = session_ptr(s, queue);
	long at = &lay->status_own - now;

	b->queue[at] = now[at];
	return !memcmp(b->queue, now, sizeof(b->queue)) &&
	       !memcmp(b->boxes, session_ptr(s, boxes), sizeof(b->boxes));
}

/* Checks the output, and that nothing is written after it, to the input or to the links. */
static bool read_answer(struct session *s, struct before *b, const struct mlx5_cmd_layout *lay,
			u8 *out, u32 outlen)
{
	u32 head = outlen < INLINE ? outlen : INLINE, at, n, i = BOXES_IN;
	u8 *slot = b->queue + ((u8 *)lay - (u8 *)session_ptr(s, queue));

	memcpy(out, lay->out, head);
	memcpy(slot + offsetof(struct mlx5_cmd_layout, out), out, head);
	for (at = head; at < outlen; at += n, i++) {
		n = outlen - at < BOX_DATA ? outlen - at : BOX_DATA;
		memcpy(out + at, box(s, i)->data, n);
		memcpy(b->boxes + i * BOX_BYTES, out + at, n);
	}
	return untouched(s, b, lay);
}

/* ---- Running it ------------------------------------------------------------------------- */

/* Runs passes until nothing is left to do: the end of a reset takes several. */
static void run(struct session *s)
{
	u32 i;

	for (i = 0; i < 1000 && hca_cmd_poll(s->hca[0]); i++)
		;
}

/* Rings its own doorbell, or twice that of the other slot, as if its own was overwritten. */
static void ring(struct session *s, struct mlx5_cmd_layout *lay, u32 slot, bool lost)
{
	struct mlx5_init_seg *seg = s->hca[0]->p.bar;
	u32 bit = lost ? slot ^ 1 : slot;

	lay->status_own = 1;
	seg->cmd_dbell = cpu_to_be32(1u << bit);
	run(s);
	if (lost) {
		check(lay->status_own & 1, "executed without a doorbell", lay);
		seg->cmd_dbell = cpu_to_be32(1u << bit);
		run(s);
	}
	check(!(lay->status_own & 1), "not executed", lay);
}

bool cmd_queue_exec(struct session *s, const void *in, u32 inlen, void *out, u32 outlen,
		    const struct flaw *flaws, unsigned int nflaws, u8 way)
{
	struct mlx5_cmd_layout *lay = session_ptr(s, queue);
	/* An EQ for command events may be anywhere in memory. */
	bool events = s->hca[0]->async_eq[MLX5_EVENT_TYPE_CMD];
	static struct before before;
	unsigned int i;
	u8 status;

	lay += way % SLOTS;
	fill(s, lay, in, inlen, outlen);
	for (i = 0; i < nflaws; i++)
		damage(s, lay, &flaws[i]);
	status = model(s, lay);
	memcpy(before.queue, session_ptr(s, queue), sizeof(before.queue));
	memcpy(before.boxes, session_ptr(s, boxes), sizeof(before.boxes));
	ring(s, lay, way % SLOTS, way & SLOTS);
	if (nflaws && !status)
		return false;
	check(lay->status_own >> 1 == status, "delivered otherwise", lay);
	if (events)
		return false;
	if (status)
		check(untouched(s, &before, lay), "bytes changed although not executed", lay);
	else
		check(read_answer(s, &before, lay, out, outlen), "bytes changed", lay);
	return !status;
}

void cmd_queue_register(struct session *s, u8 which, u32 value)
{
	struct mlx5_init_seg *seg = s->hca[0]->p.bar;
	__be32 *const regs[] = {
		&seg->cmdq_addr_l_sz, &seg->cmdq_addr_h, &seg->cmd_dbell, &seg->initializing,
		&seg->fw_rev, &seg->health_counter,
	};

	*regs[which % ARRAY_SIZE(regs)] = cpu_to_be32(value);
	seg->cmd_dbell |= cpu_to_be32(which >> 6);
	while (hca_cmd_waits(s->hca[0]) && hca_cmd_poll(s->hca[0]))
		;
}
