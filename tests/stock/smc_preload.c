// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into a program, it makes TCP sockets SMC sockets, which use RDMA if both ends can.
 * (smc_run of smc-tools, which Debian does not have, does the same.)
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif
enum { SMCPROTO_SMC, SMCPROTO_SMC6 };

int socket(int domain, int type, int protocol)
{
	int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (kind == SOCK_STREAM && (domain == AF_INET || domain == AF_INET6) &&
	    (!protocol || protocol == IPPROTO_TCP)) {
		protocol = domain == AF_INET ? SMCPROTO_SMC : SMCPROTO_SMC6;
		domain = AF_SMC;
	}
	return syscall(SYS_socket, domain, type, protocol);
}
