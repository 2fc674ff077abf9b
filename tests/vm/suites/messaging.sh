#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Communication libraries on the adapter, between two network namespaces: UCX with each of its
# transports, and libfabric. With xv_run they use /dev/xverbs.
. ./lib.sh

PEER=(ip netns exec peer)
XV_RUN=../../../build/user/bin/xv_run
RUN=()
libfabric_ready

# ucx WHAT READY REGEX TLS SERVER... -- CLIENT...: programs of UCX with the transports TLS
ucx() {
	local what="UCX${RUN:+ with xv_run}: $1 by $4" ready=$2 want=$3 server=()
	local env=(env "UCX_TLS=$4,self" UCX_LOG_LEVEL=warn)
	shift 4
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	pair "$what" "$ready" "$want" \
		"${env[@]}" UCX_NET_DEVICES="$DEV0:1" "${RUN[@]}" "${server[@]}" -- \
		"${PEER[@]}" "${env[@]}" UCX_NET_DEVICES="$DEV1:1" "${RUN[@]}" "$@"
}

# A benchmark that was built with MPI uses MPI unless it is told not to; without MPI it refuses
# this option.
PERF=(ucx_perftest)
! ucx_perftest -h 2>&1 | grep -q -- '-P <0|1>' || PERF+=(-P 0)

# ucx_perf TLS TEST SIZE: runs the benchmark; it does not check data
ucx_perf() {
	PORT=$((PORT + 1))
	ucx "$2 of $3 bytes" "listening $PORT" '^Final: ' "$1" "${PERF[@]}" -p $PORT -- \
		"${PERF[@]}" -p $PORT $ADDR0 -t "$2" -s "$3" -n 100 -w 10
}

# ucx_data TLS: reads and writes with checked data, connected by rdma_cm
ucx_data() {
	local options=(-q -d "1000:60000")
	PORT=$((PORT + 1))
	STAYS=1 ucx "checked data" "cm_listening $PORT" "exit with status 'OK'" "$1" \
		io_demo -p $PORT "${options[@]}" -- \
		io_demo -p $PORT "${options[@]}" -i 200 -o read,write $ADDR0
}

# fabric TYPE SUFFIX: the provider "verbs" of libfabric with endpoints of this type, in the domain
# that has the name of the device and this suffix; checks data
fabric() {
	PORT=$((PORT + 1))
	pair "libfabric${RUN:+ with xv_run}: endpoints of type $1" "listening $PORT" '^64 ' \
		"${RUN[@]}" fi_pingpong -p verbs -d "$DEV0$2" -e "$1" -c -I 50 -B $PORT -- \
		"${PEER[@]}" "${RUN[@]}" fi_pingpong -p verbs -d "$DEV1$2" -e "$1" -c -I 50 \
		-P $PORT $ADDR0
}

fabrics() {
	fabric msg ""
	fabric rdm ""
	fabric dgram -dgram
}

ok "two network namespaces" peer_up
# libfabric uses the first address of the server's interface.
ok "a route to the other addresses" ip -n peer route add 10.77.0.0/24 dev "$(interface "$DEV1")"
for tls in rc_mlx5,ud_mlx5 dc_mlx5 ud_mlx5 rc_verbs,ud_verbs ud_verbs; do
	ucx_perf $tls tag_lat 10000
done
for tls in rc_mlx5,ud_mlx5 dc_mlx5; do
	ucx_data $tls
	full || continue
	ucx_perf $tls ucp_put_lat 8
	ucx_perf $tls ucp_get 100000
	ucx_perf $tls ucp_add 8
	ucx_perf $tls ucp_cswap 8
done
fabrics

RUN=("$XV_RUN")
ucx_perf rc_verbs,ud_verbs tag_lat 10000
ucx_perf rc_verbs,ud_verbs ucp_put_lat 8
ucx_perf rc_verbs,ud_verbs ucp_add 8
ucx_data rc_verbs,ud_verbs
fabrics
ok "the network namespace is deleted" peer_down
finish
