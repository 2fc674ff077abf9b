// SPDX-License-Identifier: GPL-2.0
/*
 * The CRC-32 of packets: crc32_le(), or the "crc32" of the crypto API, which may use instructions
 * of the CPU.  The faster one is chosen by a measurement when the module is loaded (times:
 * debugfs/xhca/crc): on an emulated CPU the tables of crc32_le() may be faster.  Newer kernels have
 * no such algorithm, because their crc32_le() uses these instructions itself, and a kernel may have
 * no hashes at all.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "xhca.h"

enum {
	BYTES	= 4096,			/* of a packet with the largest path MTU */
	TURNS	= 32,
};

static struct crypto_shash *algorithm;	/* NULL: crc32_le() is used */
static u64 library_ns, crypto_ns;	/* of the measurement; 0: there was none */

static u32 crc32_library(u32 crc, const u8 *data, size_t bytes)
{
	return crc32_le(crc, data, bytes);
}

/* The state of the algorithm is the CRC; rdma_rxe relies on that, too. */
static u32 crc32_crypto(u32 crc, const u8 *data, size_t bytes)
{
	SHASH_DESC_ON_STACK(desc, algorithm);
	u32 *state = (u32 *)shash_desc_ctx(desc);

	desc->tfm = algorithm;
	*state = crc;
	crypto_shash_update(desc, data, bytes);
	return *state;
}

/* The shortest time of several turns */
static u64 measure(hca_crc32_fn *crc32, const u8 *data, u32 *result)
{
	u64 least = U64_MAX, begin;
	int i;

	for (i = 0; i < TURNS; i++) {
		begin = ktime_get_ns();
		*result = crc32(~0u, data, BYTES);
		least = min(least, ktime_get_ns() - begin);
	}
	return least;
}

static void measure_crypto(const u8 *data, u32 right)
{
	u32 result;

	algorithm = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(algorithm)) {
		algorithm = NULL;
		return;
	}
	if (crypto_shash_descsize(algorithm) == sizeof(u32)) {
		crypto_ns = measure(crc32_crypto, data, &result);
		if (crypto_ns < library_ns && result == right)
			return;
	}
	crypto_free_shash(algorithm);
	algorithm = NULL;
}

void xhca_crc_init(void)
{
	u8 *data = kmalloc(BYTES, GFP_KERNEL);
	u32 right;

	if (!data)
		return;
	memset(data, 0x5a, BYTES);
	library_ns = measure(crc32_library, data, &right);
	if (IS_REACHABLE(CONFIG_CRYPTO_HASH))
		measure_crypto(data, right);
	if (algorithm)
		hca_icrc_use(crc32_crypto);
	kfree(data);
}

void xhca_crc_show(struct seq_file *s)
{
	seq_printf(s, "bytes   %u\n", BYTES);
	seq_printf(s, "library %llu ns%s\n", library_ns, algorithm ? "" : ", used");
	if (crypto_ns)
		seq_printf(s, "crypto  %llu ns%s\n", crypto_ns, algorithm ? ", used" : "");
}

void xhca_crc_exit(void)
{
	if (IS_REACHABLE(CONFIG_CRYPTO_HASH) && algorithm)
		crypto_free_shash(algorithm);
}
