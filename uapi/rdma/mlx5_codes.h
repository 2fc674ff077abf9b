/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * What is publicly known of the codes of mlx5 firmware and hardware: syndromes of commands, and
 * vendor codes of completions (byte 54 of a CQE with an error).  NVIDIA documents neither.  Each
 * row names where the fact comes from:
 *
 *	linux-rdma, linux-pci, netdev	a message to that list, or a commit that cites it
 *	owner/repository#number		an issue or a pull request on GitHub
 *	rdma-fault-characterization	measurements of unionxic on GitHub, with a ConnectX-5 and a
 *					ConnectX-6 and RoCE v2
 *	rdma-core, ucx			their headers
 *
 * A row says what others found in their case.  The same code may have other causes.  This is no
 * interface: the tables only grow.
 */
#ifndef MLX5_CODES_H
#define MLX5_CODES_H

/* X(syndrome, command, status, cause, what to check, source) */
#define MLX5_SYNDROMES(X) \
	X(0x7ea02d, "2RST_QP, 2ERR_QP", 0x9, "no such queue pair", \
	  "was the function reset (FLR)?", "linux-pci, January 2022") \
	X(0x25b161, "DESTROY_QP", 0x9, "no such queue pair", \
	  "was the function reset (FLR)?", "linux-pci, January 2022") \
	X(0x1870ad, "DESTROY_CQ", 0x9, "no such completion queue", \
	  "was the function reset (FLR)?", "linux-pci, January 2022") \
	X(0x15555, "DESTROY_UCTX", 0x3, "no such user context", \
	  "was the function reset (FLR)?", "linux-pci, January 2022") \
	X(0x31b635, "DEALLOC_PD", 0x9, "a memory key still uses the protection domain", \
	  "destroy memory regions and windows first", "linux-rdma, March 2021") \
	X(0xef0c8a, "DEALLOC_PD", 0x9, "a crypto object still uses the protection domain", \
	  "destroy DEK and PSP objects first", "linux-rdma") \
	X(0x65b500, "CREATE_QP", 0x5, "all queue pairs are in use", \
	  "fewer than max_qp can be created", "linux-rdma, July 2022") \
	X(0x2c4154, "CREATE_QP", 0, "no public cause", \
	  "a queue pair created by DEVX", "openucx/ucx#10451") \
	X(0x59c8a4, "CREATE_MKEY", 0x8, "no memory key is left", \
	  "count the memory regions of all processes", "public kernel logs") \
	X(0x3bf6f, "CREATE_MKEY", 0x3, "no translation entries, or length 0", \
	  "", "linux-rdma") \
	X(0x35e6ec, "CREATE_MKEY", 0x3, "a pool of signature memory keys", \
	  "", "openucx/ucx#9488") \
	X(0x177405, "RST2INIT_QP", 0x3, "invalid port", \
	  "the port number of the queue pair", "linux-rdma, May 2020") \
	X(0x4bb88f, "RTR2RTS_QP", 0x3, "retry_cnt is greater than 7", \
	  "the attributes of the queue pair", "charmplusplus/charm#2532") \
	X(0xa22b82, "CREATE_DCT", 0x3, "DC is not supported here", \
	  "is this a virtual function of a bond (LAG)?", "linux-rdma, May 2021") \
	X(0x63c66, "SET_ROCE_ADDRESS", 0x3, "the source MAC is a multicast address", \
	  "the MAC of the network interface", "linux-rdma") \
	X(0x12822d, "SET_ROCE_ADDRESS", 0x3, "RoCE v1 on a subfunction", \
	  "use RoCE v2", "linux-rdma") \
	X(0x8975f1, "ALLOC_Q_COUNTER", 0, "a user context may not have a counter set", \
	  "", "rdma-fault-characterization") \
	X(0x8fef, "CREATE_EQ", 0x3, "the driver wrote fields at wrong offsets", \
	  "the version of the driver", "linux-rdma") \
	X(0x595b5d, "CREATE_TIS", 0, "no public cause", "", "public kernel logs") \
	X(0x562b00, "CREATE_TIR", 0, "no public cause", "", "public kernel logs") \
	X(0x658908, "ENABLE_HCA", 0x9, "the subfunction is in another state", \
	  "", "public kernel logs") \
	X(0x3a3846, "QUERY_HCA_CAP", 0x3, "no public cause", "", "public kernel logs") \
	X(0x537801, "SET_HCA_CAP", 0x3, "the number of MAC addresses (max_macs)", \
	  "", "public kernel logs") \
	X(0x325a82, "QUERY_CONG_PARAMS", 0, "no public cause", "", "public kernel logs") \
	X(0x1e5585, "ACCESS_REG PPCNT", 0x3, "local_port is not 1", \
	  "", "netdev") \
	X(0x685f19, "ACCESS_REG MPIR", 0x4, "no public cause", "", "public kernel logs") \
	X(0x305684, "ACCESS_REG", 0x5, "the physical function is restricted", \
	  "is the adapter in a DPU or in a restricted mode?", "leptonai/gpud") \
	X(0xb06e1f, "ACCESS_REG", 0x5, "no public cause", "", "public kernel logs") \
	X(0x6c4d48, "ACCESS_REG", 0x3, "no public cause", "", "public kernel logs") \
	X(0xf6db90, "CREATE_GENERAL_OBJECT", 0x5, "no public cause", "", "public kernel logs") \
	X(0x88f347, "ALLOW_OTHER_VHCA_ACCESS", 0, "the function does not support it", \
	  "", "openucx/ucx#8687")

/* X(vendor code, status of the completion, cause, what to check, source) */
#define MLX5_VENDOR_CODES(X) \
	X(0x81, 12, "no answer from the peer", \
	  "is the queue pair of the peer in RTR or RTS, its process alive, the path right?", \
	  "rdma-fault-characterization; openucx/ucx#5199; NVIDIA/nccl#1405") \
	X(0x87, 13, "the peer had no receive request in time", \
	  "post receives earlier, or raise rnr_retry and min_rnr_timer", \
	  "rdma-fault-characterization") \
	X(0x88, 10, "the remote key is wrong or gone, or the range is outside of its region", \
	  "rkey, address and length; was the region deregistered?", \
	  "rdma-fault-characterization; openucx/ucx#1569") \
	X(0x89, 11, "the peer could not execute the request", \
	  "the receive request and the events of the peer", "openucx/ucx#5472") \
	X(0x8a, 9, "the queue pair of the peer lacks the right, or its receive is too short", \
	  "the access flags of the peer's queue pair; the length of its receive requests", \
	  "rdma-fault-characterization; openucx/ucx#1770") \
	X(0x52, 4, "the local key does not exist", \
	  "lkey; was the region deregistered?", "rdma-fault-characterization; openucx/ucx#6414") \
	X(0x53, 4, "a segment is longer than its region", \
	  "address and length of the segments", \
	  "rdma-fault-characterization; Juniper/warp17#81") \
	X(0x33, 4, "the region of a READ has no right of local write", \
	  "the access flags of the region", "rdma-fault-characterization") \
	X(0x51, 4, "reading memory through PCIe failed", \
	  "memory of a GPU: is it still there, and can peers reach it?", \
	  "linux-rdma/perftest#173; openucx/ucx#7774") \
	X(0x56, 4, "the IOMMU refused the receive buffer", \
	  "the kernel log: page faults of the IOMMU", "linux-rdma, February 2022") \
	X(0x32, 4, "the receive buffer belongs to another protection domain", \
	  "lkey of the receive request", "linux-rdma") \
	X(0x68, 2, "the work request is malformed", \
	  "opcode and segments; do two CPUs write to one ring?", "openucx/ucx#3618") \
	X(0x68, 1, "the length of the work request is wrong", \
	  "", "linux-rdma") \
	X(0xd6, 2, "the receive request is malformed", "", "openucx/ucx#11444") \
	X(0x25, 6, "binding a memory window failed", \
	  "is the region allowed to have windows (MW_BIND)?", "linux-rdma") \
	X(0x78, 6, "changing a memory key (UMR) failed", \
	  "seen with on-demand paging", "linux-rdma, January 2025") \
	X(0xf5, 5, "flushed: software moved the queue pair to the error state", \
	  "who called ibv_modify_qp()?", "rdma-fault-characterization") \
	X(0xf9, 5, "flushed: the queue pair was in the error state", \
	  "the completion with the cause comes first", \
	  "rdma-fault-characterization; NVIDIA/nccl#1353") \
	X(0xf4, 5, "flushed: a receive request", \
	  "the completion with the cause comes first", "public logs of NCCL") \
	X(0x93, 16, "a page fault of on-demand paging aborted the request: no error", \
	  "nothing: it is repeated", "rdma-core; ucx") \
	X(0x99, 16, "the message of a shared receive request was aborted: no error", \
	  "nothing: the entry is free again", "ucx")

#endif
