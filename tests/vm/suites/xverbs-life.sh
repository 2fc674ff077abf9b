#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Processes that are killed under traffic, that fork, pass their files to others or destroy
# objects in the wrong order leave no objects in the adapter.
. ./lib.sh
BIN=../../../build/user
KILLS=40
! full || KILLS=200
! debug_kernel || KILLS=10

# Keys are left out: the driver caches them.
objects() {
	[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug
	grep -HE 'uars|cqs|qps|srqs|pds|xrcds' /sys/kernel/debug/xhca/[0-9]*/objects
}

at_rest() { [ "$(objects)" = "$before" ]; }

nothing_left() {
	if wait_for 10 at_rest; then pass "$1: no object is left in the adapter"
	else fail "$1: no object is left in the adapter" "$(diff <(echo "$before") <(objects))"; fi
}

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
nothing_left "kill -9"
for test in order close fork pass; do
	tap $BIN/tests/life $test --device "$DEV0" --peer-device "$DEV1"
	nothing_left "$test"
done
domains_without_keys
tap $BIN/tests/ops
finish
