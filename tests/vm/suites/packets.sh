#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets between two functions of one host: they are captured, and decoded by tshark and by a
# script that checks each ICRC (roce_frames); they are lost, doubled, damaged and late, and programs
# notice nothing but the time. While neither is asked for, there are none.
. ./lib.sh

CONFIG=/sys/kernel/config/xhca
FILE=/dev/shm/packets.pcapng
LOG=/dev/shm/packets.log
MESSAGES=300
! debug_kernel || MESSAGES=60
type -P xv_capture > /dev/null || PATH=$(realpath ../../../build/user/bin):$PATH
XHCACTL=$(type -P xhcactl || realpath ../../../userlib/tools/xhcactl)
[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug

# count FILE NAME: a number that debugfs has of the first function
count() { awk -v name="$2" '$1 == name { print $2 }' "/sys/kernel/debug/xhca/0/$1"; }
frames() { echo $(($(count frames received) + $(count frames sent))); }
above() { [ "$(count "$1" "$2")" -gt "$3" ]; }
captures() { cat $CONFIG/0/capture; }

# ---- Capture

# capture ARGUMENT...: begins; $! is the process
capture() {
	"$XHCACTL" capture "$@" 2> $LOG >> $FILE.out &
	CAPTURE=$!
	wait_for "$LIMIT" grep -q 'captures RoCE frames' $LOG
}
# ended PROCESS: it has got a signal, and exits with success.
ended() { kill -TERM "$1" && wait "$1"; }
# captured: ends it. What the file has is in $FRAMES.
captured() {
	ended $CAPTURE && FRAMES=$(./roce_frames $FILE)
}
# has N PATTERN: at least N of the captured frames match
# shellcheck disable=SC2317 # called by ok
less() { ! has "$@"; }
has() { [ "$(grep -cE "$2" <<< "$FRAMES")" -ge "$1" ]; }
# Each frame is a RoCE packet whose opcode tshark names.
decoded() {
	local out
	out=$(tshark -n -r $FILE 2> /dev/null) && [ -n "$out" ] &&
		! grep -vE ' R?RoCE [0-9]+ (RC|UC|UD) [A-Z]' <<< "$out"
}

# type_index DEVICE ADDRESS TYPE: the index of a GID
type_index() {
	local dir=/sys/class/infiniband/$1/ports/1 i
	for ((i = 0; i < 16; i++)); do
		grep -q "$2" "$dir/gids/$i" && grep -qs "$3" "$dir/gid_attrs/types/$i" || continue
		echo $i
		return
	done
}

# between DESCRIPTION ADDRESS TYPE PROGRAM ARGUMENT...: a program of libibverbs from the second
# function to the first one
between() {
	local what=$1 from to program=$4
	from=$(type_index "$DEV1" "$2" "$3") to=$(type_index "$DEV0" "$2" "$3")
	shift 4
	PORT=$((PORT + 1))
	pair "$what" "listening $PORT" 'bytes in .* seconds' \
		"$program" -d "$DEV0" -g "$to" -p $PORT "$@" -- \
		"$program" -d "$DEV1" -g "$from" -p $PORT "$@" 127.0.0.1
}

# The neighbour of an IPv6 address that is still tentative is not found.
# shellcheck disable=SC2317 # called by wait_for
six_is_ready() {
	local i
	for i in xnet0 xnet1; do
		ip -6 -brief address show dev $i scope link | grep -q fe80 &&
			[ -z "$(ip -6 address show dev $i tentative)" ] || return
	done
}
ok "both have IPv6 addresses" wait_for "$LIMIT" six_is_ready

before=$(frames)
pingpong "without a capture" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100
is "messages are no frames" "$(frames)" "$before"

ok "a capture begins" capture 0 $FILE
is "the module knows it" "$(captures)" 1
between "RC over IPv4, contents compared" ffff: 'RoCE v2' ibv_rc_pingpong -c -s 3000 -n 100
between "UC over IPv6" fe80: 'RoCE v2' ibv_uc_pingpong -s 3000 -n 100
between "UD over IPv4" ffff: 'RoCE v2' ibv_ud_pingpong -s 1000 -n 100
between "RC over RoCE v1" fe80: 'RoCE v1' ibv_rc_pingpong -c -s 3000 -n 100
ok "the capture ends, and its file can be read" captured
is "the module knows it, too" "$(captures)" 0
is "no ICRC is wrong" "$(grep -cE ' (bad|cut)$' <<< "$FRAMES")" 0
is "nothing was dropped" "$(awk '/^received/ { print $4 }' <<< "$FRAMES")" 0
is "all frames are in the file" "$(grep -c good <<< "$FRAMES")" \
	"$(awk '/^received/ { print $2 }' <<< "$FRAMES")"
for what in '0x00:first of SEND:200' '0x01:middle:200' '0x02:last:200' '0x11:acknowledgement:20'; do
	IFS=: read -r opcode name n <<< "$what"
	ok "RC over IPv4: $name" has "$n" "^(in|out) v4 $opcode "
done
ok "UC over IPv6" has 200 '^(in|out) v6 0x20 '
ok "UD" has 200 '^(in|out) v4 0x64 '
ok "RoCE v1" has 200 '^(in|out) v1 0x00 '
ok "received ones" has 400 '^in '
ok "and sent ones" has 400 '^out '
if type -P tshark > /dev/null; then
	ok "tshark decodes each frame" decoded
else
	skip "tshark decodes each frame" "tshark is not installed"
fi

# Both ports get an interface in a VLAN.
# shellcheck disable=SC2317 # called by ok
vlans_up() {
	local i
	modprobe 8021q || return
	for i in 0 1; do
		ip link add link xnet$i name vlan$i type vlan id 5 &&
		ip address add 10.79.0.$((i + 1))/24 dev vlan$i && ip link set vlan$i up || return
	done
	wait_for 10 has_gid "$DEV0" 10.79.0.1 && wait_for 10 has_gid "$DEV1" 10.79.0.2
}
ok "a VLAN" vlans_up
ok "a capture in it" capture 0 $FILE
between "RC in a VLAN" ffff:0a4f 'RoCE v2' ibv_rc_pingpong -c -s 3000 -n 20
between "UD in a VLAN" ffff:0a4f 'RoCE v2' ibv_ud_pingpong -s 1000 -n 20
ok "ends" captured
ok "RC: its frames have the tag" has 40 '^(in|out) v4/5 0x00 .* good'
ok "UD: its frames have the tag" has 40 '^(in|out) v4/5 0x64 .* good'
is "all frames have it" "$(grep -E '^(in|out)' <<< "$FRAMES" | grep -vc ' v4/5 ')" 0
if type -P tshark > /dev/null; then
	ok "tshark decodes each frame with a tag" decoded
else
	skip "tshark decodes each frame with a tag" "tshark is not installed"
fi
ok "the VLAN is removed" sh -c 'ip link delete vlan0 && ip link delete vlan1'

ok "a capture of the first 64 bytes" capture --snaplen 64 0 $FILE
pingpong "RC" ibv_rc_pingpong "$DEV0" "$DEV1" -c -s 3000 -n 20
ok "ends" captured
ok "its frames are cut" has 40 '1082 cut$'

ok "a capture of 10 frames" capture --count 10 0 $FILE
pingpong "RC" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100
wait $CAPTURE
is "ends by itself" "$?" 0
is "with 10 frames" "$(./roce_frames $FILE | grep -c good)" 10
is "and is switched off" "$(captures)" 0

ok "a capture to standard output" capture 0 -
first=$CAPTURE
ok "a second one, by the name of the device" capture "$DEV0" $FILE
second=$CAPTURE
pingpong "RC" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100
ok "the first one ends" ended "$first"
is "the second one goes on" "$(captures)" 1
pingpong "RC" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100
CAPTURE=$second
ok "and ends" captured
is "both are off" "$(captures)" 0
ok "the second one has the frames of both" has 400 '^(in|out) v4 0x00 '
FRAMES=$(./roce_frames $FILE.out)
ok "the first one has the others" has 200 '^(in|out) v4 0x00 '
ok "not those that came later" less 400 '^(in|out) v4 0x00 '

refused "a capture without CAP_NET_RAW" 'needs CAP_NET_RAW' \
	setpriv --bounding-set=-net_raw --inh-caps=-net_raw xv_capture xnet0 $FILE
refused "of an interface that does not exist" 'there is no interface none' xv_capture none $FILE
refused "into a folder that does not exist" 'No such file' xv_capture xnet0 /none/$FILE
refused "of a function that does not exist" 'there is no function' "$XHCACTL" capture nine $FILE
refused "with 10 bytes" 'must be from 64' xv_capture --snaplen 10 xnet0 $FILE
like "an InfiniBand function" '^ib0$' "$XHCACTL" add --link ib ib0
refused "has no frames" 'no network interface' "$XHCACTL" capture ib0 $FILE
refused "and cannot lose them" 'not an enabled RoCE function' "$XHCACTL" impair ib0 --loss 1%
ok "it is removed" "$XHCACTL" del ib0

# ---- Impairments

impair() { "$XHCACTL" impair "$@"; }

# isolated DEVICE TIMEOUTS SHORT: the device loses all that it sends. A request fails after this
# number of timeouts. SHORT is "more" if there are short timeouts before them, otherwise "no".
isolated() {
	local timeouts short n
	timeouts=$(hw_counter "$1" local_ack_timeout_err)
	short=$(hw_counter "$1" roce_adp_retrans)
	PORT=$((PORT + 1))
	ibv_rc_pingpong -d "$DEV0" -g "$(gid_index "$DEV0")" -p $PORT -n 10 > /dev/null 2>&1 &
	ok "a server" wait_for "$LIMIT" listening $PORT
	refused "it reaches nobody" 'transport retry counter exceeded' \
		ibv_rc_pingpong -d "$1" -g "$(gid_index "$1")" -p $PORT -n 10 127.0.0.1
	kill %% && wait %% 2> /dev/null
	is "after $2 timeouts" $(($(hw_counter "$1" local_ack_timeout_err) - timeouts)) "$2"
	n=$(($(hw_counter "$1" roce_adp_retrans) - short))
	is "and $3 short ones" "$([ $n = 0 ] && echo no || echo more)" "$3"
}

ok "all impairments" impair "$DEV0" --loss 1% --duplicate 1.5% --corrupt 0.25% --reorder 3% \
	--mark 100% --delay 300us --jitter 1us
some='loss 10000 duplicate 15000 corrupt 2500 reorder 30000 mark 1000000'
is "the module has them" "$(cat $CONFIG/0/impair)" "$some delay 300000 jitter 1000"
ecn=$(hw_counter "$DEV1" np_ecn_marked_roce_packets)
cnp=$(hw_counter "$DEV0" rp_cnp_handled)
icrc=$(hw_counter "$DEV1" rx_icrc_encapsulated)
perf "SEND" ib_send_bw -s 30000 -n $MESSAGES
perf "READ" ib_read_bw -s 30000 -n $MESSAGES
for what in lost duplicated corrupted reordered marked; do
	ok "frames were $what" above impairments $what 0
done
ok "the receiver has seen marks" grown "$DEV1" np_ecn_marked_roce_packets "$ecn"
ok "and has sent CNPs" grown "$DEV0" rp_cnp_handled "$cnp"
ok "damaged frames were not taken" grown "$DEV1" rx_icrc_encapsulated "$icrc"

# A program of libibverbs that ends takes its queue pair with it, and the peer may need one more
# acknowledgement: so nothing may be lost.  A frame that overtakes others is sent again, and all
# after it: if many did, this would take long.
ok "late frames, in another order and doubled" impair 0 --delay 300us --reorder 1% \
	--duplicate 10%
pingpong "RC with contents compared" ibv_rc_pingpong "$DEV0" "$DEV1" -c -s 30000 -n 60

ok "a delay alone" impair 0 --delay 5ms
before=${EPOCHREALTIME/./}
pingpong "RC" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 40
ok "the messages of one side took 200 ms" [ $((${EPOCHREALTIME/./} - before)) -ge 200000 ]
ok "the other function, too" impair 1 --delay 1ms --loss 2%
perf "SEND" ib_send_bw -s 30000 -n 40
ok "all of its frames are lost" impair 1 --loss 100%
isolated "$DEV1" 6 more
ok "off" impair 0 off
ok "the other function, too" impair 1 off
is "nothing is left" "$(tr -d ' a-z\n' < $CONFIG/1/impair)" 0000000
before=$(frames)
pingpong "RC" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100
is "messages are no frames again" "$(frames)" "$before"

# Messages change their way while they run.
toggle() {
	while [ -e $FILE.toggle ]; do
		impair 0 --loss 1% && impair 0 off && impair 1 --delay 20us && impair 1 off ||
			return
	done
}
touch $FILE.toggle
toggle &
toggle=$!
perf "the impairments change all the time" ib_send_bw -s 30000 -n $((10 * MESSAGES))
rm $FILE.toggle
wait $toggle
is "each change succeeded" "$?" 0

refused "more than all" 'must be a number up to 1000000' impair 0 --loss 101%
refused "no percentage" 'must be a percentage' impair 0 --loss 1
refused "no time" 'must be a time' impair 0 --delay 5
refused "a delay of two seconds" 'must be a number up to' impair 0 --delay 2s
refused "frames before others that are not late" 'reorder needs a delay' impair 0 --reorder 1%
refused "a jitter above the delay" 'at most the delay' impair 0 --delay 1us --jitter 1ms
refused "nothing" 'usage' impair 0
# shellcheck disable=SC2317 # called by refused
put() { echo "$2" > "$CONFIG/$1"; }
refused "an unknown name" 'Invalid argument' put 0/impair "lose 1"
like "with the reason" 'there is no "lose"' dmesg

# ---- Removal with frames on their way
like "a function" '^third$' "$XHCACTL" add third
ip link set xnet2 up && ip address add 10.77.0.3/24 dev xnet2
ok "its frames are late" impair third --delay 900ms
ok "it has an address" wait_for "$LIMIT" has_gid mlx5_2 10.77.0.3
PORT=$((PORT + 1))
ibv_rc_pingpong -d mlx5_2 -g "$(gid_index mlx5_2)" -p $PORT > /dev/null 2>&1 &
serves=$!
ok "a server" wait_for "$LIMIT" listening $PORT
ibv_rc_pingpong -d "$DEV1" -g "$(gid_index "$DEV1")" -p $PORT 127.0.0.1 > /dev/null 2>&1 &
asks=$!
ok "it has received frames" wait_for "$LIMIT" \
	grep -q 'received [1-9]' /sys/kernel/debug/xhca/2/frames
ok "it is removed with frames on their way" "$XHCACTL" del third
kill $serves $asks 2> /dev/null
wait $serves $asks 2> /dev/null
like "and added again" '^third$' "$XHCACTL" add third
is "without impairments" "$(tr -d ' a-z\n' < $CONFIG/third/impair)$(cat $CONFIG/third/capture)" \
	00000000
ok "and removed" "$XHCACTL" del third

# ---- Without a least timeout
like "a function without it" '^third$' "$XHCACTL" add --no-least-timeout third
ip link set xnet2 up && ip address add 10.77.0.3/24 dev xnet2
ok "it has an address" wait_for "$LIMIT" has_gid mlx5_2 10.77.0.3
ok "it loses all frames" impair third --loss 100%
isolated mlx5_2 9 no
ok "it is removed" "$XHCACTL" del third

rm -f $FILE $FILE.out $LOG
finish
