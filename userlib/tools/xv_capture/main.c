// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xv_capture: writes the RoCE frames of a network interface as pcapng.
 *
 * A packet socket gets them; a filter in the kernel drops all others.  The file is flushed whenever
 * the socket is empty, so that a program can show the frames as they come.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "pcapng.h"
#include "tool.h"

enum {
	MAX_FRAME	= 65535,
	MIN_SNAPLEN	= 64,
	WAIT_MS		= 100,
	SOCKET_BYTES	= 16 << 20,	/* of frames that wait for this program */
	ROCE_PORT	= 4791,
	ROCE_ETHERTYPE	= 0x8915,
};

static struct {
	const char *interface, *file;
	uint32_t snaplen;
	uint64_t count;			/* frames after which it ends; 0: no limit */
} opt = { .snaplen = MAX_FRAME };

static const char usage[] =
	"usage: xv_capture [--snaplen BYTES] [--count N] INTERFACE FILE|-\n"
	"Writes the RoCE frames of a network interface as pcapng; -: to standard output.\n"
	"  -s, --snaplen BYTES  keep at most so much of a frame (65535)\n"
	"  -c, --count N        end after N frames\n"
	"  -h, --help           show this help\n";

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

/* ---- The socket ------------------------------------------------------------------------ */

/*
 * RoCE v1, and UDP to the port of RoCE v2 over IPv4 without options or fragments, or over IPv6
 * without extension headers.  X is 4 if there is a VLAN tag.
 */
#define TO(from, to)	((to) - (from) - 1)
#define ACCEPT		20
#define REJECT		21
static const struct sock_filter filter[] = {
	[0] = BPF_STMT(BPF_LDX | BPF_IMM, 0),
	[1] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
	[2] = BPF_JUMP(BPF_JMP | BPF_JEQ, ETH_P_8021Q, 0, TO(2, 5)),
	[3] = BPF_STMT(BPF_LDX | BPF_IMM, 4),
	[4] = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 16),
	[5] = BPF_JUMP(BPF_JMP | BPF_JEQ, ROCE_ETHERTYPE, TO(5, ACCEPT), 0),
	[6] = BPF_JUMP(BPF_JMP | BPF_JEQ, ETH_P_IP, 0, TO(6, 15)),
	[7] = BPF_STMT(BPF_LD | BPF_H | BPF_IND, 20),
	[8] = BPF_JUMP(BPF_JMP | BPF_JSET, 0x3fff, TO(8, REJECT), 0),
	[9] = BPF_STMT(BPF_LD | BPF_B | BPF_IND, 14),
	[10] = BPF_JUMP(BPF_JMP | BPF_JEQ, 0x45, 0, TO(10, REJECT)),
	[11] = BPF_STMT(BPF_LD | BPF_B | BPF_IND, 23),
	[12] = BPF_JUMP(BPF_JMP | BPF_JEQ, IPPROTO_UDP, 0, TO(12, REJECT)),
	[13] = BPF_STMT(BPF_LD | BPF_H | BPF_IND, 36),
	[14] = BPF_STMT(BPF_JMP | BPF_JA, TO(14, 19)),
	[15] = BPF_JUMP(BPF_JMP | BPF_JEQ, ETH_P_IPV6, 0, TO(15, REJECT)),
	[16] = BPF_STMT(BPF_LD | BPF_B | BPF_IND, 20),
	[17] = BPF_JUMP(BPF_JMP | BPF_JEQ, IPPROTO_UDP, 0, TO(17, REJECT)),
	[18] = BPF_STMT(BPF_LD | BPF_H | BPF_IND, 56),
	[19] = BPF_JUMP(BPF_JMP | BPF_JEQ, ROCE_PORT, 0, TO(19, REJECT)),
	[ACCEPT] = BPF_STMT(BPF_RET | BPF_K, MAX_FRAME),
	[REJECT] = BPF_STMT(BPF_RET | BPF_K, 0),
};
#undef TO

static void set_option(int fd, int level, int name, const void *value, socklen_t bytes)
{
	if (setsockopt(fd, level, name, value, bytes))
		xt_die(XT_FAILED, "option %d of the socket: %s", name, strerror(errno));
}

/* Protocol 0 receives nothing, until the socket has its filter and is bound. */
static int open_socket(void)
{
	const struct sock_fprog program = {
		.len = ARRAY_SIZE(filter), .filter = (struct sock_filter *)filter,
	};
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(opt.interface),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), on = 1, bytes = SOCKET_BYTES;

	if (!addr.sll_ifindex)
		xt_die(XT_FAILED, "there is no interface %s", opt.interface);
	if (fd < 0)
		xt_die(XT_FAILED, "a packet socket needs CAP_NET_RAW: %s", strerror(errno));
	set_option(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
	set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	/* Without CAP_NET_ADMIN it has the usual size. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		xt_die(XT_FAILED, "cannot bind to %s: %s", opt.interface, strerror(errno));
	return fd;
}

static void read_address(int fd, uint8_t mac[ETH_ALEN])
{
	struct ifreq ifr = {};

	strncpy(ifr.ifr_name, opt.interface, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCGIFHWADDR, &ifr))
		xt_die(XT_FAILED, "address of %s: %s", opt.interface, strerror(errno));
	memcpy(mac, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
}

/* ---- Frames ---------------------------------------------------------------------------- */

struct frame {
	uint8_t at[MAX_FRAME];
	uint32_t bytes;			/* may be more than @at has */
	uint64_t ns;
};

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ns_of(&t);
}

static uint64_t arrival(struct msghdr *msg)
{
	struct cmsghdr *c;
	struct timespec t;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		return ns_of(&t);
	}
	return now();
}

/* False: there is none now */
static bool receive(int fd, struct frame *f)
{
	char control[256];
	struct iovec iov = { .iov_base = f->at, .iov_len = sizeof(f->at) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &msg, MSG_TRUNC | MSG_DONTWAIT);

	/* The interface has gone down, or away: it may come back up. */
	if (n < 0 && errno != EAGAIN && errno != EINTR && errno != ENETDOWN)
		xt_die(XT_FAILED, "%s: %s", opt.interface, strerror(errno));
	if (n < ETH_HLEN)
		return false;
	f->bytes = (uint32_t)n;
	f->ns = arrival(&msg);
	return true;
}

static uint32_t at_most(uint32_t bytes, uint32_t limit)
{
	return bytes < limit ? bytes : limit;
}

static void check_written(bool good)
{
	if (!good)
		xt_die(XT_FAILED, "%s: %s", opt.file, strerror(errno));
}

/* A frame that the interface has sent has its address as the source. */
static void write_frame(FILE *out, const struct frame *f, const uint8_t mac[ETH_ALEN])
{
	bool sent = !memcmp(f->at + ETH_ALEN, mac, ETH_ALEN);

	check_written(pcapng_frame(out, f->ns, sent ? PCAPNG_OUTBOUND : PCAPNG_INBOUND, f->at,
				   at_most(f->bytes, opt.snaplen), f->bytes));
}

/* A signal may come just before it waits. */
static void write_all(FILE *out, int fd, const uint8_t mac[ETH_ALEN])
{
	static struct frame f;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t n = 0;

	while (!stopped && (!opt.count || n < opt.count)) {
		if (receive(fd, &f)) {
			write_frame(out, &f, mac);
			n++;
		} else {
			check_written(!fflush(out));
			poll(&p, 1, WAIT_MS);
		}
	}
}

/* @dropped: there was no room in the socket */
static void write_statistics(FILE *out, int fd)
{
	struct tpacket_stats stats;
	socklen_t bytes = sizeof(stats);

	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes))
		xt_die(XT_FAILED, "statistics: %s", strerror(errno));
	check_written(pcapng_statistics(out, now(), stats.tp_packets, stats.tp_drops) &&
		      !fclose(out));
	fprintf(stderr, "xv_capture: %u frames, %u dropped\n", stats.tp_packets, stats.tp_drops);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "snaplen", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int c;

	while ((c = getopt_long(argc, argv, "s:c:h", options, NULL)) != -1) {
		switch (c) {
		case 's':
			opt.snaplen = (uint32_t)xt_number(optarg, "--snaplen", MIN_SNAPLEN,
							  MAX_FRAME);
			break;
		case 'c':
			opt.count = xt_number(optarg, "--count", 1, UINT64_MAX);
			break;
		case 'h':
			fputs(usage, stdout);
			exit(XT_OK);
		default:
			fputs(usage, stderr);
			exit(XT_USAGE);
		}
	}
	if (argc - optind != 2) {
		fputs(usage, stderr);
		exit(XT_USAGE);
	}
	opt.interface = argv[optind];
	opt.file = argv[optind + 1];
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = stop };
	uint8_t mac[ETH_ALEN];
	FILE *out;
	int fd;

	parse(argc, argv);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	fd = open_socket();
	read_address(fd, mac);
	out = strcmp(opt.file, "-") ? fopen(opt.file, "we") : stdout;
	if (!out)
		xt_die(XT_FAILED, "%s: %s", opt.file, strerror(errno));
	check_written(pcapng_begin(out, "xv_capture", opt.interface, opt.snaplen) && !fflush(out));
	fprintf(stderr, "xv_capture: captures RoCE frames of %s\n", opt.interface);
	write_all(out, fd, mac);
	write_statistics(out, fd);
	return XT_OK;
}
