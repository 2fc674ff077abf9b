#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The control path: rules of every ioctl, queries compared with libibverbs, states of every
# type of queue pair, queues in memory of the program.
. ./lib.sh
BIN=../../../build/user

tap $BIN/tests/uapi
tap $BIN/tests/sizes --device "$DEV0"
tap $BIN/tests/queries --device "$DEV0"
tap $BIN/tests/states
tap $BIN/tests/external
[ -e /dev/udmabuf ] || modprobe vgem
tap $BIN/tests/dmabuf --device "$DEV0" --peer-device "$DEV1"
finish
