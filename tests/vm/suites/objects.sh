#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Objects of a function as plain libibverbs sees them: queries, resize, limits,
# failure and reuse, path migration, a thousand queue pairs, large memory.
# vm: --no-xverbs --functions 2 --link roce
# full: --functions 2 --link ib
# kernels: 6.1 6.12 newest debug
# quick: 6.1 newest
# timeout: 180
. ./lib.sh

tap ../../../build/stock/objects "$DEV0" "$(gid_index "$DEV0")"
finish
