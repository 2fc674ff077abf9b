// SPDX-License-Identifier: GPL-2.0
/*
 * Programs and kernels of different versions: all verbs, on a bound file, with
 * structures, parts, array entries and event records that are longer or shorter than
 * those of this kernel. Unknown zeros are accepted and stay zeros. Other unknown bytes,
 * and sizes below the first published version, are refused.
 */
#include <poll.h>
#include <stddef.h>
#include "steps.h"

enum { TAIL = 16, PARTS = 8, PART_MAX = 128 };

/* ---- Structures and parts ---------------------------------------------------- */

struct part {
	unsigned long cmd;
	const char *name;
	size_t at;
	uint32_t size;
	uint32_t first;		/* size of the first published version */
	bool out;
};

#define P(_nr, _type, _member, _part, _out)						\
	{ XVERBS_##_nr, #_member, offsetof(struct xverbs_##_type, _member),		\
	  sizeof(struct xverbs_##_part), sizeof(struct xverbs_##_part), _out }
/* The part has grown: it was first published up to @_new. */
#define P_GROWN(_nr, _type, _member, _part, _new, _out)					\
	{ XVERBS_##_nr, #_member, offsetof(struct xverbs_##_type, _member),		\
	  sizeof(struct xverbs_##_part), offsetof(struct xverbs_##_part, _new), _out }

static const struct part parts[] = {
	P(CQ_CREATE, cq_create, external, external, false),
	P(SRQ_CREATE, srq_create, external, external, false),
	P(QP_CREATE, qp_create, external, external, false),
	P_GROWN(QP_CREATE, qp_create, cap, qp_cap, max_inl_recv, false),
	P_GROWN(QP_CREATE, qp_create, out_cap, qp_cap, max_inl_recv, true),
	P_GROWN(QP_MODIFY, qp_modify, attr, qp_attr, dct_key, false),
	P(QP_MODIFY, qp_modify, ah_attr, ah_attr, false),
	P(QP_MODIFY, qp_modify, alt_ah_attr, ah_attr, false),
	P_GROWN(QP_QUERY, qp_query, out_attr, qp_attr, dct_key, true),
	P(QP_QUERY, qp_query, out_ah_attr, ah_attr, true),
	P(QP_QUERY, qp_query, out_alt_ah_attr, ah_attr, true),
	P_GROWN(QP_QUERY, qp_query, out_cap, qp_cap, max_inl_recv, true),
	P_GROWN(QP_QUERY, qp_query, out_init, qp_init, flags, true),
	P(AH_RESOLVE, ah_resolve, attr, ah_attr, false),
	P_GROWN(DCT_CREATE, dct_create, attr, dct_attr, ece, false),
	P_GROWN(DCT_QUERY, dct_query, out_attr, dct_attr, ece, true),
};

/* Copies of the parts of a call, with additional bytes */
static uint8_t copy[ARRAY_SIZE(parts)][PART_MAX];

static struct xverbs_part *part_of_arg(const struct part *p)
{
	return (struct xverbs_part *)(arg.bytes + p->at);
}

/* Replaces the parts of the step by longer ones. */
static void lengthen_parts(const struct step *s)
{
	struct xverbs_part *user;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		user = part_of_arg(&parts[i]);
		if (parts[i].cmd != s->cmd || (!user->size && !parts[i].out))
			continue;
		memset(copy[i], parts[i].out ? 0xa5 : 0, PART_MAX);
		if (!parts[i].out)
			memcpy(copy[i], (void *)(uintptr_t)user->addr, parts[i].size);
		user->addr = (uintptr_t)copy[i];
		user->size = parts[i].size + TAIL;
	}
}

static bool zeros(const uint8_t *p, size_t n)
{
	while (n && !p[n - 1])
		n--;
	return !n;
}

static void prepare(const struct step *s)
{
	memset(&arg, 0, sizeof(arg));
	s->fill();
	lengthen_parts(s);
}

/* The call with one part changed */
static void refuse_part(const struct step *s, size_t i)
{
	const struct part *p = &parts[i];
	int file = step_file(s), err;

	prepare(s);
	if (p->cmd != s->cmd || !part_of_arg(p)->size)
		return;
	part_of_arg(p)->size = p->first - 8;
	err = call(file, s->cmd, s->size);
	ok(err == EINVAL && strstr(reason, p->name), "%s: a shorter %s: %s", s->name, p->name,
	   strerror(err));
	if (p->out)
		return;
	prepare(s);
	copy[i][p->size + TAIL - 1] = 1;
	err = call(file, s->cmd, s->size);
	ok(err == E2BIG && strstr(reason, p->name), "%s: unknown bytes in %s: %s", s->name, p->name,
	   strerror(err));
}

/* Size of the first published version of the structure */
static uint32_t first_size(const struct step *s)
{
	switch (s->cmd) {
	case XVERBS_BIND:
		return offsetof(struct xverbs_bind, fd);
	case XVERBS_QUERY_DEVICE:
		return offsetof(struct xverbs_query_device, out_exp_device_cap_flags);
	case XVERBS_PD_IMPORT:
		return offsetof(struct xverbs_pd_import, number);
	default:
		return s->size;
	}
}

static void refuse(const struct step *s)
{
	int file = step_file(s), err;
	size_t i;

	prepare(s);
	err = call(file, s->cmd, first_size(s) - 8);
	ok(err == EINVAL, "%s: a shorter structure: %s", s->name, strerror(err));
	prepare(s);
	arg.bytes[s->size + TAIL - 1] = 1;
	err = call(file, s->cmd, s->size + TAIL);
	ok(err == E2BIG, "%s: unknown bytes: %s", s->name, strerror(err));
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		refuse_part(s, i);
}

/* Returns false if the device does not support what the step needs. */
static bool accept(const struct step *s)
{
	bool tails = true;
	size_t i;
	int err;

	prepare(s);
	err = call(step_file(s), s->cmd, s->size + TAIL);
	if (err == EOPNOTSUPP) {
		diag("%s: %s", s->name, reason);
		return false;
	}
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].cmd == s->cmd && part_of_arg(&parts[i])->size)
			tails &= zeros(copy[i] + parts[i].size, TAIL);
	ok(!err && zeros(arg.bytes + s->size, TAIL) && tails,
	   "%s: unknown zeros are accepted: %s", s->name, err ? reason : "and stay zeros");
	return !err;
}

static void test_steps(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (!step_possible(&steps[i]))
			continue;
		refuse(&steps[i]);
		if (accept(&steps[i]))
			settle(&steps[i], true);
	}
}

/* Older programs pass structures without the members that came later. */
static void test_first_sizes(void)
{
	uint32_t first = offsetof(struct xverbs_query_device, out_exp_device_cap_flags);
	struct xverbs_qp_init got;
	int err;

	memset(&arg, 0xa5, sizeof(arg));
	memset(&arg.query_device, 0, first);
	err = call(fd, XVERBS_QUERY_DEVICE, first);
	ok(!err && arg.query_device.out_max_qp && arg.bytes[first] == 0xa5,
	   "QUERY_DEVICE: the first published size");
	memset(&got, 0xa5, sizeof(got));
	memset(&arg, 0, sizeof(arg));
	arg.qp_query.qp = qp;
	arg.qp_query.out_init = (struct xverbs_part) {
		.addr = (uintptr_t)&got, .size = offsetof(struct xverbs_qp_init, flags),
	};
	err = call(fd, XVERBS_QP_QUERY, sizeof(arg.qp_query));
	ok(!err && got.user_index == USER_INDEX && got.flags == 0xa5a5a5a5,
	   "QP_QUERY: the first published size of out_init");
}

/* The value that CREATE gets is what the CQEs of the queue have; external.c polls them. */
static void test_user_index(void)
{
	struct xv_context *ctx = xv_open(rig_device(0));
	struct xv_device_attr a;

	if (!ctx || xv_query_device(ctx, &a))
		bail_out("%s", xv_last_error());
	ok(rig_feature(ctx, "cqe-user-index")->available && a.cqe_version == 1,
	   "CQEs have the user index");
	xv_close(ctx);
}

/* ---- How a queue pair was created --------------------------------------------- */

static void expect_init(const char *what, uint32_t handle, const struct xverbs_qp_init *want)
{
	struct xverbs_qp_init got;

	memset(&got, 0xa5, sizeof(got));
	memset(&arg, 0, sizeof(arg));
	arg.qp_query.qp = handle;
	arg.qp_query.out_init = PART(&got);
	if (call(fd, XVERBS_QP_QUERY, sizeof(arg.qp_query)))
		bail_out("QP_QUERY: %s", reason);
	if (!ok(!memcmp(&got, want, sizeof(got)), "QP_QUERY returns how %s was created", what))
		diag("type %u, pd %u, CQs %u and %u, srq %u, uar %u, xrcd %u, user_index 0x%x",
		     got.type, got.pd, got.send_cq, got.recv_cq, got.srq, got.uar, got.xrcd,
		     got.user_index);
}

static void test_init(void)
{
	struct xverbs_qp_init want = { .user_data = USER_DATA, .type = XVERBS_QPT_RC, .pd = pd,
		.send_cq = cq, .recv_cq = cq, .srq = srq, .uar = uar, .user_index = USER_INDEX };

	expect_init("an RC queue pair", qp, &want);
	want.type = XVERBS_QPT_UD;
	expect_init("a UD queue pair", ud, &want);
	want = (struct xverbs_qp_init) { .type = XVERBS_QPT_XRC_RECV, .xrcd = xrcd };
	expect_init("an XRC queue pair", xrc_qp, &want);
	want.user_data = USER_DATA;
	expect_init("an opened XRC queue pair", opened, &want);
}

/* ---- Entries of arrays ---------------------------------------------------------- */

/* @first: size of the first published version of an entry */
static void test_entries(const char *name, unsigned long cmd, uint32_t call_size, uint32_t size,
			 uint32_t first, void (*fill)(void), uint32_t *entry_size)
{
	uint8_t *entries = memory;
	int err;

	memset(&arg, 0, sizeof(arg));
	fill();
	*entry_size = first - 8;
	err = call(fd, cmd, call_size);
	ok(err == EINVAL && strstr(reason, "entry_size"), "%s: shorter entries: %s", name,
	   strerror(err));
	memset(&arg, 0, sizeof(arg));
	fill();
	*entry_size = 1 << 20;
	err = call(fd, cmd, call_size);
	ok(err == EINVAL && strstr(reason, "entry_size"), "%s: entries larger than a page: %s",
	   name, strerror(err));
	memset(entries, 0xa5, 2 * (size + TAIL));
	memset(&arg, 0, sizeof(arg));
	fill();
	*entry_size = size + TAIL;
	err = call(fd, cmd, call_size);
	ok(!err && !zeros(entries, size) && zeros(entries + size, TAIL),
	   "%s: longer entries are padded with zeros: %s", name, strerror(err));
}

/* ---- Event records ---------------------------------------------------------------- */

static void refuse_event_size(const char *name, uint32_t first)
{
	const uint32_t bad[] = { first - 8, first + 4, XVERBS_EVENT_SIZE_MAX + 8 };
	bool is_bind = !strcmp(name, "BIND");
	int file = is_bind ? open_file() : fd, err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!bad[i])	/* 0 means the first version */
			continue;
		memset(&arg, 0, sizeof(arg));
		if (is_bind) {
			fill_bind();
			arg.bind.async_event_size = bad[i];
			err = call(file, XVERBS_BIND, sizeof(arg.bind));
		} else {
			arg.channel.event_size = bad[i];
			err = call(file, XVERBS_CHANNEL_ALLOC, sizeof(arg.channel));
		}
		ok(err == EINVAL && strstr(reason, "event size"),
		   "%s: event records of %u bytes: %s", name, bad[i], strerror(err));
	}
	if (is_bind)
		close(file);
}

/* Reads the next event of the file; returns false if there is none. */
static bool read_event(void *record, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 10000) == 1 && read(fd, record, size) == (ssize_t)size;
}

/* A queue pair in RTS raises an event when its send queue has drained. */
static void drain(void)
{
	static void (*const fills[])(void) = { fill_init, fill_rtr, fill_rts };
	size_t i;

	for (i = 0; i <= ARRAY_SIZE(fills); i++) {
		memset(&arg, 0, sizeof(arg));
		if (i < ARRAY_SIZE(fills)) {
			fills[i]();
		} else {
			to_state(XVERBS_QPS_SQD, XVERBS_QP_EN_SQD_ASYNC_NOTIFY);
			attr.en_sqd_async_notify = 1;
		}
		if (call(fd, XVERBS_QP_MODIFY, sizeof(arg.modify)))
			bail_out("QP_MODIFY: %s", reason);
	}
}

/* The file was bound with records of this size. */
static void test_async(uint32_t size)
{
	const uint32_t first = sizeof(struct xverbs_async_event);
	union {
		struct xverbs_async_event event;
		uint8_t bytes[XVERBS_EVENT_SIZE_MAX];
	} got;

	memset(&got, 0xa5, sizeof(got));
	drain();
	ok(read(fd, &got, size - 1) < 0 && errno == EINVAL,
	   "event records of %u bytes: shorter buffer",
	   size);
	ok(read_event(&got, size) && got.event.type == XVERBS_EVENT_SQ_DRAINED &&
	   got.event.handle == qp && got.event.user_data == USER_DATA,
	   "event records of %u bytes: the event", size);
	ok(zeros(got.bytes + first, size - first) && got.bytes[size] == 0xa5,
	   "event records of %u bytes: padded with zeros", size);
}

static void test_channel(uint32_t size)
{
	uint8_t record[XVERBS_EVENT_SIZE_MAX];
	int err, room;

	memset(&arg, 0, sizeof(arg));
	arg.channel.hdr.flags = XVERBS_CHANNEL_NONBLOCK;
	arg.channel.event_size = size;
	if (call(fd, XVERBS_CHANNEL_ALLOC, sizeof(arg.channel)))
		bail_out("CHANNEL_ALLOC: %s", reason);
	room = read(arg.channel.out_fd, record, size - 1) < 0 ? errno : 0;
	err = read(arg.channel.out_fd, record, size) < 0 ? errno : 0;
	ok(room == EINVAL && err == EAGAIN, "channel with records of %u bytes: shorter buffer",
	   size);
	close(arg.channel.out_fd);
	destroy(arg.channel.out_handle);
}

/* Another file, bound with another size; the steps create its objects. */
static void test_events(uint32_t declared, uint32_t size)
{
	close(fd);
	fd = open_file();
	memset(&arg, 0, sizeof(arg));
	fill_bind();
	arg.bind.async_event_size = declared;
	if (call(fd, XVERBS_BIND, sizeof(arg.bind)))
		bail_out("BIND: %s", reason);
	populate();
	test_async(size);
}

int main(int argc, char **argv)
{
	const uint32_t first = sizeof(struct xverbs_async_event);

	rig_devices(argc, argv);
	steps_setup();
	test_steps();
	test_user_index();
	test_init();
	test_first_sizes();
	test_entries("LIST_DEVICES", XVERBS_LIST_DEVICES, sizeof(arg.list),
		     sizeof(struct xverbs_device), offsetof(struct xverbs_device, node), fill_list,
		     &arg.list.entry_size);
	test_entries("QUERY_FEATURES", XVERBS_QUERY_FEATURES, sizeof(arg.features),
		     sizeof(struct xverbs_feature), sizeof(struct xverbs_feature), fill_features,
		     &arg.features.entry_size);
	refuse_event_size("BIND", first);
	refuse_event_size("CHANNEL_ALLOC", sizeof(struct xverbs_comp_event));
	test_channel(sizeof(struct xverbs_comp_event));
	test_channel(sizeof(struct xverbs_comp_event) + TAIL);
	test_events(0, first);
	test_events(first, first);
	test_events(first + TAIL, first + TAIL);
	return tap_done();
}
