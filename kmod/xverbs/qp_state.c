// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of the state transitions of queue pairs (Manual 3.5; InfiniBand
 * specification, volume 1, 11.2.5.2) and of their attributes.
 *
 * The file uses no kernel functions, so that it can also be tested in user space.
 */
#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stddef.h>
#include <string.h>
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

#include "qp_state.h"

#define RC	(1u << XVERBS_QPT_RC)
#define UC	(1u << XVERBS_QPT_UC)
#define UD	(1u << XVERBS_QPT_UD)
#define XS	(1u << XVERBS_QPT_XRC_SEND)
#define XR	(1u << XVERBS_QPT_XRC_RECV)
#define DI		(1u << 15)	/* XVERBS_QPT_DCI, see xv_qp_type_bit() */
#define CONNECTED	(RC | UC | XS | XR)
#define ALL		(CONNECTED | UD)

#define CUR		XVERBS_QP_CUR_STATE
#define NOTIFY		XVERBS_QP_EN_SQD_ASYNC_NOTIFY
#define ACCESS		XVERBS_QP_ACCESS_FLAGS
#define PKEY		XVERBS_QP_PKEY_INDEX
#define PORT		XVERBS_QP_PORT
#define QKEY		XVERBS_QP_QKEY
#define AV		XVERBS_QP_AV
#define MTU		XVERBS_QP_PATH_MTU
#define TIMEOUT		XVERBS_QP_TIMEOUT
#define RETRY		XVERBS_QP_RETRY_CNT
#define RNR_RETRY	XVERBS_QP_RNR_RETRY
#define RQ_PSN		XVERBS_QP_RQ_PSN
#define RD_ATOMIC	XVERBS_QP_MAX_QP_RD_ATOMIC
#define ALT		XVERBS_QP_ALT_PATH
#define RNR_TIMER	XVERBS_QP_MIN_RNR_TIMER
#define SQ_PSN		XVERBS_QP_SQ_PSN
#define DEST_RD_ATOMIC	XVERBS_QP_MAX_DEST_RD_ATOMIC
#define MIG		XVERBS_QP_PATH_MIG_STATE
#define DEST_QPN	XVERBS_QP_DEST_QPN
#define DC_KEY		XVERBS_QP_DC_KEY
#define ECE		XVERBS_QP_ECE

#define RESET		XVERBS_QPS_RESET
#define INIT		XVERBS_QPS_INIT
#define RTR		XVERBS_QPS_RTR
#define RTS		XVERBS_QPS_RTS
#define SQD		XVERBS_QPS_SQD
#define SQE		XVERBS_QPS_SQE
#define ERR		XVERBS_QPS_ERR
#define ANY_STATE	0xff

struct xv_qp_rule {
	__u8 from;
	__u8 to;
	__u16 types;
	__u32 required;
	__u32 optional;
};

static const struct xv_qp_rule xv_qp_rules[] = {
	{ ANY_STATE, RESET, ALL | DI, 0, 0 },
	{ ANY_STATE, ERR, ALL | DI, 0, 0 },

	{ RESET, INIT, CONNECTED, PKEY | PORT | ACCESS, 0 },
	{ RESET, INIT, UD, PKEY | PORT | QKEY, 0 },
	{ INIT, INIT, CONNECTED, 0, PKEY | PORT | ACCESS },
	{ INIT, INIT, UD, 0, PKEY | PORT | QKEY },

	{ INIT, RTR, RC | XR,
	  AV | MTU | DEST_QPN | RQ_PSN | DEST_RD_ATOMIC | RNR_TIMER,
	  ALT | ACCESS | PKEY },
	{ INIT, RTR, UC | XS, AV | MTU | DEST_QPN | RQ_PSN,
	  ALT | ACCESS | PKEY },
	{ INIT, RTR, UD, 0, PKEY | QKEY },

	{ RTR, RTS, RC | XS,
	  TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD_ATOMIC,
	  CUR | ALT | ACCESS | RNR_TIMER | MIG },
	{ RTR, RTS, XR, TIMEOUT | SQ_PSN,
	  CUR | ALT | ACCESS | RNR_TIMER | MIG },
	{ RTR, RTS, UC, SQ_PSN, CUR | ALT | ACCESS | MIG },
	{ RTR, RTS, UD, SQ_PSN, CUR | QKEY },

	{ RTS, RTS, RC | XS | XR, 0,
	  CUR | ACCESS | RNR_TIMER | ALT | MIG },
	{ RTS, RTS, UC, 0, CUR | ACCESS | ALT | MIG },
	{ RTS, RTS, UD, 0, CUR | QKEY },

	{ RTS, SQD, ALL, 0, NOTIFY },
	{ SQD, RTS, RC | XS | XR, 0,
	  CUR | ALT | ACCESS | RNR_TIMER | MIG },
	{ SQD, RTS, UC, 0, CUR | ALT | ACCESS | MIG },
	{ SQD, RTS, UD, 0, CUR | QKEY },
	{ SQD, SQD, RC | XS, 0,
	  PORT | AV | TIMEOUT | RETRY | RNR_RETRY | RD_ATOMIC |
	  DEST_RD_ATOMIC | ALT | ACCESS | PKEY | RNR_TIMER | MIG },
	{ SQD, SQD, XR, 0,
	  PORT | AV | TIMEOUT | DEST_RD_ATOMIC | ALT | ACCESS | PKEY |
	  RNR_TIMER | MIG },
	{ SQD, SQD, UC, 0, AV | ALT | ACCESS | PKEY | MIG },
	{ SQD, SQD, UD, 0, PKEY | QKEY },

	{ SQE, RTS, UC, 0, CUR | ACCESS },
	{ SQE, RTS, UD, 0, CUR | QKEY },

	/*
	 * The manual (A.1.7) and mlx5_ib have different rules for DCIs.  Required is what
	 * both require, and allowed is what one of them allows, except paths that would
	 * have no effect: each request has its own.
	 */
	{ RESET, INIT, DI, PKEY | PORT, ACCESS | DC_KEY },
	{ INIT, INIT, DI, 0, PKEY | PORT | ACCESS },
	{ INIT, RTR, DI, MTU, AV | PKEY | DC_KEY },
	{ RTR, RTS, DI, TIMEOUT | RETRY | RNR_RETRY | RD_ATOMIC,
	  SQ_PSN | RNR_TIMER },
	{ RTS, RTS, DI, 0, RNR_TIMER },
};

/* Bit of a type in xv_qp_rule.types, 0 if the type is unknown */
static __u32 xv_qp_type_bit(__u32 type)
{
	if (type == XVERBS_QPT_DCI)
		return DI;
	return type < 15 ? ALL & 1u << type : 0;
}

_Bool xv_qp_negotiates(__u32 from, __u32 to)
{
	return from <= RTS && to >= INIT && to <= RTS;
}

_Bool xv_qp_transition(__u32 type, __u32 from, __u32 to, __u32 mask,
		       struct xv_qp_verdict *verdict)
{
	const struct xv_qp_rule *rule;
	__u32 optional;
	size_t i;

	/* The adapter can change these states itself, so software may not know the state. */
	if (mask & CUR && from != RTR && from != RTS && from != SQD &&
	    from != SQE)
		return 0;
	for (i = 0; i < ARRAY_SIZE(xv_qp_rules); i++) {
		rule = &xv_qp_rules[i];
		if ((rule->from != from && rule->from != ANY_STATE) ||
		    rule->to != to || !(rule->types & xv_qp_type_bit(type)))
			continue;
		mask &= ~XVERBS_QP_STATE;
		optional = rule->optional;
		if (xv_qp_negotiates(from, to))
			optional |= ECE;
		verdict->missing = rule->required & ~mask;
		verdict->optional = optional & mask;
		verdict->forbidden = mask & ~(rule->required | optional);
		return 1;
	}
	return 0;
}

_Bool xv_qp_type_known(__u32 type)
{
	return xv_qp_type_bit(type);
}

const char *xv_qp_state_name(__u32 state)
{
	static const char *const names[] = {
		[RESET] = "RESET", [INIT] = "INIT", [RTR] = "RTR",
		[RTS] = "RTS", [SQD] = "SQD", [SQE] = "SQE",
		[ERR] = "ERR",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

struct xv_qp_attr_info {
	__u32 bit;
	const char *name;
	__u16 offset;
	__u16 size;
	__u32 min;
	__u32 max;
};

#define ATTR(_bit, _name, _min, _max)					\
	{ _bit, #_name, offsetof(struct xv_qp_attrs, qp._name),		\
	  sizeof(((struct xv_qp_attrs *)0)->qp._name), _min, _max }
#define PATH(_bit, _name)						\
	{ _bit, #_name, offsetof(struct xv_qp_attrs, _name),		\
	  sizeof(struct xverbs_ah_attr), 0, 0 }

#define PSN_MAX		0xffffffu
#define QP_ACCESS	(XVERBS_ACCESS_LOCAL_WRITE |			\
			 XVERBS_ACCESS_REMOTE_WRITE |			\
			 XVERBS_ACCESS_REMOTE_READ |			\
			 XVERBS_ACCESS_REMOTE_ATOMIC)

static const struct xv_qp_attr_info xv_qp_attr_infos[] = {
	ATTR(XVERBS_QP_STATE, qp_state, 0, ERR),
	ATTR(CUR, cur_qp_state, 0, ERR),
	ATTR(NOTIFY, en_sqd_async_notify, 0, 1),
	ATTR(ACCESS, qp_access_flags, 0, QP_ACCESS),
	ATTR(PKEY, pkey_index, 0, 0xffff),
	ATTR(PORT, port_num, 1, 0xff),
	ATTR(QKEY, qkey, 0, 0xffffffff),
	PATH(AV, ah_attr),
	ATTR(MTU, path_mtu, 1, 5),
	ATTR(TIMEOUT, timeout, 0, 31),
	ATTR(RETRY, retry_cnt, 0, 7),
	ATTR(RNR_RETRY, rnr_retry, 0, 7),
	ATTR(RQ_PSN, rq_psn, 0, PSN_MAX),
	ATTR(RD_ATOMIC, max_rd_atomic, 0, 0x80),
	PATH(ALT, alt_ah_attr),
	ATTR(ALT, alt_pkey_index, 0, 0xffff),
	ATTR(ALT, alt_port_num, 1, 0xff),
	ATTR(ALT, alt_timeout, 0, 31),
	ATTR(RNR_TIMER, min_rnr_timer, 0, 31),
	ATTR(SQ_PSN, sq_psn, 0, PSN_MAX),
	ATTR(DEST_RD_ATOMIC, max_dest_rd_atomic, 0, 0x80),
	/* Only the adapter sets ARMED. */
	ATTR(MIG, path_mig_state, 0, XVERBS_MIG_REARM),
	ATTR(DEST_QPN, dest_qp_num, 0, 0xffffff),
	/* All values are valid. */
	ATTR(DC_KEY, dct_key, 0, 0),
	ATTR(ECE, ece, 0, 0xffffffff),
};

/* The bits of @mask that are no attribute */
__u32 xv_qp_attr_unknown(__u32 mask)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(xv_qp_attr_infos); i++)
		mask &= ~xv_qp_attr_infos[i].bit;
	return mask & ~XVERBS_QP_CAP;
}

/* The name of the lowest attribute in @mask */
const char *xv_qp_attr_name(__u32 mask)
{
	__u32 bit = mask & -mask;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(xv_qp_attr_infos); i++)
		if (xv_qp_attr_infos[i].bit == bit)
			return xv_qp_attr_infos[i].name;
	return "cap";
}

static __u32 xv_qp_attr_value(const struct xv_qp_attrs *attrs,
			      const struct xv_qp_attr_info *info)
{
	const void *p = (const char *)attrs + info->offset;

	switch (info->size) {
	case 1:
		return *(const __u8 *)p;
	case 2:
		return *(const __u16 *)p;
	default:
		return *(const __u32 *)p;
	}
}

/* Returns the first attribute that is out of range; does not check addresses and keys. */
const char *xv_qp_attr_out_of_range(const struct xv_qp_attrs *attrs,
				    __u32 mask, __u32 *value)
{
	const struct xv_qp_attr_info *info;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(xv_qp_attr_infos); i++) {
		info = &xv_qp_attr_infos[i];
		if (!(mask & info->bit) || info->size > sizeof(__u32))
			continue;
		*value = xv_qp_attr_value(attrs, info);
		if (*value < info->min || *value > info->max)
			return info->name;
	}
	return NULL;
}

/* Copies the attributes in @mask. */
void xv_qp_attr_merge(struct xv_qp_attrs *to, const struct xv_qp_attrs *from,
		      __u32 mask)
{
	const struct xv_qp_attr_info *info;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(xv_qp_attr_infos); i++) {
		info = &xv_qp_attr_infos[i];
		if (mask & info->bit)
			memcpy((char *)to + info->offset,
			       (const char *)from + info->offset, info->size);
	}
}

/* The alternate path becomes the primary path; no alternate path is left. */
void xv_qp_attr_migrate(struct xv_qp_attrs *attrs)
{
	struct xverbs_qp_attr *attr = &attrs->qp;

	attrs->ah_attr = attrs->alt_ah_attr;
	attr->pkey_index = attr->alt_pkey_index;
	attr->port_num = attr->alt_port_num;
	attr->timeout = attr->alt_timeout;
	memset(&attrs->alt_ah_attr, 0, sizeof(attrs->alt_ah_attr));
	attr->alt_pkey_index = 0;
	attr->alt_port_num = 0;
	attr->alt_timeout = 0;
}
