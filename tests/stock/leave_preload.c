// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into a program, it waits before the program leaves a multicast group.  rdma_rxe of 6.12
 * and 7.3 completes datagrams before it sends them, and drops those that are left when the queue
 * pair ends: mckey sent 0 to 10 of 10.  The one of 6.1 does not.
 */
#include <dlfcn.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	__typeof__(rdma_leave_multicast) *leave;

	*(void **)&leave = dlsym(RTLD_NEXT, "rdma_leave_multicast");
	usleep(500000);
	return leave(id, addr);
}
