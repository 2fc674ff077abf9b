#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Limits and charges of a process, and RDMA devices in other network namespaces.
. ./lib.sh
BIN=../../../build/user
devices() { "$@" "$BIN/bin/xv_devinfo" --json | jq -r 'map(.name) | join(" ")'; }

tap $BIN/tests/limits --device "$DEV0" --peer-device "$DEV1"
tap $BIN/tests/limits rings --device "$DEV0"
tap $BIN/tests/limits users --device "$DEV0"
tap $BIN/tests/limits exec 200 --device "$DEV0"

# ---- Rings are charged to the memory cgroup of their process
GROUPS_AT=$(mktemp -d)
mount -t cgroup2 none "$GROUPS_AT"
echo +memory > "$GROUPS_AT/cgroup.subtree_control"
mkdir "$GROUPS_AT/holder"
used() { echo $(($(<"$GROUPS_AT/holder/memory.current"))); }
released() { [ "$(used)" -lt $((with - bytes)) ]; }

(echo $BASHPID > "$GROUPS_AT/holder/cgroup.procs"
 exec $BIN/tests/limits hold --device "$DEV0" --peer-device "$DEV1" > "$OUT.hold" 2>&1) &
pid=$!
ok "a process creates queues" wait_for 20 grep -q holding "$OUT.hold"
bytes=$(awk '$1 == "holding" { print $2 }' "$OUT.hold")
with=$(used)
is "its memory cgroup is charged for all $bytes bytes of rings" $((with >= bytes)) 1
kill $pid
wait $pid
ok "the charge ends with the process" wait_for 10 released

# shellcheck disable=SC2317 # called by ok
many_objects() {
	local test
	for test in {uapi,states,external}{,,,}; do
		(echo $BASHPID > "$GROUPS_AT/holder/cgroup.procs"; exec $BIN/tests/$test) || return
	done
}

ok "programs create and destroy all kinds of objects in a memory cgroup" many_objects
ok "no page of the destroyed objects is left" wait_for 10 none_held "$GROUPS_AT/holder"
echo "# $(pages_held "$GROUPS_AT/holder") pages"

# At the limit of its memory cgroup, a process gets an error and is not killed.
mkdir "$GROUPS_AT/small"
echo 24M > "$GROUPS_AT/small/memory.max"
tap bash -c "echo \$\$ > $GROUPS_AT/small/cgroup.procs
	exec $BIN/tests/limits memory 24 --device $DEV0"
is "no process was killed for lack of memory" \
	"$(awk '$1 == "oom_kill" { print $2 }' "$GROUPS_AT/small/memory.events")" 0
rmdir "$GROUPS_AT/small"

# ---- Bound files and objects count in the rdma cgroup
echo +rdma > "$GROUPS_AT/cgroup.subtree_control"
mkdir "$GROUPS_AT/few"
echo "$DEV0 hca_handle=1 hca_object=5" > "$GROUPS_AT/few/rdma.max"
tap bash -c "echo \$\$ > $GROUPS_AT/few/cgroup.procs
	exec $BIN/tests/limits objects 5 --device $DEV0"
ok "a closed file leaves no charge" \
	grep -q "^$DEV0 hca_handle=0 hca_object=0" "$GROUPS_AT/few/rdma.current"
# The kernel frees the limits of a group when they are set to "max", but not when the group
# is deleted; then the removal of the device would use freed memory (kernel/cgroup/rdma.c).
echo "$DEV0 hca_handle=max hca_object=max" > "$GROUPS_AT/few/rdma.max"
rmdir "$GROUPS_AT/few" "$GROUPS_AT/holder"
umount "$GROUPS_AT"

# ---- RDMA devices of network namespaces
ok "each device belongs to one network namespace" rdma system set netns exclusive
ip netns attach home $$
ip netns add other
is "another namespace has no device" "$(devices ip netns exec other)" ""
refused "a device cannot be opened in another namespace" "no RDMA device $DEV0|there is no device" \
	ip netns exec other $BIN/bin/xv_devinfo --device "$DEV0"
$BIN/tests/removal --device "$DEV1" > "$OUT.moved" 2>&1 &
pid=$!
wait_for 20 grep -q ready "$OUT.moved"
ok "a device in use moves to the other namespace" rdma dev set "$DEV1" netns other
wait $pid
is "for its user the device is removed" $? 0
grep -v '^ok' "$OUT.moved" | diag
is "the other namespace has the device" "$(devices ip netns exec other)" "$DEV1"
is "this namespace no longer has it" "$(devices env)" "$DEV0"
ok "the device moves back" ip netns exec other rdma dev set "$DEV1" netns home
is "this namespace has it again" "$(devices env)" "$DEV0 $DEV1"
ip netns delete other
ip netns delete home
ok "all namespaces share the devices again" wait_for 20 rdma system set netns shared
rm -f "$OUT.hold" "$OUT.moved"
finish
