#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RoCE on a wire: one end of a veth pair is the uplink of a function, whose network device is in a
# namespace of its own, as on another host. At the other end is rdma_rxe, which shares no code with
# xhca. Programs of others run between both, in both directions, and while the wire loses frames.
. ./lib.sh
. ./ends.sh

type -P xv_capture > /dev/null || PATH=$(realpath ../../../build/user/bin):$PATH
HERE=10.90.0.1 THERE=10.90.0.2	# rdma_rxe; the function
PEER=(ip netns exec wired) PEER_NAME="the function"
WIRE_HERE=wire WIRE_THERE=up0

# shellcheck disable=SC2317 # called by ok
wire_up() {
	ip netns add wired &&
	ip link add wire mtu 4500 numtxqueues 2 numrxqueues 2 type veth \
		peer name up0 netns wired mtu 4500 numtxqueues 2 numrxqueues 2 &&
	ip address add "$HERE/24" dev wire && ip link set wire up && ip -n wired link set up0 up &&
	modprobe rdma_rxe && rdma link add rxe type rxe netdev wire &&
	xhcactl add --netns wired --uplink up0 &&
	ip -n wired link set xnet2 mtu 4500 up && ip -n wired address add "$THERE/24" dev xnet2 &&
	wait_for 10 port_is_active && wait_for 10 ping -qc 1 -W 1 "$THERE" && wait_for 10 has_gids
}
# shellcheck disable=SC2317 # called by wire_up
port_is_active() { grep -q ACTIVE /sys/class/infiniband/mlx5_2/ports/1/state; }
# shellcheck disable=SC2317 # called by wire_up
has_gids() { has_gid rxe "$HERE" && has_gid mlx5_2 "$THERE"; }

# shellcheck disable=SC2317 # called by ok
wire_down() {
	xhcactl del 2 && rdma link delete rxe && ip link delete wire && ip netns delete wired
}

frames() { awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/xhca/2/frames; }

# What tc does to the packets of rdma_rxe: as a switch with a long queue, it sets both ECN bits.
# shellcheck disable=SC2317 # called by ok
mark() {
	tc -n wired qdisc add dev up0 clsact &&
	tc -n wired filter add dev up0 ingress protocol ip flower ip_proto udp dst_port 4791 \
		action pedit ex munge ip tos set 3 retain 3 pipe action csum ip4h
}

counter() { cat "/sys/class/infiniband/mlx5_2/ports/1/hw_counters/$1"; }

# mlx5_ib has the files of parameters in a directory of the PCI device.
# shellcheck disable=SC2317 # called by ok
change_parameter() {
	local pci params
	pci=$(readlink -f /sys/class/infiniband/mlx5_2/device)
	params=/sys/kernel/debug/mlx5/${pci##*/}/cc_params
	[ "$(<"$params/np_cnp_dscp")" = 48 ] && echo 40 > "$params/np_cnp_dscp" &&
		[ "$(<"$params/np_cnp_dscp")" = 40 ] &&
		! echo 101 2> /dev/null > "$params/rp_min_dec_fac"
}

# congestion: marked packets are counted and answered with CNPs, which rdma_rxe drops.
congestion() {
	local marked cnps
	marked=$(counter np_ecn_marked_roce_packets)
	ok "nothing was marked" test "$marked,$(counter np_cnp_sent)" = 0,0
	ok "the packets of rdma_rxe are marked" mark
	both_perf "ib_write_bw with marks" '^ *65536 +100' ib_write_bw -s 65536 -n 100
	marked=$(counter np_ecn_marked_roce_packets) cnps=$(counter np_cnp_sent)
	ok "$marked packets were marked" test "$marked" -gt 100
	ok "$cnps CNPs were sent" test "$cnps" -gt 0 -a "$cnps" -lt "$marked"
	ok "none has come" test "$(counter rp_cnp_handled)" = 0
	ok "no packet was damaged" test "$(counter rx_icrc_encapsulated)" = 0
	ok "a parameter can be changed" change_parameter
	ok "no marks any more" tc -n wired qdisc delete dev up0 clsact
}

# rxe_reads: rdma_rxe reads 80 MiB from the function. Both CPUs are busy, so both send frames. If a
# frame overtakes another, rdma_rxe waits for its timeout, as after a loss.
rxe_reads() {
	local size=8388608 n=10
	PORT=$((PORT + 1))
	pair "ib_read_bw: $n times $size bytes, to $PEER_NAME" "cm_listening_there $PORT" \
		"^ *$size +$n " "${PEER[@]}" ib_read_bw -R -F -p $PORT -o 1 -s $size -n $n -- \
		ib_read_bw -R -F -p $PORT -o 1 -s $size -n $n "$THERE"
}

# function_reads: the function reads 40 MiB from rdma_rxe, 5 messages at once. rdma_rxe sends all of
# a response at once; the one of 6.1 stops for ever if a frame of it is dropped.
function_reads() {
	local size=8388608 n=5
	PORT=$((PORT + 1))
	pair "ib_read_bw: $n times $size bytes, from $PEER_NAME" "cm_listening $PORT" \
		"^ *$size +$n " ib_read_bw -R -F -p $PORT -o 16 -s $size -n $n -- \
		"${PEER[@]}" ib_read_bw -R -F -p $PORT -o 16 -s $size -n $n "$HERE"
}

# order: frames arrive in the order in which they were sent. The PSNs of a READ response show it.
order() {
	local capture counts
	xv_capture --snaplen 64 "$WIRE_HERE" "$OUT.frames" 2> "$OUT.order" &
	capture=$!
	ok "READ responses are captured" wait_for 10 grep -q captures "$OUT.order"
	rxe_reads
	ok "the capture ends" ended $capture
	read -r -a counts < <(./roce_frames "$OUT.frames" | awk '
		/^in v4 0x0[def] / { n++ }
		/^in v4 0x0d / { last = $4 }
		/^in v4 0x0[ef] / { late += $4 < last && last - $4 < 2^23; last = $4 }
		END { print n + 0, late + 0 }')
	ok "${counts[0]} READ responses were seen" test "${counts[0]}" -gt 10000
	is "none comes after a later one" "${counts[1]}" 0
	rm -f "$OUT.order" "$OUT.frames"
}
# shellcheck disable=SC2317 # called by ok
ended() { kill "$1" && wait "$1"; }

# queues: the frames of a queue pair use one queue, even if the device has a queue for each CPU.
# shellcheck disable=SC2317 # called by ok
queue_for_each_cpu() {
	"${PEER[@]}" sh -c "
		cd /sys/class/net/$WIRE_THERE/queues &&
		echo 1 > tx-0/xps_cpus && echo 2 > tx-1/xps_cpus" &&
	tc -n wired qdisc add dev "$WIRE_THERE" root mq
}
queues() {
	local sent
	ok "a queue for each CPU" queue_for_each_cpu
	rxe_reads
	sent=$(tc -n wired -s qdisc show dev "$WIRE_THERE" |
	       awk '/^qdisc/ { leaf = $2 != "mq" } leaf && $1 == "Sent" { print $4 }' | sort -n)
	is "it has two" "$(wc -l <<< "$sent")" 2
	ok "the frames of READ responses are in one:" test "$(head -n 1 <<< "$sent")" -lt 2000
	ok "no queues any more" tc -n wired qdisc delete dev "$WIRE_THERE" root
}

# both_sizes SIZE...: WRITE, SEND and READ with messages of these sizes. The function takes 16 READs
# at once; the programs ask for as many as their own device can have.
both_sizes() {
	local size program
	for size; do
		for program in ib_write_bw ib_send_bw "ib_read_bw -o 16"; do
			# shellcheck disable=SC2086 # a program and its options
			both_perf "${program%% *}: $size bytes" "^ *$size +5 " \
				$program -s "$size" -n 5
		done
	done
}

# rdma_rxe of 6.1 has messages of 8 MiB at most.
all_sizes() {
	local largest=67108864
	[[ $(uname -r) != 6.1.* ]] || largest=8388608
	both_sizes 1 2 3 255 256 257 1000 4095 4096 4097 1000001
	LIMIT=240 both_sizes $largest
	both "rstream: 1 MB" 7471 '1m' "-b ADDRESS" "-s ADDRESS" \
		rstream -p 7471 -T n -T v -I 3 -S 1048576 -C 3
}

ok "a function with an uplink, and rdma_rxe" wire_up
both_programs
order
queues
function_reads
! full || all_sizes
! full || lossy 1 both_checked
! full || lossy 0.2 both_sizes 8388608
congestion
received=$(frames received)
ok "the frames came over the wire" test "${received:-0}" -gt 2000
ok "remove both" wire_down
finish
