#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of perftest between two functions, reliable connections.
. ./lib.sh

uars() { awk '$1 == "uars" { print $2 }' /sys/kernel/debug/xhca/*/objects | xargs; }
# The log also has the commands that other suites let fail.
failed_commands() { dmesg | grep -c 'cmd_out_err'; }

pages=$(uars)
failed=$(failed_commands)
for op in write read send; do
	perf "ib_${op}_bw: 64 bytes" ib_${op}_bw -s 64 -n 1000
	perf "ib_${op}_bw: 64 KiB" ib_${op}_bw -s 65536 -n 500
	perf "ib_${op}_bw: 1 MiB, both ways" ib_${op}_bw -s 1048576 -n 30 -b
	perf "ib_${op}_bw: 4 QPs" ib_${op}_bw -s 4096 -n 500 -q 4
	perf "ib_${op}_lat: 8 bytes" ib_${op}_lat -s 8 -n 200
done
perf "ib_send_bw: events" ib_send_bw -s 4096 -n 500 -e
perf "ib_send_lat: events" ib_send_lat -s 64 -n 200 -e
perf "ib_write_bw: inline" ib_write_bw -s 32 -n 1000 -I 64
perf "ib_atomic_bw: fetch and add" ib_atomic_bw -A FETCH_AND_ADD -n 500
perf "ib_atomic_bw: compare and swap" ib_atomic_bw -A CMP_AND_SWAP -n 500
perf "ib_atomic_lat" ib_atomic_lat -n 200
if long; then
	for op in write read send; do
		perf "ib_${op}_bw: all sizes" ib_${op}_bw -a -n 20
		perf "ib_${op}_lat: all sizes" ib_${op}_lat -a -n 20
		perf "ib_${op}_bw: 64 QPs, both ways" ib_${op}_bw -s 4096 -n 100 -b -q 64
	done
	for inline in 1 64 220; do
		perf "ib_write_lat: $inline bytes inline" ib_write_lat -s $inline -n 200 -I $inline
		perf "ib_send_bw: $inline bytes inline" ib_send_bw -s $inline -n 500 -I $inline
	done
	perf "ib_atomic_bw: 8 QPs, both ways" ib_atomic_bw -n 200 -b -q 8
fi
# ib_send_bw closes its device without destroying a CQ.
is "no command of the driver failed" "$(failed_commands)" "$failed"
is "no doorbell page is left" "$(uars)" "$pages"
finish
