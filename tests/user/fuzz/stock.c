// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of libibverbs and DEVX on the same device.  Each thread has its own, because libibverbs
 * does not allow that one thread destroys what another one uses.  Protection domains are imported
 * by all threads.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>
#include "fuzz.h"

enum { PDS = 4, MRS = 4, CQS = 2, QPS = 2, OBJECTS = 4, MAILBOX = 272 };

struct stock {
	struct ibv_context *ctx;
	struct ibv_pd *pd[PDS];
	struct ibv_mr *mr[MRS];
	struct ibv_cq *cq[CQS];
	struct ibv_qp *qp[QPS];
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_obj *object[OBJECTS];
};

static struct stock_pds *pds(const struct thread *t)
{
	return &world->pds[process.index][t->index];
}

static struct ibv_context *open_device(const char *name)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = mlx5dv_open_device(list[i], &attr);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static bool allocate_pd(struct thread *t, unsigned int i)
{
	struct stock *s = t->stock;

	s->pd[i] = ibv_alloc_pd(s->ctx);
	pds(t)->handle[i] = s->pd[i] ? s->pd[i]->handle + 1 : 0;
	return s->pd[i];
}

static bool begin(struct thread *t)
{
	struct stock *s = calloc(1, sizeof(*s));
	unsigned int i;

	if (s)
		s->ctx = open_device(world->device[process.index % 2]);
	if (!s || !s->ctx) {
		free(s);
		usleep(20000);
		return false;
	}
	t->stock = s;
	memset(pds(t)->handle, 0, sizeof(pds(t)->handle));
	pds(t)->fd = s->ctx->cmd_fd;
	for (i = 0; i < PDS; i++)
		allocate_pd(t, i);
	return true;
}

/* Closes the context; what the library did not destroy ends with it. */
void stock_end(struct thread *t)
{
	struct stock *s = t->stock;
	unsigned int i;

	if (!s)
		return;
	memset(pds(t)->handle, 0, sizeof(pds(t)->handle));
	for (i = 0; i < OBJECTS; i++)
		if (s->object[i])
			mlx5dv_devx_obj_destroy(s->object[i]);
	if (s->umem)
		mlx5dv_devx_umem_dereg(s->umem);
	for (i = 0; i < QPS; i++)
		if (s->qp[i])
			ibv_destroy_qp(s->qp[i]);
	for (i = 0; i < CQS; i++)
		if (s->cq[i])
			ibv_destroy_cq(s->cq[i]);
	for (i = 0; i < MRS; i++)
		if (s->mr[i])
			ibv_dereg_mr(s->mr[i]);
	for (i = 0; i < PDS; i++)
		if (s->pd[i])
			ibv_dealloc_pd(s->pd[i]);
	ibv_close_device(s->ctx);
	free(s);
	t->stock = NULL;
}

/* ---- libibverbs ---------------------------------------------------------------------- */

static bool toggle_pd(struct thread *t)
{
	struct stock *s = t->stock;
	unsigned int i = below(t, PDS);

	if (!s->pd[i])
		return allocate_pd(t, i);
	/* It stays if it is imported or used. */
	if (ibv_dealloc_pd(s->pd[i]))
		return false;
	s->pd[i] = NULL;
	pds(t)->handle[i] = 0;
	return true;
}

static bool toggle_mr(struct thread *t)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ;
	uint8_t *at = process.arena + PAGE * below(t, ARENA / PAGE / 2);
	size_t length = draw_size(t, 1, ARENA / 2);
	struct ibv_pd *pd = t->stock->pd[below(t, PDS)];
	struct ibv_mr **mr = &t->stock->mr[below(t, MRS)];
	int err;

	if (!*mr) {
		*mr = pd ? ibv_reg_mr(pd, at, length, access) : NULL;
		return *mr;
	}
	if (pd && chance(t, 40))
		return !ibv_rereg_mr(*mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0);
	err = ibv_dereg_mr(*mr);
	if (!err)
		*mr = NULL;
	return !err;
}

static bool toggle_cq(struct thread *t)
{
	struct ibv_cq **cq = &t->stock->cq[below(t, CQS)];

	if (!*cq) {
		*cq = ibv_create_cq(t->stock->ctx, draw_size(t, 1, 500), NULL, NULL, 0);
		return *cq;
	}
	if (ibv_destroy_cq(*cq))
		return false;
	*cq = NULL;
	return true;
}

static bool toggle_qp(struct thread *t)
{
	struct ibv_pd *pd = t->stock->pd[below(t, PDS)];
	struct ibv_cq *cq = t->stock->cq[below(t, CQS)];
	struct ibv_qp **qp = &t->stock->qp[below(t, QPS)];
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1,
			 .max_recv_sge = 1 } };
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	if (!*qp) {
		*qp = pd && cq ? ibv_create_qp(pd, &init) : NULL;
		return *qp;
	}
	if ((*qp)->state == IBV_QPS_RESET && chance(t, 50))
		return !ibv_modify_qp(*qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS);
	if (ibv_destroy_qp(*qp))
		return false;
	*qp = NULL;
	return true;
}

bool action_stock(struct thread *t)
{
	static bool (*const toggle[])(struct thread *) = {
		toggle_pd, toggle_pd, toggle_mr, toggle_mr, toggle_cq, toggle_qp,
	};
	bool good;

	if (process.guest)
		return false;
	if (!t->stock)
		return begin(t);
	if (chance(t, 2)) {
		stock_end(t);
		return true;
	}
	errno = 0;
	good = toggle[below(t, ARRAY_SIZE(toggle))](t);
	if (!good && (errno == EIO || errno == ENODEV))
		stock_end(t);
	return good;
}

/* ---- DEVX ---------------------------------------------------------------------------- */

enum {
	QUERY_HCA_CAP = 0x100, CREATE_MKEY = 0x200, QUERY_MKEY = 0x201, QUERY_EQ = 0x303,
	CREATE_CQ = 0x400, QUERY_CQ = 0x402, QUERY_QP = 0x50b, CREATE_RMP = 0x90c,
	QUERY_RMP = 0x90f, CREATE_TIR = 0x900,
};

static void set(uint32_t *in, uint32_t bit, unsigned int width, uint32_t v)
{
	in[bit / 32] |= htobe32(v << (32 - bit % 32 - width));
}

/* An mkey in the UMEM, with valid members; some bits change. */
static void fill_mkey(struct thread *t, uint32_t *in)
{
	struct stock *s = t->stock;
	struct mlx5dv_pd dv = {};
	struct mlx5dv_obj obj = { .pd = { .in = s->pd[below(t, PDS)], .out = &dv } };

	if (obj.pd.in)
		mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD);
	set(in, 0, 16, CREATE_MKEY);
	set(in, 0x80 + 0x12, 4, 0xf);
	set(in, 0x80 + 0x16, 2, 1);
	set(in, 0x80 + 0x20, 24, 0xffffff);
	set(in, 0x80 + 0x68, 24, dv.pdn);
	set(in, 0x80 + 0xe0, 32, PAGE);
	set(in, 0x320, 32, s->umem->umem_id);
	if (chance(t, 40))
		in[below(t, MAILBOX / 4)] ^= htobe32(1u << below(t, 32));
}

static bool toggle_object(struct thread *t)
{
	struct mlx5dv_devx_obj **object = &t->stock->object[below(t, OBJECTS)];
	uint32_t in[MAILBOX / 4] = {}, out[4] = {};

	if (!*object) {
		fill_mkey(t, in);
		*object = mlx5dv_devx_obj_create(t->stock->ctx, in, sizeof(in), out, sizeof(out));
		return *object;
	}
	if (mlx5dv_devx_obj_destroy(*object))
		return false;
	*object = NULL;
	return true;
}

/* A query of any object of the device, most of which belong to others */
static bool query(struct thread *t)
{
	static const uint16_t opcodes[] = {
		QUERY_HCA_CAP, QUERY_MKEY, QUERY_EQ, QUERY_CQ, QUERY_QP, QUERY_RMP, CREATE_TIR,
	};
	uint32_t in[MAILBOX / 4] = {}, out[1024] = {};

	set(in, 0, 16, opcodes[below(t, ARRAY_SIZE(opcodes))]);
	set(in, 0x48, 24, below(t, 300));
	mlx5dv_devx_general_cmd(t->stock->ctx, in, 16 + 4 * below(t, 60), out, sizeof(out));
	return true;
}

bool action_devx(struct thread *t)
{
	struct stock *s = t->stock;
	bool good;

	if (process.guest)
		return false;
	if (!s)
		return begin(t);
	errno = 0;
	if (!s->umem) {
		s->umem = mlx5dv_devx_umem_reg(s->ctx, process.arena, 16 * PAGE,
					       IBV_ACCESS_LOCAL_WRITE);
		good = s->umem;
	} else {
		good = chance(t, 60) ? toggle_object(t) : query(t);
	}
	if (!good && (errno == EIO || errno == ENODEV))
		stock_end(t);
	return good;
}
