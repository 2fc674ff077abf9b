// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creates a sync event.  This program and rdma_sync_event_requester change it in turn: the peer
 * sets it to 1, this program adds 1, and the peer adds 10.
 */
#include <inttypes.h>
#include <stdio.h>
#include <doca_sync_event.h>
#include "common.h"

static const struct kind kind = {
	.resource = true,
	.permissions = DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |
		       DOCA_ACCESS_FLAG_RDMA_ATOMIC,
};

static struct doca_sync_event *create_event(struct side *s)
{
	struct doca_sync_event *event;
	const uint8_t *description;
	size_t size;

	CHECK(doca_sync_event_create(&event));
	CHECK(doca_sync_event_add_publisher_location_remote_net(event));
	CHECK(doca_sync_event_add_subscriber_location_cpu(event, s->dev));
	CHECK(doca_sync_event_start(event));
	CHECK(doca_sync_event_export_to_remote_net(event, &description, &size));
	write_resource(s, description, size);
	return event;
}

int main(int argc, char **argv)
{
	struct side s;
	struct doca_sync_event *event;
	uint64_t before;

	open_side(&s, &kind, argc, argv);
	start_side(&s);
	event = create_event(&s);
	connect_side(&s);
	CHECK(doca_sync_event_wait_gt_yield(event, 0, UINT64_MAX));
	CHECK(doca_sync_event_update_add(event, 1, &before));
	printf("the peer has set the event to %" PRIu64 "\n", before);
	CHECK(doca_sync_event_wait_neq_yield(event, before + 1, UINT64_MAX));
	CHECK(doca_sync_event_get(event, &before));
	printf("in the end the event is %" PRIu64 "\n", before);
	finish(&s);
	CHECK(doca_sync_event_destroy(event));
	close_side(&s);
	return 0;
}
