// SPDX-License-Identifier: GPL-2.0
/*
 * The fabrics: each has functions, an engine and CPUs of its own.  The functions of a fabric reach
 * each other as those of one host do; two fabrics are like two hosts, which only a wire connects
 * (uplink.c).
 *
 * The default fabric has no name and exists while the module is loaded.  Another one exists while a
 * function that names it is plugged in.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "xhca.h"
#include "compat.h"

static const struct cpumask *cpus_of(const struct xhca_fabric *f)
{
	return &f->engine.allowed;
}

/* @cpus: those that the user has chosen, or none */
static struct xhca_fabric *create(struct xhca *x, const char *name, const struct cpumask *cpus)
{
	struct xhca_fabric *f = kvzalloc(sizeof(*f), GFP_KERNEL);
	int err;

	if (!f)
		return ERR_PTR(-ENOMEM);
	strscpy(f->name, name, sizeof(f->name));
	cpumask_copy(&f->cpus, cpus);
	err = xhca_engine_init(&f->engine, name, cpumask_empty(cpus) ? &x->fabrics.cpus : cpus);
	if (err) {
		kvfree(f);
		return ERR_PTR(err);
	}
	xhca_debugfs_add_fabric(x, f);
	mutex_lock(&x->fabrics.lock);
	list_add_tail(&f->entry, &x->fabrics.list);
	mutex_unlock(&x->fabrics.lock);
	return f;
}

static void destroy(struct xhca *x, struct xhca_fabric *f)
{
	mutex_lock(&x->fabrics.lock);
	list_del(&f->entry);
	mutex_unlock(&x->fabrics.lock);
	xhca_debugfs_del_fabric(f);
	xhca_engine_exit(&f->engine);
	kvfree(f);
}

/* Called with xhca.lock, so the list does not change. */
static struct xhca_fabric *find(struct xhca *x, const char *name)
{
	struct xhca_fabric *f;

	list_for_each_entry(f, &x->fabrics.list, entry)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

bool xhca_is_name(const char *name)
{
	if (!isalnum(*name))
		return false;
	while (isalnum(*name) || *name == '_' || *name == '-' || *name == '.')
		name++;
	return !*name;
}

bool xhca_fabric_is_name(const char *name)
{
	return strlen(name) < XHCA_FABRIC_NAME && xhca_is_name(name);
}

int xhca_parse_cpus(const char *list, struct cpumask *cpus)
{
	if (!cpulist_parse(list, cpus))
		return 0;
	pr_err("cpus=%s: must be a list of CPUs, for example 0-3,8\n", list);
	return -EINVAL;
}

static int check_cpus(const struct xhca_function *fn, const struct xhca_fabric *f)
{
	if (cpumask_empty(&fn->cpus) || cpumask_equal(&fn->cpus, cpus_of(f)))
		return 0;
	pr_err("cpus=%*pbl: fabric \"%s\" runs on the CPUs %*pbl\n", cpumask_pr_args(&fn->cpus),
	       f->name, cpumask_pr_args(cpus_of(f)));
	return -EBUSY;
}

int xhca_fabric_join(struct xhca_function *fn)
{
	struct xhca_fabric *f = find(fn->xhca, fn->fabric_name);
	int err;

	if (!f)
		f = create(fn->xhca, fn->fabric_name, &fn->cpus);
	if (IS_ERR(f))
		return PTR_ERR(f);
	err = check_cpus(fn, f);
	if (err)
		return err;
	cpumask_copy(&fn->cpus, &f->cpus);
	f->users++;
	fn->fabric = f;
	return 0;
}

static void put(struct xhca *x, struct xhca_fabric *f)
{
	if (!--f->users)
		destroy(x, f);
}

void xhca_fabric_leave(struct xhca_function *fn)
{
	put(fn->xhca, fn->fabric);
	fn->fabric = NULL;
}

void xhca_fabrics_wait(struct xhca *x)
{
	struct xhca_fabric *f;

	mutex_lock(&x->fabrics.lock);
	list_for_each_entry(f, &x->fabrics.list, entry)
		xhca_engine_wait(&f->engine);
	mutex_unlock(&x->fabrics.lock);
}

/* ---- The default fabric --------------------------------------------------------------- */

/* Its CPUs: those of @list; empty: all that are not isolated */
static int choose_cpus(struct xhca *x, const char *list)
{
	int err = xhca_parse_cpus(list, &x->fabrics.cpus);

	if (!err && cpumask_empty(&x->fabrics.cpus))
		cpumask_and(&x->fabrics.cpus, housekeeping_cpumask(HK_TYPE_DOMAIN),
			    housekeeping_cpumask(HK_TYPE_TICK));
	return err;
}

int xhca_fabrics_init(struct xhca *x, const char *cpus)
{
	struct xhca_fabric *f;
	int err = choose_cpus(x, cpus);

	if (!err)
		err = xhca_engines_init();
	if (err)
		return err;
	mutex_init(&x->fabrics.lock);
	INIT_LIST_HEAD(&x->fabrics.list);
	f = create(x, "", cpu_none_mask);
	if (IS_ERR(f)) {
		xhca_engines_exit();
		return PTR_ERR(f);
	}
	f->users = 1;
	return 0;
}

/* No function is left. */
void xhca_fabrics_exit(struct xhca *x)
{
	put(x, find(x, ""));
	xhca_engines_exit();
}
