// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The near end: its standard input and output are those of the command on the far end.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "errors.h"
#include "rsh.h"

struct near {
	struct session session;
	const struct options *opt;
	struct errors errors;
	pid_t child;
	int status;			/* of the command, as of waitpid() */
	bool exited;
	int deadly;			/* signals received that end programs */
	struct offer own, theirs;
	struct report report;
};

static struct near near;

/* ---- The child process: ssh, or the far end itself ----------------------------------- */

/* Returns whether the child ends in this time. */
static bool child_ends(pid_t pid, int seconds, int *status)
{
	double until = xt_now() + seconds;

	while (!waitpid(pid, status, WNOHANG)) {
		if (xt_now() > until)
			return false;
		usleep(2000);
	}
	return true;
}

/* Returns its status as of waitpid(). */
static int end_child(pid_t pid, int seconds)
{
	int status = 0;

	if (child_ends(pid, seconds, &status))
		return status;
	kill(pid, SIGTERM);
	kill(pid, SIGCONT);
	if (!child_ends(pid, 1, &status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return status;
}

__attribute__((noreturn))
static void no_greeting(const struct options *opt, uint32_t protocol, const char *version)
{
	int status;

	if (protocol)
		xt_die(RSH_ERROR, "xv_rsh %s on %s has protocol %u, this is version %s with "
		       "protocol %u: install the same version", version, opt->host, protocol,
		       XV_VERSION, CHANNEL_PROTOCOL);
	status = end_child(near.child, 2);
	if (WIFEXITED(status))
		xt_die(RSH_ERROR, "the far end on %s did not start (status %d)%s", opt->host,
		       WEXITSTATUS(status), WEXITSTATUS(status) == 127 ?
		       ": is xv_rsh installed there? See --remote-path" : "");
	xt_die(RSH_ERROR, "the far end on %s did not start", opt->host);
}

/* ---- Messages of the far end ---------------------------------------------------- */

static bool near_message(struct session *s, const struct message *m)
{
	(void)s;
	switch (m->type) {
	case MSG_ERRORS:
		return errors_put(&near.errors, m);
	case MSG_EXIT:
		if (m->length != sizeof(near.status) || near.exited)
			return false;
		memcpy(&near.status, m->data, sizeof(near.status));
		near.exited = true;
		return true;
	default:
		return false;
	}
}

static void near_check(struct session *s)
{
	errors_tell(&near.errors, &s->channel);
	/* The writer may have ended with an error after the session has looked for one. */
	if (near.exited && flow_load(&s->writer.done) && !s->writer.error &&
	    errors_done(&near.errors)) {
		channel_send(&s->channel, MSG_BYE, NULL, 0);
		s->over = true;
	}
}

/* ---- Signals -------------------------------------------------------------------- */

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };

static bool is_ignored(int signal)
{
	struct sigaction a;

	return !sigaction(signal, NULL, &a) && a.sa_handler == SIG_IGN;
}

static void die_by(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* A stopped process sends no life signs, so it tells the far end before. */
static void stop_here(struct session *s)
{
	channel_send(&s->channel, MSG_PAUSE, NULL, 0);
	channel_drain(&s->channel, 1000 * LIFE_S);
	kill(getpid(), SIGSTOP);
	s->heard = s->life = xt_now();
}

/* A signal goes to the command.  The second HUP, INT, QUIT or TERM ends this process, too. */
static void near_signal(struct session *s, int signal)
{
	uint32_t number = (uint32_t)signal;

	if (signal == SIGTSTP) {
		stop_here(s);
		return;
	}
	if (signal != SIGUSR1 && signal != SIGUSR2 && ++near.deadly > 1)
		die_by(signal);
	channel_send(&s->channel, MSG_SIGNAL, &number, sizeof(number));
}

static int take_signals(void)
{
	sigset_t set;
	size_t i;
	int fd;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(forwarded); i++)
		if (!is_ignored(forwarded[i]))
			sigaddset(&set, forwarded[i]);
	if (!is_ignored(SIGTSTP))
		sigaddset(&set, SIGTSTP);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0 || sigprocmask(SIG_BLOCK, &set, NULL))
		xt_die(RSH_ERROR, "signals: %s", strerror(errno));
	return fd;
}

/* ---- Main ----------------------------------------------------------------------- */

static const struct role role = {
	.message = near_message,
	.signal = near_signal,
	.check = near_check,
};

static void start_command(struct channel *c, const struct options *opt)
{
	uint32_t protocol;
	char version[32];

	protocol = channel_greeted(c, version);
	if (protocol != CHANNEL_PROTOCOL)
		no_greeting(opt, protocol, version);
	channel_greet(c);
	channel_send2(c, MSG_START, &opt->far, sizeof(opt->far), opt->command,
		      strlen(opt->command));
}

static void choose(struct session *s, const struct options *opt)
{
	struct offers own;
	char why[1000];

	path_offers(&own, opt->device ? opt->device : "", opt->gid_index);
	s->rdma = path_choose(&s->channel, &opt->far, &s->pump, &own, &near.own, &near.theirs, why,
			      sizeof(why));
	if (s->channel.bad)
		xt_die(RSH_ERROR, "the far end on %s sends what is no message", opt->host);
	if (s->channel.closed)
		xt_die(RSH_ERROR, "the connection to %s was lost%s%s", opt->host, *why ? ": " : "",
		       why);
	if (s->rdma)
		return;
	if (!opt->fallback)
		xt_die(RSH_ERROR, "no RDMA path to %s: %s", opt->host, why);
	fprintf(stderr, "xv_rsh: warning: no RDMA path to %s, the data goes through the channel: "
		"%s\n", opt->host, why);
	if (!session_relay(s, opt->far.chunk, opt->far.slots, true))
		xt_die(RSH_ERROR, "out of memory");
}

static void start_errors(struct session *s)
{
	pthread_t id;

	near.errors.session = &s->self;
	if (!waker_open(&near.errors.self) || pthread_create(&id, NULL, errors_run, &near.errors))
		xt_die(RSH_ERROR, "cannot start a thread");
	pthread_detach(id);
}

/* The exit status; 255 for a signal, as ssh has it */
static int status_of(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "xv_rsh: signal %d ended the command\n", WTERMSIG(status));
	return RSH_ERROR;
}

static int finish(struct session *s)
{
	if (s->over) {
		near.report.status = status_of(near.status);
	} else {
		channel_text(&s->channel, MSG_FAIL, s->failure);
		fprintf(stderr, "xv_rsh: %s: %s\n", near.opt->host, s->failure);
		near.report.status = RSH_ERROR;
	}
	channel_drain(&s->channel, 1000);
	close(s->channel.in);
	end_child(near.child, s->over ? 5 : 1);
	report_end(&near.report);
	return near.report.status;
}

int near_main(struct options *opt)
{
	struct session *s = &near.session;
	int channel;

	near.opt = opt;
	near.report = (struct report) { .opt = opt, .session = s, .near = &near.own,
					.far = &near.theirs };
	near.child = start_far(opt, &channel);
	signal(SIGPIPE, SIG_IGN);
	session_init(s, &role, channel, channel);
	start_command(&s->channel, opt);
	choose(s, opt);
	report_path(&near.report);
	s->signals = take_signals();
	start_errors(s);
	channel_send(&s->channel, MSG_USE, NULL, 0);
	session_start(s, STDIN_FILENO, STDOUT_FILENO);
	report_start(&near.report);
	session_run(s);
	return finish(s);
}
