#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The subnet administrator of InfiniBand ports: the IPoIB driver of the kernel and programs of
# rdma_cm between two functions, each with its interface in a network namespace of its own.
. ./lib.sh

PEER=(ip netns exec peer)
FILE=/dev/shm/file

# The peer listens on TCP port 7000.
# shellcheck disable=SC2317 # called by wait_for
peer_listens() { "${PEER[@]}" grep -Eqs ":1B58 0+:0000 0A" /proc/net/tcp /proc/net/tcp6; }

# A stream of FILE over TCP arrives unchanged.
tcp() {
	local pid
	"${PEER[@]}" busybox nc -l -p 7000 > $FILE.copy &
	pid=$!
	wait_for 10 peer_listens || return
	cat $FILE > /dev/tcp/$ADDR1/7000 && wait $pid && cmp $FILE $FILE.copy
}

ok "IPoIB interfaces in two network namespaces" ipoib_up
# The file exists if the kernel has the other mode, connected.
mode=datagram
[ ! -e /sys/class/net/ib0/mode ] || mode=$(< /sys/class/net/ib0/mode)
is "datagrams of 4092 bytes" "$mode $(< /sys/class/net/ib0/mtu)" "datagram 4092"
like "ping" ' 0% packet loss' ping -c 3 -i 0.2 $ADDR1
like "ping with large packets" ' 0% packet loss' ping -c 3 -i 0.2 -s 20000 $ADDR1
head -c 2M /dev/urandom > $FILE
ok "TCP: 2 MiB arrive unchanged" tcp

meanwhile pair "mckey: multicast" joined 'return status 0' \
	stdbuf -oL mckey -m 239.1.2.3 -b $ADDR0 -C 10 -- \
	"${PEER[@]}" mckey -s -m 239.1.2.3 -b $ADDR1 -C 10
pair "rping: 60 KiB" "cm_listening 7174" '' \
	rping -s -a $ADDR0 -p 7174 -V -C 20 -S 60000 -- \
	"${PEER[@]}" rping -c -a $ADDR0 -p 7174 -V -C 20 -S 60000
pair "ucmatose" "cm_listening 7471" 'return status 0' \
	ucmatose -c 2 -C 20 -S 1000 -- "${PEER[@]}" ucmatose -s $ADDR0 -c 2 -C 20 -S 1000
pair "udaddy" "cm_listening 7174" 'return status 0' \
	udaddy -C 20 -S 1000 -- "${PEER[@]}" udaddy -s $ADDR0 -C 20 -S 1000
STAYS=1 pair "cmtime" "cm_listening 7471" 'connect' \
	cmtime -c 10 -p 7471 -- "${PEER[@]}" cmtime -s $ADDR0 -c 10 -p 7471
join

# Programs of infiniband-diags
ports=$((VM_FUNCTIONS + 1))	# with that of the manager
is "saquery: nodes" "$(saquery | grep -c 'NodeRecord dump')" $ports
like "saquery: the manager" '(node_desc|NodeDescription)\.+xhca subnet manager' saquery
is "saquery: paths" "$(saquery -p | grep -c 'PathRecord dump')" $((ports * ports))
like "saquery: multicast groups" 'MGID\.+ff12:401b:ffff::ffff:ffff' saquery -g
like "saquery: class port info" 'Capability mask' saquery -c
like "sminfo: the manager is the master" 'sm lid 49151 .* state 3 SMINFO_MASTER' sminfo
like "ibaddr: address of the port" 'GID fe80::.* LID start 0x1 ' ibaddr -C "$DEV0"
like "ibstat: the manager's LID" 'SM lid: 49151' ibstat "$DEV0"
like "smpquery: a port of the other function" 'LinkState:\.+Active' smpquery portinfo 2 1
like "perfquery: packets of the port" 'PortXmitPkts:\.+[1-9]' perfquery -x

# The manager has the group of the address 239.5.5.5, of which only this function is a member.
# shellcheck disable=SC2317 # called by wait_for
registered() { saquery -g | grep -q 'MGID\.*ff12:401b:ffff::f05:505'; }

# The port leaves its groups and joins them again.
ip address add 239.5.5.5/32 dev "$IPOIB0" autojoin
ok "the interface joins a group" wait_for 20 registered
echo down > /sys/kernel/debug/xhca/0/port_event
ok "the link goes down" wait_for 10 sh -c '! ip link show ib0 | grep -q LOWER_UP'
echo active > /sys/kernel/debug/xhca/0/port_event
ok "the link comes up" wait_for 10 ipoib_carrier
like "ping after that" ' 0% packet loss' ping -c 3 -i 0.2 $ADDR1
ok "it joins the group again" wait_for 20 registered
# The manager forgets what the port has registered.
echo client_reregister > /sys/kernel/debug/xhca/0/port_event
ok "the clients register again" wait_for 20 registered
ok "the interfaces have joined the broadcast group" wait_for 10 ipoib_carrier
# What is sent while an interface joins the broadcast group again may be lost.
ok "an answer after the clients register again" wait_for 10 ping -c 1 -W 1 $ADDR1
like "ping after the clients register again" ' 0% packet loss' ping -c 10 -i 0.2 $ADDR1

if full && echo connected > /sys/class/net/ib0/mode 2>/dev/null; then
	"${PEER[@]}" sh -c 'mount -t sysfs sysfs /sys; echo connected > /sys/class/net/ib1/mode'
	ip link set ib0 mtu 65520
	ip -n peer link set ib1 mtu 65520
	like "connected mode: ping" ' 0% packet loss' ping -c 3 -i 0.2 -s 60000 $ADDR1
	ok "connected mode: TCP" tcp
fi
rm -f $FILE $FILE.copy
ok "IPoIB is unloaded" ipoib_down
finish
