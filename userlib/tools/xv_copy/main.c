// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xv_copy: copies a file or a directory tree with RDMA, between two devices in one
 * process, or between two hosts.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "copy.h"

static struct {
	const char *device[2];
	uint32_t port;
	int gid_index;
	struct geometry geo;
	const char *tcp_port;
	const char *listen_dir;
	bool quiet;
	bool json;
} opt = { .gid_index = -1, .geo = { 16, 128 << 10 } };

static const char usage[] =
	"usage: xv_copy [OPTIONS] SOURCE DIRECTORY         both ends in this process\n"
	"       xv_copy [OPTIONS] SOURCE HOST:[DIRECTORY]  send to xv_copy --listen on HOST\n"
	"       xv_copy [OPTIONS] --listen DIRECTORY       receive one copy\n"
	"Copies the file SOURCE, or the contents of the directory SOURCE, into DIRECTORY\n"
	"with RDMA writes.  DIRECTORY is created if it does not exist; on HOST it is relative\n"
	"to the directory of the receiver.  The checksums of all files are compared.  Modes,\n"
	"modification times and symbolic links are preserved.\n"
	"  -d, --device NAME       RDMA device (default: the first)\n"
	"  -e, --peer-device NAME  device of the receiving end in this process\n"
	"  -p, --port N            port of the device (1)\n"
	"  -x, --gid-index N       local GID (default: RoCE v2 GID of an IPv4 address)\n"
	"  -c, --chunk SIZE        maximum bytes of an RDMA write (128k)\n"
	"  -D, --depth N           RDMA writes in flight (16)\n"
	"  -t, --tcp-port N        TCP port of the receiver (18611)\n"
	"  -l, --listen DIRECTORY  receive into DIRECTORY\n"
	"  -j, --json              show the summary as JSON\n"
	"  -Q, --quiet             do not show progress\n"
	"  -h, --help              show this help\n"
	"The thread that moves the data has a seccomp filter that kills the process at any\n"
	"system call.  Exit status: 0 copied, 1 failed, 2 usage, 3 checksum differs.\n";

static void parse_option(int c)
{
	switch (c) {
	case 'd': opt.device[0] = optarg; break;
	case 'e': opt.device[1] = optarg; break;
	case 'p': opt.port = (uint32_t)xt_number(optarg, "--port", 1, 255); break;
	case 'x': opt.gid_index = (int)xt_number(optarg, "--gid-index", 0, 255); break;
	case 'c':
		opt.geo.slot_size = (uint32_t)xt_number(optarg, "--chunk", 8192, 64 << 20);
		break;
	case 'D': opt.geo.slots = (uint32_t)xt_number(optarg, "--depth", 1, 4096); break;
	case 't': opt.tcp_port = optarg; break;
	case 'l': opt.listen_dir = optarg; break;
	case 'j': opt.json = true; break;
	case 'Q': opt.quiet = true; break;
	case 'h':
		fputs(usage, stdout);
		exit(XT_OK);
	default:
		fputs(usage, stderr);
		exit(XT_USAGE);
	}
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "peer-device", required_argument, NULL, 'e' },
		{ "port", required_argument, NULL, 'p' },
		{ "gid-index", required_argument, NULL, 'x' },
		{ "chunk", required_argument, NULL, 'c' },
		{ "depth", required_argument, NULL, 'D' },
		{ "tcp-port", required_argument, NULL, 't' },
		{ "listen", required_argument, NULL, 'l' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'Q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "d:e:p:x:c:D:t:l:jQh", longs, NULL)) != -1)
		parse_option(c);
	if (argc - optind != (opt.listen_dir ? 0 : 2)) {
		fputs(usage, stderr);
		exit(XT_USAGE);
	}
}

static int open_target(const char *path)
{
	int fd;

	if (mkdir(path, 0777) && errno != EEXIST)
		xt_die(XT_FAILED, "%s: %s", path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		xt_die(XT_FAILED, "%s: %s", path, strerror(errno));
	return fd;
}

/* ---- While the pump runs ----------------------------------------------- */

static void show_progress(const struct end *e, double seconds)
{
	double mib = (double)e->stats.bytes / (1 << 20);

	fprintf(stderr, "\r%8.1f MiB %8.1f MiB/s %8llu files ", mib, mib / seconds,
		(unsigned long long)e->stats.files);
}

/* During the copy the TCP connection carries no data; if it closes, the peer has ended. */
static bool peer_gone(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	return fd >= 0 && poll(&p, 1, 0) > 0 && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void watch(struct pump *p, const struct end *e, int fd)
{
	bool progress = !opt.quiet && isatty(STDERR_FILENO);
	double start = xt_now(), shown = start;

	while (!__atomic_load_n(&p->over, __ATOMIC_ACQUIRE)) {
		usleep(20000);
		if (progress && xt_now() - shown > 0.5) {
			shown = xt_now();
			show_progress(e, shown - start);
		}
		if (peer_gone(fd))
			__atomic_store_n(&p->stop, 1, __ATOMIC_RELEASE);
	}
	if (progress)
		fprintf(stderr, "\r\033[K");
}

static pthread_t start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t id;
	int err = pthread_create(&id, NULL, fn, arg);

	if (err)
		xt_die(XT_FAILED, "cannot start a thread: %s", strerror(err));
	return id;
}

static void report(const struct pump *p, const struct end *e, double seconds)
{
	const struct stats *s = &e->stats;
	double mib = (double)s->bytes / (1 << 20);

	if (opt.json) {
		xt_json_open('{');
		xt_json_str("program", "xv_copy");
		xt_json_num("files", (double)s->files);
		xt_json_num("directories", (double)s->dirs);
		xt_json_num("symlinks", (double)s->symlinks);
		xt_json_num("skipped", (double)s->skipped);
		xt_json_num("bytes", (double)s->bytes);
		xt_json_num("seconds", seconds);
		xt_json_num("mib_per_s", mib / seconds);
		xt_json_num("operations", (double)p->operations);
		xt_json_num("completions", (double)p->polls);
		xt_json_num("data_path_system_calls", 0);
		xt_json_close('}');
		return;
	}
	printf("%llu files, %llu directories, %llu symbolic links: ",
	       (unsigned long long)s->files, (unsigned long long)s->dirs,
	       (unsigned long long)s->symlinks);
	printf("%.1f MiB in %.2f s, %.1f MiB/s\n", mib, seconds, mib / seconds);
	printf("all checksums equal\n");
	printf("system calls on the data path: 0 (%llu operations posted, %llu completions polled,"
	       " checked by seccomp)\n",
	       (unsigned long long)p->operations, (unsigned long long)p->polls);
}

static void check_outcome(const struct pump *p, uint64_t mismatches, uint64_t errors)
{
	if (p->failed)
		xt_die(XT_FAILED, "connection failed: %s",
		       xv_wc_status_str((enum xv_wc_status)p->failed));
	if (p->stop)
		xt_die(XT_FAILED, "connection to the peer lost");
	if (mismatches)
		xt_die(XT_MISMATCH, "%llu files differ", (unsigned long long)mismatches);
	if (errors)
		xt_die(XT_FAILED, "%llu files, directories or links could not be written",
		       (unsigned long long)errors);
}

/* ---- Local copy, sender, receiver -------------------------------------- */

static void copy_local(const char *source, const char *target)
{
	static struct end a, b;
	struct pump pump = { .sender = &a, .receiver = &b };
	struct reader reader = { .end = &a, .pump = &pump, .source = source };
	struct writer writer = { .end = &b, .pump = &pump, .dir = open_target(target) };
	const char *peer = opt.device[1] ? opt.device[1] : opt.device[0];
	struct xt_sealed *thread;
	pthread_t rt, wt;
	double start;

	end_open(&a, opt.device[0], opt.port, opt.gid_index, opt.geo);
	end_open(&b, peer, opt.port, opt.gid_index, opt.geo);
	end_connect_local(&a, &b);
	end_ready(&b);
	start = xt_now();
	thread = xt_sealed_start(pump_run, &pump, PUMP_NICE, NULL, 0);
	rt = start_thread(reader_run, &reader);
	wt = start_thread(writer_run, &writer);
	watch(&pump, &a, -1);
	xt_sealed_join(thread);
	pthread_join(rt, NULL);
	pthread_join(wt, NULL);
	check_outcome(&pump, b.mismatches, b.errors);
	report(&pump, &a, xt_now() - start);
	end_close(&a);
	end_close(&b);
}

static void copy_send(const char *source, char *host)
{
	char *dir = strchr(host, ':');
	static struct end e;
	struct pump pump = { .sender = &e };
	struct reader reader = { .end = &e, .pump = &pump, .source = source };
	struct xt_sealed *thread;
	char line[XT_LINE];
	pthread_t rt;
	double start;
	int fd;

	*dir++ = 0;
	fd = xt_dial(host, opt.tcp_port);
	xt_send_line(fd, "xv_copy 1 %u %u %s", opt.geo.slots, opt.geo.slot_size, *dir ? dir : ".");
	end_open(&e, opt.device[0], opt.port, opt.gid_index, opt.geo);
	end_connect_remote(&e, fd);
	xt_recv_line(fd, line);
	if (strcmp(line, "ready"))
		xt_die(XT_FAILED, "unexpected message from the receiver: %s", line);
	start = xt_now();
	thread = xt_sealed_start(pump_run, &pump, PUMP_NICE, NULL, 0);
	rt = start_thread(reader_run, &reader);
	watch(&pump, &e, fd);
	xt_sealed_join(thread);
	pthread_join(rt, NULL);
	check_outcome(&pump, e.feedback->mismatches, e.feedback->errors);
	report(&pump, &e, xt_now() - start);
	xt_send_line(fd, "bye");
	end_close(&e);
	close(fd);
}

/* Opens a subdirectory, creates it if needed; does not follow a symbolic link. */
static int step_down(int dir, const char *name)
{
	int fd;

	if (!strcmp(name, ".."))
		xt_die(XT_FAILED, "the sender named a path outside the directory");
	if (mkdirat(dir, name, 0777) && errno != EEXIST)
		xt_die(XT_FAILED, "%s: %s", name, strerror(errno));
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		xt_die(XT_FAILED, "%s: %s", name, strerror(errno));
	close(dir);
	return fd;
}

static int open_below(int dir, char *path)
{
	char *name, *rest;

	for (name = strtok_r(path, "/", &rest); name; name = strtok_r(NULL, "/", &rest))
		if (strcmp(name, "."))
			dir = step_down(dir, name);
	return dir;
}

static void copy_receive(void)
{
	int root = open_target(opt.listen_dir), fd, at = 0;
	static struct end e;
	struct pump pump = { .receiver = &e };
	struct writer writer = { .end = &e, .pump = &pump };
	struct xt_sealed *thread;
	char line[XT_LINE], address[32];
	pthread_t wt;
	double start;

	snprintf(address, sizeof(address), ":%s", opt.tcp_port ? opt.tcp_port : "18611");
	fd = xt_listen(address);
	xt_recv_line(fd, line);
	if (sscanf(line, "xv_copy 1 %u %u %n", &opt.geo.slots, &opt.geo.slot_size, &at) != 2 ||
	    !at || !opt.geo.slots || opt.geo.slots > 4096 || opt.geo.slot_size < 8192 ||
	    opt.geo.slot_size > 64 << 20)
		xt_die(XT_FAILED, "the sender uses another protocol: \"%s\"", line);
	writer.dir = open_below(root, line + at);
	end_open(&e, opt.device[0], opt.port, opt.gid_index, opt.geo);
	end_connect_remote(&e, fd);
	end_ready(&e);
	start = xt_now();
	thread = xt_sealed_start(pump_run, &pump, PUMP_NICE, NULL, 0);
	wt = start_thread(writer_run, &writer);
	xt_send_line(fd, "ready");
	watch(&pump, &e, fd);
	xt_sealed_join(thread);
	pthread_join(wt, NULL);
	check_outcome(&pump, e.mismatches, e.errors);
	report(&pump, &e, xt_now() - start);
	xt_recv_line(fd, line);
	end_close(&e);
	close(fd);
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	if (opt.listen_dir)
		copy_receive();
	else if (strchr(argv[optind + 1], ':'))
		copy_send(argv[optind], argv[optind + 1]);
	else
		copy_local(argv[optind], argv[optind + 1]);
	return XT_OK;
}
