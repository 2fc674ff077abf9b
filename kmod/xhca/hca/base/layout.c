// SPDX-License-Identifier: GPL-2.0
/* The ring formats of rdma/mlx5_ring.h against those of the kernel's headers. */
#include <linux/types.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <rdma/mlx5_ring.h>

#define SIZE(ours, theirs)							\
	_Static_assert(sizeof(struct mlx5r_##ours) == sizeof(struct mlx5_##theirs), #ours)
#define PLACE(ours, a, theirs, b)						\
	_Static_assert(offsetof(struct mlx5r_##ours, a) ==			\
		       offsetof(struct mlx5_##theirs, b), #ours "." #a)

SIZE(ctrl, wqe_ctrl_seg);
PLACE(ctrl, qpn_ds, wqe_ctrl_seg, qpn_ds);
PLACE(ctrl, signature, wqe_ctrl_seg, signature);
PLACE(ctrl, fm_ce_se, wqe_ctrl_seg, fm_ce_se);
PLACE(ctrl, imm, wqe_ctrl_seg, imm);
SIZE(raddr, wqe_raddr_seg);
PLACE(raddr, rkey, wqe_raddr_seg, rkey);
SIZE(atomic, wqe_atomic_seg);
SIZE(xrc, wqe_xrc_seg);
SIZE(data, wqe_data_seg);
PLACE(data, lkey, wqe_data_seg, lkey);
PLACE(data, addr, wqe_data_seg, addr);
SIZE(inline, wqe_inline_seg);
SIZE(av, av);
PLACE(av, dqp_dct, av, dqp_dct);
PLACE(av, rlid, av, rlid);
PLACE(av, rmac, av, rmac);
PLACE(av, tclass, av, tclass);
PLACE(av, hop_limit, av, hop_limit);
PLACE(av, grh_gid_fl, av, grh_gid_fl);
PLACE(av, rgid, av, rgid);
SIZE(umr_ctrl, wqe_umr_ctrl_seg);
SIZE(mkey, mkey_seg);
PLACE(mkey, flags, mkey_seg, flags);
PLACE(mkey, qpn_mkey, mkey_seg, qpn_mkey7_0);
PLACE(mkey, flags_pd, mkey_seg, flags_pd);
PLACE(mkey, start_addr, mkey_seg, start_addr);
PLACE(mkey, len, mkey_seg, len);
PLACE(mkey, xlt_octowords, mkey_seg, xlt_oct_size);
PLACE(mkey, log_page_size, mkey_seg, log2_page_size);
SIZE(klm, klm);
PLACE(klm, mkey, klm, key);
PLACE(klm, addr, klm, va);
SIZE(srq_next, wqe_srq_next_seg);
PLACE(srq_next, next_wqe_index, wqe_srq_next_seg, next_wqe_index);
SIZE(cqe, cqe64);
PLACE(cqe, slid, cqe64, slid);
PLACE(cqe, flags_rqpn, cqe64, flags_rqpn);
PLACE(cqe, srqn_uidx, cqe64, srqn);
PLACE(cqe, imm_inval_pkey, cqe64, immediate);
PLACE(cqe, byte_cnt, cqe64, byte_cnt);
PLACE(cqe, timestamp, cqe64, timestamp_h);
PLACE(cqe, sop_drop_qpn, cqe64, sop_drop_qpn);
PLACE(cqe, wqe_counter, cqe64, wqe_counter);
PLACE(cqe, op_own, cqe64, op_own);
SIZE(err_cqe, err_cqe);
PLACE(err_cqe, vendor_err_synd, err_cqe, vendor_err_synd);
PLACE(err_cqe, syndrome, err_cqe, syndrome);
PLACE(err_cqe, sop_drop_qpn, err_cqe, s_wqe_opcode_qpn);

/* The kernel's headers do not have these. */
#define BYTES(ours, size)							\
	_Static_assert(sizeof(struct mlx5r_##ours) == (size), #ours)
#define AT(ours, a, offset)							\
	_Static_assert(offsetof(struct mlx5r_##ours, a) == (offset), #ours "." #a)

BYTES(wait, 16);
AT(wait, index, 8);
AT(wait, number, 12);
BYTES(wait_data, 32);
AT(wait_data, lkey, 4);
AT(wait_data, addr_fail, 8);
AT(wait_data, value, 16);
AT(wait_data, mask, 24);
BYTES(masked_cs4, 16);
AT(masked_cs4, compare, 4);
AT(masked_cs4, swap_mask, 8);
AT(masked_cs4, compare_mask, 12);
BYTES(masked_cs8, 32);
AT(masked_cs8, compare, 8);
AT(masked_cs8, swap_mask, 16);
AT(masked_cs8, compare_mask, 24);
BYTES(masked_fa4, 16);
AT(masked_fa4, boundary, 4);
BYTES(masked_fa8, 16);
AT(masked_fa8, boundary, 8);
BYTES(calc_operand, 16);
BYTES(vector_calc, 32);
AT(vector_calc, type, 12);
AT(vector_calc, flags, 13);
AT(vector_calc, count, 14);
AT(vector_calc, matrix_lkey, 20);
AT(vector_calc, matrix_addr, 24);
BYTES(vector_data, 16);

#undef SIZE
#undef PLACE
#undef BYTES
#undef AT
