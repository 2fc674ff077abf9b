/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files around hca/ share: the host side of the adapter.
 *
 * One struct xhca exists while the module is loaded.  Its parts start in the order of their
 * declaration and stop in reverse order: PCI functions are removed before the fabrics with the
 * engines that serve them, and the fabrics before the memory.
 */
#ifndef _XHCA_H
#define _XHCA_H

#include <linux/cpumask.h>
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/ioport.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "hca/hca.h"

#define XHCA_MAX_FUNCTIONS	16
#define XHCA_FABRIC_NAME	16	/* with the zero at its end */
#define XHCA_MAX_MTU		9000
#define XHCA_BAR_MIN		((u64)HCA_BAR_PAGES << HCA_PAGE_SHIFT)
#define XHCA_BAR_MAX		(4 * XHCA_BAR_MIN)	/* as a ConnectX-5 */

/* In BAR 0, between the initialization segment and the first UAR. */
#define XHCA_MSIX_TABLE		0x2000
#define XHCA_MSIX_PBA		0x3000

struct dentry;
struct irq_domain;
struct net;
struct platform_device;
struct seq_file;
struct socket;
struct xhca;
struct xhca_function;
struct xhca_worker;

/* An MSI-X vector: @lock covers what follows it. */
struct xhca_vector {
	raw_spinlock_t lock;
	unsigned int virq;		/* 0: the driver did not ask for it */
	bool masked, pending;
	unsigned int cpu;		/* where its handler runs */
	struct __call_single_data call;	/* raises it there */
	struct irq_work replay;
};

/* The Ethernet interface of the host to which a RoCE port is connected (uplink.c) */
struct xhca_uplink {
	char name[IFNAMSIZ];		/* a setting; empty: there is none */
	bool shared;			/* a setting: the port has its addresses (shared.c) */
	bool joined;			/* the port wants it; under RTNL, as the next two */
	u64 netns;			/* xhca_net_id() of the namespace where it has this name */
	struct net_device __rcu *dev;	/* NULL: it does not exist now */
	struct list_head entry;		/* while it exists */
	struct socket *udp_port;	/* while it exists and is shared */
};

/* RoCE frames between the uplink and hca/ (frames.c) */
struct xhca_frames {
	struct socket *socket;		/* owner of the frames that are sent; InfiniBand: NULL */
	struct sk_buff *writing, *reading;	/* by hca/ */
	unsigned int waiting;		/* memory of its frames in the list to_send of the engine */
	unsigned int cpu;		/* it has sent the last frame, at the time sent_at */
	u64 sent_at;
	u64 held_at;			/* the last pass in which its frames had to wait */
	void (*wake)(struct xhca_function *fn);
	struct sk_buff_head arrived;	/* its lock covers it and the next member */
	unsigned int memory;		/* of the arrived frames */
	u64 received;
	atomic_long_t sent, unsent;	/* unsent: there was no uplink, or it has dropped them */
	atomic_long_t dropped;		/* of those that have arrived */
};

/* What happens to the frames of a function on their way (impair.c) */
struct xhca_impairments {
	u32 loss, duplicate, corrupt, reorder, mark;	/* per million */
	u32 delay, jitter;		/* ns */
};

struct xhca_impair {
	struct xhca_impairments settings;	/* changes between two passes */
	bool active;			/* one of them is not 0 */
	void (*transmit)(struct xhca_function *fn, struct sk_buff *skb);
	struct sk_buff_head waiting;	/* in the order of their times; its lock covers it */
	struct hrtimer timer;		/* the first of them may be sent */
	atomic_long_t lost, duplicated, corrupted, reordered, marked;
};

/* A slot of the virtual bus, and the function in it */
struct xhca_function {
	struct xhca *xhca;
	unsigned int index;
	/* Under xhca.lock; the settings do not change while it is plugged. */
	bool used, plugged;
	const struct hca_model *model;
	bool roce;
	unsigned int num_ports;
	bool least_timeout;		/* of RC queue pairs, as firmware has by default */
	bool strict;			/* see hca_strict(); under xhca.lock */
	u8 mac[ETH_ALEN];
	char fabric_name[XHCA_FABRIC_NAME];	/* empty: the default fabric */
	struct cpumask cpus;		/* of its fabric; empty: not chosen */

	struct xhca_fabric *fabric;	/* while plugged */
	bool present;			/* on the bus; under pci.lock */
	struct hca *hca;		/* while present */
	bool is_reset;			/* while it is unplugged: its objects are freed */
	struct net_device *netdev;	/* RoCE, while the PCI device exists; under RTNL or RCU */
	unsigned int ram_last;		/* where its last DMA was, see struct xhca_ram_list */
	struct net *net;		/* namespace of a new network device, or NULL */
	struct xhca_uplink uplink;
	struct xhca_frames frames;
	struct xhca_impair impair;
	bool capture;			/* packet sockets get its frames; under xhca.lock */
	bool packets;			/* see hca_use_packets(); changes between two passes */
	struct dentry *debugfs;
	u8 config[PCI_CFG_SPACE_SIZE];
	u8 writable[PCI_CFG_SPACE_SIZE];
	struct xhca_vector vector[HCA_MAX_VECTORS];
};

struct xhca_engine {
	struct xhca_worker *worker;	/* by CPU */
	struct cpumask allowed, cpus;	/* that may have a worker; that have one */
	char threads[XHCA_FABRIC_NAME + 12];	/* format of their names */
	struct hlist_node node;		/* of CPU hotplug */
	struct list_head idle_entry;	/* in the list of all engines */
	atomic_long_t owner;		/* a worker, and the state in the low bits */
	unsigned long offers;		/* changes with every offer */
	struct hca_fabric *fabric;
	spinlock_t lock;		/* calls */
	struct list_head calls;
	atomic_t frame_arrived;		/* since the last pass began */
	struct sk_buff_head to_send;	/* frames of this pass, and those that had to wait */
	struct hrtimer timer;		/* calls engine_tick() */
	unsigned long watched;		/* offers at the last tick */
	u64 wake_at;			/* parked until then at the latest */
	u64 checked;			/* when the last check of the doorbells began */
	u64 busy;			/* time of the last work */
	u64 run_start;			/* when the owner started to run */
	u64 wanted;			/* the same, or later, when no other task wanted the CPU */
	bool yields;			/* parked only because another task wants the CPU */
	u64 handovers, pauses, sleeps;
};

/* Functions that reach each other without a wire, and what executes them (fabric.c) */
struct xhca_fabric {
	char name[XHCA_FABRIC_NAME];	/* empty: the default fabric */
	struct cpumask cpus;		/* that the user has chosen, or none */
	struct xhca_engine engine;
	unsigned int users;		/* functions, and the module for the default fabric */
	struct list_head entry;
	struct dentry *debugfs;
};

/* Memory that was taken from the kernel */
struct xhca_block {
	bool taken;
	int nid;
	struct resource res;
};

struct xhca_ram_list {
	unsigned int n;
	struct {
		u64 start, end;
	} range[];
};

struct xhca {
	struct notifier_block power;
	struct xhca_block block;
	struct {
		struct resource res;
		void *base;
		u64 size;		/* of the BAR of a function */
		unsigned int room;	/* number of functions it has room for */
	} bar;
	struct {
		struct xhca_ram_list *list;
		struct notifier_block nb;
	} ram;
	struct {
		struct mutex lock;	/* the list; xhca.lock is held, too, when it changes */
		struct list_head list;
		struct cpumask cpus;	/* of those for which none are chosen */
	} fabrics;
	struct dentry *debugfs;
	struct {
		raw_spinlock_t lock;	/* configuration space */
		struct platform_device *host;
		struct pci_sysdata sysdata;
		struct resource numbers;
		struct pci_bus *bus;
		struct irq_domain *msi;
		struct notifier_block nb;
	} pci;
	struct notifier_block interfaces;	/* of the host (uplink.c) */
	struct mutex lock;		/* held while a function is added or removed */
	u64 list_bytes;			/* of each function, for lists of mkeys */
	struct xhca_function fn[XHCA_MAX_FUNCTIONS];
};

/* power.c: hibernation */
int xhca_power_init(struct xhca *x);
void xhca_power_exit(struct xhca *x);

/* block.c: memory that is taken from the kernel */
int xhca_block_take(struct xhca_block *b, u64 size, u64 limit);
void xhca_block_return(struct xhca_block *b);

/* bar.c: the memory of the BARs */
/* @size: of a BAR, or 0.  Fails if there is no room for @functions. */
int xhca_bar_init(struct xhca *x, phys_addr_t addr, u64 block_limit, u64 size,
		  unsigned int functions);
void xhca_bar_exit(struct xhca *x);

static inline phys_addr_t xhca_bar_addr(const struct xhca_function *fn)
{
	return fn->xhca->bar.res.start + fn->index * fn->xhca->bar.size;
}

static inline void *xhca_bar_ptr(const struct xhca_function *fn)
{
	return fn->xhca->bar.base + fn->index * fn->xhca->bar.size;
}

/* pci.c: the bus and its devices */
int xhca_pci_init(struct xhca *x);
void xhca_pci_exit(struct xhca *x);
/* Its network device appears in @net. */
int xhca_pci_plug(struct xhca_function *fn, struct net *net);
void xhca_pci_unplug(struct xhca_function *fn);
/* Reports an error of the PCI link to the driver, which recovers or gives up. */
void xhca_pci_error(struct xhca_function *fn);
/*
 * Removes the function from its slot and calls error_detected() of the driver, which stays
 * bound.  The function has stopped.
 */
void xhca_pci_surprise_removal(struct xhca_function *fn);

static inline struct xhca *xhca_of_bus(const struct pci_bus *bus)
{
	return container_of((struct pci_sysdata *)bus->sysdata, struct xhca, pci.sysdata);
}

/* The slots with devices are those of functions. */
static inline struct xhca_function *xhca_pci_function(const struct pci_dev *pdev)
{
	return &xhca_of_bus(pdev->bus)->fn[PCI_SLOT(pdev->devfn)];
}

/* msi.c: interrupts */
int xhca_msi_init(struct xhca *x);
void xhca_msi_exit(struct xhca *x);
void xhca_raise_irq(void *ctx, unsigned int vector);

/* engine.c: runs hca/ */
/* Before the first engine, and after the last */
int xhca_engines_init(void);
void xhca_engines_exit(void);
/* @e is zeroed.  @name: of the fabric.  @cpus: to run on */
int xhca_engine_init(struct xhca_engine *e, const char *name, const struct cpumask *cpus);
void xhca_engine_exit(struct xhca_engine *e);
/* Runs fn(arg) in one of the engine's threads, between two passes; both may sleep. */
void xhca_engine_call(struct xhca_engine *e, void (*fn)(void *arg), void *arg);
/* Waits for the end of a pass that may be running. */
void xhca_engine_wait(struct xhca_engine *e);
/* A frame has arrived: there will be a pass.  In softirqs, or with softirqs off. */
void xhca_engine_wake(struct xhca_engine *e);

/* fabric.c: the fabrics */
/* @cpus: a list of CPUs for fabrics that choose none; empty: those that are not isolated */
int xhca_fabrics_init(struct xhca *x, const char *cpus);
void xhca_fabrics_exit(struct xhca *x);
/* Letters, digits, '_', '-' and '.', the first one a letter or a digit */
bool xhca_is_name(const char *name);
/* Such a name that is not too long */
bool xhca_fabric_is_name(const char *name);
int xhca_parse_cpus(const char *list, struct cpumask *cpus);
/* Puts a function into the fabric that its settings name, and creates it.  Needs xhca.lock. */
int xhca_fabric_join(struct xhca_function *fn);
/* The last function frees the fabric.  Needs xhca.lock. */
void xhca_fabric_leave(struct xhca_function *fn);
/* Waits for the end of all passes that may be running. */
void xhca_fabrics_wait(struct xhca *x);

/* dma.c: DMA addresses */
int xhca_dma_init(struct xhca *x);
void xhca_dma_exit(struct xhca *x);
/* NULL if not all of [addr, addr + len) is memory. */
void *xhca_dma_ptr(void *ctx, u64 addr, u64 len);

/* netdev.c: the network device of a RoCE port */
int xhca_netdev_add(struct xhca_function *fn, struct pci_dev *pdev);
void xhca_netdev_del(struct xhca_function *fn);
/* The driver of @pdev starts: offers it the network device of its port. */
void xhca_netdev_offer(struct xhca_function *fn, struct pci_dev *pdev);
/* Sets the carrier of its port: @in false is a port without a cable. */
void xhca_netdev_cable(struct xhca_function *fn, bool in);
/* Name and namespace of its network device; false if there is none */
bool xhca_netdev_place(struct xhca_function *fn, char name[IFNAMSIZ], unsigned int *netns);

bool xhca_netdev_is(const struct net_device *dev);
/* Sets the carrier of its port, after that of its uplink may have changed.  Under RTNL. */
void xhca_netdev_update(struct xhca_function *fn);
/* Consumes a frame for its network device, from the uplink.  Under RCU. */
void xhca_netdev_receive(struct xhca_function *fn, struct sk_buff *skb);

/* lowerdev.c: the interface of an uplink, while it exists */
/* False: there is an uplink, and it has no carrier.  Under RTNL */
bool xhca_lowerdev_has_carrier(const struct xhca_function *fn);
/* Consumes a frame that the network device of the port has sent.  Under RCU */
void xhca_lowerdev_send(struct xhca_function *fn, struct sk_buff *skb);
/* The network device goes up or down.  Under RTNL, as the next two */
int xhca_lowerdev_open(struct xhca_function *fn);
void xhca_lowerdev_close(struct xhca_function *fn);
int xhca_lowerdev_add_addresses(struct xhca_function *fn, struct net_device *dev);
void xhca_lowerdev_remove_addresses(struct xhca_function *fn, struct net_device *dev);
/* A VLAN that the network device receives.  Under RTNL */
int xhca_lowerdev_add_vlan(struct xhca_function *fn, __be16 proto, u16 vid);
void xhca_lowerdev_remove_vlan(struct xhca_function *fn, __be16 proto, u16 vid);
/* The multicast groups of the network device have changed.  Its address lock is held. */
void xhca_lowerdev_set_groups(struct xhca_function *fn);

/* shared.c: a port that has the addresses of its uplink */
/* Can @dev be such an uplink?  Under RTNL, as the rest */
int xhca_shared_check(struct net_device *dev);
/* Before the uplink is attached, and after it is detached */
int xhca_shared_link(struct xhca_function *fn, struct net_device *dev);
void xhca_shared_unlink(struct xhca_function *fn, struct net_device *dev);
/* An event of the uplink while it is attached.  An error: it cannot stay attached. */
int xhca_shared_event(struct xhca_function *fn, struct net_device *dev, unsigned long event,
		      void *info);

/* uplink.c: connects a RoCE port to an Ethernet interface of the host */
int xhca_uplink_init(struct xhca *x);
void xhca_uplink_exit(struct xhca *x);
/* Can the function use the interface that its uplink names in @net?  It need not exist yet. */
int xhca_uplink_check(const struct xhca_function *fn, struct net *net);
/* The function has a network device: from now on its interface is attached whenever it exists. */
void xhca_uplink_join(struct xhca_function *fn);
void xhca_uplink_leave(struct xhca_function *fn);

/* frames.c: RoCE frames between the uplink and hca/ */
/*
 * Before the adapter is created, and after it was destroyed.  @wake: a frame has arrived.  In
 * softirqs, or with softirqs off
 */
int xhca_frames_create(struct xhca_function *fn, void (*wake)(struct xhca_function *fn));
void xhca_frames_destroy(struct xhca_function *fn);
/*
 * Consumes a frame, from its Ethernet header on.  @local: a function of the fabric has sent it,
 * else it is of the uplink.  Under RCU, with softirqs off
 */
void xhca_frames_receive(struct xhca_function *fn, struct sk_buff *skb, bool local);
/* Is it a RoCE frame?  The data of @skb begins after the Ethernet header. */
bool xhca_frames_is_roce(const struct sk_buff *skb);
/* Sends the frames of a pass.  Returns false if some frames must wait.  Called in the engine */
bool xhca_frames_send(struct xhca_engine *e);
/* Frees the frames that wait.  Called in the engine, after the adapter was destroyed */
void xhca_frames_discard(struct xhca_function *fn);
/* For struct hca_ops */
void *xhca_frame_alloc(void *ctx, u32 bytes);
void xhca_frame_send(void *ctx);
const void *xhca_frame_next(void *ctx, u32 *bytes, bool *local);

/* impair.c: frames that are lost, late or damaged on request */
/* @transmit: consumes a frame at its end.  Under RCU, with softirqs off */
void xhca_impair_init(struct xhca_function *fn,
		      void (*transmit)(struct xhca_function *fn, struct sk_buff *skb));
/* No pass sends frames of the function any more. */
void xhca_impair_exit(struct xhca_function *fn);
/* Parses pairs of a name and a number; what is not named is 0. */
int xhca_impair_parse(const char *text, struct xhca_impairments *i);
/* Prints such pairs. */
int xhca_impair_print(const struct xhca_impairments *i, char *text, size_t size);
bool xhca_impair_is_any(const struct xhca_impairments *i);
/* Consumes a frame that the function sends.  Under RCU, with softirqs off */
void xhca_impair_send(struct xhca_function *fn, struct sk_buff *skb);

/* crc.c: chooses the function for the CRC of packets.  Called before there are functions */
void xhca_crc_init(void);
/* Prints how long each function takes for a packet. */
void xhca_crc_show(struct seq_file *s);
/* No function is left. */
void xhca_crc_exit(void);

/* debugfs.c */
void xhca_debugfs_init(struct xhca *x);
void xhca_debugfs_exit(struct xhca *x);
void xhca_debugfs_add_fabric(struct xhca *x, struct xhca_fabric *f);
void xhca_debugfs_del_fabric(struct xhca_fabric *f);
void xhca_debugfs_add(struct xhca_function *fn);
void xhca_debugfs_del(struct xhca_function *fn);

/* function.c: creation, removal and settings of functions */
void xhca_functions_init(struct xhca *x);
/* Unplugs all. */
void xhca_functions_exit(struct xhca *x);
/* A free slot with the default settings, or an ERR_PTR */
struct xhca_function *xhca_function_new(struct xhca *x);
/* Unplugs it, too. */
void xhca_function_free(struct xhca_function *fn);
int xhca_function_set_link(struct xhca_function *fn, const char *link);
int xhca_function_set_model(struct xhca_function *fn, const char *name);
int xhca_function_set_mac(struct xhca_function *fn, const char *mac);
int xhca_function_set_ports(struct xhca_function *fn, unsigned int ports);
int xhca_function_set_least_timeout(struct xhca_function *fn, bool on);
int xhca_function_set_strict(struct xhca_function *fn, bool on);
/* @name: of an interface of the host; empty: the port has no uplink */
int xhca_function_set_uplink(struct xhca_function *fn, const char *name);
/* The port has the addresses of its uplink. */
int xhca_function_set_shared(struct xhca_function *fn, bool on);
/* @name: empty: the default fabric */
int xhca_function_set_fabric(struct xhca_function *fn, const char *name);
/* @list: CPUs of the fabric; empty: none are chosen */
int xhca_function_set_cpus(struct xhca_function *fn, const char *list);
/* The function sends packets to local peers, too, and packet sockets get its RoCE frames. */
int xhca_function_set_capture(struct xhca_function *fn, bool on);
/* As xhca_impair_parse().  With impairments, it sends packets to local peers, too. */
int xhca_function_set_impair(struct xhca_function *fn, const char *text);
/* The network device of a RoCE function appears in @net. */
int xhca_function_plug(struct xhca_function *fn, struct net *net);
void xhca_function_unplug(struct xhca_function *fn);
/* Surprise removal: the function stops before its driver is told.  Needs xhca.lock. */
void xhca_function_surprise_removal(struct xhca_function *fn);

/* fault.c: faults on request */
int xhca_function_fault(struct xhca_function *fn, const char *name);

/* config.c: configfs */
/* @functions: slots 0 to @functions - 1 are listed, and cannot be deleted */
int xhca_config_init(struct xhca *x, unsigned int functions);
void xhca_config_exit(void);

#endif
