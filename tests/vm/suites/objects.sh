#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Objects of a function through plain libibverbs: queries, resize, limits, failure and
# reuse, path migration, a thousand queue pairs, large memory, options.
. ./lib.sh

tap ../../../build/stock/objects "$DEV0" "$(gid_index "$DEV0")"
tap ../../../build/stock/options "$DEV0" "$(gid_index "$DEV0")"
tap ../../../build/stock/clock "$DEV0" "$(gid_index "$DEV0")"
finish
