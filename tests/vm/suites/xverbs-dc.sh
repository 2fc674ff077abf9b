#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Dynamically connected transport with libxverbs: data, states and errors; measurements.
. ./lib.sh
BIN=../../../build/user
both=(--device "$DEV0" --peer-device "$DEV1")

if ! $BIN/bin/xv_devinfo --device "$DEV0" --verbose | grep -Eq 'feature dc +yes'; then
	skip "dc" "the device does not support it"
	finish
fi
tap $BIN/tests/dc_attributes "${both[@]}"
TAP_LIMIT=120 tap $BIN/tests/dc "${both[@]}"
TAP_LIMIT=120 tap $BIN/tests/dc_many "${both[@]}"
TAP_LIMIT=60 tap $BIN/tests/dc_errors "${both[@]}"
tap $BIN/tests/dc_interop "${both[@]}"
diag <<< "both ends on one function"
TAP_LIMIT=120 tap $BIN/tests/dc --device "$DEV0" --peer-device "$DEV0"
TAP_LIMIT=120 tap $BIN/tests/dc_many --device "$DEV0" --peer-device "$DEV0"

[ -d /sys/kernel/debug/xverbs ] || mount -t debugfs none /sys/kernel/debug
targets() {
	$BIN/bin/xv_devinfo --resources --device "$DEV0" | grep -c "^	dct .* $holder dc" || :
}
# shellcheck disable=SC2317 # called by wait_for
none_left() { [ "$(targets)" = 0 ]; }
$BIN/tests/dc_many hold "${both[@]}" > "$OUT.hold" 2>&1 &
holder=$!
ok "a process makes targets" wait_for 20 grep -q holding "$OUT.hold"
is "resources: its targets" "$(targets)" 3
kill -9 $holder
wait $holder
ok "resources: gone with the process" wait_for 10 none_left
rm -f "$OUT.hold"

n=300
for op in write write_imm read send send_imm fetch_add cmp_swap; do
	bytes=64
	[[ $op != fetch_add && $op != cmp_swap ]] || bytes=8
	perf_table "perf: dc $op latency" lat $bytes $n \
		$BIN/bin/xv_perf "${both[@]}" -T dc -n $n lat $op
	perf_table "perf: dc $op bandwidth, 100 targets" bw $bytes $n \
		$BIN/bin/xv_perf "${both[@]}" -T dc -t 100 -n $n bw $op
done
for op in "lat send" "bw write" "bw send"; do
	PORT=$((PORT + 1))
	# shellcheck disable=SC2086 # two words
	perf_pair "perf: dc $op between two processes" ${op% *} 64 $n \
		$BIN/bin/xv_perf --device "$DEV1" --listen=:$PORT -- \
		$BIN/bin/xv_perf --device "$DEV0" -n $n -T dc -t 5 $op 127.0.0.1:$PORT
done
refused "perf: targets of another transport" 'needs the transport dc' \
	$BIN/bin/xv_perf "${both[@]}" -t 5 lat write
finish
