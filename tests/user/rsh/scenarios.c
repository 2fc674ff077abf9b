// SPDX-License-Identifier: GPL-2.0
/*
 * What sessions do, what goes wrong in them, and what must come of it.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include "flow.h"
#include "play.h"
#include "session.h"

enum { ERROR = 255, EVENTS = 4000, MUCH = 100000 };

#define BIT(signal)	(1u << (signal))

/* ---- Results ---------------------------------------------------------------------- */

static int exit_of(const struct proc *p)
{
	return WIFEXITED(p->status) ? WEXITSTATUS(p->status) : -WTERMSIG(p->status);
}

static void expect_exit(const struct proc *p, int status)
{
	sim_check(exit_of(p) == status, "%s ends with %d, not %d: %s", p->name, exit_of(p), status,
		  p->said);
}

static void expect_said(const struct proc *p, const char *text)
{
	sim_check(strstr(p->said, text), "%s does not say \"%s\" but \"%s\"", p->name, text,
		  p->said);
}

static void expect_all(enum stream s)
{
	sim_check(play.got[s] == play.sent[s] && play.eof[s],
		  "stream %d: %llu of %llu bytes%s", s, (unsigned long long)play.got[s],
		  (unsigned long long)play.sent[s], play.eof[s] ? "" : ", no end");
}

/* Status and output of the command are complete. */
static void is_good(void)
{
	const struct plan *p = &play.plan;
	bool died;

	sim_check(play.command, "there was no command; the near end says \"%s\"", play.near->said);
	died = WIFSIGNALED(play.command->status);
	sim_check(!died || p->dies || play.command->got & BIT(SIGPIPE), "the command was killed");
	expect_exit(play.near, died ? ERROR : p->status);
	if (died)
		expect_said(play.near, "ended the command");
	if (p->take[STREAM_OUT] == ALL)
		expect_all(STREAM_OUT);
	if (p->take[STREAM_ERR] == ALL)
		expect_all(STREAM_ERR);
}

static void check_output(void)
{
	is_good();
	expect_exit(play.far, 0);
}

static void check_data(void)
{
	const struct plan *p = &play.plan;

	check_output();
	if (p->take[STREAM_IN] == ALL && !p->early_exit)
		expect_all(STREAM_IN);
	sim_check(p->dies || !WIFSIGNALED(play.command->status), "the command was killed");
}

/* The near end says so, and the command was told if it ran still. */
static void is_lost(void)
{
	expect_exit(play.near, ERROR);
	if (!play.command)
		return;
	sim_check(!play.command->alive, "the command runs on");
	sim_check(!play.plan.stays || play.command->got & BIT(SIGHUP),
		  "the command did not get SIGHUP");
}

/* After trouble at a random time: all or nothing */
static void check_trouble(void)
{
	if (!play.plan.stays && exit_of(play.near) != ERROR)
		is_good();
	else
		is_lost();
}

/* Much data in few steps */
static void wide(struct plan *p)
{
	p->max_write = 8192;
	p->pipe_bytes = 65536;
	p->naps = p->naps ? 50 : 0;
}

static void prepare_waking(struct plan *p)
{
	p->start = waking_start;
	if (!sim.stale)
		sim.stale = 2;
}

static void check_waking(void)
{
	expect_exit(play.near, 0);
}

/* ---- Data and ends ---------------------------------------------------------------- */

static void prepare_data(struct plan *p)
{
	(void)p;
}

static void prepare_echo(struct plan *p)
{
	p->echo = true;
}

static void prepare_early(struct plan *p)
{
	p->take[STREAM_IN] = sim_below(200);
	p->bytes[STREAM_IN] = sim_chance(2) ? ALL : MUCH;
	p->keeps_input = sim_chance(2);
	p->early_exit = true;
	wide(p);
}

static void prepare_idle_input(struct plan *p)
{
	p->early_exit = true;
	p->keeps_input = true;
	p->take[STREAM_IN] = 0;
}

/* Both pipes are full for a while, longer than the ends wait for life signs. */
static void prepare_full(struct plan *p)
{
	p->bytes[STREAM_IN] = p->bytes[STREAM_OUT] = sim_between(1, 400000);
	wide(p);
	p->wait[STREAM_IN] = sim_between(1, 45);
	p->wait[STREAM_OUT] = sim_between(1, 45);
}

static void prepare_unread(struct plan *p)
{
	prepare_full(p);
	p->wait[STREAM_OUT] = 120;
	p->patience = 130;
}

static void prepare_head(struct plan *p)
{
	p->take[STREAM_OUT] = sim_below(3000);
	p->bytes[STREAM_OUT] = ALL;
	wide(p);
	p->keeps_input = sim_chance(2);
	p->early_exit = true;
	p->take[STREAM_IN] = p->keeps_input ? 0 : ALL;
	p->caught = sim_chance(2) ? BIT(SIGPIPE) : 0;
}

static void prepare_errors(struct plan *p)
{
	p->bytes[STREAM_ERR] = 200000;
	p->bytes[STREAM_OUT] = 20000;
	wide(p);
	p->wait[STREAM_ERR] = 50;
	p->naps = 0;
	if (sim_chance(3))
		p->take[STREAM_ERR] = sim_below(50000);
}

static void check_errors(void)
{
	check_data();
	sim_check(play.last[STREAM_OUT] < 1020, "standard output waits for standard error");
}

static void prepare_status(struct plan *p)
{
	static const int deadly[] = { SIGHUP, SIGINT, SIGKILL, SIGTERM, SIGSEGV, SIGPIPE };

	p->bytes[STREAM_IN] = sim_below(100);
	p->bytes[STREAM_OUT] = sim_below(100);
	p->bytes[STREAM_ERR] = sim_below(100);
	p->status = (int)sim_below(256);
	p->dies = sim_chance(3) ? deadly[sim_below(6)] : 0;
}

/* ---- Signals ---------------------------------------------------------------------- */

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };
static int sent_signal;

static void send_signal(void)
{
	os_signal(play.near, sent_signal);
}

static void after_start(struct plan *p, void (*event)(void))
{
	p->event = event;
	p->event_at = sim_below(EVENTS);
	p->event_time = sim_between(1, 3);
	p->after_start = true;
}

static void prepare_signal(struct plan *p)
{
	sent_signal = forwarded[sim_below(6)];
	p->caught = p->wants = BIT(sent_signal);
	after_start(p, send_signal);
}

static void send_signals(void)
{
	os_signal(play.near, SIGINT);
	sim_sleep(1e-3 * sim_below(1000));
	os_signal(play.near, SIGTERM);
}

static void prepare_second_signal(struct plan *p)
{
	p->caught = BIT(SIGINT) | BIT(SIGTERM);
	p->stays = true;
	p->bytes[STREAM_OUT] = sim_chance(2) ? MUCH : 0;
	wide(p);
	after_start(p, send_signals);
	p->event_time = 2;
}

static void check_second_signal(void)
{
	int status = exit_of(play.near);

	sim_check(status == -SIGTERM || status == -SIGINT, "the near end ends with %d", status);
	sim_check(play.command->got & BIT(SIGHUP), "the command did not get SIGHUP");
	expect_exit(play.far, ERROR);
}

static void far_signal(void)
{
	if (play.far && play.far->blocked & BIT(SIGTERM))
		os_signal(play.far, SIGTERM);
	else if (play.far)
		os_signal(play.far, SIGKILL);
}

static void pause_near(void)
{
	os_signal(play.near, SIGTSTP);
	sim_sleep(100);
	os_signal(play.near, SIGCONT);
}

static void prepare_pause(struct plan *p)
{
	after_start(p, pause_near);
	p->patience = 150;
	if (sim_chance(2)) {
		p->bytes[STREAM_OUT] = p->bytes[STREAM_IN] = 60000;
		wide(p);
	}
}

/* ---- Trouble ---------------------------------------------------------------------- */

static void at_random(struct plan *p, void (*event)(void))
{
	p->event = event;
	p->event_at = sim_below(sim_chance(2) ? 300 : EVENTS);
	p->event_time = sim_between(1, 4);
	p->stays = sim_chance(2);
	p->bytes[STREAM_OUT] = sim_chance(3) ? ALL : p->bytes[STREAM_OUT];
	if (p->bytes[STREAM_OUT] == ALL) {
		wide(p);
		p->stays = true;
	}
}

static void kill_near(void)
{
	os_signal(play.near, SIGKILL);
}

static void prepare_near_killed(struct plan *p)
{
	at_random(p, kill_near);
}

static void check_near_killed(void)
{
	if (exit_of(play.near) != -SIGKILL) {
		is_good();
		return;
	}
	if (play.command)
		sim_check(!play.command->alive, "the command runs on");
	if (play.command && play.plan.stays)
		sim_check(play.command->got & (BIT(SIGHUP) | BIT(SIGPIPE)), "no SIGHUP");
	if (play.far)
		sim_check(!play.far->alive, "the far end runs on");
}

static void kill_far(void)
{
	if (play.far)
		os_signal(play.far, SIGKILL);
}

static void prepare_far_killed(struct plan *p)
{
	at_random(p, kill_far);
}

static void prepare_far_signal(struct plan *p)
{
	at_random(p, far_signal);
}

/* A kill between fork() and prctl() leaves the command without the signal; its pipes end. */
static void check_far_killed(void)
{
	if (exit_of(play.near) != ERROR)
		is_good();
	else if (play.command)
		sim_check(!play.command->alive, "the command runs on");
}

static void cut(void)
{
	if (channel_pipes.up)
		pipe_cut(channel_pipes.up);
	if (channel_pipes.down)
		pipe_cut(channel_pipes.down);
}

static void prepare_cut(struct plan *p)
{
	at_random(p, cut);
}

static void stall(void)
{
	os.dead_host = true;
	fabric.stalled = true;
	if (channel_pipes.up)
		channel_pipes.up->stalled = channel_pipes.down->stalled = true;
}

static void prepare_dead(struct plan *p)
{
	after_start(p, stall);
	p->stays = true;
	p->bytes[STREAM_OUT] = sim_chance(2) ? ALL : p->bytes[STREAM_OUT];
	if (p->bytes[STREAM_OUT] == ALL)
		wide(p);
}

static void expect_end_in_time(const struct proc *p)
{
	double after = p->ended - play.event_now;

	sim_check(after > 8 && after < 20, "%s ends %.1f seconds later", p->name, after);
	expect_exit(p, ERROR);
}

static void check_dead(void)
{
	is_lost();
	expect_end_in_time(play.near);
	expect_end_in_time(play.far);
	expect_said(play.near, "no life sign for 15 seconds");
}

static void prepare_wire_fails(struct plan *p)
{
	fabric.fail_at = sim_between(3, sim_chance(2) ? 10 : 100);
	p->stays = sim_chance(2);
	p->bytes[STREAM_OUT] = ALL;
	wide(p);
	p->event = NULL;
}

static void check_wire_fails(void)
{
	is_lost();
	expect_said(play.near, "the RDMA connection failed");
}

static void prepare_flip(struct plan *p)
{
	fabric.flip_at = sim_between(3, sim_chance(2) ? 10 : 60);
	p->bytes[STREAM_OUT] = ALL;
	wide(p);
}

static void check_flip(void)
{
	sim_check(fabric.flipped, "no bit was flipped");
	is_lost();
	sim_check(strstr(play.near->said, "wrong") || strstr(play.near->said, "unknown") ||
		  strstr(play.near->said, "end"), "the near end says \"%s\"", play.near->said);
}

static void remove_device(void)
{
	fabric.removed = true;
}

static void prepare_removed(struct plan *p)
{
	after_start(p, remove_device);
	p->stays = true;
}

static void check_removed(void)
{
	is_lost();
	sim_check(strstr(play.near->said, "the device was removed") ||
		  strstr(play.near->said, "the connection was lost"), "\"%s\"", play.near->said);
}

static void prepare_totals(struct plan *p)
{
	p->bytes[STREAM_OUT] = sim_between(10, 5000);
	after_start(p, near_spoil);
}

static void check_totals(void)
{
	if (!near_spoiled && exit_of(play.near) != ERROR)
		return;
	expect_exit(play.near, ERROR);
	expect_said(play.near, "the totals of both ends differ");
}

/* ---- Paths ------------------------------------------------------------------------ */

static void prepare_no_path(struct plan *p)
{
	(void)p;
	fabric.ports[sim_below(2)] = 0;
}

static void check_no_path(void)
{
	expect_exit(play.near, ERROR);
	expect_said(play.near, "no RDMA path to host");
	sim_check(!play.command, "the command was started");
}

static void prepare_pairs(struct plan *p)
{
	fabric.ports[0] = fabric.ports[1] = 2;
	fabric.bad_pairs = sim_between(1, 3);
	p->patience = 100;
}

static void prepare_attempts(struct plan *p)
{
	fabric.ports[0] = fabric.ports[1] = 2;
	fabric.fail_open = sim_between(2, 4);
	fabric.fail_connect = sim_between(2, 4);
	fabric.few_slots = sim_chance(2) ? 2 : 0;
	p->fallback = true;
}

static void prepare_few_slots(struct plan *p)
{
	p->slots = 16;
	fabric.few_slots = sim_between(2, 8);
}

/* ---- Without RDMA ----------------------------------------------------------------- */

static void relay(struct plan *p)
{
	p->fallback = true;
	fabric.ports[sim_below(2)] = 0;
}

#define RELAYED(name)								\
static void relay_##name(struct plan *p)					\
{										\
	relay(p);								\
	prepare_##name(p);							\
}

RELAYED(data)
RELAYED(echo)
RELAYED(early)
RELAYED(idle_input)
RELAYED(full)
RELAYED(unread)
RELAYED(head)
RELAYED(errors)
RELAYED(status)
RELAYED(signal)
RELAYED(near_killed)
RELAYED(far_killed)
RELAYED(cut)
RELAYED(dead)
RELAYED(pause)

const struct scenario scenarios[] = {
	{ "waking", 60, prepare_waking, check_waking },
	{ "data", 60, prepare_data, check_data },
	{ "echo", 60, prepare_echo, check_data },
	{ "early-exit", 60, prepare_early, check_data },
	{ "idle-input", 60, prepare_idle_input, check_data },
	{ "full-pipes", 60, prepare_full, check_data },
	{ "unread-output", 60, prepare_unread, check_data },
	{ "head", 60, prepare_head, check_output },
	{ "unread-errors", 60, prepare_errors, check_errors },
	{ "status", 60, prepare_status, check_data },
	{ "signal", 60, prepare_signal, check_data },
	{ "second-signal", 60, prepare_second_signal, check_second_signal },
	{ "near-killed", 60, prepare_near_killed, check_near_killed },
	{ "far-killed", 60, prepare_far_killed, check_far_killed },
	{ "far-signal", 60, prepare_far_signal, check_far_killed },
	{ "channel-cut", 60, prepare_cut, check_trouble },
	{ "dead-host", 60, prepare_dead, check_dead },
	{ "pause", 60, prepare_pause, check_data },
	{ "wire-fails", 60, prepare_wire_fails, check_wire_fails },
	{ "bit-flip", 60, prepare_flip, check_flip },
	{ "device-removed", 60, prepare_removed, check_removed },
	{ "totals", 60, prepare_totals, check_totals },
	{ "no-path", 60, prepare_no_path, check_no_path },
	{ "bad-pairs", 60, prepare_pairs, check_data },
	{ "attempts", 60, prepare_attempts, check_data },
	{ "few-slots", 60, prepare_few_slots, check_data },
	{ "relay-data", 60, relay_data, check_data },
	{ "relay-echo", 60, relay_echo, check_data },
	{ "relay-early-exit", 60, relay_early, check_data },
	{ "relay-idle-input", 60, relay_idle_input, check_data },
	{ "relay-full-pipes", 60, relay_full, check_data },
	{ "relay-unread-output", 60, relay_unread, check_data },
	{ "relay-head", 60, relay_head, check_output },
	{ "relay-unread-errors", 60, relay_errors, check_errors },
	{ "relay-status", 60, relay_status, check_data },
	{ "relay-signal", 60, relay_signal, check_data },
	{ "relay-near-killed", 60, relay_near_killed, check_near_killed },
	{ "relay-far-killed", 60, relay_far_killed, check_far_killed },
	{ "relay-channel-cut", 60, relay_cut, check_trouble },
	{ "relay-dead-host", 60, relay_dead, check_dead },
	{ "relay-pause", 60, relay_pause, check_data },
};

const int n_scenarios = sizeof(scenarios) / sizeof(scenarios[0]);
