// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts of the functions: an irq domain for their MSI-X vectors.
 *
 * To raise a vector, its handler is called on the CPU of its affinity: directly if the engine
 * runs there, else with an SMP call.  A vector that is raised while it is masked becomes
 * pending, as in the pending bit array of a device.  After unmask an irq_work raises it
 * again, because unmask is called under the lock of the descriptor.
 *
 * A virq is used only inside an RCU read section, so it can be freed.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/msi.h>
#include <linux/smp.h>

#include "xhca.h"
#include "compat.h"

static void vector_fire(struct xhca_vector *v)
{
	unsigned long flags;
	unsigned int virq;

	rcu_read_lock();
	raw_spin_lock_irqsave(&v->lock, flags);
	virq = v->virq;
	if (virq && v->masked) {
		v->pending = true;
		virq = 0;
	}
	raw_spin_unlock_irqrestore(&v->lock, flags);
	if (virq)
		generic_handle_irq_safe(virq);
	rcu_read_unlock();
}

/* Handlers raise softirqs.  They run before this returns, not later in ksoftirqd. */
void xhca_raise_irq(void *ctx, unsigned int vector)
{
	struct xhca_function *fn = ctx;
	struct xhca_vector *v;
	unsigned int cpu;

	if (vector >= HCA_MAX_VECTORS)
		return;
	v = &fn->vector[vector];
	local_bh_disable();
	cpu = READ_ONCE(v->cpu);
	/* Only the engine raises vectors.  -EBUSY: the call is queued already. */
	if (cpu == smp_processor_id() || smp_call_function_single_async(cpu, &v->call) == -ENXIO)
		vector_fire(v);
	local_bh_enable();
}

static void vector_call(void *vector)
{
	vector_fire(vector);
}

static void vector_replay(struct irq_work *work)
{
	vector_fire(container_of(work, struct xhca_vector, replay));
}

static void vector_mask(struct irq_data *d)
{
	struct xhca_vector *v = irq_data_get_irq_chip_data(d);
	unsigned long flags;

	pci_msi_mask_irq(d);
	raw_spin_lock_irqsave(&v->lock, flags);
	v->masked = true;
	raw_spin_unlock_irqrestore(&v->lock, flags);
}

static void vector_unmask(struct irq_data *d)
{
	struct xhca_vector *v = irq_data_get_irq_chip_data(d);
	unsigned long flags;
	bool pending;

	pci_msi_unmask_irq(d);
	raw_spin_lock_irqsave(&v->lock, flags);
	v->masked = false;
	pending = v->pending;
	v->pending = false;
	raw_spin_unlock_irqrestore(&v->lock, flags);
	if (pending)
		irq_work_queue(&v->replay);
}

static void vector_ack(struct irq_data *d)
{
}

static int vector_retrigger(struct irq_data *d)
{
	struct xhca_vector *v = irq_data_get_irq_chip_data(d);

	irq_work_queue(&v->replay);
	return 1;
}

static int vector_set_affinity(struct irq_data *d, const struct cpumask *mask, bool force)
{
	struct xhca_vector *v = irq_data_get_irq_chip_data(d);
	unsigned int cpu = cpumask_any_and(mask, cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	WRITE_ONCE(v->cpu, cpu);
	irq_data_update_effective_affinity(d, cpumask_of(cpu));
	return IRQ_SET_MASK_OK;
}

static void vector_compose(struct irq_data *d, struct msi_msg *msg)
{
	memset(msg, 0, sizeof(*msg));
	msg->data = irqd_to_hwirq(d);
}

static struct irq_chip vector_chip = {
	.name			= "xhca-MSI-X",
	.irq_mask		= vector_mask,
	.irq_unmask		= vector_unmask,
	.irq_ack		= vector_ack,
	.irq_retrigger		= vector_retrigger,
	.irq_set_affinity	= vector_set_affinity,
	.irq_compose_msi_msg	= vector_compose,
};

/*
 * A driver allocates interrupts after its device structure and before its users, for instance
 * mlx5_ib.  So this is the time to offer the network device.
 */
static int domain_prepare(struct irq_domain *domain, struct device *dev, int nvec,
			  msi_alloc_info_t *arg)
{
	struct pci_dev *pdev = to_pci_dev(dev);

	memset(arg, 0, sizeof(*arg));
	xhca_netdev_offer(xhca_pci_function(pdev), pdev);
	return 0;
}

static void domain_set_desc(msi_alloc_info_t *arg, struct msi_desc *desc)
{
	struct xhca_function *fn = xhca_pci_function(msi_desc_to_pci_dev(desc));

	arg->desc = desc;
	arg->hwirq = fn->index * HCA_MAX_VECTORS + xhca_msi_index(desc);
}

static int domain_init_irq(struct irq_domain *domain, struct msi_domain_info *info,
			   unsigned int virq, irq_hw_number_t hwirq, msi_alloc_info_t *arg)
{
	struct xhca_function *fn = xhca_pci_function(msi_desc_to_pci_dev(arg->desc));
	struct xhca_vector *v = &fn->vector[hwirq % HCA_MAX_VECTORS];

	irq_domain_set_info(domain, virq, hwirq, info->chip, v, handle_edge_irq, NULL, "edge");
	xhca_irq_moves_at_once(virq);
	raw_spin_lock_irq(&v->lock);
	v->masked = true;
	v->pending = false;
	v->virq = virq;
	raw_spin_unlock_irq(&v->lock);
	return 0;
}

static void domain_free_irq(struct irq_domain *domain, struct msi_domain_info *info,
			    unsigned int virq)
{
	struct xhca_vector *v = irq_get_chip_data(virq);

	raw_spin_lock_irq(&v->lock);
	v->virq = 0;
	raw_spin_unlock_irq(&v->lock);
	irq_work_sync(&v->replay);
	synchronize_rcu();
}

static struct msi_domain_ops domain_ops = {
	.msi_prepare	= domain_prepare,
	.set_desc	= domain_set_desc,
	.msi_init	= domain_init_irq,
	.msi_free	= domain_free_irq,
};

static struct msi_domain_info domain_info = {
	.flags	= MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS | MSI_FLAG_PCI_MSIX,
	.ops	= &domain_ops,
	.chip	= &vector_chip,
};

static void init_vectors(struct xhca_function *fn)
{
	unsigned int i;

	for (i = 0; i < HCA_MAX_VECTORS; i++) {
		raw_spin_lock_init(&fn->vector[i].lock);
		init_irq_work(&fn->vector[i].replay, vector_replay);
		INIT_CSD(&fn->vector[i].call, vector_call, &fn->vector[i]);
	}
}

int xhca_msi_init(struct xhca *x)
{
	struct fwnode_handle *node = irq_domain_alloc_named_fwnode("xhca-MSI-X");
	unsigned int i;

	for (i = 0; i < XHCA_MAX_FUNCTIONS; i++)
		init_vectors(&x->fn[i]);
	if (!node)
		return -ENOMEM;
	x->pci.msi = xhca_create_msi_domain(node, &domain_info);
	if (x->pci.msi)
		return 0;
	irq_domain_free_fwnode(node);
	return -ENOMEM;
}

void xhca_msi_exit(struct xhca *x)
{
	struct fwnode_handle *node = x->pci.msi->fwnode;

	irq_domain_remove(x->pci.msi);
	irq_domain_free_fwnode(node);
}
