// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Import of a context and a protection domain of libibverbs, by the file descriptor of
 * ib_uverbs that they use.
 */
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "internal.h"

/* sysfs has the name of the RDMA device that a file of ib_uverbs belongs to. */
static int device_of(int cmd_fd, char *name, int size)
{
	char path[64];
	struct stat st;
	FILE *f;
	int ok;

	if (fstat(cmd_fd, &st))
		return -errno;
	if (!S_ISCHR(st.st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/ibdev", major(st.st_rdev),
		 minor(st.st_rdev));
	f = fopen(path, "re");
	ok = f && fgets(name, size, f);
	if (f)
		fclose(f);
	if (!ok)
		return -EINVAL;
	name[strcspn(name, "\n")] = '\0';
	return 0;
}

XV_EXPORT struct xv_context *xv_import_ctx_v(int cmd_fd, uint32_t version)
{
	char name[sizeof(((struct xv_context *)0)->name)];
	int err = device_of(cmd_fd, name, sizeof(name));

	if (err == -EINVAL)
		return xv_set_error_null(err, "import context: fd %d is no file of ib_uverbs",
					 cmd_fd);
	if (err)
		return xv_set_error_null(err, "import context: fd %d: %s", cmd_fd, strerror(-err));
	return xv_open_v(name, version);
}

/* ---- Protection domains on the device, as netlink lists them ---------------------------- */

struct span {
	const char *p;
	size_t len;
};

static bool next_attr(struct span *s, unsigned int *type, struct span *value)
{
	struct nlattr head;
	size_t step;

	if (s->len < sizeof(head))
		return false;
	memcpy(&head, s->p, sizeof(head));
	if (head.nla_len < NLA_HDRLEN || head.nla_len > s->len)
		return false;
	*type = head.nla_type & NLA_TYPE_MASK;
	*value = (struct span) { s->p + NLA_HDRLEN, head.nla_len - NLA_HDRLEN };
	step = NLA_ALIGN(head.nla_len);
	if (step > s->len)
		step = s->len;
	s->p += step;
	s->len -= step;
	return true;
}

static bool get_u32(struct span s, unsigned int wanted, uint32_t *number)
{
	struct span value;
	unsigned int type;

	while (next_attr(&s, &type, &value)) {
		if (type != wanted || value.len != sizeof(*number))
			continue;
		memcpy(number, value.p, sizeof(*number));
		return true;
	}
	return false;
}

/* Tries the domains of a list. Returns 0, -ENOENT if it is none of them, or another error. */
static int try_list(int fd, struct xverbs_pd_import *req, struct span list)
{
	struct span entry;
	unsigned int type;
	uint32_t context;

	while (next_attr(&list, &type, &entry)) {
		/* Domains of the kernel have no context. */
		if (type != RDMA_NLDEV_ATTR_RES_PD_ENTRY ||
		    !get_u32(entry, RDMA_NLDEV_ATTR_RES_PDN, &req->number) ||
		    !get_u32(entry, RDMA_NLDEV_ATTR_RES_CTXN, &context) || !req->number)
			continue;
		if (!ioctl(fd, XVERBS_PD_IMPORT, req))
			return 0;
		if (errno != ENOENT)
			return -errno;
	}
	return -ENOENT;
}

static int try_message(int fd, struct xverbs_pd_import *req, const struct nlmsghdr *h)
{
	struct span s = { NLMSG_DATA(h), NLMSG_PAYLOAD(h, 0) }, value;
	unsigned int type;

	if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
		return -ENODATA;
	while (next_attr(&s, &type, &value))
		if (type == RDMA_NLDEV_ATTR_RES_PD)
			return try_list(fd, req, value);
	return -ENOENT;
}

static int ask_for_list(uint32_t index)
{
	struct {
		struct nlmsghdr head;
		struct nlattr attr;
		uint32_t index;
	} ask = {
		.head = { .nlmsg_len = sizeof(ask), .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
			  .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
							 RDMA_NLDEV_CMD_RES_PD_GET) },
		.attr = { NLA_HDRLEN + sizeof(ask.index), RDMA_NLDEV_ATTR_DEV_INDEX },
		.index = index,
	};
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	if (sock >= 0 && send(sock, &ask, sizeof(ask), 0) < 0) {
		close(sock);
		return -1;
	}
	return sock;
}

/*
 * Netlink reports the numbers of all domains of processes, but not their handles.  So each number
 * is tried; the kernel refuses those of other files and handles.
 */
static bool import_listed(struct xv_context *ctx, struct xverbs_pd_import *req)
{
	int sock = ask_for_list(ctx->index), err = -ENOENT;
	_Alignas(struct nlmsghdr) char buf[16384];
	const struct nlmsghdr *h;
	ssize_t n;

	req->hdr.size = sizeof(*req);
	while (err == -ENOENT && sock >= 0) {
		n = recv(sock, buf, sizeof(buf), 0);
		if (n < 0)
			break;
		for (h = (const void *)buf; err == -ENOENT && NLMSG_OK(h, (size_t)n);
		     h = NLMSG_NEXT(h, n))
			err = try_message(ctx->fd, req, h);
	}
	if (sock >= 0)
		close(sock);
	return !err;
}

/* If netlink cannot be used, or the list has changed meanwhile, the kernel searches the domain. */
static int import_pd(struct xv_context *ctx, struct xverbs_pd_import *req)
{
	int before = errno;
	bool done = import_listed(ctx, req);

	errno = before;		/* that of attempts with other domains */
	if (done)
		return 0;
	req->number = 0;
	return xv_ioctl(ctx, XVERBS_PD_IMPORT, "import PD", req, sizeof(*req));
}

XV_EXPORT struct xv_pd *xv_import_pd(struct xv_context *ctx, int cmd_fd, uint32_t handle)
{
	struct xverbs_pd_import req = { .fd = cmd_fd, .pd = handle };
	struct pd *pd = xv_object_alloc(to_ctx(ctx), sizeof(*pd), NULL, "import PD");
	int err;

	if (!pd)
		return NULL;
	err = import_pd(ctx, &req);
	if (err) {
		xv_object_free(pd);
		errno = -err;
		return NULL;
	}
	pd->pub = (struct xv_pd) {
		.context = ctx,
		.handle = req.out_handle,
		.pdn = req.out_pdn,
	};
	xv_object_add(pd, req.out_handle);
	return &pd->pub;
}
