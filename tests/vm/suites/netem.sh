#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two functions are on a wire that loses, doubles, damages, delays and reorders frames (netem).
# Programs connect with rdma_cm, send messages and compare the contents.
. ./lib.sh
. ./ends.sh

HERE=$ADDR0 THERE=$ADDR1
PEER=(ip netns exec peer) PEER_NAME="the other function"
export WIRE_HERE=wire0 WIRE_THERE=wire1
WIRE_PEER=(env)	# both interfaces are in this namespace

# sent: how many frames the wire has carried, both ways
sent() { awk '{ n += $1 } END { print n }' /sys/class/net/wire[01]/statistics/tx_packets; }

checked() {
	local before
	before=$(sent)
	both "$1: rping" 7174 '' "-s -a ADDRESS" "-c -a ADDRESS" rping -p 7174 -V -C 20 -S 4096
	both "$1: rstream" 7471 '64k' "-b ADDRESS" "-s ADDRESS" \
		rstream -p 7471 -T n -T v -I 3 -S 65536 -C 5
	both "$1: ucmatose" 7471 'return status 0' "" "-s ADDRESS" ucmatose -c 4 -C 10 -S 1000
	ok "$1: over the wire" [ $(($(sent) - before)) -gt 500 ]
}

ok "the ends are in two namespaces" peer_up
checked "a good wire"
for kind in "loss 0.1%" "loss 1%" "loss 10%" "duplicate 5%" "corrupt 5%" "delay 1ms" "delay 50ms" \
	    "delay 2ms 1ms" "delay 1ms reorder 5%" \
	    "loss 1% duplicate 1% corrupt 1% delay 1ms reorder 2%"; do
	impaired "$kind" checked "$kind"
done
peer_down
finish
