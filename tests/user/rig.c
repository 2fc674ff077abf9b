// SPDX-License-Identifier: GPL-2.0
/*
 * See rig.h.
 */
#include <fcntl.h>
#include <getopt.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

static char device[2][64];

static void first_devices(void)
{
	struct xv_device **list = xv_get_device_list(NULL);
	int i, n = 0;

	if (!list)
		tap_skip_all("%s", xv_last_error());
	for (i = 0; list[i] && n < 2; i++)
		if (list[i]->available)
			strcpy(device[n++], list[i]->name);
	if (!n)
		tap_skip_all("no device is available");
	if (n == 1)
		strcpy(device[1], device[0]);
	xv_free_device_list(list);
}

void rig_devices(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 0 },
		{ "peer-device", required_argument, NULL, 1 },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	first_devices();
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c != 0 && c != 1)
			exit(2);
		snprintf(device[c], sizeof(device[c]), "%s", optarg);
	}
	diag("%s and %s", device[0], device[1]);
}

const char *rig_device(int side)
{
	return device[side];
}

int rig_node(const char *name)
{
	struct xv_device **list = xv_get_device_list(NULL);
	char path[128] = "";
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(list[i]->name, name))
			snprintf(path, sizeof(path), "/dev/infiniband/%s", list[i]->dev_name);
	xv_free_device_list(list);
	return open(path, O_RDWR | O_CLOEXEC);
}

int rig_bound_file(const char *name)
{
	struct xverbs_bind bind = {
		.hdr = { .size = sizeof(bind), .flags = XVERBS_BIND_BY_FD },
		.fd = rig_node(name),
	};
	int file = open("/dev/xverbs", O_RDWR | O_CLOEXEC), err;

	err = ioctl(file, XVERBS_BIND, &bind) ? errno : 0;
	close(bind.fd);
	if (!err)
		return file;
	close(file);
	errno = err;
	return -1;
}

const struct xv_feature *rig_feature(struct xv_context *ctx, const char *name)
{
	static struct xv_feature list[64];
	int n = xv_query_features(ctx, list, ARRAY_SIZE(list)), i;

	for (i = 0; i < n && i < (int)ARRAY_SIZE(list); i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	bail_out("there is no feature %s", name);
}

static void make_qps(struct rig *r, const struct rig_opts *o)
{
	uint32_t depth = o->depth ? o->depth : 64;
	int i;

	for (i = 0; i < 2; i++) {
		struct xv_qp_init_attr attr = {
			.send_cq = r->cq[i],
			.recv_cq = r->cq[i],
			.qp_type = XV_QPT_RC,
			.max_atomic_arg = o->atomic_arg,
			.max_inl_recv = o->inl_recv,
			.max_inl_resp = o->inl_resp,
			.cap = {
				.max_send_wr = depth,
				.max_recv_wr = depth,
				.max_send_sge = o->sge ? o->sge : 4,
				.max_recv_sge = o->sge ? o->sge : 4,
				.max_inline_data = o->inline_data ? o->inline_data : 64,
			},
		};

		r->qp[i] = xv_create_qp(r->side[i].pd, &attr);
		if (!r->qp[i])
			bail_out("%s", xv_last_error());
	}
	if (!o->unconnected &&
	    xt_connect_pair(r->qp[0], &r->side[0], r->qp[1], &r->side[1], &o->rc))
		bail_out("%s", xv_last_error());
}

void rig_open(struct rig *r, const struct rig_opts *o)
{
	const unsigned int all = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				 XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC;
	uint32_t depth = o->depth ? o->depth : 64;
	struct xv_cq_init_attr attr = {
		.cqe = o->cqe ? o->cqe : 2 * depth,
		.cqe_size = o->cqe_size,
	};
	int i;

	memset(r, 0, sizeof(*r));
	r->size = o->size ? o->size : 4 << 20;
	for (i = 0; i < 2; i++) {
		if (xt_side_open(&r->side[i], device[i], o->port[i], -1))
			bail_out("%s: %s", device[i], xv_last_error());
		r->cq[i] = xv_create_cq(r->side[i].ctx, &attr);
		r->mr[i] = xt_mr_alloc(&r->side[i], r->size, o->access ? o->access : all);
		if (!r->cq[i] || !r->mr[i])
			bail_out("%s", xv_last_error());
		r->buf[i] = r->mr[i]->addr;
	}
	make_qps(r, o);
}

void rig_reconnect(struct rig *r, const struct rig_opts *o)
{
	if (xv_destroy_qp(r->qp[0]) || xv_destroy_qp(r->qp[1]))
		bail_out("%s", xv_last_error());
	make_qps(r, o);
}

void rig_close(struct rig *r)
{
	int i, err;

	for (i = 0; i < 2; i++) {
		err = xv_destroy_qp(r->qp[i]);
		if (!err)
			err = xv_destroy_cq(r->cq[i]);
		xt_mr_free(r->mr[i]);
		if (err)
			bail_out("%s", xv_last_error());
		xt_side_close(&r->side[i]);
	}
}

int rig_poll(struct xv_cq *cq, int n, struct xv_wc *wc)
{
	double until = xt_now() + 10;
	int got = 0;

	while (got < n && xt_now() < until)
		got += xv_poll_cq(cq, n - got, wc + got);
	return got;
}

bool rig_expect(struct xv_cq *cq, uint64_t wr_id, enum xv_wc_status status)
{
	struct xv_wc wc;

	if (rig_poll(cq, 1, &wc) != 1) {
		diag("no completion, expected %s", xv_wc_status_str(status));
		return false;
	}
	if (wc.wr_id == wr_id && wc.status == status)
		return true;
	diag("wr_id %llu: %s, vendor 0x%x; expected %llu: %s", (unsigned long long)wc.wr_id,
	     xv_wc_status_str(wc.status), wc.vendor_err, (unsigned long long)wr_id,
	     xv_wc_status_str(status));
	return false;
}

uint64_t rig_addr(const struct rig *r, int side, size_t offset)
{
	return (uintptr_t)r->buf[side] + offset;
}

struct xv_qp *rig_write_to_self(struct xt_side *side, struct xv_cq *cq, struct xv_mr *mr)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct xv_sge sge = { (uintptr_t)mr->addr, 64, mr->lkey };
	struct xv_qp *qp = xv_create_qp(side->pd, &attr);
	struct xt_peer self;

	if (!qp)
		bail_out("%s", xv_last_error());
	xt_peer_of(side, qp, &self);
	if (xt_connect(qp, side, &self, NULL))
		bail_out("%s", xv_last_error());
	xv_req_notify(cq, 0);
	xv_wr_write(qp, 1, XV_SEND_SIGNALED, &sge, (uintptr_t)mr->addr + sge.length, mr->rkey);
	xv_commit_send(qp);
	return qp;
}

struct xv_sge rig_sge(const struct rig *r, int side, size_t offset, uint32_t length)
{
	return (struct xv_sge) { rig_addr(r, side, offset), length, r->mr[side]->lkey };
}

static uint8_t pattern(size_t i, uint32_t seed)
{
	uint32_t x = (uint32_t)i * 2654435761u + seed * 40503u;

	return (uint8_t)(x >> 24 ^ x >> 11);
}

void rig_fill(uint8_t *p, size_t n, uint32_t seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = pattern(i, seed);
}

static bool has_pattern(const uint8_t *p, size_t n, uint32_t seed)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (((const volatile uint8_t *)p)[i] != pattern(i, seed))
			return false;
	return true;
}

bool rig_arrives(const uint8_t *p, size_t n, uint32_t seed)
{
	int i;

	for (i = 0; i < 1000 && !has_pattern(p, n, seed); i++)
		usleep(1000);
	return rig_check(p, n, seed);
}

bool rig_check(const uint8_t *p, size_t n, uint32_t seed)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] != pattern(i, seed)) {
			diag("byte %zu of %zu: %02x, expected %02x", i, n, p[i], pattern(i, seed));
			return false;
		}
	}
	return true;
}
