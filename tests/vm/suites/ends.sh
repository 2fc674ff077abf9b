# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by suites that test two ends of a wire: this one, with the address HERE, and another one
# with the address THERE, where commands run after the words PEER. PEER_NAME is its name in
# descriptions. WIRE_HERE and WIRE_THERE are the Ethernet interfaces, the second one where commands
# run after the words WIRE_PEER, or PEER.

# cm_listening_there PORT: a program of rdma_cm at the other end listens.
# shellcheck disable=SC2317 # called by pair
cm_listening_there() { cm_listens "$1" "${PEER[@]}"; }

# both DESCRIPTION PORT REGEX LISTEN CONNECT PROGRAM...: the client is at the other end, then the
# server. LISTEN and CONNECT are the options of the server and the client; ADDRESS in them is that
# of the server.
both() {
	local what=$1 port=$2 want=$3 listen=$4 connect=$5
	shift 5
	# shellcheck disable=SC2086 # lists of options
	pair "$what, from $PEER_NAME" "cm_listening $port" "$want" \
		"$@" ${listen/ADDRESS/$HERE} -- "${PEER[@]}" "$@" ${connect/ADDRESS/$HERE}
	# shellcheck disable=SC2086 # lists of options
	pair "$what, to $PEER_NAME" "cm_listening_there $port" "$want" \
		"${PEER[@]}" "$@" ${listen/ADDRESS/$THERE} -- "$@" ${connect/ADDRESS/$THERE}
}

# both_perf DESCRIPTION REGEX PROGRAM...: a program of perftest
both_perf() {
	local what=$1 want=$2
	shift 2
	PORT=$((PORT + 1))
	both "$what" $PORT "$want" "" ADDRESS "$@" -R -F -p $PORT
}

# The programs compare the contents.
both_checked() {
	both "rping: 4 KiB" 7174 '' "-s -a ADDRESS" "-c -a ADDRESS" rping -p 7174 -V -C 20 -S 4096
	both "rping: 60 KiB" 7175 '' "-s -a ADDRESS" "-c -a ADDRESS" rping -p 7175 -V -C 20 -S 60000
	both "rstream" 7471 '64k' "-b ADDRESS" "-s ADDRESS" \
		rstream -p 7471 -T n -T v -I 20 -S 65536 -C 20
}

# rdma_rxe takes 16 READs at once.
both_programs() {
	both_checked
	both "ucmatose" 7471 'return status 0' "" "-s ADDRESS" ucmatose -c 4 -C 20 -S 1000
	both "udaddy" 7174 'return status 0' "" "-s ADDRESS" udaddy -C 20 -S 1000
	both_perf "ib_send_bw" '^ *65536 +100' ib_send_bw -s 65536 -n 100
	both_perf "ib_write_bw" '^ *65536 +100' ib_write_bw -s 65536 -n 100
	both_perf "ib_read_bw" '^ *65536 +100' ib_read_bw -s 65536 -n 100 -o 16
	both_perf "ib_atomic_bw: fetch and add" '^ *8 +100' \
		ib_atomic_bw -A FETCH_AND_ADD -n 100 -o 16
	both_perf "ib_atomic_bw: compare and swap" '^ *8 +100' \
		ib_atomic_bw -A CMP_AND_SWAP -n 100 -o 16
	both_perf "ib_write_bw: 4 queue pairs, both ways" '^ *4096 +' \
		ib_write_bw -s 4096 -n 100 -q 4 -b
	both_perf "ib_send_lat" '^ *64 +100' ib_send_lat -s 64 -n 100
}

# impaired KIND COMMAND...: runs tests while netem loses, delays or changes frames of both ends;
# KIND has its options. rdma_rxe is slow then. A client sends the message that ends the connection
# (DREQ) only once, because it destroys its end at once. If that is lost, the server waits for ever:
# so servers get a signal.
impaired() {
	# shellcheck disable=SC2034 # pair reads STAYS
	local LIMIT=$((4 * LIMIT)) STAYS=1 kind
	read -r -a kind <<< "$1"
	[ -n "${WIRE_PEER+set}" ] || local WIRE_PEER=("${PEER[@]}")
	ok "the wire: $1" tc qdisc add dev "$WIRE_HERE" root netem "${kind[@]}"
	ok "the other end, too" "${WIRE_PEER[@]}" tc qdisc add dev "$WIRE_THERE" root netem \
		"${kind[@]}"
	"${@:2}"
	ok "not any more" tc qdisc delete dev "$WIRE_HERE" root
	ok "nor the other end" "${WIRE_PEER[@]}" tc qdisc delete dev "$WIRE_THERE" root
}
lossy() { impaired "loss $1%" "${@:2}"; }
