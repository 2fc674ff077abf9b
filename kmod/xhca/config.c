// SPDX-License-Identifier: GPL-2.0
/*
 * configfs/xhca: functions that are added and removed while the module is loaded.
 *
 * mkdir takes a slot of the bus for a function, which is not enabled yet.  Its files:
 *
 *	link	"roce" or "ib"
 *	model	generation of adapters: "cx5", "cx6dx", "cx7", or "all" for all that xhca can do
 *	mac	address of a RoCE port; the GUIDs of the function derive from it
 *	ports	number of ports, 2 only with link "ib"
 *	uplink	interface of the host to which a RoCE port is connected, by its name in the
 *		namespace of the process that writes to enable; it may appear later.  Empty: none
 *	shared	1: the port has the addresses of its uplink; 0: addresses of its own
 *	least_timeout	1: RC queue pairs wait 0.5 seconds or longer for an acknowledgement, as
 *			those of adapters do; 0: as long as the program says
 *	strict	1: the adapter executes nothing without a doorbell (hca/data/strict.c), as adapters
 *		do; 0: it also finds requests whose doorbell was forgotten
 *	fabric	name of the fabric that it is in; empty: the default fabric
 *	cpus	list of CPUs that execute the fabric; its first function chooses them.  Empty: those
 *		of the first function, or of the module
 *	enable	1 plugs the function in, 0 unplugs it
 *	fault	"firmware": the firmware fails; "down", "up": link of its ports;
 *		"pci-error": an error of the link to the host; "unplug": it is removed by surprise
 *	impair	what happens to the RoCE frames that it sends, as pairs of a name and a number:
 *		loss, duplicate, corrupt, reorder, mark per million, delay and jitter in ns
 *		(impair.c); what is not named is 0
 *	capture	1: packet sockets of its interface get its RoCE frames.  With this, or with one of
 *		those numbers, messages between it and local functions are RoCE frames, too.
 *	address	address of its PCI device
 *	interface, netns	network device and its namespace, the inode number of which is
 *			shown.  Empty: there is none.  The device appears in the namespace of
 *			the process that writes to enable.
 *
 * impair and capture can be written while the function is enabled, and are 0 again after it was.
 * strict can be written at any time.
 * The other settings cannot change while it is enabled.  rmdir unplugs it, too, and frees
 * its slot.  The module is in use while there are functions that mkdir has created.
 *
 * The functions of the module parameter are the directories 0, 1, and so on.  They can be
 * disabled and changed, but not removed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/configfs.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>

#include "xhca.h"

struct config_function {
	struct config_group group;
	struct xhca_function *fn;
};

static struct xhca *config_xhca;

static struct xhca_function *item_function(struct config_item *item)
{
	return container_of(to_config_group(item), struct config_function, group)->fn;
}

/* ---- Files of a function -------------------------------------------------------------- */

/* Calls @set with what was written, without white space around it. */
static ssize_t set_word(struct config_item *item, const char *page, size_t len,
			int (*set)(struct xhca_function *fn, const char *word))
{
	char *word = kstrndup(page, len, GFP_KERNEL);
	int err;

	if (!word)
		return -ENOMEM;
	err = set(item_function(item), strim(word));
	kfree(word);
	return err ?: len;
}

/* Calls @set with the truth value that was written. */
static ssize_t set_bool(struct config_item *item, const char *page, size_t len,
			int (*set)(struct xhca_function *fn, bool on))
{
	bool on;
	int err = kstrtobool(page, &on);

	if (!err)
		err = set(item_function(item), on);
	return err ?: len;
}

static ssize_t function_link_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", item_function(item)->roce ? "roce" : "ib");
}

static ssize_t function_link_store(struct config_item *item, const char *page, size_t len)
{
	return set_word(item, page, len, xhca_function_set_link);
}
CONFIGFS_ATTR(function_, link);

static ssize_t function_model_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", item_function(item)->model->name);
}

static ssize_t function_model_store(struct config_item *item, const char *page, size_t len)
{
	return set_word(item, page, len, xhca_function_set_model);
}
CONFIGFS_ATTR(function_, model);

static ssize_t function_mac_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%pM\n", item_function(item)->mac);
}

static ssize_t function_mac_store(struct config_item *item, const char *page, size_t len)
{
	return set_word(item, page, len, xhca_function_set_mac);
}
CONFIGFS_ATTR(function_, mac);

static ssize_t function_ports_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", item_function(item)->num_ports);
}

static ssize_t function_ports_store(struct config_item *item, const char *page, size_t len)
{
	unsigned int ports;
	int err = kstrtouint(page, 0, &ports);

	if (err) {
		pr_err("ports: not a number\n");
		return err;
	}
	err = xhca_function_set_ports(item_function(item), ports);
	return err ?: len;
}
CONFIGFS_ATTR(function_, ports);

static ssize_t function_uplink_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", item_function(item)->uplink.name);
}

static ssize_t function_uplink_store(struct config_item *item, const char *page, size_t len)
{
	return set_word(item, page, len, xhca_function_set_uplink);
}
CONFIGFS_ATTR(function_, uplink);

static ssize_t function_shared_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", item_function(item)->uplink.shared);
}

static ssize_t function_shared_store(struct config_item *item, const char *page, size_t len)
{
	return set_bool(item, page, len, xhca_function_set_shared);
}
CONFIGFS_ATTR(function_, shared);

static ssize_t function_least_timeout_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", item_function(item)->least_timeout);
}

static ssize_t function_least_timeout_store(struct config_item *item, const char *page, size_t len)
{
	return set_bool(item, page, len, xhca_function_set_least_timeout);
}
CONFIGFS_ATTR(function_, least_timeout);

static ssize_t function_strict_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", item_function(item)->strict);
}

static ssize_t function_strict_store(struct config_item *item, const char *page, size_t len)
{
	return set_bool(item, page, len, xhca_function_set_strict);
}
CONFIGFS_ATTR(function_, strict);

static ssize_t function_fabric_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", item_function(item)->fabric_name);
}

static ssize_t function_fabric_store(struct config_item *item, const char *page, size_t len)
{
	return set_word(item, page, len, xhca_function_set_fabric);
}
CONFIGFS_ATTR(function_, fabric);

static ssize_t function_cpus_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%*pbl\n", cpumask_pr_args(&item_function(item)->cpus));
}

static ssize_t function_cpus_store(struct config_item *item, const char *page, size_t len)
{
	return set_word(item, page, len, xhca_function_set_cpus);
}
CONFIGFS_ATTR(function_, cpus);

static ssize_t function_enable_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", item_function(item)->plugged);
}

static ssize_t function_enable_store(struct config_item *item, const char *page, size_t len)
{
	struct xhca_function *fn = item_function(item);
	bool enable;
	int err = kstrtobool(page, &enable);

	if (err)
		return err;
	if (enable)
		err = xhca_function_plug(fn, current->nsproxy->net_ns);
	else
		xhca_function_unplug(fn);
	return err ?: len;
}
CONFIGFS_ATTR(function_, enable);

static ssize_t function_fault_store(struct config_item *item, const char *page, size_t len)
{
	return set_word(item, page, len, xhca_function_fault);
}
CONFIGFS_ATTR_WO(function_, fault);

static ssize_t function_impair_show(struct config_item *item, char *page)
{
	return xhca_impair_print(&item_function(item)->impair.settings, page, PAGE_SIZE);
}

static ssize_t function_impair_store(struct config_item *item, const char *page, size_t len)
{
	return set_word(item, page, len, xhca_function_set_impair);
}
CONFIGFS_ATTR(function_, impair);

static ssize_t function_capture_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", item_function(item)->capture);
}

static ssize_t function_capture_store(struct config_item *item, const char *page, size_t len)
{
	return set_bool(item, page, len, xhca_function_set_capture);
}
CONFIGFS_ATTR(function_, capture);

static ssize_t function_address_show(struct config_item *item, char *page)
{
	const struct xhca_function *fn = item_function(item);

	return sysfs_emit(page, "%x:00:%02x.0\n", fn->xhca->pci.sysdata.domain, fn->index);
}
CONFIGFS_ATTR_RO(function_, address);

static ssize_t function_interface_show(struct config_item *item, char *page)
{
	char name[IFNAMSIZ];
	unsigned int netns;

	if (!xhca_netdev_place(item_function(item), name, &netns))
		return 0;
	return sysfs_emit(page, "%s\n", name);
}
CONFIGFS_ATTR_RO(function_, interface);

static ssize_t function_netns_show(struct config_item *item, char *page)
{
	char name[IFNAMSIZ];
	unsigned int netns;

	if (!xhca_netdev_place(item_function(item), name, &netns))
		return 0;
	return sysfs_emit(page, "%u\n", netns);
}
CONFIGFS_ATTR_RO(function_, netns);

static struct configfs_attribute *function_attrs[] = {
	&function_attr_link,
	&function_attr_model,
	&function_attr_mac,
	&function_attr_ports,
	&function_attr_uplink,
	&function_attr_shared,
	&function_attr_least_timeout,
	&function_attr_strict,
	&function_attr_fabric,
	&function_attr_cpus,
	&function_attr_enable,
	&function_attr_fault,
	&function_attr_impair,
	&function_attr_capture,
	&function_attr_address,
	&function_attr_interface,
	&function_attr_netns,
	NULL
};

static void function_release(struct config_item *item)
{
	kfree(container_of(to_config_group(item), struct config_function, group));
}

static struct configfs_item_operations function_ops = {
	.release	= function_release,
};

static const struct config_item_type function_type = {
	.ct_owner	= THIS_MODULE,
	.ct_item_ops	= &function_ops,
	.ct_attrs	= function_attrs,
};

/* ---- The list of functions ------------------------------------------------------------ */

static struct config_function *new_function(const char *name)
{
	struct config_function *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return ERR_PTR(-ENOMEM);
	c->fn = xhca_function_new(config_xhca);
	if (IS_ERR(c->fn)) {
		int err = PTR_ERR(c->fn);

		kfree(c);
		return ERR_PTR(err);
	}
	config_group_init_type_name(&c->group, name, &function_type);
	return c;
}

static struct config_group *make_function(struct config_group *parent, const char *name)
{
	struct config_function *c;

	if (!xhca_is_name(name) || strlen(name) >= CONFIGFS_ITEM_NAME_LEN) {
		pr_err("name of a function: letters, digits, '_', '-' and '.', at most %u\n",
		       CONFIGFS_ITEM_NAME_LEN - 1);
		return ERR_PTR(-EINVAL);
	}
	c = new_function(name);
	return IS_ERR(c) ? ERR_CAST(c) : &c->group;
}

static void drop_function(struct config_group *parent, struct config_item *item)
{
	xhca_function_free(item_function(item));
	config_item_put(item);
}

static struct configfs_group_operations list_ops = {
	.make_group	= make_function,
	.drop_item	= drop_function,
};

static const struct config_item_type list_type = {
	.ct_owner	= THIS_MODULE,
	.ct_group_ops	= &list_ops,
};

static struct configfs_subsystem subsystem = {
	.su_group.cg_item = {
		.ci_namebuf	= KBUILD_MODNAME,
		.ci_type	= &list_type,
	},
};

/* Lists a function that exists already. */
static int list_function(struct xhca_function *fn)
{
	struct config_function *c = kzalloc(sizeof(*c), GFP_KERNEL);
	char name[12];

	if (!c)
		return -ENOMEM;
	c->fn = fn;
	snprintf(name, sizeof(name), "%u", fn->index);
	config_group_init_type_name(&c->group, name, &function_type);
	configfs_add_default_group(&c->group, &subsystem.su_group);
	return 0;
}

int xhca_config_init(struct xhca *x, unsigned int functions)
{
	unsigned int i;
	int err = 0;

	config_xhca = x;
	config_group_init(&subsystem.su_group);
	mutex_init(&subsystem.su_mutex);
	for (i = 0; i < functions && !err; i++)
		err = list_function(&x->fn[i]);
	if (!err)
		err = configfs_register_subsystem(&subsystem);
	if (err)
		configfs_remove_default_groups(&subsystem.su_group);
	return err;
}

void xhca_config_exit(void)
{
	configfs_unregister_subsystem(&subsystem);
	configfs_remove_default_groups(&subsystem.su_group);
}
