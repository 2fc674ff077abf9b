// SPDX-License-Identifier: GPL-2.0
/*
 * What `rdma resource show` asks the kernel: dumps and single objects.
 */
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "fuzz.h"

struct request {
	struct nlmsghdr head;
	struct nlattr device;
	uint32_t index;
	struct nlattr number_head;
	uint32_t number;
};

/* Kinds of objects, and the attribute that has the number of one; 0: only dumps */
static const struct {
	uint16_t op, number;
} kinds[] = {
	{ RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PDN },
	{ RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MRN },
	{ RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQN },
	{ RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_LQPN },
	{ RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_IDN },
	{ RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTXN },
	{ RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQN },
	{ RDMA_NLDEV_CMD_RES_GET, 0 },
	{ RDMA_NLDEV_CMD_GET, 0 },
};

/* Asks and reads all answers; true if the kernel has answered without an error. */
static bool ask(uint16_t op, uint32_t device, uint16_t attr, uint32_t number)
{
	struct request r = {
		.head = { .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
			  .nlmsg_flags = NLM_F_REQUEST | (attr ? NLM_F_ACK : NLM_F_DUMP) },
		.device = { 8, RDMA_NLDEV_ATTR_DEV_INDEX }, .index = device,
		.number_head = { 8, attr }, .number = number,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	_Alignas(8) char buf[16384];
	const struct nlmsghdr *h = (const void *)buf;
	bool good = false, more = true;
	ssize_t n;

	r.head.nlmsg_len = attr ? sizeof(r) : offsetof(struct request, number_head);
	if (fd < 0 || send(fd, &r, r.head.nlmsg_len, 0) < 0)
		more = false;
	while (more) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < (ssize_t)sizeof(*h))
			break;
		for (h = (const void *)buf; NLMSG_OK(h, n) && more; h = NLMSG_NEXT(h, n)) {
			more = h->nlmsg_type != NLMSG_DONE && h->nlmsg_type != NLMSG_ERROR;
			good = h->nlmsg_type != NLMSG_ERROR;
		}
	}
	close(fd);
	return good;
}

bool action_dump(struct thread *t)
{
	unsigned int i = below(t, ARRAY_SIZE(kinds));
	uint32_t device = below(t, 3), number = below(t, 300);

	if (chance(t, 70))
		return ask(kinds[i].op, device, 0, 0);
	return ask(kinds[i].op, device, kinds[i].number, number);
}

void dump_next(void)
{
	static unsigned int next;

	ask(kinds[next % ARRAY_SIZE(kinds)].op, next / ARRAY_SIZE(kinds) % 8, 0, 0);
	next++;
}
