#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The adapter takes little time of the CPUs while it waits: with two CPUs, and with one.
. ./lib.sh

online() { echo "$1" > /sys/devices/system/cpu/cpu1/online; }
processor() {
	tap ../../../build/user/tests/processor --device "$DEV0" --peer-device "$DEV1"
}

ok "functions that can wait for data" use_model all
processor
ok "one CPU is left" online 0
processor
ok "both are online again" online 1
ok "a ConnectX-5 again" use_model cx5
finish
