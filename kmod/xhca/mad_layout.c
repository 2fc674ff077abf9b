// SPDX-License-Identifier: GPL-2.0
/* The formats of hca/sa/mad.h against those of the kernel's headers */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_smi.h>
#include "hca/sa/mad.h"

#define SAME(ours, theirs) static_assert((u32)(ours) == (u32)(theirs), #ours)
#define PLACE(a, b) SAME(offsetof(struct hca_mad, a), offsetof(struct ib_sa_mad, b))
#define CPI(a)								\
	SAME(offsetof(struct hca_class_port_info, a), offsetof(struct ib_class_port_info, a))
#define COMPONENT(ours, theirs)							\
	static_assert((ours) == be64_to_cpu((__force __be64)(IB_SA_##theirs)), #ours)

SAME(sizeof(struct hca_mad), sizeof(struct ib_sa_mad));
PLACE(mgmt_class, mad_hdr.mgmt_class);
PLACE(class_version, mad_hdr.class_version);
PLACE(method, mad_hdr.method);
PLACE(status, mad_hdr.status);
PLACE(tid, mad_hdr.tid);
PLACE(attr_id, mad_hdr.attr_id);
PLACE(attr_mod, mad_hdr.attr_mod);
PLACE(rmpp_version, rmpp_hdr.rmpp_version);
PLACE(rmpp_type, rmpp_hdr.rmpp_type);
PLACE(rmpp_flags, rmpp_hdr.rmpp_rtime_flags);
PLACE(rmpp_status, rmpp_hdr.rmpp_status);
PLACE(segment, rmpp_hdr.seg_num);
PLACE(payload, rmpp_hdr.paylen_newwin);
PLACE(sm_key, sa_hdr.sm_key);
PLACE(attr_offset, sa_hdr.attr_offset);
PLACE(comp_mask, sa_hdr.comp_mask);
PLACE(data, data);

SAME(sizeof(struct hca_smp), sizeof(struct ib_smp));
SAME(offsetof(struct hca_smp, data), offsetof(struct ib_smp, data));
SAME(HCA_SMP_DATA, IB_SMP_DATA_SIZE);
SAME(HCA_CLASS_SMP, IB_MGMT_CLASS_SUBN_LID_ROUTED);
SAME(HCA_CLASS_SMP_DIRECTED, IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE);
SAME(HCA_MAD_BAD_VALUE, IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
SAME(HCA_CLASS_PMA, IB_MGMT_CLASS_PERF_MGMT);
SAME(HCA_CLASS_SA, IB_MGMT_CLASS_SUBN_ADM);
SAME(HCA_METHOD_GET, IB_MGMT_METHOD_GET);
SAME(HCA_METHOD_SET, IB_MGMT_METHOD_SET);
SAME(HCA_METHOD_SEND, IB_MGMT_METHOD_SEND);
SAME(HCA_METHOD_TRAP, IB_MGMT_METHOD_TRAP);
SAME(HCA_METHOD_TRAP_REPRESS, IB_MGMT_METHOD_TRAP_REPRESS);
SAME(HCA_METHOD_GET_TABLE, IB_SA_METHOD_GET_TABLE);
SAME(HCA_METHOD_DELETE, IB_SA_METHOD_DELETE);
SAME(HCA_MAD_BAD_VERSION, IB_MGMT_MAD_STATUS_BAD_VERSION);
SAME(HCA_MAD_BAD_ATTRIBUTE, IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
SAME(HCA_MAD_QKEY, IB_QP1_QKEY);
SAME(HCA_ATTR_PATH_RECORD, IB_SA_ATTR_PATH_REC);
SAME(HCA_ATTR_MCMEMBER_RECORD, IB_SA_ATTR_MC_MEMBER_REC);
SAME(HCA_ATTR_NODE_RECORD, IB_SA_ATTR_NODE_REC);
SAME(HCA_ATTR_PORT_INFO_RECORD, IB_SA_ATTR_PORT_INFO_REC);

SAME(HCA_RMPP_VERSION, IB_MGMT_RMPP_VERSION);
SAME(HCA_RMPP_DATA, IB_MGMT_RMPP_TYPE_DATA);
SAME(HCA_RMPP_ACK, IB_MGMT_RMPP_TYPE_ACK);
SAME(HCA_RMPP_ACTIVE, IB_MGMT_RMPP_FLAG_ACTIVE);
SAME(HCA_RMPP_FIRST, IB_MGMT_RMPP_FLAG_FIRST);
SAME(HCA_RMPP_LAST, IB_MGMT_RMPP_FLAG_LAST);
SAME(HCA_RMPP_NO_TIME, IB_MGMT_RMPP_NO_RESPTIME << 3);

SAME(sizeof(struct hca_class_port_info), sizeof(struct ib_class_port_info));
CPI(cap_mask2_resp_time);
SAME(HCA_SA_CAP2_SENDONLY_FULL, IB_SA_CAP_MASK2_SENDONLY_FULL_MEM_SUPPORT);
SAME(HCA_SELECT_GREATER, IB_SA_GT);
SAME(HCA_SELECT_LESS, IB_SA_LT);
SAME(HCA_SELECT_EQUAL, IB_SA_EQ);
SAME(HCA_SELECT_BEST, IB_SA_BEST);
SAME(HCA_SA_RATE, IB_RATE_100_GBPS);
SAME(HCA_SA_MTU, IB_MTU_4096);

SAME(sizeof(struct hca_path_record), 64);
SAME(sizeof(struct hca_mcmember_record), 52);
SAME(sizeof(struct hca_pma_counters), sizeof(struct ib_pma_portcounters));
SAME(sizeof(struct hca_pma_extended), sizeof(struct ib_pma_portcounters_ext));
SAME(sizeof(struct hca_node_info), 40);
SAME(sizeof(struct hca_node_record), 108);
SAME(sizeof(struct hca_port_info), 64);
SAME(sizeof(struct hca_port_info_record), 68);
COMPONENT(HCA_PATH_SERVICE, PATH_REC_SERVICE_ID);
COMPONENT(HCA_PATH_SGID, PATH_REC_SGID);
COMPONENT(HCA_PATH_SLID, PATH_REC_SLID);
COMPONENT(HCA_PATH_TCLASS, PATH_REC_TRAFFIC_CLASS);
COMPONENT(HCA_PATH_SL, PATH_REC_SL);
COMPONENT(HCA_MC_MGID, MCMEMBER_REC_MGID);
COMPONENT(HCA_MC_PORT_GID, MCMEMBER_REC_PORT_GID);
COMPONENT(HCA_MC_QKEY, MCMEMBER_REC_QKEY);
COMPONENT(HCA_MC_MTU_SELECTOR, MCMEMBER_REC_MTU_SELECTOR);
COMPONENT(HCA_MC_TCLASS, MCMEMBER_REC_TRAFFIC_CLASS);
COMPONENT(HCA_MC_PKEY, MCMEMBER_REC_PKEY);
COMPONENT(HCA_MC_RATE_SELECTOR, MCMEMBER_REC_RATE_SELECTOR);
COMPONENT(HCA_MC_LIFE_SELECTOR, MCMEMBER_REC_PACKET_LIFE_TIME_SELECTOR);
COMPONENT(HCA_MC_SL, MCMEMBER_REC_SL);
COMPONENT(HCA_MC_FLOW, MCMEMBER_REC_FLOW_LABEL);
COMPONENT(HCA_MC_HOP, MCMEMBER_REC_HOP_LIMIT);
COMPONENT(HCA_MC_JOIN_STATE, MCMEMBER_REC_JOIN_STATE);
COMPONENT(HCA_MC_PROXY, MCMEMBER_REC_PROXY_JOIN);
