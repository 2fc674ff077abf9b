#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The device is fuzzed with all calls of the uAPI while its functions lose their driver and get
# it back. Then nothing is left: no object, no page, no reference to a module. Some objects stay
# with a device from their first use: those of xverbs until it is unloaded, those of the driver
# until the function loses it. So the counts are taken without xverbs, after a short run.
#
# SEED and FUZZ_TIME (seconds) in the environment repeat or prolong a run.
. ./lib.sh
BIN=../../../build/user
FUZZ_TIME=${FUZZ_TIME:-40}
seed=()
[ -z "${SEED:-}" ] || seed=(--seed "$SEED")

driver() { echo "$2" > "/sys/bus/pci/drivers/mlx5_core/$1"; }

pci_of() { basename "$(readlink -f "/sys/class/infiniband/$1/device")"; }

# Takes the driver from a function and gives it back, then from the other one, and so on. On a slow
# kernel this takes long; the calls need more time than that.
disturb() {
	local pci i began took=0
	pci=("$(pci_of "$DEV0")" "$(pci_of "$DEV1")")
	for ((i = 0; ; i++)); do
		pause $((8 + 2 * took))
		began=$SECONDS
		[ -e "$OUT.stop" ] && return
		driver unbind "${pci[i % 2]}" && pause 1 && driver bind "${pci[i % 2]}" || return
		ports_up
		took=$((SECONDS - began))
	done
}

# Programs that read what the kernel knows about objects
ask() {
	while ! [ -e "$OUT.stop" ]; do
		rdma resource show
		"$BIN/bin/xv_devinfo" --resources
		"$BIN/bin/xv_devinfo"
		pause 1
	done > /dev/null 2>&1
}

# Sockets that hold files are freed some time after the process has ended.
# shellcheck disable=SC2317 # called by wait_for
none_known() { [ -z "$(cat /sys/kernel/debug/xverbs/*/resources)" ]; }

GROUP=$(mktemp -d)
mount -t cgroup2 none "$GROUP"
echo +memory > "$GROUP/cgroup.subtree_control"
mkdir "$GROUP/fuzz"

# without_xverbs: a short run, then no xverbs
without_xverbs() {
	"$BIN/tests/fuzz" --seed 1 --time 3 --device "$DEV0" --peer-device "$DEV1" > /dev/null
	rmmod xverbs
}

ok "functions that can do everything" use_model all
ok "xverbs unloads after a short run" without_xverbs
before=$(objects)
ok "xverbs loads" load xverbs
disturb > "$OUT.disturb" 2>&1 &
helpers=($!)
ask &
helpers+=($!)
TAP_LIMIT=$((4 * FUZZ_TIME + 300)) tap bash -c "echo \$\$ > $GROUP/fuzz/cgroup.procs
	exec $BIN/tests/fuzz ${seed[*]} --time $FUZZ_TIME --device $DEV0 --peer-device $DEV1"
: > "$OUT.stop"
wait "${helpers[0]}"
is "the functions lost their driver and got it back" "$?" 0
diag < "$OUT.disturb"
wait "${helpers[@]}"
rm -f "$OUT.stop" "$OUT.disturb"

ok "xverbs knows no object" wait_for 10 none_known
ok "no page is left" wait_for 10 none_held "$GROUP/fuzz"
ok "xverbs unloads" without_xverbs
nothing_left "fuzz" "$before"
ok "xverbs loads again" load xverbs
tap "$BIN/tests/ops"
ok "a ConnectX-5 again" use_model cx5
rmdir "$GROUP/fuzz"
umount "$GROUP"
finish
