// SPDX-License-Identifier: GPL-2.0
/*
 * Functions with two ports: commands for each port, and the port of a queue pair and of its
 * packets.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

static struct session s;

static u32 synd(const u32 *out)
{
	return be32_to_cpu(((const __be32 *)out)[1]);
}

/* ---- Commands ------------------------------------------------------------------------ */

static u32 vport(u32 port, u32 *out, u32 bytes)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_vport_context_in)] = {};

	MLX5_SET(query_hca_vport_context_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT);
	MLX5_SET(query_hca_vport_context_in, in, port_num, port);
	session_cmd(&s, 0, in, sizeof(in), out, bytes);
	return synd(out);
}

static u32 set_caps(u32 port, u32 caps)
{
	u32 in[MLX5_ST_SZ_DW(modify_hca_vport_context_in)] = {}, out[4] = {};
	void *ctx = MLX5_ADDR_OF(modify_hca_vport_context_in, in, hca_vport_context);

	MLX5_SET(modify_hca_vport_context_in, in, opcode, MLX5_CMD_OP_MODIFY_HCA_VPORT_CONTEXT);
	MLX5_SET(modify_hca_vport_context_in, in, port_num, port);
	MLX5_SET(hca_vport_context, ctx, cap_mask1, caps);
	MLX5_SET(hca_vport_context, ctx, cap_mask1_field_select, caps);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	return synd(out);
}

static u32 speed(u32 port)
{
	u32 in[(MLX5_ST_SZ_BYTES(access_register_in) + MLX5_ST_SZ_BYTES(ptys_reg)) / 4] = {};
	u32 out[(MLX5_ST_SZ_BYTES(access_register_out) + MLX5_ST_SZ_BYTES(ptys_reg)) / 4] = {};
	void *reg = MLX5_ADDR_OF(access_register_in, in, register_data);

	MLX5_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
	MLX5_SET(access_register_in, in, op_mod, 1);
	MLX5_SET(access_register_in, in, register_id, 0x5004);
	MLX5_SET(ptys_reg, reg, local_port, port);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	return synd(out);
}

/* Reads a register, of which @in_bytes are given; *@synd is the result. */
static const void *read_reg(u32 id, const void *in_reg, u32 in_bytes, u32 bytes, u32 *synd)
{
	static u32 in[128], out[128];

	memset(in, 0, sizeof(in));
	MLX5_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
	MLX5_SET(access_register_in, in, op_mod, 1);
	MLX5_SET(access_register_in, in, register_id, id);
	memcpy(MLX5_ADDR_OF(access_register_in, in, register_data), in_reg, in_bytes);
	session_cmd(&s, 0, in, MLX5_ST_SZ_BYTES(access_register_in) + in_bytes,
		    out, MLX5_ST_SZ_BYTES(access_register_out) + bytes);
	*synd = MLX5_GET(access_register_out, out, syndrome);
	return MLX5_ADDR_OF(access_register_out, out, register_data);
}

/* The registers in which drivers find the version of the firmware */
static void test_version(void)
{
	enum { MCQS = 0x9060, MCQI = 0x9061, MCAM = 0x907f, VERSION = 1 };
	enum { OUT = MLX5_ST_SZ_BYTES(mcqi_reg) + MLX5_ST_SZ_BYTES(mcqi_version) };
	u32 mcam[MLX5_ST_SZ_DW(mcam_reg)] = {}, mcqs[MLX5_ST_SZ_DW(mcqs_reg)] = {};
	u32 mcqi[MLX5_ST_SZ_DW(mcqi_reg)] = {}, synd;
	const void *r;

	r = read_reg(MCAM, mcam, sizeof(mcam), sizeof(mcam), &synd);
	ok(!synd && MLX5_GET(mcam_reg, r, mng_access_reg_cap_mask.access_regs.mcqi) &&
	   MLX5_GET(mcam_reg, r, mng_access_reg_cap_mask.access_regs.mcqs) &&
	   !MLX5_GET(mcam_reg, r, mng_access_reg_cap_mask.access_regs.mcc),
	   "the version can be read, but not updated");
	MLX5_SET(mcam_reg, mcam, access_reg_group, MLX5_MCAM_REGS_0x9080_0x90FF);
	r = read_reg(MCAM, mcam, sizeof(mcam), sizeof(mcam), &synd);
	ok(!synd && !MLX5_GET(mcam_reg, r, mng_access_reg_cap_mask.access_regs.mcqi),
	   "the next group has no register");
	r = read_reg(MCQS, mcqs, sizeof(mcqs), sizeof(mcqs), &synd);
	ok(!synd && MLX5_GET(mcqs_reg, r, identifier) == 1 &&
	   MLX5_GET(mcqs_reg, r, last_index_flag), "one component, the firmware");
	MLX5_SET(mcqs_reg, mcqs, component_index, 1);
	read_reg(MCQS, mcqs, sizeof(mcqs), sizeof(mcqs), &synd);
	tap_is(synd, HCA_SYND_REGISTER_VALUE, "there is no other component");
	MLX5_SET(mcqi_reg, mcqi, info_type, VERSION);
	r = read_reg(MCQI, mcqi, sizeof(mcqi), OUT, &synd);
	r = MLX5_ADDR_OF(mcqi_reg, r, data);
	ok(!synd && MLX5_GET(mcqi_version, r, version) == (28u << 24 | 39 << 16 | 1002),
	   "its version");
	MLX5_SET(mcqi_reg, mcqi, info_type, VERSION + 1);
	read_reg(MCQI, mcqi, sizeof(mcqi), OUT, &synd);
	tap_is(synd, HCA_SYND_REGISTER_VALUE, "no other information");
	read_reg(MCQI, mcqi, sizeof(mcqi) - 4, OUT, &synd);
	tap_is(synd, HCA_SYND_INLEN, "a request that is too short");
	read_reg(MCQI, mcqi, sizeof(mcqi), OUT - 4, &synd);
	tap_is(synd, HCA_SYND_OUTLEN, "an answer that is too short");
}

static void test_commands(void)
{
	enum { CM = 1 << 16 };
	u32 a[MLX5_ST_SZ_DW(query_hca_vport_context_out)] = {};
	u32 b[MLX5_ST_SZ_DW(query_hca_vport_context_out)] = {};
	const void *ca = MLX5_ADDR_OF(query_hca_vport_context_out, a, hca_vport_context);
	const void *cb = MLX5_ADDR_OF(query_hca_vport_context_out, b, hca_vport_context);

	ok(!set_caps(2, CM) && !vport(1, a, sizeof(a)) && !vport(2, b, sizeof(b)),
	   "both ports answer");
	ok(MLX5_GET(hca_vport_context, ca, lid) != MLX5_GET(hca_vport_context, cb, lid) &&
	   MLX5_GET64(hca_vport_context, ca, port_guid) !=
	   MLX5_GET64(hca_vport_context, cb, port_guid) &&
	   MLX5_GET64(hca_vport_context, ca, node_guid) ==
	   MLX5_GET64(hca_vport_context, cb, node_guid), "two LIDs, two port GUIDs, one node");
	ok(!MLX5_GET(hca_vport_context, ca, cap_mask1) &&
	   MLX5_GET(hca_vport_context, cb, cap_mask1) == CM, "capabilities of each port");
	tap_is(vport(3, a, sizeof(a)), HCA_SYND_FUNCTION, "there is no third port");
	ok(!speed(1) && !speed(2) && speed(3) == HCA_SYND_FUNCTION,
	   "no register of a third port");
}

/* ---- Queue pairs ------------------------------------------------------------------------ */

/* Next state of a QP on @port, whose peer is on port @to of the other function */
static u32 modify(struct session_qp *q, u16 opcode, u32 port, const struct session_qp *peer, u32 to)
{
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);
	void *ads = MLX5_ADDR_OF(qpc, qpc, primary_address_path);

	MLX5_SET(rst2init_qp_in, in, opcode, opcode);
	MLX5_SET(rst2init_qp_in, in, qpn, q->qp.qp_num);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, mtu, IB_MTU_4096);
	MLX5_SET(qpc, qpc, log_msg_max, 30);
	MLX5_SET(qpc, qpc, remote_qpn, peer->qp.qp_num);
	MLX5_SET(qpc, qpc, retry_count, 2);
	MLX5_SET(qpc, qpc, rwe, 1);
	MLX5_SET(ads, ads, vhca_port_num, port);
	MLX5_SET(ads, ads, rlid, s.hca[peer->func]->port[to - 1].lid);
	MLX5_SET(ads, ads, ack_timeout, 1);
	session_cmd(&s, q->func, in, sizeof(in), out, sizeof(out));
	return synd(out);
}

/* @a on port @pa, to port @to of @b: 0 if that works */
static u32 ready(struct session_qp *a, u32 pa, struct session_qp *b, u32 to)
{
	return modify(a, MLX5_CMD_OP_RST2INIT_QP, pa, b, to) ?:
	       modify(a, MLX5_CMD_OP_INIT2RTR_QP, pa, b, to) ?:
	       modify(a, MLX5_CMD_OP_RTR2RTS_QP, pa, b, to);
}

static int write_status(struct session_qp *q, const struct session_mr *from,
			const struct session_mr *to)
{
	struct xv_sge sge = session_sge(from, 0, 4096);
	struct xv_wc wc;
	int i;

	memset(from->ptr, rand(), 4096);
	xv_wr_write(&q->qp, 1, XV_SEND_SIGNALED, &sge, to->addr, to->key);
	xv_commit_send(&q->qp);
	for (i = 0; i < 100000000; i++) {
		hca_fabric_poll(&s.fabric);
		if (xv_poll_cq(&q->cq, 1, &wc))
			return wc.status;
	}
	return -1;
}

static void test_paths(void)
{
	const u8 all = MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RW;
	struct session_mr from = session_mr(&s, 0, 4096, all), to = session_mr(&s, 1, 4096, all);
	struct session_qp a, b;
	u64 counted[2];
	u32 p, t, on;

	for (p = 1; p <= 2; p++)
		for (t = 1; t <= 2; t++)
			for (on = 1; on <= 2; on++) {
				session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &a);
				session_qp(&s, 1, MLX5_QP_ST_RC, 2, 2, &b);
				if (ready(&a, p, &b, t) || ready(&b, on, &a, p))
					ok(false, "cannot connect");
				counted[0] = s.hca[0]->port[2 - p].count.xmit_packets;
				counted[1] = s.hca[0]->port[p - 1].count.xmit_packets;
				ok(write_status(&a, &from, &to) ==
				   (on == t ? XV_WC_SUCCESS : XV_WC_RETRY_EXC_ERR) &&
				   !!memcmp(from.ptr, to.ptr, 4096) == (on != t),
				   "port %u to port %u, the peer is on port %u", p, t, on);
				ok(s.hca[0]->port[2 - p].count.xmit_packets == counted[0] &&
				   s.hca[0]->port[p - 1].count.xmit_packets - counted[1] ==
				   (on == t), "counted on its own port");
				session_qp_destroy(&a);
				session_qp_destroy(&b);
			}
}

/* A datagram to port 2 of the other function: the completion has its service level. */
static void test_service_level(void)
{
	struct session_mr from = session_mr(&s, 0, 4096, ALL_ACCESS);
	struct session_mr to = session_mr(&s, 1, 4096, ALL_ACCESS);
	struct xv_sge sge = session_sge(&from, 0, 8), room = session_sge(&to, 0, 48);
	struct xv_ah ah = { .av = { .rlid = cpu_to_be16(s.hca[1]->port[1].lid) } };
	struct session_qp a, b;
	struct xv_wc wc;
	u32 sl;

	session_qp(&s, 0, MLX5_QP_ST_UD, 2, 2, &a);
	session_qp(&s, 1, MLX5_QP_ST_UD, 2, 2, &b);
	ok(!ready(&a, 1, &a, 1) && !ready(&b, 2, &b, 2), "queue pairs for datagrams");
	for (sl = 0; sl < 16; sl += 15) {
		ah.av.rate_sl = 3 << 4 | sl;
		xv_wr_recv(&b.qp, 1, &room);
		xv_commit_recv(&b.qp);
		xv_wr_send_ud(&a.qp, 1, XV_SEND_SIGNALED, &sge, &ah, b.qp.qp_num, 0);
		xv_commit_send(&a.qp);
		session_settle(&s);
		ok(xv_poll_cq(&b.cq, 1, &wc) == 1 && !wc.status && wc.sl == sl &&
		   wc.slid == s.hca[0]->port[0].lid && wc.src_qp == a.qp.qp_num,
		   "service level %u, LID and QPN of the sender", sl);
	}
	session_qp_destroy(&a);
	session_qp_destroy(&b);
}

static void test_special(void)
{
	struct session_qp a, b;

	session_qp(&s, 0, MLX5_QP_ST_QP1, 4, 4, &a);
	session_qp(&s, 0, MLX5_QP_ST_QP1, 4, 4, &b);
	ok(!modify(&a, MLX5_CMD_OP_RST2INIT_QP, 2, &b, 1) && s.hca[0]->port[1].qp1 &&
	   !s.hca[0]->port[0].qp1, "QP1 of port 2");
	tap_is(modify(&b, MLX5_CMD_OP_RST2INIT_QP, 2, &a, 1), HCA_SYND_SPECIAL_QP,
	       "a port has only one");
	tap_is(modify(&b, MLX5_CMD_OP_RST2INIT_QP, 3, &a, 1), HCA_SYND_QP_PORT,
	       "there is no port 3");
	ok(!modify(&b, MLX5_CMD_OP_RST2INIT_QP, 1, &a, 1) && s.hca[0]->port[0].qp1,
	   "QP1 of port 1");
	session_qp_destroy(&a);
	ok(!s.hca[0]->port[1].qp1 && s.hca[0]->port[0].qp1, "one of them is destroyed");
	session_qp_destroy(&b);
}

int main(void)
{
	session_init_ib(&s, 2);
	test_version();
	test_commands();
	test_paths();
	test_service_level();
	test_special();
	session_free(&s);
	return tap_done();
}
