// SPDX-License-Identifier: GPL-2.0
/*
 * Page faults that take long: with userfaultfd, an access to memory waits until this
 * program resolves the fault. A call that waits for such memory must not delay the
 * removal of its device, and must not undo what other calls have done meanwhile.
 *
 * The device is moved to the network namespace "other", and back to "home".
 * Needs root.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/userfaultfd.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { PAGE = 4096, PATIENCE = 25, SOON = 8, KILLING = 18, KILLED = 1000 };

/* A call that waits, in a child process; the parent resolves its page fault */
struct stall {
	const char *name;
	void (*call)(void);
	int want;		/* errno of the call, or KILLED */
	pid_t pid;
	int to, from;		/* pipes */
};

static int fd, uffd, result;
static volatile bool ended;
static uint8_t *page;		/* every access waits */

static int verb(unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static uint32_t alloc_pd(void)
{
	struct xverbs_pd_alloc pd = { .hdr.size = sizeof(pd) };

	if (verb(XVERBS_PD_ALLOC, &pd))
		bail_out("PD_ALLOC: %s", strerror(errno));
	return pd.out_handle;
}

static int destroy(uint32_t handle)
{
	struct xverbs_destroy arg = { .hdr.size = sizeof(arg), .handle = handle };

	return verb(XVERBS_DESTROY, &arg);
}

/* ---- Memory of which every access waits ----------------------------------------------------- */

static void uffd_call(unsigned long cmd, void *arg)
{
	if (ioctl(uffd, cmd, arg))
		bail_out("userfaultfd 0x%lx: %s", cmd, strerror(errno));
}

static void uffd_open(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };

	/* poll() needs O_NONBLOCK. */
	uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (uffd < 0)
		tap_skip_all("userfaultfd: %s", strerror(errno));
	uffd_call(UFFDIO_API, &api);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void take_away(unsigned long mode)
{
	struct uffdio_register reg = { .range = { (uintptr_t)page, PAGE }, .mode = mode };

	uffd_call(UFFDIO_REGISTER, &reg);
}

static void protect(unsigned long mode)
{
	struct uffdio_writeprotect wp = { .range = { (uintptr_t)page, PAGE }, .mode = mode };

	uffd_call(UFFDIO_WRITEPROTECT, &wp);
}

/* The page is missing: reads and writes wait. */
static void make_missing(void)
{
	take_away(UFFDIO_REGISTER_MODE_MISSING);
}

/* The page can be read; writes wait. */
static void make_readonly(void)
{
	take_away(UFFDIO_REGISTER_MODE_WP);
	protect(UFFDIO_WRITEPROTECT_MODE_WP);
}

/*
 * Returns false if the call ends without waiting.  After poll() there may be nothing to read: the
 * kernel queues a fault before it finds out whether the fault must wait.
 */
static bool wait_fault(struct uffd_msg *msg)
{
	struct pollfd p = { .fd = uffd, .events = POLLIN };

	do {
		poll(&p, 1, 100);
		if (read(uffd, msg, sizeof(*msg)) == sizeof(*msg))
			return msg->event == UFFD_EVENT_PAGEFAULT;
	} while (!ended);
	return false;
}

static void let_go_on(const struct uffd_msg *fault)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)page, PAGE } };

	if (fault->arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP)
		protect(0);
	else
		uffd_call(UFFDIO_ZEROPAGE, &zero);
}

/* ---- Calls that wait ------------------------------------------------------------------- */

static void call_features(void)
{
	struct xverbs_query_features arg = { .hdr.size = sizeof(arg), .count = 1,
		.features = (uintptr_t)page, .entry_size = sizeof(struct xverbs_feature) };

	make_missing();
	result = verb(XVERBS_QUERY_FEATURES, &arg);
}

static void call_devices(void)
{
	struct xverbs_list_devices arg = { .hdr.size = sizeof(arg), .count = 1,
		.devices = (uintptr_t)page, .entry_size = sizeof(struct xverbs_device) };

	make_missing();
	result = verb(XVERBS_LIST_DEVICES, &arg);
}

/* The structure of a call that creates an object */
static void call_pd(void)
{
	struct xverbs_pd_alloc *arg = (void *)page;

	arg->hdr.size = sizeof(*arg);
	make_readonly();
	result = verb(XVERBS_PD_ALLOC, arg);
}

static void call_mr(void)
{
	struct xverbs_mr_reg arg = { .hdr.size = sizeof(arg), .pd = alloc_pd(), .length = PAGE,
		.addr = (uintptr_t)page, .iova = (uintptr_t)page,
		.access = XVERBS_ACCESS_LOCAL_WRITE };

	make_missing();
	result = verb(XVERBS_MR_REG, &arg);
}

static void call_umem(void)
{
	struct xverbs_umem_reg arg = { .hdr.size = sizeof(arg), .addr = (uintptr_t)page,
		.length = PAGE };

	make_missing();
	result = verb(XVERBS_UMEM_REG, &arg);
}

static void *run_call(void *call)
{
	((struct stall *)call)->call();
	ended = true;
	return NULL;
}

/* The process may be the child of one that has run a call. */
static pthread_t start_call(struct stall *s)
{
	pthread_t thread;

	ended = false;
	pthread_create(&thread, NULL, run_call, s);
	return thread;
}

static void bind_file(void)
{
	fd = rig_bound_file(rig_device(0));
	if (fd < 0)
		bail_out("cannot bind to %s: %s", rig_device(0), strerror(errno));
}

/* The child process reports whether it waits, and continues when the parent allows it. */
static void stall_child(struct stall *s)
{
	struct uffd_msg fault;
	pthread_t thread;
	bool waits;

	bind_file();
	uffd_open();
	thread = start_call(s);
	waits = wait_fault(&fault);
	if (write(s->from, &waits, 1) != 1 || read(s->to, &waits, 1) != 1)
		_exit(255);
	if (waits)
		let_go_on(&fault);
	pthread_join(thread, NULL);
	_exit(result);
}

static bool stall_start(struct stall *s)
{
	int to[2], from[2];
	bool waits;

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		bail_out("pipe: %s", strerror(errno));
	fflush(stdout);
	s->pid = fork();
	s->to = s->pid ? to[1] : to[0];
	s->from = s->pid ? from[0] : from[1];
	if (!s->pid)
		stall_child(s);
	close(from[1]);
	close(to[0]);
	if (read(s->from, &waits, 1) != 1)
		bail_out("%s: the process was killed", s->name);
	return waits;
}

static void stall_end(struct stall *s, bool waits)
{
	int status, got;

	if (write(s->to, &waits, 1) != 1)
		diag("%s: the process has ended", s->name);
	waitpid(s->pid, &status, 0);
	got = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? KILLED : WEXITSTATUS(status);
	if (!ok(got == s->want, "%s: %s", s->name,
		s->want == KILLED ? "the process was killed" :
		s->want ? strerror(s->want) : "the call succeeds"))
		diag("status 0x%x, wanted %d", status, s->want);
}

/* ---- Device removal ---------------------------------------------------------------------- */

/* Returns the seconds that the removal takes; after too long, lets all calls continue. */
static int remove_device(void)
{
	char command[128];
	int status, i;
	pid_t pid;

	snprintf(command, sizeof(command), "exec rdma dev set %s netns other", rig_device(0));
	pid = fork();
	if (!pid)
		_exit(system(command) ? 1 : 0);
	for (i = 0; i < PATIENCE * 10; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			ok(!status, "remove the device");
			return i / 10;
		}
		usleep(100000);
	}
	ok(0, "the device is removed within %d seconds", PATIENCE);
	return PATIENCE;
}

static void return_device(void)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "for i in $(seq 100); do ip netns exec other rdma dev set %s netns home && exit 0; sleep 0.1; done; exit 1",
		 rig_device(0));
	if (system(command))
		bail_out("the device does not come back");
}

static void test_removal(struct stall *calls, size_t n, int limit)
{
	size_t i, waiting = 0;
	int took;

	for (i = 0; i < n; i++) {
		if (stall_start(&calls[i])) {
			waiting++;
			continue;
		}
		/* Before Linux 6.3, pinning does not wait for userfaultfd. */
		calls[i].want = EFAULT;
		stall_end(&calls[i], false);
	}
	if (!waiting)
		return;
	took = remove_device();
	ok(took < limit, "removal in %d seconds, although %zu calls wait", took, waiting);
	for (i = 0; i < n; i++)
		if (calls[i].want != EFAULT)
			stall_end(&calls[i], true);
	return_device();
}

/* ---- A reply that fails late ------------------------------------------------ */

/*
 * While the reply of a call waits, its object is destroyed and the handle is reused. The
 * new object must not be destroyed when the reply fails.
 */
static void test_reused_handle(void)
{
	struct stall s = { .call = call_pd };
	struct uffd_msg fault;
	uint32_t before, handle;
	pthread_t thread;

	bind_file();
	uffd_open();
	before = alloc_pd();
	thread = start_call(&s);
	ok(wait_fault(&fault), "the reply of PD_ALLOC waits");
	ok(!destroy(before + 1), "its object can be destroyed before the reply");
	handle = alloc_pd();
	ok(handle == before + 1, "its handle is reused");
	mprotect(page, PAGE, PROT_READ);
	let_go_on(&fault);
	pthread_join(thread, NULL);
	ok(result == EFAULT, "the reply fails: %s", strerror(result));
	ok(!destroy(handle), "the object with the reused handle still exists");
	close(fd);
}

int main(int argc, char **argv)
{
	struct stall replies[] = {
		{ .name = "entries of an array", .call = call_features },
		{ .name = "a list of devices", .call = call_devices },
		{ .name = "the reply of a call that creates an object", .call = call_pd },
	};
	struct stall pins[] = {
		{ .name = "memory to register", .call = call_mr, .want = KILLED },
		{ .name = "memory of rings", .call = call_umem, .want = KILLED },
	};

	/* The child may have been killed. */
	signal(SIGPIPE, SIG_IGN);
	rig_devices(argc, argv);
	test_reused_handle();
	test_removal(replies, ARRAY_SIZE(replies), SOON);
	/* One deadline of ten seconds for all calls */
	test_removal(pins, ARRAY_SIZE(pins), KILLING);
	return tap_done();
}
