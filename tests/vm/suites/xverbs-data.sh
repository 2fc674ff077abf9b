#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libxverbs programs that check their data: ring bytes, every operation, every
# error, every event, every kind of memory and queue, and a thread that cannot
# make system calls.
. ./lib.sh
BIN=../../../build/user

tap $BIN/tests/dp_unit
tap $BIN/tests/layout_check
for prog in ops errors events async migration memory options transports xrc_shared xrc_mount sgid; do
	tap $BIN/tests/$prog --device "$DEV0" --peer-device "$DEV1"
done
diag <<< "a function with itself"
tap $BIN/tests/ops --device "$DEV0" --peer-device "$DEV0"
export OPS=10000000
! debug_kernel || OPS=100000
TAP_LIMIT=200 tap $BIN/tests/sealed --device "$DEV0" --peer-device "$DEV1"
finish
