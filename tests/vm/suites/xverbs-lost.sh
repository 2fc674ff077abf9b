#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Objects that cannot be destroyed because the firmware refuses: their events, and the
# removal of their device. It is the last suite of its VM, because xverbs cannot be unloaded.
. ./lib.sh
LOST=../../../build/user/tests/lost

[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug
drop_key_cache
ok "each device belongs to one network namespace" rdma system set netns exclusive
ip netns add lost
tap $LOST cq --device "$DEV0"
tap $LOST events --device "$DEV0" --peer-device "$DEV0"
tap $LOST removal --device "$DEV0"
refused "the module cannot be unloaded" "in use" rmmod xverbs
finish
