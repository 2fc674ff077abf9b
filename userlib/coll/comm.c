// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Communicators.
 */
#include "coll.h"

static int check(const struct xv_coll_attr *a)
{
	const uint32_t known = XV_COLL_GID_INDEX | XV_COLL_CPU_DRIVEN;

	if (!a->pd || !a->exchange)
		return xvc_error(EINVAL, "communicator: pd and exchange are needed");
	if (a->rank >= a->ranks || a->ranks > 1u << 31)
		return xvc_error(EINVAL, "communicator: rank %u of %u", a->rank, a->ranks);
	if (a->flags & ~known)
		return xvc_error(EOPNOTSUPP, "communicator: flags: unknown bit in 0x%x", a->flags);
	if (a->reserved)
		return xvc_error(EINVAL, "communicator: reserved is not zero");
	if (a->sl > 15 || a->mtu > XV_MTU_4096)
		return xvc_error(EINVAL, "communicator: sl %u, mtu %u", a->sl, a->mtu);
	if (a->timeout && (a->timeout < XVC_TIMEOUT_MIN || a->timeout > 31))
		return xvc_error(EINVAL, "communicator: timeout %u is not from %u to 31",
				 a->timeout, XVC_TIMEOUT_MIN);
	return 0;
}

/* Members that the caller does not have are 0; those that this library does not have must be 0. */
static int copy_attr(struct xv_coll *c, const struct xv_coll_attr *attr, size_t size)
{
	const char *bytes = (const char *)attr;
	size_t i;

	if (!attr)
		return xvc_error(EINVAL, "communicator: no attributes given");
	memcpy(&c->attr, attr, size < sizeof(c->attr) ? size : sizeof(c->attr));
	for (i = sizeof(c->attr); i < size; i++)
		if (bytes[i])
			return xvc_error(E2BIG, "communicator: an attribute is unknown to this "
					 "libxvcoll");
	return check(&c->attr);
}

static int query(struct xv_coll *c)
{
	struct xv_device_attr device;
	int err, index;

	err = xv_query_device(c->ctx, &device);
	if (!err)
		err = xv_query_port(c->ctx, c->attr.port, &c->port);
	if (err)
		return xvc_error(err, "%s", xv_last_error());
	if (!xvc_cpu_driven(c) && !(device.exp_device_cap_flags & XV_EXP_DEVICE_CROSS_CHANNEL))
		return xvc_error(EOPNOTSUPP, "communicator: the device has no cross-channel queues;"
				 " without them, XV_COLL_CPU_DRIVEN is needed");
	c->calc_cap = device.vector_calc_cap;
	c->mtu = c->attr.mtu && c->attr.mtu < c->port.active_mtu ? c->attr.mtu : c->port.active_mtu;
	if (!(c->attr.flags & XV_COLL_GID_INDEX)) {
		index = xv_default_gid_index(c->ctx, c->attr.port);
		if (index < 0)
			return xvc_error(index, "%s", xv_last_error());
		c->attr.gid_index = (uint32_t)index;
	}
	err = xv_query_gid(c->ctx, c->attr.port, c->attr.gid_index, &c->gid);
	return err ? xvc_error(err, "%s", xv_last_error()) : 0;
}

EXPORT struct xv_coll *xv_coll_create_sz(const struct xv_coll_attr *attr, size_t size)
{
	struct xv_coll *c = calloc(1, sizeof(*c));
	int err;

	if (!c) {
		errno = -xvc_error(ENOMEM, "communicator: out of memory");
		return NULL;
	}
	err = copy_attr(c, attr, size);
	if (!err) {
		c->ctx = c->attr.pd->context;
		if (!c->attr.port)
			c->attr.port = 1;
		err = query(c);
	}
	if (!err)
		err = xvc_exchange_create(c);
	if (err) {
		free(c);
		errno = -err;
		return NULL;
	}
	return c;
}

EXPORT int xv_coll_destroy(struct xv_coll *c)
{
	if (c->ops)
		return xvc_error(EBUSY, "communicator: it has %u operations", c->ops);
	free(c->all);
	free(c);
	return 0;
}
