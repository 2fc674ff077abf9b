// SPDX-License-Identifier: GPL-2.0
/*
 * Q counter sets: the objects, and the commands that allocate, query and free them.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "cmd/cmd.h"

enum { RNR_RETRIES_EXCEEDED = 0x380 / 32 };	/* dword of QUERY_Q_COUNTER */

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
	synd = hca_devx_add(hca, c, &hca->counters, counter, &counter->set);
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

	hca_devx_del(hca, &hca->counters, counter->set);
	kfree(counter);
}

enum hca_synd hca_cmd_dealloc_q_counter(struct hca *hca, const struct hca_cmd *c)
{
	u32 set = MLX5_GET(dealloc_q_counter_in, c->in, counter_set_id);
	struct hca_counter *counter = hca_devx_own(c, &hca->counters, set);

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
	struct hca_counter *n = hca_devx_own(c, &hca->counters, set);

	if (!n)
		return HCA_SYND_COUNTER;
#define COUNT(name, value)	MLX5_SET(query_q_counter_out, c->out, name, value)
	COUNT(rx_write_requests, n->rx_write);
	COUNT(rx_read_requests, n->rx_read);
	COUNT(rx_atomic_requests, n->rx_atomic);
	COUNT(rx_dct_connect, n->rx_dct_connect);
	COUNT(out_of_buffer, n->out_of_buffer);
	COUNT(rnr_nak_retry_err, n->rnr_nak_retry);
	COUNT(local_ack_timeout_err, n->timeouts);
	COUNT(out_of_sequence, n->out_of_sequence);
	COUNT(duplicate_request, n->duplicate_request);
	COUNT(packet_seq_err, n->packet_seq_err);
	COUNT(implied_nak_seq_err, n->implied_nak);
	COUNT(req_cqe_error, n->errors);
	COUNT(req_remote_invalid_request, n->remote_invalid_request);
	COUNT(req_remote_access_errors, n->remote_access);
	COUNT(req_transport_retries_exceeded, n->retries_exceeded);
	COUNT(roce_adp_retrans, n->adp_retrans);
	COUNT(roce_adp_retrans_to, n->adp_retrans_to);
#undef COUNT
	/* Older headers of the kernel have no name for it. */
	((__be32 *)c->out)[RNR_RETRIES_EXCEEDED] = cpu_to_be32(n->rnr_retries_exceeded);
	if (MLX5_GET(query_q_counter_in, c->in, clear))
		hca_counter_clear(n);
	return HCA_OK;
}
