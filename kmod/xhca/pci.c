// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual PCI bus: a root bus with a slot for each function.
 *
 * Configuration space is a table of initial values and writable bits; registers that are not
 * in the table read as zero.  The PCI core does not allocate reserved memory, so the BARs
 * have their addresses before their slot is scanned, and are claimed.  A function's network
 * device exists exactly as long as its PCI device.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "xhca.h"

#define PCI_CLASS_NETWORK_INFINIBAND 0x0207
#define XHCA_FIRST_DOMAIN	0x10000		/* firmware has only smaller numbers */
#define XHCA_LAST_DOMAIN	0x1ffff

enum { CAP_PM = 0x40, CAP_EXP = 0x60, CAP_MSIX = 0xa0 };

static const struct {
	u8 at, size;
	u32 value, writable;
} config_space[] = {
	{ PCI_VENDOR_ID, 2, PCI_VENDOR_ID_MELLANOX },
	{ PCI_COMMAND, 2, 0, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
			     PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE },
	{ PCI_STATUS, 2, PCI_STATUS_CAP_LIST },
	{ PCI_CACHE_LINE_SIZE, 1, 0, 0xff },
	{ PCI_SUBSYSTEM_VENDOR_ID, 2, PCI_VENDOR_ID_MELLANOX },
	{ PCI_SUBSYSTEM_ID, 2, 1 },
	{ PCI_CAPABILITY_LIST, 1, CAP_PM },
	{ PCI_INTERRUPT_LINE, 1, 0, 0xff },

	{ CAP_PM + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_PM },
	{ CAP_PM + PCI_CAP_LIST_NEXT, 1, CAP_EXP },
	{ CAP_PM + PCI_PM_PMC, 2, 3 },
	{ CAP_PM + PCI_PM_CTRL, 2, PCI_PM_CTRL_NO_SOFT_RESET, PCI_PM_CTRL_STATE_MASK },

	{ CAP_EXP + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_EXP },
	{ CAP_EXP + PCI_CAP_LIST_NEXT, 1, CAP_MSIX },
	{ CAP_EXP + PCI_EXP_FLAGS, 2, 2 },
	{ CAP_EXP + PCI_EXP_DEVCAP, 4, PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_EXT_TAG |
				      PCI_EXP_DEVCAP_FLR | 2 },
	{ CAP_EXP + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN |
			PCI_EXP_DEVCTL_READRQ_512B, 0x7fff },
	{ CAP_EXP + PCI_EXP_LNKCAP, 4, PCI_EXP_LNKCAP_SLS_8_0GB | 16 << 4 },
	{ CAP_EXP + PCI_EXP_LNKSTA, 2, PCI_EXP_LNKSTA_CLS_8_0GB | 16 << PCI_EXP_LNKSTA_NLW_SHIFT },
	{ CAP_EXP + PCI_EXP_DEVCTL2, 2, 0, 0xffff },
	{ CAP_EXP + PCI_EXP_LNKCAP2, 4, PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB |
					PCI_EXP_LNKCAP2_SLS_8_0GB },

	{ CAP_MSIX + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_MSIX },
	{ CAP_MSIX + PCI_MSIX_FLAGS, 2, HCA_MAX_VECTORS - 1,
	  PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL },
	{ CAP_MSIX + PCI_MSIX_TABLE, 4, XHCA_MSIX_TABLE },
	{ CAP_MSIX + PCI_MSIX_PBA, 4, XHCA_MSIX_PBA },
};

static void config_put(u8 *space, unsigned int at, unsigned int size, u32 value)
{
	__le32 le = cpu_to_le32(value);

	memcpy(space + at, &le, size);
}

static bool is_master(const struct xhca_function *fn)
{
	return fn->config[PCI_COMMAND] & PCI_COMMAND_MASTER;
}

/* A function does DMA and raises interrupts only while it is a bus master. */
static void apply_command(struct xhca_function *fn)
{
	hca_dma_enable(fn->hca, is_master(fn));
}

static void config_init(struct xhca_function *fn)
{
	u64 addr = xhca_bar_addr(fn), mask = ~(fn->xhca->bar.size - 1);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(config_space); i++) {
		config_put(fn->config, config_space[i].at, config_space[i].size,
			   config_space[i].value);
		config_put(fn->writable, config_space[i].at, config_space[i].size,
			   config_space[i].writable);
	}
	config_put(fn->config, PCI_DEVICE_ID, 2, fn->model->device_id);
	config_put(fn->config, PCI_CLASS_DEVICE, 2, fn->roce ?
		   PCI_CLASS_NETWORK_ETHERNET : PCI_CLASS_NETWORK_INFINIBAND);
	config_put(fn->config, PCI_BASE_ADDRESS_0, 4, lower_32_bits(addr) |
		   PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
	config_put(fn->config, PCI_BASE_ADDRESS_1, 4, upper_32_bits(addr));
	config_put(fn->writable, PCI_BASE_ADDRESS_0, 4, lower_32_bits(mask));
	config_put(fn->writable, PCI_BASE_ADDRESS_1, 4, upper_32_bits(mask));
	apply_command(fn);
}

static struct xhca_function *bus_function(struct pci_bus *bus, unsigned int devfn)
{
	struct xhca *x = xhca_of_bus(bus);

	if (PCI_FUNC(devfn) || PCI_SLOT(devfn) >= XHCA_MAX_FUNCTIONS)
		return NULL;
	return &x->fn[PCI_SLOT(devfn)];
}

/* The function in a slot, or NULL if the slot is empty.  Called under pci.lock. */
static struct xhca_function *slot_function(struct pci_bus *bus, unsigned int devfn)
{
	struct xhca_function *fn = bus_function(bus, devfn);

	return fn && fn->present ? fn : NULL;
}

static void set_present(struct xhca_function *fn, bool present)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&fn->xhca->pci.lock, flags);
	fn->present = present;
	raw_spin_unlock_irqrestore(&fn->xhca->pci.lock, flags);
}

static u32 get_config(const struct xhca_function *fn, int at, int size)
{
	__le32 le = 0;

	if (at + size <= PCI_CFG_SPACE_SIZE)
		memcpy(&le, fn->config + at, size);
	return le32_to_cpu(le);
}

static void set_config(struct xhca_function *fn, int at, int size, u32 value)
{
	int i;

	if (at + size > PCI_CFG_SPACE_SIZE)
		return;
	if (at == CAP_EXP + PCI_EXP_DEVCTL && value & PCI_EXP_DEVCTL_BCR_FLR) {
		config_init(fn);
		hca_function_reset(fn->hca);
		return;
	}
	for (i = at; i < at + size; i++, value >>= 8)
		fn->config[i] = (fn->config[i] & ~fn->writable[i]) | (value & fn->writable[i]);
	apply_command(fn);
}

/*
 * On x86 the PCI core takes no lock.  Accesses are aligned and have 1, 2 or 4 bytes.  During a
 * function-level reset all bits of a read are set, as if the adapter asked for a retry: the PCI
 * core waits.
 */
static int config_read(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 *value)
{
	struct xhca *x = xhca_of_bus(bus);
	struct xhca_function *fn;
	unsigned long flags;

	raw_spin_lock_irqsave(&x->pci.lock, flags);
	fn = slot_function(bus, devfn);
	if (fn)
		*value = hca_function_in_reset(fn->hca) ? ~0u : get_config(fn, at, size);
	raw_spin_unlock_irqrestore(&x->pci.lock, flags);
	return fn ? PCIBIOS_SUCCESSFUL : PCIBIOS_DEVICE_NOT_FOUND;
}

/*
 * A driver that clears bus mastering may free its rings when this returns, so no DMA may be in
 * progress then.  A program that writes through sysfs holds a lock of the PCI core, and cannot
 * wait; there DMA ends with the request that is being executed.
 */
static int config_write(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 value)
{
	struct xhca *x = xhca_of_bus(bus);
	struct xhca_function *fn;
	bool stops = false;
	unsigned long flags;

	raw_spin_lock_irqsave(&x->pci.lock, flags);
	fn = slot_function(bus, devfn);
	if (fn) {
		stops = is_master(fn);
		set_config(fn, at, size, value);
		stops &= !is_master(fn);
	}
	raw_spin_unlock_irqrestore(&x->pci.lock, flags);
	if (stops && preemptible())
		xhca_engine_wait(&fn->fabric->engine);
	return fn ? PCIBIOS_SUCCESSFUL : PCIBIOS_DEVICE_NOT_FOUND;
}

static struct pci_ops config_ops = {
	.read = config_read,
	.write = config_write,
};

/* ---- devices -------------------------------------------------------------- */

static int device_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct xhca *x = container_of(nb, struct xhca, pci.nb);
	struct pci_dev *pdev = to_pci_dev(data);
	struct xhca_function *fn;

	if (pdev->bus != x->pci.bus)
		return NOTIFY_DONE;
	fn = xhca_pci_function(pdev);
	switch (event) {
	case BUS_NOTIFY_ADD_DEVICE:
		if (pci_claim_resource(pdev, 0))
			pci_err(pdev, "cannot claim the BAR\n");
		if (fn->roce && xhca_netdev_add(fn, pdev))
			pci_err(pdev, "cannot make a network device\n");
		else
			xhca_uplink_join(fn);
		break;
	case BUS_NOTIFY_DEL_DEVICE:
		xhca_uplink_leave(fn);
		xhca_netdev_del(fn);
		break;
	}
	return NOTIFY_OK;
}

/*
 * The engine treats DMA addresses as physical addresses.  That is wrong with an IOMMU or
 * bounce buffers, so check it.
 */
static bool dma_is_direct(struct pci_dev *pdev)
{
	struct page *page = alloc_page(GFP_KERNEL);
	bool direct = false;
	dma_addr_t addr;

	if (!page)
		return false;
	if (!dma_set_mask(&pdev->dev, DMA_BIT_MASK(64))) {
		addr = dma_map_page(&pdev->dev, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
		if (!dma_mapping_error(&pdev->dev, addr)) {
			direct = addr == page_to_phys(page);
			dma_unmap_page(&pdev->dev, addr, PAGE_SIZE, DMA_BIDIRECTIONAL);
		}
	}
	__free_page(page);
	return direct;
}

static int check_device(const struct xhca_function *fn, struct pci_dev *pdev)
{
	if (!pdev || !pdev->resource[0].parent || (fn->roce && !fn->netdev)) {
		pr_err("function %u is missing on the bus\n", fn->index);
		return -EIO;
	}
	if (!dma_is_direct(pdev)) {
		pr_err("DMA addresses are translated: disable the IOMMU or remove swiotlb=force\n");
		return -EOPNOTSUPP;
	}
	return 0;
}

int xhca_pci_plug(struct xhca_function *fn, struct net *net)
{
	struct pci_dev *pdev;
	int err;

	config_init(fn);
	pci_lock_rescan_remove();
	fn->net = net;
	set_present(fn, true);
	pdev = pci_scan_single_device(fn->xhca->pci.bus, PCI_DEVFN(fn->index, 0));
	fn->net = NULL;
	err = check_device(fn, pdev);
	if (!err) {
		pci_bus_add_device(pdev);
	} else {
		if (pdev)
			pci_stop_and_remove_bus_device(pdev);
		set_present(fn, false);
	}
	pci_unlock_rescan_remove();
	return err;
}

/* ---- Errors ------------------------------------------------------------------------- */

/* The PCI device of a function, with a reference, or NULL: a user may have removed it */
static struct pci_dev *get_device_of(struct xhca_function *fn)
{
	return pci_get_slot(fn->xhca->pci.bus, PCI_DEVFN(fn->index, 0));
}

static const struct pci_error_handlers *error_handlers(struct pci_dev *pdev)
{
	return pdev->dev.driver ? to_pci_driver(pdev->dev.driver)->err_handler : NULL;
}

static pci_ers_result_t error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	const struct pci_error_handlers *h = error_handlers(pdev);

	pdev->error_state = state;
	return h && h->error_detected ? h->error_detected(pdev, state) : PCI_ERS_RESULT_NONE;
}

static void reset_slot(struct xhca_function *fn)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&fn->xhca->pci.lock, flags);
	config_init(fn);
	hca_function_reset(fn->hca);
	raw_spin_unlock_irqrestore(&fn->xhca->pci.lock, flags);
	while (hca_function_in_reset(fn->hca))
		usleep_range(100, 1000);
}

static void recover(struct xhca_function *fn, struct pci_dev *pdev)
{
	pci_ers_result_t result = error_detected(pdev, pci_channel_io_frozen);
	const struct pci_error_handlers *h = error_handlers(pdev);

	reset_slot(fn);
	pdev->error_state = pci_channel_io_normal;
	if (result == PCI_ERS_RESULT_NEED_RESET && h->slot_reset)
		result = h->slot_reset(pdev);
	if (result == PCI_ERS_RESULT_RECOVERED && h->resume)
		h->resume(pdev);
	pci_info(pdev, "PCI error: the driver %s\n",
		 result == PCI_ERS_RESULT_RECOVERED ? "has recovered" : "does not recover");
}

/*
 * A fatal error on the link: the port above stops all transfers, and the PCI core recovers with
 * the driver's help.  This bus has no port that reports errors, so its part is done here.
 */
void xhca_pci_error(struct xhca_function *fn)
{
	struct pci_dev *pdev = get_device_of(fn);

	if (!pdev)
		return;
	device_lock(&pdev->dev);
	hca_dma_enable(fn->hca, false);
	/* The driver frees its rings. */
	xhca_engine_wait(&fn->fabric->engine);
	recover(fn, pdev);
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
}

/*
 * Surprise removal: the slot is empty, and all registers read as ones.  Then the driver's
 * error_detected() is called, as the PCI core does after Downstream Port Containment (DPC).
 */
void xhca_pci_surprise_removal(struct xhca_function *fn)
{
	struct pci_dev *pdev = get_device_of(fn);

	set_present(fn, false);
	memset(xhca_bar_ptr(fn), 0xff, fn->xhca->bar.size);
	if (!pdev)
		return;
	device_lock(&pdev->dev);
	error_detected(pdev, pci_channel_io_perm_failure);
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
}

/* A user may have removed the device already, through sysfs. */
void xhca_pci_unplug(struct xhca_function *fn)
{
	struct pci_dev *pdev;

	pci_lock_rescan_remove();
	pdev = get_device_of(fn);
	if (pdev)
		pci_stop_and_remove_bus_device(pdev);
	pci_dev_put(pdev);
	set_present(fn, false);
	pci_unlock_rescan_remove();
}

/* ---- bus -------------------------------------------------------------------- */

static int find_domain(void)
{
	int domain;

	for (domain = XHCA_FIRST_DOMAIN; domain <= XHCA_LAST_DOMAIN; domain++)
		if (!pci_find_bus(domain, 0))
			return domain;
	return -ENOSPC;
}

static int create_bus(struct xhca *x)
{
	LIST_HEAD(windows);
	int domain = find_domain();

	if (domain < 0)
		return domain;
	x->pci.sysdata.domain = domain;
	x->pci.sysdata.node = NUMA_NO_NODE;
	x->pci.numbers = (struct resource) {
		.name = KBUILD_MODNAME, .flags = IORESOURCE_BUS,
	};
	pci_add_resource(&windows, &x->pci.numbers);
	pci_add_resource(&windows, &x->bar.res);
	pci_lock_rescan_remove();
	x->pci.bus = pci_create_root_bus(&x->pci.host->dev, 0, &config_ops, &x->pci.sysdata,
					 &windows);
	if (x->pci.bus) {
		dev_set_msi_domain(&x->pci.bus->dev, x->pci.msi);
		pci_scan_child_bus(x->pci.bus);
		pci_bus_add_devices(x->pci.bus);
	} else {
		pci_free_resource_list(&windows);
	}
	pci_unlock_rescan_remove();
	return x->pci.bus ? 0 : -ENOMEM;
}

/* Removing the bus does not drop the reference from the creation of the bridge. */
static void remove_bus(struct xhca *x)
{
	struct device *bridge = x->pci.bus->bridge;

	pci_lock_rescan_remove();
	pci_stop_root_bus(x->pci.bus);
	pci_remove_root_bus(x->pci.bus);
	put_device(bridge);
	x->pci.bus = NULL;
	pci_unlock_rescan_remove();
}

int xhca_pci_init(struct xhca *x)
{
	int err;

	raw_spin_lock_init(&x->pci.lock);
	x->pci.host = platform_device_register_simple(KBUILD_MODNAME, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(x->pci.host))
		return PTR_ERR(x->pci.host);
	err = xhca_msi_init(x);
	if (err)
		goto err_host;
	x->pci.nb.notifier_call = device_event;
	err = bus_register_notifier(&pci_bus_type, &x->pci.nb);
	if (err)
		goto err_msi;
	err = create_bus(x);
	if (err)
		goto err_notifier;
	return 0;

err_notifier:
	bus_unregister_notifier(&pci_bus_type, &x->pci.nb);
err_msi:
	xhca_msi_exit(x);
err_host:
	platform_device_unregister(x->pci.host);
	return err;
}

void xhca_pci_exit(struct xhca *x)
{
	remove_bus(x);
	bus_unregister_notifier(&pci_bus_type, &x->pci.nb);
	xhca_msi_exit(x);
	platform_device_unregister(x->pci.host);
}
