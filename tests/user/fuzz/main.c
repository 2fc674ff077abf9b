// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the device with all calls of the uAPI.
 *
 * usage: fuzz [--seed N] [--time SECONDS] [--device NAME] [--peer-device NAME]
 *
 * Threads of several processes without privileges make calls with mostly valid arguments (make.c,
 * from the descriptions in calls.c), write requests and rubbish into rings (rings.c), use objects
 * of libibverbs and DEVX beside them (stock.c), change their memory, pass descriptors, fork,
 * execute programs, get signals and die (actions.c).  On the debug kernel some allocations and
 * copies fail.  Meanwhile the kernel is asked for all objects (nldev.c).
 *
 * The choices of a thread depend on the seed and its number only: the same seed gives the same
 * choices, though the threads may run in another order.
 *
 * It is a failure if a call of the uAPI is not in the table or hardly ever succeeds, or if a
 * process ends by itself.  The test suite checks that nothing is left.
 */
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <linux/udmabuf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../rig.h"
#include "fuzz.h"

enum {
	GUEST_FD = 100, WORLD_FD = 101, NOBODY = 65534, GUEST_STEPS = 20,
	MEMLOCK = 256 << 20, KILL_SECONDS = 15, END_SECONDS = 120,
};

/* Far from all other mappings, see struct scratch */
#define SCRATCH_AT	0x200000000000ul
#define ARENA_AT	0x300000000000ul
#define WINDOWS_AT	0x310000000000ul
#define SCRATCH_STEP	(1ul << 24)
#define WINDOWS_BYTES	(512ul * MAX_MAP)

struct world *world;
struct process process;
__thread struct thread *me;

/* ---- Actions ------------------------------------------------------------------------- */

static const struct action {
	const char *name;
	bool (*fn)(struct thread *t);
	unsigned int weight;
} actions[] = {
	{ "call", action_call, 600 },
	{ "post requests", action_post, 100 },
	{ "post receives", action_receive, 30 },
	{ "poll", action_poll, 50 },
	{ "unmap", action_unmap, 10 },
	{ "map", action_map, 20 },
	{ "change arguments of a call", action_scribble, 20 },
	{ "events", action_events, 20 },
	{ "memory", action_memory, 20 },
	{ "pass a descriptor", action_pass, 5 },
	{ "take a descriptor", action_take, 5 },
	{ "signal", action_signal, 10 },
	{ "fork", action_fork, 2 },
	{ "exec", action_exec, 1 },
	{ "reopen", action_reopen, 1 },
	{ "libibverbs", action_stock, 40 },
	{ "DEVX", action_devx, 20 },
	{ "dump", action_dump, 20 },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t hash(uint64_t x, uint64_t y)
{
	x = (x ^ y) * 0xff51afd7ed558ccdull;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

static void one_step(struct thread *t)
{
	static unsigned int total;
	unsigned int i, at, n = 0;
	double begin;

	for (i = 0; !total && i < ARRAY_SIZE(actions); i++)
		n += actions[i].weight;
	if (!total)
		total = n;
	t->random = hash(t->seed, t->step++);
	at = below(t, total);
	for (i = 0; at >= actions[i].weight; i++)
		at -= actions[i].weight;
	begin = now();
	atomic_fetch_add(&world->action[i].tried, 1);
	if (actions[i].fn(t))
		atomic_fetch_add(&world->action[i].good, 1);
	atomic_fetch_add(&world->action[i].us, (now() - begin) * 1e6);
}

void run_steps(struct thread *t, unsigned int n)
{
	while (n-- && !world->stop)
		one_step(t);
}

/* ---- Accesses that may fault, operations that fail ----------------------------------- */

bool guarded(struct thread *t, bool (*fn)(struct thread *t, void *arg), void *arg)
{
	bool good;

	if (sigsetjmp(t->trap, 1)) {
		t->guarded = false;
		return false;
	}
	t->guarded = true;
	good = fn(t, arg);
	t->guarded = false;
	return good;
}

/*
 * The kernel sends SIGSEGV, too, if it was made to fail when it copied to the stack or to the
 * area of restartable sequences; then nothing is wrong.
 */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (me && me->failing && info->si_code == SI_KERNEL)
		return;
	if (me && me->guarded)
		siglongjmp(me->trap, 1);
	signal(sig, SIG_DFL);
}

/* A return from the handler that fails would end the process. */
static void on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	if (me)
		fail_nth(me, 0);
	errno = saved;
}

static void write_nth(struct thread *t, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	/* Copying the text can itself fail. */
	if (pwrite(t->fail_nth, text, len, 0) != len && pwrite(t->fail_nth, text, len, 0) != len)
		t->fail_nth = -1;
}

void fail_nth(struct thread *t, unsigned int n)
{
	char text[16] = {};

	if (t->fail_nth < 0 || (!n && !t->failing))
		return;
	if (!n && pread(t->fail_nth, text, sizeof(text) - 1, 0) > 0 && !atoi(text))
		atomic_fetch_add(&world->failed_nth, 1);
	write_nth(t, n);
	t->failing = n;
}

void fail_sometimes(struct thread *t)
{
	if (chance(t, 5))
		fail_nth(t, draw_size(t, 1, 60));
}

/* ---- Files --------------------------------------------------------------------------- */

static bool better_gid(const struct xverbs_query_gid *gid, const struct xverbs_ah_attr *path)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!gid->index)
		return true;
	return gid->out_type == XVERBS_GID_ROCE_V2 &&
	       (!memcmp(gid->out_gid, mapped, sizeof(mapped)) ||
		memcmp(path->dgid, mapped, sizeof(mapped)));
}

/* The address of the first port: on RoCE, a GID of version 2, of IPv4 if there is one */
void find_path(int fd, struct file *file)
{
	struct xverbs_query_port port = { .hdr.size = sizeof(port), .port = 1 };
	struct xverbs_query_gid gid;
	uint32_t i;

	ioctl(fd, XVERBS_QUERY_PORT, &port);
	file->path = (struct xverbs_ah_attr) { .dlid = port.out_lid, .is_global = 1,
		.port_num = 1, .hop_limit = 64 };
	for (i = 0; i < port.out_gid_tbl_len && i < 16; i++) {
		gid = (struct xverbs_query_gid) { .hdr.size = sizeof(gid), .port = 1, .index = i };
		if (ioctl(fd, XVERBS_QUERY_GID, &gid) || !better_gid(&gid, &file->path))
			continue;
		memcpy(file->path.dgid, gid.out_gid, sizeof(gid.out_gid));
		file->path.sgid_index = i;
	}
}

void file_open(unsigned int index)
{
	static pthread_mutex_t lock[FILES] = { [0 ... FILES - 1] = PTHREAD_MUTEX_INITIALIZER };
	struct file *file = &world->file[process.index][index];
	int *fd = &process.fd[process.index][index];
	struct xv_context *ctx;

	if (process.guest || pthread_mutex_trylock(&lock[index]))
		return;
	file->device = (process.index + index) % 2;
	ctx = xv_open(world->device[file->device]);
	if (!ctx) {
		usleep(20000);
	} else {
		memset(file->slot, 0, sizeof(file->slot));
		file->serial++;
		if (*fd >= 0)
			dup3(ctx->fd, *fd, O_CLOEXEC);
		else
			*fd = fcntl(ctx->fd, F_DUPFD_CLOEXEC, 10);
		xv_close(ctx);
		find_path(*fd, file);
	}
	pthread_mutex_unlock(&lock[index]);
}

/* ---- A process ----------------------------------------------------------------------- */

static void need(bool good, const char *what)
{
	if (!good)
		bail_out("%s: %s", what, strerror(errno));
}

static void *memory_at(uint64_t at, size_t length, int prot)
{
	void *p = mmap((void *)at, length, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		       MAP_FIXED_NOREPLACE, -1, 0);

	need(p == (void *)at, "mmap");
	return p;
}

static void process_setup(unsigned int index)
{
	unsigned int i;

	memset(&process, 0, sizeof(process));
	process.index = index;
	memset(process.fd, -1, sizeof(process.fd));
	memset(process.channel, -1, sizeof(process.channel));
	process.arena = memory_at(ARENA_AT, ARENA, PROT_READ | PROT_WRITE);
	process.windows = memory_at(WINDOWS_AT, WINDOWS_BYTES, PROT_NONE);
	for (i = 0; i < THREADS; i++) {
		struct thread *t = &process.thread[i];

		t->index = i;
		t->fail_nth = -1;
		t->scratch = memory_at(SCRATCH_AT + i * SCRATCH_STEP, sizeof(struct scratch),
				       PROT_READ | PROT_WRITE);
		t->seed = hash(hash(hash(world->seed, index), world->generation[index]), i);
	}
}

/* Nobody else sends signals, which end waits, to a child. */
void become_guest(void)
{
	struct itimerval timer = { { 0, 200000 }, { 0, 200000 } };

	process.guest = true;
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void catch_signals(void)
{
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_NODEFER | SA_SIGINFO };
	struct sigaction other = { .sa_handler = on_signal };

	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	/* Without SA_RESTART, so that it ends waits */
	sigaction(SIGUSR1, &other, NULL);
	sigaction(SIGALRM, &other, NULL);
}

static void drop_privileges(void)
{
	struct rlimit lock = { MEMLOCK, MEMLOCK };

	setrlimit(RLIMIT_MEMLOCK, &lock);
	if (getuid())
		return;
	need(!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	     !setresuid(NOBODY, NOBODY, NOBODY), "set user");
	/* For /proc/self/fail-nth */
	prctl(PR_SET_DUMPABLE, 1);
}

static void *thread_main(void *arg)
{
	struct thread *t = arg;

	me = t;
	world->tid[process.index][t->index] = syscall(SYS_gettid);
	t->fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	while (!world->stop)
		one_step(t);
	stock_end(t);
	return NULL;
}

/* Signals end waits of threads, so that each thread goes on. */
static void wake_threads(void)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (world->tid[process.index][i])
			syscall(SYS_tgkill, getpid(), world->tid[process.index][i], SIGUSR1);
}

static int process_main(unsigned int index)
{
	pthread_t thread[THREADS];
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	drop_privileges();
	process_setup(index);
	catch_signals();
	for (i = 0; i < FILES; i++)
		file_open(i);
	for (i = 0; i < THREADS; i++)
		need(!pthread_create(&thread[i], NULL, thread_main, &process.thread[i]), "thread");
	while (!world->stop) {
		usleep(100000);
		wake_threads();
	}
	for (i = 0; i < THREADS; i++)
		while (pthread_tryjoin_np(thread[i], NULL)) {
			usleep(100000);
			wake_threads();
		}
	return 0;
}

/* A program that a process has executed: one file is open. */
static int guest_main(char **argv)
{
	unsigned int proc = atoi(argv[0]) % PROCS, index = atoi(argv[1]) % FILES;
	struct thread *t = &process.thread[0];

	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED, WORLD_FD, 0);
	need(world != MAP_FAILED, "mmap");
	process_setup(proc);
	process.fd[proc][index] = GUEST_FD;
	catch_signals();
	become_guest();
	me = t;
	t->seed = hash(world->seed, atoi(argv[2]));
	run_steps(t, GUEST_STEPS);
	return 0;
}

/* ---- The main process ---------------------------------------------------------------- */

static void write_file(const char *file, const char *text)
{
	int f = open(file, O_WRONLY);

	if (f < 0)
		return;
	if (write(f, text, strlen(text)) < 0)
		diag("%s: %s", file, strerror(errno));
	close(f);
}

/* Only what /proc/self/fail-nth says fails, and quietly. */
static void setup_failures(void)
{
	write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/failslab/verbose", "0");
	write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	write_file("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	write_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
}

static int make_dmabuf(void)
{
	struct udmabuf_create create = { .size = DMABUF };
	int dev = open("/dev/udmabuf", O_RDWR), mem = memfd_create("fuzz", MFD_ALLOW_SEALING), fd;

	if (dev < 0 || ftruncate(mem, DMABUF) || fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	create.memfd = mem;
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	close(mem);
	return fd;
}

/* The nodes of both devices: a process needs one to bind a file to its device. */
static void find_nodes(void)
{
	struct xv_device **list = xv_get_device_list(NULL);
	int i, side;

	for (i = 0; list && list[i]; i++)
		for (side = 0; side < 2; side++)
			if (!strcmp(list[i]->name, world->device[side]))
				snprintf(world->node[side], sizeof(world->node[side]),
					 "/dev/infiniband/%s", list[i]->dev_name);
	xv_free_device_list(list);
}

static void make_world(uint64_t seed)
{
	int fd = memfd_create("world", 0);
	unsigned int i;

	need(fd >= 0 && dup2(fd, WORLD_FD) == WORLD_FD && !ftruncate(fd, sizeof(*world)), "memfd");
	close(fd);
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED, WORLD_FD, 0);
	need(world != MAP_FAILED, "mmap");
	world->seed = seed;
	snprintf(world->device[0], sizeof(world->device[0]), "%s", rig_device(0));
	snprintf(world->device[1], sizeof(world->device[1]), "%s", rig_device(1));
	find_nodes();
	world->dmabuf = make_dmabuf();
	for (i = 0; i < ARRAY_SIZE(world->shared_fd); i++) {
		world->shared_fd[i] = memfd_create("shared", 0);
		need(!ftruncate(world->shared_fd[i], ARENA), "memfd");
	}
	for (i = 0; i < PROCS; i++)
		need(!socketpair(AF_UNIX, SOCK_DGRAM, 0, world->mail[i]), "socketpair");
}

static bool in_table(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < calls_number(); i++)
		if (call_number(i) == nr)
			return true;
	return false;
}

/* The kernel has no call that the table has not. */
static void check_table(void)
{
	struct xv_context *ctx = xv_open(rig_device(0));
	struct xverbs_query_device device = { .hdr.size = sizeof(device) };
	const char *incomplete = calls_incomplete();
	unsigned int nr, missing = 0;

	if (!ok(!incomplete, "the table describes all members"))
		diag("it does not describe all of %s", incomplete);
	if (!ctx)
		bail_out("%s", xv_last_error());
	for (nr = 0; nr < 256; nr++) {
		if (in_table(nr) || (ioctl(ctx->fd, _IO(XVERBS_TYPE, nr), NULL) && errno == ENOTTY))
			continue;
		diag("call 0x%02x is not in the table", nr);
		missing++;
	}
	ok(!missing, "the table has all calls that the kernel has");
	world->with_dc = !ioctl(ctx->fd, XVERBS_QUERY_DEVICE, &device) && device.out_max_dct;
	xv_close(ctx);
}

static void show_stacks(pid_t pid)
{
	char pattern[64], line[256];
	glob_t g;
	size_t i;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/stack", pid);
	if (glob(pattern, 0, NULL, &g))
		return;
	for (i = 0; i < g.gl_pathc; i++) {
		FILE *f = fopen(g.gl_pathv[i], "r");

		diag("%s", g.gl_pathv[i]);
		while (f && fgets(line, sizeof(line), f))
			diag("%.*s", (int)strcspn(line, "\n"), line);
		if (f)
			fclose(f);
	}
	globfree(&g);
}

static struct {
	pid_t pid;
	bool killed;			/* by us */
} procs[PROCS];

static bool ended_well(unsigned int index, int status)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && procs[index].killed)
		return true;
	diag("process %u, generation %u: status %#x", index, world->generation[index], status);
	return false;
}

static void start(unsigned int index)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(process_main(index));
	need(pid > 0, "fork");
	procs[index].pid = pid;
	procs[index].killed = false;
}

/* Often enough, so that it is tested */
static bool succeeds(unsigned int i)
{
	unsigned int tried = world->call[i].tried, good = world->call[i].good;

	return good >= 3 && good >= tried / 20;
}

static bool all_succeed(void)
{
	unsigned int i;

	for (i = 0; i < calls_number(); i++)
		if (call_possible(i) && !succeeds(i))
			return false;
	return true;
}

static bool restart_ended(void)
{
	bool good = true;
	unsigned int i;
	int status;

	for (i = 0; i < PROCS; i++) {
		if (waitpid(procs[i].pid, &status, WNOHANG) != procs[i].pid)
			continue;
		good &= ended_well(i, status);
		world->generation[i]++;
		start(i);
	}
	return good;
}

/*
 * Watches the processes, asks for all objects, and kills a process from time to time.  On a busy
 * host it takes longer.
 */
static bool watch(double seconds)
{
	double end = now() + seconds, kill_at = now() + KILL_SECONDS;
	unsigned int kills = 0;
	bool good = true;

	while (now() < end || (!all_succeed() && now() < end + 3 * seconds)) {
		usleep(50000);
		dump_next();
		if (now() > kill_at) {
			procs[kills % PROCS].killed = true;
			kill(procs[kills++ % PROCS].pid, SIGKILL);
			kill_at = now() + KILL_SECONDS;
		}
		good &= restart_ended();
	}
	return good;
}

static bool end(void)
{
	double until = now() + END_SECONDS;
	unsigned int i;
	bool good = true;
	int status;

	world->stop = true;
	for (i = 0; i < PROCS; i++) {
		while (waitpid(procs[i].pid, &status, WNOHANG) != procs[i].pid && now() < until)
			usleep(20000);
		if (now() < until) {
			good &= ended_well(i, status);
			continue;
		}
		diag("process %u does not end", i);
		show_stacks(procs[i].pid);
		kill(procs[i].pid, SIGKILL);
		good = false;
	}
	return good;
}

static void report(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(actions); i++)
		diag("%s: %u of %u, %.1f ms each", actions[i].name, world->action[i].good,
		     world->action[i].tried, world->action[i].us / 1e3 /
		     (world->action[i].tried ?: 1));
	diag("operations that were made to fail: %u", world->failed_nth);
	for (i = 0; i < calls_number(); i++)
		ok(succeeds(i) || !call_possible(i), "%s: %u of %u calls succeeded%s", call_name(i),
		   world->call[i].good, world->call[i].tried,
		   call_possible(i) ? "" : " # SKIP not possible here");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' }, { "time", required_argument, NULL, 't' },
		{ "device", required_argument, NULL, 'd' },
		{ "peer-device", required_argument, NULL, 'd' }, { NULL, 0, NULL, 0 },
	};
	uint64_t seed = time(NULL) ^ (uint64_t)getpid() << 32;
	unsigned int i;
	int c, seconds = 30;
	bool good;

	if (argc == 5 && !strcmp(argv[1], "guest"))
		return guest_main(argv + 2);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 't')
			seconds = atoi(optarg);
		else if (c != 'd')
			return 2;
	}
	rig_devices(argc, argv);
	diag("seed %llu", (unsigned long long)seed);
	make_world(seed);
	check_table();
	setup_failures();
	for (i = 0; i < PROCS; i++)
		start(i);
	good = watch(seconds);
	good &= end();
	ok(good, "the processes end well (seed %llu)", (unsigned long long)seed);
	report();
	return tap_done();
}
