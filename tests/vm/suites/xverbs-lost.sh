#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Objects that cannot be destroyed because firmware refuses: events of theirs,
# removal of their device. A VM of its own, for xverbs cannot be unloaded then.
. ./lib.sh
LOST=../../../build/user/tests/lost

[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug
drop_key_cache
ok "devices belong to one network namespace each" rdma system set netns exclusive
ip netns add lost
tap $LOST events --device "$DEV0" --peer-device "$DEV0"
tap $LOST removal --device "$DEV0"
refused "the module cannot be unloaded" "in use" rmmod xverbs
finish
