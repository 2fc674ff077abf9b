#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Calls that wait for memory which nobody provides do not delay the removal of their
# device. Removal is a move to another network namespace.
. ./lib.sh

ok "devices belong to one network namespace each" rdma system set netns exclusive
ip netns attach home $$
ip netns add other
tap ../../../build/user/tests/stalled --device "$DEV0"
ip netns delete other
ip netns delete home
ok "and shared between namespaces, as before" wait_for 20 rdma system set netns shared
finish
