/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The firmware commands, by file, lowest first, in the order of hca_build.c.
 */
#ifndef _HCA_CMD_H
#define _HCA_CMD_H

#include "base/alloc.h"
#include "base/command.h"
#include "base/devx.h"
#include "base/limits.h"
#include "base/umem.h"
#include "data/data.h"

/*
 * Enhanced connection establishment (ECE).  Bits 31:28 are a version, the other bits are options
 * of the vendor.  libmlx5 requests version 1 when it creates a QP.  The meaning of the options is
 * not public, so the adapter grants no option.  What adapters in hardware answer is not known.
 */
#define HCA_ECE_VERSION		(1u << 28)

static inline u32 hca_ece_grant(u32 wanted)
{
	return wanted >= HCA_ECE_VERSION ? HCA_ECE_VERSION : 0;
}

/* ---- pd.c -------------------------------------------------------------------------------- */

enum hca_synd hca_cmd_alloc_pd(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_pd(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_alloc_xrcd(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_xrcd(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_alloc_td(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_td(struct hca *hca, const struct hca_cmd *c);

/* ---- caps.c ------------------------------------------------------------------------------ */

int hca_caps_init(struct hca *hca);
void hca_caps_reset(struct hca *hca);
void hca_caps_free(struct hca *hca);
enum hca_synd hca_cmd_query_hca_cap(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_set_hca_cap(struct hca *hca, const struct hca_cmd *c);

/* ---- reg.c ------------------------------------------------------------------------------- */

enum hca_synd hca_cmd_access_reg(struct hca *hca, const struct hca_cmd *c);

/* ---- counter.c --------------------------------------------------------------------------- */

/* Counts @qp in counter set @set and no longer in the one before; 0: in none. */
void hca_counter_join(struct hca_qp *qp, u32 set);
void hca_counter_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_alloc_q_counter(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_q_counter(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_q_counter(struct hca *hca, const struct hca_cmd *c);

/* ---- cong.c ------------------------------------------------------------------------------ */

enum hca_synd hca_cmd_query_cong_params(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_cong_params(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_cong_statistics(struct hca *hca, const struct hca_cmd *c);

/* ---- roce.c ------------------------------------------------------------------------------ */

enum hca_synd hca_cmd_set_roce_address(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_roce_address(struct hca *hca, const struct hca_cmd *c);

/* ---- vport.c ----------------------------------------------------------------------------- */

enum hca_synd hca_cmd_query_vport_state(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_nic_vport(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_nic_vport(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_hca_vport(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_hca_vport(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_vport_gid(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_vport_pkey(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_vport_counter(struct hca *hca, const struct hca_cmd *c);

/* ---- cq.c -------------------------------------------------------------------------------- */

void hca_cq_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_cq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_cq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_cq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_cq(struct hca *hca, const struct hca_cmd *c);

/* ---- srq.c ------------------------------------------------------------------------------- */

void hca_srq_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_arm_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_create_rmp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_rmp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_rmp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_create_xrc_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_xrc_srq(struct hca *hca, const struct hca_cmd *c);

/* ---- qp_state.c -------------------------------------------------------------------------- */

/* If @qp is the QP0 or QP1 of a port, it no longer is. */
void hca_qp_special_leave(struct hca_qp *qp);
/* Has the context what only queues of the driver may have? */
bool hca_qp_privileged(const u32 *qpc);
enum hca_synd hca_cmd_modify_qp(struct hca *hca, const struct hca_cmd *c);

/* ---- qp.c -------------------------------------------------------------------------------- */

/* A new QP or SQ */
struct hca_qp *hca_qp_new(struct hca *hca);
/* Publishes the QP; frees it if @synd is not HCA_OK or there is no room. */
enum hca_synd hca_qp_finish(struct hca_qp *qp, const struct hca_cmd *c, enum hca_synd synd);
void hca_qp_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_qp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_qp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_qp(struct hca *hca, const struct hca_cmd *c);

/* ---- sq.c -------------------------------------------------------------------------------- */

enum hca_synd hca_cmd_create_sq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_sq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_sq(struct hca *hca, const struct hca_cmd *c);

/* ---- dct.c ------------------------------------------------------------------------------- */

enum hca_synd hca_cmd_create_dct(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_dct(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_drain_dct(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_dct(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_arm_dct(struct hca *hca, const struct hca_cmd *c);

/* ---- hca.c ------------------------------------------------------------------------------- */

/* Objects, ports and addresses of a new function.  hca_exit() frees them, also after a failure. */
int hca_init(struct hca *hca);
void hca_exit(struct hca *hca);
/* Begins a reset; @stage: of the function after it. */
void hca_reset_to(struct hca *hca, enum hca_stage stage);

/* ---- start.c ----------------------------------------------------------------------------- */

enum hca_synd hca_cmd_enable_hca(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_disable_hca(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_init_hca(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_teardown_hca(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_adapter(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_pages(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_manage_pages(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_issi(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_set_issi(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_special_contexts(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_nop(struct hca *hca, const struct hca_cmd *c);

/* ---- cmd_table.c ------------------------------------------------------------------------- */

/* NULL: there is no such command. */
const struct hca_opcode *hca_opcode_find(u16 opcode);
const struct hca_opcode *hca_opcode_at(unsigned int i);
const char *hca_synd_text(enum hca_synd synd);
u8 hca_synd_status(enum hca_synd synd);

/* ---- cmd.c ------------------------------------------------------------------------------- */

int hca_cmd_init(struct hca *hca);
void hca_cmd_free(struct hca *hca);
/* Reads the command doorbell and executes one command.  Returns the number executed. */
unsigned int hca_cmd_poll(struct hca *hca);
/* Would hca_cmd_poll() find something to do? */
bool hca_cmd_waits(const struct hca *hca);
/* Executes one command on flat mailboxes.  Writes status and syndrome into @out. */
__visible void hca_cmd_exec(struct hca *hca, const void *in, u32 inlen, void *out, u32 outlen);

#endif
