#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Stock programs on the other transports: UC, UD, XRC and shared receive queues, with
# polling and with events.
. ./lib.sh

# On a wire without flow control, a host that receives slowly loses packets, and with one of them
# the message.
sizes=(1 4096 65536)
[ -n "$VM_WIRE" ] || sizes+=(8388608)
for size in "${sizes[@]}"; do
	pingpong "uc: $size bytes, validated" \
		ibv_uc_pingpong "$DEV0" "$DEV1" -s $size -n $((size > 65536 ? 4 : 50)) -c
done
pingpong "uc: events" ibv_uc_pingpong "$DEV0" "$DEV1" -n 50 -e -c
for size in 1 512 1024; do
	pingpong "ud: $size bytes, validated" ibv_ud_pingpong "$DEV0" "$DEV1" -s $size -n 50 -c
done
pingpong "ud: events" ibv_ud_pingpong "$DEV0" "$DEV1" -s 1024 -n 50 -e -c
pingpong "ud: a function to itself" ibv_ud_pingpong "$DEV0" "$DEV0" -s 1024 -n 50 -c
for size in 1 4096 1048576; do
	pingpong "srq: 16 QPs, $size bytes, validated" \
		ibv_srq_pingpong "$DEV0" "$DEV1" -s $size -n $((size > 65536 ? 4 : 20)) -c
done
pingpong "srq: events" ibv_srq_pingpong "$DEV0" "$DEV1" -n 20 -e -c
for size in 1 4096 1048576; do
	pingpong "xrc: $size bytes" ibv_xsrq_pingpong "$DEV0" "$DEV1" -s $size -n 10
done
pingpong "xrc: events" ibv_xsrq_pingpong "$DEV0" "$DEV1" -n 20 -e

perf "ib_write_bw over UC" ib_write_bw -c UC -s 4096 -n 500
perf "ib_write_lat over UC" ib_write_lat -c UC -s 8 -n 200
perf "ib_send_bw over UC" ib_send_bw -c UC -s 4096 -n 500
perf "ib_send_lat over UC" ib_send_lat -c UC -s 8 -n 200
perf "ib_send_bw over UD" ib_send_bw -c UD -s 1024 -n 500
perf "ib_send_lat over UD" ib_send_lat -c UD -s 64 -n 200
perf "ib_send_bw over UD: events" ib_send_bw -c UD -s 1024 -n 500 -e
perf "ib_send_bw: shared receive queue" ib_send_bw --use-srq -q 4 -s 4096 -n 500
perf "ib_send_bw over XRC" ib_send_bw -c XRC -s 4096 -n 500
perf "ib_write_bw over XRC" ib_write_bw -c XRC -s 4096 -n 500
perf "ib_read_bw over XRC" ib_read_bw -c XRC -s 4096 -n 500
if long; then
	for c in UC XRC; do
		for op in write send; do
			perf "ib_${op}_bw over $c: all sizes" ib_${op}_bw -c $c -a -n 20
			perf "ib_${op}_bw over $c: both ways, 4 QPs" \
				ib_${op}_bw -c $c -s 65536 -n 100 -b -q 4
			perf "ib_${op}_lat over $c: all sizes" ib_${op}_lat -c $c -a -n 20
		done
	done
	perf "ib_send_bw over UD: all sizes" ib_send_bw -c UD -a -n 100
	perf "ib_send_bw over UD: both ways, 4 QPs" ib_send_bw -c UD -s 1024 -n 200 -b -q 4
	perf "ib_send_bw over UD: inline" ib_send_bw -c UD -s 64 -n 500 -I 128
	perf "ib_atomic_bw over XRC" ib_atomic_bw -c XRC -n 200
fi
finish
