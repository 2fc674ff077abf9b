#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fabrics: each has functions, an engine and CPUs of its own. Two of them work at the same time and
# do not reach each other, except over uplinks. Fabrics come and go while others carry traffic.
. ./lib.sh

CONFIG=/sys/kernel/config/xhca
FILE=/dev/shm/fabrics.conf
CYCLES=1
! full || CYCLES=3
! long || CYCLES=20
PEER=(ip netns exec right)	# where one end of the wire is
[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug

fabrics() { find /sys/kernel/debug/xhca -name 'fabric-*' -printf '%f\n' | sort | xargs; }
functions() { xhcactl list | awk 'NR > 1 { print $1 ":" $10 }' | xargs; }
json() { xhcactl list --json | jq -c ".[$1] | [.fabric, .cpus]"; }
# threads FABRIC: those of its engine. /proc/PID/comm has the whole name, which pgrep truncates.
threads() { cat /proc/[0-9]*/comm 2> /dev/null | grep "^xhca-$1/" | sort | xargs; }
wqes() { awk '$1 == "wqes" { print $2 }' "/sys/kernel/debug/xhca/$1/engine"; }
frames() { awk '$1 == "received" { print $2 }' "/sys/kernel/debug/xhca/$1/frames"; }
put() { echo "$2" > "$CONFIG/$1"; }
online() { echo "$2" > /sys/devices/system/cpu/cpu"$1"/online; }
# worked FABRIC BEFORE: its engine has executed requests
worked() { [ "$(wqes "$1")" -gt "$2" ]; }

mac() { cat /sys/class/net/"$1"/address; }
# address INTERFACE ADDRESS: it is up and has this address
address() { ip link set "$1" up && ip address add "$2/24" dev "$1"; }

# heard FROM DESTINATION: the interface sends an Ethernet frame of a protocol that nobody has.
# Prints the interfaces that receive it.
heard() {
	python3 - "$@" <<-'END'
	import os, select, socket, sys
	sent, destination = sys.argv[1], bytes.fromhex(sys.argv[2].replace(":", ""))
	frame = destination + bytes(6) + b"\x88\xb5" + os.urandom(64)
	sockets = {}
	for name in sorted(os.listdir("/sys/class/net")):
	    if name.startswith("xnet"):
	        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
	        s.bind((name, 0x88b5))
	        sockets[s] = name
	[s for s in sockets if sockets[s] == sent][0].send(frame)
	heard = set()
	while ready := select.select(list(sockets), [], [], 1)[0]:
	    for s in ready:
	        data, sender = s.recvfrom(2048)
	        if data[14:] == frame[14:] and sender[2] != socket.PACKET_OUTGOING:
	            heard.add(sockets[s])
	print(*sorted(heard))
	END
}

# apart DESCRIPTION FROM TO: a queue pair does not reach one on another device, although both know
# the address of the other.
apart() {
	local gid=() gid2=() pid
	if [ "$4" = roce ]; then gid=(-g "$(gid_index "$2")") gid2=(-g "$(gid_index "$3")"); fi
	PORT=$((PORT + 1))
	ibv_rc_pingpong -d "$2" "${gid[@]}" -p $PORT -n 10 > /dev/null 2>&1 &
	pid=$!
	wait_for "$LIMIT" listening $PORT
	refused "$1" 'transport retry counter exceeded' \
		ibv_rc_pingpong -d "$3" "${gid2[@]}" -p $PORT -n 10 127.0.0.1
	kill $pid
	wait $pid 2> /dev/null
}

# busy FROM TO PORT: starts a client and a server that write for a long time
busy() {
	local gid=(-x "$(gid_index "$1")") gid2=(-x "$(gid_index "$2")")
	ib_write_bw -F -D 600 -q 16 -d "$1" "${gid[@]}" -p "$3" > /dev/null 2>&1 &
	BUSY="$!"
	wait_for "$LIMIT" listening "$3"
	ib_write_bw -F -D 600 -q 16 -d "$2" "${gid2[@]}" -p "$3" 127.0.0.1 > /dev/null 2>&1 &
	BUSY+=" $!"
}
calm() {
	# shellcheck disable=SC2086 # a list
	kill $BUSY && wait $BUSY 2> /dev/null
	true
}

# ---- Settings
like "a fabric on one CPU" '^r0$' xhcactl add --fabric red --cpus 1 r0
is "the list shows it" "$(functions)" "0:- 1:- r0:red"
is "the list as JSON shows it" "$(json 2)" '["red","1"]'
is "the other functions are in none" "$(json 0)" '[null,null]'
is "debugfs has it" "$(fabrics)" fabric-red
is "its engine has a thread on this CPU" "$(threads red)" xhca-red/1
refused "a second function that names another CPU" \
	'busy.*cpus=0: fabric "red" runs on the CPUs 1' xhcactl add --fabric red --cpus 0 r1
like "one that names none" '^r1$' xhcactl add --fabric red r1
is "it has those of the fabric" "$(< $CONFIG/r1/cpus)" 1
refused "the settings of a function that is enabled" busy put r1/fabric blue
refused "its CPUs" busy put r1/cpus 0
refused "other CPUs for the default fabric" 'busy.*fabric "" runs on' xhcactl add --cpus 1
refused "a list of CPUs that is none" 'Invalid argument.*cpus=some: must be a list' \
	xhcactl add --fabric blue --cpus some
refused "CPUs that do not exist" 'Invalid argument|out of range' xhcactl add --fabric blue --cpus 7
for name in sixteen-letters- a/b .. -x 'a b' a%u; do
	refused "the name \"$name\"" 'Invalid argument.*fabric=.*letters, digits' \
		xhcactl add --fabric "$name"
done
is "nothing is left of these" "$(functions) $(fabrics)" "0:- 1:- r0:red r1:red fabric-red"

# ---- Two fabrics at work
address xnet2 10.77.0.21
address xnet3 10.77.0.22
ok "a function has its GID" wait_for 10 has_gid mlx5_2 10.77.0.21
ok "the other one, too" wait_for 10 has_gid mlx5_3 10.77.0.22
red=$(wqes fabric-red) here=$(wqes .)
pingpong "functions of a fabric reach each other" ibv_rc_pingpong mlx5_2 mlx5_3 -c -n 200
ok "its engine has executed it" worked fabric-red $((red + 399))
is "and no other" "$(wqes .)" "$here"
meanwhile pingpong "at the same time: one fabric" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 1000
PORT=$((PORT + 100))
pingpong "at the same time: another" ibv_rc_pingpong mlx5_2 mlx5_3 -c -n 1000
join
ok "the CPU of the fabric goes offline" online 1 0
is "another one helps" "$(threads red)" xhca-red/0
pingpong "the fabric runs there" ibv_rc_pingpong mlx5_2 mlx5_3 -c -n 200
ok "it comes online again" online 1 1
is "the other one helps no more" "$(threads red)" xhca-red/1
pingpong "the fabric runs on its CPU" ibv_rc_pingpong mlx5_2 mlx5_3 -c -n 200

# ---- Isolation
all=ff:ff:ff:ff:ff:ff
is "a broadcast of the default fabric" "$(heard xnet0 $all)" xnet1
is "a broadcast of the other one" "$(heard xnet2 $all)" xnet3
is "a frame to an address of the other one" "$(heard xnet0 "$(mac xnet2)")" xnet1
is "a frame to an address of its own" "$(heard xnet0 "$(mac xnet1)")" xnet1
ip neighbour replace 10.77.0.21 lladdr "$(mac xnet2)" dev xnet0
ip neighbour replace 10.77.0.1 lladdr "$(mac xnet0)" dev xnet2
apart "RoCE: no queue pair reaches the other fabric" "$DEV0" mlx5_2 roce
apart "nor in the other direction" mlx5_2 "$DEV0" roce
ip neighbour delete 10.77.0.21 dev xnet0
ip neighbour delete 10.77.0.1 dev xnet2
infiniband() {
	local device
	like "an InfiniBand function" '^i0$' xhcactl add --link ib i0
	like "one in another fabric" '^i1$' xhcactl add --link ib --fabric red i1
	is "their LIDs differ" \
		"$(cat /sys/class/infiniband/mlx5_[45]/ports/1/lid | sort -u | wc -l)" 2
	apart "InfiniBand: no queue pair reaches the other fabric" mlx5_4 mlx5_5 ib
	for device in mlx5_4 mlx5_5; do
		is "the subnet of $device has one port and the manager" \
			"$(saquery -C $device | grep -c 'NodeRecord dump')" 2
	done
	ok "remove them" xhcactl del i0 i1
}
! full || infiniband

# ---- Load
busy_other() {
	busy mlx5_2 mlx5_3 18500
	red=$(wqes fabric-red)
	pingpong "a fabric beside one that is busy" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 1000
	ok "the busy one has gone on" wait_for "$LIMIT" worked fabric-red "$red"
	calm
}
! full || busy_other
busy "$DEV0" "$DEV1" 18501
here=$(wqes .)
pingpong "the same, with CPUs exchanged" ibv_rc_pingpong mlx5_2 mlx5_3 -c -n 1000
ok "the busy one has gone on" wait_for "$LIMIT" worked . "$here"

# shellcheck disable=SC2317 # called by ok
cycles() {
	local i
	for ((i = 0; i < CYCLES; i++)); do
		xhcactl add --fabric blue b0 && xhcactl add --fabric green b1 &&
			[ "$(fabrics)" = "fabric-blue fabric-green fabric-red" ] &&
			xhcactl del b0 && xhcactl del b1 && [ "$(fabrics)" = fabric-red ] || return
	done
}
here=$(wqes .)
ok "$CYCLES times: fabrics come and go beside it" cycles
ok "the busy one has gone on" wait_for "$LIMIT" worked . "$here"
calm

# ---- save, restore; removal
ok "save the list" xhcactl save $FILE
like "a line has the fabric" \
	'^--model cx5 --link roce --mac .* --ports 1 --fabric red --cpus 1 r1$' cat $FILE
ok "remove both functions" xhcactl del r0 r1
is "the fabric is gone" "$(fabrics)" ''
is "its threads are gone" "$(threads red)" ''
ok "restore the list" xhcactl restore $FILE
is "the functions are in their fabrics" "$(functions)" "0:- 1:- r0:red r1:red"
is "the fabric has its CPU" "$(threads red)" xhca-red/1
busy mlx5_2 mlx5_3 18502
ok "a function is removed by surprise under traffic" xhcactl fault r0 unplug
is "the fabric has another one" "$(fabrics)" fabric-red
ok "the other one, too" xhcactl fault r1 unplug
is "the fabric is gone" "$(fabrics)" ''
calm
ok "plug one in again" put r0/enable 1
is "the fabric is back" "$(fabrics) $(threads red)" "fabric-red xhca-red/1"
ok "remove it" xhcactl del r0
ok "and the other one" rmdir $CONFIG/r1

# ---- Two fabrics on a wire
# shellcheck disable=SC2317 # called by ok
wire_up() {
	ip link add up0 mtu 4500 type veth peer name up1 mtu 4500 &&
	ip link set up0 up && ip link set up1 up &&
	xhcactl add --fabric left --uplink up0 w0 && xhcactl add --fabric right --uplink up1 w1 &&
	ip link set xnet2 mtu 4500 && ip link set xnet3 mtu 4500 &&
	address xnet2 10.77.0.31 && address xnet3 10.77.0.32 &&
	wait_for 10 has_gid mlx5_2 10.77.0.31 && wait_for 10 has_gid mlx5_3 10.77.0.32
}
perf_on_wire() {
	PORT=$((PORT + 1))
	pair "the wire: $1" "listening $PORT" '^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+' \
		"$@" -F -d mlx5_2 -x "$(gid_index mlx5_2)" -p $PORT -- \
		"$@" -F -d mlx5_3 -x "$(gid_index mlx5_3)" -p $PORT 127.0.0.1
}
ok "two fabrics on a wire" wire_up
before=$(frames 2)
pingpong "the wire: RC" ibv_rc_pingpong mlx5_2 mlx5_3 -c -s 4096 -n 200
pingpong "the wire: UC" ibv_uc_pingpong mlx5_2 mlx5_3 -c -s 4096 -n 100
pingpong "the wire: UD" ibv_ud_pingpong mlx5_2 mlx5_3 -c -s 1024 -n 100
perf_on_wire ib_send_bw -s 65536 -n 100
perf_on_wire ib_write_lat -s 64 -n 200
perf_on_wire ib_read_bw -s 65536 -n 100
perf_on_wire ib_atomic_bw -A FETCH_AND_ADD -n 200
ok "the frames came over the wire" [ "$(frames 2)" -gt $((before + 1000)) ]
ip netns add right
ip -n right link set lo up
ip link set xnet3 netns right
ip -n right link set xnet3 up
ip -n right address add 10.77.0.32/24 dev xnet3
ok "one end is in another namespace" wait_for 10 has_gid mlx5_3 10.77.0.32
like "ping" ' 0% packet loss' ping -c 3 -i 0.2 -I xnet2 10.77.0.32
# shellcheck disable=SC2317 # called by pair
listening_right() { cm_listens "$1" "${PEER[@]}"; }
pair "rping, compared" "listening_right 7174" '' \
	"${PEER[@]}" rping -p 7174 -s -a 10.77.0.32 -V -C 20 -S 4096 -- \
	rping -p 7174 -c -I 10.77.0.31 -a 10.77.0.32 -V -C 20 -S 4096
ok "remove both" xhcactl del w0 w1
ip netns delete right
ip link delete up0
is "no fabric is left" "$(fabrics)" ''

# ---- Unload
ok "unload" unload_xhca
ok "load again" load xhca functions=2 cpus=0
ok "remove a function" xhcactl del 1
like "it comes back in another fabric" '^1$' xhcactl add --fabric blue --cpus 1 1
is "it runs elsewhere" "$(threads blue)" xhca-blue/1
ok "unload with this fabric" rmmod xhca
is "no thread is left" "$(cat /proc/[0-9]*/comm 2> /dev/null | grep -c ^xhca)" 0
ok "load as before" load xhca functions=2
ports_up
pingpong "the functions work" ibv_rc_pingpong "$DEV0" "$DEV1" -n 200
rm -f $FILE
finish
