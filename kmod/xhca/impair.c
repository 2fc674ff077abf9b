// SPDX-License-Identifier: GPL-2.0
/*
 * Impairments of the RoCE frames that a function sends, for tests of programs, as tc-netem(8) has
 * them: frames are lost, doubled, damaged, late, too early (before those that are late), and marked
 * as a congested switch marks them.
 *
 * Late frames wait in a queue of the function.  They belong to its socket, as all unsent frames do,
 * so their memory is bounded (frames.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/string.h>
#include <net/inet_ecn.h>

#include "xhca.h"
#include "compat.h"

enum { PER_MILLION = 1000000 };

#define MAX_DELAY_NS	(1 * NSEC_PER_SEC)

static const struct {
	const char *name;
	size_t at;
	u32 max;
} kinds[] = {
#define KIND(member, max) { #member, offsetof(struct xhca_impairments, member), max }
	KIND(loss, PER_MILLION),
	KIND(duplicate, PER_MILLION),
	KIND(corrupt, PER_MILLION),
	KIND(reorder, PER_MILLION),
	KIND(mark, PER_MILLION),
	KIND(delay, MAX_DELAY_NS),
	KIND(jitter, MAX_DELAY_NS),
#undef KIND
};

/* ---- Settings --------------------------------------------------------------------------- */

static u32 *value_of(struct xhca_impairments *i, unsigned int kind)
{
	return (void *)i + kinds[kind].at;
}

static int set_kind(struct xhca_impairments *i, const char *name, const char *number)
{
	unsigned int kind;
	u32 value;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++)
		if (!strcmp(kinds[kind].name, name))
			break;
	if (kind == ARRAY_SIZE(kinds)) {
		pr_err("impair: there is no \"%s\"\n", name);
		return -EINVAL;
	}
	if (!number || kstrtou32(number, 10, &value) || value > kinds[kind].max) {
		pr_err("impair: %s must be a number up to %u\n", name, kinds[kind].max);
		return -EINVAL;
	}
	*value_of(i, kind) = value;
	return 0;
}

static int check(const struct xhca_impairments *i)
{
	if (i->jitter > i->delay) {
		pr_err("impair: jitter must be at most the delay\n");
		return -EINVAL;
	}
	if (i->reorder && !i->delay) {
		pr_err("impair: reorder needs a delay\n");
		return -EINVAL;
	}
	return 0;
}

int xhca_impair_parse(const char *text, struct xhca_impairments *i)
{
	char *copy = kstrdup(text, GFP_KERNEL), *rest = copy, *name;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	memset(i, 0, sizeof(*i));
	while (!err && (name = strsep(&rest, " ")))
		if (*name)
			err = set_kind(i, name, strsep(&rest, " "));
	kfree(copy);
	return err ?: check(i);
}

int xhca_impair_print(const struct xhca_impairments *i, char *text, size_t size)
{
	struct xhca_impairments copy = *i;
	unsigned int kind;
	int len = 0;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++)
		len += scnprintf(text + len, size - len, "%s%s %u", kind ? " " : "",
				 kinds[kind].name, *value_of(&copy, kind));
	return len + scnprintf(text + len, size - len, "\n");
}

bool xhca_impair_is_any(const struct xhca_impairments *i)
{
	return memchr_inv(i, 0, sizeof(*i));
}

/* ---- Frames ----------------------------------------------------------------------------- */

static u32 random_below(u32 limit)
{
	return (u64)get_random_u32() * limit >> 32;
}

static bool happens(u32 per_million)
{
	return per_million && random_below(PER_MILLION) < per_million;
}

/* Changes a bit after the Ethernet header. */
static void corrupt(struct sk_buff *skb)
{
	u32 bit = random_below((skb->len - ETH_HLEN) * 8);

	skb->data[ETH_HLEN + bit / 8] ^= 1 << bit % 8;
}

/* A copy of the frame may be with a packet socket.  NULL: no memory, the frame is lost */
static struct sk_buff *change(struct xhca_impair *i, struct sk_buff *skb)
{
	bool damage = happens(i->settings.corrupt), mark = happens(i->settings.mark);

	if (!damage && !mark)
		return skb;
	skb = skb_unshare(skb, GFP_ATOMIC);
	if (!skb)
		return NULL;
	if (mark && INET_ECN_set_ce(skb))
		atomic_long_inc(&i->marked);
	if (damage) {
		corrupt(skb);
		atomic_long_inc(&i->corrupted);
	}
	return skb;
}

static u64 due_time(struct xhca_impair *i)
{
	u64 delay = i->settings.delay;

	if (happens(i->settings.reorder)) {
		atomic_long_inc(&i->reordered);
		delay = 0;
	} else if (i->settings.jitter) {
		delay += random_below(2 * i->settings.jitter) - (u64)i->settings.jitter;
	}
	return ktime_get_ns() + delay;
}

static void wait(struct xhca_impair *i, struct sk_buff *skb, u64 due)
{
	struct sk_buff *before;

	skb->tstamp = ns_to_ktime(due);
	spin_lock(&i->waiting.lock);
	skb_queue_reverse_walk(&i->waiting, before)
		if (ktime_to_ns(before->tstamp) <= due)
			break;
	__skb_queue_after(&i->waiting, before, skb);
	if (skb_peek(&i->waiting) == skb)
		hrtimer_start(&i->timer, skb->tstamp, HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&i->waiting.lock);
}

static void send_one(struct xhca_function *fn, struct sk_buff *skb)
{
	struct xhca_impair *i = &fn->impair;
	u64 due;

	skb = change(i, skb);
	if (!skb)
		return;
	due = i->settings.delay ? due_time(i) : 0;
	if (due)
		wait(i, skb, due);
	else
		i->transmit(fn, skb);
}

void xhca_impair_send(struct xhca_function *fn, struct sk_buff *skb)
{
	struct xhca_impair *i = &fn->impair;
	struct sk_buff *copy;

	if (happens(i->settings.duplicate)) {
		copy = skb_clone(skb, GFP_ATOMIC);
		if (copy) {
			atomic_long_inc(&i->duplicated);
			skb_set_owner_w(copy, fn->frames.socket->sk);
			send_one(fn, copy);
		}
	}
	if (happens(i->settings.loss)) {
		atomic_long_inc(&i->lost);
		kfree_skb(skb);
		return;
	}
	send_one(fn, skb);
}

/* The first frame if its time has come; else the timer waits for it. */
static struct sk_buff *next_due(struct xhca_impair *i)
{
	struct sk_buff *skb;

	spin_lock(&i->waiting.lock);
	skb = skb_peek(&i->waiting);
	if (skb && ktime_to_ns(skb->tstamp) > ktime_get_ns()) {
		hrtimer_start(&i->timer, skb->tstamp, HRTIMER_MODE_ABS_SOFT);
		skb = NULL;
	}
	if (skb)
		__skb_unlink(skb, &i->waiting);
	spin_unlock(&i->waiting.lock);
	return skb;
}

static enum hrtimer_restart send_due(struct hrtimer *timer)
{
	struct xhca_impair *i = container_of(timer, struct xhca_impair, timer);
	struct xhca_function *fn = container_of(i, struct xhca_function, impair);
	struct sk_buff *skb;

	rcu_read_lock_bh();
	while ((skb = next_due(i))) {
		skb->tstamp = 0;
		i->transmit(fn, skb);
	}
	rcu_read_unlock_bh();
	return HRTIMER_NORESTART;
}

void xhca_impair_init(struct xhca_function *fn,
		      void (*transmit)(struct xhca_function *fn, struct sk_buff *skb))
{
	memset(&fn->impair, 0, sizeof(fn->impair));
	fn->impair.transmit = transmit;
	skb_queue_head_init(&fn->impair.waiting);
	xhca_hrtimer_setup(&fn->impair.timer, send_due, HRTIMER_MODE_ABS_SOFT);
}

void xhca_impair_exit(struct xhca_function *fn)
{
	hrtimer_cancel(&fn->impair.timer);
	skb_queue_purge(&fn->impair.waiting);
}
