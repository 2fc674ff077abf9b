#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each model of xhca (xhcactl(8)): what the driver, libibverbs and xverbs say of it. Programs that
# test what a ConnectX-5 lacks.
. ./lib.sh
BIN=../../../build/user
HW=../../hw
WORK=$(mktemp -d /dev/shm/models.XXXXXX)

# hwtest ARGUMENT...: compares the attributes of the device with what its model expects.
hwtest() {
	"$HW/xv_hwtest" --steps facts --output "$WORK/result" "$@" "$DEV0" > "$WORK/out" 2>&1
	tail -n 1 "$WORK/out"
}
agrees() {
	local got
	got=$(hwtest "${@:2}")
	is "$1: xv_hwtest" "$got" "xv_hwtest: no difference"
	grep '^!' "$WORK/out" | diag
}

# check MODEL DEVICE-ID FIRMWARE KHZ ATOMIC-SIZES WAITS: of the first function
check() {
	local model=$1 dir=/sys/class/infiniband/$DEV0 info features word=yes
	[ "$6" = yes ] || word='no: the adapter does not support it'
	ok "$model: the function changes" use_model "$model" 0
	is "$model: configfs" "$(< /sys/kernel/config/xhca/0/model)" "$model"
	is "$model: device id" "$(< "$dir/device/device")" "$2"
	is "$model: firmware" "$(< "$dir/fw_ver")" "$3"
	is "$model: type of the adapter" "$(< "$dir/hca_type")" "MT$(($2))"
	info=$("$BIN/bin/xv_devinfo" --json --device "$DEV0")
	is "$model: clock and sizes of atomics" "$(jq -c "$PICK" <<< "$info")" "[$4,$5]"
	features=$("$BIN/bin/xv_devinfo" --verbose --device "$DEV0")
	is "$model: waits for data and for a time" \
		"$(sed -n 's/^\tfeature wait-on-\(data\|time\) *//p' <<< "$features")" "$word"$'\n'"$word"
}
PICK='.[0] | [.hca_core_clock, .["ext_atom.atomic_arg_sizes"]]'

# The suite hwtest has the step for a ConnectX-5.
check cx5 0x1017 16.35.2000 156250 60 no
if [ "$VM_LINK" = roce ]; then
	check cx6dx 0x101d 22.31.1014 1000000 60 no
	agrees cx6dx
fi
check cx7 0x1021 28.39.1002 1000000 60 yes
agrees cx7
pingpong "a ConnectX-7 and a ConnectX-5" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100
check all 0x1021 28.39.1002 1000000 508 yes
agrees all --model "$HW/models/all.conf"
is "a ConnectX-7 lacks something of it" "$(hwtest)" "xv_hwtest: 1 difference"
ok "the other function, too" use_model all

# ---- What a ConnectX-5 lacks
both=(--device "$DEV0" --peer-device "$DEV1")
for prog in atomics completions; do
	tap $BIN/tests/$prog "${both[@]}"
done
perf_table "masked atomics of all sizes" lat 4,8,16,32,64,128,256 100 \
	$BIN/bin/xv_perf "${both[@]}" -n 100 -s 4-256 lat masked_fetch_add
perf_table "masked swaps of all sizes" bw 4,8,16,32,64,128 100 \
	$BIN/bin/xv_perf "${both[@]}" -n 100 -s 4-128 bw masked_cmp_swap
tap $BIN/../exp/atomics "$DEV0" "$(gid_index "$DEV0")" "$DEV1" "$(gid_index "$DEV1")"
ok "a ConnectX-5 again" use_model cx5
rm -rf "$WORK"
finish
