// SPDX-License-Identifier: GPL-2.0
/*
 * The local fabric, which connects all functions of the host: creates and frees it and its
 * functions.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "data/copy_bytes.h"
#include "data/wire.h"
#include "pass.h"
#include "sa/sa.h"

int hca_fabric_init(struct hca_fabric *f)
{
	memset(f, 0, sizeof(*f));
	INIT_LIST_HEAD(&f->functions.list);
	INIT_LIST_HEAD(&f->functions.by_serial);
	hca_round_init(&f->doorbell.uars);
	hca_round_init(&f->doorbell.hot);
	hca_round_init(&f->sweep.active);
	hca_round_init(&f->sweep.uars);
	INIT_LIST_HEAD(&f->fail.dependents);
	INIT_LIST_HEAD(&f->fail.qps);
	INIT_LIST_HEAD(&f->cqs_to_arm);
	INIT_LIST_HEAD(&f->wait.waking);
	INIT_LIST_HEAD(&f->wire_due);
	f->now = ktime_get_ns();
	f->scratch = kzalloc(sizeof(*f->scratch), GFP_KERNEL);
	if (!f->scratch || hca_sa_init(f)) {
		kfree(f->scratch);
		return -ENOMEM;
	}
	hca_copy_calibrate();
	return 0;
}

void hca_fabric_exit(struct hca_fabric *f)
{
	hca_heap_free(&f->run.queue);
	hca_heap_free(&f->timers);
	hca_heap_free(&f->flushing);
	hca_sa_free(f);
	kfree(f->scratch);
}

struct hca_fabric *hca_fabric_create(void)
{
	struct hca_fabric *f = kvzalloc(sizeof(*f), GFP_KERNEL);

	if (f && hca_fabric_init(f)) {
		kvfree(f);
		f = NULL;
	}
	return f;
}

void hca_fabric_free(struct hca_fabric *f)
{
	hca_fabric_exit(f);
	kvfree(f);
}

/* ---- A function ------------------------------------------------------------------------ */

static void hca_free(struct hca *hca)
{
	hca_cmd_free(hca);
	hca_exit(hca);
	kvfree(hca);
}

struct hca *hca_create(struct hca_fabric *f, const struct hca_params *p,
		       const struct hca_ops *ops, void *ctx)
{
	struct hca *hca = kvzalloc(sizeof(*hca), GFP_KERNEL);

	if (!hca)
		return NULL;
	hca->fabric = f;
	hca->ops = ops;
	hca->ctx = ctx;
	hca->p = *p;
	hca->p.wired |= p->roce && f->functions.packets;
	if (hca_init(hca) || hca_cmd_init(hca) || hca_heap_join(&f->run.queue)) {
		hca_free(hca);
		return NULL;
	}
	if (!hca_wire_init(hca)) {
		hca_heap_leave(&f->run.queue, &hca->share.place);
		hca_free(hca);
		return NULL;
	}
	if (!hca_wire_gate_init(hca) || !hca_wire_dct_init(hca)) {
		hca_heap_leave(&f->run.queue, &hca->share.place);
		hca_wire_exit(hca);
		hca_wire_gate_exit(hca);
		hca_free(hca);
		return NULL;
	}
	hca->serial = ++f->functions.last_serial;
	list_add_tail(&hca->entry, &f->functions.list);
	list_add_tail(&hca->serial_entry, &f->functions.by_serial);
	f->functions.n++;
	hca_route_changed(f);
	return hca;
}

void hca_destroy(struct hca *hca)
{
	struct hca_fabric *f = hca->fabric;

	hca_reset(hca);
	hca_use_packets(hca, false);
	hca_heap_leave(&f->run.queue, &hca->share.place);
	hca_wire_exit(hca);
	hca_wire_gate_exit(hca);
	hca_wire_dct_exit(hca);
	list_del(&hca->entry);
	list_del(&hca->serial_entry);
	f->functions.n--;
	hca_route_changed(f);
	hca_free(hca);
}

/* ---- What the engine asks ---------------------------------------------------------------- */

u64 hca_fabric_time(struct hca_fabric *f)
{
	hca_clock_read(f);
	return f->now;
}

u64 hca_fabric_now(const struct hca_fabric *f)
{
	return f->now;
}

u64 hca_fabric_last_pass(const struct hca_fabric *f)
{
	return f->doorbell.last_pass;
}

bool hca_fabric_has_work(const struct hca_fabric *f)
{
	return f->pass.left;
}

const struct hca_stat *hca_fabric_stat(const struct hca_fabric *f)
{
	return &f->stat;
}

bool hca_fabric_must_sleep(const struct hca_fabric *f)
{
	return f->pass.must_sleep;
}

/* Ignores the timers of QPs in ERR: a flush need not wake the engine. */
u64 hca_fabric_deadline(struct hca_fabric *f)
{
	struct hca_heap_entry *first = hca_heap_first(&f->timers);

	return first ? first->key : U64_MAX;
}

bool hca_fabric_rung(struct hca_fabric *f)
{
	return hca_doorbell_rung(f);
}
