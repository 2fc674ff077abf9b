// SPDX-License-Identifier: GPL-2.0
/*
 * DOCA Verbs: attribute objects, null pointers and values out of range.
 */
#include <doca_verbs.h>
#include <doca_verbs_bridge.h>
#include "tap.h"

#define INVALID	DOCA_ERROR_INVALID_VALUE

/* Sets a value and gets it back; a null object is refused. */
#define BOTH(object, name, value) do {							\
	tap_is(doca_verbs_##object##_set_##name(NULL, value), INVALID,			\
	       #object ": set " #name " of no object");					\
	tap_is(doca_verbs_##object##_set_##name(attr, value), DOCA_SUCCESS,		\
	       #object ": set " #name);							\
	ok(doca_verbs_##object##_get_##name(attr) == (value), #object ": get " #name);	\
	ok(!doca_verbs_##object##_get_##name(NULL), #object ": get " #name " of no object");	\
} while (0)

#define REFUSED(object, name, value)							\
	tap_is(doca_verbs_##object##_set_##name(attr, value), INVALID,			\
	       #object ": " #name " " #value " is refused")

/* Setters only store pointers, so any address will do. */
static long object[8];
#define POINTER(type)	((type *)(void *)object)

static void places(struct doca_verbs_qp_init_attr *attr)
{
	struct doca_umem *umem = POINTER(struct doca_umem), *got;
	struct doca_uar *uar;
	uint64_t offset;

	tap_is(doca_verbs_qp_init_attr_set_external_umem(attr, NULL, 0), INVALID, "no UMEM");
	tap_is(doca_verbs_qp_init_attr_set_external_umem(attr, umem, 4096), DOCA_SUCCESS,
	       "a UMEM for the rings");
	tap_is(doca_verbs_qp_init_attr_set_external_dbr_umem(attr, umem, 64), DOCA_SUCCESS,
	       "a UMEM for the record");
	tap_is(doca_verbs_qp_init_attr_get_external_umem(attr, &got, &offset), DOCA_SUCCESS,
	       "get the UMEM");
	ok(got == umem && offset == 4096, "the UMEM and the offset");
	tap_is(doca_verbs_qp_init_attr_get_external_dbr_umem(attr, &got, &offset), DOCA_SUCCESS,
	       "get the UMEM of the record");
	ok(got == umem && offset == 64, "the UMEM of the record and the offset");
	tap_is(doca_verbs_qp_init_attr_set_external_umem_dbr(attr, umem, 128), DOCA_SUCCESS,
	       "the other name");
	doca_verbs_qp_init_attr_get_external_dbr_umem(attr, &got, &offset);
	tap_is(offset, 128, "the other name sets the same");
	tap_is(doca_verbs_qp_init_attr_get_external_umem(attr, NULL, &offset), INVALID,
	       "no place for the UMEM");
	tap_is(doca_verbs_qp_init_attr_set_external_uar(attr, POINTER(struct doca_uar)),
	       DOCA_SUCCESS, "a UAR");
	tap_is(doca_verbs_qp_init_attr_get_external_uar(attr, &uar), DOCA_SUCCESS, "get the UAR");
	ok(uar == POINTER(struct doca_uar), "the UAR");
}

static void qp_init_attr(void)
{
	struct doca_verbs_qp_init_attr *attr;

	tap_is(doca_verbs_qp_init_attr_create(NULL), INVALID, "qp_init_attr: no result");
	tap_is(doca_verbs_qp_init_attr_create(&attr), DOCA_SUCCESS, "qp_init_attr: create");
	BOTH(qp_init_attr, pd, POINTER(struct doca_verbs_pd));
	BOTH(qp_init_attr, send_cq, POINTER(struct doca_verbs_cq));
	BOTH(qp_init_attr, receive_cq, POINTER(struct doca_verbs_cq));
	BOTH(qp_init_attr, srq, POINTER(struct doca_verbs_srq));
	BOTH(qp_init_attr, qp_context, POINTER(void));
	BOTH(qp_init_attr, qp_type, DOCA_VERBS_QP_TYPE_UC);
	BOTH(qp_init_attr, sq_sig_all, 1);
	BOTH(qp_init_attr, sq_wr, 100);
	BOTH(qp_init_attr, rq_wr, 200);
	BOTH(qp_init_attr, send_max_sges, 3);
	BOTH(qp_init_attr, receive_max_sges, 4);
	BOTH(qp_init_attr, max_inline_data, 64);
	BOTH(qp_init_attr, user_index, 7);
	BOTH(qp_init_attr, core_direct_master, 1);
	BOTH(qp_init_attr, cqe_inline, 1);
	BOTH(qp_init_attr, send_dbr_mode, DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_EXT);
	BOTH(qp_init_attr, emulate_no_dbr_ext, true);
	BOTH(qp_init_attr, ordering_semantic, DOCA_VERBS_QP_ORDERING_SEMANTIC_OOO_ALL);
	BOTH(qp_init_attr, external_datapath_en, 1);
	REFUSED(qp_init_attr, pd, NULL);
	REFUSED(qp_init_attr, send_cq, NULL);
	REFUSED(qp_init_attr, srq, NULL);
	REFUSED(qp_init_attr, qp_type, 2);
	REFUSED(qp_init_attr, ordering_semantic, 3);
	REFUSED(qp_init_attr, external_uar, NULL);
	places(attr);
	tap_is(doca_verbs_qp_init_attr_destroy(attr), DOCA_SUCCESS, "qp_init_attr: destroy");
	tap_is(doca_verbs_qp_init_attr_destroy(NULL), INVALID, "qp_init_attr: destroy none");
}

static void qp_attr(void)
{
	struct doca_verbs_qp_attr *attr;

	tap_is(doca_verbs_qp_attr_create(&attr), DOCA_SUCCESS, "qp_attr: create");
	BOTH(qp_attr, next_state, DOCA_VERBS_QP_STATE_RTS);
	BOTH(qp_attr, current_state, DOCA_VERBS_QP_STATE_RTR);
	BOTH(qp_attr, path_mtu, DOCA_MTU_SIZE_4K_BYTES);
	BOTH(qp_attr, rq_psn, 0xffffff);
	BOTH(qp_attr, sq_psn, 0x123456);
	BOTH(qp_attr, dest_qp_num, 0xabcdef);
	BOTH(qp_attr, allow_remote_write, 1);
	BOTH(qp_attr, allow_remote_read, 1);
	BOTH(qp_attr, atomic_mode, DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_8BYTES);
	BOTH(qp_attr, pkey_index, 0xffff);
	BOTH(qp_attr, port_num, 2);
	BOTH(qp_attr, ack_timeout, 31);
	BOTH(qp_attr, retry_cnt, 7);
	BOTH(qp_attr, rnr_retry, 7);
	BOTH(qp_attr, min_rnr_timer, 31);
	BOTH(qp_attr, max_rd_atomic, 16);
	BOTH(qp_attr, max_dest_rd_atomic, 16);
	REFUSED(qp_attr, next_state, 5);
	REFUSED(qp_attr, path_mtu, DOCA_MTU_SIZE_RAW_ETHERNET);
	REFUSED(qp_attr, rq_psn, 0x1000000);
	REFUSED(qp_attr, dest_qp_num, 0x1000000);
	REFUSED(qp_attr, atomic_mode, 9);
	REFUSED(qp_attr, port_num, 256);
	REFUSED(qp_attr, ack_timeout, 32);
	REFUSED(qp_attr, retry_cnt, 8);
	REFUSED(qp_attr, ah_attr, NULL);
	ok(!doca_verbs_qp_attr_get_ah_attr(attr), "qp_attr: no address yet");
	tap_is(doca_verbs_qp_attr_destroy(attr), DOCA_SUCCESS, "qp_attr: destroy");
}

static void cq_attr(void)
{
	struct doca_verbs_cq_attr *attr;

	tap_is(doca_verbs_cq_attr_create(&attr), DOCA_SUCCESS, "cq_attr: create");
	tap_is(doca_verbs_cq_attr_set_cq_size(attr, 1 << 24), DOCA_SUCCESS, "the greatest size");
	tap_is(doca_verbs_cq_attr_set_cq_overrun(attr, DOCA_VERBS_CQ_ENABLE_OVERRUN),
	       DOCA_SUCCESS, "overrun");
	tap_is(doca_verbs_cq_attr_set_cq_collapsed(attr, 1), DOCA_SUCCESS, "collapsed");
	tap_is(doca_verbs_cq_attr_set_external_datapath_en(attr, 1), DOCA_SUCCESS,
	       "external data path");
	tap_is(doca_verbs_cq_attr_set_entry_size(attr, DOCA_VERBS_CQ_ENTRY_SIZE_128),
	       DOCA_SUCCESS, "entries of 128 bytes");
	tap_is(doca_verbs_cq_attr_set_cq_context(attr, NULL), DOCA_SUCCESS, "no context");
	tap_is(doca_verbs_cq_attr_set_external_umem(attr, NULL, 0), INVALID, "no UMEM");
	REFUSED(cq_attr, cq_size, 0);
	REFUSED(cq_attr, cq_size, (1 << 24) + 1);
	REFUSED(cq_attr, entry_size, 2);
	REFUSED(cq_attr, comp_channel, NULL);
	REFUSED(cq_attr, external_uar, NULL);
	tap_is(doca_verbs_cq_attr_destroy(attr), DOCA_SUCCESS, "cq_attr: destroy");
}

static void srq_init_attr(void)
{
	struct doca_verbs_srq_init_attr *attr;
	struct doca_umem *umem;
	uint64_t offset;

	tap_is(doca_verbs_srq_init_attr_create(&attr), DOCA_SUCCESS, "srq_init_attr: create");
	BOTH(srq_init_attr, pd, POINTER(struct doca_verbs_pd));
	BOTH(srq_init_attr, srq_wr, 64);
	BOTH(srq_init_attr, receive_max_sges, 2);
	BOTH(srq_init_attr, type, DOCA_VERBS_SRQ_TYPE_CONTIGUOUS);
	REFUSED(srq_init_attr, type, 2);
	tap_is(doca_verbs_srq_init_attr_set_external_umem(attr, POINTER(struct doca_umem), 8192),
	       DOCA_SUCCESS, "a UMEM for the ring");
	tap_is(doca_verbs_srq_init_attr_get_external_umem(attr, &umem, &offset), DOCA_SUCCESS,
	       "get the UMEM");
	ok(umem == POINTER(struct doca_umem) && offset == 8192, "the UMEM and the offset");
	tap_is(doca_verbs_srq_init_attr_destroy(attr), DOCA_SUCCESS, "srq_init_attr: destroy");
}

/* Calls without the object that they are about */
static void nothing(void)
{
	struct doca_verbs_async_event event;
	struct doca_verbs_context *ctx;
	struct doca_verbs_cq *cq;
	struct doca_verbs_pd *pd;
	struct ibv_wc wc;
	void *p;

	tap_is(doca_verbs_context_create(NULL, 0, &ctx), INVALID, "a context of no device");
	tap_is(doca_verbs_bridge_verbs_context_create(NULL, 0, &ctx), INVALID,
	       "a context of no device of libibverbs");
	tap_is(doca_verbs_bridge_verbs_context_import(NULL, 0, &ctx), INVALID, "no import");
	tap_is(doca_verbs_context_destroy(NULL), INVALID, "no context");
	tap_is(doca_verbs_context_get_handle(NULL), doca_event_invalid_handle, "no handle");
	tap_is(doca_verbs_pd_create(NULL, &pd), INVALID, "a PD of no context");
	tap_is(doca_verbs_bridge_verbs_pd_import(NULL, &pd), INVALID, "no PD to import");
	ok(!doca_verbs_bridge_verbs_pd_get_ibv_pd(NULL), "no PD of libibverbs");
	tap_is(doca_verbs_pd_destroy(NULL), INVALID, "no PD");
	tap_is(doca_verbs_cq_destroy(NULL), INVALID, "no CQ");
	tap_is(doca_verbs_qp_destroy(NULL), INVALID, "no QP");
	tap_is(doca_verbs_srq_destroy(NULL), INVALID, "no SRQ");
	tap_is(doca_verbs_qp_modify(NULL, NULL, 0), INVALID, "modify no QP");
	tap_is(doca_verbs_qp_query(NULL, NULL, NULL, NULL), INVALID, "query no QP");
	tap_is(doca_verbs_qp_get_qpn(NULL), 0, "the number of no QP");
	tap_is(doca_verbs_cq_get_cqn(NULL), 0, "the number of no CQ");
	tap_is(doca_verbs_srq_get_srqn(NULL), 0, "the number of no SRQ");
	ok(!doca_verbs_qp_get_dbr_addr(NULL) && !doca_verbs_qp_get_uar_addr(NULL) &&
	   !doca_verbs_srq_get_dbr_addr(NULL), "the addresses of no queue");
	tap_is(doca_verbs_comp_channel_destroy(NULL), INVALID, "no channel");
	tap_is(doca_verbs_comp_channel_get_handle(NULL), doca_event_invalid_handle,
	       "the handle of no channel");
	tap_is(doca_verbs_get_cq_event(NULL, &cq, &p), INVALID, "an event of no channel");
	tap_is(doca_verbs_get_async_event(NULL, &event), INVALID, "an event of no context");
	tap_is(doca_verbs_bridge_post_send(NULL, NULL, NULL), EINVAL, "post to no QP");
	tap_is(doca_verbs_bridge_poll_cq(NULL, 1, &wc), -EINVAL, "poll no CQ");
	tap_is(doca_verbs_device_attr_free(NULL), INVALID, "no attributes of a device");
	tap_is(doca_verbs_device_attr_get_max_qp(NULL), 0, "max_qp of none");
	tap_is(doca_umem_destroy(NULL), INVALID, "no UMEM");
	tap_is(doca_uar_destroy(NULL), INVALID, "no UAR");
}

int main(void)
{
	qp_init_attr();
	qp_attr();
	cq_attr();
	srq_init_attr();
	nothing();
	return tap_done();
}
