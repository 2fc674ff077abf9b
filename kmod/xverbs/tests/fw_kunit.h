/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the KUnit tests of xverbs: a firmware mock that records commands */
#ifndef XV_FW_KUNIT_H
#define XV_FW_KUNIT_H

#include <kunit/test.h>

#include "../xv.h"

/**
 * struct xv_mock_fw - firmware mock
 * @in: the last command, @inlen bytes
 * @out: its output mailbox
 * @err: result of mlx5_cmd_do()
 */
struct xv_mock_fw {
	u8 in[1024];
	size_t inlen;
	u8 out[512];
	int err;
};

extern struct xv_mock_fw xv_fw;

void xv_fw_record(const void *in, size_t inlen);

struct xv_dword {
	u32 offset;
	u32 value;
};

void xv_expect_dwords(struct kunit *test, const char *what, const void *data,
		      size_t bytes, const struct xv_dword *want, size_t n);

/* @_data must have these dwords, and zeros elsewhere.  Layouts are from the PRM. */
#define XV_EXPECT_DWORDS(_test, _what, _data, _bytes, ...) do {		\
	static const struct xv_dword want_[] = { __VA_ARGS__ };		\
									\
	xv_expect_dwords(_test, _what, _data, _bytes, want_,		\
			 ARRAY_SIZE(want_));				\
} while (0)

/* Compares length and contents of the last command. */
#define XV_EXPECT_COMMAND(_test, _what, _bytes, ...) do {		\
	KUNIT_EXPECT_EQ_MSG(_test, xv_fw.inlen, (size_t)(_bytes), _what); \
	XV_EXPECT_DWORDS(_test, _what, xv_fw.in, _bytes, __VA_ARGS__);	\
} while (0)

#endif
