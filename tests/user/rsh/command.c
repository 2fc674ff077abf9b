// SPDX-License-Identifier: GPL-2.0
/*
 * The command, and the programs at the pipes of the near end.  Each byte of a stream depends on
 * its place, and each sink checks it.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "play.h"

enum { BUFFER = 8192 };

struct play play;

static enum stream streams[STREAMS] = { STREAM_IN, STREAM_OUT, STREAM_ERR };

uint8_t play_byte(enum stream s, uint64_t i)
{
	/* The echo has the bytes of the input. */
	uint64_t key = play.plan.echo ? 0 : (uint64_t)s * 77;
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u + sim.seed + key;

	return (uint8_t)(x >> 29 ^ x >> 41);
}

/* ---- Sources and sinks ------------------------------------------------------------ */

static void maybe_nap(void)
{
	if (play.plan.naps && sim_chance(play.plan.naps))
		sim_sleep(sim_chance(8) ? 1e-3 * sim_below(3000) : 1e-5 * sim_below(3000));
}

/* Writes bytes of a stream until all are written or nobody reads them. */
static void write_stream(enum stream s, int fd)
{
	uint8_t data[BUFFER];
	uint32_t i, n, left;
	ssize_t k;

	while (play.sent[s] < play.plan.bytes[s] && !play.broken[s]) {
		left = play.plan.bytes[s] - (uint32_t)play.sent[s];
		n = sim_between(1, play.plan.max_write);
		n = n < left ? n : left;
		for (i = 0; i < n; i++)
			data[i] = play_byte(s, play.sent[s] + i);
		k = sim_write(fd, data, n);
		if (k > 0)
			play.sent[s] += (uint64_t)k;
		else if (errno == EPIPE)
			play.broken[s] = true;
		else
			sim_yield();
		maybe_nap();
	}
}

static void check_bytes(enum stream s, const uint8_t *data, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && !(play.hostile && s == STREAM_ERR); i++)
		if (data[i] != play_byte(s, play.got[s] + i))
			sim_fail("byte %llu of stream %d is wrong",
				 (unsigned long long)(play.got[s] + i), s);
	play.got[s] += n;
	play.last[s] = sim.now;
}

/* Reads until the end of the stream, or so many bytes. */
static void read_stream(enum stream s, int fd)
{
	uint8_t data[BUFFER];
	uint32_t n, left;
	ssize_t k;

	while (play.got[s] < play.plan.take[s] && !play.eof[s]) {
		left = play.plan.take[s] - (uint32_t)play.got[s];
		n = sim_chance(2) ? BUFFER : sim_between(1, 100);
		k = sim_read(fd, data, n < left ? n : left);
		if (k > 0)
			check_bytes(s, data, (uint32_t)k);
		else if (!k)
			play.eof[s] = true;
		else
			sim_yield();
		maybe_nap();
	}
}

/* ---- The command ------------------------------------------------------------------ */

static void end_part(void)
{
	play.active--;
	sim.events++;
}

static void command_in(void *arg)
{
	(void)arg;
	if (play.plan.wait[STREAM_IN] > 0)
		sim_sleep(play.plan.wait[STREAM_IN]);
	read_stream(STREAM_IN, 0);
	if (!play.plan.early_exit && sim_chance(2))
		sim_close(0);
	end_part();
}

/* The number of a stream is that of its descriptor. */
static void command_writes(void *arg)
{
	enum stream s = *(const enum stream *)arg;

	write_stream(s, (int)s);
	if (sim_chance(2))
		sim_close((int)s);
	end_part();
}

static void write_all(const uint8_t *data, size_t n)
{
	ssize_t k;

	while (n && !play.broken[STREAM_OUT]) {
		k = sim_write(1, data, n);
		if (k > 0) {
			data += k;
			n -= (size_t)k;
		} else if (errno == EPIPE) {
			play.broken[STREAM_OUT] = true;
		}
	}
}

/* What it writes has the places and so the bytes of the input. */
static void command_echo(void *arg)
{
	uint8_t data[BUFFER];
	ssize_t n;

	(void)arg;
	while ((n = sim_read(0, data, sim_between(1, BUFFER))) > 0) {
		check_bytes(STREAM_IN, data, (uint32_t)n);
		write_all(data, (size_t)n);
		play.sent[STREAM_OUT] += (uint64_t)n;
		maybe_nap();
	}
	play.eof[STREAM_IN] = true;
	end_part();
}

static bool may_exit(void *arg)
{
	const struct plan *p = &play.plan;

	(void)arg;
	return !play.active && !p->stays && (play.command->got & p->wants) == p->wants;
}

static void start_parts(struct proc *p)
{
	play.active = 1;
	if (play.plan.echo) {
		sched_start(p, "command", command_echo, NULL);
	} else {
		play.active = 2;
		sched_start(p, "command out", command_writes, &streams[STREAM_OUT]);
		sched_start(p, "command in", command_in, NULL);
	}
	play.active++;
	sched_start(p, "command err", command_writes, &streams[STREAM_ERR]);
}

/* The part of run_command() in far.c behind the fork */
static void run_command(void *arg)
{
	struct proc *p = arg;
	sigset_t all;

	sim_step();
	if (sim_chance(4))
		sim_sleep(1e-3);
	sim_setsid();
	sim_step();
	p->ignored = 0;
	sigfillset(&all);
	sim_sigprocmask(SIG_UNBLOCK, &all, NULL);
	start_parts(p);
	sim_wait("waits for what the command waits for", may_exit, NULL, -1);
	if (play.plan.dies)
		sim_raise(play.plan.dies);
	os_exit(play.plan.status);
}

void command_start(struct proc *p)
{
	p->caught = play.plan.caught;
	sched_start(p, "command main", run_command, p);
}

/* ---- The programs at the pipes of the near end ------------------------------------ */

static bool near_ended(void *arg)
{
	(void)arg;
	return !play.near->alive;
}

static void shell_in(void *arg)
{
	(void)arg;
	write_stream(STREAM_IN, 0);
	if (play.plan.keeps_input)
		sim_wait("keeps the input open", near_ended, NULL, -1);
	sim_close(0);
}

static void shell_reads(void *arg)
{
	enum stream s = *(const enum stream *)arg;

	if (play.plan.wait[s] > 0)
		sim_sleep(play.plan.wait[s]);
	read_stream(s, (int)s);
	sim_close((int)s);
}

static bool before_start(void)
{
	return !play.far || (play.plan.after_start && !(play.command && play.command->group));
}

static bool event_due(void *arg)
{
	(void)arg;
	if (!play.near->alive)
		return true;
	return sim.events >= play.plan.event_at && !before_start();
}

static void trouble(void *arg)
{
	(void)arg;
	sim_wait("waits for trouble", event_due, NULL, 1000 + play.plan.event_time);
	if (before_start())
		sim_wait("waits for the command", event_due, NULL, -1);
	play.event_now = sim.now;
	play.happened = play.near->alive && play.far && play.far->alive;
	sim_trace("the event comes");
	play.plan.event();
	sim.events++;
}

void sources_start(void)
{
	play.shell->ignored = 1u << SIGPIPE;
	sched_start(play.shell, "source", shell_in, NULL);
	sched_start(play.shell, "sink", shell_reads, &streams[STREAM_OUT]);
	sched_start(play.shell, "errors sink", shell_reads, &streams[STREAM_ERR]);
	if (play.plan.event)
		sched_start(play.shell, "trouble", trouble, NULL);
}

/* ---- A random session without trouble --------------------------------------------- */

static uint32_t random_bytes(void)
{
	static const uint32_t most[] = { 0, 1, 100, 5000, 20000, 60000 };

	return sim_below(most[sim_below(6)] + 1);
}

static uint32_t limit(uint32_t n, uint32_t most)
{
	return n < most ? n : most;
}

/* Small pipes and writes get little data, so a run takes milliseconds. */
void play_reset(uint64_t seed)
{
	static const uint32_t sizes[] = { 7, 100, 4096, 65536 };
	static const uint32_t writes[] = { 5, 200, BUFFER, BUFFER };
	struct plan *p = &play.plan;
	int i;

	os_reset();
	sched_reset(seed);
	fabric_reset();
	play = (struct play) { .active = 0 };
	*p = (struct plan) {
		.chunk = sim_chance(2) ? 4096 : sim_between(4096, 20000),
		.slots = sim_chance(2) ? 2 : sim_between(2, 16),
		.verbose = sim_chance(4),
		.max_write = writes[sim_below(4)], .pipe_bytes = sizes[sim_below(4)],
		.naps = sim_chance(2) ? 0 : sim_between(5, 100),
		.channel_bytes = sim_chance(2) ? 65536 : sim_between(200, 5000),
		.noise = sim_chance(4) ? sim_below(150) : 0,
		.ignores_interrupts = sim_chance(2),
		.status = sim_chance(2) ? 0 : (int)sim_below(200), .event_time = 1000,
	};
	for (i = 0; i < STREAMS; i++) {
		p->bytes[i] = limit(random_bytes(), 300 * limit(p->max_write, p->pipe_bytes));
		p->take[i] = ALL;
	}
	fabric.lag_us = sim_chance(2) ? 0 : sim_between(1, 3000);
}

void play_run(void)
{
	files_reset(play.plan.pipe_bytes);
	if (play.plan.start)
		play.plan.start();
	else
		ends_start();
	sched_run();
}
