// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: delivery of firmware events and ib_core events to files, also of events that
 * need a fabric.
 */
#include <kunit/test.h>

#include "../dct.h"
#include "../qp.h"
#include "../srq.h"

#include "../device.c"
#include "../event.c"

enum { XV_NUMBER = 0x123, XV_PORTS = 2 };

struct xv_listener {
	struct xv_file file;
	struct xv_qp_obj handle;
	struct xv_srq_obj srq;
	struct xv_dct_obj dct;
	struct xv_evsrc sources[1 + XV_PORTS];
};

/* A device with a QP that two files share, and an SRQ of the first file */
struct xv_events {
	struct xv_dev dev;
	struct xv_dev_qp qp;
	struct xv_listener to[2];
};

static void xv_events_add(struct xv_events *e, struct xv_listener *to, u32 n)
{
	u32 i;

	xv_evq_init(&to->file.async, sizeof(struct xverbs_async_event), to->file.log);
	to->handle.obj.file = &to->file;
	xv_evsrc_init(&to->handle.obj.events);
	to->handle.obj.events.handle = 10 + n;
	to->handle.obj.events.user_data = 100 + n;
	list_add(&to->handle.node, &e->qp.handles);
	to->srq.obj.file = &to->file;
	xv_evsrc_init(&to->srq.obj.events);
	to->srq.obj.events.handle = 20 + n;
	to->dct.obj.file = &to->file;
	xv_evsrc_init(&to->dct.obj.events);
	to->dct.obj.events.handle = 30 + n;
	init_completion(&to->dct.drained);
	to->file.sources = to->sources;
	to->file.n_sources = ARRAY_SIZE(to->sources);
	for (i = 0; i < ARRAY_SIZE(to->sources); i++) {
		xv_evsrc_init(&to->sources[i]);
		to->sources[i].port = i;
	}
	list_add(&to->file.dev_node, &e->dev.files);
}

static int xv_event_test_init(struct kunit *test)
{
	struct xv_events *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	void *old;

	if (!e)
		return -ENOMEM;
	mutex_init(&e->dev.files_lock);
	INIT_LIST_HEAD(&e->dev.files);
	xa_init_flags(&e->dev.qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&e->dev.srqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&e->dev.dcts, XA_FLAGS_LOCK_IRQ);
	e->qp.domain = (void *)e;	/* so that it has several handles */
	INIT_LIST_HEAD(&e->qp.handles);
	mutex_init(&e->qp.handles_lock);
	INIT_WORK(&e->qp.deliver, xv_qp_deliver_events);
	xv_events_add(e, &e->to[0], 0);
	xv_events_add(e, &e->to[1], 1);
	old = xa_store_irq(&e->dev.qps, XV_NUMBER, &e->qp, GFP_KERNEL);
	if (!xa_err(old))
		old = xa_store_irq(&e->dev.srqs, XV_NUMBER, &e->to[0].srq.obj,
				   GFP_KERNEL);
	if (!xa_err(old))
		old = xa_store_irq(&e->dev.dcts, XV_NUMBER, &e->to[0].dct,
				   GFP_KERNEL);
	test->priv = e;
	return xa_err(old);
}

static void xv_events_exit(struct kunit *test)
{
	struct xv_events *e = test->priv;
	int i;

	cancel_work_sync(&e->qp.deliver);
	for (i = 0; i < ARRAY_SIZE(e->to); i++)
		xv_evq_exit(&e->to[i].file.async);
	xa_destroy(&e->dev.qps);
	xa_destroy(&e->dev.srqs);
	xa_destroy(&e->dev.dcts);
}

static int xv_raise(struct xv_events *e, unsigned long fw_type, u32 number)
{
	struct mlx5_eqe eqe = {};
	int ret;

	eqe.data.qp_srq.qp_srq_n = cpu_to_be32(number);
	ret = xv_dev_fw_event(&e->dev.fw_events, fw_type, &eqe);
	flush_work(&e->qp.deliver);
	return ret;
}

static void xv_expect_event(struct kunit *test, struct xv_listener *to,
			    u32 type, u32 handle, u32 port)
{
	struct xverbs_async_event event = {};

	KUNIT_ASSERT_TRUE_MSG(test, xv_evq_pop_async(&to->file.async, &event),
			      "no event %u", type);
	KUNIT_EXPECT_EQ(test, event.type, type);
	KUNIT_EXPECT_EQ(test, event.handle, handle);
	KUNIT_EXPECT_EQ(test, event.port, port);
}

static void xv_expect_quiet(struct kunit *test, struct xv_events *e)
{
	struct xverbs_async_event event;
	int i;

	for (i = 0; i < ARRAY_SIZE(e->to); i++)
		KUNIT_EXPECT_FALSE(test, xv_evq_pop_async(&e->to[i].file.async,
							  &event));
}

/* Events of RQs and SQs have other numbers and must be ignored, also unknown ones of DCTs. */
static void xv_test_foreign_events(struct kunit *test)
{
	static const u8 types[] = {
		MLX5_EVENT_QUEUE_TYPE_RQ, MLX5_EVENT_QUEUE_TYPE_SQ,
		MLX5_EVENT_QUEUE_TYPE_DCT,
	};
	struct xv_events *e = test->priv;
	struct mlx5_eqe eqe = {};
	int i;

	eqe.data.qp_srq.qp_srq_n = cpu_to_be32(XV_NUMBER);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		eqe.data.qp_srq.type = types[i];
		xv_dev_fw_event(&e->dev.fw_events,
				MLX5_EVENT_TYPE_WQ_CATAS_ERROR, &eqe);
		xv_expect_quiet(test, e);
	}
}

/*
 * The interrupt does not visit the handles of a QP, which may be many.  While they are
 * locked, it returns, and events of one type are merged.
 */
static void xv_test_deferred_events(struct kunit *test)
{
	struct xv_events *e = test->priv;
	struct mlx5_eqe eqe = {};
	int i;

	eqe.data.qp_srq.qp_srq_n = cpu_to_be32(XV_NUMBER);
	mutex_lock(&e->qp.handles_lock);
	for (i = 0; i < 2; i++)
		xv_dev_fw_event(&e->dev.fw_events,
				MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, &eqe);
	xv_expect_quiet(test, e);
	mutex_unlock(&e->qp.handles_lock);
	flush_work(&e->qp.deliver);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_QP_ACCESS_ERR, 10, 0);
	xv_expect_event(test, &e->to[1], XVERBS_EVENT_QP_ACCESS_ERR, 11, 0);
	xv_expect_quiet(test, e);
}

/* Without an XRC domain, the interrupt gives the event to the only handle. */
static void xv_test_events_in_order(struct kunit *test)
{
	struct xv_events *e = test->priv;
	struct mlx5_eqe eqe = {};

	eqe.data.qp_srq.qp_srq_n = cpu_to_be32(XV_NUMBER);
	e->qp.domain = NULL;
	e->qp.handle = &e->to[0].handle;
	mutex_lock(&e->qp.handles_lock);
	xv_dev_fw_event(&e->dev.fw_events, MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, &eqe);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_QP_ACCESS_ERR, 10, 0);
	xv_dev_fw_event(&e->dev.fw_events, MLX5_EVENT_TYPE_COMM_EST, &eqe);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_COMM_EST, 10, 0);
	mutex_unlock(&e->qp.handles_lock);
	xv_expect_quiet(test, e);
	e->qp.handle = NULL;		/* leaked */
	xv_dev_fw_event(&e->dev.fw_events, MLX5_EVENT_TYPE_COMM_EST, &eqe);
	xv_expect_quiet(test, e);
}

/* An event of a QP goes to all files that have a handle of it. */
static void xv_test_qp_events(struct kunit *test)
{
	static const struct {
		unsigned long fw;
		u32 type;
	} events[] = {
		{ MLX5_EVENT_TYPE_PATH_MIG, XVERBS_EVENT_PATH_MIG },
		{ MLX5_EVENT_TYPE_PATH_MIG_FAILED, XVERBS_EVENT_PATH_MIG_ERR },
		{ MLX5_EVENT_TYPE_COMM_EST, XVERBS_EVENT_COMM_EST },
		{ MLX5_EVENT_TYPE_SQ_DRAINED, XVERBS_EVENT_SQ_DRAINED },
		{ MLX5_EVENT_TYPE_SRQ_LAST_WQE,
		  XVERBS_EVENT_QP_LAST_WQE_REACHED },
		{ MLX5_EVENT_TYPE_WQ_CATAS_ERROR, XVERBS_EVENT_QP_FATAL },
		{ MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR,
		  XVERBS_EVENT_QP_REQ_ERR },
		{ MLX5_EVENT_TYPE_WQ_ACCESS_ERROR,
		  XVERBS_EVENT_QP_ACCESS_ERR },
	};
	struct xv_events *e = test->priv;
	int i;

	e->qp.want_drained = true;
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		KUNIT_EXPECT_EQ(test, xv_raise(e, events[i].fw, XV_NUMBER),
				(int)NOTIFY_OK);
		xv_expect_event(test, &e->to[0], events[i].type, 10, 0);
		xv_expect_event(test, &e->to[1], events[i].type, 11, 0);
	}
	e->qp.want_drained = false;
	xv_raise(e, MLX5_EVENT_TYPE_SQ_DRAINED, XV_NUMBER);
	xv_raise(e, MLX5_EVENT_TYPE_COMM_EST, XV_NUMBER + 1);
	KUNIT_EXPECT_EQ(test, xv_raise(e, MLX5_EVENT_TYPE_CMD, XV_NUMBER),
			(int)NOTIFY_DONE);
	/* The argument of mlx5_core, when the firmware has failed */
	KUNIT_EXPECT_EQ(test, xv_dev_fw_event(&e->dev.fw_events,
					      MLX5_DEV_EVENT_SYS_ERROR,
					      (void *)1), (int)NOTIFY_DONE);
	xv_expect_quiet(test, e);
}

static void xv_test_srq_events(struct kunit *test)
{
	struct xv_events *e = test->priv;

	xv_raise(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, XV_NUMBER);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_SRQ_LIMIT_REACHED, 20, 0);
	xv_raise(e, MLX5_EVENT_TYPE_SRQ_CATAS_ERROR, XV_NUMBER);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_SRQ_ERR, 20, 0);
	xv_raise(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, XV_NUMBER + 1);
	xv_expect_quiet(test, e);
}

/* The number of a DC target may be that of a queue pair too. */
static void xv_test_dct_events(struct kunit *test)
{
	struct mlx5_eqe eqe = { .data.dct.dctn = cpu_to_be32(XV_NUMBER) };
	struct xv_events *e = test->priv;
	struct xv_dct_obj *dct = &e->to[0].dct;

	KUNIT_EXPECT_EQ(test, xv_dev_fw_event(&e->dev.fw_events,
					      MLX5_EVENT_TYPE_DCT_DRAINED,
					      &eqe), (int)NOTIFY_OK);
	KUNIT_EXPECT_TRUE(test, completion_done(&dct->drained));
	xv_expect_quiet(test, e);

	eqe.data.qp_srq.type = MLX5_EVENT_QUEUE_TYPE_DCT;
	xv_dev_fw_event(&e->dev.fw_events, MLX5_EVENT_TYPE_WQ_ACCESS_ERROR,
			&eqe);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_DCT_ACCESS_ERR, 30, 0);
	xv_dev_fw_event(&e->dev.fw_events, MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR,
			&eqe);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_DCT_REQ_ERR, 30, 0);
	KUNIT_EXPECT_EQ(test, dct->arm_state, (u32)XVERBS_DCT_NOT_ARMED);
	xv_dct_event(&e->dev, XV_NUMBER, MLX5_EVENT_TYPE_DCT_KEY_VIOLATION);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_DCT_KEY_VIOLATION, 30, 0);
	KUNIT_EXPECT_EQ(test, dct->arm_state, (u32)XVERBS_DCT_FIRED);
	xv_dct_event(&e->dev, XV_NUMBER + 1, MLX5_EVENT_TYPE_DCT_KEY_VIOLATION);
	xv_expect_quiet(test, e);
}

/* Events are read in the order of time; only neighbours of one type and object are merged. */
static void xv_test_order(struct kunit *test)
{
	struct xv_events *e = test->priv;
	int i;

	for (i = 0; i < 3; i++) {
		xv_raise(e, MLX5_EVENT_TYPE_COMM_EST, XV_NUMBER);
		xv_raise(e, MLX5_EVENT_TYPE_COMM_EST, XV_NUMBER);
		xv_raise(e, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, XV_NUMBER);
		xv_raise(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, XV_NUMBER);
	}
	for (i = 0; i < 3; i++) {
		xv_expect_event(test, &e->to[0], XVERBS_EVENT_COMM_EST, 10, 0);
		xv_expect_event(test, &e->to[0], XVERBS_EVENT_QP_FATAL, 10, 0);
		xv_expect_event(test, &e->to[0], XVERBS_EVENT_SRQ_LIMIT_REACHED, 20, 0);
		xv_expect_event(test, &e->to[1], XVERBS_EVENT_COMM_EST, 11, 0);
		xv_expect_event(test, &e->to[1], XVERBS_EVENT_QP_FATAL, 11, 0);
	}
	xv_expect_quiet(test, e);
}

static void xv_raise_port(struct xv_events *e, u32 port, enum ib_event_type type)
{
	struct ib_event event = { .event = type, .element.port_num = port };

	xv_dev_ib_event(&e->dev.ib_events, &event);
}

/* Fills the logs of both files; port 1 is active at the end. */
static void xv_flap(struct xv_events *e)
{
	int i;

	for (i = 0; i < XVERBS_EVENT_LOG / 2; i++) {
		xv_raise_port(e, 1, IB_EVENT_PORT_ERR);
		xv_raise_port(e, 1, IB_EVENT_PORT_ACTIVE);
	}
}

static void xv_expect_flaps(struct kunit *test, struct xv_listener *to, int n)
{
	while (n--) {
		xv_expect_event(test, to, XVERBS_EVENT_PORT_ERR, 0, 1);
		xv_expect_event(test, to, XVERBS_EVENT_PORT_ACTIVE, 0, 1);
	}
}

/* With a full log, an object keeps each type once, and the latest is read last. */
static void xv_test_full_log(struct kunit *test)
{
	struct xv_events *e = test->priv;
	struct xv_listener *to = &e->to[0];

	xv_flap(e);
	xv_flap(e);
	xv_raise_port(e, 2, IB_EVENT_PORT_ACTIVE);
	xv_raise_port(e, 2, IB_EVENT_GID_CHANGE);
	xv_raise_port(e, 2, IB_EVENT_PORT_ERR);
	xv_expect_flaps(test, to, XVERBS_EVENT_LOG / 2);
	/* The log is empty, but this event waits behind the events that are stored in sources. */
	xv_raise_port(e, 1, IB_EVENT_PORT_ERR);
	xv_expect_event(test, to, XVERBS_EVENT_PORT_ACTIVE, 0, 1);
	xv_expect_event(test, to, XVERBS_EVENT_PORT_ACTIVE, 0, 2);
	xv_expect_event(test, to, XVERBS_EVENT_PORT_ERR, 0, 1);
	xv_expect_event(test, to, XVERBS_EVENT_GID_CHANGE, 0, 2);
	xv_expect_event(test, to, XVERBS_EVENT_PORT_ERR, 0, 2);
	KUNIT_EXPECT_TRUE(test, !xv_evq_poll(&to->file.async, NULL, NULL));
	xv_flap(e);
	xv_expect_flaps(test, to, XVERBS_EVENT_LOG / 2);
	KUNIT_EXPECT_TRUE(test, !xv_evq_poll(&to->file.async, NULL, NULL));
}

/* The unread events of an object go with it, from the log too; others keep their order. */
static void xv_test_stopped_source(struct kunit *test)
{
	struct xv_events *e = test->priv;
	struct xv_evq *q = &e->to[0].file.async;
	struct xv_evsrc *srq = &e->to[0].srq.obj.events;

	xv_raise_port(e, 1, IB_EVENT_PORT_ERR);
	xv_raise(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, XV_NUMBER);
	xv_raise_port(e, 1, IB_EVENT_PORT_ACTIVE);
	xv_raise(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, XV_NUMBER);
	KUNIT_EXPECT_EQ(test, xv_evsrc_stop(q, srq), 0u);
	xv_expect_flaps(test, &e->to[0], 1);
	xv_flap(e);
	xv_raise(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, XV_NUMBER);
	KUNIT_EXPECT_EQ(test, xv_evsrc_stop(q, srq), 0u);
	xv_expect_flaps(test, &e->to[0], XVERBS_EVENT_LOG / 2);
	xv_raise(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, XV_NUMBER);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_SRQ_LIMIT_REACHED, 20, 0);
	KUNIT_EXPECT_EQ(test, xv_evsrc_stop(q, srq), 1u);
	KUNIT_EXPECT_TRUE(test, !xv_evq_poll(q, NULL, NULL));
}

/* A full log does not hold back the last event of a device. */
static void xv_test_full_log_removal(struct kunit *test)
{
	struct xv_events *e = test->priv;
	struct xv_listener *to = &e->to[0];

	xv_flap(e);
	xv_evq_kill(&to->file.async, &to->sources[0]);
	xv_expect_flaps(test, to, XVERBS_EVENT_LOG / 2);
	xv_expect_event(test, to, XVERBS_EVENT_DEVICE_FATAL, 0, 0);
	KUNIT_EXPECT_TRUE(test, xv_evq_poll(&to->file.async, NULL, NULL) == (EPOLLHUP | EPOLLERR));
}

/* Port and device events go to all files, other ib_core events to none. */
static void xv_test_port_events(struct kunit *test)
{
	static const enum ib_event_type types[] = {
		IB_EVENT_PORT_ACTIVE, IB_EVENT_PORT_ERR, IB_EVENT_LID_CHANGE,
		IB_EVENT_PKEY_CHANGE, IB_EVENT_SM_CHANGE,
		IB_EVENT_CLIENT_REREGISTER, IB_EVENT_GID_CHANGE,
	};
	struct xv_events *e = test->priv;
	struct ib_event event = { .element.port_num = XV_PORTS };
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		event.event = types[i];
		xv_dev_ib_event(&e->dev.ib_events, &event);
		xv_expect_event(test, &e->to[0], types[i], 0, XV_PORTS);
		xv_expect_event(test, &e->to[1], types[i], 0, XV_PORTS);
	}
	event.element.port_num = XV_PORTS + 1;
	xv_dev_ib_event(&e->dev.ib_events, &event);
	event.event = IB_EVENT_QP_FATAL;
	xv_dev_ib_event(&e->dev.ib_events, &event);
	xv_expect_quiet(test, e);
	event.event = IB_EVENT_DEVICE_FATAL;
	xv_dev_ib_event(&e->dev.ib_events, &event);
	xv_expect_event(test, &e->to[0], XVERBS_EVENT_DEVICE_FATAL, 0, 0);
	xv_expect_event(test, &e->to[1], XVERBS_EVENT_DEVICE_FATAL, 0, 0);
}

/* cqe_version 0 (Connect-IB) is refused. */
static void xv_test_too_old(struct kunit *test)
{
	struct mlx5_core_dev *mdev = kunit_kzalloc(test, sizeof(*mdev), GFP_KERNEL);
	struct mlx5_hca_cap *cap = kunit_kzalloc(test, sizeof(*cap), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mdev);
	KUNIT_ASSERT_NOT_NULL(test, cap);
	mdev->caps.hca[MLX5_CAP_GENERAL] = cap;
	KUNIT_EXPECT_NOT_NULL(test, xv_dev_caps_why_not(mdev));
	MLX5_SET(cmd_hca_cap, cap->cur, cqe_version, 1);
	KUNIT_EXPECT_NULL(test, xv_dev_caps_why_not(mdev));
}

/* Devices with DMA that needs synchronisation are refused. */
static void xv_test_dma(struct kunit *test)
{
	struct io_tlb_mem tlb = { .force_bounce = true };
	struct device *dma = kunit_kzalloc(test, sizeof(*dma), GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, !!dma);
	KUNIT_EXPECT_TRUE(test, !xv_dma_why_not(dma));
	dma->dma_io_tlb_mem = &tlb;
	KUNIT_EXPECT_TRUE(test, !!xv_dma_why_not(dma));
}

static struct kunit_case xv_event_cases[] = {
	KUNIT_CASE(xv_test_dma),
	KUNIT_CASE(xv_test_foreign_events),
	KUNIT_CASE(xv_test_deferred_events),
	KUNIT_CASE(xv_test_events_in_order),
	KUNIT_CASE(xv_test_qp_events),
	KUNIT_CASE(xv_test_srq_events),
	KUNIT_CASE(xv_test_dct_events),
	KUNIT_CASE(xv_test_order),
	KUNIT_CASE(xv_test_full_log),
	KUNIT_CASE(xv_test_stopped_source),
	KUNIT_CASE(xv_test_full_log_removal),
	KUNIT_CASE(xv_test_port_events),
	KUNIT_CASE(xv_test_too_old),
	{}
};

static struct kunit_suite xv_event_suite = {
	.name = "xverbs-events",
	.init = xv_event_test_init,
	.exit = xv_events_exit,
	.test_cases = xv_event_cases,
};

kunit_test_suite(xv_event_suite);
