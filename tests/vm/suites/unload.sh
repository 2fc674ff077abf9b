#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The modules unload after all that the other suites did in this VM. What they
# leave behind is then referenced by nobody: on the debug kernel kmemleak, which
# looks at the end, reports it.
. ./lib.sh
! debug_kernel || LIMIT=300	# a minute for each function, more on a busy host

ok "xverbs unloads" rmmod xverbs
is "/dev/xverbs is gone" "$(ls /dev/xverbs 2>/dev/null)" ""
ok "xhca unloads" rmmod xhca
is "no device is left" "$(find /sys/class/infiniband -name 'mlx5_*' | wc -l)" 0
ok "mlx5_ib unloads" rmmod mlx5_ib
ok "mlx5_core unloads" rmmod mlx5_core
finish
