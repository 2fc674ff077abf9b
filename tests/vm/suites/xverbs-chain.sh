#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cross-channel requests: managed queues, waits, chains, calculation, errors; processes
# that are killed and devices that are removed while chains run.
. ./lib.sh
BIN=../../../build/user/tests
LOG=$(mktemp)
KILLS=10
! long || KILLS=20
! debug_kernel || KILLS=3

# start: starts endless chains in the background
start() {
	: > "$LOG"
	"$BIN/chain" run --device "$DEV0" --peer-device "$DEV1" > "$LOG" 2>&1 &
	PID=$!
	wait_for 30 grep -q running "$LOG" || { cat "$LOG"; return 1; }
}

kill_chains() {
	local i
	for i in $(seq $KILLS); do
		start || return 1
		pause "0.$((RANDOM % 100 + 100))"
		kill -9 $PID || return 1
		wait $PID 2> /dev/null
		[ $? -eq 137 ] || return 1
	done
}

ok "functions that can wait for data and for a time" use_model all
tap $BIN/chain_unit
for prog in chain chain_counts chain_errors calc coll coll_lacking coll_attributes; do
	tap $BIN/$prog --device "$DEV0" --peer-device "$DEV1"
done
killings=some
! long || killings=all
tap $BIN/coll_errors --device "$DEV0" --peer-device "$DEV1" $killings
# Newer drivers create a queue pair of their own with the first region.
before=$(objects)
ok "$KILLS processes are killed while their chains run" kill_chains
nothing_left "the kills" "$before"

pci=$(basename "$(readlink -f "/sys/class/infiniband/$DEV0/device")")
start && pass "chains run" || fail "chains run" "$(cat "$LOG")"
ok "unbind the device" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/unbind"
wait $PID
is "the process ends well" "$?" 0
grep -v '^ok' "$LOG" | diag
ok "bind it again" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/bind"
ok "functions that cannot" use_model cx5
tap $BIN/chain --device "$DEV0" --peer-device "$DEV1"
rm -f "$LOG"
finish
