// SPDX-License-Identifier: GPL-2.0
/* Addresses, requests, events, and the order in which objects end */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include "compare.h"

#define COUNT(list)	(sizeof(list) / sizeof(*(list)))
#define QKEY		0x1234567u

static struct ibv_cq *cq;

/* ---- Addresses ------------------------------------------------------------------- */

#define AH(member, value) do {								\
	struct ibv_ah_attr a_ = path_to(&place, gid_index);				\
	struct ibv_ah *ah_;								\
	a_.member = value;								\
	ah_ = PTR(ibv_create_ah(pd, &a_), "ibv_create_ah " #member " %lld",		\
		  (long long)(value));							\
	if (ah_)									\
		INT(ibv_destroy_ah(ah_), "ibv_destroy_ah " #member);			\
} while (0)

static void handles(void)
{
	static const int numbers[] = { 0, 1, 7, 8, 15, 16, 31, 127, 128, 255 };
	unsigned int i;

	for (i = 0; i < COUNT(numbers); i++) {
		AH(sl, (uint8_t)numbers[i]);
		AH(static_rate, (uint8_t)numbers[i]);
		AH(src_path_bits, (uint8_t)numbers[i]);
		AH(grh.sgid_index, (uint8_t)numbers[i]);
		AH(grh.hop_limit, (uint8_t)numbers[i]);
		AH(port_num, (uint8_t)numbers[i]);
	}
	AH(dlid, 0);
	AH(dlid, 0xc001);
	AH(dlid, 0xffff);
	AH(is_global, 0);
	AH(is_global, 1);
	AH(is_global, 2);
	AH(grh.flow_label, ~0u);
	AH(grh.dgid.raw[0], 0xff);
	AH(grh.dgid.global.interface_id, 0);
}

static void from_wc(const char *what, unsigned int flags, uint32_t first, uint8_t at20,
		    uint8_t next_hdr)
{
	struct ibv_wc wc = { .wc_flags = flags, .slid = 1, .sl = 3, .dlid_path_bits = 2 };
	struct ibv_ah_attr a;
	struct ibv_grh grh;
	uint8_t *raw = (uint8_t *)&grh;

	memset(&grh, 0, sizeof(grh));
	memset(&a, 0, sizeof(a));
	grh.version_tclass_flow = htobe32(first);
	grh.next_hdr = next_hdr;
	grh.hop_limit = 9;
	grh.sgid = grh.dgid = place.gid;
	raw[20] = at20;
	if (INT(ibv_init_ah_from_wc(ctx, 1, &wc, &grh, &a), "ibv_init_ah_from_wc %s", what))
		return;
	attr("dlid %u sl %u bits %u port %u flow %x global %u index %u hop %u class %u", a.dlid,
	     a.sl, a.src_path_bits, a.port_num, a.grh.flow_label, a.is_global, a.grh.sgid_index,
	     a.grh.hop_limit, a.grh.traffic_class);
}

/* Joins a group and leaves it at once. */
static void join(struct ibv_qp *of, const char *what, const union ibv_gid *gid, uint16_t lid)
{
	if (!INT(ibv_attach_mcast(of, gid, lid), "ibv_attach_mcast type %d %s", of->qp_type, what))
		also("detach", ibv_detach_mcast(of, gid, lid));
}

static void mcast(enum ibv_qp_type type)
{
	union ibv_gid gid = { .raw = { 0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [15] = 9 } };
	struct ibv_qp *of = new_qp(type, cq, NULL);

	join(of, "in RESET", &gid, 0xc000);
	join(of, "unicast", &place.gid, 0xc000);
	join(of, "lid 0", &gid, 0);
	join(of, "lid 1", &gid, 1);
	join(of, "lid 0xffff", &gid, 0xffff);
	if (type == IBV_QPT_UD)
		ud_up(of, QKEY);
	INT(ibv_detach_mcast(of, &gid, 0xc000), "ibv_detach_mcast type %d of no group", type);
	INT(ibv_attach_mcast(of, &gid, 0xc000), "ibv_attach_mcast type %d", type);
	INT(ibv_attach_mcast(of, &gid, 0xc000), "ibv_attach_mcast type %d again", type);
	INT(ibv_detach_mcast(of, &gid, 0xc001), "ibv_detach_mcast type %d other lid", type);
	if (!INT(ibv_destroy_qp(of), "ibv_destroy_qp type %d in a group", type))
		return;
	INT(ibv_detach_mcast(of, &gid, 0xc000), "ibv_detach_mcast type %d", type);
	INT(ibv_detach_mcast(of, &gid, 0xc000), "ibv_detach_mcast type %d again", type);
	INT(ibv_destroy_qp(of), "ibv_destroy_qp type %d", type);
}

void compare_addresses(void)
{
	cq = new_cq();
	handles();
	from_wc("without GRH", 0, 6u << 28, 0, 0x1b);
	from_wc("flow label", 0, 6u << 28 | 0x7654321, 0, 0x1b);
	from_wc("RoCE v1 or IB", IBV_WC_GRH, 6u << 28 | 0x1234567, 0, 0x1b);
	from_wc("RoCE v2", IBV_WC_GRH, 6u << 28 | 0x1234567, 0, 17);
	from_wc("next header 3", IBV_WC_GRH, 6u << 28, 0, 3);
	from_wc("version 5", IBV_WC_GRH, 5u << 28, 0, 17);
	from_wc("IPv4", IBV_WC_GRH, 0, 0x45, 17);
	from_wc("IPv4 with options", IBV_WC_GRH, 0, 0x46, 17);
	mcast(IBV_QPT_UD);
	mcast(IBV_QPT_RC);
}

/* ---- Requests ---------------------------------------------------------------------- */

static struct ibv_qp *qp;
static struct ibv_ah *ah;
static struct ibv_mw *mw;

static void again(void)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc;

	if (ibv_modify_qp(qp, &reset, IBV_QP_STATE))
		bail_out("reset");
	while (ibv_poll_cq(cq, 1, &wc))
		;
	up(qp, qp->qp_num);
}

/* Posts to a queue pair that is connected to itself, and says how each request completes. */
static void send(const char *what, struct ibv_send_wr wr, int receives)
{
	struct ibv_sge to = sge_at(32768, 4096);
	struct ibv_recv_wr *rbad, r = { .wr_id = 100, .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr *bad = NULL;

	again();
	if (receives)
		need(!ibv_post_recv(qp, &r, &rbad), "ibv_post_recv");
	if (!wr.send_flags)
		wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr_id = 1;
	if (INT(ibv_post_send(qp, &wr, &bad), "ibv_post_send type %d %s", qp->qp_type, what)) {
		attr("bad %d", bad == &wr);
		return;
	}
	completion(cq);
	if (receives)
		completion(cq);
}

static void opcodes(void)
{
	struct ibv_sge s = sge_at(0, 64), eight = sge_at(0, 8);
	char what[64];
	int op;

	for (op = 0; op <= 15; op++) {
		bool atomic = op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD;
		struct ibv_send_wr wr = { .sg_list = atomic ? &eight : &s, .num_sge = 1,
					  .opcode = (enum ibv_wr_opcode)op, .imm_data = 5 };

		if (qp->qp_type == IBV_QPT_UD) {
			wr.wr.ud.ah = ah;
			wr.wr.ud.remote_qpn = qp->qp_num;
			wr.wr.ud.remote_qkey = QKEY;
		} else if (op == IBV_WR_BIND_MW) {
			wr.num_sge = 0;
			wr.bind_mw.mw = mw;
			wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
			wr.bind_mw.bind_info = (struct ibv_mw_bind_info) { mr, at(0), 64, 2 };
		} else if (op == IBV_WR_LOCAL_INV) {
			wr.num_sge = 0;
			wr.invalidate_rkey = ibv_inc_rkey(mw->rkey);
		} else if (atomic) {
			wr.wr.atomic.remote_addr = at(8192);
			wr.wr.atomic.rkey = mr->rkey;
		} else if (op == IBV_WR_RDMA_WRITE || op == IBV_WR_RDMA_WRITE_WITH_IMM ||
			   op == IBV_WR_RDMA_READ) {
			wr.wr.rdma.remote_addr = at(8192);
			wr.wr.rdma.rkey = mr->rkey;
		}
		snprintf(what, sizeof(what), "opcode %d", op);
		send(what, wr, op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM ||
			       op == IBV_WR_RDMA_WRITE_WITH_IMM);
	}
	send("opcode -1", (struct ibv_send_wr) { .sg_list = &s, .num_sge = 1,
						 .opcode = (enum ibv_wr_opcode)-1 }, 0);
	send("opcode 1000", (struct ibv_send_wr) { .sg_list = &s, .num_sge = 1,
						   .opcode = (enum ibv_wr_opcode)1000 }, 0);
}

static struct ibv_send_wr simple(struct ibv_sge *s, int n)
{
	struct ibv_send_wr wr = { .sg_list = s, .num_sge = n, .opcode = IBV_WR_SEND };

	if (qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	return wr;
}

static void limits(struct ibv_qp_cap *cap)
{
	uint32_t in = cap->max_inline_data;
	struct ibv_sge many[40], list[2];
	struct ibv_send_wr wr;
	uint32_t i;

	for (i = 0; i < 40; i++)
		many[i] = sge_at(i * 8, 8);
	send("0 SGEs", simple(many, 0), 1);
	send("max SGEs", simple(many, (int)cap->max_send_sge), 1);
	send("max + 1 SGEs", simple(many, (int)cap->max_send_sge + 1), 1);
	send("a SGE of 0 bytes", simple(&(struct ibv_sge) { .length = 0 }, 1), 1);
	list[0] = sge_at(0, in);
	list[1] = sge_at(in, 1);
	wr = simple(list, 1);
	wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	send("max inline", wr, 1);
	wr.num_sge = 2;
	send("max inline and 1 byte", wr, 1);
	list[0].length = in + 1;
	wr.num_sge = 1;
	send("max + 1 inline", wr, 1);
	wr.num_sge = 0;
	send("0 SGEs inline", wr, 1);
	wr.num_sge = 1;
	list[0].length = 0;
	send("0 bytes inline", wr, 1);
	for (i = 0; i < 40; i++)
		many[i].length = 1;
	wr.sg_list = many;
	wr.num_sge = (int)cap->max_send_sge + 1;
	send("max + 1 SGEs inline", wr, 1);
	wr = simple(many, 1);
	wr.send_flags = IBV_SEND_SIGNALED | 1 << 4;
	send("checksum flag", wr, 1);
	wr.send_flags = IBV_SEND_SIGNALED | 1 << 10;
	send("flag 1 << 10", wr, 1);
}

/* The second of three requests is wrong: the first is executed, the others are not. */
static void bad_second(void)
{
	struct ibv_sge s = sge_at(0, 8);
	struct ibv_send_wr wr[3] = { simple(&s, 1), simple(&s, 100), simple(&s, 1) }, *bad = NULL;
	struct ibv_recv_wr *rbad, r = { .wr_id = 50 };
	struct ibv_wc wc;
	int i;

	again();
	for (i = 0; i < 3; i++) {
		wr[i].wr_id = (uint64_t)i + 1;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		if (qp->qp_type != IBV_QPT_XRC_SEND)
			need(!ibv_post_recv(qp, &r, &rbad), "ibv_post_recv");
	}
	INT(ibv_post_send(qp, wr, &bad), "ibv_post_send type %d three, the second is wrong",
	    qp->qp_type);
	attr("bad %d", (int)(bad - wr));
	completion(cq);
	usleep(100000);
	while (ibv_poll_cq(cq, 1, &wc))
		attr("another %d", (int)wc.wr_id);
}

static void until_full(void)
{
	struct ibv_sge s = sge_at(0, 8);
	struct ibv_send_wr *bad = NULL, wr = simple(&s, 1);
	struct ibv_recv_wr *rbad = NULL, r = { .wr_id = 50 };
	int n = 0, err;

	again();
	/* No completion is polled, so none is retired. */
	while (!(err = ibv_post_send(qp, &wr, &bad)) && n < 1000)
		n++;
	INT(err, "ibv_post_send type %d until full", qp->qp_type);
	attr("after %d bad %d", n, bad == &wr);
	again();
	for (n = 0; !(err = ibv_post_recv(qp, &r, &rbad)) && n < 1000;)
		n++;
	INT(err, "ibv_post_recv type %d until full", qp->qp_type);
	attr("after %d bad %d", n, rbad == &r);
}

static void receives(const struct ibv_qp_cap *cap)
{
	struct ibv_sge many[40];
	struct ibv_recv_wr *bad = NULL, r = { .sg_list = many };
	int numbers[] = { 0, 1, (int)cap->max_recv_sge, (int)cap->max_recv_sge + 1, 1000 };
	unsigned int i;

	for (i = 0; i < 40; i++)
		many[i] = sge_at(i * 8, 8);
	for (i = 0; i < COUNT(numbers); i++) {
		again();
		r.num_sge = numbers[i];
		bad = NULL;
		INT(ibv_post_recv(qp, &r, &bad), "ibv_post_recv type %d %d SGEs", qp->qp_type,
		    numbers[i]);
		attr("bad %d", bad == &r);
	}
}

static void to_state(enum ibv_qp_state to)
{
	struct ibv_qp_attr a = { .qp_state = to };

	if (to == IBV_QPS_SQD)
		again();
	if (to == IBV_QPS_INIT && qp->qp_type == IBV_QPT_RC)
		rc_init(qp);
	else if (to == IBV_QPS_INIT)
		ibv_modify_qp(qp, &(struct ibv_qp_attr) { .qp_state = IBV_QPS_INIT, .port_num = 1,
							  .qkey = QKEY },
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	else
		ibv_modify_qp(qp, &a, IBV_QP_STATE);
}

static void in_states(void)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_SQD,
						    IBV_QPS_ERR };
	struct ibv_sge s = sge_at(0, 8);
	struct ibv_send_wr *bad, wr = simple(&s, 1);
	struct ibv_recv_wr *rbad, r = { .sg_list = &s, .num_sge = 1 };
	unsigned int i;

	to_state(IBV_QPS_RESET);
	for (i = 0; i < COUNT(states); i++) {
		to_state(states[i]);
		bad = NULL;
		rbad = NULL;
		INT(ibv_post_recv(qp, &r, &rbad), "ibv_post_recv type %d in state %d",
		    qp->qp_type, states[i]);
		attr("bad %d", rbad == &r);
		INT(ibv_post_send(qp, &wr, &bad), "ibv_post_send type %d in state %d",
		    qp->qp_type, states[i]);
		attr("bad %d", bad == &wr);
		wr.num_sge = 0;
		INT(ibv_post_send(qp, &wr, &bad), "ibv_post_send type %d in state %d 0 SGEs",
		    qp->qp_type, states[i]);
		wr.num_sge = 1;
	}
	/* From INIT without having been in RTS */
	to_state(IBV_QPS_RESET);
	to_state(IBV_QPS_INIT);
	to_state(IBV_QPS_ERR);
	INT(ibv_post_send(qp, &wr, &bad), "ibv_post_send type %d in ERR after INIT", qp->qp_type);
	INT(ibv_post_recv(qp, &r, &rbad), "ibv_post_recv type %d in ERR after INIT", qp->qp_type);
}

static void type(enum ibv_qp_type t)
{
	struct ibv_qp_init_attr init = { .qp_type = t, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2,
			 .max_recv_sge = 2, .max_inline_data = 32 } };

	qp = ibv_create_qp(pd, &init);
	need(qp != NULL, "ibv_create_qp");
	opcodes();
	limits(&init.cap);
	bad_second();
	until_full();
	receives(&init.cap);
	in_states();
	ibv_destroy_qp(qp);
}

static void no_queues(void)
{
	struct ibv_qp_cap none = { 0, 0, 0, 0, 0 };
	struct ibv_recv_wr *rbad = NULL, r = { .wr_id = 1 };
	struct ibv_send_wr *bad = NULL, wr = { .opcode = IBV_WR_SEND };

	qp = new_qp(IBV_QPT_RC, cq, &none);
	INT(ibv_post_recv(qp, &r, &rbad), "ibv_post_recv without a queue");
	rc_init(qp);
	INT(ibv_post_recv(qp, &r, &rbad), "ibv_post_recv without a queue in INIT");
	rc_connect(qp, qp->qp_num, path_to(&place, gid_index));
	INT(ibv_post_send(qp, &wr, &bad), "ibv_post_send without a queue");
	ibv_destroy_qp(qp);
}

static void shared(void)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 3, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &a);
	struct ibv_sge many[3] = { sge_at(0, 8), sge_at(8, 8), sge_at(16, 8) };
	struct ibv_recv_wr *bad = NULL, r[3] = {
		{ .wr_id = 1, .sg_list = many, .num_sge = 1, .next = &r[1] },
		{ .wr_id = 2, .sg_list = many, .num_sge = (int)a.attr.max_sge + 1,
		  .next = &r[2] },
		{ .wr_id = 3, .sg_list = many, .num_sge = 1 },
	};
	int n = 0, err;

	need(srq != NULL, "ibv_create_srq");
	INT(ibv_post_srq_recv(srq, r, &bad), "ibv_post_srq_recv three, the second is wrong");
	attr("bad %d", (int)(bad - r));
	while (!(err = ibv_post_srq_recv(srq, &r[2], &bad)) && n < 1000)
		n++;
	INT(err, "ibv_post_srq_recv until full");
	attr("after %d bad %d", n, (int)(bad - r));
	ibv_destroy_srq(srq);
}

void compare_posts(void)
{
	struct ibv_ah_attr path = path_to(&place, gid_index);

	cq = new_cq();
	ah = ibv_create_ah(pd, &path);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	need(ah && mw, "address handle and window");
	type(IBV_QPT_RC);
	type(IBV_QPT_UD);
	no_queues();
	shared();
}

/* ---- Extended requests -------------------------------------------------------------- */

static struct ibv_qp_ex *qx;

static struct ibv_qp_ex *extended(uint64_t ops)
{
	struct ibv_qp_init_attr_ex a = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2,
			 .max_recv_sge = 2, .max_inline_data = 32 },
		.pd = pd, .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = ops };

	qp = PTR(ibv_create_qp_ex(ctx, &a), "ibv_create_qp_ex ops %llx", (long long)ops);
	need(qp != NULL, "ibv_create_qp_ex");
	attr("send %u x %u inline %u", a.cap.max_send_wr, a.cap.max_send_sge,
	     a.cap.max_inline_data);
	qx = ibv_qp_to_qp_ex(qp);
	return qx;
}

static void begin(void)
{
	ibv_wr_start(qx);
	qx->wr_id = 1;
	qx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qx, mr->rkey, at(8192));
}

static void wr_states(void)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_SQD,
						    IBV_QPS_ERR };
	unsigned int i;

	to_state(IBV_QPS_RESET);
	for (i = 0; i < COUNT(states); i++) {
		to_state(states[i]);
		begin();
		ibv_wr_set_sge(qx, mr->lkey, at(0), 8);
		INT(ibv_wr_complete(qx), "ibv_wr_complete in state %d", states[i]);
		ibv_wr_start(qx);
		INT(ibv_wr_complete(qx), "ibv_wr_complete in state %d nothing", states[i]);
	}
}

static void wr_sges(size_t n)
{
	struct ibv_sge many[40];
	size_t i;

	for (i = 0; i < 40; i++)
		many[i] = sge_at((uint32_t)i * 8, 8);
	again();
	begin();
	ibv_wr_set_sge_list(qx, n, many);
	if (!INT(ibv_wr_complete(qx), "ibv_wr_set_sge_list %zu", n))
		completion(cq);
}

static void wr_inline(size_t n)
{
	again();
	begin();
	ibv_wr_set_inline_data(qx, mem, n);
	if (!INT(ibv_wr_complete(qx), "ibv_wr_set_inline_data %zu", n))
		completion(cq);
	again();
	begin();
	ibv_wr_set_inline_data_list(qx, 2, (struct ibv_data_buf[]) { { mem, n / 2 },
								      { mem, n - n / 2 } });
	if (!INT(ibv_wr_complete(qx), "ibv_wr_set_inline_data_list %zu", n))
		completion(cq);
}

static void wr_full(void)
{
	int n;

	again();
	for (n = 1; n <= 8; n++) {
		int i;

		again();
		ibv_wr_start(qx);
		for (i = 0; i < n; i++) {
			qx->wr_id = 1;
			qx->wr_flags = i == n - 1 ? IBV_SEND_SIGNALED : 0;
			ibv_wr_rdma_write(qx, mr->rkey, at(8192));
			ibv_wr_set_sge(qx, mr->lkey, at(0), 8);
		}
		if (!INT(ibv_wr_complete(qx), "ibv_wr_complete of %d requests", n))
			completion(cq);
	}
}

static void wr_binds(void)
{
	struct ibv_mw_bind_info info = { mr, at(0), 64, IBV_ACCESS_REMOTE_WRITE };
	struct ibv_mw *window = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	struct ibv_mr *plain = ibv_reg_mr(pd, mem, 4096, ACCESS);
	int i;

	need(window && plain, "window and region");
	for (i = 0; i < 4; i++) {
		again();
		ibv_wr_start(qx);
		qx->wr_id = 1;
		qx->wr_flags = IBV_SEND_SIGNALED;
		if (i == 1)
			info.mr = plain;
		if (i == 2)
			info.length = 0;
		if (i == 3)
			info = (struct ibv_mw_bind_info) { mr, at(0), 64, 1u << 30 };
		ibv_wr_bind_mw(qx, window, ibv_inc_rkey(window->rkey), &info);
		if (!INT(ibv_wr_complete(qx), "ibv_wr_bind_mw case %d", i))
			completion(cq);
	}
	again();
	ibv_wr_start(qx);
	qx->wr_id = 1;
	qx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(qx, window->rkey);
	if (!INT(ibv_wr_complete(qx), "ibv_wr_local_inv of a key that is not bound"))
		completion(cq);
}

void compare_extended(void)
{
	size_t sizes[] = { 0, 1, 32, 44, 60, 61, 100, 108, 109, 200, 236, 237, 1000 };
	unsigned int i;

	cq = new_cq();
	extended(0x3ff);
	wr_states();
	for (i = 0; i < 40; i += 3)
		wr_sges(i);
	for (i = 0; i < COUNT(sizes); i++)
		wr_inline(sizes[i]);
	wr_full();
	wr_binds();
	ibv_destroy_qp(qp);
	extended(IBV_QP_EX_WITH_RDMA_WRITE);
	wr_full();
	for (i = 0; i < COUNT(sizes); i++)
		wr_inline(sizes[i]);
	ibv_destroy_qp(qp);
}

/* ---- Events ----------------------------------------------------------------------- */

static void no_wait(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void event(const char *what)
{
	struct pollfd p = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event e;

	poll(&p, 1, 2000);
	if (INT(ibv_get_async_event(ctx, &e), "ibv_get_async_event %s", what))
		return;
	attr("%s", ibv_event_type_str(e.event_type));
	ibv_ack_async_event(&e);
}

static void channel(void)
{
	struct ibv_comp_channel *ch = PTR(ibv_create_comp_channel(ctx), "ibv_create_comp_channel");
	struct ibv_cq *c = ibv_create_cq(ctx, 10, ctx, ch, 0), *got = NULL;
	struct ibv_qp_attr err = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr *bad, wr = { .wr_id = 3 };
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	void *context = NULL;

	no_wait(ch->fd);
	INT(ibv_get_cq_event(ch, &got, &context), "ibv_get_cq_event no event");
	qp = new_qp(IBV_QPT_RC, c, NULL);
	rc_init(qp);
	need(!ibv_modify_qp(qp, &err, IBV_QP_STATE), "to ERR");
	INT(ibv_req_notify_cq(c, 0), "ibv_req_notify_cq");
	need(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
	poll(&p, 1, 2000);
	INT(ibv_get_cq_event(ch, &got, &context), "ibv_get_cq_event");
	attr("cq %d context %d", got == c, context == ctx);
	INT(ibv_get_cq_event(ch, &got, &context), "ibv_get_cq_event again");
	INT(ibv_destroy_comp_channel(ch), "ibv_destroy_comp_channel with a CQ");
	ibv_ack_cq_events(c, 1);
	ibv_destroy_qp(qp);
	INT(ibv_destroy_cq(c), "ibv_destroy_cq with a channel");
	INT(ibv_destroy_comp_channel(ch), "ibv_destroy_comp_channel");
}

/* The limit of a shared receive queue, then two queue pairs that end */
static void order_of_events(void)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &a);
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.srq = srq, .cap = { .max_send_wr = 4, .max_send_sge = 1 } };
	struct ibv_srq_attr limit = { .srq_limit = 1 };
	struct ibv_qp_attr err = { .qp_state = IBV_QPS_ERR };

	need(srq != NULL, "ibv_create_srq");
	INT(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq empty queue, limit 1");
	event("limit of an empty queue");
	qp = ibv_create_qp(pd, &init);
	need(qp != NULL, "ibv_create_qp");
	up(qp, qp->qp_num);
	need(!ibv_modify_qp(qp, &err, IBV_QP_STATE), "to ERR");
	event("to ERR on a shared receive queue");
	event("none");
	INT(ibv_destroy_srq(srq), "ibv_destroy_srq in use");
	INT(ibv_destroy_qp(qp), "ibv_destroy_qp");
	INT(ibv_destroy_srq(srq), "ibv_destroy_srq");
}

static void drained(void)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	qp = new_qp(IBV_QPT_RC, cq, NULL);
	up(qp, qp->qp_num);
	INT(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
	    "ibv_modify_qp to SQD with an event");
	ibv_destroy_qp(qp);
}

void compare_events(void)
{
	cq = new_cq();
	channel();
	no_wait(ctx->async_fd);
	order_of_events();
	drained();
}

/* ---- Order of destruction ---------------------------------------------------------------- */

void compare_order(void)
{
	struct ibv_pd *own = ibv_alloc_pd(ctx);
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_ah_attr path = path_to(&place, gid_index);
	struct ibv_srq *srq = ibv_create_srq(own, &a);
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .srq = srq,
					 .cap = { .max_send_wr = 4, .max_send_sge = 1 } };
	struct ibv_mr *m = ibv_reg_mr(own, mem, 4096, ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *w = ibv_alloc_mw(own, IBV_MW_TYPE_1);

	cq = init.send_cq = new_cq();
	init.recv_cq = new_cq();
	ah = ibv_create_ah(own, &path);
	qp = ibv_create_qp(own, &init);
	need(srq && m && w && ah && qp, "objects of a domain");
	INT(ibv_destroy_cq(cq), "ibv_destroy_cq of sends in use");
	INT(ibv_destroy_cq(init.recv_cq), "ibv_destroy_cq of receives in use");
	INT(ibv_destroy_srq(srq), "ibv_destroy_srq in use");
	INT(ibv_dealloc_pd(own), "ibv_dealloc_pd with 5 users");
	INT(ibv_destroy_qp(qp), "ibv_destroy_qp");
	INT(ibv_dealloc_pd(own), "ibv_dealloc_pd with 4 users");
	INT(ibv_dereg_mr(m), "ibv_dereg_mr");
	INT(ibv_dealloc_pd(own), "ibv_dealloc_pd with 3 users");
	INT(ibv_destroy_srq(srq), "ibv_destroy_srq");
	INT(ibv_dealloc_pd(own), "ibv_dealloc_pd with 2 users");
	INT(ibv_dealloc_mw(w), "ibv_dealloc_mw");
	/* On InfiniBand, an address handle of libmlx5 does not need its domain. */
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		INT(ibv_dealloc_pd(own), "ibv_dealloc_pd with an address handle");
		INT(ibv_destroy_ah(ah), "ibv_destroy_ah");
		INT(ibv_dealloc_pd(own), "ibv_dealloc_pd");
	}
	INT(ibv_destroy_cq(cq), "ibv_destroy_cq");
	INT(ibv_destroy_cq(init.recv_cq), "ibv_destroy_cq of receives");
	INT(ibv_close_device(ctx), "ibv_close_device with objects");
}
