// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Starts the far end: with ssh, with another command (--via), or on this host (--via local).
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "rsh.h"

enum { MAX_WORDS = 160, WORD_MAX = 4096 };

struct words {
	char *word[MAX_WORDS + 1];
	int n;
};

static void add(struct words *w, const char *word)
{
	if (w->n == MAX_WORDS)
		xt_die(RSH_ERROR, "too many words for the command that reaches the far end");
	w->word[w->n] = strdup(word);
	if (!w->word[w->n++])
		xt_die(RSH_ERROR, "out of memory");
}

/* %h and %u stand for host and user, %% for a percent sign. */
static void expand(const struct options *opt, const char *from, size_t length, char to[WORD_MAX])
{
	size_t i, n = 0;

	for (i = 0; i < length && n < WORD_MAX - 1; i++) {
		char next = from[i] == '%' && i + 1 < length ? from[i + 1] : 0;
		const char *value = next == 'h' ? opt->host : next == 'u' ?
				    (opt->user ? opt->user : "") : NULL;

		if (value)
			n += (size_t)snprintf(to + n, WORD_MAX - n, "%s", value);
		else
			to[n++] = from[i];
		i += value || next == '%';
	}
	if (n >= WORD_MAX - 1)
		xt_die(RSH_ERROR, "a word of --via is too long");
	to[n] = 0;
}

/* Words are separated by blanks; there are no quotes. */
static void add_via(struct words *w, const struct options *opt)
{
	const char *at = opt->via;
	char word[WORD_MAX];
	size_t length;

	for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
		length = strcspn(at, " \t");
		expand(opt, at, length, word);
		add(w, word);
		at += length;
	}
}

static void add_ssh(struct words *w, const struct options *opt)
{
	char name[WORD_MAX];
	int i;

	add(w, "ssh");
	for (i = 0; i < opt->n_ssh; i++)
		add(w, opt->ssh[i]);
	snprintf(name, sizeof(name), "%s%s%s", opt->user ? opt->user : "", opt->user ? "@" : "",
		 opt->host);
	add(w, "--");
	add(w, name);
}

static void add_self(struct words *w)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		xt_die(RSH_ERROR, "/proc/self/exe: %s", strerror(errno));
	path[n] = 0;
	add(w, path);
}

static void make_words(struct words *w, const struct options *opt)
{
	bool local = opt->via && !strcmp(opt->via, "local");

	if (local)
		add_self(w);
	else if (opt->via)
		add_via(w, opt);
	else
		add_ssh(w, opt);
	if (!local)
		add(w, opt->remote_path);
	add(w, "--far-end");
}

/* The child ignores signals of the terminal; this process passes them to the command. */
static void run_child(const struct words *w, int channel)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTSTP, SIGHUP };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (dup2(channel, STDIN_FILENO) >= 0 && dup2(channel, STDOUT_FILENO) >= 0)
		execvp(w->word[0], w->word);
	fprintf(stderr, "xv_rsh: cannot start %s: %s\n", w->word[0], strerror(errno));
	_exit(RSH_ERROR);
}

pid_t start_far(const struct options *opt, int *channel)
{
	struct words words = { .n = 0 };
	int pair[2];
	pid_t pid;

	make_words(&words, opt);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		xt_die(RSH_ERROR, "socketpair: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		xt_die(RSH_ERROR, "fork: %s", strerror(errno));
	if (!pid)
		run_child(&words, pair[1]);
	close(pair[1]);
	while (words.n)
		free(words.word[--words.n]);
	*channel = pair[0];
	return pid;
}

void exec_ssh_query(const struct options *opt)
{
	struct words words = { .n = 0 };

	add_ssh(&words, opt);
	/* -G follows the name of the program. */
	memmove(words.word + 2, words.word + 1, (size_t)words.n * sizeof(words.word[0]));
	words.word[1] = strdup("-G");
	execvp(words.word[0], words.word);
	xt_die(RSH_ERROR, "cannot start ssh: %s", strerror(errno));
}
