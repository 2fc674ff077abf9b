// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The far end: runs the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "errors.h"
#include "rsh.h"

struct far {
	struct session session;
	char command[COMMAND_MAX + 1];
	struct settings settings;
	pid_t pid;
	int status;			/* as of waitpid() */
	bool reaped;
	int errors;			/* standard error of the command, or -1 after its end */
	uint32_t errors_out;		/* bytes of it that the near end has not written */
	bool exit_sent;
};

static struct far far = { .errors = -1 };

/* From the near end to the command */
static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };

/* ---- The command ---------------------------------------------------------------- */

/* A near end on this host (--via local) starts this process with some signals ignored. */
static void default_signals(void)
{
	size_t i;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	for (i = 0; i < ARRAY_SIZE(passed_on); i++)
		signal(passed_on[i], SIG_DFL);
}

struct pipes {
	int in[2];
	int out[2];
	int errors[2];
};

static const char *shell(void)
{
	const char *path = getenv("SHELL");
	const struct passwd *pw = path && *path ? NULL : getpwuid(getuid());

	if (pw && pw->pw_shell && *pw->pw_shell)
		path = pw->pw_shell;
	return path && *path ? path : "/bin/sh";
}

__attribute__((noreturn))
static void run_command(const struct pipes *p, pid_t parent)
{
	const char *path = shell(), *slash = strrchr(path, '/');
	sigset_t none;

	setsid();
	/* If the far end is killed, the kernel sends SIGHUP to the command. */
	default_signals();
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (getppid() != parent)
		raise(SIGHUP);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(p->in[0], STDIN_FILENO) >= 0 && dup2(p->out[1], STDOUT_FILENO) >= 0 &&
	    dup2(p->errors[1], STDERR_FILENO) >= 0)
		execl(path, slash ? slash + 1 : path, "-c", far.command, (char *)NULL);
	dprintf(STDERR_FILENO, "xv_rsh: %s: %s\n", path, strerror(errno));
	_exit(127);
}

static void open_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC))
		xt_die(RSH_ERROR, "pipe: %s", strerror(errno));
}

static void start_command(struct session *s)
{
	pid_t parent = getpid();
	struct pipes p;

	open_pipe(p.in);
	open_pipe(p.out);
	open_pipe(p.errors);
	far.pid = fork();
	if (far.pid < 0)
		xt_die(RSH_ERROR, "fork: %s", strerror(errno));
	if (!far.pid)
		run_command(&p, parent);
	close(p.in[0]);
	close(p.out[1]);
	close(p.errors[1]);
	far.errors = p.errors[0];
	session_start(s, p.out[0], p.in[1]);
}

/* Before the child calls setsid() there is no process group: then only the child gets it. */
static void send_signal(int number)
{
	if (kill(-far.pid, number))
		kill(far.pid, number);
}

static void hang_up(void)
{
	if (far.reaped)
		return;
	send_signal(SIGHUP);
	send_signal(SIGCONT);
}

static void reap(struct session *s)
{
	if (far.reaped || waitpid(far.pid, &far.status, WNOHANG) != far.pid)
		return;
	far.reaped = true;
	/* A background process may still have the input open.  As with ssh, it gets no more. */
	flow_store(&s->flow.broken, 1);
	waker_wake(&s->writer.self);
	waker_wake(s->writer.carrier);
}

/* ---- Messages of the near end --------------------------------------------------- */

static bool take_signal(const struct message *m)
{
	uint32_t number;
	size_t i;

	if (m->length != sizeof(number))
		return false;
	memcpy(&number, m->data, sizeof(number));
	for (i = 0; i < ARRAY_SIZE(passed_on); i++) {
		if ((uint32_t)passed_on[i] != number)
			continue;
		if (!far.reaped)
			send_signal(passed_on[i]);
		return true;
	}
	return false;
}

static bool take_taken(const struct message *m)
{
	uint32_t n;

	if (m->length != sizeof(n))
		return false;
	memcpy(&n, m->data, sizeof(n));
	if (n > far.errors_out)
		return false;
	far.errors_out -= n;
	return true;
}

static bool far_message(struct session *s, const struct message *m)
{
	switch (m->type) {
	case MSG_SIGNAL:
		return take_signal(m);
	case MSG_ERRORS_TAKEN:
		return take_taken(m);
	case MSG_PAUSE:
		s->paused = true;
		return true;
	case MSG_BYE:
		s->over = far.exit_sent;
		return s->over;
	default:
		return false;
	}
}

/* ---- Events --------------------------------------------------------------------- */

static void read_errors(struct session *s)
{
	uint8_t data[16 << 10];
	size_t window = ERRORS_WINDOW - far.errors_out;
	ssize_t n = read(far.errors, data, window < sizeof(data) ? window : sizeof(data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0)
		n = 0;
	channel_send(&s->channel, MSG_ERRORS, data, (size_t)n);
	far.errors_out += (uint32_t)n;
	if (!n) {
		close(far.errors);
		far.errors = -1;
	}
}

static void far_check(struct session *s)
{
	reap(s);
	s->extra = far.errors_out < ERRORS_WINDOW ? far.errors : -1;
	if (far.exit_sent || !far.reaped || far.errors >= 0 || !s->total_sent ||
	    !flow_load(&s->flow.finished))
		return;
	channel_send(&s->channel, MSG_EXIT, &far.status, sizeof(far.status));
	far.exit_sent = true;
}

static void far_signal(struct session *s, int signal)
{
	if (signal != SIGCHLD)
		session_fail(s, "signal %d", signal);
}

static const struct role role = {
	.message = far_message,
	.signal = far_signal,
	.check = far_check,
	.extra = read_errors,
};

static int take_signals(void)
{
	static const int taken[] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM };
	sigset_t set;
	size_t i;
	int fd;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(taken); i++)
		sigaddset(&set, taken[i]);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0 || sigprocmask(SIG_BLOCK, &set, NULL))
		xt_die(RSH_ERROR, "signals: %s", strerror(errno));
	return fd;
}

/* ---- Main ----------------------------------------------------------------------- */

/* Moves the channel to other descriptors: text that a library prints must not get into it. */
static void take_channel(struct session *s)
{
	int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (in < 0 || out < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0)
		xt_die(RSH_ERROR, "cannot take the channel: %s", strerror(errno));
	close(null);
	session_init(s, &role, in, out);
}

static bool is_valid(const struct settings *o)
{
	return o->chunk >= FLOW_MIN_CHUNK && o->chunk <= FLOW_MAX_CHUNK &&
	       o->slots >= FLOW_MIN_SLOTS && o->slots <= FLOW_MAX_SLOTS &&
	       memchr(o->device, 0, sizeof(o->device));
}

/* Receives settings and command. */
static bool get_start(struct channel *c)
{
	struct message m;
	uint32_t length;

	if (!channel_wait(c, &m, ANSWER_MS) || m.type != MSG_START ||
	    m.length <= sizeof(far.settings) || m.length - sizeof(far.settings) > COMMAND_MAX)
		return false;
	length = m.length - (uint32_t)sizeof(far.settings);
	memcpy(&far.settings, m.data, sizeof(far.settings));
	memcpy(far.command, m.data + sizeof(far.settings), length);
	return strlen(far.command) == length && is_valid(&far.settings);
}

static bool choose(struct session *s, const struct settings *o)
{
	struct offers own;

	path_offers(&own, o->device, o->gid_index);
	if (!path_serve(&s->channel, o, &s->pump, &own, &s->rdma))
		return false;
	if (o->flags & SET_VERBOSE && s->rdma && s->flow.out_slots < o->slots)
		fprintf(stderr, "xv_rsh: far end: %u slots instead of %u, for lack of memory that "
			"may be locked\n", s->flow.out_slots, o->slots);
	return s->rdma || session_relay(s, o->chunk, o->slots, false);
}

int far_main(void)
{
	struct session *s = &far.session;
	char version[32];

	/* Leaves the process group of the terminal: the near end gets its signals. */
	setsid();
	signal(SIGPIPE, SIG_IGN);
	take_channel(s);
	channel_greet(&s->channel);
	if (channel_greeted(&s->channel, version) != CHANNEL_PROTOCOL || !get_start(&s->channel) ||
	    !choose(s, &far.settings))
		return RSH_ERROR;
	s->signals = take_signals();
	start_command(s);
	session_run(s);
	if (s->over)
		return 0;
	hang_up();
	channel_text(&s->channel, MSG_FAIL, s->failure);
	channel_drain(&s->channel, 1000);
	return RSH_ERROR;
}
