// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options of xv_rsh.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rsh.h"

enum { DEFAULT_CHUNK = 128 << 10, DEFAULT_SLOTS = 6 };

static const char usage[] =
	"usage: xv_rsh [OPTIONS] [USER@]HOST COMMAND...\n"
	"Runs COMMAND on HOST as ssh does, but moves its input and output by RDMA.  Use it as\n"
	"rsync -e xv_rsh, git -c core.sshCommand=xv_rsh, or in a pipeline.\n"
	"For ssh: -l USER, -p PORT, -o OPTION, -i FILE, -F FILE, -J HOST, -4, -6, -q; -T, -x and\n"
	"-a as well; -G prints the configuration of ssh.\n"
	"  -n                     standard input is /dev/null\n"
	"  -v                     show path, bytes and rate\n"
	"  --device NAME[:PORT]       device of this end (default: all active ports)\n"
	"  --peer-device NAME[:PORT]  device of the far end\n"
	"  --gid-index N          GID of this end (default: RoCE v2 GID of an IPv4 address)\n"
	"  --peer-gid-index N     GID of the far end\n"
	"  --sl N                 service level, 0 to 15\n"
	"  --tclass N             traffic class of RoCE, 0 to 255\n"
	"  --pkey-index N         index of the P_Key\n"
	"  --chunk SIZE           bytes in a message, at most (128k)\n"
	"  --depth N              messages in flight (6)\n"
	"  --fallback             use the channel of ssh where no RDMA path exists\n"
	"  --via CMD              reach the far end by CMD instead of ssh; %h and %u are host and\n"
	"                         user; \"local\": on this host\n"
	"  --remote-path PATH     xv_rsh on HOST (xv_rsh)\n"
	"  --progress             show a line of progress if standard error is a terminal\n"
	"  --json                 at the end, show a summary as JSON on standard error\n"
	"  --version, --help\n"
	"The data is neither encrypted nor authenticated on the fabric: who can forge packets\n"
	"there can change it.  Use it in networks that you trust.\n"
	"Exit status: that of COMMAND, or 255 after an error of xv_rsh or ssh.\n";

enum {
	OPT_VIA = 256,
	OPT_REMOTE_PATH,
	OPT_DEVICE,
	OPT_PEER_DEVICE,
	OPT_GID_INDEX,
	OPT_PEER_GID_INDEX,
	OPT_SL,
	OPT_TCLASS,
	OPT_PKEY_INDEX,
	OPT_CHUNK,
	OPT_DEPTH,
	OPT_FALLBACK,
	OPT_PROGRESS,
	OPT_JSON,
	OPT_VERSION,
	OPT_HELP,
};

static struct options opt = {
	.remote_path = "xv_rsh",
	.gid_index = -1,
	.far = { .chunk = DEFAULT_CHUNK, .slots = DEFAULT_SLOTS, .gid_index = -1 },
};
static bool query, no_input;

static uint32_t number(const char *option, uint64_t min, uint64_t max)
{
	return (uint32_t)xt_number(optarg, option, min, max);
}

static void for_ssh(int c, const char *argument)
{
	char *text;

	if (opt.n_ssh == (int)ARRAY_SIZE(opt.ssh))
		xt_die(RSH_ERROR, "too many options for ssh");
	if (asprintf(&text, "-%c%s", c, argument ? argument : "") < 0)
		xt_die(RSH_ERROR, "out of memory");
	opt.ssh[opt.n_ssh++] = text;
}

static void parse_net(int c)
{
	struct xt_net *net = &opt.far.net;

	switch (c) {
	case OPT_GID_INDEX: opt.gid_index = (int)number("--gid-index", 0, 255); break;
	case OPT_PEER_GID_INDEX:
		opt.far.gid_index = (int32_t)number("--peer-gid-index", 0, 255);
		break;
	case OPT_SL: net->sl = (uint8_t)number("--sl", 0, 15); break;
	case OPT_TCLASS: net->tclass = (uint8_t)number("--tclass", 0, 255); break;
	case OPT_PKEY_INDEX: net->pkey_index = (uint16_t)number("--pkey-index", 0, 65535); break;
	case OPT_CHUNK: opt.far.chunk = number("--chunk", FLOW_MIN_CHUNK, FLOW_MAX_CHUNK); break;
	case OPT_DEPTH: opt.far.slots = number("--depth", FLOW_MIN_SLOTS, FLOW_MAX_SLOTS); break;
	}
}

static void parse_option(int c)
{
	switch (c) {
	case 'l': case 'p': case 'o': case 'i': case 'F': case 'J':
		for_ssh(c, optarg);
		break;
	case '4': case '6': case 'q': case 'T': case 'x': case 'a':
		for_ssh(c, NULL);
		break;
	case 'G': query = true; break;
	case 'n': no_input = true; break;
	case 'v': opt.verbose = true; break;
	case OPT_VIA: opt.via = optarg; break;
	case OPT_REMOTE_PATH: opt.remote_path = optarg; break;
	case OPT_DEVICE: opt.device = optarg; break;
	case OPT_PEER_DEVICE:
		if (strlen(optarg) >= sizeof(opt.far.device))
			xt_die(RSH_ERROR, "the name of the device is too long");
		strcpy(opt.far.device, optarg);
		break;
	case OPT_FALLBACK: opt.fallback = true; break;
	case OPT_PROGRESS: opt.progress = isatty(STDERR_FILENO); break;
	case OPT_JSON: opt.json = true; break;
	case OPT_VERSION:
		printf("xv_rsh %s, protocol %d\n", XV_VERSION, CHANNEL_PROTOCOL);
		exit(XT_OK);
	case OPT_HELP:
		fputs(usage, stdout);
		exit(XT_OK);
	case '?':
		fputs(usage, stderr);
		exit(RSH_ERROR);
	default:
		parse_net(c);
	}
}

static void parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "via", required_argument, NULL, OPT_VIA },
		{ "remote-path", required_argument, NULL, OPT_REMOTE_PATH },
		{ "device", required_argument, NULL, OPT_DEVICE },
		{ "peer-device", required_argument, NULL, OPT_PEER_DEVICE },
		{ "gid-index", required_argument, NULL, OPT_GID_INDEX },
		{ "peer-gid-index", required_argument, NULL, OPT_PEER_GID_INDEX },
		{ "sl", required_argument, NULL, OPT_SL },
		{ "tclass", required_argument, NULL, OPT_TCLASS },
		{ "pkey-index", required_argument, NULL, OPT_PKEY_INDEX },
		{ "chunk", required_argument, NULL, OPT_CHUNK },
		{ "depth", required_argument, NULL, OPT_DEPTH },
		{ "fallback", no_argument, NULL, OPT_FALLBACK },
		{ "progress", no_argument, NULL, OPT_PROGRESS },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, OPT_HELP },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+l:p:o:i:F:J:46qTxaGnv", longs, NULL)) != -1)
		parse_option(c);
}

static void parse_host(char *name)
{
	char *at = strrchr(name, '@');

	if (at) {
		*at = 0;
		opt.user = name;
		name = at + 1;
	}
	opt.host = name;
	if (!*name || *name == '-' || (opt.user && *opt.user == '-'))
		xt_die(RSH_ERROR, "bad name of a host: \"%s\"", name);
}

/* The far end's shell sees one line, as with ssh. */
static void join_command(int n, char **words)
{
	size_t length = 1;
	int i;

	for (i = 0; i < n; i++)
		length += strlen(words[i]) + 1;
	if (length > COMMAND_MAX)
		xt_die(RSH_ERROR, "the command is too long");
	opt.command = xt_calloc(1, length);
	for (i = 0; i < n; i++) {
		if (i)
			strcat(opt.command, " ");
		strcat(opt.command, words[i]);
	}
}

/* As ssh, it takes options behind the host, too. */
static void parse(int argc, char **argv)
{
	parse_options(argc, argv);
	if (optind < argc) {
		parse_host(argv[optind++]);
		argc -= optind - 1;
		argv += optind - 1;
		optind = 1;
		parse_options(argc, argv);
	}
	if (opt.host && (query || optind < argc)) {
		join_command(argc - optind, argv + optind);
		return;
	}
	fputs(usage, stderr);
	exit(RSH_ERROR);
}

/* Other descriptors must not get the numbers of the standard ones. */
static void open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	open_standard();
	xt_set_error_status(RSH_ERROR);
	if (argc == 2 && !strcmp(argv[1], "--far-end"))
		return far_main();
	parse(argc, argv);
	if (query)
		exec_ssh_query(&opt);
	if (no_input && !freopen("/dev/null", "r", stdin))
		xt_die(RSH_ERROR, "/dev/null cannot be opened");
	opt.far.flags = opt.verbose ? SET_VERBOSE : 0;
	return near_main(&opt);
}
