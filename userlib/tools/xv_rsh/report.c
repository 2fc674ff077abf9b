// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the near end tells its user.  All of it goes to standard error: standard output is that
 * of the command.
 */
#include <pthread.h>
#include <unistd.h>
#include "rsh.h"

enum { PROGRESS_US = 500000 };

static const char *link_name(const struct offer *o)
{
	return o->link_layer == XV_LINK_LAYER_INFINIBAND ? "InfiniBand" : "RoCE";
}

static uint32_t mtu_of(const struct report *r)
{
	return 128u << r->session->wire.side.attr.active_mtu;
}

void report_path(const struct report *r)
{
	const struct session *s = r->session;

	if (!r->opt->verbose)
		return;
	if (s->rdma)
		fprintf(stderr, "xv_rsh: %s port %u to %s port %u of %s, %s, MTU %u, "
			"%u slots of %u bytes\n", r->near->device, r->near->port, r->far->device,
			r->far->port, r->opt->host, link_name(r->near), mtu_of(r),
			s->flow.out_slots, s->flow.chunk);
	if (s->rdma && s->flow.out_slots < r->opt->far.slots)
		fprintf(stderr, "xv_rsh: %u slots instead of %u, for lack of memory that may be "
			"locked\n", s->flow.out_slots, r->opt->far.slots);
}

static double rate(const struct report *r, uint64_t bytes)
{
	return (double)bytes / (xt_now() - r->start);
}

/* Other threads write the counters.  The line may show values of a moment before. */
static void show_progress(const struct report *r)
{
	uint64_t out = r->session->flow.sent.bytes, in = r->session->flow.received.bytes;

	fprintf(stderr, "\r%.1f MiB sent, %.1f MiB received, %.1f MiB/s \033[K",
		(double)out / (1 << 20), (double)in / (1 << 20), rate(r, out + in) / (1 << 20));
}

/* A thread of its own: a terminal may take no output for a long time. */
static void *run_progress(void *arg)
{
	const struct report *r = arg;

	while (!flow_load(&r->over)) {
		show_progress(r);
		usleep(PROGRESS_US);
	}
	return NULL;
}

void report_start(struct report *r)
{
	pthread_t id;

	r->start = xt_now();
	if (!r->opt->progress)
		return;
	if (pthread_create(&id, NULL, run_progress, r))
		xt_die(RSH_ERROR, "cannot start a thread");
	pthread_detach(id);
}

static void report_json(const struct report *r)
{
	const struct session *s = r->session;

	xt_json_to(stderr);
	xt_json_open('{');
	xt_json_str("program", "xv_rsh");
	xt_json_str("version", "%s", XV_VERSION);
	xt_json_str("host", "%s", r->opt->host);
	xt_json_bool("rdma", s->rdma);
	if (s->rdma) {
		xt_json_str("device", "%s", r->near->device);
		xt_json_num("port", r->near->port);
		xt_json_str("peer_device", "%s", r->far->device);
		xt_json_num("peer_port", r->far->port);
		xt_json_str("link", "%s", link_name(r->near));
		xt_json_num("mtu", mtu_of(r));
		xt_json_num("sleeps", (double)s->pump.sleeps);
	}
	xt_json_num("slots", s->flow.out_slots);
	xt_json_num("slot_bytes", s->flow.chunk);
	xt_json_num("sent_bytes", (double)s->flow.sent.bytes);
	xt_json_num("sent_slots", s->flow.sent.slots);
	xt_json_num("received_bytes", (double)s->flow.received.bytes);
	xt_json_num("received_slots", s->flow.received.slots);
	xt_json_num("seconds", xt_now() - r->start);
	xt_json_num("bytes_per_s", rate(r, s->flow.sent.bytes + s->flow.received.bytes));
	xt_json_num("status", r->status);
	if (*s->failure)
		xt_json_str("error", "%s", s->failure);
	xt_json_close('}');
}

void report_end(struct report *r)
{
	const struct session *s = r->session;
	uint64_t out = s->flow.sent.bytes, in = s->flow.received.bytes;

	flow_store(&r->over, 1);
	if (r->opt->progress)
		fprintf(stderr, "\r\033[K");
	if (r->opt->verbose)
		fprintf(stderr, "xv_rsh: %llu bytes sent, %llu received in %.2f s, %.1f MiB/s\n",
			(unsigned long long)out, (unsigned long long)in, xt_now() - r->start,
			rate(r, out + in) / (1 << 20));
	if (r->opt->json)
		report_json(r);
}
