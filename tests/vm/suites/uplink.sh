#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A function with an uplink: its port is connected to an Ethernet interface of the host. Here this
# is one end of a veth pair; the other end is in the network namespace "far", as another host.
# Ordinary traffic in both directions, RoCE frames to the adapter, the link of the port, the address
# filter of the uplink, uplinks that disappear, move or are in use otherwise.
. ./lib.sh

NEAR=10.80.0.1 FAR=10.80.0.2 NEAR6=fd80::1 FAR6=fd80::2
NEAR_VLAN=10.81.0.1 FAR_VLAN=10.81.0.2
FILE=/dev/shm/file

far() { ip netns exec far "$@"; }
# said REGEX: the kernel log has a line of xhca
said() { dmesg | grep -Eq "xhca: .*$1"; }

# wire_up: makes the uplink up0 and the interface "wire" at the other end. It has the same address
# each time: Linux forgets the addresses of neighbours when a link goes down, but looks at most once
# a second, and may miss that it was down.
wire_up() {
	ip link add up0 type veth peer name wire address 02:80:00:00:00:0f netns far || return
	# The host has the address of the port, too, and would answer ARP requests from up0.
	echo 1 > /proc/sys/net/ipv4/conf/up0/arp_ignore
	far sh -c 'echo 1 > /proc/sys/net/ipv6/conf/wire/keep_addr_on_down'
	ip -n far address add $FAR/24 dev wire
	ip -n far address add $FAR6/64 dev wire nodad
	ip link set up0 up
	ip -n far link set wire up
}

# port_up: the interface of the function gets its addresses
port_up() {
	ip address replace $NEAR/24 dev xnet2
	ip address replace $NEAR6/64 dev xnet2 nodad
	ip link set xnet2 up
}

# state WANTED: the state of the port
# shellcheck disable=SC2317 # called by wait_for
state() { grep -q "$1" /sys/class/infiniband/mlx5_2/ports/1/state; }

# link_local INTERFACE [OPTION...]: its link-local address, if it has one; options are those of ip
link_local() {
	ip "${@:2}" -6 -o address show dev "$1" scope link -tentative |
		awk '{ sub("/.*", "", $4); print $4 }'
}
has_link_local() { [ -n "$(link_local "$@")" ]; }

# The peer listens on TCP port 7000.
# shellcheck disable=SC2317 # called by wait_for
far_listens() { far grep -Eqs ":1B58 0+:0000 0A" /proc/net/tcp /proc/net/tcp6; }

# tcp ADDRESS: a stream of FILE to the peer arrives unchanged.
tcp() {
	local pid
	far busybox nc -l -p 7000 > $FILE.copy &
	pid=$!
	wait_for 10 far_listens || return
	cat $FILE > "/dev/tcp/$1/7000" && wait $pid && cmp $FILE $FILE.copy
}

# frames NAME: a counter of the function
frames() { awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/xhca/2/frames; }
# counted NAME VALUE: the counter gets this value.
# shellcheck disable=SC2317 # called by wait_for
counted() { [ "$(frames "$1")" = "$2" ]; }

# UDP datagrams for ports that nobody has, of this namespace
unclaimed() {
	awk '$1 == "Udp:" { n += $3 } $1 == "Udp6NoPorts" { n += $2 } END { print n }' \
		/proc/net/snmp /proc/net/snmp6
}

# datagrams ADDRESS [GSO]: the other end sends four UDP datagrams of 100 bytes to port 4791. With
# GSO, its kernel passes them on as one.
datagrams() {
	far python3 - "$@" <<-'END'
	import socket, sys
	address = socket.getaddrinfo(sys.argv[1], 4791, type=socket.SOCK_DGRAM)[0]
	s = socket.socket(address[0], socket.SOCK_DGRAM)
	if len(sys.argv) > 2:
	    s.setsockopt(socket.IPPROTO_UDP, 103, 100)    # UDP_SEGMENT
	    s.sendto(bytes(400), address[4])
	else:
	    for i in range(4):
	        s.sendto(bytes(100), address[4])
	END
}

# raw MAC PROTOCOL BYTES: the other end sends an Ethernet frame.
raw() {
	far python3 - "$@" <<-'END'
	import socket, sys
	s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
	s.bind(("wire", 0))
	destination = bytes.fromhex(sys.argv[1].replace(":", ""))
	s.send(destination + bytes(6) + bytes.fromhex(sys.argv[2]) + bytes(int(sys.argv[3])))
	END
}

# reaches_adapter DESCRIPTION N COMMAND...: the command sends N frames to the adapter. The IP stack
# does not see them.
reaches_adapter() {
	local want=$(($(frames received) + $2)) before
	before=$(unclaimed)
	ok "$1" "${@:3}"
	ok "$1: $2 reach the adapter" wait_for 10 counted received $want
	is "$1: none reaches the IP stack" "$(unclaimed)" "$before"
}

# pings: what reaches the port and comes back
pings() {
	like "$1: ping" ' 0% packet loss' ping -c 3 -i 0.2 $FAR
	like "$1: ping from the other end" ' 0% packet loss' far ping -c 3 -i 0.2 $NEAR
	like "$1: ping, IPv6" ' 0% packet loss' ping -c 3 -i 0.2 $FAR6
	like "$1: ping from the other end, IPv6" ' 0% packet loss' far ping -c 3 -i 0.2 $NEAR6
}

# reached DESCRIPTION: the other end reaches the port
reached() { like "$1" ' 0% packet loss' far ping -c 2 -i 0.2 $NEAR; }

# ---- Settings
ip netns add far
ip -n far link set lo up
refused "an uplink needs RoCE" 'Invalid argument.*uplink=up0 needs link=roce' \
	xhcactl add --link ib --uplink up0
refused "a name that is none" 'Invalid argument.*uplink=.*must be the name' \
	xhcactl add --uplink a/b
refused "the loopback interface" 'Invalid argument.*must be an Ethernet' xhcactl add --uplink lo
refused "the interface of a function" 'Invalid argument.*must be an Ethernet' \
	xhcactl add --uplink xnet0
ok "a bridge with a port" sh -c 'ip link add bridge type bridge && ip link add up0 type veth &&
	ip link set up0 master bridge'
refused "the port of a bridge" 'busy.*uplink=up0: is in use' xhcactl add --uplink up0
ip link delete up0

# ---- Traffic
ok "an uplink" wire_up
like "a function with this uplink" '^2$' xhcactl add --uplink up0
like "the list has it" 'xnet2 +- +up0 +-$' xhcactl list
is "the list as JSON has it" "$(xhcactl list --json | jq -r '.[2].uplink')" up0
mac=$(< /sys/class/net/xnet2/address)
ok "its address is not that of its slot" [ "$mac" != 02:78:68:63:61:02 ]
refused "another function cannot have the same address" 'belongs to another function' \
	xhcactl add --uplink up0 --mac "$mac"
refused "an interface in use cannot be a port of a bridge" 'busy' ip link set up0 master bridge
is "the port has no carrier while its interface is down" \
	"$(ip -br link show xnet2 | awk '{ print $2 }')" DOWN
port_up
ok "the port is active" wait_for 10 state ACTIVE
ok "it has a GID" wait_for 10 has_gid mlx5_2 $NEAR
pings "1500 bytes"
like "the other end knows the address of the port" "lladdr $mac" far ip neighbour show $NEAR
like "the uplink receives what is sent to the address" "$mac " bridge fdb show dev up0
head -c 2M /dev/urandom > $FILE
ok "TCP: 2 MiB arrive unchanged" tcp $FAR
ok "TCP: 2 MiB arrive unchanged, IPv6" tcp $FAR6
ok "the port has a link-local address" wait_for 10 has_link_local xnet2
ok "the other end has one" wait_for 10 has_link_local wire -n far
like "a multicast of the other end reaches the port" "from $(link_local xnet2)" \
	far ping -c 3 -i 0.2 ff02::1%wire
like "a multicast of the port reaches the other end" "from $(link_local wire -n far)" \
	ping -c 3 -i 0.2 ff02::1%xnet2
group=$(ip maddress show dev xnet2 | awk '$1 == "link" { print $2 }' | grep 33:33:ff | head -1)
like "the uplink receives the groups of the port" "$group" ip maddress show dev up0

# ---- RoCE frames
[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug
is "no RoCE frame has arrived" "$(frames received) $(frames dropped)" "0 0"
reaches_adapter "datagrams to port 4791" 4 datagrams $NEAR
reaches_adapter "datagrams to port 4791, IPv6" 4 datagrams $NEAR6
reaches_adapter "datagrams to a multicast group" 4 datagrams "ff02::1%wire"
reaches_adapter "a frame of RoCEv1" 1 raw "$mac" 8915 100
before=$(unclaimed)
far bash -c "printf x > /dev/udp/$NEAR/4792"
ok "a datagram to another port reaches the IP stack" \
	wait_for 10 eval '[ "$(unclaimed)" = $((before + 1)) ]'
far bash -c "head -c 3000 /dev/zero | dd bs=3000 > /dev/udp/$NEAR/4791" 2> /dev/null
ok "fragments of a datagram to port 4791 reach the IP stack" \
	wait_for 10 eval '[ "$(unclaimed)" = $((before + 2)) ]'
is "nothing of these has reached the adapter" "$(frames received)" 13
is "none was dropped" "$(frames dropped)" 0
ok "joined datagrams" datagrams $NEAR gso
ok "they are dropped" wait_for 10 counted dropped 1

# The rules for tc in xhcactl(8)
# shellcheck disable=SC2317 # called by ok
rules() {
	tc qdisc add dev up0 clsact &&
	tc filter add dev up0 ingress prio 1 protocol ip flower ip_proto udp \
		dst_port 4791 src_ip $FAR action pass &&
	tc filter add dev up0 ingress prio 2 protocol ip flower ip_proto udp \
		dst_port 4791 action drop
}
if modprobe -qa cls_flower sch_ingress act_gact; then
	ok "tc accepts RoCE from one address" rules
	reaches_adapter "datagrams from there" 4 datagrams $NEAR
	ok "it accepts RoCE from none" tc filter delete dev up0 ingress prio 1
	far bash -c "printf x > /dev/udp/$NEAR/4791"
	far bash -c "printf x > /dev/udp/$NEAR/4792"
	ok "a datagram to another port arrives" \
		wait_for 10 eval '[ "$(unclaimed)" = $((before + 3)) ]'
	is "one to port 4791 does not" "$(frames received)" 17
	tc qdisc delete dev up0 clsact
else
	skip "rules of tc" "the kernel is built without them"
fi

modprobe 8021q
ip link add link xnet2 name vlan2 type vlan id 5
ip address add $NEAR_VLAN/24 dev vlan2
ip link set vlan2 up
ip -n far link add link wire name vlan2 type vlan id 5
ip -n far address add $FAR_VLAN/24 dev vlan2
ip -n far link set vlan2 up
like "VLAN: ping" ' 0% packet loss' ping -c 3 -i 0.2 $FAR_VLAN
like "VLAN: ping from the other end" ' 0% packet loss' far ping -c 3 -i 0.2 $NEAR_VLAN
reaches_adapter "VLAN: datagrams" 4 datagrams $NEAR_VLAN
ip link delete vlan2
ip -n far link delete vlan2

# ---- MTU
refused "the MTU cannot exceed that of the uplink" 'Invalid argument|greater than' \
	ip link set xnet2 mtu 4000
ip -n far link set wire mtu 9000
ip link set up0 mtu 9000
ok "a larger MTU" ip link set xnet2 mtu 9000
like "9000 bytes: ping" ' 0% packet loss' ping -M 'do' -s 8972 -c 3 -i 0.2 $FAR
like "9000 bytes: ping from the other end" ' 0% packet loss' \
	far ping -M 'do' -s 8972 -c 3 -i 0.2 $NEAR
ok "9000 bytes: TCP" tcp $FAR
ip link set up0 mtu 1400
is "the MTU follows that of the uplink" "$(< /sys/class/net/xnet2/mtu)" 1400

# ---- Link
ip link set up0 down
ok "the uplink goes down: the port is down" wait_for 10 state DOWN
ip link set up0 up
ok "the uplink goes up: the port is active" wait_for 10 state ACTIVE
ip -n far link set wire down
ok "the other end goes down: the port is down" wait_for 10 state DOWN
ip -n far link set wire up
ok "the other end goes up: the port is active" wait_for 10 state ACTIVE
ok "the cable of the port is pulled" xhcactl fault 2 down
ok "the port is down" wait_for 10 state DOWN
ok "the cable of the port is plugged" xhcactl fault 2 up
ok "the port is active" wait_for 10 state ACTIVE
reached "after that: ping from the other end"

# ---- The uplink disappears, appears, moves
ip link delete up0
ok "the uplink is deleted: the port is down" wait_for 10 state DOWN
ok "it is made again" wire_up
ok "the port is active" wait_for 10 state ACTIVE
reached "a new uplink: ping from the other end"
ip link set up0 down
ip link set up0 name up1
ip link set up1 up
ok "the uplink has another name" wait_for 10 state ACTIVE
reached "a new name: ping from the other end"
ip netns add blue
ip link set up1 netns blue
ok "the uplink moves to another namespace: it is down" wait_for 10 state DOWN
ip -n blue link set up1 up
ok "there it goes up" wait_for 10 state ACTIVE
pings "an uplink in another namespace"
like "there it has the address of the port" "$mac " ip netns exec blue bridge fdb show dev up1
ip netns delete blue
ok "the namespace is deleted: the port is down" wait_for 10 state DOWN
ok "the first name exists again" wire_up
ok "the port is active" wait_for 10 state ACTIVE
reached "the first name: ping from the other end"

# ---- Two ports, and removal
like "a second function with this uplink" '^3$' xhcactl add --uplink up0 --mac 02:80:00:00:00:03
ip netns add blue
ip link set xnet3 netns blue
ip -n blue address add 10.80.0.3/24 dev xnet3
ip -n blue link set xnet3 up
like "ping to the other port" ' 0% packet loss' ping -c 3 -i 0.2 10.80.0.3
like "ping from the other end to the other port" ' 0% packet loss' \
	far ping -c 3 -i 0.2 10.80.0.3
# shellcheck disable=SC2317 # runs in the background
flood() { while :; do datagrams 10.80.0.3; done; }
far ping -f -w 100 10.80.0.3 > /dev/null &
jobs=$!
flood > /dev/null 2>&1 &
jobs+=" $!"
pause 1
ok "remove it under traffic" xhcactl del 3
kill $jobs
wait $jobs 2> /dev/null
reached "the first port afterwards: ping from the other end"
is "the uplink has no address of the second port" \
	"$(bridge fdb show dev up0 | grep -c 02:80:00:00:00:03)" 0
ok "remove the first function" xhcactl del 2
ok "the uplink is free" ip link set up0 master bridge
ip link set up0 nomaster

# ---- Interfaces of other kinds, on top of up0

# other_kind INTERFACE: tests a function with this uplink
other_kind() {
	like "a function with the uplink $1" '^2$' xhcactl add --uplink "$1"
	echo 1 > "/proc/sys/net/ipv4/conf/$1/arp_ignore"
	port_up
	ok "$1: the port is active" wait_for 10 state ACTIVE
	ok "$1: the other end is there" wait_for 20 ping -qc 1 -W 1 $FAR
	like "$1: ping" ' 0% packet loss' ping -c 3 -i 0.2 $FAR
	like "$1: ping from the other end" ' 0% packet loss' far ping -c 3 -i 0.2 $NEAR
	reaches_adapter "$1: datagrams" 4 datagrams $NEAR
	ok "$1: remove the function" xhcactl del 2
}
ok "a bridge" sh -c 'ip link set up0 master bridge && ip link set bridge up'
other_kind bridge
ip link set up0 nomaster
if modprobe -q bonding; then
	ok "a bond" sh -c 'ip link add bond7 type bond mode active-backup miimon 100 &&
		ip link set up0 down && ip link set up0 master bond7 && ip link set bond7 up'
	other_kind bond7
	ip link delete bond7
	ip link set up0 up
else
	skip "a bond" "the kernel is built without it"
fi
ok "a VLAN device" sh -c "ip link add link up0 name vlan7 type vlan id 7 && ip link set vlan7 up &&
	ip -n far link add link wire name wire7 type vlan id 7 && ip -n far link set wire7 up &&
	ip -n far address delete $FAR/24 dev wire && ip -n far address add $FAR/24 dev wire7"
other_kind vlan7
ip link delete vlan7

# ---- An uplink that appears later, in a namespace of its own
like "a function before its uplink" '^2$' xhcactl add --netns blue --uplink late
ip -n blue link set xnet2 up
ok "its port is down" state DOWN
ip link add late type veth peer name peer
ip link set late up
ip link set peer up
ok "an interface of this name in another namespace is not its uplink" state DOWN
ip link set late netns blue
ip -n blue link set late up
ok "in the namespace of the function it is" wait_for 10 state ACTIVE
xhcactl save $FILE.conf
like "save stores it" '^--model cx5 --link roce --mac .* --ports 1 --uplink late --netns blue 2$' \
	cat $FILE.conf
ip netns delete blue
ok "both are gone with the namespace: the port is down" wait_for 10 state DOWN
ok "remove the function" xhcactl del 2
ip link delete bridge
ip link delete up0
ip netns delete far
rm -f $FILE*
finish
