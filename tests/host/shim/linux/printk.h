/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_PRINTK_H
#define SHIM_PRINTK_H

#include <stdio.h>

#define shim_log(...)		fprintf(stderr, __VA_ARGS__)
#define pr_err			shim_log
#define pr_warn			shim_log
#define pr_info			shim_log
#define pr_debug(...)		do { if (0) shim_log(__VA_ARGS__); } while (0)
#define pr_warn_ratelimited	pr_debug
#define pr_err_ratelimited	pr_debug
#define WARN_ON_ONCE(c)		({ bool c_ = (c); if (c_) __builtin_trap(); c_; })
#define WARN_ON(c)		WARN_ON_ONCE(c)

#endif
