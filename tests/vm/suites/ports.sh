#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# InfiniBand functions with two ports: stock programs and libxverbs on both.
. ./lib.sh
BIN=../../../build/user

for d in "$DEV0" "$DEV1"; do
	like "$d: ibv_devinfo counts two ports" 'phys_port_cnt:\s+2' ibv_devinfo -d "$d"
	is "$d: both ports are active and have different LIDs" \
		"$(ibv_devinfo -d "$d" | awk '/PORT_ACTIVE/ { n++ } /port_lid:/ { seen[$2] } \
			END { print n, length(seen) }')" "2 2"
done
for a in 1 2; do
	for b in 1 2; do
		PORT=$((PORT + 1))
		pair "ibv_rc_pingpong: port $a to port $b, validated" "listening $PORT" 'bytes in' \
			ibv_rc_pingpong -d "$DEV0" -i $a -p $PORT -n 50 -c -- \
			ibv_rc_pingpong -d "$DEV1" -i $b -p $PORT -n 50 -c 127.0.0.1
	done
done
PORT=$((PORT + 1))
pair "ibv_ud_pingpong: port 1 to port 2 of one device, validated" "listening $PORT" 'bytes in' \
	ibv_ud_pingpong -d "$DEV0" -i 1 -p $PORT -s 1024 -n 50 -c -- \
	ibv_ud_pingpong -d "$DEV0" -i 2 -p $PORT -s 1024 -n 50 -c 127.0.0.1

counter() { cat "/sys/class/infiniband/$1/ports/$2/counters/port_xmit_packets"; }
before=$(counter "$DEV0" 1)
PORT=$((PORT + 1))
pair "ib_write_bw on port 2" "listening $PORT" '^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+' \
	ib_write_bw -F -d "$DEV0" -i 2 -p $PORT -s 4096 -n 500 -- \
	ib_write_bw -F -d "$DEV1" -i 2 -p $PORT -s 4096 -n 500 127.0.0.1
is "traffic of port 2 does not count on port 1" "$(counter "$DEV0" 1)" "$before"

refused "an event of a port that does not exist is refused" 'error|nvalid' \
	sh -c 'echo lid 3 > /sys/kernel/debug/xhca/0/port_event'
PORT_EVENT=/sys/kernel/debug/xhca/0/port_event \
	tap $BIN/tests/ports --device "$DEV0" --peer-device "$DEV1"

tap ../../../build/stock/mixed "$DEV0"

# Connections of rdma_cm on port 1 migrate to port 2. The words of SERVER and CLIENT stand before
# the options.
NATIVE=$BIN/examples/cm_apm
STOCK="../../../build/stock/rdma_apm -a $ADDR0"
migrates() {
	local what=$1 server client
	PORT=$((PORT + 1))
	read -ra server <<< "$2 -p $PORT"
	read -ra client <<< "ip netns exec peer $3 -p $PORT"
	[[ $2 != *rdma_apm* ]] || server+=(-s)
	[[ $3 != *cm_apm ]] || client+=("$ADDR0")
	pair "path migration: $what: the client" "cm_listening $PORT" \
		'^client: 100 rounds, migrated to port 2$' "${server[@]}" -- "${client[@]}"
	like "path migration: $what: the server" '^server: 100 rounds, migrated to port 2$' \
		cat "$OUT.server"
}
ok "IPoIB on port 1 of both, in two network namespaces" ipoib_up
migrates "native" "$NATIVE" "$NATIVE"
migrates "xv_run" "$BIN/bin/xv_run $STOCK" "$BIN/bin/xv_run $STOCK"
migrates "native and stock" "$NATIVE" "$STOCK"
ok "back in one namespace" ipoib_down
finish
