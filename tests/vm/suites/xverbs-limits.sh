#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a process is charged for and may not exceed; and RDMA devices that
# belong to a network namespace of their own.
. ./lib.sh
BIN=../../../build/user
devices() { "$@" "$BIN/bin/xv_devinfo" --json | python3 -c \
	'import json, sys; print(*(d["name"] for d in json.load(sys.stdin)))'; }

tap $BIN/tests/limits --device "$DEV0" --peer-device "$DEV1"
tap $BIN/tests/limits rings --device "$DEV0"

# ---- Rings are charged to the memory cgroup of who makes them
GROUPS_AT=$(mktemp -d)
mount -t cgroup2 none "$GROUPS_AT"
echo +memory > "$GROUPS_AT/cgroup.subtree_control"
mkdir "$GROUPS_AT/holder"
used() { echo $(($(<"$GROUPS_AT/holder/memory.current"))); }
released() { [ "$(used)" -lt $((with - bytes)) ]; }

(echo $BASHPID > "$GROUPS_AT/holder/cgroup.procs"
 exec $BIN/tests/limits hold --device "$DEV0" --peer-device "$DEV1" > "$OUT.hold" 2>&1) &
pid=$!
ok "a process makes queues" wait_for 20 grep -q holding "$OUT.hold"
bytes=$(awk '$1 == "holding" { print $2 }' "$OUT.hold")
with=$(used)
is "its memory cgroup is charged for all $bytes bytes of rings" $((with >= bytes)) 1
kill $pid
wait $pid
ok "and gets them back when the process is gone" wait_for 10 released

# Pages that the kernel holds for the group and does not count by kind: those of
# rings and doorbell records, and what each CPU rounds up.
pages_held() {
	awk '$1 == "kernel" { n += $2 }
		$1 ~ /^(slab|kernel_stack|pagetables|sec_pagetables|percpu|vmalloc)$/ { n -= $2 }
		END { print int(n / 4096) }' "$GROUPS_AT/holder/memory.stat"
}
# shellcheck disable=SC2317 # called by wait_for
none_held() { [ "$(pages_held)" -lt 8 ]; }

# shellcheck disable=SC2317 # called by ok
many_objects() {
	local test
	for test in {uapi,states,external}{,,,}; do
		(echo $BASHPID > "$GROUPS_AT/holder/cgroup.procs"; exec $BIN/tests/$test) || return
	done
}

ok "programs that make and destroy everything, in a memory cgroup" many_objects
ok "no page is left of all objects that were destroyed" wait_for 10 none_held
echo "# $(pages_held) pages"

# ---- Bound files and objects count in the rdma cgroup
echo +rdma > "$GROUPS_AT/cgroup.subtree_control"
mkdir "$GROUPS_AT/few"
echo "$DEV0 hca_handle=1 hca_object=5" > "$GROUPS_AT/few/rdma.max"
tap bash -c "echo \$\$ > $GROUPS_AT/few/cgroup.procs
	exec $BIN/tests/limits objects 5 --device $DEV0"
ok "a closed file leaves no charge" \
	grep -q "^$DEV0 hca_handle=0 hca_object=0" "$GROUPS_AT/few/rdma.current"
rmdir "$GROUPS_AT/few" "$GROUPS_AT/holder"
umount "$GROUPS_AT"

# ---- RDMA devices of network namespaces
ok "devices belong to one network namespace each" rdma system set netns exclusive
ip netns attach home $$
ip netns add other
is "another namespace has none" "$(devices ip netns exec other)" ""
refused "and opens none" "no RDMA device $DEV0|there is no device" \
	ip netns exec other $BIN/bin/xv_devinfo --device "$DEV0"
$BIN/tests/removal --device "$DEV1" > "$OUT.moved" 2>&1 &
pid=$!
wait_for 20 grep -q ready "$OUT.moved"
ok "a device in use moves there" rdma dev set "$DEV1" netns other
wait $pid
is "its user learns that it has gone" $? 0
grep -v '^ok' "$OUT.moved" | diag
is "it is to be seen there" "$(devices ip netns exec other)" "$DEV1"
is "and here no more" "$(devices env)" "$DEV0"
ok "it comes back" ip netns exec other rdma dev set "$DEV1" netns home
is "and is seen again" "$(devices env)" "$DEV0 $DEV1"
ip netns delete other
ip netns delete home
ok "and shared between namespaces, as before" wait_for 20 rdma system set netns shared
rm -f "$OUT.hold" "$OUT.moved"
finish
