// SPDX-License-Identifier: GPL-2.0
/*
 * The command interface: initialization segment, command queue, mailboxes.
 *
 * The driver can write the segment at any time, and writes cause no trap.  So the fields that
 * it expects there (queue geometry, interface state) are restored after it has overwritten
 * them.  A doorbell says which slot is ready, but a later doorbell overwrites an earlier one;
 * so the ownership bits of all slots are read too, see hca_cmdif_read_doorbell().
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

enum {
	CMDIF_REV	= 5,
	NIC_STATE_SHIFT	= 8,
	NIC_FULL	= 0,
	NIC_DISABLED	= 1,
	NIC_SW_RESET	= 7,
	BLOCK_ALIGN	= 1024,
	OWNER_HW	= 1,
	TYPE_PCI	= 7,
	HEALTH_FW_ERR	= 1,	/* syndrome: firmware internal error */
};

/* As many slots as public kernel logs of adapters show (cmd[30]) */
enum {
	LOG_SLOTS	= 5,
	LOG_STRIDE	= 6,
	GEOMETRY	= LOG_SLOTS << 4 | LOG_STRIDE,
};

#define SLOTS		(1u << LOG_SLOTS)
#define NIC_STATE_MASK	(7u << NIC_STATE_SHIFT)
#define MAX_MAILBOX	(64u << 20)	/* bytes in one command */
#define KEEP_MAILBOX	(64u << 10)	/* kept from one command to the next */
#define HEALTH_NS	500000000ull
#define LOST_NS		50000000ull	/* longer than a driver is preempted */

/* Why a command could not be taken or answered; PRM delivery status */
enum delivery {
	DELIVERY_OK		= 0x00,
	DELIVERY_TOKEN		= 0x02,
	DELIVERY_BLOCK_NUMBER	= 0x03,
	DELIVERY_OUT_POINTER	= 0x04,
	DELIVERY_IN_POINTER	= 0x05,
	DELIVERY_FIRMWARE	= 0x06,
	DELIVERY_IN_LENGTH	= 0x07,
	DELIVERY_OUT_LENGTH	= 0x08,
	DELIVERY_DESCRIPTOR	= 0x10,
};

struct flat {
	u8 *data;
	u32 room;
};

struct hca_cmdif {
	struct mlx5_cmd_layout *slot;	/* NULL: the driver has set no queue */
	u32 ready;			/* slots whose doorbell has been rung */
	u32 silent;			/* slots that we own, without a doorbell */
	u32 stale;			/* slots that we owned when the driver set the queue */
	struct mlx5_cmd_layout old[1 << LOG_SLOTS];	/* their commands */
	u64 lost_at;			/* ns: then silent slots count as rung */
	u32 health;
	bool reset;			/* the function is to be reset */
	bool disable;			/* after the reset the driver must set the queue again */
	struct mlx5_cmd_layout *late;	/* a command that is answered after the reset, or NULL */
	u8 late_own;			/* and its answer */
	struct flat in, out;
};

static struct mlx5_init_seg *hca_cmdif_segment(const struct hca *hca)
{
	return hca->p.bar;
}

static void hca_cmdif_set_word(__be32 *reg, u32 value)
{
	WRITE_ONCE(*reg, cpu_to_be32(value));
}

static u32 hca_cmdif_get_word(const __be32 *word)
{
	return be32_to_cpu(READ_ONCE(*word));
}

static u32 hca_cmdif_get_register(const struct hca *hca, const __be32 *reg)
{
	hca->fabric->stat.loads++;
	return hca_cmdif_get_word(reg);
}

static void hca_cmdif_set_health(struct hca *hca, u8 syndrome)
{
	struct health_buffer *h = &hca_cmdif_segment(hca)->health;
	/* The dword before: its name differs between headers, and its top bit is rfr. */
	__be32 *rfr = (__be32 *)&h->irisc_index - 1;

	hca->stopped = (hca->stopped & ~HCA_FAILED) | (syndrome ? HCA_FAILED : 0);
	/* The driver resets the function if both are set. */
	WRITE_ONCE(*rfr, cpu_to_be32(syndrome ? 1u << 31 : 0));
	WRITE_ONCE(h->synd, syndrome);
}

int hca_cmd_init(struct hca *hca)
{
	struct mlx5_init_seg *seg = hca_cmdif_segment(hca);
	const struct hca_model *m = hca->p.model;

	hca->cmdif = kzalloc(sizeof(*hca->cmdif), GFP_KERNEL);
	if (!hca->cmdif)
		return -ENOMEM;
	hca_cmdif_set_word(&seg->fw_rev, m->fw_minor << 16 | m->fw_major);
	hca_cmdif_set_word(&seg->cmdif_rev_fw_sub, CMDIF_REV << 16 | m->fw_sub);
	hca_cmdif_set_word(&seg->cmd_dbell, 0);
	hca_cmdif_set_word(&seg->cmdq_addr_l_sz, GEOMETRY);
	hca_cmdif_set_word(&seg->initializing, 1u << MLX5_FW_RESET_SUPPORTED_OFFSET);
	return 0;
}

static void hca_cmdif_flat_free(struct flat *f)
{
	kvfree(f->data);
	f->data = NULL;
	f->room = 0;
}

void hca_cmd_free(struct hca *hca)
{
	if (!hca->cmdif)
		return;
	hca_cmdif_flat_free(&hca->cmdif->in);
	hca_cmdif_flat_free(&hca->cmdif->out);
	kfree(hca->cmdif);
	hca->cmdif = NULL;
}

static bool hca_cmdif_flat_reserve(struct flat *f, u32 bytes)
{
	if (bytes <= f->room)
		return true;
	hca_cmdif_flat_free(f);
	f->room = max(bytes, 4096u);
	f->data = kvmalloc(f->room, HCA_GFP);
	if (!f->data)
		f->room = 0;
	return f->data;
}

/* ---- Mailboxes -------------------------------------------------------------- */

/* The block at @addr of a chain of mailboxes, or NULL */
static struct mlx5_cmd_prot_block *hca_cmdif_block_at(struct hca *hca, u64 addr)
{
	if (!addr || addr & (BLOCK_ALIGN - 1))
		return NULL;
	return hca_dma(hca, addr, sizeof(struct mlx5_cmd_prot_block));
}

static u8 hca_cmdif_gather(struct hca *hca, const struct mlx5_cmd_layout *lay, u8 *data, u32 len)
{
	u64 addr = be64_to_cpu(lay->in_ptr);
	u32 at = sizeof(lay->in), number = 0, n;
	struct mlx5_cmd_prot_block *block;

	memcpy(data, lay->in, min_t(u32, len, sizeof(lay->in)));
	for (; at < len; at += n) {
		block = hca_cmdif_block_at(hca, addr);
		if (!block)
			return DELIVERY_IN_POINTER;
		if (block->token != lay->token)
			return DELIVERY_TOKEN;
		if (be32_to_cpu(block->block_num) != number++)
			return DELIVERY_BLOCK_NUMBER;
		n = min_t(u32, len - at, sizeof(block->data));
		memcpy(data + at, block->data, n);
		addr = be64_to_cpu(block->next);
	}
	return DELIVERY_OK;
}

/* Writes @data to the output mailboxes; NULL: only checks that they exist. */
static u8 hca_cmdif_scatter(struct hca *hca, struct mlx5_cmd_layout *lay, const u8 *data, u32 len)
{
	u64 addr = be64_to_cpu(lay->out_ptr);
	u32 at = sizeof(lay->out), n;
	struct mlx5_cmd_prot_block *block;

	if (data)
		memcpy(lay->out, data, min_t(u32, len, sizeof(lay->out)));
	for (; at < len; at += n) {
		block = hca_cmdif_block_at(hca, addr);
		if (!block)
			return DELIVERY_OUT_POINTER;
		n = min_t(u32, len - at, sizeof(block->data));
		if (data) {
			memcpy(block->data, data + at, n);
			block->token = lay->token;
		}
		addr = be64_to_cpu(block->next);
	}
	return DELIVERY_OK;
}

/* Status: 8 bits, syndrome: dword 1 */
static void hca_cmdif_answer(void *out, u32 outlen, u8 status, enum hca_synd synd)
{
	memset(out, 0, outlen);
	*(u8 *)out = status;
	((__be32 *)out)[1] = cpu_to_be32(synd);
}

/* Has a test requested that this command fails? */
static bool hca_cmdif_inject_failure(struct hca *hca, u16 opcode)
{
	if (hca->fail.opcode && hca->fail.opcode != opcode)
		return false;
	if (!hca->fail.left || --hca->fail.left)
		return false;
	if (hca->fail.more) {
		hca->fail.more--;
		hca->fail.left = 1;
	}
	return true;
}

static u8 hca_cmdif_deliver(struct hca *hca, struct mlx5_cmd_layout *lay)
{
	struct hca_cmdif *c = hca->cmdif;
	u32 inlen = hca_cmdif_get_word(&lay->inlen), outlen = hca_cmdif_get_word(&lay->outlen);
	u8 status;

	if (lay->type != TYPE_PCI)
		return DELIVERY_DESCRIPTOR;
	if (inlen < sizeof(lay->in) / 2 || inlen > MAX_MAILBOX)
		return DELIVERY_IN_LENGTH;
	if (outlen < sizeof(lay->out) / 2 || outlen > MAX_MAILBOX)
		return DELIVERY_OUT_LENGTH;
	if (!hca_cmdif_flat_reserve(&c->in, inlen) || !hca_cmdif_flat_reserve(&c->out, outlen))
		return DELIVERY_FIRMWARE;

	/* A command is executed only if it can be answered. */
	status = hca_cmdif_gather(hca, lay, c->in.data, inlen);
	if (!status)
		status = hca_cmdif_scatter(hca, lay, NULL, outlen);
	if (status)
		return status;
	if (hca_cmdif_inject_failure(hca, be16_to_cpu(*(const __be16 *)c->in.data)))
		hca_cmdif_answer(c->out.data, outlen, hca->fail.status, HCA_SYND_INJECTED);
	else
		hca_cmd_exec(hca, c->in.data, inlen, c->out.data, outlen);
	status = hca_cmdif_scatter(hca, lay, c->out.data, outlen);
	if (c->in.room > KEEP_MAILBOX)
		hca_cmdif_flat_free(&c->in);
	if (c->out.room > KEEP_MAILBOX)
		hca_cmdif_flat_free(&c->out);
	return status;
}

/* ---- Execution ---------------------------------------------------------------- */

static enum hca_synd hca_cmdif_check(struct hca *hca, const struct hca_opcode *op,
				     const struct hca_cmd *c)
{
	enum hca_synd synd;

	if (!op)
		return HCA_SYND_OPCODE;
	if (c->inlen < op->min_in)
		return HCA_SYND_INLEN;
	if (c->outlen < op->min_out)
		return HCA_SYND_OUTLEN;
	if (!(op->stages & HCA_STAGE(hca->stage)))
		return HCA_SYND_STAGE;
	synd = hca_devx_check(hca, op, c);
	if (synd)
		return synd;
	if (c->op_mod && !op->op_mods)
		return HCA_SYND_OPMOD;
	return HCA_OK;
}

/* The input begins with opcode, uid, reserved, op_mod: 16 bits each. */
void hca_cmd_exec(struct hca *hca, const void *in, u32 inlen, void *out, u32 outlen)
{
	const __be16 *head = in;
	struct hca_cmd c = {
		.in = in, .inlen = inlen, .out = out, .outlen = outlen,
		.opcode = be16_to_cpu(head[0]), .op_mod = be16_to_cpu(head[3]),
		.uid = be16_to_cpu(head[1]),
	};
	const struct hca_opcode *op = hca_opcode_find(c.opcode);
	enum hca_synd synd;

	memset(out, 0, outlen);
	synd = hca_cmdif_check(hca, op, &c);
	if (!synd)
		synd = op->fn(hca, &c);
	if (!synd)
		return;
	pr_debug("xhca: %s (0x%x): %s\n", op ? op->name : "?", c.opcode, hca_synd_text(synd));
	hca_cmdif_answer(out, outlen, hca_synd_status(synd), synd);
}

/* ---- Command queue ------------------------------------------------------------ */

static bool hca_cmdif_is_resetting(const struct hca *hca)
{
	return hca->stopped & HCA_RESETTING;
}

static void hca_cmdif_run_slot(struct hca *hca, unsigned int i)
{
	struct hca_cmdif *c = hca->cmdif;
	struct mlx5_cmd_layout *lay = &c->slot[i];
	u8 own = hca_cmdif_deliver(hca, lay) << 1;

	if (hca_cmdif_is_resetting(hca)) {
		c->late = lay;
		c->late_own = own;
		return;
	}
	/* Write the output before the ownership bit. */
	smp_store_release(&lay->status_own, own);
}

static u32 hca_cmdif_owned_slots(struct hca_cmdif *c)
{
	u32 owned = 0, i;

	for (i = 0; i < SLOTS; i++)
		if (READ_ONCE(c->slot[i].status_own) & OWNER_HW)
			owned |= 1u << i;
	/* Read the ownership bits before the commands. */
	smp_rmb();
	return owned;
}

static void hca_cmdif_find_stale(struct hca_cmdif *c)
{
	c->stale = hca_cmdif_owned_slots(c);
	memcpy(c->old, c->slot, sizeof(c->old));
}

/* A slot that the driver has filled again is not stale, even if its doorbell was lost. */
static u32 hca_cmdif_still_stale(const struct hca_cmdif *c)
{
	u32 stale = 0, i;

	for (i = 0; i < SLOTS; i++)
		if (c->stale & 1u << i && !memcmp(&c->old[i], &c->slot[i], sizeof(c->old[i])))
			stale |= 1u << i;
	return stale;
}

/*
 * Finds the slots whose doorbell has been rung.  For each command the driver fills a slot,
 * sets its ownership bit, prepares for the answer and rings the doorbell, in this order, and
 * then begins the next command.  So if any doorbell was rung, all slots that we owned before
 * have been rung too.  A slot without this evidence waits for LOST_NS, because its driver may
 * not be ready for the answer.
 *
 * When the driver sets its queue after a reset, a slot may still have a command that was posted
 * before the reset and never answered.  The driver has given it up, and its mailboxes may belong to
 * another command.  So it is not executed without a doorbell.
 */
static void hca_cmdif_read_doorbell(struct hca *hca)
{
	struct mlx5_init_seg *seg = hca_cmdif_segment(hca);
	struct hca_cmdif *c = hca->cmdif;
	u32 rung = hca_cmdif_get_register(hca, &seg->cmd_dbell), owned;
	u64 now = hca->fabric->now;

	if (rung) {
		hca_cmdif_set_word(&seg->cmd_dbell, 0);
		/* This may have cleared a new doorbell: read the ownership bits after it. */
		smp_mb();
		rung |= c->silent;
		c->lost_at = now + LOST_NS;
	} else if (c->silent && now >= c->lost_at) {
		rung = c->silent;
	} else {
		return;
	}
	owned = hca_cmdif_owned_slots(c);
	c->ready |= owned & rung;
	c->stale = hca_cmdif_still_stale(c) & owned & ~c->ready;
	c->silent = owned & ~c->ready & ~c->stale;
}

static void hca_cmdif_attach(struct hca *hca, u32 low)
{
	struct mlx5_init_seg *seg = hca_cmdif_segment(hca);
	u64 addr = (u64)hca_cmdif_get_register(hca, &seg->cmdq_addr_h) << 32;

	/*
	 * A driver that sets the queue again expects a function after reset.  The register stays
	 * as it is until then.
	 */
	if (hca->stage != HCA_OFF) {
		hca_reset_begin(hca);
		return;
	}
	hca->cmdif->slot = hca_dma(hca, addr | (low & ~(HCA_PAGE_SIZE - 1)),
				   SLOTS << LOG_STRIDE);
	hca->cmdif->ready = 0;
	hca->cmdif->silent = 0;
	hca->cmdif->stale = 0;
	if (hca->cmdif->slot)
		hca_cmdif_find_stale(hca->cmdif);
	hca_cmdif_set_word(&seg->cmdq_addr_l_sz, low | GEOMETRY);
}

static void hca_cmdif_reset(struct hca *hca)
{
	hca_reset_begin(hca);
	hca->cmdif->disable = true;
	hca->cmdif->slot = NULL;
	hca->cmdif->late = NULL;
}

/* A driver that no longer waits for the reset may have set its queue again. */
static void hca_cmdif_show_disabled(struct hca *hca)
{
	__be32 *reg = &hca_cmdif_segment(hca)->cmdq_addr_l_sz;
	u32 low = hca_cmdif_get_register(hca, reg);

	if (low & NIC_STATE_MASK || (low & 0xff) == GEOMETRY)
		hca_cmdif_set_word(reg, NIC_DISABLED << NIC_STATE_SHIFT | GEOMETRY);
}

/* Frees some objects; true if the function has been reset. */
static bool hca_cmdif_reset_some(struct hca *hca)
{
	struct hca_cmdif *c = hca->cmdif;

	if (!hca_reset_some(hca))
		return false;
	if (c->disable) {
		c->disable = false;
		hca_cmdif_set_word(&hca_cmdif_segment(hca)->cmd_dbell, 0);
		hca_cmdif_set_health(hca, 0);
		hca_cmdif_show_disabled(hca);
		/* A CPU that reads false sees all stores of the reset. */
		smp_store_release(&c->reset, false);
	}
	if (c->late && !hca_halted(hca)) {
		/* The driver sees the answer after all stores of the reset. */
		smp_store_release(&c->late->status_own, c->late_own);
	}
	c->late = NULL;
	return true;
}

void hca_firmware_fail(struct hca *hca)
{
	hca_cmdif_set_health(hca, HEALTH_FW_ERR);
}

void hca_function_reset(struct hca *hca)
{
	WRITE_ONCE(hca->cmdif->reset, true);
}

bool hca_function_in_reset(const struct hca *hca)
{
	/* Pairs with smp_store_release() in hca_cmdif_reset_some(). */
	return !READ_ONCE(hca->gone) && smp_load_acquire(&hca->cmdif->reset);
}

/* Has the driver written the queue's address or the interface state? */
static bool hca_cmdif_queue_written(const struct hca *hca, u32 low)
{
	u32 state = (low & NIC_STATE_MASK) >> NIC_STATE_SHIFT;

	if (state == NIC_FULL)
		return (low & 0xff) != GEOMETRY;
	return hca->cmdif->slot || state == NIC_SW_RESET;
}

static void hca_cmdif_read_queue_register(struct hca *hca)
{
	struct mlx5_init_seg *seg = hca_cmdif_segment(hca);
	u32 low = hca_cmdif_get_register(hca, &seg->cmdq_addr_l_sz);

	if (!hca_cmdif_queue_written(hca, low))
		return;
	if ((low & NIC_STATE_MASK) >> NIC_STATE_SHIFT == NIC_FULL)
		hca_cmdif_attach(hca, low);
	else
		hca_cmdif_reset(hca);
}

static void hca_cmdif_update_health(struct hca *hca)
{
	u64 now = hca->fabric->now;

	if (now < hca->health_due)
		return;
	hca->health_due = now + HEALTH_NS;
	hca->cmdif->health = (hca->cmdif->health + 1) & 0xffffff;
	hca_cmdif_set_word(&hca_cmdif_segment(hca)->health_counter, hca->cmdif->health);
}

bool hca_cmd_waits(const struct hca *hca)
{
	const struct mlx5_init_seg *seg = hca_cmdif_segment(hca);
	const struct hca_cmdif *c = hca->cmdif;
	u64 now = hca->fabric->now;

	if (hca->gone)
		return false;
	if (READ_ONCE(c->reset) || hca_cmdif_is_resetting(hca))
		return true;
	if (c->slot && !hca_halted(hca) &&
	    (c->ready || (c->silent && now >= c->lost_at) ||
	     hca_cmdif_get_register(hca, &seg->cmd_dbell)))
		return true;
	return now >= hca->health_due ||
	       hca_cmdif_queue_written(hca, hca_cmdif_get_register(hca, &seg->cmdq_addr_l_sz));
}

/* One command or a part of a reset in each call: doorbells are read between two of them. */
unsigned int hca_cmd_poll(struct hca *hca)
{
	struct hca_cmdif *c = hca->cmdif;
	struct hca_eq *eq;
	u32 i;

	if (hca->gone)
		return 0;
	hca_cmdif_update_health(hca);
	if (READ_ONCE(c->reset) && !c->disable)
		hca_cmdif_reset(hca);
	if (hca_cmdif_is_resetting(hca) && !hca_cmdif_reset_some(hca))
		return 1;
	hca_cmdif_read_queue_register(hca);
	if (hca_cmdif_is_resetting(hca))
		return 1;
	if (!c->slot || hca_halted(hca))
		return 0;
	hca_cmdif_read_doorbell(hca);
	if (!c->ready)
		return 0;
	i = ilog2(c->ready & -c->ready);
	c->ready &= ~(1u << i);
	/* The EQ that a command creates gets no event for that command. */
	eq = hca->async_eq[MLX5_EVENT_TYPE_CMD];
	hca_cmdif_run_slot(hca, i);
	if (eq && eq == hca->async_eq[MLX5_EVENT_TYPE_CMD])
		hca_event_cmd(hca, 1u << i);
	return 1;
}

#undef SLOTS
#undef NIC_STATE_MASK
#undef MAX_MAILBOX
#undef KEEP_MAILBOX
#undef HEALTH_NS
#undef LOST_NS
