// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: traffic of ports, and Q counter sets with the events of their QPs.
 *
 * No packets are built.  A message counts as the packets that it would take on a wire, with
 * headers and without acknowledgements.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "cmd.h"

#define PACKET_OVERHEAD	24		/* LRH, BTH, ICRC */

void hca_counter_join(struct hca_qp *qp, u32 set)
{
	struct hca_counter *counter = hca_table_get(&qp->hca->counters, set);

	if (qp->counter)
		qp->counter->users--;
	qp->counter_set = set;
	qp->counter = counter ? counter : &qp->hca->uncounted;
	qp->counter->users++;
}

enum hca_synd hca_cmd_alloc_q_counter(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_counter *counter = kzalloc(sizeof(*counter), HCA_GFP);
	enum hca_synd synd;

	if (!counter)
		return HCA_SYND_NO_MEMORY;
	synd = hca_number(&hca->counters, counter, &counter->set);
	if (synd) {
		kfree(counter);
		return synd;
	}
	MLX5_SET(alloc_q_counter_out, c->out, counter_set_id, counter->set);
	return HCA_OK;
}

void hca_counter_free(struct hca *hca, void *obj)
{
	struct hca_counter *counter = obj;

	hca_table_del(&hca->counters, counter->set);
	kfree(counter);
}

enum hca_synd hca_cmd_dealloc_q_counter(struct hca *hca, const struct hca_cmd *c)
{
	u32 set = MLX5_GET(dealloc_q_counter_in, c->in, counter_set_id);
	struct hca_counter *counter = hca_table_get(&hca->counters, set);

	if (!counter)
		return HCA_SYND_COUNTER;
	if (counter->users)
		return HCA_SYND_COUNTER_BUSY;
	hca_counter_free(hca, counter);
	return HCA_OK;
}

static void hca_counter_clear(struct hca_counter *counter)
{
	struct hca_counter zero = { .set = counter->set, .users = counter->users };

	*counter = zero;
}

enum hca_synd hca_cmd_query_q_counter(struct hca *hca, const struct hca_cmd *c)
{
	u32 set = MLX5_GET(query_q_counter_in, c->in, counter_set_id);
	struct hca_counter *n = hca_table_get(&hca->counters, set);

	if (!n)
		return HCA_SYND_COUNTER;
#define COUNT(name, value)	MLX5_SET(query_q_counter_out, c->out, name, value)
	COUNT(rx_write_requests, n->rx_write);
	COUNT(rx_read_requests, n->rx_read);
	COUNT(rx_atomic_requests, n->rx_atomic);
	COUNT(out_of_buffer, n->out_of_buffer);
	COUNT(rnr_nak_retry_err, n->rnr_nak_retry);
	COUNT(local_ack_timeout_err, n->timeouts);
#undef COUNT
	if (MLX5_GET(query_q_counter_in, c->in, clear))
		hca_counter_clear(n);
	return HCA_OK;
}

/* ---- Counting -------------------------------------------------------------------- */

static void hca_count_packets(struct hca_port *from, struct hca_port *to, u32 n, u64 payload)
{
	u64 bytes = payload + (u64)n * PACKET_OVERHEAD;

	from->count.xmit_packets += n;
	from->count.xmit_bytes += bytes;
	to->count.rcv_packets += n;
	to->count.rcv_bytes += bytes;
}

static void hca_count_message(struct hca_qp *src, struct hca_qp *peer, const struct hca_wqe *w)
{
	struct hca_port *from = hca_qp_port(src), *to = hca_qp_port(peer);

	switch (w->opcode) {
	case MLX5R_OP_RDMA_READ:
		peer->counter->rx_read++;
		hca_count_packets(from, to, 1, sizeof(struct mlx5r_raddr));
		hca_count_packets(to, from, w->packets, w->length);
		return;
	case MLX5R_OP_ATOMIC_CS:
	case MLX5R_OP_ATOMIC_FA:
	case MLX5R_OP_ATOMIC_MASKED_CS:
	case MLX5R_OP_ATOMIC_MASKED_FA:
		peer->counter->rx_atomic++;
		hca_count_packets(from, to, 1,
				  sizeof(struct mlx5r_raddr) + sizeof(struct mlx5r_atomic));
		hca_count_packets(to, from, 1, w->length);
		return;
	case MLX5R_OP_RDMA_WRITE:
	case MLX5R_OP_RDMA_WRITE_IMM:
		peer->counter->rx_write++;
		break;
	}
	hca_count_packets(from, to, w->packets, w->length);
}

void hca_count_request(struct hca_qp *src, struct hca_qp *peer, const struct hca_wqe *w,
		       int result)
{
	switch (result) {
	case 0:
		hca_count_message(src, peer, w);
		break;
	case HCA_RNR:
		peer->counter->out_of_buffer++;
		src->counter->rnr_nak_retry++;
		break;
	case HCA_LOST:
		src->counter->timeouts++;
		break;
	}
}

void hca_count_xmit(struct hca_port *port, u32 payload, bool multicast)
{
	port->count.xmit_packets++;
	port->count.xmit_bytes += payload + PACKET_OVERHEAD;
	if (multicast) {
		port->count.mcast_xmit_packets++;
		port->count.mcast_xmit_bytes += payload + PACKET_OVERHEAD;
	}
}

void hca_count_rcv(struct hca_port *port, u32 payload, bool multicast)
{
	port->count.rcv_packets++;
	port->count.rcv_bytes += payload + PACKET_OVERHEAD;
	if (multicast) {
		port->count.mcast_rcv_packets++;
		port->count.mcast_rcv_bytes += payload + PACKET_OVERHEAD;
	}
}
