// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of a process: number of objects of a file, locked memory, controlled Q_Keys.
 *
 * usage: limits:       needs root; gives up its privileges
 *	  limits rings: locked memory of rings, doorbell records and indirect keys
 *	  limits users: locked memory of a user: fork, file descriptors passed on
 *	  limits exec N: locked memory of a process that executes itself N times
 *	  limits objects N: expects that the rdma cgroup allows N objects
 *	  limits memory N: expects that the memory cgroup allows N MiB
 *	  limits hold:  creates queues, prints their size in bytes, and waits
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { MANY = 5000 };

#define MAX_OBJECTS	"/sys/module/xverbs/parameters/max_objects"

static struct rig r;

static unsigned int set_max_objects(unsigned int n)
{
	FILE *f = fopen(MAX_OBJECTS, "r+");
	unsigned int old = 0;

	if (!f || fscanf(f, "%u", &old) != 1 || fseek(f, 0, SEEK_SET) || fprintf(f, "%u", n) < 0 ||
	    fclose(f))
		bail_out("%s", MAX_OBJECTS);
	return old;
}

static void test_objects(void)
{
	unsigned int old = set_max_objects(3);
	struct xv_context *ctx = xv_open(rig_device(0));
	struct xv_pd *pd[4] = { 0 };
	int i;

	for (i = 0; ctx && i < 4; i++)
		pd[i] = xv_alloc_pd(ctx);
	ok(pd[2] && !pd[3] && errno == ENOSPC && strstr(xv_last_error(), "3 objects"),
	   "too many objects in a file: ENOSPC: %s", xv_last_error());
	ok(pd[0] && !xv_dealloc_pd(pd[0]) && xv_alloc_pd(ctx),
	   "after one is destroyed, one can be created");
	set_max_objects(old);
	xv_close(ctx);
}

static int set_qkey(uint32_t qkey)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_UD, .send_cq = r.cq[0],
		.recv_cq = r.cq[0], .cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = 1, .qkey = qkey };
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &attr);
	int err;

	if (!qp)
		bail_out("%s", xv_last_error());
	err = xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY);
	xv_destroy_qp(qp);
	return err;
}

static void test_memlock(void)
{
	size_t size = 1 << 20;
	void *mem = aligned_alloc(4096, size);
	struct xv_mr *mr;

	mr = xv_reg_mr(r.side[0].pd, mem, size, XV_ACCESS_LOCAL_WRITE);
	ok(!mr && errno == ENOMEM && strstr(xv_last_error(), "RLIMIT_MEMLOCK"),
	   "MR over the limit of locked memory: ENOMEM: %s", xv_last_error());
	ok(!xv_reg_umem(r.side[0].ctx, mem, size) && errno == ENOMEM &&
	   strstr(xv_last_error(), "RLIMIT_MEMLOCK"),
	   "UMEM over the limit: ENOMEM: %s", xv_last_error());
	mr = xv_reg_mr(r.side[0].pd, mem, 65536, XV_ACCESS_LOCAL_WRITE);
	ok(mr && !xv_dereg_mr(mr), "UMEM within the limit");
	free(mem);
}

/* ---- Rings count as locked memory -------------------------------------- */

static int fd;
static uint32_t uar;
static char reason[XVERBS_REASON_MAX];
static uint32_t limit;		/* of the last call that failed */

static int call(unsigned long request, void *arg, uint32_t size)
{
	struct xverbs_hdr *hdr = arg;
	int err;

	hdr->size = size;
	hdr->reason = (uintptr_t)reason;
	hdr->reason_len = sizeof(reason);
	reason[0] = 0;
	err = ioctl(fd, request, arg) ? errno : 0;
	limit = hdr->out_limit;
	return err;
}

#define CALL(_nr, _arg)	call(XVERBS_##_nr, _arg, sizeof(*(_arg)))

/* VmPin of this process in KiB */
static int locked(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	int kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %d", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static int make_cq(struct xverbs_cq_create *cq, uint32_t entries)
{
	*cq = (struct xverbs_cq_create) { .uar = uar, .entries = entries, .cqe_bytes = 64 };
	return CALL(CQ_CREATE, cq);
}

static int destroy(uint32_t handle)
{
	struct xverbs_destroy d = { .handle = handle };

	return CALL(DESTROY, &d);
}

/* Rings of 16 KiB and a page of doorbell records with a limit of 64 KiB */
static void test_rings(void)
{
	struct xverbs_cq_resize resize = { .entries = 1023 };
	struct xverbs_cq_create cq, more;
	void *ring, *dbr;

	ok(make_cq(&cq, 4095) == ENOMEM && limit == XVERBS_LIMIT_MEMLOCK &&
	   strstr(reason, "RLIMIT_MEMLOCK is 65536"),
	   "ring of 256 KiB with a limit of 64 KiB: ENOMEM: %s", reason);
	ok(locked() == 0, "after the failure, %d KiB are locked", locked());
	ok(!make_cq(&cq, 255) && locked() == 20, "ring of 16 KiB: %d KiB are locked", locked());
	resize.cq = cq.out_handle;
	ok(CALL(CQ_RESIZE, &resize) == ENOMEM && limit == XVERBS_LIMIT_MEMLOCK &&
	   strstr(reason, "RLIMIT_MEMLOCK") && locked() == 20,
	   "resize over the limit: ENOMEM: %s", reason);
	ok(!make_cq(&more, 255) && !make_cq(&(struct xverbs_cq_create) {}, 255) &&
	   make_cq(&(struct xverbs_cq_create) {}, 255) == ENOMEM && locked() == 52,
	   "three rings are within the limit: %d KiB", locked());
	ring = mmap(NULL, cq.out_ring.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    cq.out_ring.offset);
	dbr = mmap(NULL, cq.out_dbr.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   cq.out_dbr.offset);
	ok(ring != MAP_FAILED && dbr != MAP_FAILED && locked() == 52,
	   "mapping the rings does not lock more");
	if (!fork())
		_exit(destroy(more.out_handle));
	wait(NULL);
	ok(locked() == 36, "destroyed by a child: %d KiB are locked", locked());
	ok(!destroy(cq.out_handle) && locked() == 36,
	   "destroyed, but still mapped: %d KiB", locked());
	munmap(ring, 4096);
	ok(locked() == 36, "destroyed, partly mapped: %d KiB", locked());
	munmap((char *)ring + 4096, cq.out_ring.length - 4096);
	ok(locked() == 20, "unmapped: %d KiB", locked());
	close(fd);
	munmap(dbr, 4096);
	ok(locked() == 0, "file closed: %d KiB", locked());
}

/* Lists of indirect keys with the same limit: 16 bytes for an entry */
static void test_keys(void)
{
	struct xverbs_mkey_create small = { .max_entries = 64 }, large = { .max_entries = 4096 };
	struct xverbs_mkey_create more = { .max_entries = 65 };
	struct xverbs_pd_alloc pd = {};

	if (CALL(PD_ALLOC, &pd))
		bail_out("PD: %s", reason);
	small.pd = large.pd = more.pd = pd.out_handle;
	if (CALL(MKEY_CREATE, &small) == EOPNOTSUPP) {
		destroy(pd.out_handle);
		return;
	}
	ok(small.out_handle && locked() == 0, "a key of 64 entries: %d KiB are locked", locked());
	ok(!CALL(MKEY_CREATE, &large) && locked() == 64, "4096 entries: %d KiB", locked());
	ok(CALL(MKEY_CREATE, &more) == ENOMEM && limit == XVERBS_LIMIT_MEMLOCK &&
	   strstr(reason, "RLIMIT_MEMLOCK is 65536") && locked() == 64,
	   "65 entries: ENOMEM: %s", reason);
	ok(!destroy(large.out_handle) && locked() == 0, "destroyed: %d KiB", locked());
	ok(!CALL(MKEY_CREATE, &more) && locked() == 4, "65 entries: %d KiB", locked());
	ok(!destroy(more.out_handle) && !destroy(small.out_handle) && !destroy(pd.out_handle) &&
	   locked() == 0, "destroyed: %d KiB", locked());
}

static void open_file(void)
{
	struct xverbs_uar_alloc u = {};

	fd = rig_bound_file(rig_device(0));
	/* The file stays open after exec(). */
	if (fd < 0 || fcntl(fd, F_SETFD, 0) || CALL(UAR_ALLOC, &u))
		bail_out("cannot open %s: %s", rig_device(0), reason);
	uar = u.out_handle;
}

/* Becomes an unprivileged user who may lock @kib KiB. */
static void become(uid_t uid, unsigned int kib)
{
	struct rlimit memory = { kib << 10, kib << 10 };

	if (setrlimit(RLIMIT_MEMLOCK, &memory) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid))
		bail_out("cannot give up privileges");
}

/* In a child process, which has no locked memory */
static void test_unprivileged(void)
{
	open_file();
	become(65534, 64);
	test_keys();
	test_rings();
}

/* ---- The limit is one of the user ---------------------------------------- */

enum { MIB = 1024, RING = 64, FULL = MIB / RING - 1, OTHER = 65533 };

static int report[2];

static void tell(unsigned int n)
{
	if (write(report[1], &n, sizeof(n)) != sizeof(n))
		_exit(1);
}

static unsigned int hear(void)
{
	unsigned int n;

	return read(report[0], &n, sizeof(n)) == sizeof(n) ? n : ~0u;
}

/* Creates rings of 64 KiB until it fails; returns their number. */
static unsigned int fill(void)
{
	struct xverbs_cq_create cq;
	unsigned int n = 0;

	while (n < 2 * FULL && !make_cq(&cq, RING * 1024 / 64 - 1))
		n++;
	return n;
}

/* A process of @uid: how many rings fit in @fd, and then in a file of its own */
static void test_room(uid_t uid, unsigned int passed, unsigned int own, const char *what)
{
	unsigned int n[2];

	fflush(stdout);
	if (!fork()) {
		become(uid, MIB);
		tell(fd < 0 ? 0 : fill());
		open_file();
		tell(fill());
		_exit(0);
	}
	wait(NULL);
	n[0] = hear();
	n[1] = hear();
	ok(n[0] == passed && n[1] == own, "%s: %u rings in this file, %u in a new one", what, n[0],
	   n[1]);
}

static void test_fork(void)
{
	unsigned int n[3];
	pid_t parent;

	/* The child of the child is waited for, too. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fflush(stdout);
	if (!fork()) {
		become(65534, MIB);
		open_file();
		tell(fill());
		parent = getpid();
		if (!fork()) {
			while (getppid() == parent)
				usleep(1000);
			tell(fill());
			open_file();
			tell(fill());
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	n[0] = hear();
	n[1] = hear();
	n[2] = hear();
	ok(n[0] == FULL, "%u rings of %u KiB fit in %u KiB", n[0], RING, MIB);
	ok(!n[1] && !n[2], "when the process has exited, its child can create %u and %u more", n[1],
	   n[2]);
	fd = -1;
	test_room(65534, 0, FULL, "all have exited");
}

static void send_fd(int to)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct iovec iov = { "", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(to, &msg, 0) != 1)
		_exit(1);
}

static void receive_fd(int from)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {};
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control) };

	if (recvmsg(from, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		bail_out("no file descriptor");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
}

static void test_passed(void)
{
	unsigned int n;
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		bail_out("socketpair: %s", strerror(errno));
	fflush(stdout);
	if (!fork()) {
		become(65534, MIB);
		open_file();
		tell(fill());
		tell(uar);
		send_fd(s[1]);
		_exit(0);
	}
	receive_fd(s[0]);
	wait(NULL);
	n = hear();
	uar = hear();
	ok(n == FULL, "a process fills its file with %u rings, passes it on and exits", n);
	test_room(65534, 0, 0, "another process of the user");
	/* The first user has paid for the page of doorbell records. */
	test_room(OTHER, FULL + 1, 0, "a process of another user");
	close(fd);
	fd = -1;
	test_room(65534, 0, FULL, "the file is closed: the first user");
	test_room(OTHER, 0, FULL, "the other user");
}

static void test_users(void)
{
	if (pipe(report))
		bail_out("pipe: %s", strerror(errno));
	test_fork();
	test_passed();
}

/*
 * Keeps a ring and memory in a file that stays open, and executes itself: "next N KIB FD".
 * At last writes to @fd how much was locked.
 */
static void exec_next(char **argv)
{
	static char ring[RING << 10] __attribute__((aligned(4096)));
	static char memory[RING << 10] __attribute__((aligned(4096)));
	struct xverbs_umem_reg umem = { .length = RING << 10 };
	struct xverbs_mr_reg mr = { .length = RING << 10, .access = XVERBS_ACCESS_LOCAL_WRITE };
	struct xverbs_pd_alloc pd = {};
	char left[16], total[16], *next[] = { argv[0], (char *)"next", left, total, argv[4],
		(char *)"--device", (char *)rig_device(0), NULL };
	unsigned int n = (unsigned int)atoi(argv[2]), kib = (unsigned int)atoi(argv[3]);

	if (!n) {
		report[1] = atoi(argv[4]);
		tell(kib);
		_exit(0);
	}
	open_file();
	umem.addr = (uintptr_t)ring;
	mr.addr = mr.iova = (uintptr_t)memory;
	if (CALL(PD_ALLOC, &pd))
		bail_out("PD_ALLOC: %s", reason);
	mr.pd = pd.out_handle;
	kib += CALL(MR_REG, &mr) ? 0 : RING;
	kib += CALL(UMEM_REG, &umem) ? 0 : RING;
	kib += make_cq(&(struct xverbs_cq_create) {}, RING * 1024 / 64 - 1) ? 0 : RING;
	snprintf(left, sizeof(left), "%u", n - 1);
	snprintf(total, sizeof(total), "%u", kib);
	execv(argv[0], next);
	bail_out("exec: %s", strerror(errno));
}

static void test_exec(char **argv)
{
	char to[16], *next[] = { argv[0], (char *)"next", argv[2], (char *)"0", to, NULL };
	unsigned int kib;

	if (pipe(report))
		bail_out("pipe: %s", strerror(errno));
	snprintf(to, sizeof(to), "%d", report[1]);
	fflush(stdout);
	if (!fork()) {
		become(65534, MIB);
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		exec_next(next);
	}
	wait(NULL);
	close(report[1]);
	kib = hear();
	ok(kib && kib <= MIB, "executed %s times, the process has locked %u KiB of %u", argv[2],
	   kib, MIB);
}

static void test_all(void)
{
	static const struct rig_opts opts = { .size = 4096, .unconnected = true };

	test_objects();
	rig_open(&r, &opts);
	ok(!set_qkey(0x80010001), "controlled Q_Key with CAP_NET_RAW");
	become(65534, 256);
	ok(set_qkey(0x80010001) == -EPERM && strstr(xv_last_error(), "CAP_NET_RAW"),
	   "controlled Q_Key without CAP_NET_RAW: EPERM: %s", xv_last_error());
	ok(!set_qkey(0x10001), "other Q_Key without CAP_NET_RAW");
	test_memlock();
	rig_close(&r);
}

static void hold(void)
{
	struct rig_opts opts = { .size = 4096, .depth = 1024, .cqe = 16383, .sge = 1,
		.unconnected = true };
	size_t bytes = 0;
	int i;

	rig_open(&r, &opts);
	for (i = 0; i < 2; i++)
		bytes += (r.cq[i]->mask + 1) * 64 + (r.qp[i]->sq.mask + 1) * 64 +
			 ((r.qp[i]->rq.mask + 1) << r.qp[i]->rq.log_stride);
	printf("holding %zu\n", bytes);
	fflush(stdout);
	pause();
}

/* The rdma cgroup allows one file and n objects. */
static void objects(int n)
{
	struct xv_context *ctx = xv_open(rig_device(0));
	struct xv_pd *pd = NULL, *first = NULL;
	struct xverbs_pd_alloc more = {};
	char text[32];
	int i;

	if (!ctx)
		bail_out("%s", xv_last_error());
	ok(!xv_open(rig_device(0)) && errno == ENOSPC && strstr(xv_last_error(), "hca_handle=1"),
	   "second file: ENOSPC: %s", xv_last_error());
	for (i = 0; i < n; i++) {
		pd = xv_alloc_pd(ctx);
		if (!i)
			first = pd;
	}
	ok(pd != NULL, "create %d objects", n);
	snprintf(text, sizeof(text), "hca_object=%d", n);
	ok(!xv_alloc_pd(ctx) && errno == ENOSPC && strstr(xv_last_error(), text),
	   "one more object: ENOSPC: %s", xv_last_error());
	fd = ctx->fd;
	ok(CALL(PD_ALLOC, &more) == ENOSPC && limit == XVERBS_LIMIT_HCA_OBJECT,
	   "its number: limit %u: %s", limit, reason);
	ok(first && !xv_dealloc_pd(first) && xv_alloc_pd(ctx),
	   "after one is destroyed, one can be created");
	xv_close(ctx);
	ctx = xv_open(rig_device(0));
	ok(ctx && xv_alloc_pd(ctx), "after the file is closed, a new one has room for all");
}

/* The driver itself allocates nothing for the process, as it does for a CQ (in debugfs). */
static int make_srq(uint32_t pd, uint32_t entries)
{
	struct xverbs_srq_create srq = { .pd = pd, .max_wr = entries, .max_sge = 3 };

	return CALL(SRQ_CREATE, &srq);
}

/* Creates a queue larger than the limit; when that has failed, its memory is free again. */
static void too_large(unsigned int limit_mib)
{
	struct xv_cq_init_attr attr = { .cqe = (limit_mib << 20) / 64 };
	struct xv_context *ctx = xv_open(rig_device(0));
	char text[32];

	snprintf(text, sizeof(text), "is %u ", limit_mib << 20);
	ok(ctx && !xv_create_cq(ctx, &attr) && errno == ENOMEM &&
	   strstr(xv_last_error(), "memory.max") && strstr(xv_last_error(), text),
	   "a ring above the limit: ENOMEM: %s", xv_last_error());
	xv_close(ctx);
}

/*
 * Fills the memory cgroup with rings of 1 MiB, then of one page, then with objects that
 * have no ring. The process itself needs no memory meanwhile.
 */
static void memory(unsigned int limit_mib)
{
	struct xverbs_pd_alloc pd = {};
	struct xverbs_mw_alloc mw;
	unsigned int rings = 0, pages = 0, windows = 0;
	char ring_reason[XVERBS_REASON_MAX];
	uint32_t ring_limit;
	int ring_err, page_err, window_err;

	too_large(limit_mib);
	open_file();
	if (CALL(PD_ALLOC, &pd))
		bail_out("PD_ALLOC: %s", reason);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		bail_out("mlockall: %s", strerror(errno));
	while (!(ring_err = make_srq(pd.out_handle, 16383)))
		rings++;
	strcpy(ring_reason, reason);
	ring_limit = limit;
	while (!(page_err = make_srq(pd.out_handle, 63)))
		pages++;
	do {
		mw = (struct xverbs_mw_alloc) { .pd = pd.out_handle, .type = 2 };
		window_err = CALL(MW_ALLOC, &mw);
	} while (!window_err && ++windows < MANY);
	close(fd);
	ok(ring_err == ENOMEM && ring_limit == XVERBS_LIMIT_MEMORY &&
	   strstr(ring_reason, "memory cgroup"),
	   "a ring of 1 MiB more: ENOMEM: %s", ring_reason);
	ok(rings && rings < limit_mib, "%u rings of 1 MiB fit in %u MiB", rings, limit_mib);
	ok(page_err == ENOMEM && pages < 512, "%u rings of a page after them, then ENOMEM", pages);
	ok(window_err == ENOMEM, "%u memory windows after them, then ENOMEM", windows);
	open_file();
	ok(!CALL(PD_ALLOC, &pd) && !make_srq(pd.out_handle, 16383),
	   "after the file is closed, a new one has room");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
	bool number = !strcmp(mode, "objects") || !strcmp(mode, "memory") || !strcmp(mode, "exec");
	int skip = !mode[0] ? 0 : !strcmp(mode, "next") ? 4 : number ? 2 : 1;

	rig_devices(argc - skip, argv + skip);
	if (!strcmp(mode, "hold"))
		hold();
	else if (!strcmp(mode, "rings"))
		test_unprivileged();
	else if (!strcmp(mode, "users"))
		test_users();
	else if (!strcmp(mode, "exec"))
		test_exec(argv);
	else if (!strcmp(mode, "next"))
		exec_next(argv);
	else if (!strcmp(mode, "objects"))
		objects(atoi(argv[2]));
	else if (!strcmp(mode, "memory"))
		memory(atoi(argv[2]));
	else
		test_all();
	return tap_done();
}
