// SPDX-License-Identifier: GPL-2.0
/* Calls that create, query, change and destroy CQs, SRQs, XRC domains and queue pairs */
#include <fcntl.h>
#include <unistd.h>
#include "compare.h"

#define COUNT(list)	(sizeof(list) / sizeof(*(list)))

/* ---- Completion queues ------------------------------------------------------------- */

static void cq_size(int cqe, int vector)
{
	struct ibv_cq *cq = PTR(ibv_create_cq(ctx, cqe, NULL, NULL, vector),
				"ibv_create_cq cqe %d vector %d", cqe, vector);

	if (!cq)
		return;
	attr("cqe %d", cq->cqe);
	also("destroy", ibv_destroy_cq(cq));
}

static void cq_ex(const char *what, struct ibv_cq_init_attr_ex a)
{
	struct ibv_cq_ex *cq = PTR(ibv_create_cq_ex(ctx, &a), "ibv_create_cq_ex %s", what);

	if (!cq)
		return;
	attr("cqe %d", cq->cqe);
	also("destroy", ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

static void cq_exs(void)
{
	struct ibv_cq_init_attr_ex a = { .cqe = 10 };
	struct ibv_parent_domain_init_attr domain = { .pd = pd };
	struct ibv_pd *parent = ibv_alloc_parent_domain(ctx, &domain);
	char what[64];
	int bit;

	cq_ex("cqe 0", (struct ibv_cq_init_attr_ex) { .cqe = 0 });
	cq_ex("cqe 1", (struct ibv_cq_init_attr_ex) { .cqe = 1 });
	cq_ex("cqe max", (struct ibv_cq_init_attr_ex) { .cqe = (uint32_t)dev.max_cqe });
	cq_ex("cqe max + 1", (struct ibv_cq_init_attr_ex) { .cqe = (uint32_t)dev.max_cqe + 1 });
	cq_ex("cqe 2^31", (struct ibv_cq_init_attr_ex) { .cqe = 1u << 31 });
	cq_ex("cqe ~0", (struct ibv_cq_init_attr_ex) { .cqe = ~0u });
	cq_ex("vector 1000", (struct ibv_cq_init_attr_ex) { .cqe = 1, .comp_vector = 1000 });
	for (bit = 0; bit < 16; bit++) {
		a.wc_flags = 1ull << bit;
		snprintf(what, sizeof(what), "wc_flags bit %d", bit);
		cq_ex(what, a);
	}
	a.wc_flags = 0;
	for (bit = 0; bit < 4; bit++) {
		a.comp_mask = 1u << bit;
		snprintf(what, sizeof(what), "comp_mask bit %d", bit);
		cq_ex(what, a);
		a.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
		a.flags = 1u << bit;
		snprintf(what, sizeof(what), "flags bit %d", bit);
		cq_ex(what, a);
		a.flags = 0;
	}
	a.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	a.parent_domain = pd;
	cq_ex("parent_domain is a domain", a);
	a.parent_domain = parent;
	cq_ex("parent_domain", a);
	INT(ibv_dealloc_pd(parent), "ibv_dealloc_pd after a CQ");
	a = (struct ibv_cq_init_attr_ex) { .comp_mask = ~0u, .wc_flags = ~0ull };
	cq_ex("cqe 0, masks ~0", a);
	a.cqe = 1;
	cq_ex("masks ~0", a);
	a.comp_mask = 0;
	cq_ex("wc_flags ~0", a);
}

static void flush(struct ibv_cq *cq, int n)
{
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_recv_wr = (uint32_t)n, .max_send_sge = 1,
				  .max_recv_sge = 1 };
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1 };
	struct ibv_qp *qp = new_qp(IBV_QPT_RC, cq, &cap);

	rc_init(qp);
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE), "to ERR");
	for (; n; n--)
		need(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
	usleep(300000);
}

static void resize(struct ibv_cq *cq, int cqe, const char *what)
{
	INT(ibv_resize_cq(cq, cqe), "ibv_resize_cq %s %d", what, cqe);
	attr("cqe %d", cq->cqe);
}

static void resizes(void)
{
	int sizes[] = { -1, 0, 1, 2, 99, 100, 127, 128, 1000, dev.max_cqe, dev.max_cqe + 1,
			1 << 24, 1 << 25, INT32_MAX };
	struct ibv_cq *cq = new_cq();
	struct ibv_wc wc[32];
	unsigned int i;

	for (i = 0; i < COUNT(sizes); i++)
		resize(cq, sizes[i], "empty");
	resize(cq, 100, "empty");
	flush(cq, 20);
	resize(cq, 10, "20 completions");
	resize(cq, 19, "20 completions");
	resize(cq, 20, "20 completions");
	resize(cq, 200, "20 completions");
	NUM(ibv_poll_cq(cq, 32, wc), "ibv_poll_cq after ibv_resize_cq");
	resize(cq, 10, "no completion");
}

static void moderation(struct ibv_cq *cq, uint32_t mask, uint16_t count, uint16_t period)
{
	struct ibv_modify_cq_attr a = { mask, { count, period } };

	INT(ibv_modify_cq(cq, &a), "ibv_modify_cq mask %x count %u period %u", mask, count,
	    period);
}

void compare_cqs(void)
{
	int sizes[] = { INT32_MIN, -1, 0, 1, 2, 3, 4, 63, 64, 100, 1000, dev.max_cqe - 1,
			dev.max_cqe, dev.max_cqe + 1, 1 << 24, INT32_MAX };
	int vectors[] = { -1, 0, 1, ctx->num_comp_vectors - 1, ctx->num_comp_vectors, 1000 };
	struct ibv_cq *cq = new_cq();
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < COUNT(sizes); i++)
		cq_size(sizes[i], 0);
	for (i = 0; i < COUNT(vectors); i++)
		cq_size(10, vectors[i]);
	NUM(ctx->num_comp_vectors, "num_comp_vectors");
	cq_exs();
	NUM(ibv_poll_cq(cq, 1, &wc), "ibv_poll_cq empty");
	NUM(ibv_poll_cq(cq, 0, &wc), "ibv_poll_cq 0");
	NUM(ibv_poll_cq(cq, -1, &wc), "ibv_poll_cq -1");
	INT(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq without channel");
	INT(ibv_req_notify_cq(cq, 1), "ibv_req_notify_cq solicited");
	INT(ibv_req_notify_cq(cq, 77), "ibv_req_notify_cq 77");
	moderation(cq, IBV_CQ_ATTR_MODERATE, 0, 0);
	moderation(cq, IBV_CQ_ATTR_MODERATE, 1, 1);
	moderation(cq, IBV_CQ_ATTR_MODERATE, 65535, 4095);
	moderation(cq, IBV_CQ_ATTR_MODERATE, 1, 4096);
	moderation(cq, IBV_CQ_ATTR_MODERATE, 1, 65535);
	moderation(cq, 0, 1, 1);
	moderation(cq, 2, 1, 1);
	moderation(cq, 3, 1, 1);
	INT(ibv_destroy_cq(cq), "ibv_destroy_cq");
	resizes();
}

/* ---- Shared receive queues ----------------------------------------------------------- */

static void fill_up(struct ibv_srq *srq, const char *what)
{
	struct ibv_recv_wr *bad = NULL, wr = { .wr_id = 1 };
	int n = 0, err;

	while (!(err = ibv_post_srq_recv(srq, &wr, &bad)) && n < 40000)
		n++;
	INT(err, "ibv_post_srq_recv until full, %s", what);
	attr("after %d bad_wr %d", n, bad == &wr);
}

static void srq_size(uint32_t wr, uint32_t sge, uint32_t limit)
{
	struct ibv_srq_init_attr a = { .attr = { wr, sge, limit } };
	struct ibv_srq *srq = PTR(ibv_create_srq(pd, &a), "ibv_create_srq wr %u sge %u limit %u",
				  wr, sge, limit);
	struct ibv_srq_attr q = { .max_wr = 0 };
	char what[64];

	if (!srq)
		return;
	attr("wr %u sge %u limit %u", a.attr.max_wr, a.attr.max_sge, a.attr.srq_limit);
	snprintf(what, sizeof(what), "wr %u sge %u limit %u", wr, sge, limit);
	also("query", ibv_query_srq(srq, &q));
	attr("sge %u limit %u", q.max_sge, q.srq_limit);
	if (wr < 20000)
		fill_up(srq, what);
	INT(ibv_destroy_srq(srq), "ibv_destroy_srq %s", what);
}

static void srq_query(void)
{
	struct ibv_srq_init_attr a = { .attr = { 15, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &a);
	struct ibv_srq_attr q;

	need(srq != NULL, "ibv_create_srq");
	INT(ibv_query_srq(srq, &q), "ibv_query_srq max_wr");
	attr("%u", q.max_wr);
	ibv_destroy_srq(srq);
}

static void srq_modify(uint32_t max_wr, uint32_t limit, int mask)
{
	struct ibv_srq_init_attr a = { .attr = { .max_wr = 15, .max_sge = 1 } };
	struct ibv_srq_attr attrs = { .max_wr = max_wr, .srq_limit = limit };
	struct ibv_srq *srq = ibv_create_srq(pd, &a);

	need(srq != NULL, "ibv_create_srq");
	INT(ibv_modify_srq(srq, &attrs, mask), "ibv_modify_srq wr %u limit %u mask %d", max_wr,
	    limit, mask);
	ibv_query_srq(srq, &attrs);
	attr("limit %u", attrs.srq_limit);
	ibv_destroy_srq(srq);
}

static void srq_ex(const char *what, struct ibv_srq_init_attr_ex a)
{
	struct ibv_srq *srq;
	uint32_t num = 0;

	if (!a.attr.max_wr)
		a.attr.max_wr = 10;
	a.attr.max_sge = 1;
	a.pd = pd;
	srq = PTR(ibv_create_srq_ex(ctx, &a), "ibv_create_srq_ex %s", what);
	if (!srq)
		return;
	attr("wr %u sge %u", a.attr.max_wr, a.attr.max_sge);
	also("number", ibv_get_srq_num(srq, &num));
	attr("%d", num != 0);
	also("destroy", ibv_destroy_srq(srq));
}

#define SRQ_EX(what, ...)	srq_ex(what, (struct ibv_srq_init_attr_ex) { __VA_ARGS__ })

static void srq_exs(void)
{
	const uint32_t p = IBV_SRQ_INIT_ATTR_PD, t = IBV_SRQ_INIT_ATTR_TYPE,
		       x = IBV_SRQ_INIT_ATTR_XRCD, c = IBV_SRQ_INIT_ATTR_CQ;
	struct ibv_xrcd_init_attr init = { .comp_mask = 3, .fd = -1, .oflags = O_CREAT };
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &init);
	struct ibv_cq *cq = new_cq();

	need(xrcd != NULL, "ibv_open_xrcd");
	SRQ_EX("PD", .comp_mask = p);
	SRQ_EX("no PD", .comp_mask = 0);
	SRQ_EX("basic", .comp_mask = p | t);
	SRQ_EX("basic, wr ~0", .comp_mask = p | t, .attr.max_wr = ~0u);
	SRQ_EX("basic with CQ", .comp_mask = p | t | c, .cq = cq);
	SRQ_EX("type 3", .comp_mask = p | t, .srq_type = 3);
	SRQ_EX("XRC without mask of type", .comp_mask = p, .srq_type = IBV_SRQT_XRC);
	SRQ_EX("XRC", .comp_mask = p | t | x | c, .srq_type = IBV_SRQT_XRC, .xrcd = xrcd, .cq = cq);
	SRQ_EX("XRC, wr ~0", .comp_mask = p | t | x | c, .srq_type = IBV_SRQT_XRC, .xrcd = xrcd,
	       .cq = cq, .attr.max_wr = ~0u);
	SRQ_EX("XRC without XRCD", .comp_mask = p | t | c, .srq_type = IBV_SRQT_XRC, .cq = cq);
	SRQ_EX("XRC without CQ", .comp_mask = p | t | x, .srq_type = IBV_SRQT_XRC, .xrcd = xrcd);
	SRQ_EX("comp_mask 64", .comp_mask = p | 64);
	INT(ibv_close_xrcd(xrcd), "ibv_close_xrcd after shared receive queues");
}

void compare_srqs(void)
{
	uint32_t wrs[] = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 100, 1000, (uint32_t)dev.max_srq_wr / 2,
			   (uint32_t)dev.max_srq_wr - 1, (uint32_t)dev.max_srq_wr,
			   (uint32_t)dev.max_srq_wr + 1, 1u << 30, 1u << 31, ~0u };
	uint32_t sges[] = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 30, 31, 32, 33, 63, 64,
			    (uint32_t)dev.max_srq_sge, (uint32_t)dev.max_srq_sge + 1, 1000, ~0u };
	unsigned int i;
	int mask;

	for (i = 0; i < COUNT(wrs); i++)
		srq_size(wrs[i], 1, 0);
	for (i = 0; i < COUNT(sges); i++)
		srq_size(10, sges[i], 0);
	srq_query();
	srq_size(10, 1, 5);
	srq_size(10, 1, 100);
	for (mask = 0; mask < 8; mask++)
		srq_modify(20, 5, mask);
	srq_modify(0, 0, IBV_SRQ_LIMIT);
	srq_modify(0, 14, IBV_SRQ_LIMIT);
	srq_modify(0, 15, IBV_SRQ_LIMIT);
	srq_modify(0, 16, IBV_SRQ_LIMIT);
	srq_modify(0, 32, IBV_SRQ_LIMIT);
	srq_modify(0, 65536, IBV_SRQ_LIMIT);
	srq_modify(0, ~0u, IBV_SRQ_LIMIT);
	srq_modify(0, 1, -1);
	srq_exs();
}

/* ---- XRC domains ------------------------------------------------------------------- */

static struct ibv_xrcd *xrcd_of(const char *what, uint32_t mask, int fd, int oflags)
{
	struct ibv_xrcd_init_attr a = { .comp_mask = mask, .fd = fd, .oflags = oflags };

	return PTR(ibv_open_xrcd(ctx, &a), "ibv_open_xrcd %s", what);
}

static void xrcd_close(struct ibv_xrcd *xrcd, const char *what)
{
	if (xrcd)
		INT(ibv_close_xrcd(xrcd), "ibv_close_xrcd %s", what);
}

static void open_qp(const char *what, struct ibv_qp_open_attr a)
{
	struct ibv_qp *qp = PTR(ibv_open_qp(ctx, &a), "ibv_open_qp %s", what);

	if (!qp)
		return;
	attr("type %d", qp->qp_type);	/* libmlx5 44 cannot destroy it */
}

static void xrc_targets(struct ibv_xrcd *xrcd)
{
	const uint32_t all = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE;
	struct ibv_qp_init_attr_ex a = { .qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd,
					 .comp_mask = IBV_QP_INIT_ATTR_XRCD };
	struct ibv_qp *qp = PTR(ibv_create_qp_ex(ctx, &a), "ibv_create_qp_ex XRC_RECV");

	need(qp != NULL, "XRC_RECV");
	attr("caps %u %u %u %u %u", a.cap.max_send_wr, a.cap.max_recv_wr, a.cap.max_send_sge,
	     a.cap.max_recv_sge, a.cap.max_inline_data);
	INT(ibv_close_xrcd(xrcd), "ibv_close_xrcd with a queue pair");
	open_qp("right", (struct ibv_qp_open_attr) { all, qp->qp_num, xrcd, NULL,
						     IBV_QPT_XRC_RECV });
	open_qp("no XRCD", (struct ibv_qp_open_attr) { all & ~IBV_QP_OPEN_ATTR_XRCD, qp->qp_num,
						       xrcd, NULL, IBV_QPT_XRC_RECV });
	open_qp("no number", (struct ibv_qp_open_attr) { all & ~IBV_QP_OPEN_ATTR_NUM, qp->qp_num,
							 xrcd, NULL, IBV_QPT_XRC_RECV });
	open_qp("no type", (struct ibv_qp_open_attr) { all & ~IBV_QP_OPEN_ATTR_TYPE, qp->qp_num,
						       xrcd, NULL, IBV_QPT_XRC_RECV });
	open_qp("type RC", (struct ibv_qp_open_attr) { all, qp->qp_num, xrcd, NULL, IBV_QPT_RC });
	open_qp("a wrong number", (struct ibv_qp_open_attr) { all, 0xfffff0, xrcd, NULL,
							      IBV_QPT_XRC_RECV });
	open_qp("comp_mask 32", (struct ibv_qp_open_attr) { all | 32, qp->qp_num, xrcd, NULL,
							    IBV_QPT_XRC_RECV });
}

void compare_xrcds(void)
{
	int file = open("/dev/shm/compare", O_RDWR | O_CREAT, 0600);
	struct ibv_xrcd *x, *y;

	xrcd_close(xrcd_of("comp_mask 0", 0, -1, O_CREAT), "comp_mask 0");
	xrcd_close(xrcd_of("comp_mask 1", 1, -1, O_CREAT), "comp_mask 1");
	xrcd_close(xrcd_of("comp_mask 7", 7, -1, O_CREAT), "comp_mask 7");
	xrcd_close(xrcd_of("fd -1, no O_CREAT", 3, -1, 0), "fd -1, no O_CREAT");
	xrcd_close(xrcd_of("fd -1, O_CREAT | O_EXCL", 3, -1, O_CREAT | O_EXCL), "O_EXCL");
	xrcd_close(xrcd_of("fd -2", 3, -2, O_CREAT), "fd -2");
	xrcd_close(xrcd_of("fd 9999", 3, 9999, O_CREAT), "fd 9999");
	xrcd_close(xrcd_of("oflags O_RDWR", 3, -1, O_CREAT | O_RDWR), "O_RDWR");
	xrcd_close(xrcd_of("a file, no O_CREAT", 3, file, 0), "a file, no O_CREAT");
	x = xrcd_of("a file", 3, file, O_CREAT);
	y = xrcd_of("a file again, O_EXCL", 3, file, O_CREAT | O_EXCL);
	xrcd_close(y, "a file again, O_EXCL");
	y = xrcd_of("a file again", 3, file, O_CREAT);
	xrcd_close(y, "a file again");
	y = xrcd_of("a file again, no O_CREAT", 3, file, 0);
	xrcd_close(y, "a file again, no O_CREAT");
	xrc_targets(x);
	close(file);
	unlink("/dev/shm/compare");
}

/* ---- Creation of queue pairs ------------------------------------------------------- */

static struct ibv_cq *cq;
static struct ibv_srq *srq;

static void caps(const struct ibv_qp_cap *c)
{
	attr("send %u x %u recv %u x %u inline %u", c->max_send_wr, c->max_send_sge,
	     c->max_recv_wr, c->max_recv_sge, c->max_inline_data);
}

static void queried(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr i = { .qp_type = 0 };
	struct ibv_qp_attr a;

	memset(&a, 0, sizeof(a));
	also("query", ibv_query_qp(qp, &a, IBV_QP_CAP | IBV_QP_STATE, &i));
	caps(&i.cap);
	caps(&a.cap);
	attr("type %d all %d cqs %d %d srq %d", i.qp_type, i.sq_sig_all, i.send_cq == cq,
	     i.recv_cq == cq, i.srq == srq);
}

static void plain_qp(const char *what, enum ibv_qp_type type, struct ibv_qp_cap cap, bool shared)
{
	struct ibv_qp_init_attr a = { .qp_type = type, .send_cq = cq, .recv_cq = cq, .cap = cap,
				      .srq = shared ? srq : NULL };
	struct ibv_qp *qp = PTR(ibv_create_qp(pd, &a), "ibv_create_qp type %d %s", type, what);

	if (!qp)
		return;
	caps(&a.cap);
	queried(qp);
	also("destroy", ibv_destroy_qp(qp));
}

/* Caps in the order send, receive, SGEs of a send, of a receive, inline data */
static void sizes(enum ibv_qp_type type)
{
	uint32_t wr = (uint32_t)dev.max_qp_wr, sge = (uint32_t)dev.max_sge;
	struct ibv_qp_cap list[] = {
		{ 0, 0, 0, 0, 0 }, { 1, 0, 0, 0, 0 }, { 0, 1, 0, 0, 0 }, { 0, 1, 0, 1, 0 },
		{ 0, 0, 1, 1, 10 }, { 1, 1, 0, 0, 0 }, { 1, 1, 1, 1, 0 }, { 2, 2, 1, 1, 0 },
		{ 3, 3, 2, 2, 0 }, { 4, 4, 3, 3, 0 }, { 5, 5, 4, 4, 0 }, { 7, 7, 5, 5, 0 },
		{ 100, 100, 1, 1, 0 }, { 1000, 1000, 4, 4, 0 }, { 10, 10, 8, 8, 0 },
		{ 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 12 }, { 1, 1, 1, 1, 13 }, { 1, 1, 1, 1, 28 },
		{ 1, 1, 1, 1, 29 }, { 1, 1, 1, 1, 44 }, { 1, 1, 1, 1, 60 }, { 1, 1, 1, 1, 64 },
		{ 1, 1, 1, 1, 100 }, { 10, 1, 1, 1, 256 }, { 10, 1, 1, 1, 400 },
		{ 10, 1, 1, 1, 700 }, { 10, 1, 1, 1, 792 }, { 10, 1, 1, 1, 812 },
		{ 10, 1, 1, 1, 850 }, { 10, 1, 1, 1, 900 }, { 10, 1, 1, 1, 950 },
		{ 10, 1, 1, 1, 1000 }, { 10, 1, 1, 1, 1100 }, { 10, 1, 1, 1, ~0u },
		{ 1, 1, 10, 1, 0 }, { 1, 1, 20, 1, 0 }, { 1, 1, sge - 1, 1, 0 },
		{ 1, 1, sge, 1, 0 }, { 1, 1, sge + 1, 1, 0 }, { 1, 1, 50, 1, 0 },
		{ 1, 1, 52, 1, 0 }, { 1, 1, 56, 1, 0 }, { 1, 1, 58, 1, 0 }, { 1, 1, 60, 1, 0 },
		{ 1, 1, 61, 1, 0 }, { 1, 1, 62, 1, 0 }, { 1, 1, 63, 1, 0 }, { 1, 1, ~0u, 1, 0 },
		{ 1, 1, 1, 10, 0 }, { 1, 1, 1, sge, 0 }, { 1, 1, 1, sge + 1, 0 },
		{ 1, 1, 1, 32, 0 }, { 1, 1, 1, 33, 0 }, { 1, 1, 1, 64, 0 }, { 1, 1, 1, 65, 0 },
		{ 1, 1, 1, ~0u, 0 }, { wr / 8, 1, 1, 1, 0 }, { wr / 4, 1, 1, 1, 0 },
		{ wr / 3, 1, 1, 1, 0 }, { wr / 2, 1, 1, 1, 0 }, { wr, 1, 1, 1, 0 },
		{ wr + 1, 1, 1, 1, 0 }, { 1u << 24, 1, 1, 1, 0 }, { ~0u, 1, 1, 1, 0 },
		{ 1, wr, 1, 1, 0 }, { 1, wr + 1, 1, 1, 0 }, { 1, ~0u, 1, 1, 0 },
		{ 16, 16, 4, 4, 220 }, { 128, 512, 1, 1, 236 },
	};
	char what[64];
	unsigned int i;

	for (i = 0; i < COUNT(list); i++) {
		snprintf(what, sizeof(what), "caps %u %u %u %u %u", list[i].max_send_wr,
			 list[i].max_recv_wr, list[i].max_send_sge, list[i].max_recv_sge,
			 list[i].max_inline_data);
		plain_qp(what, type, list[i], false);
	}
	plain_qp("SRQ", type, (struct ibv_qp_cap) { 1, 0, 1, 0, 0 }, true);
	plain_qp("SRQ and receives", type, (struct ibv_qp_cap) { 1, 10, 1, 4, 0 }, true);
	plain_qp("SRQ and too many", type, (struct ibv_qp_cap) { 1, wr + 1, 1, 4, 0 }, true);
	plain_qp("SRQ and long ones", type, (struct ibv_qp_cap) { 1, 1, 1, 1000, 0 }, true);
}

static void qp_ex(const char *what, struct ibv_qp_init_attr_ex a)
{
	struct ibv_qp *qp;

	if (!a.qp_type)
		a.qp_type = IBV_QPT_RC;
	a.send_cq = a.recv_cq = cq;
	if (!a.cap.max_send_wr)
		a.cap = (struct ibv_qp_cap) { 4, 4, 1, 1, 0 };
	if (!a.pd)
		a.pd = pd;
	qp = PTR(ibv_create_qp_ex(ctx, &a), "ibv_create_qp_ex type %d %s", a.qp_type, what);
	if (!qp)
		return;
	caps(&a.cap);
	attr("extended %d", ibv_qp_to_qp_ex(qp) != NULL);
	also("destroy", ibv_destroy_qp(qp));
}

#define QP_EX(what, ...)	qp_ex(what, (struct ibv_qp_init_attr_ex) { __VA_ARGS__ })

static void qp_masks(void)
{
	const uint32_t p = IBV_QP_INIT_ATTR_PD, f = IBV_QP_INIT_ATTR_CREATE_FLAGS,
		       o = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
						  IBV_QPT_XRC_SEND };
	char what[64];
	unsigned int i;
	int bit;

	QP_EX("no PD", .comp_mask = 0);
	QP_EX("PD", .comp_mask = p);
	QP_EX("comp_mask 128", .comp_mask = p | 128);
	QP_EX("comp_mask ~0", .comp_mask = ~0u);
	QP_EX("TSO header", .comp_mask = p | IBV_QP_INIT_ATTR_MAX_TSO_HEADER, .max_tso_header = 64);
	for (i = 0; i < COUNT(types); i++) {
		QP_EX("ops 0", .qp_type = types[i], .comp_mask = p | o);
		for (bit = 0; bit < 16; bit++) {
			snprintf(what, sizeof(what), "flags bit %d", bit);
			if (1u << bit != IBV_QP_CREATE_SOURCE_QPN)	/* of IPoIB */
				QP_EX(what, .qp_type = types[i], .comp_mask = p | f,
				      .create_flags = 1u << bit);
			snprintf(what, sizeof(what), "ops bit %d", bit);
			QP_EX(what, .qp_type = types[i], .comp_mask = p | o,
			      .send_ops_flags = 1ull << bit);
		}
		QP_EX("ops bit 40", .qp_type = types[i], .comp_mask = p | o,
		      .send_ops_flags = 1ull << 40);
	}
	QP_EX("ops without binds", .comp_mask = p | o, .send_ops_flags = 15,
	      .cap = { 10, 10, 1, 1, 0 });
	QP_EX("ops of sends, 60 SGEs", .comp_mask = p | o, .send_ops_flags = IBV_QP_EX_WITH_SEND,
	      .cap = { 10, 10, 60, 1, 0 });
	QP_EX("ops of sends, 64 SGEs", .comp_mask = p | o, .send_ops_flags = IBV_QP_EX_WITH_SEND,
	      .cap = { 10, 10, 64, 1, 0 });
	QP_EX("ops of atomics", .comp_mask = p | o,
	      .send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, .cap = { 10, 10, 2, 1, 0 });
}

void compare_qps(void)
{
	static const int types[] = { -1, 0, 1, 5, 7, IBV_QPT_XRC_RECV, 11, 100, 0xff, 0x1000 };
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct ibv_qp_cap cap = { 4, 4, 1, 1, 0 };
	unsigned int i;

	cq = new_cq();
	srq = ibv_create_srq(pd, &init);
	need(srq != NULL, "ibv_create_srq");
	for (i = 0; i < COUNT(types); i++)
		plain_qp("of this type", (enum ibv_qp_type)types[i], cap, false);
	sizes(IBV_QPT_RC);
	sizes(IBV_QPT_UC);
	sizes(IBV_QPT_UD);
	sizes(IBV_QPT_XRC_SEND);
	qp_masks();
}
