#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Experimental verbs (ibv_exp_*) of the RDMA Aware manual on /dev/xverbs: a program for each
# appendix, between two functions and on one.
. ./lib.sh
BIN=../../../build/exp

tap $BIN/rings
two=("$DEV0" "$(gid_index "$DEV0")" "$DEV1" "$(gid_index "$DEV1")")
for program in header attributes foreign dc umr atomics cross_channel programs; do
	TAP_LIMIT=120 tap $BIN/$program "${two[@]}"
done
diag <<< "both ends on one function"
for program in dc umr cross_channel; do
	TAP_LIMIT=120 tap $BIN/$program "${two[@]:0:2}"
done
finish
