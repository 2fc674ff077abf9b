#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections by address between two functions in different network namespaces, and from
# a function to itself: ping, and rping with validated data. The same over VLAN interfaces.
. ./lib.sh

PEER=(ip netns exec peer)

# rping_to DESCRIPTION ADDRESS SERVER-PREFIX... -- CLIENT-PREFIX... -- ARGUMENTS...
rping_to() {
	local what=$1 addr=$2 server=() client=()
	shift 2
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	while [ "$1" != -- ]; do client+=("$1"); shift; done
	shift
	PORT=$((PORT + 1))
	pair "$what" "cm_listening $PORT" '' \
		"${server[@]}" rping -s -a "$addr" -p $PORT "$@" -- \
		"${client[@]}" rping -c -a "$addr" -p $PORT "$@"
}

ok "two functions in two network namespaces" peer_up
like "ping from one to the other" ' 0% packet loss' ping -c 3 -i 0.2 $ADDR1
like "ping with large packets" ' 0% packet loss' ping -c 3 -i 0.2 -s 20000 $ADDR1
rping_to "rping: 64 bytes" $ADDR0 -- "${PEER[@]}" -- -V -C 50
rping_to "rping: 60 KiB" $ADDR0 -- "${PEER[@]}" -- -V -C 20 -S 60000
rping_to "rping: the other direction" $ADDR1 "${PEER[@]}" -- -- -V -C 50
rping_to "rping: a function to itself" $ADDR0 -- -- -V -C 50
tap ../../../build/stock/rdma_calls $ADDR0
ok "a VLAN interface on each" vlan_up
like "ping over the VLAN" ' 0% packet loss' ping -c 3 -i 0.2 $VLAN1
rping_to "rping over the VLAN" $VLAN0 -- "${PEER[@]}" -- -V -C 20
rping_to "rping over the VLAN: the other direction" $VLAN1 "${PEER[@]}" -- -- -V -C 20
tap ../../../build/stock/vlan "$DEV0" "$(vlan_gid)" $VLAN_ID
tap ../../../build/stock/vlan "$DEV0" "$(gid_index "$DEV0")" 0
ok "without the VLAN interfaces" vlan_down
ok "back in one namespace" peer_down
finish
