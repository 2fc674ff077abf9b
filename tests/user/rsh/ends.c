// SPDX-License-Identifier: GPL-2.0
/*
 * Starts both ends as processes, and the command.
 */
#include <signal.h>
#include <string.h>
#include "play.h"
#include "rsh.h"

static struct options opt;

static void run_near(void *arg)
{
	(void)arg;
	os_exit(near_main(&opt));
}

static void run_far(void *arg)
{
	(void)arg;
	os_exit(far_main());
}

static void make_far(struct pipe *in, struct pipe *out)
{
	struct proc *p = os_process("far", NULL);

	os.far = play.far = p;
	if (play.plan.ignores_interrupts)
		p->ignored = 1u << SIGINT | 1u << SIGQUIT | 1u << SIGTSTP | 1u << SIGHUP;
	pipe_attach(p, 0, in, NULL);
	pipe_attach(p, 1, NULL, out);
	pipe_attach(p, 2, NULL, NULL);
	far_reset();
	if (play.hostile && play.near_is_honest)
		sched_start(p, "hostile", play.hostile, NULL);
	else
		sched_start(p, "far", run_far, NULL);
}

/* What a login shell prints before the far end starts */
static void make_noise(struct pipe *p, uint32_t n)
{
	while (n-- && p->length < p->size)
		p->data[p->length++] = (uint8_t)(sim_chance(20) ? '\n' : 'a' + sim_below(26));
}

pid_t start_far(const struct options *o, int *channel)
{
	(void)o;
	channel_pipes.down = pipe_make("channel to far", play.plan.channel_bytes);
	channel_pipes.up = pipe_make("channel to near", play.plan.channel_bytes);
	make_noise(channel_pipes.up, play.plan.noise);
	*channel = pipe_attach(os_self(), 0, channel_pipes.up, channel_pipes.down);
	make_far(channel_pipes.down, channel_pipes.up);
	os.ssh = 999;
	return os.ssh;
}

struct proc *ends_fork(struct proc *parent)
{
	struct proc *p = os_process("command", parent);
	int i;

	os.command = play.command = p;
	p->ignored = parent->ignored;
	p->blocked = parent->blocked;
	for (i = 0; i < STREAMS; i++)
		pipe_attach(p, i, i ? NULL : parent->made[0], i ? parent->made[i] : NULL);
	command_start(p);
	return p;
}

static void standard_pipe(struct proc *near, enum stream s)
{
	static const char *const names[] = { "near stdin", "near stdout", "near stderr" };
	struct pipe *p = pipe_make(names[s], sim_between(play.plan.pipe_bytes / 4 + 1,
							     play.plan.pipe_bytes));

	p->stream = true;
	pipe_attach(near, (int)s, s ? NULL : p, s ? p : NULL);
	pipe_attach(play.shell, (int)s, s ? p : NULL, s ? NULL : p);
}

static void set_options(void)
{
	opt = (struct options) {
		.host = "host", .command = (char *)(uintptr_t)"command", .gid_index = -1,
		.fallback = play.plan.fallback, .verbose = play.plan.verbose,
		.progress = sim_chance(8), .json = sim_chance(4),
		.far = { .chunk = play.plan.chunk, .slots = play.plan.slots, .gid_index = -1,
			 .flags = play.plan.verbose ? SET_VERBOSE : 0 },
	};
}

void ends_start(void)
{
	int s;

	play.shell = os_process("shell", NULL);
	os.near = play.near = os_process("near", play.shell);
	os.forked = ends_fork;
	for (s = 0; s < STREAMS; s++)
		standard_pipe(play.near, (enum stream)s);
	set_options();
	near_reset();
	sources_start();
	fabric_start(NULL);
	sched_start(play.near, "near", run_near, NULL);
}

/* The hostile end calls start_far(). */
void ends_start_far(void)
{
	play.shell = os_process("shell", NULL);
	os.near = play.near = os_process("near", play.shell);
	os.forked = ends_fork;
	set_options();
	fabric_start(NULL);
	sched_start(play.near, "hostile", play.hostile, NULL);
}
