#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Faults under traffic: the stock driver recovers as on hardware, and processes that use
# /dev/xverbs see the events.
. ./lib.sh

LIMIT=$((LIMIT * 3))
TESTBIN=../../../build/user/tests
PROGRAM=$(mktemp)
LOG=$(mktemp)
WRITES=10000000	# more than there is time for
GID0=() GID1=()

devices() { find /sys/class/infiniband -name 'mlx5_*' | wc -l; }
two_devices() { [ "$(devices)" = 2 ]; }
state() { cat "/sys/class/infiniband/$1/ports/1/state"; }
is_state() { [[ $(state "$1") == *"$2" ]]; }
reports() { devlink health show "pci/$1" reporter fw_fatal | grep -q "$2"; }
said() { dmesg | grep -q "$1"; }

# start WHAT: starts the program in the background and waits until it has traffic
start() {
	# The shell empties the file only when it starts the program, which can be after wait_for.
	: > "$PROGRAM"
	"$TESTBIN/removal" --device "$DEV0" --peer-device "$DEV1" > "$PROGRAM" 2>&1 &
	PID=$!
	ok "$1: traffic runs" wait_for 60 grep -q ready "$PROGRAM"
}

# survived WHAT: the program must end by itself without a failed test
survived() {
	local rc
	wait $PID
	rc=$?
	is "$1: the process sees the removal and ends well" "$rc" 0
	grep -v '^ok' "$PROGRAM" | diag
}

# flow TIMEOUT: writes from the second device to the first, which wait 4.096 us * 2^TIMEOUT for
# an answer, eight times
flow() {
	PORT=$((PORT + 1))
	ib_write_bw -F -N -n $WRITES -u "$1" -d "$DEV0" "${GID0[@]}" -p $PORT > /dev/null 2>&1 &
	wait_for 10 listening $PORT
	ib_write_bw -F -N -n $WRITES -u "$1" -d "$DEV1" "${GID1[@]}" -p $PORT 127.0.0.1 \
		> "$PROGRAM" 2>&1 &
	PID=$!
}

refused "an unknown fault" 'Invalid argument.*must be firmware' xhcactl fault 0 fire

# ---- Link
# mlx5_ib tells how a port changed since the last event of its interface. If the interface was up
# before mlx5_ib was bound, as after other suites, there was none: then the first loss of the link
# has no event.
ok "the link goes down" xhcactl fault 0 down
ok "the port is down" wait_for 60 is_state "$DEV0" DOWN
ok "the link comes up" xhcactl fault 0 up
ok "the port is active" wait_for 60 is_state "$DEV0" ACTIVE
stdbuf -oL ibv_asyncwatch -d "$DEV0" > "$LOG" &
watch=$!
ok "ibv_asyncwatch runs" wait_for 60 grep -q 'async event' "$LOG"
ok "the link goes down again" xhcactl fault 0 down
ok "the port is down again" wait_for 60 is_state "$DEV0" DOWN
ok "ibv_asyncwatch sees it" wait_for 60 grep -q EVENT_PORT_ERR "$LOG"
if [ "$VM_LINK" = roce ]; then
	is "the interface has no carrier" "$(cat "/sys/class/net/$(interface "$DEV0")/carrier")" 0
fi
ok "the link comes up again" xhcactl fault 0 up
ok "the port is active again" wait_for 60 is_state "$DEV0" ACTIVE
ok "ibv_asyncwatch sees that, too" wait_for 60 grep -q EVENT_PORT_ACTIVE "$LOG"
kill $watch
wait $watch 2>/dev/null
ports_up
pingpong "and data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100

# ---- Link, under traffic
# A short loss costs retries only; if all retries fail, the queue pair fails.
if [ "$VM_LINK" = roce ]; then
	GID0=(-x "$(gid_index "$DEV0")") GID1=(-x "$(gid_index "$DEV1")")
fi
for timeout in 18 10; do
	received=$(hw_counter "$DEV0" rx_write_requests)
	lost=$(hw_counter "$DEV1" local_ack_timeout_err)
	flow $timeout
	ok "timeout $timeout: data flows" wait_for 20 grown "$DEV0" rx_write_requests "$received"
	ok "the link is lost" xhcactl fault 0 down
	ok "requests get no answer" wait_for 10 grown "$DEV1" local_ack_timeout_err "$lost"
	if [ $timeout = 18 ]; then
		received=$(hw_counter "$DEV0" rx_write_requests)
		ok "the link is back" xhcactl fault 0 up
		ok "data flows again" wait_for 20 grown "$DEV0" rx_write_requests "$received"
		kill $PID
		wait $PID
		is "the program had no error" $? 143
	else
		wait $PID
		is "the traffic fails" $? 1
		like "with all retries used" 'status 12' cat "$PROGRAM"
		ok "the link is back" xhcactl fault 0 up
	fi
	ok "the port is active" wait_for 60 is_state "$DEV0" ACTIVE
done
wait
ports_up
pingpong "and data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100

# ---- Firmware
dmesg -C
start "firmware error"
ok "the firmware fails" xhcactl fault 0 firmware
survived "firmware error"
ok "the driver has found the error" said 'Fatal error 5 detected'
ok "it recovers" wait_for 60 said 'health recovery succeeded'
ok "the device is back" wait_for 60 two_devices
ports_up
pingpong "and data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100

# ---- devlink: the administrator recovers and reloads
dmesg -C
pci=$(basename "$(readlink -f "/sys/class/infiniband/$DEV0/device")")
ok "no recovery without the administrator" \
	devlink health set "pci/$pci" reporter fw_fatal auto_recover false
start "devlink health recover"
ok "the firmware fails again" xhcactl fault 0 firmware
ok "the reporter says so" wait_for 60 reports "$pci" 'state error'
is "no recovery has begun" "$(dmesg | grep -c 'starting health recovery')" 0
ok "the administrator recovers it" devlink health recover "pci/$pci" reporter fw_fatal
survived "devlink health recover"
ok "the reporter is healthy" reports "$pci" 'state healthy'
is "it has recovered once" "$(dmesg | grep -c 'health recovery succeeded')" 1
ok "the device is back after devlink" wait_for 60 two_devices
ok "recovery by itself again" \
	devlink health set "pci/$pci" reporter fw_fatal auto_recover true
start "devlink reload"
for limit in '' 'limit no_reset'; do
	# shellcheck disable=SC2086 # two words
	refused "the firmware cannot be activated ${limit:-by a reset}" 'kernel answers:' \
		devlink dev reload "pci/$pci" action fw_activate $limit
done
ok "the process still has its device" kill -0 $PID
ok "the driver starts anew" devlink dev reload "pci/$pci" action driver_reinit
survived "devlink reload"
ok "the device is back after the reload" wait_for 60 two_devices
ports_up
pingpong "and data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100

# ---- Reset of the function, as before a virtual machine gets it
pci=$(basename "$(readlink -f "/sys/class/infiniband/$DEV0/device")")
like "the function can be reset" flr cat "/sys/bus/pci/devices/$pci/reset_method"
ok "unbind the driver" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/unbind"
ok "reset the function" sh -c "echo 1 > /sys/bus/pci/devices/$pci/reset"
ok "bind the driver" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/bind"
ok "the device is back after that" wait_for 60 two_devices
ports_up
pingpong "and data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100

# ---- Reset of the function under traffic
# The driver has no callback for a reset. Its health poll finds that the function is disabled.
dmesg -C
start "reset"
ok "reset the function that is in use" sh -c "echo 1 > /sys/bus/pci/devices/$pci/reset"
survived "reset"
ok "the driver has found the reset" said 'Fatal error 3 detected'
ok "it recovers from the reset" wait_for 60 said 'health recovery succeeded'
ok "the device is back after the reset" wait_for 60 two_devices
ports_up
pingpong "and data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100

# ---- Errors of the link to the host
dmesg -C
start "PCI error"
ok "a PCI error" xhcactl fault 0 pci-error
survived "PCI error"
ok "the driver recovers" wait_for 60 said 'PCI error: the driver has recovered'
ok "the device is back after the error" wait_for 60 two_devices
ports_up
pingpong "and data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100

# ---- Surprise removal
start "unplugged"
ok "the function is unplugged" xhcactl fault 0 unplug
survived "unplugged"
is "its device is gone" "$(devices)" 1
ok "it is plugged in again" sh -c 'echo 1 > /sys/kernel/config/xhca/0/enable'
ok "its device is back" wait_for 60 two_devices
ports_up
pingpong "and data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100
rm -f "$PROGRAM" "$LOG"
finish
