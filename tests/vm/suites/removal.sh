#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The device is removed while processes use it through /dev/xverbs: the driver is unbound, the
# functions are unplugged, or xhca is unloaded. The processes continue to run, and the modules
# can be unloaded. The processes are native programs and programs of libibverbs and librdmacm.
. ./lib.sh

LIMIT=$((LIMIT * 2))
TESTBIN=../../../build/user/tests
BIN=../../../build/user/bin
PROGRAM=$(mktemp)

# start: starts the program in the background and waits until it has traffic
start() {
	# grep may read the file before the background process opens and empties it.
	: > "$PROGRAM"
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

# Programs of librdmacm and libibverbs that xv_run starts: connections by address, which need
# RoCE here, and a program that prints events
programs=(ib_write_bw ibv_asyncwatch)
[ "$VM_LINK" != roce ] || programs+=(rping)

# background NAME ARGUMENT...: starts a program by xv_run; its output is in $OUT.NAME
background() {
	"$BIN/xv_run" "$@" >> "$OUT.$1" 2>&1 < /dev/null &
	PIDS+=($!)
}

holders() { "$BIN/xv_devinfo" --resources | grep -cE '^[[:space:]]*qp '; }
hold() { [ "$(holders)" -ge "$1" ]; }

programs_run() {
	local bw=(-F -D 60 -p 18592) qps=2 addr name
	PIDS=()
	for name in "${programs[@]}"; do : > "$OUT.$name"; done
	background ibv_asyncwatch -d "$DEV0"
	background ib_write_bw "${bw[@]}" -d "$DEV0" -x "$(gid_index "$DEV0")"
	wait_for 20 listening 18592 || return
	background ib_write_bw "${bw[@]}" -d "$DEV1" -x "$(gid_index "$DEV1")" 127.0.0.1
	if [ "$VM_LINK" = roce ]; then
		addr=$(ip -4 -o address show dev "$(interface "$DEV0")" | awk '{ print $4; exit }')
		background rping -s -a "${addr%/*}" -p 18591 -S 60000
		wait_for 20 cm_listening 18591 || return
		background rping -c -a "${addr%/*}" -p 18591 -S 60000
		qps=4
	fi
	wait_for 30 hold $qps && pause 1
}

# Programs that poll their queues forever must be killed; none of them may hold anything then.
programs_end() {
	pause 1
	kill -9 "${PIDS[@]}" 2> /dev/null
	wait "${PIDS[@]}" 2> /dev/null
	[ "$(holders)" = 0 ]
}

programs_start() {
	programs_run && pass "programs of libibverbs run on xverbs" ||
		fail "programs of libibverbs run on xverbs" "$(tail -n 5 "$OUT".[ir]*)"
}

# shellcheck disable=SC2317 # called by wait_for
printed() { grep -q "$2" "$OUT.$1"; }

# The driver finds failing firmware after seconds.
programs_see_removal() {
	local name
	wait_for 60 printed ibv_asyncwatch DEVICE_FATAL
	[ "$VM_LINK" != roce ] || wait_for 60 printed rping 'device removal'
	ok "the programs end or are killed, and hold nothing" programs_end
	like "ibv_asyncwatch had the event" 'DEVICE_FATAL' cat "$OUT.ibv_asyncwatch"
	[ "$VM_LINK" != roce ] ||
		like "rping had the event of rdma_cm" 'device removal' cat "$OUT.rping"
	for name in "${programs[@]}"; do rm -f "$OUT.$name"; done
}

driver() { echo "$pci" > "/sys/bus/pci/drivers/mlx5_core/$1"; }
# shellcheck disable=SC2317 # called by ok
plug() { echo 1 > /sys/kernel/config/xhca/0/enable; }
is_back() { wait_for 60 test -d "/sys/class/infiniband/$DEV0"; }

# removed_under_programs WHAT COMMAND...: COMMAND removes the device that programs use
removed_under_programs() {
	programs_start
	ok "$@"
	programs_see_removal
}

# The device of a connection of libxvcm is removed by the test itself.
removed_under_connection() {
	local addr
	addr=$(ip -4 -o address show dev "$(interface "$DEV0")" | awk '{ print $4; exit }')
	tap "$TESTBIN/cm" removal "${addr%/*}" "$pci"
	ok "bind it after that" driver bind
	ports_up
}

pci=$(basename "$(readlink -f /sys/class/infiniband/mlx5_0/device)")
start && pass "traffic runs" || fail "traffic runs" "$(cat "$PROGRAM")"
ok "unbind the device of one side" driver unbind
survived "unbind"
ok "bind it again" driver bind

ports_up
tap "$BIN/xv_run" ../../../build/stock/groups "$DEV0" \
	"echo $pci > /sys/bus/pci/drivers/mlx5_core/unbind"
ok "bind it after the groups" driver bind

ports_up
tap ../../../build/user/tests/doca/removal "$pci"
ok "bind it after the tasks" driver bind

ports_up
tap ../../../build/user/tests/doca/jobs_removal mlx5_0 "$pci"
ok "bind it after the jobs" driver bind

ports_up
start && pass "traffic runs again" || fail "traffic runs again" "$(cat "$PROGRAM")"
kill -9 $PID
wait $PID 2>/dev/null
ok "unload xverbs after a kill" rmmod xverbs
ok "load xverbs again" load xverbs

removed_under_programs "unbind their device" driver unbind
ok "bind the device" driver bind
ports_up
removed_under_programs "their function is unplugged" xhcactl fault 0 unplug
ok "it is plugged in again" plug
ok "its device is back" is_back
ports_up
if full; then
	removed_under_programs "their firmware fails" xhcactl fault 0 firmware
	ok "the driver has recovered" is_back
	ports_up
fi
[ "$VM_LINK" != roce ] || removed_under_connection
programs_start
start && pass "traffic runs once more" || fail "traffic runs once more" "$(cat "$PROGRAM")"
ok "unplug the functions under traffic" xhcactl del --all
survived "unplug"
programs_see_removal
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
