// SPDX-License-Identifier: GPL-2.0
#include "context_kunit.h"

static const dma_addr_t xv_pages[] = { 0x1122334455667000, 0x0000000abcdef000 };

int xv_bench_init(struct kunit *test)
{
	static const int pages[] = { MLX5_CAP_GENERAL, MLX5_CAP_ROCE,
				     MLX5_CAP_ATOMIC, MLX5_CAP_PORT_SELECTION };
	struct xv_bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	int i;

	if (!b)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		b->mdev.caps.hca[pages[i]] =
			kunit_kzalloc(test, sizeof(struct mlx5_hca_cap),
				      GFP_KERNEL);
		if (!b->mdev.caps.hca[pages[i]])
			return -ENOMEM;
	}
	memset(&xv_fw, 0, sizeof(xv_fw));
	b->dev.mdev = &b->mdev;
	b->dev.ib = &b->ib;
	xa_init_flags(&b->dev.qps, XA_FLAGS_LOCK_IRQ);
	b->file.dev = &b->dev;
	b->call.dev = &b->dev;
	b->call.file = &b->file;
	b->pd.pdn = 0x654321;
	b->mem.ring.dma = (dma_addr_t *)xv_pages;
	b->mem.ring.npages = ARRAY_SIZE(xv_pages);
	b->mem.dbr.dma = XV_DBR;
	test->priv = b;
	return 0;
}
