#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The device is removed while processes use it through /dev/xverbs: the driver is unbound, the
# functions are unplugged, or xhca is unloaded. The processes continue to run, and the modules
# can be unloaded.
. ./lib.sh

LIMIT=$((LIMIT * 2))
TESTBIN=../../../build/user/tests
PROGRAM=$(mktemp)

# start: starts the program in the background and waits until it has traffic
start() {
	"$TESTBIN/removal" --device mlx5_0 --peer-device mlx5_1 > "$PROGRAM" 2>&1 &
	PID=$!
	for ((i = 0; i < 300; i++)); do
		grep -q ready "$PROGRAM" && return
		kill -0 $PID 2>/dev/null || break
		sleep 0.1
	done
	return 1
}

# survived WHAT: the program must end by itself without a failed test
survived() {
	local rc
	wait $PID
	rc=$?
	is "$1: the process ends well" "$rc" 0
	grep -v '^ok' "$PROGRAM" | diag
}

pci=$(basename "$(readlink -f /sys/class/infiniband/mlx5_0/device)")
start && pass "traffic runs" || fail "traffic runs" "$(cat "$PROGRAM")"
ok "unbind the device of one side" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/unbind"
survived "unbind"
ok "bind it again" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/bind"

ports_up
start && pass "traffic runs again" || fail "traffic runs again" "$(cat "$PROGRAM")"
kill -9 $PID
wait $PID 2>/dev/null
ok "unload xverbs after a kill" rmmod xverbs
ok "load xverbs again" load xverbs

start && pass "traffic runs once more" || fail "traffic runs once more" "$(cat "$PROGRAM")"
ok "unplug the functions under traffic" xhcactl del --all
survived "unplug"
ok "unload xhca" rmmod xhca
ok "load xhca with functions" load xhca functions=2 link="$VM_LINK"
ports_up
start && pass "traffic runs with them" || fail "traffic runs with them" "$(cat "$PROGRAM")"
ok "unload xhca under traffic" rmmod xhca
survived "unload"
ok "unload xverbs" rmmod xverbs
ok "load xhca for the next suite" load xhca functions=2 link="$VM_LINK"
ok "load xverbs for the next suite" load xverbs
ports_up
rm -f "$PROGRAM"
finish
