#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every verb with each of its firmware commands failing in turn: the error, what
# is left in the adapter, and the same for the closing of a file. Not on the debug
# kernel: an empty stock of keys has lockdep report a lock order of mlx5_ib.
. ./lib.sh

# The driver's stock of memory keys: with none, keys are made when they are
# wanted, and no command runs but the verb's.
for limit in /sys/kernel/debug/mlx5/*/mr_cache/*/limit; do
	echo 0 > "$limit"
	echo 0 > "${limit%limit}size"
done
tap ../../../build/user/tests/inject command --device "$DEV0"
finish
