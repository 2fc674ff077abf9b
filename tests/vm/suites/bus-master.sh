#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A function whose bus mastering is disabled does nothing: its requests wait, its peers get
# no answer, and it raises no interrupt. When bus mastering is enabled, it continues.
. ./lib.sh

MASTER=4	# in the low byte of PCI_COMMAND, at offset 4

# master DEVICE on|off
master() {
	local config=/sys/class/infiniband/$1/device/config command
	command=$(od -An -tu1 -j4 -N1 "$config")
	command=$((command & ~MASTER))
	[ "$2" = off ] || command=$((command | MASTER))
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\x$(printf %02x $command)" | dd of="$config" bs=1 seek=4 conv=notrunc status=none
}

# Number of requests that the adapter executed
wqes() { awk '$1 == "wqes" { print $2 }' /sys/kernel/debug/xhca/engine; }

# start_traffic SECONDS: starts traffic from DEV1 to DEV0
start_traffic() {
	local send before
	PORT=$((PORT + 1))
	send=(ib_send_bw -F -s 64 -D "$1" -p "$PORT")
	"${send[@]}" -d "$DEV0" -x "$(gid_index "$DEV0")" > "$OUT.server" 2>&1 &
	SERVER=$!
	wait_for 10 listening $PORT
	"${send[@]}" -d "$DEV1" -x "$(gid_index "$DEV1")" 127.0.0.1 > "$OUT.client" 2>&1 &
	CLIENT=$!
	before=$(wqes)
	# shellcheck disable=SC2016 # evaluated by wait_for
	wait_for 20 busy_since "$before"
}

# shellcheck disable=SC2317 # called by wait_for
busy_since() { [ "$(wqes)" -gt $(($1 + 200)) ]; }

# shellcheck disable=SC2317 # called by ok
ended() { wait "$1"; }

start_traffic 6
master "$DEV1" off
pause 0.5
before=$(wqes)
pause 0.5
is "without bus mastering a function executes no request" "$(wqes)" "$before"
before=$(wqes)
master "$DEV1" on
ok "with bus mastering it continues" wait_for 10 busy_since "$before"
ok "its program ends without an error" ended $CLIENT
ok "the program of the peer ends without an error" ended $SERVER

start_traffic 10
master "$DEV0" off
ended $CLIENT
like "without bus mastering a function does not answer its peer" 'status 12' cat "$OUT.client"
master "$DEV0" on
kill -KILL $SERVER
wait $SERVER 2> /dev/null
ok "with bus mastering commands are executed" ibv_devinfo -v -d "$DEV0"
perf "with bus mastering requests are executed" ib_send_bw -s 64 -n 1000
rm -f "$OUT.client"
finish
