// SPDX-License-Identifier: GPL-2.0
/*
 * usage: removal PCI_ADDRESS
 *
 * The driver is unbound from the device while a context has tasks in flight and the program
 * sleeps: it wakes up, the tasks fail, the context stops by itself, and all can be destroyed.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>
#include "rdma.h"

static struct side a, b;
static struct {
	enum doca_ctx_states state[8];
	unsigned int num;
} seen;

static void state_changed(const union doca_data data, struct doca_ctx *ctx,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	(void)prev;
	if (seen.num < 8)
		seen.state[seen.num++] = next;
}

static struct doca_buf *submit_receive(struct done *done)
{
	struct doca_buf *buf = space_at(&a, 0, 4096);
	struct doca_rdma_task_receive *task;

	MUST(doca_rdma_task_receive_allocate_init(a.rdma, buf, pointer(done), &task));
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	return buf;
}

/* The index of the device in the list, or that of another device */
static uint32_t index_of(const char *pci, bool other)
{
	struct doca_devinfo **list;
	uint32_t n, i, found;
	uint8_t equal;

	MUST(doca_devinfo_create_list(&list, &n));
	for (i = 0, found = n; i < n; i++) {
		MUST(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
		if (equal != other)
			found = i;
	}
	MUST(doca_devinfo_destroy_list(list));
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

/* True if the program would wake up within ten seconds */
static bool wakes_up(void)
{
	struct pollfd fd = { .events = POLLIN };

	MUST(doca_pe_get_notification_handle(a.pe, &fd.fd));
	return poll(&fd, 1, 10000) == 1;
}

static bool is_idle(void)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(a.ctx, &state));
	return state == DOCA_CTX_STATE_IDLE;
}

int main(int argc, char **argv)
{
	struct done done[2] = { 0 };
	struct doca_buf *buf[2];
	int i;

	if (argc != 2)
		bail_out("usage: removal PCI_ADDRESS");
	open_side(&a, index_of(argv[1], false), 0);
	open_side(&b, index_of(argv[1], true), 0);
	MUST(doca_ctx_set_state_changed_cb(a.ctx, state_changed));
	start_both(&a, &b);
	connect_sides(&a, &b);
	for (i = 0; i < 2; i++)
		buf[i] = submit_receive(&done[i]);
	MUST(doca_pe_request_notification(a.pe));
	ok(unbind(argv[1]), "the driver is unbound");
	ok(wakes_up(), "the program wakes up");
	MUST(doca_pe_clear_notification(a.pe, 0));
	ok(PROGRESS_UNTIL(&a, &b, is_idle()), "the context stops by itself");
	ok(seen.num == 3 && seen.state[0] == DOCA_CTX_STATE_RUNNING &&
	   seen.state[1] == DOCA_CTX_STATE_STOPPING && seen.state[2] == DOCA_CTX_STATE_IDLE,
	   "the program sees the states");
	ok(done[0].failed == 1 && done[1].failed == 1 && !done[0].completed &&
	   done[0].status == DOCA_ERROR_CONNECTION_ABORTED &&
	   done[1].status == DOCA_ERROR_CONNECTION_ABORTED, "the tasks fail once");
	ok(doca_ctx_stop(a.ctx) == DOCA_SUCCESS, "it is stopped");
	ok(doca_ctx_start(a.ctx) != DOCA_SUCCESS && is_idle(), "it cannot be started again");
	stop_side(&b);
	for (i = 0; i < 2; i++)
		MUST(doca_buf_dec_refcount(buf[i], NULL));
	close_side(&a);
	close_side(&b);
	ok(true, "all can be destroyed");
	return tap_done();
}
