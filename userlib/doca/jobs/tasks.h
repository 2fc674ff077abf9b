/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The task API, for engine.c.
 *
 * This library has functions with the names of those that it calls.  So that the linker binds the
 * calls to the other libraries and not to this one, TASK_API() gives a function another name in
 * the object file, and .symver says which function of which version that is.  At run time the
 * version tells the functions apart, too: this library has its functions in XVDOCA_JOBS_0.1.
 */
#ifndef XVDOCA_JOBS_TASKS_H
#define XVDOCA_JOBS_TASKS_H

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#define TASK_API(name)							\
	extern __typeof__(name) name __asm__("xvj_" #name);		\
	__asm__(".symver xvj_" #name ", " #name "@XVDOCA_0.1")

TASK_API(doca_ctx_start);
TASK_API(doca_ctx_stop);
TASK_API(doca_rdma_as_ctx);
TASK_API(doca_rdma_connect);
TASK_API(doca_rdma_create);
TASK_API(doca_rdma_destroy);
TASK_API(doca_rdma_export);
TASK_API(doca_rdma_get_gid_index);
TASK_API(doca_rdma_get_grh_enabled);
TASK_API(doca_rdma_get_mtu);
TASK_API(doca_rdma_get_permissions);
TASK_API(doca_rdma_get_recv_queue_size);
TASK_API(doca_rdma_get_send_queue_size);
TASK_API(doca_rdma_get_sl);
TASK_API(doca_rdma_set_gid_index);
TASK_API(doca_rdma_set_grh_enabled);
TASK_API(doca_rdma_set_mtu);
TASK_API(doca_rdma_set_permissions);
TASK_API(doca_rdma_set_recv_queue_size);
TASK_API(doca_rdma_set_send_queue_size);
TASK_API(doca_rdma_set_sl);

#undef TASK_API

#endif
