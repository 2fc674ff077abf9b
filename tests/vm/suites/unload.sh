#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The modules are unloaded after the other suites of this VM. Then nothing refers to memory
# that they did not free: on the debug kernel, kmemleak reports it at the end.
. ./lib.sh
! debug_kernel || LIMIT=300	# a minute for each function, longer on a busy host

ok "xverbs unloads" rmmod xverbs
is "/dev/xverbs is gone" "$(ls /dev/xverbs 2>/dev/null)" ""
ok "xhca unloads" unload_xhca
is "no device is left" "$(find /sys/class/infiniband -name 'mlx5_*' | wc -l)" 0
ok "mlx5_ib unloads" rmmod mlx5_ib
ok "mlx5_core unloads" rmmod mlx5_core
finish
