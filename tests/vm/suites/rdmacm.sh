#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections by address: rping with validated data, from function to function.
# vm: --no-xverbs --functions 2 --link roce
# kernels: 6.1 6.12 debug
# timeout: 120
. ./lib.sh

# The IPv4 address of a device's network interface.
address() {
	local n
	n=$(cat "/sys/class/infiniband/$1/ports/1/gid_attrs/ndevs/0")
	ip -4 -o address show dev "$n" | sed -n 's/.*inet \([0-9.]*\).*/\1/p' | head -n 1
}

# shellcheck disable=SC2317 # called by pair
cm_listening() { rdma resource show cm_id | grep -q "LISTEN.*:$1"; }

A=$(address "$DEV0")
B=$(address "$DEV1")

# rping_pair DESCRIPTION SERVER-ADDRESS CLIENT-ADDRESS ARGUMENTS...
rping_pair() {
	local what=$1 a=$2 b=$3
	shift 3
	PORT=$((PORT + 1))
	pair "$what" "cm_listening $PORT" '' \
		rping -s -a "$a" -p $PORT "$@" -- rping -c -a "$a" -I "$b" -p $PORT "$@"
}

rping_pair "rping: 64 bytes, validated" "$A" "$B" -V -C 50
rping_pair "rping: 60 KiB, validated" "$A" "$B" -V -C 20 -S 60000
rping_pair "rping: other direction" "$B" "$A" -V -C 20
rping_pair "rping: a function to itself" "$A" "$A" -V -C 20
finish
