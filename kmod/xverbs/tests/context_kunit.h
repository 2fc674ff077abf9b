/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the KUnit tests of contexts: a device with capabilities, a file and a call */
#ifndef XV_CONTEXT_KUNIT_H
#define XV_CONTEXT_KUNIT_H

#include "../ah.h"
#include "../cq.h"
#include "../dct.h"
#include "../fw.h"
#include "../pd.h"
#include "../qp.h"
#include "../srq.h"
#include "fw_kunit.h"

/* The pages of the ring and the doorbell record of xv_bench.mem, as a context has them */
#define XV_PAGES	{ 0x110, 0x11223344 }, { 0x114, 0x55667000 },	\
			{ 0x118, 0x0000000a }, { 0x11c, 0xbcdef000 }
#define XV_DBR		0x123456740ull

struct xv_bench {
	struct mlx5_core_dev mdev;
	struct ib_device ib;
	struct xv_dev dev;
	struct xv_file file;
	struct xv_call call;
	struct xv_pd_obj pd;
	struct xv_qmem mem;
	union {
		struct xv_cq_obj cq;
		struct xv_srq_obj srq;
		struct xv_dev_qp qp;
		struct xv_dct_obj dct;
		struct xv_path path;
	};
};

int xv_bench_init(struct kunit *test);

#define XV_SET_CAP(_b, _page, _type, _field, _value)			\
	MLX5_SET(_type, (_b)->mdev.caps.hca[_page]->cur, _field, _value)

#endif
