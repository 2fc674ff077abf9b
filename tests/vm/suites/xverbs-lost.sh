#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Objects that cannot be destroyed because the firmware refuses: their events, and the
# removal of their device. It is the last suite of its VM, because xverbs cannot be unloaded.
. ./lib.sh
LOST=../../../build/user/tests/lost

[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug
drop_key_cache
pci=$(basename "$(readlink -f "/sys/class/infiniband/$DEV0/device")")
driver() { echo "$pci" > "/sys/bus/pci/drivers/mlx5_core/$1"; }
is_back() { test -d "/sys/class/infiniband/$DEV0"; }

again() { rmmod xverbs && load xverbs; }

# The first XRC queue pair of a device makes a domain, which stays until xverbs is unloaded.
ok "xverbs begins anew" again
# Domains that stay are no longer known to ib_core, which would report them when the device is
# removed, by the name of a module that may have been unloaded.
tap $LOST domain --device "$DEV0"
ok "the module can be unloaded" rmmod xverbs
like "and what is left can be listed" 'mlx5_0' rdma resource show
ok "the device is removed" driver unbind
ok "and comes back" driver bind
ok "with its name" wait_for 20 is_back
drop_key_cache
ports_up
ok "the module is loaded again" load xverbs

ok "each device belongs to one network namespace" rdma system set netns exclusive
ip netns add lost
ip netns attach home 1
tap $LOST cq --device "$DEV0"
tap $LOST events --device "$DEV0" --peer-device "$DEV0"
tap $LOST import --device "$DEV0"
ports_up
tap $LOST removal --device "$DEV0"
ok "the driver leaves the device with all that is left" driver unbind
refused "the module cannot be unloaded" "in use" rmmod xverbs
finish
