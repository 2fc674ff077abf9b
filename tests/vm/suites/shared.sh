#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ports that share the addresses of their uplinks. The uplinks are the ends of a veth pair; the
# second end is in the network namespace "far" and in another fabric, as on another host. RDMA
# programs and other programs use the same addresses at the same time, also addresses of VLANs.
# Then the MAC address, the MTU and the namespace of an uplink change, and an uplink is deleted.
. ./lib.sh
. ./ends.sh

HERE=10.80.0.1 THERE=10.80.0.2
PEER=(ip netns exec far) PEER_NAME="the other host"
export WIRE_HERE=up0 WIRE_THERE=wire

far() { ip netns exec far "$@"; }

# shellcheck disable=SC2317 # called by ok
wire_up() {
	ip link add up0 mtu 4500 type veth peer name wire mtu 4500 netns far &&
	ip address add 10.80.0.1/24 dev up0 && ip -n far address add 10.80.0.2/24 dev wire &&
	ip address add fd80::1/64 dev up0 nodad &&
	ip -n far address add fd80::2/64 dev wire nodad &&
	ip link set up0 up && ip -n far link set wire up
}

# state DEVICE WANTED: the state of the port
# shellcheck disable=SC2317 # called by wait_for
state() { grep -q "$2" "/sys/class/infiniband/$1/ports/1/state"; }

# shellcheck disable=SC2317 # called by ok
functions_up() {
	xhcactl add --uplink up0 --shared > /dev/null &&
	xhcactl add --netns far --uplink wire --shared --fabric far > /dev/null &&
	wait_for 10 state mlx5_2 ACTIVE && wait_for 10 state mlx5_3 ACTIVE &&
	wait_for 10 has_gid mlx5_2 $HERE && wait_for 10 has_gid mlx5_3 $THERE
}

frames() { awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/xhca/2/frames; }
address() { cat /sys/class/net/"$1"/address; }

# gids_of DEVICE INTERFACE: how many GIDs of the device have this interface
gids_of() {
	grep -lx "$2" "/sys/class/infiniband/$1/ports/1/gid_attrs/ndevs/"* 2> /dev/null | wc -l
}

checked() {
	both "$1: rping" 7174 '' "-s -a ADDRESS" "-c -a ADDRESS" rping -p 7174 -V -C 10 -S 4096
}

ip netns add far
ip -n far link set lo up

# ---- Settings
refused "a function without an uplink" 'Invalid argument.*shared=1 needs an uplink' \
	xhcactl add --shared
modprobe 8021q
if modprobe -q bonding; then
	ok "a bond" ip link add bond7 type bond
	refused "its addresses" 'Invalid argument.*addresses of a bond' \
		xhcactl add --uplink bond7 --shared
	ip link delete bond7
else
	skip "the addresses of a bond" "the kernel is built without it"
fi
ok "a VLAN device" sh -c 'ip link add down0 type veth &&
	ip link add link down0 name vlan7 type vlan id 7'
refused "the addresses of a VLAN device" 'Invalid argument.*addresses of a VLAN device' \
	xhcactl add --uplink vlan7 --shared
like "a function with addresses of its own" '^2$' xhcactl add --uplink vlan7
refused "its uplink cannot be shared" 'busy.*uplink=down0: a shared uplink' \
	xhcactl add --uplink down0 --shared
xhcactl del 2
ok "an uplink" wire_up
ok "rdma_rxe" modprobe rdma_rxe
ok "a device of it" rdma link add rxe type rxe netdev down0
refused "it has the UDP port" 'in use.*uplink=up0: UDP port 4791' \
	xhcactl add --uplink up0 --shared
rdma link delete rxe
modprobe -r rdma_rxe
ip link delete down0

# ---- Traffic
ok "two functions" functions_up
like "the list has it" 'xnet2 +- +up0 +-$' xhcactl list
is "the list as JSON has it" "$(xhcactl list --json | jq -c '.[2] | [.uplink, .shared]')" \
	'["up0",true]'
is "the port has the address of its uplink" "$(address xnet2)" "$(address up0)"
is "it has its MTU" "$(< /sys/class/net/xnet2/mtu)" 4500
is "a path MTU of 4096 fits" "$(ibv_devinfo -d mlx5_2 | awk '/active_mtu/ { print $2 }')" 4096
refused "another address" 'not supported' ip link set xnet2 address 02:00:00:00:00:77
refused "a second function" 'busy.*a shared uplink' xhcactl add --uplink up0
refused "a second function that shares" 'busy.*a shared uplink' xhcactl add --uplink up0 --shared
refused "rdma_rxe on the same address" '.' \
	sh -c 'modprobe rdma_rxe && rdma link add rxe type rxe netdev up0'
modprobe -r rdma_rxe
if debug_kernel; then both_checked; else both_programs; fi
ok "frames came over the wire" [ "$(frames received)" -gt 500 ]
HERE=fd80::1 THERE=fd80::2
checked "IPv6"
HERE=10.80.0.1 THERE=10.80.0.2
pair "mckey: multicast from $PEER_NAME" joined 'return status 0' \
	stdbuf -oL mckey -m 239.1.2.3 -b $HERE -C 10 -- \
	"${PEER[@]}" mckey -s -m 239.1.2.3 -b $THERE -C 10
pair "mckey: multicast to $PEER_NAME" joined 'return status 0' \
	"${PEER[@]}" stdbuf -oL mckey -m 239.1.2.3 -b $THERE -C 10 -- \
	mckey -s -m 239.1.2.3 -b $HERE -C 10
! full || lossy 1 both_checked

# ---- The host uses the addresses, too
far ping -f -s 1000 -w 60 $HERE > /dev/null &
jobs=$!
checked "beside ping -f"
kill -INT $jobs
wait $jobs
like "ping" ' 0% packet loss' ping -c 3 -i 0.2 $THERE
like "ping, IPv6" ' 0% packet loss' ping -c 3 -i 0.2 fd80::2
before=$(frames received)
far bash -c "printf x > /dev/udp/$HERE/4792"
bash -c "printf x > /dev/udp/$HERE/4791"
pause 0.5
is "other datagrams are for the host, and those within the host" "$(frames received)" "$before"

# ---- VLANs
# shellcheck disable=SC2317 # called by ok
vlan_up() {
	ip link add link up0 name up0.5 type vlan id 5 && ip address add 10.85.0.1/24 dev up0.5 &&
	ip -n far link add link wire name wire.5 type vlan id 5 &&
	ip -n far address add 10.85.0.2/24 dev wire.5 &&
	ip link set up0.5 up && ip -n far link set wire.5 up &&
	wait_for 10 has_gid mlx5_2 10.85.0.1 && wait_for 10 has_gid mlx5_3 10.85.0.2
}
ok "a VLAN" vlan_up
HERE=10.85.0.1 THERE=10.85.0.2
checked "VLAN"
pair "VLAN: udaddy" cm_listening_there\ 7174 'return status 0' \
	"${PEER[@]}" udaddy -b $THERE -C 10 -S 1000 -- udaddy -s $THERE -b $HERE -C 10 -S 1000
like "VLAN: ping" ' 0% packet loss' ping -c 3 -i 0.2 $THERE
refused "its device cannot be a port of a bridge meanwhile" 'busy' \
	sh -c 'ip link add br7 type bridge; ip link set up0.5 master br7'
ok "the VLAN is deleted" sh -c 'ip link delete up0.5 && ip -n far link delete wire.5'
ok "it has no GIDs any more" wait_for 10 eval '! has_gid mlx5_2 10.85.0.1'
ip link delete br7
HERE=10.80.0.1 THERE=10.80.0.2

# ---- Changes of the uplink
ok "another address" ip address add 10.80.0.3/24 dev up0
ok "it is a GID" wait_for 10 has_gid mlx5_2 10.80.0.3
ip address delete 10.80.0.3/24 dev up0
ok "it is none after it was deleted" wait_for 10 eval '! has_gid mlx5_2 10.80.0.3'
ok "another MAC address" ip link set up0 address 02:80:00:00:00:55
is "the port has it" "$(address xnet2)" 02:80:00:00:00:55
ip -n far neighbour flush all
ok "the GIDs are there" wait_for 10 has_gid mlx5_2 $HERE
checked "another MAC address"
ip link set up0 mtu 2000
is "the MTU follows that of the uplink" "$(< /sys/class/net/xnet2/mtu)" 2000
ip link set up0 mtu 4500
is "also when that grows" "$(< /sys/class/net/xnet2/mtu)" 4500
ip link set up0 down
ok "the uplink goes down: the port is down" wait_for 10 state mlx5_2 DOWN
ip link set up0 up
ok "it goes up: the port is active" wait_for 10 state mlx5_2 ACTIVE
xhcactl save $OUT.conf
like "save stores it" '^--model cx5 --link roce --mac .* --ports 1 --uplink up0 --shared 2$' \
	cat $OUT.conf
ip netns add blue
ip link set up0 netns blue
ok "the uplink moves to another namespace" wait_for 10 state mlx5_2 DOWN
ok "the first one has the UDP port again" sh -c 'modprobe rdma_rxe && modprobe -r rdma_rxe'
ip -n blue address add 10.80.0.1/24 dev up0
ip -n blue link set up0 up
ok "there it goes up" wait_for 10 state mlx5_2 ACTIVE
ok "it has its GID" wait_for 10 has_gid mlx5_2 $HERE
pair "rping from there" "cm_listening_there 7174" '' \
	"${PEER[@]}" rping -p 7174 -s -a $THERE -C 10 -- \
	ip netns exec blue rping -p 7174 -c -a $THERE -C 10
ip netns delete blue
ok "the namespace is deleted: the port is down" wait_for 10 state mlx5_2 DOWN
is "it has no GIDs of the uplink" "$(gids_of mlx5_2 up0)" 0
ok "the uplink is made again" wire_up
ok "the other port uses it, too" wait_for 10 state mlx5_3 ACTIVE
ok "the port is active" wait_for 10 state mlx5_2 ACTIVE
ok "both have GIDs" wait_for 10 eval 'has_gid mlx5_2 $HERE && has_gid mlx5_3 $THERE'
checked "a new uplink"
ok "the driver reloads" devlink dev reload pci/10000:00:02.0
ok "the GIDs are there again" wait_for 20 has_gid mlx5_2 $HERE
checked "a reloaded driver"
ok "remove the function" xhcactl del 2
is "it is restored" "$(xhcactl restore $OUT.conf && xhcactl list --json | jq '.[2].shared')" true
ok "and active" wait_for 10 state mlx5_2 ACTIVE
ok "remove it again" xhcactl del 2
ok "the uplink is free" sh -c 'ip link add br7 type bridge && ip link set up0 master br7'
ip link set up0 nomaster

# ---- rdma_rxe at one end
# shellcheck disable=SC2317 # called by ok
rxe_up() {
	modprobe rdma_rxe && rdma link add rxe type rxe netdev up0 && wait_for 10 has_gid rxe $HERE
}
ok "rdma_rxe" rxe_up
checked "rdma_rxe here"
both "rdma_rxe here: ucmatose" 7471 'return status 0' "" "-s ADDRESS" ucmatose -c 4 -C 20 -S 1000
rdma link delete rxe
modprobe -r rdma_rxe

# ---- The addresses of a bridge
bridge_up() {
	ip address flush dev up0 && ip link set up0 master br7 && ip link set br7 mtu 4500 up &&
	ip address add $HERE/24 dev br7 && xhcactl add --uplink br7 --shared > /dev/null &&
	wait_for 10 state mlx5_2 ACTIVE && wait_for 10 has_gid mlx5_2 $HERE
}
ok "a bridge, with the wire as a port" bridge_up
checked "the addresses of a bridge"
ok "remove both functions" xhcactl del 2 3
ip link delete br7
ip link delete up0
ip netns delete far
rm -f $OUT.conf
finish
