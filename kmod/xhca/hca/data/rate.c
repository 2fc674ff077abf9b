// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control: DCQCN (Zhu et al., SIGCOMM 2015) with the parameters of adapters.
 *
 * A switch marks packets when its queue is long.  The receiver of a marked packet, the notification
 * point (cnp.c), sends a CNP.  The sender, the reaction point, cuts the rate of the queue pair.
 * Steps, which are made by time and by bytes that were sent, raise it again: first half of the way
 * to the rate before the cut (the target), then the target rises, too.  A queue pair that has
 * reached the speed of the port has no limit any more.
 *
 * Nothing runs between packets: what the time has changed is calculated when it is needed.
 *
 * The parameters have the ranges and the meaning of those of adapters, but other initial values.
 * An adapter gets an answer after some microseconds, a host in software after tens of them, and
 * marks of that time must cut the rate only once.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/wire.h"

enum {
	ALPHA_SHIFT	= 20,		/* of the estimate */
	PARAM_SHIFT	= 10,		/* of parameters that are parts of 1024 */
	PORT_RATE	= 100000000,	/* kb/s */
	KBPS		= 1000,		/* of a rate that is a parameter */
	MEASURE_NS	= 200000,	/* the rate without a limit is measured for so long */
	IDLE_NS		= 2000000,	/* a queue pair with a longer pause has no rate */
	BURST_NS	= 50000,	/* what it allows may be sent at once after a pause */
	STEPS_AT_ONCE	= 64,		/* at once, for a pause */
};

static const u32 defaults[HCA_RATE_PARAMS] = {
	[HCA_RP_CLAMP_TARGET]		= 1,
	[HCA_RP_TIME_RESET]		= 100,
	[HCA_RP_BYTE_RESET]		= 1u << 20,
	[HCA_RP_THRESHOLD]		= 5,
	[HCA_RP_AI_RATE]		= 40,
	[HCA_RP_HAI_RATE]		= 200,
	[HCA_RP_MIN_DEC_FAC]		= 50,
	[HCA_RP_MIN_RATE]		= 10,
	[HCA_RP_G]			= 1020,
	[HCA_RP_RTT]			= 50,
	[HCA_RP_MONITOR_PERIOD]		= 100,
	[HCA_RP_INITIAL_ALPHA]		= 1023,
	[HCA_RP_GD]			= 11,
	[HCA_NP_MIN_TIME]		= 100,
	[HCA_NP_DSCP]			= 48,
	[HCA_NP_PRIO]			= 6,
};

void hca_congestion_reset(struct hca *hca)
{
	struct hca_congestion *c = &hca->congestion;

	memset(c, 0, sizeof(*c));
	memcpy(c->param, defaults, sizeof(defaults));
}

static u32 hca_rate_param(const struct hca_qp *qp, enum hca_rate_param i)
{
	return qp->hca->congestion.param[i];
}

static u64 hca_rate_param_ns(const struct hca_qp *qp, enum hca_rate_param i)
{
	return 1000ull * hca_rate_param(qp, i);
}

/* ---- The estimate of the congestion -------------------------------------------------- */

/* (part / 2^ALPHA_SHIFT)^n, of 2^ALPHA_SHIFT */
static u32 hca_rate_power(u32 part, u64 n)
{
	u64 result = 1u << ALPHA_SHIFT, factor = part;

	for (; n && result; n >>= 1) {
		if (n & 1)
			result = result * factor >> ALPHA_SHIFT;
		factor = factor * factor >> ALPHA_SHIFT;
	}
	return result;
}

/* Each period without a CNP makes it smaller. */
static void hca_rate_decay(const struct hca_qp *qp, struct hca_rate *r, u64 now)
{
	u64 period = hca_rate_param_ns(qp, HCA_RP_RTT), n = (now - r->alpha_time) / period;
	u32 g = hca_rate_param(qp, HCA_RP_G) << (ALPHA_SHIFT - PARAM_SHIFT);

	r->alpha = (u64)r->alpha * hca_rate_power(g, n) >> ALPHA_SHIFT;
	r->alpha_time += n * period;
}

static void hca_rate_raise_alpha(const struct hca_qp *qp, struct hca_rate *r)
{
	u32 g = hca_rate_param(qp, HCA_RP_G);

	r->alpha = ((u64)r->alpha * g >> PARAM_SHIFT) +
		   (((1u << PARAM_SHIFT) - g) << (ALPHA_SHIFT - PARAM_SHIFT));
}

/* ---- The rate rises ------------------------------------------------------------------- */

static u32 hca_rate_limit(const struct hca_qp *qp)
{
	u32 most = hca_rate_param(qp, HCA_RP_MAX_RATE);

	return most ? min_t(u64, (u64)most * KBPS, PORT_RATE) : PORT_RATE;
}

static u32 hca_rate_increase(const struct hca_qp *qp, const struct hca_rate *r)
{
	u32 threshold = hca_rate_param(qp, HCA_RP_THRESHOLD);

	if (min(r->time_steps, r->byte_steps) > threshold)
		return hca_rate_param(qp, HCA_RP_HAI_RATE);
	if (max(r->time_steps, r->byte_steps) > threshold)
		return hca_rate_param(qp, HCA_RP_AI_RATE);
	return 0;
}

static void hca_rate_step(const struct hca_qp *qp, struct hca_rate *r)
{
	u64 target = r->target + (u64)hca_rate_increase(qp, r) * KBPS;

	r->target = min_t(u64, target, hca_rate_limit(qp));
	r->limit += (r->target - r->limit + 1) / 2;
	if (r->limit >= PORT_RATE)
		r->limit = 0;
}

/* The steps that the time has made */
static void hca_rate_step_by_time(const struct hca_qp *qp, struct hca_rate *r, u64 now)
{
	u64 period = hca_rate_param_ns(qp, HCA_RP_TIME_RESET);
	u64 n = (now - r->step_time) / period;

	r->step_time += n * period;
	for (n = min_t(u64, n, STEPS_AT_ONCE); n && r->limit; n--) {
		r->time_steps++;
		hca_rate_step(qp, r);
	}
}

static void hca_rate_step_by_bytes(const struct hca_qp *qp, struct hca_rate *r, u32 bytes)
{
	r->bytes += bytes;
	if (r->bytes < hca_rate_param(qp, HCA_RP_BYTE_RESET))
		return;
	r->bytes = 0;
	r->byte_steps++;
	hca_rate_step(qp, r);
}

/* ---- Sending ------------------------------------------------------------------------- */

static u32 hca_rate_of(u64 bytes, u64 ns)
{
	return min_t(u64, bytes * 8 * 1000000 / ns, PORT_RATE);
}

/* Measures the rate of a queue pair without a limit, from which the first cut begins. */
static void hca_rate_measure(struct hca_rate *r, u32 bytes, u64 now)
{
	u64 ns = now - r->measured.since;

	r->measured.bytes += bytes;
	if (ns < MEASURE_NS)
		return;
	r->measured.rate = ns < IDLE_NS ? hca_rate_of(r->measured.bytes, ns) : 0;
	r->measured.since = now;
	r->measured.bytes = 0;
}

void hca_rate_sent(struct hca_qp *qp, u32 bytes)
{
	struct hca_rate *r = &qp->wire->rate;
	u64 now = qp->hca->fabric->now;

	if (!r->limit) {
		hca_rate_measure(r, bytes, now);
		return;
	}
	if (r->next + BURST_NS < now)
		r->next = now - BURST_NS;
	r->next += (u64)bytes * 8 * 1000000 / r->limit;
	hca_rate_step_by_bytes(qp, r, bytes);
}

bool hca_rate_allows(struct hca_qp *qp)
{
	struct hca_rate *r = &qp->wire->rate;
	struct hca_fabric *f = qp->hca->fabric;

	if (!r->limit)
		return true;
	hca_rate_step_by_time(qp, r, f->now);
	if (!r->limit || r->next <= f->now)
		return true;
	hca_timer_set(f, &r->timer, r->next);
	return false;
}

void hca_rate_timer(struct hca_timer *timer)
{
	struct hca_wire *x = container_of(timer, struct hca_wire, rate.timer);

	hca_share_add(x->qp);
}

void hca_rate_reset(struct hca_qp *qp)
{
	struct hca_rate *r = &qp->wire->rate;

	hca_timer_clear(qp->hca->fabric, &r->timer);
	r->limit = 0;
	r->measured.rate = 0;
}

/* ---- The reaction point: a CNP has come ------------------------------------------------- */

static void hca_rate_begin(const struct hca_qp *qp, struct hca_rate *r, u64 now)
{
	u64 first = (u64)hca_rate_param(qp, HCA_RP_FIRST_RATE) * KBPS;

	r->limit = hca_rate_limit(qp);
	if (r->measured.rate)
		r->limit = min(r->limit, r->measured.rate);
	if (first)
		r->limit = min_t(u64, r->limit, first);
	r->limit = max(r->limit, hca_rate_param(qp, HCA_RP_MIN_RATE) * KBPS);
	r->target = r->limit;
	r->alpha = hca_rate_param(qp, HCA_RP_INITIAL_ALPHA) << (ALPHA_SHIFT - PARAM_SHIFT);
	r->alpha_time = now;
	r->step_time = now;
	r->cut_time = 0;
	r->next = now;
}

/* A cut that follows another one at once leaves the target, which is the rate before both. */
static bool hca_rate_sets_target(const struct hca_qp *qp, const struct hca_rate *r)
{
	return hca_rate_param(qp, HCA_RP_CLAMP_TARGET) || r->byte_steps ||
	       (r->time_steps && hca_rate_param(qp, HCA_RP_CLAMP_TARGET_AFTER_TIME));
}

static void hca_rate_cut(const struct hca_qp *qp, struct hca_rate *r)
{
	u32 part = r->alpha >> (ALPHA_SHIFT - PARAM_SHIFT), less, least;

	if (hca_rate_sets_target(qp, r))
		r->target = r->limit;
	less = (u64)r->limit * part >> hca_rate_param(qp, HCA_RP_GD);
	least = (u64)r->limit * hca_rate_param(qp, HCA_RP_MIN_DEC_FAC) / 100;
	least = max(least, hca_rate_param(qp, HCA_RP_MIN_RATE) * KBPS);
	r->limit = min(r->limit, max(r->limit - less, least));
	r->target = max(r->target, r->limit);
	r->time_steps = r->byte_steps = 0;
	r->bytes = 0;
}

static void hca_rate_take_cnp(struct hca_qp *qp)
{
	struct hca_rate *r = &qp->wire->rate;
	u64 now = qp->hca->fabric->now;

	if (!r->limit)
		hca_rate_begin(qp, r, now);
	hca_rate_decay(qp, r, now);
	hca_rate_step_by_time(qp, r, now);
	if (r->limit && now - r->cut_time >= hca_rate_param_ns(qp, HCA_RP_MONITOR_PERIOD)) {
		hca_rate_raise_alpha(qp, r);
		hca_rate_cut(qp, r);
		r->cut_time = now;
		r->step_time = now;
	}
}

void hca_congestion_take_cnp(struct hca *hca, struct hca_qp *qp)
{
	if (!qp) {
		hca->congestion.cnps_ignored++;
		return;
	}
	hca->congestion.cnps_handled++;
	hca_rate_take_cnp(qp);
}

/* ---- Marks ------------------------------------------------------------------------------ */

/* A CNP does not name the session of a DC target, whose answers therefore have no limit. */
u8 hca_congestion_ecn(const struct hca_qp *qp)
{
	return qp->session_of ? 0 : HCA_ECN_CAPABLE;
}
