#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The control path: rules of every ioctl, queries compared with libibverbs, states of every
# type of queue pair, queues in memory of the program.
. ./lib.sh
BIN=../../../build/user

# Programs skip their tests of a feature that the device lacks. The software adapter must have
# these features, so that no test is skipped there. The suite models has those of later adapters.
if [ -d /sys/module/xhca ]; then
	features=$($BIN/bin/xv_devinfo --verbose --device "$DEV0")
	for name in rc uc ud xrc srq srq-contiguous memory-window multicast atomics masked-atomics \
		    cq-resize cq-moderation cq-ignore-overrun cqe-user-index path-migration dc \
		    cross-channel vector-calc indirect-keys cqe-data cqe-timestamps \
		    relaxed-ordering; do
		like "feature $name" "^	feature $name +yes" echo "$features"
	done
fi
tap $BIN/tests/uapi
tap $BIN/tests/sizes --device "$DEV0"
tap $BIN/tests/queries --device "$DEV0"
tap $BIN/tests/versions --device "$DEV0"
tap $BIN/tests/quiet --device "$DEV0" --peer-device "$DEV1"
tap $BIN/tests/states
tap $BIN/tests/external
[ -e /dev/udmabuf ] || modprobe vgem
tap $BIN/tests/dmabuf --device "$DEV0" --peer-device "$DEV1"

# ---- Renaming: ib_core frees the old name while programs read it
rename_often() {
	local i
	for i in {1..40}; do
		rdma dev set "$DEV0" name renamed && rdma dev set renamed name "$DEV0" || return
	done
}
rename_often &
pid=$!
# A program that has listed the old name cannot open it any more.
while kill -0 $pid 2> /dev/null; do $BIN/bin/xv_devinfo --json > /dev/null 2>&1; done
wait $pid
is "a device is renamed while programs list devices" $? 0
rdma dev set "$DEV0" name renamed
is "programs see the new name" "$($BIN/bin/xv_devinfo --json | jq -r '.[0].name')" renamed
refused "the old name is unknown" "no RDMA device $DEV0|there is no device" \
	$BIN/bin/xv_devinfo --device "$DEV0"
like "a device is opened by its new name" renamed $BIN/bin/xv_devinfo --device renamed
rdma dev set renamed name "$DEV0"
is "and has its old name again" "$($BIN/bin/xv_devinfo --json | jq -r '.[0].name')" "$DEV0"
finish
