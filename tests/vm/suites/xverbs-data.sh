#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs on libxverbs that check their data: bytes of the rings, all operations, errors,
# events, kinds of memory and queues, and a thread that must not make system calls.
. ./lib.sh

# A program that attaches to a group without rdma_cm does not make the interface a member.
[ -z "$VM_WIRE" ] || ip maddress add 01:00:5e:01:02:03 dev "$(interface "$DEV1")"
BIN=../../../build/user

tap $BIN/tests/dp_unit
tap $BIN/tests/dp_debug
tap $BIN/tests/layout_check
for prog in ops atomics completions cleaned errors reasons rules events async migration memory \
		indirect options transports datagrams windows resize xrc_shared xrc_mount sgid; do
	tap $BIN/tests/$prog --device "$DEV0" --peer-device "$DEV1"
done
diag <<< "both ends on one function"
tap $BIN/tests/ops --device "$DEV0" --peer-device "$DEV0"
export OPS=1000000
limit=200
! long || { OPS=10000000; limit=800; }
! debug_kernel || OPS=100000
TAP_LIMIT=$limit tap $BIN/tests/sealed --device "$DEV0" --peer-device "$DEV1"
finish
