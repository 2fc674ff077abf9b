// SPDX-License-Identifier: GPL-2.0
/*
 * What is alive and what has been done: debugfs/xhca/engine, and
 * debugfs/xhca/N/objects for each function.  Numbers are read without stopping
 * the engine; at rest they are exact.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "xhca.h"

static int objects_show(struct seq_file *s, void *unused)
{
	const struct hca *hca = ((struct xhca_function *)s->private)->hca;
	const struct {
		const char *name;
		const struct hca_table *table;
	} kinds[] = {
		{ "uars", &hca->uars_by_index }, { "eqs", &hca->eqs }, { "cqs", &hca->cqs },
		{ "qps", &hca->qps }, { "srqs", &hca->srqs }, { "mkeys", &hca->mkeys },
		{ "pds", &hca->pds }, { "xrcds", &hca->xrcds }, { "tds", &hca->tds },
		{ "counters", &hca->counters },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		seq_printf(s, "%-9s %u\n", kinds[i].name, READ_ONCE(kinds[i].table->count));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

static int engine_show(struct seq_file *s, void *unused)
{
	const struct xhca_engine *e = &((struct xhca *)s->private)->engine;
	const struct {
		const char *name;
		const u64 *value;
	} stats[] = {
		{ "polls", &e->fabric.stat.polls }, { "wqes", &e->fabric.stat.wqes },
		{ "doorbells", &e->fabric.stat.doorbells }, { "bytes", &e->fabric.stat.bytes },
		{ "passes", &e->passes }, { "naps", &e->naps }, { "sleeps", &e->sleeps },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stats); i++)
		seq_printf(s, "%-9s %llu\n", stats[i].name, READ_ONCE(*stats[i].value));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(engine);

void xhca_debugfs_init(struct xhca *x)
{
	unsigned int i;
	char name[12];

	x->debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("engine", 0400, x->debugfs, x, &engine_fops);
	for (i = 0; i < x->nfunctions; i++) {
		snprintf(name, sizeof(name), "%u", i);
		debugfs_create_file("objects", 0400, debugfs_create_dir(name, x->debugfs),
				    &x->fn[i], &objects_fops);
	}
}

void xhca_debugfs_exit(struct xhca *x)
{
	debugfs_remove_recursive(x->debugfs);
}
