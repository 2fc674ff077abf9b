// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that cannot be destroyed in the adapter, because firmware commands fail.
 * What remains of them must do no harm:
 *
 *	lost events	a process exits; later messages raise events of its queue
 *	lost cq		DESTROY_CQ fails once
 *	lost domain	the key to all memory of a new domain stays: so does the domain
 *	lost import	a file with objects in an imported domain is closed; the domain is not
 *			deallocated before its device is removed
 *	lost removal	the device is removed; its UAR is unmapped, a thread that sleeps on
 *			a channel wakes, and no GID is held
 *
 * Needs xhca and root.  Afterwards the module xverbs cannot be unloaded, except after
 * "lost domain".
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <rdma/xverbs.h>
#include "rig.h"

/* ALLOC_PD, DESTROY_MKEY, DESTROY_RMP: MLX5_CMD_OP_* of linux/mlx5/mlx5_ifc.h */
enum { DESTROY_MKEY = 0x202, ALLOC_PD = 0x800, DESTROY_RMP = 0x90e };

enum { LEN = 64, RECVS = 4, LIMIT = 2, FILES = 512, ALL = 1000000, MARK = 0x5a5a5a5a };

static void write_number(const char *name, unsigned int n)
{
	char file[96];
	FILE *f;

	/* Function 0 is the first device. */
	snprintf(file, sizeof(file), "/sys/kernel/debug/xhca/0/%s", name);
	f = fopen(file, "w");
	if (!f || fprintf(f, "%u", n) < 0 || fclose(f))
		bail_out("%s: %s", file, strerror(errno));
}

/* Makes the next commands fail. */
static void fail_commands(unsigned int n)
{
	write_number("fail_more", n ? n - 1 : 0);
	write_number("fail_command", !!n);
}

/* Makes all commands with this opcode fail, or, with 0, none. */
static void fail_opcode(unsigned int opcode)
{
	write_number("fail_opcode", opcode);
	fail_commands(opcode ? ALL : 0);
}

/* Number of objects of one kind that the adapter has */
static unsigned int objects(const char *kind)
{
	FILE *f = fopen("/sys/kernel/debug/xhca/0/objects", "r");
	char name[16];
	unsigned int n;

	while (f && fscanf(f, "%15s %u", name, &n) == 2) {
		if (strcmp(name, kind))
			continue;
		fclose(f);
		return n;
	}
	bail_out("cannot count %s", kind);
}

static int module_users(void)
{
	FILE *f = fopen("/sys/module/xverbs/refcnt", "r");
	int n = -1;

	if (!f || fscanf(f, "%d", &n) != 1)
		bail_out("cannot read the reference count of the module");
	fclose(f);
	return n;
}

/* ---- A process exits --------------------------------------------------- */

/* Messages from the other process */
static int to_peer[2], from_peer[2];

static void tell(const int *pipe, const struct xt_peer *peer)
{
	if (write(pipe[1], peer, sizeof(*peer)) != sizeof(*peer))
		bail_out("pipe: %s", strerror(errno));
}

static void hear(const int *pipe, struct xt_peer *peer)
{
	if (read(pipe[0], peer, sizeof(*peer)) != sizeof(*peer))
		bail_out("the other process has ended");
}

/* The process that is killed: has an SRQ with an armed limit */
static void victim(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 64 };
	struct xv_srq_init_attr srq_attr = {
		.attr = { .max_wr = RECVS, .max_sge = 1, .srq_limit = LIMIT } };
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct xt_peer peer;
	struct xt_side side;
	struct xv_mr *mr;
	struct xv_qp *qp;
	int i;

	if (xt_side_open(&side, rig_device(0), 1, -1))
		bail_out("%s", xv_last_error());
	mr = xt_mr_alloc(&side, 4096, XV_ACCESS_LOCAL_WRITE);
	attr.srq = xv_create_srq(side.pd, &srq_attr);
	attr.send_cq = attr.recv_cq = xv_create_cq(side.ctx, &cq_attr);
	qp = mr && attr.srq && attr.send_cq ? xv_create_qp(side.pd, &attr) : NULL;
	if (!qp)
		bail_out("%s", xv_last_error());
	for (i = 0; i < RECVS; i++) {
		struct xv_sge sge = { (uintptr_t)mr->addr, LEN, mr->lkey };

		xv_wr_srq_recv(attr.srq, i, &sge, 1);
	}
	xv_commit_srq(attr.srq);
	hear(to_peer, &peer);
	if (xt_connect(qp, &side, &peer, NULL))
		bail_out("%s", xv_last_error());
	xt_peer_of(&side, qp, &peer);
	tell(from_peer, &peer);
	/* All queue pairs are connected: end the process. */
	hear(to_peer, &peer);
	fail_commands(ALL);
	_exit(0);
}

/* New files probably reuse the freed memory. */
static bool silent_files(void)
{
	struct xverbs_async_event event;
	int fd[FILES], i, got = 0;

	for (i = 0; i < FILES; i++)
		fd[i] = open("/dev/xverbs", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	sleep(1);
	for (i = 0; i < FILES; i++) {
		got += read(fd[i], &event, sizeof(event)) > 0;
		close(fd[i]);
	}
	if (got)
		diag("%d files got an event of another file", got);
	return !got;
}

static void test_events(void)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = RECVS, .max_send_sge = 1 } };
	struct xv_cq_init_attr cq_attr = { .cqe = 64 };
	int i, status, users = module_users(), sent = 0;
	struct xt_peer peer;
	struct xt_side side;
	struct xv_sge sge;
	struct xv_mr *mr;
	struct xv_qp *qp;
	pid_t pid;

	if (pipe(to_peer) || pipe(from_peer))
		bail_out("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		victim();
	if (xt_side_open(&side, rig_device(1), 1, -1))
		bail_out("%s", xv_last_error());
	mr = xt_mr_alloc(&side, 4096, 0);
	attr.send_cq = attr.recv_cq = xv_create_cq(side.ctx, &cq_attr);
	qp = mr && attr.send_cq ? xv_create_qp(side.pd, &attr) : NULL;
	if (!qp)
		bail_out("%s", xv_last_error());
	xt_peer_of(&side, qp, &peer);
	tell(to_peer, &peer);
	hear(from_peer, &peer);
	if (xt_connect(qp, &side, &peer, NULL))
		bail_out("%s", xv_last_error());
	tell(to_peer, &peer);
	waitpid(pid, &status, 0);
	fail_commands(0);
	ok(!status, "a process is killed while all commands fail");

	/*
	 * Without data: newer kernels invalidate a memory region with a work request, so the
	 * region of the process has ended although all commands failed.
	 */
	sge = (struct xv_sge) { (uintptr_t)mr->addr, 0, mr->lkey };
	for (i = 0; i < RECVS; i++) {
		xv_wr_send(qp, i, XV_SEND_SIGNALED, &sge);
		xv_commit_send(qp);
		sent += rig_expect(attr.send_cq, i, XV_WC_SUCCESS);
	}
	ok(sent == RECVS, "its QP still receives messages: %d", sent);
	ok(silent_files(), "new files do not get its events");
	xv_destroy_qp(qp);
	xv_destroy_cq(attr.send_cq);
	xt_mr_free(mr);
	xt_side_close(&side);
	ok(module_users() > users, "the module cannot be unloaded");
}

/* ---- A domain whose key to all memory stays ------------------------------------ */

static void verb(int fd, unsigned long cmd, void *arg)
{
	if (ioctl(fd, cmd, arg))
		bail_out("ioctl 0x%lx: %s", cmd, strerror(errno));
}

/* A call that makes a domain fails, succeeds the second time, and one domain stays. */
static void domain_stays(const char *name, int fd, unsigned long cmd, void *arg, size_t size)
{
	struct xverbs_hdr *hdr = arg;
	unsigned int before = objects("pds"), made;
	char reason[XVERBS_REASON_MAX] = "";
	int err;

	hdr->size = size;
	hdr->reason = (uintptr_t)reason;
	hdr->reason_len = sizeof(reason);
	fail_opcode(DESTROY_MKEY);
	err = ioctl(fd, cmd, arg) ? errno : 0;
	fail_opcode(0);
	made = objects("pds") - before;
	ok(err == EREMOTEIO && strstr(reason, "DESTROY_MKEY"), "%s fails: %s", name, reason);
	ok(made == 1, "%s: the domain stays in the adapter: %u", name, made);
	verb(fd, cmd, arg);
}

static void test_domain(void)
{
	struct xverbs_pd_alloc pd = {}, other = { .hdr.size = sizeof(other) };
	struct xverbs_xrcd_open xrcd = { .hdr.size = sizeof(xrcd) };
	struct xverbs_qp_create target = { .type = XVERBS_QPT_XRC_RECV };
	int users = module_users(), fd = rig_bound_file(rig_device(0));

	domain_stays("PD_ALLOC", fd, XVERBS_PD_ALLOC, &pd, sizeof(pd));
	verb(fd, XVERBS_PD_ALLOC, &other);
	ok(pd.out_pdn != other.out_pdn, "new domains have other numbers");
	verb(fd, XVERBS_XRCD_OPEN, &xrcd);
	target.xrcd = xrcd.out_handle;
	domain_stays("first XRC queue pair", fd, XVERBS_QP_CREATE, &target, sizeof(target));
	close(fd);
	ok(module_users() == users, "no reference to the module is left: %d", module_users());
}

/* ---- An imported domain with an object that stays ------------------------------- */

static struct ibv_pd *stock_domain(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d;
	struct ibv_context *ctx = NULL;
	struct ibv_pd *pd;

	for (d = list; d && *d && !ctx; d++)
		if (!strcmp(ibv_get_device_name(*d), rig_device(0)))
			ctx = ibv_open_device(*d);
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	if (!pd)
		bail_out("libibverbs cannot use %s", rig_device(0));
	ibv_free_device_list(list);
	return pd;
}

static uint32_t import(int fd, const struct ibv_pd *pd)
{
	struct xverbs_pd_import arg = { .hdr.size = sizeof(arg), .fd = pd->context->cmd_fd,
		.pd = pd->handle };

	verb(fd, XVERBS_PD_IMPORT, &arg);
	return arg.out_handle;
}

/* The search for a domain allocates one; the library needs no search. */
static void import_without_search(const struct ibv_pd *pd)
{
	struct xv_context *ctx = xv_import_ctx(pd->context->cmd_fd);
	struct xv_pd *imported;

	fail_opcode(ALLOC_PD);
	imported = ctx ? xv_import_pd(ctx, pd->context->cmd_fd, pd->handle) : NULL;
	fail_opcode(0);
	ok(!!imported, "the library imports by the number of netlink: %s", xv_last_error());
	if (imported)
		xv_dealloc_pd(imported);
	xv_close(ctx);
}

/* The SRQ that the kernel made to learn the number of the domain stays in it. */
static void import_with_lost_srq(struct ibv_pd *pd)
{
	struct xverbs_pd_import arg = { .hdr.size = sizeof(arg), .fd = pd->context->cmd_fd,
		.pd = pd->handle };
	int fd = rig_bound_file(rig_device(0)), err;
	unsigned int before = objects("srqs");

	fail_opcode(DESTROY_RMP);
	err = ioctl(fd, XVERBS_PD_IMPORT, &arg) ? errno : 0;
	close(fd);
	fail_opcode(0);
	ok(err == EREMOTEIO && objects("srqs") == before + 1,
	   "an import fails because its SRQ stays: %s", strerror(err));
	ok(ibv_dealloc_pd(pd) == EBUSY, "libibverbs cannot deallocate this domain");
	ok(!system("rdma resource show srq"), "what is left can be listed");
}

static void test_import(void)
{
	struct xverbs_mw_alloc mw = { .hdr.size = sizeof(mw), .type = 2 };
	struct ibv_pd *pd = stock_domain(), *other = stock_domain();
	int stock_fd = pd->context->cmd_fd;
	int fd = rig_bound_file(rig_device(0));
	unsigned int before;
	char command[128];

	import_without_search(pd);
	import_with_lost_srq(stock_domain());
	before = objects("pds");
	mw.pd = import(fd, pd);
	verb(fd, XVERBS_MW_ALLOC, &mw);
	fail_opcode(DESTROY_MKEY);
	close(fd);
	fail_opcode(0);
	ok(ibv_dealloc_pd(pd) == EBUSY, "libibverbs cannot deallocate the domain of a lost window");
	/* ibv_close_device() must not be called while a domain exists. */
	close(stock_fd);
	ok(objects("pds") == before, "the domain stays when its file is closed");
	fd = rig_bound_file(rig_device(0));
	import(fd, other);
	ok(!system("rdma resource show pd"), "other domains can be imported, and all be listed");
	close(fd);
	ok(!ibv_dealloc_pd(other), "these can be deallocated");
	snprintf(command, sizeof(command), "rdma dev set %s netns lost && "
		 "ip netns exec lost rdma dev set %s netns home", rig_device(0), rig_device(0));
	ok(!system(command), "the device leaves and comes back");
	ok(objects("pds") < before, "the domain has gone: %u before, %u now", before,
	   objects("pds"));
}

/* ---- The device is removed --------------------------------------------- */

#define PART(_p) { .addr = (uintptr_t)(_p), .size = sizeof(*(_p)) }

/* An XRC target in RTR: it holds the GID that it uses. */
static void make_target(int fd)
{
	struct xverbs_xrcd_open xrcd = { .hdr.size = sizeof(xrcd) };
	struct xverbs_qp_create qp = { .hdr.size = sizeof(qp), .type = XVERBS_QPT_XRC_RECV };
	struct xverbs_query_gid gid = { .hdr.size = sizeof(gid), .port = 1 };
	struct xverbs_qp_attr attr = { .qp_state = XVERBS_QPS_INIT, .port_num = 1 };
	struct xverbs_ah_attr path = { .is_global = 1, .port_num = 1, .hop_limit = 64 };
	struct xverbs_qp_modify modify = { .hdr.size = sizeof(modify), .attr = PART(&attr) };

	verb(fd, XVERBS_XRCD_OPEN, &xrcd);
	qp.xrcd = xrcd.out_handle;
	verb(fd, XVERBS_QP_CREATE, &qp);
	modify.qp = qp.out_handle;
	modify.attr_mask = XVERBS_QP_STATE | XVERBS_QP_PORT | XVERBS_QP_PKEY_INDEX |
			   XVERBS_QP_ACCESS_FLAGS;
	verb(fd, XVERBS_QP_MODIFY, &modify);
	verb(fd, XVERBS_QUERY_GID, &gid);
	memcpy(path.dgid, gid.out_gid, sizeof(path.dgid));
	attr.qp_state = XVERBS_QPS_RTR;
	attr.path_mtu = 3;
	attr.dest_qp_num = 1;
	modify.ah_attr = (struct xverbs_part)PART(&path);
	modify.attr_mask = XVERBS_QP_STATE | XVERBS_QP_AV | XVERBS_QP_PATH_MTU |
			   XVERBS_QP_DEST_QPN | XVERBS_QP_RQ_PSN | XVERBS_QP_MIN_RNR_TIMER |
			   XVERBS_QP_MAX_DEST_RD_ATOMIC;
	verb(fd, XVERBS_QP_MODIFY, &modify);
}

static void test_removal(void)
{
	struct xverbs_uar_alloc uar = { .hdr.size = sizeof(uar) };
	struct xverbs_channel_alloc channel = { .hdr.size = sizeof(channel) };
	struct xverbs_cq_create cq = { .hdr.size = sizeof(cq), .entries = 15, .cqe_bytes = 64 };
	int fd = rig_bound_file(rig_device(0));
	struct xverbs_clock_map clock = { .hdr.size = sizeof(clock) };
	volatile uint32_t *page, *time;
	struct pollfd p;
	char command[128];

	verb(fd, XVERBS_UAR_ALLOC, &uar);
	verb(fd, XVERBS_CHANNEL_ALLOC, &channel);
	cq.uar = uar.out_handle;
	cq.channel = channel.out_handle;
	verb(fd, XVERBS_CQ_CREATE, &cq);
	page = mmap(NULL, uar.out_map.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    uar.out_map.offset);
	if (page == MAP_FAILED)
		bail_out("mmap: %s", strerror(errno));
	verb(fd, XVERBS_CLOCK_MAP, &clock);
	time = mmap(NULL, clock.out_map.length, PROT_READ, MAP_SHARED, fd, clock.out_map.offset);
	if (time == MAP_FAILED)
		bail_out("mmap: %s", strerror(errno));
	time += clock.out_offset / 4;
	ok(time[0] | time[1], "the clock is mapped");
	/* After the removal the UAR is ordinary memory, which keeps what is written. */
	page[0] = MARK;
	ok(page[0] == MARK, "the UAR is mapped");

	make_target(fd);

	/* Fails both attempts to destroy the QP and the CQ, but no command of other users. */
	fail_commands(4);
	snprintf(command, sizeof(command), "rdma dev set %s netns lost", rig_device(0));
	ok(!system(command), "device removal while commands fail");
	fail_commands(0);
	ok(page[0] != MARK, "the UAR is replaced by ordinary memory");
	ok(!(time[0] | time[1]), "the clock is replaced by zeros");
	p = (struct pollfd) { .fd = channel.out_fd, .events = POLLIN };
	ok(poll(&p, 1, 0) == 1 && p.revents & POLLHUP, "poll on the channel: POLLHUP");
	close(fd);
	close(channel.out_fd);
}

/* ---- A completion queue that the firmware does not destroy ------------------ */

static void test_cq(void)
{
	struct xv_comp_channel *channel;
	struct xt_side side;
	struct xv_cq *cq, *from;
	struct xv_mr *mr;
	struct xv_qp *qp;
	struct pollfd p;
	void *context;
	int err;

	if (xt_side_open(&side, rig_device(0), 1, -1))
		bail_out("%s", xv_last_error());
	mr = xt_mr_alloc(&side, 4096, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE);
	channel = xv_create_comp_channel(side.ctx);
	cq = channel ? xv_create_cq(side.ctx, &(struct xv_cq_init_attr) {
			.cqe = 16, .channel = channel }) : NULL;
	if (!mr || !cq)
		bail_out("%s", xv_last_error());
	p = (struct pollfd) { .fd = channel->fd, .events = POLLIN };

	qp = rig_write_to_self(&side, cq, mr);
	ok(poll(&p, 1, 10000) == 1 && !xv_get_cq_event(channel, &from, &context) && from == cq,
	   "a completion raises an event");
	xv_ack_cq_events(cq, 1);
	ok(rig_expect(cq, 1, XV_WC_SUCCESS), "the completion can be polled");
	xv_destroy_qp(qp);

	fail_commands(1);
	err = xv_destroy_cq(cq);
	fail_commands(0);
	ok(err == -EREMOTEIO, "DESTROY_CQ fails: %s", xv_last_error());
	qp = rig_write_to_self(&side, cq, mr);
	ok(rig_expect(cq, 1, XV_WC_SUCCESS), "the queue still takes completions");
	ok(!poll(&p, 1, 500), "the queue raises no events");
	xv_destroy_qp(qp);
	ok(!xv_destroy_cq(cq), "the second attempt destroys it");
	xv_destroy_comp_channel(channel);
	xt_mr_free(mr);
	xt_side_close(&side);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		bail_out("usage: lost events|cq|domain|import|removal [options]");
	rig_devices(argc - 1, argv + 1);
	if (!strcmp(argv[1], "events"))
		test_events();
	else if (!strcmp(argv[1], "cq"))
		test_cq();
	else if (!strcmp(argv[1], "domain"))
		test_domain();
	else if (!strcmp(argv[1], "import"))
		test_import();
	else
		test_removal();
	return tap_done();
}
