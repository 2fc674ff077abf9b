#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unmodified programs of libibverbs and librdmacm on /dev/xverbs, started by xv_run. First the
# files of ib_uverbs are hidden, so that a program that did not use xverbs would fail. Then
# each kind of program runs with one end on libibverbs' own provider.
. ./lib.sh

# On InfiniBand and on newer kernels, the short form runs a part of the programs.
brief() { ! full && [[ $VM_LINK = ib || $(uname -r) != 6.1.* ]]; }

BIN=$(cd ../../.. && pwd)/build/user/bin
XV_RUN=$BIN/xv_run
STOCK=../../../build/stock
PEER=(ip netns exec peer)
FILE=/dev/shm/file

hide_uverbs() {
	local f
	for f in /dev/infiniband/uverbs*; do mv "$f" "${f%/*}/hidden.${f##*/}" || return; done
}

show_uverbs() {
	local f
	for f in /dev/infiniband/hidden.*; do mv "$f" "${f%/*}/${f##*/hidden.}" || return; done
}

# What is the same with each provider: names, GUIDs, ports, GIDs
identity() {
	"$@" ibv_devinfo -v | grep -E 'hca_id|guid|vendor|port:|state|lid|active_mtu|link|GID\['
}

# holds PROGRAM: a process of this name has a queue pair of xverbs
# shellcheck disable=SC2317 # called by wait_for
holds() { "$BIN/xv_devinfo" --resources | grep -Eq "^[[:space:]]qp .* $1 "; }

# Prints 1 if xverbs knows the queue pair of a program that runs.
seen() {
	local pid
	timeout "$LIMIT" "$XV_RUN" ibv_rc_pingpong -d "$DEV0" -g "$(gid_index "$DEV0")" -p 18599 \
		> "$OUT.server" 2>&1 < /dev/null &
	pid=$!
	wait_for 10 holds ibv_rc_pingpong && echo 1
	kill "$pid"
	wait "$pid"
}

# Prints 1 if nothing is left of two programs that were killed while they sent.
killed() {
	local port=18598 pids=() dev held=''
	for dev in "$DEV0" "$DEV1"; do
		timeout "$LIMIT" "$XV_RUN" ib_write_bw -F -D 60 -p $port -d "$dev" \
			-x "$(gid_index "$dev")" ${pids:+127.0.0.1} \
			> "$OUT.server" 2>&1 < /dev/null &
		pids+=($!)
		[ ${#pids[@]} -gt 1 ] || wait_for 10 listening $port
	done
	wait_for 20 holds ib_write_bw && held=1
	pause 2
	pkill -KILL -P "${pids[0]},${pids[1]}"
	wait "${pids[@]}" 2>/dev/null
	holds ib_write_bw || echo $held
}

# cm DESCRIPTION READY REGEX SERVER... -- CLIENT...: two programs of rdma_cm; the client is in
# the other namespace. READY is a TCP port on which the server listens, or a command.
cm() {
	local what=$1 ready=$2 want=$3 server=()
	shift 3
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	[[ $ready == *[!0-9]* ]] || ready="cm_listening $ready"
	pair "$what: $END" "$ready" "$want" "${RUN_SERVER[@]}" "${server[@]}" -- \
		"${PEER[@]}" "${RUN_CLIENT[@]}" "$@"
}

# same DESCRIPTION READY REGEX PROGRAM ARGUMENT...: the client has the same arguments and the
# address of the server
same() { cm "$1" "$2" "$3" "${@:4}" -- "$4" -s $ADDR0 "${@:5}"; }

# A socket is bound to this UDP port.
# shellcheck disable=SC2317 # called by pair
udp_bound() { grep -q "$(printf ':%04X ' "$1")" /proc/net/udp; }

# file_copy BYTES: rcopy copies a file, which stays the same.
file_copy() {
	head -c "$1" /dev/urandom > $FILE
	STAYS=1 cm "rcopy: a file of $1" 7427 '' rcopy -p 7427 -- \
		rcopy $FILE $ADDR0:$FILE.copy -p 7427
	ok "the copy is the same" cmp $FILE $FILE.copy
	rm -f $FILE $FILE.copy
}

# A server waits for events of rdma_cm. The tool rdma shows no port of AF_IB.
# shellcheck disable=SC2317 # called by pair
cm_waits() { grep -qs ucma_get_event "/proc/$(pgrep -o -x "$1")/wchan"; }

# by_gid END: addresses of InfiniBand (AF_IB). rdma_cm takes such requests for the first network
# namespace, so both programs are there.
by_gid() {
	local gid=()
	read -r "gid[0]" < "/sys/class/infiniband/$DEV0/ports/1/gids/0"
	read -r "gid[1]" < "/sys/class/infiniband/$DEV1/ports/1/gids/0"
	pair "ucmatose, AF_IB: $1" "cm_waits ucmatose" 'return status 0' \
		"${RUN_SERVER[@]}" ucmatose -f gid -P ib -b "${gid[0]}" -C 20 -- \
		"${RUN_CLIENT[@]}" ucmatose -f gid -P ib -b "${gid[1]}" -s "${gid[0]}" -C 20
}

# more_of_cm COUNT BYTES: further programs. Each has a port of its own, so they run beside each
# other. The server of cmtime and that of udpong do not exit after their clients.
more_of_cm() {
	local count=$1 mode
	meanwhile connections_of_cm "$count"
	for mode in b n; do
		same "rstream, mode $mode" 7475 64k \
			rstream -p 7475 -T $mode -T v -I "$count" -S 65536 -C "$count"
		! brief || break
	done
	same riostream 7476 64k riostream -p 7476 -T v -I "$count" -S 65536 -C "$count"
	# rsockets send datagrams to LIDs.
	[ "$VM_LINK" != ib ] || STAYS=1 cm udpong "udp_bound 7174" custom \
		udpong -b $ADDR0 -T e -C "$count" -S 1000 -- \
		udpong -s $ADDR0 -T e -C "$count" -S 1000
	file_copy "$2"
	join
}

connections_of_cm() {
	STAYS=1 same cmtime 7472 connect cmtime -c "$1" -p 7472
	cm "rdma_server, rdma_client" 7473 'rdma_client: end 0' rdma_server -s $ADDR0 -p 7473 -- \
		rdma_client -s $ADDR0 -p 7473
	cm "rdma_xserver, rdma_xclient" 7474 'end 0' rdma_xserver -p 7474 -- \
		rdma_xclient -s $ADDR0 -p 7474
}

perftests_of_cm() {
	local port=$((PORT + 1))
	cm "ib_write_bw by rdma_cm" $port '^ *4096 +500' \
		ib_write_bw -R -F -s 4096 -n 500 -d "$DEV0" -p $port -- \
		ib_write_bw -R -F -s 4096 -n 500 -d "$DEV1" -p $port $ADDR0
	port=$((port + 1))
	cm "ib_send_bw over UD by rdma_cm" $port '^ *1024 +200' \
		ib_send_bw -R -F -c UD -s 1024 -n 200 -d "$DEV0" -p $port -- \
		ib_send_bw -R -F -c UD -s 1024 -n 200 -d "$DEV1" -p $port $ADDR0
}

# programs_of_cm END: the programs of the rdmacm-utils; END says which end is on xverbs. mckey is
# the program of chapter 7.4 of the RDMA Aware Networks Programming User Manual.
programs_of_cm() {
	local port=$((PORT + 1)) both=''
	END=$1
	PORT=$((PORT + 5))
	[ "$END" != "both on xverbs" ] || both=1
	meanwhile cm mckey joined 'return status 0' \
		stdbuf -oL mckey -m 239.1.2.3 -b $ADDR0 -C 10 -- \
		mckey -s -m 239.1.2.3 -b $ADDR1 -C 10
	cm rping $port '' rping -s -a $ADDR0 -p $port -V -C 20 -- \
		rping -c -a $ADDR0 -p $port -V -C 20
	same ucmatose 7471 'return status 0' ucmatose -c 4 -C 20 -S 1000
	same udaddy 7174 'return status 0' udaddy -C 20 -S 1000
	cm "rping: IPv6" $((port + 3)) '' rping -s -a $SIX0 -p $((port + 3)) -V -C 20 -- \
		rping -c -a $SIX0 -p $((port + 3)) -V -C 20
	[ "$VM_LINK" != ib ] ||
		same "udaddy: port space of IPoIB" 7174 'return status 0' udaddy -P ipoib -C 20
	join
	if ! brief; then more_of_cm 20 8M
	elif [ $both ]; then more_of_cm 2 64K
	fi
	if full || [ $both ]; then perftests_of_cm; fi
}

all_pingpongs() {
	local size
	for size in 1 4096 1048576; do
		pingpong "rc: $size bytes, validated" ibv_rc_pingpong "$DEV0" "$DEV1" \
			-s $size -n 50 -c
	done
	pingpong "rc: events" ibv_rc_pingpong "$DEV0" "$DEV1" -n 50 -e -c
	pingpong "rc: time stamps" ibv_rc_pingpong "$DEV0" "$DEV1" -n 50 -t -c
	pingpong "rc: extended requests" ibv_rc_pingpong "$DEV0" "$DEV1" -n 50 -N -c
	pingpong "rc: a function to itself" ibv_rc_pingpong "$DEV0" "$DEV0" -n 50 -c
	pingpong "uc, validated" ibv_uc_pingpong "$DEV0" "$DEV1" -n 50 -c
	pingpong "ud, validated" ibv_ud_pingpong "$DEV0" "$DEV1" -s 1024 -n 50 -c
	pingpong "ud: events" ibv_ud_pingpong "$DEV0" "$DEV1" -s 1024 -n 50 -e -c
	pingpong "srq: 16 QPs, validated" ibv_srq_pingpong "$DEV0" "$DEV1" -n 20 -c
	pingpong "srq: events" ibv_srq_pingpong "$DEV0" "$DEV1" -n 20 -e -c
	pingpong "xrc" ibv_xsrq_pingpong "$DEV0" "$DEV1" -n 10
	pingpong "xrc: events" ibv_xsrq_pingpong "$DEV0" "$DEV1" -n 10 -e
}

all_perftests() {
	perf "ib_write_bw: 4 QPs" ib_write_bw -s 4096 -n 500 -q 4
	perf "ib_write_bw: 1 MiB, both ways" ib_write_bw -s 1048576 -n 30 -b
	perf "ib_write_lat: inline" ib_write_lat -s 32 -n 200 -I 64
	perf "ib_read_bw" ib_read_bw -s 4096 -n 500
	perf "ib_read_lat" ib_read_lat -s 8 -n 200
	perf "ib_send_bw: events" ib_send_bw -s 4096 -n 500 -e
	perf "ib_send_lat: events" ib_send_lat -s 64 -n 200 -e
	perf "ib_send_bw over UC" ib_send_bw -c UC -s 4096 -n 500
	perf "ib_send_bw over UD" ib_send_bw -c UD -s 1024 -n 500
	perf "ib_send_bw over XRC" ib_send_bw -c XRC -s 4096 -n 500
	perf "ib_send_bw: shared receive queue" ib_send_bw --use-srq -q 4 -s 4096 -n 500
	perf "ib_atomic_bw" ib_atomic_bw -A FETCH_AND_ADD -n 500
	perf "ib_atomic_lat" ib_atomic_lat -A CMP_AND_SWAP -n 200
}

# The program of chapter 7.2 of the manual
manual() {
	PORT=$((PORT + 1))
	pair "rc_tcp: $1" "listening $PORT" 'send, read and write compared' \
		"${RUN_SERVER[@]}" $STOCK/rc_tcp -d "$DEV0" -g "$(gid_index "$DEV0")" -p $PORT -- \
		"${RUN_CLIENT[@]}" $STOCK/rc_tcp -d "$DEV1" -g "$(gid_index "$DEV1")" -p $PORT \
		127.0.0.1
}

is "the devices are the same as without xv_run" "$("$XV_RUN" ibv_devices)" "$(ibv_devices)"
is "their identity, too" "$(identity "$XV_RUN")" "$(identity)"
is "so are their numbers and paths" "$("$XV_RUN" $STOCK/paths)" "$($STOCK/paths)"
node='.*numa_node -?[0-9]+ '
[ -d /sys/devices/system/node ] || node=''	# the debug kernel has no NUMA
like "numbers and files are found" \
	"^$DEV0: index [0-9]+, uverbs[0-9]+, .*$node.*local_cpulist [0-9,-]+ " \
	"$XV_RUN" $STOCK/paths
for prog in interface addresses threads; do
	tap $STOCK/$prog "$DEV0" "$(gid_index "$DEV0")"
done
tap $STOCK/batches "$DEV0"
tap $STOCK/groups "$DEV0"

if [ "$VM_LINK" = ib ]; then
	raise=/sys/kernel/debug/xhca/0/port_event
	order=("echo client_reregister > $raise" "client reregistration"
	       "echo lid > $raise" "LID change" "echo client_reregister > $raise"
	       "client reregistration")
else
	order=("ip link set $(interface "$DEV0") down" "port error"
	       "ip link set $(interface "$DEV0") up" "port active")
	order+=("${order[@]}")
fi
tap $STOCK/order "$DEV0" "${order[@]}"
# The errors of libmlx5 are those of its version and of the kernel.
is_reference() { [[ $(uname -r) == 6.1.* ]] && compgen -G '/usr/lib/*/libibverbs.so.1.*.44.*'; }
compared() {
	"$XV_RUN" $STOCK/compare "$DEV0" "$(gid_index "$DEV0")" > "$OUT.other" 2>&1
	tap $STOCK/compare "$OUT.plain" "$OUT.other" -
}
if is_reference > /dev/null; then
	$STOCK/compare "$DEV0" "$(gid_index "$DEV0")" > "$OUT.plain" 2>&1
fi

ok "the files of ib_uverbs are hidden" hide_uverbs
refused "no program works without xv_run" '' ibv_rc_pingpong -d "$DEV0"
refused "xv_run needs a program" usage "$XV_RUN"
attempt "$XV_RUN" no-such-program
is "xv_run fails with 127 for a program that does not exist" "$? $(grep -c 'not found' "$OUT")" \
	"127 1"
attempt "$XV_RUN" passwd
is "and for a set-user-ID program" "$? $(grep -c set-user-ID "$OUT")" "127 1"
cp "$(command -v ibv_devices)" "$OUT.capable"
ok "a program gets a file capability" setcap cap_net_raw+ep "$OUT.capable"
attempt setpriv --reuid 1000 --regid 1000 --clear-groups "$XV_RUN" "$OUT.capable"
is "and for a program with file capabilities" "$? $(grep -c 'file capabilities' "$OUT")" "127 1"
ok "which root may run" "$XV_RUN" "$OUT.capable"
rm "$OUT.capable"
if ! brief; then
	is "xverbs has the queue pair of a program" "$(seen)" 1
	is "nothing is left of killed programs" "$(killed)" 1
fi

RUN_SERVER=("$XV_RUN") RUN_CLIENT=("$XV_RUN")
devices=("$DEV0" "$(gid_index "$DEV0")" "$DEV1" "$(gid_index "$DEV1")")
for prog in interface addresses threads; do
	tap $STOCK/${prog}_linked "$DEV0" "$(gid_index "$DEV0")"
	tap "$XV_RUN" $STOCK/$prog "$DEV0" "$(gid_index "$DEV0")"
done
tap "$XV_RUN" $STOCK/contexts "${devices[@]}"
tap "$XV_RUN" $STOCK/batches "$DEV0"
tap "$XV_RUN" $STOCK/groups "$DEV0"
if [ -s "$OUT.plain" ]; then
	compared
else
	skip "compare" "needs Linux 6.1 and rdma-core 44"
fi
tap "$XV_RUN" $STOCK/lacking "$DEV0"
tap "$XV_RUN" $STOCK/order "$DEV0" "${order[@]}"
if ! brief; then
	tap $STOCK/contexts_linked "${devices[@]}"
	tap $STOCK/lacking_linked "$DEV0"
fi
manual "both on xverbs"
if brief; then
	pingpong "rc: validated" ibv_rc_pingpong "$DEV0" "$DEV1" -n 50 -c
	perf "ib_write_bw: 4 QPs" ib_write_bw -s 4096 -n 500 -q 4
	perf "ib_send_bw: events" ib_send_bw -s 4096 -n 500 -e
	perf "ib_atomic_bw" ib_atomic_bw -A FETCH_AND_ADD -n 500
else
	all_pingpongs
	all_perftests
fi
if long; then
	for op in write read send; do
		perf "ib_${op}_bw: all sizes" ib_${op}_bw -a -n 20
		perf "ib_${op}_lat: all sizes" ib_${op}_lat -a -n 20
	done
	perf "ib_send_lat over UD" ib_send_lat -c UD -s 64 -n 200
	perf "ib_write_bw over XRC" ib_write_bw -c XRC -s 4096 -n 500
fi

ok "two functions in two network namespaces" namespaces_up
tap "$XV_RUN" $STOCK/rdma_calls $ADDR0
programs_of_cm "both on xverbs"

ok "the files of ib_uverbs are back" show_uverbs
for end in server client; do
	RUN_SERVER=() RUN_CLIENT=()
	[ $end = server ] && RUN_SERVER=("$XV_RUN") || RUN_CLIENT=("$XV_RUN")
	programs_of_cm "the $end on xverbs"
done
ok "back in one namespace" namespaces_down
RUN_SERVER=("$XV_RUN") RUN_CLIENT=("$XV_RUN")
[ "$VM_LINK" != ib ] || by_gid "both on xverbs"
for end in server client; do
	RUN_SERVER=() RUN_CLIENT=()
	[ $end = server ] && RUN_SERVER=("$XV_RUN") || RUN_CLIENT=("$XV_RUN")
	[ "$VM_LINK" != ib ] || by_gid "the $end on xverbs"
	pingpong "rc: the $end on xverbs" ibv_rc_pingpong "$DEV0" "$DEV1" -n 50 -c
	pingpong "ud: the $end on xverbs" ibv_ud_pingpong "$DEV0" "$DEV1" -s 1024 -n 50 -c
	perf "ib_write_bw: the $end on xverbs" ib_write_bw -s 4096 -n 500
	brief && continue
	manual "the $end on xverbs"
	perf "ib_send_bw, events: the $end on xverbs" ib_send_bw -s 4096 -n 500 -e
	perf "ib_read_lat: the $end on xverbs" ib_read_lat -s 8 -n 200
	pingpong "srq: the $end on xverbs" ibv_srq_pingpong "$DEV0" "$DEV1" -n 20 -c
	pingpong "xrc: the $end on xverbs" ibv_xsrq_pingpong "$DEV0" "$DEV1" -n 10
	long || continue
	pingpong "uc: the $end on xverbs" ibv_uc_pingpong "$DEV0" "$DEV1" -n 50 -c
	perf "ib_atomic_bw: the $end on xverbs" ib_atomic_bw -n 200
done
finish
