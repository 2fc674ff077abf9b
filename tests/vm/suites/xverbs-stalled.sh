#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Calls that wait for memory that nobody provides do not delay the removal of their device;
# files are bound to a device while it is removed. Moving the device to another network
# namespace removes it for its users.
. ./lib.sh

ok "each device belongs to one network namespace" rdma system set netns exclusive
ip netns attach home $$
ip netns add other
tap ../../../build/user/tests/stalled --device "$DEV0"
tap ../../../build/user/tests/rebind --device "$DEV0"
ip netns delete other
ip netns delete home
ok "all namespaces share the devices again" wait_for 20 rdma system set netns shared
finish
