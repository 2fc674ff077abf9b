/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Contexts, protection domains, requests and completions of libibverbs for queues of doca_verbs.h.
 * Compatible with the header of the same name of the DOCA SDK.
 *
 * Results and threads: see doca_verbs.h.
 */
#ifndef XVDOCA_VERBS_BRIDGE_H
#define XVDOCA_VERBS_BRIDGE_H

#include <infiniband/verbs.h>
#include <doca_verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Contexts and protection domains ------------------------------------------------------ */

/* As doca_verbs_context_create() */
doca_error_t doca_verbs_bridge_verbs_context_create(struct ibv_device *ibv_dev, uint32_t flags,
						    struct doca_verbs_context **verbs_context);

/* Uses a context of the program, which must stay open until doca_verbs_context_destroy(). */
doca_error_t doca_verbs_bridge_verbs_context_import(struct ibv_context *ibv_ctx, uint32_t flags,
						    struct doca_verbs_context **verbs_context);

/*
 * Uses a protection domain of the program, which must exist until doca_verbs_pd_destroy().  It is
 * for queues in a context that is imported from pd->context.
 */
doca_error_t doca_verbs_bridge_verbs_pd_import(struct ibv_pd *pd, struct doca_verbs_pd **verbs_pd);

/*
 * The protection domain for functions of libibverbs, such as ibv_reg_mr(), with its context.  An
 * imported one is that of the program, others belong to verbs_pd.  NULL with errno set: it could
 * not be made.  The program must be linked with libxverbs-ibverbs before libibverbs, as pkg-config
 * says.
 */
struct ibv_pd *doca_verbs_bridge_verbs_pd_get_ibv_pd(const struct doca_verbs_pd *verbs_pd);

/* ---- Data path ---------------------------------------------------------------------------- */

/*
 * As the functions of libibverbs: 0 or an error number, and *bad_wr is the first request that was
 * not posted; bad_wr may be NULL.  The functions of one queue may be called by several threads.
 */
int doca_verbs_bridge_post_send(struct doca_verbs_qp *verbs_qp, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr);
int doca_verbs_bridge_post_recv(struct doca_verbs_qp *verbs_qp, struct ibv_recv_wr *wr,
				struct ibv_recv_wr **bad_wr);
int doca_verbs_bridge_post_srq_recv(struct doca_verbs_srq *verbs_srq, struct ibv_recv_wr *wr,
				    struct ibv_recv_wr **bad_wr);

/* The number of completions, or a negative error number */
int doca_verbs_bridge_poll_cq(struct doca_verbs_cq *verbs_cq, int num_entries,
			      struct ibv_wc *ibv_wc);

/*
 * Makes a request of *wr that waits until the completion queue has the entry with the index cq_pi;
 * the first entry of a queue has the index 0.  The caller sets wr_id, next and send_flags
 * afterwards.  Its completion has the opcode IBV_WC_DRIVER1.  A list with such a request is posted
 * one by one.  DOCA_ERROR_NOT_SUPPORTED: the device cannot wait.
 */
doca_error_t doca_verbs_bridge_set_wait_cq_pi_wr(struct doca_verbs_cq *verbs_cq, uint32_t cq_pi,
						 struct ibv_send_wr *wr);

/* The index of the next entry that will be polled */
uint32_t doca_verbs_bridge_get_current_cq_ci(struct doca_verbs_cq *verbs_cq);

#ifdef __cplusplus
}
#endif

#endif
