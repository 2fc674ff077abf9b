// SPDX-License-Identifier: GPL-2.0
/*
 * Commands about the function itself: start, stop, and what it is.
 */
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "cmd/cmd.h"

/* ---- Start and stop ------------------------------------------------------------- */

enum hca_synd hca_cmd_enable_hca(struct hca *hca, const struct hca_cmd *c)
{
	if (MLX5_GET(enable_hca_in, c->in, function_id))
		return HCA_SYND_FUNCTION;
	hca->stage = HCA_ENABLED;
	return HCA_OK;
}

enum hca_synd hca_cmd_disable_hca(struct hca *hca, const struct hca_cmd *c)
{
	if (MLX5_GET(disable_hca_in, c->in, function_id))
		return HCA_SYND_FUNCTION;
	hca_reset_to(hca, HCA_OFF);
	return HCA_OK;
}

enum hca_synd hca_cmd_init_hca(struct hca *hca, const struct hca_cmd *c)
{
	if (hca_null_mkey_create(hca))
		return HCA_SYND_NO_MEMORY;
	hca->stage = HCA_RUNNING;
	return HCA_OK;
}

/* Only the graceful stop; the capability for the forced one is not set. */
enum hca_synd hca_cmd_teardown_hca(struct hca *hca, const struct hca_cmd *c)
{
	if (MLX5_GET(teardown_hca_in, c->in, profile))
		return HCA_SYND_OPMOD;
	hca_reset_to(hca, HCA_ENABLED);
	return HCA_OK;
}

enum hca_synd hca_cmd_nop(struct hca *hca, const struct hca_cmd *c)
{
	return HCA_OK;
}

/* The answer is 0 pages: this firmware needs no memory of the host. */
enum hca_synd hca_cmd_query_pages(struct hca *hca, const struct hca_cmd *c)
{
	enum { BOOT = 1, INIT = 2, REGULAR = 3 };

	if (c->op_mod < BOOT || c->op_mod > REGULAR)
		return HCA_SYND_OPMOD;
	return HCA_OK;
}

enum hca_synd hca_cmd_manage_pages(struct hca *hca, const struct hca_cmd *c)
{
	enum { CANT_GIVE = 0, GIVE = 1, TAKE = 2 };

	if (c->op_mod > TAKE)
		return HCA_SYND_OPMOD;
	if (MLX5_GET(manage_pages_in, c->in, function_id))
		return HCA_SYND_FUNCTION;
	if (c->op_mod == GIVE && MLX5_GET(manage_pages_in, c->in, input_num_entries))
		return HCA_SYND_PAGES;
	return HCA_OK;
}

/* ---- What the function is --------------------------------------------------------- */

#define ISSI_SUPPORTED	(1u << 0 | 1u << 1)

enum hca_synd hca_cmd_query_issi(struct hca *hca, const struct hca_cmd *c)
{
	MLX5_SET(query_issi_out, c->out, current_issi, hca->issi);
	MLX5_SET(query_issi_out, c->out, supported_issi_dw0, ISSI_SUPPORTED);
	return HCA_OK;
}

enum hca_synd hca_cmd_set_issi(struct hca *hca, const struct hca_cmd *c)
{
	u16 issi = MLX5_GET(set_issi_in, c->in, current_issi);

	if (issi > 1)
		return HCA_SYND_ISSI;
	hca->issi = issi;
	return HCA_OK;
}

enum hca_synd hca_cmd_query_adapter(struct hca *hca, const struct hca_cmd *c)
{
	static const char psid[16] = "XHC0000000001";
	void *adapter = MLX5_ADDR_OF(query_adapter_out, c->out, query_adapter_struct);

	MLX5_SET(query_adapter_param_block, adapter, ieee_vendor_id, 0x02c9);
	memcpy(MLX5_ADDR_OF(query_adapter_param_block, adapter, vsd_contd_psid), psid,
	       sizeof(psid));
	return HCA_OK;
}

enum hca_synd hca_cmd_query_special_contexts(struct hca *hca, const struct hca_cmd *c)
{
	MLX5_SET(query_special_contexts_out, c->out, null_mkey, HCA_NULL_MKEY_INDEX << 8);
	return HCA_OK;
}

#undef ISSI_SUPPORTED
