// SPDX-License-Identifier: GPL-2.0
/*
 * What a completion with an error says beyond its syndrome: the codes of the vendor and of the
 * hardware, as completions of adapters had them in public records.  0: no record shows the code.
 * The records name no code for a request whose local key belongs to another protection domain;
 * here it has the vendor code of a key that does not exist, and the hardware code with which such
 * a receive request was seen.
 */
#include "data/data.h"

enum { SYNDROMES = MLX5R_SYND_REMOTE_ABORTED + 1 };

struct hca_error_code {
	u8 vendor, hw, hw_type;
};

static const struct hca_error_code request_codes[SYNDROMES] = {
	[MLX5R_SYND_LOCAL_LENGTH]	= { 0x68 },
	[MLX5R_SYND_LOCAL_QP_OP]	= { 0x68, 0x01 },
	[MLX5R_SYND_WR_FLUSH]		= { 0xf9 },
	[MLX5R_SYND_MW_BIND]		= { 0x25 },
	[MLX5R_SYND_REMOTE_INVAL_REQ]	= { 0x8a },
	[MLX5R_SYND_REMOTE_ACCESS]	= { 0x88 },
	[MLX5R_SYND_REMOTE_OP]		= { 0x89 },
	[MLX5R_SYND_RETRY_EXC]		= { 0x81 },
	[MLX5R_SYND_RNR_EXC]		= { 0x87 },
};

/* MLX5R_SYND_LOCAL_PROT of a request */
static const struct hca_error_code key_codes[] = {
	[HCA_FAULT_KEY]		= { 0x52, 0x92 },
	[HCA_FAULT_PD]		= { 0x52, 0x93 },
	[HCA_FAULT_ACCESS]	= { 0x33 },	/* was seen for the target of a READ */
	[HCA_FAULT_BOUNDS]	= { 0x53, 0x9d },
};

static const struct hca_error_code receive_codes[SYNDROMES] = {
	[MLX5R_SYND_LOCAL_QP_OP]	= { 0xd6 },
	[MLX5R_SYND_LOCAL_PROT]		= { 0x32, 0x93, 0x01 },
	[MLX5R_SYND_WR_FLUSH]		= { 0xf9 },
	[MLX5R_SYND_REMOTE_ABORTED]	= { 0x99 },
};

/* Without a completion that names a cause, the first request that is flushed has another code. */
static const struct hca_error_code first_flushed = { 0xf5 };

static void hca_error_set(struct mlx5r_err_cqe *cqe, u8 syndrome, const struct hca_error_code *c)
{
	cqe->syndrome = syndrome;
	cqe->vendor_err_synd = c->vendor;
	cqe->hw_error_syndrome = c->hw;
	cqe->hw_syndrome_type = c->hw_type;
}

void hca_error_of_request(struct hca_qp *qp, struct mlx5r_err_cqe *cqe, u8 syndrome)
{
	const struct hca_error_code *c = &request_codes[syndrome];

	if (syndrome == MLX5R_SYND_LOCAL_PROT)
		c = &key_codes[qp->hca->fabric->key_fault];
	else if (syndrome == MLX5R_SYND_WR_FLUSH && !qp->has_cause)
		c = &first_flushed;
	qp->has_cause = true;
	hca_error_set(cqe, syndrome, c);
}

void hca_error_of_receive(struct mlx5r_err_cqe *cqe, u8 syndrome)
{
	hca_error_set(cqe, syndrome, &receive_codes[syndrome]);
}
