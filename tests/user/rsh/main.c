// SPDX-License-Identifier: GPL-2.0
/*
 * usage: rsh_sim [[SEED] SCENARIO]
 *
 * Runs all scenarios or one, each with many seeds.  With a seed it repeats one run and shows
 * what happens.  RSH_SIM_RUNS=N in the environment: N times as many runs.
 */
#include <string.h>
#include <time.h>
#include "flow.h"
#include "play.h"
#include "tap.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

/* What an end leaves to the system at its exit is no leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:quarantine_size_mb=8";
}
#endif

enum { SHOWN = 3, MEMORY = 512 << 10, DESCRIPTORS = 20 };

static const struct scenario *current;

static void say_seed(void)
{
	printf("# it happened in: rsh_sim %llu %s\n", (unsigned long long)sim.seed, current->name);
	fflush(stdout);
}

static void check_use(const struct proc *p)
{
	size_t most = flow_bytes(play.plan.chunk, play.plan.slots) + MEMORY;

	if (!p)
		return;
	sim_check(p->max_memory <= most, "%s used %zu bytes, not %zu at most", p->name,
		  p->max_memory, most);
	sim_check(p->max_fds <= DESCRIPTORS, "%s had %d descriptors", p->name, p->max_fds);
	sim_check(!p->alive && !sched_alive(p), "%s has not ended", p->name);
}

/* Runs in a coroutine, so that a failure ends it. */
static void check(void *arg)
{
	(void)arg;
	current->check();
	check_use(play.near);
	check_use(play.far);
	file_close_all(play.shell);
	sim_check(!files_used(), "%d files are open", files_used());
}

static bool run(const struct scenario *s, uint64_t seed)
{
	current = s;
	play_reset(seed);
	s->prepare(&play.plan);
	if (play.plan.patience > 0)
		sim.patience = play.plan.patience;
	play_run();
	if (!*sim.failure) {
		sched_start(play.shell, "check", check, NULL);
		sched_run();
	}
	return !*sim.failure;
}

static void run_all(const struct scenario *s)
{
	const char *times = getenv("RSH_SIM_RUNS");
	uint32_t i, failed = 0, runs = s->runs * (times ? (uint32_t)atoi(times) : 1);
	struct timespec from, to;
	double steps = 0;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < runs && failed < SHOWN; i++) {
		if (!run(s, i + 1) && ++failed)
			printf("# rsh_sim %u %s: %s\n", i + 1, s->name, sim.failure);
		steps += (double)sim.steps;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	ok(!failed, "%s: %u runs, %u failed", s->name, i, failed);
	if (getenv("RSH_SIM_TIMES"))
		diag("%s: %.1f s, %.0f steps", s->name, (double)(to.tv_sec - from.tv_sec) +
		     1e-9 * (double)(to.tv_nsec - from.tv_nsec), steps / i);
}

int main(int argc, char **argv)
{
	int i;

#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_death_callback(say_seed);
#endif
	for (i = 0; i < n_scenarios; i++) {
		if (argc > 1 && strcmp(argv[argc - 1], scenarios[i].name))
			continue;
		if (argc == 3) {
			sim.trace = true;
			ok(run(&scenarios[i], strtoull(argv[1], NULL, 0)), "%s, seed %s: %s",
			   argv[2], argv[1], sim.failure);
		} else {
			run_all(&scenarios[i]);
		}
	}
	return tap_done();
}
