#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Processes that are killed under traffic, that fork, pass their files to others or destroy
# objects in the wrong order leave no objects in the adapter. That holds for native programs
# and for programs of libibverbs and librdmacm that xv_run starts.
. ./lib.sh
BIN=../../../build/user
KILLS=10
! long || KILLS=200

# Kills processes that have traffic; each must end at once.
kill_under_traffic() {
	local i pid log
	log=$(mktemp)
	for i in $(seq $KILLS); do
		: > "$log"
		$BIN/tests/life traffic --device "$DEV0" --peer-device "$DEV1" > "$log" 2>&1 &
		pid=$!
		wait_for 20 grep -q running "$log" || { cat "$log"; return 1; }
		sleep "0.$((RANDOM % 100 + 100))"
		kill -9 $pid || return 1
		wait $pid 2> /dev/null
		[ $? -eq 137 ] || return 1
	done
	rm -f "$log"
}

# Programs that xverbs knows queue pairs of
holders() { "$BIN/bin/xv_devinfo" --resources | grep -E '^[[:space:]]*qp '; }

# The kernel keeps 15 characters of a name.
# shellcheck disable=SC2317 # called by wait_for
two_hold() {
	[ "$(holders | awk -v name="${1:0:15}" '$4 == name { print $3 }' | uniq | wc -l)" = 2 ]
}

# killed PROGRAM READY SERVER-ARGUMENT... -- CLIENT-ARGUMENT...: kills both ends, started by
# xv_run, several times while they send.
killed() {
	local prog=$1 ready=$2 server=() i pids good=1
	shift 2
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	for i in $(seq $((KILLS / 10))); do
		"$BIN/bin/xv_run" "$prog" "${server[@]}" > "$OUT.server" 2>&1 < /dev/null &
		pids=($!)
		# shellcheck disable=SC2086 # READY is a command with arguments
		wait_for 20 $ready
		"$BIN/bin/xv_run" "$prog" "$@" >> "$OUT.server" 2>&1 < /dev/null &
		pids+=($!)
		wait_for 20 two_hold "$prog" || { cat "$OUT.server"; good=; }
		pause "0.$((RANDOM % 100 + 200))"
		kill -9 "${pids[i % 2]}" || good=
		pause 0.05
		kill -9 "${pids[@]}" 2> /dev/null
		wait "${pids[@]}" 2> /dev/null
	done
	[ -n "$good" ] && ! holders
}

killed_programs() {
	local a=(-d "$DEV0") b=(-d "$DEV1") ga gb addr
	ga=$(gid_index "$DEV0")
	gb=$(gid_index "$DEV1")
	ok "ib_write_bw is killed under load" killed ib_write_bw "listening 18595" \
		"${a[@]}" -x "$ga" -F -D 60 -q 4 -p 18595 -- \
		"${b[@]}" -x "$gb" -F -D 60 -q 4 -p 18595 127.0.0.1
	nothing_left "ib_write_bw" "$before"
	ok "ibv_srq_pingpong is killed under load" killed ibv_srq_pingpong "listening 18594" \
		"${a[@]}" -g "$ga" -n 1000000 -e -p 18594 -- \
		"${b[@]}" -g "$gb" -n 1000000 -e -p 18594 127.0.0.1
	nothing_left "ibv_srq_pingpong" "$before"
	addr=$(ip -4 -o address show dev "$(interface "$DEV0")" | awk '{ print $4; exit }')
	ok "rping is killed under load" killed rping "cm_listening 18593" \
		-s -a "${addr%/*}" -p 18593 -S 60000 -- -c -a "${addr%/*}" -p 18593 -S 60000
	nothing_left "rping" "$before"
}

keys() { awk '/^mkeys/ { print $2 }' /sys/kernel/debug/xhca/0/objects; }

# shellcheck disable=SC2317 # called by wait_for
keys_at_rest() {
	local now
	now=$(keys)
	sleep 1
	[ "$(keys)" = "$now" ]
}

# A protection domain must not come with a key to all memory. The driver fills its cache of
# keys first, and may still add keys.
domains_without_keys() {
	local log pid before
	log=$(mktemp)
	wait_for 60 keys_at_rest
	before=$(keys)
	: > "$log"
	$BIN/tests/life domains --device mlx5_0 > "$log" 2>&1 &
	pid=$!
	wait_for 20 grep -q running "$log" || cat "$log"
	ok "64 protection domains do not create 64 memory keys" \
		test $(($(keys) - before)) -lt 64
	kill $pid
	wait $pid 2> /dev/null
	rm -f "$log"
}

$BIN/tests/ops > /dev/null		# fills the caches of the driver
before=$(objects)
ok "$KILLS processes are killed under traffic" kill_under_traffic
nothing_left "kill -9" "$before"
for test in order close fork pass; do
	tap $BIN/tests/life $test --device "$DEV0" --peer-device "$DEV1"
	nothing_left "$test" "$before"
done
tap $BIN/tests/shares --device "$DEV0"
killed_programs
domains_without_keys
tap $BIN/tests/ops
finish
