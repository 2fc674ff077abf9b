// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs/xhca/crc has the times of the functions that sum packets (crc.c).
 * debugfs/xhca/engine has counters of the engine of the default fabric, and
 * debugfs/xhca/fabric-NAME/engine those of another one.  debugfs/xhca/N/objects has the number of
 * objects of the function in slot N of the bus.  The engine does not stop while they are read,
 * so they are exact only when it is idle.  hca/base/fabric.h explains units and turns.
 * debugfs/xhca/N/frames has the number of RoCE frames of a RoCE function, which go to and come from
 * its uplink or another function (hca/packets.c), and debugfs/xhca/N/impairments has the number of
 * those that were lost and so on because its file "impair" in configfs demands it.
 *
 * debugfs/xhca/N/peers has the GIDs of the peers on the wire of connected queue pairs, and how many
 * queue pairs each of them has; "others" stands for further peers.
 *
 * For tests of drivers: a number n written to debugfs/xhca/N/fail_command fails the nth
 * firmware command of function N from now on.  The command is not executed.  Its status is
 * the one in debugfs/xhca/N/fail_status: an MLX5_CMD_STAT_* of linux/mlx5/device.h, by
 * default 1, an internal error (-EIO).  Reading fail_command shows the number of commands
 * until then; 0: none will fail.  A number m in debugfs/xhca/N/fail_more fails the m commands
 * after that one too.  An opcode in debugfs/xhca/N/fail_opcode, an MLX5_CMD_OP_* as a decimal
 * number, makes only commands with this opcode count and fail; 0, the default, means all commands.
 *
 * "lid", "pkey" or "client_reregister" written to debugfs/xhca/N/port_event raises that event
 * of a port, as a subnet manager would cause it.  After "client_reregister" the manager has
 * forgotten the groups of the port.  "down" and "active" set the link of an InfiniBand port.  A
 * number after the name selects the port; the default is port 1.  A second number after "pkey"
 * becomes the P_Key of the port.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/mlx5/device.h>

#include "xhca.h"

static int objects_show(struct seq_file *s, void *unused)
{
	const struct hca *hca = ((struct xhca_function *)s->private)->hca;
	unsigned int i;
	const char *name;
	u32 count;

	for (i = 0; hca_object_count(hca, i, &name, &count); i++)
		seq_printf(s, "%-9s %u\n", name, count);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(objects);

static int frames_show(struct seq_file *s, void *unused)
{
	const struct xhca_frames *f = &((struct xhca_function *)s->private)->frames;

	seq_printf(s, "received %llu\n", READ_ONCE(f->received));
	seq_printf(s, "dropped  %lu\n", atomic_long_read(&f->dropped));
	seq_printf(s, "sent     %lu\n", atomic_long_read(&f->sent));
	seq_printf(s, "unsent   %lu\n", atomic_long_read(&f->unsent));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(frames);

struct find_peers {
	struct hca *hca;
	struct hca_peers *peers;
	bool more;
};

static void find_peers(void *arg)
{
	struct find_peers *f = arg;

	f->more = hca_peers_find(f->hca, f->peers);
}

static int peers_show(struct seq_file *s, void *unused)
{
	struct xhca_function *fn = s->private;
	struct find_peers f = { .hca = fn->hca };
	u32 i;

	f.peers = kzalloc(sizeof(*f.peers), GFP_KERNEL);
	if (!f.peers)
		return -ENOMEM;
	do
		xhca_engine_call(&fn->fabric->engine, find_peers, &f);
	while (f.more);
	for (i = 0; i < f.peers->n; i++)
		seq_printf(s, "%pI6c %u\n", f.peers->peer[i].gid, f.peers->peer[i].qps);
	if (f.peers->others)
		seq_printf(s, "others %u\n", f.peers->others);
	kfree(f.peers);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(peers);

static int impairments_show(struct seq_file *s, void *unused)
{
	const struct xhca_impair *i = &((struct xhca_function *)s->private)->impair;

	seq_printf(s, "lost       %lu\n", atomic_long_read(&i->lost));
	seq_printf(s, "duplicated %lu\n", atomic_long_read(&i->duplicated));
	seq_printf(s, "corrupted  %lu\n", atomic_long_read(&i->corrupted));
	seq_printf(s, "reordered  %lu\n", atomic_long_read(&i->reordered));
	seq_printf(s, "marked     %lu\n", atomic_long_read(&i->marked));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(impairments);

static int engine_show(struct seq_file *s, void *unused)
{
	const struct xhca_engine *e = s->private;
	const struct hca_stat *stat = hca_fabric_stat(e->fabric);
	const struct {
		const char *name;
		const u64 *value;
	} stats[] = {
		{ "polls", &stat->polls }, { "wqes", &stat->wqes },
		{ "doorbells", &stat->doorbells }, { "bytes", &stat->bytes },
		{ "loads", &stat->loads },
		{ "handovers", &e->handovers }, { "pauses", &e->pauses }, { "sleeps", &e->sleeps },
		{ "units", &stat->units },
		{ "largest_turn_requests", &stat->largest[HCA_REQUESTS] },
		{ "largest_turn_bytes", &stat->largest[HCA_BYTES] },
		{ "largest_turn_pieces", &stat->largest[HCA_PIECES] },
		{ "largest_turn_entries", &stat->largest[HCA_ENTRIES] },
		{ "largest_turn_receivers", &stat->largest[HCA_RECEIVERS] },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stats); i++)
		seq_printf(s, "%-22s %llu\n", stats[i].name, READ_ONCE(*stats[i].value));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(engine);

static int crc_show(struct seq_file *s, void *unused)
{
	xhca_crc_show(s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(crc);

/* ---- Events of the port ---------------------------------------------------------- */

static const struct {
	const char *name;
	u8 subtype;
} port_events[] = {
	{ "down", MLX5_PORT_CHANGE_SUBTYPE_DOWN },
	{ "active", MLX5_PORT_CHANGE_SUBTYPE_ACTIVE },
	{ "lid", MLX5_PORT_CHANGE_SUBTYPE_LID },
	{ "pkey", MLX5_PORT_CHANGE_SUBTYPE_PKEY },
	{ "client_reregister", MLX5_PORT_CHANGE_SUBTYPE_CLIENT_REREG },
};

struct port_event {
	struct hca_port *port;
	u8 subtype;
	u16 pkey;			/* the new P_Key, or 0 */
};

static bool is_state(const struct port_event *e)
{
	return e->subtype == MLX5_PORT_CHANGE_SUBTYPE_DOWN ||
	       e->subtype == MLX5_PORT_CHANGE_SUBTYPE_ACTIVE;
}

static void raise_port_event(void *arg)
{
	struct port_event *e = arg;

	if (is_state(e))
		hca_port_set(e->port, e->subtype == MLX5_PORT_CHANGE_SUBTYPE_ACTIVE);
	else if (e->pkey)
		hca_port_set_pkey(e->port, e->pkey);
	else if (e->subtype == MLX5_PORT_CHANGE_SUBTYPE_CLIENT_REREG)
		hca_port_reregister(e->port);
	else
		hca_event_port(e->port, e->subtype);
}

static int parse_port_event(const struct xhca_function *fn, const char *text, struct port_event *e)
{
	unsigned int number = 1, i;
	char name[20];

	e->pkey = 0;
	if (sscanf(text, "%19s %u %hi", name, &number, &e->pkey) < 1 || !number)
		return -EINVAL;
	e->port = hca_port_find(fn->hca, number);
	if (!e->port)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(port_events); i++) {
		if (strcmp(name, port_events[i].name))
			continue;
		e->subtype = port_events[i].subtype;
		if (e->pkey && e->subtype != MLX5_PORT_CHANGE_SUBTYPE_PKEY)
			return -EINVAL;
		/* The link of a RoCE port follows its network device. */
		return is_state(e) && fn->roce ? -EINVAL : 0;
	}
	return -EINVAL;
}

static ssize_t port_event_write(struct file *file, const char __user *user, size_t len,
				loff_t *pos)
{
	struct xhca_function *fn = file->private_data;
	struct port_event e;
	char text[32];
	int err;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, user, len))
		return -EFAULT;
	text[len] = 0;
	err = parse_port_event(fn, text, &e);
	if (err)
		return err;
	xhca_engine_call(&fn->fabric->engine, raise_port_event, &e);
	return len;
}

static const struct file_operations port_event_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= port_event_write,
};

void xhca_debugfs_add(struct xhca_function *fn)
{
	struct hca_command_failure *fail = hca_command_failure(fn->hca);
	struct dentry *dir;
	char name[12];

	snprintf(name, sizeof(name), "%u", fn->index);
	dir = debugfs_create_dir(name, fn->xhca->debugfs);
	debugfs_create_file("objects", 0400, dir, fn, &objects_fops);
	if (fn->roce) {
		debugfs_create_file("frames", 0400, dir, fn, &frames_fops);
		debugfs_create_file("peers", 0400, dir, fn, &peers_fops);
		debugfs_create_file("impairments", 0400, dir, fn, &impairments_fops);
	}
	debugfs_create_file("port_event", 0200, dir, fn, &port_event_fops);
	debugfs_create_u32("fail_command", 0600, dir, &fail->left);
	debugfs_create_u32("fail_more", 0600, dir, &fail->more);
	debugfs_create_u16("fail_opcode", 0600, dir, &fail->opcode);
	debugfs_create_u8("fail_status", 0600, dir, &fail->status);
	fn->debugfs = dir;
}

/* Waits for readers and writers, so afterwards the function may be destroyed. */
void xhca_debugfs_del(struct xhca_function *fn)
{
	debugfs_remove_recursive(fn->debugfs);
	fn->debugfs = NULL;
}

/* The default fabric has its file in the folder of the module. */
void xhca_debugfs_add_fabric(struct xhca *x, struct xhca_fabric *f)
{
	char name[XHCA_FABRIC_NAME + 8];
	struct dentry *file;

	snprintf(name, sizeof(name), "fabric-%s", f->name);
	f->debugfs = *f->name ? debugfs_create_dir(name, x->debugfs) : x->debugfs;
	file = debugfs_create_file("engine", 0400, f->debugfs, &f->engine, &engine_fops);
	if (!*f->name)
		f->debugfs = file;
}

/* Waits for readers, so afterwards the fabric may be destroyed. */
void xhca_debugfs_del_fabric(struct xhca_fabric *f)
{
	debugfs_remove_recursive(f->debugfs);
}

void xhca_debugfs_init(struct xhca *x)
{
	x->debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("crc", 0400, x->debugfs, NULL, &crc_fops);
}

void xhca_debugfs_exit(struct xhca *x)
{
	debugfs_remove_recursive(x->debugfs);
}
