#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libxvcm: native queue pairs on connections of rdma_cm, between two functions in different
# network namespaces. First the test programs, then each example with each kind of other end:
# the same example, a program of librdmacm, and that one started by xv_run.
. ./lib.sh

BIN=../../../build/user
XV_RUN=$BIN/bin/xv_run
STOCK=../../../build/stock
PEER=(ip netns exec peer)
GROUP=239.1.2.4
HERE=$ADDR0 THERE=$ADDR1

# program END NAME ROLE: sets CMD to the program NAME as server or client. The end is native,
# stock or xv_run.
program() {
	local end=$1 name=$2 role=$3 words
	case $end-$name-$role in
	native-multicast-server) words="$BIN/examples/cm_multicast $ADDR0 $GROUP" ;;
	native-multicast-client) words="$BIN/examples/cm_multicast -s $ADDR1 $GROUP" ;;
	native-*-server) words="$BIN/examples/cm_$name -p $PORT" ;;
	native-*-client) words="$BIN/examples/cm_$name -p $PORT $ADDR0" ;;
	*-ping-*) words="rping -${role:0:1} -a $ADDR0 -p $PORT -V -C 10" ;;
	*-multicast-server) words="$STOCK/rdma_mc -b $ADDR0 -m $GROUP" ;;
	*-multicast-client) words="$STOCK/rdma_mc -s -b $ADDR1 -m $GROUP" ;;
	*-server) words="$STOCK/rdma_$name -s -a $ADDR0 -p $PORT" ;;
	*-client) words="$STOCK/rdma_$name -a $ADDR0 -p $PORT" ;;
	esac
	[ "$end" != xv_run ] || words="$XV_RUN $words"
	read -ra CMD <<< "$words"
}

# ends NAME REGEX SERVER CLIENT: runs the program with these two ends
ends() {
	local server ready
	PORT=$((PORT + 1))
	ready="cm_listening $PORT"
	[ "$1" != multicast ] || ready=joined
	program "$3" "$1" server
	server=("${CMD[@]}")
	program "$4" "$1" client
	pair "$1: server $3, client $4" "$ready" "$2" "${server[@]}" -- "${PEER[@]}" "${CMD[@]}"
}

# all_ends NAME REGEX: each end once native with each other end, and both through xv_run
all_ends() {
	local other
	ends "$1" "$2" native native
	for other in stock xv_run; do
		ends "$1" "$2" native $other
		ends "$1" "$2" $other native
	done
	ends "$1" "$2" xv_run xv_run
}

# The core of the kernel refuses alternate paths of RoCE, so there no stock program has one.
migration() {
	if [ "$VM_LINK" = ib ]; then all_ends apm '100 rounds, migrated'; return; fi
	ends apm '100 rounds, migrated' native native
	ends apm '100 rounds, migrated' native xv_run
	ends apm '100 rounds, migrated' xv_run native
}

# The same ends over a VLAN
vlan() {
	ok "a VLAN interface on each" vlan_up
	ADDR0=$VLAN0 ADDR1=$VLAN1
	tap $BIN/tests/cm_datagrams $VLAN0 peer
	ends ping '' native native
	ends ping '' xv_run stock
	tap $XV_RUN $STOCK/vlan "$DEV0" "$(vlan_gid)" $VLAN_ID
	tap $XV_RUN $STOCK/vlan "$DEV0" "$(gid_index "$DEV0")" 0
	ADDR0=$HERE ADDR1=$THERE
	ok "without the VLAN interfaces" vlan_down
}

# The device that owns an address gets another hardware address when a bond changes its active
# slave.
address_change() {
	local dev addr=10.79.9.1 name
	dev=$(interface "$DEV0")
	modprobe bonding max_bonds=0 && modprobe dummy numdummies=0 || return
	ip link add bond9 type bond mode active-backup fail_over_mac active
	ip link add spare type dummy
	for name in "$dev" spare; do
		ip link set "$name" down
		ip link set "$name" master bond9
	done
	ip address add $addr/24 dev bond9
	ip link set bond9 up
	echo "$dev" > /sys/class/net/bond9/bonding/active_slave
	ok "the address of a bond over two devices" wait_for 10 has_gid "$DEV0" $addr
	tap $BIN/tests/cm change $addr "echo spare > /sys/class/net/bond9/bonding/active_slave"
	ip link delete bond9
	ip link delete spare
	ports_up
}

ok "two functions in two network namespaces" namespaces_up
tap $BIN/tests/cm $ADDR0 peer
tap $BIN/tests/cm_datagrams $ADDR0 peer
[ "$VM_LINK" != ib ] || ok "the link is up again" wait_for 10 ipoib_carrier
all_ends ping ''
all_ends srq '320 messages over 4 connections'
all_ends multicast '(sent|received) 10 datagrams'
migration
[ "$VM_LINK" = ib ] || vlan
ok "back in one namespace" namespaces_down
if [ "$VM_LINK" != ib ]; then
	tap $BIN/tests/cm "${HOME_ADDR%/*}"
	tap $BIN/tests/cm_datagrams "${HOME_ADDR%/*}"
	address_change
fi
finish
