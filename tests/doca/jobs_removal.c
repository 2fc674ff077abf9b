// SPDX-License-Identifier: GPL-2.0
/*
 * usage: jobs_removal DEVICE PCI_ADDRESS
 *
 * The driver is unbound from the device of a connected instance of DOCA 2.2.  The instance is in
 * the error state, takes no jobs, exports nothing, and can be stopped and destroyed.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>
#include "jobs.h"

static struct side a, b;

/* The index of the device in the list, or that of another device */
static uint32_t index_of(const char *device, bool other)
{
	struct doca_devinfo **list;
	uint32_t n, i, found;
	char name[64];

	MUST(doca_devinfo_list_create(&list, &n));
	for (i = 0, found = n; i < n; i++) {
		MUST(doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)));
		if (!strcmp(name, device) != other)
			found = i;
	}
	MUST(doca_devinfo_list_destroy(list));
	if (found == n)
		bail_out("no such device");
	return found;
}

static bool unbind(const char *pci)
{
	int fd = open("/sys/bus/pci/drivers/mlx5_core/unbind", O_WRONLY);
	bool good = fd >= 0 && write(fd, pci, strlen(pci)) == (ssize_t)strlen(pci);

	close(fd);
	return good;
}

/* Polls until the library has seen the removal. */
static bool has_error(void)
{
	struct doca_rdma_result result;
	struct doca_event event = { .result.ptr = &result };
	time_t end = time(NULL) + SECONDS;

	while (state_of(&a) != DOCA_RDMA_STATE_ERROR && time(NULL) <= end)
		doca_workq_progress_retrieve(a.workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	return state_of(&a) == DOCA_RDMA_STATE_ERROR;
}

int main(int argc, char **argv)
{
	const void *blob;
	size_t len;

	if (argc != 3)
		bail_out("usage: jobs_removal DEVICE PCI_ADDRESS");
	open_side(&a, index_of(argv[1], false), 0);
	open_side(&b, index_of(argv[1], true), 0);
	start_side(&a);
	start_side(&b);
	connect_sides(&a, &b);
	tap_is(state_of(&a), DOCA_RDMA_STATE_CONNECTED, "connected");
	ok(unbind(argv[2]), "the driver is unbound");
	ok(has_error(), "the instance is in the error state");
	tap_is(send_job(&a, DOCA_RDMA_JOB_SEND, NULL, 0, 1), DOCA_ERROR_BAD_STATE, "no send");
	tap_is(recv_job(&a, NULL, 2), DOCA_ERROR_BAD_STATE, "no receive");
	tap_is(doca_rdma_export(a.rdma, &blob, &len), DOCA_ERROR_BAD_STATE, "no export");
	stop_side(&a);
	tap_is(state_of(&a), DOCA_RDMA_STATE_RESET, "it is stopped");
	ok(doca_ctx_start(a.ctx) != DOCA_SUCCESS, "it cannot be started again");
	stop_side(&b);
	close_side(&a);
	close_side(&b);
	ok(true, "all can be destroyed");
	return tap_done();
}
