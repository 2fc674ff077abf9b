#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# xhcactl adds and removes functions while others run traffic, with their settings; wrong
# values are refused with the reason; a removed function leaves nothing.
. ./lib.sh
BIN=../../../build/user/bin
WORK=$(mktemp -d /dev/shm/functions.XXXXXX)
CONFIG=/sys/kernel/config/xhca
MAC=02:11:22:33:44:55
LIMIT=$((LIMIT * 3))
CYCLES=2
! long || CYCLES=30
! debug_kernel || CYCLES=1	# it takes a minute

devices() { find /sys/class/infiniband -name 'mlx5_*' | wc -l; }
functions() { xhcactl list | tail -n +2 | wc -l; }
names() { (cd "$1" && echo *); }
# column NAME N: of the list
column() { xhcactl list | awk -v name="$1" -v n="$2" '$1 == name { print $n }'; }
json() { xhcactl list --json | jq -c '.[2]'; }
# put FILE VALUE: writes to a file of a function, without a check by xhcactl
put() { echo "$2" > "$CONFIG/$1"; }
[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug
# said REGEX: the kernel log has a line of xhca
said() { dmesg | grep -Eq "xhca: .*$1"; }

# ---- add, list, del
is "the functions of the VM are listed" "$(functions)" 2
ok "add a function with a MAC address" xhcactl add --mac $MAC third
is "it has a device" "$(devices)" 3
like "the list has it" "^third +roce $MAC 1 +10000:00:02.0 mlx5_2 +xnet2 +- +- +-$" xhcactl list
want="{\"name\":\"third\",\"model\":\"cx5\",\"link\":\"roce\",\"mac\":\"$MAC\",\"ports\":1"
want+=",\"address\":\"10000:00:02.0\",\"device\":\"mlx5_2\",\"interface\":\"xnet2\",\"netns\":null"
want+=",\"uplink\":null,\"shared\":false,\"fabric\":null,\"cpus\":null"
want+=",\"least_timeout\":true,\"strict\":false}"
is "list --json shows the function" "$(json | jq -c 'del(.frames, .peers)')" "$want"
like "list --long shows its model" '^    model: cx5$' xhcactl list --long
like "list --long shows that it has no frames" \
	'^    RoCE frames: 0 received, 0 dropped, 0 sent, 0 unsent$' xhcactl list --long
is "its interface has the MAC address" "$(< /sys/class/net/xnet2/address)" $MAC
like "its GUID is made of the MAC address" 'node_guid:\s+0011:22ff:fe33:4455' ibv_devinfo -d mlx5_2
ok "its interface comes up" ip link set xnet2 up
ok "it gets an address" ip address add 10.77.0.3/24 dev xnet2
ok "it has a GID of this address" wait_for 10 has_gid mlx5_2 10.77.0.3
pingpong "it reaches the first function" ibv_rc_pingpong mlx5_0 mlx5_2 -c -n 100
tap $BIN/../tests/dc_functions
ok "remove it by its device" xhcactl del mlx5_2
is "the device is gone" "$(devices)" 2
is "the interface is gone" "$(ls -d /sys/class/net/xnet2 2>/dev/null)" ""
is "the list does not show it" "$(functions)" 2
is "configfs does not have it" "$(ls -d $CONFIG/third 2>/dev/null)" ""

like "a function with two InfiniBand ports" '^2$' xhcactl add --link ib --ports 2
is "it has two ports" "$(names /sys/class/infiniband/mlx5_2/ports)" "1 2"
like "they are InfiniBand" 'link_layer:\s+InfiniBand' ibv_devinfo -d mlx5_2
like "they are active" 'state:\s+PORT_ACTIVE' ibv_devinfo -d mlx5_2
refused "its settings cannot change" 'busy' put 2/link roce
ok "the log says why" said 'function 2 is enabled'
ok "PCI removes it" sh -c 'echo 1 > /sys/bus/pci/devices/10000:00:02.0/remove'
ok "a rescan finds it again" sh -c 'echo 1 > /sys/bus/pci/rescan'
is "it has its device again" "$(devices)" 3
ok "PCI removes it again" sh -c 'echo 1 > /sys/bus/pci/devices/10000:00:02.0/remove'
ok "then xhcactl removes it, too" xhcactl del 2
ok "a rescan" sh -c 'echo 1 > /sys/bus/pci/rescan'
is "the rescan does not find the removed function" "$(devices)" 2

# ---- Refused
refused "a name that exists" 'function 0 exists' xhcactl add 0
refused "a link that does not exist" 'Invalid argument.*link=token' xhcactl add --link token
refused "a model that does not exist" \
	'Invalid argument.*model=cx4: must be cx5, cx6dx, cx7 or all' xhcactl add --model cx4
refused "InfiniBand ports of a ConnectX-6 Dx" \
	'Invalid argument.*model=cx6dx needs link=roce' xhcactl add --model cx6dx --link ib
refused "three ports" 'Invalid argument.*ports=3' xhcactl add --link ib --ports 3
refused "a number that is none" 'Invalid argument.*ports: not a number' xhcactl add --ports many
refused "a least timeout of 2" 'Invalid argument' put 0/least_timeout 2
refused "two RoCE ports" 'Invalid argument.*ports=2 needs link=ib' xhcactl add --ports 2
refused "a multicast address" 'Invalid argument.*mac=03' xhcactl add --mac 03:00:00:00:00:01
refused "half an address" 'Invalid argument.*mac=02:11' xhcactl add --mac 02:11:22
refused "the address of another function" 'already in use.*belongs to another' \
	xhcactl add --mac "$(< $CONFIG/0/mac)"
refused "a namespace that does not exist" 'no network namespace nowhere' \
	xhcactl add --netns nowhere
refused "a bad name" 'letters, digits' xhcactl add ../rdma_cm/x
refused "a bad name for the module" 'Invalid argument' mkdir $CONFIG/-x
refused "an unknown function" 'no function or device mlx5_7' xhcactl del mlx5_7
refused "an unknown option" 'usage' xhcactl add --color red
long_name=$(printf '%0300d' 0)
refused "the reason is not that of an earlier error" 'File name too long$' xhcactl add "$long_name"
is "no function is left of these" "$(names $CONFIG)" "0 1"

# shellcheck disable=SC2317 # called by refused
fill() { local i; for ((i = 2; i < 17; i++)); do mkdir $CONFIG/full$i || return; done; }
refused "a function more than there is room for" 'full16.*No space left' fill
ok "the log says how many there are" said 'no room for another function: all 16'
ok "functions that are not enabled can be removed" rmdir $CONFIG/full*

# ---- Network namespace
# Not the address that was used above: the ARP cache still has that one.
ip netns add blue
like "a function in a network namespace" '^2$' \
	xhcactl add --model cx7 --netns blue --no-least-timeout --strict
is "it has no least timeout" "$(json | jq .least_timeout)" false
is "it is strict" "$(json | jq .strict)" true
is "the list names the namespace" "$(column 2 8)" blue
there=$(< $CONFIG/2/interface)
is "its interface is not here" "$(ls -d /sys/class/net/xnet2 2>/dev/null)" ""
ok "its interface is in namespace blue" ip -n blue link show "$there"
ok "rdma shows the device here" rdma dev show mlx5_2
ip -n blue link set lo up
ip -n blue link set "$there" up
ip -n blue address add 10.77.0.4/24 dev "$there"
ok "it gets a GID" wait_for 10 has_gid mlx5_2 10.77.0.4
pingpong "it reaches the first function from there" ibv_rc_pingpong mlx5_0 mlx5_2 -c -n 100

# ---- save, restore
ok "save the list" xhcactl save "$WORK/conf"
like "a line for each function" \
	'^--model cx7 --link roce --mac .* --ports 1 --netns blue --no-least-timeout --strict 2$' \
	cat "$WORK/conf"
ok "remove the third function" xhcactl del 2
ip netns delete blue
ok "restore the list" xhcactl restore "$WORK/conf"
is "the function is back" "$(functions)" 3
is "the function is in its namespace" "$(column 2 8)" blue
is "and has its model" "$(json | jq -r .model)" cx7
is "and has no least timeout" "$(json | jq .least_timeout)" false
is "and is strict" "$(json | jq .strict)" true
ok "strict mode ends while it is enabled" put 2/strict 0
is "it has ended" "$(json | jq .strict)" false
ok "a second restore changes nothing" xhcactl restore "$WORK/conf"
is "there are three functions" "$(functions)" 3
ip netns delete blue
ok "its interface returns when the namespace is deleted" \
	wait_for 10 grep -q '' /sys/class/net/xnet2/address
is "the list shows no namespace" "$(column 2 8)" -
refused "the module is in use" 'in use' rmmod xhca
ok "remove it" xhcactl del 2

# shellcheck disable=SC2317 # called by ok
both_restore() {
	local first
	xhcactl restore "$WORK/conf" & first=$!
	xhcactl restore "$WORK/conf" && wait $first
}
ok "restore the list twice at the same time" both_restore
is "there are three functions" "$(functions)" 3
ip netns exec blue sleep 1000 &
holder=$!
ok "the namespace has a user" wait_for 10 eval \
	'[ "$(stat -Lc %i /proc/$holder/ns/net)" = "$(stat -c %i /run/netns/blue)" ]'
ip netns delete blue
refused "a namespace without a name is not saved" 'no name' xhcactl save "$WORK/conf.gone"
is "and no file is left" "$(compgen -G "$WORK/conf.gone*")" ""
kill $holder
ok "remove the third function again" xhcactl del 2
condition=$(sed -n "s/^ExecCondition=sh -c '\(.*\)'/\1/p" ../../../userlib/systemd/xhca.service.in)
ok "functions of xhca are no adapter for the service" sh -c "$condition"
is "other PCI functions of the vendor are" "$(sh -c "${condition/xhca\//none/}"; echo $?)" 1

# ---- RDMA devices that belong to one namespace each
ok "each device belongs to one network namespace" rdma system set netns exclusive
ip netns add green
like "a function in a network namespace" '^2$' xhcactl add --netns green
ok "its RDMA device is in namespace green" ip netns exec green rdma dev show mlx5_2
refused "its RDMA device is not in the first namespace" '' rdma dev show mlx5_2
ok "remove it by its name" xhcactl del 2
ip netns delete green
ok "devices are shared again" wait_for 10 rdma system set netns shared

# ---- Under traffic
head -c 4M /dev/urandom > "$WORK/from"
# Copies a file from the first function to the second and compares it, until told to stop.
copies() {
	local n=0
	until [ -e "$WORK/stop" ]; do
		"$BIN/xv_rsh" --via local --device "$DEV0" --peer-device "$DEV1" here \
			"cat > '$WORK/to'" < "$WORK/from" && cmp "$WORK/from" "$WORK/to" || return
		rm "$WORK/to"
		n=$((n + 1))
	done
	echo $n > "$WORK/copies"
}
# shellcheck disable=SC2317 # called by ok
cycles() {
	local i
	for ((i = 0; i < CYCLES; i++)); do
		xhcactl add --link $((i % 2)) x 2> /dev/null && return 1
		xhcactl add x && [ "$(devices)" = 3 ] || return
		xhcactl del x && [ "$(devices)" = 2 ] || return
	done
}
copies > "$WORK/log" 2>&1 &
traffic=$!
ok "$CYCLES times: add a function and remove it" cycles
touch "$WORK/stop"
wait $traffic
is "meanwhile two others copy files without an error" $? 0
[ -e "$WORK/copies" ] || diag < "$WORK/log"
ok "at least one file" [ "$(cat "$WORK/copies")" -ge 1 ]
echo "# $(cat "$WORK/copies") copies of 4 MiB"
is "debugfs has the functions that are left" \
	"$(find /sys/kernel/debug/xhca -mindepth 1 -type d -printf '%f\n' | sort | xargs)" "0 1"
rm -rf "$WORK"
finish
