#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The stock tools see the functions, active ports, GIDs and events.
. ./lib.sh

count=$VM_FUNCTIONS
layer=Ethernet
[ "$VM_LINK" = ib ] && layer=InfiniBand

is "one RDMA device per function" "$(find /sys/class/infiniband -name 'mlx5_*' | wc -l)" "$count"
for ((i = 0; i < count; i++)); do
	d=mlx5_$i
	[ "$i" -lt 2 ] || [ "$i" -eq $((count - 1)) ] || continue
	like "ibv_devices lists $d" "$d" ibv_devices
	like "$d: port is active" 'state:\s+PORT_ACTIVE' ibv_devinfo -d "$d"
	like "$d: link layer is $layer" "link_layer:\s+$layer" ibv_devinfo -d "$d"
done
for what in 'hca_id:' 'transport:\s+InfiniBand' 'fw_ver:' 'max_qp:\s+[1-9]' 'GID\['; do
	like "ibv_devinfo -v prints $what" "$what" ibv_devinfo -v -d "$DEV0"
done
like "rdma link shows the port as ACTIVE" "$DEV1/1 .*state ACTIVE" rdma link show "$DEV1/1"
like "rdma resource counts kernel objects" "$DEV0: .*qp [1-9]" rdma resource show "$DEV0"
ok "sysfs shows the port as ACTIVE" grep -q ACTIVE "/sys/class/infiniband/$DEV0/ports/1/state"
if [ "$VM_LINK" = roce ]; then
	like "RoCE v1 GIDs" 'RoCE v1' cat "/sys/class/infiniband/$DEV0/ports/1/gid_attrs/types/0"
	like "RoCE v2 GIDs" 'RoCE v2' cat "/sys/class/infiniband/$DEV0/ports/1/gid_attrs/types/1"
	is "a RoCE v2 GID from the IPv4 address" "$([ -n "$(gid_index "$DEV1")" ] && echo yes)" yes

	netdev=$(interface "$DEV0")
	log=$(mktemp)
	stdbuf -oL ibv_asyncwatch -d "$DEV0" > "$log" &
	watch=$!
	wait_for 10 grep -q 'async event' "$log"
	ip link set "$netdev" down
	ok "ibv_asyncwatch sees the port go down" wait_for 10 grep -q EVENT_PORT_ERR "$log"
	ip link set "$netdev" up
	ok "ibv_asyncwatch sees the port become active" wait_for 10 grep -q EVENT_PORT_ACTIVE "$log"
	ip address add 10.79.0.1/24 dev "$netdev"
	ok "ibv_asyncwatch sees a new GID" wait_for 10 grep -q EVENT_GID_CHANGE "$log"
	ip address delete 10.79.0.1/24 dev "$netdev"
	kill $watch
	rm -f "$log"
else
	log=$(mktemp)
	stdbuf -oL ibv_asyncwatch -d "$DEV0" > "$log" &
	watch=$!
	wait_for 10 grep -q 'async event' "$log"
	for event in lid:LID_CHANGE pkey:PKEY_CHANGE client_reregister:CLIENT_REREGISTER; do
		echo ${event%:*} > /sys/kernel/debug/xhca/0/port_event
		ok "ibv_asyncwatch sees ${event#*:}" wait_for 10 grep -q "EVENT_${event#*:}" "$log"
	done
	refused "an unknown event is refused" 'error|nvalid' \
		sh -c 'echo storm > /sys/kernel/debug/xhca/0/port_event'
	kill $watch
	rm -f "$log"
fi
finish
