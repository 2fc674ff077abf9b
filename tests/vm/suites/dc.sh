#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Dynamically connected transport with the unmodified driver and library: a program of ours that
# checks data and errors, and perftest.
. ./lib.sh

tap ../../../build/stock/dc "$DEV0" "$(gid_index "$DEV0")" "$DEV1" "$(gid_index "$DEV1")"
tap ../../../build/stock/dc "$DEV0" "$(gid_index "$DEV0")"

for op in send write read; do
	perf "ib_${op}_bw over DC: 64 bytes" ib_${op}_bw -c DC -s 64 -n 500
	perf "ib_${op}_bw over DC: 64 KiB" ib_${op}_bw -c DC -s 65536 -n 100
	perf "ib_${op}_lat over DC" ib_${op}_lat -c DC -s 8 -n 200
done
perf "ib_atomic_bw over DC: fetch and add" ib_atomic_bw -c DC -A FETCH_AND_ADD -n 500
perf "ib_atomic_bw over DC: compare and swap" ib_atomic_bw -c DC -A CMP_AND_SWAP -n 500
perf "ib_atomic_lat over DC" ib_atomic_lat -c DC -n 200
finish
