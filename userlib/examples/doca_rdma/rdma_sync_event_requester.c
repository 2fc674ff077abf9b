// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Changes the sync event of rdma_sync_event_responder by RDMA: sets it to 1, waits until the peer
 * has added 1, and adds 10.
 */
#include <inttypes.h>
#include <stdio.h>
#include <doca_sync_event.h>
#include "common.h"

static const struct kind kind = {
	.active = true,
	.resource = true,
};

static void been_set(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
		     union doca_data done, union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task), done);
}

static void added(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
		  union doca_data done, union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task), done);
}

static void got(struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data done,
		union doca_data unused)
{
	(void)unused;
	end_task(doca_rdma_task_remote_net_sync_event_get_as_task(task), done);
}

static void configure(struct doca_rdma *rdma)
{
	CHECK(doca_rdma_task_remote_net_sync_event_notify_set_set_conf(rdma, been_set, been_set,
								       1));
	CHECK(doca_rdma_task_remote_net_sync_event_notify_add_set_conf(rdma, added, added, 1));
	CHECK(doca_rdma_task_remote_net_sync_event_get_set_conf(rdma, got, got, 1));
}

static struct doca_sync_event_remote_net *import_event(struct side *s)
{
	struct doca_sync_event_remote_net *event;
	uint8_t description[1024];
	size_t size = read_resource(s, description, sizeof(description));

	CHECK(doca_sync_event_remote_net_create_from_export(s->dev, description, size, &event));
	return event;
}

/* Frees the task and its buffer when it is done. */
static void run(struct side *s, struct doca_task *task, struct doca_buf *buf, const bool *done)
{
	CHECK(doca_task_submit(task));
	wait_for(s, done);
	doca_task_free(task);
	CHECK(doca_buf_dec_refcount(buf, NULL));
}

static void set_event(struct side *s, const struct doca_sync_event_remote_net *event,
		      uint64_t value)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task;
	struct doca_buf *buf = empty_buf(s, 0);
	bool done = false;

	*(uint64_t *)s->memory = value;
	CHECK(doca_buf_set_data_len(buf, sizeof(value)));
	CHECK(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		s->rdma, s->connections[0], event, buf, (union doca_data) { .ptr = &done },
		&task));
	run(s, doca_rdma_task_remote_net_sync_event_notify_set_as_task(task), buf, &done);
}

/* Returns the value before. */
static uint64_t add_to_event(struct side *s, const struct doca_sync_event_remote_net *event,
			     uint64_t value)
{
	struct doca_rdma_task_remote_net_sync_event_notify_add *task;
	struct doca_buf *buf = empty_buf(s, 0);
	bool done = false;

	CHECK(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		s->rdma, s->connections[0], event, buf, value,
		(union doca_data) { .ptr = &done }, &task));
	run(s, doca_rdma_task_remote_net_sync_event_notify_add_as_task(task), buf, &done);
	return *(uint64_t *)s->memory;
}

static uint64_t get_event(struct side *s, const struct doca_sync_event_remote_net *event)
{
	struct doca_rdma_task_remote_net_sync_event_get *task;
	struct doca_buf *buf = empty_buf(s, 0);
	bool done = false;

	CHECK(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		s->rdma, s->connections[0], event, buf, (union doca_data) { .ptr = &done },
		&task));
	run(s, doca_rdma_task_remote_net_sync_event_get_as_task(task), buf, &done);
	return *(uint64_t *)s->memory;
}

int main(int argc, char **argv)
{
	struct side s;
	struct doca_sync_event_remote_net *event;

	open_side(&s, &kind, argc, argv);
	configure(s.rdma);
	start_side(&s);
	connect_side(&s);
	event = import_event(&s);
	set_event(&s, event, 1);
	while (get_event(&s, event) == 1)
		;
	printf("10 is added to %" PRIu64 "\n", add_to_event(&s, event, 10));
	CHECK(doca_sync_event_remote_net_destroy(event));
	finish(&s);
	close_side(&s);
	return 0;
}
