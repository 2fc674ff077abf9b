// SPDX-License-Identifier: GPL-2.0
/*
 * Counting: traffic of ports, and requests in the Q counter sets of QPs.
 *
 * No packets are built.  A message counts as the packets that it would take on a wire, with
 * headers and without acknowledgements.
 */
#include <linux/kernel.h>
#include "data/data.h"

enum {
	PACKET_OVERHEAD	= 24,	/* LRH, BTH, ICRC */
};

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
	struct hca_port *from = src->port, *to = peer->port;

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
		hca_count_packets(from, to, 1, sizeof(struct mlx5r_raddr) +
				  hca_wqe_arg_bytes(w));
		hca_count_packets(to, from, 1, w->length);
		return;
	case MLX5R_OP_RDMA_WRITE:
	case MLX5R_OP_RDMA_WRITE_IMM:
		peer->counter->rx_write++;
		break;
	}
	hca_count_packets(from, to, w->packets, w->length);
}

/* An unreliable sender gets no answer and waits for none. */
void hca_count_request(struct hca_qp *src, struct hca_qp *peer, const struct hca_wqe *w,
		       int result)
{
	bool answered = src->st != MLX5_QP_ST_UC;

	switch (result) {
	case 0:
		hca_count_message(src, peer, w);
		break;
	case HCA_RNR:
		peer->counter->out_of_buffer++;
		src->counter->rnr_nak_retry += answered;
		break;
	case HCA_LOST:
		src->counter->timeouts += answered;
		break;
	}
}

/* As was measured on adapters: the receiver counts no errors, and a flushed request is an error. */
void hca_count_error(struct hca_qp *qp, u8 syndrome)
{
	struct hca_counter *n = qp->counter;

	n->errors++;
	switch (syndrome) {
	case MLX5R_SYND_REMOTE_INVAL_REQ:
		n->remote_invalid_request++;
		break;
	case MLX5R_SYND_REMOTE_ACCESS:
		n->remote_access++;
		break;
	case MLX5R_SYND_RETRY_EXC:
		n->retries_exceeded++;
		break;
	case MLX5R_SYND_RNR_EXC:
		n->rnr_retries_exceeded++;
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
