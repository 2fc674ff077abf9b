// SPDX-License-Identifier: GPL-2.0
/*
 * A peer on the wire that does not follow the standard: it sends packets with right addresses and
 * numbers, and with lengths and addresses that do not belong together.  And a process that changes
 * a request after it was sent.
 */
#include <string.h>
#include "data/wire.h"
#include "peers.h"
#include "tap.h"

enum { MTU = 1024, SECONDS = 100, OLD = 0x55 };

static u32 answers;			/* packets of READ answers from the second peer */
static bool keep_answers;		/* they do not arrive */

static bool watch(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;
	bool answer;

	answer = !hca_packet_read(&p, frame, bytes) && p.opcode >= HCA_BTH_READ_FIRST &&
		 p.opcode <= HCA_BTH_READ_ONLY;
	answers += answer;
	return answer && keep_answers;
}

static void begin(void)
{
	const struct peers_config c = { .wired = true, .st = MLX5_QP_ST_RC };

	peers_open(&c);
	answers = 0;
	keep_answers = false;
	wire_script(&w, watch);
}

/* A packet of the first peer to the second one, or the other way */
static struct hca_packet packet(u32 to, u8 operation, u32 psn, u32 length)
{
	struct hca_packet p;

	hca_wire_find_flow(hw(!to));
	p = hca_wire_packet(hw(!to), operation, psn);
	p.flow = hw(!to)->wire->flow;
	p.length = length;
	p.ack_request = true;
	p.addr = peer[1].mr.addr;
	p.key = peer[1].mr.key;
	p.dma_length = length;
	return p;
}

static void inject(u32 to, struct hca_packet *p)
{
	hca_wire_send_bytes(&hca_of(!to)->port[0], p, peer[0].mr.ptr);
	peers_settle(SECONDS * NSEC_PER_SEC);
}

static bool untouched(u32 from, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		if (peer[1].mr.ptr[from + i] != OLD)
			return false;
	return true;
}

/* ---- WRITEs whose packets have more or less than the first one says ------------------- */

static void test_write_only(s32 more)
{
	struct hca_packet p;

	begin();
	p = packet(1, HCA_BTH_WRITE_ONLY, hw(1)->rq_psn, 500);
	p.dma_length = 500 - more;
	inject(1, &p);
	look(1);
	ok(peer[1].view.state == MLX5_QP_STATE_ERR && untouched(0, 2 * MTU),
	   "one packet with %d bytes more than the length: refused", more);
	ok(peer[1].view.nevents == 1 &&
	   peer[1].view.event[0] == MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR, "with the event");
	peers_close();
}

/* The second packet of a WRITE that has 100 bytes left */
static void test_write_second(u8 operation, u32 length)
{
	struct hca_packet p;
	u32 psn;

	begin();
	psn = hw(1)->rq_psn;
	p = packet(1, HCA_BTH_WRITE_FIRST, psn, MTU);
	p.dma_length = MTU + 100;
	inject(1, &p);
	ok(!memcmp(peer[1].mr.ptr, peer[0].mr.ptr, MTU), "the first packet of two");
	p = packet(1, operation, psn + 1, length);
	inject(1, &p);
	ok(look(1)->state == MLX5_QP_STATE_ERR && untouched(MTU, MTU),
	   "the second one has %u bytes instead of 100: refused", length);
	peers_close();
}

/* ---- A READ that is repeated as another one --------------------------------------------- */

static void same(struct hca_packet *p)
{
}

static void other_address(struct hca_packet *p)
{
	p->addr += 64;
}

static void other_key(struct hca_packet *p)
{
	p->key++;
}

static void longer(struct hca_packet *p)
{
	p->dma_length++;
}

static void test_repeated(const char *what, void (*change)(struct hca_packet *p), u32 expected)
{
	struct hca_packet p;

	begin();
	p = packet(1, HCA_BTH_READ_REQUEST, hw(1)->rq_psn, 0);
	p.dma_length = 100;
	inject(1, &p);
	tap_is(answers, 1, "a READ is answered");
	change(&p);
	inject(1, &p);
	tap_is(answers, expected, "repeated with %s", what);
	tap_is(look(1)->state, MLX5_QP_STATE_RTS, "the queue pair goes on");
	peers_close();
}

/* ---- Answers of another length than was asked for ----------------------------------------- */

static void test_answer(u8 operation, u32 length)
{
	struct hca_packet p;

	begin();
	keep_answers = true;
	post_read(1, here(0, 0, 3000), 0, peer[1].mr.key);
	commit(0);
	while (!answers)
		peers_pass();
	p = packet(0, operation, hw(0)->wire->una, length);
	p.syndrome = HCA_AETH_ACK | HCA_AETH_UNLIMITED;
	keep_answers = false;
	inject(0, &p);
	ok(look(0)->nwcs == 1 && peer[0].view.wc[0].status == XV_WC_BAD_RESP_ERR,
	   "an answer of %u bytes: bad response", length);
	peers_close();
}

/* ---- A request that is another one when it is sent again ----------------------------------- */

static bool drop_first(const u8 *frame, u32 bytes, u32 nth)
{
	return !nth;
}

static void test_changed_request(void)
{
	struct mlx5r_data *data;

	begin();
	wire_script(&w, drop_first);
	post_write(1, here(0, 0, 3000), 0, peer[1].mr.key);
	commit(0);
	while (!w.sent)
		peers_pass();
	data = (void *)((u8 *)peer[0].q.qp.sq.buf + sizeof(struct mlx5r_ctrl) +
			sizeof(struct mlx5r_raddr));
	data->byte_count = cpu_to_be32(100);
	peers_settle(SECONDS * NSEC_PER_SEC);
	ok(look(0)->nwcs == 1 && peer[0].view.wc[0].status == XV_WC_LOC_QP_OP_ERR,
	   "a request that was changed in the ring fails");
	ok(untouched(0, 4 * MTU), "nothing of it arrives");
	peers_close();
}

int main(void)
{
	test_write_only(1);
	test_write_only(-1);
	test_write_second(HCA_BTH_WRITE_LAST, 101);
	test_write_second(HCA_BTH_WRITE_LAST, 99);
	test_write_second(HCA_BTH_WRITE_MIDDLE, MTU);
	test_repeated("the same", same, 2);
	test_repeated("another address", other_address, 1);
	test_repeated("another key", other_key, 1);
	test_repeated("another length", longer, 1);
	test_answer(HCA_BTH_READ_FIRST, MTU - 4);
	test_answer(HCA_BTH_READ_ONLY, 100);
	test_changed_request();
	return tap_done();
}
