/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The adapter: the functions that the rest of xhca calls.
 *
 * Nothing in this folder knows PCI, threads or network devices.  hca_fabric_poll() runs
 * all of it, and the caller never runs it on two CPUs at once, so there are no locks.  The
 * same sources build in user space against the headers in tests/host.
 *
 * Commands and contexts have the layouts of linux/mlx5/mlx5_ifc.h (PRM), rings those of
 * rdma/mlx5_ring.h.  All files are one translation unit (hca_build.c), in folders by layer; the
 * functions that others call are __visible.
 */
#ifndef _HCA_H
#define _HCA_H

#include <linux/compiler.h>
#include <linux/types.h>

#define HCA_PAGE_SHIFT		12
#define HCA_PAGE_SIZE		(1u << HCA_PAGE_SHIFT)
#define HCA_BAR_PAGES		2048		/* of a BAR at least: 8 MiB */
#define HCA_MAX_VECTORS		64
#define HCA_MAX_PORTS		2

struct hca;
struct hca_fabric;
struct hca_port;

/* ---- What the caller provides ------------------------------------------------------------ */

struct hca_ops {
	/*
	 * Returns a pointer to @len contiguous bytes of host memory at DMA address @addr,
	 * or NULL if that is not memory.
	 */
	void *(*dma_ptr)(void *ctx, u64 addr, u64 len);
	/* Raise MSI-X vector @vector. */
	void (*raise_irq)(void *ctx, unsigned int vector);

	/*
	 * The wire of a RoCE port; local peers are usually not on it.  A frame is what is between
	 * the Ethernet header, which may have a VLAN tag, and the ICRC, both included.  Only passes
	 * call these.
	 */
	/* Memory for a frame of @bytes that is to be sent; NULL: there is no room now */
	void *(*frame_alloc)(void *ctx, u32 bytes);
	/* Sends the frame that was allocated last.  It may be lost. */
	void (*frame_send)(void *ctx);
	/*
	 * The next frame that has arrived, and in *@bytes its length, or NULL.  It is valid until
	 * the next call.  Its contents may be anything.  *@local: a function of this fabric has
	 * sent it (hca_use_packets()).
	 */
	const void *(*frame_next)(void *ctx, u32 *bytes, bool *local);
};

/* A generation of adapters (base/model.c) */
struct hca_model {
	const char *name;
	u16 device_id;			/* PCI */
	u16 fw_major, fw_minor, fw_sub;	/* version of the firmware */
	u32 clock_khz;			/* the core clock; a multiple of 1 GHz / 64 */
	u32 atomic_sizes;		/* operands of masked atomics: a bit's value is a size */
	bool infiniband;		/* its ports can be InfiniBand */
	bool wait_on_data, wait_on_time;
};

/* NULL: there is no model of this name */
__visible const struct hca_model *hca_model_find(const char *name);
#define HCA_MODELS		"cx5, cx6dx, cx7 or all"
#define HCA_DEFAULT_MODEL	"cx5"

struct hca_params {
	const struct hca_model *model;
	unsigned int index;		/* position on the virtual bus */
	bool roce;			/* else InfiniBand */
	bool wired;			/* RoCE: peers that are not local may be on the wire */
	bool no_least_timeout;		/* RoCE, after a reset: see data/wire_requester.c */
	u32 num_ports;			/* RoCE: 1 */
	u8 mac[6];			/* permanent address of a RoCE port */
	u64 node_guid;
	u16 lid;			/* InfiniBand, of port 1 */
	u32 num_vectors;
	bool plain_uars;		/* see uar.c */
	u64 list_bytes;			/* most memory of lists of mkeys, see devx.c */
	void *bar;
	u32 bar_pages;
};

/* ---- What it shows ------------------------------------------------------------------ */

/* Kinds of work; base/fabric.h explains their units. */
enum hca_work {
	HCA_REQUESTS,
	HCA_BYTES,
	HCA_PIECES,			/* contiguous on both sides */
	HCA_ENTRIES,			/* list entries searched, and keys looked up */
	HCA_RECEIVERS,			/* of a datagram */
	HCA_WORK_KINDS
};

struct hca_stat {
	u64 polls, wqes, doorbells, bytes, units;
	u64 loads;			/* of registers, which are not cached */
	u64 largest[HCA_WORK_KINDS];	/* of all turns */
};

/* Injected failures of commands, for tests of drivers */
struct hca_command_failure {
	u32 left;			/* commands until one fails; 0: none fails */
	u32 more;			/* commands that fail after that one */
	u16 opcode;			/* of commands that may fail; 0: all may fail */
	u8 status;			/* of the failed commands */
};

/* Peers on the wire of the connected queue pairs of a function */
#define HCA_PEERS	256u
struct hca_peers {
	u32 next;			/* number of the queue pair to look at next, first 0 */
	u32 n;				/* entries of @peer */
	u32 others;			/* queue pairs with further peers */
	struct {
		u8 gid[16];
		u32 qps;
	} peer[HCA_PEERS];
};

/* ---- All functions of the host ----------------------------------------------------------- */

/* NULL: no memory */
__visible struct hca_fabric *hca_fabric_create(void);
__visible void hca_fabric_free(struct hca_fabric *f);

/*
 * One pass: commands, doorbells, timers, queues, events.  False if there was nothing to do, or
 * only requests that wait or were refused again, and will be retried (hca_fabric_deadline()).
 */
__visible bool hca_fabric_poll(struct hca_fabric *f);
/* The same, but without commands, because commands may sleep */
__visible bool hca_fabric_poll_atomic(struct hca_fabric *f);
/* Reads the clock of the host into @now and returns it.  A pass reads it only sometimes. */
__visible u64 hca_fabric_time(struct hca_fabric *f);
/* The clock as it was read last */
__visible u64 hca_fabric_now(const struct hca_fabric *f);
/* The clock when the last pass began */
__visible u64 hca_fabric_last_pass(const struct hca_fabric *f);
/* Has the last pass left work? */
__visible bool hca_fabric_has_work(const struct hca_fabric *f);
__visible const struct hca_stat *hca_fabric_stat(const struct hca_fabric *f);
/* Does a command wait for a pass that may sleep? */
__visible bool hca_fabric_must_sleep(const struct hca_fabric *f);
/* The earliest timer, or U64_MAX */
__visible u64 hca_fabric_deadline(struct hca_fabric *f);
/*
 * True if a doorbell was rung; it stays pending.  An engine that sleeps calls this.  Each call
 * reads only some registers.
 */
__visible bool hca_fabric_rung(struct hca_fabric *f);

/*
 * A CRC-32 as crc32_le(), in softirqs too, for packets of the wire.  Set before there are
 * functions; else it is crc32_le().
 */
typedef u32 hca_crc32_fn(u32 crc, const u8 *data, size_t bytes);
__visible void hca_icrc_use(hca_crc32_fn *crc32);

/* ---- A function and its ports ------------------------------------------------------------ */

__visible struct hca *hca_create(struct hca_fabric *f, const struct hca_params *p,
				 const struct hca_ops *ops, void *ctx);
/* The driver must be unbound; frees all objects that it left. */
__visible void hca_destroy(struct hca *hca);
/*
 * A reset frees every object, in parts, because all functions wait meanwhile.  Until it is done
 * the function does nothing.  hca_reset_some() is true if no reset is in progress any more; a
 * pass that may sleep calls it too, unless the function has been unplugged.
 */
__visible void hca_reset_begin(struct hca *hca);
__visible bool hca_reset_some(struct hca *hca);
/* All at once */
__visible void hca_reset(struct hca *hca);
/*
 * Without DMA a function reads and writes no host memory and raises no interrupt, from the
 * next request or part of a message on.  Its objects do not change.  May be called at any time
 * in any context.
 */
__visible void hca_dma_enable(struct hca *hca, bool on);
/*
 * The firmware fails: until a reset, for which it asks the driver, it executes no command, and
 * does no DMA.
 */
__visible void hca_firmware_fail(struct hca *hca);
/*
 * The function has been removed: it executes nothing and touches no register until it is
 * destroyed.  Begins a reset.
 */
__visible void hca_unplug(struct hca *hca);
/* Resets the function at the next pass.  May be called at any time in any context. */
__visible void hca_function_reset(struct hca *hca);
/* True until the reset is done.  May be called at any time in any context. */
__visible bool hca_function_in_reset(const struct hca *hca);
/* The number of objects of kind @kind, from 0, and its name.  False: there is no such kind. */
__visible bool hca_object_count(const struct hca *hca, unsigned int kind, const char **name,
				u32 *count);
/* RoCE: adds the peers of some queue pairs.  True if there are more queue pairs. */
__visible bool hca_peers_find(struct hca *hca, struct hca_peers *p);
/*
 * Strict mode: what adapters would not execute is not executed (data/strict.c).  May be called
 * between two passes.
 */
__visible void hca_strict(struct hca *hca, bool on);
/* May be changed at any time. */
__visible struct hca_command_failure *hca_command_failure(struct hca *hca);
/*
 * RoCE: if @on, messages between the function and all of its fabric are packets, which the caller
 * takes to the ports of their addresses.  False: no memory
 */
__visible bool hca_use_packets(struct hca *hca, bool on);
/* Port @number, or NULL.  0 is the first port, too. */
__visible struct hca_port *hca_port_find(struct hca *hca, u32 number);
/* Sets the link of a port. */
__visible void hca_port_set(struct hca_port *port, bool up);
/* Sets the P_Key of a port. */
__visible void hca_port_set_pkey(struct hca_port *port, u16 pkey);
/* The subnet manager forgets the groups of the port and asks its clients to register again. */
__visible void hca_port_reregister(struct hca_port *port);
/* Raises a port event (eq.c). */
__visible void hca_event_port(struct hca_port *port, u8 subtype);

#endif
