/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_MINMAX_H
#define SHIM_MINMAX_H

#define min(a, b)	({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b)	({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(t, a, b)	min((t)(a), (t)(b))
#define max_t(t, a, b)	max((t)(a), (t)(b))
#define clamp_t(t, v, lo, hi) min_t(t, max_t(t, v, lo), hi)
#define clamp(v, lo, hi) clamp_t(typeof(v), v, lo, hi)
#define swap(a, b)	do { typeof(a) t_ = (a); (a) = (b); (b) = t_; } while (0)

#endif
