#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tools xv_devinfo and xv_perf with their options.
. ./lib.sh
BIN=../../../build/user/bin
WORK=$(mktemp -d /dev/shm/tools.XXXXXX)
user=(setpriv --reuid 1000 --regid 1000 --clear-groups)

json() { "$@" | jq -e . > "$WORK/json"; }
# shellcheck disable=SC2317 # called by ok
field() { jq -r "$1" "$WORK/json"; }

# ---- xv_explain
like "explain: a syndrome" 'all queue pairs are in use' $BIN/xv_explain 0x65b500
like "explain: a vendor code, as NCCL prints it" 'no answer from the peer' $BIN/xv_explain \
	'Got completion with error 12, opcode 0, len 0, vendor err 129'
like "explain: a dump of the driver" 'remote key is wrong' $BIN/xv_explain \
	'00000030: 00 00 00 00 00 00 88 13 08 00 62 14 00 00 f6 d2'
like "explain: a dump of libmlx5" 'remote key is wrong' $BIN/xv_explain \
	'00000000 00008813 08006214 0000f6d2'
like "explain: the codes of a status" 'vendor code 0x33' $BIN/xv_explain 4
is "explain: lines" "$(printf '%s\n' 'no code' 'x failed, syndrome (0x31b635), err(-22)' |
	$BIN/xv_explain | grep -c cause)" 1
is "explain: nothing is known" "$($BIN/xv_explain 0x1234 > "$OUT"; echo $?)" 1
refused "explain: no code" 'there is no code' $BIN/xv_explain hello

# ---- xv_devinfo
like "devinfo: a line per device" "^$DEV0: [0-9a-f]{4}:[0-9a-f]{4}" $BIN/xv_devinfo
like "devinfo: the port is active" 'port 1: ACTIVE' $BIN/xv_devinfo --device "$DEV1"
like "devinfo: features" 'feature rc +yes' $BIN/xv_devinfo --verbose
ok "devinfo: JSON" json $BIN/xv_devinfo --json
is "devinfo: both devices in JSON" "$(field length)" 2
refused "devinfo: unknown device" 'there is no device "nosuch"' $BIN/xv_devinfo --device nosuch

# The objects of a process that has them all on one device
[ -d /sys/kernel/debug/xverbs ] || mount -t debugfs none /sys/kernel/debug
resources() { $BIN/xv_devinfo --resources --device "$DEV0"; }
rows() { resources | grep -c " $holder  *limits " || :; }
no_rows() { [ "$(rows)" = 0 ]; }
../../../build/user/tests/limits hold --device "$DEV0" --peer-device "$DEV0" > "$WORK/hold" 2>&1 &
holder=$!
ok "a process makes queues" wait_for 20 grep -q holding "$WORK/hold"
like "resources: its completion queues" "^	cq +0x[0-9a-f]+ +$holder limits +1048576$" resources
like "resources: its registered memory" "^	mr +0x[0-9a-f]+ +$holder limits +4096$" resources
ok "resources: JSON" json $BIN/xv_devinfo --resources --device "$DEV0" --json
# Each context has a doorbell page for its CQs, and one with a register of the queue pair.
for type in qp:2 cq:2 mr:2 pd:2 uar:4 srq:0; do
	is "resources: ${type#*:} objects of type ${type%:*}" "$(field "[.[0].resources[] |
		select(.pid == $holder and .type == \"${type%:*}\")] | length")" "${type#*:}"
done
is "resources: bytes of all rings" "$(field "[.[0].resources[] | select(.pid == $holder and
	(.type == \"qp\" or .type == \"cq\")).bytes] | add")" \
	"$(awk '$1 == "holding" { print $2 }' "$WORK/hold")"
is "resources: of the other device it has none" \
	"$($BIN/xv_devinfo --resources --device "$DEV1" | grep -c limits)" 0
refused "resources: for root only" 'Permission denied' \
	"${user[@]}" $BIN/xv_devinfo --resources
kill $holder
wait $holder
ok "resources: gone with the process" wait_for 10 no_rows
refused "devinfo: unknown option" 'usage: xv_devinfo' $BIN/xv_devinfo --nosuch

# ---- xv_perf
both=(--device "$DEV0" --peer-device "$DEV1")
n=300
TRANSPORTS=("uc write" "uc send" "uc write_imm" "ud send" "xrc write" "xrc send_imm" "xrc read")

perf_processes() {
	local test sizes host
	PORT=$((PORT + 100))
	for test in "lat write" "lat send" "lat read" "bw write" "bw send" "bw fetch_add"; do
		PORT=$((PORT + 1))
		sizes=64,128,256,512,1024,2048,4096
		[ "$test" != "bw fetch_add" ] || sizes=8
		# shellcheck disable=SC2086 # two words
		perf_pair "perf: $test between two processes" ${test% *} $sizes $n \
			$BIN/xv_perf --device "$DEV1" --listen=:$PORT -- \
			$BIN/xv_perf --device "$DEV0" -n $n -s 64-4096 $test 127.0.0.1:$PORT
	done
	for host in localhost '[::1]'; do
		PORT=$((PORT + 1))
		perf_pair "perf: the server is $host" lat 64 $n \
			$BIN/xv_perf --device "$DEV1" --listen="$host:$PORT" -- \
			$BIN/xv_perf --device "$DEV0" -n $n lat write "$host:$PORT"
	done
	for test in "${TRANSPORTS[@]}"; do
		PORT=$((PORT + 1))
		perf_pair "perf: $test between two processes" bw 64 $n \
			$BIN/xv_perf --device "$DEV1" --listen=:$PORT -- $BIN/xv_perf \
			--device "$DEV0" -n $n -T "${test% *}" bw "${test#* }" 127.0.0.1:$PORT
	done
}

# A server takes numbers of its client only within the limits of the options.
# stranger LINE: the status of a server with this client, and its message
stranger() {
	local pid
	PORT=$((PORT + 1))
	$BIN/xv_perf --device "$DEV1" --listen=:$PORT > "$OUT" 2>&1 < /dev/null &
	pid=$!
	wait_for 10 listening $PORT
	exec 3<> /dev/tcp/localhost/$PORT
	echo "$1" >&3
	wait $pid
	echo "$? $(grep -c 'unknown request' "$OUT")"
	exec 3>&-
}

perf_strangers() {
	local numbers	# latency, operation, transport, depth, queue pairs, size, inline, targets
	for numbers in "1 0 4 2 1 64 0 0" "0 0 0 0 1 64 0 1" "0 0 0 2 0 64 0 1" "1 0 0 2 2 64 0 1" \
		"0 0 0 2 1 0 0 1" "0 0 0 2 1 64 5000 1" "0 0 0 2 1 64 0 1025" "0 2 2 2 1 64 0 1" \
		"0 0 0 2 1 64 0 -1" "2 0 0 2 1 64 0 1"; do
		is "perf: a server refuses the numbers $numbers" \
			"$(stranger "xv_perf 3 $numbers")" "1 1"
	done
}

# plots TEST AXIS POINTS: draws a comparison; each way has a curve with that many points
plots() {
	local name=${1%% *}-$2
	# shellcheck disable=SC2086 # a test with options
	ok "perf: $1 for a plot" json $BIN/xv_perf "${both[@]}" --json $1
	cp "$WORK/json" "$WORK/$name.json"
	ok "perf: plot of $1" $BIN/xv_perf plot "$WORK/$name.svg" "$WORK/json"
	like "perf: it is against $2" "<tspan[^>]*>$2<" cat "$WORK/$name.svg"
	like "perf: it has one way" 'posted once' cat "$WORK/$name.svg"
	like "perf: it has the other way" 'CPU-driven' cat "$WORK/$name.svg"
	# Each curve has one more point in the legend.
	is "perf: its points" "$(grep -o "<use xlink:href='#gpPt[01]' transform='translate" \
		"$WORK/$name.svg" | wc -l)" $((2 * ($3 + 1)))
}

perf_strangers
meanwhile perf_processes
for op in write write_imm read send send_imm fetch_add cmp_swap bind; do
	bytes=64
	[[ $op != fetch_add && $op != cmp_swap ]] || bytes=8
	perf_table "perf: $op latency" lat $bytes $n $BIN/xv_perf "${both[@]}" -n $n lat $op
	perf_table "perf: $op bandwidth" bw $bytes $n $BIN/xv_perf "${both[@]}" -n $n bw $op
done
# The suite models has longer ones.
perf_table "perf: masked atomics of all sizes" lat 4,8,16,32 $n \
	$BIN/xv_perf "${both[@]}" -n $n -s 4-32 lat masked_fetch_add
perf_table "perf: masked swaps" bw 4,8,16,32 $n \
	$BIN/xv_perf "${both[@]}" -n $n -s 4-32 bw masked_cmp_swap
refused "perf: masked atomics that a ConnectX-5 lacks" 'the limit is 32' \
	$BIN/xv_perf "${both[@]}" -n $n -s 64 lat masked_fetch_add
refused "perf: an odd size of an atomic" 'swaps at most 128' \
	$BIN/xv_perf "${both[@]}" -s 256 bw masked_cmp_swap
perf_table "perf: sizes" bw \
	1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536 50 \
	$BIN/xv_perf "${both[@]}" -n 50 -s 1-65536 bw send
perf_table "perf: inline" lat 32 $n $BIN/xv_perf "${both[@]}" -n $n -i 64 -s 32 lat send
perf_table "perf: several queue pairs, batches" bw 4096 2000 \
	$BIN/xv_perf "${both[@]}" -n 2000 -q 8 -b 16 -s 4096 bw write
like "perf: histogram" 'us +[0-9]+ #+' $BIN/xv_perf "${both[@]}" -n $n -H lat write
perf_table "perf: sleeping for events" lat 64 100 $BIN/xv_perf "${both[@]}" -n 100 -E lat send
ok "perf: JSON" json $BIN/xv_perf "${both[@]}" -n $n -s 64-256 --json lat read
is "perf: results in JSON" "$(field '[.results[].bytes] | @csv')" 64,128,256
cp "$WORK/json" "$WORK/run1.json"
for test in "${TRANSPORTS[@]}"; do
	# shellcheck disable=SC2086 # two words
	set -- $test
	perf_table "perf: $test latency" lat 512 $n \
		$BIN/xv_perf "${both[@]}" -n $n -s 512 -T $1 lat $2
	perf_table "perf: $test bandwidth" bw 512 $n \
		$BIN/xv_perf "${both[@]}" -n $n -s 512 -T $1 bw $2
done
join
# sizes, number of operations, and an operation with options
for op in "64 1000 chain -n 1000" "8,16,32,64 5000 chain -n 5000 -q 8 -s 8-64" \
		"64 1000 chain -E -n 1000" \
		"64,128,256,512,1024,2048,4096 100 gather -n 100 -s 64-4096" \
		"0 100 barrier -n 100" "0 100 barrier -n 100 -r 5 -E" "8 100 bcast -n 100 -r 7" \
		"8 100 allreduce -n 100" \
		"64,128,256,512,1024 50 allreduce -n 50 -r 3 -s 64-1024 -E"; do
	# shellcheck disable=SC2086 # words
	set -- $op
	sizes=$1 count=$2
	shift 2
	perf_table "perf: $*" cmp $sizes $count $BIN/xv_perf "${both[@]}" "$@"
done
refused "perf: two ranges" 'exclude each other' \
	$BIN/xv_perf "${both[@]}" -r 2-8 -s 8-64 allreduce
ok "perf: JSON of a comparison" json $BIN/xv_perf "${both[@]}" -n 100 --json allreduce
is "perf: who calculates the last sum of a short vector" \
	"$(field '.type + " " + .results[0].last_sum_by')" "uint64 CPU"
ok "perf: JSON of floating-point numbers" json $BIN/xv_perf "${both[@]}" -n 100 --json \
	--type float64 allreduce
is "perf: who calculates their last sum" "$(field '.type + " " + .results[0].last_sum_by')" \
	"float64 adapter"
like "perf: who calculates the last sum of a long vector" '^ +8 +2048 .* adapter$' \
	$BIN/xv_perf "${both[@]}" -n 50 -s 2048 allreduce
refused "perf: a type of other tests" 'needs allreduce' $BIN/xv_perf "${both[@]}" -y uint64 barrier
refused "perf: an odd size" 'multiple of 8' $BIN/xv_perf "${both[@]}" -s 12 allreduce
refused "perf: a transport without the operation" 'does not support this operation' \
	$BIN/xv_perf -T ud lat read
# The service level, the P_Key and the rest reach the queue: the kernel refuses what is wrong.
net=(--sl 3 --tclass 0xb8 --mtu 512)
refused "perf: an unknown MTU" 'mtu is 256' $BIN/xv_perf "${both[@]}" --mtu 1000 lat write
refused "perf: a datagram longer than the MTU" 'at most 512' \
	$BIN/xv_perf "${both[@]}" --mtu 512 -T ud -s 600 bw send
for test in "-T rc lat write" "-T ud lat send" "-T dc lat write" chain barrier gather; do
	# shellcheck disable=SC2086 # a test with options
	refused "perf: $test: a wrong P_Key index" 'pkey_index 65535' \
		$BIN/xv_perf "${both[@]}" -P 65535 -n 10 $test
	# shellcheck disable=SC2086
	ok "perf: $test: service level, traffic class, MTU" \
		$BIN/xv_perf "${both[@]}" "${net[@]}" -n 100 $test
done
refused "perf: a datagram too long" 'at most' $BIN/xv_perf "${both[@]}" -T ud -s 8192 bw send
json $BIN/xv_perf "${both[@]}" -n $n -s 64-256 --json lat write
if command -v gnuplot > /dev/null; then
	ok "perf: plot" $BIN/xv_perf plot --title "it's \`fast\`" "$WORK/lat.svg" \
		"$WORK/run1.json" "$WORK/json"
	refused "perf: plot with a title, but without runs" 'usage|plot' \
		$BIN/xv_perf plot --title x "$WORK/none.svg"
	ok "perf: the plot has its title" grep -q "it's .fast" "$WORK/lat.svg"
	is "perf: the plot has two curves, with the names of the files" \
		"$(sed -n 's/.*<title>[^<]*, \([^<]*\)<.*/\1/p' "$WORK/lat.svg" | xargs)" "run1 json"
	mkdir "$WORK/compact"
	jq -cS . "$WORK/json" > "$WORK/compact/json"
	$BIN/xv_perf plot "$WORK/json.svg" "$WORK/json"
	ok "perf: a plot of JSON in another form" \
		$BIN/xv_perf plot "$WORK/compact.svg" "$WORK/compact/json"
	ok "perf: it is the same" cmp "$WORK/json.svg" "$WORK/compact.svg"
	head -c 200 "$WORK/json" > "$WORK/part.json"
	odd="$WORK/it's \`touch \$WORK.run\`.json"
	cp "$WORK/json" "$odd"
	export WORK
	ok "perf: a plot of a file whose name has a command" \
		$BIN/xv_perf plot "$WORK/odd.svg" "$odd"
	ok "perf: the name is in the plot" grep -q "it's .touch" "$WORK/odd.svg"
	ok "perf: the command did not run" test ! -e "$WORK.run"
	refused "perf: an image that is a command" 'not the name of an image' \
		$BIN/xv_perf plot "|touch $WORK.run" "$WORK/json"
	refused "perf: a plot of half a file" 'part.json is not JSON output of xv_perf' \
		$BIN/xv_perf plot "$WORK/part.svg" "$WORK/part.json"
	plots "chain -n 400 -s 8-64" bytes 4
	plots "bcast -n 20 -r 4 -s 8-64" bytes 4
	plots "allreduce -n 20 -r 4 -s 8-64" bytes 4
	plots "allreduce -n 20 -r 2-8" ranks 3
	refused "perf: a plot against bytes and ranks" 'different tests' \
		$BIN/xv_perf plot "$WORK/two.svg" "$WORK/json" "$WORK/allreduce-bytes.json"
	plots "barrier -n 20 -r 2-8" ranks 3
else
	skip "perf: plot" "gnuplot is not installed"
fi
refused "perf: an unknown operation" 'unknown operation' $BIN/xv_perf lat nonsense
rm -rf "$WORK"
finish
