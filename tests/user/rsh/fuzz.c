// SPDX-License-Identifier: GPL-2.0
/*
 * usage: rsh_fuzz [SECONDS [SEED]]
 *
 * One honest end, and instead of the other one a peer that begins as it should and then sends
 * what it likes, over the channel and by RDMA.  Without arguments, a fixed number of runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>
#include "path.h"
#include "play.h"
#include "rsh.h"
#include "tap.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:quarantine_size_mb=8";
}
#endif

enum { RUNS = 4000, MEMORY = 512 << 10, RECEIVE = 5 << 20 };

static struct {
	struct channel channel;
	bool rdma;
	bool reads;
	uint32_t number;		/* of the next slot of data */
	uint64_t place;			/* of the next byte */
	uint32_t receives;
	bool huge;			/* it announced a long message */
} peer;

static struct proc *honest(void)
{
	return play.near_is_honest ? play.near : play.far;
}

static enum stream stream(void)
{
	return play.near_is_honest ? STREAM_OUT : STREAM_IN;
}

/* ---- Messages of the flow --------------------------------------------------------- */

static uint8_t slot[sizeof(struct flow_header) + 40000];

static uint64_t sum_of(const struct flow_header *h, const void *data, uint32_t length)
{
	return XXH3_64bits_withSeed(h, offsetof(struct flow_header, sum),
				    XXH3_64bits(data, length));
}

static void mutate(uint8_t *data, uint32_t n)
{
	uint32_t i, times = sim_between(1, 4);

	for (i = 0; i < times && i < n; i++)
		data[i + sim_below(n - i)] += (uint8_t)(1 + i);
}

static void break_header(struct flow_header *h)
{
	static const uint32_t odd[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 4096, 4097 };
	uint32_t *members[] = { &h->type, &h->length, &h->number, &h->receives, &h->flags,
				&h->reserved };
	uint32_t *m = members[sim_below(6)];

	*m = sim_chance(2) ? odd[sim_below(7)] : *m + sim_between(1, 5) - 3;
}

static void send_flow(uint32_t length)
{
	if (peer.rdma)
		fabric_inject(honest(), slot, length);
	else
		channel_send(&peer.channel, MSG_FLOW, slot, length);
}

static uint32_t plausible_receives(void)
{
	if (sim_chance(8))
		peer.receives += sim_below(5000);
	else if (sim_chance(3))
		peer.receives += sim_below(5);
	return peer.receives;
}

static uint32_t fill(uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		slot[sizeof(struct flow_header) + i] = play_byte(stream(), peer.place + i);
	return n;
}

/* What the end may write if it also likes the number of receives */
static bool is_right(const struct flow_header *h, uint32_t n)
{
	return h->type == FLOW_DATA && h->length == n && h->number == peer.number && !h->flags &&
	       !h->reserved;
}

/* A right message, or one with something wrong; the sum may be right all the same. */
static void send_slot(bool right)
{
	bool note = sim_chance(3), spoil = !right && sim_chance(2), changed = false;
	uint32_t n = note ? 0 : fill(sim_between(1, sim_chance(4) ? play.plan.chunk : 100));
	struct flow_header h = {
		.type = note ? FLOW_NOTE : FLOW_DATA, .length = n, .number = peer.number,
		.receives = plausible_receives(),
		.flags = note && !right ? sim_below(4) : 0,
	};
	uint32_t bytes = (uint32_t)sizeof(h) + n;

	if (spoil && sim_chance(2))
		break_header(&h);
	h.sum = sum_of(&h, slot + sizeof(h), n);
	memcpy(slot, &h, sizeof(h));
	if (spoil && sim_chance(2)) {
		mutate(slot, bytes);
		changed = true;
	}
	if (spoil && sim_chance(3)) {
		bytes = sim_below(play.plan.chunk + sizeof(h));
		changed = true;
	}
	send_flow(bytes);
	if (!changed && is_right(&h, n)) {
		peer.number++;
		peer.place += n;
	}
}

static void send_first_note(void)
{
	struct flow_header h = { .type = FLOW_NOTE, .receives = peer.receives = 5 };

	h.sum = sum_of(&h, NULL, 0);
	memcpy(slot, &h, sizeof(h));
	fabric_inject(honest(), slot, sizeof(h));
}

/* ---- Messages of the channel ------------------------------------------------------ */

static void send_random(void)
{
	uint8_t data[300];
	uint32_t i, n = sim_chance(3) ? sim_below(sizeof(data)) : 4;

	for (i = 0; i < n; i++)
		data[i] = (uint8_t)sim_random();
	channel_send(&peer.channel, sim_below(20), data, n);
}

static void send_errors(void)
{
	static const uint8_t data[70000];

	uint32_t n = sim_below(sim_chance(20) ? sizeof(data) : sim_chance(4) ? 5000 : 3);

	channel_send(&peer.channel, MSG_ERRORS, data, n ? n : 1);
}

static void send_number(enum message_type type, uint32_t value)
{
	channel_send(&peer.channel, type, &value, sizeof(value));
}

static void send_total(void)
{
	struct flow_total t = { .bytes = peer.place, .slots = peer.number };

	channel_send(&peer.channel, MSG_TOTAL, &t, sizeof(t));
}

/* A head that announces more than follows, or too much */
static void send_head(void)
{
	uint32_t head[2] = { sim_below(20), sim_chance(2) ? sim_below(1 << 20) : 0xffffff00 };

	peer.huge = true;
	sim_write(peer.channel.out, head, sizeof(head));
}

static void send_raw(void)
{
	uint8_t data[100];
	uint32_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(sim_random() & sim_random());
	peer.huge = true;
	sim_write(peer.channel.out, data, sizeof(data));
}

static void misbehave(void)
{
	switch (sim_below(10)) {
	case 0: send_random(); break;
	case 1: send_head(); break;
	case 2: send_raw(); break;
	case 3: send_total(); break;
	case 4: send_number(MSG_EXIT, sim_below(3) << 8); break;
	case 5: send_number(MSG_SIGNAL, sim_below(40)); break;
	case 6: send_number(MSG_ERRORS_TAKEN, sim_below(100)); break;
	case 7: channel_send(&peer.channel, sim_chance(2) ? MSG_BYE : MSG_PAUSE, NULL, 0); break;
	default: send_slot(false); break;
	}
}

static void behave(void)
{
	if (play.near_is_honest && sim_chance(2))
		send_errors();
	else if (sim_chance(3))
		channel_send(&peer.channel, MSG_LIFE, NULL, 0);
	else
		send_slot(true);
}

static void read_some(void)
{
	struct message m;

	channel_read(&peer.channel);
	while (channel_next(&peer.channel, &m))
		;
}

/* Right messages for a while, then wrong ones */
static void go_wild(void)
{
	uint32_t i, right = sim_below(sim_chance(10) ? 5000 : 60), n = right + sim_below(60);

	for (i = 0; i < n && !peer.channel.closed; i++) {
		if (i < right || sim_chance(2))
			behave();
		else
			misbehave();
		if (peer.reads)
			read_some();
		if (sim_chance(4))
			sim_sleep(1e-4 * sim_below(sim_chance(9) ? 20000 : 100));
		if (peer.channel.tx_len > 1 << 20)
			break;
	}
	sim_sleep(sim_below(3));
}

/* ---- Dialogues -------------------------------------------------------------------- */

static bool lies(void)
{
	return sim_chance(12);
}

static bool get(enum message_type type)
{
	struct message m;

	while (channel_wait(&peer.channel, &m, 3000))
		if (m.type == type)
			return true;
	return false;
}

static void send_offers(void)
{
	struct offer o[MAX_OFFERS + 2] = { { .port = 1, .mtu = 4096, .link_layer = 2 } };
	size_t n = lies() ? sim_below(sizeof(o) + 1) : sizeof(o[0]);

	o[0].gid[10] = o[0].gid[11] = 0xff;
	o[0].link_layer = XV_LINK_LAYER_ETHERNET;
	memset(o[0].device, 'd', sim_chance(2) ? sizeof(o[0].device) : 3);
	if (lies())
		mutate((uint8_t *)o, sizeof(o));
	channel_send(&peer.channel, MSG_OFFERS, o, n);
}

static void hostile_far(void)
{
	struct xt_peer self = { .qpn = 77 };
	char version[32];

	channel_greet(&peer.channel);
	if (!channel_greeted(&peer.channel, version) || !get(MSG_START))
		return;
	if (!peer.rdma) {
		channel_text(&peer.channel, MSG_REFUSED, "no device");
	} else {
		send_offers();
		if (!get(MSG_TRY))
			return;
		channel_send(&peer.channel, MSG_TRIED, &self,
			     lies() ? sim_below(sizeof(self)) : sizeof(self));
		sim_sleep(0.01);
		send_first_note();
	}
	if (!lies() && !get(MSG_USE))
		return;
	go_wild();
}

static void send_start(void)
{
	static const uint32_t odd[] = { 0, 1, 2, 17, 4095, 0xffffffff };
	struct {
		struct settings settings;
		char command[20];
	} start = { .settings = { .chunk = play.plan.chunk, .slots = play.plan.slots },
		    .command = "command" };
	size_t n = sizeof(start.settings) + 7;

	if (lies())
		start.settings.chunk = odd[sim_below(6)];
	if (lies())
		start.settings.slots = sim_chance(2) ? 0 : 0xffffffff;
	if (lies())
		memset(start.settings.device, 'd', sizeof(start.settings.device));
	channel_send(&peer.channel, MSG_START, &start, lies() ? sim_below(sizeof(start)) : n);
}

static void hostile_near(void)
{
	struct try t = { .offer = lies() ? sim_below(50) : 0, .near = { .qpn = 77 } };
	char version[32];

	channel_greet(&peer.channel);
	if (!channel_greeted(&peer.channel, version))
		return;
	send_start();
	if (peer.rdma) {
		if (!get(MSG_OFFERS))
			return;
		channel_send(&peer.channel, MSG_TRY, &t,
			     lies() ? sim_below(sizeof(t)) : sizeof(t));
		if (!get(MSG_TRIED))
			return;
		send_first_note();
	}
	if (lies())
		misbehave();
	channel_send(&peer.channel, MSG_USE, NULL, 0);
	go_wild();
}

static void run_hostile(void *arg)
{
	int fd = play.near_is_honest ? 0 : -1;

	(void)arg;
	if (fd < 0)
		start_far(NULL, &fd);
	os_self()->ignored |= 1u << SIGPIPE;
	channel_open(&peer.channel, fd, play.near_is_honest ? 1 : fd);
	if (play.near_is_honest)
		hostile_far();
	else
		hostile_near();
	os_exit(0);
}

/* ---- Runs ------------------------------------------------------------------------- */

/* Ends with an error, unless the peer said that all was well */
static void check(void *arg)
{
	struct proc *p = honest(), *other = play.near_is_honest ? play.far : play.near;
	size_t most = flow_bytes(play.plan.chunk, play.plan.slots) + MEMORY +
		      (peer.huge ? RECEIVE : 0);

	(void)arg;
	sim_check(p && !p->alive, "the honest end runs on");
	sim_check(p->max_memory <= most, "it used %zu bytes, not %zu at most", p->max_memory, most);
	sim_check(p->ended - other->ended < 30, "it ended %.0f seconds after its peer",
		  p->ended - other->ended);
	sim_check(WIFEXITED(p->status), "it was killed by signal %d", WTERMSIG(p->status));
	sim_check(play.got[stream()] <= peer.place, "more data than was sent");
	file_close_all(play.shell);
	sim_check(!files_used(), "%d files are open", files_used());
}

static bool run(uint64_t seed)
{
	play_reset(seed);
	memset(&peer, 0, sizeof(peer));
	files_reset(play.plan.pipe_bytes);
	play.near_is_honest = sim_chance(2);
	play.hostile = run_hostile;
	play.plan.fallback = true;
	play.plan.early_exit = true;
	play.plan.channel_bytes = 65536;
	fabric.hostile = true;
	sim.patience = 20000;
	peer.rdma = !sim_chance(3);
	peer.reads = sim_chance(2);
	if (play.near_is_honest)
		ends_start();
	else
		ends_start_far();
	sched_run();
	if (!*sim.failure) {
		sched_start(play.shell, "check", check, NULL);
		sched_run();
	}
	if (*sim.failure)
		printf("# rsh_fuzz 0 %llu: %s\n", (unsigned long long)seed, sim.failure);
	return !*sim.failure;
}

#ifdef __SANITIZE_ADDRESS__
static void say_seed(void)
{
	printf("# it happened in: rsh_fuzz 0 %llu\n", (unsigned long long)sim.seed);
	fflush(stdout);
}
#endif

/* 0 seconds: one run, with a trace */
int main(int argc, char **argv)
{
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	uint32_t runs = 0, failed = 0;
	time_t until = time(NULL) + (time_t)seconds;

#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_death_callback(say_seed);
#endif
	sim.trace = argc > 2 && seconds == 0;
	do
		failed += !run(seed + runs++);
	while (failed < 5 && (argc > 1 ? time(NULL) < until : runs < RUNS));
	ok(!failed, "hostile peers: %u runs, %u failed", runs, failed);
	return tap_done();
}
