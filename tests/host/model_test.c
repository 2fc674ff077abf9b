// SPDX-License-Identifier: GPL-2.0
/*
 * Models: what each row of the table announces, requests that a model lacks, and the conversion
 * between time and ticks of the clock.
 */
#include <string.h>
#include "cmd/cmd.h"
#include "random.h"
#include "tap.h"
#include "xchan.h"

/* Written from public records: kmod/README.md, "Models" */
static const struct {
	const char *name;
	u16 device_id;
	const char *fw;
	u32 khz, atomic_sizes;
	bool ib, wait_on_data, wait_on_time;
} models[] = {
	{ "cx5",   0x1017, "16.35.2000", 156250,  0x3c,  true,  false, false },
	{ "cx6dx", 0x101d, "22.31.1014", 1000000, 0x3c,  false, false, false },
	{ "cx7",   0x1021, "28.39.1002", 1000000, 0x3c,  true,  true,  true },
	{ "all",   0x1021, "28.39.1002", 1000000, 0x1fc, true,  true,  true },
};

/* ---- The table ------------------------------------------------------------------------- */

static void test_names(void)
{
	const char *const unknown[] = { "", "cx", "cx4", "CX5", "cx5 ", "cx55", "All", "default" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		ok(!hca_model_find(unknown[i]), "\"%s\" is no model", unknown[i]);
	for (i = 0; i < ARRAY_SIZE(models); i++)
		ok(!!strstr(HCA_MODELS, models[i].name), "messages name %s", models[i].name);
	ok(!strcmp(HCA_DEFAULT_MODEL, "cx5"), "the default");
}

/* A page of capabilities as the driver reads it */
static const void *page(u32 type)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_cap_in)] = {};
	static u32 out[MLX5_ST_SZ_DW(query_hca_cap_out)];

	MLX5_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	MLX5_SET(query_hca_cap_in, in, op_mod, type << 1 | 1);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	return MLX5_ADDR_OF(query_hca_cap_out, out, capability);
}

static void test_caps(u32 i)
{
	const char *name = models[i].name;
	const void *cap = page(MLX5_CAP_GENERAL);
	u32 waits = be32_to_cpu(((const __be32 *)cap)[0xd0 / 4]);

	tap_is(MLX5_GET(cmd_hca_cap, cap, device_frequency_khz), models[i].khz, "%s: clock", name);
	tap_is(waits >> 20 & 1, models[i].wait_on_data, "%s: wait for data", name);
	tap_is(waits >> 19 & 1, models[i].wait_on_time, "%s: wait for a time", name);
	cap = page(MLX5_CAP_ATOMIC);
	tap_is(MLX5_GET(atomic_caps, cap, atomic_size_qp), models[i].atomic_sizes,
	       "%s: sizes of atomics", name);
	tap_is(MLX5_GET(atomic_caps, cap, atomic_size_dc), models[i].atomic_sizes,
	       "%s: sizes of atomics, DC", name);
	tap_is(s.hca[0]->p.model->device_id, models[i].device_id, "%s: device id", name);
	tap_is(s.hca[0]->p.model->infiniband, models[i].ib, "%s: InfiniBand", name);
}

static void test_firmware(u32 i)
{
	const struct mlx5_init_seg *seg = s.hca[0]->p.bar;
	u32 rev = be32_to_cpu(seg->fw_rev);
	char fw[32];

	snprintf(fw, sizeof(fw), "%u.%u.%04u", rev & 0xffff, rev >> 16,
		 be32_to_cpu(seg->cmdif_rev_fw_sub) & 0xffff);
	ok(!strcmp(fw, models[i].fw), "%s: firmware %s", models[i].name, fw);
}

/* ---- Requests -------------------------------------------------------------------------- */

static u32 wait_status(u8 opmod)
{
	struct mlx5r_wait_data d = {
		.op_inv = cpu_to_be32(MLX5R_WAIT_ALWAYS),
		.lkey = cpu_to_be32(opmod == MLX5R_WAIT_DATA ? mr[0].key : 0),
		.addr_fail = cpu_to_be64(opmod == MLX5R_WAIT_DATA ? mr[0].addr : 0),
	};
	struct pair p;
	u32 status;

	open_pair(&p, MLX5_QP_ST_RC, MASTER, 2);
	xchan_condition(&p.q, opmod, &d);
	go(&p.q);
	status = xchan_status(&p.q);
	close_pair(&p);
	return status;
}

static u32 status_of(bool has)
{
	return has ? XV_WC_SUCCESS : XV_WC_LOC_QP_OP_ERR;
}

/* Fetch and add of @bytes, with no boundary */
static u32 atomic_status(u32 bytes)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_raddr raddr;
		u8 rest[MLX5R_MAX_WQEBB * MLX5R_WQEBB];
	} w = {
		.raddr = { .addr = cpu_to_be64(mr[1].addr), .rkey = cpu_to_be32(mr[1].key) },
	};
	struct mlx5r_data to = {
		.byte_count = cpu_to_be32(bytes), .lkey = cpu_to_be32(mr[0].key),
		.addr = cpu_to_be64(mr[0].addr),
	};
	u32 args = ALIGN(2 * bytes, MLX5R_DS), status;
	struct pair p;

	w.ctrl = xchan_wqe(MLX5R_OP_ATOMIC_MASKED_FA, MLX5R_ATOMIC_EXT | (__builtin_ctz(bytes) - 2),
			   3 + args / MLX5R_DS).ctrl;
	memcpy(w.rest + args, &to, sizeof(to));
	open_pair(&p, MLX5_QP_ST_RC, 0, 6);
	xv_wr_raw(&p.q.qp, 1, &w);
	go(&p.q);
	status = xchan_status(&p.q);
	close_pair(&p);
	return status;
}

static void test_requests(u32 i)
{
	u32 bytes;

	tap_is(wait_status(MLX5R_WAIT_DATA), status_of(models[i].wait_on_data),
	       "%s: a wait for data", models[i].name);
	tap_is(wait_status(MLX5R_WAIT_TIME), status_of(models[i].wait_on_time),
	       "%s: a wait for a time", models[i].name);
	for (bytes = MLX5R_ATOMIC_MIN; bytes <= MLX5R_ATOMIC_MAX; bytes *= 2)
		tap_is(atomic_status(bytes), status_of(bytes & models[i].atomic_sizes),
		       "%s: an atomic of %u bytes", models[i].name, bytes);
}

/* The modes that MODIFY_QP takes */
static void test_modes(u32 i)
{
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)], out[MLX5_ST_SZ_DW(rst2init_qp_out)];
	u32 largest = ilog2(models[i].atomic_sizes), mode;
	struct session_qp q;

	for (mode = largest; mode <= largest + 1; mode++) {
		memset(in, 0, sizeof(in));
		session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &q);
		MLX5_SET(rst2init_qp_in, in, opcode, MLX5_CMD_OP_RST2INIT_QP);
		MLX5_SET(rst2init_qp_in, in, qpn, q.qp.qp_num);
		MLX5_SET(rst2init_qp_in, in, qpc.pm_state, MLX5_QP_PM_MIGRATED);
		MLX5_SET(rst2init_qp_in, in, qpc.primary_address_path.vhca_port_num, 1);
		MLX5_SET(rst2init_qp_in, in, qpc.atomic_mode, mode);
		session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
		tap_is(MLX5_GET(rst2init_qp_out, out, syndrome),
		       mode > largest ? HCA_SYND_QP_ATOMIC : HCA_OK, "%s: atomic mode %u",
		       models[i].name, mode);
		session_qp_destroy(&q);
		session_cq_destroy(&q);
	}
}

/* The function of the sender has all, the other one does not. */
static void test_responder(void)
{
	session_model = "all";
	xchan_init();
	s.hca[1]->p.model = hca_model_find("cx5");
	tap_is(atomic_status(32), XV_WC_SUCCESS, "to a cx5: an atomic of 32 bytes");
	tap_is(atomic_status(64), XV_WC_REM_INV_REQ_ERR, "to a cx5: an atomic of 64 bytes");
	session_free(&s);
}

/* ---- The clock ------------------------------------------------------------------------- */

static void test_clock(u32 i)
{
	const struct hca_model *m = hca_model_find(models[i].name);
	u32 n, inexact = 0, backwards = 0, late = 0, early = 0;
	u64 ns, ticks, at;

	for (n = 0; n < 100000; n++) {
		ns = random64() >> random64() % 64;
		ticks = hca_model_ticks(m, ns);
		inexact += ticks != (u64)((__uint128_t)ns * models[i].khz / 1000000);
		backwards += ns && hca_model_ticks(m, ns - 1) > ticks;
		at = hca_model_time(m, ticks);
		late += at > ns || hca_model_ticks(m, at) != ticks;
		early += at && hca_model_ticks(m, at - 1) >= ticks;
	}
	tap_is(inexact, 0, "%s: ticks of a time", m->name);
	tap_is(backwards, 0, "%s: they do not decrease", m->name);
	tap_is(late, 0, "%s: the time of ticks is not too late", m->name);
	tap_is(early, 0, "%s: nor too early", m->name);
	tap_is(hca_model_time(m, ~0ull), ~0ull, "%s: a time that does not come", m->name);
}

int main(void)
{
	u32 i;

	test_names();
	for (i = 0; i < ARRAY_SIZE(models); i++) {
		session_model = models[i].name;
		xchan_init();
		test_caps(i);
		test_firmware(i);
		test_requests(i);
		test_modes(i);
		test_clock(i);
		session_free(&s);
	}
	test_responder();
	return tap_done();
}
