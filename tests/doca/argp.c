// SPDX-License-Identifier: GPL-2.0
/*
 * Options of programs: command lines, JSON files, the usage, commands and errors.  Each command
 * line is that of a child process, whose callbacks print what they get.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <doca_argp.h>
#include <doca_log.h>
#include "tap.h"

DOCA_LOG_REGISTER(TEST::ARGP);

/* What a child has and does */
enum {
	MANDATORY	= 1,		/* --device is mandatory */
	VERSION		= 2,		/* has a callback for the version */
	VALIDATE	= 4,		/* has one that validates, and fails */
	COMMANDS	= 8,
	DPDK		= 16,
	SDK_LOG		= 32,		/* prints messages of the library */
};

static char json[] = "/tmp/argp-XXXXXX";
static int config;			/* its address comes to the callbacks */

/* ---- The child ---- */

#define PRINT(name, ...) do {								\
	if (cfg != &config)								\
		printf("wrong config ");						\
	printf(name "=" __VA_ARGS__);							\
	putchar(' ');									\
} while (0)

#define STRING(name)									\
static doca_error_t name(void *param, void *cfg)					\
{											\
	PRINT(#name, "%s", (char *)param);						\
	return strcmp(param, "bad") ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED;		\
}

#define FLAG(name)									\
static doca_error_t name(void *param, void *cfg)					\
{											\
	PRINT(#name, "%d", *(bool *)param);						\
	return DOCA_SUCCESS;								\
}

STRING(device)
STRING(names)
STRING(only)
FLAG(burst)
FLAG(all)
FLAG(version)

static doca_error_t gid(void *param, void *cfg)
{
	PRINT("gid", "%d", *(int *)param);
	return DOCA_SUCCESS;
}

static doca_error_t get(void *cfg)
{
	PRINT("get", "1");
	return DOCA_SUCCESS;
}

static doca_error_t validate(void *cfg)
{
	PRINT("validate", "1");
	return DOCA_ERROR_TOO_BIG;
}

static doca_error_t dpdk(int argc, char **argv)
{
	bool wrong = argc > 1 && !strcmp(argv[1], "-bad");
	int i;

	for (i = 0; i < argc; i++)
		printf("%s%s", i ? "," : "dpdk=", argv[i]);
	putchar(' ');
	/* DPDK does the like. */
	argv[argc - 1] = argv[0];
	return wrong ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

static struct doca_argp_param *param(const char *s, const char *l, enum doca_argp_type type,
				     doca_argp_param_cb_t callback, const char *arguments)
{
	struct doca_argp_param *p = NULL;
	char description[64];

	if (doca_argp_param_create(&p))
		bail_out("no parameter");
	if (s)
		doca_argp_param_set_short_name(p, s);
	if (l)
		doca_argp_param_set_long_name(p, l);
	if (arguments)
		doca_argp_param_set_arguments(p, arguments);
	/* The library copies it. */
	snprintf(description, sizeof(description), "Sets %s", l ? l : s);
	doca_argp_param_set_description(p, description);
	doca_argp_param_set_type(p, type);
	doca_argp_param_set_callback(p, callback);
	return p;
}

static void add_commands(void)
{
	struct doca_argp_cmd *cmd[2] = {};

	if (doca_argp_cmd_create(&cmd[0]) || doca_argp_cmd_create(&cmd[1]))
		bail_out("no command");
	doca_argp_cmd_set_name(cmd[0], "get");
	doca_argp_cmd_set_description(cmd[0], "Gets something");
	doca_argp_cmd_set_callback(cmd[0], get);
	doca_argp_cmd_set_name(cmd[1], "status");
	if (doca_argp_cmd_register_param(cmd[0], param("a", "all", DOCA_ARGP_TYPE_BOOLEAN, all,
						       NULL)))
		bail_out("no parameter of a command");
	if (doca_argp_register_cmd(cmd[0]) || doca_argp_register_cmd(cmd[1]))
		bail_out("no command");
}

static void add_params(int flags)
{
	struct doca_argp_param *p;

	p = param("d", "device", DOCA_ARGP_TYPE_STRING, device, "<IB device name>");
	if (flags & MANDATORY)
		doca_argp_param_set_mandatory(p);
	if (doca_argp_register_param(p) ||
	    doca_argp_register_param(param("gid", "gid-index", DOCA_ARGP_TYPE_INT, gid, NULL)) ||
	    doca_argp_register_param(param("b", "send-burst", DOCA_ARGP_TYPE_BOOLEAN, burst,
					   "<an argument that is longer than the column>")))
		bail_out("no parameter");
	p = param(NULL, "names", DOCA_ARGP_TYPE_STRING, names, NULL);
	doca_argp_param_set_multiplicity(p);
	doca_argp_register_param(p);
	doca_argp_register_param(param("sh", NULL, DOCA_ARGP_TYPE_STRING, only, NULL));
	doca_argp_register_param(param("p", "pci", DOCA_ARGP_TYPE_DEVICE, only, NULL));
	doca_argp_register_param(param("r", "rep", DOCA_ARGP_TYPE_DEVICE_REP, only, NULL));
}

static void child(int flags, int argc, char **argv)
{
	struct doca_log_backend *backend;
	doca_error_t result;
	int level;

	if (flags & SDK_LOG)
		doca_log_backend_create_with_file_sdk(stderr, &backend);
	if (doca_argp_init("prog", &config))
		bail_out("no argp");
	add_params(flags);
	if (flags & VERSION)
		doca_argp_register_version_callback(version);
	if (flags & VALIDATE)
		doca_argp_register_validation_callback(validate);
	if (flags & COMMANDS)
		add_commands();
	if (flags & DPDK)
		doca_argp_set_dpdk_program(dpdk);
	result = doca_argp_start(argc, argv);
	doca_argp_get_log_level(&level);
	printf("result=%s levels=%d,%d again=%d destroy=%d", doca_error_get_name(result), level,
	       doca_log_level_get_global_sdk_limit(), doca_argp_start(argc, argv),
	       doca_argp_destroy());
	exit(0);
}

/* ---- The parent ---- */

static char out[4096], err[4096];

static void read_all(FILE *file, char *buf, size_t size)
{
	rewind(file);
	buf[fread(buf, 1, size - 1, file)] = 0;
	fclose(file);
}

/* Runs a child with the words of a command line; words are separated by spaces, and ~ is one. */
static int run(int flags, const char *line)
{
	FILE *files[2] = { tmpfile(), tmpfile() };
	char words[1024], *argv[64] = { "prog" }, *word, *c;
	int argc = 1, status;
	pid_t pid;

	snprintf(words, sizeof(words), "%s", line);
	for (word = strtok(words, " "); word; word = strtok(NULL, " ")) {
		while ((c = strchr(word, '~')))
			*c = ' ';
		argv[argc++] = word;
	}
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fileno(files[0]), 1);
		dup2(fileno(files[1]), 2);
		child(flags, argc, argv);
	}
	waitpid(pid, &status, 0);
	read_all(files[0], out, sizeof(out));
	read_all(files[1], err, sizeof(err));
	return status;
}

static void write_json(const char *text, size_t len)
{
	FILE *file = fopen(json, "w");

	if (!file || fwrite(text, 1, len, file) != len || fclose(file))
		bail_out("cannot write %s", json);
}

#define END(level, sdk)	"levels=" #level "," #sdk " again=18 destroy=0"

/* The child prints this, and nothing to stderr. */
static void good(int flags, const char *line, const char *want)
{
	char all[512];

	snprintf(all, sizeof(all), "%s%s", want, strstr(want, "levels=") ? "" :
		 "result=DOCA_SUCCESS " END(50, 50));
	if (!ok(!run(flags, line) && !strcmp(out, all) && !*err, "%s", *line ? line : "(nothing)"))
		diag("got %s%s, want %s", out, err, all);
}

/* The child prints the message and the usage to stderr, and its result is the error. */
static void bad(int flags, const char *line, doca_error_t error, const char *message)
{
	char result[128], first[512];

	snprintf(result, sizeof(result), "result=%s levels", doca_error_get_name(error));
	snprintf(first, sizeof(first), "prog: %s\nUsage: prog", message);
	if (!ok(!run(flags, line) && strstr(out, result) && !strncmp(err, first, strlen(first)),
		"%s: %s", line, message))
		diag("got %s and %s", out, err);
}

#define INVALID	DOCA_ERROR_INVALID_VALUE
#define CONFIG	DOCA_ERROR_BAD_CONFIG

static void test_command_line(void)
{
	good(0, "", "");
	good(0, "-d mlx5_0 -gid 3 -b", "device=mlx5_0 gid=3 burst=1 ");
	good(0, "--device mlx5_0 --gid-index 3 --send-burst", "device=mlx5_0 gid=3 burst=1 ");
	good(0, "--device=mlx5_0 --gid-index=-3 --names=a=b", "device=mlx5_0 gid=-3 names=a=b ");
	good(0, "-b -gid 0x10 -d a~b", "burst=1 gid=16 device=a b ");
	good(0, "-gid -5 --device=", "gid=-5 device= ");
	good(0, "-gid 2147483647", "gid=2147483647 ");
	good(0, "-gid -2147483648", "gid=-2147483648 ");
	good(0, "-d - --names --x -sh 1", "device=- names=--x only=1 ");
	good(0, "--names a --names b --names c", "names=a names=b names=c ");
	good(MANDATORY, "-d x", "device=x ");
	good(0, "-l 60", "result=DOCA_SUCCESS " END(60, 50));
	good(0, "--log-level 10 --sdk-log-level 70", "result=DOCA_SUCCESS " END(10, 70));

	bad(0, "-x", INVALID, "-x is unknown");
	bad(0, "--dev x", INVALID, "--dev is unknown");
	bad(0, "--d x", INVALID, "--d is unknown");
	bad(0, "-device x", INVALID, "-device is unknown");
	bad(0, "x", INVALID, "x is unknown");
	bad(0, "--", INVALID, "-- is unknown");
	bad(0, "-", INVALID, "- is unknown");
	bad(0, "--=x", INVALID, "--=x is unknown");
	bad(0, "-d", INVALID, "--device needs a value");
	bad(0, "-d -b", INVALID, "--device needs a value");
	bad(0, "-d --device=x", INVALID, "--device needs a value");
	bad(0, "-sh", INVALID, "-sh needs a value");
	bad(0, "-b 1", INVALID, "1 is unknown");
	bad(0, "--send-burst=1", INVALID, "--send-burst takes no value");
	bad(0, "-d x --device y", INVALID, "--device is there twice");
	bad(MANDATORY, "-b", INVALID, "--device is missing");
	bad(0, "-d bad", DOCA_ERROR_NOT_PERMITTED, "--device bad: Operation not permitted");
	bad(VALIDATE, "-gid x", INVALID, "--gid-index: x is no number of 32 bits");
	bad(0, "--gid-index=", INVALID, "--gid-index:  is no number of 32 bits");
	bad(0, "-gid 2147483648", INVALID, "--gid-index: 2147483648 is no number of 32 bits");
	bad(0, "-gid -2147483649", INVALID, "--gid-index: -2147483649 is no number of 32 bits");
	bad(0, "-gid 99999999999999999999", INVALID,
	    "--gid-index: 99999999999999999999 is no number of 32 bits");
	bad(0, "-gid 1x", INVALID, "--gid-index: 1x is no number of 32 bits");
	bad(0, "-gid 0x", INVALID, "--gid-index: 0x is no number of 32 bits");
	bad(0, "-gid 0x+1", INVALID, "--gid-index: 0x+1 is no number of 32 bits");
	bad(0, "-gid +-1", INVALID, "--gid-index: +-1 is no number of 32 bits");
	bad(0, "-gid ~1", INVALID, "--gid-index:  1 is no number of 32 bits");
	bad(0, "-l 55", INVALID, "--log-level 55: Invalid value");
	bad(0, "--sdk-log-level 80", INVALID, "--sdk-log-level 80: Invalid value");
	bad(0, "-p 0000:08:00.0", INVALID, "--pci 0000:08:00.0: Invalid value");
	bad(0, "-r pci/0000:08:00.0,pf0vf0", DOCA_ERROR_NOT_SUPPORTED,
	    "--rep pci/0000:08:00.0,pf0vf0: representors are not supported");

	ok(!run(VALIDATE, "-b") && strstr(out, "burst=1 validate=1 result=DOCA_ERROR_TOO_BIG "),
	   "the validation decides");
	ok(!run(VALIDATE, "-x") && !strstr(out, "validate"), "no validation after an error");
}

static void test_usage(void)
{
	static const char levels[] = "<10=DISABLE, 20=CRITICAL, 30=ERROR, 40=WARNING, 50=INFO, "
				     "60=DEBUG, 70=TRACE>";
	char want[2048];

	snprintf(want, sizeof(want),
		 "Usage: prog [DOCA Flags] [Program Flags]\n"
		 "\n"
		 "DOCA Flags:\n"
		 "  -h, --help                        Print a help synopsis\n"
		 "  -v, --version                     Print program version information\n"
		 "  -l, --log-level                   Set the (numeric) log level for the program %s\n"
		 "  --sdk-log-level                   Set the SDK (numeric) log level for the program "
		 "%s\n"
		 "  -j, --json <path>                 Read flags from a JSON file\n"
		 "\n"
		 "Program Flags:\n"
		 "  -d, --device <IB device name>     Sets device\n"
		 "  -gid, --gid-index                 Sets gid-index\n"
		 "  -b, --send-burst <an argument that is longer than the column> Sets send-burst\n"
		 "  --names                           Sets names\n"
		 "  -sh                               Sets sh\n"
		 "  -p, --pci                         Sets pci\n"
		 "  -r, --rep                         Sets rep\n", levels, levels);
	if (!ok(!run(MANDATORY, "-h") && !strcmp(out, want) && !*err, "-h"))
		diag("%s", out);
	ok(!run(0, "-b --help -x") && !strcmp(out, want), "--help, the first that acts");
	ok(!run(0, "-v") && !strcmp(out, "prog: DOCA 3.2.0\n") && !*err, "-v");
	ok(!run(VERSION, "--version") && !strcmp(out, "version=1 "), "--version with a callback");
	run(COMMANDS, "-h");
	ok(strstr(out, " [Command] [Command Flags]\n") &&
	   strstr(out, "\nCommand get - Gets something:\n  -a, --all                         "
		  "Sets all\n\nCommand status:\n"), "the usage of commands");
	run(DPDK, "-h");
	ok(!strncmp(out, "Usage: prog [DPDK Flags] -- [DOCA Flags]", 40), "the usage with DPDK");
}

static void test_commands(void)
{
	good(COMMANDS, "get", "get=1 ");
	good(COMMANDS, "-gid 1 get -a -d x", "gid=1 get=1 all=1 device=x ");
	good(COMMANDS, "get -a -l 60", "get=1 all=1 result=DOCA_SUCCESS " END(60, 50));
	good(COMMANDS, "status -b", "burst=1 ");
	good(COMMANDS, "-d get", "device=get ");
	bad(COMMANDS, "-a get", INVALID, "-a is unknown");
	bad(COMMANDS, "status -a", INVALID, "-a is unknown");
	bad(COMMANDS, "get status", INVALID, "status is unknown");
	bad(COMMANDS, "get get", INVALID, "get is unknown");
	bad(COMMANDS, "get -a --all", INVALID, "--all is there twice");
	bad(COMMANDS | MANDATORY, "get", INVALID, "--device is missing");
}

static void test_dpdk(void)
{
	static const char flags[] =
		"{\"doca_dpdk_flags\": {\"devices\": [{\"device\": \"pf\", \"id\": \"03:00.0\"},"
		" {\"device\": \"sf\", \"id\": \"4\", \"sft\": true, \"hws\": true}],"
		" \"core-mask\": 30, \"core-list\": \"0-4\", \"flags\": \" -x  --y=1 \"},"
		" \"doca_program_flags\": {\"gid-index\": 1}}";
	static const char *const wrong[] = {
		"{\"devices\": 1}", "{\"devices\": [1]}", "{\"devices\": [{\"id\": \"x\"}]}",
		"{\"core-mask\": \"3\"}", "{\"core-list\": 1}", "{\"flags\": 1}", "{\"x\": 1}",
	};
	char line[64], text[128];
	size_t i;

	good(DPDK, "", "dpdk=prog ");
	good(DPDK, "-a x -- -gid 3", "dpdk=prog,-a,x gid=3 ");
	good(DPDK, "-- -gid 3", "dpdk=prog gid=3 ");
	good(DPDK, "-a --", "dpdk=prog,-a ");
	bad(DPDK, "-a x", INVALID, "-a is unknown");
	ok(!run(DPDK, "-bad -- -b") && strstr(out, "dpdk=prog,-bad result=DOCA_ERROR_DRIVER "),
	   "an error of DPDK");

	write_json(flags, strlen(flags));
	snprintf(line, sizeof(line), "-j %s", json);
	good(DPDK, line, "dpdk=prog,-a,03:00.0,-a,auxiliary:mlx5_core.sf.4,sft_en=1,dv_flow_en=2,"
	     "-c,0x1e,-l,0-4,-x,--y=1 gid=1 ");
	good(0, line, "gid=1 ");
	ok(!run(SDK_LOG, line) && strstr(err, "has flags of DPDK for a program without it\n"),
	   "a program without DPDK");
	snprintf(line, sizeof(line), "-n 1 -- -j %s", json);
	good(DPDK, line, "dpdk=prog,-n,1 gid=1 ");

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "{\"doca_dpdk_flags\": %s}", wrong[i]);
		write_json(text, strlen(text));
		snprintf(line, sizeof(line), "-j %s", json);
		ok(!run(DPDK, line) && strstr(err, " of DPDK is unknown or wrong\n") &&
		   strstr(out, "result=DOCA_ERROR_BAD_CONFIG"), "wrong: %s", wrong[i]);
	}
}

#define PROGRAM(text)	"{\"doca_program_flags\": {" text "}}"

/* A JSON file with this text, and perhaps more options */
static void json_good(const char *text, const char *options, const char *want)
{
	char line[128];

	write_json(text, strlen(text));
	snprintf(line, sizeof(line), "-j %s %s", json, options);
	good(0, line, want);
}

static void json_bad(const char *text, const char *want)
{
	char line[128], message[128];

	write_json(text, strlen(text));
	snprintf(line, sizeof(line), "-b --json=%s", json);
	snprintf(message, sizeof(message), "%s%s", json, want);
	bad(0, line, CONFIG, message);
}

static void test_json(void)
{
	static const char all[] =
		"{\n\"doca_general_flags\": {\"log-level\": 60, \"sdk-log-level\": 30},\n"
		"\"doca_program_flags\": {\"device\": \"mlx5_0\", \"gid-index\": -3, "
		"\"send-burst\": true,\n \"names\": [\"a\", \"b\"]}\n}";
	char line[128];
	size_t i, errors = 0;

	json_good(all, "", "device=mlx5_0 gid=-3 burst=1 names=a names=b result=DOCA_SUCCESS "
		  END(60, 30));
	json_good(all, "-gid 7 --names x -l 20", "device=mlx5_0 burst=1 gid=7 names=x "
		  "result=DOCA_SUCCESS " END(20, 30));
	json_good("{}", "", "");
	json_good(PROGRAM("\"send-burst\": false, \"names\": \"a\""), "", "burst=0 names=a ");
	json_good(PROGRAM("\"device\": \"\\u00e4\\n\", \"names\": []"), "", "device=\xc3\xa4\n ");
	write_json(all, strlen(all));
	snprintf(line, sizeof(line), "-j %s", json);
	ok(!run(MANDATORY, line) && strstr(out, "result=DOCA_SUCCESS"), "a mandatory one in JSON");

	for (i = 0; i < strlen(all); i++) {
		write_json(all, i);
		errors += !run(0, line) && strstr(out, "result=DOCA_ERROR_BAD_CONFIG") &&
			  !strncmp(err, "prog: /tmp/argp-", 16) && strstr(err, "column");
	}
	tap_is(errors, strlen(all), "files that end too early");

	json_bad("[]", " has no object");
	json_bad("{\"x\": {}}", ": x is unknown or no object");
	json_bad("{\"doca_program_flags\": 1}", ": doca_program_flags is unknown or no object");
	json_bad(PROGRAM("\"x\": 1"), ": x is unknown");
	json_bad(PROGRAM("\"d\": \"x\""), ": d is unknown");
	json_bad(PROGRAM("\"log-level\": 50"), ": log-level is unknown");
	json_bad("{\"doca_general_flags\": {\"help\": true}}", ": help is unknown");
	json_bad("{\"doca_general_flags\": {\"json\": \"x\"}}", ": json is unknown");
	json_bad(PROGRAM("\"device\": 1"), ": device has a value of another type");
	json_bad(PROGRAM("\"device\": null"), ": device has a value of another type");
	json_bad(PROGRAM("\"device\": [\"x\"]"), ": device has a value of another type");
	json_bad(PROGRAM("\"names\": [\"x\", 1]"), ": names has a value of another type");
	json_bad(PROGRAM("\"names\": [[\"x\"]]"), ": names has a value of another type");
	json_bad(PROGRAM("\"gid-index\": \"1\""), ": gid-index has a value of another type");
	json_bad(PROGRAM("\"gid-index\": 1.5"), ": gid-index has a value of another type");
	json_bad(PROGRAM("\"gid-index\": true"), ": gid-index has a value of another type");
	json_bad(PROGRAM("\"pci\": true"), ": pci has a value of another type");
	json_bad(PROGRAM("\"device\": \"x\", \"device\": \"x\""),
		 ", line 1, column 47: duplicate object key near '\"device\"'");
	write_json(PROGRAM("\"gid-index\": 4294967296"), 49);
	bad(0, line, INVALID, "--gid-index: 4294967296 is no number of 32 bits");
	write_json("", 0);
	ok(!run(0, line) && strstr(out, "result=DOCA_ERROR_BAD_CONFIG"), "an empty file");
	ok(!run(0, "-j /nonexistent/x") && strstr(out, "result=DOCA_ERROR_BAD_CONFIG") &&
	   strstr(err, "No such file or directory"), "a file that does not exist");
	ok(!run(0, "-j /tmp") && strstr(out, "result=DOCA_ERROR_BAD_CONFIG"), "a directory");
	bad(0, "-j x -j y", INVALID, "--json is there twice");
}

/* ---- Calls ---- */

#define IS(call, want) tap_is(call, DOCA_##want, "%s: " #want, #call)

static void test_before_init(void)
{
	struct doca_argp_param *p;
	struct doca_argp_cmd *cmd;
	char *argv[] = { "prog", NULL };
	int level;

	IS(doca_argp_param_create(&p), ERROR_BAD_STATE);
	IS(doca_argp_cmd_create(&cmd), ERROR_BAD_STATE);
	IS(doca_argp_start(1, argv), ERROR_BAD_STATE);
	IS(doca_argp_usage(), ERROR_BAD_STATE);
	IS(doca_argp_get_log_level(&level), ERROR_BAD_STATE);
	IS(doca_argp_register_version_callback(version), ERROR_BAD_STATE);
	IS(doca_argp_register_validation_callback(validate), ERROR_BAD_STATE);
	IS(doca_argp_set_dpdk_program(dpdk), ERROR_BAD_STATE);
	IS(doca_argp_destroy(), ERROR_BAD_STATE);
}

/* A name that is not possible, a type and a callback */
static doca_error_t reg(const char *s, const char *l, enum doca_argp_type type,
			doca_argp_param_cb_t callback)
{
	struct doca_argp_param *p = param(s, l, type, callback, NULL);
	doca_error_t result = doca_argp_register_param(p);

	if (result)
		doca_argp_param_destroy(p);
	return result;
}

static void test_params(void)
{
	struct doca_argp_param *p, *q;
	struct doca_argp_cmd *cmd;

	IS(doca_argp_init(NULL, NULL), SUCCESS);
	IS(doca_argp_init(NULL, NULL), ERROR_BAD_STATE);
	IS(doca_argp_param_create(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_param_create(&p), SUCCESS);
	IS(doca_argp_param_set_short_name(p, NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_param_set_short_name(NULL, "x"), ERROR_INVALID_VALUE);
	IS(doca_argp_param_set_type(p, DOCA_ARGP_TYPE_UNKNOWN), ERROR_INVALID_VALUE);
	IS(doca_argp_param_set_type(p, 7), ERROR_INVALID_VALUE);
	IS(doca_argp_param_set_callback(p, NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_param_set_mandatory(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_register_param(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_register_param(p), ERROR_INVALID_VALUE);
	IS(doca_argp_param_destroy(p), SUCCESS);
	IS(doca_argp_param_destroy(NULL), ERROR_INVALID_VALUE);

	IS(reg("x", "xx", DOCA_ARGP_TYPE_UNKNOWN, names), ERROR_INVALID_VALUE);
	IS(reg("x", "xx", DOCA_ARGP_TYPE_INT, NULL), ERROR_INVALID_VALUE);
	IS(reg("", "xx", DOCA_ARGP_TYPE_INT, names), ERROR_INVALID_VALUE);
	IS(reg("-x", "xx", DOCA_ARGP_TYPE_INT, names), ERROR_INVALID_VALUE);
	IS(reg("x", "x x", DOCA_ARGP_TYPE_INT, names), ERROR_INVALID_VALUE);
	IS(reg("x", "x=x", DOCA_ARGP_TYPE_INT, names), ERROR_INVALID_VALUE);
	IS(reg("x", "xx", DOCA_ARGP_TYPE_INT, names), SUCCESS);
	IS(reg("x", "yy", DOCA_ARGP_TYPE_INT, names), ERROR_ALREADY_EXIST);
	IS(reg("y", "xx", DOCA_ARGP_TYPE_INT, names), ERROR_ALREADY_EXIST);
	IS(reg("xx", "x", DOCA_ARGP_TYPE_INT, names), SUCCESS);
	IS(reg("j", "yy", DOCA_ARGP_TYPE_INT, names), ERROR_ALREADY_EXIST);
	IS(reg("y", "sdk-log-level", DOCA_ARGP_TYPE_INT, names), ERROR_ALREADY_EXIST);

	IS(doca_argp_cmd_create(&cmd), SUCCESS);
	p = param("x", "in-command", DOCA_ARGP_TYPE_INT, names, NULL);
	IS(doca_argp_cmd_register_param(cmd, p), ERROR_ALREADY_EXIST);
	p = param("w", "ww", DOCA_ARGP_TYPE_INT, names, NULL);
	IS(doca_argp_cmd_register_param(cmd, p), SUCCESS);
	IS(reg("v", "ww", DOCA_ARGP_TYPE_INT, names), ERROR_ALREADY_EXIST);

	p = param("z", "zz", DOCA_ARGP_TYPE_INT, names, NULL);
	IS(doca_argp_register_param(p), SUCCESS);
	IS(doca_argp_register_param(p), ERROR_BAD_STATE);
	IS(doca_argp_param_set_short_name(p, "q"), ERROR_BAD_STATE);
	IS(doca_argp_param_set_type(p, DOCA_ARGP_TYPE_INT), ERROR_BAD_STATE);
	IS(doca_argp_param_set_multiplicity(p), ERROR_BAD_STATE);
	IS(doca_argp_param_destroy(p), ERROR_BAD_STATE);
	q = param("q", "qq", DOCA_ARGP_TYPE_INT, names, NULL);
	doca_argp_param_set_short_name(q, "other");
	IS(doca_argp_register_param(q), SUCCESS);
}

static void test_calls(void)
{
	char *argv[] = { "prog", NULL };
	struct doca_argp_cmd *cmd;
	struct doca_argp_param *p;
	int level;

	IS(doca_argp_cmd_create(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_cmd_create(&cmd), SUCCESS);
	IS(doca_argp_register_cmd(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_register_cmd(cmd), ERROR_INVALID_VALUE);
	IS(doca_argp_cmd_set_name(NULL, "x"), ERROR_INVALID_VALUE);
	IS(doca_argp_cmd_set_name(cmd, "-x"), SUCCESS);
	IS(doca_argp_register_cmd(cmd), ERROR_INVALID_VALUE);
	IS(doca_argp_cmd_set_name(cmd, "x"), SUCCESS);
	IS(doca_argp_register_cmd(cmd), SUCCESS);
	IS(doca_argp_cmd_set_callback(cmd, get), ERROR_BAD_STATE);
	IS(doca_argp_register_cmd(cmd), ERROR_BAD_STATE);
	IS(doca_argp_cmd_create(&cmd), SUCCESS);
	IS(doca_argp_cmd_set_name(cmd, "x"), SUCCESS);
	IS(doca_argp_register_cmd(cmd), ERROR_ALREADY_EXIST);
	IS(doca_argp_cmd_register_param(NULL, NULL), ERROR_INVALID_VALUE);

	IS(doca_argp_register_version_callback(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_register_validation_callback(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_set_dpdk_program(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_get_log_level(NULL), ERROR_INVALID_VALUE);
	IS(doca_argp_get_log_level(&level), SUCCESS);
	tap_is(level, DOCA_LOG_LEVEL_INFO, "the level at first");
	IS(doca_argp_start(0, argv), ERROR_INVALID_VALUE);
	IS(doca_argp_start(1, NULL), ERROR_INVALID_VALUE);
	/* It stays without registration. */
	p = param("u", "uu", DOCA_ARGP_TYPE_INT, names, NULL);
	IS(doca_argp_start(1, argv), SUCCESS);
	IS(doca_argp_register_param(p), ERROR_BAD_STATE);
	IS(doca_argp_param_create(&p), ERROR_BAD_STATE);
	IS(doca_argp_register_validation_callback(validate), ERROR_BAD_STATE);
	IS(doca_argp_destroy(), SUCCESS);
	IS(doca_argp_destroy(), ERROR_BAD_STATE);
	IS(doca_argp_init("again", NULL), SUCCESS);
	IS(doca_argp_start(1, argv), SUCCESS);
	IS(doca_argp_destroy(), SUCCESS);
}

int main(void)
{
	int fd = mkstemp(json);

	if (fd < 0)
		bail_out("cannot create %s", json);
	close(fd);
	test_command_line();
	test_usage();
	test_commands();
	test_dpdk();
	test_json();
	test_before_init();
	test_params();
	test_calls();
	unlink(json);
	return tap_done();
}
