#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each device has a node, /dev/infiniband/xverbsN, that decides who may use it: by its mode, by a
# device cgroup, or because a container has only the nodes of some devices.
. ./lib.sh
BIN=$(cd ../../.. && pwd)/build/user
NODES="$BIN/tests/nodes --device $DEV0 --peer-device $DEV1"
EPERM=1 ENOENT=2

# node DEVICE: prints the name of its node
node() {
	local f
	for f in /sys/class/xverbs/*/ibdev; do
		[ "$(< "$f")" != "$1" ] || basename "${f%/ibdev}"
	done
}

node0=$(node "$DEV0") node1=$(node "$DEV1")
like "each device has a node" '^xverbs[0-9]+ xverbs[0-9]+$' echo "$node0 $node1"
is "the node has the number that sysfs shows" "$(stat -c '%Hr:%Lr' "/dev/infiniband/$node0")" \
	"$(< "/sys/class/xverbs/$node0/dev")"
is "it belongs to the PCI function of the device" \
	"$(readlink -f "/sys/class/xverbs/$node0/device")" \
	"$(readlink -f "/sys/class/infiniband/$DEV0/device")"
is "without udev, all users may open it" "$(stat -c %a "/dev/infiniband/$node0")" 666
is "xv_devinfo shows it" "$("$BIN/bin/xv_devinfo" --device "$DEV0" --json | jq -r '.[0].node')" \
	"$node0"
# shellcheck disable=SC2086 # a command with arguments
tap $NODES

# ---- A new name of the device
ok "the device gets another name" rdma dev set "$DEV0" name other0
is "the node stays and shows the name" "$(node other0)" "$node0"
like "it is opened by the new name" "^other0: .*$node0" "$BIN/bin/xv_devinfo" --device other0
ok "it gets its name back" rdma dev set other0 name "$DEV0"

# ---- A module in use
exec {held}<>"/dev/infiniband/$node0"
refused "the module stays as long as a node is open" 'in use' rmmod xverbs
exec {held}>&-

# ---- The device cgroup of version 1 and the BPF programs of version 2 have the same hook.
groups=$(mktemp -d)
if mount -t cgroup -o devices none "$groups" 2> /dev/null; then
	mkdir "$groups/one"
	echo "c $(< "/sys/class/xverbs/$node0/dev") rw" > "$groups/one/devices.deny"
	tap bash -c "echo \$\$ > $groups/one/cgroup.procs; exec $NODES refused $EPERM"
	rmdir "$groups/one"
	umount "$groups"
else
	skip "a device cgroup" "the kernel has none"
fi
rmdir "$groups"

# ---- A container with a /dev of its own, in its own user, mount and PID namespaces
container() {
	unshare --user --map-root-user --mount --pid --fork bash -c '
		dev=$(mktemp -d)
		mount -t tmpfs none "$dev" && mkdir "$dev/infiniband" || exit
		for f in null xverbs "infiniband/$0"; do
			touch "$dev/$f" && mount --bind "/dev/$f" "$dev/$f" || exit
		done
		mount --rbind "$dev" /dev && exec "$@"' "$node1" "$@"
}

# shellcheck disable=SC2317 # called by refused
make_node() {
	local number
	number=$(< "/sys/class/xverbs/$node0/dev")
	container mknod "/dev/infiniband/$node0" c "${number%:*}" "${number#*:}"
}

# ibv_devinfo ends with status -1 for a device that it does not find.
# shellcheck disable=SC2317 # called by like
hidden_device() {
	container "$BIN/bin/xv_run" ibv_devinfo -d "$DEV0"
	[ $? -eq 255 ]
}

# shellcheck disable=SC2317 # called by tap
if container true 2> "$OUT"; then
	container_tap=$(mktemp)
	declare -f container > "$container_tap"
	# shellcheck disable=SC2086 # a command with arguments
	tap bash -c ". $container_tap; node1=$node1; container $NODES refused $ENOENT"
	rm -f "$container_tap"
	refused "a container cannot make the node of another device" 'not permitted' make_node
	like "xv_run finds the device of the container" "hca_id:	$DEV1" \
		container "$BIN/bin/xv_run" ibv_devinfo
	like "and not the other one" "wasn't found" hidden_device
else
	skip "a container" "the kernel has no user namespaces"
fi
finish
