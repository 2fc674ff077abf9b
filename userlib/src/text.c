// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Names of constants for messages.
 */
#include "internal.h"

static const char *pick(const char *const *names, size_t count, unsigned int i)
{
	return i < count && names[i] ? names[i] : "unknown";
}

XV_EXPORT const char *xv_wc_status_str(enum xv_wc_status status)
{
	static const char *const names[] = {
		[XV_WC_SUCCESS]			= "success",
		[XV_WC_LOC_LEN_ERR]		= "local length error",
		[XV_WC_LOC_QP_OP_ERR]		= "local QP operation error",
		[XV_WC_LOC_EEC_OP_ERR]		= "local EE context operation error",
		[XV_WC_LOC_PROT_ERR]		= "local protection error",
		[XV_WC_WR_FLUSH_ERR]		= "work request flushed",
		[XV_WC_MW_BIND_ERR]		= "memory window bind error",
		[XV_WC_BAD_RESP_ERR]		= "bad response",
		[XV_WC_LOC_ACCESS_ERR]		= "local access error",
		[XV_WC_REM_INV_REQ_ERR]		= "remote invalid request",
		[XV_WC_REM_ACCESS_ERR]		= "remote access error",
		[XV_WC_REM_OP_ERR]		= "remote operation error",
		[XV_WC_RETRY_EXC_ERR]		= "transport retries exceeded",
		[XV_WC_RNR_RETRY_EXC_ERR]	= "receiver-not-ready retries exceeded",
		[XV_WC_LOC_RDD_VIOL_ERR]	= "local RDD violation",
		[XV_WC_REM_INV_RD_REQ_ERR]	= "remote invalid RD request",
		[XV_WC_REM_ABORT_ERR]		= "aborted by the remote side",
		[XV_WC_INV_EECN_ERR]		= "invalid EE context number",
		[XV_WC_INV_EEC_STATE_ERR]	= "invalid EE context state",
		[XV_WC_FATAL_ERR]		= "fatal error",
		[XV_WC_RESP_TIMEOUT_ERR]	= "response timeout",
		[XV_WC_GENERAL_ERR]		= "general error",
	};

	return pick(names, ARRAY_SIZE(names), status);
}

XV_EXPORT const char *xv_wc_opcode_str(enum xv_wc_opcode opcode)
{
	static const char *const names[] = {
		[XV_WC_SEND]			= "SEND",
		[XV_WC_RDMA_WRITE]		= "RDMA_WRITE",
		[XV_WC_RDMA_READ]		= "RDMA_READ",
		[XV_WC_COMP_SWAP]		= "COMP_SWAP",
		[XV_WC_FETCH_ADD]		= "FETCH_ADD",
		[XV_WC_BIND_MW]			= "BIND_MW",
		[XV_WC_LOCAL_INV]		= "LOCAL_INV",
		[XV_WC_MASKED_COMP_SWAP]	= "MASKED_COMP_SWAP",
		[XV_WC_MASKED_FETCH_ADD]	= "MASKED_FETCH_ADD",
		[XV_WC_RECV]			= "RECV",
		[XV_WC_RECV_RDMA_WITH_IMM]	= "RECV_RDMA_WITH_IMM",
		[XV_WC_DRIVER1]			= "DRIVER1",
		[XV_WC_DRIVER2]			= "DRIVER2",
	};

	return pick(names, ARRAY_SIZE(names), opcode);
}

XV_EXPORT const char *xv_port_state_str(enum xv_port_state state)
{
	static const char *const names[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER",
	};

	return pick(names, ARRAY_SIZE(names), state);
}

XV_EXPORT const char *xv_node_type_str(enum xv_node_type type)
{
	static const char *const names[] = {
		[XV_NODE_CA]		= "InfiniBand channel adapter",
		[XV_NODE_SWITCH]	= "InfiniBand switch",
		[XV_NODE_ROUTER]	= "InfiniBand router",
		[XV_NODE_RNIC]		= "iWARP NIC",
		[XV_NODE_USNIC]		= "usNIC",
		[XV_NODE_USNIC_UDP]	= "usNIC UDP",
		[XV_NODE_UNSPECIFIED]	= "unspecified",
	};

	return pick(names, ARRAY_SIZE(names), (unsigned int)type);
}

XV_EXPORT const char *xv_qp_state_str(enum xv_qp_state state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return pick(names, ARRAY_SIZE(names), state);
}

XV_EXPORT const char *xv_qp_type_str(enum xv_qp_type type)
{
	static const char *const names[] = {
		[XV_QPT_RC] = "RC", [XV_QPT_UC] = "UC", [XV_QPT_UD] = "UD",
		[XV_QPT_XRC_SEND] = "XRC_SEND", [XV_QPT_XRC_RECV] = "XRC_RECV",
		[XV_QPT_DCI] = "DCI",
	};

	return pick(names, ARRAY_SIZE(names), type);
}

XV_EXPORT const char *xv_event_type_str(enum xv_event_type type)
{
	static const char *const names[] = {
		"CQ error", "QP fatal error", "QP request error", "QP access error",
		"communication established", "send queue drained", "path migrated",
		"path migration failed", "device fatal error", "port active", "port error",
		"LID change", "P_Key change", "SM change", "SRQ error", "SRQ limit reached",
		"last WQE reached", "client reregister", "GID change", "WQ fatal error",
		[XV_EVENT_DCT_KEY_VIOLATION] = "DCT key violation",
		[XV_EVENT_DCT_ACCESS_ERR] = "DCT access error",
		[XV_EVENT_DCT_REQ_ERR] = "DCT request error",
	};

	return pick(names, ARRAY_SIZE(names), type);
}

XV_EXPORT const char *xv_version(void)
{
	return XV_VERSION;
}

XV_EXPORT uint32_t xv_version_num(void)
{
	return XV_VERSION_NUM;
}
