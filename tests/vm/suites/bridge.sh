#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bridge between libxverbs and libibverbs: protection domains and memory of one library with
# queues of the other, what debugfs and rdma show of it, and the removal of the device.
. ./lib.sh
BIN=../../../build/user
STOCK=../../../build/stock
both=(--device "$DEV0" --peer-device "$DEV1")

pds() { rdma resource show pd | grep -c "dev $DEV0 " || :; }

before=$(pds)
tap $BIN/tests/bridge "${both[@]}"
tap $BIN/tests/bridge_errors "${both[@]}"
diag <<< "both ends on one function"
tap $BIN/tests/bridge --device "$DEV0" --peer-device "$DEV0"
tap $STOCK/wrap "$DEV0" "$(gid_index "$DEV0")"
like "example" '1048576 bytes written and compared' $BIN/examples/bridge -d "$DEV0"
like "example: ibv_dealloc_pd" 'in use: Device or resource busy' $BIN/examples/bridge -d "$DEV0"
is "no protection domain is left" "$(pds)" "$before"

# start: a process that holds imports until the device is removed
start() {
	: > "$OUT.hold"
	$BIN/tests/bridge_errors "${both[@]}" hold > "$OUT.hold" 2>&1 &
	holder=$!
	wait_for 30 grep -q ready "$OUT.hold"
}

# imports: the lines of debugfs
# shellcheck disable=SC2317 # called by like
imports() { $BIN/bin/xv_devinfo --resources --device "$DEV0"; }

# users: numbers of users of the protection domains of the process in resource tracking
# shellcheck disable=SC2317 # called by like
users() { rdma resource show pd | grep "dev $DEV0 .*pid $holder "; }

ok "a process imports protection domains" start
like "xv_devinfo: the import" "^	imported-pd +0x[0-9a-f]+ +$holder bridge_errors +0$" imports
is "xv_devinfo: two imports" "$(imports | grep -c imported-pd)" 2
like "rdma: an import is a user of the protection domain" 'users 1 ' users
pci=$(basename "$(readlink -f "/sys/class/infiniband/$DEV0/device")")
ok "unbind the device" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/unbind"
wait "$holder"
is "the process ends well" "$?" 0
grep -v '^ok' "$OUT.hold" | diag
ok "bind it again" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/bind"
ports_up
tap $BIN/tests/bridge "${both[@]}"

ok "a process imports them again" start
kill -9 "$holder"
wait "$holder" 2>/dev/null
# shellcheck disable=SC2317 # called by wait_for
none_left() { [ "$(imports | grep -c imported-pd)" = 0 ]; }
ok "nothing is left of a process that was killed" wait_for 10 none_left
rm -f "$OUT.hold"
finish
