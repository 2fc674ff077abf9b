// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "cmd/cmd.h"
#include "hostile.h"

/* ---- Setup ----------------------------------------------------------------------- */

static u32 create(struct session *s, int func, u16 uid, u16 opcode, void *in, u32 inlen)
{
	u32 out[64];

	MLX5_SET(alloc_pd_in, in, opcode, opcode);
	MLX5_SET(alloc_pd_in, in, uid, uid);
	if (session_cmd(s, func, in, inlen, out, sizeof(out))) {
		fprintf(stderr, "opcode %#x: %#x\n", opcode, be32_to_cpu(out[1]));
		exit(99);
	}
	return be32_to_cpu(out[2]) & 0xffffff;
}

static u32 create_eq(struct session *s, int func)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_eq_in) + 8) / 4] __aligned(8) = {};
	__be64 *pas = MLX5_ADDR_OF(create_eq_in, in, pas);

	MLX5_SET(create_eq_in, in, eq_context_entry.log_eq_size, 5);
	MLX5_SET(create_eq_in, in, eq_context_entry.uar_page, s->uar[func]);
	*pas = cpu_to_be64(session_alloc(s, HCA_PAGE_SIZE));
	return create(s, func, HCA_SHARED_UID, MLX5_CMD_OP_CREATE_EQ, in, sizeof(in));
}

static u32 create_umem(struct session *s, int func, const struct hostile *h)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_umem_in) + HOSTILE_PAGES * 8) / 4] __aligned(8) = {};
	void *umem = MLX5_ADDR_OF(create_umem_in, in, umem);
	__be64 *list = MLX5_ADDR_OF(umem, umem, mtt);
	unsigned int i;

	MLX5_SET64(umem, umem, num_of_mtt, HOSTILE_PAGES);
	for (i = 0; i < HOSTILE_PAGES; i++)
		list[i] = cpu_to_be64(h->memory + i * HCA_PAGE_SIZE + 3);
	return create(s, func, h->uid, MLX5_CMD_OP_CREATE_UMEM, in, sizeof(in));
}

void hostile_begin(struct session *s, int func, struct hostile *h)
{
	u32 in[MLX5_ST_SZ_DW(create_uctx_in)] = {};

	h->memory = session_alloc(s, HOSTILE_PAGES * HCA_PAGE_SIZE);
	h->eqn = create_eq(s, func);
	h->uid = create(s, func, 0, MLX5_CMD_OP_CREATE_UCTX, in, sizeof(in));
	memset(in, 0, sizeof(in));
	h->pd = create(s, func, h->uid, MLX5_CMD_OP_ALLOC_PD, in, sizeof(in));
	h->uar = create(s, func, h->uid, MLX5_CMD_OP_ALLOC_UAR, in, sizeof(in));
	h->umem = create_umem(s, func, h);
}

/* ---- The driver between the process and the adapter ------------------------------ */

static bool is_indirect(const u8 *in)
{
	const void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
	u32 mode = MLX5_GET(mkc, mkc, access_mode_1_0) | MLX5_GET(mkc, mkc, access_mode_4_2) << 2;

	return mode == MLX5R_MKEY_MODE_KLM || mode == MLX5R_MKEY_MODE_KSM;
}

bool hostile_command(const struct hostile *h, u16 opcode, u8 *in)
{
	switch (opcode) {
	case MLX5_CMD_OP_CREATE_UMEM:		/* written by the driver */
		return false;
	case MLX5_CMD_OP_CREATE_MKEY:
		if (!is_indirect(in))
			MLX5_SET(create_mkey_in, in, mkey_umem_valid, 1);
		break;
	case MLX5_CMD_OP_CREATE_CQ:
		MLX5_SET(create_cq_in, in, cq_umem_valid, 1);
		MLX5_SET(create_cq_in, in, cq_context.dbr_umem_valid, 1);
		break;
	case MLX5_CMD_OP_MODIFY_CQ:
		MLX5_SET(modify_cq_in, in, cq_umem_valid, 1);
		break;
	case MLX5_CMD_OP_CREATE_QP:
		MLX5_SET(create_qp_in, in, wq_umem_valid, 1);
		MLX5_SET(create_qp_in, in, qpc.dbr_umem_valid, 1);
		break;
	case MLX5_CMD_OP_CREATE_RMP:
		MLX5_SET(create_rmp_in, in, ctx.wq.wq_umem_valid, 1);
		MLX5_SET(create_rmp_in, in, ctx.wq.dbr_umem_valid, 1);
		break;
	}
	MLX5_SET(alloc_pd_in, in, uid, h->uid);
	return true;
}

/* ---- What must not change -------------------------------------------------------- */

static u64 mix(u64 hash, const void *data, size_t n)
{
	const u8 *p = data;
	u64 word;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	while (n--)
		hash = (hash ^ *p++) * 0x100000001b3ull;
	return hash;
}

/*
 * The answer to a query, without lists that may follow; its number is at the common place or, for
 * counter sets, in dword 7.
 */
static u64 mix_query(struct session *s, int func, u64 hash, u16 opcode, u32 number)
{
	const struct hca_opcode *op = hca_opcode_find(opcode);
	u32 in[16] = {};
	static u32 out[1024];

	MLX5_SET(alloc_pd_in, in, opcode, opcode);
	if (opcode == MLX5_CMD_OP_QUERY_Q_COUNTER)
		MLX5_SET(query_q_counter_in, in, counter_set_id, number);
	else
		in[2] = cpu_to_be32(number);
	session_cmd(s, func, in, sizeof(in), out, op->min_out);
	return mix(hash, out, op->min_out);
}

static u16 query_of_qp(const void *obj)
{
	const struct hca_qp *qp = obj;

	return qp->st == HCA_ST_SQ ? 0 : qp->st == MLX5_QP_ST_DCT ? MLX5_CMD_OP_QUERY_DCT :
	       MLX5_CMD_OP_QUERY_QP;
}

static u16 query_of_srq(const void *obj)
{
	static const u16 queries[] = {
		[HCA_SRQ] = MLX5_CMD_OP_QUERY_SRQ, [HCA_RMP] = MLX5_CMD_OP_QUERY_RMP,
		[HCA_XRC_SRQ] = MLX5_CMD_OP_QUERY_XRC_SRQ,
	};

	return queries[((const struct hca_srq *)obj)->kind];
}

static u32 users_of_domain(const void *obj)	{ return ((const struct hca_domain *)obj)->users; }
static u32 users_of_cq(const void *obj)		{ return ((const struct hca_cq *)obj)->users; }
static u32 users_of_srq(const void *obj)	{ return ((const struct hca_srq *)obj)->users; }
static u32 use_of_uar(const void *obj)
{
	const struct hca_uar *uar = obj;

	return uar->records[HCA_RECORD_QP].all.n << 16 | uar->records[HCA_RECORD_CQ].all.n << 8 |
	       uar->released;
}

/* Of each kind: what tells its state */
static const struct {
	size_t table;
	u16 query;
	u16 (*query_of)(const void *obj);
	u32 (*users_of)(const void *obj);
} kinds[] = {
#define TABLE(name)	offsetof(struct hca, name)
	{ TABLE(qps), 0, query_of_qp }, { TABLE(cqs), MLX5_CMD_OP_QUERY_CQ, NULL, users_of_cq },
	{ TABLE(srqs), 0, query_of_srq, users_of_srq }, { TABLE(eqs), MLX5_CMD_OP_QUERY_EQ },
	{ TABLE(mkeys), MLX5_CMD_OP_QUERY_MKEY }, { TABLE(umems) }, { TABLE(uctxs) },
	{ TABLE(counters), MLX5_CMD_OP_QUERY_Q_COUNTER },
	{ TABLE(uars_by_index), 0, NULL, use_of_uar }, { TABLE(pds), 0, NULL, users_of_domain },
	{ TABLE(xrcds), 0, NULL, users_of_domain }, { TABLE(tds), 0, NULL, users_of_domain },
};

static u64 mix_object(struct session *s, int func, u64 hash, unsigned int kind, u32 number,
		      const void *obj)
{
	u16 query = kinds[kind].query_of ? kinds[kind].query_of(obj) : kinds[kind].query;
	u32 users = kinds[kind].users_of ? kinds[kind].users_of(obj) : 0;

	hash = mix(hash, &number, sizeof(number));
	hash = mix(hash, &users, sizeof(users));
	return query ? mix_query(s, func, hash, query, number) : hash;
}

u64 hostile_others(struct session *s, int func, const struct hostile *h)
{
	const struct hca_table *t;
	u64 hash = 0;
	u32 number;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		t = (void *)((u8 *)s->hca[func] + kinds[i].table);
		for (number = t->first; number < t->used_end; number++)
			if (hca_table_get(t, number) &&
			    (!h || hca_table_uid(t, number) != h->uid))
				hash = mix_object(s, func, hash, i, number,
						  hca_table_get(t, number));
	}
	return mix(hash, &s->hca[func]->port[0].count, sizeof(s->hca[func]->port[0].count));
}

/* ---- What it may use ------------------------------------------------------------- */

static bool is_own(struct session *s, const struct hostile *h, const void *p)
{
	u8 *begin = session_ptr(s, h->memory);

	return !p || ((u8 *)p >= begin && (u8 *)p < begin + HOSTILE_PAGES * HCA_PAGE_SIZE);
}

static bool are_own(struct session *s, const struct hostile *h, void **page, u32 n)
{
	while (n--)
		if (!is_own(s, h, page[n]))
			return false;
	return true;
}

static bool has_own_pages(struct session *s, const struct hostile *h, const struct hca_mkey *mkey)
{
	u32 i;

	for (i = 0; mkey->mode == MLX5R_MKEY_MODE_MTT && i < mkey->xlt.entries; i++)
		if (!is_own(s, h, *hca_mkey_page(mkey, i)))
			return false;
	return mkey->mode != MLX5R_MKEY_MODE_PA;
}

bool hostile_memory_good(struct session *s, int func, const struct hostile *h)
{
	struct hca *hca = s->hca[func];
	bool good = true;
	u32 i;

#define EACH(table, type, obj, check)							\
	for (i = hca->table.first; i < hca->table.used_end; i++) {			\
		const type *obj = hca_table_get(&hca->table, i);			\
											\
		if (obj && hca_table_uid(&hca->table, i) == h->uid)			\
			good &= check;							\
	}
	EACH(cqs, struct hca_cq, cq,
	     are_own(s, h, cq->buf.page, cq->buf.npages) && is_own(s, h, cq->dbr));
	EACH(qps, struct hca_qp, qp, !qp->rlky &&
	     are_own(s, h, qp->buf.page, qp->buf.npages) && is_own(s, h, qp->dbr));
	EACH(srqs, struct hca_srq, srq,
	     are_own(s, h, srq->buf.page, srq->buf.npages) && is_own(s, h, srq->dbr));
	EACH(mkeys, struct hca_mkey, mkey, has_own_pages(s, h, mkey));
#undef EACH
	return good;
}
